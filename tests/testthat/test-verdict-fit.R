setting <- diag_setting()
plan <- plan_agent(setting, bounded_agent(alpha = 2), diag_models())
visits <- simulate(plan, 150, seed = 1)
prior <- ibrc_prior(alpha ~ lognormal(0, 1))
fit_checked <- function(...) {
  ibrc(visits, setting, diag_models(), prior, chains = 4, iter = 1000, seed = 1, ...)
}
checked <- fit_checked(control = list(check = TRUE))

unchecked <- fit_checked()

test_that("a fit that is well is said to be, in every place", {
  rows <- verdict(checked)
  expect_s3_class(rows, "ibrc_verdict")
  expect_named(rows, c("check", "term", "group", "seen", "asked", "verdict", "advice"))
  expect_setequal(rows$check, c("settled", "whole", "behaves", "identified", "assumed"))
  expect_true(all(rows$verdict == "ok"))
  expect_identical(unique(rows$advice), "")
  expect_output(print(rows), "^Verdict: ok")
  expect_output(print(checked), "Verdict: ok")
  expect_identical(tidy(checked)$verdict, "ok")
  expect_identical(glance(checked)$verdict, "ok")
  expect_identical(summary(checked)$advice, character())
})

test_that("draws are the same with the checks and without, and so is the generator", {
  expect_identical(checked$draws, unchecked$draws)
  with_seed(5, {
    before <- .Random.seed
    add_verdict(unchecked)
    expect_identical(.Random.seed, before)
  })
})

test_that("what was not looked at is a caution, until it is", {
  expect_null(unchecked$checks)
  expect_identical(tidy(unchecked)$verdict, "caution")
  expect_output(print(unchecked), "Verdict: caution.*add_verdict")
  expect_identical(verdict(unchecked), verdict(checked))
  expect_identical(add_verdict(unchecked)$checks, checked$checks)
  # What looks back at data that are gone says so.
  bare <- fit_checked(control = list(keep_data = FALSE))
  expect_null(bare$histories)
  expect_output(print(bare), "fit with control =\\s+ibrc_control\\(check = TRUE\\)")
  expect_error(verdict(bare), "keep_data", class = "ibrc_error_input")
  kept <- fit_checked(control = list(keep_data = FALSE, check = TRUE))
  expect_null(kept$histories)
  expect_identical(kept$checks, checked$checks)
})

test_that("no place prints a number without the verdict on it", {
  fit <- clinic_fit()
  fit$draws$south[, 1, "alpha"] <- fit$draws$south[, 1, "alpha"] * 3
  expect_identical(tidy(fit)$verdict[tidy(fit)$group == "south"][1], "do not use")
  expect_identical(glance(fit)$verdict, "do not use")
  expect_output(print(fit), "Verdict: do not use .*settled")
  expect_match(summary(fit)$advice, "do not report these draws", all = FALSE)
  contrast <- compare_groups(fit)
  expect_identical(contrast$verdict[1], "do not use")
  expect_output(print(contrast), "Verdict: do not use")
  expect_identical(class(as.data.frame(contrast)), "data.frame")
  expect_identical(identifiability(fit)$verdict[3], "unsettled")
  expect_output(print(identifiability(fit)), "Verdict: do not use")
  # What rests on such draws cannot be told.
  fit$checks <- verdict_rows(c("whole", "behaves"), "fine", "asked", "ok", "", c("alpha", NA), c("south", NA))
  rows <- standing_verdict(fit)
  expect_match(rows$seen[rows$check %in% c("whole", "behaves")], "cannot be told")
})

test_that("a fit that does not behave like its data is not to be used", {
  rows <- as.data.frame(visits)
  # Every third visit everybody monitors, whatever is believed.
  rows <- rows[rows$time < 2 | !rows$action %in% setting$stop_actions, ]
  odd <- trajectories(rows, setting = setting)
  fit <- ibrc(odd, setting, diag_models(), prior, chains = 4, iter = 1000, seed = 1, control = list(check = TRUE))
  said <- verdict(fit)
  expect_identical(as.character(said$verdict[said$check == "behaves"]), "do not use")
  expect_output(print(fit), "does not decide as the people did")
})

test_that("draws from the prior are no posterior", {
  fit <- fit_checked(sample_prior = "only", control = list(check = TRUE))
  expect_identical(as.character(verdict(fit)$verdict), "do not use")
  expect_output(print(fit), "draws from the prior")
})

test_that("a check that fails says so, and stops no other", {
  fit <- unchecked
  local_replacement("second_opinion", function(...) stop("no way"))
  rows <- slow_checks(fit)
  expect_match(rows$advice[rows$check == "whole"], "This check failed \\(no way\\)")
  expect_identical(as.character(rows$verdict[rows$check == "whole"]), "caution")
  expect_identical(as.character(rows$verdict[rows$check == "behaves"]), "ok")
})

test_that("an interrupt in the checks leaves the draws", {
  local_replacement("second_opinion", function(...) {
    stop(structure(class = c("interrupt", "condition"), list(message = "", call = NULL)))
  })
  expect_message(fit <- fit_checked(control = list(check = TRUE)), "draws are complete")
  expect_identical(fit$draws, unchecked$draws)
  expect_null(fit$checks)
})

test_that("resume() makes the checks as well", {
  path <- withr::local_tempfile(fileext = ".ibrc")
  fit_checked(file = path)
  expect_identical(resume(path, check = TRUE)$checks, checked$checks)
  expect_null(resume(path, check = FALSE)$checks)
})
