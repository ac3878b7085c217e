# Effects as sentences: what decision_effects() prints, and what a report leads with.

# Quantities in the order in which they are told, and what they are called.
effect_titles <- c(
  probability = "Probability of the action", visits = "Visits until a decision", decided = "Probability of a decision",
  count = "Times the action is taken", cost = "Cost of the bounds", cost_share = "Cost of the bounds, as a share",
  accuracy = "Accuracy acted on", weight = "Weight of the model"
)

# How many groups, places and models the sentences tell of; the table has them all.
most_groups_told <- 5
most_models_told <- 3

#' @export
format.ibrc_effects <- function(x, ...) {
  told <- list(
    probability_words(x),
    simple_words(x, "visits", function(row) paste0("Visits until a decision (", row$at, "): ")),
    simple_words(x, "decided", function(row) paste0("Probability of a decision ", row$at, ": "),
                 useful = function(rows) any(rows$estimate < 0.995)),
    count_words(x),
    simple_words(x, "cost", function(row) "Cost of the bounds, in utility per visit: ", rational = FALSE),
    simple_words(x, "cost_share", rational = FALSE, opening = function(row) {
      "As a share of what acting at random would cost: "
    }),
    accuracy_words(x),
    weight_words(x)
  )
  as.character(unlist(told, use.names = FALSE))
}

rational_columns <- c("rational", "rational_low", "rational_high")
gap_columns <- c("gap", "gap_low", "gap_high")

#' @export
print.ibrc_effects <- function(x, ...) {
  needed <- c("quantity", "at", "action", "detail", "estimate", "conf.low", "conf.high", rational_columns, gap_columns)
  of <- attr(x, "of")
  if (!all(needed %in% names(x)) || is.null(of) || !nrow(x)) {
    print(as.data.frame(x), ...)
    return(invisible(x))
  }
  cat(effects_headline(of), "\n\n", sep = "")
  for (line in format(x)) writeLines(strwrap(line, prefix = "  ", initial = "* "))
  print_verdict(attr(x, "verdict"))
  invisible(x)
}

effects_headline <- function(of) {
  over <- if (is.null(of$draws)) "at the estimates" else if (of$draws == 1) "at one draw" else
    paste0("median over ", plural(of$draws, "draw"), " and ", level_text(of$conf.level), " interval",
           if (isTRUE(of$differences)) "; differences are medians of those within draws")
  paste0("What decision makers do, ", over)
}

# ---- numbers ------------------------------------------------------------------------------------------------------

percent_of <- function(x) paste0(sub("\\.0$", "", sprintf("%.1f", 100 * x)), "%")

# As a reader would say it.
effect_number <- function(x, quantity) {
  text <- switch(quantity, accuracy = , cost_share = percent_of(x), cost = format_number(x, 2),
                 visits = , count = sprintf("%.1f", x), sprintf("%.2f", x))
  # Zero has no sign.
  sub("^-(0[.]?0*%?)$", "\\1", text)
}

# "0.62 (0.55 to 0.70)", of one row; `columns` has the names of a median and its interval.
median_columns <- c("estimate", "conf.low", "conf.high")
with_interval <- function(row, columns = median_columns) {
  at <- unlist(row[columns])
  if (is.na(at[1])) return("not known")
  text <- vapply(at, effect_number, "", row$quantity)
  paste0(text[1], if (!is.na(at[2])) paste0(" (", text[2], " to ", text[3], ")"))
}

# ", 0.12 lower than in north (difference within draws -0.20 to -0.04)", of one row. The size is the median of
# differences, and not the difference of the medians that stand beside it.
difference_words <- function(row, than, columns = median_columns) {
  at <- unlist(row[columns], use.names = FALSE)
  number <- function(x) effect_number(x, row$quantity)
  if (is.na(at[1])) return("")
  # The difference of two percentages is in points.
  points <- function(text) sub("%$", "", text)
  unit <- if (endsWith(number(0), "%")) " points" else ""
  size <- points(number(abs(at[1])))
  side <- if (size == points(number(0))) "about as " else
    paste0(size, if (size == "1") sub("s$", "", unit) else unit, if (at[1] > 0) " higher" else " lower", " than ")
  paste0(", ", side, than,
         if (!is.na(at[2])) {
           paste0(" (difference within draws ", points(number(at[2])), " to ", points(number(at[3])), unit, ")")
         })
}

