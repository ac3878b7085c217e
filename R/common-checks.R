# Checks of single arguments. Each returns its value, cleaned, or raises an
# `ibrc_error_input` that names the argument.

# Rounding may keep a row of probabilities from summing to 1. Rows that miss 1 by this much or less are rescaled.
sum_tolerance <- 1e-8

# Refuses a call of the calling function that leaves out one of these arguments.
check_given <- function(...) {
  for (name in all.vars(substitute(c(...)))) {
    left_out <- eval(call("missing", as.name(name)), parent.frame())
    if (left_out) abort_input(name, "must be given.")
  }
}

check_names <- function(x, argument) {
  if (is.numeric(x) && length(x) == 1 && is.finite(x) && x >= 1 && x == round(x)) {
    abort_input(argument, "must be names, such as c(\"healthy\", \"diseased\"), not a number.")
  }
  if (is.factor(x)) x <- as.character(x)
  if (!is.character(x) || length(x) == 0) {
    abort_input(argument, "must be a character vector with at least one name.")
  }
  bad <- which(is.na(x) | !nzchar(x))
  if (length(bad)) {
    abort_input(argument, "has an empty or missing name at position ", bad[1], ".", rows = bad)
  }
  twice <- which(duplicated(x))
  if (length(twice)) {
    abort_input(argument, "must be distinct: ", enumerate(unique(x[twice])), " appears more than once.",
                rows = twice)
  }
  as_utf8(unname(x))
}

check_number <- function(x, argument, what = "one number") {
  if (!is.numeric(x) || length(x) != 1 || is.na(x)) {
    abort_input(argument, "must be ", what, ", not ", describe(x), ".")
  }
  as.numeric(x)
}

check_finite_number <- function(x, argument) {
  x <- check_number(x, argument, "one finite number")
  if (!is.finite(x)) abort_input(argument, "must be finite, not ", x, ".")
  x
}

# No machine could hold more of anything than this. Who asks for more has mistyped.
most_at_once <- 1e7

check_count <- function(x, argument, least = 1, most = .Machine$integer.max) {
  x <- check_number(x, argument, "one whole number")
  if (x != round(x) || x < least || x > most) {
    plain <- function(v) format(v, big.mark = big_mark(), scientific = FALSE, trim = TRUE)
    bound <- if (most < .Machine$integer.max) paste("from", plain(least), "to", plain(most)) else
      paste(plain(least), "or more")
    abort_input(argument, "must be a whole number, ", bound, "; it is ", format(x), ".")
  }
  as.integer(x)
}

check_seed <- function(x) check_count(x, "seed", least = -.Machine$integer.max)

check_positive <- function(x, argument) {
  x <- check_finite_number(x, argument)
  if (x <= 0) abort_input(argument, "must be greater than 0; it is ", format(x), ".")
  x
}

check_flag <- function(x, argument) {
  if (!is.logical(x) || length(x) != 1 || is.na(x)) {
    abort_input(argument, "must be TRUE or FALSE, not ", describe(x), ".")
  }
  x
}

check_choice <- function(x, choices, argument) {
  if (identical(x, choices)) return(choices[1])
  if (!is.character(x) || length(x) != 1 || is.na(x) || !x %in% choices) {
    abort_input(argument, "must be one of ", enumerate(choices, most = Inf), ", not ", describe(x), ".")
  }
  x
}

# `made_by` names the function that makes such objects, for example "trajectories()". Its help page tells more.
check_class <- function(x, class, argument, made_by) {
  if (!inherits(x, class)) {
    abort_input(argument, "must come from ", made_by, ", not ", describe(x), ".", topic = sub("[(].*", "", made_by))
  }
  invisible(x)
}

check_discount <- function(x, argument = "discount") {
  x <- check_number(x, argument)
  if (!is.finite(x) || x < 0 || x >= 1) {
    abort_input(argument, "must be at least 0 and less than 1; it is ", format(x), ".")
  }
  x
}

# One probability vector over `over`. Its entries are matched by name, or by position if they have no names.
check_distribution <- function(x, over, argument, of = "states") {
  if (!is.numeric(x) || !is.null(dim(x)) && sum(dim(x) > 1) > 1) {
    abort_input(argument, "must be a numeric vector, not ", describe(x), ".")
  }
  if (length(x) != length(over)) {
    abort_input(argument, "has ", length(x), " entries for ", length(over), " ", of, ".")
  }
  if (!is.null(names(x))) x <- x[match_names(names(x), over, argument, of)]
  bad <- which(!is.finite(x))
  if (length(bad)) {
    abort_input(argument, "is not finite at position ", bad[1], " (", enumerate(over[bad[1]]), ").", rows = bad)
  }
  bad <- which(x < 0)
  if (length(bad)) {
    abort_input(argument, "is negative at position ", bad[1], " (", enumerate(over[bad[1]]), ").", rows = bad)
  }
  total <- sum(x)
  if (abs(total - 1) > sum_tolerance) {
    abort_input(argument, "must sum to 1; it sums to ", format(total, digits = 10), ".")
  }
  stats::setNames(as.numeric(x) / total, over)
}

