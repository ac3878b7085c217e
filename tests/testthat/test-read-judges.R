# Visits of the west, under a plan of their own for every draw.
mean_over_plans <- function(fit, chosen, read) {
  plans <- lapply(chosen$.draw, function(draw) plan_of_draw(fit, "west", draw))
  Reduce(`+`, lapply(plans, read)) / length(plans)
}

test_that("beliefs and probabilities are means over draws, each with its own dynamics", {
  visits <- ward_part("west")
  for (fit in list(ward_fit(), ward_cut())) {
    chosen <- spaced_draws(fit, 6)
    expect_gt(length(unique(fit$dynamics$draws[cbind(chosen$.iteration, chosen$.chain, 1)])), 2)
    told <- belief_paths(fit, visits, final = TRUE, draws = 6)
    columns <- c(".belief_ill", ".rational_belief_ill")
    expect_close(as.matrix(told[columns]), mean_over_plans(fit, chosen, function(plan) {
      as.matrix(belief_paths(plan, visits, final = TRUE)[columns])
    }), 1e-6)
    law <- mean_over_plans(fit, chosen, function(plan) as.matrix(predict(plan, visits)))
    shown <- told[!told$.final, ]
    expect_close(shown$.probability, law[cbind(seq_len(nrow(law)), as.integer(shown$action))], 1e-6)
    expect_identical(as.character(shown$.fitted), c("wait", "test")[max.col(law, "first")])
    rational <- mean_over_plans(fit, chosen, function(plan) {
      belief_paths(plan, visits)$.rational == "wait"
    })
    expect_identical(as.character(shown$.rational), ifelse(rational >= 0.5, "wait", "test"))
    expect_identical(shown$.differs, (mean_over_plans(fit, chosen, function(plan) {
      belief_paths(plan, visits)$.differs
    }) > 0.5))
    added <- augment(fit, visits, draws = 6)
    expect_identical(added$.belief_ill, shown$.belief_ill)
    expect_identical(added$.probability, shown$.probability)
    kept <- augment(fit, draws = 6)
    expect_identical(kept$.belief_ill[kept$group == "west"], added$.belief_ill)
  }
})

test_that("a fit whose dynamics were inferred is averaged unless told otherwise, another is not", {
  fit <- ward_cut()
  visits <- ward_part("west", 1:5)
  expect_identical(belief_paths(fit, visits), belief_paths(fit, visits, draws = 50))
  middle <- belief_paths(project_behavior(fit)$west, visits)
  expect_gt(max(abs(belief_paths(fit, visits)$.probability - middle$.probability)), 0.01)
  other <- clinic_fit()
  expect_null(averaged_over(other, NULL))
  south <- trajectories(as.data.frame(clinic_visits())[clinic_visits()$clinic == "south", ], covariates = "clinic")
  expect_identical(belief_paths(other, south)$.probability,
                   belief_paths(project_behavior(other)$south, south)$.probability)
  told <- belief_paths(other, south, draws = 4)
  by_hand <- read_draws(other, 2, spaced_draws(other, 4), function(plan) belief_paths(plan, south)$.belief_diseased,
                        reduce = cbind)
  expect_close(told$.belief_diseased, rowMeans(by_hand), 1e-9)
  expect_refused(belief_paths(other, south, draws = 0), "draws")
  expect_refused(simplex_data(project_behavior(other)$south, south, draws = 4), "draws", "no draws")
})

test_that("an agent without a belief at some draws is judged by the others", {
  one <- list(belief = rbind(c(0.2, 0.8), c(NaN, NaN)), law = rbind(c(0.3, 0.7), c(NaN, NaN)),
              probability = c(0.7, 0), loss = c(0, NA))
  two <- list(belief = rbind(c(0.4, 0.6), c(0.5, 0.5)), law = rbind(c(0.9, 0.1), c(0.2, 0.8)),
              probability = c(0.1, 0.8), loss = c(1, 2))
  found <- mean_judgement(Map(`+`, summed_judgement(one), summed_judgement(two)), 2)
  expect_close(found$belief, rbind(c(0.3, 0.7), c(0.5, 0.5)))
  expect_close(found$probability, c(0.4, 0.4))
  expect_identical(found$likeliest, c(1L, 2L))
  expect_identical(found$loss, c(0, 1))
  none <- mean_judgement(summed_judgement(one), 1)
  expect_identical(none$likeliest[2], NA_integer_)
  expect_true(all(is.nan(none$belief[2, ])))
  expect_identical(none$loss[2], NA_real_)
})

test_that("the ground of a picture shows the action with the highest mean probability", {
  fit <- ward_cut()
  visits <- ward_visits()
  chosen <- spaced_draws(fit, 6)
  nodes <- cbind(well = 1 - 0:6 / 6, ill = 0:6 / 6)
  chance <- mean_over_plans(fit, chosen, function(plan) policy(plan, nodes))
  found <- mean_policies(fit, 2, chosen)
  in_order <- order(node_beliefs(fit$problem$space)[, 2])
  expect_close(found$own[in_order, ], chance, 1e-6)
  data <- simplex_data(fit, visits, id = 1, draws = 6)
  ground <- data[data$part == "region" & data$agent == "fitted", ]
  inside <- function(at) {
    starts <- ground[seq(1, nrow(ground), 2), "ill"]
    as.character(ground$action[2 * findInterval(at, starts, rightmost.closed = TRUE)])
  }
  ends <- c(0.01, 0.5, 0.99)
  expected <- vapply(ends, function(at) {
    c("wait", "test")[which.max(apply(chance, 2, function(p) stats::approx(0:6 / 6, p, at)$y))]
  }, "")
  expect_identical(inside(ends), expected)
  path <- data[data$part == "path" & data$agent == "fitted", ]
  expect_close(path$ill, belief_paths(fit, ward_part("west", 1), final = TRUE, draws = 6)$.belief_ill, 1e-12)
  skip_if_not_installed("ggplot2")
  expect_match(plot_simplex(fit, visits, draws = 6)$labels$caption, "Means over 6 draws")
  expect_match(plot_simplex(fit, visits)$labels$caption, "Means over 50 draws")
  expect_identical(plot_simplex(clinic_fit(), clinic_visits())$labels$caption, "Ring: first visit.")
})
