#' What decision makers do, in words a clinician uses
#'
#' Parameters such as `alpha` and `optimism` have no unit that anybody meets in a clinic. `decision_effects()` says what
#' they mean in practice, in each group of a fit and between groups. Everything is worked out draw by draw, and so are
#' differences between groups. It says:
#' * How likely each action is at beliefs, and after observations, that you state.
#' * How many visits and tests it takes to reach a decision.
#' * What the bounds cost against a perfectly rational agent.
#' * How accurate the decision maker takes a test to be, judging by its actions.
#' * How it weighs the models of the dynamics.
#'
#' @section What is worked out:
#' * `probability`: of each action at a belief, or after observations. The belief after observations is the one that the
#'   agent reaches from its own start, at each draw. For agents with a habit, it is the probability without a last
#'   action, as at a first visit.
#' * `accuracy`: how often what is seen after an action points to the state that is there (the state under which the
#'   setting makes it likeliest). It is given on average over states and for each state. The emission used is the mean
#'   over the models, by the weights that the agent gives them there. "As if 75%, not 70%": `rational` has the setting's
#'   own accuracy, and `gap` says how far apart the two are. With one model they are the same.
#' * `weight`: the weight of each model where the agent takes an action. It shows what optimism, or pessimism, does.
#'   `rational` has the weight of the model prior.
#' * `visits`, `decided`: the expected number of visits until a stop action, counting none beyond `horizon`, and the
#'   probability that a stop action is taken by then. Both are for settings with stop actions.
#' * `count`: how often each action is taken in a trajectory, until it stops or until `horizon`.
#' * `cost`: the expected utility per visit of a perfectly rational agent, less that of the behaviour, both in the
#'   setting as it is and discounted. What a belief is worth by itself ([certainty_bonus()]) is counted at the correct
#'   belief given what was done and seen, not at the belief that the agent holds. `cost_share`: the cost as a share of
#'   the cost of taking every action with equal chances. 0 is as good as a perfectly rational agent, 1 as bad as acting
#'   at random. After a stop action the setting goes on as it says, for example with the next patient.
#'
#' The *perfectly rational agent* of the column `rational` always takes the best action, knows the setting's own
#' dynamics and minds no surprise. It rules out only those actions that the fit rules out (an action prior of 0). Where
#' dynamics, utilities or other parts of the setting are inferred (for example [ibrc()] with `dynamics`), every draw has
#' its own setting, and so its own rational agent. `rational` is then the median over draws, with the interval from
#' `rational_low` to `rational_high`. An action that the rational agent takes at most draws and never at others has 1 (0
#' to 1). Both limits are `NA` where it is the same at every draw. `gap` is the distance of the decision makers from it:
#' the median of what they do less `rational`, taken within draws, with the interval from `gap_low` to `gap_high`. As
#' with differences between groups, it need not be the difference of the two medians.
#'
#' `visits`, `decided`, `count` and the costs are simulated in the setting. States and observations follow its dynamics,
#' while the agent carries its own beliefs. All draws, groups and agents meet the same random numbers, so their
#' differences are more exact than their levels. `simulation_error` is the standard error that is left; intervals do not
#' include it. The other quantities are exact for each draw.
#'
#' Where starts differ ([decision_setting()]), the start of a group is the mean start of its trajectories, and simulated
#' trajectories start as these do.
#'
#' All of it is conditional on the setting and the models, and says nothing about causes.
#'
#' @param fit A fit ([ibrc()]), or a mode ([ibrc_mode()]), which gives estimates without intervals. Where people
#'   differ (`effects` of [ibrc()]), results are means over all of them, and the time grows with the number of cells;
#'   [compare_groups()] holds groups of them against each other.
#' @param beliefs Beliefs at which to say what is done. Give a matrix or data frame with one column per state, whose row
#'   names, if any, are used as labels. Or give a vector for a single belief, or a list of vectors, which may have
#'   names. By default these are the start of the setting, even odds, and beliefs that put 80% on one state. Where the
#'   state is seen, they are the states.
#' @param observations What is seen, visit by visit, from the start on: names of observations, or a list of such
#'   vectors, which may have names. `NA` is a visit at which nothing was seen.
#' @param actions The actions taken meanwhile: one for all visits, one per visit, or a list with one or the other for
#'   each entry of `observations`. It may be left out where only one action does not end the trajectory.
#' @param reference The group to compare with, as in [compare_groups()]; the first by default, `"all"` for every pair.
#' @param draws How many draws to take, evenly spaced over the chains; `NULL` takes all of them. Each needs a plan
#'   of its own.
#' @param nsim How many trajectories to simulate for each draw. Costs need far fewer: they use a twentieth of that
#'   number. 0 leaves out everything that is simulated.
#' @param horizon The most visits that a trajectory may have in `visits`, `decided` and `count`. By default 50 where
#'   actions can stop it, else the mean number of visits of the trajectories of the fit.
#' @param conf.level Mass of the central interval.
#' @param seed A number that sets the random generator for the simulations; its state is put back afterwards.
#' @param refresh After how many draws to report progress; 0 says nothing.
#' @param ... Not used.
#' @return A data frame of class `ibrc_effects`, with one row per quantity and group, and one per difference between
#'   groups:
#'   * `quantity`: see *What is worked out*.
#'   * `at`: a belief, observations or a span of visits.
#'   * `action`: the action.
#'   * `detail`: a state or a model.
#'   * `group` and `reference`, with groups: `reference` is `NA` except in differences.
#'   * `estimate`, `conf.low` and `conf.high`: the median and its interval.
#'   * `probability`: that a difference is above 0.
#'   * `rational`, `rational_low` and `rational_high`: see *What is worked out*.
#'   * `gap`, `gap_low` and `gap_high`: see *What is worked out*.
#'   * `unit`: the unit.
#'   * `simulation_error`: see *What is worked out*.
#'   * `verdict`: whether the row may be used. It is the worst of what [verdict()] says of its groups.
#'
#'   A mode and a single draw have no intervals. Printing gives the sentences that `format()` returns.
#' @seealso [compare_groups()] for the parameters themselves; [plot()][plot.ibrc_effects].
#' @family inference
#' @export
#' @examples
#' setting <- diag_setting()
#' plan <- plan_agent(setting, bounded_agent(alpha = 0.5, optimism = 0.8), diag_models())
#' visits <- rbind(
#'   cbind(as.data.frame(simulate(plan, 40, seed = 1)), clinic = "north"),
#'   transform(as.data.frame(simulate(update(plan, bounded_agent(alpha = 3)), 40, seed = 2)),
#'             id = id + 40, clinic = "south")
#' )
#' visits <- trajectories(visits, covariates = "clinic", setting = setting)
#' fit <- ibrc(visits, setting, diag_models(),
#'             ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1)), by = "clinic",
#'             chains = 2, iter = 400, seed = 1, resolution = 20)
#' effects <- decision_effects(fit, beliefs = list("even odds" = c(0.5, 0.5)),
#'                             observations = list("two positive tests" = c("positive", "positive")),
#'                             draws = 20, nsim = 200)
#' effects
#' head(as.data.frame(effects))
decision_effects <- function(fit, beliefs = NULL, observations = NULL, actions = NULL, reference = NULL, draws = 200,
                             nsim = 1000, horizon = NULL, conf.level = 0.95, seed = 1,
                             refresh = if (interactive()) 50 else 0, ...) {
  check_given(fit)
  check_unused(...)
  is_mode <- inherits(fit, "ibrc_mode")
  if (!is_mode) check_class(fit, "ibrc_fit", "fit", "ibrc()")
  refuse_several(fit, "fit", "decision_effects()")
  conf.level <- check_level(conf.level)
  refresh <- check_count(refresh, "refresh", least = 0)
  groups <- names(if (is_mode) fit$tops else fit$draws)
  people <- has_population(fit)
  pairs <- if (length(groups) > 1 && !people) group_pairs(groups, reference)
  if (is.null(pairs) && !is.null(reference)) {
    abort_input("reference", "has no effect: the fit has no groups to compare",
                if (people) "; compare_groups() has adjusted differences", ".")
  }
  design <- effects_design(fit, beliefs, observations, actions, nsim, horizon, seed)
  chosen <- if (!is_mode) spaced_draws(fit, draws)
  rational_of <- rational_counterparts(design)
  found <- lapply(stats::setNames(seq_along(groups), groups), function(group) {
    group_effects(fit, group, chosen, design, rational_of, new_progress(refresh, nrow(chosen), groups, group))
  })
  if (people) {
    found <- list(all = cohort_effects(found, fit$group_sizes))
    groups <- lone_group
  }
  rows <- rbind(level_rows(found, conf.level), contrast_rows(found, pairs, conf.level))
  new_ibrc_effects(rows, fit, groups, chosen, design, conf.level)
}

