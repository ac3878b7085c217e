# A joint fit whose chains are beyond reproach: normal laws and agents, a log density to go with them.
flawless_joint <- function(n = 400, chains = 4) {
  fit <- checked_ward("ward_fit")
  laws <- dimnames(fit$dynamics$draws)[[3]]
  terms <- dimnames(fit$draws$east)[[3]]
  with_seed(1, {
    fit$dynamics$draws <- array(stats::plogis(stats::rnorm(n * chains * length(laws))), c(n, chains, length(laws)),
                                list(NULL, NULL, laws))
    fit$draws <- lapply(fit$draws, function(draws) {
      array(exp(stats::rnorm(n * chains * 2)), c(n, chains, 2), list(NULL, NULL, terms))
    })
    density <- matrix(begun_at(fit, 1L) - stats::rchisq(n * chains, length(laws) + 4) / 2, n)
  })
  fit$log_posterior <- cbind(density, density)
  fit$run$chains <- chains
  fit
}

rows_of <- function(fit) joint_whole_rows(fit)
said <- function(rows) as.character(rows$verdict)

test_that("chains that agree in everything have seen all of the posterior, as far as can be told", {
  fit <- flawless_joint()
  rows <- rows_of(fit)
  expect_identical(said(rows), rep("ok", 3))
  expect_match(rows$seen[1], "R-hat up to 1[.]0")
  expect_true(are_settled(fit))
  # And it stands in the verdict, in the place of a caution that never went away.
  fit$checks <- rbind(rows, fit$checks[fit$checks$check != "whole", ])
  shown <- verdict(fit)
  expect_identical(said(shown[shown$check == "whole", ]), rep("ok", 3))
  own <- checked_ward("ward_fit")$checks
  expect_identical(own$asked[own$check == "whole"], rows$asked)
})

test_that("a law that did not mix is a caution that names it, whatever the agents do", {
  fit <- flawless_joint()
  fit$dynamics$draws[, 2, "emission[ill,neg,test]"] <- stats::plogis(
    stats::qlogis(fit$dynamics$draws[, 2, "emission[ill,neg,test]"]) + 3
  )
  rows <- rows_of(fit)
  expect_identical(said(rows), c("caution", "ok", "ok"))
  expect_match(rows$seen[1], "emission[ill,neg,test] has R-hat 1.", fixed = TRUE)
  expect_match(rows$advice[1], "extend_fit", fixed = TRUE)
  expect_true(all(tidy_draws(fit)$rhat < 1.01))
  expect_false(are_settled(fit))
  # R-hat can be fine where draws are few.
  slow <- flawless_joint()
  wave <- with_seed(2, replicate(4, as.vector(stats::arima.sim(list(ar = 0.97), 400))))
  slow$dynamics$draws[, , "start[well]"] <- stats::plogis(wave - rep(colMeans(wave), each = 400))
  rows <- rows_of(slow)
  expect_identical(said(rows)[1], "caution")
  expect_match(rows$seen[1], "start[", fixed = TRUE)
  still <- flawless_joint()
  still$dynamics$draws[, , "start[well]"] <- 0.3
  expect_match(rows_of(still)$seen[1], "never moves")
  few <- flawless_joint()
  few$dynamics$draws[, , "start[well]"] <- rep_len(c(0.3, 0.5, 0.5), 1600)
  expect_match(rows_of(few)$seen[1], "start.well. has R-hat [0-9.]+ and too few draws to tell more")
})

