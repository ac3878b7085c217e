#!/bin/sh
# The package built in other ways than the everyday one, each with the tests that compare
# kernels with their twins in plain R, fit, simulate and resume: without OpenMP, without
# optimisation, without fused multiply-add, with link-time optimisation, with the hardest
# optimisation that keeps to IEEE arithmetic, and with clang. Answers may not depend on
# the build. One with exponentials in single precision comes first.
#
#   sh tests/slow/builds.sh [filter, "." for all tests] [builds, as named below]
set -eu
cd "$(dirname "$0")/../.."
. tests/slow/shared/promise.sh
need gcc clang R Rscript
clang_has_threads
export IBRC_EXTENDED_TESTS=0

filter=${1:-^(backup|problem-beliefs|infer-checkpoint|evaluate-batch|fit-ibrc|behaviour-histories|iohmm-fit|iohmm-em|behaviour-log_lik|numeric|plan-occupancy|plan-read|fit-resume|behaviour-simulate|problem-tables)\$}
[ $# -eq 0 ] || shift
wanted=${*:-without_openmp without_optimisation without_contraction lto hard clang}

printf '#include <math.h>\n#define exp(x) ((double)expf((float)(x)))\n' >"$scratch/planted.h"
build_package planted "CFLAGS = -g -O2 -include $scratch/planted.h"
status=0
with_library planted Rscript tools/test.R tests/testthat '^(numeric|backup)$' >"$scratch/planted.out" 2>&1 && status=1
grep -q -E '^[1-9][0-9]* passed, [1-9][0-9]* failed' "$scratch/planted.out" || status=1
promise "a planted build, exponentials in single precision, is seen" "a test fails and another passes" "$(tests_said "$scratch/planted.out")" $status
rm -rf "${scratch:?}/planted"

for name in $wanted; do
  set --
  case $name in
    without_openmp) set -- "SHLIB_OPENMP_CFLAGS =" ;;
    without_optimisation) set -- "CFLAGS = -g -O0" ;;
    without_contraction) set -- "CFLAGS = -g -O2 -ffp-contract=off" ;;
    # A bare -flto makes the linker warn that it will work on one part after another.
    lto) set -- "CFLAGS = -g -O2 -flto -ffat-lto-objects" "LDFLAGS = -O2 -flto=auto" ;;
    hard) set -- "CFLAGS = -g -O3 -funroll-loops" ;;
    clang) set -- "CC = clang" "CFLAGS = -g -O2" "SHLIB_OPENMP_CFLAGS = -fopenmp" ;;
    *) printf 'no build named %s\n' "$name" >&2; exit 1 ;;
  esac
  begin=$(seconds)
  status=0
  build_package "$name" "$@" || status=1
  # What was asked for is what was done.
  case $name in
    without_openmp) with_library "$name" Rscript -e 'quit(status = .Call(getFromNamespace("ffi_threads", "ibrc")) != 1L)' || status=1 ;;
    without_optimisation) grep -q -e ' -O0 ' "$scratch/$name.log" || status=1 ;;
    without_contraction) grep -q -e '-ffp-contract=off' "$scratch/$name.log" || status=1 ;;
    hard) grep -q -e ' -O3 .*-funroll-loops' "$scratch/$name.log" || status=1 ;;
    lto) grep -q -e '-shared .*-flto' "$scratch/$name.log" || status=1 ;;
    clang) grep -q -e '^clang .* -c ' "$scratch/$name.log" || status=1 ;;
  esac
  if [ $status -eq 0 ]; then
    with_library "$name" Rscript tools/test.R tests/testthat "$filter" >"$scratch/$name.out" 2>&1 || status=1
    [ $status -eq 0 ] || tail -n 40 "$scratch/$name.out"
    said=$(tests_said "$scratch/$name.out")
  else
    said="not built as asked"
  fi
  warned=$(count_lines 'warning:' "$scratch/$name.log")
  [ "$warned" -eq 0 ] || status=1
  promise "build $name" "built as asked, no warning, no test fails" "$said, $warned warnings, $(($(seconds) - begin)) s" $status
  rm -rf "${scratch:?}/$name"
done
finish
