#' State the design of a study
#'
#' Describes a study before it is done: who decides, for how many patients and visits, how the groups differ, which
#' clinicians or sites vary, what is confounded, and how it would be analysed. [power_study()] and [recovery_study()]
#' simulate such studies and say what they find; `simulate()` makes the visits of one.
#'
#' Everything is stated, and everything estimated, on the scale a sampler works on ([ibrc_prior()]): the logarithm of
#' `alpha`, `beta` and `eta`, and `optimism` (and other inverses) as they are. So an effect of `alpha = log(2)` doubles
#' alpha. The parameters of one decision maker are those of the group, plus the intercept of the cluster, plus the
#' confounder's value times its effect. A study estimates the difference of a group from the first at the same value of
#' the confounder, averaged over clusters.
#'
#' @section Fits of your own:
#' `fit` may be a function of the visits and the design (its `setting`, `models`, `prior`, `agents`, `conf.level` and so
#' on are entries of a list). It returns a data frame with `term`, `estimate`, `conf.low` and `conf.high`, on the scale
#' above. For [power_study()] it has one row per term, with differences of the second group from the first (with three
#' groups or more, one row per term and `group`). For [recovery_study()] it has one row per term (with several groups,
#' one per term and `group`). Terms are those of `effect`, else those in which `agents` differ, else those of the prior;
#' rows of other terms are left out. A column `settled` may say whether the fit came to its end.
#'
#' @param setting The setting ([decision_setting()]) in which patients live and agents plan.
#' @param models What agents may believe about the dynamics ([model_prior()]); the setting's own by default.
#' @param agents Who decides: a list of agents ([bounded_agent()]) named by group, where the others are compared with
#'   the first; or one agent, for one group or, with `effect`, for two.
#' @param effect How the second group, `other`, differs from the first, `reference`: such as `list(optimism = -0.5)`.
#'   Zeros state a study in which there is no difference to find.
#' @param patients Patients in each group: one number, or one per group, in their order or with their names.
#' @param horizon The most visits that a patient has.
#' @param clusters How many clinicians or sites there are in each group, such as `c(clinician = 10)`. The name is that
#'   of the column in the visits (else `cluster`). Patients are dealt out evenly.
#' @param spread Standard deviations of random intercepts per cluster, such as `c(optimism = 0.3)`.
#' @param crossed Whether the clusters are the same in all groups; else each group has its own.
#' @param confounder A covariate of patients that shifts the decisions for them and is distributed differently between
#'   groups, or `NULL`. It is a list with `name`, `effect` of one unit more (such as `list(optimism = -0.3)`), `values`
#'   (0 and 1 by default) and `chances`: one row per group and one column per value, or with two values the chance of
#'   the second in each group. Names of groups, where given, say which is which.
#' @param prior,fixed What is inferred, and what is held, as in [ibrc()]. A prior may be left out where `fit` is a
#'   function.
#' @param fit How each study is analysed: `"mode"`, [ibrc_mode()] by group with standard errors from the curvature (the
#'   quickest); `"profile"`, the same with its profile intervals (for differences, squares of distances to the ends are
#'   added up); `"posterior"`, [ibrc()] by group; or a function.
#' @param conf.level Confidence, or mass, of intervals.
#' @param resolution How finely beliefs are told apart, as in [plan_agent()].
#' @param ... Further arguments for [ibrc_mode()] or [ibrc()], such as `starts = 2`, `estimate = "mle"` or
#'   `iter = 1000`; also `effects`, such as `list(optimism ~ group + (1 | clinician))`: groups are then terms of its
#'   formulas, and not fitted apart.
#' @return An object of class `ibrc_study_design`. `simulate()` gives trajectories ([trajectories()]) with `group`, and
#'   the columns of clusters and confounder, as covariates.
#' @family studies
#' @export
#' @examples
#' design <- study_design(
#'   diag_setting(), diag_models(), bounded_agent(alpha = 0.5), effect = list(optimism = -0.5),
#'   patients = 60, clusters = c(clinician = 10), spread = c(optimism = 0.3),
#'   confounder = list(name = "severity", chances = c(0.3, 0.6), effect = list(optimism = 0.2)),
#'   prior = ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1)), starts = 2
#' )
#' design
#' simulate(design, seed = 1)
study_design <- function(setting, models = NULL, agents, effect = NULL, patients = 100, horizon = 50, clusters = NULL,
                         spread = NULL, crossed = FALSE, confounder = NULL, prior = NULL, fixed = list(),
                         fit = c("mode", "profile", "posterior"), conf.level = 0.95, resolution = 100, ...) {
  check_given(setting, agents)
  check_class(setting, "ibrc_setting", "setting", "decision_setting()")
  agents <- as_study_agents(agents, effect)
  groups <- names(agents)
  if (!is.function(fit)) {
    fit <- check_choice(fit, c("mode", "profile", "posterior"), "fit")
    if (is.null(prior)) abort_input("prior", "must be given, unless `fit` is a function.")
  } else if (!takes_two(fit)) {
    abort_input("fit", "must be a function of two arguments, the visits and the design: function(visits, design) ...")
  }
  if (!is.null(prior)) prior <- check_prior(prior, setting, fixed)
  crossed <- check_flag(crossed, "crossed")
  design <- structure(list(
    setting = setting, models = models, agents = agents, effect = as_shift(effect, "effect"),
    patients = as_patients(patients, groups), horizon = check_count(horizon, "horizon", most = 1e6),
    clusters = as_clusters(clusters, spread, crossed),
    confounder = as_confounder(confounder, groups), prior = prior, fixed = fixed, fit = fit,
    conf.level = check_level(conf.level), resolution = resolution, more = fit_options(fit, list(...))
  ), class = "ibrc_study_design")
  validate_study_design(design)
}

