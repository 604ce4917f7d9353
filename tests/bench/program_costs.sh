#!/usr/bin/env bash
# What a program costs beside the library: seconds from exec to its row, memory per rank, and what checking adds to a sweep.
# tests/bench/program_costs.sh [BUILD]     medians; the machine should be otherwise idle
set -euo pipefail
export LC_ALL=C
bin=${1:-build}/bin

now() { date +%s.%N; }
median() { sort -g | awk '{v[NR]=$1} END {print v[int((NR+1)/2)]}'; }
seconds() { # repetitions, command...
  local n=$1; shift
  for ((k = 0; k < n; k++)); do
    local start; start=$(now)
    "$@" >/dev/null 2>&1
    echo "$(now) $start" | awk '{print $1-$2}'
  done
}

echo "# exec to row and exit, all_reduce_perf -b 8 -e 8 --backend gloo (s, median)"
for np in 4 64; do
  echo "local processes $np: $(seconds 7 "$bin/all_reduce_perf" --backend gloo -b 8 -e 8 --np "$np" | median)"
done

echo "# memory of a rank while it runs 64 MiB (MiB): resident, of which anonymous, minus its two 64 MiB buffers"
"$bin/all_reduce_perf" --backend gloo -b 64M -e 64M -N 0 --np 4 >/dev/null 2>&1 &
supervisor=$!
sleep 4
for pid in $(pgrep -P "$supervisor"); do
  awk '/^VmRSS/ {rss=$2} /^RssAnon/ {anon=$2} END {printf "rank: %.1f resident, %.1f anonymous, %.1f beyond the buffers\n", rss/1024, anon/1024, rss/1024-128}' \
    "/proc/$pid/status"
done
kill -TERM "$supervisor"
wait "$supervisor" || true

echo "# wall time of a sweep with checking (-c 1) over the same without (-c 0), 5 pairs: -b 8 -e 128M"
for ((k = 0; k < 5; k++)); do
  with=$(seconds 1 "$bin/all_reduce_perf" --backend gloo -b 8 -e 128M -c 1)
  without=$(seconds 1 "$bin/all_reduce_perf" --backend gloo -b 8 -e 128M -c 0)
  echo "$with $without" | awk '{printf "%.2f s / %.2f s = %.3f\n", $1, $2, $1/$2}'
done
