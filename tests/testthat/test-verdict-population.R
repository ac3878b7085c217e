rows_of <- function(rows, check) as.data.frame(rows[rows$check == check, ])

test_that("chains that stand apart are told, and those that do not are not", {
  fit <- differing_fit()
  n <- nrow(fit$population$log_posterior)
  fit$population$log_posterior <- with_seed(1, cbind(stats::rnorm(n, -40), stats::rnorm(n, -40)))
  expect_identical(as.character(hill_rows(fit)$verdict), "ok")
  expect_match(hill_rows(fit)$seen, "from -[0-9]+[.][0-9] to -[0-9]+[.][0-9]$")
  fit$population$log_posterior[, 2] <- fit$population$log_posterior[, 2] - 20
  expect_identical(as.character(hill_rows(fit)$verdict), "do not use")
  fit$population$log_posterior <- fit$population$log_posterior[, 1, drop = FALSE]
  expect_null(hill_rows(fit))
})

test_that("intercepts are held to R-hat and effective draws, one row per factor and term", {
  fit <- personal_fit()
  size <- dim(fit$population$intercepts)
  draws <- with_seed(1, array(stats::rnorm(1000 * 2 * size[3]), c(1000, 2, size[3]), list(
    NULL, NULL, dimnames(fit$population$intercepts)[[3]]
  )))
  fit$population$intercepts <- draws
  fit$population$mixing <- NULL
  rows <- intercept_rows(fit)
  expect_identical(rows$term, c("alpha", "optimism"))
  expect_true(all(rows$verdict == "ok"))
  fit$population$intercepts[, 1, 2] <- draws[, 1, 2] + 3
  expect_identical(as.character(intercept_rows(fit)$verdict), c("do not use", "ok"))
})

test_that("spreads of few levels, and coefficients that stay at their prior, are told as such", {
  fit <- differing_fit()
  spread <- function(fit) {
    rows <- population_identified(fit)
    rows[startsWith(rows$term, "sd("), ]
  }
  settled <- fit
  settled$population$draws <- with_seed(4, apply(fit$population$draws, 3, sample))
  dim(settled$population$draws) <- dim(fit$population$draws)
  dimnames(settled$population$draws) <- dimnames(fit$population$draws)
  settled$population$log_posterior[] <- with_seed(5, stats::rnorm(length(fit$population$log_posterior)))
  settled$population$intercepts[] <- with_seed(6, stats::rnorm(length(fit$population$intercepts)))
  settled$population$mixing <- NULL
  expect_match(spread(settled)$seen, ", 6 levels$")
  few <- settled
  few$effects$factors[[1]]$levels <- c("c1", "c2")
  expect_match(spread(few)$seen, "^(too few levels|not identified|unsettled|only jointly).*, 2 levels$")
  expect_identical(said_of_term(c(TRUE, TRUE), 0.9, data.frame(correlation = 0), few_levels = TRUE), "too few levels")
  expect_identical(said_of_term(c(TRUE, FALSE), 0.9, data.frame(correlation = 0), few_levels = TRUE), "too few levels")
  expect_identical(said_of_term(c(FALSE, FALSE), 0, data.frame(correlation = 0), few_levels = TRUE), "not identified")
  expect_match(identified_advice("too few levels", FALSE), "where a prior weighs much")
  # Where there are visits enough, so that it is not their number that is told.
  fit$n_scored <- fit$n_scored * 50L
  size <- dim(fit$population$draws)[1:2]
  fit$population$draws[, , "optimism[sexm]"] <- with_seed(1, stats::rnorm(prod(size), 0, 1.2))
  fit$population$draws[, , "optimism[armb]"] <- with_seed(2, stats::rnorm(prod(size), 0, 0.2))
  rows <- population_identified(fit)
  expect_match(rows$seen[match("optimism[sexm]", rows$term)], "^not identified, contraction ")
  expect_identical(as.character(rows$verdict[match("optimism[sexm]", rows$term)]), "caution")
})

test_that("what interpolation left out is judged by how far it differs from place to place", {
  fit <- differing_fit()
  fit$run["spacing"] <- list(NULL)
  expect_null(interpolation_rows(fit))
  fit$run$spacing <- c(0.5, 0.5)
  fit$population["errors"] <- list(NULL)
  expect_identical(as.character(interpolation_rows(fit)$verdict), "caution")
  fit$population$errors <- rep(0.2, 5)
  expect_identical(as.character(interpolation_rows(fit)$verdict), "ok")
  fit$population$errors <- c(0.2, 0.2, 40)
  expect_identical(as.character(interpolation_rows(fit)$verdict), "do not use")
})

