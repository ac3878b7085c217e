# The table of promises: what it names is there, and what is there it names.

source_path <- function(...) {
  path <- file.path("..", "..", ...)
  if (!file.exists(path)) skip("not in the folder of sources")
  path
}

# Made-up scripts need nothing but R, which starts sooner so.
bare_r <- function(frame = parent.frame()) withr::local_envvar(R_DEFAULT_PACKAGES = "utils", .local_envir = frame)

stored_table <- function() {
  utils::read.csv(stored_file("extdata", "trust.csv"), colClasses = "character")
}

test_that("the stored table has a verdict and a test for every promise", {
  table <- stored_table()
  expect_named(table, c("area", "promise", "criterion", "test", "figure", "verdict", "sources", "finding"))
  expect_setequal(setdiff(table$verdict, c("kept", "BROKEN", "shown", "not run")), character())
  expect_true(all(nzchar(table$figure[table$verdict %in% c("kept", "BROKEN", "shown")])))
  # Nothing is published as broken without what was found out about it.
  expect_identical(nzchar(table$finding), table$verdict == "BROKEN")
  # What was asked stands beside what came of it, and nothing was asked of what is only shown.
  expect_identical(table$promise[table$verdict == "kept" & !nzchar(table$criterion)], character())
  expect_identical(unique(table$criterion[table$verdict == "shown"]), rep("", any(table$verdict == "shown")))
  for (area in unique(table$area)) {
    scripts <- unique(table$test[table$area == area & table$verdict == "kept"])
    planted <- vapply(scripts, function(script) any(grepl("[Pp]lanted", table$promise[table$test == script])), NA)
    # A test that was run has shown that it finds a fault.
    expect_identical(scripts[!planted], character(), label = paste("tests without a planted fault in", area))
  }
})

test_that("every slow script is run by make trust, and the table has no other", {
  folder <- source_path("tests", "slow")
  scripts <- list.files(folder, pattern = "[.](R|sh)$")
  runner <- paste(readLines(source_path("tools", "trust.R")), collapse = "\n")
  for (script in scripts) expect_match(runner, script, fixed = TRUE)
  expect_equal(setdiff(basename(stored_table()$test), scripts), character())
})

test_that("make trust sees what broke, what did not come to its end and what was not run", {
  skip_on_cran()
  bare_r()
  runner <- normalizePath(source_path("tools", "trust.R"))
  folder <- withr::local_tempdir()
  withr::local_dir(folder)
  dir.create(file.path("tests", "slow", "kept"), recursive = TRUE)
  said <- function(name, ...) writeLines(c(...), file.path("tests", "slow", "kept", paste0(name, ".txt")))
  verdicts <- function() {
    status <- system2(file.path(R.home("bin"), "Rscript"), c(shQuote(runner), "table", "table.csv"), stdout = FALSE)
    list(status = status, table = utils::read.csv("table.csv", colClasses = "character"))
  }
  said("kill", "all resume: by any kill: asked 5 of 5: 5 of 5: passed", "status 0 after 1.0 minutes")
  said("suite", "the suite passes: asked no failure: 5 expectations: passed", "exact optima: no solver: not run",
       "how often: 3 of 5: shown", "status 0 after 1.0 minutes")
  said("fuzz", "fuzz.sh needs clang, which is not here.", "status 77 after 0.0 minutes")
  out <- verdicts()
  expect_identical(out$status, 0L)
  expect_identical(out$table$verdict[basename(out$table$test) == "kill.R"], "kept")
  expect_match(out$table$figure[basename(out$table$test) == "fuzz.sh"], "needs clang")
  kill <- out$table[basename(out$table$test) == "kill.R", c("promise", "criterion", "figure")]
  expect_identical(unlist(kill, use.names = FALSE), c("all resume: by any kill", "5 of 5", "5 of 5"))
  suite <- out$table[basename(out$table$test) == "suite.R", ]
  expect_identical(suite$verdict, c("kept", "not run", "shown"))
  expect_identical(suite$criterion, c("no failure", "", ""))
  expect_identical(suite$figure, c("5 expectations", "no solver", "3 of 5"))
  expect_identical(setdiff(out$table$verdict, c("kept", "shown", "not run")), character())

  # What is known of a broken promise stands beside it, and does not mend it.
  writeLines(c("Promise: all resume: by any kill", "Finding: a disk", " was full."),
             file.path("tests", "slow", "findings.dcf"))
  expect_identical(unique(verdicts()$table$finding), "")
  said("kill", "all resume: by any kill: asked 5 of 5: 4 of 5: FAILED", "other: asked all: 4 of 5: FAILED",
       "status 1 after 1.0 minutes")
  out <- verdicts()
  expect_identical(out$status, 1L)
  expect_identical(out$table$finding[out$table$verdict == "BROKEN"], c("a disk was full.", ""))
  shown <- suppressWarnings(system2(file.path(R.home("bin"), "Rscript"), c(shQuote(runner), "table"), stdout = TRUE))
  expect_match(shown, "^ +Found: a disk was full.$", all = FALSE)
  expect_match(shown, ", 2 BROKEN, ", all = FALSE)

  faults <- list(broke = c("all resume: asked all: 4 of 5: FAILED", "status 1 after 1.0 minutes"),
                 stopped = "all resume: asked all: 5 of 5: passed",
                 silent = character(),
                 only_shown = c("all resume: 5 of 5: shown", "status 0 after 1.0 minutes"),
                 nothing_asked = c("all resume: asked all: 5 of 5: passed", "no file: 5 of 5: passed",
                                   "status 0 after 1.0 minutes"),
                 failed = c("all resume: asked all: 5 of 5: passed", "Error: halt", "status 1 after 1.0 minutes"))
  for (fault in names(faults)) {
    said("kill", faults[[fault]])
    out <- verdicts()
    expect_identical(out$status, 1L, label = fault)
    expect_true("BROKEN" %in% out$table$verdict[basename(out$table$test) == "kill.R"], label = fault)
  }
})

