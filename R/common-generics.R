# Generics that other packages have as well: whose method to call. And one of ours whose methods stand in many rooms.

#' @rdname project_behavior
#' @export
project_behavior <- function(planner, ...) {
  check_given(planner)
  UseMethod("project_behavior")
}

# A generic of ours may hide another package's of the same name: what is not a fit goes
# there, so that the order of library() calls does not matter.
hand_on <- function(object, package, generic, ...) {
  known <- requireNamespace(package, quietly = TRUE) && (...length() || has_method(object, package, generic))
  if (!known) check_class(object, "ibrc_fit", "object", "ibrc()")
  # Methods are looked for where a generic is called: called from here, it would find ours.
  do.call(getExportedValue(package, generic), list(object, ...), quote = TRUE, envir = globalenv())
}

# Whether a package's generic has a method for just this class of object.
has_method <- function(object, package, generic) {
  any(vapply(c(class(object), typeof(object)), function(class) {
    !is.null(utils::getS3method(generic, class, optional = TRUE, envir = asNamespace(package)))
  }, NA))
}
