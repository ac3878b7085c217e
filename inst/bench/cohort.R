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
  n_times <- nrow(p$action)
  filter <- future <- array(0, c(n, 3, n_times + 1))
  shown <- array(0, c(n, 3, n_times))
  norm <- matrix(0, n, n_times)
  filter[, , 1] <- rep(laws$start, each = n)
  future[, , n_times + 1] <- 1
  for (t in seq_len(n_times)) for (s in 1:3) shown[, s, t] <- laws$emission[cbind(s, p$observation[t, ], p$action[t, ])]
  for (t in seq_len(n_times)) for (u in 1:2) {
    who <- p$action[t, ] == u
    joint <- (filter[who, , t] %*% laws$transition[, , u]) * shown[who, , t]
    norm[who, t] <- rowSums(joint)
    filter[who, , t + 1] <- joint / norm[who, t]
  }
  counts <- lapply(laws, function(law) law * 0)
  for (t in rev(seq_len(n_times))) for (u in 1:2) {
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

say("== Growth of a step with visits, and with patients (the first is 1): at most in proportion to distinct ",
    "histories\n")
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

# Groups of a cohort: the synthetic one, with its true dynamics --------------------------------

truth <- adni_like_truth()
visits <- read_adni(adni_like)
prior <- ibrc_prior(alpha ~ lognormal(-1, 1), optimism ~ normal(0, 1))

# A fit of four groups in a process of its own: its seconds, by the clock and of the processor, and the most memory that
# process held (MB), with what R and the package take before it begins. Linux tells; elsewhere R's own count has to do.
group_fit <- function(resolution, iter) {
  code <- sprintf('
    library(ibrc, lib.loc = "%s")
    peak <- function() {
      if (!file.exists("/proc/self/status")) return(sum(gc()[, 6]))
      line <- grep("^VmHWM", readLines("/proc/self/status"), value = TRUE)
      as.numeric(gsub("[^0-9]", "", line)) / 1024
    }
    truth <- adni_like_truth()
    visits <- read_adni(adni_like)
    before <- peak()
    time <- system.time(fit <- ibrc(visits, truth$setting, truth$models, by = c("over_75", "sex"), chains = 4,
      prior = ibrc_prior(alpha ~ lognormal(-1, 1), optimism ~ normal(0, 1)), iter = %d, resolution = %d, seed = 1))
    cat(length(fit$group_sizes), time[["elapsed"]], sum(time[1:2]), before, peak(), max(tidy(fit)$rhat))
  ', dirname(system.file(package = "ibrc")), iter, resolution)
  file <- tempfile(fileext = ".R")
  on.exit(unlink(file))
  writeLines(code, file)
  out <- system2(file.path(R.home("bin"), "Rscript"), shQuote(file), stdout = TRUE)
  stats::setNames(scan(text = out, quiet = TRUE), c("groups", "seconds", "processor", "before", "peak", "rhat"))
}

# One plain backup, as in forward.R.
plain_backup <- function(resolution, many) {
  plan <- plan_agent(truth$setting, truth$agents$over_75, truth$models, resolution)
  task <- function(many) {
    function() call("ffi_backup", plan$tables, plan$problem, plan$solution$value, many, 1L)
  }
  time <- race(list(many = task(many), none = task(0L)))
  stats::median(time[, "many"] - time[, "none"]) / many
}

say("== Four groups of ", length(unique(visits$RID)), " patients, nine models, 4 chains per group of 2,000 steps, one ",
    "core")
say("   (memory to stay under: 500 MB; at resolution 100 a short fit: its time per step taken 2,000 times, its memory ",
    "with")
say("   what the steps added at resolution 20)\n")
steps <- 2000L
coarse <- group_fit(20L, steps)
coarse_short <- group_fit(20L, 16L)
short <- group_fit(100L, 6L)
longer <- group_fit(100L, 16L)
extended <- function(what) short[[what]] + (steps - 6) * (longer[[what]] - short[[what]]) / 10
seconds <- c(coarse[["seconds"]], extended("seconds"))
processor <- c(coarse[["processor"]], extended("processor"))
one <- c(plain_backup(20L, 200L), plain_backup(100L, 5L))
evaluations <- 4 * coarse[["groups"]] * steps
show(data.frame(
  resolution = c(20, 100), how = c("whole", "extrapolated"), evaluations = evaluations,
  minutes = signif(seconds / 60, 3), processor_minutes = signif(processor / 60, 3), backup_us = signif(1e6 * one, 3),
  backups_an_evaluation = signif(seconds / evaluations / one, 3), over_first = signif(processor / processor[1], 3),
  memory_before = round(c(coarse[["before"]], longer[["before"]])),
  memory_peak = round(c(coarse[["peak"]], longer[["peak"]] + coarse[["peak"]] - coarse_short[["peak"]])),
  rhat = signif(c(coarse[["rhat"]], NA), 4)
))

say("== The likeliest optimism of either age group as the lattice gets finer. A bonus that jumps at 0.9 is another")
say("   wish on every lattice; one that rises from 0.9 to 0.95 is the same on all of them\n")
risen <- truth$setting
risen$belief_utility <- function(beliefs, action) 2.5 * pmin(pmax((apply(beliefs, 1, max) - 0.9) / 0.05, 0), 1)
cases <- data.frame(bonus = c("jump", "jump", "jump", "ramp", "ramp"), resolution = c(20, 40, 100, 20, 100))
rows <- Map(function(bonus, resolution) {
  time <- system.time(mode <- ibrc_mode(
    visits, if (bonus == "ramp") risen else truth$setting, truth$models, prior, estimate = "mle", by = "over_75",
    conf.level = NULL, resolution = resolution, starts = 1, seed = 1
  ))[["elapsed"]]
  optimism <- subset(tidy(mode), term == "optimism")
  at <- function(group) optimism$estimate[optimism$group == group]
  data.frame(bonus = bonus, resolution = resolution, up_to_75 = round(at("up_to_75"), 2),
             over_75 = round(at("over_75"), 2), difference = round(at("over_75") - at("up_to_75"), 2),
             log_lik = round(as.numeric(logLik(mode)), 1), seconds = time)
}, cases$bonus, cases$resolution)
rows <- do.call(rbind, unname(rows))
rows$time_over_first <- signif(rows$seconds / rows$seconds[1], 3)
rows$seconds <- signif(rows$seconds, 3)
show(rows)
