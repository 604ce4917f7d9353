#!/usr/bin/env bash
# Signals and the ends of processes, with a thread of a library that blocks no signal (as CUDA's driver has one) beside ours.
. "$(dirname "$0")/lib.sh"
thread=$build/tests/libpreloaded-thread.so
beside=(env --default-signal=INT,QUIT LD_PRELOAD="$thread")  # a program with that thread, and with the signals that a job in the background ignores
long=(--backend gloo -b 1M -e 1M -n 5 -N 0 -c 1)

ends_with() { # pid, expected code, name
  for _ in $(seq 600); do kill -0 "$1" 2>/dev/null || break; sleep 0.1; done
  kill -0 "$1" 2>/dev/null && { fail "$3: still running"; kill -9 "$1"; }
  wait "$1" 2>/dev/null
  local code=$?
  if [ "$code" -eq "$2" ]; then pass "$3"; else fail "$3: exit $code, expected $2"; fi
}
# What stands in the end of a run that failed, in the file and on stdout.
end_says() { # file without suffix, exit code in the footer, text
  for _ in $(seq 50); do tail -n 1 "$1.jsonl" | grep -q '"type":"footer"' && break; sleep 0.1; done
  tail -n 1 "$1.jsonl" | grep -q "\"complete\":false.*\"exit_code\":$2" || fail "$1.jsonl has no footer with exit code $2"
  tail -n 1 "$1.jsonl" | grep -qF -- "$3" || fail "no '$3' in the footer of $1.jsonl: $(tail -n 1 "$1.jsonl" | cut -c 1-400)"
  expect_in "$1.out" "$3"
}

# The end of a rank is noticed whoever gets SIGCHLD.
for backend in gloo loopback; do
  for ranks in 1 3; do
    [ "$backend $ranks" = "loopback 3" ] && continue  # its ranks are threads
    for turn in 1 2 3 4 5 6 7 8 9 10; do
      run 0 "--np $ranks over $backend ends, $turn" "${beside[@]}" "$bin/all_reduce_perf" --backend "$backend" --np "$ranks" -b 8 -e 8 -n 3
    done
  done
done
for turn in 1 2 3; do
  run 0 "--np 3 ends without pidfd_open, $turn" "${beside[@]}" PRELOADED_NO_PIDFD=1 "$bin/all_reduce_perf" --backend gloo --np 3 -b 8 -e 8 -n 3
done
run 0 "--np 3 ends if SIGCHLD is ignored" env --ignore-signal=CHLD LD_PRELOAD="$thread" "$bin/all_reduce_perf" --backend gloo --np 3 -b 8 -e 8 -n 3
# A library's thread that waits for all children may be first. Then the exit code is lost, and that is said.
waited_for() { # exit code if the thread is first, name, command...
  local expected=$1 name=$2
  shift 2
  timeout 240 "${beside[@]}" PRELOADED_WAITS=1 "$@" >"$work/out" 2>&1 </dev/null
  local code=$?
  if [ "$code" -eq 0 ] || { [ "$code" -eq "$expected" ] && grep -q "its exit code is not known" "$work/out"; }; then
    pass "$name"
  else
    fail "$name: exit $code"
    tail -n 15 "$work/out"
  fi
}
waited_for 4 "--np 3, waited for by a library" "$bin/all_reduce_perf" --backend gloo --np 3 -b 8 -e 8 -n 3
waited_for 2 "a monitored run, waited for by a library" "$bin/all_reduce_perf" --exit-codes nagios --backend gloo -t 2 -b 8 -e 8 -n 3
run 0 "a monitored run ends" "${beside[@]}" "$bin/all_reduce_perf" --exit-codes nagios --backend gloo --np 3 -b 8 -e 8 -n 3

