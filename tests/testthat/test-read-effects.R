diag_plan <- function(agent = bounded_agent(alpha = 0.5, optimism = 0.8), models = diag_models(), resolution = 40) {
  plan_agent(diag_setting(), agent, models, resolution = resolution)
}

effect_design <- function(nsim = 400, horizon = 50, places = NULL) {
  list(places = if (is.null(places)) list(list(at = "start", belief = NULL),
                                          list(at = "leaning", belief = c(0.3, 0.7)),
                                          list(at = "after two", actions = rep("monitor", 2),
                                               observations = rep("positive", 2))) else places,
       nsim = nsim, horizon = horizon, seed = 1)
}

effects_of <- function(plan, design = effect_design()) {
  rational <- rational_counterparts(design)(plan)
  cbind(effect_keys(plan, design), as.data.frame(effect_values(plan, rational, design)))
}

test_that("probabilities, weights and accuracies are those that the plan's own functions give", {
  plan <- diag_plan()
  told <- effects_of(plan, effect_design(nsim = 0))
  after <- update_belief(plan, update_belief(plan, c(0.5, 0.5), "monitor", "positive"), "monitor", "positive")
  beliefs <- rbind(c(0.5, 0.5), c(0.3, 0.7), after)
  probability <- told[told$quantity == "probability", ]
  expect_equal(probability$value, as.vector(policy(plan, beliefs)))
  expect_identical(probability$action, rep(plan$setting$actions, each = 3))
  rational <- plan_agent(diag_setting(), bounded_agent(), resolution = 40)
  seen <- update_belief(rational, update_belief(rational, c(0.5, 0.5), "monitor", "positive"), "monitor", "positive")
  expect_equal(probability$rational, as.vector(policy(rational, rbind(beliefs[1:2, ], seen))))
  sigma <- model_weights(plan, beliefs, "monitor")
  weight <- told[told$quantity == "weight", ]
  expect_equal(weight$value, as.vector(sigma))
  expect_equal(weight$rational, rep(1 / 3, 9))
  expect_identical(unique(weight$action), "monitor")
  accuracy <- told[told$quantity == "accuracy", ]
  # Both ways alike in DIAG: the mean of 60, 70 and 80 percent.
  expect_equal(accuracy$value, rep(as.vector(sigma %*% c(0.6, 0.7, 0.8)), 3))
  expect_equal(accuracy$rational, rep(0.7, 9))
  expect_identical(accuracy$detail, rep(c("all states", "healthy", "diseased"), each = 3))
  expect_identical(unique(told$error), 0)
})

test_that("with one model a test is taken for what it is", {
  told <- effects_of(diag_plan(models = NULL), effect_design(nsim = 0))
  accuracy <- told[told$quantity == "accuracy", ]
  expect_equal(accuracy$value, accuracy$rational)
  expect_equal(told$value[told$quantity == "weight"], rep(1, 3))
})

test_that("an accuracy is how often what is seen points to the state", {
  emission <- rbind(c(0.8, 0.1, 0.1, 0), c(0.1, 0.6, 0.3, 0), c(0.1, 0.3, 0.6, 0))
  expect_equal(accuracy_of(emission, pointing(emission)), c(2 / 3, 0.8, 0.6, 0.6))
  flat <- matrix(0.25, 2, 4)
  expect_equal(accuracy_of(flat, pointing(flat)), rep(0.5, 3))
})

# Every trajectory of DIAG of up to `horizon` visits, with its chance in the environment and under the agent.
enumerate_course <- function(plan, horizon) {
  setting <- plan$setting
  walk <- function(belief, joint, visit) {
    law <- policy(plan, belief)[1, ]
    now <- sum(joint)
    out <- c(visits = now, decided = now * sum(law[setting$stop_actions]), now * law)
    if (visit == horizon) return(out)
    for (seen in setting$observations) {
      at <- which(setting$observations == seen)
      on <- as.vector(joint %*% setting$transition[, , "monitor"]) * setting$emission[, at, "monitor"]
      out <- out + walk(update_belief(plan, belief, "monitor", seen), law[["monitor"]] * on, visit + 1)
    }
    out
  }
  walk(setting$start, setting$start, 1)
}

