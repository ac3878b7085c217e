# Problems small enough to be solved by hand. Each is worked out in its comment, gamma
# being the discount, and no number here was printed by the package. The lattices have
# every belief that can come about among their nodes, so that interpolation adds nothing
# and values are right to the solver's tolerance.

hand_plan <- function(setting, agent, models = NULL, resolution = 2, ...) {
  plan_agent(setting, agent, models, resolution, tolerance = 1e-10, ...)
}

# alpha log sum p exp(x / alpha), for numbers near 1.
soft <- function(x, alpha, p = rep(1 / length(x), length(x))) alpha * log(sum(p * exp(x / alpha)))

# Uninformative, and telling all.
blind <- matrix(0.5, 2, 2)
sharp <- diag(2)
fresh <- matrix(0.5, 2, 2)

# 1. A bandit ------------------------------------------------------------------------
#
# Three arms pay 1, 2 and 4 whatever the state, and nothing is ever learnt: one belief
# is as good as another, so V is a constant with
#
#   V = alpha log sum_u p(u) exp((r_u + gamma V) / alpha) = gamma V + alpha log sum_u p(u) exp(r_u / alpha)
#
# and so V = alpha log sum p exp(r / alpha) / (1 - gamma), pi(u) = p(u) exp(r_u / alpha)
# / sum. Limits: 4 / (1 - gamma) for alpha -> 0 from above, 1 / (1 - gamma) from below,
# sum p r / (1 - gamma) for alpha -> infinity.

bandit <- function(discount = 0.8) {
  decision_setting(c("a", "b"), c("one", "two", "four"), c("x", "y"), diag(2), blind,
                   matrix(c(1, 2, 4), 2, 3, byrow = TRUE), discount = discount)
}

test_that("a bandit's value is a log of exponentials over 1 - discount", {
  pay <- c(1, 2, 4)
  habit <- c(0.5, 0.2, 0.3)
  for (alpha in c(0.7, 3, -2)) {
    plan <- hand_plan(bandit(), bounded_agent(alpha = alpha, action_prior = habit))
    expect_close(value(plan), rep(soft(pay, alpha, habit) / 0.2, 3), 1e-8)
    wanted <- habit * exp(pay / alpha) / sum(habit * exp(pay / alpha))
    expect_close(policy(plan, c(0.3, 0.7)), wanted, 1e-10)
  }
  limits <- list(list(flexibility = Inf, mean = 4), list(flexibility = -Inf, mean = 1),
                 list(flexibility = 0, mean = sum(habit * pay)))
  for (limit in limits) {
    agent <- bounded_agent(flexibility = limit$flexibility, action_prior = habit)
    expect_close(value(hand_plan(bandit(), agent)), rep(limit$mean / 0.2, 3), 1e-8)
  }
})

test_that("a tiny alpha is as good as none, but for the price of the prior", {
  # exp(-1 / 1e-3) is nothing: what is left is alpha log p(four) of the third arm, each visit.
  for (alpha in c(1e-3, 1e-6, 1e-9)) {
    plan <- hand_plan(bandit(), bounded_agent(alpha = alpha))
    expect_close(value(plan), rep((4 - alpha * log(3)) / 0.2, 3), 1e-8)
    expect_close(policy(plan), rep(c(0, 0, 1), each = 3), 1e-12)
  }
})

# 2. Replacing a machine, its state seen -----------------------------------------------
#
# A good machine pays 1 and is worn by the next visit with probability 1/2; a worn one
# pays nothing and stays worn. Replacing it pays -c instead, and the next visit finds it
# good. gamma = 0.9. Who replaces when it is worn, and runs it when good, has
#
#   V(good) = 1 + 0.45 V(good) + 0.45 V(worn),   V(worn) = -c + 0.9 V(good)
#   V(good) = (1 - 0.45 c) / (1 - 0.45 - 0.405) = (1 - 0.45 c) / 0.145
#
# Never replacing a worn machine is worth 0 from there on, and V(good) = 1 / 0.55. Both
# are the same where c = 0.9 / 0.55 = 18 / 11, and replacing pays below that.

machine <- function(cost) {
  decision_setting(c("good", "worn"), c("run", "replace"), c("good", "worn"),
                   list(run = rbind(c(0.5, 0.5), c(0, 1)), replace = rbind(c(1, 0), c(1, 0))), "identity",
                   cbind(run = c(1, 0), replace = rep(-cost, 2)), discount = 0.9)
}

