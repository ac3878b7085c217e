# Looking costs more than it is worth, and shows what waiting cannot: an agent that is perfectly rational (alpha of 0)
# never looks.
unlikely_plan <- function(alpha) {
  shows <- array(0, c(2, 3, 2))
  shows[, 1, 1] <- 1
  shows[, 2:3, 2] <- rbind(c(0.8, 0.2), c(0.2, 0.8))
  setting <- decision_setting(c("well", "ill"), c("wait", "look"), c("nothing", "no", "yes"), diag(2), shows,
                              cbind(c(0, 0), c(-1, -1)), discount = 0.9)
  plan_agent(setting, bounded_agent(alpha = alpha), resolution = 10)
}

# Somebody must have looked at the second visit, where the action is missing.
unlikely_data <- function() {
  data.frame(id = 1, time = 1:4, action = c("wait", NA, "wait", "wait"),
             observation = c("nothing", "yes", "nothing", NA), free = c(TRUE, FALSE, TRUE, TRUE))
}