test_that("visits and actions until a decision are those of all trajectories together", {
  plan <- diag_plan(bounded_agent(alpha = 3, optimism = 0.5), resolution = 20)
  exact <- enumerate_course(plan, 5)
  told <- effects_of(plan, effect_design(nsim = 4000, horizon = 5))
  course <- told[told$quantity %in% c("visits", "decided", "count"), ]
  expect_true(all(course$error > 0 & course$error < 0.05))
  expect_lt(max(abs(course$value - exact) / course$error), 4)
  expect_identical(course$action, c(NA, NA, plan$setting$actions))
  expect_identical(course$at[1:2], c("at most 5 visits", "within 5 visits"))
})

# What an agent earns per visit, discounted: states and the agent's own beliefs, on to the horizon.
enumerate_utility <- function(plan, horizon) {
  setting <- plan$setting
  walk <- function(belief, joint, visit) {
    law <- policy(plan, belief)[1, ]
    out <- sum(law * as.vector(joint %*% setting$utility))
    if (visit == horizon) return(out)
    for (action in setting$actions) {
      for (seen in seq_along(setting$observations)) {
        on <- as.vector(joint %*% setting$transition[, , action]) * setting$emission[, seen, action]
        after <- update_belief(plan, belief, action, setting$observations[seen])
        out <- out + setting$discount * walk(after, law[[action]] * on, visit + 1)
      }
    }
    out
  }
  walk(setting$start, setting$start, 1)
}

test_that("the cost of the bounds is the difference of expected utilities", {
  setting <- diag_setting(discount = 0.09)
  plan <- plan_agent(setting, bounded_agent(alpha = 20, optimism = 0.2), diag_models(), resolution = 60)
  told <- effects_of(plan, effect_design(nsim = 40000))
  rational <- plan_agent(setting, bounded_agent(), resolution = 60)
  n <- discount_horizon(0.09)
  expect_identical(n, 3)
  per_visit <- sum(0.09^(seq_len(n) - 1))
  loss <- (enumerate_utility(rational, n) - enumerate_utility(plan, n)) / per_visit
  cost <- told[told$quantity == "cost", ]
  # What lies beyond the horizon counts for less than a thousandth.
  expect_lt(abs(cost$value - loss), 4 * cost$error + 0.002 * loss)
  expect_lt(cost$error, 0.05 * loss)
  uniform <- plan_agent(setting, bounded_agent(flexibility = 0), resolution = 60)
  share <- told[told$quantity == "cost_share", ]
  random <- (enumerate_utility(rational, n) - enumerate_utility(uniform, n)) / per_visit
  expect_equal(share$value, loss / random, tolerance = 0.05)
  expect_identical(c(cost$rational, share$rational), c(0, 0))
})

test_that("the perfectly rational agent pays nothing and is its own standard; a random one pays all", {
  told <- effects_of(diag_plan(bounded_agent(), models = NULL))
  expect_identical(told$value[told$quantity %in% c("cost", "cost_share")], c(0, 0))
  expect_equal(told$value, told$rational)
  random <- effects_of(diag_plan(bounded_agent(flexibility = 0), models = NULL))
  expect_equal(random$value[random$quantity == "cost_share"], 1)
  # Knowing only that tests may be worse or better costs little; choosing carelessly costs more.
  cost <- function(agent) {
    told <- effects_of(diag_plan(agent))
    told$value[told$quantity == "cost"]
  }
  expect_true(cost(bounded_agent()) < cost(bounded_agent(alpha = 1)) &&
                cost(bounded_agent(alpha = 1)) < cost(bounded_agent(alpha = 5)))
})

