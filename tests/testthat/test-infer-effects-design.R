prior <- people_prior()
visits <- people_visits()
labels_of <- function(...) design_of(list(...))$design$coefficients$label

test_that("fixed effects are the columns that lm() would have, numbers about their mean", {
  found <- design_of(list(optimism ~ arm + age))
  people <- as.data.frame(visits)[!duplicated(visits$id), ]
  wanted <- stats::model.matrix(~ arm + age, people)
  wanted[, "age"] <- wanted[, "age"] - mean(people$age)
  cell <- as.integer(found$cell)
  expect_equal(found$design$matrices$optimism[cell, ], unclass(wanted), ignore_attr = TRUE)
  expect_identical(found$design$coefficients$label, c("alpha", "optimism", "optimism[armb]", "optimism[age]"))
  expect_identical(found$design$coefficients$intercept, c(TRUE, TRUE, FALSE, FALSE))
  expect_equal(found$design$coefficients$centre, c(0, 0, 0, mean(people$age)))
  # A coefficient's scale: that of the term for one standard deviation of the column.
  expect_equal(found$design$coefficients$scale, c(1, 1, 1, 1 / stats::sd(people$age)), tolerance = 1e-4)
  # Terms without a formula are the same in all.
  expect_true(all(found$design$matrices$alpha == 1))
})

test_that("people who have the same of everything are one cell, in the order of their first visit", {
  expect_identical(length(design_of(list(optimism ~ arm))$design$cells), 2L)
  expect_identical(length(design_of(list(optimism ~ arm + age))$design$cells), 6L)
  expect_identical(length(design_of(list(optimism ~ arm + (1 | clinician)))$design$cells), 8L)
  expect_identical(length(design_of(list(optimism ~ arm, alpha ~ age))$design$cells), 6L)
  expect_identical(length(design_of(list(optimism ~ (1 | id)))$design$cells), length(unique(visits$id)))
  cell <- design_of(list(optimism ~ arm + age))$cell
  expect_identical(unique(as.integer(cell)), 1:6)
  people <- as.data.frame(visits)[!duplicated(visits$id), ]
  expect_identical(lengths(lapply(split(paste(people$arm, people$age), cell), unique)), c(table(cell)) * 0L + 1L)
})

test_that("texts, factors, flags and products are told apart as formulas say", {
  expect_identical(labels_of(optimism ~ arm * age)[-1], c("optimism", "optimism[armb]", "optimism[age]",
                                                         "optimism[armb:age]"))
  expect_identical(labels_of(optimism ~ I(age > 55))[3], "optimism[I(age > 55)TRUE]")
  turned <- altered(function(x) transform(x, arm = factor(arm, levels = c("b", "a", "nobody"))))
  expect_identical(design_of(list(optimism ~ arm), turned)$design$coefficients$label[3], "optimism[arma]")
  flag <- altered(function(x) transform(x, arm = arm == "b"))
  expect_identical(design_of(list(optimism ~ arm), flag)$design$coefficients$label[3], "optimism[armTRUE]")
  # Ordered factors as well, and whatever the session's contrasts are.
  ordered <- altered(function(x) {
    transform(x, site = factor(site, levels = c("south", "north", "east"), ordered = TRUE))
  })
  withr::local_options(contrasts = c("contr.sum", "contr.poly"))
  found <- design_of(list(optimism ~ site + I(age > 55)), ordered)$design
  expect_identical(found$coefficients$label[3:5], c("optimism[sitenorth]", "optimism[siteeast]",
                                                    "optimism[I(age > 55)TRUE]"))
  expect_true(all(found$matrices$optimism %in% 0:1))
  expect_identical(getOption("contrasts"), c("contr.sum", "contr.poly"))
})

