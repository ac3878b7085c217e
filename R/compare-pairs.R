# Which planner goes with which inverse planner, and how a pair is run. Two tables of words say what each needs and
# gives, so that a pair that does not go together is refused with the reason.

# What a planner has to be told besides the setting; whether the state has to be seen; which of its arguments says how
# freely choices depart from the best.
planner_needs <- local({
  row <- function(planner, needs, seen, price = "") data.frame(planner, needs, seen, price)
  rbind(
    row("rule", "policy", FALSE),
    row("q_learning", "utility", TRUE),
    row("soft_q_learning", "utility", TRUE, "alpha"),
    row("mdp", "utility", TRUE),
    row("differentiable", "utility", TRUE, "alpha"),
    row("kl", "utility", TRUE, "alpha"),
    row("iohmm_rule", "centres", FALSE),
    row("history_q_learning", "utility", FALSE),
    row("pomdp", "utility", FALSE),
    row("belief_aware", "utility", FALSE),
    row("agent", "utility", FALSE, "agent"),
    row("boltzmann", "utility", FALSE, "temperature"),
    row("custom", "utility", FALSE),
    # A function(setting, theta) that the user wrote.
    row("own", "any", FALSE)
  )
})

# What an inverse planner infers, whether the state has to be seen, and what has to be given to it.
inverse_gives <- local({
  row <- function(inverse, gives, seen, helper = "") data.frame(inverse, gives, seen, helper)
  rbind(
    row("perturbation", "utility", TRUE),
    row("margin", "utility", TRUE),
    row("soft_margin", "utility", TRUE),
    row("experiments", "utility", TRUE, "several settings"),
    row("scores", "utility", FALSE, "scores"),
    row("soft_policies", "utility", TRUE, "several batches of visits"),
    row("preferences", "utility", FALSE, "preferences"),
    row("matching", "planner", FALSE),
    row("distribution", "policy", TRUE),
    row("custom", "any", FALSE),
    row("ibrc_mode", "planner", FALSE)
  )
})

given_words <- c(utility = "what is wanted (a utility)", policy = "what is done (a policy)",
                 centres = "where among beliefs each action is at home (its centres)", any = "parameters of its own",
                 planner = "what its planner needs")

# What is matched in place of planners that infer_matching() does not know: one with the same wishes and the same kind
# of noise.
matched_as <- c(kl = "kl", soft_q_learning = "kl", differentiable = "kl", mdp = "mdp", q_learning = "mdp",
                pomdp = "pomdp", history_q_learning = "pomdp", belief_aware = "boltzmann", boltzmann = "boltzmann",
                rule = "rule", iohmm_rule = "iohmm_rule", agent = "agent")

# For these the answer of infer_matching() contains the plan itself.
matched_itself <- c("kl", "boltzmann", "rule", "iohmm_rule", "agent")

# ---- which goes with which ----------------------------------------------------------------------------------------

# Keys of both, their functions and their relation; an error says why they do not go together.
check_pair <- function(planner, inverse) {
  plan <- read_planner(planner)
  infer <- read_inverse_planner(inverse)
  needs <- planner_needs[match(plan$key, planner_needs$planner), ]
  gives <- inverse_gives[match(infer$key, inverse_gives$inverse), ]
  reason <- pair_reason(needs, gives)
  if (!is.null(reason)) abort_input("inverse", reason, topic = "project_behavior")
  list(planner = plan$key, inverse = infer$key, plan_with = plan$f, infer_with = infer$f, needs = needs, gives = gives)
}

