# A plain-R twin of the log posterior that a sampler asks for, and random problems to ask
# it of. Lattice, tables and recognition are those of helper-reference.R, and the backup
# goes over all nodes at once so that a thousand pairs take a minute; prior densities are
# base R's with the change of variables written out. Of the package it takes the arrays
# of a setting and its models, and the visits that a plan simulates.

# Priors ---------------------------------------------------------------------------

# One term: its distribution, arguments and bounds, and `range`, where values are drawn
# from to compare at: far from it rounding is all there is to compare.
random_term <- function(term, kind, range, state = NULL, action = NULL) {
  positive <- c("lognormal", "half_normal", "exponential", "gamma", "normal", "student_t", "uniform")
  family <- switch(kind,
    positive = sample(positive, 1),
    signed = sample(c("normal", "student_t", "uniform"), 1),
    unit = sample(c("beta", positive), 1)
  )
  size <- stats::runif(1, 0.5, 2)
  middle <- mean(range) * stats::runif(1, 0.5, 1.5)
  args <- switch(family,
    normal = c(middle, size), student_t = c(sample(2:9, 1) + 0.5, middle, size), lognormal = c(log(size), size),
    half_normal = 3 * size, exponential = size, gamma = c(size, 1 / size),
    beta = stats::runif(2, 1, 8),
    uniform = range + c(-0.1, 0.1) * diff(range) * stats::runif(2)
  )
  if (kind == "positive" && family == "uniform") args[1] <- max(args[1], 0)
  bounds <- random_bounds(kind, family, range)
  if (term == "discount") if (family == "uniform") args <- range else bounds <- c(0, 0.98)
  ends <- switch(family, uniform = args, beta = c(0, 1), normal = , student_t = c(-Inf, Inf), c(0, Inf))
  list(term = term, family = family, args = args, bounds = bounds, range = range, state = state, action = action,
       lower = max(bounds[1], ends[1]), upper = min(bounds[2], ends[2]))
}

# Never beyond where the distribution itself ends.
random_bounds <- function(kind, family, range) {
  bounds <- c(-Inf, Inf)
  if (family == "uniform") return(bounds)
  if (kind == "positive" && family %in% c("normal", "student_t")) bounds[1] <- range[1] * sample(0:1, 1) / 2
  if (stats::runif(1) < 0.3) bounds[1] <- range[1] - abs(range[1]) * stats::runif(1) / 2
  if (stats::runif(1) < 0.3) bounds[2] <- range[2] + diff(range) * stats::runif(1)
  bounds
}

# Entries of the utility, a discount, and each price in one of its forms or held.
random_terms <- function(setting) {
  prices <- list(
    sample(list(random_term("alpha", "positive", c(0.25, 6)), random_term("flexibility", "signed", c(-3, 4))), 1),
    sample(list(random_term("beta", "positive", c(0.25, 6)), random_term("optimism", "signed", c(-3, 3)), NULL), 1),
    sample(list(random_term("eta", "positive", c(0.01, 2)), random_term("adaptivity", "positive", c(0.5, 5)), NULL), 1)
  )
  cells <- sample(length(setting$states) * length(setting$actions), sample(0:2, 1)) - 1
  entries <- lapply(cells, function(cell) {
    state <- setting$states[cell %% length(setting$states) + 1]
    action <- setting$actions[cell %/% length(setting$states) + 1]
    random_term(sprintf("utility[%s,%s]", state, action), "signed", c(-4, 4), state, action)
  })
  discount <- if (stats::runif(1) < 0.3) list(random_term("discount", "unit", c(0.3, 0.9)))
  terms <- Filter(Negate(is.null), c(unlist(prices, recursive = FALSE), entries, discount))
  terms[sample(length(terms))]
}

# As a user would state them.
prior_of <- function(terms) {
  formulas <- lapply(terms, function(term) {
    left <- if (is.null(term$state)) as.name(term$term) else call("utility", term$state, term$action)
    bounds <- stats::setNames(as.list(term$bounds), c("lower", "upper"))[is.finite(term$bounds)]
    stats::as.formula(call("~", left, as.call(c(as.name(term$family), as.list(term$args), bounds))))
  })
  do.call(ibrc_prior, formulas)
}

