test_that("DIAG matches the independent solution", {
  reference <- utils::read.csv(reference_file("diag_forward.csv"))
  beliefs <- utils::read.csv(reference_file("diag_beliefs.csv"))
  actions <- c("declare_healthy", "declare_diseased", "monitor")
  for (one in split(reference, reference$case)) {
    agent <- bounded_agent(one$alpha[1], one$beta[1], one$eta[1])
    plan <- plan_agent(diag_setting(), agent, diag_models(), surprise = "observation", interpolate = "policy")
    expect_close(plan$nodes[, "diseased"], one$p_diseased, 1e-12)
    expect_close(value(plan), one$value, 1e-7)
    expect_close(policy(plan), as.matrix(one[actions]), 1e-8)
    expect_close(model_weights(plan, action = "monitor"), as.matrix(one[c("w60", "w70", "w80")]), 1e-8)
    path <- path_data(plan, rep("positive", 3), NULL)
    expect_close(path$diseased, beliefs$p_diseased[beliefs$case == one$case[1]], 1e-7)
  }
})

# Properties ---------------------------------------------------------------------

over_settings <- function(seed, check, resolution = 5) {
  with_seed(seed, for (n_states in 2:4) {
    setting <- random_setting(n_states)
    check(setting, random_models(setting), resolution)
  })
}

rescaled <- function(agent, by) {
  new_ibrc_agent(agent$alpha * by, agent$beta * by, agent$eta * by, agent$action_prior, agent$belief_prior)
}

test_that("scaling utility and prices scales values and leaves policies alone", {
  over_settings(41, function(setting, models, resolution) {
    for (agent in agents_to_try) {
      plan <- plan_agent(setting, agent, models, resolution, tolerance = 1e-10)
      large <- setting
      large$utility <- setting$utility * 7
      other <- plan_agent(large, rescaled(agent, 7), models, resolution, tolerance = 1e-9)
      expect_close(value(other), 7 * value(plan), 1e-8)
      expect_close(other$solution$policy, plan$solution$policy, 1e-8)
      expect_close(other$solution$sigma, plan$solution$sigma, 1e-8)
    }
  })
})

test_that("a constant added to utility adds itself over 1 - discount", {
  over_settings(42, function(setting, models, resolution) {
    for (agent in agents_to_try) {
      raised <- setting
      raised$utility <- setting$utility + 2
      expect_close(value(plan_agent(raised, agent, models, resolution)),
                   value(plan_agent(setting, agent, models, resolution)) + 2 / (1 - setting$discount), 1e-7)
    }
  })
})

test_that("seeking disutility is seeking the negated utility", {
  over_settings(43, function(setting, models, resolution) {
    negated <- setting
    negated$utility <- -setting$utility
    for (alpha in c(0, 0.5, 3)) {
      contrary <- plan_agent(setting, bounded_agent(alpha = -alpha), resolution = resolution)
      usual <- plan_agent(negated, bounded_agent(alpha = alpha), resolution = resolution)
      expect_close(value(contrary), -value(usual), 1e-7)
      expect_close(policy(contrary), policy(usual), 1e-7)
    }
  })
})

# Reorders everything of a setting and its models.
permuted_setting <- function(setting, s, u, x) {
  decision_setting(
    setting$states[s], setting$actions[u], setting$observations[x],
    unname(setting$transition)[s, s, u, drop = FALSE], unname(setting$emission)[s, x, u, drop = FALSE],
    unname(setting$utility)[s, u, drop = FALSE], discount = setting$discount, start = unname(setting$start)[s]
  )
}

permuted_models <- function(models, s, u, x, m) {
  model_prior(lapply(models$models[m], function(model) {
    list(transition = unname(model$transition)[s, s, u, drop = FALSE],
         emission = unname(model$emission)[s, x, u, drop = FALSE])
  }), models$weights[m])
}

