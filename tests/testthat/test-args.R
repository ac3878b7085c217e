# What R hands to C is looked at there once more: a number that a kernel would follow out of its arrays is an error
# for developers, and never a crash.

setting <- diag_setting()
plan <- plan_agent(setting, bounded_agent(0.5), diag_models(), resolution = 10)
visits <- simulate(plan, 30, seed = 1)
tree <- build_histories(code_visits(visits, setting), setting)
stack <- stack_models(plan$models)
read <- function(tree, models = stack, from = plan, start = c(0.5, 0.5)) {
  .Call(ffi_loglik, from, models, tree, start, 1L)
}
changed <- function(x, ...) {
  changes <- list(...)
  for (field in names(changes)) x[field] <- changes[field]
  x
}
batch <- new_evaluator(plan, list(tree), 1L, ibrc_prior(alpha ~ lognormal(0, 1)), list(), 1e-8, 1L)$batch
evaluate <- function(batch, which = 0L, prior = rep(1 / 3, 3)) {
  .Call(ffi_evaluate, batch, matrix(c(0.5, Inf, 0, 0.95, 0, prior), 8), NULL, matrix(0, 11, 1), which, 1L)
}

bad_trees <- function() {
  at <- function(field, place, value) {
    x <- tree
    x[[field]][place] <- value
    x
  }
  n <- tree$n_histories
  c(
    lapply(list(-1L, -2L, NA, n, 1000000L), function(value) at("parent", 3, as.integer(value))),
    list(at("parent", 1, 0L), at("parent", 1, -2L), at("parent", n, n - 1L)),
    lapply(c(-1L, 3L, NA, 1000000L), function(value) at("action", 2, value)),
    lapply(c(-2L, 2L, NA, 1000000L), function(value) at("observation", n, value)),
    lapply(c(-1, NaN, Inf, NA), function(value) at("count", 5, value)),
    lapply(c(-1L, 0L, NA, n + 1L, .Machine$integer.max), function(value) changed(tree, n_histories = value)),
    lapply(c(-1L, 0L, 2L, 1000L), function(value) changed(tree, n_actions = value)),
    lapply(list(1L, -1L, NA_integer_, c(0L, 1L), integer(), 0, integer(n + 1)), function(value) {
      changed(tree, start = value)
    }),
    list(changed(tree, parent = tree$parent[-1]), changed(tree, parent = as.numeric(tree$parent)), tree["parent"], NULL)
  )
}

test_that("every tree that enters C is looked at", {
  expect_true(is.finite(read(tree)$total))
  expect_true(is.finite(evaluate(batch)$log_likelihood))
  for (bad in bad_trees()) {
    expect_error(read(bad), "internal")
    expect_error(evaluate(changed(batch, histories = list(bad))), "internal")
  }
  # One that nobody asks for is not, and one that is not there cannot be asked for.
  expect_true(is.finite(evaluate(changed(batch, histories = list(tree, bad_trees()[[1]])))$log_likelihood))
  for (which in c(-1L, 1L, NA)) expect_error(evaluate(batch, which), "no such tree")
  expect_error(evaluate(changed(batch, histories = 1L)), "internal")
})

test_that("trees of visits that a model is learned from pass the same check", {
  coded <- code_visits(visits, setting)
  nodes <- list(n_nodes = 2L, parent = c(-1L, 0L), action = c(-1L, 0L), observation = c(-1L, 0L), start = c(0L, -1L),
                through = c(1, 1), ends = c(0, 1))
  laws <- c(stack[c("n_states", "n_actions", "n_obs")], list(n_models = 1L, start = c(0.5, 0.5),
                                                             transition = stack$transition[1:12],
                                                             emission = stack$emission[1:12]))
  expect_identical(.Call(ffi_iohmm_expect, nodes, laws)$code, 0L)
  for (bad in list(changed(nodes, parent = c(-1L, 1L)), changed(nodes, parent = c(0L, 0L)),
                   changed(nodes, parent = c(-1L, NA)), changed(nodes, parent = c(-1L, -2L)),
                   changed(nodes, action = c(-1L, 3L)), changed(nodes, observation = c(-1L, 2L)),
                   changed(nodes, start = c(1L, -1L)), changed(nodes, start = c(-1L, -1L)), changed(nodes, start = 0L),
                   changed(nodes, n_nodes = -1L), changed(nodes, n_nodes = 0L))) {
    expect_error(.Call(ffi_iohmm_expect, bad, laws), "internal")
  }
  for (bad in list(changed(laws, n_states = -2L), changed(laws, n_models = 0L), changed(laws, start = c(0.5, NaN)),
                   changed(laws, start = rep(0.5, 3)))) {
    expect_error(.Call(ffi_iohmm_expect, nodes, bad), "internal")
  }
})

