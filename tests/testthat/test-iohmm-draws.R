test_that("sampled paths have their exact probabilities", {
  laws <- with_seed(411, random_iohmm_laws(2))
  path <- list(action = c(1L, 2L, 1L), observation = c(2L, NA, 4L))
  every <- brute_iohmm(laws, path)
  n <- 20000
  tree <- kernel_tree(list(path))
  sampled <- with_seed(412, .Call(ffi_iohmm_sample, tree, kernel_laws(laws), rep(tree$leaf, n), stats::runif(4 * n)))
  drawn <- matrix(sampled$path, 4) + 1L
  key <- function(hidden) apply(hidden, 1, paste, collapse = "")
  counts <- table(factor(key(t(drawn)), levels = key(every$hidden)))
  expect_identical(sum(counts), as.integer(n))
  expect_gt(min(every$chance / sum(every$chance)) * n, 5)
  expect_gt(stats::chisq.test(as.vector(counts), p = every$chance / sum(every$chance))$p.value, 1e-3)
  # What is counted is what happened.
  expect_equal(sampled$start, tabulate(drawn[1, ], 2))
  moves <- function(from) table(factor(drawn[from, ], 1:2), factor(drawn[from + 1, ], 1:2))
  expect_close(array(sampled$transition, c(2, 2, 2))[, , 1], moves(1) + moves(3), 0)
  expect_close(array(sampled$transition, c(2, 2, 2))[, , 2], moves(2), 0)
  shown <- array(sampled$emission, c(2, 4, 2))
  expect_close(shown[, 2, 1], tabulate(drawn[2, ], 2), 0)
  expect_close(shown[, 4, 1], tabulate(drawn[4, ], 2), 0)
  expect_identical(sum(shown), 2 * n)
})

test_that("where observations show the state, draws follow the known Dirichlet posterior", {
  # State 1 shows as x1 or x2, state 2 as x3 or x4: paths are known but for the first state.
  laws <- list(start = c(0.5, 0.5), transition = array(c(0.7, 0.2, 0.3, 0.8), c(2, 2, 2)),
               emission = array(rep(c(0.6, 0, 0.4, 0, 0, 0.3, 0, 0.7), 2), c(2, 4, 2)))
  world <- dressed_laws(laws)
  plain <- data.frame(id = rep(1:60, each = 5), time = rep(1:5, 60), action = factor("u1", c("u1", "u2")),
                      observation = factor(NA, paste0("x", 1:4)))
  visits <- simulate(world, seed = 2, visits = trajectories(plain), missing = "fill", states = TRUE)
  coded <- code_visits(visits, iohmm_words_of())
  fit <- dressed_laws(laws, coded, iohmm_prior(emission = 0.5, transition = 1, stay = 1))
  tree <- iohmm_tree(coded, fit)
  from <- visits$state[visits$time < 4]
  to <- visits$state[visits$time > 0]
  shapes <- table(from, to) + 2 + diag(2)
  shown <- table(visits$state, visits$observation) + 1.5
  draws <- with_seed(413, replicate(800, {
    sampled <- .Call(ffi_iohmm_sample, tree, iohmm_laws(fit), tree$leaf, stats::runif(360))
    new <- draw_laws(fit, sampled)
    c(array(new$emission, c(2, 4, 2))[1, 1, 1], array(new$emission, c(2, 4, 2))[2, 4, 1],
      array(new$emission, c(2, 4, 2))[2, 4, 2])
  }))
  # Over all four results, since none is impossible after u1.
  expect_gt(stats::ks.test(draws[1, ], "pbeta", shown[1, 1], sum(shown[1, ]) - shown[1, 1])$p.value, 1e-3)
  expect_gt(stats::ks.test(draws[2, ], "pbeta", shown[2, 4], sum(shown[2, ]) - shown[2, 4])$p.value, 1e-3)
  # u2 was never taken: the prior.
  expect_gt(stats::ks.test(draws[3, ], "pbeta", 1.5, 4.5)$p.value, 1e-3)
  # Moves from known counts, those from the unknown first state left out.
  counts <- list(start = c(3, 4), transition = c(shapes - 2 - diag(2), numeric(4)), emission = numeric(16))
  moves <- with_seed(414, replicate(2000, draw_laws(fit, counts)$transition[c(1, 4)]))
  expect_gt(stats::ks.test(moves[1, ], "pbeta", shapes[1, 1], shapes[1, 2])$p.value, 1e-3)
  expect_gt(stats::ks.test(moves[2, ], "pbeta", shapes[2, 2], shapes[2, 1])$p.value, 1e-3)
})

