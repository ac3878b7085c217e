setting <- diag_setting()
plan <- plan_agent(setting, bounded_agent(0.5, 1.25, 0.01), diag_models())
data <- as.data.frame(simulate(plan, 30, seed = 4))
data <- data[order(data$time, (data$id * 7) %% 30), ]
data$observation[seq(3, nrow(data), by = 9)] <- NA
names(data) <- c("patient", "when", "did", "saw")
visits <- trajectories(data, "patient", "when", "did", "saw", setting = setting)

# One step of a perfectly rational agent: models keep the weights of the prior.
rational_step <- function(models, belief, action, observation) {
  next_belief <- 0 * belief
  for (m in seq_along(models$models)) {
    moved <- as.vector(belief %*% models$models[[m]]$transition[, , action])
    if (!is.na(observation)) {
      moved <- moved * models$models[[m]]$emission[, observation, action]
      if (sum(moved) == 0) next
    }
    next_belief <- next_belief + models$weights[[m]] * moved / sum(moved)
  }
  next_belief / sum(next_belief)
}

test_that("either agent's beliefs are carried by its own updates, to the end", {
  told <- belief_paths(plan, visits, final = TRUE)
  expect_identical(nrow(told), nrow(visits) + 30L)
  for (one in split(told, told$patient)) {
    expect_identical(one$.visit, seq_len(nrow(one)))
    expect_identical(which(one$.final), nrow(one))
    own <- best <- matrix(setting$start, nrow(one), 2, byrow = TRUE)
    for (t in seq_len(nrow(one) - 1)) {
      did <- as.character(one$did[t])
      saw <- as.character(one$saw[t])
      # A stop action leaves the beliefs where they are.
      own[t + 1, ] <- if (did == "monitor") update_belief(plan, own[t, ], did, saw) else own[t, ]
      best[t + 1, ] <- if (did == "monitor") rational_step(plan$models, best[t, ], did, saw) else best[t, ]
    }
    expect_close(as.matrix(one[c(".belief_healthy", ".belief_diseased")]), own)
    expect_close(as.matrix(one[c(".rational_belief_healthy", ".rational_belief_diseased")]), best)
  }
})

test_that("one row per visit, in the order given, and what either agent would do", {
  told <- belief_paths(plan, visits)
  expect_named(told, c(names(data), ".visit", ".belief_healthy", ".belief_diseased", ".probability", ".fitted",
                       ".rational_belief_healthy", ".rational_belief_diseased", ".rational", ".differs"))
  expect_identical(told[names(data)], as.data.frame(visits))
  expect_equal(told$.visit, told$when + 1)
  law <- policy(plan, as.matrix(unname(told[c(".belief_healthy", ".belief_diseased")])))
  expect_close(told$.probability, law[cbind(seq_len(nrow(law)), as.integer(told$did))])
  expect_identical(as.character(told$.fitted), setting$actions[max.col(law, "first")])
  rational <- plan_agent(setting, bounded_agent(), diag_models())
  worth <- action_value(rational, as.matrix(unname(told[c(".rational_belief_healthy", ".rational_belief_diseased")])))
  expect_identical(as.character(told$.rational), setting$actions[max.col(worth, "first")])
  expect_identical(told$.differs, as.character(told$did) != as.character(told$.rational))
  ends <- belief_paths(plan, visits, final = TRUE)
  expect_equal(ends[!ends$.final, names(told)], told, ignore_attr = TRUE)
  expect_true(all(is.na(ends[ends$.final, c("when", "did", "saw", ".probability", ".fitted", ".differs")])))
  # Each end stands right after the last visit of its trajectory.
  expect_identical(ends$patient[ends$.final], ends$patient[which(ends$.final) - 1])
})

test_that("an action worth as much as the rational one does not differ", {
  twins <- decision_setting(
    states = c("a", "b"), actions = c("left", "right", "worse"), observations = c("x", "y"),
    transition = diag(2), emission = rbind(c(0.6, 0.4), c(0.4, 0.6)),
    utility = cbind(left = c(1, 0), right = c(1, 0), worse = c(0, -1)), discount = 0.9
  )
  seen <- data.frame(id = 1, time = 1:3, action = c("left", "right", "worse"), observation = c("x", "x", "y"))
  told <- belief_paths(plan_agent(twins, bounded_agent(1)), trajectories(seen))
  expect_identical(told$.differs, c(FALSE, FALSE, TRUE))
})

