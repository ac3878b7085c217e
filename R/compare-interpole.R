#' Two published test cases, and how far a model is from them
#'
#' `interpole_task()` is the decision maker of two synthetic tasks in the literature, built from their published
#' parameters. They are the tasks of INTERPOLE (interpretable policy learning), a method that learns dynamics and a
#' policy on beliefs from behaviour. As nobody here chose them, they are a fair test of methods that find out what a
#' decision maker does and believes. `imitation_error()` says how far a model is from it, by the three measures of the
#' same source.
#'
#' A patient is healthy or diseased with equal chances, and a test tells which with 60% accuracy. At each visit the
#' decision maker either declares one of the two, which ends the trajectory, or monitors. An action is taken more often
#' the nearer the belief is to its centre ([plan_iohmm_rule()]), with a sharpness of 10. At a belief of 0.9 a diagnosis
#' and one more test are equally likely. In `"diag"` beliefs follow Bayes' rule with the test as it is. In `"bias"` the
#' decision maker takes the test of a diseased patient to be 80% accurate, which it is not. (The setting has the utility
#' of [diag_setting()], for methods that need one; the rule does not use it.)
#'
#' @section Measures:
#' Patients are monitored for `horizon` visits, even if the decision maker or the model would have stopped. Both are
#' asked at each visit what they would do, after the same results.
#' * `stopping_time`: the mean number of visits between the stops of the two. Each stops by its own chances (at the
#'   horizon at the latest). It is not 0 for the truth itself: two who act by the same chances differ as well.
#' * `policy`: the Kullback-Leibler divergence of the model's chances of each action from the true ones, as a mean over
#'   the visits that the true decision maker makes.
#' * `belief`: the same divergence between beliefs. Models without beliefs do not have it. States are compared by name.
#'   Where the model has other names, as for learned states, they are compared in the order that fits best.
#'
#' Means over stops are exact given the results; `std.error` is the error from drawing patients.
#'
#' @param task Which: `"diag"` or `"bias"`.
#' @param resolution The resolution of the lattice of beliefs, see [plan_agent()]. The rule is the same at any.
#' @param truth A plan ([interpole_task()], or any other) of a setting with stop actions and one action more.
#' @param model Whatever answers `predict(model, visits, type = "action")`: see [cross_validate()].
#' @param nsim How many patients to draw.
#' @param horizon The most visits of each.
#' @param seed A number that settles them. The session's generator is left as it was; `NULL` takes one number from it.
#' @return `interpole_task()`: a plan, to [simulate()][simulate.ibrc_plan] from (the source has 100 trajectories; give a
#'   `horizon` of 200 or more). `imitation_error()`: a data frame with `measure`, `estimate` and `std.error`, one row
#'   per measure.
#' @seealso [imitation_study()] for many data sets and methods.
#' @references Hüyük, Jarrett, Tekin and van der Schaar (2021), Explaining by imitating: understanding decisions by
#'   interpretable policy learning, *ICLR*.
#' @family decision models
#' @export
#' @examples
#' truth <- interpole_task("diag")
#' visits <- simulate(truth, nsim = 100, horizon = 200, seed = 1)
#' imitation_error(truth, fit_baseline(visits, "logistic", last = 3), nsim = 50)
#' # A model that knows the test's accuracy, where the decision maker does not:
#' imitation_error(interpole_task("bias"), truth, nsim = 50)
interpole_task <- function(task = c("diag", "bias"), resolution = 100) {
  task <- check_choice(task, c("diag", "bias"), "task")
  setting <- diag_setting(accuracy = 0.6)
  models <- if (task == "bias") {
    believed <- list(transition = setting$transition, emission = rbind(c(0.6, 0.4), c(0.2, 0.8)))
    model_prior(list(believed = believed), setting = setting)
  }
  centres <- rbind(declare_healthy = c(1.3, -0.3), declare_diseased = c(-0.3, 1.3), monitor = c(0.5, 0.5))
  plan_iohmm_rule(setting, centres, sharpness = 10, resolution = resolution, models = models)
}

