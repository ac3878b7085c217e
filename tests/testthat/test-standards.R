# inst/standards.md answers the rOpenSci standards for statistical software, general and
# Bayesian, version 0.2.0. Here: whether it answers each of them once and names nothing that
# is not there; then what the standards ask to be tested and no other file tests.

# ---- the document ---------------------------------------------------------------

numbers_of <- function(chapter, ...) paste0(chapter, ".", c(...))
general <- c(
  numbers_of("G1", 0:4, "4a", 5:6),
  numbers_of("G2", 0, "0a", 1, "1a", 2, 3, "3a", "3b", 4, "4a", "4b", "4c", "4d", "4e", 5:14, "14a", "14b", "14c",
             15:16),
  numbers_of("G3", 0, 1, "1a"),
  "G4.0",
  numbers_of("G5", 0:2, "2a", "2b", 3:4, "4a", "4b", "4c", 5:6, "6a", "6b", 7:8, "8a", "8b", "8c", "8d", 9, "9a", "9b",
             10:11, "11a", 12)
)
bayesian <- c(
  numbers_of("BS1", 0:2, "2a", "2b", "2c", 3, "3a", "3b", 4:5),
  numbers_of("BS2", 1, "1a", 2:15), # there is no BS2.0
  numbers_of("BS3", 0:2), numbers_of("BS4", 0:7), numbers_of("BS5", 0:5), numbers_of("BS6", 0:5),
  numbers_of("BS7", 0:4, "4a")
)

standards_lines <- function() readLines(stored_file("standards.md"), encoding = "UTF-8")

# One row per standard: its number, what it asks, the answer, why and where.
read_standards <- function(lines = standards_lines()) {
  rows <- strsplit(grep("^[|] (G|BS)[0-9]", lines, value = TRUE), " *[|] *")
  rows <- do.call(rbind, lapply(rows, function(cells) trimws(cells[-1])))
  stats::setNames(as.data.frame(rows), c("number", "asks", "answer", "where"))
}

marked <- function(text, pattern) {
  unique(unlist(lapply(text, function(line) {
    found <- regmatches(line, gregexpr("`[^`]+`", line))[[1]]
    grep(pattern, gsub("`", "", found), value = TRUE)
  })))
}

# What a document names and is not there: functions, help, tests with their titles, files.
lost_names <- function(lines) {
  text <- grep("^[|]", lines, value = TRUE)
  functions <- sub("[(].*", "", marked(text, "^[A-Za-z_.]+[(][)]$"))
  known <- vapply(functions, exists, NA, envir = asNamespace("ibrc"))
  topics <- sub("^[?]", "", marked(text, "^[?]"))
  pages <- unlist(lapply(tools::Rd_db("ibrc"), function(page) {
    vapply(page[vapply(page, attr, "", "Rd_tag") == "\\alias"], function(x) as.character(x[[1]]), "")
  }))
  tests <- marked(text, "^test-.*[.]R$")
  c(functions[!known], setdiff(topics, pages), tests[!file.exists(testthat::test_path(tests))], lost_titles(text))
}

# A test's title stands in quotes after its file, before the next semicolon.
lost_titles <- function(text) {
  pieces <- grep("`test-[^`]+[.]R`.*\"", unlist(strsplit(text, "; |[|]")), value = TRUE)
  unlist(lapply(pieces, function(piece) {
    file <- testthat::test_path(marked(piece, "^test-.*[.]R$"))
    code <- unlist(lapply(file[file.exists(file)], readLines, encoding = "UTF-8", warn = FALSE))
    titles <- gsub("\"", "", regmatches(piece, gregexpr("\"[^\"]+\"", piece))[[1]])
    titles[!vapply(titles, function(title) any(grepl(paste0("test_that(\"", title, "\""), code, fixed = TRUE)), NA)]
  }))
}

test_that("every standard is answered once, and in one of three ways", {
  table <- read_standards()
  expect_identical(table$number[duplicated(table$number)], character())
  expect_identical(setdiff(c(general, bayesian), table$number), character())
  expect_identical(setdiff(table$number, c(general, bayesian)), character())
  expect_length(c(general, bayesian), 124)
  expect_identical(setdiff(table$answer, c("met", "not met", "does not apply")), character())
  expect_true(all(nzchar(table$asks) & nzchar(table$where)))
  # The counts at its head are those of the table.
  head <- standards_lines()
  said <- vapply(c("met", "not met", "does not apply"), function(answer) {
    sum(table$answer == answer)
  }, 0L)
  expect_match(head, sprintf("%d are met, %d are not met and %d do not apply", said[1], said[2], said[3]), all = FALSE)
})

