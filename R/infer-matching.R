#' Infer whatever makes behaviour likeliest
#'
#' Soft policy matching. It assumes a planner that does not always do the same, and looks for the parameters under which
#' what was done is likeliest. You choose the planner and what is inferred: a utility, a discount, how freely choices
#' depart from the best, a rule, or any named numbers of your own planner.
#'
#' @section Planners:
#' * `"kl"` (and `"soft_q_learning"`, which does the same): [plan_kl()], where the state is seen. With `terms =
#'   "utility"`, its default, this is maximum (causal) entropy inverse reinforcement learning, by Newton's method with
#'   exact derivatives.
#' * `"boltzmann"` (and `"mdp"`, `"pomdp"`: a hard planner can be matched only as one whose choices are noisy):
#'   [plan_boltzmann()], the softmax of optimal action values. Infers `"alpha"`, its temperature, by default.
#' * `"rule"`: a decision rule (behavioural cloning). Where the state is seen it is how often each action was taken in
#'   each state; where it is hidden, it is a multinomial regression on beliefs.
#' * `"iohmm_rule"`: [plan_iohmm_rule()], with its centres and sharpness.
#' * `"agent"`: bounded rational control, by [ibrc_mode()], which takes `prior`, `models` and the arguments in `...`.
#'   For draws from its posterior call [ibrc()].
#' * A function(setting, theta) that returns a plan, where `theta` is a named vector like `start`.
#'
#' The default is `"kl"` where the state is seen, and `"agent"` where it is hidden.
#'
#' @section What is inferred:
#' With the planners `"kl"` and `"boltzmann"`, `terms` may be `"utility"`, all entries; some of them, as in
#' `"utility[well,treat]"`; `"alpha"`; `"discount"`. With `features` the utility is a sum of features, and the terms are
#' their weights. What is not inferred is held at the values of the setting and `alpha`. If a `prior` names terms, these
#' are inferred.
#'
#' @section What it can and cannot say:
#' Behaviour shows utilities only in units of `alpha`, so one of the two has to be held. Even then not all of a utility
#' is seen. Any function of the state can be added if its discounted expectation at the next visit is subtracted
#' (shaping), and what is done does not change. The answer is the smallest of all utilities that fit equally well, and a
#' note counts the directions that are not seen. All of them predict the same behaviour in this setting, but not under
#' other dynamics: for that, see [infer_shared_utility()]. With features whose expectations differ the weights are
#' identified. If the demonstrated shares of visits are those of a policy, the imitator's expected features are those
#' demonstrated.
#'
#' If some action is never taken where it could be, larger utilities fit better without end. A note says so; a `prior`
#' is the remedy. If every parameter that was tried gives an action that was taken the probability 0, there is an error
#' of class `ibrc_error_impossible`.
#'
#' Where the state is seen, visits count if their state is known. First visits do not count if `start` is spread over
#' states. If your data have their state, give a `start` with one row per state and name that column in `start_by` (see
#' [decision_setting()]). Where the state is hidden, beliefs are carried along and all scored visits count.
#'
#' @param visits Trajectories ([trajectories()]). Where the state is seen also a plan, an answer of an inverse planner
#'   or a matrix of probabilities `[state, action]`. The latter are behaviour as a law, whose states count by how often
#'   it meets them.
#' @param setting A setting ([decision_setting()]).
#' @param planner How decisions are assumed to be made: a name or a function, see below. `NULL`: see below.
#' @param terms What is inferred: see below. `NULL`: what `prior` or `start` name, or the planner's default.
#' @param features Named list of matrices `[state, action]`, or an array `[state, action, feature]`.
#' @param start Where to begin looking: numbers named by term. Needed for a function without a prior.
#' @param prior `NULL` for maximum likelihood. Or an [ibrc_prior()], whose names are then the terms. Or a number, the
#'   standard deviation of normal priors of all terms around 0 (for centres, around even beliefs; for `alpha` and a
#'   sharpness, of their logarithms; a discount is then uniform).
#' @param method `"maximum_likelihood"`, which with a prior is the peak of the posterior on the scale that
#'   [ibrc_prior()] describes; or `"bayesian"`, draws from the posterior.
#' @param alpha The price, or temperature, where it is not inferred.
#' @param action_prior For `"kl"`: what is done without deliberating, one probability per action.
#' @param models For `"boltzmann"` and `"agent"`: what is believed of the dynamics ([model_prior()]).
#' @param lower,upper For a function without a prior: bounds of its parameters, named by term. Those not named have no
#'   bounds.
#' @param resolution The resolution of beliefs, where states are hidden: see [plan_agent()].
#' @param starts From how many points to climb, where there are no exact derivatives.
#' @param chains,iter,warmup For `method = "bayesian"`: the chains, their steps in all, and those in warm-up.
#' @param seed A number that makes starts and chains repeatable.
#' @param ... For `"agent"`: further arguments of [ibrc_mode()], such as `fixed`.
#'
#' @return An object of class `ibrc_inferred`. [tidy()][tidy.ibrc_inferred] has one row per term: `estimate` (the median
#'   of a posterior) and `std.error` (from the observed information; `NA` where the data say nothing about the term by
#'   itself), with `"bayesian"` also `conf.low`, `conf.high`, `rhat` and `ess`. `objective` is the log-likelihood at the
#'   estimates. Where the state is seen, it is that of the visits whose state is known; sums of [log_lik()] also include
#'   first visits. `details` has the `utility` where it was inferred, whether the search `converged`, and with
#'   `"bayesian"` the `draws`: a data frame with columns `.chain`, `.iteration`, `.draw`, `term` and `value`.
#' @references Ziebart (2010), *Modeling purposeful adaptive behavior with the principle of maximum causal entropy*.
#'   Neu and Szepesvári (2007), Apprenticeship learning using inverse reinforcement learning and gradient methods,
#'   *UAI*.
#' @seealso [infer_custom()] for other ways to compare behaviours.
#' @family framework
#' @export
#' @examples
#' setting <- decision_setting(
#'   states = c("well", "ill"), actions = c("wait", "treat"), observations = c("well", "ill"),
#'   transition = list(wait = rbind(c(0.9, 0.1), c(0, 1)), treat = rbind(c(0.9, 0.1), c(0.7, 0.3))),
#'   emission = "identity", utility = cbind(wait = c(0, -2), treat = c(-1, -3)), discount = 0.9,
#'   start = c(1, 0)
#' )
#' visits <- simulate(plan_kl(setting, alpha = 1), nsim = 100, horizon = 10, seed = 1)
#' infer_matching(visits, setting, features = list(illness = rbind(0, c(1, 1)),
#'                                                 treatment = cbind(0, c(1, 1))))
#' infer_matching(visits, setting, planner = "rule")
#' infer_matching(visits, setting, planner = "boltzmann", terms = "alpha", seed = 1)
#'
#' # Any numbers of any planner: how contagious does the decision maker think the illness is?
#' worried <- function(setting, theta) {
#'   setting$transition["well", , ] <- c(1 - theta[["risk"]], theta[["risk"]])
#'   plan_kl(setting, alpha = 1)
#' }
#' infer_matching(visits, setting, worried, start = c(risk = 0.2), lower = c(risk = 0),
#'                upper = c(risk = 1), starts = 1)
infer_matching <- function(visits, setting, planner = NULL, terms = NULL, features = NULL, start = NULL,
                           prior = NULL, method = c("maximum_likelihood", "bayesian"), alpha = 1,
                           action_prior = NULL, models = NULL, lower = NULL, upper = NULL,
                           resolution = 100, starts = 4, chains = 4, iter = 2000,
                           warmup = floor(iter / 2), seed = NULL, ...) {
  check_given(visits, setting)
  check_class(setting, "ibrc_setting", "setting", "decision_setting()")
  asked <- planner
  planner <- check_matched_planner(planner, setting)
  if (is.null(asked)) asked <- planner
  if (!identical(planner, "agent")) check_unused(...)
  refuse_idle_terms(c(if (!missing(alpha)) "alpha", if (!is.null(action_prior)) "action_prior",
                      if (!is.null(models)) "models", if (!is.null(start)) "start"), planner, asked)
  features <- check_features(features, setting, planner)
  terms <- check_matched_terms(terms, planner, features, setting)
  if (!is.null(start)) start <- check_named_numbers(start, "start")
  prior <- check_matched_prior(prior, planner, setting)
  method <- check_choice(method, c("maximum_likelihood", "bayesian"), "method")
  alpha <- check_moderate_price(alpha)
  action_prior <- check_action_prior(action_prior, setting)
  if (!is.null(models)) check_class(models, "ibrc_models", "models", "model_prior()")
  refuse_idle_ends(list(lower = lower, upper = upper), planner, prior)
  lower <- check_ends(lower, "lower")
  upper <- check_ends(upper, "upper")
  resolution <- check_count(resolution, "resolution")
  run <- check_matching_run(starts, chains, iter, warmup, seed)
  if (method == "bayesian" && is.null(prior)) {
    abort_input("prior", "must be given with method = \"bayesian\": an ibrc_prior(), or one number.")
  }
  if (identical(planner, "agent")) {
    return(matched_agent(visits, setting, models, prior, method, resolution, run, ...))
  }
  held <- list(alpha = alpha, action_prior = action_prior, models = models, resolution = resolution)
  evidence <- matching_evidence(visits, setting)
  found <- if (is.function(planner)) {
    matched_function(evidence, setting, planner, start, lower, upper, prior, method, run)
  } else {
    switch(planner,
      rule = matched_rule(evidence, setting, prior, method, resolution),
      iohmm_rule = matched_centres(evidence, setting, prior, method, resolution, run),
      matched_terms(evidence, setting, planner, terms, features, start, prior, method, held, run)
    )
  }
  details <- c(list(planner = if (is.function(planner)) "function" else planner, method = method,
                    converged = found$converged), found$details, evidence$details)
  new_ibrc_inferred("matching", setting, found$plan, found$estimates, found$log_lik, details,
                    c(found$notes, evidence$notes))
}