# log p(x) + log |dx / dt| with x where the sampler's t is: exp(t) from one bound, between
# two of them by the logistic curve. [row, term] each: natural values, log density.
twin_prior <- function(terms, theta, jacobian = TRUE) {
  natural <- density <- theta
  for (j in seq_along(terms)) {
    term <- terms[[j]]
    t <- theta[, j]
    a <- term$args
    width <- term$upper - term$lower
    if (is.finite(width)) {
      x <- term$lower + width / (1 + exp(-t))
      log_slope <- log(width) - t - 2 * log(1 + exp(-t))
    } else {
      x <- if (is.finite(term$lower)) term$lower + exp(t) else if (is.finite(term$upper)) term$upper - exp(t) else t
      log_slope <- if (is.finite(term$lower) || is.finite(term$upper)) t else 0
    }
    below <- switch(term$family,
      normal = function(q) stats::pnorm(q, a[1], a[2]),
      student_t = function(q) stats::pt((q - a[2]) / a[3], a[1]),
      lognormal = function(q) stats::plnorm(q, a[1], a[2]),
      half_normal = function(q) 2 * stats::pnorm(q, 0, a[1]) - 1,
      exponential = function(q) stats::pexp(q, a[1]),
      gamma = function(q) stats::pgamma(q, a[1], a[2]),
      beta = function(q) stats::pbeta(q, a[1], a[2]),
      uniform = function(q) stats::punif(q, a[1], a[2])
    )
    log_density <- switch(term$family,
      normal = stats::dnorm(x, a[1], a[2], log = TRUE),
      student_t = stats::dt((x - a[2]) / a[3], a[1], log = TRUE) - log(a[3]),
      lognormal = stats::dlnorm(x, a[1], a[2], log = TRUE),
      half_normal = log(2) + stats::dnorm(x, 0, a[1], log = TRUE),
      exponential = stats::dexp(x, a[1], log = TRUE),
      gamma = stats::dgamma(x, a[1], a[2], log = TRUE),
      beta = stats::dbeta(x, a[1], a[2], log = TRUE),
      uniform = stats::dunif(x, a[1], a[2], log = TRUE)
    )
    natural[, j] <- x
    density[, j] <- log_density - log(below(term$upper) - below(term$lower)) + if (jacobian) log_slope else 0
  }
  colnames(natural) <- vapply(terms, `[[`, "", "term")
  list(natural = natural, log_density = rowSums(density))
}

# Random t whose x is in the term's range.
random_theta <- function(terms, n) {
  matrix(vapply(terms, function(term) {
    from <- max(term$range[1], term$lower)
    to <- min(term$range[2], term$upper)
    x <- from + (to - from) * stats::runif(n, 0.02, 0.98)
    if (is.finite(term$lower) && is.finite(term$upper)) log((x - term$lower) / (term$upper - x))
    else if (is.finite(term$lower)) log(x - term$lower)
    else if (is.finite(term$upper)) log(term$upper - x)
    else x
  }, numeric(n)), n)
}

# Solve and likelihood -----------------------------------------------------------------

# twin_soft_mean() and twin_soft_weights() of every row of x.
twin_soft_rows <- function(x, weight, temperature) {
  centre <- as.vector(x %*% weight)
  if (is.infinite(temperature)) return(centre)
  d <- (x - centre) / temperature
  top <- apply(d, 1, max)
  centre + temperature * ifelse(top < 0.5 & apply(d, 1, min) > -0.5, log1p(as.vector(expm1(d) %*% weight)),
                                top + log(as.vector(exp(d - top) %*% weight)))
}

twin_soft_row_weights <- function(x, weight, temperature) {
  d <- if (is.infinite(temperature)) 0 * x else x / temperature
  out <- t(t(exp(d - apply(d, 1, max))) * weight)
  out / rowSums(out)
}

# twin_backup() over all nodes at once. `fault` "decision" adds the price of deciding where
# it is to be paid: E Q + alpha KL is 2 E Q - (E Q - alpha KL). "surprise" turns that of eta.
twin_backup_rows <- function(twin, value, agent, reward, discount, fault = "") {
  n <- nrow(reward)
  eta <- if (fault == "surprise") -agent$eta else agent$eta
  K <- matrix(eta * twin$H + discount * as.vector(twin$W %*% value), ncol = length(twin$weights))
  Q <- matrix(as.vector(reward) + twin_soft_rows(K, twin$weights, agent$beta), n)
  value <- twin_soft_rows(Q, twin$action_prior, agent$alpha)
  if (fault == "decision") {
    value <- 2 * rowSums(twin_soft_row_weights(Q, twin$action_prior, agent$alpha) * Q) - value
  }
  list(V = value, Q = Q, K = K)
}

# Plain value iteration, to where rounding is all that moves it.
twin_fixed_point <- function(twin, agent, reward, discount, fault = "") {
  value <- numeric(nrow(reward))
  least <- Inf
  idle <- 0
  for (round in seq_len(2000)) {
    step <- twin_backup_rows(twin, value, agent, reward, discount, fault)
    span <- diff(range(step$V - value))
    value <- step$V
    idle <- if (span < 0.99 * least) 0 else idle + 1
    least <- min(span, least)
    if (least == 0 || idle == 5) break
  }
  twin_backup_rows(twin, value, agent, reward, discount, fault)
}

