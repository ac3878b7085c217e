tables_of <- function(parts) Filter(function(part) identical(part$kind, "table"), parts)
said_by <- function(parts) unlist(lapply(parts, function(part) c(part$text, part$lines)))

test_that("the setting's own laws are shown where nothing was learned", {
  parts <- dynamics_section(list(fit = pooled_fit()))
  expect_match(said_by(parts), "those that the setting states", all = FALSE)
  tables <- tables_of(parts)
  start <- tables[[1]]$data
  expect_identical(start$State, diag_setting()$states)
  expect_identical(start$Probability, c("0.500", "0.500"))
  captions <- vapply(tables, function(part) part$caption, "")
  # Declaring, either way, brings the next patient: one table for both.
  expect_length(grep("next state", captions), 2)
  expect_match(captions, "next state after declare healthy, declare diseased", all = FALSE)
  worth <- tables[[grep("worth in a state", captions)]]$data
  expect_equal(as.matrix(worth[-1]), diag_setting()$utility, ignore_attr = TRUE)
  models <- tables[[grep("may believe", captions)]]$data
  expect_equal(sum(models$Weight), 1)
  expect_identical(models$Model, names(diag_models()$weights))
})

test_that("learned laws come with the numbers of states that were tried", {
  iohmm <- fit_iohmm(clinic_iohmm_visits(60), 1:2, starts = 2, seed = 1, tolerance = 1e-3)
  parts <- learned_parts(iohmm, NULL)
  table <- parts[[1]]$data
  expect_identical(table$States, 1:2)
  expect_identical(table$Chosen, ifelse(glance(iohmm)$chosen, "yes", ""))
  expect_equal(as.numeric(gsub(",", "", table$BIC)), round(glance(iohmm)$BIC, 1))
  expect_match(learned_parts(iohmm, "north")[[1]]$caption, ", north$")
  section <- dynamics_section(list(fit = pooled_fit(), iohmm = iohmm))
  expect_match(said_by(section), "were learned from visits", all = FALSE)
})

test_that("starts that differ have a column each", {
  parts <- law_parts(starts_setting(), NULL)
  expect_identical(parts[[1]]$data$old, c("0.200", "0.800"))
  expect_named(parts[[1]]$data, c("State", "old", "young"))
})

test_that("probabilities have three places, and none but 0 and 1 are written so", {
  expect_identical(share_text(c(0, 1, 0.5, 1e-5, 0.0009999, 0.001, 0.99999)),
                   c("0", "1", "0.500", "< 0.001", "< 0.001", "0.001", "> 0.999"))
})

test_that("actions that share a matrix share a table, and rows that cannot be are left out", {
  law <- array(c(0.5, 0, 0.5, 0, 0.5, 0, 0.5, 0, 0.2, 0.4, 0.8, 0.6), c(2, 2, 3),
               list(c("a_b", "c"), c("x", "y"), c("u", "v", "w")))
  tables <- law_tables(law, "From", "Caption", NULL)
  expect_identical(vapply(tables, function(part) part$caption, ""), c("Caption after u, v", "Caption after w"))
  expect_identical(tables[[1]]$data$From, "a b")
  expect_identical(tables[[2]]$data$y, c("0.800", "0.600"))
  same <- law_tables(law[, , 1:2], "From", "Caption", "north")
  expect_identical(same[[1]]$caption, "Caption after any action, north")
})

test_that("laws of many states, and many models, are not printed whole", {
  n <- most_states + 1
  setting <- decision_setting(paste0("s", seq_len(n)), "u", c("x", "y"), diag(n), matrix(0.5, n, 2), matrix(0, n, 1),
                              discount = 0.9)
  expect_match(said_by(law_parts(setting, NULL)), paste("There are", n, "states"))
  expect_length(tables_of(law_parts(setting, NULL)), 0)
  expect_length(tables_of(law_parts(diag_setting(), NULL)), 4)
  models <- model_prior(rep(list(setting[c("transition", "emission")]), 12))
  parts <- Filter(Negate(is.null), wanted_parts(list(setting = setting, models = models), NULL))
  believed <- tables_of(parts)
  expect_length(believed, 1)
  expect_match(believed[[1]]$caption, "10 of 12 models", fixed = TRUE)
  expect_identical(nrow(believed[[1]]$data), 10L)
})

test_that("the worth of a belief is told in words", {
  setting <- diag_setting()
  setting$belief_utility <- certainty_bonus(2.5, above = 0.9)
  plan <- list(setting = setting, models = diag_models())
  expect_match(said_by(wanted_parts(plan, NULL)), "what a belief is worth: .*2.5.*0.9", all = FALSE)
  plan$setting <- diag_setting()
  expect_no_match(said_by(wanted_parts(plan, NULL)), "belief is worth")
})

test_that("dynamics that were inferred are shown with their intervals, not as what was stated or held", {
  skip_if_not_installed("ggplot2")
  for (fit in list(ward_fit(), ward_cut())) {
    section <- capture.output(print(dynamics_section(list(fit = fit))))
    told <- paste(section, collapse = " ")
    expect_match(told, if (is_cut(fit)) "drawn 3 times from what was seen" else "inferred together with the agents")
    expect_false(grepl("held fixed|setting states", told))
    middle <- sprintf("%.3f", tidy(fit, "dynamics")$estimate[3])
    expect_match(grep("transition[well,well]", section, fixed = TRUE, value = TRUE), middle, fixed = TRUE)
    expect_identical(grepl("R-hat", told), !is_cut(fit))
    about <- paste(capture.output(print(overview_section(list(fit = fit, counts = report_counts(fit, NULL, 5))))),
                   collapse = " ")
    steps <- if (is_cut(fit)) "2 chains of 60 steps in each group, .*, under each of 3\\s+draws of the\\s+dynamics" else
      "2 chains of 100 steps, 40 of them warm-up"
    expect_match(about, steps)
  }
  known <- capture.output(print(dynamics_section(list(fit = ward_fit(),
                                                      iohmm = ward_iohmm(transitions = "shared")))))
  expect_match(known, "Numbers of states tried", all = FALSE)
})
