#' Act by a rule
#'
#' The simplest planner is told what to do. Any rule will do, whether or not it serves a purpose: a rule that was
#' learned from behaviour by cloning, a rule from a guideline, a rule of thumb. The plan says what the rule is worth in
#' the setting and how it behaves there.
#'
#' At beliefs between the nodes of the lattice, the probabilities of the surrounding nodes are averaged. The same
#' happens at the first visit of a setting in which the state is seen, if several states are possible there.
#'
#' @inheritParams plan_pomdp
#' @param setting A setting ([decision_setting()]).
#' @param rule What is done: a matrix of probabilities `[state, action]`; a vector of probabilities that is the same at
#'   every belief; or a function of a matrix of beliefs (one column per state) that returns a matrix
#'   `[belief, action]`. If the state is hidden, a matrix means to act as in a state that is drawn from the belief.
#' @param models By which dynamics beliefs are updated ([model_prior()]), if not by the setting's own. Each of several
#'   models keeps its weight.
#'
#' @return A plan of class `ibrc_planned`. It is read in the same way as a plan of [plan_agent()]. [value()] is what the
#'   rule is worth, and [action_value()] is what an action is worth if the rule is followed afterwards.
#' @seealso [planners()] for the other planners; [infer_matching()] learns a rule from visits.
#' @references Pomerleau (1991), Efficient training of artificial neural networks for autonomous navigation,
#'   *Neural Computation*.
#' @family framework
#' @export
#' @examples
#' # Listen until one door is almost certain.
#' careful <- function(beliefs) {
#'   sure <- beliefs > 0.95
#'   open <- cbind(sure[, 2], sure[, 1])
#'   out <- cbind(1 - rowSums(open), open)
#'   colnames(out) <- tiger_setting()$actions
#'   out
#' }
#' tiger_setting()$actions
#' plan_rule(tiger_setting(), careful, resolution = 40)
#' plan_rule(tiger_setting(), c(0.8, 0.1, 0.1), resolution = 40)
plan_rule <- function(setting, rule, resolution = 100, models = NULL) {
  check_given(setting, rule)
  check_class(setting, "ibrc_setting", "setting", "decision_setting()")
  rule <- check_rule(rule, setting)
  problem <- build_problem(setting, models, resolution)
  plan_with_policy(problem, "rule", rule_at_nodes(rule, problem), list(rule = rule_words(rule)))
}

# A function, or probabilities [state, action].
check_rule <- function(rule, setting, argument = "rule") {
  if (is.function(rule)) return(rule)
  if (is.data.frame(rule)) rule <- as.matrix(rule)
  if (is.numeric(rule) && length(dim(rule)) == 2) {
    table <- as_utility(rule, setting$states, setting$actions, argument)
    table[] <- check_probability_rows(table, argument)
    return(table)
  }
  if (!is.numeric(rule) || !is.null(dim(rule))) {
    abort_input(argument, "must be probabilities of the actions, a matrix of them [state, action] or a ",
                "function(beliefs), not ", describe(rule), ".")
  }
  check_distribution(rule, setting$actions, argument, of = "actions")
}

# Probabilities [node, action].
rule_at_nodes <- function(rule, problem, argument = "rule") {
  if (is.function(rule)) {
    return(at_nodes(problem$space, function(beliefs) rule_at(rule, beliefs, problem$setting$actions, argument)))
  }
  if (is.null(dim(rule))) return(matrix(rule, problem$space$n_nodes, length(rule), byrow = TRUE))
  expect_at_nodes(problem$space, rule)
}

rule_at <- function(rule, beliefs, actions, argument) {
  law <- call_user(rule, beliefs, argument = argument)
  size <- c(nrow(beliefs), length(actions))
  if (!is.numeric(law) || !identical(dim(law), size)) {
    abort_input(argument, "must return probabilities [belief, action], here ", size[1], " by ", size[2], ", not ",
                describe(law), ".")
  }
  if (!is.null(colnames(law))) law <- law[, match_names(colnames(law), actions, argument, "actions"), drop = FALSE]
  check_probability_rows(law, argument)
}

rule_words <- function(rule) {
  if (is.function(rule)) return("a function of beliefs")
  if (is.null(dim(rule))) parameter_text(rule) else "probabilities by state"
}
