#' Distribution matching
#'
#' Looks for the behaviour whose discounted occupancies diverge least from those demonstrated. Occupancies are the
#' shares of visits that it spends at each state and action. The function infers a decision rule and no utility.
#'
#' A policy can have those occupancies \eqn{\mu} in the setting that are not negative and whose flow is right: the time
#' spent in a state is what starts there plus what comes in. Among them the answer minimises
#' \deqn{D(\mu_{demo}, \mu) - entropy \cdot H(\mu)}{D(mu_demo, mu) - entropy * H(mu)}
#' where \eqn{H} is the causal entropy per visit, the mean entropy of what is done. With \eqn{d} for what was
#' demonstrated, the divergences are: `"kl"`, \eqn{\sum d \log(d / \mu)}{sum d log(d / mu)}; `"reverse_kl"`,
#' \eqn{\sum \mu \log(\mu / d)}{sum mu log(mu / d)}, which never does what was not demonstrated;
#' `"jensen_shannon"`, the mean of both to their middle, at most log 2; `"total_variation"`, half the sum of
#' absolute differences, a linear programme (package \pkg{lpSolve}; without entropy); and `"squares"`, half the sum
#' of squared differences. All are convex. All but the linear programme are solved by Newton's method inside the
#' constraints, with a proven bound on what is left to gain: `gap` of `glance()`.
#'
#' With `"squares"` and `entropy = penalty` the behaviour is that of [infer_soft_margin()] with that `penalty`: the
#' behaviour of a soft agent under the utility with the least regularised margin. This is Ho and Ermon's equality. With
#' other smooth divergences, too, the answer is the behaviour of a soft agent. Its utility is minus the slope of the
#' divergence, and its alpha is `entropy`.
#'
#' @section What it can and cannot say:
#' It says what will be done, not what is wanted. If the demonstrated occupancies are those of a policy, as by default,
#' and `entropy` is 0, the answer is that policy with any divergence, which is then 0. Divergences differ where
#' occupancies are counted from visits (`occupancies = "visits"`), which may be few or may follow other dynamics. In a
#' state in which the answer spends no time, all actions are equally likely; a note names these states.
#'
#' @inheritSection infer_soft_margin Shares of visits
#' @inheritParams infer_soft_margin
#' @param divergence How occupancies are compared, see *Details*.
#' @param entropy What a nat of causal entropy is worth, in units of the divergence: from 0 to 1e6. Near 1e6 hardly
#'   anything but the entropy counts.
#' @return An `ibrc_inferred`, see [tidy()][tidy.ibrc_inferred]. Its estimates are the probability of each action in
#'   each state, with the `occupancy` of both and the one `demonstrated`. The objective is the divergence less the worth
#'   of entropy. `glance()` has the `divergence` alone, the `gap`, by which the objective is at most above the least
#'   possible, and `flow`, the largest error in the flow.
#' @references Ho and Ermon (2016) Generative adversarial imitation learning. *Advances in Neural Information
#'   Processing Systems* 29. Ghasemipour, Zemel and Gu (2019) A divergence minimization perspective on imitation
#'   learning methods. *Conference on Robot Learning*.
#' @family framework
#' @export
#' @examples
#' setting <- decision_setting(
#'   states = c("well", "ill"), actions = c("wait", "treat"), observations = c("well", "ill"),
#'   transition = list(wait = rbind(c(0.9, 0.1), c(0, 1)),
#'                     treat = rbind(c(0.9, 0.1), c(0.7, 0.3))),
#'   emission = "identity", utility = cbind(wait = c(0, -2), treat = c(-1, -3)), discount = 0.9,
#'   start = c(1, 0)
#' )
#' plan <- plan_agent(setting, bounded_agent(alpha = 0.5))
#' visits <- simulate(plan, nsim = 20, horizon = 8, seed = 1)
#' infer_distribution(visits, setting, occupancies = "visits")
#' glance(infer_distribution(visits, setting, "jensen_shannon", occupancies = "visits"))
infer_distribution <- function(visits, setting,
                               divergence = c("kl", "reverse_kl", "jensen_shannon", "total_variation", "squares"),
                               entropy = 0, occupancies = c("policy", "visits")) {
  check_given(visits, setting)
  check_seen_states(setting)
  divergence <- check_choice(divergence, divergence_kinds, "divergence")
  entropy <- check_entropy(entropy, divergence)
  occupancies <- check_choice(occupancies, c("policy", "visits"), "occupancies")
  demonstration <- demonstrated(visits, setting)
  markov <- as_markov(setting)
  refuse_many_pairs(markov)
  shares <- demonstrated_shares(demonstration, markov, occupancies)
  answer <- match_occupancies(shares$occupancy, shares$markov, divergence, entropy)
  law <- conditional_policy(answer$occupancy)
  plan <- plan_with_policy(observed_problem(setting), "rule", law$policy)
  new_ibrc_inferred(
    "distribution", setting, plan, policy_estimates(law$policy, answer$occupancy, shares$occupancy, setting),
    objective = answer$objective,
    details = c(demonstration_details(demonstration), list(
      kind = divergence, entropy = entropy, occupancies = occupancies,
      glance = answer[c("divergence", "gap", "flow")]
    )),
    notes = c(share_notes(demonstration, shares, setting), distribution_notes(law, setting, answer, entropy))
  )
}

