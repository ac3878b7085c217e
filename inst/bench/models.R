# What other models of behaviour cost: a training step of the recurrent network and the joint objective of cloning from
# beliefs with its slopes, each beside what one would write without it, and the whole five-fold table. Ratios are of
# times taken next to each other, the median over interleaved rounds.
#
#   Rscript inst/bench/models.R         with `table` behind it, the table too: some minutes on two idle cores
#
# Marks asked for: a training step 50 times as fast as plain R, whether that goes patient by patient or takes the visits
# of a batch together as matrices; objective and slopes 20 times as fast as finite
# differences, a table on 1,600 patients within minutes.

library(ibrc)
options(width = 120)
source(system.file("bench", "shared", "clock.R", package = "ibrc"))
source(system.file("bench", "shared", "accuracy.R", package = "ibrc"))
rounds <- 5L
cohort <- adni_visits()

# ---- the network -------------------------------------------------------------------------------------------------

sigma <- function(x) 1 / (1 + exp(-x))

# One step of Adam on a batch in plain R: visit after visit of all its trajectories at once, as matrices [trajectory,
# unit]; `by_one` takes one trajectory after the other.
plain_step <- function(w, moments, step, data, batch, shape, rate, by_one) {
  slopes <- lapply(w, function(x) 0 * x)
  counted <- 0
  for (some in if (by_one) as.list(batch) else list(batch)) {
    one <- plain_slopes(w, data, some, shape)
    counted <- counted + one$counted
    slopes <- Map(`+`, slopes, one$slopes)
  }
  for (k in names(w)) {
    slope <- slopes[[k]] / counted
    moments$first[[k]] <- 0.9 * moments$first[[k]] + 0.1 * slope
    moments$second[[k]] <- 0.999 * moments$second[[k]] + 0.001 * slope^2
    w[[k]] <- w[[k]] - rate * moments$first[[k]] / (1 - 0.9^step) /
      (sqrt(moments$second[[k]] / (1 - 0.999^step)) + 1e-8)
  }
  list(w = w, moments = moments)
}

plain_slopes <- function(w, data, some, shape) {
  h <- shape[2]
  part <- function(k) (k - 1) * h + seq_len(h)
  lengths <- (data$first[some + 1] - data$first[some])
  longest <- max(lengths)
  n <- length(some)
  path <- vector("list", longest)
  hidden <- cell <- matrix(0, n, h)
  for (t in seq_len(longest)) {
    there <- lengths >= t
    visit <- ifelse(there, data$first[some] + t, NA)
    x <- matrix(0, n, shape[1])
    for (column in c("done", "seen")) {
      on <- which(there & data[[column]][visit] >= 0)
      x[cbind(on, data[[column]][visit[on]] + 1)] <- 1
    }
    sums <- x %*% w$input + hidden %*% w$recurrent + rep(w$gate_bias, each = n)
    gates <- list(i = sigma(sums[, part(1), drop = FALSE]), f = sigma(sums[, part(2), drop = FALSE]),
                  g = tanh(sums[, part(3), drop = FALSE]), o = sigma(sums[, part(4), drop = FALSE]))
    now <- gates$f * cell + gates$i * gates$g
    after <- gates$o * tanh(now)
    dense <- tanh(after %*% w$dense + rep(w$dense_bias, each = n))
    scores <- dense %*% w$output + rep(w$output_bias, each = n)
    law <- exp(scores - apply(scores, 1, max))
    law <- law / rowSums(law)
    done <- data$action[visit]
    path[[t]] <- list(x = x, before = hidden, cell_before = cell, gates = gates, cell = now, hidden = after,
                      dense = dense, law = law, done = done, scored = there & !is.na(done) & done >= 0)
    hidden <- after
    cell <- now
  }
  slopes <- lapply(w, function(x) 0 * x)
  back_hidden <- back_cell <- matrix(0, n, h)
  for (t in rev(seq_len(longest))) {
    at <- path[[t]]
    off <- at$law
    rows <- which(at$scored)
    off[cbind(rows, at$done[rows] + 1)] <- off[cbind(rows, at$done[rows] + 1)] - 1
    off[!at$scored, ] <- 0
    slopes$output <- slopes$output + crossprod(at$dense, off)
    slopes$output_bias <- slopes$output_bias + colSums(off)
    back_dense <- off %*% t(w$output) * (1 - at$dense^2)
    slopes$dense <- slopes$dense + crossprod(at$hidden, back_dense)
    slopes$dense_bias <- slopes$dense_bias + colSums(back_dense)
    back <- back_dense %*% t(w$dense) + back_hidden
    gates <- at$gates
    on <- back_cell + back * gates$o * (1 - tanh(at$cell)^2)
    sums <- cbind(on * gates$g * gates$i * (1 - gates$i), on * at$cell_before * gates$f * (1 - gates$f),
                  on * gates$i * (1 - gates$g^2), back * tanh(at$cell) * gates$o * (1 - gates$o))
    slopes$input <- slopes$input + crossprod(at$x, sums)
    slopes$recurrent <- slopes$recurrent + crossprod(at$before, sums)
    slopes$gate_bias <- slopes$gate_bias + colSums(sums)
    back_hidden <- sums %*% t(w$recurrent)
    back_cell <- on * gates$f
  }
  list(slopes = slopes, counted = sum(vapply(path, function(at) sum(at$scored), 0)))
}

