#!/usr/bin/env bash
# Around joining at MASTER_PORT: strangers, other jobs on the port, twins, names that do not resolve.
. "$(dirname "$0")/lib.sh"
short=(--backend gloo --sizes 8,100K -n 2)
export MASTER_ADDR=127.0.0.1
ulimit -n "$(ulimit -Hn)"  # for the connections that this script opens

# start RANK RANKS FLAG...: a rank in the background; its pid is added to $pids, its output is $work/{out,err}.RANK
start() {
  local rank=$1 ranks=$2; shift 2
  RANK=$rank WORLD_SIZE=$ranks timeout 240 "$bin/all_reduce_perf" "$@" >"$work/out.$rank" 2>"$work/err.$rank" </dev/null &
  pids[$rank]=$!
}
end_of() { # rank, expected code, name
  wait "${pids[$1]}"
  local code=$?
  if [ "$code" -eq "$2" ]; then pass "$3, rank $1"; else fail "$3, rank $1: exit $code, expected $2"; tail -n 5 "$work/err.$1"; fi
}
listening() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }
wait_listening() { for _ in $(seq 200); do listening "$1" && return; sleep 0.05; done; fail "nobody listens on port $1"; }
pids=()

# Hundreds of connections that say nothing, half of something, or nonsense, at a rank 0 with few descriptors.
for ranks in 3 4; do
  export MASTER_PORT; MASTER_PORT=$(free_port)
  (ulimit -n 256; exec env RANK=0 WORLD_SIZE="$ranks" timeout 240 "$bin/all_reduce_perf" "${short[@]}" --init-timeout 40) \
    >"$work/out.0" 2>"$work/err.0" </dev/null &
  pids[0]=$!
  wait_listening "$MASTER_PORT"
  held=()
  for i in $(seq 400); do
    exec {fd}<>"/dev/tcp/127.0.0.1/$MASTER_PORT" || { fail "connection $i is refused"; break; }
    held+=("$fd")
    { case $((i % 4)) in
      1) printf 'CCL' ;;
      2) printf 'CCLCTL4\n' ;;
      3) printf 'GET / HTTP/1.1\r\n\r\n' ;;
    esac >&"$fd"; } 2>/dev/null
  done
  for ((rank = 1; rank < ranks; rank++)); do start "$rank" "$ranks" "${short[@]}" --init-timeout 40; done
  for ((rank = 0; rank < ranks; rank++)); do end_of "$rank" 0 "$ranks ranks among 400 strangers"; done
  expect_in "$work/out.0" "# Out of bounds values : 0 OK"
  for fd in "${held[@]}"; do exec {fd}>&-; done
done

# Two jobs on one port, both about to meet: the second one's rank 0 ends at once, the first goes on.
MASTER_PORT=$(free_port)
start 0 3 "${short[@]}" --init-timeout 40
wait_listening "$MASTER_PORT"
RANK=0 WORLD_SIZE=3 run 4 "a second rank 0 on the port" "$bin/all_reduce_perf" "${short[@]}"
expect_in "$work/err" "rank 0 cannot listen on port $MASTER_PORT (MASTER_PORT)"
start 1 3 "${short[@]}" --init-timeout 40
start 2 3 "${short[@]}" --init-timeout 40
for rank in 0 1 2; do end_of "$rank" 0 "the first job on the port"; done

# While a job runs nobody listens; a twin finds nobody; another job has the port.
MASTER_PORT=$(free_port)
rm -f "$work/long.jsonl"
for rank in 0 1 2; do start "$rank" 3 --backend gloo -b 8 -e 8 -n 5 -N 0 -J "$work/long.jsonl"; done
long=("${pids[@]}")
for _ in $(seq 200); do
  [ -e "$work/long.jsonl" ] && [ "$(wc -l <"$work/long.jsonl")" -ge 2 ] && break
  sleep 0.1
done
if listening "$MASTER_PORT"; then fail "somebody still listens"; else pass "nobody listens after all have joined"; fi
RANK=1 WORLD_SIZE=3 run 5 "rank 1 started again while the job runs" "$bin/all_reduce_perf" "${short[@]}" --init-timeout 1
expect_in "$work/err" "rank 0 did not appear at 127.0.0.1:$MASTER_PORT"
for rank in 0 1 2; do start "$rank" 3 "${short[@]}" --init-timeout 40; done
for rank in 0 1 2; do end_of "$rank" 0 "another job on the port of one that runs"; done
for rank in 0 1 2; do
  kill -0 "${long[$rank]}" 2>/dev/null || fail "rank $rank of the job that runs has ended"
