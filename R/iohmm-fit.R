#' Learn hidden states and their dynamics from behaviour
#'
#' Fits an input-output hidden Markov model. A hidden state moves under the actions taken, and shows itself in what is
#' seen after them. Actions are inputs and are not explained; [ibrc()] explains them. What is learned has the form that
#' [decision_setting()] needs, see [as_setting()][as_setting.ibrc_iohmm].
#'
#' At a visit in state `s`, action `u` is taken. The next state comes from `transition[s, , u]`. What is seen comes from
#' `emission[, , u]` in the *new* state, as in [decision_setting()]. A missing observation is summed over. An action may
#' be missing only at the last visit of a trajectory ([trajectories()]). Nothing is learned from such a visit, and
#' `glance()` does not count it among the `visits`. [predict()][predict.ibrc_iohmm] and [log_lik()] still have a row or
#' an entry for it.
#'
#' The likelihood has many local maxima. Each of `starts` climbs begins at laws drawn at random. It goes up by
#' expectation-maximisation, in which the likelihood never falls. The highest result is kept. If few starts reach it,
#' there may be a higher one.
#'
#' @section Zeros:
#' Some results cannot follow some actions: the result of a scan cannot follow "no scan". With `zeros = "data"` a pair
#' of action and observation that is never seen is exactly impossible in every state. That is a statement about the
#' world and not only about the data. If a possible pair may be unseen by chance, give the pairs yourself. This takes a
#' logical matrix with one row per action and one column per observation, `TRUE` for pairs that are possible. Or give
#' `"none"`. After an action without any observation, everything is possible.
#'
#' @section Order of the states:
#' The states of a fit have no natural order. With `sort_by` they are in increasing order of a marker that is expected
#' in them. `sort_by` can be
#' * named scores of observations; those not named do not count.
#' * a function that gives a score to each name of an observation.
#' * the name of one observation, whose chance is then the marker.
#'
#' Without `sort_by` the state of most visits comes first.
#'
#' @section Starts that differ:
#' With `start_by` each group of trajectories has its own law of the first state, and shares all else. A group whose
#' members are sicker at the start then need not have other dynamics. Suppose that a fit of behaviour compares groups
#' that start differently, but uses one start for all of them. The difference is then mistaken for one between the
#' decision makers. In most studies, doctors who are the same then differ in optimism according to the intervals. The
#' package's own test of this is `tests/slow/starts.R`.
#'
#' A setting made from such a fit ([as_setting()][as_setting.ibrc_iohmm], [adni_setting()]) contains the starts
#' ([decision_setting()]). [ibrc()] uses them, trajectory by trajectory. Groups are made as with `by` of [ibrc()]: one
#' per combination of values, where missing is a value of its own. If a fit is used with other visits, these need the
#' same columns, and no group that is new to the fit.
#'
#' @section What the data leave open:
#' If an action was never taken in a state, the data say nothing about what follows it. Such a row is spread evenly over
#' what is possible (or follows the prior). `tidy()` shows the expected count behind every row.
#'
#' @param visits Trajectories ([trajectories()]).
#' @param states Number of states, up to 10. With several numbers, such as `2:4`, each is fitted and the
#'   one with the lowest BIC is kept.
#' @param starts Number of random starts for each number of states.
#' @param actions,observations Names, in the order that you want. By default the levels of a
#'   factor, or the values in alphabetical order.
#' @param zeros Which pairs of action and observation are impossible: `"data"`, `"none"`
#'   or a logical matrix, see below.
#' @param prior Pseudo-counts that keep laws away from 0 ([iohmm_prior()]). The fit is then
#'   the maximum of the posterior. `NULL` is maximum likelihood. One number is a
#'   pseudo-count for every entry of every law.
#' @param transitions `"action"`: each action moves states in its own way; `"shared"`: one
#'   transition matrix for all actions.
#' @param sort_by By what to order states, see below.
#' @param names Names of the states in that order; `"state1"`, `"state2"`, ... by default. Names that mean something
#'   need `sort_by`. Without it the first name goes to the state of most visits, whatever that state is.
#' @param tolerance A climb ends when a step gains no more log-likelihood than this.
#' @param max_iter The most steps of a climb.
#' @param cores Threads to use, one per climb. Results do not depend on it.
#' @param seed A number that makes the starts repeatable; `NULL` takes one from the
#'   session's generator, which moves on by one draw. Otherwise the generator is left
#'   as it was.
#' @param keep_data Keep coded visits, without identifiers, in the fit: [model_draws()]
#'   needs them, and [predict()][predict.ibrc_iohmm] without `visits`.
#' @param start_by Names of columns, which are covariates of [trajectories()]. Each group that they form has its own law
#'   of the first state, see below. `NULL`: one law for all.
#'
#' @return An object of class `ibrc_iohmm`. `summary()` prints its laws. It is a list with the arguments of the call and
#'   * `states`, `actions` and `observations`.
#'   * `start`; with `start_by` a matrix `[group, state]`.
#'   * `transition` `[from, to, action]` and `emission` `[to, observation, action]`.
#'   * `log_lik`, the log-likelihood.
#'   * `trace`, the objective at each step of the best climb. The objective is the log-likelihood plus the log-density
#'     of the prior up to a constant.
#'   * `starts`, a data frame with one row per climb. It has `states`, `start`, `log_lik`, `objective`, `iterations` and
#'     `converged`.
#'   * `counts`, what is expected to have happened.
#'   * `choices` `[state, action]`, the expected number of times that each action was taken in each state, for actions
#'     that are scored.
#'   * `n_parameters`, how many there are.
#'   * `start_share`, with `start_by`: the share of each group among the trajectories.
#' @aliases summary.ibrc_iohmm
#' @seealso [predict()][predict.ibrc_iohmm] and [simulate()][simulate.ibrc_iohmm] for what a fit
#'   says about visits, [tidy()][tidy.ibrc_iohmm] for tables, [model_draws()] for the
#'   uncertainty about it.
#' @family dynamics
#' @export
#' @examples
#' plan <- plan_agent(tiger_setting(), bounded_agent(alpha = 20))
#' visits <- simulate(plan, nsim = 100, seed = 1, horizon = 10)
#' # Where is the tiger? The fit does not use the setting that made the visits.
#' iohmm <- fit_iohmm(visits, states = 2, starts = 5, sort_by = "hear_right", seed = 1,
#'                    names = c("left", "right"))
#' iohmm
#' glance(iohmm)
#' round(iohmm$emission[, , "listen"], 2)
fit_iohmm <- function(visits, states = 3, starts = 20, actions = NULL, observations = NULL, zeros = "data",
                      prior = NULL, transitions = c("action", "shared"), sort_by = NULL, names = NULL,
                      tolerance = 1e-6, max_iter = 5000, cores = getOption("ibrc.cores", 1), seed = NULL,
                      keep_data = TRUE, start_by = NULL) {
  check_given(visits)
  check_visits(visits)
  refuse_bare_columns(list(start_by = substitute(start_by)), visits, parent.frame())
  states <- check_state_numbers(states)
  run <- list(starts = check_count(starts, "starts", most = most_at_once),
              tolerance = check_positive(tolerance, "tolerance"),
              max_iter = check_count(max_iter, "max_iter", least = 2), cores = check_count(cores, "cores"))
  keep_data <- check_flag(keep_data, "keep_data")
  if (!is.null(seed)) seed <- check_seed(seed)
  words <- iohmm_words(visits, actions, observations)
  names <- check_state_names(names, states)
  scores <- check_scores(sort_by, words$observations)
  all_coded <- code_visits(visits, words)
  groups <- iohmm_start_groups(visits, start_by, all_coded)
  all_coded$start <- groups$start
  coded <- without_open_ends(all_coded)
  pairs <- count_pairs(coded, words)
  possible <- possible_pairs(zeros, pairs, coded, words)
  prior <- check_iohmm_prior(prior, words)
  shared <- check_choice(transitions, c("action", "shared"), "transitions") == "shared"

  problem <- list(words = words, tree = iohmm_tree(coded, words), pairs = pairs,
                  taken = tabulate(coded$action + 1L, length(words$actions)), possible = possible, prior = prior,
                  shared = shared, start_by = groups$by, start_groups = groups$labels,
                  start_share = start_sizes_of(coded, groups$labels),
                  n_trajectories = length(unique(coded$trajectory)), n_visits = length(coded$row))
  refuse_many_starts(run$starts, max(states), words)
  streams <- streams_from_seed(seed, run$starts * length(states))
  fits <- lapply(seq_along(states), function(i) {
    mine <- streams[(i - 1) * run$starts + seq_len(run$starts)]
    climb_from_starts(problem, states[i], mine, run)
  })
  candidates <- compare_candidates(fits, problem)
  best <- fits[[which(candidates$chosen)]]
  fit <- new_ibrc_iohmm(best, problem, candidates, do.call(rbind, lapply(fits, `[[`, "table")), scores, names, run)
  fit$choices <- expect_choices(fit, coded)
  fit["coded"] <- list(if (keep_data) all_coded)
  if (!fit$converged) {
    warn("convergence", "The best climb was still rising after all ", run$max_iter, " steps: raise `max_iter`.")
  }
  fit
}

