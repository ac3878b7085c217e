# What vignette("paper") reads is what data-raw/vignette-paper.R makes.

paper_script <- function() {
  script <- test_path("..", "..", "data-raw", "vignette-paper.R")
  skip_if_not(file.exists(script))
  made <- new.env()
  sys.source(script, made)
  made
}

paper_result <- function(name) {
  utils::read.csv(stored_file("extdata", "vignettes", paste0("paper-", name, ".csv")))
}

# Text and counts exactly; numbers to the digits that are stored and, for estimates and
# draws, to what another machine's rounding may do.
expect_stored <- function(made, stored, tolerance) {
  expect_named(made, names(stored))
  expect_identical(nrow(made), nrow(stored))
  for (column in names(stored)) {
    if (is.double(stored[[column]])) {
      gap <- abs(made[[column]] - stored[[column]]) / (1e-3 + abs(stored[[column]]))
      expect_lt(max(gap, 0, na.rm = TRUE), tolerance)
      expect_identical(is.na(made[[column]]), is.na(stored[[column]]))
    } else {
      expect_equal(made[[column]], stored[[column]])
    }
  }
}

extended <- function() skip_if_not(Sys.getenv("IBRC_EXTENDED_TESTS") == "1")

test_that("every result has a row for each case, and no other", {
  script <- paper_script()
  expect_identical(unique(paper_result("variants")$variant), names(script$cohort_variants()))
  agents <- script$ratio_agents()
  expect_identical(paper_result("ratios")[names(agents)], agents)
  reports <- paper_result("reports")
  expect_identical(nrow(reports), 16L)
  expect_identical(unique(reports$group), c("all", "over_75", "carrier", "female"))
  expect_identical(as.vector(table(paper_result("trace")$group)), rep(200L, 4))
})

test_that("the interpolation of the values of states is made again", {
  script <- paper_script()
  stored <- paper_result("lambda")
  made <- script$make_lambda(c(25, 50))
  expect_stored(made, stored[stored$resolution <= 50, ], 1e-4)
})

test_that("the values worked out by hand there are those of the package", {
  script <- paper_script()
  agent <- bounded_agent(alpha = 0.5, beta = 1.25, eta = 1e-3)
  plan <- plan_agent(diag_setting(), agent, diag_models(), resolution = 25)
  expect_close(script$optimist_value(25, FALSE), value(plan), 1e-7)
})

test_that("subgroups lose who stands further back than the group is long", {
  stored <- paper_result("subgroups")
  cohort <- read_adni(adni_like)
  patients <- as.data.frame(cohort)[!duplicated(cohort$RID), ]
  is_member <- list(over_75 = patients$over_75 == "over_75", carrier = patients$apoe4 == "carrier",
                    female = patients$sex == "female")
  for (group in stored$group) {
    member <- is_member[[group]]
    row <- stored[stored$group == group, ]
    expect_identical(row$members, sum(member))
    expect_identical(row$kept, sum(member[seq_len(sum(member))]))
  }
})

test_that("estimates on the cohort are made again", {
  script <- paper_script()
  stored <- paper_result("variants")
  name <- "what is seen varies alone, 3 models"
  expect_stored(script$make_variants(name), stored[stored$variant == name, ], 0.02)
})

test_that("reports and trace tell of the same draws", {
  reports <- paper_result("reports")
  trace <- paper_result("trace")
  for (i in seq_len(nrow(reports))) {
    own <- trace$beta[trace$group == reports$group[i] & trace$chain == reports$chain[i]]
    # One draw in twenty: their median is near that of all.
    expect_lt(abs(log(stats::median(own) / reports$median[i])), 0.75)
    expect_lte(min(own), reports$mean[i])
  }
})

test_that("all of it is made again", {
  extended()
  script <- paper_script()
  expect_stored(script$make_lambda(), paper_result("lambda"), 1e-4)
  expect_stored(script$make_ratios(), paper_result("ratios"), 0.1)
  expect_stored(script$make_subgroups(), paper_result("subgroups"), 0.02)
  quick <- setdiff(names(script$cohort_variants()), "resolution 100")
  stored <- paper_result("variants")
  expect_stored(script$make_variants(quick), stored[stored$variant %in% quick, ], 0.05)
  draws <- script$make_protocol()
  expect_stored(script$protocol_reports(draws), paper_result("reports"), 1e-3)
})
