#' Learn what to do from the last visits alone
#'
#' A learner without a model, for settings in which states may be hidden. It tries actions in the setting, and sees what
#' follows and what that is worth. It learns the value of each action after each *history*: what was done and seen at
#' the last few visits. It knows no states and holds no beliefs, so it remembers nothing older than its `memory`.
#'
#' The learner visits the setting `steps` times. At a share of `exploration` of the visits it takes any action, and at
#' the others the one that looks best. After every `episode` visits it starts again without a history. After an action,
#' its value moves towards the reward just received plus the discounted value of the best action at the next history
#' (Q-learning). It moves by `1 / (1 + (1 - discount) * n)` of the way after `n` earlier trials of the action at the
#' history. Actions that end a trajectory only end its record: planning and learning go on after them, as in
#' [plan_agent()]. If starts differ ([decision_setting()]), the learner is not told the group.
#'
#' @section Histories:
#' At a first visit there is no history yet, and at the next visits it is shorter than `memory`. A history is *known* if
#' each action was tried there at least once. At a history that is not known, the learner forgets the earliest visit,
#' then the next, until the rest is known. If no rest is known, it acts as at the start, and if that is not known
#' either, it takes any action. If a visit of the history lacks its observation or its action, the policy is the mean
#' over all known histories that agree with the rest, weighted by how often each was met while learning. An action that
#' ends a trajectory cannot be the one that is missing before a later visit. If no history agrees, the earliest visit is
#' forgotten.
#'
#' With `memory = 1`, if the state is seen, the history tells the state. The learned policy then approaches that of a
#' planner who knows the dynamics ([plan_mdp()]), except at first visits, when nothing has been seen yet.
#'
#' @param setting A setting ([decision_setting()]) with seen or hidden states. Worth that depends on beliefs
#'   (`belief_utility`) cannot be learned this way.
#' @param memory Number of visits that are remembered.
#' @param steps Number of visits to learn from. By default 2,000 for each action at each possible history, from
#'   200,000 to 5 million.
#' @param exploration The share of visits at which any action is tried, from 0 to 1.
#' @param seed A whole number to draw from, or `NULL` to take one from the present generator.
#' @param alpha The temperature at which action values become a policy. 0 takes the best action (if there are several,
#'   each is equally likely). With larger numbers, in the unit of the utility, worse actions are taken more often.
#' @param episode Number of visits after which the learner starts again.
#' @return A plan of class `ibrc_history_plan` and `ibrc_planned`. It works like other plans where that makes
#'   sense: [policy()][read_history_plan], [value()][read_history_plan] and [action_value()][read_history_plan] by
#'   history, [predict()][predict.ibrc_history_plan], [log_lik()][predict.ibrc_history_plan],
#'   [simulate()][predict.ibrc_history_plan], `tidy()` (one row per known history and action), `glance()`, `print()` and
#'   `summary()`. Functions that need beliefs, such as [update_belief()] and [occupancy()], give an error.
#' @family framework
#' @export
#' @examples
#' plan <- plan_history_q_learning(tiger_setting(), memory = 2, steps = 20000, seed = 1)
#' plan
#' head(tidy(plan))
#' log_lik(plan, simulate(plan, nsim = 3, seed = 1, horizon = 5))
plan_history_q_learning <- function(setting, memory = 1, steps = NULL, exploration = 0.1, seed = NULL,
                                    alpha = 0, episode = 20) {
  check_given(setting)
  check_class(setting, "ibrc_setting", "setting", "decision_setting()")
  check_discount(setting$discount)
  refuse_belief_worth(setting)
  memory <- check_memory(memory, setting)
  steps <- if (is.null(steps)) usual_steps(setting, memory) else check_count(steps, "steps", most = 1e8)
  exploration <- check_number(exploration, "exploration")
  if (exploration < 0 || exploration > 1) {
    abort_input("exploration", "must be a probability, from 0 to 1; it is ", format(exploration), ".")
  }
  if (!is.null(seed)) seed <- check_seed(seed)
  alpha <- check_finite_number(alpha, "alpha")
  if (alpha < 0) abort_input("alpha", "must be at least 0; it is ", format(alpha), ".")
  episode <- check_count(episode, "episode")
  refuse_many_histories(setting, memory, steps)
  learner <- list(memory = memory, utility = unname(setting$utility), discount = setting$discount,
                  exploration = exploration, initial = mean(range(setting$utility)) / (1 - setting$discount),
                  episode = episode)
  learned <- learn_histories(setting, learner, steps, seed)
  new_ibrc_history_plan(setting, learned, alpha, parameters = list(
    memory = memory, steps = steps, exploration = exploration, episode = episode, alpha = alpha
  ))
}

