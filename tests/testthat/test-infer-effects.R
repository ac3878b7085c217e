prior <- people_prior()
read_one <- function(...) read_effects(list(...), prior)[[1]]
columns_of <- function(formula) lapply(read_one(formula)$random, `[[`, "columns")

test_that("a formula is read into its term, its fixed part and its random intercepts", {
  one <- read_one(optimism ~ arm + log(age) + (1 | site))
  expect_identical(one$term, "optimism")
  expect_identical(deparse(one$fixed), "~arm + log(age)")
  expect_identical(one$random, list(list(columns = "site", tie = NA_character_)))
  expect_identical(deparse(read_one(optimism ~ (1 | site))$fixed), "~1")
  expect_identical(read_one(optimism ~ (1 | p | site))$random[[1]]$tie, "p")
  # Nothing of the session goes along.
  expect_identical(environment(one$fixed), baseenv())
})

test_that("nested and crossed intercepts are those of their columns", {
  expect_identical(columns_of(optimism ~ (1 | site / clinician)), list("site", c("site", "clinician")))
  expect_identical(columns_of(optimism ~ (1 | a / b / c)), list("a", c("a", "b"), c("a", "b", "c")))
  expect_identical(columns_of(optimism ~ (1 | site:clinician)), list(c("site", "clinician")))
  expect_identical(columns_of(optimism ~ (1 | site) + (1 | clinician)), list("site", "clinician"))
})

test_that("one formula need not be in a list, and terms name the result", {
  expect_identical(read_effects(optimism ~ arm, prior), read_effects(list(optimism ~ arm), prior))
  expect_named(read_effects(list(optimism ~ arm, alpha ~ 1), prior), c("optimism", "alpha"))
})

test_that("what is no formula, or not of a term that is inferred, is refused", {
  for (wrong in list(1, "optimism ~ arm", list(), list(1), NULL, list(optimism ~ arm, "x"), quote(a), mean)) {
    expect_refused(read_effects(wrong, prior), "effects", "list of formulas")
  }
  expect_refused(read_one(~ arm), "effects", "on the left")
  expect_refused(read_one(log(alpha) ~ arm), "effects", "on the left")
  expect_refused(read_one(eta ~ arm), "effects", "not inferred")
  expect_refused(read_one(nobody ~ arm), "effects", "not inferred")
  # The same quantity by its inverse.
  expect_refused(read_one(flexibility ~ arm), "effects", "Write alpha ~")
  expect_refused(read_effects(list(optimism ~ arm, optimism ~ age), prior), "effects", "more than one formula")
  simplex <- ibrc_prior(alpha ~ lognormal(0, 1), action_prior ~ dirichlet(1, 1, 1))
  stick <- setdiff(names(check_prior(simplex, diag_setting(), list())), "alpha")[1]
  expect_refused(read_effects(list(stats::as.formula(paste0("`", stick, "` ~ arm"))),
                              check_prior(simplex, diag_setting(), list())), "effects", "not inferred")
})

test_that("slopes and bars that are not understood are refused", {
  expect_refused(read_one(optimism ~ (age | site)), "effects", "no random slopes")
  expect_refused(read_one(optimism ~ (1 + age | site)), "effects", "no random slopes")
  expect_refused(read_one(optimism ~ (0 | site)), "effects", "no random slopes")
  expect_refused(read_one(optimism ~ 1 | site), "effects", "brackets of its own")
  expect_refused(read_one(optimism ~ arm - (1 | site)), "effects", "brackets of its own")
  expect_refused(read_one(optimism ~ arm * (1 | site)), "effects", "brackets of its own")
  expect_refused(read_one(optimism ~ (1 | p + q | site)), "effects", "plain name between two bars")
  expect_refused(read_one(optimism ~ (1 | log(site))), "effects", "right of a bar")
  expect_refused(read_one(optimism ~ (1 | 2)), "effects", "right of a bar")
  expect_refused(read_one(optimism ~ (1 | site) + (1 | site)), "effects", "twice.*write it once")
  expect_refused(read_one(optimism ~ (1 || site)), "effects", "one bar, as in \\(1 \\| site\\)")
  expect_refused(read_one(optimism ~ (1 | site) + (1 | site / clinician)), "effects", "twice")
  # A factor of a column and itself is that column.
  expect_refused(read_one(optimism ~ (1 | site:site)), "effects", "\"site\" twice in \\(1 \\| site:site\\)")
  expect_refused(read_one(optimism ~ (1 | site / site)), "effects", "name it once")
})