test_that("columns whose names are no plain words are called as they are, and have their mean", {
  odd <- as.data.frame(visits)
  names(odd)[match(c("age", "arm"), names(odd))] <- c("age at entry", "the arm")
  odd <- trajectories(odd, covariates = c("age at entry", "the arm", "clinician"))
  effects <- list(optimism ~ `age at entry` * `the arm` + I(`age at entry`^2) + (1 | clinician))
  plain <- design_of(list(optimism ~ age * arm + I(age^2) + (1 | clinician)))$design
  found <- design_of(effects, odd)$design
  expect_identical(found$coefficients$centre, plain$coefficients$centre)
  expect_identical(found$coefficients$centre[3], mean(visits$age[!duplicated(visits$id)]))
  expect_identical(found$coefficients$name, c("(Intercept)", "(Intercept)", "age at entry", "the armb",
                                              "I(`age at entry`^2)", "age at entry:the armb"))
  expect_equal(unname(found$matrices$optimism), unname(plain$matrices$optimism))
  # Whoever reads cells, or states a prior, finds them by that name.
  expect_identical(cell_covariates(found)[c("age at entry", "the arm")],
                   stats::setNames(cell_covariates(plain)[c("age", "arm")], c("age at entry", "the arm")))
  expect_named(factor_variables(found, "optimism"), "the arm")
  stated <- unclass(ibrc_prior(optimism[`age at entry`] ~ normal(0, 0.3)))
  expect_identical(design_of(effects, odd, stated = stated)$design$prior[["optimism[age at entry]"]]$args[["sd"]], 0.3)
})

test_that("numbers beyond what can be calculated with are named, with what to do", {
  sized <- function(size) {
    data <- as.data.frame(visits)
    data$age <- size * data$age
    trajectories(data, covariates = c("age", "arm"))
  }
  for (size in c(1e-300, 1e-160)) {
    expect_refused(design_of(list(optimism ~ arm + age), sized(size)), "effects",
                   "\"age\" in .* vary too little .* unit")
  }
  for (size in c(1e300, 1e160)) {
    expect_refused(design_of(list(optimism ~ arm + age), sized(size)), "effects", "\"age\" in .* too large .* unit")
  }
  expect_refused(design_of(list(optimism ~ age + I(age^2)), sized(1e60)), "effects", "I\\(age\\^2\\).* too large")
  expect_refused(design_of(list(optimism ~ I(0 * age)), sized(1)), "effects", "aliased")
  for (size in c(1e-50, 1e50)) {
    found <- design_of(list(optimism ~ arm + age), sized(size))$design$coefficients
    expect_equal(found$scale[4] * size, design_of(list(optimism ~ arm + age))$design$coefficients$scale[4])
  }
})

test_that("flags stay flags in a formula, and levels are compared in their order", {
  flags <- altered(function(x) {
    x$stage <- factor(c("I", "II", "III")[(x$age - 40) / 10], c("III", "II", "I"), ordered = TRUE)
    transform(x, flag = arm == "b")
  })
  people <- as.data.frame(flags)[!duplicated(flags$id), ]
  column <- function(formula, visits = flags) {
    found <- design_of(list(formula), visits)
    expect_identical(length(found$design$coefficients$label), 3L)
    found$design$matrices$optimism[as.integer(found$cell), 2]
  }
  expect_equal(column(optimism ~ !flag), as.numeric(!people$flag))
  expect_equal(column(optimism ~ I(flag & age > 55)), as.numeric(people$flag & people$age > 55))
  expect_equal(column(optimism ~ I(stage < "II")), as.numeric(people$stage < "II"))
  expect_equal(column(optimism ~ I(flag * age)), with(people, flag * age - mean(flag * age)))
  expect_identical(design_of(list(optimism ~ flag + stage), flags)$design$coefficients$label[-(1:2)],
                   c("optimism[flagTRUE]", "optimism[stageII]", "optimism[stageI]"))
  # Other people are read so, too.
  formula <- design_of(list(optimism ~ !flag), flags)$design$formulas$optimism
  expect_equal(formula_matrix(formula, list(columns = list(flag = c(TRUE, TRUE, FALSE)), n = 3L))[, 2], c(0, 0, 1))
  # As are those of a file.
  found <- design_of(list(optimism ~ I(flag & age > 55) + I(stage > "II") + (1 | clinician)), flags)
  again <- effects_from_plain(effects_to_plain(found$design), prior)
  expect_identical(again, found$design)
  expect_silent(check_held_columns(again$formulas$optimism, again$matrices$optimism, as.vector(table(found$cell))))
})

