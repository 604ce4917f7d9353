#!/usr/bin/env bash
# How often moe_dispatch and moe_combine cry wolf, and what checking costs: tests/bench/moe_truth.sh [--calls N] [--libraries LIST] [--ranks LIST] [BUILD].
# Over each library (gloo,openmpi,mpich) and number of processes (4,8), several routings, uneven sizes, every call checked: at least N checked calls a
# cell (10000 of both programs). Then a default sweep with and without checks, in turns (5 pairs): the ratio of the whole runs' times.
set -euo pipefail
export LC_ALL=C
calls=10000 libraries=gloo,openmpi,mpich ranks=4,8 pairs=5
while (($#)); do
  case $1 in
    --calls) calls=$2; shift 2 ;;
    --libraries) libraries=$2; shift 2 ;;
    --ranks) ranks=$2; shift 2 ;;
    -h | --help) sed -n '2,4s/^# //p' "$0"; exit 0 ;;
    *) break ;;
  esac
done
build=$(cd "${1:-build}" && pwd)
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
routings=(balanced W1 W4 zipf:1.2 maxvio:3)
started() { # LIBRARY N PROGRAM FLAGS...
  if [[ $1 == gloo ]]; then
    "$build/bin/$3" --np "$2" --backend gloo "${@:4}"
  else
    "mpirun.$1" -n "$2" "$build/bin/$3" --backend mpi "${@:4}"
  fi
}
for library in ${libraries//,/ }; do
  for n in ${ranks//,/ }; do
    checked=0 wrong=0
    for program in moe_dispatch_perf moe_combine_perf; do
      for routing in "${routings[@]}"; do
        each=$((calls / (2 * ${#routings[@]} * 3) + 1)) # three sizes
        started "$library" "$n" "$program" --tokens 1,7,61 --hidden 130 --routing "$routing" -n "$each" -w 0 -c all -O 1 --row-time 600 >"$work/out" ||
          { tail -n 20 "$work/out" >&2; exit 4; }
        counts=$(sed -nE 's/^# Correct .* - ([0-9]+) wrong elements; ([0-9]+) of .*/\1 \2/p' "$work/out")
        read -r bad good <<<"$counts"
        wrong=$((wrong + bad)) checked=$((checked + good))
      done
    done
    printf '%-8s %s processes: %d calls checked, %d wrong elements\n' "$library" "$n" "$checked" "$wrong"
  done
  for program in moe_dispatch_perf moe_combine_perf; do
    : >"$work/ratios"
    for ((k = 0; k < pairs; ++k)); do
      for checks in 1 0; do
        begin=$(date +%s%N)
        started "$library" 4 "$program" -b 64K -e 4M -n 20 -c "$checks" >"$work/out"
        echo "$checks $(($(date +%s%N) - begin))" >>"$work/ratios"
      done
    done
    awk -v name="$library $program" '
      $1 == 1 { with = $2 } $1 == 0 { ratio[++n] = with / $2 }
      END { for (i = 2; i <= n; ++i) for (j = i; j > 1 && ratio[j] < ratio[j - 1]; --j) { t = ratio[j]; ratio[j] = ratio[j - 1]; ratio[j - 1] = t }
            printf "%s, 4 processes, 64 KiB to 4 MiB: a run with checks takes %.2f of one without (%.2f to %.2f)\n", name, ratio[int((n + 1) / 2)], ratio[1], ratio[n] }' "$work/ratios"
  done
done
