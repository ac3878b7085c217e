# An identifier is planted, and then looked for wherever it must not be.

planted <- "PLANTED-7f3a"
holds_planted <- function(x) {
  bytes <- if (is.raw(x)) x else serialize(x, NULL)
  length(grepRaw(charToRaw(planted), bytes, fixed = TRUE)) > 0
}
expect_clean <- function(x, what = deparse1(substitute(x))) {
  testthat::expect_false(holds_planted(x), label = paste(what, "holds the identifier"))
}

# Identifiers as text and as levels of a factor, in row names, and in a covariate that is not asked for.
plant <- function(visits, kind = paste) {
  data <- as.data.frame(visits)
  who <- paste(planted, data$id)
  data$id <- if (identical(kind, factor)) factor(who, c(unique(who), paste(planted, "unused"))) else who
  data$name <- who
  data$clinic <- ifelse(visits$id %% 2 == 0, "north", "south")
  rownames(data) <- paste(who, seq_along(who))
  trajectories(data, covariates = c("clinic", "name"))
}

setting <- diag_setting()
models <- diag_models()
plan <- plan_agent(setting, bounded_agent(0.5), models, resolution = 10)
visits <- plant(simulate(plan, 50, seed = 1))
prior <- ibrc_prior(alpha ~ lognormal(0, 1))
# The caller's frame has the identifiers: nothing may hold on to it.
fit_planted <- function(visits, ..., by = "clinic") {
  copy <- as.data.frame(visits)
  ibrc(visits, setting, models, ibrc_prior(alpha ~ lognormal(0, copy$time[1] + 1)), by = by, chains = 2, iter = 40,
       seed = 1, resolution = 10, ...)
}
fit <- fit_planted(visits)

# The condition itself: what testthat catches carries the calls around it as well.
expect_told <- function(code, class = "ibrc_error") {
  told <- tryCatch(code, error = identity, warning = identity)
  testthat::expect_s3_class(told, class)
  expect_clean(told)
  invisible(told)
}

# The text that a call shows, with its messages and warnings.
shown_by <- function(code) {
  told <- character()
  text <- capture.output(withCallingHandlers(code, condition = function(c) {
    told <<- c(told, conditionMessage(c))
    if (inherits(c, "message")) invokeRestart("muffleMessage")
  }))
  c(text, told)
}

test_that("the planted identifier is found where it is", {
  expect_true(holds_planted(visits))
  expect_true(holds_planted(list(list(1, function() 1, local({hidden <- visits; function() 1})))))
})

test_that("a fit, and what is made of it, keeps no identifier", {
  expect_clean(fit)
  expect_clean(fit_planted(plant(simulate(plan, 50, seed = 2), factor), by = NULL))
  expect_clean(fit_planted(visits, control = list(keep_data = FALSE)))
  expect_clean(ibrc_mode(visits, setting, models, prior, resolution = 10, starts = 2, seed = 1))
  expect_clean(shown_by(print(fit)))
  expect_clean(shown_by(print(summary(fit))))
  for (look in list(summary, tidy, glance, augment, coef, as.data.frame, identifiability, verdict, behaviour_check,
                    prior_summary,
                    project_behavior, compare_groups, function(fit) decision_effects(fit, draws = 2, nsim = 5),
                    posterior::as_draws_df, groups_data, fit_plot_data)) {
    expect_clean(look(fit), deparse1(look)[1])
  }
  expect_clean(log_lik(fit, draws = 5))
  expect_clean(posterior_predict(fit, draws = 2, seed = 1))
  for (type in pp_types) expect_clean(pp_data(fit, type, draws = 2, seed = 1))
  expect_clean(profile_likelihood(fit, n = 2))
  crossed <- suppressWarnings(kfold(fit, folds = 2))
  expect_clean(crossed)
  expect_clean(shown_by(print(crossed)))
  skip_if_not_installed("loo")
  longer <- suppressWarnings(ibrc(visits, setting, models, prior, chains = 2, iter = 1000, seed = 1, resolution = 10))
  expect_clean(suppressWarnings(loo(longer)))
})

