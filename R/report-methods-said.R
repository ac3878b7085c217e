# The sentences of a methods text (methods_text()), one function per item of the checklist; NULL where an item was not
# done.

# How a reference is called in the text; report-methods.R has it in full.
cited <- c(
  idm = "Jarrett et al. 2021", mh = "Hastings 1970", am = "Haario et al. 2001", smc = "Del Moral et al. 2006",
  imis = "Raftery and Bao 2010", rhat = "Vehtari et al. 2021", lkj = "Lewandowski et al. 2009",
  iohmm = "Bengio and Frasconi 1995", cut = "Plummer 2015"
)

# One text per item, NA where it was not done.
# `counts`: those of a report (report_counts()), which may have to hide more than a fit does by itself.
methods_said <- function(fit, sensitivity, contrasts, iohmm, suppress, counts = NULL) {
  check_class(fit, "ibrc_fit", "fit", "ibrc()")
  refuse_several(fit, "fit", "a methods paragraph")
  check_sensitivity(sensitivity)
  if (!is.null(contrasts)) check_class(contrasts, "ibrc_comparison", "contrasts", "compare_groups()")
  if (!is.null(iohmm)) iohmm <- check_report_iohmm(iohmm, fit)
  suppress <- check_suppress(suppress)
  fit$standing <- rows <- standing_verdict(fit)
  said <- list(
    verdict = verdict_said(rows), data = data_said(fit, suppress, counts), model = model_said(fit),
    standard = standard_said(fit), discount = discount_said(fit), models = models_said(fit), habit = habit_said(fit),
    effects = effects_said(fit), priors = priors_said(fit), dynamics = dynamics_said(fit, iohmm),
    resolution = resolution_said(fit), sampler = sampler_said(fit), chains = chains_said(fit),
    checks = if (fit$likelihood) checks_said(rows), sensitivity = sensitivity_said(sensitivity),
    contrasts = contrasts_said(fit, contrasts), software = software_said(fit)
  )
  vapply(said, function(text) if (length(text)) page_text(paste(text, collapse = " ")) else NA_character_, "")
}

verdict_said <- function(rows) {
  said <- paste0(verdict_headline(rows), ".")
  if (worst_of(rows$verdict) == "do not use") paste("Do not use these numbers.", said) else said
}

data_said <- function(fit, suppress, counts) {
  if (is.null(counts)) {
    counts <- list(trajectories = attr(group_counts(fit, suppress), "total"),
                   visits = paste0(visits_words(sum(fit$n_visits), suppress), unscored_words(fit, suppress)))
  } else {
    counts$visits <- paste(counts$visits, "visits")
  }
  if (!fit$likelihood) return("These are draws from the prior: no data were used.")
  paste0("The model was fitted to ", trajectories_words(counts$trajectories), " with ", counts$visits,
         if (is_grouped(fit) && !has_population(fit)) paste0(" in ", plural(length(fit$draws), "group"), " (by ",
                                                             listing(fit$by), "), each with a posterior of its own"),
         ".")
}

named <- function(x) enumerate(as_label(x), 10, "")

model_said <- function(fit) {
  setting <- fit$problem$setting
  terms <- reported_terms(fit)
  c(paste0("Decisions were modelled by inverse bounded rational control (", cited["idm"], "). ",
           if (is_vertices(fit$problem$space)) "The agent sees the state" else
             "The agent holds a belief about a hidden state, updates it by Bayes' rule",
           " and plans ahead. The states are ", named(setting$states), ". The actions are ", named(setting$actions),
           ". What may be observed is ", named(setting$observations), "."),
    if (length(setting$stop_actions)) paste0("These actions end a trajectory: ", named(setting$stop_actions), "."),
    if (!"action_prior" %in% quantity_of(c(terms, names(fit$fixed)))) {
      if ("habit" %in% c(terms, names(fit$fixed))) {
        "Without deliberating and without habit, the agent would take every action with equal probability."
      } else {
        "Without deliberating, the agent would take every action with equal probability."
      }
    },
    paste0("These terms were ", found_how(fit), ": ", enumerate(terms, 12, ""), "."),
    meaning_words(terms),
    held_said(fit))
}

# Without data nothing is inferred.
found_how <- function(fit) if (fit$likelihood) "inferred" else "drawn from the prior"

held_said <- function(fit) {
  if (length(fit$fixed)) paste0(if (fit$likelihood) "Held, not inferred: " else "Held: ", fixed_words(fit$fixed), ".")
}

