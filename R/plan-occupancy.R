#' Which beliefs an agent comes to hold, and what its thinking costs
#'
#' `occupancy()` is the discounted share of visits that the agent expects to spend
#' at each belief of the lattice. `complexity()` averages over it how far the agent
#' departs from its priors. In deciding it departs from its action prior, which a habit changes after each action. In
#' specifying the dynamics it departs from the neutral model weights. In recognising, its next beliefs stray from its
#' belief prior. All three are in nats, natural units of information: 0.69 nats is one bit.
#'
#' @param plan A plan ([plan_agent()]).
#' @param start The first belief. In a setting with starts that differ ([decision_setting()]) it may be the name of a
#'   group. By default the setting's own start. If there are several, each counts by the share of its group.
#' @return `occupancy()`: a data frame with one column per state (or, for many states, the column
#'   `state`: see [tidy()][tidy.ibrc_plan]) and `occupancy`, which
#'   sums to 1. `complexity()`: a data frame with one row per complexity (`decision`,
#'   `specification`, `recognition`) and columns `complexity`, `nats`, `price`
#'   (alpha, beta, eta) and `cost` (their product).
#' @details Recognition is measured against the belief prior. The default, the constant
#'   1, is not a distribution: its complexity is minus the entropy of the next belief, which is
#'   negative. An agent at a limit (an infinite price) follows its prior, which costs nothing.
#'
#'   Per visit, expected utility less the three costs equals
#'   `(1 - discount)` times the value of the start belief. `summary()` of a plan
#'   shows this account.
#' @family planning
#' @export
#' @examples
#' plan <- plan_agent(diag_setting(), bounded_agent(alpha = 0.5, optimism = 0.8), diag_models())
#' held <- occupancy(plan)
#' held[order(-held$occupancy)[1:5], ]
#' complexity(plan)
occupancy <- function(plan, start = NULL) {
  check_given(plan)
  check_belief_plan(plan)
  share <- rowSums(matrix(occupancy_of(plan, start), plan$space$n_nodes))
  data.frame(node_columns(plan), occupancy = share, check.names = FALSE)
}

# What is done at each node. With a habit, also after each action: [action, node, last action], first without one.
policies_of <- function(plan) {
  if (is.null(plan$solution$after)) return(plan$solution$policy)
  .Call(ffi_policy_after, plan$tables, plan$problem, plan$solution$action_value)
}

# Occupancy by node. With a habit, by node and last action, first without a last action.
occupancy_of <- function(plan, start = NULL) {
  from <- begin_from(plan, start)
  corners <- locate(plan$space, from$beliefs)
  weight <- corners$weight * rep(from$share, each = nrow(corners$weight))
  mass <- numeric(plan$space$n_nodes)
  for (k in seq_along(corners$node)) mass[corners$node[k]] <- mass[corners$node[k]] + weight[k]
  result <- .Call(ffi_occupancy, plan$tables, policies_of(plan), plan$solution$sigma,
                  plan$setting$discount, mass, 1e-12)
  if (result$code != 0) {
    abort("convergence", "The occupancy did not settle: the discount (", format(plan$setting$discount),
          ") may be too close to 1.")
  }
  result$occupancy
}

#' @rdname occupancy
#' @export
complexity <- function(plan, start = NULL) {
  check_given(plan)
  check_belief_plan(plan)
  means <- mean_terms(plan, start)[c("decision", "specification", "recognition")]
  price <- c(plan$agent$alpha, plan$agent$beta, plan$agent$eta)
  # An infinite price keeps the agent at its prior, so that nothing is paid.
  cost <- ifelse(is.infinite(price), 0, price * means)
  data.frame(complexity = names(means), nats = unname(means), price = price, cost = unname(cost))
}

# Utility and complexities, weighted by occupancy.
mean_terms <- function(plan, start = NULL) {
  terms <- .Call(ffi_terms, plan$tables, plan$problem, policies_of(plan), plan$solution$sigma)
  share <- occupancy_of(plan, start)
  vapply(terms, function(term) sum(share * term), 0)
}

# The identity behind a plan, as a table: utility less costs is value.
account <- function(plan, start = NULL) {
  costs <- complexity(plan, start)
  data.frame(
    item = c("utility", paste("cost of", c("deliberating", "specifying", "recognising")), "net value"),
    amount = c(mean_terms(plan, start)[["utility"]], 0 - costs$cost,
               (1 - plan$setting$discount) * start_value(plan, start))
  )
}
