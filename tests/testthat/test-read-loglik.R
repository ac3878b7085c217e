setting <- diag_setting()
truth <- plan_agent(setting, bounded_agent(0.5, 1.25), diag_models())

# Two clinics, rows mixed, identifiers that are easy to find again.
both_clinics <- function() {
  north <- cbind(as.data.frame(simulate(truth, 25, seed = 1)), clinic = "north")
  south <- cbind(as.data.frame(simulate(update(truth, bounded_agent(3)), 25, seed = 2)), clinic = "south")
  south$id <- south$id + 25
  data <- rbind(north, south)
  data <- data[order(data$time, (data$id * 7) %% 50), ]
  data$id <- paste0("planted-identity-", data$id)
  trajectories(data, covariates = "clinic", setting = setting)
}
visits <- both_clinics()
prior <- ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1))
pooled <- ibrc(visits, setting, diag_models(), prior, chains = 2, iter = 200, seed = 1)
grouped <- ibrc(visits, setting, diag_models(), prior, by = "clinic", chains = 2, iter = 200, seed = 1)
bare <- ibrc(visits, setting, diag_models(), prior, chains = 2, iter = 20, seed = 1, keep_data = FALSE)

natural_at <- function(fit, group, chosen, i) {
  matrix(fit$draws[[group]][chosen$.iteration[i], chosen$.chain[i], ], 1,
         dimnames = list(NULL, dimnames(fit$draws[[group]])[[3]]))
}

# Long enough for its draws to be weighed.
settled <- function() {
  cached("settled", ibrc(visits, setting, diag_models(), prior, by = "clinic", chains = 2, iter = 2000, seed = 1,
                         resolution = 20))
}
part_of <- function(keep) trajectories(as.data.frame(visits)[visits$id %in% keep, ], covariates = "clinic")

test_that("a row holds the log-likelihoods of the plan at its draw", {
  each <- log_lik(pooled, draws = 10)
  chosen <- spaced_draws(pooled, 10)
  expect_identical(dim(each), c(10L, 50L))
  expect_identical(rownames(each), as.character(chosen$.draw))
  for (i in c(1, 5, 10)) {
    expect_close(each[i, ], log_lik(plan_at(pooled, natural_at(pooled, 1, chosen, i)), visits), 1e-8)
  }
})

test_that("with groups each trajectory is judged by its own group, in order of first appearance", {
  each <- log_lik(grouped, draws = 8)
  chosen <- spaced_draws(grouped, 8)
  for (i in c(2, 7)) {
    lists <- lapply(1:2, function(g) log_lik(plan_at(grouped, natural_at(grouped, g, chosen, i)), visits))
    clinic <- visits$clinic[match(names(lists[[1]]), visits$id)]
    expect_close(each[i, ], ifelse(clinic == "north", lists[[1]], lists[[2]]), 1e-8)
  }
})

test_that("rows add up to the posterior that the sampler kept, less the prior", {
  for (fit in list(pooled, grouped)) {
    total <- rowSums(log_lik(fit, NULL))
    log_prior <- vapply(fit$draws, function(draws) {
      size <- dim(draws)
      flat <- matrix(draws, size[1] * size[2], size[3], dimnames = list(NULL, dimnames(draws)[[3]]))
      prior_log_density(fit$prior, prior_unconstrain(fit$prior, flat))
    }, numeric(length(total)))
    kept <- rowSums(matrix(fit$log_posterior, length(total)))
    expect_close(total, kept - rowSums(log_prior), 1e-6)
  }
})

test_that("inferred utilities and discounts are planned for", {
  free <- ibrc_prior(utility(healthy, monitor) ~ normal(-1, 1), discount ~ uniform(0.8, 0.99))
  fit <- ibrc(visits, setting, diag_models(), free, fixed = list(alpha = 0.5), chains = 2, iter = 40,
              seed = 2)
  each <- log_lik(fit, 6)
  chosen <- spaced_draws(fit, 6)
  for (i in c(1, 6)) {
    natural <- natural_at(fit, 1, chosen, i)
    other <- setting
    other$utility["healthy", "monitor"] <- natural[1, 1]
    other$discount <- natural[[1, 2]]
    expect_close(each[i, ], log_lik(plan_agent(other, bounded_agent(0.5), diag_models()), visits), 1e-6)
  }
})

test_that("draws are spread evenly, as many from every chain where that can be", {
  chosen <- spaced_draws(pooled, 10)
  expect_identical(as.vector(table(chosen$.chain)), c(5L, 5L))
  expect_identical(unique(diff(chosen$.draw)), 20L)
  expect_identical(spaced_draws(pooled, NULL)$.draw, 1:200)
  expect_identical(nrow(spaced_draws(pooled, 1e6)), 200L)
  long <- as.data.frame(pooled)
  same <- long[match(chosen$.draw, long$.draw), c(".iteration", ".chain")]
  expect_identical(chosen$.iteration, same$.iteration)
  expect_identical(chosen$.chain, same$.chain)
})

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