new_ibrc_iohmm <- function(best, problem, candidates, starts, scores, names, run) {
  words <- problem$words
  n <- best$n_states
  order <- order_states(best$counts, scores, problem, n)
  if (is.null(names)) names <- paste0("state", seq_len(n))
  label <- function(laws) {
    list(
      start = name_starts(matrix(laws$start, n)[order, , drop = FALSE], names, problem$start_groups),
      transition = array(laws$transition, c(n, n, length(words$actions)))[order, order, , drop = FALSE],
      emission = array(laws$emission, c(n, length(words$observations), length(words$actions)))[order, , , drop = FALSE]
    )
  }
  named <- function(laws) {
    laws <- label(laws)
    dimnames(laws$transition) <- list(from = names, to = names, action = words$actions)
    dimnames(laws$emission) <- list(to = names, observation = words$observations, action = words$actions)
    laws
  }
  laws <- named(best$laws)
  starts_by <- if (!is.null(problem$start_by)) problem[c("start_by", "start_share")]
  structure(
    c(list(states = names, actions = words$actions, observations = words$observations, start = laws$start,
         transition = laws$transition, emission = laws$emission, log_lik = best$log_lik,
         objective = best$objective, trace = best$trace, converged = best$converged, starts = starts,
         candidates = candidates, counts = named(best$counts), n_parameters = best$n_parameters,
         possible = problem$possible, prior = problem$prior, shared = problem$shared, scores = scores, run = run,
         n_trajectories = problem$n_trajectories, n_visits = problem$n_visits, n_seen = sum(problem$pairs)),
      starts_by),
    class = "ibrc_iohmm"
  )
}

