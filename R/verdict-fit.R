#' May this fit be used?
#'
#' A fit is a claim. `verdict()` tests the claim, one row per check: what was seen, what was asked, whether that is
#' `ok`, a `caution` or `do not use`, and what to do. A printed fit, its summary, a comparison of groups and the report
#' all show the same verdict.
#'
#' @section The checks:
#' * **settled**: do the chains agree, and are there enough independent draws? Every term in every group needs an R-hat
#'   below 1.01, and 400 effective draws of the bulk and of the tails; else caution. An R-hat above 1.05, or above 1.01
#'   with fewer than 400 draws, or fewer than 100 draws: do not use. Then the checks that rest on such draws cannot be
#'   made.
#' * **whole**: did the chains see all of the posterior? Chains that never went into a long tail agree with each other.
#'   So the density is also followed along its ridges, one term at a time with the others at their best (its profile),
#'   from where the chains were, and weighted draws are taken along these walks. (A second peak far from all chains is
#'   not found in this way.) If the chains' 95% interval is, on one side, less than 0.8 as long as the interval found in
#'   this way, by more than chance: caution. Less than 0.6, or more than 20% of the posterior outside of it: do not use.
#'   Fits whose dynamics were inferred, and fits with `effects`, are checked in another way, see below.
#' * **behaves**: does the fitted agent decide as the people did, one visit ahead, given what had really been done and
#'   observed until then? Decisions are counted by number of the visit, by belief, by last action and by last
#'   observation, and for rare actions ([behaviour_check()]). P is the least of their P values times their number. P
#'   below 0.05: caution. P below 0.01 and shares that are off by 0.05 or more: do not use.
#' * **identified**: do the data inform about each term, or does it come from the prior, or lie on a ridge that it
#'   shares with another term ([identifiability()])?
#' * **assumed**: what the numbers depend on. Dynamics that were learned from the same visits and then held fixed are a
#'   caution, since intervals do not include their uncertainty. Visits that come after a missing action are "do not use"
#'   ([trajectories()] says why). Two rows say how far the posterior moves at twice the resolution of the lattice, and
#'   when the middle one of the models counts twice. On the lattice 0.25 of a standard deviation or more is a caution, 1
#'   or more is "do not use". For the models a caution is a term that moves by 2 standard deviations or more, out of its
#'   interval, or by a quarter of itself or more. Habit: are actions repeated more often, or less, than the fitted agent
#'   would repeat them?
#'
#' @section Where dynamics were inferred:
#' With `uncertainty = "joint"` of [ibrc()], a profile would have to find the best of all laws at every point. **whole**
#' then has three rows. The laws are checked like chains: a law with an R-hat above 1.05, or with fewer than 100
#' effective draws of bulk or tails, is a caution, which names the worst. Chains are compared with each other by their
#' log density: a chain whose mean differs from that of the others by more than 2 and by more than 4 Monte Carlo errors
#' is on another hill, or stuck: do not use. And draws are compared with where the chains began, around the top that a
#' climb found. It is a caution if the best of them lies further below it than 19 in 20 draws would lie below the top of
#' a normal posterior. A hill that no chain and no climb has met is not found in this way.
#'
#' With `"cut"`, R-hat is that of the chains under the worst draw of the dynamics, since draws differ on purpose;
#' effective draws add up. **whole** is as above under each draw, pooled. One more row of **assumed** says how much of
#' the variance lies between draws of the dynamics. If draws are so few that medians are uncertain by more than 0.1
#' standard deviations, it is a caution.
#'
#' With both, the moves with the lattice and the models are computed with the dynamics of each draw.
#'
#' @section Where people differ:
#' With `effects` of [ibrc()], **whole** compares the chains with each other only, by their log density as above. It
#' does not follow the density itself, so a tail that all chains missed is not found. Compare with [ibrc_mode()], which
#' takes the same fixed effects. **settled** and **identified** are about coefficients and spreads. A spread needs five
#' levels or more.
#'
#' @section What to do first:
#' Act on the chains first (settled, whole), then on behaviour, then on the rest: the later checks rest on the earlier
#' ones. Not everything can be checked. You have to argue that the utility, the models and the dynamics are the right
#' standard for a decision maker.
#'
#' Anything that does not show in behaviour is not found, for example a utility in other units, which `alpha` absorbs.
#'
#' The checks take about as long as a quarter of a default run. [ibrc()] makes them at its end and keeps them in the
#' fit, unless `check = FALSE` in [ibrc_control()]. Then `verdict()` makes them, and `add_verdict()` makes them and
#' keeps them. For a fit with `keep_data = FALSE` [ibrc()] has to make them.
#'
#' @param fit A fit ([ibrc()]).
#' @param statistics Your own statistics for the check `behaves`: a named list of functions, as in [behaviour_check()].
#' @param cores Threads to use.
#' @return `verdict()`: a data frame of class `ibrc_verdict`, one row per check, term and group: `check`, `term` and
#'   `group` (`NA` where it concerns all of them), `seen`, `asked`, `verdict` (an ordered factor: `ok`, `caution`, `do
#'   not use`) and `advice`. The overall verdict is that of the worst row. `add_verdict()`: the fit, with its verdict.
#' @seealso [identifiability()], [behaviour_check()], [pp_check()], [profile_likelihood()].
#' @family inference
#' @export
#' @examples
#' setting <- diag_setting()
#' plan <- plan_agent(setting, bounded_agent(alpha = 0.5), diag_models())
#' fit <- ibrc(simulate(plan, 60, seed = 1), setting, diag_models(),
#'             ibrc_prior(alpha ~ lognormal(0, 1)), chains = 4, iter = 1000, seed = 1)
#' verdict(fit)
#' as.data.frame(verdict(fit))[c("check", "seen", "verdict")]
verdict <- function(fit, statistics = NULL, cores = getOption("ibrc.cores", 1)) {
  check_given(fit)
  check_class(fit, "ibrc_fit", "fit", "ibrc()")
  statistics <- check_statistics(statistics)
  cores <- check_count(cores, "cores")
  if (is.null(fit$checks) || length(statistics)) fit$checks <- slow_checks(fit, statistics, cores)
  standing_verdict(fit)
}

