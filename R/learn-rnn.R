#' Behaviour learned by a recurrent network
#'
#' A black box for comparison: a long short-term memory network reads what was done and seen visit by visit, and
#' predicts the next action. It explains nothing. If it predicts better than a fit that explains behaviour, the
#' difference is what that fit leaves unexplained.
#'
#' @details One layer of long short-term memory with `units[1]` units, a dense layer of `units[2]` units with hyperbolic
#'   tangents, and a softmax over the actions. The input at a visit is the action and the observation of the visit
#'   before. Each may be missing, and at the first visit there is neither. Adam trains the weights on the log
#'   probability of the scored actions, with batches of whole trajectories that are drawn again for each step.
#'
#'   A share of the trajectories with scored actions is `held_out`: at least one if there are two or more. Every ten
#'   steps the network predicts them. Training ends when these predictions have not improved for `patience` steps, or
#'   after `max_steps`. The weights that predicted them best are kept. With several `networks`, each has its own random
#'   weights and batches and runs in its own thread, and predictions are the mean of theirs. A network whose weights
#'   are no longer finite numbers is not trained any further, and a warning says so. There is also a warning if a
#'   network predicts the held-out trajectories worse than the action frequencies of the others do. Then the rate is too
#'   high, there are too few steps, or there is nothing to learn.
#'
#'   Training can be interrupted: the result until then is returned, with a warning. `fit_rnn(visits, start = model)`
#'   continues with the same visits, exactly as if there had been no interrupt. It also continues after `max_steps`, if
#'   that is raised. On one machine the same seed gives the same network to the last digit. Some processors round a
#'   product and a sum together, and this is used if they can. Their last digits differ from those of others, and over
#'   thousands of steps the difference may grow. An interrupt before the first ten steps is an error of class
#'   `ibrc_error_interrupted`.
#'
#' @param visits Trajectories ([trajectories()]).
#' @param units Sizes of the two layers.
#' @param networks How many networks to train.
#' @param rate The learning rate of Adam.
#' @param batch Trajectories in a batch.
#' @param held_out Share of the trajectories that decide when to stop, between 0 and 1; 0 trains for `max_steps`.
#' @param patience Training ends after this many steps without a better prediction of the held-out trajectories.
#' @param max_steps The most steps.
#' @param actions,observations Names of all that may be done and seen, see [fit_baseline()].
#' @param start A model that [fit_rnn()] returned, to continue with. The other arguments must be the same as before,
#'   except `max_steps`.
#' @param cores Threads: one per network or, with more threads than networks, several for batches of more than 32
#'   trajectories. Results do not depend on it.
#' @param seed A number that decides weights, batches and which trajectories are held out. The session's generator is
#'   left as it was; `NULL` takes one number from it.
#' @param refresh Steps between messages, 0 for none. By default 1,000 in an interactive session.
#' @return An object of class `ibrc_rnn`, for which [predict()][predict.ibrc_learned] and
#'   [log_lik()][predict.ibrc_learned] work. `tidy()` gives the loss over the steps, and `glance()` gives one row about
#'   the model.
#' @family decision models
#' @export
#' @examples
#' plan <- plan_agent(diag_setting(), bounded_agent(alpha = 0.5), diag_models(), resolution = 20)
#' visits <- simulate(plan, nsim = 60, seed = 1)
#' model <- fit_rnn(visits, units = c(8, 8), networks = 1, rate = 0.01, max_steps = 100, seed = 1)
#' model
#' head(predict(model, visits))
fit_rnn <- function(visits, units = c(64, 64), networks = 2, rate = 0.001, batch = 32, held_out = 0.1, patience = 100,
                    max_steps = 5000, actions = NULL, observations = NULL, start = NULL,
                    cores = getOption("ibrc.cores", 1), seed = NULL, refresh = default_refresh()) {
  check_given(visits)
  check_visits(visits)
  shape <- check_units(units)
  run <- list(networks = check_count(networks, "networks", most = 100), rate = check_positive(rate, "rate"),
              batch = check_count(batch, "batch"), held_out = check_share(held_out, "held_out"),
              patience = check_count(patience, "patience"), max_steps = check_count(max_steps, "max_steps"))
  words <- learned_words(visits, actions, observations)
  if (!is.null(start)) check_class(start, "ibrc_rnn", "start", "fit_rnn()")
  cores <- check_count(cores, "cores")
  if (!is.null(seed)) seed <- check_seed(seed)
  refresh <- check_count(refresh, "refresh", least = 0)
  coded <- learned_visits(visits, words)
  check_teaching(coded)
  data <- rnn_data(coded, words)
  hash <- rnn_hash(data, words)
  shape <- c(rnn_inputs(words), shape, length(words$actions))
  state <- if (is.null(start)) begin_rnn(shape, data, run, settle_seed(seed)) else
    take_up_rnn(start, shape, run, hash)
  state <- train_rnn(state, shape, data, run, cores, refresh)
  out <- structure(list(words = words, shape = shape, run = run, state = state, taught = taught_by(coded), hash = hash),
                   class = c("ibrc_rnn", "ibrc_learned"))
  if (!state$interrupted) warn_poor_rnn(state, data, length(words$actions))
  if (state$interrupted) {
    warn("interrupted", "Training was interrupted after ", plural(max(state$steps), "step"),
         ": fit_rnn(visits, start = ) continues with the model that was returned.")
  }
  out
}

