#' A boundedly rational agent
#'
#' Three numbers say how an agent falls short of perfect rationality. `alpha` is the
#' price of deliberating; its inverse is **flexibility**. `beta` is the price of
#' believing something other than the neutral view of the dynamics; its inverse
#' is **optimism**, which is negative for a pessimist. `eta` is the price of surprise, of
#' next beliefs that stray from the belief prior; its inverse is **adaptivity**. With
#' the default belief prior, `eta > 0` favours actions after which the next belief is
#' less predictable. Give each number in either form. A number that is not given is
#' perfectly rational, so `bounded_agent()` itself is the perfectly rational agent.
#'
#' Limits are exact, not large numbers. `flexibility = Inf` always takes the best
#' action (`-Inf` the worst), and `flexibility = 0` follows the action prior.
#' `optimism = 0` keeps the neutral weights, `optimism = Inf` believes the best
#' case and `-Inf` the worst. With `adaptivity = Inf` it does not matter how hard the
#' next belief is to foresee.
#'
#' @param alpha,beta,eta Prices, as signed numbers. `alpha` and `beta` may be
#'   `Inf`. A zero keeps its sign: `alpha = -0` is `flexibility = -Inf`.
#' @param flexibility,optimism,adaptivity The inverses of the three prices.
#' @param habit How much more likely the last action is to be repeated, as log odds, before deliberating. After an
#'   action, the action prior has that action's probability times `exp(habit)`, rescaled. Below 0 the last action is
#'   avoided. A first visit has no last action, and neither has the visit behind an action that ends a trajectory: it
#'   is the next patient's first. The agent takes its habit into account when it plans.
#' @param action_prior What the agent does without deliberating: probabilities
#'   over the setting's actions, by name or in their order. Uniform by default.
#' @param belief_prior Which beliefs do not surprise: a function of a matrix of
#'   beliefs (one column per state) that returns one positive number per row. It is evaluated
#'   at the nodes of the belief lattice and is log-linear between them. `NULL` is
#'   the constant 1.
#'
#' @return An object of class `ibrc_agent`.
#' @seealso [plan_agent()], which works out what the agent does.
#' @family planning
#' @export
#' @examples
#' bounded_agent(alpha = 0.5, beta = 1.25, eta = 1e-3)
#' bounded_agent(flexibility = 2, optimism = -1)
#' bounded_agent(alpha = 0.5, habit = 1.5)
#' bounded_agent()
bounded_agent <- function(alpha = NULL, beta = NULL, eta = NULL, flexibility = NULL,
                          optimism = NULL, adaptivity = NULL, habit = 0, action_prior = NULL,
                          belief_prior = NULL) {
  if (is.numeric(adaptivity) && identical(as.numeric(adaptivity), 0)) {
    abort_input("adaptivity", "must not be 0: an agent without adaptivity has no finite value. Use a small number.")
  }
  agent <- new_ibrc_agent(
    alpha = either_form("alpha", alpha, flexibility), beta = either_form("beta", beta, optimism),
    eta = either_form("eta", eta, adaptivity), action_prior = action_prior, belief_prior = belief_prior, habit = habit
  )
  validate_ibrc_agent(agent)
}

new_ibrc_agent <- function(alpha, beta, eta, action_prior = NULL, belief_prior = NULL, habit = 0) {
  structure(list(alpha = alpha, beta = beta, eta = eta, action_prior = action_prior,
                 belief_prior = belief_prior, habit = habit), class = "ibrc_agent")
}

# An agent that was saved before habits were introduced has none.
habit_of <- function(agent) if (is.null(agent$habit)) 0 else agent$habit

either_form <- function(name, price, inverse) {
  inverse_name <- price_inverses[[name]]
  if (!is.null(price) && !is.null(inverse)) {
    abort_input(name, "and `", inverse_name, "` are the same quantity: give one of them.")
  }
  if (!is.null(price)) return(check_number(price, name, "one number, not NA"))
  if (!is.null(inverse)) return(1 / check_number(inverse, inverse_name, "one number, not NA"))
  parameters[[name]]$rational
}

