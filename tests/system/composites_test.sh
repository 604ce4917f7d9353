#!/usr/bin/env bash
# The programs of the composite primitives: over Gloo and both MPIs, with every setting, good and bad.
. "$(dirname "$0")/lib.sh"
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1

args=(--sizes 8,5000,1M -n 2 -w 0 --row-time 0.1)
few=(--sizes 5000 -n 1 -w 0) # of what makes many rows or operations
right() { # NAME: rows, none wrong, behind each what its time went into
  grep -q '^# Out of bounds values : 0 OK' "$work/out" || fail "$1: out of bounds"
  local rows steps
  rows=$(grep -cE '^ +[0-9]' "$work/out")
  steps=$(grep -cE '^#   steps: sizes [0-9.]+ %, payload [0-9.]+ %, packing [0-9.]+ %' "$work/out")
  [ "$rows" -ge 1 ] && [ "$rows" = "$steps" ] || fail "$1: $rows rows, $steps lines of steps"
}
for program in "${composites[@]}"; do
  taken "$program" "${args[@]}"
  for ranks in "-t 1" "-t 4" "--np 3"; do
    run 0 "$program $ranks" "$bin/${program}_perf" --backend gloo "${words[@]}" $ranks && right "$program $ranks"
  done
  taken "$program" "${few[@]}"
  run 0 "$program in groups" "$bin/${program}_perf" --backend gloo "${words[@]}" -t 6 --group 'ranks 5,0,3;1,2,4' && right "$program in groups"
  taken "$program" "${args[@]}"
  for flavour in openmpi mpich; do
    [ -e "$build/lib/ccl-tests/ccl-mpi-$flavour.so" ] || continue
    # The primitives themselves are tried at 1, 3 and 4 ranks by primitives_test.sh.
    run 0 "$program, 3 ranks of $flavour" "mpirun.$flavour" -n 3 "$bin/${program}_perf" --backend mpi "${words[@]}" && right "$program, $flavour"
  done
done

each() { # SETTINGS... -- PROGRAM...: every program with every setting, at 3 ranks; without PROGRAM: those that take the first one's flag
  local settings=() setting program
  while [ "$1" != -- ]; do settings+=("$1"); shift; done
  shift
  # shellcheck disable=SC2046  # names
  [ $# -gt 0 ] || set -- $(taking "${settings[0]%% *}" "${composites[@]}")
  [ $# -gt 0 ] || fail "no program takes ${settings[0]}"
  for program in "$@"; do
    taken "$program" "${args[@]}"
    for setting in "${settings[@]}"; do
      run 0 "$program $setting" "$bin/${program}_perf" --backend gloo "${words[@]}" -t 3 $setting && right "$program $setting"
    done
  done
}
each "--skew linear" "--skew one-large" --
each "--objects 1" "--objects 300" --
each "--tensors uniform:1" "--tensors resnet50" "--tensors llama-block" --
each "--no-async" --
each "--bucket-mb 0" "--bucket-mb 0.01" "--bucket-mb -1" --
each "--mode broadcast" -- sync_buffer
each "--mode all_gather" -- sync_seed
each "-o all" "-o sum" -- reduce_dict
each "-r all" --
args=("${few[@]}")
each "--tensors uniform:1000" --
each "-d all -o all" -- all_reduce_dict all_reduce_params
each "-d all" -- broadcast_tensors sync_buffer sync_grad
mkdir "$work/shared"
each "--via gpu" "--via cpu --shared-dir $work/shared" --
[ -z "$(ls -A "$work/shared")" ] || fail "left behind in the shared folder: $(ls -A "$work/shared")"
# What a killed job has left goes when the next one begins; what lives, and what is not known to be dead, stays.
"$bin/collect_results_perf" --backend gloo -t 3 --sizes 1M -n 5 -N 0 --via cpu --shared-dir "$work/shared" >"$work/out" 2>"$work/err" &
killed=$!
for _ in $(seq 200); do left=$(find "$work/shared" -name "collect_results.*.$killed.*"); [ -n "$left" ] && kill -STOP "$killed" && break; done
left=$(find "$work/shared" -name "collect_results.*.$killed.*")
while [ -z "$left" ]; do # stopped between two
  kill -CONT "$killed" || break; sleep 0.01; kill -STOP "$killed"
  left=$(find "$work/shared" -name "collect_results.*.$killed.*")
done
mkdir "$work/shared/collect_results.other-1.$killed.AAAAAA"
collect() { run 0 "a folder of a process that $1" "$bin/collect_results_perf" --backend gloo "${args[@]}" -t 3 --via cpu --shared-dir "$work/shared"; }
collect lives
[ -d "$left" ] || fail "the folder of a process that lives is gone"
kill -KILL "$killed"
wait "$killed" 2>/dev/null
collect "was killed"
[ "$(ls "$work/shared")" = "collect_results.other-1.$killed.AAAAAA" ] || fail "in the shared folder: $(ls -A "$work/shared")"

# What the padding costs, what the model's size gives, what is in the files.
run 0 "padding" "$bin/all_gather_object_perf" --backend gloo --sizes 64K -n 1 -t 4 --skew one-large -J "$work/rows.jsonl"
expect_in "$work/out" "with padding 3.988 B are sent for 1 B" # 4 x 16000 of 16000 + 3 x 16 floats
expect_in "$work/rows.jsonl" '"padding_waste":3.98'
expect_in "$work/rows.jsonl" '"sizes_s":'
run 0 "a model's size" "$bin/all_reduce_params_perf" --backend gloo --sizes 102228128 -n 1 -w 0 -t 2 --tensors resnet50
grep -qE '^ +102228128 +25557032 ' "$work/out" || fail "not the model's size"

refused() { # CODE WHAT PROGRAM ARGUMENTS...
  local code=$1 what=$2 program=$3; shift 3
  run "$code" "refused: $program $*" "$bin/${program}_perf" --backend gloo -t 3 --sizes 5000 -n 1 "$@"
  expect_in "$work/err" "$what"
  [ "$(wc -l <"$work/err")" -le 3 ] || fail "more than one clear line: $(cat "$work/err")"
}
refused 2 "accepted: resnet50, llama-block, uniform:N" sync_grad --tensors vgg
refused 2 "accepted" sync_grad --tensors uniform:0
refused 2 "accepted" all_reduce_dict --objects 0
refused 2 "accepted" all_reduce_params --bucket-mb -2
refused 2 "accepted" collect_results --via tpu
refused 2 "--objects: broadcast_perf has no lists of objects" broadcast --objects 3
refused 3 "-o: sync_grad_perf has no max; accepted: avg" sync_grad -o max
refused 3 "-d: broadcast_tensors_perf has no int8" broadcast_tensors -d int8
refused 3 "-d: average_metrics_perf has no double; accepted: float" average_metrics -d double
refused 2 "--shared-dir: '$work/nowhere' is not a folder" collect_results --via cpu --shared-dir "$work/nowhere"
finish
