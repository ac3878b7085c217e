#' How far levels are drawn to each other
#'
#' Random intercepts ([ibrc()] with `effects`) are estimated together. A clinician with few patients is assumed to be
#' much like the others until visits say otherwise. The horizontal axis has each level's own estimate, from its visits
#' alone. The vertical axis has the pooled estimate. Both have intervals. On the dashed line the two are the same.
#' Levels near the horizontal line were drawn to the others. The levels that moved most are those whose visits say
#' least.
#'
#' An own estimate is the intercept at which the visits of the level are likeliest. All else (coefficients, other
#' intercepts, other terms) is held at its posterior median. Its interval follows from the curvature of the likelihood
#' there. Some levels have no own estimate, because their visits would be likelier still without end. This happens when
#' all decisions were the same. Such levels are not drawn.
#'
#' @param fit A fit with random intercepts ([ibrc()] with `effects`), not made with `keep_data = FALSE`.
#' @param term A term with random intercepts; all of them by default.
#' @param conf.level Mass of the intervals.
#' @param cores Threads to use.
#' @param ... Not used.
#' @return A `ggplot` object; it needs the package ggplot2. Its alternative text says what is drawn. `shrinkage_data()`
#'   returns the data frame behind it. Its numbers are on the scale that a sampler works on, as differences to a typical
#'   level. It has the columns
#'   * `term`, `factor` and `level`.
#'   * `trajectories`: how many the level has.
#'   * `own`, `own.low` and `own.high`: the level's own estimate; `NA` where there is none.
#'   * `pooled`, `pooled.low` and `pooled.high`: the posterior median and interval.
#'   * `shrinkage`: by which share of itself the own estimate was drawn to 0.
#' @seealso [spread_shares()]; `tidy(fit, effects = "people")`.
#' @family inference
#' @export
#' @examples
#' setting <- diag_setting()
#' plan <- plan_agent(setting, bounded_agent(alpha = 0.5), diag_models(), resolution = 20)
#' visits <- as.data.frame(simulate(plan, 40, seed = 1))
#' visits$clinic <- paste("clinic", visits$id %% 5)
#' visits <- trajectories(visits, covariates = "clinic", setting = setting)
#' fit <- ibrc(visits, setting, diag_models(), ibrc_prior(alpha ~ lognormal(0, 1)),
#'             effects = list(alpha ~ (1 | clinic)), chains = 2, iter = 200, seed = 1,
#'             resolution = 20, control = ibrc_control(check = FALSE))
#' shrinkage_data(fit)
#' if (requireNamespace("ggplot2", quietly = TRUE)) plot_shrinkage(fit)
plot_shrinkage <- function(fit, term = NULL, conf.level = 0.95, cores = getOption("ibrc.cores", 1), ...) {
  check_given(fit)
  check_unused(...)
  check_shrunken(fit, term)
  require_package("ggplot2", "Drawing shrinkage")
  draw_shrinkage(shrinkage_data(fit, term, conf.level, cores), fit, conf.level)
}

#' @rdname plot_shrinkage
#' @export
shrinkage_data <- function(fit, term = NULL, conf.level = 0.95, cores = getOption("ibrc.cores", 1)) {
  check_given(fit)
  wanted <- check_shrunken(fit, term)
  conf.level <- check_level(conf.level)
  cores <- check_count(cores, "cores")
  design <- fit$effects
  pooled <- tidy_intercepts(fit, conf.level)
  evaluator <- inverse_evaluator(fit, cores = cores)
  base <- median_cells(fit)
  reach <- stats::qnorm((1 + conf.level) / 2)
  pieces <- lapply(design$factors, function(one) {
    held <- which(design$terms[one$terms] %in% wanted)
    do.call(rbind, lapply(held, function(j) {
      name <- design$terms[one$terms[j]]
      mine <- pooled[pooled$term == name & pooled$factor == one$name, ]
      own <- own_intercepts(evaluator, base$cells, one, one$terms[j], base$u[[one$name]][, j],
                            effect_scale(fit$prior[[name]]))
      size <- as.vector(tapply(fit$group_sizes, factor(one$level, seq_along(one$levels)), sum))
      data.frame(term = name, factor = one$name, level = one$levels, trajectories = as.integer(size),
                 own = own$at, own.low = own$at - reach * own$std_error, own.high = own$at + reach * own$std_error,
                 pooled = mine$estimate, pooled.low = mine$conf.low, pooled.high = mine$conf.high)
    }))
  })
  out <- do.call(rbind, unname(pieces))
  out$shrinkage <- 1 - out$pooled / out$own
  rownames(out) <- NULL
  out
}

check_shrunken <- function(fit, term) {
  check_class(fit, "ibrc_fit", "fit", "ibrc()")
  refuse_part(fit, "fit", "plot_shrinkage()")
  if (!has_population(fit) || !length(fit$effects$factors)) {
    abort_input("fit", "has no random intercepts: fit with `effects`, such as effects = list(optimism ~ (1 | site)).")
  }
  need_data(fit, "A level's own estimate", "fit")
  if (!fit$likelihood) abort_input("fit", "has draws from the prior: levels have nothing to say for themselves.")
  known <- unique(fit$effects$terms[unlist(lapply(fit$effects$factors, `[[`, "terms"))])
  if (is.null(term)) known else check_choice(term, known, "term")
}

# Cells [cell, term] on the sampler's scale with everything at its median; and the medians of intercepts, one matrix
# [level, term] per factor.
median_cells <- function(fit) {
  shape <- population_shape(fit$effects, fit$prior)
  labels <- fit$effects$coefficients$label
  b <- matrix(apply(population_theta(fit, labels), 2, stats::median), 1)
  u <- apply(fit$population$intercepts, 3, stats::median)
  by_factor <- lapply(shape$at, function(at) matrix(u[as.vector(at)], nrow(at)))
  list(cells = matrix(cells_of(shape, b, matrix(u, 1)), shape$n_cells),
       u = stats::setNames(by_factor, vapply(fit$effects$factors, `[[`, "", "name")))
}

