#' Compare classes of decision models
#'
#' Runs the classes of [decision_models()] on the same visits, one after the other. Each class projects behaviour, and
#' is scored by how well this agrees with what was done. One call answers: what would these patients' doctors look like,
#' seen as each of fourteen kinds of agents?
#'
#' @section How each class is run:
#' Each row is run as [project_behavior()] runs the pair of functions that it names, with its `arguments`. What a class
#' infers besides its pair is in its column `adds`. Prices are counted in the range of the setting's utility, so that no
#' result depends on its unit.
#' * *Behavioural cloning*: action frequencies in each state; where the state is hidden, a regression on beliefs. With
#'   subjective dynamics it is a rule on the beliefs of somebody who takes part of what is seen, and of what happens,
#'   for chance. How large that part is, `chance`, is inferred.
#' * *Distribution matching*: the policy whose discounted visits are nearest to those demonstrated
#'   ([infer_distribution()]). The deterministic class looks among policies that always do the same in a state, by total
#'   variation. Discounted visits are those that the shown policy has in the setting, as the visits themselves lack what
#'   comes after follow-up.
#' * *Inverse reinforcement learning*: a utility. Deterministic: by maximum margin ([infer_margin()]) for the action
#'   most often taken in each state. Under partial observability it is found by likelihood, as in the stochastic class,
#'   and then acted on without noise. Stochastic: by likelihood under noisy choices ([plan_boltzmann()]), with a normal
#'   prior around 0. With maximum entropy: by regularised margin ([infer_soft_margin()]).
#' * *With subjective dynamics*: `chance` is inferred together with how noisy choices are (`alpha`), and the utility is
#'   the setting's own. With maximum entropy the utility is inferred as well, and only a prior tells the two apart.
#' * *Risk-sensitive*: the setting's utility, and `aversion`, how far a robust agent ([robust_agent()]) leans to
#'   dynamics that would hurt it. It is minus the optimism times the range of the utility, from 0 to 20; at 20 only the
#'   worst case counts.
#' * *Inverse bounded rational control*: the setting's utility, and `alpha`, `optimism` and `eta` with their default
#'   priors of [ibrc()] ([ibrc_mode()]) over models whose probabilities differ by ten percentage points
#'   ([perturb_models()]).
#'
#' Where the state is seen, classes under partial observability equal those without it. If the discount is so small that
#' states in which visits were made almost do not count, distribution matching and maximum entropy count every visit as
#' a first one, and a note says so. To fit one of them in another way, call [project_behavior()].
#'
#' @section What is compared:
#' The log loss is minus the log probability of the action taken (minus the `log_score` of [accuracy()]). The Brier
#' score is half the squared distance of the predicted probabilities from the action taken, summed over actions, from 0
#' to 1 (with two actions the mean of (p - y)^2, as in [accuracy()]). Agreement is the probability of the action taken.
#' Each is a mean over the same visits for all models.
#'
#' The first two are proper scores: lower is better, and nobody does better than by saying the true probabilities.
#' Agreement is not proper. A model that says 100% for the likeliest action scores higher than one that says the truth.
#' So it ranks neither deterministic models against stochastic ones nor sure ones against cautious ones. It says how
#' often a draw from the model would do the same. A deterministic class rules actions out. If one of them was taken, its
#' log loss is infinite, and the Brier score says how far it is off.
#'
#' Intervals are percentiles over patients drawn anew with replacement. Differences are paired: both models are scored
#' on the same draws. Intervals hold what was inferred fixed, and they do not include how the reference was chosen. By
#' default it is the best on the very visits that are scored, so the others look a little worse than they are. On the
#' visits that models were fitted to, those with more parameters look better than they are: give `newdata`, or hold some
#' patients out.
#'
#' @section What is identified:
#' Scores do not need identified estimates, but readers of estimates do: [tidy()][tidy.ibrc_model_comparison] says of
#' each whether the data settle it. They never settle the entries of a utility one by one. Prices and shares are settled
#' if the log-likelihood, with the other terms at their best, falls by 1.92 (a 95% interval) before the end of the range
#' that was tried. Terms of a bounded agent are settled if it does so within the central 95% of their prior, on both
#' sides.
#'
#' @param visits Trajectories ([trajectories()]) to infer from.
#' @param setting A setting ([decision_setting()]). Where the state is hidden, classes that have to see it are not run,
#'   and their `status` says so.
#' @param models Rows of [decision_models()], all by default, in any order. `planner` and `inverse` may name another
#'   pair, which is then run as [project_behavior()] does. The other columns cannot be edited: they define the class.
#' @param newdata Trajectories of other patients, to score instead of `visits`.
#' @param holdout Share of the patients to hold out at random and score, between 0 and 1; the models are inferred from
#'   the others. `NULL` holds nobody out.
#' @param reference The `model` to which the others are compared; by default the one with the smallest log loss on the
#'   visits that are scored.
#' @param replicates How many times patients are drawn anew for intervals.
#' @param conf.level Confidence of the intervals.
#' @param resolution Steps from 0 to 1 in each belief, for classes that have beliefs to keep.
#' @param seed A number that makes it repeatable; `NULL` draws from the session's generator.
#' @param refresh Whether to say which model is run: 0 says nothing. By default it is said in an interactive session.
#' @return A data frame of class `ibrc_model_comparison` with one row per model, in the order of `models`:
#'   * `model` and `title`: as in [decision_models()].
#'   * `infers` and `n_parameters`: what it infers, in words, and how many parameters these are.
#'   * `log_loss`, `brier` and `agreement`, each with `_low` and `_high`.
#'   * `divergence`, with the same, where the state is seen: the mean divergence of action frequencies from the
#'     imitating policy over states. It is in nats per visit and corrected for scatter.
#'   * `difference` and `brier_difference`, each with `_low` and `_high`: by how much its log loss and its Brier score
#'     exceed those of the reference.
#'   * `ruled_out`: the share of visits at which it had ruled out what was done.
#'   * `identified`: whether the data settle all of its estimates.
#'   * `status`: `"run"` or the reason why it was not run.
#'   * `note`: a remark, if there is one.
#'
#'   [tidy()][tidy.ibrc_model_comparison] gives the table in long form, or the estimates of every model.
#'   [plot()][plot.ibrc_model_comparison] draws it.
#' @family framework
#' @export
#' @examples
#' clinic <- decision_setting(
#'   states = c("well", "ill"), actions = c("wait", "treat"), observations = c("well", "ill"),
#'   transition = list(wait = rbind(c(0.9, 0.1), c(0.2, 0.8)),
#'                     treat = rbind(c(0.9, 0.1), c(0.6, 0.4))),
#'   emission = "identity", utility = cbind(wait = c(0, -2), treat = c(-1, -3)),
#'   discount = 0.9, start = c(1, 0)
#' )
#' visits <- simulate(plan_agent(clinic, bounded_agent(alpha = 1)), 40, seed = 1, horizon = 6)
#' classes <- decision_models()
#' some <- classes[classes$model %in% c("BC-IL", "Det. IRL", "ME-IRL"), ]
#' if (requireNamespace("lpSolve", quietly = TRUE)) compare_models(visits, clinic, some, seed = 1)
compare_models <- function(visits, setting, models = decision_models(), newdata = NULL, holdout = NULL,
                           reference = NULL, replicates = 1000, conf.level = 0.95, resolution = 20,
                           seed = NULL, refresh = default_refresh()) {
  check_given(visits, setting)
  check_visits(visits, "visits")
  check_class(setting, "ibrc_setting", "setting", "decision_setting()")
  models <- check_decision_models(models)
  if (!is.null(newdata)) check_visits(newdata, "newdata")
  holdout <- check_holdout(holdout, newdata)
  if (!is.null(reference)) {
    as_positions(reference, models$model, "reference", "model")
    if (length(reference) != 1) abort_input("reference", "must be one model, not ", length(reference), ".")
  }
  replicates <- check_count(replicates, "replicates", least = 10, most = 1e6)
  conf.level <- check_level(conf.level)
  resolution <- check_count(resolution, "resolution", most = 1000)
  seed <- settle_seed(seed)
  refresh <- check_count(refresh, "refresh", least = 0)
  parts <- split_visits(visits, newdata, setting, holdout, seed)
  task <- list(visits = parts$fitted, setting = setting, resolution = resolution, seed = seed)
  run <- run_models(models, task, parts$scored, refresh)
  comparison_of(models, run, parts, setting, reference, replicates, conf.level, seed)
}

