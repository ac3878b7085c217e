#' How a cohort was selected
#'
#' The account of a selection, as in the flow chart of a report: how many patients
#' and visits went in, what each step took away and why, and how many are left.
#'
#' Small counts can identify a person. With `suppress`, counts from 1 to `suppress - 1`
#' are left out of the result itself, not only of what is printed. As many other counts are
#' left out as are needed so that no small count can be worked out from its neighbours. The
#' counts that are shown leave every value from 1 to `suppress - 1` possible for each
#' count that is shown as small. Suppression considers patients and visits separately,
#' and only this one table. It cannot know about counts that are published elsewhere.
#'
#' @param cohort A cohort from [read_adni()] or [panel_trajectories()]. If rows were
#'   removed since, a last step says so.
#' @param suppress Leave out counts below this number, 2 or more; `NULL` leaves out
#'   none. The usual choices are 5, 6, 10 and 11.
#' @param x,flow A flow.
#' @param ... Not used.
#'
#' @return `flow()`: a data frame of class `ibrc_flow` with one row per step: `step` (a short
#'   name), `reason` (why rows were dropped), `patients` and `visits` (how many are left after
#'   it), `dropped_patients` and `dropped_visits` (how many it dropped). Suppressed
#'   counts are `NA`. They print as `<5` if they are small, as `>=5` if they are not, and
#'   as `*` if they are sums of others.
#'   `plot()`: a `ggplot` object with boxes from top to bottom, and beside them what was dropped;
#'   it needs the package ggplot2. Steps that dropped nothing have no box; the caption names them.
#'   `flow_data()`: the data frame behind it, with one row per
#'   box: `step`, `kind` (`"kept"` or `"dropped"`), `label`, `x` and `y`.
#' @seealso [suppress_counts()] for counts that are not a flow.
#' @family clinical tables
#' @export
#' @examples
#' cohort <- read_adni(adni_like)
#' flow(cohort)
#' flow(cohort, suppress = 11)
#' if (requireNamespace("ggplot2", quietly = TRUE)) {
#'   plot(flow(cohort))
#' }
flow <- function(cohort, suppress = NULL) {
  check_given(cohort)
  check_class(cohort, "ibrc_cohort", "cohort", "read_adni() or panel_trajectories()")
  suppress <- check_suppress(suppress)
  log <- attr(cohort, "flow")
  roles <- attr(cohort, "roles")
  if (is.null(log) || is.null(roles) || !roles$id %in% names(cohort)) {
    abort_input("cohort", "has lost its account, which happens when columns are selected: take the flow before that.")
  }
  left <- c(length(unique(id_codes(cohort[[roles$id]]))), nrow(cohort))
  if (any(left != unlist(log[nrow(log), c("patients", "visits")]))) {
    log <- rbind(log, data.frame(step = "subset", reason = "rows removed afterwards",
                                 patients = left[1], visits = left[2]))
  }
  new_ibrc_flow(log, suppress)
}

new_ibrc_flow <- function(log, suppress = NULL) {
  out <- log[c("step", "reason", "patients", "visits")]
  marks <- NULL
  for (count in c("patients", "visits")) {
    taken <- c(0L, -diff(out[[count]]))
    hidden <- hide_small_counts(out[[count]], suppress)
    out[[count]][!is.na(hidden$left)] <- NA
    taken[!is.na(hidden$taken)] <- NA
    out[[paste0("dropped_", count)]] <- as.integer(taken)
    marks[[count]] <- hidden$left
    marks[[paste0("dropped_", count)]] <- hidden$taken
  }
  structure(out, class = c("ibrc_flow", "data.frame"), marks = marks, suppress = suppress)
}

# What is published must not allow a small count to be worked out. The counts of a flow are one
# total and its parts: what each step dropped, and what is left at the end.
# The counts in between are partial sums. Neighbouring parts are joined into blocks with a
# known sum. In the end every block is either one part that may be shown, or it hides so much
# besides its small parts that each of those may still be anything below `least`.
# Returns marks, and NA where a count is shown.
hide_small_counts <- function(left, least) {
  n <- length(left)
  if (is.null(least)) return(list(left = rep(NA, n), taken = rep(NA, n)))
  parts <- c(-diff(left), left[n])
  block <- seq_along(parts)
  repeat {
    unsafe <- Filter(function(b) !block_is_safe(parts, block, b, least), unique(block))
    if (!length(unsafe) || length(unique(block)) == 1) break
    blocks <- unique(block)
    at <- match(unsafe[1], blocks)
    # It is joined with the next block or, if there is none, with the one before.
    other <- if (at < length(blocks)) blocks[at + 1] else blocks[at - 1]
    block[block %in% c(unsafe[1], other)] <- min(unsafe[1], other)
  }
  small <- parts > 0 & parts < least
  together <- block %in% block[duplicated(block)]
  part_marks <- ifelse(small, paste0("<", least), ifelse(together & parts > 0, paste0(">=", least), NA))
  # The count after step k is the sum of the parts after it. It is shown where a block ends.
  ends <- block[-length(block)] != block[-1]
  total_mark <- if (length(unsafe)) "*" else NA
  list(left = c(total_mark, if (n > 1) c(ifelse(ends, NA, "*")[-(n - 1)], part_marks[n]))[seq_len(n)],
       taken = c(NA, part_marks[-n]))
}

block_is_safe <- function(parts, block, b, least) {
  inside <- parts[block == b]
  small <- inside > 0 & inside < least
  # The count that the block starts from is shown as well.
  before <- sum(parts[block >= b])
  if (before > 0 && before < least) return(FALSE)
  if (!any(small)) return(TRUE)
  large <- inside >= least
  # The largest possible size of one small part, if all others are as small as possible.
  any(large) && sum(inside) >= least * sum(large) + (least - 1) + (sum(small) - 1)
}

