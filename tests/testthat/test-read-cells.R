test_that("people of the fit are in their cells, whoever else is asked about", {
  fit <- differing_fit()
  visits <- differing_visits()
  known <- log_lik(fit, draws = 6)
  expect_equal(unname(log_lik(fit, newdata = visits, draws = 6)), unname(known), ignore_attr = TRUE)
  some <- first_visits(visits)$id[c(2, 30, 9)]
  again <- log_lik(fit, newdata = visits[visits$id %in% some, ], draws = 6)
  expect_equal(unname(again), unname(known[, sort(match(some, first_visits(visits)$id))]))
  few <- with_new_cells(fit, visits[visits$id %in% some, ])
  expect_length(few$draws, 3)
  expect_identical(few$draws[[1]], fit$draws[[names(few$draws)[1]]])
  # Fits of another kind stay as they are.
  expect_identical(with_new_cells(clinic_fit(), clinic_visits()), clinic_fit())
})

test_that("who has other covariates at known levels is put together from the draws", {
  fit <- differing_fit()
  other <- first_visits(differing_visits())[c(1, 8), ]
  other$age <- c(71, 57)
  other$sex <- c("m", "f")
  made <- with_new_cells(fit, trajectories(other, covariates = c("arm", "clinician", "sex", "age")))
  expect_identical(made$cell_of, 1:2)
  expect_identical(names(made$draws), c("new cell 1", "new cell 2"))
  b <- raw_coefficients(fit)
  u <- raw_intercepts(fit)
  centre <- function(label) fit$effects$coefficients$centre[fit$effects$coefficients$label == label]
  alpha <- b[, "alpha"] + b[, "alpha[age]"] * (71 - centre("alpha[age]")) + b[, "alpha[sexm]"] +
    b[, "alpha[age:sexm]"] * (71 - centre("alpha[age]"))
  expect_equal(log(as.vector(made$draws[[1]][, , "alpha"])), unname(alpha))
  optimism <- b[, "optimism"] + b[, "optimism[armb]"] + u[, "optimism{clinician c2}"]
  expect_equal(as.vector(made$draws[[2]][, , "optimism"]), unname(optimism))
})

test_that("numbers far beyond those of the fit get a warning that says what they rest on", {
  fit <- differing_fit()
  ages <- range(first_visits(differing_visits())$age)
  aged <- function(age) {
    other <- first_visits(differing_visits())[c(1, 8), ]
    other$age <- c(mean(ages), age)
    with_new_cells(fit, trajectories(other, covariates = c("arm", "clinician", "sex", "age")))
  }
  far <- ages[2] + 0.6 * diff(ages)
  expect_warning(aged(far), paste0("age = ", format_number(far), ", and in the fit it is ", format_number(ages[1])),
                 fixed = TRUE, class = "ibrc_warning_extrapolated")
  expect_warning(aged(ages[1] - 0.6 * diff(ages)), "rests on the formula of alpha alone")
  expect_silent(aged(ages[2] + 0.4 * diff(ages)))
})

test_that("a level that the fit has not met has an intercept from N(0, Sigma), the same each time", {
  fit <- differing_fit()
  other <- first_visits(differing_visits())[c(1, 1, 1), ]
  other$id <- 1:3
  other$clinician <- c("x", "y", "x")
  other <- trajectories(other, covariates = c("arm", "clinician", "sex", "age"))
  before <- with_seed(5, stats::runif(1))
  made <- with_seed(5, {
    made <- with_new_cells(fit, other)
    expect_identical(stats::runif(1), before)
    made
  })
  expect_identical(made$cell_of, c(1L, 2L, 1L))
  expect_identical(with_new_cells(fit, other[1, ])$draws[[1]], made$draws[[1]])
  b <- raw_coefficients(fit)
  fixed <- b[, "optimism"] + (other$sex[1] == "m") * b[, "optimism[sexm]"]
  unit <- vapply(made$draws, function(draws) (as.vector(draws[, , "optimism"]) - fixed) / b[, "sd(optimism|clinician)"],
                 numeric(nrow(b)))
  expect_gt(min(apply(unit, 2, function(x) stats::ks.test(x, "pnorm")$p.value)), 0.001)
  expect_lt(abs(stats::cor(unit)[1, 2]), 0.25)
})