test_that("functions, help pages and tests that the answers name exist", {
  lines <- standards_lines()
  expect_identical(lost_names(lines), character())
  expect_gt(length(marked(lines, "^test-.*[.]R$")), 20)
  # Names that lead nowhere are seen.
  wrong <- c("| `no_such()`; `?no_such`; `test-no_such.R` |", "| `test-fit-ibrc.R` \"no such title\" |")
  expect_identical(unname(lost_names(wrong)), c("no_such", "no_such", "test-no_such.R", "no such title"))
})

test_that("files that the answers name exist", {
  if (!file.exists("../../DESCRIPTION")) skip("not in the folder of sources")
  lines <- standards_lines()
  files <- marked(lines, "^(R|src|tests|inst|data-raw|tools|vignettes)/|^[A-Z]+([.]md)?$")
  expect_gt(length(files), 10)
  expect_identical(files[!file.exists(file.path("..", "..", files))], character())
  vignettes <- sub("^vignette[(]\"(.*)\"[)]$", "\\1", marked(lines, "^vignette[(]"))
  expect_identical(setdiff(vignettes, sub("[.]Rmd$", "", list.files("../../vignettes", "[.]Rmd$"))), character())
})

# ---- a small problem ------------------------------------------------------------

setting <- diag_setting()
models <- diag_models()
plan <- plan_agent(setting, bounded_agent(1), models, resolution = 20)
prior <- ibrc_prior(alpha ~ lognormal(0, 1))
behaviour <- function(n, seed, alpha = 1) simulate(update(plan, bounded_agent(alpha)), n, seed = seed)
fit_to <- function(visits, ..., seed = 1, iter = 600, chains = 2, problem = setting) {
  ibrc(visits, problem, models, prior, chains = chains, iter = iter, seed = seed, resolution = 20, ...)
}

# ---- columns and vectors with classes of their own (G2.6, G2.11, G2.12) ----------

test_that("classes that a package may put on a vector do not change what it says", {
  strange <- function(x) {
    structure(x, class = "units", units = structure(list(numerator = "d"), class = "symbolic_units"))
  }
  expect_identical(bounded_agent(alpha = strange(0.5)), bounded_agent(alpha = 0.5))
  expect_identical(plan_agent(setting, bounded_agent(1), models, resolution = strange(20L))$nodes, plan$nodes)
  expect_identical(behaviour(strange(5), 1), behaviour(5, 1))
  # A date is a number to R, and not to us.
  expect_error(bounded_agent(alpha = as.Date("2020-01-01")), class = "ibrc_error_input")
  expect_error(bounded_agent(alpha = as.difftime(1, units = "days")), class = "ibrc_error_input")

  data <- as.data.frame(behaviour(25, 1))
  odd <- transform(data, id = strange(id), time = strange(time + 0.5),
                   action = structure(as.character(action), class = "code"),
                   observation = structure(as.character(observation), class = "code", label = "what was seen"))
  odd$clinic <- structure(data$id %% 2, class = "labelled")
  odd <- trajectories(odd, covariates = "clinic", setting = setting)
  expect_identical(unname(log_lik(plan, odd)), unname(log_lik(plan, trajectories(data))))
  expect_identical(names(fit_to(odd, iter = 20, by = "clinic")$draws), c("0", "1")) |>
    suppressWarnings(classes = "ibrc_warning_small_group")
})

test_that("a column of lists is refused by its name, and ignored where it is not named", {
  data <- as.data.frame(behaviour(25, 1))
  data$notes <- lapply(seq_len(nrow(data)), function(i) list(i))
  expect_identical(log_lik(plan, trajectories(data)), log_lik(plan, behaviour(25, 1)))
  expect_false("notes" %in% names(trajectories(data)))
  for (role in c("id", "time", "action", "observation", "covariates")) {
    error <- expect_error(do.call(trajectories, c(list(data), stats::setNames(list("notes"), role))),
                          "must be a plain column", class = "ibrc_error_input")
    expect_identical(error$argument, role)
  }
})

