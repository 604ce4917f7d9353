#!/usr/bin/env bash
# scripts/gpu_check.sh and device_check: the list of steps, a machine without a GPU, and whole runs over the stand-ins for CUDA and NCCL.
. "$(dirname "$0")/lib.sh"
script=$(cd "$(dirname "$0")/../.." && pwd)/scripts/gpu_check.sh
gpu_check=(bash "$script" --prefix "$build")

run 0 "--list without a GPU" "${gpu_check[@]}" --list
expect_in "$work/out" "-d all -o all --sizes 64,4K,odd "
for file in "$bin"/*_perf "$bin/device_check"; do
  [[ ${file##*/} == mesh_perf ]] || expect_in "$work/out" "bin/${file##*/} " # it refuses NCCL
done
for group in machine first speed check programs types share flags sanitizer failures; do
  grep -q "^$group " "$work/out" || fail "--list has no step of $group"
done
run 0 "--list --only" "${gpu_check[@]}" --list --only share
grep -qv '^share ' "$work/out" && fail "--only share lists other steps"
run 2 "an unknown flag" "${gpu_check[@]}" --lists
run 2 "an unknown group" "${gpu_check[@]}" --list --only everything
run 0 "--list with --beside" "${gpu_check[@]}" --list --beside "$bin/all_reduce_perf" --limit 7
[ "$(grep -c '^beside .* within   7 s ' "$work/out")" -eq 6 ] || fail "--list has not three rounds of both"
: >"$work/no program"
run 2 "--beside without a program" "${gpu_check[@]}" --list --beside "$work/no program"
[ "$(wc -l <"$work/err")" -eq 1 ] || fail "more than one line"
expect_in "$work/err" 'is no program; accepted: '
run 2 "--only beside alone" "${gpu_check[@]}" --list --only beside
run 2 "--figures without a file" "${gpu_check[@]}" --list --figures "$work/none.txt"
run 2 "a prefix without programs" bash "$script" --prefix "$work" --list

run 0 "device_check on the host" "$bin/device_check" --memory host --quick -e 64K -d int8,float -J "$work/check.jsonl"
expect_in "$work/out" '# OK: 0 of'
expect_in "$work/check.jsonl" '"passed":true'
verifier_speed=$bin/verifier_speed # there with CCL_BENCHMARKS
[ -x "$verifier_speed" ] || verifier_speed=$build/bench/verifier_speed
run 0 "verifier_speed on the host" "$verifier_speed" --memory host -b 1M -n 3 -d half -J "$work/speed.jsonl"
for key in '"bytes":1048576' '"compare_to_copy"' '"fill_to_constant"'; do expect_in "$work/speed.jsonl" "$key"; done
"$bin/device_check" --memory host --quick -e 64K -d int8 2>"$work/err" >/dev/full
[ $? -eq 4 ] || fail "device_check lost its report without an error"
expect_in "$work/err" 'cannot write to standard output'
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
export FAKE_NCCL_VERSION=22907  # an older one leaves tails unwritten, which the steps would find
run 0 "device_check on a fake GPU, every type" env FAKE_GPUS=1 "$bin/device_check" --quick -e 256K
[ "$(grep -c '^ ' "$work/out")" -eq 12 ] || fail "not twelve types"
# nccl_overhead is left out: its CUDA runtime is linked in, so that the stand-ins are not seen.
tree=$work/tree
mkdir -p "$tree/bin"
ln -s "$build/lib" "$tree/lib"
for file in "$bin"/*; do [ "${file##*/}" = nccl_overhead ] || ln -s "$file" "$tree/bin/"; done
ln -sf "$verifier_speed" "$tree/bin/"
gpu_check=(bash "$script" --prefix "$tree")
# An nvidia-smi that lists a process of another PID namespace, a new one each time.
mkdir "$work/path"
cat >"$work/path/nvidia-smi" <<'END'
#!/bin/sh
case "$*" in *compute-apps*) echo $((5000000 + $(date +%N | sed 's/^0*//') % 1000000)) ;; esac
END
chmod +x "$work/path/nvidia-smi"
run 0 "--list of several GPUs" env FAKE_GPUS=4 "${gpu_check[@]}" --list --only first,sanitizer
for words in '-t 4 --memory host -b 8 -e 64M -f 2 -T 20' 'pingpong_perf --backend nccl -t 4 -T 20' '--np 4 -b 8 -e 8G -f 2' '--sizes 4K -N 20' \
  '--report-api-errors no --error-exitcode 9 bin/all_reduce_perf --backend nccl -t 1 '; do
  expect_in "$work/out" "$words"
