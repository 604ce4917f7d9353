#!/usr/bin/env bash
# Several hosts: the script that makes them; every program over Gloo, mpirun with Gloo and MPI, a host that dies, a cable that is
# pulled.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/cluster_lib.sh"

# The script itself.
run 2 "cluster: no command" "$cluster"
run 2 "cluster: bad rate" "$cluster" up 2 fast
run 2 "cluster: a rate that tc cannot have" "$cluster" up 2 1bit
run 2 "cluster: bad number" "$cluster" up many
run 2 "cluster: bad prefix" env CCL_CLUSTER=a1 "$cluster" up 1
run 4 "cluster: not up" "$cluster" hosts
cluster_up 2 1gbit
# As text: a user who is nobody may not be able to read this folder.
run 3 "cluster: without privilege" env -C / setpriv --reuid 65534 --regid 65534 --clear-groups \
  bash -c "$(cat "$cluster")" cluster rate all none
expect_in "$work/err" "CAP_SYS_ADMIN"
first=${CCL_CLUSTER}0 second=${CCL_CLUSTER}1
run 4 "cluster: up twice" "$cluster" up 2
run 0 "cluster: another one, whose name begins alike" env CCL_CLUSTER="${CCL_CLUSTER:0:7}z" "$cluster" up 1
run 0 "cluster: the other one removed" env CCL_CLUSTER="${CCL_CLUSTER:0:7}z" "$cluster" down
run 0 "cluster: hosts" "$cluster" hosts
[ "$(cat "$work/out")" = "$first"$'\n'"$second" ] || fail "cluster: hosts prints $(cat "$work/out")"
run 2 "cluster: unknown host" "$cluster" exec nobody true
run 9 "cluster: a command's exit code" "$cluster" exec "$second" bash -c 'exit 9'
run 0 "cluster: a name of its own" "$cluster" exec "$second" hostname
expect_in "$work/out" "$second"
run 0 "cluster: another host's name" "$cluster" exec "$second" getent hosts "$first"
expect_in "$work/out" 10.77.0.1
run 0 "cluster: another rate" "$cluster" rate "$second" 500mbit
for end in "$second eth0" "${CCL_CLUSTER}-switch port1"; do
  tc -n "${end% *}" qdisc show dev "${end#* }" | grep -q "tbf.* rate 500Mbit" || fail "cluster: $end is not shaped"
done
"$cluster" exec "$first" sleep 60 &
signalled=$!
"$cluster" exec "$second" bash -c 'trap "" TERM; sleep 60; sleep 60' &
disown
for host in "$first" "$second"; do
  for _ in $(seq 100); do [ -n "$(ip netns pids "$host")" ] && break; sleep 0.1; done
done
kill -TERM "$signalled"
wait "$signalled"
code=$?
[ "$code" -eq 143 ] && pass "cluster: a signal reaches the command" || fail "cluster: a signal: exit $code, expected 143"
run 0 "cluster: down" "$cluster" down
ip netns list | grep -q "^$CCL_CLUSTER" && fail "cluster: down leaves namespaces"
for host in "$first" "$second"; do [ -e "/etc/netns/$host" ] && fail "cluster: down leaves /etc/netns/$host"; done
run 0 "cluster: down twice" "$cluster" down

for hosts in 3 4; do
  cluster_up $hosts
  for program in "${programs[@]}"; do
    if [ "$program" = hypercube ] && [ "$hosts" = 3 ]; then
      run_on_hosts 3 "hypercube refuses 3 hosts" "$bin/hypercube_perf" --backend gloo --interface eth0 --sizes 8 -n 2
      continue
    fi
    taken "$program" --sizes 8,4000,100K -n 2 -w 1 -d float,int8
    run_on_hosts 0 "$program, $hosts hosts" "$bin/${program}_perf" --backend gloo --interface eth0 "${words[@]}"
    expect_in "$work/out" "# Out of bounds values : 0 OK"
    expect_in "$work/out" "# Ranks: $hosts processes on $hosts hosts, 1 on each"
    for ((rank = 0; rank < hosts; rank++)); do
      grep -qE "^#  Rank +$rank .* on +$CCL_CLUSTER$rank device  0 " "$work/out" || fail "no line of rank $rank on its host"
    done
  done
  run_on_hosts 0 "2 ranks on each of $hosts hosts" "$bin/all_reduce_perf" --backend gloo --interface eth0 -t 2 --sizes 8,100K -n 2
  expect_in "$work/out" "# Ranks: $((2 * hosts)) threads of $hosts processes on $hosts hosts, 2 on each"
  run_on_hosts 0 "an interface for Gloo to choose, $hosts hosts" "$bin/all_reduce_perf" --backend gloo --sizes 8,100K -n 2

  # Machines of their own, whose clocks are hours apart: moments of their ranks are compared all the same.
  if unshare --time --mount --fork true 2>/dev/null; then
    printf '#!/bin/sh\necho "boot$RANK" >"%s.$RANK"\nexec unshare --time --monotonic $((RANK * 4000)) --mount --fork sh -c %s sh "%s.$RANK" "$@"\n' \
      "$work/boot" "'mount --bind \"\$1\" /proc/sys/kernel/random/boot_id && shift && exec \"\$@\"'" "$work/boot" >"$work/other_machine"
    chmod +x "$work/other_machine"
    run_on_hosts 0 "clocks that are hours apart, $hosts hosts" "$work/other_machine" "$bin/all_reduce_perf" --backend gloo --interface eth0 \
      --sizes 4M --samples -J "$work/clocks$hosts.jsonl"
    python3 - "$work/clocks$hosts.jsonl" "$hosts" <<'END' || fail "clocks that are hours apart: $(cat "$work/clocks$hosts.jsonl")"
