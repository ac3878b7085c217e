tiger_file <- function() system.file("extdata", "tiger.POMDP", package = "ibrc")

test_that("a setting stays as it is", {
  setting <- tiger_setting()
  expect_identical(as_setting(setting), setting)
  expect_error(as_setting(setting, discount = 0.5), class = "ibrc_error_input")
})

test_that("the tiger in a file is the tiger", {
  expect_equal(as_setting(tiger_file()), tiger_setting())
})

test_that("discount and stop actions are the user's to state", {
  setting <- as_setting(tiger_file(), discount = 0.5, stop_actions = c("open_left", "open_right"))
  expect_equal(setting$discount, 0.5)
  expect_equal(setting$stop_actions, c("open_left", "open_right"))

  problem <- expect_error(as_setting(tiger_file(), discount = 1), class = "ibrc_error_input")
  expect_equal(problem$argument, "discount")
  problem <- expect_error(as_setting(tiger_file(), stop_actions = "flee"), class = "ibrc_error_input")
  expect_equal(problem$argument, "stop_actions")
  problem <- expect_error(as_setting(tiger_file(), gamma = 0.5), class = "ibrc_error_input")
  expect_match(conditionMessage(problem), "gamma")
})

test_that("what is no problem statement is refused", {
  for (x in list(3, NULL, list(), character(), c("a", "b"), NA_character_, "", tempfile(), tempdir())) {
    problem <- expect_error(as_setting(x), class = "ibrc_error_input")
    expect_equal(problem$argument, "x")
  }
})

# A small model with each part in every form that the package 'pomdp' takes.
frog <- function(..., class = pomdp::POMDP) {
  parts <- list(
    states = c("pond", "bank"), actions = c("sit", "jump"),
    transition_prob = list(sit = "identity", jump = rbind(c(0.1, 0.9), c(0.7, 0.3))),
    discount = 0.8, start = "uniform"
  )
  given <- list(...)
  do.call(class, c(parts[setdiff(names(parts), names(given))], given))
}
frog_transition <- array(c(1, 0, 0, 1, 0.1, 0.7, 0.9, 0.3), c(2, 2, 2))
croak <- rbind(c(0.6, 0.4), c(0.2, 0.8))
frog_emission <- array(c(croak, rep(0.5, 4)), c(2, 2, 2))
frog_pomdp <- function(...) {
  parts <- list(
    observations = c("croak", "silence"), observation_prob = list(sit = croak, jump = "uniform"),
    reward = rbind(pomdp::R_(value = -1), pomdp::R_("jump", "pond", "bank", "croak", value = 5))
  )
  given <- list(...)
  do.call(frog, c(parts[setdiff(names(parts), names(given))], given))
}

test_that("a POMDP is converted", {
  skip_if_not_installed("pomdp")
  setting <- as_setting(frog_pomdp(), stop_actions = "jump")
  expect_s3_class(setting, "ibrc_setting")
  expect_equal(setting$observations, c("croak", "silence"))
  expect_equal(unname(setting$transition), frog_transition, ignore_attr = TRUE)
  expect_equal(unname(setting$emission), frog_emission, ignore_attr = TRUE)
  # Only jump in the pond pays other than -1: 0.9 * 0.5 of the time it is 5.
  expect_equal(setting$utility[, "sit"], c(pond = -1, bank = -1))
  expect_equal(setting$utility[, "jump"], c(pond = -1 + 0.9 * 0.5 * 6, bank = -1))
  expect_equal(setting$discount, 0.8)
  expect_equal(setting$start, c(pond = 0.5, bank = 0.5))
  expect_equal(setting$stop_actions, "jump")
})

test_that("every form of a POMDP gives the same setting", {
  skip_if_not_installed("pomdp")
  setting <- as_setting(frog_pomdp())
  by_function <- frog_pomdp(
    transition_prob = function(action, start.state, end.state) {
      frog_transition[match(start.state, c("pond", "bank")), match(end.state, c("pond", "bank")),
                      match(action, c("sit", "jump"))]
    },
    reward = function(action, start.state, end.state, observation) {
      lucky <- action == "jump" && start.state == "pond" && end.state == "bank" && observation == "croak"
      if (lucky) 5 else -1
    }
  )
  expect_equal(as_setting(by_function), setting)
  by_table <- frog_pomdp(
    transition_prob = rbind(pomdp::T_("sit", "pond", "pond", 1), pomdp::T_("sit", "bank", "bank", 1),
                            pomdp::T_("jump", "pond", "pond", 0.1), pomdp::T_("jump", "pond", "bank", 0.9),
                            pomdp::T_("jump", "bank", "pond", 0.7), pomdp::T_("jump", "bank", "bank", 0.3)),
    observation_prob = rbind(pomdp::O_(probability = 0.5), pomdp::O_("sit", "pond", "croak", 0.6),
                             pomdp::O_("sit", "pond", "silence", 0.4), pomdp::O_("sit", "bank", "croak", 0.2),
                             pomdp::O_("sit", "bank", "silence", 0.8))
  )
  expect_equal(as_setting(by_table), setting)
  expect_equal(as_setting(pomdp::normalize_POMDP(frog_pomdp())), setting)
})

