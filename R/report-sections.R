# What each section of a report says: functions of `report`, a list with the fit, the
# visits, the learned dynamics and what may be shown of them, that give sections.

# ---- counts that may be shown ---------------------------------------------------

# `groups`, `trajectories` and `visits` as text, and the `flow` of a cohort. What the flow
# has to hide must not stand elsewhere in the same report.
report_counts <- function(fit, visits, suppress) {
  groups <- group_counts(fit, suppress)
  out <- list(groups = groups, trajectories = attr(groups, "total"), visits = format_counts(sum(fit$n_visits)))
  if (!inherits(visits, "ibrc_cohort") || is.null(attr(visits, "flow"))) return(out)
  out$flow <- flow(visits, suppress)
  last <- flow_text(out$flow)[nrow(out$flow), ]
  if (is.na(out$flow$patients[nrow(out$flow)])) {
    out$trajectories <- last$patients
    out$groups[] <- ifelse(fit$group_sizes < suppress, paste0("<", suppress), paste0(">=", suppress))
  }
  if (is.na(out$flow$visits[nrow(out$flow)])) out$visits <- last$visits
  out
}

# ---- sections ---------------------------------------------------------------------

overview_section <- function(report) {
  fit <- report$fit
  n_groups <- length(fit$draws)
  setting <- fit$problem$setting
  new_report_section(
    report_text(if (!fit$likelihood) "Draws from the prior (no data were used)" else
      paste0("Fitted to ", trajectories_words(report$counts$trajectories), " with ", report$counts$visits, " visits"),
                if (has_population(fit)) paste0(" of people who differ (", plural(n_groups, "cell"), ")")
                else if (is_grouped(fit)) paste0(" in ", plural(n_groups, "group"), " (by ", listing(fit$by), ")"),
                ": ",
                # Chains of agents and dynamics together are those of all groups.
                chains_words(fit, if (n_groups > 1 && !has_population(fit) && (is_cut(fit) || !has_dynamics(fit)))
                  " in each group"), "."),
    report_list(c(
      paste0("Hidden states: ", listing(as_label(setting$states)), "."),
      paste0("Actions: ", listing(ifelse(setting$actions %in% setting$stop_actions,
                                         paste(as_label(setting$actions), "(ends)"), as_label(setting$actions))), "."),
      held_said(fit)
    )),
    report_table(term_meanings(reported_terms(fit)), paste("What was", found_how(fit)))
  )
}

report_class <- function(verdict) c(ok = "fine", caution = "warning", "do not use" = "stop")[[as.character(verdict)]]

# Rows of a verdict that a page shows, the worst first.
most_verdict_rows <- 40

# The same rows as verdict() has, worst first, those that are well in short.
verdict_section <- function(report) {
  rows <- report$verdict
  worst <- as.character(worst_of(rows$verdict))
  words <- c(ok = paste("Every check is ok: the chains agree and saw all of the posterior, the fitted agent decides as",
                        "was decided, the data speak about every term, and what could be checked of the assumptions",
                        "makes little difference."),
             caution = "Use with caution: ", "do not use" = "Do not use these numbers: ")
  at_fault <- unique(rows$check[rows$verdict == worst])
  said <- paste0(words[[worst]], if (worst != "ok") paste0("see ", listing(at_fault), " below."))
  wrong <- rows[rows$verdict != "ok", ]
  wrong <- wrong[order(-as.integer(wrong$verdict)), ]
  table <- data.frame(Check = wrong$check, Of = row_labels(wrong, is_grouped(report$fit)),
                      Verdict = as.character(wrong$verdict), Seen = wrong$seen, Asked = wrong$asked)
  fine <- setdiff(unique(rows$check), wrong$check)
  new_report_section(
    report_list(said, class = report_class(worst)),
    if (nrow(table)) report_table(utils::head(table, most_verdict_rows), "What was seen, and what was asked"),
    if (nrow(table) > most_verdict_rows) {
      report_text("And ", plural(nrow(table) - most_verdict_rows, "more row"),
                  ": as.data.frame(verdict(fit)) has them.")
    },
    if (length(fine)) report_text("Without fault: ", listing(fine), "."),
    if (length(report$advice)) report_list(report$advice, class = "plain")
  )
}

term_meanings <- function(terms) {
  data.frame(Term = terms, Unit = vapply(terms, unit_of, "", USE.NAMES = FALSE),
             Meaning = vapply(terms, meaning_of, "", USE.NAMES = FALSE))
}

