# The distributions that a prior can be stated with, and what a sampler needs from one term's prior (an entry, see
# prior.R). Everything works on logarithms of tail probabilities, so that bounds far in a tail cut exactly. Nothing here
# is exported: the names are read from a formula's call, and would otherwise mask functions of other packages.
#
# Each distribution has: its arguments in order; which must be positive; the values at which it stops being a
# probability distribution (`flat_at`); its support; and functions of a number and the arguments `a`. `at_log` and
# `log_quantile` are the density and the quantile of log(x): they hold where x itself would be rounded to 0 or Inf.
prior_distributions <- list(
  normal = list(
    arguments = c("mean", "sd"), positive = "sd", flat_at = c(sd = Inf), support = c(-Inf, Inf),
    log_density = function(x, a) stats::dnorm(x, a[[1]], a[[2]], log = TRUE),
    log_tail = function(x, a, lower) stats::pnorm(x, a[[1]], a[[2]], lower.tail = lower, log.p = TRUE),
    quantile = function(log_p, a, lower) stats::qnorm(log_p, a[[1]], a[[2]], lower.tail = lower, log.p = TRUE)
  ),
  student_t = list(
    arguments = c("df", "location", "scale"), positive = c("df", "scale"), flat_at = c(scale = Inf),
    support = c(-Inf, Inf),
    log_density = function(x, a) stats::dt((x - a[[2]]) / a[[3]], a[[1]], log = TRUE) - log(a[[3]]),
    log_tail = function(x, a, lower) {
      stats::pt((x - a[[2]]) / a[[3]], a[[1]], lower.tail = lower, log.p = TRUE)
    },
    quantile = function(log_p, a, lower) {
      a[[2]] + a[[3]] * stats::qt(log_p, a[[1]], lower.tail = lower, log.p = TRUE)
    }
  ),
  lognormal = list(
    arguments = c("meanlog", "sdlog"), positive = "sdlog", flat_at = c(sdlog = Inf), support = c(0, Inf),
    log_density = function(x, a) stats::dlnorm(x, a[[1]], a[[2]], log = TRUE),
    log_tail = function(x, a, lower) stats::plnorm(x, a[[1]], a[[2]], lower.tail = lower, log.p = TRUE),
    quantile = function(log_p, a, lower) {
      stats::qlnorm(log_p, a[[1]], a[[2]], lower.tail = lower, log.p = TRUE)
    },
    at_log = function(t, a) stats::dnorm(t, a[[1]], a[[2]], log = TRUE),
    log_quantile = function(log_p, a) stats::qnorm(log_p, a[[1]], a[[2]], log.p = TRUE)
  ),
  half_normal = list(
    arguments = "sd", positive = "sd", flat_at = c(sd = Inf), support = c(0, Inf),
    log_density = function(x, a) log(2) + stats::dnorm(x, 0, a[[1]], log = TRUE),
    # The square is chi-squared: exact near 0, where 2 * pnorm(x) - 1 cancels.
    log_tail = function(x, a, lower) stats::pchisq((x / a[[1]])^2, 1, lower.tail = lower, log.p = TRUE),
    quantile = function(log_p, a, lower) {
      a[[1]] * sqrt(stats::qchisq(log_p, 1, lower.tail = lower, log.p = TRUE))
    }
  ),
  exponential = list(
    arguments = "rate", positive = "rate", flat_at = c(rate = 0), support = c(0, Inf),
    log_density = function(x, a) stats::dexp(x, a[[1]], log = TRUE),
    log_tail = function(x, a, lower) stats::pexp(x, a[[1]], lower.tail = lower, log.p = TRUE),
    quantile = function(log_p, a, lower) stats::qexp(log_p, a[[1]], lower.tail = lower, log.p = TRUE)
  ),
  gamma = list(
    arguments = c("shape", "rate"), positive = c("shape", "rate"), flat_at = c(shape = 0, rate = 0),
    support = c(0, Inf),
    log_density = function(x, a) stats::dgamma(x, a[[1]], a[[2]], log = TRUE),
    log_tail = function(x, a, lower) stats::pgamma(x, a[[1]], a[[2]], lower.tail = lower, log.p = TRUE),
    quantile = function(log_p, a, lower) {
      stats::qgamma(log_p, a[[1]], a[[2]], lower.tail = lower, log.p = TRUE)
    },
    at_log = function(t, a) a[[1]] * (t + log(a[[2]])) - a[[2]] * exp(t) - lgamma(a[[1]]),
    # A small shape puts much of its probability below the smallest number: gamma(0.001, 1) half of it. There the
    # distribution function is x^shape to the last digit.
    log_quantile = function(log_p, a) {
      log_x <- (log_p + lgamma(a[[1]] + 1)) / a[[1]] - log(a[[2]])
      large <- log_x > -600
      log_x[large] <- log(stats::qgamma(log_p[large], a[[1]], a[[2]], log.p = TRUE))
      log_x
    }
  ),
  beta = list(
    arguments = c("shape1", "shape2"), positive = c("shape1", "shape2"), flat_at = c(shape1 = 0, shape2 = 0),
    support = c(0, 1),
    log_density = function(x, a) stats::dbeta(x, a[[1]], a[[2]], log = TRUE),
    log_tail = function(x, a, lower) stats::pbeta(x, a[[1]], a[[2]], lower.tail = lower, log.p = TRUE),
    quantile = function(log_p, a, lower) {
      stats::qbeta(log_p, a[[1]], a[[2]], lower.tail = lower, log.p = TRUE)
    }
  ),
  uniform = list(
    arguments = c("lower", "upper"), positive = character(), flat_at = c(lower = -Inf, upper = Inf),
    support = c(-Inf, Inf),
    log_density = function(x, a) stats::dunif(x, a[[1]], a[[2]], log = TRUE),
    log_tail = function(x, a, lower) stats::punif(x, a[[1]], a[[2]], lower.tail = lower, log.p = TRUE),
    quantile = function(log_p, a, lower) stats::qunif(log_p, a[[1]], a[[2]], lower.tail = lower, log.p = TRUE)
  )
)

