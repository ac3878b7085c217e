# How each class of decision_models() is run: one recipe per row. A recipe takes the row and a task (visits to
# infer from, the setting, the resolution of beliefs, a seed) and returns
#   plan          imitating behaviour
#   infers        what it infers, in words
#   n_parameters  how many numbers were inferred
#   n_free        how many of them can have followed the scatter of actions in each state
#   estimates     a data frame with the columns `term`, `estimate`, `std.error` and `identified`
#   note          what a reader must know
# Prices and spreads of priors are counted in the range of the setting's utility, so that no answer depends on its unit.

# The spread of normal priors of inferred utilities, where the temperature is one range of the utility.
utility_spread <- 3

# The weight of the size of a utility beside the margin, per visit, in the same unit.
margin_penalty <- 1e-3

# The number of climbs from different starts.
recipe_starts <- 4

recipe <- function(plan, infers, estimates, note = character(), n_parameters = nrow(estimates),
                   n_free = n_parameters) {
  for (column in c("std.error", "identified")) if (is.null(estimates[[column]])) estimates[[column]] <- NA
  list(plan = plan, infers = infers, n_parameters = as.integer(n_parameters), n_free = as.integer(n_free),
       estimates = estimates[c("term", "estimate", "std.error", "identified")], note = paste(note, collapse = " "))
}

# A row whose class is just its pair: project_behavior() of the two with the arguments of model_arguments().
pair_recipe <- function(row, task, infers = given_words[[check_pair(row$planner, row$inverse)$gives$gives]],
                        given = list(), visits = task$visits, setting = task$setting, note = character()) {
  made <- project_pair(row$planner, row$inverse, visits, setting, given, task$seed)
  estimates <- made$inferred$estimates
  estimates$identified <- identified_terms(made$inferred)
  recipe(made$plan, infers, estimates, c(made$inferred$notes, note), n_free = made$n_free,
         n_parameters = n_told(estimates, task$setting))
}

# Probabilities of a state sum to 1.
n_told <- function(estimates, setting) {
  known <- sum(!is.na(estimates$estimate))
  if (known && all(startsWith(estimates$term, "policy["))) known - known / length(setting$actions) else known
}

# ---- imitation ----------------------------------------------------------------------------------------------------

# What each class gives to the two functions of its pair, besides visits and setting. decision_models() says the same in
# words.
model_arguments <- function(model, task) {
  setting <- task$setting
  unit <- utility_unit(setting)
  wishes <- list(terms = "utility", alpha = unit, prior = utility_spread * unit, resolution = task$resolution,
                 starts = 1)
  switch(model,
    "BC-IL" = if (!setting$fully_observed) list(prior = utility_spread, resolution = task$resolution) else list(),
    "Det. DM-IL" = list(deterministic = TRUE, occupancies = "policy"),
    "Stoc. DM-IL" = list(divergence = "jensen_shannon", occupancies = "policy"),
    "Det. IRL" = list(over = "state_action"),
    "Stoc. IRL" = , "Stoc. PO-IRL" = , "Det. PO-IRL" = wishes,
    "ME-IRL" = list(alpha = unit, penalty = margin_penalty, occupancies = "policy"),
    list()
  )
}

clone_recipe <- function(row, task) {
  where <- if (task$setting$fully_observed) "what is done in each state" else "what is done at each belief"
  made <- pair_recipe(row, task, where, model_arguments(row$model, task))
  # Logits that are as uncertain as their prior come from the prior.
  if (!task$setting$fully_observed) {
    made$estimates$identified <- made$estimates$std.error < utility_spread / 2
  }
  made
}

# A rule on the beliefs of somebody who takes part of what happens, and of what is seen, for chance.
subjective_clone_recipe <- function(row, task) {
  height <- function(chance) fit_logits(task, chance)$objective
  best <- best_share(height)
  setting <- task$setting
  inferred <- fit_logits(task, best$share)
  rule <- centres_of_logits(inferred$details$logits)
  plan <- plan_iohmm_rule(setting, rule$centres, rule$sharpness, task$resolution,
                          believed_models(setting, best$share, TRUE))
  logits <- inferred$estimates
  logits$identified <- logits$std.error < utility_spread / 2
  estimates <- rbind(share_estimate(best), logits[c("term", "estimate", "std.error", "identified")])
  recipe(plan, "what is done at each belief, and the share of chance believed in", estimates,
         c(inferred$notes, share_note(best)))
}

# A regression of actions on beliefs by believed dynamics. Its weak prior gives actions that were never taken a finite
# logit.
fit_logits <- function(task, chance) {
  infer_matching(task$visits, believed_setting(task$setting, chance, TRUE), planner = "rule", prior = utility_spread,
                 resolution = task$resolution)
}

