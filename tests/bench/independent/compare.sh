#!/usr/bin/env bash
# Our times of all_reduce against programs that contain nothing of the suite, on 2 ranks of this machine:
# tests/bench/independent/compare.sh [--pairs N] [--sizes LIST] [--libraries LIST] [--default] [BUILD]
# LIST: of openmpi, mpich, gloo, and gloo-reuse, whose calls on the other side share their options.
# Both sides print the median of rank 0's stamps of about 40 us over at least 1 s (Gloo from 64 KiB: the 10th percentile); --default compares our
# time of a run without any flag instead. Pairs are interleaved and alternate in order; a pair whose probe of the cores changes by more than
# 1.5 times is drawn again. Prints the median of the ratios ours / theirs with its interval (sign test, at least 95 %).
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../../.."
pairs=20 sizes=8,1024,65536,1048576,4194304 libraries=openmpi,mpich,gloo default=false
while (($#)); do
  case $1 in
    --pairs) pairs=$2; shift 2 ;;
    --sizes) sizes=$2; shift 2 ;;
    --libraries) libraries=$2; shift 2 ;;
    --default) default=true; shift ;;
    -h | --help) sed -n '2,8s/^# //p' "$0"; exit 0 ;;
    *) break ;;
  esac
done
build=${1:-build}
here=tests/bench/independent
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

theirs() { # library bytes: the printed line
  if [[ $1 == gloo* ]]; then
    local store; store=$(mktemp -d -p "$work")
    local arguments=(2 "$store" "$2" 1)
    [[ $1 == gloo ]] || arguments+=(reuse)
    "$work/gloo" 1 "${arguments[@]}" &
    "$work/gloo" 0 "${arguments[@]}"
    wait $!
  else
    "mpirun.$1" -n 2 "$work/$1" "$2" 1
  fi
}
ours() { # library bytes: our line of the out-of-place time, as JSON
  local flags=(--sizes "$2" -J "$work/ours.jsonl")
  # About 1 s for each of the two times, of rank 0 alone.
  $default || flags+=(--precision 0.01 --time-budget 1.4 -a 0)
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

printf '%-8s %9s %14s %14s %7s  %s\n' library bytes 'ours (us)' 'theirs (us)' ratio 'interval, pairs, core to core (ns)'
for library in ${libraries//,/ }; do
  for bytes in ${sizes//,/ }; do
    statistic=median column=time_s
    if [[ $library == gloo* ]] && ((bytes >= 65536)) && ! $default; then statistic=p10 column=fast_s; fi
    : >"$work/pairs"
    for ((k = 0, tries = 0; k < pairs && tries < 3 * pairs; ++tries)); do
      before=$("$work/core_to_core")
      if ((k % 2)); then line=$(theirs "$library" "$bytes"); row=$(ours "$library" "$bytes"); else row=$(ours "$library" "$bytes"); line=$(theirs "$library" "$bytes"); fi
      after=$("$work/core_to_core")
      awk -v a="$before" -v b="$after" 'BEGIN {exit !(a / b <= 1.5 && b / a <= 1.5)}' || continue
      echo "$(field $column <<<"$row") $(word_behind ${statistic}_us <<<"$line") $before" >>"$work/pairs"
      k=$((k + 1))
    done
    printf '%-8s %9d %s\n' "$library" "$bytes" "$(awk '{print $1 * 1e6, $2, $3}' "$work/pairs" | awk -f tests/bench/ratios.awk)"
  done
done
