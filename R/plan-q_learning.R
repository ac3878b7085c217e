#' Learn to act by trial
#'
#' The plan of an agent that sees the state, knows neither the dynamics nor the utilities, and learns by trying what
#' actions are worth. This is Q-learning (Watkins), the model-free learner of the framework ([planners()]). The setting
#' is its environment: it says what follows an action and what that was worth, and nothing else.
#'
#' After an action, the value of the pair that was tried moves towards what came of it,
#'
#' \deqn{Q(s, u) \leftarrow Q(s, u) + r \bigl( \upsilon(s, u) + \gamma \max_{u'} Q(s', u') - Q(s, u) \bigr),}{
#'   Q(s, u) <- Q(s, u) + r * (utility(s, u) + discount * max(Q(s', ...)) - Q(s, u)),}
#'
#' where s' is the next state and the learning rate r is `(patience / (patience + n - 1))^power` at the n-th try of that
#' pair. Every `episode` steps the agent is put into a state drawn at random, so that every state and action is tried
#' whatever the dynamics. With more steps, values come arbitrarily near to those of [plan_mdp()]. At any number of steps
#' they are those of an agent that has learned that much. The plan prints how far away they still are. If two actions
#' are worth nearly the same, it may remain a matter of chance which of them is taken.
#'
#' Values begin as if the median of all utilities came at every visit, so that it does not matter where the zero of the
#' utility is. Nothing is known about an action that was never tried in a state. It gets the least possible value, and
#' is not taken if another action was tried there. If no action was tried, all are equally likely. The plan prints how
#' many such pairs there are. More `steps` or more `exploration` make them fewer.
#'
#' @param setting A setting in which the state is seen (`emission = "identity"` in [decision_setting()]).
#' @param steps How many actions to try in all. By default 40,000 for each pair of a state and an action, from 400,000
#'   to 10 million. If the discount is near 1 or there are many states, more are needed.
#' @param exploration How likely an action is to be drawn at random, from 0 to 1; otherwise it is the best so far.
#' @param patience,power How the learning rate falls with the number of tries of a pair, see above. `patience` is
#'   `1 / (1 - discount)` by default, and `power` lies between 0.5 and 1.
#' @param episode After how many steps to start again in a state drawn at random.
#' @param seed A number to set the random generator with; its state is put back afterwards. `NULL` draws from the
#'   present state, and moves it on.
#'
#' @return A plan, of class `ibrc_planned` and `ibrc_plan`: see [plan_mdp()]. Its values are the learned ones. They are
#'   what the agent expects, not what the policy is worth in the setting; see [evaluate_policy()] for that.
#'   `report$tries` says how often each pair was tried, `[state, action]`. `report$bound`, and `bound` of
#'   [glance()][tidy.ibrc_plan], say how far the values of states are at most from those of [plan_mdp()].
#' @family framework
#' @export
#' @examples
#' ward <- decision_setting(
#'   states = c("well", "ill", "gone"), actions = c("wait", "treat"),
#'   observations = c("well", "ill", "gone"),
#'   transition = list(
#'     wait = rbind(c(0.9, 0.1, 0), c(0.2, 0.6, 0.2), c(0, 0, 1)),
#'     treat = rbind(c(0.9, 0.1, 0), c(0.7, 0.25, 0.05), c(0, 0, 1))
#'   ),
#'   emission = "identity", utility = cbind(wait = c(1, 0, -2), treat = c(0.5, -0.5, -2)),
#'   discount = 0.9, start = c(0.8, 0.2, 0)
#' )
#' learned <- plan_q_learning(ward, steps = 50000, seed = 1)
#' learned
#' action_value(learned) - action_value(plan_mdp(ward))
plan_q_learning <- function(setting, steps = NULL, exploration = 0.5, patience = NULL, power = 1,
                            episode = 10, seed = NULL) {
  check_given(setting)
  check_observed(setting)
  schedule <- check_schedule(setting, steps, exploration, patience, power, episode)
  stream <- streams_from_seed(seed)[[1]]
  problem <- observed_problem(setting)
  learned <- learn_values(problem, schedule, 0, 0, stream)
  value <- learned$action_value[cbind(seq_len(nrow(learned$action_value)), max.col(learned$action_value, "first"))]
  plan_with_values(problem, "q_learning", 0, learned$action_value, value, parameters = schedule_words(schedule),
                   report = learned_report(problem, learned, value, 0))
}

