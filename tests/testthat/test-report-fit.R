nasty <- "<script>alert(1)</script>"
states <- c(nasty, "x & `r 1 + 1` *y*")

# Labels that would do harm where they are not escaped, and identifiers to look for.
report_setting <- function() {
  diag <- diag_setting()
  decision_setting(states, diag$actions, diag$observations, unname(diag$transition), unname(diag$emission),
                   unname(diag$utility), discount = 0.9, start = c(0.5, 0.5), stop_actions = diag$stop_actions)
}
report_visits <- function() {
  data <- as.data.frame(clinic_visits())
  data$id <- paste0("SECRET-", data$id)
  data$clinic[data$clinic == "south"] <- nasty
  trajectories(data, covariates = "clinic")
}
report_fit <- function(visits = report_visits(), ...) {
  # Its one model leaves optimism at the prior, of which ibrc() warns.
  suppressWarnings(
    ibrc(visits, report_setting(), NULL, ibrc_prior(alpha ~ lognormal(0, 1.5), optimism ~ normal(0, 1)), by = "clinic",
         chains = 2, iter = 70, seed = 1, resolution = 10, ...), classes = "ibrc_warning_one_model"
  )
}
small_fit <- function() cached("report_fit", report_fit())
# The same with its checks, which a report would make.
small_checked <- function() cached("small_checked", add_verdict(small_fit()))
# Pictures take a second each. Where what is around them is looked at, they are of nothing.
draw_nothing <- function(name, frame = parent.frame()) {
  real <- get(name, asNamespace("ibrc"))
  local_replacement(name, function(part) real(replace(part, "plot", list(ggplot2::ggplot()))), frame)
}
small_sections <- function() {
  cached("report_sections", report_sections(small_fit(), report_visits(), patients = 2, draws = 4))
}
page_of <- function(section) as.character(knit_print.ibrc_report_section(section))
texts_of <- function(section) {
  unlist(lapply(section, function(part) {
    c(part$text, part$lines, part$caption, unlist(lapply(part$data, as.character)))
  }))
}
occurrences <- function(pattern, text) lengths(regmatches(text, gregexpr(pattern, text, fixed = TRUE)))

test_that("a report is one page, at the path named and nowhere else", {
  skip_on_cran()
  skip_if_not_installed("rmarkdown")
  skip_if_not_installed("ggplot2")
  skip_if_not(rmarkdown::pandoc_available("2.0"))
  folder <- withr::local_tempdir()
  path <- file.path(folder, "report.html")
  set.seed(4)
  before <- .Random.seed
  returned <- ibrc_report(small_fit(), report_visits(), path, title = "A <b>title</b> *here*", patients = 1, draws = 4,
                          open = FALSE)
  expect_identical(basename(returned), "report.html")
  expect_identical(.Random.seed, before)
  expect_identical(list.files(folder), "report.html")
  expect_length(list.files(tempdir(), "^ibrc_report_"), 0)
  page <- readChar(path, file.size(path), useBytes = TRUE)
  Encoding(page) <- "UTF-8"

  expect_identical(occurrences("SECRET", page), 0L)
  expect_identical(occurrences("<script>alert", page), 0L)
  expect_gt(occurrences("&lt;script&gt;alert(1)", page), 5)
  expect_gt(occurrences("`r 1 + 1` *y*", gsub("&#96;", "`", page, fixed = TRUE)), 0)
  expect_match(page, "A &lt;b&gt;title&lt;/b&gt; *here*", fixed = TRUE)
  # Everything it shows it holds.
  images <- regmatches(page, gregexpr("<img [^>]*>", page))[[1]]
  expect_length(images, 10)
  expect_true(all(grepl("src=\"data:image/png;base64,", images, fixed = TRUE)))
  expect_true(all(grepl("alt=\"[^\"]{20,}", images)))
  expect_false(grepl("(src|href)=\"(https?:)?//", page))
  expect_identical(occurrences("<h2", page), 14L)
  median <- tidy(small_fit())$estimate[1]
  expect_match(page, paste0(">", format(median, digits = 3), "</td>"), fixed = TRUE)

  # What is there stays, unless it is to go.
  writeLines("kept", path)
  error <- expect_error(ibrc_report(small_fit(), file = path, open = FALSE), class = "ibrc_error_file")
  expect_identical(error$reason, "exists")
  expect_identical(readLines(path), "kept")
})

