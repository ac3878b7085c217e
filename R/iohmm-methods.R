#' Tables of learned dynamics
#'
#' @param x,object A fit ([fit_iohmm()]).
#' @param ... Not used.
#' @return `tidy()`: a data frame with one row per probability:
#'   * `parameter`: `"start"`, `"transition"` or `"emission"`.
#'   * `group`, with `start_by` only: the group of a law of the first state.
#'   * `state`: the first state, the state before a transition, or the new state in which something is seen.
#'   * `action`: the action, `NA` for the first state and for shared transitions.
#'   * `outcome`: the next state, or the observation; `NA` for the first state.
#'   * `estimate`: the probability.
#'   * `count`: the expected number of times behind the row to which the probability belongs.
#'
#'   `glance()`: a data frame with one row per number of states tried:
#'   * `states`: that number.
#'   * `log_lik`, `n_parameters`, `AIC` and `BIC`.
#'   * `trajectories` and `visits`: how many there are.
#'   * `reached` and `starts`: how many starts got within 0.01 of the best, and how many starts there were.
#'   * `converged` and `chosen`: whether it converged, and whether the fit has that number of states.
#'
#'   `coef()`: the estimates, named.
#'
#'   `logLik()`: the log-likelihood. Its `df` is the number of free probabilities. Its `nobs`, which [stats::BIC()]
#'   uses, is the number of visits with an observation.
#' @family dynamics
#' @name tidy.ibrc_iohmm
#' @export
#' @examples
#' plan <- plan_agent(tiger_setting(), bounded_agent(alpha = 20))
#' visits <- simulate(plan, nsim = 100, seed = 1, horizon = 10)
#' iohmm <- fit_iohmm(visits, states = 1:2, starts = 4, sort_by = "hear_right", seed = 1)
#' glance(iohmm)
#' head(tidy(iohmm))
#' BIC(iohmm)
tidy.ibrc_iohmm <- function(x, ...) {
  check_unused(...)
  out <- rbind(start_rows(x), law_rows(x, "transition"), law_rows(x, "emission"))
  rownames(out) <- NULL
  if (!has_starts(x)) return(out)
  group <- rep(c(start_groups(x), NA), c(rep(length(x$states), nrow(x$start)), nrow(out) - length(x$start)))
  cbind(out[1], group = group, out[-1])
}

# One row per state, group after group.
start_rows <- function(iohmm) {
  counts <- matrix(iohmm$counts$start, ncol = length(iohmm$states))
  data.frame(parameter = "start", state = rep(iohmm$states, nrow(counts)), action = NA_character_,
             outcome = NA_character_, estimate = as.vector(t(start_matrix(iohmm))),
             count = rep(rowSums(counts), each = length(iohmm$states)))
}

# The rows of a shared matrix are given once, without an action.
law_rows <- function(iohmm, law) {
  cells <- iohmm[[law]]
  over <- expand.grid(dimnames(cells), stringsAsFactors = FALSE)
  counts <- iohmm$counts[[law]]
  pooled <- law == "transition" && iohmm$shared
  if (pooled) {
    counts <- array(rep(apply(counts, c(1, 2), sum), dim(counts)[3]), dim(counts))
    over[[3]] <- NA_character_
  }
  behind <- as.vector(apply(counts, c(1, 3), sum)[cbind(rep(seq_len(nrow(cells)), ncol(cells) * dim(cells)[3]),
                                                       rep(seq_len(dim(cells)[3]), each = nrow(cells) * ncol(cells)))])
  rows <- data.frame(parameter = law, state = over[[1]], action = over[[3]], outcome = over[[2]],
                     estimate = as.vector(cells), count = behind)
  if (pooled) rows <- rows[seq_len(nrow(cells) * ncol(cells)), ]
  rows
}

#' @rdname tidy.ibrc_iohmm
#' @export
glance.ibrc_iohmm <- function(x, ...) {
  check_unused(...)
  x$candidates
}

#' @rdname tidy.ibrc_iohmm
#' @export
coef.ibrc_iohmm <- function(object, ...) {
  check_unused(...)
  table <- tidy(object)
  over <- table[c(if (has_starts(object)) "group", "state", "outcome", "action")]
  inside <- apply(over, 1, function(row) paste(row[!is.na(row)], collapse = ","))
  stats::setNames(table$estimate, paste0(table$parameter, "[", inside, "]"))
}

#' @rdname tidy.ibrc_iohmm
#' @export
logLik.ibrc_iohmm <- function(object, ...) {
  check_unused(...)
  structure(object$log_lik, df = object$n_parameters, nobs = object$n_seen, class = "logLik")
}

#' @rdname tidy.ibrc_iohmm
#' @importFrom stats nobs
#' @export
nobs.ibrc_iohmm <- function(object, ...) {
  check_unused(...)
  object$n_seen
}

