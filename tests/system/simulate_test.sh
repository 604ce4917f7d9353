#!/usr/bin/env bash
# Every program on simulated ranks: 64 of them, other numbers and platforms, bad input.
. "$(dirname "$0")/lib.sh"
source=$(cd "$(dirname "$0")/../.." && pwd)
export BUILD=$build
need_simulated all_reduce_perf
simulate=$source/scripts/simulate.sh

simulated() { # ranks platform program arguments...
  run 0 "$*" "$simulate" "$@"
  expect_in "$work/out" "# Out of bounds values : 0 OK"
  expect_in "$work/out" "# Ranks: $1 processes on "
  expect_in "$work/out" "# WARNING: simulated: times are the platform model's"
  grep -qE '^ +[0-9]' "$work/out" || fail "$*: no rows"
}
for program in "${programs[@]}"; do
  sizes=8,100K
  [ "$program" = alltoall ] && sizes=8,16K # SimGrid takes seconds for an alltoall of long messages
  taken "$program" --sizes "$sizes" -n 1 -w 0 # simulated times are the same in every call
  simulated 64 fat_tree "${program}_perf" "${words[@]}"
done
for ranks in 2 3 4; do
  simulated "$ranks" torus all_reduce_perf --sizes 8,5000 -n 2 -w 1 -d all -o all
  simulated "$ranks" dragonfly reduce_perf --sizes 8,5000 -n 2 -w 1 -r all
done

# The bus factor makes what a ring carries on any number of links the links' speed: 10 Gbit/s are 1.25 GB/s.
bandwidth() { awk '/^ +[0-9]/ {print $8}' "$work/out"; }
for ranks in 4 16 64; do
  simulated "$ranks" fat_tree all_reduce_perf -b 16M -e 16M -n 1 -w 1 -c 0
  awk -v bw="$(bandwidth)" 'BEGIN {exit !(bw > 0.85 && bw < 1.25)}' || fail "all_reduce on $ranks ranks: busbw $(bandwidth), the link carries 1.25"
done

# A file that is parsed as all others; simulated seconds are not the machine's.
run 0 "-J" "$simulate" 16 torus all_gather_perf -b 1M -e 1M -n 1 -J "$work/x.jsonl"
expect_in "$work/x.jsonl" '"launcher":"simulated (SimGrid SMPI)"'

run 2 "no arguments" "$simulate"
run 2 "no number" "$simulate" many torus all_reduce_perf
run 2 "one rank" "$simulate" 1 torus all_reduce_perf
for ranks in 100000 99999999999999999999; do run 2 "$ranks ranks" "$simulate" $ranks fat_tree all_reduce_perf; done
expect_in "$work/err" "RANKS is a number of ranks from 2 to 99999"
for speed in 0 0.00 x; do run 2 "links of $speed" env LINK_GBPS=$speed "$simulate" 4 torus all_reduce_perf; done
expect_in "$work/err" "LINK_GBPS is a number above 0, not 'x'"
run 2 "unknown platform" "$simulate" 4 mesh all_reduce_perf
expect_in "$work/err" "accepted: fat_tree, dragonfly, torus"
run 3 "unknown program" "$simulate" 4 torus nothing_perf
run 2 "bad flag" "$simulate" 4 torus all_reduce_perf -b 7 -e 3
expect_in "$work/err" "all_reduce_perf: -b: 7 is more than -e 3"
run 3 "--samples" "$simulate" 4 torus all_reduce_perf --samples
run 2 "-t" "$simulate" 4 torus all_reduce_perf -t 2
run 3 "hypercube of 5" "$simulate" 5 torus hypercube_perf
run 6 "too slow" "$simulate" 4 torus all_reduce_perf -b 8 -e 8 -n 1 --max-time 8:0

# What real ranks do with a file, simulated ones do or refuse.
echo '{"verdict":"ok"}' >"$work/v.json"
run 0 "--verdict" "$simulate" 2 torus all_reduce_perf --sizes 8 -n 2 -w 1 --verdict "$work/v.json" -J "$work/base.jsonl"
grep -q '"complete":true,"exit_code":0' "$work/v.json" || fail "--verdict is not of this run: $(cat "$work/v.json")"
run 0 "--baseline" "$simulate" 2 torus all_reduce_perf --sizes 8 -n 2 -w 1 --baseline "$work/base.jsonl" -J "$work/held.jsonl"
expect_in "$work/held.jsonl" '"flag":"--baseline"'
run 2 "--heartbeat" "$simulate" 2 torus all_reduce_perf --sizes 8 -n 2 -w 1 --heartbeat "$work/beat"
expect_in "$work/err" "--heartbeat: simulated ranks tell no progress"
finish