# ---- text that would do harm -----------------------------------------------------

# Each leaves a file, or a variable in the browser, if anything runs it: a shell, R or a page.
harmful <- function(n) {
  text <- paste0("`touch ran@` $(touch ran@) $HOME; touch ran@\n`r file.create('ran@')` {{file.create('ran@')}} --- ",
                 "![x](y.png) *b* \\1 %d \"q\" 'p' </title><script>ran=@</script><img src=x onerror=ran=@>\n```\n~~~")
  gsub("@", n, text, fixed = TRUE)
}

# Reports are made here, in a folder that would hold what has run.
local_reports <- function(frame = parent.frame()) {
  testthat::skip_on_cran()
  testthat::skip_if_not_installed("rmarkdown")
  testthat::skip_if_not_installed("ggplot2")
  testthat::skip_if_not(rmarkdown::pandoc_available("2.0"))
  folder <- withr::local_tempdir(.local_envir = frame)
  withr::local_dir(folder, .local_envir = frame)
  folder
}

read_page <- function(path) {
  page <- readChar(path, file.size(path), useBytes = TRUE)
  Encoding(page) <- "UTF-8"
  page
}

test_that("a title is text in the page's heading and head, whatever is in it", {
  skip_if_not_installed("htmltools")
  page <- charToRaw("<title>word</title><h1>word</h1>\u00e9")
  titled <- function(title) {
    out <- rawToChar(set_title(page, "word", title))
    Encoding(out) <- "UTF-8"
    out
  }
  as_is <- c("true", "\u4e2d\u6587 \u03b1", "--- {{x}} *b* $HOME \\1 \\\\ $(touch x)", strrep("long ", 1e4), "a  b",
             "word")
  for (title in as_is) expect_identical(titled(title), paste0("<title>", title, "</title><h1>", title, "</h1>\u00e9"))
  expect_identical(titled(""), "<title>A report</title><h1></h1>\u00e9")
  expect_identical(titled(" "), "<title>A report</title><h1> </h1>\u00e9")
  expect_match(titled("`<b>\"'&"), "<h1>&#96;&lt;b&gt;&quot;&#39;&amp;</h1>", fixed = TRUE)
  expect_match(titled("a\r\nb\n\nc\td"), "<h1>a&#10;b&#10;&#10;c\td</h1>", fixed = TRUE)
  expect_match(titled("\x01\x1b[31m"), "<h1>??[31m</h1>", fixed = TRUE)
  latin <- "\xe9"
  Encoding(latin) <- "latin1"
  expect_match(titled(latin), "<h1>\u00e9</h1>", fixed = TRUE)
})

