# Some generics exist in other packages as well: here it is decided whose method to call. There is also one generic of
# our own whose methods are in many rooms.

#' @rdname project_behavior
#' @export
project_behavior <- function(planner, ...) {
  check_given(planner)
  UseMethod("project_behavior")
}

# Our generic may hide the generic of another package that has the same name. An object that is not a fit is handed on
# to that package, so that the order of library() calls does not matter.
hand_on <- function(object, package, generic, ...) {
  known <- requireNamespace(package, quietly = TRUE) && (...length() || has_method(object, package, generic))
  if (!known) check_class(object, "ibrc_fit", "object", "ibrc()")
  # R looks for methods where a generic is called. A plain call from here would find our own method.
  do.call(getExportedValue(package, generic), list(object, ...), quote = TRUE, envir = globalenv())
}

# Does the generic of a package have a method for exactly this class of object?
has_method <- function(object, package, generic) {
  any(vapply(c(class(object), typeof(object)), function(class) {
    !is.null(utils::getS3method(generic, class, optional = TRUE, envir = asNamespace(package)))
  }, NA))
}
