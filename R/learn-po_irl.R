#' Behaviour by rewards that are learned
#'
#' Bayesian inverse reinforcement learning where the state is hidden (PO-IRL). It assumes that whoever decides plans
#' perfectly, for rewards that are not known, and acts on the values with noisy choices. Their beliefs follow dynamics
#' that are learned from what was seen. It is meant for comparison: it says what was wanted, but not how bounded anybody
#' is.
#'
#' @details The planner is that of [plan_boltzmann()]: the probability of each action is proportional to the exponential
#'   of its optimal value at the present belief. The reward table, one number per state and action, has independent
#'   normal priors around 0 with standard deviation `sd`, in units of the temperature.
#'
#'   With `joint = FALSE` dynamics are learned first ([fit_iohmm()]), without regard to what was done, and are then held
#'   fixed. With `joint = TRUE` they are inferred together with the rewards, because actions say much about the dynamics
#'   for which they are chosen. Their laws have Dirichlet priors (half a pseudo-count, or those of `dynamics`, see
#'   [iohmm_prior()]), as in [ibrc()] with `uncertainty = "joint"`.
#'
#'   Draws come from a Metropolis-Hastings sampler. It learns what to propose during warm-up, and nothing afterwards.
#'   Each chain begins near a top to which it climbed by itself (with `joint = TRUE`, near the highest of them).
#'   Dynamics have dozens of terms, and each evaluation of their posterior needs a plan. So a joint run walks many steps
#'   on a guess at the posterior. The guess is exact for what was seen, and has a quadratic function for what was done.
#'   Then the posterior itself decides whether to stay there (delayed acceptance). So the draws are from the posterior,
#'   however poor the guess is. With 1,564 patients and 41 terms it takes some minutes, and gives about 1,000 effective
#'   draws of every gain.
#'
#' @section What rewards mean:
#' What it is worth to be in a state can also be paid at the visit before. So many reward tables lead to exactly the
#' same behaviour (shaping). What behaviour does show are the *gains*: the one of these tables in which the first action
#' is worth 0 in every state. `tidy()` has the gains, about which the data are informative, and the rewards, which keep
#' a good part of their prior. `contraction` is the share of the prior's variance that the data removed.
#'
#' @section Whether it can be used:
#' `print()` and `glance()` have a verdict. It asks whether the chains agree (R-hat below 1.01 and 400 effective draws
#' of every gain; for laws of the dynamics 1.05 and 100), and whether no chain stays apart. It also asks whether the
#' model predicts the visits it was learned from better than how often each action was taken. Predictions are means over
#' draws. They need fewer draws than intervals do: a model that says "caution" may predict well.
#'
#' @param visits Trajectories ([trajectories()]).
#' @param setting What is known about the problem ([decision_setting()]): its names, discount and stop actions. Unless
#'   `joint` or `dynamics` say otherwise, its dynamics are used too, and are held fixed. Its utility plays no part.
#'   `NULL`: nothing is known.
#' @param joint Whether dynamics are inferred together with the rewards.
#' @param dynamics Learned dynamics ([fit_iohmm()]) to use. With `joint = TRUE` the chains begin at them. The data are
#'   what was done and seen in `visits`, whichever visits the dynamics were learned from. Their priors and what they
#'   rule out are kept. `NULL` learns dynamics from `visits`.
#' @param states Number of states of dynamics that are learned here, if there is no `setting`.
#' @param discount How much the next visit counts compared with this one, if there is no `setting`.
#' @param sd Standard deviation of the prior of each reward, in units of the temperature; 100 at most.
#' @param resolution How finely beliefs are told apart, as in [plan_agent()].
#' @param chains,iter,warmup The number of chains, of their steps including warm-up, and of the steps of warm-up.
#'   `NULL`: 1,000 steps, or 3,000 with `joint = TRUE`, and half of them are warm-up.
#' @param draws The number of draws, evenly spaced, over which predictions are averaged.
#' @param actions,observations Names of all that may be done and seen, see [fit_baseline()]. Leave them out if `setting`
#'   or `dynamics` have them.
#' @param seed A number that makes draws repeatable. The session's generator is left as it was; `NULL` takes one number
#'   from it.
#' @param refresh Steps between messages, 0 for none. By default 200 in an interactive session.
#' @return An object of class `ibrc_po_irl`. It works like other decision models: [predict()][predict.ibrc_learned],
#'   [log_lik()][predict.ibrc_learned] (of the mean predictions) and [simulate()][simulate.ibrc_po_irl]. An observation
#'   that no state can show after its action counts as missing there. `tidy()` gives the posterior of gains and rewards
#'   with one row per term, `glance()` gives one row about the model, and [posterior::as_draws()] gives the draws. Its
#'   element `verdict` has one row per check. After an interrupt that comes after warm-up, the draws until then are
#'   returned, with a warning.
#' @references Choi and Kim (2011), Inverse reinforcement learning in partially observable environments, *Journal of
#'   Machine Learning Research*. Christen and Fox (2005), Markov chain Monte Carlo using an approximation, *Journal of
#'   Computational and Graphical Statistics*. Ng, Harada and Russell (1999), Policy invariance under reward
#'   transformations, *ICML*.
#' @seealso [infer_matching()] for the likeliest rewards under known dynamics; [irl_prior()] for rewards of agents that
#'   are not rational.
#' @family decision models
#' @export
#' @examples
#' setting <- diag_setting()
#' visits <- simulate(plan_boltzmann(setting, 4, resolution = 20), 60, seed = 1)
#' model <- fit_po_irl(visits, setting, chains = 2, iter = 200, draws = 20, seed = 1)
#' model
#' head(predict(model, visits))
#' tidy(model)[c("term", "estimate", "std.error", "contraction")]
fit_po_irl <- function(visits, setting = NULL, joint = FALSE, dynamics = NULL, states = 3, discount = 0.95, sd = 5,
                       resolution = 20, chains = 4, iter = NULL, warmup = NULL, draws = 100, actions = NULL,
                       observations = NULL, seed = NULL, refresh = default_refresh()) {
  check_given(visits)
  check_visits(visits)
  if (!is.null(setting)) check_class(setting, "ibrc_setting", "setting", "decision_setting()")
  joint <- check_flag(joint, "joint")
  if (!is.null(dynamics)) check_class(dynamics, "ibrc_iohmm", "dynamics", "fit_iohmm()")
  states <- check_count(states, "states", least = 2, most = 10)
  discount <- check_discount(discount)
  sd <- check_positive(sd, "sd")
  if (sd > 100) abort_input("sd", "must be 100 at most, in units of the temperature: above it, choices have no noise.")
  resolution <- check_count(resolution, "resolution")
  run <- check_po_irl_run(chains, iter, warmup, draws, joint)
  words <- po_irl_words(visits, setting, dynamics, actions, observations)
  seed <- settle_seed(seed)
  refresh <- check_count(refresh, "refresh", least = 0)
  streams <- streams_from_seed(seed, 2L * run$chains + 2L)
  source <- if (joint) "joint" else if (!is.null(dynamics) || is.null(setting)) "learned" else "setting"
  if (source != "setting" && is.null(dynamics)) {
    n_states <- if (is.null(setting)) states else length(setting$states)
    dynamics <- with_stream(streams[[run$chains + 2L]], {
      fit_iohmm(visits, n_states, starts = 10, actions = words$actions, observations = words$observations, prior = 0.5)
    })
  }
  setting <- po_irl_setting(setting, if (source != "setting") dynamics, discount)
  words <- unclass(setting)
  words <- words[names(words) %in% c("actions", "observations", "stop_actions", "states", "start", "start_by")]
  coded <- learned_visits(visits, words)
  check_teaching(coded)
  task <- po_irl_task(setting, coded, dynamics, joint, sd, resolution)
  refuse_many_terms(n_laws(task) + n_gains(setting))
  state <- run_po_irl(task, run, streams, refresh)
  out <- c(list(words = words, setting = setting, source = source, codec = task$codec, sd = sd, resolution = resolution,
                run = run, taught = taught_by(coded), interrupted = state$iteration < state$iter),
           po_irl_draws(state, task, streams[[run$chains + 1L]]))
  class(out) <- c("ibrc_po_irl", "ibrc_learned")
  out$verdict <- po_irl_verdict(out, coded)
  if (out$interrupted) {
    warn("interrupted", "The run was interrupted after ", plural(state$iteration, "step"), " of ", state$iter,
         ": there are ", plural(dim(out$gains)[1], "draw"), " per chain.")
  }
  out
}

