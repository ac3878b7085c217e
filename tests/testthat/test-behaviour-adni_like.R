test_that("the synthetic table has the columns that it says", {
  expect_named(adni_like, adni_columns)
  expect_identical(length(unique(adni_like$RID)), 1600L)
  # No number that ADNI could have given.
  expect_true(all(adni_like$RID > 900000))
  expect_true(anyNA(adni_like$APOE4) && anyNA(adni_like$CDRSB) && any(adni_like$DX == ""))
  expect_true(any(grepl(" to ", adni_like$DX)) && any(adni_like$VISCODE == "m03"))
  expect_gt(sum(duplicated(adni_like[c("RID", "VISCODE")])), 10)
})

test_that("it reads as any ADNI table does", {
  expect_silent(cohort <- read_adni(adni_like))
  counts <- flow(cohort)
  # Counted here without the reader.
  usable <- adni_like[adni_like$VISCODE != "m03" & !is.na(adni_like$CDRSB), ]
  usable <- usable[!duplicated(usable[c("RID", "VISCODE")]), ]
  expect_identical(counts$visits[counts$step == "cdr"], nrow(usable))
  expect_identical(utils::tail(counts$patients, 1), sum(usable$VISCODE == "bl"))
  expect_equal(stats::median(table(cohort$RID)), 3)
  groups <- cohort[!duplicated(cohort$RID), ]
  at <- match(groups$RID, adni_like$RID)
  expect_identical(groups$over_75 == "over_75", adni_like$AGE[at] > 75)
  expect_identical(groups$apoe4 == "missing", is.na(adni_like$APOE4[at]))
  expect_identical(groups$sex == "female", adni_like$PTGENDER[at] == "Female")
  expect_true(all(table(droplevels(groups$apoe4)) > small_group))
})

test_that("the truth and the table speak of the same things", {
  truth <- adni_like_truth()
  cohort <- read_adni(adni_like)
  expect_identical(levels(cohort$observation), truth$setting$observations)
  expect_identical(levels(cohort$action), truth$setting$actions)
  expect_identical(levels(droplevels(cohort[[truth$by]])), names(truth$agents))
  expect_true(all(truth$same %in% attr(cohort, "roles")$covariates))
  # Only optimism differs.
  expect_identical(truth$agents$up_to_75[c("alpha", "eta")], truth$agents$over_75[c("alpha", "eta")])
  expect_false(truth$agents$up_to_75$beta == truth$agents$over_75$beta)
  # Without an MRI no volume is seen, with one always.
  none <- grepl("none", truth$setting$observations)
  expect_true(all(truth$setting$emission[, none, "mri"] == 0))
  expect_true(all(truth$setting$emission[, !none, "no_mri"] == 0))
  expect_equal(truth$setting$emission["mci", "cdr_severe_mri_low", "mri"], 0.15 * 0.16)
  expect_equal(truth$setting$emission["normal", "cdr_questionable_mri_none", "no_mri"], 0.27)
})

test_that("the true doctors explain the behaviour better than each other's", {
  truth <- adni_like_truth()
  cohort <- read_adni(adni_like)
  plans <- lapply(truth$agents, function(agent) {
    plan_agent(truth$setting, agent, truth$models, resolution = truth$resolution)
  })
  for (level in names(plans)) {
    own <- cohort[cohort$over_75 == level, ]
    other <- setdiff(names(plans), level)
    expect_gt(sum(log_lik(plans[[level]], own)), sum(log_lik(plans[[other]], own)))
  }
})

test_that("the script makes the table again", {
  script <- test_path("..", "..", "data-raw", "adni_like.R")
  skip_if_not(file.exists(script))
  made <- new.env()
  sys.source(script, made)
  withr::local_preserve_seed()
  expect_identical(made$make_adni_like(), adni_like)
})

test_that("a fit finds the difference that is there and none that is not", {
  skip_if_not(Sys.getenv("IBRC_EXTENDED_TESTS") == "1")
  truth <- adni_like_truth()
  cohort <- read_adni(adni_like)
  contrast <- function(by) {
    fit <- ibrc(cohort, truth$setting, truth$models, ibrc_prior(alpha ~ lognormal(-1, 1), optimism ~ normal(0, 1)),
                by = by, resolution = truth$resolution, chains = 2, iter = 2000, seed = 1)
    out <- compare_groups(fit)
    out[out$term == "optimism", ][1, ]
  }
  age <- contrast("over_75")
  real <- 1 / truth$agents$over_75$beta - 1 / truth$agents$up_to_75$beta
  expect_lt(age$conf.high, 0)
  expect_true(age$conf.low < real && real < age$conf.high)
  sex <- contrast("sex")
  expect_true(sex$conf.low < 0 && 0 < sex$conf.high)
  apoe4 <- contrast("apoe4")
  expect_true(apoe4$conf.low < 0 && 0 < apoe4$conf.high)
})
