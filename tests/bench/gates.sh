#!/usr/bin/env bash
# How often the gate of docs/CI.md is right on this machine, 2 ranks: tests/bench/gates.sh [--runs N] [--factor F] [--tolerance PERCENT] [--sizes LIST]
# [--library gloo|openmpi|mpich] [BUILD]. --earlier M runs (5) are the baseline of N runs (20) without a change, which should end with
# 0, and of N runs over a library that takes F times as long (1.3), which should end with 6; 8 counts as neither. At least 1 s for each time of a row.
# Needs a build with -DCCL_BENCHMARKS=ON.
set -euo pipefail
export LC_ALL=C
runs=20 earlier=5 factor=1.3 tolerance=15 sizes=64K,1M library=gloo
while (($#)); do
  case $1 in
    --runs) runs=$2; shift 2 ;;
    --earlier) earlier=$2; shift 2 ;;
    --factor) factor=$2; shift 2 ;;
    --tolerance) tolerance=$2; shift 2 ;;
    --sizes) sizes=$2; shift 2 ;;
    --library) library=$2; shift 2 ;;
    -h | --help) sed -n '2,5s/^# //p' "$0"; exit 0 ;;
    *) break ;;
  esac
done
build=$(cd "${1:-build}" && pwd)
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [[ $library == gloo ]]; then
  start=("$build/bin/all_reduce_perf" --np 2)
  export CCL_SLOWED=gloo
else
  start=("mpirun.$library" -n 2 "$build/bin/all_reduce_perf")
  export CCL_SLOWED=mpi-$library
fi
times=$((2 * $(tr ',' '\n' <<<"$sizes" | wc -l)))
start+=(--backend "$build/bench/slowed_backend.so" --sizes "$sizes" --precision 0.1)
for ((k = 0; k < earlier; ++k)); do
  "${start[@]}" --backend-option factor=1 --time-budget "$times" -J "$work/base-$k.jsonl" >"$work/out" 2>&1 || { cat "$work/out"; exit 4; }
done
cat "$work"/base-*.jsonl >"$work/base.jsonl"
ended() { # FACTOR: how often N runs end with each code
  local k code
  for ((k = 0; k < runs; ++k)); do
    code=0
    "${start[@]}" --backend-option "factor=$1" --time-budget "$times" --baseline "$work/base.jsonl" --tolerance "$tolerance" >"$work/out" 2>"$work/err" || code=$?
    echo "exit $code"
  done | sort | uniq -c | awk '{printf "%s%d x %s %s", (NR > 1 ? ", " : ""), $1, $2, $3}'
}
echo "# $library, rows of $sizes, --tolerance $tolerance%, $earlier earlier runs, $runs runs each"
echo "without a change:        $(ended 1)"
echo "$factor times as long:     $(ended "$factor")"