#' @rdname verdict
#' @export
add_verdict <- function(fit, statistics = NULL, cores = getOption("ibrc.cores", 1)) {
  check_given(fit)
  check_class(fit, "ibrc_fit", "fit", "ibrc()")
  statistics <- check_statistics(statistics)
  cores <- check_count(cores, "cores")
  fit$checks <- slow_checks(fit, statistics, cores)
  fit
}

# What is known about a fit without another solve: what its draws say, and the slow checks if they were made.
standing_verdict <- function(fit) {
  # A report asks many times about the same fit.
  if (!is.null(fit$standing)) return(fit$standing)
  if (!fit$likelihood) return(new_ibrc_verdict(prior_only_rows(fit), fit))
  slow <- if (is.null(fit$checks)) unchecked_rows(fit) else fit$checks
  rows <- if (has_population(fit)) {
    rbind(settled_rows(fit), intercept_rows(fit), hill_rows(fit), if (has_dynamics(fit) && !is_cut(fit)) mixed_row(fit),
          slow[slow$check == "behaves", ],
          population_identified(fit), dynamics_rows(fit), interpolation_rows(fit), slow[slow$check == "assumed", ])
  } else {
    rbind(settled_rows(fit), slow[slow$check %in% c("whole", "behaves"), ], identified_rows(fit),
          slow[slow$check == "identified", ], dynamics_rows(fit), slow[slow$check == "assumed", ])
  }
  if (isTRUE(fit$interrupted)) rows <- rbind(rows, interrupted_rows(fit))
  rows <- doubt_unsettled(rows)
  new_ibrc_verdict(if (has_population(fit)) doubt_population(rows) else rows, fit)
}