test_that("findings are of promises that were broken", {
  known <- read.dcf(source_path("tests", "slow", "findings.dcf"))
  expect_identical(colnames(known), c("Promise", "Finding"))
  kept <- list.files(source_path("tests", "slow", "kept"), "[.]txt$", full.names = TRUE)
  said <- unlist(lapply(kept, readLines, warn = FALSE))
  promise <- sub(": asked .*", "", said)
  # A study that is being run again has not said anything yet.
  met <- intersect(known[, "Promise"], promise)
  expect_identical(setdiff(met, promise[grepl(": FAILED$", said)]), character())
})

# The runner, in a folder of its own where a test can write scripts for it.
runner_of_made_up_scripts <- function(frame = parent.frame()) {
  skip_if_not_installed("processx")
  bare_r(frame)
  runner <- normalizePath(source_path("tools", "trust.R"))
  withr::local_dir(withr::local_tempdir(.local_envir = frame), .local_envir = frame)
  dir.create(file.path("tests", "slow"), recursive = TRUE)
  runner
}

test_that("make trust runs scripts beside each other, and alone the one that measures time", {
  skip_on_cran()
  runner <- runner_of_made_up_scripts()
  # lint and kill each wait for the other to have begun; interrupt notes who is still at work.
  wait_for <- "for (i in 1:300) if (file.exists('%s')) break else Sys.sleep(0.1)"
  script <- function(name, ...) writeLines(c(...), file.path("tests", "slow", paste0(name, ".R")))
  for (name in c("lint", "kill")) {
    script(name, sprintf("invisible(file.create('%s begun'))", name),
           sprintf(wait_for, paste(setdiff(c("lint", "kill"), name), "begun")),
           "cat(sprintf('meets: asked TRUE: %s: %s\\n', i < 300, if (i < 300) 'passed' else 'FAILED'))",
           "cat(sprintf('share: asked none: %s: passed\\n', Sys.getenv('IBRC_JOBS')))",
           sprintf("invisible(file.create('%s ended'))", name))
  }
  script("leak", "quit(status = 3)")
  script("interrupt", "cat('alone: asked 2:', sum(file.exists(c('lint ended', 'kill ended'))), 'ended: passed\\n')")
  run <- function(jobs, ...) {
    said <- suppressWarnings(system2(file.path(R.home("bin"), "Rscript"), c(shQuote(runner), ...), stdout = TRUE,
                                     stderr = TRUE, env = paste0("IBRC_JOBS=", jobs)))
    list(status = c(attr(said, "status"), 0L)[1], said = said)
  }
  out <- run(2, "interrupt", "lint", "kill")
  expect_identical(out$status, 0L)
  expect_length(grep("^kept +meets: TRUE", out$said), 2)
  expect_length(grep("^kept +share: 1 ", out$said), 2)
  expect_length(grep("^kept +alone: 2 ended", out$said), 1)
  expect_length(grep("^(lint|kill|interrupt) +status 0 after", out$said), 3)
  expect_identical(utils::tail(out$said, 2),
                   c("All that was run, run on these sources", "5 kept, 0 BROKEN, 0 shown, 0 not run"))

  out <- run(2, "leak", "interrupt")
  expect_identical(out$status, 1L)
  expect_length(grep("^BROKEN +leak: ended with status 3", out$said), 1)
  # A script that has the machine to itself has all of its places.
  expect_length(grep("^kept +share: 3 ", run(3, "kill")$said), 1)
  expect_match(run("none", "kill")$said, "IBRC_JOBS must be 1 or more, not none", all = FALSE)
})

