# The section of a report on the problem itself: what was learned or stated about how
# states move and what is seen, what is wanted, and what may be believed of it.

dynamics_section <- function(report) {
  fit <- report$fit
  problems <- all_problems(fit)
  learned <- if (inherits(report$iohmm, "ibrc_iohmm")) list(report$iohmm) else report$iohmm
  if (has_dynamics(fit)) {
    return(do.call(new_report_section, c(inferred_parts(fit, learned), wanted_parts(problems[[1]], NA))))
  }
  laws <- if (is.null(learned)) lapply(problems, function(problem) problem$setting) else learned
  parts <- c(
    list(report_text(dynamics_words(problems, !is.null(learned)))),
    unlist(lapply(seq_along(laws), function(i) {
      c(if (!is.null(learned)) learned_parts(laws[[i]], names(laws)[i]), law_parts(laws[[i]], names(laws)[i]))
    }), recursive = FALSE),
    unlist(lapply(seq_along(problems), function(i) wanted_parts(problems[[i]], names(problems)[i])), recursive = FALSE)
  )
  do.call(new_report_section, parts)
}

dynamics_words <- function(problems, shown) {
  by_setting <- any(vapply(problems, function(problem) identical(problem$setting$dynamics, "learned"), NA))
  if (!shown && !by_setting) return("The dynamics are those that the setting states.")
  paste0("The dynamics were learned from visits", if (shown) " (input-output hidden Markov model)",
         " and then held fixed: the intervals do not allow for that.")
}

# Dynamics that were inferred with the agents, or drawn without them: each probability with its interval, beside what
# was learned.
inferred_parts <- function(fit, learned) {
  table <- if (length(fit$problem$setting$states) <= most_states) tidy(fit, what = "dynamics")
  c(
    list(report_text(inferred_words(fit))),
    if (length(learned) == 1) learned_parts(learned[[1]], NA),
    list(if (is.null(table)) {
      report_text("There are too many states to print their laws here: see tidy(fit, \"dynamics\").")
    } else {
      report_table(inferred_table(table), "Probabilities of the dynamics, and as they were learned without the actions")
    })
  )
}

inferred_words <- function(fit) {
  how <- if (is_cut(fit)) {
    paste0("drawn ", n_cut_draws(fit), " times from what was seen, without the actions; agents were fitted under ",
           "each draw and pooled")
  } else {
    "inferred together with the agents, from what was seen and what was done"
  }
  paste0("The dynamics were learned from visits and then ", how, ": the intervals allow for what is not known of ",
         "them, and all numbers are worked out with the dynamics of each draw.")
}

inferred_table <- function(table) {
  out <- data.frame(Probability = table$term, Median = share_text(table$estimate), share_text(table$conf.low),
                    share_text(table$conf.high), Learned = share_text(table$learned))
  names(out)[3:4] <- c("2.5%", "97.5%")
  if (!anyNA(table$rhat)) out <- cbind(out, "R-hat" = rhat_text(table$rhat), "ESS (bulk)" = draws_text(table$ess_bulk))
  out
}

# "in group ..." where there is one; nothing else.
in_group <- function(group) if (length(group) && !is.na(group)) paste0(", ", group) else ""

learned_parts <- function(iohmm, group) {
  tried <- glance(iohmm)
  tried <- data.frame(States = tried$states, tried$log_lik, Parameters = tried$n_parameters, AIC = tried$AIC,
                      BIC = tried$BIC, Reached = paste(tried$reached, "of", tried$starts),
                      Chosen = ifelse(tried$chosen, "yes", ""))
  names(tried)[2] <- "Log-likelihood"
  # Likelihoods are compared by their differences: three digits are too few.
  tried[c("Log-likelihood", "AIC", "BIC")] <- lapply(tried[c("Log-likelihood", "AIC", "BIC")], round, 1)
  tried[c("Log-likelihood", "AIC", "BIC")] <- lapply(tried[c("Log-likelihood", "AIC", "BIC")], formatC, digits = 1,
                                                     format = "f", big.mark = big_mark())
  advice <- iohmm_advice(iohmm)
  list(report_table(tried, paste0("Numbers of states tried, and how many starts reached the best", in_group(group))),
       if (length(advice)) report_list(advice, class = "warning"))
}