# Each signal by which people, terminals and batch systems end a run ends it in order, whichever thread it comes to.
for signal in INT:130 TERM:143 HUP:129 QUIT:131 USR1:138 USR2:140 XCPU:152; do
  for ranks in "-t 2" "--np 2"; do
    file=$work/${signal%:*}${ranks// /}
    # shellcheck disable=SC2086
    "${beside[@]}" "$bin/all_reduce_perf" "${long[@]}" $ranks -J "$file.jsonl" >"$file.out" 2>"$work/err" &
    pid=$!
    wait_for_row "$file.jsonl"
    kill -"${signal%:*}" "$pid"
    ends_with "$pid" "${signal#*:}" "SIG${signal%:*}, $ranks"
    end_says "$file" "${signal#*:}" "interrupted by signal $((${signal#*:} - 128)) (SIG${signal%:*}) during all_reduce float sum, 1048576 B"
  done
done
PRELOADED_NO_SIGNALS=1 "${beside[@]}" "$bin/all_reduce_perf" "${long[@]}" -t 2 -J "$work/blocked.jsonl" >"$work/blocked.out" 2>"$work/err" &
pid=$!
wait_for_row "$work/blocked.jsonl"
kill -TERM "$pid"
ends_with "$pid" 143 "SIGTERM, where it was blocked before main()"
(ulimit -S -t 1; exec "$bin/all_reduce_perf" "${long[@]}" -t 2 -J "$work/cpu.jsonl" >"$work/cpu.out" 2>"$work/err") &
ends_with $! 152 "a limit of CPU time (SIGXCPU each second)"
end_says "$work/cpu" 152 "interrupted by signal 24 (SIGXCPU)"
# timeout(1) signals its child, and then the group.
timeout -s TERM 2 "$bin/all_reduce_perf" "${long[@]}" -t 2 -J "$work/timeout.jsonl" >"$work/timeout.out" 2>"$work/err"
end_says "$work/timeout" 143 "interrupted by signal 15 (SIGTERM)"
# An ignored SIGHUP stays ignored, in the processes of --np as well.
env --ignore-signal=HUP LD_PRELOAD="$thread" "$bin/all_reduce_perf" "${long[@]}" --np 2 -J "$work/nohup.jsonl" >"$work/nohup.out" 2>"$work/err" &
pid=$!
wait_for_row "$work/nohup.jsonl"
# shellcheck disable=SC2046
kill -HUP "$pid" $(pgrep -P "$pid")
sleep 1
kill -TERM "$pid"
ends_with "$pid" 143 "SIGHUP that is ignored, --np 2"
# Twice: now, though ranks cannot end in order.
"${beside[@]}" "$bin/all_reduce_perf" "${long[@]}" --np 2 -J "$work/twice.jsonl" >"$work/twice.out" 2>"$work/err" &
pid=$!
wait_for_row "$work/twice.jsonl"
for rank in $(pgrep -P "$pid"); do kill -STOP "$rank"; done
kill -TERM "$pid"
sleep 1
kill -TERM "$pid"
ends_with "$pid" 143 "SIGTERM, twice, all ranks stopped"
# What waits for a rank that is stopped ends by the signal that came, not by the supervisor's own SIGTERM.
"${beside[@]}" "$bin/all_reduce_perf" "${long[@]}" --np 3 -J "$work/waits.jsonl" >"$work/waits.out" 2>"$work/err" &
pid=$!
wait_for_row "$work/waits.jsonl"
for rank in $(pgrep -P "$pid"); do grep -qz '^RANK=0$' "/proc/$rank/environ" && kill -STOP "$rank"; done
kill -INT "$pid"
ends_with "$pid" 130 "SIGINT, rank 0 stopped"
# Before a rank can end in order it ends by the signal, and that is no failure of the rank.
env --default-signal=INT "$bin/all_reduce_perf" "${long[@]}" --np 1 >"$work/out" 2>"$work/err" &
pid=$!
until pgrep -P "$pid" >"$work/rank"; do kill -0 "$pid" 2>/dev/null || break; done
kill -INT "$pid"
ends_with "$pid" 130 "SIGINT while a rank starts"
# What passes signals on, and who waits for commands.
"${beside[@]}" "$bin/all_reduce_perf" --exit-codes nagios "${long[@]}" -t 2 -J "$work/monitored.jsonl" >"$work/monitored.out" 2>"$work/err" &
pid=$!
wait_for_row "$work/monitored.jsonl"
kill -USR1 "$pid"
ends_with "$pid" 3 "SIGUSR1 to a monitored run"
end_says "$work/monitored" 138 "interrupted by signal 10 (SIGUSR1)"
for ranks in "-t 2" "--np 2"; do
  # shellcheck disable=SC2086
  "${beside[@]}" "$bin/all_reduce_perf" --exit-codes nagios "${long[@]}" $ranks -J "$work/unmonitored.jsonl" >"$work/unmonitored.out" 2>"$work/err" &
  pid=$!
  wait_for_row "$work/unmonitored.jsonl"
  # shellcheck disable=SC2046
  kill -KILL $(pgrep -P "$pid")
  ends_with "$pid" 3 "a monitored run that is killed, $ranks"
  expect_in "$work/unmonitored.out" "# Test failure: process 0 was killed by signal 9 (SIGKILL) during all_reduce float sum, 1048576 B"
  rm "$work/unmonitored.jsonl"
done
for signal in INT:130 TERM:143 USR1:138; do
  "${beside[@]}" "$bin/ccl_compare" --probe-limit 0 --base "sleep 60; echo {}" --head "sleep 60; echo {}" >"$work/out" 2>"$work/err" &
  pid=$!
  sleep 1
  kill -"${signal%:*}" "$pid"
  ends_with "$pid" "${signal#*:}" "SIG${signal%:*} to ccl_compare"
done

# The end of a run whose process 0 ends without a word says how it ended, and during what.
ended() { # name, exit code, action on rank 0 (a function), expected text
  local file=$work/$1 rank0=
  "${beside[@]}" "$bin/all_reduce_perf" "${long[@]}" -T 3 --np 3 -J "$file.jsonl" >"$file.out" 2>"$work/err" &
  pid=$!
  wait_for_row "$file.jsonl"
  for rank in $(pgrep -P "$pid"); do grep -qz '^RANK=0$' "/proc/$rank/environ" && rank0=$rank; done
  "$3" "$rank0"
  ends_with "$pid" "$2" "process 0: $1"
  end_says "$file" "$2" "$4 during all_reduce float sum, 1048576 B"
}
kill_it() { kill -KILL "$1"; }
bus() { kill -BUS "$1"; }
fault() { kill -SEGV "$1"; }
stop_it() { kill -STOP "$1"; sleep 3; }
ended killed 4 kill_it "process 0 was killed by signal 9 (SIGKILL)"
expect_in "$work/killed.out" "# Next     : SIGKILL comes from the kernel"
ended bus 4 bus "process 0 was ended by signal 7 (SIGBUS)"
expect_in "$work/bus.out" "a memory-mapped file has no room; /dev/shm has "
expect_in "$work/err" "was ended by signal 7 (Bus error); /dev/shm has "
ended fault 4 fault "process 0 was ended by signal 11 (SIGSEGV)"
grep -q "SIGKILL" "$work/fault.out" && fail "a fault is taken for SIGKILL"
ended stopped 5 stop_it "process 0 was killed by signal 9 (SIGKILL) after it had been stopped"
expect_in "$work/stopped.out" "# Next     : SIGSTOP or a debugger stopped it"
PRELOADED_EXIT_S=3 "${beside[@]}" "$bin/all_reduce_perf" "${long[@]}" --np 3 -J "$work/exit.jsonl" >"$work/exit.out" 2>"$work/err" &
ends_with $! 4 "process 0: ended by a library"
end_says "$work/exit" 4 "a library ended process 0 with exit code 3 during "
finish
