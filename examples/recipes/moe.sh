#!/bin/sh
# Is my exchange of a mixture of experts right and fast? Checks every call of dispatch and combine,
# then compares a routing with the balanced one, in turns: how many times as long is it?
#
#   examples/recipes/moe.sh --np 4
#   ROUTING=maxvio:2 TOKENS=512 examples/recipes/moe.sh --np 8 --hidden 7168 --experts 64 --top-k 8 -d bfloat16
#   LAUNCH="mpirun -n 4" ROUTING=trace:tokens.txt examples/recipes/moe.sh --backend mpi
#
# Arguments are flags for both programs. ROUTING: as --routing [zipf:1]. TOKENS: of each rank [128].
# LAUNCH: the launcher and its flags. BIN: the folder of the programs [build/bin].
# Exit code: 0 right and not known to be slower than balanced, 6 right and slower (the table says by
# how much), 8 right and not decided, 7 wrong data, 4 a command failed, 3 unsupported, 2 usage.
set -u
export LC_ALL=C
case ${1-} in -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit 0 ;; esac
bin=${BIN:-build/bin} routing=${ROUTING:-zipf:1} tokens=${TOKENS:-128}
table=$(mktemp) || exit 4
trap 'rm -f "$table"' EXIT
for program in moe_dispatch moe_combine; do
  # shellcheck disable=SC2086 # LAUNCH is several words
  ${LAUNCH:-} "$bin/${program}_perf" --tokens "$tokens" --routing "$routing" -n 20 -c all "$@" >"$table"
  code=$?
  awk -v program="$program" '
    /^# (Correct|wrong|Next)/ { sub(/^# /, ""); print program ": " $0; next }
    /load of a row/ { sub(/.*load of a row/, "load of a row"); print program ": " $0 }' "$table"
  [ "$code" -eq 0 ] || exit "$code"
done
answer=0
for program in moe_dispatch moe_combine; do
  command="${LAUNCH:+$LAUNCH }$bin/${program}_perf --tokens $tokens $*"
  "$bin/ccl_compare" --base "$command --routing balanced" --head "$command --routing $routing" \
    --threshold 10 --time-budget 2m
  code=$?
  case $code in
    0) ;;
    6) answer=6 ;;
    8) [ "$answer" -eq 6 ] || answer=8 ;;
    *) exit "$code" ;;
  esac
done
exit "$answer"
