# Contrasts between the levels of factors in the formulas of a population (compare_groups()).

compare_levels <- function(fit, reference, scale, conf.level, adjusted, joint) {
  design <- fit$effects
  factors <- lapply(stats::setNames(nm = names(design$formulas)), function(term) factor_variables(design, term))
  found <- unlist(lapply(unname(factors), function(one) lapply(one, levels)), recursive = FALSE)
  if (!length(found)) {
    abort_input("fit", "has no factor by itself among the fixed effects of its formulas (what levels in a product ",
                "differ by depends on the other part): there are no levels to compare. tidy() ",
                "has its coefficients, and tidy(fit, effects = \"people\") has the levels of random intercepts.")
  }
  pairs <- level_pairs(found[!duplicated(names(found))], reference)
  contrasts <- lapply(names(factors), function(term) {
    kind <- if (is.null(scale)) default_scale(term) else scale
    lapply(names(factors[[term]]), function(name) {
      means <- level_means(fit, term, name, factors[[term]][[name]], adjusted)
      Map(function(group, against) {
        new_contrast(list(term = term, factor = name, group = group, reference = against), means[, group],
                     means[, against], kind)
      }, pairs[[name]]$group, pairs[[name]]$reference, USE.NAMES = FALSE)
    })
  })
  contrasts <- unlist(unlist(contrasts, recursive = FALSE), recursive = FALSE)
  rows <- standing_verdict(fit)
  new_ibrc_comparison(contrasts, conf.level, joint, rows, function(row) {
    few <- scarce_contrast(fit, row$term, row$factor, c(row$group, row$reference), adjusted)
    effect_verdict(rows, fit, row$term, factor_coefficients(design, row$term, row$factor), few)
  }, said = adjusted_words(adjusted, design, factors))
}

# What was averaged over. `factors`: those that were compared, by term and name.
adjusted_words <- function(adjusted, design, factors) {
  if (adjusted) {
    return("Adjusted: means over all trajectories with the factor set to either level and all else as it is.")
  }
  within <- unlist(lapply(names(factors), function(term) {
    lapply(names(factors[[term]]), function(name) {
      at <- nested_intercepts(design, term, factors[[term]][[name]])
      sprintf("%s within %s", vapply(design$factors[at], `[[`, "", "name"), name)
    })
  }))
  paste0("Not adjusted: means over the trajectories that have the level, whatever else they differ in",
         if (length(within)) paste0("; random intercepts (", enumerate(unique(within), Inf, ""), ") are averaged over ",
                                    "the whole cohort, as those of others who might have come"), ".")
}

# Pairs of levels by factor. `reference`: NULL, "all", or levels by the name of their factor; a level alone where only
# one factor has it.
level_pairs <- function(levels, reference) {
  if (is.null(reference)) return(lapply(levels, group_pairs, NULL))
  if (!is.character(reference) || !length(reference) || anyNA(reference)) {
    abort_input("reference", "must be levels of factors, such as c(", names(levels)[1], " = \"", levels[[1]][1],
                "\"), or \"all\", not ", describe(reference), ".")
  }
  if (is.null(names(reference))) {
    everywhere <- vapply(levels, function(own) "all" %in% own, NA)
    if (identical(reference, "all") && !any(everywhere)) return(lapply(levels, group_pairs, "all"))
    having <- names(levels)[vapply(levels, function(own) reference[1] %in% own, NA)]
    if (length(reference) != 1 || length(having) != 1) {
      abort_input("reference", if (length(having) > 1) "is a level of more than one factor" else
        "is not a level of any factor", ": give it by name, as in c(", names(levels)[1], " = \"", levels[[1]][1],
        "\").")
    }
    names(reference) <- having
  }
  as_positions(names(reference), names(levels), "reference", "factor")
  if (anyDuplicated(names(reference))) abort_input("reference", "has more than one level of a factor.")
  lapply(stats::setNames(nm = names(levels)), function(name) {
    group_pairs(levels[[name]], if (name %in% names(reference)) reference[[name]])
  })
}

