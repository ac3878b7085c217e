mixed_prior <- function() {
  ibrc_prior(
    alpha ~ lognormal(0, 2), optimism ~ normal(0, 1), eta ~ exponential(0.5, upper = 20),
    utility(healthy, monitor) ~ normal(0, 5, upper = 0), discount ~ uniform(0.8, 0.99)
  )
}

test_that("what is named is read from the formula", {
  prior <- mixed_prior()
  expect_s3_class(prior, "ibrc_prior")
  expect_named(prior, c("alpha", "optimism", "eta", "utility[healthy,monitor]", "discount"))
  expect_identical(prior$alpha[c("term", "distribution", "args", "lower", "upper", "scale")],
                   list(term = "alpha", distribution = "lognormal", args = c(meanlog = 0, sdlog = 2),
                        lower = 0, upper = Inf, scale = "log"))
  expect_identical(prior[[4]][c("state", "action")], list(state = "healthy", action = "monitor"))
  expect_identical(unname(vapply(prior, function(entry) entry$scale, "")),
                   c("log", "identity", "logit", "log", "logit"))
})

test_that("arguments go by name or in order and may use variables", {
  spread <- 2
  expect_identical(ibrc_prior(alpha ~ lognormal(sdlog = spread, 1))$alpha$args, c(meanlog = 1, sdlog = 2))
  # The formula's variables, wherever it is used.
  made <- local({
    spread <- 3
    alpha ~ lognormal(log(2), spread)
  })
  expect_identical(ibrc_prior(made)$alpha$args, c(meanlog = log(2), sdlog = 3))
  expect_identical(ibrc_prior(optimism ~ normal(0, 1, upper = spread))$optimism$upper, 2)
  same <- lapply(list(utility(healthy, monitor) ~ normal(0, 1), utility("healthy", "monitor") ~ normal(0, 1),
                      utility(state = healthy, action = "monitor") ~ normal(0, 1)), ibrc_prior)
  expect_identical(same[[1]], same[[2]])
  expect_identical(same[[1]], same[[3]])
  expect_named(ibrc_prior(utility("very ill", `wait, see`) ~ normal(0, 1)), "utility[very ill,wait, see]")
  expect_identical(do.call(ibrc_prior, list(alpha = alpha ~ exponential(1))),
                   ibrc_prior(alpha ~ exponential(1)))
})

test_that("nothing of the session is kept", {
  large <- numeric(1e5)
  expect_lt(length(serialize(mixed_prior(), NULL)), 10000)
})

test_that("flat priors are refused with the reason", {
  flat <- "flat as beta -> infinity and as eta -> 0.*improper"
  expect_refused(ibrc_prior(alpha ~ flat()), "alpha", flat)
  expect_refused(ibrc_prior(alpha ~ flat), "alpha", flat)
  expect_refused(ibrc_prior(alpha ~ NULL), "alpha", flat)
  expect_refused(ibrc_prior(alpha ~ uniform(0, Inf)), "alpha", flat)
  expect_refused(ibrc_prior(optimism ~ uniform(-Inf, 1)), "optimism", flat)
  expect_refused(ibrc_prior(optimism ~ normal(0, Inf)), "optimism", flat)
  expect_refused(ibrc_prior(optimism ~ student_t(3, 0, Inf)), "optimism", flat)
  expect_refused(ibrc_prior(alpha ~ lognormal(0, Inf)), "alpha", flat)
  expect_refused(ibrc_prior(eta ~ half_normal(Inf)), "eta", flat)
  expect_refused(ibrc_prior(eta ~ exponential(0)), "eta", flat)
  expect_refused(ibrc_prior(eta ~ gamma(0, 0)), "eta", flat)
  expect_refused(ibrc_prior(optimism ~ uniform(-1e308, 1e308)), "optimism", flat)
  expect_refused(ibrc_prior(NULL), "...", flat)
  expect_refused(validate_ibrc_prior(NULL, diag_setting()), "prior", flat)
})

