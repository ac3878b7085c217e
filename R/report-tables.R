#' Tables for a paper
#'
#' Tables of a fit as papers print them, with column titles in words, a caption, and the [verdict()] in a note below:
#' a table that leaves this note out leaves out whether its numbers may be used. `as_gt()` makes a table of the package
#' gt, for HTML, LaTeX and Word. `flextable::as_flextable()` makes one of the package flextable, for Word and
#' PowerPoint. Both take what these functions return:
#' * [tidy()][tidy.ibrc_fit] of a fit, or the fit itself,
#' * [compare_groups()],
#' * [decision_effects()],
#' * [accuracy()][accuracy.ibrc_cross_validation],
#' * [flow()],
#' * [reporting_checklist()],
#' * `tbl_agents()` and `tbl_groups()`.
#'
#' `tbl_agents()` is the table of [tidy()][tidy.ibrc_fit]: one row per term and group. `tbl_groups()` is the table of
#' [compare_groups()]: one row per contrast. Their names are like those of the package gtsummary. They are data frames:
#' numbers are rounded when they are printed, and not before.
#'
#' Each of these objects is a data frame, so that `write.csv()` writes it to a file, with all digits.
#'
#' @param fit A fit ([ibrc()]).
#' @param conf.level Mass of the central interval.
#' @param reference,joint As in [compare_groups()].
#' @param ... Not used.
#' @param x What is to be a table: see above. For `print()` a table.
#' @return `tbl_agents()` and `tbl_groups()`: a data frame of class `ibrc_table`, with the attributes `caption` and
#'   `note`. `as_gt()`: a `gt_tbl` of the package gt, which it needs.
#' @family reports
#' @export
#' @examples
#' setting <- diag_setting()
#' plan <- plan_agent(setting, bounded_agent(alpha = 0.5), diag_models(), resolution = 10)
#' fit <- ibrc(simulate(plan, 40, seed = 1), setting, diag_models(),
#'             ibrc_prior(alpha ~ lognormal(0, 1)), chains = 2, iter = 200, seed = 1,
#'             resolution = 10)
#' tbl_agents(fit)
#' if (requireNamespace("gt", quietly = TRUE)) {
#'   as_gt(tidy(fit))
#' }
#' if (requireNamespace("flextable", quietly = TRUE)) {
#'   flextable::as_flextable(tbl_agents(fit))
#' }
#' path <- tempfile(fileext = ".csv")
#' write.csv(tidy(fit), path, row.names = FALSE)
#' unlink(path)
tbl_agents <- function(fit, conf.level = 0.95) {
  check_given(fit)
  check_class(fit, "ibrc_fit", "fit", "ibrc()")
  terms_table(tidy(fit, check_level(conf.level)))
}

#' @rdname tbl_agents
#' @export
tbl_groups <- function(fit, reference = NULL, conf.level = 0.95, joint = TRUE) {
  check_given(fit)
  contrasts_table(compare_groups(fit, reference, conf.level = conf.level, joint = joint))
}

#' @rdname tbl_agents
#' @export
as_gt <- function(x, ...) {
  check_given(x)
  UseMethod("as_gt")
}

#' @export
as_gt.default <- function(x, ...) {
  # The package gtsummary has a function of this name, which ours may hide.
  other <- "gtsummary"
  if (inherits(x, other)) return(getExportedValue(other, "as_gt")(x, ...))
  check_unused(...)
  table <- as_paper_table(x)
  require_package("gt", "A gt table")
  out <- gt::gt(shown_cells(table), caption = attr(table, "caption"))
  numbers <- names(table)[number_columns(table)]
  if (length(numbers)) out <- gt::cols_align(out, "right", columns = gt::all_of(numbers))
  for (line in attr(table, "note")) out <- gt::tab_source_note(out, line)
  out
}

# flextable has the generic.
#' @rawNamespace S3method(flextable::as_flextable, ibrc_table)
as_flextable.ibrc_table <- function(x, ...) {
  check_unused(...)
  table <- as_paper_table(x)
  require_package("flextable", "A flextable")
  out <- flextable::set_caption(flextable::flextable(shown_cells(table)), attr(table, "caption"))
  numbers <- which(number_columns(table))
  if (length(numbers)) out <- flextable::align(out, j = numbers, align = "right", part = "all")
  note <- attr(table, "note")
  if (length(note)) out <- flextable::add_footer_lines(out, note)
  flextable::autofit(out)
}

