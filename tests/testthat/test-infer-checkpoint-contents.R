# Whatever is put into a checkpoint and sealed again: refused by class, or a fit.

kinds <- checkpoint_kinds(withr::local_tempdir(.local_envir = testthat::teardown_env()))
path_of <- function(frame = parent.frame()) file.path(withr::local_tempdir(.local_envir = frame), "fit.ibrc")

test_that("checkpoints of all kinds are taken up to the draws of an unbroken run", {
  path <- path_of()
  for (kind in names(kinds)) {
    held <- kinds[[kind]]$held
    write_checkpoint(path, held$contents, held$fingerprint)
    expect_identical(suppressWarnings(resume_with(path, kinds[[kind]]$given))$draws, kinds[[kind]]$draws, label = kind)
  }
  steps <- vapply(kinds, function(kind) iteration_of(kind$held$contents$chain), 0L)
  expect_identical(unname(steps), c(0L, 40L, 100L, 220L, 40L, 150L, 30L, 110L, 12L, 27L, 25L, 12L, 27L, 27L))
})

test_that("the fields that are looked at are those that are written", {
  for (kind in names(kinds)) {
    effects <- if (startsWith(kind, "of a population")) "effects"
    expect_named(kinds[[kind]]$held$contents$job, c(job_fields, effects))
  }
})

test_that("a checkpoint changed anywhere and sealed again is refused, or holds a fit", {
  skip_on_cran()
  # Every day a few of what make trust tries all of (damage.R).
  share <- if (Sys.getenv("IBRC_EXTENDED_TESTS") == "1") 1 else 0.5
  path <- path_of()
  with_seed(8, for (kind in names(kinds)) {
    held <- kinds[[kind]]$held
    changes <- changed_contents(held$contents)
    few <- !is.null(kinds[[kind]]$given) || startsWith(kind, "of a population")
    for (change in sample(changes, share * if (few) 4 else 10)) {
      what <- paste0(kind, ": ", change$way, ", ", change$what)
      write_changed(path, held, change, honest = FALSE)
      expect_identical(outcome_of_change(path, given = kinds[[kind]]$given), "refused", label = what)
      write_changed(path, held, change, honest = TRUE)
      expect_true(outcome_of_change(path, given = kinds[[kind]]$given) %in% c("refused", "fit"), label = what)
    }
  })
})

# One change by name, with a fingerprint that agrees.
outcome_with <- function(kind, change, path = path_of(parent.frame())) {
  contents <- change(kinds[[kind]]$held$contents)
  write_checkpoint(path, contents, contents_fingerprint(contents$job, contents$chain))
  outcome_of_change(path, given = kinds[[kind]]$given)
}

test_that("what crashed R is refused", {
  path <- path_of()
  for (field in c("parent", "action", "observation")) for (value in list(1e6L, -5L, NA_integer_, 2147483647L)) {
    expect_identical(outcome_with("near its end", function(x) {
      x$job$histories[[1]][[field]][3] <- value
      x
    }, path), "refused", label = paste(field, value))
  }
  for (value in c(-1L, 0L, 2147483647L)) {
    expect_identical(outcome_with("near its end", function(x) {
      x$job$histories[[1]]$n_histories <- value
      x
    }, path), "refused")
  }
})

test_that("what would crash R in learned dynamics is refused", {
  path <- path_of()
  for (field in c("parent", "action", "observation", "start")) {
    expect_identical(outcome_with("of dynamics and agents", function(x) {
      x$job$dynamics$tree[[field]][3] <- 1000000L
      x
    }, path), "refused", label = field)
  }
  # A law that is one, and was not drawn.
  expect_identical(outcome_with("of draws of the dynamics", function(x) {
    x$job$dynamics$laws[4, 1] <- 1 - x$job$dynamics$laws[4, 1] / 2
    x
  }, path), "refused")
})

