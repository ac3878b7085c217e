#' One utility in several settings
#'
#' Infers the utility of somebody who is seen in several settings that differ in their discount or in their dynamics,
#' and who wants the same in all of them. One setting shows a utility up to shaping. Two settings that differ enough
#' show it up to a constant.
#'
#' In each setting \eqn{i}, a soft agent's policy says
#' \deqn{v(s,u) = \alpha \log \pi_i(u|s) + V_i(s) - \gamma_i E_i V_i(s')}{
#' v(s, u) = alpha log policy[i](u | s) + V[i](s) - discount[i] E V[i](s')}
#' with unknown values \eqn{V_i}. All settings together leave those utilities open that are shaping in every one of
#' them; constants always are. The rank of these equations in the utility, once the values are eliminated, is at most
#' the number of pairs of a state and an action less 1. If it is that, the utility is identified up to a constant, which
#' is the condition of Cao, Cohen and Szpruch. `identification` of `glance()` says by how much. It takes the change of
#' utility that is hardest to see, apart from constants, and the share of it that is not shaping, as a root mean square
#' over settings. It lies from 0, not identified, to 1. Two discounts, or two dynamics, usually suffice; dynamics in
#' which no action makes a difference do not.
#'
#' From policies and plans the equations are solved by least squares. From visits the utility is the one under which
#' soft agents are likeliest to do what was done, found by Fisher scoring from there. `smoothing` is added to the counts
#' of states that were seen. It keeps the utility finite where an action was never taken.
#'
#' @section What it can and cannot say:
#' Estimates have mean 0 over states and actions: only differences mean anything. They are in units of `alpha`, the
#' price of deliberating, which has to be assumed. So have the dynamics and the discounts: a wrong discount changes the
#' answer, as utilities are told apart by discounts. Where the utility is not identified, a note says so and in how many
#' directions it is free, and the smallest is reported. Where `identification` is small, the utility is identified in
#' principle but badly estimated: look at `std.error`.
#'
#' @param visits A list of demonstrations, one per setting: trajectories ([trajectories()]), or plans and
#'   policies (matrices with one row per state and one column per action).
#' @param settings A list of settings ([decision_setting()]) in which the state is seen, with the same states and
#'   actions. Their utilities are not used.
#' @param alpha The price of deliberating: one for all settings, or one per setting.
#' @param smoothing Added to each action's count in states that were seen. Policies and plans are used as they are.
#' @return An `ibrc_inferred`, see [tidy()][tidy.ibrc_inferred], with one plan per setting. Its estimates are the
#'   utility, with mean 0 over states and actions; for visits with `std.error`, `NA` where it is not identified. The
#'   objective is the sum of squares that the equations leave, in the squared unit of the utility, or, for visits, the
#'   log-likelihood, including smoothing. `glance()` has `rank`, `rank_needed` for the utility to be `identified` up to
#'   a constant, and `identification`.
#' @references Cao, Cohen and Szpruch (2021) Identifiability in inverse reinforcement learning. *Advances in Neural
#'   Information Processing Systems* 34.
#' @family framework
#' @export
#' @examples
#' at_discount <- function(discount) {
#'   decision_setting(
#'     states = c("well", "ill"), actions = c("wait", "treat"), observations = c("well", "ill"),
#'     transition = list(wait = rbind(c(0.9, 0.1), c(0, 1)),
#'                       treat = rbind(c(0.9, 0.1), c(0.7, 0.3))),
#'     emission = "identity", utility = cbind(wait = c(0, -2), treat = c(-1, -3)),
#'     discount = discount
#'   )
#' }
#' settings <- list(now = at_discount(0.3), later = at_discount(0.9))
#' plans <- lapply(settings, plan_agent, agent = bounded_agent(alpha = 1))
#' inferred <- infer_shared_utility(plans, settings)
#' inferred
#' # What was wanted, up to a constant:
#' settings$now$utility - mean(settings$now$utility)
#' # One setting alone leaves more open.
#' glance(infer_shared_utility(plans[1], settings[1]))
infer_shared_utility <- function(visits, settings, alpha = 1, smoothing = 0.5) {
  check_given(visits, settings)
  check_settings(settings)
  check_demonstrations(visits, settings)
  alpha <- check_alphas(alpha, length(settings))
  smoothing <- check_smoothing(smoothing)
  markovs <- lapply(unname(settings), as_markov)
  refuse_many_pairs(markovs[[1]], "settings")
  shown <- Map(demonstrated, unname(visits), unname(settings))
  source <- unique(vapply(shown, `[[`, "", "source"))
  if (length(source) > 1) {
    abort_input("visits", "must all be trajectories, or all be policies or plans: a policy does not say from how many ",
                "visits it comes.")
  }
  policies <- lapply(shown, smoothed_policy, smoothing = smoothing)
  for (i in seq_along(policies)) refuse_never_taken(policies[[i]], settings[[i]], "visits", paste("demonstration", i))
  known <- shared_equations(policies, markovs, alpha)
  answer <- least_squares_utility(known)
  if (source == "visits") {
    answer <- likeliest_utility(answer$utility, known, lapply(shown, smoothed_counts, smoothing), markovs, alpha)
  }
  utility <- matrix(answer$utility, markovs[[1]]$n_states)
  estimates <- utility_estimates(utility, settings[[1]])
  if (source == "visits") estimates$std.error <- answer$std.error
  new_ibrc_inferred(
    "shared_utility", settings, Map(soft_plan, settings, list(utility), alpha), estimates, objective = answer$objective,
    details = list(
      n_trajectories = vapply(shown, `[[`, 0L, "n_trajectories"), n_visits = vapply(shown, `[[`, 0L, "n_visits"),
      left_out = vapply(shown, `[[`, 0L, "left_out"), alpha = alpha, smoothing = smoothing,
      glance = known[c("rank", "rank_needed", "identified", "identification")]
    ),
    notes = shared_notes(known, shown, settings)
  )
}

