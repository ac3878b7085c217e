#' Does the fitted agent decide as was decided?
#'
#' Holds every decision against what the fit says of it one step ahead: given what had really been done and observed
#' until then, at draws from the posterior. Outcomes are those that came, not new ones, so that a schedule of outcomes
#' that the setting does not foresee is no fault of the agent.
#'
#' Decisions are counted in cells, and in each cell the actions taken are held against those expected. Were the fit
#' right, the difference would have the variance of the counts less that of what is expected over the posterior's draws:
#' what was fitted cannot differ. The sum of squares in those units is chi-squared, with as many degrees of freedom as
#' directions are left (those that the fit has used up, and those in which fewer than about four events are expected, do
#' not count; with two actions each decision counts once). Cells with fewer than 20 visits are put
#' together. `gap` says how much a failure matters: the root mean square difference of shares, less what chance brings.
#'
#' @section Which cells:
#' `visit`: the number of the visit. `belief`: tenths of the belief in the second state (of more than two states: which
#' is the likeliest, and how sure), at the posterior median. `last_action` and `last_observation`: what was done and
#' seen last. `rare`: all actions to which the fit gives a chance below 0.02, together: were more of them taken than
#' expected? `repeat` asks one thing only: is the last action taken again more often than expected (habit; its
#' `gap` has a sign)? And any of your own: a function of a data frame with one row per visit and the columns `trajectory`, `group`, `visit`,
#' `last_action`, `last_observation` and `belief_<state>`, in the order of trajectories, that returns the cell of
#' each visit. Numbers with more than 20 different values are cut into tenths.
#'
#' @param fit A fit ([ibrc()]), not made with `keep_data = FALSE`.
#' @param statistics A named list of functions: cells of your own.
#' @param draws How many draws to take, evenly spaced over the chains.
#' @return A data frame, one row per statistic and group, and with groups one more per statistic for all of them
#'   (`group` is `NA`): `statistic`, `group`, `visits`, `chi_square`, `df`, `p.value` (`NA` where nothing is left to test)
#'   and `gap`.
#' @seealso [verdict()], which makes one number of it; [pp_check()] for pictures.
#' @family inference
#' @export
#' @examples
#' setting <- diag_setting()
#' plan <- plan_agent(setting, bounded_agent(alpha = 0.5), diag_models())
#' fit <- ibrc(simulate(plan, 60, seed = 1), setting, diag_models(),
#'             ibrc_prior(alpha ~ lognormal(0, 1)), chains = 2, iter = 300, seed = 1, check = FALSE)
#' behaviour_check(fit, list(early = function(visits) visits$visit <= 2))
behaviour_check <- function(fit, statistics = NULL, draws = 100) {
  check_given(fit)
  statistics <- check_statistics(statistics)
  draws <- check_count(draws, "draws", least = 20)
  need_data(fit, "A check against the data", "fit")
  chosen <- spaced_draws(fit, draws)
  plans <- group_plans(fit)
  rows <- lapply(seq_along(fit$draws), function(g) {
    families <- check_families(fit, g, plans[[g]], statistics)
    moments <- one_step_moments(fit, g, chosen, families)
    plain <- setdiff(names(moments), "repeat")
    found <- rbind(do.call(rbind, lapply(moments[plain], moment_test)),
                   rare_test(moments$visit$rare, fit$n_visits[[g]]), repeat_test(moments[["repeat"]]))
    data.frame(statistic = c(plain, "rare", "repeat"), group = names(fit$draws)[g], visits = as.integer(fit$n_visits[[g]]), found)
  })
  out <- do.call(rbind, rows)
  if (length(rows) > 1) out <- rbind(out, pooled_tests(out))
  out$p.value <- ifelse(out$df > 0, stats::pchisq(out$chi_square, pmax(out$df, 1), lower.tail = FALSE), NA)
  out <- out[c("statistic", "group", "visits", "chi_square", "df", "p.value", "gap")]
  rownames(out) <- NULL
  if (!is_grouped(fit)) out$group <- NULL
  out
}

check_statistics <- function(statistics) {
  if (is.null(statistics)) return(list())
  if (is.function(statistics)) statistics <- list(own = statistics)
  named <- length(statistics) == 0 || !is.null(names(statistics))
  if (!is.list(statistics) || is.object(statistics) || !named || !all(vapply(statistics, is.function, NA))) {
    abort_input("statistics", "must be a named list of functions of the visits, not ", describe(statistics), ".")
  }
  taken <- intersect(names(statistics), c("", "visit", "belief", "last_action", "last_observation", "rare",
                                            "repeat"))
  if (length(taken)) abort_input("statistics", "must have names of their own, not ", enumerate(taken), ".")
  statistics
}