# Small settings get enough steps, which takes a moment. Larger ones get as many as can be done in about a second.
usual_steps <- function(setting, memory) {
  as.integer(min(max(2e5, 2000 * history_base(setting)^memory * length(setting$actions)), 5e6))
}

refuse_belief_worth <- function(setting) {
  if (is.null(setting$belief_utility)) return(invisible())
  abort_input("setting", "has a worth of beliefs (`belief_utility`), of which a learner without beliefs sees nothing: ",
              "leave it out, or plan with plan_belief_aware() or plan_agent().")
}

# Each history has a number, which must fit into a double.
check_memory <- function(memory, setting) {
  memory <- check_count(memory, "memory")
  longest <- floor(53 * log(2) / log(history_base(setting)))
  if (memory > longest) {
    abort_input("memory", "must be at most ", longest, " in this setting, where a visit can go in ",
                format_count(history_base(setting) - 1), " ways; it is ", memory, ".")
  }
  memory
}

refuse_many_histories <- function(setting, memory, steps) {
  n <- min(steps, history_base(setting)^memory)
  refuse_too_large(60 * n * length(setting$actions), "memory", "a table of up to ", format_count(n),
                   " histories would be large", advice = "remember fewer visits, or take fewer steps")
}

# Each call of the kernel takes only a moment. Between calls an interrupt is answered.
learn_histories <- function(setting, learner, steps, seed, at_once = 50000) {
  environment <- stack_models(own_model(setting))
  start <- as.numeric(mean_start(setting))
  none <- matrix(0, length(setting$actions), 0)
  run <- list(key = numeric(), action_value = none, tried = none, state = 0L, history = 0, visit = 0L)
  # The stream is taken before the generator's state is saved, because `seed = NULL` moves that state on.
  stream <- streams_from_seed(seed)[[1]]
  with_stream(stream, {
    for (done in seq(0, steps - 1, by = at_once)) {
      n <- min(at_once, steps - done)
      noise <- matrix(stats::runif(5 * n), 5)
      run <- .Call(ffi_recall_learn, learner, environment, start, run, run, noise)
    }
  })
  if (!all(is.finite(run$action_value))) {
    abort("convergence", "The values are not finite: utilities are too large for a double. Rescale them.",
          argument = "setting")
  }
  run
}

# `table` has one row per known history: its number (`key`), action_value and policy [history, action], value, and how
# often it was `met`. Rows are sorted by number, so that shorter histories come first.
new_ibrc_history_plan <- function(setting, learned, alpha, parameters) {
  known <- which(colSums(learned$tried == 0) == 0)
  known <- known[order(learned$key[known])]
  action_value <- share_history_ties(t(learned$action_value[, known, drop = FALSE]))
  n_actions <- length(setting$actions)
  law <- .Call(ffi_soft_mean, action_value, rep(1 / n_actions, n_actions), as.numeric(alpha))$weights
  structure(list(
    setting = setting, planner = "history_q_learning", parameters = parameters, memory = parameters$memory,
    table = list(key = learned$key[known], action_value = action_value, policy = law,
                 value = rowSums(law * action_value), met = colSums(learned$tried[, known, drop = FALSE])),
    report = list(met = length(learned$key), known = length(known))
  ), class = c("ibrc_history_plan", "ibrc_planned"))
}