# Counts as text. Suppressed counts are replaced by their marks.
flow_text <- function(flow) {
  counts <- c("patients", "visits", "dropped_patients", "dropped_visits")
  marks <- attr(flow, "marks")
  out <- lapply(stats::setNames(counts, counts), function(count) {
    shown <- format(flow[[count]], big.mark = big_mark(), trim = TRUE)
    mark <- marks[[count]]
    if (length(mark) != length(shown)) mark <- rep(NA, length(shown))
    ifelse(is.na(flow[[count]]), ifelse(is.na(mark), "*", mark), shown)
  })
  as.data.frame(out)
}

#' @rdname flow
#' @export
print.ibrc_flow <- function(x, ...) {
  check_unused(...)
  columns <- c("step", "reason", "patients", "visits", "dropped_patients", "dropped_visits")
  if (!all(columns %in% names(x))) return(print(as.data.frame(x)))
  text <- flow_text(x)
  table <- stats::setNames(cbind(x$step, x$reason, text),
                           c("step", "reason", "patients", "visits", "- patients", "- visits"))
  width <- vapply(seq_along(table), function(i) max(nchar(c(names(table)[i], table[[i]]))), 0L)
  line <- function(cells) {
    aligned <- ifelse(seq_along(cells) <= 2, sprintf("%-*s", width, cells), sprintf("%*s", width, cells))
    sub(" +$", "", paste(aligned, collapse = "  "))
  }
  writeLines(line(names(table)))
  for (i in seq_len(nrow(table))) writeLines(line(vapply(table, function(column) column[i], "")))
  least <- attr(x, "suppress")
  if (anyNA(unlist(x[columns[-(1:2)]])) && !is.null(least)) {
    writeLines(paste0("Counts are hidden so that none below ", least, " can be worked out."))
  }
  invisible(x)
}

#' @export
as.data.frame.ibrc_flow <- function(x, ...) {
  attr(x, "marks") <- NULL
  attr(x, "suppress") <- NULL
  class(x) <- "data.frame"
  x
}

#' @rdname flow
#' @export
flow_data <- function(flow) {
  check_given(flow)
  check_class(flow, "ibrc_flow", "flow", "flow()")
  text <- flow_text(flow)
  empty <- took_nothing(flow)
  text <- text[!empty, ]
  flow <- flow[!empty, ]
  n <- nrow(flow)
  counts <- function(patients, visits) paste0("patients: ", patients, "\nvisits: ", visits)
  kept <- data.frame(step = flow$step, kind = "kept", label = counts(text$patients, text$visits), x = 0,
                     y = -(seq_len(n) - 1))
  kept$label[1] <- paste0(flow$reason[1], "\n", kept$label[1])
  gone <- data.frame(
    step = flow$step, kind = "dropped",
    label = paste0(flow$reason, "\n", counts(text$dropped_patients, text$dropped_visits)), x = 1, y = kept$y + 0.5
  )[-1, ]
  out <- rbind(kept, gone)
  rownames(out) <- NULL
  out
}

# Steps after the first at which nobody and nothing was dropped, as far as counts are shown.
took_nothing <- function(flow) {
  nothing <- (flow$dropped_patients == 0 & flow$dropped_visits == 0) %in% TRUE
  nothing & seq_along(nothing) > 1
}

#' @rdname flow
#' @export
plot.ibrc_flow <- function(x, ...) {
  check_unused(...)
  require_package("ggplot2", "Drawing a flow")
  draw_flow(x)
}

# This is a separate function for the reason given at draw_profile(). A box is as large as its text. A kept box is
# placed by the middle of its upper edge, and a dropped one by the middle of its left edge: arrows end there.
draw_flow <- function(x) {
  boxes <- flow_data(x)
  boxes$label <- vapply(boxes$label, in_lines, "", 34, USE.NAMES = FALSE)
  kept <- boxes[boxes$kind == "kept", ]
  gone <- boxes[boxes$kind == "dropped", ]
  # Between two boxes, the upper of which begins half a row higher.
  gone$y <- gone$y - 0.2
  head <- ggplot2::arrow(length = ggplot2::unit(1.6, "mm"), type = "closed")
  down <- data.frame(from = kept$y[-nrow(kept)], to = kept$y[-1])
  nothing <- x$reason[took_nothing(x)]
  box <- function(data, fill, ...) {
    ggplot2::geom_label(ggplot2::aes(label = .data$label), data = data, size = 2.4, lineheight = 0.95, fill = fill,
                        label.r = ggplot2::unit(0, "pt"), label.padding = ggplot2::unit(3, "pt"), ...)
  }
  ggplot2::ggplot(boxes, ggplot2::aes(.data$x, .data$y)) +
    ggplot2::geom_segment(ggplot2::aes(x = 0, xend = 0, y = .data$from, yend = .data$to), data = down,
                          arrow = head, colour = "grey40", linewidth = 0.4) +
    ggplot2::geom_segment(ggplot2::aes(x = 0, xend = 1, yend = .data$y), data = gone, arrow = head,
                          colour = "grey40", linewidth = 0.4) +
    box(kept, "white", vjust = 1) + box(gone, "grey93", hjust = 0) +
    ggplot2::coord_cartesian(xlim = c(-0.6, 3), ylim = c(min(kept$y) - 0.45, 0), clip = "off") +
    ggplot2::labs(caption = if (length(nothing)) in_lines(paste0("Nothing was dropped for: ",
                                                                 paste(nothing, collapse = "; "), "."))) +
    theme_diagram()
}
