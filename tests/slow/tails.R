# Do default fits see all of the posterior? Seven agents of DIAG, 1,000 trajectories each, all three prices inferred
# with ibrc()'s own defaults and eight seeds: 56 fits. Each that is settled (R-hat below 1.01, 400 effective draws of bulk
# and tails) has to have the 95% limits of a long run, within Monte Carlo error.
#
#   Rscript tests/slow/tails.R [seeds] [file for the table of fits]
#
# Size and marks were fixed before the first run: 56 fits, at most 2 not settled; limits within 4.5 standard errors
# (both errors together, by posterior::mcse_quantile(); of 336 comparisons that are right one in 400 studies fails).
# (A posterior with two exact modes is in tests/testthat/test-infer-scouts.R, twenty seeds of it.)

source(file.path("tests", "slow", "shared", "promise.R"))

seeds <- argument(1, 8L)
table_file <- argument(2, "")
setting <- diag_setting()
models <- diag_models()
agents <- list(neutral = bounded_agent(0.5), optimist = bounded_agent(0.5, optimism = 0.8),
               pessimist = bounded_agent(0.5, optimism = -1.33), "non-adaptive" = bounded_agent(0.5, eta = 75),
               careless = bounded_agent(10), careful = bounded_agent(0.1), rigid = bounded_agent(0.01))

limits <- function(fit) {
  draws <- fit$draws[[1]]
  do.call(rbind, lapply(dimnames(draws)[[3]], function(term) {
    # On the scale of the sampler, where tails are not all in a few draws.
    one <- own("to_unconstrained")(fit$prior[[term]], matrix(draws[, , term], dim(draws)[1]))
    p <- c(0.025, 0.975)
    data.frame(term = term, p = p, at = unname(stats::quantile(one, p)),
               error = unname(suppressWarnings(posterior::mcse_quantile(one, p))))
  }))
}

fits <- do.call(rbind, lapply(names(agents), function(name) {
  visits <- simulate(plan_agent(setting, agents[[name]], models), 1000, seed = 1)
  long <- limits(ibrc(visits, setting, models, seed = 1000L, iter = 40000, warmup = 4000, refresh = 0))
  do.call(rbind, lapply(seq_len(seeds), function(seed) {
    began <- proc.time()[["elapsed"]]
    fit <- ibrc(visits, setting, models, seed = seed, refresh = 0)
    table <- tidy(fit)
    found <- limits(fit)
    data.frame(agent = name, seed = seed, seconds = proc.time()[["elapsed"]] - began, steps = fit$run$iter,
               settled = own("are_settled")(fit), rhat = max(table$rhat),
               ess = min(table$ess_bulk, table$ess_tail), found, long = long$at, long_error = long$error,
               z = (found$at - long$at) / sqrt(found$error^2 + long$error^2))
  }))
}))
if (nzchar(table_file)) utils::write.csv(fits, table_file, row.names = FALSE)

one <- fits[!duplicated(fits[c("agent", "seed")]), ]
promise("Default fits settle", paste0(nrow(one), " fits, at most 2 not settled"),
        paste0(sum(!one$settled), " not settled (",
               paste(unique(one$agent[!one$settled]), collapse = ", "), "), worst R-hat ", signif(max(one$rhat), 4)),
        sum(!one$settled) <= 2)
settled <- fits[fits$settled, ]
promise("Every settled default fit has the limits of a long run",
        paste0(nrow(settled), " limits, all within 4.5 standard errors"),
        paste0("worst ", signif(max(abs(settled$z)), 3), " (", settled$agent[which.max(abs(settled$z))], ", ",
               settled$term[which.max(abs(settled$z))], ")"), all(abs(settled$z) <= 4.5))
show_figure("Steps that default fits took", paste0("median ", stats::median(one$steps), ", most ", max(one$steps),
                                                   "; seconds: median ", round(stats::median(one$seconds)), ", most ",
                                                   round(max(one$seconds))))
finish()
