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
for output in /dev/full "&-"; do
  eval "timeout 240 '$bin/init_perf' --backend gloo -t 3 -J '$work/lost.jsonl' >$output" 2>"$work/err"
  code=$?
  if [ "$code" -eq 4 ]; then pass "a table that cannot be written, $output"; else fail "a table that cannot be written, $output: exit $code, expected 4"; fi
  [ "$(grep -c '^{"type":"init_.*}$' "$work/lost.jsonl")" -eq 2 ] || fail "the file has suffered: $(cat "$work/lost.jsonl")"
  rm -f "$work/lost.jsonl"
done
for flags in "--min-busbw 8:1" "--group-rows 1" "-b 8" "-o prod" "-n 3" "-G 1"; do
  # shellcheck disable=SC2086
  run 2 "refuses $flags" "$bin/init_perf" --backend gloo -t 3 $flags
done
# Ranks that were told something else.
disagree() { # text in rank 0's line, rank 1's program and flags...
  local text=$1 port other; shift
  port=$(free_port)
  RANK=1 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port timeout 240 "$@" --backend gloo >"$work/out.1" 2>"$work/err.1" &
  other=$!
  RANK=0 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port run 2 "beside $*" "$bin/init_perf" --backend gloo -N 2
  expect_in "$work/err" "$text"
  # Before it who is not let in, as it may be another job's, and whom rank 0 waits for.
  [ "$(grep -cvE ' is not let in: | waits for ' "$work/err")" -eq 1 ] || fail "not one line: $(cat "$work/err")"
  wait "$other"
  [ $? -eq 2 ] || fail "rank 1 ended otherwise: $(cat "$work/err.1")"
}
disagree "the ranks do not agree: rank 1: -N is 3" "$bin/init_perf" -N 3
disagree "settings: the ranks do not agree: rank 1: the program is all_reduce, on rank 0 it is init" "$bin/all_reduce_perf" -b 8 -e 8
finish