test_that("what is wrong with functions, or with what a file says of them, is refused as both", {
  path <- path_of()
  held <- kinds[["of dynamics and agents"]]$held
  refused <- function(given, argument) {
    error <- expect_error(resume_with(path, given), class = "ibrc_error_checkpoint")
    expect_s3_class(error, "ibrc_error_input")
    expect_identical(error$argument, argument)
  }
  write_checkpoint(path, held$contents, held$fingerprint)
  refused(list(models = clinic_step), "setting")
  refused(list(setting = clinic_of), "models")
  refused(list(setting = function(dynamics) clinic_of(dynamics, 3), models = clinic_step), "setting")
  refused(list(setting = function(dynamics) stop("a fault"), models = clinic_step), "setting")
  # The same at the estimate, something else where the chains stand.
  learned <- ward_iohmm(transitions = "shared")$start[1]
  bent <- function(dynamics) clinic_of(dynamics, 2 + (abs(dynamics$start[1] - learned) > 1e-3))
  expect_error(resume_with(path, list(setting = bent, models = clinic_step)), class = "ibrc_error_checkpoint")
  held$contents$job$recipe[["models"]] <- FALSE
  write_checkpoint(path, held$contents, contents_fingerprint(held$contents$job, held$contents$chain))
  refused(list(setting = clinic_of, models = clinic_step), "models")
})

test_that("runs without an end, and numbers that no chain has, are refused", {
  refused <- function(change) expect_identical(outcome_with("near its end", change), "refused")
  refused(function(x) {
    x$job$run$iter <- x$chain$state$iter <- 2000000000L
    x
  })
  refused(function(x) {
    x$job$run$iter <- x$chain$state$iter <- 100000000L
    x
  })
  refused(function(x) {
    x$job$resolution <- 100000L
    x
  })
  refused(function(x) {
    x$chain$value[] <- 1e300
    x
  })
  refused(function(x) {
    x$chain$state$positions[1, 1] <- 800
    x$chain$state$recent[[220]][1] <- 800
    x
  })
  refused(function(x) {
    x$job$tolerance <- 1e-300
    x
  })
  # An observation that cannot follow, a visit after the end of a trajectory.
  refused(function(x) {
    for (m in seq_along(x$job$models$models)) {
      x$job$models$models[[m]]$emission[, 1, ] <- 0
      x$job$models$models[[m]]$emission[, 2, ] <- 1
    }
    x
  })
  refused(function(x) {
    x$job$setting$stop_actions <- x$job$setting$actions
    x
  })
})

test_that("groups without a name, and names and dimensions that no fit has, are refused", {
  path <- path_of()
  refused <- function(change, label) {
    for (kind in c("near its end", "of two groups")) {
      expect_identical(outcome_with(kind, change, path), "refused", label = paste(kind, label))
    }
  }
  refused(function(x) {
    x$job$group_levels[1] <- ""
    if (!is.null(x$job$problems)) names(x$job$problems)[1] <- ""
    x
  }, "group level")
  for (field in c("group_levels", "group", "histories", "actions", "tolerance", "likelihood", "sampler")) {
    refused(function(x) {
      names(x$job[[field]]) <- paste0("n", seq_along(x$job[[field]]))
      x
    }, field)
  }
  for (field in c("independent", "accepted", "log_density", "n_accepted", "iteration")) {
    refused(function(x) {
      dim(x$chain$state[[field]]) <- length(x$chain$state[[field]])
      x
    }, field)
  }
  expect_identical(outcome_with("of two groups", function(x) {
    names(x$job$by) <- "n"
    x
  }, path), "refused")
  refused(function(x) c(x, list(third = 1)), "third part")
  refused(function(x) {
    x$job$setting$note <- "n"
    x
  }, "setting")
})

test_that("chains beside a model that they are not chains of are refused", {
  path <- path_of()
  changes <- list(
    fixed = function(x) {
      x$job$fixed <- list(eta = 5)
      x
    },
    fully_observed = function(x) {
      x$job$setting$fully_observed <- TRUE
      x
    },
    reward = function(x) {
      x$job$reward <- x$job$reward[, 3:1]
      x
    },
    start = function(x) {
      x$job$setting$start[] <- c(0.3, 0.7)
      x
    },
    interpolate = function(x) {
      x$job$interpolate <- "policy"
      x
    },
    likelihood = function(x) {
      state <- x$chain$state
      log_prior <- state$log_density - state$log_likelihood
      x$chain$state$log_likelihood[] <- 0
      x$chain$state$log_density <- log_prior
      x$chain$state$recent[[state$iteration]] <- c(state$positions, log_prior)
      x
    }
  )
  for (kind in c("in early warm-up", "near its end")) for (change in names(changes)) {
    expect_identical(outcome_with(kind, changes[[change]], path), "refused", label = paste(kind, change))
  }
  # Draws that were moved, whose densities were not.
  expect_identical(outcome_with("near its end", function(x) {
    for (step in 121:170) x$chain$state$recent[[step]][1:4] <- x$chain$state$recent[[step]][1:4] + 3
    x
  }, path), "refused")
})