# ---- what is asked --------------------------------------------------------------------------------------------------

matched_planners <- c("kl", "soft_q_learning", "boltzmann", "mdp", "pomdp", "rule", "iohmm_rule", "agent")

check_matched_planner <- function(planner, setting) {
  if (is.null(planner)) return(if (setting$fully_observed) "kl" else "agent")
  if (is.function(planner)) return(planner)
  if (!is.character(planner) || length(planner) != 1 || !planner %in% matched_planners) {
    abort_input("planner", "must be one of ", enumerate(matched_planners, most = Inf),
                ", or a function(setting, theta) that returns a plan, not ", describe(planner), ".")
  }
  if (planner %in% c("kl", "soft_q_learning", "mdp") && !setting$fully_observed) {
    abort_input("planner", "is \"", planner, "\", for settings in which the state is seen. Where it is hidden, ",
                "take \"agent\" or \"boltzmann\".")
  }
  # The same behaviour under other names: a hard planner can be matched only as a noisy one.
  switch(planner, soft_q_learning = "kl", mdp = , pomdp = "boltzmann", planner)
}

# [pair, feature], named; NULL where there are none.
check_features <- function(features, setting, planner) {
  if (is.null(features)) return(NULL)
  if (is.function(planner) || !planner %in% c("kl", "boltzmann")) {
    abort_input("features", "are for the planners \"kl\" and \"boltzmann\", whose utility they add up to.")
  }
  size <- dim(setting$utility)
  if (is.numeric(features) && length(dim(features)) == 3) {
    names <- dimnames(features)[[3]]
    if (is.null(names)) names <- paste0("feature", seq_len(dim(features)[3]))
    features <- lapply(seq_len(dim(features)[3]), function(k) matrix(features[, , k], dim(features)[1]))
    names(features) <- names
  }
  if (!is.list(features) || is.data.frame(features) || !length(features)) {
    abort_input("features", "must be a named list of matrices [state, action], or an array of them, not ",
                describe(features), ".")
  }
  names <- check_names(names(features), "features")
  taken <- intersect(names, c("alpha", "discount", "utility"))
  if (length(taken)) {
    abort_input("features", "has a feature that is called ", enumerate(taken), ", which is the name of something else ",
                "that can be inferred: give it another name.")
  }
  parts <- lapply(unname(features), as_utility, setting$states, setting$actions, "features")
  matrix(unlist(parts), prod(size), length(parts), dimnames = list(NULL, names))
}

