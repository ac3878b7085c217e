# Draws of many variables, summarised. R-hat and effective numbers of draws are those of posterior::rhat(), ess_bulk() and
# ess_tail() (Vehtari and others 2021), all three at once and several times as fast: there may be intercepts of
# thousands of people.

# One row per column of draws.
summarise_columns <- function(draws, conf.level) {
  tail <- (1 - conf.level) / 2
  over <- function(measure, ...) unname(apply(draws, 2, measure, ...))
  range <- over(stats::quantile, c(tail, 1 - tail), names = FALSE)
  data.frame(estimate = over(stats::median), std.error = over(stats::sd), conf.low = range[1, ], conf.high = range[2, ])
}

mixing_names <- c("rhat", "ess_bulk", "ess_tail")

# Of draws [iteration, chain, variable], one row per variable.
mixing_of <- function(draws) {
  n <- dim(draws)
  long <- n[1] >= least_halves
  scores <- if (long) rank_scores(2 * (n[1] %/% 2) * n[2])
  out <- vapply(seq_len(n[3]), function(k) {
    one <- matrix(draws[, , k], n[1])
    found <- if (long) quick_mixing(one, scores)
    if (is.null(found)) slow_mixing(one) else found
  }, c(0, 0, 0))
  matrix(t(out), ncol = 3, dimnames = list(NULL, mixing_names))
}

# What is constant or not finite, say, posterior treats in its own way. Where it does not believe in so many effective
# draws it has fewer, and warns.
slow_mixing <- function(x) {
  suppressWarnings(c(posterior::rhat(x), posterior::ess_bulk(x), posterior::ess_tail(x)))
}

# Iterations of the shortest chains whose halves have pairs of lags to add up.
least_halves <- 16L

# Quantiles of the normal distribution for ranks 1, 1.5, 2, ...: ties share theirs.
rank_scores <- function(n) stats::qnorm((seq(1, n, by = 0.5) - 3 / 8) / (n + 1 / 4))

# NULL if this variable is one for posterior.
quick_mixing <- function(x, scores) {
  sorted <- sort.int(as.vector(x), method = "radix", na.last = TRUE)
  n <- length(x)
  if (!all(is.finite(x)) || sorted[n] - sorted[1] < .Machine$double.eps) return(NULL)
  middle <- mean(sorted[floor((n + 1:2) / 2)])
  x <- halved(x)
  bulk <- scored(x, scores)
  folded <- scored(abs(x - middle), scores)
  tails <- lapply(c(0.05, 0.95), function(p) x <= sorted_quantile(sorted, p))
  worth <- split_worth(cbind(bulk, tails[[1]], tails[[2]]), ncol(x))
  out <- c(max(split_rhat(bulk), split_rhat(folded)), worth[1], min(worth[2:3]))
  if (anyNA(out)) NULL else out
}

# [iteration, half of a chain]; without the one in the middle of an odd number.
halved <- function(x) {
  n <- nrow(x)
  first <- seq_len(n %/% 2)
  cbind(x[first, ], x[n - n %/% 2 + first, ])
}

# Ranks as quantiles of the normal distribution.
scored <- function(x, scores) {
  n <- length(x)
  order <- order(x, method = "radix")
  sorted <- x[order]
  last <- c(which(sorted[-1] != sorted[-n]), n)
  first <- c(1, last[-length(last)] + 1)
  x[order] <- rep.int(scores[first + last - 1], last - first + 1)
  x
}

# As stats::quantile() has it.
sorted_quantile <- function(sorted, p) {
  at <- 1 + (length(sorted) - 1) * p
  ends <- sorted[c(floor(at), ceiling(at))]
  share <- at - floor(at)
  if (ends[1] == ends[2]) ends[1] else (1 - share) * ends[1] + share * ends[2]
}

split_rhat <- function(x) {
  n <- nrow(x)
  mean <- colMeans(x)
  within <- sum((x - rep(mean, each = n))^2) / (n - 1) / ncol(x)
  # Chains that stand still.
  if (within < 1e-12) return(NA_real_)
  sqrt((n * stats::var(mean) / within + n - 1) / n)
}

# The effective number of draws of each `each` columns.
split_worth <- function(x, each) {
  n <- nrow(x)
  mean <- colMeans(x)
  covariance <- mean_autocovariances(x - rep(mean, each = n), each)
  dim(mean) <- c(each, ncol(covariance))
  vapply(seq_len(ncol(covariance)), function(k) {
    one <- covariance[, k]
    within <- one[1] * n / (n - 1)
    tau <- geyer_sum(c(1, 1 - (within - one[-1]) / (one[1] + stats::var(mean[, k]))))
    n * each / max(tau, 1 / log10(n * each))
  }, 0)
}

# Autocovariances [lag, k], the means over each `each` columns, whose means are 0.
mean_autocovariances <- function(x, each) {
  n <- nrow(x)
  padded <- 2 * stats::nextn(n)
  # Two columns at a time as real and imaginary part: their powers add up.
  odd <- seq(1, ncol(x), by = 2)
  pairs <- matrix(0i, padded, length(odd))
  pairs[seq_len(n), ] <- complex(real = x[, odd], imaginary = x[, odd + 1])
  pairs <- stats::mvfft(pairs)
  power <- Re(pairs)^2 + Im(pairs)^2
  power <- vapply(split(seq_along(odd), (seq_along(odd) - 1) %/% (each / 2)), function(mine) {
    rowSums(power[, mine, drop = FALSE])
  }, numeric(padded))
  power <- power + power[c(1, padded:2), ]
  Re(stats::mvfft(power, inverse = TRUE)[seq_len(n), ]) / (2 * padded * n * each)
}

# The sum of autocorrelations by Geyer: pairs until one is not positive, none larger than the one before it.
geyer_sum <- function(correlation) {
  lags <- seq(1, 2 * ((length(correlation) - 4) %/% 2) + 1, by = 2)
  even <- correlation[lags]
  pair <- even + correlation[lags + 1]
  end <- match(TRUE, pair <= 0, nomatch = length(pair))
  if (is.na(pair[1]) || end == 1) return(NA_real_)
  -1 + 2 * sum(cummin(pair[seq_len(end - 1)])) + if (pair[end] >= 0 || even[end] > 0) even[end] else 0
}
