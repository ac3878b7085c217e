# A small clinic in which the state is seen, and what its planners and inverse planners take.

seen_clinic <- function(discount = 0.8) {
  decision_setting(
    states = c("well", "ill", "worse"), actions = c("wait", "treat"), observations = c("well", "ill", "worse"),
    transition = list(wait = rbind(c(0.8, 0.15, 0.05), c(0.1, 0.6, 0.3), c(0, 0.1, 0.9)),
                      treat = rbind(c(0.9, 0.1, 0), c(0.6, 0.3, 0.1), c(0.2, 0.4, 0.4))),
    emission = "identity", utility = cbind(wait = c(0, -2, -5), treat = c(-1, -2, -4)), discount = discount,
    start = c(1, 0, 0)
  )
}

# What each planner needs beside the setting.
planner_arguments <- function(planner) {
  switch(planner,
    rule = list(rule = rbind(c(0.9, 0.1), c(0.4, 0.6), c(0.2, 0.8))),
    q_learning = list(steps = 2000, seed = 1), soft_q_learning = list(alpha = 1, steps = 2000, seed = 1),
    differentiable = list(alpha = 1, steps = 20), kl = list(alpha = 1),
    iohmm_rule = list(centres = rbind(wait = c(1, 0, 0), treat = c(0, 0.5, 0.5)), sharpness = 2),
    history_q_learning = list(steps = 2000, seed = 1), agent = list(agent = bounded_agent(alpha = 1)),
    boltzmann = list(temperature = 1),
    custom = list(objective = function(plan) value(plan, c(1, 0, 0)), starts = 1, seed = 1),
    list()
  )
}
