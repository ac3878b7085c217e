# A dozen draws have no diagnostics to speak of, and say so.
kfold_quietly <- function(...) suppressWarnings(kfold(...))
mean_density <- function(each) unname(log(colMeans(exp(each))))
who <- unique(ward_visits()$id)
ward_of <- ward_visits()$ward[match(who, ward_visits()$id)]

test_that("with dynamics and agents together, a fold is one refit of all without the decisions of some", {
  fit <- ward_fit()
  crossed <- kfold_quietly(fit, folds = 2, iter = 24, warmup = 12, draws = NULL)
  expect_identical(crossed$refits$fold, c(1L, 2L, 1L, 2L))
  expect_identical(as.character(crossed$refits$group), rep(c("east", "west"), each = 2))
  out <- crossed$folds == 2
  again <- suppressWarnings(ibrc(
    ward_part(c("east", "west"), who[!out]), clinic_of, clinic_step, ward_prior(), list(eta = 0), by = "ward",
    chains = 2, iter = 24, warmup = 12, seed = crossed$refits$seed[2], resolution = 6,
    dynamics = ward_iohmm(transitions = "shared")
  ))
  expect_close(crossed$pointwise[out, 1], mean_density(log_lik(again, NULL, newdata = ward_part(c("east", "west"),
                                                                                                who[out]))), 1e-8)
  expect_close(crossed$refits$rhat[4], max(suppressWarnings(tidy(again))$rhat[3:4]), 1e-9)
  expect_close(crossed$pointwise[, "p_kfold"] + crossed$pointwise[, 1], mean_density(log_lik(fit, NULL)), 1e-9)
})

test_that("under draws of the dynamics, refits under each of them count alike", {
  fit <- ward_cut()
  crossed <- kfold_quietly(fit, folds = 2, iter = 16, draws = NULL)
  out <- crossed$folds == 1 & ward_of == "west"
  kept <- ward_part("west", who[crossed$folds == 2])
  seeds <- with_stream(streams_from_seed(crossed$refits$seed[3])[[1]], sample.int(.Machine$integer.max, 3))
  each <- lapply(1:3, function(k) {
    # The first draw of its chains.
    setting <- plan_of_draw(fit, "west", 60 * (k - 1) + 1)$setting
    again <- suppressWarnings(ibrc(kept, setting, clinic_step(setting), ward_prior(), list(eta = 0), chains = 2,
                                   iter = 16, seed = seeds[k], resolution = 6))
    log_lik(again, NULL, newdata = ward_part("west", who[out]))
  })
  expect_close(crossed$pointwise[out, 1], mean_density(do.call(rbind, each)), 1e-6)
})

test_that("what cannot be left out, or begun from, is said before any work", {
  expect_refused(kfold(ward_fit(), start = "fit"), "start", "begin by themselves")
  expect_refused(kfold(ward_cut(), start = "fit"), "start")
  expect_refused(kfold(ward_fit(), folds = ifelse(ward_of == "east", 1, 2)), "folds", "leave nobody of a group in")
})