test_that("no identifier is in a design", {
  found <- design_of(list(optimism ~ (1 | id)))
  expect_identical(found$design$factors$id$levels[1:2], c("trajectory 1", "trajectory 2"))
  expect_no_match(unlist(lapply(found, deparse)), "planted-identity")
  expect_refused(design_of(list(optimism ~ id)), "effects", "write \\(1 \\| id\\)")
  expect_refused(design_of(list(optimism ~ arm:id)), "effects", "column of identifiers")
})

test_that("columns that cannot be used are refused, with their rows", {
  expect_refused(design_of(list(optimism ~ nobody)), "effects", "nobody")
  expect_refused(design_of(list(optimism ~ (1 | nobody))), "effects", "nobody")
  expect_refused(design_of(list(optimism ~ .)), "effects")
  lost <- altered(function(x) transform(x, age = replace(age, 5, NA)))
  error <- expect_error(design_of(list(optimism ~ age), lost), "is missing", class = "ibrc_error_data")
  expect_identical(error$rows, 5L)
  blank <- altered(function(x) transform(x, site = replace(site, 7, "")))
  error <- expect_error(design_of(list(optimism ~ (1 | site)), blank), "is missing", class = "ibrc_error_data")
  expect_identical(error$rows, 7L)
  moves <- altered(function(x) transform(x, age = replace(age, 3, 99)))
  error <- expect_error(design_of(list(optimism ~ age), moves), "changes within a trajectory",
                        class = "ibrc_error_data")
  expect_true(all(error$rows %in% which(as.data.frame(moves)$id == as.data.frame(moves)$id[3])))
  expect_false(any(grepl("planted-identity", conditionMessage(error))))
  # What is said nowhere is not looked at.
  expect_no_error(design_of(list(optimism ~ arm), lost))
})

test_that("columns that say nothing, or the same as others, are refused with the remedy", {
  alone <- altered(function(x) transform(x, arm = "a", one = 3))
  expect_refused(design_of(list(optimism ~ arm), alone), "effects", "one value only")
  expect_refused(design_of(list(optimism ~ one), alone), "effects", "out of the formula")
  expect_refused(design_of(list(optimism ~ (1 | arm)), alone), "effects", "one level only")
  expect_refused(design_of(list(optimism ~ age + I(age / 10))), "effects", "aliased")
  empty <- altered(function(x) transform(x, place = ifelse(arm == "b" & clinician == "c2", "q", "p")))
  expect_refused(design_of(list(optimism ~ arm * place), empty), "effects", "Write \\+ instead of \\*")
  expect_refused(design_of(list(optimism ~ arm + clinician)), "effects", "aliased")
  # Intercepts that fixed effects say already.
  expect_refused(design_of(list(optimism ~ arm + (1 | arm))), "effects", "keep one of the two")
  expect_refused(design_of(list(optimism ~ clinician + (1 | clinician))), "effects", "keep one of the two")
  # Of another term they say nothing.
  expect_no_error(design_of(list(optimism ~ clinician, alpha ~ (1 | clinician))))
})

test_that("coefficients that would have one name are refused, and both columns are named", {
  alike <- altered(function(x) {
    transform(x, arm = ifelse(arm == "a", "a", "b2"), armb = ifelse(age > 55, "2", "1"), armb2 = age)
  })
  expect_refused(design_of(list(optimism ~ arm + armb), alike), "effects",
                 paste0("^`effects` has 2 coefficients that are all called \"armb2\", of \"arm\" and \"armb\": ",
                        "rename a column"))
  expect_refused(design_of(list(optimism ~ age * arm + armb2), alike), "effects", "\"arm\" and \"armb2\"")
  # Of two terms they are told apart.
  expect_identical(design_of(list(optimism ~ arm, alpha ~ armb), alike)$design$coefficients$label,
                   c("alpha", "alpha[armb2]", "optimism", "optimism[armb2]"))
})

