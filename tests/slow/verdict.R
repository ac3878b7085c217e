# Does a verdict say what is so?
#
# Behaves like the data: 200 fits, half of them to behaviour that the model cannot produce (habit, dynamics or a
# utility other than stated), to a degree that one-step probabilities of actions under the truth and under the
# fitted agent differ by 0.05 or more on average over visits and actions. What differs by less, because the parameters
# take it up, cannot be seen in behaviour: it is counted apart, and shown.
#
# Whole: the second opinion that chains are held against, beside chains of 20,000 steps.
#
#   Rscript tests/slow/verdict.R [fits of each kind] [file for the table of fits]

source(file.path("tests", "slow", "shared", "promise.R"))
source(file.path("tests", "slow", "shared", "calibration.R"))

fits <- argument(1, 100L)
table_file <- argument(2, "")
least_move <- 0.05

# ---- behaviour ------------------------------------------------------------------------

# DIAG, where trajectories end by an action; a screening of two states and a ward of three, where none does.
screening <- decision_setting(
  c("well", "ill"), c("wait", "treat"), c("negative", "positive"),
  list(wait = rbind(c(0.9, 0.1), c(0.1, 0.9)), treat = rbind(c(0.95, 0.05), c(0.7, 0.3))),
  rbind(c(0.8, 0.2), c(0.2, 0.8)), cbind(wait = c(0, -4), treat = c(-2, -3)), discount = 0.9
)
problems <- list(
  screening = list(setting = screening, models = perturb_models(screening), resolution = 50L, horizon = 8L),
  diag = list(setting = diag_setting(), models = diag_models(), resolution = 50L, horizon = 10L),
  ward = list(setting = ward_setting(), models = soften_models(ward_setting(), c(0, 0.5)), resolution = 12L,
              horizon = 8L)
)
trajectories_of_fit <- 400L
# On the scale of the utility, in which DIAG has a range of 46.
scale_of <- function(setting) diff(range(setting$utility)) / 46
prior_of <- function(setting) {
  scale <- scale_of(setting)
  ibrc_prior(alpha ~ lognormal(log(scale), 1), optimism ~ normal(0, 1 / scale))
}

# Behaviour of a neutral agent that also repeats itself: `strength` is added to the log odds of the last action.
simulate_habit <- function(plan, strength, n, horizon) {
  setting <- plan$setting
  models <- plan$models$models
  weights <- plan$models$weights
  belief <- matrix(setting$start, n, length(setting$states), byrow = TRUE)
  state <- sample.int(length(setting$states), n, replace = TRUE, prob = setting$start)
  last <- rep(NA_integer_, n)
  going <- rep(TRUE, n)
  rows <- NULL
  for (time in seq_len(horizon)) {
    law <- policy(plan, belief)
    repeated <- cbind(which(!is.na(last)), last[!is.na(last)])
    law[repeated] <- law[repeated] * exp(strength)
    law <- law / rowSums(law)
    action <- draw_each(law)
    state <- draw_each(matrix(setting$transition, nrow = length(setting$states))[state, ], action,
                       length(setting$states))
    seen <- draw_each(matrix(setting$emission, nrow = length(setting$states))[state, ], action,
                      length(setting$observations))
    rows <- rbind(rows, data.frame(id = seq_len(n), time = time - 1L, action = setting$actions[action],
                                   observation = setting$observations[seen], truth = I(law))[going, ])
    going <- going & !setting$actions[action] %in% setting$stop_actions
    belief <- carry_beliefs(belief, action, seen, models, weights)
    last <- action
    if (!any(going)) break
  }
  rows[order(rows$id, rows$time), ]
}

# One draw from each row of a law; with `block`, from that block of `size` columns.
draw_each <- function(law, block = NULL, size = ncol(law)) {
  if (!is.null(block)) {
    law <- t(vapply(seq_along(block), function(i) law[i, (block[i] - 1) * size + seq_len(size)], numeric(size)))
  }
  1L + rowSums(stats::runif(nrow(law)) > t(apply(law, 1, cumsum))[, -ncol(law), drop = FALSE])
}

# The mean over models, which stay as likely as they were, of what Bayes' rule gives.
carry_beliefs <- function(belief, action, seen, models, weights) {
  total <- 0 * belief
  for (m in seq_along(models)) {
    for (u in unique(action)) {
      mine <- which(action == u)
      moved <- belief[mine, , drop = FALSE] %*% models[[m]]$transition[, , u] *
        t(models[[m]]$emission[, seen[mine], u])
      total[mine, ] <- total[mine, ] + weights[m] * moved / rowSums(moved)
    }
  }
  total / rowSums(total)
}

