#!/usr/bin/env bash
# mesh_perf: every library, meshes of 1 to 8 ranks, its table and file, planted faults, dead and stuck ranks, refusals.
. "$(dirname "$0")/lib.sh"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
mesh=$bin/mesh_perf
quick=(--rounds 3 --turn-time 0.005)
three=tp:all_reduce:12000,dp:reduce_scatter:40004,pp:sendrecv:1004
# Times on a busy machine may be too uncertain for a row: exit 8, which says so, is right there as well.
measured="0|8"

rows() { # patterns: a row for each, and as many columns as there are
  awk -v n="$1" '/^ +[0-9]+ [a-z]+:/ {rows++; if (NF < 3) bad = 1} END {exit bad || rows != n}' "$work/out" || fail "not $1 rows: $(cat "$work/out")"
  grep -qE '^# Correct  : yes - [1-9][0-9]* of [1-9][0-9]* calls' "$work/out" || fail "nothing verified: $(tail -n 4 "$work/out")"
  grep -qE '^# Verdict  : (OK|INCONCLUSIVE - )' "$work/out" || fail "no verdict: $(tail -n 4 "$work/out")"
}

pid_of_rank() { # supervisor rank
  local pid
  for pid in $(pgrep -P "$1"); do grep -qzE "^(OMPI_COMM_WORLD_)?RANK=$2\$" "/proc/$pid/environ" && echo "$pid"; done
}
# stopped NAME RANK COMMAND...: stops a rank after two turns. The others' waits end, and say in which pattern.
stopped() {
  local name=$1 rank=$2 job victim late code; shift 2
  "$@" --rounds 10000 -T 3 -J "$work/stopped.jsonl" >"$work/out" 2>"$work/err" </dev/null &
  job=$!
  wait_for_row "$work/stopped.jsonl"
  victim=$(pid_of_rank "$job" "$rank")
  kill -STOP "$victim"
  (sleep 100; kill -9 "$victim") 2>/dev/null &
  late=$!
  wait "$job"
  code=$?
  kill "$late" 2>/dev/null
  kill -9 "$victim" 2>/dev/null
  if [ "$code" -eq 5 ]; then pass "$name"; else fail "$name: exit $code, expected 5: $(cat "$work/err")"; fi
  expect_in "$work/out" "# Next     : a process that is stopped has state T (ps -o pid,stat)"
  grep -qE "dp:all_reduce:12000|[dt]p:all_gather:40004" "$work/err" || fail "$name: no pattern is named: $(cat "$work/err")"
  grep -qE "rank $rank (on $(hostname) )?\(pid $victim\)" "$work/err" || fail "$name: rank $rank is not named: $(cat "$work/err")"
  rm -f "$work"/stopped*.jsonl
}

# Gloo: 8 ranks as processes and as threads; 3 ranks; 1 rank.
run "$measured" "8 processes" "$mesh" --np 8 --backend gloo --mesh dp=2,tp=2,pp=2 --do $three "${quick[@]}" -J "$work/a.jsonl"
rows 3
expect_in "$work/out" "# Pattern 1: tp:all_reduce:12000, 4 groups of 2 ranks: 0,2 1,3 4,6 5,7"
expect_in "$work/out" "# Pattern 2: dp:reduce_scatter:40004, 4 groups of 2 ranks: 0,4 1,5 2,6 3,7"
expect_in "$work/out" "# Pattern 3: pp:sendrecv:1004, 4 groups of 2 ranks: 0,1 2,3 4,5 6,7"
expect_in "$work/out" "DeviceMesh"
[ "$(grep -c '"type":"mesh_turn"' "$work/a.jsonl")" -eq 72 ] || fail "not 3 rounds of 3 victims' 8 turns"
[ "$(grep -c '"type":"mesh_slowdown"' "$work/a.jsonl")" -eq 9 ] || fail "not 9 slowdowns"
python3 - "$work/a.jsonl" <<'PY' || fail "the file contradicts itself"
import json, math, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
turns = [l for l in lines if l["type"] == "mesh_turn"]
assert lines[0]["type"] == "mesh_header" and lines[-1]["type"] == "mesh_footer" and lines[-1]["complete"]
assert all(t["verified_calls"] > len(t["beside"]) and not t["wrong"] and t["time_s"] > 0 for t in turns)
def seconds(victim, beside, r):
    return sum(t["time_s"] for t in turns if (t["victim"], t["beside"], t["round"]) == (victim, beside, r))
