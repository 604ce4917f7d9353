#!/bin/sh
# Is this machine right? Runs collectives and messages on every data type and reduction, and
# compares every element of every call with what is expected. Then asks reductions for their
# arithmetic: values of the whole range (wide), and infinities, NaN and -0 (special).
#
#   examples/recipes/right.sh                                   # 2 ranks, then 3, as threads
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
reductions="all_reduce reduce_scatter reduce"
all="$reductions all_gather broadcast gather scatter alltoall sendrecv"

# Runs one program and prints what it found in a line; ends this script if that is not right.
run() { # data, sizes, program, arguments...
  data=$1 sizes=$2 program=$3
  shift 3
  echo "right: $data data, ${program}_perf $*" >&2
  kind="--data $data"
  [ "$data" = exact ] && kind= # which programs that reduce nothing do not take
  # shellcheck disable=SC2086 # LAUNCH and kind are several words
  ${LAUNCH:-} "${BIN:-build/bin}/${program}_perf" --sizes "$sizes" -d all -o all -n 1 -c all $kind \
    "$@" >"$table"
  code=$?
  # Ranks of other hosts, started by hand, print no table.
  awk -v program="$program, $data data" '
    /^# [^ ]/ { on = 0 }
    /^# (Correct|Test failure)/ { on = 1 }
    on { sub(/^# /, ""); print program ": " $0 }' "$table"
  sed -n 's/^#   observed: /  observed: /p' "$table" | sort | uniq
  if [ "$code" -ne 0 ]; then
    grep '^# wrong' "$table" | head -n 3
    grep '^# Next' "$table"
    exit "$code"
  fi
}

everything() {
  for program in $all; do run exact 4,1000,524312 "$program" "$@"; done
  for data in wide special; do
    for program in $reductions; do run $data 1000,65560 "$program" "$@"; done
  done
}

# Two ranks have one order of additions, three have several.
ranks="2 3"
case " $* " in *" --np "* | *" -t "* | *" -g "* | *" mpi "* | *" nccl "*) ranks= ;; esac
if [ -z "$ranks" ] || [ -n "${LAUNCH:-}" ] || [ -e /dev/nvidia0 ]; then
  everything "$@"
else
  for n in $ranks; do everything "$@" -t "$n"; done
fi
