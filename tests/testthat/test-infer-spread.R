setting <- diag_setting()
prior <- ibrc_prior(alpha ~ lognormal(0, 1.5), optimism ~ normal(0, 1))
two_groups <- function(...) {
  ibrc(clinic_visits(), setting, diag_models(), prior, by = "clinic", chains = 2, iter = 150, warmup = 100, seed = 7,
       ...)
}
whole_draws <- function() cached("whole_draws", two_groups())

# Two processes beside this one, for as long as a test lasts.
local_processes <- function(frame = parent.frame()) {
  skip_on_cran()
  skip_if_not_installed("future.apply")
  before <- future::plan("multisession", workers = 2)
  withr::defer(future::plan(before), envir = frame)
}

test_that("without a plan, pieces are worked on here and in order", {
  expect_false(can_spread())
  here <- spread(list(1, 2, 3), function(x) c(x, Sys.getpid()))
  expect_identical(here, list(c(1, Sys.getpid()), c(2, Sys.getpid()), c(3, Sys.getpid())))
})

test_that("a function made by another takes along the arguments that nobody has looked at", {
  adding <- function(amount) list(f = function(x) x + amount)
  # Not known in another process, and not found there by its name.
  assign("amount_of_this_session", 10, envir = globalenv())
  withr::defer(rm("amount_of_this_session", envir = globalenv()))
  made <- eval(quote(adding(amount_of_this_session)), list(adding = adding), globalenv())
  local_processes()
  work <- function(piece) piece$f(piece$x)
  environment(work) <- globalenv()
  expect_identical(spread(list(c(made, list(x = 1)), c(made, list(x = 2))), work), list(11, 12))
  # What would be an error is not asked for.
  expect_null(settle_arguments(adding(stop("never"))$f))
})

test_that("groups in processes of their own have the draws of one process", {
  unbroken <- whole_draws()
  local_processes()
  expect_true(can_spread())
  pids <- unlist(spread(list(1, 2), function(x) Sys.getpid()))
  expect_false(Sys.getpid() %in% pids)

  set.seed(3)
  before <- .Random.seed
  path <- withr::local_tempfile(fileext = ".ibrc")
  messages <- testthat::capture_messages(fit <- two_groups(refresh = 65, file = path))
  expect_identical(.Random.seed, before)
  expect_match(messages, "step (65|130|150) of 150")
  expect_length(messages, 3)
  error <- expect_error(spread(list(1, 2), function(x) tools::pskill(Sys.getpid(), tools::SIGKILL)),
                        class = "ibrc_error_worker")
  expect_match(conditionMessage(error), "future::plan")

  # valgrind, if it watches this process, has shorter long doubles than the others.
  local_processes()
  adds <- function(x) sum(rep(0.1, 1000))
  skip_if_not(identical(spread(list(1, 2), adds), list(adds(), adds())), "processes that do not add alike")
  for (part in setdiff(names(unbroken), c("run", "chain"))) expect_identical(fit[[part]], unbroken[[part]])
  expect_identical(resume(path)$draws, unbroken$draws)
})

# Interrupts the second round, as Ctrl-C would.
interrupt_round <- function(frame = parent.frame()) {
  real <- run_piece
  local_replacement("run_piece", function(piece) {
    if (piece$until > 100) stop(structure(class = c("interrupt", "condition"), list(message = "", call = NULL)))
    real(piece)
  }, frame)
}

# As if there were a plan, in this process.
pretend_plan <- function(frame = parent.frame()) {
  local_replacement("can_spread", function() TRUE, frame)
  local_replacement("spread", function(pieces, work, over) lapply(pieces, work), frame)
  local_replacement("cores_of_piece", function(cores, over) cores, frame)
}

test_that("an interrupt leaves all groups at the same step, and the file goes on", {
  unbroken <- whole_draws()
  path <- withr::local_tempfile(fileext = ".ibrc")
  local({
    pretend_plan()
    interrupt_round()
    expect_error(suppressMessages(two_groups(refresh = 50, file = path)), class = "ibrc_error_interrupted")
  })
  expect_identical(iteration_of(read_checkpoint(path)$contents$chain), 100L)
  # Whoever goes on need not have a plan.
  expect_identical(suppressMessages(resume(path))$draws, unbroken$draws)

  fit <- local({
    pretend_plan()
    interrupt_round()
    suppressMessages(ibrc(clinic_visits(), setting, diag_models(), prior, by = "clinic", chains = 2, iter = 150,
                          warmup = 50, seed = 7, refresh = 50))
  })
  expect_true(fit$interrupted)
  expect_identical(dim(fit$draws$north), c(50L, 2L, 2L))
  expect_false(anyNA(unlist(fit$draws)))
})

test_that("a process gets one group's data and, where it is forked, one thread", {
  skip_if_not_installed("future")
  plan <- plan_agent(setting, bounded_agent(alpha = 1), diag_models(), resolution = 4)
  evaluator <- new_evaluator(plan, list("first tree", "second tree"), c(1L, 1L, 2L, 2L), prior, list(), 1e-8, 2L)
  piece <- part_piece("chain", evaluator, 2, 10L, over = FALSE)
  expect_identical(piece$evaluator$batch$histories, list("second tree"))
  expect_identical(piece$evaluator$group, c(1L, 1L))
  expect_identical(piece$evaluator$cores, 2L)
  skip_on_os("windows")
  before <- future::plan("multicore", workers = 2)
  withr::defer(future::plan(before))
  expect_identical(cores_of_piece(4L, over = TRUE), 1L)
})

test_that("a plan without the package it needs is said to be of no use", {
  skip_on_cran()
  skip_if_not_installed("future")
  unbroken <- whole_draws()
  before <- future::plan("multisession", workers = 2)
  withr::defer(future::plan(before))
  local_replacement("is_installed", function(package) FALSE)
  expect_message(fit <- two_groups(), "needs the package 'future.apply'.*in this process")
  expect_identical(fit$draws, unbroken$draws)
})
