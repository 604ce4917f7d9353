#!/usr/bin/env bash
# Prints a simulated cluster for scripts/simulate.sh, with faults: scripts/platform.sh HOSTS [FLAG VALUE]...
#   --gbps G              of each host's cable, both ways [10]
#   --latency US          of a cable [1]
#   --racks N             as many racks of hosts that follow each other, behind an uplink each; without it one switch [0]
#   --oversubscription X  how many times an uplink's rate its rack's hosts have together [1]
#   --slow-host H:SHARE   the cable of host H (from 0) carries SHARE of its rate, as 0.7; --slow-send, --slow-receive: one way
#   --slow-pair A-B:SHARE what lies between two hosts alone
#   --slow-rack R:SHARE   the uplink of rack R
# Faults may be given several times. Hosts are called host-0, host-1, ...; exit codes: 2 usage.
set -euo pipefail
export LC_ALL=C
die() { printf 'platform: %s\n' "$*" >&2; exit 2; }
case ${1:-} in '' | -h | --help) sed -n '2,10s/^# //p' "$0"; [[ -n ${1:-} ]] && exit 0; exit 2 ;; esac

hosts=$1 gbps=10 latency=1 racks=0 oversubscription=1 faults=
shift
number='^[0-9]+(\.[0-9]+)?$'
[[ $hosts =~ ^[1-9][0-9]*$ ]] && ((hosts >= 2)) || die "HOSTS is a number from 2 on, not '$hosts'"
while (($#)); do
  flag=$1 value=${2-}
  case $flag in
    --gbps | --latency | --oversubscription)
      [[ $value =~ $number ]] && [[ ! $value =~ ^[0.]+$ ]] || die "$flag: '$value'; accepted: a number above 0"
      printf -v "${flag#--}" %s "$value" ;;
    --racks) [[ $value =~ ^[1-9][0-9]*$ ]] && ((value <= hosts)) || die "--racks: '$value'; accepted: 1 to HOSTS"; racks=$value ;;
    --slow-host | --slow-send | --slow-receive | --slow-rack | --slow-pair)
      ends='(0|[1-9][0-9]*)' example=7:0.5
      if [[ $flag == --slow-pair ]]; then ends+='-(0|[1-9][0-9]*)' example=3-7:0.5; fi
      [[ $value =~ ^$ends:(0\.[0-9]*[1-9][0-9]*|1)$ ]] || die "$flag: '$value'; accepted: as $example"
      [[ $flag != --slow-pair || ${BASH_REMATCH[1]} != "${BASH_REMATCH[2]}" ]] || die "$flag: '$value'; accepted: two hosts"
      faults+=" ${flag#--slow-}:$value" ;;
    *) die "there is no flag '$flag'; accepted: see --help" ;;
  esac
  shift $(($# > 1 ? 2 : 1))
done
for fault in $faults; do
  IFS=: read -r kind ends _ <<<"$fault"
  last=$hosts
  [[ $kind == rack ]] && last=$racks
  ((last > 0)) || die "--slow-rack: there are no racks; accepted: with --racks"
  for end in ${ends//-/ }; do ((end < last)) || die "--slow-$kind: there is no $end; accepted: 0 to $((last - 1))"; done
done

awk -v n="$hosts" -v gbps="$gbps" -v us="$latency" -v racks="$racks" -v over="$oversubscription" -v faults="$faults" '
  function link_of(id, rate, us) {
    printf "<link id=\"%s\" bandwidth=\"%.9gGbps\" latency=\"%sus\"/>\n", id, rate, us
  }
  function link(id, rate) { link_of(id, rate, us) }
  function rack_of(host) { return int(host * racks / n) }
  function pair(a, b) { return a < b ? a "-" b : b "-" a }
  BEGIN {
    parts = split(faults, fault, " ")
    for (f = 1; f <= parts; f++) {
      split(fault[f], part, ":")
      kind = part[1]; where = part[2]; share = part[3]
      if (kind == "host" || kind == "send") sends[where] = share
      if (kind == "host" || kind == "receive") receives[where] = share
      if (kind == "rack") uplink[where] = share
      if (kind == "pair") { split(where, ends, "-"); between[pair(ends[1] + 0, ends[2] + 0)] = share }
    }
    print "<?xml version=\"1.0\"?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\">"
    print "<zone id=\"cluster\" routing=\"Full\">"
    for (h = 0; h < n; h++) printf "<host id=\"host-%d\" speed=\"100Gf\"/>\n", h
    for (h = 0; h < n; h++) {
      link("up-" h, gbps * (h in sends ? sends[h] : 1))
      link("down-" h, gbps * (h in receives ? receives[h] : 1))
      printf "<link id=\"self-%d\" bandwidth=\"100Gbps\" latency=\"0.1us\" sharing_policy=\"FATPIPE\"/>\n", h
      members[rack_of(h)]++
    }
    for (r = 0; r < racks; r++) {
      rate = gbps * members[r] / over * (r in uplink ? uplink[r] : 1)
      link("out-" r, rate)
      link("in-" r, rate)
    }
    for (p in between) {
      split(p, ends, "-")
      link_of("path-" ends[1] "-" ends[2], gbps * between[p], 0)
      link_of("path-" ends[2] "-" ends[1], gbps * between[p], 0)
    }
    for (a = 0; a < n; a++)
      for (b = 0; b < n; b++) {
        printf "<route src=\"host-%d\" dst=\"host-%d\" symmetrical=\"NO\">", a, b
        if (a == b) {
          printf "<link_ctn id=\"self-%d\"/>", a
        } else {
          printf "<link_ctn id=\"up-%d\"/>", a
          if (racks > 0 && rack_of(a) != rack_of(b)) printf "<link_ctn id=\"out-%d\"/><link_ctn id=\"in-%d\"/>", rack_of(a), rack_of(b)
          if (pair(a, b) in between) printf "<link_ctn id=\"path-%d-%d\"/>", a, b
          printf "<link_ctn id=\"down-%d\"/>", b
        }
        print "</route>"
      }
    print "</zone>\n</platform>"
  }'
