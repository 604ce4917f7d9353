#!/usr/bin/env bash
# ccl_acceptance on six hosts that are network namespaces, links of 1 Gbit/s, with faults: tests/bench/acceptance_hosts.sh [BUILD [LAUNCHES [SCENARIO...]]]
# The full form of what system.acceptance has in short. BUILD [build]; LAUNCHES [1] of each, healthy ones ten times as many. Prints for each launch what
# was planted, seconds, exit code and the first line; last how many verdicts were right, and how many hosts or links that are well were named.
# An INCONCLUSIVE of healthy hosts is right: noise is said; not of the last scenarios, the plans bad_node.toml (recipe-) and quick (quick-)
# on 4 and 6 hosts at 400 Mbit/s: healthy, a host at half of the rate, one at 70 %. These have ten launches a scenario for each LAUNCHES, and
# BUSY=N runs them beside N busy loops: BUSY=1 tests/bench/acceptance_hosts.sh build 1 recipe-half-4. Reports stay in $CCL_ACCEPTANCE [a temporary folder]. Needs root.
set -euo pipefail
export LC_ALL=C
source=$(cd "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
build=$(cd "${1:-$source/build}" && pwd)
launches=${2:-1}
only=" ${*:3} "
folder=${CCL_ACCEPTANCE:-$(mktemp -d)}
mkdir -p "$folder"
cluster=$source/scripts/netns_cluster.sh
export CCL_CLUSTER=accept
hosts=6 rate=1gbit slow=300mbit h=$CCL_CLUSTER
"$cluster" up $hosts $rate
loops=()
trap '"$cluster" down; ((${#loops[@]} == 0)) || kill "${loops[@]}"' EXIT

plan() { # more lines of the plan, then of [pairs]
  cat >"$folder/plan.toml" <<PLAN
name = "six hosts"
sanity = { run = false }
node = { run = false }
full = { programs = ["all_reduce"], sizes = ["8", "1M"], seconds = "0.5" }
scaling = { run = false }
$1
[pairs]
slowdown = "20 %"
min_bandwidth = "600 Mbit/s"
${2:-}
PLAN
}
one_way() { tc -n "$1" qdisc replace dev "$2" root tbf rate "$3" burst 256kb latency 50ms; }
# A cable of its own between hosts $1 and $2, of rate $3, over which they reach each other; "none": unplugged.
cable() {
  local end other ends=("$1" "$2")
  if [[ $3 == none ]]; then ip -n "$h$1" link del cable; return; fi
  ip link add cable netns "$h$1" type veth peer name cable netns "$h$2"
  for end in 0 1; do
    other=${ends[1 - end]}
    ip -n "$h${ends[end]}" link set cable up
    ip -n "$h${ends[end]}" route add "10.77.0.$((other + 1))/32" dev cable src "10.77.0.$((ends[end] + 1))"
    one_way "$h${ends[end]}" cable "$3"
  done
}
right=0 all=0 false_names=0
declare -A right_of=() launches_of=()
given=$folder/plan.toml
accept() { # name, verdicts that are right as an expression, who may be named as an expression, arguments
  local name=$1 expected=$2 planted=$3 rank pids=() code=0 begin
  shift 3
  local kept=$folder/$name.$((++all))
  begin=$EPOCHREALTIME
  for ((rank = hosts - 1; rank >= 0; rank--)); do
    RANK=$rank WORLD_SIZE=$hosts MASTER_ADDR=${CCL_CLUSTER}0 MASTER_PORT=29500 timeout 300 "$cluster" exec "$CCL_CLUSTER$rank" \
      "$build/bin/ccl_acceptance" "$given" --backend gloo --interface eth0 --seed $all --verdict "$kept.json" --report "$kept.html" "$@" \
      >"$kept.out.$rank" 2>"$kept.err.$rank" </dev/null &
    pids[rank]=$!
  done
  if [[ $name == host-dies ]]; then
    for _ in $(seq 300); do grep -q '^# pairs: ' "$kept.err.0" && break; sleep 0.1; done
    sleep 3
    for pid in $(ip netns pids "${CCL_CLUSTER}2"); do kill -KILL "$pid"; done
  fi
  wait "${pids[0]}" || code=$?
  wait "${pids[@]}" || true
  local line named
  line=$(head -n 1 "$kept.out.0")
  named=$(grep '"verdict": "FAIL"' "$kept.json" | grep -oE '"subject": "(host|link) [^"]*"' | sort -u | cut -d'"' -f4 | grep -vE "^($planted)$" | paste -sd, || true)
  [[ -z $named ]] || false_names=$((false_names + $(tr ',' '\n' <<<"$named" | wc -l)))
  local verdict=wrong
  if grep -qE "^$expected" <<<"$line"; then verdict=right right=$((right + 1)) right_of[$name]=$((${right_of[$name]:-0} + 1)); fi
  launches_of[$name]=$((${launches_of[$name]:-0} + 1))
  awk -v a="$begin" -v b="$EPOCHREALTIME" -v name="$name" -v code=$code -v verdict=$verdict -v line="$line" -v named="$named" \
    'BEGIN {printf "%-16s %5.1f s  exit %d  %s: %s%s\n", name, b - a, code, verdict, line, named == "" ? "" : "; named though well: " named}'
}
repeated() { # launches, then as accept
  local k
  [[ $only == "  " || $only == *" $2 "* ]] || return 0
  for ((k = 0; k < $1; k++)); do accept "${@:2}"; done
}

plan ""
repeated $((10 * launches)) healthy '(PASS|INCONCLUSIVE) ' nobody
"$cluster" rate ${h}3 $slow
repeated "$launches" slow-host "FAIL ${h}3: .*sending and receiving" "host ${h}3"
"$cluster" rate ${h}3 $rate
one_way ${h}3 eth0 $slow
repeated "$launches" slow-sender "FAIL ${h}3: .*when sending($| |,)" "host ${h}3"
"$cluster" rate ${h}3 $rate
one_way $h-switch port3 $slow
repeated "$launches" slow-receiver "FAIL ${h}3: .*when receiving" "host ${h}3"
"$cluster" rate ${h}3 $rate
"$cluster" rate ${h}1 $slow
"$cluster" rate ${h}4 $slow
repeated "$launches" two-slow-hosts "FAIL ${h}[14]: " "host ${h}[14]"
"$cluster" rate all $rate
plan "" 'links = true'
cable 1 4 $slow
repeated "$launches" slow-link "FAIL link ${h}1-${h}4: " "link ${h}1-${h}4"
cable 1 4 none
plan ""
"$cluster" rate all $slow
repeated "$launches" all-slow "FAIL run: half of the pairs reach " nobody
"$cluster" rate all $rate
repeated "$launches" wrong-data "FAIL run: .*rank 4 on ${h}4" nobody --inject flipped-bit:rank=4:every=7
plan 'interface = "eth1"'
for ((k = 0; k < hosts; k++)); do
  ip link add eth1 netns $h$k type veth peer name "second$k" netns $h-switch
  ip -n $h$k link set eth1 up
done
repeated "$launches" wrong-wire "FAIL run: [0-9]+ % of .* GB over eth0, not eth1" nobody
plan ""
repeated "$launches" host-dies "FAIL ${h}2: " "host ${h}2"

recipe_rate=400mbit
"$cluster" rate all $recipe_rate
for ((k = 0; k < ${BUSY:-0}; k++)); do
  while :; do :; done &
  loops+=($!)
done
for kind in recipe quick; do
  case $kind in recipe) given=$source/examples/recipes/bad_node.toml ;; quick) given=quick ;; esac
  for hosts in 4 6; do
    repeated $((10 * launches)) $kind-healthy-$hosts 'PASS \(relative\): ' nobody
    for share in half:200mbit seventy:280mbit; do
      "$cluster" rate ${h}3 "${share#*:}"
      repeated $((10 * launches)) "$kind-${share%:*}-$hosts" "FAIL ${h}3: " "host ${h}3"
    done
    "$cluster" rate ${h}3 $recipe_rate
  done
done
for name in "${!launches_of[@]}"; do printf '%-18s %d of %d\n' "$name" "${right_of[$name]:-0}" "${launches_of[$name]}"; done | sort
printf '%d of %d verdicts right; named though well: %d\n' $right $all $false_names
((right == all && false_names == 0))
