lines_of <- function(section) unlist(lapply(section, function(part) c(part$text, part$lines, part$caption)))

test_that("the overview counts what the fit was made from, and says what was held", {
  fit <- clinic_fit()
  report <- list(fit = fit, counts = report_counts(fit, NULL, 5))
  said <- lines_of(overview_section(report))
  expect_match(said, paste0("160 trajectories with ", format_counts(nrow(clinic_visits())), " visits in 2 groups"),
               all = FALSE)
  expect_match(said, "2 chains of 600 steps in each group, 300 of them warm-up", all = FALSE)
  expect_match(said, "declare healthy (ends)", all = FALSE, fixed = TRUE)
  expect_no_match(said, "Held")
  fit$fixed <- list(eta = 0)
  report$fit <- fit
  expect_match(lines_of(overview_section(report)), "Held, not inferred: .*eta", all = FALSE)
  report$fit$likelihood <- FALSE
  expect_match(lines_of(overview_section(report)), "^Draws from the prior \\(no data were used\\)", all = FALSE)
  expect_no_match(lines_of(overview_section(report)), "inferred|Fitted")
})

test_that("the banner is that of the worst row, and every row that is not well is told", {
  fit <- clinic_fit()
  rows <- standing_verdict(fit)
  of <- function(verdict) {
    rows$verdict[] <- "ok"
    rows$verdict[2:3] <- verdict
    rows$advice[2:3] <- c("Do one thing.", "Do another.")
    verdict_section(list(fit = fit, verdict = rows, advice = verdict_advice(rows)))
  }
  well <- of("ok")
  expect_identical(well[[1]]$class, "fine")
  expect_match(well[[1]]$lines, "^Every check is ok")
  bad <- of("do not use")
  expect_identical(bad[[1]]$class, "stop")
  expect_match(bad[[1]]$lines, "^Do not use these numbers: see settled")
  expect_identical(bad[[2]]$data$Seen, rows$seen[2:3])
  expect_match(lines_of(bad), "Do another", all = FALSE)
  expect_identical(of("caution")[[1]]$class, "warning")
})

test_that("every term has a meaning, entries of the utility too", {
  table <- term_meanings(c("alpha", "discount", "utility(ill, wait)"))
  expect_identical(table$Term, c("alpha", "discount", "utility(ill, wait)"))
  expect_match(table$Meaning[1], "deliberating")
  expect_match(table$Meaning[3], "Worth of an action")
  all <- term_meanings(c("alpha", "beta", "eta", "flexibility", "optimism", "adaptivity", "discount"))
  expect_identical(anyDuplicated(all$Meaning), 0L)
})

test_that("counts below the limit are hidden, and so are those that would give them away", {
  rows <- do.call(adni_rows, c(
    lapply(1:12, function(i) adni_row(i, "bl", CDRSB = c("0", "1", "4")[1 + i %% 3], Hippocampus = 6642)),
    lapply(1:9, function(i) adni_row(i, "m06", CDRSB = c("0", "1", "4")[1 + i %% 3])), list(adni_row(13, "m06"))
  ))
  cohort <- read_adni(rows)
  n <- length(unique(cohort$RID))
  fit <- list(group_sizes = c(all = n), n_visits = nrow(cohort), draws = list(all = NULL), by = NULL)
  shown <- report_counts(fit, cohort, NULL)
  expect_identical(shown$flow$patients[nrow(shown$flow)], n)
  hidden <- report_counts(fit, cohort, n + 1)
  expect_true(is.na(hidden$flow$patients[nrow(hidden$flow)]))
  expect_identical(as.vector(hidden$groups), paste0("<", n + 1))
  expect_false(grepl(n, hidden$trajectories))
  # Visits without an account have no flow.
  expect_null(report_counts(pooled_fit(), clinic_visits(), 5)$flow)
})

test_that("visits without an account, fits without groups, data or patients say so", {
  fit <- pooled_fit()
  report <- list(fit = fit, counts = report_counts(fit, NULL, 5), visits = clinic_visits(), patients = 0)
  expect_match(lines_of(selection_section(report)), "no account of their selection")
  expect_match(lines_of(groups_section(report)), "no groups to compare")
  expect_match(lines_of(paths_section(report)), "No patients were asked for")
  report$visits <- NULL
  expect_match(lines_of(paths_section(report)), "No visits were given")
  report$fit$histories <- NULL
  expect_match(lines_of(predictive_section(report)), "keep_data = FALSE")
  report$visits <- clinic_visits()
  report$fit$problem$setting$states <- paste0("s", 1:4)
  expect_match(lines_of(paths_section(report)), "4 states cannot be drawn")
})

test_that("typical patients have about the median number of visits, and groups take turns", {
  fit <- clinic_fit()
  visits <- clinic_visits()
  length <- table(visits$id)
  clinic <- tapply(visits$clinic, visits$id, `[`, 1)
  id <- as.character(typical_patients(visits, fit, 4))
  expect_identical(as.vector(clinic[id]), rep(c("north", "south"), 2))
  aim <- max(2, stats::median(length))
  for (one in c("north", "south")) {
    mine <- id[clinic[id] == one]
    away <- abs(length[clinic[names(length)] == one] - aim)
    expect_equal(sort(as.vector(away[mine])), sort(as.vector(away))[1:2])
  }
})

test_that("versions are told without paths, and the citation is whole", {
  said <- lines_of(session_section(list()))
  expect_match(said, as.character(getRversion()), all = FALSE, fixed = TRUE)
  expect_no_match(said, paste(c(.libPaths(), path.expand("~/")), collapse = "|"))
  cited <- lines_of(citation_section(list()))
  expect_match(cited, as.character(utils::packageVersion("ibrc")), all = FALSE, fixed = TRUE)
  expect_match(unlist(lapply(citation_section(list()), `[[`, "lines")), "@", all = FALSE)
})

test_that("print, verdict, methods and report have the same numbers of the chains", {
  fit <- clinic_fit()
  table <- tidy(fit)
  expect_true(any(floor(table$ess_bulk) != round(table$ess_bulk)))
  draws <- as.character(floor(table$ess_bulk))
  rhat <- sprintf("%.4f", table$rhat)
  contraction <- sprintf("%.2f", table$contraction)
  shown <- withr::with_options(list(width = 120), capture.output(print(fit)))
  rows <- strsplit(trimws(shown[grep("^ +term ", shown) + seq_along(draws)]), " +")
  expect_identical(do.call(rbind, lapply(rows, utils::tail, 4)),
                   cbind(rhat, draws, as.character(floor(table$ess_tail)), contraction, deparse.level = 0))
  expect_match(settled_rows(fit)$seen[1], paste0("R-hat ", rhat[1], ", ", draws[1], " effective draws"), fixed = TRUE)
  expect_match(paste(format(methods_text(fit, "plain")), collapse = " "),
               paste(floor(min(table$ess_bulk)), "at least in the bulk"), fixed = TRUE)
  report <- checks_section(list(fit = fit))[[2]]$data
  same <- match(paste(table$term, table$group), paste(report$Term, report$Group))
  expect_identical(report[same, "ESS (bulk)"], draws)
  expect_identical(report[same, "R-hat"], rhat)
  expect_identical(report$Contraction[same], contraction)
})
