# How long a run is: chains, steps, warm-up, and whether what they keep has room.

default_refresh <- function() {
  if (interactive() && !isTRUE(getOption("knitr.in.progress"))) 200 else 0
}

least_iter <- 2000L

# `iter`: NULL goes on until the chains agree.
check_run <- function(chains, iter, warmup, thin, cores, refresh, max_iter = NULL) {
  chains <- check_count(chains, "chains", most = 1e5)
  if (!is.null(warmup)) warmup <- check_count(warmup, "warmup", least = 0)
  if (is.null(iter)) {
    iter <- if (is.null(warmup)) least_iter else max(least_iter, 2 * warmup)
    if (is.null(max_iter)) max_iter <- 10 * iter
  }
  iter <- check_count(iter, "iter", least = 2, most = 1e8)
  max_iter <- if (is.null(max_iter)) iter else check_count(max_iter, "max_iter", least = iter, most = 1e8)
  run <- list(chains = chains, iter = iter, max_iter = max_iter,
              warmup = if (is.null(warmup)) iter %/% 2L else warmup, thin = check_count(thin, "thin"),
              cores = check_count(cores, "cores"), refresh = check_count(refresh, "refresh", least = 0))
  if (run$iter <= run$warmup) {
    abort_input("iter", "must be more than `warmup`: ", run$iter, " steps with ", run$warmup,
                " of warm-up leave nothing to keep.")
  }
  if ((run$iter - run$warmup) %/% run$thin < 2) {
    abort_input("thin", "= ", run$thin, " keeps fewer than two of the ", run$iter - run$warmup,
                " steps after warm-up: take a smaller one, or more steps.")
  }
  run
}

# Draws and their densities, which are copied when they are stored and when they change scale; what warm-up learns
# from; and what every chain has for itself. `steps`: how the user said how many.
refuse_large_run <- function(run, n_groups, n_terms, steps = paste("`iter` =", format_count(run$iter)),
                             advice = paste("take fewer steps or chains, raise `thin` (control =",
                                            "ibrc_control(thin = )) or shorten `warmup`")) {
  chains <- as.numeric(run$chains) * n_groups
  kept <- chains * ((run$iter - run$warmup) %/% run$thin) * (n_terms + 1)
  learnt <- chains * run$warmup * n_terms
  refuse_too_large(8 * (3 * kept + 2 * learnt) + 2e4 * chains, if (chains > run$iter) "chains" else "iter",
                   steps, " for ", plural(chains, "chain"),
                   if (n_groups > 1) paste(" in", plural(n_groups, "group")), " of ", plural(n_terms, "term"),
                   " would keep ", format_count(kept), " numbers, and ", format_count(learnt),
                   " in warm-up, with copies on the way", advice = advice)
}