test_that("what is no formula is refused", {
  expect_refused(ibrc_prior(), "...", "empty")
  expect_refused(ibrc_prior(1), "...", "argument 1 is 1")
  expect_refused(ibrc_prior(alpha ~ lognormal(0, 2), "eta"), "...", "argument 2")
  expect_refused(ibrc_prior(~ lognormal(0, 2)), "...", "left of each ~")
  expect_refused(ibrc_prior(alpha = no_such_distribution(0, 2)), "...", "must be formulas")
  expect_refused(ibrc_prior(alpha ~ lognormal(0, 2), ), "...", "must be formulas")
  expect_refused(validate_ibrc_prior(list()), "prior", "ibrc_prior")
})

test_that("unknown terms, distributions and arguments are refused", {
  expect_refused(ibrc_prior("gamma" ~ normal(0, 1)), "gamma", "not a term")
  expect_refused(ibrc_prior(setting ~ normal(0, 1)), "setting", "with other names")
  expect_refused(ibrc_prior(log(alpha) ~ normal(0, 1)), "log(alpha)", "not a term")
  expect_refused(ibrc_prior(utility ~ normal(0, 1)), "utility", "utility\\(state, action\\)")
  expect_refused(ibrc_prior(utility(healthy) ~ normal(0, 1)), "utility(healthy)", "one name of each")
  expect_refused(ibrc_prior(utility(healthy, ) ~ normal(0, 1)), "utility(healthy, )", "one name of each")
  expect_refused(ibrc_prior(utility(healthy, 2) ~ normal(0, 1)), "utility(healthy, 2)", "one name of each")
  expect_refused(ibrc_prior(utility(a = x, b = y) ~ normal(0, 1)), "utility(a = x, b = y)",
                 "one name of each")
  expect_refused(ibrc_prior(alpha ~ cauchy(0, 1)), "alpha", "unknown distribution \"cauchy\"")
  expect_refused(ibrc_prior(alpha ~ 1), "alpha", "unknown distribution")
  expect_refused(ibrc_prior(alpha ~ lognormal(mean = 0, 1)), "alpha", "unknown argument \"mean\"")
  expect_refused(ibrc_prior(alpha ~ lognormal(0, 1, 2)), "alpha", "bounds go by name")
  expect_refused(ibrc_prior(alpha ~ lognormal(0)), "alpha", "without \"sdlog\"")
  expect_refused(ibrc_prior(alpha ~ lognormal(0, )), "alpha", "without \"sdlog\"")
  expect_refused(ibrc_prior(alpha ~ lognormal), "alpha", "without \"meanlog\" and \"sdlog\"")
  expect_refused(ibrc_prior(alpha ~ lognormal(sdlog = 1, sdlog = 1)), "alpha", "twice")
})

test_that("a quantity has one prior", {
  expect_refused(ibrc_prior(eta ~ exponential(1), eta ~ exponential(2)), "eta", "more than one")
  expect_refused(ibrc_prior(utility(a, b) ~ normal(0, 1), utility("a", b) ~ normal(0, 2)), "utility[a,b]")
  expect_refused(ibrc_prior(flexibility ~ normal(0, 1), alpha ~ exponential(1)), "alpha", "same quantity")
  expect_refused(ibrc_prior(beta ~ exponential(1), optimism ~ normal(0, 1)), "beta", "same quantity")
  expect_refused(ibrc_prior(eta ~ exponential(1), adaptivity ~ normal(0, 1)), "eta", "same quantity")
})

test_that("terms stay where they have a meaning", {
  expect_refused(ibrc_prior(alpha ~ normal(0, 1)), "alpha", "flexibility")
  expect_refused(ibrc_prior(beta ~ student_t(3, 0, 1, lower = -1)), "beta", "optimism")
  expect_refused(ibrc_prior(eta ~ uniform(-1, 1)), "eta", "adaptivity")
  expect_refused(ibrc_prior(discount ~ normal(0.9, 0.1)), "discount", "from 0 to less than 1")
  expect_refused(ibrc_prior(discount ~ uniform(0.5, 1.1)), "discount", "from 0 to less than 1")
  expect_refused(ibrc_prior(discount ~ half_normal(1)), "discount", "from 0 to less than 1")
  expect_identical(ibrc_prior(beta ~ normal(0, 1, lower = 0))$beta$scale, "log")
  expect_identical(ibrc_prior(eta ~ uniform(0, 5))$eta$scale, "logit")
  expect_identical(ibrc_prior(discount ~ normal(0.9, 0.1, lower = 0, upper = 0.99))$discount$scale, "logit")
  expect_identical(ibrc_prior(adaptivity ~ normal(0, 1))$adaptivity$scale, "identity")
})

