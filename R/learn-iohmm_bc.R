#' Behaviour learned from beliefs
#'
#' Hidden states and their dynamics are learned from what was seen, as by [fit_iohmm()]. Each action has a centre among
#' beliefs about the state. The nearer a belief is to this centre, the more often the action is taken. The centres can
#' be read like a map: here scans are ordered, there they are not. But nothing is wanted and nothing is weighed. This is
#' cloning, not an explanation. It is a standard of comparison for fits that claim to know why.
#'
#' @details With z the belief before a visit, the probability of action u is proportional to
#'   `exp(-sharpness * sum((z - centre[u, ])^2))`. The entries of a centre sum to 1, and need not be between 0 and 1.
#'   The same rule is bounded rational control that considers only one visit ([plan_iohmm_rule()]).
#'
#'   With `joint = FALSE` the dynamics are learned from what was seen, and are then held fixed. Centres and sharpness
#'   are those under which the scored actions are likeliest, with a wide prior. With `joint = TRUE` dynamics, centres
#'   and sharpness are learned together. They maximise one number, the log-posterior: the log probability
#'   of what was seen given what was done, plus that of what was done given the beliefs, plus that of the prior. Beliefs
#'   depend on the dynamics. The actions therefore show what the person who decided believed about the dynamics, and the
#'   learned dynamics become subjective. Climbs follow the exact slopes of that number, and no step goes down. One climb
#'   begins at the answer for `joint = FALSE`, the others at random laws.
#'
#'   With two actions, behaviour shows only the direction from one centre to the other and the place where both are
#'   equally likely. In general, with no more actions than states, sharpness and the distance of the centres cannot be
#'   told apart, and the prior decides. Predictions do not depend on that.
#'
#'   When new visits are predicted, an observation that is impossible after its action under the model (see `zeros`)
#'   says nothing about the state: it counts as missing. An action may be missing only at the last visit of a
#'   trajectory.
#'
#' @param visits Trajectories ([trajectories()]).
#' @param states Number of states, 2 to 10. Of several numbers, such as `2:4`, the one is taken whose dynamics alone
#'   have the lowest BIC.
#' @param joint Whether the dynamics are learned from actions as well.
#' @param sharpness A positive number that is held fixed. `NULL`: it is learned.
#' @param starts Number of climbs, for the dynamics alone and for everything together.
#' @param actions,observations Names of all that may be done and seen, see [fit_baseline()].
#' @param zeros,transitions,sort_by,names As in [fit_iohmm()].
#' @param prior Pseudo-counts of the dynamics, as in [fit_iohmm()]. Half a count keeps what was not seen possible.
#' @param centre_sd Standard deviation of the normal prior of each centre about the middle of the beliefs; `Inf` for
#'   none.
#' @param sharpness_sd Standard deviation of the normal prior of the logarithm of the sharpness, about log 10; `Inf` for
#'   none.
#' @param tolerance A climb ends when ten steps (for dynamics alone, one step) gain no more than this.
#' @param max_iter The most steps of a climb.
#' @param cores Threads, one per climb at most. Results do not depend on it.
#' @param seed A number that decides where climbs start. The session's generator is left as it was; `NULL` takes one
#'   number from it.
#' @param refresh Steps between messages about the joint climbs, 0 for none. By default 1,000 in an interactive session.
#' @return An object of class `ibrc_iohmm_bc`: a list with `states`, `actions`, `observations`, `start`, `transition`
#'   and `emission` as in [fit_iohmm()], `centres` `[action, state]`, `sharpness`, `trace`, the log-posterior at each
#'   step of the best climb (with `joint = FALSE` that of centres and sharpness), and `starts`, one row per climb. It
#'   works like other decision models: [predict()][predict.ibrc_learned], [log_lik()][predict.ibrc_learned],
#'   [simulate()][simulate.ibrc_iohmm_bc]. `tidy()` gives one row per learned number, and `glance()` gives one row about
#'   the model.
#' @references Hüyük, Jarrett, Tekin and van der Schaar (2021), Explaining by imitating:
#'   understanding decisions by interpretable policy learning, *ICLR*.
#' @family decision models
#' @export
#' @examples
#' plan <- plan_agent(tiger_setting(), bounded_agent(alpha = 20))
#' visits <- simulate(plan, nsim = 100, seed = 1, horizon = 10)
#' model <- fit_iohmm_bc(visits, states = 2, starts = 4, sort_by = "hear_right", seed = 1)
#' model
#' round(model$centres, 2)
#' head(predict(model, visits))
#' together <- fit_iohmm_bc(visits, states = 2, joint = TRUE, starts = 2, max_iter = 50, seed = 1)
#' glance(together)
fit_iohmm_bc <- function(visits, states = 3, joint = FALSE, sharpness = NULL, starts = 10, actions = NULL,
                         observations = NULL, zeros = "data", prior = 0.5, transitions = c("action", "shared"),
                         sort_by = NULL, names = NULL, centre_sd = 3, sharpness_sd = 3, tolerance = 1e-6,
                         max_iter = 5000, cores = getOption("ibrc.cores", 1), seed = NULL,
                         refresh = default_refresh()) {
  check_given(visits)
  check_visits(visits)
  states <- check_state_numbers(states)
  if (any(states < 2)) abort_input("states", "must be 2 or more: with one state there is only one belief.")
  joint <- check_flag(joint, "joint")
  if (!is.null(sharpness)) sharpness <- check_sharpness(sharpness)
  run <- list(starts = check_count(starts, "starts", most = most_at_once),
              tolerance = check_positive(tolerance, "tolerance"),
              max_iter = check_count(max_iter, "max_iter", least = 2), cores = check_count(cores, "cores"),
              refresh = check_count(refresh, "refresh", least = 0))
  rule <- list(sharpness = sharpness, centre_sd = check_sd(centre_sd, "centre_sd"),
               sharpness_sd = check_sd(sharpness_sd, "sharpness_sd"))
  if (!is.null(seed)) seed <- check_seed(seed)
  refuse_unseen(visits)
  words <- learned_words(visits, actions, observations)
  coded <- learned_visits(visits, words)
  check_teaching(coded)
  seeds <- with_stream(streams_from_seed(seed)[[1]], sample.int(.Machine$integer.max, 3))
  dynamics <- alone_dynamics(visits, states, run, words, zeros, prior, transitions, sort_by, names, seeds[1])
  problem <- cloning_problem(dynamics, coded, words, rule)
  first <- clone_alone(dynamics, problem, run, seeds[2])
  found <- if (joint) clone_together(first, problem, run, seeds[3]) else first
  out <- new_ibrc_iohmm_bc(found, problem, joint, taught_by(coded))
  out$taught$longest <- max(coded$place)
  if (!out$converged) {
    warn("convergence", "The best climb was still rising after all ", run$max_iter, " steps: raise `max_iter`.")
  }
  out
}

