#!/bin/sh
# Is this machine right? Runs collectives and messages on every data type and reduction, and
# compares every element of every call with what is expected.
#
#   examples/recipes/right.sh                                   # ranks as threads
#   examples/recipes/right.sh --np 4                            # 4 local processes
#   LAUNCH="mpirun -n 4" examples/recipes/right.sh --backend mpi
#
# Arguments are flags for each program. LAUNCH: the launcher and its flags. BIN: the folder of the
# programs [build/bin].
# Exit code: 0 if all results are right, otherwise that of the first program that did not pass:
# 7 wrong data, 4 a library or a rank failed, 5 timed out, 3 unsupported here, 2 usage.
set -u
export LC_ALL=C
case ${1-} in -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit 0 ;; esac
table=$(mktemp) || exit 4
trap 'rm -f "$table"' EXIT
programs="all_reduce reduce_scatter reduce all_gather broadcast gather scatter alltoall sendrecv"
number=0
for program in $programs; do
  number=$((number + 1))
  echo "right: ${program}_perf, $number of 9" >&2
  # shellcheck disable=SC2086 # LAUNCH is several words
  ${LAUNCH:-} "${BIN:-build/bin}/${program}_perf" --sizes 4,1000,524312 -d all -o all -n 1 -c all \
    "$@" >"$table"
  code=$?
  # Ranks of other hosts, started by hand, print no table.
  awk -v program="$program" '
    /^# [^ ]/ { on = 0 }
    /^# (Correct|Test failure)/ { on = 1 }
    on { sub(/^# /, ""); print program ": " $0 }' "$table"
  if [ "$code" -ne 0 ]; then
    grep '^# wrong' "$table" | head -n 3
    grep '^# Next' "$table"
    exit "$code"
  fi
done
