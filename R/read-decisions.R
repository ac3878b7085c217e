# A fit and a mode as decision models: what they say about the actions of any visits. See predict.ibrc_plan().

#' @rdname predict.ibrc_plan
#' @export
predict.ibrc_fit <- function(object, visits = NULL, type = "action", draws = 200, summary = TRUE, ...) {
  check_unused(...)
  check_choice(type, "action", "type")
  summary <- check_flag(summary, "summary")
  chosen <- spaced_draws(object, draws)
  if (has_several(object)) {
    if (is.null(visits)) need_data(object, "predict() without `visits`")
    return(predict_problems(object, visits, function(one, visits) predict(one, visits, type, draws, summary)))
  }
  if (!is.null(visits)) object <- with_new_cells(object, visits)
  seen <- if (is.null(visits)) kept_visits(object, "predict() without `visits`") else
    code_for_fit(visits, object, "visits")
  actions <- object$problem$setting$actions
  n_visits <- sum(lengths(seen$actions))
  if (!summary) return(action_draws(object, chosen, seen, n_visits, actions))
  out <- matrix(0, n_visits, length(actions), dimnames = list(NULL, actions))
  for (group in unique(seen$group)) {
    tree <- seen$histories[[group]]
    total <- read_draws(object, group, chosen, function(plan) action_law(plan, tree), reduce = function(so_far, one) {
      if (is.null(so_far)) one else so_far + one
    })
    out[seen$rows[[group]], ] <- (total / nrow(chosen))[tree$visit, , drop = FALSE]
  }
  as.data.frame(out, optional = TRUE)
}

# [draw, visit, action]
action_draws <- function(fit, chosen, seen, n_visits, actions) {
  cells <- as.numeric(n_visits) * length(actions) * nrow(chosen)
  refuse_too_large(24 * cells, "draws", plural(nrow(chosen), "draw"), " of ", plural(n_visits, "visit"), " with ",
                   plural(length(actions), "action"), " are ", format_count(cells), " numbers, with copies on the way",
                   advice = "take fewer `draws`, or summary = TRUE")
  out <- array(0, c(nrow(chosen), n_visits, length(actions)), list(chosen$.draw, NULL, actions))
  for (group in unique(seen$group)) {
    tree <- seen$histories[[group]]
    laws <- read_draws(fit, group, chosen, function(plan) action_law(plan, tree)[tree$visit, , drop = FALSE])
    for (i in seq_along(laws)) out[i, seen$rows[[group]], ] <- laws[[i]]
  }
  out
}

#' @rdname predict.ibrc_plan
#' @export
predict.ibrc_mode <- function(object, visits = NULL, type = "action", ...) {
  check_unused(...)
  check_choice(type, "action", "type")
  if (has_several(object)) return(predict_problems(object, visits, function(one, visits) predict(one, visits)))
  judged <- judge_groups(object, visits, function(plan, tree, action) {
    action_law(plan, tree)[tree$visit, , drop = FALSE]
  })
  actions <- object$problem$setting$actions
  out <- matrix(0, length(unlist(judged$rows)), length(actions), dimnames = list(NULL, actions))
  for (group in unique(judged$group)) out[judged$rows[[group]], ] <- judged$found[[group]]
  as.data.frame(out, optional = TRUE)
}

#' @rdname log_lik
#' @rawNamespace S3method(rstantools::log_lik, ibrc_mode)
#' @export
log_lik.ibrc_mode <- function(object, visits = NULL, ...) {
  check_unused(...)
  if (has_several(object)) return(log_lik_problems(object, visits, function(one, visits) log_lik(one, visits)))
  judged <- judge_groups(object, visits, taken = TRUE, read = function(plan, tree, action) {
    law <- read_histories(plan, tree, beliefs = FALSE)$log_policy
    trajectory_sums(scored_log_policy(law, tree, action), trajectory_of(tree))
  })
  out <- numeric(length(judged$group))
  for (group in unique(judged$group)) out[judged$group == group] <- judged$found[[group]]
  stats::setNames(out, judged$who)
}

# The result of `read` on the visits of each group with the plan at its mode: a list, beside what code_for_fit() gives.
judge_groups <- function(mode, visits, read, taken = FALSE) {
  # Before any solve.
  if (!is.null(visits)) mode <- with_new_cells(mode, visits)
  seen <- if (is.null(visits)) kept_visits(mode) else code_for_fit(visits, mode, "visits", taken)
  plans <- group_plans(mode)
  seen$found <- lapply(seq_along(plans), function(group) {
    if (length(seen$rows[[group]])) read(plans[[group]], seen$histories[[group]], seen$actions[[group]])
  })
  seen
}