expect_permuted <- function(setting, models, s, resolution, agents = agents_to_try) {
  u <- sample(length(setting$actions))
  x <- if (setting$fully_observed) s else sample(length(setting$observations))
  m <- sample(n_models(models))
  models <- validate_ibrc_models(models, setting)
  permuted <- permuted_setting(setting, s, u, x)
  other_models <- permuted_models(models, s, u, x, m)
  for (agent in agents) {
    plan <- plan_agent(setting, agent, models, resolution, tolerance = 1e-10)
    other <- plan_agent(permuted, agent, other_models, resolution, tolerance = 1e-10)
    nodes <- node_beliefs(plan$space)
    colnames(nodes) <- setting$states
    expect_close(value(other, nodes), value(plan), 1e-9)
    expect_close(policy(other, nodes)[, setting$actions], policy(plan), 1e-7)
    weights <- model_weights(plan, action = setting$actions[1])
    expect_close(model_weights(other, nodes, setting$actions[1])[, colnames(weights)], weights, 1e-7)
  }
}

test_that("permuting states, actions, observations and models permutes the answer", {
  soft <- agents_to_try[c("flexible", "pessimist", "contrary", "near_neutral", "habit")]
  over_settings(44, function(setting, models, resolution) {
    n <- length(setting$states)
    # Any order of up to three states; with four, turning and reversing: other
    # orders cut the lattice's cells along another diagonal.
    orders <- if (n < 4) list(sample(n), rev(seq_len(n))) else list(c(2:n, 1), rev(seq_len(n)), c(2, 1, n:3))
    for (s in orders) expect_permuted(setting, models, s, resolution, soft)
  })
})

test_that("with the state seen there are no cells, and any order will do", {
  with_seed(45, for (n_states in 3:5) {
    setting <- decision_setting(
      letters[1:n_states], c("u", "v"), letters[1:n_states], random_law(n_states, n_states, 2), "identity",
      matrix(stats::rnorm(2 * n_states), n_states), discount = 0.9
    )
    models <- model_prior(replicate(3, simplify = FALSE, {
      list(transition = random_law(n_states, n_states, 2), emission = "identity")
    }))
    expect_permuted(setting, models, sample(n_states), 1)
  })
})

test_that("a model given twice with its weight split changes nothing", {
  over_settings(47, function(setting, models, resolution) {
    w <- unname(models$weights)
    split_models <- model_prior(unname(models$models)[c(1, 2, 3, 2)], c(w[1], w[2] / 4, w[3], w[2] * 3 / 4))
    for (agent in agents_to_try) {
      plan <- plan_agent(setting, agent, models, resolution)
      other <- plan_agent(setting, agent, split_models, resolution)
      expect_close(value(other), value(plan), 1e-7)
      expect_close(policy(other), policy(plan), 1e-6)
    }
  })
})

test_that("one model leaves no room for optimism", {
  over_settings(48, function(setting, models, resolution) {
    neutral <- value(plan_agent(setting, bounded_agent(alpha = 0.5), resolution = resolution))
    for (optimism in c(-Inf, -1, 3, Inf)) {
      expect_close(value(plan_agent(setting, bounded_agent(alpha = 0.5, optimism = optimism),
                                    resolution = resolution)), neutral, 1e-7)
    }
  })
})

test_that("limits are approached by the finite", {
  over_settings(49, function(setting, models, resolution) {
    pairs <- list(
      list(bounded_agent(), bounded_agent(alpha = 1e-9)),
      list(bounded_agent(flexibility = -Inf), bounded_agent(alpha = -1e-9)),
      list(bounded_agent(flexibility = 0), bounded_agent(alpha = 1e10)),
      list(bounded_agent(alpha = 0.5), bounded_agent(alpha = 0.5, beta = 1e10)),
      list(bounded_agent(alpha = 0.5), bounded_agent(alpha = 0.5, beta = -1e10)),
      list(bounded_agent(alpha = 0.5, optimism = Inf), bounded_agent(alpha = 0.5, beta = 1e-9)),
      list(bounded_agent(alpha = 0.5, optimism = -Inf), bounded_agent(alpha = 0.5, beta = -1e-9)),
      list(bounded_agent(alpha = 0.5), bounded_agent(alpha = 0.5, eta = 1e-9))
    )
    for (pair in pairs) {
      expect_close(value(plan_agent(setting, pair[[1]], models, resolution)),
                   value(plan_agent(setting, pair[[2]], models, resolution)), 1e-6)
    }
  })
})

