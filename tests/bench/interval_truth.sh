#!/usr/bin/env bash
# How often a row's interval contains the time that all runs agree on: tests/bench/interval_truth.sh [--runs N] [--passes N] [--library gloo|openmpi|mpich] [BUILD]
# N runs (30) of a sweep (of N passes, 1) on 2 ranks, while the machine is in one state: runs count between two probes of the cores that differ by at most 1.25
# times, and if these are within 1.25 times of a common one; the first such group of N runs is taken. For each row: the median of its times over all runs, how many of the runs'
# intervals contain it, how many do when widened by what times measured again differed by in their run, and how many times had a flag; then
# the shares over all rows.
set -euo pipefail
export LC_ALL=C
runs=30 passes=1 library=openmpi sizes=8,128,1K,8K,64K,512K,1M,4M
while (($#)); do
  case $1 in
    --runs) runs=$2; shift 2 ;;
    --passes) passes=$2; shift 2 ;;
    --library) library=$2; shift 2 ;;
    -h | --help) sed -n '2,6s/^# //p' "$0"; exit 0 ;;
    *) break ;;
  esac
done
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
build=${1:-build}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
c++ -std=c++20 -O3 -pthread tests/bench/independent/core_to_core.cpp -o "$work/core_to_core"
if [[ $library == gloo ]]; then
  command=("$build/bin/all_reduce_perf" --backend gloo --np 2)
else
  command=("mpirun.$library" -n 2 "$build/bin/all_reduce_perf" --backend "mpi-$library")
fi
# Of all runs so far: the probe that most others are near, those runs' numbers.
commonest() {
  awk 'function near(x, y) {return x / y <= 1.25 && y / x <= 1.25}
    {probe[NR] = $2; name[NR] = $1}
    END {for (i = 1; i <= NR; ++i) {count = 0; names = ""
           for (j = 1; j <= NR; ++j) if (near(probe[i], probe[j])) {++count; names = names " " name[j]}
           if (count > most) {most = count; best = probe[i] names}}
         print best}' "$work/states"
}
: >"$work/states"
chosen=()
for ((tries = 0; ${#chosen[@]} < runs + 1 && tries < 4 * runs; ++tries)); do
  before=$("$work/core_to_core")
  "${command[@]}" --sizes "$sizes" --passes "$passes" -J "$work/$tries.jsonl" >"$work/table" 2>&1
  after=$("$work/core_to_core")
  awk -v a="$before" -v b="$after" 'BEGIN {exit !(a / b <= 1.25 && b / a <= 1.25)}' || continue
  echo "$tries $before" >>"$work/states"
  read -ra chosen < <(commonest)
done
((${#chosen[@]})) || { echo 'interval_truth: the machine kept no state for the time of a run' >&2; exit 8; }
chosen=("${chosen[@]:0:runs + 1}")
state=${chosen[0]} k=$((${#chosen[@]} - 1))
echo "# all_reduce, $library, 2 ranks, $passes passes, $k runs (of $tries) with a round trip between cores of about $state ns"
for i in "${chosen[@]:1}"; do
  repeats=$(sed -nE 's/.*"repeat_half_width":([0-9.e+-]+).*/\1/p' "$work/$i.jsonl" | tail -1)
  # With passes: the row that stands for all of them.
  grep -v '"pass":[0-9]' "$work/$i.jsonl" | sed -nE 's/.*"size_bytes":([0-9]+).*"placement":"([a-z_]+)".*"time_s":([^,]+).*"time_low_s":([^,]+),"time_high_s":([^,]+).*"flags":(\[[^]]*\]).*/\1 \2 \3 \4 \5 '"${repeats:-0}"' \6/p'
done | sort -k1,1n -k2,2 -k3,3g | awk '
  function row(  i, inside, middle) {
    if (!n) return
    middle = n % 2 ? time[(n + 1) / 2] : (time[n / 2] + time[n / 2 + 1]) / 2
    for (i = 1; i <= n; ++i) {
      inside += low[i] <= middle && middle <= high[i]
      side = middle < time[i] ? log(time[i] / low[i]) : log(high[i] / time[i])
      widened += log(middle / time[i]) ^ 2 <= side ^ 2 + repeats[i] ^ 2
    }
    printf "%10d %-13s %12.3f us  %5.1f %%  widened %5.1f %% of %d  %d flagged\n", size, placement, middle * 1e6, 100 * inside / n, 100 * widened / n, n, flagged
    all += n; all_inside += inside; all_widened += widened; n = flagged = widened = 0
  }
  $1 != size || $2 != placement { row() }
  { size = $1; placement = $2; ++n; time[n] = $3; low[n] = $4; high[n] = $5; repeats[n] = $6; flagged += $7 != "[]" }
  END { row(); printf "# all rows: %.1f %%, widened %.1f %% of %d\n", 100 * all_inside / all, 100 * all_widened / all, all }'
