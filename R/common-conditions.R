# Every error a user can meet is a classed condition: `ibrc_error_<kind>`, then
# `ibrc_error`. Kinds: input (an argument is wrong), data (rows are wrong),
# memory, convergence, observation (impossible under every model), file (a
# checkpoint or a report), checkpoint (one that cannot be used; it is of the kind file as well),
# interrupted, package (an optional package is missing), worker (a
# process of future::plan() failed), loo (the draws do not allow leave-one-out results). The
# fields say which argument and which rows are wrong, and `topic` names the help page to read.
# No message contains a value from a column of the user's data.

# `kind`: one kind, or several with the narrowest first.
abort <- function(kind, ..., argument = NULL, rows = NULL, topic = NULL, fields = list(),
                  call = NULL) {
  message <- paste0(...)
  # The help page of the function that was called, unless another page says more.
  topic <- c(intersect(topic, help_topics()), called_topic())
  condition <- structure(
    class = c(paste0("ibrc_error_", kind), "ibrc_error", "error", "condition"),
    c(list(message = message, call = call, argument = argument, rows = rows,
           topic = if (length(topic)) topic[1]), fields)
  )
  stop(condition)
}

abort_input <- function(argument, ..., rows = NULL, topic = NULL) {
  abort("input", "`", argument, "` ", ..., argument = argument, rows = rows, topic = topic)
}

# What went wrong. A line of its own says which help page to read.
#' @export
conditionMessage.ibrc_error <- function(c) {
  if (is.null(c$topic)) return(c$message)
  paste0(c$message, "\nSee ?", c$topic, ".")
}

# Names that help() finds in this package. There are none if it was installed without help.
help_topics <- function() {
  file <- system.file("help", "aliases.rds", package = "ibrc")
  if (nzchar(file)) names(readRDS(file)) else character()
}

# The help page of the function that the user called. Among our functions that are running, it is the last one that
# was not called by another of them. (The last one, because an argument of one function may be a call of another.)
called_topic <- function() {
  ours <- topenv()
  parents <- sys.parents()
  is_ours <- vapply(seq_along(parents), function(i) identical(environment(sys.function(i)), ours), NA)
  topics <- help_topics()
  for (i in rev(which(is_ours))) {
    if (called_from(i, parents, is_ours)) next
    name <- intersect(public_name(sys.function(i), ours), topics)
    if (length(name)) return(name[1])
  }
}

# Was frame `i` called, directly or indirectly, from one of the frames `wanted`? Evaluators of other packages can make
# a frame its own parent. Such a frame counts as called from the frame below it.
called_from <- function(i, parents, wanted) {
  while (i > 0) {
    i <- if (parents[i] < i) parents[i] else i - 1
    if (i > 0 && wanted[i]) return(TRUE)
  }
  FALSE
}

# The name by which users call a function of the package: its own name or, for a method, the name of the generic.
# There is none if users cannot call it.
public_name <- function(f, namespace) {
  is_f <- function(name) identical(get0(name, namespace), f)
  methods <- getNamespaceInfo(namespace, "S3methods")
  methods <- methods[vapply(methods[, 3], is_f, NA), , drop = FALSE]
  unique(c(Filter(is_f, getNamespaceExports(namespace)), methods[, 3], methods[, 1]))
}

require_package <- function(package, purpose) {
  if (!requireNamespace(package, quietly = TRUE)) {
    abort("package", purpose, " needs the package '", package,
          "'. Install it with install.packages(\"", package, "\").")
  }
}

# Calls a function that the user wrote. If it fails, the error names the argument that it was given as.
call_user <- function(f, ..., argument) {
  tryCatch(f(...), error = function(e) {
    abort_input(argument, "is a function that failed: ", plain_words(e))
  })
}

# What an error says, without the line that names a help page.
plain_words <- function(e) if (inherits(e, "ibrc_error")) e$message else conditionMessage(e)

# Warnings say what to do next. They have classes too: `ibrc_warning_<kind>`.
warn <- function(kind, ...) {
  warning(structure(class = c(paste0("ibrc_warning_", kind), "ibrc_warning", "warning", "condition"),
                    list(message = paste0(...), call = NULL)))
}
