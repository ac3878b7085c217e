plan <- plan_agent(diag_setting(), bounded_agent(0.5, 1.25, 1e-3), diag_models())

test_that("a rollout is the twin's, given the same noise", {
  with_seed(91, for (n_states in 2:4) {
    setting <- random_setting(n_states, zeros = 0)
    setting$stop_actions <- "u1"
    other <- plan_agent(setting, agents_to_try$flexible, random_models(setting), 6)
    noise <- matrix(stats::runif(40 * 37), 37)
    starts <- cbind(unname(setting$start), rev(unname(setting$start)))
    begin <- rep(0:1, 20)
    run <- .Call(ffi_rollout, other, stack_models(other$models), stack_models(own_model(setting)),
                 starts, starts, begin, c(1L, 0L, 0L), 12L, noise, 1L)
    expect_length(run$action, sum(run$length))
    last <- cumsum(run$length)
    for (i in 1:40) {
      mine <- seq(to = last[i], length.out = run$length[i])
      rows <- twin_rollout(
        setting, other$models$models, policy = function(z) policy(other, z)[1, ],
        sigma = function(z, u) model_weights(other, z, setting$actions[u])[1, ],
        start = starts[, begin[i] + 1], stops = 1, horizon = 12, noise = noise[, i]
      )
      expect_identical(run$length[i], nrow(rows))
      expect_equal(run$action[mine] + 1, rows[, 2])
      expect_equal(run$observation[mine] + 1, rows[, 3])
    }
  })
})

# The law of the first three actions, by enumerating what can be seen.
exact_law <- function(plan) {
  setting <- plan$setting
  law <- numeric()
  walk <- function(belief, state_law, chance, done, left) {
    chances <- policy(plan, belief)[1, ]
    for (u in setting$actions) {
      path <- c(done, u)
      p <- chance * chances[[u]]
      if (u %in% setting$stop_actions || left == 1) {
        key <- paste(path, collapse = " ")
        law[key] <<- sum(law[key], p, na.rm = TRUE)
        next
      }
      moved <- as.vector(state_law %*% setting$transition[, , u])
      for (x in setting$observations) {
        joint <- moved * setting$emission[, x, u]
        walk(update_belief(plan, belief, u, x), joint / sum(joint), p * sum(joint), path, left - 1)
      }
    }
  }
  walk(setting$start, setting$start, 1, character(), 3)
  law
}

test_that("1e5 simulated visits follow the exact law of the first three actions", {
  for (agent in list(bounded_agent(0.5, 1.25, 1e-3), bounded_agent(8, -0.75, 1e-3))) {
    one <- update(plan, agent)
    law <- exact_law(one)
    expect_equal(sum(law), 1, tolerance = 1e-12)
    visits <- simulate(one, nsim = 60000, seed = 7)
    expect_gt(nrow(visits), 1e5)
    first <- visits[visits$time < 3, ]
    seen <- tapply(as.character(first$action), first$id, paste, collapse = " ")
    counts <- table(factor(seen, levels = names(law)))
    expect_identical(sum(counts), 60000L)
    # Pool what is expected fewer than five times.
    common <- law * 60000 >= 5
    expect_gte(sum(common), 3)
    expect_lte(sum(counts[!common]), stats::qpois(0.9999, 60000 * sum(law[!common])))
    test <- stats::chisq.test(as.vector(counts[common]), p = law[common], rescale.p = TRUE)
    expect_gt(test$p.value, 1e-3)
  }
})

test_that("draws are the same for a seed, for any number of threads, and however they are cut", {
  a <- simulate(plan, 200, seed = 3)
  expect_identical(simulate(plan, 200, seed = 3), a)
  expect_identical(simulate(plan, 200, seed = 3, cores = 2), a)
  fewer <- simulate(plan, 50, seed = 3)
  expect_equal(as.data.frame(fewer), as.data.frame(a)[a$id <= 50, ])
})

test_that("the generator is left as documented", {
  set.seed(5)
  before <- .Random.seed
  invisible(simulate(plan, 10, seed = 3))
  expect_identical(.Random.seed, before)
  invisible(simulate(plan, 10))
  expect_false(identical(.Random.seed, before))
  set.seed(5)
  b <- simulate(plan, 10)
  expect_identical(attr(b, "seed"), before)
})

test_that("a trajectory ends after a stop action or at the horizon", {
  visits <- simulate(plan, 500, seed = 11, horizon = 4)
  length_of <- tapply(visits$time, visits$id, max) + 1
  ended <- tapply(as.character(visits$action), visits$id, function(a) utils::tail(a, 1) != "monitor")
  expect_true(all(length_of <= 4))
  expect_true(all(ended | length_of == 4))
  expect_false(any(visits$action != "monitor" & visits$time < length_of[visits$id] - 1))
  endless <- simulate(plan_agent(tiger_setting(), bounded_agent(alpha = 1)), 3, seed = 1, horizon = 7)
  expect_identical(nrow(endless), 21L)
})

test_that("the environment may be another than the agent thinks", {
  sharp <- simulate(plan, 4000, seed = 1, environment = diag_setting(accuracy = 0.95))
  dull <- simulate(plan, 4000, seed = 1, environment = diag_setting(accuracy = 0.55))
  expect_lt(nrow(sharp), nrow(dull))
  # Where the world starts is not known to the agent.
  sick <- diag_setting()
  sick$start <- c(healthy = 0.001, diseased = 0.999)
  first <- simulate(plan, 200, seed = 1, environment = sick, horizon = 1)
  expect_true(all(first$action == "monitor"))
})

