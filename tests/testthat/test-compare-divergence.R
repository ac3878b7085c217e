clinic <- decision_setting(
  c("well", "ill", "severe"), c("wait", "treat"), c("well", "ill", "severe"),
  list(wait = rbind(c(0.85, 0.12, 0.03), c(0.1, 0.6, 0.3), c(0, 0.1, 0.9)),
       treat = rbind(c(0.9, 0.08, 0.02), c(0.5, 0.4, 0.1), c(0.1, 0.4, 0.5))),
  "identity", cbind(wait = c(0, -2, -6), treat = c(-1.5, -3, -7)), discount = 0.9, start = c(1, 0, 0)
)
truth <- plan_agent(clinic, bounded_agent(alpha = 1))
other <- update(truth, bounded_agent(alpha = 3))
visits <- simulate(truth, 40, seed = 1, horizon = 6)

score <- function(laws, visits, setting = clinic, n_fitted = rep(list(0), length(laws)), replicates = 200,
                  seed = 1) {
  scores <- collect_scores(laws, code_scored(visits, setting), setting)
  list(scores = scores, boot = bootstrap_scores(scores, n_fitted, replicates, 0.95, seed))
}

test_that("losses are those worked out by hand, visit by visit", {
  law <- as.matrix(predict(other, visits))
  taken <- law[cbind(seq_len(nrow(law)), as.integer(visits$action))]
  done <- diag(2)[as.integer(visits$action), ]
  table <- score_table(score(list(other = law), visits)$boot, "other")
  expect_identical(table$measure, c("log_loss", "brier", "agreement", "divergence"))
  expect_close(table$estimate[1:3], c(mean(-log(taken)), mean(rowSums((law - done)^2)) / 2, mean(taken)), 1e-12)
  # On the scale of accuracy(): of two actions, mean (p - y)^2 of either.
  expect_close(table$estimate[2], brier_score(law, as.integer(visits$action)), 1e-12)
  expect_close(table$estimate[2], mean((law[, 2] - done[, 2])^2), 1e-12)
  expect_close(-sum(log_lik(other, visits)) / nrow(visits), table$estimate[1], 1e-12)
  expect_true(all(table$conf.low < table$estimate & table$estimate < table$conf.high))
})

test_that("the divergence is that of frequencies from the law, less what scatter adds", {
  law <- as.matrix(predict(other, visits))
  before <- unlist(tapply(as.character(visits$observation), visits$id, function(x) c("well", x[-length(x)])))
  count <- table(factor(before, clinic$states), visits$action)
  share <- count / rowSums(count)
  policy <- policy(other)
  plain <- sum(rowSums(count) / sum(count) * rowSums(ifelse(share > 0, share * log(share / policy), 0)))
  states <- collect_scores(list(law), code_scored(visits, clinic), clinic)$by_state
  expect_close(plug_in_divergence(t(colSums(states$count)), t(colSums(states$law[[1]])), nrow(visits)), plain, 1e-12)
  free <- sum(rowSums(count > 0) - 1)
  found <- function(n) score_table(score(list(a = law), visits, n_fitted = list(n))$boot, "a")$estimate[4]
  expect_close(found(0), plain - free / (2 * nrow(visits)), 1e-12)
  # Parameters that followed the scatter leave less of it to take off; more than there is, nothing.
  expect_close(found(1), plain - (free - 1) / (2 * nrow(visits)), 1e-12)
  expect_close(found(100), plain, 1e-12)
  # Frequencies themselves are no way from themselves.
  shares <- share[before, ]
  expect_close(score_table(score(list(a = shares), visits, n_fitted = list(3))$boot, "a")$estimate[4], 0, 1e-12)
})

test_that("the interval of a divergence is that of replicates moved to have the estimate as their mean", {
  boot <- score(list(a = predict(other, visits)), visits, replicates = 400)$boot
  again <- boot$again[, "divergence", "a"]
  whole <- boot$whole[1, "divergence", "a"]
  moved <- stats::quantile(again - mean(again) + whole, c((1 - 0.95) / 2, 0.975), type = 1, names = FALSE)
  found <- unlist(score_table(boot, "a")[4, c("conf.low", "conf.high")])
  expect_close(found, pmax(moved, 0), 1e-12)
  expect_gt(abs(mean(again) - whole), 1e-4)
  expect_identical(score_interval(c(2, 3, 4), 1, 0.95, centred = TRUE), c(0, 2))
})

test_that("corrected, the divergence of a law from behaviour under it is 0 on average, and another's is right", {
  # One state, so that the answer is known; 400 samples of 60 visits each.
  p <- c(0.6, 0.3, 0.1)
  q <- c(0.3, 0.3, 0.4)
  with_seed(1, counts <- t(stats::rmultinom(400, 60, p)))
  found <- function(law) {
    plug_in_divergence(counts, matrix(60 * law, 400, 3, byrow = TRUE), 60) -
      scatter_bias(counts, c(1, 1, 1), 60, 0)
  }
  away <- function(x, truth) (mean(x) - truth) / (stats::sd(x) / sqrt(length(x)))
  expect_lt(abs(away(found(p), 0)), 3)
  expect_lt(abs(away(found(q), sum(p * log(p / q)))), 3)
  # Without the correction it is far off.
  expect_gt(away(found(p) + scatter_bias(counts, c(1, 1, 1), 60, 0), 0), 8)
})