test_that("a utility of beliefs is counted at what is to be believed, also where the setting lost it", {
  truth <- adni_like_truth()$setting
  plan <- plan_agent(truth, bounded_agent(alpha = 0.3, optimism = 2), perturb_models(truth, 0.1), resolution = 10)
  design <- effect_design(nsim = 60, horizon = 4, places = list(list(at = "start", belief = NULL)))
  told <- effects_of(plan, design)
  cost <- told$value[told$quantity == "cost"]
  expect_gt(cost, 0)
  expect_identical(told$quantity[!told$quantity %in% c("probability", "accuracy", "weight")],
                   c("count", "count", "cost", "cost_share"))
  expect_equal(sum(told$value[told$quantity == "count"]), 4)
  lost <- plan
  lost$setting["belief_utility"] <- list(NULL)
  expect_equal(effects_of(lost, design)$value, told$value)
})

test_that("where the state is seen, it is what counts, and no test is asked for", {
  setting <- decision_setting(
    c("low", "high"), c("wait", "act"), c("low", "high"),
    transition = list(wait = rbind(c(0.8, 0.2), c(0.3, 0.7)), act = rbind(c(0.9, 0.1), c(0.9, 0.1))),
    emission = "identity", utility = cbind(wait = c(1, -2), act = c(0, -1)), discount = 0.5, start = c(0.6, 0.4)
  )
  plan <- plan_agent(setting, bounded_agent(alpha = 1))
  design <- effect_design(nsim = 8000, horizon = 3, places = list(list(at = "start", belief = NULL)))
  told <- effects_of(plan, design)
  expect_false("accuracy" %in% told$quantity)
  n <- discount_horizon(0.5)
  # The agent's and the rational one's utility, by the chain of states.
  earned <- function(plan) {
    law <- policy(plan)
    move <- law[, 1] * setting$transition[, , 1] + law[, 2] * setting$transition[, , 2]
    worth <- rowSums(law * setting$utility)
    at <- c(0.6, 0.4)
    first <- policy(plan, at)[1, ]
    total <- sum(first * as.vector(at %*% setting$utility))
    at <- as.vector(at %*% (first[1] * setting$transition[, , 1] + first[2] * setting$transition[, , 2]))
    for (t in seq_len(n - 1)) {
      total <- total + 0.5^t * sum(at * worth)
      at <- as.vector(at %*% move)
    }
    total / sum(0.5^(seq_len(n) - 1))
  }
  loss <- earned(plan_agent(setting, bounded_agent())) - earned(plan)
  cost <- told[told$quantity == "cost", ]
  expect_lt(abs(cost$value - loss), 4 * cost$error + 0.002 * abs(loss))
})

test_that("the rational agent is solved once for draws that share a problem", {
  design <- effect_design(nsim = 0)
  rational_of <- rational_counterparts(design)
  plan <- diag_plan(resolution = 10)
  first <- rational_of(plan)
  expect_identical(rational_of(update(plan, bounded_agent(alpha = 2))), first)
  other <- plan_agent(diag_setting(discount = 0.5), bounded_agent(alpha = 2), diag_models(), resolution = 10)
  expect_identical(rational_of(other)$plan$setting$discount, 0.5)
  better <- plan_agent(diag_setting(accuracy = 0.9), bounded_agent(alpha = 2), diag_models(), resolution = 10)
  best <- plan_agent(diag_setting(0.9), bounded_agent(), resolution = 10)
  expect_equal(policy(rational_of(better)$plan), policy(best))
  # An action that the fit rules out is ruled out for everybody.
  never <- update(plan, bounded_agent(alpha = 2, action_prior = c(0.5, 0, 0.5)))
  expect_identical(unname(policy(rational_of(never)$plan, c(0, 1))[1, 2]), 0)
})

test_that("an agent that rules out what is stated has no belief there", {
  models <- diag_models(c(1, 0.7))
  plan <- plan_agent(diag_setting(), bounded_agent(alpha = 0.5, optimism = Inf), models, resolution = 10)
  place <- list(list(at = "after", actions = rep("monitor", 2), observations = c("positive", "negative")))
  belief <- place_beliefs(plan, place)
  law <- law_at(plan, belief)
  expect_identical(is.na(belief[1]), is.na(law[1]))
  expect_identical(dim(law_at(plan, matrix(NA_real_, 1, 2))), c(1L, 3L))
  expect_true(all(is.na(law_at(plan, matrix(NA_real_, 1, 2)))))
})
