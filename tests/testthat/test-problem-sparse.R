# Transitions by rows, for settings in which the state is seen, against arrays and against plain value iteration.

# A random problem: `k` draws of a next state from each state by each action, as triplets.
sparse_problem <- function(n_states, n_actions = 3, k = 4, discount = 0.9) {
  cells <- expand.grid(draw = seq_len(k), from = seq_len(n_states), action = seq_len(n_actions))
  triplets <- data.frame(from = cells$from, to = sample(n_states, nrow(cells), TRUE), action = cells$action,
                         probability = stats::runif(nrow(cells)))
  total <- stats::ave(triplets$probability, triplets$from, triplets$action, FUN = sum)
  triplets$probability <- triplets$probability / total
  list(triplets = triplets, utility = matrix(stats::rnorm(n_states * n_actions), n_states), discount = discount,
       states = paste0("s", seq_len(n_states)), actions = paste0("a", seq_len(n_actions)))
}

as_array <- function(p) {
  out <- array(0, c(length(p$states), length(p$states), length(p$actions)))
  for (i in seq_len(nrow(p$triplets))) {
    at <- as.matrix(p$triplets[i, c("from", "to", "action")])
    out[at] <- out[at] + p$triplets$probability[i]
  }
  out
}

as_matrices <- function(p) {
  lapply(seq_along(p$actions), function(u) {
    rows <- p$triplets[p$triplets$action == u, ]
    Matrix::sparseMatrix(i = rows$from, j = rows$to, x = rows$probability, dims = rep(length(p$states), 2))
  })
}

setting_of <- function(p, transition = p$triplets, ...) {
  decision_setting(p$states, p$actions, p$states, transition, "identity", p$utility, discount = p$discount, ...)
}

# The soft optimum of an agent with one model, by nothing but backups.
plain_values <- function(p, alpha, tolerance = 1e-12) {
  transition <- as_array(p)
  value <- numeric(length(p$states))
  repeat {
    worth <- vapply(seq_along(p$actions), function(u) {
      p$utility[, u] + p$discount * as.vector(transition[, , u] %*% value)
    }, value)
    best <- apply(worth, 1, max)
    soft <- if (alpha == 0) best else best + alpha * log(rowMeans(exp((worth - best) / alpha)))
    if (max(abs(soft - value)) < tolerance) return(soft)
    value <- soft
  }
}

test_that("a plan by rows is that of plain value iteration", {
  p <- with_seed(1, sparse_problem(50))
  for (alpha in c(0, 0.3, 2)) {
    plan <- plan_agent(setting_of(p), bounded_agent(alpha), tolerance = 1e-10)
    expect_close(value(plan), plain_values(p, alpha), 1e-8)
  }
})

test_that("triplets, matrices and an array are one setting", {
  skip_if_not_installed("Matrix")
  p <- with_seed(2, sparse_problem(12))
  matrices <- as_matrices(p)
  by_names <- p$triplets
  by_names$from <- p$states[by_names$from]
  by_names$to <- factor(p$states[by_names$to])
  by_names$action <- p$actions[by_names$action]
  shuffled <- lapply(matrices, function(m) {
    dimnames(m) <- list(p$states, p$states)
    m[12:1, c(6:12, 1:5)]
  })
  first <- setting_of(p)
  for (given in list(by_names[sample(nrow(by_names)), ], matrices, stats::setNames(matrices, p$actions)[c(3, 1, 2)],
                     shuffled, lapply(matrices, methods::as, "TsparseMatrix"),
                     lapply(matrices, methods::as, "RsparseMatrix"),
                     list(matrices[[1]], as.matrix(matrices[[2]]), matrices[[3]]))) {
    expect_identical(lapply(setting_of(p, given)$transition[1:3], as.vector), first$transition[1:3])
    expect_close(setting_of(p, given)$transition$probability, first$transition$probability, 1e-14)
  }
  dense <- setting_of(p, as_array(p))
  expect_close(array_of_rows(first$transition, p$states, p$actions), dense$transition, 1e-14)
  expect_close(law_distance(first$transition, dense$transition), 0, 1e-12)
  expect_identical(rows_of_array(dense$transition)[1:3], first$transition[1:3])
  # A diagonal, a permutation and a symmetric matrix are sparse as well, and one may do for every action.
  n <- length(p$states)
  still <- setting_of(p, Matrix::Diagonal(n))
  expect_identical(still$transition$to, rep(seq_len(n), 3))
  turned <- setting_of(p, list(methods::as(c(2:n, 1L), "pMatrix"), Matrix::Diagonal(n), Matrix::Diagonal(n)))
  expect_identical(turned$transition$to[1:n], c(2:n, 1L))
  walk <- Matrix::bandSparse(n, k = 0:1, diagonals = list(rep(0.5, n), rep(0.25, n - 1)), symmetric = TRUE)
  walk[1, 1] <- walk[n, n] <- 0.75
  expect_identical(diff(setting_of(p, walk)$transition$start), rep(c(2L, rep(3L, n - 2), 2L), 3))
})

