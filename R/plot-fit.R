#' Draw a fit
#'
#' `"density"`: the posterior of each term, one colour per group, against its prior (grey,
#' dashed), as in the paper's Figure 3(a). `"coefficients"`: of people who differ ([ibrc()] with `effects`), the
#' coefficients, spreads and correlations with their intervals; that is what is drawn of such a fit by default, and
#' other types draw its coefficients and spreads as they draw terms. `"joint"`: two terms together, as in Figure
#' 3(b, c). `"trace"`: draws in order, one colour per chain (or per draw of the dynamics, where a fit was made under
#' each of several: chains of one colour are to agree). `"pairs"`: every two terms together.
#'
#' alpha, beta and eta range over many orders of magnitude: they are drawn on a
#' logarithmic axis, and their densities, prior and posterior alike, are per factor
#' of ten. Where terms with and without such an axis stand side by side, panels are
#' labelled `log10(alpha)` and so on.
#'
#' @param x,fit A fit ([ibrc()]).
#' @param type What to draw; the first by default, and `"coefficients"` of a fit with `effects`.
#' @param terms Names of terms; all of them by default, and for `"joint"` the first
#'   two.
#' @param ... Not used.
#'
#' @return A `ggplot` object; it needs the package ggplot2. `fit_plot_data()` returns
#'   the data frame behind it. `"density"`: `part` (`"posterior"` or `"prior"`), `group`
#'   (`NA` for the prior), `term`, `value`, `density` and `scale` (`"log10"` or `"linear"`: what the density is
#'   per unit of). `"coefficients"`: one row each: `label`, `panel`, `estimate`, `conf.low`, `conf.high` (95%) and
#'   `verdict`. `"joint"`: one row per draw: `.draw`, `.iteration`, `.chain`, `group` and a column for
#'   either term. `"trace"`: one
#'   row per draw and term, as [as.data.frame()][as.data.frame.ibrc_fit] gives. `"pairs"`: one
#'   row per draw and pair: `.draw`, `group`, `term_x`, `term_y`, `x` and `y`. More than 2,000 draws per group are
#'   thinned to that in `"joint"` and `"pairs"`.
#' @family inference
#' @importFrom graphics plot
#' @export
#' @examples
#' setting <- diag_setting()
#' plan <- plan_agent(setting, bounded_agent(alpha = 0.5), diag_models())
#' fit <- ibrc(simulate(plan, 40, seed = 1), setting, diag_models(),
#'             ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1)),
#'             chains = 2, iter = 300, seed = 1)
#' head(fit_plot_data(fit, "density"))
#' if (requireNamespace("ggplot2", quietly = TRUE)) {
#'   plot(fit)
#'   plot(fit, "joint")
#' }
plot.ibrc_fit <- function(x, type = c("density", "joint", "trace", "pairs", "coefficients"), terms = NULL, ...) {
  check_unused(...)
  type <- check_plot_type(if (!missing(type)) type, x)
  known <- standing_verdict(x)
  terms <- check_terms(x, type, terms)
  require_package("ggplot2", "Drawing a fit")
  data <- fit_plot_data(x, type, terms)
  x <- as_plain_fit(x)
  x$standing <- known
  switch(type, coefficients = draw_coefficients(data, x), density = draw_densities(data, x, terms),
         joint = draw_joint(data, x, terms), trace = draw_traces(data, x, terms), pairs = draw_pairs(data, x, terms))
}

#' @rdname plot.ibrc_fit
#' @export
fit_plot_data <- function(fit, type = c("density", "joint", "trace", "pairs", "coefficients"), terms = NULL) {
  check_given(fit)
  check_class(fit, "ibrc_fit", "fit", "ibrc()")
  type <- check_plot_type(if (!missing(type)) type, fit)
  terms <- check_terms(fit, type, terms)
  if (type == "coefficients") return(coefficient_data(fit, terms))
  fit <- as_plain_fit(fit)
  switch(type, density = density_data(fit, terms), joint = wide_draws(fit, terms, most = 2000),
         trace = trace_data(fit, terms), pairs = pairs_data(fit, terms))
}

