# What the agent of one plan does, in numbers that can be understood without its parameters: how likely it takes each
# action at stated beliefs and after stated observations, how long it takes to reach a decision, what its bounds cost,
# how good it thinks its tests are, and how it weighs the models. Beside each stands the value of the perfectly rational
# agent, who knows the setting's own dynamics.
#
# `design`, what is asked of every plan in the same way:
#   places     a list, each with `at`, its name, and `belief` (NULL: the start), or `actions` and `observations` on from
#              the start
#   nsim, horizon, seed   trajectories to simulate, how long, and from which random numbers

# The values of a plan in the order of effect_keys(): `value`, that of the `rational` agent, and `error`, the error of
# the simulation (0 where nothing was simulated).
effect_values <- function(plan, rational, design) {
  own <- place_beliefs(plan, design$places)
  best <- place_beliefs(rational$plan, design$places)
  first <- c(as.vector(law_at(plan, own)), use_of_test(plan, own), weights_at(plan, own))
  ideal <- c(as.vector(law_at(rational$plan, best)), stated_use(plan, design$places),
             stated_weights(plan, design$places))
  exact <- list(value = first, rational = ideal, error = numeric(length(first)))
  if (design$nsim == 0) return(exact)
  course <- course_of(plan, design)
  cost <- cost_of(plan, rational, design)
  list(value = c(exact$value, course$value, cost$value),
       rational = c(exact$rational, rational$course$value, numeric(length(cost$value))),
       error = c(exact$error, course$error, cost$error))
}

# One row per value that says what it is about. `detail`: a state or a model.
effect_keys <- function(plan, design) {
  at <- vapply(design$places, `[[`, "", "at")
  actions <- plan$setting$actions
  tests <- informative_actions(plan)
  states <- accuracy_details(plan$setting)
  going_on <- going_on_actions(plan$setting)
  models <- names(plan$models$weights)
  rows <- rbind(
    key_rows("probability", at, actions, NA, "probability"),
    key_rows("accuracy", at, tests, states, "probability"),
    key_rows("weight", at, going_on, models, "probability")
  )
  if (design$nsim == 0) return(rows)
  stops <- length(plan$setting$stop_actions) > 0
  span <- plural(design$horizon, "visit")
  rbind(
    rows,
    if (stops) key_rows("visits", paste("at most", span), NA, NA, "visits"),
    if (stops) key_rows("decided", paste("within", span), NA, NA, "probability"),
    key_rows("count", paste(if (stops) "at most" else "over", span), actions, NA, "per trajectory"),
    key_rows(c("cost", "cost_share"), NA, NA, NA, c("utility per visit", "share"))
  )
}

# Every place with every action with every detail, places changing fastest.
key_rows <- function(quantity, at, action, detail, unit) {
  if (!length(action) || !length(detail)) return(NULL)
  grid <- expand.grid(at = at, action = action, detail = detail, stringsAsFactors = FALSE)
  data.frame(quantity = quantity, at = as.character(grid$at), action = as.character(grid$action),
             detail = as.character(grid$detail), unit = unit)
}

# Actions that do not end a trajectory; all of them where every one does.
going_on_actions <- function(setting) {
  out <- setdiff(setting$actions, setting$stop_actions)
  if (length(out)) out else setting$actions
}

# ---- the perfectly rational agent ---------------------------------------------------------------------------------

# A function of plans that gives the rational counterpart of each: its `plan` under the setting's own dynamics alone,
# its `course`, and the cost of acting at random (`random`), by which costs are measured. The work is repeated only
# where a draw has another problem.
rational_counterparts <- function(design) {
  tables <- NULL
  last <- NULL
  function(plan) {
    same_laws <- identical(tables$setting[law_names], plan$setting[law_names])
    if (is.null(tables) || !same_laws) tables <<- own_problem(plan)
    possible <- plan$problem$action_prior > 0
    same <- !is.null(last) && identical(last$reward, plan$reward) && identical(last$possible, possible) &&
      identical(last$plan$setting$discount, plan$setting$discount) && identical(last$tables, tables)
    if (!same) last <<- counterpart_of(plan, tables, possible, design)
    last
  }
}

# The problem whose only model is the setting's own. The setting of a fit that was resumed may have lost a utility of
# beliefs: rewards are those of the plan.
own_problem <- function(plan) {
  laws <- c("transition", "emission")
  alone <- n_models(plan$models) == 1 && identical(plan$models$models[[1]][laws], unclass(plan$setting)[laws])
  if (alone) return(plan[problem_parts])
  build_problem(plan$setting, NULL, plan$resolution, plan$interpolate, plan$surprise)
}

