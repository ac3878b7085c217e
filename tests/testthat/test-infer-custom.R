test_that("with minus the log-likelihood it is soft policy matching", {
  setting <- with_seed(1, ranked_setting())
  visits <- ranked_visits(setting, 60)
  planner <- function(setting, theta) {
    setting$discount <- theta[["patience"]]
    plan_kl(setting, theta[["price"]])
  }
  begin <- c(price = 1, patience = 0.5)
  unlikely <- function(demonstrated, imitating) -sum(log_lik(imitating, demonstrated))
  custom <- infer_custom(visits, setting, planner, unlikely, begin, lower = c(price = 0, patience = 0),
                         upper = c(patience = 1), starts = 1, seed = 1)
  matched <- infer_matching(visits, setting, planner, start = begin, lower = c(price = 0, patience = 0),
                            upper = c(patience = 1), starts = 1, seed = 1)
  expect_close(tidy(custom)$estimate, tidy(matched)$estimate, 1e-4)
  expect_equal(custom$objective, -matched$objective, tolerance = 1e-9)
  # The planner by its name, too.
  named <- infer_custom(visits, setting, "kl", unlikely, c(alpha = 1, discount = 0.5), starts = 1, seed = 1)
  expect_equal(named$objective, custom$objective, tolerance = 1e-7)
  expect_identical(glance(named)$visits, nrow(visits))
  expect_true(named$details$converged)
})

test_that("a p-norm of how far policies lie apart is least, and 0, at the demonstrator's own parameters", {
  setting <- with_seed(2, ranked_setting())
  shown <- policy(plan_kl(setting, 0.7))
  for (p in 2:3) {
    distance <- function(demonstrated, imitating) sum(abs(policy(imitating) - demonstrated)^p)
    found <- infer_custom(shown, setting, "kl", distance, c(alpha = 3), starts = 2, seed = 1)
    expect_equal(tidy(found)$estimate, 0.7, tolerance = 1e-2)
    expect_lt(found$objective, 1e-5)
  }
  # The nearest utility to a default, if far policies cost: a perturbation that is no larger than it has to be.
  entry <- "utility[s1,u1]"
  true <- setting$utility["s1", "u1"]
  near <- function(demonstrated, imitating) {
    1e4 * sum((policy(imitating) - demonstrated)^2) + abs(imitating$setting$utility["s1", "u1"] - true)
  }
  demonstrated <- policy(plan_kl(setting, 1))
  found <- infer_custom(demonstrated, setting, "kl", near, stats::setNames(true + 1, entry), starts = 2, seed = 1)
  expect_equal(tidy(found)$estimate, true, tolerance = 1e-2)
})

test_that("hard planners and hidden states can be compared as well", {
  setting <- diag_setting()
  visits <- simulate(plan_pomdp(setting, resolution = 20), 40, seed = 1)
  wrong <- function(demonstrated, imitating) {
    1 - mean(as.matrix(predict(imitating, demonstrated))[cbind(seq_len(nrow(demonstrated)),
                                                               as.integer(demonstrated$action))])
  }
  planner <- function(setting, theta) {
    setting$utility[, "monitor"] <- theta[["cost"]]
    plan_pomdp(setting, resolution = 20)
  }
  found <- infer_custom(visits, setting, planner, wrong, c(cost = -1.2), starts = 1, seed = 1)
  expect_equal(found$objective, 0, tolerance = 1e-9)
  expect_s3_class(project_behavior(found), "ibrc_plan")
})

test_that("what fails or is infinite everywhere is said", {
  setting <- with_seed(3, ranked_setting())
  shown <- policy(plan_kl(setting, 1))
  never <- function(demonstrated, imitating) Inf
  error <- expect_error(infer_custom(shown, setting, "kl", never, c(alpha = 1), starts = 1, seed = 1),
                        class = "ibrc_error_impossible")
  expect_identical(error$argument, "start")
  shaky <- function(setting, theta) if (theta[["alpha"]] < 0.9) stop("no") else plan_kl(setting, theta[["alpha"]])
  distance <- function(demonstrated, imitating) sum((policy(imitating) - demonstrated)^2)
  found <- infer_custom(shown, setting, shaky, distance, c(alpha = 1.5), lower = c(alpha = 0), starts = 2, seed = 1)
  expect_match(found$notes, "failed at", all = FALSE)
  expect_equal(tidy(found)$estimate, 1, tolerance = 1e-2)
})