check_units <- function(units) {
  if (!is.numeric(units) || length(units) != 2) {
    abort_input("units", "must be two whole numbers, not ", describe(units), ".")
  }
  vapply(unname(units), check_count, 0L, argument = "units", most = 4096)
}

check_share <- function(x, argument) {
  x <- check_number(x, argument)
  if (x < 0 || x >= 1) abort_input(argument, "must be at least 0 and less than 1.")
  x
}

# ---- data ----------------------------------------------------------------------------------------------------------

# The number of inputs: actions, one for a missing action, observations, and one for a missing observation.
rnn_inputs <- function(words) length(words$actions) + length(words$observations) + 2L

rnn_data <- function(coded, words) {
  n <- length(words$actions)
  done <- earlier(coded$action, coded$place, 1L, n) - 1L
  seen <- earlier(coded$observation, coded$place, 1L, length(words$observations)) - 1L
  seen[seen >= 0] <- seen[seen >= 0] + n + 1L
  action <- coded$action
  action[!coded$scored] <- -1L
  first <- c(which(coded$place == 1L) - 1L, length(action))
  list(first = as.integer(first), done = as.integer(done), seen = as.integer(seen), action = as.integer(action))
}

# Training may continue only with the same data and words.
rnn_hash <- function(data, words) fingerprint_of(list(data, words))

# ---- training ------------------------------------------------------------------------------------------------------

# Glorot's uniform weights. All biases are 0 except that of the forget gate, which is 1, so that at first the network
# keeps what it remembers.
begin_weights <- function(shape) {
  n_in <- shape[1]
  hidden <- shape[2]
  dense <- shape[3]
  out <- shape[4]
  glorot <- function(from, to, size) stats::runif(size, -1, 1) * sqrt(6 / (from + to))
  c(glorot(n_in, hidden, n_in * 4 * hidden), glorot(hidden, hidden, hidden * 4 * hidden),
    rep(c(0, 1, 0, 0), each = hidden), glorot(hidden, dense, hidden * dense), numeric(dense),
    glorot(dense, out, dense * out), numeric(out))
}

begin_rnn <- function(shape, data, run, seed) {
  streams <- streams_from_seed(seed, run$networks + 1L)
  able <- teaching_trajectories(data)
  aside <- if (run$held_out > 0) min(max(1, floor(run$held_out * length(able))), length(able) - 1) else 0
  held <- if (aside > 0) with_stream(streams[[1]], sort(able[sample.int(length(able), aside)])) else integer()
  begun <- lapply(streams[-1], function(stream) {
    with_stream(stream, {
      weights <- begin_weights(shape)
      list(weights = weights, stream = get(".Random.seed", envir = globalenv(), inherits = FALSE))
    })
  })
  weights <- vapply(begun, `[[`, begun[[1]]$weights, "weights")
  list(weights = weights, first = 0 * weights, second = 0 * weights, streams = lapply(begun, `[[`, "stream"),
       steps = numeric(run$networks), best = weights, best_loss = rep(Inf, run$networks),
       best_step = numeric(run$networks), held = held, history = NULL, since = NULL, interrupted = FALSE)
}