# How often pairs were tried, and how far values [state] are from the limit of learning: the values of the planner who
# knows the setting. `bonus`: what learned values have in addition to these.
learned_report <- function(problem, learned, value, alpha, bonus = 0) {
  bound <- tryCatch({
    best <- solve_planned(problem, bounded_agent(alpha = alpha), solve_tolerance(problem, 1e-8))
    max(abs(best$solution$value + bonus - value)) + best$report$bound
  }, ibrc_error_convergence = function(e) NA_real_)
  list(tries = learned$tries, bound = bound)
}

# Enough steps to learn a small setting well, in about a second.
default_steps <- function(setting) {
  min(1e7, max(4e5, 4e4 * length(setting$states) * length(setting$actions)))
}

check_schedule <- function(setting, steps, exploration, patience, power, episode) {
  steps <- if (is.null(steps)) default_steps(setting) else check_finite_number(steps, "steps")
  if (steps < 1 || steps != round(steps) || steps > 1e12) {
    abort_input("steps", "must be a whole number, from 1 to 1e12; it is ", format(steps), ".")
  }
  exploration <- check_number(exploration, "exploration")
  if (exploration < 0 || exploration > 1) {
    abort_input("exploration", "must be a probability, from 0 to 1; it is ", format(exploration), ".")
  }
  patience <- if (is.null(patience)) 1 / (1 - setting$discount) else check_positive(patience, "patience")
  power <- check_finite_number(power, "power")
  if (power < 0.5 || power > 1) abort_input("power", "must lie between 0.5 and 1; it is ", format(power), ".")
  list(steps = steps, exploration = exploration, patience = patience, power = power,
       episode = check_count(episode, "episode"))
}

schedule_words <- function(schedule) {
  c(list(steps = format_count(schedule$steps)), schedule[c("exploration", "patience", "power", "episode")])
}

# Steps in one call of the kernel. Between calls an interrupt is answered.
learned_at_once <- 50000

# What was learned, [state, action], and how often each pair was tried. `bonus`: what V has in addition to the soft mean
# of Q.
learn_values <- function(problem, schedule, alpha, bonus, stream) {
  setting <- problem$setting
  for_ever <- function(utility) utility / (1 - setting$discount)
  size <- c(length(setting$actions), length(setting$states))
  learner <- list(utility = as.vector(t(problem$reward)), prior = rep(1 / size[1], size[1]), temperature = alpha,
                  bonus = bonus, discount = setting$discount, exploration = schedule$exploration,
                  patience = schedule$patience, power = schedule$power, episode = schedule$episode)
  models <- stack_models(problem$models)
  run <- with_stream(stream, {
    first <- sample.int(size[2], 1) - 1L
    begun <- list(action_value = matrix(for_ever(stats::median(problem$reward)), size[1], size[2]),
                  tries = matrix(0, size[1], size[2]), state = first, made = 0L)
    keep_learning(learner, models, begun, schedule$steps)
  })
  # Nothing is known about what was never tried. It must not look better than what was tried.
  run$action_value[run$tries == 0] <- for_ever(min(problem$reward))
  list(action_value = t(run$action_value), tries = t(run$tries))
}

keep_learning <- function(learner, models, progress, steps) {
  began <- told <- Sys.time()
  left <- steps
  while (left > 0) {
    n <- min(left, learned_at_once)
    progress <- .Call(ffi_qlearn, learner, models, progress, stats::runif(3 * n))
    left <- left - n
    if (interactive() && difftime(Sys.time(), told, units = "secs") > 5) {
      told <- Sys.time()
      tell(message("Learned from ", format_count(steps - left), " of ", format_count(steps), " steps."))
    }
  }
  progress
}
