#' Cross-validate models of behaviour
#'
#' Predicts every action from a model that has not seen its trajectory. Trajectories are split into folds. Each method
#' learns from all folds but one and predicts the actions of that one, visit by visit, from what had been done and seen
#' before in the same trajectory. All methods have the same folds. [accuracy()][accuracy.ibrc_cross_validation] tells
#' how well they did.
#'
#' Each row must hold an action and what was seen *after* it ([trajectories()] says how to bring other tables into that
#' order). Rows in the other order give every method the wrong history, and nothing here would notice. A person with
#' several trajectories may be in several folds: to prevent this, give `folds` by hand.
#'
#' @section Methods:
#' A method is a function of trajectories that returns a model. The model has to answer `predict(model, visits, type =
#' "action")` with one row per visit and one column per action, named like the actions. Everything that predicts
#' behaviour in this package does so ([predict.ibrc_plan()]). A method is therefore one line around a fit, with a
#' `setting`, `models` and a `prior` such as `ibrc_prior(alpha ~ lognormal(0, 1))`:
#'
#' `ibrc = function(visits) ibrc_mode(visits, setting, models, prior)`
#'
#' A name stands for a method that exists already: the rules of [fit_baseline()] (`"frequencies"`, `"visit_number"`,
#' `"previous_action"`, `"logistic"`), `"rnn"` ([fit_rnn()], a recurrent neural network), `"iohmm_bc"` and
#' `"joint_iohmm_bc"` ([fit_iohmm_bc()], behavioural cloning on the beliefs of an input-output hidden Markov model), and
#' `"po_irl"` and `"joint_po_irl"` ([fit_po_irl()], inverse reinforcement learning under partial observability).
#' Whatever is learned from the visits, including dynamics, has to be learned inside the function: what comes from
#' outside has seen the patients that are to be predicted.
#'
#' The visits that `predict()` is given hold the answers. A model of your own may use only earlier rows of the same
#' trajectory. It is asked once more, with another action and observation at the end of each trajectory. The method
#' fails if its predictions then change.
#'
#' Methods learn from the actions that they are scored by. Actions before visit `from` are marked as not scored
#' ([trajectories()]); what was done and seen there is known only as history. Methods see numbers ("trajectory 1") in
#' place of identifiers. Anything else that they need to know about a patient has to be a covariate.
#'
#' A trajectory without any scored action ([trajectories()]) has nothing to predict. It is left aside, also where
#' methods learn, and a message says how many there are.
#'
#' A method that fails in a fold has no predictions there, and the others go on. Its message is kept and shown. (The
#' message is not changed: if your own function puts covariates into it, it may say more than you want to keep.)
#' Warnings are kept and shown too, and so is the worst [verdict()] of fits that have one.
#'
#' @section Long runs:
#' With a `future::plan()` other than `"sequential"`, fits run in its processes, one per method and fold. This needs the
#' package future.apply. Your own `predict()` methods are sent along if they were made in the same place as your
#' function. An interrupt gives back what was finished, with a warning. The random numbers of a fit depend only on
#' `seed`, the method's name and the fold. They do not depend on where it runs, nor on the other methods.
#'
#' With `file`, finished folds are kept after each round of fits. The same call later fits only what is missing or had
#' failed. A call is the same if its visits (rows, order, covariates), folds, seed and methods are the same. Functions
#' are the same if their code, the values that they captured and those that they name in the workspace are the same.
#' Another call is refused. What a function reads in other ways, such as files and options, is not compared.
#'
#' @param visits Trajectories ([trajectories()]).
#' @param methods A named list of methods, or names of methods.
#' @param folds How many folds. Or a whole number for each trajectory: with the identifiers as names, or without names
#'   and in order of first appearance. Or an earlier result for the same patients, to use its folds.
#' @param stratify Names of covariates whose groups are to be spread evenly over the folds.
#' @param seed A number that settles the folds and the random numbers of the methods.
#' @param file A path where finished folds are kept; `NULL` keeps nothing. The file holds no identifier.
#' @param refresh Whether to say after each round of fits how many are done: 0 says nothing.
#' @param from The number of the first visit in a trajectory that methods learn from and are scored by. By default the
#'   second, as nothing comes before the first that could predict it.
#' @return An object of class `ibrc_cross_validation`. `tidy()` gives the predictions: one row per method and visit with
#'   `method`, `fold`, `row` (of `visits`), `visit` (its number in its trajectory), `action` (what was done), `scored`
#'   (whether it counts) and one column of probabilities per action (called `probability_<action>` where an action has
#'   the name of one of these columns). `glance()` gives one row per method and fold, with the seconds that it took, its
#'   `verdict`, the `warning`s it gave and why it failed (`failure`). `summary()` is
#'   [accuracy()][accuracy.ibrc_cross_validation].
#' @seealso [kfold()] for the expected log predictive density of a fit.
#' @family decision models
#' @export
#' @examples
#' setting <- diag_setting()
#' plan <- plan_agent(setting, bounded_agent(alpha = 0.5), diag_models(), resolution = 20)
#' visits <- simulate(plan, nsim = 60, seed = 1)
#' bounded <- function(visits) {
#'   ibrc_mode(visits, setting, diag_models(), ibrc_prior(alpha ~ lognormal(0, 1)),
#'             resolution = 20, starts = 1, conf.level = NULL, seed = 1)
#' }
#' crossed <- cross_validate(visits, list("frequencies", "logistic", bounded = bounded), folds = 3)
#' crossed
#' accuracy(crossed, resamples = 100)
cross_validate <- function(visits, methods, folds = 5, stratify = NULL, seed = 1, file = NULL,
                           refresh = default_refresh(), from = 2) {
  check_given(visits, methods)
  check_visits(visits)
  methods <- as_methods(methods)
  words <- learned_words(visits)
  coded <- learned_visits(visits, words)
  check_teaching(coded)
  seed <- check_seed(seed)
  counted <- as.vector(rowsum(coded$scored + 0, coded$trajectory)) > 0
  group <- as.integer(group_trajectories(visits, stratify, coded, argument = "stratify"))
  if (!is.null(stratify) && !anyDuplicated(group)) {
    abort_input("stratify", "puts every trajectory into a group of its own, so that nothing is spread. Name a column ",
                "whose values several trajectories share.")
  }
  who <- trajectory_names(visits)
  people <- fingerprint_of(who)
  folds <- check_folds(earlier_folds(folds, people), group, seed, counted, who, "cross_validate()")
  refresh <- check_count(refresh, "refresh", least = 0)
  if (!is.null(file)) file <- check_path(file)
  from <- check_count(from, "from")
  coded <- scored_from(coded, from)
  tell_uncounted(counted, "cross_validate()")
  n_folds <- max(folds, na.rm = TRUE)
  job <- list(visits = visits_to_learn(visits, words, coded), methods = methods, words = words, coded = coded,
              folds = folds, seed = seed, from = from, people = people,
              pieces = expand.grid(fold = seq_len(n_folds), method = seq_along(methods)),
              streams = unlist(lapply(names(methods), method_streams, seed = seed, n = n_folds), recursive = FALSE))
  new_ibrc_cross_validation(job, run_pieces(job, file, refresh))
}

