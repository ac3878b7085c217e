# Settings in which the state is seen, with everything random.
seen_setting <- function(n_states = 3, n_actions = 2, discount = 0.8) {
  states <- paste0("s", seq_len(n_states))
  decision_setting(states, paste0("u", seq_len(n_actions)), states, random_law(n_states, n_states, n_actions),
                   "identity", matrix(stats::rnorm(n_states * n_actions), n_states), discount = discount)
}

test_that("named agents are exact limits of bounded agents", {
  expect_identical(random_agent(), bounded_agent(flexibility = 0, optimism = 0, adaptivity = Inf))
  expect_identical(optimal_agent(), bounded_agent(flexibility = Inf, optimism = 0, adaptivity = Inf))
  expect_identical(max_entropy_agent(0.5), bounded_agent(alpha = 0.5, optimism = 0, adaptivity = Inf))
  prior <- c(0.2, 0.8)
  expect_identical(kl_agent(2, prior), bounded_agent(flexibility = 0.5, optimism = 0, action_prior = prior))
  expect_identical(robust_agent(-2), bounded_agent(flexibility = Inf, optimism = -0.5, adaptivity = Inf))
  least <- minimum_information_agent()
  expect_identical(unlist(least[c("alpha", "beta", "eta")]), c(alpha = 1, beta = Inf, eta = 1))
})

test_that("the random agent plays all actions alike, the optimal one the best", {
  with_seed(1, setting <- seen_setting())
  expect_true(all(policy(plan_agent(setting, random_agent())) == 0.5))
  best <- plan_agent(setting, optimal_agent())
  expect_identical(apply(policy(best), 1, max), rep(1, 3))
  expect_identical(max.col(policy(best)), max.col(action_value(best)))
})

test_that("the minimum-information agent pays a nat for a nat, in actions and in states", {
  with_seed(2, for (n_states in 2:4) {
    setting <- seen_setting(n_states, 3)
    usual <- as.vector(random_rows(1, n_states))
    habit <- as.vector(random_rows(1, 3))
    agent <- minimum_information_agent(stats::setNames(usual, setting$states)[n_states:1], habit)
    plan <- plan_agent(setting, agent)
    # Its equation, by hand.
    Q <- sapply(1:3, function(u) {
      law <- unname(setting$transition[, , u])
      setting$utility[, u] - rowSums(law * log(law / rep(usual, each = n_states))) +
        setting$discount * law %*% value(plan)
    })
    expect_close(action_value(plan), Q, 1e-7)
    expect_close(value(plan), log(exp(Q) %*% habit), 1e-7)
    odds <- exp(Q) * rep(habit, each = n_states)
    expect_close(policy(plan), odds / rowSums(odds), 1e-7)
  })
})

test_that("without a belief prior all states are as usual", {
  with_seed(3, setting <- seen_setting())
  expect_equal(value(plan_agent(setting, minimum_information_agent())),
               value(plan_agent(setting, minimum_information_agent(rep(1 / 3, 3)))))
})

test_that("a prior over states needs states that are seen, of their number and names", {
  with_seed(4, setting <- seen_setting())
  expect_refused(plan_agent(tiger_setting(), minimum_information_agent(c(0.5, 0.5)), resolution = 4), "belief_prior",
                 "state be seen")
  expect_refused(plan_agent(setting, minimum_information_agent(c(0.5, 0.5))), "belief_prior", "2 entries for 3")
  strange <- minimum_information_agent(c(s1 = 0.5, s2 = 0.2, z = 0.3))
  expect_refused(plan_agent(setting, strange), "belief_prior", "\"z\"")
  expect_refused(minimum_information_agent(c(0.5, 0.4)), "belief_prior", "sum to 1")
  expect_refused(minimum_information_agent(c(1, 0)), "belief_prior", "position 2")
  expect_refused(minimum_information_agent(function(beliefs) 1), "belief_prior")
  expect_refused(minimum_information_agent(action_prior = c(1, 1)), "action_prior")
})

test_that("the maximum entropy agent is the KL-regularised one with a uniform prior", {
  with_seed(5, setting <- seen_setting(4, 3))
  even <- plan_agent(setting, max_entropy_agent(0.7))
  same <- plan_agent(setting, kl_agent(0.7, rep(1 / 3, 3)))
  expect_close(value(even), value(same), 1e-9)
})

