# Makes the results that vignette("paper") reads and that take too long to work out each
# time it is built, inst/extdata/vignettes/paper-*.csv. From the package's folder, with
# the package installed, some five minutes:
#
#   Rscript data-raw/vignette-paper.R
#
# tests/testthat/test-vignette-paper.R makes a part of them again.

# What reward learning finds in agents that are optimistic, and in agents that are
# not adaptive, to growing degrees: one row per agent.
ratio_agents <- function() {
  optimism <- c(0, 0.2, 0.4, 0.6, 0.8)
  eta <- c(0, 20, 40, 60, 75)
  rbind(data.frame(bias = "optimism", optimism = optimism, eta = 1e-3),
        data.frame(bias = "eta", optimism = 1e-3, eta = eta))
}

make_ratios <- function(rows = seq_len(nrow(ratio_agents()))) {
  setting <- ibrc::diag_setting()
  models <- ibrc::diag_models()
  found <- lapply(rows, function(i) {
    agent <- ratio_agents()[i, ]
    plan <- ibrc::plan_agent(setting, ibrc::bounded_agent(alpha = 0.5, optimism = agent$optimism, eta = agent$eta),
                             models)
    fit <- ibrc::ibrc(simulate(plan, 1000, seed = i), setting, models, ibrc::irl_prior(setting),
                      fixed = list(alpha = 0.5), iter = 3000, seed = i)
    cbind(agent, ibrc::cost_benefit(fit))
  })
  do.call(rbind, found)
}

# The synthetic cohort's optimism, by maximum likelihood, as what the investigator
# states is changed: one row per variant and group.
cohort_variants <- function() {
  truth <- ibrc::adni_like_truth()
  setting <- truth$setting
  parts <- c("states", "actions", "observations", "transition", "emission", "start")
  cheaper <- ibrc::adni_setting(setting[parts], certainty = 2.438)
  smooth <- setting[parts]
  possible <- apply(smooth$emission > 0, c(2, 3), any)
  for (u in seq_along(smooth$actions)) {
    law <- smooth$emission[, , u] + 0.001 * rep(possible[, u], each = length(smooth$states))
    smooth$emission[, , u] <- law / rowSums(law)
  }
  smooth <- ibrc::adni_setting(smooth)
  row <- function(setting, models, resolution = 20) list(setting = setting, models = models, resolution = resolution)
  list(
    "as the cohort was made" = row(setting, truth$models),
    "2.438 for certainty" = row(cheaper, truth$models),
    "0.001 added to what may be seen" = row(smooth, ibrc::perturb_models(smooth, by = 0.1, vary = "both")),
    "what is seen varies alone, 3 models" = row(setting, ibrc::perturb_models(setting, by = 0.1)),
    "2 models, one half uniform" = row(setting, ibrc::soften_models(setting, mix = c(0, 0.5))),
    "resolution 40" = row(setting, truth$models, 40),
    "resolution 100" = row(setting, truth$models, 100)
  )
}

make_variants <- function(which = names(cohort_variants())) {
  cohort <- ibrc::read_adni(ibrc::adni_like)
  found <- lapply(which, function(name) {
    variant <- cohort_variants()[[name]]
    out <- tidy_mode(cohort, variant, by = "over_75")
    cbind(variant = name, out[out$term == "optimism", c("group", "estimate", "std.error")])
  })
  do.call(rbind, found)
}

tidy_mode <- function(visits, variant, by = NULL) {
  prior <- ibrc::ibrc_prior(alpha ~ lognormal(-1, 1), optimism ~ normal(0, 1))
  mode <- ibrc::ibrc_mode(visits, variant$setting, variant$models, prior, estimate = "mle", by = by, conf.level = NULL,
                          resolution = variant$resolution, starts = 2, seed = 1)
  ibrc::tidy(mode)
}

# Subgroups of the cohort as they are, and as they come out when members are looked up
# by their place in the cohort in a table that has only as many rows as the subgroup.
subgroup_members <- function(cohort) {
  patients <- as.data.frame(cohort)[!duplicated(cohort$RID), ]
  list(over_75 = which(patients$over_75 == "over_75"), carrier = which(patients$apoe4 == "carrier"),
       female = which(patients$sex == "female"))
}

make_subgroups <- function(groups = names(subgroup_members(ibrc::read_adni(ibrc::adni_like)))) {
  cohort <- ibrc::read_adni(ibrc::adni_like)
  ids <- unique(cohort$RID)
  variant <- cohort_variants()[["as the cohort was made"]]
  found <- lapply(groups, function(group) {
    members <- subgroup_members(cohort)[[group]]
    kept <- members[members <= length(members)]
    optimism <- function(places) {
      out <- tidy_mode(cohort[cohort$RID %in% ids[places], ], variant)
      out[out$term == "optimism", c("estimate", "std.error")]
    }
    whole <- optimism(members)
    left <- optimism(kept)
    data.frame(group = group, members = length(members), kept = length(kept), optimism = whole$estimate,
               std.error = whole$std.error, kept_optimism = left$estimate, kept_std.error = left$std.error)
  })
  do.call(rbind, found)
}