# Rows of one quantity, place, action and detail: each group, its difference, and the value of a perfectly rational
# agent. `ideal`: what the latter is called, by itself and after "than"; NULL leaves it out. Where it differs between
# draws it has an interval, and so has the distance of each group from it.
rows_words <- function(rows, ideal) {
  level <- rows[if (is.null(rows$reference)) TRUE else is.na(rows$reference), ]
  same <- have_same_rational(level)
  has <- function(row) paste0(ideal[["called"]], ": ", with_interval(row, rational_columns))
  told <- vapply(seq_len(min(nrow(level), most_groups_told)), function(i) {
    row <- level[i, ]
    against <- rows[!is.null(rows$reference) & !is.na(rows$reference) & rows$group %in% row$group, ]
    paste0(with_interval(row), if (!is.null(row$group)) paste(" in", safe_text(row$group)),
           if (nrow(against)) difference_words(against[1, ], paste("in", safe_text(against$reference[1]))),
           if (!is.null(ideal) && !is.na(row$rational_low)) difference_words(row, ideal[["than"]], gap_columns),
           if (!is.null(ideal) && !same && !is.na(row$rational)) paste0(" (", has(row), ")"))
  }, "")
  more <- nrow(level) - length(told)
  paste0(paste(told, collapse = "; "), if (more > 0) paste0("; ", plural(more, "more group")),
         if (!is.null(ideal) && same) paste0("; ", has(level[1, ])), ".")
}

have_same_rational <- function(level) {
  alike <- function(x) all(is.na(x)) || isTRUE(diff(range(x)) < 0.005)
  !is.na(level$rational[1]) && all(vapply(level[rational_columns], alike, NA))
}

# ---- sentences ----------------------------------------------------------------------------------------------------

a_rational_agent <- c(called = "a perfectly rational agent", than = "a perfectly rational agent")
the_setting <- c(called = "in the setting", than = "in the setting")
neutral_weight <- c(called = "neutral weight", than = "the neutral weight")

capital <- function(text) paste0(upper_case(substr(text, 1, 1)), substring(text, 2))

is_level <- function(x) if (is.null(x$reference)) rep(TRUE, nrow(x)) else is.na(x$reference)

# "At even odds", "After two positive tests".
place_words <- function(at) {
  at <- sub("^start", "the start", at)
  capital(ifelse(startsWith(at, "after "), at, paste("at", at)))
}

# At each place, the actions that are the likeliest in some group.
probability_words <- function(x) {
  all <- x[x$quantity == "probability", ]
  unlist(lapply(unique(all$at), function(at) {
    rows <- all[all$at == at, ]
    level <- rows[is_level(rows), ]
    group <- if (is.null(level$group)) rep(1, nrow(level)) else level$group
    likeliest <- unique(unlist(lapply(split(level, group), function(one) one$action[which.max(one$estimate)])))
    vapply(intersect(level$action, likeliest), function(action) {
      paste0(safe_text(place_words(at)), ", ", safe_text(as_label(action)), " with probability ",
             rows_words(rows[rows$action == action, ], a_rational_agent))
    }, "", USE.NAMES = FALSE)
  }))
}

simple_words <- function(x, quantity, opening, rational = TRUE, useful = function(rows) TRUE) {
  rows <- x[x$quantity == quantity, ]
  if (!nrow(rows) || !useful(rows[is_level(rows), ])) return(NULL)
  paste0(opening(rows[1, ]), rows_words(rows, if (rational) a_rational_agent))
}

# Actions that go on: counts of the others say no more than how often there is a decision.
count_words <- function(x) {
  rows <- x[x$quantity == "count", ]
  stops <- attr(x, "of")$setting$stop_actions
  actions <- setdiff(unique(rows$action), stops)
  vapply(actions, function(action) {
    mine <- rows[rows$action == action, ]
    paste0(capital(safe_text(as_label(action))), ", times in a trajectory (", mine$at[1], "): ",
           rows_words(mine, a_rational_agent))
  }, "", USE.NAMES = FALSE)
}

# Where models differ in it, at the first place that is stated.
accuracy_words <- function(x) {
  rows <- x[x$quantity == "accuracy" & x$detail %in% "all states", ]
  rows <- rows[rows$at == rows$at[1], ]
  level <- rows[is_level(rows), ]
  if (!any(abs(level$gap) >= 0.0005, na.rm = TRUE)) return(NULL)
  vapply(unique(rows$action), function(action) {
    paste0(safe_text(place_words(rows$at[1])), ", acts as if what is seen after ", safe_text(as_label(action)),
           " showed the true state this often: ", rows_words(rows[rows$action == action, ], the_setting))
  }, "", USE.NAMES = FALSE)
}

# The models whose weights are moved most, at the first place that is stated.
weight_words <- function(x) {
  rows <- x[x$quantity == "weight", ]
  rows <- rows[rows$at == rows$at[1], ]
  level <- rows[is_level(rows), ]
  unlist(lapply(unique(rows$action), function(action) {
    moved <- level[level$action == action, ]
    size <- tapply(abs(moved$gap), factor(moved$detail, unique(moved$detail)), max)
    told <- utils::head(names(sort(size[size >= 0.005], decreasing = TRUE)), most_models_told)
    told <- intersect(unique(moved$detail), told)
    vapply(told, function(model) {
      paste0(safe_text(place_words(rows$at[1])), " and when it takes ", safe_text(as_label(action)),
             ", gives the model \"", safe_text(model), "\" the weight ",
             rows_words(rows[rows$action == action & rows$detail == model, ], neutral_weight))
    }, "", USE.NAMES = FALSE)
  }))
}