#' @rdname interpole_task
#' @export
imitation_error <- function(truth, model, nsim = 200, horizon = 200, seed = 1) {
  check_given(truth, model)
  check_truth(truth)
  nsim <- check_count(nsim, "nsim", least = 2)
  horizon <- check_count(horizon, "horizon", least = 2)
  visits <- monitored_visits(truth$setting, nsim, horizon, seed)
  error_rows(visits, truth, model)
}

check_truth <- function(truth) {
  check_class(truth, "ibrc_plan", "truth", "interpole_task()")
  stops <- truth$setting$stop_actions
  if (length(stops) && length(truth$setting$actions) == length(stops) + 1L) return(invisible())
  abort_input("truth", "must be a plan of a setting with stop actions and one action more, which carries on; this one ",
              "has ", plural(length(truth$setting$actions), "action"), ", of which ", length(stops), " stop.")
}

# Trajectories in which nobody ever stops.
monitored_visits <- function(setting, nsim, horizon, seed) {
  carry_on <- stats::setNames(!setting$actions %in% setting$stop_actions, setting$actions)
  simulate(plan_rule(setting, carry_on + 0, resolution = 1), nsim = nsim, seed = settle_seed(seed), horizon = horizon)
}

error_rows <- function(visits, truth, model, own = list()) {
  law <- list(truth = predicted_law(truth, visits, truth$setting$actions, "truth"),
              model = predicted_law(model, visits, truth$setting$actions, "model", own))
  patient <- as.integer(visits$id)
  going_on <- lapply(law, chance_to_go_on, stops = truth$setting$stop_actions, patient = patient)
  apart <- rowSums(do.call(cbind, going_on)) - 2 * going_on$truth * going_on$model
  # Visits are made while the visits before them did not end it.
  made <- c(1, going_on$truth[-length(patient)])
  made[!duplicated(patient)] <- 1
  beliefs <- list(truth = beliefs_at(truth, visits), model = beliefs_at(model, visits))
  rbind(data.frame(measure = "stopping_time", mean_over(patient, apart)),
        data.frame(measure = "policy", mean_over(patient, counted(made, divergence_rows(law$truth, law$model)), made)),
        data.frame(measure = "belief", belief_error(patient, made, beliefs)))
}

# Visits that are never made count nothing, even if the two would differ there.
counted <- function(made, value) ifelse(made > 0, made * value, 0)

# [visit, action], in the order of `actions`. `own`: as in predict_by().
predicted_law <- function(model, visits, actions, argument, own = list()) {
  law <- tryCatch(predict_by(model, visits, own), error = function(e) {
    abort_input(argument, "must answer predict(model, visits, type = \"action\"); it said: ", conditionMessage(e))
  })
  law <- tryCatch(check_law(law, nrow(visits), actions), error = function(e) {
    abort_input(argument, "must predict the chances of ", enumerate(actions, Inf), ": ", conditionMessage(e), ".")
  })
  colnames(law) <- actions
  law
}

# The chance that a trajectory has not ended after each visit; at the last one everybody has stopped.
chance_to_go_on <- function(law, stops, patient) {
  on <- pmax(0, 1 - rowSums(law[, stops, drop = FALSE]))
  on[!duplicated(patient, fromLast = TRUE)] <- 0
  stats::ave(on, patient, FUN = cumprod)
}

# Divergence of rows of chances; an action with a true chance of 0 adds nothing.
divergence_rows <- function(true, other) {
  terms <- true * log(true / other)
  terms[true == 0] <- 0
  rowSums(terms)
}

# Sums over the visits of a patient, averaged over patients or over the visits that they make, with the error from
# drawing patients.
mean_over <- function(patient, value, made = NULL) {
  value <- rowsum(value, patient)[, 1]
  size <- if (is.null(made)) rep(1, length(value)) else rowsum(made, patient)[, 1]
  estimate <- sum(value) / sum(size)
  data.frame(estimate = estimate,
             std.error = if (is.finite(estimate)) sqrt(sum((value - estimate * size)^2)) / sum(size) else NA_real_)
}

