test_that("a long table becomes one row per group, with the worst verdict of each", {
  wide <- wide_by_group(rep(c("B_1", "a/2"), 2), rep(c("alpha", "eta"), each = 2), c("1", "2", "3", "4"),
                        c("ok", "caution", "do not use", "ok"))
  expect_identical(wide, data.frame(Group = c("B_1", "a/2"), alpha = c("1", "2"), eta = c("3", "4"),
                                    Verdict = c("do not use", "caution")))
  # What a group does not have is missing, and not another group's.
  some <- wide_by_group(c("a", "b", "b"), c("x", "x", "y"), c("1", "2", "3"), rep("ok", 3))
  expect_identical(some$y, c(NA, "3"))
})

test_that("what the data say is told by term and answer, with the groups where it is not all of them", {
  said <- data.frame(term = rep(c("alpha", "eta"), each = 3), group = rep(c("a", "b", "c"), 2),
                     verdict = c("identified", "not identified", "identified", "identified", "identified",
                                 "identified"))
  expect_identical(crowd_identified(said), c("alpha is identified in 2 groups: a, c.",
                                             "alpha is not identified in 1 group: b.",
                                             "eta is identified in 3 groups."))
})

test_that("tables of dozens of groups say what the long ones say", {
  fit <- uneven_fit("clinic")
  table <- tidy(fit)
  wide <- crowd_terms(table)
  expect_identical(wide$Group, names(fit$draws))
  first <- table[1, ]
  expect_identical(wide[[first$term]][1], paste0(format_number(first$estimate), " (", format_number(first$conf.low),
                                                 " to ", format_number(first$conf.high), ")"))
  contrasts <- compare_groups(fit)
  wide <- crowd_contrasts(contrasts)
  expect_match(wide[[2]][1], chance_text(contrasts$probability[1]), fixed = TRUE)
  chains <- crowd_chains(table, identifiability(fit))
  expect_match(chains[[2]][1], paste0("R-hat ", rhat_text(table$rhat[1]), ", ESS ",
                                        draws_text(min(table$ess_bulk[1], table$ess_tail[1]))), fixed = TRUE)
})
