# Projections: an inverse planner reads behaviour, a planner acts on what it inferred. Which goes with which is in a
# table of words, so that a pair that does not is refused with the reason.

# What a planner has to be told beside the setting, and whether it is for settings in which the state is seen.
planner_needs <- data.frame(
  planner = c("rule", "q_learning", "soft_q_learning", "mdp", "differentiable", "kl", "iohmm_rule",
              "history_q_learning", "pomdp", "belief_aware", "agent", "boltzmann", "custom"),
  needs = c("policy", "utility", "utility", "utility", "utility", "utility", "centres", "utility", "utility", "utility",
            "utility", "utility", "any"),
  seen = c(FALSE, TRUE, TRUE, TRUE, TRUE, TRUE, FALSE, FALSE, FALSE, FALSE, FALSE, FALSE, FALSE)
)

# What an inverse planner infers; whether it says how freely choices stray from the best; whether the state has to be
# seen.
inverse_gives <- data.frame(
  inverse = c("perturbation", "margin", "soft_margin", "experiments", "scores", "soft_policies", "preferences",
              "matching", "distribution", "custom"),
  gives = c("utility", "utility", "utility", "utility", "utility", "utility", "utility", "utility", "policy", "any"),
  soft = c(FALSE, FALSE, TRUE, FALSE, FALSE, TRUE, FALSE, TRUE, TRUE, TRUE),
  seen = c(TRUE, TRUE, TRUE, TRUE, TRUE, TRUE, TRUE, FALSE, TRUE, FALSE)
)

given_words <- c(utility = "what is wanted (a utility)", policy = "what is done (a policy)",
                 centres = "where among beliefs each action is at home (its centres)")