test_that("a formula calls what makes one value of one, and nothing else", {
  for (fine in list(~ I(age / 10), ~ log(age) + sqrt(age)^2, ~ arm:age, ~ (arm + age)^2, ~ I(age > 60 & arm == "a"),
                    ~ I(arm %in% c("a", "b")), ~ pmax(age, 3))) {
    expect_null(refuse_functions(fine[[2]], "optimism"), label = deparse(fine))
  }
  for (wrong in list(quote(system("true")), quote(poly(age, 2)), quote(scale(age)), quote(base::log(age)),
                     quote(.x$age), quote(age[1]), quote(I(eval(age))), quote(log(file("x"))),
                     quote((function(x) x)(age)), quote(factor(age)), quote(`{`(age)), quote(arm || age))) {
    expect_refused(read_effects(list(eval(call("~", quote(optimism), wrong))), prior), "effects", "a formula may use")
  }
  # Values may have been put into it.
  expect_refused(read_effects(list(eval(call("~", quote(optimism), c(1, 2)))), prior), "effects", "name columns")
  expect_refused(read_effects(list(eval(call("~", quote(optimism), call("I", list(1))))), prior), "effects",
                 "name columns")
})

test_that("what a person gets does not depend on the order of rows, nor on who else is there", {
  refused <- function(part, pattern) {
    expect_refused(read_effects(list(eval(call("~", quote(optimism), part))), prior), "effects", pattern)
  }
  refused(quote(I(age * c(1, 2))), "a formula may use")
  refused(quote(c(age, age)), "a formula may use")
  refused(quote(I(age * 1:2)), "makes a sequence")
  refused(quote(I(age %in% site)), "stand values")
  refused(quote(I(age %in% c(50, site))), "stand values")
  refused(quote(I(age %in% exp(1))), "stand values")
  refused(quote(age %in% c(1, 2)), "write I\\(\\) around it")
  refused(quote(I(log(c(1, 2)) %in% 1)), "a formula may use")
  for (fine in list(quote(I(age %in% c(-1, 2))), quote(I(!arm %in% "a")), quote(I((age > 60) & arm == "a")))) {
    expect_silent(refuse_functions(fine, "optimism"))
  }
})

test_that("numbers, words and what is missing are refused where columns are named", {
  for (wrong in list(quote(age + 2), quote(age * 2), quote(2), quote("age"), quote(age + "x"), quote(TRUE))) {
    expect_refused(read_effects(list(eval(call("~", quote(optimism), wrong))), prior), "effects", "stands in I\\(\\)")
  }
  expect_refused(read_one(optimism ~ NA), "effects", "name columns")
  expect_refused(read_one(optimism ~ I(age + NA)), "effects", "name columns")
  expect_refused(read_one(optimism ~ I(2)), "effects", "names no column")
  for (fine in list(quote(1), quote(age - 1), quote(0 + age), quote((arm + age)^2), quote(I(age + 2)))) {
    expect_silent(refuse_functions(fine, "optimism"))
  }
})

test_that("what ! is about is said", {
  expect_refused(read_one(optimism ~ !flag + age), "effects", "about all that follows")
  expect_refused(read_one(optimism ~ age + !flag + (1 | site)), "effects", "about all that follows")
  expect_identical(columns_of(optimism ~ age + (!flag) + (1 | site)), list("site"))
  expect_identical(attr(stats::terms(read_one(optimism ~ (!flag) + age)$fixed), "term.labels"), c("!flag", "age"))
})

test_that("advice on a term that is not inferred can be followed", {
  advised <- function(formula) {
    error <- expect_error(read_one(formula), class = "ibrc_error_input")
    eval(parse(text = sub(".*such as (.*)[.]$", "\\1", conditionMessage(error))))
  }
  expect_named(advised(eta ~ arm), "eta")
  expect_named(advised(adaptivity ~ arm), "adaptivity")
  expect_named(advised(discount ~ arm), "discount")
  expect_named(advised(habit ~ arm), "habit")
  expect_named(advised(utility(healthy, monitor) ~ arm), "utility[healthy,monitor]")
  expect_named(advised(utility ~ arm), "utility[state,action]")
  expect_refused(read_one(action_prior ~ arm), "effects", "cannot have effects")
})

test_that("an entry of the utility is a term as the prior calls it", {
  both <- ibrc_prior(alpha ~ lognormal(0, 1), utility(healthy, monitor) ~ normal(-1, 1))
  for (formula in list(utility(healthy, monitor) ~ arm, utility("healthy", "monitor") ~ arm,
                       `utility[healthy,monitor]` ~ arm)) {
    expect_named(read_effects(list(formula), both), "utility[healthy,monitor]")
  }
  expect_error(read_effects(list(utility(healthy) ~ arm), both), "utility\\(state, action\\)",
               class = "ibrc_error_input")
})