test_that("the slow checks say what the numbers rest on, and the verdict has all rows", {
  fit <- add_verdict(differing_fit())
  rows <- verdict(fit)
  expect_setequal(unique(rows$check), c("settled", "whole", "behaves", "identified", "assumed"))
  expect_true(any(grepl("at twice the resolution (20)", rows$seen, fixed = TRUE)))
  expect_true(any(grepl("weight on the middle", rows$seen)))
  expect_setequal(stats::na.omit(rows$term[rows$check == "identified"]), tidy(fit)$term)
  # Where the log-likelihood does not change, nothing moves.
  evaluator <- inverse_evaluator(fit)
  still <- population_shift(fit, "as it is", "nothing", "advice", evaluator, evaluator, function(size) {
    if (size < 1e-12) "ok" else "caution"
  })
  expect_identical(as.character(still$verdict), "ok")
})

test_that("what was not looked at is not ok", {
  fit <- differing_fit()
  expect_null(fit$checks)
  rows <- standing_verdict(fit)
  expect_identical(as.character(worst_of(rows$verdict[rows$check == "assumed"])), "caution")
  expect_output(print(fit), "assumed +caution +lattice, models, habit: not looked at.*Not looked at yet")
  # The number of all is told, whatever the sizes of cells.
  expect_match(format(fit), paste0("^A fit to ", glance(fit)$trajectories, " trajectories"))
  expect_match(format(personal_fit()), paste0("^A fit to ", glance(personal_fit())$trajectories, " trajectories"))
  expect_match(format(personal_fit(), suppress = 1000), "^A fit to <1000 trajectories")
})

fit <- people_run(visits = people_visits(per = 4, n = 4), iter = 240, warmup = 120)
many <- people_run(list(optimism ~ age + (1 | clinician)), iter = 240, warmup = 120,
                   control = list(cells = "interpolated"))

# The fit with other draws of the intercepts, or densities.
with_intercepts <- function(change) {
  fit$population$intercepts <- change(fit$population$intercepts)
  fit$population$mixing <- NULL
  fit
}

test_that("intercepts are judged by the worst of each factor and term", {
  rows <- intercept_rows(fit)
  expect_identical(rows$check, "settled")
  expect_identical(rows$term, "optimism")
  expect_match(rows$seen, "intercepts of clinician")
  # Chains that stand apart in one of them.
  bad <- intercept_rows(with_intercepts(function(x) {
    x[, 2, 3] <- x[, 2, 3] + 10
    x
  }))
  expect_identical(as.character(bad$verdict), "do not use")
  good <- with_intercepts(function(x) array(with_seed(1, stats::rnorm(length(x))), dim(x), dimnames(x)))
  expect_identical(as.character(intercept_rows(good)$verdict), "ok")
  expect_true(are_mixed_intercepts(good))
  expect_null(intercept_rows(people_run(list(alpha ~ age), iter = 20, warmup = 10)))
})

test_that("while chains disagree, a verdict says no more than identifiability() does", {
  rough <- people_run(list(alpha ~ age), iter = 20, warmup = 10)
  rows <- standing_verdict(rough)
  unsettled <- rows$term[rows$check == "settled" & rows$verdict == "do not use"]
  expect_gt(length(unsettled), 0)
  found <- identifiability(rough)
  expect_setequal(found$term[found$verdict == "unsettled"], unsettled)
  said <- rows[rows$check == "identified" & rows$term %in% unsettled, ]
  expect_setequal(said$term, unsettled)
  expect_identical(as.character(said$verdict), rep("do not use", nrow(said)))
  expect_match(said$seen, "cannot be told while the chains disagree")
  expect_false(any(rows$check == "whole" & rows$verdict == "ok"))
  # Not so of chains that agree.
  calm <- standing_verdict(fit)
  calm <- calm[calm$check == "settled" & calm$verdict != "do not use" & !startsWith(calm$seen, "intercepts"), ]
  all <- standing_verdict(fit)
  expect_false(any(grepl("cannot be told", all$seen[all$check == "identified" & all$term %in% calm$term])))
})

test_that("a verdict calls a term of a population ok only where identifiability() calls it identified", {
  # Five trajectories; and a prior that the data contradict, with chains that agree in both.
  setting <- diag_setting()
  visits <- as.data.frame(simulate(plan_agent(setting, bounded_agent(1), diag_models(), resolution = 10), 60, seed = 1))
  visits$arm <- c("a", "b")[visits$id %% 2 + 1]
  run <- function(rows, prior) {
    suppressWarnings(ibrc(
      trajectories(visits[rows, ], covariates = "arm"), setting, diag_models(), prior,
      fixed = list(eta = 0, optimism = 0), effects = list(alpha ~ arm), chains = 4, iter = 1500, seed = 1,
      resolution = 10, control = ibrc_control(check = FALSE)
    ))
  }
  kinds <- c("ok", "caution", "do not use")
  wide <- ibrc_prior(alpha ~ lognormal(0, 2))
  off <- ibrc_prior(alpha ~ lognormal(-4, 0.25))
  for (made in list(run(visits$id <= 5, wide), run(TRUE, off), run(TRUE, wide))) {
    expect_true(all(settled_rows(made)$verdict != "do not use"))
    found <- identifiability(made)
    rows <- standing_verdict(made)
    rows <- rows[rows$check == "identified", ]
    expect_identical(rows$term, found$term)
    expect_identical(as.character(rows$verdict), ifelse(
      found$verdict %in% c("too few data", "unsettled"), "do not use",
      ifelse(found$verdict == "identified" & !found$prior_conflict, "ok", "caution")
    ))
    kinds <- setdiff(kinds, as.character(rows$verdict))
  }
  # All three were met.
  expect_identical(kinds, character())
})