# NULL, or the reason why the two do not go together.
pair_reason <- function(needs, gives) {
  told <- function(what) given_words[[what]]
  who <- function(kind, key) if (key == "own") "a planner of your own" else paste0(kind, "_", key, "()")
  inverse <- if (gives$inverse == "ibrc_mode") "ibrc_mode()" else who("infer", gives$inverse)
  planner <- who("plan", needs$planner)
  if (gives$gives %in% c("planner", "any")) {
    if (gives$inverse == "ibrc_mode" && needs$planner != "agent") {
      return(paste0("is ibrc_mode(), which infers the prices of a bounded agent: its planner is plan_agent(), not ",
                    planner, "."))
    }
    if (gives$inverse == "matching" && needs$planner == "custom") {
      return(paste0("is infer_matching(), which needs a planner that is quick and smooth: give a function(setting, ",
                    "theta) of your own, not plan_custom()."))
    }
    if (gives$inverse == "custom" && !needs$planner %in% c(known_to_custom, "own")) {
      return(paste0("is infer_custom(), which has no parameters of ", planner, " to look for: give a ",
                    "function(setting, theta) of your own that calls it, or one of ", enumerate(known_to_custom), "."))
    }
    return(NULL)
  }
  if (needs$planner == "own") {
    return(paste0("is ", inverse, ", which does not ask what ", planner, " takes: only infer_matching() and ",
                  "infer_custom() do."))
  }
  if (needs$needs == gives$gives || needs$needs == "any") return(NULL)
  paste0("is ", inverse, ", which infers ", told(gives$gives), ", and ", planner, " has to be told ",
         told(needs$needs), ".")
}

# By key, by the name of its function, or the function itself. Any other function is the user's own planner.
read_planner <- function(planner, argument = "planner") {
  keys <- planner_needs$planner[planner_needs$planner != "own"]
  found <- find_function(planner, keys, "plan_", argument)
  if (is.null(found)) list(key = "own", f = planner) else found
}

read_inverse_planner <- function(inverse, argument = "inverse") {
  keys <- inverse_gives$inverse
  if (identical(inverse, "ibrc_mode") || is.function(inverse) && identical(inverse, ibrc_mode)) {
    return(list(key = "ibrc_mode", f = ibrc_mode))
  }
  found <- find_function(inverse, setdiff(keys, "ibrc_mode"), "infer_", argument)
  if (is.null(found)) {
    abort_input(argument, "must be an inverse planner, see inverse_planners(); for one of your own there is ",
                "infer_custom().", topic = "inverse_planners")
  }
  found
}

find_function <- function(x, keys, prefix, argument) {
  ours <- function(key) get(paste0(prefix, key), topenv())
  if (is.character(x) && length(x) == 1 && !is.na(x)) {
    key <- sub(paste0("^", prefix), "", x)
    if (key %in% keys) return(list(key = key, f = ours(key)))
  }
  if (!is.function(x)) {
    abort_input(argument, "must be a function such as ", prefix, keys[1], ", or one of ", enumerate(keys, most = Inf),
                ", not ", describe(x), ".")
  }
  for (key in keys) if (identical(x, ours(key))) return(list(key = key, f = x))
  NULL
}

# ---- running a pair -----------------------------------------------------------------------------------------------

# `given`: further arguments, by name. Returns the plan, what was inferred, and how many numbers were free to follow the
# visits.
project_pair <- function(planner, inverse, visits, setting, given = list(), seed = NULL) {
  pair <- check_pair(planner, inverse)
  refuse_hidden(pair, setting)
  refuse_missing_helper(pair, visits, given)
  sure <- is_sure_asked(given, pair)
  given$deterministic <- NULL
  given <- split_given(given, pair)
  refuse_overriding(given, pair)
  setting <- with_belief_worth(setting, given$planner$belief_utility, pair)
  inferred <- infer_for(pair, visits, setting, given$inverse, seed)
  if (sure) inferred <- nearest_sure(inferred, visits, setting)
  plan <- plan_for(pair, inferred, setting, given$planner, seed)
  list(plan = plan, inferred = inferred, n_free = n_free(inferred, plan, setting))
}

refuse_hidden <- function(pair, setting) {
  if (setting$fully_observed) return(invisible())
  if (isTRUE(pair$needs$seen)) {
    abort_input("setting", "hides the state, and plan_", pair$planner, "() has to see it.")
  }
  if (isTRUE(pair$gives$seen)) {
    abort_input("setting", "hides the state, and infer_", pair$inverse, "() asks what is done in which state.")
  }
}

