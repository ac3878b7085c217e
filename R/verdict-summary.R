#' What a fit says
#'
#' The posterior of each term in numbers, with what there is to say about the chains and the data. A printed fit shows
#' its summary.
#'
#' @section How to read it:
#' * `alpha`, the price of deliberating, is in units of utility: to take the better of two actions nine times in ten,
#'   the decision maker has to gain `alpha * log(9)` by it. A small `alpha` means flexible; `flexibility` is its
#'   inverse.
#' * `optimism` is 0 where models of the dynamics keep the weights they were given. It is above 0 where the decision
#'   maker leans to models under which the plan pays, and below 0 for pessimism. `beta` is its inverse.
#' * `eta` is in units of utility per nat of entropy of the next belief. Above 0, an action looks better than it is if
#'   the next belief is hard to foresee. A small `eta` means adaptive; `adaptivity` is its inverse.
#' * `contraction` near 1: the data settle the term. Near 0: the posterior is still the prior, and the term should be
#'   reported as not identified ([identifiability()]).
#' * `rhat` above 1.01, or `ess_bulk` or `ess_tail` (effective numbers of draws) below 400: run longer before
#'   reporting anything. On a narrow console `ess` is the smaller of the two.
#' * `verdict`: whether the number may be used: `ok`, `caution` or `do not use`. It is the worst of what [verdict()]
#'   says about the term, its group and the fit.
#'
#' Below the table stands the verdict, check by check. Lines with a star say what to do next. `vignette("ibrc")`
#' explains the numbers in clinical terms.
#'
#' @param object,x A fit ([ibrc()]), or its summary.
#' @param conf.level Mass of the central interval.
#' @param what For `tidy()`: the terms of the agents, or the laws of dynamics that were inferred with them ([ibrc()]
#'   with `dynamics`). `tidy(fit, "dynamics")` gives one row per probability: `transition[from,to,action]`,
#'   `emission[state,observation,action]`, `start[state]`. What was `learned` without the actions stands beside it, and
#'   the `verdict` on the fit as a whole, as all groups share the laws. Chains that do not agree on the agents count as
#'   well, except with `uncertainty = "cut"`. Three digits are printed; the numbers themselves are not rounded.
#' @param effects For `tidy()` of a fit of people who differ ([ibrc()] with `effects`). `"population"`: coefficients,
#'   spreads and correlations. `"cells"`: the terms of each cell, with its covariates and levels in columns; a cell is
#'   people who have all of these in common. `"people"`: the random intercepts of each level of each grouping factor, as
#'   differences to a typical level on the scale that a sampler works on.
#' @param suppress The smallest number of trajectories in a group that may be printed;
#'   smaller ones are hidden ([suppress_counts()]). `NULL` hides none.
#' @param ... Not used.
#' @return `tidy()`: a data frame with one row per term and group: `term`, `group` (with groups), `estimate` (the
#'   median), `std.error` (the standard deviation), `conf.low`, `conf.high`, `rhat`, `ess_bulk`, `ess_tail`,
#'   `contraction` and `verdict`. `contraction` is the share of the prior's variance that the data took away, on the
#'   scale a sampler works on ([ibrc_prior()]); it is below 0 where the posterior is wider. With `effects`, cells have
#'   the column `cell` and their covariates in place of `group`, and people have `factor` and `level`. The verdict on
#'   both is the worst of what is said about the term's coefficients and spreads, and about the fit. `glance()`: one row
#'   with `trajectories`, `visits`, `groups` (or cells), `chains`, `draws`, `acceptance`, `rhat`, `ess_bulk` and
#'   `ess_tail` (the worst over terms) and `verdict` (the worst of all). `coef()`: the medians. For a fit under several
#'   draws of the dynamics (`uncertainty = "cut"` of [ibrc()]), `rhat` is that under the worst of them, `ess` adds up,
#'   and `tidy(fit, "dynamics")` has neither, as these draws were made beforehand. `summary()`: a list of class
#'   `summary.ibrc_fit` with `table` (as `tidy()`), `glance`, `verdict` and `advice` (text) among others; it prints
#'   medians, intervals, diagnostics and the advice.
#' @section Do the chains agree?:
#' Two things are checked, as the package posterior does (Vehtari and others 2021). `rhat` compares chains, and halves
#' of chains, with each other. `ess_bulk` and `ess_tail` say how many independent draws the centre and the tails are
#' worth. They differ: chains that agree may still be short, and long chains may sit in different places. The verdict
#' puts both into words and stops nothing; [as.data.frame()][as.data.frame.ibrc_fit] and `coef()` use neither.
#' @references Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021), Rank-normalization,
#'   folding, and localization: an improved R-hat for assessing convergence of MCMC,
#'   Bayesian Analysis 16, \doi{10.1214/20-BA1221}.
#' @family inference
#' @name summary.ibrc_fit
#' @export
#' @examples
#' setting <- diag_setting()
#' plan <- plan_agent(setting, bounded_agent(alpha = 0.5), diag_models())
#' fit <- ibrc(simulate(plan, 40, seed = 1), setting, diag_models(),
#'             ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1)),
#'             chains = 2, iter = 400, seed = 1)
#' summary(fit, conf.level = 0.9)
#' tidy(fit)
#' glance(fit)
summary.ibrc_fit <- function(object, conf.level = 0.95, suppress = 5, ...) {
  check_unused(...)
  suppress <- check_suppress(suppress)
  conf.level <- check_level(conf.level)
  verdict <- standing_verdict(object)
  table <- if (has_population(object)) tidy_population(object, conf.level) else tidy_draws(object, conf.level)
  structure(list(table = with_verdict(table, verdict, object), glance = glance_row(object, table, verdict),
                 fit = object, verdict = verdict, advice = verdict_advice(verdict), conf.level = conf.level,
                 suppress = suppress), class = "summary.ibrc_fit")
}

