#!/usr/bin/env bash
# Messages that an int cannot count in bytes, nor, of one byte each, in elements: 2 ranks on every backend for host memory. Then every
# program and operation with more elements than a float counts (2^24).
. "$(dirname "$0")/lib.sh"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
[ -n "${CCL_NIGHTLY:-}" ] || { echo "SKIP: takes minutes and 12 GiB: scripts/test.sh --nightly runs it"; exit 77; }
available=$(awk '/^MemAvailable:/ {printf "%d", $2 / 1048576}' /proc/meminfo)
[ "$available" -ge 12 ] || { echo "SKIP: $available GiB of memory are free, 12 are needed"; exit 77; }

right() { # NAME: one row of each half, none wrong, of more than 2^31 bytes
  grep -q '^# Out of bounds values : 0 OK' "$work/out" || fail "$1: out of bounds"
  awk '/^ +[0-9]/ && $1 > 2 ^ 31 - 1000 {n++} END {exit n != 1}' "$work/out" || fail "$1: not one row beyond 2^31 bytes"
}
starts=("--backend loopback -t 2" "--backend gloo --np 2")
for program in all_reduce all_gather alltoall broadcast reduce_scatter sendrecv; do
  words=(--sizes 2200000002 -d uint8 -n 1 -w 0)
  for start in "${starts[@]}"; do
    run 0 "$program, $start" "$bin/${program}_perf" "${words[@]}" $start && right "$program, $start"
  done
  for flavour in openmpi mpich; do
    [ -e "$build/lib/ccl-tests/ccl-mpi-$flavour.so" ] && command -v "mpirun.$flavour" >/dev/null || { echo "SKIP $flavour: no module or no mpirun"; continue; }
    run 0 "$program, $flavour" "mpirun.$flavour" -n 2 "$bin/${program}_perf" --backend mpi "${words[@]}" && right "$program, $flavour"
  done
done
for program in "${programs[@]}"; do
  for case in "1 int8 16777259" "3 float 67109036"; do
    read -r ranks type bytes <<<"$case"
    runs_on "$program" "$ranks" || continue
    taken "$program" --sizes "$bytes" -d "$type" -o all
    run "0|3" "$program, $ranks ranks, $bytes B of $type" "$bin/${program}_perf" --backend loopback -t "$ranks" "${words[@]}" -n 1 -w 0 || continue
    # Refused (3): another type, or more memory than there is.
    if ! grep -q '^# Out of bounds' "$work/out"; then echo "SKIP $program, $ranks ranks: $(tail -n 1 "$work/err")"; continue; fi
    grep -q '^# Out of bounds values : 0 OK' "$work/out" || fail "$program, $ranks ranks, $bytes B of $type: out of bounds"
  done
done
finish
