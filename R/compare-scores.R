# Scores of predicted probabilities. The weight of a visit says how often its patient was drawn: a bootstrap over
# patients changes only weights. `chance`: of the action in question; `taken`: whether it was taken.

# Half the mean squared distance between the law of an action and what was done: with two actions that is mean (p - y)^2
# of either. law [visit, action]; action from 1.
brier_score <- function(law, action, weight = rep(1, nrow(law))) {
  law[cbind(seq_along(action), action)] <- law[cbind(seq_along(action), action)] - 1
  sum(weight * rowSums(law^2)) / (2 * sum(weight))
}

# Mean log probability of what was done.
log_score <- function(law, action, weight = rep(1, nrow(law))) {
  each <- log(law[cbind(seq_along(action), action)])
  sum((weight * each)[weight > 0]) / sum(weight)
}

# Visits from the highest chance of an action to the lowest. Visits with the same chance come together, as no order
# among them is better than another. Rounding alone must not tell chances apart.
threshold_order <- function(chance, taken) {
  key <- signif(chance, 12)
  at <- order(-key)
  last <- c(diff(key[at]) != 0, TRUE)
  list(at = at, last = last, taken = taken[at], chance = key[at][last])
}

# Weights of the visits at or above each distinct chance at which the action was taken, and was not.
counts_at <- function(order, weight) {
  weight <- weight[order$at]
  list(chance = order$chance, hits = cumsum(weight * order$taken)[order$last],
       misses = cumsum(weight * !order$taken)[order$last])
}

threshold_counts <- function(chance, taken, weight = rep(1, length(chance))) {
  counts_at(threshold_order(chance, taken), weight)
}

# The chance that a visit with the action gets a higher probability than one without it; equal probabilities count half.
# NA where visits of one kind are missing.
roc_area <- function(chance, taken, weight = rep(1, length(chance))) roc_of(threshold_counts(chance, taken, weight))

roc_of <- function(count) {
  n <- length(count$hits)
  if (!(count$hits[n] > 0) || !(count$misses[n] > 0)) return(NA_real_)
  hits <- c(0, count$hits) / count$hits[n]
  misses <- c(0, count$misses) / count$misses[n]
  sum(diff(misses) * (hits[-1] + hits[-(n + 1)]) / 2)
}

# The area under precision as a function of recall. Between two thresholds misses grow in proportion to hits, as they
# would if visits with the same chance came in random order. Precision is then t / (c t + d) of the hits t, whose
# integral is t / c - d / c^2 log(c t + d). NA where the action was always or never taken.
precision_recall_area <- function(chance, taken, weight = rep(1, length(chance))) {
  precision_recall_of(threshold_counts(chance, taken, weight))
}

precision_recall_of <- function(count) {
  total <- count$hits[length(count$hits)]
  if (!(total > 0) || !(count$misses[length(count$misses)] > 0)) return(NA_real_)
  arc <- precision_arcs(count)
  area <- (arc$upper - arc$lower) / arc$slope
  bent <- abs(arc$offset) > 1e-12 * total
  bend <- arc$offset / arc$slope^2 * (log(arc$slope * arc$upper + arc$offset) - log(arc$slope * arc$lower + arc$offset))
  area[bent] <- area[bent] - bend[bent]
  sum(area) / total
}

# The pieces of the curve: precision is t / (slope t + offset) of the hits t between lower and upper.
precision_arcs <- function(count) {
  from <- c(0, count$hits[-length(count$hits)])
  step <- count$hits - from
  misses <- c(0, count$misses[-length(count$misses)])
  rises <- step > 0
  slope <- 1 + (count$misses - misses)[rises] / step[rises]
  list(lower = from[rises], upper = count$hits[rises], slope = slope,
       offset = misses[rises] - (slope - 1) * from[rises])
}

# Precision where the recall reaches each of some values: this curve has the area above. At 0 it is the limit.
precision_at <- function(recall, count) {
  arc <- precision_arcs(count)
  t <- recall * count$hits[length(count$hits)]
  at <- findInterval(t, c(arc$lower, Inf), left.open = TRUE, all.inside = TRUE)
  at <- pmin(at, length(arc$slope))
  start <- if (abs(arc$offset[1]) > 1e-12 * arc$upper[1]) 0 else 1 / arc$slope[1]
  ifelse(t > 0, t / (arc$slope[at] * t + arc$offset[at]), start)
}

# The mean of these curves over folds, weighted by their visits, like the area. Folds in which the action was always or
# never taken have no curve. The last point is of all visits.
precision_recall_points <- function(chance, taken, fold, recall = seq(0, 1, 0.005)) {
  by_fold <- lapply(split(seq_along(fold), fold), function(at) {
    count <- threshold_counts(chance[at], taken[at])
    if (is.na(precision_recall_of(count))) return(NULL)
    list(size = length(at), precision = precision_at(recall, count), share = mean(taken[at]))
  })
  by_fold <- by_fold[!vapply(by_fold, is.null, NA)]
  if (!length(by_fold)) return(NULL)
  sizes <- vapply(by_fold, `[[`, 0L, "size")
  mean_of <- function(part) {
    values <- vapply(by_fold, `[[`, by_fold[[1]][[part]], part)
    drop(matrix(values, ncol = length(sizes)) %*% sizes) / sum(sizes)
  }
  data.frame(recall = c(recall, 1), precision = c(mean_of("precision"), mean_of("share")), base = mean_of("share"))
}

# How often the action was taken where its predicted chance was about the same. Bins hold equal numbers of visits, as
# far as possible, since visits with equal chances stay together.
reliability_points <- function(chance, taken, weight = rep(1, length(chance)), bins = 10) {
  bin <- reliability_bins(chance, bins)
  sums <- rowsum(cbind(weight, weight * chance, weight * taken), bin)
  sums <- sums[sums[, 1] > 0, , drop = FALSE]
  data.frame(said = sums[, 2] / sums[, 1], seen = sums[, 3] / sums[, 1], visits = sums[, 1], row.names = NULL)
}

reliability_bins <- function(chance, bins) {
  middle <- rank(signif(chance, 12), ties.method = "average") - 0.5
  floor(bins * middle / length(chance))
}
