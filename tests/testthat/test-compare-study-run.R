quick <- small_design(fit = count_visits, patients = 10)

test_that("more replicates leave those before them as they were, whatever runs beside them", {
  few <- power_study(quick, c(5, 10), replicates = 2)
  more <- power_study(quick, c(5, 10), replicates = 4)
  expect_identical(timeless(few), timeless(more)[seq_len(nrow(timeless(few))), ])
  expect_identical(timeless(more)$replicate, rep(1:4, each = 2))
  expect_identical(timeless(more)$patients, rep(c(5L, 10L), 4))
  expect_false(identical(timeless(few), timeless(power_study(quick, c(5, 10), replicates = 2, seed = 2))))
  set.seed(1)
  before <- .Random.seed
  power_study(quick, 5, replicates = 1)
  expect_identical(.Random.seed, before)
})

test_that("studies in other processes are the same studies", {
  skip_on_cran()
  skip_if_not_installed("future.apply")
  here <- power_study(small_design(), 20, replicates = 3)
  before <- future::plan("multisession", workers = 2)
  withr::defer(future::plan(before))
  there <- power_study(small_design(), 20, replicates = 3)
  expect_identical(timeless(there), timeless(here))
})

test_that("a file goes on where it was, and belongs to one study alone", {
  file <- withr::local_tempfile()
  counted <- function(visits, design) {
    options(ibrc.test.calls = getOption("ibrc.test.calls", 0) + 1)
    if (getOption("ibrc.test.calls") == 3) stop("the third fails")
    data.frame(term = "optimism", estimate = stats::rnorm(1), conf.low = -1, conf.high = NA)
  }
  withr::local_options(ibrc.test.calls = 0)
  design <- small_design(fit = counted, patients = 10)
  first <- power_study(design, 10, replicates = 4, file = file)
  expect_identical(getOption("ibrc.test.calls"), 4)
  expect_match(as.data.frame(first)$failure[3], "third fails")
  # What could not be run is tried again, and nothing else.
  again <- power_study(design, 10, replicates = 4, file = file)
  expect_identical(getOption("ibrc.test.calls"), 5)
  expect_identical(as.data.frame(again)[-3, ], as.data.frame(first)[-3, ])
  expect_identical(as.data.frame(again)$failure[3], "no interval of optimism")
  longer <- power_study(design, 10, replicates = 6, file = file)
  expect_identical(getOption("ibrc.test.calls"), 7)
  expect_identical(as.data.frame(longer)[1:4, ], as.data.frame(again))
  expect_identical(as.data.frame(power_study(design, 10, replicates = 4, file = file)), as.data.frame(again))
  expect_identical(getOption("ibrc.test.calls"), 7)
  refused <- function(code) expect_error(code, class = "ibrc_error_checkpoint")
  refused(power_study(design, 20, replicates = 4, file = file))
  refused(power_study(design, 10, replicates = 4, file = file, seed = 2))
  refused(power_study(quick, 10, replicates = 4, file = file))
  refused(recovery_study(design, replicates = 4, truths = "agents", file = file))
  writeLines("mine", file)
  expect_error(power_study(design, 10, replicates = 4, file = file), class = "ibrc_error_file")
  expect_identical(readLines(file), "mine")
})

test_that("an analysis that never runs is an error, and not one that finds nothing", {
  none <- function(code, words) expect_error(code, words, class = "ibrc_error_study")
  boom <- function(visits, design) stop("boom with `visits`")
  none(power_study(small_design(fit = boom), 5, replicates = 2),
       "None of the 2 studies with 5 patients per group could be analysed. The first said: boom with `visits`[.](\n|$)")
  none(recovery_study(small_design(fit = boom, prior = NULL), replicates = 2, truths = "agents"), "boom")
  # One size is enough.
  large <- function(visits, design) if (design$patients[[1]] > 5) stop("too large.") else count_visits(visits, design)
  none(power_study(small_design(fit = large), c(5, 6), replicates = 2),
       "2 studies with 6 patients .* too large[.](\n|$)")
  none(power_study(small_design(fit = function(visits, design) 1), 5, replicates = 1), "did not return a data frame")
  turned <- function(visits, design) data.frame(term = "optimism", estimate = 0, conf.low = 1, conf.high = -1)
  none(power_study(small_design(fit = turned), 5, replicates = 1), "conf.low is above its conf.high")
})