# The numbers of the trajectories in which some action counts. The others are used neither for training nor for judging.
teaching_trajectories <- function(data) {
  which(as.vector(rowsum((data$action >= 0) + 0, rep(seq_along(diff(data$first)), diff(data$first)))) > 0)
}

take_up_rnn <- function(start, shape, run, hash) {
  same <- identical(start$shape, shape) && identical(start$hash, hash) &&
    identical(start$run[names(run) != "max_steps"], run[names(run) != "max_steps"])
  if (!same) {
    abort_input("start", "was made from other visits or with other arguments: training cannot continue. Give the same ",
                "ones, or leave `start` out.")
  }
  state <- start$state
  # The check at the end of a run may lie between two checks of a longer run. It is undone before training continues.
  if (!is.null(state$before)) state[names(state$before)] <- state$before
  state$before <- NULL
  state$interrupted <- FALSE
  state
}

# Kernels use the widest vector instructions that the processor has, up to this width (src/wide.h).
widest_way <- 2L

# Steps between two checks on the held-out trajectories.
rnn_steps_at_once <- 10L

still_training <- function(state, run) {
  state$steps < run$max_steps & (!length(state$held) | state$steps - state$best_step < run$patience) &
    is.finite(colSums(state$weights))
}

train_rnn <- function(state, shape, data, run, cores, refresh) {
  others <- setdiff(teaching_trajectories(data), state$held)
  aside <- some_trajectories(data, state$held)
  said <- 0
  tryCatch({
    while (any(active <- still_training(state, run))) {
      # An interrupt leaves the state as it was before.
      state <- train_some(state, which(active), others, aside, shape, data, run, cores)
      done <- max(state$steps)
      if (refresh > 0 && done - said >= refresh) {
        said <- done
        tell(message("step ", done, ", mean loss of those held out ", format_number(min(state$best_loss))))
      }
    }
  }, interrupt = function(condition) state$interrupted <<- TRUE)
  if (all(state$steps == 0)) {
    abort("interrupted", "Training was interrupted before its first ", rnn_steps_at_once, " steps; nothing is learned.")
  }
  state
}

# A few steps of the networks that are still in training, and a check on the held-out trajectories.
train_some <- function(state, which, others, aside, shape, data, run, cores) {
  n <- min(rnn_steps_at_once - state$steps[which] %% rnn_steps_at_once, run$max_steps - state$steps[which])
  drawn <- lapply(state$streams[which], function(stream) {
    with_stream(stream, {
      # sample() with one number would draw from all numbers up to it.
      batches <- replicate(n, others[sample.int(length(others), min(run$batch, length(others)))])
      list(batches = batches, stream = get(".Random.seed", envir = globalenv(), inherits = FALSE))
    })
  })
  batches <- as.integer(unlist(lapply(drawn, `[[`, "batches")) - 1L)
  state$streams[which] <- lapply(drawn, `[[`, "stream")
  parts <- state[c("weights", "first", "second")]
  every <- length(which) == length(state$steps)
  if (!every) parts <- lapply(parts, function(x) x[, which, drop = FALSE])
  new <- .Call(ffi_rnn_train, shape, parts, state$steps[which], data, batches, min(run$batch, length(others)), run$rate,
               cores, widest_way)
  for (part in names(parts)) {
    if (every) state[[part]] <- new[[part]] else state[[part]][, which] <- new[[part]]
  }
  state$steps[which] <- state$steps[which] + n
  losses <- matrix(NA_real_, n, ncol(state$weights))
  losses[, which] <- new$loss
  state$since <- rbind(state$since, losses)
  look_at_held(state, which, shape, aside)
}

