#!/usr/bin/env bash
# All programs over Gloo at 1, 3 and 4 ranks (nightly: 2, 5, 8 and 9 too): as threads, as local processes, started from the environment.
. "$(dirname "$0")/lib.sh"

right() { # name: the last run printed rows, none of them wrong
  grep -q '^# Out of bounds values : 0 OK' "$work/out" || fail "$1: out of bounds"
  grep -qE '^ +[0-9]' "$work/out" || fail "$1: no row"
  grep -E '^ +[0-9]' "$work/out" | awk 'NF != 13 {exit 1}' || fail "$1: a row has not 13 tokens"
}
args=(--backend gloo --sizes 8,4000,1M -n 2 -w 1 -d float,int8)
for ranks in 1 3 4 ${CCL_NIGHTLY:+2 5 8 9}; do
  for program in "${programs[@]}"; do
    runs_on "$program" "$ranks" || continue
    taken "$program" "${args[@]}"
    run 0 "$program, $ranks threads" "$bin/${program}_perf" "${words[@]}" -t "$ranks" && right "$program"
    run 0 "$program, $ranks processes" "$bin/${program}_perf" "${words[@]}" --np "$ranks" && right "$program"
  done
done
for program in $(taking --skew "${programs[@]}"); do
  for skew in linear one-large; do
    run 0 "$program --skew $skew" "$bin/${program}_perf" "${args[@]}" -t 4 --skew $skew && right "$program --skew $skew"
    expect_in "$work/out" "lengths of the ranks' blocks: $skew"
  done
done
run 2 "--skew of an unknown name" "$bin/gatherv_perf" -t 3 --skew steep
run 2 "--skew of a program without uneven blocks" "$bin/gather_perf" -t 3 --skew linear
run 3 "hypercube, 3 ranks" "$bin/hypercube_perf" -t 3
expect_in "$work/err" "power of two"

for mode in ring exchange async; do
  for ranks in 1 2 3 4; do
    [ "$mode" = exchange ] && [ $((ranks % 2)) = 1 ] && continue
    for where in -t --np; do
      run 0 "sendrecv --mode $mode, $where $ranks" "$bin/sendrecv_perf" "${args[@]}" --mode $mode $where $ranks && right "$mode"
      expect_in "$work/out" "# mode: $mode"
    done
  done
done
for ranks in 1 3; do
  run 3 "sendrecv --mode exchange, $ranks ranks" "$bin/sendrecv_perf" --mode exchange -t $ranks
  [ "$(wc -l <"$work/err")" = 1 ] || fail "not one line: $(cat "$work/err")"
  expect_in "$work/err" "sendrecv --mode exchange needs an even number of ranks, not $ranks"
done
run 2 "sendrecv --mode rings" "$bin/sendrecv_perf" --mode rings
expect_in "$work/err" "--mode: unknown name 'rings', did you mean 'ring'? accepted: ring, exchange, async"

# Any start order, rank 0 last; two ranks per process.
port=$(free_port)
for rank in 2 1; do
  RANK=$rank WORLD_SIZE=3 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port timeout 240 "$bin/all_reduce_perf" "${args[@]}" -t 2 >"$work/out.$rank" 2>&1 &
done
sleep 0.3
RANK=0 WORLD_SIZE=3 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port run 0 "environment, 3 processes of 2 threads" \
  "$bin/all_reduce_perf" "${args[@]}" -t 2 && right environment
for job in $(jobs -p); do wait "$job" || fail "a rank of the environment job failed"; done
grep -c '^#  Rank' "$work/out" | grep -qx 6 || fail "environment: not 6 ranks"
[ -s "$work/out.1" ] && fail "rank 1 prints: $(head -3 "$work/out.1")"

for algorithm in ring bcube; do
  run 0 "--gloo-algorithm $algorithm" "$bin/all_reduce_perf" "${args[@]}" -o all -t 3 --gloo-algorithm $algorithm && right "$algorithm"
done
finish
