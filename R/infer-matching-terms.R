# Soft policy matching of named terms: utilities, prices and discounts of planners that the package knows.

matched_terms <- function(evidence, setting, planner, terms, features, start, prior, method, held, run) {
  terms <- matched_names(terms, features, prior, start, planner, setting)
  refuse_unit(terms, features, setting, prior)
  law <- terms_law(terms, setting, start, prior, held, features)
  check_inside(start, law)
  exact <- evidence$seen && is.null(held$models) && method == "maximum_likelihood" &&
    !length(intersect(terms, c("alpha", "discount"))) && (is.null(prior) || all_normal(law))
  found <- if (exact) {
    matched_exactly(evidence, setting, planner, terms, features, start, if (!is.null(prior)) law, held)
  } else {
    matched_by_search(evidence, setting, planner, terms, features, start, law, !is.null(prior), method, held, run)
  }
  wanted <- setting_at(setting, found$theta, features)
  price <- if ("alpha" %in% terms) found$theta[["alpha"]] else held$alpha
  found$plan <- final_plan(wanted, planner, price, held)
  of_utility <- setdiff(terms, c("alpha", "discount"))
  if (length(of_utility)) {
    found$details$utility <- wanted$utility
    if (is.null(features)) found$estimates <- with_places(found$estimates, setting)
    if (!"alpha" %in% terms) {
      found$notes <- c(found$notes, paste0("Utilities are in units in which ", if (planner == "kl") "alpha" else
        "the temperature", " is ", format_plain(held$alpha), ". Behaviour shows no other unit."))
    }
  }
  found$details$alpha <- price
  found
}

matched_names <- function(terms, features, prior, start, planner, setting) {
  stated <- if (inherits(prior, "ibrc_prior")) names(prior)
  of_utility <- if (is.null(features)) all_entries(setting) else colnames(features)
  if (is.null(terms)) terms <- stated
  if (is.null(terms)) terms <- names(start)
  if (is.null(terms)) terms <- if (planner == "kl" || !is.null(features)) of_utility else "alpha"
  known <- c("alpha", "discount", of_utility)
  for (argument in c("prior", "start")) {
    given <- if (argument == "prior") stated else names(start)
    unknown <- setdiff(given, known)
    if (length(unknown)) {
      abort_input(argument, "names ", enumerate(unknown), ", which cannot be inferred here; there are ",
                  enumerate(known), ".")
    }
    other <- setdiff(if (argument == "prior" && !is.null(stated)) terms else NULL, given)
    if (length(other)) abort_input(argument, "has no entry for ", enumerate(other), ".")
    other <- setdiff(given, terms)
    if (length(other)) abort_input(argument, "names ", enumerate(other), ", which is not in `terms`.")
  }
  terms
}

# A price and the utility that it is a price of are known only up to a factor. Features that are not terms have no part
# in a utility, so the other features make up the whole of it.
refuse_unit <- function(terms, features, setting, prior) {
  if (!is.null(features) && !any(colnames(features) %in% terms)) {
    abort_input("terms", "has none of the `features`, so there is no utility: name them, or \"utility\" for all.")
  }
  whole <- !is.null(features) || all(all_entries(setting) %in% terms)
  if (is.null(prior) && "alpha" %in% terms && whole) {
    abort_input("terms", "has \"alpha\" and the whole utility: behaviour shows one in units of the other. ",
                "Infer one of them, or state a `prior` of both.")
  }
}

