# Populations in a checkpoint: effects and where chains of a population stand (infer-population-sampler.R), how they are
# written, and looked at before they are used (see infer-checkpoint-contents.R).
#
#   effects   NULL, or list(formulas, matrices, factors, prior). formulas: one per term, list(text, levels, centre,
#             width), the formula as text and what it learnt of the visits; matrices: their columns,
#             [cell, coefficient]; factors: by name, list(levels, level), the level of each cell; prior: of slopes and
#             spreads. All else of a design follows from these.
#
# A formula from a file is parsed and read as one from a user is, which leaves it no function but those of
# `formula_functions`; until then nothing of it is evaluated.

effects_to_plain <- function(design) {
  list(formulas = lapply(unname(design$formulas), function(one) {
    c(list(text = formula_text(one)), one[c("levels", "centre", "width")])
  }), matrices = design$matrices[names(design$formulas)],
  factors = lapply(design$factors, function(one) one[c("levels", "level")]),
  prior = lapply(unclass(design$prior), unclass))
}

effects_from_plain <- function(held, prior) {
  read <- read_effects(lapply(held$formulas, function(one) text_formula(one$text)), prior)
  formulas <- Map(function(one, learnt) c(one, learnt[c("levels", "centre", "width")]), read, held$formulas)
  factors <- read_factors(formulas, function(columns) {
    name <- factor_name(columns)
    list(name = name, columns = columns, levels = held$factors[[name]]$levels, level = held$factors[[name]]$level,
         terms = integer(), tie = character())
  }, prior_terms(prior))
  join_design(formulas, held$matrices, factors, prior, held$prior)
}

# All that read_effect() made of a formula, in one line that it reads again.
formula_text <- function(one) {
  bars <- lapply(one$random, function(bar) {
    by <- Reduce(function(a, b) call(":", a, b), lapply(bar$columns, as.name))
    call("(", call("|", if (is.na(bar$tie)) 1 else call("|", 1, as.name(bar$tie)), by))
  })
  right <- Reduce(function(a, b) call("+", a, b), bars, one$fixed[[2]])
  whole <- call("~", as.name(one$term), right)
  paste(trimws(deparse(whole, 500L, control = c("keepNA", "keepInteger", "digits17"))), collapse = " ")
}

text_formula <- function(text) {
  parsed <- parse(text = text, keep.source = FALSE, encoding = "UTF-8")
  must(length(parsed) == 1 && is.call(parsed[[1]]) && identical(parsed[[1]][[1]], quote(`~`)), "formulas")
  structure(parsed[[1]], class = "formula", .Environment = baseenv())
}

# ---- effects that are held ------------------------------------------------------------------------------------------

check_held_effects <- function(plain) {
  held <- plain$effects
  if (is.null(held)) return(must(!"effects" %in% names(plain), "effects"))
  must(has_names(held, c("formulas", "matrices", "factors", "prior")), "effects")
  must(is.null(plain$problems), "effects")
  must(plain$sampler == "adaptive" && identical(plain$group_levels, paste("cell", seq_along(plain$histories))), "cells")
  n_cells <- length(plain$histories)
  prior <- new_ibrc_prior(plain$prior)
  must(is_plain_list(held$formulas, length(held$formulas)) && length(held$formulas) > 0, "formulas")
  for (one in held$formulas) check_held_learnt(one)
  for (one in held$factors) check_held_levels(one, n_cells)
  if (length(held$prior)) check_held_prior(held$prior, called = function(entry) entry$term)
  must(all(is_effect_term(names(held$prior))), "prior of effects")
  for (x in held$matrices) {
    must(is.double(x) && is_bare(x, c("dim", "dimnames")) && identical(nrow(x), n_cells), "columns of effects")
    must(all(is.finite(x)) && all(abs(x) <= most_position), "columns of effects")
  }
  design <- effects_from_plain(held, prior)
  must(identical(effects_to_plain(design), held), "effects")
  sizes <- tabulate(plain$group, n_cells)
  for (one in design$formulas) check_held_columns(one, design$matrices[[one$term]], sizes)
  must(!anyDuplicated(distinct_rows(do.call(cbind, c(list(rep(1, n_cells)), design$matrices,
                                                     lapply(design$factors, `[[`, "level"))))), "cells")
  free <- !is.null(plain$dynamics) && plain$dynamics$uncertainty != "none"
  check_held_spacing(plain$run$spacing, prior, plain$likelihood && !free)
}

