# The published numbers: 60% accurate, centres 1.3 and -0.3, sharpness 10, and 80% believed of the diseased.

by_rule <- function(belief) {
  centres <- rbind(c(1.3, -0.3), c(-0.3, 1.3), c(0.5, 0.5))
  weight <- exp(-10 * rowSums((centres - rep(belief, each = 3))^2))
  weight / sum(weight)
}

# Beliefs of one patient by Bayes' rule, [visit, state], before each visit.
by_bayes <- function(results, emission) {
  out <- matrix(0.5, length(results), 2)
  for (t in seq_along(results)[-1]) {
    weight <- out[t - 1, ] * emission[, results[t - 1]]
    out[t, ] <- weight / sum(weight)
  }
  out
}

test_that("both tasks act and believe as they were published", {
  seen <- list(diag = rbind(c(0.6, 0.4), c(0.4, 0.6)), bias = rbind(c(0.6, 0.4), c(0.2, 0.8)))
  for (task in names(seen)) {
    plan <- interpole_task(task, resolution = 7)
    expect_close(unname(policy(plan, rbind(c(0.9, 0.1), c(0.37, 0.63)))),
                 rbind(by_rule(c(0.9, 0.1)), by_rule(c(0.37, 0.63))), 1e-10)
    visits <- monitored_visits(plan$setting, 2, 12, seed = 1)
    one <- visits[visits$id == 2, ]
    hand <- by_bayes(as.integer(one$observation), seen[[task]])
    expect_close(unname(beliefs_at(plan, visits))[visits$id == 2, ], hand, 1e-10)
    expect_close(unname(as.matrix(predict(plan, visits)))[visits$id == 2, ], t(apply(hand, 1, by_rule)), 1e-10)
  }
  # The world is the same; only what is believed of it differs.
  expect_identical(interpole_task("bias")$setting, interpole_task("diag")$setting)
  expect_equal(unname(interpole_task()$setting$emission[, "positive", "monitor"]), c(0.4, 0.6))
  results <- monitored_visits(diag_setting(0.6), 4000, 2, seed = 1)$observation
  expect_lt(abs(mean(results == "positive") - 0.5), 4 * 0.5 / sqrt(8000))
})

test_that("errors are what enumerating stops gives", {
  truth <- interpole_task("bias", resolution = 7)
  model <- interpole_task("diag", resolution = 7)
  errors <- imitation_error(truth, model, nsim = 3, horizon = 6, seed = 2)
  visits <- monitored_visits(truth$setting, 3, 6, seed = 2)
  stops <- function(plan, id) {
    stop <- 1 - predict(plan, visits)$monitor[visits$id == id]
    stop[6] <- 1
    stop * c(1, cumprod(1 - stop)[-6])
  }
  apart <- vapply(1:3, function(id) sum(outer(stops(truth, id), stops(model, id)) * abs(outer(1:6, 1:6, "-"))), 0)
  expect_close(errors$estimate[1], mean(apart), 1e-10)
  # A divergence at each visit, with the chance that the truth comes to it.
  made <- unlist(lapply(1:3, function(id) rev(cumsum(rev(stops(truth, id))))))
  weighed <- function(true, other) sum(made * rowSums(true * log(true / other))) / sum(made)
  expect_close(errors$estimate[2], weighed(as.matrix(predict(truth, visits)), as.matrix(predict(model, visits))), 1e-10)
  expect_close(errors$estimate[3], weighed(beliefs_at(truth, visits), beliefs_at(model, visits)), 1e-10)
  expect_identical(errors$measure, imitation_measures)
})

test_that("the truth is no distance from itself, but for chance stops", {
  truth <- interpole_task()
  errors <- imitation_error(truth, truth, nsim = 40)
  expect_equal(errors$estimate[2:3], c(0, 0))
  expect_gt(errors$estimate[1], 1)
})

test_that("standard errors are those of other patients", {
  truth <- interpole_task("bias", resolution = 7)
  model <- interpole_task("diag", resolution = 7)
  many <- lapply(1:60, function(seed) imitation_error(truth, model, nsim = 40, horizon = 60, seed = seed))
  for (k in 1:3) {
    spread <- stats::sd(vapply(many, function(x) x$estimate[k], 0))
    expect_lt(abs(log(mean(vapply(many, function(x) x$std.error[k], 0)) / spread)), 0.35)
  }
})

test_that("states that are called otherwise are matched, in the order that fits best", {
  truth <- interpole_task("bias")
  visits <- monitored_visits(truth$setting, 20, 30, seed = 1)
  believed <- beliefs_at(truth, visits)
  made <- rep(1, nrow(visits))
  patient <- as.integer(visits$id)
  swapped <- `colnames<-`(believed[, 2:1], c("state_1", "state_2"))
  expect_equal(belief_error(patient, made, list(truth = believed, model = swapped))$estimate, 0)
  # By their names they are another belief.
  named <- `colnames<-`(believed[, 2:1], colnames(believed))
  expect_gt(belief_error(patient, made, list(truth = believed, model = named))$estimate, 0.1)
  expect_length(unique(all_orders(4)), 24)
  three <- matrix(1 / 3, nrow(visits), 3)
  expect_identical(belief_error(patient, made, list(truth = believed, model = three))$estimate, NA_real_)
})

