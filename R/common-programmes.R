# Linear and quadratic programmes, solved by lpSolve and quadprog. Both judge a constraint by absolute sizes. Rows,
# right-hand sides and objectives are therefore first scaled to about 1, so that a utility in millions is solved as well
# as one in units. An answer is checked again here before it is used.

# How far an answer may violate a constraint after rows and right-hand sides have been scaled to about 1.
programme_tolerance <- 1e-7

# Minimises objective'x where constraints %*% x `direction` rhs. `direction`: "<=", ">=" or "=", one for all or one per
# row. `free`: which x may be negative, one for all or one per variable.
solve_linear <- function(objective, constraints, direction, rhs, free = TRUE) {
  require_package("lpSolve", "A linear programme")
  programme <- scaled_programme(constraints, direction, rhs)
  n <- length(objective)
  free <- which(rep_len(free, n))
  # lpSolve only has variables of 0 or more. A free variable is written as the difference of two of them.
  split <- cbind(programme$constraints, -programme$constraints[, free, drop = FALSE])
  price <- objective / largest(objective)
  price <- c(price, -price[free])
  left <- linear_attempts
  for (seconds in linear_patience) {
    late <- list()
    for (attempt in left) {
      rhs <- programme$rhs + attempt$give * linear_give(programme$direction)
      outcome <- solve_patiently("min", price, split, programme$direction, rhs, scale = attempt$scaling,
                                 seconds = seconds)
      if (outcome$status %in% out_of_time) late <- c(late, list(attempt))
      if (outcome$status != 0) next
      x <- outcome$solution[seq_len(n)]
      x[free] <- x[free] - outcome$solution[n + seq_along(free)]
      if (is_feasible(x, programme)) {
        x <- x * programme$unit
        return(list(x = x, objective = sum(objective * x)))
      }
    }
    left <- late
    if (!length(left)) break
  }
  refuse_no_answer(if (length(left)) out_of_time[1] else outcome$status)
}

# lpSolve's codes for running out of time: with an answer that is not yet the best, and without any answer.
out_of_time <- c(7, 1)

# If many right-hand sides are 0, as they are for gaps, many corners of the feasible set coincide. lpSolve may cycle
# among them for ever, or call a programme unbounded that is not. The first attempts solve the programme as it is. The
# later ones loosen each constraint by a slightly different amount, far below `programme_tolerance`, which separates the
# corners. If one way of scaling fails because of rounding, another seldom does: 196 cycles far less often than 0.
linear_attempts <- list(
  list(scaling = 196L, give = 0), list(scaling = 0L, give = 0), list(scaling = 0L, give = 2e-8),
  list(scaling = 4L, give = 2e-8), list(scaling = 196L, give = 2e-8)
)

# An attempt that cycles does not end by waiting. So every attempt first gets a short time (in seconds), and only then
# more. Nothing can interrupt lpSolve while it runs: programmes are kept so small that a short time is enough.
linear_patience <- c(2L, 10L)

# About as many numbers, in 600 constraints on 600 unknowns, took 1 to 2 seconds.
most_programme_numbers <- 4e5

# Refuses, before any work, a programme with too many constraints and unknowns.
refuse_long_programme <- function(constraints, unknowns, argument, ..., advice) {
  numbers <- as.numeric(constraints) * unknowns
  if (numbers <= most_programme_numbers) return(invisible(numbers))
  abort_input(argument, "is too large for a linear programme: ", ..., " are ", format_count(constraints),
              " constraints on ", format_count(unknowns), " unknowns, ", format_count(numbers), " numbers; at most ",
              format_count(most_programme_numbers), " are solved within seconds. ", advice)
}

# By how much each constraint is loosened: by about 1, and no two by the same amount. An equality is not loosened.
linear_give <- function(direction) {
  (1 + (seq_along(direction) * (sqrt(5) - 1) / 2) %% 1) * c("<=" = 1, ">=" = -1, "=" = 0)[direction]
}

