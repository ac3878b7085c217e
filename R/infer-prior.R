#' State what is inferred, and the prior beliefs about it
#'
#' Each argument is a formula, `term ~ distribution(...)`. The terms that are named are inferred; everything else is
#' held fixed. The names of the distributions are read from the formula; they are not functions of the package. Their
#' arguments may use your variables.
#'
#' @section Terms:
#' `alpha`, `beta` and `eta`, the prices of [bounded_agent()], as positive numbers. Or their inverses `flexibility`,
#' `optimism` and `adaptivity`, which may be negative, so that pessimism and neutrality are ordinary points. Use one
#' form of each. `discount`, from 0 to less than 1. `habit`, the log odds by which the last action is likelier to be
#' repeated before deliberating: any number, such as `habit ~ normal(0, 1)`. `utility(state, action)`, one entry of the
#' setting's utility; names that are not plain words go in quotes. `action_prior`, what is done without deliberating:
#' one probability per action, inferred together. Any other plain name stands for a quantity that the `setting` or the
#' `models` given to [ibrc()] are functions of.
#'
#' With `effects` of [ibrc()], where people differ, there are also coefficients and spreads. `optimism[age]` is the
#' change of optimism with a year of age, on the scale a sampler works on. `sd(optimism, site)`, or
#' `sd(optimism | site)`, is the standard deviation of sites around the rest. Columns are named as `tidy()` names them,
#' in quotes where they are not plain words: `optimism["log(age)"]`, `sd(optimism, "site:clinician")`. Coefficients need
#' a prior on all numbers, spreads one on all positive numbers. What is not stated has a default, which `?ibrc`
#' describes.
#'
#' @section Distributions:
#' `normal(mean, sd)`, `student_t(df, location, scale)`,
#' `lognormal(meanlog, sdlog)`, `half_normal(sd)`, `exponential(rate)`,
#' `gamma(shape, rate)`, `beta(shape1, shape2)` and `uniform(lower, upper)`. All but the last also take the bounds
#' `lower =` and `upper =`, by name: what lies outside is cut off and the rest is rescaled.
#'
#' An `action_prior` has `dirichlet(...)`: one number for all actions, or one per action, in the setting's order or by
#' name. `dirichlet(1)` is uniform over all action priors. A sampler works with the first action's probability and with
#' the share that each next one takes of what is left. Checks and profiles, which look at one term at a time, have names
#' such as `action_prior[wait|rest]` for these shares. Everything that reports a fit gives the probabilities.
#'
#' @section The default:
#' [ibrc()] without a prior infers `alpha`, `optimism` and `eta`, except those in `fixed`. It infers `optimism` only
#' where there is more than one model. `habit` is 0 unless a prior or `fixed` names it. With R the range of the matrix
#' `utility`, `alpha` and `eta` then have lognormal(log(R / 200), 3) and `optimism` normal(0, 50 / R). These priors are
#' wide, and the same in any units. What a `belief_utility` adds does not count: state a prior where it is large
#' compared with R. Where all utilities are equal there is no default. `default_prior()` in the usage of [ibrc()] stands
#' for this, and is not a function to call; [prior_summary()] of a fit shows the numbers.
#'
#' @section Why priors must be proper:
#' The likelihood does not fall to 0 as `beta` grows without limit or as `eta` goes to 0: behaviour that is neutral, or
#' does not depend on how hard the next belief is to foresee, fits any such value equally well. With a flat prior the
#' posterior would be improper and a sampler would drift for ever, so flat priors are refused.
#'
#' @section The scale a sampler works on:
#' For a term with one finite bound it is the logarithm of the distance to the bound (the plain logarithm for positive
#' terms). Between two finite bounds it is the logit. Otherwise it is the term itself.
#'
#' @param ... Formulas, such as `alpha ~ lognormal(0, 2)`.
#'
#' @return An object of class `ibrc_prior`: a list named by term, with the
#'   distribution, its arguments, bounds and scale for each.
#' @family inference
#' @aliases default_prior
#' @export
#' @examples
#' ibrc_prior(alpha ~ lognormal(0, 2), optimism ~ normal(0, 1), eta ~ lognormal(0, 2))
#'
#' # Two costs of a setting, and how far ahead the agent looks
#' worst <- -50
#' ibrc_prior(
#'   utility(healthy, monitor) ~ normal(0, 5, upper = 0),
#'   utility("diseased", "declare_healthy") ~ uniform(worst, 0),
#'   discount ~ uniform(0.8, 0.99)
#' )
#'
#' # People whose optimism changes little with age, at sites that differ little
#' ibrc_prior(alpha ~ lognormal(0, 2), optimism ~ normal(0, 1), optimism[age] ~ normal(0, 0.02),
#'            sd(optimism, site) ~ half_normal(0.2))
#'
#' # Some do what they usually do unless there is a reason not to, or what they did last
#' ibrc_prior(alpha ~ lognormal(0, 2), action_prior ~ dirichlet(1), habit ~ normal(0, 1))
ibrc_prior <- function(...) {
  # Reading the arguments fails where a distribution is not on the right of a formula.
  formulas <- tryCatch(list(...), error = function(e) {
    abort_input("...", "must be formulas, such as alpha ~ lognormal(0, 2), and could not be read: ",
                conditionMessage(e), ".")
  })
  if (length(formulas) == 0) {
    abort_input("...", "is empty: name at least one term to infer, such as alpha ~ lognormal(0, 2).")
  }
  validate_ibrc_prior(new_ibrc_prior(lapply(seq_along(formulas), function(i) read_prior(formulas[[i]], i))))
}

