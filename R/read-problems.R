# What a fit to several problems says of visits: of each problem by itself (read-problem.R), put together.

# Of visits that are of the problems of a fit, or of those that it has kept (NULL): per problem, which trajectories and
# rows are its own, and the visits themselves.
split_problems <- function(object, visits, argument = "visits") {
  names <- problem_names(object)
  if (is.null(visits)) {
    own <- lapply(seq_along(names), function(k) which(object$several$of == k))
    sizes <- integer(length(object$several$of))
    for (k in seq_along(names)) sizes[own[[k]]] <- kept_sizes(problem_view(object, names[k]))
    who <- rep(seq_along(sizes), sizes)
    return(list(names = names, own = own, rows = lapply(own, function(mine) which(who %in% mine)), who = NULL))
  }
  visits <- checked_visits(visits, argument)
  coded <- trajectory_rows(visits)
  of <- problem_codes(visits, object$several$column, names, coded, argument)
  met <- sort(unique(of))
  rows <- lapply(met, function(k) which(of == k))
  # By their rows among all visits.
  Map(function(k, mine) {
    problem <- object$several$problems[[k]]
    own <- code_visits(visits, problem$setting, argument, mine)
    refuse_impossible_visits(own, build_histories(own, problem$setting), problem, taken = FALSE)
  }, met, rows)
  first <- of[coded$row[!duplicated(coded$trajectory)]]
  list(names = names[met], own = lapply(met, function(k) which(first == k)), rows = rows,
       visits = lapply(rows, function(mine) visits[mine, ]), who = trajectory_names(visits))
}

# How many visits each trajectory has, in their order.
kept_sizes <- function(object) {
  out <- integer(length(object$trajectory_group))
  for (g in unique(object$trajectory_group)) {
    out[object$trajectory_group == g] <- tabulate(trajectory_of(object$histories[[g]]))
  }
  out
}

# `read(view, visits)` of each problem, beside what split_problems() gives.
read_problems_apart <- function(object, visits, read, argument = "visits") {
  parts <- split_problems(object, visits, argument)
  parts$found <- lapply(seq_along(parts$names), function(k) {
    read(problem_view(object, parts$names[k]), if (!is.null(visits)) parts$visits[[k]])
  })
  parts
}

# One column per trajectory: log_lik() of a fit, and one number of a mode.
log_lik_problems <- function(object, visits, read, argument = "visits") {
  parts <- read_problems_apart(object, visits, read, argument)
  n <- length(unlist(parts$own))
  if (!is.matrix(parts$found[[1]])) {
    out <- numeric(n)
    for (k in seq_along(parts$own)) out[parts$own[[k]]] <- parts$found[[k]]
    return(stats::setNames(out, parts$who))
  }
  out <- matrix(0, nrow(parts$found[[1]]), n, dimnames = list(rownames(parts$found[[1]]), parts$who))
  for (k in seq_along(parts$own)) out[, parts$own[[k]]] <- parts$found[[k]]
  out
}

# One row per visit, where all problems have the same actions; [draw, visit, action] of draws one by one.
predict_problems <- function(object, visits, read) {
  actions <- lapply(object$several$problems, function(problem) problem$setting$actions)
  if (!all(vapply(actions, identical, NA, actions[[1]]))) {
    refuse_several(object, "object", "predict(), where they have different actions,")
  }
  parts <- read_problems_apart(object, visits, read)
  n <- length(unlist(parts$rows))
  one <- parts$found[[1]]
  if (length(dim(one)) == 3) {
    out <- array(0, c(dim(one)[1], n, dim(one)[3]), list(dimnames(one)[[1]], NULL, actions[[1]]))
    for (k in seq_along(parts$rows)) out[, parts$rows[[k]], ] <- parts$found[[k]]
    return(out)
  }
  out <- matrix(0, n, length(actions[[1]]), dimnames = list(NULL, actions[[1]]))
  for (k in seq_along(parts$rows)) out[parts$rows[[k]], ] <- as.matrix(parts$found[[k]])
  as.data.frame(out, optional = TRUE)
}