test_that("an MDP is converted, and its state is seen", {
  skip_if_not_installed("pomdp")
  reward <- rbind(pomdp::R_(value = 2), pomdp::R_("jump", "bank", "pond", value = 12))
  setting <- as_setting(frog(reward = reward, start = "bank", class = pomdp::MDP))
  expect_true(setting$fully_observed)
  expect_equal(setting$observations, setting$states)
  expect_equal(unname(setting$transition), frog_transition, ignore_attr = TRUE)
  expect_equal(unname(setting$utility), cbind(c(2, 2), c(2, 2 + 0.7 * 10)), ignore_attr = TRUE)
  expect_equal(setting$start, c(pond = 0, bank = 1))
})

test_that("the tiger of the package 'pomdp' is the tiger but for its names and discount", {
  skip_if_not_installed("pomdp")
  model <- new.env()
  utils::data("Tiger", package = "pomdp", envir = model)
  theirs <- as_setting(model$Tiger, discount = 0.95)
  ours <- tiger_setting()
  for (part in c("transition", "emission", "utility", "start", "discount")) {
    expect_equal(as.vector(theirs[[part]]), as.vector(ours[[part]]))
  }
})

test_that("a POMDP written to a file is the same as the object", {
  skip_if_not_installed("pomdp")
  path <- withr::local_tempfile(fileext = ".POMDP")
  pomdp::write_POMDP(frog_pomdp(start = c(0.25, 0.75)), path, labels = TRUE)
  expect_equal(as_setting(path), as_setting(frog_pomdp(start = c(0.25, 0.75))))
})

test_that("files that come with the package 'pomdp' read the same both ways", {
  skip_if_not_installed("pomdp")
  files <- list.files(system.file("examples", package = "pomdp"), "[.]POMDP$", full.names = TRUE)
  skip_if(!length(files))
  for (path in files) {
    expect_equal(as_setting(path), as_setting(suppressWarnings(pomdp::read_POMDP(path))))
  }
})

test_that("a problem that ends or does not discount asks for a discount", {
  skip_if_not_installed("pomdp")
  for (model in list(frog_pomdp(discount = 1), frog_pomdp(horizon = 5))) {
    problem <- expect_error(as_setting(model), class = "ibrc_error_input")
    expect_equal(problem$argument, "x")
    expect_match(conditionMessage(problem), "discount =", fixed = TRUE)
    expect_equal(as_setting(model, discount = 0.8), as_setting(frog_pomdp()))
  }
})

test_that("a POMDP that no setting can hold is refused", {
  skip_if_not_installed("pomdp")
  forbidden <- frog_pomdp(reward = rbind(pomdp::R_(value = 0), pomdp::R_("jump", "pond", value = -Inf)))
  expect_error(as_setting(forbidden), "-Inf", class = "ibrc_error_input")
  # What never happens can be worth anything.
  harmless <- frog_pomdp(reward = rbind(pomdp::R_(value = 0), pomdp::R_("sit", "pond", "bank", value = -Inf)))
  expect_equal(unname(as_setting(harmless)$utility), matrix(0, 2, 2), ignore_attr = TRUE)

  changing <- frog_pomdp()
  changing$horizon <- c(2, 2)
  expect_error(as_setting(changing, discount = 0.5), "over time", class = "ibrc_error_input")
  for (part in c("states", "observations", "transition_prob", "observation_prob", "reward", "discount")) {
    broken <- frog_pomdp()
    broken[[part]] <- NULL
    expect_error(as_setting(broken), class = "ibrc_error_input")
  }
})

test_that("a file that read_POMDP() takes only in part is refused", {
  skip_if_not_installed("pomdp")
  lines <- readLines(tiger_file())
  for (changed in list(sub("values: reward", "values: cost", lines),
                       sub("start: uniform", "start include: tiger_left", lines))) {
    path <- withr::local_tempfile(fileext = ".POMDP")
    writeLines(changed, path)
    model <- suppressWarnings(pomdp::read_POMDP(path, parse = FALSE))
    expect_error(as_setting(model), "path of the file", class = "ibrc_error_input")
  }
})