# "alpha: Price of deliberating." Entries of a utility mean the same, and are said once.
meaning_words <- function(terms) {
  meaning <- vapply(terms, meaning_of, "")
  first <- !duplicated(meaning)
  paste0(terms[first], ": ", sub("[.]$", "", meaning[first]), ".")
}

standard_said <- function(fit) {
  problems <- all_problems(fit)
  setting <- problems[[1]]$setting
  if (!all(vapply(problems, function(problem) identical(problem$setting$utility, setting$utility), NA))) {
    return("The utility against which behaviour is read differs between groups.")
  }
  worth <- setting$utility
  inferred <- sum(grepl("^utility[[(]", reported_terms(fit)))
  number <- plural(length(worth), "entry", "entries")
  said <- if (inferred) {
    paste0("Of the ", number, " of the utility ", inferred, " were ", found_how(fit), ". The others are as the ",
           "setting states them.")
  } else if (length(worth) > most_worths) {
    paste0("Behaviour is read against a stated utility with ", number, ", from ", format_number(min(worth)), " to ",
           format_number(max(worth)), ".")
  } else {
    paste0("Behaviour is read against a stated utility. ", capital(paste0(vapply(seq_len(ncol(worth)), function(u) {
      paste0(safe_text(as_label(setting$actions[u])), " is worth ",
             listing(paste(vapply(worth[, u], format_number, ""), "in", as_label(setting$states))))
    }, ""), collapse = "; ")), ".")
  }
  c(said,
    if (!is.null(setting$belief_utility)) paste0("Beside that, a belief is worth: ",
                                                 belief_utility_words(setting$belief_utility), "."))
}

# More entries of a utility than this are for a table.
most_worths <- 16

discount_said <- function(fit) {
  if ("discount" %in% names(fit$prior)) return(paste0("The discount was ", found_how(fit), "."))
  discount <- unique(vapply(all_problems(fit), function(problem) problem$setting$discount, 0))
  if (!is.null(fit$fixed$discount)) discount <- fit$fixed$discount
  paste0("A visit counts ", listing(format(discount)), " times the one before it.")
}

models_said <- function(fit) {
  weights <- fit$problem$models$weights
  if (length(weights) == 1) return("The decision maker is taken to know the dynamics: there is one model of them.")
  equal <- diff(range(weights)) < 1e-12
  paste0("The decision maker may believe in ", length(weights), " models of the dynamics, ", if (equal)
    "of equal weight" else if (length(weights) > 8) "with stated weights" else
      paste("with the weights", listing(vapply(weights, format_number, ""))), ".")
}

habit_said <- function(fit) {
  what <- "Habit, the log odds of repeating the last action, was "
  if ("habit" %in% names(fit$prior)) return(paste0(what, found_how(fit), "."))
  if (!is.null(fit$fixed$habit)) return(paste0(what, "held at ", format_number(fit$fixed$habit), "."))
  NULL
}

effects_said <- function(fit) {
  if (!has_population(fit)) return(NULL)
  ties <- unlist(lapply(fit$effects$formulas, function(one) vapply(one$random, function(bar) bar$tie, "")))
  c(paste0("Terms differ between people: ", listing(effects_words(fit$effects), 20), "."), scale_words(fit),
    if (any(!is.na(ties))) paste0("Random intercepts are correlated, with the prior of ", cited["lkj"], " with shape ",
                                  "2."))
}

priors_said <- function(fit) {
  before <- prior_summary(fit)
  number <- function(x) vapply(x, format_number, "")
  said <- paste0(before$term, " ~ ", before$distribution,
                 ifelse(is.na(before$median), "", paste0(" (median ", number(before$median), ", 95% from ",
                                                         number(before$q2.5), " to ", number(before$q97.5), ")")))
  paste0("The priors are: ", paste(utils::head(said, most_priors), collapse = "; "),
         if (length(said) > most_priors) paste0("; and ", length(said) - most_priors, " more"), ".")
}

most_priors <- 24

dynamics_said <- function(fit, iohmm) {
  problems <- all_problems(fit)
  learned <- if (inherits(iohmm, "ibrc_iohmm")) list(iohmm) else iohmm
  if (is.null(learned) && has_dynamics(fit)) learned <- list(fit$recipe$codec$iohmm)
  c(if (has_dynamics(fit)) inferred_words(fit) else dynamics_words(problems, !is.null(learned)),
    if (is_cut(fit)) paste0("Actions are cut off from the dynamics (", cited["cut"], ")."),
    if (!is.null(learned)) {
      best <- glance(learned[[1]])
      best <- best[best$chosen, ][1, ]
      paste0("The model has ", plural(best$states, "state"), " and was learned by maximum likelihood (", cited["iohmm"],
             ") from ", plural(best$starts, "start"), ", of which ", best$reached, " reached the best; BIC ",
             formatC(best$BIC, digits = 1, format = "f", big.mark = big_mark()), ".")
    })
}

