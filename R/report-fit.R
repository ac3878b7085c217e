#' A report on a fit
#'
#' Writes one HTML file that needs no other, or a Word document, with what a reader of a fit wants to see. The parts
#' come in this order:
#' * the [verdict()];
#' * what the decision makers do, in words ([decision_effects()]);
#' * what was fitted, and how the visits were selected;
#' * the dynamics, priors and posteriors;
#' * groups compared;
#' * what the data do not say, and whether the chains agree;
#' * how far the answer rests on what was assumed;
#' * a check against the behaviour that the fit replicates;
#' * the beliefs of a few patients;
#' * a draft of the methods with a checklist ([methods_text()]);
#' * how to cite, and versions.
#'
#' With more than 12 groups, tables have one row per group.
#'
#' The report shows no identifiers unless asked to (`show_id`). It shows no counts of trajectories, patients or visits
#' below `suppress`. Nor does it show others from which those could be worked out within it. Shares of fewer visits are
#' left out of its pictures. It does show the path of beliefs of each patient drawn, if only by number. Set
#' `patients = 0` where that is too much.
#'
#' RStudio offers the same report for you to edit, under New File, R Markdown, From Template. Its sections are those of
#' `report_sections()`. Outside RStudio, `rmarkdown::draft("report.Rmd", "ibrc_report", package = "ibrc")` gives it.
#' RStudio also has two Addins. They ask for a fit or a setting in the workspace, and write this report or open
#' [explore_agent()].
#'
#' @param fit A fit ([ibrc()]). For `report_sections()` it may be the path of an `.rds` file, and so may `visits`,
#'   `iohmm` and `sensitivity`.
#' @param visits The trajectories that the fit was made from ([trajectories()]), for the selection and the beliefs of
#'   patients. A fit does not keep them. `NULL` leaves both out.
#' @param file The path to write to. It ends in `.html` or, for Word, in `.docx`.
#' @param iohmm Learned dynamics ([fit_iohmm()]), or a list of them named by the fit's groups. By default the setting's
#'   dynamics are shown.
#' @param title The title, as plain text.
#' @param show_id Whether patients are titled with their identifiers.
#' @param suppress Leave out counts below this number ([suppress_counts()]). `NULL` leaves out none.
#' @param patients How many patients to draw. They are taken from those with about the median number of visits, and
#'   groups take turns.
#' @param draws How many draws to check against the data ([pp_check()]). Effects ([decision_effects()]) are worked out
#'   from at most as many in each group, and from about 400 in all groups together.
#' @param overwrite Whether to replace a file that is there.
#' @param open Whether to open the report, in a browser or in Word.
#' @param sensitivity What [sensitivity_analysis()] of the fit returned. `NULL` says that none was given.
#' @param ... Not used.
#' @return `ibrc_report()` returns the path, invisibly. It needs the packages rmarkdown, knitr, htmltools and ggplot2,
#'   and pandoc. `report_sections()` returns a list of sections. They are called `verdict`, `effects`, `overview`,
#'   `selection`, `dynamics`, `posterior`, `groups`, `checks`, `sensitivity`, `predictive`, `paths`, `methods`,
#'   `citation` and `session`. Each is a list of texts, tables and pictures. It prints on a console. In an R Markdown
#'   document it becomes a part of it.
#' @family reports
#' @export
#' @examples
#' setting <- diag_setting()
#' plan <- plan_agent(setting, bounded_agent(alpha = 0.5), diag_models(), resolution = 10)
#' visits <- simulate(plan, 40, seed = 1)
#' # Quick, and short: of a fit that keeps its data the report also shows how it behaves.
#' fit <- ibrc(visits, setting, diag_models(), ibrc_prior(alpha ~ lognormal(0, 1)),
#'             chains = 2, iter = 150, seed = 1, resolution = 5,
#'             control = ibrc_control(check = FALSE, keep_data = FALSE))
#' if (requireNamespace("rmarkdown", quietly = TRUE) && rmarkdown::pandoc_available("2.0") &&
#'     requireNamespace("ggplot2", quietly = TRUE)) {
#'   path <- tempfile(fileext = ".html")
#'   ibrc_report(fit, file = path, draws = 2, open = FALSE)
#'   unlink(path)
#' }
ibrc_report <- function(fit, visits = NULL, file, iohmm = NULL, title = "How bounded do these decisions look?",
                        show_id = FALSE, suppress = 5, patients = 3, draws = 50, overwrite = FALSE,
                        open = interactive(), sensitivity = NULL, ...) {
  check_given(fit)
  check_unused(...)
  if (missing(file)) abort_input("file", "must be given: the path to write to, such as file = \"report.html\".")
  overwrite <- check_flag(overwrite, "overwrite")
  open <- check_flag(open, "open")
  if (!is.character(title) || length(title) != 1 || is.na(title) || !validUTF8(enc2utf8(title))) {
    abort_input("title", "must be one text, not ", describe(title), ".")
  }
  file <- check_report_file(file, overwrite)
  check_report(fit, visits, iohmm, show_id, suppress, patients, draws, sensitivity)
  need_report_tools()
  page <- render_report(title, list(fit = fit, visits = visits, iohmm = iohmm, show_id = show_id, suppress = suppress,
                                    patients = patients, draws = draws, sensitivity = sensitivity), is_word(file))
  replace_whole(file, page)
  if (open) utils::browseURL(file_address(file))
  invisible(file)
}