check_sharpness <- function(sharpness) {
  sharpness <- check_positive(sharpness, "sharpness")
  if (sharpness > 1e6) abort_input("sharpness", "must be at most 1e6: it is ", format(sharpness), ".")
  sharpness
}

check_sd <- function(x, argument) {
  if (identical(x, Inf)) return(x)
  x <- check_positive(x, argument)
  if (x < 1e-6) abort_input(argument, "must be at least 1e-6: it is ", format(x), ".")
  x
}

# Dynamics learned from what was seen. Their own warning about convergence is not shown: there is one for the whole fit.
alone_dynamics <- function(visits, states, run, words, zeros, prior, transitions, sort_by, names, seed) {
  withCallingHandlers(
    fit_iohmm(visits, states, run$starts, words$actions, words$observations, zeros, prior, transitions, sort_by, names,
              run$tolerance, run$max_iter, run$cores, seed, keep_data = FALSE),
    ibrc_warning_convergence = function(w) invokeRestart("muffleWarning")
  )
}

# ---- what is climbed ---------------------------------------------------------------------------------------------

# The first guess of the sharpness, and the middle of its prior.
usual_sharpness <- 10

# All that climbs need: the tree of histories with what was done at each, priors, and sizes. It contains no visits.
cloning_problem <- function(dynamics, coded, words, rule) {
  coded <- without_open_ends(coded)
  fixed <- !is.null(rule[["sharpness"]])
  pairs <- count_pairs(coded, words)
  # `task` is what kernels read. The rest is for random laws and for the number of free parameters.
  list(task = c(list(n_states = length(dynamics$states), n_actions = length(words$actions),
                     n_obs = length(words$observations)),
                cloning_tree(coded, words),
                list(prior = prior_for_kernel(dynamics$prior, dynamics$possible, dynamics$shared),
                     centre_sd = rule$centre_sd, log_sharpness_mean = log(usual_sharpness),
                     log_sharpness_sd = rule$sharpness_sd, fixed = as.integer(fixed))),
       begin_sharpness = if (fixed) rule[["sharpness"]] else usual_sharpness, words = words, states = dynamics$states,
       scores = dynamics$scores, possible = dynamics$possible, pairs = pairs, shared = dynamics$shared,
       taken = tabulate(coded$action + 1L, length(words$actions)))
}

# The tree of distinct histories, and how often each action that counts was taken at each, [action, node].
cloning_tree <- function(coded, words) {
  states <- with_ends(coded)
  states$scored <- logical(length(states$trajectory))
  states$scored[states$visit] <- coded$scored
  histories <- build_histories(states, words)
  n <- histories$n_histories
  tree <- list(n_nodes = n, parent = histories$parent, action = histories$action, observation = histories$observation,
               through = as.numeric(tabulate(histories$visit, n)))
  list(tree = tree, chosen = matrix(as.numeric(histories$count), length(words$actions)))
}