# Names of terms; "utility" stands for all of its entries.
check_matched_terms <- function(terms, planner, features, setting) {
  if (is.null(terms)) return(NULL)
  if (is.function(planner) || !planner %in% c("kl", "boltzmann")) {
    abort_input("terms", "are for the planners \"kl\" and \"boltzmann\": for others, ",
                if (is.function(planner)) "name them in `start`." else "what is inferred is known.")
  }
  terms <- check_names(terms, "terms")
  of_utility <- if (is.null(features)) all_entries(setting) else colnames(features)
  known <- c("alpha", "discount", of_utility)
  if ("utility" %in% terms) terms <- unique(c(setdiff(terms, "utility"), of_utility))
  unknown <- setdiff(terms, known)
  if (length(unknown)) {
    abort_input("terms", "has ", enumerate(unknown), "; there are \"utility\" and ", enumerate(known), ".")
  }
  terms
}

check_named_numbers <- function(x, argument) {
  if (!is.numeric(x) || !length(x) || !is.null(dim(x)) || is.null(names(x))) {
    abort_input(argument, "must be numbers named by term, not ", describe(x), ".")
  }
  names <- check_names(names(x), argument)
  bad <- which(!is.finite(x))
  if (length(bad)) abort_input(argument, "must be finite; that of ", enumerate(names[bad[1]]), " is not.", rows = bad)
  stats::setNames(as.numeric(x), names)
}