# More than this is not read as a table.
most_states <- 10

law_parts <- function(laws, group) {
  if (length(laws$states) > most_states) {
    return(list(report_text("There are ", length(laws$states), " states, too many to print their laws here.")))
  }
  if (is_by_rows(laws$transition)) {
    laws$transition <- as_transition(laws$transition, laws$states, laws$actions)
    laws$emission <- as_emission(laws$emission, laws$states, laws$actions, laws$observations)
  }
  # One column, or one per group.
  start <- apply(start_matrix(laws), 1, share_text, simplify = FALSE)
  names(start) <- if (has_starts(laws)) start_groups(laws) else "Probability"
  start <- data.frame(State = as_label(laws$states), start, check.names = FALSE)
  c(list(report_table(start, paste0("Probability of each state at the first visit", in_group(group)))),
    law_tables(laws$transition, "From", "Probability of the next state", group),
    # There may be many observations: they go down the page.
    law_tables(aperm(laws$emission, c(2, 1, 3)), "Seen", "Probability of what is seen in each new state", group))
}

# Three places, and no 0 or 1 that is none.
share_text <- function(p) {
  ifelse(p %in% 0:1, as.character(p), chance_text(p))
}

# A table for actions that share a matrix; rows that cannot happen are left out.
law_tables <- function(law, row_title, caption, group) {
  actions <- dimnames(law)[[3]]
  code <- vapply(seq_along(actions), function(u) paste(signif(law[, , u], 12), collapse = " "), "")
  lapply(unique(code), function(one) {
    same <- actions[code == one]
    cells <- matrix_of(law, same[1])
    cells <- cells[rowSums(cells) > 0, , drop = FALSE]
    table <- cbind(data.frame(as_label(rownames(cells))), as.data.frame(apply(cells, 2, share_text, simplify = FALSE)))
    names(table) <- c(row_title, as_label(colnames(cells)))
    after <- if (length(same) == length(actions)) "any action" else listing(as_label(same))
    report_table(table, paste0(caption, " after ", after, in_group(group)))
  })
}

wanted_parts <- function(problem, group) {
  setting <- problem$setting
  worth <- data.frame(State = as_label(setting$states), setting$utility, check.names = FALSE)
  names(worth) <- c("State", as_label(setting$actions))
  weights <- problem$models$weights
  list(
    if (length(setting$states) <= most_states) {
      report_table(worth, paste0("What an action is worth in a state", in_group(group)))
    },
    report_list(c(
      if (!is.null(setting$belief_utility)) paste0("Beside that, what a belief is worth: ",
                                                   belief_utility_words(setting$belief_utility), "."),
      paste0("A visit counts ", format(setting$discount), " times the one before it.")
    )),
    report_table(data.frame(Model = utils::head(names(weights), 10), Weight = utils::head(unname(weights), 10)),
                 paste0("What the decision maker may believe about the dynamics",
                        if (length(weights) > 10) paste0(" (10 of ", length(weights), " models)"), in_group(group)))
  )
}

# Learned dynamics that were given: one model, or one per group.
check_report_iohmm <- function(iohmm, fit) {
  if (inherits(iohmm, "ibrc_iohmm")) return(iohmm)
  if (!is_group_list(iohmm)) check_class(iohmm, "ibrc_iohmm", "iohmm", "fit_iohmm()")
  check_group_list(iohmm, fit$by, "ibrc_iohmm", "iohmm", "fit_iohmm()")
  iohmm[match_groups(names(iohmm), names(fit$draws), "iohmm")]
}
