# Fits with learned dynamics that are not held fixed (ibrc() with `dynamics`).

# How many steps a run with many terms needs to learn what to propose, unless the user says how many there are to be.
joint_warmup <- 4000L

# One posterior of dynamics and agents: a job, and chains that stand at its beginning. `found`: the run whose unfinished
# checkpoint is there. That of another run is refused before the climb, when the starts of chains are not known yet.
new_joint_run <- function(inverse, iohmm, run, control, seed, likelihood, found) {
  if (control$sampler != "adaptive") {
    abort_input("sampler", "must be \"adaptive\" with uncertainty = \"joint\": the paper's walk would not move there.")
  }
  if (!is.null(control$start)) {
    abort_input("start", "cannot be given with uncertainty = \"joint\": chains begin about the top of the posterior.")
  }
  run$seed <- settle_seed(seed)
  evaluator <- joint_evaluator(inverse, dynamics_tree(iohmm), run$chains, run$cores, likelihood)
  job <- list(inverse = inverse, evaluator = evaluator, run = run, sampler = control$sampler,
              keep_data = control$keep_data)
  if (!is.null(found)) refuse_other_run(found, job_fingerprint(job_to_plain(job)), but = "start")
  tryCatch(begin_jointly(job), interrupt = function(condition) {
    abort("interrupted", "The run was interrupted before its first step, while it climbed to the top of the ",
          "posterior: there are no draws to return.")
  })
}

begin_jointly <- function(job) {
  run <- job$run
  evaluator <- job$evaluator
  n_groups <- evaluator$joint$n_groups
  streams <- streams_from_seed(run$seed, run$chains + n_groups + 1)
  say <- function(density) if (run$refresh > 0) tell(message("climbing: log posterior ", round(density, 1)))
  top <- joint_top(evaluator, job$inverse, streams[run$chains + 1 + seq_len(n_groups)], say)
  first <- joint_start(evaluator, top, run$chains, streams[[run$chains + 1]])
  job$run$start <- prior_natural(evaluator$prior, first$theta)
  state <- walk_start(first$theta, function(theta) first$log_density, streams[seq_len(run$chains)], top$theta,
                      top$covariance, run$warmup, run$iter, run$thin)
  list(job = job, chain = list(state = state, value = first$value))
}

# Chains of dynamics and agents together, as draws per group and draws of the laws.
new_joint_fit <- function(chain, job) {
  # An interrupt in warm-up leaves no draws; the message is the same as for any fit.
  if (n_draws_kept(chain$state) < 2) return(new_ibrc_fit(chain, job, chain$state))
  joint <- job$evaluator$joint
  state <- walk_flush(chain$state)
  n_laws <- length(joint$codec$prior)
  size <- dim(state$draws)
  agents <- array(0, c(size[1], size[2] * joint$n_groups, length(job$inverse$prior)))
  for (g in seq_len(joint$n_groups)) {
    own <- n_laws + (g - 1) * dim(agents)[3] + seq_len(dim(agents)[3])
    agents[, (g - 1) * size[2] + seq_len(size[2]), ] <- state$draws[, , own, drop = FALSE]
  }
  laws <- stats::plogis(state$draws[, , seq_len(n_laws), drop = FALSE])
  state$draws <- agents
  state$log_density_draws <- state$log_density_draws[, rep(seq_len(size[2]), joint$n_groups), drop = FALSE]
  state$n_accepted <- rep(state$n_accepted, joint$n_groups)
  agent <- job$evaluator$agent
  agent$group <- rep(seq_len(joint$n_groups), each = size[2])
  agent$likelihood <- job$evaluator$likelihood
  with_law_draws(new_ibrc_fit(chain, replace(job, "evaluator", list(agent)), state), laws, joint)
}

# A fit with the draws of its laws, as fractions [iteration, chain, term]; `joint`: of an evaluator.
with_law_draws <- function(fit, laws, joint) {
  dimnames(laws) <- list(NULL, NULL, names(joint$codec$prior))
  fit$dynamics <- list(uncertainty = "joint", draws = laws)
  fit$recipe$at <- apply(laws, 3, stats::median)
  fit$recipe$vectors <- vectors_of(fit$recipe$codec, matrix(fit$recipe$at, 1))
  # For extend_fit(): the visits behind the dynamics, coded.
  fit$dynamics$tree <- joint$tree
  fit$dynamics$swapped <- swapped_draws(fit)
  fit
}

