#!/usr/bin/env bash
# init_perf: threads, processes and mpirun, on every backend; its file.
. "$(dirname "$0")/lib.sh"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1

rows() { # ranks cycles
  awk -v ranks="$1" -v cycles="$2" '/^ +[0-9]/ {n++; if (NF != 6 || $1 != ranks || $3 < 0 || $4 < 0 || $5 < 0) bad = 1} END {exit bad || n != cycles}' \
    "$work/out" || fail "not $2 rows of $1 ranks: $(tail -n 4 "$work/out")"
}
for backend in gloo loopback; do
  for ranks in 1 3 4; do
    run 0 "$ranks threads, $backend" "$bin/init_perf" --backend $backend -t $ranks -N 2
    rows "$ranks" 2
    run 0 "$ranks processes, $backend" "$bin/init_perf" --backend $backend --np $ranks -N 2
    rows "$ranks" 2
  done
done
for flavour in openmpi mpich; do
  if [ ! -e "$build/lib/ccl-tests/ccl-mpi-$flavour.so" ] || ! command -v "mpirun.$flavour" >/dev/null; then
    echo "SKIP $flavour: no module or no mpirun"
    continue
  fi
  for backend in mpi gloo; do
    run 0 "$backend under mpirun of $flavour" "mpirun.$flavour" -n 3 "$bin/init_perf" --backend $backend -N 2
    rows 3 2
  done
done
run 0 "-J" "$bin/init_perf" --backend gloo -t 3 -N 2 -J "$work/x.jsonl"
[ "$(grep -c '"type":"init_row"' "$work/x.jsonl")" -eq 2 ] || fail "not two rows in the file"
run 2 "-J .csv" "$bin/init_perf" --backend gloo -t 3 -J "$work/x.csv"
run 2 "-J that cannot be written" "$bin/init_perf" --backend gloo -t 3 -J "$work/no/x.jsonl"
finish