# distribution(...) on the right of a formula: its name, arguments, bounds, and the text as typed.
read_distribution <- function(call, environment, term) {
  name <- if (is.call(call)) expression_text(call[[1]]) else expression_text(call)
  if (name %in% c("flat", "improper", "NULL")) abort_flat(term, "has a flat prior.")
  if (!name %in% names(prior_distributions)) {
    abort_input(term, "has a prior with the unknown distribution ", enumerate(name), "; there are ",
                enumerate(names(prior_distributions), most = Inf), ".")
  }
  known <- prior_distributions[[name]]
  given <- match_arguments(if (is.call(call)) as.list(call)[-1] else list(), known$arguments, name, term)
  values <- vapply(names(given), function(argument) {
    read_number(given[[argument]], environment, paste0("`", argument, "` of ", name, "()"), term)
  }, 0)
  args <- values[known$arguments]
  check_arguments(args, known, name, term)
  bounds <- c(lower = known$support[1], upper = known$support[2])
  asked <- setdiff(names(values), known$arguments)
  if (any(values[asked] < bounds[["lower"]])) {
    abort_input(term, "has a bound below ", bounds[["lower"]], ", where ", name, "() has no probability.")
  }
  bounds[asked] <- values[asked]
  if (bounds[["lower"]] >= bounds[["upper"]]) {
    abort_input(term, "has a lower bound that is not below its upper bound.")
  }
  list(distribution = name, args = args, lower = bounds[["lower"]], upper = bounds[["upper"]],
       label = expression_text(call))
}

# Named arguments first, then the others in order; bounds only by name. All arguments are needed.
match_arguments <- function(given, arguments, name, term) {
  usage <- paste0(name, "(", paste(arguments, collapse = ", "), ")")
  given <- given[nzchar(as.character(given))]
  labels <- if (is.null(names(given))) character(length(given)) else names(given)
  unknown <- setdiff(labels, c("", arguments, "lower", "upper"))
  if (length(unknown)) {
    abort_input(term, "has a prior with an unknown argument ", enumerate(unknown), ": it is ", usage, ".")
  }
  if (anyDuplicated(labels[labels != ""])) {
    abort_input(term, "has a prior that gives an argument of ", name, "() twice.")
  }
  free <- setdiff(arguments, labels)
  unnamed <- which(labels == "")
  if (length(unnamed) > length(free)) {
    abort_input(term, "has a prior with too many arguments: it is ", usage, "; bounds go by name.")
  }
  labels[unnamed] <- free[seq_along(unnamed)]
  lost <- setdiff(arguments, labels)
  if (length(lost)) {
    abort_input(term, "has a prior without ", enumerate(lost), ": it is ", usage, ".")
  }
  stats::setNames(given, labels)
}