takes_two <- function(f) {
  taken <- names(formals(args(f)))
  "..." %in% taken || length(taken) >= 2
}

# What can be shifted: numbers that an agent has. Prices on the scale of their logarithm, others as they are.
agent_terms <- function() {
  single <- intersect(names(parameters)[parameter_column("per") == "agent"], names(formals(bounded_agent)))
  c(single, unname(price_inverses))
}

on_log <- function(term) term %in% names(price_inverses)
to_study_scale <- function(term, value) if (on_log(term)) suppressWarnings(log(value)) else value

# A number of an agent under either of its names, and an agent with another number.
term_of <- function(agent, term) {
  quantity <- quantity_of(term)
  value <- if (is.null(agent[[quantity]])) parameters[[quantity]]$rational else agent[[quantity]]
  if (term %in% price_inverses) 1 / value else value
}

with_term <- function(agent, term, value) {
  agent[[quantity_of(term)]] <- if (term %in% price_inverses) 1 / value else value
  agent
}

# `shift`: named numbers on the scale of the study.
shift_agent <- function(agent, shift) {
  for (term in names(shift)) {
    value <- term_of(agent, term)
    agent <- with_term(agent, term, if (on_log(term)) value * exp(shift[[term]]) else value + shift[[term]])
  }
  agent
}

as_study_agents <- function(agents, effect) {
  if (inherits(agents, "ibrc_agent")) {
    shift <- as_shift(effect, "effect")
    if (is.null(shift)) return(list(all = agents))
    refuse_unshiftable(list(agents), shift, "effect")
    refuse_overshot(list(agents), shift, "effect")
    return(list(reference = agents, other = shift_agent(agents, shift)))
  }
  fine <- is.list(agents) && !is.object(agents) && length(agents) && all(vapply(agents, inherits, NA, "ibrc_agent"))
  if (!fine) {
    abort_input("agents", "must come from bounded_agent(), or be a list of such agents named by group, not ",
                describe(agents), ".", topic = "bounded_agent")
  }
  if (!is.null(effect)) abort_input("effect", "is of one agent; a list of `agents` says itself how groups differ.")
  if (is.null(names(agents))) {
    abort_input("agents", "must have names by group, such as list(reference = ",
                if (length(agents) > 1) "..., other = ", "...): each agent of the list is that of one group.")
  }
  stats::setNames(agents, check_names(names(agents), "agents"))
}

