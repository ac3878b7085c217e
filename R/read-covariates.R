# What the columns of a design say about the variables in its formulas: covariates of cells, and columns for other
# people with other values. A variable is what stands in a formula: age, log(age), arm.

# A data frame with one row per cell: levels of grouping factors and the covariates. A variable that occurs only in
# products is given by its columns.
cell_covariates <- function(design) {
  out <- data.frame(row.names = seq_along(design$cells))
  for (one in design$factors) out[[one$name]] <- one$levels[one$level]
  for (term in names(design$formulas)) {
    formula <- design$formulas[[term]]
    variables <- cell_variables(formula, design$matrices[[term]])
    known <- setdiff(names(variables), names(out))
    for (name in known) {
      value <- variables[[name]]
      if (is.null(value)) next
      if (is.factor(value)) value <- as.character(value)
      # 15 digits, so that the same number is read again.
      if (is.double(value)) value <- signif(value, 15)
      out[[name]] <- value
    }
    lost <- names(variables)[vapply(variables, is.null, NA)]
    if (length(lost)) {
      x <- design$matrices[[term]]
      for (name in setdiff(colnames(x), "(Intercept)")) out[[paste0(term, "[", name, "]")]] <- x[, name]
    }
  }
  rownames(out) <- NULL
  out
}

# Like tidy_draws(), one row per term and cell, with what the people in the cell have in common.
tidy_cells <- function(fit, conf.level = 0.95) {
  out <- tidy_draws(fit, conf.level)
  names(out)[names(out) == "group"] <- "cell"
  about <- cell_covariates(fit$effects)
  about <- about[match(out$cell, fit$effects$cells), setdiff(names(about), names(out)), drop = FALSE]
  out <- cbind(out[c("term", "cell")], about, out[-(1:2)])
  rownames(out) <- NULL
  out
}

# As columns of visits: covariates that stand in formulas by themselves, and those that grouping factors are made of,
# but not the identifier of the trajectory.
visit_columns <- function(design) {
  out <- cell_covariates(design)
  out <- out[names(out) %in% unlist(lapply(design$formulas, function(one) all.vars(one$fixed)))]
  for (one in Filter(function(one) !are_numbered(one$levels), design$factors)) {
    parts <- strsplit(one$levels, ":", fixed = TRUE)
    if (length(one$columns) == 1) parts <- as.list(one$levels)
    if (any(lengths(parts) != length(one$columns))) {
      abort_input("object", "has levels of ", enumerate(one$name), " with a colon in them, so nobody can tell what ",
                  "they are made of: use other labels, and fit again.")
    }
    parts <- do.call(rbind, parts)
    for (j in seq_along(one$columns)) out[[one$columns[j]]] <- parts[one$level, j]
  }
  out
}

# The variables of a formula by name, each with one value per row of its matrix: factors, numbers or logicals. NULL
# where the columns do not determine them.
cell_variables <- function(formula, x) {
  own <- intersect(colnames(x), names(formula$centre))
  raw <- x
  raw[, own] <- x[, own] + rep(formula$centre[own], each = nrow(x))
  label <- variable_labels(formula)
  stats::setNames(lapply(label, variable_of, raw, formula$levels), label)
}

variable_labels <- function(formula) {
  variables <- as.list(attr(stats::terms(formula$fixed), "variables"))[-1]
  vapply(variables, function(one) {
    paste(deparse(one, width.cutoff = 500, backtick = !is.symbol(one) && is.language(one)), collapse = " ")
  }, "")
}

variable_of <- function(label, raw, levels) {
  known <- colnames(raw)
  if (label %in% names(levels)) {
    levels <- levels[[label]]
    return(indicated(raw, paste0(label, levels[-1]), levels))
  }
  if (label %in% known) return(raw[, label])
  if (paste0(label, "TRUE") %in% known) return(raw[, paste0(label, "TRUE")] == 1)
  NULL
}

# A factor from the columns of all its levels but the first.
indicated <- function(raw, columns, levels) {
  if (!all(columns %in% colnames(raw))) return(NULL)
  factor(levels[1 + as.vector(raw[, columns, drop = FALSE] %*% seq_along(columns))], levels = levels)
}

# The columns of a formula, centred as those of the fit, for people with these variables.
variable_matrix <- function(formula, variables) {
  n <- NROW(variables[[1]])
  model_columns(structure(variables, class = "data.frame", row.names = seq_len(n), terms = stats::terms(formula$fixed)),
                formula$centre)
}

# Columns of a term for all cells with one of its factors set to each of its levels: a list by level. The factor must
# stand in the formula by itself, too.
columns_at_levels <- function(design, term, name) {
  formula <- design$formulas[[term]]
  x <- design$matrices[[term]]
  variables <- cell_variables(formula, x)
  again <- if (!any(vapply(variables, is.null, NA))) variable_matrix(formula, variables)
  if (is.null(again) || !identical(colnames(again), colnames(x)) || max(abs(again - x)) > 1e-8 * max(1, abs(x))) {
    abort_input("fit", "has a formula of ", term, " with variables only in products, so ", enumerate(name),
                " cannot be set to another level: write a * b in place of a:b, and fit again.")
  }
  value <- variables[[name]]
  levels <- if (is.logical(value)) c("FALSE", "TRUE") else levels(value)
  lapply(stats::setNames(nm = levels), function(level) {
    variables[[name]][] <- if (is.logical(value)) level == "TRUE" else level
    variable_matrix(formula, variables)
  })
}

# Factors (and logicals) among the variables of a term's formula, as the cells have them: a list by name.
factor_variables <- function(design, term) {
  formula <- design$formulas[[term]]
  if (is.null(formula)) return(list())
  found <- cell_variables(formula, design$matrices[[term]])
  found <- Filter(function(one) is.factor(one) || is.logical(one), found)
  lapply(found, function(one) if (is.logical(one)) factor(one, levels = c(FALSE, TRUE)) else one)
}