resolution_said <- function(fit) {
  problem <- fit$problem
  if (is_vertices(problem$space)) return("Plans are exact over the states, which are seen.")
  paste0("Plans are solved on a lattice of ", plural(problem$space$n_nodes, "belief"), " (resolution ",
         problem$resolution, "), between which the ", problem$interpolate, " is interpolated, to a tolerance of ",
         format_number(fit$tolerance), ".")
}

sampler_said <- function(fit) {
  scouts <- is.null(fit$control$start) && fit$sampler == "adaptive" && fit$likelihood &&
    length(fit$prior) <= most_scouted && (has_population(fit) || fit$run$warmup >= mixture_warmup) &&
    (!has_dynamics(fit) || is_cut(fit))
  c(paste0("Draws were made by Metropolis-Hastings (", cited["mh"], "), ", if (fit$sampler == "adaptive")
    paste0("with proposals that warm-up learned (", cited["am"], ")") else "by a random walk", ": ",
    chains_words(fit, if (length(fit$draws) > 1 && !has_population(fit) && (is_cut(fit) || !has_dynamics(fit)))
      " in each group"),
    if (fit$run$thin > 1) paste0(", and one of every ", fit$run$thin, " steps after it kept"), "."),
    if (scouts) paste0("Chains started at points that sequential Monte Carlo led from the prior to the posterior (",
                       cited["smc"], "; ", cited["imis"], ")."))
}

chains_said <- function(fit) {
  one <- glance(fit)
  draws <- function(n) if (is.na(n)) "not known" else paste(draws_text(n), "at least")
  rhat <- if (is.na(one$rhat)) "not known" else paste(rhat_text(one$rhat), "at most")
  paste0("R-hat (", cited["rhat"], ") was ", rhat, ". The effective number of draws was ", draws(one$ess_bulk),
         " in the bulk and ", draws(one$ess_tail), " in the tails",
         if (is_cut(fit)) " (R-hat is that under the worst draw of the dynamics)", ". ",
         round(100 * one$acceptance), "% of proposals were accepted.")
}

# What each check asks.
check_words <- c(settled = "whether the chains agree", whole = "whether they saw all of the posterior",
                 behaves = "whether the fitted agent decides as was decided, one visit ahead",
                 identified = "whether the data speak about each term", assumed = "what the numbers rest on")

checks_said <- function(rows) {
  checks <- unique(rows$check)
  said <- vapply(checks, function(check) {
    mine <- rows[rows$check == check, ]
    worst <- worst_of(mine$verdict)
    first <- mine[mine$verdict == worst, ][1, ]
    about <- row_labels(first, isTRUE(attr(rows, "grouped")))
    paste0(if (check %in% names(check_words)) check_words[[check]] else check, " (", worst,
           if (worst != "ok") paste0("; ", about, if (nzchar(about)) ": ", first$seen), ")")
  }, "")
  paste0("The fit was checked for ", paste(said, collapse = "; "), ". ", verdict_headline(rows), ".")
}

sensitivity_said <- function(sensitivity) {
  if (is.null(sensitivity)) return(NULL)
  n <- length(unique(alternative_label(as.data.frame(sensitivity)))) - 1
  c(paste0("The fit was compared with ", plural(n, "alternative"), " to what it assumes, by ",
           if (identical(attr(sensitivity, "method"), "reweight")) "weights of its draws" else "posterior modes", "."),
    sensitivity_words(sensitivity))
}

contrasts_said <- function(fit, contrasts) {
  if (is.null(contrasts)) {
    if (length(fit$draws) < 2) return(NULL)
    contrasts <- tryCatch(compare_groups(fit, joint = TRUE), ibrc_error = function(e) NULL)
    if (is.null(contrasts)) return(NULL)
  }
  c(Filter(nzchar, if (nrow(contrasts) > 1) comparison_words(contrasts) else "One contrast was looked at."),
    "Probabilities of single contrasts are not adjusted for their number.")
}

software_said <- function(fit) {
  paste0("The analysis was made with ibrc ", utils::packageVersion("ibrc"), " and posterior ",
         utils::packageVersion("posterior"), " in R ", getRversion(), if (!is.null(fit$seed)) paste0(", with the seed ",
                                                                                                   fit$seed), ".")
}
