#!/bin/sh
# Inputs made up by libFuzzer for the kernels (tests/slow/fuzz/), with clang's address and
# undefined-behaviour sanitizers and invariants asserted after every call. Each harness
# first gets a kernel with one planted fault: one that does not find it would prove
# nothing. files.R meets the reader of checkpoints through R as well. All of them take some
# three hours: `make trust` keeps what a harness came to in tests/slow/kept/, every million inputs
# of one that runs too, and goes on behind them.
#
#   sh tests/slow/fuzz.sh [runs per harness, 100000] [harnesses, all: see `wanted` below]
#
# IBRC_FUZZ_SEED picks another sequence of inputs;
# an input that breaks something is printed in base64.
set -eu
cd "$(dirname "$0")/../.."
. tests/slow/shared/promise.sh
need clang R Rscript
clang_fuzzes

runs=${1:-100000}
[ $# -eq 0 ] || shift
wanted=${*:-space belief backup history walker iohmm qlearn unroll recall rnn iohmm_bc checkpoint}
seed=${IBRC_FUZZ_SEED:-1}
flags="-g -O1 -std=gnu11 -fno-sanitize-recover=all -fno-omit-frame-pointer -Isrc -Itests/slow/fuzz"
watch=address,undefined,float-cast-overflow
# The kernels compare numbers, not bytes of the input: to follow each comparison, those of
# the sanitizers too, takes most of the time and finds no more.
edges=-fno-sanitize-coverage=trace-cmp

# Kernels alone: no R header, so no R.
mkdir "$scratch/kernels" "$scratch/planted"
for file in src/*.c; do
  case $file in src/args.c | src/init.c | src/ffi_*) continue ;; esac
  clang $flags -fsanitize=fuzzer-no-link,$watch $edges -c "$file" -o "$scratch/kernels/$(basename "$file" .c).o"
done

# build harness folder of objects, program
build() { clang $flags -Wall -Wextra -fsanitize=fuzzer,$watch $edges "tests/slow/fuzz/fuzz_$1.c" "$2"/*.o -lm -o "$3"; }

# Inputs to begin with: long ones, whose last bytes count too.
Rscript -e "set.seed($seed); dir.create('$scratch/seeds')
  for (i in 1:32) writeBin(as.raw(sample(0:255, 1024, TRUE)), file.path('$scratch/seeds', i))"

# run program runs log [seed]
run() {
  mkdir -p "$1.corpus"
  "$1" -runs="$2" -seed="${4:-$seed}" -max_len=1024 -len_control=0 -timeout=20 -rss_limit_mb=2048 -verbosity=0 -print_final_stats=1 \
    -artifact_prefix="$1.broken." "$1.corpus" "$scratch/seeds" >"$3" 2>&1
}

# plant harness file sed-expression: the kernel with a fault must break an invariant.
plant() {
  rm -f "$scratch"/planted/*
  cp "$scratch"/kernels/*.o "$scratch/planted"
  sed "$3" "src/$2.c" >"$scratch/planted/$2.c"
  if cmp -s "src/$2.c" "$scratch/planted/$2.c"; then
    promise "$1: a planted fault is found" "20,000 inputs" "the place in $2.c is no longer there" 1
    return
  fi
  clang $flags -fsanitize=fuzzer-no-link,$watch $edges -c "$scratch/planted/$2.c" -o "$scratch/planted/$2.o"
  build "$1" "$scratch/planted" "$scratch/$1-planted"
  status=0
  run "$scratch/$1-planted" 20000 "$scratch/$1-planted.log" && status=1
  grep -q -e '^broken:' -e 'runtime error:' -e 'ERROR: AddressSanitizer' "$scratch/$1-planted.log" || status=1
  seen=$(grep -m 1 -e '^broken:' -e 'runtime error:' -e 'ERROR:' "$scratch/$1-planted.log" || echo no)
  promise "$1: a planted fault is found" "20,000 inputs" "$(echo "$seen" | sed 's/.*ERROR: AddressSanitizer: \([a-z-]*\).*/\1/; s/^broken: \(.*\)/not kept, \1/')" $status
}

