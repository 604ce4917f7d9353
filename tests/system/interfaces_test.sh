#!/usr/bin/env bash
# Hosts with several networks: which interface and family of addresses Gloo's ranks use, as they choose them together and as
# --interface, GLOO_SOCKET_IFNAME and NCCL_SOCKET_IFNAME say.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/cluster_lib.sh"

unset GLOO_SOCKET_IFNAME NCCL_SOCKET_IFNAME
program=("$bin/all_reduce_perf" --backend gloo --sizes 8,100K -n 2 --verbose)
hosts=3

each() { # arguments of ip, in which N is the host's number
  local n
  for ((n = 0; n < hosts; n++)); do ip -n "$CCL_CLUSTER$n" "${@//N/$n}" || fail "ip $* on host $n"; done
}
names() { # host's number, lines of its /etc/hosts
  local n=$1; shift
  { echo "127.0.0.1 localhost"; printf '%s\n' "$@"; } >"/etc/netns/$CCL_CLUSTER$n/hosts"
}
expect_everywhere() { # text on stderr of every rank
  local rank
  for rank in "${!pids[@]}"; do expect_in "$work/err.$rank" "$1"; done
}
used() { expect_in "$work/out" "$1"; } # on rank 0
said() { run_on_hosts 0 "$1" env "$1" "${program[@]}"; used "${1%%=*}"; } # NAME=VALUE
given() { run_on_hosts 0 "--interface $1" "${program[@]}" --interface "$1"; used "$2, chosen by --interface"; }

# Every host has docker0 with one address, listed before eth0, and a name that means its loopback interface, as on Debian.
cluster_up $hosts
first=${CCL_CLUSTER}0 second=${CCL_CLUSTER}1
for ((n = 0; n < hosts; n++)); do ip -n "$CCL_CLUSTER-switch" link del "port$n"; done
each link add docker0 type bridge
each addr add 172.17.0.1/16 dev docker0
each link set docker0 up
for ((n = 0; n < hosts; n++)); do
  ip link add eth0 netns "$CCL_CLUSTER$n" type veth peer name "port$n" netns "$CCL_CLUSTER-switch"
  ip -n "$CCL_CLUSTER-switch" link set "port$n" master br0 up
  ip -n "$CCL_CLUSTER$n" addr add "10.77.0.$((n + 1))/24" dev eth0
  names $n "127.0.1.1 $CCL_CLUSTER$n"
done
each link set eth0 up
master=10.77.0.1
run_on_hosts 0 "docker0 before eth0" "${program[@]}"
used "eth0 10.77.0.1, chosen by the control connection"

# Processes on the first host reach rank 0 over its loopback interface, or over its docker0.
for inside in "$first" 172.17.0.1; do
  pids=()
  for rank in 3 2 1 0; do
    RANK=$rank WORLD_SIZE=4 MASTER_PORT=29500 MASTER_ADDR=$([ $rank = 3 ] && echo 10.77.0.1 || echo "$inside") timeout 100 \
      "$cluster" exec "$CCL_CLUSTER$((rank / 3))" "${program[@]}" >"$work/out.$rank" 2>"$work/err.$rank" </dev/null &
    pids[rank]=$!
  done
  for rank in 0 1 2 3; do
    wait "${pids[rank]}" && pass "beside rank 0, at $inside: rank $rank" || fail "beside rank 0, at $inside: $(cat "$work/err.$rank")"
  done
  expect_in "$work/out.0" "eth0 10.77.0.1, chosen by the control connection"
done
if [ -e "$build/lib/ccl-tests/ccl-mpi-openmpi.so" ] && command -v mpirun.openmpi >/dev/null; then
  run 0 "mpirun, 2 ranks a host" "$cluster" mpirun -n $((2 * hosts)) "${program[@]}"
  used "eth0 10.77.0.1, chosen by the control connection"
else
  echo "SKIP mpirun: no module for Open MPI, or no mpirun.openmpi"
fi

