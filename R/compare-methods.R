# Methods that learn behaviour from trajectories: what may be given as a method, and what it gives on some visits.

known_methods <- list(
  frequencies = function(visits) fit_baseline(visits, "frequencies"),
  visit_number = function(visits) fit_baseline(visits, "visit_number"),
  previous_action = function(visits) fit_baseline(visits, "previous_action"),
  logistic = function(visits) fit_baseline(visits, "logistic"),
  rnn = function(visits) fit_rnn(visits, refresh = 0),
  iohmm_bc = function(visits) fit_iohmm_bc(visits),
  joint_iohmm_bc = function(visits) fit_iohmm_bc(visits, joint = TRUE, refresh = 0),
  po_irl = function(visits) fit_po_irl(visits, refresh = 0),
  joint_po_irl = function(visits) fit_po_irl(visits, joint = TRUE, refresh = 0)
)

as_methods <- function(methods) {
  if (is.character(methods)) methods <- as.list(methods)
  if (is.function(methods)) abort_input("methods", "must be a list of methods with names, such as list(mine = f).")
  if (is.list(methods) && !is.object(methods) && !length(methods)) {
    abort_input("methods", "must hold at least one method, such as ", enumerate(names(known_methods)[1]), ".")
  }
  if (!is.list(methods) || is.object(methods)) {
    abort_input("methods", "must be a list of functions and names of methods, not ", describe(methods), ".")
  }
  given <- if (is.null(names(methods))) rep("", length(methods)) else names(methods)
  out <- lapply(seq_along(methods), function(i) as_method(methods[[i]], i))
  named <- vapply(methods, is.character, NA)
  given[named & !nzchar(given)] <- unlist(methods[named & !nzchar(given)])
  if (!all(nzchar(given))) {
    abort_input("methods", "must have a name for every function; there is none at position ", which(!nzchar(given))[1],
                ".", rows = which(!nzchar(given)))
  }
  stats::setNames(out, check_names(given, "methods"))
}

as_method <- function(method, position) {
  if (is.function(method)) return(method)
  if (is.character(method) && length(method) == 1 && method %in% names(known_methods)) return(known_methods[[method]])
  abort_input("methods", "must hold functions of trajectories, or some of ", enumerate(names(known_methods), Inf),
              "; at position ", position, " it has ", describe(method), ". A fit of this package is a function around ",
              "it: list(ibrc = function(visits) ibrc_mode(visits, setting, models, prior)).", rows = position)
}

# Random numbers for a method depend on its name: the methods beside it change nothing.
method_streams <- function(seed, name, n) {
  streams_from_seed(strtoi(substr(fingerprint_of(list(seed, name)), 1, 7), 16L), n)
}

# ---- one method on some visits -----------------------------------------------------------------------------------

# The value of `use(model)` for the model that a method makes of visits, and what was said meanwhile:
#   value     or NULL where it failed
#   failure   why, in words, or NA; `phase` says whether learning or using it failed
#   warning   all of them in one text, or NA
#   verdict   the worst part of the verdict on a model that has one, or NA
# NULL if it was interrupted, even if its own fit gave back what it had by then: it is not finished.
try_method <- function(method, visits, use, stream, cores = getOption("ibrc.cores", 1),
                       in_words = function(e, phase) conditionMessage(e)) {
  before <- options(ibrc.cores = cores)
  on.exit(options(before))
  said <- character()
  verdict <- NA_character_
  phase <- "learn"
  hear <- function(w) {
    if (inherits(w, "ibrc_warning_interrupted")) return(NULL)
    said <<- c(said, conditionMessage(w))
    invokeRestart("muffleWarning")
  }
  out <- tryCatch(withCallingHandlers(with_stream(stream, {
    model <- suppressMessages(method(visits))
    if (!is_unfinished(model)) {
      verdict <- verdict_on(model)
      phase <- "use"
      list(value = suppressMessages(use(model)), failure = NA_character_)
    }
  }), warning = hear), ibrc_warning_interrupted = function(w) NULL, ibrc_error_interrupted = function(e) NULL,
  error = function(e) list(value = NULL, failure = some_words(in_words(e, phase))))
  if (is.null(out)) return(NULL)
  c(out, list(phase = phase, warning = if (length(said)) paste(unique(said), collapse = " ") else NA_character_,
              verdict = verdict))
}

