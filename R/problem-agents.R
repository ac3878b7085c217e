#' Agents that others have studied
#'
#' Most agents in the literature are special cases of one: [bounded_agent()] with some of its three prices at a limit.
#' These constructors name the special cases, so that a study can say "a maximum entropy agent" and mean exactly that.
#' [agents()] lists them.
#'
#' * `random_agent()` does not deliberate: every action is as likely as any other, whatever it believes.
#' * `optimal_agent()` always takes the best action under the dynamics that it is told.
#' * `boltzmann_agent()` works out what the optimal agent would gain by each action. It then takes better actions more
#'   often, but not always. It does not foresee its own lapses. It is therefore not a bounded agent, whose values take
#'   into account how it will act later. [plan_boltzmann()] plans for it, and [plan_agent()] refuses it.
#' * `minimum_information_agent()` pays one unit of utility per nat (the unit of information, 1.44 bits) for two things.
#'   One is departing from its action prior. The other is next states that stray from what it regards as usual (its
#'   belief prior, over states). The state must be seen.
#' * `max_entropy_agent()` prefers better actions and, among equally good ones, variety. It knows that it will do so
#'   later as well.
#' * `kl_agent()` does the same, but starts from an action prior of its own instead of equal probabilities.
#' * `robust_agent()` acts as well as it can against dynamics that lean to what would hurt it. It needs several models
#'   of the dynamics, the `models` of [plan_agent()] ([model_prior()]). With one model it is the optimal agent.
#'
#' @param temperature How freely worse actions are taken, in the unit of the utility: a positive number. Near 0 only
#'   the best action is taken.
#' @param belief_prior Which states are usual: probabilities, one positive number per state, by name or in the order of
#'   the setting's states. `NULL`: all states are equally usual.
#' @param action_prior What is done without deliberating: probabilities of the actions, by name or in the order of the
#'   setting's actions. For `minimum_information_agent()` it may be `NULL`: all actions are equally likely.
#' @param alpha The price of deliberating, in the unit of the utility per nat: a positive number.
#' @param beta The price of leaving the neutral view of the dynamics: a negative number, because this agent leans to
#'   dynamics that hurt it. Near 0 it expects the worst case.
#'
#' @return An agent of class `ibrc_agent`, as [bounded_agent()] makes it, for [plan_agent()];
#'   `boltzmann_agent()` returns one of class `ibrc_boltzmann_agent`, for [plan_boltzmann()].
#' @seealso [agents()] for the table of them, with references.
#' @family framework
#' @name named_agents
#' @examples
#' random_agent()
#' max_entropy_agent(alpha = 0.5)
#' kl_agent(alpha = 0.5, action_prior = c(0.1, 0.1, 0.8))
#' plan_agent(diag_setting(), robust_agent(beta = -2), diag_models(), resolution = 20)
#' boltzmann_agent(temperature = 0.5)
NULL

#' @rdname named_agents
#' @export
random_agent <- function() bounded_agent(flexibility = 0)

#' @rdname named_agents
#' @export
optimal_agent <- function() bounded_agent()

#' @rdname named_agents
#' @export
boltzmann_agent <- function(temperature) {
  check_given(temperature)
  new_ibrc_boltzmann_agent(check_positive(temperature, "temperature"))
}

new_ibrc_boltzmann_agent <- function(temperature) {
  structure(list(temperature = temperature), class = "ibrc_boltzmann_agent")
}

#' @export
format.ibrc_boltzmann_agent <- function(x, ...) {
  c("A Boltzmann-exploratory agent",
    paste0("  temperature ", format(x$temperature, digits = 4),
           ": takes the best action most often, and does not foresee that it may not"))
}

#' @export
print.ibrc_boltzmann_agent <- function(x, ...) {
  writeLines(format(x))
  invisible(x)
}

#' @rdname named_agents
#' @export
minimum_information_agent <- function(belief_prior = NULL, action_prior = NULL) {
  if (!is.null(belief_prior)) belief_prior <- check_state_prior(belief_prior)
  bounded_agent(alpha = 1, eta = 1, action_prior = action_prior, belief_prior = prior_of_states(belief_prior))
}

# The names of the states are matched later, when the states are known.
check_state_prior <- function(prior) {
  if (!is.numeric(prior) || !is.null(dim(prior)) || length(prior) < 2) {
    abort_input("belief_prior", "must be NULL or probabilities of the states, not ", describe(prior), ".")
  }
  bad <- which(!is.finite(prior) | prior <= 0)
  if (length(bad)) {
    abort_input("belief_prior", "must be positive; it is not at position ", bad[1],
                ". A state with probability 0 would be infinitely surprising.", rows = bad)
  }
  stats::setNames(check_distribution(unname(prior), seq_along(prior), "belief_prior"), names(prior))
}

# A law of the next state in the form that bounded_agent() takes: a function of beliefs, each of which is one state.
prior_of_states <- function(prior) {
  force(prior)
  function(beliefs) {
    if (any(beliefs != 0 & beliefs != 1)) {
      stop("it is over states, and beliefs between states have no such value. The setting must let the state be seen ",
           "(emission = \"identity\").", call. = FALSE)
    }
    if (is.null(prior)) return(rep(1 / ncol(beliefs), nrow(beliefs)))
    if (length(prior) != ncol(beliefs)) {
      stop("it has ", length(prior), " entries for ", ncol(beliefs), " states.", call. = FALSE)
    }
    if (!is.null(names(prior))) {
      unknown <- setdiff(names(prior), colnames(beliefs))
      if (length(unknown)) stop("it names unknown states ", enumerate(unknown), ".", call. = FALSE)
      prior <- prior[colnames(beliefs)]
    }
    unname(prior)[max.col(beliefs, ties.method = "first")]
  }
}