test_that("nothing that a user names is run, by a shell, by R or by the page", {
  folder <- local_reports()
  # Whoever passes words to pandoc is seen.
  on_unix <- .Platform$OS.type == "unix"
  if (on_unix) {
    real <- file.path(rmarkdown::find_pandoc()$dir, "pandoc")
    tools <- withr::local_tempdir()
    words <- file.path(tools, "words")
    writeLines(c("#!/bin/sh", paste0("printf '%s\\n' \"$@\" >>", words), paste("exec", real, "\"$@\"")),
               file.path(tools, "pandoc"))
    Sys.chmod(file.path(tools, "pandoc"), "0755")
    rmarkdown::find_pandoc(cache = FALSE, dir = tools)
    withr::defer(rmarkdown::find_pandoc(cache = FALSE))
  }
  diag <- diag_setting()
  actions <- paste(seq_along(diag$actions), vapply(2:4, harmful, ""))
  seen <- paste(seq_along(diag$observations), vapply(5:6, harmful, ""))
  setting <- decision_setting(c(harmful(0), harmful(1)), actions, seen, unname(diag$transition), unname(diag$emission),
                              unname(diag$utility), discount = 0.9,
                              stop_actions = actions[match(diag$stop_actions, diag$actions)])
  data <- as.data.frame(clinic_visits())
  data$action <- actions[match(data$action, diag$actions)]
  data$observation <- seen[match(data$observation, diag$observations)]
  column <- harmful(7)
  data[[column]] <- ifelse(data$clinic == "south", harmful(8), "north")
  data$id <- paste(data$id, harmful(9))
  names(data)[names(data) == "id"] <- harmful(10)
  visits <- trajectories(data, id = harmful(10), covariates = column)
  fit <- suppressWarnings(ibrc(visits, setting, perturb_models(setting), by = column, chains = 2, iter = 40, seed = 1,
                               resolution = 10))
  iohmm <- fit_iohmm(visits, states = 2, starts = 1, seed = 1, tolerance = 1e-2)
  odd <- if (on_unix) file.path(folder, "a `touch ran13` $(touch ran13) 'q' \"d\" #x? %20") else folder
  dir.create(odd, showWarnings = FALSE)
  path <- file.path(odd, "a report.html")
  opened <- NULL
  withr::local_options(browser = function(url) opened <<- url)
  ibrc_report(fit, visits, path, iohmm = iohmm, title = harmful(14), show_id = TRUE, patients = 2, draws = 2,
              open = TRUE)

  expect_identical(list.files(folder, recursive = TRUE, all.files = TRUE), substring(path, nchar(folder) + 2))
  if (on_unix) expect_no_match(readLines(words), "ran[0-9]|touch|HOME")
  page <- read_page(path)
  expect_identical(occurrences("<script>ran", page) + occurrences("<img src=x", page), 0L)
  heading <- paste0("<h1 class=\"title toc-ignore\">", gsub("\n", "&#10;", escape_html(harmful(14))), "</h1>")
  expect_identical(occurrences(heading, page), 1L)
  for (n in 0:8) expect_gt(occurrences(paste0("(touch ran", n, ")"), page), 0)
  skip_without_browser()
  browser <- open_browser(opened)
  wait_until(browser, "document.readyState === 'complete'")
  expect_identical(ask(browser, "typeof ran"), "undefined")
  expect_identical(ask(browser, "document.querySelector('h1.title').textContent"), harmful(14))
  expect_identical(ask(browser, "document.querySelectorAll('script:not([src]), [onerror]').length"),
                   ask(browser, "document.querySelectorAll('head script:not([src])').length"))
})

test_that("a temporary folder that a shell would read is refused", {
  skip_if_not_installed("rmarkdown")
  for (folder in c("/tmp/`a`", "/tmp/$HOME/x", "/tmp/a\nb", "/tmp/a\"b", "/tmp/a\\b")) {
    error <- expect_error(refuse_odd_folder(folder, windows = FALSE), "TMPDIR", class = "ibrc_error_file")
    expect_identical(error$reason, "path")
  }
  expect_error(refuse_odd_folder("C:\\%TEMP%", windows = TRUE), class = "ibrc_error_file")
  for (folder in c("/tmp/R1", "/tmp/O'Brien (x) & y; z", "C:\\Users\\x")) {
    expect_null(refuse_odd_folder(folder, windows = startsWith(folder, "C")))
  }
  expect_identical(file_address("/a b/#1?50%.html"), "file:///a b/%231%3F50%25.html")
})

test_that("sections become HTML in which nothing of the user's is code", {
  skip_if_not_installed("knitr")
  skip_if_not_installed("htmltools")
  skip_if_not_installed("ggplot2")
  draw_nothing("picture_tag")
  pages <- vapply(small_sections(), page_of, "")
  expect_identical(sum(occurrences("SECRET", pages)), 0L)
  expect_identical(sum(occurrences("<script", pages)), 0L)
  # The block that holds the HTML begins and ends, and nothing ends it in between.
  expect_true(all(occurrences("```", pages) == 2))
  expect_gt(occurrences("&lt;script&gt;", pages[["groups"]]), 0)
  expect_gt(occurrences("Jarrett", pages[["methods"]]), 0)
  expect_identical(escape_html(c("<a href=\"x\">'`&", NA)), c("&lt;a href=&quot;x&quot;&gt;&#39;&#96;&amp;", ""))
})

test_that("for Word sections become Markdown in which nothing of the user's is code", {
  skip_if_not_installed("knitr")
  skip_if_not_installed("ggplot2")
  old <- knitr::opts_knit$get("rmarkdown.pandoc.to")
  withr::defer(knitr::opts_knit$set(rmarkdown.pandoc.to = old))
  knitr::opts_knit$set(rmarkdown.pandoc.to = "docx")
  local_replacement("picture_markdown", function(part) markdown_text(part$alt))
  pages <- vapply(small_sections(), page_of, "")
  expect_identical(sum(occurrences("SECRET", pages)), 0L)
  for (sign in c("<", "`", "$", "{=")) expect_identical(sum(occurrences(sign, pages)), 0L)
  expect_gt(occurrences("&#60;script&#62;", pages[["groups"]]), 0)
})