selection_section <- function(report) {
  counts <- report$counts
  sizes <- if (is_grouped(report$fit) && !has_population(report$fit)) {
    report_table(data.frame(Group = names(counts$groups), Trajectories = as.vector(counts$groups)),
                 "Trajectories in each group")
  }
  if (is.null(counts$flow)) {
    return(new_report_section(report_text("The visits come with no account of their selection; read_adni() and ",
                                          "panel_trajectories() keep one."), sizes))
  }
  table <- flow_table(counts$flow)
  new_report_section(
    report_table(as.data.frame(table), attr(table, "caption")),
    if (length(attr(table, "note"))) report_text(attr(table, "note")),
    report_picture(plot(counts$flow), "Flow chart of the selection, with the counts of the table above.",
                   height = 0.6 + 1.05 * nrow(counts$flow), width = 6.4),
    sizes
  )
}

posterior_section <- function(report) {
  fit <- report$fit
  before <- prior_summary(fit)
  before <- data.frame(Term = before$term, Prior = before$distribution, Median = before$median, before$q2.5,
                       before$q97.5)
  names(before)[4:5] <- c("2.5%", "97.5%")
  table <- by_term_first(tidy(fit), fit)
  after <- if (is_crowd(fit)) crowd_terms(table) else as.data.frame(terms_table(table))
  if (has_population(fit)) return(new_report_section(coefficients_parts(report, before, after)))
  terms <- reported_terms(fit)
  new_report_section(
    report_table(before, "Believed beforehand"),
    report_table(after, "Believed after seeing the data"),
    if (length(fit$draws) > most_colours) {
      report_text("There are too many groups for one picture with a colour for each: the next section has one row for ",
                  "each.")
    } else {
      report_picture(plot(fit, "density"), paste0("Posterior densities of ", enumerate(terms, Inf, ""), of_groups(fit),
                                                  ", against their priors (dashed)."),
                     height = panel_height(length(terms)))
    }
  )
}

# Groups of a term next to each other, to be compared.
by_term_first <- function(table, fit) {
  if (has_population(fit)) table else table[order(match(table$term, reported_terms(fit))), ]
}

# Term, and group where there are groups.
group_column <- function(table) {
  out <- data.frame(Term = table$term)
  if (!is.null(table$group)) out$Group <- table$group
  out
}

groups_section <- function(report) {
  fit <- report$fit
  if (has_population(fit)) return(people_section(report))
  if (length(fit$draws) < 2) return(new_report_section(report_text("The fit has no groups to compare.")))
  table <- compare_groups(fit)
  shown <- if (is_crowd(fit)) crowd_contrasts(table) else as.data.frame(contrasts_table(table))
  terms <- reported_terms(fit)
  data <- groups_data(fit, suppress = report$suppress)
  data$trajectories <- as.vector(report$counts$groups[as.character(data$group)])
  n_panels <- grDevices::n2mfrow(length(terms))[2]
  new_report_section(
    report_table(shown, paste0("How much larger each term is than in the reference group (", table$reference[1], ")")),
    lapply(in_pieces(names(fit$draws), rows_in_picture(n_panels)), function(groups) {
      report_picture(draw_groups(data, fit, terms, groups),
                     paste0("Posterior of ", enumerate(terms, Inf, ""), of_groups(fit, groups),
                            ", one row per group, before the prior."),
                     height = max(2.6, 1 + 0.75 * length(groups)) * n_panels)
    })
  )
}

checks_section <- function(report) {
  fit <- report$fit
  table <- by_term_first(tidy(fit), fit)
  said <- by_term_first(identifiability(fit), fit)
  # Correlations have no prior that the data could be held against.
  if (has_population(fit)) table <- table[table$term %in% said$term, ]
  crowd <- is_crowd(fit)
  shown <- if (crowd) crowd_chains(table, said) else
    cbind(group_column(table), "What the data say" = said$verdict, Contraction = contraction_text(table$contraction),
          "R-hat" = rhat_text(table$rhat), "ESS (bulk)" = draws_text(table$ess_bulk),
          "ESS (tail)" = draws_text(table$ess_tail))
  new_report_section(
    report_list(if (crowd) crowd_identified(said) else identifiability_sentences(said, 3)),
    report_table(shown, "Each term against its prior, and the chains against each other"),
    report_text("Share of proposals accepted: ", round(100 * mean(fit$acceptance)), "%."),
    trace_pictures(fit, table)
  )
}

