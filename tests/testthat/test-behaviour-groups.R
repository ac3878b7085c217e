visits <- data.frame(id = rep(1:3, each = 2), time = rep(1:2, 3), action = "monitor", observation = "positive",
                     sex = rep(c("f", "m", NA), each = 2), old = rep(c(TRUE, FALSE, TRUE), each = 2))
read_visits <- function(data) trajectories(data, covariates = c("sex", "old"), setting = diag_setting())
groups_of <- function(data, by) {
  seen <- read_visits(data)
  group_trajectories(seen, by, code_visits(seen, diag_setting()))
}

# Four trajectories that do not stand in the order of their identifiers, and a fit to each.
single_visits <- function() {
  plan <- plan_agent(diag_setting(), bounded_agent(0.5), resolution = 5)
  data <- as.data.frame(simulate(plan, 4, seed = 3))
  data$id <- c("d", "b", "a", "c")[data$id]
  trajectories(data)
}
single_fit <- function() {
  suppressWarnings(ibrc(single_visits(), diag_setting(), prior = ibrc_prior(alpha ~ lognormal(0, 1)), by = "id",
                        chains = 1, iter = 20, seed = 1, resolution = 5, control = list(check = FALSE)))
}

test_that("one level per combination, missing a level of its own", {
  expect_identical(groups_of(visits, "sex"), factor(c("f", "m", "missing")))
  expect_identical(as.character(groups_of(visits, c("sex", "old"))), c("f, TRUE", "m, FALSE", "missing, TRUE"))
  expect_identical(levels(groups_of(visits, NULL)), "all")
  ordered <- transform(visits, sex = factor(sex, levels = c("m", "f", "other")))
  expect_identical(levels(groups_of(ordered, "sex")), c("m", "f", "missing"))
})

test_that("tables have no column for the one group that is none", {
  table <- data.frame(term = "alpha", group = "all")
  expect_named(without_lone_group(table, "all"), "term")
  expect_identical(without_lone_group(table, c("all", "some")), table)
  expect_identical(without_lone_group(table, "north"), table)
})

test_that("a group that changes within a trajectory is refused by its rows", {
  changed <- visits
  changed$sex[4] <- "f"
  error <- expect_error(groups_of(changed, "sex"), class = "ibrc_error_data")
  expect_identical(error$rows, 4L)
  expect_error(groups_of(visits, "age"), "`covariates` of trajectories()", fixed = TRUE, class = "ibrc_error_input")
  expect_error(groups_of(visits, 3), class = "ibrc_error_input")
})

test_that("small groups are warned of", {
  warned <- function(group, visits, ...) {
    expect_warning(warn_small_groups(factor(group), rep_len(visits, length(group))), ...,
                   class = "ibrc_warning_small_group")
  }
  warned(c(rep("a", 30), "b"), 5, "\"b\" has fewer than 20 trajectories and fewer than 200 visits")
  expect_silent(warn_small_groups(factor(rep("a", 30)), rep(5, 30)))
  warned(c("b", "c"), 5, "\"b\" and \"c\" have fewer")
  warned(rep("all", 3), 5, "There are fewer than 20 trajectories and fewer than 200 visits")
})

test_that("groups that are trajectories are warned of in one sentence", {
  warned <- function(visits) {
    group <- numbered_trajectories(length(visits))
    told <- expect_warning(warn_small_groups(group, visits), class = "ibrc_warning_small_group")
    conditionMessage(told)
  }
  expect_identical(warned(c(400, rep(5, 300))),
                   paste0("Groups ", paste0("\"trajectory ", 2:6, "\"", collapse = ", "), " and 295 more have fewer ",
                          "than 200 visits: the posterior will lean on the prior. Pool groups, or report it as such."))
  expect_match(warned(c(5, 400)), "^Group \"trajectory 1\" has fewer than 200 visits:")
  expect_silent(warn_small_groups(numbered_trajectories(2), c(400, 400)))
})