test_that("a chain that stays on another level is not to be used, and says so of every term", {
  fit <- flawless_joint()
  fit$log_posterior[, c(3, 7)] <- fit$log_posterior[, c(3, 7)] - 8
  rows <- rows_of(fit)
  expect_identical(said(rows), c("ok", "do not use", "ok"))
  expect_match(rows$seen[2], "chain 3 lies (7|8)[.0-9]* below the others")
  fit$checks <- rbind(rows, fit$checks[fit$checks$check != "whole", ])
  expect_identical(unique(identifiability(fit)$verdict), "unsettled")
  expect_identical(glance(fit)$verdict, "do not use")
  # Less than 2, or less than 4 errors, is chance.
  near <- flawless_joint()
  near$log_posterior[, c(3, 7)] <- near$log_posterior[, c(3, 7)] - 1.5
  expect_identical(said(rows_of(near))[2], "ok")
  rough <- flawless_joint(12)
  rough$log_posterior[, c(3, 7)] <- rough$log_posterior[, c(3, 7)] - 2.5
  expect_identical(said(suppressWarnings(rows_of(rough)))[2], "ok")
  # Of two chains the lower one; one that never moves has no error of its own.
  two <- flawless_joint(chains = 2)
  two$log_posterior[, c(2, 4)] <- -1000
  expect_match(rows_of(two)$seen[2], "chain 2 lies")
  one <- flawless_joint(chains = 1)
  expect_identical(said(rows_of(one))[2], "caution")
})

test_that("gaps between chains have the errors of either side", {
  density <- with_seed(1, matrix(stats::rnorm(4000), 1000))
  found <- chain_gaps(density)
  expect_close(found$gap[1], mean(density[, 1]) - mean(density[, 2:4]), 1e-12)
  expect_lt(max(abs(found$error / sqrt((1 + 1 / 3) / 1000) - 1)), 0.25)
})

test_that("draws that are all far below where the chains began are a caution", {
  fit <- flawless_joint()
  fit$log_posterior <- fit$log_posterior - 20
  rows <- rows_of(fit)
  expect_identical(said(rows), c("ok", "ok", "caution"))
  expect_match(rows$seen[3], "below where the chains began")
  # Where that is: the density at the points, worked out again.
  first <- ward_fit()
  inverse <- ward_inverse()
  evaluator <- joint_evaluator(inverse, first$dynamics$tree, 3, 1L)
  theta <- prior_unconstrain(evaluator$prior, first$start)
  points <- rbind(theta, colMeans(theta))
  by_hand <- vapply(1:3, function(i) joint_by_hand(evaluator, inverse$histories, points[i, ]), 0) +
    prior_log_density(evaluator$prior, points)
  expect_close(begun_at(first, 1L), max(by_hand), 1e-6)
})

test_that("under draws of the dynamics, the profile of each is pooled and held against the chains", {
  fit <- ward_cut()
  streams <- streams_from_seed(1, 2)
  problems <- problems_of_cut(fit)
  setting <- plan_of_draw(fit, "west", 130)$setting
  expect_close(problems[[3]]$setting$emission, setting$emission, 1e-9)
  # In the place of its draws, as many from where the posteriors are.
  short <- fit
  fit$draws <- lapply(fit$draws, function(draws) array(0, c(200, 6, 2), dimnames(draws)))
  for (g in 1:2) for (k in 1:3) {
    one <- fit_of_draw(short, problems[[k]], k)
    surface <- new_surface(inverse_evaluator(one), g, with_prior = TRUE)
    opinion <- second_opinion(surface, profile_pool(one, g), streams[[g]])
    drawn <- with_seed(k, opinion$draws[sample.int(1000, 400, TRUE, opinion$weight), ])
    fit$draws[[g]][, 2 * k - 1:0, ] <- array(prior_natural(fit$prior, drawn), c(200, 2, 2))
  }
  fit$dynamics$draws <- fit$dynamics$draws[rep(1, 200), , ]
  rows <- cut_whole_rows(fit, streams, 1L)
  expect_identical(rows$term, rep(c("alpha", "optimism"), 2))
  expect_identical(said(rows), rep("ok", 4))
  short <- fit
  short$draws$west[, , "optimism"] <- stats::median(fit$draws$west[, , "optimism"]) +
    0.3 * (fit$draws$west[, , "optimism"] - stats::median(fit$draws$west[, , "optimism"]))
  found <- cut_whole_rows(short, streams, 1L)
  expect_identical(said(found), c("ok", "ok", "ok", "do not use"))
  expect_match(found$advice[4], "Fit again with iter = 240", fixed = TRUE)
  expect_false(any(grepl("extend_fit", verdict(checked_ward("ward_cut"))$advice)))
})

