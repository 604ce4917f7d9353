#!/usr/bin/env bash
# Whether green means green: tests/bench/busy_runs.sh BUILD RUNS [ctest arguments...] runs the tests of a built tree RUNS times, five on two cores at once as
# scripts/test.sh does, with one core kept busy beside them. Prints a line for each run, with the tests that failed once and those that failed again alone
# (scripts/test.sh gives a second chance); logs stay in $CCL_BUSY_RUNS [a temporary folder]. Ends with 1 if a test failed twice.
set -euo pipefail
export LC_ALL=C
if (($# < 2)) || [[ ! -d $1 || ! $2 =~ ^[1-9][0-9]*$ ]]; then sed -n '2,4s/^# //p' "$0" >&2; exit 2; fi
build=$1 runs=$2
shift 2
work=${CCL_BUSY_RUNS:-$(mktemp -d)}
mkdir -p "$work"
printf 'logs: %s\n' "$work"
while :; do :; done &
busy=$!
trap 'kill "$busy"' EXIT

failed_tests() { sed -n '/^The following tests FAILED:/,$s/^[[:space:]]*[0-9]* - \(.*\) (.*)$/\1/p' "$1" | paste -sd' '; }
twice=0
for ((run = 1; run <= runs; run++)); do
  begin=$SECONDS
  again=
  if ! ctest --test-dir "$build" --output-on-failure -j $((5 * $(nproc) / 2)) "$@" >"$work/$run.log" 2>&1; then
    ctest --test-dir "$build" --output-on-failure --rerun-failed >"$work/$run.again.log" 2>&1 || again=$(failed_tests "$work/$run.again.log")
  fi
  tests=$(sed -n 's/.* tests failed out of //p' "$work/$run.log")
  printf 'run %d: %d s, %s tests; failed once: %s; failed twice: %s\n' "$run" $((SECONDS - begin)) "$tests" "$(failed_tests "$work/$run.log")" "${again:-}"
  [[ -z $again ]] || twice=1
done
exit "$twice"
