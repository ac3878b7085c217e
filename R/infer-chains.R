# Chains: where they start, and steps of all of them at once until the end of a run.

# Starting points with a finite posterior density, drawn from the prior or given.
start_chains <- function(evaluator, start, n, n_values, stream, tries = 200) {
  value <- matrix(0, n_values, n)
  given <- !is.null(start)
  theta <- if (given) given_start(evaluator$prior, start, n) else
    with_stream(stream, prior_draw(evaluator$prior, n * tries))
  pool <- theta
  theta <- pool[seq_len(n), , drop = FALSE]
  result <- evaluate_batch(evaluator, theta, value)
  for (try in seq_len(tries - 1)) {
    bad <- which(!is.finite(result$log_prior + result$log_likelihood))
    if (!length(bad)) break
    if (given) {
      abort_input("start", "is impossible: chain ", bad[1], " starts where the posterior is 0.", rows = bad)
    }
    theta[bad, ] <- pool[try * n + bad, ]
    again <- evaluate_batch(evaluator, theta[bad, , drop = FALSE], value[, bad, drop = FALSE], evaluator$group[bad])
    result$log_prior[bad] <- again$log_prior
    result$log_likelihood[bad] <- again$log_likelihood
    result$value[, bad] <- again$value
  }
  total <- result$log_prior + result$log_likelihood
  if (any(!is.finite(total))) {
    abort_input("start", "could not be drawn: ", tries, " draws from the prior all have posterior 0. ",
                "Give control = ibrc_control(start = ), or a prior nearer to the behaviour.")
  }
  list(theta = theta, log_density = cbind(result$log_prior, result$log_likelihood), value = result$value)
}

given_start <- function(prior, start, n) {
  terms <- prior_terms(prior)
  start <- with_sticks(prior, start)
  lost <- setdiff(terms, colnames(start))
  if (length(lost)) abort_input("start", "has no column for ", enumerate(lost), ".")
  if (!nrow(start) %in% c(1, n)) abort_input("start", "has ", nrow(start), " rows for ", n, " chains.")
  theta <- prior_unconstrain(prior, start[rep_len(seq_len(nrow(start)), n), terms, drop = FALSE])
  bad <- which(rowSums(!is.finite(theta)) > 0)
  if (length(bad)) abort_input("start", "lies outside the prior in row ", bad[1], ".", rows = bad)
  theta
}

# Steps of all chains until the end, or until interrupted.
run_chains <- function(chain, evaluator, run, each_step = NULL) {
  began <- list(time = Sys.time(), step = iteration_of(chain))
  chain <- until_interrupted(chain, function(chain) step_chains(chain, evaluator), function(chain) {
    done <- iteration_of(chain)
    if (run$refresh > 0 && done %% run$refresh == 0) say_progress(chain, run, began)
    if (!is.null(each_step)) each_step(chain)
  })
  # Wherever a run ends, its state is the same whether it was stopped on the way or not.
  if (is_walk(chain$state) || is_population(chain$state)) chain$state <- with_fresh(chain$state)
  chain
}

# `advance` takes a chain one or more steps on, and `look` looks at where it stands, until all its steps are made or
# until interrupted. `chain` holds the sampler's state and the values that solves start from. Both change in one
# assignment, so that an interrupt finds them in step, even if it comes during `look`.
until_interrupted <- function(chain, advance, look) {
  stopped <- tryCatch({
    while (iteration_of(chain) < steps_of(chain)) {
      chain <- advance(chain)
      look(chain)
    }
    FALSE
  }, interrupt = function(condition) TRUE)
  chain$interrupted <- stopped
  chain
}

# One step of all chains, and the values at which they now are.
step_chains <- function(chain, evaluator) {
  if (is_population(chain$state)) return(population_step(chain, evaluator))
  proposed <- NULL
  log_density <- function(theta) {
    proposed <<- evaluate_batch(evaluator, theta, chain$value)
    cbind(proposed$log_prior, proposed$log_likelihood)
  }
  state <- if (is_walk(chain$state)) walk_step(chain$state, log_density) else sampler_step(chain$state, log_density)
  value <- chain$value
  value[, state$accepted] <- proposed$value[, state$accepted]
  list(state = state, value = value)
}

say_progress <- function(chain, run, began) {
  gone <- as.numeric(Sys.time() - began$time, units = "secs")
  iteration <- iteration_of(chain)
  left <- gone / max(1, iteration - began$step) * (steps_of(chain) - iteration)
  tell(message(sprintf("step %d of %d%s, about %s left", iteration, steps_of(chain),
                       if (iteration <= run$warmup) " (warm-up)" else "", format_seconds(left))))
}

format_seconds <- function(seconds) {
  if (seconds < 60) return(paste(ceiling(seconds), "s"))
  if (seconds < 3600) return(paste(ceiling(seconds / 60), "min"))
  paste(round(seconds / 3600, 1), "h")
}

# Of draws [iteration, chain, term] one term's, [iteration, chain].
term_draws <- function(draws, term) matrix(draws[, , term], dim(draws)[1])

# Draws [iteration, chain, term] as [draw, term], one chain after the other.
flat_draws <- function(draws) {
  size <- dim(draws)
  terms <- dimnames(draws)[[3]]
  matrix(draws, size[1] * size[2], size[3], dimnames = if (!is.null(terms)) list(NULL, terms))
}

# The state of all chains, or that of the first part; the other parts have made as many steps.
first_state <- function(chain) if (is.null(chain$parts)) chain$state else chain$parts[[1]]$state

# Steps made, and steps to be made in all.
iteration_of <- function(chain) first_state(chain)$iteration
steps_of <- function(chain) first_state(chain)$iter

grow_chain <- function(chain, iter) {
  if (is.null(chain$parts)) {
    grow <- if (is_population(chain$state)) population_grow else if (is_walk(chain$state)) walk_grow else sampler_grow
    chain$state <- grow(chain$state, iter)
    return(chain)
  }
  chain$parts <- lapply(chain$parts, grow_chain, iter)
  chain
}

# Each chain goes on from the values of its last plan; they are copied when proposals are evaluated.
refuse_many_values <- function(run, n_groups, n_values) {
  chains <- as.numeric(run$chains) * n_groups
  refuse_too_large(32 * chains * n_values, "chains", plural(chains, "chain"), " of ", plural(n_values, "value"),
                   " would hold ", format_count(chains * n_values), " in all, with copies on the way",
                   advice = "take fewer chains or a smaller `resolution`")
}
