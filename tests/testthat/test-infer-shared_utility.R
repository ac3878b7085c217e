# The same utility in a random setting.
wanting <- function(utility, discount = 0.9, zeros = 0.2) {
  setting <- random_markov(nrow(utility), ncol(utility), discount, zeros)
  setting$utility[] <- utility
  setting
}

# Two groups, each of which starts in a state of its own.
grouped_setting <- function(setting) {
  decision_setting(setting$states, setting$actions, setting$observations, setting$transition, "identity",
                   setting$utility, discount = setting$discount, start_by = "age",
                   start = rbind(old = c(1, 0, 0), young = c(0, 1, 0)))
}

soft_plans <- function(settings, alpha = 0.5) {
  lapply(settings, plan_agent, agent = bounded_agent(alpha = alpha), tolerance = 1e-11)
}

centred <- function(utility) as.vector(utility) - mean(utility)

test_that("two discounts, or two dynamics, give the utility up to a constant; one setting does not", {
  with_seed(1, for (discount in c(0, 0.3, 0.9)) for (differ in c("discount", "dynamics")) {
    utility <- matrix(stats::rnorm(15), 5)
    one <- wanting(utility, discount)
    two <- if (differ == "discount") one else wanting(utility, if (discount == 0) 0.5 else discount)
    if (differ == "discount") two$discount <- 0.8
    settings <- list(one = one, two = two)
    plans <- soft_plans(settings)
    inferred <- infer_shared_utility(plans, settings, alpha = 0.5)
    expect_lt(max(abs(tidy(inferred)$estimate - centred(utility))), 1e-8)
    told <- glance(inferred)
    expect_true(told$identified)
    expect_identical(as.integer(told$rank), 14L)
    expect_true(told$identification > 0 && told$identification <= 1)
    expect_match(inferred$notes, "identified up to a constant: estimates have mean 0", all = FALSE)
    expect_false("std.error" %in% names(tidy(inferred)))
    alone <- infer_shared_utility(plans[1], settings[1], alpha = 0.5)
    expect_false(glance(alone)$identified)
    expect_identical(glance(alone)$identification, 0)
    expect_match(alone$notes, "not identified up to a constant: besides it, 4 directions are free", all = FALSE)
    expect_equal(policy(project_behavior(alone)[[1]]), policy(plans[[1]]), tolerance = 1e-7)
  })
})

test_that("dynamics in which no action makes a difference do not identify it", {
  with_seed(2, {
    utility <- matrix(stats::rnorm(6), 3)
    one <- wanting(utility, 0.5)
    one$transition[, , 2] <- one$transition[, , 1]
    two <- one
    two$discount <- 0.9
    settings <- list(one, two)
    inferred <- infer_shared_utility(soft_plans(settings), settings, alpha = 0.5)
    expect_false(glance(inferred)$identified)
    expect_match(inferred$notes, "not identified", all = FALSE)
  })
})

test_that("alpha may differ between settings, and sets the unit", {
  with_seed(3, {
    utility <- matrix(stats::rnorm(8), 4)
    settings <- list(wanting(utility, 0.5), wanting(utility, 0.9))
    plans <- Map(function(setting, alpha) plan_agent(setting, bounded_agent(alpha = alpha), tolerance = 1e-11),
                 settings, c(0.4, 2))
    inferred <- infer_shared_utility(plans, settings, alpha = c(0.4, 2))
    expect_lt(max(abs(tidy(inferred)$estimate - centred(utility))), 1e-8)
    for (unit in c(1e-6, 1e6)) {
      other <- infer_shared_utility(plans, settings, alpha = unit * c(0.4, 2))
      expect_equal(tidy(other)$estimate / unit, tidy(inferred)$estimate, tolerance = 1e-8)
    }
  })
})