done
# The first ten minutes. CUDA_VISIBLE_DEVICES is what --backend auto knows the GPUs by.
cat >"$work/figures" <<'END'
# as in gpu_check_figures.sh
Fake * | * | copy | 0.0001 | 1000000
Fake * | 1 | fill | 1000000 | 2000000
Fake GPU | * | compare | 0 | 0.0001
Fake GPU | 4 | fill | 0 | 0.0001
END
few=(env FAKE_GPU_MEMORY=67108864 'CUDA_VISIBLE_DEVICES=0,1,2,3' PATH="$work/path:$PATH")
for gpus in 1 4; do
  results=$work/first-$gpus
  run 0 "the first group on $gpus fake GPUs" "${few[@]}" FAKE_GPUS="$gpus" "${gpu_check[@]}" --quick --out "$results" --only first
  expect_in "$results/README.md" '## Figures'
  expect_in "$results/README.md" '| copy | float, '
  expect_in "$results/README.md" '| 1 rank, 8 B, out of place | all_reduce |'
  expect_in "$work/out" 'no expectation for this GPU'
  expect_in "$work/out" 'does not change the exit code'
  grep -q '^| first share | .* | passed |$' "$results/README.md" || fail "processes do not share a GPU"
  grep -q '^| first share-threads | .* | left out: threads share a GPU from NCCL 2.30 on, here is 22[0-9]* |$' "$results/README.md" ||
    fail "threads that share a GPU are not left out with the reason"
  grep -q 'as expected |$' "$results/README.md" && fail "a figure of a GPU that nothing is expected of"
  run 0 "made-up figures for $gpus fake GPUs" "${few[@]}" FAKE_GPUS="$gpus" "${gpu_check[@]}" --quick --resume --out "$results" --only first --figures "$work/figures"
  expect_in "$results/README.md" '| GB/s | as expected |'
  expect_in "$results/README.md" '| 0..0.0001 | GB/s | above |'
  expect_in "$results/README.md" '| us | no expectation |'
  [ "$gpus" -gt 1 ] || expect_in "$results/README.md" '| 1000000..2000000 | GB/s | below |'
  [ "$gpus" -eq 1 ] || expect_in "$results/README.md" '| busbw | all_reduce, processes, '
  expect_in "$results/logs/first-speed.txt" '(of 2147483648: the memory)'
  tar -tzf "$results/results.tgz" | grep -q '/README.md$' || fail "the results are not packed"
done

