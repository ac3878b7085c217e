# A clinic of two states whose dynamics are learned: waiting shows how a patient looks, a test says more and costs 1.
clinic_of <- function(dynamics, bonus = 2) {
  decision_setting(
    dynamics$states, dynamics$actions, dynamics$observations, dynamics$transition, dynamics$emission,
    utility = cbind(wait = c(0, 0), test = c(-1, -1)), belief_utility = certainty_bonus(bonus, 0.8), discount = 0.9,
    start = dynamics$start, start_by = dynamics$start_by
  )
}

clinic_truth <- function() {
  list(states = c("well", "ill"), actions = c("wait", "test"), observations = c("calm", "bad", "neg", "pos"),
       transition = array(rep(c(0.9, 0.05, 0.1, 0.95), 2), c(2, 2, 2)),
       emission = array(c(0.8, 0.3, 0.2, 0.7, 0, 0, 0, 0, 0, 0, 0, 0, 0.85, 0.2, 0.15, 0.8), c(2, 4, 2)),
       start = c(0.6, 0.4))
}

clinic_step <- function(setting) perturb_models(setting, by = 0.1)

ward_visits <- function() {
  cached("ward_visits", {
    setting <- clinic_of(clinic_truth())
    plan <- plan_agent(setting, bounded_agent(0.5, optimism = 0.6), clinic_step(setting), 10)
    data <- as.data.frame(simulate(plan, 60, seed = 1, horizon = 5))
    data$ward <- ifelse(data$id %% 2 == 0, "east", "west")
    trajectories(data, covariates = "ward", setting = setting)
  })
}

ward_iohmm <- function(...) {
  cached(paste("ward_iohmm", toString(list(...))), {
    fit_iohmm(ward_visits(), 2, starts = 3, sort_by = c(calm = 0, bad = 1, neg = 0, pos = 1), names = c("well", "ill"),
              actions = c("wait", "test"), observations = c("calm", "bad", "neg", "pos"), seed = 1, ...)
  })
}

ward_prior <- function() ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1))

ward_inverse <- function(by = "ward", dynamics = ward_iohmm(transitions = "shared"), setting = clinic_of, ...) {
  inverse <- read_inverse(ward_visits(), setting, clinic_step, ward_prior(), list(eta = 0), by, FALSE, dynamics, TRUE)
  build_inverse(group_inverse(inverse, ward_visits(), by), 6, ibrc_control(1e-11), 1L)
}

ward_fit <- function() {
  cached("ward_fit", suppressWarnings(ibrc(
    ward_visits(), clinic_of, clinic_step, ward_prior(), list(eta = 0), by = "ward", chains = 2, iter = 100,
    warmup = 40, seed = 1, resolution = 6, dynamics = ward_iohmm(transitions = "shared")
  )))
}

# The same under three draws of the dynamics that know nothing of the actions.
ward_cut <- function() {
  cached("ward_cut", {
    local_replacement("cut_draws", 3L, environment())
    suppressWarnings(ibrc(
      ward_visits(), clinic_of, clinic_step, ward_prior(), list(eta = 0), by = "ward", chains = 2, iter = 60, seed = 1,
      resolution = 6, dynamics = ward_iohmm(transitions = "shared"), uncertainty = "cut"
    ))
  })
}

# Where chains begin is not the point of runs that are held against each other: the climb before them is a few steps.
short_climb <- function(frame = parent.frame()) {
  real <- get("climb_jointly", asNamespace("ibrc"))
  local_replacement("climb_jointly", function(evaluator, theta, each_step = NULL, ...) {
    real(evaluator, theta, each_step, rounds = 3)
  }, frame)
}

# Either with its checks.
checked_ward <- function(name) cached(paste(name, "checked"), add_verdict(get(name)()))

