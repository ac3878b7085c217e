#' Take a decision problem from elsewhere
#'
#' Turns a file in the `.POMDP` format, or a model of the package
#' \pkg{pomdp}, into a [decision_setting()].
#'
#' @section Files:
#' The `.POMDP` format is the one that Cassandra's solver `pomdp-solve` reads,
#' as do most other solvers. All of the format is understood: names or numbers
#' (counted from 0) for states, actions and observations, and `*` for all of them;
#' `start:` as probabilities, a state, several states, `uniform`, or with
#' `include` or `exclude`; `T:`, `O:` and `R:` with one number, a row or a
#' matrix; `uniform`, `identity` and `reset`. Later entries replace earlier ones.
#' Without `observations:` the file is a Markov decision process, and the state
#' is seen. If a file gives numbers instead of names, the names are `"0"`,
#' `"1"` and so on.
#'
#' Rows of probabilities that miss 1 by at most 0.00001, because they are written
#' with few digits, are rescaled. A file that does not follow the format gives an
#' error of class `ibrc_error_input` that names the line; its field `rows` holds
#' the number of the line.
#'
#' @section Rewards:
#' A setting states what an action is worth in a state. Rewards that depend on
#' the next state or on what is seen there are averaged over both, with the
#' probabilities of the problem itself:
#' \deqn{u(s, a) = \sum_{s', o} T(s' | s, a) O(o | a, s') R(a, s, s', o)}{u(s, a) =
#' sum over s' and o of T(s' | s, a) O(o | a, s') R(a, s, s', o)}
#' The costs of a file with `values: cost` become negative rewards.
#'
#' @section Models of the package pomdp:
#' Objects of class `POMDP` or `MDP` are read with that package's own functions.
#' A setting has no last step, so a model with a finite horizon needs a
#' `discount`. A model whose parts change over time cannot be converted, and neither
#' can rewards of `-Inf`. It is better to give the path of a file than the result of
#' `pomdp::read_POMDP()`, which keeps only part of what a file can say.
#'
#' @param x The path of a `.POMDP` file, an object of class `POMDP` or `MDP`
#'   from the package \pkg{pomdp}, a setting, which is returned as it is, or learned dynamics
#'   ([fit_iohmm()]), which have [a page of their own][as_setting.ibrc_iohmm].
#' @param discount How much the next step counts compared with this one, at least 0 and
#'   less than 1. It replaces the discount in `x`, and is needed if that is 1.
#' @param stop_actions Names of the actions that end a trajectory. Neither files
#'   nor models of \pkg{pomdp} contain this.
#' @param ... Not used; anything here is an error.
#' @return A setting ([decision_setting()]).
#' @family problem statements
#' @export
#' @examples
#' tiger <- as_setting(system.file("extdata", "tiger.POMDP", package = "ibrc"))
#' tiger
#' all.equal(tiger, tiger_setting())
#' @examplesIf requireNamespace("pomdp", quietly = TRUE)
#' data("Tiger", package = "pomdp")
#' summary(as_setting(Tiger))
as_setting <- function(x, ...) {
  check_given(x)
  UseMethod("as_setting")
}

#' @export
as_setting.default <- function(x, ...) {
  abort_input("x", "must be the path of a .POMDP file, a POMDP or MDP of the package 'pomdp', a setting, ",
              "or a fit of fit_iohmm(), not ", describe(x), ".")
}

#' @export
as_setting.ibrc_setting <- function(x, ...) {
  check_unused(...)
  x
}

#' @rdname as_setting
#' @export
as_setting.character <- function(x, discount = NULL, stop_actions = character(), ...) {
  check_unused(...)
  if (length(x) != 1 || is.na(x) || !nzchar(x)) {
    abort_input("x", "must be the path of one file, not ", describe(x), ".")
  }
  if (!file.exists(x) || dir.exists(x)) {
    abort_input("x", "must be the path of a file; there is no file \"", x, "\".")
  }
  model <- read_pomdp_file(x)
  decision_setting(
    states = model$states, actions = model$actions, observations = model$observations,
    transition = model$transition, emission = model$emission, utility = model$utility,
    discount = choose_discount(discount, model$discount, model$discount_line),
    start = model$start, stop_actions = stop_actions
  )
}

#' @rdname as_setting
#' @export
as_setting.POMDP <- function(x, discount = NULL, stop_actions = character(), ...) {
  check_unused(...)
  require_package("pomdp", "as_setting() of a POMDP")
  check_pomdp(x, discount)
  observations <- as.character(x$observations)
  emission <- as_emission(ask_pomdp(pomdp::observation_matrix(x, sparse = FALSE)),
                          as.character(x$states), as.character(x$actions), observations)
  setting_from_pomdp(x, observations, emission, emission, discount, stop_actions)
}

