# Random settings to test properties over, and small conveniences.

with_seed <- function(seed, code) {
  withr::with_seed(seed, code)
}

random_rows <- function(n, k, zeros = 0) {
  p <- matrix(stats::rexp(n * k), n, k)
  if (zeros > 0) {
    p[matrix(stats::runif(n * k) < zeros, n, k)] <- 0
    p[cbind(seq_len(n), sample(k, n, replace = TRUE))] <- 1
  }
  p / rowSums(p)
}

random_law <- function(n, k, n_actions, zeros = 0) {
  array(replicate(n_actions, random_rows(n, k, zeros)), c(n, k, n_actions))
}

random_setting <- function(n_states, n_actions = 3, n_obs = 4, zeros = 0.2, discount = 0.9) {
  decision_setting(
    states = paste0("s", seq_len(n_states)),
    actions = paste0("u", seq_len(n_actions)),
    observations = paste0("x", seq_len(n_obs)),
    transition = random_law(n_states, n_states, n_actions, zeros),
    emission = random_law(n_states, n_obs, n_actions, zeros),
    utility = matrix(stats::rnorm(n_states * n_actions, sd = 3), n_states),
    discount = discount,
    start = as.vector(random_rows(1, n_states))
  )
}

# Every model can see what the setting can: the first is the setting's own.
random_models <- function(setting, n_models = 3) {
  size <- dim(setting$emission)
  models <- lapply(seq_len(n_models), function(i) {
    if (i == 1) return(setting[c("transition", "emission")])
    list(transition = random_law(size[1], size[1], size[3]), emission = random_law(size[1], size[2], size[3]))
  })
  model_prior(models, as.vector(random_rows(1, n_models)))
}

random_beliefs <- function(n, n_states) {
  beliefs <- random_rows(n, n_states)
  # Faces, edges and vertices too.
  some <- seq_len(n) %% 3 == 0
  beliefs[some, sample(n_states, 1)] <- 0
  beliefs[n, ] <- diag(n_states)[1, ]
  beliefs / rowSums(beliefs)
}

agents_to_try <- list(
  flexible = bounded_agent(alpha = 0.5, beta = 2, eta = 0.1),
  pessimist = bounded_agent(alpha = 0.3, beta = -0.7, eta = -0.2),
  contrary = bounded_agent(alpha = -0.5, beta = 1, eta = 0),
  near_neutral = bounded_agent(alpha = 1, beta = 1e7, eta = 1e-3),
  hard_best = bounded_agent(flexibility = Inf, optimism = Inf, adaptivity = Inf),
  hard_worst = bounded_agent(flexibility = Inf, optimism = -Inf, adaptivity = 3),
  hard_contrary = bounded_agent(flexibility = -Inf, optimism = 0, adaptivity = -2),
  habit = bounded_agent(flexibility = 0, optimism = 0.5, adaptivity = 5)
)

# The twin's view of a plan's problem, solved or at a given value.
twin_of <- function(plan) {
  list(
    tables = twin_tables(plan$models$models, plan$resolution, plan$surprise,
                         if (is.null(plan$agent$belief_prior)) function(z) 1
                         else function(z) plan$agent$belief_prior(matrix(z, 1))),
    reward = node_beliefs(plan$space) %*% plan$setting$utility,
    agent = plan$agent,
    action_prior = unname(plan$problem$action_prior),
    weights = unname(plan$models$weights),
    discount = plan$setting$discount,
    stops = match(plan$setting$stop_actions, plan$setting$actions)
  )
}

twin_backup_of <- function(twin, V) {
  twin_backup(twin$tables, twin$reward, V, twin$agent, twin$action_prior, twin$weights, twin$discount)
}

# Kernel arrays [model, action, node] as the twin's [node, action, model].
turned <- function(x) aperm(x, rev(seq_along(dim(x))))

expect_close <- function(object, expected, tolerance = 1e-10) {
  object <- unname(as.vector(object))
  expected <- unname(as.vector(expected))
  testthat::expect_equal(length(object), length(expected))
  testthat::expect_false(anyNA(object))
  testthat::expect_lte(max(abs(object - expected)), tolerance)
}

reference_file <- function(name) testthat::test_path("reference", name)

# A run that meets an interrupt after so many steps.
run_interrupted <- function(visits, setting, models, prior, after) {
  plan <- plan_agent(setting, bounded_agent(alpha = 1), models)
  evaluator <- new_evaluator(plan, list(build_histories(code_visits(visits, setting), setting)), c(1L, 1L), prior,
                             list(), 1e-8, 1L)
  streams <- streams_from_seed(1, 3)
  first <- start_chains(evaluator, NULL, 2, plan$space$n_nodes, streams[[3]])
  state <- sampler_start(first$theta, function(theta) first$log_density, streams[1:2], c(1L, 1L), 100, 300)
  run_chains(list(state = state, value = first$value), evaluator, check_run(2, 300, 100, 1, 1, 0),
             each_step = function(chain) {
               if (chain$state$iteration == after) {
                 stop(structure(class = c("interrupt", "condition"), list(message = "", call = NULL)))
               }
             })
}

# Puts another function in a function's place in the package, until the caller ends.
local_replacement <- function(name, with, frame = parent.frame()) {
  package <- asNamespace("ibrc")
  real <- get(name, package)
  put <- function(f) {
    unlockBinding(name, package)
    assign(name, f, package)
    lockBinding(name, package)
  }
  put(with)
  withr::defer(put(real), envir = frame)
}