# Named finite numbers, as a list or a vector; NULL is none. `least`: standard deviations are not negative.
as_shift <- function(x, argument, least = -Inf) {
  if (is.null(x)) return(NULL)
  fine <- (is.list(x) && !is.object(x) || is.numeric(x) && is.null(dim(x))) && length(x) && !is.null(names(x)) &&
    all(vapply(x, function(one) is.numeric(one) && length(one) == 1 && is.finite(one) && one >= least, NA))
  if (!fine) {
    abort_input(argument, "must be finite numbers", if (least == 0) ", none of them negative,",
                " named by term, such as c(optimism = 0.3), not ", describe(x), ".")
  }
  known <- agent_terms()
  unknown <- setdiff(names(x), known)
  if (length(unknown)) {
    abort_input(argument, "has no meaning for ", enumerate(unknown), "; there are ", enumerate(known, Inf), ".")
  }
  if (anyDuplicated(quantity_of(names(x)))) abort_input(argument, "must state each quantity once, in one of its forms.")
  vapply(x, as.numeric, 0)
}

# What is shifted must be a number that can be shifted: on the logarithm, one above 0.
refuse_unshiftable <- function(agents, shift, argument) {
  for (term in names(shift)) {
    value <- vapply(agents, term_of, 0, term)
    if (all(can_shift(term, value))) next
    abort_input(argument, "shifts ", term, ", which must be finite", if (on_log(term)) " and above 0",
                " in every agent; one has ", format(value[!can_shift(term, value)][1]), ".")
  }
}

can_shift <- function(term, value) is.finite(value) & (value > 0 | !on_log(term))

# What comes of a shift has to be such a number as well.
refuse_overshot <- function(agents, shift, argument) {
  for (term in names(shift)) {
    value <- vapply(agents, function(agent) term_of(shift_agent(agent, shift), term), 0)
    if (all(can_shift(term, value))) next
    abort_input(argument, "of ", format_number(shift[[term]]), " on ", term, " is too large: it leaves an agent with ",
                format(value[!can_shift(term, value)][1]), ".",
                if (on_log(term)) paste0(" It is added to the logarithm, so that log(2) doubles ", term, "."))
  }
}

as_patients <- function(patients, groups) {
  if (!is.numeric(patients) || !length(patients) %in% c(1, length(groups))) {
    abort_input("patients", "must be one number, or one per group (", length(groups), "), not ", describe(patients),
                ".")
  }
  if (!is.null(names(patients))) patients <- patients[match_names(names(patients), groups, "patients", "groups")]
  counts <- vapply(unname(patients), check_count, 1L, "patients", most = most_at_once)
  stats::setNames(rep_len(counts, length(groups)), groups)
}

as_clusters <- function(clusters, spread, crossed) {
  spread <- as_shift(spread, "spread", least = 0)
  if (is.null(clusters)) {
    if (!is.null(spread)) abort_input("spread", "belongs to clusters: say how many there are in `clusters`.")
    return(NULL)
  }
  name <- if (is.null(names(clusters))) "cluster" else names(clusters)[1]
  list(name = check_own_column(name, "clusters"), n = check_count(clusters, "clusters", most = most_at_once),
       spread = spread, crossed = crossed)
}

# Not one of the columns that visits always have.
check_own_column <- function(name, argument) {
  taken <- c("id", "time", "action", "observation", "group")
  if (!is.character(name) || length(name) != 1 || is.na(name) || !nzchar(name) || name %in% taken) {
    abort_input(argument, "must have a name for its column other than ", enumerate(taken, Inf), ".")
  }
  name
}

