# How a comparison of models is read and printed.

#' Read a comparison of models
#'
#' @param x A comparison ([compare_models()]).
#' @param what `"scores"`, one row per model and measure, or `"estimates"`, what every model inferred.
#' @param ... Not used.
#' @return `tidy()`: a data frame. Scores have the columns `model`, `title`, `measure`, `estimate`, `conf.low` and
#'   `conf.high`. Estimates have `model`, `title`, `term`, `estimate`, `std.error` where there is one, and `identified`,
#'   whether the data settle the term. It is `FALSE` where another value would explain them as well, or where the
#'   estimate comes from the prior or is the end of the range that was tried (see [compare_models()]). It is `NA` where
#'   this was not checked. `glance()`: one row with how many `models` were asked for and how many `run`, the
#'   `reference`, and the `patients` and `visits` that were scored.
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
#' compared <- compare_models(visits, clinic, decision_models()[c(1, 12), ], seed = 1)
#' tidy(compared)
#' tidy(compared, "estimates")
tidy.ibrc_model_comparison <- function(x, what = c("scores", "estimates"), ...) {
  check_unused(...)
  what <- check_choice(what, c("scores", "estimates"), "what")
  if (what == "scores") return(comparison_scores(x))
  made <- attr(x, "made")
  rows <- lapply(names(made), function(model) {
    n <- nrow(made[[model]]$estimates)
    data.frame(model = rep(model, n), title = rep(x$title[x$model == model], n), made[[model]]$estimates)
  })
  empty <- data.frame(model = character(), title = character(), term = character(), estimate = numeric(),
                      std.error = numeric(), identified = logical())
  out <- do.call(rbind, c(list(empty), rows[vapply(rows, nrow, 0L) > 0]))
  rownames(out) <- NULL
  out
}

comparison_scores <- function(x) {
  table <- as.data.frame(x)
  rows <- lapply(divergence_measures, function(measure) {
    data.frame(model = table$model, title = table$title, measure = measure, estimate = table[[measure]],
               conf.low = table[[paste0(measure, "_low")]], conf.high = table[[paste0(measure, "_high")]])
  })
  out <- do.call(rbind, rows)
  out <- out[order(match(out$model, table$model)), ]
  rownames(out) <- NULL
  out
}

#' @rdname tidy.ibrc_model_comparison
#' @export
glance.ibrc_model_comparison <- function(x, ...) {
  check_unused(...)
  size <- attr(x, "size")
  data.frame(models = nrow(x), run = sum(x$status == "run"), reference = c(attr(x, "reference"), NA_character_)[1],
             in_sample = attr(x, "in_sample"), patients = as.integer(c(size["patients"], NA)[1]),
             visits = as.integer(c(size["visits"], NA)[1]))
}

#' @export
as.data.frame.ibrc_model_comparison <- function(x, ...) {
  for (name in c("made", "reference", "chosen", "conf.level", "in_sample", "notes", "size")) attr(x, name) <- NULL
  class(x) <- "data.frame"
  x
}

#' @export
format.ibrc_model_comparison <- function(x, digits = 3, ...) {
  lost <- setdiff(c("model", "title", "status", "log_loss", "brier", "agreement", "difference"), names(x))
  if (length(lost) || is.null(attr(x, "made"))) return(NextMethod())
  size <- attr(x, "size")
  done <- as.data.frame(x)[x$status == "run", ]
  c(
    paste0(plural(nrow(x), "class", "classes"), " of decision models, ", nrow(done), " of them run",
           if (!is.null(size)) paste0("; scored on ", plural(size[["visits"]], "visit"), " of ",
                                      plural(size[["patients"]], "patient"),
                                      if (attr(x, "in_sample")) ", those that they were fitted to")),
    comparison_lines(done, attr(x, "reference"), digits),
    unlist(lapply(which(x$status != "run"), function(i) bullet(paste0(x$title[i], ": ", x$status[i])))),
    unlist(lapply(comparison_notes(x), bullet))
  )
}

# The best first. `off` is how much more each loses than the reference, in log loss.
comparison_lines <- function(done, reference, digits) {
  if (!nrow(done)) return(NULL)
  done <- done[order(done$log_loss, done$brier), ]
  # A model that rules out something that was done loses without bound, and so do both ends of its interval. Of two such
  # models neither is above the other.
  number <- function(x) {
    words <- ifelse(is.na(x), "not defined", ifelse(x < 0, "infinitely below", "infinite"))
    ifelse(is.finite(x), formatC(x, digits = digits, format = "f"), words)
  }
  range <- function(name) {
    low <- done[[paste0(name, "_low")]]
    high <- done[[paste0(name, "_high")]]
    told <- !is.na(low) & !is.na(high) & (is.finite(low) | is.finite(high))
    ifelse(told, paste0(" [", number(low), ", ", number(high), "]"), "")
  }
  column <- function(head, text) format(c(head, text), justify = "right")
  off <- ifelse(done$model == reference, "reference", paste0(number(done$difference), range("difference")))
  paste0("  ", format(c("", done$title)), "  ", column("log loss", number(done$log_loss)), "  ",
         column("Brier", number(done$brier)), "  ", column("agreement", number(done$agreement)), "  ",
         column("log loss above the reference's", off))
}

comparison_notes <- function(x) {
  ruling <- x$title[which(x$ruled_out > 0)]
  c(
    if (length(ruling)) {
      paste0("These models ruled out some of what was done, so their log loss is infinite: ",
             paste(ruling, collapse = "; "), ". Compare them by Brier score.")
    },
    if (length(ruling) && length(ruling) < sum(x$status == "run")) {
      paste("Agreement is higher for a model that says 100% than for one that says how often. Do not use it to rank",
            "models that rule actions out against others.")
    },
    open_note(tidy(x, "estimates")),
    if (isTRUE(attr(x, "chosen")) && sum(x$status == "run") > 1) {
      paste("The reference is the model with the smallest log loss on these visits. The intervals of differences do",
            "not include that choice. Name one as `reference` beforehand to avoid it.")
    },
    if (attr(x, "in_sample")) {
      paste("Models are fitted and scored on the same visits: classes with more parameters look better than they are.",
            "See `newdata` and `holdout`.")
    },
    attr(x, "notes")
  )
}

# Estimates that the data do not settle. Entries of utilities are never settled by themselves: one sentence is enough.
open_note <- function(estimates) {
  open <- estimates[which(!estimates$identified), ]
  wishes <- startsWith(open$term, "utility[")
  # Kinds of terms, as in "policy" of "policy[ill,treat]".
  other <- split(sub("[[].*", "", open$term[!wishes]), factor(open$title[!wishes], unique(open$title[!wishes])))
  named <- vapply(other, function(terms) listing(unique(terms)), "")
  c(
    if (length(named)) {
      paste0("The data do not settle ", paste0(named, " (", names(named), ")", collapse = "; "),
             ": see `identified` in tidy(, \"estimates\"), and `note`.")
    },
    if (any(wishes)) "Entries of a utility are never settled one by one: others explain the same behaviour."
  )
}

#' @export
print.ibrc_model_comparison <- function(x, ...) {
  if (is.null(attr(x, "made"))) return(NextMethod())
  writeLines(format(x, ...))
  invisible(x)
}