test_that("an action prior is made of probabilities", {
  for (prior in list(c(-0.1, 0.6, 0.5), c(NaN, 0.5, 0.5), c(Inf, 0, 0))) {
    expect_error(evaluate(batch, prior = prior), "out of range")
  }
  expect_false(identical(evaluate(batch, prior = c(0.2, 0.3, 0.5)), evaluate(batch)))
})

test_that("a habit is finite, and has values after each action", {
  parameters <- function(habit) matrix(c(0.5, Inf, 0, 0.95, habit, rep(1 / 3, 3)), 8)
  at <- function(habit, rows) .Call(ffi_evaluate, batch, parameters(habit), NULL, matrix(0, rows, 1), 0L, 1L)
  for (habit in c(NaN, Inf, -Inf, NA)) expect_error(at(habit, 33), "out of range")
  expect_error(at(1, 11), "out of range")
  expect_error(at(1, 22), "length")
  expect_identical(at(1, 33)$code, 0L)
  # Without one, values are the same after any action, and so is all else.
  expect_identical(at(0, 33)$log_likelihood, at(0, 11)$log_likelihood)
  expect_identical(matrix(at(0, 33)$value, 11), matrix(at(0, 11)$value, 11, 3))
  problem <- changed(plan$problem, habit = 1)
  expect_error(.Call(ffi_solve, plan$tables, problem, numeric(11), 1e-8, 100L, 1L), "length")
  for (habit in list(NaN, Inf, 1L, "x", c(1, 1))) {
    expect_error(.Call(ffi_solve, plan$tables, changed(plan$problem, habit = habit), numeric(33), 1e-8, 100L, 1L),
                 "internal")
  }
  by_last <- array(1 / 3, c(3, 11, 4))
  expect_error(.Call(ffi_terms, plan$tables, plan$problem, by_last, plan$solution$sigma), "no habit")
  expect_error(.Call(ffi_policy_value, plan$tables, plan$problem, by_last, plan$solution$sigma, 1e-8, 100L, 1L),
               "no habit")
})

