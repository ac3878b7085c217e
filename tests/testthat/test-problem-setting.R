arguments <- list(
  states = c("well", "ill"), actions = c("wait", "treat"), observations = c("neg", "pos"),
  transition = list(wait = rbind(c(0.9, 0.1), c(0, 1)), treat = rbind(c(0.9, 0.1), c(0.5, 0.5))),
  emission = rbind(c(0.8, 0.2), c(0.3, 0.7)), utility = cbind(c(0, -4), c(-2, -3)), discount = 0.9
)
setting_with <- function(...) {
  given <- list(...)
  do.call(decision_setting, c(given, arguments[setdiff(names(arguments), names(given))]))
}

refused <- function(argument, ..., message = NULL, rows = NULL) {
  error <- expect_error(setting_with(...), class = "ibrc_error_input")
  expect_identical(error$argument, argument)
  expect_match(conditionMessage(error), argument, fixed = TRUE)
  if (!is.null(message)) expect_match(conditionMessage(error), message)
  if (!is.null(rows)) expect_identical(as.integer(error$rows), rows)
}

test_that("a discount that is left out is asked for, with an example", {
  error <- expect_error(do.call(decision_setting, arguments[names(arguments) != "discount"]), "such as 0[.]95",
                        class = "ibrc_error_input")
  expect_identical(error$argument, "discount")
})

test_that("a setting is the same however it is written", {
  setting <- setting_with()
  expect_s3_class(setting, "ibrc_setting")
  moves <- arguments$transition
  stacked <- array(c(moves$wait, moves$treat), c(2, 2, 2))
  expect_identical(setting_with(transition = stacked), setting)
  expect_identical(setting_with(transition = unname(moves)), setting)
  expect_identical(setting_with(transition = moves[c("treat", "wait")]), setting)
  swapped <- stacked[2:1, 2:1, 2:1]
  dimnames(swapped) <- list(c("ill", "well"), c("ill", "well"), c("treat", "wait"))
  expect_identical(setting_with(transition = swapped), setting)
  E <- arguments$emission
  expect_identical(setting_with(emission = list(E, E)), setting)
  expect_identical(setting_with(emission = array(c(E, E), c(2, 2, 2))), setting)
  dimnames(E) <- list(c("well", "ill"), c("neg", "pos"))
  expect_identical(setting_with(emission = E[, c("pos", "neg")]), setting)
  expect_identical(setting_with(utility = data.frame(wait = c(0, -4), treat = c(-2, -3)))$utility, setting$utility)
  expect_identical(setting_with(start = c(ill = 0.5, well = 0.5)), setting)
  expect_false(setting$fully_observed)
  seen <- setting_with(emission = "identity", observations = c("well", "ill"))
  expect_true(seen$fully_observed)
})

test_that("rows within rounding are rescaled, others refused with the row and the sum", {
  off <- rbind(c(0.9, 0.1 + 1e-9), c(0, 1))
  expect_equal(sum(setting_with(transition = list(off, off))$transition[1, , 1]), 1, tolerance = 1e-16)
  bad <- arguments$transition
  bad$treat[2, ] <- c(0.5, 0.6)
  refused("transition", transition = bad, message = "row \"ill\" of action \"treat\" sums to 1.1", rows = 2L)
  bad <- arguments$emission
  bad[1, ] <- c(0.8, 0.1)
  refused("emission", emission = bad, message = "row \"well\" of action \"wait\" sums to 0.9 \\(and 1 other row\\)")
})

test_that("negative, missing and infinite entries are refused", {
  for (entry in c(NA, NaN, Inf, -Inf, -0.1)) {
    bad <- arguments$transition
    bad$wait[1, ] <- c(entry, 0.1)
    refused("transition", transition = bad, message = "row \"well\" of action \"wait\"", rows = 1L)
    bad <- arguments$emission
    bad[2, 1] <- entry
    refused("emission", emission = bad, rows = 2L)
    if (is.finite(entry)) next
    bad <- arguments$utility
    bad[2, 2] <- entry
    refused("utility", utility = bad, message = "state \"ill\" and action \"treat\"", rows = 2L)
  }
})

