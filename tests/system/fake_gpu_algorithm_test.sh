#!/usr/bin/env bash
# --show-algorithm: the NCCL module as the profiler plugin of a stand-in for NCCL, on GPUs that are stand-ins too.
. "$(dirname "$0")/lib.sh"
fake=$build/tests/fake_gpu
if [ ! -e "$fake/lib/ccl-tests/ccl-nccl.so" ]; then
  echo "SKIP: this build has no stand-ins for CUDA and NCCL (the toolkit and nccl.h)"
  exit 77
fi
export LD_LIBRARY_PATH=$fake/lib:$fake FAKE_GPUS=4
unset NCCL_PROFILER_PLUGIN FAKE_NCCL_VERSION
args=(--backend nccl --sizes 32K,256K -n 2 -w 1 -d float)

# The rows' algorithms, in order.
told() { sed -n 's/^#   algorithm: //p' "$work/out" | paste -sd '|'; }
tells() { # name expected
  [ "$(told)" = "$2" ] || fail "$1: told '$(told)', not '$2'"
}
both='RING/LL, 2 channels|RING/SIMPLE, 2 channels'
for ranks in 3 4; do
  for where in -t --np; do
    run 0 "all_reduce, $where $ranks" "$bin/all_reduce_perf" "${args[@]}" $where $ranks --show-algorithm -J "$work/x.jsonl" &&
      tells "all_reduce, $where $ranks" "$both"
    grep -qF '"algorithm":"RING/SIMPLE, 2 channels"' "$work/x.jsonl" || fail "$where $ranks: not in the file"
  done
done
run 0 "without the flag" "$bin/all_reduce_perf" "${args[@]}" -t 3 && tells "without the flag" ''
run 0 "one rank" "$bin/all_reduce_perf" "${args[@]}" -t 1 --show-algorithm && tells "one rank" ''
run 0 "in place alone" "$bin/all_reduce_perf" "${args[@]}" -t 3 -O 0 --show-algorithm && tells "in place alone" "$both"
run 0 "a graph" "$bin/all_reduce_perf" "${args[@]}" -t 3 -G 2 --show-algorithm && tells "a graph" "$both"
run 0 "in groups" "$bin/all_reduce_perf" "${args[@]}" -t 4 --group '%2' --group-rows 1 --show-algorithm &&
  tells "in groups" 'RING/LL, 2 channels|RING/LL, 2 channels|RING/SIMPLE, 2 channels|RING/SIMPLE, 2 channels'
run 0 "messages" "$bin/alltoall_perf" "${args[@]}" -t 3 --show-algorithm && tells "messages" 'P2P, 2 channels|P2P, 2 channels'
# The barriers between measurements are no part of a row; a barrier that is measured is.
run 0 "barrier" "$bin/barrier_perf" --backend nccl -n 2 -t 3 --show-algorithm && tells "barrier" 'RING/LL, 2 channels'
run 0 "broadcast of 256 KiB" "$bin/broadcast_perf" --backend nccl --sizes 256K -n 2 -t 3 --show-algorithm &&
  tells "broadcast of 256 KiB" 'RING/SIMPLE, 2 channels'
for version in 22700 22600; do
  FAKE_NCCL_VERSION=$version run 0 "NCCL $version" "$bin/all_reduce_perf" "${args[@]}" -t 3 --show-algorithm && tells "NCCL $version" "$both"
done

refused() { # name words...
  [ "$(wc -l <"$work/err")" = 1 ] || fail "$1: not one line: $(cat "$work/err")"
  expect_in "$work/err" "$2"
}
FAKE_NCCL_VERSION=22506 run 3 "NCCL 2.25" "$bin/all_reduce_perf" "${args[@]}" -t 3 --show-algorithm &&
  refused "NCCL 2.25" "--show-algorithm: needs NCCL 2.26, here is 2.25.6"
NCCL_PROFILER_PLUGIN=other run 3 "another plugin" "$bin/all_reduce_perf" "${args[@]}" -t 3 --show-algorithm &&
  refused "another plugin" "NCCL_PROFILER_PLUGIN is set to other"
NCCL_PROFILER_PLUGIN=other run 0 "another plugin, not asked" "$bin/all_reduce_perf" "${args[@]}" -t 3
finish
