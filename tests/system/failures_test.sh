#!/usr/bin/env bash
# Dead, missing and misnumbered ranks, and signals: everybody ends, the culprit is named, finished rows are kept.
. "$(dirname "$0")/lib.sh"
long=(--backend gloo -b 1M -e 1M -n 5 -N 0 -c 1)

ends_with() { # pid, expected code, name, seconds [10]
  for _ in $(seq $((${4:-10} * 10))); do kill -0 "$1" 2>/dev/null || break; sleep 0.1; done
  kill -0 "$1" 2>/dev/null && { fail "$3: still running"; kill -9 "$1"; }
  wait "$1"
  local code=$?
  if [ "$code" -eq "$2" ]; then pass "$3"; else fail "$3: exit $code, expected $2"; fi
}
# A parser of nccl-tests' output must not take the run for a success (NVIDIA/cloudai decides by these words).
failed_on_stdout() {
  [ "$(grep -c '^# Test failure: ' "$1")" -eq 1 ] || fail "not one line 'Test failure' in $1"
  grep -qE 'Out of bounds values|Avg bus bandwidth|test concluded' "$1" && fail "$1 reads as a success"
  grep -q '^# Verdict  : INCOMPLETE - exit code ' "$1" || fail "no verdict in $1"
}
footer_says() { tail -n 1 "$1" | grep -q "\"complete\":false.*\"exit_code\":$2" || fail "$1 has no footer with exit code $2"; }

# A rank killed in the middle, local processes.
"$bin/all_reduce_perf" "${long[@]}" --np 3 -J "$work/kill.jsonl" >"$work/out" 2>"$work/err" &
supervisor=$!
wait_for_row "$work/kill.jsonl"
victim=
for pid in $(pgrep -P "$supervisor"); do
  grep -qz '^RANK=2$' "/proc/$pid/environ" && victim=$pid
done
kill -9 "$victim"
ends_with "$supervisor" 4 "kill -9 of rank 2 of 3"
expect_in "$work/err" "rank 2 on $(hostname) (pid $victim) is gone"
footer_says "$work/kill.jsonl" 4
failed_on_stdout "$work/out"
# Of the control plane, or of the library first: "is gone during ..." or "is gone (seen here as: ...".
grep -qE "^# Test failure: rank 2 on $(hostname) \(pid $victim\) is gone .*all_reduce float sum, 1048576 B" "$work/out" ||
  fail "no rank 2 in: $(grep '^# Test failure' "$work/out")"

