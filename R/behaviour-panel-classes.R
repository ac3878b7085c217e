# Measures of a panel: how a column is read, and the classes into which its values are cut.

# Nobody uses numbers as the names of more classes than this.
most_number_classes <- 12

# Negative numbers that usually stand for missing in a column of results.
usual_codes <- c(-7, -8, -9, -77, -88, -99, -777, -888, -999, -7777, -8888, -9999, -99999)

# The values of a marker or test: numbers, or text or a factor whose values are classes. `cut`: whether cuts were
# given; text is then read as numbers.
panel_measure <- function(x, cut, codes, column, role) {
  if (is.character(x) || is.factor(x)) {
    x[is_lost(x)] <- NA
    if (is.factor(x)) x <- factor(x, levels(x)[nzchar(bare_text(levels(x)))])
    number <- panel_numbers(x)
    lost <- which(!is.na(x) & is.na(number))
    if (cut && length(lost)) {
      abort_rows(lost, role, "`", role, "_cuts` need numbers, but column \"", column, "\" has something else",
                 advice = paste0("Make it NA, or a number. If each text is a class, leave `", role, "_cuts` out."))
    }
    if (!cut) {
      # "<50" is another result than "50".
      plain <- replace(number, grepl(bound_sign, as_utf8(x)), NA)
      coded <- !is.na(plain) & is.na(without_codes(plain, codes, column, role))
      if (is.factor(x)) x <- factor(x, setdiff(levels(x), as.character(x[coded])))
      x[coded] <- NA
      number[coded] <- NA
      if (is.character(x)) refuse_numbers_as_text(x, number, lost, column, role) else warn_odd_factor(x, column)
      refuse_lookalikes(x, role, column)
      return(x)
    }
    x <- number
  }
  without_codes(as.numeric(x), codes, column, role)
}

# A factor says that its levels are meant. One of many numbers and something else may have been made while it was read.
warn_odd_factor <- function(x, column) {
  number <- panel_numbers(levels(droplevels(x)))
  n <- sum(!is.na(number))
  if (n <= most_number_classes || n == length(number)) return(invisible())
  warn("data", "Column ", enumerate(column), " is a factor with ", n, " numbers and something else among its levels: ",
       "each is a class by itself. Was it read with stringsAsFactors = TRUE?")
}

# Text whose values would become classes: numbers are hardly names of classes, and words for missing never are. A factor
# says that they are meant.
refuse_numbers_as_text <- function(x, number, lost, column, role) {
  if (length(unique(number[!is.na(number)])) > most_number_classes) {
    said <- paste0("\"", column, "\" is text with more than ", most_number_classes, " different numbers")
    if (length(lost)) {
      abort_rows(lost, role, "column ", said, ", and something else",
                 advice = paste0("Make those rows NA, or numbers, and give `", role, "_cuts`; or make the column a ",
                                 "factor if each value is a class."))
    }
    abort_input(role, "= ", said, ": give `", role, "_cuts`, make it numbers with as.numeric(), or a factor if each ",
                "number is a class.")
  }
  twice <- alike_numbers(x, number)
  if (length(twice)) {
    abort_rows(twice, role, "column \"", column, "\" is text in which one number is written in several ways",
               advice = paste0("Write it in one, or give `", role, "_cuts`; or make the column a factor if they are ",
                               "different classes."))
  }
  missing <- which(plain_case(x) %in% missing_words)
  if (length(missing)) {
    abort_rows(missing, role, "column \"", column, "\" is text in which words for missing would be results",
               advice = "Make them NA, or the column a factor if they are a class.")
  }
}

# Rows with a number that an earlier one writes otherwise, as "1" and "1.0". "<1" is another result than "1".
alike_numbers <- function(x, number) {
  values <- unique(x[!is.na(number) & !grepl(bound_sign, as_utf8(x))])
  which(x %in% values[duplicated(number[match(values, x)])])
}

