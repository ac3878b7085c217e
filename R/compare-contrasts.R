# Contrasts: which pairs are compared, draw by draw, in a table, and what is said of several together
# (compare_groups()).

# A contrast: what it is about, and the draws of both sides.
new_contrast <- function(about, a, b, scale) {
  if (scale == "ratio" && any(a <= 0 | b <= 0)) {
    abort_input("scale", "= \"ratio\" needs positive draws; ", about$term, " changes sign: use \"difference\".")
  }
  list(about = about, scale = scale, draws = if (scale == "ratio") a / b else a - b, larger = a > b)
}

# `judge`: the verdict on a row.
new_ibrc_comparison <- function(contrasts, conf.level, joint, rows, judge, said = NULL) {
  tail <- (1 - conf.level) / 2
  table <- lapply(contrasts, function(one) {
    range <- stats::quantile(one$draws, c(tail, 1 - tail), names = FALSE)
    data.frame(one$about, scale = one$scale, estimate = stats::median(one$draws), conf.low = range[1],
               conf.high = range[2], probability = mean(one$larger))
  })
  out <- do.call(rbind, table)
  rownames(out) <- NULL
  out$verdict <- vapply(seq_len(nrow(out)), function(i) judge(out[i, ]), "")
  structure(out, class = c("ibrc_comparison", "data.frame"), verdict = rows, said = said,
            joint = if (joint) joint_probability(contrasts), conf.level = conf.level)
}

# The probability that all contrasts have the sign of their estimates.
joint_probability <- function(contrasts) {
  holds <- lapply(contrasts, function(one) {
    above <- stats::median(one$draws) > (one$scale == "ratio")
    one$larger == above
  })
  mean(Reduce(`&`, holds))
}

#' @export
print.ibrc_comparison <- function(x, digits = 3, ...) {
  digits <- check_count(digits, "digits")
  table <- as.data.frame(x)
  numbers <- intersect(c("estimate", "conf.low", "conf.high"), names(table))
  table[numbers] <- lapply(table[numbers], digits_text, digits)
  if (!is.null(table$probability)) table$probability <- chance_text(table$probability)
  print(table, row.names = FALSE)
  writeLines(strwrap(comparison_words(x)))
  print_verdict(attr(x, "verdict"))
  invisible(x)
}

#' @export
as.data.frame.ibrc_comparison <- function(x, ...) {
  for (part in c("verdict", "said", "joint", "conf.level")) attr(x, part) <- NULL
  class(x) <- "data.frame"
  x
}

# How many contrasts were looked at, and what may be said of all of them.
comparison_words <- function(x) {
  joint <- attr(x, "joint")
  several <- nrow(x) > 1
  c(if (!is.null(attr(x, "said")) || several) "", attr(x, "said"),
    if (several) paste0(
      nrow(x), " contrasts were looked at",
      if (is.null(joint)) ". To see how probable it is that all of them hold, set joint = TRUE." else
        paste0("; the probability that all of them have the sign of their estimate is ", chance_text(joint), ".")
    ))
}

group_pairs <- function(groups, reference) {
  if (identical(reference, "all") && !"all" %in% groups) {
    pairs <- utils::combn(groups, 2)
    return(list(group = pairs[2, ], reference = pairs[1, ]))
  }
  if (is.null(reference)) reference <- groups[1]
  if (length(reference) != 1) abort_input("reference", "must be one group, not ", describe(reference), ".")
  as_positions(reference, groups, "reference", "group")
  list(group = setdiff(groups, reference), reference = reference)
}

# A ratio where both sides are positive at every draw.
default_scale <- function(term) {
  if (term %in% names(price_inverses)) "ratio" else "difference"
}