check_alphas <- function(alpha, n) {
  if (!is.numeric(alpha) || !is.null(dim(alpha)) || !length(alpha) %in% c(1, n) || any(!is.finite(alpha))) {
    abort_input("alpha", "must be one number, or one per setting, not ", describe(alpha), ".")
  }
  alpha <- vapply(alpha, check_moderate_price, 0)
  if (max(alpha) > 1e6 * min(alpha)) {
    abort_input("alpha", "differs by more than a factor of a million between settings: behaviour in one of them would ",
                "say nothing beside the other.")
  }
  rep_len(alpha, n)
}

# What all settings say about the utility [pair] once their values are eliminated: system %*% utility = rhs. The rows
# that a setting gives are orthogonal to its shaping, and orthonormal; states in which nobody was seen give no rows.
shared_equations <- function(policies, markovs, alpha) {
  rows <- Map(function(policy, markov, price) {
    seen <- which(!is.na(policy))
    shaping <- qr(shaping_matrix(markov)[seen, , drop = FALSE])
    beyond <- qr.Q(shaping, complete = TRUE)[, -seq_len(shaping$rank), drop = FALSE]
    system <- matrix(0, ncol(beyond), length(policy))
    system[, seen] <- t(beyond)
    list(system = system, rhs = price * as.vector(crossprod(beyond, log(policy[seen]))))
  }, policies, markovs, alpha)
  system <- do.call(rbind, lapply(rows, `[[`, "system"))
  rhs <- unlist(lapply(rows, `[[`, "rhs"))
  n <- ncol(system)
  # Rows of zeros leave the equations as they are, and give all directions a singular value.
  system <- rbind(system, matrix(0, max(0, n - nrow(system)), n))
  parts <- svd(system)
  rank <- sum(parts$d > shared_tolerance)
  list(parts = parts, rhs = c(rhs, numeric(nrow(system) - length(rhs))), rank = rank, rank_needed = n - 1L,
       identified = rank == n - 1L,
       identification = if (rank < n - 1L) 0 else parts$d[n - 1L] / sqrt(length(policies)))
}