test_that("a report for Word is a document with its title, sections and pictures, and leaves nothing behind", {
  folder <- local_reports()
  path <- file.path(folder, "report.docx")
  draw_nothing("picture_markdown")
  ibrc_report(small_checked(), report_visits(), path, title = harmful(1), patients = 1, draws = 2, open = FALSE)
  expect_identical(list.files(folder, all.files = TRUE, no.. = TRUE), "report.docx")
  expect_length(list.files(tempdir(), "^ibrc_report_"), 0)
  files <- utils::unzip(path, list = TRUE)$Name
  expect_length(grep("^word/media/.*png$", files), 10)
  text <- withr::local_tempfile(fileext = ".txt")
  rmarkdown::pandoc_convert(normalizePath(path), "plain", output = text, options = c("--wrap=none", "--standalone"))
  said <- readLines(text, encoding = "UTF-8")
  expect_match(said[1], "`touch ran1` $(touch ran1)", fixed = TRUE)
  expect_lt(grep("May this be used", said)[1], grep("What the decision makers do", said)[1])
  expect_match(said, "<script>alert(1)</script>", fixed = TRUE, all = FALSE)
  expect_match(said, format(tidy(small_fit())$estimate[1], digits = 3), fixed = TRUE, all = FALSE)
  expect_no_match(said, "SECRET")
})

test_that("sections say what summaries of the fit say", {
  skip_if_not_installed("ggplot2")
  fit <- small_fit()
  sections <- small_sections()
  advice <- summary(fit)$advice
  expect_gt(length(advice), 0)
  # The report makes the checks that the fit has not been held against.
  expect_match(advice, "add_verdict", all = FALSE)
  said <- verdict(fit)
  expect_true(all(verdict_advice(said) %in% texts_of(sections$verdict)))
  expect_identical(sections$verdict[[1]]$class,
                   c(ok = "fine", caution = "warning", "do not use" = "stop")[[as.character(max(said$verdict))]])
  after <- sections$posterior[[2]]$data
  expect_identical(after$Term, rep(c("alpha", "optimism"), each = 2))
  table <- tidy(fit)
  expect_identical(after$Median[after$Term == "optimism" & after$Group == "north"],
                   table$estimate[table$term == "optimism" & table$group == "north"])
  expect_identical(sections$groups[[1]]$data$Median, compare_groups(fit)$estimate)
  expect_output(print(sections$groups), "P\\(larger\\)")
  # What is seen is as the setting has it, one column per state.
  seen <- Filter(function(part) isTRUE(grepl("what is seen", part$caption)), sections$dynamics)[[1]]$data
  expect_identical(seen$Seen, c("negative", "positive"))
  expect_equal(as.numeric(seen[[2]]), c(0.7, 0.3))
})

test_that("identifiers are shown only when asked for", {
  skip_if_not_installed("ggplot2")
  panels <- function(sections) levels(sections$paths[[1]]$plot$data$panel)
  expect_match(panels(small_sections()), "^Patient [12] ")
  shown <- report_sections(small_checked(), report_visits(), show_id = TRUE, patients = 2, draws = 2)
  expect_match(panels(shown), "^SECRET-")
  # Groups take turns.
  expect_length(unique(sub("^Patient [12] ", "", panels(small_sections()))), 2)
})