as_confounder <- function(confounder, groups) {
  if (is.null(confounder)) return(NULL)
  known <- c("name", "effect", "values", "chances")
  if (!is.list(confounder) || is.object(confounder) || !all(known[c(1, 2, 4)] %in% names(confounder)) ||
      !all(names(confounder) %in% known)) {
    abort_input("confounder", "must be a list with the entries ", enumerate(known), ", not ", describe(confounder), ".")
  }
  values <- if (is.null(confounder$values)) c(0, 1) else confounder$values
  if (!is.numeric(values) || length(values) < 2 || !all(is.finite(values)) || anyDuplicated(values)) {
    abort_input("confounder", "must have two or more different numbers as its values.")
  }
  chances <- confounder$chances
  if (is.numeric(chances) && !all(is.finite(chances) & chances >= 0 & chances <= 1)) {
    abort_input("confounder", "must have chances between 0 and 1.")
  }
  if (is.numeric(chances) && is.null(dim(chances)) && length(values) == 2) chances <- chances_of_both(chances)
  if (!is.numeric(chances) || !identical(dim(chances), c(length(groups), length(values)))) {
    abort_input("confounder", "must have chances with one row per group (", length(groups), ") and one column per ",
                "value (", length(values), ").")
  }
  if (!is.null(rownames(chances))) {
    chances <- chances[match_names(rownames(chances), groups, "confounder", "groups"), , drop = FALSE]
  }
  # Other names of columns are labels of the values.
  at <- match(as.character(values), colnames(chances))
  if (!anyNA(at)) chances <- chances[, at, drop = FALSE]
  list(name = check_own_column(confounder$name, "confounder"), values = as.numeric(values),
       chances = check_probability_rows(chances, "confounder"), effect = as_shift(confounder$effect, "confounder"))
}

# [group, value] of two values, from the chances of the second.
chances_of_both <- function(second) {
  matrix(c(1 - second, second), ncol = 2, dimnames = if (!is.null(names(second))) list(names(second), NULL))
}

# What is handed on to the fitting function unchanged. `effects = ` of ibrc() and ibrc_mode(), and any other argument
# that they take, comes this way: see fit_call().
fit_options <- function(fit, more) {
  if (!length(more)) return(list())
  given <- if (is.null(names(more))) rep("", length(more)) else names(more)
  if (is.function(fit) || !all(nzchar(given))) {
    abort_input(if (is.function(fit) && nzchar(given[1])) safe_text(given[1]) else "...",
                "has no meaning here: what is handed on has a name, and is for ibrc_mode() or ibrc().")
  }
  fitting <- if (fit == "posterior") ibrc else ibrc_mode
  set_here <- c("...", "visits", "setting", "models", "prior", "fixed", "by", "conf.level", "resolution", "seed",
                "file", "refresh", "dynamics", "uncertainty", "problem")
  open <- setdiff(names(formals(fitting)), set_here)
  other <- setdiff(given, open)
  if (length(other)) {
    abort_input(safe_text(other[1]), "cannot be handed on to ", if (fit == "posterior") "ibrc" else "ibrc_mode",
                "(); there are ", enumerate(open, Inf), ".")
  }
  check_fit_options(fit, more)
  more
}

# What ibrc() and ibrc_mode() would refuse whatever the visits are, before the first study is simulated.
check_fit_options <- function(fit, more) {
  stated <- function(name, otherwise) if (is.null(more[[name]])) otherwise else more[[name]]
  control <- as_control(stated("control", ibrc_control()))
  cores <- check_count(stated("cores", 1), "cores")
  if (fit == "posterior") {
    check_run(stated("chains", 4), more$iter, more$warmup, control$thin, cores, 0, control$max_iter)
    check_choice(stated("sample_prior", "no"), c("no", "only"), "sample_prior")
  } else {
    check_choice(stated("estimate", "map"), c("map", "mle"), "estimate")
    check_count(stated("starts", 8), "starts", most = most_at_once)
  }
}

