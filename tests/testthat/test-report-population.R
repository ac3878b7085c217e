test_that("a report on people who differ has its coefficients, contrasts, spreads and shrinkage", {
  skip_if_not_installed("ggplot2")
  fit <- differing_fit()
  fit$checks <- verdict_rows(c("behaves", "assumed"), "seen", "asked", "ok")
  sections <- report_sections(fit, differing_visits(), patients = 1, draws = 2)
  tables <- Filter(function(part) part$kind == "table", sections$posterior)
  expect_identical(tables[[2]]$data$Median, tidy(fit)$estimate)
  expect_identical(tables[[1]]$data$Term, prior_summary(fit)$term)
  kinds <- vapply(sections$groups, `[[`, "", "kind")
  expect_identical(kinds, c("table", "list", "list", "picture"))
  expect_identical(sections$groups[[1]]$data$Median, compare_groups(fit)$estimate)
  expect_match(sections$groups[[2]]$lines[2], "4 contrasts were looked at; the probability that all")
  expect_identical(sections$groups[[3]]$lines, format(spread_shares(fit)))
  text <- unlist(sections$overview)
  expect_match(paste(text, collapse = " "), "of people who differ")
  # Sizes of cells stay out of it.
  expect_no_match(paste(unlist(sections$selection), collapse = " "), "cell 1")
  for (part in Filter(function(part) part$kind == "picture", unlist(lapply(sections, unclass), recursive = FALSE))) {
    expect_silent(ggplot2::ggplot_build(part$plot))
  }
})

test_that("a fit without factors says so, and correlations have no prior to be held against", {
  skip_if_not_installed("ggplot2")
  fit <- fit_differing(list(alpha ~ (1 | p | id), optimism ~ (1 | p | id)), differing_visits(2, 2), iter = 20)
  fit$standing <- standing_verdict(fit)
  section <- people_section(list(fit = fit, verdict = fit$standing))
  expect_match(section[[1]]$text, "no factor")
  checks <- checks_section(list(fit = fit, verdict = fit$standing))
  table <- Filter(function(part) part$kind == "table", checks)[[1]]$data
  expect_false(any(grepl("^cor", table$Term)))
})