check_ends <- function(x, argument) {
  if (is.null(x)) return(numeric())
  if (!is.numeric(x) || !length(x) || is.null(names(x)) || anyNA(x) || !is.null(dim(x))) {
    abort_input(argument, "must be numbers named by term, not ", describe(x), ".")
  }
  stats::setNames(as.numeric(x), check_names(names(x), argument))
}

# Arguments that a planner takes, of those that not all take. None other would look at them.
taken_arguments <- list(kl = c("alpha", "action_prior", "start"), boltzmann = c("alpha", "models", "start"),
                        agent = "models", rule = character(), iohmm_rule = character())

refuse_idle_terms <- function(given, planner, asked) {
  idle <- setdiff(given, if (is.function(planner)) "start" else taken_arguments[[planner]])
  if (length(idle)) {
    abort_input(idle[1], "has no meaning for ", if (is.function(planner)) "a planner that is a function" else
                  paste0("the planner \"", asked, "\""), "; leave it out.",
                if (identical(planner, "agent") && idle[1] != "start") paste0(" fixed = list(", idle[1], " = ...) ",
                                                                              "holds it."))
  }
}

# Bounds that nothing would look at.
refuse_idle_ends <- function(ends, planner, prior) {
  given <- names(Filter(Negate(is.null), ends))
  if (!length(given) || is.function(planner) && !inherits(prior, "ibrc_prior")) return(invisible())
  abort_input(given[1], "bounds the terms of a planner that is a function. ",
              if (is.function(planner)) "Here `prior` says which values they may have; leave it out." else
                paste0("The planner \"", planner, "\" has bounds of its own; leave it out."))
}