test_that("make trust goes on where it was stopped, and runs again what depends on what changed", {
  skip_on_cran()
  runner <- runner_of_made_up_scripts()
  run <- function(...) {
    program <- file.path(R.home("bin"), "Rscript")
    suppressWarnings(system2(program, c(shQuote(runner), ...), stdout = TRUE, stderr = TRUE))
  }
  scripts <- list.files(file.path(dirname(dirname(runner)), "tests", "slow"), "[.](R|sh)$")
  for (script in scripts) writeLines("exit 77", file.path("tests", "slow", script))
  for (script in grep("R$", scripts, value = TRUE)) {
    writeLines(c("cat('one: asked two: two: passed\\n')", "cat('x', file = 'ran', append = TRUE)"),
               file.path("tests", "slow", script))
  }
  writeLines("quit(status = 4)", file.path("tests", "slow", "kill.R"))
  run()
  once <- file.size("ran")
  expect_identical(once, sum(grepl("R$", scripts)) - 1)
  # What failed, and what could not be run, is tried again.
  expect_length(grep("^== ", run()), 1 + sum(grepl("sh$", scripts)))
  expect_identical(file.size("ran"), once)
  named <- run("leak")
  expect_match(named, "^== tests/slow/leak.R", all = FALSE)
  expect_identical(file.size("ran"), once + 1)
  begun <- function(said) sort(sub("^== tests/slow/", "", grep("^== ", said, value = TRUE)))
  dir.create("R")
  writeLines("1", file.path("R", "infer-new.R"))
  expect_identical(begun(run()), sort(scripts))
  # Studies of fits know nothing of what stands to the right of fits.
  writeLines("1", file.path("R", "report-new.R"))
  aside <- paste0(c("calibration", "clinicians", "cohorts", "coverage", "defaults", "disk", "doctors", "generator",
                    "habit", "interrupt", "joint", "people", "po_irl", "pooling", "repetition", "starts", "storm",
                    "studies", "tails", "verdict"), ".R")
  expect_identical(begun(run()), sort(setdiff(scripts, aside)))
  # What could not be run is tried again, whatever changed.
  dir.create("vignettes")
  writeLines("1", file.path("vignettes", "new.Rmd"))
  cat("# A remark.\n", file = file.path("tests", "slow", "storm.R"), append = TRUE)
  cat("1\n", file = file.path("tests", "slow", "leak.R"), append = TRUE)
  again <- run()
  expect_identical(begun(again), sort(c("kill.R", "leak.R", "lint.R", "suggests.R", "suite.R",
                                        grep("sh$", scripts, value = TRUE))))
  expect_match(again, "All that was run, run on these sources", all = FALSE)
  # Chains know nothing of files and of dynamics that are inferred.
  writeLines("1", file.path("R", "infer-joint.R"))
  chains <- paste0(c("calibration", "coverage", "defaults", "habit", "repetition", "starts", "studies", "tails"), ".R")
  expect_identical(begun(run()), sort(setdiff(scripts, chains)))
  # Nor do fits without effects know of populations.
  writeLines("1", file.path("R", "infer-population-new.R"))
  alone <- paste0(c("cohorts", "joint", "po_irl", "verdict"), ".R")
  expect_identical(begun(run()), sort(setdiff(scripts, c(chains, alone))))
  writeLines("2", file.path("R", "infer-new.R"))
  expect_match(run("table"), "Run on other sources than these: .*leak.R", all = FALSE)
})

test_that("a run of tests that was stopped goes on behind the files that passed", {
  skip_on_cran()
  runner <- normalizePath(source_path("tools", "test.R"))
  withr::local_dir(withr::local_tempdir())
  withr::local_envvar(R_LIBS = paste(.libPaths(), collapse = .Platform$path.sep), IBRC_TEST_KEPT = "kept")
  dir.create("tests")
  count <- deparse(file.path(getwd(), "ran"))
  file_of <- function(name, ...) {
    writeLines(c(sprintf("cat('%s ', file = %s, append = TRUE)", name, count), ...),
               file.path("tests", paste0("test-", name, ".R")))
  }
  file_of("holds", "test_that('it holds', {", "  expect_identical(Sys.getenv('IBRC_TEST_KEPT'), '')",
          "  skip('the rest')", "})")
  file_of("fails", "test_that('it fails', expect_true(FALSE))")
  run <- function() {
    said <- suppressWarnings(system2(file.path(R.home("bin"), "Rscript"), c(shQuote(runner), "tests"), stdout = TRUE,
                                     stderr = TRUE))
    list(status = c(attr(said, "status"), 0L)[1], said = said)
  }
  first <- run()
  expect_identical(first$status, 1L)
  expect_match(first$said, "^1 passed, 1 failed, 1 skipped$", all = FALSE)
  expect_identical(list.files("kept"), "holds.txt")
  file_of("fails", "test_that('it is mended', expect_true(TRUE))")
  second <- run()
  expect_identical(second$status, 0L)
  expect_match(second$said, "^2 passed, 0 failed, 1 skipped$", all = FALSE)
  # What was printed of the first file is there again.
  expect_match(second$said, "Reason: the rest", all = FALSE)
  expect_identical(scan("ran", "", quiet = TRUE), c("fails", "holds", "fails"))
})

