report_on <- function(fit, draws = 4) list(fit = fit, draws = draws, verdict = standing_verdict(clinic_fit()))

test_that("a report leads with what decision makers do, and says first whether it may be used", {
  skip_if_not_installed("ggplot2")
  fit <- clinic_fit()
  section <- effects_section(report_on(fit))
  kinds <- vapply(section, `[[`, "", "kind")
  expect_identical(kinds, c("list", "text", "list", "picture", "picture", "table", "text"))
  rows <- standing_verdict(fit)
  expect_identical(section[[1]]$lines, paste0(verdict_headline(rows), "."))
  expect_identical(section[[1]]$class, report_class(worst_of(rows$verdict)))
  effects <- decision_effects(fit, draws = 4, nsim = report_effect_trajectories)
  expect_identical(section[[3]]$lines, format(effects))
  expect_match(section[[4]]$alt, "north and south", fixed = TRUE)
  table <- section[[6]]$data
  expect_identical(names(table), c("What", "At", "Action", "Group", "Against", "Median", "2.5%", "97.5%", "Rational",
                                   "Verdict"))
  expect_false("Weight of the model" %in% table$What)
  expect_equal(table$Median[1], effects$estimate[1])
  expect_identical(section[[6]]$caption, "What decision makers do, and how groups differ")
  alone <- as.data.frame(effects)[effects$group == "north" & is.na(effects$reference), ]
  expect_identical(effects_title(alone[setdiff(names(alone), c("group", "reference"))]), "What decision makers do")
  expect_identical(effects_title(alone), "What decision makers do")
})

test_that("more groups than can be worked out are left to decision_effects(), and pictures grow with groups", {
  skip_if_not_installed("ggplot2")
  fit <- uneven_fit("clinic")
  crowd <- fit
  crowd$draws <- rep(fit$draws, most_effect_groups)
  expect_match(effects_section(report_on(fit = crowd))[[1]]$text, "too many groups")
  data <- effects_data(decision_effects(fit, draws = 2, nsim = 5))
  more <- data[rep(seq_len(nrow(data)), 4), ]
  more$group <- factor(paste(more$group, rep(1:4, each = nrow(data))))
  expect_gt(effects_height(more, "probability"), effects_height(data, "probability"))
})

test_that("dozens of groups have one row each, and sentences from the lowest to the highest", {
  skip_if_not_installed("ggplot2")
  fit <- uneven_fit("clinic")
  local_replacement("most_colours", 1)
  section <- effects_section(report_on(fit, draws = 2))
  expect_identical(vapply(section, `[[`, "", "kind"), c("list", "text", "list", "table", "text"))
  table <- section[[4]]$data
  expect_identical(table$Group, names(fit$draws))
  effects <- decision_effects(fit, draws = 2, nsim = report_effect_trajectories)
  visits <- effects[effects$quantity == "visits" & is.na(effects$reference), ]
  expect_identical(table[["Visits until a decision"]],
                   vapply(seq_len(nrow(visits)), function(i) with_interval(visits[i, ]), ""))
  lowest <- visits$group[which.min(visits$estimate)]
  expect_match(section[[3]]$lines, paste0("Visits until a decision: from .* in ", lowest, " to "), all = FALSE)
})

test_that("what cannot be worked out does not stop a report", {
  fit <- uneven_fit()
  fit$tolerance <- 1e-300
  section <- effects_section(report_on(fit))
  expect_match(section[[1]]$text, "could not be worked out")
})