test_that("a worn machine is replaced where that costs less than 18/11", {
  for (cost in c(0.2, 1, 18 / 11 - 1e-4)) {
    plan <- hand_plan(machine(cost), bounded_agent())
    good <- (1 - 0.45 * cost) / 0.145
    expect_close(value(plan, sharp), c(good, 0.9 * good - cost), 1e-8)
    expect_identical(unname(policy(plan, sharp)), rbind(c(1, 0), c(0, 1)))
  }
  for (cost in c(18 / 11 + 1e-4, 5)) {
    plan <- hand_plan(machine(cost), bounded_agent())
    expect_close(value(plan, sharp), c(1 / 0.55, 0), 1e-8)
    expect_identical(unname(policy(plan, sharp)), rbind(c(1, 0), c(1, 0)))
  }
})

test_that("who replaces by the toss of a coin pays for it", {
  # Both states share the half that replaces, (0.9 V(good) - c) / 2; running adds
  # (1 + 0.45 V(good) + 0.45 V(worn)) / 2 to the one and 0.45 V(worn) to the other:
  #   0.55 V(worn) = 0.45 V(good) - c / 2,   0.325 V(good) = 1/2 - c / 2 + 0.225 V(worn).
  # With c = 1: V(worn) = (0.45 V(good) - 0.5) / 0.55 and
  #   (0.325 * 0.55 - 0.225 * 0.45) V(good) = -0.225 * 0.5, or V(good) = -0.1125 / 0.0775 = -45 / 31.
  good <- -45 / 31
  plan <- hand_plan(machine(1), bounded_agent(flexibility = 0))
  expect_close(value(plan, sharp), c(good, (0.45 * good - 0.5) / 0.55), 1e-8)
})

# 3. and 4. A test before a diagnosis ---------------------------------------------------
#
# Declaring the right one of two states pays r and the wrong one -r; then a new case
# comes, with even chances. Testing pays -c and leaves the state as it is. Let b be the
# belief in the first state and v = V(1/2). Declaring is worth r |2 b - 1| + gamma v at
# best.
#
# A useless test leaves the belief where it was: it is worth -c + gamma V(b) < V(b), so
# nobody tests, v = 0 + gamma v = 0 and V(b) = r |2 b - 1|, linear between the three
# nodes 0, 1/2 and 1.
#
# A perfect test leads to a vertex, worth r + gamma v at best (testing again, -c + gamma
# (r + gamma v), is worse). So
#
#   V(b) = max(r |2 b - 1| + gamma v, -c + gamma (r + gamma v)),   v = max(0, (gamma r - c) / (1 - gamma^2))
#
# and the test is worth its price at 1/2 where c < gamma r. It is then taken where r |2
# b - 1| < (1 - gamma) v = (gamma r - c) / (1 + gamma): with r = 1, gamma = 0.9 and c =
# 0.33, where b is nearer to 1/2 than 0.15. Every move ends at 0, 1/2 or 1, which are
# nodes of any lattice of even resolution.

clinic <- function(emission, cost, right = 1, discount = 0.9) {
  decision_setting(c("a", "b"), c("declare_a", "declare_b", "test"), c("x", "y"),
                   list(declare_a = fresh, declare_b = fresh, test = diag(2)),
                   list(declare_a = blind, declare_b = blind, test = emission),
                   cbind(c(right, -right), c(-right, right), -cost), discount = discount)
}

test_that("a useless test is not taken", {
  for (resolution in c(2, 10)) {
    plan <- hand_plan(clinic(blind, 0.1), bounded_agent(), resolution = resolution)
    expect_close(value(plan), abs(2 * plan$nodes[, "a"] - 1), 1e-8)
    expect_identical(max(policy(plan)[, "test"]), 0)
  }
  expect_identical(unname(policy(plan, c(0.7, 0.3))[1, ]), c(1, 0, 0))
})

test_that("at even chances a bounded agent takes a useless test as often as its price says", {
  # Declaring is worth 0 + gamma v there, either way, and the test -c + gamma v:
  # v = gamma v + alpha log((2 + exp(-c / alpha)) / 3).
  for (alpha in c(0.3, 2)) {
    plan <- hand_plan(clinic(blind, 0.4), bounded_agent(alpha = alpha))
    even <- c(0.5, 0.5)
    expect_close(value(plan, even), alpha * log((2 + exp(-0.4 / alpha)) / 3) / 0.1, 1e-8)
    expect_close(policy(plan, even)[, "test"], exp(-0.4 / alpha) / (2 + exp(-0.4 / alpha)), 1e-10)
  }
})

