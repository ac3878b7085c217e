# Simulation-based calibration: parameters drawn from the prior, behaviour simulated from
# them, a fit to it. Were the fit exact, the parameters behind the data could be told
# from its draws by nothing, so that the rank of each among them is uniform.
#
# A case is a list: setting, models, resolution, horizon and n (trajectories per data set),
# prior and fixed as ibrc() takes them, `quantile`: of every term's prior, as base R has
# them (or `draw`: a function that draws so many rows of terms as a fit reports them), and
# `warmup` and `thin` of a run. Without a prior a case has that of ibrc() and its
# run, both by default. Data sets of a batch are the groups of one fit.

batch_sets <- 20L
n_draws <- 63L
n_chains <- 3L

calibration_case <- function(name, setting, models, prior, quantile, fixed = list(), resolution, horizon, n,
                             warmup, thin, pairs = FALSE, draw = NULL) {
  run <- if (!is.null(prior)) {
    list(prior = prior, fixed = fixed, chains = n_chains, iter = warmup + n_draws %/% n_chains * thin, warmup = warmup,
         control = ibrc_control(thin = thin))
  }
  list(name = name, prior = prior, quantile = quantile, draw = draw, fixed = fixed, horizon = horizon, n = n, run = run,
       pairs = pairs, besides = function(truth, draws) NULL,
       plan = plan_agent(setting, bounded_agent(alpha = 1), models, resolution))
}

# What priors are stated with, as quantiles.
lognormal <- function(meanlog, sdlog) function(p) stats::qlnorm(p, meanlog, sdlog)
normal <- function(mean, sd) function(p) stats::qnorm(p, mean, sd)

# A ward with three states: a test says more than a wait does, treatment cures.
ward_setting <- function() {
  course <- rbind(c(0.85, 0.12, 0.03), c(0.10, 0.70, 0.20), c(0.02, 0.13, 0.85))
  cure <- rbind(c(0.95, 0.04, 0.01), c(0.80, 0.15, 0.05), c(0.40, 0.40, 0.20))
  glance <- rbind(c(0.5, 0.3, 0.2), c(0.35, 0.35, 0.3), c(0.2, 0.3, 0.5))
  look <- rbind(c(0.8, 0.15, 0.05), c(0.15, 0.7, 0.15), c(0.05, 0.15, 0.8))
  decision_setting(c("well", "ill", "worse"), c("wait", "test", "treat"), c("low", "middle", "high"),
                   list(wait = course, test = course, treat = cure), list(wait = glance, test = look, treat = glance),
                   cbind(wait = c(2, 0, -4), test = c(1.5, -0.5, -4.5), treat = c(-2, -2, -3)),
                   discount = 0.8, start = c(0.5, 0.3, 0.2))
}

# A case whose models are a function of a quantity, an accuracy: `recipe` as ibrc() takes it.
recipe_case <- function(name, recipe, prior, quantile, fixed, n, ...) {
  case <- calibration_case(name, diag_setting(), recipe(0.7), prior, quantile, fixed, n = n, ...)
  case$recipe <- recipe
  case$plan_at <- function(natural) {
    agent <- do.call(bounded_agent, c(fixed, as.list(natural[names(natural) != "accuracy"])))
    plan_agent(diag_setting(), agent, recipe(natural[["accuracy"]]), case$plan$resolution)
  }
  case
}

# Dirichlet draws from gamma draws, which no fit does.
dirichlet_draws <- function(n, concentration) {
  parts <- matrix(stats::rgamma(n * length(concentration), rep(concentration, each = n)), n)
  parts / rowSums(parts)
}

draw_prior <- function(case, n) {
  if (!is.null(case$draw)) return(case$draw(n))
  levels <- matrix(stats::runif(n * length(case$quantile)), n, dimnames = list(NULL, names(case$quantile)))
  for (term in colnames(levels)) levels[, term] <- case$quantile[[term]](levels[, term])
  levels
}