run_on_hosts 2 "one address on several hosts" "${program[@]}" --interface docker0
expect_everywhere "rank 0 on $first (docker0 172.17.0.1, chosen by --interface) and rank 1 on $second (docker0 172.17.0.1, chosen by --interface) have the same address; choose another interface with --interface"
run_on_hosts 2 "loopback on several hosts" "${program[@]}" --interface lo
expect_everywhere "have the same address"
run_on_hosts 2 "loopback on one of several hosts" bash -c '[ "$RANK" = 0 ] && set -- "$@" --interface lo; exec "$@"' sh "${program[@]}"
expect_everywhere "rank 0 on $first (lo 127.0.0.1, chosen by --interface) is not reached from rank 1 on $second (eth0 10.77.0.2, chosen by the control connection)"
run_on_hosts 2 "an interface that is not there" env GLOO_SOCKET_IFNAME=ib9 "${program[@]}"
expect_everywhere "GLOO_SOCKET_IFNAME: there is no interface 'ib9'"
run_on_hosts 2 "another host's address" "${program[@]}" --interface 10.77.0.9
expect_everywhere "--interface: no interface that is up has the address '10.77.0.9'; accepted: "

# docker0 is a network that ends at its host.
each addr flush dev docker0
for ((n = 0; n < hosts; n++)); do ip -n "$CCL_CLUSTER$n" addr add "172.$((17 + n)).0.1/16" dev docker0; done
run_on_hosts 4 "interfaces that do not meet" "${program[@]}" --interface docker0
grep -qE "gloo: .*; from rank [0-2] on .* \(docker0 172.1[789].0.1, chosen by --interface\) to rank [0-2] on .*; choose another interface with --interface" \
  "$work/err.0" || fail "interfaces that do not meet: $(cat "$work"/err.*)"

# docker0 is a network on which all packets are lost.
each addr flush dev docker0
each addr add 172.17.0.1N/16 dev docker0
for n in 0 1 2; do each neigh replace 172.17.0.1$n lladdr 02:00:00:00:00:01 dev docker0; done
run_on_hosts 5 "packets that are lost" "${program[@]}" --interface docker0 --init-timeout 8
grep -qE "gloo: .*; from rank [0-2] on .* \(docker0 172.17.0.1[0-2], chosen by --interface\) to rank [0-2] on .*; choose another interface with --interface" \
  "$work/err.0" || fail "packets that are lost: $(cat "$work/err.0")"

# A second card: in the subnet of the first, the kernel sends by the first; in a subnet of its own, by the second.
for ((n = 0; n < hosts; n++)); do
  ip link add eth1 netns "$CCL_CLUSTER$n" type veth peer name "second$n" netns "$CCL_CLUSTER-switch"
  ip -n "$CCL_CLUSTER-switch" link set "second$n" master br0 up
  ip -n "$CCL_CLUSTER$n" addr add "10.77.0.$((n + 11))/24" dev eth1
done
each link set eth1 up
for choice in "--interface eth1" "GLOO_SOCKET_IFNAME=eth1"; do
  if [[ $choice = -* ]]; then run_on_hosts 8 "two cards in one subnet" "${program[@]}" --interface eth1 -J "$work/wire.{rank}.jsonl"
  else run_on_hosts 8 "two cards in one subnet, $choice" env "$choice" "${program[@]}"; fi
  grep -qE "^# interface: on $CCL_CLUSTER[0-2] [0-9.]+ (MB|B) of the library left by eth0, [0-9.]+ (MB|B) by eth1 \(" "$work/out" || fail "two cards: $(cat "$work/out")"
  used "but bytes left by another interface (exit 8)"
done
if [ -x "$bin/ccl_acceptance" ]; then
  cat >"$work/plan.toml" <<'PLAN'
sanity = { run = false }
full = { programs = ["all_reduce"], sizes = ["64K"], seconds = "0.1" }
scaling = { run = false }
pairs = { seconds = "0.1" }
PLAN
  run_on_hosts 4 "two cards, acceptance by the flag alone" "$bin/ccl_acceptance" "$work/plan.toml" --backend gloo --interface eth1
  used "WRONG_WIRE"
