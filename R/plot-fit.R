#' Draw a fit
#'
#' `"density"`: the posterior of each term, one colour per group, against its prior (grey,
#' dashed), as in the paper's Figure 3(a). `"coefficients"`: of people who differ ([ibrc()] with `effects`), the
#' coefficients, spreads and correlations with their intervals; that is what is drawn of such a fit by default, and
#' other types draw its coefficients and spreads as they draw terms. `"joint"`: two terms together, as in Figure
#' 3(b, c). `"trace"`: draws in order, one colour per chain (or per draw of the dynamics, where a fit was made under
#' each of several: chains of one colour are to agree). `"pairs"`: every two terms together. Contours of `"joint"` and
#' `"pairs"` stand at shares of the highest density of their group.
#'
#' alpha, beta and eta range over many orders of magnitude: they are drawn on a
#' logarithmic axis with their own numbers, and their densities, prior and posterior alike, are per factor
#' of ten. A thin line marks an optimism of 0, which is the neutral view, and a habit of 0. Each group has the same
#' colour in all of these pictures and in [plot_groups()].
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
#' if (requireNamespace("ggplot2", quietly = TRUE)) plot(fit)
#' if (requireNamespace("ggplot2", quietly = TRUE)) plot(fit, "joint")
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

# Colours by group, without a legend where there is one group.
scale_groups <- function(fit, aesthetics = c("colour", "fill")) {
  scale_names(names(fit$draws), aesthetics, labels = identity, keys = is_grouped(fit))
}

draw_densities <- function(data, fit, terms) {
  data$position <- axis_position(data$value, as.character(data$term))
  named <- as_label(terms)
  data$panel <- factor(data$term, levels = terms, labels = named)
  posterior <- data[data$part == "posterior", ]
  ggplot2::ggplot(posterior, ggplot2::aes(.data$position, .data$density)) +
    ggplot2::geom_area(ggplot2::aes(fill = .data$group), alpha = 0.2, position = "identity") +
    ggplot2::geom_line(ggplot2::aes(colour = .data$group), linewidth = 0.7) +
    ggplot2::geom_line(data = data[data$part == "prior", ], colour = "grey50", linetype = "dashed") +
    ggplot2::geom_vline(data = zero_rows(terms, named), ggplot2::aes(xintercept = .data$at), colour = zero_colour,
                        linewidth = 0.3) +
    scale_groups(fit) +
    scale_terms(ggplot2::scale_x_continuous, terms) +
    ggplot2::scale_y_continuous(breaks = NULL) +
    log_panels(ggplot2::facet_wrap(~panel, scales = "free"), "x", "panel", named[is_log_term(terms)]) +
    ggplot2::labs(x = NULL, y = "Density", colour = NULL, fill = NULL,
                  caption = in_lines(verdict_caption(fit, paste(c("Dashed: prior.", zero_words(terms)),
                                                                collapse = " ")))) +
    theme_ibrc()
}

draw_joint <- function(data, fit, terms) {
  data$x <- axis_position(data[[terms[1]]], terms[1])
  data$y <- axis_position(data[[terms[2]]], terms[2])
  draw_clouds(data, fit) +
    if_zero(terms[1], ggplot2::geom_vline(xintercept = 0, colour = zero_colour, linewidth = 0.3)) +
    if_zero(terms[2], ggplot2::geom_hline(yintercept = 0, colour = zero_colour, linewidth = 0.3)) +
    scale_terms(ggplot2::scale_x_continuous, terms[1]) +
    scale_terms(ggplot2::scale_y_continuous, terms[2]) +
    ggplot2::labs(x = as_label(terms[1]), y = as_label(terms[2]), colour = NULL, caption = clouds_caption(fit, terms)) +
    theme_ibrc()
}

if_zero <- function(term, layer) if (has_zero(term)) layer

