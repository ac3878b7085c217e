#' Does the fitted agent decide as the people did?
#'
#' Compares every decision with what the fit expects one step ahead, at draws from the posterior: given what had really
#' been done and observed until then. Outcomes are the real ones, not new ones. So if outcomes follow a schedule that
#' the setting does not foresee, this does not count against the agent.
#'
#' Decisions are counted in cells, and in each cell the actions taken are compared with those expected. If the fit is
#' right, the difference has the variance of the counts less the variance of the expectation over the posterior's draws,
#' since what was fitted cannot differ. The sum of squares in those units is chi-squared. Its degrees of freedom are the
#' directions that are left. Directions that the fit has used up do not count, nor do those in which fewer than about
#' four events are expected; with two actions each decision counts once. Cells with fewer than 20 visits are put
#' together. With groups, counts are also added up over all of them. `gap` says how much a failure matters: the root
#' mean square difference of shares, less what chance brings. Dynamics that were drawn without the actions (`uncertainty
#' = "cut"` of [ibrc()]) were not fitted to them: the variance between their draws is added to that of the difference,
#' not subtracted.
#'
#' A P value below 0.05 with a gap above 0.05 means that the fitted agent misses something that matters. A gap of 0.1
#' means that shares of actions are off by about 10 points. [verdict()] takes the least P value times the number of
#' statistics.
#'
#' @section Which cells:
#' `visit`: the number of the visit. `belief`: tenths of the belief in the second state, at the posterior median (with
#' more than two states: which is the likeliest, and how sure it is). `last_action` and `last_observation`: what was
#' done and seen last. `rare`: all actions to which the fit gives a chance below 0.02, together: were more of them taken
#' than expected? `repeat` asks one thing only: is the last action taken again more often than expected (habit; its
#' `gap` has a sign)? You can add your own: a function of a data frame with one row per visit and the columns
#' `trajectory`, `group`, `visit`, `last_action`, `last_observation` and `belief_<state>`, in the order of trajectories.
#' It returns the cell of each visit. Numbers with more than 20 different values are cut into tenths.
#'
#' @param fit A fit ([ibrc()]) that was not made with `keep_data = FALSE` ([ibrc_control()]).
#' @param statistics A named list of functions: your own cells.
#' @param draws How many draws to take, evenly spaced over the chains.
#' @return A data frame, one row per statistic and group, and with groups one more per statistic for all of them
#'   (`group` is `NA`): `statistic`, `group`, `visits`, `cells` (how many there were), `chi_square`, `df`, `p.value`
#'   (`NA` where nothing is left to test) and `gap`.
#' @seealso [verdict()], which reduces it to one number; [pp_check()] for pictures.
#' @family inference
#' @export
#' @examples
#' setting <- diag_setting()
#' plan <- plan_agent(setting, bounded_agent(alpha = 0.5), diag_models())
#' fit <- ibrc(simulate(plan, 60, seed = 1), setting, diag_models(),
#'             ibrc_prior(alpha ~ lognormal(0, 1)), chains = 2, iter = 300, seed = 1,
#'             control = ibrc_control(check = FALSE))
#' behaviour_check(fit, list(early = function(visits) visits$visit <= 2))
behaviour_check <- function(fit, statistics = NULL, draws = 200) {
  check_given(fit)
  statistics <- check_statistics(statistics)
  draws <- check_count(draws, "draws", least = 20)
  need_data(fit, "A check against the data", "fit")
  if (has_several(fit)) return(check_problems(fit, statistics, draws))
  fit <- only_met(fit)
  chosen <- spaced_draws(fit, draws)
  plans <- group_plans(fit)
  groups <- names(fit$draws)
  places <- lapply(seq_along(groups), function(g) statistic_places(fit, g, plans[[g]], statistics))
  levels <- lapply(stats::setNames(nm = names(places[[1]])), function(name) common_levels(lapply(places, `[[`, name)))
  moments <- lapply(seq_along(groups), function(g) {
    one_step_moments(fit, g, chosen, place_families(fit, g, places[[g]], levels, names(statistics)))
  })
  test <- function(found, group, n) data.frame(group = group, visits = as.integer(n), moment_tests(found, levels, n))
  # Cells of a population are counted together, however many there are: one by one they are small.
  tests <- if (has_population(fit)) list() else Map(test, moments, groups, fit$n_scored)
  out <- do.call(rbind, unname(tests))
  if (length(groups) > 1 || has_population(fit)) {
    all <- Reduce(function(one, other) Map(add_moments, one, other), moments)
    n <- sum(fit$n_scored)
    out <- rbind(out, data.frame(group = NA_character_, visits = as.integer(n), moment_tests(all, levels, n)))
  }
  out$p.value <- ifelse(out$df > 0, stats::pchisq(out$chi_square, pmax(out$df, 1), lower.tail = FALSE), NA)
  out <- out[c("statistic", "group", "visits", "cells", "chi_square", "df", "p.value", "gap")]
  rownames(out) <- NULL
  if (has_population(fit)) out$group <- NULL
  without_lone_group(out, names(fit$draws))
}

