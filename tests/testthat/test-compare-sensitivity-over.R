setting <- diag_setting()
models <- perturb_models(setting, by = 0.1)
prior <- ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1))
visits <- simulate(plan_agent(setting, bounded_agent(0.5), models, resolution = 10), 30, seed = 1)
mode_of <- function(...) ibrc_mode(visits, ..., conf.level = NULL, resolution = 10, starts = 1, seed = 1)
mode <- mode_of(setting, models, prior)

refused <- function(over, argument, pattern = NULL, object = mode, grid = FALSE) {
  error <- expect_error(read_over(over, object, grid), pattern, class = "ibrc_error_input")
  expect_identical(error$argument, argument)
}

test_that("what to vary is read, and called by its numbers or names", {
  read <- read_over(list(step = c(small = 0.05, 0.2), prior = c("wider", tight = "narrower")), mode, FALSE)
  expect_identical(vapply(read, `[[`, "", "what"), c("step", "step", "prior", "prior"))
  expect_identical(vapply(read, `[[`, "", "label"), c("small", "0.2", "wider", "tight"))
  expect_identical(read[[2]]$change, list(step = 0.2))
  expect_equal(read[[4]]$change$prior$optimism$args[["sd"]], 0.5)
  expect_identical(read[[4]]$change$prior$optimism$label, "normal(0, 0.5)")
})

test_that("priors are widened by their spread, and those without one stay", {
  all <- ibrc_prior(alpha ~ gamma(4, 2), optimism ~ student_t(3, 0, 1, lower = -2), discount ~ beta(2, 2),
                    utility(healthy, monitor) ~ normal(-1, 3), eta ~ exponential(2))
  wide <- spread_prior(all, 2, "over$prior")
  expect_equal(wide$alpha$args, c(shape = 1, rate = 0.5))
  expect_equal(wide$optimism$args, c(df = 3, location = 0, scale = 2))
  expect_identical(wide$optimism$lower, -2)
  expect_equal(wide$eta$args, c(rate = 1))
  expect_identical(wide$discount, all$discount)
  expect_identical(wide[["utility[healthy,monitor]"]]$state, "healthy")
  expect_equal(spread_prior(wide, 0.5, "over$prior")$alpha[c("args", "lower", "upper", "log_mass")],
               all$alpha[c("args", "lower", "upper", "log_mass")])
  expect_error(spread_prior(ibrc_prior(alpha ~ uniform(0.1, 2)), 2, "over$prior"), "State the prior",
               class = "ibrc_error_input")
})

test_that("all combinations are made, also with what the fit has", {
  read <- read_over(list(step = c(0.1, 0.2), discount = c(0.8, 0.9)), mode, TRUE)
  expect_identical(vapply(read, function(one) paste(one$what, one$label), ""),
                   c("step 0.2", "discount 0.8", "step, discount 0.2, 0.8", "discount 0.9", "step, discount 0.2, 0.9"))
  expect_identical(read[[3]]$change, list(step = 0.2, discount = 0.8))
  refused(list(step = 0.2, models = list(wide = models)), "over", "both say", grid = TRUE)
  refused(list(discount = 0.8, fixed = list(far = list(discount = 0.99))), "over", "holds the discount", grid = TRUE)
  refused(list(step = seq(0.11, 0.5, length.out = 40), discount = seq(0.1, 0.8, length.out = 40)), "grid", "1,680",
          grid = TRUE)
})

test_that("what is wrong is said of its part", {
  refused(1, "over", "named list")
  refused(list(), "over", "named list")
  refused(list(0.1), "over", "named list")
  refused(list(alpha = 1), "over", "resolution.*fixed")
  refused(list(step = 0.2, step = 0.3), "over", "more than once")
  refused(list(step = 0.1), "over", "nothing but what the fit has")
  refused(list(step = c(0.2, 0.2)), "over$step", "same name")
  refused(list(step = "wide"), "over$step", "numbers")
  refused(list(step = 1), "over$step", "less than 1")
  refused(list(step = NA_real_), "over$step")
  refused(list(resolution = 1.5), "over$resolution", "whole")
  refused(list(discount = 1), "over$discount", "less than 1")
  refused(list(bonus = 1), "over$bonus", "certainty_bonus")
  refused(list(utility = list(matrix(0, 2, 3))), "over$utility", "name")
  refused(list(utility = list(zero = matrix(0, 3, 3))), "over$utility$zero", "3 by 3")
  refused(list(utility = list(zero = function(utility) stop("no"))), "over$utility$zero", "failed: no")
  refused(list(utility = setting$utility), "over$utility", "named list")
  refused(list(models = list(one = setting)), "over$models$one", "model_prior")
  refused(list(models = list(one = list(all = models))), "over$models$one", "by")
  refused(list(prior = "flat"), "over$prior$flat", "wider")
  refused(list(prior = list(other = ibrc_prior(alpha ~ lognormal(0, 1)))), "over$prior$other", "optimism")
  refused(list(fixed = list(held = 1)), "over$fixed$held", "named list")
  refused(list(fixed = list(held = list(alpha = 1))), "over$fixed$held", "infers")
  refused(list(fixed = list(held = list(eta = "a"))), "over$fixed$held", "cannot be used")
})

test_that("what cannot be varied in a fit has its reason", {
  by_hand <- mode_of(setting, diag_models(), prior)
  refused(list(step = 0.2), "over$step", "models = list", object = by_hand)
  changed <- models
  changed$models[[1]]$emission[1, , 3] <- c(0.5, 0.5)
  refused(list(step = 0.2), "over$step", "as they stand", object = mode_of(setting, changed, prior))
  inferring <- ibrc_prior(alpha ~ lognormal(0, 1), discount ~ beta(8, 2), utility(healthy, monitor) ~ normal(-1, 1))
  inferring <- mode_of(setting, models, inferring)
  refused(list(discount = 0.9), "over$discount", "infers", object = inferring)
  refused(list(utility = list(free = 0 * setting$utility)), "over$utility$free", "monitor", object = inferring)
  other <- setting$utility
  other[, "declare_healthy"] <- c(5, -5)
  expect_length(read_over(list(utility = list(other = other)), inferring, FALSE), 1)
  seen <- decision_setting(c("a", "b"), c("u", "w"), c("a", "b"), matrix(0.5, 2, 2), "identity",
                           matrix(c(0, 1, 1, 0), 2), discount = 0.5)
  plain <- ibrc_mode(simulate(plan_agent(seen, bounded_agent(1)), 60, seed = 1, horizon = 4), seen,
                     prior = ibrc_prior(alpha ~ lognormal(0, 1)), conf.level = NULL, starts = 1, seed = 1)
  refused(list(resolution = 50), "over$resolution", "no lattice", object = plain)
  recipe <- replace(unclass(mode), "recipe", list(list(models = identity)))
  refused(list(step = 0.2), "over", "functions of named quantities", object = recipe)
  expect_length(read_over(list(prior = "wider", resolution = 20), recipe, FALSE), 2)
  paid <- setting
  paid$belief_utility <- certainty_bonus(2, above = 0.8)
  paid <- mode_of(paid, models, prior)
  expect_length(read_over(list(bonus = c(2, 3), above = c(0.8, 0.9)), paid, FALSE), 2)
  paid$problem$setting["belief_utility"] <- list(NULL)
  refused(list(bonus = 3), "over$bonus", "resume", object = paid)
})