#' @rdname summary.ibrc_fit
#' @name tidy.ibrc_fit
#' @export
tidy.ibrc_fit <- function(x, conf.level = 0.95, what = c("agents", "dynamics"),
                          effects = c("population", "cells", "people"), ...) {
  check_unused(...)
  # tidy(fit, "dynamics")
  if (is.character(conf.level) && missing(what)) {
    what <- conf.level
    conf.level <- 0.95
  }
  if (check_choice(what, c("agents", "dynamics"), "what") == "dynamics") {
    need_dynamics(x)
    return(tidy_laws(x, check_level(conf.level)))
  }
  effects <- check_choice(effects, c("population", "cells", "people"), "effects")
  conf.level <- check_level(conf.level)
  if (effects != "population" && !has_population(x)) {
    abort_input("effects", "= \"", effects, "\" needs a fit of people who differ (`effects` of ibrc()): in this one ",
                "only groups differ.")
  }
  x$standing <- standing_verdict(x)
  table <- if (has_population(x)) tidy_effects(x, conf.level, effects) else
    with_verdict(tidy_draws(x, conf.level), x$standing, x)
  as_terms(table, x, conf.level)
}

# A class, and what a table of it says below (as_gt()).
as_terms <- function(table, fit, conf.level) {
  structure(table, class = c("ibrc_terms", "data.frame"), conf.level = conf.level,
            verdict = verdict_headline(standing_verdict(fit)))
}

# tidy() keeps all digits; printing shows those that summary() shows of the chains.
#' @export
print.ibrc_terms <- function(x, ...) {
  print(diagnostics_text(as.data.frame(x)), ...)
  invisible(x)
}

# Laws with the verdict on the fit as a whole. Chains of a joint fit move laws and agents together: if they do not agree
# in some group, this concerns the laws as well, unless these were drawn without the actions.
tidy_laws <- function(fit, conf.level) {
  rows <- standing_verdict(fit)
  about <- is.na(rows$term) & (is.na(rows$group) | !is_cut(fit)) | rows$check == "settled" & !is_cut(fit)
  table <- tidy_dynamics(fit, conf.level)
  table$verdict <- as.character(worst_of(rows$verdict[about]))
  structure(table, class = c("ibrc_laws", "data.frame"))
}

