# A model with pseudo-counts, transitions of each action, and zeros.
ward_codecs <- function() {
  list(new_codec(ward_iohmm(transitions = "shared")),
       new_codec(ward_iohmm(prior = iohmm_prior(0.5, 0.3, 0.2, stay = 1))))
}

test_that("laws become fractions and come back, zeros, sharing and names kept", {
  for (codec in ward_codecs()) {
    iohmm <- codec$iohmm
    back <- dynamics_at(codec, vectors_of(codec, matrix(codec$estimate, 1))[1, ])
    for (law in c("start", "transition", "emission")) {
      expect_close(back[[law]], pmax(iohmm[[law]], 0), 1e-3)
      expect_identical(dimnames(back[[law]]), dimnames(iohmm[[law]]))
    }
    expect_identical(back$emission == 0, aperm(array(!iohmm$possible, c(2, 4, 2)), c(3, 2, 1)), ignore_attr = TRUE)
    anywhere <- with_seed(1, matrix(stats::rnorm(3 * length(codec$prior)), 3))
    vectors <- vectors_of(codec, stats::plogis(anywhere))
    for (i in 1:3) {
      laws <- dynamics_at(codec, vectors[i, ])
      expect_close(apply(laws$emission, c(1, 3), sum), matrix(1, 2, 2), 1e-12)
      expect_close(apply(laws$transition, c(1, 3), sum), matrix(1, 2, 2), 1e-12)
      if (iohmm$shared) expect_identical(laws$transition[, , 1], laws$transition[, , 2])
      expect_close(fractions_of(codec, laws), stats::plogis(anywhere[i, ]), 1e-2)
    }
  }
})

test_that("the density of the laws is Dirichlet, with its Jacobian", {
  for (codec in ward_codecs()) {
    theta <- with_seed(2, matrix(stats::rnorm(4 * length(codec$prior)), 4))
    density <- log_law_density(codec, theta)
    expect_close(density, prior_log_density(codec$prior, theta), 1e-8)
    # By hand: counts of each law, and the volume that fractions have on the simplex.
    by_hand <- vapply(1:4, function(i) {
      rows <- simplex_rows(codec$iohmm, codec$size)
      vector <- vectors_of(codec, stats::plogis(theta[i, , drop = FALSE]))[1, ]
      sum(vapply(rows, function(row) {
        p <- vector[row$at]
        a <- row$shape
        left <- rev(cumsum(rev(p)))
        v <- (p / left)[-length(p)]
        lgamma(sum(a)) - sum(lgamma(a)) + sum((a - 1) * log(p)) + sum(log(left[-length(p)])) + sum(log(v * (1 - v)))
      }, 0))
    }, 0)
    expect_close(density, by_hand, 1e-8)
    expect_identical(log_law_density(codec, theta * Inf), rep(-Inf, 4))
  }
})

test_that("the likelihood of what was seen is the learned model's", {
  for (codec in ward_codecs()) {
    iohmm <- codec$iohmm
    tree <- iohmm_tree(without_open_ends(ward_iohmm(transitions = "shared")$coded), iohmm)
    theta <- with_seed(3, matrix(stats::rnorm(2 * length(codec$prior)), 2))
    vectors <- vectors_of(codec, stats::plogis(theta))
    found <- observation_log_lik(codec, tree, vectors, 1L)
    for (i in 1:2) {
      expect_close(found[i], .Call(ffi_iohmm_expect, tree, iohmm_laws(dynamics_at(codec, vectors[i, ])))$log_lik, 1e-9)
    }
  }
})

test_that("states that change places are noticed", {
  codec <- ward_codecs()[[1]]
  here <- vectors_of(codec, matrix(codec$estimate, 1))
  laws <- dynamics_at(codec, here[1, ])
  laws$emission <- laws$emission[2:1, , ]
  there <- vectors_of(codec, matrix(fractions_of(codec, laws), 1))
  expect_identical(state_order(codec, rbind(here, there)), c("1 2", "2 1"))
  unsorted <- codec
  unsorted$iohmm$scores <- NULL
  expect_null(state_order(unsorted, here))
})

test_that("states that change places are told by what learned states show, as by trying all orders", {
  n <- 4
  orders <- expand.grid(rep(list(seq_len(n)), n))
  orders <- as.matrix(orders[apply(orders, 1, function(order) !anyDuplicated(order)), ])
  rows <- function(k, by) with_seed(k, array(random_rows(n * by, 3), c(n, by, 3)))
  learned <- aperm(rows(1, 2), c(1, 3, 2))
  codec <- list(size = c(states = n, observations = 3, actions = 2, starts = 1),
                iohmm = list(start = numeric(), transition = numeric(), emission = learned,
                             counts = list(transition = array(c(rep(3, 16), rep(1, 16)), c(n, n, 2)))))
  # Between what was learned, one way round or another, and anything.
  drawn <- lapply(1:40, function(k) {
    share <- k / 40
    (1 - share) * learned[orders[1 + k %% 3, ], , ] + share * aperm(rows(k + 1, 2), c(1, 3, 2))
  })
  drawn[[41]] <- learned
  by_hand <- vapply(drawn, function(one) {
    cost <- apply(orders, 1, function(order) {
      sum(apply((one - learned[order, , ])^2, 3, sum) * c(3, 1) / 4)
    })
    min(cost) < cost[apply(orders, 1, function(order) all(order == seq_len(n)))] - 1e-12
  }, NA)
  found <- changed_places(codec, t(vapply(drawn, as.vector, numeric(24))))
  expect_identical(found, by_hand)
  expect_true(any(found) && !all(found))
  expect_false(found[41])
})