# Where the visits of each level are likeliest: `at`, and its standard error, NA where there is no such place. All
# levels are looked at together, on grids that close in: seven points, then the two next to the best.
own_rounds <- 4L
own_reach <- 6

own_intercepts <- function(evaluator, cells, one, t, pooled, scale) {
  n <- length(one$levels)
  at_level <- function(u) {
    moved <- cells
    moved[, t] <- moved[, t] + (u - pooled)[one$level]
    values <- matrix(0, evaluator$n_values, nrow(cells))
    as.vector(rowsum(evaluate_batch(evaluator, moved, values, seq_len(nrow(cells)))$log_likelihood,
                     factor(one$level, seq_len(n)), reorder = FALSE)[as.character(seq_len(n)), ])
  }
  centre <- numeric(n)
  reach <- own_reach * scale
  for (round in seq_len(own_rounds)) {
    steps <- seq(-1, 1, length.out = 7)
    height <- vapply(steps, function(step) at_level(centre + step * reach), numeric(n))
    height <- matrix(height, n)
    height[!is.finite(height)] <- -Inf
    best <- max.col(height, ties.method = "first")
    centre <- centre + steps[best] * reach
    reach <- reach / 3
  }
  # A parabola through the top, as wide as a tenth of what people may well differ by; then again where that has its own
  # top, since the curvature is that of the top.
  width <- scale / 10
  lost <- abs(centre) > 0.9 * own_reach * scale
  for (round in 1:2) {
    height <- matrix(vapply(c(-1, 0, 1), function(step) at_level(centre + step * width), numeric(n)), n)
    bend <- (height[, 1] - 2 * height[, 2] + height[, 3]) / width^2
    slope <- (height[, 3] - height[, 1]) / (2 * width)
    lost <- lost | !is.finite(bend) | bend > -1e-3 / scale^2
    centre <- centre + ifelse(lost, 0, pmin(pmax(-slope / bend, -width), width))
  }
  list(at = ifelse(lost, NA, centre), std_error = ifelse(lost, NA, sqrt(1 / pmax(-bend, 1e-300))))
}

draw_shrinkage <- function(data, fit, conf.level = 0.95) {
  drawn <- data[!is.na(data$own), ]
  if (!nrow(drawn)) {
    abort_input("fit", "has no level with an own estimate, so there is nothing to draw: the visits of each level ",
                "alone would be likelier still without end, as when all its decisions were the same. ",
                "shrinkage_data(fit) has the pooled estimates.")
  }
  drawn$panel <- paste0(scaled_words(fit, drawn$term), ", by ", drawn$factor)
  # Intervals of levels that say little would squeeze all others: what is beyond the picture is cut.
  limits <- lapply(split(drawn, drawn$panel), function(one) {
    wide <- 1.6 * range(c(one$own, one$pooled.low, one$pooled.high, 0))
    data.frame(panel = one$panel[1], low = wide[1], high = wide[2])
  })
  limits <- do.call(rbind, limits)
  at <- match(drawn$panel, limits$panel)
  drawn$own.low <- pmax(drawn$own.low, limits$low[at])
  drawn$own.high <- pmin(drawn$own.high, limits$high[at])
  left_out <- sum(is.na(data$own))
  said <- c(paste0("Dashed: own and pooled estimates are the same. Lines: ", level_text(conf.level), " intervals; ",
                   "own ones hold all else fixed, pooled ones do not, so their lengths cannot be compared."),
            if (left_out) paste(plural(left_out, "level"), "without an own estimate",
                                if (left_out == 1) "is" else "are", "not drawn."))
  ggplot2::ggplot(drawn, ggplot2::aes(.data$own, .data$pooled)) +
    ggplot2::geom_hline(yintercept = 0, colour = "grey70") +
    ggplot2::geom_abline(slope = 1, intercept = 0, linetype = "dashed", colour = "grey50") +
    ggplot2::geom_segment(ggplot2::aes(x = .data$own.low, xend = .data$own.high, yend = .data$pooled),
                          colour = "grey60", alpha = 0.6) +
    ggplot2::geom_segment(ggplot2::aes(y = .data$pooled.low, yend = .data$pooled.high, xend = .data$own),
                          colour = action_colours[1], alpha = 0.6) +
    ggplot2::geom_point(ggplot2::aes(size = .data$trajectories), colour = action_colours[1]) +
    ggplot2::scale_size_area(max_size = 3, breaks = size_breaks) +
    ggplot2::facet_wrap(~panel, scales = "free") +
    ggplot2::labs(x = "Own estimate of the level", y = "Pooled estimate", size = "Trajectories",
                  alt = shrinkage_alt(data), caption = in_lines(verdict_caption(fit, paste(said, collapse = " ")))) +
    theme_ibrc()
}

# Whole numbers of trajectories, and one that is there even where all levels have as many.
size_breaks <- function(range) {
  whole <- unique(round(pretty(range, 3)))
  whole <- whole[whole >= range[1] & whole <= range[2] & whole > 0]
  if (length(whole)) whole else round(range[2])
}

shrinkage_alt <- function(data) {
  middle <- stats::median(data$shrinkage, na.rm = TRUE)
  paste0("Pooled over own estimates of ", plural(nrow(data), "level"), " of ", listing(unique(data$factor)), " for ",
         listing(unique(data$term)), ", with intervals. ",
         if (is.finite(middle)) paste0("The median level was drawn to the others by ", round(100 * middle), "% of its ",
                                       "own estimate."))
}
