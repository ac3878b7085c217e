setting <- diag_setting()
visits <- marked_visits()
prior <- marked_prior()
pooled <- marked_fit()
grouped <- marked_fit("clinic")
bare <- marked_fit(iter = 20, control = list(keep_data = FALSE))
# Long enough for its draws to be weighed.
settled <- function() marked_fit("clinic", iter = 2000, resolution = 20)

test_that("leave-one-out compares fits to the same data", {
  skip_if_not_installed("loo")
  found <- suppressWarnings(loo(pooled, draws = 101))
  each <- log_lik(pooled, 100)
  chain <- rep(1:2, each = 50)
  expected <- suppressWarnings(loo::loo(each, r_eff = loo::relative_eff(exp(each), chain_id = chain)))
  expect_s3_class(found, "psis_loo")
  expect_equal(found$estimates, expected$estimates)
  apart <- loo::loo(settled())
  compared <- suppressWarnings(loo::loo_compare(list(pooled = found, grouped = apart)))
  expect_identical(rownames(compared)[1], "grouped")
  expect_equal(suppressWarnings(loo(each)), suppressWarnings(loo::loo(each)))
})

test_that("loo() takes the fitted visits for their names, and no others", {
  skip_if_not_installed("loo")
  named <- loo(settled(), visits = visits)
  expect_identical(rownames(named$pointwise), unique(visits$id))
  plain <- loo(settled())
  expect_null(rownames(plain$pointwise))
  rownames(named$pointwise) <- NULL
  expect_identical(named, plain)
  who <- unique(visits$id)
  swapped <- visits
  swapped$action[swapped$action == "declare_healthy"][1] <- "declare_diseased"
  upside_down <- trajectories(as.data.frame(visits)[order(match(visits$id, rev(who)), visits$time), ],
                              covariates = "clinic")
  for (others in list(marked_part(who[-1]), swapped, upside_down, marked_part(who[1:2]))) {
    error <- expect_error(loo(settled(), visits = others), "newdata", class = "ibrc_error_input")
    expect_identical(error$argument, "visits")
  }
  path <- withr::local_tempfile(fileext = ".ibrc")
  kept <- ibrc(visits, setting, diag_models(), prior, by = "clinic", chains = 2, iter = 20, seed = 1, file = path)
  expect_identical(check_own_visits(visits, resume(path)), who)
})

test_that("loo() hands on what loo::loo() knows, and passes over nothing", {
  skip_if_not_installed("loo")
  expect_false(is.null(loo(settled(), draws = 200, save_psis = TRUE, cores = 1)$psis_object))
  expect_s3_class(loo(settled(), draws = 200, is_method = "tis"), "loo")
  for (call in list(quote(loo(settled(), newdata = visits)), quote(loo(settled(), 200, NULL, TRUE)),
                    quote(loo(settled(), r_eff = 1)))) {
    error <- expect_error(eval(call), "may hold", class = "ibrc_error_input")
    expect_identical(error$argument, "...")
  }
  expect_error(loo(settled(), cores = "two"), "cores", class = "ibrc_error_input")
  expect_error(loo(settled(), is_method = "none"), "is_method", class = "ibrc_error_input")
  expect_error(loo(settled(), draws = 20), "100 or more", class = "ibrc_error_input")
})

test_that("what cannot be worked out is refused", {
  expect_error(log_lik(bare), "keep_data", class = "ibrc_error_input")
  expect_error(log_lik(pooled, draws = 0), class = "ibrc_error_input")
  expect_error(log_lik(pooled, others = visits), class = "ibrc_error_input")
  skip_if_not_installed("loo")
  expect_error(loo(bare), "keep_data", class = "ibrc_error_input")
  expect_error(loo(pooled, draws = "all"), class = "ibrc_error_input")
})

