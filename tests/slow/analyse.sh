#!/bin/sh
# What compilers find in src/ without running it: warnings of gcc and clang, with
# OpenMP and without, gcc's analyzer and clang-tidy, and gcc for Windows where it is. Each
# tool first gets a file with planted faults: one that passes them over would prove nothing.
#
#   sh tests/slow/analyse.sh
#
# Warnings that an R header may give are not the package's, and not counted.
set -eu
cd "$(dirname "$0")/../.."
. tests/slow/shared/promise.sh
need gcc clang clang-tidy R
clang_has_threads

sources=$(ls src/*.c)
n_sources=$(echo "$sources" | wc -l)
headers=$(R CMD config --cppflags | sed 's/-I */-isystem /g')
language="-std=gnu11 -O2 -Isrc $headers"
warnings="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes -Wvla -Wcast-qual -Wnull-dereference"

# Left out, with the reason: parameters of one type stand beside each other in any
# numerical kernel; memcpy_s() and the like exist nowhere R runs; ENTRY() of init.c takes
# names, which parentheses would not bind tighter; an array of pointers to trees has the
# size of one pointer per entry.
checks='-*,clang-analyzer-*,bugprone-*,cert-*,misc-*,performance-*,portability-*'
checks="$checks,-bugprone-easily-swappable-parameters,-bugprone-macro-parentheses,-bugprone-sizeof-expression"
checks="$checks,-clang-analyzer-security.insecureAPI.DeprecatedOrUnsafeBufferHandling"

# Each says what it finds in the files named.
gcc_warnings() { for file in "$@"; do gcc $language $warnings -fopenmp -c "$file" -o "$scratch/x.o"; done; }
gcc_alone() { for file in "$@"; do gcc $language $warnings -c "$file" -o "$scratch/x.o"; done; }
clang_warnings() { for file in "$@"; do clang $language $warnings -fopenmp -c "$file" -o "$scratch/x.o"; done; }
clang_alone() { for file in "$@"; do clang $language $warnings -c "$file" -o "$scratch/x.o"; done; }
gcc_analyzer() { for file in "$@"; do gcc $language -fanalyzer -c "$file" -o "$scratch/x.o"; done; }
# The macros of its math.h mention conversions that are never made.
windows_warnings() {
  for file in "$@"; do
    x86_64-w64-mingw32-gcc $language $warnings -Wno-float-conversion -fopenmp -c "$file" -o "$scratch/x.o"
  done
}
clang_tidy() { clang-tidy --quiet --checks="$checks" "$@" -- $language -fopenmp; }

# A conversion and a shadow for the compilers; a read of freed memory, of nothing,
# and of what was never set for the analyzers.
cat >"$scratch/planted.c" <<'PLANTED'
#include <stdlib.h>
int narrowed(double x, int n) {
  int y = x;
  for (int i = 0; i < n; i++) { int y = i; if (y > 3) return y; }
  return y;
}
int used_after_free(int n) {
  int *x = malloc(sizeof(int));
  if (!x) return 0;
  *x = n;
  free(x);
  return *x;
}
int read_nothing(int n) {
  int *x = NULL, y[2];
  if (n > 2) return *x;
  y[0] = n;
  return y[0] + y[n > 0 ? 1 : 0];
}
PLANTED

# name, tool, planted faults it must see
look() {
  begin=$(seconds)
  "$2" "$scratch/planted.c" >"$scratch/planted.out" 2>&1 || :
  seen=$(count_lines '\(warning\|error\):' "$scratch/planted.out")
  status=0
  [ "$seen" -ge "$3" ] || status=1
  promise "$1 sees planted faults" "$3 or more" "$seen" $status
  status=0
  # A tool that fails for another reason than a finding has found nothing out.
  "$2" $sources >"$scratch/look.out" 2>&1 || status=1
  found=$(count_lines '\(warning\|error\):' "$scratch/look.out")
  [ "$found" -eq 0 ] || status=1
  [ $status -eq 0 ] || grep -A 2 -e '\(warning\|error\):' "$scratch/look.out" || cat "$scratch/look.out"
  promise "$1 finds nothing in src/" "0 findings" "$found findings in $n_sources files, $(($(seconds) - begin)) s" $status
}

gcc_version=$(gcc -dumpfullversion)
clang_version=$(clang -dumpversion)
look "gcc $gcc_version, warnings" gcc_warnings 2
look "gcc $gcc_version, warnings without OpenMP" gcc_alone 2
look "clang $clang_version, warnings" clang_warnings 2
look "clang $clang_version, warnings without OpenMP" clang_alone 2
look "gcc $gcc_version, analyzer" gcc_analyzer 2
look "clang-tidy $clang_version" clang_tidy 3
if command -v x86_64-w64-mingw32-gcc >/dev/null 2>&1; then
  look "gcc $(x86_64-w64-mingw32-gcc -dumpversion) for Windows, warnings" windows_warnings 2
else
  not_run "gcc for Windows, warnings finds nothing in src/" "gcc-mingw-w64 is not here"
fi
finish
