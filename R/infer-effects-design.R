# A design applies effects to visits. It says in numbers which coefficients and random intercepts each person has.
# People for whom all of these are the same form one cell. A cell has one agent, and is solved for once.
#
#   terms         the terms of the agents' prior, in order
#   formulas      as read_effects() returns them; each also has what is needed to read other visits in the same way
#   matrices      one matrix per term, [cell, coefficient]
#   coefficients  one row per coefficient: label, term, name, intercept, centre, scale
#   factors       one entry per grouping factor: name, columns, levels, the `level` of each cell, the `terms` that have
#                 an intercept by this factor (as numbers), and `tied`, which says which of these are correlated
#   spreads       one row per factor and term
#   ties          one row per correlation
#   prior         the priors of slopes and spreads
#   cells         the labels of the cells

new_design <- function(formulas, visits, coded, prior, stated = list()) {
  people <- person_table(formulas, visits, coded)
  formulas <- lapply(formulas, learn_formula, people)
  matrices <- lapply(formulas, formula_matrix, people)
  factors <- read_factors(formulas, function(columns) new_factor(columns, people), prior_terms(prior))
  cell <- distinct_rows(do.call(cbind, c(list(rep(1, people$n)), matrices, lapply(factors, `[[`, "level"))))
  first <- !duplicated(cell)
  matrices <- lapply(matrices, function(x) x[first, , drop = FALSE])
  factors <- lapply(factors, function(one) replace(one, "level", list(one$level[first])))
  design <- join_design(formulas, matrices, factors, prior, stated)
  decided <- cell %in% cell[scored_visits(coded) > 0]
  for (term in names(formulas)) refuse_unscored(matrices[[term]], term, decided[first])
  for (one in factors) refuse_unscored_factor(one, decided[first])
  list(design = design, cell = factor(design$cells[cell], levels = design$cells))
}

# Makes a design. It needs the formulas as they were learnt, their matrices [cell, coefficient], and factors with the
# level of each cell.
join_design <- function(formulas, matrices, factors, prior, stated) {
  terms <- prior_terms(prior)
  n_cells <- nrow(matrices[[1]])
  matrices <- lapply(stats::setNames(nm = terms), function(term) {
    if (is.null(matrices[[term]])) matrix(1, n_cells, 1, dimnames = list(NULL, "(Intercept)")) else matrices[[term]]
  })
  refuse_same_partition(factors, terms)
  for (term in names(formulas)) refuse_aliased(matrices[[term]], term, factors, terms)
  scales <- vapply(unclass(prior), effect_scale, 0)
  coefficients <- list_coefficients(matrices, formulas, scales)
  spreads <- list_spreads(factors, scales)
  list(terms = terms, formulas = formulas, matrices = matrices, coefficients = coefficients, factors = factors,
       spreads = spreads, ties = list_ties(factors, terms), prior = effect_priors(coefficients, spreads, stated),
       cells = paste("cell", seq_len(n_cells)))
}

# Gives each row the number of its kind: rows that are the same have the same number. Kinds are numbered in the order in
# which they first appear.
distinct_rows <- function(x) {
  codes <- vapply(seq_len(ncol(x)), function(j) match(x[, j], unique(x[, j])), integer(nrow(x)))
  key <- do.call(paste, as.data.frame(matrix(codes, nrow(x))))
  match(key, unique(key))
}

# ---- columns ---------------------------------------------------------------------------------------------------------

