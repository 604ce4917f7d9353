#!/usr/bin/env bash
# How often --baseline is right on this machine, 2 ranks: tests/bench/gates.sh [--runs N] [--earlier LIST] [--factor F] [--tolerance PERCENT] [--sizes LIST]
# [--library gloo|openmpi|mpich] [BUILD]. For each number M of the list (1,3): N runs (20) without a change, each held to the M runs before it, and after each of them a run
# over a library that takes F times as long (1.5), held to the same ones. Prints how often they ended with which exit code: 0 kept, 6 too slow, 8 not
# decided. Needs a build with -DCCL_BENCHMARKS=ON.
set -euo pipefail
export LC_ALL=C
runs=20 earlier=1,3 factor=1.5 tolerance=20 sizes=4K,64K,1M library=gloo
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
start+=(--backend "$build/bench/slowed_backend.so" --sizes "$sizes")
run() { # FACTOR FLAGS...: the exit code
  local code=0
  "${start[@]}" --backend-option "factor=$1" "${@:2}" >"$work/out" 2>&1 || code=$?
  case $code in 0 | 6 | 8) echo "$code" ;; *) cat "$work/out" >&2; return 1 ;; esac
}
counted() { sort -n | uniq -c | awk '{printf "%s%d x exit %s", (NR > 1 ? ", " : ""), $1, $2} END {print ""}'; }
echo "# $library, rows of $sizes, --tolerance $tolerance%, $runs runs each"
for before in ${earlier//,/ }; do
  for ((k = 0; k < before; ++k)); do run 1 -J "$work/$before-$k.jsonl" >/dev/null; done
  : >"$work/unchanged"
  : >"$work/planted"
  for ((k = before; k < before + runs; ++k)); do
    for ((j = k - before; j < k; ++j)); do cat "$work/$before-$j.jsonl"; done >"$work/base.jsonl"
    held=(--baseline "$work/base.jsonl" --tolerance "$tolerance")
    run 1 "${held[@]}" -J "$work/$before-$k.jsonl" >>"$work/unchanged"
    run "$factor" "${held[@]}" >>"$work/planted"
  done
  echo "$before earlier, without a change:    $(counted <"$work/unchanged")"
  echo "$before earlier, $factor times as long: $(counted <"$work/planted")"
done
