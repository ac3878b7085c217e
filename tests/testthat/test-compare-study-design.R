test_that("an effect is on the scale a sampler works on", {
  design <- small_design(effect = list(optimism = -0.5, alpha = log(2)))
  expect_named(design$agents, c("reference", "other"))
  expect_equal(design$agents$other$alpha, 1)
  expect_equal(1 / design$agents$other$beta, -0.5)
  truth <- contrast_truth(design$agents, c("alpha", "optimism"))
  expect_equal(truth[, "other"], c(alpha = log(2), optimism = -0.5))
  expect_equal(level_truth(design$agents, "alpha")[1, ], c(reference = log(0.5), other = 0))
  none <- null_design(design)
  expect_identical(none$agents$other, none$agents$reference)
  expect_identical(unname(contrast_truth(none$agents, c("alpha", "eta"))[, 1]), c(0, 0))
})

test_that("groups may be stated agent by agent, and one group is enough", {
  agents <- list(a = bounded_agent(0.5), b = bounded_agent(0.5, optimism = 1), c = bounded_agent(2))
  design <- small_design(agents = agents, effect = NULL, patients = c(10, 20, 30))
  expect_identical(design$patients, c(a = 10L, b = 20L, c = 30L))
  expect_equal(contrast_truth(design$agents, "optimism")[1, ], c(b = 1, c = 0))
  expect_identical(names(small_design(effect = NULL)$agents), "all")
  # Without a prior, terms are those of the effect or in which agents differ.
  own <- small_design(prior = NULL, fit = count_visits)
  expect_identical(design_terms(own), "optimism")
  expect_identical(design_terms(small_design(agents = agents, effect = NULL, prior = NULL, fit = count_visits)),
                   c("alpha", "optimism"))
  expect_error(small_design(effect = NULL, prior = NULL, fit = count_visits), "prior", class = "ibrc_error_input")
})

test_that("what is named by group goes to the group of that name", {
  expect_identical(small_design(patients = c(other = 3, reference = 40))$patients, c(reference = 40L, other = 3L))
  chances_of <- function(chances, values = c(0, 1)) {
    small_design(confounder = list(name = "severity", values = values, chances = chances,
                                   effect = list(optimism = 0.2)))$confounder$chances
  }
  expect_equal(chances_of(c(other = 0.9, reference = 0.1)), rbind(c(0.9, 0.1), c(0.1, 0.9)))
  expect_equal(chances_of(rbind(other = c(0.1, 0.9), reference = c(0.7, 0.3))), rbind(c(0.7, 0.3), c(0.1, 0.9)))
  # Columns go by value, unless their names are labels.
  table <- matrix(c(0.1, 0.7, 0.9, 0.3), 2, dimnames = list(NULL, c("1", "0")))
  expect_equal(chances_of(table), rbind(c(0.9, 0.1), c(0.3, 0.7)))
  colnames(table) <- c("mild", "severe")
  expect_equal(chances_of(table), rbind(c(0.1, 0.9), c(0.7, 0.3)))
  refused <- function(argument, words, code) {
    error <- expect_error(code, words, class = "ibrc_error_input")
    expect_identical(error$argument, argument)
  }
  refused("patients", "unknown groups \"others\"", small_design(patients = c(others = 3, reference = 40)))
  refused("patients", "no entry for \"other\"", small_design(patients = c(reference = 40)))
  refused("confounder", "unknown groups \"others\"", chances_of(c(others = 0.9, reference = 0.1)))
  refused("confounder", "no entry for \"reference\"", chances_of(c(other = 0.1, other = 0.9)))
})

