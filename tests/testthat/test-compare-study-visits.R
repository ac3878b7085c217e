severity <- list(name = "severity", chances = rbind(c(0.5, 0.3, 0.2), c(0.1, 0.3, 0.6)), values = 0:2,
                 effect = list(optimism = 0.2))

test_that("visits carry group, cluster and confounder, the same for a seed", {
  design <- small_design(patients = c(20, 40), clusters = c(site = 4), spread = c(alpha = 0.2), confounder = severity)
  visits <- simulate(design, seed = 1)
  expect_s3_class(visits, "ibrc_trajectories")
  expect_identical(attr(visits, "roles")$covariates, c("group", "site", "severity"))
  expect_identical(attr(visits, "roles")$action, "action")
  who <- visits[!duplicated(visits$id), ]
  expect_identical(who$id, 1:60)
  expect_identical(c(table(who$group)), c(reference = 20L, other = 40L))
  expect_identical(levels(visits$group), c("reference", "other"))
  expect_identical(sort(c(table(who$site)), decreasing = TRUE)[c(1, 8)], c("site 5" = 10L, "site 4" = 5L))
  expect_identical(as.data.frame(simulate(design, seed = 1)), as.data.frame(visits))
  expect_false(identical(as.data.frame(simulate(design, seed = 2)), as.data.frame(visits)))
  # Other sizes keep the proportion of the groups.
  expect_identical(c(table(simulate(design, 10, seed = 1)[c("id", "group")])[1:30, ] > 0) |> sum(), 30L)
  expect_error(simulate(design, 3), "without patients", class = "ibrc_error_input")
})

test_that("clusters are a group's own, or all groups share them", {
  design <- small_design(patients = 12, clusters = 3, spread = c(optimism = 0.3))
  people <- draw_people(design)
  expect_identical(people$cluster, c(rep(1:3, 4), rep(4:6, 4)))
  design$clusters$crossed <- TRUE
  expect_identical(draw_people(design)$cluster, rep(1:3, 8))
})

test_that("intercepts, confounder and effect add up on their scale", {
  design <- small_design(patients = 3000, clusters = 3000, spread = c(optimism = 0.3, alpha = 0.1),
                         confounder = severity)
  with_seed(1, {
    people <- draw_people(design)
    shifts <- people_shifts(design, people)
  })
  share <- tapply(people$value, people$group, function(v) tabulate(v, 3) / length(v))
  expect_lt(max(abs(rbind(share[[1]], share[[2]]) - severity$chances)), 4 * sqrt(0.25 / 3000))
  intercept <- shifts[, "optimism"] - 0.2 * c(0, 1, 2)[people$value]
  expect_lt(abs(stats::sd(intercept) / 0.3 - 1), 4 / sqrt(2 * 6000))
  expect_lt(abs(stats::sd(shifts[, "alpha"]) / 0.1 - 1), 4 / sqrt(2 * 6000))
  expect_lt(abs(stats::cor(intercept, shifts[, "alpha"])), 4 / sqrt(6000))
  agent <- shift_agent(bounded_agent(alpha = 0.5, optimism = 1), c(optimism = -0.4, alpha = log(3)))
  expect_equal(c(agent$alpha, 1 / agent$beta), c(1.5, 0.6))
  # What is not shifted stays what it was.
  expect_identical(shift_agent(bounded_agent(0.5), numeric()), bounded_agent(0.5))
})

test_that("each group is decided for as its agent decides", {
  agents <- list(careful = bounded_agent(0.2), careless = bounded_agent(20))
  design <- small_design(agents = agents, effect = NULL, patients = 400)
  visits <- simulate(design, seed = 3)
  first <- visits[visits$time == 0, ]
  for (name in names(agents)) {
    plan <- plan_agent(diag_setting(), agents[[name]], diag_models(), resolution = 10)
    law <- policy(plan, c(0.5, 0.5))[1, ]
    seen <- table(first$action[first$group == name])[names(law)] / 400
    expect_lt(max(abs(seen - law)), 4 * sqrt(0.25 / 400))
  }
})