check_held_learnt <- function(one) {
  must(has_names(one, c("text", "levels", "centre", "width")) && is_text(one$text, 1), "formulas")
  must(nchar(one$text) < 1e5 && is.list(one$levels) && is_bare(one$levels, "names"), "formulas")
  must(!anyDuplicated(names(one$levels)), "levels of effects")
  for (levels in one$levels) must(is_text(levels) && length(levels) > 1 && !anyDuplicated(levels), "levels of effects")
  for (learnt in one[c("centre", "width")]) {
    must(is.double(learnt) && is_bare(learnt, "names") && all(is.finite(learnt)), "columns of effects")
    must(all(abs(learnt) <= most_position), "columns of effects")
  }
  must(all(one$width > 0), "columns of effects")
}

check_held_levels <- function(one, n_cells) {
  must(has_names(one, c("levels", "level")), "levels of intercepts")
  must(is_text(one$levels) && length(one$levels) > 1 && !anyDuplicated(one$levels), "levels of intercepts")
  must(is_wholes(one$level, 1, length(one$levels), n_cells), "levels of intercepts")
  must(all(seq_along(one$levels) %in% one$level), "levels of intercepts")
}

# Columns are those that the formula gives, and each number about its mean over all people, or from the lower of two
# values. `sizes`: people in each cell.
check_held_columns <- function(formula, x, sizes) {
  what <- "columns of effects"
  known <- all.vars(formula$fixed)
  must(all(names(formula$levels) %in% known), what)
  blank <- blank_frame(formula)
  name <- colnames(model_columns(blank, NULL))
  must(identical(dimnames(x), list(NULL, name)) && identical(names(formula$width), name), what)
  must(identical(names(formula$centre), names(numbers_of(blank))) && name[1] == "(Intercept)", what)
  must(all(x[, 1] == 1) && formula$width[[1]] == 1, what)
  for (j in name[-1]) {
    mean <- sum(sizes * x[, j]) / sum(sizes)
    two <- has_two_values(x[, j])
    width <- if (two) column_width(x[, j]) else sqrt(sum(sizes * (x[, j] - mean)^2) / (sum(sizes) - 1))
    must(is_near(formula$width[[j]], width), what)
    if (!j %in% names(formula$centre)) next
    must(if (two) min(x[, j]) == 0 else abs(mean) <= 1e-6 * (width + abs(formula$centre[[j]])), what)
  }
}

# The variables of a formula, whatever people are like: texts by their levels, and some numbers.
blank_frame <- function(formula) {
  columns <- all.vars(formula$fixed)
  n <- max(2L, lengths(formula$levels))
  table <- lapply(stats::setNames(nm = columns), function(column) {
    levels <- formula$levels[[column]]
    if (is.null(levels)) seq_len(n) + 0.5 else factor(rep_len(levels, n), levels = levels)
  })
  model_variables(formula, table, n)
}

check_held_spacing <- function(spacing, prior, likelihood) {
  if (is.null(spacing)) return(invisible())
  must(likelihood && length(prior) <= most_interpolated, "spacing")
  must(is.double(spacing) && is_bare(spacing, "names") && identical(names(spacing), names(prior)), "spacing")
  must(all(is.finite(spacing) & spacing > 1e-6 & spacing <= widest_spacing(prior)), "spacing")
}

# ---- the fields of a population's state -----------------------------------------------------------------------------

# As walk_fields, by the names of population_sizes(). A field that is new in population_start() is a row here.
population_fields <- list(
  b              = c("number", "chains", "coefficients"),
  s              = c("number", "chains", "spreads"),
  u              = c("number", "chains", "intercepts"),
  d              = c("number", "chains", "laws"),
  seen           = c("number", "chains"),
  log_likelihood = c("number", "chains", "cells"),
  log_density    = c("number", "chains"),
  level_scale    = c("positive", "intercepts"),
  spread_scale   = c("positive", "spreads"),
  accepted       = c("part", "chains"),
  n_accepted     = c("taken", "chains"),
  errors         = c("error", "checks")
)
population_apart <- c("sampler", "warmup", "iter", "thin", "iteration", "frozen", "streams", "level_shape",
                      "level_sums", "laws", "known", "walks", "recent", "kept")