refuse_missing_helper <- function(pair, visits, given) {
  several <- is.list(visits) && !is.object(visits)
  if (pair$inverse == "experiments") {
    abort_input("inverse", "is infer_experiments(), which has several settings: call it, and then project_behavior() ",
                "of its answer, which gives one plan per setting.")
  }
  if (several != (pair$inverse == "soft_policies")) {
    if (several) abort_input("visits", "must be trajectories, not a list.")
    abort_input("visits", "must be a list of trajectories for infer_soft_policies(), one per batch, in order.")
  }
  helper <- pair$gives$helper
  if (helper %in% c("scores", "preferences") && !helper %in% names(given)) {
    abort_input(helper, "must be given: infer_", pair$inverse, "() needs it.")
  }
}

# Which function takes which of the arguments.
split_given <- function(given, pair) {
  if (!length(given)) return(list(planner = list(), inverse = list()))
  named <- names(given)
  if (is.null(named) || any(!nzchar(named))) abort_input("...", "must be named arguments of the two functions.")
  takes <- function(f, but) setdiff(names(formals(f)), c(but, "..."))
  # The plan of an agent that was matched is the one that was inferred, computed as it was there.
  more <- pair$inverse %in% c("matching", "ibrc_mode") && pair$planner == "agent"
  of_planner <- if (pair$planner == "own" || more) character() else takes(pair$plan_with, "setting")
  of_inverse <- takes(pair$infer_with, c("visits", "setting", if (pair$planner != "own") "planner"))
  unknown <- setdiff(named, c(of_planner, of_inverse))
  if (length(unknown) && !more) {
    abort_input("...", "has ", enumerate(unknown), ", which neither of the two functions takes; they take ",
                enumerate(unique(c(of_inverse, of_planner)), most = Inf), ".")
  }
  list(planner = given[named %in% of_planner], inverse = given[named %in% c(of_inverse, if (more) unknown)])
}

# What is wanted of beliefs is wanted while the rest is inferred, too.
with_belief_worth <- function(setting, worth, pair) {
  if (is.null(worth) || pair$inverse != "matching") return(setting)
  setting$belief_utility <- worth
  validate_ibrc_setting(setting)
}

infer_for <- function(pair, visits, setting, given, seed) {
  asked <- list(visits, setting)
  takes <- names(formals(pair$infer_with))
  if ("seed" %in% takes && is.null(given$seed)) given$seed <- seed
  if (pair$inverse == "matching") {
    given$planner <- if (pair$planner == "own") pair$plan_with else matched_as[[pair$planner]]
    wishes <- pair$needs$needs == "utility" && pair$planner != "agent"
    named <- length(intersect(names(given), c("terms", "features", "start"))) || inherits(given$prior, "ibrc_prior")
    if (wishes && !named) given$terms <- "utility"
    if (wishes && is.null(given$alpha)) given$alpha <- utility_unit(setting)
  }
  if (pair$inverse == "custom") given$planner <- if (pair$planner == "own") pair$plan_with else pair$planner
  if (pair$inverse == "ibrc_mode") {
    given$planner <- "agent"
    # Its own default, where infer_matching() would have none.
    if (is.null(given$prior) && !identical(given$estimate, "mle")) given$prior <- default_prior(setting)
    return(do.call(infer_matching, c(asked, given), quote = TRUE))
  }
  do.call(pair$infer_with, c(asked, given), quote = TRUE)
}

# ---- an inferred value must not be overridden ----------------------------------------------------------------------

# Arguments of a planner that hold what is inferred, by what it needs.
inferred_arguments <- list(policy = "rule", centres = c("centres", "sharpness"), utility = character(),
                           any = character())

