# How each class of decision_models() is run: one recipe per row. A recipe takes a task (visits to infer from, the
# setting, the resolution of beliefs, a seed) and returns
#   plan          imitating behaviour
#   infers        what it infers, in words
#   n_parameters  how many numbers were fitted
#   estimates     a data frame with columns `term` and `estimate`
#   note          what a reader must know
# Prices and spreads of priors are counted in the range of the setting's utility, so that no answer depends on its unit.

# Normal priors of inferred utilities have this spread, where the temperature is one range of the utility.
utility_spread <- 3

# How much size counts beside a margin, per visit, in the same unit.
margin_penalty <- 1e-3

# Of climbs from different starts.
recipe_starts <- 4

recipe <- function(plan, infers, n_parameters, estimates, note = character()) {
  list(plan = plan, infers = infers, n_parameters = as.integer(n_parameters),
       estimates = estimates[c("term", "estimate")], note = paste(note, collapse = " "))
}

# Of an inferred object whose estimates are all that was fitted.
recipe_of <- function(inferred, infers, plan = inferred$plan, n_parameters = nrow(inferred$estimates),
                      note = inferred$notes) {
  recipe(plan, infers, n_parameters, inferred$estimates, note)
}

# ---- imitation ----------------------------------------------------------------------------------------------------

clone_recipe <- function(task) {
  setting <- task$setting
  if (!setting$fully_observed) return(rule_recipe(task, 0, NULL))
  inferred <- infer_matching(task$visits, setting, planner = "rule")
  seen <- sum(!is.na(inferred$estimates$estimate))
  # Probabilities of a state sum to 1.
  recipe_of(inferred, "what is done in each state", n_parameters = seen - seen / length(setting$actions))
}

# A rule on beliefs of somebody to whom part of what happens and of what is seen is chance.
subjective_clone_recipe <- function(task) {
  height <- function(chance) fit_logits(task, chance)$objective
  best <- best_share(height)
  rule_recipe(task, best$share, best$share)
}

rule_recipe <- function(task, chance, shown) {
  setting <- task$setting
  inferred <- fit_logits(task, chance)
  rule <- centres_of_logits(inferred$details$logits)
  plan <- plan_iohmm_rule(setting, rule$centres, rule$sharpness, task$resolution,
                          believed_models(setting, chance, TRUE))
  estimates <- inferred$estimates[c("term", "estimate")]
  if (!is.null(shown)) estimates <- rbind(data.frame(term = "chance", estimate = shown), estimates)
  recipe(plan, paste0("what is done at each belief", if (!is.null(shown)) ", and the share of chance believed in"),
         nrow(estimates), estimates, c(inferred$notes, if (!is.null(shown)) share_note(shown)))
}

# A regression of actions on beliefs by believed dynamics, with a weak prior, so that what was never done has a finite
# logit.
fit_logits <- function(task, chance) {
  infer_matching(task$visits, believed_setting(task$setting, chance, TRUE), planner = "rule", prior = utility_spread,
                 resolution = task$resolution)
}

# The same rule by centres: logits [state, action] are 2 k c - k |c|^2 of centres c and a sharpness k, up to a number
# that is the same for all actions in a state. With w = 2 k c that asks for w = logit + |w|^2 / (4 k): a square root,
# which there is if k is large.
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

distribution_recipe <- function(task) {
  inferred <- infer_distribution(task$visits, task$setting, "jensen_shannon", occupancies = demonstrated_by(task))
  n_actions <- length(task$setting$actions)
  recipe_of(inferred, "what is done in each state", n_parameters = nrow(inferred$estimates) * (1 - 1 / n_actions))
}

# Visits themselves, but where only first ones count and none of them tells.
demonstrated_by <- function(task) {
  if (anyNA(demonstrated(task$visits, task$setting)$occupancy)) "policy" else "visits"
}

