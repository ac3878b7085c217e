#' What a paper says of its methods
#'
#' `methods_text()` writes the paragraphs on methods that go with a fit, with the numbers and references that a referee
#' asks for: data, model, utility, priors, dynamics, resolution, sampler, checks, sensitivity, contrasts and versions.
#' Every number is taken from the fit. It is a draft for you to edit: why this utility, and why these priors, only you
#' can say. Where the verdict is "do not use", the text says so first.
#'
#' `reporting_checklist()` lists the same as a table, one row per item, with where to find it and `"not done"` where
#' something was not done or was not given here.
#'
#' Neither holds an identifier, nor counts of trajectories below `suppress`.
#'
#' @param fit A fit ([ibrc()]). A fit that was not checked at its end is not checked here: see [add_verdict()].
#' @param format `"markdown"` or `"plain"` text.
#' @param sensitivity What [sensitivity_analysis()] of this fit returned, if it was made.
#' @param contrasts What [compare_groups()] of this fit returned: the contrasts that the paper reports. By default those
#'   of each group with the first.
#' @param iohmm Learned dynamics, as in [ibrc_report()].
#' @param suppress The smallest number of trajectories that may be shown ([suppress_counts()]); `NULL` shows all.
#' @param x A text or a checklist.
#' @param ... Not used.
#' @return `methods_text()`: an object of class `ibrc_methods_text`. Printing it breaks its lines. `format()` returns
#'   its paragraphs, one string each: `writeLines(format(text), "methods.md", sep = "\n\n")` writes them to a file, with
#'   blank lines between them. In R Markdown it becomes text.
#'   `reporting_checklist()`: a data frame of class `ibrc_checklist` with the columns `item`, `done` and `where`, to be
#'   written with `write.csv()` or made a table by [as_gt()].
#' @family reports
#' @export
#' @examples
#' setting <- diag_setting()
#' plan <- plan_agent(setting, bounded_agent(alpha = 0.5), diag_models(), resolution = 10)
#' fit <- ibrc(simulate(plan, 40, seed = 1), setting, diag_models(),
#'             ibrc_prior(alpha ~ lognormal(0, 1)), chains = 2, iter = 200, seed = 1,
#'             resolution = 10)
#' methods_text(fit, "plain")
#' reporting_checklist(fit)[1:3, ]
methods_text <- function(fit, format = c("markdown", "plain"), sensitivity = NULL, contrasts = NULL, iohmm = NULL,
                         suppress = 5) {
  check_given(fit)
  format <- check_choice(format, c("markdown", "plain"), "format")
  new_methods_text(methods_said(fit, sensitivity, contrasts, iohmm, suppress), format, standing_verdict(fit))
}

new_methods_text <- function(said, format, verdict) {
  structure(list(said = said, references = used_references(said), format = format,
                 worst = as.character(worst_of(verdict$verdict))), class = "ibrc_methods_text")
}

#' @rdname methods_text
#' @export
reporting_checklist <- function(fit, sensitivity = NULL, contrasts = NULL, iohmm = NULL, suppress = 5) {
  check_given(fit)
  new_checklist(methods_said(fit, sensitivity, contrasts, iohmm, suppress), standing_verdict(fit))
}

new_checklist <- function(said, verdict) {
  said[is.na(said)] <- "not done"
  structure(data.frame(item = unname(checklist_items["item", ]), done = unname(said),
                       where = unname(checklist_items["where", ])),
            class = c("ibrc_checklist", "data.frame"), verdict = verdict)
}

# What there is to say, and where a reader finds it.
checklist_items <- cbind(
  verdict = c(item = "Verdict", where = "verdict(fit)"),
  data = c("Data", "flow() of the cohort; glance(fit)"),
  model = c("Decision model", "?ibrc; the article \"math\" of the site"),
  standard = c("Utility (the standard)", "the setting; report_sections(fit)$dynamics"),
  discount = c("Discount", "the setting"),
  models = c("Models of the dynamics that may be believed", "the models; report_sections(fit)$dynamics"),
  habit = c("Habit", "tidy(fit), term habit; verdict(fit), check assumed"),
  effects = c("Differences between people", "tidy(fit); tidy(fit, effects = \"people\")"),
  priors = c("Priors", "prior_summary(fit)"),
  dynamics = c("Dynamics, and their uncertainty", "report_sections(fit)$dynamics; tidy(fit, \"dynamics\")"),
  resolution = c("Resolution of beliefs", "verdict(fit), check assumed"),
  sampler = c("Sampler", "fit$run, fit$control"),
  chains = c("Convergence", "tidy(fit); verdict(fit), check settled"),
  checks = c("Checks of the fit", "as.data.frame(verdict(fit))"),
  sensitivity = c("Sensitivity to what was assumed", "sensitivity_analysis(fit, over)"),
  contrasts = c("Number of contrasts", "compare_groups(fit, joint = TRUE)"),
  software = c("Software and seed", "sessionInfo(); fit$seed")
)

# ---- references -------------------------------------------------------------------------

