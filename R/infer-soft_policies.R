#' Soft policy inversion
#'
#' Reads a utility from somebody who learns: from policies in order, each of which is the soft improvement of the one
#' before. They need not be good at the task yet; that each improves on the last shows what is wanted.
#'
#' A soft improvement is the softmax of the values of actions if the policy before is followed after them,
#' \eqn{\pi_{k+1} \propto e^{Q_k/\alpha}}{policy[k+1] ~ exp(Q[k] / alpha)}, including entropy. With \eqn{C_k(s)} for the
#' unknown logarithm of its denominator, times \eqn{\alpha}{alpha},
#' \deqn{v(s,u) = \alpha \log \pi_{k+1}(u|s) + \alpha\gamma E\,D(\pi_k \| \pi_{k+1})(s') + C_k(s) - \gamma E\,C_k(s')}{
#' v(s, u) = alpha log policy[k+1](u | s) + alpha discount E KL(policy[k] || policy[k+1])(s') + C[k](s) - discount
#' E C[k](s')} Two policies give the utility up to shaping by \eqn{C_1}. Each further policy gives it once more, and all
#' are joined by least squares over the utility and every \eqn{C_k}. From visits, policies are shares of actions, with
#' `smoothing` added to each count in states that were seen. Each equation then counts by how often its action was
#' taken there.
#'
#' @section What it can and cannot say:
#' The utility is known up to shaping, \eqn{f(s) - \gamma E f(s')}{f(s) - discount E f(s')}, and in units of `alpha`;
#' the smallest is reported. It assumes that batches are whole steps of soft policy improvement: half a step or two
#' steps look like another utility. `misfit` of `glance()` is what the steps from batch to batch leave unexplained; with
#' two batches there is nothing to compare and it is `NA`. Where nobody was seen in a batch, its policy there is assumed
#' to be uniform and its equations are left out, if others remain.
#'
#' @param visits A list of at least two demonstrations, in order: trajectories ([trajectories()]), plans, or
#'   policies, as matrices with one row per state and one column per action.
#' @param setting A setting ([decision_setting()]) in which the state is seen. Its utility is not used.
#' @param alpha The learner's price of deliberating, which sets the unit of the utility.
#' @param smoothing Added to each action's count in states that were seen, so that no action has a probability of 0.
#'   Policies and plans are used as they are.
#' @return An `ibrc_inferred`, see [tidy()][tidy.ibrc_inferred]. Its estimates are the utility, one row per state and
#'   action. The plan is that of a soft agent with that utility: it shows where the learning leads, not what the last
#'   batch did. `glance()` has the number of `batches` and the `misfit`, a root mean square in units of `alpha`.
#' @references Jacq, Geist, Paiva and Pietquin (2019) Learning from a learner. *International Conference on Machine
#'   Learning*.
#' @family framework
#' @export
#' @examples
#' setting <- decision_setting(
#'   states = c("well", "ill"), actions = c("wait", "treat"), observations = c("well", "ill"),
#'   transition = list(wait = rbind(c(0.9, 0.1), c(0, 1)),
#'                     treat = rbind(c(0.9, 0.1), c(0.7, 0.3))),
#'   emission = "identity", utility = cbind(wait = c(0, -2), treat = c(-1, -3)), discount = 0.9
#' )
#' first <- rbind(well = c(wait = 0.5, treat = 0.5), ill = c(0.5, 0.5))
#' then <- rbind(well = c(wait = 0.74, treat = 0.26), ill = c(0.1, 0.9))
#' infer_soft_policies(list(first, then), setting)
infer_soft_policies <- function(visits, setting, alpha = 1, smoothing = 0.5) {
  check_given(visits, setting)
  check_seen_states(setting)
  check_batches(visits)
  alpha <- check_moderate_price(alpha)
  smoothing <- check_smoothing(smoothing)
  markov <- as_markov(setting)
  refuse_many_pairs(markov)
  batches <- lapply(visits, demonstrated, setting = setting)
  policies <- lapply(batches, smoothed_policy, smoothing = smoothing)
  for (k in seq_along(policies)) refuse_never_taken(policies[[k]], setting, "visits", paste("batch", k))
  answer <- invert_policies(policies, lapply(batches, batch_weights), markov)
  utility <- alpha * answer$utility
  new_ibrc_inferred(
    "soft_policies", setting, soft_plan(setting, utility, alpha), utility_estimates(utility, setting),
    objective = answer$objective,
    details = list(
      n_trajectories = vapply(batches, `[[`, 0L, "n_trajectories"), n_visits = vapply(batches, `[[`, 0L, "n_visits"),
      left_out = vapply(batches, `[[`, 0L, "left_out"), alpha = alpha, smoothing = smoothing,
      glance = list(batches = length(batches), misfit = answer$misfit)
    ),
    notes = soft_policies_notes(batches, policies, setting)
  )
}

