test_that("what does not fit is refused with its arithmetic, and what fits is not", {
  withr::local_options(ibrc.memory = 8)
  expect_identical(refuse_too_large(8e9, "iter", "nothing"), 8e9)
  error <- expect_error(
    refuse_too_large(19.2e9, "iter", "`iter` = ", format_count(1e8), " would keep ", plural(2.4e9, "number"),
                     advice = "raise `thin`"),
    class = "ibrc_error_memory"
  )
  expect_identical(error$message, paste(
    "`iter` = 100,000,000 would keep 2,400,000,000 numbers, 19.2 GB; this session may use about 8 GB: raise `thin`,",
    "or say with options(ibrc.memory = ) how many GB it may use."
  ))
  expect_identical(error[c("argument", "bytes", "limit")], list(argument = "iter", bytes = 19.2e9, limit = 8e9))
  withr::local_options(ibrc.memory = Inf)
  expect_identical(refuse_too_large(1e300, "iter", "nothing"), 1e300)
})

test_that("the option is what the user says, and a wrong one is said", {
  expect_identical(memory_limit(0.5), 5e8)
  for (wrong in list("8", 0, -1, NA_real_, c(1, 2), numeric())) {
    error <- expect_error(memory_limit(wrong), class = "ibrc_error_input")
    expect_identical(error$argument, "ibrc.memory")
  }
})

test_that("without one the machine is asked, and the container on it", {
  folder <- withr::local_tempdir()
  expect_identical(memory_limit(NULL, folder), usual_memory)
  dir.create(file.path(folder, "proc"))
  told <- function(...) writeLines(c(...), file.path(folder, "proc/meminfo"))
  told("MemTotal:       24000000 kB", "MemAvailable:    8000000 kB")
  expect_identical(memory_limit(NULL, folder), 8e6 * 1024)
  dir.create(file.path(folder, "sys/fs/cgroup/memory"), recursive = TRUE)
  writeLines("max", file.path(folder, "sys/fs/cgroup/memory.max"))
  expect_identical(memory_limit(NULL, folder), 8e6 * 1024)
  writeLines("2147483648", file.path(folder, "sys/fs/cgroup/memory.max"))
  expect_identical(memory_limit(NULL, folder), 2^31)
  writeLines("9223372036854771712", file.path(folder, "sys/fs/cgroup/memory/memory.limit_in_bytes"))
  expect_identical(memory_limit(NULL, folder), 2^31)
  # An older kernel, or something that is not understood.
  unlink(file.path(folder, "sys"), recursive = TRUE)
  told("MemTotal:       24000000 kB")
  expect_identical(memory_limit(NULL, folder), usual_memory)
  told("MemAvailable: unknown")
  expect_identical(memory_limit(NULL, folder), usual_memory)
  expect_gt(memory_limit(NULL), 1e6)
})

test_that("many things are cut into even pieces, and few are not cut", {
  expect_identical(in_pieces(1:3, 6), list(1:3))
  expect_identical(in_pieces(letters[1:7], 6), list(letters[1:3], letters[4:7]))
  pieces <- in_pieces(seq_len(200), 12)
  expect_identical(unlist(pieces), seq_len(200))
  expect_true(all(lengths(pieces) %in% 11:12))
})

test_that("a table has no more rows than R can count, whatever memory there is", {
  withr::local_options(ibrc.memory = Inf)
  error <- expect_error(refuse_many_rows(1e10, 40, "nsim", "so many visits", advice = "simulate fewer"),
                        class = "ibrc_error_memory")
  expect_identical(error$message, "so many visits; a table has at most 2,147,483,647 rows: simulate fewer.")
  expect_identical(error$argument, "nsim")
  expect_identical(refuse_many_rows(1e9, 40, "nsim", "many visits", advice = "simulate fewer"), 4e10)
})

