test_that("a fit simulates agents drawn from its posterior, and can read what it simulated", {
  fit <- clinic_fit()
  drawn <- simulate(fit, nsim = 30, seed = 1, draws = 10)
  expect_s3_class(drawn, c("ibrc_trajectories", "data.frame"), exact = TRUE)
  expect_named(drawn, c("id", "time", "action", "observation", "clinic"))
  expect_identical(unique(drawn$id), 1:60)
  expect_identical(drawn$clinic, ifelse(drawn$id <= 30, "north", "south"))
  expect_true(all(is.finite(log_lik(fit, drawn, draws = 3))))
  expect_identical(simulate(fit, nsim = 30, seed = 1, draws = 10), drawn)
  expect_false(identical(simulate(fit, nsim = 30, seed = 2, draws = 10), drawn))
  # Clinics differ as those fitted did: with a high price of information trajectories are shorter.
  many <- simulate(fit, nsim = 300, seed = 3, draws = 10)
  length <- tapply(many$id, many$clinic, length)
  seen <- table(clinic_visits()$clinic)
  expect_lt(abs(length[["south"]] / length[["north"]] - seen[["south"]] / seen[["north"]]), 0.15)
})

test_that("trajectories are shared out among draws, and the generator is left as it was", {
  fit <- pooled_fit()
  stats::runif(1)
  before <- .Random.seed
  simulate(fit, 2, seed = 1, horizon = 2)
  expect_identical(.Random.seed, before)
  expect_identical(max(simulate(fit, 7, seed = 1, horizon = 3, draws = 2)$id), 7L)
  expect_lte(max(simulate(fit, 7, seed = 1, horizon = 3)$time), 2)
})

test_that("a mode simulates the agent at its estimates", {
  mode <- ibrc_mode(clinic_visits(), diag_setting(), diag_models(), ibrc_prior(alpha ~ lognormal(0, 1)),
                    resolution = 20, starts = 1, conf.level = NULL, seed = 1)
  expect_equal(as.data.frame(simulate(mode, 10, seed = 4)),
               as.data.frame(simulate(project_behavior(mode), 10, seed = 4)))
  expect_error(simulate(mode, 0), class = "ibrc_error_input")
  expect_error(simulate(mode, 2, environment = tiger_setting()), "`environment`", class = "ibrc_error_input")
})

test_that("labels of groups become columns again, whatever is in them", {
  values <- data.frame(
    clinic = c("north", "a, b", NA, "missing", "\"said\"", "north"), size = c(1, 2.5, NA, 1, 1 / 3, 7)
  )
  data <- cbind(data.frame(id = 1:6, time = 1, action = "monitor", observation = NA), values)
  read <- function(by) {
    visits <- trajectories(data, covariates = c("clinic", "size"))
    group_trajectories(visits, by, code_visits(visits, diag_setting()))
  }
  for (by in list("clinic", "size", c("clinic", "size"))) {
    group <- read(by)
    columns <- group_columns(levels(group), by)
    expect_named(columns, by)
    again <- trajectories(cbind(data.frame(id = seq_len(nlevels(group)), time = 1, action = "monitor",
                                           observation = NA), columns), covariates = by)
    expect_identical(as.character(group_trajectories(again, by, code_visits(again, diag_setting()), levels(group))),
                     levels(group))
  }
  # A fit may have been grouped by a column that has a name of ours.
  drawn <- as_group_visits(list(data[1:2, 1:4], data[1:3, 1:4]), c("1", "2"), "time", 3, NULL)
  expect_named(drawn, c("id", ".time", "action", "observation", "time"))
  expect_identical(attr(drawn, "roles")$time, ".time")
  expect_identical(drawn$time, c("1", "1", "2", "2", "2"))
})
