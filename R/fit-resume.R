#' Go on with a fit
#'
#' Takes up a fit where its checkpoint stands and finishes it, with exactly the draws that an unbroken run would have
#' made.
#'
#' The file holds coded visits without identifiers, the problem in numbers and the state of every chain; nothing in it
#' is run as code. The whole file is checked before it is used. A file that was damaged or changed is refused with an
#' error of class `ibrc_error_checkpoint`. Where `setting` or `models` was a function, give it again. It is called at
#' the middle of the prior and where the chains stand, and has to return what it returned in the fit. Another function
#' is refused with an error that is also of class `ibrc_error_input`. If the setting need not be given again and its
#' utility of beliefs was a function, that utility is kept by its values on the lattice.
#'
#' The same holds for fits with learned dynamics ([ibrc()] with `dynamics`). Their files also hold the learned model
#' and, with `uncertainty = "joint"`, the visits that it was learned from, coded and without identifiers. `dynamics`
#' need not be given again. With `uncertainty = "cut"`, a file holds the draws of the dynamics, and the fit comes back
#' pooled.
#'
#' While a fit writes to a file, a small file of the same name with `.lock` added lies beside it, so that a second
#' process is told instead of writing to it as well. It is deleted when the fit ends. A lock that a killed process has
#' left is noticed and taken over, on the same machine; that of a process on another machine has to be deleted by hand.
#'
#' @param file The path that [ibrc()] was given.
#' @param cores,refresh As in [ibrc()]; by default as they were.
#' @param check As in [ibrc_control()]. The rest of the fit's control is in the file.
#' @param setting,models The functions that [ibrc()] was given, if there were any, such as [adni_setting()] for learned
#'   dynamics.
#' @return A fit, as from [ibrc()].
#' @family inference
#' @export
#' @examples
#' setting <- diag_setting()
#' visits <- simulate(plan_agent(setting, bounded_agent(alpha = 0.5), diag_models()), 40, seed = 1)
#' path <- tempfile(fileext = ".ibrc")
#' fit <- ibrc(visits, setting, diag_models(), ibrc_prior(alpha ~ lognormal(0, 1)),
#'             chains = 2, iter = 200, seed = 1, file = path)
#' identical(resume(path)$draws, fit$draws)
#' unlink(path)
resume <- function(file, cores = NULL, refresh = NULL, check = getOption("ibrc.check", TRUE), setting = NULL,
                   models = NULL) {
  check_given(file)
  check <- check_flag(check, "check")
  held <- read_checkpoint(file)
  refuse_study(held, function(...) refuse_checkpoint("format", ...))
  if (!is.null(cores)) cores <- check_count(cores, "cores")
  if (!is.null(refresh)) refresh <- check_count(refresh, "refresh", least = 0)
  # A finished file is only read.
  finished <- is_finished(held$contents)
  if (!finished) {
    check_writable(file, file.size(check_path(file)))
    lock <- new_lock(file)
    on.exit(release_lock(lock))
    take_lock(lock)
    # Another process may have gone on with it, up to a moment ago.
    held <- read_checkpoint(file, before = held)
  }
  job <- held_job(held, list(setting = setting, models = models))
  chain <- chain_from_plain(held$contents$chain)
  if (!is.null(cores)) job$run$cores <- job$evaluator$cores <- cores
  if (!is.null(refresh)) job$run$refresh <- refresh
  finish_job(job, chain, if (!finished) file, stands = iteration_of(chain), check = check)
}