share_history_ties <- function(action_value) {
  if (length(action_value)) share_best(action_value, equal_best(action_value)) else action_value
}

# ---- numbers of histories -------------------------------------------------------------------------------------------

# Each visit is one digit of the number: what was done and seen, counted from 1. 0 means no visit. The last visit is
# the last digit.
history_base <- function(setting) length(setting$actions) * as.numeric(length(setting$observations)) + 1

# Remembered visits, with the last one first: actions and observations [history, visit], counted from 1 and NA if
# missing; and `length`, how many visits there are to remember.
recalled_visits <- function(action, observation, length) {
  list(action = action, observation = observation, length = length)
}

# The same for the known histories.
known_visits <- function(plan) {
  base <- history_base(plan$setting)
  n_obs <- length(plan$setting$observations)
  digit <- matrix(0, length(plan$table$key), plan$memory)
  left <- plan$table$key
  for (back in seq_len(plan$memory)) {
    digit[, back] <- left %% base
    left <- left %/% base
  }
  recalled_visits(action = ifelse(digit > 0, (digit - 1) %/% n_obs + 1, NA),
                  observation = ifelse(digit > 0, (digit - 1) %% n_obs + 1, NA), length = rowSums(digit > 0))
}

# The numbers of histories; NA if anything in a history is missing.
history_numbers <- function(plan, recalled) {
  base <- history_base(plan$setting)
  number <- numeric(length(recalled$length))
  for (back in seq_len(plan$memory)) {
    digit <- (recalled$action[, back] - 1) * length(plan$setting$observations) + recalled$observation[, back]
    there <- recalled$length >= back
    number[there] <- number[there] + digit[there] * base^(back - 1)
  }
  number
}

# The row of the longest known history that consists of the last visits. NA if not even the start is known.
longest_known <- function(plan, number) {
  row <- rep(NA_integer_, length(number))
  for (length in seq(plan$memory, 0)) {
    open <- which(is.na(row))
    row[open] <- match(number[open] %% history_base(plan$setting)^length, plan$table$key)
  }
  row
}

# Rows of the known histories that agree with a history that has gaps, in as many of its last visits as possible.
agreeing_rows <- function(plan, known, action, observation, length) {
  stops <- which(plan$setting$actions %in% plan$setting$stop_actions)
  for (n in seq(length, 0)) {
    agrees <- known$length == n
    for (back in seq_len(n)) {
      agrees <- agrees & (if (is.na(action[back])) !known$action[, back] %in% stops else
        known$action[, back] %in% action[back])
      if (!is.na(observation[back])) agrees <- agrees & known$observation[, back] %in% observation[back]
    }
    if (any(agrees)) return(which(agrees))
  }
  integer()
}

# `what` [known history, ...] at remembered visits, and `otherwise` if nothing is known.
read_recalled <- function(plan, recalled, what, otherwise) {
  number <- history_numbers(plan, recalled)
  out <- matrix(otherwise, length(number), ncol(what), byrow = TRUE)
  row <- longest_known(plan, number)
  whole <- which(!is.na(number) & !is.na(row))
  out[whole, ] <- what[row[whole], ]
  gaps <- which(is.na(number))
  if (!length(gaps)) return(out)
  known <- known_visits(plan)
  pattern <- do.call(paste, c(as.data.frame(recalled$action[gaps, , drop = FALSE]),
                              as.data.frame(recalled$observation[gaps, , drop = FALSE]), list(recalled$length[gaps])))
  for (first in gaps[!duplicated(pattern)]) {
    rows <- agreeing_rows(plan, known, recalled$action[first, ], recalled$observation[first, ], recalled$length[first])
    alike <- gaps[pattern == pattern[match(first, gaps)]]
    if (!length(rows)) next
    share <- plan$table$met[rows] / sum(plan$table$met[rows])
    out[alike, ] <- rep(colSums(share * what[rows, , drop = FALSE]), each = length(alike))
  }
  out
}