#' A decision problem with learned dynamics
#'
#' The fit gives states, actions, observations, their laws and the law of the first state. The
#' investigator gives the rest: what is wanted and how strongly the future counts.
#'
#' @param x A fit ([fit_iohmm()]).
#' @param utility,discount,belief_utility,stop_actions As in [decision_setting()].
#' @param start Probabilities of the first state. By default those of the fit, with one row per group if it has starts
#'   that differ (`start_by` of [fit_iohmm()]).
#' @param ... Not used.
#' @return A setting ([decision_setting()]).
#' @family dynamics
#' @export
#' @examples
#' plan <- plan_agent(tiger_setting(), bounded_agent(alpha = 20))
#' visits <- simulate(plan, nsim = 100, seed = 1, horizon = 10)
#' iohmm <- fit_iohmm(visits, states = 2, starts = 4, sort_by = "hear_right", seed = 1)
#' utility <- rbind(state1 = c(-1, -100, 10), state2 = c(-1, 10, -100))
#' setting <- as_setting(iohmm, utility = utility, discount = 0.95)
#' setting
#' perturb_models(setting, by = 0.1)
as_setting.ibrc_iohmm <- function(x, utility, discount, belief_utility = NULL, stop_actions = character(),
                                  start = x$start, ...) {
  check_unused(...)
  by_group <- has_starts(x) && is.matrix(start)
  setting <- decision_setting(x$states, x$actions, x$observations, x$transition, x$emission, utility, belief_utility,
                              discount, start, stop_actions, start_by = if (by_group) x$start_by)
  if (by_group && identical(start_groups(setting), start_groups(x))) setting$start_share <- x$start_share
  mark_learned(setting)
}

#' @export
format.ibrc_iohmm <- function(x, ...) {
  share <- rowSums(apply(x$counts$transition, c(2, 1), sum))
  share <- round(100 * share / sum(share))
  chosen <- x$candidates[x$candidates$chosen, ]
  free <- paste0(format(x$log_lik, nsmall = 1, digits = 7), " with ", plural(x$n_parameters, "free probability",
                                                                            "free probabilities"))
  c(
    paste0("Hidden dynamics of ", plural(length(x$states), "state"), " learned from ",
           plural(x$n_trajectories, "trajectory", "trajectories"), " with ", plural(x$n_visits, "visit"),
           if (x$n_seen < x$n_visits) paste0(", ", plural(x$n_visits - x$n_seen, "of them", "of them"),
                                             " without an observation")),
    paste0("  states         ", listing(paste0(x$states, " ", share, "%"))),
    paste0("  actions        ", listing(x$actions), if (x$shared) " (they move states alike)"),
    paste0("  observations   ", listing(x$observations)),
    if (has_starts(x)) c(paste0("  first states   by ", listing(x$start_by)), paste0("    ", start_texts(x$start))),
    paste0("  log-likelihood ", free, "; BIC ", format(chosen$BIC, nsmall = 1, digits = 7)),
    paste0("  ", chosen$reached, " of ", plural(chosen$starts, "start"), " reached it",
           if (nrow(x$candidates) > 1) paste0("; lowest BIC among ", listing(x$candidates$states), " states"))
  )
}

#' @export
print.ibrc_iohmm <- function(x, ...) {
  check_unused(...)
  writeLines(format(x))
  for (line in iohmm_advice(x)) writeLines(strwrap(line, prefix = "  ", initial = "* "))
  invisible(x)
}

iohmm_advice <- function(iohmm) {
  chosen <- iohmm$candidates[iohmm$candidates$chosen, ]
  never <- iohmm$actions[apply(iohmm$counts$transition, 3, sum) == 0]
  rows <- apply(iohmm$counts$transition, c(1, 3), sum)
  thin <- which(rows < 1 & !is.na(match(col(rows), which(colSums(rows) > 0))))
  c(
    if (!iohmm$converged) "The best climb was still rising: raise `max_iter`, and do not report this fit.",
    if (chosen$starts > 1 && chosen$reached == 1) {
      "Only one start reached this likelihood, so there may be a higher one. Raise `starts`."
    },
    if (length(never)) paste0("Never taken: ", listing(never), ". The data do not show what follows."),
    if (length(thin)) paste0(plural(length(thin), "pair"), " of state and action hardly ever occurred: the data say ",
                             "little about their laws. See `count` in tidy()."),
    if (has_starts(iohmm) && any(iohmm$start_share * iohmm$n_trajectories < small_group - 0.5)) {
      paste0("Groups of `start_by` with fewer than ", small_group, " trajectories: little is known about their start.")
    }
  )
}

#' @export
summary.ibrc_iohmm <- function(object, ...) {
  check_unused(...)
  structure(list(iohmm = object), class = "summary.ibrc_iohmm")
}

#' @export
print.summary.ibrc_iohmm <- function(x, digits = 2, ...) {
  iohmm <- x$iohmm
  print(iohmm)
  cat("\nFirst state\n")
  print(round(iohmm$start, digits))
  cat("\nNext state (rows: from)\n")
  for (action in iohmm$actions) {
    if (!iohmm$shared) cat(" after ", action, "\n", sep = "")
    moves <- array(iohmm$transition[, , action], dim(iohmm$transition)[1:2], dimnames(iohmm$transition)[1:2])
    print(round(moves, digits))
    if (iohmm$shared) break
  }
  cat("\nWhat is seen (rows: the new state)\n")
  for (action in iohmm$actions) {
    cat(" after ", action, "\n", sep = "")
    can <- iohmm$possible[action, ]
    shown <- array(iohmm$emission[, can, action], c(length(iohmm$states), sum(can)),
                   list(to = iohmm$states, observation = iohmm$observations[can]))
    print(round(shown, digits))
  }
  if (nrow(iohmm$candidates) > 1) {
    cat("\nNumbers of states tried\n")
    shown <- c("states", "log_lik", "n_parameters", "AIC", "BIC", "reached", "starts")
    print(iohmm$candidates[shown], row.names = FALSE)
  }
  invisible(x)
}