new_ibrc_effects <- function(rows, fit, groups, chosen, design, conf.level) {
  quantities <- names(effect_titles)
  rows <- rows[order(match(rows$quantity, quantities), !is.na(rows$reference)), ]
  known <- if (inherits(fit, "ibrc_fit")) standing_verdict(fit)
  rows$verdict <- if (is.null(known)) NA_character_ else effect_verdicts(rows, known)
  if (!are_groups(groups)) rows[c("group", "reference")] <- NULL
  rownames(rows) <- NULL
  structure(rows, class = c("ibrc_effects", "data.frame"), verdict = known,
            of = list(draws = nrow(chosen), conf.level = conf.level, nsim = design$nsim, groups = groups,
                      places = vapply(design$places, `[[`, "", "at"), setting = fit$problem$setting["stop_actions"],
                      differences = !all(is.na(rows$reference)) || !all(is.na(rows$rational_low))))
}

# For each row, the worst verdict on its groups: an effect rests on all of their terms.
effect_verdicts <- function(rows, known) {
  pair <- paste(rows$group, rows$reference, sep = "\r")
  first <- which(!duplicated(pair))
  worst <- vapply(first, function(i) {
    as.character(worst_of(known$verdict[is.na(known$group) | known$group %in% c(rows$group[i], rows$reference[i])]))
  }, "")
  worst[match(pair, pair[first])]
}