# An argument that would replace what was inferred, or that only one of the two functions uses, is refused before
# anything is run.
refuse_overriding <- function(given, pair) {
  asked <- unique(c(names(given$planner), names(given$inverse)))
  refuse <- function(bad, ...) {
    bad <- intersect(asked, bad)
    if (length(bad)) abort_input(bad[1], ..., topic = "project_behavior")
  }
  planner <- paste0("plan_", pair$planner, "()")
  refuse(inferred_arguments[[pair$needs$needs]], "is inferred here, and cannot be given as well: to act on ",
         "one of your own, call ", planner, ".")
  if (pair$inverse == "custom") {
    refuse(setdiff(names(given$planner), names(given$inverse)), "is an argument of ", planner, ", which ",
           "infer_custom() calls itself: give it a function(setting, theta) in which it is set.")
  }
  if (pair$inverse %in% c("soft_margin", "soft_policies")) {
    refuse("action_prior", "has no place in this pair: infer_", pair$inverse, "() takes all actions for equally ",
           "likely without deliberating. infer_matching() takes an `action_prior`.")
  }
  if (!pair$inverse %in% c("matching", "ibrc_mode")) return(invisible())
  refuse("temperature", "is held at `alpha` while the rest is inferred, or inferred itself: give `alpha` instead.")
  refuse("agent", "is inferred here, and cannot be given as well: hold some of it by `fixed`, or call ",
         "plan_agent().")
  if (pair$planner == "agent") {
    refuse(c("max_backups", "max_bytes"), "has no place in this pair: the plan is the one that was inferred, computed ",
           "as it was there.")
  }
  if (pair$planner == "agent" || "alpha" %in% asked_names(given$inverse)) {
    refuse("alpha", "is inferred here, and cannot be given as well: leave it out, or leave it out of what is inferred",
           if (pair$planner == "agent") " (`fixed`)", ".")
  }
  if (pair$planner == "own") return(invisible())
  if (pair$planner %in% c("rule", "iohmm_rule")) {
    refuse(c("alpha", "models"), "has no place in this pair: infer_matching() matches a rule under the setting's own ",
           "dynamics, and nothing in a rule has a price.")
  }
  refuse(setdiff(c("action_prior", "models"), names(formals(pair$plan_with))), "has no place in this pair: ", planner,
         " does not take it. What is inferred with it would be acted on without it.")
}

# What infer_matching() is asked to infer, as far as it is named.
asked_names <- function(given) {
  c(if (is.character(given$terms)) given$terms, names(given$start),
    if (inherits(given$prior, "ibrc_prior")) names(given$prior))
}

# For planners that infer_matching() knows, its answer contains the plan itself, whatever was given to both. It is
# planned anew only for arguments that only the planner takes.
plan_for <- function(pair, inferred, setting, given, seed) {
  own <- inferred$plan
  if (pair$planner == "own" || pair$inverse == "custom") return(own)
  alone <- setdiff(names(given), names(formals(infer_matching)))
  if (pair$inverse %in% c("matching", "ibrc_mode") && pair$planner %in% matched_itself && !length(alone)) return(own)
  takes <- names(formals(pair$plan_with))
  if ("seed" %in% takes && is.null(given$seed)) given$seed <- seed
  if (pair$needs$needs == "policy") {
    given$rule <- plan_policy(own, setting, "visits")
    return(do.call(pair$plan_with, c(list(setting), given), quote = TRUE))
  }
  # Planners that always do the best have no price, but this one may.
  found <- coef(inferred)
  if (pair$planner == "history_q_learning" && "alpha" %in% names(found)) given$alpha <- found[["alpha"]]
  given <- with_price(given, pair, own)
  do.call(pair$plan_with, c(list(own$setting), given), quote = TRUE)
}

# The price at which it was inferred goes on to the planner; for an agent that was matched, the whole agent does.
with_price <- function(given, pair, own) {
  name <- pair$needs$price
  matched <- pair$inverse %in% c("matching", "ibrc_mode")
  if (!nzchar(name) || !matched && !is.null(given[[name]])) return(given)
  if (name == "agent") {
    given$agent <- if (matched) own$agent else bounded_agent(alpha = own$problem$alpha)
    return(given)
  }
  price <- own$problem$alpha
  if (!is.finite(price) || price <= 0) {
    abort_input(name, "must be given: infer_", pair$inverse, "() says which action is best, not how freely plan_",
                pair$planner, "() departs from it.")
  }
  given[[name]] <- price
  given
}