test_that("every argument is checked, and says its name", {
  setting <- with_seed(3, ranked_setting())
  good <- list(visits = policy(plan_kl(setting, 1)), setting = setting, planner = "kl",
               discrepancy = function(demonstrated, imitating) 0, start = c(alpha = 1))
  for (argument in names(good)) {
    for (bad in list(NULL, NA, "x", -1, Inf, list(), matrix(0, 0, 2))) {
      call <- good
      call[argument] <- list(bad)
      error <- expect_error(do.call(infer_custom, call), class = "ibrc_error")
      expect_identical(error$argument, argument)
    }
    call <- good
    call[[argument]] <- NULL
    expect_identical(expect_error(do.call(infer_custom, call), class = "ibrc_error")$argument, argument)
  }
  for (argument in c("lower", "upper", "starts", "seed")) {
    for (bad in list(NA, "x", list(), mean, 0.5)) {
      call <- good
      call[[argument]] <- bad
      error <- expect_error(do.call(infer_custom, call), class = "ibrc_error_input")
      expect_identical(error$argument, argument)
    }
  }
  expect_error(infer_custom(good$visits, setting, "kl", good$discrepancy, c(beta = 1)), "beta",
               class = "ibrc_error_input")
  for (planner in c("mdp", "pomdp")) {
    expect_error(infer_custom(good$visits, setting, planner, good$discrepancy, c(alpha = 1)), "alpha",
                 class = "ibrc_error_input")
  }
  expect_error(infer_custom(good$visits, setting, "kl", good$discrepancy, c(alpha = 1), lower = c(alpha = 2)),
               class = "ibrc_error_input")
  for (bad in list("a", c(1, 2), NA_real_, NULL, -Inf)) {
    error <- expect_error(infer_custom(good$visits, setting, "kl", function(demonstrated, imitating) bad, c(alpha = 1)),
                          class = "ibrc_error_input")
    expect_identical(error$argument, "discrepancy")
  }
  for (bad in list(function(setting, theta) 1, function(setting, theta) stop("no"),
                   function(setting, theta) plan_agent(diag_setting(), bounded_agent(1)))) {
    error <- expect_error(infer_custom(good$visits, setting, bad, good$discrepancy, c(alpha = 1)),
                          class = "ibrc_error_input")
    expect_identical(error$argument, "planner")
  }
})

test_that("a price that is held is told", {
  setting <- with_seed(3, ranked_setting())
  shown <- policy(plan_kl(setting, 1))
  distance <- function(demonstrated, imitating) sum((policy(imitating) - demonstrated)^2)
  ask <- function(planner, start) infer_custom(shown, setting, planner, distance, start, starts = 1, seed = 1)
  for (planner in c("kl", "boltzmann")) {
    held <- ask(planner, c(discount = 0.5))
    expect_identical(held$details$alpha, 1)
    expect_match(held$notes, "`alpha` is 1", all = FALSE)
    expect_null(ask(planner, c(alpha = 2))$details$alpha)
  }
  expect_null(ask("mdp", c(discount = 0.5))$details$alpha)
})

test_that("visits are not kept", {
  setting <- with_seed(3, ranked_setting())
  data <- as.data.frame(ranked_visits(setting, 10))
  data$id <- paste0("secret", data$id)
  found <- infer_custom(trajectories(data), setting, "kl",
                        function(demonstrated, imitating) -sum(log_lik(imitating, demonstrated)), c(alpha = 1),
                        starts = 1, seed = 1)
  expect_false(any(grepl("secret", rawToChar(serialize(found, NULL, ascii = TRUE)))))
})
