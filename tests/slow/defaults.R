# Is the default posterior the posterior? The default prior, whose prices spread over five
# orders of magnitude, and the default run, four chains of 2,000 steps: truths from that
# prior, behaviour from them, a fit with ibrc()'s own defaults. Ranks of the truth are
# uniform, or the default run does not see all of the posterior.
#
#   Rscript tests/slow/defaults.R [data sets per case] [file for the table of ranks]
#
# Size and mark: 1,000 data sets per case, and no p-value below 0.001 among 16. (The first runs had 500 and kept it; the
# size was then made that of every other calibration here, for all runs from then on.) An hour and more of a core.
# Batches are spread over future::plan() where there is one, and come out the same.

source(file.path("tests", "slow", "shared", "promise.R"))
source(file.path("tests", "slow", "shared", "calibration.R"))
source(file.path("tests", "slow", "shared", "parts.R"))

sets <- argument(1, 1000L)
table_file <- argument(2, "")

# ?ibrc_prior: R is the range of the utility.
default_quantiles <- function(setting) {
  range <- diff(range(setting$utility))
  list(alpha = lognormal(log(range / 200), 3), optimism = normal(0, 50 / range), eta = lognormal(log(range / 200), 3))
}

# What the chains say of themselves, by the marks of verdict().
told_by_chains <- function(truth, draws) {
  rhat <- max(apply(draws, 3, posterior::rhat))
  bulk <- min(suppressWarnings(apply(draws, 3, posterior::ess_bulk)))
  tail <- min(suppressWarnings(apply(draws, 3, posterior::ess_tail)))
  c(settled = as.numeric(isTRUE(rhat < 1.01 && bulk >= 400 && tail >= 400)), rhat = rhat, bulk = bulk)
}

# The ranks that a run would have which never left a central share of its posterior. The first
# run of this script asked that a share of 90% be found for every term, and in three states it was
# not for optimism (p = 0.015): so many data sets do not see that for sure, which is shown.
# Asked since is a share of 80%.
kept_to <- function(ranks, share) {
  out <- (1 - share) / 2 * (n_draws + 1)
  ifelse(ranks < out, 0, ifelse(ranks > n_draws - out, n_draws, ranks))
}

default_case <- function(name, setting, models, ...) {
  case <- calibration_case(name, setting, models, prior = NULL, default_quantiles(setting), n = 50, ...)
  case$besides <- told_by_chains
  case
}
ward <- ward_setting()
cases <- list(
  default_case("Default prior and run, DIAG", diag_setting(), diag_models(), resolution = 20, horizon = 8),
  default_case("Default prior and run, three states", ward, soften_models(ward, c(0, 0.5)), resolution = 10,
               horizon = 5)
)
for (case in cases) {
  stated <- own("default_prior")(case$plan$setting)
  levels <- c(0.025, 0.5, 0.975)
  stopifnot(all.equal(unname(own("prior_quantile")(stated, levels)),
                      unname(vapply(case$quantile, function(quantile) quantile(levels), levels))))
}

number <- function(x) format(signif(x, 2))
say <- function(found) paste0("chi-square p = ", number(found[1]), ", band p = ", number(found[2]))
mark <- 0.001

tables <- Map(function(case, k) {
  ranks <- calibrate(case, sets, k, study = "defaults")
  quantities <- c(names(case$quantile), "log-likelihood")
  for (what in quantities) {
    found <- uniform_tests(ranks[[what]])
    promise(paste0(case$name, ": the rank of ", what, " is uniform"),
            paste0(sets, " data sets, both p above ", mark), say(found), all(found > mark))
  }
  show_figure(paste0(case$name,
                     ": fits that are not settled (R-hat 1.01 or more, or fewer than 400 effective draws)"),
              paste0(sum(ranks$settled == 0), " of ", nrow(ranks), ", worst R-hat ",
                     signif(max(ranks$rhat, na.rm = TRUE), 3), ", fewest effective draws ", round(min(ranks$bulk))))
  for (what in quantities) {
    show_figure(paste0(case$name, ": the rank of ", what, " among settled fits"),
                paste0(sum(ranks$settled), " data sets, ", say(uniform_tests(ranks[[what]][ranks$settled == 1]))))
  }
  planted <- function(share) {
    max(vapply(names(case$quantile), function(what) min(uniform_tests(kept_to(ranks[[what]], share))), 0))
  }
  promise(paste0(case$name, ": planted fault, a run that never leaves the central 80%, is found"),
          paste0("the same data sets, p below ", mark, " for every term"), paste("largest p =", number(planted(0.8))),
          planted(0.8) < mark)
  show_figure(paste0(case$name, ": p of a planted run that never leaves the central 90%"),
              paste("largest", number(planted(0.9))))
  cbind(case = case$name, ranks)
}, cases, 50L + seq_along(cases))
if (nzchar(table_file)) utils::write.csv(do.call(rbind, tables), table_file, row.names = FALSE)
end_parts("defaults")
finish()