test_that("a whole number may come as either type, and factors may be ordered or not", {
  expect_identical(fit_to(behaviour(25, 1), iter = 20L, chains = 2L, seed = 1L)$draws,
                   fit_to(behaviour(25, 1), iter = 20, chains = 2, seed = 1)$draws)
  data <- as.data.frame(behaviour(25, 1))
  known <- log_lik(plan, behaviour(25, 1))
  for (ordered in c(TRUE, FALSE)) {
    words <- lapply(data[c("action", "observation")], function(x) factor(x, rev(levels(x)), ordered = ordered))
    expect_identical(log_lik(plan, trajectories(replace(data, names(words), words))), known)
  }
  # Levels of an ordered factor say the order of visits; of another, rows do.
  back <- factor(data$time, rev(sort(unique(data$time))))
  expect_identical(log_lik(plan, trajectories(replace(data, "time", list(back)))), known)
  expect_error(trajectories(replace(data, "time", list(as.ordered(back)))), "order", class = "ibrc_error_data")
  # Upper and lower case differ, in data and in choices.
  loud <- replace(data, "action", list(toupper(data$action)))
  expect_error(trajectories(loud, setting = setting), "action", class = "ibrc_error_data")
  expect_error(plan_agent(setting, bounded_agent(1), models, surprise = "Belief"), class = "ibrc_error_input")
})

# ---- noise, seeds, recovery, size (G5.6, G5.7, G5.9) ------------------------------

test_that("noise of the size of rounding changes nothing that can be seen", {
  jitter <- function(x) x * (1 + .Machine$double.eps * stats::runif(length(x), -4, 4))
  visits <- behaviour(40, 1)
  with_seed(7, {
    near <- decision_setting(
      setting$states, setting$actions, setting$observations, jitter(setting$transition), jitter(setting$emission),
      jitter(setting$utility), discount = jitter(setting$discount), start = jitter(setting$start),
      stop_actions = setting$stop_actions
    )
    late <- as.data.frame(visits)
    late$time <- jitter(late$time)
  })
  expect_false(identical(near$utility, setting$utility))
  moved <- plan_agent(near, bounded_agent(1), models, resolution = 20)
  expect_equal(value(moved), value(plan), tolerance = 1e-9)
  expect_equal(policy(moved), policy(plan), tolerance = 1e-9)
  expect_equal(log_lik(moved, visits), log_lik(plan, visits), tolerance = 1e-9)
  expect_equal(fit_to(visits, problem = near, iter = 100)$draws, fit_to(visits, iter = 100)$draws, tolerance = 1e-6)
  expect_identical(log_lik(plan, trajectories(late)), log_lik(plan, visits))
})

test_that("other seeds and other starts give the same posterior but for chance", {
  visits <- behaviour(100, 2)
  fits <- list(fit_to(visits, seed = 1), fit_to(visits, seed = 2),
               fit_to(visits, control = list(start = data.frame(alpha = c(50, 0.02)))))
  centre <- vapply(fits, function(fit) mean(log(fit$draws$all)), 0)
  error <- vapply(fits, function(fit) posterior::mcse_mean(log(fit$draws$all[, , 1])), 0)
  expect_false(anyDuplicated(centre) > 0)
  for (i in 2:3) expect_lt(abs(centre[i] - centre[1]) / sqrt(error[i]^2 + error[1]^2), 4.5)
})

test_that("what made the behaviour is found again, seed by seed", {
  away <- vapply(1:6, function(seed) {
    truth <- c(0.5, 2)[1 + seed %% 2]
    draws <- log(fit_to(behaviour(150, seed, truth), seed = seed, iter = 400)$draws$all)
    (stats::median(draws) - log(truth)) / stats::sd(draws)
  }, 0)
  # Standardised errors of a calibrated posterior: none beyond chance, none too small.
  expect_lt(max(abs(away)), 4)
  expect_lt(abs(mean(away)), 4 / sqrt(6))
  expect_gt(stats::sd(away), 0.3)
})

