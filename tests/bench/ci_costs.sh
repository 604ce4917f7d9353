#!/usr/bin/env bash
# What .ci/run costs: tests/bench/ci_costs.sh COMMIT:CACHE...
# CACHE: none, empty (filled meanwhile), or full (what an earlier :empty of this call has left). Each run is in a fresh clone at the same path, one
# after the other. Prints seconds and the exit code of each, and when its stages began. Logs stay in $CCL_CI_COSTS [a temporary folder].
set -euo pipefail
export LC_ALL=C
if (($# == 0)) || [[ ${1:-} == -* ]]; then sed -n '2,4s/^# //p' "$0" >&2; exit 2; fi
repository=$(git -C "$(dirname -- "${BASH_SOURCE[0]}")" rev-parse --show-toplevel)
work=${CCL_CI_COSTS:-$(mktemp -d)}
mkdir -p "$work"
printf 'logs: %s\n' "$work"
export CCACHE_DIR=$work/ccache
for run; do
  commit=${run%:*} cache=${run##*:}
  case $cache in
    none) export CCACHE_DISABLE=1; rm -rf "$work/no-tidy" ;;
    empty) unset CCACHE_DISABLE; rm -rf "$work/ccache" "$work/tidy" ;;
    full) unset CCACHE_DISABLE; [[ -d $work/ccache ]] || { echo "ci_costs: '$run': run it with :empty first" >&2; exit 2; } ;;
    *) echo "ci_costs: '$run': COMMIT:none, COMMIT:empty or COMMIT:full" >&2; exit 2 ;;
  esac
  export CCL_TIDY_CACHE=$work/tidy
  [[ $cache != none ]] || CCL_TIDY_CACHE=$work/no-tidy
  rm -rf "$work/clone"
  git clone --quiet "$repository" "$work/clone"
  git -C "$work/clone" checkout --quiet "$commit"
  log=$work/$(git -C "$work/clone" rev-parse --short HEAD)-$cache.log
  begin=$EPOCHREALTIME code=0
  (cd "$work/clone" && .ci/run) >"$log" 2>&1 </dev/null || code=$?
  awk -v a="$begin" -v b="$EPOCHREALTIME" -v what="$run" -v code=$code 'BEGIN {printf "%s: %.0f s, exit code %d\n", what, b - a, code}'
  sed -n 's/^== /  /p' "$log" | grep -v 'left out'
done