test_that("the robust agent expects less, the less its leaning costs, down to the worst case", {
  with_seed(6, {
    setting <- seen_setting()
    models <- model_prior(replicate(3, simplify = FALSE, list(transition = random_law(3, 3, 2), emission = "identity")))
  })
  start <- rep(1 / 3, 3)
  worth <- function(agent) value(plan_agent(setting, agent, models), start)
  by_price <- vapply(c(-100, -10, -1, -0.1), function(beta) worth(robust_agent(beta)), 0)
  expect_true(all(diff(c(worth(optimal_agent()), by_price, worth(bounded_agent(optimism = -Inf)))) < 0))
  # With one model there is nothing to fear.
  expect_close(value(plan_agent(setting, robust_agent(-1))), value(plan_agent(setting, optimal_agent())), 1e-7)
})

test_that("a Boltzmann agent is refused as a bounded one, and says who plans for it", {
  agent <- boltzmann_agent(0.5)
  expect_false(inherits(agent, "ibrc_agent"))
  expect_refused(plan_agent(tiger_setting(), agent), "agent", "plan_boltzmann")
  plan <- plan_agent(tiger_setting(), bounded_agent(), resolution = 4)
  expect_refused(update(plan, agent), "agent", "plan_boltzmann")
  expect_output(print(agent), "temperature 0.5")
})

test_that("prices outside their range are refused", {
  for (wrong in list(0, -1, Inf, NA, "x", NULL, c(1, 2))) {
    expect_refused(max_entropy_agent(wrong), "alpha")
    expect_refused(kl_agent(wrong, c(0.5, 0.5)), "alpha")
    expect_refused(boltzmann_agent(wrong), "temperature")
  }
  for (wrong in list(0, 1, -Inf, NA, "x", NULL)) expect_refused(robust_agent(wrong), "beta")
  expect_refused(kl_agent(1, NULL), "action_prior", "max_entropy_agent")
  expect_refused(kl_agent(1, c(0.5, 0.2)), "action_prior")
  for (constructor in list(max_entropy_agent, kl_agent, boltzmann_agent, robust_agent)) {
    expect_error(constructor(), "must be given", class = "ibrc_error_input")
  }
})

test_that("the table has a row for each of the eight, in their order, and every constructor it names works", {
  table <- agents()
  expect_identical(table$constructor, c("random_agent", "optimal_agent", "boltzmann_agent", "minimum_information_agent",
                                        "max_entropy_agent", "kl_agent", "robust_agent", "bounded_agent"))
  expect_true(all(table$constructor %in% getNamespaceExports("ibrc")))
  expect_true(all(table$planner %in% getNamespaceExports("ibrc")))
  with_seed(7, setting <- seen_setting())
  arguments <- list(boltzmann_agent = list(1), max_entropy_agent = list(1), kl_agent = list(1, c(0.3, 0.7)),
                    robust_agent = list(-1))
  hidden_setting <- decision_setting(setting$states, setting$actions, setting$observations, unname(setting$transition),
                                     matrix(0.2, 3, 3) + diag(0.4, 3), unname(setting$utility), discount = 0.9)
  for (i in seq_len(nrow(table))) {
    agent <- do.call(table$constructor[i], as.list(arguments[[table$constructor[i]]]))
    plan <- do.call(table$planner[i], list(setting, agent))
    expect_close(rowSums(policy(plan)), rep(1, 3), 1e-12)
    if (table$constructor[i] == "minimum_information_agent") next
    hidden <- do.call(table$planner[i], list(hidden_setting, agent, resolution = 4))
    expect_close(rowSums(policy(hidden)), rep(1, 15), 1e-12)
  }
})

test_that("the table says of each limit what its constructor does", {
  table <- agents()
  arguments <- list(max_entropy_agent = list(0.5), kl_agent = list(0.5, c(0.5, 0.5)), robust_agent = list(-0.5))
  for (i in which(table$planner == "plan_agent" & table$constructor != "bounded_agent")) {
    agent <- do.call(table$constructor[i], as.list(arguments[[table$constructor[i]]]))
    price <- c(flexibility = agent$alpha, optimism = agent$beta, adaptivity = agent$eta)
    for (name in names(price)) {
      says <- switch(table[[name]][i], "-> 0" = price[[name]] == Inf, "-> Inf" = , "-> +-Inf" = price[[name]] == 0,
                     "= 1" = price[[name]] == 1, "(0, Inf)" = price[[name]] > 0, "(-Inf, 0)" = price[[name]] < 0)
      expect_true(says, info = paste(table$agent[i], name))
    }
  }
})
