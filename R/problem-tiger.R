#' The tiger setting
#'
#' The small problem on which every planner under partial observation is tried
#' (Kaelbling, Littman and Cassandra 1998). A tiger waits behind one of two
#' doors. Listening costs 1 and gives the right side with some probability.
#' Opening the other door is worth 10, and opening the tiger's door costs 100. Then the
#' game starts again.
#'
#' @param accuracy Probability that the tiger is heard on its side.
#' @param discount How much the next step counts compared with this one.
#' @return A setting ([decision_setting()]).
#' @family problem statements
#' @export
#' @examples
#' tiger <- plan_agent(tiger_setting(), bounded_agent(flexibility = Inf))
#' value(tiger, rbind(c(0.5, 0.5)))
#' policy(tiger, rbind(c(0.5, 0.5), c(0.95, 0.05)))
tiger_setting <- function(accuracy = 0.85, discount = 0.95) {
  hear <- diag_emission(accuracy)
  again <- matrix(0.5, 2, 2)
  decision_setting(
    states = c("tiger_left", "tiger_right"),
    actions = c("listen", "open_left", "open_right"),
    observations = c("hear_left", "hear_right"),
    transition = list(listen = diag(2), open_left = again, open_right = again),
    emission = list(listen = hear, open_left = again, open_right = again),
    utility = cbind(listen = c(-1, -1), open_left = c(-100, 10), open_right = c(10, -100)),
    discount = discount,
    start = c(0.5, 0.5)
  )
}