belief_error <- function(patient, made, beliefs) {
  none <- data.frame(estimate = NA_real_, std.error = NA_real_)
  if (is.null(beliefs$model) || ncol(beliefs$model) != ncol(beliefs$truth)) return(none)
  orders <- if (setequal(colnames(beliefs$model), colnames(beliefs$truth))) list(colnames(beliefs$truth)) else
    all_orders(ncol(beliefs$truth))
  rows <- lapply(orders, function(order) {
    mean_over(patient, counted(made, divergence_rows(beliefs$truth, beliefs$model[, order, drop = FALSE])), made)
  })
  rows[[order(vapply(rows, `[[`, 0, "estimate"))[1]]]
}

all_orders <- function(n) {
  if (n == 1) return(list(1L))
  unlist(lapply(seq_len(n), function(first) {
    lapply(all_orders(n - 1L), function(rest) c(first, setdiff(seq_len(n), first)[rest]))
  }), recursive = FALSE)
}

# ---- beliefs -----------------------------------------------------------------------------------------------------

# [visit, state], before the visit's action; NULL for a model that has no beliefs, or more than one.
beliefs_at <- function(object, visits) UseMethod("beliefs_at")

beliefs_at.default <- function(object, visits) NULL

beliefs_at.ibrc_plan <- function(object, visits) {
  coded <- code_visits(visits, object$setting)
  tree <- build_histories(coded, object$setting)
  reading <- read_histories(object, tree)
  out <- matrix(0, length(coded$row), length(object$setting$states), dimnames = list(NULL, object$setting$states))
  out[coded$row, ] <- t(reading$belief)[tree$visit, , drop = FALSE]
  out
}

beliefs_at.ibrc_mode <- function(object, visits) beliefs_of_projection(object, visits)

beliefs_at.ibrc_fit <- function(object, visits) beliefs_of_projection(object, visits)

beliefs_of_projection <- function(object, visits) {
  plan <- project_behavior(object)
  if (inherits(plan, "ibrc_plan")) beliefs_at(plan, visits)
}

# Means over draws, as its predictions are. An observation that no state shows counts as missing, there as well.
beliefs_at.ibrc_po_irl <- function(object, visits) {
  coded <- code_visits(visits, object$setting)
  unknown <- coded$observation >= 0 & possible_observations(coded, object$setting) < 0
  visits[[attr(visits, "roles")$observation]][coded$row[unknown]] <- NA
  planner <- po_irl_planner(object)
  chosen <- if (is.null(object$laws)) chosen_draws(object)[1] else chosen_draws(object)
  Reduce(`+`, lapply(chosen, function(i) beliefs_at(planner(i), visits))) / length(chosen)
}

# By Bayes' rule, visit after visit of all patients at once.
beliefs_at.ibrc_iohmm_bc <- function(object, visits) {
  coded <- learned_visits(visits, object$words)
  out <- matrix(object$start, length(coded$row), length(object$states), byrow = TRUE,
                dimnames = list(NULL, object$states))
  for (place in seq_len(max(coded$place))[-1]) {
    at <- which(coded$place == place)
    for (i in split(at, paste(coded$action[at - 1L], coded$observation[at - 1L]))) {
      action <- coded$action[i[1] - 1L] + 1L
      seen <- coded$observation[i[1] - 1L]
      moved <- out[i - 1L, , drop = FALSE] %*% object$transition[, , action]
      shown <- if (seen >= 0) moved * rep(object$emission[, seen + 1L, action], each = length(i)) else moved
      # An observation that no possible state shows tells nothing, as if it were missing.
      lost <- !(rowSums(shown) > 0)
      shown[lost, ] <- moved[lost, ]
      out[i, ] <- shown / rowSums(shown)
    }
  }
  out[order(coded$row), , drop = FALSE]
}
