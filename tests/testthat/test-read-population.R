fit <- people_run(tied_effects(), visits = people_visits(per = 4, n = 4))
plain <- people_run(list(alpha ~ age), visits = people_visits(per = 4, n = 4))

test_that("a table has one row per coefficient, spread and correlation", {
  table <- tidy_population(fit)
  expect_identical(table$term, dimnames(fit$population$draws)[[3]])
  expect_true(all(is.na(table$group)))
  one <- fit$population$draws[, , "sd(optimism|site)"]
  row <- table[table$term == "sd(optimism|site)", ]
  expect_equal(row$estimate, stats::median(one))
  expect_equal(row$std.error, stats::sd(one))
  expect_equal(c(row$conf.low, row$conf.high), unname(stats::quantile(one, c(0.025, 0.975))))
  expect_equal(row$rhat, posterior::rhat(one))
  wide <- tidy_population(fit, 0.5)
  expect_true(all(wide$conf.low >= table$conf.low & wide$conf.high <= table$conf.high))
  # Spreads are positive, correlations between -1 and 1.
  expect_true(all(table$conf.low[startsWith(table$term, "sd(")] > 0))
  expect_true(all(abs(fit$population$draws[, , "cor(alpha,optimism|clinician)"]) <= 1))
})

test_that("tidy() shows the population, its cells or its people", {
  table <- tidy(fit)
  expect_identical(table$term, tidy_population(fit)$term)
  expect_null(table$group)
  cells <- tidy(fit, effects = "cells")
  expect_identical(nrow(cells), 2L * length(fit$effects$cells))
  people <- tidy(fit, effects = "people")
  expect_identical(people$factor[c(1, nrow(people))], c("clinician", "site"))
  expect_identical(people$level[1:4], fit$effects$factors$clinician$levels)
  expect_identical(nrow(people), 4L * 2L + 3L)
  expect_equal(people$estimate[1], stats::median(fit$population$intercepts[, , 1]))
  expect_refused(tidy(plain, effects = "people"), "effects", "random intercepts")
  expect_refused(tidy(fit, effects = "nobody"), "effects")
  expect_refused(tidy(clinic_fit(), effects = "cells"), "effects", "people who differ")
})

test_that("keys of intercepts are in the order of their draws", {
  keys <- intercept_keys(fit$effects)
  wanted <- paste0(keys$term, "{", keys$factor, " ", keys$level, "}")
  expect_identical(dimnames(fit$population$intercepts)[[3]], wanted)
})

test_that("contraction compares with the priors that were stated, on the scale of the sampler", {
  found <- population_contraction(fit)
  draws <- fit$population$draws
  expect_equal(found[["alpha"]], 1 - stats::var(log(as.vector(draws[, , "alpha"]))), tolerance = 1e-3)
  slope <- fit$effects$prior[["optimism[armb]"]]$args[["sd"]]
  expect_equal(found[["optimism[armb]"]], 1 - stats::var(as.vector(draws[, , "optimism[armb]"])) / slope^2,
               tolerance = 1e-3)
  expect_identical(unname(is.na(found)), startsWith(names(found), "cor("))
  expect_named(population_prior(fit), c("alpha", "optimism", "alpha[age]", "optimism[armb]", "optimism[age]",
                                        "sd(alpha|clinician)", "sd(optimism|clinician)", "sd(optimism|site)"))
})

test_that("draws come as a data frame and as those of posterior", {
  frame <- as.data.frame(fit)
  n <- dim(fit$population$draws)
  expect_equal(nrow(frame), prod(n))
  expect_named(frame, c(".chain", ".iteration", ".draw", "term", "value"))
  row <- frame[frame$term == "optimism[age]" & frame$.chain == 2 & frame$.iteration == 7, ]
  expect_identical(row$value, fit$population$draws[[7, 2, "optimism[age]"]])
  expect_identical(row$.draw, n[1] + 7L)
  expect_equal(unclass(posterior::as_draws_array(fit))[3, 1, "alpha"], fit$population$draws[3, 1, "alpha"],
               ignore_attr = TRUE)
})

test_that("a cell says what it is", {
  table <- cell_table(fit)
  expect_identical(nrow(table), length(fit$effects$cells))
  expect_named(table, c("cell", "clinician", "site", "alpha[age]", "optimism[armb]", "optimism[age]"))
  expect_identical(sort(unique(table$clinician)), paste0("c", 1:4))
  expect_identical(table$`optimism[age]`, unname(fit$effects$matrices$optimism[, "age"]))
  # Without intercepts and slopes there is one.
  expect_identical(nrow(cell_table(plain)), 3L)
})

test_that("the fixed part is the columns times the coefficients", {
  theta <- fixed_part(fit, "alpha", c(2, 5))
  draws <- fit$population$draws
  wanted <- log(draws[4, 2, "alpha"]) + fit$effects$matrices$alpha[5, "age"] * draws[4, 2, "alpha[age]"]
  expect_equal(theta[dim(draws)[1] + 4, 2], wanted, ignore_attr = TRUE)
})

test_that("formulas and scales are said in words", {
  expect_identical(unname(effects_words(fit$effects)),
                   c("optimism ~ arm + age + (1 | p | clinician) + (1 | site)", "alpha ~ age + (1 | p | clinician)"))
  expect_identical(unname(effects_words(people_run(list(alpha ~ 1, optimism ~ (1 | site / clinician)), iter = 20,
                                                   warmup = 10)$effects)),
                   c("alpha ~ 1", "optimism ~ (1 | site) + (1 | site:clinician)"))
  words <- scale_words(fit)
  expect_match(words[1], "the logarithm of alpha")
  expect_match(words[2], "age \\(")
  expect_output(print(summary(fit)), "Effects: optimism ~ arm")
  expect_match(format(fit), "people who differ \\(12 cells\\)")
})

test_that("other readings give the population", {
  expect_identical(names(coef(fit)), tidy_population(fit)$term)
  expect_equal(unname(coef(fit)), tidy_population(fit)$estimate)
  expect_identical(glance(fit)$groups, 12L)
  expect_true(has_population(fit) && !has_population(clinic_fit()))
})