test_that("identifiability() doubts all terms where a chain stands on another hill, as the verdict does", {
  apart <- differing_fit()
  apart$population$log_posterior[, 1] <- apart$population$log_posterior[, 1] + 100
  expect_identical(unique(identifiability(apart)$verdict), "unsettled")
  rows <- standing_verdict(apart)
  expect_true(all(rows$verdict[rows$check == "identified"] == "do not use"))
  # Intercepts that do not mix, of one term.
  stuck <- personal_fit()
  stuck$population$mixing <- NULL
  stuck$population$intercepts[, 1, ] <- stuck$population$intercepts[, 1, ] + 30
  found <- identifiability(stuck)
  expect_true(all(found$verdict[startsWith(found$term, "sd(")] == "unsettled"))
})

test_that("a chain on another hill is seen", {
  flat <- fit
  flat$population$log_posterior[] <- with_seed(2, stats::rnorm(length(flat$population$log_posterior)))
  expect_identical(as.character(hill_rows(flat)$verdict), "ok")
  flat$population$log_posterior[, 2] <- flat$population$log_posterior[, 2] - 20
  expect_identical(as.character(hill_rows(flat)$verdict), "do not use")
  # Less than 2 is never one.
  flat$population$log_posterior[, 2] <- flat$population$log_posterior[, 2] + 19
  expect_identical(as.character(hill_rows(flat)$verdict), "ok")
})

test_that("what interpolation is off by is said and judged", {
  expect_null(interpolation_rows(fit))
  expect_length(many$population$errors, 1L)
  expect_identical(as.character(interpolation_rows(many)$verdict), "ok")
  judged <- function(errors) {
    many$population$errors <- errors
    as.character(interpolation_rows(many)$verdict)
  }
  expect_identical(judged(c(0, 0.1, -0.1)), "ok")
  expect_identical(judged(c(0, 0.5, 0)), "caution")
  expect_identical(judged(c(0, 2, 0)), "do not use")
  # The same everywhere moves nothing, unless it is large.
  expect_identical(judged(c(1, 1, 1)), "ok")
  expect_identical(judged(c(12, 12, 12)), "do not use")
  expect_identical(judged(c(0, Inf, 0)), "do not use")
  expect_identical(judged(c(Inf, Inf)), "do not use")
  expect_identical(judged(numeric()), "caution")
})

test_that("few levels, and priors that were not narrowed, are told", {
  rows <- population_identified(fit)
  rows <- rows[rows$term == "sd(optimism|clinician)", ]
  expect_match(rows$seen, ", 4 levels$")
  expect_false(rows$verdict == "ok")
  # What the data say nothing about.
  wide <- fit
  prior <- wide$effects$prior[["optimism[armb]"]]$args[["sd"]]
  size <- dim(wide$population$draws)[1:2]
  wide$population$draws[, , "optimism[armb]"] <- with_seed(3, matrix(stats::rnorm(prod(size), 0, prior), size[1]))
  rows <- population_identified(wide)
  expect_match(rows$seen[rows$term == "optimism[armb]"], "^(not identified|too few data|unsettled)")
  expect_false(any(rows$verdict[rows$term == "optimism[armb]"] == "ok"))
})

test_that("a verdict has all its rows, and cells are looked at together", {
  checked <- add_verdict(fit)
  rows <- as.data.frame(verdict(checked))
  expect_true(all(c("settled", "whole", "behaves", "identified", "assumed") %in% rows$check))
  expect_true(all(c("alpha", "optimism[armb]", "sd(optimism|clinician)") %in% rows$term))
  expect_true(any(grepl("resolution", rows$seen)) && any(grepl("weight", rows$seen)))
  expect_null(behaviour_check(fit, draws = 20)$group)
  # Each draw takes a solve per cell.
  expect_identical(population_check_draws(list(draws = as.list(1:1000))), 20)
  expect_equal(population_check_draws(fit), 200)
})

test_that("a shift is that of the means when draws are weighted by the other likelihood", {
  evaluator <- inverse_evaluator(fit)
  judge <- function(size) if (size > 0.1) "caution" else "ok"
  none <- population_shift(fit, "nothing else", "asked", "advice", evaluator, evaluator, judge)
  expect_identical(as.character(none$verdict), "ok")
  # A likelihood that leans to optimism moves it.
  local_replacement("log_likelihood_at", function(evaluator, theta, g) if (is.null(evaluator)) 3 * theta[, 2] else 0)
  leaning <- population_shift(fit, "leaning", "asked", "advice", evaluator, NULL, judge)
  expect_identical(as.character(leaning$verdict), "caution")
  expect_match(leaning$seen, "optimism")
})