test_that("what cannot be simulated is refused", {
  refused <- function(..., argument) {
    error <- expect_error(simulate(plan, ...), class = "ibrc_error_input")
    expect_identical(error$argument, argument)
  }
  refused(nsim = 0, argument = "nsim")
  refused(nsim = NA, argument = "nsim")
  refused(horizon = 0, argument = "horizon")
  refused(seed = "a", argument = "seed")
  refused(environment = tiger_setting(), argument = "environment")
  refused(environment = 1, argument = "environment")
  # An agent sure of its test meets a world that errs.
  blind <- plan_agent(diag_setting(), bounded_agent(flexibility = 0), diag_models(accuracy = 1))
  expect_error(simulate(blind, 200, seed = 1), "no model of the agent allows", class = "ibrc_error_observation")
})

test_that("memory is that of the visits returned, not of those that there might have been", {
  skip_on_cran()
  # In a process of its own, where little garbage is left to wait for.
  script <- withr::local_tempfile(fileext = ".R", lines = c(
    "library(ibrc)", "plan <- plan_agent(diag_setting(), bounded_agent(0.5, 1.25, 1e-3), diag_models())",
    "before <- sum(gc(reset = TRUE)[, 2])", "visits <- simulate(plan, 3000, seed = 1, horizon = 1e4)",
    "cat(nrow(visits), sum(gc()[, 6]) - before)"
  ))
  withr::local_envvar(R_LIBS = paste(.libPaths(), collapse = .Platform$path.sep))
  said <- system2(file.path(R.home("bin"), "Rscript"), shQuote(script), stdout = TRUE)
  found <- as.numeric(strsplit(said[length(said)], " ")[[1]])
  expect_lt(found[1], 20000)
  # Matrices of 3,000 times 10,000 visits would take 240 MB, and as much again to be put together.
  expect_lt(found[2], 200)
})

test_that("one trajectory may be very long", {
  endless <- plan_agent(tiger_setting(), bounded_agent(alpha = 1))
  expect_identical(nrow(simulate(endless, 1, seed = 1, horizon = 2e5)), 200000L)
})

test_that("more visits than fit are refused, before any where nothing ends a trajectory", {
  endless <- plan_agent(tiger_setting(), bounded_agent(alpha = 1))
  set.seed(1)
  before <- .Random.seed
  error <- expect_error(simulate(endless, 1e7, horizon = 1e6), class = "ibrc_error_memory")
  expect_identical(.Random.seed, before)
  expect_match(error$message, "`nsim` = 10,000,000 trajectories of up to `horizon` = 1,000,000 visits would be ",
               fixed = TRUE)
  expect_match(error$message, "10,000,000,000,000 visits, 400 TB; this session may use about", fixed = TRUE)
  expect_identical(error$argument, "nsim")
  expect_identical(expect_error(simulate(endless, 1e5, horizon = 1e6), class = "ibrc_error_memory")$argument, "horizon")
  # Where something does, by what the first trajectories were like.
  withr::local_options(ibrc.memory = 0.001)
  expect_s3_class(simulate(plan, 1000, seed = 1), "ibrc_trajectories")
  patient <- update(plan, bounded_agent(flexibility = 0))
  expect_error(simulate(plan, 10000, seed = 1), class = "ibrc_error_memory")
  expect_s3_class(simulate(patient, 10000, seed = 1, horizon = 2), "ibrc_trajectories")
  expect_s3_class(simulate(patient, 20, seed = 1, horizon = 1e4), "ibrc_trajectories")
})

test_that("trajectories of groups start as their group does", {
  setting <- starts_setting()
  other <- plan_agent(setting, bounded_agent(0.5), diag_models(), resolution = 10)
  drawn <- simulate(other, 200, seed = 1)
  expect_identical(attr(drawn, "roles")$covariates, "age")
  expect_setequal(drawn$age, c("old", "young"))
  old <- simulate(other, 50, seed = 1, start_group = "old")
  expect_identical(unique(old$age), "old")
  own <- setting
  own$start <- setting$start["old", ]
  own$start_by <- NULL
  alone <- simulate(plan_agent(own, bounded_agent(0.5), diag_models(), resolution = 10), 50, seed = 1)
  expect_identical(as.data.frame(old)[1:4], as.data.frame(alone))
  each <- simulate(other, 3, seed = 1, start_group = c("young", "old", "young"))
  expect_identical(each$age[!duplicated(each$id)], c("young", "old", "young"))
  # A world in which all start alike.
  world <- simulate(other, 5, seed = 1, environment = diag_setting())
  expect_setequal(names(world), c("id", "time", "action", "observation", "age"))
  expect_error(simulate(other, 3, start_group = "nobody"), class = "ibrc_error_input")
  expect_error(simulate(other, 3, start_group = c("old", "young")), "one per trajectory", class = "ibrc_error_input")
  expect_error(simulate(plan, 3, start_group = "old"), "start alike", class = "ibrc_error_input")
  expect_error(simulate(other, 3, environment = starts_setting(rbind(a = c(0.5, 0.5), b = c(0.1, 0.9)))),
               "same groups", class = "ibrc_error_input")
})
