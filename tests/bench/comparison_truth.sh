#!/usr/bin/env bash
# How often ccl_compare is right on this machine, 2 ranks: tests/bench/comparison_truth.sh [--sweeps N] [--planted N] [--factor F] [--gate]
# [--sizes LIST] [--library gloo|openmpi|mpich] [BUILD]. A/A: N sweeps (100) of a command against itself; each "slower" is a false alarm. Planted: N comparisons
# (10) with a library that is 20 % (Gloo; MPI 10 %; --factor 1.3: 30 %) slower, of five rows. --gate: as docs/CI.md runs it, with its threshold of
# 20 %, its 30 to 120 pairs and its time budget. Needs a build with -DCCL_BENCHMARKS=ON. A line for each comparison, then the sums and the longest time.
set -euo pipefail
export LC_ALL=C
sweeps=100 planted=10 library=openmpi gate=false asked= sizes=
while (($#)); do
  case $1 in
    --sweeps) sweeps=$2; shift 2 ;;
    --planted) planted=$2; shift 2 ;;
    --library) library=$2; shift 2 ;;
    --factor) asked=$2; shift 2 ;;
    --sizes) sizes=$2; shift 2 ;;
    --gate) gate=true; shift ;;
    -h | --help) sed -n '2,5s/^# //p' "$0"; exit 0 ;;
    *) break ;;
  esac
done
build=$(cd "${1:-build}" && pwd)
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [[ $library == gloo ]]; then
  start="$build/bin/all_reduce_perf --np 2" factor=1.2 flags=(--threshold 10 --pairs 20)
  export CCL_SLOWED=gloo
else
  start="mpirun.$library -n 2 $build/bin/all_reduce_perf" factor=1.1 flags=(--threshold 5)
  export CCL_SLOWED=mpi-$library
fi
factor=${asked:-$factor}
if $gate; then
  flags=(--threshold 20 --pairs 30 --max-pairs 120 --time-budget 4m)
  sizes=${sizes:-4K,64K,1M}
fi
sizes=${sizes:-8,1K,16K,128K,1M}
command() { echo "$start --backend $build/bench/slowed_backend.so --backend-option factor=$1 --sizes $sizes"; }
compare() { # LABEL ARGUMENTS...: the code, the seconds, the verdict
  local label=$1 code=0 begin=$SECONDS; shift
  "$build/bin/ccl_compare" "$@" "${flags[@]}" >"$work/out" 2>"$work/err" || code=$?
  echo "$label: exit $code, $((SECONDS - begin)) s, $(grep -h '^# Verdict' "$work/out" | cut -c 3- || tail -n 1 "$work/err")"
}

declare -A ended
longest=0
count() { # line: its exit code, of A/A or planted
  local code=${1#*: exit } seconds=${1#*, }
  seconds=${seconds%% *}
  if ((seconds > longest)); then longest=$seconds; fi
  ended["${1%% *} ${code%%,*}"]=$((${ended["${1%% *} ${code%%,*}"]:-0} + 1))
}
for ((k = 1; k <= sweeps; ++k)); do
  line=$(compare "A/A $k" --base "$(command 1)" --head "$(command 1)")
  echo "$line"
  count "$line"
done
for ((k = 1; k <= planted; ++k)); do
  line=$(compare "planted $factor $k" --base "$(command 1)" --head "$(command $factor)")
  echo "$line"
  count "$line"
done
echo "# $library, A/A: ${ended["A/A 6"]:-0} of $sweeps with a false \"slower\", ${ended["A/A 0"]:-0} passed, ${ended["A/A 8"]:-0} inconclusive"
echo "# $library, $factor times as long: ${ended["planted 6"]:-0} of $planted found, ${ended["planted 8"]:-0} inconclusive, ${ended["planted 0"]:-0} passed"
echo "# the longest took $longest s"
