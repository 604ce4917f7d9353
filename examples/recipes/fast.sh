#!/bin/sh
# Is it fast? Times all_reduce from 8 B to 64 MiB, beside a pingpong of two ranks. Read the last
# lines: Reliable (can these times be quoted?) and, where that can be judged, Normal (how near to
# the link's speed is it, and does a size stand out?).
#
#   examples/recipes/fast.sh --np 2
#   LAUNCH="mpirun -n 4" examples/recipes/fast.sh --backend mpi -J fast.jsonl
#   examples/recipes/fast.sh --np 2 --min-busbw 64M:1.5         # a limit in GB/s: exit 6 below it
#
# Arguments are flags for PROGRAM; of -b and -e the last value counts. LAUNCH: the launcher and its
# flags. PROGRAM [all_reduce_perf]. BIN: the folder of the programs [build/bin].
# Exit code: PROGRAM's. 0 passed, 6 slower than a limit, 8 a limit is not decided, 7 wrong data,
# 4 a library or a rank failed, 5 timed out, 3 unsupported here, 2 usage.
set -u
export LC_ALL=C
case ${1-} in -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit 0 ;; esac
# shellcheck disable=SC2086 # LAUNCH is several words
exec ${LAUNCH:-} "${BIN:-build/bin}/${PROGRAM:-all_reduce_perf}" -b 8 -e 64M --stats --ceiling auto "$@"
