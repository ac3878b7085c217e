# What a setting costs in which the state is seen: nodes are states, and tables hold what is possible alone. As
# states become twice as many, time and memory are to double. Ratios are of times taken next to each other in this
# run, the median over interleaved rounds; a quadratic part would show as a ratio of 4.
#
#   Rscript inst/bench/observed.R
#
# Every state has four actions with five possible next states each, discount 0.95; plans are to 1e-8.

library(ibrc)
options(width = 120)
source(system.file("bench", "shared", "clock.R", package = "ibrc"))
rounds <- 5L

triplets <- function(n_states, near, n_actions = 4, k = 5) {
  set.seed(1)
  from <- rep(seq_len(n_states), each = k, times = n_actions)
  to <- if (near) pmin(pmax(from + sample(-3:3, length(from), TRUE), 1), n_states) else
    sample(n_states, length(from), TRUE)
  chance <- stats::runif(length(from))
  action <- rep(seq_len(n_actions), each = n_states * k)
  data.frame(from, to, action, probability = chance / stats::ave(chance, from, action, FUN = sum))
}

setting_of <- function(n_states, near = FALSE, discount = 0.95, given = triplets(n_states, near)) {
  states <- as.character(seq_len(n_states))
  decision_setting(states, letters[1:4], states, given, "identity", matrix(stats::rnorm(4 * n_states), n_states),
                   discount = discount)
}

agent <- bounded_agent(alpha = 0.3)
sizes <- c(2500, 5000, 10000, 20000, 40000)

grow <- function(what, task) {
  seconds <- apply(race(lapply(sizes, task)), 2, middle)
  data.frame(what = what, states = sizes, seconds = seconds,
             ratio = c(NA, signif(seconds[-1] / utils::head(seconds, -1), 3)))
}

settings <- lapply(sizes, setting_of)
plans <- lapply(settings, plan_agent, agent)
of <- function(x, n) x[[match(n, sizes)]]

say("== Times, and their ratio to those of half as many states\n")
tables <- list(
  grow("decision_setting() from triplets", function(n) {
    given <- triplets(n, FALSE)
    function() setting_of(n, given = given)
  }),
  grow("plan_agent(), next states anywhere", function(n) function() plan_agent(of(settings, n), agent)),
  grow("another agent: update()", function(n) function() update(of(plans, n), bounded_agent(alpha = 0.25))),
  grow("occupancy()", function(n) function() occupancy(of(plans, n))),
  grow("simulate(), 100 trajectories of 20 visits", function(n) {
    function() simulate(of(plans, n), 100, seed = 1, horizon = 20)
  })
)
for (table in tables) show(table)

say("== Memory of setting and plan, in bytes per possible transition\n")
show(do.call(rbind, Map(function(n, setting, plan) {
  entries <- length(plan$tables$column)
  data.frame(states = n, transitions = entries,
             setting = signif(as.numeric(utils::object.size(setting)) / entries, 3),
             plan = signif(as.numeric(utils::object.size(plan)) / entries, 3))
}, sizes, settings, plans)))

say("== 10,000 states: a solve in plain backups, by how far a step leads and by discount\n")
cases <- expand.grid(near = c(FALSE, TRUE), discount = c(0.9, 0.95, 0.99))
show(do.call(rbind, Map(function(near, discount) {
  plan <- plan_agent(setting_of(10000, near, discount), agent)
  zero <- numeric(plan$space$n_nodes)
  time <- race(list(
    solve = function() call("ffi_solve", plan$tables, plan$problem, zero, 1e-8, 10000L, 1L),
    many = function() call("ffi_backup", plan$tables, plan$problem, plan$solution$value, 20L, 1L),
    none = function() call("ffi_backup", plan$tables, plan$problem, plan$solution$value, 0L, 1L)
  ))
  one <- (time[, "many"] - time[, "none"]) / 20
  data.frame(next_states = if (near) "near" else "anywhere", discount = discount, ms = middle(1e3 * time[, "solve"]),
             backups = plan$report$backups, products = plan$report$products,
             in_plain_backups = middle(time[, "solve"] / one), bound = signif(plan$report$bound, 2))
}, cases$near, cases$discount)))
