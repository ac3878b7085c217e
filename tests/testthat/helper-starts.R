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

# Twins of laws whose first state depends on a group: `start` is [state, group], `group` of each path from 1.
twin_start <- function(laws, group) {
  laws$start <- laws$start[, group]
  laws
}

twin_starts_expect <- function(laws, paths, group) {
  counts <- lapply(laws, function(law) law * 0)
  log_lik <- 0
  for (i in seq_along(paths)) {
    one <- twin_iohmm_expect(twin_start(laws, group[i]), paths[i])
    log_lik <- log_lik + one$log_lik
    counts$start[, group[i]] <- counts$start[, group[i]] + one$counts$start
    for (law in c("transition", "emission")) counts[[law]] <- counts[[law]] + one$counts[[law]]
  }
  list(counts = counts, log_lik = log_lik)
}

# Paths with a column that tells their group.
paths_in_groups <- function(paths, group, ...) {
  data <- as.data.frame(paths_to_visits(paths, ...))
  data$age <- c("old", "young", NA)[group[data$id]]
  trajectories(data, covariates = "age")
}

coded_in_groups <- function(paths, group) {
  words <- c(iohmm_words_of(), list(start = matrix(0, 3, 1, dimnames = list(c("old", "young", "missing"), NULL)),
                                    start_by = "age"))
  code_visits(paths_in_groups(paths, group), words)
}
