#' What a planned study would find
#'
#' Simulates studies of a design ([study_design()]), analyses each as the design says, and counts. It shows how often a
#' difference between groups is found (power), how often one is found that is not there (false positives), how far
#' estimates are off, and whether intervals hold what they promise. With several sizes, it shows what more patients
#' would bring.
#'
#' A difference is found where its interval excludes 0. Power counts those of the right sign; of all that are found,
#' `wrong_sign` is the share with the other one (errors of type S). A replicate without an interval has found nothing
#' and counts as such in power and false positives. Bias, error, coverage and width are over the replicates that have
#' one; `n` says how many. Replicates whose search or chains did not settle count as they are. `glance()` counts all of
#' these, and the printed result says so. If none of one size can be run, that is an error.
#'
#' @section Clinicians that vary:
#' Clinicians differ, and the patients of one clinician are treated alike for that reason alone. A fit by group does not
#' know this. It takes a difference between few clinicians for a difference between groups. In DIAG, with `agents =
#' bounded_agent(alpha = 0.5)`, `effect = list(optimism = 0)`, `clusters = c(clinician = 10)` and `spread = c(optimism =
#' 0.3)`, the prior and the resolution of the examples and 200 patients per group, 200 studies (`power_study(design,
#' 200)`) found a difference in optimism in 54% (47 to 60), although there is none. That is ten times what 95% intervals
#' promise: these were 0.15 wide, where estimates had a standard deviation of 0.12. More patients of the same clinicians
#' make it worse: with 100 per group it was 36% (29 to 42). Without the spread it was 2% (1 to 5) with 200. An analysis
#' that knows of clinicians, the t-test in the examples, found one in 4% (2 to 10) of 100 such studies.
#'
#' @section Long runs:
#' With a `future::plan()` other than `"sequential"`, studies run in its processes. This needs the package future.apply.
#' With `file`, finished studies are kept after each round, and the same call goes on from there, also with more
#' `replicates`, and tries again those that could not be run. An interrupt gives back what was finished, with a warning.
#' Every study has its own random numbers: nothing depends on how many run at once.
#'
#' @param design A design with two groups or more ([study_design()]).
#' @param patients Sizes to try: the patients in the first group. Other groups keep the proportion of the design.
#' @param replicates Studies of each size.
#' @param null Whether to simulate each size once more without any difference between the groups.
#' @param seed A number that settles all draws; `NULL` draws one, so that no later call goes on with its `file`.
#' @param file A path where finished studies are kept; `NULL` keeps nothing.
#' @param refresh Whether to say after each round how many are done: 0 says nothing.
#' @return An object of class `ibrc_power_study`. `tidy()` gives one row per size, kind, term, group and measure:
#'   `patients`, `effect` (`"stated"`, or `"none"` with `null`), `term`, `group`, `truth`, `measure` (`power` and
#'   `wrong_sign` or, where the truth is 0, `false_positives`; `bias`, `rmse`, `coverage` and `width`, the mean),
#'   `estimate`, `std.error` (Monte Carlo), `conf.low`, `conf.high` (95%) and `n`. Intervals of shares are Wilson's, and
#'   their `std.error` is half the width over 1.96: it is not 0 at 0% and 100%. `glance()` gives one row per size and
#'   kind: `replicates`, `finished`, `failed`, `unsettled`, `open` (an interval without an end), `warned` and `seconds`
#'   per study. `as.data.frame()` gives one row per study, term and group. [plot()][plot.ibrc_power_study] draws it.
#' @family studies
#' @export
#' @examples
#' prior <- ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1))
#' design <- study_design(diag_setting(), diag_models(), bounded_agent(alpha = 0.5),
#'                        effect = list(optimism = -0.5), prior = prior, resolution = 20,
#'                        starts = 1)
#' study <- power_study(design, patients = 50, replicates = 4)
#' study
#' tidy(study)
#'
#' # An analysis that knows of clinicians: one mode for each, and a t-test
#' by_clinician <- function(visits, design) {
#'   modes <- tidy(ibrc_mode(visits, design$setting, design$models, design$prior,
#'                           by = "clinician", resolution = 20, starts = 1, conf.level = NULL))
#'   modes <- modes[modes$term == "optimism", ]
#'   arm <- visits$group[match(modes$group, visits$clinician)]
#'   test <- t.test(modes$estimate[arm == "other"], modes$estimate[arm == "reference"],
#'                  conf.level = design$conf.level)
#'   data.frame(term = "optimism", estimate = -diff(test$estimate),
#'              conf.low = test$conf.int[1], conf.high = test$conf.int[2])
#' }
#' # power_study(study_design(..., clusters = c(clinician = 10), fit = by_clinician))
power_study <- function(design, patients = c(50, 100, 200), replicates = 200, null = FALSE, seed = 1, file = NULL,
                        refresh = default_refresh()) {
  check_given(design)
  check_class(design, "ibrc_study_design", "design", "study_design()")
  if (length(design$agents) < 2) abort_input("design", "has one group: state `effect`, or a list of agents.")
  sizes <- check_sizes(patients, design)
  null <- check_flag(null, "null")
  terms <- contrast_terms(design)
  job <- list(
    design = design, replicates = check_count(replicates, "replicates", most = most_at_once), contrast = TRUE,
    truths = "agents", seed = settle_seed(seed),
    cells = expand.grid(effect = c("stated", if (null) "none"), patients = sizes, stringsAsFactors = FALSE)[2:1],
    slots = expand.grid(group = names(design$agents)[-1], term = terms, stringsAsFactors = FALSE)[2:1]
  )
  refresh <- check_count(refresh, "refresh", least = 0)
  if (!is.null(file)) file <- check_path(file)
  run <- run_replicates(job, file, refresh)
  new_replicated_study(run, job, "ibrc_power_study")
}

