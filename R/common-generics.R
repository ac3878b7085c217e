# Some generics exist in other packages as well: here it is decided whose method to call. There is also one generic of
# our own whose methods are in many rooms.

#' @rdname project_behavior
#' @export
project_behavior <- function(planner, ...) {
  check_given(planner)
  UseMethod("project_behavior")
}

# Our generic may hide the generic of another package that has the same name. An object that is not a fit is handed on
# to that package if it has a method for it, so that the order of library() calls does not matter. `.default`: whether
# it may be for the default method there, if there is one, as what comes with further arguments may be. Our own objects
# never are. (Our methods are registered with those generics too: test-common-generics.R.)
hand_on <- function(object, package, generic, ..., .default = ...length() > 0) {
  ours <- any(startsWith(class(object), "ibrc_"))
  known <- requireNamespace(package, quietly = TRUE) && has_method(object, package, generic, .default && !ours)
  if (!known) check_class(object, "ibrc_fit", "object", "ibrc()")
  # R looks for methods where a generic is called. A plain call from here would find our own method.
  do.call(getExportedValue(package, generic), list(object, ...), quote = TRUE, envir = globalenv())
}

# Does the generic of a package have a method for this class of object? `default`: the default method counts as well.
has_method <- function(object, package, generic, default = FALSE) {
  any(vapply(c(.class2(object), typeof(object), if (default) "default"), function(class) {
    !is.null(utils::getS3method(generic, class, optional = TRUE, envir = asNamespace(package)))
  }, NA))
}