# What is true and what the fit is told. `kind`: right, habit, dynamics, utility, units.
made_case <- function(kind, problem, seed) {
  set.seed(seed)
  setting <- problem$setting
  scale <- scale_of(setting)
  agent <- bounded_agent(alpha = exp(stats::runif(1, log(0.7), log(2.5))) * scale,
                         optimism = if (kind == "habit") 0 else stats::runif(1, -0.5, 0.5) / scale)
  true <- setting
  models <- problem$models
  if (kind == "units") true$utility <- 2 * true$utility
  if (kind == "utility") {
    # One action is worth, or costs, much less than the fit is told.
    other <- sample(ncol(true$utility), 1)
    true$utility[, other] <- stats::runif(1, 0.1, 0.4) * true$utility[, other]
  }
  if (kind == "dynamics") {
    # What is seen tells much less than the fit is told.
    dull <- stats::runif(1, 0.5, 0.85)
    true$emission <- (1 - dull) * true$emission + dull / dim(true$emission)[2]
    models <- own("own_model")(true)
  }
  plan <- plan_agent(true, agent, models, resolution = problem$resolution)
  visits <- if (kind == "habit") simulate_habit(plan, stats::runif(1, 1, 2.5), trajectories_of_fit, problem$horizon)
  else as.data.frame(simulate(plan, trajectories_of_fit, horizon = problem$horizon))
  truth <- visits$truth
  visits$truth <- NULL
  visits <- trajectories(visits, setting = setting)
  if (is.null(truth)) truth <- one_step_law(plan, visits)
  list(visits = visits, truth = truth)
}

# Probabilities [visit, action] of a plan given what came before.
one_step_law <- function(plan, visits) {
  coded <- own("code_visits")(visits, plan$setting)
  tree <- own("build_histories")(coded, plan$setting)
  law <- t(exp(own("read_histories")(plan, tree)$log_policy))[tree$visit, ]
  law[order(coded$row), ]
}

one_fit <- function(kind, problem, seed, from = asNamespace("ibrc")) {
  case <- made_case(kind, problem, seed)
  fit <- ibrc(case$visits, problem$setting, problem$models, prior_of(problem$setting), fixed = list(eta = 0),
              chains = 2, iter = 800,
              seed = seed, refresh = 0, resolution = problem$resolution, control = ibrc_control(check = FALSE))
  fitted <- one_step_law(project_behavior(fit), case$visits)
  tests <- from$behaviour_check(fit)
  rows <- from$behaves_rows(tests)
  habit <- from$habit_rows(tests)
  data.frame(kind = kind, seed = seed, move = mean(abs(case$truth - fitted)), verdict = as.character(rows$verdict[1]),
             habit = as.character(habit$verdict[1]), visits = nrow(case$visits))
}

# Cases of a kind, problems in turn, until there are enough that can be seen; at most four times as many. (In DIAG only
# monitoring can be repeated, and that is what optimism takes up.)
cases_of <- function(kind, n, first, visible = TRUE) {
  out <- NULL
  places <- if (kind == "habit") c("screening", "ward") else names(problems)
  for (i in seq_len(4 * n)) {
    place <- places[1 + i %% length(places)]
    one <- one_fit(kind, problems[[place]], first + i)
    one$problem <- place
    one$visible <- !visible || one$move >= least_move
    out <- rbind(out, one)
    if (sum(out$visible) == n) break
  }
  out
}

right <- cases_of("right", fits, 20000L, visible = FALSE)
share <- ceiling(fits * c(habit = 0.34, dynamics = 0.33, utility = 0.33))
share[3] <- fits - sum(share[1:2])
wrong <- do.call(rbind, Map(cases_of, names(share), share, 20000L + 1000L * seq_along(share)))
results <- rbind(right, wrong)
if (nzchar(table_file)) utils::write.csv(results, table_file, row.names = FALSE)

flagged <- function(rows) rows$verdict != "ok"
of <- function(x) paste(sum(x), "of", length(x))
seen <- wrong[wrong$visible, ]
promise("Behaves: fits to behaviour that the model can produce are flagged seldom",
        paste(fits, "fits, at most 10%"), of(flagged(right)), mean(flagged(right)) <= 0.1)
promise("Behaves: fits to behaviour that it cannot produce, one-step probabilities off by 0.05 or more, are flagged",
        paste(fits, "fits, at least 90%"),
        paste0(of(flagged(seen)), ", moves from ", signif(min(seen$move), 2), " to ", signif(max(seen$move), 2)),
        nrow(seen) == fits && mean(flagged(seen)) >= 0.9)
