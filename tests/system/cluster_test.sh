#!/usr/bin/env bash
# Several hosts: every program over Gloo, mpirun with Gloo and MPI, a host that dies, a cable that is pulled.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/cluster_lib.sh"

for hosts in 3 4; do
  cluster_up $hosts
  for program in "${programs[@]}"; do
    [ "$program" = hypercube ] && [ "$hosts" = 3 ] && continue
    run_on_hosts 0 "$program, $hosts hosts" "$bin/${program}_perf" --backend gloo --interface eth0 --sizes 8,4000,100K -n 2 -d float,int8
    expect_in "$work/out" "# Out of bounds values : 0 OK"
    expect_in "$work/out" "# $hosts ranks on $hosts hosts: 1 on each"
    for ((rank = 0; rank < hosts; rank++)); do
      grep -qE "^#  Rank +$rank .* on +$CCL_CLUSTER$rank device  0 " "$work/out" || fail "no line of rank $rank on its host"
    done
  done
  run_on_hosts 0 "2 ranks on each of $hosts hosts" "$bin/all_reduce_perf" --backend gloo --interface eth0 -t 2 --sizes 8,100K -n 2
  expect_in "$work/out" "# $((2 * hosts)) ranks on $hosts hosts: 2 on each"
  run_on_hosts 0 "an interface for Gloo to choose, $hosts hosts" "$bin/all_reduce_perf" --backend gloo --sizes 8,100K -n 2

  if [ -e "$build/lib/ccl-tests/ccl-mpi-openmpi.so" ] && command -v mpirun.openmpi >/dev/null; then
    for backend in mpi gloo; do
      run 0 "mpirun, $backend, $hosts hosts" "$cluster" mpirun -n $hosts "$bin/all_reduce_perf" --backend $backend --sizes 8,100K -n 2
      expect_in "$work/out" "# $hosts ranks on $hosts hosts: 1 on each"
      expect_in "$work/out" "# Out of bounds values : 0 OK"
    done
    run 0 "mpirun, 2 ranks a host" "$cluster" mpirun -n $((2 * hosts)) "$bin/alltoall_perf" --backend mpi --sizes 8,100K -n 2
    expect_in "$work/out" "# $((2 * hosts)) ranks on $hosts hosts: 2 on each"
  else
    echo "SKIP mpirun: no module for Open MPI, or no mpirun.openmpi"
  fi

  # Everything on host 1 dies in the middle of a run: the others end soon and name it.
  : >"$work/out.0"
  start_on_hosts "$bin/all_reduce_perf" --backend gloo --interface eth0 -b 1M -e 1M -n 5 -N 0 -T 10
  for _ in $(seq 200); do [ "$(grep -cE '^ +[0-9]' "$work/out.0")" -ge 2 ] && break; sleep 0.1; done
  for pid in $(ip netns pids "${CCL_CLUSTER}1"); do kill -KILL "$pid"; done
  SECONDS=0
  for rank in 0 2; do
    wait "${pids[rank]}"
    code=$?
    [ "$code" -eq 4 ] && pass "a dead host, as rank $rank sees it" || fail "a dead host: rank $rank: exit $code, expected 4"
    expect_in "$work/err.$rank" "rank 1 on ${CCL_CLUSTER}1"
  done
  [ "$SECONDS" -le 8 ] || fail "a dead host: the others ended after $SECONDS s"
  wait
  "$cluster" down
done

# A cable is pulled: nothing says goodbye; the limits of waits end the run.
cluster_up 3
: >"$work/out.0"
start_on_hosts "$bin/all_reduce_perf" --backend gloo --interface eth0 -b 1M -e 1M -n 5 -N 0 -T 5 -J "$work/pulled.jsonl"
for _ in $(seq 200); do [ "$(grep -cE '^ +[0-9]' "$work/out.0")" -ge 2 ] && break; sleep 0.1; done
"$cluster" link "${CCL_CLUSTER}1" down
for rank in 0 1 2; do
  wait "${pids[rank]}"
  code=$?
  case $code in
    4 | 5) pass "a pulled cable, as rank $rank sees it: exit $code" ;;
    *) fail "a pulled cable: rank $rank: exit $code" ;;
  esac
  [ -s "$work/err.$rank" ] || fail "a pulled cable: rank $rank says nothing"
done
[ "$(grep -c '"type":"row"' "$work/pulled.jsonl")" -ge "$(grep -cE '^ +[0-9]' "$work/out.0")" ] || fail "rows are missing in the file"
"$cluster" down

run 2 "cluster: no command" "$cluster"
run 2 "cluster: bad rate" "$cluster" up 2 fast
run 2 "cluster: bad number" "$cluster" up many
run 4 "cluster: not up" "$cluster" hosts
finish