test_that("a perfect test pays where it costs less than the discounted prize", {
  for (cost in c(0.33, 0.9 - 1e-3)) {
    plan <- hand_plan(clinic(sharp, cost), bounded_agent(), resolution = 40)
    even <- (0.9 - cost) / (1 - 0.81)
    declared <- abs(2 * plan$nodes[, "a"] - 1) + 0.9 * even
    expect_close(value(plan), pmax(declared, even), 1e-8)
    expect_identical(unname(policy(plan, c(0.5, 0.5))[1, ]), c(0, 0, 1))
  }
  for (cost in c(0.9 + 1e-3, 3)) {
    plan <- hand_plan(clinic(sharp, cost), bounded_agent(), resolution = 40)
    expect_close(value(plan), abs(2 * plan$nodes[, "a"] - 1), 1e-8)
    expect_identical(max(policy(plan)[, "test"]), 0)
  }
})

test_that("the test is taken nearer to even chances than the value of information says", {
  plan <- hand_plan(clinic(sharp, 0.33), bounded_agent(), resolution = 40)
  belief <- plan$nodes[, "a"]
  # At 0.35 and 0.65 themselves both are worth the same.
  inside <- abs(belief - 0.5) < 0.15 - 1e-6
  outside <- abs(belief - 0.5) > 0.15 + 1e-6
  expect_identical(unname(policy(plan)[inside, "test"]), rep(1, sum(inside)))
  expect_identical(unname(policy(plan)[outside, "test"]), rep(0, sum(outside)))
  expect_equal(c(sum(inside), sum(outside)), c(11, 28))
})

test_that("a price of testing that leaves a bounded agent with nothing", {
  # Let y be the value of certainty. With v = V(1/2) = 0 both declarations are worth 0 at
  # even chances; so is the test where c = gamma y; and then v is the soft mean of three
  # zeros, which is 0 indeed. At a vertex the right declaration is worth r, the wrong one
  # -r and the test -c + gamma y = 0, so that y = alpha log((1 + 2 cosh(r / alpha)) / 3).
  for (alpha in c(0.4, 1.5)) for (right in c(1, 2)) {
    certain <- alpha * log((1 + 2 * cosh(right / alpha)) / 3)
    plan <- hand_plan(clinic(sharp, 0.9 * certain, right), bounded_agent(alpha = alpha))
    expect_close(value(plan, c(0.5, 0.5)), 0, 1e-8)
    expect_close(policy(plan, c(0.5, 0.5)), rep(1 / 3, 3), 1e-8)
    expect_close(value(plan, sharp), c(certain, certain), 1e-8)
    shares <- exp(c(right, -right, 0) / alpha) / (1 + 2 * cosh(right / alpha))
    expect_close(policy(plan, c(1, 0)), shares, 1e-8)
  }
})

# 5. One step ----------------------------------------------------------------------------
#
# With gamma = 0 what follows counts nothing: Q(b, u) = sum_s b(s) r(s, u), which is
# linear in b, so that it is exact between nodes as well, V(b) = alpha log sum_u p(u)
# exp(Q(b, u) / alpha) at nodes, and a policy is a logistic curve. A trajectory's
# likelihood is that curve along Bayes' rule: a test of accuracy 4/5 takes even chances
# to 4/5, and a second one that agrees to 16/17; one that was missed, nowhere.

glance <- function() {
  clinic(rbind(c(0.8, 0.2), c(0.2, 0.8)), 0.5, discount = 0)
}

test_that("one soft step is a log of exponentials at every belief", {
  alpha <- 0.6
  plan <- hand_plan(glance(), bounded_agent(alpha = alpha), resolution = 4)
  beliefs <- cbind(c(0, 0.25, 0.5, 0.75, 1), 1 - c(0, 0.25, 0.5, 0.75, 1))
  by_hand <- vapply(beliefs[, 1], function(b) soft(c(2 * b - 1, 1 - 2 * b, -0.5), alpha), 0)
  expect_close(value(plan, beliefs), by_hand, 1e-10)
  b <- 0.37
  weights <- exp(c(2 * b - 1, 1 - 2 * b, -0.5) / alpha)
  expect_close(policy(plan, c(b, 1 - b)), weights / sum(weights), 1e-10)
})

