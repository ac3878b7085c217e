settings <- problem_settings()[1:2]
visits <- problem_visits()

test_that("the log-likelihood of several problems is the sum of theirs", {
  names <- c("easy", "hard", "tiger")
  prior <- ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1), habit ~ normal(0, 1))
  built <- function(visits, setting, models, problem = NULL, by = "person") {
    read <- read_inverse(visits, setting, models, prior, list(), by, FALSE, problem = problem)
    build_inverse(group_inverse(read, visits, by), 20, ibrc_control(), 1L)
  }
  whole <- built(problem_visits(names), problem_settings(), spread_models, "test")
  theta <- with_seed(1, prior_draw(prior, 3))
  value_of <- function(evaluator, g) {
    evaluate_batch(evaluator, theta, matrix(0, evaluator$n_values, 3), rep(g, 3))
  }
  evaluator <- inverse_evaluator(whole)
  apart <- lapply(names, function(name) {
    setting <- problem_settings()[[name]]
    built(problem_visits(names, only = name), setting, spread_models(setting))
  })
  expect_identical(levels(apart[[3]]$group), c("b", "c"))
  for (person in c("a", "b", "c")) {
    found <- value_of(evaluator, match(person, levels(whole$group)))
    met <- Filter(function(one) person %in% levels(one$group), apart)
    expect_length(met, if (person == "a") 2 else 3)
    each <- vapply(met, function(one) {
      value_of(inverse_evaluator(one), match(person, levels(one$group)))$log_likelihood
    }, numeric(3))
    expect_close(found$log_likelihood, rowSums(each))
  }
  # From the values that it found, the same again.
  again <- evaluate_batch(evaluator, theta, found$value, rep(3L, 3))
  expect_close(again$log_likelihood, found$log_likelihood, 1e-6)
  # What is handed to another process has one group, and says the same of it.
  for (g in 1:3) {
    expect_identical(value_of(part_piece(NULL, evaluator, g, 0L, FALSE)$evaluator, 1L)$log_likelihood,
                     value_of(evaluator, g)$log_likelihood)
  }
  # A vector that the prior rules out, or that left the doubles, is no error.
  theta[1, ] <- Inf
  expect_identical(value_of(evaluator, 1L)$log_likelihood[1], -Inf)
})

test_that("a list of one setting is that setting", {
  only <- problem_visits(only = "easy")
  one <- suppressWarnings(ibrc(only, settings$easy, spread_models(settings$easy), problem_prior(), chains = 2,
                               iter = 200, seed = 1, resolution = 20, control = list(check = FALSE)))
  for (models in list(spread_models, list(easy = spread_models(settings$easy)))) {
    listed <- problem_run(only, settings["easy"], models)
    expect_identical(listed$draws, one$draws)
    expect_identical(listed$log_posterior, one$log_posterior)
  }
  view <- one_problem(listed, "easy")
  expect_identical(log_lik(view), log_lik(one))
  expect_equal(view$group_sizes, one$group_sizes)
  expect_equal(tidy(view), tidy(one))
  by_default <- function(...) ibrc_mode(only, ..., starts = 2, seed = 1, resolution = 20, conf.level = NULL)
  expect_equal(tidy(by_default(settings["easy"], spread_models, problem = "test")),
               tidy(by_default(settings$easy, spread_models(settings$easy))))
})

test_that("two problems say more of their decision maker than each of them", {
  both <- tidy(problem_run(problem_visits(n = 600), iter = 400))
  expect_true(all(both$conf.low < 0.5 & 0.5 < both$conf.high))
  for (name in names(settings)) {
    alone <- tidy(problem_run(problem_visits(n = 600, only = name), settings[name], iter = 400))
    # How much narrower than the prior, on the scale that a sampler works on.
    expect_true(all(both$contraction > alone$contraction))
  }
})

test_that("a mode of several problems is at the top of the sum", {
  mode <- suppressWarnings(ibrc_mode(visits, settings, spread_models, problem_prior(), problem = "test", by = "person",
                                     starts = 2, seed = 1, resolution = 20))
  expect_close(sum(log_lik(mode)), as.numeric(logLik(mode)), 1e-6)
  expect_identical(attr(logLik(mode), "nobs"), 60L)
  for (group in names(mode$tops)) {
    own <- vapply(names(settings), function(name) {
      plan <- project_behavior(one_problem(mode, name))
      if (!group %in% names(plan)) return(0)
      sum(log_lik(plan[[group]], visits[visits$test == name & visits$person == group, ]))
    }, 0)
    expect_close(sum(own), mode$tops[[group]]$log_likelihood, 1e-6)
  }
  expect_output(print(mode), "of 2 problems \\(easy, hard\\)")
})

test_that("files of several problems go on to the same draws", {
  file <- withr::local_tempfile()
  whole <- problem_run(by = "person", file = file)
  expect_identical(resume(file, check = FALSE)$draws, whole$draws)
  longer <- problem_run(by = "person", iter = 300)
  # The same warm-up, and the same steps after it.
  short <- suppressWarnings(ibrc(visits, settings, spread_models, problem_prior(), by = "person", chains = 2,
                                 iter = 200, warmup = 150, seed = 1, problem = "test", resolution = 20,
                                 control = list(check = FALSE)))
  expect_identical(extend_fit(short, 100, control = list(check = FALSE))$draws, longer$draws)
  held <- read_checkpoint(file)
  plain <- held$contents$job
  expect_silent(check_held_job(plain))
  broken <- list(
    column = function(x) replace(x, "column", list(1)),
    names = function(x) replace(x, "problems", list(unname(x$problems))),
    order = function(x) replace(x, "problems", list(rev(x$problems))),
    of = function(x) replace(x, "of", list(rev(x$of))),
    few = function(x) replace(x, "of", list(x$of[-1])), more = function(x) c(x, list(other = 1))
  )
  for (change in broken) {
    other <- plain
    other$several <- change(other$several)
    expect_error(check_held_job(other))
  }
  other <- plain
  names(other$histories[[1]])[1] <- "other"
  expect_error(check_held_job(other))
})

