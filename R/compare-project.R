# Projections: an inverse planner reads behaviour, a planner acts on what it inferred. Which goes with which is in two
# tables of words, so that a pair that does not is refused with the reason.

# What a planner has to be told beside the setting; whether the state has to be seen; which of its arguments says how
# freely choices stray from the best.
planner_needs <- local({
  row <- function(planner, needs, seen, price = "") data.frame(planner, needs, seen, price)
  rbind(
    row("rule", "policy", FALSE),
    row("q_learning", "utility", TRUE),
    row("soft_q_learning", "utility", TRUE, "alpha"),
    row("mdp", "utility", TRUE),
    row("differentiable", "utility", TRUE, "alpha"),
    row("kl", "utility", TRUE, "alpha"),
    row("iohmm_rule", "centres", FALSE),
    row("history_q_learning", "utility", FALSE),
    row("pomdp", "utility", FALSE),
    row("belief_aware", "utility", FALSE),
    row("agent", "utility", FALSE, "agent"),
    row("boltzmann", "utility", FALSE, "temperature"),
    row("custom", "any", FALSE),
    # A function(setting, theta) that the user wrote.
    row("own", "any", FALSE)
  )
})

# What an inverse planner infers, whether the state has to be seen, and what has to be given to it.
inverse_gives <- local({
  row <- function(inverse, gives, seen, helper = "") data.frame(inverse, gives, seen, helper)
  rbind(
    row("perturbation", "utility", TRUE),
    row("margin", "utility", TRUE),
    row("soft_margin", "utility", TRUE),
    row("experiments", "utility", TRUE, "several settings"),
    row("scores", "utility", FALSE, "scores"),
    row("soft_policies", "utility", TRUE, "several batches of visits"),
    row("preferences", "utility", FALSE, "preferences"),
    row("matching", "planner", FALSE),
    row("distribution", "policy", TRUE),
    row("custom", "any", FALSE),
    row("ibrc_mode", "planner", FALSE)
  )
})

given_words <- c(utility = "what is wanted (a utility)", policy = "what is done (a policy)",
                 centres = "where among beliefs each action is at home (its centres)", any = "parameters of its own",
                 planner = "what its planner needs")

# What is tried in place of planners that infer_matching() does not know: one with the same wishes and the same kind of
# noise.
matched_as <- c(kl = "kl", soft_q_learning = "kl", differentiable = "kl", mdp = "mdp", q_learning = "mdp",
                pomdp = "pomdp", history_q_learning = "pomdp", belief_aware = "boltzmann", boltzmann = "boltzmann",
                rule = "rule", iohmm_rule = "iohmm_rule", agent = "agent")

# Of these the answer of infer_matching() has the plan itself.
matched_itself <- c("kl", "boltzmann", "rule", "iohmm_rule", "agent")

