# Two tests of different accuracy, and a task with other states and actions, met by one decision maker.

problem_settings <- function() {
  list(easy = diag_setting(accuracy = 0.75), hard = diag_setting(accuracy = 0.6), tiger = tiger_setting())
}

spread_models <- function(setting) perturb_models(setting, by = 0.1)

problem_prior <- function() ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1))

# `n` trajectories of each problem; `person`: whose they are, of whom the first never meets the last problem.
problem_table <- function(names = c("easy", "hard"), n = 30) {
  cached(paste(c("problem_table", names, n), collapse = " "), {
    pieces <- lapply(seq_along(names), function(k) {
      setting <- problem_settings()[[names[k]]]
      plan <- plan_agent(setting, bounded_agent(alpha = 0.5, optimism = 0.5), spread_models(setting), 20)
      out <- as.data.frame(simulate(plan, n, seed = k, horizon = 10))
      person <- c("a", "b", "c")[1 + out$id %% 3]
      if (k == length(names)) person[person == "a"] <- "b"
      cbind(transform(out, id = paste0("planted-identity-", names[k], id)), test = names[k], person = person)
    })
    do.call(rbind, pieces)
  })
}

problem_visits <- function(names = c("easy", "hard"), n = 30, only = names) {
  table <- problem_table(names, n)
  trajectories(table[table$test %in% only, ], covariates = c("test", "person"))
}

problem_run <- function(visits = problem_visits(), setting = problem_settings()[1:2], models = spread_models, ...,
                        prior = problem_prior(), problem = "test", iter = 200, resolution = 20,
                        control = list(check = FALSE)) {
  suppressWarnings(ibrc(visits, setting, models, prior, ..., chains = 2, iter = iter, seed = 1, problem = problem,
                        resolution = resolution, control = control))
}

problem_fit <- function() cached("problem_fit", problem_run())

problem_mode <- function() {
  cached("problem_mode", ibrc_mode(problem_visits(), problem_settings()[1:2], spread_models, problem_prior(),
                                   problem = "test", starts = 1, resolution = 10, conf.level = NULL, seed = 1))
}
