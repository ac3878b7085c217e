#' Classes of decision models
#'
#' The paper's Table 1 as a data frame: fourteen classes of models that explain behaviour. It says what each class
#' allows for, and which pair of a planner and an inverse planner gives it. [compare_models()] runs them side by side on
#' the same visits.
#'
#' A class is a projection: an inverse planner ([inverse_planners()]) infers from behaviour what a planner
#' ([planners()]) needs, and the planner turns it into imitating behaviour ([project_behavior()]). Four of the classes
#' infer dynamics and one leans to dynamics that hurt. No pair does so by itself, and `adds` says what is done besides.
#'
#' @return A data frame with one row per class, in the order of the table. The columns from `controllable` to
#'   `recognition_complexity` are logical. They say whether the class allows for what is given here.
#'   * `model`: its abbreviation in the table.
#'   * `title`: the same spelled out.
#'   * `controllable` and `observable`: an environment that is only partly so.
#'   * `purposeful`: behaviour that is purposeful (it has a utility).
#'   * `subjective`: dynamics that are subjective.
#'   * `stochastic`: actions that are stochastic.
#'   * `uncertain_knowledge`: knowledge that is uncertain.
#'   * `decision_complexity`, `specification_complexity` and `recognition_complexity`: the three complexities of a
#'     bounded agent.
#'   * `planner` and `inverse`: the names of the functions that give the class.
#'   * `arguments`: what [compare_models()] gives to the two. There `unit` is the range of the setting's utility, and
#'     `hidden` says whether the setting hides the state.
#'   * `adds`: what the class infers or does that the pair by itself does not. It is empty where the class is the pair.
#'   * `reference`: an example.
#' @references Jarrett, D., Hüyük, A. and van der Schaar, M. (2021) Inverse decision modeling: learning interpretable
#'   representations of behavior. *Proceedings of Machine Learning Research* 139, Table 1.
#' @family framework
#' @export
#' @examples
#' classes <- decision_models()
#' classes[c("model", "planner", "inverse")]
#' # Which of them allow for an agent that has its own idea of the dynamics?
#' classes$title[classes$subjective]
decision_models <- function() {
  allows <- vapply(strsplit(model_rows$allows, ""), function(signs) signs == "x", logical(length(model_traits)))
  out <- data.frame(model = model_rows$model, title = model_rows$title, t(allows),
                    planner = model_rows$planner, inverse = model_rows$inverse, arguments = model_rows$arguments,
                    adds = model_rows$adds, reference = model_rows$reference)
  names(out)[seq_along(model_traits) + 2] <- model_traits
  out
}

model_traits <- c("controllable", "observable", "purposeful", "subjective", "stochastic", "uncertain_knowledge",
                  "decision_complexity", "specification_complexity", "recognition_complexity")

# `allows`: an x for each of the traits that a class allows for. `arguments` are those of model_arguments(), in words.
model_rows <- local({
  row <- function(model, title, allows, planner, inverse, reference, arguments = "", adds = "") {
    data.frame(model = model, title = title, allows = allows, planner = planner, inverse = inverse,
               reference = reference, arguments = arguments, adds = adds)
  }
  rl <- "inverse reinforcement learning"
  po <- "under partial observability"
  wishes <- "terms = \"utility\", alpha = unit, prior = 3 * unit"
  near <- "models = perturb_models(setting, vary = if (hidden) \"emission\" else \"transition\")"
  chance <- "infers the share of chance believed in"
  rbind(
    row("BC-IL", "behavioural cloning", "xx--x----", "plan_rule", "infer_matching", "Pomerleau (1991)",
        "prior = if (hidden) 3"),
    row("Subj. BC-IL", "behavioural cloning with subjective dynamics", "xx-xx----", "plan_iohmm_rule",
        "infer_matching", "H\u00fcy\u00fck, Jarrett, Tekin and van der Schaar (2021)", "prior = 3",
        paste0(chance, "; the rule by regression")),
    row("Det. DM-IL", "deterministic distribution matching", "x--------", "plan_rule", "infer_distribution",
        "Blond\u00e9 and Kalousis (2019)", "deterministic = TRUE"),
    row("Stoc. DM-IL", "stochastic distribution matching", "x---x----", "plan_rule", "infer_distribution",
        "Ho and Ermon (2016)", "divergence = \"jensen_shannon\""),
    row("Det. IRL", paste("deterministic", rl), "x-x------", "plan_mdp", "infer_margin", "Ng and Russell (2000)",
        "over = \"state_action\""),
    row("Stoc. IRL", paste("stochastic", rl), "x-x-x----", "plan_boltzmann", "infer_matching",
        "Neu and Szepesv\u00e1ri (2007)", wishes),
    row("Subj. IRL", paste(rl, "with subjective dynamics"), "x-xxx----", "plan_boltzmann", "infer_matching",
        "Reddy, Dragan and Levine (2018)", "terms = \"alpha\"", paste0(chance, ", for `models`")),
    row("RS-IRL", paste("risk-sensitive", rl), "x-xx-x---", "plan_agent", "infer_matching",
        "Majumdar, Singh, Mandlekar and Pavone (2017)", paste0(near, ", fixed = list(eta = 0)"),
        "aversion from 0 up; then without noise"),
    row("Det. PO-IRL", paste("deterministic", rl, po), "xxx------", "plan_pomdp", "infer_matching",
        "Choi and Kim (2011)", wishes),
    row("Stoc. PO-IRL", paste("stochastic", rl, po), "xxx-x----", "plan_boltzmann", "infer_matching",
        "Makino and Takeuchi (2012)", wishes),
    row("Subj. PO-IRL", paste(rl, po, "with subjective dynamics"), "xxxxx----", "plan_boltzmann", "infer_matching",
        "Golub, Chase and Yu (2013)", "terms = \"alpha\"", paste0(chance, ", for `models`")),
    row("ME-IRL", paste("maximum entropy", rl), "x-x-x-x--", "plan_kl", "infer_soft_margin",
        "Ziebart, Maas, Bagnell and Dey (2008)", "alpha = unit, penalty = 0.001"),
    row("Subj. ME-IRL", paste("maximum entropy", rl, "with subjective dynamics"), "x-xxx-x--", "plan_kl",
        "infer_matching", "Herman, Gindele, Wagner, Schmitt and Burgard (2016)", wishes,
        paste0(chance, ", for the setting's")),
    row("Inverse bounded rational control", "inverse bounded rational control", "xxxxxxxxx", "plan_agent",
        "ibrc_mode", "Jarrett, H\u00fcy\u00fck and van der Schaar (2021)", near)
  )
})
