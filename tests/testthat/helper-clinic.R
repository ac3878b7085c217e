# Three states that are seen, two actions: a small clinic that every class of decision models can be run on.
small_clinic <- function(unit = 1, start = c(1, 0, 0)) {
  decision_setting(
    c("well", "ill", "severe"), c("wait", "treat"), c("well", "ill", "severe"),
    list(wait = rbind(c(0.85, 0.12, 0.03), c(0.1, 0.6, 0.3), c(0, 0.1, 0.9)),
         treat = rbind(c(0.9, 0.08, 0.02), c(0.5, 0.4, 0.1), c(0.1, 0.4, 0.5))),
    "identity", unit * cbind(wait = c(0, -2, -6), treat = c(-1.5, -3, -7)), discount = 0.9, start = start
  )
}

small_visits <- function(n = 60, unit = 1, seed = 1, horizon = 6) {
  simulate(plan_kl(small_clinic(unit), alpha = unit), n, seed = seed, horizon = horizon)
}