# Rank 0 killed, or who started it: another process writes the ends, and nobody else is left.
for victim in "rank 0" "its parent"; do
  file=$work/last${victim// /}
  "$bin/all_reduce_perf" "${long[@]}" --np 3 -J "$file.jsonl" -J "$file.csv" >"$work/out" 2>"$work/err" &
  supervisor=$!
  wait_for_row "$file.jsonl"
  mapfile -t ranks < <(pgrep -P "$supervisor")
  expected=137
  if [ "$victim" = "rank 0" ]; then
    for pid in "${ranks[@]}"; do grep -qz '^RANK=0$' "/proc/$pid/environ" && kill -9 "$pid"; done
    expected=4
  else
    kill -9 "$supervisor"
  fi
  ends_with "$supervisor" "$expected" "kill -9 of $victim"
  for _ in $(seq 100); do tail -n 1 "$file.jsonl" | grep -q '"type":"footer"' && break; sleep 0.1; done
  footer_says "$file.jsonl" 4
  # How it ended is known for sure only while its parent has not waited for it.
  how='process 0 was killed by signal 9 \(SIGKILL\)'
  [ "$victim" = "rank 0" ] || how="($how|process 0 ended)"
  grep -qE "^# Test failure: $how during all_reduce float sum, 1048576 B" "$work/out" || fail "no end of process 0 in: $(grep '^# Test failure' "$work/out")"
  tail -n 1 "$file.csv" | grep -qE ',4,"process 0 .* during all_reduce float sum, 1048576 B' || fail "no end of process 0 in $file.csv: $(tail -n 1 "$file.csv")"
  failed_on_stdout "$work/out"
  for pid in "${ranks[@]}"; do  # a zombie is nobody, who may be its parent now
    grep -qs '^State:.[^Z]' "/proc/$pid/status" && fail "kill -9 of $victim left rank process $pid: $(tr '\0' ' ' <"/proc/$pid/cmdline")"
  done
done

# A rank that is stopped: the others give up at -T and say who keeps them waiting.
"$bin/all_reduce_perf" "${long[@]}" -T 3 --np 3 -J "$work/stop.jsonl" >"$work/out" 2>"$work/err" &
supervisor=$!
wait_for_row "$work/stop.jsonl"
victim=$(pgrep -P "$supervisor" | tail -n 1)
kill -STOP "$victim"
sleep 10
# Stopped between two calls, it is missed by an exchange, which waits 10 s for a silent process, and says so to all.
ends_with "$supervisor" 5 "kill -STOP of a rank of 3" 25
expect_in "$work/err" "(pid $victim) is stopped: the others waited for it"
expect_in "$work/err" "(pid $victim) did not end by itself and was killed"
port=$(free_port)
pids=()
for rank in 0 1 2; do
  RANK=$rank WORLD_SIZE=3 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port \
    "$bin/all_reduce_perf" "${long[@]}" -T 7 -J "$work/frozen.jsonl" >"$work/out.$rank" 2>"$work/err.$rank" &
  pids+=($!)
done
wait_for_row "$work/frozen.jsonl"
kill -STOP "${pids[1]}"
sleep 12
for rank in 0 2; do
  ends_with "${pids[$rank]}" 5 "kill -STOP of rank 1 of 3, rank $rank" 25
  expect_in "$work/err.$rank" "no sign of life from rank 1 on $(hostname) (pid ${pids[1]})"
done
kill -KILL "${pids[1]}"
wait "${pids[1]}" 2>/dev/null

# Under nohup the end of the terminal is nothing; otherwise it ends the job in order, however often it is said.
nohup "$bin/all_reduce_perf" "${long[@]}" -t 3 -J "$work/nohup.jsonl" >"$work/out" 2>"$work/err" &
nohup_job=$!
wait_for_row "$work/nohup.jsonl"
kill -HUP "$nohup_job"
sleep 1
if kill -0 "$nohup_job" 2>/dev/null; then pass "nohup"; else fail "SIGHUP ended a job under nohup"; fi
kill -TERM "$nohup_job"
ends_with "$nohup_job" 143 "SIGTERM under nohup"
env --default-signal=HUP "$bin/all_reduce_perf" "${long[@]}" --np 3 -J "$work/hup.jsonl" >"$work/out" 2>"$work/err" &
supervisor=$!
wait_for_row "$work/hup.jsonl"
kill -HUP "$supervisor"
sleep 0.02
kill -HUP "$supervisor" 2>/dev/null
ends_with "$supervisor" 129 "SIGHUP, twice"
footer_says "$work/hup.jsonl" 129
# All ranks are stopped, and one signal comes: nobody can end in order, and that is no success.
"$bin/all_reduce_perf" "${long[@]}" --np 2 -J "$work/all.jsonl" >"$work/out" 2>"$work/err" &
supervisor=$!
wait_for_row "$work/all.jsonl"
for pid in $(pgrep -P "$supervisor"); do kill -STOP "$pid"; done
kill -TERM "$supervisor"
ends_with "$supervisor" 4 "SIGTERM while all ranks are stopped"

# A rank killed, from the environment; rows in CSV.
port=$(free_port)
pids=()
for rank in 0 1 2; do
  RANK=$rank WORLD_SIZE=3 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port \
    "$bin/all_reduce_perf" "${long[@]}" -J "$work/env.csv" >"$work/out.$rank" 2>"$work/err.$rank" &
  pids+=($!)
done
wait_for_row "$work/env.csv"
kill -9 "${pids[1]}"
wait "${pids[1]}" 2>/dev/null
for rank in 0 2; do
  ends_with "${pids[$rank]}" 4 "kill -9 of rank 1 of 3, rank $rank"
  expect_in "$work/err.$rank" "rank 1 on $(hostname) (pid ${pids[1]}) is gone"
done
[ "$(wc -l <"$work/env.csv")" -ge 3 ] || fail "env.csv lost its rows"
tail -n 1 "$work/env.csv" | grep -qE ',4,"?rank 1 on ' || fail "env.csv does not say that the run failed: $(tail -n 1 "$work/env.csv")"

# Nobody reads the table any more, often while ranks still connect: Gloo's threads then throw what nobody can catch.
for _ in $(seq 20); do
  "$bin/all_reduce_perf" "${long[@]}" -t 2 2>"$work/err" | head -n 1 >/dev/null
  code=${PIPESTATUS[0]}
  [ "$code" -eq 4 ] || break
done
if [ "$code" -eq 4 ]; then pass "stdout closed"; else fail "stdout closed: exit $code, expected 4"; fi
expect_in "$work/err" "cannot write the table: Broken pipe"

# What is said on stderr decides nothing, though it cannot be written.
"$bin/all_reduce_perf" --frobnicate 2>/dev/full
code=$?
if [ "$code" -eq 2 ]; then pass "a wrong flag, stderr full"; else fail "a wrong flag, stderr full: exit $code, expected 2"; fi
env --default-signal=INT "$bin/all_reduce_perf" "${long[@]}" -t 3 -J "$work/unsaid.jsonl" >"$work/out" 2>/dev/full &
pid=$!
wait_for_row "$work/unsaid.jsonl"
kill -INT "$pid"
ends_with "$pid" 130 "SIGINT, stderr full"
footer_says "$work/unsaid.jsonl" 130

# Signals.
for signal in INT:130 TERM:143; do
  for ranks in "-t 3" "--np 3"; do
    file=$work/${signal%:*}${ranks// /}
    # shellcheck disable=SC2086
    env --default-signal=INT "$bin/all_reduce_perf" "${long[@]}" $ranks -J "$file.jsonl" >"$work/out" 2>"$work/err" &
    pid=$!
    wait_for_row "$file.jsonl"
    kill -"${signal%:*}" "$pid"
    ends_with "$pid" "${signal#*:}" "SIG${signal%:*}, $ranks"
    footer_says "$file.jsonl" "${signal#*:}"
    failed_on_stdout "$work/out"
    expect_in "$work/out" "interrupted by signal "
  done
done

# With too little memory for threads a rank says so, wherever it is then.
for kib in 22000 26000 30000 34000 38000 42000 46000; do
  (ulimit -v $kib; timeout 100 "$bin/all_reduce_perf" --np 2 --backend gloo -b 8 -e 8 -n 3 >"$work/out" 2>"$work/err")
  code=$?
  case $code in
    0) pass "$kib KiB of memory are enough" ;;
    3 | 4) grep -qE "a thread cannot be started|cannot allocate|bad_alloc|[Mm]emory" "$work/err" && pass "$kib KiB of memory: exit $code, with the reason" || fail "$kib KiB of memory: exit $code without a reason: $(tail -n 5 "$work/err")" ;;
    *) fail "$kib KiB of memory: exit $code: $(tail -n 5 "$work/err")" ;;
  esac
  grep -q '\] Resource temporarily unavailable' "$work/err" && fail "$kib KiB of memory: no word of what is not available: $(cat "$work/err")"
