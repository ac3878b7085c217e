# Which coefficients, cells and contrasts of a population rest on few visits (few_data()), though all people together
# have many.

# Whether a combination of the coefficients of a term rests on few visits. Each visit of a cell pulls at its
# least-squares estimate; where few pull much harder than all others, it rests on these few. Of pulls h there are as
# good as sum(h^2)^2 / sum(h^4) that are alike: all where two kinds of people are equally many, else about as many as
# there are of the rarer kind. Of numbers that are normally distributed that is a third, so there one counts for three.
rests_on_few <- function(fit, term, combination) {
  x <- fit$effects$matrices[[term]]
  people <- as.numeric(fit$group_sizes)
  visits <- as.numeric(fit$n_scored)
  size <- apply(abs(x), 2, max)
  x <- sweep(x, 2, size, `/`)
  parts <- qr(x * sqrt(visits))
  if (parts$rank < ncol(x)) return(few_data(sum(people), sum(visits)))
  upper <- qr.R(parts)
  own <- (combination / size)[parts$pivot]
  pull <- as.vector(x[, parts$pivot, drop = FALSE] %*% backsolve(upper, backsolve(upper, own, transpose = TRUE)))
  if (!any(pull != 0)) return(FALSE)
  pull <- pull / max(abs(pull))
  numbers <- any(apply(x[, combination != 0, drop = FALSE], 2, function(column) length(unique(column)) > 2))
  alike <- function(weight) min(sum(weight), (if (numbers) 3 else 1) * sum(weight * pull^2)^2 / sum(weight * pull^4))
  few_data(alike(people), alike(visits))
}

# Whether the people in these cells have few visits.
few_in_cells <- function(fit, cells) few_data(sum(fit$group_sizes[cells]), sum(fit$n_scored[cells]))

# Labels of coefficients that do. A difference between two kinds of people needs enough of each.
scarce_coefficients <- function(fit) {
  matrices <- fit$effects$matrices
  unlist(lapply(names(matrices), function(term) {
    x <- matrices[[term]]
    scarce <- vapply(seq_len(ncol(x)), function(j) {
      kinds <- unique(x[, j])
      rests_on_few(fit, term, as.numeric(seq_len(ncol(x)) == j)) ||
        length(kinds) == 2 && any(vapply(kinds, function(kind) few_in_cells(fit, x[, j] == kind), NA))
    }, NA)
    coefficient_term(term, colnames(x))[scarce]
  }))
}

# Whether a term does in each cell.
scarce_cells <- function(fit, term) {
  x <- fit$effects$matrices[[term]]
  apply(x, 1, function(row) rests_on_few(fit, term, row))
}

# Whether the contrast of two levels of a factor does, which need not be that of a coefficient.
scarce_contrast <- function(fit, term, name, levels, adjusted) {
  value <- factor_variables(fit$effects, term)[[name]]
  if (any(vapply(levels, function(level) few_in_cells(fit, value == level), NA))) return(TRUE)
  if (!adjusted) return(FALSE)
  columns <- columns_at_levels(fit$effects, term, name)
  rests_on_few(fit, term, colSums(as.numeric(fit$group_sizes) * (columns[[levels[1]]] - columns[[levels[2]]])))
}
