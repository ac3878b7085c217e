test_that("the joint density is that of what was seen and what was done, worked out one by one", {
  for (setting in list(clinic_of, function(dynamics, bonus = 2) {
    # Wants something else where the dynamics differ: it has to be asked every time.
    out <- clinic_of(dynamics, bonus)
    out$utility <- out$utility * 1
    out
  })) {
    inverse <- ward_inverse(setting = setting)
    evaluator <- joint_evaluator(inverse, dynamics_tree(ward_iohmm(transitions = "shared")), 3, 1L)
    codec <- inverse$recipe$codec
    centre <- c(stats::qlogis(codec$estimate), log(0.5), 0.5, log(0.7), 0)
    theta <- with_seed(1, matrix(centre, 3, length(centre), byrow = TRUE) + stats::rnorm(3 * length(centre), sd = 0.2))
    found <- evaluate_joint(evaluator, theta, matrix(0, 14, 3))
    expect_close(found$log_likelihood, vapply(1:3, function(i) {
      joint_by_hand(evaluator, inverse$histories, theta[i, ])
    }, 0), 1e-7)
    expect_close(found$log_prior, prior_log_density(evaluator$prior, theta), 1e-8)
    # Alone, with threads, and beside one that cannot be.
    theta[2, 1] <- 1e4
    again <- evaluate_joint(replace(evaluator, "cores", list(2L)), theta, found$value)
    expect_identical(again$log_prior[2], -Inf)
    expect_identical(again$log_likelihood[2], -Inf)
    expect_identical(again$value[, 2], found$value[, 2])
    expect_close(again$log_likelihood[-2], found$log_likelihood[-2], 1e-7)
  }
})

test_that("a setting that does more than hold the laws is not taken for one that does not", {
  bent <- function(dynamics) {
    out <- clinic_of(dynamics)
    out$utility[, "test"] <- -1 - dynamics$emission[1, 1, 1]
    out
  }
  expect_true(ward_inverse(setting = clinic_of(ward_iohmm(transitions = "shared")))$recipe$plain)
  inverse <- ward_inverse(setting = bent)
  expect_false(inverse$recipe$plain)
  natural <- cbind(alpha = 0.5, optimism = 0)
  expect_close(plan_at(inverse, natural)$setting$utility[1, "test"],
               -1 - ward_iohmm(transitions = "shared")$emission[1, 1, 1], 1e-9)
})

test_that("the climb ends on a top, and chains begin about it", {
  inverse <- ward_inverse(by = NULL)
  evaluator <- joint_evaluator(inverse, dynamics_tree(ward_iohmm(transitions = "shared")), 4, 1L)
  top <- joint_top(evaluator, inverse, streams_from_seed(1, 1))
  at <- function(theta) {
    found <- evaluate_joint(evaluator, theta, matrix(0, 7, nrow(theta)))
    found$log_prior + found$log_likelihood
  }
  size <- length(top$theta)
  around <- with_seed(2, matrix(top$theta, 10, size, byrow = TRUE) + stats::rnorm(10 * size) / 5)
  expect_true(all(at(around) < top$density + 0.1))
  expect_true(all(eigen(top$covariance)$values > 0))
  first <- joint_start(evaluator, top, 4, streams_from_seed(2, 1)[[1]])
  expect_true(all(rowSums(first$log_density) > top$density - 60))
  expect_identical(colnames(first$theta), names(evaluator$prior))
})