read_number <- function(expression, environment, what, term) {
  if (is.null(environment)) environment <- baseenv()
  value <- tryCatch(eval(expression, environment), error = function(e) {
    abort_input(term, "has a prior in which ", what, " cannot be worked out: ", conditionMessage(e), ".")
  })
  if (!is.numeric(value) || length(value) != 1 || is.na(value)) {
    abort_input(term, "has a prior in which ", what, " is ", describe(value), "; it must be one number.")
  }
  as.numeric(value)
}

check_arguments <- function(args, known, name, term) {
  flat <- names(known$flat_at)[args[names(known$flat_at)] == known$flat_at]
  if (length(flat)) {
    abort_flat(term, paste0("has a flat prior: `", flat[1], "` of ", name, "() is ", args[[flat[1]]], "."))
  }
  bad <- names(args)[!is.finite(args)]
  if (length(bad)) {
    abort_input(term, "has a prior in which `", bad[1], "` of ", name, "() is not finite.")
  }
  bad <- known$positive[args[known$positive] <= 0]
  if (length(bad)) {
    abort_input(term, "has a prior in which `", bad[1], "` of ", name, "() is ", format(args[[bad[1]]]),
                "; it must be greater than 0.")
  }
  if (name == "uniform" && args[[1]] >= args[[2]]) {
    abort_input(term, "has a lower bound that is not below its upper bound.")
  }
}

# One term's prior, as plain numbers and text, without a formula or an environment: a saved fit carries nothing of the
# session it was made in. `state` and `action` belong to utility terms, `simplex` to fractions of one, which know what
# it is `over`.
new_prior_entry <- function(term, distribution, args, lower = -Inf, upper = Inf,
                            label = NULL, state = NULL, action = NULL, simplex = NULL, over = NULL) {
  known <- prior_distributions[[distribution]]
  support <- if (distribution == "uniform") args else known$support
  entry <- list(term = term, distribution = distribution, args = args,
                lower = max(lower, support[[1]]), upper = min(upper, support[[2]]),
                scale = NULL, label = label, state = state, action = action)
  entry$simplex <- simplex
  entry$over <- over
  bounded <- is.finite(c(entry$lower, entry$upper))
  entry$scale <- c("identity", "log", "logit")[1 + sum(bounded)]
  c(entry, cut_mass(known, args, entry$lower, entry$upper))
}

# What the bounds leave of a distribution. `log_ends` are the tail probabilities at both bounds, from the side on which
# they are small.
cut_mass <- function(known, args, lower, upper) {
  from_below <- known$log_tail(lower, args, FALSE) >= log(0.5)
  log_ends <- known$log_tail(c(lower, upper), args, from_below)
  large <- max(log_ends)
  list(from_below = from_below, log_ends = log_ends, log_mass = large + log1mexp(min(log_ends) - large))
}

# log(1 - exp(x)) for x <= 0.
log1mexp <- function(x) {
  ifelse(x > -log(2), log(-expm1(x)), log1p(-exp(x)))
}

log_add <- function(x, y) {
  large <- pmax(x, y)
  sum <- large + log1p(exp(pmin(x, y) - large))
  sum[large == -Inf] <- -Inf
  sum
}

# Quantiles of the cut distribution at exp(log_p). Both log(p) and log(1 - p) are needed, so that either tail is exact.
natural_quantile <- function(entry, log_p, log_q) {
  x <- prior_distributions[[entry$distribution]]$quantile(cut_tail(entry, log_p, log_q), entry$args,
                                                          entry$from_below)
  pmin(pmax(x, entry$lower), entry$upper)
}

cut_tail <- function(entry, log_p, log_q) {
  ends <- entry$log_ends
  # Rounding must not lift a probability above 1.
  pmin(log_add(ends[1] + log_q, ends[2] + log_p), 0)
}

# The same on the unconstrained scale, always finite for p inside (0, 1): a quantile that rounds to its bound is moved
# away from it by the spacing of numbers there.
unconstrained_quantile <- function(entry, log_p, log_q) {
  known <- prior_distributions[[entry$distribution]]
  if (entry$lower == 0 && !is.null(known$log_quantile)) {
    log_x <- known$log_quantile(cut_tail(entry, log_p, log_q), entry$args)
    if (entry$scale == "log") return(log_x)
    return(log_x - log_gap(entry$upper - exp(log_x), entry$upper))
  }
  x <- natural_quantile(entry, log_p, log_q)
  switch(entry$scale,
         identity = x,
         log = if (entry$lower > -Inf) log_gap(x - entry$lower, entry$lower)
         else log_gap(entry$upper - x, entry$upper),
         logit = log_gap(x - entry$lower, entry$lower) - log_gap(entry$upper - x, entry$upper))
}

