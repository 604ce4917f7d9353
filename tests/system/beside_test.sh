#!/usr/bin/env bash
# --beside: both sides' ratios as threads, processes and under mpirun, in the table and in files; wrong data beside the load; ends; refusals.
. "$(dirname "$0")/lib.sh"
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
quick=(--sizes 40000 -n 3 -w 1 --row-time 0.1) # the fewest rounds
line='#   beside: with the [a-z]+ load the operation takes [0-9.]+ \([0-9.]+ to [0-9.]+\) times as long; the load does [0-9.]+ \([0-9.]+ to [0-9.]+\) of its work$'
# RANKS may have so much to wait for that neighbouring rounds say the same, which leaves no interval.
none='#   beside: with the [a-z]+ load the operation takes [0-9.]+ \([^)]+\) times as long; the load does [0-9.]+ \([^)]+\) of its work$'
told() { # NAME LOAD ROWS
  expect_in "$work/out" "# Out of bounds values : 0 OK"
  [ "$(grep -cE "$none" "$work/out")" -eq "$3" ] || fail "$1: not $3 lines: $(grep beside "$work/out")"
  grep -Eq "^# .*beside $2: .* on a thread of each rank that shares the rank's CPUs; " "$work/out" || fail "$1: no note in the header"
}
for ranks in 1 3 4; do
  for load in cpu memory; do
    run 0 "Gloo, $ranks threads, $load" "$bin/all_reduce_perf" --backend gloo "${quick[@]}" -t "$ranks" --beside "$load" -J "$work/$load.jsonl" &&
      told "Gloo, $ranks threads, $load" "$load" 1
  done
done
run 0 "loopback, 1 rank" "$bin/all_reduce_perf" --backend loopback --sizes 40000 -n 3 -w 1 -t 1 --beside cpu && told "loopback" cpu 1
grep -Eq "$line" "$work/out" || fail "no interval of one rank: $(grep beside: "$work/out")"
for ranks in 3 4; do
  run 0 "Gloo, $ranks processes" "$bin/broadcast_perf" --backend gloo "${quick[@]}" --np "$ranks" --beside cpu && told "Gloo, $ranks processes" cpu 1
done
for flavour in openmpi mpich; do
  if [ ! -e "$build/lib/ccl-tests/ccl-mpi-$flavour.so" ] || ! command -v "mpirun.$flavour" >/dev/null; then
    echo "SKIP $flavour: no module or no mpirun"
    continue
  fi
  run 0 "$flavour, 3 ranks" "mpirun.$flavour" -n 3 "$bin/all_reduce_perf" --backend mpi "${quick[@]}" --beside memory && told "$flavour" memory 1
done

# Files: numbers in JSON Lines, columns in CSV, nothing unasked.
run 0 "files" "$bin/all_reduce_perf" --backend loopback "${quick[@]}" -t 3 --beside memory -J "$work/b.jsonl" -J "$work/b.csv"
grep -Eq '"beside":"memory","beside_time_ratio":[0-9.e-]+,"beside_time_ratio_low":' "$work/b.jsonl" || fail "nothing in .jsonl"
expect_in "$work/b.jsonl" '"beside":"memory"'
head -n 1 "$work/b.csv" | grep -q 'beside_work_ratio_low' || fail "no column in .csv"
run 0 "unasked" "$bin/all_reduce_perf" --backend loopback "${quick[@]}" -t 3
grep -q beside "$work/out" && fail "a line that nobody asked for"

# Wrong data while the load runs: calls from the row's own on, which are 10.
run 7 "wrong data" "$bin/all_reduce_perf" --backend gloo "${quick[@]}" -t 3 --beside cpu --inject flipped-bit:rank=2:phase=timed
expect_in "$work/err" "out of place, beside cpu"

# A rank that is killed ends the job as without a load, and no process stays.
"$bin/all_reduce_perf" --backend gloo --sizes 1K -n 3 -N 0 --np 3 --beside cpu -J "$work/kill.jsonl" >"$work/out" 2>"$work/err" &
supervisor=$!
wait_for_row "$work/kill.jsonl"
mapfile -t ranks < <(pgrep -P "$supervisor")
for pid in "${ranks[@]}"; do grep -qz '^RANK=1$' "/proc/$pid/environ" && kill -9 "$pid"; done
for _ in $(seq 300); do kill -0 "$supervisor" 2>/dev/null || break; sleep 0.1; done
wait "$supervisor"
[ $? -eq 4 ] || fail "a killed rank: exit code $?"
for pid in "${ranks[@]}"; do
  grep -qs '^State:.[^Z]' "/proc/$pid/status" && { fail "a killed rank left process $pid"; kill -9 "$pid"; }
done

run 3 "copies without a GPU" "$bin/all_reduce_perf" --backend gloo "${quick[@]}" -t 3 --beside copy
expect_in "$work/err" "--beside: copy needs a GPU, and this job uses none; accepted: cpu, memory"
run 2 "an unknown load" "$bin/all_reduce_perf" --backend gloo -t 3 --beside disk
expect_in "$work/err" "--beside: unknown name 'disk'; accepted: cpu, memory, copy"
fake=$build/tests/fake_gpu
if [ -e "$fake/lib/ccl-tests/ccl-nccl.so" ]; then
  run 0 "copies, fake GPUs" env LD_LIBRARY_PATH="$fake/lib:$fake" FAKE_GPUS=3 FAKE_GPU_MEMORY=$((256 << 20)) "$bin/all_reduce_perf" --backend nccl "${quick[@]}" -t 3 --beside copy &&
    told "copies" copy 1
else
  echo "SKIP copies: the stand-ins for CUDA and NCCL are not built"
fi
if [ -e "$build/simulated/all_reduce_perf" ] && command -v smpirun >/dev/null; then
  source=$(cd "$(dirname "$0")/../.." && pwd)
  run 3 "simulated ranks" env BUILD="$build" "$source/scripts/simulate.sh" 4 torus all_reduce_perf -n 1 --beside cpu
  expect_in "$work/err" "--beside: simulated ranks"
else
  echo "SKIP simulated ranks: not built"
fi
finish
