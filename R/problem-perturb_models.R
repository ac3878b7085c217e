# Models a step away from a setting: its probabilities lower, as they are, and higher.

#' @rdname model_prior
#' @export
perturb_models <- function(setting, by = 0.1, vary = c("emission", "transition", "both"),
                           apart = FALSE, weights = NULL) {
  check_given(setting)
  check_class(setting, "ibrc_setting", "setting", "decision_setting()")
  by <- check_positive(by, "by")
  if (by >= 1) abort_input("by", "must be less than 1; it is ", format(by), ".")
  vary <- check_choice(vary, c("emission", "transition", "both"), "vary")
  apart <- check_flag(apart, "apart")
  models <- if (is_by_rows(setting$transition)) perturb_rows(setting, by, vary, apart, weights) else
    perturb_arrays(setting, by, vary, apart, weights)
  models$step <- list(by = by, vary = vary, apart = apart)
  models
}

perturb_arrays <- function(setting, by, vary, apart, weights) {
  laws <- if (vary == "both") c("emission", "transition") else vary
  models <- if (apart) perturb_apart(setting, by, laws) else perturb_together(setting, by, laws)
  if (is.null(models)) abort_input("setting", "has nothing to perturb: every outcome of the ", vary, " is certain.")
  out <- model_prior(models, weights)
  # Laws that were moved as a whole have been rescaled already.
  if (!apart && has_law_names(setting)) out else validate_ibrc_models(out, setting)
}

# Combines every step of the one law with every step of the other. A sampler may ask for this at each of its steps, so
# each law is moved only once, as a whole.
perturb_together <- function(setting, by, laws) {
  steps <- c(-by, 0, by)
  words <- c(sprintf("%+g", -by), "as is", sprintf("%+g", by))
  models <- list(list(transition = setting$transition, emission = setting$emission))
  labels <- ""
  for (law in c(laws, setdiff(c("transition", "emission"), laws))) {
    moved <- law_at_steps(setting[[law]], if (law %in% laws) steps else 0)
    each <- rep(seq_along(models), length(moved))
    models <- models[each]
    step <- rep(seq_along(moved), each = length(labels))
    for (i in seq_along(models)) models[[i]][[law]] <- moved[[step[i]]]
    if (length(moved) > 1) labels <- paste0(labels[each], if (any(nzchar(labels))) ", ", law, " ", words[step])
  }
  if (length(models) > 1) stats::setNames(models, labels)
}

# A law at every step, its rows rescaled to sum to exactly 1; once, where every row is certain.
law_at_steps <- function(law, steps, parts = open_rows(law)) {
  rows <- parts$rows
  uncertain <- which(parts$uncertain)
  open <- rows[uncertain, , drop = FALSE]
  top <- row_tops(open)
  lapply(if (length(uncertain)) steps else 0, function(step) {
    if (step != 0) rows[uncertain, ] <- shift_each_row(open, step, top)
    law[parts$at] <- rows / rowSums(rows)
    law
  })
}

# The rows of a law, where their numbers stand in it (the first of every row first), and which of them can move.
open_rows <- function(law) {
  at <- as.vector(aperm(array(seq_along(law), dim(law)), c(1, 3, 2)))
  rows <- matrix(law[at], ncol = dim(law)[2])
  list(at = at, rows = rows, uncertain = rowSums(rows > 0) > 1)
}

# Moves every distinct row by itself.
perturb_apart <- function(setting, by, laws) {
  units <- do.call(rbind, lapply(laws, function(law) row_units(setting[[law]], law)))
  n_units <- length(unique(units$unit))
  if (n_units == 0) return(NULL)
  if (3^n_units > 729) {
    abort_input("apart", "= TRUE would make ", format(3^n_units, big.mark = big_mark()), " models, one for each ",
                "combination of ", n_units, " distinct rows; use apart = FALSE or build a smaller ",
                "list with model_prior().")
  }
  moves <- as.matrix(expand.grid(rep(list(c(-by, 0, by)), n_units)))
  labels <- unique(units$unit)
  models <- lapply(seq_len(nrow(moves)), function(i) {
    shifted <- setting[c("transition", "emission")]
    for (row in seq_len(nrow(units))) {
      step <- moves[i, match(units$unit[row], labels)]
      if (step == 0) next
      law <- units$law[row]
      at <- cbind(units$state[row], seq_len(dim(shifted[[law]])[2]), units$action[row])
      shifted[[law]][at] <- shift_row(shifted[[law]][at], step)
    }
    shifted
  })
  names(models) <- apply(moves, 1, function(step) {
    paste(labels, ifelse(step == 0, "as is", sprintf("%+g", step)), collapse = ", ")
  })
  models
}