# ---- what is asked ------------------------------------------------------------------------------------------------

# Rows of decision_models(), perhaps with another pair. Any other change would have no effect, and is refused.
check_decision_models <- function(models) {
  if (!is.data.frame(models)) {
    abort_input("models", "must be rows of decision_models(), not ", describe(models), ".", topic = "decision_models")
  }
  own <- decision_models()
  lost <- setdiff(names(own), names(models))
  if (length(lost)) {
    abort_input("models", "must have the columns of decision_models(); it has no ", enumerate(lost), ".",
                topic = "decision_models")
  }
  if (!nrow(models)) abort_input("models", "must have at least one row.")
  models <- as.data.frame(models)[names(own)]
  for (column in c("model", "planner", "inverse")) {
    models[[column]] <- as.character(models[[column]])
    bad <- which(is.na(models[[column]]) | !nzchar(models[[column]]))
    if (length(bad)) {
      abort_input("models", "must name a ", column, " in every row; row ", bad[1], " does not.", rows = bad)
    }
  }
  twice <- which(duplicated(models$model))
  if (length(twice)) {
    abort_input("models", "has the same `model` in more than one row: row ", twice[1], ".", rows = twice)
  }
  at <- match(models$model, own$model)
  if (anyNA(at)) {
    abort_input("models", "has a `model` in row ", which(is.na(at))[1], " that is not one of decision_models(). To ",
                "run another pair, write it in `planner` and `inverse` of a row, or call project_behavior().",
                rows = which(is.na(at)), topic = "decision_models")
  }
  told <- own[at, ]
  for (column in c("title", model_traits, "arguments", "adds", "reference")) {
    differs <- which(!mapply(identical, unname(as.list(models[[column]])), unname(as.list(told[[column]]))))
    if (length(differs)) {
      abort_input("models", "has another `", column, "` in row ", differs[1], " than decision_models(): what a class ",
                  "allows for cannot be edited, only which rows there are and their `planner` and `inverse`.",
                  rows = differs, topic = "decision_models")
    }
  }
  models$own_pair <- models$planner == told$planner & models$inverse == told$inverse
  other <- !models$own_pair
  models$title[other] <- paste0(models$title, " (by ", models$planner, "() and ", models$inverse, "())")[other]
  refuse_unknown_pairs(models)
  rownames(models) <- NULL
  models
}

