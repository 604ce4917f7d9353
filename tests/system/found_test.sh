#!/usr/bin/env bash
# docs/RELIABILITY.md, "What it found": over the libraries that it names, its listings print what it shows, and its commands end with
# the exit code that stands behind them.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/cluster_lib.sh"
source=$(cd "$(dirname "$0")/../.." && pwd)
cd "$work" || exit 1
ln -s "$build" build
ln -s "$source/scripts" scripts
# A listing's first line says how it is compiled and run. Other blocks are commands, or what they print.
awk '/^## / {on = /^## What it found/}
  !on {next}
  /^```/ {inside = !inside; first = inside; language = substr($0, 4); next}
  !inside {next}
  language == "" {print >(/^(build|scripts)\/|^mpirun/ ? "commands" : "printed"); next}
  first {first = 0; match($0, /[a-z0-9]+[.]cp*/); name = substr($0, RSTART, RLENGTH); print substr($0, 4) >"how." name}
  {print >name}' "$source/docs/RELIABILITY.md"
sed -i "s/ccl\([01]\):/$CCL_CLUSTER\1:/g" commands
[ "$(cat how.* | wc -l)" -eq 3 ] && [ "$(wc -l <commands)" -eq 6 ] || { fail "not 3 listings and 6 commands: $(cat how.* commands)"; finish; }

prints() { # lines of the last run
  local line
  while IFS= read -r line; do
    grep -qxF -- "$line" printed || fail "the page does not show '$line'"
  done <out
}
listing() { run 0 "$1" bash -c "$(cat "how.$1")" && prints; }
# Commands with these words.
commands() {
  local line code
  while IFS= read -r line; do
    code=0
    [[ $line != *"# exit code "* ]] || code=${line##*"# exit code "}
    run "$code" "${line%%  *}" bash -c "$line"
  done < <(grep -F -- "$1" commands)
}

if grep -qF 'rhs != *this' /usr/include/gloo/types.h 2>/dev/null; then
  listing float16.cpp
  commands "--data wide"
  expect_in err "one rank's input, not reduced"
else
  echo "SKIP Gloo: not installed, or newer"
fi
if [ -e "$build/lib/ccl-tests/ccl-mpi-mpich.so" ] && mpichversion 2>/dev/null | grep -qE 'Version:[[:space:]]*4\.0\.2$'; then
  listing unsigned.c
  commands uint32
  run 0 "reduce.c" bash -c "$(cat how.reduce.c)"
  cluster_up 2
  commands ./reduce
  prints
  commands bin/reduce_perf
  run 0 "MPICH on two hosts" "$cluster" mpich -n 3 "$bin/all_reduce_perf" --backend mpi --sizes 8,100K -n 2
  expect_in out "# Ranks: 3 processes on 2 hosts, 1 to 2 on each"
else
  echo "SKIP MPICH: no 4.0.2 (package mpich of Debian 12), or no module for it"
fi
finish