# With a setting, utility terms must be entries of its utility.
validate_ibrc_prior <- function(prior, setting = NULL) {
  if (is.null(prior)) abort_flat("prior", "is NULL, which would be flat.")
  check_class(prior, "ibrc_prior", "prior", "ibrc_prior()")
  terms <- names(prior)
  twice <- which(duplicated(terms))
  if (length(twice)) {
    abort_input(terms[twice[1]], "has more than one prior: state one.", rows = twice)
  }
  both <- names(price_inverses)[names(price_inverses) %in% terms & price_inverses %in% terms]
  if (length(both)) {
    abort_input(both[1], "and `", price_inverses[[both[1]]],
                "` are the same quantity: state a prior of one of them.")
  }
  if (is.null(setting)) return(prior)
  prior <- expand_simplexes(prior, setting)
  for (entry in prior) {
    if (is.null(entry$state)) next
    if (!entry$state %in% setting$states) {
      abort_input(entry$term, "names no state of the setting; there are ", enumerate(setting$states), ".")
    }
    if (!entry$action %in% setting$actions) {
      abort_input(entry$term, "names no action of the setting; there are ", enumerate(setting$actions), ".")
    }
  }
  prior
}

# One formula as an entry. An error in a term names the term; an error before the term is known names its position.
read_prior <- function(formula, position) {
  where <- paste("argument", position)
  if (is.null(formula)) abort_flat("...", paste0("has NULL as ", where, ", which would be flat."))
  if (!inherits(formula, "formula")) {
    abort_input("...", "must be formulas, such as alpha ~ lognormal(0, 2); ", where, " is ",
                describe(formula), ".", rows = position)
  }
  if (length(formula) != 3) {
    abort_input("...", "must have a term on the left of each ~, as in alpha ~ lognormal(0, 2); ", where,
                " has none.", rows = position)
  }
  named <- read_term(formula[[2]])
  if (is_simplex(named$term)) return(read_dirichlet(formula[[3]], environment(formula), named$term))
  stated <- read_distribution(formula[[3]], environment(formula), named$term)
  entry <- do.call(new_prior_entry, c(named, stated))
  if (entry$scale == "logit" && !is.finite(entry$upper - entry$lower)) {
    abort_flat(entry$term, "has bounds too far apart to measure, which would be flat.")
  }
  if (!is.finite(entry$log_mass)) {
    abort_input(entry$term, "has bounds that leave no probability to ", entry$distribution, "().")
  }
  check_support(entry)
}

