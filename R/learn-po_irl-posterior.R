# The posterior of rewards behind fit_po_irl(): a normal prior of every entry of the reward table, and the likelihood of
# a planner that takes actions by the softmax of their optimal values (plan_boltzmann()). With free dynamics their
# laws are terms as well, as they are of ibrc(uncertainty = "joint"): logits of the fractions of infer-dynamics.R.
#
# Behaviour does not show all of a reward table r. For any numbers c, one per state, the rewards
#
#   r(s, u) + c(s) - discount * sum_t transition(t | s, u) c(t)
#
# have the optimal values Q(z, u) + sum_s z(s) c(s), whatever the belief z, and therefore lead to the same behaviour.
# This is shaping. Each table can be shaped in exactly one way into a table whose first action is worth 0 in every
# state. What is left are the `gains`, g = M r, where M depends only on the dynamics (shaping_map()). The likelihood
# depends on nothing else. Under the prior r ~ N(0, sd^2) the gains are N(0, sd^2 M M'), and given the gains and the
# dynamics r is normal again. So chains sample gains (and laws), which the data determine. Tables are then drawn from
# their law given the gains. These are draws of the same posterior.
#
# Terms theta: logits of laws if these are free, and then gains in units of `sd`. The temperature is 1.
#
# A task is a plain list:
#   setting      the setting whose rewards are sought, with a utility of 0
#   problem      its tables; with free dynamics, those of the dynamics that were learned first
#   histories    the tree of what was done
#   sd           of the prior of each reward
#   codec, tree  with free dynamics: laws as terms, and the tree of what was seen

po_irl_task <- function(setting, coded, dynamics, joint, sd, resolution) {
  problem <- build_problem(setting, NULL, resolution)
  histories <- build_histories(coded, setting)
  refuse_impossible_visits(coded, histories, problem, 1e-8)
  task <- list(setting = setting, problem = problem, histories = histories, sd = sd)
  if (!joint) return(task)
  task$codec <- prepared_codec(new_codec(dynamics))
  task$tree <- seen_tree(coded, dynamics)
  task
}

# The tree of what was seen in these visits, whichever visits the dynamics were learned from. What no state can show
# would make every law impossible.
seen_tree <- function(coded, dynamics) {
  coded <- without_open_ends(coded)
  expect_states(dynamics, iohmm_chains(coded), coded)
  iohmm_tree(coded, dynamics)
}

n_laws <- function(task) length(task$codec$prior)
n_gains <- function(setting) length(setting$states) * (length(setting$actions) - 1L)

# ---- shaping -------------------------------------------------------------------------------------------------------

# M [gain, reward]. Gains are in the order [state, action] of all actions but the first.
shaping_map <- function(transition, discount) {
  n <- dim(transition)[1]
  n_actions <- dim(transition)[3]
  ahead <- function(action) diag(n) - discount * matrix(transition[, , action], n)
  home <- solve(ahead(1L))
  shaped <- do.call(rbind, lapply(seq_len(n_actions - 1L) + 1L, function(action) -ahead(action) %*% home))
  cbind(shaped, diag(n * (n_actions - 1L)))
}

dense_transition <- function(setting) dense_model(own_model(setting)$models[[1]])$transition

# The table for a vector of gains. The first action is worth 0.
gains_table <- function(gains, setting) {
  n <- length(setting$states)
  matrix(c(numeric(n), gains), n, dimnames = list(setting$states, setting$actions))
}

# Log density of gains in units of sd, N(0, M M').
log_gain_density <- function(gains, map) {
  factor <- chol(tcrossprod(map))
  z <- backsolve(factor, gains, transpose = TRUE)
  -sum(z^2) / 2 - sum(log(diag(factor))) - length(gains) * log(2 * pi) / 2
}

# A whole table, in units of sd, given its gains. A new table is drawn and then changed as little as possible, so that
# it has these gains.
draw_table <- function(gains, map) {
  fresh <- stats::rnorm(ncol(map))
  fresh + drop(crossprod(map, solve(tcrossprod(map), gains - map %*% fresh)))
}

# ---- density -------------------------------------------------------------------------------------------------------

# The plan for a reward table. Its solve begins at the values `start`.
po_irl_plan <- function(problem, reward, start = numeric(problem$space$n_nodes)) {
  problem <- with_utility(problem, reward)
  best <- solve_problem(problem, bounded_agent(), solve_tolerance(problem), start = start)
  plan_with_values(problem, "boltzmann", 1, t(best$solution$action_value), best$solution$value,
                   parameters = list(temperature = 1))
}

# The setting under other laws. They are given as one row of what vectors_of() returns.
under_laws <- function(setting, codec, vector) {
  setting[law_names] <- laws_from(codec, vector)
  setting
}

# The problem in that setting. Its nodes stay the same, but its tables change.
problem_under <- function(problem, setting) {
  problem$setting <- setting
  problem$models <- own_model(setting)
  problem$tables <- build_tables(problem$models, problem$space, problem$surprise, 1L, Inf)
  problem
}

