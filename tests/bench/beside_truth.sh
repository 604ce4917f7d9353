#!/usr/bin/env bash
# How often --beside tells a quarter that is planted: tests/bench/beside_truth.sh [--runs N] [--libraries LIST] [--plants LIST] [--row-time S] [BUILD]
# N runs (10) for each library (gloo,openmpi: 2 ranks; loopback: 1 rank) and plant: none; operation: takes 1.25 times as long beside the
# load; load: loses a quarter of its CPU time while operations run. All operations rest 2 ms, as for a wire, so that two CPUs are enough
# for ranks and loads. A line for each run: both ratios with their intervals. Then how many runs tell a slower operation (the interval
# is above 1), a load that does less (below 1), and how many intervals hold 1 and the planted ratio.
set -euo pipefail
export LC_ALL=C
runs=10 libraries=loopback,gloo,openmpi plants=none,operation,load row_time=4
while (($#)); do
  case $1 in
    --runs) runs=$2; shift 2 ;;
    --libraries) libraries=$2; shift 2 ;;
    --plants) plants=$2; shift 2 ;;
    --row-time) row_time=$2; shift 2 ;;
    -h | --help) sed -n '2,7s/^# //p' "$0"; exit 0 ;;
    *) break ;;
  esac
done
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
build=${1:-build}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
program=$build/bin/all_reduce_perf
for library in ${libraries//,/ }; do
  case $library in
    loopback) start=("$program" -t 1); export CCL_SLOWED=loopback ;;
    # As the kernel places and schedules threads: where CPUs are short, Gloo's would wait for the load's time slices.
    gloo) start=("$program" --np 2 --bind none --backend-option event_threads=other); export CCL_SLOWED=gloo ;;
    *) start=("mpirun.$library" -n 2 "$program"); export CCL_SLOWED=mpi-$library ;;
  esac
  for plant in ${plants//,/ }; do
    options=(--backend-option rest_us=2000)
    [[ $plant == operation ]] && options+=(--backend-option beside=1.25)
    [[ $plant == load ]] && options+=(--backend-option work=0.75)
    for ((run = 1; run <= runs; ++run)); do
      rm -f "$work/run.jsonl"
      "${start[@]}" --backend "$build/bench/slowed_backend.so" "${options[@]}" --sizes 4K -n 5 -O 1 --row-time "$row_time" --beside cpu -J "$work/run.jsonl" >"$work/table" 2>&1 ||
        { cat "$work/table" >&2; exit 4; }
      sed -nE 's/.*"beside_time_ratio":([^,]+),"beside_time_ratio_low":([^,]+),"beside_time_ratio_high":([^,]+),"beside_work_ratio":([^,]+),"beside_work_ratio_low":([^,]+),"beside_work_ratio_high":([^,]+),.*/\1 \2 \3 \4 \5 \6/p' "$work/run.jsonl" |
        head -n 1 | awk -v name="$library $plant $run" '{printf "%s time %.3f %.3f %.3f work %.3f %.3f %.3f\n", name, $1, $2, $3, $4, $5, $6}' | tee -a "$work/all"
    done
  done
done
awk '{kind = $1 " " $2
      if (!(kind in runs)) kinds[++k] = kind
      ++runs[kind]
      time = $2 == "operation" ? 1.25 : 1; share = $2 == "load" ? 0.75 : 1
      slower[kind] += $6 > 1; one[kind] += $6 <= 1 && 1 <= $7; right[kind] += $6 <= time && time <= $7
      less[kind] += $11 < 1; one_work[kind] += $10 <= 1 && 1 <= $11; right_work[kind] += $10 <= share && share <= $11}
     END {for (i = 1; i <= k; ++i)
            printf "# %s, of %d runs: the operation is slower in %d (1 within %d, the planted ratio within %d); the load does less in %d (1 within %d, the planted share within %d)\n",
                   kinds[i], runs[kinds[i]], slower[kinds[i]], one[kinds[i]], right[kinds[i]], less[kinds[i]], one_work[kinds[i]], right_work[kinds[i]]}' "$work/all"
