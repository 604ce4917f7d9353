#!/bin/sh
# Is NCCL right on a machine with one GPU, such as a CI runner? Runs two ranks on the GPU, with NCCL's
# own kernels between them: every data type, every reduction, every call verified.
#
#   examples/recipes/one_gpu.sh --library /path/libnccl.so.2    # threads share the GPU: NCCL 2.30 or newer
#   RANKS="--np 2" examples/recipes/one_gpu.sh                  # processes: any NCCL, milliseconds a call
#
# What it runs first is all_reduce_perf --backend nccl -t 2 --share-gpus. Arguments are flags for each
# program. RANKS: the ranks [-t 2]. BIN: the folder of the programs [build/bin].
# Exit code: 3 if there is no GPU here, which a line beginning with SKIP says, or if NCCL is older;
# otherwise as right.sh: 0 if all results are right, 7 wrong data, 4 a library or a rank failed,
# 5 timed out, 2 usage.
set -u
export LC_ALL=C
case ${1-} in -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit 0 ;; esac
if ! gpus=$("${BIN:-build/bin}/device_check" --list 2>&1); then
  echo "SKIP one_gpu.sh: $gpus"
  exit 3
fi
# shellcheck disable=SC2086 # RANKS is several words
exec "$(dirname -- "$0")/right.sh" --backend nccl ${RANKS:--t 2} --share-gpus "$@"