# The part of the log density that depends on laws alone (their prior and what was seen), at theta [chain, term].
po_irl_law_density <- function(task) {
  laws <- seq_len(n_laws(task))
  function(theta) {
    theta <- theta[, laws, drop = FALSE]
    seen <- observation_log_lik(task$codec, task$tree, vectors_of(task$codec, stats::plogis(theta)), 1L)
    out <- log_law_density(task$codec, theta) + seen
    out[!is.finite(out)] <- -Inf
    out
  }
}

# What a sampler asks for: log prior and log likelihood at theta [chain, term]. Each solve begins at the last solution
# of the same row.
po_irl_density <- function(task) {
  values <- matrix(0, task$problem$space$n_nodes, 1)
  laws <- seq_len(n_laws(task))
  gains <- n_laws(task) + seq_len(n_gains(task$setting))
  held_map <- shaping_map(dense_transition(task$setting), task$setting$discount)
  function(theta) {
    n <- nrow(theta)
    if (ncol(values) != n) values <<- values[, rep_len(seq_len(ncol(values)), n), drop = FALSE]
    out <- matrix(0, n, 2)
    if (length(laws)) {
      out[, 1] <- log_law_density(task$codec, theta[, laws, drop = FALSE])
      vectors <- vectors_of(task$codec, stats::plogis(theta[, laws, drop = FALSE]))
      out[, 2] <- observation_log_lik(task$codec, task$tree, vectors, 1L)
    }
    for (i in seq_len(n)) {
      if (!all(is.finite(c(out[i, ], theta[i, gains])))) {
        out[i, ] <- -Inf
        next
      }
      problem <- task$problem
      map <- held_map
      if (length(laws)) {
        setting <- under_laws(task$setting, task$codec, vectors[i, ])
        map <- shaping_map(setting$transition, setting$discount)
        problem <- problem_under(problem, setting)
      }
      out[i, 1] <- out[i, 1] + log_gain_density(theta[i, gains], map)
      plan <- tryCatch(po_irl_plan(problem, gains_table(task$sd * theta[i, gains], task$setting), values[, i]),
                       ibrc_error_convergence = function(e) NULL)
      if (!is.null(plan)) values[, i] <<- plan$solution$value
      done <- if (is.null(plan)) -Inf else read_histories(plan, task$histories, beliefs = FALSE)$total
      out[i, 2] <- out[i, 2] + done
    }
    out
  }
}

# ---- where chains begin --------------------------------------------------------------------------------------------

# A climb begins at the best of this many points drawn from the prior.
climb_pool <- 8L

# Each chain climbs to a top of its own, under the dynamics that were learned first. If these are free, all terms
# then climb together from the best top. `centre` and `covariance` are those of the best.
po_irl_tops <- function(task, streams) {
  held <- task
  held["codec"] <- list(NULL)
  density <- summed_density(po_irl_density(held))
  tops <- lapply(streams, function(stream) {
    pool <- with_stream(stream, matrix(stats::rnorm(climb_pool * n_gains(task$setting)), climb_pool))
    climb_density(density, pool[which.max(density$at(pool)), ])
  })
  heights <- vapply(tops, `[[`, 0, "height")
  best <- tops[[which.max(heights)]]
  starts <- do.call(rbind, lapply(tops, `[[`, "theta"))
  far <- heights < best$height - 5 * length(best$theta)
  starts[far, ] <- rep(best$theta, each = sum(far))
  if (n_laws(task)) {
    density <- summed_density(po_irl_density(task))
    best <- climb_density(density, c(stats::qlogis(task$codec$estimate), best$theta))
    starts <- matrix(best$theta, length(streams), length(best$theta), byrow = TRUE)
  }
  list(starts = starts, centre = best$theta, height = best$height, covariance = joint_covariance(density, best$theta))
}

# The density in the form that infer-joint.R asks for.
summed_density <- function(density) list(at = function(theta) rowSums(density(theta)))

climb_density <- function(density, theta, rounds = 100) {
  worth <- function(x) {
    value <- if (max(abs(x)) > 500) -Inf else density$at(rbind(x))
    if (is.finite(value)) -value else 1e10
  }
  found <- stats::optim(theta, worth, function(x) -joint_slope(density, x)$slope, method = "BFGS",
                        control = list(maxit = rounds, reltol = 1e-7, parscale = joint_widths(density, theta)))
  list(theta = unname(found$par), height = -found$value)
}

# Starts around the tops, spread as widely as the posterior is there, and nearer if that led far down.
po_irl_starts <- function(tops, density, streams) {
  size <- length(tops$centre)
  factor <- chol(tops$covariance)
  away <- vapply(streams, function(stream) with_stream(stream, stats::rnorm(size)), numeric(size))
  away <- t(matrix(away, size)) %*% factor
  for (try in 1:20) {
    height <- rowSums(density(tops$starts + away))
    bad <- !(height > tops$height - 5 * size)
    if (!any(bad)) break
    away[bad, ] <- away[bad, ] / 2
  }
  tops$starts + away
}