# Gives up after some seconds, with status 7, if lpSolve can do that. Its older versions wait for ever.
solve_patiently <- function(..., seconds) {
  if ("timeout" %in% names(formals(lpSolve::lp))) return(lpSolve::lp(..., timeout = seconds))
  lpSolve::lp(...)
}

# Minimises x'quadratic x / 2 + linear'x under the same kind of constraints; all x are free. The default of `quadratic`
# is the identity: the answer is then the point nearest to -linear.
solve_quadratic <- function(linear, constraints, direction, rhs, quadratic = NULL) {
  require_package("quadprog", "A quadratic programme")
  n <- length(linear)
  if (is.null(quadratic)) quadratic <- diag(n)
  curvature <- largest(quadratic)
  programme <- scaled_programme(constraints, direction, rhs, unit = largest(c(rhs, linear / curvature)))
  # quadprog wants equalities first, and all others as ">=".
  sign <- ifelse(programme$direction == "<=", -1, 1)
  first <- order(programme$direction != "=")
  outcome <- tryCatch(
    quadprog::solve.QP(quadratic / curvature, -linear / (curvature * programme$unit),
                       t(sign * programme$constraints)[, first, drop = FALSE], (sign * programme$rhs)[first],
                       meq = sum(programme$direction == "=")),
    error = function(e) refuse_no_answer(if (grepl("inconsistent", conditionMessage(e))) 2 else 5)
  )
  if (!is_feasible(outcome$solution, programme)) refuse_no_answer(5)
  x <- outcome$solution * programme$unit
  list(x = x, objective = sum(x * (quadratic %*% x)) / 2 + sum(linear * x))
}

# The largest absolute value; 1 if all values are 0.
largest <- function(x) {
  size <- max(0, abs(x))
  if (size > 0) size else 1
}

# Scales every row to size 1, and counts x in `unit`s in which the right-hand sides are about 1.
scaled_programme <- function(constraints, direction, rhs, unit = NULL) {
  constraints <- unname(as.matrix(constraints))
  size <- apply(abs(constraints), 1, max)
  # A row of zeros only says something about its right-hand side.
  size[size == 0] <- 1
  if (is.null(unit)) unit <- largest(rhs / size)
  list(constraints = constraints / size, direction = rep_len(direction, nrow(constraints)),
       rhs = rep_len(rhs, nrow(constraints)) / (size * unit), unit = unit)
}

is_feasible <- function(x, programme) {
  gap <- as.vector(programme$constraints %*% x) - programme$rhs
  slack <- programme_tolerance * max(1, abs(x))
  all(ifelse(programme$direction == "<=", gap, ifelse(programme$direction == ">=", -gap, abs(gap))) <= slack)
}

# lpSolve's codes: 2 infeasible, 3 unbounded.
refuse_no_answer <- function(status) {
  kind <- c("infeasible", "unbounded", "time", "time")[match(status, c(2, 3, out_of_time))]
  if (is.na(kind)) kind <- "convergence"
  why <- c(infeasible = "nothing satisfies all of its constraints", unbounded = "its objective has no bound",
           time = "the solver did not come to an end; fewer states may help",
           convergence = "rounding kept the solver from an answer")
  abort(c(intersect(kind, c("infeasible", "unbounded")), "convergence"), "The programme has no answer: ",
        why[[kind]], ".")
}

# ---- many programmes -------------------------------------------------------------------------------------------------

# For loops over programmes: returns a function to call before each of them. Every `every` seconds it says how far the
# loop has come.
programme_teller <- function(n, what, every = if (interactive()) 5 else Inf) {
  done <- 0L
  said <- proc.time()[["elapsed"]]
  function() {
    if (proc.time()[["elapsed"]] - said >= every) {
      said <<- proc.time()[["elapsed"]]
      tell(message(upper_case(substr(what, 1, 1)), substring(what, 2), ": ", done, " of at most ", format_count(n),
                   " programmes solved."))
    }
    done <<- done + 1L
  }
}