# The columns that the formulas name, with one value per trajectory. `n` is the number of trajectories, `row` has the
# first row of each, and `grouping` names the columns of random intercepts. Identifiers are replaced by the numbers of
# trajectories.
person_table <- function(formulas, visits, coded, argument = "effects") {
  fixed <- unique(unlist(lapply(formulas, function(one) all.vars(one$fixed))))
  grouping <- unique(unlist(lapply(formulas, function(one) lapply(one$random, `[[`, "columns"))))
  first <- coded$row[!duplicated(coded$trajectory)]
  id <- attr(visits, "roles")$id
  if (id %in% fixed) {
    abort_input(argument, "has the column of identifiers as a fixed effect: for one intercept per person write (1 | ",
                id, ").")
  }
  read <- function(column) {
    if (identical(column, id)) return(numbered_trajectories(length(first)))
    check_column(visits, column, argument, " Name it in `covariates` of trajectories(), which drops other columns.")
    x <- plain_column(visits[[column]])
    refuse_lookalikes(x, argument, column)
    constant_column(x, column, coded, first, argument)
  }
  wanted <- unique(c(fixed, grouping))
  list(columns = stats::setNames(lapply(wanted, read), wanted), n = length(first), row = first, grouping = grouping)
}

# One value per trajectory. Values that are missing, or that change within a trajectory, are refused, and the message
# names their rows.
constant_column <- function(x, column, coded, first, argument) {
  lost <- is_lost(x)
  if (any(lost[coded$row])) {
    abort_rows(sort(coded$row[lost[coded$row]]), argument, "column ", enumerate(column), " is missing",
               advice = paste("Who is not to be left out needs a value: make missing ones a level of their own, or",
                              "impute them and fit more than once."))
  }
  refuse_changing(match(x, unique(x)), column, coded, first, argument,
                  "Effects are of what does not change: take its value at the first visit, say.")
  x[first]
}

# ---- fixed effects -----------------------------------------------------------------------------------------------

# What is needed to read other people's columns the same way: levels of factors, and from where numbers are counted. And
# `width`, by column: the difference that its default prior is for.
learn_formula <- function(formula, people) {
  table <- formula_table(formula, people)
  formula$levels <- lapply(Filter(is_worded, table), text_levels)
  for (column in names(formula$levels)) refuse_levels(length(formula$levels[[column]]), column, formula$term, people$n)
  frame <- known_frame(formula, table, people)
  for (name in names(frame)) refuse_moment(frame[[name]], name)
  formula$centre <- vapply(numbers_of(frame), number_centre, 0)
  x <- formula_matrix(formula, people)
  formula$width <- apply(x, 2, column_width)
  refuse_sizes(x, formula$width, formula$term)
  formula$width[["(Intercept)"]] <- 1
  formula
}

# From where a date is to be counted, and in which unit, only the user knows.
refuse_moment <- function(x, name) {
  if (!inherits(x, c("Date", "POSIXt", "difftime"))) return(invisible())
  span <- inherits(x, "difftime")
  abort_input("effects", "has ", enumerate(name), " in a formula, which is a ", if (span) "span of time" else "date",
              ": make a number of it first, such as ",
              if (span) "the years that it has." else "the years since a day that you state.")
}

# Products of such numbers stay within those that R can calculate with. A column of one value is aliased.
most_size <- 1e100

refuse_sizes <- function(x, width, term) {
  varies <- apply(x, 2, function(column) length(unique(column)) > 1)
  large <- varies & width > most_size
  off <- which(large | varies & width < 1 / most_size)
  if (!length(off)) return(invisible())
  abort_input("effects", "has ", enumerate(colnames(x)[off[1]]), " in the formula of ", term, ", whose numbers ",
              if (large[off[1]]) "are too large" else "vary too little", " to calculate with: measure it in another ",
              "unit, so that it varies by about 1.")
}

# A coefficient needs several people. Of a few levels it is left to the user whether there are enough.
few_coefficients <- 10L

refuse_levels <- function(n_levels, column, term, n_people) {
  if (n_levels < 2) {
    abort_input("effects", "has ", enumerate(column), " in the formula of ", term, ", which has one value only: leave ",
                "it out.")
  }
  if (n_levels > max(few_coefficients, n_people / 2)) {
    abort_input("effects", "has ", enumerate(column), " in the formula of ", term, ", which has ",
                plural(n_levels, "level"), " among ", plural(n_people, "trajectory", "trajectories"), ", too many for ",
                "one coefficient each. Write (1 | ", column, ") for intercepts that share a spread; if ",
                "it is a number kept as text, turn it into numbers.")
  }
}

