test_that("DIAG is as the paper states it", {
  setting <- diag_setting()
  expect_identical(setting$discount, 0.95)
  expect_identical(unname(setting$utility), rbind(c(10, -36, -1), c(-36, 10, -1)))
  expect_identical(unname(setting$transition[, , "monitor"]), diag(2))
  expect_equal(unname(setting$emission[1, , "monitor"]), c(0.7, 0.3))
  expect_identical(setting$stop_actions, c("declare_healthy", "declare_diseased"))
  expect_equal(vapply(diag_models()$models, function(m) m$emission[2, 2, "monitor"], 0),
               c(accuracy_0.6 = 0.6, accuracy_0.7 = 0.7, accuracy_0.8 = 0.8))
  expect_equal(unname(diag_models()$weights), rep(1 / 3, 3))
})

test_that("after three positive tests the six agents stand where the paper's do", {
  after <- function(agent) {
    plan <- plan_agent(diag_setting(), agent, diag_models(), surprise = "observation", interpolate = "policy")
    belief <- c(0.5, 0.5)
    for (i in 1:3) belief <- update_belief(plan, belief, "monitor", "positive")
    round(belief[["diseased"]], 2)
  }
  expect_identical(after(bounded_agent(0.5, 1.25, 1e-3)), 0.96)
  expect_identical(after(bounded_agent(0.5, -0.75, 1e-3)), 0.82)
  expect_identical(after(bounded_agent(0.5, 1e3, 1e-3)), 0.92)
})

test_that("an accuracy that is none is refused", {
  expect_error(diag_setting(accuracy = 1.2), class = "ibrc_error_input")
  expect_error(diag_models(accuracy = NA), class = "ibrc_error_input")
  expect_error(diag_models(accuracy = character()), class = "ibrc_error_input")
  expect_error(diag_models(weights = c(1, 2)), class = "ibrc_error_input")
})

test_that("the models of DIAG are those that a list of matrices gives", {
  accuracy <- c(0, 0.123456789, 0.6, 1L)
  stated <- lapply(accuracy, function(a) {
    emission <- rbind(c(a, 1 - a), c(1 - a, a))
    anew <- matrix(0.5, 2, 2)
    list(transition = list(declare_healthy = anew, declare_diseased = anew, monitor = diag(2)), emission = emission)
  })
  made <- diag_models(accuracy, c(0.1, 0.2, 0.3, 0.4))
  names(stated) <- names(made$models)
  expect_identical(made, model_prior(stated, c(0.1, 0.2, 0.3, 0.4), diag_setting()))
})
