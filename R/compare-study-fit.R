# How a simulated study is analysed: from visits to levels of terms, or differences of groups, with intervals, all on
# the scale of the study.

# The call of ibrc_mode() or ibrc(). Here a design's `...` is handed on, `effects` among it where the fitting function
# has that argument: groups are then terms of a formula, and not fitted apart.
fit_call <- function(visits, design) {
  apart <- length(design$agents) > 1 && !"effects" %in% names(design$more)
  c(list(visits = visits, setting = design$setting, models = design$models, prior = design$prior,
         fixed = design$fixed, by = if (apart) "group", resolution = design$resolution, seed = settle_seed()),
    switch(design$fit, mode = list(conf.level = NULL), profile = list(conf.level = design$conf.level),
           posterior = c(list(refresh = 0), if (is.null(design$more$control)) list(control = list(check = FALSE)))),
    design$more)
}

# One row per slot: term and group, or term and the group that is held against the first. `settled`: whether the fit
# came to its end.
analyse_visits <- function(visits, design, contrast) {
  if (is.function(design$fit)) return(own_analysis(design$fit(visits, design), design, contrast))
  made <- fit_call(visits, design)
  if (design$fit == "posterior") {
    fit <- do.call(ibrc, made, quote = TRUE)
    rows <- if (has_population(fit)) population_rows(fit, design, contrast) else posterior_rows(fit, design, contrast)
    return(list(rows = rows, settled = are_settled(fit)))
  }
  mode <- do.call(ibrc_mode, made, quote = TRUE)
  if (has_mode_effects(mode)) {
    return(list(rows = mode_effect_rows(mode, design, contrast), settled = glance(mode)$converged))
  }
  levels <- mode_levels(mode, design)
  list(rows = if (contrast) mode_contrasts(levels, design) else levels, settled = glance(mode)$converged)
}

study_row_of <- function(term, group, estimate, low, high) {
  data.frame(term = term, group = group, estimate = estimate, conf.low = low, conf.high = high)
}

# ---- modes -------------------------------------------------------------------------------------------------------

mode_levels <- function(mode, design) {
  table <- tidy(mode)
  if (is.null(table$group)) table$group <- names(design$agents)[1]
  found <- mode_levels_of(table, design, on_log(table$term))
  study_row_of(table$term, table$group, found$estimate, found$low, found$high)
}

# On the scale of the study; `log`: which rows are logarithms there.
mode_levels_of <- function(table, design, log) {
  scaled <- function(x) ifelse(log, suppressWarnings(log(x)), x)
  estimate <- scaled(table$estimate)
  if (design$fit == "profile") {
    return(list(estimate = estimate, low = scaled(table$conf.low), high = scaled(table$conf.high)))
  }
  reach <- stats::qnorm((1 + design$conf.level) / 2) * ifelse(log, table$std.error / table$estimate, table$std.error)
  list(estimate = estimate, low = estimate - reach, high = estimate + reach)
}

# Groups are independent: squares of the distances to the ends add up, each on its own side. With ends at the same
# distance that is the usual interval of a difference.
mode_contrasts <- function(levels, design) {
  first <- names(design$agents)[1]
  rows <- levels[levels$group != first, ]
  against <- levels[levels$group == first, ]
  against <- against[match(rows$term, against$term), ]
  estimate <- rows$estimate - against$estimate
  below <- sqrt((rows$estimate - rows$conf.low)^2 + (against$conf.high - against$estimate)^2)
  above <- sqrt((rows$conf.high - rows$estimate)^2 + (against$estimate - against$conf.low)^2)
  study_row_of(rows$term, rows$group, estimate, estimate - below, estimate + above)
}

# ---- posteriors --------------------------------------------------------------------------------------------------

# Chains of different groups are independent, so draws pair up as they stand.
posterior_rows <- function(fit, design, contrast) {
  groups <- names(design$agents)
  drawn <- function(term, at) {
    x <- as.vector(fit$draws[[at]][, , term])
    if (on_log(term)) log(x) else x
  }
  tail <- (1 - design$conf.level) / 2
  rows <- lapply(names(fit$prior), function(term) {
    do.call(rbind, lapply(if (contrast) seq_along(groups)[-1] else seq_along(groups), function(at) {
      x <- if (contrast) drawn(term, at) - drawn(term, 1) else drawn(term, at)
      middle <- stats::quantile(x, c(0.5, tail, 1 - tail), names = FALSE)
      study_row_of(term, groups[at], middle[1], middle[2], middle[3])
    }))
  })
  do.call(rbind, rows)
}

