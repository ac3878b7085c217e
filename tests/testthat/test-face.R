# One face for decision models: every class that predicts behaviour is held to the same promises, on visits that it
# was made from and on others, with forced, held out and missing actions among them.

setting <- diag_setting()
models <- diag_models()
prior <- ibrc_prior(alpha ~ lognormal(0, 1.5), optimism ~ normal(0, 1))
plan <- plan_agent(setting, bounded_agent(alpha = 0.5, beta = 1.25), models, resolution = 20)

# Two clinics; by number of the visit, some actions forced, and some not known.
clinic_data <- function(n, seed) {
  north <- as.data.frame(simulate(plan, n, seed = seed))
  south <- as.data.frame(simulate(update(plan, bounded_agent(alpha = 4)), n, seed = seed + 1))
  south$id <- south$id + n
  out <- rbind(cbind(north, clinic = "north"), cbind(south, clinic = "south"))
  out$free <- (out$id + out$time) %% 5 != 0
  # Rows of patients interleaved.
  out[order(out$time, out$id), ]
}
read_clinics <- function(data, scored = "free") trajectories(data, covariates = "clinic", scored = scored)
seen <- read_clinics(clinic_data(40, 1))
unseen <- read_clinics(clinic_data(25, 3))
unknown <- local({
  data <- clinic_data(25, 5)
  last <- !duplicated(data$id, fromLast = TRUE)
  data$action[last & data$id %% 3 == 0] <- NA
  data$free <- data$free & !is.na(data$action)
  read_clinics(data)
})

fit_clinics <- function(visits, ..., seed = 1) {
  ibrc(visits, setting, models, prior, chains = 2, iter = 60, seed = seed, resolution = 20,
       control = list(check = FALSE), ...)
}
objects <- suppressWarnings(list(
  plan = plan,
  fit = fit_clinics(seen),
  groups = fit_clinics(seen, by = "clinic"),
  mode = ibrc_mode(seen, setting, models, prior, resolution = 20, starts = 1, conf.level = NULL, seed = 1),
  group_modes = ibrc_mode(seen, setting, models, prior, resolution = 20, starts = 1, conf.level = NULL, seed = 1,
                          by = "clinic"),
  iohmm = fit_iohmm(seen, 2, starts = 2, seed = 1),
  noisy = plan_boltzmann(setting, 2, resolution = 20),
  by_history = plan_history_q_learning(setting, memory = 2, steps = 5000, alpha = 2, seed = 1),
  inferred = infer_matching(seen, setting, planner = "boltzmann", terms = "alpha", resolution = 20, starts = 1,
                            seed = 1),
  projection = project_behavior("boltzmann", "matching", seen, setting = setting, terms = "alpha", resolution = 20,
                                starts = 1, replicates = 10, seed = 1),
  wanting = fit_po_irl(seen, setting, chains = 1, iter = 8, draws = 4, resolution = 20, seed = 1),
  rule = fit_baseline(seen, "logistic", last = 2, actions = setting$actions),
  network = fit_rnn(seen, units = c(4, 4), max_steps = 30, actions = setting$actions, seed = 1),
  cloned = fit_iohmm_bc(seen, 2, starts = 2, actions = setting$actions, seed = 1),
  cloned_jointly = fit_iohmm_bc(seen, 2, joint = TRUE, starts = 2, actions = setting$actions, max_iter = 200, seed = 1)
))

# The log probability of the actions that count, of each trajectory in order of first appearance.
score <- function(chances, visits) {
  each <- log(as.matrix(chances)[cbind(seq_len(nrow(visits)), as.integer(visits$action))])
  each[!visits$free] <- 0
  vapply(split(each, factor(visits$id, unique(visits$id))), sum, 0)
}

