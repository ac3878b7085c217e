#' Hide small counts
#'
#' A count of only a few people can identify them. Counts from 1 to `below - 1` are shown as
#' `"<5"` (for `below = 5`). Other counts are hidden as well, the smallest first, and are shown as
#' `">=5"`. As many are hidden as are needed so that no hidden count can be worked out from a total that
#' is published elsewhere. Given the sum of all counts and every count that is shown, a small
#' count could still be any number from 1 to `below - 1`. A count of 0 is shown.
#'
#' Sometimes hiding all counts is not enough, as with groups of 1 and 5. Then the total has to
#' be hidden too. The attribute `"total"` of the result is the total as it may be shown.
#' With a single count, that is the count.
#'
#' @param x Whole numbers, not negative, that add up to a total, such as trajectories per group.
#'   Missing ones stay missing, and are assumed to be known to the reader. Or a data frame with such
#'   columns.
#' @param below The smallest count that may be shown.
#' @param columns For a data frame, the names of its columns of counts. Each adds up to a
#'   total of its own.
#' @return Text of the length of `x`, with the same names and the attribute `"total"`. For a
#'   data frame, the data frame with text in those columns.
#' @family inference
#' @export
#' @examples
#' suppress_counts(c(north = 120, south = 3, east = 41))
#' suppress_counts(c(1, 5))
#' suppress_counts(data.frame(clinic = c("north", "south", "east"), n = c(120, 3, 41)), columns = "n")
suppress_counts <- function(x, below = 5, columns = NULL) {
  check_given(x)
  below <- check_count(below, "below", least = 2)
  if (!is.data.frame(x)) {
    if (!is.null(columns)) abort_input("columns", "is for data frames; `x` is ", describe(x), ".")
    return(hide_counts(check_counts(x, "x"), below))
  }
  if (!length(columns)) abort_input("columns", "must name the columns of counts.")
  if (!is.character(columns)) abort_input("columns", "must be names of columns, not ", describe(columns), ".")
  for (column in columns) {
    check_column(x, column, "columns")
    x[[column]] <- as.vector(hide_counts(check_counts(x[[column]], "x"), below))
  }
  x
}

check_counts <- function(x, argument) {
  if (!is.numeric(x) || !is.null(dim(x)) && length(dim(x)) > 1) {
    abort_input(argument, "must be counts, not of class ", enumerate(class(x)[1]), ".")
  }
  bad <- which(!is.na(x) & (!is.finite(x) | x < 0 | x != round(x)))
  if (length(bad)) {
    abort_input(argument, "must be whole numbers, not negative: position ", bad[1], " is not.", rows = bad)
  }
  stats::setNames(as.vector(x), names(x))
}

# NULL, or the smallest count that may be shown.
check_suppress <- function(suppress) {
  if (is.null(suppress)) return(NULL)
  check_count(suppress, "suppress", least = 2)
}

hide_counts <- function(x, below) {
  small <- which(!is.na(x) & x > 0 & x < below)
  others <- setdiff(order(x), c(small, which(is.na(x) | x == 0)))
  more <- 0
  while (!is_protected(x, small, others[seq_len(more)], below) && more < length(others)) more <- more + 1
  hidden <- others[seq_len(more)]
  at_least <- paste0(">=", below)
  out <- format_counts(x)
  out[small] <- paste0("<", below)
  out[hidden] <- at_least
  total <- sum(x, na.rm = TRUE)
  shown <- if (length(small) && total < below) paste0("<", below)
  else if (is_protected(x, small, hidden, below)) format_counts(total)
  else at_least
  structure(out, names = names(x), total = shown)
}

format_counts <- function(x) {
  ifelse(is.na(x), NA_character_, trimws(formatC(x, format = "f", digits = 0, big.mark = big_mark())))
}

# Could every small count still be anything from 1 to below - 1, for somebody who
# knows the sum of the hidden counts, which of them are small, and which are not?
is_protected <- function(x, small, hidden, below) {
  if (!length(small)) return(TRUE)
  total <- sum(x[c(small, hidden)])
  # The smallest counts were hidden first, so that the counts shown are an upper bound for them.
  shown <- x[setdiff(which(!is.na(x) & x > 0), c(small, hidden))]
  most_of_hidden <- if (length(hidden)) length(hidden) * min(shown, Inf) else 0
  most_of_others <- (length(small) - 1) * (below - 1) + most_of_hidden
  least_of_others <- length(small) - 1 + length(hidden) * below
  total - most_of_others <= 1 && total - least_of_others >= below - 1
}

# Trajectories per group of a fit as text, with the total as it may be shown. Sizes of cells (people who differ) are
# printed nowhere, so that their total tells of nobody.
group_counts <- function(fit, suppress) {
  size <- fit$group_sizes
  if (!is.null(suppress)) {
    out <- hide_counts(size, suppress)
    if (!is.null(fit$effects)) attr(out, "total") <- attr(hide_counts(c(all = sum(size)), suppress), "total")
    return(out)
  }
  structure(format_counts(size), names = names(size), total = format_counts(sum(size)))
}

# "1,234 visits" or "<5 visits". There are at least as many visits as trajectories.
visits_words <- function(n, suppress) {
  if (!is.null(suppress) && n < suppress) paste0("<", suppress, " visits") else plural(n, "visit")
}

# "1 trajectory" or "<5 trajectories".
trajectories_words <- function(count) {
  paste(count, ifelse(count == "1", "trajectory", "trajectories"))
}