test_that("of visits, estimates are about as far off as their standard errors say", {
  with_seed(4, {
    utility <- matrix(stats::rnorm(6), 3)
    settings <- list(wanting(utility, 0.2, 0), wanting(utility, 0.8, 0))
    for (i in 1:2) settings[[i]]$start[] <- c(1, 0, 0)
    plans <- soft_plans(settings, 1)
    z <- vapply(1:20, function(seed) {
      visits <- Map(function(plan, i) simulate(plan, nsim = 100, horizon = 15, seed = 2 * seed + i), plans, 1:2)
      inferred <- tidy(infer_shared_utility(visits, settings))
      (inferred$estimate - centred(utility)) / inferred$std.error
    }, numeric(6))
    expect_true(all(is.finite(z)))
    expect_lt(max(abs(z)), 5)
    expect_lt(max(abs(rowMeans(z))), 1)
    expect_true(sqrt(mean(z^2)) > 0.6 && sqrt(mean(z^2)) < 1.5)
    visits <- lapply(plans, simulate, nsim = 100, horizon = 15, seed = 1)
    one <- infer_shared_utility(visits[1], settings[1])
    expect_true(all(is.na(tidy(one)$std.error)))
    expect_true(all(is.finite(tidy(one)$estimate)))
  })
})

test_that("the slope and the information of the likelihood are those of finite differences", {
  with_seed(5, {
    utility <- matrix(stats::rnorm(6), 3)
    markovs <- list(as_markov(wanting(utility, 0.3)), as_markov(wanting(utility, 0.9)))
    counts <- list(matrix(stats::rpois(6, 5), 3), matrix(stats::rpois(6, 5), 3))
    at <- shared_likelihood(as.vector(utility), counts, markovs, c(0.5, 2))
    slope <- vapply(1:6, function(k) {
      by <- 1e-5 * (1:6 == k)
      high <- shared_likelihood(as.vector(utility) + by, counts, markovs, c(0.5, 2))$value
      (high - shared_likelihood(as.vector(utility) - by, counts, markovs, c(0.5, 2))$value) / 2e-5
    }, 0)
    expect_equal(at$score, slope, tolerance = 1e-6)
    expect_gt(min(eigen(at$information, symmetric = TRUE)$values), -1e-9)
  })
})

test_that("standard errors are those of the information along utilities of mean 0", {
  with_seed(9, {
    utility <- matrix(stats::rnorm(6), 3)
    settings <- list(wanting(utility, 0.2, 0), wanting(utility, 0.8, 0))
    for (i in 1:2) settings[[i]]$start[] <- c(1, 0, 0)
    visits <- lapply(soft_plans(settings, 1), simulate, nsim = 60, horizon = 10, seed = 1)
    inferred <- infer_shared_utility(visits, settings, smoothing = 0.5)
    counts <- Map(function(seen, setting) unname(demonstrated(seen, setting)$counts) + 0.5, visits, settings)
    # The expected curvature by differences of log policies, in contrasts that leave the constant out.
    at <- tidy(inferred)$estimate
    log_policy <- function(worth, i) {
      settings[[i]]$utility[] <- worth
      log(unname(policy(plan_kl(settings[[i]], 1, tolerance = 1e-12))))
    }
    contrast <- stats::contr.helmert(6)
    information <- matrix(0, 5, 5)
    for (i in 1:2) {
      slope <- vapply(1:5, function(k) {
        as.vector(log_policy(at + 1e-4 * contrast[, k], i) - log_policy(at - 1e-4 * contrast[, k], i)) / 2e-4
      }, numeric(6))
      met <- as.vector(rowSums(counts[[i]]) * exp(log_policy(at, i)))
      information <- information + crossprod(slope, met * slope)
    }
    spread <- sqrt(diag(contrast %*% solve(information, t(contrast))))
    expect_equal(tidy(inferred)$std.error, unname(spread), tolerance = 1e-4)
  })
})