test_that("everything that reads a plan says what it says of arrays", {
  p <- with_seed(3, sparse_problem(9, k = 3))
  settings <- list(setting_of(p), setting_of(p, as_array(p)))
  expect_true(is_by_rows(settings[[1]]$transition))
  expect_true(all(vapply(settings, `[[`, NA, "fully_observed")))
  plans <- lapply(settings, function(setting) {
    plan_agent(setting, bounded_agent(0.5, 0.7, 0.1), soften_models(setting, c(0, 0.4)), tolerance = 1e-10)
  })
  same <- function(f, tolerance = 1e-10) expect_close(f(plans[[1]]), f(plans[[2]]), tolerance)
  beliefs <- with_seed(4, random_beliefs(20, 9))
  same(value)
  same(policy)
  same(action_value)
  same(function(plan) model_weights(plan, action = "a2"))
  same(function(plan) value(plan, beliefs))
  same(function(plan) policy(plan, beliefs))
  same(function(plan) model_weights(plan, beliefs, "a1"))
  same(function(plan) update_belief(plan, beliefs, "a2", NA))
  same(function(plan) occupancy(plan)$occupancy)
  same(function(plan) complexity(plan)$nats)
  same(function(plan) evaluate_policy(plan, function(beliefs) matrix(1 / 3, nrow(beliefs), 3)))
  same(function(plan) as.matrix(tidy(plan)[c("probability", "action_value", "value")]))
  expect_identical(names(tidy(plans[[1]])), c("state", "action", "probability", "action_value", "value"))
  expect_identical(as.character(occupancy(plans[[1]])$state), p$states)
  visits <- simulate(plans[[1]], 40, seed = 1, horizon = 8)
  expect_identical(visits, simulate(plans[[2]], 40, seed = 1, horizon = 8))
  # The one's world for the other's agent.
  expect_identical(visits, simulate(plans[[1]], 40, seed = 1, horizon = 8, environment = settings[[2]]))
  visits$observation[c(3, 50, 51)] <- NA
  expect_close(log_lik(plans[[1]], visits), log_lik(plans[[2]], visits), 1e-10)
  trees <- build_histories(code_visits(visits, settings[[1]]), settings[[1]])
  same(function(plan) read_histories(plan, trees)$belief)
  same(function(plan) read_histories(plan, trees)$log_policy)
})

test_that("a sure agent goes on from what it has seen, and only where it can be", {
  p <- list(states = c("a", "b", "c"), actions = "go", utility = matrix(0, 3, 1), discount = 0.5,
            triplets = data.frame(from = c("a", "b", "b", "c"), to = c("b", "b", "c", "a"), action = "go",
                                  probability = c(1, 0.5, 0.5, 1)))
  plan <- plan_agent(setting_of(p, start = c(0.5, 0.5, 0)), bounded_agent(1))
  expect_identical(update_belief(plan, c(0.5, 0.5, 0), "go", "c"), c(a = 0, b = 0, c = 1))
  expect_close(update_belief(plan, c(0.5, 0.5, 0), "go", NA), c(0, 0.75, 0.25))
  expect_error(update_belief(plan, c(1, 0, 0), "go", "c"), class = "ibrc_error_observation")
  visits <- trajectories(data.frame(id = 1, time = 1:3, action = "go", observation = c("b", "a", NA)),
                         setting = plan$setting)
  error <- expect_error(log_lik(plan, visits), class = "ibrc_error")
  expect_identical(error$rows, 2L)
  reading <- read_histories(plan, build_histories(code_visits(visits, plan$setting), plan$setting))
  expect_identical(reading$belief, cbind(c(0.5, 0.5, 0), c(0, 1, 0), NaN))
  expect_identical(reading$likeliest, c(1L, 2L, NA))
  expect_identical(reading$surest, c(0.5, 1, NaN))
  expect_identical(impossible_histories(reading), c(FALSE, FALSE, TRUE))
})

