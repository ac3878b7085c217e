# The table of a sensitivity analysis. A piece of it belongs to one alternative: its `table` of levels and contrasts,
# the `log_lik`, whether it `converged`, `pareto_k`, and a `note` where there are no numbers.

sensitivity_numbers <- c("estimate", "std.error", "conf.low", "conf.high")

level_table <- function(levels) {
  data.frame(group = levels$group, reference = NA_character_, scale = NA_character_, term = levels$term,
             levels[sensitivity_numbers])
}

# One row per term and pair of groups; `contrast(term, pair, scale)` gives its numbers.
contrast_table <- function(terms, pairs, contrast) {
  if (is.null(pairs)) return(NULL)
  rows <- lapply(unique(terms), function(term) {
    scale <- default_scale(term)
    do.call(rbind, Map(function(group, reference) {
      numbers <- stats::setNames(contrast(term, c(group, reference), scale), sensitivity_numbers)
      data.frame(group = group, reference = reference, scale = scale, term = term, t(numbers))
    }, pairs$group, pairs$reference, USE.NAMES = FALSE))
  })
  do.call(rbind, rows)
}

failed_piece <- function(like, note) {
  table <- like$table
  table[c("estimate", "std.error", "conf.low", "conf.high")] <- NA_real_
  list(table = table, log_lik = NA_real_, converged = FALSE, pareto_k = NA_real_, note = note)
}

# ---- the result -------------------------------------------------------------------------

new_ibrc_sensitivity <- function(pieces, alternatives, method, verdict, conf.level = NULL) {
  what <- c("as fitted", vapply(alternatives, `[[`, "", "what"))
  label <- c("", vapply(alternatives, `[[`, "", "label"))
  rows <- Map(function(piece, what, label, first) {
    data.frame(what = what, alternative = label, baseline = first, piece$table, log_lik = piece$log_lik,
               log_lik_difference = piece$log_lik - pieces[[1]]$log_lik, converged = piece$converged,
               pareto_k = piece$pareto_k, note = piece$note, row.names = NULL)
  }, pieces, what, label, seq_along(pieces) == 1)
  out <- do.call(rbind, unname(rows))
  rownames(out) <- NULL
  out$verdict <- sensitivity_verdicts(out, verdict)
  structure(out, class = c("ibrc_sensitivity", "data.frame"), method = method, verdict = verdict,
            conf.level = conf.level)
}

# What is said of the fit's own term in its groups holds under every alternative, too; where a search did not end there
# is nothing to use. A mode has no verdict.
sensitivity_verdicts <- function(rows, known) {
  if (is.null(known)) return(rep(NA_character_, nrow(rows)))
  own <- vapply(seq_len(nrow(rows)), function(i) {
    verdict_for(known, rows$term[i], c(rows$group[i], rows$reference[i]))
  }, "")
  ifelse(rows$converged, own, "do not use")
}

#' @export
as.data.frame.ibrc_sensitivity <- function(x, ...) {
  attributes(x)[c("verdict", "method", "conf.level")] <- NULL
  class(x) <- "data.frame"
  x
}

# ---- in words ---------------------------------------------------------------------------

# An improvement larger than this is worth a sentence.
better_by <- 2

# What is shown: contrasts where there are any, else levels.
shown_rows <- function(x) {
  table <- as.data.frame(x)
  if (all(is.na(table$reference))) table else table[!is.na(table$reference), ]
}

# "optimism, south - north": what a row is about.
quantity_label <- function(table) {
  group <- safe_text(ifelse(is.na(table$group), "", table$group))
  reference <- safe_text(ifelse(is.na(table$reference), "", table$reference))
  sign <- ifelse(table$scale %in% "ratio", " / ", " - ")
  about <- ifelse(nzchar(reference), paste0(group, sign, reference), group)
  ifelse(nzchar(about), paste0(table$term, ", ", about), table$term)
}

alternative_label <- function(table) trimws(safe_text(paste(table$what, table$alternative)))

# One row per alternative, with a column for each quantity.
wide_table <- function(table, digits) {
  about <- quantity_label(table)
  place <- alternative_label(table)
  first <- !duplicated(place)
  number <- function(x) vapply(x, function(one) if (is.na(one)) "" else format_number(one, digits), "")
  text <- ifelse(is.na(table$estimate), "none",
                 paste0(number(table$estimate), ifelse(is.na(table$conf.low), "", paste0(
                   " (", number(table$conf.low), ", ", number(table$conf.high), ")"
                 ))))
  out <- data.frame(what = safe_text(table$what[first]), alternative = safe_text(table$alternative[first]))
  out$log_lik <- ifelse(is.na(table$log_lik[first]), "", paste0(
    sprintf("%.1f", table$log_lik[first]),
    ifelse(table$baseline[first], "", paste0(" (", signed_text(table$log_lik_difference[first]), ")"))
  ))
  for (one in unique(about)) out[[one]] <- text[about == one][match(place[first], place[about == one])]
  out
}

# "+61" and "-0.4"; "0" where it rounds to nothing.
signed_text <- function(x) {
  x <- ifelse(abs(x) < 10, round(x, 1), round(x))
  ifelse(x == 0, "0", paste0(ifelse(x > 0, "+", "-"), vapply(abs(x), format_plain, "")))
}