test_that("what lies between draws of the dynamics is told", {
  fit <- ward_cut()
  fit$draws <- lapply(fit$draws, function(draws) {
    array(with_seed(1, stats::rnorm(length(draws))), dim(draws), dimnames(draws))
  })
  expect_identical(said(between_row(fit)), "ok")
  # Means of chains that have the same law differ by chance, which is not counted.
  x <- fit$draws$east[, , "alpha"]
  of_draw <- list(x[, 1:2], x[, 3:4], x[, 5:6])
  chance <- mean(vapply(of_draw, function(one) suppressWarnings(posterior::mcse_mean(one)), 0)^2)
  expect_gt(chance, 0)
  expect_equal(cut_variance(fit)$between[1], max(0, stats::var(vapply(of_draw, mean, 0)) - chance))
  shift <- rep(c(-2, 0, 2), each = 2)
  fit$draws$west[, , "optimism"] <- fit$draws$west[, , "optimism"] + rep(shift, each = dim(fit$draws$west)[1])
  row <- between_row(fit)
  expect_identical(said(row), "caution")
  # A variance of 4 between and of 1 within.
  expect_match(row$seen, "3 draws, between which (79|80|81)% of the variance of optimism [(]west[)] lies")
  expect_match(row$advice, "about 0.5 standard deviations", fixed = TRUE)
  fit$dynamics$effective <- 1.2
  expect_match(between_row(fit)$seen, "3 draws worth 1 independent one")
})

test_that("each draw that is moved has its own laws", {
  for (fit in list(checked_ward("ward_fit"), checked_ward("ward_cut"))) {
    chosen <- moving_draws(fit)
    evaluator <- at_own_laws(inverse_evaluator(fit), fit)
    each <- log_lik(fit, nrow(chosen))
    for (g in 1:2) {
      theta <- prior_unconstrain(fit$prior, flat_draws(fit$draws[[g]])[chosen$.draw, ])
      expect_close(log_likelihood_at(evaluator, theta, g), rowSums(each[, fit$trajectory_group == g]), 1e-5)
    }
    rows <- fit$checks[grepl("twice the resolution", fit$checks$seen), ]
    expect_identical(rows$group, c("east", "west"))
  }
})

test_that("means move by the weights of draws, under laws that are shared or held", {
  x <- with_seed(1, cbind(stats::rnorm(2000), stats::rnorm(2000)))
  expect_close(moved_mean(x, 0.5 * x[, 1]), c(0.5, 0), 0.1)
  # Where hardly a draw would count, as if it were a straight line.
  expect_close(moved_mean(x, 10 * x[, 1]), 10 * stats::cov(x, x[, 1]), 1e-9)
  # What changes in the one group moves the other, with the laws; not where each draw of the dynamics is held.
  tied <- flawless_joint()
  tied$draws$west[, , 1] <- tied$draws$east[, , 1]
  change <- function(theta, g) if (g == 1) 0.3 * theta[, 1] else numeric(nrow(theta))
  moved <- moves_with_laws(tied, change)
  expect_close(moved[[2]]$moved[1], moved[[1]]$moved[1], 1e-12)
  expect_gt(moved[[2]]$moved[1], 0.15)
  held <- ward_cut()
  held$draws$west[, , 1] <- held$draws$east[, , 1]
  moved <- moves_with_laws(held, change)
  expect_close(moved[[2]]$moved, c(0, 0), 1e-12)
  expect_gt(moved[[1]]$moved[1], 0)
})