test_that("wrong dimensions are refused", {
  refused("transition", transition = diag(3))
  refused("transition", transition = list(diag(2)))
  refused("transition", transition = list(diag(2), diag(3)), message = "action \"treat\" is 3 by 3")
  refused("transition", transition = "a")
  refused("transition", transition = list(diag(2), "a"))
  refused("emission", emission = matrix(0.5, 2, 3))
  refused("emission", emission = "identity", observations = c("a", "b", "c"))
  refused("utility", utility = matrix(0, 2, 3))
  refused("utility", utility = c(1, 2))
  refused("start", start = c(1, 0, 0))
  refused("start", start = c(0.5, 0.4), message = "sums to 0.9")
  refused("start", start = c(1.5, -0.5), message = "negative at position 2")
  refused("start", start = c(NA, 1))
  refused("start", start = "well")
})

test_that("unknown and duplicated names are refused", {
  refused("states", states = c("well", "well"), message = "\"well\" appears more than once")
  refused("states", states = "well")
  refused("states", states = 2)
  refused("states", states = c("well", NA))
  refused("actions", actions = c("wait", ""))
  refused("actions", actions = character())
  refused("observations", observations = list(1))
  refused("transition", transition = list(wait = diag(2), cure = diag(2)), message = "unknown actions \"cure\"")
  refused("stop_actions", stop_actions = "cure")
  refused("stop_actions", stop_actions = c("wait", "wait"))
  named <- arguments$emission
  dimnames(named) <- list(c("well", "sick"), NULL)
  refused("emission", emission = named, message = "unknown states \"sick\"")
  refused("utility", utility = rbind(wait = c(0, -4), treat = c(-2, -3)), message = "rows are states .* t\\(\\)")
})

test_that("the discount lies in [0, 1)", {
  expect_identical(setting_with(discount = 0)$discount, 0)
  for (bad in list(1, -0.1, NA, NaN, Inf, "a", c(0.1, 0.2), NULL)) refused("discount", discount = bad)
})

test_that("a belief can have worth of its own", {
  sure <- function(beliefs, action) 2.5 * (apply(beliefs, 1, max) > 0.9)
  setting <- setting_with(belief_utility = sure)
  beliefs <- rbind(c(0.95, 0.05), c(0.5, 0.5))
  plain <- twin_reward(setting_with(), beliefs)
  expect_identical(twin_reward(setting, beliefs) - plain, matrix(c(2.5, 0, 2.5, 0), 2))
  plan <- plan_agent(setting, bounded_agent(alpha = 0.3))
  twin <- twin_of(plan)
  exact <- twin_solve(twin$tables, plan$reward, twin$agent, twin$action_prior, twin$weights, 0.9, 1e-10)
  expect_close(value(plan), exact$V, 1e-7)
  # A belief that is worth what its states are worth changes nothing.
  as_states <- setting_with(utility = matrix(0, 2, 2), belief_utility = function(beliefs, action) {
    as.vector(beliefs %*% setting$utility[, action])
  })
  expect_close(value(plan_agent(as_states, bounded_agent(alpha = 0.3))),
               value(plan_agent(setting_with(), bounded_agent(alpha = 0.3))), 1e-8)
  refused("belief_utility", belief_utility = 2.5)
  refused("belief_utility", belief_utility = function(beliefs, action) NA)
  refused("belief_utility", belief_utility = function(beliefs, action) 1:3)
})

test_that("settings print in a few lines", {
  expect_snapshot(setting_with(stop_actions = "treat"))
  expect_snapshot(summary(setting_with()))
  expect_snapshot(setting_with(emission = "identity", observations = c("well", "ill")))
})

test_that("states cannot have the names of columns beside them, and names may come as factors", {
  refused("states", states = c("action", "ill"), message = "column of that name")
  levels <- factor(c("well", "ill"), c("well", "ill"))
  expect_identical(setting_with(states = levels), setting_with())
})

test_that("matrices may come as data frames, of numbers and under distinct names", {
  frame <- function(m) data.frame(well = m[, 1], ill = m[, 2])
  shown <- function(m) data.frame(neg = m[, 1], pos = m[, 2])
  expect_identical(setting_with(transition = lapply(arguments$transition, frame), emission = shown(arguments$emission)),
                   setting_with())
  text <- lapply(arguments$transition, frame)
  text$treat[] <- "a"
  refused("transition", transition = text, message = "not numeric")
  twice <- arguments$transition[c("wait", "treat", "treat")]
  refused("transition", transition = twice, message = "more than once")
})