test_that("arguments that make no distribution are refused", {
  expect_refused(ibrc_prior(alpha ~ lognormal(0, -1)), "alpha", "`sdlog` .* greater than 0")
  expect_refused(ibrc_prior(optimism ~ normal(0, 0)), "optimism", "`sd` .* greater than 0")
  expect_refused(ibrc_prior(optimism ~ student_t(0, 0, 1)), "optimism", "`df` .* greater than 0")
  expect_refused(ibrc_prior(eta ~ gamma(1, -2)), "eta", "`rate` .* greater than 0")
  expect_refused(ibrc_prior(alpha ~ lognormal(Inf, 1)), "alpha", "not finite")
  expect_refused(ibrc_prior(eta ~ exponential(Inf)), "eta", "not finite")
  expect_refused(ibrc_prior(alpha ~ lognormal(NA, 1)), "alpha", "must be one number")
  expect_refused(ibrc_prior(alpha ~ lognormal("a", 1)), "alpha", "must be one number")
  expect_refused(ibrc_prior(alpha ~ lognormal(c(0, 1), 1)), "alpha", "must be one number")
  expect_refused(ibrc_prior(alpha ~ lognormal(no_such_variable, 1)), "alpha", "cannot be worked out")
  expect_refused(ibrc_prior(optimism ~ uniform(1, 1)), "optimism", "not below")
  expect_refused(ibrc_prior(optimism ~ normal(0, 1, lower = 2, upper = 1)), "optimism", "not below")
  expect_refused(ibrc_prior(alpha ~ lognormal(0, 1, lower = -1)), "alpha", "no probability")
  expect_refused(ibrc_prior(optimism ~ normal(0, 1, lower = 1e200)), "optimism", "no probability")
})

test_that("utility terms are entries of the setting", {
  setting <- diag_setting()
  expect_identical(validate_ibrc_prior(mixed_prior(), setting), mixed_prior())
  expect_refused(validate_ibrc_prior(ibrc_prior(utility(ill, monitor) ~ normal(0, 1)), setting),
                 "utility[ill,monitor]", "no state")
  expect_refused(validate_ibrc_prior(ibrc_prior(utility(healthy, wait) ~ normal(0, 1)), setting),
                 "utility[healthy,wait]", "no action")
})

test_that("log densities add up over terms and are never NaN", {
  prior <- mixed_prior()
  theta <- rbind(c(0.3, -1, 0.2, 1, 0.5), c(-2, 0, -3, -1, 2))
  x <- prior_natural(prior, theta)
  expect_identical(colnames(x), names(prior))
  # Each in base R, with its Jacobian written out.
  by_hand <- dnorm(theta[, 1], 0, 2, log = TRUE) + dnorm(theta[, 2], log = TRUE) +
    dexp(x[, 3], 0.5, log = TRUE) - pexp(20, 0.5, log.p = TRUE) + log(x[, 3] * (20 - x[, 3]) / 20) +
    dnorm(x[, 4], 0, 5, log = TRUE) - log(0.5) + log(-x[, 4]) +
    dlogis(theta[, 5], log = TRUE)
  expect_close(prior_log_density(prior, theta), by_hand, 1e-12)
  far <- matrix(rep(c(NaN, NA, -Inf, Inf, 1e4, 800, -1e308), each = 5), ncol = 5, byrow = TRUE)
  expect_silent(density <- prior_log_density(prior, far))
  expect_identical(density, rep(-Inf, 7))
  # An underflowing price is a point like any other; an overflowing one has no agent.
  alone <- ibrc_prior(alpha ~ lognormal(0, 2))
  expect_identical(prior_log_density(alone, matrix(c(-800, 800))), c(dnorm(-800, 0, 2, log = TRUE), -Inf))
  expect_identical(prior_log_density(alone, matrix(0, 0, 1)), numeric())
})

