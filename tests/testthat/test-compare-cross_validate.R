setting <- diag_setting()
plan <- plan_agent(setting, bounded_agent(alpha = 0.5), diag_models(), resolution = 10)
visits <- with_seed(1, {
  data <- as.data.frame(simulate(plan, 40))
  data$clinic <- ifelse(data$id <= 10, "north", "south")
  data$id <- paste0("person-", data$id)
  trajectories(data, covariates = "clinic")
})
rules <- c("frequencies", "logistic")

# A method whose model is a law that `f` makes of the number of visits.
of_law <- function(f) {
  force(f)
  function(visits) structure(list(f = f), class = "fixed_law")
}
predict.fixed_law <- function(object, visits, ...) object$f(nrow(visits))
registerS3method("predict", "fixed_law", predict.fixed_law, asNamespace("stats"))
# What failed or warned is looked at where it is kept.
quietly <- function(code) suppressMessages(suppressWarnings(code, "ibrc_warning_methods"))

test_that("a patient is predicted by a model that has not seen it", {
  folds <- rep(1:4, 10)
  crossed <- cross_validate(visits, rules, folds = folds, from = 1)
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

test_that("methods learn from the visits that are scored", {
  seen <- NULL
  looking <- function(visits) {
    seen <<- visits
    fit_baseline(visits, "frequencies")
  }
  crossed <- cross_validate(visits, list(mine = looking), folds = 2)
  number <- ave(seq_along(seen$id), seen$id, FUN = seq_along)
  expect_identical(scored_rows(seen), number >= 2)
  expect_false(any(tidy(crossed)$scored[tidy(crossed)$visit < 2]))
  # At later visits everybody monitors, at first ones nobody does.
  data <- data.frame(id = rep(1:10, each = 4), time = 1:4, action = c("a", "b", "b", "b"), observation = "o")
  later <- accuracy(cross_validate(trajectories(data), "frequencies", folds = 2), resamples = 0)
  expect_lt(later$estimate[1], 0.001)
  expect_gt(accuracy(cross_validate(trajectories(data), "frequencies", folds = 2, from = 1), from = 2,
                     resamples = 0)$estimate[1], 0.05)
  expect_error(accuracy(crossed, from = 1), class = "ibrc_error_input")
  expect_error(cross_validate(visits[!duplicated(visits$id), ], "frequencies"), class = "ibrc_error_input",
               regexp = "from")
  # What was marked by hand stays marked.
  data$free <- rep(c(TRUE, TRUE, FALSE, TRUE), 10)
  marked <- cross_validate(trajectories(data, scored = "free"), list(mine = looking), folds = 2)
  expect_identical(scored_rows(seen), rep(c(FALSE, TRUE, FALSE, TRUE), 5))
})

test_that("an earlier result gives its folds to the same patients only", {
  crossed <- cross_validate(visits, "frequencies", folds = 3)
  expect_error(cross_validate(visits[rev(order(visits$id, -visits$time)), ], "frequencies", folds = crossed),
               class = "ibrc_error_input", regexp = "folds")
  other <- as.data.frame(visits)
  other$id <- paste0("other", other$id)
  expect_error(cross_validate(trajectories(other), "frequencies", folds = crossed), class = "ibrc_error_input")
  expect_false(grepl("person-", paste(deparse(unclass(crossed)), collapse = "")))
})

test_that("folds with names are for the patients of these names", {
  people <- unique(visits$id)
  folds <- stats::setNames(rep(1:4, 10), people)
  sorted <- folds[order(names(folds))]
  expect_identical(cross_validate(visits, "frequencies", folds = sorted)$folds, unname(folds))
  wrong <- stats::setNames(folds, seq_along(folds))
  expect_error(cross_validate(visits, "frequencies", folds = wrong), "unname(folds)", fixed = TRUE,
               class = "ibrc_error_input")
  expect_error(cross_validate(visits, "frequencies", folds = folds[c(1, 1:39)]), class = "ibrc_error_input")
  expect_error(cross_validate(visits, "frequencies", folds = factor(folds)),
               "earlier result of cross_validate.*as.integer",
               class = "ibrc_error_input")
  other <- structure(list(folds = rep(1:2, 10)), class = c("ibrc_kfold", "kfold", "loo"))
  expect_error(cross_validate(visits, "frequencies", folds = other), "it has 20 trajectories, and there are 40",
               class = "ibrc_error_input")
})

test_that("groups of one trajectory each are refused: nothing could be spread", {
  data <- as.data.frame(visits)
  data$postcode <- as.integer(factor(data$id))
  expect_error(cross_validate(trajectories(data, covariates = "postcode"), "frequencies", stratify = "postcode"),
               "a group of its own", class = "ibrc_error_input")
})

test_that("a method that fails leaves the others alone, and is named", {
  count <- 0
  bad <- function(visits) {
    count <<- count + 1
    if (count == 2) stop("no luck")
    fit_baseline(visits, "frequencies")
  }
  wrong <- function(visits) structure(list(), class = "no_model")
  methods <- list("logistic", bad = bad, wrong = wrong)
  expect_warning(said <- testthat::capture_messages(crossed <- cross_validate(visits, methods, folds = 3)),
                 "bad has no predictions", class = "ibrc_warning_methods")
  expect_match(said, "wrong failed in fold 1", all = FALSE)
  expect_identical(whole_methods(crossed), "logistic")
  expect_output(print(crossed), "bad has no predictions in 1 of 3 folds: no luck")
  expect_identical(sum(!is.na(glance(crossed)$failure)), 4L)
  expect_output(print(accuracy(crossed, resamples = 0)), "Do not compare")
})

test_that("predictions that are no probabilities count as a failure", {
  actions <- setting$actions
  flat <- function(n) as.data.frame(matrix(1 / 3, n, 3, dimnames = list(NULL, actions)))
  twice <- function(n) `names<-`(cbind(flat(n), 1 / 3), c(actions, actions[3]))
  methods <- list(fine = of_law(function(n) flat(n)[, 3:1]), short = of_law(function(n) flat(n - 1)),
                  high = of_law(function(n) 2 * flat(n)), lost = of_law(function(n) NA * flat(n)),
                  twice = of_law(twice))
  crossed <- quietly(cross_validate(visits, methods, folds = 2))
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
  # Others beside it change nothing.
  three <- cross_validate(visits, list("frequencies", b = drawing, a = drawing), folds = 2, seed = 4)
  expect_identical(three$laws[c("a", "b")], one$laws)
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

test_that("a file is refused for other rows, covariates, and whatever a method captured or names", {
  file <- withr::local_tempfile()
  make <- function(k) function(visits) fit_baseline(visits, "logistic", last = k)
  kept <- cross_validate(visits, list(m = make(1)), folds = 2, file = file)
  expect_identical(cross_validate(visits, list(m = make(1)), folds = 2, file = file)$status, kept$status)
  refused <- function(visits, methods, part, from = 2) {
    expect_error(cross_validate(visits, methods, folds = kept$folds, file = file, from = from), paste("other", part),
                 class = "ibrc_error_checkpoint")
  }
  refused(visits, list(m = make(3)), "methods")
  refused(visits, list(m = make(1)), "visits", from = 1)
  refused(visits, list(m = make(1), "frequencies"), "methods")
  # The same visits by their number instead of by patient.
  refused(visits[order(visits$time), ], list(m = make(1)), "visits")
  moved <- visits
  moved$clinic[moved$id == "person-1"] <- "south"
  refused(moved, list(m = make(1)), "visits")
  later <- visits
  later$time <- later$time + 1
  refused(later, list(m = make(1)), "visits")
  # A number in the workspace around it.
  file2 <- withr::local_tempfile()
  k <- 1
  naming <- list(m = function(visits) fit_baseline(visits, "logistic", last = k))
  cross_validate(visits, naming, folds = 2, file = file2)
  k <- 3
  expect_error(cross_validate(visits, naming, folds = 2, file = file2), class = "ibrc_error_checkpoint")
  makeActiveBinding("draw", function() 1, environment())
  expect_error(cross_validate(visits, list(m = function(visits) draw), file = withr::local_tempfile()),
               "active binding", class = "ibrc_error_input")
})

test_that("what failed is tried again, and no identifier is in messages or the file", {
  file <- withr::local_tempfile()
  licence <- withr::local_tempfile()
  m <- function(visits) {
    if (!file.exists(licence)) stop("no licence for ", visits$id[1])
    fit_baseline(visits)
  }
  first <- quietly(cross_validate(visits, list(m = m), folds = 2, file = file))
  expect_match(glance(first)$failure, "no licence for trajectory [0-9]+")
  expect_false(grepl("person-", paste(deparse(unclass(first)), collapse = "")))
  bytes <- readBin(file, "raw", 1e6)
  expect_false(grepl("licence|person", rawToChar(bytes[bytes != 0]), useBytes = TRUE))
  file.create(licence)
  expect_true(all(is.na(glance(cross_validate(visits, list(m = m), folds = 2, file = file))$failure)))
})

test_that("rows in a message are those of the visits", {
  data <- as.data.frame(visits)
  row <- which(data$time == 1 & data$action == "monitor")[20]
  data$action[row] <- NA
  lost <- suppressWarnings(trajectories(data))
  failed <- quietly(cross_validate(lost, "iohmm_bc", folds = 2))
  said <- stats::na.omit(glance(failed)$failure)
  expect_gt(length(said), 0)
  expect_match(said, paste0("row ", row, "\\b"))
})

test_that("warnings and verdicts stay with their method and fold, from a file too", {
  file <- withr::local_tempfile()
  doubtful <- function(visits) {
    warning("took all steps")
    model <- fit_baseline(visits)
    model$verdict <- verdict_rows("settled", "nothing", "something", "do not use", "none")
    model
  }
  methods <- list("frequencies", mine = doubtful)
  expect_warning(cross_validate(visits, methods, folds = 2, file = file), "mine warned in 2 of 2 folds: took all steps",
                 class = "ibrc_warning_methods")
  crossed <- quietly(cross_validate(visits, methods, folds = 2, file = file))
  expect_identical(glance(crossed)$verdict, c(NA, NA, "do not use", "do not use"))
  expect_identical(glance(crossed)$warning[3:4], rep("took all steps", 2))
  expect_output(print(crossed), "mine: verdict \"do not use\" in 2 of 2 folds")
  found <- accuracy(crossed, resamples = 0)
  expect_identical(unique(found$verdict[found$method == "mine"]), "do not use")
  expect_output(print(found), "mine: verdict \"do not use\" in 2 of 2 folds")
})

test_that("an interrupt that a fit has answered by itself ends the run, and that fold is not kept", {
  file <- withr::local_tempfile()
  asked <- withr::local_tempfile()
  stopping <- function(hush) {
    force(hush)
    function(visits) {
      model <- suppressWarnings(fit_rnn(visits, units = c(2, 2), networks = 1, max_steps = 10, seed = 1, refresh = 0))
      if (file.exists(asked)) {
        model$state$interrupted <- TRUE
        if (!hush) warn("interrupted", "as fit_rnn() does")
      }
      model
    }
  }
  for (hush in c(FALSE, TRUE)) {
    unlink(file)
    file.create(asked)
    methods <- list("frequencies", rnn = stopping(hush), "logistic")
    expect_warning(part <- cross_validate(visits, methods, folds = 2, file = file), class = "ibrc_warning_interrupted")
    expect_true(part$interrupted)
    expect_identical(whole_methods(part), "frequencies")
    unlink(asked)
    expect_identical(cross_validate(visits, methods, folds = 2, file = file)$laws,
                     cross_validate(visits, methods, folds = 2)$laws)
  }
  early <- function(visits) abort("interrupted", "before its first step")
  expect_warning(part <- cross_validate(visits, list(m = early), folds = 2), class = "ibrc_warning_interrupted")
  expect_identical(unique(glance(part)$failure), "not finished")
})

test_that("a network in training is stopped by an interrupt", {
  skip_without_signals()
  # Sent by another process, while it trains.
  training <- function(visits) {
    system(sprintf("(sleep 0.3; kill -INT %d) &", Sys.getpid()))
    fit_rnn(visits, units = c(4, 4), networks = 1, max_steps = 1e6, patience = 1e6, seed = 1, refresh = 0)
  }
  expect_warning(part <- cross_validate(visits, list("frequencies", rnn = training), folds = 2),
                 class = "ibrc_warning_interrupted")
  expect_identical(whole_methods(part), "frequencies")
})

test_that("processes know a user's own class, and forked ones have one thread", {
  skip_if_not_installed("future.apply")
  skip_on_cran()
  withr::local_options(ibrc.cores = 2)
  mine <- eval(quote({
    predict.my_own <- function(object, visits, ...) {
      as.data.frame(matrix(object$share, nrow(visits), length(object$share), byrow = TRUE,
                           dimnames = list(NULL, names(object$share))))
    }
    function(visits) structure(list(share = c(table(visits$action)) / nrow(visits)), class = "my_own")
  }), new.env(parent = globalenv()))
  cores <- function(visits) {
    if (getOption("ibrc.cores") != 1) stop("threads in a fork")
    fit_baseline(visits)
  }
  here <- cross_validate(visits, list(mine = mine), folds = 2)
  old <- future::plan(future::multisession, workers = 2)
  withr::defer(future::plan(old))
  expect_identical(cross_validate(visits, list(mine = mine), folds = 2)$laws, here$laws)
  skip_on_os("windows")
  future::plan(future::multicore, workers = 2)
  skip_if_not(inherits(future::plan(), "multicore"))
  expect_true(all(is.na(glance(quietly(cross_validate(visits, list(m = cores), folds = 2)))$failure)))
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
  expect_error(cross_validate(visits, list()), "at least one method", class = "ibrc_error_input")
  expect_error(cross_validate(visits, c("ibrc", "logistic")), "function\\(visits\\) ibrc_mode",
               class = "ibrc_error_input")
  expect_error(cross_validate(visits, rules, folds = 41), class = "ibrc_error_input")
  expect_error(cross_validate(visits, rules, stratify = "site"), class = "ibrc_error_input")
})
