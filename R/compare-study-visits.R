# The visits of a designed study, and the people they belong to.

#' @rdname study_design
#' @param object A design.
#' @param nsim Patients in the first group, by default as in the design; other groups keep their proportion to it.
#' @param seed A number that makes it repeatable; `NULL` draws from the session's generator.
#' @export
simulate.ibrc_study_design <- function(object, nsim = object$patients[[1]], seed = NULL, ...) {
  check_unused(...)
  design <- resize_design(object, check_count(nsim, "nsim", most = most_at_once), "nsim")
  drawn_from(seed, draw_visits(design))
}

resize_design <- function(design, patients, argument) {
  design$patients <- sized_groups(design$patients, patients)
  check_cluster_sizes(design, argument)
  design
}

# With `size` patients in the first group, others in proportion.
sized_groups <- function(patients, size) {
  patients[] <- as.integer(pmax(1, round(size * patients / patients[1])))
  patients
}

# "30 patients per group", or "5 patients in reference and 20 in other". `patients`: those of the design, by group.
size_words <- function(size, patients) {
  each <- sized_groups(patients, size)
  first <- plural(each[[1]], "patient")
  if (length(unique(each)) == 1) return(paste(first, "per group"))
  enumerate(paste(c(first, vapply(each[-1], format_count, "")), "in", names(each)), Inf, "")
}

# One row per patient, then one call of simulate() for all patients with the same decision maker's parameters.
draw_visits <- function(design) {
  people <- draw_people(design)
  shifts <- people_shifts(design, people)
  cell <- interaction(people$group, people$cluster, people$value, drop = TRUE, lex.order = TRUE)
  plan <- plan_agent(design$setting, design$agents[[1]], design$models, resolution = design$resolution)
  parts <- lapply(split(seq_along(cell), cell), function(mine) {
    agent <- shift_agent(design$agents[[people$group[mine[1]]]], shifts[mine[1], ])
    visits <- simulate(update(plan, agent), nsim = length(mine), horizon = design$horizon)
    visits$id <- mine[visits$id]
    visits
  })
  columns <- design_columns(design)
  roles <- attr(parts[[1]], "roles")
  visits <- do.call(rbind, lapply(parts, as.data.frame))
  visits <- visits[order(visits$id), ]
  rownames(visits) <- NULL
  visits$group <- factor(names(design$agents)[people$group[visits$id]], names(design$agents))
  if (!is.null(design$clusters)) {
    visits[[design$clusters$name]] <- paste(design$clusters$name, people$cluster[visits$id])
  }
  if (!is.null(design$confounder)) visits[[design$confounder$name]] <- design$confounder$values[people$value[visits$id]]
  new_ibrc_trajectories(visits, roles$id, roles$time, roles$action, roles$observation, c(roles$covariates, columns))
}

# Codes of group, cluster and value of the confounder. Clusters that are not crossed have new numbers in the next group.
draw_people <- function(design) {
  group <- rep(seq_along(design$patients), design$patients)
  cluster <- value <- rep(1L, length(group))
  if (!is.null(design$clusters)) {
    n <- design$clusters$n
    cluster <- (sequence(design$patients) - 1L) %% n + 1L + if (design$clusters$crossed) 0L else (group - 1L) * n
  }
  if (!is.null(design$confounder)) {
    chances <- design$confounder$chances
    bounds <- t(apply(chances, 1, cumsum))[group, -ncol(chances), drop = FALSE]
    value <- 1L + as.integer(rowSums(stats::runif(length(group)) > bounds))
  }
  data.frame(group = group, cluster = cluster, value = value)
}

# [patient, term]: intercepts of clusters and effects of the confounder.
people_shifts <- function(design, people) {
  spread <- design$clusters$spread
  effect <- design$confounder$effect
  terms <- unique(c(names(spread), names(effect)))
  out <- matrix(0, nrow(people), length(terms), dimnames = list(NULL, terms))
  for (term in names(spread)) {
    out[, term] <- stats::rnorm(max(people$cluster), sd = spread[[term]])[people$cluster]
  }
  for (term in names(effect)) out[, term] <- out[, term] + effect[[term]] * design$confounder$values[people$value]
  out
}
