#!/usr/bin/env bash
# What `scripts/test.sh --changed` asks:
#   scripts/changed.sh files COMMIT    files that differ from COMMIT, new ones too; if none differ from HEAD, those of its last commit
#   scripts/changed.sh tests FILE...   ctest's arguments for the tests that these files touch, a run of ctest a line
# Exit codes: 0, 2 usage or no such commit.
set -euo pipefail
export LC_ALL=C
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

files() {
  git rev-parse --verify --quiet "$1^{commit}" >/dev/null || { printf "changed: '%s' is no commit\n" "$1" >&2; exit 2; }
  local differ
  differ=$({ git diff --name-only "$1"; git ls-files --others --exclude-standard; } | sort -u)
  if [[ -z $differ && $1 == HEAD ]]; then differ=$(git diff --name-only HEAD~1); fi
  if [[ -n $differ ]]; then printf '%s\n' "$differ"; fi
}

# System tests of what lies under a folder. Unit, golden and house tests are quick and run always; ranks tests with any code.
system_tests_of() {
  case $1 in
    tests/system/*_test.sh) basename "$1" _test.sh ;;
    tests/system/*) echo '.*' ;;
    collectives/*) echo programs mpi example ;;
    examples/recipes/*) echo recipes readme ;;
    examples/*) echo example data_parallel install ;;
    src/backends/gloo/*) echo programs pingpong cluster gloo_source ;;
    src/backends/mpi/*) echo mpi primitives simulate acceptance_simulated ;;
    src/backends/nccl/* | src/devices/* | verify/*cu* | tests/fake_gpu/*) echo fake_gpu fake_gpu_algorithm gpu_check ;;
    src/backends/*) echo programs example bad_input ;;
    src/bootstrap/*) echo environment rendezvous launching names failures torchrun slurm ;;
    src/job/*) echo failures launching init simulate ;;
    scripts/simulate.sh | scripts/platform.sh | src/programs/simulated*) echo simulate acceptance_simulated ;;
    src/measure/* | src/model/*) echo programs plot ;;
    src/options/*) echo bad_input launching ;;
    src/primitives/* | src/programs/run_distributed*) echo primitives composites data_parallel ;;
    src/record/* | src/judge/* | src/report/*) echo files exports plot compare ;;
    src/run/* | src/core/* | src/* | verify/*) echo beside programs groups failures files mpi ;;
    tools/acceptance/*) echo acceptance acceptance_simulated acceptance_page ;;
    tools/compare/*) echo compare ;;
    tools/mesh/*) echo mesh ;;
    tools/replay/*) echo replay ;;
    tools/selftest/*) echo selftest ;;
    tools/*) echo init gpu_check ;;
    scripts/plot*) echo plot ;;
    scripts/gpu_check*) echo gpu_check ;;
    scripts/package.sh | scripts/debian_root.sh) echo package gpu_check ;;
    scripts/*) echo readme ;;
    *CMakeLists.txt | cmake/* | CMakePresets.json) echo install example ;;
    README.md | docs/*) echo readme ;;
  esac
}

tests() {
  local file system='' labels='unit|golden|house'
  for file; do
    system+=" $(system_tests_of "$file")"
    case $file in src/measure/* | tools/acceptance/* | tests/unit/acceptance*) labels+='|statistics' ;; esac
    case $file in collectives/* | src/* | verify/* | tests/ranks/* | tests/primitives/*) labels+='|ranks' ;; esac
  done
  printf -- '-L ^(%s)$\n' "$labels"
  read -r -d '' -a system < <(tr ' ' '\n' <<<"$system" | sort -u; printf '\0')
  if ((${#system[@]})); then printf -- '-R ^system.(%s)(\\.[a-z_]+)?$\n' "$(IFS='|'; printf '%s' "${system[*]}")"; fi
}

case ${1:-} in
  files) [[ $# == 2 ]] && files "$2" && exit ;;
  tests) tests "${@:2}"; exit ;;
esac
sed -n '2,5s/^# //p' "$0" >&2
exit 2