# While the chains disagree, the draws cannot tell anything else.
doubt_unsettled <- function(rows) {
  rough <- rows[rows$check == "settled" & rows$verdict == "do not use", ]
  if (!nrow(rough)) return(rows)
  same_term <- vapply(seq_len(nrow(rows)), function(i) {
    any(same_quantity(rough$term, rows$term[i]) & rough$group == rows$group[i], na.rm = TRUE)
  }, NA)
  same_group <- is.na(rows$group) | rows$group %in% rough$group
  whole <- rows$check == "whole" & rows$verdict == "ok" & same_term
  behaviour <- (rows$check == "behaves" | startsWith(rows$seen, "habit")) & same_group
  at <- which(whole | behaviour)
  rows$seen[at] <- "cannot be told while the chains disagree"
  rows$verdict[at] <- "caution"
  rows$advice[at] <- ifelse(whole[at],
                            "Whether the chains saw all of the posterior of {} cannot be told until they agree.",
                            "Whether the fitted agent behaves like the data cannot be told until the chains agree.")
  rows
}

# Where advice says {}, it is about the row's own term and group.
new_ibrc_verdict <- function(rows, fit) {
  rownames(rows) <- NULL
  label <- row_labels(rows, is_grouped(fit))
  rows$advice <- mapply(function(advice, about) gsub("{}", about, advice, fixed = TRUE), rows$advice, label,
                        USE.NAMES = FALSE)
  structure(rows, class = c("ibrc_verdict", "data.frame"), grouped = is_grouped(fit))
}

prior_only_rows <- function(fit) {
  verdict_rows("behaves", "no data were used", "a likelihood", "do not use",
             "These are draws from the prior: no data were used. Fit without sample_prior = \"only\".")
}

interrupted_rows <- function(fit) {
  verdict_rows("settled", "the run was interrupted", "a run that came to its end", "caution",
             "The run was interrupted: these are the draws until then.")
}

# Rows for checks that have not been made.
unchecked_rows <- function(fit) {
  how <- if (!is.null(fit$histories)) "Not looked at yet: fit <- add_verdict(fit) does it." else
    "The fit keeps no data to look back at: fit with control = ibrc_control(check = TRUE)."
  verdict_rows(c("whole", "behaves", "assumed"), paste0(c("", "", "lattice, models, habit: "), "not looked at"),
               c("the profile beside the chains", "one step ahead", "numbers that do not rest on them"), "caution", how)
}

# ---- the slow ones -----------------------------------------------------------------

# A check that fails says so in its row, and the others go on.
slow_checks <- function(fit, statistics = list(), cores = 1L) {
  if (!fit$likelihood) return(NULL)
  refuse_part(fit, "fit", "a verdict")
  need_data(fit, "A verdict", "fit")
  streams <- streams_from_seed(fit$seed, length(fit$draws))
  evaluator <- inverse_evaluator(fit, cores = cores)
  attempt <- function(check, what, code) {
    tryCatch(code, error = function(e) {
      verdict_rows(check, "could not be looked at", what, "caution",
                 paste0("This check failed (", conditionMessage(e), "): look by hand, with profile_likelihood() and ",
                        "pp_check()."))
    })
  }
  # The user has to know about errors in his or her own statistics.
  draws <- if (has_population(fit)) population_check_draws(fit) else 200
  has_habit <- "habit" %in% names(fit$prior)
  tests <- tryCatch(behaviour_check(fit, statistics, draws), error = function(e) {
    if (inherits(e, "ibrc_error_input")) stop(e) else e
  })
  if (has_population(fit)) {
    return(rbind(
      attempt("behaves", "one step ahead", if (inherits(tests, "error")) stop(tests) else
        behaves_rows(tests, inferred = has_habit)),
      lost_action_rows(fit), population_assumed(fit, evaluator, cores, attempt),
      attempt("assumed", "habit", if (inherits(tests, "error")) stop(tests) else
        habit_rows(tests, has_habit, holds_learned(fit)))
    ))
  }
  rows <- rbind(
    attempt("whole", "the profile beside the chains", if (is_cut(fit)) {
      cut_whole_rows(fit, streams, cores)
    } else if (has_dynamics(fit)) {
      joint_whole_rows(fit, cores)
    } else {
      whole_rows(fit, evaluator, streams)
    }),
    attempt("behaves", "one step ahead", if (inherits(tests, "error")) stop(tests) else
      behaves_rows(tests, inferred = has_habit)),
    attempt("identified", "behaviour that depends on each term", inert_rows(fit, evaluator)),
    lost_action_rows(fit),
    attempt("assumed", "twice the resolution", resolution_rows(fit, evaluator, cores)),
    attempt("assumed", "another weighting of the models", weighting_rows(fit, evaluator)),
    attempt("assumed", "habit", if (inherits(tests, "error")) stop(tests) else
      habit_rows(tests, has_habit, holds_learned(fit)))
  )
  rownames(rows) <- NULL
  rows
}