for s in (l for l in lines if l["type"] == "mesh_slowdown"):
    if s["ratio"] is None:  # the time alone was too uncertain
        continue
    logs = [math.log(seconds(s["victim"], s["beside"], r) / seconds(s["victim"], [], r)) for r in range(3)]
    assert abs(math.exp(sum(logs) / 3) / s["ratio"]["value"] - 1) < 1e-9
    assert s["ratio"]["low"] < s["ratio"]["value"] < s["ratio"]["high"]
PY
run "$measured" "8 threads, Megatron's order, every call verified" "$mesh" -t 8 --backend gloo --order megatron --mesh tp=2,cp=1,dp=4 \
  --do tp:all_gather:1000,dp:alltoall:4000 -d bfloat16 -c all "${quick[@]}"
rows 2
expect_in "$work/out" "# Pattern 1: tp:all_gather:1000, 4 groups of 2 ranks: 0,1 2,3 4,5 6,7"
expect_in "$work/out" "# Pattern 2: dp:alltoall:4000, 2 groups of 4 ranks: 0,2,4,6 1,3,5,7"
[ "$(sed -nE 's/^# Correct  : yes - ([0-9]+) of ([0-9]+) calls.*/\1 == \2/p' "$work/out" | bc)" = 1 ] || fail "not every call was verified: $(grep Correct "$work/out")"
run "$measured" "3 ranks" "$mesh" --np 3 --backend gloo --mesh dp=3 --do dp:all_reduce:1004,dp:broadcast:30 "${quick[@]}"
rows 2
for backend in gloo loopback; do
  run "$measured" "1 rank, $backend" "$mesh" -t 1 --backend $backend --mesh dp=1,tp=1 --do dp:all_reduce:1004 "${quick[@]}"
  rows 1
done

# MPI: several threads of a rank call the library.
for flavour in openmpi mpich; do
  if [ ! -e "$build/lib/ccl-tests/ccl-mpi-$flavour.so" ] || ! command -v "mpirun.$flavour" >/dev/null; then
    echo "SKIP $flavour: no module or no mpirun"
    continue
  fi
  run "$measured" "4 ranks, $flavour" "mpirun.$flavour" -n 4 "$mesh" --backend mpi --mesh dp=2,tp=2 --do tp:all_reduce:12000,dp:reduce_scatter:40004 "${quick[@]}"
  rows 2
  run 3 "$flavour: one thread" "mpirun.$flavour" -n 2 "$mesh" --backend mpi --mesh dp=2 --do dp:all_reduce:8 --mpi-thread funneled
  expect_in "$work/err" "--mpi-thread funneled: this program calls MPI from several threads of a rank at once; accepted: multiple"
  run 3 "$flavour: a library that offers less" "mpirun.$flavour" -n 2 env LD_PRELOAD="$build/tests/libpreloaded-init.so" "$mesh" --backend mpi --mesh dp=2 --do dp:all_reduce:8
  expect_in "$work/err" "this MPI library offers MPI_THREAD_SERIALIZED at most, not MPI_THREAD_MULTIPLE"
done

# What cannot be measured alone is not in the matrix.
run 8 "too few rounds" "$mesh" --np 2 --backend gloo --mesh dp=2 --do dp:all_reduce:1004,dp:all_gather:1000 --rounds 1 --turn-time 0.005
expect_in "$work/out" "# N/A      : dp:all_reduce:1004 could not be measured alone: 2 turns alone give no interval; use --rounds 3 or more"
[ "$(grep -cE '^ +[12] dp:[a-z_:0-9]+ +N/A' "$work/out")" -eq 2 ] || fail "not N/A: $(cat "$work/out")"
expect_in "$work/out" "# Verdict  : INCONCLUSIVE - 2 of 2 patterns not measured alone (exit 8)"

# Planted faults are found in the victim and in what runs beside it.
run 7 "a flipped bit" "$mesh" --np 8 --backend gloo --mesh dp=2,tp=2,pp=2 --do $three "${quick[@]}" --rounds 1 --inject flipped-bit:rank=5:at=40004
expect_in "$work/err" "wrong: dp:reduce_scatter:40004 alone: 40004 B float sum group 1 "
expect_in "$work/err" "rank 5 (rank 1 of group 1) on $(hostname): "
expect_in "$work/err" "wrong: dp:reduce_scatter:40004 beside tp:all_reduce:12000: "
grep -qE 'elements? [0-9]+.*expected 0x' "$work/err" || fail "no element: $(head -n 2 "$work/err")"
grep -q 'wrong: tp:' "$work/err" && fail "a pattern that nobody spoiled: $(grep -m 1 'wrong: tp:' "$work/err")"
expect_in "$work/out" "could not be measured alone: data were wrong while it was alone"
expect_in "$work/out" "# Verdict  : WRONG"