# Singular values lie from 0 to the root of the number of settings: smaller values than this are rounding.
shared_tolerance <- 1e-9

# Directions that are identified, [pair, direction].
identified_directions <- function(known) known$parts$v[, seq_len(known$rank), drop = FALSE]

# The smallest of the utilities that fit best: orthogonal to everything that is not identified, with mean 0.
least_squares_utility <- function(known) {
  at <- seq_len(known$rank)
  along <- as.vector(crossprod(known$parts$u[, at, drop = FALSE], known$rhs))
  list(utility = as.vector(identified_directions(known) %*% (along / known$parts$d[at])),
       objective = max(0, sum(known$rhs^2) - sum(along^2)))
}

# The log-likelihood of counts under soft agents with a utility [pair], its slope and information.
shared_likelihood <- function(utility, counts, markovs, alpha) {
  parts <- Map(function(count, markov, price) {
    policy <- markov_soft(markov, price, utility = matrix(utility, markov$n_states))$policy
    slope <- soft_policy_slope(policy, markov, shaping_matrix(markov)) / price
    list(value = sum(count[count > 0] * log(policy[count > 0])), score = as.vector(crossprod(slope, as.vector(count))),
         information = crossprod(sqrt(as.vector(rowSums(count) * policy)) * slope))
  }, counts, markovs, alpha)
  sum_of <- function(name) Reduce(`+`, lapply(parts, `[[`, name))
  list(value = sum_of("value"), score = sum_of("score"), information = sum_of("information"))
}

# Fisher scoring along the directions that are identified.
likeliest_utility <- function(utility, known, counts, markovs, alpha, rounds = 200) {
  directions <- identified_directions(known)
  at <- shared_likelihood(utility, counts, markovs, alpha)
  for (round in seq_len(rounds)) {
    score <- as.vector(crossprod(directions, at$score))
    information <- crossprod(directions, at$information %*% directions)
    step <- solve_positive(information, score)
    promised <- sum(step * score)
    if (promised <= 1e-10) break
    length <- 1
    repeat {
      there <- utility + length * as.vector(directions %*% step)
      next_at <- shared_likelihood(there, counts, markovs, alpha)
      if (is.finite(next_at$value) && next_at$value >= at$value + 1e-4 * length * promised || length < 1e-8) break
      length <- length / 2
    }
    if (length < 1e-8) break
    utility <- there
    at <- next_at
  }
  if (promised > 1e-4) {
    abort("convergence", "The likelihood was not maximised: the settings hardly tell utilities apart. Raise ",
          "`smoothing`, or give settings that differ more.", argument = "visits")
  }
  spread <- if (known$identified) sqrt(pmax(0, rowSums((directions %*% solve(information)) * directions))) else
    rep(NA_real_, length(utility))
  list(utility = utility, objective = at$value, std.error = spread)
}

shared_notes <- function(known, shown, settings) {
  unseen <- Reduce(`|`, lapply(shown, function(one) is.na(one$policy[, 1])))
  left_out <- sum(vapply(shown, `[[`, 0L, "left_out"))
  c(
    if (known$identified) {
      "The utility is identified up to a constant: estimates have mean 0."
    } else {
      paste0("The utility is not identified up to a constant: besides it, ",
             plural(known$rank_needed - known$rank, "direction is", "directions are"), " free. Settings that ",
             "differ in discount or dynamics would say more. This is the smallest of those that fit equally well.")
    },
    if (any(unseen)) {
      paste0("In ", plural(sum(unseen), "state"), " (", listing(settings[[1]]$states[unseen]),
             ") nobody was seen in some setting.")
    },
    if (left_out > 0) paste0(plural(left_out, "visit"), " whose state was not known ",
                             if (left_out == 1) "was" else "were", " left out.")
  )
}
