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
  expect_match(said[["README.md"]], "58 % of the time", fixed = TRUE)
  expect_match(said[["adni.Rmd"]], "58% of the time", fixed = TRUE)
})

test_that("texts write one row per visit", {
  said <- texts()
  for (name in c("README.md", "ibrc.Rmd", "adni.Rmd", "trust.Rmd")) {
    expect_no_match(said[[name]], "\\ba (row|line|panel|column|plan) an? [a-z]", label = name)
  }
})
