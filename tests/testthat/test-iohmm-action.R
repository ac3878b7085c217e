test_that("actions are predicted by their shares in the states, as far as these are known before", {
  fit <- clinic_iohmm()
  visits <- clinic_iohmm_visits(6, 5, seed = 9)
  expect_identical(dimnames(fit$choices), list(from = fit$states, action = fit$actions))
  expect_close(sum(fit$choices), fit$n_visits, 1e-6)
  share <- (fit$choices + 0.5) / (rowSums(fit$choices) + 1)
  chances <- predict(fit, visits, type = "action")
  expect_close(as.matrix(chances), as.matrix(predict(fit, visits)) %*% share, 1e-12)
  expect_identical(as.matrix(predict(fit, visits, type = "action", when = "after")), as.matrix(chances))
  # Those of the fit are judged without names.
  expect_null(names(log_lik(fit)))
  expect_length(log_lik(fit), fit$n_trajectories)
})

test_that("actions that do not count move states, and are not among the choices", {
  data <- as.data.frame(clinic_iohmm_visits(40, 5, seed = 9))
  data$free <- data$time > 0
  learn <- function(scored) {
    fit_iohmm(trajectories(data, scored = scored), 2, starts = 2, seed = 1)
  }
  all <- learn(NULL)
  some <- learn("free")
  same <- c("start", "transition", "emission", "log_lik", "counts")
  expect_identical(unclass(some)[same], unclass(all)[same])
  expect_close(sum(some$choices), sum(data$free), 1e-6)
  # The same counts by the long way, where all of them count.
  all$coded$scored[1] <- FALSE
  by_hand <- expect_choices(all, all$coded)
  first <- predict(all, type = "smooth")[1, ]
  by_hand[, all$coded$action[1] + 1L] <- by_hand[, all$coded$action[1] + 1L] + as.numeric(first)
  expect_close(by_hand, all$choices, 1e-8)
})

test_that("the last action may be missing, and no other", {
  fit <- clinic_iohmm()
  data <- as.data.frame(clinic_iohmm_visits(6, 5, seed = 9))
  open <- data
  open$action[5] <- NA
  open <- suppressWarnings(trajectories(open))
  whole <- trajectories(data)
  for (type in c("filter", "action")) {
    expect_close(as.matrix(predict(fit, open, type = type)), as.matrix(predict(fit, whole, type = type)), 1e-12)
  }
  for (asked in list(predict(fit, open, type = "observation"), predict(fit, open, when = "after"))) {
    expect_identical(which(is.na(asked[, 1])), 5L)
  }
  expect_close(log_lik(fit, open)[-1], log_lik(fit, whole)[-1], 1e-12)
  expect_close(log_lik(fit, open)[1] + log(predict(fit, whole, type = "action")[5, as.integer(data$action[5])]),
               log_lik(fit, whole)[1], 1e-12)
  expect_error(simulate(fit, visits = open), "row 5", class = "ibrc_error_data")
  inside <- data
  inside$action[c(4, 7)] <- NA
  inside <- suppressWarnings(trajectories(inside))
  error <- expect_error(predict(fit, inside), "before the end", class = "ibrc_error_data")
  expect_identical(as.integer(error$rows), c(4L, 7L))
  expect_match(conditionMessage(error), "together with all later rows", fixed = TRUE)
  expect_error(fit_iohmm(inside, 2, starts = 1), "rows 4 and 7", class = "ibrc_error_data")
  # Learned from, such a visit says nothing.
  learn <- function(visits) fit_iohmm(visits, 2, starts = 2, seed = 1, actions = c("u1", "u2"))
  with_end <- learn(open)
  expect_identical(with_end[names(with_end) != "coded"], learn(whole[-5, ])[names(with_end) != "coded"])
  # But it keeps its place.
  expect_equal(predict(with_end, type = "action"), predict(with_end, open, type = "action"))
  expect_equal(log_lik(with_end), unname(log_lik(with_end, open)))
  expect_identical(nrow(simulate(with_end, seed = 1)), 29L)
  expect_identical(model_draws(with_end, 2, warmup = 2, seed = 1),
                   model_draws(learn(whole[-5, ]), 2, warmup = 2, seed = 1))
  alone <- rbind(data, data.frame(id = 99, time = 1, action = NA, observation = NA)[names(data)])
  alone <- suppressWarnings(trajectories(alone[c(31, 1:30), ]))
  with_alone <- learn(alone)
  expect_identical(nrow(predict(with_alone)), 31L)
  expect_identical(log_lik(with_alone), unname(log_lik(with_alone, alone)))
  expect_identical(log_lik(with_alone)[1], 0)
  expect_identical(with_alone$n_trajectories, 6L)
  nothing <- suppressWarnings(trajectories(data.frame(id = 1:2, time = 1, action = NA, observation = "x")))
  expect_error(fit_iohmm(nothing, 1), class = "ibrc_error_data")
})
