#' The inverse planners
#'
#' The paper's Table 3 as a data frame. It says what each inverse planner assumes about the demonstrator, what else it
#' has to be given, what it looks for, and the function that does it here. All of them return an object that prints,
#' [tidy()][tidy.ibrc_inferred]s, predicts and has a likelihood as a plan has. [project_behavior()] gives the behaviour
#' that imitates what was demonstrated.
#'
#' @return A data frame with one row per inverse planner, in the paper's order:
#'   * `inverse`: its key.
#'   * `title`: its name.
#'   * `demonstrator`: what is assumed about the demonstrator.
#'   * `helper`: what else is needed.
#'   * `setting`: whether the state must be seen.
#'   * `packages`: suggested packages that it needs, with the argument that needs them.
#'   * `objective`: what is sought, in words.
#'   * `function`: the function that does it.
#'   * `reference`: one or more publications.
#' @seealso [infer_shared_utility()] for one utility in several settings.
#' @family framework
#' @export
#' @examples
#' inverse_planners()[c("title", "function")]
inverse_planners <- function() {
  row <- function(inverse, title, demonstrator, helper, objective, reference, setting = "seen", packages = "none") {
    data.frame(inverse = inverse, title = title, demonstrator = demonstrator, helper = helper, setting = setting,
               packages = packages, objective = objective, `function` = paste0("infer_", inverse),
               reference = reference, check.names = FALSE)
  }
  rbind(
    row("perturbation", "Minimum perturbation", "deterministic, optimal", "a default utility",
        "the utility nearest to the default under which what was done is optimal",
        "Heuberger (2004)", packages = "quadprog; lpSolve with norm = 1 or Inf"),
    row("margin", "Maximum margin", "deterministic, optimal", "none",
        "a utility under which what was done beats every other action by the most",
        "Ng and Russell (2000)", packages = "lpSolve"),
    row("soft_margin", "Regularised maximum margin", "stochastic, optimal", "none",
        "a utility under which a soft imitator gains least on what was done, with a penalty on its size",
        "Ho and Ermon (2016)"),
    row("experiments", "Multiple experimentation", "deterministic, optimal", "several environments",
        "a utility under which what was done is nearest to optimal in every environment",
        "Amin and Singh (2016)", packages = "lpSolve"),
    row("scores", "Distance minimisation", "scored trajectory by trajectory", "a score of each trajectory",
        "the utility whose sums over trajectories are nearest to their scores",
        "El Asri, Piot, Geist, Laroche and Pietquin (2016); Burchfiel, Tomasi and Parr (2016)", "seen or hidden",
        "lpSolve with p = 1"),
    row("soft_policies", "Soft policy inversion", "stochastic, in batches that improve", "demonstrations in order",
        "the utility that explains, but for shaping, each step from one batch to the next",
        "Jacq, Geist, Paiva and Pietquin (2019)"),
    row("preferences", "Preference extrapolation", "stochastic, ranked in pairs", "which of two trajectories is better",
        "the utility under which the better trajectory of a pair is the likelier choice",
        "Brown, Goo, Nagarajan and Niekum (2019)", "seen or hidden"),
    row("matching", "Soft policy matching", "stochastic, optimal", "none",
        "the utility under which what was done is likeliest",
        "Ziebart (2010); Neu and Szepesv\u00e1ri (2007)", "seen or hidden"),
    row("distribution", "Distribution matching", "stochastic, optimal", "none",
        "the behaviour whose visits to states and actions diverge least from those demonstrated",
        "Ho and Ermon (2016); Ghasemipour, Zemel and Gu (2019)",
        packages = "lpSolve with divergence = \"total_variation\""),
    row("custom", "General formulation", "any", "any",
        "whatever is least by a given comparison of demonstrated and imitating behaviour",
        "Jarrett, H\u00fcy\u00fck and van der Schaar (2021)", "seen or hidden")
  )
}

# The name of an inverse planner in print; one that is not in the table is called by its key.
inverse_title <- function(inverse) {
  table <- inverse_planners()
  at <- match(inverse, table$inverse)
  if (!is.na(at)) return(table$title[at])
  words <- gsub("_", " ", inverse)
  paste0(upper_case(substr(words, 1, 1)), substring(words, 2))
}
