#' Act by how near a belief is to the centre of each action
#'
#' A decision rule for hidden states that people can read. Each action has a centre among beliefs. The nearer the belief
#' is to this centre, the more often the action is taken. Beliefs are updated by Bayes' rule with dynamics such as
#' those that an input-output hidden Markov model learns ([fit_iohmm()]). The rule has no purpose: nothing is maximised.
#'
#' The probability of action u at belief z is proportional to `exp(-sharpness * sum((z - centre[u, ])^2))`. The same
#' rule is bounded rational control that considers only the present visit (`discount` 0, `alpha` 1), if the utility of
#' action u in state s is `2 * sharpness * centre[u, s] - sharpness * sum(centre[u, ]^2)`. This holds at every belief,
#' not only at the nodes of the lattice, because the quadratic part of the squared distance is the same for all actions.
#'
#' @inheritParams plan_rule
#' @param centres A matrix `[action, state]`: where in the space of beliefs each action is most likely. A centre need
#'   not be a belief. If it is not one, it only says in which direction the action becomes more likely.
#' @param sharpness How fast an action becomes rarer away from its centre: a positive number.
#' @param models By which dynamics beliefs are updated ([model_prior()]), if not by the setting's own.
#'
#' @return A plan of class `ibrc_planned`. It is read in the same way as a plan of [plan_agent()]. [value()] is what the
#'   rule is worth in the setting. [action_value()] gives the exponents of the rule (up to a term that is the same for
#'   all actions), which are not a worth.
#' @seealso [planners()] for the other planners, [plan_rule()] for any other rule.
#' @references Hüyük, Jarrett, Tekin and van der Schaar (2021), Explaining by imitating:
#'   understanding decisions by interpretable policy learning, *ICLR*.
#' @family framework
#' @export
#' @examples
#' # Listen near even odds. Open a door when the tiger is likely behind the other one.
#' tiger_setting()$actions
#' centres <- rbind(c(0.5, 0.5), c(0, 1), c(1, 0))
#' plan <- plan_iohmm_rule(tiger_setting(), centres, sharpness = 20, resolution = 40)
#' plan
#' policy(plan, rbind(c(0.5, 0.5), c(0.9, 0.1)))
plan_iohmm_rule <- function(setting, centres, sharpness, resolution = 100, models = NULL) {
  check_given(setting, centres, sharpness)
  check_class(setting, "ibrc_setting", "setting", "decision_setting()")
  centres <- check_centres(centres, setting)
  sharpness <- check_positive(sharpness, "sharpness")
  scores <- centre_scores(centres, sharpness)
  if (any(!is.finite(scores))) abort_input("centres", "and `sharpness` are too large for a double.")
  problem <- build_problem(setting, models, resolution)
  exponent <- unname(expect_at_nodes(problem$space, scores))
  even <- rep(1 / ncol(exponent), ncol(exponent))
  worth <- worth_of_policy(problem, soft_choice(exponent, 1, even)$policy)
  plan_with_values(problem, "iohmm_rule", 1, exponent, worth, price = 0,
                   parameters = list(centres = centre_words(centres), sharpness = sharpness))
}

check_centres <- function(centres, setting) {
  if (is.data.frame(centres)) centres <- as.matrix(centres)
  size <- c(length(setting$actions), length(setting$states))
  if (!is.numeric(centres) || length(dim(centres)) != 2 || !identical(dim(centres), size)) {
    abort_input("centres", "must be a numeric matrix of ", size[1], " actions by ", size[2], " states, not ",
                describe(centres), ".")
  }
  centres <- order_by_names(centres, list(action = setting$actions, state = setting$states), c("actions", "states"),
                            "centres")
  bad <- which(rowSums(!is.finite(centres)) > 0)
  if (length(bad)) abort_input("centres", "must be finite: row ", bad[1], " is not.", rows = bad)
  centres
}

# The exponents without the part that all actions share, -sharpness |z|^2. They are linear in the belief, so that their
# values at the states, [state, action], are enough.
centre_scores <- function(centres, sharpness) {
  sharpness * t(2 * centres - rowSums(centres^2))
}

centre_words <- function(centres) {
  paste(rownames(centres), apply(format(centres, digits = 3, trim = TRUE), 1, paste, collapse = " "), collapse = "; ")
}