check_sizes <- function(patients, design) {
  if (!is.numeric(patients) || !length(patients) || !is.null(dim(patients))) {
    abort_input("patients", "must be one or more whole numbers, not ", describe(patients), ".")
  }
  sizes <- vapply(unname(patients), check_count, 1L, "patients", most = most_at_once)
  if (anyDuplicated(sizes)) abort_input("patients", "names a size more than once.")
  for (size in sizes) resize_design(design, size, "patients")
  sizes
}

# If nothing is finished, or nothing of one size could be run, there is nothing to show, which is an error.
new_replicated_study <- function(run, job, class) {
  if (all(vapply(run$results, is.null, NA))) abort("interrupted", "Interrupted before the first study was done.")
  out <- structure(list(each = replicate_table(job, run$results), design = job$design, replicates = job$replicates,
                        truths = job$truths, seed = job$seed, asked = length(run$results),
                        interrupted = run$interrupted), class = class)
  if (!run$interrupted) refuse_none_run(out$each, job$design$patients)
  warn_interrupted(run)
  out
}

#' @export
tidy.ibrc_power_study <- function(x, ...) {
  check_unused(...)
  measure_table(x$each, c("patients", "effect", "term", "group"), contrast_measures)
}

#' @export
glance.ibrc_power_study <- function(x, ...) {
  check_unused(...)
  study_counts(x$each, c("patients", "effect"), x$replicates)
}

#' @export
as.data.frame.ibrc_power_study <- function(x, ...) x$each

#' @export
format.ibrc_power_study <- function(x, ...) {
  table <- tidy(x)
  several <- length(x$design$agents) > 2
  c(paste0("What a planned study would find: ", plural(x$replicates, "study", "studies"), " of each size, ",
           fit_words(x$design), ", ", level_text(x$design$conf.level), " intervals"),
    unseen_lines(x$design), cluster_lines(x$design), confounder_lines(x$design),
    coverage_lines(table, x$design$conf.level),
    unlist(lapply(found_words(table, several, x$design$patients), bullet)),
    unlist(lapply(error_words(table, several, x$design$patients), bullet)), trouble_lines(x))
}

