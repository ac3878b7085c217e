#' What a wrong behavioural model costs
#'
#' Simulates agents of one class and infers their utility as if they were of another. Behaviour shows what is wanted
#' only through an assumption about how wishes become actions. This study shows, in your own setting, what is lost if
#' that assumption is wrong.
#'
#' The setting's own utility is the truth. An inferred utility is compared to it only in what can matter to the agents:
#' both are freed of shaping and scaled to the same size. Shaping is a potential of the state, less its discounted
#' expectation at the next visit. A constant is shaping, too.
#'
#' Read `distance` and `regret` together. Optimal behaviour shows which action is best, but not by how much. So even the
#' right model, maximum margin, is some way from the truth (`distance`), while acting on what it finds loses nothing
#' (`regret`). A wrong model may do well by `regret` in this setting, and yet its utility may mislead in another
#' setting: `distance` warns of that. Rows with the `right` model are the yardstick.
#'
#' @param setting A setting ([decision_setting()]) in which the state is seen.
#' @param agents Whose behaviour is simulated: some of `"optimal"` ([plan_mdp()]), `"boltzmann"`
#'   ([plan_boltzmann()]) and `"max_entropy"` ([plan_kl()]). It may also be a named list of functions of a setting that
#'   return a plan.
#' @param models What is assumed of them: some of `"optimal"` (maximum margin, [infer_margin()]), `"boltzmann"`
#'   (likelihood, [infer_matching()]) and `"max_entropy"` (regularised margin, [infer_soft_margin()]). It may also be a
#'   named list of functions of visits and a setting that return what an inverse planner does.
#' @param n Number of simulated patients; `Inf` shows inverse planners the agents' policies themselves, so that nothing
#'   is lost to chance.
#' @param horizon The most visits that a patient has.
#' @param alpha How freely the simulated agents depart from the best action: the temperature of `"boltzmann"` and the
#'   price of `"max_entropy"`, in the unit of the utility. By default a fifth of its range. The fitted models are not
#'   told.
#' @param replications How many times each agent is simulated; with `n = Inf` once.
#' @param seed A number that makes it repeatable; `NULL` draws from the session's generator.
#' @param refresh Whether to report progress: 0 says nothing. By default it is reported in an interactive session.
#' @return A data frame of class `ibrc_misspecification`, with one row per agent and model:
#'   * `agent` and `model`: their names.
#'   * `right`: whether the model is that of the agent. They are compared by name, so that it is `FALSE` for your own
#'     agents or models under other names.
#'   * `distance`: how far the inferred utility is from the truth, from 0 (the same to all of these agents) to 1 (the
#'     opposite).
#'   * `regret`: the share of what can be gained in the setting that is lost by acting optimally on the inferred
#'     utility, from 0 (nothing) to 1 (as bad as can be).
#'   * `divergence`: that of the agent's behaviour from the imitating one, in nats per visit. It is `Inf` where the
#'     imitator never does what the agent does.
#'   * `disagreement`: the share of visits at which the two would do different things even if their chances were tied as
#'     closely as can be (total variation, from 0 to 1).
#'   * `failed`: in how many replications there was no answer.
#'   * `note`: why there was no answer.
#'
#'   `distance`, `regret`, `divergence` and `disagreement` are means over replications.
#'   [plot()][plot.ibrc_misspecification] draws the table.
#' @references Skalse, J. and Abate, A. (2023) Misspecification in inverse reinforcement learning. *Proceedings of the
#'   AAAI Conference on Artificial Intelligence* 37.
#' @family framework
#' @export
#' @examples
#' clinic <- decision_setting(
#'   states = c("well", "ill"), actions = c("wait", "treat"), observations = c("well", "ill"),
#'   transition = list(wait = rbind(c(0.9, 0.1), c(0.2, 0.8)),
#'                     treat = rbind(c(0.9, 0.1), c(0.6, 0.4))),
#'   emission = "identity", utility = cbind(wait = c(0, -2), treat = c(-1, -3)),
#'   discount = 0.9, start = c(1, 0)
#' )
#' misspecification_study(clinic, c("boltzmann", "max_entropy"), "max_entropy", n = Inf)
misspecification_study <- function(setting, agents = c("optimal", "boltzmann", "max_entropy"),
                                   models = c("optimal", "boltzmann", "max_entropy"), n = 500,
                                   horizon = 20, alpha = NULL, replications = 1, seed = NULL,
                                   refresh = default_refresh()) {
  check_given(setting)
  check_seen_states(setting)
  agents <- as_named_functions(agents, study_agents, "agents")
  models <- as_named_functions(models, study_models, "models")
  if (!identical(n, Inf)) n <- check_count(n, "n", most = most_at_once)
  horizon <- check_count(horizon, "horizon", most = 1e6)
  alpha <- if (is.null(alpha)) utility_unit(setting) / 5 else check_positive(alpha, "alpha")
  replications <- if (is.infinite(n)) 1L else check_count(replications, "replications", most = most_at_once)
  seed <- settle_seed(seed)
  refresh <- check_count(refresh, "refresh", least = 0)
  truth <- study_truth(setting)
  streams <- streams_from_seed(seed, length(agents) * replications)
  rows <- lapply(seq_along(agents), function(i) {
    if (refresh > 0) tell(message("agent ", i, " of ", length(agents), ": ", names(agents)[i]))
    plan <- check_study_plan(call_user(agents[[i]], setting, alpha, argument = "agents"), setting)
    shown <- lapply(seq_len(replications), function(k) {
      if (is.infinite(n)) return(unname_policy(plan, setting))
      with_stream(streams[[(i - 1) * replications + k]], simulate(plan, nsim = n, horizon = horizon))
    })
    lapply(names(models), function(model) {
      study_row(names(agents)[i], model, lapply(shown, study_once, models[[model]], setting, plan, truth))
    })
  })
  out <- do.call(rbind, unlist(rows, recursive = FALSE))
  structure(out, class = c("ibrc_misspecification", "data.frame"), alpha = alpha, n = n, replications = replications)
}

