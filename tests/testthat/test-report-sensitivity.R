test_that("without an analysis the section says so, and shows what was checked", {
  fit <- pooled_fit()
  rows <- standing_verdict(fit)
  section <- sensitivity_section(list(fit = fit, verdict = rows))
  expect_match(section[[1]]$text, "No sensitivity analysis was given")
  expect_identical(section[[2]]$data$Seen, rows$seen[rows$check == "assumed"])
})

test_that("an analysis is shown in words, a table and a picture", {
  skip_if_not_installed("ggplot2")
  fit <- uneven_fit()
  moved <- sensitivity_analysis(fit, list(discount = 0.9), starts = 1)
  section <- sensitivity_section(list(fit = fit, verdict = standing_verdict(fit), sensitivity = moved))
  expect_identical(vapply(section[1:3], `[[`, "", "kind"), c("list", "table", "picture"))
  expect_identical(section[[1]]$lines, sensitivity_words(moved))
  expect_identical(section[[2]]$data$Varied, c("as fitted", "discount"))
  expect_silent(ggplot2::ggplot_build(section[[3]]$plot))
})
