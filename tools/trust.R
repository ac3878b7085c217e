# Runs the slow tests in tests/slow/ and prints one table of what they promise: the
# promise, what is asked of it, the test that keeps it, the figure it came to, and whether
# it was kept.
#
#   Rscript tools/trust.R                 all of them, hours; when stopped, it goes on
#   Rscript tools/trust.R kill fuzz       those two
#   Rscript tools/trust.R table [file]    the table of what was run before, as CSV too
#
# As many scripts run beside each other as there are cores, or as IBRC_JOBS says, the
# longest first; one that measures how soon something is answered runs alone, at the end.
# A script prints one line per promise, "what: asked criterion: figure: passed", or
# "... FAILED"; "what: figure: shown" where nothing is asked; or "what: why: not run".
# What each printed is kept in tests/slow/kept/, with a hash of the sources that it needs: one that
# came to its end on these is not run again unless it is named. Long studies keep their parts too, and take them over
# to other sources when some of them, run again, come out the same (tests/slow/shared/parts.R). The folder is under
# version control, so that a checkout knows what was run on which sources. A script that needs a
# program that is not here exits with status 77, and counts as not run.
# What is known of a broken promise stands beside it, from tests/slow/findings.dcf. It is broken all the same.
# Exit status 1 if a promise was broken or a script did not come to its end.

folder <- file.path("tests", "slow", "kept")
findings_file <- file.path("tests", "slow", "findings.dcf")