check_families <- function(fit, g, plan, statistics) {
  tree <- fit$histories[[g]]
  n <- colSums(tree$count)
  places <- history_places(tree, plan)
  cells <- list(visit = pool_neighbours(places$visit, n),
                belief = (if (is.numeric(places$belief)) pool_neighbours else pool_small)(places$belief, n),
                last_action = pool_small(places$last_action, n),
                last_observation = pool_small(places$last_observation, n))
  families <- lapply(cells, history_family, tree = tree)
  # Every last action has its cell, used or not.
  families[["repeat"]] <- history_family(tree, as.integer(places$last_action), nlevels(places$last_action))
  if (!length(statistics)) return(families)
  visits <- known_before(fit, g, plan, places)
  own <- lapply(stats::setNames(nm = names(statistics)), function(name) {
    cell <- statistic_cells(call_user(statistics[[name]], visits, argument = "statistics"), nrow(visits), name)
    visit_family(tree, pool_small(cell, rep(1, length(cell))), fit$visit_actions[[g]])
  })
  c(families, own)
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
    value <- cut(value, unique(stats::quantile(value, 0:10 / 10, na.rm = TRUE)), include.lowest = TRUE)
  }
  place <- as.character(value)
  place[is.na(place)] <- "missing"
  place
}

# All groups together.
pooled_tests <- function(tests) {
  rows <- lapply(unique(tests$statistic), function(statistic) {
    mine <- tests[tests$statistic == statistic, ]
    sign <- if (statistic == "repeat") sign(sum(mine$visits * mine$gap)) else 1
    data.frame(statistic = statistic, group = NA_character_, visits = sum(mine$visits),
               chi_square = sum(mine$chi_square), df = sum(mine$df),
               gap = sign * sqrt(sum(mine$visits * mine$gap^2) / sum(mine$visits)))
  })
  do.call(rbind, rows)
}

# ---- rows of a verdict -------------------------------------------------------------

# One number: the least of the P values, times how many were looked at.
behaves_rows <- function(tests) {
  tests <- tests[tests$statistic != "repeat" & !is.na(tests$p.value), ]
  if (is.null(tests$group)) tests$group <- rep(NA_character_, nrow(tests))
  if (!nrow(tests)) {
    return(verdict_rows("behaves", "too few visits to tell", "one step ahead, P at least 0.05", "caution",
                      "There are too few visits to see whether the fitted agent behaves like the data."))
  }
  n_groups <- length(unique(tests$group[!is.na(tests$group)]))
  rows <- lapply(unique(tests$group), function(group) {
    mine <- tests[tests$group %in% group, ]
    behaves_row(mine, looked = nrow(mine) * if (is.na(group)) 1 else n_groups)
  })
  do.call(rbind, rows)
}

behaves_row <- function(tests, looked) {
  worst <- which.min(tests$p.value)
  p <- min(1, looked * tests$p.value[worst])
  gap <- max(tests$gap)
  verdict <- if (p < 0.01 && gap >= 0.05) "do not use" else if (p < 0.05) "caution" else "ok"
  by <- gsub("_", " ", tests$statistic[worst])
  verdict_rows("behaves", paste0("P ", p_words(p), " (worst by ", by, "), shares off by ", format_number(gap, 2)),
             "one step ahead, P at least 0.05", verdict,
             paste0("The fitted agent does not decide as was decided (by ", by, "): see pp_check(fit, \"",
                    tests$statistic[worst], "\") and what setting, models or habit leave out",
                    if (verdict == "do not use") ", and do not report these numbers", "."),
             group = tests$group[1])
}

habit_rows <- function(tests) {
  tests <- tests[tests$statistic == "repeat", ]
  if (is.null(tests$group)) tests$group <- rep(NA_character_, nrow(tests))
  looked <- max(1, sum(!is.na(tests$group)))
  rows <- lapply(seq_len(nrow(tests)), function(i) {
    p <- min(1, tests$p.value[i] * if (is.na(tests$group[i])) 1 else looked)
    gap <- tests$gap[i]
    if (is.na(p)) {
      return(verdict_rows("assumed", "habit: nothing to be seen", "no habit", "ok", group = tests$group[i]))
    }
    verdict <- if (p < 0.01 && abs(gap) >= 0.05) "do not use" else if (p < 0.05) "caution" else "ok"
    verdict_rows("assumed", paste0("habit: the last action is taken again ", format_number(abs(gap), 2),
                                 if (gap >= 0) " more" else " less", " of the time than expected, P ", p_words(p)),
               "no habit", verdict,
               paste0("Actions are repeated ", if (gap >= 0) "more" else "less", " often than the fitted agent would ",
                      "repeat them: habit is then read as something else, such as optimism",
                      if (verdict == "do not use") ". Do not report these numbers", "."),
               group = tests$group[i])
  })
  do.call(rbind, rows)
}

p_words <- function(p) if (p < 0.001) "< 0.001" else paste("=", format_number(p, 2))
