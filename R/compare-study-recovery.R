#' Whether truths are found again
#'
#' Simulates studies of a design ([study_design()]) whose truth is known, analyses each as the design says, and compares
#' estimates with truths. It shows whether estimates are off, whether intervals cover as often as they promise, and how
#' much of a difference between decision makers they recover.
#'
#' This function looks at the levels of each group, one by one; [power_study()] looks at differences. Replicates without
#' an interval, and those that did not settle, are treated and counted as there.
#'
#' With `effects` among what the design hands on, groups are terms of formulas. Truths from the prior are then drawn
#' once, for the first group. In terms with `group` in their formula the others get a draw from the prior of its
#' coefficient on top; all else is the same in all groups. What the design states of clusters and of the confounder
#' stays. Levels, true and estimated, are those of the fit's reference: a confounder in the formula is at its mean in
#' the study (zeros and ones: at 0), and one that is not in it at 0. With `fit = "profile"` groups after the first have
#' no level in terms that differ, since no single coefficient is one.
#'
#' @param design A design ([study_design()]), of one group or more.
#' @param truths Where truths come from. `"prior"` draws what is inferred anew for every study and group (fitted
#'   apart), so that the intervals of a posterior should cover, over all studies, by their mass. An `effect` plays no
#'   part then. `"agents"` takes those of the design every time.
#' @inheritParams power_study
#' @param replicates How many studies.
#' @inheritSection power_study Long runs
#' @return An object of class `ibrc_recovery_study`. `tidy()` gives one row per term, group and measure: `term`,
#'   `group`, `truth` (where it is the same in all), `measure` (`bias`, `rmse`, `coverage`, `width`, `correlation` of
#'   estimates with truths, and `shrinkage`, the share of a difference in truths by which estimates fall short: 0 is
#'   none, 1 is all), `estimate`, `std.error` (Monte Carlo), `conf.low`, `conf.high` and `n`. `glance()` and
#'   `as.data.frame()` are as in [power_study()]. [plot()][plot.ibrc_power_study] draws it.
#' @family studies
#' @export
#' @examples
#' design <- study_design(diag_setting(), diag_models(), bounded_agent(alpha = 0.5), patients = 50,
#'                        prior = ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1)),
#'                        resolution = 20, starts = 1)
#' study <- recovery_study(design, replicates = 8)
#' study
#' tidy(study)
recovery_study <- function(design, replicates = 100, truths = c("prior", "agents"), seed = 1, file = NULL,
                           refresh = default_refresh()) {
  check_given(design)
  check_class(design, "ibrc_study_design", "design", "study_design()")
  truths <- check_choice(truths, c("prior", "agents"), "truths")
  if (truths == "prior" && is.null(design$prior)) {
    abort_input("truths", "= \"prior\" needs a design with a prior.")
  }
  job <- list(
    design = design, replicates = check_count(replicates, "replicates", most = most_at_once), contrast = FALSE,
    truths = truths, seed = settle_seed(seed),
    cells = data.frame(patients = design$patients[[1]], effect = "stated"),
    slots = level_slots(design)
  )
  refresh <- check_count(refresh, "refresh", least = 0)
  if (!is.null(file)) file <- check_path(file)
  run <- run_replicates(job, file, refresh)
  new_replicated_study(run, job, "ibrc_recovery_study")
}

#' @export
tidy.ibrc_recovery_study <- function(x, ...) {
  check_unused(...)
  table <- measure_table(x$each, c("term", "group"), function(rows) level_measures(rows, x$truths == "prior"))
  without_lone_group(table, names(x$design$agents))
}

#' @export
glance.ibrc_recovery_study <- function(x, ...) {
  check_unused(...)
  study_counts(x$each, "patients", x$replicates)
}

#' @export
as.data.frame.ibrc_recovery_study <- function(x, ...) {
  without_lone_group(x$each[names(x$each) != "effect"], names(x$design$agents))
}

#' @export
format.ibrc_recovery_study <- function(x, ...) {
  table <- tidy(x)
  place <- if (is.null(table$group)) table$term else paste(table$term, table$group)
  c(paste0("Whether truths are found again: ", plural(x$replicates, "study", "studies"), " of ",
           size_words(x$design$patients[[1]], x$design$patients), ", truths from the ",
           if (x$truths == "prior") "prior" else "stated agents", ", ", fit_words(x$design)),
    cluster_lines(x$design),
    unlist(lapply(unique(place), function(one) bullet(recovery_words(table[place == one, ], x$design$conf.level)))),
    coverage_lines(table, x$design$conf.level), trouble_lines(x))
}

recovery_words <- function(rows, conf.level) {
  of <- function(measure) rows[rows$measure == measure, ]
  agree <- of("correlation")$estimate
  paste0("Estimates of ", term_words(rows$term[1]), if (!is.null(rows$group)) paste0(" (", rows$group[1], ")"),
         " have bias ", format_number(of("bias")$estimate, 2), " and root mean squared error ",
         format_number(of("rmse")$estimate, 2), "; ", level_text(conf.level), " intervals cover the truth ",
         "in ", share_words(of("coverage")),
         if (!is.na(agree)) paste0("; the correlation with the truth is ", format_number(agree, 2), ", and ",
                                   percent_text(max(0, of("shrinkage")$estimate)), " of a difference is lost"), ".")
}

#' @export
print.ibrc_recovery_study <- function(x, ...) {
  writeLines(format(x))
  invisible(x)
}