# The plan at one draw, from what a user sees: agent and laws by their names, put where they belong.
plan_of_draw <- function(fit, group, draw, resolution = 6) {
  drawn <- unclass(posterior::as_draws_matrix(fit))[draw, ]
  laws <- clinic_truth()
  for (from in 1:2) {
    state <- laws$states[from]
    laws$start[from] <- drawn[[paste0("start[", state, "]")]]
    for (to in 1:2) laws$transition[from, to, ] <- drawn[[paste0("transition[", state, ",", laws$states[to], "]")]]
    for (action in 1:2) for (seen in 2 * action - 1:0) {
      name <- paste(state, laws$observations[seen], laws$actions[action], sep = ",")
      laws$emission[from, seen, action] <- drawn[[paste0("emission[", name, "]")]]
    }
  }
  setting <- clinic_of(laws)
  agent <- bounded_agent(drawn[[paste0("alpha[", group, "]")]], optimism = drawn[[paste0("optimism[", group, "]")]])
  plan_agent(setting, agent, clinic_step(setting), resolution)
}

ward_part <- function(ward, ids = NULL) {
  data <- as.data.frame(ward_visits())
  keep <- data$ward %in% ward & (is.null(ids) | data$id %in% ids)
  trajectories(data[keep, ], covariates = "ward", setting = clinic_of(clinic_truth()))
}

# The joint log-likelihood by hand: laws, a setting and models made of them, one plan per group. `theta`: laws, then the
# terms of either group.
joint_by_hand <- function(evaluator, histories, theta) {
  codec <- evaluator$joint$codec
  n_laws <- length(codec$prior)
  laws <- dynamics_at(codec, vectors_of(codec, matrix(stats::plogis(theta[seq_len(n_laws)]), 1))[1, ])
  setting <- clinic_of(laws)
  seen <- .Call(ffi_iohmm_expect, evaluator$joint$tree, iohmm_laws(laws))$log_lik
  done <- vapply(1:2, function(g) {
    own <- theta[n_laws + 2 * (g - 1) + 1:2]
    agent <- bounded_agent(exp(own[1]), optimism = own[2], eta = 0)
    plan <- plan_agent(setting, agent, clinic_step(setting), 6, 1e-11)
    read_histories(plan, histories[[g]], FALSE)$total
  }, 0)
  seen + sum(done)
}

# The same visits by doctor, of whom there are three in each ward, and a population of them.
doctor_visits <- function() {
  cached("doctor_visits", {
    data <- as.data.frame(ward_visits())
    data$doctor <- paste0("d", data$id %% 6)
    trajectories(data, covariates = c("ward", "doctor"), setting = clinic_of(clinic_truth()))
  })
}

doctor_effects <- function() list(optimism ~ ward + (1 | doctor))

# A setting whose laws are replaced, which is quicker than a function of them.
doctor_setting <- function() clinic_of(ward_iohmm(transitions = "shared"))

doctor_inverse <- function(effects = doctor_effects(), setting = doctor_setting(), models = clinic_step,
                           prior = ward_prior()) {
  inverse <- read_inverse(doctor_visits(), setting, models, prior, list(eta = 0), NULL, FALSE,
                          ward_iohmm(transitions = "shared"), TRUE)
  design <- read_population(effects, doctor_visits(), inverse, list(), NULL)
  inverse <- build_inverse(group_by_cell(inverse, design), 5, ibrc_control(1e-11), 1L)
  inverse$effects <- design$design
  inverse
}

# The climb before a run is always the same, and made once.
doctor_run <- function(..., effects = doctor_effects(), iter = 60, warmup = 30, prior = ward_prior(), chains = 2,
                       setting = doctor_setting(), models = clinic_step, sample_prior = "no",
                       control = list(check = FALSE)) {
  real <- get("joint_top", asNamespace("ibrc"))
  key <- paste("joint_top", is.function(setting), length(prior), sample_prior)
  local_replacement("joint_top", function(...) cached(key, real(...)))
  suppressWarnings(ibrc(doctor_visits(), setting, models, prior, list(eta = 0), chains = chains, iter = iter,
                        warmup = warmup, seed = 1, resolution = 5, dynamics = ward_iohmm(transitions = "shared"),
                        effects = effects, control = control, sample_prior = sample_prior, ...))
}

doctor_fit <- function() cached("doctor_fit", doctor_run())

doctor_cut <- function() {
  cached("doctor_cut", {
    local_replacement("cut_draws", 3L, environment())
    doctor_run(uncertainty = "cut", iter = 40, warmup = 20)
  })
}

