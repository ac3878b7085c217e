#' A bonus for being sure
#'
#' A worth of the belief itself, for the `belief_utility` of [decision_setting()].
#' It is paid at every visit, whatever the action, when the likeliest state has
#' a probability of more than `above`. If `full` is larger than `above`, only a part is paid between them.
#'
#' A bonus that jumps means something different on every lattice of beliefs: it rises between two nodes, and their
#' distance decides where. With `full` larger than `above` the rise is stated by you, and a finer lattice (`resolution`
#' of [plan_agent()] and [ibrc()]) changes the answer little.
#'
#' Any function of beliefs and an action can take its place. This one also says
#' in words what it pays when a setting is printed.
#'
#' @param worth What certainty is worth per visit, a finite number. A negative number is a price
#'   of being sure.
#' @param above The probability to exceed, at least 0 and less than 1.
#' @param full The probability from which the whole bonus is paid, from `above` to 1. In between it rises in a line.
#' @return A function of class `ibrc_certainty_bonus`: called with a matrix of beliefs
#'   (one column per state) and the name of an action, it returns one number per row, from 0 to `worth`.
#' @seealso [adni_setting()], which uses it.
#' @family problem statements
#' @export
#' @examples
#' bonus <- certainty_bonus(2.5, above = 0.9)
#' bonus
#' bonus(rbind(c(0.95, 0.05), c(0.5, 0.5)), "wait")
#' certainty_bonus(2.5, above = 0.9, full = 0.95)(rbind(c(0.92, 0.08), c(0.95, 0.05)), "wait")
certainty_bonus <- function(worth, above = 0.9, full = above) {
  check_given(worth)
  worth <- check_finite_number(worth, "worth")
  above <- check_certainty(above, "above")
  full <- check_finite_number(full, "full")
  if (full < above || full > 1) {
    abort_input("full", "must be at least `above`, ", format(above), ", and at most 1; it is ", format(full), ".")
  }
  new_ibrc_certainty_bonus(worth, above, full)
}

check_certainty <- function(x, argument) {
  x <- check_finite_number(x, argument)
  if (x < 0 || x >= 1) {
    abort_input(argument, "must be at least 0 and less than 1, because no belief exceeds 1; it is ", format(x), ".")
  }
  x
}

# A belief that differs from 0.9 only by rounding does not exceed 0.9.
certainty_slack <- 1e-12

new_ibrc_certainty_bonus <- function(worth, above, full = above) {
  pays <- function(beliefs, action) {
    beliefs <- as.matrix(beliefs)
    surest <- beliefs[cbind(seq_len(nrow(beliefs)), max.col(beliefs, ties.method = "first"))]
    if (full <= above + certainty_slack) return(worth * (surest > above + certainty_slack))
    worth * pmin(pmax((surest - above) / (full - above), 0), 1)
  }
  structure(pays, class = c("ibrc_certainty_bonus", "function"), worth = worth, above = above, full = full)
}

# The same bonus with another worth or bound. If it rises, it rises over the same distance, as far as there is room.
changed_bonus <- function(bonus, worth = attr(bonus, "worth"), above = attr(bonus, "above")) {
  rise <- attr(bonus, "full") - attr(bonus, "above")
  new_ibrc_certainty_bonus(worth, above, min(1, above + rise))
}

#' @export
format.ibrc_certainty_bonus <- function(x, ...) {
  above <- format(attr(x, "above"))
  if (attr(x, "full") <= attr(x, "above")) return(paste0(format(attr(x, "worth")), " while any belief exceeds ", above))
  paste0("from 0 to ", format(attr(x, "worth")), " as the surest belief rises from ", above, " to ",
         format(attr(x, "full")))
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