#' @rdname named_agents
#' @export
max_entropy_agent <- function(alpha) {
  check_given(alpha)
  bounded_agent(alpha = check_positive(alpha, "alpha"))
}

#' @rdname named_agents
#' @export
kl_agent <- function(alpha, action_prior) {
  check_given(alpha, action_prior)
  alpha <- check_positive(alpha, "alpha")
  if (is.null(action_prior)) {
    abort_input("action_prior", "must be given: without one this is max_entropy_agent().")
  }
  bounded_agent(alpha = alpha, action_prior = action_prior)
}

#' @rdname named_agents
#' @export
robust_agent <- function(beta) {
  check_given(beta)
  beta <- check_finite_number(beta, "beta")
  if (beta >= 0) {
    abort_input("beta", "must be less than 0: a robust agent leans to dynamics that hurt it. For the worst case alone ",
                "use bounded_agent(optimism = -Inf), for the neutral view use optimal_agent().")
  }
  bounded_agent(beta = beta)
}

#' Agents as a table
#'
#' The table has one row for each agent that the paper behind this package places among bounded agents (its Table 4), in
#' the same order. It says how well the agent deliberates (`flexibility`) and how it views the dynamics (`optimism`). It
#' says how little it matters to the agent that the next belief is hard to foresee (`adaptivity`). It also says what the
#' agent's priors are, and whether it was studied where the state is seen or hidden. This package can plan for all of
#' them in either kind of setting, except for the minimum-information agent.
#'
#' How to read the entries: `-> 0` and `-> Inf` are limits, which the package takes exactly. `= 1` is a fixed number.
#' `(0, Inf)` is any number in between, which the user chooses. With an adaptivity of `-> +-Inf` (infinite, of either
#' sign) it does not matter how hard the next belief is to foresee. A model prior that is "one model" holds a single
#' model of the dynamics.
#'
#' @return A data frame with one row per agent:
#'   * `agent`: its name.
#'   * `flexibility`, `optimism` and `adaptivity`: a number, a limit or a range (see the details).
#'   * `action_prior`, `model_prior` and `belief_prior`: its priors, `""` where none plays a part.
#'   * `observability`: where the paper's table places it (`"seen"` or `"seen or hidden"`).
#'   * `constructor` and `planner`: the names of the functions that make the agent and plan for it.
#'   * `reference`: who studied it.
#' @seealso [named_agents] for the constructors, [planners()] for the methods that plan.
#' @family framework
#' @export
#' @examples
#' agents()[c("agent", "flexibility", "optimism", "adaptivity", "constructor")]
agents <- function() {
  row <- function(agent, flexibility, optimism, adaptivity, action_prior, model_prior, belief_prior, observability,
                  constructor, reference, planner = "plan_agent") {
    data.frame(agent, flexibility, optimism, adaptivity, action_prior, model_prior, belief_prior, observability,
               constructor, planner, reference)
  }
  any_setting <- "seen or hidden"
  rbind(
    row("uniformly random", "-> 0", "-> 0", "-> +-Inf", "uniform", "one model", "", any_setting, "random_agent", ""),
    row("deterministic, optimal", "-> Inf", "-> 0", "-> +-Inf", "", "one model", "", any_setting, "optimal_agent",
        "any optimal planner"),
    row("Boltzmann-exploratory (softmax of optimal action values)", "-> Inf", "-> 0", "-> +-Inf", "", "one model", "",
        any_setting, "boltzmann_agent",
        "Heess, Silver and Teh 2013; Osband, Van Roy and Wen 2016; Cesa-Bianchi et al. 2017", "plan_boltzmann"),
    row("minimum information", "= 1", "-> 0", "= 1", "any", "one model", "any", "seen", "minimum_information_agent",
        "Globerson et al. 2009; Tishby and Polani 2011; Ortega and Braun 2013"),
    row("maximum entropy", "(0, Inf)", "-> 0", "-> +-Inf", "uniform", "one model", "", "seen", "max_entropy_agent",
        "Haarnoja et al. 2017; Haarnoja et al. 2018; Eysenbach and Levine 2019; Shi, Song and Wu 2019"),
    row("KL-regularised (of actions)", "(0, Inf)", "-> 0", "-> +-Inf", "any", "one model", "", "seen", "kl_agent",
        paste("Rubin, Shamir and Tishby 2012; Tiomkin and Tishby 2017; Leibfried et al. 2017; Galashov et al. 2019;",
              "Ho et al. 2020")),
    row("KL-penalised robust", "-> Inf", "(-Inf, 0)", "-> +-Inf", "", "any", "", "seen", "robust_agent",
        paste("Petersen, James and Dupuis 2000; Charalambous, Rezaei and Kyprianou 2004; Osogami 2012;",
              "Grau-Moya et al. 2016")),
    row("general: boundedly rational", "any but 0", "any but 0", "any but 0", "any", "any", "any", any_setting,
        "bounded_agent", "Jarrett, H\u00fcy\u00fck and van der Schaar 2021")
  )
}

# An agent that plan_agent() can plan for.
check_bounded <- function(agent) {
  if (inherits(agent, "ibrc_boltzmann_agent")) {
    abort_input("agent", "is a boltzmann_agent(), which is not a bounded agent: it does not foresee how it will act. ",
                "Plan for it with plan_boltzmann(setting, agent).", topic = "plan_boltzmann")
  }
  check_class(agent, "ibrc_agent", "agent", "bounded_agent()")
}