#' @rdname project_behavior
#' @param inverse The inverse planner: a function such as [infer_soft_margin()], or its key in [inverse_planners()],
#'   such as `"soft_margin"`. With it, `planner` is a planner, such as [plan_kl()] or `"kl"` (see [planners()]); for
#'   `"matching"` and `"custom"` also a function(setting, theta) of your own that returns a plan.
#' @param visits Trajectories ([trajectories()]) that were demonstrated; of [infer_soft_policies()] a list of them, in
#'   order.
#' @param setting A setting ([decision_setting()]).
#' @param newdata Trajectories of others, to score what was projected on; by default `visits` themselves (the last of
#'   several).
#' @param replicates How many times patients are drawn anew for intervals.
#' @param conf.level Confidence of the intervals.
#' @param seed A number that makes it repeatable; `NULL` draws from the session's generator.
#'
#' @section Pairs:
#' With `inverse`, this is the projection of behaviour onto that which the planner can produce: the inverse planner
#' infers from visits what the planner needs, and the planner acts on it. What else an argument in `...` is called goes
#' to whichever of the two functions takes it, or to both. A price or temperature that the inverse planner took for
#' granted is handed on to the planner. A pair that does not go together is refused, with the reason. [infer_matching()]
#' takes the planner as its own; for those that it does not know, it matches one with the same wishes. Where the
#' imitating behaviour need not agree with the demonstrated one, as of a planner without noise, the divergence says by
#' how much it does not.
#'
#' The divergence has rows `log_loss` (minus the log probability of the action taken), `brier` (squared distance of the
#' probabilities from it, summed over actions), `agreement` (the probability of the action taken) and, where the state
#' is seen, `divergence`: of action frequencies in each state from the imitating law, on average over visits.
#' Frequencies scatter, which alone would make that (k - 1) / (2n) in a state with n visits and k actions: this is taken
#' off, but for parameters fitted to the same visits. Intervals are over patients drawn anew with replacement, and take
#' what was inferred as it is.
#' @return With `inverse`: an object of class `ibrc_projection`, a list with the `plan`, what was `inferred` and the
#'   `divergence`, a data frame with the columns `measure`, `estimate`, `conf.low` and `conf.high`. It predicts, has a
#'   likelihood and is simulated from as its plan is; [tidy()][tidy.ibrc_projection] reads it.
#' @export
#' @examples
#'
#' # A pair: whose wishes would explain these visits, if they were those of a soft planner?
#' clinic <- decision_setting(
#'   states = c("well", "ill"), actions = c("wait", "treat"), observations = c("well", "ill"),
#'   transition = list(wait = rbind(c(0.9, 0.1), c(0.2, 0.8)),
#'                     treat = rbind(c(0.9, 0.1), c(0.6, 0.4))),
#'   emission = "identity", utility = cbind(wait = c(0, -2), treat = c(-1, -3)),
#'   discount = 0.9, start = c(1, 0)
#' )
#' visits <- simulate(plan_kl(clinic, alpha = 1), 40, seed = 1, horizon = 6)
#' project_behavior(plan_kl, infer_soft_margin, visits, setting = clinic, penalty = 0.01, seed = 1)
project_behavior.function <- function(planner, inverse, visits, setting, ..., newdata = NULL, replicates = 1000,
                                      conf.level = 0.95, seed = NULL) {
  check_given(inverse, visits, setting)
  pair <- check_pair(planner, inverse)
  check_class(setting, "ibrc_setting", "setting", "decision_setting()")
  scored <- if (is.null(newdata)) last_visits(visits) else newdata
  check_visits(scored, if (is.null(newdata)) "visits" else "newdata")
  code_scored(scored, setting, if (is.null(newdata)) "visits" else "newdata")
  replicates <- check_count(replicates, "replicates", least = 10, most = 1e6)
  conf.level <- check_level(conf.level)
  seed <- settle_seed(seed)
  made <- project_pair(planner, inverse, visits, setting, list(...), seed)
  new_ibrc_projection(pair, made, scored, setting, is.null(newdata), replicates, conf.level, seed)
}

#' @rdname project_behavior
#' @export
project_behavior.character <- function(planner, inverse, visits, setting, ...) {
  check_given(inverse, visits, setting)
  pair <- check_pair(planner, inverse)
  project_behavior.function(pair$plan_with, inverse, visits, setting, ...)
}

last_visits <- function(visits) {
  if (is.list(visits) && !is.object(visits) && length(visits)) visits[[length(visits)]] else visits
}

new_ibrc_projection <- function(pair, made, scored, setting, in_sample, replicates, conf.level, seed) {
  laws <- list(projection = predict(made$plan, scored, type = "action"))
  scores <- collect_scores(laws, code_scored(scored, setting), setting)
  n_fitted <- if (in_sample) nrow(made$inferred$estimates) else 0
  boot <- bootstrap_scores(scores, list(n_fitted), replicates, conf.level, seed)
  table <- score_table(boot, "projection")
  if (is.null(scores$by_state)) table <- table[table$measure != "divergence", ]
  structure(
    list(planner = pair$planner, inverse = pair$inverse, plan = made$plan, inferred = made$inferred,
         divergence = table, conf.level = conf.level, in_sample = in_sample,
         n_trajectories = scores$n_patients, n_visits = scores$n_visits,
         ruled_out = sum(scores$ruled_out$projection), notes = score_notes(scores)),
    class = "ibrc_projection"
  )
}

# ---- which goes with which ----------------------------------------------------------------------------------------

