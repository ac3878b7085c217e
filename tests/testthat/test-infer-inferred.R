inferred_by_hand <- function(...) {
  setting <- seen_setting(3, 2, start = c(1, 0, 0))
  ibrc:::new_ibrc_inferred("margin", setting, plan_agent(setting, bounded_agent(0.5)),
                           ibrc:::utility_estimates(setting$utility, setting), ...)
}

test_that("an inferred object answers as its plan does", {
  with_seed(1, {
    inferred <- inferred_by_hand(objective = 2.5, details = list(n_trajectories = 4L, n_visits = 20L, left_out = 3L))
    plan <- project_behavior(inferred)
    expect_s3_class(plan, "ibrc_plan")
    visits <- simulate(inferred, 5, seed = 2, horizon = 6)
    expect_equal(visits, simulate(plan, 5, seed = 2, horizon = 6))
    expect_equal(predict(inferred, visits), predict(plan, visits))
    expect_equal(log_lik(inferred, visits), log_lik(plan, visits))
    expect_equal(policy(inferred), policy(plan))
    expect_equal(policy(inferred, c(1, 0, 0)), policy(plan, c(1, 0, 0)))
    estimates <- tidy(inferred)
    expect_identical(estimates$term[5], "utility[s2,u2]")
    expect_identical(estimates$estimate[5], unname(plan$setting$utility[2, 2]))
    expect_equal(glance(inferred), data.frame(inverse = "margin", objective = 2.5, states = 3L, actions = 2L,
                                              trajectories = 4L, visits = 20L, left_out = 3L))
  })
})

test_that("an inferred object prints its estimates and what a reader must know", {
  with_seed(1, {
    inferred <- inferred_by_hand(objective = 2.5, notes = c("A first note.", "Another note."),
                                 details = list(n_trajectories = 1L, n_visits = 20L))
    text <- format(inferred)
    expect_match(text[1], "Maximum margin: what was inferred from 20 visits of 1 trajectory", fixed = TRUE)
    expect_true(any(grepl("utility[s1,u1]", text, fixed = TRUE)))
    expect_true(any(grepl("objective  2.5", text, fixed = TRUE)))
    expect_identical(utils::tail(text, 2), c("  * A first note.", "  * Another note."))
    expect_output(print(inferred), "Another note")
    expect_identical(sum(grepl("utility", format(inferred, most = 2))), 2L)
    expect_match(format(inferred, most = 2)[5], "and 4 more estimates")
  })
})

test_that("with several settings, one has to be named", {
  with_seed(1, {
    inferred <- inferred_by_hand()
    several <- inferred
    several$plan <- list(home = inferred$plan, ward = plan_agent(inferred$setting, bounded_agent(5)))
    several$setting <- list(inferred$setting, inferred$setting)
    expect_equal(policy(several, setting = "ward"), policy(several$plan$ward))
    expect_equal(policy(several, setting = 1), policy(several$plan$home))
    visits <- simulate(several, 3, seed = 1, setting = 2, horizon = 4)
    expect_equal(log_lik(several, visits, setting = 2), log_lik(several$plan$ward, visits))
    expect_equal(predict(several, visits, setting = 2), predict(several$plan$ward, visits))
    expect_identical(glance(several)$states, 3L)
    expect_refused(policy(several), "setting", "home")
    expect_refused(policy(several, setting = "garden"), "setting")
    expect_refused(policy(several, setting = 3), "setting")
    expect_refused(policy(several, setting = mean), "setting")
    expect_refused(policy(inferred, setting = 1), "setting")
  })
})

test_that("wrong arguments are named", {
  with_seed(1, {
    inferred <- inferred_by_hand()
    expect_refused(predict(inferred), "visits")
    expect_refused(log_lik(inferred), "visits")
    expect_refused(predict(inferred, 1), "visits")
    expect_refused(predict(inferred, simulate(inferred, 1, seed = 1), type = "state"), "type")
    expect_refused(tidy(inferred, 1), "...")
    expect_refused(glance(inferred, 1), "...")
    expect_refused(project_behavior(inferred, 1), "...")
    expect_refused(project_behavior(1), "planner")
  })
})