# Another program's table beside ours, of which fewer iterations are enough here.
cp -a "$tree" "$work/short"
rm "$work/short/bin/all_reduce_perf"
cat >"$work/short/bin/all_reduce_perf" <<END
#!/bin/bash
words=" \$*"
words=\${words/ -n 20/ -n 2}
read -ra words <<<"\${words/ -w 5/ -w 1}"
exec "$bin/all_reduce_perf" "\${words[@]}"
END
chmod +x "$work/short/bin/all_reduce_perf"
beside() { # code, name, folder, program, arguments
  run "$1" "$2" "${few[@]}" FAKE_GPUS=1 bash "$script" --prefix "$work/short" --quick --out "$work/$3" --only beside --beside "$4" "${@:5}"
}
beside 0 "our own program beside ours" beside-ours "$work/short/bin/all_reduce_perf"
expect_in "$work/beside-ours/README.md" '## Beside nccl-tests'
[ "$(grep -cE '^[0-9]+(\s[-0-9.]+){8}$' "$work/beside-ours/beside.tsv")" -eq 18 ] || fail "not 18 sizes in beside.tsv"
[ "$(grep -cE '^\| [0-9]+ (\| [-0-9.]+ ){8}\|$' "$work/beside-ours/README.md")" -eq 18 ] || fail "not 18 sizes in README.md"
expect_in "$work/out" 'From 1 MiB up, ours / theirs: out of place '
expect_in "$work/out" ' of 17 within 0.5 us)'
beside 2 "another program goes on" beside-ours /bin/true --resume
expect_in "$work/err" 'another folder'
# Its times are twice ours, as far as rounds that came before can say.
cat >"$work/canned" <<'END'
#!/bin/sh
echo '# nccl-tests version 2.17.6 nccl-headers=22809 nccl-library=22809'
echo '#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong'
awk -F '\t' '$1 == "ours" && $2 == 1 { printf "%12d %13d %9s %7s %7d %8.2f %7.2f %7.2f %6s %8.2f %7.2f %7.2f %6s\n", $3, $3 / 4, "float", "sum", -1, 2 * $4, 0, 0, 0, 2 * $5, 0, 0, 0 }' "${0%/*}/beside-ours/beside-rounds.tsv"
echo '# Out of bounds values : 0 OK'
END
chmod +x "$work/canned"
beside 0 "a canned table beside ours" beside-canned "$work/canned"
expect_in "$work/beside-canned/README.md" 'nccl-tests version 2.17.6'
awk -F '\t' 'NR == FNR { if ($1 == "ours" && $2 == 1) twice[$3] = sprintf("%.2f", 2 * $4); next } FNR > 1 && $2 != twice[$1] { bad = 1 } END { exit bad }' \
  "$work/beside-ours/beside-rounds.tsv" "$work/beside-canned/beside.tsv" || fail "theirs is not what they printed"
# The arithmetic, by rounds that are made up: ratios 0.5 (0.4, 0.5, 0.9), in place 1.02; differences -0.25 and 0.5.
for round in 1 2 3; do
  for side in theirs ours; do
    time=2 small=5.25 in_place=100
    [ "$side" = ours ] && small=5 in_place=102 && case $round in 1) time=0.8 ;; 2) time=1 ;; *) time=1.8 ;; esac
    printf '%s\t%s\t8\t%s\t%s\n%s\t%s\t1048576\t%s\t%s\n' "$side" "$round" "$small" "$small" "$side" "$round" "$time" "$in_place"
  done
done >"$work/beside-canned/beside-rounds.tsv"
beside 0 "made-up rounds" beside-canned "$work/canned" --resume
expect_in "$work/out" 'out of place 0.500 to 0.500 (0 of 1 within 3 %), in place 1.020 to 1.020 (1 of 1 within 3 %)'
expect_in "$work/out" 'out of place -0.25 to -0.25 (1 of 1 within 0.5 us)'
printf '#!/bin/sh\necho broken\nexit 3\n' >"$work/broken"
printf '#!/bin/sh\nsleep 1000\n' >"$work/hanging"
printf '#!/bin/sh\necho "no table"\n' >"$work/silent"
chmod +x "$work/broken" "$work/hanging" "$work/silent"
beside 4 "a program that fails" beside-broken "$work/broken"
expect_in "$work/beside-broken/README.md" 'theirs-1: FAILED (exit 3'
expect_in "$work/beside-broken/README.md" 'left out: an earlier round failed'
beside 4 "a program without a table" beside-silent "$work/silent"
expect_in "$work/err" 'no table'
beside 5 "a program that hangs" beside-hanging "$work/hanging" --limit 3
expect_in "$work/beside-hanging/README.md" 'theirs-1: timed out'