# The same rule by centres: logits [state, action] are 2 k c - k |c|^2 of centres c and a sharpness k, up to a number
# that is the same for all actions in a state. With w = 2 k c that requires w = logit + |w|^2 / (4 k), which has a root
# if k is large.
centres_of_logits <- function(logits) {
  n <- nrow(logits)
  logits <- logits - rowMeans(logits)
  size <- colSums(logits^2)
  total <- colSums(logits)
  sharpness <- max(1, total, (total + sqrt(n * size)) / 2 + 1)
  # n m^2 + (2 total - 4 k) m + size = 0; the smaller root.
  middle <- 2 * sharpness - total
  shift <- size / (middle + sqrt(pmax(middle^2 - n * size, 0)))
  list(centres = t(logits + rep(shift, each = n)) / (2 * sharpness), sharpness = sharpness)
}

# Discounted visits are those of the policy that was shown, in the setting. The shares of the visits themselves would
# lack what comes after follow-up has ended.
distribution_recipe <- function(row, task) {
  where <- if (row$stochastic) "what is done in each state" else "what is always done in each state"
  from <- shown_from(task)
  made <- pair_recipe(row, task, where, model_arguments(row$model, task), from$visits, from$setting, from$note)
  if (from$moved) made$plan <- plan_rule(task$setting, plan_policy(made$plan, task$setting, "visits"))
  made
}

# Visits may be so heavily discounted that states in which they were made almost do not count (at a discount of 0, all
# but the first). Then what was shown is a policy that starts wherever visits were; nothing else of it is changed.
shown_from <- function(task) {
  setting <- task$setting
  plain <- list(visits = task$visits, setting = setting, moved = FALSE, note = character())
  if (!setting$fully_observed) return(plain)
  shown <- demonstrated(task$visits, setting)
  share <- rowSums(shown$counts) / sum(shown$counts)
  time <- rowSums(markov_occupancy(as_markov(setting), filled_policy(shown)))
  if (all(time >= share / most_discounted)) return(plain)
  setting$start <- stats::setNames(share, setting$states)
  setting$start_by <- NULL
  list(visits = shown$policy, setting = setting, moved = TRUE,
       note = c(demonstration_notes(shown, setting),
                paste("Discounted from the start, states in which visits were made would not count: every visit",
                      "counted as a first one.")))
}

# How much less than its share of visits a state may count.
most_discounted <- 10

# ---- wishes -------------------------------------------------------------------------------------------------------

# Wishes for the action most often taken.
margin_recipe <- function(row, task) pair_recipe(row, task, "what is wanted", model_arguments(row$model, task))

# What beliefs are worth by themselves is part of what is inferred.
bare_setting <- function(setting) {
  setting["belief_utility"] <- list(NULL)
  setting
}

noisy_recipe <- function(row, task) {
  pair_recipe(row, task, "what is wanted, under noisy choices", model_arguments(row$model, task),
              setting = bare_setting(task$setting))
}

# The same wishes without the noise. The likelihood of a planner without noise says nothing as soon as one action is not
# the best.
sure_recipe <- function(row, task) {
  pair_recipe(row, task, "what is wanted", model_arguments(row$model, task), setting = bare_setting(task$setting),
              note = "The utility is matched with noise and then acted on without noise.")
}

entropy_recipe <- function(row, task) {
  from <- shown_from(task)
  given <- model_arguments(row$model, task)
  made <- pair_recipe(row, task, "what is wanted, by an agent that values variety", given, from$visits, from$setting,
                      from$note)
  if (from$moved) made$plan <- plan_kl(setting_wanting(task$setting, made$plan$setting$utility), given$alpha)
  made
}

# ---- beliefs about the dynamics -----------------------------------------------------------------------------------

# The model of somebody who takes this share of what happens for chance: every outcome that is possible at all gets a
# part. `seeing`: also of what is seen, where a state that is seen for sure may be any state.
believed_models <- function(setting, chance, seeing = !setting$fully_observed) {
  if (chance == 0) return(NULL)
  model <- soften_models(setting, chance, vary = if (setting$fully_observed) "transition" else "both")$models[[1]]
  if (seeing && setting$fully_observed) {
    model <- dense_model(model)
    model$emission <- array((1 - chance) * diag(length(setting$states)) + chance / length(setting$states),
                            dim(model$emission))
  }
  model_prior(list(believed = model), setting = setting)
}

# The same model as a setting.
believed_setting <- function(setting, chance, seeing = !setting$fully_observed) {
  models <- believed_models(setting, chance, seeing)
  if (is.null(models)) return(setting)
  model <- validate_ibrc_models(models, setting)$models[[1]]
  setting$transition <- model$transition
  setting$emission <- model$emission
  setting$fully_observed <- is_identity(model$emission)
  setting
}