#' @rawNamespace S3method(flextable::as_flextable, ibrc_fit)
as_flextable.ibrc_fit <- function(x, ...) as_flextable.ibrc_table(x, ...)
#' @rawNamespace S3method(flextable::as_flextable, ibrc_terms)
as_flextable.ibrc_terms <- function(x, ...) as_flextable.ibrc_table(x, ...)
#' @rawNamespace S3method(flextable::as_flextable, ibrc_comparison)
as_flextable.ibrc_comparison <- function(x, ...) as_flextable.ibrc_table(x, ...)
#' @rawNamespace S3method(flextable::as_flextable, ibrc_effects)
as_flextable.ibrc_effects <- function(x, ...) as_flextable.ibrc_table(x, ...)
#' @rawNamespace S3method(flextable::as_flextable, ibrc_accuracy)
as_flextable.ibrc_accuracy <- function(x, ...) as_flextable.ibrc_table(x, ...)
#' @rawNamespace S3method(flextable::as_flextable, ibrc_flow)
as_flextable.ibrc_flow <- function(x, ...) as_flextable.ibrc_table(x, ...)
#' @rawNamespace S3method(flextable::as_flextable, ibrc_checklist)
as_flextable.ibrc_checklist <- function(x, ...) as_flextable.ibrc_table(x, ...)

#' @rdname tbl_agents
#' @export
print.ibrc_table <- function(x, ...) {
  caption <- attr(x, "caption")
  if (!is.null(caption)) writeLines(c(strwrap(caption), ""))
  table <- as.data.frame(x)
  table[] <- shown_cells(x)
  print(table, row.names = FALSE, right = all(number_columns(x)))
  if (length(attr(x, "note"))) writeLines(c("", strwrap(attr(x, "note"))))
  invisible(x)
}

#' @export
as.data.frame.ibrc_table <- function(x, ...) {
  attr(x, "caption") <- attr(x, "note") <- NULL
  class(x) <- "data.frame"
  x
}

# ---- what each becomes ------------------------------------------------------------------

# `data` as it is to be read, columns in words and numbers as they are; `note`: lines below it.
new_ibrc_table <- function(data, caption, note = NULL) {
  rownames(data) <- NULL
  structure(data, class = c("ibrc_table", "data.frame"), caption = caption, note = note)
}

as_paper_table <- function(x) {
  if (inherits(x, "ibrc_table")) return(x)
  make <- list(ibrc_fit = tbl_agents, ibrc_terms = terms_table, ibrc_comparison = contrasts_table,
               ibrc_effects = effects_paper_table, ibrc_accuracy = accuracy_table, ibrc_flow = flow_table,
               ibrc_checklist = checklist_table)
  class <- intersect(class(x), names(make))
  if (!length(class)) {
    abort_input("x", "must come from tidy(), compare_groups(), decision_effects(), accuracy(), flow(), ",
                "reporting_checklist(), tbl_agents() or tbl_groups(), not ", describe(x), ".", topic = "tbl_agents")
  }
  need_columns(x, class[1])
  make[[class[1]]](x)
}

# Some of its columns are a data frame like any other, and no table of this kind.
needed_columns <- list(
  ibrc_terms = c("term", "estimate", "conf.low", "conf.high", "verdict"),
  ibrc_comparison = c("term", "group", "reference", "scale", "estimate", "conf.low", "conf.high", "verdict"),
  ibrc_effects = c("quantity", "at", "action", "detail", "estimate", "conf.low", "conf.high", "rational", "verdict"),
  ibrc_accuracy = c("method", "score", "action", "estimate", "conf.low", "conf.high", "difference", "verdict"),
  ibrc_flow = c("step", "reason", "patients", "visits", "dropped_patients", "dropped_visits"),
  ibrc_checklist = c("item", "done", "where")
)

need_columns <- function(x, class) {
  lost <- setdiff(needed_columns[[class]], names(x))
  if (length(lost)) {
    abort_input("x", "has lost ", if (length(lost) == 1) "its column " else "its columns ", enumerate(lost),
                ": make the table first, and leave out columns of it afterwards.", topic = "tbl_agents")
  }
}

# What columns of data frames are called in tables. Others, such as covariates, keep their names.
column_titles <- c(
  term = "Term", factor = "Of", level = "Level", group = "Group", cell = "Cell", reference = "Against",
  scale = "Scale", method = "Method", score = "Score", action = "Action", estimate = "Median", std.error = "SD",
  learned = "Learned", probability = "P(larger)", difference = "Difference", verdict = "Verdict",
  item = "Item", done = "What was done", where = "Where to find it"
)

