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
