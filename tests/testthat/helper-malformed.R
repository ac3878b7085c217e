# Calls that are wrong in one argument, over every function that users call.

# A value each of what people pass by mistake.
wrong_values <- function() {
  list(
    null = NULL, missing = NA, missing_number = NA_real_, missing_text = NA_character_, nan = NaN,
    infinite = Inf, minus_infinite = -Inf, minus = -1, zero = 0, fraction = 0.37, huge = 1e300,
    no_numbers = numeric(), numbers = c(3, -1, NA), named = c(nobody = 1, no_one = 2),
    text = "no such thing", empty_text = "", texts = c("no such thing", NA), no_text = character(),
    flag = TRUE, flags = c(TRUE, NA), complex = 1i, raw = as.raw(1), factor = factor("no such thing"),
    date = as.Date("2020-01-01"), list = list(), full_list = list(1, "a", NULL), named_list = list(nobody = 1),
    table = data.frame(), wide_table = data.frame(nobody = 1:2, no_one = c("a", NA)),
    matrix = matrix(NA_real_, 2, 2), large_matrix = matrix(0.5, 7, 3), text_matrix = matrix("a", 2, 2),
    array = array(-1, c(2, 2, 2)), empty_matrix = matrix(numeric(), 0, 2),
    a_function = function(...) stop("called"), nothing = function(...) NULL, environment = new.env(),
    formula = nobody ~ no_one, name = quote(nobody), call = quote(stop("evaluated"))
  )
}

# One function, a call of it that works, and what else is right. `fine`: by argument, the
# wrong values (by name) that are not wrong there, as its help says; `says`: by argument, another
# that the message may name; `leave`: arguments that are not for the function to check; `warns`: it
# may warn without a class, as other packages do.
call_entry <- function(valid, fine = list(), says = list(), leave = character(), warns = FALSE) {
  list(valid = valid, fine = fine, says = says, leave = leave, warns = warns)
}

# NaN anywhere in the numbers of a result.
holds_nan <- function(x) {
  if (is.environment(x) || is.function(x) || is.language(x)) return(FALSE)
  if (is.list(x)) return(any(vapply(unclass(x), holds_nan, NA)))
  is.numeric(x) && any(is.nan(x))
}

# What is wrong with the outcome of one call, or nothing. `right`: may the call succeed?
judge_call <- function(f, arguments, argument, right, says = character(), warns = FALSE) {
  unclassed <- NULL
  outcome <- tryCatch(
    withCallingHandlers(
      list(result = do.call(f, arguments, quote = TRUE)),
      warning = function(w) {
        if (!inherits(w, "ibrc_warning") && !warns) unclassed <<- conditionMessage(w)
        invokeRestart("muffleWarning")
      },
      message = function(m) invokeRestart("muffleMessage")
    ),
    error = function(e) e
  )
  if (!is.null(unclassed)) return(paste("warns without a class:", unclassed))
  if (!inherits(outcome, "error")) {
    if (!right) return("succeeds")
    if (holds_nan(outcome$result)) return("returns NaN")
    return(NULL)
  }
  text <- conditionMessage(outcome)
  if (!inherits(outcome, "ibrc_error")) return(paste("fails without a class:", text))
  named <- c(argument, says)
  quoted <- vapply(named, function(name) grepl(paste0("`", name, "`"), text, fixed = TRUE), NA)
  if (!any(outcome$argument %in% named, quoted)) return(paste("names another argument:", text))
  if (!has_known_topic(outcome)) return(paste("leads to no help page:", text))
  NULL
}

# A topic of the installed help, said at the end; help may have been left out on purpose.
has_known_topic <- function(error) {
  topics <- help_topics()
  !length(topics) || length(error$topic) == 1 && error$topic %in% topics &&
    endsWith(conditionMessage(error), paste0("See ?", error$topic, "."))
}

# Calls of one function, each wrong in one argument. `chosen(argument, position)`: which of the
# values to try, by name. Returns what is wrong with any outcome, and how many calls there were.
judge_entry <- function(name, entry, values, chosen) {
  f <- get(name, asNamespace("ibrc"))
  arguments <- setdiff(names(formals(f)), entry$leave)
  problems <- character()
  calls <- 0L
  for (i in seq_along(arguments)) {
    argument <- arguments[i]
    dots <- argument == "..."
    for (value in if (dots) "nonsense" else chosen(argument, i)) {
      given <- entry$valid
      if (dots) given$nonsense <- 1 else given[argument] <- values[value]
      problem <- judge_call(f, given, argument, value %in% entry$fine[[argument]], entry$says[[argument]], entry$warns)
      calls <- calls + 1L
      if (length(problem)) problems <- c(problems, paste0(name, "(", argument, " = ", value, ") ", problem))
    }
  }
  list(problems = problems, calls = calls)
}

# Functions and methods that users call, with arguments to get wrong: all that NAMESPACE exports,
# but for printing.
callable_names <- function() {
  package <- parseNamespaceFile("ibrc", dirname(system.file(package = "ibrc")))
  methods <- package$S3methods
  methods <- methods[!methods[, 1] %in% c("print", "format"), ]
  methods <- paste(sub("^.*::", "", methods[, 1]), methods[, 2], sep = ".")
  has_more <- vapply(methods, function(name) {
    length(setdiff(names(formals(get(name, asNamespace("ibrc"))))[-1], "...")) > 0
  }, NA)
  sort(unique(c(package$exports, methods[has_more])))
}
