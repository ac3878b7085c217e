test_that("streams follow from the seed, each by itself", {
  streams <- streams_from_seed(7, 4)
  expect_identical(streams_from_seed(7, 2), streams[1:2])
  expect_identical(streams[[3]], parallel::nextRNGStream(streams[[2]]))
  expect_false(identical(streams_from_seed(8, 1), streams[1]))
  expect_length(unique(streams), 4)
})

test_that("streams do not depend on the kind of generator in use", {
  # with_seed() leaves these kinds behind where nothing has been drawn before.
  before <- RNGkind()
  withr::defer(RNGkind(before[1], before[2], before[3]))
  expected <- streams_from_seed(7, 2)
  withr::with_seed(1, expect_identical(streams_from_seed(7, 2), expected),
                   .rng_kind = "Wichmann-Hill", .rng_normal_kind = "Box-Muller")
})

test_that("without a seed one number is taken from the present generator", {
  after_one <- with_seed(3, {
    runif(1)
    runif(1)
  })
  with_seed(3, {
    first <- streams_from_seed(NULL, 2)
    expect_identical(runif(1), after_one)
    expect_false(identical(streams_from_seed(NULL, 2), first))
  })
  expect_identical(with_seed(3, streams_from_seed(NULL, 2)), first)
})

test_that("the caller's generator is left as it was", {
  kinds <- RNGkind()
  with_seed(11, {
    before <- .GlobalEnv$.Random.seed
    streams <- streams_from_seed(1, 3)
    draw_noise(streams, 8, 2, 5)
    expect_identical(.GlobalEnv$.Random.seed, before)
    expect_error(keep_random_state({
      set.seed(1, kind = "Wichmann-Hill")
      stop("halfway")
    }), "halfway")
    expect_identical(.GlobalEnv$.Random.seed, before)
  })
  expect_identical(RNGkind(), kinds)
})

test_that("a session that has drawn nothing still has no seed, and its kinds", {
  before <- RNGkind()
  withr::with_preserve_seed({
    withr::defer(RNGkind(before[1], before[2], before[3]))
    RNGkind("Wichmann-Hill", "Ahrens-Dieter")
    kinds <- RNGkind()
    rm(".Random.seed", envir = globalenv())
    draw_noise(streams_from_seed(1, 2), 4, 1, 5)
    expect_false(exists(".Random.seed", envir = globalenv(), inherits = FALSE))
    expect_identical(RNGkind(), kinds)
  })
})

test_that("an interrupt at any moment leaves the caller's generator as it was", {
  skip_without_signals()
  with_seed(11, {
    before <- .GlobalEnv$.Random.seed
    for (draw in c(function() keep_random_state(set.seed(1)), function() drawn_from(1, stats::runif(1)))) {
      # One of these waits ends where the seed is being put back.
      kept <- vapply(0:1100, function(wait) {
        interrupted <- is_interrupted({
          send_interrupt()
          linger(wait)
          draw()
          linger()
        })
        same <- identical(.GlobalEnv$.Random.seed, before)
        assign(".Random.seed", before, envir = globalenv())
        c(interrupted, same)
      }, c(NA, NA))
      expect_identical(which(!kept[1, ]), integer(0), label = "waits without an interrupt")
      expect_identical(which(!kept[2, ]), integer(0), label = "waits after which the generator had moved")
    }
  })
})

test_that("a chain's noise is its own, and goes on where it stopped", {
  streams <- streams_from_seed(5, 3)
  together <- draw_noise(streams, 16, 2, 5)
  alone <- draw_noise(streams[2], 16, 2, 5)
  expect_identical(together$normal[c(2, 5), ], alone$normal)
  for (part in c("chi_square", "kind", "component", "log_uniform")) {
    expect_identical(together[[part]][2, ], alone[[part]][1, ])
  }
  expect_identical(together$streams[2], alone$streams)
  expect_false(identical(draw_noise(alone$streams, 16, 2, 5)$normal, alone$normal))
})

test_that("noise has the distributions it is named for", {
  noise <- draw_noise(streams_from_seed(6, 4), 2000, 2, 5)
  expect_gt(ks.test(as.vector(noise$normal), "pnorm")$p.value, 1e-3)
  expect_gt(ks.test(as.vector(noise$chi_square), "pchisq", 5)$p.value, 1e-3)
  expect_gt(ks.test(as.vector(noise$kind), "punif")$p.value, 1e-3)
  expect_gt(ks.test(as.vector(noise$component), "punif")$p.value, 1e-3)
  expect_gt(ks.test(exp(as.vector(noise$log_uniform)), "punif")$p.value, 1e-3)
})
