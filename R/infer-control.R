#' How a fit is computed
#'
#' [ibrc()] and [ibrc_mode()] say what is asked; `ibrc_control()` says how the answer is computed and what is kept of
#' it. The defaults serve nearly every fit.
#'
#' Give it as `control = ibrc_control(thin = 10)`; a plain list, `control = list(thin = 10)`, means the same. A fit
#' keeps these settings as its `control`. To compute another fit in the same way, write `control = fit$control`. (Where
#' chains began is the fit's `start`; `overwrite`, `check` and `max_iter` are for one call only.)
#'
#' @param tolerance,interpolate,surprise How plans are solved, as in [plan_agent()].
#' @param sampler `"adaptive"`, or `"paper"`: the paper's proposal, a random walk whose steps have
#'   the standard deviation 0.1 on the scale a sampler works on ([ibrc_prior()]), the logarithm for
#'   `alpha`, `beta` and `eta`. For the rest of the paper's protocol infer those three, with `chains = 1`,
#'   `warmup = 1000` and `iter = 11000` in [ibrc()], and here `thin = 10` and
#'   `start = data.frame(alpha = 1, beta = 1, eta = 1)`.
#' @param thin Which of the steps after warm-up are kept: every `thin`-th one.
#' @param start Where chains start. `NULL` sends scouts from the prior to the posterior, and chains start at some of
#'   them (see *The sampler* in [ibrc()]). Or a matrix or data frame with one column per term and one row per chain
#'   (natural scale), group after group, or one row for all chains. Or an earlier fit: chains start at its last draws.
#'   The fit has the starts as its `start`. To go on with a run rather than begin another, see [resume()].
#' @param keep_data Keep coded histories, without identifiers, in the fit; functions that look back at the data need
#'   them. The names of groups, and with `effects` the columns and levels of each cell, stay in the fit in any case.
#' @param overwrite Whether to replace a `file` that exists already. If not, a file is begun anew only where it is the
#'   unfinished checkpoint of this very fit: with the same data, model, prior, settings, start and seed, so that the
#'   same draws come again. To go on with it instead, use [resume()]. Without a `seed` no two fits are the same, and no
#'   file is begun anew.
#' @param check Check the fit at the end of the run, and keep what was found: [verdict()]. `FALSE` leaves that for
#'   later, as in a simulation study, where it would take a quarter of the time.
#' @param max_iter The most steps of a run that goes on until its chains agree. A run does so where [ibrc()] is given no
#'   `iter`. `NULL` stands for ten times the least number of steps: 20,000, and 80,000 where the dynamics are inferred
#'   together with the agents. Where `iter` is given, that many steps are made, and a larger `max_iter` lets the run go
#'   on if its chains do not agree by then. The same holds in [extend_fit()], where steps that were made count as well.
#' @param cells With `effects` of [ibrc()], how the log-likelihoods of cells are computed. `"exact"` solves for every
#'   cell at every step. `"interpolated"` interpolates between points of a grid over the terms (three of them at most),
#'   which takes a fraction of the time where cells are many. `"auto"` interpolates if there are 30 cells or more,
#'   but never while dynamics are inferred or drawn.
#' @return A list of class `ibrc_control`, with an entry for each argument.
#' @family inference
#' @export
#' @examples
#' ibrc_control()
#' ibrc_control(sampler = "paper", thin = 10, start = data.frame(alpha = 1, beta = 1, eta = 1))
ibrc_control <- function(tolerance = 1e-8, interpolate = c("value", "policy"), surprise = c("belief", "observation"),
                         sampler = c("adaptive", "paper"), thin = 1, start = NULL, keep_data = TRUE,
                         overwrite = FALSE, check = getOption("ibrc.check", TRUE), max_iter = NULL,
                         cells = c("auto", "exact", "interpolated")) {
  new_ibrc_control(list(
    tolerance = check_positive(tolerance, "tolerance"),
    interpolate = check_choice(interpolate, c("value", "policy"), "interpolate"),
    surprise = check_choice(surprise, c("belief", "observation"), "surprise"),
    sampler = check_choice(sampler, c("adaptive", "paper"), "sampler"),
    thin = check_count(thin, "thin"),
    start = check_chain_start(start),
    keep_data = check_flag(keep_data, "keep_data"),
    overwrite = check_flag(overwrite, "overwrite"),
    check = check_flag(check, "check"),
    max_iter = if (!is.null(max_iter)) check_count(max_iter, "max_iter", least = 2, most = 1e8),
    cells = check_choice(cells, c("auto", "exact", "interpolated"), "cells")
  ))
}

new_ibrc_control <- function(control) structure(control, class = "ibrc_control")

# Numbers with one column per term, or a fit. The prior says which terms there have to be.
check_chain_start <- function(start) {
  if (is.null(start) || inherits(start, "ibrc_fit")) return(start)
  start <- tryCatch(as.matrix(as.data.frame(start)), error = function(e) {
    abort_input("start", "must be a data frame with one column per term and one row per chain, not ", describe(start),
                ".")
  })
  if (!is.numeric(start)) abort_input("start", "must be numbers, one column per term and one row per chain.")
  start
}