# Of each problem by itself, one after the other.
check_problems <- function(fit, statistics, draws) {
  tests <- lapply(problem_names(fit), function(name) {
    cbind(problem = name, behaviour_check(problem_view(fit, name), statistics, draws))
  })
  # Groups that have all met one problem only need no names there.
  columns <- unique(unlist(lapply(tests, names)))
  tests <- lapply(tests, function(one) {
    one[setdiff(columns, names(one))] <- NA_character_
    one[columns]
  })
  do.call(rbind, tests)
}

# Where each history stands, by statistic; and each visit, for statistics of the user's own.
statistic_places <- function(fit, g, plan, statistics) {
  tree <- fit$histories[[g]]
  places <- history_places(tree, plan)
  if (!length(statistics)) return(places)
  visits <- known_before(fit, g, plan, places)
  own <- lapply(stats::setNames(nm = names(statistics)), function(name) {
    value <- call_user(statistics[[name]], visits, argument = paste0("statistics$", name))
    statistic_cells(value, nrow(visits), name)
  })
  c(places, own)
}

# The cells of all groups in their order.
common_levels <- function(places) {
  if (all(vapply(places, is.factor, NA))) return(unique(unlist(lapply(places, levels))))
  sort(unique(unlist(places)), method = "radix")
}

place_families <- function(fit, g, places, levels, own) {
  tree <- fit$histories[[g]]
  families <- lapply(stats::setNames(nm = names(places)), function(name) {
    cell <- match(as.character(places[[name]]), as.character(levels[[name]]))
    n_cells <- length(levels[[name]])
    if (!name %in% own) return(history_family(tree, cell, n_cells))
    visit_family(tree, cell, fit$visit_actions[[g]], n_cells)
  })
  # Every last action has its cell, used or not, after "none"; an unknown action cannot be repeated.
  at <- as.integer(factor(places$last_action, c("none", fit$problem$setting$actions)))
  at[is.na(at)] <- 1L
  families[["repeat"]] <- history_family(tree, at, length(fit$problem$setting$actions) + 1L)
  families
}

moment_tests <- function(moments, levels, n_visits) {
  plain <- setdiff(names(moments), "repeat")
  found <- lapply(plain, function(name) {
    size <- moments[[name]]$n
    to <- if (is.numeric(levels[[name]])) pool_neighbours(size) else pool_small(size)
    moment_test(merge_cells(moments[[name]], to))
  })
  cbind(statistic = c(plain, "rare", "repeat"),
        rbind(do.call(rbind, found), rare_test(moments$visit$rare, n_visits), repeat_test(moments[["repeat"]])))
}

check_statistics <- function(statistics) {
  if (is.null(statistics)) return(list())
  if (is.function(statistics)) statistics <- list(own = statistics)
  named <- length(statistics) == 0 || !is.null(names(statistics))
  if (!is.list(statistics) || is.object(statistics) || !named || !all(vapply(statistics, is.function, NA))) {
    abort_input("statistics", "must be a named list of functions of the visits, not ", describe(statistics), ".")
  }
  twice <- unique(names(statistics)[duplicated(names(statistics))])
  if (length(twice)) abort_input("statistics", "must have names that differ, not ", enumerate(twice), " twice.")
  taken <- intersect(names(statistics), c("", "visit", "belief", "last_action", "last_observation", "rare",
                                            "repeat"))
  if (length(taken)) abort_input("statistics", "must have names of their own, not ", enumerate(taken), ".")
  statistics
}

# One row per visit: what was known when its action was chosen.
known_before <- function(fit, g, plan, places) {
  tree <- fit$histories[[g]]
  belief <- t(read_histories(plan, tree)$belief)[tree$visit, , drop = FALSE]
  colnames(belief) <- plan$setting$states
  data.frame(trajectory = which(fit$trajectory_group == g)[trajectory_of(tree)],
             group = factor(names(fit$draws)[g], levels = names(fit$draws)), visit = places$visit[tree$visit],
             last_action = places$last_action[tree$visit], last_observation = places$last_observation[tree$visit],
             belief_columns(belief, "belief_"), check.names = FALSE)
}

statistic_cells <- function(value, n, name) {
  if (!is.atomic(value) || length(value) != n) {
    abort_input("statistics", "= \"", name, "\" must return one value per visit (", n, "), not ", describe(value), ".")
  }
  if (is.numeric(value) && length(unique(value)) > 20) {
    # By rank, so that a value which most visits share is a cell of its own.
    value <- ceiling(10 * rank(value, ties.method = "max", na.last = "keep") / sum(!is.na(value)))
  }
  place <- as.character(value)
  place[is.na(place)] <- "missing"
  place
}

# ---- rows of a verdict -------------------------------------------------------------