test_that("sizes are positive and agree, and laws are numbers", {
  for (bad in list(changed(stack, n_states = -2L), changed(stack, n_states = 2147483647L), changed(stack, n_obs = 0L),
                   changed(stack, n_models = -3L), changed(stack, n_actions = 1L),
                   changed(stack, transition = replace(stack$transition, 1, NaN)),
                   changed(stack, emission = replace(stack$emission, 2, -0.1)),
                   changed(stack, emission = replace(stack$emission, 2, Inf)))) {
    expect_error(read(tree, bad), "internal")
    expect_error(.Call(ffi_table_build, bad, plan$space, 1L, 1L), "internal")
  }
  expect_error(read(tree, start = c(0.5, NaN)), "internal")
  expect_error(read(tree, start = c(-1, 2)), "internal")
  one <- stack_models(own_model(setting))
  expect_error(read(tree, one), "another problem")
  expect_error(evaluate(changed(batch, models = one)), "another problem")
  expect_error(evaluate(changed(batch, space = lattice_space(2, 9))), "another space")
  expect_error(evaluate(changed(batch, space = lattice_space(3, 10))), "another space")
  expect_error(read(tree, from = changed(plan, space = lattice_space(3, 10))), "internal")
  for (bad in list(changed(plan$tables, n_nodes = -11L), changed(plan$tables, n_actions = 0L),
                   changed(plan$tables, n_models = 2147483647L),
                   changed(plan$tables, row_start = -plan$tables$row_start - 1L),
                   changed(plan$tables, coarse_node = seq_len(1000L)))) {
    expect_error(.Call(ffi_solve, bad, plan$problem, numeric(11), 1e-8, 100L, 1L), "internal")
  }
  for (beliefs in list(c(NaN, 1), c(-1, 2), c(0.5, Inf))) {
    expect_error(.Call(ffi_policy, plan, matrix(beliefs), -1L), "internal")
    expect_error(.Call(ffi_space_locate, plan$space, matrix(beliefs)), "internal")
  }
  expect_error(.Call(ffi_policy, plan, matrix(c(0.2, 0.3, 0.5)), -1L), "another space")
  for (last in list(3L, -2L, NA_integer_, 0, c(0L, 0L))) {
    expect_error(.Call(ffi_policy, plan, matrix(c(0.5, 0.5)), last), "internal")
  }
  expect_error(.Call(ffi_space_locate, plan$space, matrix(c(0.2, 0.3, 0.5))), "internal")
  for (bad in list(changed(plan$space, n_states = -2L), changed(plan$space, n_states = 1L),
                   changed(plan$space, resolution = -10L), changed(plan$space, resolution = .Machine$integer.max),
                   changed(plan$space, kind = "sphere"), changed(plan$space, kind = 1L), list(), NULL)) {
    expect_error(.Call(ffi_space_nodes, bad), "internal")
    expect_error(.Call(ffi_space_locate, bad, matrix(c(0.5, 0.5))), "internal")
    expect_error(.Call(ffi_table_build, stack, bad, 1L, 1L), "internal")
  }
})

test_that("transitions by rows are rows, of states that there are", {
  states <- c("a", "b", "c")
  steps <- data.frame(from = c(1, 1, 2, 3), to = c(1, 2, 3, 1), action = 1, probability = c(0.5, 0.5, 1, 1))
  seen <- decision_setting(states, "go", states, steps, "identity", matrix(1:3), discount = 0.9)
  walk <- plan_agent(seen, bounded_agent(1))
  rows <- stack_models(own_model(seen))
  visits <- simulate(walk, 5, seed = 1, horizon = 4)
  path <- build_histories(code_visits(visits, seen), seen)
  expect_true(is.finite(read(path, rows, walk, seen$start)$total))
  for (bad in list(changed(rows, row_start = c(1L, rows$row_start[-1])), changed(rows, row_start = rev(rows$row_start)),
                   changed(rows, row_start = rows$row_start[-1]), changed(rows, row_start = c(0L, 2L, 2L, 4L)),
                   changed(rows, row_start = replace(rows$row_start, 2, NA)), changed(rows, to = rows$to[-1]),
                   changed(rows, to = replace(rows$to, 2, 3L)), changed(rows, to = replace(rows$to, 1, -1L)),
                   changed(rows, to = replace(rows$to, 1:2, 1:0)), changed(rows, to = replace(rows$to, 2, NA)),
                   changed(rows, chance = replace(rows$chance, 1, NaN)), changed(rows, chance = rows$chance[-1]),
                   changed(rows, n_obs = 2L), changed(rows, n_states = 2L), changed(rows, n_actions = 2L))) {
    expect_error(read(path, bad, walk, seen$start), "internal")
    expect_error(.Call(ffi_table_build, bad, walk$space, 1L, 1L), "internal")
    expect_error(.Call(ffi_rollout, walk, rows, bad, c(1, 0, 0), c(1, 0, 0), 0L, 0L, 2L, matrix(0.5, 7), 1L),
                 "internal")
  }
  # Rows have no place on a lattice, and states that are seen none in an input-output model.
  expect_error(.Call(ffi_table_build, rows, lattice_space(3, 4), 1L, 1L), "another space")
  nodes <- list(n_nodes = 1L, parent = -1L, action = -1L, observation = -1L, start = 0L, through = 1, ends = 1)
  expect_error(.Call(ffi_iohmm_expect, nodes, c(rows, list(start = c(1, 0, 0)))), "internal")
  expect_error(.Call(ffi_recognise, walk, rows, NULL, 0L, 0L), "no beliefs")
  path$observation[1] <- 0L
  expect_error(read(path, rows, walk, seen$start), "internal")
})

