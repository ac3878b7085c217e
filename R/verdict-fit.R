#' May this fit be used?
#'
#' A fit is a claim. `verdict()` holds it against what such a claim must stand up to, one row per check: what was seen,
#' what was asked, whether that is `ok`, a `caution` or `do not use`, and what to do. Printing a fit, its summary, a
#' comparison of groups and the report all show the same verdict.
#'
#' @section The checks:
#' * **settled**: do the chains agree, and are there enough independent draws? Asked of every term in every
#'   group: R-hat below 1.01, and 400 effective draws of the bulk and of the tails; else caution. R-hat above 1.05, or
#'   above
#'   1.01 with fewer than 400 draws, or fewer than 100 draws: do not use, and what rests on such draws cannot be told.
#' * **whole**: did the chains see all of the posterior? Chains that never went into a long tail agree with each
#'   other. So the density is also followed along its ridges, one term at a time with the others at their best (its
#'   profile), from where the chains were, and weighted draws are taken along these walks. (A second peak far from all
#'   chains is
#'   not found so.) Where the chains' 95% interval is, on one side, less than
#'   0.8 as long as the interval found so, by more than chance: caution. Less than 0.6, or more than 20% of the
#'   posterior outside of it: do not use. Fits whose dynamics were inferred are looked at otherwise, see below.
#' * **behaves**: does the fitted agent decide as was decided, one visit ahead, given what had really been done and
#'   observed until then? Counted by number of the visit, by belief, by last action and by last observation, and for
#'   rare actions ([behaviour_check()]); P is the least of theirs times how many there were. P below 0.05: caution. P
#'   below 0.01 and shares that are off by 0.05 or more: do not use.
#' * **identified**: do the data speak about each term, or is it the prior, or a ridge that it shares
#'   with another term ([identifiability()])?
#' * **assumed**: what the numbers rest on. Dynamics that were learned from the same visits and then held fixed are a
#'   caution, since intervals do not know of it. Visits that come after a missing action are "do not use"
#'   ([trajectories()] says why). How far the posterior moves at twice the resolution of the lattice, and
#'   when the middle one of the models counts twice: on the lattice 0.25 of a standard deviation or more is a caution,
#'   1 or more is "do not use"; for the models a caution is a term that moves by 2 standard deviations or more, out of
#'   its
#'   interval, or by a quarter of
#'   itself or more. Habit: are actions repeated more often, or less, than the fitted agent would repeat them?
#'
#' @section Where dynamics were inferred:
#' With `uncertainty = "joint"` of [ibrc()], a profile would have to find the best of all laws at every point.
#' **whole** is then three rows. The laws are held to what chains are: one with an R-hat above 1.05, or with fewer
#' than 100 effective draws of bulk or tails, is a caution, which names the worst. Chains are held against each other
#' by their log density: one whose mean lies apart from that of the others by more than 2 and by more than 4 Monte
#' Carlo errors is on another hill, or stuck: do not use. And draws are held against where the chains began, about the
#' top that a climb found: that the best of them lies further below it than 19 in 20 draws would below the top, were
#' the posterior normal, is a caution. A hill that no chain and no climb has met is not found so.
#'
#' With `"cut"`, R-hat is that of the chains under each draw of the dynamics, the worst of them, since draws differ on
#' purpose; effective draws add up. **whole** is as above under each draw, pooled. One more row of **assumed** says how
#' much of the variance lies between draws of the dynamics: where that leaves medians uncertain by more than 0.1
#' standard deviations, because draws are few, it is a caution.
#'
#' With both, how far the posterior moves with the lattice and the models is worked out with the dynamics of each draw.
#'
#' @section What to do first:
#' Act on the chains first (settled, whole), then on behaviour, then on the rest: what the later checks say rests on the
#' earlier ones. Only what can be checked is checked: that the utility, the models and the dynamics are the right ones
#' to
#' hold a decision maker to is for you to argue.
#'
#' What cannot be seen in behaviour is not found: a utility in other units, say, which `alpha` takes up.
#'
#' The checks take about as long as a quarter of a default run. [ibrc()] makes them at its end and keeps them in
#' the fit, unless `check = FALSE` in [ibrc_control()] says otherwise; then `verdict()` makes them, and `add_verdict()`
#' makes them and keeps them. Those of a fit with `keep_data = FALSE` have to be made by [ibrc()].
#'
#' @param fit A fit ([ibrc()]).
#' @param statistics Statistics of your own for the check `behaves`: a named list of functions, as in
#'   [behaviour_check()].
#' @param cores Threads to use.
#' @return `verdict()`: a data frame of class `ibrc_verdict`, one row per check, term and group: `check`, `term` and
#'   `group` (`NA` where it concerns all of them), `seen`, `asked`, `verdict` (an ordered factor: `ok`, `caution`,
#'   `do not use`) and `advice`. Its last word is that of the worst row. `add_verdict()`: the fit, with it.
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