# Keys of both, their functions and what they are to each other; an error says why they do not go together.
check_pair <- function(planner, inverse) {
  plan <- read_planner(planner)
  infer <- read_inverse_planner(inverse)
  needs <- planner_needs[match(plan$key, planner_needs$planner), ]
  gives <- inverse_gives[match(infer$key, inverse_gives$inverse), ]
  reason <- pair_reason(needs, gives)
  if (!is.null(reason)) abort_input("inverse", reason, topic = "project_behavior")
  list(planner = plan$key, inverse = infer$key, plan_with = plan$f, infer_with = infer$f, needs = needs, gives = gives)
}

# NULL, or why not.
pair_reason <- function(needs, gives) {
  told <- function(what) given_words[[what]]
  who <- function(kind, key) if (key == "own") "a planner of your own" else paste0(kind, "_", key, "()")
  inverse <- if (gives$inverse == "ibrc_mode") "ibrc_mode()" else who("infer", gives$inverse)
  planner <- who("plan", needs$planner)
  if (gives$gives %in% c("planner", "any")) {
    if (gives$inverse == "ibrc_mode" && needs$planner != "agent") {
      return(paste0("is ibrc_mode(), which infers the prices of a bounded agent: its planner is plan_agent(), not ",
                    planner, "."))
    }
    if (gives$inverse == "matching" && needs$planner == "custom") {
      return(paste0("is infer_matching(), which needs a planner that is quick and smooth: give a function(setting, ",
                    "theta) of your own, not plan_custom()."))
    }
    return(NULL)
  }
  if (needs$planner == "own") {
    return(paste0("is ", inverse, ", which does not ask what ", planner, " takes: only infer_matching() and ",
                  "infer_custom() do."))
  }
  if (needs$needs == gives$gives || needs$needs == "any") return(NULL)
  paste0("is ", inverse, ", which infers ", told(gives$gives), ", and ", planner, " has to be told ",
         told(needs$needs), ".")
}

# By key, by the name of its function, or the function itself. One that is not ours is a planner of the user's own.
read_planner <- function(planner, argument = "planner") {
  keys <- planner_needs$planner[planner_needs$planner != "own"]
  found <- find_function(planner, keys, "plan_", argument)
  if (is.null(found)) list(key = "own", f = planner) else found
}

read_inverse_planner <- function(inverse, argument = "inverse") {
  keys <- inverse_gives$inverse
  if (identical(inverse, "ibrc_mode") || is.function(inverse) && identical(inverse, ibrc_mode)) {
    return(list(key = "ibrc_mode", f = ibrc_mode))
  }
  found <- find_function(inverse, setdiff(keys, "ibrc_mode"), "infer_", argument)
  if (is.null(found)) {
    abort_input(argument, "must be an inverse planner, see inverse_planners(); for one of your own there is ",
                "infer_custom().", topic = "inverse_planners")
  }
  found
}

find_function <- function(x, keys, prefix, argument) {
  ours <- function(key) get(paste0(prefix, key), topenv())
  if (is.character(x) && length(x) == 1 && !is.na(x)) {
    key <- sub(paste0("^", prefix), "", x)
    if (key %in% keys) return(list(key = key, f = ours(key)))
  }
  if (!is.function(x)) {
    abort_input(argument, "must be a function such as ", prefix, keys[1], ", or one of ", enumerate(keys, most = Inf),
                ", not ", describe(x), ".")
  }
  for (key in keys) if (identical(x, ours(key))) return(list(key = key, f = x))
  NULL
}

# ---- running a pair -----------------------------------------------------------------------------------------------

# `given`: further arguments, by name. Returns the plan, what was inferred, and what kind of thing that is.
project_pair <- function(planner, inverse, visits, setting, given = list(), seed = NULL) {
  pair <- check_pair(planner, inverse)
  refuse_hidden(pair, setting)
  refuse_missing_helper(pair, visits, given)
  given <- split_given(given, pair)
  inferred <- infer_for(pair, visits, setting, given$inverse, seed)
  list(plan = plan_for(pair, inferred, setting, given$planner, seed), inferred = inferred)
}

refuse_hidden <- function(pair, setting) {
  if (setting$fully_observed) return(invisible())
  if (isTRUE(pair$needs$seen)) {
    abort_input("setting", "hides the state, and plan_", pair$planner, "() has to see it.")
  }
  if (isTRUE(pair$gives$seen)) {
    abort_input("setting", "hides the state, and infer_", pair$inverse, "() asks what is done in which state.")
  }
}