test_that("a posterior for each identifier keeps none of them", {
  few <- visits[visits$id %in% unique(visits$id)[1:4], ]
  file <- withr::local_tempfile(fileext = ".ibrc")
  told <- shown_by(single <- suppressWarnings(fit_planted(few, by = c("clinic", "id"), file = file, refresh = 10)))
  expect_clean(told)
  expect_clean(single)
  expect_length(single$draws, 4)
  expect_clean(readBin(file, "raw", file.size(file)))
  expect_clean(resume(file))
  expect_told(fit_planted(few, by = "id"), "ibrc_warning_small_group")
  expect_clean(shown_by(print(single)))
  for (look in list(summary, tidy, augment, compare_groups, posterior::as_draws_df, groups_data)) {
    expect_clean(look(single), deparse1(look)[1])
  }
  expect_told(augment(single, few[few$id != few$id[1], ]))
  expect_told(log_lik(single, newdata = visits))
  mode <- suppressWarnings(ibrc_mode(few, setting, models, prior, by = "id", resolution = 10, starts = 2, seed = 1))
  expect_clean(mode)
  skip_if_not_installed("ggplot2")
  expect_clean(plot_groups(single))
  expect_clean(report_sections(single, few, patients = 2, draws = 2))
})

test_that("a model learned from visits keeps no identifier", {
  iohmm <- fit_iohmm(visits, 2, starts = 2, seed = 1)
  expect_clean(iohmm)
  expect_clean(shown_by(print(summary(iohmm))))
  for (look in list(tidy, glance, coef, logLik, predict, simulate)) expect_clean(look(iohmm), deparse1(look)[1])
  expect_clean(simulate(iohmm, visits = visits, seed = 1))
  expect_clean(model_draws(iohmm, 2, 2, 1, seed = 1))
})

test_that("checkpoints keep no identifier, nor does what goes on from them", {
  file <- withr::local_tempfile(fileext = ".ibrc")
  told <- shown_by(fit_planted(visits, file = file, refresh = 10))
  expect_clean(told)
  expect_clean(readBin(file, "raw", file.size(file)))
  expect_clean(read_checkpoint(file))
  expect_clean(resume(file))
  # Nor the frame of a function that the user wrote, which a fit has to keep.
  valued <- local({
    here <- visits
    decision_setting(setting$states, setting$actions, setting$observations, setting$transition, setting$emission,
                     setting$utility, function(beliefs, action) beliefs[, 1], 0.9, setting$start, setting$stop_actions)
  })
  invisible(ibrc(visits, valued, prior = prior, chains = 1, iter = 10, resolution = 10, seed = 1, file = file,
                 control = ibrc_control(overwrite = TRUE)))
  expect_clean(read_checkpoint(file))
})

test_that("pictures hold no identifier, in their data or behind it", {
  skip_if_not_installed("ggplot2")
  for (type in c("density", "trace")) expect_clean(plot(fit, type = type))
  expect_clean(plot_groups(fit))
  for (type in pp_types) expect_clean(pp_check(fit, type, draws = 2, seed = 1))
  draw <- function(visits) plot_simplex(fit, visits, id = visits$id[1])
  expect_clean(draw(visits))
  # From a frame that has the identifiers.
  pictures <- local({
    here <- visits
    cohort <- read_adni(adni_rows(adni_row(paste0(planted, 1), "bl"), adni_row(paste0(planted, 1), "m06")))
    list(plan = plot(plan), profile = plot(profile_likelihood(fit, n = 2)), fit = plot(fit), flow = plot(flow(cohort)),
         groups = plot_groups(fit), check = pp_check(fit, draws = 2, seed = 1))
  })
  for (name in names(pictures)) expect_clean(pictures[[name]], paste("the picture of the", name))
  expect_clean(simplex_data(fit, visits, id = unique(visits$id)[1:3]))
})

test_that("the sections of a report hold no identifier unless asked to", {
  skip_if_not_installed("ggplot2")
  report <- function(visits, ...) report_sections(fit, visits, patients = 1, draws = 2, ...)
  expect_clean(report(visits))
  expect_clean(shown_by(print(report(visits))))
  expect_true(holds_planted(report(visits, show_id = TRUE)))
})

