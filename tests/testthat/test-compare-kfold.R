setting <- diag_setting()
models <- diag_models()
prior <- ibrc_prior(alpha ~ lognormal(0, 1))
truth <- plan_agent(setting, bounded_agent(0.5), models, resolution = 10)

# Two sites of unequal size, rows mixed.
sites_of <- function(n_north, n_south) {
  data <- as.data.frame(simulate(truth, n_north + n_south, seed = 3))
  data$site <- ifelse(data$id <= n_north, "north", "south")
  data <- data[order(data$time, (data$id * 7) %% 11), ]
  trajectories(data, covariates = "site", setting = setting)
}
fit_quietly <- function(visits, by = NULL, iter = 200, ...) {
  suppressWarnings(ibrc(visits, setting, models, prior, by = by, chains = 2, iter = iter, seed = 4, resolution = 10,
                        ...))
}
kfold_quietly <- function(...) suppressWarnings(kfold(...), classes = "ibrc_warning_convergence")
only <- function(visits, keep) trajectories(as.data.frame(visits)[visits$id %in% keep, ], covariates = "site")
mean_density <- function(each) unname(log(colMeans(exp(each))))

small <- sites_of(5, 3)
site_of <- small$site[match(unique(small$id), small$id)]
pooled <- fit_quietly(small)
by_site <- fit_quietly(small, "site")
four_folds <- function() cached("four_folds", kfold_quietly(by_site, folds = 4))

test_that("a fold per trajectory is leaving each out by hand", {
  crossed <- kfold_quietly(pooled, folds = 8, draws = NULL)
  who <- unique(small$id)
  expect_identical(sort(crossed$folds), 1:8)
  by_hand <- vapply(seq_along(who), function(i) {
    seed <- crossed$refits$seed[crossed$refits$fold == crossed$folds[i]]
    refit <- suppressWarnings(ibrc(only(small, who[-i]), setting, models, prior, chains = 2, iter = 200, seed = seed,
                                   resolution = 10))
    mean_density(log_lik(refit, NULL, newdata = only(small, who[i])))
  }, 0)
  expect_close(crossed$pointwise[, "elpd_kfold"], by_hand, 1e-10)
  expect_close(crossed$estimates["elpd_kfold", "Estimate"], sum(by_hand), 1e-9)
  expect_close(crossed$estimates["elpd_kfold", "SE"], sqrt(8 * var(by_hand)), 1e-9)
  expect_close(crossed$pointwise[, "p_kfold"], mean_density(log_lik(pooled, NULL)) - by_hand, 1e-10)
})

test_that("groups are fitted again by themselves, several left out at a time", {
  crossed <- kfold_quietly(by_site, folds = 2)
  who <- unique(small$id)
  expect_identical(nrow(crossed$refits), 4L)
  for (i in seq_len(4)) {
    refit <- crossed$refits[i, ]
    out <- crossed$folds == refit$fold & site_of == refit$group
    again <- suppressWarnings(ibrc(only(small, who[!out & site_of == refit$group]), setting, models, prior, chains = 2,
                                   iter = 200, seed = refit$seed, resolution = 10))
    expect_identical(refit$fitted, sum(again$group_sizes))
    expect_close(crossed$pointwise[out, 1], mean_density(log_lik(again, NULL, newdata = only(small, who[out]))), 1e-10)
    expect_close(refit$rhat, tidy(again)$rhat, 1e-10)
  }
})

test_that("the only trajectory of a group is predicted from the prior", {
  lone <- sites_of(5, 1)
  fit <- fit_quietly(lone, "site")
  crossed <- kfold_quietly(fit, folds = 3, draws = NULL)
  refit <- crossed$refits[crossed$refits$group == "south", ]
  expect_identical(c(nrow(refit), refit$fitted), c(1L, 0L))
  alone <- suppressWarnings(ibrc(only(lone, 1:5), setting, models, prior, chains = 2, iter = 200, seed = refit$seed,
                                 resolution = 10, sample_prior = "only"))
  predicted <- mean_density(log_lik(alone, NULL, newdata = only(lone, 6)))
  expect_close(crossed$pointwise[unique(lone$id) == 6, 1], predicted, 1e-10)
  expect_output(print(crossed), "Fewer than 5 trajectories were left\\s+of groups \"north\" and \"south\"")
})

test_that("groups with dynamics of their own keep them", {
  other <- setting
  other$start <- c(healthy = 0.3, diseased = 0.7)
  fit <- suppressWarnings(ibrc(small, list(north = setting, south = other), models, prior, by = "site", chains = 2,
                               iter = 200, seed = 4, resolution = 10))
  crossed <- kfold_quietly(fit, folds = 3)
  who <- unique(small$id)
  refit <- crossed$refits[crossed$refits$group == "south", ][2, ]
  out <- crossed$folds == refit$fold & site_of == "south"
  again <- suppressWarnings(ibrc(only(small, who[!out & site_of == "south"]), other, models, prior, chains = 2,
                                 iter = 200, seed = refit$seed, resolution = 10))
  expect_close(crossed$pointwise[out, 1], mean_density(log_lik(again, NULL, newdata = only(small, who[out]))), 1e-10)
})