# ---- who is simulated, and what is assumed ------------------------------------------------------------------------

study_agents <- list(
  optimal = function(setting, alpha) plan_mdp(setting),
  boltzmann = function(setting, alpha) plan_boltzmann(setting, alpha),
  max_entropy = function(setting, alpha) plan_kl(setting, alpha)
)

study_models <- list(
  optimal = function(visits, setting) infer_margin(visits, setting, over = "state_action"),
  boltzmann = function(visits, setting) {
    unit <- utility_unit(setting)
    infer_matching(visits, setting, "boltzmann", terms = "utility", alpha = unit, prior = study_spread * unit)
  },
  max_entropy = function(visits, setting) {
    infer_soft_margin(visits, setting, alpha = utility_unit(setting), penalty = study_penalty)
  }
)

# A small penalty, so that actions which were never seen have a finite utility.
study_penalty <- 1e-4
study_spread <- 100

# Names of known ones, or a list of the user's own.
as_named_functions <- function(x, known, argument) {
  if (is.character(x)) {
    if (!length(x) || anyNA(x) || anyDuplicated(x)) {
      abort_input(argument, "must be one or more of ", enumerate(names(known)), ", each once.")
    }
    unknown <- setdiff(x, names(known))
    if (length(unknown)) {
      abort_input(argument, "has no ", enumerate(unknown), "; there are ", enumerate(names(known)), ".")
    }
    return(known[x])
  }
  fine <- is.list(x) && !is.object(x) && length(x) && all(vapply(x, is.function, NA))
  if (!fine) {
    abort_input(argument, "must be one or more of ", enumerate(names(known)), ", or a named list of functions, not ",
                describe(x), ".")
  }
  check_names(names(x), argument)
  # The user's own agent is not given alpha.
  if (argument == "agents") lapply(x, function(f) function(setting, alpha) f(setting)) else x
}

check_study_plan <- function(plan, setting) {
  if (!inherits(plan, "ibrc_plan")) {
    abort_input("agents", "must hold functions of a setting that return a plan; one returned ", describe(plan), ".")
  }
  plan_policy(plan, setting, "agents")
  plan
}

unname_policy <- function(plan, setting) unname(plan_policy(plan, setting, "agents"))

# ---- one fit ------------------------------------------------------------------------------------------------------

# What can be gained in the setting at best and at worst.
study_truth <- function(setting) {
  markov <- as_markov(setting)
  refuse_many_pairs(markov)
  list(markov = markov, best = sum(markov$start * markov_hard(markov)$value),
       worst = -sum(markov$start * markov_hard(markov, -markov$utility)$value))
}