# `type`: NULL where the user gave none.
check_plot_type <- function(type, fit) {
  types <- c("density", "joint", "trace", "pairs", "coefficients")
  if (is.null(type)) return(if (has_population(fit)) "coefficients" else "density")
  type <- check_choice(type, types, "type")
  if (type == "coefficients" && !has_population(fit)) {
    abort_input("type", "= \"coefficients\" needs a fit with `effects` (ibrc()): this one has terms; see \"density\".")
  }
  type
}

check_terms <- function(fit, type, terms) {
  known <- if (type == "coefficients") dimnames(reported_population(fit)$population$draws)[[3]] else
    reported_terms(as_plain_fit(fit))
  several <- type %in% c("joint", "pairs")
  if (is.null(terms)) terms <- if (type == "joint") utils::head(known, 2) else known
  if (!is.character(terms) || !length(terms) || anyNA(terms)) {
    abort_input("terms", "must name terms of the fit, not ", describe(terms), ".")
  }
  unknown <- setdiff(terms, known)
  if (length(unknown)) {
    abort_input("terms", "names unknown ", enumerate(unknown), "; there are ", enumerate(known, Inf), ".")
  }
  terms <- unique(terms)
  if (several && length(terms) < 2 || type == "joint" && length(terms) > 2) {
    abort_input("terms", "must be ", if (type == "joint") "two" else "two or more", " terms for type = \"",
                type, "\", not ", length(terms), if (length(known) < 2) "; the fit infers only one", ".")
  }
  terms
}

is_log_term <- function(terms) terms %in% names(price_inverses)

# Where values of a term stand on its axis.
axis_position <- function(value, term) {
  logged <- rep_len(is_log_term(term), length(value))
  value[logged] <- log10(value[logged])
  value
}

density_data <- function(fit, terms) {
  fit <- as_reported(fit)
  groups <- names(fit$draws)
  pieces <- lapply(terms, function(term) {
    positions <- lapply(fit$draws, function(draws) {
      position <- as.vector(axis_position(draws[, , term], term))
      # A wide prior may give draws that round to 0, which have no logarithm.
      position[is.finite(position)]
    })
    bounds <- axis_position(c(fit$prior[[term]]$lower, fit$prior[[term]]$upper), term)
    # Room to either side, so that the prior is seen beyond the posterior.
    range <- range(vapply(positions, stats::quantile, c(0, 0), c(0.002, 0.998), names = FALSE))
    range <- range + c(-1, 1) * max(0.3 * diff(range), 1e-3 * max(abs(range)))
    at <- seq(max(range[1], bounds[1]), min(range[2], bounds[2]), length.out = 256)
    value <- if (is_log_term(term)) 10^at else at
    per_unit <- if (is_log_term(term)) value * log(10) else 1
    prior <- prior_density(fit$prior, term, value) * per_unit
    data.frame(part = rep(c("posterior", "prior"), c(256 * length(groups), 256)),
               group = factor(rep(c(groups, NA), each = 256), levels = groups),
               term = factor(term, levels = terms), value = value,
               density = c(unlist(lapply(positions, bounded_density, at, bounds), use.names = FALSE), prior),
               scale = if (is_log_term(term)) "log10" else "linear")
  })
  out <- do.call(rbind, pieces)
  rownames(out) <- NULL
  out
}

# A kernel density at some points, reflected at finite bounds, where a plain one would
# leak over them.
bounded_density <- function(x, at, bounds) {
  width <- max(stats::bw.nrd0(x), 1e-8 * max(abs(x)))
  mirrored <- c(x, unlist(lapply(bounds[is.finite(bounds)], function(bound) 2 * bound - x)))
  found <- stats::density(mirrored, bw = width, n = 1024, from = at[1], to = at[length(at)])
  stats::approx(found$x, found$y, at, rule = 2)$y * length(mirrored) / length(x)
}

