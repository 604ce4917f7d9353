#!/usr/bin/env bash
# pingpong_perf: every form, as threads, processes and under mpirun; the pair that is slow is named; bad input.
. "$(dirname "$0")/lib.sh"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
pingpong=$bin/pingpong_perf

rows() { grep -cE '^ +[0-9]' "$work/out"; }
right() { # NAME ROWS
  grep -q '^# Out of bounds values : 0 OK' "$work/out" || fail "$1: out of bounds"
  [ "$(rows)" = "$2" ] || fail "$1: $(rows) rows, expected $2"
}
forms=("" "--bidirectional 1" "--window 8" "--window 8 --bidirectional 1")
# MPICH's ranks spin without ever giving way: 4 of them on fewer cores wait for each other's time slices, so one form must do there.
last_form() { # WHERE RANKS COMMAND...: 2 sizes
  run 0 "$1, all pairs, ${forms[3]}" "${@:3}" --sizes 8,64K -n 3 -w 1 -d float,int8 ${forms[3]} --pairs all && right "$1, all pairs" $((2 * $2 * ($2 - 1)))
}
every_form() { # WHERE RANKS COMMAND...: 2 sizes
  local where=$1 ranks=$2 form; shift 2
  local args=(--sizes 8,64K -n 3 -w 1 -d float,int8)
  for form in "${forms[@]}"; do
    run 0 "$where, $form" "$@" "${args[@]}" $form && right "$where, $form" 4
    run 0 "$where, all pairs, $form" "$@" "${args[@]}" $form --pairs all && right "$where, all $form" $((4 * ranks * (ranks - 1) / 2))
  done
  run 0 "$where, all pairs at once" "$@" "${args[@]}" --pairs all --concurrent 1 && right "$where, at once" $((4 * ranks * (ranks - 1) / 2))
  run 0 "$where, one pair" "$@" "${args[@]}" --pairs 2:1 && right "$where, one pair" 4
}
for ranks in 3 4; do
  every_form "Gloo, $ranks threads" "$ranks" "$pingpong" --backend gloo -t "$ranks"
  every_form "Gloo, $ranks processes" "$ranks" "$pingpong" --backend gloo --np "$ranks"
done
every_form "loopback, 3 processes" 3 "$pingpong" --backend loopback --np 3
for flavour in openmpi mpich; do
  if [ ! -e "$build/lib/ccl-tests/ccl-mpi-$flavour.so" ] || ! command -v "mpirun.$flavour" >/dev/null; then
    echo "SKIP $flavour: no module or no mpirun"
    continue
  fi
  for ranks in 3 4; do
    which=every_form
    [ "$flavour $ranks" = "mpich 4" ] && which=last_form
    $which "$flavour, $ranks ranks" "$ranks" "mpirun.$flavour" -n "$ranks" "$pingpong" --backend mpi --row-time 0.2
  done
done

# One pair: nccl-tests' 13 tokens. More: each row has them, too, and its pair below; the footer says what judges hosts by them.
run 0 "default" "$pingpong" --backend gloo --sizes 8,1K -n 3 -t 4 && right "default" 2
awk '/^ +[0-9]/ && NF != 13 {exit 1}' "$work/out" || fail "default: a row has not 13 tokens"
expect_in "$work/out" "# mode: back and forth, window 1"
run 0 "all pairs" "$pingpong" --backend gloo --sizes 8 -n 3 -t 4 --pairs all -J "$work/all.jsonl"
[ "$(awk '/^ +[0-9]/ {row = NF} /^#   pair: / {print row, $3}' "$work/out" | tr '\n' ' ')" = "13 0:3 13 1:2 13 1:3 13 0:2 13 2:3 13 0:1 " ] || fail "pairs of the rows"
expect_in "$work/out" "# 8 B float: time (us) between each two ranks"
expect_in "$work/out" "# Pairs    : ccl_acceptance tells which host's messages are slow"
run 0 "more ranks than a matrix has" "$pingpong" --backend loopback --sizes 8 -n 1 -w 0 -t 17 --pairs all -J "$work/many.jsonl"
grep -q "between each two" "$work/out" || fail "nothing says where the matrix is"
expect_in "$work/out" "not of 17; $work/many.jsonl has"
[ "$(grep -c '"pair":"[0-3]:[0-3]".*"placement":"in_place"' "$work/all.jsonl")" = 6 ] || fail "pairs in .jsonl"
run 0 "rate" "$pingpong" --backend gloo --sizes 8 -n 3 -t 4 --pairs 0:1,3:2 --concurrent 1 --window 16 -J "$work/rate.jsonl"
expect_in "$work/out" "messages/s of 2 pairs at once, one direction"
grep -q '"messages_per_s":[0-9]' "$work/rate.jsonl" || fail "no message rate in .jsonl"
run 6 "a gate names the pair" "$pingpong" --backend gloo --sizes 8 -n 3 -t 3 --pairs 1:2 --max-time 8:0
expect_in "$work/out" "too slow: 8 B float pair 1:2 out of place"

refused() { # CODE TEXT ARGUMENTS...
  local code=$1 text=$2; shift 2
  run "$code" "refuses $*" "$pingpong" --backend gloo "$@" || return
  [ "$(wc -l <"$work/err")" -eq 1 ] || fail "$*: not one line: $(cat "$work/err")"
  expect_in "$work/err" "$text"
}
refused 2 "--pairs: there is no rank 3; accepted: 0 to 2" -t 3 --pairs 0:3
refused 2 "--pairs: there is no rank 9; accepted: 0 to 2" --np 3 --pairs 9:1
refused 2 "--pairs: '1:1' pairs a rank with itself; accepted: two ranks" -t 3 --pairs 1:1
refused 2 "--pairs: '1:0' is named twice; accepted: every pair once" -t 3 --pairs 0:1,1:0
refused 2 "--pairs: rank 1 is in more than one pair" -t 3 --pairs 0:1,1:2 --concurrent 1
refused 2 "--pairs: '0-1' is no pair; accepted: RANK:RANK" -t 3 --pairs 0-1
refused 2 "--pairs: '0:1,' has an empty item" -t 3 --pairs 0:1,
refused 2 "--pairs: '1:2' is not accepted" -t 3 --pairs 0:1:2
refused 2 "--window: '0'" -t 3 --window 0
refused 2 "--group: pingpong_perf runs on pairs of ranks: use --pairs" -t 4 --group 'mod 2'
refused 3 "at least two; this job has 1" -t 1
refused 3 "at least two; this job has 1" --np 1 --pairs all
finish