# Texts that nobody takes for the name of a class ("-" and "none" may be one).
missing_words <- c("na", "n/a", "n.a", "n.a.", "#n/a", "<na>", "nan", "null", "#null!", "#value!", ".", "?", "missing",
                   "unknown", "not done")

plain_case <- function(x) lower_case(bare_text(as_utf8(x)))

# A result above the limit of an assay (">50") becomes a number just above it. One below ("<0.1") becomes the limit.
panel_numbers <- function(x) {
  text <- as_utf8(x)
  number <- read_numbers(sub(bound_sign, "", text))
  above <- which(grepl("^[[:space:]]*>[^=]", text))
  number[above] <- number[above] + abs(number[above]) * .Machine$double.eps
  number
}

without_codes <- function(x, codes, column, role) {
  if (!is.null(codes)) {
    x[x %in% codes] <- NA
    return(x)
  }
  below <- which(x < 0)
  if (length(below) && all(x[below] %in% usual_codes)) {
    abort_rows(below, role, "column \"", column, "\" has no negative values except numbers that usually mean missing",
               advice = paste("Make them NA, or name them in `missing_codes`; missing_codes = numeric() takes them",
                              "as they are."))
  }
  x
}

check_cuts <- function(cuts, x, argument) {
  if (!is.numeric(x)) return(NULL)
  if (!is.numeric(cuts) || !length(cuts) || anyNA(cuts)) {
    abort_input(argument, "must be a number of classes or cut points, not ", describe(cuts), ".")
  }
  if (is_class_count(cuts)) return(list(classes = cuts))
  if (is.unsorted(cuts, strictly = TRUE)) abort_input(argument, "must be cut points that increase.")
  points <- cuts[is.finite(cuts)]
  if (!length(points)) abort_input(argument, "must have a finite cut point.")
  list(points = points)
}

is_class_count <- function(cuts) {
  length(cuts) == 1 && is.finite(cuts) && cuts >= 2 && cuts == round(cuts)
}

# `cuts`: from check_cuts(). The classes of the values that are kept: numbers from 1, and NA if there is no value.
panel_classes <- function(x, cuts, labels, column, role) {
  argument <- paste0(role, "_labels")
  if (is.numeric(x)) {
    points <- if (is.null(cuts$points)) quantile_cuts(x, cuts$classes, column, role) else cuts$points
    class <- findInterval(x, points, left.open = TRUE) + 1L
    n <- length(points) + 1
    if (is.null(labels)) labels <- paste(column, class_words(n), sep = "_")
  } else {
    points <- NULL
    known <- if (is.factor(x)) levels(x) else sorted_text(x[!is.na(x)])
    class <- match(as_utf8(x), known)
    n <- length(known)
    if (n < 1) abort_input(role, "has no values among the visits kept.")
    if (is.null(labels)) labels <- paste(column, known, sep = "_")
  }
  labels <- check_names(labels, argument)
  if (length(labels) != n) {
    abort_input(argument, "has ", plural(length(labels), "name"), " for ", plural(n, "class", "classes"), ".")
  }
  list(class = class, labels = labels, cuts = points)
}

quantile_cuts <- function(x, n, column, role) {
  x <- x[!is.na(x)]
  if (!length(x)) abort_input(role, "has no values among the visits kept.")
  cuts <- if (n <= length(x)) stats::quantile(x, seq_len(n - 1) / n, names = FALSE)
  if (is.null(cuts) || anyDuplicated(cuts) || max(cuts) >= max(x)) {
    abort_input(paste0(role, "_cuts"), "= ", n, " asks for more classes than the values of \"", column,
                "\" have quantiles apart; give fewer, or cut points.")
  }
  cuts
}

class_words <- function(n) {
  if (n == 2) return(c("low", "high"))
  if (n == 3) return(c("low", "middle", "high"))
  as.character(seq_len(n))
}