plan_of <- function(case, natural) {
  if (!is.null(case$plan_at)) return(case$plan_at(natural))
  simplex <- startsWith(names(natural), "action_prior")
  inferred <- c(as.list(natural[!simplex]), if (any(simplex)) list(action_prior = unname(natural[simplex])))
  update(case$plan, do.call(bounded_agent, c(case$fixed, inferred)))
}

# Behaviour under each plan, a data set each, in one table.
simulate_sets <- function(plans, case) {
  sets <- Map(function(plan, set) {
    visits <- as.data.frame(simulate(plan, case$n, horizon = case$horizon))
    visits$id <- visits$id + case$n * (set - 1L)
    visits$set <- set
    visits
  }, plans, seq_along(plans))
  trajectories(do.call(rbind, sets), covariates = "set")
}

# ---- ranks ----------------------------------------------------------------------

# How many of `draws` are below `truth`, ties in an order of chance.
rank_of <- function(truth, draws) {
  ties <- sum(draws == truth)
  sum(draws < truth) + sample.int(ties + 1L, 1L) - 1L
}

# A batch of truths, the plans of those who have them, and what they do.
draw_batch <- function(case) {
  truth <- draw_prior(case, batch_sets)
  plans <- apply(truth, 1, function(natural) plan_of(case, natural), simplify = FALSE)
  list(truth = truth, plans = plans, visits = simulate_sets(plans, case))
}

# A batch: one row per data set with the rank of every term and of the log-likelihood, and
# what the chains say of themselves. `fault$fit` stands for ibrc(), `fault$distort` changes
# what it sees. Of longer runs `n_draws` are ranked that lie as far apart as they can.
calibrate_batch <- function(at) {
  case <- at$case
  fault <- at$fault
  set.seed(at$seed)
  drawn <- draw_batch(case)
  truth <- drawn$truth
  visits <- fault$distort(drawn$visits)
  models <- if (is.null(case$recipe)) case$plan$models else case$recipe
  asked <- list(visits, case$plan$setting, models, by = "set", seed = at$seed, refresh = 0,
                resolution = case$plan$resolution)
  fit <- do.call(fault$fit, c(asked, case$run))
  likely <- likelihood_ranks(fit, drawn$plans, visits)
  chosen <- own("spaced_draws")(fit, n_draws)$.draw
  reported <- own("as_reported")(fit)$draws
  rows <- lapply(seq_len(batch_sets), function(set) {
    draws <- reported[[set]]
    c(vapply(colnames(truth), function(term) rank_of(truth[set, term], draws[, , term][chosen]), 0),
      "log-likelihood" = likely[set], case$besides(truth[set, ], draws), effective = effective_draws(draws))
  })
  out <- as.data.frame(do.call(rbind, rows), check.names = FALSE)
  if (case$pairs) cbind(out, contrast_ranks(fit, truth)) else out
}

# Warned of where draws look better than independent, which so few can by chance.
effective_draws <- function(draws) mean(suppressWarnings(apply(draws, 3, posterior::ess_bulk)))

# A fit whose draws left the data alone has ranks of its terms that are uniform all the
# same; only a quantity that sees the data gives it away. Rounded, so that what the
# solver's tolerance alone tells apart is a tie.
likelihood_ranks <- function(fit, plans, visits) {
  each <- log_lik(fit, draws = n_draws)
  set <- visits$set[!duplicated(visits$id)]
  vapply(seq_along(plans), function(k) {
    mine <- visits[visits$set == k, ]
    at_truth <- sum(log_lik(plans[[k]], trajectories(as.data.frame(mine))))
    rank_of(round(at_truth, 5), round(rowSums(each[, set == k]), 5))
  }, 0)
}