# By kind, whether `x` can be that with this size after so many steps that count.
population_kinds <- list(
  number = function(x, size, after) is_position(x, size),
  positive = function(x, size, after) is_width(x, size),
  error = function(x, size, after) is_position(replace(x, x %in% Inf, 0), size),
  part = function(x, size, after) is_finite(x, size) && all(x >= 0 & x <= 1),
  taken = function(x, size, after) is_finite(x, size) && all(x >= 0 & x <= max(0, after) + 1e-6)
)

population_sizes <- function(state, evaluator, n_chains) {
  shape <- evaluator$population
  after <- max(0, state$iteration - state$warmup)
  c(chains = n_chains, coefficients = shape$n_coefficients, spreads = shape$n_spreads + shape$n_ties,
    intercepts = shape$n_intercepts, laws = length(shape$codec$prior), cells = shape$n_cells,
    checks = if (is.null(evaluator$interpolation)) 0 else after %/% check_every)
}

check_population_fields <- function(state, evaluator, n_chains) {
  fields <- c(population_apart, names(population_fields))
  must(is.list(state) && is_bare(state, "names") && !anyDuplicated(names(state)), "chains")
  must(setequal(names(state), fields), "chains")
  sizes <- population_sizes(state, evaluator, n_chains)
  for (field in names(population_fields)) {
    row <- population_fields[[field]]
    kind <- population_kinds[[row[1]]]
    must(kind(state[[field]], unname(sizes[row[-1]]), state$iteration - state$warmup), paste(field, "of the chains"))
  }
}

# ---- a population as a whole ----------------------------------------------------------------------------------------

# `job` has been made from what stands beside the chains.
check_held_population <- function(chain, job) {
  evaluator <- job$evaluator
  shape <- evaluator$population
  must(has_names(chain, c("state", "value")), "chains")
  state <- chain$state
  run <- job$run
  must(is.list(state) && is_population(state), "chains")
  must(identical(state[c("warmup", "thin")], run[c("warmup", "thin")]), "settings of the chains")
  # A run that goes on until its chains agree gets more steps on the way.
  must(is_wholes(state$iter, run$iter, run$max_iter, 1) && is_wholes(state$iteration, 0, state$iter, 1), "steps")
  must(identical(state$frozen, state$iteration >= run$warmup), "warm-up")
  n_chains <- length(evaluator$group)
  check_population_fields(state, evaluator, n_chains)
  check_held_streams(state$streams, n_chains)
  check_level_laws(state, shape)
  check_move_laws(state, shape)
  check_population_walks(state, shape)
  check_population_record(state, shape, evaluator$likelihood)
  check_population_values(chain, evaluator)
  check_population_likelihood(chain, evaluator)
}

# Shapes are upper triangular with something on the diagonal; what they are learnt from is there as long as it is of
# use.
check_level_laws <- function(state, shape) {
  n <- length(shape$at)
  must(is_plain_list(state$level_shape, n), "proposals")
  for (k in seq_len(n)) {
    size <- dim(shape$at[[k]])[2:1]
    one <- state$level_shape[[k]]
    must(is_finite(one, c(size[1], size)) && all(abs(one) < 1e100), "proposals")
    for (i in seq_len(size[1])) must(all(one[i, i, ] > 0) && all(one[i, seq_len(i - 1), ] == 0), "proposals")
  }
  if (state$frozen) return(must(is.null(state$level_sums), "warm-up"))
  must(is_plain_list(state$level_sums, n), "warm-up")
  begun <- ceiling(level_times * state$warmup)
  since <- state$iteration - max(0, begun[begun <= state$iteration])
  for (k in seq_len(n)) {
    size <- dim(shape$at[[k]])
    sums <- state$level_sums[[k]]
    must(has_names(sums, c("n", "sum", "square")) && identical(sums$n, as.numeric(since * nrow(state$b))), "warm-up")
    must(is_finite(sums$sum, size) && is_finite(sums$square, c(size[2], size[2:1])), "warm-up")
    must(all(abs(sums$sum) <= most_position) && all(abs(sums$square) <= most_position), "warm-up")
    for (i in seq_len(size[2])) must(all(sums$square[i, i, ] >= 0), "warm-up")
    if (since == 0) must(all(sums$sum == 0) && all(sums$square == 0), "warm-up")
  }
}

