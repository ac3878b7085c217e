test_that("a text has every number of the fit, in Markdown and plain", {
  fit <- clinic_fit()
  plain <- format(methods_text(fit, "plain"))
  said <- paste(plain, collapse = " ")
  one <- glance(fit)
  for (number in c("160 trajectories", "774 visits", "2 groups", "2 chains of 600 steps in each group",
                   "300 of them warm-up", "resolution 100", "101 beliefs", sprintf("%.4f at most", one$rhat),
                   paste(floor(one$ess_bulk), "at least"), "lognormal(0, 1.5)", "counts 0.95 times", "-36",
                   "seed 1", as.character(utils::packageVersion("ibrc")), as.character(getRversion()),
                   format_number(attr(compare_groups(fit, joint = TRUE), "joint")))) {
    expect_match(said, number, fixed = TRUE)
  }
  # Each reference is called in the text, and each call has its reference.
  for (name in c("Jarrett", "Hastings", "Haario", "Vehtari")) {
    expect_match(plain[seq_len(which(plain == "References") - 1)], name, all = FALSE)
    expect_match(plain[-seq_len(which(plain == "References"))], paste0("^", name), all = FALSE)
  }
  marked <- format(methods_text(fit))
  expect_match(marked, "<https://doi.org/10.1214/20-BA1221>", fixed = TRUE, all = FALSE)
  expect_no_match(paste(gsub("\\\\[*]|[*][*]", "", marked), collapse = ""), "[*]")
  expect_output(print(methods_text(fit)), "References")
  expect_identical(as_markdown("a_b *c* <d> `e` x[1]"), "a\\_b \\*c\\* \\<d\\> \\`e\\` x\\[1\\]")
})

test_that("a text says first that a fit is not to be used, and only then", {
  fit <- clinic_fit()
  of <- function(verdict) {
    fit$standing <- standing_verdict(clinic_fit())
    fit$standing$verdict[] <- verdict
    format(methods_text(fit, "plain"))[1]
  }
  expect_match(of("do not use"), "^Do not use these numbers")
  expect_match(of("ok"), "^The model was fitted to 160")
  fit$standing <- standing_verdict(fit)
  fit$standing$verdict[] <- "do not use"
  expect_match(format(methods_text(fit))[1], "^[*][*]Do not use")
})

test_that("a checklist has every item once, and says what was not done", {
  fit <- clinic_fit()
  list <- reporting_checklist(fit)
  expect_named(list, c("item", "done", "where"))
  expect_identical(anyDuplicated(list$item), 0L)
  at <- function(list, item) list$done[list$item == item]
  expect_identical(at(list, "Sensitivity to what was assumed"), "not done")
  expect_identical(at(list, "Habit"), "not done")
  moved <- sensitivity_analysis(uneven_fit(), list(discount = 0.9), starts = 1)
  expect_match(at(reporting_checklist(uneven_fit(), moved), "Sensitivity to what was assumed"), "1 alternative to what")
  expect_output(print(list), "[0-9] items of 17 not done. Verdict: ")
  expect_output(print(list[1:2, ]), "Verdict")
  expect_output(print(list["item"]), "Data")
})

test_that("neither names a patient, nor a count that is too small", {
  visits <- as.data.frame(uneven_visits())
  visits$id <- paste0("SECRET-", visits$id)
  few <- trajectories(visits[visits$id %in% unique(visits$id)[1:3], ])
  fit <- suppressWarnings(ibrc(few, diag_setting(), diag_models(), ibrc_prior(alpha ~ lognormal(0, 1)), chains = 2,
                               iter = 40, seed = 1, resolution = 5, control = ibrc_control(check = FALSE)))
  said <- c(format(methods_text(fit)), unlist(reporting_checklist(fit)))
  expect_no_match(said, "SECRET|3 trajectories")
  expect_match(said, "<5|\\\\<5", all = FALSE)
  expect_match(format(methods_text(fit, suppress = NULL)), "3 trajectories", all = FALSE)
})

test_that("in R Markdown a text is text", {
  skip_if_not_installed("knitr")
  page <- knit_print.ibrc_methods_text(methods_text(clinic_fit(), "plain"))
  expect_s3_class(page, "knit_asis")
  expect_match(page, "**References**", fixed = TRUE)
})