for (name in names(objects)) {
  object <- objects[[name]]
  is_fit <- inherits(object, "ibrc_fit")

  test_that(paste("probabilities of actions are probabilities, and agree with log_lik():", name), {
    for (visits in list(seen, unseen, unknown)) {
      chances <- predict(object, visits, type = "action")
      expect_s3_class(chances, "data.frame", exact = TRUE)
      expect_identical(dim(chances), c(nrow(visits), 3L))
      expect_identical(names(chances), setting$actions)
      expect_true(all(chances >= 0))
      expect_close(rowSums(chances), rep(1, nrow(visits)), 1e-12)
      who <- as.character(unique(visits$id))
      if (!is_fit) {
        expect_named(log_lik(object, visits), who)
        expect_close(log_lik(object, visits), score(chances, visits), 1e-12)
        next
      }
      each <- predict(object, visits, type = "action", draws = 7, summary = FALSE)
      expect_identical(dim(each), c(7L, nrow(visits), 3L))
      expect_close(apply(each, 1:2, sum), matrix(1, 7, nrow(visits)), 1e-12)
      found <- log_lik(object, visits, draws = 7)
      expect_identical(dimnames(found), list(dimnames(each)[[1]], who))
      expect_close(found, t(apply(each, 1, score, visits)), 1e-12)
      expect_close(as.matrix(predict(object, visits, draws = 7)), apply(each, 2:3, mean), 1e-12)
    }
  })

  test_that(paste("what comes later says nothing of what came before:", name), {
    # A trajectory that is cut, or whose later actions are others, has the same predictions until then.
    whole <- as.matrix(predict(object, unseen, type = "action"))
    early <- unseen$time < 2
    expect_close(as.matrix(predict(object, unseen[early, ], type = "action")), whole[early, ], 1e-12)
    # The action itself is not seen.
    last <- !duplicated(unseen$id, fromLast = TRUE)
    other <- unseen
    other$action[last] <- NA
    other$free[last] <- FALSE
    expect_close(as.matrix(predict(object, other, type = "action")), whole, 1e-12)
  })

  test_that(paste("it behaves, prints and is told in tables:", name), {
    # What is learned without a stated problem knows of no world to behave in.
    if (!inherits(object, "ibrc_learned")) {
      drawn <- if (name == "iohmm") simulate(object, seed = 1) else simulate(object, 5, seed = 1, horizon = 4)
      expect_s3_class(drawn, "ibrc_trajectories")
      expect_true(all(is.finite(log_lik(object, drawn))))
    }
    expect_output(print(object))
    expect_s3_class(tidy(object), "data.frame")
    expect_identical(nrow(glance(object)), 1L)
  })

  test_that(paste("what it cannot answer is refused with a class:", name), {
    expect_error(predict(object, unseen, type = "probability"), class = "ibrc_error_input")
    expect_error(predict(object, as.data.frame(unseen), type = "action"), class = "ibrc_error_input")
    expect_error(log_lik(object, as.data.frame(unseen)), class = "ibrc_error_input")
    expect_error(predict(object, unseen, type = "action", nobody = 1), class = "ibrc_error_input")
    other <- unseen
    other$action <- as.character(other$action)
    other$action[3] <- "wait"
    expect_error(predict(object, other, type = "action"), "row 3", class = "ibrc_error_data")
  })
}

tiger <- tiger_setting()
listener <- plan_agent(tiger, bounded_agent(alpha = 20), resolution = 20)

# The first 70 % of the choices of some listeners are early, the others late.
early_and_late <- function(n, horizon) {
  data <- as.data.frame(simulate(listener, n, seed = 7, horizon = horizon))
  data$early <- data$time < 0.7 * horizon
  data$late <- !data$early
  data
}

test_that("a posterior per person, of the first 70 % of their choices, scores the rest", {
  data <- early_and_late(3, 20)
  train <- trajectories(data, scored = "early")
  prior <- ibrc_prior(alpha ~ lognormal(2, 1))
  people <- suppressWarnings(list(
    fit = ibrc(train, tiger, prior = prior, by = "id", chains = 2, iter = 60, seed = 1, resolution = 20,
               control = list(check = FALSE)),
    mode = ibrc_mode(train, tiger, prior = prior, by = "id", resolution = 20, starts = 1, conf.level = NULL, seed = 1)
  ))
  for (object in people) {
    whole <- log_lik(object, trajectories(data))
    parts <- log_lik(object, train) + log_lik(object, trajectories(data, scored = "late"))
    expect_close(parts, whole, 1e-10)
    expect_true(all(is.finite(whole) & whole < 0))
    # Whose posterior it is has to be known.
    expect_error(predict(object, trajectories(data[data$id > 1, ])), class = "ibrc_error_input")
    # New behaviour says of whom it is.
    drawn <- simulate(object, 2, seed = 1, horizon = 3)
    expect_named(drawn, c(".id", "time", "action", "observation", "id"))
    expect_identical(nrow(predict(object, drawn)), 18L)
  }
})

test_that("trained on the first 70 % of a person's choices, every model scores the rest", {
  data <- early_and_late(30, 10)
  train <- trajectories(data, scored = "early")
  test <- trajectories(data, scored = "late")
  prior <- ibrc_prior(alpha ~ lognormal(2, 1))
  held_out <- list(
    fit = ibrc(train, tiger, prior = prior, chains = 2, iter = 200, seed = 1, resolution = 20,
               control = list(check = FALSE)),
    mode = ibrc_mode(train, tiger, prior = prior, resolution = 20, starts = 2, conf.level = NULL, seed = 1),
    iohmm = fit_iohmm(train, 2, starts = 3, seed = 1)
  )
  # No later action was fitted: with the later rows away the fits are the same.
  cut <- trajectories(data[data$early, ])
  alone <- ibrc(cut, tiger, prior = prior, chains = 2, iter = 200, seed = 1, resolution = 20,
                control = list(check = FALSE))
  expect_identical(alone$draws, held_out$fit$draws)
  expect_identical(held_out$fit$n_scored, 210)
  # What knowing how often each action was taken early on would score.
  shares <- log(prop.table(table(data$action[data$early])))
  by_shares <- sum(shares[as.character(data$action[data$late])])
  at <- cbind(which(data$late), as.integer(data$action)[data$late])
  for (object in held_out) {
    scored <- sum(log(as.matrix(predict(object, test, type = "action"))[at]))
    found <- log_lik(object, test)
    if (is.matrix(found)) {
      each <- predict(object, test, type = "action", draws = nrow(found), summary = FALSE)
      expect_close(apply(each, 1, function(chances) sum(log(chances[at]))), unname(rowSums(found)), 1e-10)
    } else {
      expect_close(sum(found), scored, 1e-12)
    }
    # Better than that. Who made the choices is not beaten by much.
    expect_gt(scored, by_shares)
    expect_lt(scored, sum(log_lik(listener, test)) + 5)
  }
})