refuse_missing_helper <- function(pair, visits, given) {
  several <- is.list(visits) && !is.object(visits)
  if (pair$inverse == "experiments") {
    abort_input("inverse", "is infer_experiments(), which has several settings: call it, and then project_behavior() ",
                "of its answer, which gives one plan per setting.")
  }
  if (several != (pair$inverse == "soft_policies")) {
    if (several) abort_input("visits", "must be trajectories, not a list.")
    abort_input("visits", "must be a list of trajectories for infer_soft_policies(), one per batch, in order.")
  }
  helper <- pair$gives$helper
  if (helper %in% c("scores", "preferences") && !helper %in% names(given)) {
    abort_input(helper, "must be given: infer_", pair$inverse, "() needs it.")
  }
}

# Which function takes which of the arguments.
split_given <- function(given, pair) {
  if (!length(given)) return(list(planner = list(), inverse = list()))
  named <- names(given)
  if (is.null(named) || any(!nzchar(named))) abort_input("...", "must be named arguments of the two functions.")
  takes <- function(f, but) setdiff(names(formals(f)), c(but, "..."))
  of_planner <- if (pair$planner != "own") takes(pair$plan_with, "setting") else character()
  of_inverse <- takes(pair$infer_with, c("visits", "setting", if (pair$planner != "own") "planner"))
  more <- pair$inverse == "matching" && pair$planner == "agent"
  unknown <- setdiff(named, c(of_planner, of_inverse))
  if (length(unknown) && !more) {
    abort_input("...", "has ", enumerate(unknown), ", which neither of the two functions takes; they take ",
                enumerate(unique(c(of_inverse, of_planner)), most = Inf), ".")
  }
  list(planner = given[named %in% of_planner], inverse = given[named %in% c(of_inverse, if (more) unknown)])
}

infer_for <- function(pair, visits, setting, given, seed) {
  asked <- list(visits, setting)
  takes <- names(formals(pair$infer_with))
  if ("seed" %in% takes && is.null(given$seed)) given$seed <- seed
  if (pair$inverse == "matching") {
    given$planner <- if (pair$planner == "own") pair$plan_with else matched_as[[pair$planner]]
    wishes <- pair$needs$needs == "utility" && pair$planner != "agent"
    if (wishes && !length(intersect(names(given), c("terms", "features", "start", "prior")))) given$terms <- "utility"
    if (wishes && is.null(given$alpha)) given$alpha <- utility_unit(setting)
  }
  if (pair$inverse == "custom" && is.null(given$planner)) given$planner <- pair$plan_with
  if (pair$inverse == "ibrc_mode") {
    given$planner <- "agent"
    return(do.call(infer_matching, c(asked, given), quote = TRUE))
  }
  do.call(pair$infer_with, c(asked, given), quote = TRUE)
}

plan_for <- function(pair, inferred, setting, given, seed) {
  own <- inferred$plan
  if (pair$planner == "own" || pair$inverse %in% c("custom", "ibrc_mode")) return(own)
  if (pair$inverse == "matching" && pair$planner %in% matched_itself && !length(given)) return(own)
  takes <- names(formals(pair$plan_with))
  if ("seed" %in% takes && is.null(given$seed)) given$seed <- seed
  if (pair$needs$needs == "policy") {
    if (is.null(given$rule)) given$rule <- plan_policy(own, setting, "visits")
    return(do.call(pair$plan_with, c(list(setting), given), quote = TRUE))
  }
  if (pair$needs$needs == "centres") return(own)
  given <- with_price(given, pair, own)
  do.call(pair$plan_with, c(list(own$setting), given), quote = TRUE)
}

# The price at which it was inferred goes on to the planner.
with_price <- function(given, pair, own) {
  name <- pair$needs$price
  if (!nzchar(name) || !is.null(given[[name]])) return(given)
  price <- own$problem$alpha
  if (name == "agent") {
    given$agent <- bounded_agent(alpha = price)
    return(given)
  }
  if (!is.finite(price) || price <= 0) {
    abort_input(name, "must be given: infer_", pair$inverse, "() says which action is best, not how freely plan_",
                pair$planner, "() strays from it.")
  }
  given[[name]] <- price
  given
}