test_that("fits and modes have the beliefs of the plan they stand for, and rules have none", {
  truth <- interpole_task("diag", resolution = 20)
  visits <- simulate(truth, 30, horizon = 100, seed = 1)
  mode <- ibrc_mode(visits, truth$setting, prior = ibrc_prior(alpha ~ lognormal(0, 1)), resolution = 20, starts = 1,
                    conf.level = NULL, seed = 1)
  errors <- imitation_error(truth, mode, nsim = 20, horizon = 50)
  expect_lt(errors$estimate[3], 1e-12)
  expect_gt(errors$estimate[2], 0)
  expect_identical(imitation_error(truth, fit_baseline(visits), nsim = 5, horizon = 9)$estimate[3], NA_real_)
})

test_that("truths that do not stop, and models that do not predict, are refused", {
  expect_error(imitation_error(plan_kl(seen_clinic(), 1), 1), class = "ibrc_error", regexp = "truth.*stop actions")
  expect_error(imitation_error(interpole_task(resolution = 2), mean, nsim = 2), class = "ibrc_error",
               regexp = "`model`")
  other <- fit_baseline(simulate(plan_kl(seen_clinic(), 1), 5, seed = 1))
  expect_error(imitation_error(interpole_task(resolution = 2), other, nsim = 2), class = "ibrc_error",
               regexp = "`model`")
})

test_that("clones and learned rewards have the beliefs of their own dynamics", {
  truth <- interpole_task("bias", resolution = 10)
  visits <- simulate(truth, 60, horizon = 60, seed = 1)
  clone <- fit_iohmm_bc(visits, 2, starts = 2, transitions = "shared", sort_by = "positive", sharpness = 10, seed = 1)
  patients <- monitored_visits(truth$setting, 5, 20, seed = 1)
  # The same rule as a plan.
  centres <- clone$centres
  setting <- decision_setting(clone$states, clone$actions, clone$observations, clone$transition, clone$emission,
                              matrix(0, 2, 3), discount = 0.5, start = clone$start)
  plan <- plan_iohmm_rule(setting, centres, 10, resolution = 10)
  expect_close(unname(beliefs_at(clone, patients)), unname(beliefs_at(plan, patients)), 1e-10)
  expect_close(as.matrix(predict(clone, patients)), as.matrix(predict(plan, patients)), 1e-8)
  mixed <- order(patients$time, patients$id)
  expect_close(beliefs_at(clone, patients[mixed, ]), beliefs_at(clone, patients)[mixed, ], 1e-12)

  wanting <- fit_po_irl(visits, truth$setting, chains = 1, iter = 20, draws = 2, resolution = 5, seed = 1)
  expect_close(beliefs_at(wanting, patients), beliefs_at(interpole_task("diag", resolution = 10), patients), 1e-10)
})

test_that("what is no probability is refused, and visits that are never made count nothing", {
  truth <- interpole_task(resolution = 5)
  actions <- truth$setting$actions
  of <- function(...) structure(list(p = c(...)), class = "flat_law")
  predict.flat_law <- function(object, visits, ...) {
    as.data.frame(matrix(object$p, nrow(visits), length(actions), byrow = TRUE, dimnames = list(NULL, actions)))
  }
  registerS3method("predict", "flat_law", predict.flat_law, asNamespace("stats"))
  for (wrong in list(of(5, 7, 9), of(NaN, NaN, NaN), of(-0.5, 0.5, 1))) {
    expect_error(imitation_error(truth, wrong, nsim = 2, horizon = 5), "not probabilities", class = "ibrc_error_input")
  }
  # It calls impossible what the truth does: an infinite divergence, however many visits nobody makes.
  never <- of(0, 0, 1)
  expect_identical(imitation_error(truth, never, nsim = 5, horizon = 10)$estimate[2], Inf)
  expect_identical(imitation_error(truth, never, nsim = 5, horizon = 3000)$estimate[2], Inf)
  expect_identical(counted(c(0, 1, 0), c(Inf, 2, NaN)), c(0, 2, 0))
  sharp <- plan_iohmm_rule(truth$setting, rbind(declare_healthy = c(1.3, -0.3), declare_diseased = c(-0.3, 1.3),
                                                monitor = c(0.5, 0.5)), sharpness = 1e5, resolution = 20)
  expect_false(anyNA(imitation_error(sharp, fit_baseline(simulate(truth, 20, seed = 1)), nsim = 5)$estimate[1:2]))
})

test_that("a result that nobody had shown is taken for missing, in beliefs too", {
  truth <- interpole_task("diag", resolution = 10)
  visits <- simulate(truth, 60, horizon = 60, seed = 1)
  patients <- monitored_visits(truth$setting, 4, 12, seed = 1)
  clone <- fit_iohmm_bc(visits, 2, starts = 1, transitions = "shared", sort_by = "positive", seed = 1)
  gone <- patients
  gone$observation[gone$observation == "positive"] <- NA
  clone$emission[, match("positive", clone$observations), ] <- 0
  expect_close(beliefs_at(clone, patients), beliefs_at(clone, gone), 1e-12)
  expect_true(all(is.finite(imitation_error(truth, clone, nsim = 4, horizon = 12)$estimate)))
  # Dynamics that were learned without it.
  learned <- fit_iohmm(visits, states = 2, transitions = "shared", starts = 1, prior = 1, seed = 1)
  learned$emission[, match("positive", learned$observations), ] <- 0
  learned$emission <- aperm(apply(learned$emission, c(1, 3), function(p) p / sum(p)), c(2, 1, 3))
  unseen <- visits
  unseen$observation[unseen$observation %in% "positive"] <- NA
  wanting <- suppressWarnings(fit_po_irl(unseen, truth$setting, dynamics = learned, chains = 1, iter = 20,
                                         draws = 2, resolution = 5, seed = 1, refresh = 0))
  expect_close(beliefs_at(wanting, patients), beliefs_at(wanting, gone), 1e-12)
})