# The best share from 0 to 1; 0 and 1 themselves are tried, too. `bounded`: whether the data tell it from 0, and from 1.
best_share <- function(height) {
  found <- stats::optimize(height, c(0, 1), maximum = TRUE, tol = 0.01)
  ends <- c(0, found$maximum, 1)
  heights <- c(height(0), found$objective, height(1))
  list(share = ends[which.max(heights)], height = max(heights), bounded = told_apart(heights[c(1, 3)], max(heights)))
}

# Heights of a log-likelihood that lie outside of a 95% interval below its top.
told_apart <- function(heights, top) top - heights > stats::qchisq(0.95, 1) / 2

# A share of 0 or 1 may be the answer, as there is nothing beyond: nothing is known only where both might be.
share_estimate <- function(best) {
  data.frame(term = "chance", estimate = best$share, std.error = NA_real_, identified = any(best$bounded))
}

share_note <- function(best) {
  share <- best$share
  c(if (share < 0.01) "Believes the dynamics as they are." else
      paste0("Acts as if ", percent_text(share), " of what happens were chance."),
    if (!any(best$bounded)) "The data cannot tell that share from 0% or from 100%.")
}

# How noisy choices are, and what is believed of the dynamics; wishes are the setting's own. The likeliest noise is
# found for each share of chance.
subjective_recipe <- function(row, task) {
  setting <- task$setting
  evidence <- matching_evidence(task$visits, setting)
  at <- function(chance) {
    problem <- build_problem(setting, believed_models(setting, chance), task$resolution)
    best <- solve_hard(problem)
    best_price(utility_unit(setting), function(alpha) {
      evidence_log_lik(evidence, plan_with_values(problem, "boltzmann", alpha, best$action_value, best$value), setting)
    })
  }
  best <- best_share(function(chance) at(chance)$height)
  price <- at(best$share)
  recipe(plan_boltzmann(setting, price$alpha, task$resolution, believed_models(setting, best$share)),
         "how noisy choices are, and the share of chance believed in",
         rbind(price_estimate(price), share_estimate(best)),
         c(share_note(best), price_note(price), "The utility is the setting's own.", evidence$notes))
}

# The likeliest price, between a thousandth of the utility's range and a thousand times this range. `bounded`: whether
# the data tell it from both.
best_price <- function(unit, height) {
  at <- function(power) height(unit * exp(power))
  found <- stats::optimize(at, price_powers, maximum = TRUE, tol = 0.01)
  list(alpha = unit * exp(found$maximum), height = found$objective,
       bounded = told_apart(vapply(price_powers, at, 0), found$objective))
}

price_powers <- log(c(1e-3, 1e3))

price_estimate <- function(price) {
  data.frame(term = "alpha", estimate = price$alpha, std.error = NA_real_, identified = all(price$bounded))
}

price_note <- function(price) {
  if (all(price$bounded)) return(NULL)
  end <- if (!any(price$bounded)) "" else if (price$bounded[1]) " from above" else " from below"
  paste0("The data do not bound alpha", end, ".")
}

# Wishes and beliefs about the dynamics together: the likeliest wishes are found for each share of chance.
subjective_entropy_recipe <- function(row, task) {
  setting <- bare_setting(task$setting)
  unit <- utility_unit(task$setting)
  fit <- function(chance) {
    infer_matching(task$visits, believed_setting(setting, chance), "kl", terms = "utility", alpha = unit,
                   prior = utility_spread * unit)
  }
  best <- best_share(function(chance) {
    inferred <- fit(chance)
    inferred$objective - sum(inferred$estimates$estimate^2) / (2 * (utility_spread * unit)^2)
  })
  inferred <- fit(best$share)
  wanting <- setting
  wanting$utility[] <- inferred$details$utility
  problem <- build_problem(wanting, believed_models(setting, best$share))
  plan <- plan_by_solving(problem, "kl", bounded_agent(alpha = unit), list(alpha = unit, chance = best$share))
  wishes <- inferred$estimates
  wishes$identified <- identified_terms(inferred)
  # Only a prior tells the two apart: what the height says of the share comes from the prior.
  share <- share_estimate(best)
  share$identified <- FALSE
  estimates <- rbind(share, wishes[c("term", "estimate", "std.error", "identified")])
  recipe(plan, "what is wanted, and the share of chance believed in", estimates,
         c(share_note(best), "Only a prior tells wishes from beliefs about the dynamics.", inferred$notes),
         n_free = n_free(inferred, plan, setting))
}