full_references <- c(
  idm = paste("Jarrett D, H\u00fcy\u00fck A, van der Schaar M (2021). Inverse decision modeling: learning",
              "interpretable representations of behavior. Proceedings of Machine Learning Research 139, 4755-4771.",
              "https://proceedings.mlr.press/v139/jarrett21a.html"),
  mh = paste("Hastings WK (1970). Monte Carlo sampling methods using Markov chains and their applications. Biometrika",
             "57, 97-109. https://doi.org/10.1093/biomet/57.1.97"),
  am = paste("Haario H, Saksman E, Tamminen J (2001). An adaptive Metropolis algorithm. Bernoulli 7, 223-242.",
             "https://doi.org/10.2307/3318737"),
  smc = paste("Del Moral P, Doucet A, Jasra A (2006). Sequential Monte Carlo samplers. Journal of the Royal",
              "Statistical Society B 68, 411-436. https://doi.org/10.1111/j.1467-9868.2006.00553.x"),
  imis = paste("Raftery AE, Bao L (2010). Estimating and projecting trends in HIV/AIDS generalized epidemics using",
               "incremental mixture importance sampling. Biometrics 66, 1162-1173.",
               "https://doi.org/10.1111/j.1541-0420.2010.01399.x"),
  rhat = paste("Vehtari A, Gelman A, Simpson D, Carpenter B, B\u00fcrkner P-C (2021). Rank-normalization, folding, and",
               "localization: an improved R-hat for assessing convergence of MCMC. Bayesian Analysis 16, 667-718.",
               "https://doi.org/10.1214/20-BA1221"),
  lkj = paste("Lewandowski D, Kurowicka D, Joe H (2009). Generating random correlation matrices based on vines and",
              "extended onion method. Journal of Multivariate Analysis 100, 1989-2001.",
              "https://doi.org/10.1016/j.jmva.2009.04.008"),
  iohmm = paste("Bengio Y, Frasconi P (1995). An input output HMM architecture. Advances in Neural Information",
                "Processing Systems 7, 427-434."),
  cut = paste("Plummer M (2015). Cuts in Bayesian graphical models. Statistics and Computing 25, 37-43.",
              "https://doi.org/10.1007/s11222-014-9503-z")
)

used_references <- function(said) {
  used <- vapply(cited, function(one) any(grepl(one, said, fixed = TRUE)), NA)
  unname(sort(full_references[names(cited)[used]], method = "radix"))
}

# ---- printing ---------------------------------------------------------------------------

methods_paragraphs <- list(
  model = c("data", "model", "standard", "discount", "models", "habit", "effects"),
  computation = c("priors", "dynamics", "resolution", "sampler", "chains"),
  checks = c("checks", "sensitivity", "contrasts", "software")
)

#' @rdname methods_text
#' @export
format.ibrc_methods_text <- function(x, ...) {
  check_unused(...)
  marked <- x$format == "markdown"
  text <- function(parts) paste(stats::na.omit(parts), collapse = " ")
  body <- vapply(methods_paragraphs, function(items) text(x$said[items]), "", USE.NAMES = FALSE)
  first <- if (x$worst == "do not use") x$said[["verdict"]]
  if (!marked) return(c(first, body, "References", x$references))
  c(if (!is.null(first)) paste0("**", as_markdown(first), "**"), as_markdown(body), "**References**",
    sub("(https://[^ ]+)$", "<\\1>", paste("-", x$references)))
}

# Signs that Markdown reads as something else.
as_markdown <- function(text) gsub("([][\\\\`*_<>|$^~#{}])", "\\\\\\1", text)

#' @rdname methods_text
#' @export
print.ibrc_methods_text <- function(x, ...) {
  for (line in format(x)) writeLines(c(strwrap(line), ""))
  invisible(x)
}

#' @rawNamespace S3method(knitr::knit_print, ibrc_methods_text)
knit_print.ibrc_methods_text <- function(x, ...) {
  x$format <- "markdown"
  knitr::asis_output(paste0("\n\n", paste(format(x), collapse = "\n\n"), "\n\n"))
}

#' @rdname methods_text
#' @export
print.ibrc_checklist <- function(x, ...) {
  if (!all(needed_columns$ibrc_checklist %in% names(x))) return(NextMethod())
  for (i in seq_len(nrow(x))) {
    writeLines(c(paste0(x$item[i], " [", x$where[i], "]"), strwrap(x$done[i], prefix = "  ")))
  }
  rows <- attr(x, "verdict")
  not <- sum(x$done == "not done")
  writeLines(c("", paste0(plural(not, "item"), " of ", nrow(x), " not done.",
                          if (!is.null(rows)) paste0(" ", verdict_headline(rows), "."))))
  invisible(x)
}

# ---- in a report ------------------------------------------------------------------------

methods_section <- function(report) {
  said <- methods_said(report$fit, report$sensitivity, NULL, report$iohmm, report$suppress, report$counts)
  text <- new_methods_text(said, "plain", report$verdict)
  table <- checklist_table(new_checklist(said, report$verdict))
  paragraphs <- setdiff(format(text), c("References", text$references))
  new_report_section(lapply(paragraphs, report_text), report_list(text$references),
                     report_table(as.data.frame(table), attr(table, "caption")))
}
