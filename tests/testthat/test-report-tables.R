tables <- function() {
  fit <- uneven_fit("clinic")
  cached("paper tables", list(
    fit = fit, tidy = tidy(fit), compare_groups = compare_groups(fit, joint = TRUE),
    decision_effects = decision_effects(fit, draws = 2, nsim = 5), flow = flow(read_adni(adni_like), suppress = 500),
    accuracy = accuracy(cross_validate(clinic_visits(), list(frequencies = "frequencies", last = "previous_action"),
                                       folds = 2, seed = 1), resamples = 20, seed = 1),
    reporting_checklist = reporting_checklist(fit), tbl_agents = tbl_agents(fit), tbl_groups = tbl_groups(fit)
  ))
}

test_that("every table has a caption, its verdict in the note, and numbers that are not rounded", {
  all <- lapply(tables(), as_paper_table)
  expect_true(all(vapply(all, inherits, NA, "ibrc_table")))
  headline <- verdict_headline(standing_verdict(uneven_fit("clinic")))
  for (name in setdiff(names(all), c("flow", "accuracy"))) {
    expect_match(attr(all[[name]], "note"), headline, fixed = TRUE, all = FALSE, label = name)
  }
  for (one in all) expect_gt(nchar(attr(one, "caption")), 10)
  fit <- uneven_fit("clinic")
  expect_identical(all$tidy$Median, tidy(fit)$estimate)
  expect_identical(names(all$tidy), c("Term", "Group", "Median", "SD", "2.5%", "97.5%", "Verdict"))
  expect_identical(names(tbl_groups(fit, conf.level = 0.9))[6:7], c("5%", "95%"))
  expect_match(attr(tbl_groups(clinic_fit(), joint = TRUE), "note"), "have the sign of their estimate", all = FALSE)
  expect_match(attr(all$flow, "note"), "Counts are hidden so that none below 500")
  expect_identical(names(as_paper_table(tidy(fit, conf.level = 0.5)[1, ]))[5:6], c("25%", "75%"))
  # Where that is lost, the share of the interval is not known any more, and the verdict is that of the rows.
  part <- structure(tidy(fit)[1, ], conf.level = NULL, verdict = NULL)
  expect_identical(names(as_paper_table(part))[5:6], c("Lower", "Upper"))
  expect_identical(attr(as_paper_table(part), "note"), paste0("Verdict: ", part$verdict, "."))
})

test_that("all of them can be written as CSV and read again", {
  for (name in setdiff(names(tables()), "fit")) {
    one <- tables()[[name]]
    path <- withr::local_tempfile(fileext = ".csv")
    utils::write.csv(one, path, row.names = FALSE)
    again <- utils::read.csv(path, check.names = FALSE)
    expect_identical(dim(again), dim(one), label = name)
    numbers <- names(one)[vapply(one, is.numeric, NA)]
    for (column in numbers) expect_equal(as.numeric(again[[column]]), as.numeric(one[[column]]), tolerance = 1e-12)
  }
})

test_that("tables print with three digits, and are data frames", {
  table <- tbl_agents(uneven_fit("clinic"))
  said <- utils::capture.output(print(table))
  expect_match(said, format(table$Median[1], digits = 3), fixed = TRUE, all = FALSE)
  expect_match(said, "^Verdict: ", all = FALSE)
  expect_identical(class(as.data.frame(table)), "data.frame")
  expect_output(print(table[1:2]), "Term")
})

test_that("gt tables hold the cells, the caption and the note as text", {
  skip_if_not_installed("gt")
  for (name in names(tables())) {
    made <- as_gt(tables()[[name]])
    expect_s3_class(made, "gt_tbl")
    page <- gt::as_raw_html(made, inline_css = FALSE)
    table <- as_paper_table(tables()[[name]])
    expect_match(page, attr(table, "caption"), fixed = TRUE, label = name)
    for (line in attr(table, "note")) expect_match(page, gsub(">", "&gt;", line, fixed = TRUE), fixed = TRUE)
  }
  bad <- tbl_agents(uneven_fit("clinic"))
  bad$Group[1] <- "<script>"
  expect_match(gt::as_raw_html(as_gt(bad), inline_css = FALSE), "&lt;script&gt;", fixed = TRUE)
})

test_that("flextables hold the cells, the caption and the note", {
  skip_if_not_installed("flextable")
  for (name in names(tables())) {
    made <- flextable::as_flextable(tables()[[name]])
    expect_s3_class(made, "flextable")
    table <- as_paper_table(tables()[[name]])
    expect_identical(flextable::nrow_part(made, "body"), nrow(table), label = name)
    note <- attr(table, "note")
    expect_identical(flextable::nrow_part(made, "footer"), length(note), label = name)
    expect_identical(made$footer$dataset[[1]], if (length(note)) note, label = name)
  }
})

test_that("what is no table of ours is refused, and gtsummary gets its own", {
  error <- expect_error(as_gt(data.frame(a = 1)), "must come from tidy", class = "ibrc_error_input")
  expect_identical(error$argument, "x")
  error <- expect_error(as_gt(tidy(uneven_fit())[c("term", "estimate")]), "has lost its columns",
                        class = "ibrc_error_input")
  expect_error(as_gt(structure(list(), class = "gtsummary")), "gtsummary")
  expect_error(tbl_groups(uneven_fit()), "no groups", class = "ibrc_error_input")
})
