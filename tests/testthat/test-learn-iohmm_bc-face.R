truth <- known_clone(4)
visits <- simulate(truth, 150, seed = 1)
small <- function(...) fit_iohmm_bc(visits, 2, starts = 3, sort_by = "high", seed = 1, ...)
alone <- small()
together <- small(joint = TRUE)

test_that("what it simulates is what it predicts", {
  drawn <- simulate(together, 400, seed = 3, horizon = 4)
  expect_s3_class(drawn, "ibrc_trajectories")
  expect_identical(nrow(drawn), 1600L)
  law <- as.matrix(predict(together, drawn))
  shares <- table(drawn$action) / nrow(drawn)
  expect_lt(max(abs(colMeans(law) - shares)), 4 * 0.5 / sqrt(nrow(drawn)))
  expect_identical(max(simulate(together, 20, seed = 1)$time), 7L)
  stopped <- simulate(together, 50, seed = 1, stop_actions = "treat")
  last <- !duplicated(stopped$id, fromLast = TRUE)
  expect_false(any(stopped$action[!last] == "treat"))
  expect_identical(simulate(together, 5, seed = 2), simulate(together, 5, seed = 2, cores = 2))
})

test_that("what it takes to be impossible says nothing of the state", {
  odd <- visits[1:16, ]
  odd$action[2] <- "test"
  odd$observation[2] <- "none"
  blank <- odd
  blank$observation[2] <- NA
  expect_identical(predict(alone, odd), predict(alone, blank))
  # Only by what came before it.
  sure <- truth
  sure$start[] <- c(1, 0)
  sure$transition[] <- diag(2)
  sure$emission[, , "wait"] <- rbind(c(0, 1, 0), c(0, 0, 1))
  path <- trajectories(data.frame(id = 1, time = 1:3, action = factor("wait", truth$actions),
                                  observation = factor(c("high", "high", "low"), truth$observations)))
  expect_close(predict(sure, path)$wait, rep(predict(sure, path)$wait[1], 3), 1e-12)
})

test_that("it is told in tables, and keeps no identifier", {
  table <- tidy(alone)
  expect_named(table, c("parameter", "state", "action", "outcome", "estimate"))
  expect_identical(c(table(table$parameter)), c(centre = 6L, emission = 18L, sharpness = 1L, start = 2L,
                                                transition = 12L))
  row <- table[table$parameter == "centre" & table$action == "treat" & table$state == "state2", ]
  expect_identical(row$estimate, alone$centres["treat", "state2"])
  row <- subset(table, parameter == "emission" & state == "state1" & outcome == "low" & action == "test")
  expect_identical(row$estimate, alone$emission["state1", "low", "test"])
  expect_output(print(alone), "Behaviour by beliefs about 2 states, dynamics learned from what was seen")
  expect_output(print(together), "dynamics and rule learned together")
  named <- as.data.frame(visits)
  named$id <- paste0("person", named$id)
  model <- fit_iohmm_bc(trajectories(named), 2, starts = 2, seed = 1)
  expect_false(grepl("person", paste(deparse(unclass(model)), collapse = "")))
  expect_lt(as.numeric(utils::object.size(model)), 50000)
})