test_that("a fit by rows is the fit of arrays, and goes on exactly from a file", {
  p <- with_seed(5, sparse_problem(8, k = 3))
  settings <- list(setting_of(p), setting_of(p, as_array(p)))
  visits <- simulate(plan_agent(settings[[1]], bounded_agent(0.5)), 30, seed = 2, horizon = 6)
  prior <- ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1))
  path <- tempfile(fileext = ".ibrc")
  on.exit(unlink(path))
  fits <- lapply(settings, function(setting) {
    ibrc(visits, setting, soften_models(setting, c(0, 0.4)), prior, chains = 2, iter = 60, seed = 3, refresh = 0,
         control = list(check = FALSE), file = if (is_by_rows(setting$transition)) path)
  })
  expect_close(unlist(fits[[1]]$draws), unlist(fits[[2]]$draws), 1e-6)
  expect_identical(resume(path, refresh = 0)$draws, fits[[1]]$draws)
  expect_close(log_lik(fits[[1]]), log_lik(fits[[2]]), 1e-4)
  mode <- ibrc_mode(visits, settings[[1]], prior = ibrc_prior(alpha ~ lognormal(0, 1)), conf.level = NULL)
  expect_s3_class(mode, "ibrc_mode")
  expect_s3_class(plan_agent(settings[[1]], bounded_agent(0.5), perturb_models(settings[[1]], vary = "transition")),
                  "ibrc_plan")
})

test_that("models of rows are perturbed and softened as arrays are", {
  p <- with_seed(6, sparse_problem(7, k = 3))
  settings <- list(setting_of(p), setting_of(p, as_array(p)))
  models <- lapply(settings, function(setting) {
    c(perturb_models(setting, vary = "transition")$models, soften_models(setting, c(0.2, 1))$models)
  })
  expect_identical(names(models[[1]]), names(models[[2]]))
  for (i in seq_along(models[[1]])) {
    dense <- models[[2]][[i]]$transition
    expect_close(array_of_rows(models[[1]][[i]]$transition, p$states, p$actions), dense, 1e-12)
    expect_close(law_distance(models[[1]][[i]]$transition, settings[[1]]$transition),
                 sum(abs(dense - settings[[2]]$transition)), 1e-10)
  }
  expect_error(perturb_models(settings[[1]], vary = "transition", apart = TRUE), class = "ibrc_error_input")
  expect_error(perturb_models(settings[[1]]), class = "ibrc_error_input")
  # Beside a model in which the state is hidden, rows are written out, and beliefs need a lattice.
  hidden <- list(transition = diag(7), emission = matrix(1 / 7, 7, 7))
  both <- model_prior(list(seen = settings[[1]][c("transition", "emission")], hidden = hidden))
  mixed <- plan_agent(settings[[1]], bounded_agent(0.5), both, resolution = 2)
  expect_identical(mixed$space$kind, "lattice")
  expect_close(value(mixed), value(plan_agent(settings[[2]], bounded_agent(0.5), both, resolution = 2)), 1e-8)
})

test_that("three thousand states take moments, and nothing of their square", {
  p <- with_seed(7, sparse_problem(3000, n_actions = 4, k = 5, discount = 0.95))
  setting <- setting_of(p)
  expect_lt(as.numeric(utils::object.size(setting)), 5e6)
  models <- soften_models(setting, c(0, 0.5))
  # Far less than one number per pair of states, 72 MB.
  plan <- plan_agent(setting, bounded_agent(0.5, optimism = 0.2), models, max_bytes = 2e7)
  expect_lt(as.numeric(utils::object.size(plan)), 3e7)
  expect_lte(plan$report$bound, 1e-8)
  expect_null(plan$nodes)
  # A backup leaves the values where they are.
  again <- .Call(ffi_backup, plan$tables, plan$problem, plan$solution$value, 0L, 1L)
  expect_close(again$value, value(plan), 1e-8)
  visits <- simulate(plan, 20, seed = 1, horizon = 10)
  expect_true(all(is.finite(log_lik(plan, visits))))
  expect_close(sum(occupancy(plan)$occupancy), 1, 1e-9)
  expect_output(print(setting), "59,9.. that are possible")
  expect_output(print(summary(setting)), "more states")
  expect_match(format(plan)[1], "3,000 belief nodes with 2 models")
  error <- expect_error(plan_agent(setting, bounded_agent(0.5), max_bytes = 1e5), class = "ibrc_error_memory")
  expect_identical(error$argument, "setting")
})

