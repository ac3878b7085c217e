#!/bin/sh
# Installs what is missing to work on this package, and nothing else; says
# nothing where nothing is missing.
#
#   sh tools/setup.sh [demo | test | docs | check | bench | site | trust] ...
#
# Debian and Ubuntu: R, a compiler and R packages come from apt (as root, or
# through sudo); packages that apt has not, or has too old, come from CRAN.
# Elsewhere R and a compiler must be there, and R packages come from CRAN, into
# the first library that can be written to. The versions needed are those in
# DESCRIPTION.
#
# Tests look at the report and the page of sliders in a browser, and read tables in
# several locales. Where those cannot be set up, this says what is left out.
set -eu
cd "$(dirname "$0")/.."

say() { printf 'setup: %s\n' "$*"; }
fail() { printf 'setup: %s\n' "$*" >&2; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

# ---- what the goals need ---------------------------------------------------

packages=""     # R packages beside those under Imports
suggests=FALSE  # everything under Suggests as well?
commands=""     # programs that Debian packages under their own name
fuzzing=no      # the libraries of clang for fuzzing and threads as well?
windows=no      # a C compiler that builds for Windows?
browser=no      # a browser that tests can drive?
locales=""      # locales that tests switch to, as setlocale() names them
test_packages="bayesplot bit64 codetools flextable future future.apply ggplot2 haven htmltools knitr loo lpSolve Matrix pROC processx PRROC quadprog rmarkdown rstantools shiny survival testthat withr"
slow_packages="covr lintr spelling"
test_locales="en_US.UTF-8 tr_TR.UTF-8 de_DE.UTF-8"
for goal in "${@:-demo}"; do
  case "$goal" in
    demo)  packages="$packages ggplot2" ;;
    test)  packages="$packages $test_packages"; commands="$commands pandoc"; browser=yes; locales=$test_locales ;;
    docs)  packages="$packages roxygen2" ;;
    check) suggests=TRUE; commands="$commands qpdf tidy pandoc" ;;
    bench) ;;
    site)  suggests=TRUE; packages="$packages pkgdown spelling"; commands="$commands pandoc" ;;
    trust)
      suggests=TRUE; packages="$packages $test_packages $slow_packages"; browser=yes; locales=$test_locales
      commands="$commands qpdf tidy pandoc valgrind clang clang-tidy"; fuzzing=yes; windows=yes ;;
    *) fail "unknown goal '$goal': choose from demo, test, docs, check, bench, site and trust." ;;
  esac
done

# ---- how to install ----------------------------------------------------------

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

if [ "$(id -u)" -eq 0 ]; then root=""; may_root=yes
elif have sudo; then root="sudo"; may_root=yes
else root=""; may_root=no
fi
if have apt-get && have apt-cache && have dpkg; then apt=yes; else apt=no; fi

apt_get() {
  $root env DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 LC_ALL=C \
    apt-get -qq -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=120 "$@" </dev/null
}

updated=no
apt_update() {
  [ "$updated" = no ] || return 0
  updated=yes
  say "refreshing the list of Debian packages"
  apt_get update >"$scratch/log" 2>&1 ||
    say "apt-get update had trouble; going on with the list there is"
}

apt_install() {
  say "installing $* with apt"
  if ! apt_get install -y --no-install-recommends "$@" >"$scratch/log" 2>&1; then
    tail -n 30 "$scratch/log" >&2
    fail "apt-get install $* failed, see above."
  fi
}

# The version of a Debian package that apt would install, without its epoch;
# nothing if there is none.
apt_version() {
  LC_ALL=C apt-cache policy "$1" | sed -n 's/^ *Candidate: *//p' |
    sed -e '/(none)/d' -e 's/^[0-9]*://'
}

# ---- R and a compiler --------------------------------------------------------

r_needed=$(sed -n 's/.*R (>= *\([0-9.]*\)).*/\1/p' DESCRIPTION | head -n 1)

has_compiler() {
  # CC may carry flags; headers may be missing where the compiler is not.
  cc=$(R CMD config CC 2>/dev/null) && [ -n "$cc" ] &&
    echo '#include <stdlib.h>' | $cc -E -x c - >/dev/null 2>&1
}

