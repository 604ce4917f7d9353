#!/usr/bin/env bash
# How often ccl_compare is right on this machine, 2 ranks: tests/bench/comparison_truth.sh [--sweeps N] [--planted N] [--library gloo|openmpi|mpich] [BUILD]
# A/A: N sweeps (100) of a command against itself; each "slower" is a false alarm. Planted: N comparisons (10) with a library that is 20 %
# (Gloo; MPI 10 %) slower, of five rows. Needs a build with -DCCL_BENCHMARKS=ON. A line for each comparison, then the sums.
set -euo pipefail
sweeps=100 planted=10 library=openmpi
while (($#)); do
  case $1 in
    --sweeps) sweeps=$2; shift 2 ;;
    --planted) planted=$2; shift 2 ;;
    --library) library=$2; shift 2 ;;
    -h | --help) sed -n '2,4s/^# //p' "$0"; exit 0 ;;
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
command() { echo "$start --backend $build/bench/slowed_backend.so --backend-option factor=$1 --sizes ${2:-8,1K,16K,128K,1M}"; }
compare() { # LABEL ARGUMENTS...: the code, the seconds, the verdict
  local label=$1 code=0 begin=$SECONDS; shift
  "$build/bin/ccl_compare" "$@" "${flags[@]}" >"$work/out" 2>"$work/err" || code=$?
  echo "$label: exit $code, $((SECONDS - begin)) s, $(grep -h '^# Verdict' "$work/out" | cut -c 3- || tail -n 1 "$work/err")"
}

false_alarms=0
for ((k = 1; k <= sweeps; ++k)); do
  line=$(compare "A/A $k" --base "$(command 1)" --head "$(command 1)")
  echo "$line"
  [[ $line == *": exit 6,"* ]] && false_alarms=$((false_alarms + 1))
done
found=0
for ((k = 1; k <= planted; ++k)); do
  line=$(compare "planted $factor $k" --base "$(command 1)" --head "$(command $factor)")
  echo "$line"
  [[ $line == *": exit 6,"* ]] && found=$((found + 1))
done
echo "# $library: $false_alarms of $sweeps A/A sweeps with a false \"slower\"; $found of $planted planted regressions of factor $factor found"