#' @rdname ibrc_report
#' @export
report_sections <- function(fit, visits = NULL, iohmm = NULL, show_id = FALSE, suppress = 5, patients = 3, draws = 50,
                            sensitivity = NULL) {
  check_given(fit)
  report <- check_report(read_if_path(fit, "fit"), read_if_path(visits, "visits"), read_if_path(iohmm, "iohmm"),
                         show_id, suppress, patients, draws, read_if_path(sensitivity, "sensitivity"))
  require_package("ggplot2", "A report")
  report$counts <- report_counts(report$fit, report$visits, report$suppress)
  if (is.null(report$fit$checks) && report$fit$likelihood && !is.null(report$fit$histories)) {
    report$fit <- add_verdict(report$fit)
  }
  report$verdict <- standing_verdict(report$fit)
  report$fit$standing <- report$verdict
  report$advice <- verdict_advice(report$verdict)
  list(verdict = verdict_section(report), effects = effects_section(report), overview = overview_section(report),
       selection = selection_section(report), dynamics = dynamics_section(report),
       posterior = posterior_section(report), groups = groups_section(report), checks = checks_section(report),
       sensitivity = sensitivity_section(report), predictive = predictive_section(report),
       paths = paths_section(report), methods = methods_section(report), citation = citation_section(report),
       session = session_section(report))
}

# ---- checks -----------------------------------------------------------------------

# Before any work. What was given, cleaned.
check_report <- function(fit, visits, iohmm, show_id, suppress, patients, draws, sensitivity) {
  check_class(fit, "ibrc_fit", "fit", "ibrc()")
  check_sensitivity(sensitivity)
  refuse_several(fit, "fit", "a report")
  if (!is.null(visits)) check_fitted_visits(visits, fit)
  if (!is.null(iohmm)) iohmm <- check_report_iohmm(iohmm, fit)
  list(fit = fit, visits = visits, iohmm = iohmm, show_id = check_flag(show_id, "show_id"),
       suppress = check_suppress(suppress), patients = check_count(patients, "patients", least = 0),
       draws = check_count(draws, "draws"), sensitivity = sensitivity)
}

# A report on other visits than those of the fit would not say so anywhere.
check_fitted_visits <- function(visits, fit) {
  check_class(visits, "ibrc_trajectories", "visits", "trajectories()")
  coded <- code_visits(visits, fit$problem$setting)
  group <- fit_groups(fit, visits, coded)
  sizes <- as.vector(table(group))
  if (!identical(sizes, as.vector(fit$group_sizes)) || length(coded$row) != sum(fit$n_visits)) {
    abort_input("visits", "are not those that the fit was made from: there are ",
                if (length(coded$row) < sum(fit$n_visits)) "fewer" else "more", " or others.")
  }
}

check_report_file <- function(file, overwrite) {
  if (!is.character(file) || length(file) != 1 || is.na(file) || !grepl("[.](html?|docx)$", file, ignore.case = TRUE)) {
    abort_input("file", "must be the path of one file that ends in .html, or in .docx for Word, not ",
                describe(file), ".")
  }
  refuse <- function(reason, ...) abort("file", "`file` ", ..., argument = "file", fields = list(reason = reason))
  if (dir.exists(file)) refuse("path", "is a folder. Name a file in it.")
  if (!dir.exists(dirname(path.expand(file)))) refuse("path", "lies in a folder that does not exist. Make it first.")
  if (file.exists(file) && !overwrite) refuse("exists", "is there already. Give overwrite = TRUE to replace it.")
  normalizePath(path.expand(file), winslash = "/", mustWork = FALSE)
}

