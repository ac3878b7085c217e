#!/bin/sh
# Memcheck: reads of what was never set, and of what lies outside a block or was freed.
# It runs gctorture.R, which calls every entry of the C code, and the tests named below. They are
# few, because memcheck takes some 25 times as long, and they reach every line of C that any
# test reaches: that is counted here, on a build of its own. All of them, which is the filter ".",
# take some nine hours. Two faults planted in a file of their own come first.
#
#   sh tests/slow/valgrind.sh [filter]
#
# IBRC_JOBS=2 runs that many processes beside each other, each with its share of the files. Run by `make trust`,
# which names the sources, it goes on where it was stopped: behind the count, and behind the last file.
# tests/slow/shared/valgrind.supp may name what R itself does, and nothing of the package.
export IBRC_DEBUG=1
set -eu
cd "$(dirname "$0")/../.."
. tests/slow/shared/promise.sh
need valgrind R Rscript gcov

# A new file is run here if it reaches a line of C that these do not, which the count below says.
watched="args behaviour-predict evaluate-batch habit infer-checkpoint infer-checkpoint-lock infer-demonstrated interrupt
  iohmm-fit iohmm-methods learn-iohmm_bc learn-rnn messy numeric plan-differentiable plan-kl plan-planners
  plan-q_learning problem-tiger"
filter=${1:-}
suppressions=tests/slow/shared/valgrind.supp
export IBRC_EXTENDED_TESTS=0
# To compile R code while it runs costs more here than it saves.
export R_ENABLE_JIT=0

parts=$scratch/parts
[ -z "${IBRC_SOURCES:-}" ] || parts=$PWD/tests/slow/kept/valgrind-$IBRC_SOURCES
mkdir -p "$parts"

# checked name script arguments ...: what memcheck says goes to $scratch/name.memcheck.
# With lead=exec, for one in the background, R takes the shell's place: to stop one stops both.
checked() {
  name=$1
  script=$2
  shift 2
  ${lead:-} env R_LIBS="$scratch/plain${R_LIBS:+:$R_LIBS}" R -d valgrind \
    --debugger-args="--log-file=$scratch/$name.memcheck --suppressions=$suppressions --num-callers=25 --error-limit=no --leak-check=no --child-silent-after-fork=yes" \
    --vanilla --no-echo -f "$script" --args "$@" >"$scratch/$name.out" 2>&1
}

# The count of memcheck's last line, or what will not pass for 0.
errors() { sed -n 's/.*ERROR SUMMARY: \([0-9]*\) errors.*/\1/p' "$scratch/$1.memcheck" | tail -n 1 | grep . || echo 999; }

# ---- planted faults -------------------------------------------------------------

mkdir "$scratch/planted"
cat >"$scratch/planted/planted.c" <<'PLANTED'
#include <Rinternals.h>
SEXP read_past(SEXP n) {
  SEXP x = PROTECT(Rf_allocVector(REALSXP, 100));
  for (int i = 0; i < 100; i++) REAL(x)[i] = i;
  SEXP out = Rf_ScalarReal(REAL(x)[Rf_asInteger(n)]);
  UNPROTECT(1);
  return out;
}
SEXP not_set(SEXP n) {
  double *x = (double *)R_alloc(100, sizeof(double));
  for (int i = 0; i < Rf_asInteger(n); i++) x[i] = i;
  int below = 0;
  for (int i = 0; i < 100; i++) below += x[i] < 50.0;
  return Rf_ScalarInteger(below);
}
PLANTED
(cd "$scratch/planted" && R CMD SHLIB planted.c) >"$scratch/planted.log" 2>&1 || { cat "$scratch/planted.log" >&2; exit 1; }
cat >"$scratch/planted.R" <<'PLANTED'
given <- commandArgs(TRUE)
dyn.load(given[1])
print(.Call(given[2], as.integer(given[3])))
PLANTED
# fault, argument with it, argument without it
plant() {
  checked "$1-with" "$scratch/planted.R" "$scratch/planted/planted.so" "$1" "$2" || :
  checked "$1-without" "$scratch/planted.R" "$scratch/planted/planted.so" "$1" "$3" || :
  seen=$(errors "$1-with")
  quiet=$(errors "$1-without")
  status=0
  [ "$seen" -ge 1 ] && [ "$seen" -ne 999 ] && [ "$quiet" -eq 0 ] || status=1
  promise "a planted fault, $1, is reported, and its neighbour without fault is not" "1 error or more, and 0" "$seen and $quiet" $status
}
plant read_past 100 99
plant not_set 99 100