done

# Missing, repeated and disagreeing ranks.
port=$(free_port)
RANK=0 WORLD_SIZE=3 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port timeout 240 "$bin/all_reduce_perf" --backend gloo -b 8 -e 8 --init-timeout 2 >"$work/out.0" 2>"$work/err.0" &
first=$!
RANK=2 WORLD_SIZE=3 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port run 5 "rank 1 never comes" \
  "$bin/all_reduce_perf" --backend gloo -b 8 -e 8 --init-timeout 20
ends_with "$first" 5 "rank 1 never comes, as rank 0 sees it"
expect_in "$work/err.0" "rank 1"
expect_in "$work/err" "rank 1"
expect_in "$work/out.0" "# Test failure: "
[ "$(wc -l <"$work/out.0")" -eq 1 ] || fail "a table was printed without rank 1"

port=$(free_port)
RANK=0 WORLD_SIZE=3 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port timeout 240 "$bin/all_reduce_perf" --backend gloo -b 8 -e 8 --init-timeout 20 >/dev/null 2>"$work/err.0" &
first=$!
RANK=1 WORLD_SIZE=3 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port timeout 240 "$bin/all_reduce_perf" --backend gloo -b 8 -e 8 --init-timeout 20 >/dev/null 2>&1 &
second=$!
sleep 1
RANK=1 WORLD_SIZE=3 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port run 4 "two processes are rank 1" \
  "$bin/all_reduce_perf" --backend gloo -b 8 -e 8 --init-timeout 20
ends_with "$first" 4 "two processes are rank 1, as rank 0 sees it"
ends_with "$second" 4 "two processes are rank 1, as the first of them sees it"
expect_in "$work/err.0" "rank 1"

disagree() { # name, what rank 0 says, how rank 1 differs: WORLD_SIZE, then flags
  local name=$1 text=$2 world=$3; shift 3
  port=$(free_port)
  RANK=0 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port timeout 240 "$bin/all_reduce_perf" --backend gloo -b 8 -e 8 --init-timeout 20 >"$work/out.0" 2>"$work/err.0" &
  first=$!
  RANK=1 WORLD_SIZE=$world MASTER_ADDR=127.0.0.1 MASTER_PORT=$port run 2 "$name" \
    "$bin/all_reduce_perf" --backend gloo -b 8 -e 8 --init-timeout 20 "$@"
  ends_with "$first" 2 "$name, as rank 0 sees it"
  expect_in "$work/err.0" "$text"
  grep -q '^# Collective test starting' "$work/out.0" && fail "$name: a table was printed"
}
disagree "two worlds" "WORLD_SIZE is 3" 3
disagree "different numbers of threads" "the number of ranks in a process is 2" 2 -t 2
finish