# Area, script and its arguments, in the order of the table. `minutes`, on one core, say
# which to begin with, and 0 which to run alone. `needs` are the files and folders that its
# outcome depends on beside itself and what the scripts share; "all" is everything, "fits" the
# rooms of R/ up to fits, which know nothing of those to their right, and src/, both without the framework's planners
# and inverse planners, which no fit knows (test-rooms.R);
# "alone" the same without what only populations need; "chains" the same without what only files, inferred dynamics,
# populations and verdicts need; "clinic" and "people" what tests of learned dynamics and of populations share;
# "studies" what simulates planned ones; "rewards" what learned rewards need beside fits; "package" what is checked as
# CRAN does it, and the pages of the site. Comments do not count.
scripts <- read.table(header = TRUE, colClasses = rep(c("character", "numeric", "character"), c(3, 1, 1)), text = "
  area                  script         arguments  minutes needs
  Calibration           calibration.R  1000       110     'chains R/compare-groups.R R/compare-cost_benefit.R'
  Calibration           defaults.R     1000       80      chains
  Calibration           tails.R        8          20      chains
  Calibration           coverage.R     ''         55      'chains R/compare-groups.R R/compare-cost_benefit.R'
  Calibration           verdict.R      100        20      alone
  Calibration           starts.R       60         15      'chains R/compare-groups.R'
  Calibration           studies.R      200        10      'chains studies'
  Calibration           joint.R        1000       160     alone
  Calibration           habit.R        500        60      chains
  Calibration           repetition.R   40         20      chains
  Calibration           po_irl.R       200        45      'alone rewards'
  Calibration           people.R       500        90      fits
  Calibration           doctors.R      100        120     fits
  Calibration           pooling.R      200        60      fits
  Calibration           clinicians.R   200        100     fits
  Calibration           cohorts.R      16         90      'alone R/compare-groups.R data-raw/adni_like.R'
  Recovery              recovery.R     10         5       'R src tests/testthat'
  'Two implementations' twins.R        ''         1       'R src tests/testthat'
  'Memory and C'        sanitize.sh    ''         75      'R src tests/testthat inst data tools/test.R'
  'Memory and C'        valgrind.sh    ''         100     'R src tests/testthat inst data tools/test.R'
  'Memory and C'        gctorture.R    ''         1       'R src'
  'Memory and C'        analyse.sh     ''         1       'src'
  'Memory and C'        fuzz.sh        10000000   180     'src tests/slow/fuzz'
  'Memory and C'        files.R        10000      1       'R src'
  'Memory and C'        builds.sh      ''         16      'R src tests/testthat inst data tools/test.R'
  'Everyday tests'      everyday.R     ''         3       'R src tests/testthat inst data tools/test.R'
  'Everyday tests'      suite.R        ''         68      'all'
  Faults                kill.R         ''         8       'fits clinic people'
  Faults                interrupt.R    ''         0       'fits clinic people'
  Faults                disk.R         ''         2       'fits clinic'
  Faults                damage.R       ''         65      'R src tests/testthat'
  Faults                storm.R        ''         2       fits
  Faults                generator.R    ''         1       fits
  Faults                leak.R         ''         13      'R src'
  Package               lines.R        ''         100     'R src tests/testthat inst data'
  Package               lint.R         ''         8       'all'
  Package               suggests.R     ''         50      package
")
scripts$name <- sub("[.][^.]*$", "", scripts$script)

kept <- function(name) file.path(folder, paste0(name, ".txt"))

# ---- the sources --------------------------------------------------------------------

up_to_fits <- "^(common|problem|plan|behaviour|iohmm|infer|read|verdict|fit)-"
not_fits <- paste0("^R/(common-programmes|behaviour-recall|",
                   "plan-(planned|markov|planners|mdp|kl|q_learning|soft_q_learning|pomdp|belief_aware|rule|",
                   "iohmm_rule|boltzmann|custom|differentiable|history_q_learning)|",
                   "infer-(inferred|demonstrated|inverse_planners|optimality|perturbation|margin|soft|soft_margin|",
                   "experiments|counts|scores|soft_policies|preferences|matching|matching-[a-z]+|distribution|custom|",
                   "shared_utility))[.]R$|",
                   "^src/((ffi_)?(qlearn|unroll|recall|rnn|iohmm_bc)[.][ch]|init[.]c|ffi[.]h)$")
not_alone <- paste0("^R/(infer-(population|effects|interpolation|mode-effects|checkpoint-population)|fit-effects|",
                    "read-(population|cells|covariates)|verdict-population)")
not_chains <- paste0("^R/(infer-(checkpoint|job|walk|joint|dynamics)|fit-(resume|extend|dynamics)|read-dynamics|",
                     "verdict-(?!chains))")

# Of R code what is run, of all else all of it. `code_hashes` are those of files looked at before, by all of their text.
code_hashes <- new.env()

file_hashes <- function(files) {
  out <- tools::md5sum(files)
  for (i in grep("^(R|tests)/.*[.]R$", files)) {
    if (is.null(code_hashes[[out[i]]])) {
      text <- tempfile()
      code <- parse(files[i], keep.source = FALSE, encoding = "UTF-8")
      writeLines(unlist(lapply(code, deparse)), text, useBytes = TRUE)
      code_hashes[[out[i]]] <- unname(tools::md5sum(text))
    }
    out[i] <- code_hashes[[out[i]]]
  }
  out
}

# A hash of what a script needs and of its arguments. What the table says of the sources is
# not one of them.
sources_hash <- function(row) {
  needs <- strsplit(row$needs, " ")[[1]]
  everything <- c("R", "src", "man", "tests", "vignettes", "inst", "data", "data-raw", "tools", "Makefile",
                  "README.md", "NEWS.md")
  if ("all" %in% needs) needs <- everything
  if (any(c("fits", "alone", "chains") %in% needs)) {
    rooms <- list.files("R", up_to_fits, full.names = TRUE)
    if (!"fits" %in% needs) rooms <- grep(not_alone, rooms, value = TRUE, invert = TRUE)
    if ("chains" %in% needs) rooms <- grep(not_chains, rooms, value = TRUE, invert = TRUE, perl = TRUE)
    known <- c(rooms, list.files("src", full.names = TRUE))
    needs <- c(setdiff(needs, c("fits", "alone", "chains")), grep(not_fits, known, value = TRUE, invert = TRUE))
  }
  if ("studies" %in% needs) needs <- c(setdiff(needs, "studies"), list.files("R", "^compare-study-", full.names = TRUE))
  if ("clinic" %in% needs) {
    needs <- c(setdiff(needs, "clinic"), file.path("tests", "testthat", c("helper-fits.R", "helper-dynamics.R")))
  }
  if ("people" %in% needs) {
    needs <- c(setdiff(needs, "people"), file.path("tests", "testthat", c("helper-random.R", "helper-population.R")))
  }
  if ("rewards" %in% needs) {
    room <- list.files("R", "^(learn-(model|po_irl)|plan-(boltzmann|planned))", full.names = TRUE)
    needs <- c(setdiff(needs, "rewards"), room)
  }
  if ("package" %in% needs) {
    needs <- c("R", "src", "man", "tests/testthat", "tests/testthat.R", "vignettes", "inst", "data", "README.md",
               "NEWS.md", ".Rbuildignore", "tools/check.sh")
  }
  if ("R" %in% needs) needs <- c(needs, "DESCRIPTION", "NAMESPACE")
  needs <- c(needs, file.path("tests", "slow", c(row$script, "shared")))
  files <- c(needs[!dir.exists(needs)], list.files(needs[dir.exists(needs)], recursive = TRUE, full.names = TRUE))
  files <- files[file.exists(files) & !grepl("[.]s?o$|^inst/extdata/trust[.]csv$|^tests/slow/kept/", files)]
  files <- sort(unique(files), method = "radix")
  list <- tempfile()
  writeLines(c(row$arguments, paste(files, file_hashes(files))), list)
  # Without the name of that file, which would become one of the variable that scripts read.
  unname(substr(tools::md5sum(list), 1, 12))
}

last_line <- function(row) {
  said <- if (file.exists(kept(row$name))) readLines(kept(row$name), warn = FALSE)
  c(utils::tail(said, 1), "status unknown")[1]
}

ended_well <- function(row) grepl(paste0("^status 0 .*, sources ", sources_hash(row), "$"), last_line(row))

# ---- running ----------------------------------------------------------------------

jobs_allowed <- function() {
  said <- Sys.getenv("IBRC_JOBS", max(1L, parallel::detectCores(), na.rm = TRUE))
  jobs <- suppressWarnings(as.integer(said))
  if (is.na(jobs) || jobs < 1) stop("IBRC_JOBS must be 1 or more, not ", said, call. = FALSE)
  jobs
}

# What it prints goes to its file, from which show_news() reads as it comes.
start_script <- function(row, jobs) {
  path <- file.path("tests", "slow", row$script)
  cat("== ", path, "\n", sep = "")
  program <- if (endsWith(row$script, ".R")) file.path(R.home("bin"), "Rscript") else "sh"
  process <- processx::process$new(program, c(path, row$arguments[nzchar(row$arguments)]), stdout = kept(row$name),
                                   stderr = "2>&1", cleanup_tree = TRUE,
                                   env = c("current", IBRC_JOBS = jobs, IBRC_SOURCES = sources_hash(row)))
  list(name = row$name, row = row, hash = sources_hash(row), process = process, began = Sys.time(),
       news = file(kept(row$name), "r", blocking = FALSE))
}

show_news <- function(one) {
  for (line in readLines(one$news)) cat(formatC(one$name, width = -12), line, "\n", sep = "")
}

# The status is the last line of the file. Who changes the sources meanwhile gets no hash.
end_script <- function(one) {
  close(one$news)
  hash <- if (one$hash == sources_hash(one$row)) one$hash else "changed meanwhile"
  took <- as.numeric(Sys.time() - one$began, units = "mins")
  last <- sprintf("status %d after %.1f minutes, sources %s", one$process$get_exit_status(), took, hash)
  cat(formatC(one$name, width = -12), last, "\n", sep = "")
  cat(last, "\n", sep = "", file = kept(one$name), append = TRUE)
}

# As Ctrl-C at a terminal would, so that each can clean up, and then for good.
stop_scripts <- function(running) {
  for (one in running) system2("kill", c("-s", "INT", "--", -one$process$get_pid()))
  for (one in running) one$process$wait(5000)
  for (one in running) one$process$kill_tree()
}

run_scripts <- function(waiting) {
  places <- min(jobs_allowed(), nrow(waiting))
  share <- jobs_allowed() %/% places
  waiting <- waiting[order(-waiting$minutes), ]
  running <- list()
  on.exit(stop_scripts(running))
  while (nrow(waiting) + length(running) > 0) {
    while (nrow(waiting) > 0 && length(running) < (if (waiting$minutes[1] == 0) 1 else places)) {
      running <- c(running, list(start_script(waiting[1, ], share)))
      waiting <- waiting[-1, ]
    }
    Sys.sleep(0.2)
    ended <- !vapply(running, function(one) one$process$is_alive(), NA)
    for (one in running) show_news(one)
    for (one in running[ended]) end_script(one)
    running <- running[!ended]
  }
}

# ---- the table --------------------------------------------------------------------

# A figure has no ": " in it, a promise may.
promise_pattern <- "^(.*): asked (.*): (.*): (passed|FAILED)$"
other_pattern <- "^(.*): (.*): (shown|not run)$"

# One row per line that says something of a promise. What passed without saying what was asked
# proves nothing.
read_promises <- function(said, none) {
  said <- grep(": (passed|FAILED|shown|not run)$", said, value = TRUE)
  asked <- grepl(promise_pattern, said)
  part <- function(first, second) {
    ifelse(asked, sub(promise_pattern, first, said), if (is.na(second)) "" else sub(other_pattern, second, said))
  }
  word <- sub(".*: ", "", said)
  verdict <- unname(c(passed = "kept", FAILED = "BROKEN", shown = "shown", "not run" = "not run")[word])
  out <- data.frame(area = rep(none$area, length(said)), promise = part("\\1", "\\1"), criterion = part("\\2", NA),
                    test = rep(none$test, length(said)), figure = part("\\3", "\\2"), verdict = verdict,
                    sources = rep(none$sources, length(said)))
  silent <- !asked & word %in% c("passed", "FAILED")
  out$figure[silent] <- "does not say what is asked"
  out$verdict[silent] <- "BROKEN"
  out
}

promises_of <- function(row) {
  none <- data.frame(area = row$area, promise = row$name, criterion = "", test = file.path("tests", "slow", row$script),
                     figure = "", verdict = "not run", sources = "")
  if (!file.exists(kept(row$name))) return(none)
  said <- readLines(kept(row$name), warn = FALSE)
  # A script that was stopped, or still runs, has no last line with its status.
  pattern <- "^status (-?[0-9]+) .*"
  status <- if (grepl(pattern, last_line(row))) sub(pattern, "\\1", last_line(row)) else "unknown"
  hash <- sub("^status .*?(, sources |$)", "", last_line(row), perl = TRUE)
  none$sources <- if (hash == sources_hash(row)) hash else trimws(paste("older", hash))
  if (status == "77") {
    none$figure <- utils::tail(c("it did not say why", grep("^status", said, value = TRUE, invert = TRUE)), 1)
    return(none)
  }
  out <- read_promises(said, none)
  asked <- out$verdict %in% c("kept", "BROKEN")
  unfinished <- !status %in% c("0", "1") || (status == "1" && !any(out$verdict == "BROKEN")) || !any(asked)
  if (unfinished) out <- rbind(out, transform(none, figure = paste("ended with status", status), verdict = "BROKEN"))
  out
}

# What was found out about promises that were broken, by promise; nothing of others.
findings_of <- function(table) {
  known <- if (file.exists(findings_file)) read.dcf(findings_file, c("Promise", "Finding")) else matrix("", 0, 2)
  found <- gsub("[[:space:]]+", " ", known[match(table$promise, known[, 1]), 2])
  ifelse(table$verdict == "BROKEN" & !is.na(found), found, "")
}

collect <- function() {
  out <- do.call(rbind, lapply(seq_len(nrow(scripts)), function(i) promises_of(scripts[i, ])))
  out$finding <- findings_of(out)
  out
}

show_table <- function(table) {
  for (area in unique(table$area)) {
    cat("\n", area, "\n", sep = "")
    these <- table[table$area == area, ]
    for (i in seq_len(nrow(these))) {
      asked <- if (nzchar(these$criterion[i])) paste0(", asked ", these$criterion[i])
      line <- paste0(these$promise[i], ": ", these$figure[i], " (", basename(these$test[i]), asked, ")")
      cat(strwrap(line, 100, initial = formatC(these$verdict[i], width = -8), prefix = strrep(" ", 8)), sep = "\n")
      if (nzchar(these$finding[i])) {
        cat(strwrap(these$finding[i], 100, initial = "        Found: ", prefix = strrep(" ", 8)), sep = "\n")
      }
    }
  }
  older <- unique(basename(table$test[startsWith(table$sources, "older")]))
  cat("\n", if (length(older)) paste("Run on other sources than these:", toString(older))
      else "All that was run, run on these sources", "\n", sep = "")
  count <- table(factor(table$verdict, c("kept", "BROKEN", "shown", "not run")))
  cat(paste(count, names(count), collapse = ", "), "\n", sep = "")
}

given <- commandArgs(TRUE)
if (!identical(given[1], "table")) {
  unknown <- setdiff(given, scripts$name)
  if (length(unknown)) stop("no such script in tests/slow: ", toString(unknown), call. = FALSE)
  dir.create(folder, recursive = TRUE, showWarnings = FALSE)
  # Threads that wait by spinning would starve one another.
  Sys.setenv(IBRC_EXTENDED_TESTS = "1", OMP_WAIT_POLICY = "passive")
  wanted <- scripts[length(given) == 0 | scripts$name %in% given, ]
  done <- length(given) == 0 & vapply(seq_len(nrow(wanted)), function(i) ended_well(wanted[i, ]), NA)
  if (any(done)) cat("Run on these sources before: ", toString(wanted$name[done]), "\n", sep = "")
  if (!all(done)) run_scripts(wanted[!done, ])
  found <- collect()
  if (length(given)) found <- found[basename(found$test) %in% scripts$script[scripts$name %in% given], ]
} else {
  found <- collect()
  if (length(given) > 1) utils::write.csv(found, given[2], row.names = FALSE)
}
show_table(found)
quit(status = as.integer(any(found$verdict == "BROKEN")))
