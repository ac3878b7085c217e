# Judges of visits: the agent of each group at the posterior medians, or agents at draws, whose judgements are averaged.
#
# A judge is a function of the number of a group, its tree and the actions taken (from 1). It gives list(own, best):
# what judge_visits() says about the agent itself, and about the perfectly rational one in its place.

judge_at_plans <- function(plans, rational = rational_plans(plans)) {
  function(group, tree, action) {
    list(own = judge_visits(plans[[group]], tree, action), best = judge_visits(rational[[group]], tree, action))
  }
}

# Medians of laws and of agents that were drawn together need not fit together: with inferred dynamics judgements are
# averaged over this many draws, unless the user says how many.
averaged_draws <- 50

# The draws to average over, in the form of spaced_draws(); NULL: the medians.
averaged_over <- function(object, draws) {
  if (!inherits(object, "ibrc_fit")) {
    if (!is.null(draws)) abort_input("draws", "has no effect: a plan has no draws to average over.")
    return(NULL)
  }
  if (is.null(draws) && has_dynamics(object)) draws <- averaged_draws
  if (!is.null(draws)) spaced_draws(object, draws)
}

judge_at_draws <- function(fit, chosen) {
  function(group, tree, action) {
    sums <- read_draws(fit, group, chosen, function(plan) {
      judged <- judge_at_plans(list(plan))(1L, tree, action)
      lapply(judged, summed_judgement)
    }, reduce = function(so_far, one) {
      if (is.null(so_far)) one else Map(function(a, b) Map(`+`, a, b), so_far, one)
    })
    lapply(sums, mean_judgement, nrow(chosen))
  }
}

# What can be added up. An agent may have no belief at some draws (`held` counts the draws at which it has one), and
# nothing can be said about a missing action.
summed_judgement <- function(judged) {
  lost <- is.nan(judged$belief[, 1])
  judged$belief[lost, ] <- 0
  judged$law[lost, ] <- 0
  list(belief = judged$belief, law = judged$law, probability = judged$probability, held = as.numeric(!lost),
       worse = as.numeric(judged$loss > 0 & !is.na(judged$loss)), compared = as.numeric(!is.na(judged$loss)))
}

# In the form of judge_visits(). The likeliest action is so on average, and an action is worse if it is so at most
# draws.
mean_judgement <- function(sums, n) {
  likeliest <- max.col(sums$law, ties.method = "first")
  likeliest[sums$held == 0] <- NA
  list(belief = sums$belief / sums$held, law = sums$law / sums$held, probability = sums$probability / n,
       likeliest = likeliest,
       loss = ifelse(sums$compared == 0, NA, as.numeric(sums$worse > sums$compared / 2)))
}

# Probabilities of actions at the nodes of a group's lattice, [node, action], of the agent (`own`) and of the rational
# one (`best`), averaged over draws.
mean_policies <- function(fit, group, chosen) {
  sums <- read_draws(fit, group, chosen, function(plan) {
    lapply(list(own = plan, best = rational_plans(list(plan))[[1]]), function(one) {
      at_nodes(one$space, function(beliefs) policy(one, beliefs))
    })
  }, reduce = function(so_far, one) if (is.null(so_far)) one else Map(`+`, so_far, one))
  lapply(sums, function(one) unname(one) / nrow(chosen))
}

# What a plan says about each visit of a tree: belief [visit, state], law [visit, action], the probability of the action
# taken (from 1), the likeliest action, and how much worse the action taken is.
judge_visits <- function(plan, tree, action) {
  reading <- read_histories(plan, tree)
  belief <- t(reading$belief)
  colnames(belief) <- plan$setting$states
  likeliest <- max.col(t(reading$log_policy), ties.method = "first")
  # An agent that rules models out may find itself without a belief.
  likeliest[is.nan(belief[, 1])] <- NA
  worth <- matrix(NA_real_, nrow(belief), nrow(reading$log_policy))
  held <- !is.nan(belief[, 1])
  worth[held, ] <- action_value(plan, belief[held, , drop = FALSE])
  loss <- worth[cbind(tree$visit, likeliest[tree$visit])] - worth[cbind(tree$visit, action)]
  # Values are known to the solve's tolerance, and to rounding.
  blur <- 2 * plan$report$tolerance + 1e-12 * max(abs(worth[held, ]))
  loss[loss <= blur] <- 0
  list(belief = belief[tree$visit, , drop = FALSE], law = exp(t(reading$log_policy))[tree$visit, , drop = FALSE],
       probability = exp(reading$log_policy[cbind(action, tree$visit)]),
       likeliest = likeliest[tree$visit], loss = loss)
}

# The perfectly rational counterpart of each plan: one solve where they share a problem.
rational_plans <- function(plans) {
  out <- vector("list", length(plans))
  for (i in seq_along(plans)) {
    plan <- plans[[i]]
    # The setting may have lost a utility of beliefs (resume()); rewards still have it.
    shared <- c("setting", "models", "reward")
    same <- i > 1 && identical(unclass(plan)[shared], unclass(plans[[i - 1]])[shared])
    out[[i]] <- if (same) out[[i - 1]] else
      solve_problem(plan, bounded_agent(action_prior = plan$agent$action_prior), plan$report$tolerance,
                    start = values_from(plan))
  }
  out
}