test_that("a fixed factor with a level for nearly everybody is refused at once, as is a great one of intercepts", {
  formulas <- function(...) read_effects(list(...), prior)
  many <- function(n, each = 1) list(columns = list(lev = paste0("l", (seq_len(n) - 1) %/% each)), n = n)
  expect_refused(learn_formula(formulas(optimism ~ lev)[[1]], many(20000)), "effects", "Write \\(1 \\| lev\\)")
  expect_refused(learn_formula(formulas(optimism ~ lev)[[1]], many(12)), "effects", "12 levels among 12 trajectories")
  expect_no_error(learn_formula(formulas(optimism ~ lev)[[1]], many(24, 2)))
  # Of a few it is not.
  expect_no_error(learn_formula(formulas(optimism ~ lev)[[1]], many(4)))
  # No matrix of 20,000 columns is made either to see that intercepts are not the fixed effects.
  one <- list(name = "id", level = 1:20000, levels = paste(1:20000), terms = 2L)
  x <- cbind("(Intercept)" = 1, age = rep(0:1, 10000))
  expect_silent(refuse_aliased(x, "optimism", list(one), c("alpha", "optimism")))
})

test_that("formulas that give no number, or no intercept, are refused", {
  expect_refused(design_of(list(optimism ~ age - 1)), "effects", "without an intercept")
  expect_refused(design_of(list(optimism ~ 0 + age)), "effects", "without an intercept")
  # Nobody is dropped where a formula cannot be worked out.
  error <- expect_error(design_of(list(optimism ~ log(age - 50))), "\"log\\(age - 50\\)\" is not finite",
                        class = "ibrc_error_data")
  expect_identical(error$argument, "effects")
  people <- as.data.frame(visits)
  expect_identical(error$rows, which(!duplicated(people$id) & people$age == 50))
  expect_error(design_of(list(optimism ~ log(age - 60))), "not finite", class = "ibrc_error_data")
  expect_refused(design_of(list(optimism ~ log(arm))), "effects", "cannot be worked out")
})

test_that("other people are read as those of the fit were", {
  formula <- design_of(list(optimism ~ arm + age + I(age > 65)))$design$formulas$optimism
  others <- list(columns = list(arm = c("b", "b"), age = c(65, 66)), n = 2L, row = c(1L, 5L))
  centre <- mean(as.data.frame(visits)$age[!duplicated(visits$id)])
  expect_equal(formula_matrix(formula, others), cbind(1, c(1, 1), c(65, 66) - centre, 0:1), ignore_attr = TRUE)
  others$columns$arm[2] <- "c"
  error <- expect_error(formula_matrix(formula, others), "has not met \\(row 5\\)", class = "ibrc_error_data")
  expect_identical(error[c("argument", "rows")], list(argument = "visits", rows = 5L))
})

test_that("dates and spans of time are no numbers until somebody says from where they are counted", {
  dated <- altered(function(x) {
    x$day <- as.Date("2020-01-01") + x$age
    x$moment <- as.POSIXct(x$day, tz = "UTC")
    x$span <- x$day - as.Date("2019-12-01")
    transform(x, number = as.numeric(day))
  })
  for (formula in list(optimism ~ day, optimism ~ moment, optimism ~ arm + span, optimism ~ I(day))) {
    expect_refused(design_of(list(formula), dated), "effects", "make a number of it first")
  }
  # One that says which day is one.
  found <- design_of(list(optimism ~ number), dated)$design$matrices$optimism
  expect_equal(found, design_of(list(optimism ~ age))$design$matrices$optimism, ignore_attr = TRUE)
  expect_identical(labels_of(optimism ~ I(age > 55))[3], "optimism[I(age > 55)TRUE]")
})

test_that("a coefficient of those of whom no action is scored is refused", {
  scored_in <- function(keep) {
    data <- transform(as.data.frame(people_visits()), counts = keep)
    trajectories(data, covariates = c("arm", "clinician", "age"), scored = "counts", setting = diag_setting())
  }
  people <- as.data.frame(people_visits())
  expect_refused(design_of(list(optimism ~ arm), scored_in(people$arm == "a")), "effects",
                 "nothing can be learnt of \"armb\"")
  expect_refused(design_of(list(optimism ~ arm * age), scored_in(people$arm == "a" | people$age == 50)), "effects",
                 "\"armb:age\"")
  # One of each is enough; and random intercepts have a spread to lean on.
  first <- !duplicated(people$arm)
  expect_identical(design_of(list(optimism ~ arm), scored_in(first))$design$coefficients$label[3], "optimism[armb]")
  expect_length(design_of(list(optimism ~ (1 | clinician)), scored_in(people$arm == "a"))$design$cells, 8)
})