test_that("groups by the column of identifiers are trajectories, by number", {
  # Numbers that would be another order, and rows of two that take turns.
  data <- visits[c(3, 1, 4, 2, 5, 6), ]
  expect_identical(groups_of(data, "id"), factor(paste("trajectory", 1:3)))
  expect_identical(as.character(groups_of(data, c("old", "id"))),
                   c("FALSE, trajectory 1", "TRUE, trajectory 2", "TRUE, trajectory 3"))
  expect_identical(as.character(groups_of(data, c("id", "sex"))),
                   c("trajectory 1, m", "trajectory 2, f", "trajectory 3, missing"))
  many <- trajectories(data.frame(id = 12:1, time = 1, action = "monitor", observation = "positive"))
  expect_identical(levels(group_trajectories(many, "id", code_visits(many, diag_setting()))),
                   paste("trajectory", 1:12))
})

test_that("a fit by the column of identifiers is that of each trajectory alone, and can be joined with its id", {
  seen <- single_visits()
  fit <- single_fit()
  expect_named(fit$draws, paste("trajectory", 1:4))
  alone <- suppressWarnings(ibrc_mode(seen, diag_setting(), prior = fit$prior, by = "id", starts = 2, seed = 1,
                                      resolution = 5, conf.level = NULL))
  expect_identical(tidy(alone)$group, names(fit$draws))
  who <- unique(seen$id)
  joined <- merge(tidy(alone), data.frame(group = paste("trajectory", seq_along(who)), id = who))
  for (one in who) {
    own <- suppressWarnings(ibrc_mode(seen[seen$id == one, ], diag_setting(), prior = fit$prior, starts = 2, seed = 1,
                                      resolution = 5, conf.level = NULL))
    expect_equal(joined$estimate[joined$id == one], tidy(own)$estimate, tolerance = 1e-4)
  }
})

test_that("a fit by the column of identifiers takes its own visits, whole and in order, and no others", {
  seen <- single_visits()
  fit <- single_fit()
  told <- augment(fit, seen)
  expect_equal(told$.probability, augment(fit)$.probability)
  expect_identical(as.character(belief_paths(fit, seen)$.group), paste("trajectory", match(seen$id, unique(seen$id))))
  expect_equal(unname(log_lik(fit, draws = 3, newdata = seen)), unname(log_lik(fit, draws = 3)))
  reversed <- seen[order(match(seen$id, rev(unique(seen$id)))), ]
  for (other in list(seen[seen$id != "d", ], seen[seen$id == "b", ], reversed)) {
    for (look in list(augment, belief_paths, function(fit, visits) log_lik(fit, newdata = visits), simplex_data)) {
      expect_error(look(fit, other), "those that the fit was made from", class = "ibrc_error_input")
    }
  }
  expect_error(augment(without_data(fit), seen), "keep_data = FALSE", class = "ibrc_error_input")
  # In a table where that column is a covariate, too.
  renamed <- trajectories(transform(as.data.frame(seen), who = id, id = match(id, unique(id))), id = "who",
                          covariates = "id")
  expect_error(augment(fit, renamed), "has not met", class = "ibrc_error_input")
})

test_that("dynamics of single trajectories are named by number, and no identifier given instead is shown", {
  seen <- single_visits()
  prior <- ibrc_prior(alpha ~ lognormal(0, 1))
  own <- stats::setNames(rep(list(diag_setting()), 4), paste0("SECRET", 1:4))
  models <- lapply(own, function(x) diag_models())
  for (give in list(function(...) suppressWarnings(ibrc_mode(seen, own, prior = prior, by = "id")),
                    function(...) suppressWarnings(ibrc(seen, diag_setting(), models, prior, by = "id")))) {
    error <- expect_error(give(), "there are \"trajectory 1\"", class = "ibrc_error_input")
    expect_no_match(conditionMessage(error), "SECRET")
  }
})

test_that("columns to group by are named once, in quotes", {
  expect_error(groups_of(visits, c("sex", "sex")), "more than once", class = "ibrc_error_input")
  expect_error(groups_of(visits, c("id", "id")), "more than once", class = "ibrc_error_input")
  seen <- single_visits()
  expect_error(ibrc(seen, diag_setting(), by = id), "by = \"id\"", fixed = TRUE, class = "ibrc_error_input")
  expect_error(ibrc_mode(seen, diag_setting(), by = id), "by = \"id\"", fixed = TRUE, class = "ibrc_error_input")
  # A variable of that name is meant.
  id <- "clinic"
  expect_error(ibrc_mode(seen, diag_setting(), by = id), "\"clinic\" is not a column", class = "ibrc_error_input")
})