# Laws [state, start] in the form of a fit: one law over the states, or one row per group.
name_starts <- function(start, states, groups) {
  if (is.null(groups)) return(stats::setNames(as.vector(start), states))
  start <- t(start)
  dimnames(start) <- list(group = groups, state = states)
  start
}

# The group of the trajectory of each visit, counted from 0, and the labels of the groups.
iohmm_start_groups <- function(visits, start_by, coded) {
  if (is.null(start_by)) return(NULL)
  start_by <- check_start_by(start_by)
  if (attr(visits, "roles")$id %in% start_by) {
    abort_input("start_by", "must name groups of trajectories: one start for each of them cannot be learned.")
  }
  group <- group_trajectories(visits, start_by, coded, argument = "start_by")
  list(by = start_by, labels = levels(group), start = as.integer(group)[coded$trajectory + 1L] - 1L)
}

# The share of each group among the trajectories. The start of a group without trajectories cannot be learned.
start_sizes_of <- function(coded, groups) {
  if (is.null(groups)) return(NULL)
  size <- tabulate(coded$start[!duplicated(coded$trajectory)] + 1L, length(groups))
  if (any(size == 0)) {
    abort("data", "A group of `start_by` has no action: nothing shows how it starts.", argument = "start_by")
  }
  stats::setNames(size / sum(size), groups)
}

