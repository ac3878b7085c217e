# Learned dynamics as a checkpoint has them, checked apart from files.

plain_of <- function(iohmm = ward_iohmm(transitions = "shared")) iohmm_to_plain(iohmm)

test_that("a learned model comes back from lists and vectors, without its visits", {
  models <- list(ward_iohmm(transitions = "shared"), ward_iohmm(), ward_iohmm(start_by = "ward", prior = 0.5),
                 fit_iohmm(ward_visits(), 1:2, starts = 2, seed = 1, keep_data = FALSE),
                 fit_iohmm(ward_visits(), 1, starts = 1, seed = 1, tolerance = c(rough = 1e-3)))
  for (iohmm in models) {
    plain <- plain_of(iohmm)
    expect_null(iohmm_flaw(plain))
    expect_identical(iohmm_from_plain(plain), without_visits(iohmm))
    path <- withr::local_tempfile()
    write_checkpoint(path, plain, "abc")
    expect_identical(iohmm_from_plain(read_checkpoint(path)$contents), without_visits(iohmm))
  }
})

test_that("each part of a learned model is looked at, by its name", {
  plain <- plain_of()
  with <- function(field, value) iohmm_flaw(replace(plain, field, list(value)))
  for (field in setdiff(names(plain), "scores")) {
    below <- field %in% c("log_lik", "objective", "trace")
    for (value in list(NULL, "x", list(), if (below) NaN else -1e9, NA, if (field != "trace") plain[[field]][-1])) {
      expect_false(is.null(tryCatch(with(field, value), error = identity)), label = field)
    }
    expect_identical(iohmm_flaw(plain[names(plain) != field]), field)
  }
  expect_null(with("scores", NULL))
  expect_identical(with("scores", c(calm = 0)), "scores")
  expect_identical(iohmm_flaw(c(plain, note = "n")), "note")
  expect_identical(with("emission", plain$emission[, , 2:1]), "emission")
  expect_identical(with("emission", replace(plain$emission, 1, 0.5)), "emission")
  moved <- plain$emission
  moved[1, , 1] <- rev(moved[1, , 1])
  expect_identical(with("emission", moved), "emission")
  apart <- plain$transition
  apart[1, , 2] <- rev(apart[1, , 2])
  expect_identical(with("transition", apart), "transition")
  expect_null(iohmm_flaw(replace(replace(plain, "transition", list(apart)), "shared", list(FALSE))))
  expect_identical(with("possible", !plain$possible), "emission")
  expect_identical(with("start", rbind(a = plain$start)), "start")
  expect_error(check_held_iohmm(replace(plain, "log_lik", list(NaN))), "log lik of the dynamics",
               class = "ibrc_error_checkpoint")
})

test_that("dynamics that were changed by hand are refused before they are used", {
  changed <- ward_iohmm(transitions = "shared")
  changed$emission[1, 1, 1] <- 2
  run <- function(dynamics) {
    ibrc(ward_visits(), clinic_of, clinic_step, ward_prior(), list(eta = 0), dynamics = dynamics)
  }
  expect_refused(run(changed), "dynamics", "`emission` cannot be used")
  changed <- ward_iohmm(transitions = "shared")
  changed$starts <- quote(x)
  expect_refused(run(changed), "dynamics", "cannot be used")
})

test_that("a tree of the visits behind learned dynamics is one", {
  iohmm <- ward_iohmm(transitions = "shared")
  tree <- dynamics_tree(iohmm)
  plain <- plain_of(iohmm)
  refused <- function(field, at, value, of = tree) {
    of[[field]][at] <- value
    expect_error(check_held_nodes(of, plain), class = "ibrc_error_checkpoint", label = paste(field, at))
  }
  expect_silent(check_held_nodes(tree, plain))
  by_ward <- ward_iohmm(start_by = "ward", prior = 0.5)
  expect_silent(check_held_nodes(dynamics_tree(by_ward), plain_of(by_ward)))
  for (field in c("parent", "action", "observation", "start")) {
    for (value in c(1000000L, -5L, NA, .Machine$integer.max)) refused(field, 3, value)
  }
  for (value in list(0L, 5000L, NA_integer_)) refused("n_nodes", 1, value)
  refused("parent", 3, 2L)
  refused("parent", 3, -1L)
  refused("observation", 2, 3L)
  refused("leaf", 1, 10000L)
  refused("leaf", 1, 0L)
  refused("leaf", 61, 5L)
  refused("through", 1, 61)
  refused("ends", 6, 2)
  refused("start", 1, 1L)
  # Two children alike.
  twice <- lapply(tree, function(x) if (length(x) == tree$n_nodes) c(x, x[143]) else x)
  twice$n_nodes <- 144L
  expect_error(check_held_nodes(twice, plain), class = "ibrc_error_checkpoint")
  expect_error(check_held_nodes(tree, replace(plain, "n_visits", list(299L))), class = "ibrc_error_checkpoint")
})

test_that("no identifier and no function is in the file of a fit with learned dynamics", {
  secret <- "planted-secret"
  data <- as.data.frame(ward_visits())
  data$id <- paste0("SECRET-", data$id)
  visits <- trajectories(data, covariates = "ward", setting = clinic_of(clinic_truth()))
  own <- function(dynamics) if (nchar(secret)) clinic_of(dynamics)
  iohmm <- fit_iohmm(visits, 2, starts = 2, sort_by = function(x) nchar(secret) + seq_along(x), transitions = "shared",
                     names = c("well", "ill"), actions = c("wait", "test"),
                     observations = c("calm", "bad", "neg", "pos"), seed = 1)
  path <- withr::local_tempfile(fileext = ".ibrc")
  # Before the climb there is all that is written of it.
  inverse <- read_inverse(visits, own, clinic_step, ward_prior(), list(eta = 0), "ward", FALSE, iohmm, TRUE)
  inverse <- build_inverse(group_inverse(inverse, visits, "ward"), 5, ibrc_control(), 1L)
  evaluator <- joint_evaluator(inverse, dynamics_tree(iohmm), 2, 1L)
  job <- list(inverse = inverse, evaluator = evaluator, run = list(seed = 1L), sampler = "adaptive", keep_data = TRUE)
  write_checkpoint(path, job_to_plain(job), "abc")
  bytes <- readBin(path, "raw", 1e7)
  expect_gt(length(bytes), 5000)
  for (word in c("SECRET", secret, "function")) expect_length(grepRaw(word, bytes, fixed = TRUE), 0)
})