# ---- reading it ---------------------------------------------------------------------------------------------------

#' Read a projection
#'
#' @param x,object A projection: [project_behavior()] of a planner and an inverse planner.
#' @param what `"estimates"`, what was inferred, or `"divergence"`, how far the imitating behaviour is from that
#'   demonstrated.
#' @param visits Trajectories ([trajectories()]).
#' @param type `"action"`, the probability of each action.
#' @param beliefs,nsim,seed,... As for a plan: see [policy()], [simulate()][simulate.ibrc_plan].
#' @return `tidy()`: a data frame, of estimates with the columns `term` and `estimate`, of divergence with `measure`,
#'   `estimate`, `conf.low` and `conf.high`. `glance()`: one row with the `planner`, the `inverse` planner, how many
#'   `parameters` were inferred, each measure, and the `trajectories` and `visits` that it was scored on. `predict()`,
#'   `log_lik()`, `simulate()` and `policy()` are those of its plan.
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
#' visits <- simulate(plan_kl(clinic, alpha = 1), 40, seed = 1, horizon = 6)
#' projection <- project_behavior("rule", "distribution", visits, setting = clinic, seed = 1)
#' tidy(projection)
#' tidy(projection, "divergence")
#' glance(projection)
tidy.ibrc_projection <- function(x, what = c("estimates", "divergence"), ...) {
  check_unused(...)
  what <- check_choice(what, c("estimates", "divergence"), "what")
  if (what == "estimates") x$inferred$estimates else x$divergence
}

#' @rdname tidy.ibrc_projection
#' @export
glance.ibrc_projection <- function(x, ...) {
  check_unused(...)
  found <- stats::setNames(as.list(x$divergence$estimate), x$divergence$measure)
  data.frame(planner = x$planner, inverse = x$inverse, parameters = nrow(x$inferred$estimates), found,
             trajectories = x$n_trajectories, visits = x$n_visits, in_sample = x$in_sample)
}

#' @rdname tidy.ibrc_projection
#' @export
predict.ibrc_projection <- function(object, visits, type = "action", ...) {
  check_unused(...)
  check_choice(type, "action", "type")
  if (missing(visits)) abort_input("visits", "must be given: trajectories to predict the actions of.")
  predict(object$plan, visits, type)
}

#' @rdname tidy.ibrc_projection
#' @export
log_lik.ibrc_projection <- function(object, visits, ...) {
  check_unused(...)
  if (missing(visits)) abort_input("visits", "must be given: trajectories to judge by the projection.")
  log_lik(object$plan, visits)
}

#' @rdname tidy.ibrc_projection
#' @export
simulate.ibrc_projection <- function(object, nsim = 1, seed = NULL, ...) simulate(object$plan, nsim, seed, ...)

#' @rdname tidy.ibrc_projection
#' @export
policy.ibrc_projection <- function(object, beliefs = NULL, ...) {
  check_unused(...)
  policy(object$plan, beliefs)
}

#' @export
format.ibrc_projection <- function(x, digits = 3, ...) {
  number <- function(v) formatC(v, digits = digits, format = "f")
  table <- x$divergence
  range <- ifelse(is.na(table$conf.low), "", paste0("  [", number(table$conf.low), ", ", number(table$conf.high), "]"))
  c(
    paste0("A projection: ", inverse_title(x$inverse), ", then ", pair_words(x$planner)),
    format(x$inferred)[-1],
    paste0("How far the imitating behaviour is from the demonstrated one, over ", plural(x$n_visits, "visit"), " of ",
           plural(x$n_trajectories, "patient")),
    paste0("  ", format(measure_titles[table$measure]), "  ", format(number(table$estimate), justify = "right"), range),
    if (x$ruled_out > 0) {
      bullet(paste0("It rules out what was done at ", plural(x$ruled_out, "visit"), "."))
    },
    if (x$in_sample) bullet("Scored on the visits that it was inferred from: see `newdata`."),
    unlist(lapply(x$notes, bullet))
  )
}

pair_words <- function(planner) if (planner == "own") "a planner of your own" else planner_words[[planner]]

#' @export
print.ibrc_projection <- function(x, ...) {
  writeLines(format(x, ...))
  invisible(x)
}
