# A plain-R twin of src/rnn.c, one visit of one trajectory at a time.

rnn_weights <- function(weights, shape) {
  n_in <- shape[1]
  h <- shape[2]
  d <- shape[3]
  u <- shape[4]
  sizes <- c(n_in * 4 * h, h * 4 * h, 4 * h, h * d, d, d * u, u)
  parts <- split(weights, rep(seq_along(sizes), sizes))
  list(input = matrix(parts[[1]], n_in, byrow = TRUE), recurrent = matrix(parts[[2]], h, byrow = TRUE),
       gate_bias = parts[[3]], dense = matrix(parts[[4]], h, byrow = TRUE), dense_bias = parts[[5]],
       output = matrix(parts[[6]], d, byrow = TRUE), output_bias = parts[[7]])
}

rnn_log_law <- function(weights, shape, data) {
  w <- rnn_weights(weights, shape)
  h <- shape[2]
  out <- matrix(0, shape[4], length(data$action))
  for (i in seq_len(length(data$first) - 1)) {
    hidden <- cell <- numeric(h)
    for (visit in (data$first[i] + 1):data$first[i + 1]) {
      sums <- w$gate_bias + drop(hidden %*% w$recurrent)
      for (input in c(data$done[visit], data$seen[visit])) if (input >= 0) sums <- sums + w$input[input + 1, ]
      gate <- function(k) sums[(k - 1) * h + seq_len(h)]
      cell <- stats::plogis(gate(2)) * cell + stats::plogis(gate(1)) * tanh(gate(3))
      hidden <- stats::plogis(gate(4)) * tanh(cell)
      law <- drop(tanh(drop(hidden %*% w$dense) + w$dense_bias) %*% w$output) + w$output_bias
      out[, visit] <- law - max(law) - log(sum(exp(law - max(law))))
    }
  }
  out
}

rnn_loss <- function(weights, shape, data) {
  counted <- which(data$action >= 0)
  -sum(rnn_log_law(weights, shape, data)[cbind(data$action[counted] + 1, counted)])
}

random_rnn <- function(n = 11, shape = c(7L, 3L, 4L, 3L)) {
  lengths <- sample(1:6, n, TRUE)
  visits <- sum(lengths)
  first <- c(0L, cumsum(lengths))
  data <- list(first = as.integer(first), done = sample(-1:3, visits, TRUE), seen = sample(c(-1L, 4:6), visits, TRUE),
               action = sample(-1:2, visits, TRUE))
  list(shape = shape, data = data, weights = 0.7 * stats::rnorm(length(begin_weights(shape))))
}
