#!/usr/bin/env bash
# What the choice of arithmetic costs over Gloo: tests/bench/arithmetic_costs.sh [--pairs N] BUILD OUT
# Writes OUT/PROGRAM-RANKS-ranks.txt: ccl_compare of Gloo's functions (base) with the suite's (head), in turns.
set -euo pipefail
export LC_ALL=C
pairs=12
if [[ ${1:-} == --pairs ]]; then pairs=$2; shift 2; fi
if (($# != 2)); then sed -n '2,3s/^# //p' "$0" >&2; exit 2; fi
build=$1 out=$2
mkdir -p "$out"
for ranks in 2 3; do
  for program in all_reduce reduce_scatter; do
    run="$build/bin/${program}_perf --backend gloo --np $ranks --sizes 64K,4M -d int8,half,float --backend-option reduce"
    file=$out/$program-$ranks-ranks.txt
    {
      echo "# load average before: $(cut -d' ' -f1-3 /proc/loadavg)"
      code=0
      "$build/bin/ccl_compare" --any-arithmetic --pairs "$pairs" --time-budget 120s --base "$run=gloo" --head "$run=suite" || code=$?
      echo "# exit code $code"
    } >"$file"
    case $code in 0 | 6 | 8) ;; *) exit "$code" ;; esac
  done
done
