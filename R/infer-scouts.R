# Scouts: many points that are led from the prior to the posterior before the chains start, so that the chains know all
# of it, with long tails and tops far apart. This is a sequential Monte Carlo sampler (Del Moral, Doucet and Jasra
# 2006). The likelihood counts little at first and in full at the end. From one weight to the next, scouts are drawn
# again in proportion to the change of their density and then moved, by proposals fitted to where they are. Each group
# of a fit has its own scouts and its own stream; what they do does not depend on other groups or on threads.
#
# `density(theta, value)` gives `log_prior`, `log_likelihood` and `value` of the rows of theta (evaluate_batch()).

# 400 for three terms; see scouts_for().
scouts_per_term <- 100
most_scouts <- 1000
# A mixture of t distributions cannot follow more terms than this.
most_scouted <- 8L
# A weight is raised until the scouts are worth only this share of their number.
worth_kept <- 0.5
# Scouts are moved until each has accepted this many moves on average, more at the end; or until the most moves are
# made.
moves_wanted <- c(between = 2, end = 6)
most_moves <- c(between = 8L, end = 24L)

# On the way scouts stop where the data count this much. The posterior there has the same bends and longer tails. A part
# of the proposals comes from it, so that no place of the posterior is proposed much too rarely.
wide_weight <- 0.4

# `points`: the prior's draws, one row per scout. Returns the scouts (`theta`, their densities and values), `wide`,
# where they were at the wide weight, `patches` (infer-patches.R), and how it went: `weights`, `evaluations`,
# `acceptance` at the end.
scout <- function(density, points, n_values, stream, look = NULL) {
  here <- density(points, matrix(0, n_values, nrow(points)))
  here <- list(theta = points, log_prior = here$log_prior, log_likelihood = here$log_likelihood, value = here$value)
  if (!any(is.finite(here$log_prior + here$log_likelihood))) return(NULL)
  weights <- 0
  wide <- NULL
  evaluations <- nrow(points)
  repeat {
    last <- weights[length(weights)]
    weight <- next_weight(here$log_likelihood, last)
    if (last < wide_weight) weight <- min(weight, wide_weight)
    here <- draw_again(here, weight - last, stream)
    stream <- parallel::nextRNGSubStream(stream)
    weights <- c(weights, weight)
    stage <- if (weight == 1) "end" else "between"
    moved <- move_scouts(here, weight, density, stream, moves_wanted[[stage]], most_moves[[stage]],
                         wide$theta)
    here <- moved$here
    if (weight == wide_weight) wide <- here
    stream <- moved$stream
    evaluations <- evaluations + moved$moves * nrow(points)
    if (!is.null(look)) look(weight)
    if (weight == 1) break
  }
  patches <- find_patches(density, here, wide, stream, scouts_rounds)
  c(here, list(wide = wide$theta, patches = patches$points, weights = weights[-1],
               evaluations = evaluations + patches$evaluations, acceptance = moved$acceptance))
}

# The largest weight, up to 1, at which scouts are still worth enough.
next_weight <- function(log_likelihood, weight) {
  relative <- log_likelihood - max(log_likelihood)
  worth <- function(to) {
    w <- exp((to - weight) * relative)
    w[is.nan(w)] <- 0
    sum(w)^2 / sum(w^2) - worth_kept * length(w)
  }
  if (worth(1) >= 0) return(1)
  # Fewer scouts than wanted may have a density at all: then a small step is made, after which all have one.
  if (worth(weight + 1e-12) <= 0) return(min(1, weight + 1e-6))
  stats::uniroot(worth, c(weight, 1), tol = 1e-12)$root
}

# Systematic resampling: one uniform number for all scouts.
draw_again <- function(here, power, stream) {
  w <- exp(power * (here$log_likelihood - max(here$log_likelihood)))
  w[!is.finite(here$log_prior) | is.nan(w)] <- 0
  n <- length(w)
  at <- (seq_len(n) - with_stream(stream, stats::runif(1))) / n
  chosen <- pmin(findInterval(at, cumsum(w) / sum(w)) + 1L, max(which(w > 0)))
  take_scouts(here, chosen)
}

take_scouts <- function(here, rows) {
  list(theta = here$theta[rows, , drop = FALSE], log_prior = here$log_prior[rows],
       log_likelihood = here$log_likelihood[rows], value = here$value[, rows, drop = FALSE])
}

# Moves by a law that is fitted again after every second move: independent draws from its mixture and, every third time,
# a walk.
move_scouts <- function(here, weight, density, stream, wanted, most, wide) {
  n <- nrow(here$theta)
  size <- ncol(here$theta)
  total <- 0
  moves <- 0L
  share <- numeric()
  while (moves < most && (moves < 2 || total < wanted)) {
    if (moves %% 2L == 0L) law <- scouts_law(here$theta, wide)
    walks <- moves %% 3L == 2L
    noise <- draw_noise(list(stream), n, size, proposal_df)
    stream <- noise$streams[[1]]
    move <- propose_scouts(here$theta, law, noise, walks)
    there <- density(move$theta, here$value)
    gained <- weight * (there$log_likelihood - here$log_likelihood)
    log_ratio <- there$log_prior - here$log_prior + gained + move$log_ratio
    accepted <- which(noise$log_uniform < log_ratio)
    here$theta[accepted, ] <- move$theta[accepted, ]
    here$log_prior[accepted] <- there$log_prior[accepted]
    here$log_likelihood[accepted] <- there$log_likelihood[accepted]
    here$value[, accepted] <- there$value[, accepted]
    moves <- moves + 1L
    total <- total + length(accepted) / n
    if (!walks) share <- c(share, length(accepted) / n)
  }
  list(here = here, stream = parallel::nextRNGSubStream(stream), moves = moves, acceptance = share[length(share)])
}

# What one group's points propose. It is used for two moves only: a few rounds are as good as many.
scouts_rounds <- 10L

scouts_law <- function(points, wide = NULL, least = 1e-4) {
  shear <- stack_shears(list(learn_shear(rbind(points, wide))))
  mixture <- straight_mixture(shear, 1L, points, wide, least, scouts_rounds)
  list(shear = shear, mixture = stack_mixtures(list(mixture)))
}

propose_scouts <- function(theta, law, noise, walks) {
  n <- nrow(theta)
  own <- rep(1L, n)
  straight <- straighten(law$shear, theta, own)
  normal <- t.default(noise$normal)
  mixture <- law$mixture
  if (walks) {
    part <- pmin(floor(as.vector(noise$component) * mixture$n_own) + 1, mixture$n_own)
    to <- straight + times_factors(normal, mixture$factor, part)
    return(list(theta = named_as(bend_back(law$shear, to, own), theta), log_ratio = 0))
  }
  to <- mixture_draw(mixture, normal, sqrt(mixture$df / as.vector(noise$chi_square)), noise$component, own)
  list(theta = named_as(bend_back(law$shear, to, own), theta),
       log_ratio = mixture_log_density(mixture, straight, own) - mixture_log_density(mixture, to, own))
}