# Histories as users write them.
as_recalled <- function(plan, histories) {
  if (is.data.frame(histories)) histories <- list(histories)
  if (!is.list(histories) || !length(histories) || !all(vapply(histories, is.data.frame, NA))) {
    abort_input("histories", "must be a data frame with the columns `action` and `observation`, or a list of such, ",
                "not ", describe(histories), ".")
  }
  parts <- lapply(seq_along(histories), function(i) recalled_columns(plan, histories[[i]]))
  side <- function(name) matrix(unlist(lapply(parts, `[[`, name)), length(parts), byrow = TRUE)
  recalled_visits(side("action"), side("observation"), vapply(parts, `[[`, 0, "length"))
}

recalled_columns <- function(plan, history) {
  if (!all(c("action", "observation") %in% names(history))) {
    abort_input("histories", "must have the columns `action` and `observation`; there are ",
                enumerate(names(history)), ".")
  }
  setting <- plan$setting
  places <- function(x, known, what) {
    if (!length(x)) return(integer())
    as_positions(x, known, "histories", what, missing_ok = TRUE)
  }
  action <- places(history$action, setting$actions, "action")
  observation <- places(history$observation, setting$observations, "observation")
  # The last visit comes first, and there are no more visits than are remembered.
  last <- function(x) rev(x)[seq_len(plan$memory)]
  list(action = last(action), observation = last(observation), length = min(length(action), plan$memory))
}

# For example "listen: left, then listen: left".
history_words <- function(plan) {
  known <- known_visits(plan)
  setting <- plan$setting
  words <- rep("", length(known$length))
  for (back in rev(seq_len(plan$memory))) {
    there <- which(known$length >= back)
    visit <- paste0(setting$actions[known$action[there, back]], ": ",
                    setting$observations[known$observation[there, back]])
    words[there] <- paste0(words[there], ifelse(nzchar(words[there]), ", then ", ""), visit)
  }
  ifelse(nzchar(words), words, "start")
}

# ---- reading --------------------------------------------------------------------------------------------------------

#' Read a plan by history
#'
#' A learner by [plan_history_q_learning()] remembers the last visits. These functions say what it does after them, and
#' what it expects.
#'
#' @param object A plan by [plan_history_q_learning()].
#' @param beliefs Must be `NULL`: such a plan holds no beliefs.
#' @param histories What was done and seen before: a data frame with the columns `action` and `observation` and one row
#'   per visit, in the order of time, or a list of such data frames. One without rows is the start. Either column may
#'   have missing values. By default all known histories.
#' @param ... Not used.
#' @return `policy()` and `action_value()`: a matrix `[history, action]`; `value()`: a numeric vector. Without
#'   `histories` they are named by the history. If nothing is known, not even at the start, values are `NA` and every
#'   action is equally likely.
#' @family framework
#' @examples
#' plan <- plan_history_q_learning(tiger_setting(), memory = 2, steps = 20000, seed = 1)
#' policy(plan)
#' policy(plan, histories = data.frame(action = "listen", observation = "hear_left"))
#' value(plan, histories = data.frame(action = character(), observation = character()))
#' @name read_history_plan
NULL

#' @rdname read_history_plan
#' @export
policy.ibrc_history_plan <- function(object, beliefs = NULL, histories = NULL, ...) {
  check_unused(...)
  uniform <- rep(1 / length(object$setting$actions), length(object$setting$actions))
  read_by_history(object, beliefs, histories, object$table$policy, uniform)
}

#' @rdname read_history_plan
#' @export
action_value.ibrc_history_plan <- function(object, beliefs = NULL, histories = NULL, ...) {
  check_unused(...)
  read_by_history(object, beliefs, histories, object$table$action_value, NA_real_)
}

#' @rdname read_history_plan
#' @export
value.ibrc_history_plan <- function(object, beliefs = NULL, histories = NULL, ...) {
  check_unused(...)
  read_by_history(object, beliefs, histories, matrix(object$table$value), NA_real_)[, 1]
}

