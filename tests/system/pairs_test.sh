#!/usr/bin/env bash
# pingpong_perf --pairs all on hosts that are network namespaces: of healthy ones nobody is named, one at a third of the others' rate is.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/cluster_lib.sh"

cluster_up 6 400mbit
# The links let 256 KB pass at once before they slow down: the upper half of the sizes is above that.
pairs() { # name, file
  run_on_hosts 0 "$1" "$bin/pingpong_perf" --backend gloo --interface eth0 --pairs all --sizes 8,1K,64K,512K,1M --time-budget 20 -J "$2"
  grep '^# Pairs' "$work/out"
}
pairs "six healthy hosts" "$work/healthy.jsonl"
expect_in "$work/out" "# Pairs    : no rank stands out; "
grep -q '"pair_findings":\[\],"pairs_could_see":[0-9]' "$work/healthy.jsonl" || fail "healthy hosts: not told in .jsonl"

slow=${CCL_CLUSTER}4
"$cluster" rate "$slow" 130mbit
pairs "a host at a third of the rate" "$work/slow.jsonl"
expect_in "$work/out" "# Pairs    : rank 4 on $slow stands out: "
[ "$(grep -c '^# Pairs' "$work/out")" = 1 ] || fail "a host at a third of the rate: others are named"
grep -q "\"pair_findings\":\[{\"rank\":4,\"pair\":null,\"host\":\"$slow\",\"ratio\":[0-9.]*,[^]]*}\]" "$work/slow.jsonl" ||
  fail "a host at a third of the rate: not told in .jsonl"
"$cluster" down
finish
