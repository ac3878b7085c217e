# Data as they come. Whatever form the same visits have, the answer is the same; what cannot
# be read is refused with its rows.

setting <- diag_setting()
models <- diag_models()
plan <- plan_agent(setting, bounded_agent(0.5), models, resolution = 10)
data <- as.data.frame(simulate(plan, 30, seed = 1))
data[c("action", "observation")] <- lapply(data[c("action", "observation")], as.character)
prior <- ibrc_prior(alpha ~ lognormal(0, 1))
small_fit <- function(visits, ...) {
  suppressWarnings(ibrc(visits, setting, models, prior, chains = 1, iter = 10, seed = 1, resolution = 10, ...),
                   classes = "ibrc_warning")
}
small_mode <- function(visits) {
  suppressWarnings(ibrc_mode(visits, setting, models, prior, resolution = 10, starts = 1, seed = 1, conf.level = NULL),
                   classes = "ibrc_warning")
}
changed <- function(column, values) {
  out <- data
  out[[column]] <- values
  out
}
expect_rows <- function(code, argument, rows = NULL) {
  error <- expect_error(code, class = "ibrc_error")
  expect_identical(error$argument, argument)
  if (!is.null(rows)) expect_equal(error$rows, rows)
}

test_that("the same visits in another form give the same answers", {
  whole <- trajectories(data)
  likely <- unname(log_lik(plan, whole))
  draws <- small_fit(whole)$draws
  learned <- fit_iohmm(whole, 2, starts = 1, seed = 1)[c("start", "transition", "emission")]
  day <- as.POSIXct("2020-03-01", tz = "UTC") + 86400 * data$time
  wide <- cbind(data, other = 1, other = 2)
  names(wide)[5:6] <- "other"
  unnamed <- cbind(data, other = 1)
  names(unnamed)[5] <- NA
  named_rows <- data
  rownames(named_rows) <- paste("row", seq_len(nrow(data)))
  forms <- list(
    factor_id = changed("id", factor(data$id, 99:1)), text_id = changed("id", paste("p", data$id)),
    date_id = changed("id", as.Date("2020-01-01") + data$id),
    infinite_id = changed("id", ifelse(data$id == 1, Inf, data$id)),
    broken_id = changed("id", data$id + 0.5), bytes_id = changed("id", paste0("\u00e9", data$id)),
    long_id = changed("id", structure(data$id * 2^-1074, class = "integer64")),
    factors = changed("action", factor(data$action, c("unused", setting$actions))),
    posix_time = changed("time", day), posixlt_time = changed("time", as.POSIXlt(day)),
    date_time = changed("time", as.Date(day)), difftime = changed("time", as.difftime(data$time, units = "days")),
    ordered_time = changed("time", factor(data$time, 0:99, ordered = TRUE)),
    text_time = changed("time", paste("visit", data$time)),
    infinite_time = changed("time", ifelse(data$time == 0, -Inf, data$time)), named_rows = named_rows, wide = wide,
    unnamed = unnamed
  )
  # Neither is needed by the package or suggested.
  if (nzchar(system.file(package = "tibble"))) forms$tibble <- getExportedValue("tibble", "as_tibble")(data)
  if (nzchar(system.file(package = "data.table"))) {
    forms$data.table <- getExportedValue("data.table", "as.data.table")(data)
  }
  for (form in names(forms)) {
    visits <- trajectories(forms[[form]])
    expect_identical(class(visits), c("ibrc_trajectories", "data.frame"), label = form)
    expect_identical(unname(log_lik(plan, visits)), likely, label = form)
    expect_identical(small_fit(visits)$draws, draws, label = form)
    if (form != "factors") {
      expect_identical(fit_iohmm(visits, 2, starts = 1, seed = 1)[names(learned)], learned, label = form)
    }
  }
  # Visits of different people may stand between each other.
  mixed <- trajectories(data[order(data$time, -data$id), ])
  expect_equal(log_lik(plan, mixed)[names(log_lik(plan, whole))], log_lik(plan, whole))
})