warn_swapped <- function(fit) {
  swapped <- fit$dynamics$swapped
  if (isTRUE(swapped > 0)) {
    warn("states", "In ", format(100 * swapped, digits = 2), "% of the draws the states stand in another order by ",
         "what they show", if (!is.null(fit$recipe$codec$iohmm$scores)) " (`sort_by` of fit_iohmm())",
         ": they may have changed their meaning during the run. Do not use levels of states from this fit.")
  }
}

# What `dynamics` must be, and what goes with it.
check_dynamics <- function(dynamics, setting) {
  check_class(dynamics, "ibrc_iohmm", "dynamics", "fit_iohmm()")
  refuse_changed_iohmm(dynamics, "dynamics")
  if (inherits(setting, "ibrc_setting")) {
    for (part in c("states", "actions", "observations")) refuse_other_words(dynamics, setting, part)
    warn_other_states(dynamics, setting)
  }
  if (is_group_list(setting)) {
    abort_input("setting", "cannot be a list, one per group, together with `dynamics`: groups share what was learned.")
  }
}

# A setting that waits for learned dynamics, none of which came. `known`: the quantities that are inferred or held.
need_learned <- function(setting, known) {
  if (!is.function(setting) || is.primitive(setting)) return(invisible())
  wanted <- formals(setting)["dynamics"]
  if (is.null(wanted[[1]]) || nzchar(deparse1(wanted[[1]])) || "dynamics" %in% known) return(invisible())
  abort_input("dynamics", "must be given, because `setting` is a function of it: dynamics = fit_iohmm(visits, ...).")
}

refuse_other_words <- function(dynamics, setting, part) {
  if (identical(setting[[part]], dynamics[[part]])) return(invisible())
  abort_input("dynamics", "must have the ", part, " of the setting, in the same order: it has ",
              enumerate(dynamics[[part]], most = 10), ", and the setting has ",
              enumerate(setting[[part]], most = 10), ". ",
              if (part == "states") {
                paste("Learn it with `names` in the setting's order and with `sort_by`. Without `sort_by`, names are",
                      "given by how many visits a state has and not by what it shows (?fit_iohmm).")
              } else {
                paste0("Learn it with `", part, "` in that order (?fit_iohmm).")
              })
}

# How much better, as a probability per state, another order must fit before it is reported, and which share of the
# distance it may leave.
plain_gain <- 0.1
plain_share <- 2 / 3

# The names may agree and yet stand for other states. The laws of a setting that was stated are compared with those that
# were learned: what each state shows, and how long it lasts.
warn_other_states <- function(dynamics, setting) {
  if (!identical(dim(setting$emission), dim(dynamics$emission)) ||
      !identical(dim(setting$transition), dim(dynamics$transition))) {
    return(invisible())
  }
  apart <- state_distances(dynamics, setting)
  order <- best_matching(-apart)
  own <- mean(diag(apart))
  best <- mean(apart[cbind(seq_along(order), order)])
  if (own - best < plain_gain || best > plain_share * own) return(invisible())
  moved <- which(order != seq_along(order))[1]
  warn("states", "The states of `dynamics` look like those of `setting` in another order: what it calls ",
       enumerate(dynamics$states[order[moved]]), " shows what ", enumerate(setting$states[moved]),
       " does in the setting. Utilities would go to the wrong states: learn the dynamics with `sort_by`, which orders ",
       "states by what they show before they get their `names` (?fit_iohmm).")
}

# [state of the setting, learned state]: distances of emissions and of the probability to stay, where actions count as
# often as they were taken.
state_distances <- function(dynamics, setting) {
  taken <- apply(dynamics$counts$transition, 3, sum)
  taken <- taken / sum(taken)
  n <- length(dynamics$states)
  distance <- function(stated, learned) {
    shown <- colSums(abs(matrix(setting$emission[stated, , ] - dynamics$emission[learned, , ], ncol = length(taken))))
    stays <- abs(setting$transition[stated, stated, ] - dynamics$transition[learned, learned, ])
    sum(taken * (shown / 2 + stays)) / 2
  }
  outer(seq_len(n), seq_len(n), Vectorize(distance))
}