# ---- working it out -----------------------------------------------------------------------------------------------

# For one group: `keys`, and `value`, `rational` and `error` [key, draw].
group_effects <- function(fit, group, chosen, design, rational_of, progress) {
  keys <- NULL
  sizes <- start_sizes(fit)
  read <- function(plan) {
    # Starts that differ count as often as they do in the group.
    if (!is.null(sizes)) plan$setting$start_share <- sizes[, group] / sum(sizes[, group])
    if (is.null(keys)) {
      refuse_impossible_places(plan, design$places)
      keys <<- effect_keys(plan, design)
    }
    out <- effect_values(plan, rational_of(plan), design)
    progress()
    out
  }
  read_all <- if (inherits(fit, "ibrc_mode")) lapply(group_plans(fit)[group], read) else
    read_draws(fit, group, chosen, read)
  part <- function(name) matrix(unlist(lapply(read_all, `[[`, name), use.names = FALSE), nrow(keys))
  list(keys = keys, value = part("value"), rational = part("rational"), error = part("error"))
}

# Means over all people, draw by draw: what is done in the cohort. Cells meet the same random numbers, so that their
# errors may add up.
cohort_effects <- function(found, size) {
  share <- size / sum(size)
  mean_of <- function(part) Reduce(`+`, Map(function(one, weight) weight * one[[part]], found, share))
  list(keys = found[[1]]$keys, value = mean_of("value"), rational = mean_of("rational"), error = mean_of("error"))
}