divergence_kinds <- c("kl", "reverse_kl", "jensen_shannon", "total_variation", "squares")

check_entropy <- function(entropy, divergence) {
  entropy <- check_finite_number(entropy, "entropy")
  if (entropy < 0 || entropy > 1e6) {
    abort_input("entropy", "must be from 0 to 1e6; it is ", format(entropy), ".")
  }
  if (entropy > 0 && divergence == "total_variation") {
    abort_input("entropy", "must be 0 with the total variation, a linear programme. Take another `divergence`.")
  }
  entropy
}

policy_estimates <- function(policy, occupancy, demonstrated, setting) {
  place <- expand.grid(state = setting$states, action = setting$actions, stringsAsFactors = FALSE)
  data.frame(term = paste0("policy[", place$state, ",", place$action, "]"), state = place$state, action = place$action,
             estimate = as.vector(policy), occupancy = as.vector(occupancy), demonstrated = as.vector(demonstrated))
}

# With less time than this in a state, nothing is said about what is done there.
no_occupancy <- 1e-9

conditional_policy <- function(occupancy) {
  time <- rowSums(occupancy)
  lost <- time <= no_occupancy
  policy <- occupancy / time
  policy[lost, ] <- 1 / ncol(occupancy)
  list(policy = policy / rowSums(policy), lost = which(lost))
}

distribution_notes <- function(law, setting, answer, entropy) {
  c(
    if (length(law$lost)) {
      paste0("The answer spends no time in ", plural(length(law$lost), "state"), " (",
             listing(setting$states[law$lost]), "): every action is given the same probability there.")
    },
    if (answer$feasible && entropy == 0) {
      "Some policy has the demonstrated occupancies: every divergence is 0 there and gives the same answer."
    }
  )
}

# ---- divergences ----------------------------------------------------------------------------------------------------

# Divergence of occupancies x from the `target`, pair by pair: the sum, its slope and its curvature, which is diagonal.
smooth_divergences <- list(
  kl = list(
    value = function(x, target) sum(ifelse(target > 0, target * log(target / x), 0)),
    slope = function(x, target) -target / x,
    curvature = function(x, target) target / x^2
  ),
  reverse_kl = list(
    value = function(x, target) sum(ifelse(x > 0, x * log(x / target), 0)),
    slope = function(x, target) log(x / target) + 1,
    curvature = function(x, target) 1 / x
  ),
  jensen_shannon = list(
    value = function(x, target) {
      middle <- (x + target) / 2
      sum(ifelse(target > 0, target * log(target / middle), 0) + ifelse(x > 0, x * log(x / middle), 0)) / 2
    },
    slope = function(x, target) log(2 * x / (x + target)) / 2,
    curvature = function(x, target) target / (2 * x * (x + target))
  ),
  squares = list(
    value = function(x, target) sum((x - target)^2) / 2,
    slope = function(x, target) x - target,
    curvature = function(x, target) 1 + 0 * x
  )
)

# ---- which occupancies there are ------------------------------------------------------------------------------------

# Pairs [state, action] that can have any occupancy if only those `allowed` may: from them nothing leads to a state
# without such an action, and they are reached from the start. NULL where no behaviour keeps to them.
open_pairs <- function(markov, allowed) {
  follows <- lapply(markov$transition, function(law) as.matrix(law) > 0)
  repeat {
    dead <- rowSums(allowed) == 0
    leads <- if (markov$discount > 0) vapply(follows, function(law) as.vector(law %*% dead) > 0, dead) else FALSE
    kept <- allowed & !matrix(leads, nrow(allowed), ncol(allowed))
    if (identical(kept, allowed)) break
    allowed <- kept
  }
  reached <- markov$start > 0
  if (any(reached & rowSums(allowed) == 0)) return(NULL)
  if (markov$discount > 0) {
    repeat {
      arrives <- Reduce(`|`, lapply(seq_along(follows), function(u) {
        as.vector((reached & allowed[, u]) %*% follows[[u]]) > 0
      }))
      if (!any(arrives & !reached)) break
      reached <- reached | arrives
    }
  }
  allowed & reached
}

