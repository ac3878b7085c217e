test_that("objective and slopes are the plain twin's", {
  set.seed(1)
  for (k in 1:4) {
    one <- random_clone(c(3, 2, 4, 3)[k], c(2, 3, 2, 4)[k], shared = k == 2, fixed = k == 3, vectors = 2)
    found <- .Call(ffi_iohmm_bc_joint, one$task, one$x, 1L)
    expect_identical(found$code, c(0L, 0L))
    for (j in 1:2) {
      twin <- twin_clone(one$x[, j], one$task, one$paths)
      for (part in c("objective", "seen", "chosen")) expect_close(found[[part]][j], twin[[part]], 1e-10)
      expect_close(found$slope[, j], unname(twin$slope), 1e-10)
    }
    expect_identical(.Call(ffi_iohmm_bc_joint, one$task, one$x, 2L), found)
  }
})

differences <- function(f, x, step = 1e-5) {
  vapply(seq_along(x), function(k) {
    up <- down <- x
    up[k] <- up[k] + step
    down[k] <- down[k] - step
    (f(up) - f(down)) / (2 * step)
  }, 0)
}

test_that("slopes are finite differences", {
  set.seed(2)
  one <- random_clone(n = 20)
  joint <- function(x) .Call(ffi_iohmm_bc_joint, one$task, x, 1L)
  by_differences <- differences(function(x) joint(x)$objective, one$x)
  expect_lt(max(abs(joint(one$x)$slope - by_differences) / (1 + abs(by_differences))), 1e-6)
  # And where beliefs stay.
  beliefs <- t(random_rows(one$task$tree$n_nodes, 3))
  rule <- stats::rnorm(7)
  choice <- function(x) .Call(ffi_iohmm_bc_choice, one$task, beliefs, x, 1L)
  by_differences <- differences(function(x) choice(x)$objective, rule)
  expect_lt(max(abs(choice(rule)$slope - by_differences) / (1 + abs(by_differences))), 1e-6)
})

test_that("what cannot be told has no worth", {
  set.seed(4)
  one <- random_clone(vectors = 2)
  one$x[nrow(one$x), 1] <- 1000
  found <- .Call(ffi_iohmm_bc_joint, one$task, one$x, 1L)
  expect_identical(found$code, c(2L, 0L))
  expect_identical(found$objective[1], -Inf)
  expect_true(all(found$slope[, 1] == 0) && any(found$slope[, 2] != 0))
})

truth <- known_clone(4)
visits <- simulate(truth, 150, seed = 1)
small <- function(..., starts = 3) fit_iohmm_bc(visits, 2, starts = starts, sort_by = "high", seed = 1, ...)
alone <- small()
together <- small(joint = TRUE)

test_that("cloning is bounded rational control that looks at one visit alone", {
  for (model in list(truth, alone, together)) {
    utility <- t(2 * model$sharpness * model$centres - model$sharpness * rowSums(model$centres^2))
    setting <- decision_setting(model$states, model$actions, model$observations, model$transition, model$emission,
                                utility = utility, discount = 0, start = model$start)
    plan <- plan_agent(setting, bounded_agent(alpha = 1, eta = 0), resolution = 10)
    expect_close(as.matrix(predict(plan, visits)), as.matrix(predict(model, visits)), 1e-10)
    expect_close(unname(log_lik(plan, visits)), unname(log_lik(model, visits)), 1e-10)
  }
})

test_that("dynamics alone are those of fit_iohmm(), and what is told of actions is what predictions say", {
  dynamics <- fit_iohmm(visits, 2, starts = 20, sort_by = "high", prior = 0.5, seed = 5)
  for (law in c("start", "transition", "emission")) expect_close(alone[[law]], dynamics[[law]], 1e-3)
  for (model in list(alone, together)) {
    expect_close(sum(log_lik(model, visits)), model$log_lik_actions, 1e-6)
    expect_close(rowSums(model$centres), c(wait = 1, test = 1, treat = 1), 1e-10)
    expect_close(apply(model$emission, c(1, 3), sum), array(1, c(2, 3), dimnames(model$emission)[c(1, 3)]), 1e-10)
  }
  expect_true(all(alone$emission[, "none", "test"] == 0))
  beliefs <- predict(dynamics, visits, type = "filter")
  expect_close(unname(t(beliefs_before(alone, learned_visits(visits, alone$words)))), unname(as.matrix(beliefs)), 1e-3)
})

test_that("no step falls, and together is no worse than one after the other", {
  for (model in list(alone, together)) {
    expect_gt(length(model$trace), 5)
    expect_true(all(diff(model$trace) >= 0))
    expect_true(model$converged)
  }
  expect_gt(together$objective, alone$objective)
  expect_gt(together$log_lik_actions, alone$log_lik_actions)
  expect_equal(max(together$trace), together$objective)
  # Where slopes are nothing, but for rounding and the tolerance.
  problem <- cloning_problem(fit_iohmm(visits, 2, starts = 1, prior = 0.5, seed = 1),
                             learned_visits(visits, truth$words), truth$words,
                             list(centre_sd = 3, sharpness_sd = 3))
  at <- c(to_weights(together, problem), t(together$centres), log(together$sharpness))
  found <- .Call(ffi_iohmm_bc_joint, problem$task, at, 1L)
  expect_close(found$objective, together$objective, 1e-6)
  expect_lt(max(abs(found$slope)), 0.05)
})

