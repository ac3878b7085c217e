# Every error a user can meet is a classed condition: `ibrc_error_<kind>`, then
# `ibrc_error`. Kinds: input (an argument is wrong), data (rows are wrong),
# memory, convergence, observation (impossible under every model), file (a
# checkpoint or a report), interrupted, package (an optional package is missing), worker (a
# process of future::plan() failed). The fields say which argument and which rows;
# no message carries a value of a user's data column.

abort <- function(kind, ..., argument = NULL, rows = NULL, fields = list(),
                  call = NULL) {
  condition <- structure(
    class = c(paste0("ibrc_error_", kind), "ibrc_error", "error", "condition"),
    c(list(message = paste0(...), call = call, argument = argument, rows = rows), fields)
  )
  stop(condition)
}

abort_input <- function(argument, ..., rows = NULL) {
  abort("input", "`", argument, "` ", ..., argument = argument, rows = rows)
}

require_package <- function(package, purpose) {
  if (!requireNamespace(package, quietly = TRUE)) {
    abort("package", purpose, " needs the package '", package,
          "'. Install it with install.packages(\"", package, "\").")
  }
}

# A function that the user wrote: what goes wrong in it is said with its argument.
call_user <- function(f, ..., argument) {
  tryCatch(f(...), error = function(e) {
    abort_input(argument, "is a function that failed: ", conditionMessage(e))
  })
}

# "a", "b" and "c"; at most `most` of them, then how many more.
enumerate <- function(x, most = 5, quote = "\"") {
  if (!length(x)) return("none")
  shown <- paste0(quote, utils::head(x, most), quote)
  more <- length(x) - length(shown)
  if (more > 0) shown <- c(shown, paste(more, "more"))
  if (length(shown) < 2) return(shown)
  paste(paste(utils::head(shown, -1), collapse = ", "), "and", utils::tail(shown, 1))
}

plural <- function(n, one, many = paste0(one, "s")) {
  paste(format(n, big.mark = ",", scientific = FALSE, trim = TRUE), if (n == 1) one else many)
}

# Warnings say what to do next, and have classes too: `ibrc_warning_<kind>`.
warn <- function(kind, ...) {
  warning(structure(class = c(paste0("ibrc_warning_", kind), "ibrc_warning", "warning", "condition"),
                    list(message = paste0(...), call = NULL)))
}
