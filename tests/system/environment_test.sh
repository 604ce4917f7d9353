#!/usr/bin/env bash
# All programs over Gloo, 1, 3, 4 and 8 processes started from the environment, rank 0 last.
. "$(dirname "$0")/lib.sh"

for ranks in 1 3 4 8; do
  for program in "${programs[@]}"; do
    runs_on "$program" "$ranks" || continue
    port=$(free_port)
    export WORLD_SIZE=$ranks MASTER_ADDR=127.0.0.1 MASTER_PORT=$port
    taken "$program" --backend gloo --sizes 8,4000,100K -n 2 -w 1 -d float,int8 --init-timeout 50
    others=()
    for ((rank = ranks - 1; rank > 0; rank--)); do
      RANK=$rank timeout 240 "$bin/${program}_perf" "${words[@]}" >"$work/out.$rank" 2>"$work/err.$rank" &
      others+=("$!")
    done
    RANK=0 run 0 "$program, $ranks processes from the environment" "$bin/${program}_perf" "${words[@]}"
    for pid in "${others[@]}"; do wait "$pid" || fail "$program, $ranks processes: a rank beside 0 failed"; done
    expect_in "$work/out" "# Out of bounds values : 0 OK"
    [ "$(grep -c '^#  Rank' "$work/out")" -eq "$ranks" ] || fail "$program: not $ranks rank lines"
    [ "$(grep -cE '^ +[0-9]' "$work/out")" -ge 1 ] || fail "$program: no rows"
    for ((rank = 1; rank < ranks; rank++)); do
      [ -s "$work/out.$rank" ] && fail "$program: rank $rank prints: $(head -n 3 "$work/out.$rank")"
      grep -qv ' waits for ' "$work/err.$rank" && fail "$program: rank $rank complains: $(head -n 3 "$work/err.$rank")"
    done
  done
done

# What is wrong in all ranks' command lines is said once.
export WORLD_SIZE=3 MASTER_ADDR=127.0.0.1
for flag in --help --no-such-flag; do
  code=$([ $flag = --help ] && echo 0 || echo 2)
  MASTER_PORT=$(free_port)
  export MASTER_PORT
  pids=()
  for rank in 0 1 2; do
    RANK=$rank timeout 240 "$bin/all_reduce_perf" $flag >"$work/out.$rank" 2>"$work/err.$rank" &
    pids+=("$!")
  done
  for rank in 0 1 2; do
    wait "${pids[rank]}"
    [ $? -eq "$code" ] || fail "$flag: rank $rank does not end with $code"
    [ "$rank" = 0 ] || [ ! -s "$work/out.$rank" ] && { [ "$rank" = 0 ] || [ ! -s "$work/err.$rank" ]; } ||
      fail "$flag: rank $rank prints: $(cat "$work/out.$rank" "$work/err.$rank")"
  done
  [ "$(cat "$work/out.0" "$work/err.0" | grep -cE '^Usage|no-such-flag')" -eq 1 ] && pass "$flag of 3 ranks" || fail "$flag of 3 ranks: $(cat "$work/err.0")"
done
MASTER_PORT=$(free_port) RANK=1 run 2 "a wrong flag that rank 0 does not hear of" "$bin/all_reduce_perf" --no-such-flag
expect_in "$work/err" "unknown option '--no-such-flag'"
# What rank 0 is told is not the job's: the header and files name the ranks that differ.
MASTER_PORT=$(free_port)
others=()
for rank in 2 1; do
  RANK=$rank UCX_TLS=tcp timeout 240 taskset -c 0 "$bin/all_reduce_perf" --backend gloo --sizes 8 -n 2 >"$work/out.$rank" 2>"$work/err.$rank" &
  others+=("$!")
done
RANK=0 NCCL_ALGO=Ring run 0 "ranks that differ" taskset -c "$(($(nproc) - 1))" "$bin/all_reduce_perf" --backend gloo --sizes 8 -n 2 -J "$work/differ.jsonl"
for pid in "${others[@]}"; do wait "$pid" || fail "ranks that differ: a rank beside 0 failed"; done
[ "$(nproc)" = 1 ] || expect_in "$work/out" ", CPUs of rank 0: $(($(nproc) - 1)), ranks 1-2: 0 (launcher: environment)"
expect_in "$work/out" "# ranks differ in NCCL_ALGO: rank 0: Ring, ranks 1-2: not set"
expect_in "$work/out" "ranks differ in UCX_TLS: rank 0: not set, ranks 1-2: tcp"
expect_in "$work/differ.jsonl" '"NCCL_ALGO=Ring"'
expect_in "$work/differ.jsonl" '"UCX_TLS: rank 0: not set, ranks 1-2: tcp"'
finish
