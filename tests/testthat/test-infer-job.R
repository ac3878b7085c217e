held_of <- function(...) {
  path <- withr::local_tempfile(fileext = ".ibrc")
  fit <- ibrc(clinic_visits(), diag_setting(), diag_models(), ibrc_prior(alpha ~ lognormal(0, 1)), ..., chains = 2,
              iter = 20, seed = 1, resolution = 10, file = path)
  list(fit = fit, contents = read_checkpoint(path)$contents)
}

test_that("a file that a study has written is no damaged fit: the call that goes on with it is named", {
  folder <- withr::local_tempdir()
  calls <- c("power_study()", "recovery_study()", "cross_validate()")
  files <- stats::setNames(file.path(folder, c("a", "b", "c")), calls)
  power_study(small_design(fit = count_visits), 10, replicates = 1, file = files[[1]])
  recovery_study(small_design(effect = NULL, patients = 5), 1, "agents", file = files[[2]])
  cross_validate(clinic_visits(), "frequencies", folds = 2, file = files[[3]])
  prior <- ibrc_prior(alpha ~ lognormal(0, 1))
  for (call in names(files)) {
    error <- expect_error(resume(files[[call]]), class = "ibrc_error_checkpoint")
    expect_identical(error$reason, "format")
    expect_match(error$message, paste("has finished, and no fit. The same call of", call), fixed = TRUE)
    # A fit does not take it for one of its own either.
    error <- expect_error(ibrc(clinic_visits(), diag_setting(), diag_models(), prior, file = files[[call]]),
                          class = "ibrc_error_checkpoint")
    expect_identical(error$reason, "exists")
    expect_match(error$message, paste("holds what", call), fixed = TRUE)
  }
  # Files from before it was told which of the two.
  held <- read_checkpoint(files[[1]])
  held$contents$contrast <- NULL
  expect_identical(call_of_study(held), "recovery_study() or power_study()")
  expect_null(call_of_study(list(contents = held_of()$contents, fingerprint = c(data = "a"))))
})

test_that("each field of a job counts in its fingerprint", {
  plain <- held_of()$contents$job
  for (field in job_fields) {
    other <- plain
    other[field] <- list("other")
    if (field == "run") next
    expect_false(identical(job_fingerprint(other), job_fingerprint(plain)), label = field)
  }
  for (field in names(plain$run)) {
    other <- plain
    other$run[field] <- list("other")
    expect_identical(sum(job_fingerprint(other) != job_fingerprint(plain)), 1L, label = field)
  }
})

test_that("a job comes back from nothing but lists and vectors", {
  for (held in list(held_of(), held_of(by = "clinic"))) {
    plain <- held$contents$job
    job <- job_from_plain(plain)
    expect_identical(job_to_plain(job), plain)
    expect_identical(job$inverse$problem$tables, held$fit$problem$tables)
    expect_identical(job$inverse$group, factor(plain$group_levels[plain$group], plain$group_levels))
  }
})

test_that("a job with learned dynamics comes back as well, with what was given as functions", {
  inverse <- ward_inverse()
  iohmm <- ward_iohmm(transitions = "shared")
  run <- list(chains = 2L, iter = 20L, max_iter = 20L, warmup = 10L, thin = 1L, cores = 1L, refresh = 0L, seed = 1L)
  joint <- list(inverse = inverse, evaluator = joint_evaluator(inverse, dynamics_tree(iohmm), 2, 1L), run = run,
                sampler = "adaptive", keep_data = TRUE)
  local_replacement("cut_draws", 2L)
  many <- with_cut(inverse, cut_laws(inverse$recipe, iohmm, 1), 1L)
  cut <- replace(joint, c("inverse", "evaluator"), list(many, inverse_evaluator(many, rep(1:4, each = 2))))
  for (job in list(joint, cut)) {
    plain <- job_to_plain(job)
    recipe <- held_recipe(plain, list(setting = clinic_of, models = clinic_step))
    expect_identical(recipe[c("codec", "at", "plain")], inverse$recipe[c("codec", "at", "plain")])
    again <- job_from_plain(plain, recipe)
    expect_identical(job_to_plain(again), plain)
    expect_identical(again$evaluator$batch$tables, job$evaluator$batch$tables)
    expect_identical(again$evaluator$own, job$evaluator$own)
    expect_identical(again$evaluator$joint, job$evaluator$joint)
  }
})
