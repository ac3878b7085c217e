test_that("draws of the laws are shown beside those of the agents", {
  fit <- ward_fit()
  table <- tidy(fit, "dynamics")
  expect_identical(tidy(fit, what = "dynamics"), table)
  expect_true(all(c("transition[ill,well]", "emission[well,neg,test]") %in% table$term))
  expect_true(all(table$conf.low <= table$estimate & table$estimate <= table$conf.high))
  expect_close(table$learned[table$term == "start[well]"], ward_iohmm(transitions = "shared")$start[["well"]], 1e-12)
  # Impossible and certain ones are none.
  expect_false("emission[well,neg,wait]" %in% table$term)
  variables <- posterior::variables(posterior::as_draws_array(fit))
  expect_true(all(c("alpha[east]", "transition[ill,well]") %in% variables))
  expect_identical(tidy(fit)$term, c("alpha", "optimism", "alpha", "optimism"))
  expect_refused(tidy(clinic_fit(), "dynamics"), "what", "whose dynamics were inferred")
  expect_refused(tidy(fit, "agent"), "what")
})

test_that("laws carry the verdict", {
  fit <- ward_fit()
  table <- tidy(fit, "dynamics")
  expect_identical(unique(table$verdict), "do not use")
  said <- function(fit, ...) {
    rows <- verdict_rows(c("settled", "identified", "behaves", "assumed"), "seen", "asked", c(...), "Do this.",
                         term = c("alpha", "alpha", NA, NA), group = c("west", "west", "east", NA))
    local_replacement("standing_verdict", function(fit) rows, environment())
    unique(tidy(fit, "dynamics")$verdict)
  }
  # Chains move laws and agents together, and every group speaks about the laws.
  expect_identical(said(fit, "do not use", "ok", "ok", "ok"), "do not use")
  expect_identical(said(fit, "ok", "ok", "do not use", "ok"), "do not use")
  expect_identical(said(fit, "ok", "ok", "ok", "caution"), "caution")
  # What the data say of one agent's term is no matter of the laws.
  expect_identical(said(fit, "ok", "do not use", "ok", "ok"), "ok")
  # Drawn beforehand, they know nothing of the agents.
  expect_identical(said(ward_cut(), "do not use", "do not use", "do not use", "ok"), "ok")
  expect_identical(said(ward_cut(), "ok", "ok", "ok", "caution"), "caution")
})

test_that("laws are printed as probabilities, however small, and kept as they are", {
  table <- tidy(ward_fit(), "dynamics")
  table$learned[1:2] <- c(2.841029e-28, 0)
  shown <- capture.output(print(table))
  expect_false(any(grepl("[0-9]e-", shown)))
  expect_match(grep("start[well]", shown, fixed = TRUE, value = TRUE)[1], " < 0.001 ", fixed = TRUE)
  expect_match(grep("start[ill]", shown, fixed = TRUE, value = TRUE)[1], " 0.000 ", fixed = TRUE)
  expect_match(shown[1], "^ *term estimate conf.low conf.high learned +verdict")
  expect_identical(table$learned[1], 2.841029e-28)
  expect_s3_class(as.data.frame(table), "data.frame", exact = TRUE)
  # What is left of a table is printed, too.
  expect_output(print(table[3, c("term", "rhat")]), "transition[well,well]", fixed = TRUE)
  expect_refused(print(table, digits = 0), "digits")
})

test_that("each draw is planned for with its own dynamics", {
  fit <- ward_fit()
  one <- draws_at(fit, 5L)
  natural <- draw_natural(fit, "west", one$.iteration, one$.chain)
  codec <- fit$recipe$codec
  laws <- dynamics_at(codec, vectors_of(codec, natural[, names(codec$prior), drop = FALSE])[1, ])
  setting <- clinic_of(laws)
  agent <- bounded_agent(natural[, "alpha"], optimism = natural[, "optimism"])
  plan <- plan_agent(setting, agent, clinic_step(setting), 6)
  found <- read_draws(fit, 2, one, function(plan) plan$solution$value)[[1]]
  expect_close(found, plan$solution$value, 1e-6)
  expect_identical(dim(log_lik(fit, draws = 3)), c(3L, 60L))
  shown <- predict(fit, ward_visits(), draws = 2)
  expect_close(shown$wait + shown$test, rep(1, nrow(shown)), 1e-9)
  # At the medians of laws and agents.
  middle <- project_behavior(fit)$east
  expect_close(middle$setting$start[["well"]], stats::median(fit$dynamics$draws[, , "start[well]"]), 1e-9)
  expect_true(all(is.finite(belief_paths(fit, ward_visits())$.probability)))
})

