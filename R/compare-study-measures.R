# What replicates of a study say about it, each figure with its Monte Carlo error.

# One row per measure of one term and group. `rows`: those of finished replicates. A replicate without an interval has
# found nothing and counts as such; other measures are over the replicates that have one.
contrast_measures <- function(rows) {
  found <- (rows$conf.low > 0 | rows$conf.high < 0) %in% TRUE
  truth <- rows$truth[!is.na(rows$truth)][1]
  if (truth %in% 0) return(rbind(share_row("false_positives", found), error_measures(rows)))
  # A difference of the wrong sign is not the one that is there.
  wrong <- found & ((rows$conf.low > 0) != (truth > 0)) %in% TRUE
  rbind(share_row("power", found & !wrong), share_row("wrong_sign", wrong[found]), error_measures(rows))
}

# Truths that are stated differ at most by where each fit has its centre: there is nothing to follow.
level_measures <- function(rows, drawn = TRUE) {
  rbind(error_measures(rows), agreement_rows(if (drawn) rows else replace(rows, "truth", 0)))
}

error_measures <- function(rows) {
  there <- !is.na(rows$conf.low) & !is.na(rows$conf.high) & is.finite(rows$estimate)
  error <- (rows$estimate - rows$truth)[there & is.finite(rows$truth)]
  width <- (rows$conf.high - rows$conf.low)[there]
  covered <- (rows$conf.low <= rows$truth & rows$truth <= rows$conf.high)[there & !is.na(rows$truth)]
  square <- mean_row("rmse", error^2)
  rmse <- sqrt(square$estimate)
  square$std.error <- if (isTRUE(rmse > 0)) square$std.error / (2 * rmse) else square$std.error
  square[c("conf.low", "conf.high")] <- lapply(square[c("conf.low", "conf.high")], function(x) sqrt(pmax(x, 0)))
  square$estimate <- rmse
  rbind(mean_row("bias", error), square, share_row("coverage", covered), mean_row("width", width[is.finite(width)]))
}

# How estimates follow truths that differ: their correlation, and by how much of a difference of truths estimates fall
# short (1 less the slope).
agreement_rows <- function(rows) {
  there <- is.finite(rows$estimate) & is.finite(rows$truth)
  x <- rows$truth[there]
  y <- rows$estimate[there]
  n <- length(x)
  if (n < 4 || diff(range(x)) < 1e-12 || diff(range(y)) < 1e-12) {
    return(rbind(measure_row("correlation", n = n), measure_row("shrinkage", n = n)))
  }
  r <- stats::cor(x, y)
  slope <- r * stats::sd(y) / stats::sd(x)
  error <- stats::sd(y) / stats::sd(x) * sqrt((1 - r^2) / (n - 2))
  reach <- two_sided * c(-1, 1)
  rbind(measure_row("correlation", r, (1 - r^2) / sqrt(n - 1), tanh(atanh(r) + reach / sqrt(n - 3)), n),
        measure_row("shrinkage", 1 - slope, error, 1 - slope + reach * error, n))
}

two_sided <- stats::qnorm(0.975)

measure_row <- function(measure, estimate = NA_real_, std.error = NA_real_, ends = c(NA_real_, NA_real_), n = 0L) {
  data.frame(measure = measure, estimate = estimate, std.error = std.error, conf.low = ends[1], conf.high = ends[2],
             n = n)
}

mean_row <- function(measure, x) {
  n <- length(x)
  if (n < 2) return(measure_row(measure, if (n) x else NA_real_, n = n))
  error <- stats::sd(x) / sqrt(n)
  measure_row(measure, mean(x), error, mean(x) + two_sided * c(-1, 1) * error, n)
}

share_row <- function(measure, x) {
  n <- length(x)
  if (!n) return(measure_row(measure))
  ends <- wilson_ends(mean(x), n)
  # Not 0 where all or none are: a share that has not varied in a few studies may yet.
  measure_row(measure, mean(x), (ends$high - ends$low) / (2 * two_sided), c(ends$low, ends$high), n)
}