test_that("loo() refuses where draws cannot stand for a fit without the trajectory", {
  skip_if_not_installed("loo")
  refused <- function(code, ...) {
    error <- expect_error(suppressWarnings(code), ..., class = "ibrc_error_loo")
    expect_identical(error$argument, "x")
    expect_no_match(conditionMessage(error), "planted")
    invisible(error)
  }
  who <- unique(visits$id)
  south <- who[visits$clinic[match(who, visits$id)] == "south"]
  lone <- suppressWarnings(ibrc(marked_part(setdiff(who, south[-1])), setting, diag_models(), prior, by = "clinic",
                                chains = 2, iter = 200, seed = 1))
  refused(loo(lone), "prior would be left of group \"south\".*kfold\\(\\)")
  one <- suppressWarnings(ibrc(marked_part(who[1]), setting, diag_models(), prior, chains = 2, iter = 200, seed = 1))
  refused(loo(one), "only the prior")
  refused(loo(ibrc(visits, setting, diag_models(), prior, chains = 2, iter = 200, seed = 1, sample_prior = "only")),
          "draws from the prior")
  refused(loo(ibrc(visits, setting, diag_models(), prior, chains = 2, iter = 40, seed = 1), draws = NULL),
          "fewer than 100 draws")
  # Chains of which one was for a while far from where the others are have weights that nothing can be said by.
  rough <- grouped
  for (group in names(rough$draws)) rough$draws[[group]][1:3, 1, "alpha"] <- 100
  error <- refused(loo(rough), "Pareto k is above 0.7 for .*% of the trajectories.*kfold\\(\\)")
  expect_length(error$pareto_k, 50)
  # Nor is there a way round the diagnostic.
  refused(loo(rough, is_method = "sis"), "Pareto k")
})

test_that("many high values of Pareto k are refused, a few are warned of", {
  at <- function(n, high, value = 0.8) judge_pareto_k(rep(c(value, 0.3), c(high, n - high)))
  expect_silent(at(100, 0))
  expect_warning(at(100, 1), "for a trajectory", class = "ibrc_warning_pareto_k")
  expect_warning(at(100, 5), "for 5% of the trajectories", class = "ibrc_warning_pareto_k")
  expect_error(at(100, 6), "for 6% of the trajectories", class = "ibrc_error_loo")
  # One of few is a large share, and still only one.
  expect_warning(at(5, 1), class = "ibrc_warning_pareto_k")
  expect_error(at(5, 2), class = "ibrc_error_loo")
  for (value in c(NA, Inf)) expect_error(at(10, 2, value), class = "ibrc_error_loo")
  expect_silent(at(100, 50, 0.7))
})

test_that("loo() of chains that do not agree carries a warning", {
  skip_if_not_installed("loo")
  expect_silent(loo(settled()))
  apart <- settled()
  apart$draws$north[, 1, "alpha"] <- apart$draws$north[, 1, "alpha"] * 1.2
  expect_warning(loo(apart), "do not agree", class = "ibrc_warning_convergence")
})

test_that("trajectories that are as likely under every draw need no weights", {
  skip_if_not_installed("loo")
  # A single action leaves nothing to infer: every draw gives it probability 1.
  one <- decision_setting(c("a", "b"), "wait", c("x", "y"), diag(2), matrix(0.5, 2, 2), matrix(0:1, 2), discount = 0.5)
  table <- data.frame(id = rep(1:30, each = 2), time = 1:2, action = "wait", observation = "x")
  fit <- ibrc(trajectories(table), one, prior = ibrc_prior(alpha ~ lognormal(0, 1)), chains = 2, iter = 2000, seed = 1,
              resolution = 5)
  found <- suppressWarnings(loo(fit))
  expect_close(found$estimates["elpd_loo", ], c(0, 0), 1e-12)
  expect_identical(found$diagnostics$pareto_k, rep(0, 30))
  expect_close(suppressWarnings(kfold(fit, folds = 2))$estimates["elpd_kfold", ], c(0, 0), 1e-12)
})

test_that("draws of dynamics that know nothing of the actions are not weighed", {
  skip_if_not_installed("loo")
  error <- expect_error(loo(ward_cut()), "Use kfold", class = "ibrc_error_loo")
  expect_identical(error$argument, "x")
})