# sum_t log pi(u_t | z_t); `fault` "late" reads the belief of the visit before.
twin_likelihood <- function(problem, step, agent, rows, fault = "") {
  twin <- problem$twin
  size <- c(nrow(twin$nodes), length(twin$action_prior), length(twin$weights))
  sigma_of <- function(K) twin_soft_row_weights(matrix(K, ncol = size[3]), twin$weights, agent$beta)
  log_policy_of <- function(Q) {
    log(twin_soft_row_weights(matrix(Q, ncol = size[2]), twin$action_prior, agent$alpha))
  }
  K <- array(step$K, size)
  by_value <- problem$interpolate == "value"
  if (!by_value) {
    policy <- exp(log_policy_of(step$Q))
    sigma <- array(sigma_of(step$K), size)
  }
  total <- 0
  for (one in split(rows, rows$trajectory)) {
    belief <- before <- twin$start
    for (t in seq_len(nrow(one))) {
      u <- one$action[t]
      at <- as.vector(twin_interpolate(matrix(belief, 1), length(belief), problem$resolution))
      read <- at
      if (fault == "late") {
        read <- as.vector(twin_interpolate(matrix(before, 1), length(belief), problem$resolution))
      }
      total <- total + if (by_value) log_policy_of(read %*% step$Q)[u] else log(sum(read * policy[, u]))
      if (t == nrow(one)) break
      weights <- if (by_value) sigma_of(at %*% K[, u, ]) else as.vector(at %*% matrix(sigma[, u, ], size[1]))
      before <- belief
      belief <- twin_recognise(problem$models, weights, belief, u, one$observation[t])
    }
  }
  total
}

# Each row's log posterior; `fault` "jacobian" leaves the change of variables out.
twin_log_posterior <- function(problem, theta, group, fault = "") {
  prior <- twin_prior(problem$terms, theta, jacobian = fault != "jacobian")
  likelihood <- vapply(seq_len(nrow(theta)), function(i) {
    x <- prior$natural[i, ]
    agent <- twin_agent(x, problem$fixed)
    utility <- problem$utility
    for (term in problem$terms) if (!is.null(term$state)) utility[term$state, term$action] <- x[[term$term]]
    discount <- if ("discount" %in% names(x)) x[["discount"]] else problem$discount
    reward <- problem$twin$nodes %*% unname(utility) + problem$twin$bonus
    step <- twin_fixed_point(problem$twin, agent, reward, discount, fault)
    twin_likelihood(problem, step, agent, problem$rows[problem$rows$group == group[i], ], fault)
  }, 0)
  cbind(prior = prior$log_density, likelihood = likelihood)
}

twin_agent <- function(x, fixed) {
  price <- function(name, inverse, rational) {
    if (name %in% names(x)) return(x[[name]])
    if (inverse %in% names(x)) return(1 / x[[inverse]])
    if (is.null(fixed[[name]])) rational else fixed[[name]]
  }
  list(alpha = price("alpha", "flexibility", 0), beta = price("beta", "optimism", Inf),
       eta = price("eta", "adaptivity", 0))
}

# Random problems ------------------------------------------------------------------------

# All that is random about a posterior: sizes, dynamics, models, lattice, habits, what a
# belief is worth, terms and their priors, and behaviour of two groups, a tenth unseen.
random_problem <- function(seed) {
  set.seed(seed)
  n_states <- sample(2:4, 1)
  setting <- random_setting(n_states, sample(2:3, 1), sample(2:4, 1), zeros = sample(c(0, 0.2), 1),
                            discount = stats::runif(1, 0.2, 0.9))
  worth <- if (stats::runif(1) < 0.3) stats::runif(1, -1, 2) else 0
  if (worth != 0) setting$belief_utility <- certainty_bonus(worth, above = 0.7)
  habit <- as.vector(0.2 + random_rows(1, length(setting$actions)))
  # Log-linear over the nodes, as the lattice has it.
  slope <- if (stats::runif(1) < 0.3) stats::rnorm(n_states) else NULL
  belief_prior <- if (!is.null(slope)) function(beliefs) exp(as.vector(beliefs %*% slope))
  agent <- bounded_agent(alpha = 1, beta = 2, eta = 0.1, action_prior = habit / sum(habit), belief_prior = belief_prior)
  resolution <- sample(switch(n_states - 1, 2:12, 2:5, 2:3), 1)
  plan <- plan_agent(setting, agent, random_models(setting, sample(3, 1)), resolution,
                     interpolate = sample(c("value", "policy"), 1), surprise = sample(c("belief", "observation"), 1))
  visits <- as.data.frame(simulate(plan, 12, horizon = 5))
  visits$observation[stats::runif(nrow(visits)) < 0.1] <- NA
  visits$group <- visits$id %% 2 + 1
  terms <- random_terms(setting)
  fixed <- list(beta = stats::runif(1, 0.5, 3), eta = stats::runif(1, 0, 0.5))
  taken <- vapply(terms, `[[`, "", "term")
  fixed <- fixed[c(!any(c("beta", "optimism") %in% taken) && stats::runif(1) < 0.5,
                   !any(c("eta", "adaptivity") %in% taken))]
  list(plan = plan, prior = prior_of(terms), terms = terms, fixed = fixed, visits = visits,
       rows = data.frame(trajectory = visits$id, group = visits$group, action = as.integer(visits$action),
                         observation = as.integer(visits$observation)),
       utility = setting$utility, discount = setting$discount, interpolate = plan$interpolate, resolution = resolution,
       models = plan$models$models, twin = twin_side(plan, habit / sum(habit), slope, worth))
}