# What is proposed and its density belong together.
check_move_laws <- function(state, shape) {
  blocks <- population_blocks(shape)
  must(has_names(state$laws, names(blocks)) && (isTRUE(state$known) || isFALSE(state$known)), "proposals")
  for (block in names(blocks)) {
    law <- state$laws[[block]]
    n <- length(blocks[[block]])
    must(has_names(law, c("centre", "factor", "inverse", "scale", "turn", "n_scaled")), "proposals")
    must(is_finite(law$centre, n) && all(abs(law$centre) <= most_position), "proposals")
    for (part in law[c("factor", "inverse")]) must(is_finite(part, c(n, n)) && all(abs(part) < 1e100), "proposals")
    must(is_near(law$factor %*% law$inverse, diag(n)), "proposals")
    must(is_finite(law$scale, 1) && law$scale > 1e-100 && law$scale < 1e100, "proposals")
    must(is_finite(law$turn, 1) && law$turn >= 0 && law$turn < 1, "proposals")
    must(is_finite(law$n_scaled, 1) && law$n_scaled >= 0 && law$n_scaled <= state$iteration, "proposals")
  }
}

# Walks of laws, as check_held_walk() looks at those of other chains.
walk_parts <- c("centre", "covariance", "factor", "inverse", "scale", "axis", "turn", "n_scaled", "points", "recent",
                "tried")

check_population_walks <- function(state, shape) {
  blocks <- walk_blocks(shape)
  must(is_plain_list(unname(state$walks), length(blocks)) && identical(names(state$walks), names(blocks)), "proposals")
  n <- nrow(state$b)
  for (block in names(blocks)) {
    walk <- state$walks[[block]]
    size <- length(blocks[[block]])
    must(is.list(walk) && is_bare(walk, "names") && !anyDuplicated(names(walk)), "proposals")
    must(all(names(walk) %in% walk_parts) && all(setdiff(walk_parts, "points") %in% names(walk)), "proposals")
    sizes <- walk_sizes(c(walk, state[c("iteration", "warmup", "frozen", "thin")]), n, size)
    must(sizes[["leaps"]] <= most_leaps, "proposals")
    for (part in names(walk)) {
      row <- walk_fields[[part]]
      if (is.null(walk[[part]]) && part == "points") next
      kind <- walk_kinds[[sub("?", "", row[1], fixed = TRUE)]]
      must(kind(walk[[part]], unname(sizes[row[-1]]), state, n * (size + 1)), paste(part, "of the chains"))
    }
    must(is_near(walk$factor %*% walk$inverse, diag(size)), "proposals")
    must(is_near(walk$covariance, t(walk$covariance)) && all(eigen(walk$covariance, TRUE)$values > 0), "proposals")
    check_walk_steps(walk, state, blocks[[block]])
  }
}

# What warm-up will learn from is where chains can be: an error is met here, and not hours later.
check_walk_steps <- function(walk, state, columns) {
  if (state$frozen || state$iteration == 0) return(invisible())
  n <- nrow(state$b)
  points <- list(recent = step_points(walk$recent, n, length(columns)),
                 tried = step_points(walk$tried, n, length(columns)))
  for (one in points) {
    must(all(abs(one$theta) <= most_position) && all(one$density <= most_position), "warm-up")
  }
  must(all(is.finite(points$recent$density)), "warm-up")
  learn_walk_law(c(walk, list(positions = state$b, iteration = state$iteration)), bends = FALSE)
}

# Steps so far, where chains can be; the last is where they are. No likelihood is above 1.
check_population_record <- function(state, shape, likelihood) {
  n <- nrow(state$b)
  total <- rowSums(state$log_likelihood) + state$seen
  must(all(state$log_likelihood <= 1e-6) && (likelihood || all(state$log_likelihood == 0)), "likelihood")
  must(all(state$seen <= 1e-6) && (likelihood && !is.null(shape$codec) || all(state$seen == 0)), "likelihood")
  here <- cbind(state$b, state$s, state$u, state$d)
  check_population_density(shape, here, state$log_density, likelihood, "positions", total)
  width <- c(recent = ncol(state$b) + ncol(state$s), kept = ncol(here) + 1)
  after <- max(0, state$iteration - state$warmup)
  made <- c(recent = if (state$frozen) 0 else state$iteration, kept = after %/% state$thin)
  for (part in names(width)) {
    what <- if (part == "kept") "draws" else "warm-up"
    must(is_plain_list(state[[part]], made[[part]]), what)
    must(all(vapply(state[[part]], is_finite, NA, n * width[[part]])), what)
  }
  if (made[["recent"]]) {
    must(identical(state$recent[[state$iteration]], c(state$b, state$s)), "warm-up")
    must(all(abs(unlist(state$recent)) <= most_position), "warm-up")
  }
  if (!made[["kept"]]) return(invisible())
  if (after %% state$thin == 0) {
    must(identical(state$kept[[length(state$kept)]], c(here, state$log_density)), "draws")
  }
  steps <- do.call(rbind, lapply(state$kept, matrix, n))
  last <- ncol(steps)
  check_population_density(shape, steps[, -last, drop = FALSE], steps[, last], likelihood, "draws")
}