# Sets 1 and 2, 3 and 4, ... as two groups: their contrasts, and whether the interval that
# compare_groups() gives from the fourth lowest to the fourth highest draw has the truth:
# 7 times of 8. On the first row of each pair.
contrast_ranks <- function(fit, truth) {
  rows <- lapply(seq_len(batch_sets), function(set) {
    if (set %% 2L == 0L) return(rep(NA, 2 * ncol(truth)))
    pair <- fit
    pair$draws <- fit$draws[set + 0:1]
    said <- compare_groups(pair, conf.level = 1 - 2 * 3 / (n_draws - 1))
    one <- lapply(seq_len(ncol(truth)), function(k) {
      contrast <- if (said$scale[k] == "ratio") `/` else `-`
      true <- contrast(truth[set + 1L, k], truth[set, k])
      c(rank_of(true, contrast(pair$draws[[2]][, , k], pair$draws[[1]][, , k])),
        said$conf.low[k] < true && true < said$conf.high[k])
    })
    unlist(one)
  })
  names <- c(rbind(paste("contrast of", colnames(truth)), paste("covered", colnames(truth))))
  matrix(unlist(rows), batch_sets, byrow = TRUE, dimnames = list(NULL, names))
}

calibrate <- function(case, sets, seed, fault = no_fault, study = "calibration") {
  if (case$pairs) sets <- 2 * sets
  batches <- lapply(seq_len(ceiling(sets / batch_sets)), function(i) {
    list(case = case, fault = fault, seed = 10000L * seed + i)
  })
  names(batches) <- vapply(batches, function(batch) format(batch$seed), "")
  in_parts(study, batches, calibrate_batch)
}

# ---- are ranks uniform? ---------------------------------------------------------

uniform_tests <- function(ranks, width = 4L) {
  ranks <- ranks[!is.na(ranks)]
  cells <- (n_draws + 1L) %/% width
  seen <- tabulate(ranks %/% width + 1L, cells)
  wanted <- length(ranks) / cells
  c(chi_square = stats::pchisq(sum((seen - wanted)^2) / wanted, cells - 1, lower.tail = FALSE),
    band = band_test(tabulate(ranks + 1L, n_draws + 1L)))
}

# Simultaneous band for the empirical distribution function: the count up to each rank is
# binomial, and the least of their two-sided levels the statistic. Its p-value is one
# less the probability that no count strays as far, a pass over the ranks long.
band_test <- function(counts) {
  n <- sum(counts)
  share <- seq_along(counts)[-length(counts)] / length(counts)
  so_far <- cumsum(counts)[seq_along(share)]
  level <- min(2 * stats::pbinom(so_far, n, share), 2 * stats::pbinom(so_far - 1, n, share, lower.tail = FALSE))
  # What would be lost in one less nearly one is bounded well by the sum of the levels.
  if (level < 1e-10) return(min(1, level * length(share)))
  level <- min(level, 1) * (1 - 1e-9)
  low <- stats::qbinom(level / 2, n, share)
  high <- stats::qbinom(level / 2, n, share, lower.tail = FALSE)
  from <- 0
  inside <- 1
  for (i in seq_along(share)) {
    to <- seq(low[i], high[i])
    chance <- (share[i] - c(0, share)[i]) / (1 - c(0, share)[i])
    move <- outer(from, to, function(x, y) stats::dbinom(y - x, n - x, chance))
    inside <- drop(inside %*% move)
    from <- to
  }
  min(1, max(0, 1 - sum(inside)))
}

# ---- faults ---------------------------------------------------------------------

no_fault <- list(fit = ibrc, distort = identity)

# Draws of the mixture accepted as if they were a symmetric walk's.
without_mixture_ratio <- function() {
  altered_package("mixture_log_density", function(mixture, theta, group) numeric(nrow(theta)))
}

# What was seen comes to the reader's belief a visit late.
a_visit_late <- function(visits) {
  before <- c(NA, seq_len(nrow(visits) - 1L))
  before[!duplicated(visits$id)] <- NA
  visits$observation <- visits$observation[before]
  visits
}