test_that("a likelihood is a logistic curve along Bayes' rule", {
  alpha <- 0.6
  plan <- hand_plan(glance(), bounded_agent(alpha = alpha), resolution = 4)
  visits <- trajectories(data.frame(
    id = c(1, 1, 1, 2, 2, 2), time = rep(1:3, 2),
    action = c("test", "test", "declare_a", "test", "test", "declare_b"), observation = c("x", "x", NA, "x", NA, NA)
  ))
  log_share <- function(b, action) {
    weights <- exp(c(2 * b - 1, 1 - 2 * b, -0.5) / alpha)
    log(weights[action] / sum(weights))
  }
  first <- log_share(1 / 2, 3) + log_share(4 / 5, 3)
  expect_close(log_lik(plan, visits), c(first + log_share(16 / 17, 1), first + log_share(4 / 5, 2)), 1e-10)
})

# 6. Waiting for an offer ---------------------------------------------------------------
#
# Each visit without an offer costs c to wait through, and the next one brings an offer
# with probability p; one may also give up. An offer taken pays 1 and nothing follows.
# The time to the offer is geometric:
#
#   V(none) = -c + gamma (p 1 + (1 - p) V(none)) = (gamma p - c) / (1 - gamma (1 - p)),
#
# so one waits where c < gamma p. Left to chance, with waiting and taking as likely:
# V(over) = 0, V(offer) = (1 + gamma V(offer)) / 2 = 1 / (2 - gamma) where waiting keeps
# the offer at no cost, and V(none) = (-c + gamma (p V(offer) + (1 - p) V(none))) / 2,
# giving up being worth 0.

offers <- function(cost, p = 0.25) {
  wait <- rbind(c(1 - p, p, 0), c(0, 1, 0), c(0, 0, 1))
  decision_setting(c("none", "offer", "over"), c("wait", "take"), c("none", "offer", "over"),
                   list(wait = wait, take = matrix(c(0, 0, 1), 3, 3, byrow = TRUE)), "identity",
                   cbind(wait = c(-cost, 0, 0), take = c(0, 1, 0)), discount = 0.8, start = c(1, 0, 0))
}

test_that("one waits for an offer where that costs less than its discounted chance", {
  for (cost in c(0, 0.1, 0.2 - 1e-3)) {
    plan <- hand_plan(offers(cost), bounded_agent())
    expect_close(value(plan, diag(3)), c((0.2 - cost) / (1 - 0.6), 1, 0), 1e-8)
    expect_identical(unname(policy(plan, c(1, 0, 0))[1, ]), c(1, 0))
  }
  plan <- hand_plan(offers(0.2 + 1e-3), bounded_agent())
  expect_close(value(plan, diag(3)), c(0, 1, 0), 1e-8)
  expect_identical(unname(policy(plan, c(1, 0, 0))[1, ]), c(0, 1))
  plan <- hand_plan(offers(0.1), bounded_agent(flexibility = 0))
  taken <- 1 / (2 - 0.8)
  expect_close(value(plan, diag(3)), c((-0.1 + 0.2 * taken) / (2 - 0.6), taken, 0), 1e-8)
})

# 7. Optimism -----------------------------------------------------------------------------
#
# From the start one comes to a good or a bad place and then back. The good one pays 1.
# The chance of it is 0.2 by one model, with prior weight 0.7, and 0.9 by the other.
# With V the value at the start, the good place is worth 1 + gamma V and the bad one
# gamma V, so K_m = gamma (p_m + gamma V) and
#
#   V = beta log sum_m w_m exp(K_m / beta) = gamma^2 V + beta log sum_m w_m exp(gamma p_m / beta)
#
# and sigma_m is w_m exp(gamma p_m / beta) over its sum. beta -> 0 believes 0.9 from
# above and 0.2 from below, beta -> infinity the mean 0.41.

doors <- function(p) {
  go <- rbind(c(0, p, 1 - p), c(1, 0, 0), c(1, 0, 0))
  decision_setting(c("start", "good", "bad"), c("go", "run"), c("start", "good", "bad"), go, "identity",
                   matrix(c(0, 1, 0), 3, 2), discount = 0.6, start = c(1, 0, 0))
}