test_that("the sampler's shortcut through normal terms gives the same", {
  far <- matrix(rep(c(NaN, NA, -Inf, Inf, 1e4, 800, -1e308), each = 5), ncol = 5, byrow = TRUE)
  some <- ibrc_prior(alpha ~ lognormal(1, 2), beta ~ gamma(2, 1), eta ~ lognormal(0, 3))
  signed <- ibrc_prior(optimism ~ normal(0.5, 2), flexibility ~ lognormal(0, 1))
  expect_length(fast_terms(mixed_prior())$normal, 2)
  expect_length(fast_terms(some)$normal, 2)
  expect_length(fast_terms(signed)$normal, 2)
  for (prior in list(mixed_prior(), some, signed, ibrc_prior(alpha ~ gamma(2, 1)))) {
    theta <- rbind(with_seed(1, prior_draw(prior, 50)), far[, seq_along(prior), drop = FALSE])
    fast <- fast_terms(prior)
    expect_equal(fast_log_density(fast, theta), prior_log_density(prior, theta), tolerance = 1e-13)
    expect_identical(unname(fast_natural(fast, prior, theta)), unname(prior_natural(prior, theta)))
  }
})

test_that("the two scales are each other's inverse", {
  prior <- mixed_prior()
  theta <- with_seed(1, prior_draw(prior, 200))
  expect_identical(dim(theta), c(200L, 5L))
  expect_close(prior_unconstrain(prior, prior_natural(prior, theta)), theta, 1e-10)
})

test_that("draws follow the prior and its quantiles", {
  prior <- mixed_prior()
  theta <- with_seed(2, prior_draw(prior, 4000))
  expect_true(all(is.finite(prior_log_density(prior, theta))))
  x <- prior_natural(prior, theta)
  by_hand <- list(
    function(x) plnorm(x, 0, 2), pnorm, function(x) pexp(x, 0.5) / pexp(20, 0.5),
    function(x) 2 * pnorm(x, 0, 5), function(x) punif(x, 0.8, 0.99)
  )
  for (j in 1:5) expect_gt(stats::ks.test(x[, j], by_hand[[j]])$p.value, 0.001)
  p <- c(0.1, 0.5, 0.9)
  quantiles <- prior_quantile(prior, p)
  expect_identical(colnames(quantiles), names(prior))
  for (j in 1:5) expect_close(by_hand[[j]](quantiles[, j]), p, 1e-10)
  expect_equal(apply(theta, 2, sd) / prior_sd_unconstrained(prior), rep(1, 5), tolerance = 0.05,
               ignore_attr = TRUE)
  expect_identical(with_seed(2, prior_draw(prior, 4000)), theta)
})

test_that("the natural density is found by term", {
  prior <- mixed_prior()
  expect_close(prior_density(prior, "alpha", c(-1, 2)), c(0, dlnorm(2, 0, 2)), 1e-12)
  expect_close(prior_density(prior, "utility[healthy,monitor]", c(-3, 1)), c(2 * dnorm(-3, 0, 5), 0), 1e-12)
  expect_refused(prior_density(prior, "beta", 1), "term")
})

test_that("priors print one line per term", {
  wide <- 2
  expect_snapshot({
    mixed_prior()
    ibrc_prior(alpha ~ lognormal(0, wide))
    default_prior(diag_setting())
  })
})

test_that("names that tables of draws keep are refused", {
  expect_refused(ibrc_prior(.chain ~ beta(14, 6)), ".chain", "reserved name")
  expect_refused(ibrc_prior(alpha ~ lognormal(0, 1), .log_weight ~ normal(0, 1)), ".log_weight")
})
