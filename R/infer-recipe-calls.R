# Functions of a user that are told by what they are: a sampler need not call them at every step of every chain, where
# it knows what they return.

# Whether a setting is known to take laws and do nothing else with them: a setting that is not a function, functions of
# the package, and a function that is a single call of these. Any other function may behave differently elsewhere, and
# is called at every step.
puts_laws <- function(setting) {
  !is.function(setting) || is_law_holder(setting) || is_call_about(setting, is_law_holder)
}

# Whether a function of one argument is a single call of another, chosen by `is_known`, that has this argument as it is,
# and of which nothing else depends on it.
is_call_about <- function(f, is_known) {
  call <- body(f)
  while (is.call(call) && identical(call[[1]], quote(`{`)) && length(call) == 2) call <- call[[2]]
  # The default of another argument might use the first.
  if (length(formals(f)) != 1 || !is.call(call)) return(FALSE)
  if (!is_known(function_named(call[[1]], environment(f)))) return(FALSE)
  given <- as.name(names(formals(f)))
  others <- as.list(call)[-1]
  itself <- vapply(others, identical, NA, given)
  sum(itself) == 1 && all(vapply(others[!itself], is_apart, NA, given, environment(f)))
}

is_law_holder <- function(f) is_same_function(f, adni_setting) || is_same_function(f, as_setting)

is_same_function <- function(f, g) identical(f, g, ignore.bytecode = TRUE, ignore.srcref = TRUE)

# The function of a call, by a name or by package::name; NULL for anything else.
function_named <- function(name, where) {
  if (is.name(name)) return(get0(as.character(name), where, mode = "function"))
  if (!is.call(name) || !identical(name[[1]], quote(`::`))) return(NULL)
  tryCatch(getExportedValue(as.character(name[[2]]), as.character(name[[3]])), error = function(e) NULL)
}

# Functions that depend only on their arguments.
blind_functions <- function() list(`(`, `+`, `-`, `*`, `/`, c, list, cbind, rbind, matrix, rep, certainty_bonus)

# Whether an argument is a constant, a name other than that of the laws, or a call made of those.
is_apart <- function(part, given, where) {
  if (!is.call(part)) return(!is.name(part) || (!identical(part, given) && !identical(part, quote(...))))
  f <- function_named(part[[1]], where)
  blind <- any(vapply(blind_functions(), is_same_function, NA, f))
  blind && all(vapply(as.list(part)[-1], is_apart, NA, given, where))
}

# Whether models are a single call of perturb_models() for the setting, of which nothing else depends on it.
takes_step <- function(models) {
  if (!is.function(models) || is.primitive(models) || !identical(names(formals(models)), "setting")) return(FALSE)
  is_call_about(models, function(f) is_same_function(f, perturb_models))
}
