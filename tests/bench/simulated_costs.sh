#!/usr/bin/env bash
# What the harness adds to a simulation: memory per rank beside its two buffers, and its share of the time, against the bare MPI calls.
# tests/bench/simulated_costs.sh [RANKS...]     needs a build with -DCCL_BENCHMARKS=ON, libsimgrid-dev, and GNU time
set -euo pipefail
export LC_ALL=C
simulate=$(cd "$(dirname "$0")/../.." && pwd)/scripts/simulate.sh
record=$(mktemp)
trap 'rm -f "$record"' EXIT
measure() { /usr/bin/time -o "$record" -f '%e %M' "$simulate" "$@" >/dev/null 2>&1; tail -n 1 "$record"; }

echo '# all_reduce_perf --sizes 8,64K -n 1 on simulated ranks, beside the same MPI calls alone (fat tree)'
echo '# ranks   harness (s)   bare (s)   harness share   KiB per rank beyond the bare program   allowed: 1 MiB + 1 KiB x ranks'
for ranks in "${@:-64 256 1024}"; do
  for n in $ranks; do
    read -r ours_s ours_kib < <(measure "$n" fat_tree all_reduce_perf --sizes 8,64K -n 1)
    read -r bare_s bare_kib < <(measure "$n" fat_tree bare_all_reduce_perf)
    awk -v n="$n" -v a="$ours_s" -v b="$bare_s" -v ak="$ours_kib" -v bk="$bare_kib" \
      'BEGIN {printf "%7d %13.2f %10.2f %14.0f%% %39.0f %30d KiB\n", n, a, b, 100 * (a - b) / a, (ak - bk) / n, 1024 + n}'
  done
done
