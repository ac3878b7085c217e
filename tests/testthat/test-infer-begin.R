setting <- diag_setting()
models <- diag_models()
prior <- ibrc_prior(alpha ~ lognormal(0, 1.5), optimism ~ normal(0, 1))

clinic_evaluator <- function(likelihood = TRUE) {
  inverse <- read_inverse(clinic_visits(), setting, models, prior, list(), "clinic", by_default = FALSE)
  inverse <- build_inverse(group_inverse(inverse, clinic_visits(), "clinic"), 20, ibrc_control(), 1L)
  inverse_evaluator(inverse, rep(1:2, each = 2), likelihood = likelihood)
}
run <- list(chains = 2L, iter = 400L, max_iter = 400L, warmup = 200L, thin = 1L, cores = 1L, refresh = 0L, seed = 7L)

test_that("chains begin at scouts, the same whether groups stand together or apart", {
  skip_if_not_installed("future.apply")
  evaluator <- clinic_evaluator()
  together <- begin_chains(evaluator, NULL, run, "adaptive", 21L)
  apart <- begin_chains(evaluator, NULL, run, "adaptive", 21L, apart = TRUE)
  expect_identical(apart$start, together$start)
  expect_identical(dim(together$chain$state$scouts), c(scouts_for(2, 200), 2L, 3L, 2L))
  for (g in 1:2) {
    part <- apart$chain$parts[[g]]
    mine <- which(evaluator$group == g)
    expect_identical(part$state$positions, together$chain$state$positions[mine, ])
    expect_identical(part$value, together$chain$value[, mine])
    expect_identical(part$state$scouts[, , , 1], together$chain$state$scouts[, , , g])
    expect_identical(part$state$log_density, together$chain$state$log_density[mine])
  }
})

test_that("where scouts would not serve none are sent", {
  evaluator <- clinic_evaluator()
  none <- function(begun) expect_null(begun$chain$state$scouts)
  none(begin_chains(evaluator, data.frame(alpha = 1, optimism = 0), run, "adaptive", 21L))
  none(begin_chains(evaluator, NULL, run, "paper", 21L))
  none(begin_chains(clinic_evaluator(FALSE), NULL, run, "adaptive", 21L))
  short <- replace(run, "warmup", list(mixture_warmup - 1L))
  none(begin_chains(evaluator, NULL, short, "adaptive", 21L))
  expect_false(scouts_serve(list(prior = rep(list(1), most_scouted + 1), likelihood = TRUE), run, "adaptive"))
  expect_identical(scouts_for(3, 1000), 400L)
  expect_identical(scouts_for(3, 5000), 400L)
  expect_identical(scouts_for(20, 1000), as.integer(most_scouts))
})

test_that("an interrupt among scouts says that there are no draws", {
  local_replacement("scout", function(...) {
    stop(structure(class = c("interrupt", "condition"), list(message = "", call = NULL)))
  })
  expect_error(ibrc(clinic_visits(), setting, models, prior, chains = 1, iter = 400, resolution = 20),
               "no draws", class = "ibrc_error_interrupted")
})

test_that("progress is said while scouts are on their way", {
  expect_message(expect_message(
    ibrc(clinic_visits(), setting, models, prior, chains = 1, iter = 200, resolution = 20, refresh = 100, seed = 1),
    "the data have all their weight"), "step 100 of 200")
})
