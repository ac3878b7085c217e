#' Planners
#'
#' Lists the planners of this package. A planner goes from a setting, and from what somebody wants and may do, to
#' behaviour. They are the rows of Table 2 of the paper behind this package (Jarrett, Hüyük and van der Schaar 2021), in
#' the same order, followed by the noisy planner of its Table 4.
#' Every planner returns a plan, and all plans answer the same calls: [value()], [policy()],
#' [simulate()][simulate.ibrc_plan], [log_lik()], [predict()][predict.ibrc_plan].
#'
#' @return A data frame with one row per planner:
#'   * `planner`: a key that [project_behavior()] takes.
#'   * `title`: its name.
#'   * `setting`: whether the state has to be seen (`"seen"`) or may also be hidden (`"seen or hidden"`).
#'   * `parameters`: what has to be known.
#'   * `objective`: what the planner looks for.
#'   * `function`: the name of the function.
#'   * `reference`: an example, in most rows a publication.
#' @seealso [inverse_planners()], which go the other way; [agents()]; [decision_models()], which join the two.
#' @family framework
#' @export
#' @examples
#' planners()[c("title", "function")]
planners <- function() {
  row <- function(planner, title, setting, parameters, objective, reference) {
    data.frame(planner = planner, title = title, setting = setting, parameters = parameters, objective = objective,
               `function` = paste0("plan_", planner), reference = reference, check.names = FALSE)
  }
  rbind(
    row("rule", "Decision rule", "seen or hidden", "the rule", "nothing: it does what it is told", "Pomerleau (1991)"),
    row("q_learning", "Model-free learner", "seen", "utility, discount",
        "the most utility, learned by trial without knowing the dynamics", "any learner of action values"),
    row("soft_q_learning", "Maximum entropy learner", "seen", "utility, discount, alpha",
        "utility, and alpha for each nat of variety in what is done, learned by trial",
        "Haarnoja, Tang, Abbeel and Levine (2017)"),
    row("mdp", "Model-based planner", "seen", "utility, discount, dynamics", "the most utility", "any exact solver"),
    row("differentiable", "Differentiable planner", "seen", "utility, discount, dynamics, alpha, steps",
        "utility over that many visits, less alpha for each nat of departing from an even choice; has derivatives",
        "Shah, Gundotra, Abbeel and Dragan (2019)"),
    row("kl", "KL-regularised planner", "seen", "utility, discount, dynamics, alpha, action prior",
        "utility, less alpha for each nat of departing from the action prior", "Rubin, Shamir and Tishby (2012)"),
    row("iohmm_rule", "Decision rule on beliefs", "seen or hidden", "centres, sharpness, dynamics",
        "nothing: the nearer a belief is to an action's centre, the likelier the action",
        "H\u00fcy\u00fck, Jarrett, Tekin and van der Schaar (2021)"),
    row("history_q_learning", "Model-free learner of hidden states", "seen or hidden", "utility, discount, memory",
        "the most utility, learned by trial from the last visits alone", "Hausknecht and Stone (2015)"),
    row("pomdp", "Model-based planner of hidden states", "seen or hidden", "utility, discount, dynamics",
        "the most utility, with beliefs by Bayes' rule", "Smallwood and Sondik (1973)"),
    row("belief_aware", "Belief-aware planner", "seen or hidden",
        "utility of states and of beliefs, discount, dynamics",
        "the most utility where beliefs have a worth of their own",
        "Araya-L\u00f3pez, Buffet, Thomas and Charpillet (2010)"),
    row("agent", "Bounded rational control", "seen or hidden",
        "utility, discount, alpha, beta, eta, priors of actions, models and beliefs",
        "utility, less what deciding, specifying and recognising cost",
        "Jarrett, H\u00fcy\u00fck and van der Schaar (2021)"),
    row("custom", "General formulation", "seen or hidden", "whatever the objective needs",
        "any number that can be computed from a plan, given as a function",
        "Jarrett, H\u00fcy\u00fck and van der Schaar (2021)"),
    row("boltzmann", "Noisy planner", "seen or hidden", "utility, discount, dynamics, temperature",
        "the most utility; then better actions are taken more often than worse ones, but not always",
        "Cesa-Bianchi, Gentile, Lugosi and Neu (2017)")
  )
}
