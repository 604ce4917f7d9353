#!/usr/bin/env bash
# ccl_acceptance on simulated hosts: a slow link among 64 hosts, a host that is slow one way, a rack's uplink, a healthy cluster; platforms.
# tests/bench/acceptance_simulated.sh has the scenarios of 232 hosts.
. "$(dirname "$0")/lib.sh"
source=$(cd "$(dirname "$0")/../.." && pwd)
export BUILD=$build
need_simulated ccl_acceptance

plan() { # links of pairs, then more lines
  printf 'name = "simulated"\n%s\nsanity = { run = false }\nnode = { run = false }\nscaling = { run = false }\n' "$2"
  printf '[full]\nprograms = ["all_reduce"]\nsizes = ["8K"]\nseconds = "0.001"\n'
  printf '[pairs]\nsize = "64K"\nseconds = "0.001"\nmin_bandwidth = "500 MB/s"\nlinks = %s\n' "$1"
}
accept() { # expected code, name, hosts, flags of platform.sh
  local code=$1 name=$2 hosts=$3
  shift 3
  "$source/scripts/platform.sh" "$hosts" "$@" >"$work/platform.xml" || fail "$name: no platform"
  run "$code" "$name" "$source/scripts/simulate.sh" "$hosts" "$work/platform.xml" ccl_acceptance "$work/plan.toml" --verdict "$work/v.json" --hosts-out "$work/hosts"
}
first_line() { [[ "$(head -n 1 "$work/out")" == "$1"* ]] || fail "the first line is not '$1...': $(head -n 1 "$work/out")"; }

plan false '' >"$work/plan.toml"
accept 0 "16 healthy hosts" 16
first_line "PASS 16 hosts, 16 ranks"
accept 6 "16 hosts, one slow when it sends" 16 --slow-send 5:0.7
first_line "FAIL host-5: "
expect_in "$work/out" "when sending"
expect_in "$work/hosts" "host-5"
[ "$(wc -l <"$work/hosts")" -eq 1 ] || fail "not one host to leave out: $(cat "$work/hosts")"
grep -q '"id": *"rest/data"' "$work/v.json" || fail "the rest was not looked at"
accept 0 "16 hosts, one slower by less than the plan asks for" 16 --slow-host 5:0.9
first_line "WARN host-5: "
expect_in "$work/v.json" "less than the plan's 10 %"
[ ! -s "$work/hosts" ] || fail "a host that is good enough is left out: $(cat "$work/hosts")"
accept 6 "16 hosts, two of them slow" 16 --slow-host 3:0.6 --slow-host 11:0.6
[ "$(sort "$work/hosts" | paste -sd' ')" = "host-11 host-3" ] || fail "not the two slow hosts: $(cat "$work/hosts")"
accept 6 "16 hosts, all slow alike" 16 --gbps 3
expect_in "$work/v.json" '"ALL_SLOW"'
[ ! -s "$work/hosts" ] || fail "somebody was blamed: $(cat "$work/hosts")"

plan true '' >"$work/plan.toml"
accept 6 "64 hosts, one slow link" 64 --slow-pair 9-40:0.7
first_line "FAIL link host-9-host-40: "
[ ! -s "$work/hosts" ] || fail "a host was blamed for a link: $(cat "$work/hosts")"

racks() { # hosts, those of a rack
  local host
  printf 'racks = [['
  for host in $(seq 0 $(($1 - 1))); do
    printf '"host-%s"' "$host"
    if ((host == $1 - 1)); then printf ']]'; elif ((host % $2 == $2 - 1)); then printf '], ['; else printf ', '; fi
  done
}
# What a barrier leaves ranks apart by must not look like a difference between hosts: 16 hosts in racks of 4, at 64K.
for size in 4 6; do
  plan false "$(racks $((4 * size)) $size)" >"$work/plan.toml"
  accept 6 "$((4 * size)) hosts in 4 racks, a slow uplink" $((4 * size)) --racks 4 --slow-rack 2:0.5
  first_line "FAIL rack of host-$((2 * size)) and $((size - 1)) more: "
  expect_in "$work/v.json" '"SLOW_UPLINK"'
  [ ! -s "$work/hosts" ] || fail "hosts were blamed for their rack's uplink: $(cat "$work/hosts")"
done

# Platforms.
run 0 "help" "$source/scripts/platform.sh" --help
expect_in "$work/out" "--slow-pair"
run 2 "no hosts" "$source/scripts/platform.sh"
run 2 "one host" "$source/scripts/platform.sh" 1
run 2 "no such host" "$source/scripts/platform.sh" 4 --slow-host 4:0.5
expect_in "$work/err" "there is no 4; accepted: 0 to 3"
run 2 "a number that no host has" "$source/scripts/platform.sh" 4 --slow-host 03:0.5
run 2 "a pair of one host" "$source/scripts/platform.sh" 4 --slow-pair 3-3:0.5
expect_in "$work/err" "accepted: two hosts"
run 2 "more ranks than hosts" "$source/scripts/simulate.sh" 25 "$work/platform.xml" ccl_acceptance "$work/plan.toml"
expect_in "$work/err" "accepted: up to 24"
run 2 "a share above 1" "$source/scripts/platform.sh" 4 --slow-host 3:1.5
run 2 "a rate of nothing" "$source/scripts/platform.sh" 4 --gbps 0
run 2 "an unknown flag" "$source/scripts/platform.sh" 4 --fast-host 1:2
run 2 "a plan on simulated ranks" "$source/scripts/simulate.sh" 2 fat_tree ccl_acceptance --plan
finish
