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
    return(list(rows = posterior_rows(fit, design, contrast), settled = are_settled(fit)))
  }
  mode <- do.call(ibrc_mode, made, quote = TRUE)
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
  log <- on_log(table$term)
  scaled <- function(x) ifelse(log, suppressWarnings(log(x)), x)
  estimate <- scaled(table$estimate)
  error <- ifelse(log, table$std.error / table$estimate, table$std.error)
  if (design$fit == "profile") {
    return(study_row_of(table$term, table$group, estimate, scaled(table$conf.low), scaled(table$conf.high)))
  }
  reach <- stats::qnorm((1 + design$conf.level) / 2) * error
  study_row_of(table$term, table$group, estimate, estimate - reach, estimate + reach)
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