test_that("errors and warnings about rows do not say whose they are", {
  data <- as.data.frame(visits)
  remark <- function(change) expect_told(trajectories(change(data), setting = setting))
  remark(function(x) rbind(x, x[1, ]))
  remark(function(x) x[rev(seq_len(nrow(x))), ])
  remark(function(x) {x$action <- replace(as.character(x$action), 2, " "); x})
  expect_told(trajectories(within(data, action[2] <- NA)), "ibrc_warning_missing_action")
  expect_told(trajectories(within(data, free <- ifelse(id == id[2], NA, TRUE)), scored = "free"))
  expect_told(trajectories(within(data, free <- id), scored = "free"))
  remark(function(x) {x$action <- x$name; x})
  remark(function(x) {x$observation <- x$name; x})
  remark(function(x) {x$time <- x$name; x})
  remark(function(x) {x$id <- as.list(x$id); x})
  remark(function(x) {x$id <- matrix(x$id); x}[1, ])
  last <- which(!duplicated(data$id, fromLast = TRUE))[1]
  remark(function(x) {x$time[seq_len(last)] <- 0:(last - 1); rbind(x[seq_len(last), ], within(x[last, ], time <- 99))})
  changed <- data
  changed$clinic[1] <- planted
  expect_told(fit_planted(trajectories(changed, covariates = "clinic")))
  other <- data
  other$clinic <- planted
  expect_told(augment(fit, trajectories(other, covariates = "clinic")))
  expect_told(belief_paths(fit, trajectories(other, covariates = "clinic")))
  expect_told(log_lik(fit, newdata = trajectories(other, covariates = "clinic")))
  expect_told(predict(fit, trajectories(other, covariates = "clinic")))
  expect_told(kfold(fit, folds = visits$id))
  expect_told(simplex_data(fit, visits, id = paste(planted, "nobody")))
  expect_told(simplex_data(fit, visits, id = visits$id[c(1, 1)]))
  expect_told(fit_planted(data))
  expect_told(fit_iohmm(data))
  few <- visits[visits$id == visits$id[1], ]
  expect_clean(suppressWarnings(shown_by(ibrc(few, setting, models, prior, chains = 1, iter = 10, resolution = 10))))
  table <- data.frame(who = data$name, day = data$time, marker = seq_len(nrow(data)), assay = data$name)
  expect_told(panel_trajectories(table[1, ], "who", "assay", "marker", "day"))
  expect_told(panel_trajectories(within(table[1, ], marker <- TRUE), "who", "day", "marker", "assay"))
  expect_told(panel_trajectories(within(table, marker <- Inf), "who", "day", "marker", "assay"))
  expect_told(panel_trajectories(within(table, day <- NA_real_), "who", "day", "marker", "assay"))
})

test_that("impossible observations are told by their rows", {
  two <- decision_setting(c("a", "b"), c("u", "w"), c("x", "y"), diag(2),
                          list(u = cbind(c(1, 1), 0), w = matrix(0.5, 2, 2)), matrix(1:4, 2), discount = 0.5)
  odd <- trajectories(data.frame(id = planted, time = 1:2, action = "u", observation = c("y", "x")))
  for (call in list(quote(log_lik(plan_agent(two, bounded_agent(1), resolution = 5), odd)),
                    quote(suppressWarnings(ibrc(odd, two, prior = prior, resolution = 5))),
                    quote(suppressWarnings(ibrc_mode(odd, two, prior = prior, resolution = 5))))) {
    expect_identical(expect_told(eval(call), "ibrc_error_data")$rows, 1L)
  }
})

test_that("a table of a cohort is counted, never named", {
  rows <- adni_rows(adni_row(paste0(planted, 1), "bl"), adni_row(paste0(planted, 1), "m06"),
                    adni_row(paste0(planted, 2), "m06"),
                    adni_row(paste0(planted, 3), "bl", DX = planted, AGE = planted))
  expect_told(read_adni(rows), "ibrc_error_data")
  rows <- rbind(rows, do.call(rbind, lapply(paste0(planted, 4:40), adni_row, "bl")))
  expect_told(read_adni(rows), "ibrc_warning_unreadable")
  cohort <- suppressWarnings(read_adni(rows))
  expect_clean(flow(cohort))
  expect_clean(shown_by(print(flow(cohort))))
  expect_clean(format(cohort))
  expect_clean(attributes(cohort)[c("flow", "cuts")])
  expect_told(suppressWarnings(read_adni(rows[4, ][0, ])))
  expect_told(read_adni(rows["RID"]))
  expect_told(suppressWarnings(read_adni(within(rows, CDRSB <- RID))))
  file <- adni_file(c("RID,VISCODE", paste0(planted, ",bl,too,many")))
  expect_told(suppressWarnings(read_adni(file)))
})

test_that("identifiers are kept by what hands the user's own columns back, and by nothing else", {
  expect_true(holds_planted(visits))
  expect_true(any(grepl(planted, shown_by(print(visits)), fixed = TRUE)))
  expect_true(holds_planted(augment(fit, visits)))
  expect_true(holds_planted(belief_paths(fit, visits)))
  expect_true(holds_planted(names(log_lik(plan, visits))))
  expect_true(holds_planted(log_lik(fit, draws = 2, newdata = visits)))
  expect_true(holds_planted(simplex_data(fit, visits, show_id = TRUE)))
  # Those show how many, not who.
  expect_clean(format(visits))
})
