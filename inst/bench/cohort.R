# What learning dynamics from a cohort costs. As in forward.R, every claim is a ratio of
# times taken next to each other in this run.
#
#   Rscript inst/bench/cohort.R

library(ibrc)
options(width = 120)
source(system.file("bench", "shared", "clock.R", package = "ibrc"))
twin_files <- file.path("tests/testthat", c("helper-random.R", "helper-iohmm.R"))

# A cohort: three stages, three results without a scan and nine with it ---------------------

stages <- function() {
  set.seed(3)
  law <- function(n, k) {
    p <- matrix(rexp(n * k)^2, n, k)
    p / rowSums(p)
  }
  decision_setting(
    c("s1", "s2", "s3"), c("wait", "scan"), paste0("x", 1:12), 0.9 * diag(3) + 0.1 * law(3, 3),
    list(wait = cbind(law(3, 3), matrix(0, 3, 9)), scan = cbind(matrix(0, 3, 3), law(3, 9))),
    cbind(rep(0, 3), rep(-1, 3)), discount = 0.95
  )
}
chance <- plan_agent(stages(), bounded_agent(flexibility = 0), resolution = 2)
cohort <- function(patients, visits) simulate(chance, patients, seed = 1, horizon = visits)

# What a step of EM needs, in each of its forms.
iohmm_problem <- function(visits) {
  words <- list(actions = c("wait", "scan"), observations = paste0("x", 1:12), stop_actions = character())
  coded <- own("code_visits")(visits, words)
  possible <- own("count_pairs")(coded, words) > 0
  prior <- own("check_iohmm_prior")(NULL, words)
  setting <- stages()
  laws <- list(start = unname(setting$start), transition = unname(0.8 * setting$transition + 0.2 / 3),
               emission = unname(setting$emission))
  last <- cumsum(rle(coded$trajectory)$lengths)
  first <- c(1, last[-length(last)] + 1)
  list(tree = own("iohmm_tree")(coded, words), visits = length(coded$row), possible = possible, prior = prior,
       kernel_prior = own("prior_for_kernel")(prior, possible, FALSE), laws = laws,
       kernel_laws = c(list(n_states = 3L, n_actions = 2L, n_obs = 12L), lapply(laws, as.numeric)),
       paths = Map(function(from, to) {
         list(action = coded$action[from:to] + 1L, observation = coded$observation[from:to] + 1L)
       }, first, last),
       action = matrix(coded$action + 1L, last[1]), observation = matrix(coded$observation + 1L, last[1]))
}

# `many` steps less none: the cost of the call is in neither.
em_task <- function(p, many, climbs = 1L, cores = 1L) {
  laws <- p$kernel_laws
  for (law in c("start", "transition", "emission")) laws[[law]] <- matrix(laws[[law]], length(laws[[law]]), climbs)
  function() call("ffi_iohmm_em", p$tree, laws, p$kernel_prior, rep(NA_real_, climbs), many, 0L, 1e-300, cores)
}

# R at its best: all patients of one visit at a time, matrices in place of loops. Trajectories of equal length.
vectorised_step <- function(p) {
  laws <- p$laws
  n <- ncol(p$action)
  T <- nrow(p$action)
  filter <- future <- array(0, c(n, 3, T + 1))
  shown <- array(0, c(n, 3, T))
  norm <- matrix(0, n, T)
  filter[, , 1] <- rep(laws$start, each = n)
  future[, , T + 1] <- 1
  for (t in seq_len(T)) for (s in 1:3) shown[, s, t] <- laws$emission[cbind(s, p$observation[t, ], p$action[t, ])]
  for (t in seq_len(T)) for (u in 1:2) {
    who <- p$action[t, ] == u
    joint <- (filter[who, , t] %*% laws$transition[, , u]) * shown[who, , t]
    norm[who, t] <- rowSums(joint)
    filter[who, , t + 1] <- joint / norm[who, t]
  }
  counts <- lapply(laws, function(law) law * 0)
  for (t in rev(seq_len(T))) for (u in 1:2) {
    who <- p$action[t, ] == u
    ahead <- shown[who, , t] * future[who, , t + 1] / norm[who, t]
    future[who, , t] <- ahead %*% t(laws$transition[, , u])
    counts$transition[, , u] <- counts$transition[, , u] + laws$transition[, , u] * crossprod(filter[who, , t], ahead)
    smooth <- filter[who, , t + 1] * future[who, , t + 1]
    seen <- rowsum(smooth, p$observation[t, who])
    at <- as.integer(rownames(seen))
    counts$emission[, at, u] <- counts$emission[, at, u] + t(seen)
  }
  counts$start <- colSums(filter[, , 1] * future[, , 1])
  list(log_lik = sum(log(norm)), counts = counts)
}

