#!/usr/bin/env bash
# Feeds random bytes to what reads bytes from outside: scripts/fuzz.sh [SECONDS] [TARGET...]. Needs clang with libFuzzer (package libclang-rt-14-dev).
# 600 s each for the targets of tests/fuzz, one per core at a time, under the address and undefined-behaviour sanitizers. What is found lies in
# build-fuzz/found; new inputs that reach new code are added to the archive of tests/fuzz/corpus, which it then makes as small as it can be.
# Exit codes: 0 nothing found, 2 usage, 3 no libFuzzer, 4 a build failed or something was found.
set -euo pipefail
export LC_ALL=C
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
case ${1:-} in -h | --help) sed -n '2,5s/^# //p' "$0"; exit 0 ;; esac
seconds=600
if (($#)) && [[ $1 =~ ^[0-9]+$ ]]; then seconds=$1; shift; fi
all=(frames connection members command_line faults results_file store_replies)
chosen=("$@")
((${#chosen[@]})) || chosen=("${all[@]}")
for target in "${chosen[@]}"; do
  [[ " ${all[*]} " == *" $target "* ]] || { printf "fuzz: '%s': not a target; accepted: %s\n" "$target" "${all[*]}" >&2; exit 2; }
done
compiler=$(command -v clang++-14 || command -v clang++ || true)
if [[ -z $compiler ]] || ! echo 'extern "C" int LLVMFuzzerTestOneInput(const char*, unsigned long) { return 0; }' |
  "$compiler" -x c++ - -fsanitize=fuzzer -o /dev/null 2>/dev/null; then
  echo "fuzz: no clang with libFuzzer (packages clang-14, libclang-rt-14-dev)" >&2
  exit 3
fi
cmake -S . -B build-fuzz -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O1 -g1" -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_CXX_FLAGS=-Wno-unknown-warning-option \
  -DCCL_SANITIZE=fuzzer-no-link,address,undefined -DCCL_FUZZ=ON -DCCL_TESTS=OFF -DCCL_CUDA=OFF -DCCL_NCCL=OFF -DCCL_GLOO=OFF -DCCL_OPENMPI=OFF \
  -DCCL_MPICH=OFF -DCCL_MPI_ABI=OFF -DCCL_SIMGRID=OFF >build-fuzz.log || { cat build-fuzz.log; exit 4; }
rm -f build-fuzz.log
cmake --build build-fuzz -j "$(nproc)" --target "${chosen[@]/#/fuzz_}" || exit 4

found=build-fuzz/found
mkdir -p "$found"
fuzz() { # TARGET: a line of figures; what it found, if anything
  local target=$1 archive=tests/fuzz/corpus/$1.tar.gz corpus=build-fuzz/given-$1 work=build-fuzz/corpus-$1 code=0
  rm -rf "$corpus"
  mkdir -p "$corpus" "$work"
  [[ ! -e $archive ]] || tar -xzf "$archive" -C "$corpus"
  "build-fuzz/bin/fuzz_$target" -max_total_time="$seconds" -max_len=2048 -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$found/$target-" "$work" "$corpus" >"build-fuzz/$target.log" 2>&1 || code=$?
  local executed
  executed=$(sed -n 's/^stat::number_of_executed_units: *//p' "build-fuzz/$target.log")
  echo "$target: ${executed:-?} inputs in $seconds s, $([[ $code == 0 ]] && echo 'nothing found' || echo "FOUND, see build-fuzz/$target.log")"
  ((code == 0)) || return 1
  rm -rf "build-fuzz/merged-$target" && mkdir "build-fuzz/merged-$target"
  "build-fuzz/bin/fuzz_$target" -merge=1 -max_len=512 "build-fuzz/merged-$target" "$corpus" "$work" >"build-fuzz/$target-merge.log" 2>&1
  # The same inputs make the same archive.
  (cd "build-fuzz/merged-$target" && find . -type f -size -2k -printf '%f\n' | sort | head -n 80 |
    tar --owner=0 --group=0 --numeric-owner --mtime=@0 --mode=a=r,u+w -cf - -T - | gzip -9n) >"$archive"
}
export -f fuzz
export seconds found
printf '%s\n' "${chosen[@]}" | xargs -P "$(nproc)" -I{} bash -euo pipefail -c 'fuzz {}' || exit 4