# One sentence per size and effect that is there; one sentence for all sizes per effect that is not there.
found_words <- function(table, several, patients) {
  what <- paste0(term_words(table$term), if (several) paste0(" (", table$group, ")"))
  power <- which(table$measure == "power")
  size <- vapply(table$patients, size_words, "", patients)
  wrong <- table[table$measure == "wrong_sign", ]
  found <- sprintf("With %s an effect of %s on %s is found in %s%s.", size[power],
                   vapply(table$truth[power], format_number, ""), what[power], share_words(table[power, ]),
                   ifelse(wrong$estimate %in% c(0, NA), "",
                          paste0("; of the differences found ", share_words(wrong, ""), " have the wrong sign")))
  null <- which(table$measure == "false_positives")
  of_one <- split(null, factor(paste(what, table$effect)[null], unique(paste(what, table$effect)[null])))
  none <- vapply(of_one, function(at) {
    paste0(if (table$effect[at[1]] == "none") "Without any effect a" else "A", " difference in ", what[at[1]],
           " that is not there is found in ",
           enumerate(paste(share_words(table[at, ], ""), "with", size[at]), Inf, ""), ".")
  }, "", USE.NAMES = FALSE)
  c(found, none)
}

# One sentence per term and group, of the largest size.
error_words <- function(table, several, patients) {
  rows <- table[table$patients == max(table$patients) & table$effect == "stated", ]
  lapply(split(rows, paste(rows$term, rows$group))[unique(paste(rows$term, rows$group))], function(mine) {
    of <- function(measure) mine[mine$measure == measure, ]
    number <- function(measure) format_number(of(measure)$estimate, 2)
    if (of("coverage")$n == 0) return(NULL)
    paste0("With ", size_words(mine$patients[1], patients), " the difference in ", term_words(mine$term[1]),
           if (several) paste0(" (", mine$group[1], ")"), " is estimated with bias ", number("bias"),
           " and root mean squared error ", number("rmse"), "; its intervals ",
           if (!is.na(of("width")$estimate)) paste("have mean width", number("width"), "and "), "cover the truth in ",
           share_words(of("coverage")), ".")
  })
}

# Differences that are stated, and that this analysis does not estimate.
unseen_lines <- function(design) {
  missed <- setdiff(stated_terms(design), differing_terms(design))
  if (is.function(design$fit) || !length(missed)) return(NULL)
  bullet(paste0("Groups differ in ", enumerate(term_words(missed), quote = ""), ", which this analysis takes to be ",
                "the same in all of them: it has no power to find that, and may take it for a difference in something ",
                "else."))
}

# Terms that vary by cluster, and whose fit has no such column.
cluster_lines <- function(design) {
  column <- design$clusters$name
  varies <- names(design$clusters$spread)[design$clusters$spread > 0]
  missed <- terms_without(design, column, varies)
  if (!length(missed)) return(NULL)
  bullet(paste0("The fit knows nothing of the column ", column, ", by which decision makers vary",
                if (length(missed) < length(varies)) paste(" in", enumerate(missed, quote = "")),
                ": do not use these figures, but give study_design() fit = \"posterior\" and effects = list(",
                missed[1], " ~ ", if (length(design$agents) > 1) "group + ", "(1 | ", column, "))."))
}

confounder_lines <- function(design) {
  column <- design$confounder$name
  moved <- names(design$confounder$effect)[design$confounder$effect != 0]
  missed <- terms_without(design, column, moved)
  if (!length(missed)) return(NULL)
  bullet(paste0("The fit knows nothing of the column ", column, ", which shifts ", enumerate(missed, quote = ""),
                " and may be more common in one group: what it does is read as a difference between them. Give ",
                "study_design() effects = list(", missed[1], " ~ group + ", column, ")."))
}

# Those of the terms whose formula does not have the column.
terms_without <- function(design, column, terms) {
  if (is.function(design$fit)) return(character())
  columns <- lapply(design_formulas(design), function(one) {
    c(all.vars(one$fixed), unlist(lapply(one$random, `[[`, "columns")))
  })
  Filter(function(term) !column %in% columns[[term]], terms)
}

#' @export
print.ibrc_power_study <- function(x, ...) {
  writeLines(format(x))
  invisible(x)
}