for (kind in names(share)) {
  rows <- seen[seen$kind == kind, ]
  show_figure(paste("Behaves: flagged of", kind), of(flagged(rows)))
  hidden <- wrong[wrong$kind == kind & !wrong$visible, ]
  if (nrow(hidden)) show_figure(paste("Behaves: of", kind, "that parameters take up (off by less than 0.05), flagged"),
                                of(flagged(hidden)))
}
habit <- seen[seen$kind == "habit", ]
show_figure("Assumed: habit is found in fits to habit", of(habit$habit != "ok"))
show_figure("Assumed: habit is found in fits without it", of(right$habit != "ok"))
either <- flagged(right) | right$habit != "ok"
promise("Behaves and habit together: fits to behaviour that the model can produce are flagged seldom",
        paste(fits, "fits, at most 15%"), of(either), mean(either) <= 0.15)
units <- do.call(rbind, lapply(1:10, function(i) one_fit("units", problems[[1 + i %% 3]], 5000L + i)))
show_figure("Behaves: a utility in other units cannot be seen (alpha takes it up), flagged",
            paste0(of(flagged(units)), ", moves up to ", signif(max(units$move), 2)))

# A check that holds what is expected against itself.
blind <- altered_package("moment_test", function(moments, ...) {
  moments$observed <- round(moments$expected)
  own("moment_test")(moments, ...)
})
missed <- do.call(rbind, lapply(1:5, function(i) one_fit("habit", problems$ward, 1000L + 2L * i + 1L, blind)))
promise("Behaves: a planted check that is blind to what was done is seen", "5 fits to habit, fewer than 90% flagged",
        of(flagged(missed)), mean(flagged(missed)) < 0.9)

# ---- whole ------------------------------------------------------------------------------

agents <- list(neutral = bounded_agent(0.5), optimist = bounded_agent(0.5, optimism = 0.8),
               pessimist = bounded_agent(0.5, optimism = -1.33), "non-adaptive" = bounded_agent(0.5, eta = 75),
               careless = bounded_agent(10), careful = bounded_agent(0.1))
setting <- diag_setting()
models <- diag_models()
opinion_of <- function(fit) {
  evaluator <- own("inverse_evaluator")(fit)
  own("second_opinion")(own("new_surface")(evaluator, 1L, with_prior = TRUE), own("profile_pool")(fit, 1L),
                        own("streams_from_seed")(1L, 1L)[[1]])
}
held <- do.call(rbind, lapply(names(agents), function(name) {
  visits <- simulate(plan_agent(setting, agents[[name]], models), 500, seed = 1)
  fit <- ibrc(visits, setting, models, seed = 1, iter = 20000, warmup = 4000, refresh = 0,
              control = ibrc_control(check = FALSE))
  opinion <- opinion_of(fit)
  theta <- own("prior_unconstrain")(fit$prior, matrix(fit$draws$all, ncol = 3, dimnames = list(NULL, names(fit$prior))))
  do.call(rbind, lapply(seq_along(fit$prior), function(j) {
    long <- stats::quantile(theta[, j], c(0.025, 0.5, 0.975), names = FALSE)
    found <- own("weighted_quantile")(opinion$draws[, j], opinion$weight, c(0.025, 0.975))
    data.frame(agent = name, term = names(fit$prior)[j], rhat = posterior::rhat(fit$draws$all[, , j]),
               ess = opinion$ess, off = (found - long[c(1, 3)]) / abs(long[c(1, 3)] - long[2]))
  }))
}))
settled <- held[held$rhat < 1.01, ]
promise("Whole: the second opinion finds the ends that long chains find",
        "6 agents of DIAG, 36 ends, 9 of 10 within a fifth of their side where the long chains agree",
        paste0(of(abs(settled$off) < 0.2), ", worst ", signif(max(abs(settled$off)), 2), ", least worth ",
               round(min(held$ess)), " draws"), mean(abs(settled$off) < 0.2) >= 0.9)

# Chains that never went into the long tail of an optimist agree with each other.
visits <- simulate(plan_agent(setting, agents$optimist, models), 500, seed = 1)
fit <- ibrc(visits, setting, models, seed = 1, iter = 8000, refresh = 0, control = ibrc_control(check = FALSE))
short <- fit
draws <- fit$draws$all
edge <- stats::quantile(draws[, , "optimism"], 0.15)
kept <- which(matrix(draws[, , "optimism"], dim(draws)[1]) > edge, arr.ind = TRUE)
kept <- lapply(seq_len(dim(draws)[2]), function(chain) kept[kept[, 2] == chain, 1])
n <- min(lengths(kept))
short$draws$all <- array(0, c(n, length(kept), 3), list(NULL, NULL, dimnames(draws)[[3]]))
for (chain in seq_along(kept)) short$draws$all[, chain, ] <- draws[kept[[chain]][seq_len(n)], chain, ]
said <- verdict(short)
rhat <- max(tidy(short)$rhat)
worst <- said[said$check == "whole" & said$term == "optimism", ]
promise("Whole: planted chains that miss a tail are not to be used", "one fit, its lowest 15% of optimism cut off",
        paste0(worst$verdict, ", R-hat ", round(rhat, 3)), worst$verdict == "do not use")
finish()