# Refused before any work if no model at all allows them: later, an agent that rules models out has no belief there.
refuse_impossible_places <- function(plan, places) {
  lost <- which(is.na(place_beliefs(plan, places)[, 1]))
  if (length(lost)) {
    abort_input("observations", "cannot all happen after `actions` under any model that the agent holds possible: see ",
                "the entry called ", enumerate(places[[lost[1]]]$at), ".", rows = lost)
  }
}

# A function that counts one draw, and now and then reports how far the work is.
new_progress <- function(refresh, n, groups, group) {
  done <- 0L
  function() {
    done <<- done + 1L
    if (refresh > 0 && done %% refresh == 0) {
      tell(message("Draw ", done, " of ", n, if (length(groups) > 1) paste0(", group ", group, " of ", length(groups))))
    }
  }
}

# One row per key: median and interval over draws, [key, draw]. A single draw, or a mode, has no interval.
over_draws <- function(draws, conf.level, names = c("estimate", "conf.low", "conf.high")) {
  tail <- (1 - conf.level) / 2
  at <- apply(draws, 1, function(x) {
    if (anyNA(x)) rep(NA_real_, 3) else stats::quantile(x, c(0.5, tail, 1 - tail), names = FALSE)
  })
  if (ncol(draws) == 1) at[2:3, ] <- NA
  stats::setNames(data.frame(at[1, ], at[2, ], at[3, ]), names)
}

# The value of the rational agent, and the distance of decision makers from it, draw by draw. Where draws do not have
# problems of their own it is one number.
beside_rational <- function(value, rational, conf.level) {
  ideal <- over_draws(rational, conf.level, c("rational", "rational_low", "rational_high"))
  ideal[apply(rational, 1, function(x) !anyNA(x) && diff(range(x)) < 1e-9), 2:3] <- NA
  cbind(ideal, over_draws(value - rational, conf.level, c("gap", "gap_low", "gap_high")))
}

# `error` may differ between draws, where they have problems of their own.
middle <- function(draws) apply(draws, 1, stats::median)

level_rows <- function(found, conf.level) {
  do.call(rbind, lapply(names(found), function(group) {
    one <- found[[group]]
    data.frame(one$keys[c("quantity", "at", "action", "detail")], group = group, reference = NA_character_,
               over_draws(one$value, conf.level), probability = NA_real_,
               beside_rational(one$value, one$rational, conf.level), unit = one$keys$unit,
               simulation_error = middle(one$error))
  }))
}

# Differences, draw by draw, of what both groups have. They meet the same random numbers, so that the errors of two
# groups do not add up as if they were independent; the bound says so.
contrast_rows <- function(found, pairs, conf.level) {
  if (is.null(pairs)) return(NULL)
  do.call(rbind, Map(function(group, reference) {
    one <- found[[group]]
    other <- found[[reference]]
    code <- function(keys) do.call(paste, c(keys, sep = "\r"))
    here <- which(code(one$keys) %in% code(other$keys))
    there <- match(code(one$keys)[here], code(other$keys))
    between <- function(part) one[[part]][here, , drop = FALSE] - other[[part]][there, , drop = FALSE]
    difference <- between("value")
    data.frame(one$keys[here, c("quantity", "at", "action", "detail")], group = group, reference = reference,
               over_draws(difference, conf.level),
               probability = if (ncol(difference) == 1) NA_real_ else rowMeans(difference > 0),
               beside_rational(difference, between("rational"), conf.level), unit = one$keys$unit[here],
               simulation_error = sqrt(middle(one$error)[here]^2 + middle(other$error)[there]^2))
  }, pairs$group, pairs$reference, USE.NAMES = FALSE))
}

#' @export
as.data.frame.ibrc_effects <- function(x, ...) {
  attr(x, "verdict") <- NULL
  attr(x, "of") <- NULL
  class(x) <- "data.frame"
  x
}