# The twin's tables, with rows [node, action, model] of W together.
twin_side <- function(plan, action_prior, slope, worth) {
  tables <- twin_tables(plan$models$models, plan$resolution, plan$surprise)
  n <- nrow(tables$nodes)
  W <- matrix(aperm(tables$W, c(1, 3, 4, 2)), ncol = n)
  H <- as.vector(tables$H)
  if (!is.null(slope)) H <- H + as.vector(W %*% (tables$nodes %*% slope))
  list(nodes = tables$nodes, W = W, H = H, tables = tables, action_prior = action_prior,
       weights = unname(plan$models$weights), start = unname(plan$setting$start),
       bonus = worth * (apply(tables$nodes, 1, max) > 0.7 + 1e-9))
}

# Pairs ------------------------------------------------------------------------------------

# theta and theta' of some pairs: half of them a short step apart, half anywhere.
random_pairs <- function(problem, n) {
  theta <- random_theta(problem$terms, n)
  near <- theta + matrix(stats::rnorm(length(theta), sd = 0.1), n)
  list(theta = theta, other = ifelse(row(theta) %% 2 == 0, near, random_theta(problem$terms, n)),
       group = sample(1:2, n, replace = TRUE))
}

# The package's log posteriors: theta from nothing, theta' from theta's values, as a sampler
# goes on, and every third from values that have nothing to do with it.
package_log_posterior <- function(problem, pairs, tolerance = 1e-12) {
  setting <- problem$plan$setting
  trees <- lapply(1:2, function(k) {
    visits <- trajectories(problem$visits[problem$visits$group == k, 1:4], setting = setting)
    build_histories(code_visits(visits, setting), setting)
  })
  fixed <- c(problem$fixed, list(action_prior = problem$plan$agent$action_prior))
  evaluator <- new_evaluator(problem$plan, trees, pairs$group, problem$prior, fixed, tolerance, 1L)
  # A belief prior is no parameter of a fit, and is in the numbers of the plan.
  evaluator$batch$problem <- problem$plan$problem
  n <- nrow(pairs$theta)
  first <- evaluate_batch(evaluator, pairs$theta, matrix(0, problem$plan$space$n_nodes, n))
  from <- first$value
  odd <- seq_len(n) %% 3 == 0
  from[, odd] <- stats::rnorm(sum(odd) * nrow(from), sd = 20)
  second <- evaluate_batch(evaluator, pairs$other, from)
  list(theta = cbind(prior = first$log_prior, likelihood = first$log_likelihood),
       other = cbind(prior = second$log_prior, likelihood = second$log_likelihood))
}

# One row per pair: the log of posterior(theta') / posterior(theta) by C and by the twin, and
# the two log posteriors at theta.
compare_pairs <- function(seed, n, fault = "") {
  problem <- random_problem(seed)
  pairs <- random_pairs(problem, n)
  mine <- package_log_posterior(problem, pairs)
  theirs <- list(theta = twin_log_posterior(problem, pairs$theta, pairs$group, fault),
                 other = twin_log_posterior(problem, pairs$other, pairs$group, fault))
  data.frame(seed = seed, states = length(problem$plan$setting$states), models = length(problem$models),
             interpolate = problem$interpolate, surprise = problem$plan$surprise,
             missing = sum(is.na(problem$rows$observation)),
             ratio = rowSums(mine$other - mine$theta), twin = rowSums(theirs$other - theirs$theta),
             level = rowSums(mine$theta), twin_level = rowSums(theirs$theta),
             terms = paste(vapply(problem$terms, function(term) sub("\\[.*", "", term$term), ""), collapse = " "),
             families = paste(vapply(problem$terms, `[[`, "", "family"), collapse = " "),
             scales = paste(vapply(problem$terms, function(term) {
               c("identity", "log", "logit")[1 + sum(is.finite(c(term$lower, term$upper)))]
             }, ""), collapse = " "))
}

# How far apart, in units of the larger of 1 and the twin's log ratio.
relative_gap <- function(x, twin) abs(x - twin) / pmax(1, abs(twin))
