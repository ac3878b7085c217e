# What inference costs. As in forward.R, every claim is a ratio of times taken next
# to each other in this run; draws are counted, not timed.
#
#   Rscript inst/bench/inverse.R [inst/bench/planning.csv, to keep what README.md shows; then tools/readme-text.R]
#
# builds.R times evaluations of two builds of the package in one run.

library(ibrc)
options(width = 120)
source(system.file("bench", "shared", "clock.R", package = "ibrc"))

# A clinic with three states: a marker that is always seen, a test that is ordered.
clinic <- function() {
  set.seed(3)
  law <- function(n, k) {
    p <- matrix(rexp(n * k)^2, n, k)
    p / rowSums(p)
  }
  emission <- list(wait = cbind(law(3, 3), matrix(0, 3, 9)), test = cbind(matrix(0, 3, 3), law(3, 9)))
  decision_setting(
    c("s1", "s2", "s3"), c("wait", "test"), paste0("x", 1:12), 0.9 * diag(3) + 0.1 * law(3, 3), emission,
    cbind(rep(0, 3), rep(-1, 3)), discount = 0.95,
    belief_utility = function(beliefs, action) 2.5 * (apply(beliefs, 1, max) > 0.9)
  )
}

problem <- function(name, setting, models, resolution, n, horizon) {
  plan <- plan_agent(setting, bounded_agent(0.5, 1.25, 1e-3), models, resolution)
  list(name = name, setting = setting, models = models, plan = plan,
       visits = simulate(plan, n, seed = 1, horizon = horizon))
}
problems <- list(
  problem("DIAG", diag_setting(), diag_models(), 100, 1000, 50),
  problem("3 states", clinic(), soften_models(clinic(), c(0, 0.5)), 20, 1626, 4)
)

evaluator_of <- function(p, n_vectors, visits = p$visits) {
  tree <- own("build_histories")(own("code_visits")(visits, p$setting), p$setting)
  prior <- ibrc_prior(alpha ~ lognormal(0, 3), beta ~ lognormal(0, 3), eta ~ lognormal(0, 3))
  own("new_evaluator")(p$plan, list(tree), rep(1L, n_vectors), prior, list(), 1e-8, 1L)
}

# Proposals a step of 0.1 away in every logarithm, as a sampler makes them.
evaluate_task <- function(p, evaluator, n_vectors, cores = 1L) {
  here <- log(c(0.5, 1.25, 1e-3))
  at <- matrix(p$plan$solution$value, p$plan$space$n_nodes, n_vectors)
  evaluator$cores <- cores
  set.seed(1)
  theta <- matrix(here, n_vectors, 3, byrow = TRUE) + rnorm(3 * n_vectors, sd = 0.1)
  function() own("evaluate_batch")(evaluator, theta, at)
}

backup_task <- function(p, many) {
  function() call("ffi_backup", p$plan$tables, p$plan$problem, p$plan$solution$value, many, 1L)
}

say("== A posterior evaluation (solve and likelihood) in plain backups (to reach: DIAG 20, 3 states 25)\n")
rows <- lapply(problems, function(p) {
  evaluator <- evaluator_of(p, 8)
  models <- own("stack_models")(p$plan$models)
  tree <- evaluator$batch$histories[[1]]
  time <- race(list(many = backup_task(p, 50L), none = backup_task(p, 0L), eight = evaluate_task(p, evaluator, 8),
                    likelihood = function() call("ffi_loglik", p$plan, models, tree, unname(p$setting$start), 1L)))
  one <- (time[, "many"] - time[, "none"]) / 50
  data.frame(problem = p$name, nodes = p$plan$space$n_nodes, trajectories = length(unique(p$visits$id)),
             visits = nrow(p$visits), histories = tree$n_histories,
             evaluation = middle(time[, "eight"] / 8 / one), likelihood = middle(time[, "likelihood"] / one))
})
evaluated <- do.call(rbind, rows)
show(evaluated)
keep("evaluation", "DIAG, 1,000 trajectories", evaluated$nodes[1], round(evaluated$evaluation[1]))

say("== An evaluation with a habit of 1.5 beside one without, of the same behaviour (to reach: 1.3)\n")
rows <- lapply(problems, function(p) {
  plain <- evaluator_of(p, 8)
  tree <- plain$batch$histories
  prior <- ibrc_prior(alpha ~ lognormal(0, 3), beta ~ lognormal(0, 3), eta ~ lognormal(0, 3), habit ~ normal(0, 2))
  with <- own("new_evaluator")(p$plan, tree, rep(1L, 8), prior, list(), 1e-8, 1L)
  plan <- update(p$plan, bounded_agent(0.5, 1.25, 1e-3, habit = 1.5))
  set.seed(1)
  theta <- cbind(matrix(log(c(0.5, 1.25, 1e-3)), 8, 3, byrow = TRUE) + rnorm(24, sd = 0.1), 1.5 + rnorm(8, sd = 0.1))
  at <- matrix(plan$solution$after, length(plan$solution$after), 8)
  time <- race(list(without = evaluate_task(p, plain, 8), with = function() own("evaluate_batch")(with, theta, at)))
  data.frame(problem = p$name, nodes = p$plan$space$n_nodes, times = middle(time[, "with"] / time[, "without"]))
})
show(do.call(rbind, rows))