# Weights of the kernel, as matrices.
as_matrices <- function(weights, shape) {
  sizes <- c(input = shape[1] * 4 * shape[2], recurrent = shape[2] * 4 * shape[2], gate_bias = 4 * shape[2],
             dense = shape[2] * shape[3], dense_bias = shape[3], output = shape[3] * shape[4], output_bias = shape[4])
  parts <- split(weights, rep(factor(names(sizes), names(sizes)), sizes))
  rows <- c(input = shape[1], recurrent = shape[2], dense = shape[2], output = shape[3])
  for (k in names(rows)) parts[[k]] <- matrix(parts[[k]], rows[[k]], byrow = TRUE)
  parts
}

as_vector <- function(w) unlist(lapply(w, function(x) if (is.matrix(x)) t(x) else x), use.names = FALSE)

say("== A training step of the network, 64 and 64 units, on batches of 32 patients, one thread on both sides (asked: ",
    "50 times plain R)\n")
words <- own("learned_words")(cohort)
data <- own("rnn_data")(own("learned_visits")(cohort, words), words)
shape <- c(own("rnn_inputs")(words), 64L, 64L, length(words$actions))
set.seed(1)
weights <- own("begin_weights")(shape)
zero <- 0 * weights
steps <- 10L
batches <- replicate(steps, sample.int(length(data$first) - 1L, 32L))
parts <- lapply(list(weights = weights, first = zero, second = zero), matrix)
# What fit_rnn() calls; way 2 is the widest that the processor has, 0 has no special instructions.
by_kernel <- function(data, way) {
  call("ffi_rnn_train", shape, parts, 0, data, as.integer(batches - 1L), 32L, 0.001, 1L, way)
}
by_hand <- function(data, by_one) {
  w <- as_matrices(weights, shape)
  moments <- list(first = lapply(w, function(x) 0 * x), second = lapply(w, function(x) 0 * x))
  for (step in seq_len(steps)) {
    new <- plain_step(w, moments, step, data, batches[, step], shape, 0.001, by_one)
    w <- new$w
    moments <- new$moments
  }
  as_vector(w)
}
# The network goes once through histories that several of a batch have in common, which plain R here does not. So the
# same with what was done and seen at random, where hardly two have.
scrambled <- data
scrambled$done <- sample(unique(data$done[data$done >= 0]), length(data$done), TRUE)
scrambled$seen <- sample(unique(data$seen[data$seen >= 0]), length(data$seen), TRUE)
beside_plain <- function(visits, data, ways) {
  time <- race(c(lapply(ways, function(way) function() by_kernel(data, way)),
                 list(one = function() by_hand(data, TRUE), batch = function() by_hand(data, FALSE))))
  do.call(rbind, lapply(names(ways), function(way) {
    data.frame(visits = visits, instructions = way, ms_per_step = middle(1e3 * time[, way] / steps),
               plain_R_by_patient_takes = middle(time[, "one"] / time[, way]),
               plain_R_by_batch_takes = middle(time[, "batch"] / time[, way]),
               apart = signif(max(abs(by_hand(data, FALSE) - by_kernel(data, ways[[way]])$weights)), 2))
  }))
}
ways <- list(widest = 2L, plain = 0L)
show(rbind(beside_plain("the cohort's", data, ways), beside_plain("all different", scrambled, ways)))
trained <- system.time(fit_rnn(cohort, networks = 1, max_steps = 300, patience = 300, seed = 1, refresh = 0))
say("fit_rnn() in all, with batches drawn and those held out looked at: ",
    signif(1e3 * trained[["elapsed"]] / 300, 3), " ms per step\n")

# ---- cloning from beliefs ------------------------------------------------------------------------------------------

say("== Joint cloning: objective and all slopes, beside finite differences of the same objective (asked: 20 times)\n")
show(do.call(rbind, lapply(2:5, function(states) {
  dynamics <- fit_iohmm(cohort, states = states, starts = 2, prior = 0.5, seed = 1)
  words <- own("learned_words")(cohort)
  rule <- list(sharpness = NULL, centre_sd = 3, sharpness_sd = 3)
  problem <- own("cloning_problem")(dynamics, own("learned_visits")(cohort, words), words, rule)
  set.seed(1)
  at <- c(own("to_weights")(dynamics, problem), own("random_centres")(problem$task), log(10))
  worth <- function(x) call("ffi_iohmm_bc_joint", problem$task, matrix(x), 1L)
  # To one side, as optim() would do it at best. Each objective comes with its slopes, which no caller can leave out:
  # with forward passes alone differences would be several times cheaper (bench/shared/iohmm_bc.R).
  differences <- function() {
    base <- worth(at)$objective
    vapply(seq_along(at), function(i) (worth(replace(at, i, at[i] + 1e-6))$objective - base) / 1e-6, 0)
  }
  time <- race(list(slopes = function() worth(at), differences = differences))
  slope <- worth(at)$slope
  by_differences <- differences()
  moved <- is.finite(by_differences)
  data.frame(states = states, numbers = length(at), ms = middle(1e3 * time[, "slopes"]),
             differences_take = middle(time[, "differences"] / time[, "slopes"]),
             apart = signif(max(abs(by_differences - slope)[moved]) / max(abs(slope)), 2))
})))

# ---- the table -----------------------------------------------------------------------------------------------------

if ("table" %in% commandArgs(TRUE)) {
  say("== The five-fold table on ", length(unique(cohort$RID)), " patients, ", nrow(cohort), " visits\n")
  # Folds and methods are spread over two processes, as the mark is stated for two cores.
  if (requireNamespace("future.apply", quietly = TRUE)) future::plan("multisession", workers = 2)
  took <- system.time(crossed <- cross_validate(cohort, adni_methods()))
  by_method <- stats::aggregate(seconds ~ method, glance(crossed), sum)
  show(by_method[order(by_method$seconds), ])
  say("minutes in all: ", format(took[["elapsed"]] / 60, digits = 3))
  print(accuracy(crossed))
}
