#!/usr/bin/env bash
# Several hosts on one machine: network namespaces on a switch (a bridge in a namespace of its own), each with its own hostname
# and address, their links shaped to a rate. Nothing appears in the machine's own network.
# Exit codes: the command's own for exec and mpirun; 2 usage, 3 not available here, 4 failed.
set -euo pipefail
export LC_ALL=C
usage='usage: scripts/netns_cluster.sh COMMAND
  up N [RATE]          makes hosts PREFIX0 .. PREFIX(N-1); RATE is 8kbit to 400gbit (1gbit, 500mbit), default: not shaped
  hosts                prints their names
  rate HOST|all RATE   shapes a link in both directions; "none": not shaped
  link HOST up|down    plugs and unplugs the cable
  exec HOST COMMAND... runs a command on a host
  mpirun ARGUMENTS...  Open MPI over all hosts, from the first; ranks go round the hosts
  mpich ARGUMENTS...   MPICH, in the same way; -hosts PREFIX0:1,PREFIX1:2 places ranks
  down                 ends what runs there and removes everything
PREFIX is the environment variable CCL_CLUSTER, default "ccl": clusters of different names do not meet. All but hosts need
root (CAP_SYS_ADMIN and CAP_NET_ADMIN).'
die() { local code=$1; shift; printf 'netns_cluster: %s\n' "$*" >&2; exit "$code"; }
prefix=${CCL_CLUSTER:-ccl}
# No digits: host 20 of "a1" would be host 0 of "a12".
[[ $prefix =~ ^[a-z]{1,8}$ ]] || die 2 "CCL_CLUSTER: '$prefix'; accepted: up to 8 lower case letters"
switch=$prefix-switch
self=$(cd "$(dirname "$0")" && pwd)/$(basename "$0")