# Models of one set of laws would not follow laws that differ between draws.
refuse_fixed_models <- function(models) {
  if (is.null(models) || is.function(models)) return(invisible())
  abort_input("models", "must be a function of the setting if `dynamics` is given, such as function(setting) ",
              "perturb_models(setting): models that were made beforehand do not follow the laws that are inferred. ",
              "Or hold the dynamics, with uncertainty = \"none\".")
}

# A function may return the same models, whatever the laws are.
refuse_still_models <- function(recipe) {
  if (recipe$follows) return(invisible())
  abort_input("models", "must depend on the setting if `dynamics` is given, as function(setting) ",
              "perturb_models(setting) does. It returns the same models under other laws, so actions would say ",
              "nothing about the laws that are inferred. Or hold the dynamics, with uncertainty = \"none\".")
}

# Laws are told apart by their names, in which commas separate groups, states, observations and actions. Terms of the
# sampler have the same names, or these with "|rest" at the end.
refuse_same_names <- function(dynamics) {
  names <- entry_names(dynamics)
  twice <- anyDuplicated(c(names, sub("]$", "|rest]", names)))
  if (!twice) return(invisible())
  abort_input("dynamics", "has two laws that would both be called ", enumerate(rep(names, 2)[twice]), ": choose names ",
              "of states, groups, observations and actions without commas or \"|rest\" (`names` of fit_iohmm()).")
}

# ---- draws of the dynamics without the actions -----------------------------------------------------------------------

# The fits of all draws as one: chains of one draw stand next to each other.
pool_cut <- function(fit, cut) {
  whole <- cut$whole
  groups <- levels(whole$group)
  n_draws <- nrow(cut$laws)
  n_chains <- fit$run$chains
  draws <- lapply(seq_along(groups), function(g) {
    parts <- fit$draws[g + length(groups) * (seq_len(n_draws) - 1L)]
    size <- dim(parts[[1]])
    joined <- array(unlist(lapply(parts, aperm, c(1, 3, 2)), use.names = FALSE), c(size[c(1, 3)], n_chains * n_draws))
    joined <- aperm(joined, c(1, 3, 2))
    dimnames(joined) <- list(NULL, NULL, dimnames(parts[[1]])[[3]])
    joined
  })
  fit$draws <- stats::setNames(draws, groups)
  acceptance <- matrix(fit$acceptance, length(groups))
  fit$acceptance <- stats::setNames(rowMeans(acceptance), groups)
  fit[c("problem", "recipe", "histories")] <- whole[c("problem", "recipe", "histories")]
  fit["problems"] <- list(NULL)
  fit$group_sizes <- c(table(whole$group))
  fit$n_visits <- visit_counts(whole$histories)
  fit$n_scored <- scored_counts(whole$histories)
  fit$visit_actions <- whole$actions
  fit$trajectory_group <- as.integer(whole$group)
  with_cut_laws(fit, cut, n_chains)
}

# A fit of chains of one draw after the other, `n_chains` each, with the draws of its laws.
with_cut_laws <- function(fit, cut, n_chains) {
  n_draws <- nrow(cut$laws)
  n_kept <- dim(fit$draws[[1]])[1]
  laws <- array(rep(cut$laws[rep(seq_len(n_draws), each = n_chains), ], each = n_kept),
                c(n_kept, n_chains * n_draws, ncol(cut$laws)), list(NULL, NULL, names(fit$recipe$codec$prior)))
  fit$run$chains <- n_chains * n_draws
  # There is no way to go on with the chains of several fits.
  fit["chain"] <- list(NULL)
  fit$dynamics <- list(uncertainty = "cut", draws = laws, chains_per_draw = n_chains, effective = cut$effective,
                       swapped = NA_real_)
  fit$recipe$at <- apply(cut$laws, 2, stats::median)
  fit$recipe$vectors <- vectors_of(fit$recipe$codec, matrix(fit$recipe$at, 1))
  fit$dynamics$swapped <- swapped_draws(fit)
  fit
}