test_that("an action that was ruled out costs without bound, and intervals know it", {
  never <- matrix(c(1, 0), nrow(visits), 2, byrow = TRUE)
  both <- score(list(never = never, other = predict(other, visits)), visits)
  table <- score_table(both$boot, "never")
  expect_identical(table$estimate[table$measure == "log_loss"], Inf)
  expect_identical(table$conf.high[1], Inf)
  expect_identical(table$estimate[4], Inf)
  expect_true(all(is.finite(unlist(table[2:3, 2:4]))))
  expect_identical(score_difference(both$boot, "never", "other", "log_loss")[1], Inf)
  expect_identical(sum(both$scores$ruled_out$never), sum(visits$action == "treat") + 0)
  same <- score(list(a = never, b = never), visits)
  expect_true(is.na(score_difference(same$boot, "a", "b", "log_loss")[1]))
})

test_that("differences are paired: tighter than two intervals apart would be", {
  both <- score(list(truth = predict(truth, visits), other = predict(other, visits)), visits, replicates = 400)
  gap <- score_difference(both$boot, "other", "truth", "log_loss")
  expect_close(gap[1], diff(both$boot$whole[1, "log_loss", ]), 1e-12)
  width <- function(model) diff(unlist(score_table(both$boot, model)[1, c("conf.low", "conf.high")]))
  expect_lt(diff(gap[2:3]), sqrt(width("truth")^2 + width("other")^2))
  expect_true(gap[2] < gap[1] && gap[1] < gap[3])
})

test_that("of one patient there is no interval, and of few there is a word", {
  one <- score(list(a = predict(other, visits[visits$id == 1, ])), visits[visits$id == 1, ])
  table <- score_table(one$boot, "a")
  expect_true(all(is.finite(table$estimate)))
  expect_true(all(is.na(table$conf.low) & is.na(table$conf.high)))
  expect_match(score_notes(one$scores), "one patient", all = FALSE)
  few <- visits[visits$id < 4, ]
  expect_match(score_notes(score(list(a = predict(other, few)), few)$scores), "3 patients", all = FALSE)
})

test_that("visits count only where the action does, every model has a law and, for states, the state is known", {
  spread <- decision_setting(clinic$states, clinic$actions, clinic$observations, clinic$transition, "identity",
                             clinic$utility, discount = 0.9)
  plan <- plan_agent(spread, bounded_agent(alpha = 1))
  data <- as.data.frame(simulate(plan, 30, seed = 2, horizon = 4))
  data$free <- data$time != 2
  data$observation[data$id == 1 & data$time == 0] <- NA
  seen <- trajectories(data, scored = "free")
  law <- as.matrix(predict(plan, seen))
  scores <- collect_scores(list(a = law), code_scored(seen, spread), spread)
  expect_identical(scores$n_visits, 90L)
  # Each first visit, and the one after what is missing.
  expect_identical(scores$by_state$left_out, 31L)
  expect_identical(sum(scores$by_state$count), 59)
  expect_match(score_notes(scores), "31 visits the state is not known", all = FALSE)
  law[2, ] <- NA
  apart <- collect_scores(list(a = law, b = as.matrix(predict(plan, seen))), code_scored(seen, spread), spread)
  expect_identical(apart$n_visits, 89L)
  expect_match(score_notes(apart), "1 visit some model has no belief", all = FALSE)
  hidden <- diag_setting()
  drawn <- simulate(plan_agent(hidden, bounded_agent(1), resolution = 10), 20, seed = 1)
  laws <- list(a = predict(plan_agent(hidden, bounded_agent(1), resolution = 10), drawn))
  told <- score(laws, drawn, hidden)
  expect_true(is.na(score_table(told$boot, "a")$estimate[4]))
  expect_match(score_notes(told$scores), "state is not seen", all = FALSE)
})

test_that("nothing to score is an error with a class", {
  data <- as.data.frame(visits)
  data$action[] <- NA
  data$free <- FALSE
  expect_error(code_scored(trajectories(data, scored = "free"), clinic), "no action that counts",
               class = "ibrc_error_data")
})

test_that("a seed makes replicates repeatable, whatever the pieces, and the session's generator stays", {
  law <- list(a = predict(other, visits))
  with_seed(5, {
    state <- .Random.seed
    first <- score(law, visits, seed = 3)$boot$again
    expect_identical(.Random.seed, state)
  })
  expect_identical(score(law, visits, seed = 3)$boot$again, first)
  expect_false(identical(score(law, visits, seed = 4)$boot$again, first))
  draws <- function(at_once) {
    with_seed(1, patient_replicates(10, 7, function(w) array(w, c(nrow(w), 10, 1), list(NULL, letters[1:10], "a"))))
  }
  whole <- draws()
  expect_identical(dim(whole), c(7L, 10L, 1L))
  expect_identical(rowSums(whole), rep(10, 7))
})