trace_data <- function(fit, terms) {
  out <- as.data.frame(fit)
  out <- out[out$term %in% terms, ]
  out$term <- factor(out$term, levels = terms)
  rownames(out) <- NULL
  out
}

# One row per draw and group, one column per term; at most so many per group.
wide_draws <- function(fit, terms, most) {
  fit <- as_reported(fit)
  chosen <- spaced_draws(fit, most)
  groups <- names(fit$draws)
  pieces <- lapply(groups, function(group) {
    data.frame(chosen, group = factor(group, levels = groups),
               flat_draws(fit$draws[[group]])[chosen$.draw, terms, drop = FALSE], check.names = FALSE)
  })
  do.call(rbind, pieces)
}

pairs_data <- function(fit, terms) {
  wide <- wide_draws(fit, terms, most = 2000)
  two <- utils::combn(terms, 2)
  pieces <- lapply(seq_len(ncol(two)), function(i) {
    data.frame(wide[c(".draw", "group")], term_x = factor(two[1, i], levels = terms),
               term_y = factor(two[2, i], levels = terms), x = wide[[two[1, i]]], y = wide[[two[2, i]]])
  })
  do.call(rbind, pieces)
}

# Panels share one kind of axis: where all terms are logarithmic its labels are values,
# where some are its panels say so.
panel_labels <- function(terms) {
  mixed <- any(is_log_term(terms)) && !all(is_log_term(terms))
  named <- as_label(terms)
  if (mixed) named[is_log_term(terms)] <- paste0("log10(", named[is_log_term(terms)], ")")
  named
}

# The scale of an axis that some terms share; `scale` is ggplot2's for x or y.
scale_terms <- function(scale, terms) {
  if (!all(is_log_term(terms))) return(scale())
  scale(breaks = log_breaks, labels = function(at) vapply(10^at, format, "", digits = 2))
}

# Round values on a logarithmic axis, about five of them, as positions.
log_breaks <- function(range) {
  span <- diff(range)
  if (!all(is.finite(range)) || span <= 0) return(range)
  if (span < 0.7) {
    round <- pretty(10^range, 4)
    return(log10(round[round > 0]))
  }
  powers <- seq(floor(range[1]), ceiling(range[2]), by = max(1, ceiling(span / 6)))
  if (span > 3) return(powers)
  sort(c(outer(log10(if (span > 1.5) c(1, 3) else c(1, 2, 5)), powers, `+`)))
}

# Colours by group, without a legend where there is one group.
scale_groups <- function(fit, aesthetics = c("colour", "fill")) {
  ggplot2::scale_colour_manual(values = action_palette(length(fit$draws)), aesthetics = aesthetics,
                               guide = if (is_grouped(fit)) "legend" else "none")
}

draw_densities <- function(data, fit, terms) {
  data$position <- axis_position(data$value, as.character(data$term))
  data$panel <- factor(data$term, levels = terms, labels = panel_labels(terms))
  posterior <- data[data$part == "posterior", ]
  ggplot2::ggplot(posterior, ggplot2::aes(.data$position, .data$density)) +
    ggplot2::geom_area(ggplot2::aes(fill = .data$group), alpha = 0.2, position = "identity") +
    ggplot2::geom_line(ggplot2::aes(colour = .data$group), linewidth = 0.8) +
    ggplot2::geom_line(data = data[data$part == "prior", ], colour = "grey50", linetype = "dashed") +
    scale_groups(fit) +
    scale_terms(ggplot2::scale_x_continuous, terms) +
    ggplot2::scale_y_continuous(breaks = NULL) +
    ggplot2::facet_wrap(~panel, scales = "free") +
    ggplot2::labs(x = NULL, y = "Density", colour = NULL, fill = NULL,
                  caption = verdict_caption(fit, "Dashed: prior.")) +
    theme_ibrc()
}

