# What the result of a user's function depends on besides its code: the values that it captured, and those that it names
# in the workspace. Two functions with the same hash give the same result, unless they read files, options or the clock.

# The hash of a function covers its code and whatever the code names outside of packages. The hash of any other value
# covers its contents. Where the contents cannot be known, an error of class `ibrc_unknowable` says what they are.
captured_hash <- function(x) hash_value(x, new_registry())

# Environments and functions that were already visited, since they may lead back to themselves.
new_registry <- function() list2env(list(met = list(), hash = character()), parent = emptyenv())

remember <- function(x, registry, work) {
  for (i in seq_along(registry$met)) if (identical(registry$met[[i]], x)) return(registry$hash[i])
  i <- length(registry$met) + 1L
  registry$met[[i]] <- x
  registry$hash[i] <- paste("met as number", i)
  registry$hash[i] <- work()
  registry$hash[i]
}

hash_value <- function(x, registry) {
  if (is.function(x)) return(hash_function(x, registry))
  if (is.environment(x)) return(hash_environment(x, registry))
  if (inherits(x, "formula")) {
    around <- environment(x)
    named <- if (!is.null(around)) hash_names(symbols_in(x), around, registry)
    return(fingerprint_of(list("formula", deparse(x), named)))
  }
  if (is.language(x)) return(fingerprint_of(list("code", deparse(x))))
  attributes <- attributes(x)
  # The place of an object in memory, which data.table writes down, is not a value.
  attributes <- attributes[!vapply(attributes, typeof, "") %in% "externalptr"]
  contents <- switch(typeof(x),
    list = , pairlist = vapply(unname(as.list(unclass(x))), hash_value, "", registry = registry),
    S4 = NULL, raw = as.integer(x), complex = c(Re(x), Im(x)),
    logical = , integer = , double = , character = as.vector(unclass(x)), "NULL" = NULL,
    unknowable(paste("an object of type", typeof(x)))
  )
  if (is.character(contents)) contents <- valid_text(contents)
  around <- if (length(attributes)) vapply(attributes[order(names(attributes))], hash_value, "", registry = registry)
  fingerprint_of(list(typeof(x), contents, sort(names(attributes)), unname(around)))
}

# Bytes that are not valid text are told apart all the same.
valid_text <- function(x) {
  x <- enc2utf8(x)
  wrong <- !validUTF8(x)
  x[wrong] <- vapply(x[wrong], function(one) paste(charToRaw(one), collapse = " "), "")
  x
}

unknowable <- function(what) {
  stop(structure(class = c("ibrc_unknowable", "error", "condition"), list(message = what, call = NULL)))
}

hash_function <- function(f, registry) {
  if (is.primitive(f)) return(fingerprint_of(list("primitive", deparse(f))))
  remember(f, registry, function() {
    names <- setdiff(symbols_in(f), "")
    fingerprint_of(list("function", f, hash_names(names, environment(f), registry)))
  })
}

hash_environment <- function(x, registry) {
  if (identical(x, globalenv())) unknowable("the whole workspace")
  if (is_of_package(x)) return(fingerprint_of(list("package", environmentName(x))))
  remember(x, registry, function() {
    names <- sort(ls(x, all.names = TRUE, sorted = FALSE), method = "radix")
    fingerprint_of(list("environment", names, vapply(names, hash_binding, "", frame = x, registry = registry)))
  })
}

# The hash of what these names stand for outside of packages, seen from a frame; methods of generics of these names too.
hash_names <- function(names, frame, registry) {
  found <- list()
  while (!identical(frame, emptyenv()) && !isNamespace(frame)) {
    if (is_of_package(frame)) {
      names <- setdiff(names, ls(frame, all.names = TRUE))
    } else {
      there <- ls(frame, all.names = TRUE, sorted = FALSE)
      methods <- there[sub("[.].*", "", there) %in% names & grepl(".", there, fixed = TRUE)]
      here <- intersect(there, c(names, methods))
      for (name in here) found[[name]] <- frame
      names <- setdiff(names, here)
    }
    frame <- parent.env(frame)
  }
  if (!length(found)) return(NULL)
  found <- found[sort(names(found), method = "radix")]
  vapply(names(found), function(name) hash_binding(name, found[[name]], registry), "")
}

hash_binding <- function(name, frame, registry) {
  if (bindingIsActive(as.name(name), frame)) unknowable(paste0("an active binding, `", name, "`"))
  value <- tryCatch(get0(name, frame, inherits = FALSE), error = function(e) {
    unknowable(paste0("`", name, "`, which fails"))
  })
  # This argument was not given.
  if (is.symbol(value) && !nzchar(as.character(value))) return("missing")
  hash_value(value, registry)
}

is_of_package <- function(frame) {
  isNamespace(frame) || identical(frame, baseenv()) || grepl("^(package:|Autoloads$|imports:)", attr_name(frame))
}

attr_name <- function(frame) {
  name <- attr(frame, "name")
  if (is.character(name) && length(name) == 1) name else ""
}

# Names that code may look up, except its arguments where they are in force. Too many names are better than too few.
# `predict` is always among them, since it is called on whatever a method returns.
symbols_in <- function(x) {
  if (is.function(x)) {
    inside <- c(unlist(lapply(formals(x), symbols_in)), symbols_in(body(x)))
    return(unique(c(setdiff(inside, names(formals(x))), "predict")))
  }
  if (is.symbol(x)) return(as.character(x))
  if (is.pairlist(x) || is.expression(x)) return(unique(unlist(lapply(as.list(x), symbols_in))))
  if (!is.call(x)) return(character())
  parts <- as.list(x)
  called <- if (is.symbol(parts[[1]])) as.character(parts[[1]]) else ""
  if (called %in% c("::", ":::")) return(character())
  if (called %in% c("$", "@")) return(symbols_in(parts[[2]]))
  if (called == "function") {
    inside <- c(unlist(lapply(parts[[2]], symbols_in)), symbols_in(parts[[3]]))
    return(setdiff(inside, names(parts[[2]])))
  }
  unique(unlist(lapply(parts, symbols_in)))
}

# Functions outside of packages that say how to predict from a model, with their names, seen from a frame. A separate
# process does not know them.
own_predictions <- function(f) {
  frame <- environment(f)
  found <- list()
  while (!is.null(frame) && !identical(frame, emptyenv())) {
    if (!is_of_package(frame)) {
      for (name in setdiff(ls(frame, pattern = "^predict[.]"), names(found))) {
        if (!bindingIsActive(as.name(name), frame) && is.function(frame[[name]])) found[[name]] <- frame[[name]]
      }
    }
    frame <- if (isNamespace(frame)) NULL else parent.env(frame)
  }
  found
}
