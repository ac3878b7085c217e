coded_rows <- function(coded) {
  data.frame(trajectory = coded$trajectory, action = coded$action + 1, scored = coded$scored,
             observation = ifelse(coded$observation < 0, NA, coded$observation + 1))
}

test_that("the log posterior is its plain twin", {
  setting <- po_irl_clinic()
  visits <- po_irl_visits(12, seed = 1, horizon = 4)
  visits$observation[c(2, 9)] <- NA
  coded <- code_visits(visits, setting)
  rows <- coded_rows(coded)
  nothing <- po_irl_setting(setting, NULL, 0.9)
  held <- po_irl_task(nothing, coded, NULL, FALSE, 3, 5)
  theta <- with_seed(1, matrix(stats::rnorm(6), 3))
  found <- po_irl_density(held)(theta)
  for (i in 1:3) {
    twin <- c(twin_gain_density(theta[i, ], setting$transition, 0.9),
              twin_action_log_lik(setting, cbind(0, 3 * theta[i, ]), rows, 5))
    expect_lt(max(relative_gap(found[i, ], twin)), 1e-10)
  }
  iohmm <- fit_iohmm(visits, 2, starts = 2, prior = 0.5, seed = 1, actions = setting$actions,
                     observations = setting$observations, zeros = t(apply(setting$emission > 0, 2:3, any)))
  learned <- po_irl_setting(setting, iohmm, NULL)
  free <- po_irl_task(learned, coded, iohmm, TRUE, 3, 5)
  theta <- cbind(with_seed(2, matrix(stats::rnorm(3 * n_laws(free)), 3)), theta)
  found <- po_irl_density(free)(theta)
  for (i in 1:3) {
    parts <- twin_law_parts(free$codec, theta[i, seq_len(n_laws(free))], rows)
    learned[c("transition", "emission", "start")] <- parts$laws[c("transition", "emission", "start")]
    gains <- theta[i, n_laws(free) + 1:2]
    twin <- c(parts$prior + twin_gain_density(gains, learned$transition, 0.9),
              parts$seen + twin_action_log_lik(learned, cbind(0, 3 * gains), rows, 5))
    expect_lt(max(relative_gap(found[i, ], twin)), 1e-10)
    expect_lt(relative_gap(po_irl_law_density(free)(theta)[i], parts$prior + parts$seen), 1e-10)
  }
  # Laws that no double can tell from 0 have none.
  theta[2, 1] <- 800
  expect_identical(po_irl_law_density(free)(theta) == -Inf, c(FALSE, TRUE, FALSE))
})

test_that("tables that are shaped alike behave alike, and no others", {
  set.seed(3)
  for (k in 1:3) {
    setting <- random_setting(3, 3, 4, discount = 0.8)
    map <- shaping_map(setting$transition, setting$discount)
    reward <- matrix(stats::rnorm(9), 3)
    gains <- drop(map %*% as.vector(reward))
    expect_close(gains, twin_gains(reward, setting$transition, setting$discount), 1e-10)
    behaviour <- function(reward) {
      setting$utility[] <- reward
      setting["belief_utility"] <- list(NULL)
      plan_boltzmann(setting, 1, resolution = 8)$solution$policy
    }
    expect_close(behaviour(gains_table(gains, setting)), behaviour(reward), 1e-8)
    other <- draw_table(gains, map)
    expect_close(drop(map %*% other), gains, 1e-10)
    expect_gt(max(abs(other - as.vector(reward))), 0.1)
    expect_close(behaviour(matrix(other, 3)), behaviour(reward), 1e-8)
    expect_gt(max(abs(behaviour(reward + diag(3)) - behaviour(reward))), 1e-3)
  }
})

test_that("tables given gains of the prior are tables of the prior", {
  setting <- po_irl_clinic()
  map <- shaping_map(setting$transition, setting$discount)
  n <- 4000
  tables <- with_seed(4, replicate(n, draw_table(drop(map %*% stats::rnorm(4)), map)))
  expect_lt(max(abs(rowMeans(tables))), 4.5 / sqrt(n))
  expect_lt(max(abs(tables %*% t(tables) / n - diag(4))), 4.5 * sqrt(2 / n))
  # And the gains have the density that is claimed of them: its height at two points, by the normal law of map r.
  covariance <- tcrossprod(map)
  expect_close(log_gain_density(c(0, 0), map), -log(2 * pi) - log(det(covariance)) / 2, 1e-12)
})

test_that("chains begin about tops that were climbed to", {
  setting <- po_irl_setting(po_irl_clinic(), NULL, 0.9)
  visits <- po_irl_visits(60, seed = 2)
  task <- po_irl_task(setting, code_visits(visits, setting), NULL, FALSE, 5, 6)
  streams <- streams_from_seed(1, 3)
  tops <- po_irl_tops(task, streams)
  density <- po_irl_density(task)
  away <- 0.02 * rbind(c(1, 0), c(-1, 0), c(0, 1), c(0, -1))
  about <- rowSums(density(matrix(tops$centre, 4, 2, byrow = TRUE) + away))
  expect_true(all(about < tops$height))
  starts <- po_irl_starts(tops, density, streams)
  expect_true(all(rowSums(density(starts)) > tops$height - 10))
  expect_identical(anyDuplicated(starts), 0L)
  # What cannot be is no place to begin, nor to go.
  expect_identical(density(rbind(c(NaN, 0), c(0, 0)))[1, ], c(-Inf, -Inf))
})