test_that("unrolled backups go over rows of one model, and what comes with them has its sizes", {
  seen <- stack_models(own_model(with_seed(1, random_markov(3, 2))))
  forward <- function(models = seen, utility = matrix(0, 3, 2), value = numeric(3), n = 2L) {
    .Call(ffi_unroll_forward, models, utility, 0.9, 1, value, n)
  }
  expect_identical(dim(forward()$values), c(3L, 3L))
  expect_error(forward(stack), "internal")
  expect_error(forward(changed(seen, to = rep(3L, length(seen$to)))), "internal")
  expect_error(forward(utility = matrix(0, 2, 2)), "internal")
  expect_error(forward(value = numeric(2)), "internal")
  for (n in list(0L, -1L, NA_integer_, 1.5, .Machine$integer.max)) expect_error(forward(n = n), "internal")
  reverse <- function(models = seen, values = matrix(0, 3, 2), slope = numeric(3), weights = NULL) {
    .Call(ffi_unroll_reverse, models, matrix(0, 3, 2), 0.9, 1, values, slope, weights)
  }
  expect_length(reverse()$transition, length(seen$to))
  expect_error(reverse(stack), "internal")
  for (bad in list(numeric(3), matrix(0, 3, 0), matrix(0, 2, 2))) expect_error(reverse(values = bad), "internal")
  expect_error(reverse(slope = numeric(2)), "internal")
  expect_error(reverse(weights = numeric(2)), "internal")
})

test_that("histories have numbers that there are, and learning begins somewhere", {
  truth <- stack_models(own_model(setting))
  learner <- list(memory = 2L, utility = unname(setting$utility), discount = 0.95, exploration = 0.5, initial = 0,
                  episode = 5L)
  table <- list(key = c(0, 3), action_value = matrix(0, 3, 2), tried = matrix(0, 3, 2))
  walk <- list(state = 0L, history = 0, visit = 0L)
  learn <- function(by = learner, models = truth, start = c(0.5, 0.5), met = table, from = walk,
                    noise = matrix(0.5, 5, 4)) {
    .Call(ffi_recall_learn, by, models, start, met, from, noise)
  }
  expect_identical(sum(learn()$tried), 4)
  for (bad in list(changed(learner, memory = 0L), changed(learner, memory = 60L), changed(learner, episode = 0L),
                   changed(learner, utility = numeric(2)), list())) {
    expect_error(learn(bad), "internal")
  }
  expect_error(learn(models = stack), "internal")
  expect_error(learn(start = c(0.5, NaN)), "internal")
  for (key in list(c(0, 49), c(0, -1), c(0, 1.5), c(0, NaN), c(0, Inf), 0, c(0L, 3L))) {
    expect_error(learn(met = changed(table, key = key)), "internal")
  }
  for (bad in list(changed(walk, state = 2L), changed(walk, state = -1L), changed(walk, history = 49),
                   changed(walk, history = NaN), changed(walk, visit = -1L), changed(walk, visit = NA_integer_))) {
    expect_error(learn(from = bad), "internal")
  }
  for (noise in list(numeric(5), matrix(0.5, 4, 5), matrix(NaN, 5, 1), matrix(2, 5, 1), matrix(-1, 5, 1))) {
    expect_error(learn(noise = noise), "internal")
  }
  known <- list(key = 0, policy = matrix(1 / 3, 3, 1), otherwise = rep(1 / 3, 3))
  roll <- function(met = known, which = 0L, stops = integer(3), horizon = 2L, noise = matrix(0.5, 7, 1)) {
    .Call(ffi_recall_rollout, learner, truth, c(0.5, 0.5), met, which, stops, horizon, noise)
  }
  expect_identical(roll()$length, 2L)
  for (bad in list(changed(known, key = 49), changed(known, policy = numeric(2)), changed(known, otherwise = 1),
                   changed(known, policy = rep(NaN, 3)))) {
    expect_error(roll(bad), "internal")
  }
  for (which in list(1L, -1L, NA_integer_, integer(), 0)) expect_error(roll(which = which), "internal")
  expect_error(roll(horizon = 0L), "internal")
  expect_error(roll(stops = 0L), "internal")
  expect_error(roll(noise = matrix(0.5, 6, 1)), "internal")
})