# Among policies that always do the same in a state, the one whose visits are nearest: from the most frequent actions,
# changing one state at a time as long as that helps.
sure_distribution_recipe <- function(task) {
  setting <- task$setting
  shown <- demonstrated(task$visits, setting)
  markov <- as_markov(setting)
  shares <- demonstrated_shares(shown, markov, demonstrated_by(task))
  choice <- nearest_choice(max.col(shares$policy, "first"), shares)
  policy <- sure_policy(choice, markov$n_actions)
  estimates <- data.frame(term = paste0("action[", setting$states, "]"), estimate = choice)
  recipe(plan_rule(setting, policy), "what is always done in each state", markov$n_states, estimates,
         c(demonstration_notes(shown, setting), "Estimates are numbers of actions, in their order."))
}

sure_policy <- function(choice, n_actions) diag(n_actions)[choice, , drop = FALSE]

nearest_choice <- function(choice, shares) {
  markov <- shares$markov
  far <- function(choice) {
    sum(abs(markov_occupancy(markov, sure_policy(choice, markov$n_actions)) - shares$occupancy)) / 2
  }
  best <- far(choice)
  repeat {
    before <- best
    for (state in seq_along(choice)) {
      for (action in setdiff(seq_len(markov$n_actions), choice[state])) {
        other <- replace(choice, state, action)
        distance <- far(other)
        if (distance < best - 1e-12) {
          best <- distance
          choice <- other
        }
      }
    }
    if (best >= before) return(choice)
  }
}

# ---- wishes -------------------------------------------------------------------------------------------------------

margin_recipe <- function(task) {
  inferred <- infer_margin(task$visits, task$setting, over = "state_action")
  recipe_of(inferred, "what is wanted", plan = plan_mdp(inferred$plan$setting))
}

# The temperature is the unit, so that wishes are in it, too.
match_wishes <- function(task) {
  unit <- utility_unit(task$setting)
  infer_matching(task$visits, bare_setting(task$setting), "boltzmann", terms = "utility", alpha = unit,
                 prior = utility_spread * unit, resolution = task$resolution, starts = 1, seed = task$seed)
}

# What beliefs are worth by themselves is part of what is inferred.
bare_setting <- function(setting) {
  setting["belief_utility"] <- list(NULL)
  setting
}

noisy_recipe <- function(task) recipe_of(match_wishes(task), "what is wanted, under noisy choices")

# The same wishes without the noise: as the likelihood of a planner without noise says nothing as soon as one action is
# not the best.
sure_recipe <- function(task) {
  inferred <- match_wishes(task)
  plan <- plan_pomdp(inferred$plan$setting, task$resolution)
  recipe_of(inferred, "what is wanted", plan, note = c(inferred$notes, "Matched with noise, then acted on without."))
}

entropy_recipe <- function(task) {
  inferred <- infer_soft_margin(task$visits, task$setting, alpha = utility_unit(task$setting), penalty = margin_penalty)
  recipe_of(inferred, "what is wanted, by an agent that values variety",
            plan = plan_kl(inferred$plan$setting, inferred$details$alpha))
}

# ---- beliefs about the dynamics -----------------------------------------------------------------------------------

# Somebody to whom this share of what happens is chance: every outcome that is possible at all gets its part.
# `seeing`: also of what is seen, where a state seen for sure may be any.
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

# The same as a setting of its own.
believed_setting <- function(setting, chance, seeing = !setting$fully_observed) {
  models <- believed_models(setting, chance, seeing)
  if (is.null(models)) return(setting)
  model <- validate_ibrc_models(models, setting)$models[[1]]
  setting$transition <- model$transition
  setting$emission <- model$emission
  setting$fully_observed <- is_identity(model$emission)
  setting
}

# The best of shares from 0 to 1; 0 and 1 themselves are tried, too.
best_share <- function(height) {
  found <- stats::optimize(height, c(0, 1), maximum = TRUE, tol = 0.01)
  ends <- c(0, found$maximum, 1)
  heights <- c(height(0), found$objective, height(1))
  list(share = ends[which.max(heights)], height = max(heights))
}

share_note <- function(share) {
  if (share < 0.01) "Believes the dynamics as they are." else
    paste0("Acts as if ", percent_text(share), " of what happens were chance.")
}