draw_joint <- function(data, fit, terms) {
  data$x <- axis_position(data[[terms[1]]], terms[1])
  data$y <- axis_position(data[[terms[2]]], terms[2])
  draw_clouds(data, fit) +
    scale_terms(ggplot2::scale_x_continuous, terms[1]) +
    scale_terms(ggplot2::scale_y_continuous, terms[2]) +
    ggplot2::labs(x = as_label(terms[1]), y = as_label(terms[2]), colour = NULL, caption = verdict_caption(fit)) +
    theme_ibrc()
}

# Points with contours at shares of each group's own peak, so that a flat posterior
# beside a sharp one has its contours too. Blank corners make room for them to close.
draw_clouds <- function(data, fit, panel = character()) {
  data <- data[is.finite(data$x) & is.finite(data$y), ]
  wider <- function(v) range(v) + c(-0.15, 0.15) * diff(range(v))
  cell <- if (length(panel)) interaction(data[panel], drop = TRUE) else rep(1, nrow(data))
  corners <- do.call(rbind, lapply(split(data, cell), function(one) {
    data.frame(x = wider(one$x), y = wider(one$y), group = one$group[1], one[1, panel, drop = FALSE],
               row.names = NULL)
  }))
  ggplot2::ggplot(data, ggplot2::aes(.data$x, .data$y, colour = .data$group)) +
    ggplot2::geom_blank(data = corners) +
    ggplot2::geom_point(size = 0.6, alpha = 0.25) +
    ggplot2::geom_density_2d(contour_var = "ndensity", breaks = c(0.05, 0.25, 0.5, 0.75), linewidth = 0.5) +
    scale_groups(fit, "colour")
}

draw_traces <- function(data, fit, terms) {
  data$position <- axis_position(data$value, as.character(data$term))
  data$panel <- factor(data$term, levels = terms, labels = panel_labels(terms))
  # Chains are to agree with those that have the same dynamics.
  data$alike <- if (is_cut(fit)) dynamics_of_chain(fit, data$.chain) else data$.chain
  n_colours <- max(data$alike)
  panels <- if (is_grouped(fit)) panel ~ group else panel ~ .
  ggplot2::ggplot(data, ggplot2::aes(.data$.iteration, .data$position, colour = factor(.data$alike),
                                     group = .data$.chain)) +
    ggplot2::geom_line(linewidth = 0.3, alpha = 0.8) +
    ggplot2::scale_colour_manual(values = action_palette(n_colours), guide = if (n_colours > 12) "none" else "legend") +
    scale_terms(ggplot2::scale_y_continuous, terms) +
    ggplot2::facet_grid(panels, scales = "free_y") +
    ggplot2::labs(x = "Draw after warm-up", y = NULL, colour = if (is_cut(fit)) "Draw of the dynamics" else "Chain",
                  caption = verdict_caption(fit, if (is_cut(fit)) "Colours: draws of the dynamics.")) +
    theme_ibrc()
}

draw_pairs <- function(data, fit, terms) {
  named <- panel_labels(terms)
  data$x <- axis_position(data$x, as.character(data$term_x))
  data$y <- axis_position(data$y, as.character(data$term_y))
  data$column <- factor(data$term_x, levels = terms, labels = named)
  data$row <- factor(data$term_y, levels = terms, labels = named)
  draw_clouds(data, fit, c("column", "row")) +
    scale_terms(ggplot2::scale_x_continuous, terms) +
    scale_terms(ggplot2::scale_y_continuous, terms) +
    ggplot2::facet_grid(row ~ column, scales = "free", switch = "both") +
    ggplot2::labs(x = NULL, y = NULL, colour = NULL, caption = verdict_caption(fit)) +
    theme_ibrc() +
    ggplot2::theme(strip.placement = "outside")
}