test_that("visits count as well as trajectories", {
  # A few long trajectories are no few data; many of a single visit are.
  expect_silent(warn_small_groups(factor(rep("all", 5)), rep(400, 5)))
  told <- expect_warning(warn_small_groups(factor(rep("all", 30)), rep(1, 30)),
                         "20 trajectories or more, but fewer than 50 visits", class = "ibrc_warning_small_group")
  expect_no_match(conditionMessage(told), "30")
  group <- factor(rep(c("long", "short", "single"), c(5, 5, 30)))
  told <- expect_warning(warn_small_groups(group, rep(c(400, 3, 1), c(5, 5, 30))), "\"short\" has fewer",
                         class = "ibrc_warning_small_group")
  expect_match(conditionMessage(told), "\"single\" has 20 trajectories or more, but fewer than 50 visits")
  expect_no_match(conditionMessage(told), "long")
  # In a fit and a mode, too, and without a count below five.
  single <- trajectories(data.frame(id = 1:30, time = 1, action = rep(c("monitor", "declare_healthy"), 15),
                                    observation = NA_character_))
  prior <- ibrc_prior(alpha ~ lognormal(0, 1))
  expect_warning(ibrc(single, diag_setting(), prior = prior, chains = 1, iter = 10, seed = 1, resolution = 5),
                 "fewer than 50 visits", class = "ibrc_warning_small_group")
  expect_warning(ibrc_mode(single, diag_setting(), prior = prior, starts = 1, seed = 1, resolution = 5,
                           conf.level = NULL),
                 "fewer than 50 visits", class = "ibrc_warning_small_group")
})

test_that("groups are fitted as if alone", {
  fit <- clinic_fit()
  north <- clinic_visits()
  north <- trajectories(as.data.frame(north)[north$clinic == "north", ], setting = diag_setting())
  alone <- ibrc(north, diag_setting(), diag_models(), fit$prior, chains = 2, iter = 600, seed = 5)
  a <- tidy(fit)[1:2, ]
  b <- tidy(alone)
  expect_true(all(abs(a$estimate - b$estimate) < 5 * a$std.error / sqrt(pmin(a$ess_bulk, b$ess_bulk)) * 1.5))
})

test_that("no two combinations share a label", {
  labels <- function(...) {
    parts <- data.frame(...)
    data <- data.frame(id = seq_len(nrow(parts)), time = 1, action = "monitor", observation = "positive", parts)
    seen <- trajectories(data, covariates = names(parts))
    as.character(group_trajectories(seen, names(parts), code_visits(seen, diag_setting())))
  }
  expect_identical(labels(g = c("a", "a, b"), h = c("b, c", "c")), c("a, \"b, c\"", "\"a, b\", c"))
  expect_identical(labels(g = c("f", NA), h = c("carrier", "carrier")), c("f, carrier", "missing, carrier"))
  # Alone, and with commas that are no separators, labels are the values.
  expect_identical(labels(g = c("a, b", "c")), c("a, b", "c"))
  expect_identical(labels(g = c("(60,70]", "(70,80]"), h = c("f", "m")), c("(60,70], f", "(70,80], m"))
  expect_identical(labels(g = c("missing", "c")), c("missing", "c"))
  expect_identical(labels(g = c(NA, "c")), c("missing", "c"))
  expect_identical(labels(g = c(NA, "missing", "", "  ", "NA")),
                   c("missing", "\"missing\"", "missing", "missing", "NA"))
  expect_identical(labels(g = c(NA, "missing", "\"missing\"")), c("missing", "\"missing\"", "\"\"\"missing\"\"\""))
  expect_identical(labels(g = addNA(factor(c("a", NA, "missing")))), c("a", "missing", "\"missing\""))
  # Every pair of a set of unkind words.
  words <- c("a", "b", "a, b", ", y", ",", " x", "\"a\"", "\"", "a\", \"b", "missing", NA, "missing, missing", "NA")
  pairs <- expand.grid(g = words, h = words, stringsAsFactors = FALSE)
  made <- labels(g = pairs$g, h = pairs$h)
  expect_identical(anyDuplicated(made), 0L)
  for (i in 1:2) expect_length(unique(label_part(made, i)), length(words))
})

