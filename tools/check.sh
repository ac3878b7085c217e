#!/bin/sh
# Builds the package and checks the tarball as CRAN does. Fails on any error,
# warning or note, but for the note that this is a new submission.
#
#   sh tools/check.sh
#
# The tarball and the log stay in _build/check.
set -eu
cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

say() { printf 'check: %s\n' "$*"; }
has_package() { Rscript -e "quit(status = !nzchar(system.file(package = '$1')))" >/dev/null 2>&1; }

# ---- what this machine cannot answer for the package ---------------------------

# CRAN asks a time server whether the clock is right: that says nothing about the
# package, and is a note wherever the server does not answer.
export _R_CHECK_SYSTEM_CLOCK_=0

# Flags that R itself was built with, such as a distribution's hardening flags,
# are not the package's choice.
_R_CHECK_COMPILATION_FLAGS_KNOWN_="$(R CMD config --no-user-files --no-site-files CFLAGS) $(R CMD config --no-user-files --no-site-files CPPFLAGS)"
export _R_CHECK_COMPILATION_FLAGS_KNOWN_

# Optional packages: those under Enhances need not be there.
export _R_CHECK_PACKAGE_DEPENDS_IGNORE_MISSING_ENHANCES_=true
export _R_CHECK_FORCE_SUGGESTS_=false

# Help pages are checked as HTML where the validator is there, formulas where V8 is.
command -v tidy >/dev/null 2>&1 || export _R_CHECK_RD_VALIDATE_RD2HTML_=false
has_package V8 || export _R_CHECK_RD_MATH_RENDERING_=false

# Links are followed where the hosts they name can be found from here.
unknown=$(Rscript -e '
  files <- c("DESCRIPTION", "README.md", "NEWS.md", "inst/CITATION", Sys.glob("man/*.Rd"))
  text <- unlist(lapply(files[file.exists(files)], readLines, warn = FALSE, encoding = "UTF-8"))
  links <- unlist(regmatches(text, gregexpr("https?://[A-Za-z0-9.-]+", text, useBytes = TRUE)))
  hosts <- unique(c("cloud.r-project.org", sub("https?://", "", links)))
  found <- vapply(hosts, function(host) !is.null(suppressWarnings(utils::nsl(host))), NA)
  cat(hosts[!found])' 2>/dev/null) || unknown="the network"
if [ -n "$unknown" ]; then
  say "no way to $unknown from here, so links are not followed"
  export _R_CHECK_CRAN_INCOMING_REMOTE_=false
fi

manual=""
if ! command -v pdflatex >/dev/null 2>&1; then
  say "no LaTeX here, so no PDF manual"
  manual="--no-manual"
fi

# ---- build, check, judge --------------------------------------------------------

# Relative paths to build and a plain one to check: both stumble over spaces.
mkdir -p _build/check
cd _build/check
rm -rf ./*.tar.gz ./*.Rcheck
R CMD build $manual ../..
cp ./*.tar.gz "$scratch"
status=0
(cd "$scratch" && R CMD check --as-cran $manual ./*.tar.gz </dev/null) || status=$?
cp -R "$scratch"/*.Rcheck .

Rscript - ./*.Rcheck/00check.log "$status" <<'END'
arguments <- commandArgs(TRUE)
log <- readLines(arguments[1], warn = FALSE, encoding = "UTF-8")
findings <- as.data.frame(tools::check_packages_in_dir_details(logs = arguments[1], drop_ok = TRUE))
findings <- findings[findings$Status %in% c("NOTE", "WARNING", "ERROR"), ]

# "New submission" is the one note that a first release cannot avoid, as long as
# it stands alone under its heading with the maintainer's name.
new_submission <- vapply(seq_len(nrow(findings)), function(i) {
  said <- trimws(strsplit(findings$Output[i], "\n")[[1]])
  said <- said[nzchar(said) & !startsWith(said, "Maintainer:")]
  grepl("CRAN incoming feasibility", findings$Check[i]) && identical(said, "New submission")
}, NA)
for (i in which(!new_submission)) {
  cat(sprintf("\n%s in checking %s\n%s\n", findings$Status[i], findings$Check[i], findings$Output[i]))
}

# The numbers are those of the last line of the log, "Status: 1 ERROR, 2 NOTEs";
# a check that was cut short has none.
status <- grep("^Status:", log, value = TRUE)
if (length(status) == 0) {
  cat("\nThe check did not come to its end, see _build/check.\n")
  quit(status = 1)
}
count <- function(kind) {
  said <- regmatches(status, regexpr(paste0("[0-9]+ ", kind), status))
  if (length(said)) as.integer(sub(" .*", "", said)) else 0L
}
counts <- c(count("ERROR"), count("WARNING"), count("NOTE") - sum(new_submission))
cat(sprintf(
  "\n%d errors, %d warnings, %d notes%s\n", counts[1], counts[2], counts[3],
  if (any(new_submission)) ", new submission aside" else ""
))
quit(status = as.integer(any(counts > 0) || arguments[2] != "0"))
END
