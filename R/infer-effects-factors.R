# The grouping factors of random intercepts: which levels there are, which cells have them, which terms they move, and
# which of these are correlated. A design (infer-effects-design.R) has one entry per factor.

# Random intercepts of several terms by the same factor are one entry. The sampler proposes their levels together.
# `make(columns)` returns the levels of a factor, as new_factor() does.
read_factors <- function(formulas, make, terms) {
  found <- list()
  for (formula in formulas) {
    for (one in formula$random) {
      name <- factor_name(one$columns)
      if (is.null(found[[name]])) found[[name]] <- make(one$columns)
      if (!identical(found[[name]]$columns, one$columns)) {
        abort_input("effects", "has the random intercept of ", name, " in two meanings, of ",
                    column_words(found[[name]]$columns), " and of ", column_words(one$columns), ": rename a column.")
      }
      if (!is.na(one$tie) && !all(found[[name]]$tie %in% c(NA, one$tie))) {
        abort_input("effects", "ties the intercepts of ", name, " under two names: use one.")
      }
      found[[name]]$terms <- c(found[[name]]$terms, match(formula$term, terms))
      found[[name]]$tie <- c(found[[name]]$tie, one$tie)
    }
  }
  lapply(found, function(one) {
    order <- order(one$terms)
    one$terms <- one$terms[order]
    one$tied <- which(!is.na(one$tie[order]))
    if (length(one$tied) == 1) {
      abort_input("effects", "ties the intercepts of ", one$name, " in one formula only: (1 | ",
                  one$tie[one$tied][1], " | ", one$name, ") must stand in two or more.")
    }
    one$tie <- NULL
    one
  })
}

column_words <- function(columns) paste(if (length(columns) > 1) "columns" else "column", enumerate(columns))

# Two factors that put the same people together cannot both have a spread of the same term: the data tell only their
# sum. So for (1 | a:b) and (1 | b:a), and for (1 | id) and (1 | clinician) where each has a clinician of their own.
refuse_same_partition <- function(factors, terms) {
  parts <- lapply(factors, function(one) match(one$level, unique(one$level)))
  for (second in which(duplicated(parts))) {
    same <- which(vapply(parts[seq_len(second - 1)], identical, NA, parts[[second]]))
    for (first in same) {
      both <- intersect(factors[[first]]$terms, factors[[second]]$terms)
      if (!length(both)) next
      abort_input("effects", "has random intercepts of ", factors[[first]]$name, " and of ", factors[[second]]$name,
                  " for ", terms[both[1]], ", which put the same people together: keep one of the two.")
    }
  }
}

new_factor <- function(columns, people) {
  parts <- lapply(columns, function(column) level_part(people$columns[[column]], column, length(columns) > 1))
  label <- join_labels(parts)
  label <- factor(label, levels = unique(label[do.call(order, lapply(parts, as.integer))]))
  if (nlevels(label) < 2) {
    abort_input("effects", "has a random intercept of ", factor_name(columns), ", which has one level only: ",
                "it takes several to see how they differ. Leave it out.")
  }
  list(name = factor_name(columns), columns = columns, levels = levels(label), level = as.integer(label),
       terms = integer(), tie = character())
}

# Levels of one column, in order; values that differ have labels that differ. Of several columns that are joined by
# colons, a label with a colon of its own stands in quotes. `known`: labels that a fit has.
level_part <- function(x, column, several, known = NULL) {
  text <- group_text(x, column, known, "effects")
  levels <- intersect(group_levels(x, text), text)
  unclear <- several & (grepl(":", levels, fixed = TRUE) | startsWith(levels, "\""))
  factor(ifelse(unclear, quote_label(levels), levels)[match(text, levels)],
         levels = ifelse(unclear, quote_label(levels), levels))
}

join_labels <- function(parts) do.call(paste, c(lapply(parts, as.character), sep = ":"))

list_spreads <- function(factors, scales) {
  rows <- lapply(seq_along(factors), function(k) {
    one <- factors[[k]]
    term <- names(scales)[one$terms]
    data.frame(label = spread_term(term, one$name), factor = k, term = one$terms, scale = unname(scales[one$terms]))
  })
  if (!length(rows)) return(data.frame(label = character(), factor = integer(), term = integer(), scale = numeric()))
  out <- do.call(rbind, rows)
  rownames(out) <- NULL
  out
}

list_ties <- function(factors, terms) {
  rows <- lapply(seq_along(factors), function(k) {
    one <- factors[[k]]
    if (!length(one$tied)) return(NULL)
    pairs <- utils::combn(one$tied, 2)
    data.frame(label = tie_term(terms[one$terms[pairs[1, ]]], terms[one$terms[pairs[2, ]]], one$name), factor = k,
               first = pairs[1, ], second = pairs[2, ])
  })
  out <- do.call(rbind, rows)
  if (is.null(out)) data.frame(label = character(), factor = integer(), first = integer(), second = integer()) else out
}