# ---- groups that are terms of a formula ----------------------------------------------------------------------------

# The coefficient by which a group differs from the first, on the scale of the study already.
group_coefficient <- function(term, group) paste0(term, "[group", group, "]")

# The terms that differ by group: all of them where groups are fitted apart.
contrast_terms <- function(design) {
  effects <- design$more$effects
  if (is.null(effects)) return(design_terms(design))
  if (inherits(effects, "formula")) effects <- list(effects)
  has_group <- function(one) inherits(one, "formula") && length(one) == 3 && "group" %in% all.vars(one[[3]])
  by_group <- Filter(has_group, effects)
  terms <- intersect(design_terms(design), vapply(by_group, function(one) deparse1(one[[2]]), ""))
  if (!length(terms)) {
    abort_input("effects", "must have `group` in a formula, as in effects = list(optimism ~ group + (1 | clinician)): ",
                "without it there is no difference to find.", topic = "study_design")
  }
  terms
}

# As tidy() with effects = "population" has them, with levels of other groups put together draw by draw.
population_rows <- function(fit, design, contrast) {
  groups <- names(design$agents)
  draws <- fit$population$draws
  drawn <- function(name) if (name %in% dimnames(draws)[[3]]) as.vector(draws[, , name])
  tail <- (1 - design$conf.level) / 2
  rows <- lapply(names(fit$prior), function(term) {
    level <- if (on_log(term)) log(drawn(term)) else drawn(term)
    lapply(if (contrast) groups[-1] else groups, function(group) {
      by <- drawn(group_coefficient(term, group))
      x <- if (contrast) by else if (is.null(by)) level else level + by
      if (is.null(x)) return(NULL)
      middle <- stats::quantile(x, c(0.5, tail, 1 - tail), names = FALSE)
      study_row_of(term, group, middle[1], middle[2], middle[3])
    })
  })
  do.call(rbind, unlist(rows, recursive = FALSE))
}

# Of a mode: differences, and levels of the first group and of terms that groups share.
mode_effect_rows <- function(mode, design, contrast) {
  groups <- names(design$agents)
  table <- tidy(mode)
  differ <- contrast_terms(design)
  slots <- if (contrast) expand.grid(term = differ, group = groups[-1], stringsAsFactors = FALSE) else
    expand.grid(term = names(mode$prior), group = groups, stringsAsFactors = FALSE)
  if (!contrast) slots <- slots[!slots$term %in% differ | slots$group == groups[1], ]
  name <- if (contrast) group_coefficient(slots$term, slots$group) else slots$term
  found <- mode_levels_of(table[match(name, table$term), ], design, !contrast & on_log(slots$term))
  study_row_of(slots$term, slots$group, found$estimate, found$low, found$high)
}

# ---- a function of the user's own ----------------------------------------------------------------------------------

own_analysis <- function(table, design, contrast) {
  columns <- c("estimate", "conf.low", "conf.high")
  fine <- is.data.frame(table) && all(c("term", columns) %in% names(table)) &&
    all(vapply(table[columns], is.numeric, NA))
  if (!fine) stop("it did not return a data frame with term, estimate, conf.low and conf.high", call. = FALSE)
  groups <- if (contrast) names(design$agents)[-1] else names(design$agents)
  if (is.null(table$group)) {
    if (length(groups) > 1) stop("its data frame has no column that says the group", call. = FALSE)
    table$group <- rep(groups, nrow(table))
  }
  rows <- study_row_of(as.character(table$term), as.character(table$group), table$estimate, table$conf.low,
                       table$conf.high)
  if (anyDuplicated(rows[c("term", "group")])) stop("its data frame has two rows of one term", call. = FALSE)
  list(rows = rows, settled = is.null(table$settled) || all(table$settled %in% TRUE))
}