# The table with titles; limits of intervals are called by their share, where it is known.
titled <- function(table, conf.level) {
  low <- grepl("low$", names(table))
  limit <- low | grepl("high$", names(table))
  known <- names(table) %in% names(column_titles)
  titles <- ifelse(known, column_titles[names(table)], names(table))
  titles[limit] <- paste0(ifelse(startsWith(names(table)[limit], "difference"), "Difference, ", ""),
                          interval_titles(conf.level)[ifelse(low[limit], 1, 2)])
  stats::setNames(table, titles)
}

terms_table <- function(table) {
  verdict <- worst_of(factor(table$verdict, verdict_levels, ordered = TRUE))
  headline <- attr(table, "verdict")
  shown <- as.data.frame(table)[setdiff(names(table), c("rhat", "ess_bulk", "ess_tail", "contraction"))]
  new_ibrc_table(titled(shown, attr(table, "conf.level")), "Posterior of each term: median and central interval",
                 paste0(if (is.null(headline)) paste("Verdict:", verdict) else headline, "."))
}

contrasts_table <- function(table) {
  shown <- as.data.frame(table)
  if (!is.null(shown$probability)) shown$probability <- chance_text(shown$probability)
  by_level <- !is.null(shown$factor)
  shown <- titled(shown, attr(table, "conf.level"))
  if (by_level) names(shown)[names(shown) == "Group"] <- "Level"
  new_ibrc_table(shown, paste("How much larger each term is than",
                              if (by_level) "at the reference level" else "in the reference group"),
                 c(Filter(nzchar, comparison_words(table)), verdict_note(table)))
}

# The verdict that a table carries, as a line below it.
verdict_note <- function(table) {
  rows <- attr(table, "verdict")
  if (is.null(rows)) rows <- data.frame(check = "fit", verdict = factor(table$verdict, verdict_levels, ordered = TRUE))
  if (all(is.na(rows$verdict))) return(NULL)
  paste0(verdict_headline(rows[!is.na(rows$verdict), ]), ".")
}

rational_words <- paste("The column Rational has a perfectly rational agent who knows the dynamics; for accuracies and",
                        "weights it has what the setting states.")

# Weights of models, and accuracies in each state, are in decision_effects() itself.
effects_table <- function(effects) {
  rows <- as.data.frame(effects)
  told <- !rows$quantity %in% c("weight", "accuracy") | rows$detail %in% "all states"
  rows <- rows[told, ]
  out <- data.frame(What = unname(effect_titles[rows$quantity]), At = rows$at, Action = as_label(rows$action))
  if (!is.null(rows$group)) out <- cbind(out, Group = rows$group, Against = rows$reference)
  interval <- rows[c("conf.low", "conf.high")]
  names(interval) <- interval_titles(attr(effects, "of")$conf.level)
  cbind(out, Median = rows$estimate, interval, Rational = rows$rational, Verdict = rows$verdict)
}

effects_title <- function(effects) {
  paste0("What decision makers do", if (!all(is.na(effects$reference))) ", and how groups differ")
}

effects_paper_table <- function(effects) {
  new_ibrc_table(effects_table(effects), effects_title(effects),
                 c(rational_words, verdict_note(effects)))
}

accuracy_table <- function(table) {
  shown <- as.data.frame(table)
  shown$score <- unname(ifelse(shown$score %in% names(score_words), score_words[shown$score], shown$score))
  shown$action <- as_label(ifelse(is.na(shown$action), "", shown$action))
  reference <- attr(table, "reference")
  failures <- attr(table, "failures")
  out <- titled(shown[setdiff(names(shown), c("fold_mean", "fold_sd", "visits", "note"))], attr(table, "conf.level"))
  names(out)[names(out) == "Median"] <- "Estimate"
  new_ibrc_table(out, "How well each method predicts actions", c(
    "Lower is better for the Brier score, and higher for the others.",
    if (!is.null(reference)) paste0("Differences are to ", safe_text(reference), "."),
    if (length(failures)) paste0("Do not compare methods that failed: ", safe_text(failures)),
    verdict_note(table)
  ))
}

checklist_table <- function(table) {
  new_ibrc_table(titled(as.data.frame(table), NULL), "What a report on this fit should say", verdict_note(table))
}

flow_table <- function(flow) {
  text <- flow_text(flow)
  table <- data.frame(Step = flow$reason, Patients = text$patients, Visits = text$visits,
                      text$dropped_patients, text$dropped_visits)
  names(table)[4:5] <- c("Patients dropped", "Visits dropped")
  hidden <- anyNA(unlist(flow[c("patients", "visits", "dropped_patients", "dropped_visits")]))
  least <- attr(flow, "suppress")
  new_ibrc_table(table, "Rows of the table, and what each condition left",
                 if (hidden && !is.null(least)) paste0("Counts are hidden so that none below ", least,
                                                       " can be worked out."))
}
