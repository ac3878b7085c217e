#' Regularised maximum margin
#'
#' Looks for the utility under which a soft agent gains least on what was demonstrated, with a penalty on its size. The
#' soft agent is the imitator: if it gains nothing that matters, it does what was demonstrated.
#'
#' The utility \eqn{v} minimises
#' \deqn{E[V_{soft,v}(s_0)] - E[V_v^{demo}(s_0)] + \zeta(v)}{E[Vsoft(s0)] - E[Vdemo(s0)] + zeta(v)}
#' over the start of the setting. The first term is the soft value in its KL form,
#' \eqn{V = \alpha \log \sum_u \tilde\pi(u) e^{Q(u)/\alpha}}{V = alpha log sum(prior exp(Q / alpha))} with a uniform
#' prior over actions, as in [plan_agent()]. The entropy form is larger by
#' \eqn{\alpha \log |U| / (1 - \gamma)}{alpha log(actions) / (1 - discount)}, a constant, and gives the same
#' utility. The second term is plain utility, without the price of deliberating. The regulariser is
#' \deqn{\zeta(v) = \frac{penalty}{1 - \gamma} \, \frac{\lVert v \rVert^2}{2 \alpha}}{
#' zeta(v) = penalty / (1 - discount) * sum(v^2) / (2 alpha)}
#' so that everything is counted in `alpha` and per visit: with twice the `alpha` the utility is twice as large, and
#' behaviour is the same. The gradient is
#' \eqn{(\mu_{imit} - \mu_{demo})/(1 - \gamma) + \nabla\zeta}{(mu_imit - mu_demo) / (1 - discount) + grad zeta}, the
#' difference of discounted occupancies that sum to 1. The problem is convex and solved by Newton's method.
#'
#' Without a penalty the imitator's occupancies are those demonstrated, if any policy has them. With a penalty, the
#' imitator behaves as [infer_distribution()] finds with `divergence = "squares"` and `entropy = penalty`. This is the
#' equality of Ho and Ermon, whose other side contains no utility.
#'
#' @section What it can and cannot say:
#' Behaviour shows a utility in units of `alpha` and up to shaping: any
#' \eqn{f(s) - \gamma E f(s')}{f(s) - discount E f(s')} added to it changes nothing that a soft agent does. The answer
#' is the one of these utilities with the smallest sum of squares. Two settings tell more ([infer_shared_utility()]).
#' Without a penalty, an action that was never taken has no finite utility: its probability is held at `1e-9`, and
#' the estimate is a bound.
#'
#' @section Shares of visits:
#' With `occupancies = "visits"` each trajectory counts from its first visit whose state is known. The visit t steps
#' later counts by the discount to the power of t. Discounted time has no end, but follow-up has one. What lies beyond
#' it is continued by the policy that all visits together show, from the state that comes next. This begins after a
#' trajectory's last visit, so also after an action that stops follow-up (planning goes on after it). It also begins
#' where an action is missing or not scored, or where a state is not known. A note says how large this part is: for
#' follow-up over h visits it is \eqn{\gamma^h}{discount^h}. The larger it is, the less `"visits"` differ from
#' `"policy"`.
#'
#' @param visits What was demonstrated: trajectories ([trajectories()]), a plan, or a policy, a matrix of
#'   probabilities with one row per state and one column per action.
#' @param setting A setting ([decision_setting()]) in which the state is seen. Its utility is not used.
#' @param alpha The price of deliberating, which sets the unit of the utility.
#' @param penalty How much the size of the utility counts, 0 or more.
#' @param regulariser `"squares"`, the sum of squares of the utility.
#' @param occupancies Where demonstrated occupancies come from. `"policy"`: those that the demonstrated policy has in
#'   the setting, so that there is always a policy that has them. `"visits"`: the discounted shares of the visits
#'   themselves, which few policies have exactly, so that a penalty is needed; see below.
#' @return An `ibrc_inferred`, see [tidy()][tidy.ibrc_inferred]. Its estimates are the utility, one row per state
#'   and action; `bound` is `TRUE` where an estimate is a bound. `glance()` has `gap`, the largest difference
#'   between imitated and demonstrated occupancies, and `gradient`, the largest entry of the gradient at the
#'   answer, per visit and in units of `alpha`.
#' @references Ho and Ermon (2016) Generative adversarial imitation learning. *Advances in Neural Information
#'   Processing Systems* 29.
#' @family framework
#' @export
#' @examples
#' setting <- decision_setting(
#'   states = c("well", "ill"), actions = c("wait", "treat"), observations = c("well", "ill"),
#'   transition = list(wait = rbind(c(0.9, 0.1), c(0, 1)),
#'                     treat = rbind(c(0.9, 0.1), c(0.7, 0.3))),
#'   emission = "identity", utility = cbind(wait = c(0, -2), treat = c(-1, -3)), discount = 0.9
#' )
#' demonstrated <- rbind(well = c(wait = 0.9, treat = 0.1), ill = c(0.2, 0.8))
#' infer_soft_margin(demonstrated, setting)
#' policy(infer_soft_margin(demonstrated, setting, penalty = 0.1))
infer_soft_margin <- function(visits, setting, alpha = 1, penalty = 0, regulariser = "squares",
                              occupancies = c("policy", "visits")) {
  check_given(visits, setting)
  check_seen_states(setting)
  alpha <- check_moderate_price(alpha)
  penalty <- check_penalty(penalty)
  check_choice(regulariser, "squares", "regulariser")
  occupancies <- check_choice(occupancies, c("policy", "visits"), "occupancies")
  demonstration <- demonstrated(visits, setting)
  markov <- as_markov(setting)
  refuse_many_pairs(markov)
  shares <- demonstrated_shares(demonstration, markov, occupancies)
  answer <- if (penalty > 0) penalised_margin(shares, penalty) else free_margin(shares)
  utility <- alpha * answer$utility
  at <- soft_margin_at(answer$utility, shares, penalty)
  estimates <- utility_estimates(utility, setting)
  estimates$bound <- as.vector(answer$bound)
  new_ibrc_inferred(
    "soft_margin", setting, soft_plan(setting, utility, alpha), estimates, objective = alpha * at$value,
    details = c(demonstration_details(demonstration), list(
      alpha = alpha, penalty = penalty, occupancies = occupancies, demonstrated = shares$occupancy,
      glance = list(gap = max(abs(at$occupancy - shares$occupancy)),
                    gradient = (1 - markov$discount) * max(abs(at$gradient)))
    )),
    notes = c(share_notes(demonstration, shares, setting), soft_margin_notes(answer, penalty))
  )
}