# ---- Geweke's joint test --------------------------------------------------------

# Many chains of parameters and data, each beginning at an exact draw of both: the sampler
# moves the parameters given the data, then new data replace the old. The law of both
# stays what it was at every round, or the sampler or the likelihood is wrong. Returns
# [chain, quantity], means over the rounds. `from` has the functions under test.
joint_chains <- function(case, chains, rounds, seed, from = asNamespace("ibrc"), steps = 4L) {
  set.seed(seed)
  natural <- draw_prior(case, chains)
  theta <- from$prior_unconstrain(case$prior, natural)
  evaluator <- from$new_evaluator(case$plan, NULL, seq_len(chains), case$prior, case$fixed, 1e-8, 1L)
  values <- matrix(0, case$plan$space$n_nodes, chains)
  density <- function(theta) {
    result <- from$evaluate_batch(evaluator, theta, values)
    cbind(result$log_prior, result$log_likelihood)
  }
  evaluator$batch$histories <- new_histories(case, natural)
  state <- from$sampler_start(theta, density, from$streams_from_seed(seed, chains), warmup = 0L,
                              iter = rounds * steps)
  state <- propose_from_prior(state, case, from)
  total <- 0
  for (round in seq_len(rounds)) {
    for (step in seq_len(steps)) state <- from$sampler_step(state, density)
    natural <- from$prior_natural(case$prior, state$positions)
    total <- total + joint_quantities(case, natural, state$log_likelihood)
    evaluator$batch$histories <- new_histories(case, natural)
    parts <- from$density_parts(density(state$positions), chains)
    state$log_density <- parts$total
    state$log_likelihood <- parts$likelihood
  }
  total / rounds
}

# A proposal learnt from nothing that moves: the mixture fitted to draws of the prior.
propose_from_prior <- function(state, case, from) {
  points <- from$prior_unconstrain(case$prior, draw_prior(case, 2000L))
  mixture <- from$stack_mixtures(list(from$fit_mixture(points, least = 1e-4)))
  state$law <- list(walk_factor = mixture$factor, n_shapes = mixture$n_own, mixture = mixture)
  state$scale[] <- 1
  state$log_mixture <- from$mixture_log_density(mixture, state$positions, state$group)
  state
}

new_histories <- function(case, natural) {
  lapply(seq_len(nrow(natural)), function(chain) {
    visits <- simulate(plan_of(case, natural[chain, ]), case$n, horizon = case$horizon)
    own("build_histories")(own("code_visits")(visits, case$plan$setting), case$plan$setting)
  })
}

# Levels in the prior, which are uniform, about their mean; their squares and products,
# and the log-likelihood.
joint_quantities <- function(case, natural, log_likelihood) {
  level <- vapply(colnames(natural), function(term) case$level[[term]](natural[, term]) - 1 / 2,
                  numeric(nrow(natural)))
  pairs <- utils::combn(ncol(level), 2)
  cbind(level, level^2, level[, pairs[1, ]] * level[, pairs[2, ]], log_likelihood)
}

# p of every quantity: terms against their exact means, the log-likelihood against
# independent draws of parameters and data.
joint_tests <- function(joint, alone, case) {
  k <- length(case$level)
  exact <- rep(c(0, 1 / 12, 0), c(k, k, k * (k - 1) / 2))
  c(vapply(seq_along(exact), function(j) stats::t.test(joint[, j], mu = exact[j])$p.value, 0),
    stats::t.test(joint[, ncol(joint)], alone)$p.value)
}

independent_likelihoods <- function(case, n, seed) {
  set.seed(seed)
  vapply(seq_len(n), function(i) {
    plan <- plan_of(case, draw_prior(case, 1L)[1, ])
    sum(log_lik(plan, simulate(plan, case$n, horizon = case$horizon)))
  }, 0)
}
