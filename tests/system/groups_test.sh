#!/usr/bin/env bash
# Process groups: every form of the rule, nccl-tests' variables, every bootstrap; groups that hold different data.
. "$(dirname "$0")/lib.sh"

args=(--backend gloo --sizes 8,64K -n 2 -w 1)
right() { # NAME GROUPS: the header names the groups, nothing was wrong
  expect_in "$work/out" "$2"
  grep -q '^# Out of bounds values : 0 OK' "$work/out" || fail "$1: out of bounds"
}
rank_groups() { sed -n 's/^#  Rank .*[Gg]roup *\([0-9]*\) .*/\1/p' "$work/out" | tr '\n' ' '; }
grouped() { # NAME EXPECTED-GROUP-OF-EACH-RANK HEADER COMMAND...
  local name=$1 expected=$2 header=$3; shift 3
  run 0 "$name" "$@" && right "$name" "$header"
  [ "$(rank_groups)" = "$expected" ] || fail "$name: groups of the ranks: $(rank_groups), expected $expected"
}
for rule in 'mod 2' '%2' 'and 1' '&0x1' 'ranks 2,0;1,3'; do
  for ranks in "-t 4" "--np 4"; do
    grouped "--group '$rule' $ranks" "0 1 0 1 " "2 groups of 2 ranks" "$bin/all_reduce_perf" "${args[@]}" $ranks --group "$rule"
  done
done
grouped "--group 'div 2'" "0 0 1 1 " "2 groups of 2 ranks" "$bin/all_gather_perf" "${args[@]}" -t 4 --group 'div 2'
grouped "--group local" "0 0 0 " "1 group of 3 ranks" "$bin/all_reduce_perf" "${args[@]}" --np 3 --group local
grouped "uneven groups" "0 1 2 0 " "3 groups of 1 to 2 ranks" "$bin/all_reduce_perf" "${args[@]}" -t 4 --group 'mod 3'
NCCL_TESTS_SPLIT='MOD 2' grouped "NCCL_TESTS_SPLIT" "0 1 0 1 " "2 groups of 2 ranks" "$bin/reduce_perf" "${args[@]}" -t 4
NCCL_TESTS_SPLIT_MASK=0x2 grouped "NCCL_TESTS_SPLIT_MASK" "0 0 1 1 " "2 groups of 2 ranks" "$bin/alltoall_perf" "${args[@]}" -t 4
for program in "${programs[@]}"; do
  [ "$program" = pingpong ] && continue # of pairs, not of groups
  taken "$program" "${args[@]}"
  run 0 "$program in groups" "$bin/${program}_perf" "${words[@]}" -t 8 --group 'ranks 7,0,3,4;1,2,6,5' && right "$program" "2 groups of 4 ranks"
done

# One row a size, or one for each group.
run 0 "the slowest group" "$bin/all_reduce_perf" "${args[@]}" -t 4 --group '%2'
[ "$(grep -cE '^ +[0-9]' "$work/out")" = 2 ] || fail "not one row a size"
run 0 "--group-rows" "$bin/all_reduce_perf" "${args[@]}" -t 4 --group '%2' --group-rows 1 -J "$work/rows.jsonl"
[ "$(awk '/^ +[0-9]/ {row = NF} /^#   group: / {print row, $3}' "$work/out" | tr '\n' ' ')" = "13 0 13 1 13 0 13 1 " ] || fail "not one row a group"
[ "$(grep '"placement":"in_place"' "$work/rows.jsonl" | grep -o '"group":[0-9]' | tr '\n' ' ')" = '"group":0 "group":1 "group":0 "group":1 ' ] || fail "groups in .jsonl"

for rule in 'mod 0' 'mod' 'by 2' 'ranks 0,1;1,2' 'ranks 0,1;2' 'ranks 0,9;1,2,3' 'ranks 0,1;;2,3' 'and x'; do
  run 2 "refused: --group '$rule'" "$bin/all_reduce_perf" "${args[@]}" -t 4 --group "$rule"
  [ "$(wc -l <"$work/err")" -le 2 ] || fail "more than one clear line for '$rule'"
done
run 3 "refused: hypercube with a group of 3" "$bin/hypercube_perf" "${args[@]}" -t 7 --group 'ranks 0,1,2,3;4,5,6'
finish