test_that("Ctrl-C stops make trust and all that it started, which cleans up first", {
  skip_on_cran()
  skip_on_os("windows")
  runner <- runner_of_made_up_scripts()
  # Each says that it has begun, and, as it ends, that it has cleaned up.
  sweep <- function(name) {
    c(sprintf("invisible(reg.finalizer(globalenv(), function(e) cat('x', file = '%s.swept'), onexit = TRUE))", name),
      sprintf("cat(Sys.getpid(), file = '%s.pid')", name))
  }
  writeLines(c(sweep("kill"), "Sys.sleep(600)"), file.path("tests", "slow", "kill.R"))
  writeLines(c("trap 'echo x >fuzz.swept' EXIT", "trap 'exit 1' HUP INT TERM", "echo $$ >fuzz.pid", "sleep 600"),
             file.path("tests", "slow", "fuzz.sh"))
  writeLines(c(sweep("run"), sprintf("source(%s)", deparse(runner))), "run.R")
  system2(file.path(R.home("bin"), "Rscript"), c("run.R", "kill", "fuzz"), stdout = FALSE, stderr = FALSE,
          wait = FALSE, env = "IBRC_JOBS=2")
  wait_for <- function(files) {
    for (i in 1:300) if (all(file.exists(files)) && all(file.size(files) > 0)) return(TRUE) else Sys.sleep(0.1)
    FALSE
  }
  expect_true(wait_for(c("run.pid", "kill.pid", "fuzz.pid")))
  Sys.sleep(0.5)
  expect_true(tools::pskill(as.integer(readLines("run.pid", warn = FALSE)), tools::SIGINT))
  for (name in c("kill", "fuzz", "run")) expect_true(wait_for(paste0(name, ".swept")), label = name)
})

test_that("parts of a study are taken over to other sources only where they come out the same", {
  shared <- normalizePath(source_path("tests", "slow", "shared", "parts.R"))
  withr::local_dir(withr::local_tempdir())
  home <- new.env(parent = globalenv())
  sys.source(shared, home)
  made <- character()
  study <- function(sources, value) {
    made <<- character()
    withr::local_envvar(IBRC_SOURCES = sources)
    tasks <- stats::setNames(as.list(1:60), 100 + 1:60)
    said <- utils::capture.output(found <- home$in_parts("walk", tasks, function(task) {
      made <<- c(made, 100 + task)
      data.frame(task = task, value = value(task))
    }))
    list(said = said, found = found)
  }
  first <- study("aaaaaaaaaaaa", sqrt)
  expect_length(made, 60)
  expect_identical(first$said, character())
  # Stopped behind 40 parts, and gone on with on other sources that give the same.
  unlink(file.path("tests", "slow", "kept", "walk-aaaaaaaaaaaa", paste0(141:160, ".csv")))
  second <- study("bbbbbbbbbbbb", function(x) x^0.5)
  expect_setequal(made, c(101, 140, 141:160))
  expect_match(second$said, "2 of 40 parts of other sources run again: all the same, the rest are taken over: shown")
  expect_equal(second$found, first$found)
  # To its end: one file, from which later sources go on.
  withr::with_envvar(c(IBRC_SOURCES = "bbbbbbbbbbbb"), home$end_parts("walk"))
  expect_identical(list.files(file.path("tests", "slow", "kept")), "walk.parts")
  third <- study("cccccccccccc", sqrt)
  expect_setequal(made, c(101, 130, 160))
  expect_equal(third$found, first$found)
  withr::with_envvar(c(IBRC_SOURCES = "cccccccccccc"), home$end_parts("walk"))
  # The last digits of one part that is looked at differ.
  fourth <- study("dddddddddddd", function(x) if (x == 60) sqrt(x) * (1 + 1e-12) else sqrt(x))
  expect_match(fourth$said, "1 differ, none is taken over: shown")
  expect_length(unique(made), 60)
})