# One number: the least of the P values, times how many were looked at. With groups, half of the room for chance is
# for all of them together and half is shared out among them. `inferred`: whether habit is.
behaves_rows <- function(tests, share = 1, inferred = FALSE) {
  if (!is.null(tests$problem)) return(rows_by_problem(tests, behaves_rows, inferred = inferred))
  tests <- tests[tests$statistic != "repeat", ]
  if (!nrow(tests)) stop("nothing was counted")
  if (is.null(tests$group)) tests$group <- rep(NA_character_, nrow(tests))
  n_groups <- length(unique(tests$group[!is.na(tests$group)]))
  rows <- lapply(unique(tests$group), function(group) {
    behaves_row(tests[tests$group %in% group, ], share * group_share(group, n_groups), inferred)
  })
  do.call(rbind, rows)
}

group_share <- function(group, n_groups) if (n_groups == 0) 1 else if (is.na(group)) 2 else 2 * n_groups

behaves_row <- function(tests, share, inferred) {
  row <- function(...) verdict_rows("behaves", ..., asked = "one step ahead, P at least 0.05", group = tests$group[1])
  told <- any(tests$df > 0 & tests$cells > 1) || tests$visits[1] >= few_visits
  if (!told) {
    return(row(seen = "too few visits to tell", verdict = "caution",
               advice = "There are too few visits to see whether the fitted agent behaves like the data."))
  }
  tests <- tests[tests$df > 0, ]
  # Statistics with the same cells count as one.
  tests <- tests[!duplicated(tests[c("chi_square", "df")]), ]
  if (!nrow(tests)) return(row(seen = "every decision was almost certain, and was taken", verdict = "ok"))
  looked <- share * nrow(tests)
  p <- pmin(1, looked * tests$p.value)
  verdict <- ifelse(p < 0.01 & tests$gap >= 0.05, "do not use", ifelse(p < 0.05, "caution", "ok"))
  worst <- order(-match(verdict, verdict_levels), p)[1]
  name <- tests$statistic[worst]
  by <- gsub("_", " ", name)
  row(seen = paste0("P ", p_words(p[worst]), if (looked > 1) paste(" corrected for", looked, "comparisons"),
                    " (worst by ", by, ", shares off by ", format_number(tests$gap[worst], 2), ")"),
      verdict = verdict[worst],
      advice = paste0("The fitted agent does not decide as the people did (by ", by, "): see ",
                      if (name %in% pp_types) paste0("pp_check(fit, \"", name, "\")") else "behaviour_check(fit)",
                      ", and what the setting (including its `start`)",
                      if (inferred) " or the models leave out" else ", the models or habit leave out",
                      if (verdict[worst] == "do not use") "; do not report these numbers", "."))
}

# Rows of each problem, which say so; all of them are looked at together.
rows_by_problem <- function(tests, rows, ...) {
  names <- unique(tests$problem)
  do.call(rbind, lapply(names, function(name) {
    found <- rows(tests[tests$problem == name, names(tests) != "problem"], share = length(names), ...)
    found$seen <- paste0(found$seen, ", in ", enumerate(name))
    found
  }))
}

# `held`: whether dynamics were learned and then held, which may look like habit.
habit_rows <- function(tests, inferred = FALSE, held = FALSE, share = 1) {
  if (!is.null(tests$problem)) return(rows_by_problem(tests, habit_rows, inferred = inferred, held = held))
  tests <- tests[tests$statistic == "repeat", ]
  if (is.null(tests$group)) tests$group <- rep(NA_character_, nrow(tests))
  n_groups <- sum(!is.na(tests$group))
  rows <- lapply(seq_len(nrow(tests)), function(i) {
    p <- min(1, tests$p.value[i] * share * group_share(tests$group[i], n_groups))
    gap <- tests$gap[i]
    asked <- "the last action taken again as often as expected"
    if (is.na(p)) {
      # Repetitions that were fitted cannot be tested.
      seen <- if (inferred) "habit: it is inferred, so repetitions are fitted" else "habit: too few repetitions to tell"
      return(verdict_rows("assumed", seen, asked, "ok", group = tests$group[i]))
    }
    verdict <- if (p < 0.01 && abs(gap) >= 0.05) "do not use" else if (p < 0.05) "caution" else "ok"
    verdict_rows("assumed", paste0("habit: the last action is taken again ", format_number(abs(gap), 2),
                                   if (gap >= 0) " more" else " less", " of the time than expected, P ", p_words(p)),
                 asked, verdict,
                 paste0("Actions are repeated ", if (gap >= 0) "more" else "less",
                        " often than the fitted agent would ",
                        "repeat them: habit is then read as something else",
                        if (verdict == "do not use") ". Do not report these numbers",
                        if (inferred) ", although habit is inferred." else if (held) {
                          ". It may also come from the dynamics, which were learned and then held: infer these first."
                        } else {
                          ". Infer it with the rest: ibrc_prior(habit ~ normal(0, 1), ...)."
                        }),
                 group = tests$group[i])
  })
  do.call(rbind, rows)
}

p_words <- function(p) if (p < 0.001) "< 0.001" else paste("=", format_number(p, 2))