# The paper's protocol on the cohort, from several seeds: one row per group, chain and kept
# draw. A prior so wide that no chain of this length could tell it from none.
make_protocol <- function(groups = c("all", "over_75", "carrier", "female"), iter = 11000, chains = 4) {
  cohort <- ibrc::read_adni(ibrc::adni_like)
  ids <- unique(cohort$RID)
  members <- c(list(all = seq_along(ids)), subgroup_members(cohort))
  setting <- ibrc::adni_like_truth()$setting
  found <- lapply(groups, function(group) {
    fit <- ibrc::ibrc(
      cohort[cohort$RID %in% ids[members[[group]]], ], setting, ibrc::perturb_models(setting, by = 0.1),
      ibrc::ibrc_prior(alpha ~ lognormal(0, 1000), beta ~ lognormal(0, 1000), eta ~ lognormal(0, 1000)),
      chains = chains, iter = iter, warmup = 1000, resolution = 20, seed = 1,
      control = ibrc::ibrc_control(sampler = "paper", thin = 10, start = data.frame(alpha = 1, beta = 1, eta = 1))
    )
    draws <- as.data.frame(fit)
    draws <- draws[draws$term == "beta", ]
    data.frame(group = group, chain = draws$.chain, draw = draws$.iteration, beta = draws$value)
  })
  do.call(rbind, found)
}

# What a run of the protocol reports, and every tenth kept draw for the picture.
protocol_reports <- function(draws) {
  parts <- split(draws, list(draws$chain, factor(draws$group, unique(draws$group))), drop = TRUE)
  out <- lapply(parts, function(one) {
    data.frame(group = one$group[1], chain = one$chain[1], mean = mean(one$beta), median = stats::median(one$beta))
  })
  out <- do.call(rbind, out)
  rownames(out) <- NULL
  out
}

protocol_trace <- function(draws) draws[draws$draw %% 20 == 0, ]

# DIAG's optimist with V(z) interpolated, and with the value of each state at a belief,
# lambda(s, z), interpolated and weighted by the belief: one row per resolution, with the
# largest distance of either from a fine lattice, and of one from the other.
soft_mean <- function(x, price) {
  best <- do.call(pmax, as.data.frame(x))
  best + price * log(rowMeans(exp((x - best) / price)))
}

soft_share <- function(x, price) exp((x - soft_mean(x, price)) / price) / ncol(x)

optimist_value <- function(n, by_state, alpha = 0.5, beta = 1.25, eta = 1e-3, discount = 0.95, backups = 400) {
  accuracy <- c(0.6, 0.7, 0.8)
  p <- (0:n) / n
  worth <- cbind(c(10, -36), c(-36, 10), c(-1, -1))
  positive <- outer(p, accuracy) + outer(1 - p, 1 - accuracy)
  up <- outer(p, accuracy) / positive
  down <- outer(p, 1 - accuracy) / (1 - positive)
  entropy <- -positive * log(positive) - (1 - positive) * log(1 - positive)
  entropy[p %in% c(0, 1), ] <- 0
  V <- numeric(n + 1)
  lambda <- matrix(0, n + 1, 2)
  read <- function(on_nodes, z) array(stats::approx(p, on_nodes, z)$y, dim(z))
  value_at <- function(z) {
    if (!by_state) return(read(V, z))
    (1 - z) * read(lambda[, 1], z) + z * read(lambda[, 2], z)
  }
  for (i in seq_len(backups)) {
    anew <- eta * log(2) + discount * (value_at(t(accuracy)) + value_at(t(1 - accuracy))) / 2
    anew <- anew[rep(1, n + 1), ]
    monitor <- eta * entropy + discount * (positive * value_at(up) + (1 - positive) * value_at(down))
    K <- list(anew, anew, monitor)
    Q <- cbind(1 - p, p) %*% worth + vapply(K, soft_mean, numeric(n + 1), beta)
    V <- soft_mean(Q, alpha)
    if (by_state) {
      lambda <- state_values(lambda, Q, K, worth, up, down, entropy, accuracy, read, alpha, beta, eta, discount)
    }
  }
  V
}

# One backup of lambda under the present policies.
state_values <- function(lambda, Q, K, worth, up, down, entropy, accuracy, read, alpha, beta, eta, discount) {
  policy <- soft_share(Q, alpha)
  vapply(1:2, function(state) {
    right <- matrix(if (state == 2) accuracy else 1 - accuracy, nrow(Q), 3, byrow = TRUE)
    on <- lambda[, state]
    goes_on <- eta * entropy + discount * (right * read(on, up) + (1 - right) * read(on, down))
    total <- numeric(nrow(Q))
    for (u in 1:3) {
      sigma <- soft_share(K[[u]], beta)
      then <- if (u == 3) goes_on else K[[u]]
      worth_u <- worth[state, u] + rowSums(sigma * (then - beta * log(3 * sigma)))
      total <- total + policy[, u] * (worth_u - alpha * log(3 * policy[, u]))
    }
    total
  }, numeric(nrow(Q)))
}

make_lambda <- function(resolutions = c(25, 50, 100, 200), fine = 1600) {
  limit <- optimist_value(fine, FALSE)
  found <- lapply(resolutions, function(n) {
    by_value <- optimist_value(n, FALSE)
    by_state <- optimist_value(n, TRUE)
    there <- limit[1 + (0:n) * fine / n]
    data.frame(resolution = n, by_value = max(abs(by_value - there)), by_state = max(abs(by_state - there)),
               apart = max(abs(by_value - by_state)))
  })
  do.call(rbind, found)
}

store_result <- function(table, name, folder = file.path("inst", "extdata", "vignettes")) {
  numbers <- vapply(table, is.double, NA)
  table[numbers] <- lapply(table[numbers], signif, 5)
  utils::write.csv(table, file.path(folder, paste0("paper-", name, ".csv")), row.names = FALSE, quote = TRUE)
}

if (sys.nframe() == 0) {
  dir.create(file.path("inst", "extdata", "vignettes"), showWarnings = FALSE, recursive = TRUE)
  store_result(make_lambda(), "lambda")
  store_result(make_ratios(), "ratios")
  store_result(make_subgroups(), "subgroups")
  draws <- make_protocol()
  store_result(protocol_reports(draws), "reports")
  store_result(protocol_trace(draws), "trace")
  store_result(make_variants(), "variants")
}