# Numbers are counted from their mean before products are made of them, so that the other coefficients of a product are
# those at the mean. Of two values it is the lower one: such a number is a flag, however it is coded.
number_centre <- function(x) if (has_two_values(x)) min(x) else mean(x)
column_width <- function(x) if (has_two_values(x)) diff(range(x)) else stats::sd(x)
has_two_values <- function(x) length(unique(x)) <= 2

is_worded <- function(x) is.character(x) || is.factor(x) || is.logical(x)

# The levels of a factor keep their order. FALSE comes before TRUE. Text is sorted letter by letter.
text_levels <- function(x) if (is.factor(x)) levels(droplevels(x)) else sorted_text(as.character(x))

formula_table <- function(formula, people) people$columns[all.vars(formula$fixed)]

# The variables of a formula, as they stand in it (age, log(age), arm), for other people. Who has what the formula has
# not met is refused, and nobody is dropped.
known_frame <- function(formula, table, people) {
  for (column in names(formula$levels)) {
    value <- as.character(table[[column]])
    unmet <- !value %in% formula$levels[[column]]
    if (any(unmet)) {
      abort_rows(people$row[unmet], "visits", "`visits` have a value of ", enumerate(column),
                 " that the fit has not met",
                 advice = paste0("It knows ", enumerate(formula$levels[[column]]), "."))
    }
    table[[column]] <- factor(value, levels = formula$levels[[column]])
  }
  frame <- worked_out(formula, model_variables(formula, table, people$n))
  for (name in names(numbers_of(frame))) {
    lost <- !is.finite(as.vector(frame[[name]]))
    if (any(lost)) {
      abort_rows(people$row[lost], "effects", "`effects` has a formula of ", formula$term, " in which ",
                 enumerate(name), " is not finite",
                 advice = "Take another function of the column, or leave these people out.")
    }
  }
  frame
}

worked_out <- function(formula, made) {
  tryCatch(made, error = function(e) {
    if (inherits(e, "ibrc_error")) stop(e)
    abort_input("effects", "has a formula of ", formula$term, " that cannot be worked out: ", plain_words(e), ".")
  })
}

model_variables <- function(formula, table, n) {
  frame <- as.data.frame(lapply(table, compared), optional = TRUE)
  if (!length(table)) frame <- data.frame(row.names = seq_len(n))
  suppressWarnings(stats::model.frame(formula$fixed, frame, na.action = stats::na.pass))
}

# Flags stay flags, so that a formula can say !flag; levels are compared in their order.
compared <- function(x) {
  if (!is.factor(x)) return(x)
  if (identical(levels(x), c("FALSE", "TRUE"))) x == "TRUE" else factor(x, levels(x), ordered = TRUE)
}

numbers_of <- function(frame) Filter(is.numeric, as.list(frame))

# The columns of a formula for people with these variables, whose numbers are counted from `centre`. Treatment contrasts
# whatever the session's options are: a coefficient is a difference to the first level.
model_columns <- function(frame, centre) {
  before <- options(contrasts = c(unordered = "contr.treatment", ordered = "contr.treatment"))
  on.exit(options(before))
  for (name in names(centre)) frame[[name]] <- as.vector(frame[[name]]) - centre[[name]]
  out <- stats::model.matrix(attr(frame, "terms"), frame)
  colnames(out) <- unmarked(colnames(out), names(frame))
  parts <- c("(Intercept)", attr(attr(frame, "terms"), "term.labels"))
  refuse_same_labels(colnames(out), parts[attr(out, "assign") + 1])
  matrix(out, nrow(out), dimnames = list(NULL, colnames(out)))
}

# R marks a name that is no plain word, as in `age at entry`:armb. A column is called as its variables are, without.
unmarked <- function(label, variables) {
  for (name in variables) {
    marked <- deparse(as.name(name), backtick = TRUE)
    label <- ifelse(startsWith(label, marked), paste0(name, substring(label, nchar(marked) + 1)), label)
    label <- gsub(paste0(":", marked), paste0(":", name), label, fixed = TRUE)
  }
  label
}

