visits <- po_irl_visits(120, seed = 1)
setting <- po_irl_clinic()
known <- quick_po_irl(visits, setting, iter = 600, draws = 40)
together <- quick_po_irl(visits, states = 2, discount = 0.9, joint = TRUE, iter = 200)

# Held-out log-likelihood beside the truth's, in standard errors of the difference.
behind <- function(model, unseen, truth = plan_boltzmann(setting, 1, resolution = 10)) {
  apart <- log_lik(model, unseen) - log_lik(truth, unseen)
  mean(apart) / (stats::sd(apart) / sqrt(length(apart)))
}

test_that("it recovers what made the visits", {
  unseen <- po_irl_visits(150, seed = 2)
  learned <- quick_po_irl(visits, states = 2, discount = 0.9, iter = 200)
  for (model in list(known, learned, together)) {
    expect_gt(behind(model, unseen), -2)
    expect_gt(sum(log_lik(model, unseen)), sum(log_lik(fit_baseline(visits), unseen)) + 10)
  }
  truth <- drop(shaping_map(setting$transition, setting$discount) %*% as.vector(setting$utility))
  table <- tidy(known)[1:2, ]
  expect_true(all(abs(table$estimate - truth) < 3 * table$std.error))
})

test_that("it does so time and again", {
  # By the plain reading, within 2 standard errors of the truth's: 120 trajectories to learn from, 200 held out.
  truth <- plan_boltzmann(setting, 1, resolution = 10)
  for (seed in 1:3) {
    learned_from <- po_irl_visits(120, seed = 10 + seed)
    unseen <- po_irl_visits(200, seed = 50 + seed)
    of_truth <- log_lik(truth, unseen)
    models <- list(quick_po_irl(learned_from, setting, seed = seed),
                   quick_po_irl(learned_from, states = 2, discount = 0.9, seed = seed),
                   if (seed < 3) quick_po_irl(learned_from, states = 2, discount = 0.9, joint = TRUE, seed = seed))
    for (model in Filter(Negate(is.null), models)) expect_lt(beside_truth(log_lik(model, unseen), of_truth), 2)
    expect_gt(beside_truth(log_lik(fit_baseline(learned_from), unseen), of_truth), 4)
  }
})

test_that("draws are repeatable, and leave the session's generator alone", {
  set.seed(9)
  before <- .Random.seed
  one <- quick_po_irl(visits, setting)
  expect_identical(.Random.seed, before)
  expect_identical(quick_po_irl(visits, setting), one)
  expect_false(identical(quick_po_irl(visits, setting, seed = 2)$gains, one$gains))
  small <- po_irl_visits(30, seed = 5)
  both <- lapply(1:2, function(k) quick_po_irl(small, states = 2, joint = TRUE, iter = 10))
  expect_identical(both[[1]], both[[2]])
})

test_that("an interrupt gives back the draws there are", {
  skip_without_signals()
  run <- function(at) {
    said <- 0
    withCallingHandlers(
      suppressWarnings(fit_po_irl(visits, setting, iter = 100, warmup = 40, chains = 2, draws = 5, resolution = 6,
                                  seed = 1, refresh = 10), "ibrc_warning_interrupted"),
      message = function(m) {
        said <<- said + 1
        if (said == at) send_interrupt()
        invokeRestart("muffleMessage")
      }
    )
  }
  part <- run(7)
  expect_true(glance(part)$interrupted)
  kept <- dim(part$gains)[1]
  expect_lt(kept, 60)
  expect_gte(kept, 20)
  expect_output(print(part), "interrupted")
  whole <- fit_po_irl(visits, setting, iter = 100, warmup = 40, chains = 2, draws = 5, resolution = 6, seed = 1)
  expect_identical(part$gains, whole$gains[seq_len(kept), , , drop = FALSE])
  expect_error(run(1), class = "ibrc_error_interrupted")
})

test_that("it has the face of a decision model", {
  for (model in list(known, together)) {
    law <- as.matrix(predict(model, visits))
    expect_identical(colnames(law), setting$actions)
    expect_close(unname(rowSums(law)), rep(1, nrow(visits)), 1e-12)
    each <- log(law[cbind(seq_len(nrow(visits)), as.integer(visits$action))])
    expect_close(unname(log_lik(model, visits)), unname(vapply(split(each, visits$id), sum, 0)), 1e-12)
    cut <- visits[visits$time < 2, ]
    expect_close(as.matrix(predict(model, cut)), law[visits$time < 2, ], 1e-12)
    gaps <- visits
    gaps$observation[c(2, 5)] <- NA
    expect_false(anyNA(predict(model, gaps)))
    drawn <- simulate(model, 15, seed = 1, horizon = 4)
    expect_identical(drawn, simulate(model, 15, seed = 1, horizon = 4))
    expect_true(all(table(drawn$id) == 4))
    expect_true(all(is.finite(log_lik(model, drawn))))
    expect_s3_class(posterior::as_draws_df(model), "draws_df")
    expect_false(keeps_word(quick_po_irl(with_secret_names(visits[visits$id < 20, ]), setting, iter = 10), "secret"))
  }
})