import json, sys
cells = [line for line in map(json.loads, open(sys.argv[1])) if line["type"] == "row"]
assert len(cells) == 2
for cell in cells:
    assert 0 < cell["clock_error_s"] <= 0.2 * cell["time_s"]
    assert cell["bracket_low_s"] <= cell["time_s"] <= cell["bracket_high_s"]
    assert cell["skew_s"] < 60 and len(cell["late_share"]) == int(sys.argv[2])
END
  else
    echo "SKIP clocks that are hours apart: no time namespaces here"
  fi

  if [ -e "$build/lib/ccl-tests/ccl-mpi-openmpi.so" ] && command -v mpirun.openmpi >/dev/null; then
    for backend in mpi gloo; do
      run 0 "mpirun, $backend, $hosts hosts" "$cluster" mpirun -n $hosts "$bin/all_reduce_perf" --backend $backend --sizes 8,100K -n 2
      expect_in "$work/out" "# Ranks: $hosts processes on $hosts hosts, 1 on each"
      expect_in "$work/out" "# Out of bounds values : 0 OK"
    done
    run 0 "mpirun, 2 ranks a host" "$cluster" mpirun -n $((2 * hosts)) "$bin/alltoall_perf" --backend mpi --sizes 8,100K -n 2
    expect_in "$work/out" "# Ranks: $((2 * hosts)) processes on $hosts hosts, 2 on each"
  else
    echo "SKIP mpirun: no module for Open MPI, or no mpirun.openmpi"
  fi

  # Everything on host 1 dies in the middle of a run: the others end soon and name it.
  # Exit 4 says that it is the host's end which ended them; at the limit of a wait they would exit 5, a minute later.
  : >"$work/out.0"
  start_on_hosts "$bin/all_reduce_perf" --backend gloo --interface eth0 -b 1M -e 1M -n 5 -N 0 -T 60
  wait_for_rows 2 "$work/out.0"
  for pid in $(ip netns pids "${CCL_CLUSTER}1"); do kill -KILL "$pid"; done
  SECONDS=0
  for ((rank = hosts - 1; rank >= 0; rank--)); do
    wait "${pids[rank]}" 2>/dev/null
    code=$?
    [ "$rank" = 1 ] && continue
    [ "$code" -eq 4 ] && pass "a dead host, as rank $rank of $hosts sees it" || fail "a dead host: rank $rank: exit $code, expected 4"
    expect_in "$work/err.$rank" "rank 1 on ${CCL_CLUSTER}1"
  done
  [ "$SECONDS" -lt 30 ] || fail "a dead host: the others ended after $SECONDS s"
  "$cluster" down
done

# Rank 0 is not where its variables say: on the second host of three.
cluster_up 3
lost() { # expected code, rank that is looked at, words of it, NAME=VALUE...
  local code=$1 rank=$2 words=$3 host=1 i; shift 3
  pids=()
  for i in 0 1 2; do
    timeout 100 "$cluster" exec "${CCL_CLUSTER}$host" env "$@" RANK=$i SLURM_PROCID=$i "$bin/all_reduce_perf" --launcher "$launcher" \
      --backend gloo -b 8 -e 8 -n 2 --init-timeout 10 >"$work/out.$i" 2>"$work/err.$i" </dev/null &
    pids+=("$!")
    host=$(((host + 1) % 3))
  done
  wait "${pids[rank]}"
  i=$?
  [ $i -eq "$code" ] && pass "$words" || fail "$words: rank $rank: exit $i, expected $code"
  expect_in "$work/err.$rank" "$words"
  wait
}
launcher=slurm
lost 4 0 "rank 0 does not find itself at ${CCL_CLUSTER}0:12001 (SLURM_STEP_NODELIST and SLURM_STEP_RESV_PORTS)" \
  SLURM_STEP_NUM_TASKS=3 SLURM_STEP_NUM_NODES=3 SLURM_STEP_NODELIST="$CCL_CLUSTER[0-2]" SLURM_STEP_RESV_PORTS=12001
expect_in "$work/err.0" "set MASTER_ADDR"
launcher=env
lost 4 0 "10.77.0.3 is no address of this host, ${CCL_CLUSTER}1, which is rank 0's" WORLD_SIZE=3 MASTER_ADDR=10.77.0.3
lost 5 1 "127.0.0.1 is this host itself: if rank 0 is on another host, set MASTER_ADDR" WORLD_SIZE=3 MASTER_ADDR=127.0.0.1
expect_in "$work/err.0" "MASTER_ADDR=127.0.0.1 is for ranks on this host only"
"$cluster" down

# A cable is pulled: nothing says goodbye; the limits of waits end the run.
cluster_up 3
: >"$work/out.0"
start_on_hosts "$bin/all_reduce_perf" --backend gloo --interface eth0 -b 1M -e 1M -n 5 -N 0 -T 5 -J "$work/pulled.jsonl"
wait_for_rows 2 "$work/out.0"
"$cluster" link "${CCL_CLUSTER}1" down
for rank in 0 1 2; do
  wait "${pids[rank]}"
  code=$?
  case $code in
    4 | 5) pass "a pulled cable, as rank $rank sees it: exit $code" ;;
    *) fail "a pulled cable: rank $rank: exit $code" ;;
  esac
  grep -qE "rank [0-2](/3)? on ${CCL_CLUSTER}[0-2]" "$work/err.$rank" ||
    fail "a pulled cable: rank $rank names no rank and host: $(cat "$work/err.$rank")"
done
[ "$(grep -c '"type":"row"' "$work/pulled.jsonl")" -ge "$(grep -cE '^ +[0-9]' "$work/out.0")" ] || fail "rows are missing in the file"
"$cluster" down

finish