# What differs from person to person: population, cells or people.
tidy_effects <- function(fit, conf.level, effects) {
  verdict <- standing_verdict(fit)
  if (effects == "population") return(with_verdict(tidy_population(fit, conf.level), verdict, fit))
  out <- if (effects == "cells") tidy_cells(fit, conf.level) else tidy_intercepts(fit, conf.level)
  few <- rep(few_in_cells(fit, TRUE), nrow(out))
  out$verdict <- rep("", nrow(out))
  for (term in unique(out$term)) {
    mine <- which(out$term == term)
    if (effects == "cells" && term %in% names(fit$effects$matrices)) {
      few[mine] <- scarce_cells(fit, term)[match(out$cell[mine], fit$effects$cells)]
    }
    for (one in unique(few[mine])) {
      out$verdict[mine[few[mine] == one]] <- effect_verdict(verdict, fit, term, few = one)
    }
  }
  out
}

# The worst verdict on a term of agents: from rows about its coefficients and spreads, and from those about all.
# `coefficients`: labels of those that matter, besides the intercept. `few`: whether what is judged rests on few visits,
# if that is known: what coefficients rest on is then not asked.
effect_verdict <- function(rows, fit, term, coefficients = NULL, few = NULL) {
  if (isTRUE(few)) return("do not use")
  if (!is.null(few)) rows <- rows[!(rows$check == "identified" & startsWith(rows$seen, "too few data")), ]
  design <- fit$effects
  own <- design$coefficients[design$coefficients$term == term, ]
  if (!is.null(coefficients)) own <- own[own$intercept | own$label %in% coefficients, ]
  spreads <- design$spreads$label[design$terms[design$spreads$term] == term]
  about <- is.na(rows$term) | rows$term %in% c(term, own$label, spreads) | same_quantity(rows$term, term)
  as.character(worst_of(rows$verdict[about %in% TRUE]))
}

# The table with the verdict on each term in its group; without groups, without that column.
with_verdict <- function(table, verdict, fit) {
  table$verdict <- vapply(seq_len(nrow(table)), function(i) verdict_for(verdict, table$term[i], table$group[i]), "")
  if (has_population(fit)) table$group <- NULL
  without_lone_group(table, names(fit$draws))
}

#' @rdname summary.ibrc_fit
#' @export
glance.ibrc_fit <- function(x, ...) {
  check_unused(...)
  glance_row(x, if (has_population(x)) tidy_population(x) else tidy_draws(x), standing_verdict(x))
}

# `table`: of its terms, `verdict`: on all of it.
glance_row <- function(x, table, verdict) {
  data.frame(trajectories = sum(x$group_sizes), visits = sum(x$n_visits), groups = length(x$draws),
             chains = x$run$chains, draws = prod(dim(x$draws[[1]])[1:2]), acceptance = mean(x$acceptance),
             rhat = max(table$rhat), ess_bulk = min(table$ess_bulk), ess_tail = min(table$ess_tail),
             verdict = as.character(worst_of(verdict$verdict)))
}

#' @rdname summary.ibrc_fit
#' @importFrom stats coef
#' @export
coef.ibrc_fit <- function(object, ...) {
  check_unused(...)
  if (has_population(object)) {
    table <- tidy_population(object)
    return(stats::setNames(table$estimate, table$term))
  }
  table <- tidy_draws(object)
  variables <- unlist(lapply(names(object$draws), function(group) variable_names(object, group)))
  stats::setNames(table$estimate, variables)
}

#' @export
format.ibrc_fit <- function(x, suppress = 5, ...) {
  total <- attr(group_counts(x, check_suppress(suppress)), "total")
  data <- if (!x$likelihood) "Draws from the prior (no data were used)" else
    paste0("A fit to ", trajectories_words(total), " with ", visits_words(sum(x$n_visits), suppress),
           unscored_words(x, suppress))
  paste0(data, problem_words(x),
         if (has_population(x)) paste0(" of people who differ (", plural(length(x$draws), "cell"), ")")
         else if (is_grouped(x)) paste0(" in ", plural(length(x$draws), "group")),
         ": ", chains_words(x))
}

