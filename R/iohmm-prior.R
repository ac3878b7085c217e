#' Pseudo-counts for learned dynamics
#'
#' Pseudo-counts are added to the counts that [fit_iohmm()] expects from the data, as if that many
#' more visits had been seen in each entry of a law. The prior density of a law `p` is then
#' proportional to the product of `p^count`, a Dirichlet distribution with
#' parameters `1 + count`. With counts of 0 it is uniform, and the maximum of the posterior
#' is the maximum of the likelihood. The prior is the same for every state, so the
#' number of a state has no meaning before the data give it one.
#'
#' @param start,transition,emission Pseudo-counts, 0 or more, of each entry of the law of
#'   the first state, of each transition row and of each emission row. `emission`
#'   may be a matrix with one row per action and one column per observation. Impossible
#'   pairs stay impossible.
#' @param stay Pseudo-counts added for staying in a state, to each action's
#'   transition rows.
#' @return An object of class `ibrc_iohmm_prior`.
#' @family dynamics
#' @export
#' @examples
#' iohmm_prior(transition = 0.5, emission = 0.5, stay = 2)
iohmm_prior <- function(start = 0, transition = 0, emission = 0, stay = 0) {
  prior <- list(start = check_pseudo(start, "start"), transition = check_pseudo(transition, "transition"),
                stay = check_pseudo(stay, "stay"))
  if (is.matrix(emission)) {
    if (!is.numeric(emission) || any(!is.finite(emission)) || any(emission < 0)) {
      abort_input("emission", "must hold finite numbers, 0 or more.")
    }
    prior$emission <- emission
  } else {
    prior$emission <- check_pseudo(emission, "emission")
  }
  structure(prior, class = "ibrc_iohmm_prior")
}

check_pseudo <- function(x, argument) {
  x <- check_finite_number(x, argument)
  if (x < 0) abort_input(argument, "must be 0 or more; it is ", format(x), ".")
  x
}

# The prior in full, with emission as a matrix [action, observation].
check_iohmm_prior <- function(prior, words) {
  if (is.null(prior)) prior <- iohmm_prior()
  if (is.numeric(prior)) {
    prior <- check_pseudo(prior, "prior")
    prior <- iohmm_prior(prior, prior, prior)
  }
  check_class(prior, "ibrc_iohmm_prior", "prior", "iohmm_prior()")
  over <- unname(words[c("actions", "observations")])
  if (is.matrix(prior$emission)) {
    if (!identical(dim(prior$emission), lengths(over))) {
      abort_input("prior", "has an emission of ", paste(dim(prior$emission), collapse = " by "), "; it must be ",
                  length(over[[1]]), " actions by ", length(over[[2]]), " observations.")
    }
    prior$emission <- order_by_names(prior$emission, over, c("actions", "observations"), "prior")
  } else {
    prior$emission <- matrix(prior$emission, length(over[[1]]), length(over[[2]]), dimnames = over)
  }
  prior
}

# The prior as kernels read it, with observations fastest.
prior_for_kernel <- function(prior, possible, shared) {
  list(start = prior$start, transition = prior$transition, stay = prior$stay,
       emission = as.numeric(t(prior$emission)), possible = as.integer(t(possible)), shared = as.integer(shared))
}

#' @export
format.ibrc_iohmm_prior <- function(x, ...) {
  range <- unique(range(x$emission))
  c("Pseudo-counts for each entry of a law",
    paste0("  start       ", format(x$start)),
    paste0("  transition  ", format(x$transition), if (x$stay > 0) paste0(", and ", format(x$stay), " for staying")),
    paste0("  emission    ", paste(format(range, trim = TRUE), collapse = " to ")))
}

#' @export
print.ibrc_iohmm_prior <- function(x, ...) {
  writeLines(format(x))
  invisible(x)
}
