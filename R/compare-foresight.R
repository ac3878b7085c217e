# Whether a model of the user's own looks at what it is to predict. The visits that it is given hold the answers: the
# action of the same row, what was seen after it, and what came later.

# Probabilities [visit, action] of the test visits of a piece (piece_of()). They must stay the same if something else
# had been done and seen at the end of each trajectory. Whoever cannot predict that is not judged, nor is a model that
# says something else each time it is asked.
predict_fairly <- function(model, piece) {
  stream <- get(".Random.seed", envir = globalenv())
  predicted <- function(visits) {
    with_stream(stream, check_law(predict_or_say(model, visits, piece$own), nrow(visits), piece$actions))
  }
  law <- predicted(piece$test)
  if (predicts_here(model, piece$own)) return(law)
  other <- tryCatch(suppressWarnings(predicted(with_other_ends(piece$test, piece$ends, piece$train))),
                    ibrc_error_interrupted = function(e) stop(e), error = function(e) law)
  if (same_law(law, other) || !same_law(law, predicted(piece$test))) return(law)
  stop("its predictions depend on what was done and seen at the visit that is to be predicted, or later. predict() ",
       "may use only earlier rows of the same trajectory", call. = FALSE)
}

same_law <- function(one, other) max(abs(one - other)) < 1e-6

# Does this package predict from the model? Its own methods use earlier visits only.
predicts_here <- function(model, own) {
  mine <- predictor_of(model, own)
  !is.null(mine) && identical(topenv(environment(mine)), topenv())
}

# An error that is not this package's says where it comes from.
predict_or_say <- function(model, visits, own) {
  tryCatch(predict_by(model, visits, own), error = function(e) {
    if (inherits(e, "ibrc_error")) stop(e)
    stop("predict(model, visits, type = \"action\") said: ", some_words(conditionMessage(e)), call. = FALSE)
  })
}

# The visits with another action and observation at the rows `ends`: a pair that is among those learned from, so that
# a model knows it, and that differs in both if there is one.
with_other_ends <- function(visits, ends, learned) {
  roles <- unlist(attr(visits, "roles")[c("action", "observation")])
  codes <- function(data) {
    out <- vapply(roles, function(column) as.integer(data[[column]]), integer(nrow(data)))
    out[is.na(out)] <- 0L
    matrix(out, ncol = 2)
  }
  pairs <- unique(codes(learned))
  pairs <- pairs[pairs[, 1] > 0, , drop = FALSE]
  mine <- codes(visits)[ends, , drop = FALSE]
  differs <- outer(mine[, 1], pairs[, 1], "!=") + outer(mine[, 2], pairs[, 2], "!=")
  chosen <- pairs[max.col(differs, ties.method = "first"), , drop = FALSE]
  for (i in 1:2) {
    words <- levels(visits[[roles[i]]])
    visits[[roles[i]]][ends] <- words[ifelse(chosen[, i] > 0, chosen[, i], NA)]
  }
  visits
}
