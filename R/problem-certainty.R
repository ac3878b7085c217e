#' A bonus for being sure
#'
#' A worth of the belief itself, for the `belief_utility` of [decision_setting()]:
#' it is paid at every visit, whatever the action, where the likeliest state has
#' a probability of more than `above`.
#'
#' Any function of beliefs and an action can stand in its place; this one also says
#' in words what it pays where a setting is printed.
#'
#' @param worth What certainty is worth per visit, a finite number. Negative: a price
#'   of being sure.
#' @param above The probability to exceed, at least 0 and less than 1.
#' @return A function of class `ibrc_certainty_bonus`: called with a matrix of beliefs
#'   (one column per state) and the name of an action, it returns one number per row, `worth`
#'   or 0.
#' @seealso [adni_setting()], which uses it.
#' @family problem statements
#' @export
#' @examples
#' bonus <- certainty_bonus(2.5, above = 0.9)
#' bonus
#' bonus(rbind(c(0.95, 0.05), c(0.5, 0.5)), "wait")
certainty_bonus <- function(worth, above = 0.9) {
  check_given(worth)
  new_ibrc_certainty_bonus(check_finite_number(worth, "worth"), check_certainty(above, "above"))
}

check_certainty <- function(x, argument) {
  x <- check_finite_number(x, argument)
  if (x < 0 || x >= 1) {
    abort_input(argument, "must be at least 0 and less than 1: no belief exceeds 1; it is ", format(x), ".")
  }
  x
}

# A belief that is 0.9 but for rounding does not exceed 0.9.
certainty_slack <- 1e-12

new_ibrc_certainty_bonus <- function(worth, above) {
  pays <- function(beliefs, action) {
    beliefs <- as.matrix(beliefs)
    surest <- beliefs[cbind(seq_len(nrow(beliefs)), max.col(beliefs, ties.method = "first"))]
    worth * (surest > above + certainty_slack)
  }
  structure(pays, class = c("ibrc_certainty_bonus", "function"), worth = worth, above = above)
}

#' @export
format.ibrc_certainty_bonus <- function(x, ...) {
  paste0(format(attr(x, "worth")), " while any belief exceeds ", format(attr(x, "above")))
}

#' @export
print.ibrc_certainty_bonus <- function(x, ...) {
  writeLines(paste0("A worth of the belief itself: ", format(x)))
  invisible(x)
}

# The worth of beliefs in a few words.
belief_utility_words <- function(belief_utility) {
  if (inherits(belief_utility, "ibrc_certainty_bonus")) format(belief_utility) else "a function of the belief"
}