# The rows of a matrix. Each must be a probability vector, and is rescaled.
check_probability_rows <- function(x, argument) {
  x <- unname(x)
  bad <- which(rowSums(!is.finite(x) | x < 0) > 0)
  if (length(bad)) {
    abort_input(argument, "must be probabilities: row ", bad[1], " has a negative, missing or infinite entry.",
                rows = bad)
  }
  total <- rowSums(x)
  off <- which(abs(total - 1) > sum_tolerance)
  if (length(off)) {
    abort_input(argument, "must have rows that sum to 1: row ", off[1], " sums to ",
                format(total[off[1]], digits = 10), ".", rows = off)
  }
  x / total
}

# The order that brings the `given` names into the order of `over`.
match_names <- function(given, over, argument, of) {
  unknown <- setdiff(given, over)
  if (length(unknown)) {
    abort_input(argument, "names unknown ", of, " ", enumerate(unknown), "; there are ", enumerate(over), ".")
  }
  lost <- setdiff(over, given)
  if (length(lost)) abort_input(argument, "has no entry for ", enumerate(lost), ".")
  if (anyDuplicated(given)) {
    abort_input(argument, "names ", enumerate(unique(given[duplicated(given)])), " more than once.")
  }
  match(over, given)
}

# What was given, in a few words and without its values.
describe <- function(x) {
  if (is.null(x)) return("NULL")
  if (is.numeric(x) && length(x) == 1) return(if (is.na(x)) "NA" else format(x))
  if (is.character(x) && length(x) == 1 && !is.na(x)) return(paste0("\"", x, "\""))
  if (length(x) == 1 && is.atomic(x) && is.na(x)) return("NA")
  if (!is.null(dim(x)) && is.atomic(x)) return(paste("a", paste(dim(x), collapse = " by "), "array"))
  if (is.atomic(x)) return(paste("a", class(x)[1], "vector of length", length(x)))
  if (is.list(x) && !is.object(x)) return(list_words(x))
  paste("an object of class", enumerate(class(x)[1]))
}

list_words <- function(x) {
  if (!length(x)) return("an empty list")
  given <- names(x)[nzchar(names(x))]
  paste0("a list of ", plural(length(x), "entry", "entries"), if (length(given)) paste0(", named ", enumerate(given)))
}

# The same for a column of data. A column may hold a single value, so its length is not mentioned.
describe_column <- function(x) paste("a column of class", enumerate(class(x)[1]))

check_unused <- function(...) {
  if (...length()) {
    given <- names(list(...))
    given <- given[nzchar(given)]
    abort_input("...", "must be empty", if (length(given)) paste0("; it has ", enumerate(given)), ".")
  }
}

check_level <- function(conf.level) {
  conf.level <- check_number(conf.level, "conf.level")
  if (conf.level <= 0 || conf.level >= 1) abort_input("conf.level", "must lie between 0 and 1.")
  conf.level
}

# `advice`: what to do about a column that is not there, when no other name is close to it.
check_column <- function(data, column, argument, advice = NULL) {
  if (!is.character(column) || length(column) != 1 || is.na(column) || !nzchar(column)) {
    abort_input(argument, "must be the name of a column, not ", describe(column), ".")
  }
  if (!column %in% names(data)) {
    near <- names(data)[agrepl(column, names(data), ignore.case = TRUE)]
    abort_input(argument, "= \"", column, "\" is not a column of the data; there are ",
                enumerate(names(data), most = 12), ".",
                if (length(near)) paste0(" Did you mean ", enumerate(near[1]), "?") else advice)
  }
  if (sum(names(data) %in% column) > 1) abort_input(argument, "= \"", column, "\" is the name of more than one column.")
  values <- data[[column]]
  if (!inherits(values, "POSIXlt") && (!is.atomic(values) || !is.null(dim(values)) || is.complex(values))) {
    abort_input(argument, "= \"", column, "\" must be a plain column, not ", describe_column(values), ".")
  }
}