# The folds of an earlier result for the same patients in the same order; anything else is returned as it is.
earlier_folds <- function(folds, people) {
  if (!inherits(folds, "ibrc_cross_validation")) return(folds)
  if (!identical(folds$people, people)) {
    abort_input("folds", "are a result for other patients, or for the same patients in another order: patients would ",
                "not get their own folds. Give a whole number for each trajectory.")
  }
  folds$folds
}

scored_from <- function(coded, from) {
  coded$scored <- coded$scored & coded$place >= from
  if (any(coded$scored)) return(coded)
  abort_input("from", "= ", from, " leaves no visit to learn from: no trajectory has so many visits with an action ",
              "that counts.")
}

# What methods see: no identifiers, marked actions before the first that counts, and all words, since a fold may lack
# words that others have.
visits_to_learn <- function(visits, words, coded) {
  roles <- attr(visits, "roles")
  visits <- plain_visits(visits)
  rownames(visits) <- NULL
  back <- order(coded$row)
  number <- coded$trajectory[back] + 1L
  visits[[roles$id]] <- sprintf("trajectory %0*d", nchar(max(number)), number)
  visits[[roles$action]] <- factor(as_utf8(visits[[roles$action]]), words$actions)
  visits[[roles$observation]] <- factor(as_utf8(visits[[roles$observation]]), words$observations)
  if (is.null(roles$scored) && !all(coded$scored)) {
    roles$scored <- utils::tail(make.unique(c(names(visits), "scored")), 1)
    attr(visits, "roles") <- roles
  }
  if (!is.null(roles$scored)) visits[[roles$scored]] <- coded$scored[back]
  visits
}

# ---- the run -----------------------------------------------------------------------------------------------------

# The result of every piece, NULL where the run did not come to it.
run_pieces <- function(job, file, refresh) {
  n <- nrow(job$pieces)
  results <- vector("list", n)
  if (!is.null(file)) {
    fingerprint <- crossing_fingerprint(job)
    lock <- new_lock(file)
    on.exit(release_lock(lock))
    take_lock(lock)
    results <- pieces_kept(file, fingerprint, results, job)
  }
  save <- function(results) {
    if (!is.null(file)) write_checkpoint(file, lapply(results, piece_to_plain), fingerprint)
  }
  fill_in_rounds(results, function(i, over) piece_of(i, job, over), run_one_piece, save, function(results, these) {
    say_failures(results, these, job)
    if (refresh > 0) tell(message("fit ", count_filled(results), " of ", n))
    TRUE
  })
}