test_that("a fit with its dynamics says so, and counts states that change places", {
  fit <- ward_fit()
  shown <- verdict(fit)
  expect_match(grep("^dynamics", shown$seen, value = TRUE), "inferred together with the agents")
  expect_false(any(grepl("could not be looked at", shown$seen)))
  expect_output(print(fit), "optimism")
  expect_identical(fit$dynamics$swapped, 0)
  swapped <- fit
  first <- dynamics_at(fit$recipe$codec, vectors_of(fit$recipe$codec, matrix(fit$recipe$at, 1))[1, ])
  first$emission[] <- first$emission[2:1, , ]
  swapped$dynamics$draws[1, 1, ] <- fractions_of(fit$recipe$codec, first)
  expect_gt(swapped_draws(swapped), 0)
  # So they are where nothing was sorted by: by what learned states show.
  swapped$recipe$codec$iohmm["scores"] <- list(NULL)
  expect_equal(swapped_draws(swapped), 1 / prod(dim(swapped$dynamics$draws)[1:2]))
  swapped$dynamics$swapped <- swapped_draws(swapped)
  expect_identical(as.character(inferred_rows(swapped)$verdict), "do not use")
  unlooked <- fit
  unlooked$dynamics$swapped <- NA_real_
  # What earlier versions did not count is not said to be well.
  expect_identical(as.character(inferred_rows(unlooked)$verdict), "caution")
  expect_warning(warn_swapped(swapped), "another order by what they show:", class = "ibrc_warning_states")
  fit$recipe$codec$iohmm["scores"] <- list(NULL)
  expect_identical(swapped_draws(fit), 0)
})

test_that("predictions, likelihoods and replicates average over plans with the dynamics of each draw", {
  visits <- ward_part("west")
  for (fit in list(ward_fit(), ward_cut())) {
    chosen <- spaced_draws(fit, 6)
    plans <- lapply(chosen$.draw, function(draw) plan_of_draw(fit, "west", draw))
    law <- Reduce(`+`, lapply(plans, function(plan) as.matrix(predict(plan, visits)))) / 6
    expect_close(as.matrix(predict(fit, visits, draws = 6)), law, 1e-6)
    expect_close(predict(fit, visits, draws = 6, summary = FALSE)[4, , ], as.matrix(predict(plans[[4]], visits)), 1e-6)
    expect_close(log_lik(fit, 6, newdata = visits), t(vapply(plans, log_lik, numeric(30), visits)), 1e-5)
    # What happens to those that are simulated follows the laws of their draw, too.
    made <- posterior_predict(fit, draws = 6, seed = 1, horizon = 3)
    begin <- with_seed(1, {
      lapply(chosen$.draw, function(draw) {
        replicate_visits(plan_of_draw(fit, "east", draw), rep(3, 30))
      })
    })
    expect_identical(made$observation[made$group == "east"], do.call(rbind, begin)$observation)
  }
})

test_that("draws of the dynamics that were made beforehand have no R-hat", {
  table <- tidy(ward_cut(), "dynamics")
  expect_true(all(is.na(unlist(table[c("rhat", "ess_bulk", "ess_tail")]))))
  expect_identical(rownames(table), as.character(seq_len(nrow(table))))
  # Those of the agents are told under each of them: the worst, and the sum.
  fit <- ward_cut()
  alpha <- fit$draws$west[, , "alpha"]
  expected <- vapply(1:3, function(k) posterior::rhat(alpha[, 2 * k - 1:0]), 0)
  expect_equal(tidy(fit)$rhat[3], max(expected), tolerance = 1e-12)
  worth <- vapply(1:3, function(k) posterior::ess_bulk(alpha[, 2 * k - 1:0]), 0)
  expect_equal(tidy(fit)$ess_bulk[3], sum(worth), tolerance = 1e-12)
  expect_identical(dynamics_of_chain(fit, 1:6), rep(1:3, each = 2))
})
