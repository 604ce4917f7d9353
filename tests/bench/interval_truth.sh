#!/usr/bin/env bash
# How often a row's interval contains the time that all runs agree on: tests/bench/interval_truth.sh [--default] [--runs N] [--passes N] [--library gloo|openmpi|mpich] [BUILD]
# N runs (30) of a sweep (of N passes, 1) on 2 ranks, while the machine is in one state: runs count between two probes of the cores that differ by at most 1.25
# times, and if these are within 1.25 times of a common one; the first such group of N runs is taken. With --default the sweep is -b 8 -e 1M, and all runs count. For each
# row: the median of its times over all runs, the largest of them over the smallest, how many of the runs' intervals contain the median, the median half width of these, and how many
# times had a flag; then the same over all rows, and the runs' verdicts.
set -euo pipefail
export LC_ALL=C
runs=30 passes=1 library=openmpi sweep=(--sizes 8,128,1K,8K,64K,512K,1M,4M) choose=1
while (($#)); do
  case $1 in
    --default) sweep=(-b 8 -e 1M) choose=; shift ;;
    --runs) runs=$2; shift 2 ;;
    --passes) passes=$2; shift 2 ;;
    --library) library=$2; shift 2 ;;
    -h | --help) sed -n '2,7s/^# //p' "$0"; exit 0 ;;
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
  command=("$build/bin/all_reduce_perf" --backend gloo)
  [[ $choose ]] && command+=(--np 2)
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
  start=$EPOCHREALTIME
  "${command[@]}" "${sweep[@]}" --passes "$passes" -J "$work/$tries.jsonl" >"$work/table" 2>&1
  sed -nE "s/^# Verdict  : /${EPOCHREALTIME}/p" "$work/table" | awk -v start="$start" '{printf "%.1f s: %s\n", substr($0, 1, 17) - start, substr($0, 18)}' >>"$work/verdicts"
  [[ $choose ]] || { chosen=("$before" $(seq 0 $tries)); continue; }
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
  # With passes: the row that stands for all of them.
  grep -v '"pass":[0-9]' "$work/$i.jsonl" | sed -nE 's/.*"size_bytes":([0-9]+).*"placement":"([a-z_]+)".*"time_s":([^,]+).*"time_low_s":([^,]+),"time_high_s":([^,]+).*"flags":(\[[^]]*\]).*/\1 \2 \3 \4 \5 \6/p'
done | sort -k1,1n -k2,2 -k3,3g | awk '
  function sort(values, n,  i, j, value) {
    for (i = 2; i <= n; ++i) {
      value = values[i]
      for (j = i - 1; j > 0 && values[j] > value; --j) values[j + 1] = values[j]
      values[j + 1] = value
    }
  }
  function median(values, n) { sort(values, n); return n % 2 ? values[(n + 1) / 2] : (values[n / 2] + values[n / 2 + 1]) / 2 }
  function row(  i, inside, middle, width, ratio) {
    if (!n) return
    middle = n % 2 ? time[(n + 1) / 2] : (time[n / 2] + time[n / 2 + 1]) / 2
    for (i = 1; i <= n; ++i) {
      inside += low[i] <= middle && middle <= high[i]
      half[i] = width[i] = (high[i] - low[i]) / 2 / time[i]
      near += time[i] / middle <= 1.05 && middle / time[i] <= 1.05
    }
    ratio = time[n] / time[1]
    spread[++rows] = ratio
    halves[rows] = median(width, n)
    printf "%10d %-13s %12.3f us  x %.2f  %5.1f %% of %d within +-%.1f %%  %d flagged\n", size, placement, middle * 1e6, ratio, 100 * inside / n, n, 100 * halves[rows], flagged
    all += n; all_inside += inside; n = flagged = 0; delete half; delete width
  }
  $1 != size || $2 != placement { row() }
  { size = $1; placement = $2; ++n; time[n] = $3; low[n] = $4; high[n] = $5; flagged += $6 != "[]" }
  END {
    row()
    sort(spread, rows)
    printf "# all rows: %.1f %% of %d intervals contain the median, half of the rows within +-%.1f %%; %.0f %% of the times within 5 %% of it\n", 100 * all_inside / all, all, 100 * median(halves, rows), 100 * near / all
    printf "# largest over smallest time: median x %.2f, in 90 %% of %d rows at most x %.2f, widest x %.2f\n", median(spread, rows), rows, spread[int(0.9 * rows + 0.999)], spread[rows]
  }'
sed 's/^/# /' "$work/verdicts"
