#!/usr/bin/env bash
# How far mesh_perf's ratios repeat: tests/bench/mesh_repeat.sh FOLDER [BUILD [RUNS [RATE]]]
# RUNS [10] runs over Gloo of 8 ranks on two hosts, which are network namespaces with links of RATE [200mbit]. dp and pp cross
# the link, tp stays in a host. Leaves run.1.jsonl, ... and what run.1 printed in FOLDER, and prints of each run how many of
# its intervals hold the geometric mean of the other runs' ratios. Needs root.
set -euo pipefail
export LC_ALL=C
source=$(cd "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
folder=${1:?usage: tests/bench/mesh_repeat.sh FOLDER [BUILD [RUNS [RATE]]]}
build=$(cd "${2:-$source/build}" && pwd)
runs=${3:-10} rate=${4:-200mbit}
mkdir -p "$folder"
cluster=$source/scripts/netns_cluster.sh
export CCL_CLUSTER=meshrep
"$cluster" up 2 "$rate"
trap '"$cluster" down' EXIT
host_of=(0 1 0 1 1 0 1 0) # of rank 4 dp + 2 tp + pp: dp xor pp

one_run() { # number
  local rank pids=() code=0
  rm -f "$folder/run.$1.jsonl"
  for rank in 7 6 5 4 3 2 1 0; do
    RANK=$rank WORLD_SIZE=8 MASTER_ADDR=${CCL_CLUSTER}0 MASTER_PORT=29500 "$cluster" exec "$CCL_CLUSTER${host_of[rank]}" \
      "$build/bin/mesh_perf" --backend gloo --interface eth0 --mesh dp=2,tp=2,pp=2 \
      --do "${DO:-tp:all_reduce:64K,dp:reduce_scatter:64K,pp:sendrecv:32K}" --rounds "${ROUNDS:-8}" --turn-time "${TURN:-0.05}" \
      -J "$folder/run.$1.jsonl" --seed "$1" >"$folder/out.$rank" 2>"$folder/err.$rank" </dev/null &
    pids+=($!)
  done
  for rank in "${pids[@]}"; do wait "$rank" || code=$?; done
  if [ "$code" -ne 0 ]; then cat "$folder"/err.*; fi
  if [ "$1" = 1 ]; then cp "$folder/out.0" "$folder/run.1.txt"; fi
  rm -f "$folder"/out.? "$folder"/err.?
  printf 'run %s: exit %s\n' "$1" "$code"
}
for ((k = 1; k <= runs; k++)); do
  one_run "$k"
done
python3 - "$folder" "$runs" <<'PY'
import json, math, sys
folder, runs = sys.argv[1], int(sys.argv[2])
found = {}  # (victim, beside): [ratio of each run]
for run in range(1, runs + 1):
    for line in map(json.loads, open(f"{folder}/run.{run}.jsonl")):
        if line["type"] == "mesh_slowdown":
            found.setdefault((line["victim"], " + ".join(line["beside"])), {})[run] = line["ratio"]
held_by_run = {run: 0 for run in range(1, runs + 1)}
known_in_run = dict(held_by_run)
for (victim, beside), ratios in found.items():
    known = {run: r for run, r in ratios.items() if r}
    held = 0
    for run, r in known.items():
        known_in_run[run] += 1
        others = [math.log(o["value"]) for k, o in known.items() if k != run]
        inside = r["low"] <= math.exp(sum(others) / len(others)) <= r["high"] if others else False
        held += inside
        held_by_run[run] += inside
    values = [r["value"] for r in known.values()]
    width = [(r["high"] - r["low"]) / 2 / r["value"] for r in known.values()]
    print(f"{victim} beside {beside}: {min(values):.3f} to {max(values):.3f}, intervals +-{100 * sum(width) / len(width):.1f} %;"
          f" {held} of {len(known)} hold the others' mean")
for run, held in held_by_run.items():
    print(f"run {run}: {held} of {known_in_run[run]}")
print(f"in all {sum(held_by_run.values())} of {sum(known_in_run.values())}")
PY