read_term <- function(left) {
  if (is.call(left) && identical(left[[1]], quote(utility))) return(read_utility_term(left))
  if (is.call(left) && list(left[[1]]) %in% c(quote(`[`), quote(sd))) return(read_effect_term(left))
  if (is.call(left) && identical(left[[1]], quote(cor))) {
    abort_input(expression_text(left), "cannot be given a prior: correlations have that of Lewandowski, Kurowicka and ",
                "Joe (2009) with shape 2. Leave it out.")
  }
  known <- parameter_terms()
  term <- if (is.name(left) || is.character(left)) as.character(left) else expression_text(left)
  if (term %in% reserved_names) abort_input(term, "is a reserved name in tables of draws: choose another.")
  # Other plain names may be quantities that a setting or models are functions of: ibrc() will check.
  if (!term %in% known && (!is.name(left) || term %in% c("utility", "setting"))) {
    abort_input(term, "is not a term that can be inferred; there are ", enumerate(known, most = Inf),
                " and utility(state, action)", if (term == "setting") ", and quantities with other names", ".")
  }
  list(term = term)
}

# Columns of every table of draws, as the package posterior has it.
reserved_names <- c(".chain", ".iteration", ".draw", ".log_weight")

read_utility_term <- function(left) {
  names <- as.list(left)[-1]
  plain <- nzchar(as.character(names)) & !vapply(names, is.call, NA) & !vapply(names, is.numeric, NA)
  named <- !is.null(names(names)) && !identical(names(names), c("state", "action"))
  if (length(names) != 2 || !all(plain) || named) {
    abort_input(expression_text(left), "must be utility(state, action), with one name of each.")
  }
  names <- vapply(names, as.character, "")
  list(term = paste0("utility[", names[[1]], ",", names[[2]], "]"), state = names[[1]], action = names[[2]])
}

# optimism[age], the coefficient of age, and sd(optimism, site) or, as it is printed, sd(optimism | site), how much
# sites differ (see `effects` of ibrc()).
read_effect_term <- function(left) {
  names <- as.list(left)[-1]
  is_spread <- identical(left[[1]], quote(sd))
  if (is_spread && length(names) == 1 && is_call_of(names[[1]], "|")) {
    names <- list(names[[1]][[2]], joined_by_colons(names[[1]][[3]]))
  }
  if (is_spread && length(names) == 2 && is_call_of(names[[1]], "utility")) {
    names[[1]] <- read_utility_term(names[[1]])$term
  }
  plain <- vapply(names, function(name) (is.name(name) || is.character(name)) && nzchar(as.character(name)), NA)
  if (length(names) != 2 || !all(plain)) {
    abort_input(expression_text(left), "must be a coefficient, optimism[age], or a spread, sd(optimism, site) or ",
                "sd(optimism | site), with plain names or names in quotes.")
  }
  names <- vapply(names, as.character, "")
  list(term = if (is_spread) paste0("sd(", names[1], "|", names[2], ")") else paste0(names[1], "[", names[2], "]"))
}

is_call_of <- function(x, name) is.call(x) && identical(x[[1]], as.name(name))

# site:clinician as text. Anything else is what it was.
joined_by_colons <- function(x) {
  if (!is_call_of(x, ":")) return(x)
  parts <- lapply(as.list(x)[-1], joined_by_colons)
  if (any(vapply(parts, is.call, NA))) return(x)
  paste(vapply(parts, as.character, ""), collapse = ":")
}

# The range of a term: prices are positive, a discount is from 0 to less than 1.
check_support <- function(entry) {
  term <- entry$term
  if (term %in% names(price_inverses) && entry$lower < 0) {
    abort_input(term, "needs a prior on positive numbers only: lognormal, gamma, exponential, half_normal, ",
                "or another with lower = 0. For signed values state the prior of `",
                price_inverses[[term]], "`, which is 1 / ", term, ".")
  }
  if (identical(parameters[[term]]$support, "unit") && (entry$lower < 0 || entry$upper > 1)) {
    abort_input(term, "needs a prior from 0 to less than 1, such as uniform(0.8, 0.99).")
  }
  entry
}

# The vectorised interface of a prior: one row per draw, one column per term, `theta` on the unconstrained scale. The
# loops run over terms; all rows are handled together.

# -Inf wherever a density has no finite logarithm, never NaN.
prior_log_density <- function(prior, theta) {
  total <- numeric(nrow(theta))
  for (j in seq_along(prior)) {
    total <- total + unconstrained_log_density(prior[[j]], theta[, j])
  }
  total[!is.finite(total)] <- -Inf
  total
}