# -c all: the job's first call, too.
run 7 "a fault of the first call" "$mesh" --np 3 --backend gloo --mesh dp=3 --do dp:all_reduce:1004 --rounds 1 --turn-time 0.005 -c all --inject flipped-bit:call=1
expect_in "$work/err" "in the job's first calls"
expect_in "$work/out" "# inject: 1 operation spoiled: 1 on rank 0"

# Faults that nobody sees.
none=("$mesh" --np 2 --backend gloo --mesh dp=2 --do dp:all_reduce:1004 --rounds 1 --turn-time 0.005)
for fault in flipped-bit:call=100000000 wrong-root doubled-contribution:phase=timed:every=100000000; do
  run 8 "$fault" "${none[@]}" --inject $fault -J "$work/none.jsonl"
  expect_in "$work/out" "# inject: 0 operations spoiled: "
  expect_in "$work/out" "# Verdict  : INCONCLUSIVE - --inject spoiled nothing that shows: "
done
expect_in "$work/none.jsonl" '"spoiled":"inject: 0 operations spoiled'
run 2 "a fault on a rank that is not there" "${none[@]}" --inject flipped-bit:rank=2
expect_in "$work/err" "--inject: there is no rank 2; accepted: up to 1"
run 2 "a fault at a size that is not there" "${none[@]}" --inject flipped-bit:at=8
expect_in "$work/err" "--inject: no pattern has 8 B; accepted: a size of --do"
run 2 "a fault that nothing looks for" "${none[@]}" -c 0 --inject flipped-bit
expect_in "$work/err" "--inject: -c 0 verifies nothing"

# A rank that is killed is named; what was measured is kept.
"$mesh" --np 8 --backend gloo --mesh dp=2,tp=2,pp=2 --do $three --rounds 10000 -J "$work/killed.jsonl" >"$work/out" 2>"$work/err" </dev/null &
job=$!
wait_for_row "$work/killed.jsonl"
victim=$(pid_of_rank "$job" 5)
kill -9 "$victim"
wait "$job"
code=$?
if [ "$code" -eq 4 ]; then pass "a killed rank"; else fail "a killed rank: exit $code, expected 4: $(cat "$work/err")"; fi
expect_in "$work/err" "rank 5 on $(hostname) (pid $victim) is gone"
grep -qE "^# Verdict  : INCOMPLETE - exit code 4, [0-9]+ turns measured: rank 5 on .* is gone" "$work/out" || fail "no reason: $(tail -n 1 "$work/out")"
grep -q '"type":"mesh_footer","complete":false,"exit_code":4' "$work/killed.jsonl" || fail "no footer: $(tail -n 1 "$work/killed.jsonl")"