test_that("numbers are centred before products are made of them", {
  people <- as.data.frame(visits)[!duplicated(visits$id), ]
  people$age <- people$age - mean(people$age)
  found <- design_of(list(optimism ~ age * arm))
  wanted <- stats::model.matrix(~ age * arm, people)
  expect_equal(found$design$matrices$optimism[as.integer(found$cell), ], unclass(wanted), ignore_attr = TRUE)
  coefficients <- found$design$coefficients
  expect_equal(coefficients$centre[3:5], c(mean(as.data.frame(visits)$age[!duplicated(visits$id)]), 0, 0))
  expect_equal(coefficients$scale[5], 1 / stats::sd(wanted[, "age:armb"]), tolerance = 1e-4)
  # What stands in the formula is what is centred.
  for (formula in list(optimism ~ log(age) * arm, optimism ~ I(age^2) * arm)) {
    design <- design_of(list(formula))$design
    people <- as.data.frame(visits)[!duplicated(visits$id), ]
    value <- if ("log(age)" %in% design$coefficients$name) log(people$age) else people$age^2
    expect_equal(design$coefficients$centre[3], mean(value))
    x <- unname(design$matrices$optimism)
    expect_equal(x[, 4], x[, 2] * x[, 3])
  }
})

# The log posterior of coefficients at `theta`, and the cells' terms.
posterior_at <- function(effects, visits, theta) {
  inverse <- people_inverse(effects, visits = visits)
  evaluator <- effects_evaluator(inverse, 1L)
  found <- evaluate_batch(evaluator, rbind(theta), matrix(0, evaluator$n_values, 1))
  list(density = found$log_prior + found$log_likelihood,
       cells = cells_of(evaluator$cells, rbind(theta), matrix(0, 1, 0)))
}

test_that("from where and in what unit a number is measured does not matter", {
  effects <- list(optimism ~ age * arm, alpha ~ age)
  theta <- c(alpha = -0.5, "alpha[age]" = 0.02, optimism = 0.3, "optimism[age]" = 0.03, "optimism[armb]" = 0.2,
             "optimism[age:armb]" = -0.04)
  here <- posterior_at(effects, visits, theta)
  shifted <- posterior_at(effects, altered(function(x) transform(x, age = age - 70)), theta)
  expect_equal(shifted, here, tolerance = 1e-10)
  slopes <- grepl("age", names(theta))
  months <- posterior_at(effects, altered(function(x) transform(x, age = 12 * age)), theta / ifelse(slopes, 12, 1))
  expect_equal(months$cells, here$cells, tolerance = 1e-10)
  # A density in other units.
  expect_equal(months$density, here$density + sum(slopes) * log(12), tolerance = 1e-10)
})

test_that("how two values are coded does not matter", {
  coded <- function(low, high) altered(function(x) transform(x, arm = ifelse(arm == "a", low, high)))
  effects <- list(optimism ~ age * arm)
  theta <- c(-0.5, 0.3, 0.03, 0.2, -0.04)
  text <- posterior_at(effects, visits, theta)
  expect_equal(posterior_at(effects, coded(0, 1), theta), text, tolerance = 1e-10)
  expect_equal(posterior_at(effects, coded(1, 2), theta), text, tolerance = 1e-10)
  wide <- posterior_at(effects, coded(-5, 5), theta / c(1, 1, 1, 10, 10))
  expect_equal(wide$cells, text$cells, tolerance = 1e-10)
  expect_equal(wide$density, text$density + 2 * log(10), tolerance = 1e-10)
  # Not so what has one value, or three.
  expect_refused(design_of(list(optimism ~ arm), coded(0.1, 0.1)), "effects", "out of the formula")
  expect_equal(number_centre(c(1, 1, 2, 3)), 1.75)
})