# A pair that cannot go together is refused before anything is run.
refuse_unknown_pairs <- function(models) {
  for (i in which(!models$own_pair)) {
    tryCatch(check_pair(models$planner[i], models$inverse[i]), ibrc_error = function(e) {
      abort_input("models", "has a pair in row ", i, " that does not go together: ", e$message, rows = i,
                  topic = "project_behavior")
    })
  }
}

check_holdout <- function(holdout, newdata) {
  if (is.null(holdout)) return(NULL)
  holdout <- check_number(holdout, "holdout", "NULL or a number between 0 and 1")
  if (holdout <= 0 || holdout >= 1) abort_input("holdout", "must lie between 0 and 1; it is ", format(holdout), ".")
  if (!is.null(newdata)) abort_input("holdout", "must be NULL where `newdata` are given: those are held out already.")
  holdout
}

# Visits to infer from and visits to score, both with actions that count.
split_visits <- function(visits, newdata, setting, holdout, seed) {
  coded <- code_scored(visits, setting)
  if (!is.null(newdata)) {
    code_scored(newdata, setting, "newdata")
    return(list(fitted = visits, scored = newdata, same = FALSE))
  }
  if (is.null(holdout)) return(list(fitted = visits, scored = visits, same = TRUE))
  n <- max(coded$trajectory) + 1L
  if (n < 2) abort_input("holdout", "needs at least two patients: there is one.")
  n_out <- min(max(round(holdout * n), 1), n - 1)
  out <- with_stream(streams_from_seed(seed)[[1]], sample.int(n, n_out)) - 1L
  left <- logical(nrow(visits))
  left[coded$row] <- coded$trajectory %in% out
  parts <- list(fitted = visits[!left, ], scored = visits[left, ], same = FALSE)
  for (part in c("fitted", "scored")) {
    if (!any(scored_rows(parts[[part]]))) {
      abort_input("holdout", "leaves no action that counts ", if (part == "fitted") "to infer from." else "to score.")
    }
  }
  parts
}

# ---- running them -------------------------------------------------------------------------------------------------