log_gap <- function(gap, bound) {
  log(pmax(gap, abs(bound) * 2^-53, .Machine$double.xmin))
}

# From the unconstrained scale t to the natural one. "log" is the logarithm of the distance to the only finite bound,
# which is usually 0.
to_natural <- function(entry, t) {
  lower <- entry$lower
  upper <- entry$upper
  if (entry$scale == "identity") return(t)
  if (entry$scale == "log") return(if (lower > -Inf) lower + exp(t) else upper - exp(t))
  # Measured from the nearer bound. It stays below the upper one even if that is the nearest number, since a discount
  # may come close to 1 but not reach it.
  x <- ifelse(t < 0, lower + (upper - lower) * stats::plogis(t), upper - (upper - lower) * stats::plogis(-t))
  pmin(x, upper - abs(upper) * 2^-53)
}

# NaN outside the support.
to_unconstrained <- function(entry, x) {
  x[which(x < entry$lower | x > entry$upper)] <- NaN
  switch(entry$scale,
         identity = x,
         log = log(if (entry$lower > -Inf) x - entry$lower else entry$upper - x),
         logit = log(x - entry$lower) - log(entry$upper - x))
}

# exp() of a larger number is infinite.
log_most <- log(.Machine$double.xmax)

# The log density of t itself: that of x plus log |dx/dt|.
unconstrained_log_density <- function(entry, t) {
  known <- prior_distributions[[entry$distribution]]
  if (entry$scale == "identity") return(known$log_density(t, entry$args) - entry$log_mass)
  if (entry$scale == "log") {
    if (entry$lower == 0 && !is.null(known$at_log)) {
      density <- known$at_log(t, entry$args)
    } else {
      density <- known$log_density(to_natural(entry, t), entry$args) + t
    }
    # No agent has an infinite price: there the prior refuses before a planner is called.
    density[which(t > log_most)] <- -Inf
    return(density - entry$log_mass)
  }
  jacobian <- log(entry$upper - entry$lower) + stats::plogis(t, log.p = TRUE) +
    stats::plogis(-t, log.p = TRUE)
  known$log_density(to_natural(entry, t), entry$args) + jacobian - entry$log_mass
}

natural_density <- function(entry, x) exp(natural_log_density(entry, x))

natural_log_density <- function(entry, x) {
  density <- prior_distributions[[entry$distribution]]$log_density(x, entry$args) - entry$log_mass
  density[which(x < entry$lower | x > entry$upper)] <- -Inf
  density
}

# Standard deviation of t. With p = plogis(s) the mean of a function of t is an integral over s of a
# smooth function that vanishes at both ends, for which equal steps are exact to many digits.
unconstrained_sd <- function(entry) {
  if (entry$scale == "identity" && entry$distribution == "student_t") return(student_sd(entry))
  s <- seq(-40, 40, by = 0.05)
  t <- unconstrained_quantile(entry, stats::plogis(s, log.p = TRUE), stats::plogis(-s, log.p = TRUE))
  # qt() gives Inf beyond probabilities of 1e-16 for less than one degree of freedom.
  weight <- stats::dlogis(s[is.finite(t)])
  t <- t[is.finite(t)]
  sqrt(stats::weighted.mean((t - stats::weighted.mean(t, weight))^2, weight))
}

# Up to 2 degrees of freedom there is none: the normal distribution with the same quartiles is used instead, so that a
# posterior can still be compared with it.
student_sd <- function(entry) {
  df <- entry$args[["df"]]
  scale <- entry$args[["scale"]]
  if (df > 2) return(scale * sqrt(df / (df - 2)))
  scale * stats::qt(0.75, df) / stats::qnorm(0.75)
}

abort_flat <- function(argument, what) {
  abort_input(argument, what, " The likelihood is flat as beta -> infinity and as eta -> 0, so that the ",
              "posterior would be improper. State a proper prior, such as lognormal(0, 2).")
}

expression_text <- function(expression) {
  paste(trimws(deparse(expression, width.cutoff = 500)), collapse = " ")
}

new_ibrc_prior <- function(entries) {
  names(entries) <- vapply(entries, function(entry) entry$term, "")
  structure(entries, class = "ibrc_prior")
}