check_po_irl_run <- function(chains, iter, warmup, draws, joint) {
  chains <- check_count(chains, "chains", most = 100)
  iter <- if (is.null(iter)) if (joint) 3000L else 1000L else check_count(iter, "iter", least = 4, most = most_at_once)
  warmup <- if (is.null(warmup)) iter %/% 2L else check_count(warmup, "warmup")
  if (warmup > iter - 2L) abort_input("warmup", "must leave at least two steps of `iter` to be kept.")
  list(chains = chains, iter = iter, warmup = warmup, draws = check_count(draws, "draws"))
}

# Names of what is done and seen, as far as they are known before dynamics are learned.
po_irl_words <- function(visits, setting, dynamics, actions, observations) {
  if (is.null(setting) && is.null(dynamics)) {
    refuse_unseen(visits)
    return(learned_words(visits, actions, observations))
  }
  for (argument in c("actions", "observations")) {
    if (!is.null(get(argument))) {
      abort_input(argument, "must be left out if `setting` or `dynamics` have the names.")
    }
  }
  if (is.null(setting)) dynamics else setting
}

# All that is known except rewards. What beliefs are worth by themselves is not a reward of a state.
po_irl_setting <- function(setting, dynamics, discount) {
  if (is.null(dynamics)) {
    setting$utility[] <- 0
    setting["belief_utility"] <- list(NULL)
    return(setting)
  }
  if (!is.null(setting)) {
    for (part in c("actions", "observations")) {
      if (!setequal(setting[[part]], dynamics[[part]])) {
        abort_input("dynamics", "must have the ", part, " of `setting`.")
      }
    }
    discount <- setting$discount
  }
  nothing <- matrix(0, length(dynamics$states), length(dynamics$actions))
  as_setting(dynamics, utility = nothing, discount = discount, stop_actions = as.character(setting$stop_actions))
}