missing=""
if ! have R || ! have Rscript; then missing="r-base-core r-base-dev"
elif ! has_compiler; then missing="r-base-dev"
fi

if [ -n "$missing" ]; then
  if [ "$apt" = no ]; then
    fail "needed by hand: R $r_needed or later (https://cloud.r-project.org) and a C compiler that R CMD INSTALL can use; then run this again."
  elif [ "$may_root" = no ]; then
    fail "needed by hand, for want of root or sudo: apt-get install $missing; then run this again."
  fi
  apt_update
  if ! have R; then
    r_offered=$(apt_version r-base-core)
    if [ -z "$r_offered" ] || dpkg --compare-versions "$r_offered" lt "$r_needed"; then
      fail "R $r_needed or later is needed, and apt offers ${r_offered:-none}: install R as https://cloud.r-project.org/bin/linux/ describes, then run this again."
    fi
  fi
  # shellcheck disable=SC2086
  apt_install $missing
fi

Rscript -e "quit(status = getRversion() < '$r_needed')" >/dev/null 2>&1 ||
  fail "R $r_needed or later is needed, and R here is $(R --version | sed -n '1s/R version \([0-9.]*\).*/\1/p'): install a newer one as https://cloud.r-project.org describes, then run this again."

# ---- programs that tests and checks call ----------------------------------------

program_packages() {
  if [ "$apt" = yes ] && [ "$may_root" = yes ]; then
    apt_update
    apt_install "$@"
  else
    say "also wanted, to be installed by hand: $*; what needs it is left out"
  fi
}

missing=""
for command in $commands; do
  have "$command" || missing="$missing $command"
done
# shellcheck disable=SC2086
[ -z "$missing" ] || program_packages $missing

# Chromium, or Chrome, and the driver of the same version.
has_browser() { have chromedriver && { have chromium || have google-chrome || have chromium-browser; }; }
if [ "$browser" = yes ] && ! has_browser; then
  without="so pages are not tested in a browser: that needs Chromium or Chrome, and chromedriver"
  if [ "$apt" = no ] || [ "$may_root" = no ]; then
    say "no browser here, $without"
  else
    apt_update
    # Ubuntu has none among its packages: chromium-browser there asks for a snap.
    if [ -z "$(apt_version chromium)" ] || [ -z "$(apt_version chromium-driver)" ]; then
      say "apt offers no Chromium that runs without snap, $without"
    elif ! (apt_install chromium chromium-driver); then
      say "Chromium could not be installed, $without"
    fi
  fi
fi

# `locale -a` writes utf8 for UTF-8.
missing=""
if [ -n "$locales" ]; then
  there=$(locale -a 2>/dev/null | tr '[:upper:]' '[:lower:]' | sed 's/utf-8$/utf8/') || there=""
  for name in $locales; do
    wanted=$(printf '%s' "$name" | tr '[:upper:]' '[:lower:]' | sed 's/utf-8$/utf8/')
    printf '%s\n' "$there" | grep -qx "$wanted" || missing="$missing $name"
  done
fi
if [ -n "$missing" ]; then
  if [ "$apt" = no ] || [ "$may_root" = no ]; then
    say "no locale$missing here, so tests leave them out: they can be made by root, with localedef"
  else
    # Their definitions are a package of their own, and may be left out of an image.
    if [ ! -e /usr/share/i18n/locales/tr_TR ]; then
      apt_update
      apt_install locales
    fi
    for name in $missing; do
      say "making the locale $name"
      $root localedef -i "${name%.*}" -f UTF-8 "$name" >"$scratch/log" 2>&1 ||
        say "the locale $name could not be made, so tests leave it out"
    done
  fi
fi