for gpus in 1 2; do
  results=$work/results-$gpus
  export FAKE_GPUS=$gpus
  # The first groups, then the rest: what is done stays done. (Checked above: check.) speed and share use one GPU, however many there
  # are; on two, reductions have something to add, and a rank that fails has a peer. Nightly each runs everything. On one the NCCL is newer.
  newer=()
  [ "$gpus" -gt 1 ] || newer=(env FAKE_NCCL_VERSION=23007)
  on_one=speed,share, rest=flags
  [ "$gpus" -eq 1 ] || on_one='' rest=types,failures
  [ -z "${CCL_NIGHTLY:-}" ] || on_one=speed,share, rest=types,flags,failures
  run 0 "a part of the steps on $gpus fake GPUs" "${newer[@]}" "${gpu_check[@]}" --quick --out "$results" --only "${on_one}machine,programs"
  some=$(wc -l <"$results/steps.tsv")
  run 2 "results are not written over" "${gpu_check[@]}" --quick --out "$results" --only flags
  run 0 "the rest on $gpus fake GPUs" env PATH="$work/path:$PATH" "${gpu_check[@]}" --quick --resume --out "$results" --only "$rest"
  [ "$(wc -l <"$results/steps.tsv")" -gt "$some" ] || fail "--resume did nothing"
  [ "$(cut -f 1,2 "$results/steps.tsv" | sort | uniq -d | wc -l)" -eq 0 ] || fail "a step was repeated"
  expect_in "$results/README.md" '| step | command | expected | exit code | seconds | verdict |'
  expect_in "$results/README.md" '| programs all_reduce |'
  [[ $rest != *failures* ]] || expect_in "$results/README.md" '| failures killed |'
  expect_in "$results/README.md" "# $gpus x Fake GPU"
  expect_in "$results/README.md" 'backend=nccl library='
  [ -s "$results/programs-all_reduce.jsonl" ] || fail "no measured rows"
  [ -z "$on_one" ] || [ -s "$results/logs/share-all_reduce-2.txt" ] || fail "no log of a shared GPU"
  if [ "$gpus" -eq 1 ]; then
    for step in all_reduce-2-threads all_reduce-3-threads types-2-threads times-threads; do
      grep -q "^| share $step | .* | passed |$" "$results/README.md" || fail "share $step has not passed"
    done
  fi
  [ -s "$results/logs/programs-all_reduce.txt" ] || fail "no log"
done

# A step that fails is said, and the others go on.
run 4 "steps that fail" env NCCL_TESTS_DEVICE=98 "${gpu_check[@]}" --quick --out "$work/failing" --only flags
expect_in "$work/err" 'FAILED'
expect_in "$work/failing/README.md" '| flags host-memory |'
run 8 "no time" "${gpu_check[@]}" --quick --out "$work/late" --only programs --time 1
expect_in "$work/err" '--resume'
unset LD_LIBRARY_PATH FAKE_NCCL_VERSION

if command -v patchelf >/dev/null; then
  run 0 "--pack" bash "$script" --prefix "$build" --pack "$work/packed"
  mv "$work/packed" "$work/moved here"
  for name in scripts/gpu_check.sh scripts/gpu_check_steps.sh scripts/gpu_check_figures.sh scripts/gpu_check_beside.sh scripts/program_flags.sh bin/device_check lib/libccl-tests.so lib/ccl-tests/ccl-nccl.so; do
    [ -e "$work/moved here/$name" ] || fail "the packed tree has no $name"
  done
  [ "$(du -sm "$work/moved here" | cut -f 1)" -le 32 ] || fail "the packed tree is larger than 32 MiB"
  ldd "$work/moved here/bin/device_check" | grep fmt | grep -qF "$work/moved here" || fail "fmt is not packed"
  run 0 "--list from a packed tree" bash "$work/moved here/scripts/gpu_check.sh" --list
fi
finish