done
for rank in 0 1 2; do kill -TERM "${long[$rank]}"; done
wait "${long[@]}"

# Ranks that were told different things never reach the library, which would hang, die or deliver wrong data.
differ() { # WHAT ARGUMENTS-OF-RANK-1 ARGUMENTS-OF-THE-OTHERS
  MASTER_PORT=$(free_port)
  # shellcheck disable=SC2086
  for rank in 0 1 2; do start "$rank" 3 --backend gloo -n 1 $([ "$rank" = 1 ] && echo "$2" || echo "$3"); done
  for rank in 0 1 2; do
    end_of "$rank" 2 "settings that differ: $1"
    expect_in "$work/err.$rank" "the ranks do not agree: rank 1: $1 is"
  done
}
differ --sizes "--sizes 8K" "--sizes 4K"
differ -e "-b 8 -e 1K" "-b 8 -e 1M"
differ -d "--sizes 4K -d int8" "--sizes 4K"
differ -n "--sizes 4K -n 2" "--sizes 4K -n 3"
differ --group "--sizes 4K --group %2" "--sizes 4K --group /2"

# Processes that were started differently: each says who differs from the most others, and ends with 2.
started_differently() { # NAME TEXT
  for rank in 0 1 2; do
    end_of "$rank" 2 "$1"
    expect_in "$work/err.$rank" "the processes do not agree: $2"
  done
}
MASTER_PORT=$(free_port)
for rank in 0 2; do start "$rank" 3 "${short[@]}" -t 2; done
start 1 3 "${short[@]}" -t 3
started_differently "numbers of ranks that differ" "ranks 3-5 on $(hostname) (pid"
MASTER_PORT=$(free_port)
# Rank 3 never comes: rank 2 may be of another job until the start limit.
for rank in 0 1; do start "$rank" 4 "${short[@]}" --init-timeout 6; done
start 2 3 "${short[@]}" --init-timeout 3
for rank in 0 1 2; do end_of "$rank" 2 "WORLD_SIZE that differs"; done
for rank in 0 1; do expect_in "$work/err.$rank" "the processes do not agree: rank 2 on $(hostname) (pid"; done
expect_in "$work/err.2" "the settings of rank 0 on $(hostname) (pid"

# Two jobs on one port at the same time. Rank 1 of the second finds the first one's rank 0, and looks on until its own is there.
MASTER_PORT=$(free_port)
start 0 2 "${short[@]}" --init-timeout 60
wait_listening "$MASTER_PORT"
first=("${pids[0]}")
start 1 3 "${short[@]}" --init-timeout 60
second=("${pids[1]}")
for _ in $(seq 200); do grep -q "another job's rank 0" "$work/err.1" && break; sleep 0.05; done
expect_in "$work/err.1" "this process looks for its own rank 0 for up to 60 s"
cp "$work/err.1" "$work/err.second"
start 1 2 "${short[@]}" --init-timeout 60
end_of 1 0 "the first of two jobs"
pids[0]=${first[0]}
end_of 0 0 "the first of two jobs"
expect_in "$work/err.0" "is not let in: WORLD_SIZE is 3"
for rank in 0 2; do start "$rank" 3 "${short[@]}" --init-timeout 60; done
pids[1]=${second[0]}
for rank in 0 1 2; do end_of "$rank" 0 "the second of two jobs"; done

# The second one's rank 0 cannot listen: its ranks learn it from the first one's rank 0, whenever they come.
MASTER_PORT=$(free_port)
start 0 2 "${short[@]}" --init-timeout 60
first=("${pids[0]}")
wait_listening "$MASTER_PORT"
start 1 2 "${short[@]}" -w 7
start 0 2 "${short[@]}" -w 7
for rank in 0 1; do
  end_of "$rank" 4 "a job whose rank 0 cannot listen"
  expect_in "$work/err.$rank" "rank 0 cannot listen on port $MASTER_PORT (MASTER_PORT)"
done
start 1 2 "${short[@]}" --init-timeout 60
pids[0]=${first[0]}
for rank in 0 1; do end_of "$rank" 0 "the job that has the port"; done

# Who refuses its own flags, or cannot write its files, tells the others.
for rank_that_refuses in 0 1 2; do
  MASTER_PORT=$(free_port)
  for rank in 0 1 2; do
    # shellcheck disable=SC2046
    start "$rank" 3 "${short[@]}" $([ "$rank" = "$rank_that_refuses" ] && echo --nope)
  done
  for rank in 0 1 2; do
    end_of "$rank" 2 "rank $rank_that_refuses refuses a flag"
    expect_in "$work/err.$rank" "unknown option '--nope'"
  done
