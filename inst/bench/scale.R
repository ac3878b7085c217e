# What a fit costs as it grows: the figures behind the article "scale". Only what users
# call is timed, on one thread, by the processor's time: what else the machine does counts
# for little. Costs are compared within this run, the median over interleaved rounds.
#
#   Rscript inst/bench/scale.R [file.csv to write]

library(ibrc)
options(width = 120)
source(system.file("bench", "shared", "clock.R", package = "ibrc"))
rounds <- 7L
used <- function(f) sum(system.time(f())[c("user.self", "sys.self")])

# Problems: a diagnosis, and stages of a disease with a marker and a scan --------------

stages <- function(n) {
  set.seed(3)
  law <- function(n, k) {
    p <- matrix(rexp(n * k)^2, n, k)
    p / rowSums(p)
  }
  decision_setting(
    paste0("s", seq_len(n)), c("wait", "scan"), paste0("x", 1:12), 0.9 * diag(n) + 0.1 * law(n, n),
    list(wait = cbind(law(n, 3), matrix(0, n, 9)), scan = cbind(matrix(0, n, 3), law(n, 9))),
    cbind(rep(0, n), rep(-1, n)), discount = 0.95, belief_utility = certainty_bonus(2.5, above = 0.9)
  )
}

accuracies <- function(n) {
  model_prior(lapply(if (n == 1) 0.7 else seq(0.6, 0.8, length.out = n), function(accuracy) {
    diag_setting(accuracy)[c("transition", "emission")]
  }))
}

agent <- bounded_agent(alpha = 0.5, beta = 1.25, eta = 1e-3)
prior <- ibrc_prior(alpha ~ lognormal(0, 3), beta ~ lognormal(0, 3), eta ~ lognormal(0, 3))

# One row of the table to be: a problem of stated size, and fits of it by few and by many
# plain steps of four chains from where the truth is. The verdict, which comes after the steps, is left out.
few_steps <- 4
case <- function(topic, problem, size, setting = diag_setting(), models = diag_models(), resolution = 100,
                 patients = 1000, horizon = 50, groups = 1) {
  plan <- plan_agent(setting, agent, models, resolution)
  visits <- transform(as.data.frame(simulate(plan, patients, seed = 1, horizon = horizon)), group = id %% groups)
  visits <- trajectories(visits, covariates = "group", setting = setting)
  fit <- function(steps) {
    ibrc(visits, setting, models, prior, by = if (groups > 1) "group", chains = 4, iter = steps, warmup = 0,
         resolution = resolution, seed = 1, refresh = 0,
         control = ibrc_control(sampler = "paper", check = FALSE,
                                start = data.frame(alpha = 0.5, beta = 1.25, eta = 1e-3)))
  }
  once <- vapply(c(few_steps, 5 * few_steps), function(steps) used(function() fit(steps)), 0)
  many <- few_steps + as.integer(max(5, min(400, 0.3 / max(1e-4, diff(once) / (4 * few_steps)))))
  list(row = data.frame(topic = topic, problem = problem, size = size, nodes = plan$space$n_nodes,
                        plan_mb = signif(as.numeric(utils::object.size(plan)) / 1e6, 3), visits = nrow(visits)),
       steps = many - few_steps,
       tasks = list(few = function() fit(few_steps), many = function() fit(many)))
}

# Cases of one topic, timed side by side: before the first step, and a step of all chains.
measure <- function(cases) {
  tasks <- unlist(lapply(cases, `[[`, "tasks"), recursive = FALSE)
  time <- apply(replicate(rounds, vapply(tasks, used, 0)), 1, stats::median)
  few <- time[c(TRUE, FALSE)]
  one <- (time[c(FALSE, TRUE)] - few) / vapply(cases, `[[`, 0, "steps")
  rows <- do.call(rbind, lapply(cases, `[[`, "row"))
  rows$start_ms <- signif(1e3 * pmax(few - few_steps * one, 0), 3)
  rows$step_ms <- signif(1e3 * one, 3)
  rows$relative <- signif(one / one[1], 3)
  rows
}

topics <- list(
  resolution_2 = lapply(c(25, 50, 100, 200, 400), function(n) case("resolution", "2 states", n, resolution = n)),
  resolution_3 = lapply(c(10, 20, 40, 100), function(n) {
    case("resolution", "3 states", n, stages(3), soften_models(stages(3), c(0, 0.5)), n, horizon = 4)
  }),
  resolution_4 = lapply(c(5, 10, 20), function(n) {
    case("resolution", "4 states", n, stages(4), soften_models(stages(4), c(0, 0.5)), n, horizon = 4)
  }),
  models = lapply(c(1, 3, 9), function(n) case("models", "2 states", n, models = accuracies(n))),
  patients = lapply(c(250, 1000, 4000, 16000), function(n) case("patients", "2 states", n, patients = n)),
  groups = lapply(c(1, 4, 16), function(n) case("groups", "2 states", n, groups = n))
)
rows <- lapply(topics, measure)
for (table in rows) show(table)
all <- do.call(rbind, rows)
rownames(all) <- NULL
file <- commandArgs(TRUE)
if (length(file)) {
  utils::write.csv(all, file[1], row.names = FALSE)
  say("Written to ", file[1])
}