# The same for a setting in which the state is seen: the emission is certain, and all rows of the transition move
# together.
perturb_rows <- function(setting, by, vary, apart, weights) {
  if (apart) {
    abort_input("apart", "must be FALSE for a sparse transition: it has too many rows to move each by itself.")
  }
  rows <- setting$transition
  split_up <- split(rows$probability, entry_rows(rows))
  if (vary == "emission" || all(lengths(split_up) == 1)) {
    abort_input("setting", "has nothing to perturb: every outcome of the ", vary, " is certain.")
  }
  models <- lapply(c(-by, 0, by), function(step) {
    moved <- if (step == 0) split_up else lapply(split_up, function(p) if (length(p) > 1) shift_row(p, step) else p)
    list(transition = with_probabilities(rows, unlist(moved, use.names = FALSE)), emission = "identity")
  })
  names(models) <- paste("transition", c(sprintf("%+g", -by), "as is", sprintf("%+g", by)))
  validate_ibrc_models(model_prior(models, weights), setting)
}

# The same models with another step. NULL if it is not known how they were made: by hand, or changed since then.
# The model in the middle is the one that was perturbed, whatever setting they are used with now.
models_at_step <- function(models, setting, by) {
  made <- models$step
  if (is.null(made)) return(NULL)
  middle <- models$models[[(n_models(models) + 1) %/% 2]]
  setting[c("transition", "emission")] <- middle[c("transition", "emission")]
  again <- function(by) perturb_models(setting, by, made$vary, made$apart, unname(models$weights))
  same <- tryCatch(isTRUE(all.equal(again(made$by)$models, models$models)), error = function(e) FALSE)
  if (same) again(by)
}

# One row for each row of the law that can vary. Rows of the same unit vary together.
row_units <- function(law_array, law) {
  size <- dim(law_array)
  at <- expand.grid(state = seq_len(size[1]), action = seq_len(size[3]))
  rows <- lapply(seq_len(nrow(at)), function(i) law_array[at$state[i], , at$action[i]])
  uncertain <- vapply(rows, function(p) sum(p > 0) > 1, NA)
  at <- at[uncertain, , drop = FALSE]
  rows <- rows[uncertain]
  if (!nrow(at)) return(NULL)
  content <- vapply(rows, function(p) paste(signif(p, 12), collapse = " "), "")
  first <- match(content, content)
  states <- dimnames(law_array)[[1]]
  actions <- dimnames(law_array)[[3]]
  label <- paste0(law, "[", states[at$state], "]")
  clash <- tapply(first, label, function(f) length(unique(f)))[label] > 1
  label <- ifelse(clash, paste0(law, "[", states[at$state], ", ", actions[at$action], "]"), label)
  data.frame(law = law, at, unit = label[first])
}

# Moves the largest probability of a row by `step`, but never more than half the way to 0 or 1.
# The others change in proportion.
shift_row <- function(p, step) {
  top <- which.max(p)
  if (1 - p[top] < 1e-6) return(shift_sure_row(p, top, step))
  moved <- if (step > 0) min(p[top] + step, (1 + p[top]) / 2) else max(p[top] + step, p[top] / 2)
  p[-top] <- p[-top] * (1 - moved) / (1 - p[top])
  p[top] <- moved
  p
}

# The same for every row of a matrix, given where its largest probabilities stand.
shift_each_row <- function(p, step, top = row_tops(p)) {
  most <- p[top]
  sure <- which(1 - most < 1e-6)
  moved <- if (step > 0) pmin(most + step, (1 + most) / 2) else pmax(most + step, most / 2)
  out <- p * (1 - moved) / (1 - most)
  out[top] <- moved
  for (i in sure) out[i, ] <- shift_sure_row(p[i, ], (top[i] - 1L) %/% nrow(p) + 1L, step)
  out
}

# The place of the largest number of each row, the first of several.
row_tops <- function(p) {
  top <- row <- seq_len(nrow(p))
  most <- p[row]
  for (j in seq_len(ncol(p))[-1]) {
    at <- (j - 1L) * nrow(p) + row
    more <- p[at] > most
    top[more] <- at[more]
    most[more] <- p[at][more]
  }
  top
}

# The same for a row with a probability of nearly 1, as EM makes them. 1 minus that probability is lost to rounding; in
# (1e-20, 1) it is 0. The sum of the other probabilities is used instead.
shift_sure_row <- function(p, top, step) {
  rest <- sum(p[-top])
  share <- p[-top] / rest
  left <- if (step > 0) max(rest - step, rest / 2) else 1 - max(p[top] + step, p[top] / 2)
  # Half of the smallest number that a double can hold would be 0.
  p[-top] <- ifelse(p[-top] > 0, pmax(share * left, .Machine$double.xmin), 0)
  p[top] <- 1 - sum(p[-top])
  p
}