test_that("rows that cannot be read are named", {
  odd <- function(column, row, value) {
    out <- data
    out[[column]][row] <- value
    trajectories(out, setting = setting)
  }
  expect_rows(odd("id", 3, NA), "id", 3)
  expect_rows(odd("id", 3, NaN), "id", 3)
  expect_rows(odd("time", 4, NA), "time", 4)
  expect_rows(odd("time", 4, NaN), "time", 4)
  expect_warning(odd("action", 5, NA), "row 5", class = "ibrc_warning_missing_action")
  expect_rows(odd("action", 5, ""), "action", 5)
  expect_rows(odd("action", 5, "Monitor "), "action", 5)
  expect_rows(odd("observation", 6, Inf), "observation", 6)
  expect_rows(odd("observation", 6, ""), "observation", 6)
  expect_rows(trajectories(changed("observation", NaN), setting = setting), "observation", seq_len(nrow(data)))
  second <- which(data$id == 2)[1]
  expect_rows(trajectories(data[c(seq_len(second), second), ]), "time", second + 1)
  expect_rows(trajectories(data[0, ]), "data")
  expect_rows(trajectories(cbind(data, id = 1)), "id")
  for (id in list(as.list(data$id), matrix(data$id), data.frame(data$id), data$id + 1i)) {
    out <- data
    out$id <- id
    expect_rows(trajectories(out), "id")
  }
})

test_that("trajectories that were changed afterwards are looked at again", {
  visits <- trajectories(data)
  uses <- list(function(v) log_lik(plan, v), small_fit, small_mode, function(v) fit_iohmm(v, 2, starts = 1),
               function(v) belief_paths(plan, v), function(v) simplex_data(plan, v))
  refused <- function(change, argument, rows = NULL) {
    for (use in uses) expect_rows(use(change(visits)), argument, rows)
  }
  refused(function(v) v[0, ], "visits")
  for (column in c("id", "time", "action", "observation")) {
    refused(function(v) {v[[column]] <- NULL; v}, "visits")
  }
  refused(function(v) {names(v)[1] <- "who"; v}, "visits")
  refused(function(v) {attr(v, "roles") <- NULL; v}, "visits")
  refused(function(v) {v$id[3] <- NA; v}, "id", 3)
  refused(function(v) {v$time[3] <- NA; v}, "time", 3)
  refused(function(v) {v$action <- replace(as.character(v$action), 3, " "); v}, "action", 3)
  refused(function(v) {v$id <- as.list(v$id); v}, "id")
  refused(function(v) v[rev(seq_len(nrow(v))), ], "time")
  refused(function(v) rbind(v, v[1, ]), "time", nrow(data) + 1)
  # Fewer rows are as good as fewer rows before.
  expect_identical(small_fit(visits[data$id < 25, ])$draws, small_fit(trajectories(data[data$id < 25, ]))$draws)
  # A kernel that is not told of a lost column does not go astray.
  expect_error(.Call(ffi_history_build, 0L, 0L, NA_integer_, 1L, 0L, 3L), "no such observation")
  expect_error(.Call(ffi_history_build, 0L, NA_integer_, 0L, 0L, 0L, 3L), "no such action")
})

test_that("little data and data without variety are enough, or refused", {
  one <- trajectories(data[1, ])
  expect_length(log_lik(plan, one), 1)
  fit <- small_fit(one)
  expect_false(holds_nan(fit))
  # Too few draws to judge: printed all the same.
  expect_output(print(fit), "1 chain of 10 steps")
  expect_false(holds_nan(small_mode(one)))
  learned <- fit_iohmm(one, 2, starts = 2, seed = 1)
  expect_false(holds_nan(learned[c("start", "transition", "emission", "log_lik", "candidates")]))
  expect_false(holds_nan(model_draws(learned, 2, 2, 1, seed = 1)))

  never <- trajectories(data[data$action != "declare_healthy", ], setting = setting)
  expect_false(holds_nan(small_fit(never)))
  expect_false(holds_nan(fit_iohmm(never, 2, actions = setting$actions, starts = 1, seed = 1)))

  unseen <- trajectories(changed("observation", NA), setting = setting)
  expect_true(all(is.finite(small_fit(unseen)$draws$all)))
  expect_rows(fit_iohmm(unseen, 2), "visits")
})

test_that("an observation of probability 0 is refused by its row", {
  two <- decision_setting(c("a", "b"), c("u", "w"), c("x", "y"), diag(2),
                          list(u = cbind(c(1, 1), 0), w = matrix(0.5, 2, 2)), matrix(1:4, 2), discount = 0.5)
  odd <- trajectories(data.frame(id = c(2, 1, 1), time = 1:3, action = c("w", "u", "u"),
                                 observation = c("x", "y", "x")))
  sure <- plan_agent(two, bounded_agent(0.5), resolution = 5)
  expect_rows(log_lik(sure, odd), "observation", 2)
  expect_rows(suppressWarnings(ibrc(odd, two, prior = prior, resolution = 5)), "observation", 2)
  expect_rows(suppressWarnings(ibrc_mode(odd, two, prior = prior, resolution = 5)), "observation", 2)
  expect_rows(belief_paths(sure, odd), "observation", 2)
  expect_rows(update_belief(sure, c(0.5, 0.5), "u", "y"), "observation", 1)
  expect_rows(fit_iohmm(odd, 2, zeros = cbind(c(TRUE, TRUE), c(FALSE, TRUE))), "observation", 2)
})