# `since` [step, network]: the training loss at the steps since the last check.
look_at_held <- function(state, which, shape, aside) {
  early <- nrow(state$since) < rnn_steps_at_once
  if (early) state$before <- state[c("best", "best_loss", "best_step", "history", "since")]
  for (network in which) {
    loss <- mean(state$since[, network])
    judged <- if (length(state$held)) held_loss(state$weights[, network], shape, aside) else NA_real_
    state$history <- rbind(state$history, c(network = network, step = state$steps[network], trained = loss,
                                            held_out = judged))
    # If nothing is held out, the last weights are kept. Those of a network that has diverged are never kept.
    better <- if (length(state$held)) judged < state$best_loss[network] else is.finite(loss)
    if (isTRUE(better) && all(is.finite(state$weights[, network]))) {
      state$best[, network] <- state$weights[, network]
      state$best_step[network] <- state$steps[network]
      state$best_loss[network] <- if (length(state$held)) judged else loss
    }
  }
  state["since"] <- list(NULL)
  state
}

# Mean loss per action of trajectories.
held_loss <- function(weights, shape, data) {
  counted <- which(data$action >= 0)
  law <- .Call(ffi_rnn_predict, shape, weights, data, widest_way)
  -mean(law[cbind(data$action[counted] + 1L, counted)])
}

# The same for the frequencies of all `n` actions in the other trajectories, with one more count.
frequency_loss <- function(state, data, n) {
  counted <- function(which) {
    action <- some_trajectories(data, which)$action
    action[action >= 0]
  }
  share <- tabulate(counted(setdiff(teaching_trajectories(data), state$held)) + 1L, n) + 1 / n
  -mean(log(share / sum(share))[counted(state$held) + 1L])
}

warn_poor_rnn <- function(state, data, n_actions) {
  lost <- sum(!is.finite(colSums(state$weights)))
  if (lost) {
    warn("convergence", "The weights of ", lost, " of ", plural(ncol(state$weights), "network"), " became infinite; ",
         "the best weights before that are kept. Give a lower `rate`.")
  }
  if (!length(state$held)) return(invisible())
  loss <- frequency_loss(state, data, n_actions)
  if (any(state$best_loss > loss)) {
    warn("convergence", "The network predicts held-out trajectories worse than action frequencies do (mean log score ",
         format_number(-max(state$best_loss)), " against ", format_number(-loss), "). Give a lower `rate`, more ",
         "`patience` or more steps; or there is nothing to learn.")
  }
}

some_trajectories <- function(data, which) {
  lengths <- diff(data$first)[which]
  rows <- sequence(lengths, from = data$first[which] + 1L)
  list(first = as.integer(c(0L, cumsum(lengths))), done = data$done[rows], seen = data$seen[rows],
       action = data$action[rows])
}

# ---- its face --------------------------------------------------------------------------------------------------------

action_law_of.ibrc_rnn <- function(object, coded) {
  data <- rnn_data(coded, object$words)
  laws <- lapply(seq_len(ncol(object$state$best)), function(network) {
    exp(t(.Call(ffi_rnn_predict, object$shape, object$state$best[, network], data, widest_way)))
  })
  law <- Reduce(`+`, laws) / length(laws)
  colnames(law) <- object$words$actions
  law / rowSums(law)
}

#' @export
format.ibrc_rnn <- function(x, ...) {
  n <- ncol(x$state$best)
  ends <- still_training(x$state, x$run)
  held <- if (length(x$state$held)) {
    paste0(plural(length(x$state$held), "trajectory", "trajectories"), ", mean log score ",
           listing(format_number(-x$state$best_loss)))
  } else {
    "none, so that training could not end early"
  }
  c(paste0("A recurrent network of ", x$shape[2], " and ", x$shape[3], " units",
           if (n > 1) paste0(", the mean of ", n)),
    paste0("  trained       ", listing(plural_steps(x$state$steps)), if (any(ends)) ", interrupted"),
    paste0("  held out      ", held), taught_words(x$taught))
}

plural_steps <- function(steps) paste(format_count(steps), "steps")

#' @export
tidy.ibrc_rnn <- function(x, ...) {
  check_unused(...)
  as.data.frame(x$state$history)
}

#' @export
glance.ibrc_rnn <- function(x, ...) {
  check_unused(...)
  data.frame(networks = ncol(x$state$best), parameters = nrow(x$state$best), steps = max(x$state$steps),
             held_out = length(x$state$held), loss = mean(x$state$best_loss), interrupted = x$state$interrupted,
             trajectories = x$taught$trajectories, visits = x$taught$visits, scored = x$taught$scored)
}