test_that("however large or small alpha is, it only sets the unit", {
  settings <- with_seed(7, list(wanting(matrix(0, 3, 2), 0.5), wanting(matrix(0, 3, 2), 0.9)))
  visits <- lapply(settings, function(setting) simulate(plan_kl(setting, alpha = 1), 60, seed = 3, horizon = 5))
  once <- infer_shared_utility(visits, settings)
  for (unit in c(1e-100, 1e100)) {
    again <- infer_shared_utility(visits, settings, alpha = unit)
    expect_equal(tidy(again)$estimate / unit, tidy(once)$estimate, tolerance = 1e-6)
    expect_equal(tidy(again)$std.error / unit, tidy(once)$std.error, tolerance = 1e-6)
  }
})

test_that("states in which nobody was seen are said", {
  with_seed(6, {
    utility <- matrix(stats::rnorm(8), 4)
    settings <- list(wanting(utility, 0.5), wanting(utility, 0.9))
    shown <- lapply(soft_plans(settings), policy)
    shown[[2]][3, ] <- NA
    inferred <- infer_shared_utility(shown, settings, alpha = 0.5)
    expect_match(inferred$notes, "1 state (s3) nobody was seen", fixed = TRUE, all = FALSE)
    expect_true(all(is.finite(tidy(inferred)$estimate)))
    # Those that were seen say what is wanted, as far as they say anything.
    expect_lt(glance(inferred)$objective, 1e-12)
  })
})

test_that("groups that start differently are answered", {
  with_seed(10, {
    utility <- matrix(stats::rnorm(6), 3)
    settings <- lapply(c(0.2, 0.8), function(discount) grouped_setting(wanting(utility, discount, 0)))
    plans <- soft_plans(settings)
    inferred <- infer_shared_utility(plans, settings, alpha = 0.5)
    expect_lt(max(abs(tidy(inferred)$estimate - centred(utility))), 1e-8)
    visits <- lapply(plans, simulate, nsim = 50, horizon = 10, seed = 1)
    seen <- infer_shared_utility(visits, settings, alpha = 0.5)
    expect_true(all(is.finite(tidy(seen)$std.error)))
    # Every first state is known.
    expect_identical(seen$details$left_out, c(0L, 0L))
  })
})

test_that("bad arguments are refused, and named", {
  utility <- matrix(0, 3, 2)
  settings <- with_seed(7, list(wanting(utility, 0.5), wanting(utility, 0.9)))
  shown <- with_seed(8, list(random_rows(3, 2), random_rows(3, 2)))
  refused <- function(code, argument) expect_error(code, argument, class = "ibrc_error_input")
  refused(infer_shared_utility(), "visits")
  refused(infer_shared_utility(shown), "settings")
  for (bad in list(NULL, NA, "x", shown[[1]], shown[1], list(), list(1, 2), list("x", "y"), list(NULL, NULL), mean)) {
    refused(infer_shared_utility(bad, settings), "visits")
  }
  refused(infer_shared_utility(list(shown[[1]], always(c(1, 2, 1))), settings), "never taken")
  for (bad in list(NULL, NA, "x", list(), mean, 1, settings[[1]], list(settings[[1]], 1))) {
    refused(infer_shared_utility(shown, bad), "settings")
  }
  refused(infer_shared_utility(shown, list(settings[[1]], with_seed(9, random_markov(4, 2)))), "settings")
  refused(infer_shared_utility(shown, list(diag_setting(), diag_setting())), "state is seen")
  for (bad in list(NULL, NA, "x", -1, 0, Inf, 1:3, list(), mean, c(1, 0), 1e160, 1e-300, c(1, 1e7))) {
    refused(infer_shared_utility(shown, settings, alpha = bad), "alpha")
  }
  for (bad in list(NULL, NA, "x", -1, Inf, 1:2, list(), mean)) {
    refused(infer_shared_utility(shown, settings, smoothing = bad), "smoothing")
  }
  visits <- simulate(plan_agent(settings[[1]], bounded_agent()), nsim = 5, horizon = 5, seed = 1)
  refused(infer_shared_utility(list(visits, shown[[2]]), settings), "visits")
})
