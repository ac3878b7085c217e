# R CMD check as CRAN does it, with all that is suggested; and where nothing is installed
# but what the package imports: examples, tests and the code of vignettes pass, and
# examples are quick; and the size of what is shipped. First small packages with faults,
# one that uses what it only suggests: a check that passes them would prove nothing.
#
#   Rscript tests/slow/suggests.R

source(file.path("tests", "slow", "shared", "promise.R"))
if (!all(vapply(c("ggplot2", "knitr", "rmarkdown", "testthat"), requireNamespace, NA, quietly = TRUE)) ||
      !nzchar(Sys.which("pandoc"))) {
  cat("Building with all that is suggested needs ggplot2, knitr, rmarkdown, testthat and pandoc.\n")
  quit(status = 77)
}
Sys.unsetenv("IBRC_EXTENDED_TESTS")
# testthat runs the tests and knitr the vignettes, so these two are there; the other
# suggestions are not, nor what R recommends (survival).
Sys.setenv("_R_CHECK_DEPENDS_ONLY_" = "true", "_R_CHECK_NO_RECOMMENDED_" = "true", "_R_CHECK_FORCE_SUGGESTS_" = "false",
           "_R_CHECK_PACKAGE_DEPENDS_IGNORE_MISSING_ENHANCES_" = "true", OMP_WAIT_POLICY = "passive")

scratch <- tempfile("suggests")
dir.create(scratch)
home <- getwd()

r_cmd <- function(...) {
  suppressWarnings(system2(file.path(R.home("bin"), "R"), c("CMD", ...), stdout = TRUE, stderr = TRUE))
}

# For the package as it is shipped, and as most users have it.
with_everything <- function(code) {
  old <- Sys.getenv(c("_R_CHECK_DEPENDS_ONLY_", "_R_CHECK_NO_RECOMMENDED_"))
  Sys.unsetenv(names(old))
  on.exit(do.call(Sys.setenv, as.list(old)))
  code
}

# The tarball of a package, built in the scratch folder.
build <- function(package, ...) {
  old <- setwd(scratch)
  on.exit(setwd(old))
  unlink(list.files(pattern = "[.]tar[.]gz$"))
  said <- r_cmd("build", ..., shQuote(package))
  made <- list.files(pattern = "[.]tar[.]gz$")
  if (length(made) != 1) stop(paste(said, collapse = "\n"))
  file.path(scratch, made)
}

# The log of the check, a line each, and the folder it was made in.
check <- function(tarball, ...) {
  old <- setwd(scratch)
  on.exit(setwd(old))
  r_cmd("check", "--no-manual", ..., shQuote(tarball))
  folder <- file.path(scratch, sub("_.*", ".Rcheck", basename(tarball)))
  list(log = readLines(file.path(folder, "00check.log"), warn = FALSE), folder = folder)
}

# What a check said of a part: "OK", or the worst that it said; parts that run files have one
# line per file as well.
verdict <- function(log, part) {
  heads <- grep("^[*] ", log)
  from <- grep(paste0("^[*] ", part), log)
  if (length(from) != 1) return("not checked")
  own <- log[from:min(heads[heads > from] - 1, length(log))]
  said <- regmatches(own, regexpr("(OK|SKIPPED|NOTE|WARNING|ERROR)$", own))
  worst <- match(said, c("OK", "SKIPPED", "NOTE", "WARNING", "ERROR"))
  if (length(said)) said[which.max(worst)] else "nothing run"
}
parts <- c(examples = "checking examples [.]{3}", tests = "checking tests [.]{3}")

# R CMD check does not run the code of a vignette that knitr makes but by making the page,
# which needs rmarkdown: here knitr runs it, in a library with links to what a package
# and knitr import, and in place of what R recommends folders that are no packages.
bare_library <- function(package, installed) {
  folder <- tempfile("library", scratch)
  dir.create(folder)
  known <- utils::installed.packages()
  known <- known[!duplicated(known[, "Package"]), ]
  imports <- strsplit(read.dcf(file.path(package, "DESCRIPTION"), "Imports")[1], ",")[[1]]
  imports <- trimws(sub("[(].*", "", imports))
  needed <- c("knitr", imports[!is.na(imports)])
  needed <- unique(c(needed, unlist(tools::package_dependencies(needed, known, recursive = TRUE))))
  needed <- setdiff(intersect(needed, rownames(known)), rownames(known)[known[, "Priority"] %in% "base"])
  if (!is.null(installed)) file.symlink(installed, folder)
  file.symlink(file.path(known[needed, "LibPath"], needed), folder)
  for (name in setdiff(rownames(known)[known[, "Priority"] %in% "recommended"], needed)) {
    dir.create(file.path(folder, name))
  }
  folder
}

# The vignettes of a package that run to their end there, of all.
run_vignettes <- function(package, installed = NULL) {
  library <- bare_library(package, installed)
  copy <- tempfile("vignettes", scratch)
  dir.create(copy)
  # Pages that are not shipped read tables that are not shipped either, where they lie in the sources.
  wanted <- file.path(package, c("vignettes", "inst"))
  file.copy(wanted[dir.exists(wanted)], copy, recursive = TRUE)
  old <- setwd(file.path(copy, "vignettes"))
  on.exit(setwd(old))
  vapply(list.files(pattern = "[.]Rmd$"), function(file) {
    code <- sprintf("knitr::opts_chunk$set(error = FALSE); knitr::knit('%s', quiet = TRUE)", file)
    said <- suppressWarnings(system2(
      file.path(R.home("bin"), "Rscript"), c("--no-environ", "-e", shQuote(code)), stdout = TRUE, stderr = TRUE,
      env = c(paste0("R_LIBS=", shQuote(library)), "R_LIBS_USER=NULL", "R_LIBS_SITE=NULL")
    ))
    failed <- !is.null(attr(said, "status"))
    if (failed && !is.null(installed)) writeLines(c(file, utils::tail(said, 20)))
    !failed
  }, NA)
}