test_that("predictions are means over draws, and behaviour is that of draws", {
  model <- quick_po_irl(visits, setting, iter = 12, draws = 3)
  plans <- lapply(chosen_draws(model), function(i) {
    gains <- matrix(model$gains, ncol = 2)[i, ]
    wanting <- setting
    wanting$utility[] <- cbind(0, gains)
    plan_boltzmann(wanting, 1, resolution = 6)
  })
  mean_law <- Reduce(`+`, lapply(plans, function(plan) as.matrix(predict(plan, visits)))) / 3
  expect_close(as.matrix(predict(model, visits)), mean_law, 1e-8)
  # In a world of its own every test is followed by the same result.
  world <- setting
  world$emission[, c("neg", "pos"), "test"] <- cbind(c(0, 0), c(1, 1))
  drawn <- simulate(model, 40, seed = 3, environment = world)
  expect_true(all(drawn$observation[drawn$action == "test"] == "pos"))
  shares <- tapply(simulate(model, 400, seed = 4, horizon = 1)$action == "test", rep(1, 400), mean)
  first <- predict(model, visits)$test[1]
  expect_lt(abs(shares - first), 4 * sqrt(first * (1 - first) / 400))
})

test_that("dynamics may be given, and what they rule out counts as missing", {
  rare <- visits
  rare$observation[which(rare$action == "wait")[1]] <- "pos"
  iohmm <- fit_iohmm(visits, 2, starts = 2, prior = 0.5, seed = 1, actions = setting$actions,
                     observations = setting$observations)
  model <- quick_po_irl(visits, dynamics = iohmm)
  expect_identical(model$source, "learned")
  missing <- rare
  missing$observation[which(rare$action == "wait")[1]] <- NA
  expect_identical(predict(model, rare), predict(model, missing))
  expect_error(quick_po_irl(rare, dynamics = iohmm), class = "ibrc_error_data")
  bare <- iohmm
  bare["coded"] <- list(NULL)
  # The data are the visits that are given.
  expect_identical(quick_po_irl(visits, dynamics = bare, joint = TRUE, iter = 10)$gains,
                   quick_po_irl(visits, dynamics = iohmm, joint = TRUE, iter = 10)$gains)
  expect_error(quick_po_irl(visits, diag_setting(), dynamics = iohmm), class = "ibrc_error_input")
  expect_error(refuse_many_terms(201), class = "ibrc_error_input")
  expect_error(quick_po_irl(visits, setting, warmup = 59), class = "ibrc_error_input")
})

test_that("joint dynamics are inferred from the visits that are given, not from those of `dynamics`", {
  few <- visits[visits$id <= 10, ]
  learn <- function(from) {
    fit_iohmm(from, 2, starts = 2, prior = 0.5, seed = 1, zeros = "none", actions = setting$actions,
              observations = setting$observations)
  }
  task_of <- function(dynamics) {
    problem <- po_irl_setting(NULL, dynamics, 0.9)
    po_irl_task(problem, learned_visits(few, problem), dynamics, TRUE, 5, 6)
  }
  expect_identical(task_of(learn(visits))$tree, task_of(learn(few))$tree)
  expect_identical(sum(task_of(learn(visits))$tree$ends), 10)
  # What its dynamics rule out is said, also at the end of a trajectory.
  strict <- fit_iohmm(visits, 2, starts = 2, prior = 0.5, seed = 1, actions = setting$actions,
                      observations = setting$observations)
  last <- which(!duplicated(few$id, fromLast = TRUE) & few$action == "wait")[1]
  few$observation[last] <- "pos"
  expect_error(quick_po_irl(few, dynamics = strict, joint = TRUE), "cannot happen", class = "ibrc_error_data")
})

test_that("visits in which nothing was seen, and a single state, are refused in words", {
  blind <- visits
  blind$observation[] <- NA
  for (fit in list(fit_po_irl, fit_iohmm_bc, function(v) fit_iohmm(v, 2))) {
    expect_error(fit(blind), "nothing was seen in any visit", class = "ibrc_error_data")
  }
  expect_error(fit_po_irl(visits, states = 1), "from 2 to 10", class = "ibrc_error_input")
})

test_that("groups may start differently, and some actions may not count", {
  grouped <- as.data.frame(visits)
  grouped$ward <- ifelse(grouped$id %% 2 == 0, "east", "west")
  grouped$free <- grouped$time > 0
  grouped <- trajectories(grouped, covariates = "ward", scored = "free")
  iohmm <- fit_iohmm(grouped, 2, starts = 2, prior = 0.5, seed = 1, start_by = "ward")
  coded <- learned_visits(grouped, as_setting(iohmm, matrix(0, 2, 2), 0.9))
  expect_identical(seen_tree(coded, iohmm), dynamics_tree(iohmm))
  for (joint in c(FALSE, TRUE)) {
    model <- quick_po_irl(grouped, dynamics = iohmm, joint = joint, iter = 10)
    expect_close(rowSums(predict(model, grouped)), rep(1, nrow(grouped)), 1e-12)
    expect_identical(glance(model)$scored, sum(grouped$free))
    expect_true("ward" %in% names(simulate(model, 4, seed = 1, horizon = 2)))
  }
})

test_that("it is a method of cross_validate()", {
  learns <- function(visits) quick_po_irl(visits, states = 2, discount = 0.9)
  # Chains as short as these are of no use, and it says so.
  expect_warning(crossed <- cross_validate(visits, list("frequencies", po_irl = learns), folds = 2),
                 "po_irl: verdict \"do not use\"", class = "ibrc_warning_methods")
  expect_true(all(is.na(glance(crossed)$failure)))
  scores <- accuracy(crossed, resamples = 0)
  expect_s3_class(scores, "data.frame")
  law <- tidy(crossed)
  score <- function(method) {
    mine <- law[law$method == method, ]
    mean(log(as.matrix(mine[setting$actions])[cbind(seq_len(nrow(mine)), as.integer(mine$action))]))
  }
  expect_gt(score("po_irl"), score("frequencies"))
})
