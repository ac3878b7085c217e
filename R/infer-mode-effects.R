# The top of a population's likelihood or posterior, for ibrc_mode() with `effects`. Fixed effects only: with random
# intercepts the top lies where they do not differ at all, however much people do, so that it says nothing.

refuse_random <- function(formulas) {
  random <- unlist(lapply(formulas, function(one) lapply(one$random, function(bar) factor_name(bar$columns))))
  if (!length(random)) return(invisible())
  abort_input("effects", "has random intercepts (", enumerate(unique(random)), "), for which a mode is no estimate: ",
              "it lies where all of them are 0. Fit with ibrc(), or leave them out.")
}

# As an evaluator of one group whose terms are the coefficients.
effects_evaluator <- function(inverse, cores) {
  agent <- inverse_evaluator(inverse, cores = cores)
  shape <- population_shape(inverse$effects, inverse$prior)
  prior <- lapply(seq_along(shape$coefficient_prior), function(j) {
    entry <- shape$coefficient_prior[[j]]
    entry$term <- shape$design$coefficients$label[j]
    entry
  })
  list(evaluate = evaluate_effects, cells = shape, agent = agent, prior = new_ibrc_prior(prior), group = 1L,
       cores = cores, likelihood = TRUE, n_values = agent$n_values * shape$n_cells)
}

# evaluate_batch() of such: `theta` [row, coefficient], values [node and cell, row].
evaluate_effects <- function(evaluator, theta, values) {
  shape <- evaluator$cells
  n <- nrow(theta)
  n_values <- evaluator$agent$n_values
  agent <- evaluator$agent
  agent$cores <- evaluator$cores
  from <- aperm(array(values, c(n_values, shape$n_cells, n)), c(1, 3, 2))
  found <- evaluate_batch(agent, cells_of(shape, theta, matrix(0, n, 0)), matrix(from, n_values),
                          rep(seq_len(shape$n_cells), each = n))
  list(log_prior = log_coefficients(shape, theta), log_likelihood = rowSums(matrix(found$log_likelihood, n)),
       value = matrix(aperm(array(found$value, c(n_values, n, shape$n_cells)), c(1, 3, 2)), ncol = n))
}

has_mode_effects <- function(mode) !is.null(mode$population)

# The mode of the population as one of a group that is everybody, for whatever shows coefficients.
coefficient_mode <- function(mode) {
  mode$tops <- stats::setNames(list(mode$population$top), lone_group)
  mode$prior <- mode$population$prior
  mode$group_sizes <- sum(mode$group_sizes)
  mode$n_scored <- sum(mode$n_scored)
  mode
}
