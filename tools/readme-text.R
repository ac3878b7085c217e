# Writes what README.md shows of results, between its marks: the tables of accuracy and of what planning costs, from the
# files that hold them, and what the fit of "Ten lines" prints (with the package that is installed; half a minute).
#
#   make install && R_LIBS=_build/library Rscript tools/readme-text.R [planning accuracy fit]
#
# Sourced, it only defines its functions: tests/testthat/test-words.R holds the tables against the files.

markdown_table <- function(table, right) {
  row <- function(cells) paste0("| ", paste(trimws(cells), collapse = " | "), " |")
  c(row(names(table)), paste0("|", paste(ifelse(right, "---:", "---"), collapse = "|"), "|"),
    apply(as.matrix(table), 1, row))
}

# What planning costs: inst/bench/planning.csv, which inst/bench/forward.R and inverse.R write.
planning_text <- function(file = file.path("inst", "bench", "planning.csv")) {
  figures <- utils::read.csv(file)
  of <- function(topic) figures[figures$topic == topic, ]
  cold <- of("cold")
  backups <- c("backups", rep("", nrow(cold) - 1))
  markdown_table(data.frame(
    problem = cold$problem, "belief nodes" = format(cold$nodes, big.mark = ",", trim = TRUE),
    "cold solve" = trimws(paste(cold$value, backups)), "warm solve" = of("warm")$value,
    "tables built in" = of("tables")$value, check.names = FALSE
  ), right = c(FALSE, TRUE, TRUE, TRUE, TRUE))
}

# Brier scores, one row per method: inst/extdata/accuracy-scores.csv. What was not tried has an empty cell.
accuracy_text <- function(file = file.path("inst", "extdata", "accuracy-scores.csv")) {
  scores <- utils::read.csv(file)
  scores <- scores[scores$score == "brier", ]
  methods <- c(
    ibrc = "inverse bounded rational control; on PBC and lipids rewards alone, with no bound inferred",
    rnn = "the mean of two recurrent neural networks, untuned",
    iohmm_bc = "cloning from the beliefs of an input-output hidden Markov model",
    joint_iohmm_bc = "the same, with dynamics learned from actions too (as INTERPOLE does)",
    po_irl = "rewards by inverse reinforcement learning under partial observability",
    joint_po_irl = "the same, with dynamics learned from actions too",
    logistic_3 = "logistic regression on three visits", logistic = "logistic regression on the last visit",
    previous_action = "shares after the same action", visit_number = "shares at the same visit",
    frequencies = "shares over all visits"
  )
  typed <- paste0("`\"", names(methods), "\"`")
  typed[names(methods) == "ibrc"] <- "`ibrc_mode()`"
  typed[names(methods) == "logistic_3"] <- "`fit_baseline(visits, \"logistic\", last = 3)`"
  score <- function(data) {
    found <- scores$estimate[match(paste(data, names(methods)), paste(scores$data, scores$method))]
    ifelse(is.na(found), "", sprintf("%.3f", found))
  }
  markdown_table(data.frame("to type" = typed, "what it is" = unname(methods), cohort = score("adni"),
                            PBC = score("pbc"), lipids = score("nafld"), DIAG = score("diag"), check.names = FALSE),
                 right = c(FALSE, FALSE, TRUE, TRUE, TRUE, TRUE))
}

# Blocks of code in README.md, by a word that they have in them.
readme_code <- function(text, word) {
  fence <- which(startsWith(text, "```"))
  opens <- fence[c(TRUE, FALSE)]
  closes <- fence[c(FALSE, TRUE)]
  blocks <- Map(function(from, to) text[seq_len(to - from - 1) + from], opens, closes)
  Filter(function(block) any(grepl(word, block, fixed = TRUE)), blocks[text[opens] == "```r"])[[1]]
}

# What the fit of "Ten lines" prints, from the very lines that README.md shows.
fit_text <- function(text = readLines("README.md", encoding = "UTF-8")) {
  here <- new.env(parent = globalenv())
  first <- readme_code(text, "neutral  <- plan_agent")
  eval(parse(text = first[!grepl("plot_plans|observations = ", first)]), here)
  second <- readme_code(text, "fit <- ibrc(visits, setting, models, fixed")
  eval(parse(text = second[second != "fit"]), here)
  c("```text", withr::with_options(list(width = 84, digits = 3), utils::capture.output(print(here$fit))), "```")
}

put_between <- function(text, mark, lines) {
  from <- grep(paste0("^<!-- ", mark, ":"), text)
  to <- from + which(text[-seq_len(from)] == "<!-- end -->")[1]
  stopifnot(length(from) == 1, !is.na(to))
  c(text[seq_len(from)], lines, text[to:length(text)])
}

if (sys.nframe() == 0L) {
  library(ibrc)
  makers <- list(planning = planning_text, accuracy = accuracy_text, fit = fit_text)
  asked <- commandArgs(TRUE)
  if (!length(asked)) asked <- names(makers)
  text <- readLines("README.md", encoding = "UTF-8")
  for (mark in asked) text <- put_between(text, mark, makers[[mark]]())
  writeLines(text, "README.md", useBytes = TRUE)
}
