# What the framework's planners cost where the state is seen and states are many: soft value iteration, plan_kl(), to
# 1e-8 in every value. Its cost is told in plain backups (one pass over all states, by the same kernel, timed in the
# same run) and beside value iteration in plain R with the package Matrix. Ratios are of times taken next to each other,
# the median over interleaved rounds.
#
#   Rscript inst/bench/framework.R
#
# 10,000 states with four actions and five possible next states each, anywhere or near by. The mark asked for is under
# 60 plain backups.

library(ibrc)
options(width = 120)
source(system.file("bench", "shared", "clock.R", package = "ibrc"))
rounds <- 5L

n_states <- 10000
alpha <- 0.3
asked <- 60

triplets <- function(n_states, near, n_actions = 4, k = 5) {
  set.seed(1)
  from <- rep(seq_len(n_states), each = k, times = n_actions)
  to <- if (near) pmin(pmax(from + sample(-3:3, length(from), TRUE), 1), n_states) else
    sample(n_states, length(from), TRUE)
  chance <- stats::runif(length(from))
  action <- rep(seq_len(n_actions), each = n_states * k)
  data.frame(from, to, action, probability = chance / stats::ave(chance, from, action, FUN = sum))
}

setting_of <- function(n_states, near = FALSE, discount = 0.95) {
  states <- as.character(seq_len(n_states))
  decision_setting(states, letters[1:4], states, triplets(n_states, near), "identity",
                   matrix(stats::rnorm(4 * n_states), n_states), discount = discount)
}

# Absolute, where plan_kl() takes a share of the largest that values can be.
plan_to <- function(setting, tolerance = 1e-8) {
  plan_kl(setting, alpha, tolerance = tolerance * (1 - setting$discount) / max(abs(setting$utility)))
}

# Soft value iteration as one would write it: all actions in one sparse matrix, until MacQueen's bounds are met.
iterate_with_matrix <- function(law, utility, discount, tolerance = 1e-8) {
  n <- nrow(utility)
  value <- numeric(n)
  repeat {
    action_value <- utility + discount * matrix(as.vector(law %*% value), n)
    best <- do.call(pmax, unname(split(action_value, col(action_value))))
    next_value <- best + alpha * log(rowMeans(exp((action_value - best) / alpha)))
    missing <- range(next_value - value) * discount / (1 - discount)
    value <- next_value
    if (diff(missing) / 2 <= tolerance) return(value + mean(missing))
  }
}

say("== Soft value iteration, 10,000 states: cost to 1e-8 in plain backups (asked: under ", asked, "), and how many ",
    "times\n   as long plain R with Matrix takes\n")
cases <- expand.grid(near = c(FALSE, TRUE), discount = c(0.9, 0.95, 0.99))
show(do.call(rbind, Map(function(near, discount) {
  setting <- setting_of(n_states, near, discount)
  plan <- plan_to(setting)
  law <- do.call(rbind, own("transition_matrices")(setting$transition, TRUE))
  zero <- numeric(n_states)
  time <- race(list(
    solve = function() call("ffi_solve", plan$tables, plan$problem, zero, 1e-8, 10000L, 1L),
    many = function() call("ffi_backup", plan$tables, plan$problem, plan$solution$value, 20L, 1L),
    none = function() call("ffi_backup", plan$tables, plan$problem, plan$solution$value, 0L, 1L)
  ))
  plain <- system.time(by_hand <- iterate_with_matrix(law, setting$utility, discount))[["elapsed"]]
  one <- (time[, "many"] - time[, "none"]) / 20
  cost <- middle(time[, "solve"] / one)
  data.frame(next_states = if (near) "near" else "anywhere", discount = discount, ms = middle(1e3 * time[, "solve"]),
             backups = plan$report$backups, products = plan$report$products, in_plain_backups = cost,
             under_60 = cost < asked, plain_R_takes = middle(plain / time[, "solve"]),
             apart = signif(max(abs(by_hand - value(plan))), 2))
}, cases$near, cases$discount)))

say("== Memory in bytes per possible transition: the same however many states there are\n")
show(do.call(rbind, lapply(c(2500, 5000, 10000, 20000, 40000), function(n) {
  setting <- setting_of(n)
  plan <- plan_to(setting)
  entries <- length(plan$tables$column)
  data.frame(states = n, transitions = entries,
             setting = signif(as.numeric(utils::object.size(setting)) / entries, 3),
             plan = signif(as.numeric(utils::object.size(plan)) / entries, 3))
})))