# One history per visit: no belief or policy is worked out for two trajectories at once,
# but for their common start.
visit_tree <- function(p) {
  coded <- own("code_visits")(p$visits, p$setting)
  begins <- c(TRUE, diff(coded$trajectory) != 0)
  history <- ifelse(begins, 0L, cumsum(!begins))
  before <- which(!begins) - 1L
  n_actions <- length(p$setting$actions)
  cell <- factor(n_actions * history + coded$action, levels = seq_len(n_actions * (max(history) + 1)) - 1)
  list(n_histories = max(history) + 1L, n_actions = n_actions, parent = c(-1L, history[before]),
       action = c(-1L, coded$action[before]), observation = c(-1L, coded$observation[before]),
       count = matrix(as.numeric(table(cell)), n_actions), visit = history + 1L, start = 0L)
}

say("== Speed over evaluating every visit by itself: in the same kernels, and by calls of policy()\n")
rows <- lapply(problems, function(p) {
  shared <- evaluator_of(p, 4)
  apart <- shared
  apart$batch$histories <- list(visit_tree(p))
  models <- own("stack_models")(p$plan$models)
  read <- function(tree) call("ffi_loglik", p$plan, models, tree, unname(p$setting$start), 1L)
  trees <- list(shared$batch$histories[[1]], apart$batch$histories[[1]])
  stopifnot(all.equal(read(trees[[1]])$total, read(trees[[2]])$total, tolerance = 1e-12))
  some <- t(read(trees[[2]])$belief)[trees[[2]]$visit[1:200], ]
  time <- race(list(shared = function() read(trees[[1]]), apart = function() read(trees[[2]]),
                    whole_shared = evaluate_task(p, shared, 4), whole_apart = evaluate_task(p, apart, 4),
                    calls = function() for (i in 1:200) policy(p$plan, some[i, , drop = FALSE])))
  data.frame(problem = p$name, visits = nrow(p$visits), histories = trees[[1]]$n_histories,
             likelihood = middle(time[, "apart"] / time[, "shared"]),
             evaluation = middle(time[, "whole_apart"] / time[, "whole_shared"]),
             policy_calls = middle(time[, "calls"] * nrow(p$visits) / 200 / time[, "shared"]))
})
show(do.call(rbind, rows))

say("== Growth of an evaluation with patients (the first is 1)\n")
p <- problems[[1]]
sizes <- c(250, 1000, 4000, 16000)
tasks <- lapply(sizes, function(n) evaluate_task(p, evaluator_of(p, 4, simulate(p$plan, n, seed = 1)), 4))
names(tasks) <- sizes
time <- race(tasks)
grown <- data.frame(patients = sizes, cost = apply(time / time[, 1], 2, middle))
show(grown)
keep("patients", "DIAG, 16,000 beside 250 patients", p$plan$space$n_nodes, signif(grown$cost[4], 2))

say("== Dynamics that are inferred: an evaluation with a table of its own, less one with fixed dynamics, in builds of")
say("a table (to reach: 1.5)\n")
# Nine models of three states and twelve observations, perturbed in R and built in C at each vector.
recipe_cost <- function(n_vectors = 8) {
  setting <- clinic()
  setting$belief_utility <- certainty_bonus(2.5, above = 0.9)
  models <- function(setting) perturb_models(setting, by = 0.1, vary = "both")
  shifted <- function(shift) {
    law <- setting$transition
    law[, , ] <- (1 - shift) * law + shift / 3
    setting$transition <- law
    setting
  }
  p <- problem("3 states, 9 models", setting, models(setting), 20, 1626, 4)
  tree <- own("build_histories")(own("code_visits")(p$visits, setting), setting)
  prior <- ibrc_prior(alpha ~ lognormal(0, 3), beta ~ lognormal(0, 3), eta ~ lognormal(0, 3), shift ~ uniform(0, 0.1))
  recipe <- own("open_recipe")(own("read_recipe")(shifted, models, "shift", list()), prior)
  make <- function(prior, recipe) {
    own("new_evaluator")(p$plan, list(tree), rep(1L, n_vectors), prior, list(), 1e-8, 1L, TRUE, recipe)
  }
  set.seed(1)
  theta <- matrix(log(c(0.5, 1.25, 1e-3)), n_vectors, 3, byrow = TRUE) + rnorm(3 * n_vectors, sd = 0.1)
  at <- matrix(p$plan$solution$value, p$plan$space$n_nodes, n_vectors)
  fixed <- make(own("new_ibrc_prior")(unclass(prior)[1:3]), NULL)
  free <- make(prior, recipe)
  stack <- own("stack_models")(p$plan$models)
  time <- race(list(
    fixed = function() own("evaluate_batch")(fixed, theta, at),
    free = function() own("evaluate_batch")(free, cbind(theta, qlogis(seq(0.2, 0.8, length.out = n_vectors))), at),
    build = function() call("ffi_table_build", stack, p$plan$space, 1L, 1L)
  ))
  data.frame(problem = p$name, nodes = p$plan$space$n_nodes,
             builds = middle((time[, "free"] - time[, "fixed"]) / n_vectors / time[, "build"]),
             fixed_evaluation = middle(time[, "fixed"] / n_vectors / time[, "build"]))
}
show(recipe_cost())