clouds_caption <- function(fit, terms) {
  said <- c("Points: draws. Contours: at 5%, 25%, 50% and 75% of the highest density.", zero_words(terms))
  in_lines(verdict_caption(fit, paste(said, collapse = " ")))
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
    ggplot2::geom_point(size = 0.5, alpha = 0.25) +
    ggplot2::geom_density_2d(contour_var = "ndensity", breaks = c(0.05, 0.25, 0.5, 0.75), linewidth = 0.4) +
    scale_groups(fit, "colour")
}

draw_traces <- function(data, fit, terms) {
  data$position <- axis_position(data$value, as.character(data$term))
  named <- as_label(terms)
  data$panel <- factor(data$term, levels = terms, labels = named)
  # Chains are to agree with those that have the same dynamics.
  data$alike <- if (is_cut(fit)) dynamics_of_chain(fit, data$.chain) else data$.chain
  n_colours <- max(data$alike)
  panels <- if (is_grouped(fit)) panel ~ group else panel ~ .
  facet <- ggplot2::facet_grid(panels, scales = "free_y", switch = "y",
                               labeller = ggplot2::labeller(group = ggplot2::label_wrap_gen(14)))
  ggplot2::ggplot(data, ggplot2::aes(.data$.iteration, .data$position, colour = factor(.data$alike),
                                     group = .data$.chain)) +
    ggplot2::geom_line(linewidth = 0.3, alpha = 0.8) +
    ggplot2::geom_hline(data = zero_rows(terms, named), ggplot2::aes(yintercept = .data$at), colour = zero_colour,
                        linewidth = 0.3) +
    scale_names(as.character(seq_len(n_colours)), "colour", keys = n_colours <= 12) +
    scale_terms(ggplot2::scale_y_continuous, terms) +
    ggplot2::scale_x_continuous(n.breaks = 3) +
    log_panels(facet, "y", "panel", named[is_log_term(terms)]) +
    ggplot2::labs(x = "Draw after warm-up", y = NULL, colour = if (is_cut(fit)) "Draw of the dynamics" else "Chain",
                  caption = in_lines(verdict_caption(fit, c(if (is_cut(fit)) "Colours: draws of the dynamics.",
                                                            zero_words(terms))))) +
    theme_ibrc() +
    ggplot2::theme(strip.placement = "outside", strip.text.y.left = ggplot2::element_text(hjust = 0.5))
}

draw_pairs <- function(data, fit, terms) {
  named <- as_label(terms)
  logged <- named[is_log_term(terms)]
  data$x <- axis_position(data$x, as.character(data$term_x))
  data$y <- axis_position(data$y, as.character(data$term_y))
  data$column <- factor(data$term_x, levels = terms, labels = named)
  data$row <- factor(data$term_y, levels = terms, labels = named)
  facet <- ggplot2::facet_grid(row ~ column, scales = "free", switch = "both")
  # One row per panel: half of the grid has none.
  panels <- unique(data[c("column", "row", "term_x", "term_y")])
  panels$at <- rep(0, nrow(panels))
  across <- panels[has_zero(panels$term_x), ]
  up <- panels[has_zero(panels$term_y), ]
  draw_clouds(data, fit, c("column", "row")) +
    ggplot2::geom_vline(data = across, ggplot2::aes(xintercept = .data$at), colour = zero_colour, linewidth = 0.3) +
    ggplot2::geom_hline(data = up, ggplot2::aes(yintercept = .data$at), colour = zero_colour, linewidth = 0.3) +
    scale_terms(ggplot2::scale_x_continuous, terms) +
    scale_terms(ggplot2::scale_y_continuous, terms) +
    log_panels(log_panels(facet, "x", "column", logged), "y", "row", logged) +
    ggplot2::labs(x = NULL, y = NULL, colour = NULL, caption = clouds_caption(fit, terms)) +
    theme_ibrc() +
    ggplot2::theme(strip.placement = "outside", strip.text = ggplot2::element_text(hjust = 0.5))
}
