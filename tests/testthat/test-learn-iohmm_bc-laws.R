test_that("laws and the numbers that stand for them are turned into each other", {
  set.seed(5)
  for (shared in c(FALSE, TRUE)) {
    one <- random_clone(shared = shared)
    problem <- list(task = one$task, shared = shared, possible = t(matrix(one$task$prior$possible == 1, 4)))
    laws <- from_weights(one$x, problem)
    expect_close(sum(laws$start), 1, 1e-12)
    expect_close(colSums(laws$centres), rep(1, ncol(laws$centres)), 1e-12)
    again <- from_weights(c(to_weights(laws, problem), laws$centres, log(laws$sharpness)), problem)
    for (law in names(laws)) expect_close(again[[law]], laws[[law]], 1e-8)
  }
})

test_that("without actions that count, slopes are what counts expected by EM say", {
  set.seed(3)
  one <- random_clone()
  one$task$chosen[] <- 0
  problem <- list(task = one$task, shared = FALSE, possible = t(matrix(one$task$prior$possible == 1, 4)))
  laws <- from_weights(one$x, problem)
  expect_close(to_weights(laws, problem)[1:3], log(laws$start), 1e-12)
  found <- .Call(ffi_iohmm_bc_joint, one$task, one$x, 1L)
  counts <- expected_counts(laws, problem)
  start <- counts$start + 0.3
  expect_close(found$slope[1:3], start - sum(start) * laws$start, 1e-10)
  moves <- array(counts$transition, c(3, 3, 2)) + 0.2
  for (u in 1:2) moves[, , u] <- moves[, , u] + 0.4 * diag(3)
  expect_close(found$slope[3 + 1:18], as.vector(moves - as.vector(apply(moves, c(1, 3), sum)[
    , rep(1:2, each = 3)]) * laws$transition), 1e-10)
})
