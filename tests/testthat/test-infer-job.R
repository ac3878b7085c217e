held_of <- function(...) {
  path <- withr::local_tempfile(fileext = ".ibrc")
  fit <- ibrc(clinic_visits(), diag_setting(), diag_models(), ibrc_prior(alpha ~ lognormal(0, 1)), ..., chains = 2,
              iter = 20, seed = 1, resolution = 10, file = path)
  list(fit = fit, contents = read_checkpoint(path)$contents)
}

test_that("each field of a job counts in its fingerprint", {
  plain <- held_of()$contents$job
  for (field in job_fields) {
    other <- plain
    other[field] <- list("other")
    if (field == "run") next
    expect_false(identical(job_fingerprint(other), job_fingerprint(plain)), label = field)
  }
  for (field in names(plain$run)) {
    other <- plain
    other$run[field] <- list("other")
    expect_identical(sum(job_fingerprint(other) != job_fingerprint(plain)), 1L, label = field)
  }
})

test_that("a job comes back from nothing but lists and vectors", {
  for (held in list(held_of(), held_of(by = "clinic"))) {
    plain <- held$contents$job
    job <- job_from_plain(plain)
    expect_identical(job_to_plain(job), plain)
    expect_identical(job$inverse$problem$tables, held$fit$problem$tables)
    expect_identical(job$inverse$group, factor(plain$group_levels[plain$group], plain$group_levels))
  }
})
