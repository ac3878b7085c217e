# A fit of a few milliseconds, and what was seen of it on its way. `from` has the functions
# under test: the package's, or those of an altered_package().

small_problem <- local({
  setting <- diag_setting()
  models <- diag_models()
  plan <- plan_agent(setting, bounded_agent(alpha = 0.5), models, resolution = 10)
  list(visits = simulate(plan, 30, seed = 1), setting = setting, models = models,
       prior = ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1)))
})

small_fit <- function(from, ..., iter = 200, seed = 5) {
  from$ibrc(small_problem$visits, small_problem$setting, small_problem$models, small_problem$prior, chains = 2,
            iter = iter, warmup = iter %/% 2, resolution = 10, seed = seed, ...)
}

# What came of `code`: its value or its error, its warnings about files, and after each message
# of progress what `at_step(step)` did.
observe <- function(code, at_step = function(step) NULL) {
  out <- list(value = NULL, error = NULL, warnings = character())
  handled <- function(code) {
    # What the fit would do on an interrupt is not in force while this runs: it has to wait.
    withCallingHandlers(code, message = function(m) {
      suspendInterrupts({
        step <- sub("^step ([0-9]+) .*", "\\1", conditionMessage(m))
        # There are others, such as that the fit is being checked.
        if (!is.na(suppressWarnings(as.integer(step)))) at_step(as.integer(step))
        invokeRestart("muffleMessage")
      })
    }, warning = function(w) {
      if (inherits(w, "ibrc_warning_file")) out$warnings <<- c(out$warnings, conditionMessage(w))
      invokeRestart("muffleWarning")
    })
  }
  value <- tryCatch(handled(code), error = function(e) e)
  if (inherits(value, "error")) out$error <- value else out$value <- value
  out
}

is_refusal <- function(error, says) {
  inherits(error, "ibrc_error_file") && grepl(says, conditionMessage(error), fixed = TRUE)
}

# NULL if there is no such file.
bytes_of <- function(path) if (file.exists(path)) readBin(path, "raw", file.size(path))

# Other than the files named, in a folder.
litter <- function(folder, but = character()) setdiff(list.files(folder, all.files = TRUE, no.. = TRUE), but)

# The draws that a file is taken up to, or NULL.
resumed_draws <- function(path) {
  tryCatch(suppressMessages(suppressWarnings(resume(path, refresh = 0)$draws)), error = function(e) NULL)
}