test_that("new people have intercepts of several terms with their correlation", {
  fit <- personal_fit()
  visits <- differing_visits(3, 3)
  expect_equal(unname(log_lik(fit, newdata = visits, draws = 4)), unname(log_lik(fit, draws = 4)), ignore_attr = TRUE)
  # One of them alone is somebody else: a number says nothing then.
  alone <- with_new_cells(fit, visits[visits$id == visits$id[1], ])
  expect_identical(names(alone$draws), "new cell 1")
  # Where draws have a correlation near 1, so do intercepts.
  fit$population$draws[, , "cor(alpha,optimism|id)"] <- 0.999999
  many <- first_visits(visits)[rep(1, 40), ]
  many$id <- 1:40
  made <- with_new_cells(fit, trajectories(many, covariates = "sex"))
  b <- raw_coefficients(fit)
  fixed <- b[, "optimism"] + (many$sex[1] == "m") * b[, "optimism[sexm]"]
  of <- function(cell, term) as.vector(made$draws[[cell]][, , term])
  for (cell in c(1, 40)) {
    expect_equal((of(cell, "optimism") - fixed) / b[, "sd(optimism|id)"],
                 (log(of(cell, "alpha")) - b[, "alpha"]) / b[, "sd(alpha|id)"], tolerance = 0.02, ignore_attr = TRUE)
  }
})

test_that("everything that takes visits takes new people", {
  fit <- differing_fit()
  other <- first_visits(differing_visits())[c(1, 8), ]
  other$clinician <- c("c1", "new")
  other <- trajectories(other, covariates = c("arm", "clinician", "sex", "age"))
  law <- predict(fit, other, draws = 4)
  expect_equal(rowSums(law), c(1, 1), ignore_attr = TRUE)
  expect_equal(colMeans(exp(log_lik(fit, other, draws = 4))),
               as.matrix(law)[cbind(1:2, match(other$action, names(law)))], ignore_attr = TRUE)
  expect_identical(nrow(augment(fit, other)), 2L)
  expect_identical(nrow(belief_paths(fit, other, draws = 2)), 2L)
  shown <- simplex_data(fit, other, id = other$id[2])
  expect_identical(levels(shown$panel), "Patient 1")
})

test_that("what cannot be read is refused, and says why", {
  fit <- differing_fit()
  person <- first_visits(differing_visits())[1, ]
  as_visits <- function(person) {
    trajectories(person, covariates = intersect(c("arm", "clinician", "sex", "age"), names(person)))
  }
  error <- expect_error(log_lik(fit, newdata = as_visits(replace(person, "arm", "z"))), "not met",
                        class = "ibrc_error_data")
  expect_identical(error[c("argument", "rows")], list(argument = "visits", rows = 1L))
  expect_refused(log_lik(fit, newdata = as_visits(replace(person, "age", "old"))), "newdata", "numbers")
  expect_refused(predict(fit, as_visits(person[names(person) != "clinician"])), "visits", "clinician")
  expect_error(predict(fit, as_visits(replace(person, "clinician", NA))), "missing", class = "ibrc_error_data")
  # A fit without such people.
  coded <- code_visits(as_visits(person), diag_setting())
  expect_refused(fit_groups(fit, as_visits(replace(person, "clinician", "new")), coded), "visits", "has not seen")
})

test_that("modes have cells for other people, too", {
  visits <- differing_visits()
  mode <- ibrc_mode(visits, diag_setting(), diag_models(), ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1)),
                    effects = list(alpha ~ age, optimism ~ sex), resolution = 10, starts = 1, seed = 1,
                    conf.level = NULL)
  expect_equal(unname(log_lik(mode, visits)), unname(log_lik(mode)))
  other <- first_visits(visits)[c(1, 1), ]
  other$id <- 1:2
  other$age[2] <- 73
  made <- with_new_cells(mode, trajectories(other, covariates = c("sex", "age")))
  expect_identical(names(made$tops)[2], "new cell 1")
  b <- mode$population$top$theta
  centre <- mode$effects$coefficients$centre[2]
  expect_equal(made$tops[[2]]$theta, c(b[1] + b[2] * (73 - centre), b[3] + b[4] * (other$sex[2] == "m")),
               ignore_attr = TRUE)
  expect_identical(nrow(predict(mode, trajectories(other, covariates = c("sex", "age")))), 2L)
  people <- simulate(mode, 5, seed = 1)
  expect_length(unique(people$id), 5)
  expect_true(all(names(with_new_cells(mode, people)$tops) %in% names(mode$tops)))
})

test_that("levels of joined factors with colons in them are known again", {
  data <- as.data.frame(people_visits(per = 3, n = 4))
  data$site <- c(north = "A:1", south = "A:2", east = "A")[data$site]
  visits <- trajectories(data, covariates = c("site", "clinician"))
  fit <- people_run(list(alpha ~ (1 | site / clinician)), visits = visits, iter = 20, warmup = 10)
  expect_true("\"A:1\":c3" %in% fit$effects$factors[[2]]$levels)
  expect_identical(names(with_new_cells(fit, visits[visits$site == "A:1", ])$draws), "cell 3")
  expect_setequal(names(with_new_cells(fit, visits)$draws), fit$effects$cells)
  # Somebody whom nobody has met is new all the same, and so is a label that only looks alike.
  other <- as.data.frame(visits[visits$site == "A:1", ])
  other$site <- "A"
  other$clinician <- "1:c3"
  expect_identical(names(with_new_cells(fit, trajectories(other, covariates = c("site", "clinician")))$draws),
                   "new cell 1")
})