test_that("what a belief is worth is asked for some states at a time", {
  p <- with_seed(8, sparse_problem(1500, n_actions = 1, k = 2))
  largest <- 0
  worth <- function(beliefs, action) {
    largest <<- max(largest, length(beliefs))
    as.vector(beliefs %*% seq_len(1500))
  }
  setting <- setting_of(p, belief_utility = worth)
  plan <- plan_agent(setting, bounded_agent(1, eta = 0.1, belief_prior = function(beliefs) 1 + beliefs[, 2]))
  expect_lte(largest, 1e6)
  expect_close(plan$reward, p$utility + seq_len(1500), 1e-9)
})

test_that("rows that are no laws are refused by state and action", {
  p <- with_seed(9, sparse_problem(5, n_actions = 2))
  refused <- function(transition, words, argument = "transition", rows = NULL) {
    error <- expect_error(setting_of(p, transition), class = "ibrc_error_input")
    expect_match(conditionMessage(error), words)
    expect_identical(error$argument, argument)
    if (!is.null(rows)) expect_identical(error$rows, rows)
  }
  changed <- function(column, row, value) {
    x <- p$triplets
    x[[column]][row] <- value
    x
  }
  lost <- p$triplets[!(p$triplets$from == 3 & p$triplets$action == 2), ]
  refused(lost, "row \"s3\" of action \"a2\" sums to 0", rows = 3)
  refused(changed("probability", 1, 2), "row \"s1\" of action \"a1\" sums to")
  refused(changed("probability", 5, -0.1), "negative entry in row \"s2\" of action \"a1\"", rows = 2L)
  refused(changed("probability", 5, NA), "an entry NA in row \"s2\"")
  refused(changed("from", 2:3, 6), "no known state in `from` in row 2 \\(and 1 other row\\)", rows = 2:3)
  refused(changed("to", 4, 1.5), "no known state in `to` in row 4")
  refused(changed("action", 1, "fly"), "no known action in `action` in row 1")
  refused(changed("probability", 1:2, "much"), "that is a column of class \"character\"")
  refused(transform(p$triplets, from = TRUE), "names or the numbers of states")
  expect_error(decision_setting(p$states, p$actions, p$states, p$triplets, matrix(0.2, 5, 5), p$utility,
                                discount = 0.9), "needs emission", class = "ibrc_error_input")
  expect_error(decision_setting(p$states, p$actions, p$states[-1], p$triplets, "identity", p$utility, discount = 0.9),
               "observation for each", class = "ibrc_error_input")
  skip_if_not_installed("Matrix")
  matrices <- as_matrices(p)
  refused(matrices[1], "has 1 matrix for 2 actions")
  refused(list(matrices[[1]], matrices[[2]][-1, ]), "for action \"a2\" is 4 by 5")
  refused(list(matrices[[1]], "none"), "for action \"a2\" is")
  refused(list(matrices[[1]], 0.5 * matrices[[2]]), "row \"s1\" of action \"a2\" sums to 0.5 \\(and 4 other rows\\)")
  dimnames(matrices[[1]]) <- list(NULL, c("z", p$states[-1]))
  refused(matrices, "unknown states \"z\"")
})

test_that("rows from elsewhere are as decision_setting() makes them, or refused", {
  p <- with_seed(10, sparse_problem(5, n_actions = 2))
  rows <- setting_of(p)$transition
  expect_identical(setting_of(p, rows)$transition, rows)
  damaged <- function(part, value) {
    rows[[part]] <- value
    rows
  }
  n <- length(rows$to)
  for (bad in list(damaged("size", c(5L, 3L)), damaged("start", rev(rows$start)), damaged("start", rows$start[-1]),
                   damaged("start", as.numeric(rows$start)), damaged("start", replace(rows$start, 3, NA)),
                   damaged("to", rev(rows$to)), damaged("to", replace(rows$to, 1, 6L)), damaged("to", rows$to[-n]),
                   damaged("probability", rows$probability[-n]),
                   damaged("probability", replace(rows$probability, 2, 0)),
                   damaged("probability", 2 * rows$probability), damaged("probability", as.list(rows$probability)))) {
    expect_error(setting_of(p, bad), class = "ibrc_error_input")
  }
})