test_that("an action the prior rules out is never taken, a model without weight never believed", {
  over_settings(50, function(setting, models, resolution) {
    agent <- bounded_agent(alpha = 0.5, beta = 0.5, action_prior = c(0.5, 0, 0.5))
    plan <- plan_agent(setting, agent, models, resolution)
    expect_true(all(policy(plan)[, 2] == 0))
    fewer <- models
    fewer$weights[] <- c(0.5, 0, 0.5)
    plan <- plan_agent(setting, bounded_agent(alpha = 0.5, optimism = Inf), fewer, resolution)
    for (action in setting$actions) expect_true(all(model_weights(plan, action = action)[, 2] == 0))
  })
})

test_that("the same plan comes from any number of threads and from its own update", {
  with_seed(51, {
    setting <- random_setting(3)
    models <- random_models(setting)
  })
  plan <- plan_agent(setting, agents_to_try$flexible, models, 12)
  expect_identical(plan_agent(setting, agents_to_try$flexible, models, 12, cores = 2), plan)
  again <- update(plan, agents_to_try$flexible)
  expect_lte(again$report$backups, 1)
  expect_close(value(again), value(plan), 2e-8)
})

test_that("what is not a setting, an agent, models or a number is refused", {
  setting <- diag_setting()
  agent <- bounded_agent()
  refused <- function(..., argument) {
    error <- expect_error(plan_agent(...), class = "ibrc_error_input")
    expect_identical(error$argument, argument)
    expect_match(conditionMessage(error), argument, fixed = TRUE)
  }
  refused(1, agent, argument = "setting")
  refused(setting, list(alpha = 1), argument = "agent")
  refused(setting, agent, list(), argument = "models")
  refused(setting, agent, resolution = 0, argument = "resolution")
  refused(setting, agent, resolution = 2.5, argument = "resolution")
  refused(setting, agent, resolution = NA, argument = "resolution")
  refused(setting, agent, resolution = "a", argument = "resolution")
  refused(setting, agent, tolerance = 0, argument = "tolerance")
  refused(setting, agent, tolerance = NaN, argument = "tolerance")
  refused(setting, agent, interpolate = "linear", argument = "interpolate")
  refused(setting, agent, surprise = NA, argument = "surprise")
  refused(setting, agent, cores = -1, argument = "cores")
  refused(setting, agent, max_backups = Inf, argument = "max_backups")
  refused(setting, agent, max_bytes = -1, argument = "max_bytes")
  refused(setting, bounded_agent(action_prior = c(0.5, 0.5)), argument = "action_prior")
  refused(setting, bounded_agent(eta = 1, belief_prior = function(z) -1), argument = "belief_prior")
  refused(tiger_setting(), agent, model_prior(list(list(transition = diag(3), emission = diag(2)))),
          argument = "models[[1]]$transition")
  expect_error(update(plan_agent(setting, agent), agent, resolution = 3), "resolution", class = "ibrc_error_input")
})

test_that("plans print in sentences", {
  plan <- plan_agent(diag_setting(), bounded_agent(0.5, 1.25, 1e-3), diag_models())
  expect_snapshot(print(plan), transform = function(x) sub("solved to .*", "solved to ...", x))
  expect_snapshot(summary(plan), transform = function(x) sub("solved to .*", "solved to ...", x))
})