test_that("nothing depends on threads, and a seed settles all", {
  for (joint in c(FALSE, TRUE)) {
    model <- if (joint) together else alone
    expect_identical(small(joint = joint, cores = 2), model)
  }
  before <- with_seed(9, {
    small()
    stats::runif(1)
  })
  expect_identical(before, with_seed(9, stats::runif(1)))
  backwards <- rev(seq_len(nrow(visits)))
  expect_identical(fit_iohmm_bc(visits[backwards, ][order(backwards), ], 2, starts = 3, sort_by = "high",
                                seed = 1)$centres, alone$centres)
})

test_that("it recovers what it was simulated from", {
  # 400 trajectories to learn from together, 1,500 for dynamics alone, 100 held out; within 2 standard errors of the
  # truth's, trajectory by trajectory.
  clear <- truth
  clear$emission[, , c("wait", "treat")] <- rbind(c(0.1, 0.8, 0.1), c(0.1, 0.1, 0.8))
  clear$emission[, , "test"] <- rbind(c(0, 0.95, 0.05), c(0, 0.05, 0.95))
  for (joint in c(TRUE, FALSE)) {
    world <- if (joint) truth else clear
    held <- simulate(world, 100, seed = 12)
    learned_from <- simulate(world, if (joint) 400 else 1500, seed = 11)
    model <- fit_iohmm_bc(learned_from, 2, joint = joint, starts = 4, seed = 1)
    apart <- log_lik(model, held) - log_lik(world, held)
    expect_lt(abs(mean(apart)), 2 * stats::sd(apart) / sqrt(length(apart)))
    # Frequencies are beaten by far.
    ahead <- log_lik(model, held) - log_lik(fit_baseline(learned_from), held)
    expect_gt(mean(ahead), 4 * stats::sd(ahead) / sqrt(length(ahead)))
  }
})

test_that("it does so time and again", {
  # By the plain reading, within 2 standard errors of the truth's: 200 trajectories to learn from together, 400 for
  # dynamics alone in a world that shows them clearly, 200 held out, three times.
  clear <- truth
  clear$emission[, , c("wait", "treat")] <- rbind(c(0.1, 0.8, 0.1), c(0.1, 0.1, 0.8))
  clear$emission[, , "test"] <- rbind(c(0, 0.95, 0.05), c(0, 0.05, 0.95))
  for (joint in c(TRUE, FALSE)) {
    world <- if (joint) truth else clear
    for (seed in 1:3) {
      learned_from <- simulate(world, if (joint) 200 else 400, seed = 10 + seed)
      held <- simulate(world, 200, seed = 50 + seed)
      model <- fit_iohmm_bc(learned_from, 2, joint = joint, starts = 3, seed = seed)
      expect_lt(beside_truth(log_lik(model, held), log_lik(world, held)), 2)
      expect_gt(beside_truth(log_lik(fit_baseline(learned_from), held), log_lik(world, held)), 4)
    }
  }
})

test_that("a given sharpness stays, transitions may be shared, and actions that do not count teach no rule", {
  fixed <- small(joint = TRUE, sharpness = 10)
  expect_equal(fixed$sharpness, 10)
  expect_identical(glance(fixed)$parameters, glance(together)$parameters - 1)
  expect_output(print(fixed), "as given")
  shared <- small(joint = TRUE, transitions = "shared", starts = 2)
  expect_identical(unname(shared$transition[, , 1]), unname(shared$transition[, , 3]))
  some <- as.data.frame(visits)
  some$counts <- some$time > 2
  part <- fit_iohmm_bc(trajectories(some, scored = "counts"), 2, starts = 3, sort_by = "high", seed = 1)
  expect_identical(part$transition, alone$transition)
  expect_false(isTRUE(all.equal(part$centres, alone$centres)))
  expect_identical(glance(part)$scored, sum(some$counts))
})

test_that("what cannot be learned is refused, and what did not come to rest is said", {
  expect_error(fit_iohmm_bc(visits, 1), "states", class = "ibrc_error_input")
  expect_error(small(sharpness = 1e7), "sharpness", class = "ibrc_error_input")
  expect_error(small(centre_sd = 1e-7), "centre_sd", class = "ibrc_error_input")
  lost <- visits
  lost$action[2] <- NA
  expect_error(fit_iohmm_bc(lost, 2), class = "ibrc_error_data")
  expect_warning(small(joint = TRUE, max_iter = 5), class = "ibrc_warning_convergence")
  expect_identical(ncol(fit_iohmm_bc(visits, 2:3, starts = 2, prior = 0.5, seed = 1)$centres), 2L)
})

test_that("it is a method of cross_validate()", {
  crossed <- cross_validate(visits[visits$id <= 60, ], list(
    "frequencies", cloned = function(visits) fit_iohmm_bc(visits, 2, joint = TRUE, starts = 1)
  ), folds = 2)
  expect_true(all(is.na(glance(crossed)$failure)))
  scores <- tapply(tidy(crossed)$wait, tidy(crossed)$method, stats::var)
  expect_gt(scores[["cloned"]], scores[["frequencies"]])
  expect_true(all(c("iohmm_bc", "joint_iohmm_bc") %in% names(known_methods)))
})
