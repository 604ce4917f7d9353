#!/usr/bin/env bash
# scripts/gpu_check.sh and device_check: the list of steps, a machine without a GPU, and whole runs over the stand-ins for CUDA and NCCL.
. "$(dirname "$0")/lib.sh"
script=$(cd "$(dirname "$0")/../.." && pwd)/scripts/gpu_check.sh
gpu_check=(bash "$script" --prefix "$build")

run 0 "--list without a GPU" "${gpu_check[@]}" --list
for file in "$bin"/*_perf "$bin/device_check"; do expect_in "$work/out" "bin/${file##*/} "; done
for group in machine speed check programs types share flags sanitizer failures; do
  grep -q "^$group " "$work/out" || fail "--list has no step of $group"
done
run 0 "--list --only" "${gpu_check[@]}" --list --only share
grep -qv '^share ' "$work/out" && fail "--only share lists other steps"
run 2 "an unknown flag" "${gpu_check[@]}" --lists
run 2 "an unknown group" "${gpu_check[@]}" --list --only everything
run 2 "a prefix without programs" bash "$script" --prefix "$work" --list

run 0 "device_check on the host" "$bin/device_check" --memory host --quick -e 64K -d int8,float -J "$work/check.jsonl"
expect_in "$work/out" '# OK: 0 of'
expect_in "$work/check.jsonl" '"passed":true'
run 0 "device_check --speed on the host" "$bin/device_check" --memory host --speed -b 1M -n 3 -d half -J "$work/speed.jsonl"
expect_in "$work/speed.jsonl" '"compare_to_copy"'
run 2 "device_check with a wrong type" "$bin/device_check" -d floaty
expect_in "$work/err" '-d: '
run 2 "device_check with a wrong file" "$bin/device_check" --memory host -J "$work/check.txt"

if [ ! -e "$build/lib/ccl-tests/ccl-cuda.so" ]; then
  echo "SKIP of the rest: this build has no CUDA module"
  [ "$failures" -eq 0 ] && exit 77
  finish
fi
if ! "$bin/device_check" --list >/dev/null 2>&1; then
  run 3 "a machine without a GPU" "${gpu_check[@]}" --out "$work/none"
  [ "$(wc -l <"$work/err")" -eq 1 ] || fail "more than one line"
  expect_in "$work/err" 'no GPU'
  [ -e "$work/none" ] && fail "a folder was made without a GPU"
fi

fake=$build/tests/fake_gpu
if [ ! -e "$fake/lib/ccl-tests/ccl-nccl.so" ]; then
  echo "SKIP of the rest: the stand-ins for CUDA and NCCL are not built (they need nccl.h)"
  [ "$failures" -eq 0 ] && exit 77
  finish
fi
export LD_LIBRARY_PATH=$fake/lib:$fake
run 0 "device_check on a fake GPU, every type" env FAKE_GPUS=1 "$bin/device_check" --quick -e 256K
[ "$(grep -c '^ ' "$work/out")" -eq 12 ] || fail "not twelve types"
for gpus in 1 2; do
  results=$work/results-$gpus
  export FAKE_GPUS=$gpus
  # The first groups, then the rest: what is done stays done. (Checked above: check.)
  run 0 "a part of the steps on $gpus fake GPUs" "${gpu_check[@]}" --quick --out "$results" --only machine,speed,programs
  some=$(wc -l <"$results/steps.tsv")
  run 2 "results are not written over" "${gpu_check[@]}" --quick --out "$results" --only flags
  run 0 "the rest on $gpus fake GPUs" "${gpu_check[@]}" --quick --resume --out "$results" --only types,share,flags,failures
  [ "$(wc -l <"$results/steps.tsv")" -gt "$some" ] || fail "--resume did nothing"
  [ "$(cut -f 1,2 "$results/steps.tsv" | sort | uniq -d | wc -l)" -eq 0 ] || fail "a step was repeated"
  expect_in "$results/README.md" '| step | command | expected | exit code | seconds | verdict |'
  expect_in "$results/README.md" '| programs all_reduce |'
  expect_in "$results/README.md" '| failures killed |'
  expect_in "$results/README.md" "# $gpus x Fake GPU"
  expect_in "$results/README.md" 'backend=nccl library='
  [ -s "$results/programs-all_reduce.jsonl" ] || fail "no measured rows"
  [ -s "$results/logs/share-all_reduce-2.txt" ] || fail "no log"
done

# A step that fails is said, and the others go on.
run 4 "steps that fail" env NCCL_TESTS_DEVICE=98 "${gpu_check[@]}" --quick --out "$work/failing" --only flags
expect_in "$work/err" 'FAILED'
expect_in "$work/failing/README.md" '| flags host-memory |'
run 8 "no time" "${gpu_check[@]}" --quick --out "$work/late" --only programs --time 1
expect_in "$work/err" '--resume'
unset LD_LIBRARY_PATH

if command -v ldd >/dev/null; then
  run 0 "--pack" "${gpu_check[@]}" --pack "$work/packed"
  mv "$work/packed" "$work/moved here"
  for name in gpu_check.sh gpu_check_steps.sh program_flags.sh bin/device_check lib/libccl-tests.so lib/ccl-tests/ccl-nccl.so; do
    [ -e "$work/moved here/$name" ] || fail "the packed tree has no $name"
  done
  [ "$(du -sm "$work/moved here" | cut -f 1)" -le 32 ] || fail "the packed tree is larger than 32 MiB"
  LD_LIBRARY_PATH=$work/moved\ here/lib ldd "$work/moved here/bin/device_check" | grep fmt | grep -qF "$work/moved here" || fail "fmt is not packed"
  run 0 "--list from a packed tree" bash "$work/moved here/gpu_check.sh" --list
fi
finish