check_matched_prior <- function(prior, planner, setting) {
  if (is.null(prior)) return(NULL)
  if (is.numeric(prior) && !identical(planner, "agent")) return(check_positive(prior, "prior"))
  check_class(prior, "ibrc_prior", "prior", "ibrc_prior()")
  if (!is.function(planner) && planner %in% c("rule", "iohmm_rule")) {
    abort_input("prior", "must be one number for the planner \"", planner, "\": a standard deviation for all of its ",
                "terms.")
  }
  if (any(vapply(unclass(prior), is_dirichlet, NA)) && !identical(planner, "agent")) {
    abort_input("prior", "of an action prior is for the planner \"agent\" alone.")
  }
  if (identical(planner, "agent") || is.function(planner)) prior else validate_ibrc_prior(prior, setting)
}

check_matching_run <- function(starts, chains, iter, warmup, seed) {
  starts <- check_count(starts, "starts", most = 1e4)
  chains <- check_count(chains, "chains", most = 1000)
  iter <- check_count(iter, "iter", least = 2, most = most_at_once)
  warmup <- check_count(warmup, "warmup", least = 0, most = iter - 1)
  if (!is.null(seed)) seed <- check_seed(seed)
  list(starts = starts, chains = chains, iter = iter, warmup = warmup, seed = seed)
}

# ---- planners of known kinds ----------------------------------------------------------------------------------------

matched_agent <- function(visits, setting, models, prior, method, resolution, run, ...) {
  if (method == "bayesian") {
    abort_input("method", "cannot be \"bayesian\" with the planner \"agent\": call ibrc(), which draws from its ",
                "posterior.", topic = "ibrc")
  }
  few <- FALSE
  asked <- list(visits, setting, models, estimate = if (is.null(prior)) "mle" else "map", resolution = resolution,
                starts = run$starts, seed = run$seed, conf.level = NULL)
  if (!is.null(prior)) asked$prior <- prior
  # The same, whatever the unit of utilities.
  asked$control <- ibrc_control(tolerance = 1e-9 * largest(diff(range(sure_utility(setting)))))
  asked <- c(asked[!names(asked) %in% ...names()], list(...))
  mode <- withCallingHandlers(do.call(ibrc_mode, asked), ibrc_warning_small_group = function(warning) {
    few <<- TRUE
    tryInvokeRestart("muffleWarning")
  })
  if (is_grouped_mode(mode)) abort_input("by", "has no meaning here: call ibrc_mode() for groups.", topic = "ibrc_mode")
  top <- mode$tops[[1]]
  estimates <- tidy(mode)[c("term", "estimate", "std.error")]
  rownames(estimates) <- NULL
  plan <- plan_at(mode, prior_natural(mode$prior, matrix(top$theta, 1)))
  new_ibrc_inferred(
    "matching", setting, plan, estimates, top$log_likelihood,
    list(planner = "agent", method = "maximum_likelihood", converged = top$converged,
         n_trajectories = sum(mode$group_sizes), n_visits = as.integer(sum(mode$n_scored)), left_out = 0L),
    c(agent_advice(mode), if (few) "There are few trajectories or visits: the estimates depend much on chance.")
  )
}

# What ibrc_mode() says about its answer, in words that fit this call: nobody gave a level.
agent_advice <- function(mode) {
  said <- mode_advice(mode, mode_table(mode))
  unasked <- grepl("(conf.level = NULL)", said, fixed = TRUE)
  c(said[!unasked], if (any(unasked)) {
    paste("It was not checked whether the data bound these terms: estimates of terms that they do not bound may lie",
          "anywhere. ibrc_mode() checks this, and has intervals.")
  })
}

matched_rule <- function(evidence, setting, prior, method, resolution) {
  if (method == "bayesian") {
    abort_input("method", "cannot be \"bayesian\" with the planner \"rule\": its likelihood is that of a regression, ",
                "for which there are other packages.")
  }
  if (evidence$seen && is.null(prior)) return(rule_by_shares(evidence, setting))
  rule_by_logits(evidence, setting, resolution, prior)
}