# ---- the least divergence -------------------------------------------------------------------------------------------

match_occupancies <- function(target, markov, divergence, entropy) {
  shaping <- shaping_matrix(markov)
  feasible <- flow_gap(target, shaping, markov) <= 1e-10
  if (feasible && entropy == 0) {
    return(list(occupancy = target, objective = 0, divergence = 0, gap = 0, flow = flow_gap(target, shaping, markov),
                feasible = TRUE))
  }
  open <- open_pairs(markov, if (divergence == "reverse_kl") target > 0 else target >= 0)
  refuse_infinite_divergence(open, target, divergence)
  out <- if (divergence == "total_variation") least_variation(flow_problem(target, markov, open, shaping)) else
    least_divergence(flow_problem(target, markov, open, shaping), smooth_divergences[[divergence]], entropy)
  occupancy <- 0 * target
  occupancy[open] <- out$x
  # The part that was demonstrated where no occupancy is possible is lost in any case.
  lost <- lost_divergence(target[!open], divergence)
  list(occupancy = occupancy, objective = out$objective + lost, divergence = out$divergence + lost, gap = out$gap,
       flow = flow_gap(occupancy, shaping, markov), feasible = feasible)
}

# Occupancies x of open pairs: t(shaping) %*% x = inflow, x >= 0. `state`: that of each pair; `inside`: occupancies that
# are positive at all of them, those of taking every open action equally often.
flow_problem <- function(target, markov, open, shaping) {
  states <- which(rowSums(open) > 0)
  policy <- open / pmax(rowSums(open), 1)
  policy[-states, ] <- 1 / ncol(open)
  list(target = target[open], shaping = shaping[as.vector(open), states, drop = FALSE],
       inflow = (1 - markov$discount) * markov$start[states], state = match(row(open)[open], states),
       inside = markov_occupancy(markov, policy)[open])
}

refuse_infinite_divergence <- function(open, target, divergence) {
  if (!is.null(open) && (divergence != "kl" || all(target[!open] == 0))) return(invisible())
  abort_input("divergence", "is infinite for every policy of this setting: ",
              if (divergence == "kl") "none reaches all that was demonstrated" else
                "none keeps to what was demonstrated, as it leads to states in which nothing was demonstrated",
              ". Take \"jensen_shannon\", which is always finite.")
}

lost_divergence <- function(target, divergence) {
  lost <- switch(divergence, jensen_shannon = target * log(2) / 2, total_variation = target / 2,
                 squares = target^2 / 2, 0)
  sum(lost)
}

# Newton's method on the objective less `barrier` times the sum of logarithms of x, with an ever smaller barrier. What
# is left to gain is bounded at every x, whatever the method: the objective lies above its tangent, and the tangent is
# least at an x that sums to 1.
least_divergence <- function(problem, divergence, entropy) {
  x <- problem$inside
  best <- list(gap = Inf)
  for (barrier in 10^-(1:17) / length(x)) {
    blind <- 0
    for (round in seq_len(60)) {
      step <- flow_step(x, problem, divergence, entropy, barrier)
      if (!is.finite(step$gap)) break
      if (step$gap < best$gap) best <- list(x = x, gap = max(step$gap, 0))
      if (!(step$promised > 1e-4 * barrier)) break
      # A gain below the rounding of the objective cannot be measured: a few steps are trusted.
      now <- barrier_value(x, step$potential, problem, divergence, entropy, barrier)
      lost <- step$promised <= 1e-12 * (1 + abs(now))
      blind <- blind + lost
      if (blind > 4) break
      moved <- search_flow(x, step, if (lost) Inf else now, function(there) {
        barrier_value(there, step$potential, problem, divergence, entropy, barrier)
      })
      if (is.null(moved)) break
      x <- restore_flow(moved, problem)
    }
    if (best$gap <= 1e-14) break
  }
  if (best$gap > 1e-7) {
    abort("convergence", "The divergence was not minimised: up to ", signif(best$gap, 2), " may be left to gain.",
          argument = "divergence")
  }
  value <- divergence$value(best$x, problem$target)
  list(x = best$x, divergence = value, gap = best$gap,
       objective = value + entropy * negative_entropy(best$x, problem))
}

