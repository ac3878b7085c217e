# People who differ: visits of clinicians in two arms, and small shapes of populations without any visits.

people_prior <- function() ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1))

# Eight clinicians, four in each arm, whose optimism is about 0.5; `age` is the same within a trajectory.
people_visits <- function(per = 12, n = 8, sd = 0.4, effect = 0, seed = 1) {
  cached(paste("people_visits", per, n, sd, effect, seed), {
    setting <- diag_setting()
    arm <- rep(c("a", "b"), length.out = n)
    optimism <- with_seed(seed, 0.5 + effect * (arm == "b") + sd * stats::rnorm(n))
    pieces <- lapply(seq_len(n), function(i) {
      plan <- plan_agent(setting, bounded_agent(alpha = 0.5, optimism = optimism[i]), diag_models(), 20)
      out <- as.data.frame(simulate(plan, per, seed = 100 * seed + i))
      out$age <- c(50, 60, 70)[1 + out$id %% 3]
      out$id <- paste0("planted-identity-", i, "-", out$id)
      cbind(out, arm = arm[i], clinician = paste0("c", i), site = c("north", "south", "east")[1 + i %% 3])
    })
    visits <- trajectories(do.call(rbind, pieces), covariates = c("arm", "clinician", "site", "age"), setting = setting)
    attr(visits, "optimism") <- optimism
    visits
  })
}

# Visits with other columns: `change` gets and returns a data frame.
altered <- function(change) {
  data <- change(as.data.frame(people_visits()))
  trajectories(data, covariates = setdiff(names(data), c("id", "time", "action", "observation")))
}

people_run <- function(effects = list(optimism ~ arm + (1 | clinician)), ..., visits = people_visits(),
                       iter = 60, warmup = 30, prior = people_prior(), resolution = 5, control = list()) {
  # Some have few visits.
  suppressWarnings(ibrc(visits, diag_setting(), diag_models(), prior, effects = effects, chains = 2, iter = iter,
                        warmup = warmup, seed = 1, resolution = resolution, control = c(list(check = FALSE), control),
                        ...))
}

# Terms by two factors, tied by one, with a column that levels of the first share and one that they do not.
tied_effects <- function() {
  list(optimism ~ arm + age + (1 | p | clinician) + (1 | site), alpha ~ age + (1 | p | clinician))
}

# An inverse problem as ibrc() has it before its chains begin.
people_inverse <- function(effects = tied_effects(), prior = people_prior(), visits = people_visits(),
                               stated = list()) {
  inverse <- read_inverse(visits, diag_setting(), diag_models(), prior, list(), NULL, FALSE)
  design <- read_population(effects, visits, inverse, stated, NULL)
  inverse <- build_inverse(group_by_cell(inverse, design), 10, ibrc_control(), 1L)
  inverse$effects <- design$design
  inverse
}

design_of <- function(effects, visits = people_visits(), prior = people_prior(), stated = list()) {
  inverse <- read_inverse(visits, diag_setting(), diag_models(), prior, list(), NULL, FALSE)
  new_design(read_effects(effects, prior), visits, inverse$coded, prior, stated)
}

shape_of <- function(effects = tied_effects(), ...) population_shape(design_of(effects, ...)$design, people_prior())

# So many chains somewhere: coefficients, spreads, intercepts.
some_places <- function(shape, n = 3, seed = 4) {
  with_seed(seed, list(b = matrix(stats::rnorm(n * shape$n_coefficients, 0, 0.5), n),
                       s = matrix(stats::rnorm(n * (shape$n_spreads + shape$n_ties), -0.5, 0.3), n),
                       u = matrix(stats::rnorm(n * shape$n_intercepts, 0, 0.4), n)))
}

# Stops a run at a step, as Ctrl-C would.
stop_population_at <- function(step, code) {
  real <- population_step
  local_replacement("population_step", function(chain, evaluator) {
    if (chain$state$iteration == step) {
      stop(structure(class = c("interrupt", "condition"), list(message = "", call = NULL)))
    }
    real(chain, evaluator)
  })
  tryCatch(suppressMessages(code), ibrc_error_interrupted = function(e) NULL)
}