test_that("where leave-one-out can be had without refits, the two agree", {
  # A fold per trajectory, every day, is the exact answer. This one takes ten refits of four chains.
  skip_if_not(Sys.getenv("IBRC_EXTENDED_TESTS") == "1")
  skip_if_not_installed("loo")
  visits <- simulate(truth, 120, seed = 5)
  fit <- ibrc(visits, setting, models, prior, chains = 4, iter = 1000, seed = 1, resolution = 10)
  left <- loo(fit)
  expect_silent(crossed <- kfold(fit, folds = 10, draws = 400))
  both <- cbind(left$pointwise[, "elpd_loo"], crossed$pointwise[, "elpd_kfold"])
  # Folds of a tenth leave the posterior where it was, and refits add their Monte Carlo error.
  expect_lt(abs(sum(both[, 1] - both[, 2])), 0.5)
  expect_gt(stats::cor(both)[1, 2], 0.999)
  compared <- suppressWarnings(loo::loo_compare(list(loo = left, kfold = crossed)))
  expect_lt(abs(compared[2, "elpd_diff"]), 0.5)
})

test_that("folds are even in every group and in all, and settled by the seed", {
  group <- rep(c(1L, 2L, 3L), c(17, 3, 30))[order((1:50 * 7) %% 50)]
  folds <- split_folds(group, 5, 1)
  expect_identical(as.vector(table(folds)), rep(10L, 5))
  counts <- table(group, folds)
  expect_lte(max(apply(counts, 1, function(n) diff(range(n)))), 1)
  expect_identical(split_folds(group, 5, 1), folds)
  expect_false(identical(split_folds(group, 5, 2), folds))
  set.seed(1)
  before <- .Random.seed
  first <- four_folds()
  expect_identical(.Random.seed, before)
  expect_identical(kfold_quietly(by_site, folds = 4), first)
  # A group with fewer trajectories than folds is fitted again as often as it has trajectories.
  expect_identical(as.vector(table(first$refits$group)), c(4L, 3L))
})

test_that("fits with other groups are compared over the same folds", {
  first <- four_folds()
  second <- kfold_quietly(pooled, folds = first, iter = 60)
  expect_identical(second$folds, first$folds)
  expect_identical(kfold_quietly(pooled, folds = first$folds + 10, iter = 60), second)
  expect_s3_class(second, c("ibrc_kfold", "kfold", "loo"), exact = TRUE)
  skip_if_not_installed("loo")
  compared <- loo::loo_compare(list(by_site = first, pooled = second))
  expect_setequal(rownames(compared), c("by_site", "pooled"))
  difference <- second$pointwise[, 1] - first$pointwise[, 1]
  expect_equal(abs(compared[2, "elpd_diff"]), abs(sum(difference)))
  expect_identical(loo::kfold(pooled, folds = 2, iter = 60) |> suppressWarnings(),
                   kfold_quietly(pooled, folds = 2, iter = 60))
})

test_that("shorter refits can be asked for, and start where the fit ended", {
  crossed <- kfold_quietly(by_site, folds = 2, chains = 3, iter = 50, start = "fit", draws = 30)
  expect_false(anyNA(crossed$pointwise))
  # Three chains from the two of the fit.
  refits <- plan_refits(by_site, crossed$folds)
  run <- refit_run(by_site$run, 3, 50, NULL, NULL, NULL, 0)
  piece <- refit_piece(by_site, crossed$folds, refits[3, ], run, "fit", 30)
  ends <- by_site$draws$south[100, , ]
  expect_equal(as.vector(piece$start), as.vector(ends[c(1, 2, 1)]))
  expect_identical(piece$run[c("iter", "warmup", "thin")], list(iter = 50L, warmup = 25L, thin = 1L))
  expect_identical(refit_run(by_site$run, NULL, NULL, NULL, NULL, NULL, 0)[c("iter", "warmup")],
                   by_site$run[c("iter", "warmup")])
})

test_that("a result from chains that do not agree must not be used, and says so", {
  expect_warning(crossed <- kfold(pooled, folds = 2, iter = 12), "Do not use", class = "ibrc_warning_convergence")
  expect_gt(max(crossed$refits$rhat), 1.01)
  expect_output(print(crossed), "Do not use: in [12] of 2\\s+refits the chains do not agree")
  good <- crossed
  good$refits$rhat <- 1.001
  expect_false(any(grepl("Do not use", capture.output(print(good)))))
  # Printing tells no number of trajectories below five.
  expect_false(any(grepl("\\b[1-4] trajector", capture.output(print(good)))))
})