test_that("priors of effects are told from those of agents", {
  stated <- ibrc_prior(alpha ~ lognormal(0, 1), optimism ~ normal(0, 1), optimism[age] ~ normal(0, 0.1),
                       sd(optimism, site) ~ half_normal(0.3), utility(healthy, monitor) ~ normal(-1, 1))
  expect_identical(unname(is_effect_term(names(stated))), c(FALSE, FALSE, TRUE, TRUE, FALSE))
  parts <- split_prior(stated)
  expect_named(parts$agent, c("alpha", "optimism", "utility[healthy,monitor]"))
  expect_named(parts$effects, c("optimism[age]", "sd(optimism|site)"))
  expect_refused(split_prior(ibrc_prior(optimism[age] ~ normal(0, 1))), "prior", "no term to infer")
  for (wrong in expression(optimism[age, sex] ~ normal(0, 1), optimism[] ~ normal(0, 1), sd(optimism) ~ half_normal(1),
                           sd(a, b, c) ~ half_normal(1), optimism[log(age)] ~ normal(0, 1))) {
    expect_error(ibrc_prior(eval(wrong)), class = "ibrc_error_input")
  }
  # Names that are no plain ones stand in quotes.
  expect_named(ibrc_prior(optimism["log(age)"] ~ normal(0, 1)), "optimism[log(age)]")
})

test_that("spreads can be typed as they are printed", {
  spread <- function(...) names(ibrc_prior(...))
  expect_identical(spread(sd(optimism | site) ~ half_normal(0.2)), "sd(optimism|site)")
  expect_identical(ibrc_prior(sd(optimism | site) ~ half_normal(0.2)),
                   ibrc_prior(sd(optimism, site) ~ half_normal(0.2)))
  expect_identical(spread(sd(optimism | site:clinician) ~ half_normal(1)), "sd(optimism|site:clinician)")
  expect_identical(spread(sd(optimism | "site:year":`the clinic`) ~ half_normal(1)),
                   "sd(optimism|site:year:the clinic)")
  expect_identical(spread(sd(utility(healthy, monitor) | site) ~ half_normal(1)), "sd(utility[healthy,monitor]|site)")
  expect_identical(spread(sd(utility(healthy, monitor), site) ~ half_normal(1)), "sd(utility[healthy,monitor]|site)")
  expect_refused(ibrc_prior(sd(optimism | site, site) ~ half_normal(1)), "sd(optimism | site, site)", "must be")
  for (wrong in expression(sd(optimism | p | site) ~ half_normal(1), sd(optimism | site / clinician) ~ half_normal(1),
                           sd(optimism | f(site):year) ~ half_normal(1), sd(1 | site) ~ half_normal(1),
                           sd(log(alpha) | site) ~ half_normal(1))) {
    expect_error(ibrc_prior(eval(wrong)), "sd(optimism | site)", fixed = TRUE, class = "ibrc_error_input")
  }
  # All that a fit prints, but correlations, which have no prior to state.
  design <- design_of(tied_effects())$design
  typed <- lapply(names(design$prior), function(label) {
    stats::as.formula(paste(label, "~", if (startsWith(label, "sd(")) "half_normal(1)" else "normal(0, 1)"))
  })
  expect_named(do.call(ibrc_prior, typed), names(design$prior))
  expect_refused(ibrc_prior(cor(alpha, optimism | clinician) ~ normal(0, 1)), "cor(alpha, optimism | clinician)",
                 "Leave it out")
})

test_that("defaults are on the scale of the term, and what is stated takes their place", {
  coefficients <- data.frame(label = c("optimism", "optimism[age]"), intercept = c(TRUE, FALSE), scale = c(2, 0.2))
  spreads <- data.frame(label = "sd(optimism|site)", scale = 2)
  made <- effect_priors(coefficients, spreads, list())
  expect_named(made, c("optimism[age]", "sd(optimism|site)"))
  expect_equal(made[[1]]$args, c(mean = 0, sd = 0.2))
  expect_equal(made[[2]]$args, c(sd = 1))
  stated <- unclass(ibrc_prior(optimism[age] ~ student_t(3, 0, 1), sd(optimism, site) ~ exponential(2)))
  expect_identical(unclass(effect_priors(coefficients, spreads, stated)), stated)
  unknown <- unclass(ibrc_prior(optimism[sex] ~ normal(0, 1)))
  expect_refused(effect_priors(coefficients, spreads, unknown), "prior", "no formula of `effects` has")
  bounded <- unclass(ibrc_prior(optimism[age] ~ half_normal(1)))
  expect_refused(effect_priors(coefficients, spreads, bounded), "optimism[age]", "either sign")
  signed <- unclass(ibrc_prior(sd(optimism, site) ~ normal(0, 1)))
  expect_refused(effect_priors(coefficients, spreads, signed), "sd(optimism|site)", "positive numbers")
  expect_identical(effect_priors(coefficients[1, ], spreads[0, ], list()), list())
})

test_that("people differ by as much as the prior leaves open, and by a factor of e at most where they are logarithms", {
  wide <- ibrc_prior(alpha ~ lognormal(0, 3), optimism ~ normal(0, 3), eta ~ lognormal(0, 0.5))
  expect_equal(vapply(unclass(wide), effect_scale, 0), c(alpha = 1, optimism = 3, eta = 0.5), tolerance = 1e-4)
})
