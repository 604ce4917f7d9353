#!/usr/bin/env bash
# Our times of all_reduce against programs that contain nothing of the suite, on 2 ranks of this machine:
# tests/bench/independent/compare.sh [--pairs N] [--launches N] [--sizes LIST] [--libraries LIST] [--default] [--sweep] [--keep FILE] [BUILD]
# LIST: of openmpi, mpich, gloo, and gloo-reuse, whose calls on the other side share their options.
# Both sides print the median of rank 0's stamps of about 40 us over at least 1 s (Gloo: the fastest 10th
# percentile of several stretches, its threads are SCHED_BATCH, and each rank has a CPU of its own where these are two, on both sides); --default compares our time of a run without any flag instead, --sweep the rows of a run over all sizes
# and 64 MiB, beside loops in buffers of 64 MiB that one call has used. Each side of a pair is started --launches times
# (3), which share the 1 s, and stands for their median, since a process may keep another speed than the next one.
# Sides alternate, and so does their order. Virtual machines have states: a launch counts if probes of the cores before
# and behind it differ by at most 1.5 times, and launches of one state make the pairs, in order (launches.awk). Prints
# the median of the ratios ours / theirs with its interval (sign test, at least 95 %). --keep FILE: all launches that
# count, as launches.awk reads them.
set -euo pipefail
export LC_ALL=C
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../../.."
pairs=20 launches=3 sizes=8,1024,65536,1048576,4194304 libraries=openmpi,mpich,gloo default=false sweep=false keep=/dev/null
while (($#)); do
  case $1 in
    --pairs) pairs=$2; shift 2 ;;
    --launches) launches=$2; shift 2 ;;
    --sizes) sizes=$2; shift 2 ;;
    --libraries) libraries=$2; shift 2 ;;
    --default) default=true; shift ;;
    --sweep) sweep=true; shift ;;
    --keep) keep=$(realpath -m -- "$2"); shift 2 ;;
    -h | --help) sed -n '2,12s/^# //p' "$0"; exit 0 ;;
    *) break ;;
  esac
done
build=${1:-build}
here=tests/bench/independent
largest=67108864 before=0
if $sweep; then before=$largest; fi
share=$(awk -v n="$launches" 'BEGIN {printf "%.3f", 1 / n}')  # of a second, a launch
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1

c++ -std=c++20 -O3 -pthread "$here/core_to_core.cpp" -o "$work/core_to_core"
for library in ${libraries//,/ }; do
  case $library in
    gloo*) c++ -std=c++20 -O3 -I. "$here/gloo_loop.cpp" -o "$work/gloo" -lgloo -pthread ;;
    *) "mpicxx.$library" -std=c++20 -O3 -I. "$here/mpi_loop.cpp" -o "$work/$library" ;;
  esac
done

# Starts a command on its rank's half of two CPUs, as our side places it; on more CPUs, as the kernel does.
place() { # rank command
  local rank=$1; shift
  if (($(nproc) == 2)); then taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/-/,/' | cut -d, -f$((rank + 1)))" "$@"; else "$@"; fi
}
theirs() { # library bytes: the printed line
  if [[ $1 == gloo* ]]; then
    local store; store=$(mktemp -d -p "$work")
    local arguments=(2 "$store" "$2" "$share" "$before")
    [[ $1 == gloo ]] || arguments+=(reuse)
    place 1 chrt -b 0 "$work/gloo" 1 "${arguments[@]}" &
    place 0 chrt -b 0 "$work/gloo" 0 "${arguments[@]}"
    wait $!
  else
    "mpirun.$1" -n 2 "$work/$1" "$2" "$share" "$before"
  fi
}
ours() { # library sizes: our lines of out-of-place times, as JSON
  local rows flags=(--sizes "$2" -J "$work/ours.jsonl")
  rows=$(tr ',' '\n' <<<"$2" | wc -l)
  # The share of 1 s for each of a row's two times, of rank 0 alone.
  $default || flags+=(--precision 0.01 --time-budget "$(awk -v n="$rows" -v share="$share" 'BEGIN {print 2 * n * share}')" -a 0)
  rm -f "$work/ours.jsonl"
  if [[ $1 == gloo* ]]; then
    "$build/bin/all_reduce_perf" --backend gloo --np 2 "${flags[@]}" >"$work/table" 2>&1
  else
    "mpirun.$1" -n 2 "$build/bin/all_reduce_perf" --backend "mpi-$1" "${flags[@]}" >"$work/table" 2>&1
  fi
  grep '"placement":"out_of_place"' "$work/ours.jsonl"
}
field() { sed -n "s/.*\"$1\":\([0-9.e+-]*\).*/\1/p"; }
word_behind() { sed -n "s/.* $1 \([0-9.]*\).*/\1/p"; }
statistic_of() { if [[ $1 == gloo* ]]; then echo best; else echo median; fi; }

probe() { for _ in 1 2 3; do "$work/core_to_core"; done | sort -g | sed -n 2p; }
near() { awk -v a="$1" -v b="$2" 'BEGIN {exit !(a / b <= 1.5 && b / a <= 1.5)}'; }
# Runs a command, its output to $work/launch; false if the machine is in another state behind it.
in_one_state() {
  local before
  before=${state:-$(probe)}
  "$@" >"$work/launch"
  state=$(probe)
  near "$before" "$state"
}
our_launch() { # library sizes asked
  in_one_state ours "$1" "$3" || return 0
  local bytes
  for bytes in ${2//,/ }; do
    echo "$1 $bytes ours $state $(grep "\"size_bytes\":$bytes," "$work/launch" | field time_s | awk '{print $1 * 1e6}')"
  done >>"$work/launches"
}
their_launches() { # library sizes
  local bytes
  for bytes in ${2//,/ }; do
    in_one_state theirs "$1" "$bytes" || continue
    echo "$1 $bytes theirs $state $(word_behind "$(statistic_of "$1")_us" <"$work/launch")" >>"$work/launches"
  done
}
pairs_of() { # library bytes
  awk -v library="$1" -v bytes="$2" -v launches="$launches" -f "$here/launches.awk" "$work/launches" | head -n "$pairs"
}
missing_pairs() { # library sizes
  local bytes
  for bytes in ${2//,/ }; do
    (($(pairs_of "$1" "$bytes" | wc -l) >= pairs)) || return 0
  done
  return 1
}
compare() { # library sizes
  local library=$1 sizes=$2 round bytes asked=$2
  $sweep && asked+=,$largest
  : >"$work/launches"
  state=
  for ((round = 0; round < 4 * pairs * launches; ++round)); do
    missing_pairs "$library" "$sizes" || break
    if ((round % 2)); then
      their_launches "$library" "$sizes"
      our_launch "$library" "$sizes" "$asked"
    else
      our_launch "$library" "$sizes" "$asked"
      their_launches "$library" "$sizes"
    fi
  done
  cat "$work/launches" >>"$keep"
  for bytes in ${sizes//,/ }; do
    printf '%-8s %9d %s\n' "$library" "$bytes" "$(pairs_of "$library" "$bytes" | awk -f tests/bench/ratios.awk)"
  done
}

printf '%-8s %9s %14s %14s %7s  %s\n' library bytes 'ours (us)' 'theirs (us)' ratio 'interval, pairs, core to core (ns)'
for library in ${libraries//,/ }; do
  if $sweep; then
    compare "$library" "$sizes"
  else
    for bytes in ${sizes//,/ }; do compare "$library" "$bytes"; done
  fi
done