# `where`: said after the steps.
chains_words <- function(fit, where = "") {
  chains <- if (is_cut(fit)) fit$dynamics$chains_per_draw else fit$run$chains
  made <- steps_made(fit)
  paste0(plural(chains, "chain"), " of ", plural(made, "step"), if (made < fit$run$iter) {
    paste0(" (interrupted: ", format_count(fit$run$iter), " were asked for)")
  }, where, ", ", format_count(fit$run$warmup),
         " of them warm-up", if (is_cut(fit)) paste0(", under each of ", plural(n_cut_draws(fit), "draw"),
                                                     " of the dynamics"))
}

# Steps of each chain, fewer than planned where a run was interrupted. Without chains, as far as the draws tell.
steps_made <- function(fit) {
  if (!isTRUE(fit$interrupted)) return(fit$run$iter)
  if (!is.null(fit$chain)) return(iteration_of(fit$chain))
  fit$run$warmup + fit$run$thin * dim(fit$draws[[1]])[1]
}

#' @rdname summary.ibrc_fit
#' @param digits How many significant digits of medians and intervals to print.
#' @export
print.ibrc_fit <- function(x, digits = 3, suppress = 5, ...) {
  print(summary(x, suppress = suppress), digits = digits)
  invisible(x)
}

#' @rdname summary.ibrc_fit
#' @export
print.summary.ibrc_fit <- function(x, digits = 3, ...) {
  digits <- check_count(digits, "digits")
  cat(format(x$fit, suppress = x$suppress), "\n\n", sep = "")
  table <- x$table
  numbers <- lapply(table[c("estimate", "conf.low", "conf.high")], digits_text, digits)
  shown <- cbind(as.data.frame(numbers), table[c("rhat", "ess_bulk", "ess_tail", "contraction")])
  names(shown)[1:3] <- c("median", interval_titles(x$conf.level))
  # Beside the numbers that it is about, even where the rest does not fit on the line.
  shown <- cbind(table[intersect(c("term", "group"), names(table))], shown[1:3], verdict = table$verdict, shown[-(1:3)])
  print(diagnostics_text(on_one_line(shown)), row.names = FALSE)
  if (has_population(x$fit)) {
    writeLines(c("", strwrap(paste0("Effects: ", listing(effects_words(x$fit$effects), 20)), exdent = 2),
                 strwrap(scale_words(x$fit), exdent = 2), strwrap(prior_words(x$fit), exdent = 2)))
  } else if (is_grouped(x$fit)) {
    size <- group_counts(x$fit, x$suppress)
    writeLines(c("", strwrap(paste("Trajectories:", listing(paste(names(size), size))), exdent = 2)))
  }
  start_by <- x$fit$problem$setting$start_by
  if (!is.null(start_by)) cat("\nBeliefs start by ", listing(start_by), "\n", sep = "")
  cat("\nAcceptance ", paste0(round(100 * mean(x$fit$acceptance)), "%"),
      if (length(x$fit$fixed)) paste0("; held: ", fixed_words(x$fit$fixed)), "\n", sep = "")
  if (is_cut(x$fit)) print_cut(x$fit, digits)
  cat("\n")
  print(x$verdict)
  invisible(x)
}

# Beside coefficients whose default priors nobody has typed.
prior_words <- function(fit) {
  priors <- prior_summary(fit)
  paste0("Priors: ", listing(paste(priors$term, priors$distribution), 12), ".")
}

# Where a row would be broken, the smaller number of effective draws stands for both.
on_one_line <- function(table) {
  text <- diagnostics_text(table)
  width <- vapply(names(text), function(name) max(nchar(c(name, format(text[[name]], trim = TRUE)), "width")), 0)
  if (sum(width + 1) <= getOption("width")) return(table)
  table$ess_bulk <- pmin(table$ess_bulk, table$ess_tail)
  table$ess_tail <- NULL
  names(table)[names(table) == "ess_bulk"] <- "ess"
  table
}

# How much of the uncertainty comes from the dynamics.
print_cut <- function(fit, digits) {
  cat("\nVariance within draws of the dynamics, and between them\n")
  shown <- cut_variance(fit)
  shown[c("within", "between")] <- lapply(shown[c("within", "between")], signif, digits)
  shown$share_between <- round(shown$share_between, 2)
  if (!is_grouped(fit) || has_population(fit)) shown$group <- NULL
  print(shown, row.names = FALSE)
}