# How far a robust agent leans to dynamics that would hurt it: it is matched with noise and then acts without noise.
robust_recipe <- function(row, task) {
  setting <- task$setting
  unit <- utility_unit(setting)
  evidence <- matching_evidence(task$visits, setting)
  models <- neighbouring_models(setting)
  problem <- build_problem(setting, models, task$resolution)
  tolerance <- solve_tolerance(problem)
  wary <- function(alpha, aversion) {
    solve_problem(problem, bounded_agent(alpha = alpha, optimism = -aversion / unit), tolerance)
  }
  at <- function(aversion) {
    best_price(unit, function(alpha) evidence_log_lik(evidence, wary(alpha, aversion), setting))
  }
  best <- best_share(function(share) at(most_aversion * share)$height)
  aversion <- most_aversion * best$share
  price <- at(aversion)
  estimates <- rbind(price_estimate(price),
                     data.frame(term = "aversion", estimate = aversion, std.error = NA_real_,
                                identified = best$bounded[2]))
  recipe(wary(0, aversion), "how far it leans to what would hurt", estimates,
         c("The utility is the setting's own. Aversion is matched with noise and then acted on without noise.",
           price_note(price), aversion_note(best, is.null(models)), evidence$notes), n_free = 0)
}

# Minus optimism, in units of one over the utility's range: beyond this value it is almost exactly the worst case.
most_aversion <- 20

aversion_note <- function(best, certain) {
  if (certain) return("Nothing is left to chance, so aversion has no effect.")
  c(if (best$share > 0.99) {
      paste0("The aversion of ", most_aversion, " is the largest value that was tried. There only the worst case ",
             "counts: read it as a bound, not as an estimate.")
    },
    if (!any(best$bounded)) "The data cannot tell aversion from 0 or from the worst case: it is not identified."
    else if (!best$bounded[2] && best$share <= 0.99) "The data do not bound aversion from above.")
}

# Dynamics that differ from the setting's by ten percentage points; the setting's own if it leaves nothing to chance.
neighbouring_models <- function(setting) {
  vary <- if (setting$fully_observed) "transition" else "emission"
  tryCatch(perturb_models(setting, by = 0.1, vary = vary), ibrc_error_input = function(e) NULL)
}

# ibrc_mode() itself, so that one can check whether the data bound what it finds.
bounded_recipe <- function(row, task) {
  setting <- task$setting
  models <- neighbouring_models(setting)
  mode <- ibrc_mode(task$visits, setting, models, resolution = task$resolution, starts = recipe_starts,
                    seed = task$seed, conf.level = NULL,
                    control = ibrc_control(tolerance = 1e-9 * utility_unit(setting)))
  estimates <- as.data.frame(tidy(mode))[c("term", "estimate", "std.error")]
  rownames(estimates) <- NULL
  bounded <- bounded_sides(mode)
  estimates$identified <- colSums(bounded) == 2
  recipe(project_behavior(mode), "how bounded the agent looks", estimates,
         c("The utility is the setting's own.",
           if (is.null(models)) "Nothing is left to chance, so optimism has no effect.",
           side_notes(bounded), grep("conf.level = NULL", mode_advice(mode, mode_table(mode)), fixed = TRUE,
                                     invert = TRUE, value = TRUE)))
}

# Whether the data tell each term from either end of its prior (the 2.5% and 97.5% points), with the other terms at
# their best there: [end, term].
bounded_sides <- function(mode) {
  surface <- new_surface(inverse_evaluator(mode, cores = 1L), 1L, with_prior = FALSE)
  top <- climb(surface, mode$tops[[1]]$theta)
  terms <- prior_terms(mode$prior)
  p <- c(0.025, 0.975)
  heights <- vapply(seq_along(terms), function(j) {
    ends <- sort(unconstrained_quantile(mode$prior[[j]], log(p), log1p(-p)))
    from <- rbind(top$theta, mode$tops[[1]]$theta)
    vapply(ends, function(end) profile_at(surface, j, end, from)$density, 0)
  }, c(0, 0))
  matrix(told_apart(heights, max(top$density, heights)), 2, dimnames = list(NULL, terms))
}

side_notes <- function(bounded) {
  sides <- colSums(bounded)
  c(
    if (any(sides == 1)) {
      paste0("The data bound ", listing(names(sides)[sides == 1]), " on one side only.")
    },
    if (any(sides == 0)) {
      paste0("The data do not bound ", listing(names(sides)[sides == 0]), ": not identified, and the estimate comes ",
             "from the prior.")
    }
  )
}

model_recipes <- list(
  "BC-IL" = clone_recipe,
  "Subj. BC-IL" = subjective_clone_recipe,
  "Det. DM-IL" = distribution_recipe,
  "Stoc. DM-IL" = distribution_recipe,
  "Det. IRL" = margin_recipe,
  "Stoc. IRL" = noisy_recipe,
  "Subj. IRL" = subjective_recipe,
  "RS-IRL" = robust_recipe,
  "Det. PO-IRL" = sure_recipe,
  "Stoc. PO-IRL" = noisy_recipe,
  "Subj. PO-IRL" = subjective_recipe,
  "ME-IRL" = entropy_recipe,
  "Subj. ME-IRL" = subjective_entropy_recipe,
  "Inverse bounded rational control" = bounded_recipe
)
