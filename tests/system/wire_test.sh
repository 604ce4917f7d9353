#!/usr/bin/env bash
# The wire is a known physical limit. Times are those of the slowest rank (-a 3): others of a gather or scatter are done earlier. With one rank per host and every link shaped, no program may report more than the link
# carries, and those of Gloo's algorithms that keep every link busy must reach it: a wrong bus factor or a wrong time shows.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/cluster_lib.sh"
command -v python3 >/dev/null || { echo "SKIP: no python3 to read the results"; exit 77; }

# TCP over Ethernet carries 1448 bytes of payload in a frame that tbf counts as 1514. A bucket holds 256 KiB when a batch begins.
goodput() { awk -v mbit="$1" 'BEGIN {printf "%.6f", mbit / 8000 * 1448 / 1514}'; } # GB/s
judge() { # program mbit lowest(GB/s; 0: none): 0 right, 1 more than the link carries, 2 below the lowest
  python3 - "$work/wire.jsonl" "$1" "$(goodput "$2")" "$3" <<'PY'
import json, sys
path, program, limit, lowest = sys.argv[1], sys.argv[2], float(sys.argv[3]), float(sys.argv[4])
burst = 2 * 262144  # two buckets on the way
rows = [row for row in map(json.loads, open(path)) if row["type"] == "row"]
worst = 0 if rows else 1
for row in rows:
    for half in ("out_of_place", "in_place"):
        cell = row[half]
        busbw, seconds = cell["busbw_gb_per_s"], cell["time_s"] * cell["iterations"]
        print(f"{program:15} {row['size_bytes']:9} B {half:12} busbw {busbw:.4f} GB/s = {100 * busbw / limit:.1f} % of what the link carries")
        if busbw * 1e9 * seconds > limit * 1e9 * seconds + burst:
            print("more than the link carries")
            worst = 1
        elif busbw < lowest and worst == 0:
            worst = 2
sys.exit(worst)
PY
}

# Programs that move data point to point; of them those that Gloo runs on all links at once. A slow moment of the machine gets a
# second chance at the lower bound, and at nothing else.
full=" all_gather all_reduce gather scatter "
check() { # program mbit size
  local program=$1 mbit=$2 size=$3 lowest=0 attempt
  [[ $full == *" $program "* && $size == 16M ]] && lowest=$(awk -v g="$(goodput "$mbit")" 'BEGIN {print 0.9 * g}')
  rm -f "$work"/wire*.jsonl
  for attempt in 1 2; do
    run_on_hosts 0 "$program $size on $hosts hosts at $mbit Mbit/s" "$bin/${program}_perf" --backend gloo --interface eth0 \
      -b "$size" -e "$size" -n 2 -w 0 -a 3 -J "$work/wire.jsonl" || return
    [ "$attempt" -eq 1 ] || mv "$work/wire.0.jsonl" "$work/wire.jsonl"
    judge "$program" "$mbit" "$lowest"
    case $? in
      0) return ;;
      1) fail "$program $size on $hosts hosts at $mbit Mbit/s: more than the link carries"; return ;;
    esac
  done
  fail "$program $size on $hosts hosts at $mbit Mbit/s: below 90 % of what the link carries, twice"
}

for hosts in 3 4; do
  cluster_up $hosts 1gbit
  for program in "${programs[@]}"; do
    [ "$program" = barrier ] && continue
    [ "$program" = hypercube ] && [ "$hosts" = 3 ] && continue
    size=4M
    [[ $full == *" $program "* ]] && size=16M
    check "$program" 1000 $size
  done
  "$cluster" rate all 400mbit
  for program in all_reduce all_gather gather scatter; do check $program 400 16M; done
  check sendrecv 400 4M
  "$cluster" down
done
finish