# At the end of a run, when draws must not be lost any more.
checked_fit <- function(fit, run) {
  if (!fit$likelihood) return(fit)
  if (run$refresh > 0) tell(message("Checking the fit"))
  tryCatch({
    fit$checks <- allowInterrupts(slow_checks(fit, cores = run$cores))
    fit
  }, interrupt = function(condition) {
    message("The checks were interrupted, but the draws are complete: add_verdict() makes the checks.")
    fit
  })
}

# ---- reading it --------------------------------------------------------------------

# The lines under a table that was made from a fit; none without rows.
print_verdict <- function(rows, of = NULL) {
  if (is.null(rows)) return(invisible())
  writeLines(c("", of, verdict_headline(rows)))
  for (line in verdict_advice(rows)) writeLines(strwrap(line, prefix = "  ", initial = "* "))
}

# What to do, the worst first; rows that say the same become one. Advice without a term does not say whose it is: its
# groups stand before it, unless it holds for all of them.
verdict_advice <- function(rows) {
  rows <- rows[rows$verdict != "ok", ]
  rows <- rows[order(-as.integer(rows$verdict)), ]
  label <- row_labels(rows, isTRUE(attr(rows, "grouped")))
  whose <- ifelse(is.na(rows$term), label, NA)
  # The name of a group, such as "m", may also be in a word of the advice.
  label[is.na(rows$term)] <- ""
  # The same except for what it is about, and how many draws of that there are.
  common <- as.character(mapply(function(advice, about) {
    if (nzchar(about)) gsub(about, "{}", advice, fixed = TRUE) else advice
  }, rows$advice, label, USE.NAMES = FALSE))
  without <- sub(counted_pattern, "{} ({n})", common)
  vapply(unique(without), function(advice) {
    mine <- without == advice
    groups <- unique(whose[mine])
    paste0(if (all(nzchar(groups) & !is.na(groups))) paste0(listing(groups), ": "),
           said_of_all(advice, common[mine], label[mine]))
  }, "", USE.NAMES = FALSE)
}

# The caption of a picture of a fit: `text`, and the verdict unless all is well.
verdict_caption <- function(fit, text = NULL) {
  rows <- standing_verdict(fit)
  said <- c(text, if (any(rows$verdict != "ok")) paste0(verdict_headline(rows), "."))
  if (length(said)) paste(said, collapse = "\n")
}

#' @export
format.ibrc_verdict <- function(x, width = getOption("width"), ...) {
  checks <- unique(x$check)
  lines <- lapply(checks, function(check) {
    rows <- x[x$check == check, ]
    worst <- worst_of(rows$verdict)
    rows <- rows[rows$verdict == worst, ]
    label <- row_labels(rows, isTRUE(attr(x, "grouped")))
    seen <- paste0(label[1], if (nzchar(label[1])) ": ", rows$seen[1],
                   if (nrow(rows) > 1) paste0("; and ", plural(nrow(rows) - 1, "more row")))
    seen <- strwrap(seen, max(20, width - 24))
    paste0(c(sprintf("  %-11s%-11s", check, worst), rep(strrep(" ", 24), length(seen) - 1)), seen)
  })
  c(verdict_headline(x), unlist(lines))
}

#' @export
print.ibrc_verdict <- function(x, ...) {
  if (!all(c("check", "term", "group", "seen", "verdict", "advice") %in% names(x))) return(NextMethod())
  writeLines(format(x))
  for (line in verdict_advice(x)) writeLines(strwrap(line, prefix = "  ", initial = "* "))
  if (any(x$verdict != "ok")) writeLines("See ?verdict; as.data.frame(verdict(fit)) has every row.")
  invisible(x)
}

#' @export
as.data.frame.ibrc_verdict <- function(x, ...) {
  attr(x, "grouped") <- NULL
  class(x) <- "data.frame"
  x
}