test_that("small counts are hidden, and none is given away by another", {
  skip_if_not_installed("ggplot2")
  visits <- as.data.frame(report_visits())
  few <- unique(visits$id[visits$clinic == "north"])[1:3]
  visits <- trajectories(visits[visits$clinic != "north" | visits$id %in% few, ], covariates = "clinic")
  fit <- add_verdict(suppressWarnings(report_fit(visits)))
  sections <- report_sections(fit, visits, patients = 0, draws = 2)
  sizes <- sections$selection[[2]]$data
  expect_identical(sizes$Trajectories[sizes$Group == "north"], "<5")
  open <- report_sections(fit, visits, suppress = NULL, patients = 0, draws = 2)$selection[[2]]$data
  expect_identical(open$Trajectories[open$Group == "north"], "3")
  # No share of three patients is drawn.
  data <- sections$predictive[[3]]$plot$data
  expect_true(all(is.na(data$observed[data$group == "north"])))
  expect_false(all(is.na(data$observed)))

  # A flow that hides its last counts, as two patients were dropped: 160 must not stand elsewhere.
  log <- data.frame(step = c("read", "marker"), reason = c("rows of the table", "no marker"), patients = c(162L, 160L),
                    visits = nrow(report_visits()) + c(2L, 0L))
  cohort <- new_ibrc_cohort(report_visits(), log, list())
  sections <- report_sections(small_checked(), cohort, patients = 0, draws = 2)
  said <- unlist(lapply(sections[c("overview", "selection", "groups", "methods")], texts_of))
  expect_false(any(grepl(paste0("\\b(160|80|", nrow(cohort), ")\\b"), said)))
  expect_true(any(grepl("162", said)))
  labels <- ggplot2::ggplot_build(sections$groups[[2]]$plot)$layout$panel_params[[1]]$y$get_labels()
  expect_match(labels, ">=5 trajectories")
})

test_that("what is missing is said, not left out", {
  skip_if_not_installed("ggplot2")
  fit <- ibrc(report_visits(), report_setting(), NULL, ibrc_prior(alpha ~ lognormal(0, 1)), fixed = list(eta = 0.5),
              chains = 2, iter = 40, seed = 1, resolution = 10,
              control = ibrc_control(keep_data = FALSE))
  sections <- report_sections(fit)
  expect_match(texts_of(sections$groups), "no groups")
  expect_match(texts_of(sections$predictive), "keep_data")
  expect_match(texts_of(sections$paths), "No visits")
  expect_match(texts_of(sections$selection), "no account")
  expect_true(any(grepl("eta = 0.5", texts_of(sections$overview), fixed = TRUE)))
})

test_that("learned dynamics are shown, each group's own where it has them", {
  skip_if_not_installed("ggplot2")
  visits <- report_visits()
  iohmm <- fit_iohmm(visits, states = 2, starts = 2, sort_by = "positive", seed = 1)
  shown <- report_sections(small_checked(), iohmm = iohmm, draws = 2)$dynamics
  captions <- unlist(lapply(shown, `[[`, "caption"))
  expect_match(captions[1], "states tried")
  first <- shown[[which(captions == "Probability of each state at the first visit")[1] + 1]]$data
  expect_equal(as.numeric(first$Probability), unname(iohmm$start), tolerance = 0.01)

  other <- report_setting()
  other$start[] <- c(0.2, 0.8)
  own <- ibrc(visits, stats::setNames(list(report_setting(), other), c("north", nasty)), NULL,
              ibrc_prior(alpha ~ lognormal(0, 1)), by = "clinic", chains = 1, iter = 20, seed = 1, resolution = 5)
  tables <- report_sections(own, draws = 2)$dynamics
  first <- Filter(function(part) identical(part$caption, "Probability of each state at the first visit, north"), tables)
  expect_identical(first[[1]]$data$Probability, c("0.500", "0.500"))
  first <- Filter(function(part) isTRUE(grepl("first visit, <script>", part$caption)), tables)
  expect_identical(first[[1]]$data$Probability, c("0.200", "0.800"))
})

test_that("the template has the sections and the arguments that there are", {
  folder <- system.file("rmarkdown", "templates", "ibrc_report", package = "ibrc")
  expect_true(file.exists(file.path(folder, "template.yaml")))
  skeleton <- readLines(file.path(folder, "skeleton", "skeleton.Rmd"))
  used <- sub("^report[$]", "", grep("^report[$]", skeleton, value = TRUE))
  skip_if_not_installed("ggplot2")
  expect_identical(used, names(small_sections()))
  skip_if_not_installed("rmarkdown")
  head <- rmarkdown::yaml_front_matter(file.path(folder, "skeleton", "skeleton.Rmd"))
  expect_identical(names(head$params), names(formals(report_sections)))
})

