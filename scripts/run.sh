#!/usr/bin/env bash
# Builds one program when it is not up to date, then runs it: scripts/run.sh all_reduce_perf -b 8 -e 1G
# stdout is the program's alone. Exit code: the program's; 2 usage, 3 setup impossible, 4 build failed.
set -euo pipefail
export LC_ALL=C

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
say() { printf 'run: %s\n' "$*" >&2; }

programs=(init_perf device_check ccl_acceptance ccl_compare ccl_replay ccl_selftest mesh_perf)
for file in "$root"/collectives/*.cpp; do
  [[ -e $file ]] || continue
  file=${file##*/}
  programs+=("${file%.cpp}_perf")
done
program=${1:-}
if [[ $program == -h || $program == --help ]]; then
  printf 'Builds a program of the suite when it is not up to date, then runs it.\nusage: scripts/run.sh PROGRAM [ARGS...]\nPROGRAM is one of:\n'
  printf '  %s\n' "${programs[@]}"
  exit 0
fi
if [[ " ${programs[*]} " != *" $program "* ]]; then
  say "${program:-no program}: not a program of the suite; usage: scripts/run.sh PROGRAM [ARGS...], PROGRAM one of: ${programs[*]}"
  exit 2
fi
shift

build=$root/build
log=$build/run.log
logged() {
  "$@" 2>&1 </dev/null | show_progress || {
    cat "$log" >&2
    say "failed: $* (log: $log)"
    exit 4
  }
}

# Copies lines to the log. With progress=yes, ninja's first command "[1/312] Building" says how long the build takes, and on a terminal
# its count stands on a line that rewrites itself. Ninja's own dry run cannot tell: it stops where it would run CMake again.
show_progress() {
  local line shown=
  while IFS= read -r line; do
    printf '%s\n' "$line" >>"$log"
    [[ ${progress:-} && $line =~ ^\[[0-9]+/([0-9]+)\]' '(Building|Linking) ]] || continue
    [[ $shown ]] || say "building $program ($(estimate "${BASH_REMATCH[1]}"); log: ${log#"$PWD"/})"
    shown=1
    [[ ! -t 2 ]] || printf '\rrun: building %s %s ' "$program" "${line%% *}" >&2
  done
  [[ -z $shown || ! -t 2 ]] || printf '\r\e[K' >&2
}

# Prints how long $1 commands of the build take here: 1.25 s of a core each, if nothing else runs. Kernels for GPUs take longer.
estimate() {
  local minutes=$((($1 * 5 / 4 / $(nproc) + 30) / 60))
  case $minutes in
    0) echo 'less than a minute' ;;
    1) echo 'about 1 minute' ;;
    *) echo "about $minutes minutes" ;;
  esac
}

# Does anything point to a GPU? Without one the modules for GPUs need not be waited for; with one, its own generation is enough.
gpu() {
  [[ -n ${CUDA_VISIBLE_DEVICES:-}${SLURM_JOB_GPUS:-}${SLURM_STEP_GPUS:-} || " $* " == *nccl* || " $* " == *cuda* ]] ||
    grep -qs '^0x10de$' /sys/bus/pci/devices/*/vendor
}

prepare() {
  local modules=cpu-modules architectures=()
  if gpu "$@"; then modules=modules; fi
  if ! mkdir -p "$build" 2>/dev/null || [[ ! -w $build ]]; then
    say "cannot write to $build (made by another user?)"
    exit 4
  fi
  exec 9>"$build/.run.lock"
  flock 9  # several ranks of one host may come here at once
  bash "$root/scripts/setup.sh" >&2 9>&-
  : >"$log"
  if [[ ! -e $build/build.ninja || $root/CMakePresets.json -nt $build/build.ninja ]]; then
    say 'configuring'
    if nvidia-smi -L >/dev/null 2>&1; then architectures=(-DCMAKE_CUDA_ARCHITECTURES=native); fi
    (cd "$root" && logged cmake --preset default "${architectures[@]}")
  fi
  local began=$SECONDS
  progress=yes logged cmake --build "$build" --target "$program" "$modules"
  if grep -qE '^\[[0-9]+/[0-9]+\] (Building|Linking)' "$log"; then
    say "built $program in $(((SECONDS - began) / 60)) min $(((SECONDS - began) % 60)) s"
  fi
  exec 9>&-
}
prepare "$@"
exec "$build/bin/$program" "$@"
