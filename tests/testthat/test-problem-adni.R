# Two states, three things to see, of which one needs an MRI.
learned <- list(
  states = c("s1", "s2"), actions = c("no_mri", "mri"), observations = c("none", "low", "high"),
  transition = array(c(0.9, 0.2, 0.1, 0.8, 0.7, 0, 0.3, 1), c(2, 2, 2)),
  emission = array(c(1, 1, 0, 0, 0, 0, 0, 0, 0.8, 0.3, 0.2, 0.7), c(2, 3, 2)), start = c(0.6, 0.4)
)
learned_with <- function(...) {
  change <- list(...)
  learned[names(change)] <- change
  learned
}

test_that("a learned model becomes a setting", {
  setting <- adni_setting(learned)
  expect_s3_class(setting, "ibrc_setting")
  for (part in c("transition", "emission", "start")) {
    expect_equal(as.vector(setting[[part]]), as.vector(learned[[part]]))
  }
  expect_identical(as.vector(setting$utility), c(0, 0, -1, -1))
  expect_identical(setting$discount, 0.95)
  expect_identical(twin_reward(setting, rbind(c(0.95, 0.05), c(0.5, 0.5))), rbind(c(2.5, 1.5), c(0, -1)))
  dear <- adni_setting(structure(learned, class = "ibrc_iohmm"), mri_cost = 3, certainty = 7, above = 0.4,
                       discount = 0.5)
  expect_identical(twin_reward(dear, rbind(c(0.5, 0.5))), rbind(c(7, 4)))
  expect_identical(dear$discount, 0.5)
})

test_that("actions may stand in either order", {
  turned <- learned_with(actions = c("mri", "no_mri"), transition = learned$transition[, , 2:1],
                         emission = learned$emission[, , 2:1])
  a <- plan_agent(adni_setting(learned), bounded_agent(alpha = 0.5), resolution = 10)
  b <- plan_agent(adni_setting(turned), bounded_agent(alpha = 0.5), resolution = 10)
  expect_close(policy(a)[, "mri"], policy(b)[, "mri"], 1e-8)
  expect_identical(adni_setting(turned)$utility[, "mri"], c(s1 = -1, s2 = -1))
})

test_that("what is no learned model is refused", {
  refused <- function(iohmm, argument, ...) {
    expect_identical(expect_error(adni_setting(iohmm, ...), class = "ibrc_error_input")$argument, argument)
  }
  refused(1, "iohmm")
  refused(data.frame(), "iohmm")
  error <- expect_error(adni_setting(learned[-(4:5)]), class = "ibrc_error_input")
  expect_match(conditionMessage(error), "\"transition\" and \"emission\"")
  refused(learned_with(actions = c("wait", "mri")), "iohmm")
  refused(learned_with(actions = 1), "iohmm$actions")
  refused(learned_with(states = c("a", "a")), "iohmm$states")
  refused(learned_with(transition = diag(3)), "transition")
  refused(learned_with(start = c(1, 1)), "start")
  refused(learned, "mri_cost", mri_cost = -1)
  refused(learned, "certainty", certainty = NA)
  refused(learned, "above", above = 1)
  refused(learned, "discount", discount = 1)
})