hosts() { ip netns list | awk '{print $1}' | grep -E "^${prefix}[0-9]+$" | sort -V || true; }
must_be_up() { [ -n "$(hosts)" ] || die 4 "the cluster '$prefix' is not up"; }
must_be_host() { hosts | grep -qx -- "$1" || die 2 "there is no host '$1'; accepted: $(hosts | tr '\n' ' ')"; }
must_be_rate() {
  local -A unit=([kbit]=1 [mbit]=1000 [gbit]=1000000)
  [ "$1" = none ] && return
  [[ $1 =~ ^([1-9][0-9]{0,8})([kmg]bit)$ ]] && ((BASH_REMATCH[1] * unit[${BASH_REMATCH[2]}] >= 8)) &&
    ((BASH_REMATCH[1] * unit[${BASH_REMATCH[2]}] <= 400000000)) || die 2 "RATE: '$1'; accepted: none, or 8kbit to 400gbit"
}
must_be_allowed() { # bits 12 and 21: CAP_NET_ADMIN and CAP_SYS_ADMIN
  local have=$((16#$(awk '/^CapEff:/ {print $2}' /proc/self/status))) need=$((1 << 12 | 1 << 21))
  (((have & need) == need)) || die 3 "network namespaces need root (CAP_SYS_ADMIN and CAP_NET_ADMIN)"
}
must_have() { local p; for p in "$@"; do command -v "$p" >/dev/null || die 3 "no $p (packages iproute2, util-linux)"; done; }
must_be_up_here() { must_have ip tc unshare; must_be_allowed; must_be_up; }
port_of() { echo "port${1#"$prefix"}"; }

# A token bucket at each end: what the host sends, and what the switch sends to it.
shape() {
  local host=$1 rate=$2 end
  for end in "$host eth0" "$switch $(port_of "$host")"; do
    # shellcheck disable=SC2086
    set -- $end
    if [ "$rate" = none ]; then
      tc -n "$1" qdisc del dev "$2" root 2>/dev/null || true
    else
      tc -n "$1" qdisc replace dev "$2" root tbf rate "$rate" burst 256kb latency 50ms
    fi
  done
}

up() {
  local n=$1 rate=$2 i host
  [[ $n =~ ^[1-9][0-9]?$ ]] || die 2 "N: '$n'; accepted: 1 to 99"
  must_be_rate "$rate"
  must_have ip tc unshare
  must_be_allowed
  ! ip netns list | grep -qE "^${prefix}([0-9]+|-switch)( |$)" || die 4 "the cluster '$prefix' is up already: $self down"
  ip netns add "$switch" || die 3 "cannot make a network namespace here"
  trap undo EXIT
  ip -n "$switch" link add br0 type bridge
  ip -n "$switch" link set br0 up
  for ((i = 0; i < n; i++)); do
    host=$prefix$i
    ip netns add "$host"
    ip link add eth0 netns "$host" type veth peer name "$(port_of "$host")" netns "$switch"
    ip -n "$switch" link set "$(port_of "$host")" master br0 up
    ip -n "$host" addr add "10.77.0.$((i + 1))/24" dev eth0
    ip -n "$host" link set lo up
    ip -n "$host" link set eth0 up
    # ip netns exec shows this file as /etc/hosts.
    mkdir -p "/etc/netns/$host"
    { echo "127.0.0.1 localhost"; for ((k = 0; k < n; k++)); do echo "10.77.0.$((k + 1)) $prefix$k"; done; } >"/etc/netns/$host/hosts"
  done
  for host in $(hosts); do shape "$host" "$rate"; done
  trap - EXIT
}
undo() { # what ip or tc said is on stderr
  trap - EXIT
  down
  die 3 "this machine cannot have such a network; what had been made is removed"
}

all_pids() { local host; for host in $(hosts); do ip netns pids "$host" 2>/dev/null || true; done; }
end_all() { local pid; for pid in $(all_pids); do kill "-$1" "$pid" 2>/dev/null || true; done; }
down() {
  local host
  end_all TERM
  for _ in $(seq 20); do [ -z "$(all_pids)" ] && break; sleep 0.1; done
  end_all KILL
  for host in $(hosts); do
    ip netns del "$host" || true
    rm -rf "/etc/netns/${host:?}"
  done
  rmdir /etc/netns 2>/dev/null || true
  ip netns del "$switch" 2>/dev/null || true
}

on_host() { # host command...
  local host=$1; shift
  exec ip netns exec "$host" unshare --uts bash -c 'hostname "$0"; exec "$@"' "$host" "$@"
}

run_mpi() {
  command -v mpirun.openmpi >/dev/null || die 3 "no mpirun.openmpi (package openmpi-bin)"
  local list; list=$(hosts | sed 's/$/:64/' | paste -sd,)
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  # All hosts share one machine's cores, which Open MPI cannot know: ranks that wait by spinning would keep the others from working.
  export OMPI_MCA_mpi_yield_when_idle="${OMPI_MCA_mpi_yield_when_idle:-1}"
  on_host "$(hosts | head -n 1)" mpirun.openmpi --mca plm_rsh_agent "$self agent" --mca oob_tcp_if_include eth0 \
    --mca btl_tcp_if_include eth0 --mca btl self,vader,tcp --map-by node --host "$list" "$@"
}

run_mpich() {
  command -v mpirun.mpich >/dev/null || die 3 "no mpirun.mpich (package mpich)"
  local hosts_flag=(-hosts "$(hosts | paste -sd,)")
  [[ " $* " != *" -hosts "* ]] || hosts_flag=()
  on_host "$(hosts | head -n 1)" mpirun.mpich -launcher ssh -launcher-exec "$self" -iface eth0 "${hosts_flag[@]}" "$@"
}

command=${1:-}
(($# == 0)) || shift
case $command in
  up) (($# == 1 || $# == 2)) || die 2 "$usage"; up "$1" "${2:-none}" ;;
  hosts) (($# == 0)) || die 2 "$usage"; must_have ip; must_be_up; hosts ;;
  rate)
    (($# == 2)) || die 2 "$usage"
    must_be_up_here; must_be_rate "$2"
    [ "$1" = all ] || must_be_host "$1"
    for host in $([ "$1" = all ] && hosts || echo "$1"); do shape "$host" "$2"; done ;;
  link)
    (($# == 2)) || die 2 "$usage"
    must_be_up_here; must_be_host "$1"
    [[ $2 == up || $2 == down ]] || die 2 "link: '$2'; accepted: up, down"
    ip -n "$switch" link set "$(port_of "$1")" "$2" ;;
  exec) (($# >= 2)) || die 2 "$usage"; must_be_up_here; must_be_host "$1"; on_host "$@" ;;
  mpirun) (($# >= 1)) || die 2 "$usage"; must_be_up_here; run_mpi "$@" ;;
  mpich) (($# >= 1)) || die 2 "$usage"; must_be_up_here; run_mpich "$@" ;;
  agent | -x) host=$1; shift; on_host "$host" bash -c "$*" ;; # what Open MPI and MPICH call instead of ssh
  down) (($# == 0)) || die 2 "$usage"; must_have ip; must_be_allowed; down ;;
  -h | --help) printf '%s\n' "$usage" ;;
  *) die 2 "$usage" ;;
esac
