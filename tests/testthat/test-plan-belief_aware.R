test_that("a worth of 0 changes nothing, and neither does the utility as a worth of beliefs", {
  with_seed(1, for (n_states in 2:4) {
    setting <- random_setting(n_states)
    plain <- plan_pomdp(setting, 5)
    nothing <- plan_belief_aware(setting, function(beliefs, action) 0, 5)
    expect_identical(value(nothing), value(plain))
    expect_identical(policy(nothing), policy(plain))
    expect_identical(value(plan_belief_aware(setting, resolution = 5)), value(plain))

    utility <- setting$utility
    setting$utility[] <- 0
    moved <- plan_belief_aware(setting, function(beliefs, action) beliefs %*% utility[, action], 5)
    expect_close(value(moved), value(plain), 1e-9)
    expect_close(policy(moved), policy(plain), 1e-9)
  })
})

test_that("the setting's own worth of beliefs counts where no other is given", {
  setting <- diag_setting()
  bonus <- certainty_bonus(2, above = 0.9)
  given <- plan_belief_aware(setting, bonus, 20)
  setting$belief_utility <- bonus
  own <- plan_belief_aware(setting, resolution = 20)
  expect_identical(value(own), value(given))
  expect_close(value(own), value(plan_agent(setting, bounded_agent(), resolution = 20)), 1e-7)
  expect_true(all(value(own) > value(plan_belief_aware(setting, certainty_bonus(0), 20))))
})

test_that("who likes to be sure listens for longer", {
  sure <- plan_belief_aware(tiger_setting(), certainty_bonus(30, above = 0.9, full = 0.99), 40)
  plain <- plan_pomdp(tiger_setting(), 40)
  expect_identical(unname(policy(sure, c(0.97, 0.03))[, "listen"]), 1)
  expect_identical(unname(policy(plain, c(0.97, 0.03))[, "listen"]), 0)
})

test_that("wrong arguments are refused by name", {
  expect_refused(plan_belief_aware(), "setting")
  expect_refused(plan_belief_aware("x"), "setting")
  for (wrong in list(1, "x", NA, list(), function(...) stop("called"), function(...) NULL)) {
    expect_refused(plan_belief_aware(tiger_setting(), wrong, 4), "belief_utility")
  }
  expect_refused(plan_belief_aware(tiger_setting(), certainty_bonus(1), -1), "resolution")
  expect_refused(plan_belief_aware(tiger_setting(), models = "x"), "models")
})