fi
for ((n = 0; n < hosts; n++)); do
  ip -n "$CCL_CLUSTER$n" addr flush dev eth1
  ip -n "$CCL_CLUSTER$n" addr add "10.78.0.$((n + 11))/24" dev eth1
done
run_on_hosts 0 "a second card in a subnet of its own" "${program[@]}" --interface eth1
grep -qE '^# interface: [0-9.]+ MB left by eth1 \(--interface\)$' "$work/out" || fail "a second card: $(cat "$work/out")"
each link del eth1

# What NCCL and Gloo understand.
given eth "eth0 10.77.0.1"
given =eth0 "eth0 10.77.0.1"
given ib0,eth0 "eth0 10.77.0.1"
given ^lo,docker "eth0 10.77.0.1"
given ^=docker0 "eth0 10.77.0.1"
said NCCL_SOCKET_IFNAME==eth0
said NCCL_SOCKET_IFNAME=^docker0,lo
said GLOO_SOCKET_IFNAME=ib0,eth0
run_on_hosts 0 "--interface before the variables" env GLOO_SOCKET_IFNAME=docker0 NCCL_SOCKET_IFNAME=ib9 "${program[@]}" --interface eth0
run_on_hosts 0 "an address for each rank" bash -c 'exec "$@" --interface 10.77.0.$((RANK + 1))' sh "${program[@]}"
used "eth0 10.77.0.1, chosen by --interface"

# The first host's name has an IPv4 address, the others' an IPv6 address.
each addr flush dev eth0
for ((n = 0; n < hosts; n++)); do ip -n "$CCL_CLUSTER$n" addr add "10.77.0.$((n + 1))/24" dev eth0; done
each addr add fd77::1N/64 nodad dev eth0
names 0 "10.77.0.1 $first"
names 1 "fd77::10 $first" "fd77::11 $second"
names 2 "10.77.0.1 $first" "fd77::12 ${CCL_CLUSTER}2"
master=
run_on_hosts 0 "names of different families" "${program[@]}"
master=fd77::10
run_on_hosts 0 "control connections of IPv6" "${program[@]}"
used "eth0 fd77::10, chosen by the control connection"

# One family has to be common.
ip -n "$second" addr del 10.77.0.2/24 dev eth0
master=
run_on_hosts 0 "a host of IPv6 alone among others" "${program[@]}"
used "eth0 fd77::10"
ip -n "${CCL_CLUSTER}2" addr del fd77::12/64 dev eth0
run_on_hosts 3 "no family in common" "${program[@]}" --interface eth0
expect_everywhere "no address family is common: rank 2 on ${CCL_CLUSTER}2 (eth0 10.77.0.3, chosen by --interface) has no IPv6 address, rank 1 on $second (eth0 fd77::11, chosen by --interface) no IPv4 address"

# IPv6 alone, without names. docker0 still has IPv4.
each addr flush dev eth0
each addr add fd77::1N/64 nodad dev eth0
for ((n = 0; n < hosts; n++)); do names $n; done
master=fd77::10
run_on_hosts 0 "IPv6 alone" "${program[@]}"
used "eth0 fd77::10, chosen by the control connection"
given fd77::10,eth0 "eth0 fd77::10"
run_on_hosts 3 "addresses of a link" bash -c 'ip addr flush dev docker0; ip addr add fe80::1/64 dev docker0 nodad; exec "$@" --interface docker0' sh "${program[@]}"
expect_in "$work/err.0" "has no address that is valid beyond its link (docker0 fe80::1%docker0, chosen by --interface)"

# Loopback without IPv4, and not up at all.
ip -n "$first" addr del 127.0.0.1/8 dev lo
run 0 "loopback of IPv6 alone" "$cluster" exec "$first" "${program[@]}" -t 3
used "lo ::1, chosen by all ranks being on one host"
ip -n "$first" link set lo down
run 3 "no loopback" "$cluster" exec "$first" "${program[@]}" -t 3
expect_in "$work/err" "no loopback interface is up"
"$cluster" down

finish