is_word <- function(file) grepl("[.]docx$", file, ignore.case = TRUE)

need_report_tools <- function() {
  for (package in c("rmarkdown", "knitr", "htmltools", "ggplot2")) require_package(package, "A report")
  if (!has_pandoc()) {
    abort("package", "A report needs the program pandoc, version 2.0 or later, which was not found. Install it from ",
          "https://pandoc.org, or run R in RStudio, which brings it.")
  }
}

has_pandoc <- function() rmarkdown::pandoc_available("2.0")

read_if_path <- function(x, argument) {
  if (!is.character(x)) return(x)
  if (length(x) != 1 || is.na(x) || !file.exists(x)) {
    abort_input(argument, "is the path of a file that does not exist, or of more than one.")
  }
  tryCatch(readRDS(x), error = function(e) abort_input(argument, "is the path of a file that saveRDS() did not write."))
}

# The signs that have a meaning of their own in an address.
file_address <- function(file) {
  for (sign in c("%", "#", "?")) file <- gsub(sign, sprintf("%%%02X", utf8ToInt(sign)), file, fixed = TRUE)
  paste0("file://", file)
}

# ---- rendering ---------------------------------------------------------------------

# The bytes of the page, made from the template in a folder of R's temporary one. rmarkdown hands paths and arguments
# to a shell without quoting all that a shell reads, knitr runs what looks like code, and pandoc reads Markdown. So
# they meet a word that means nothing to any of them where the title goes.
render_report <- function(title, params, word = FALSE) {
  folder <- tempfile("ibrc_report_")
  refuse_odd_folder(folder)
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  template <- system.file("rmarkdown", "templates", "ibrc_report", "skeleton", package = "ibrc")
  file.copy(list.files(template, full.names = TRUE), folder)
  # tempfile() does not use R's random numbers.
  mark <- paste0("title", gsub("[^0-9a-z]", "", basename(folder)))
  skeleton <- file.path(folder, "skeleton.Rmd")
  lines <- readLines(skeleton, encoding = "UTF-8")
  lines <- if (word) title_in_body(lines) else sub("^title:.*", paste0("title: \"", mark, "\""), lines)
  writeLines(enc2utf8(lines), skeleton, useBytes = TRUE)
  envir <- new.env(parent = globalenv())
  envir$title <- new_report_section(report_title(title, "Title"), report_title(format(Sys.Date()), "Date"))
  page <- rmarkdown::render(skeleton, if (word) "word_document" else "html_document", output_dir = folder,
                            intermediates_dir = folder, params = params, envir = envir, quiet = TRUE)
  page <- readBin(page, "raw", file.size(page))
  if (word) page else set_title(page, mark, title)
}

# In Word the title is a section, the first one: it is in no head, where it would be read as Markdown.
title_in_body <- function(lines) {
  lines <- lines[!grepl("^(title|date):", lines)]
  ends <- which(lines == "```")[1]
  c(lines[seq_len(ends)], "", "```{r title}", "title", "```", lines[-seq_len(ends)])
}

# The title is text in HTML. A browser shows the name of the file for a page without one in its head.
set_title <- function(page, word, title) {
  text <- escape_html(gsub("\r\n?", "\n", title))
  # Signs that no page may have, in any form.
  text <- gsub("[\\x01-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f]", "?", text, perl = TRUE, useBytes = TRUE)
  in_head <- if (grepl("[^[:space:]]", title)) text else "A report"
  word <- charToRaw(word)
  from <- 1
  parts <- list()
  for (at in grepRaw(word, page, fixed = TRUE, all = TRUE)) {
    before <- page[seq(from, length.out = at - from)]
    heads <- identical(utils::tail(before, 7), charToRaw("<title>"))
    parts <- c(parts, list(before, charToRaw(if (heads) in_head else text)))
    from <- at + length(word)
  }
  do.call(c, c(parts, list(page[seq(from, length.out = length(page) - from + 1)])))
}

# rmarkdown quotes a path for the shell where it has a blank or most other signs, but for these.
refuse_odd_folder <- function(folder, windows = .Platform$OS.type == "windows") {
  odd <- if (windows) "[%\"\n\r]" else "[`$\"\n\r\\\\]"
  if (any(grepl(odd, c(folder, find.package("ibrc"), find.package("rmarkdown")), perl = TRUE))) {
    abort("file", "R's temporary folder, or its library, has a sign in its path that the programs behind a report ",
          "cannot take, such as $ or a quote. Set TMPDIR to another folder, and start R again.", argument = "file",
          fields = list(reason = "path"))
  }
}