test_that("genuine chains are taken for what they are, however roughly they are solved", {
  path <- path_of()
  setting <- diag_setting()
  visits <- simulate(plan_agent(setting, bounded_agent(alpha = 0.05), diag_models(), 10), 60, seed = 2)
  # Named numbers, and whole ones, are numbers.
  for (tolerance in list(1e-8, c(rough = 1e-3), 1L)) for (cores in 1:2) {
    fit <- ibrc(visits, setting, diag_models(), ibrc_prior(alpha ~ lognormal(-3, 2), discount ~ uniform(0, 0.999)),
                chains = 3, iter = 60, seed = 3, resolution = 10, file = path,
                control = ibrc_control(tolerance = tolerance, overwrite = TRUE, check = FALSE))
    expect_identical(resume(path, cores = cores, check = FALSE)$draws, fit$draws)
  }
})

test_that("a changed number that could be is a fit, and the fingerprint alone tells", {
  path <- path_of()
  held <- kinds[["near its end"]]$held
  contents <- held$contents
  contents$chain$state$recent[[150]][1] <- contents$chain$state$recent[[150]][1] + 1e-9
  write_checkpoint(path, contents, held$fingerprint)
  error <- expect_error(resume(path), "\\(chain\\)", class = "ibrc_error_checkpoint")
  expect_identical(error$parts, "chain")
  expect_identical(error$reason, "damaged")
  expect_identical(outcome_with("near its end", function(x) contents, path), "fit")
})

test_that("nothing may stand beside what a fit has written", {
  expect_identical(outcome_with("near its end", function(x) c(x, more = 1)), "refused")
  expect_identical(outcome_with("near its end", function(x) c(x, x["chain"])), "refused")
  expect_identical(outcome_with("near its end", function(x) rev(x)), "refused")
})

test_that("refusals are of three classes and name no value", {
  path <- path_of()
  held <- kinds[["near its end"]]$held
  held$contents$job$group_levels <- "SECRET"
  held$contents$job$by <- 5
  write_checkpoint(path, held$contents, contents_fingerprint(held$contents$job, held$contents$chain))
  error <- expect_error(resume(path), class = "ibrc_error_checkpoint")
  expect_identical(class(error)[1:3], c("ibrc_error_checkpoint", "ibrc_error_file", "ibrc_error"))
  expect_no_match(conditionMessage(error), "SECRET")
})

test_that("values are near where they agree but for rounding", {
  x <- list(a = c(1, NA, Inf, -Inf), b = "t", c = 1L)
  near <- x
  near$a[1] <- 1 + 1e-9
  expect_true(is_near(near, x))
  others <- list(c(1.1, NA, Inf, -Inf), c(1, 1, Inf, -Inf), c(1, NA, -Inf, -Inf), c(1, NA, 5, -Inf), c(1, NA, Inf))
  for (other in others) {
    expect_false(is_near(list(a = other, b = "t", c = 1L), x))
  }
  expect_false(is_near(list(a = x$a, b = "u", c = 1L), x))
  expect_false(is_near(list(a = x$a, b = "t", c = 1), x))
  expect_false(is_near(stats::setNames(x, c("b", "a", "c")), x))
})

test_that("models come back with the step that they were made with, and with no other", {
  setting <- diag_setting()
  path <- withr::local_tempfile(fileext = ".ibrc")
  fit <- ibrc(clinic_visits(), setting, perturb_models(setting), ibrc_prior(alpha ~ lognormal(0, 1)), chains = 1,
              iter = 20, seed = 1, resolution = 10, file = path)
  expect_identical(resume(path)$problem$models, fit$problem$models)
  held <- unclass(fit$problem$models)
  expect_no_error(check_held_models(held, setting))
  for (wrong in list(list(), list(by = 2, vary = "both", apart = TRUE), list(by = 0.1, vary = "all", apart = TRUE),
                     list(by = 0.1, vary = "both", apart = NA),
                     list(by = 0.1, vary = "both", apart = TRUE, more = 1))) {
    expect_error(check_held_models(replace(held, "step", list(wrong)), setting), class = "ibrc_error_checkpoint")
  }
})