# How much each equation about a batch counts, [state, action]: by its visits, or all the same.
batch_weights <- function(batch) {
  if (!is.null(batch$counts)) return(unname(batch$counts) / sum(batch$counts))
  seen <- !is.na(unname(batch$policy))
  seen / sum(seen)
}

# Utilities in units of alpha. For each step, what it says about the utility up to shaping, and how much that counts: no
# equation is left out altogether where that would leave a pair without any.
invert_policies <- function(policies, weights, markov) {
  shaping <- shaping_matrix(markov)
  filled <- lapply(policies, function(policy) replace(policy, is.na(policy), 1 / ncol(policy)))
  steps <- lapply(seq_along(policies)[-1], function(k) {
    strayed <- rowSums(filled[[k - 1]] * log(filled[[k - 1]] / filled[[k]]))
    as.vector(log(filled[[k]]) + markov$discount * markov_next(markov, strayed))
  })
  weights <- lapply(weights[-1], function(weight) as.vector(weight) + 1e-6 / length(weight))
  joined <- join_steps(steps, weights, shaping)
  utility <- matrix(joined$utility, markov$n_states)
  free <- length(steps) > 1
  list(utility = without_shaping(utility, shaping), objective = if (free) joined$squares,
       misfit = if (free) sqrt(joined$squares / sum(unlist(weights))) else NA_real_)
}

# Weighted least squares over the utility [pair] and a potential of each step but the first, whose shaping is free.
# Given the potentials, the utility is a mean, so only the potentials have to be solved for.
join_steps <- function(steps, weights, shaping) {
  total <- Reduce(`+`, weights)
  n <- length(steps)
  if (n == 1) return(list(utility = steps[[1]], squares = 0))
  share <- lapply(weights, function(weight) weight / total)
  mean_of <- function(parts) Reduce(`+`, Map(`*`, share, parts))
  # Potentials act on the residuals of their own step and, through the mean, on those of all steps.
  none <- 0 * shaping
  columns <- lapply(seq_len(n)[-1], function(k) {
    parts <- lapply(seq_len(n), function(j) if (j == k) shaping else none)
    middle <- mean_of(parts)
    do.call(rbind, Map(function(weight, part) sqrt(weight) * (middle - part), weights, parts))
  })
  middle <- mean_of(steps)
  rhs <- unlist(Map(function(weight, step) sqrt(weight) * (step - middle), weights, steps))
  system <- do.call(cbind, columns)
  potentials <- qr.coef(qr(system, LAPACK = TRUE), rhs)
  left <- rhs - as.vector(system %*% potentials)
  shaped <- c(list(steps[[1]]), lapply(seq_len(n)[-1], function(k) {
    steps[[k]] + as.vector(shaping %*% potentials[seq_len(ncol(shaping)) + (k - 2) * ncol(shaping)])
  }))
  list(utility = mean_of(shaped), squares = sum(left^2))
}

soft_policies_notes <- function(batches, policies, setting) {
  unseen <- Reduce(`|`, lapply(policies, function(policy) is.na(policy[, 1])))
  left_out <- sum(vapply(batches, `[[`, 0L, "left_out"))
  c(
    paste0("The utility is known up to shaping, f(state) less the discount times the expected next f; this is the ",
           "smallest."),
    if (any(unseen)) {
      paste0("In ", plural(sum(unseen), "state"), " (", listing(setting$states[unseen]), ") nobody was seen in some ",
             "batch: there its policy is assumed to be uniform.")
    },
    if (left_out > 0) paste0(plural(left_out, "visit"), " whose state was not known ",
                             if (left_out == 1) "was" else "were", " left out.")
  )
}
