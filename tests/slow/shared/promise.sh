# What the slow shell scripts share, the twin of promise.R: one line per promise, an exit
# status that says whether all were kept, and builds of the package that touch
# neither the source folder nor anybody's library. To be read by sh from the
# package's own folder; `scratch` is gone when the script ends.

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
# Whoever else uses the machine comes first.
renice -n 10 -p $$ >/dev/null 2>&1 || :
# Threads that wait by spinning would starve one another under valgrind or a full machine.
export OMP_WAIT_POLICY=passive

broken=0

# promise "what" "asked" "figure" status: kept if the status is 0. What is asked is the size
# and the pass mark, fixed before the run.
promise() {
  verdict=passed
  if [ "$4" -ne 0 ]; then
    verdict=FAILED
    broken=$((broken + 1))
  fi
  printf '%s: asked %s: %s: %s\n' "$1" "$2" "$3" "$verdict"
}

# not_run "what" "why": a promise that cannot be asked here.
not_run() { printf '%s: %s: not run\n' "$1" "$2"; }

finish() { if [ "$broken" -eq 0 ]; then exit 0; else exit 1; fi; }

# A script that cannot run has kept no promise.
need() {
  for program in "$@"; do
    command -v "$program" >/dev/null 2>&1 && continue
    printf '%s needs %s, which is not here.\n' "$0" "$program" >&2
    exit 77
  done
}

# Nor has one whose clang lacks a library, as it may: flag, a program that needs it.
need_clang() {
  printf '%s\n' "$2" | clang -x c "$1" - -o "$scratch/program" >/dev/null 2>&1 && return 0
  printf '%s needs clang with %s, whose library is not here (tools/setup.sh trust).\n' "$0" "$1" >&2
  exit 77
}
clang_fuzzes() {
  need_clang -fsanitize=fuzzer 'int LLVMFuzzerTestOneInput(const char *x, unsigned long n) { return x && n > 9; }'
}
clang_has_threads() {
  need_clang -fopenmp '#include <omp.h>
    int main(void) { return omp_get_max_threads() < 1; }'
}

# Counts lines of the files named that match a pattern; files may be missing.
count_lines() {
  pattern=$1
  shift
  cat "$@" /dev/null 2>/dev/null | grep -c -e "$pattern" || :
}

seconds() { date +%s; }

# build_package name [make variable lines]: installs the package as $scratch/name/ibrc,
# compiled as the lines say. What the compiler said is in $scratch/name.log. R code is
# compiled where `bytes=--byte-compile`: worth its time where much of it is run slowly.
build_package() {
  build=$1
  shift
  mkdir -p "$scratch/$build" "$scratch/source"
  rm -rf "$scratch/source/ibrc"
  mkdir "$scratch/source/ibrc"
  for part in DESCRIPTION NAMESPACE R src inst data man; do
    if [ -e "$part" ]; then cp -R "$part" "$scratch/source/ibrc/"; fi
  done
  find "$scratch/source/ibrc/src" -name '*.o' -o -name '*.so' | xargs rm -f
  printf '%s\n' "$@" >"$scratch/$build.mk"
  R_MAKEVARS_USER="$scratch/$build.mk" R CMD INSTALL --no-test-load ${bytes:---no-byte-compile} \
    --library="$scratch/$build" "$scratch/source/ibrc" >"$scratch/$build.log" 2>&1 && return 0
  tail -n 30 "$scratch/$build.log" >&2
  return 1
}

# with_library name command ...
with_library() {
  library=$scratch/$1
  shift
  env R_LIBS="$library${R_LIBS:+:$R_LIBS}" "$@"
}

# The last line of a run of tools/test.R, N passed, N failed, N skipped, or that there is none.
tests_said() { grep -E '^[0-9]+ passed, ' "$1" | tail -n 1 | grep . || echo "the tests did not come to their end"; }
