# Which coefficients, cells and contrasts of a population rest on few visits (few_data()), though all people together
# have many.

# Whether a combination of the coefficients of a term rests on few visits. Each visit of a cell pulls at its
# least-squares estimate; where few pull much harder than all others, it rests on these few. Of pulls h there are as
# good as sum(h^2)^2 / sum(h^4) that are alike: all where two kinds of people are equally many, else about as many as
# there are of the rarer kind. Of numbers that are normally distributed that is a third, so there one counts for three.
rests_on_few <- function(fit, term, combination) few_behind(fit, term)(combination)

# A function of a combination, for many of the same term.
few_behind <- function(fit, term) {
  x <- fit$effects$matrices[[term]]
  people <- as.numeric(fit$group_sizes)
  visits <- as.numeric(fit$n_scored)
  size <- apply(abs(x), 2, max)
  x <- sweep(x, 2, size, `/`)
  parts <- qr(x * sqrt(visits))
  if (parts$rank < ncol(x)) return(function(combination) few_data(sum(people), sum(visits)))
  numbers <- apply(x, 2, function(column) length(unique(column)) > 2)
  x <- x[, parts$pivot, drop = FALSE]
  upper <- qr.R(parts)
  function(combination) {
    own <- (combination / size)[parts$pivot]
    pull <- as.vector(x %*% backsolve(upper, backsolve(upper, own, transpose = TRUE)))
    if (!any(pull != 0)) return(FALSE)
    pull <- pull / max(abs(pull))
    each <- if (any(numbers & combination != 0)) 3 else 1
    alike <- function(weight) min(sum(weight), each * sum(weight * pull^2)^2 / sum(weight * pull^4))
    few_data(alike(people), alike(visits))
  }
}

# Whether the people in these cells have few visits.
few_in_cells <- function(fit, cells) few_data(sum(fit$group_sizes[cells]), sum(fit$n_scored[cells]))

# Labels of coefficients that do. A difference between two kinds of people needs enough of each.
scarce_coefficients <- function(fit) {
  matrices <- fit$effects$matrices
  unlist(lapply(names(matrices), function(term) {
    x <- matrices[[term]]
    few <- few_behind(fit, term)
    scarce <- vapply(seq_len(ncol(x)), function(j) {
      kinds <- unique(x[, j])
      few(as.numeric(seq_len(ncol(x)) == j)) ||
        length(kinds) == 2 && any(vapply(kinds, function(kind) few_in_cells(fit, x[, j] == kind), NA))
    }, NA)
    coefficient_term(term, colnames(x))[scarce]
  }))
}

# Whether a term does in each cell.
scarce_cells <- function(fit, term) {
  x <- fit$effects$matrices[[term]]
  kind <- distinct_rows(x)
  apply(x[!duplicated(kind), , drop = FALSE], 1, few_behind(fit, term))[kind]
}

# Whether the contrast of two levels of a factor does, which need not be that of a coefficient.
scarce_contrast <- function(fit, term, name, levels, adjusted) {
  value <- factor_variables(fit$effects, term)[[name]]
  if (any(vapply(levels, function(level) few_in_cells(fit, value == level), NA))) return(TRUE)
  if (!adjusted) return(FALSE)
  columns <- columns_at_levels(fit$effects, term, name)
  rests_on_few(fit, term, colSums(as.numeric(fit$group_sizes) * (columns[[levels[1]]] - columns[[levels[2]]])))
}