test_that("more patients narrow the posterior by the root of their number", {
  spread <- vapply(c(100, 400, 1600), function(n) stats::sd(log(fit_to(behaviour(n, 5))$draws$all)), 0)
  expect_true(all(spread[-1] / spread[-3] > 0.35 & spread[-1] / spread[-3] < 0.7))
})

test_that("a tighter tolerance brings values nearer to the fixed point", {
  solve_to <- function(tolerance) {
    value(plan_agent(setting, bounded_agent(1), models, resolution = 20, tolerance = tolerance))
  }
  exact <- solve_to(1e-12)
  tolerances <- c(1e-1, 1e-4, 1e-8)
  off <- vapply(tolerances, function(tolerance) max(abs(solve_to(tolerance) - exact)), 0)
  expect_true(all(off <= tolerances))
  expect_false(is.unsorted(rev(off)))
})

# ---- starts and seeds (BS2.7, BS2.8, BS2.9, BS5.0) --------------------------------

test_that("a fit says from where and with what seed it began", {
  visits <- behaviour(40, 1)
  given <- cbind(alpha = c(0.3, 4))
  fit <- fit_to(visits, iter = 40, control = list(start = given))
  expect_equal(fit$start, given)
  expect_identical(fit$seed, 1L)
  with_seed(3, fit <- fit_to(visits, iter = 40, seed = NULL))
  expect_identical(fit_to(visits, iter = 40, seed = fit$seed)$draws, fit$draws)
  expect_identical(dim(fit$start), c(2L, 1L))
  # Chains differ in where they begin and in their noise.
  expect_false(fit$start[1] == fit$start[2])
  same <- fit_to(visits, iter = 40, control = list(start = data.frame(alpha = 1)))
  expect_identical(same$start[1], same$start[2])
  expect_false(identical(same$draws$all[, 1, ], same$draws$all[, 2, ]))
  path <- withr::local_tempfile(fileext = ".ibrc")
  kept <- fit_to(visits, iter = 40, file = path)
  expect_identical(resume(path)[c("seed", "start")], kept[c("seed", "start")])
})

test_that("a fit can start where another ended", {
  fit <- clinic_fit()
  again <- function(start, ...) {
    ibrc(clinic_visits(), setting, models, fit$prior, iter = 20, seed = 2, control = list(start = start), ...)
  }
  second <- again(fit, by = "clinic", chains = 2)
  last <- rbind(fit$draws$north[300, , ], fit$draws$south[300, , ])
  expect_equal(second$start, last)
  expect_identical(second$start, again(last, by = "clinic", chains = 2)$start)
  error <- expect_error(again(fit, by = "clinic", chains = 3), "4 rows for 6 chains", class = "ibrc_error_input")
  expect_identical(error$argument, "start")
  expect_error(again(fit_to(behaviour(25, 1), iter = 20)), "optimism", class = "ibrc_error_input")
})

# ---- what is said, and what is not (BS2.12 to BS2.15) -----------------------------

test_that("progress can be silenced, and warnings and errors stay", {
  few <- behaviour(5, 1)
  expect_message(suppressWarnings(fit_to(few, iter = 20, refresh = 20)), "step 20 of 20")
  expect_silent(suppressWarnings(fit_to(few, iter = 20, refresh = 0)))
  expect_warning(fit_to(few, iter = 20, refresh = 0), class = "ibrc_warning_small_group")
  expect_error(fit_to(few, iter = 1, refresh = 0), class = "ibrc_error_input")
  # A kind of warning can be left out and others kept.
  expect_silent(suppressWarnings(fit_to(few, iter = 20), classes = "ibrc_warning_small_group"))
  expect_warning(suppressWarnings(fit_to(few, iter = 20), classes = "ibrc_warning_convergence"), "fewer than")
})

test_that("an error can be caught by its kind, and made a warning or a value", {
  run <- function(...) {
    tryCatch(fit_to(behaviour(25, 1), iter = 20, ...), ibrc_error_input = function(e) {
      warning("left out: ", e$argument)
      NULL
    })
  }
  expect_s3_class(run(), "ibrc_fit")
  expect_warning(lost <- run(control = list(thin = 100)), "left out: thin")
  expect_null(lost)
})

# ---- convergence (BS1.5, BS4.5) ----------------------------------------------------

