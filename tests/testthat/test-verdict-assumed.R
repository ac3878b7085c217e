setting <- decision_setting(
  states = c("well", "ill"), actions = c("wait", "treat"), observations = c("negative", "positive"),
  transition = list(wait = rbind(c(0.9, 0.1), c(0.1, 0.9)), treat = rbind(c(0.95, 0.05), c(0.7, 0.3))),
  emission = rbind(c(0.8, 0.2), c(0.2, 0.8)), utility = cbind(wait = c(0, -4), treat = c(-2, -3)), discount = 0.9
)
prior <- ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1))
visits <- simulate(plan_agent(setting, bounded_agent(alpha = 0.5), perturb_models(setting)), 100, seed = 1, horizon = 6)
fit <- ibrc(visits, setting, perturb_models(setting), prior, chains = 2, iter = 400, seed = 1, resolution = 40)
evaluator_of <- function(fit) {
  inverse_evaluator(fit)
}

test_that("dynamics that were learned and held fixed are a caution, stated ones are not", {
  expect_identical(as.character(dynamics_rows(fit)$verdict), "ok")
  learned <- fit_iohmm(visits, 2, starts = 2, seed = 1)
  told <- as_setting(learned, utility = matrix(0, 2, 2), discount = 0.9)
  expect_identical(told$dynamics, "learned")
  fit$problem$setting <- told
  rows <- dynamics_rows(fit)
  expect_identical(as.character(rows$verdict), "caution")
  expect_match(rows$advice, "learned and then held fixed")
  expect_null(adni_setting(adni_like_truth()$setting)$dynamics)
})

test_that("means move by slope times covariance", {
  theta <- with_seed(1, matrix(stats::rnorm(400), 200) %*% chol(rbind(c(1, 0.5), c(0.5, 2))))
  expect_close(moved_means(theta, 3 + theta %*% c(0.2, -0.1)), as.vector(stats::cov(theta) %*% c(0.2, -0.1)), 1e-9)
  # As weights would have it, while they move little.
  change <- as.vector(theta %*% c(0.05, 0.05))
  weighted <- colSums(exp(change) * theta) / sum(exp(change)) - colMeans(theta)
  expect_close(moved_means(theta, change), weighted, 0.02)
})

test_that("a lattice that is fine enough is ok, and one that is not is seen", {
  rows <- resolution_rows(fit, evaluator_of(fit), 1L)
  expect_identical(as.character(rows$verdict), "ok")
  expect_match(rows$seen, "at twice the resolution \\(80\\)")
  # Being sure is worth something above 0.7, which a lattice of thirds cannot tell from 0.99.
  paid <- setting
  paid$belief_utility <- certainty_bonus(3, above = 0.7)
  seen <- simulate(plan_agent(paid, bounded_agent(alpha = 0.5), perturb_models(paid)), 200, seed = 1, horizon = 6)
  coarse <- ibrc(seen, paid, perturb_models(paid), prior, chains = 2, iter = 400, seed = 1, resolution = 3)
  rows <- resolution_rows(coarse, evaluator_of(coarse), 1L)
  expect_gt(match(rows$verdict, verdict_levels), 1)
  expect_match(rows$advice, "resolution = 6")
})

test_that("the finer plan is the plan on the finer lattice, with the worth of beliefs that it had", {
  paid <- setting
  paid$belief_utility <- certainty_bonus(2.5, above = 0.9)
  plan <- plan_agent(paid, bounded_agent(alpha = 0.5), resolution = 20)
  expect_identical(changed_problem(plan, list(resolution = 40))$reward,
                   plan_agent(paid, bounded_agent(alpha = 0.5), resolution = 40)$reward)
  # After resume() the function is gone, and its values are read off.
  plan$setting["belief_utility"] <- list(NULL)
  again <- changed_problem(plan, list(resolution = 40))
  expect_equal(again$reward[c(1, 41), ], plan$reward[c(1, 21), ])
})

test_that("other weights on the models move optimism, and one model moves nothing", {
  rows <- weighting_rows(fit, evaluator_of(fit))
  expect_match(rows$seen, "middle of the models: (alpha|optimism) goes from")
  expect_equal(which.min(model_distances(fit$problem)), which(vapply(fit$problem$models$models, function(m) {
    isTRUE(all.equal(m$emission, setting$emission, check.attributes = FALSE))
  }, NA)), ignore_attr = TRUE)
  other <- reweighted_evaluator(evaluator_of(fit), list(fit$problem))
  expect_equal(sum(other$batch$problem$model_weights), 1)
  single <- ibrc(visits, setting, prior = ibrc_prior(alpha ~ lognormal(0, 1)), chains = 2, iter = 100, seed = 1,
                 resolution = 20)
  expect_identical(as.character(weighting_rows(single, evaluator_of(single))$verdict), "ok")
})