test_that("Q-learning begins in a state that there is, and its noise is below 1", {
  markov <- with_seed(1, random_markov(3, 2))
  learner <- list(utility = as.vector(t(markov$utility)), prior = c(0.5, 0.5), temperature = 0, bonus = 0,
                  discount = 0.9, exploration = 0.5, patience = 10, power = 1, episode = 5L)
  progress <- list(action_value = matrix(0, 2, 3), tries = matrix(0, 2, 3), state = 0L, made = 0L)
  learn <- function(noise = rep(0.5, 12), from = progress, by = learner) {
    .Call(ffi_qlearn, by, stack_models(own_model(markov)), from, noise)
  }
  expect_identical(sum(learn()$tries), 4)
  for (noise in c(-1e-9, 1, 2, 1e300, NaN, NA, Inf, -Inf)) expect_error(learn(c(0, 0.5, noise)), "internal")
  expect_error(learn(numeric(4)), "internal")
  for (bad in list(changed(progress, state = 3L), changed(progress, state = -1L), changed(progress, made = -1L),
                   changed(progress, tries = matrix(0, 2, 2)), list())) {
    expect_error(learn(from = bad), "internal")
  }
  for (bad in list(changed(learner, patience = 0), changed(learner, power = -1), changed(learner, episode = 0L),
                   changed(learner, utility = numeric(2)), list())) {
    expect_error(learn(by = bad), "internal")
  }
})

test_that("networks have layers, and inputs, actions and trajectories that there are", {
  one <- with_seed(1, random_rnn())
  n <- length(one$weights)
  networks <- list(weights = matrix(one$weights), first = matrix(0, n), second = matrix(0, n))
  predict <- function(shape = one$shape, weights = one$weights, data = one$data) {
    .Call(ffi_rnn_predict, shape, weights, data, 2L)
  }
  gradient <- function(shape = one$shape, weights = one$weights, data = one$data, which = 0:10) {
    .Call(ffi_rnn_gradient, shape, weights, data, which, 1L, 2L)
  }
  train <- function(shape = one$shape, data = one$data, state = networks, steps = 0, batches = 0:9, n_batch = 5L) {
    .Call(ffi_rnn_train, shape, state, steps, data, batches, n_batch, 0.01, 1L, 2L)
  }
  expect_identical(dim(predict()), c(3L, length(one$data$action)))
  expect_length(gradient()$gradient, n)
  expect_identical(dim(train()$loss), c(2L, 1L))
  for (shape in list(c(7L, 3L, 4L), c(7, 3, 4, 3), c(7L, 0L, 4L, 3L), c(-7L, 3L, 4L, 3L), c(7L, NA, 4L, 3L),
                     c(7L, 3L, 4L, .Machine$integer.max), c(8L, 3L, 4L, 3L), NULL)) {
    for (entry in list(predict, gradient, train)) expect_error(entry(shape), "internal")
  }
  first <- one$data$first
  last <- length(first)
  for (bad in list(changed(one$data, first = 0L), changed(one$data, first = first + 1L),
                   changed(one$data, first = as.numeric(first)), changed(one$data, first = rev(first)),
                   changed(one$data, first = replace(first, 3, first[2])),
                   changed(one$data, first = replace(first, 3, NA)),
                   changed(one$data, first = replace(first, last, .Machine$integer.max)),
                   changed(one$data, done = replace(one$data$done, 1, 7L)),
                   changed(one$data, done = one$data$done[-1]),
                   changed(one$data, seen = replace(one$data$seen, 1, -2L)),
                   changed(one$data, seen = replace(one$data$seen, 1, NA)),
                   changed(one$data, action = replace(one$data$action, 1, 3L)), list(), NULL)) {
    for (entry in list(predict, gradient, train)) expect_error(entry(data = bad), "internal")
  }
  for (weights in list(one$weights[-1], as.integer(one$weights), NULL)) {
    expect_error(predict(weights = weights), "internal")
    expect_error(gradient(weights = weights), "internal")
  }
  for (which in list(-1L, 11L, NA_integer_, 0)) {
    expect_error(gradient(which = which), "internal")
    expect_error(train(batches = rep(which, 5)), "internal")
  }
  for (n_batch in list(0L, -1L, NA_integer_, 3L, 11L, 5)) expect_error(train(n_batch = n_batch), "internal")
  for (steps in list(numeric(), c(0, 0, 0), 0L)) expect_error(train(steps = steps), "internal")
  for (bad in list(changed(networks, first = numeric(1)), networks["weights"], NULL)) {
    expect_error(train(state = bad), "internal")
  }
})

