# Visits whose action is forced, held out or not known, all the way through a fit and what is made of it.

tiger <- tiger_setting()
prior <- ibrc_prior(alpha ~ lognormal(2, 1))
data <- with_seed(1, {
  plan <- plan_agent(tiger, bounded_agent(alpha = 20), resolution = 20)
  data <- as.data.frame(simulate(plan, 40, seed = 7, horizon = 8))
  data$clinic <- ifelse(data$id <= 20, "east", "west")
  data$action[stats::runif(nrow(data)) < 0.05] <- NA
  data$free <- stats::runif(nrow(data)) > 0.2 & !is.na(data$action)
  data
})
visits <- trajectories(data, scored = "free", covariates = "clinic")
fit_visits <- function(visits, ..., iter = 300) {
  ibrc(visits, tiger, prior = prior, chains = 2, iter = iter, seed = 1, resolution = 20,
       control = list(check = FALSE), ...)
}
fit <- fit_visits(visits, by = "clinic", iter = 600)

test_that("a fit counts what it scores, and says what it does not", {
  expect_identical(c(sum(fit$n_visits), sum(fit$n_scored)), c(nrow(data), sum(data$free)) + 0)
  lost <- nrow(data) - sum(data$free)
  expect_match(format(fit), paste0("320 visits (", lost, " of them not scored) in 2 groups"), fixed = TRUE)
  mode <- ibrc_mode(visits, tiger, prior = prior, resolution = 20, starts = 1, seed = 1)
  expect_match(format(mode), paste0("(", lost, " of them not scored)"), fixed = TRUE)
  expect_identical(glance(mode)$visits, 320)
  one <- data
  one$free <- TRUE
  one$free[9] <- FALSE
  one$action[is.na(one$action)] <- "listen"
  few <- fit_visits(trajectories(one, scored = "free"), iter = 10)
  expect_match(format(few), "(<5 of them not scored)", fixed = TRUE)
  expect_match(format(few, suppress = NULL), "(1 of them not scored)", fixed = TRUE)
})

test_that("the likelihood of a fit is that of its own visits given again, and the mode's is its top", {
  expect_close(log_lik(fit, draws = 5), log_lik(fit, visits, draws = 5), 1e-12)
  mode <- ibrc_mode(visits, tiger, prior = prior, resolution = 20, starts = 2, estimate = "mle", seed = 1,
                    by = "clinic")
  expect_close(sum(log_lik(mode, visits)), as.numeric(logLik(mode)), 1e-6)
  plans <- project_behavior(mode)
  better <- update(plans$east, bounded_agent(alpha = plans$east$agent$alpha * 1.05))
  east <- visits[visits$clinic == "east", ]
  expect_gt(sum(log_lik(plans$east, east)), sum(log_lik(better, east)))
})

test_that("forced choices do not sway a fit, however odd they are", {
  odd <- data
  forced <- with_seed(2, stats::runif(nrow(odd)) < 0.2)
  odd$action[is.na(odd$action)] <- "listen"
  # Opening at random, where nobody would.
  odd$action[forced] <- "open_left"
  odd$free <- !forced
  alpha <- function(visits) stats::median(fit_visits(visits)$draws$all)
  expect_lt(abs(alpha(trajectories(odd, scored = "free")) - 20), 8)
  expect_gt(alpha(trajectories(odd)), 35)
})

test_that("a checkpoint carries on, and does not take another account of what counts", {
  file <- withr::local_tempfile(fileext = ".ibrc")
  saved <- fit_visits(visits, by = "clinic", file = file, iter = 40)
  again <- resume(file)
  expect_identical(again$draws, saved$draws)
  expect_identical(again$histories, saved$histories)
  tree <- saved$histories[[1]]
  expect_identical(check_held_tree(tree, saved$visit_actions[[1]], tiger), 20L)
  other <- tree
  other$scored[which(tree$scored)[1]] <- FALSE
  expect_error(check_held_tree(other, saved$visit_actions[[1]], tiger), class = "ibrc_error_checkpoint")
  other <- tree
  other$scored[is.na(saved$visit_actions[[1]])] <- TRUE
  expect_error(check_held_tree(other, saved$visit_actions[[1]], tiger), class = "ibrc_error_checkpoint")
  other <- tree
  other$stops <- c(1L, 0L, 0L)
  expect_error(check_held_tree(other, saved$visit_actions[[1]], tiger), class = "ibrc_error_checkpoint")
})

test_that("checks hold decisions that count against the fit, and no others", {
  told <- behaviour_check(fit, list(own = function(visits) visits$last_action), draws = 20)
  own <- told[told$statistic == "own", ]
  expect_identical(own$visits, c(as.vector(table(data$clinic[data$free])), sum(data$free)))
  # The user's own cells come to the same as the package's.
  same <- c("group", "visits", "cells", "chi_square", "df", "p.value", "gap")
  expect_equal(told[told$statistic == "own", same], told[told$statistic == "last_action", same],
               ignore_attr = TRUE)
  for (type in c("visit", "belief", "last_action", "last_observation")) {
    shares <- pp_data(fit, type, draws = 5, seed = 1)
    expect_identical(sum(shares$n[shares$action == "listen"]), sum(data$free))
    expect_false(anyNA(shares$observed))
  }
  expect_true("missing" %in% pp_data(fit, "last_action", draws = 5, seed = 1)$last_action)
  never <- data
  never$free <- never$time != 2 & !is.na(never$action)
  shares <- pp_data(fit_visits(trajectories(never, scored = "free")), "visit", draws = 5, seed = 1)
  expect_setequal(shares$visit, c(1:2, 4:8))
  expect_s3_class(suppressWarnings(verdict(fit)), "ibrc_verdict")
})