test_that("an optimist believes in the better door as far as beta lets it", {
  chances <- c(0.2, 0.9)
  weights <- c(0.7, 0.3)
  models <- model_prior(lapply(chances, function(p) doors(p)[c("transition", "emission")]), weights)
  at <- c(1, 0, 0)
  for (beta in c(0.1, 2, -0.3)) {
    plan <- hand_plan(doors(0.5), bounded_agent(alpha = 1, beta = beta), models)
    expect_close(value(plan, at), soft(0.6 * chances, beta, weights) / (1 - 0.36), 1e-8)
    wanted <- weights * exp(0.6 * chances / beta)
    expect_close(model_weights(plan, at, "go"), wanted / sum(wanted), 1e-10)
  }
  believed <- list(list(optimism = Inf, p = 0.9, sigma = c(0, 1)), list(optimism = -Inf, p = 0.2, sigma = c(1, 0)),
                   list(optimism = 0, p = 0.41, sigma = weights))
  for (one in believed) {
    plan <- hand_plan(doors(0.5), bounded_agent(alpha = 1, optimism = one$optimism), models)
    good <- 1 + 0.6 * 0.6 * one$p / 0.64
    expect_close(value(plan, diag(3)), c(0.6 * one$p / 0.64, good, good - 1), 1e-8)
    expect_close(model_weights(plan, at, "run"), one$sigma, 1e-12)
  }
  # beta near its limits: beta log w_2 short of the best case; half the variance over beta beyond the mean.
  plan <- hand_plan(doors(0.5), bounded_agent(alpha = 1, beta = 1e-3), models)
  expect_close(value(plan, at), (0.54 + 1e-3 * log(0.3)) / 0.64, 1e-8)
  plan <- hand_plan(doors(0.5), bounded_agent(alpha = 1, beta = 1e6), models)
  expect_close(value(plan, at), (0.246 + 0.36 * 0.21 * 0.49 / 2e6) / 0.64, 1e-10)
})

# 8. Surprise ------------------------------------------------------------------------------
#
# Two states that stay and are looked at for ever, to no other end. A perfect look at
# even chances leads to either vertex with probability 1/2, a surprise of log 2 nats,
# and none after that: V(1/2) = eta log 2, and at b it is eta h(b), h(b) = -b log b - (1
# - b) log(1 - b). A blind look leads nowhere new: as one belief it surprises by 0, as
# two observations by log 2 at every visit, V = eta log 2 / (1 - gamma). With a belief
# prior of k, the same for all beliefs, log k is added at every visit.

look <- function(emission) {
  decision_setting(c("a", "b"), c("look", "see"), c("x", "y"), diag(2), emission, matrix(0, 2, 2), discount = 0.7)
}

test_that("surprise is the entropy of the next belief", {
  entropy <- function(b) ifelse(b %in% c(0, 1), 0, -b * log(b) - (1 - b) * log(1 - b))
  for (eta in c(0.8, -1.3)) {
    agent <- bounded_agent(alpha = 1, eta = eta)
    # Each state looks like the other: where it looks like itself it counts as seen, and has no lattice.
    plan <- hand_plan(look(sharp[, 2:1]), agent, resolution = 10)
    expect_close(value(plan), eta * entropy(plan$nodes[, "a"]), 1e-8)
    expect_close(value(hand_plan(look(blind), agent, resolution = 5)), rep(0, 6), 1e-8)
    plan <- hand_plan(look(blind), agent, resolution = 5, surprise = "observation")
    expect_close(value(plan), rep(eta * log(2) / 0.3, 6), 1e-8)
    agent <- bounded_agent(alpha = 1, eta = eta, belief_prior = function(beliefs) rep(2.5, nrow(beliefs)))
    plan <- hand_plan(look(sharp[, 2:1]), agent, resolution = 10)
    expect_close(value(plan), eta * (entropy(plan$nodes[, "a"]) + log(2.5) / 0.3), 1e-8)
  }
})

# 9. Recognition by two models ---------------------------------------------------------------
#
# One model says that a look is right 9 times of 10, the other that it tells nothing.
# With even weights, and beta infinite so that they stay, "x" takes even chances to the
# mean of 0.9 and 0.5, which is 0.7. From there the models say 0.63 / 0.66 = 21 / 22 and
# 0.7. A look whose result is missing changes nothing.

test_that("beliefs of models are averaged with the weights that the agent gives them", {
  models <- model_prior(list(
    list(transition = diag(2), emission = rbind(c(0.9, 0.1), c(0.1, 0.9))), list(transition = diag(2), emission = blind)
  ))
  plan <- hand_plan(look(blind), bounded_agent(alpha = 1), models)
  once <- update_belief(plan, c(0.5, 0.5), "look", "x")
  expect_close(once, c(0.7, 0.3), 1e-12)
  expect_close(update_belief(plan, once, "look", "x"), c((21 / 22 + 0.7) / 2, (1 / 22 + 0.3) / 2), 1e-12)
  expect_close(update_belief(plan, once, "look", NA), once, 1e-12)
})