# How far each quantity goes, which alternatives fit better, and which have no numbers.
sensitivity_words <- function(x, most = 8) {
  table <- shown_rows(x)
  about <- quantity_label(table)
  known <- unique(about)
  moves <- unlist(lapply(utils::head(known, most), function(one) movement_words(table[about == one, ])))
  each <- table[!duplicated(alternative_label(table)) & !table$baseline, ]
  c(moves, if (length(known) > most) paste0("And ", plural(length(known) - most, "quantity", "quantities"), " more: ",
                                            "as.data.frame() has every row."),
    better_words(each), lost_words(each))
}

movement_words <- function(rows) {
  has <- !is.na(rows$estimate)
  n <- sum(has & !rows$baseline)
  if (!n) return(NULL)
  contrast <- !is.na(rows$reference[1])
  ratio <- rows$scale[1] %in% "ratio"
  where <- if (contrast) paste0(" (", safe_text(rows$group[1]), if (ratio) " to " else " minus ",
                                safe_text(rows$reference[1]), ")") else if (!is.na(rows$group[1]))
    paste0(" (", safe_text(rows$group[1]), ")")
  name <- paste0(if (contrast) paste("The", if (ratio) "ratio of " else "difference in "), rows$term[1], where)
  range <- range(rows$estimate[has])
  own <- rows$estimate[rows$baseline]
  paste0(name, " is ", format_number(own), " as fitted and goes from ", format_number(range[1]), " to ",
         format_number(range[2]), " over ", if (n == 1) "this alternative" else paste("these", n, "alternatives"),
         side_words(rows, contrast, ratio, n), ".")
}

# Whether it stays on one side of no difference, or of no leaning.
side_words <- function(rows, contrast, ratio, n) {
  if (!contrast && rows$term[1] %in% names(price_inverses)) return("")
  if (!contrast && !any(rows$estimate < 0, na.rm = TRUE) && !rows$term[1] %in% price_inverses) return("")
  centre <- if (ratio) 1 else 0
  other <- rows[!rows$baseline & !is.na(rows$estimate), ]
  turned <- sum(sign(other$estimate - centre) != sign(rows$estimate[rows$baseline] - centre))
  if (turned) {
    return(paste0("; ", if (ratio) "it crosses 1" else "its sign turns", " in ", if (turned == n) "all" else turned,
                  " of them"))
  }
  paste0("; ", if (ratio) "it stays on the same side of 1" else "its sign holds", if (n > 1) " in all of them",
         covering_words(other, rows[rows$baseline, ], centre))
}

# A sign holds for sure only where the interval leaves out `centre` as well.
covering_words <- function(other, own, centre) {
  covers <- function(rows) rows$conf.low <= centre & rows$conf.high >= centre
  if (isTRUE(covers(own))) return(paste0(", though the interval covers ", centre, " as fitted"))
  now <- sum(covers(other) %in% TRUE)
  if (!now) return("")
  where <- if (nrow(other) > 1) paste(" in", if (now == nrow(other)) "all" else now, "of them")
  paste0(", but the interval covers ", centre, where)
}

better_words <- function(each) {
  known <- each[!is.na(each$log_lik_difference), ]
  if (!nrow(known)) return(NULL)
  better <- known[known$log_lik_difference > better_by, ]
  if (!nrow(better)) return(paste0("No alternative fits better by more than ", better_by, " log units."))
  better <- better[order(-better$log_lik_difference), ]
  said <- paste(alternative_label(better), "by", vapply(better$log_lik_difference, format_number, ""))
  paste0(plural(nrow(better), "alternative"), if (nrow(better) == 1) " fits" else " fit", " better by more than ",
         better_by, " log units: ", listing(said), ". Report ", if (nrow(better) == 1) "it." else "them.")
}

lost_words <- function(each) {
  lost <- each[is.na(each$log_lik), ]
  rough <- each[!is.na(each$log_lik) & !each$converged, ]
  notes <- vapply(unique(lost$note), function(note) {
    paste0("No numbers for ", listing(alternative_label(lost[lost$note == note, ])), ": ", sub("[.]$", "", note), ".")
  }, "", USE.NAMES = FALSE)
  c(notes, if (nrow(rough)) paste0("The search stopped before it got to the top under ",
                                   listing(alternative_label(rough)), ": do not report these rows."))
}

#' @export
print.ibrc_sensitivity <- function(x, digits = 3, ...) {
  needed <- c("what", "alternative", "baseline", "group", "reference", "scale", "term", sensitivity_numbers, "log_lik",
              "log_lik_difference", "converged", "note")
  if (!all(needed %in% names(x)) || !any(x$baseline)) return(NextMethod())
  table <- shown_rows(x)
  n <- length(unique(alternative_label(table))) - 1
  cat(plural(n, "alternative"), " to what the fit assumes, by ",
      if (identical(attr(x, "method"), "reweight")) "weights of its draws" else "modes", "\n\n", sep = "")
  print(wide_table(table, digits), row.names = FALSE, right = FALSE)
  cat("\n")
  for (line in sensitivity_words(x)) writeLines(strwrap(line, prefix = "  ", initial = "* "))
  print_verdict(attr(x, "verdict"), "Of the fit itself:")
  invisible(x)
}