# What is known of a fit without another solve: what its draws say, and the slow checks if they were made.
standing_verdict <- function(fit) {
  # A report asks many times, and of one fit.
  if (!is.null(fit$standing)) return(fit$standing)
  if (!fit$likelihood) return(new_ibrc_verdict(prior_only_rows(fit), fit))
  slow <- if (is.null(fit$checks)) unchecked_rows(fit) else fit$checks
  rows <- if (has_population(fit)) {
    rbind(settled_rows(fit), intercept_rows(fit), hill_rows(fit), slow[slow$check == "behaves", ],
          population_identified(fit), dynamics_rows(fit), interpolation_rows(fit), slow[slow$check == "assumed", ])
  } else {
    rbind(settled_rows(fit), slow[slow$check %in% c("whole", "behaves"), ], identified_rows(fit),
          slow[slow$check == "identified", ], dynamics_rows(fit), slow[slow$check == "assumed", ])
  }
  if (isTRUE(fit$interrupted)) rows <- rbind(rows, interrupted_rows(fit))
  new_ibrc_verdict(doubt_unsettled(rows), fit)
}

# What the draws say of anything else cannot be told while the chains disagree.
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

# Advice speaks of the row's own term and group where it says {}.
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

# Two rows that say what has not been looked at.
unchecked_rows <- function(fit) {
  how <- if (!is.null(fit$histories)) "Not looked at yet: fit <- add_verdict(fit) does it." else
    "The fit keeps no data to look back at: fit with control = ibrc_control(check = TRUE)."
  verdict_rows(c("whole", "behaves"), "not looked at", c("the profile beside the chains", "one step ahead"),
               "caution", how)
}

# ---- the slow ones -----------------------------------------------------------------

# A check that fails says so in its row, and stops no other.
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
  # What goes wrong in a statistic of the user's own is the user's to know.
  draws <- if (has_population(fit)) population_check_draws(fit) else 200
  tests <- tryCatch(behaviour_check(fit, statistics, draws), error = function(e) {
    if (inherits(e, "ibrc_error_input")) stop(e) else e
  })
  if (has_population(fit)) {
    return(rbind(
      attempt("behaves", "one step ahead", if (inherits(tests, "error")) stop(tests) else behaves_rows(tests)),
      lost_action_rows(fit), population_assumed(fit, evaluator, cores, attempt),
      attempt("assumed", "habit", if (inherits(tests, "error")) stop(tests) else
        habit_rows(tests, "habit" %in% names(fit$prior)))
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
    attempt("behaves", "one step ahead", if (inherits(tests, "error")) stop(tests) else behaves_rows(tests)),
    attempt("identified", "behaviour that depends on each term", inert_rows(fit, evaluator)),
    lost_action_rows(fit),
    attempt("assumed", "twice the resolution", resolution_rows(fit, evaluator, cores)),
    attempt("assumed", "another weighting of the models", weighting_rows(fit, evaluator)),
    attempt("assumed", "habit", if (inherits(tests, "error")) stop(tests) else
      habit_rows(tests, "habit" %in% names(fit$prior)))
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
    message("The checks were interrupted, the draws are whole: add_verdict() makes the checks.")
    fit
  })
}

# ---- reading it --------------------------------------------------------------------

# What stands under a table that was made from a fit; nothing without rows.
print_verdict <- function(rows, of = NULL) {
  if (is.null(rows)) return(invisible())
  writeLines(c("", of, verdict_headline(rows)))
  for (line in verdict_advice(rows)) writeLines(strwrap(line, prefix = "  ", initial = "* "))
}

# What to do, the worst first; rows that say the same are one.
verdict_advice <- function(rows) {
  rows <- rows[rows$verdict != "ok", ]
  rows <- rows[order(-as.integer(rows$verdict)), ]
  label <- row_labels(rows, isTRUE(attr(rows, "grouped")))
  # The same but for what it speaks of, and how many draws of that there are.
  common <- as.character(mapply(function(advice, about) {
    if (nzchar(about)) gsub(about, "{}", advice, fixed = TRUE) else advice
  }, rows$advice, label, USE.NAMES = FALSE))
  without <- sub(counted_pattern, "{} ({n})", common)
  vapply(unique(without), function(advice) said_of_all(advice, common[without == advice], label[without == advice]),
         "", USE.NAMES = FALSE)
}

# What stands below a picture of a fit: `text`, and the verdict unless all is well.
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