test_that("what is tried again leaves later studies in the file", {
  file <- withr::local_tempfile()
  second_fails <- function(visits, design) {
    options(ibrc.test.calls = getOption("ibrc.test.calls", 0) + 1)
    if (getOption("ibrc.test.calls") == 2) stop("not now")
    count_visits(visits, design)
  }
  withr::local_options(ibrc.test.calls = 0)
  design <- small_design(fit = second_fails, patients = 5)
  power_study(design, 5, replicates = 4, file = file)
  fewer <- power_study(design, 5, replicates = 2, file = file)
  expect_identical(getOption("ibrc.test.calls"), 5)
  expect_identical(nrow(as.data.frame(fewer)), 2L)
  whole <- power_study(design, 5, replicates = 4, file = file)
  expect_identical(getOption("ibrc.test.calls"), 5)
  # It has the random numbers that it would have had at once.
  expect_identical(timeless(whole), timeless(power_study(design, 5, replicates = 4)))
})

test_that("an interrupt gives back finished studies, and the file goes on", {
  skip_without_signals()
  file <- withr::local_tempfile()
  slow <- function(visits, design) {
    options(ibrc.test.calls = getOption("ibrc.test.calls", 0) + 1)
    if (getOption("ibrc.test.calls") == getOption("ibrc.test.stop", 0)) {
      send_interrupt()
      linger()
    }
    data.frame(term = "optimism", estimate = stats::rnorm(1), conf.low = -1, conf.high = 1)
  }
  design <- small_design(fit = slow, patients = 10, prior = NULL)
  withr::local_options(ibrc.test.calls = 0, ibrc.test.stop = 3)
  expect_warning(part <- power_study(design, 10, replicates = 5, file = file), class = "ibrc_warning_interrupted")
  expect_identical(nrow(as.data.frame(part)), 2L)
  expect_identical(glance(part)[c("replicates", "finished")], data.frame(replicates = 5L, finished = 2L))
  expect_output(print(part), "interrupted: 2 of 5 studies are done")
  whole <- power_study(design, 10, replicates = 5, file = file)
  expect_identical(timeless(whole), timeless(power_study(design, 10, replicates = 5)))
  withr::local_options(ibrc.test.calls = 0, ibrc.test.stop = 1)
  expect_error(power_study(design, 10, replicates = 5), class = "ibrc_error_interrupted")
})

test_that("without a seed one is drawn from the session's generator", {
  drawn <- function() power_study(quick, 5, replicates = 2, seed = NULL)
  set.seed(3)
  first <- drawn()
  expect_false(identical(timeless(first), timeless(drawn())))
  set.seed(3)
  expect_identical(timeless(drawn()), timeless(first))
  expect_identical(timeless(power_study(quick, 5, replicates = 2, seed = first$seed)), timeless(first))
  expect_s3_class(recovery_study(small_design(patients = 5), replicates = 1, seed = NULL), "ibrc_recovery_study")
})

test_that("progress is said", {
  expect_message(power_study(quick, 5, replicates = 2, refresh = 1), "study 2 of 2")
  expect_silent(power_study(quick, 5, replicates = 2))
})

test_that("an analysis that never runs, or is of something else, is told after a few studies", {
  calls <- 0
  failing <- function(visits, design) {
    calls <<- calls + 1
    stop("no such thing")
  }
  expect_error(power_study(small_design(fit = failing, patients = 10), c(5, 10), replicates = 30),
               "None of the .* could be analysed. The first said: no such thing", class = "ibrc_error_study")
  expect_lt(calls, enough_failures + 1)
  expect_error(power_study(small_design(fit = failing, patients = 10), 5, replicates = 1),
               "^The study with 5 patients per group could not be analysed", class = "ibrc_error_study")
  other <- function(visits, design) data.frame(term = "something", estimate = 1, conf.low = 0, conf.high = 2)
  expect_error(power_study(small_design(fit = other, patients = 10), 5, replicates = 2),
               "no row of optimism for the group \"other\"", class = "ibrc_error_study")
  # One that runs now and then is counted to the end.
  now_and_then <- function(visits, design) {
    calls <<- calls + 1
    if (calls %% 8) stop("not this time")
    data.frame(term = "optimism", estimate = 1, conf.low = 0, conf.high = 2)
  }
  calls <- 0
  study <- power_study(small_design(fit = now_and_then, patients = 10), 5, replicates = 24)
  expect_identical(glance(study)$failed, 21L)
})
