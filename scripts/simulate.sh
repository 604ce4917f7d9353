#!/usr/bin/env bash
# Runs a program on simulated ranks (SimGrid SMPI), one per simulated host, on a platform made for that number.
# Exit codes: the program's; 2 usage, 3 not available here.
set -euo pipefail
export LC_ALL=C
usage='usage: scripts/simulate.sh RANKS fat_tree|dragonfly|torus|PLATFORM.xml PROGRAM [ARGUMENT]...
       platforms with faults: scripts/platform.sh
       environment: BUILD (default: build), LINK_GBPS (link bandwidth, default 10), LATENCY_US (per link, default 1)
       example: scripts/simulate.sh 64 fat_tree all_reduce_perf -b 8 -e 1M -n 2'
die() { local code=$1; shift; printf 'simulate: %s\n' "$*" >&2; exit "$code"; }

case ${1:-} in -h | --help) printf '%s\n' "$usage"; exit 0 ;; esac
(($# >= 3)) || die 2 "$usage"
ranks=$1 platform=$2 name=$3
shift 3
[[ $ranks =~ ^[1-9][0-9]{0,4}$ ]] && ((ranks >= 2)) || die 2 "RANKS is a number of ranks from 2 to 99999 (SimGrid 3.32 aborts in a reduction of one rank), not '$ranks'"
folder=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD:-$folder/build}
program=$build/simulated/$name
[ -e "$program" ] || die 3 "there is no $program: install the packages pkg-config and libsimgrid-dev, configure with -DCCL_SIMGRID=ON and build; programs are called all_reduce_perf, ..."
command -v smpirun >/dev/null || die 3 "smpirun is not installed (package libsimgrid-dev)"
speed=${LINK_GBPS:-10} latency=${LATENCY_US:-1}
[[ $speed =~ ^[0-9]+(\.[0-9]+)?$ && $speed =~ [1-9] ]] || die 2 "LINK_GBPS is a number above 0, not '$speed'"
[[ $latency =~ ^[0-9]+(\.[0-9]+)?$ ]] || die 2 "LATENCY_US is a number from 0 on, not '$latency'"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The smallest k with k^power >= ranks.
root() { awk -v n="$ranks" -v p="$1" 'BEGIN {k = 2; while (k ^ p < n) k++; print k}'; }
cluster() { # topology parameters hosts
  printf '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n<platform version="4.1">\n'
  printf '<cluster id="c" prefix="host-" suffix="" radical="0-%d" speed="100Gf" bw="%sGbps" lat="%sus" loopback_bw="100Gbps" loopback_lat="0.1us" topology="%s" topo_parameters="%s" sharing_policy="SPLITDUPLEX"/>\n</platform>\n' \
    "$(($3 - 1))" "$speed" "$latency" "$1" "$2"
}
case $platform in
  # Two levels; as many uplinks as hosts below a switch, so that it does not block.
  fat_tree) k=$(root 2); cluster FAT_TREE "2;$k,$k;1,$k;1,1" $((k * k)) >"$work/platform.xml" ;;
  # groups, chassis in a group, routers in a chassis, hosts at a router; one link each.
  dragonfly) k=$(root 4); cluster DRAGONFLY "$k,1;$k,1;$k,1;$k" $((k * k * k * k)) >"$work/platform.xml" ;;
  torus) k=$(root 3); cluster TORUS "$k,$k,$k" $((k * k * k)) >"$work/platform.xml" ;;
  *.xml) [ -r "$platform" ] || die 2 "cannot read $platform"; cp "$platform" "$work/platform.xml" ;;
  *) die 2 "unknown platform '$platform'; accepted: fat_tree, dragonfly, torus, a file .xml" ;;
esac
if [[ $platform == *.xml ]]; then
  grep -oE '<host id="[^"]+"' "$work/platform.xml" | sed 's/.*"\(.*\)"/\1/' >"$work/hosts" || true
  [ -s "$work/hosts" ] || die 2 "$platform names no <host id=...>; clusters are made by fat_tree, dragonfly, torus"
  (($(wc -l <"$work/hosts") >= ranks)) || die 2 "RANKS: $ranks; accepted: up to $(wc -l <"$work/hosts"), the hosts of $platform"
else
  for ((r = 0; r < ranks; r++)); do echo "host-$r"; done >"$work/hosts"
fi

# ompi: the algorithms of Open MPI; SimGrid's own choice is poor. Computation costs no simulated time.
code=0
LD_LIBRARY_PATH=$build/simulated:$build/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} \
  smpirun -np "$ranks" -platform "$work/platform.xml" -hostfile "$work/hosts" \
  --cfg=smpi/coll-selector:ompi --cfg=smpi/simulate-computation:no --cfg=smpi/host-speed:100Gf --log=root.thres:warning --log=smpi_kernel.thres:error \
  "$program" "$@" || code=$?
exit "$code"