counterpart_of <- function(plan, tables, possible, design) {
  problem <- tables
  problem$setting <- plan$setting
  problem$reward <- reward_on(problem$space, plan)
  prior <- possible / sum(possible)
  out <- list(plan = solve_problem(problem, bounded_agent(action_prior = prior), plan$report$tolerance),
              reward = plan$reward, possible = possible, tables = tables)
  if (design$nsim == 0) return(out)
  out$course <- course_of(out$plan, design)
  random <- solve_problem(problem, bounded_agent(flexibility = 0, action_prior = prior), plan$report$tolerance)
  out$random <- mean(regret_of(random, out$plan, design))
  out
}

# Rewards [node, action] of a plan at the nodes of another space.
reward_on <- function(space, plan) {
  if (identical(space$kind, plan$space$kind) && space$n_nodes == plan$space$n_nodes) return(plan$reward)
  interpolate_at(plan$space, t(plan$reward), node_beliefs(space))
}

# ---- beliefs and what is done there -------------------------------------------------------------------------------

# The belief [place, state] that the plan's agent holds at each place; NA where what is stated cannot happen to it.
place_beliefs <- function(plan, places) {
  out <- lapply(places, function(place) {
    belief <- if (is.null(place$belief)) mean_start(plan$setting) else place$belief
    tryCatch({
      for (t in seq_along(place$observations)) {
        belief <- update_belief(plan, belief, place$actions[t], place$observations[t])
      }
      as.vector(belief)
    }, ibrc_error_observation = function(e) rep(NA_real_, length(belief)))
  })
  matrix(unlist(out), length(places), byrow = TRUE)
}

# The result of `read` on beliefs, one row per belief; NA where there is no belief.
where_held <- function(beliefs, n, read) {
  out <- matrix(NA_real_, nrow(beliefs), n)
  held <- !is.na(beliefs[, 1])
  if (any(held)) out[held, ] <- read(beliefs[held, , drop = FALSE])
  out
}

# [place, action]
law_at <- function(plan, beliefs) {
  where_held(beliefs, length(plan$setting$actions), function(held) policy(plan, held))
}

# [place, model] of each action that goes on, one after the other.
sigma_at <- function(plan, beliefs, action) {
  where_held(beliefs, n_models(plan$models), function(held) model_weights(plan, held, action))
}

# [place, action, model]
weights_at <- function(plan, beliefs) {
  actions <- going_on_actions(plan$setting)
  sigma <- vapply(actions, function(action) sigma_at(plan, beliefs, action),
                  matrix(0, nrow(beliefs), n_models(plan$models)))
  as.vector(aperm(array(sigma, c(nrow(beliefs), n_models(plan$models), length(actions))), c(1, 3, 2)))
}

stated_weights <- function(plan, places) {
  rep(unname(plan$models$weights), each = length(places) * length(going_on_actions(plan$setting)))
}

# ---- how good a test is thought to be ------------------------------------------------------------------------------

# With more states than this they are not reported one by one.
most_accuracy_states <- 10

accuracy_details <- function(setting) {
  c("all states", if (length(setting$states) <= most_accuracy_states) setting$states)
}

# [state, observation]: the share in which an observation points to a state, the one under which it is likeliest.
pointing <- function(emission) {
  emission <- matrix(emission, nrow(emission))
  most <- apply(emission, 2, max)
  points <- emission >= rep(most, each = nrow(emission)) - 1e-12 & rep(most > 0, each = nrow(emission))
  points / rep(pmax(1, colSums(points)), each = nrow(emission))
}

# How often an observation points to the state that is there: on average over states, and in each.
accuracy_of <- function(emission, points) {
  right <- rowSums(emission * points)
  c(mean(right), if (length(right) <= most_accuracy_states) right)
}

# Actions that go on and whose observation says something about the state. Where the state itself is seen the accuracy
# of a test has no meaning.
informative_actions <- function(plan) {
  setting <- plan$setting
  laws <- c(list(setting), plan$models$models)
  if (any(vapply(laws, function(law) is_identity(law$emission) || is_by_rows(law$transition), NA))) return(character())
  Filter(function(action) {
    emission <- emission_of(setting, action)
    mean(rowSums(emission * pointing(emission))) > 1 / nrow(emission) + 1e-8
  }, going_on_actions(setting))
}

# [state, observation] after an action.
emission_of <- function(model, action) {
  law <- model$emission
  at <- if (is.character(action)) match(action, dimnames(law)[[3]]) else action
  matrix(law[, , at], dim(law)[1], dim(law)[2])
}