test_that("R-hat and effective draws see different faults, and the advice tells them apart", {
  fit <- fit_to(behaviour(40, 1), iter = 3000)
  good <- tidy(fit)
  expect_lt(good$rhat, 1.01)
  expect_gt(min(good$ess_bulk, good$ess_tail), 400)
  expect_no_match(c("", verdict_advice(standing_verdict(fit))), "do not agree|Few independent")
  remade <- function(make) {
    fit$draws$all[] <- exp(with_seed(4, replicate(2, make(dim(fit$draws$all)[1]))))
    fit
  }
  # Alike, but each draw near the one before.
  slow <- remade(function(n) stats::arima.sim(list(ar = 0.9), n, n.start = 100))
  expect_lt(tidy(slow)$ess_bulk, 400)
  expect_lt(tidy(slow)$rhat, 1.05)
  # Independent, but each chain about a place of its own.
  place <- 0
  apart <- remade(function(n) stats::rnorm(n, place <<- place + 1))
  expect_gt(tidy(apart)$rhat, 1.1)
  expect_match(verdict_advice(standing_verdict(apart)), "do not agree on alpha", all = FALSE)
  # The centre mixes well, and the tails come in spells.
  tails <- remade(function(n) stats::rnorm(n) * rep(exp(stats::rnorm(n / 50, sd = 1.5)), each = 50))
  table <- tidy(tails)
  expect_gt(table$ess_bulk, 400)
  expect_lt(table$ess_tail, 400)
  expect_match(verdict_advice(standing_verdict(tails)), "Few independent draws of alpha|do not agree", all = FALSE)
})

# ---- a posterior that is known, size, scale (BS7.2, BS7.3, BS7.4) ------------------

test_that("a posterior known in closed form comes back", {
  # Without a future a choice between two actions is a coin: plogis(difference / alpha).
  difference <- 0.7
  choice <- decision_setting(c("a", "b"), c("worse", "better"), "nothing", diag(2), matrix(1, 2, 1),
                             cbind(c(0, 0), rep(difference, 2)), discount = 0)
  taken <- rep(c("better", "worse"), c(33, 17))
  visits <- trajectories(data.frame(id = seq_along(taken), time = 1, action = taken, observation = NA_character_))
  fit <- ibrc(visits, choice, prior = prior, chains = 4, iter = 2000, seed = 1, resolution = 2)
  grid <- seq(-6, 6, length.out = 4001)
  weight <- stats::dnorm(grid) * stats::dbinom(33, 50, stats::plogis(difference / exp(grid)))
  weight <- weight / sum(weight)
  draws <- log(fit$draws$all[, , 1])
  expect_lt(abs(mean(draws) - sum(weight * grid)) / posterior::mcse_mean(draws), 4)
  for (p in c(0.05, 0.25, 0.5, 0.75, 0.95)) {
    below <- draws <= grid[which(cumsum(weight) >= p)[1]]
    expect_lt(abs(mean(below) - p) / posterior::mcse_mean(below + 0), 4.5, label = paste("level", p))
  }
})

test_that("work grows with distinct histories, which grow more slowly than patients", {
  size <- vapply(c(100, 400, 1600, 6400), function(n) {
    coded <- code_visits(behaviour(n, 1), setting)
    tree <- build_histories(coded, setting)
    c(visits = length(coded$row), histories = tree$n_histories)
  }, c(0, 0))
  growth <- size[, -1] / size[, -4]
  expect_true(all(growth["visits", ] > 3.5 & growth["visits", ] < 4.5))
  expect_true(all(growth["histories", ] < 3))
})

test_that("time grows no faster than that", {
  skip_if_not(Sys.getenv("IBRC_EXTENDED_TESTS") == "1")
  seconds <- vapply(c(500, 8000), function(n) {
    visits <- behaviour(n, 1)
    min(replicate(3, system.time(fit_to(visits, iter = 400))[["elapsed"]]))
  }, 0)
  expect_lt(seconds[2] / seconds[1], 8)
})