validate_ibrc_agent <- function(agent) {
  for (price in names(price_inverses)) {
    agent[[price]] <- check_number(agent[[price]], price, "one number, not NA")
  }
  if (is.infinite(agent$eta)) {
    abort_input("eta", "must be finite: an agent without adaptivity has no finite value. Use a large eta.")
  }
  agent$habit <- check_number(habit_of(agent), "habit", "one finite number: log odds")
  if (is.infinite(agent$habit)) abort_input("habit", "must be finite. A large number repeats almost always.")
  prior <- agent$action_prior
  if (!is.null(prior)) {
    if (!is.numeric(prior) || length(prior) == 0 || any(!is.finite(prior)) || any(prior < 0)) {
      abort_input("action_prior", "must be non-negative numbers, one per action.")
    }
    if (all(prior == 0)) {
      abort_input("action_prior", "is 0 for every action: at least one must be possible.")
    }
    if (abs(sum(prior) - 1) > sum_tolerance) {
      abort_input("action_prior", "must sum to 1; it sums to ", format(sum(prior), digits = 10), ".")
    }
  }
  if (!is.null(agent$belief_prior) && !is.function(agent$belief_prior)) {
    abort_input("belief_prior", "must be NULL or a function(beliefs), not ",
                describe(agent$belief_prior), ".")
  }
  agent
}

# pi~ over the actions of a setting.
action_prior_of <- function(agent, setting) {
  n <- length(setting$actions)
  prior <- agent$action_prior
  if (is.null(prior)) return(stats::setNames(rep(1 / n, n), setting$actions))
  check_distribution(prior, setting$actions, "action_prior", of = "actions")
}

# log rho~ at beliefs, for an agent that has a belief prior.
log_belief_prior_at <- function(agent, beliefs) {
  prior <- call_user(agent$belief_prior, beliefs, argument = "belief_prior")
  if (!is.numeric(prior) || !length(prior) %in% c(1, nrow(beliefs)) ||
      any(!is.finite(prior)) || any(prior <= 0)) {
    abort_input("belief_prior", "must return one positive finite number per belief; it returned ",
                describe(prior), ".")
  }
  rep_len(log(as.numeric(prior)), nrow(beliefs))
}

# Each number in words, for someone who has not read the paper.
agent_words <- function(agent) {
  flexibility <- 1 / agent$alpha
  optimism <- 1 / agent$beta
  eta <- agent$eta
  c(
    alpha = if (flexibility == 0) "inflexible: acts by its action prior"
    else if (flexibility == Inf) "perfectly flexible: always takes the best action"
    else if (flexibility == -Inf) "always takes the worst action"
    else if (flexibility < 0) "seeks what it should avoid"
    else "flexible to a degree: better actions are likelier",
    beta = if (optimism == 0) "neutral about the dynamics"
    else if (optimism == Inf) "believes the best case"
    else if (optimism == -Inf) "believes the worst case"
    else if (optimism > 0) "optimistic: leans to models under which its plan pays"
    else "pessimistic: leans to models under which its plan fails",
    eta = if (eta == 0) "perfectly adaptive: how hard the next belief is to foresee does not matter"
    else if (!is.null(agent$belief_prior)) paste("adaptive to a degree:", if (eta > 0) "pays for" else "gains from",
                                                 "beliefs that stray from its belief prior")
    else paste("adaptive to a degree: drawn to beliefs that are", if (eta > 0) "hard" else "easy", "to foresee")
  )
}

#' @export
format.ibrc_agent <- function(x, ...) {
  number <- function(v) if (v == 0 && 1 / v < 0) "-0" else format(v, digits = 4, trim = TRUE)
  words <- agent_words(x)
  row <- function(name) {
    price <- x[[name]]
    sprintf("  %-11s %8s  %-16s  %s", price_inverses[[name]], number(1 / price),
            paste0("(", name, " = ", number(price), ")"), words[[name]])
  }
  c("A boundedly rational agent", vapply(names(price_inverses), row, "", USE.NAMES = FALSE),
    if (habit_of(x) != 0) {
      sprintf("  %-11s %8s  %-16s  %s", "habit", number(habit_of(x)), "(log odds)",
              if (habit_of(x) > 0) "repeats its last action more readily" else "avoids its last action")
    },
    if (!is.null(x$action_prior)) "  with its own action prior",
    if (!is.null(x$belief_prior)) "  with its own belief prior")
}

#' @export
print.ibrc_agent <- function(x, ...) {
  writeLines(format(x))
  invisible(x)
}
