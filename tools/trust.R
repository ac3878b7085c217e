# Runs the slow tests in tests/slow/ and prints one table of what they promise: the
# promise, the test that keeps it, the figure it came to, and whether it was kept.
#
#   Rscript tools/trust.R                 all of them, hours
#   Rscript tools/trust.R kill fuzz       those two
#   Rscript tools/trust.R table [file]    the table of what was run before, as CSV too
#
# A script prints a line a promise, "what: figure: passed" or "... FAILED". What each
# printed is kept in _build/trust/, so that the table can be made in pieces. A script
# that needs a program that is not here exits with status 77, and counts as not run.
# Exit status 1 if a promise was broken or a script did not come to its end.

folder <- file.path("_build", "trust")

# area, script and its arguments, in the order of the table.
scripts <- read.table(header = TRUE, colClasses = "character", text = "
  area                  script         arguments
  Calibration           calibration.R  1000
  Calibration           coverage.R     ''
  'Two implementations' twins.R        ''
  'Memory and C'        sanitize.sh    ''
  'Memory and C'        valgrind.sh    .
  'Memory and C'        gctorture.R    ''
  'Memory and C'        analyse.sh     ''
  'Memory and C'        fuzz.sh        10000000
  'Memory and C'        builds.sh      ''
  'Everyday tests'      everyday.R     ''
  'Everyday tests'      suite.R        ''
  Faults                kill.R         ''
  Faults                interrupt.R    ''
  Faults                disk.R         ''
  Faults                damage.R       ''
  Faults                storm.R        ''
  Faults                generator.R    ''
  Faults                leak.R         ''
  Package               lines.R        ''
  Package               lint.R         ''
  Package               suggests.R     ''
")
scripts$name <- sub("[.][^.]*$", "", scripts$script)

kept <- function(name) file.path(folder, paste0(name, ".txt"))

# Output goes to the screen as it comes, and to a file; the status is its last line.
run_script <- function(row) {
  path <- file.path("tests", "slow", row$script)
  cat("== ", path, "\n", sep = "")
  program <- if (endsWith(row$script, ".R")) file.path(R.home("bin"), "Rscript") else "sh"
  command <- paste(shQuote(program), shQuote(path), row$arguments)
  status_file <- tempfile()
  began <- Sys.time()
  system(paste0("{ ", command, "; echo $? >", shQuote(status_file), "; } 2>&1 | tee ", shQuote(kept(row$name))))
  took <- as.numeric(Sys.time() - began, units = "mins")
  cat(sprintf("status %s after %.1f minutes\n", readLines(status_file), took), file = kept(row$name), append = TRUE)
}

# A figure has no ": " in it, a promise may.
promises_of <- function(row) {
  none <- data.frame(area = row$area, promise = row$name, test = file.path("tests", "slow", row$script),
                     figure = "", verdict = "not run")
  if (!file.exists(kept(row$name))) return(none)
  said <- readLines(kept(row$name), warn = FALSE)
  # A script that was stopped, or still runs, has no last line with its status.
  last <- grep("^status [0-9]+ ", utils::tail(said, 1), value = TRUE)
  status <- if (length(last)) sub("^status ([0-9]+) .*", "\\1", last) else "unknown"
  if (status == "77") {
    none$figure <- utils::tail(grep("^status", said, value = TRUE, invert = TRUE), 1)
    return(none)
  }
  pattern <- "^(.*): (.*): (passed|FAILED)$"
  said <- grep(pattern, said, value = TRUE)
  out <- data.frame(area = rep(row$area, length(said)), promise = sub(pattern, "\\1", said),
                    test = rep(none$test, length(said)), figure = sub(pattern, "\\2", said),
                    verdict = ifelse(endsWith(said, "passed"), "kept", "BROKEN"))
  unfinished <- !status %in% c("0", "1") || (status == "1" && all(out$verdict == "kept")) || length(said) == 0
  if (unfinished) out <- rbind(out, transform(none, figure = paste("ended with status", status), verdict = "BROKEN"))
  out
}

collect <- function() do.call(rbind, lapply(seq_len(nrow(scripts)), function(i) promises_of(scripts[i, ])))

show_table <- function(table) {
  for (area in unique(table$area)) {
    cat("\n", area, "\n", sep = "")
    these <- table[table$area == area, ]
    for (i in seq_len(nrow(these))) {
      line <- paste0(formatC(these$verdict[i], width = -8), these$promise[i], ": ", these$figure[i], " (",
                     basename(these$test[i]), ")")
      cat(strwrap(line, width = 110, indent = 2, exdent = 12), sep = "\n")
    }
  }
  count <- table(factor(table$verdict, c("kept", "BROKEN", "not run")))
  cat("\n", paste(count, names(count), collapse = ", "), "\n", sep = "")
}

given <- commandArgs(TRUE)
if (!identical(given[1], "table")) {
  unknown <- setdiff(given, scripts$name)
  if (length(unknown)) stop("no such script in tests/slow: ", toString(unknown), call. = FALSE)
  dir.create(folder, recursive = TRUE, showWarnings = FALSE)
  Sys.setenv(IBRC_EXTENDED_TESTS = "1")
  for (i in which(length(given) == 0 | scripts$name %in% given)) run_script(scripts[i, ])
  found <- collect()
  if (length(given)) found <- found[basename(found$test) %in% scripts$script[scripts$name %in% given], ]
} else {
  found <- collect()
  if (length(given) > 1) utils::write.csv(found, given[2], row.names = FALSE)
}
show_table(found)
quit(status = as.integer(any(found$verdict == "BROKEN")))