test_that("plans of other planners are read, too", {
  best <- plan_pomdp(setting, resolution = 30)
  paths <- belief_paths(best, visits)
  agent <- belief_paths(plan_agent(setting, bounded_agent(), resolution = 30), visits)
  expect_close(as.matrix(paths[grep("belief", names(paths))]), as.matrix(agent[grep("belief", names(agent))]), 1e-10)
  noisy <- belief_paths(plan_boltzmann(setting, 2, resolution = 30), visits)
  expect_identical(noisy$.rational, agent$.rational)
})

test_that("a fit is read by the plan of each group", {
  told <- belief_paths(clinic_fit(), clinic_visits())
  plans <- project_behavior(clinic_fit())
  south <- clinic_visits()$clinic == "south"
  expect_identical(as.character(told$.group), clinic_visits()$clinic)
  alone <- trajectories(as.data.frame(clinic_visits())[south, ], setting = setting)
  alone <- belief_paths(plans$south, alone)
  expect_equal(told[south, names(alone)], alone, ignore_attr = "row.names")
  expect_false(".group" %in% names(belief_paths(pooled_fit(), clinic_visits())))
  # What a fit with its own utility or discount believes is judged in its own setting.
  other <- plans
  other$south$setting$discount <- 0.5
  rational <- rational_plans(other)
  expect_identical(rational[[2]]$setting$discount, 0.5)
  expect_identical(rational[[1]]$agent$alpha, 0)
  # Where groups share a setting, one solve is enough.
  expect_identical(rational_plans(plans)[[2]], rational_plans(plans)[[1]])
})

test_that("what cannot be read is refused", {
  expect_error(belief_paths(plan), "visits", class = "ibrc_error_input")
  expect_error(belief_paths(pooled_fit()), "visits", class = "ibrc_error_input")
  expect_error(belief_paths(1, visits), "plan or a fit", class = "ibrc_error_input")
  expect_error(belief_paths(plan, data), class = "ibrc_error_input")
  expect_error(belief_paths(plan, visits, final = 1), class = "ibrc_error_input")
  expect_error(belief_paths(plan, visits, se = 1), class = "ibrc_error_input")
  expect_error(belief_paths(clinic_fit(), visits), "clinic", class = "ibrc_error_input")
  # The last observation counts for the end alone.
  sure <- decision_setting(c("a", "b"), "wait", c("x", "y"), diag(2), diag(2), cbind(wait = c(0, 0)), discount = 0.5)
  plan <- plan_agent(sure, bounded_agent(1))
  odd <- trajectories(data.frame(id = 7, time = 1:2, action = "wait", observation = c("x", "y")))
  expect_identical(nrow(belief_paths(plan, odd)), 2L)
  error <- expect_error(belief_paths(plan, odd, final = TRUE), "cannot happen", class = "ibrc_error_data")
  expect_identical(error$rows, 2L)
})

test_that("where a rational agent would not have done what was done, it has no belief, and its path ends in pictures", {
  seen <- trajectories(unlikely_data(), scored = "free")
  paths <- belief_paths(unlikely_plan(1), seen, final = TRUE)
  expect_false(anyNA(paths$.belief_ill))
  expect_identical(is.na(paths$.rational_belief_ill), c(FALSE, FALSE, TRUE, TRUE, TRUE))
  expect_false(any(is.nan(paths$.rational_belief_ill)))
  expect_identical(is.na(paths$.rational), c(FALSE, FALSE, TRUE, TRUE, TRUE))
  own <- belief_paths(unlikely_plan(0), seen)
  expect_identical(own$.probability, c(1, NA, 0, 0))
  skip_if_not_installed("ggplot2")
  picture <- plot_simplex(unlikely_plan(1), seen)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_silent(print(picture))
  told <- simplex_data(unlikely_plan(1), seen)
  expect_identical(sum(is.na(told$ill[told$part == "path"])), 3L)
})