# The order of the states: by their expected scores, or by the number of visits in them.
order_states <- function(counts, scores, problem, n_states) {
  size <- c(n_states, length(problem$words$observations), length(problem$words$actions))
  emission <- array(counts$emission, size)
  shown <- apply(emission, c(1, 2), sum)
  if (is.null(scores)) return(order(-rowSums(shown)))
  scored <- !is.na(scores)
  mean_score <- (shown[, scored, drop = FALSE] %*% scores[scored]) / rowSums(shown[, scored, drop = FALSE])
  order(mean_score)
}

check_state_numbers <- function(states) {
  if (!is.numeric(states) || !length(states) || anyNA(states) || any(states != round(states)) || any(states < 1)) {
    abort_input("states", "must be whole numbers, 1 or more, such as 3 or 2:4, not ", describe(states), ".")
  }
  if (anyDuplicated(states)) abort_input("states", "must be distinct numbers.")
  if (max(states) > 10) abort_input("states", "must be 10 or less; it asks for ", max(states), ".")
  as.integer(states)
}

# Every climb has laws of its own (in the list of starts, in a matrix and in its copies) and a stream of its own.
refuse_many_starts <- function(starts, n_states, words) {
  numbers <- n_states * (1 + length(words$actions) * (n_states + length(words$observations)))
  refuse_too_large(starts * (40 * numbers + 1000), "starts", "`starts` = ", format_count(starts), " climbs of ",
                   plural(n_states, "state"), " would hold ", format_count(as.numeric(starts) * numbers),
                   " probabilities, with copies on the way", advice = "take fewer")
}

check_state_names <- function(names, states) {
  if (is.null(names)) return(NULL)
  if (length(states) > 1) abort_input("names", "need one number of `states`, not several to choose from.")
  names <- check_names(names, "names")
  if (length(names) != states) {
    abort_input("names", "has ", plural(length(names), "name"), " for ", plural(states, "state"), ".")
  }
  taken <- intersect(names, reserved_columns)
  if (length(taken)) {
    abort_input("names", "cannot have ", enumerate(taken), ": tables have a column of that name beside the states.")
  }
  names
}

# One score per observation, NA if it does not count.
check_scores <- function(sort_by, observations) {
  if (is.null(sort_by)) return(NULL)
  if (is.function(sort_by)) {
    scores <- call_user(sort_by, observations, argument = "sort_by")
    if (!is.numeric(scores) || length(scores) != length(observations)) {
      abort_input("sort_by", "must return a number for each of the ", length(observations), " observations.")
    }
    sort_by <- stats::setNames(as.numeric(scores), observations)
  }
  if (is.character(sort_by) && length(sort_by) == 1) {
    as_positions(sort_by, observations, "sort_by", "observation")
    sort_by <- stats::setNames(as.numeric(observations == sort_by), observations)
  }
  if (!is.numeric(sort_by) || is.null(base::names(sort_by))) {
    abort_input("sort_by", "must be named scores of observations, a function or one observation's name, not ",
                describe(sort_by), ".")
  }
  as_positions(base::names(sort_by), observations, "sort_by", "observation")
  if (anyDuplicated(base::names(sort_by))) abort_input("sort_by", "names an observation more than once.")
  if (any(is.infinite(sort_by)) || all(is.na(sort_by))) abort_input("sort_by", "must hold finite scores.")
  stats::setNames(as.numeric(sort_by[match(observations, base::names(sort_by))]), observations)
}