test_that("what cannot be is refused before any work, by its name", {
  refused <- function(argument, words, ...) {
    error <- expect_error(small_design(...), words, class = "ibrc_error_input")
    expect_identical(error$argument, argument)
  }
  refused("effect", "no meaning for \"wisdom\"", effect = list(wisdom = 1))
  refused("effect", "each quantity once", effect = list(beta = 1, optimism = 1))
  refused("effect", "finite and above 0", effect = list(eta = 1))
  refused("effect", "named by term", effect = 0.5)
  refused("effect", "1000 on alpha is too large: it leaves an agent with Inf. .* log\\(2\\) doubles alpha",
          effect = list(alpha = 1000))
  refused("effect", "leaves an agent with 0", effect = list(alpha = -1000))
  refused("effect", "says itself", agents = list(a = bounded_agent(1), b = bounded_agent(2)))
  refused("agents", "bounded_agent", agents = list(a = 1))
  refused("agents", "names by group, such as list\\(reference = ..., other = ...\\)",
          agents = list(bounded_agent(1), bounded_agent(2)), effect = NULL)
  refused("agents", "names by group", agents = list(bounded_agent(1)), effect = NULL)
  refused("patients", "one per group", patients = c(10, 20, 30))
  refused("fit", "function of two arguments", fit = function(visits) visits)
  refused("spread", "say how many", spread = c(optimism = 0.3))
  refused("spread", "none of them negative", clusters = 2, spread = c(optimism = -0.3))
  refused("clusters", "without patients", clusters = 31)
  refused("clusters", "other than", clusters = c(group = 3))
  refused("confounder", "entries", confounder = list(name = "severity"))
  severity <- function(...) {
    utils::modifyList(list(name = "severity", chances = c(0.2, 0.6), effect = list(optimism = 0.2)), list(...))
  }
  refused("confounder", "one row per group", confounder = severity(chances = 0.2))
  refused("confounder", "chances between 0 and 1", confounder = severity(chances = c(0.2, 1.6)))
  refused("confounder", "too large", confounder = severity(effect = list(alpha = 1), values = c(0, 800)))
  # All agents are planned, and not the first alone.
  odd <- bounded_agent(0.5, belief_prior = function(beliefs) stop("no belief"))
  expect_error(small_design(agents = list(a = bounded_agent(0.5), b = odd), effect = NULL), "no belief")
  refused("confounder", "different numbers", confounder = severity(values = c(1, 1)))
  refused("confounder", "different names", confounder = severity(), clusters = c(severity = 3))
  refused("prior", "must be given", prior = NULL)
  refused("prior", "numbers of agents", prior = ibrc_prior(alpha ~ lognormal(0, 1), discount ~ uniform(0, 0.9)))
  refused("walks", "cannot be handed on", walks = 3)
  refused("by", "cannot be handed on", by = "group")
  refused("starts", "no meaning here", fit = count_visits, starts = 2)
  refused("fit", "one of", fit = "guess")
  refused("effects", "names \"nope\".* There is \"group\"", effects = list(optimism ~ group + nope))
  refused("effects", "names \"site\".* \"group\" and \"clin\"", effects = list(optimism ~ group + (1 | site)),
          clusters = c(clin = 3), fit = "posterior")
  refused("effects", "needs fit = \"posterior\"", effects = list(optimism ~ group + (1 | clin)), clusters = c(clin = 3))
  refused("effects", "as with fit = \"profile\"", effects = optimism ~ group + (1 | clin), clusters = c(clin = 3),
          fit = "profile")
  # The design itself says which columns there are.
  expect_s3_class(small_design(effects = list(optimism ~ group * severity + (1 | id) + (1 | clin)), fit = "posterior",
                               clusters = c(clin = 3), confounder = severity()), "ibrc_study_design")
})

test_that("what no fit would take is refused with the design", {
  refused <- function(..., named) {
    expect_error(small_design(...), named, class = "ibrc_error_input")
  }
  refused(starts = 0, named = "`starts`")
  refused(estimate = "best", named = "`estimate`")
  refused(fit = "posterior", iter = -5, named = "`iter`")
  refused(fit = "posterior", iter = 100, warmup = 100, named = "`iter` must be more than `warmup`")
  refused(fit = "posterior", chains = 1.5, named = "`chains`")
  refused(fit = "posterior", control = list(thin = 0), named = "`thin`")
  refused(cores = "two", named = "`cores`")
})

test_that("terms in which agents differ are found, and those that cannot be shifted refused", {
  expect_identical(stated_terms(small_design(agents = list(a = bounded_agent(0.5), b = bounded_agent(0.5, habit = 1)),
                                             effect = NULL)), "habit")
  odd <- list(a = bounded_agent(alpha = 0.5, optimism = -0.5), b = bounded_agent(alpha = 0.5, beta = 0))
  expect_error(small_design(agents = odd, effect = NULL, clusters = 2, spread = c(optimism = 0.3)), "one has Inf")
})
