#!/bin/sh
# Did my change slow it down? Runs two commands in turns, the one before the change and the one
# after it, and tests which rows became slower.
#
#   examples/recipes/slower.sh "old/bin/all_reduce_perf --np 2 -b 4K -e 1M -f 16" \
#     "build/bin/all_reduce_perf --np 2 -b 4K -e 1M -f 16"
#   LAUNCH="mpirun -n 4" examples/recipes/slower.sh \
#     "env LD_LIBRARY_PATH=old/lib build/bin/all_reduce_perf --backend mpi -b 8 -e 1M" \
#     "build/bin/all_reduce_perf --backend mpi -b 8 -e 1M"
#
# Further arguments are flags for ccl_compare, for example --markdown compare.md --threshold 5, or
# --time-budget 4m, after which it takes no further pair of runs.
# LAUNCH: the launcher and its flags, in front of both commands. BIN: the folder of ccl_compare
# [build/bin].
# Exit code: ccl_compare's. 0 no row is slower, 6 a row is slower, 8 a row is not decided, 7 wrong
# data, 4 a command failed, 2 usage, or the two cannot be compared.
set -u
export LC_ALL=C
case ${1-} in -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit 0 ;; esac
if [ $# -lt 2 ]; then
  echo "usage: slower.sh COMMAND_BEFORE COMMAND_AFTER [FLAGS of ccl_compare...]" >&2
  exit 2
fi
before=${LAUNCH:+$LAUNCH }$1 after=${LAUNCH:+$LAUNCH }$2
shift 2
exec "${BIN:-build/bin}/ccl_compare" --base "$before" --head "$after" --threshold 20 --pairs 30 --max-pairs 120 "$@"