# The objective at a utility [state, action] counted in alpha, its gradient, and the imitator's policy and
# occupancies.
soft_margin_at <- function(utility, shares, penalty) {
  markov <- shares$markov
  per_visit <- 1 - markov$discount
  imitator <- markov_soft(markov, 1, utility = utility)
  occupancy <- markov_occupancy(markov, imitator$policy)
  list(
    value = sum(markov$start * imitator$value) - sum(utility * shares$occupancy) / per_visit +
      penalty * sum(utility^2) / (2 * per_visit),
    gradient = (occupancy - shares$occupancy + penalty * utility) / per_visit,
    policy = imitator$policy, occupancy = occupancy
  )
}

# With a penalty the objective is strongly convex. Its curvature is the mean square, over the imitator's visits, of the
# change in the log probability of an action.
penalised_margin <- function(shares, penalty, rounds = 500) {
  markov <- shares$markov
  shaping <- shaping_matrix(markov)
  utility <- 0 * shares$occupancy
  at <- soft_margin_at(utility, shares, penalty)
  for (round in seq_len(rounds)) {
    slope <- soft_policy_slope(at$policy, markov, shaping)
    curvature <- crossprod(sqrt(as.vector(at$occupancy)) * slope)
    diag(curvature) <- diag(curvature) + penalty
    step <- utility
    step[] <- -solve_positive(curvature, (1 - markov$discount) * as.vector(at$gradient))
    promised <- -sum(step * at$gradient)
    # What is left to gain is less than the accuracy of the objective: one more step, and no further.
    last <- promised <= 1e-13 * (1 + abs(at$value))
    length <- 1
    repeat {
      there <- soft_margin_at(utility + length * step, shares, penalty)
      if (last || there$value <= at$value - 1e-4 * length * promised || length < 1e-10) break
      length <- length / 2
    }
    utility <- utility + length * step
    at <- there
    if (last) break
  }
  left <- (1 - markov$discount) * max(abs(at$gradient))
  if (left > 1e-8) {
    abort("convergence", "The margin was not minimised: its gradient is still ", signif(left, 2), ". Raise `penalty`.",
          argument = "penalty")
  }
  list(utility = exact_shaping(utility, shares, shaping, penalty), bound = matrix(FALSE, nrow(utility), ncol(utility)))
}

# Behaviour says nothing about shaping; only the penalty determines it. Where the gradient is 0, `shaping` applied to
# the utility gives what the demonstrated flow lacks, over the penalty. With a small penalty the search cannot tell.
exact_shaping <- function(utility, shares, shaping, penalty) {
  markov <- shares$markov
  lack <- as.vector(crossprod(shaping, as.vector(shares$occupancy))) - (1 - markov$discount) * markov$start
  if (max(abs(lack)) <= 1e-10) return(without_shaping(utility, shaping))
  parts <- qr(shaping)
  along <- as.vector(qr.Q(parts) %*% backsolve(qr.R(parts), lack[parts$pivot] / penalty, transpose = TRUE))
  without_shaping(utility, shaping) + along
}

# For an action that is never taken, without a penalty: no finite utility keeps a soft agent from it altogether.
never_taken <- 1e-9

# Without a penalty the answer is known: where values are 0, a soft policy is exp(utility), and all other utilities with
# the same policy differ by shaping.
free_margin <- function(shares) {
  shaping <- shaping_matrix(shares$markov)
  if (flow_gap(shares$occupancy, shaping, shares$markov) > 1e-8) {
    abort_input("penalty", "must be greater than 0 here: no policy has the occupancies of the visits, and without a ",
                "penalty utilities grow without bound. Or give `occupancies = \"policy\"`.")
  }
  policy <- shares$policy
  reached <- rowSums(shares$occupancy)
  # Where time is spent, occupancies determine what is done.
  policy[reached > 0, ] <- shares$occupancy[reached > 0, ] / reached[reached > 0]
  bound <- policy < never_taken
  policy <- pmax(policy, never_taken)
  list(utility = without_shaping(log(policy / rowSums(policy)), shaping), bound = bound)
}

soft_margin_notes <- function(answer, penalty) {
  bounds <- sum(answer$bound)
  c(
    paste0("Utilities that differ by shaping, f(state) less the discount times the expected next f, give the same ",
           "behaviour; this is the ", if (penalty > 0) "one with the least penalty." else "smallest."),
    if (penalty > 0) "The penalty draws the utility towards 0, and the imitator towards equally frequent actions.",
    if (bounds > 0) {
      paste0(plural(bounds, "action"), if (bounds == 1) " was" else " were", " never taken in a state: without a ",
             "penalty no finite utility explains that. Its probability is held at ", format_plain(never_taken),
             ", and the estimates in that state depend on this bound.")
    }
  )
}