test_that("replicates are on the scale of what was seen, and prices on that of the utility", {
  visits <- behaviour(300, 3)
  fit <- fit_to(visits)
  made <- posterior_predict(fit, draws = 40, seed = 1)
  expect_identical(levels(made$action), setting$actions)
  expect_setequal(stats::na.omit(unique(as.character(made$observation))), setting$observations)
  share <- function(x) c(table(factor(x$action, setting$actions))) / nrow(x)
  expect_lt(max(abs(share(made) - share(visits))), 0.05)
  expect_lt(abs(mean(table(made$id, made$.draw)) / mean(table(visits$id)) - 1), 0.15)
  # Utilities in other units: prices follow them, and replicates do not change.
  tenfold <- setting
  tenfold$utility <- 10 * setting$utility
  other <- ibrc(visits, tenfold, models, ibrc_prior(alpha ~ lognormal(log(10), 1)), chains = 2, iter = 600, seed = 1,
                resolution = 20)
  expect_equal(other$draws$all, 10 * fit$draws$all, tolerance = 1e-5)
  expect_identical(posterior_predict(other, draws = 5, seed = 2)$action,
                   posterior_predict(fit, draws = 5, seed = 2)$action)
  # The prior is not in units of its own: left as it was, it pulls the other way.
  expect_false(isTRUE(all.equal(fit_to(visits, problem = tenfold)$draws$all, 10 * fit$draws$all, tolerance = 1e-3)))
})

# ---- messages that no other test raises (G5.2b) -------------------------------------

test_that("what is wrong in rarer ways is said as well", {
  said <- function(code, text, argument) {
    error <- expect_error(code, text, class = "ibrc_error_input")
    expect_identical(error$argument, argument)
  }
  visits <- behaviour(25, 1)
  said(fit_to(visits, control = list(start = data.frame(alpha = "one"))), "must be numbers", "start")
  said(fit_to(visits, control = list(start = data.frame(alpha = c(1, 2, 3)))), "3 rows for 2 chains", "start")
  words <- list("declare_healthy" = diag(2), "declare_diseased" = diag(2),
                monitor = data.frame(a = "x", b = c("x", "y")))
  said(decision_setting(setting$states, setting$actions, setting$observations, words, setting$emission, setting$utility,
                        discount = 0.9), "is not numeric", "transition")
  said(decision_setting(c("action", "b"), "u", "x", diag(2), matrix(1, 2, 1), matrix(0, 2, 1), discount = 0.5),
       "cannot be called", "states")
  level <- setting
  level$utility[] <- 1
  said(irl_prior(level), "every action is worth the same", "sd")
  sure <- decision_setting(c("a", "b"), c("u", "w"), c("x", "y"), diag(2), diag(2), matrix(1:4, 2), discount = 0.5)
  said(perturb_models(sure), "nothing to perturb", "setting")
  said(occupancy(plan, rbind(c(0.5, 0.5), c(1, 0))), "one belief", "start")
  only <- model_prior(models$models, c(0.5, 0.5, 0))
  believes <- array(1 / 3, c(plan$space$n_nodes, length(setting$actions), 3))
  said(evaluate_policy(plan_agent(setting, bounded_agent(1), only, resolution = 20), sigma = believes),
       "prior weight is 0", "sigma")
  said(fit_iohmm(visits, 2, starts = 1, sort_by = c(positive = 1, positive = 2)), "more than once", "sort_by")
  ends <- decision_setting(c("a", "b"), c("u", "w"), "x", diag(2), matrix(1, 2, 1), matrix(1:4, 2), discount = 0.5,
                           stop_actions = c("u", "w"))
  said(plans_data(plan_agent(ends, bounded_agent(1), resolution = 4), observations = "x"), "ends the trajectory",
       "actions")
  tests <- data.frame(who = rep(1:3, each = 2), day = rep(0:1, 3), marker = 1:6, assay = NA_character_)
  said(panel_trajectories(tests, "who", "day", "marker", "assay", marker_cuts = 2), "no values", "test")
  path <- withr::local_tempfile(lines = "not a fit", fileext = ".rds")
  skip_if_not_installed("ggplot2")
  said(report_sections(path), "saveRDS", "fit")
})

test_that("no line of a help page is cut off in the manual", {
  skip_if_not(dir.exists("../../man"), "the sources are not here")
  wide <- utils::getFromNamespace(".check_Rd_line_widths", "tools")("../..")
  expect_identical(format(wide), character())
})