# Level b2 of arm and level 2 of armb are both called armb2, and numbers are looked up by name. `of`: whose each is.
refuse_same_labels <- function(name, of) {
  twice <- which(duplicated(name))
  if (!length(twice)) return(invisible())
  one <- name[twice[1]]
  whose <- unique(of[name == one])
  abort_input("effects", "has ", sum(name == one), " coefficients that are all called ", enumerate(one), ", of ",
              enumerate(whose), ": rename a column or a level, so that they can be told apart.")
}

formula_matrix <- function(formula, people) {
  frame <- known_frame(formula, formula_table(formula, people), people)
  out <- worked_out(formula, model_columns(frame, formula$centre))
  if (!"(Intercept)" %in% colnames(out)) {
    abort_input("effects", "has a formula of ", formula$term, " without an intercept, whose prior is that of ",
                formula$term, ": leave out 0 or -1.")
  }
  if (!all(is.finite(out))) {
    abort_input("effects", "has a formula of ", formula$term, " whose products are not finite.")
  }
  out
}

# `centre`: from where a column of one number is counted; in a product, its numbers are.
list_coefficients <- function(matrices, formulas, scales) {
  rows <- lapply(names(matrices), function(term) {
    name <- colnames(matrices[[term]])
    width <- if (is.null(formulas[[term]])) 1 else unname(formulas[[term]]$width)
    centre <- unname(formulas[[term]]$centre[name])
    data.frame(label = coefficient_term(term, name), term = term, name = name, intercept = name == "(Intercept)",
               centre = if (is.null(centre)) 0 else ifelse(is.na(centre), 0, centre), scale = scales[[term]] / width)
  })
  do.call(rbind, rows)
}

# A coefficient is learnt from those of whom an action counts. `decided`: whether a cell has such people.
refuse_unscored <- function(x, term, decided) {
  parts <- qr(x[decided, , drop = FALSE])
  if (!any(decided) || parts$rank == ncol(x)) return(invisible())
  lost <- colnames(x)[parts$pivot[-seq_len(parts$rank)]]
  abort_input("effects", "has a formula of ", term, " in which nothing can be learnt of ", enumerate(lost),
              ": no action of those who tell ", if (length(lost) == 1) "it" else "them", " apart is scored. Leave ",
              if (length(lost) == 1) "it" else "them", " out, or leave these people out of `visits`.")
}

aliased_advice <- function(columns) {
  if (any(grepl(":", columns, fixed = TRUE))) {
    return("Write + instead of * or :, or join levels, so that each combination has people.")
  }
  paste("Take a column out of the formula that says the same as others; levels that lie within those of another column",
        "can have a random intercept instead, as in (1 | site).")
}

# A random intercept is learnt from those of whom an action counts, too.
refuse_unscored_factor <- function(one, decided) {
  if (!any(decided) || length(unique(one$level[decided])) > 1) return(invisible())
  abort_input("effects", "has a random intercept of ", one$name, ", of which only one level has actions that are ",
              "scored: it takes several to see how they differ. Leave it out.")
}

# A column that says the same as other columns cannot have a coefficient of its own.
refuse_aliased <- function(x, term, factors, terms) {
  parts <- qr(x)
  if (parts$rank < ncol(x)) {
    extra <- colnames(x)[parts$pivot[-seq_len(parts$rank)]]
    abort_input("effects", "has a formula of ", term, " in which ", enumerate(extra), " say",
                if (length(extra) == 1) "s", " nothing that the other columns do not say (they are aliased, or no ",
                "trajectory has that combination). ", aliased_advice(extra))
  }
  for (one in factors) {
    if (!match(term, terms) %in% one$terms || length(one$levels) > parts$rank) next
    indicators <- outer(one$level, seq_along(one$levels), "==") + 0
    if (qr(cbind(x, indicators))$rank == parts$rank) {
      abort_input("effects", "has ", one$name, " as a random intercept of ", term, " whose fixed effects tell all its ",
                  "levels apart already: keep one of the two.")
    }
  }
}