test_that("with one state draws are those of the frequencies", {
  visits <- clinic_iohmm_visits(20)
  fit <- fit_iohmm(visits, 1, 1, seed = 1, prior = iohmm_prior(emission = 2))
  draws <- model_draws(fit, 500, warmup = 0, thin = 1, seed = 2)$models
  pairs <- table(visits$action, visits$observation)
  mine <- vapply(draws, function(model) model$emission[1, "x4", "u2"], 0)
  expect_gt(stats::ks.test(mine, "pbeta", pairs["u2", "x4"] + 3, sum(pairs["u2", c("x3", "x5")]) + 6)$p.value, 1e-3)
})

test_that("states are matched one to one, for the most agreement", {
  with_seed(415, for (n in 1:5) {
    gain <- matrix(stats::runif(n * n), n)
    orders <- as.matrix(expand.grid(rep(list(seq_len(n)), n)))
    orders <- orders[apply(orders, 1, function(o) !anyDuplicated(o)), , drop = FALSE]
    sums <- apply(orders, 1, function(o) sum(gain[cbind(seq_len(n), o)]))
    expect_identical(best_matching(gain), unname(orders[which.max(sums), ]))
  })
  smooth <- rbind(c(0.9, 0.8, 0.1), c(0.1, 0.2, 0.9))
  expect_identical(match_states(smooth, c(1L, 1L, 0L)), c(2L, 1L))
})

test_that("data given laws and laws given data, in turn, leave laws at their prior", {
  skip_if_not(Sys.getenv("IBRC_EXTENDED_TESTS") == "1")
  prior <- iohmm_prior(1, 1, 1, stay = 1)
  plain <- data.frame(id = rep(1:10, each = 4), time = rep(1:4, 10), action = factor(rep(c("u1", "u2"), 20)),
                      observation = factor("x1", paste0("x", 1:3)))
  plain$observation[c(5, 12, 30)] <- NA
  words <- iohmm_words_of(2, 3)
  coded <- code_visits(trajectories(plain), words)
  fit <- dressed_laws(with_seed(1, random_iohmm_laws(2, 2, 3)), coded, prior)
  kept <- with_seed(431, vapply(1:20000, function(i) {
    # As simulate() draws them, without its checks.
    seen <- draw_forwards(fit, coded$trajectory, coded$action + 1L)$observation - 1L
    coded$observation <- ifelse(coded$observation < 0, -1L, seen)
    tree <- iohmm_tree(coded, fit)
    new <- draw_laws(fit, .Call(ffi_iohmm_sample, tree, iohmm_laws(fit), tree$leaf, stats::runif(50)))
    for (law in names(new)) fit[[law]][] <<- new[[law]]
    c(fit$start[1], fit$transition[1, 1, 1], fit$transition[2, 1, 2], fit$emission[1, 2, 1], fit$emission[2, 3, 2])
  }, numeric(5)))
  kept <- kept[, seq(20, ncol(kept), by = 20)]
  shapes <- rbind(c(2, 2), c(3, 2), c(2, 3), c(2, 4), c(2, 4))
  for (i in 1:5) expect_gt(stats::ks.test(kept[i, ], "pbeta", shapes[i, 1], shapes[i, 2])$p.value, 1e-3)
})

test_that("over repeated cohorts estimates centre on the truth, and draws cover it", {
  skip_if_not(Sys.getenv("IBRC_EXTENDED_TESTS") == "1")
  truth <- dressed_laws(clinic_laws())
  cell <- function(model) {
    c(model$transition[1, 2, 1], model$transition[2, 3, 2], model$emission[2, 1, 1], model$emission[3, 5, 2])
  }
  runs <- lapply(1:40, function(i) {
    fit <- fit_iohmm(clinic_iohmm_visits(seed = 500 + i), 3, 8, seed = i, sort_by = c(x3 = 0, x4 = 1, x5 = 2))
    draws <- vapply(model_draws(fit, 80, 200, 5, seed = i)$models, cell, numeric(4))
    level <- rowMeans(draws < cell(truth))
    list(estimate = cell(fit), inside = level > 0.05 & level < 0.95)
  })
  estimates <- vapply(runs, `[[`, numeric(4), "estimate")
  error <- (rowMeans(estimates) - cell(truth)) / (apply(estimates, 1, stats::sd) / sqrt(40))
  expect_true(all(abs(error) < 4))
  # Central 90%: between the 1e-4 points of a binomial over 160 intervals, taken as 40 independent ones.
  inside <- sum(vapply(runs, function(run) sum(run$inside), 0)) / 4
  expect_gte(inside, stats::qbinom(1e-4, 40, 0.9))
})