# How noisy choices are, and what is believed of the dynamics; wishes are the setting's own. For each share of chance
# the likeliest noise.
subjective_recipe <- function(task) {
  setting <- task$setting
  evidence <- matching_evidence(task$visits, setting)
  at <- function(chance) {
    problem <- build_problem(setting, believed_models(setting, chance), task$resolution)
    best <- solve_hard(problem)
    best_price(utility_unit(setting), function(alpha) {
      evidence_log_lik(evidence, plan_with_values(problem, "boltzmann", alpha, best$action_value, best$value), setting)
    })
  }
  share <- best_share(function(chance) at(chance)$height)$share
  alpha <- at(share)$alpha
  estimates <- data.frame(term = c("alpha", "chance"), estimate = c(alpha, share))
  recipe(plan_boltzmann(setting, alpha, task$resolution, believed_models(setting, share)),
         "how noisy choices are, and the share of chance believed in", 2, estimates,
         c(share_note(share), "The wishes are the setting's.", evidence$notes))
}

# The likeliest price, between a thousandth of the utility's range and a thousand of them.
best_price <- function(unit, height) {
  found <- stats::optimize(function(power) height(unit * exp(power)), log(c(1e-3, 1e3)), maximum = TRUE, tol = 0.01)
  list(alpha = unit * exp(found$maximum), height = found$objective)
}

# Wishes and beliefs about the dynamics together: for each share of chance the likeliest wishes.
subjective_entropy_recipe <- function(task) {
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
  estimates <- rbind(data.frame(term = "chance", estimate = best$share), inferred$estimates[c("term", "estimate")])
  recipe(plan, "what is wanted, and the share of chance believed in", nrow(estimates), estimates,
         c(share_note(best$share), "Only a prior tells wishes from beliefs about the dynamics.", inferred$notes))
}

# How far a robust agent leans to dynamics that would hurt it: matched with noise, then acted on without.
robust_recipe <- function(task) {
  setting <- task$setting
  unit <- utility_unit(setting)
  evidence <- matching_evidence(task$visits, setting)
  problem <- build_problem(setting, neighbouring_models(setting), task$resolution)
  tolerance <- solve_tolerance(problem)
  wary <- function(alpha, aversion) {
    solve_problem(problem, bounded_agent(alpha = alpha, optimism = -aversion / unit), tolerance)
  }
  at <- function(aversion) {
    best_price(unit, function(alpha) evidence_log_lik(evidence, wary(alpha, aversion), setting))
  }
  aversion <- most_aversion * best_share(function(share) at(most_aversion * share)$height)$share
  estimates <- data.frame(term = c("alpha", "aversion"), estimate = c(at(aversion)$alpha, aversion))
  recipe(wary(0, aversion), "how far it leans to what would hurt", 2, estimates,
         c("Matched with noise, then acted on without. The wishes are the setting's.", evidence$notes))
}

# Minus optimism, in units of one over the utility's range: beyond this it is the worst case, all but exactly.
most_aversion <- 20

# Dynamics that differ from the setting's by ten percentage points; of one that leaves nothing to chance, its own.
neighbouring_models <- function(setting) {
  vary <- if (setting$fully_observed) "transition" else "emission"
  tryCatch(perturb_models(setting, by = 0.1, vary = vary), ibrc_error_input = function(e) NULL)
}

bounded_recipe <- function(task) {
  setting <- task$setting
  models <- neighbouring_models(setting)
  inferred <- infer_matching(task$visits, setting, "agent", prior = default_prior(setting), models = models,
                             resolution = task$resolution, starts = recipe_starts, seed = task$seed,
                             control = ibrc_control(tolerance = 1e-9 * utility_unit(setting)))
  recipe_of(inferred, "how bounded the agent looks",
            note = c("The wishes are the setting's.",
                     if (is.null(models)) "Nothing is left to chance, so that optimism has no say.", inferred$notes))
}

model_recipes <- list(
  "BC-IL" = clone_recipe,
  "Subj. BC-IL" = subjective_clone_recipe,
  "Det. DM-IL" = sure_distribution_recipe,
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
