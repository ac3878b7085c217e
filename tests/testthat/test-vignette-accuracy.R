# What vignettes/accuracy.Rmd reads instead of fitting it: inst/extdata/accuracy-*.csv, made by
# data-raw/vignette-accuracy.R.

stored_accuracy <- function(name) {
  utils::read.csv(stored_file("extdata", paste0("accuracy-", name, ".csv")))
}

accuracy_script <- function() {
  folder <- test_path("..", "..")
  skip_if_not(file.exists(file.path(folder, "data-raw", "vignette-accuracy.R")))
  made <- new.env()
  withr::with_dir(folder, sys.source(file.path("data-raw", "vignette-accuracy.R"), made))
  made
}

shared_methods <- function() {
  made <- new.env()
  sys.source(system.file("bench", "shared", "accuracy.R", package = "ibrc", mustWork = TRUE), made)
  made
}

brier_of <- function(data) {
  scores <- stored_accuracy("scores")
  scores <- scores[scores$data == data & scores$score == "brier", ]
  split(scores, scores$method)
}

test_that("stored scores are small, whole, and of the script and methods that are here", {
  files <- stored_file("extdata", paste0("accuracy-", c("scores", "curves", "imitation", "inputs"), ".csv"))
  expect_lt(sum(file.size(files)), 35000)
  expect_false(anyNA(stored_accuracy("scores")$estimate))
  expect_setequal(unique(stored_accuracy("scores")$data), c("adni", "pbc", "nafld", "diag"))
  made <- accuracy_script()
  # What they were made from, but for the number of the version.
  inputs <- withr::with_dir(test_path("..", ".."), made$accuracy_inputs())
  expect_identical(inputs[inputs$what != "version", ], subset(stored_accuracy("inputs"), what != "version"))
})

test_that("on a cohort made by bounded agents no black box predicts better than they do", {
  adni <- brier_of("adni")
  for (method in c("rnn", "iohmm_bc", "joint_iohmm_bc", "po_irl")) expect_gt(adni[[method]]$difference.low, -0.002)
  expect_lt(adni$ibrc$estimate, adni$frequencies$conf.low)
})

test_that("on lipid tests the previous action does", {
  nafld <- brier_of("nafld")
  expect_lt(abs(nafld$previous_action$estimate - 0.223), 0.001)
  expect_lt(abs(nafld$logistic$estimate - 0.220), 0.0015)
  expect_lt(nafld$previous_action$difference.high, 0)
})

test_that("visits of the tables are those described", {
  made <- shared_methods()
  expect_identical(nrow(made$adni_visits()), 5763L)
  expect_length(unique(made$diag_visits()$id), 100)
  skip_if_not_installed("survival")
  nafld <- made$nafld_visits()
  expect_length(unique(nafld$id), 14714)
  expect_identical(nrow(nafld), 94370L)
  expect_identical(nafld$action == "lipids", nafld$observation != "hdl_none")
  expect_lt(abs(mean(nafld$action == "lipids") - 0.48), 0.01)
  # What is called cholesterol there is HDL once more.
  tests <- survival::nafld2[survival::nafld2$test %in% c("hdl", "chol") & survival::nafld2$id <= 500, ]
  both <- merge(tests[tests$test == "hdl", ], tests[tests$test == "chol", ], by = c("id", "days"))
  expect_true(all(both$value.x == both$value.y))
})

test_that("a fit that asks what testing is worth does so in the states that it learned", {
  made <- shared_methods()
  skip_if_not_installed("survival")
  few <- made$pbc_visits()
  few <- few[few$id <= 60, ]
  fit <- made$pbc_methods()$ibrc(few)
  expect_identical(tidy(fit)$term, c("utility[mild,chol]", "utility[advanced,chol]"))
  law <- predict(fit, few)
  expect_close(rowSums(law), rep(1, nrow(few)), 1e-8)
})

test_that("on DIAG methods that update beliefs are compared on the same knowledge, told and learned", {
  made <- shared_methods()
  methods <- made$diag_methods()
  expect_true(all(c("ibrc", "po_irl", "ibrc_learned", "po_irl_learned", "iohmm_bc") %in% names(methods)))
  visits <- made$diag_visits()[1:300, ]
  told <- methods$ibrc(visits)$problem$setting
  expect_equal(unname(told$emission[, "positive", "monitor"]), c(0.4, 0.6))
  learned <- methods$ibrc_learned(visits)
  expect_false(isTRUE(all.equal(learned$problem$setting$transition, told$transition)))
  expect_identical(learned$problem$setting$utility, told$utility)
})

test_that("the README's table has the stored Brier scores", {
  readme <- test_path("..", "..", "README.md")
  skip_if_not(file.exists(readme))
  text <- readLines(readme, encoding = "UTF-8")
  shown <- function(method, data) {
    found <- if (method %in% names(brier_of(data))) brier_of(data)[[method]]$estimate
    if (is.null(found)) "" else formatC(found, digits = 3, format = "f")
  }
  typed <- c(ibrc = "`ibrc_mode()`", logistic_3 = "`fit_baseline(visits, \"logistic\", last = 3)`")
  others <- setdiff(names(brier_of("adni")), names(typed))
  typed <- c(typed, stats::setNames(paste0("`\"", others, "\"`"), others))
  for (method in names(typed)) {
    row <- text[startsWith(text, paste("|", typed[[method]], "|"))]
    row <- row[lengths(strsplit(row, "|", fixed = TRUE)) == 7]
    expect_length(row, 1)
    cells <- trimws(strsplit(row, "|", fixed = TRUE)[[1]][4:7])
    expect_identical(cells, vapply(c("adni", "pbc", "nafld", "diag"), shown, "", method = method, USE.NAMES = FALSE))
  }
  learned <- paste("they come to", shown("ibrc_learned", "diag"), "and", shown("po_irl_learned", "diag"))
  expect_true(any(grepl(learned, text, fixed = TRUE)))
})