test_that("a tree gives back the visits that it was built from", {
  coded <- code_visits(small, setting)
  tree <- build_histories(coded, setting)
  again <- coded_from_tree(tree, coded$action + 1L)
  expect_identical(again[c("trajectory", "action")], coded[c("trajectory", "action")])
  expect_identical(build_histories(again, setting), tree)
  expect_lt(length(unique(coded$trajectory)), length(coded$trajectory))
})

test_that("what cannot be crossed is refused", {
  said <- function(code, text, argument) {
    error <- expect_error(code, text, class = "ibrc_error_input")
    expect_identical(error$argument, argument)
  }
  said(kfold(pooled, folds = 9), "more than there are trajectories", "folds")
  said(kfold(pooled, folds = 1), "2 or more", "folds")
  said(kfold(pooled, folds = c(1, 2)), "fewer", "folds")
  said(kfold(pooled, folds = 1:9), "more", "folds")
  said(kfold(pooled, folds = rep(3, 8)), "nothing would be left", "folds")
  said(kfold(pooled, folds = c(1:7, NA)), "position 8", "folds")
  said(kfold(pooled, folds = c(1:7, 1.5)), "position 8", "folds")
  said(kfold(pooled, folds = stats::setNames(rep(1:2, 4), 1:8)), "unname", "folds")
  said(kfold(pooled, folds = structure(list(folds = 1:3), class = "ibrc_kfold")), "it has 3 trajectories", "folds")
  said(kfold(pooled, folds = letters[1:8]), "whole number for each trajectory", "folds")
  said(kfold(pooled, iter = 100, warmup = 100), "more than `warmup`", "iter")
  said(kfold(pooled, start = "here"), "\"prior\" and \"fit\"", "start")
  said(kfold(pooled, nonsense = 1), "must be empty", "...")
  said(kfold(fit_quietly(small, control = list(keep_data = FALSE))), "keep_data", "x")
  said(kfold(fit_quietly(small, sample_prior = "only")), "draws from the prior", "x")
  said(kfold("text"), "ibrc()", "x")
})

test_that("what is not a fit goes to the package that knows it", {
  skip_if_not_installed("loo")
  registerS3method("kfold", "planted_class", function(x, ...) list("crossed", ...), envir = asNamespace("loo"))
  withr::defer(rm("kfold.planted_class", envir = get(".__S3MethodsTable__.", asNamespace("loo"))))
  expect_identical(kfold(structure(1, class = "planted_class"), K = 3), list("crossed", K = 3))
})

test_that("progress is told after each refit, and can be silenced", {
  messages <- testthat::capture_messages(kfold_quietly(pooled, folds = 2, iter = 60, refresh = 1))
  expect_match(messages, "refit [12] of 2, about .* left")
  expect_length(messages, 2)
  expect_silent(kfold_quietly(pooled, folds = 2, iter = 60, refresh = 0))
})

test_that("refits in other processes give the same", {
  skip_on_cran()
  skip_if_not_installed("future.apply")
  here <- kfold_quietly(by_site, folds = 2, iter = 60)
  before <- future::plan("multisession", workers = 2)
  withr::defer(future::plan(before))
  messages <- testthat::capture_messages(there <- kfold_quietly(by_site, folds = 2, iter = 60, refresh = 1))
  expect_match(messages, "refit [24] of 4")
  # As in test-infer-spread.R: valgrind has shorter long doubles.
  adds <- function(x) sum(rep(0.1, 1000))
  skip_if_not(identical(spread(list(1, 2), adds), list(adds(), adds())), "processes that do not add alike")
  expect_identical(there, here)
})

test_that("an interrupt ends it with a class, wherever it comes", {
  stop_here <- function(...) stop(structure(class = c("interrupt", "condition"), list(message = "", call = NULL)))
  local({
    real <- run_refit
    calls <- 0
    local_replacement("run_refit", function(piece) if ((calls <<- calls + 1) > 1) stop_here() else real(piece))
    expect_error(kfold(pooled, folds = 3), "after 1 of 3 refits", class = "ibrc_error_interrupted")
  })
  local_replacement("log_lik_at", stop_here)
  expect_error(kfold(pooled, folds = 3), "after 0 of 3 refits", class = "ibrc_error_interrupted")
})

test_that("Ctrl-C is answered in mid-refit, and leaves the generator as it was", {
  skip_without_signals()
  set.seed(8)
  before <- .Random.seed
  real <- step_chains
  steps <- 0
  local_replacement("step_chains", function(...) {
    if ((steps <<- steps + 1) == 30) send_interrupt()
    real(...)
  })
  took <- system.time(told <- tryCatch(kfold(pooled, folds = 3, iter = 20000), error = identity))
  expect_s3_class(told, "ibrc_error_interrupted")
  expect_lt(steps, 20000)
  expect_lt(took[["elapsed"]], 10)
  expect_identical(.Random.seed, before)
})
