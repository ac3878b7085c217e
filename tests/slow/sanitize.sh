#!/bin/sh
# The whole test suite on a build with GCC's address and undefined-behaviour
# sanitizers: reads and writes outside what was allocated, use after free, integer
# overflow, casts that do not fit, misaligned or null pointers. Two faults planted in
# a file of their own come first: sanitizers that miss them would prove nothing.
#
#   sh tests/slow/sanitize.sh [filter]
#
# Run by `make trust`, which names the sources, it goes on where it was stopped.
#
# R_alloc() hands out more than is asked for, so that one entry too far would go
# unseen: here it is replaced by one that is exact. R itself is not instrumented: a
# vector below 128 bytes lies in a page of R's own, and an overrun of it goes unseen.
export IBRC_DEBUG=1
set -eu
cd "$(dirname "$0")/../.."
. tests/slow/shared/promise.sh
need gcc R Rscript

filter=${1:-}
asan=$(gcc -print-file-name=libasan.so)

cat >"$scratch/exact.h" <<'EXACT'
#include <sanitizer/asan_interface.h>
#include <R_ext/Memory.h>
/* Large enough to be a block of malloc()'s, whose marks go when it is freed. */
static inline char *exact_alloc(size_t n, int size) {
  size_t bytes = n * (size_t)size;
  char *block = R_alloc(bytes + 256, 1);
  __asan_poison_memory_region(block + bytes, 256);
  return block;
}
#define R_alloc(n, size) exact_alloc(n, size)
EXACT

checks="-fsanitize=address,undefined,float-cast-overflow,bounds-strict -fno-sanitize-recover=all"
flags="CFLAGS = -g -O1 -fno-omit-frame-pointer $checks -DIBRC_MOST_KEPT=0 -include $scratch/exact.h"

# sanitized command ... ; reports go to files that begin with $log, or to standard error.
log=
sanitized() {
  env LD_PRELOAD="$asan" R_LIBS="$scratch/sanitized${R_LIBS:+:$R_LIBS}" \
    UBSAN_OPTIONS="print_stacktrace=1${log:+:log_path=$log}" \
    ASAN_OPTIONS="detect_leaks=0:detect_stack_use_after_return=1:allocator_may_return_null=1${log:+:log_path=$log}" "$@"
}

# Reports of either kind in the files named.
reports() { count_lines 'ERROR: AddressSanitizer\|: runtime error:' "$@"; }

# ---- planted faults -------------------------------------------------------------

mkdir "$scratch/planted"
cat >"$scratch/planted/planted.c" <<'PLANTED'
#include <limits.h>
#include <Rinternals.h>
SEXP read_scratch(SEXP n) {
  double *x = (double *)R_alloc(100, sizeof(double));
  for (int i = 0; i < 100; i++) x[i] = i;
  return Rf_ScalarReal(x[Rf_asInteger(n)]);
}
SEXP read_vector(SEXP n) {
  SEXP x = PROTECT(Rf_allocVector(REALSXP, 100));
  for (int i = 0; i < 100; i++) REAL(x)[i] = i;
  SEXP out = Rf_ScalarReal(REAL(x)[Rf_asInteger(n)]);
  UNPROTECT(1);
  return out;
}
SEXP overflow(SEXP n) { return Rf_ScalarInteger(INT_MAX - 99 + Rf_asInteger(n)); }
PLANTED
printf '%s\nLDFLAGS = %s\n' "$flags" "$checks" >"$scratch/planted.mk"
(cd "$scratch/planted" && R_MAKEVARS_USER="$scratch/planted.mk" R CMD SHLIB planted.c) >"$scratch/planted.log" 2>&1 ||
  { cat "$scratch/planted.log" >&2; exit 1; }
for fault in read_scratch read_vector overflow; do
  for n in 99 100; do
    log=$scratch/$fault-$n.report
    sanitized Rscript -e "dyn.load('$scratch/planted/planted.so'); x <- .Call('$fault', ${n}L)" \
      >"$scratch/$fault-$n.out" 2>&1 || :
  done
  seen=$(reports "$scratch/$fault-100".*)
  quiet=$(reports "$scratch/$fault-99".*)
  status=0
  [ "$seen" -eq 1 ] && [ "$quiet" -eq 0 ] || status=1
  promise "a planted fault, $fault, is reported, and its neighbour without fault is not" "1 report and 0" "$seen and $quiet" $status
done

# ---- the suite ------------------------------------------------------------------

# What a file of tests came to is kept, and so are reports: a run that is stopped loses none.
build_package sanitized "CC = gcc" "$flags" "LDFLAGS = $checks"
parts=$scratch/parts
if [ -n "${IBRC_SOURCES:-}" ]; then parts=$PWD/tests/slow/kept/sanitize-$IBRC_SOURCES; fi
mkdir -p "$parts"
status=0
log=$parts/report
IBRC_TEST_KEPT=$parts IBRC_EXTENDED_TESTS=0 sanitized Rscript tools/test.R tests/testthat "$filter" >"$scratch/suite.out" 2>&1 ||
  status=1
log=
cat "$parts"/report.* >>"$scratch/suite.out" 2>/dev/null || :
[ $status -eq 0 ] || grep -A 25 -e 'ERROR: AddressSanitizer' -e ': runtime error:' -e '^Failure' -e '^Error' "$scratch/suite.out" ||
  tail -n 40 "$scratch/suite.out"
promise "the suite passes on a sanitized build" "no test fails" "$(tests_said "$scratch/suite.out")" $status
found=$(reports "$scratch/suite.out")
promise "no report of the sanitizers from the suite" "0 reports" "$found reports" "$found"

# A vector that was not protected is freed, and then read: what torture loses, the
# sanitizer sees.
status=0
IBRC_EXTENDED_TESTS=1 sanitized Rscript tests/slow/gctorture.R >"$scratch/torture.out" 2>&1 || status=1
[ $status -eq 0 ] || tail -n 40 "$scratch/torture.out"
promise "entries pass under torture on a sanitized build" "all promises of gctorture.R" "$(count_lines ': passed$' "$scratch/torture.out") promises" $status
found=$(reports "$scratch/torture.out")
promise "no report of the sanitizers under torture" "0 reports" "$found reports" "$found"
if [ -n "${IBRC_SOURCES:-}" ] && [ "$broken" -eq 0 ]; then rm -rf tests/slow/kept/sanitize-*; fi
finish