test_that("groups without trajectories are no groups, and those without a value are one", {
  grouped <- function(clinic) {
    names(small_fit(trajectories(cbind(data, clinic), covariates = "clinic"), by = "clinic")$draws)
  }
  expect_identical(grouped(factor("north", c("south", "north"))), "north")
  expect_identical(grouped(ifelse(data$id < 9, "north", NA)), c("north", "missing"))
  expect_identical(grouped(data$id < 9), c("FALSE", "TRUE"))
  expect_identical(grouped(ifelse(data$id < 9, 10, 9)), c("9", "10"))
})

test_that("prices at the ends of the doubles give finite answers, or are refused", {
  edge <- .Machine$double.xmax
  visits <- trajectories(data)
  coarse <- plan_agent(setting, bounded_agent(0.5), models, resolution = 4)
  for (price in c("alpha", "beta", "eta", "flexibility", "optimism", "adaptivity")) {
    for (value in c(1e300, -1e300, 1e-300, -1e-300, 1e-320, edge, -edge, Inf, -Inf, 0, -0)) {
      label <- paste(price, value)
      outcome <- tryCatch({
        solved <- update(coarse, do.call(bounded_agent, stats::setNames(list(value), price)))
        list(value(solved), policy(solved), model_weights(solved, action = "monitor"), complexity(solved),
             log_lik(solved, visits), evaluate_policy(solved))
      }, ibrc_error = function(e) NULL)
      expect_false(holds_nan(outcome), label = label)
    }
  }
})

test_that("clinical tables in any state are read or refused", {
  rows <- adni_rows(adni_row(1, "bl", "0", 6642), adni_row(1, "m06", "0.5"), adni_row(2, "bl", "3"))
  lines <- adni_lines(read_adni(rows))
  expect_identical(adni_lines(read_adni(as.data.frame(lapply(rows, factor)))), lines)
  expect_identical(adni_lines(read_adni(stats::setNames(rows, tolower(names(rows))))), lines)
  expect_rows(read_adni(within(rows, Hippocampus <- c(Inf, -Inf, NaN))), "file", 1:2)
  none <- read_adni(within(rows, Hippocampus <- c(NA, -4, NaN)))
  expect_identical(as.character(none$action), rep("no_mri", 3))
  for (bad in list(rows[0, ], rows["RID"], cbind(rows, RID = 1), within(rows, VISCODE <- "x"), as.matrix(rows),
                   within(rows, CDRSB <- NA), within(rows, CDRSB <- as.list(CDRSB)))) {
    expect_error(read_adni(bad), class = "ibrc_error")
  }

  panel <- data.frame(who = rep(1:6, each = 3), day = rep(0:2, 6), marker = 1:18, assay = c(NA, 1:5))
  read <- function(x) panel_trajectories(x, "who", "day", "marker", "assay", marker_cuts = 2, test_cuts = 2)
  seen <- as.character(read(panel)$observation)
  expect_identical(as.character(read(within(panel, who <- factor(who, 6:1)))$observation), seen)
  expect_identical(as.character(read(within(panel, day <- as.Date("2020-01-01") + day))$observation), seen)
  expect_identical(as.character(read(rbind(panel, panel))$observation), seen)
  expect_equal(nrow(read(within(panel, marker[1:3] <- NaN))), 15)
  expect_equal(nrow(read(within(panel, day[2] <- Inf))), 17)
  expect_equal(nrow(read(within(panel, who[2] <- NA))), 17)
  expect_rows(read(within(panel, marker[4] <- -Inf)), "marker", 4)
  expect_rows(read(within(panel, assay <- NA_real_)), "test")
  expect_rows(read(within(panel, marker <- 1)), "marker_cuts")
  expect_rows(read(panel[0, ]), "data")
  expect_rows(read(within(panel, marker <- NA_real_)), "data")
  expect_rows(read(cbind(panel, who = 1)), "id")
})