# For each model a list: `plan`, `infers`, `n_parameters`, `estimates`, `note`, and `law`, its probabilities at the
# visits to score; or `status`, why there is none. If one fails, the others go on.
run_models <- function(models, task, scored, refresh) {
  out <- lapply(seq_len(nrow(models)), function(i) {
    if (refresh > 0) tell(message("model ", i, " of ", nrow(models), ": ", models$title[i]))
    tryCatch({
      made <- run_model(models[i, ], task)
      made$law <- predict(made$plan, scored, type = "action")
      made$status <- "run"
      made
    }, error = function(e) list(status = failure_words(e)))
  })
  stats::setNames(out, models$model)
}

run_model <- function(row, task) {
  if (!row$own_pair) return(pair_recipe(row, task))
  if (!row$observable && !task$setting$fully_observed) not_seen(row)
  # That visits are few is said of all models together, not by each of them.
  withCallingHandlers(model_recipes[[row$model]](row, task),
                      ibrc_warning_small_group = function(w) tryInvokeRestart("muffleWarning"))
}

not_seen <- function(row) {
  abort_input("setting", "hides the state, and ", row$title, " has to see it: it asks what is done in which state.")
}

# ---- the table ----------------------------------------------------------------------------------------------------

comparison_of <- function(models, run, parts, setting, reference, replicates, conf.level, seed) {
  done <- Filter(function(made) made$status == "run", run)
  table <- data.frame(
    model = models$model, title = models$title,
    infers = vapply(run, function(made) if (is.null(made$infers)) NA_character_ else made$infers, ""),
    n_parameters = vapply(run, function(made) as.integer(c(made$n_parameters, NA)[1]), 0L), row.names = NULL
  )
  scores <- NULL
  boot <- NULL
  if (length(done)) {
    n_fitted <- lapply(done, function(made) if (parts$same) made$n_free else 0)
    scores <- collect_scores(lapply(done, `[[`, "law"), code_scored(parts$scored, setting), setting)
    boot <- bootstrap_scores(scores, n_fitted, replicates, conf.level, seed)
  }
  chosen <- is.null(reference)
  reference <- reference_model(reference, boot)
  for (measure in divergence_measures) table <- add_scores(table, boot, measure, names(done))
  table <- add_differences(table, boot, "log_loss", "difference", reference, names(done))
  table <- add_differences(table, boot, "brier", "brier_difference", reference, names(done))
  share <- vapply(models$model, function(model) {
    if (model %in% names(done)) sum(scores$ruled_out[[model]]) / scores$n_visits else NA_real_
  }, 0)
  table$ruled_out <- unname(share)
  table$identified <- vapply(run, function(made) {
    if (is.null(made$estimates)) NA else all(made$estimates$identified)
  }, NA, USE.NAMES = FALSE)
  table$status <- vapply(run, `[[`, "", "status", USE.NAMES = FALSE)
  table$note <- vapply(run, function(made) paste(c(made$note, ""), collapse = " "), "", USE.NAMES = FALSE)
  table$note <- trimws(table$note)
  structure(table, class = c("ibrc_model_comparison", "data.frame"),
            made = lapply(done, `[`, c("plan", "estimates")), reference = reference, chosen = chosen,
            conf.level = conf.level, in_sample = parts$same, notes = if (!is.null(scores)) score_notes(scores),
            size = if (!is.null(scores)) c(patients = scores$n_patients, visits = scores$n_visits))
}

# The model that predicts best, where the user named none.
reference_model <- function(reference, boot) {
  if (!is.null(reference) || is.null(boot)) return(reference)
  loss <- boot$whole[1, "log_loss", ]
  if (!any(is.finite(loss))) loss <- boot$whole[1, "brier", ]
  # The first of those that differ only by rounding.
  names(loss)[which(loss <= min(loss) + rounding_of_scores)[1]]
}

add_scores <- function(table, boot, measure, done) {
  found <- vapply(table$model, function(model) {
    if (!model %in% done) return(rep(NA_real_, 3))
    row <- score_table(boot, model)
    unlist(row[row$measure == measure, -1])
  }, numeric(3))
  table[paste0(measure, c("", "_low", "_high"))] <- unname(as.data.frame(t(found)))
  table
}

add_differences <- function(table, boot, measure, name, reference, done) {
  found <- vapply(table$model, function(model) {
    if (!model %in% done || !isTRUE(reference %in% done)) return(rep(NA_real_, 3))
    score_difference(boot, model, reference, measure)
  }, numeric(3))
  table[paste0(name, c("", "_low", "_high"))] <- unname(as.data.frame(t(found)))
  table
}