p <- iohmm_problem(cohort(1626, 6))
say("== A step of EM, 1,626 patients of 6 visits, 3 states, 12 observations: times faster than R (to reach: 100)\n")
time <- race(list(many = em_task(p, 30L), none = em_task(p, 1L)))
one <- stats::median(time[, "many"] - time[, "none"]) / 29
fast <- race(list(vectorised = function() vectorised_step(p)))
row <- data.frame(visits = p$visits, histories = p$tree$n_nodes, microseconds = signif(1e6 * one, 3),
                  over_vectorised_R = middle(fast / one))
if (all(file.exists(twin_files))) {
  twin <- new.env()
  for (file in twin_files) sys.source(file, twin)
  slow <- system.time({
    expected <- twin$twin_iohmm_expect(p$laws, p$paths)
    twin$twin_iohmm_maximise(expected$counts, p$prior, p$possible, FALSE)
  })[["elapsed"]]
  row$over_plain_R <- signif(slow / one, 3)
  kernel <- call("ffi_iohmm_expect", p$tree, c(p$kernel_laws, list(n_models = 1L)))
  stopifnot(abs(kernel$log_lik - expected$log_lik) < 1e-8, abs(vectorised_step(p)$log_lik - expected$log_lik) < 1e-8)
} else {
  say("   The plain-R twin is not here: run this from the source folder to compare with it\n")
}
show(row)

say("== Growth of a step with visits, and with patients (the first is 1): at most in proportion to distinct histories\n")
growth <- function(problems, sizes) {
  tasks <- lapply(problems, function(p) em_task(p, 20L))
  names(tasks) <- sizes
  time <- race(tasks)
  data.frame(visits = vapply(problems, `[[`, 0L, "visits"), size = sizes / sizes[1],
             histories = signif(vapply(problems, function(p) p$tree$n_nodes / problems[[1]]$tree$n_nodes, 0), 3),
             cost = apply(time / time[, 1], 2, middle))
}
lengths <- c(10, 20, 40, 80)
show(growth(lapply(lengths, function(visits) iohmm_problem(cohort(500, visits))), lengths))
patients <- c(500, 1000, 2000, 4000, 8000)
show(growth(lapply(patients, function(n) iohmm_problem(cohort(n, 6))), patients))

say("== Twenty climbs on two threads beside one (the climbs are the same); a sweep of the posterior beside a step\n")
visits <- cohort(1626, 6)
time <- race(list(one = em_task(p, 20L, 20L, 1L), two = em_task(p, 20L, 20L, 2L)))
fit <- fit_iohmm(visits, 3, 2, seed = 1, tolerance = 1e-3)
sweeps <- race(list(long = function() model_draws(fit, 1, 40, 1, seed = 1),
                    short = function() model_draws(fit, 1, 0, 1, seed = 1)))
show(data.frame(threads = middle(time[, "one"] / time[, "two"]),
                sweep_over_step = middle((sweeps[, "long"] - sweeps[, "short"]) / 40 / one)))

say("== A whole fit: 20 starts to rest\n")
whole <- system.time(fit <- fit_iohmm(visits, 3, 20, seed = 1))[["elapsed"]]
show(data.frame(seconds = signif(whole, 3), steps = sum(fit$starts$iterations), converged = sum(fit$starts$converged),
                reached = glance(fit)$reached))
