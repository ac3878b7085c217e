# Do C and plain R agree on the log posterior? Ratios of posterior(theta') to
# posterior(theta), which are what a sampler decides by, from the package's batch
# evaluator and from the twin in tests/testthat/helper-posterior.R: random settings of
# 2-4 states, 2-3 actions, 2-4 observations and 1-3 models, coarse random lattices, priors
# of every distribution offered, behaviour with unseen observations, both ways between
# nodes, solves from nothing, from the last solution and from anywhere.
#
# A relative difference is |log ratio by C - log ratio by the twin| over the larger of 1
# and |log ratio by the twin|. C solves to 1e-12 here: with the 1e-8 that a fit asks for
# it is some 1e-8. The twin iterates until only rounding moves it. Then faults are
# planted in the twin, and have to be found.
#
#   Rscript tests/slow/twins.R [pairs] [file for the table of pairs]

source(file.path("tests", "slow", "shared", "promise.R"))
for (name in c("build_histories", "code_visits", "new_evaluator", "evaluate_batch")) assign(name, own(name))
for (name in c("reference", "random", "posterior")) {
  source(file.path("tests", "testthat", paste0("helper-", name, ".R")))
}

pairs <- argument(1, 1000L)
table_file <- argument(2, "")
each <- 5L
wanted <- 1e-10
problems <- ceiling(pairs / each)
of <- function(n, all) paste(format(n, big.mark = ","), "of", format(all, big.mark = ","))

# ---- the twin over all nodes is the twin node by node -----------------------------

gaps <- vapply(seq_len(20), function(seed) {
  problem <- random_problem(seed)
  agent <- as.list(bounded_agent(alpha = stats::runif(1, 0.2, 3), beta = sample(c(-1, 0.5, Inf), 1), eta = 0.3))
  reward <- problem$twin$nodes %*% problem$utility
  value <- stats::rnorm(nrow(reward), sd = 5)
  tables <- problem$twin$tables
  tables$H[] <- problem$twin$H
  plain <- twin_backup(tables, reward, value, agent, problem$twin$action_prior, problem$twin$weights, problem$discount)
  rows <- twin_backup_rows(problem$twin, value, agent, reward, problem$discount)
  max(abs(plain$V - rows$V), abs(plain$Q - rows$Q), abs(as.vector(plain$K) - as.vector(rows$K)))
}, 0)
promise("the twin over all nodes at once is the twin node by node", "20 problems, every difference below 1e-12",
        paste("worst difference", signif(max(gaps), 2)), max(gaps) < 1e-12)

# ---- ratios -----------------------------------------------------------------------

result <- do.call(rbind, lapply(seq_len(problems), compare_pairs, n = each))
result <- result[seq_len(min(pairs, nrow(result))), ]
if (nzchar(table_file)) utils::write.csv(result, table_file, row.names = FALSE)
gap <- relative_gap(result$ratio, result$twin)
promise(paste("log-posterior ratios of", format(nrow(result), big.mark = ","), "pairs, C against plain R"),
        paste("every relative difference at most", wanted),
        paste0("worst relative difference ", signif(max(gap), 2), ", median ", signif(stats::median(gap), 2), ", ",
               of(sum(gap <= wanted), nrow(result)), " within ", wanted), all(gap <= wanted))
level <- relative_gap(result$level, result$twin_level)
promise("log posteriors themselves, the mass between a prior's bounds included",
        paste("every relative difference at most", wanted),
        paste("worst relative difference", signif(max(level), 2)), all(level <= wanted))
promise("ratios are finite and differ", "all finite, with a standard deviation above 1",
        paste0("from ", signif(min(result$twin), 3), " to ", signif(max(result$twin), 3)),
        all(is.finite(result$ratio)) && stats::sd(result$twin) > 1)

met <- function(column) unique(unlist(strsplit(result[[column]], " ")))
families <- names(own("prior_distributions"))
promise("every distribution of a prior is met", "all",
        of(sum(families %in% met("families")), length(families)),
        all(families %in% met("families")))
terms <- c("alpha", "flexibility", "beta", "optimism", "eta", "adaptivity", "discount", "utility")
promise("every term is met", "all", of(sum(terms %in% met("terms")), length(terms)), all(terms %in% met("terms")))
promise("every scale, both ways between nodes, both surprises, 2 to 4 states and 1 to 3 models are met", "all",
        paste(length(unique(result$seed)), "problems,", sum(result$missing[!duplicated(result$seed)]),
              "observations unseen"),
        setequal(met("scales"), c("identity", "log", "logit")) && setequal(result$interpolate, c("value", "policy")) &&
          setequal(result$surprise, c("belief", "observation")) && setequal(result$states, 2:4) &&
          setequal(result$models, 1:3))

# ---- planted faults -------------------------------------------------------------------

faults <- c(decision = "the price of deciding with the wrong sign",
            surprise = "the price of surprise with the wrong sign", late = "beliefs a visit late",
            jacobian = "no Jacobian")
for (fault in names(faults)) {
  faulty <- do.call(rbind, lapply(seq_len(20), compare_pairs, n = 2, fault = fault))
  gap <- relative_gap(faulty$ratio, faulty$twin)
  # Where every term is on its own scale there is no Jacobian to leave out.
  touched <- fault != "jacobian" | grepl("log", faulty$scales)
  seen <- gap[touched] > wanted
  promise(paste0("planted fault, ", faults[[fault]], ", is found"),
          "40 pairs, 90% or more beyond the mark of ratios, one beyond 0.001 at least",
          paste0(of(sum(seen), length(seen)), " pairs, worst relative difference ", signif(max(gap), 2)),
          mean(seen) >= 0.9 && max(gap) > 1e-3)
}

finish()
