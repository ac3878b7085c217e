# What vignettes/adni.Rmd reads instead of fitting it: inst/extdata/adni-*.csv, made by
# data-raw/vignette-adni.R.

stored_result <- function(name) {
  utils::read.csv(stored_file("extdata", paste0("adni-", name, ".csv")))
}

# Sourced like this, a script only defines its functions.
vignette_script <- function(name = "vignette-adni.R") {
  folder <- test_path("..", "..")
  skip_if_not(file.exists(file.path(folder, "data-raw", name)))
  made <- new.env()
  withr::with_dir(folder, sys.source(file.path("data-raw", name), made))
  list(path = file.path(folder, "data-raw", name), make = made)
}

test_that("stored results are small, whole, and of this package", {
  names <- c("contrasts", "dynamics", "groups", "inputs", "priors", "resolutions",
             paste0("joint", c("", "-contrasts", "-checks", "-verdicts", "-inputs")))
  files <- stored_file("extdata", paste0("adni-", names, ".csv"))
  expect_lt(sum(file.size(files)), 20000)
  for (name in setdiff(names, c("inputs", "joint-inputs"))) expect_false(anyNA(stored_result(name)[c(1, 2)]))
  # A version that is only new by its number makes the same results: what they were made with is recorded, and no later
  # one. That the table, the scripts and the likeliest doctors are still those is tested below.
  for (inputs in list(stored_result("inputs"), stored_result("joint-inputs"))) {
    made_with <- inputs$is[inputs$what == "version"]
    expect_lte(utils::compareVersion(made_with, as.character(utils::packageVersion("ibrc"))), 0)
  }
})

but_version <- function(inputs) inputs[inputs$what != "version", ]

test_that("neither the table nor the script has changed since results were stored", {
  script <- vignette_script()
  expect_identical(but_version(script$make$vignette_inputs(script$path)), but_version(stored_result("inputs")))
  joint <- vignette_script("vignette-adni-joint.R")
  expect_identical(but_version(script$make$vignette_inputs(joint$path)), but_version(stored_result("joint-inputs")))
})

test_that("dynamics and doctors together are found where they were put, and behave as the doctors do", {
  terms <- stored_result("joint")
  expect_true(all(terms$rhat < 1.01 & terms$ess_bulk > 400))
  truth <- adni_like_truth()$agents
  ages <- terms[terms$by == "over_75", ]
  put_in <- ifelse(ages$term == "alpha", 0.3, 1 / vapply(ages$group, function(g) truth[[g]]$beta, 0))
  expect_true(all(ages$conf.low < put_in & put_in < ages$conf.high))
  checks <- stored_result("joint-checks")
  out <- mean(checks$observed < checks$conf.low | checks$observed > checks$conf.high)
  expect_lt(out, 0.25)
  # Shares and verdicts are read from fits as the script reads them.
  script <- vignette_script("vignette-adni-joint.R")
  setting <- diag_setting()
  visits <- simulate(plan_agent(setting, bounded_agent(0.5), diag_models()), 60, seed = 1)
  fit <- ibrc(visits, setting, diag_models(), ibrc_prior(alpha ~ lognormal(0, 1)), chains = 2, iter = 120, seed = 1,
              refresh = 0, control = ibrc_control(check = FALSE))
  made <- script$make$of_each(list(one = fit, two = fit), generics::tidy)
  expect_identical(made$by, c("one", "two"))
})

test_that("the stored contrasts are those of posteriors that mixed", {
  groups <- stored_result("groups")
  expect_true(all(groups$rhat < 1.02))
  expect_true(all(groups$ess_bulk > 400))
  contrasts <- stored_result("contrasts")
  expect_true(all(contrasts$conf.low < contrasts$estimate & contrasts$estimate < contrasts$conf.high))
  # A difference of medians is near the median of differences.
  medians <- function(by, dynamics, group) {
    groups$estimate[groups$by == by & groups$dynamics == dynamics & groups$group == group & groups$term == "optimism"]
  }
  optimism <- contrasts[contrasts$term == "optimism", ]
  between <- mapply(function(by, dynamics, group, reference) {
    medians(by, dynamics, group) - medians(by, dynamics, reference)
  }, optimism$by, optimism$dynamics, optimism$group, optimism$reference)
  expect_equal(unname(between), optimism$estimate, tolerance = 0.02)
})

test_that("the script still finds the likeliest doctors that were stored", {
  script <- vignette_script()
  truth <- adni_like_truth()
  problem <- list(cohort = read_adni(adni_like),
                  prior = ibrc_prior(alpha ~ lognormal(-1, 1), optimism ~ normal(0, 1)))
  again <- script$make$likeliest(problem, truth$setting, truth$models, resolution = 20, starts = 1)
  stored <- stored_result("resolutions")
  stored <- stored[stored$dynamics == "true" & stored$resolution == 20, ]
  expect_identical(stored$bonus, c("jump", "ramp"))
  # On this lattice the ramp is what becomes of the jump.
  for (row in 1:2) expect_equal(again, stored[row, names(again)], tolerance = 1e-3, ignore_attr = TRUE)
})

test_that("the script makes all results again", {
  skip_if_not(Sys.getenv("IBRC_EXTENDED_TESTS") == "1")
  script <- vignette_script()
  problem <- script$make$vignette_problem()
  expect_equal(script$make$make_priors(problem), stored_result("priors"), tolerance = 1e-3, ignore_attr = TRUE)
  expect_equal(script$make$make_dynamics(problem), stored_result("dynamics"), tolerance = 1e-3, ignore_attr = TRUE)
  expect_equal(script$make$make_resolutions(problem, c(20, 40)), {
    stored <- stored_result("resolutions")
    stored[stored$resolution < 100, ]
  }, tolerance = 1e-3, ignore_attr = TRUE)
  # Long chains in full take minutes: shorter ones agree to their own noise.
  problem$dynamics <- problem$dynamics["learned"]
  long <- script$make$make_contrasts(problem, chains = 2, iter = 1000)$contrasts
  stored <- stored_result("contrasts")
  stored <- stored[stored$dynamics == "learned", ]
  which <- c("by", "term", "group", "reference")
  expect_equal(long[which], stored[which], ignore_attr = TRUE)
  expect_true(all(abs(long$estimate - stored$estimate) < 0.25 * (stored$conf.high - stored$conf.low)))
})