# The user's `control`: from ibrc_control(), perhaps changed since, or a list of some of its arguments.
as_control <- function(control) {
  if (is.null(control)) control <- list()
  if (!is.list(control) || is.object(control) && !inherits(control, "ibrc_control")) {
    abort_input("control", "must come from ibrc_control(), or be a list such as list(thin = 10), not ",
                describe(control), ".", topic = "ibrc_control")
  }
  control <- unclass(control)
  given <- names(control)
  if (length(control) && (is.null(given) || any(is.na(given) | !nzchar(given)))) {
    abort_input("control", "has an entry without a name.", topic = "ibrc_control")
  }
  known <- names(formals(ibrc_control))
  for (name in setdiff(given, known)) {
    abort_input("control", "has no entry `", safe_text(name), "`.", did_you_mean(near_name(name, known)),
                topic = "ibrc_control")
  }
  if (anyDuplicated(given)) {
    abort_input("control", "has `", given[anyDuplicated(given)], "` twice.", topic = "ibrc_control")
  }
  do.call(ibrc_control, control, quote = TRUE)
}

# The control with which another fit is computed in the same way.
control_of <- function(inverse, ...) {
  problem <- lead_problem(inverse)
  ibrc_control(tolerance = inverse$tolerance, interpolate = problem$interpolate, surprise = problem$surprise, ...)
}

# ---- arguments that have moved ------------------------------------------------------------

# The `...` of a function that takes nothing besides its own arguments. For arguments that now belong to ibrc_control(),
# `moved`, the error says what to write instead.
refuse_others <- function(name, known, moved, ...) {
  if (!...length()) return(invisible())
  # As they were written: nothing of them is evaluated.
  given <- as.list(substitute(list(...)))[-1]
  called <- if (is.null(names(given))) rep("", length(given)) else names(given)
  here <- intersect(called, moved)
  if (length(here)) {
    instead <- paste(here, "=", vapply(given[here], written, ""))
    abort_input(here[1], "is an argument of ibrc_control(), not of ", name, "(): write control = ibrc_control(",
                paste(instead, collapse = ", "), ").", topic = "ibrc_control")
  }
  other <- called[nzchar(called)]
  if (!length(other)) {
    abort_input("...", "must be empty: ", name, "() has no more arguments than its help page names.")
  }
  near <- near_name(other[1], c(setdiff(known, "..."), moved))
  abort_input(safe_text(other[1]), "is not an argument of ", name, "().",
              did_you_mean(near, if (isTRUE(near %in% moved)) " of ibrc_control()"))
}

# An argument in a form that a message can repeat: short, and as code rather than the value of the code.
written <- function(x) {
  if (!is.language(x) && !(is.atomic(x) && length(x) == 1 && is.null(attributes(x)))) return("")
  text <- deparse(x, width.cutoff = 500)
  if (length(text) == 1 && nchar(text) <= 60) safe_text(text) else ""
}

# The known name that was most likely meant: one that begins like it, or is one or two slips away; NULL if there is
# none.
near_name <- function(name, known) {
  begins <- startsWith(known, name) | startsWith(name, known)
  slips <- drop(utils::adist(name, known, ignore.case = TRUE))
  if (nchar(name) > 2 && any(begins)) return(known[begins][1])
  if (min(slips) <= nchar(name) %/% 3) known[which.min(slips)]
}

did_you_mean <- function(near, where = NULL) if (!is.null(near)) paste0(" Did you mean `", near, "`", where, "?")

# ---- print --------------------------------------------------------------------------------

control_words <- function(control) {
  start <- control$start
  c(
    tolerance = "the error allowed in the value of a plan",
    interpolate = if (control$interpolate == "value") "between belief nodes values are interpolated" else
      "between belief nodes policies are interpolated",
    surprise = if (control$surprise == "belief") "observations that lead to the same belief count as one surprise" else
      "each observation surprises by itself",
    sampler = if (control$sampler == "adaptive") "warm-up learns what to propose" else "the paper's random walk",
    thin = if (control$thin == 1) "every step after warm-up is kept" else
      paste("one step in", control$thin, "after warm-up is kept"),
    start = if (is.null(start)) "chains start where scouts from the prior have led" else
      if (inherits(start, "ibrc_fit")) "chains start where those of the fit ended" else
        if (nrow(start) == 1) "all chains start there" else "one row per chain",
    keep_data = if (control$keep_data) "the fit keeps coded histories, without identifiers" else
      "the fit keeps nothing of the visits",
    overwrite = if (control$overwrite) "a file that is there is replaced" else "a file that is there is not touched",
    check = if (control$check) "the fit is checked at the end of the run" else "verdict() makes the checks later",
    max_iter = if (is.null(control$max_iter)) "without `iter`, at most ten times the least number of steps" else
      "the most steps of a run that goes on until its chains agree",
    cells = switch(control$cells, auto = "with `effects`, many cells are interpolated and few are solved for",
                   exact = "with `effects`, every cell is solved for",
                   interpolated = "with `effects`, cells are interpolated over the parameters")
  )
}

#' @export
format.ibrc_control <- function(x, ...) {
  words <- control_words(x)
  start <- x$start
  if (is.null(x$max_iter)) x$max_iter <- "10 x"
  x$start <- if (is.null(start)) "prior" else if (inherits(start, "ibrc_fit")) "a fit" else "given"
  values <- vapply(names(words), function(name) format(x[[name]], digits = 4, trim = TRUE), "")
  c("How a fit is computed", sprintf("  %-11s  %-11s  %s", names(words), values, words))
}

#' @export
print.ibrc_control <- function(x, ...) {
  writeLines(format(x))
  invisible(x)
}