# ---- policies without chance --------------------------------------------------------------------------------------

# Whether distribution matching looks among policies that always do the same in a state.
is_sure_asked <- function(given, pair) {
  if (!"deterministic" %in% names(given)) return(FALSE)
  asked <- check_flag(given$deterministic, "deterministic")
  if (!asked) return(FALSE)
  if (pair$planner != "rule" || pair$inverse != "distribution") {
    abort_input("deterministic", "is for the pair of plan_rule() and infer_distribution(). In other pairs the planner ",
                "says how freely choices depart from the best.", topic = "project_behavior")
  }
  for (name in c("divergence", "entropy")) {
    if (name %in% names(given) && !identical(given[[name]], "total_variation")) {
      abort_input(name, "has no place beside `deterministic`: the nearest policy is sought by total variation.")
    }
  }
  TRUE
}

# Among policies that always do the same in a state, the one whose discounted visits are nearest to those demonstrated,
# in total variation. It begins with the actions most often taken and changes one state at a time as long as that helps.
nearest_sure <- function(inferred, visits, setting) {
  shown <- demonstrated(visits, setting)
  shares <- demonstrated_shares(shown, as_markov(setting), inferred$details$occupancies)
  n_actions <- shares$markov$n_actions
  choice <- nearest_choice(max.col(shares$policy, "first"), shares)
  policy <- sure_policy(choice, n_actions)
  occupancy <- markov_occupancy(shares$markov, policy)
  inferred$plan <- plan_rule(setting, policy)
  inferred$estimates$estimate <- as.vector(policy)
  inferred$estimates$occupancy <- as.vector(occupancy)
  inferred$objective <- sum(abs(occupancy - shares$occupancy)) / 2
  inferred$details$kind <- "total_variation"
  inferred$details$deterministic <- TRUE
  inferred$details$glance <- list(divergence = inferred$objective, gap = NA_real_, flow = 0)
  inferred$notes <- c(share_notes(shown, shares, setting),
                      "It always does the same in a state, and a change in any one state brings it no nearer.")
  inferred
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

# ---- how much of it is free, and how much of it is known ----------------------------------------------------------

# How many of the inferred numbers can have followed the scatter of actions. The probabilities of a state sum to 1,
# utilities count up to a function of the state, and a law without chance follows none of the scatter.
n_free <- function(inferred, plan, setting) {
  estimates <- inferred$estimates
  known <- sum(!is.na(estimates$estimate))
  whole <- length(setting$states) * (length(setting$actions) - 1)
  if (isTRUE(inferred$details$deterministic) || is_hard(plan)) return(0L)
  if (all(startsWith(estimates$term, "policy["))) known <- known * (1 - 1 / length(setting$actions))
  # Only a law by state is counted by state: it can follow no more than that.
  as.integer(if (setting$fully_observed) min(known, whole) else known)
}

is_hard <- function(plan) {
  isTRUE(plan$planner %in% c("mdp", "q_learning", "pomdp", "belief_aware")) ||
    inherits(plan, "ibrc_history_plan") && plan$parameters$alpha == 0
}

# Whether the data settle each estimate; NA where nobody has looked. They never settle the entries of a utility by
# themselves: any function of the state may be added if its discounted expectation at the next visit is subtracted.
identified_terms <- function(inferred) {
  estimates <- inferred$estimates
  out <- rep(NA, nrow(estimates))
  if (!is.null(estimates$std.error)) out <- is.finite(estimates$std.error)
  out[startsWith(estimates$term, "policy[")] <- TRUE
  out[startsWith(estimates$term, "utility[")] <- FALSE
  out[is.na(estimates$estimate)] <- FALSE
  out
}