# One text, whatever a condition has for a message: nothing, several or NA.
some_words <- function(message) {
  words <- as.character(message)
  words <- paste(words[!is.na(words) & nzchar(words)], collapse = " ")
  if (nzchar(words)) words else "an error without a message"
}

# Fits answer an interrupt with what they have, and their warning may have been suppressed.
is_unfinished <- function(model) {
  is.list(model) && (isTRUE(model[["interrupted"]]) || is.list(model[["state"]]) &&
                       isTRUE(model[["state"]][["interrupted"]]))
}

# "ok", "caution" or "do not use"; NA for a model that nobody has judged.
verdict_on <- function(model) {
  rows <- if (inherits(model, "ibrc_fit")) standing_verdict(model) else if (is.list(model)) model[["verdict"]]
  if (!is.data.frame(rows) || !is.ordered(rows[["verdict"]])) return(NA_character_)
  as.character(worst_of(rows[["verdict"]]))
}

# The function that predicts from a model: for one of the user's own class, the one that came with its method. NULL
# where only the generic can know.
predictor_of <- function(model, own = list()) {
  for (class in class(model)) {
    mine <- own[[paste0("predict.", class)]]
    if (is.null(mine)) mine <- utils::getS3method("predict", class, optional = TRUE)
    if (!is.null(mine)) return(mine)
  }
}

predict_by <- function(model, visits, own = list()) {
  mine <- predictor_of(model, own)
  if (any(vapply(own, identical, NA, mine))) return(mine(model, visits, type = "action"))
  predict(model, visits, type = "action")
}

# [visit, action], whatever the order of its columns.
check_law <- function(law, n_visits, actions) {
  force(law)
  law <- tryCatch(as.matrix(law), error = function(e) NULL)
  if (!is.numeric(law) || nrow(law) != n_visits || ncol(law) != length(actions) || !setequal(colnames(law), actions)) {
    stop("its predictions are not one row per visit and one column per action", call. = FALSE)
  }
  law <- unname(law[, actions, drop = FALSE])
  if (anyNA(law) || any(law < 0) || any(abs(rowSums(law) - 1) > 1e-6)) {
    stop("its predictions are not probabilities that sum to 1", call. = FALSE)
  }
  law
}

# ---- in words ----------------------------------------------------------------------------------------------------

# What methods warned of, and verdicts that are not ok, one line each: "rnn warned in 2 of 5 folds: ...". `status` has
# one row per method and `place`, with `method`, `verdict` and `warning`.
remark_lines <- function(status, place) {
  unlist(lapply(unique(status$method), function(method) {
    mine <- status[status$method == method, ]
    in_some <- function(at) paste0(sum(at), " of ", plural(nrow(mine), place))
    bad <- intersect(c("do not use", "caution"), mine$verdict)
    warned <- !is.na(mine$warning)
    c(vapply(bad, function(one) paste0(method, ": verdict \"", one, "\" in ", in_some(mine$verdict %in% one)), ""),
      if (any(warned)) paste0(method, " warned in ", in_some(warned), ": ", mine$warning[warned][1]))
  }), use.names = FALSE)
}

# The worst of what was said of each method, NA where nothing was.
worst_verdicts <- function(status) {
  vapply(unique(status$method), function(method) {
    said <- stats::na.omit(status$verdict[status$method == method])
    if (length(said)) as.character(worst_of(factor(said, verdict_levels, ordered = TRUE))) else NA_character_
  }, "")
}
