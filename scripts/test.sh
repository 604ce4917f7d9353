#!/usr/bin/env bash
# Installs, builds and tests: scripts/test.sh [--preset default|dev|asan|tsan] [--lint] [--changed[=COMMIT]] [--nightly] [ctest arguments...]
# --lint, or CI=true: formatting and clang-tidy too. CI=true: the packages of scripts/setup.sh --system, without which tests of MPI,
# Slurm and several hosts are skipped; unit and ranks tests run under the asan preset, all others under default; clang-tidy reads what the
# last 40 commits changed, and benchmarks are built if these changed one.
# --changed: formatting, clang-tidy and tests of what differs from COMMIT [HEAD; without differences, the commit before it].
# --nightly: as CI, but everything: all tests under default too, 8 ranks, messages beyond 2 GiB, every CUDA architecture, clang-tidy over
# all files, benchmarks, unit and ranks tests under tsan.
# Exit codes: 0 passed, 2 usage, 3 setup impossible, 4 a build, a check or a test failed.
set -euo pipefail
export LC_ALL=C

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
ci=false
[[ ${CI:-} == true || ${CI:-} == 1 ]] && ci=true
lint=$ci
nightly=false
base=  # of --changed
preset=default
while (($#)); do
  case $1 in
    --preset) preset=${2:-}; shift $(($# > 1 ? 2 : 1)) ;;
    --preset=*) preset=${1#*=}; shift ;;
    --lint) lint=true; shift ;;
    --nightly) nightly=true ci=true lint=true; shift ;;
    --changed) base=HEAD; shift ;;
    --changed=*) base=${1#*=}; shift ;;
    -h | --help) sed -n '2,10s/^# //p' "$0"; exit 0 ;;
    *) break ;;
  esac
done
case $preset in
  default) build=build ;;
  dev | asan | tsan) build=build-$preset ;;
  *) printf "test: --preset '%s': default, dev, asan or tsan\n" "$preset" >&2; exit 2 ;;
esac

say() { printf '== [%d s] %s\n' "$SECONDS" "$*"; }
jobs=$(nproc)
failed=()
check() { local what=$1; shift; say "$what"; "$@" || failed+=("$what"); }

configure() { cmake --preset "$@" || exit 4; }
build() { cmake --build "$1" -j "$jobs" "${@:2}" || exit 4; }
sources() { find collectives src verify tools examples tests \( -name '*.cpp' -o -name '*.hpp' -o -name '*.cu' \) -print0; }
format() { sources | xargs -0 -r clang-format-14 --dry-run -Werror; }

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
  ctest --test-dir "$1" --no-tests=error --output-on-failure -j $((5 * jobs / 2)) "${@:2}" | tee "$log" || code=$?
  left=$(skipped "$1")
  if [[ -n $left ]]; then say "left out:"; printf '%s\n' "$left"; fi
  ((code == 0)) && return
  say "failed once; what these tests said:"
  grep -E '^FAIL |: Failure$|^\[  FAILED  \]|\(Failed\)|\(Timeout\)|\*\*\*(Exception|Timeout)' "$log" | sort -u | tail -n 60
  ctest --test-dir "$1" --rerun-failed --output-on-failure
}

if [[ -n $base ]]; then
  mapfile -t changed < <(bash scripts/changed.sh files "$base")
  ((${#changed[@]})) || { say "nothing differs from $base"; exit 0; }
  say "differs from $base: ${changed[*]}"
  lint=true
fi
# What clang-tidy reads, and whether benchmarks are built: by what changed since then; empty: everything.
since=$base
if [[ -z $since ]] && $ci && ! $nightly; then since=$(git rev-parse --verify --quiet HEAD~40 || true); fi
benchmarks=$nightly
if [[ -z $since ]] || bash scripts/changed.sh files "$since" | grep -q '^tests/bench/'; then benchmarks=true; fi
setup=(bash scripts/setup.sh)
options=()
if $lint || [[ $preset == dev ]]; then setup+=(--lint); fi  # dev: clang
if $ci; then setup+=(--system); fi
if $ci && $benchmarks; then setup+=(--bench); options+=(-DCCL_BENCHMARKS=ON); fi
both=false  # asan for unit and ranks tests, default for the others
if $ci && [[ $preset == default && $# == 0 ]]; then both=true; fi
if $both && ! $nightly; then options+=(-DCCL_TESTS_ELSEWHERE='unit;ranks' -DCMAKE_CUDA_ARCHITECTURES=90); fi
if $nightly; then
  export CCL_NIGHTLY=1 CCL_TIDY_ALONE=1
  options+=(-DCMAKE_UNITY_BUILD=OFF)  # each file includes what it uses
fi
"${setup[@]}"
if $lint; then check 'clang-format' format; fi
say "building ($preset)"
configure "$preset" -DCCL_WERROR=ON -DCCL_TESTS=ON "${options[@]}"
build "$build"
if $lint; then check 'clang-tidy' bash scripts/tidy.sh "$build" ${since:+"$since"}; fi
# clang needs half of g++'s time for a sanitized build, and finds more: null pointers that are moved, for one.
small=(-DCCL_TESTS=ON -DCCL_OPENMPI=OFF -DCCL_MPICH=OFF -DCCL_MPI_ABI=OFF -DCCL_SIMGRID=OFF -DCMAKE_CUDA_ARCHITECTURES=90)
# Its thread sanitizer does not know pthread_cond_clockwait, and takes every unlock behind one for a wrong one.
sanitized() { # PRESET COMPILER: unit and ranks tests under it
  say "building ($1)"
  configure "$1" --fresh -DCCL_WERROR=ON "${small[@]}" -DCMAKE_CXX_COMPILER="$2"  # fresh: a tree of another compiler would lose the preset's settings
  build "build-$1" --target tests-unit tests-ranks
  check "tests ($1)" run_tests "build-$1" -L '^(unit|ranks)$'
}
if $both; then sanitized asan clang++-14; fi
if $nightly; then sanitized tsan g++; fi
if $both && ! $nightly; then set -- -L '^(golden|house|modules|system|statistics)$'; fi
if [[ -n $base ]]; then
  while read -r option pattern; do
    check "tests ($preset), $option $pattern" run_tests "$build" "$option" "$pattern" "$@"
  done < <(bash scripts/changed.sh tests "${changed[@]}")
else
  check "tests ($preset)" run_tests "$build" "$@"
fi

if ((${#failed[@]})); then
  printf 'FAILED: %s\n' "${failed[@]}" >&2
  exit 4
fi
