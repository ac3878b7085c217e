# A simplex: probabilities that sum to 1, such as an action prior, with a Dirichlet prior. It is broken like a stick: an
# action takes a fraction of what the earlier actions leave. Under a Dirichlet prior the fractions are independent, each
# with its own beta distribution. So all but the last action are terms like any other, and the sampler, profiles and
# checks need to know nothing about the simplex.
#
#   p_1 = v_1,  p_k = v_k (1 - v_1) ... (1 - v_{k-1}),   v_k ~ beta(a_k, a_{k+1} + ... + a_K)

# [row, K - 1] fractions to [row, K] probabilities, and back.
from_sticks <- function(fraction) {
  out <- matrix(0, nrow(fraction), ncol(fraction) + 1)
  left <- rep(1, nrow(fraction))
  for (k in seq_len(ncol(fraction))) {
    out[, k] <- left * fraction[, k]
    left <- left * (1 - fraction[, k])
  }
  out[, ncol(out)] <- left
  out
}

to_sticks <- function(probability) {
  k <- ncol(probability)
  left <- matrix(t(apply(probability, 1, function(p) rev(cumsum(rev(p))))), nrow(probability), k)
  probability[, -k, drop = FALSE] / left[, -k, drop = FALSE]
}

# The first fraction is a probability itself; the others are shares of what is left.
stick_terms <- function(name, over) {
  over <- over[-length(over)]
  paste0(name, "[", over, ifelse(seq_along(over) == 1, "", "|rest"), "]")
}

simplex_terms <- function(name, over) paste0(name, "[", over, "]")

# dirichlet(...) as typed, before the number of actions is known: an entry that expand_simplexes() replaces.
read_dirichlet <- function(call, environment, term) {
  if (!is.call(call) || !identical(call[[1]], quote(dirichlet))) {
    abort_input(term, "is a simplex: its prior is dirichlet(), such as dirichlet(1) or one number per action, as in ",
                "dirichlet(2, 1, 1).")
  }
  values <- lapply(as.list(call)[-1], function(one) {
    if (is.name(one) && !nzchar(as.character(one))) abort_input(term, "has an empty place in dirichlet().")
    value <- tryCatch(eval(one, environment), error = function(e) NULL)
    if (!is.numeric(value) || !length(value)) {
      abort_input(term, "needs numbers in dirichlet(); ", expression_text(one), " is not a number.")
    }
    value
  })
  concentration <- unlist(values)
  if (!length(concentration)) abort_input(term, "needs numbers in dirichlet(), such as dirichlet(1).")
  if (any(!is.finite(concentration)) || any(concentration < 0.05)) {
    abort_input(term, "needs finite numbers of 0.05 or more in dirichlet(): with smaller ones some probabilities are ",
                "too small for a double.")
  }
  list(term = term, distribution = "dirichlet", args = concentration, label = expression_text(call))
}

is_simplex <- function(term) identical(parameters[[quantity_of(term)]]$support, "simplex")

is_dirichlet <- function(entry) identical(entry$distribution, "dirichlet")

# With the setting known: one beta entry per fraction.
expand_simplexes <- function(prior, setting) {
  entries <- lapply(collapse_simplex(unclass(prior)), function(entry) {
    if (is_dirichlet(entry)) simplex_entries(entry, setting$actions) else list(entry)
  })
  new_ibrc_prior(unlist(unname(entries), recursive = FALSE))
}

# The prior of a fit has fractions already, of the actions of its setting in their order. They are turned back to what
# was stated, by name, so that a setting with other actions is refused and one with another order is understood.
collapse_simplex <- function(entries) {
  columns <- simplex_columns(entries, "action_prior")
  if (!length(columns)) return(entries)
  over <- entries[[columns[1]]]$over
  whole <- identical(names(entries)[columns], stick_terms("action_prior", over)) && all(diff(columns) == 1)
  if (!whole) {
    abort_input("prior", "holds a part of an action prior: state it anew, as in action_prior ~ dirichlet(1).")
  }
  stated <- list(term = "action_prior", distribution = "dirichlet", label = entries[[columns[1]]]$label,
                 args = stats::setNames(concentration_of(entries[columns]), over))
  append(entries[-columns], list(action_prior = stated), columns[1] - 1)
}

# The numbers of a Dirichlet prior, from those of its fractions.
concentration_of <- function(sticks) {
  shapes <- vapply(sticks, `[[`, numeric(2), "args")
  unname(c(shapes[1, ], shapes[2, ncol(shapes)]))
}

simplex_entries <- function(entry, over) {
  k <- length(over)
  a <- entry$args
  if (k < 2) abort_input(entry$term, "needs at least two actions: with one there is nothing to infer.")
  if (!is.null(names(a))) a <- a[match_names(names(a), over, entry$term, "actions")]
  if (length(a) == 1) a <- rep(a, k)
  if (length(a) != k) {
    abort_input(entry$term, "has ", plural(length(a), "number"), " in dirichlet() for ", plural(k, "action"),
                ": give one, or one per action.")
  }
  terms <- stick_terms(entry$term, over)
  if (anyDuplicated(c(terms[-1], simplex_terms(entry$term, over)))) {
    abort_input(entry$term, "cannot be inferred over actions whose names end in \"|rest\": rename them.")
  }
  lapply(seq_len(k - 1), function(i) {
    new_prior_entry(terms[i], "beta", c(shape1 = a[[i]], shape2 = sum(a[-seq_len(i)])), label = entry$label,
                    simplex = entry$term, over = over)
  })
}

# The columns of a prior that belong to a simplex, in order.
simplex_columns <- function(prior, name) {
  which(vapply(unclass(prior), function(entry) identical(entry$simplex, name), NA, USE.NAMES = FALSE))
}

# Values and priors in the form that is reported: probabilities in place of fractions. `over`: what the simplex is over.
# Natural values are [row, term].
reported_values <- function(prior, natural, over) {
  columns <- simplex_columns(prior, "action_prior")
  if (!length(columns)) return(natural)
  probabilities <- from_sticks(natural[, columns, drop = FALSE])
  colnames(probabilities) <- simplex_terms("action_prior", over)
  first <- seq_len(columns[1] - 1)
  cbind(natural[, first, drop = FALSE], probabilities, natural[, -c(first, columns), drop = FALSE])
}

# Each probability has a beta distribution by itself.
reported_prior <- function(prior, over) {
  columns <- simplex_columns(prior, "action_prior")
  if (!length(columns)) return(prior)
  concentration <- concentration_of(unclass(prior)[columns])
  terms <- simplex_terms("action_prior", over)
  probabilities <- lapply(seq_along(terms), function(k) {
    new_prior_entry(terms[k], "beta", c(shape1 = concentration[[k]], shape2 = sum(concentration[-k])),
                    label = prior[[columns[1]]]$label)
  })
  first <- seq_len(columns[1] - 1)
  new_ibrc_prior(c(unclass(prior)[first], probabilities, unclass(prior)[-c(first, columns)]))
}

# Values with the fractions of a simplex beside its probabilities, where those are given.
with_sticks <- function(prior, natural) {
  columns <- simplex_columns(prior, "action_prior")
  if (!length(columns)) return(natural)
  reported <- simplex_terms("action_prior", prior[[columns[1]]]$over)
  if (!all(reported %in% colnames(natural))) return(natural)
  sticks <- to_sticks(natural[, reported, drop = FALSE] / rowSums(natural[, reported, drop = FALSE]))
  colnames(sticks) <- names(prior)[columns]
  cbind(natural[, !colnames(natural) %in% c(reported, colnames(sticks)), drop = FALSE], sticks)
}
