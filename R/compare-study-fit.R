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
# came to its end. `centre`: see level_centres().
analyse_visits <- function(visits, design, contrast) {
  if (is.function(design$fit)) return(own_analysis(design$fit(visits, design), design, contrast))
  made <- fit_call(visits, design)
  if (design$fit == "posterior") {
    fit <- do.call(ibrc, made, quote = TRUE)
    rows <- if (has_population(fit)) population_rows(fit, design, contrast) else posterior_rows(fit, design, contrast)
    return(list(rows = rows, settled = are_settled(fit), centre = level_centres(fit$effects, design, visits)))
  }
  mode <- do.call(ibrc_mode, made, quote = TRUE)
  if (has_mode_effects(mode)) {
    return(list(rows = mode_effect_rows(mode, design, contrast), settled = glance(mode)$converged,
                centre = level_centres(mode$effects, design, visits)))
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
differing_terms <- function(design) {
  if (is.null(design$more$effects)) return(design_terms(design))
  by_group <- Filter(function(one) "group" %in% all.vars(one$fixed), design_formulas(design))
  intersect(design_terms(design), names(by_group))
}

contrast_terms <- function(design) {
  terms <- differing_terms(design)
  if (!length(terms)) {
    abort_input("effects", "must have `group` in a formula, as in effects = list(optimism ~ group + (1 | clinician)): ",
                "without it there is no difference to find.", topic = "study_design")
  }
  terms
}

# One row per term and group whose level a fit has. Profiles are of single coefficients, so none is of the level of a
# group that is put together from two.
level_slots <- function(design) {
  slots <- expand.grid(group = names(design$agents), term = design_terms(design), stringsAsFactors = FALSE)[2:1]
  apart <- is.null(design$more$effects) || !identical(design$fit, "profile")
  slots <- slots[apart | slots$group == names(design$agents)[1] | !slots$term %in% differing_terms(design), ]
  rownames(slots) <- NULL
  slots
}

# The value of the confounder, by term, at which a fit has its levels: where its column is 0, which is the mean unless
# it has zeros and ones. Terms whose formula is without it have 0, the value of stated agents.
level_centres <- function(effects, design, visits) {
  name <- design$confounder$name
  if (is.null(effects) || is.null(name)) return(NULL)
  vapply(Filter(function(one) name %in% all.vars(one$fixed), effects$formulas), function(one) {
    x <- effects$matrices[[one$term]]
    value <- cell_variables(one, x)[[name]]
    if (is.null(value)) mean(visits[[name]][!duplicated(visits$id)]) else value[1] - x[1, name]
  }, 0)
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

# Of a mode. Levels of other groups are put together from two coefficients, whose errors go by the curvature.
mode_effect_rows <- function(mode, design, contrast) {
  groups <- names(design$agents)
  table <- tidy(mode)
  differ <- differing_terms(design)
  slots <- if (contrast) expand.grid(term = differ, group = groups[-1], stringsAsFactors = FALSE) else
    level_slots(design)
  sum_of_two <- !contrast & slots$term %in% differ & slots$group != groups[1]
  name <- if (contrast) group_coefficient(slots$term, slots$group) else slots$term
  found <- mode_levels_of(table[match(name, table$term), ], design, !contrast & on_log(slots$term))
  rows <- study_row_of(slots$term, slots$group, found$estimate, found$low, found$high)
  if (any(sum_of_two)) {
    spread <- curvature_covariance(mode$population$top$curvature)
    for (i in which(sum_of_two)) {
      own <- c(slots$term[i], group_coefficient(slots$term[i], slots$group[i]))
      at <- match(own, names(mode$population$prior))
      reach <- stats::qnorm((1 + design$conf.level) / 2) * suppressWarnings(sqrt(sum(spread[at, at])))
      rows[i, c("estimate", "conf.low", "conf.high")] <- rows$estimate[i] + table$estimate[match(own[2], table$term)] +
        reach * c(0, -1, 1)
    }
  }
  rows
}

# ---- a function of the user's own ----------------------------------------------------------------------------------

own_analysis <- function(table, design, contrast) {
  columns <- c("estimate", "conf.low", "conf.high")
  fine <- is.data.frame(table) && all(c("term", columns) %in% names(table)) &&
    all(vapply(table[columns], function(x) is.numeric(x) || is.logical(x) && all(is.na(x)), NA))
  if (!fine) stop("it did not return a data frame with term, estimate, conf.low and conf.high", call. = FALSE)
  if (any(table$conf.low > table$conf.high, na.rm = TRUE)) {
    stop("its data frame has an interval whose conf.low is above its conf.high", call. = FALSE)
  }
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