# The curvature at a top is worked out for every pair of terms.
most_terms <- 200

refuse_many_terms <- function(n) {
  if (n <= most_terms) return(invisible())
  abort_input("visits", "and the setting or dynamics would ask for ", format_count(n), " numbers to be inferred, and ",
              most_terms, " is the most. Take fewer states, or coarser actions and observations.")
}

# ---- the run -------------------------------------------------------------------------------------------------------

# The sampler's state after its last step, or after the last step before an interrupt. The streams of the chains come
# first, those of their far steps last.
run_po_irl <- function(task, run, streams, refresh) {
  density <- po_irl_density(task)
  joint <- n_laws(task) > 0
  law_density <- if (joint) po_irl_law_density(task)
  far_streams <- utils::tail(streams, run$chains)
  streams <- streams[seq_len(run$chains)]
  state <- tryCatch({
    tops <- po_irl_tops(task, streams)
    far_start(walk_start(po_irl_starts(tops, density, streams), density, streams, tops$centre, tops$covariance,
                         run$warmup, run$iter), far_streams)
  }, interrupt = function(condition) {
    abort("interrupted", "The run was interrupted before its first step, while it looked for the posterior: there are ",
          "no draws.")
  })
  step <- function(state) if (joint) far_step(state, density, law_density) else walk_step(state, density)
  state <- until_interrupted(list(state = state), function(chain) list(state = step(chain$state)), function(chain) {
    made <- iteration_of(chain)
    if (refresh > 0 && made %% refresh == 0) tell(message("step ", made, " of ", steps_of(chain)))
  })$state
  if (n_draws_kept(state) < 2) {
    abort("interrupted", "The run was interrupted at step ", state$iteration, " of ", state$iter,
          ", before there were draws to keep.")
  }
  state
}

# What is kept: `laws` (fractions), `gains` and `rewards`, all [iteration, chain, term]; the log density of gains and
# laws [iteration, chain]; and the standard deviations of the prior of the gains.
po_irl_draws <- function(state, task, stream) {
  state <- walk_flush(state)
  size <- dim(state$draws)
  theta <- matrix(state$draws, ncol = size[3])
  laws <- stats::plogis(theta[, seq_len(n_laws(task)), drop = FALSE])
  gains <- theta[, n_laws(task) + seq_len(n_gains(task$setting)), drop = FALSE]
  setting <- task$setting
  spread <- 0
  map <- shaping_map(dense_transition(setting), setting$discount)
  vectors <- if (n_laws(task)) vectors_of(task$codec, laws)
  rewards <- with_stream(stream, t(vapply(seq_len(nrow(theta)), function(i) {
    if (n_laws(task)) {
      map <- shaping_map(under_laws(setting, task$codec, vectors[i, ])$transition, setting$discount)
    }
    spread <<- spread + rowSums(map^2) / nrow(theta)
    draw_table(gains[i, ], map)
  }, numeric(ncol(map)))))
  terms <- reward_terms(setting)
  as_chains <- function(x, names) array(x, c(size[1:2], ncol(x)), list(NULL, NULL, names))
  list(laws = if (n_laws(task)) as_chains(laws, names(task$codec$prior)),
       gains = as_chains(task$sd * gains, sub("^reward", "gain", terms[-seq_along(setting$states)])),
       rewards = as_chains(task$sd * rewards, terms), log_density = state$log_density_draws,
       gain_sd = task$sd * sqrt(spread))
}

