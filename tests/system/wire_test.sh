#!/usr/bin/env bash
# The wire is a known physical limit. With one rank per host and every link shaped, no program may report more than a link
# carries, and those of Gloo's algorithms that keep every link busy must reach it: a wrong bus factor or a wrong time shows.
# Times are those of the slowest rank (-a 3): in a gather or scatter the others are done earlier.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/cluster_lib.sh"
command -v python3 >/dev/null || { echo "SKIP: no python3 to read the results"; exit 77; }

# GB/s of payload. A frame of 1514 bytes, which is what tbf counts (Ethernet's header, 14, and the 1500 of the MTU), has 1448 of
# it: IP and TCP take 20 each, TCP's time stamps 12.
goodput() { awk -v mbit="$1" 'BEGIN {printf "%.6f", mbit / 8000 * 1448 / 1514}'; }
# judge PROGRAM MBIT LOWEST(GB/s; 0: none) FILE...: the last file against the upper bound, the best of all against the lower.
# 0 right, 1 more than a link carries (or nothing to judge), 2 below the lowest.
judge() {
  local program=$1 mbit=$2 lowest=$3; shift 3
  python3 - "$program" "$(goodput "$mbit")" "$lowest" "$@" <<'PY'
import json, sys
program, limit, lowest, files = sys.argv[1], float(sys.argv[2]), float(sys.argv[3]), sys.argv[4:]
# What a full bucket lets through at once when a batch begins, 2 ms at 1 Gbit/s, and twice that for data that is on its way while the
# slowest rank, which may have to wait for a CPU, leaves the barrier. A wrong bus factor is much more: 1/4 of all data on 4 hosts.
burst = 3 * 262144
best, too_much = {}, False
for path in files:
    cells = [(row["size_bytes"], row["placement"], row) for row in map(json.loads, open(path)) if row["type"] == "row"]
    if not cells:
        sys.exit(f"{program}: no rows")
    for size, half, cell in cells:
        busbw, seconds = cell["busbw_gb_per_s"], cell["time_s"] * cell["iterations"]
        best[half] = max(best.get(half, 0), busbw)
        beyond = (busbw - limit) * 1e9 * seconds
        if path == files[-1]:
            too_much = too_much or beyond > burst
            print(f"{program:15} {size:9} B {half:12} busbw {busbw:.4f} GB/s = {100 * busbw / limit:5.1f} % of what a link carries"
                  f"{f', {beyond / 1024:.0f} KiB beyond' if beyond > 0 else ''}")
sys.exit(1 if too_much else 2 if min(best.values()) < lowest else 0)
PY
}

# Back and forth, a link's bucket would fill up again while the answer is on its way.
form() { [ "$1" = pingpong ] && echo --bidirectional 1; }

# The lower bound gets three more chances, since other work on a small machine can keep the wire waiting. The upper bound gets none.
full=" all_gather all_reduce gather scatter " # Gloo keeps every link, or the root's, busy all the time
check() { # program mbit size
  local program=$1 mbit=$2 size=$3 lowest=0 attempt files=()
  local name="$program $size on $hosts hosts at $mbit Mbit/s"
  [[ $full == *" $program "* && $size == 16M ]] && lowest=$(awk -v g="$(goodput "$mbit")" 'BEGIN {print 0.9 * g}')
  rm -f "$work"/wire*.jsonl
  for attempt in 1 2 3 4; do
    files+=("$work/wire$attempt.jsonl")
    run_on_hosts 0 "$name" "${unhindered[@]}" "$bin/${program}_perf" --backend gloo --interface eth0 \
      -b "$size" -e "$size" -n 2 -w 0 -a 3 $(form "$program") -J "${files[-1]}" || return
    judge "$program" "$mbit" "$lowest" "${files[@]}"
    case $? in
      0) return ;;
      1) fail "$name: more than a link carries"; return ;;
    esac
  done
  fail "$name: below 90 % of what a link carries, four times (load $(cut -d' ' -f1 /proc/loadavg))"
}

check_mpi() { # program mbit size: Open MPI's choice of algorithms fills no wire, so the upper bound only
  local name="$1 $3 over MPI on $hosts hosts at $2 Mbit/s"
  rm -f "$work"/wire*.jsonl
  run 0 "$name" "$cluster" mpirun -n "$hosts" "$bin/${1}_perf" --backend mpi -b "$3" -e "$3" -n 2 -w 0 -a 3 $(form "$1") -J "$work/wire1.jsonl" || return
  judge "$1" "$2" 0 "$work/wire1.jsonl" || fail "$name: more than a link carries"
}

# Before other work where that is allowed: the wire is the subject, and ranks mostly wait for it. (A nice value would count within
# one session only, where the kernel groups processes by session.)
unhindered=()
chrt --rr 1 true 2>/dev/null && unhindered=(chrt --rr 1)
have_mpi=false
if [ ! -e "$build/lib/ccl-tests/ccl-mpi-openmpi.so" ]; then echo "SKIP MPI: this build has no module for Open MPI"
elif ! command -v mpirun.openmpi >/dev/null; then echo "SKIP MPI: no mpirun.openmpi"
else have_mpi=true; fi
for hosts in 3 4; do
  cluster_up $hosts 1gbit
  for program in "${programs[@]}"; do
    [ "$program" = barrier ] && continue
    # A wrong bus factor is wrong on 3 hosts too: on 4 all programs run nightly, those that fill the wire always.
    [[ $hosts == 3 || ${CCL_NIGHTLY:-} == 1 || $full == *" $program "* ]] || continue
    runs_on "$program" "$hosts" || continue
    size=4M
    [[ $full == *" $program "* ]] && size=16M
    check "$program" 1000 $size
    "$have_mpi" && check_mpi "$program" 1000 4M
  done
  "$cluster" rate all 400mbit
  for program in all_reduce all_gather gather scatter; do check $program 400 16M; done
  check sendrecv 400 4M

  # One slow link, to a quarter of the others: the matrix shows whose it is.
  if [ "$hosts" = 4 ]; then
    mapfile -t names < <("$cluster" hosts)
    "$cluster" rate "${names[1]}" 100mbit
    for concurrent in 0 1; do
      run_on_hosts 0 "a slow link, --concurrent $concurrent" "$bin/pingpong_perf" --backend gloo --interface eth0 \
        --sizes 1M -n 2 -w 1 --pairs all --concurrent "$concurrent"
      awk '/time \(us\) between/ {n = NR} n && NR == n + 2 {slow = $4} n && NR == n + 4 {healthy = $3; other = $6}
        END {exit !(slow > 2 * healthy && slow > 2 * other && other > 0)}' "$work/out" || fail "a slow link, --concurrent $concurrent: not in the matrix"
    done
  fi
  "$cluster" down
done
finish
