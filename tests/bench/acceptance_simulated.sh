#!/usr/bin/env bash
# The whole of ccl_acceptance on simulated clusters (SimGrid) with planted faults: tests/bench/acceptance_simulated.sh [BUILD] [SCENARIO...]
# BUILD [build] has simulated ranks. Without a SCENARIO: all. Ranks exchange real messages over the modelled network; without noise, so that
# a scenario has one outcome. Prints verdict, rounds, pairs measured, time at the default 0.2 s a direction and 0.1 s between rounds, and who was
# named that is well. Verdicts stay in $CCL_SIMULATED [a temporary folder]. Ends with 1 if a scenario names others than the planted.
set -euo pipefail
export LC_ALL=C
source=$(cd "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
build=$source/build
if (($#)) && [[ -d $1 ]]; then build=$(cd "$1" && pwd); shift; fi
export BUILD=$build
work=${CCL_SIMULATED:-$(mktemp -d)}
mkdir -p "$work"

# name hosts racks links; then what is planted, as flags of platform.sh, and what has to be named
scenarios='
healthy-64       64  0 false
link-64          64  0 true  --slow-pair=9-40:0.7      link:host-9-host-40
healthy-232     232  0 false
host-232        232  0 false --slow-host=17:0.7        host:host-17
sender-232      232  0 false --slow-send=17:0.7        host:host-17
hosts-3-of-232  232  0 false --slow-host=17:0.7,--slow-host=100:0.7,--slow-host=231:0.7 host:host-17,host:host-100,host:host-231
hosts-5-of-232  232  0 false --slow-host=0:0.7,--slow-host=17:0.7,--slow-host=18:0.7,--slow-host=100:0.7,--slow-host=231:0.7 host:host-0,host:host-17,host:host-18,host:host-100,host:host-231
rack-232        232 29 false --slow-rack=3:0.5         rack:of_host-24_and_7_more
link-232        232  0 true  --slow-pair=9-140:0.7     link:host-9-host-140
'
failed=0
printf '%-15s %5s %-40s %6s %6s %9s %s\n' scenario hosts verdict rounds pairs time named
while read -r name hosts racks links planted expected; do
  [[ -n $name ]] || continue
  if (($#)) && [[ " $* " != *" $name "* ]]; then continue; fi
  folder=$work/$name
  mkdir -p "$folder"
  read -ra flags < <(tr ',=' '  ' <<<"$planted")
  ((racks == 0)) || flags+=(--racks "$racks")
  "$source/scripts/platform.sh" "$hosts" "${flags[@]}" >"$folder/platform.xml"
  {
    printf 'name = "%s"\nsanity = { run = false }\nnode = { run = false }\nscaling = { run = false }\n' "$name"
    ((racks == 0)) || awk -v n="$hosts" -v racks="$racks" 'BEGIN {
      printf "racks = ["
      for (h = 0; h < n; h++) {
        rack = int(h * racks / n)
        printf "%s\"host-%d\"", h == 0 ? "[" : rack == last ? ", " : "],\n [", h
        last = rack
      }
      print "]]" }'
    printf '[full]\nprograms = ["all_reduce"]\nsizes = ["64K"]\nseconds = "0.001"\n'
    printf '[pairs]\nsize = "256K"\nseconds = "0.001"\nmin_bandwidth = "800 MB/s"\nlinks = %s\n' "$links"
  } >"$folder/plan.toml"
  begin=$SECONDS
  code=0
  "$source/scripts/simulate.sh" "$hosts" "$folder/platform.xml" ccl_acceptance "$folder/plan.toml" --verdict "$folder/verdict.json" \
    >"$folder/out" 2>"$folder/err" || code=$?
  rm "$folder/platform.xml"
  python3 - "$folder/verdict.json" "$name" "$hosts" "$expected" "$code" $((SECONDS - begin)) <<'P' || failed=1
import json, re, sys
path, name, hosts, expected, code, seconds = sys.argv[1:]
run = json.load(open(path))
if not run["complete"]:
    sys.exit(f"{name}: not complete: {run['headline']}")
checks = {check["id"]: check for check in run["checks"]}
rounds = int(re.match(r"(\d+) rounds", checks["pairs/hosts"]["text"]).group(1))
named = {check["subject"].replace(" ", ":", 1).replace(" ", "_") for check in run["checks"]
         if check["stage"] == "pairs" and check["verdict"] == "FAIL" and check["subject"] != "run"}
planted = set(expected.split(",")) - {""}
right = named == planted and run["verdict"] == ("FAIL" if planted else "PASS")
print(f"{name:15} {hosts:>5} {run['headline'][:40]:40} {rounds:>6} {rounds * (int(hosts) // 2):>6} {rounds * 0.5:>7.0f} s "
      f"{len(named & planted)} of {len(planted)}, {len(named - planted)} that are well; exit code {code}, {seconds} s here", flush=True)
if not right:
    print(f"  named: {sorted(named)}, planted: {sorted(planted)}")
sys.exit(0 if right else 1)
P
done <<<"$scenarios"
exit "$failed"