test_that("clones have a tree, what was done at each of its nodes, and parameters of their size", {
  one <- with_seed(1, random_clone(vectors = 2))
  joint <- function(task = one$task, x = one$x, threads = 1L) .Call(ffi_iohmm_bc_joint, task, x, threads)
  n <- one$task$tree$n_nodes
  choice <- function(task = one$task, beliefs = matrix(1 / 3, 3, n), x = numeric(7)) {
    .Call(ffi_iohmm_bc_choice, task, beliefs, x, 1L)
  }
  expect_identical(dim(joint()$slope), dim(one$x))
  expect_identical(dim(choice()$slope), c(7L, 1L))
  for (x in list(one$x[-1, ], numeric(), NULL, "a", array(0L, dim(one$x)))) expect_error(joint(x = x), "internal")
  for (x in list(numeric(8), numeric(), NULL, integer(7))) expect_error(choice(x = x), "internal")
  for (beliefs in list(matrix(1 / 3, 3, n - 1), matrix(-1, 3, n), matrix(NaN, 3, n), numeric(), NULL)) {
    expect_error(choice(beliefs = beliefs), "internal")
  }
  both <- list(changed(one$task, n_states = 0L), changed(one$task, n_actions = 3L),
               changed(one$task, n_states = NA_integer_), changed(one$task, n_states = .Machine$integer.max),
               changed(one$task, chosen = one$task$chosen[, -1]), changed(one$task, chosen = -one$task$chosen - 1),
               changed(one$task, centre_sd = 0), changed(one$task, centre_sd = NaN),
               changed(one$task, log_sharpness_sd = -1), changed(one$task, fixed = "no"), list(), NULL)
  for (bad in both) {
    expect_error(joint(bad), "internal")
    expect_error(choice(bad), "internal")
  }
  tree <- one$task$tree
  prior <- one$task$prior
  for (bad in list(changed(one$task, n_obs = 3L), changed(one$task, tree = list()), changed(one$task, prior = list()),
                   changed(one$task, tree = changed(tree, parent = rev(tree$parent))),
                   changed(one$task, tree = changed(tree, action = tree$action + 2L)),
                   changed(one$task, tree = changed(tree, observation = tree$observation + 4L)),
                   changed(one$task, tree = changed(tree, through = tree$through - 100)),
                   changed(one$task, tree = changed(tree, n_nodes = n + 1L)),
                   changed(one$task, prior = changed(prior, possible = integer(8))),
                   changed(one$task, prior = changed(prior, emission = rep(-1, 8))))) {
    expect_error(joint(bad), "internal")
  }
})