# Refuses shifts that agents cannot have, clusters without patients, and what plans refuse.
validate_study_design <- function(design) {
  refuse_unshiftable(design$agents, design$clusters$spread, "spread")
  refuse_unshiftable(design$agents, design$confounder$effect, "confounder")
  for (value in design$confounder$values) {
    refuse_overshot(design$agents, design$confounder$effect * value, "confounder")
  }
  if (identical(design$clusters$name, design$confounder$name) && !is.null(design$clusters)) {
    abort_input("confounder", "and `clusters` must have columns of different names.")
  }
  check_cluster_sizes(design)
  if (!length(design_terms(design))) {
    abort_input("prior", "must be given where neither `effect` nor the agents say which terms a study is about.")
  }
  odd <- setdiff(names(design$prior), agent_terms())
  if (length(odd)) {
    abort_input("prior", "may name numbers of agents here (", enumerate(agent_terms(), Inf), "), not ", enumerate(odd),
                ".")
  }
  check_design_formulas(design)
  plan <- plan_agent(design$setting, design$agents[[1]], design$models, resolution = design$resolution)
  for (agent in design$agents[-1]) update(plan, agent)
  design
}

# The formulas of `effects`, by term, as they were read.
design_formulas <- function(design) {
  if (is.null(design$more$effects)) list() else read_effects(design$more$effects, design$prior)
}

# What visits of it have beside their own columns.
design_columns <- function(design) c("group", design$clusters$name, design$confounder$name)

# Formulas that no simulated study could be fitted with.
check_design_formulas <- function(design) {
  if (is.function(design$fit)) return(invisible())
  formulas <- design_formulas(design)
  random <- unlist(lapply(formulas, function(one) lapply(one$random, `[[`, "columns")))
  if (length(random) && design$fit != "posterior") {
    abort_input("effects", "has a random intercept, which needs fit = \"posterior\": a mode, as with fit = \"",
                design$fit, "\", is no estimate of it.", topic = "study_design")
  }
  there <- design_columns(design)
  fixed <- unlist(lapply(formulas, function(one) all.vars(one$fixed)))
  unknown <- c(setdiff(fixed, there), setdiff(random, c("id", there)))
  if (length(unknown)) {
    abort_input("effects", "names ", enumerate(unique(unknown)), ", which the visits of this design do not have. ",
                "There ", if (length(there) == 1) "is " else "are ", enumerate(there, Inf), "; `clusters` and ",
                "`confounder` add columns.", topic = "study_design")
  }
}

check_cluster_sizes <- function(design, argument = "clusters") {
  if (!is.null(design$clusters) && design$clusters$n > min(design$patients)) {
    abort_input(argument, "leaves clusters without patients: there are ", plural(design$clusters$n, "cluster"),
                " and in one group ", plural(min(design$patients), "patient"), ".")
  }
}

# The terms that a study is about: those that are inferred. A function may ask for fewer: those of the effect or in
# which agents differ, if there are any.
design_terms <- function(design) {
  inferred <- names(design$prior)
  if (!is.function(design$fit)) return(inferred)
  if (!is.null(design$effect)) return(names(design$effect))
  differ <- stated_terms(design)
  if (length(differ)) differ else inferred
}

# The terms in which agents differ, in the form that the effect or the prior has, if one of them has it.
stated_terms <- function(design) {
  known <- c(names(design$effect), names(design$prior))
  quantities <- unique(quantity_of(agent_terms()))
  forms <- vapply(quantities, function(quantity) {
    c(known[quantity_of(known) == quantity], if (quantity == "beta") "optimism", quantity)[1]
  }, "", USE.NAMES = FALSE)
  Filter(function(term) length(unique(vapply(design$agents, term_of, 0, term))) > 1, forms)
}

# [term, group], on the scale of the study.
level_truth <- function(agents, terms) {
  value <- lapply(agents, function(agent) {
    vapply(terms, function(term) to_study_scale(term, term_of(agent, term)), 0)
  })
  matrix(unlist(value), length(terms), dimnames = list(terms, names(agents)))
}

# Differences of the other groups from the first. The difference of equal values is 0, even if they are infinite.
contrast_truth <- function(agents, terms) {
  level <- level_truth(agents, terms)
  out <- level[, -1, drop = FALSE] - level[, 1]
  out[level[, -1, drop = FALSE] == level[, 1]] <- 0
  out
}

# The same study where groups do not differ.
null_design <- function(design) {
  design$agents[] <- design$agents[1]
  if (!is.null(design$effect)) design$effect[] <- 0
  design
}