test_that("bad input is refused before any work", {
  fit <- small_fit()
  visits <- report_visits()
  path <- file.path(withr::local_tempdir(), "report.html")
  refused <- function(..., class = "ibrc_error_input") {
    expect_error(ibrc_report(..., open = FALSE), class = class)$argument
  }
  expect_identical(refused(fit), "file")
  expect_identical(refused(fit, file = "report.pdf"), "file")
  nowhere <- file.path(dirname(path), "no", "report.html")
  expect_identical(refused(fit, file = nowhere, class = "ibrc_error_file"), "file")
  expect_identical(refused("fit", file = path), "fit")
  expect_identical(refused(fit, as.data.frame(visits), path), "visits")
  expect_identical(refused(fit, visits[visits$id != "SECRET-1", ], path), "visits")
  expect_identical(refused(fit, file = path, iohmm = 1), "iohmm")
  expect_identical(refused(fit, file = path, title = NA), "title")
  expect_identical(refused(fit, file = path, sensitivity = 1), "sensitivity")
  expect_identical(refused(fit, file = path, suppress = 1), "suppress")
  expect_identical(refused(fit, file = path, patients = -1), "patients")
  expect_identical(refused(fit, file = path, draws = 0), "draws")
  expect_identical(refused(fit, file = path, overwrite = 1), "overwrite")
  expect_identical(refused(fit, file = path, show_id = NA), "show_id")
  expect_identical(refused(fit, file = path, other = 1), "...")
  expect_error(report_sections("no file.rds"), class = "ibrc_error_input")
  expect_false(file.exists(path))
})

test_that("without what it needs a report says what to install", {
  path <- file.path(withr::local_tempdir(), "report.html")
  local_replacement("require_package", function(package, purpose) NULL)
  local_replacement("has_pandoc", function() FALSE)
  error <- expect_error(ibrc_report(small_fit(), file = path, open = FALSE), class = "ibrc_error_package")
  expect_match(conditionMessage(error), "pandoc")
  local_replacement("require_package", function(package, purpose) abort("package", purpose, " needs ", package))
  error <- expect_error(ibrc_report(small_fit(), file = path, open = FALSE), class = "ibrc_error_package")
  expect_match(conditionMessage(error), "rmarkdown")
  skip_if_not_installed("knitr")
  expect_error(knit_print.ibrc_report_section(new_report_section(report_text("a"))), "A report needs htmltools",
               class = "ibrc_error_package")
})

test_that("a report replaces what is there when told, opens when told, and goes into no folder's place", {
  local_replacement("need_report_tools", function() NULL)
  local_replacement("render_report", function(title, params, word) charToRaw(paste0(title, if (word) " for Word")))
  folder <- withr::local_tempdir()
  path <- file.path(folder, "report.html")
  writeLines("old", path)
  opened <- character()
  withr::local_options(browser = function(url) opened <<- c(opened, url))
  ibrc_report(small_fit(), file = path, title = "new", overwrite = TRUE, open = FALSE)
  expect_identical(readLines(path, warn = FALSE), "new")
  expect_length(opened, 0)
  word <- file.path(folder, "report.DOCX")
  ibrc_report(small_fit(), file = word, title = "new", open = FALSE)
  expect_identical(readLines(word, warn = FALSE), "new for Word")
  ibrc_report(small_fit(), file = path, title = "newer", overwrite = TRUE, open = TRUE)
  expect_match(opened, "^file://.*report[.]html$")
  error <- expect_error(ibrc_report(small_fit(), file = path, open = FALSE), class = "ibrc_error_file")
  expect_identical(error$reason, "exists")
  dir.create(file.path(folder, "folder.html"))
  error <- expect_error(ibrc_report(small_fit(), file = file.path(folder, "folder.html"), open = FALSE),
                        class = "ibrc_error_file")
  expect_identical(error$reason, "path")
})

test_that("parts of a report are read from files that saveRDS() wrote, and no others", {
  path <- withr::local_tempfile(fileext = ".rds")
  saveRDS(list(1), path)
  expect_identical(read_if_path(path, "fit"), list(1))
  writeLines("no such thing", path)
  expect_error(suppressWarnings(read_if_path(path, "iohmm")), "saveRDS\\(\\) did not write", class = "ibrc_error_input")
})

test_that("dynamics per group are matched to the groups by name", {
  iohmm <- fit_iohmm(report_visits(), states = 2, starts = 1, seed = 1, tolerance = 1e-2)
  both <- stats::setNames(list(iohmm, structure(iohmm, mark = "north")), c(nasty, "north"))
  matched <- check_report_iohmm(both, small_fit())
  expect_named(matched, names(small_fit()$draws))
  expect_identical(attr(matched$north, "mark"), "north")
  expect_error(check_report_iohmm(both["north"], small_fit()), class = "ibrc_error_input")
})