test_that("fits are cross-validated by what counts", {
  folds <- rep(1:2, 20)
  out <- suppressWarnings(kfold(fit, folds = folds, iter = 100, seed = 1))
  expect_true(all(is.finite(out$pointwise)))
  skip_if_not_installed("loo")
  own <- suppressWarnings(loo(fit, visits = visits))
  expect_identical(rownames(own$pointwise), as.character(1:40))
  other <- visits
  other$free[which(data$free)[1]] <- FALSE
  expect_error(loo(fit, visits = other), "not those", class = "ibrc_error_input")
})

test_that("trajectories in which nothing counts are not counted as predicted perfectly", {
  some <- data
  some$free <- some$free & some$id > 10
  aside <- fit_visits(trajectories(some, scored = "free"), iter = 600)
  expect_message(out <- suppressWarnings(kfold(aside, folds = 3, iter = 100, seed = 1)), "10 trajectories of 40 aside")
  expect_identical(nrow(out$pointwise), 30L)
  expect_false(any(out$pointwise[, "elpd_kfold"] == 0))
  expect_identical(is.na(out$folds), rep(c(TRUE, FALSE), c(10, 30)))
  expect_identical(sum(out$refits$left_out), 30L)
  expect_identical(out$refits$fitted, rep(20L, 3))
  # As if they had never been there.
  whole <- fit_visits(trajectories(some[some$id > 10, ], scored = "free"), iter = 600)
  expect_equal(aside$draws, whole$draws, tolerance = 1e-6)
  expect_silent(alone <- suppressWarnings(kfold(whole, folds = out$folds[11:40], iter = 100, seed = 1)))
  expect_equal(out$estimates, alone$estimates, tolerance = 1e-6)
  again <- suppressMessages(suppressWarnings(kfold(aside, folds = out, iter = 100, seed = 1)))
  expect_identical(again, out)
  expect_error(kfold(aside, folds = 31), "trajectories that count", class = "ibrc_error_input")
  expect_error(kfold(whole, folds = c(NA, rep(1:2, c(9, 20)))), "position 1", class = "ibrc_error_input")
  mode <- ibrc_mode(trajectories(some, scored = "free"), tiger, prior = prior, resolution = 20, starts = 1, seed = 1,
                    estimate = "mle", conf.level = NULL)
  expect_identical(attr(logLik(mode), "nobs"), 30L)
  expect_equal(glance(mode)$BIC, log(30) - 2 * as.numeric(logLik(mode)))
  skip_if_not_installed("loo")
  expect_message(left <- suppressWarnings(loo(aside, visits = trajectories(some, scored = "free"))), "10 trajectories")
  expect_identical(rownames(left$pointwise), as.character(11:40))
  expect_equal(left$estimates, suppressWarnings(loo(whole))$estimates, tolerance = 1e-6)
  # Left out, the only one that counts leaves the prior alone.
  one <- transform(some, free = free & id == 11)
  expect_error(loo(suppressWarnings(fit_visits(trajectories(one, scored = "free")))), "only the prior",
               class = "ibrc_error_loo")
})

test_that("every visit has its beliefs, and an action that is not known no probability", {
  told <- augment(fit, visits)
  expect_identical(is.na(told$.probability), is.na(data$action))
  expect_identical(is.na(told$.differs), is.na(data$action))
  expect_false(anyNA(told$.belief_tiger_left))
  expect_identical(augment(fit)$.probability, told$.probability)
  paths <- belief_paths(fit, visits, final = TRUE)
  expect_false(anyNA(paths$.belief_tiger_left))
  expect_identical(sum(paths$.final), 40L)
  expect_s3_class(simplex_data(fit, visits, id = c(1, 30)), "data.frame")
  expect_identical(nrow(posterior_predict(fit, draws = 2, seed = 1)), 640L)
})

test_that("there must be something to fit", {
  data$free <- FALSE
  expect_error(fit_visits(trajectories(data, scored = "free")), "No action", class = "ibrc_error_data")
  data$free <- data$clinic == "west" & !is.na(data$action)
  some <- trajectories(data, scored = "free", covariates = "clinic")
  error <- expect_error(fit_visits(some, by = "clinic"), "in group \"east\"", class = "ibrc_error_data")
  expect_error(ibrc_mode(some, tiger, prior = prior, by = "clinic"), "No action", class = "ibrc_error_data")
  # A person of whom nothing counts does no harm.
  expect_silent(alone <- fit_visits(some, iter = 20))
  expect_identical(unname(log_lik(alone, draws = 2)[, 1:20]), matrix(0, 2, 20))
})