# [place, action, detail]: the emission that the agent acts on is the mean over models by the weights it gives them.
use_of_test <- function(plan, beliefs) {
  actions <- informative_actions(plan)
  n_details <- length(accuracy_details(plan$setting))
  found <- vapply(actions, function(action) {
    at <- match(action, plan$setting$actions)
    points <- pointing(emission_of(plan$setting, at))
    accuracy <- vapply(plan$models$models, function(model) {
      accuracy_of(emission_of(model, at), points)
    }, numeric(n_details))
    # Accuracy is linear in the emission.
    sigma_at(plan, beliefs, action) %*% t(matrix(accuracy, n_details))
  }, matrix(0, nrow(beliefs), n_details))
  as.vector(aperm(array(found, c(nrow(beliefs), n_details, length(actions))), c(1, 3, 2)))
}

stated_use <- function(plan, places) {
  found <- vapply(informative_actions(plan), function(action) {
    emission <- emission_of(plan$setting, match(action, plan$setting$actions))
    accuracy_of(emission, pointing(emission))
  }, numeric(length(accuracy_details(plan$setting))))
  rep(as.vector(t(matrix(found, length(accuracy_details(plan$setting))))), each = length(places))
}

# ---- the course of a trajectory, and what bounds cost -------------------------------------------------------------

# Visits that agents make in the setting, as a tree with what the plan's agent does at each. Every plan meets the same
# random numbers, so that two plans differ by what they do and not by luck.
simulated_tree <- function(plan, nsim, horizon, seed) {
  starts <- common_starts(plan$setting, plan$setting)
  run <- drawn_from(seed, {
    begin <- draw_start_groups(starts, nsim)
    roll_out(plan, plan$setting, starts, begin, as.integer(horizon), 1L)
  })
  refuse_impossible(run, plan$setting)
  coded <- list(trajectory = rep(seq_len(nsim) - 1L, run$length), action = run$action, observation = run$observation,
                start = rep(begin - 1L, run$length))
  tree <- build_histories(coded, plan$setting)
  list(tree = tree, length = run$length, action = run$action, trajectory = coded$trajectory + 1L,
       law = t(exp(read_histories(plan, tree, beliefs = FALSE)$log_policy)))
}

# How many visits until an action that stops, whether there was one, and how often each action is taken.
course_of <- function(plan, design) {
  setting <- plan$setting
  run <- simulated_tree(plan, design$nsim, design$horizon, design$seed)
  # The chance of an action at a visit says more than whether it was taken there.
  taken <- rowsum(run$law[run$tree$visit, , drop = FALSE], run$trajectory)
  each <- if (length(setting$stop_actions)) {
    last <- run$action[cumsum(run$length)] + 1L
    cbind(run$length, setting$actions[last] %in% setting$stop_actions, taken)
  } else {
    taken
  }
  list(value = unname(colMeans(each)), error = unname(apply(each, 2, stats::sd)) / sqrt(nrow(each)))
}

# Trajectories without end need no more visits than this: what comes later counts for a thousandth.
discount_horizon <- function(discount) {
  if (discount <= 0) 1 else min(500, max(1, ceiling(log(1e-3) / log(discount))))
}

# For each simulated trajectory, discounted and per visit, what the agent loses against the perfectly rational one. At
# each visit this is how much less its action is worth than the best one, at the correct belief, if one acts rationally
# from there on. The discounted sum is the difference of the two agents' expected utilities. Actions that stop are
# followed by what the setting has next, as in a plan.
regret_of <- function(plan, rational, design) {
  discount <- plan$setting$discount
  plan$setting$stop_actions <- character()
  horizon <- discount_horizon(discount)
  run <- simulated_tree(plan, max(2, ceiling(design$nsim / 20)), horizon, design$seed)
  worth <- worth_along(rational, run$tree)
  possible <- which(rational$problem$action_prior > 0)
  best <- do.call(pmax, lapply(possible, function(action) worth[, action]))
  loss <- rowSums(run$law * (best - worth))[run$tree$visit]
  weight <- discount^(sequence(run$length) - 1)
  as.vector(rowsum(loss * weight, run$trajectory)) / sum(discount^(seq_len(horizon) - 1))
}

# [history, action]: the worth of each action to the rational agent at its belief after each history.
worth_along <- function(rational, tree) {
  if (!is_vertices(rational$space)) {
    return(action_value(rational, t(read_histories(rational, tree)$belief)))
  }
  # Where the state is seen, the last observation is all there is to know.
  worth <- unname(t(rational$solution$action_value))
  first <- seq_along(tree$start)
  rbind(action_value(rational, start_matrix(rational$setting)[tree$start + 1, , drop = FALSE]),
        worth[tree$observation[-first] + 1, , drop = FALSE])
}

cost_of <- function(plan, rational, design) {
  regret <- regret_of(plan, rational$plan, design)
  error <- stats::sd(regret) / sqrt(length(regret))
  # Where no action is better than another there is nothing to lose, and there are no shares.
  scale <- if (rational$random > 0) rational$random else NA_real_
  list(value = c(mean(regret), mean(regret) / scale), error = c(error, error / scale))
}