done
MASTER_PORT=$(free_port)
start 0 2 "${short[@]}" -J "$work/none/x.jsonl"
start 1 2 "${short[@]}"
for rank in 0 1; do
  end_of "$rank" 2 "a file of rank 0 that cannot be written"
  expect_in "$work/err.$rank" "cannot write results to"
done

# A wait says after 3 s what it is for.
MASTER_PORT=$(free_port)
RANK=0 WORLD_SIZE=3 run 5 "rank 0 alone" "$bin/all_reduce_perf" "${short[@]}" --init-timeout 5
expect_in "$work/err" "waits for 2 more processes (WORLD_SIZE=3): rank 1, rank 2 (alone: --launcher local)"
RANK=2 WORLD_SIZE=3 run 5 "rank 2 alone" "$bin/all_reduce_perf" "${short[@]}" --init-timeout 5
expect_in "$work/err" "waits for rank 0 at 127.0.0.1:$MASTER_PORT (MASTER_ADDR and MASTER_PORT): "
SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=8 SLURM_JOB_ID=1 SLURM_STEP_ID=0 run 5 "a step of srun that has ended" "$bin/all_reduce_perf" "${short[@]}" --init-timeout 5
expect_in "$work/err" "waits for 7 more tasks of srun step 1.0: rank 1,"

# A secret: whoever has another one stays out, and the job goes on.
MASTER_PORT=$(free_port)
export CCL_JOB_SECRET=plover
for rank in 0 1; do start "$rank" 3 "${short[@]}" --init-timeout 40 -J "$work/secret.$rank.jsonl"; done
wait_listening "$MASTER_PORT"
RANK=2 WORLD_SIZE=3 CCL_JOB_SECRET=xyzzy run 5 "a rank with another secret" "$bin/all_reduce_perf" "${short[@]}" --init-timeout 1
expect_in "$work/err" "another job listens there, or CCL_JOB_SECRET differs"
start 2 3 "${short[@]}" --init-timeout 40
for rank in 0 1 2; do end_of "$rank" 0 "a job with a secret"; done
if grep -qE "plover|xyzzy" "$work"/out.* "$work"/err* "$work"/*.jsonl; then fail "the secret is printed"; else pass "the secret is not printed"; fi
unset CCL_JOB_SECRET

# Rank 0 stops: each of the others says so when its library gives up, and ends with 5.
MASTER_PORT=$(free_port)
rm -f "$work/long.jsonl"
for rank in 0 1 2; do
  RANK=$rank WORLD_SIZE=3 "$bin/all_reduce_perf" --backend gloo -b 8 -e 64K -N 0 -n 3 -T 12 -J "$work/long.jsonl" >"$work/out.$rank" 2>"$work/err.$rank" </dev/null &
  pids[$rank]=$!
done
for _ in $(seq 200); do [ -s "$work/long.jsonl" ] && [ "$(wc -l <"$work/long.jsonl")" -ge 2 ] && break; sleep 0.1; done
kill -STOP "${pids[0]}"
for rank in 1 2; do
  end_of "$rank" 5 "rank 0 is stopped"
  expect_in "$work/err.$rank" "no sign of life from rank 0 on $(hostname) (pid ${pids[0]})"
done
kill -KILL "${pids[0]}"
wait "${pids[0]}" 2>/dev/null

# Names.
MASTER_ADDR=no-such-host.invalid MASTER_PORT=$(free_port)
if getent hosts "$MASTER_ADDR" >/dev/null || [ $? -ne 2 ]; then echo "SKIP a name that is none: this machine resolves $MASTER_ADDR"; else
  for rank in 0 1 2; do start "$rank" 3 "${short[@]}"; done
  for rank in 0 1 2; do
    end_of "$rank" 2 "a name that is none"
    expect_in "$work/err.$rank" "there is no such name as 'no-such-host.invalid'"
    expect_in "$work/err.$rank" "MASTER_ADDR"
  done
fi
for MASTER_ADDR in node1:29500 tcp://node1 '[::1]:29500'; do
  RANK=0 WORLD_SIZE=2 run 2 "MASTER_ADDR=$MASTER_ADDR" "$bin/all_reduce_perf" "${short[@]}"
  expect_in "$work/err" "MASTER_PORT"
done
MASTER_ADDR='[::1]'
for rank in 0 1 2; do start "$rank" 3 "${short[@]}" --init-timeout 40; done
for rank in 0 1 2; do end_of "$rank" 0 "an address of IPv6 in brackets"; done
finish
