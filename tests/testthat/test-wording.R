# What texts say against what the package does, where they once differed.

texts <- function() {
  home <- file.path("..", "..")
  files <- c(file.path(home, "README.md"), Sys.glob(file.path(home, "vignettes", "*.Rmd")))
  if (!all(file.exists(files)) || length(files) < 2) skip("not in the folder of sources")
  stats::setNames(lapply(files, function(file) gsub("\\s+", " ", paste(readLines(file, warn = FALSE), collapse = " "))),
                  basename(files))
}

test_that("with eta above 0, what is hard to foresee is done more, and texts say so", {
  # Both actions are worth the same; after one of them what is seen says nothing, after the other a lot.
  setting <- decision_setting(c("a", "b"), c("close", "look"), c("x", "y"), diag(2),
                              list(close = matrix(0.5, 2, 2), look = rbind(c(0.9, 0.1), c(0.1, 0.9))),
                              matrix(0, 2, 2), discount = 0.1)
  looks <- function(eta) {
    policy(plan_agent(setting, bounded_agent(alpha = 1, eta = eta), resolution = 20), c(0.5, 0.5))[[1, "look"]]
  }
  expect_equal(looks(0), 0.5)
  expect_gt(looks(1), 0.6)
  expect_lt(looks(-1), 0.4)

  expect_match(term_meanings("eta")$Meaning, "hard to foresee look better")
  expect_match(agent_words(bounded_agent(eta = 1))[["eta"]], "drawn to beliefs that are hard to foresee")
  said <- texts()
  expect_match(said[["ibrc.Rmd"]], "those which are hard to foresee look better", fixed = TRUE)
  for (name in names(said)) {
    expect_no_match(said[[name]], "for being surprised|[Pp]rice of surprise|\\beta\\$ for surprise", label = name)
  }
})

test_that("texts do not say that errors of the dynamics cancel between groups", {
  said <- texts()
  for (name in names(said)) expect_no_match(said[[name]], "(learned|visits) shift both groups alike", label = name)
  expect_match(said[["README.md"]], "taken as known make intervals too narrow", fixed = TRUE)
  expect_match(said[["adni.Rmd"]], "does not cancel in the difference", fixed = TRUE)
})

# Code, help and vignettes, each file as one line, without the marks of comments: a phrase may go on in the next line.
sources <- function() {
  folders <- c("R", "man", "src", "vignettes")
  files <- list.files(file.path("..", "..", folders), "[.](R|Rd|c|h|Rmd)$", full.names = TRUE)
  files <- c(files, Sys.glob(file.path("..", "..", "README.md")))
  if (!all(file.path("..", "..", folders) %in% dirname(files))) skip("not in the folder of sources")
  one_line <- function(file) {
    lines <- readLines(file, warn = FALSE, encoding = "UTF-8")
    gsub("\\s+", " ", paste(sub("^\\s*(#+'?|/?[*]+/?|//)\\s?", "", lines), collapse = " "))
  }
  stats::setNames(lapply(files, one_line), file.path(basename(dirname(files)), basename(files)))
}

# "a row a visit", "one a group" and "chains a group", which want a "per".
without_per <- local({
  what <- paste0("(row|column|line|panel|plan|number|value|vector|matrix|box|picture|colour|level|root|node|score|",
                 "thread|job|uniform|call|identifier|history|draw|chain|step|visit|stream|tree|list|label|slider|",
                 "frame)")
  of <- paste0("(row|column|line|panel|page|file|visit|step|patient|person|doctor|term|chain|draw|group|trajectory|",
               "state|action|observation|belief|node|model|climb|probability|complexity|parameter|agent|fold|interval|",
               "combination|resolution|contrast|element|section|cell|piece|pair|class)\\b")
  paste0("\\b(", paste(c(
    paste0("(a|one) ([a-z]+ ){0,2}", what, " an? ", of), paste0("one an? ", of),
    paste0("(chains|steps|nats|rows|columns|draws|sweeps|points|trajectories|actions) an? ", of)
  ), collapse = "|"), ")")
})

test_that("texts, help and comments write one row per visit", {
  said <- sources()
  for (name in names(said)) {
    found <- regmatches(said[[name]], gregexpr(without_per, said[[name]], ignore.case = TRUE, perl = TRUE))[[1]]
    expect_identical(found, character(), label = name)
  }
  for (odd in c("a row a visit", "A panel a doctor", "one a trajectory", "One more visit a trajectory",
                "a column a state", "a positive number a row", "one positive finite number a belief",
                "Chains a group", "nats a visit")) {
    expect_match(odd, without_per, ignore.case = TRUE, perl = TRUE)
  }
  for (even in c("one row per visit", "is worth 2.5 a visit", "a row of a visit", "ends a trajectory")) {
    expect_no_match(even, without_per, ignore.case = TRUE, perl = TRUE)
  }
})
