#!/usr/bin/env bash
# Installs, builds and tests: scripts/test.sh [--preset default|asan|tsan] [--lint] [ctest arguments...]
# --lint, or CI=true: formatting and clang-tidy too. CI=true: unit and ranks tests under the asan preset as well, benchmarks are
# built, and the packages of scripts/setup.sh --system, without which tests of MPI, Slurm and several hosts are skipped.
# Exit codes: 0 passed, 2 usage, 3 setup impossible, 4 a build, a check or a test failed.
set -euo pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
ci=false
[[ ${CI:-} == true || ${CI:-} == 1 ]] && ci=true
lint=$ci
preset=default
while (($#)); do
  case $1 in
    --preset) preset=${2:-}; shift $(($# > 1 ? 2 : 1)) ;;
    --preset=*) preset=${1#*=}; shift ;;
    --lint) lint=true; shift ;;
    -h | --help) sed -n '2,5s/^# //p' "$0"; exit 0 ;;
    *) break ;;
  esac
done
case $preset in
  default) build=build ;;
  asan | tsan) build=build-$preset ;;
  *) printf "test: --preset '%s': default, asan or tsan\n" "$preset" >&2; exit 2 ;;
esac

say() { printf '== [%d s] %s\n' "$SECONDS" "$*"; }
jobs=$(nproc)
failed=()
check() { local what=$1; shift; say "$what"; "$@" || failed+=("$what"); }

configure() { cmake --preset "$@" || exit 4; }
build() { cmake --build "$1" -j "$jobs" "${@:2}" || exit 4; }
folders=(collectives src verify)
[[ -d tools ]] && folders+=(tools)
sources() { find "${folders[@]}" examples tests \( -name '*.cpp' -o -name '*.hpp' -o -name '*.cu' \) -print0; }
format() { sources | xargs -0 -r clang-format-14 --dry-run -Werror; }
# The files of the harness that the compilation database of tree $1 has.
tidy() {
  local file
  find "${folders[@]}" -name '*.cpp' | sort | while read -r file; do
    if grep -qF "\"file\": \"$PWD/$file\"" "$1/compile_commands.json"; then printf '%s\0' "$file"; fi
  done | xargs -0 -r -n 1 -P "$jobs" clang-tidy-14 --quiet -p "$1" 2>&1 |
    { grep -v ' warnings\? generated\.$' || true; }
}

# What tests of tree $1 left out, whole or in part, and why: one line for each reason.
skipped() {
  awk '/^[0-9]+\/[0-9]+ Test: / { name = $3 }
       /: Skipped$/ { getline; print $0 " (" name ")" }
       /^SKIP/ { sub(/^SKIP:? /, ""); print $0 " (" name ")" }' "$1/Testing/Temporary/LastTest.log" | sort -u
}

# The tests of tree $1, more arguments for ctest behind it. A test that fails runs once more alone: machines of CI are shared, and stall. What
# needed that is listed, and so is what the failures said, at the end where logs that were cut still have it.
run_tests() {
  local log=$1/tests.log code=0 left
  ctest --test-dir "$1" --no-tests=error --output-on-failure -j2 "${@:2}" | tee "$log" || code=$?
  left=$(skipped "$1")
  if [[ -n $left ]]; then say "left out:"; printf '%s\n' "$left"; fi
  ((code == 0)) && return
  say "failed once; what these tests said:"
  grep -E '^FAIL |: Failure$|^\[  FAILED  \]|\(Failed\)|\(Timeout\)|\*\*\*(Exception|Timeout)' "$log" | sort -u | tail -n 60
  ctest --test-dir "$1" --rerun-failed --output-on-failure
}

setup=(bash scripts/setup.sh)
options=()
if $lint; then setup+=(--lint); fi
if $ci; then setup+=(--system --bench); options+=(-DCCL_BENCHMARKS=ON); fi
"${setup[@]}"
if $lint; then check 'clang-format' format; fi
say "building ($preset)"
configure "$preset" -DCCL_WERROR=ON -DCCL_TESTS=ON "${options[@]}"
build "$build"
if $lint; then check 'clang-tidy' tidy "$build"; fi
if $ci && [[ $preset == default && $# == 0 ]]; then
  say 'building (asan)'
  configure asan -DCCL_TESTS=ON -DCCL_OPENMPI=OFF -DCCL_MPICH=OFF -DCCL_SIMGRID=OFF -DCMAKE_CUDA_ARCHITECTURES=90
  build build-asan --target tests-unit tests-ranks
  check 'tests (asan)' run_tests build-asan -L '^(unit|ranks)$'
fi
check "tests ($preset)" run_tests "$build" "$@"

if ((${#failed[@]})); then
  printf 'FAILED: %s\n' "${failed[@]}" >&2
  exit 4
fi