# Debian and Ubuntu package what clang links to apart, under the number of its version.
clang_links() { printf '%s\n' "$2" | clang -x c "$1" - -o "$scratch/program" >/dev/null 2>&1; }
if [ "$fuzzing" = yes ] && have clang; then
  missing=""
  version=$(clang -dumpversion | sed 's/[.].*//')
  clang_links -fsanitize=fuzzer 'int LLVMFuzzerTestOneInput(const char *x, unsigned long n) { return x && n > 9; }' ||
    missing="libclang-rt-$version-dev"
  clang_links -fopenmp '#include <omp.h>
    int main(void) { return omp_get_max_threads() < 1; }' || missing="$missing libomp-$version-dev"
  # shellcheck disable=SC2086
  [ -z "$missing" ] || program_packages $missing
fi

if [ "$windows" = yes ] && ! have x86_64-w64-mingw32-gcc; then program_packages gcc-mingw-w64-x86-64; fi

# ---- R packages -----------------------------------------------------------------

cat >"$scratch/missing.R" <<'END'
# Arguments: a file to write, TRUE to count Suggests in, package names. Writes one
# line per missing or outdated package: its name and the version needed.
arguments <- commandArgs(TRUE)
fields <- read.dcf("DESCRIPTION", fields = c("Imports", "Suggests"))[1, ]
fields[is.na(fields)] <- ""
listed <- lapply(strsplit(fields, ","), trimws)
entries <- c(listed$Imports, listed$Suggests, arguments[-(1:2)])
names <- sub("[[:space:]]*[(].*", "", entries)
versions <- ifelse(grepl(">=", entries), gsub(".*>=|[)[:space:]]", "", entries), "0")
wanted <- c(listed$Imports, if (as.logical(arguments[2])) listed$Suggests)
wanted <- unique(c(sub("[[:space:]]*[(].*", "", wanted), arguments[-(1:2)]))
versions <- versions[match(wanted, names)]
found <- vapply(seq_along(wanted), function(i) {
  nzchar(system.file(package = wanted[i])) && utils::packageVersion(wanted[i]) >= versions[i]
}, NA)
writeLines(paste(wanted, versions)[!found], arguments[1])
END

cat >"$scratch/install.R" <<'END'
# Arguments: package names, to be installed from CRAN or the mirror that the
# machine is set to.
repos <- getOption("repos")
if (length(repos) == 0 || anyNA(repos["CRAN"]) || repos["CRAN"] == "@CRAN@") {
  repos["CRAN"] <- "https://cloud.r-project.org"
}
writable <- .libPaths()[file.access(.libPaths(), 2) == 0]
library <- if (length(writable)) writable[1] else {
  own <- strsplit(Sys.getenv("R_LIBS_USER"), .Platform$path.sep, fixed = TRUE)[[1]][1]
  dir.create(own, recursive = TRUE, showWarnings = FALSE)
  own
}
utils::install.packages(commandArgs(TRUE), lib = library, repos = repos, quiet = TRUE)
END

find_missing() {
  # shellcheck disable=SC2086
  Rscript "$scratch/missing.R" "$scratch/missing" "$suggests" $packages >/dev/null
}

find_missing
[ -s "$scratch/missing" ] || exit 0

# Debian's packages serve the R that Debian packages, and no other.
if [ "$apt" = yes ] && [ "$may_root" = yes ] && dpkg -S "$(R RHOME)/bin/R" >/dev/null 2>&1; then
  apt_update
  debian=""
  while read -r name version; do
    deb="r-cran-$(printf '%s' "$name" | tr '[:upper:]' '[:lower:]')"
    offered=$(apt_version "$deb")
    if [ -n "$offered" ] && dpkg --compare-versions "$offered" ge "$version"; then
      debian="$debian $deb"
    fi
  done <"$scratch/missing"
  if [ -n "$debian" ]; then
    # shellcheck disable=SC2086
    apt_install $debian
    find_missing
  fi
fi
[ -s "$scratch/missing" ] || exit 0

cran=$(cut -d ' ' -f 1 "$scratch/missing" | tr '\n' ' ')
say "installing ${cran}from CRAN"
# shellcheck disable=SC2086
if ! Rscript "$scratch/install.R" $cran >"$scratch/log" 2>&1 || ! find_missing || [ -s "$scratch/missing" ]; then
  tail -n 30 "$scratch/log" >&2
  fail "these R packages could not be installed: $(cut -d ' ' -f 1 "$scratch/missing" | tr '\n' ' ')"
fi