read_by_history <- function(plan, beliefs, histories, what, otherwise) {
  if (!is.null(beliefs)) {
    abort_input("beliefs", "must be NULL: a plan by plan_history_q_learning() holds no beliefs. Name `histories`.")
  }
  if (is.null(histories)) {
    out <- what
    rownames(out) <- history_words(plan)
  } else {
    out <- read_recalled(plan, as_recalled(plan, histories), what, otherwise)
  }
  if (ncol(out) == length(plan$setting$actions)) colnames(out) <- plan$setting$actions
  out
}

#' @export
model_weights.ibrc_history_plan <- function(object, beliefs = NULL, action, ...) { # nolint: object_length_linter.
  check_belief_plan(object, "object")
}

#' @rdname tidy.ibrc_plan
#' @export
tidy.ibrc_history_plan <- function(x, ...) {
  check_unused(...)
  actions <- x$setting$actions
  row <- rep(seq_along(x$table$key), each = length(actions))
  data.frame(
    history = history_words(x)[row], met = x$table$met[row],
    action = factor(rep(actions, length(x$table$key)), levels = actions),
    probability = as.vector(t(x$table$policy)), action_value = as.vector(t(x$table$action_value)),
    value = x$table$value[row]
  )
}

#' @export
glance.ibrc_history_plan <- function(x, ...) {
  check_unused(...)
  data.frame(planner = x$planner, states = length(x$setting$states), actions = length(x$setting$actions),
             observations = length(x$setting$observations), models = 0L, nodes = x$report$known,
             alpha = x$parameters$alpha, beta = NA_real_, eta = NA_real_, discount = x$setting$discount,
             value = at_start(x, matrix(x$table$value), NA_real_)[1], bound = NA_real_, backups = NA_integer_,
             memory = x$memory, steps = x$parameters$steps)
}

at_start <- function(plan, what, otherwise) {
  nothing <- matrix(NA_integer_, 1, plan$memory)
  read_recalled(plan, recalled_visits(nothing, nothing, 0), what, otherwise)[1, ]
}

#' @export
format.ibrc_history_plan <- function(x, ...) {
  first <- stats::setNames(at_start(x, x$table$policy, NA_real_), x$setting$actions)
  likely <- names(sort(first[which(first >= 0.005)], decreasing = TRUE))
  likely <- utils::head(likely, 3)
  c(
    paste0("A plan by ", if (x$memory == 1) "Q-learning on the last visit" else
      paste0("Q-learning on the last ", x$memory, " visits")),
    format_parameters(c(list(steps = format_count(x$parameters$steps)),
                        x$parameters[c("exploration", "episode", "alpha")])),
    paste0("  ", plural(x$report$known, "history", "histories"), " known, of ", format_count(x$report$met), " met"),
    if (length(likely)) {
      paste0("  at the start: ", listing(paste0(likely, " ", round(100 * first[likely]), "%")), "; value ",
             format(at_start(x, matrix(x$table$value), NA_real_), digits = 5))
    }
  )
}

#' @export
print.ibrc_history_plan <- function(x, ...) {
  writeLines(format(x))
  invisible(x)
}

#' @export
summary.ibrc_history_plan <- function(object, ...) {
  often <- order(-object$table$met)
  best <- object$setting$actions[max.col(object$table$policy, "first")]
  histories <- data.frame(history = history_words(object), met = object$table$met, action = best,
                          value = object$table$value)[often, ]
  structure(list(plan = object, histories = histories), class = "summary.ibrc_history_plan")
}

#' @export
print.summary.ibrc_history_plan <- function(x, n = 10, digits = 4, ...) {
  print(x$plan)
  cat("\nThe histories met most often, and what is likeliest there\n")
  print(utils::head(x$histories, n), digits = digits, row.names = FALSE)
  if (nrow(x$histories) > n) cat("and", format_count(nrow(x$histories) - n), "more\n")
  invisible(x)
}
