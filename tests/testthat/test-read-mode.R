mode_of <- function(...) {
  cached(paste("read-mode", deparse(list(...))), ibrc_mode(
    people_visits(), diag_setting(), diag_models(), people_prior(), resolution = 10, starts = 2, seed = 1, ...
  ))
}

test_that("covariances have the squares of the standard errors on their diagonal, group by group", {
  mode <- mode_of()
  found <- vcov(mode)
  expect_identical(dimnames(found), list(names(coef(mode)), names(coef(mode))))
  expect_equal(unname(sqrt(diag(found))), tidy(mode)$std.error)
  # By hand: optimism is as the sampler has it, alpha by its logarithm.
  slope <- diag(c(coef(mode)[["alpha"]], 1))
  expect_equal(unname(found), slope %*% solve(-mode$tops[[1]]$curvature) %*% slope)
  grouped <- mode_of(by = "arm")
  found <- vcov(grouped)
  expect_equal(unname(sqrt(diag(found))), tidy(grouped)$std.error)
  expect_true(all(found[1:2, 3:4] == 0))
})

test_that("coefficients have covariances, and terms without a standard error have none", {
  effects <- mode_of(effects = list(optimism ~ arm))
  expect_identical(rownames(vcov(effects)), c("alpha", "optimism", "optimism[armb]"))
  expect_equal(unname(sqrt(diag(vcov(effects)))), tidy(effects)$std.error)
  mode <- mode_of()
  mode$tops[[1]]$std_error[2] <- NA
  expect_identical(is.na(unname(vcov(mode))), matrix(c(FALSE, TRUE, TRUE, TRUE), 2))
})

test_that("intervals are those of the profile, of the mode's own level", {
  mode <- mode_of()
  found <- confint(mode)
  expect_equal(unname(found), unname(as.matrix(tidy(mode)[c("conf.low", "conf.high")])))
  expect_identical(dimnames(found), list(names(coef(mode)), c("2.5 %", "97.5 %")))
  expect_identical(confint(mode, "optimism", 0.95), found[2, , drop = FALSE])
  expect_identical(confint(mode, 1), found[1, , drop = FALSE])
  expect_refused(confint(mode, level = 0.9), "level", "conf.level")
  expect_refused(confint(mode, "nobody"), "parm", "alpha")
  expect_refused(confint(mode, 3), "parm")
  expect_refused(confint(mode_of(conf.level = NULL)), "object", "conf.level")
})

test_that("a mode has no picture, and says what has one", {
  expect_refused(plot(mode_of()), "x", "plot\\(profile_likelihood\\(x\\)\\)")
  expect_refused(plot(mode_of(effects = list(optimism ~ arm))), "x", "one point, and has no picture. plot\\(project")
})

test_that("probabilities of actions have no covariances of their own", {
  mode <- mode_of()
  mode$prior <- check_prior(ibrc_prior(alpha ~ lognormal(0, 1), action_prior ~ dirichlet(2)), diag_setting(), list())
  expect_refused(vcov(mode), "object", "standard errors")
})
