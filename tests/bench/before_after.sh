#!/usr/bin/env bash
# Two builds of the suite against each other on this machine: tests/bench/before_after.sh [--pairs N] [--start] BEFORE AFTER
# BEFORE, AFTER: build folders. Prints after / before: seconds from exec to the first row of 4 processes, memory of a rank beyond its
# buffers, and, without --start, times of nccl-tests' batch (-n), 2 ranks. Pairs are interleaved and alternate in order: the median of their ratios, with its
# interval (sign test, at least 95 %).
set -euo pipefail
export LC_ALL=C
pairs=20
if [[ ${1:-} == --pairs ]]; then pairs=$2; shift 2; fi
start_only=
if [[ ${1:-} == --start ]]; then start_only=yes; shift; fi
if (($# != 2)); then sed -n '2,6s/^# //p' "$0" >&2; exit 2; fi
here=$(dirname -- "${BASH_SOURCE[0]}")
declare -A build=([before]=$1 [after]=$2)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1

first_row() { # SIDE LIBRARY: seconds
  local program=${build[$1]}/bin/all_reduce_perf command end line
  if [[ $2 == gloo ]]; then command=("$program" --backend gloo --np 4); else command=("mpirun.$2" -n 4 "$program" --backend "mpi-$2"); fi
  local begin=$EPOCHREALTIME
  while read -r line; do
    if [[ $line =~ ^[0-9] ]]; then end=$EPOCHREALTIME; break; fi
  done < <("${command[@]}" -b 8 -e 8 -n 20 -w 1 2>/dev/null)
  wait $!
  awk -v a="$begin" -v b="$end" 'BEGIN {print b - a}'
}
memory() { # SIDE: MiB of rank 1, without its two buffers of 64 MiB
  mkfifo "$work/rows"
  "${build[$1]}/bin/all_reduce_perf" --backend gloo --np 4 -b 64M -e 64M -n 1 -N 0 >"$work/rows" 2>/dev/null &
  local supervisor=$! line
  exec 3<"$work/rows"
  while read -r line <&3; do [[ $line =~ ^[0-9] ]] && break; done
  awk '/^VmRSS/ {print $2 / 1024 - 128}' "/proc/$(pgrep -P "$supervisor" | sed -n 2p)/status"
  kill -TERM "$supervisor"
  cat <&3 >/dev/null
  wait "$supervisor" || true
  exec 3<&-
  rm "$work/rows"
}
batch() { # SIDE LIBRARY BYTES ITERATIONS: us
  local command=("${build[$1]}/bin/all_reduce_perf" -b "$3" -e "$3" -n "$4" -w 200 -c 1)
  if [[ $2 == gloo ]]; then command+=(--backend gloo --np 2); else command=("mpirun.$2" -n 2 "${command[@]}" --backend "mpi-$2"); fi
  "${command[@]}" 2>/dev/null | awk '/^ +[0-9]/ {print $6; exit}'
}
compare() { # LABEL FUNCTION ARGUMENTS...
  local label=$1 function=$2 k a b; shift 2
  : >"$work/pairs"
  for ((k = 0; k < pairs; ++k)); do
    if ((k % 2)); then a=$("$function" after "$@"); b=$("$function" before "$@"); else b=$("$function" before "$@"); a=$("$function" after "$@"); fi
    echo "$a $b" >>"$work/pairs"
  done
  printf '%-36s %s\n' "$label" "$(awk -f "$here/ratios.awk" "$work/pairs")"
}

printf '%-36s %14s %14s %7s  %s\n' '' after before ratio 'interval, pairs'
compare 'exec to first row, --np 4, gloo (s)' first_row gloo
compare 'the same, mpirun, openmpi (s)' first_row openmpi
compare 'memory of a rank (MiB)' memory
if [[ $start_only ]]; then exit; fi
for library in openmpi mpich; do
  compare "$library, 8 B (us)" batch "$library" 8 200000
  compare "$library, 64 KiB (us)" batch "$library" 65536 10000
  compare "$library, 4 MiB (us)" batch "$library" 4194304 200
done
compare 'gloo, 8 B (us)' batch gloo 8 5000
compare 'gloo, 64 KiB (us)' batch gloo 65536 1000
compare 'gloo, 4 MiB (us)' batch gloo 4194304 100