test_that("groups of later visits are those of the fit", {
  data <- data.frame(id = 1:4, time = 1, action = "monitor", observation = "positive",
                     g = c("missing", NA, "a", "missing"), h = c("x", "x", "y", "y"))
  groups <- function(data, by, known = NULL) {
    seen <- trajectories(data, covariates = c("g", "h"))
    as.character(group_trajectories(seen, by, code_visits(seen, diag_setting()), known))
  }
  for (by in list("g", c("g", "h"), c("h", "g"))) {
    all <- groups(data, by)
    for (i in 1:4) expect_identical(groups(data[i, ], by, all), all[i])
  }
})

test_that("values that are the same to the eye are refused by their rows", {
  for (odd in c("f ", "f\u00a0", "\u200bf", "f\t")) {
    data <- visits
    data$sex[3:4] <- odd
    error <- expect_error(groups_of(data, "sex"), "invisible characters", class = "ibrc_error_data")
    expect_equal(error$rows, 3:4)
    expect_identical(error$argument, "by")
  }
})

test_that("text stands in the order of its letters' codes, in every locale", {
  data <- transform(visits, sex = rep(c("b", "B", "a"), each = 2))
  expect_identical(levels(groups_of(data, "sex")), c("B", "a", "b"))
  expect_identical(levels(groups_of(data, c("old", "sex"))), c("FALSE, B", "TRUE, a", "TRUE, b"))
  data$sex <- rep(c(10, 9, 0.5), each = 2)
  expect_identical(levels(groups_of(data, "sex")), c("0.5", "9", "10"))
  withr::local_options(OutDec = ",")
  expect_identical(levels(groups_of(data, "sex")), c("0.5", "9", "10"))
})

test_that("values that differ are different groups, or are refused", {
  grouped <- function(old, known = NULL) {
    data <- data.frame(id = seq_along(old), time = 1, action = "monitor", observation = "positive", old = old)
    seen <- trajectories(data, covariates = "old")
    as.character(group_trajectories(seen, "old", code_visits(seen, diag_setting()), known))
  }
  expect_identical(grouped(c(1e15, 1e15 + 0.5)), c("1e+15", "1000000000000000.5"))
  expect_identical(grouped(c(0.1 + 0.2, 0.3, NA)), c("0.30000000000000004", "0.3", "missing"))
  # What is alone is called what it always was, unless the fit has told two of them apart.
  expect_identical(grouped(c(1 / 3, 1e5, 0.1 + 0.2, -0, 0, Inf)),
                   c(as.character(1 / 3), "1e+05", "0.3", "0", "0", "Inf"))
  expect_identical(grouped(0.1 + 0.2, known = c("0.3", "0.30000000000000004")), "0.30000000000000004")
  expect_identical(grouped(0.3, known = c("0.3", "0.30000000000000004")), "0.3")
  # Newer versions of R write parts of a second.
  times <- as.POSIXct("2020-01-01", tz = "UTC") + c(0, 0.4, 0)
  made <- tryCatch(grouped(times), ibrc_error_data = function(e) e)
  if (inherits(made, "error")) expect_identical(made$rows, 2L) else expect_length(unique(made), 2)
  refused <- expect_error(grouped(as.Date("2020-01-01") + c(0, 0.5)), "written the same", class = "ibrc_error_data")
  expect_identical(refused$rows, 2L)
  # The hour that comes twice when clocks go back.
  expect_error(grouped(as.POSIXct(c(1603585800, 1603589400), origin = "1970-01-01", tz = "Europe/Berlin")),
               "written the same", class = "ibrc_error_data")
  expect_identical(grouped(as.POSIXct("2020-01-01", tz = "UTC") + c(60, 0)),
                   c("2020-01-01 00:01:00", "2020-01-01 00:00:00"))
  expect_identical(levels(factor(grouped(c("", " ", "a")))), c("a", "missing"))
})