bytes=--byte-compile

# ---- what is left out reaches no line of C of its own ------------------------------

all_stems() { ls tests/testthat | sed -n 's/^test-\(.*\)[.]R$/\1/p'; }
one_of() { printf '^(%s)$' "$(echo "$*" | tr ' ' '|')"; }
stems() {
  if [ -n "$filter" ]; then all_stems | grep -E -e "$filter"
  else all_stems | grep -x -E -e "$(one_of $watched)"
  fi
}

# counted name filter: the lines of C that these tests reach go to $scratch/name.lines. Counts are
# written as a process ends. Those that a test starts are not looked at by memcheck, and write
# theirs elsewhere.
counted() {
  mkdir -p "$scratch/counts/$1"
  printf '.Last <- function() Sys.setenv(GCOV_PREFIX = "%s")\nsource("tools/test.R")\n' "$scratch/counts/$1" \
    >"$scratch/counted.R"
  R_ENABLE_JIT=3 GCOV_PREFIX="$scratch/counts/elsewhere" with_library counted Rscript "$scratch/counted.R" tests/testthat "$2" \
    >"$scratch/$1.out" 2>&1 || :
  find "$scratch/counts/$1" -name '*.gcda' -exec mv {} "$scratch/counts/$1" ';'
  cp "$scratch"/source/ibrc/src/*.gcno "$scratch"/source/ibrc/src/*.[ch] "$scratch/counts/$1"
  (cd "$scratch/counts/$1" && gcov ./*.gcda >/dev/null 2>&1 || :)
  for file in "$scratch/counts/$1"/*.c.gcov; do
    sed -n "s|^ *[0-9][0-9*]*: *\\([1-9][0-9]*\\):.*|$(basename "$file" .gcov) \\1|p" "$file"
  done | sort -u >"$scratch/$1.lines"
}

count_all() {
  build_package counted "CFLAGS = -g -O1 --coverage -fprofile-update=atomic" "LDFLAGS = --coverage"
  iohmm=$(stems | while read -r stem; do if grep -q iohmm "tests/testthat/test-$stem.R"; then echo "$stem"; fi; done)
  counted rest "$(one_of $(all_stems | grep -v -x -E -e "$(one_of $watched)"))"
  counted iohmm "$(one_of $iohmm)"
  counted others "$(one_of $(stems | grep -v -x -E -e "$(one_of $iohmm)"))"
  sort -u "$scratch/iohmm.lines" "$scratch/others.lines" >"$scratch/kept.lines"
  status=0
  lost=$(comm -23 "$scratch/rest.lines" "$scratch/kept.lines" | tee "$scratch/lost.lines" | wc -l)
  reached=$(wc -l <"$scratch/kept.lines")
  [ "$lost" -eq 0 ] && [ "$reached" -gt 1000 ] || status=1
  cat "$scratch/lost.lines"
  promise "tests that are left out under memcheck reach no line of C that the others do not" \
    "0 of their lines, and more than 1,000 of the others'" "$lost, and $reached" $status
  # Were those that use an IOHMM left out as well, it would be seen.
  status=0
  lost=$(comm -23 "$scratch/iohmm.lines" "$scratch/others.lines" | wc -l)
  [ "$lost" -ge 100 ] || status=1
  promise "a planted gap, the tests that use an IOHMM left out, is seen" "100 lines or more" "$lost" $status
}
if [ -z "$filter" ]; then
  if [ ! -e "$parts/count" ]; then
    before=$broken
    count_all >"$scratch/count"
    [ "$broken" -ne "$before" ] || mv "$scratch/count" "$parts/count"
  fi
  cat "$scratch/count" "$parts/count" 2>/dev/null || :
fi

# ---- every entry, and the tests ----------------------------------------------------

build_package plain "CFLAGS = -g -O2 -DIBRC_MOST_KEPT=0"

# judge what status said names ...: `asked` of it; those are the runs of checked() that did not do well.
judge() {
  what=$1
  status=$2
  said=$3
  shift 3
  found=0
  for name in "$@"; do
    [ "$status" -eq 0 ] || tail -n 40 "$scratch/$name.out"
    [ "$(errors "$name")" -eq 0 ] || head -n 80 "$scratch/$name.memcheck"
    found=$((found + $(errors "$name")))
  done
  promise "$what pass under memcheck" "$asked" "$said" "$status"
  status=0
  [ "$found" -eq 0 ] || status=1
  promise "$what bring no error of memcheck" "0 errors" "$found errors" $status
}

# Every so many-th file of the names that the filter is for, one after the other: of each that passes without an
# error, what the tests said is kept.
memcheck_share() {
  child=
  trap 'kill $child 2>/dev/null || :; exit 1' HUP INT TERM
  for stem in $(stems | awk -v jobs="$jobs" -v job="$1" 'NR % jobs == job - 1'); do
    [ ! -e "$parts/$stem.said" ] || continue
    lead=exec checked "$stem" tools/test.R tests/testthat "$(one_of "$stem")" &
    child=$!
    if wait "$child" && [ "$(errors "$stem")" -eq 0 ]; then
      tests_said "$scratch/$stem.out" >"$scratch/$stem.said"
      mv "$scratch/$stem.said" "$parts/$stem.said"
    fi
  done
}
jobs=${IBRC_JOBS:-1}
case $jobs in '' | *[!0-9]* | 0) printf 'IBRC_JOBS must be 1 or more\n' >&2; exit 1 ;; esac
stems >/dev/null || { printf 'no test is named %s\n' "$filter" >&2; exit 1; }
[ "$jobs" -le "$(stems | wc -l)" ] || jobs=$(stems | wc -l)
pids=""
trap 'kill $pids 2>/dev/null || :; exit 1' HUP INT TERM
for job in $(seq "$jobs"); do
  memcheck_share "$job" &
  pids="$pids $!"
done
for pid in $pids; do wait "$pid" || :; done
trap 'exit 1' HUP INT TERM
status=0
failed=""
for stem in $(stems); do
  [ -e "$parts/$stem.said" ] && continue
  failed="$failed $stem"
  grep -q '^[0-9]* passed, 0 failed, ' "$scratch/$stem.out" || status=1
done
said=$(cat "$parts"/*.said /dev/null | awk '{ sum += $1; skipped += $5 } END { printf "%d passed, %d skipped", sum, skipped }')
[ -z "$failed" ] || said="$said, and faults in$failed"
if [ -z "$filter" ]; then what="the tests $(echo $watched | sed 's/ /, /g')"
elif [ "$filter" = . ]; then what="all tests"
else what="tests $filter"
fi
asked="no test fails"
judge "$what" $status "$said" $failed

export IBRC_EXTENDED_TESTS=1
begin=$(seconds)
status=0
checked torture tests/slow/gctorture.R || status=1
asked="all promises of gctorture.R"
judge "entries under torture" $status "$(count_lines ': passed$' "$scratch/torture.out") promises, $(($(seconds) - begin)) s" torture
if [ -n "${IBRC_SOURCES:-}" ] && [ "$broken" -eq 0 ]; then rm -rf tests/slow/kept/valgrind-*; fi
finish