# The law of terms: the prior, normal priors of a given spread, or a range to search.
terms_law <- function(terms, setting, start, prior, held, features) {
  if (inherits(prior, "ibrc_prior")) return(prior)
  range <- if (is.null(features)) diff(range(setting$utility)) else 0
  if (range == 0) range <- held$alpha
  # The weight of a large feature is small.
  spread <- function(term) {
    size <- if (is.null(features)) 1 else max(abs(features[, term]))
    if (!is.null(prior)) return(prior)
    3 * max(held$alpha, range) / (if (size > 0) size else 1)
  }
  entry <- function(term) {
    if (term == "alpha") {
      middle <- if (!is.null(start) && term %in% names(start)) start[[term]] else if (is.null(prior)) range / 5 else 1
      if (middle <= 0) abort_input("start", "must be above 0 for \"alpha\".")
      return(new_prior_entry(term, "lognormal", c(meanlog = log(middle), sdlog = if (is.null(prior)) 2 else prior)))
    }
    if (term == "discount") return(new_prior_entry(term, "uniform", c(lower = 0, upper = 1)))
    place <- if (is.null(features)) entry_place(term, setting)
    new_prior_entry(term, "normal", c(mean = 0, sd = spread(term)), state = place$state, action = place$action)
  }
  new_ibrc_prior(lapply(terms, entry))
}

all_entries <- function(setting) {
  place <- expand.grid(state = setting$states, action = setting$actions, stringsAsFactors = FALSE)
  utility_name(place$state, place$action)
}

entry_place <- function(term, setting) {
  at <- match(term, all_entries(setting)) - 1L
  n <- length(setting$states)
  list(state = setting$states[at %% n + 1L], action = setting$actions[at %/% n + 1L])
}

all_normal <- function(law) {
  all(vapply(unclass(law), function(entry) entry$distribution == "normal" && entry$scale == "identity", NA))
}

with_places <- function(estimates, setting) {
  place <- lapply(estimates$term, function(term) {
    if (term %in% c("alpha", "discount")) return(list(state = NA_character_, action = NA_character_))
    entry_place(term, setting)
  })
  cbind(estimates["term"], state = vapply(place, `[[`, "", "state"), action = vapply(place, `[[`, "", "action"),
        estimates[-1])
}

# The setting with these terms. Features make up the whole utility; other entries stay.
setting_at <- function(setting, theta, features) {
  if ("discount" %in% names(theta)) setting$discount <- theta[["discount"]]
  if (!is.null(features)) {
    weights <- theta[intersect(colnames(features), names(theta))]
    setting$utility[] <- features[, names(weights), drop = FALSE] %*% weights
    return(setting)
  }
  at <- match(names(theta), all_entries(setting))
  setting$utility[at[!is.na(at)]] <- theta[!is.na(at)]
  setting
}

final_plan <- function(setting, planner, alpha, held) {
  if (planner == "kl") return(plan_kl(setting, alpha, held$action_prior))
  plan_boltzmann(setting, alpha, held$resolution, held$models)
}

# ---- by derivatives -------------------------------------------------------------------------------------------------

matched_exactly <- function(evidence, setting, planner, terms, features, start, law, held) {
  markov <- as_markov(setting)
  if (markov$n_states > 2000) {
    abort_input("setting", "has ", format_count(markov$n_states), " states; at most 2,000 can be solved for here.")
  }
  task <- exact_task(markov, evidence, setting, planner, terms, features, law, held)
  first <- if (is.null(start)) numeric(length(terms)) else start[terms]
  first[is.na(first)] <- 0
  top <- climb_soft(task, unname(first) / task$unit)
  if (is.null(top)) refuse_impossible_behaviour("visits")
  top <- settle_soft(top, task)
  theta <- stats::setNames(top$weights * task$unit, terms)
  errors <- if (evidence$sampled) soft_errors(top, task) else rep(NA_real_, length(terms))
  list(theta = theta, log_lik = top$log_lik, converged = top$converged || top$open,
       estimates = data.frame(term = terms, estimate = unname(theta), std.error = errors),
       details = list(unseen = top$unseen), notes = soft_notes(top, length(terms), prior = law))
}