# If process 0 itself is killed or stopped, another process writes the ends.
for end in "KILL 4" "STOP 5"; do
  signal=${end% *} expected=${end#* }
  "$mesh" --np 4 --backend gloo -T 3 --mesh dp=2,tp=2 --do tp:all_reduce:12000,dp:all_gather:40004 --rounds 10000 -J "$work/first-$signal.jsonl" >"$work/out" 2>"$work/err" </dev/null &
  job=$!
  wait_for_row "$work/first-$signal.jsonl"
  kill -"$signal" "$(pid_of_rank "$job" 0)"
  wait "$job"
  code=$?
  if [ "$code" -eq "$expected" ]; then pass "process 0 with SIG$signal"; else fail "process 0 with SIG$signal: exit $code, expected $expected: $(cat "$work/err")"; fi
  grep -qE '^# Correct  : yes - [1-9]' "$work/out" || fail "no line of correctness: $(tail -n 4 "$work/out")"
  tail -n 1 "$work/out" | grep -qE '^# Verdict  : INCOMPLETE - exit code 4, [1-9][0-9]* turns measured: process 0 was killed by signal 9 \(SIGKILL\).* during round ' || fail "no verdict: $(tail -n 4 "$work/out")"
  [ "$(grep -c '^# Verdict' "$work/out")" -eq 1 ] || fail "not one verdict: $(cat "$work/out")"
  python3 - "$work/first-$signal.jsonl" <<'PY' || fail "no footer: $(tail -n 1 "$work/first-$signal.jsonl")"
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
last = lines[-1]
assert [l["type"] for l in lines].count("mesh_footer") == 1 and last["type"] == "mesh_footer"
assert not last["complete"] and last["exit_code"] == 4 and last["errors"][0].startswith("process 0 was killed")
assert f'{sum(l["type"] == "mesh_turn" for l in lines)} turns measured' in last["verdict"]
PY
done

# A rank that is stopped. Open MPI has no limit of its own: the watchdog of the pattern's thread ends the wait.
stopped "a stopped rank over Gloo" 2 "$mesh" --np 4 --backend gloo --mesh dp=2,tp=2 --do dp:all_reduce:12000,tp:all_gather:40004
if [ -e "$build/lib/ccl-tests/ccl-mpi-openmpi.so" ] && command -v mpirun.openmpi >/dev/null; then
  stopped "a stopped rank over Open MPI" 2 mpirun.openmpi -n 3 "$mesh" --backend mpi --mesh dp=3 --do dp:all_reduce:12000,dp:all_gather:40004
fi

# Refusals.
run 2 "3 ranks in a mesh of 8" "$mesh" --np 3 --backend gloo --mesh dp=2,tp=2,pp=2 --do $three
expect_in "$work/err" "--mesh dp=2,tp=2,pp=2: 8 ranks, but the job has 3; use --np 8, or a launcher with 8"
[ "$(wc -l <"$work/err")" -eq 1 ] || fail "not one line: $(cat "$work/err")"
run 3 "no memory for a pattern" "$mesh" --np 4 --backend gloo --mesh dp=2,tp=2 --do tp:all_reduce:100T
[ "$(grep -c "no size fits into memory" "$work/err")" -eq 1 ] || fail "not said once: $(cat "$work/err")"
run 2 "1 rank in a job of 2" "$mesh" --np 2 --backend gloo --mesh dp=1 --do dp:all_reduce:8
expect_in "$work/err" "--mesh dp=1: 1 rank, but the job has 2"
for pattern in all_reduce:3 all_gather:4 reduce_scatter:7 broadcast:1; do
  run 2 "no element: $pattern" "$mesh" --np 2 --backend gloo --mesh dp=2 --do dp:$pattern
  expect_in "$work/err" "--do dp:$pattern: no element of float in groups of 2 ranks; use 8 B or more"
done
run 2 "no such dimension" "$mesh" --np 2 --backend gloo --mesh dp=2 --do tp:all_reduce:8
expect_in "$work/err" "no dimension of --mesh dp=2"
run 2 "no mesh" "$mesh" --np 2 --backend gloo --do tp:all_reduce:8
run 2 "no patterns" "$mesh" --np 2 --backend gloo --mesh tp=2
run 2 "no such program" "$mesh" --np 2 --backend gloo --mesh tp=2 --do tp:allreduce:8
run 2 "a program on pairs" "$mesh" --np 2 --backend gloo --mesh tp=2 --do tp:pingpong:8
run 2 "-J .csv" "$mesh" --np 2 --backend gloo --mesh tp=2 --do tp:all_reduce:8 -J "$work/x.csv"
run 2 "-J that cannot be written" "$mesh" --np 2 --backend gloo --mesh tp=2 --do tp:all_reduce:8 -J "$work/no/x.jsonl"
run 3 "hypercube of 3 ranks" "$mesh" --np 3 --backend gloo --mesh tp=3 --do tp:hypercube:1200
run 2 "a turn without end" "$mesh" --np 2 --backend gloo --mesh tp=2 --do tp:all_reduce:8 --turn-time 1e30
run 0 "--help" "$mesh" --help
for word in --mesh --order --do --rounds --turn-time DeviceMesh Megatron "8 a pattern could not be measured alone"; do expect_in "$work/out" "$word"; done
fake=$build/tests/fake_gpu
if [ -e "$fake/lib/ccl-tests/ccl-nccl.so" ]; then
  run 3 "NCCL" env LD_LIBRARY_PATH="$fake/lib:$fake" FAKE_GPUS=2 "$mesh" -t 2 --backend nccl --mesh tp=2 --do tp:all_reduce:8
  expect_in "$work/err" "may wait for each other for ever"
else
  echo "SKIP NCCL: no stand-ins (tests/fake_gpu)"
fi
finish
