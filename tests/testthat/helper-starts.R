# Two groups that start differently and share all else.

starts_setting <- function(start = rbind(old = c(0.2, 0.8), young = c(0.7, 0.3)), start_by = "age") {
  parts <- unclass(diag_setting())
  decision_setting(parts$states, parts$actions, parts$observations, parts$transition, parts$emission, parts$utility,
                   discount = parts$discount, start = start, stop_actions = parts$stop_actions, start_by = start_by)
}

# One setting per group, each with the start of its own.
apart_settings <- function() {
  lapply(list(old = c(0.2, 0.8), young = c(0.7, 0.3)), function(start) {
    setting <- diag_setting()
    setting$start <- stats::setNames(start, setting$states)
    setting
  })
}

# Identical agents, patients of two ages and two sexes.
starts_visits <- function(n = 60, seed = 5, agent = bounded_agent(0.5, 1.25)) {
  plan <- plan_agent(starts_setting(), agent, diag_models(), resolution = 20)
  data <- as.data.frame(simulate(plan, n, seed = seed))
  data$sex <- c("f", "m")[data$id %% 2 + 1]
  trajectories(data, covariates = c("age", "sex"), setting = starts_setting())
}