# `measures(rows)` for every combination of these columns, in the order of the table.
measure_table <- function(each, by, measures) {
  key <- do.call(paste, c(each[by], sep = "\r"))
  parts <- lapply(unique(key), function(one) {
    rows <- each[key == one, ]
    made <- measures(rows)
    truth <- if (length(unique(rows$truth)) == 1) rows$truth[1] else NA_real_
    data.frame(rows[rep(1, nrow(made)), by, drop = FALSE], truth = truth, made, row.names = NULL)
  })
  do.call(rbind, parts)
}

# One row per kind of study: how many there are, and how many need a remark.
study_counts <- function(each, by, replicates) {
  one <- each[!duplicated(each[c(by, "replicate")]), ]
  key <- do.call(paste, c(one[by], sep = "\r"))
  open <- is.infinite(each$conf.low) | is.infinite(each$conf.high)
  open <- unique(do.call(paste, c(each[open %in% TRUE, c(by, "replicate")], sep = "\r")))
  parts <- lapply(unique(key), function(at) {
    rows <- one[key == at, ]
    data.frame(rows[1, by, drop = FALSE], replicates = replicates, finished = nrow(rows),
               failed = sum(!is.na(rows$failure)), unsettled = sum(rows$settled %in% FALSE),
               open = sum(paste(at, rows$replicate, sep = "\r") %in% open), warned = sum(!is.na(rows$warning)),
               seconds = mean(rows$seconds), row.names = NULL)
  })
  do.call(rbind, parts)
}

# ---- words ---------------------------------------------------------------------------------------------------------

# "83% of studies (80 to 86)".
share_words <- function(row, of = " of studies") {
  whole <- function(x) vapply(round(100 * x), format_plain, "")
  paste0(whole(row$estimate), "%", of, " (", whole(row$conf.low), " to ", whole(row$conf.high), ")")
}

# Remarks beside the figures: failures, climbs and chains that did not end, open ends, warnings.
trouble_lines <- function(study) {
  counts <- glance(study)
  each <- study$each
  total <- sum(counts$finished)
  say <- function(n, ...) if (n > 0) bullet(paste0(plural(n, "study", "studies"), " of ", format_count(total), ...))
  first <- function(column) {
    words <- sort(table(each[[column]]), decreasing = TRUE)
    paste0(sub("[.]$", "", sub(paste0("^", not_run), "", names(words)[1])), if (length(words) > 1) " (and others)")
  }
  c(say(sum(counts$failed), " gave no answer, or not all: ", as_sentence(first("failure")),
        " What is missing counts as not found."),
    say(sum(counts$unsettled), " did not settle (the search or the chains stopped too early), and ",
        counts_words(sum(counts$unsettled)), " as found."),
    say(sum(counts$open), " had an interval without an end, and ", counts_words(sum(counts$open)),
        "; the mean width is of the others."),
    say(sum(counts$warned), " came with a warning: ", first("warning")),
    if (total < study$asked) {
      bullet(paste0("It was interrupted: ", format_count(total), " of ", format_count(study$asked),
                    " studies are done."))
    })
}

counts_words <- function(n) if (n == 1) "counts" else "count"

# Intervals that cover too seldom, or more often than they promise, beyond chance in any of these rows.
coverage_lines <- function(table, conf.level) {
  rows <- table[table$measure == "coverage" & table$n > 0, ]
  hits <- round(rows$estimate * rows$n)
  surprise <- 0.01 / max(1, nrow(rows))
  short <- stats::pbinom(hits, rows$n, conf.level) < surprise
  long <- stats::pbinom(hits - 1, rows$n, conf.level, lower.tail = FALSE) < surprise
  say <- function(which, ...) {
    if (!any(which)) return(NULL)
    bullet(paste0("Intervals of ", enumerate(unique(rows$term[which]), quote = ""), " are too ", ...))
  }
  promised <- paste0(" of studies where ", level_text(conf.level), " are promised.")
  c(say(short, "short: they cover the truth in ", percent_text(min(1, rows$estimate[short])), promised),
    say(long, "long: they cover the truth in ", percent_text(max(0, rows$estimate[long])), promised))
}