# Said at once where a method fails for the first time: the same may be wrong in every fold.
say_failures <- function(results, these, job) {
  failed <- vapply(results, function(one) !is.null(one) && is.null(one$law), NA)
  method <- job$pieces$method
  for (i in these[failed[these]]) {
    if (sum(failed[method == method[i]]) > 1) next
    tell(message(names(job$methods)[method[i]], " failed in fold ", job$pieces$fold[i], ": ", results[[i]]$failure,
                 "\nOther folds and methods go on."))
  }
}

# What a process needs for one method and fold.
piece_of <- function(i, job, over) {
  out <- job$folds[job$coded$trajectory + 1L] %in% job$pieces$fold[i]
  kept <- !is.na(job$folds)[job$coded$trajectory + 1L] & !out
  rows <- list(learn = sort(job$coded$row[kept]), use = sort(job$coded$row[out]))
  last <- !duplicated(job$coded$trajectory, fromLast = TRUE)
  method <- job$methods[[job$pieces$method[i]]]
  list(train = job$visits[rows$learn, ], test = job$visits[rows$use, ], rows = rows, method = method,
       ends = match(job$coded$row[out & last], rows$use), own = own_predictions(method), actions = job$words$actions,
       stream = job$streams[[i]], cores = cores_of_piece(getOption("ibrc.cores", 1), over))
}

run_one_piece <- function(piece) {
  began <- proc.time()[["elapsed"]]
  use <- function(model) predict_fairly(model, piece)
  out <- try_method(piece$method, piece$train, use, piece$stream, piece$cores, function(e, phase) {
    failure_in_words(e, piece$rows[[phase]])
  })
  if (is.null(out)) return(NULL)
  list(law = out$value, failure = out$failure, warning = out$warning, verdict = out$verdict,
       seconds = proc.time()[["elapsed"]] - began)
}

# Messages name rows of `visits` instead of rows of the part that a method was given; row i came from rows[i].
failure_in_words <- function(e, rows) {
  words <- plain_words(e)
  at <- if (inherits(e, "ibrc_error_data")) e$rows
  if (!length(at) || !all(at %in% seq_along(rows))) return(words)
  named <- function(rows) paste0(if (length(rows) == 1) "row " else "rows ", enumerate(rows, quote = ""))
  if (grepl(named(at), words, fixed = TRUE)) return(sub(named(at), named(rows[at]), words, fixed = TRUE))
  paste0(words, " (In `visits`: ", named(rows[at]), ".)")
}

# ---- its file ----------------------------------------------------------------------------------------------------

# What has to be the same if finished folds are to be used, under the names that an error gives.
crossing_fingerprint <- function(job) {
  method_hash <- function(name) {
    tryCatch(captured_hash(job$methods[[name]]), ibrc_unknowable = function(e) {
      abort_input("file", "cannot be used with the method ", enumerate(name), ", which depends on ",
                  conditionMessage(e), ": nobody can tell whether it is still the same in a later call. Make it ",
                  "inside the function, or leave `file` out.")
    })
  }
  c(visits = captured_hash(list(as.list(as.data.frame(job$visits)), job$words, job$from)),
    methods = fingerprint_of(list(names(job$methods), vapply(names(job$methods), method_hash, "", USE.NAMES = FALSE))),
    folds = fingerprint_of(job$folds), seed = fingerprint_of(job$seed))
}

# A failed fold is tried again, and the reason of its failure is not kept.
piece_to_plain <- function(result) {
  if (!is.null(result$law)) result[c("law", "warning", "verdict", "seconds")]
}

# The finished folds of an earlier call with the same visits, methods, folds and seed; anything else is refused.
pieces_kept <- function(file, fingerprint, results, job) {
  if (!file.exists(file)) {
    check_writable(file)
    return(results)
  }
  kept <- read_checkpoint(file, fingerprint)$contents
  sizes <- tabulate(job$folds[job$coded$trajectory + 1L], max(job$folds, na.rm = TRUE))
  for (i in seq_along(results)) {
    one <- if (is.list(kept) && length(kept) == length(results)) kept[[i]] else list()
    if (is.null(one)) next
    is_said <- function(x) is.character(x) && length(x) == 1
    size <- c(sizes[job$pieces$fold[i]], length(job$words$actions))
    fine <- is.list(one) && identical(names(one), c("law", "warning", "verdict", "seconds")) &&
      is_finite(one$law, size) && is_said(one$warning) && is_said(one$verdict) && is_finite(one$seconds, 1)
    if (!fine) refuse_damaged("it does not hold predictions of these visits")
    results[[i]] <- c(one["law"], failure = NA_character_, one[c("warning", "verdict", "seconds")])
  }
  results
}
