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
finish