# Entries of the utility are features too: 1 at one pair.
exact_task <- function(markov, evidence, setting, planner, terms, features, law, held) {
  # What sure beliefs are worth by themselves stays.
  worth <- unname(markov$utility - setting$utility)
  if (is.null(features)) {
    at <- match(terms, all_entries(setting))
    refuse_many_pairs(markov)
    features <- diag(length(setting$utility))[, at, drop = FALSE]
    base <- unname(setting$utility)
    base[at] <- 0
  } else {
    features <- features[, terms, drop = FALSE]
    base <- 0 * worth
  }
  penalty <- if (!is.null(law)) {
    list(mean = vapply(unclass(law)[terms], function(entry) entry$args[[1]], 0),
         sd = vapply(unclass(law)[terms], function(entry) entry$args[[2]], 0))
  }
  soft_task(markov, unname(features), base + worth, evidence$counts, held$alpha, held$action_prior,
            planner == "boltzmann", penalty)
}

# ---- by search ------------------------------------------------------------------------------------------------------

matched_by_search <- function(evidence, setting, planner, terms, features, start, law, with_prior, method, held, run) {
  height <- terms_height(evidence, setting, planner, terms, features, held)
  searched(height, law, first_terms(law, setting, start, features, with_prior), with_prior, method, run)
}

# The log-likelihood as a function of terms. Solves begin at the values of the last one. Where only the price moves, an
# optimal planner's values are the same as before.
terms_height <- function(evidence, setting, planner, terms, features, held) {
  problem <- build_problem(setting, held$models, held$resolution)
  wanted_at <- utility_reader(setting, terms, features)
  last <- new.env()
  last$value <- numeric(problem$space$n_nodes)
  function(theta) {
    wanted <- wanted_at(theta)
    problem <- if (is.null(wanted)) problem else with_utility(problem, wanted)
    if ("discount" %in% terms) problem$setting$discount <- theta[["discount"]]
    price <- if ("alpha" %in% terms) theta[["alpha"]] else held$alpha
    plan <- tryCatch(quick_plan(problem, planner, price, held, last, again = !identical(terms, "alpha")),
                     ibrc_error_convergence = function(e) NULL)
    if (is.null(plan)) -Inf else evidence_log_lik(evidence, plan, setting)
  }
}

# The utility at a vector of terms; NULL where none of them is part of it.
utility_reader <- function(setting, terms, features) {
  if (!is.null(features)) {
    features <- features[, terms[terms %in% colnames(features)], drop = FALSE]
    return(function(theta) matrix(features %*% theta[colnames(features)], nrow(setting$utility)))
  }
  at <- match(terms, all_entries(setting))
  free <- which(!is.na(at))
  at <- at[free]
  function(theta) if (length(at)) replace(setting$utility, at, theta[free])
}

# Where to begin: at given values; else at those of the setting, or in the middle of the law.
first_terms <- function(law, setting, start, features, with_prior) {
  out <- stats::setNames(prior_quantile(law, 0.5)[1, ], names(law))
  if (is.null(features) && !with_prior) {
    at <- match(names(law), all_entries(setting))
    out[!is.na(at)] <- setting$utility[at[!is.na(at)]]
  }
  if ("discount" %in% names(out)) out[["discount"]] <- min(max(setting$discount, 0.01), 0.99)
  out[names(start)] <- start
  out
}

# Only what the likelihood needs of a plan: its worth is not computed.
quick_plan <- function(problem, planner, alpha, held, last, again) {
  if (planner == "kl") {
    plan <- solve_problem(problem, bounded_agent(alpha = alpha, action_prior = held$action_prior),
                          solve_tolerance(problem, 1e-10), start = last$value)
    last$value <- plan$solution$value
    return(plan)
  }
  if (again || is.null(last$best)) {
    solved <- solve_problem(problem, bounded_agent(), solve_tolerance(problem, 1e-10), start = last$value)
    last$value <- solved$solution$value
    last$best <- t(solved$solution$action_value)
  }
  plan_with_values(problem, "boltzmann", alpha, last$best, last$value)
}