# The log density of doctors and laws at one place, in plain R: no codec, no cells, no tree, no kernel.
doctor_by_hand <- function(iohmm, b, s, u, d) {
  p <- stats::plogis(d)
  laws <- clinic_truth()
  laws$start <- c(p[1], 1 - p[1])
  laws$transition[] <- rep(c(p[2], p[3], 1 - p[2], 1 - p[3]), 2)
  laws$emission[] <- 0
  for (action in 1:2) {
    first <- p[4:5 + 2 * (action - 1)]
    laws$emission[, 2 * action - 1, action] <- first
    laws$emission[, 2 * action, action] <- 1 - first
  }
  count <- iohmm$prior
  stays <- 1 + count$transition + count$stay
  shapes <- rbind(rep(1 + count$start, 2), c(stays, 1 + count$transition), c(1 + count$transition, stays),
                  1 + count$emission[1, 1:2], 1 + count$emission[1, 1:2], 1 + count$emission[2, 3:4],
                  1 + count$emission[2, 3:4])
  log_prior <- sum(stats::dbeta(p, shapes[, 1], shapes[, 2], log = TRUE) + log(p) + log1p(-p)) +
    sum(stats::dnorm(b, log = TRUE)) + log(2) + stats::dnorm(exp(s), 0, 0.5, log = TRUE) + s +
    sum(stats::dnorm(u, 0, exp(s), log = TRUE))
  data <- as.data.frame(doctor_visits())
  rows <- data.frame(trajectory = data$id, action = match(data$action, laws$actions),
                     observation = match(data$observation, laws$observations))
  seen <- vapply(split(rows, rows$trajectory), function(path) {
    # What nobody saw at the end says nothing.
    if (is.na(path$observation[nrow(path)])) path <- path[-nrow(path), ]
    twin_iohmm_path(laws, path)$log_lik
  }, 0)
  setting <- clinic_of(laws)
  models <- clinic_step(setting)
  tables <- twin_tables(models$models, 5)
  reward <- twin_reward(setting, tables$nodes)
  doctors <- unique(data$doctor)
  done <- vapply(doctors, function(doctor) {
    own <- data$doctor == doctor
    optimism <- b[2] + b[3] * (data$ward[own][1] == "west") + u[match(doctor, sort(doctors))]
    agent <- list(alpha = exp(b[1]), beta = 1 / optimism, eta = 0)
    solved <- twin_solve(tables, reward, agent, c(0.5, 0.5), models$weights, setting$discount, 1e-12)
    at <- function(belief) as.vector(twin_interpolate(rbind(belief), 2, 5))
    policy <- function(belief) twin_soft_weights(at(belief) %*% solved$Q, c(0.5, 0.5), agent$alpha)
    sigma <- function(belief, action) {
      twin_soft_weights(at(belief) %*% solved$K[, action, ], models$weights, agent$beta)
    }
    sum(twin_log_likelihood(rows[own, ], models$models, policy, sigma, laws$start))
  }, 0)
  log_prior + sum(seen) + sum(done)
}

# A run of `go()` is the same from copies of its file at these steps, the first of them on two threads. Returns it.
expect_resumed <- function(go, steps) {
  path <- withr::local_tempfile(fileext = ".ibrc")
  copies <- paste0(path, steps)
  withr::defer(unlink(copies))
  # The file that is there when a step is shown is that of the step that was shown before.
  whole <- withCallingHandlers(go(file = path, refresh = 4), message = function(m) {
    now <- startsWith(conditionMessage(m), paste("step", steps + 4, ""))
    if (any(now)) file.copy(path, copies[now])
    invokeRestart("muffleMessage")
  })
  for (i in seq_along(steps)) {
    again <- suppressWarnings(resume(copies[i], refresh = 0, check = FALSE, cores = 1 + (i == 1), models = clinic_step))
    for (part in c("draws", "population", "dynamics", "log_posterior", "acceptance", "effects", "start", "seed")) {
      testthat::expect_identical(again[[part]], whole[[part]], label = paste(steps[i], part))
    }
  }
  whole
}