say("== Four chains on two threads beside one (to reach: 1.7), and the share of a sampler's step spent outside C")
say("after warm-up, on one thread (to reach: 0.15 on DIAG)\n")
outside_c <- function(p, n_steps = 400) {
  evaluator <- evaluator_of(p, 4)
  fit <- own("start_chains")(evaluator, NULL, 4, p$plan$space$n_nodes, own("streams_from_seed")(1, 1)[[1]])
  start <- own("sampler_start")(fit$theta, function(theta) fit$log_density, own("streams_from_seed")(2, 4),
                                warmup = 400, iter = 10000)
  chain <- list(state = start, value = fit$value)
  step <- own("step_chains")
  evaluate <- own("ffi_evaluate")
  steps <- function(chain, n) {
    for (k in seq_len(n)) chain <- step(chain, evaluator)
    chain
  }
  chain <- steps(chain, 400)
  # What C is asked in those steps, to be asked again without them.
  asked <- list()
  follow <- chain
  for (k in seq_len(n_steps)) {
    before <- follow
    follow <- own("step_chains")(follow, evaluator)
    natural <- own("prior_natural")(evaluator$prior, follow$state$proposal)
    asked[[k]] <- list(own("parameters_of")(evaluator$places, natural), before$value)
  }
  time <- race(list(
    steps = function() steps(chain, n_steps),
    calls = function() for (a in asked) .Call(evaluate, evaluator$batch, a[[1]], NULL, a[[2]], rep(0L, 4), 1L)
  ))
  middle(1 - time[, "calls"] / time[, "steps"])
}
rows <- lapply(problems, function(p) {
  evaluator <- evaluator_of(p, 4)
  time <- race(list(one = evaluate_task(p, evaluator, 4, 1L), two = evaluate_task(p, evaluator, 4, 2L)))
  data.frame(problem = p$name, threads = middle(time[, "one"] / time[, "two"]), outside_c = outside_c(p))
})
show(do.call(rbind, rows))

say("== Independent draws per evaluation after warm-up (to reach: 0.2 with two free, 0.1 with three; paper's times ",
    "100)\n")
# The trajectories that the targets were set on, where they are at hand; others of the same agent elsewhere.
p <- problems[[1]]
reference <- "tests/testthat/reference/diag_optimistic.csv"
if (file.exists(reference)) p$visits <- trajectories(utils::read.csv(reference), setting = p$setting)
free <- list(
  "beta, eta" = list(prior = ibrc_prior(beta ~ lognormal(0, 3), eta ~ lognormal(0, 3)), fixed = list(alpha = 0.5)),
  "alpha, beta, eta" = list(prior = ibrc_prior(alpha ~ lognormal(0, 3), beta ~ lognormal(0, 3), eta ~ lognormal(0, 3)),
                            fixed = list())
)
rows <- lapply(names(free), function(name) {
  run <- function(sampler, iter, warmup, seed = 1) {
    time <- system.time(fit <- ibrc(p$visits, p$setting, p$models, free[[name]]$prior, free[[name]]$fixed, iter = iter,
                                    warmup = warmup, seed = seed, refresh = 0,
                                    control = ibrc_control(sampler = sampler)))[["elapsed"]]
    table <- tidy(fit)
    c(ess = min(table$ess_bulk) / (4 * (iter - warmup)), rhat = max(table$rhat), seconds = time)
  }
  adaptive <- vapply(1:5, function(seed) run("adaptive", 5000, 3000, seed), numeric(3))
  paper <- run("paper", 11000, 1000)
  data.frame(free = name, ess_an_evaluation = signif(stats::median(adaptive["ess", ]), 3),
             smallest = signif(min(adaptive["ess", ]), 2), rhat = round(stats::median(adaptive["rhat", ]), 3),
             paper = signif(paper[["ess"]], 2),
             times_paper = signif(stats::median(adaptive["ess", ]) / paper[["ess"]], 3),
             paper_seconds = signif(paper[["seconds"]], 2))
})
say("Four chains, 3,000 steps of warm-up, the median and the smallest of five seeds; the paper's are 11,000 steps of ",
    "four.\n")
show(do.call(rbind, rows))