# A centre begins at the mean belief at which its action was taken, or at a random place.
clone_alone <- function(dynamics, problem, run, seed) {
  task <- problem$task
  beliefs <- .Call(ffi_iohmm_expect, whole_tree(task$tree), iohmm_laws(dynamics))$filter
  mean_belief <- (beliefs %*% t(task$chosen) + 1 / task$n_states) / rep(rowSums(task$chosen) + 1, each = task$n_states)
  streams <- streams_from_seed(seed, run$starts)
  begin <- vapply(seq_along(streams), function(i) {
    centres <- if (i == 1) mean_belief else with_stream(streams[[i]], random_centres(task))
    c(centres, log(problem$begin_sharpness))
  }, numeric(task$n_states * task$n_actions + 1))
  evaluate <- function(x) .Call(ffi_iohmm_bc_choice, task, beliefs, x, run$cores)
  climbs <- climb_by_slopes(evaluate, begin, run, work = length(beliefs) * task$n_actions)
  best <- which.max(climbs$objective)
  c(joint_worth(problem, c(to_weights(dynamics, problem), climbs$at[, best])),
    list(laws = dynamics[c("start", "transition", "emission")], starts = climb_table(climbs),
         trace = climbs$trace[[best]], converged = climbs$converged[best] && dynamics$converged))
}

random_centres <- function(task) {
  vapply(seq_len(task$n_actions), function(u) {
    p <- stats::rexp(task$n_states)
    p / sum(p)
  }, numeric(task$n_states))
}

# Learns everything at once. Climbs begin where cloning alone ended, and at other places.
clone_together <- function(first, problem, run, seed) {
  task <- problem$task
  streams <- streams_from_seed(seed, run$starts)
  begin <- vapply(seq_along(streams), function(i) {
    if (i == 1) return(first$at)
    with_stream(streams[[i]], {
      laws <- random_laws(problem, task$n_states)
      c(to_weights(laws, problem), random_centres(task), log(problem$begin_sharpness))
    })
  }, first$at)
  evaluate <- function(x) .Call(ffi_iohmm_bc_joint, task, x, run$cores)
  climbs <- climb_by_slopes(evaluate, begin, run, work = 3 * task$tree$n_nodes * (task$n_states^2 + 10), aloud = TRUE)
  best <- which.max(climbs$objective)
  c(joint_worth(problem, climbs$at[, best]),
    list(starts = climb_table(climbs), trace = climbs$trace[[best]], converged = climbs$converged[best]))
}

joint_worth <- function(problem, at) {
  c(list(at = at), .Call(ffi_iohmm_bc_joint, problem$task, at, 1L)[c("objective", "seen", "chosen")])
}

climb_table <- function(climbs) {
  data.frame(start = seq_along(climbs$objective), objective = climbs$objective, iterations = climbs$iterations,
             converged = climbs$converged)
}

# ---- the model -----------------------------------------------------------------------------------------------------

# The states of jointly learned dynamics are ordered in the same way as those of dynamics alone.
new_ibrc_iohmm_bc <- function(found, problem, joint, taught) {
  words <- problem$words
  states <- problem$states
  n <- length(states)
  laws <- from_weights(found$at, problem)
  if (!joint) laws[c("start", "transition", "emission")] <- found$laws
  order <- if (joint) order_states(expected_counts(laws, problem), problem$scores, problem, n) else seq_len(n)
  size <- c(n, length(words$observations), length(words$actions))
  named <- function(x, size, ...) array(x, size, list(...))
  structure(
    list(states = states, actions = words$actions, observations = words$observations, words = words,
         start = stats::setNames(as.vector(laws$start)[order], states),
         transition = named(array(laws$transition, size[c(1, 1, 3)])[order, order, ], size[c(1, 1, 3)], from = states,
                            to = states, action = words$actions),
         emission = named(array(laws$emission, size)[order, , ], size, to = states, observation = words$observations,
                          action = words$actions),
         centres = named(t(laws$centres[order, ]), size[c(3, 1)], action = words$actions, state = states),
         sharpness = laws$sharpness, joint = joint, fixed = problem$task$fixed == 1L, shared = problem$shared,
         objective = found$objective, log_lik_actions = found$chosen, log_lik_observations = found$seen,
         trace = found$trace, starts = found$starts, converged = found$converged,
         n_parameters = iohmm_parameters(problem, n) + size[3] * (n - 1) + (problem$task$fixed == 0L),
         taught = taught),
    class = c("ibrc_iohmm_bc", "ibrc_learned")
  )
}
