test_that("predictions are the twin's, in the order of the rows", {
  fit <- clinic_iohmm()
  visits <- clinic_iohmm_visits(6, 5, seed = 9)
  visits$observation[c(3, 8, 30)] <- NA
  # Patients' rows interleaved.
  mixed <- trajectories(as.data.frame(visits)[order(visits$time, visits$id), ])
  laws <- lapply(unclass(fit)[c("start", "transition", "emission")], unname)
  for (i in 1:6) {
    mine <- mixed$id == i
    path <- list(action = as.integer(mixed$action[mine]), observation = as.integer(mixed$observation[mine]))
    twin <- twin_iohmm_path(laws, path)
    expect_close(as.matrix(predict(fit, mixed)[mine, ]), t(twin$filter[, 1:5]))
    expect_close(as.matrix(predict(fit, mixed, when = "after")[mine, ]), t(twin$filter[, -1]))
    expect_close(as.matrix(predict(fit, mixed, "smooth")[mine, ]), t(twin$smooth[, 1:5]))
    expect_close(as.matrix(predict(fit, mixed, "smooth", "after")[mine, ]), t(twin$smooth[, -1]))
    chances <- predict(fit, mixed, "observation")[mine, ]
    expect_close(rowSums(chances), rep(1, 5), 1e-12)
    seen <- which(!is.na(path$observation))
    expect_close(as.matrix(chances)[cbind(seen, path$observation[seen])], twin$norm[seen])
  }
  expect_identical(names(predict(fit, mixed)), fit$states)
  expect_identical(names(predict(fit, mixed, "observation")), fit$observations)
  expect_identical(nrow(predict(fit)), fit$n_visits)
})

test_that("simulated observations follow the laws, for the actions given", {
  fit <- clinic_iohmm()
  drawn <- simulate(fit, nsim = 5, seed = 6, states = TRUE)
  expect_s3_class(drawn, "ibrc_trajectories")
  expect_identical(as.character(drawn$action[seq_len(3200)]), as.character(clinic_iohmm_visits()$action))
  shown <- table(drawn$state, drawn$observation, drawn$action)
  for (u in c("u1", "u2")) for (s in fit$states) {
    can <- fit$possible[u, ]
    expect_gt(stats::chisq.test(shown[s, can, u], p = fit$emission[s, can, u], rescale.p = TRUE)$p.value, 1e-4)
    expect_identical(sum(shown[s, !can, u]), 0L)
  }
  first <- table(drawn$state[drawn$time == 0], drawn$action[drawn$time == 0])
  for (u in c("u1", "u2")) {
    law <- as.vector(fit$start %*% fit$transition[, , u])
    expect_gt(stats::chisq.test(first[, u], p = law)$p.value, 1e-4)
  }
  expect_identical(as.data.frame(simulate(fit, seed = 6, nsim = 5, states = TRUE)), as.data.frame(drawn))
  gaps <- clinic_iohmm_visits(5, 3)
  gaps$observation[2] <- NA
  expect_identical(which(is.na(simulate(fit, seed = 1, visits = gaps)$observation)), 2L)
  expect_false(anyNA(simulate(fit, seed = 1, visits = gaps, missing = "fill")$observation))
})

test_that("with starts by group every visit is told from the start of its own", {
  laws <- with_seed(485, random_iohmm_laws(2))
  laws$start <- t(rbind(c(0.9, 0.1), c(0.2, 0.8), c(0.5, 0.5)))
  paths <- with_seed(486, random_paths(30, longest = 4))
  group <- rep_len(1:3, 30)
  visits <- paths_in_groups(paths, group)
  fit <- dressed_in_groups(laws)
  told <- predict(fit, visits)
  wanted <- do.call(rbind, Map(function(path, g) {
    t(twin_iohmm_path(twin_start(laws, g), path)$filter)[seq_along(path$action), , drop = FALSE]
  }, paths, group))
  expect_close(as.matrix(told), wanted, 1e-10)
  # What is drawn starts there, too, and can be learned from again.
  drawn <- simulate(fit, nsim = 300, seed = 1, visits = visits, missing = "fill", states = TRUE)
  expect_identical(drawn$age[1:4], as.character(as.data.frame(visits)$age)[1:4])
  first <- drawn[drawn$time == 0, ]
  seen <- tapply(first$state == "state1", ifelse(is.na(first$age), "missing", first$age), mean)
  began <- tapply(first$action, ifelse(is.na(first$age), "missing", first$age), function(u) mean(u == "u1"))
  for (g in 1:3) {
    name <- c("old", "young", "missing")[g]
    moved <- laws$start[, g] %*% laws$transition[, , 1]
    other <- laws$start[, g] %*% laws$transition[, , 2]
    expect_close(seen[[name]], began[[name]] * moved[1] + (1 - began[[name]]) * other[1], 0.03)
  }
  data <- as.data.frame(visits)
  data$age[data$id == 1] <- "somebody"
  e <- expect_error(predict(fit, trajectories(data, covariates = "age")), "start is not known",
                    class = "ibrc_error_input")
  expect_no_match(conditionMessage(e), "somebody")
  data$age <- NULL
  expect_error(predict(fit, trajectories(data)), "not a column", class = "ibrc_error_input")
})