# What tools/check.sh says of the package in a folder: errors, warnings and notes, and
# whether there are none.
check_as_cran <- function(package) {
  old <- setwd(package)
  on.exit(setwd(old))
  said <- suppressWarnings(system2("sh", "tools/check.sh", stdout = TRUE, stderr = TRUE))
  last <- grep("^[0-9]+ errors, ", said, value = TRUE)
  list(figure = if (length(last)) last else "no result", clean = is.null(attr(said, "status")), said = said)
}

# ---- planted uses -------------------------------------------------------------------

plant <- function(guard) {
  package <- file.path(scratch, "planted")
  unlink(package, recursive = TRUE)
  for (folder in c("R", "man", "tests", "vignettes")) dir.create(file.path(package, folder), recursive = TRUE)
  put <- function(path, ...) writeLines(c(...), file.path(package, path))
  use <- paste0(if (guard) "if (requireNamespace(\"ggplot2\", quietly = TRUE)) ", "ggplot2::ggplot()")
  put("DESCRIPTION", "Package: planted", "Version: 1.0", "Title: Uses What It Suggests", "Description: Or does not.",
      "License: GPL-3", "Author: Nobody", "Maintainer: Nobody <nobody@example.org>",
      "Suggests: ggplot2, knitr, rmarkdown", "VignetteBuilder: knitr")
  put("NAMESPACE", "export(one)")
  put("R/one.R", "one <- function() 1")
  put("man/one.Rd", "\\name{one}", "\\alias{one}", "\\title{One}", "\\usage{one()}", "\\description{One.}",
      "\\value{One.}", "\\examples{", use, "}")
  put("tests/one.R", use)
  put("vignettes/one.Rmd", "---", "title: One", "vignette: >", "  %\\VignetteIndexEntry{One}",
      "  %\\VignetteEngine{knitr::rmarkdown}", "  %\\VignetteEncoding{UTF-8}", "---", "```{r}", use, "```")
  log <- check(build(package, "--no-build-vignettes"), "--ignore-vignettes")$log
  c(vapply(parts, function(part) verdict(log, part), ""), vignette = if (run_vignettes(package)) "OK" else "ERROR")
}
planted <- plant(guard = FALSE)
guarded <- plant(guard = TRUE)
promise("a planted use of what is only suggested fails the check, wherever it is", "an error in all three",
        paste(names(planted), planted, collapse = ", "), all(planted == "ERROR"))
promise("the same use behind a guard passes", "OK in all three", paste(names(guarded), guarded, collapse = ", "),
        all(guarded == "OK"))

dir.create(file.path(scratch, "planted", "tools"))
invisible(file.copy("tools/check.sh", file.path(scratch, "planted", "tools")))
clean <- with_everything(check_as_cran(file.path(scratch, "planted")))
if (!clean$clean) writeLines(utils::tail(clean$said, 40))
promise("a small package without fault passes the check as CRAN does it", "no finding", clean$figure, clean$clean)
cat("two <- function() undefined_thing\n", file = file.path(scratch, "planted", "R", "one.R"), append = TRUE)
planted <- with_everything(check_as_cran(file.path(scratch, "planted")))
promise("a planted name that nothing defines fails the check as CRAN does it", "a finding that names it",
        planted$figure, !planted$clean && any(grepl("undefined_thing", planted$said, fixed = TRUE)))

# ---- the package ----------------------------------------------------------------------

whole <- with_everything(check_as_cran(home))
if (!whole$clean) writeLines(utils::tail(whole$said, 60))
promise("R CMD check --as-cran finds nothing", "no error, warning or note but that it is new",
        whole$figure, whole$clean)

tarball <- with_everything(build(home, "--no-manual"))
size <- file.size(tarball) / 2^20
promise("the tarball is below 5 MB", "below 5 MB", sprintf("%.2f MB", size), size < 5)

# All tests, of which a check by itself runs the quick ones.
Sys.setenv(NOT_CRAN = "true")
checked <- check(tarball, "--ignore-vignettes")
Sys.unsetenv("NOT_CRAN")
for (part in names(parts)) {
  said <- verdict(checked$log, parts[[part]])
  promise(paste0(part, " pass with nothing there but what is imported"), "OK", said, said == "OK")
  if (said != "OK") writeLines(checked$log)
}

ran <- run_vignettes(home, file.path(checked$folder, "ibrc"))
promise("the code of vignettes runs with nothing there but what is imported, and knitr", "all",
        paste0(sum(ran), " of ", length(ran), if (!all(ran)) paste0(", not ", toString(names(ran)[!ran]))),
        length(ran) > 0 && all(ran))

# Examples that are left out without what they need count here as well.
checked <- with_everything(check(tarball, "--no-tests", "--ignore-vignettes", "--timings"))
# Rows end with a tab that the head has not.
times <- utils::read.delim(file.path(checked$folder, "ibrc-Ex.timings"), header = FALSE, skip = 1)[1:4]
names(times) <- c("name", "user", "system", "elapsed")
# Time of a processor: on a machine that does other work as well the clock says nothing.
times$own <- times$user + times$system
slowest <- which.max(times$own)
promise("every example takes less than 5 s of a processor", "each below 5 s, as user and system time together",
        paste0(nrow(times), " help pages, the slowest ", times$name[slowest], " with ", times$own[slowest], " s (",
               times$elapsed[slowest], " s by the clock)"),
        verdict(checked$log, parts[["examples"]]) == "OK" && all(times$own < 5))
unlink(scratch, recursive = TRUE)
finish()
