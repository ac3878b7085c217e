setting <- diag_setting()
plan <- plan_agent(setting, bounded_agent(alpha = 0.5), diag_models(), resolution = 10)
visits <- with_seed(1, {
  data <- as.data.frame(simulate(plan, 40))
  data$clinic <- ifelse(data$id <= 10, "north", "south")
  data$id <- paste0("person-", data$id)
  trajectories(data, covariates = "clinic")
})
rules <- c("frequencies", "logistic")

test_that("a patient is predicted by a model that has not seen it", {
  folds <- rep(1:4, 10)
  crossed <- cross_validate(visits, rules, folds = folds)
  table <- tidy(crossed)
  expect_identical(nrow(table), 2L * nrow(visits))
  for (fold in 1:4) {
    out <- visits$id %in% unique(visits$id)[folds == fold]
    train <- visits
    train$action <- factor(train$action, setting$actions)
    model <- fit_baseline(train[!out, ], "logistic", actions = setting$actions,
                          observations = sort(setting$observations))
    expect_close(as.matrix(table[table$method == "logistic" & table$fold == fold, setting$actions]),
                 as.matrix(predict(model, visits[out, ])[, setting$actions]), 1e-12)
  }
})

test_that("folds are spread over groups, and can be used again", {
  crossed <- cross_validate(visits, "frequencies", folds = 5, stratify = "clinic", seed = 3)
  north <- visits$clinic[!duplicated(visits$id)] == "north"
  expect_identical(as.vector(table(crossed$folds[north])), rep(2L, 5))
  again <- cross_validate(visits, rules, folds = crossed)
  expect_identical(again$folds, crossed$folds)
  expect_identical(again$laws$frequencies, crossed$laws$frequencies)
})

test_that("a method that fails leaves the others alone, and is named", {
  count <- 0
  bad <- function(visits) {
    count <<- count + 1
    if (count == 2) stop("no luck")
    fit_baseline(visits, "frequencies")
  }
  wrong <- function(visits) structure(list(), class = "no_model")
  crossed <- cross_validate(visits, list("logistic", bad = bad, wrong = wrong), folds = 3)
  expect_identical(whole_methods(crossed), "logistic")
  expect_output(print(crossed), "bad has no predictions in 1 of 3 folds: no luck")
  expect_identical(sum(!is.na(glance(crossed)$failure)), 4L)
  expect_output(print(accuracy(crossed, resamples = 0)), "Do not compare")
})

test_that("predictions that are no probabilities count as a failure", {
  law <- function(...) structure(list(...), class = "fixed_law")
  predict.fixed_law <- function(object, visits, ...) object$f(nrow(visits))
  registerS3method("predict", "fixed_law", predict.fixed_law, asNamespace("stats"))
  actions <- setting$actions
  flat <- function(n) as.data.frame(matrix(1 / 3, n, 3, dimnames = list(NULL, actions)))
  methods <- list(fine = function(v) law(f = function(n) flat(n)[, 3:1]),
                  short = function(v) law(f = function(n) flat(n - 1)),
                  high = function(v) law(f = function(n) 2 * flat(n)),
                  lost = function(v) law(f = function(n) NA * flat(n)))
  crossed <- cross_validate(visits, methods, folds = 2)
  expect_identical(whole_methods(crossed), "fine")
})

test_that("random numbers of a method are its own, and the session's stay", {
  drawing <- function(visits) {
    model <- fit_baseline(visits, "frequencies")
    model$shares[] <- stats::runif(3)
    model$shares <- model$shares / sum(model$shares)
    model
  }
  set.seed(9)
  before <- .Random.seed
  one <- cross_validate(visits, list(a = drawing, b = drawing), folds = 2, seed = 4)
  expect_identical(.Random.seed, before)
  two <- cross_validate(visits, list(a = drawing, b = drawing), folds = 2, seed = 4)
  expect_identical(one$laws, two$laws)
  expect_false(identical(one$laws$a, one$laws$b))
})

test_that("what is done is kept in a file without identifiers, and gone on with", {
  file <- withr::local_tempfile()
  whole <- cross_validate(visits, rules, folds = 3)
  count <- 0
  counting <- function(visits) fit_baseline(visits, "logistic")
  kept <- cross_validate(visits, list("frequencies", logistic = counting), folds = 3, file = file)
  expect_equal(kept$laws, whole$laws)
  expect_false(any(grepl("person-", readBin(file, "raw", 1e6) |> rawToChar(multiple = TRUE) |> paste(collapse = ""))))
  again <- cross_validate(visits, list("frequencies", logistic = counting), folds = 3, file = file)
  expect_identical(again$status$seconds, kept$status$seconds)
  expect_error(cross_validate(visits, rules, folds = 2, file = file), class = "ibrc_error_checkpoint")
  expect_error(cross_validate(visits[-1, ], list("frequencies", logistic = counting), folds = 3, file = file),
               class = "ibrc_error_checkpoint")
  writeLines("mine", file)
  expect_error(cross_validate(visits, rules, folds = 3, file = file), class = "ibrc_error_file")
  expect_identical(readLines(file), "mine")
})

test_that("an interrupt gives back finished folds, and the file goes on", {
  skip_without_signals()
  file <- withr::local_tempfile()
  count <- 0
  methods <- list("frequencies", slow = function(visits) {
    if (getOption("ibrc.test.stop", FALSE)) {
      options(ibrc.test.stop = FALSE)
      send_interrupt()
      linger()
    }
    fit_baseline(visits, "frequencies")
  })
  withr::local_options(ibrc.test.stop = TRUE)
  expect_warning(part <- cross_validate(visits, methods, folds = 2, file = file), class = "ibrc_warning_interrupted")
  expect_identical(whole_methods(part), "frequencies")
  expect_output(print(part), "slow has no predictions in 2 of 2 folds: not finished")
  expect_identical(cross_validate(visits, methods, folds = 2, file = file)$laws,
                   cross_validate(visits, methods, folds = 2)$laws)
})

test_that("bad methods are refused before any work", {
  expect_error(cross_validate(visits, list(function(v) v)), class = "ibrc_error_input")
  expect_error(cross_validate(visits, list("nobody")), class = "ibrc_error_input")
  expect_error(cross_validate(visits, list(a = "logistic", a = "frequencies")), class = "ibrc_error_input")
  expect_error(cross_validate(visits, fit_baseline), class = "ibrc_error_input")
  expect_error(cross_validate(visits, rules, folds = 41), class = "ibrc_error_input")
  expect_error(cross_validate(visits, rules, stratify = "site"), class = "ibrc_error_input")
})