# Means of a term over the cohort [draw, level], on its own scale: with everybody at the level, or (not `adjusted`) over
# those who have it.
level_means <- function(fit, term, name, value, adjusted) {
  design <- fit$effects
  entry <- fit$prior[[term]]
  size <- unname(fit$group_sizes)
  n_draws <- prod(dim(fit$draws[[1]])[1:2])
  at <- vapply(fit$draws, function(draws) as.vector(draws[, , term]), numeric(n_draws))
  at <- matrix(at, n_draws)
  if (!adjusted) return(found_means(fit, term, value, at, size))
  own <- design$coefficients$label[design$coefficients$term == term]
  b <- kept_theta(fit)[, own, drop = FALSE]
  columns <- columns_at_levels(design, term, name)
  vapply(levels(value), function(level) {
    moved <- to_unconstrained(entry, at) + tcrossprod(b, columns[[level]] - design$matrices[[term]])
    as.vector(matrix(to_natural(entry, moved), n_draws) %*% size) / sum(size)
  }, numeric(n_draws))
}

# Means over those who have a level. The clinicians of one arm are not those of the other: a difference of the very ones
# that came is not one of arms. So intercepts of factors nested in the compared one are taken off, and everybody gets
# those of the whole cohort in turn. Without other covariates that is the adjusted mean.
found_means <- function(fit, term, value, at, size) {
  mean_of <- function(x, weight) as.vector(x %*% weight) / sum(weight)
  nested <- nested_intercepts(fit$effects, term, value)
  if (!length(nested)) {
    return(vapply(levels(value), function(level) mean_of(at, ifelse(value == level, size, 0)), numeric(nrow(at))))
  }
  entry <- fit$prior[[term]]
  own <- summed_intercepts(fit, term, nested)
  of_cells <- to_unconstrained(entry, at) - own
  someone <- distinct_rows(do.call(cbind, lapply(fit$effects$factors[nested], `[[`, "level")))
  own <- own[, !duplicated(someone), drop = FALSE]
  share <- as.vector(rowsum(size, someone))
  vapply(levels(value), function(level) {
    # Cells that differ by these intercepts alone are the same now.
    mine <- which(value == level)
    alike <- distinct_rows(rest_of_cells(fit$effects, term, nested)[mine, , drop = FALSE])
    weight <- as.vector(rowsum(size[mine], alike))
    total <- numeric(nrow(at))
    for (i in seq_along(weight)) {
      total <- total + weight[i] * mean_of(to_natural(entry, own + of_cells[, mine[match(i, alike)]]), share)
    }
    total / sum(weight)
  }, numeric(nrow(at)))
}

# Grouping factors of a term, none of whose levels lies in two groups of `value` (by cell).
nested_intercepts <- function(design, term, value) {
  Filter(function(k) {
    one <- design$factors[[k]]
    match(term, design$terms) %in% one$terms && lies_within(one$level, value)
  }, seq_along(design$factors))
}

# The sum of the intercepts of these factors [draw, cell].
summed_intercepts <- function(fit, term, factors) {
  theta <- kept_theta(fit)
  Reduce(`+`, lapply(factors, function(k) {
    one <- fit$effects$factors[[k]]
    level_intercepts(fit, k, one$level, theta)[[match(term, fit$effects$terms[one$terms])]]
  }))
}

# What tells cells apart in a term without the intercepts of these factors [cell, column].
rest_of_cells <- function(design, term, factors) {
  others <- Filter(function(one) match(term, design$terms) %in% one$terms, design$factors[-factors])
  do.call(cbind, c(list(design$matrices[[term]]), lapply(others, `[[`, "level")))
}

# Coefficients whose columns change with a factor.
factor_coefficients <- function(design, term, name) {
  own <- design$coefficients[design$coefficients$term == term, ]
  columns <- paste0(name, levels(factor_variables(design, term)[[name]])[-1])
  own$label[vapply(strsplit(own$name, ":", fixed = TRUE), function(parts) any(parts %in% columns), NA)]
}