study_once <- function(shown, model, setting, plan, truth) {
  tryCatch({
    inferred <- model(shown, setting)
    imitating <- if (inherits(inferred, "ibrc_plan")) inferred else inferred$plan
    utility <- sure_utility(imitating$setting)
    c(distance = utility_distance(utility, truth$markov$utility, truth$markov),
      regret = utility_regret(utility, truth),
      behaviour_gap(unname_policy(plan, setting), unname_policy(imitating, setting), truth$markov))
  }, error = function(e) failure_words(e))
}

# Half the distance of two utilities that are freed of shaping and have the same size: 0 to 1. A utility that is 0
# everywhere says nothing, and is halfway from everything.
utility_distance <- function(one, other, markov) {
  shaping <- shaping_matrix(markov)
  unit <- function(utility) {
    bare <- without_shaping(unname(utility), shaping)
    size <- sqrt(sum(bare^2))
    # This is 0 but for rounding.
    if (size <= 1e-9 * sqrt(sum(utility^2)) || size == 0) 0 * bare else bare / size
  }
  sqrt(sum((unit(one) - unit(other))^2)) / 2
}

utility_regret <- function(utility, truth) {
  markov <- truth$markov
  policy <- markov_hard(markov, unname(utility))$policy
  gained <- sum(markov$start * markov_value(markov, policy))
  room <- truth$best - truth$worst
  if (room <= 1e-12 * max(abs(c(truth$best, truth$worst)))) return(0)
  min(max((truth$best - gained) / room, 0), 1)
}

# Between two policies [state, action], over the visits of the first.
behaviour_gap <- function(policy, imitating, markov) {
  time <- rowSums(markov_occupancy(markov, policy))
  each <- ifelse(policy > 0, policy * log(policy / imitating), 0)
  here <- time > 0
  c(divergence = max(sum(time[here] * rowSums(each)[here]), 0),
    disagreement = sum(time * rowSums(abs(policy - imitating))) / 2)
}

study_measures <- c("distance", "regret", "divergence", "disagreement")

study_row <- function(agent, model, found) {
  worked <- Filter(is.numeric, found)
  none <- stats::setNames(rep(NA_real_, 4), study_measures)
  means <- if (length(worked)) Reduce(`+`, worked) / length(worked) else none
  said <- unique(unlist(Filter(is.character, found)))
  data.frame(agent = agent, model = model, right = agent == model, t(means[study_measures]),
             failed = length(found) - length(worked), note = paste(said, collapse = " "))
}

#' @export
print.ibrc_misspecification <- function(x, digits = 3, ...) {
  table <- as.data.frame(x)
  if (!all(c("agent", "model", study_measures) %in% names(table))) return(NextMethod())
  cat("What it costs to take one class of agents for another",
      if (!is.null(attr(x, "n"))) paste0(" (", if (is.infinite(attr(x, "n"))) "their policies themselves" else
        plural(attr(x, "n"), "patient"), ")"), "\n", sep = "")
  shown <- table[c("agent", "model", if (!is.null(table$right)) "right", study_measures)]
  if (!is.null(shown$right)) shown$right <- ifelse(shown$right, "yes", "no")
  shown[study_measures] <- lapply(shown[study_measures], function(v) formatC(v, digits = digits, format = "f"))
  names(shown)[2] <- "taken for"
  print(shown, row.names = FALSE)
  writeLines(c(
    bullet("right: whether the model is the agent's own, the yardstick for the others."),
    bullet(paste("distance of the inferred utility from the true one, 0 (all the same to these agents) to 1 (the",
                 "opposite); regret, the share of what can be gained that is lost by acting on it.")),
    bullet(paste("divergence (nats per visit) and disagreement (share of visits) of the imitating behaviour from the",
                 "agent's."))
  ))
  lost <- table[which(table$failed > 0), ]
  for (i in seq_len(nrow(lost))) {
    writeLines(bullet(paste0(lost$agent[i], " taken for ", lost$model[i], ": ", lost$note[i])))
  }
  invisible(x)
}

#' @export
as.data.frame.ibrc_misspecification <- function(x, ...) {
  for (name in c("alpha", "n", "replications")) attr(x, name) <- NULL
  class(x) <- "data.frame"
  x
}
