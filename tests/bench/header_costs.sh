#!/usr/bin/env bash
# What headers cost: tests/bench/header_costs.sh COMMIT... compiles the library and all programs of each commit, each file alone, without precompiled headers,
# unoptimised, as -ftime-trace of clang 14 asks for, and prints the headers that took longest, summed over all files: seconds (with what a header includes), the
# files that read it, its name. Gloo and loopback; $CCL_HEADERS [10] headers of the project and of others each. Logs stay in $CCL_HEADER_COSTS [a temporary folder].
set -euo pipefail
export LC_ALL=C
if (($# == 0)) || [[ ${1:-} == -* ]]; then sed -n '2,5s/^# //p' "$0" >&2; exit 2; fi
repository=$(git -C "$(dirname -- "${BASH_SOURCE[0]}")" rev-parse --show-toplevel)
work=${CCL_HEADER_COSTS:-$(mktemp -d)}
shown=${CCL_HEADERS:-10}
mkdir -p "$work"
printf 'logs: %s\n' "$work"
export CCACHE_DISABLE=1

# Lines "SECONDS FILES NAME" of the headers that the traces below folder $1 name, the dearest first. Names of the project are relative to $1.
headers() {
  find "$1/build" -name '*.cpp.json' -print0 | xargs -0 grep -oh '"dur":[0-9]*,"name":"Source","args":{"detail":"[^"]*"' |
    sed -E "s/\"dur\":([0-9]*).*\"detail\":\"(.*)\"/\1 \2/; s| $1/build/[^ ]*| &|; s| $1/(src/\.\./)?| |; s| .*/include/| <|" |
    awk '{seconds[$2] += $1 / 1e6; ++files[$2]} END {for (name in seconds) printf "%8.1f %5d  %s\n", seconds[name], files[name], name}' | sort -rn
}

for commit; do
  clone=$work/clone
  rm -rf "$clone"
  git clone --quiet "$repository" "$clone"
  git -C "$clone" checkout --quiet "$commit"
  name=$(git -C "$clone" rev-parse --short HEAD)
  cmake -S "$clone" -B "$clone/build" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_COMPILER=clang++-14 -DCMAKE_CXX_FLAGS='-g0 -ftime-trace' \
    -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DCCL_TESTS=OFF -DCCL_CUDA=OFF -DCCL_NCCL=OFF -DCCL_OPENMPI=OFF -DCCL_MPICH=OFF -DCCL_SIMGRID=OFF >"$work/$name.log"
  cmake --build "$clone/build" -j "$(nproc)" >>"$work/$name.log"
  headers "$clone" >"$work/$name.txt"
  printf '%s: %d files\n' "$name" "$(find "$clone/build" -name '*.cpp.json' | wc -l)"
  grep -v '  <' "$work/$name.txt" | head -n "$shown" || true
  grep '  <' "$work/$name.txt" | head -n "$shown" || true
done