#' @rdname as_setting
#' @export
as_setting.MDP <- function(x, discount = NULL, stop_actions = character(), ...) {
  check_unused(...)
  require_package("pomdp", "as_setting() of an MDP")
  check_pomdp(x, discount)
  # The rewards of an MDP have one column, because they do not depend on what is seen.
  unseen <- array(1, c(length(x$states), 1, length(x$actions)))
  setting_from_pomdp(x, as.character(x$states), "identity", unseen, discount, stop_actions)
}

# `weights` are the emission by which rewards are averaged.
setting_from_pomdp <- function(x, observations, emission, weights, discount, stop_actions) {
  states <- as.character(x$states)
  actions <- as.character(x$actions)
  transition <- as_transition(ask_pomdp(pomdp::transition_matrix(x, sparse = FALSE)), states, actions)
  reward <- ask_pomdp(pomdp::reward_matrix(x, sparse = FALSE))
  utility <- matrix(0, length(states), length(actions))
  for (a in seq_along(actions)) {
    for (s in seq_along(states)) {
      worth <- ask_pomdp({
        order_worth(by_name(by_name(reward, actions, a), states, s), states,
                    if (dim(weights)[2] > 1) observations)
      })
      if (!identical(dim(worth), dim(weights)[1:2]) || !is.numeric(worth)) {
        abort_input("x", "has no numeric reward of each end state and observation for action ",
                    enumerate(actions[a]), " in state ", enumerate(states[s]), ".")
      }
      utility[s, a] <- expected_reward(transition[s, , a], matrix(weights[, , a], length(states)), worth)
      if (!is.finite(utility[s, a])) {
        abort_input("x", "has a reward of ", utility[s, a], " for action ", enumerate(actions[a]),
                    " in state ", enumerate(states[s]), "; it must be finite. A large negative number can ",
                    "stand for an action that is not allowed.", rows = s)
      }
    }
  }
  decision_setting(
    states = states, actions = actions, observations = observations,
    transition = transition, emission = emission, utility = utility,
    discount = choose_discount(discount, x$discount),
    start = if (is.null(x$start)) NULL else ask_pomdp(pomdp::start_vector(x)),
    stop_actions = stop_actions
  )
}

by_name <- function(x, names, i) if (is.null(names(x))) x[[i]] else x[[names[i]]]

order_worth <- function(worth, states, observations) {
  worth <- as.matrix(worth)
  if (setequal(rownames(worth), states)) worth <- worth[states, , drop = FALSE]
  if (length(observations) && setequal(colnames(worth), observations)) {
    worth <- worth[, observations, drop = FALSE]
  }
  worth
}

# Checks the names, the horizon, and what pomdp::read_POMDP() ignores in a file.
check_pomdp <- function(x, discount) {
  for (part in c("states", "actions", if (inherits(x, "POMDP")) "observations")) {
    if (!length(x[[part]]) || !is.atomic(x[[part]])) abort_input("x", "has no names in `", part, "`.")
  }
  if (length(x$horizon) > 1) {
    abort_input("x", "has parts that change over time; the parts of a setting stay the same.")
  }
  if (is.numeric(x$horizon) && any(is.finite(x$horizon)) && is.null(discount)) {
    abort_input("x", "ends after ", plural(x$horizon, "step"), "; a setting goes on for ever. ",
                "Pass `discount =` to have a setting in which later steps count less instead.")
  }
  partly_read <- "^\\s*(values\\s*:\\s*cost|start\\s+(include|exclude))"
  if (any(grepl(partly_read, unclass(x$problem), useBytes = TRUE))) {
    abort_input("x", "comes from a file with costs, or with start states to include or exclude, which ",
                "pomdp::read_POMDP() ignores. Pass the path of the file instead.")
  }
}

ask_pomdp <- function(expression) {
  tryCatch(expression, error = function(e) {
    if (inherits(e, "ibrc_error")) stop(e)
    abort_input("x", "cannot be read with the package 'pomdp': ", conditionMessage(e))
  })
}

# The discount that the user gave, or that of `x`. `line` says where it is in a file.
choose_discount <- function(chosen, given, line = NULL) {
  if (!is.null(chosen)) return(check_discount(chosen))
  missed <- "Pass `discount =`, at least 0 and less than 1."
  where <- if (is.null(line)) "" else paste0(" in line ", line)
  if (is.null(given)) {
    if (!is.null(line)) abort_file(line, "expected \"discount:\" before here. ", missed)
    abort_input("x", "has no discount. ", missed)
  }
  if (is.numeric(given) && length(given) == 1 && !is.na(given) && given == 1) {
    abort_input("x", "has discount 1", where, ": later steps would count as much as this one. ", missed,
                rows = line)
  }
  check_discount(given)
}