# Every function that makes room for as many as the user asks for: the largest count that its checks let pass, in a
# session that may use what a laptop has, ends at once.
test_that("a count with zeros too many is refused before any work, with its argument and the arithmetic", {
  withr::local_options(ibrc.memory = 4)
  setting <- diag_setting()
  plan <- plan_agent(setting, bounded_agent(0.5), diag_models(), resolution = 10)
  visits <- clinic_visits()
  prior <- ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1))
  fit <- clinic_fit()
  iohmm <- fit_iohmm(visits, 2, starts = 1, tolerance = 1e-2, seed = 1)
  run <- function(...) ibrc(visits, setting, diag_models(), prior, by = "clinic", ...)
  refused <- function(code, argument, says) {
    error <- expect_error(code, class = "ibrc_error_memory")
    expect_identical(error$argument, argument)
    expect_match(error$message, says, fixed = TRUE)
    expect_match(error$message, "this session may use about 4 GB: ", fixed = TRUE)
  }
  refused(run(iter = 1e8), "iter", paste("`iter` = 100,000,000 for 8 chains in 2 groups of 2 terms would keep",
                                         "1,200,000,000 numbers, and 800,000,000 in warm-up, with copies on the way"))
  refused(run(iter = 1e8, warmup = 9e7, control = list(thin = 100)), "iter", "1,440,000,000 in warm-up")
  refused(run(chains = 1e5, iter = 1000), "chains", "`iter` = 1,000 for 200,000 chains in 2 groups")
  refused(ibrc(visits, setting, diag_models(), prior, chains = 1e5, iter = 4, resolution = 20000), "chains",
          "100,000 chains of 20,001 values would hold 2,000,100,000 in all")
  refused(kfold(fit, iter = 1e8), "iter", "`iter` = 100,000,000 for 2 chains of 2 terms")
  refused(extend_fit(fit, iter = 9e7), "iter",
          paste0("90,000,000 steps after the ", format_count(fit$run$iter), " that were made, for ",
                 2 * length(fit$draws), " chains"))
  refused(ibrc_mode(visits, setting, diag_models(), prior, starts = 1e7), "starts", "80,000,000 draws of 2 terms")
  refused(fit_iohmm(visits, 2:10, starts = 1e7), "starts", "`starts` = 10,000,000 climbs of 10 states")
  refused(model_draws(iohmm, n = 1e7), "n", "`n` = 10,000,000 draws of laws with 26 probabilities")
  refused(simulate(iohmm, nsim = 1e7), "nsim", paste("`nsim` = 10,000,000 times", plural(nrow(visits), "visit")))
  refused(simulate(plan_agent(tiger_setting(), bounded_agent(1), resolution = 5), 1e7, horizon = 1e6), "nsim",
          "10,000,000,000,000 visits, 400 TB")
  many <- list(prior = prior, histories = rep(fit$histories, 50), draws = fit$draws)
  refused(profile_likelihood(structure(many, class = "ibrc_fit"), n = 1e7), "n",
          "`n` = 10,000,000 values in 100 groups of 2 terms")
  # And what fits is not.
  withr::local_options(ibrc.memory = 0.1)
  # How long trajectories get is known once some are made: each draw of a fit makes few of them, all together many.
  error <- expect_error(simulate(fit, 1e6, seed = 1), class = "ibrc_error_memory")
  expect_identical(error$argument, "nsim")
  expect_s3_class(simulate(fit, 200, seed = 1), "ibrc_trajectories")
  mode <- ibrc_mode(visits, setting, diag_models(), prior, by = "clinic", resolution = 5, starts = 1, seed = 1)
  each <- nrow(simulate(mode, 2000, seed = 1)) / 2000
  nsim <- ceiling(1.2 * 0.1e9 / 40 / each)
  expect_error(simulate(mode, nsim, seed = 1), "in each of 2 groups", class = "ibrc_error_memory")
  expect_s3_class(simulate(mode, floor(nsim / 2), seed = 1), "ibrc_trajectories")
  expect_s3_class(run(iter = 20, chains = 1, resolution = 10, seed = 1), "ibrc_fit")
  expect_s3_class(simulate(iohmm, nsim = 2, seed = 1), "ibrc_trajectories")
  expect_s3_class(model_draws(iohmm, n = 2, warmup = 2, thin = 1, seed = 1), "ibrc_models")
})

test_that("many starts of a search take no more memory than some, and find the same top", {
  setting <- diag_setting()
  visits <- simulate(plan_agent(setting, bounded_agent(0.5), diag_models()), 40, seed = 1)
  top <- function() {
    ibrc_mode(visits, setting, diag_models(), ibrc_prior(alpha ~ lognormal(0, 1)), resolution = 20, starts = 4,
              seed = 1, conf.level = NULL)
  }
  whole <- top()
  local_replacement("values_at_once", 21 * 5)
  expect_identical(top()$tops, whole$tops)
})