matched_centres <- function(evidence, setting, prior, method, resolution, run) {
  search <- centre_search(evidence, setting)
  law <- centre_law(search, setting, prior)
  found <- searched(search$log_lik, law, search$start, !is.null(prior), method, run)
  centres <- search$centres_of(found$theta)
  dimnames(centres) <- dimnames(t(setting$utility))
  sharpness <- found$theta[["sharpness"]]
  found$plan <- plan_iohmm_rule(setting, centres, sharpness, resolution)
  found$details <- c(found$details, list(centres = centres, sharpness = sharpness))
  found$notes <- c(found$notes, "The last coordinate of each centre is what the others leave of 1.")
  found
}

matched_function <- function(evidence, setting, planner, start, lower, upper, prior, method, run) {
  law <- function_law(start, lower, upper, prior)
  if (is.null(start)) start <- prior_quantile(law, 0.5)[1, ]
  start <- start[names(law)]
  # One call outside of the search, so that its errors are shown.
  check_planned(call_user(planner, setting, start, argument = "planner"), setting)
  trial <- planner_trial(planner, setting, function(plan) evidence_log_lik(evidence, plan, setting))
  found <- searched(trial$height, law, start, !is.null(prior), method, run)
  found$plan <- planner(setting, found$theta)
  found$notes <- c(found$notes, failed_note(trial$failed()))
  found
}

# `judge` of the planner's plan as a function of its parameters; -Inf where the planner fails, which is counted.
planner_trial <- function(planner, setting, judge) {
  failed <- 0L
  height <- function(theta) {
    plan <- tryCatch(planner(setting, theta), error = function(e) NULL)
    if (!is.null(plan)) return(judge(check_planned(plan, setting)))
    failed <<- failed + 1L
    -Inf
  }
  list(height = height, failed = function() failed)
}

failed_note <- function(n) {
  if (n > 0) {
    paste0("The planner failed at ", plural(n, "vector"), " of parameters that the search tried: these counted as ",
           "impossible.")
  }
}

check_planned <- function(plan, setting, argument = "planner") {
  if (!inherits(plan, "ibrc_plan")) {
    abort_input(argument, "must return a plan, as plan_kl() or plan_agent() make it, not ", describe(plan), ".")
  }
  for (part in c("states", "actions", "observations")) {
    if (!identical(plan$setting[[part]], setting[[part]])) {
      abort_input(argument, "must return a plan with the ", part, " of `setting`, in the same order.")
    }
  }
  plan
}

# The law by which a function's parameters are searched.
function_law <- function(start, lower, upper, prior) {
  if (inherits(prior, "ibrc_prior")) {
    other <- if (!is.null(start)) c(setdiff(names(start), names(prior)), setdiff(names(prior), names(start)))
    if (length(other)) abort_input("start", "and `prior` must name the same terms; ", enumerate(other),
                                   " is in one of them alone.")
    check_inside(start, prior)
    return(prior)
  }
  if (is.null(start)) abort_input("start", "must be given: numbers to begin from, named as the planner takes them.")
  ends <- function(x, fill, argument) {
    unknown <- setdiff(names(x), names(start))
    if (length(unknown)) abort_input(argument, "names ", enumerate(unknown), ", which `start` does not have.")
    out <- stats::setNames(rep(fill, length(start)), names(start))
    out[names(x)] <- x
    out
  }
  lower <- ends(lower, -Inf, "lower")
  upper <- ends(upper, Inf, "upper")
  bad <- which(start <= lower | start >= upper)
  if (length(bad)) abort_input("start", "must lie between `lower` and `upper`; that of ",
                               enumerate(names(start)[bad[1]]), " does not.", rows = unname(bad))
  if (is.numeric(prior)) {
    return(new_ibrc_prior(lapply(names(start), function(term) {
      new_prior_entry(term, "normal", c(mean = 0, sd = prior), lower = lower[[term]], upper = upper[[term]])
    })))
  }
  search_law(start, lower, upper)
}