# Places, one row each of b, s, u and d, and the log densities there.
check_population_density <- function(shape, places, log_density, likelihood, what, log_likelihood = NULL) {
  must(all(abs(places) <= most_position) && all(abs(log_density) <= most_position), what)
  parts <- split_places(shape, places)
  log_prior <- log_population(shape, parts$b, parts$s, parts$u) + log_laws(shape, parts$d)
  slack <- 1e-6 * (1 + abs(log_prior) + abs(log_density))
  must(all(is.finite(log_prior)) && all(log_density <= log_prior + slack), what)
  if (!likelihood) must(all(abs(log_density - log_prior) <= slack), what)
  if (!is.null(log_likelihood)) must(all(abs(log_prior + log_likelihood - log_density) <= slack), what)
}

split_places <- function(shape, places) {
  n_b <- shape$n_coefficients
  n_s <- shape$n_spreads + shape$n_ties
  list(b = places[, seq_len(n_b), drop = FALSE], s = places[, n_b + seq_len(n_s), drop = FALSE],
       u = places[, n_b + n_s + seq_len(shape$n_intercepts), drop = FALSE],
       d = places[, -seq_len(n_b + n_s + shape$n_intercepts), drop = FALSE])
}

# ---- what it has of the problem -------------------------------------------------------------------------------------

# Values that solves start from, as check_held_values() looks at those of other chains; interpolated cells have none.
check_population_values <- function(chain, evaluator) {
  state <- chain$state
  shape <- evaluator$population
  n_nodes <- if (is.null(evaluator$interpolation)) evaluator$agent$n_values else 0
  must(is_finite(chain$value, c(n_nodes, nrow(state$b) * shape$n_cells)), "values")
  if (!evaluator$likelihood) return(must(all(chain$value == 0), "values"))
  if (n_nodes == 0) return(invisible())
  theta <- cells_of(shape, state$b, state$u)
  n <- nrow(state$b)
  agents <- lapply(seq_len(n), function(c) agent_of_chain(evaluator, c, state$d[c, ]))
  for (i in seq_len(nrow(theta))) {
    most <- most_value(agents[[(i - 1L) %% n + 1L]], theta[i, , drop = FALSE])
    must(all(abs(chain$value[, i]) <= most), "values")
  }
}

# The model that stands beside the chains is the one that they are chains of: where they stand, cell by cell, and at
# some of the draws that they have left.
check_population_likelihood <- function(chain, evaluator) {
  if (!evaluator$likelihood) return(invisible())
  state <- chain$state
  shape <- evaluator$population
  n <- nrow(state$b)
  group <- rep(seq_len(shape$n_cells), each = n)
  at <- function(parts) {
    theta <- cells_of(shape, parts$b, parts$u)
    found <- cell_log_lik(at_laws(evaluator, parts$d), theta, chain$value)
    slack <- if (is.null(evaluator$interpolation)) {
      likelihood_slack(evaluator$agent, theta, found$value, group, as.vector(found$log_likelihood))
    } else {
      1e-6 * (1 + abs(as.vector(found$log_likelihood)))
    }
    list(log_likelihood = found$log_likelihood, slack = matrix(slack, n), seen = seen_log_lik(evaluator, parts$d))
  }
  here <- at(state)
  must(all(abs(here$log_likelihood - state$log_likelihood) <= here$slack), "likelihood")
  must(is_near(here$seen, state$seen), "likelihood")
  n_kept <- length(state$kept)
  for (row in round(seq(1, n_kept, length.out = min(n_kept, most_looked_at)))) {
    step <- matrix(state$kept[[row]], n)
    parts <- split_places(shape, step[, -ncol(step), drop = FALSE])
    there <- at(parts)
    total <- log_population(shape, parts$b, parts$s, parts$u) + log_laws(shape, parts$d) + there$seen +
      rowSums(there$log_likelihood)
    must(all(abs(total - step[, ncol(step)]) <= rowSums(there$slack) + 1e-6 * (1 + abs(total))), "draws")
  }
}