test_that("a fit keeps no identifier", {
  bytes <- serialize(grouped, NULL)
  expect_length(grepRaw("planted", bytes, fixed = TRUE), 0)
  expect_length(grepRaw("north", bytes, fixed = TRUE), 1)
  expect_null(bare$visit_actions)
  expect_null(bare$trajectory_group)
})

test_that("what cannot be worked out is refused", {
  expect_error(log_lik(bare), "keep_data", class = "ibrc_error_input")
  expect_error(log_lik(pooled, draws = 0), class = "ibrc_error_input")
  expect_error(log_lik(pooled, others = visits), class = "ibrc_error_input")
  skip_if_not_installed("loo")
  expect_error(loo(bare), "keep_data", class = "ibrc_error_input")
  expect_error(loo(pooled, draws = "all"), class = "ibrc_error_input")
})

test_that("trajectories that the fit has not seen are judged by the draws of their group", {
  who <- unique(visits$id)
  whole <- log_lik(grouped, draws = 8)
  expect_null(colnames(whole))
  again <- log_lik(grouped, draws = 8, newdata = visits)
  expect_identical(colnames(again), who)
  expect_identical(unname(again), unname(whole))
  expect_identical(log_lik(pooled, visits), log_lik(pooled, newdata = visits))
  # Some of them, of one group only, and by a fit that kept nothing.
  some <- sample(who[visits$clinic[match(who, visits$id)] == "south"], 5)
  few <- log_lik(grouped, draws = 8, newdata = part_of(some))
  expect_setequal(colnames(few), some)
  expect_close(few, whole[, match(colnames(few), who)], 1e-7)
  expect_identical(dim(log_lik(bare, draws = 4, newdata = part_of(who[1:3]))), c(4L, 3L))
})

test_that("a matrix that does not fit into memory is refused, with the arithmetic", {
  withr::local_options(ibrc.memory = 1e-4)
  error <- expect_error(log_lik(pooled, NULL), "200 draws of 50 trajectories are 10,000 numbers",
                        class = "ibrc_error_memory")
  expect_identical(error$argument, "draws")
  expect_identical(dim(log_lik(pooled, 10)), c(10L, 50L))
})

test_that("new trajectories are checked as the fitted ones were", {
  changed <- as.data.frame(visits)
  changed$clinic <- "planted-elsewhere"
  error <- expect_error(log_lik(grouped, newdata = trajectories(changed, covariates = "clinic")), "has not met",
                        class = "ibrc_error_input")
  expect_identical(error$argument, "newdata")
  expect_no_match(conditionMessage(error), "planted")
  error <- expect_error(log_lik(grouped, newdata = changed), "trajectories()", class = "ibrc_error_input")
  expect_identical(error$argument, "newdata")
  sure <- decision_setting(c("a", "b"), c("u", "w"), c("x", "y"), diag(2),
                           list(u = cbind(c(1, 1), 0), w = matrix(0.5, 2, 2)), matrix(1:4, 2), discount = 0.5)
  table <- data.frame(id = rep(1:2, each = 2), time = 1:2, action = c("w", "u"), observation = "x")
  fit <- suppressWarnings(ibrc(trajectories(table), sure, prior = ibrc_prior(alpha ~ lognormal(0, 1)), chains = 1,
                               iter = 10, seed = 1, resolution = 5))
  table$action <- "u"
  table$observation[3] <- "y"
  error <- expect_error(log_lik(fit, newdata = trajectories(table)), class = "ibrc_error_data")
  expect_identical(error$rows, 3L)
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
  for (others in list(part_of(who[-1]), swapped, upside_down, part_of(who[1:2]))) {
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
  lone <- suppressWarnings(ibrc(part_of(setdiff(who, south[-1])), setting, diag_models(), prior, by = "clinic",
                                chains = 2, iter = 200, seed = 1))
  refused(loo(lone), "prior would be left of group \"south\".*kfold\\(\\)")
  refused(loo(suppressWarnings(ibrc(part_of(who[1]), setting, diag_models(), prior, chains = 2, iter = 200, seed = 1))),
          "nothing but the prior")
  refused(loo(ibrc(visits, setting, diag_models(), prior, chains = 2, iter = 200, seed = 1, sample_prior = "only")),
          "draws from the prior")
  refused(loo(ibrc(visits, setting, diag_models(), prior, chains = 2, iter = 40, seed = 1), draws = NULL),
          "fewer than 100 draws")
  # Chains that disagree as these do have weights that nothing can be said by.
  error <- refused(loo(grouped), "Pareto k is above 0.7 for 6% of the trajectories.*kfold\\(\\)")
  expect_length(error$pareto_k, 50)
  # Nor is there a way round the diagnostic.
  refused(loo(grouped, is_method = "sis"), "Pareto k")
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