test_that("draws of a shared transition share it", {
  fit <- fit_iohmm(clinic_iohmm_visits(60), 2, 2, transitions = "shared", seed = 1)
  models <- model_draws(fit, 3, 5, 2, seed = 1)$models
  for (model in models) {
    expect_identical(model$transition[, , "u1"], model$transition[, , "u2"])
    expect_close(apply(model$transition, c(1, 3), sum), rep(1, 4), 1e-12)
    expect_gt(max(abs(model$transition - fit$transition)), 1e-4)
  }
  expect_false(identical(models[[1]]$transition, models[[2]]$transition))
})

test_that("starts are drawn by group, given the paths of the group", {
  laws <- with_seed(483, random_iohmm_laws(2))
  laws$start <- t(rbind(c(0.9, 0.1), c(0.2, 0.8), c(0.5, 0.5)))
  paths <- with_seed(484, random_paths(60, longest = 4))
  group <- rep_len(1:3, 60)
  coded <- coded_in_groups(paths, group)
  tree <- iohmm_tree(coded, iohmm_words_of())
  length <- vapply(paths, function(path) length(path$action) + 1L, 0L)
  sampled <- with_seed(1, .Call(ffi_iohmm_sample, tree, kernel_laws(laws), tree$leaf, stats::runif(sum(length))))
  first <- sampled$path[cumsum(c(1L, length))[seq_along(paths)]]
  expect_identical(sampled$start, as.numeric(table(factor(first, 0:1), group)))
  fit <- dressed_in_groups(laws)
  expect_equal(iohmm_laws(fit)$start, as.numeric(laws$start))
  # Uniform priors: Dirichlet with one more than was counted, on average.
  draws <- with_seed(2, replicate(3000, draw_laws(fit, sampled)$start))
  wanted <- (matrix(sampled$start, 2) + 1) / rep(tapply(group, group, length) + 2, each = 2)
  expect_close(rowMeans(draws), as.vector(wanted), 0.01)
  relabelled <- relabel(fit, iohmm_laws(fit), 2:1)
  expect_equal(unname(relabelled$start), t(laws$start)[, 2:1])
  expect_identical(rownames(relabelled$start), c("old", "young", "missing"))
})

test_that("draws say how many independent ones they are worth", {
  # Of an autoregression it is known.
  n <- 400
  thin <- 5
  rho <- 0.8
  series <- with_seed(3, cbind(slow = as.vector(stats::arima.sim(list(ar = rho), n * thin)),
                               quick = stats::rnorm(n * thin), still = 1))
  told <- effective_draws(series, n, thin)
  expect_identical(told$entry, c("slow", "quick"))
  expect_close(told$effective[1], n * (1 - rho^thin) / (1 + rho^thin), 0.15 * n)
  expect_gt(told$effective[2], 0.95 * n)
  expect_lte(max(told$effective), n)
  expect_close(told$thin[1], log(0.05) / log(rho), 4)
  expect_lte(told$thin[2], 2)
  # Every second sweep tells the same, in sweeps.
  half <- effective_draws(series[c(FALSE, TRUE), ], n, thin, stride = 2)
  expect_close(half$effective[1], told$effective[1], 0.15 * n)
  expect_close(half$thin[1], told$thin[1], 5)
  expect_true(all(is.na(effective_draws(series[1:40, ], 8, 5)$effective)))
})

test_that("a fit's draws carry it, print it, and warn where they are worth too little", {
  fit <- clinic_iohmm()
  expect_warning(draws <- model_draws(fit, 20, warmup = 20, thin = 5, seed = 1), "Take `thin`",
                 class = "ibrc_warning_effective")
  effective <- attr(draws, "effective")
  expect_named(effective, c("entry", "effective", "thin"))
  expect_true(all(effective$entry %in% c(names(coef(fit)), "log_lik")))
  expect_true("log_lik" %in% effective$entry)
  expect_true(all(effective$effective <= 20))
  expect_match(format(draws), "20 draws, worth about [0-9]+ independent", all = FALSE)
  few <- model_draws(fit, 3, warmup = 0, thin = 2, seed = 1)
  expect_match(format(few), "too few sweeps", all = FALSE)
  # They are the draws that they were: what is recorded draws nothing.
  tree <- iohmm_tree(fit$coded, fit)
  smooth <- expect_states(fit, iohmm_chains(fit$coded))$smooth
  plain <- with_stream(streams_from_seed(1, 1)[[1]], {
    laws <- iohmm_laws(fit)
    for (sweep in 1:2) {
      sampled <- .Call(ffi_iohmm_sample, tree, laws, tree$leaf, stats::runif(ncol(smooth)))
      laws[c("start", "transition", "emission")] <- draw_laws(fit, sampled)
    }
    relabel(fit, laws, match_states(smooth, sampled$path))
  })
  expect_identical(few$models[[1]], plain)
  # And no part of a problem.
  setting <- as_setting(fit, matrix(0, 3, 2), 0.9)
  expect_null(attr(validate_ibrc_models(few, setting), "effective"))
})