# What a sampler needs at every step, for all terms together that are normal on the unconstrained scale: normal and
# lognormal priors without bounds, which most priors are.
fast_terms <- function(prior) {
  whole <- vapply(prior, function(entry) {
    (entry$distribution == "normal" && entry$scale == "identity") ||
      (entry$distribution == "lognormal" && entry$scale == "log")
  }, NA) & vapply(prior, function(entry) entry$log_mass == 0 && entry$lower %in% c(0, -Inf) && entry$upper == Inf, NA)
  mean <- vapply(prior[whole], function(entry) entry$args[[1]], 0)
  sd <- vapply(prior[whole], function(entry) entry$args[[2]], 0)
  scale <- vapply(prior, `[[`, "", "scale")
  most <- ifelse(scale[whole] == "log", log_most, Inf)
  list(normal = which(whole), mean = mean, sd = sd, constant = -sum(log(sd)) - length(sd) * log(2 * pi) / 2,
       others = unclass(prior)[!whole], other_columns = which(!whole),
       exponential = which(scale == "log" & vapply(prior, function(entry) entry$lower == 0, NA)),
       most = most, least_most = min(most, Inf))
}

# As prior_log_density() and prior_natural().
fast_log_density <- function(fast, theta) {
  n <- nrow(theta)
  t <- t.default(if (length(fast$others)) theta[, fast$normal, drop = FALSE] else theta)
  z <- (t - fast$mean) / fast$sd
  total <- fast$constant - .colSums(z * z, length(fast$normal), n) / 2
  for (j in seq_along(fast$others)) {
    total <- total + unconstrained_log_density(fast$others[[j]], theta[, fast$other_columns[j]])
  }
  # Rare, and expensive to look for column by column.
  if (!is.finite(sum(total)) || max(theta) > fast$least_most) {
    total[.colSums(t > fast$most, length(fast$normal), n) > 0 | !is.finite(total)] <- -Inf
  }
  total
}

fast_natural <- function(fast, prior, theta) {
  out <- theta
  out[, fast$exponential] <- exp(theta[, fast$exponential])
  for (j in fast$other_columns) if (!j %in% fast$exponential) out[, j] <- to_natural(prior[[j]], theta[, j])
  out
}

by_term <- function(prior, n, column) {
  out <- matrix(0, n, length(prior), dimnames = list(NULL, names(prior)))
  for (j in seq_along(prior)) out[, j] <- column(prior[[j]], j)
  out
}

prior_natural <- function(prior, theta) {
  out <- theta
  for (j in seq_along(prior)) {
    if (prior[[j]]$scale != "identity") out[, j] <- to_natural(prior[[j]], theta[, j])
  }
  dimnames(out) <- list(NULL, names(prior))
  out
}

prior_unconstrain <- function(prior, natural) {
  by_term(prior, nrow(natural), function(entry, j) to_unconstrained(entry, natural[, j]))
}

# By inversion, one uniform number per draw and term, so that a seed gives the same draws however a distribution is cut.
prior_draw <- function(prior, n) {
  by_term(prior, n, function(entry, j) {
    p <- stats::runif(n)
    unconstrained_quantile(entry, log(p), log1p(-p))
  })
}

prior_quantile <- function(prior, p) {
  by_term(prior, length(p), function(entry, j) natural_quantile(entry, log(p), log1p(-p)))
}

prior_sd_unconstrained <- function(prior) {
  vapply(prior, unconstrained_sd, 0)
}

prior_density <- function(prior, term, x) {
  natural_density(prior[[check_choice(term, names(prior), "term")]], x)
}

#' @export
format.ibrc_prior <- function(x, ...) {
  number <- function(v) vapply(v, function(one) format(one, digits = 3, trim = TRUE), "")
  table <- cbind(
    c("term", names(x)),
    c("prior", vapply(x, function(entry) entry$label, "")),
    c("central 95%", vapply(unclass(x), function(entry) {
      if (is_dirichlet(entry)) return("one probability per action")
      paste(number(prior_quantile(list(entry), c(0.025, 0.975))), collapse = " to ")
    }, ""))
  )
  c(paste("A prior of", plural(length(x), "term")),
    paste0("  ", format(table[, 1]), "  ", format(table[, 2]), "  ", table[, 3]))
}

#' @export
print.ibrc_prior <- function(x, ...) {
  writeLines(format(x, ...))
  invisible(x)
}

prior_terms <- function(prior) names(prior)