predictive_section <- function(report) {
  fit <- report$fit
  if (is.null(fit$histories)) {
    return(new_report_section(report_text("The fit was made with keep_data = FALSE: there are no data to check ",
                                          "against.")))
  }
  types <- c(visit = "at each visit", belief = "at each belief", last_action = "after each action",
             last_observation = "after each observation")
  parts <- lapply(names(types), function(type) {
    data <- pp_data(fit, type, draws = report$draws, seed = 1)
    shares <- c("observed", "replicated", "conf.low", "conf.high")
    if (!is.null(report$suppress)) data[data$n < report$suppress, shares] <- NA
    count <- shares_inside(data, fit$problem$setting$actions)
    list(
      report_text("How often each action is taken ", types[[type]], ": ", count[["inside"]], " of ",
                  plural(count[["of"]], "share"),
                  " seen lie within the central 90% of what the fit says one step ahead."),
      picture_pages(data, panels_in_picture, function(rows, groups) {
        report_picture(draw_check(rows, type, fit),
                       paste0("Share of each action ", types[[type]], ", seen (points) and replicated (bars)",
                              of_groups(fit, groups), "."),
                       height = panel_height(length(groups), each = 2.4))
      })
    )
  })
  hidden <- if (!is.null(report$suppress)) {
    report_text("Shares of fewer than ", report$suppress, " visits are left out.")
  }
  tests <- report$verdict[report$verdict$check == "behaves", ]
  if (is_crowd(fit) && any(tests$verdict != "ok")) tests <- tests[tests$verdict != "ok", ]
  said <- report_list(paste0(row_labels(tests, TRUE), ifelse(is.na(tests$group), "", ": "), tests$seen, " (",
                             tests$verdict, ")."), class = report_class(worst_of(tests$verdict)))
  do.call(new_report_section, c(list(said), unlist(parts, recursive = FALSE), list(hidden)))
}

paths_section <- function(report) {
  fit <- report$fit
  n_states <- length(fit$problem$setting$states)
  none <- if (is.null(report$visits)) "No visits were given to carry beliefs along."
  else if (n_states > 3) paste0("Beliefs over ", n_states, " states cannot be drawn: see belief_paths().")
  else if (report$patients == 0) "No patients were asked for."
  if (!is.null(none)) return(new_report_section(report_text(none)))
  id <- typical_patients(report$visits, fit, report$patients)
  data <- simplex_data(fit, report$visits, id, report$show_id)
  each <- if (n_states == 2) 1.9 else 3.1
  new_report_section(picture_pages(data, patients_in_picture, by = "panel", draw = function(rows, shown) {
    report_picture(
      draw_paths(rows, fit$problem$setting, path_caption(fit)),
      paste0("Beliefs over the visits of ", plural(length(shown), "patient"), ", as the fitted agent (left) and a ",
             "rational agent (right) hold them, over the action each agent is likeliest to take."),
      height = 1.7 + each * length(shown), width = 6.4
    )
  }))
}

# Patients with about as many visits as the median one has, but two at least where there
# are any; groups take turns.
typical_patients <- function(visits, fit, n) {
  who <- visits[[attr(visits, "roles")$id]]
  known <- who[!duplicated(id_codes(who))]
  length <- tabulate(id_codes(who))
  aim <- max(2, stats::median(length))
  coded <- code_visits(visits, fit$problem$setting)
  group <- as.integer(fit_groups(fit, visits, coded))
  # Groups are numbered by trajectory in order of first appearance, as `known` is.
  order_in <- order(abs(length - aim), seq_along(known))
  turn <- stats::ave(seq_along(order_in), group[order_in], FUN = seq_along)
  known[utils::head(order_in[order(turn, group[order_in])], n)]
}

citation_section <- function(report) {
  cited <- utils::citation("ibrc")
  entry <- gsub("[[:space:]]+", " ", gsub("_([^_]+)_", "\\1", format(cited, style = "text")))
  new_report_section(
    report_list(c(entry, paste0("The ibrc package, version ", utils::packageVersion("ibrc"), "."))),
    report_code(unclass(utils::toBibtex(cited)))
  )
}

# Versions, without the paths that sessionInfo() names.
session_section <- function(report) {
  session <- utils::sessionInfo()
  versions <- function(packages) {
    if (!length(packages)) return("none")
    paste(sorted_text(vapply(packages, function(package) paste(package$Package, package$Version), "")), collapse = ", ")
  }
  new_report_section(report_list(c(
    session$R.version$version.string,
    paste0("Running on ", session$platform, if (!is.null(session$running)) paste0(" (", session$running, ")")),
    paste0("Attached: ", versions(session$otherPkgs)),
    paste0("Loaded: ", versions(session$loadedOnly))
  )))
}