plant_for() {
  case $1 in
    space)
      plant space lattice 's/fraction\[order\[k - 1\]\] < fraction\[i\]/fraction[order[k - 1]] > fraction[i]/'
      plant space vertices 's/belief\[s\] > 0.0/belief[s] > 0.1/'
      ;;
    belief) plant belief belief 's/next\[s\] = total\[s\] \/ mass/next[s] = total[s]/' ;;
    backup) plant backup numeric 's/weight\[g\] \/= sums->sum\[g\]/weight[g] \/= 1.0/' ;;
    walker)
      plant walker walker 's/memcpy(walkers\[k\]->sigma/memcpy(walkers[0]->sigma/'
      plant walker loglik 's/known->place\[child\] = known->n_rows++/known->place[child] = known->n_rows/'
      ;;
    history) plant history history 's/ && observation\[found\] == x//' ;;
    checkpoint)
      plant checkpoint checkpoint 's/n > in->left \/ size/n > in->left/'
      plant checkpoint checkpoint 's/names.n != n/0/'
      plant checkpoint checkpoint 's/first == 0xed \&\& at\[1\] > 0x9f/0/'
      ;;
    iohmm) plant iohmm iohmm 's/count\[s\] += from\[s\] \* weight/count[s] += 1.1 * from[s] * weight/' ;;
    qlearn) plant qlearn qlearn 's/learner->discount \* worth/worth/' ;;
    unroll)
      plant unroll unroll 's/by_next \* dynamics->chance\[i\]/by_next/'
      plant unroll unroll 's/slope \* mean \* planner/mean * planner/'
      ;;
    recall)
      plant recall recall 's/ && index->key\[index->place\[at\]\] != (double)history//'
      plant recall recall 's/history % ends/history/'
      ;;
    rnn)
      plant rnn cell 's/+= at \* keep;/+= at;/'
      plant rnn shared 's/ || s->seen\[node\] != seen//'
      plant rnn rnn 's/law\[u\] -= most + log(sum)/law[u] -= most/'
      ;;
    iohmm_bc)
      plant iohmm_bc iohmm_bc 's/mine\[to\] - mean + tree/mine[to] + tree/'
      plant iohmm_bc iohmm_bc 's/over\[i \/ S\] \* centre/centre/'
      ;;
    *) promise "$1: a planted fault is found" "20,000 inputs" "none is planted" 1 ;;
  esac
}

# in_pieces harness: the inputs, a million at a time; `tried` says how many, and `took` seconds. Each piece
# has a sequence of its own, and begins with what those before it in the same run found worth keeping.
in_pieces() {
  tried=0
  took=0
  piece=0
  while [ "$tried" -lt "$runs" ]; do
    most=$((runs - tried))
    [ "$most" -le 1000000 ] || most=1000000
    piece=$((piece + 1))
    if [ ! -e "$part.$piece" ]; then
      begin=$(seconds)
      run "$scratch/$1" "$most" "$scratch/$1.log" $((1000 * seed + piece)) || return 1
      inputs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$scratch/$1.log")
      [ "${inputs:-0}" -ge "$most" ] || return 1
      echo "$inputs $(($(seconds) - begin))" >"$part.part"
      mv "$part.part" "$part.$piece"
    fi
    read -r inputs spent <"$part.$piece"
    tried=$((tried + inputs))
    took=$((took + spent))
  done
}

# fuzzed harness: what it promises, and whether it was kept.
fuzzed() {
  plant_for "$1"
  build "$1" "$scratch/kernels" "$scratch/$1"
  status=0
  in_pieces "$1" || status=1
  if [ $status -ne 0 ]; then
    grep -e '^broken:' -e 'runtime error:' -e 'ERROR:' -e 'fuzz_' -e ' src/' "$scratch/$1.log" || :
    cat "$scratch/$1".broken.* | base64 || :
  fi
  promise "$1: no invariant broken" "$runs inputs, none breaks one" "$tried inputs, $took s" $status
}

# What a harness's inputs meet: the kernels, the harness, and how they are built and run.
made_of() { cat src/*.[ch] tests/slow/fuzz/input.h "tests/slow/fuzz/fuzz_$1.c" tests/slow/fuzz.sh | md5sum | cut -c 1-12; }

# Run by `make trust`, it goes on where it was stopped.
parts=$scratch
[ -z "${IBRC_SOURCES:-}" ] || parts=tests/slow/kept
for harness in $wanted; do
  part=$parts/fuzz-$harness-$runs-$seed-$(made_of "$harness").txt
  if [ ! -e "$part" ]; then
    before=$broken
    fuzzed "$harness" >"$scratch/said"
    if [ "$broken" -eq "$before" ]; then
      mv "$scratch/said" "$part.part"
      mv "$part.part" "$part"
      rm -f "$part".[0-9]*
    else
      part=$scratch/said
    fi
  fi
  cat "$part"
done
[ "$broken" -ne 0 ] || rm -f "$parts"/fuzz-*
finish