test_that("people who differ may meet several problems", {
  names <- c("easy", "hard", "tiger")
  run <- function(...) {
    problem_run(problem_visits(names), problem_settings(), spread_models, effects = list(optimism ~ (1 | person)),
                iter = 60, resolution = 5, ...)
  }
  file <- withr::local_tempfile()
  fit <- run(file = file)
  expect_identical(resume(file, check = FALSE)$population$draws, fit$population$draws)
  expect_identical(sort(unname(one_problem(fit, "tiger")$group_sizes)), c(0, 10, 20))
  expect_identical(dim(pp_data(one_problem(fit, "tiger"), draws = 5))[2], 8L)
  everyone <- problem_visits(names)
  expect_close(log_lik(fit, 3), unname(log_lik(fit, 3, newdata = everyone)), 1e-8)
  # Interpolated log-likelihoods are those of all problems together.
  inverse <- fit_job(fit)$inverse
  theta <- c(log(0.7), 0.4)
  exact <- evaluate_batch(inverse_evaluator(inverse), matrix(theta, 3, 2, byrow = TRUE),
                          matrix(0, inverse_evaluator(inverse)$n_values, 3))$log_likelihood
  expect_close(point_log_lik(new_interpolation(inverse, c(0.5, 0.5)), theta), exact, 1e-6)
  expect_identical(unique(behaviour_check(fit, draws = 20)$problem), names)
})

test_that("what does not go together is refused, with its rows and columns", {
  find <- function(..., visits = problem_visits(), setting = settings, models = NULL,
                   prior = ibrc_prior(alpha ~ lognormal(0, 1)), problem = "test") {
    suppressWarnings(ibrc_mode(visits, setting, models, prior, ..., problem = problem, starts = 1, resolution = 5,
                               conf.level = NULL))
  }
  bad <- function(pattern, ..., class = "ibrc_error_input") expect_error(find(...), pattern, class = class)
  table <- problem_table()
  changed <- function(row, value) {
    table$test[row] <- value
    trajectories(table, covariates = c("test", "person"))
  }
  first <- which(table$id == table$id[1])
  bad("column \"test\" is missing \\(row 3\\)", visits = changed(3, NA), class = "ibrc_error_data")
  bad("column \"test\" names a problem that has no setting.*\\(row 3\\)", visits = changed(3, "other"),
      class = "ibrc_error_data")
  bad("changes within a trajectory \\(row 2\\)", visits = changed(2, "hard"), class = "ibrc_error_data")
  bad("no trajectory is of that problem", setting = problem_settings())
  bad("must be a list of settings named by problem", setting = settings$easy)
  bad("entry 1 of it has no name", setting = unname(settings))
  bad("two entries of the same name", setting = settings[c("easy", "easy")])
  bad("is an empty list", setting = list())
  bad("entry 2 of the list is", setting = list(easy = settings$easy, hard = 1))
  bad("must name one column", problem = c("test", "person"))
  bad("must name one column", problem = 1)
  bad("\"nobody\" is not a column of the data", problem = "nobody")
  bad("must be a function of a setting", models = diag_models())
  bad("has no entry for \"hard\"", models = list(easy = diag_models()))
  bad("must return what model_prior\\(\\) makes", models = function(setting) 1)
  bad("must take a setting", models = function() diag_models())
  bad("functions of named quantities are", prior = ibrc_prior(alpha ~ lognormal(0, 1), accuracy ~ beta(8, 2)))
  bad("name their columns in `by` \\(or in", problem = NULL)
  expect_error(ibrc_mode(visits, settings, problem = test), "name of a column in quotes", class = "ibrc_error_input")
  with_tiger <- list(visits = problem_visits(c("easy", "tiger")), setting = problem_settings()[c("easy", "tiger")])
  one_of <- function(prior, ...) c(with_tiger, list(prior = prior, ...))
  expect_error(do.call(find, one_of(ibrc_prior(alpha ~ lognormal(0, 1), utility(healthy, monitor) ~ normal(-1, 1)))),
               "is not in the setting of \"tiger\"", class = "ibrc_error_input")
  held <- list(action_prior = c(0.2, 0.2, 0.6))
  expect_error(do.call(find, one_of(ibrc_prior(alpha ~ lognormal(0, 1)), fixed = held)),
               "must have the same actions", class = "ibrc_error_input")
  expect_error(do.call(find, one_of(ibrc_prior(alpha ~ lognormal(0, 1), action_prior ~ dirichlet(1)))),
               "must have the same actions", class = "ibrc_error_input")
  # A row that is wrong is named by its place among all visits.
  table$action <- replace(as.character(table$action), nrow(table), "listen")
  bad(paste0("row ", nrow(table)), visits = trajectories(table, covariates = "test"), class = "ibrc_error_data")
  shared <- find(prior = ibrc_prior(alpha ~ lognormal(0, 1), utility(healthy, monitor) ~ normal(-1, 1)))
  expect_length(coef(shared), 2)
  expect_error(problem_run(dynamics = 1), "are of one problem", class = "ibrc_error_input")
})