test_that("terms on which nothing depends are found and said", {
  # Both actions are worth the same in every state, so that alpha alone changes nothing; nor does the discount.
  flat <- setting
  flat$utility[] <- 0
  seen <- simulate(plan_agent(flat, bounded_agent(alpha = 1), resolution = 10), 60, seed = 1, horizon = 5)
  fit <- ibrc(seen, flat, prior = ibrc_prior(alpha ~ lognormal(0, 1), discount ~ uniform(0.5, 0.99)), chains = 2,
              iter = 100, seed = 1, resolution = 10)
  rows <- inert_rows(fit, evaluator_of(fit))
  expect_identical(rows$term, c("alpha", "discount"))
  expect_match(rows$advice[1], "Nothing in the behaviour depends on")
  expect_null(inert_rows(get("fit", parent.env(environment())), evaluator_of(get("fit", parent.env(environment())))))
})

test_that("visits after a missing action make a fit one not to use", {
  data <- as.data.frame(simulate(plan_agent(tiger_setting(), bounded_agent(alpha = 5), resolution = 20), 6, seed = 1,
                                 horizon = 4))
  fit_without <- function(rows) {
    data$action[rows] <- NA
    data$known <- !is.na(data$action)
    visits <- trajectories(data, scored = "known", setting = tiger_setting())
    suppressWarnings(ibrc(visits, tiger_setting(), prior = ibrc_prior(alpha ~ lognormal(1, 1)), chains = 2, iter = 40,
                          seed = 1, resolution = 20), classes = "ibrc_warning")
  }
  # The last action of a trajectory is followed by nothing.
  last <- which(!duplicated(data$id, fromLast = TRUE))
  expect_null(lost_action_rows(fit_without(last[1])))
  going_on <- which(duplicated(data$id, fromLast = TRUE) & data$action == "listen")
  rows <- lost_action_rows(fit_without(going_on[1]))
  after <- sum(data$id == data$id[going_on[1]] & seq_along(data$id) > going_on[1])
  expect_match(rows$seen, paste0("^actions: ", after, " visit"))
  expect_identical(as.character(rows$verdict), "do not use")
})

test_that("a missed trial after which nothing was seen does no harm where states change alike", {
  change <- rbind(c(0.9, 0.1), c(0.1, 0.9))
  sides <- c("left", "right")
  wins <- list(left = rbind(c(0.2, 0.8), c(0.8, 0.2)), right = rbind(c(0.8, 0.2), c(0.2, 0.8)))
  task <- function(transition) {
    decision_setting(states = sides, actions = sides, observations = c("loss", "win"), transition = transition,
                     emission = wins, utility = diag(2), discount = 0.9)
  }
  alike <- task(list(left = change, right = change))
  careful <- plan_agent(alike, bounded_agent(alpha = 0.5), resolution = 10)
  data <- as.data.frame(simulate(careful, 4, seed = 1, horizon = 8))
  missed <- data$time == 3
  data$action[missed] <- NA
  data$known <- !missed
  rows_of <- function(setting, data, ...) {
    visits <- trajectories(data, scored = "known", setting = setting)
    prior <- ibrc_prior(alpha ~ lognormal(0, 1), ...)
    lost_action_rows(suppressWarnings(ibrc(visits, setting, prior = prior, chains = 1, iter = 4, seed = 1,
                                           resolution = 5, control = ibrc_control(check = FALSE))))
  }
  expect_identical(as.character(rows_of(alike, data)$verdict), "do not use")
  unseen <- transform(data, observation = replace(observation, missed, NA))
  expect_null(rows_of(alike, unseen))
  expect_identical(nrow(rows_of(alike, unseen, habit ~ normal(0, 1))), 1L)
  expect_identical(nrow(rows_of(task(list(left = change, right = change[, 2:1])), unseen)), 1L)
  expect_true(moves_alike(list(setting = alike)))
  expect_false(moves_alike(list(setting = replace(alike, "transition", list(NULL)))))
  expect_false(moves_alike(list(setting = replace(alike, "stop_actions", list(sides)))))
  # What is left out is the same whatever was done.
  filled <- transform(unseen, action = replace(action, missed, "left"))
  both <- lapply(list(unseen, filled), function(x) log_lik(careful, trajectories(x, scored = "known", setting = alike)))
  expect_equal(both[[1]], both[[2]])
})

test_that("no number is told of a mean that leaves all draws", {
  expect_match(moved_words(c(1, 2), 1.5), "goes from 1 to 2, 1.5 standard deviations")
  expect_identical(moved_words(c(0.007, 6e58), 66),
                   " moves by more than 5 standard deviations, further than the draws reach")
})