# Sum of x log policy: minus the causal entropy.
negative_entropy <- function(x, problem) sum(x * log_conditional(x, problem))
log_conditional <- function(x, problem) log(x / sum_by_state(x, problem)[problem$state])
sum_by_state <- function(x, problem) unname(rowsum(x, problem$state)[, 1])

# What a step has to reduce. Potentials may be large: the rounding error of the flow counts at its price.
barrier_value <- function(x, potential, problem, divergence, entropy, barrier) {
  divergence$value(x, problem$target) + entropy * negative_entropy(x, problem) - barrier * sum(log(x)) +
    sum(potential * (problem$inflow - as.vector(crossprod(problem$shaping, x))))
}

# The occupancies of the policy that x stands for: the flow without rounding.
restore_flow <- function(x, problem) {
  policy <- x / sum_by_state(x, problem)[problem$state]
  time <- solve(t(rowsum(policy * problem$shaping, problem$state)), problem$inflow, tol = 0)
  policy * time[problem$state]
}

# The curvature is a diagonal plus, for the entropy, minus entropy / time at each state: its inverse is known. The flow
# is kept by a potential of states; the system that is solved has one row for each.
flow_step <- function(x, problem, divergence, entropy, barrier) {
  slope <- divergence$slope(x, problem$target) + entropy * log_conditional(x, problem)
  gradient <- slope - barrier / x
  bent <- divergence$curvature(x, problem$target) + barrier / x^2
  width <- 1 / (bent + entropy / x)
  # (entropy / time) / (1 - entropy / time * sum(width)), without the loss of digits in the difference.
  share <- entropy / sum_by_state(x * bent * width, problem)
  inverse <- function(y) width * (y + (share * sum_by_state(width * y, problem))[problem$state])
  # The potential by least squares, which keeps twice as many digits as its normal equations.
  spread <- rowsum(width * problem$shaping, problem$state)
  system <- rbind(sqrt(width) * problem$shaping, sqrt(share) * spread)
  rhs <- c(sqrt(width) * gradient, sqrt(share) * sum_by_state(width * gradient, problem))
  potential <- qr.coef(qr(system, LAPACK = TRUE), rhs)
  price <- slope - as.vector(problem$shaping %*% potential)
  uphill <- price - barrier / x
  direction <- -inverse(uphill)
  list(direction = direction, potential = potential, promised = -sum(uphill * direction),
       gap = sum(price * x) - min(0, price))
}

# As far along a step as the objective falls from its present value `now`; NULL where it falls no further.
search_flow <- function(x, step, now, value) {
  back <- step$direction < 0
  length <- min(1, 0.99 * (-x / step$direction)[back])
  while (length > 1e-8) {
    there <- x + length * step$direction
    if (value(there) <= now - 1e-4 * length * step$promised) return(there)
    length <- length / 2
  }
}

# Half the sum of absolute differences, which are further variables. The programme's dual has the same value, and says
# how much may be left.
least_variation <- function(problem) {
  n <- length(problem$target)
  flow <- t(problem$shaping)
  refuse_long_programme(2 * n + nrow(flow), 2 * n, "setting", plural(nrow(flow), "state"), " and ",
                        plural(n, "pair"), " of a state and an action",
                        advice = "Join states that are alike, or take the divergence \"jensen_shannon\".")
  none <- matrix(0, nrow(flow), n)
  primal <- solve_linear(
    rep(c(0, 0.5), each = n), rbind(cbind(diag(n), -diag(n)), cbind(-diag(n), -diag(n)), cbind(flow, none)),
    rep(c("<=", "="), c(2 * n, nrow(flow))), c(problem$target, -problem$target, problem$inflow), free = FALSE
  )
  # A price of each pair, counted from -1/2 to be positive, and a potential of each state.
  dual <- solve_linear(
    c(problem$target, -problem$inflow), rbind(cbind(-diag(n), problem$shaping), cbind(diag(n), 0 * problem$shaping)),
    "<=", rep(c(-0.5, 1), each = n), free = rep(c(FALSE, TRUE), c(n, nrow(flow)))
  )
  x <- pmax(primal$x[seq_len(n)], 0)
  value <- sum(abs(x - problem$target)) / 2
  list(x = x, objective = value, divergence = value,
       gap = abs(value - (sum(problem$target) / 2 - dual$objective)))
}