reward_terms <- function(setting) {
  place <- expand.grid(state = setting$states, action = setting$actions, stringsAsFactors = FALSE)
  paste0("reward[", place$state, ",", place$action, "]")
}

# ---- what draws say ------------------------------------------------------------------------------------------------

# The numbers of the draws from which predictions are made, counted over all chains.
chosen_draws <- function(object) {
  n <- prod(dim(object$gains)[1:2])
  unique(round(seq(1, n, length.out = min(n, object$run$draws))))
}

# A function of the number of a draw that plans for it. A solve begins at the values of the previous one.
po_irl_planner <- function(object) {
  gains <- matrix(object$gains, ncol = dim(object$gains)[3])
  laws <- if (!is.null(object$laws)) matrix(object$laws, ncol = dim(object$laws)[3])
  problem <- if (is.null(laws)) build_problem(object$setting, NULL, object$resolution)
  last <- NULL
  function(i) {
    if (!is.null(laws)) {
      vector <- vectors_of(object$codec, laws[i, , drop = FALSE])[1, ]
      problem <- build_problem(under_laws(object$setting, object$codec, vector), NULL, object$resolution)
    }
    if (is.null(last)) last <<- numeric(problem$space$n_nodes)
    plan <- po_irl_plan(problem, gains_table(gains[i, ], object$setting), last)
    last <<- plan$solution$value
    plan
  }
}

action_law_of.ibrc_po_irl <- function(object, coded) {
  coded$observation <- possible_observations(coded, object$setting)
  histories <- build_histories(coded, object$setting)
  planner <- po_irl_planner(object)
  chosen <- chosen_draws(object)
  refuse_impossible_visits(coded, histories, planner(chosen[1]), taken = FALSE)
  law <- 0
  for (i in chosen) {
    law <- law + exp(read_histories(planner(i), histories, beliefs = FALSE)$log_policy) / length(chosen)
  }
  law <- t(law)[histories$visit, , drop = FALSE]
  colnames(law) <- object$words$actions
  law / rowSums(law)
}

# Codes of observations. They are missing if no state shows them after their action. In learned dynamics these are the
# observations that were not seen in the data.
possible_observations <- function(coded, setting) {
  shown <- apply(dense_model(own_model(setting)$models[[1]])$emission > 0, 2:3, any)
  known <- which(!is.na(coded$action) & coded$observation >= 0)
  at <- cbind(coded$observation[known], coded$action[known]) + 1L
  coded$observation[known[!shown[at]]] <- -1L
  coded$observation
}

#' Simulate behaviour under learned rewards
#'
#' Each trajectory is made with one draw from the posterior: with its rewards and, if these were inferred as well, with
#' its dynamics.
#'
#' @inheritParams simulate.ibrc_plan
#' @param object A model from [fit_po_irl()].
#' @return Trajectories, see [simulate()][simulate.ibrc_plan].
#' @family decision models
#' @export
#' @examples
#' visits <- simulate(plan_boltzmann(diag_setting(), 4, resolution = 20), 40, seed = 1)
#' model <- fit_po_irl(visits, diag_setting(), chains = 2, iter = 100, draws = 10, seed = 1)
#' simulate(model, 2, seed = 1)
simulate.ibrc_po_irl <- function(object, nsim = 1, seed = NULL, horizon = 50, environment = NULL, start_group = NULL,
                                 ...) {
  check_unused(...)
  planner <- po_irl_planner(object)
  chosen <- chosen_draws(object)
  roll <- function(world, starts, begin, horizon) {
    which <- chosen[sample.int(length(chosen), length(begin), replace = TRUE)]
    mine <- split(seq_along(begin), which)
    runs <- lapply(mine, function(rows) {
      plan <- planner(which[rows[1]])
      own <- if (is.null(environment)) plan$setting else world
      roll_out(plan, own, common_starts(own, plan$setting), begin[rows], horizon, 1L)
    })
    join_runs(runs, unlist(mine))
  }
  simulate_visits(object$setting, nsim, seed, horizon, environment, start_group, roll)
}

# Joins runs of some trajectories each into one run. `which`: the numbers of the trajectories, in the order of the runs.
join_runs <- function(runs, which) {
  length <- unlist(lapply(runs, `[[`, "length"), use.names = FALSE)
  visits <- order(rep(which, length))
  part <- function(name) unlist(lapply(runs, `[[`, name), use.names = FALSE)
  list(action = part("action")[visits], observation = part("observation")[visits], length = length[order(which)],
       code = part("code")[order(which)])
}
