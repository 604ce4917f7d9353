#!/usr/bin/env bash
# Installs what building ccl-tests needs and this machine lacks (Debian 12, Ubuntu 24.04).
# With everything present it needs neither root nor network and prints nothing.
# Exit codes: 0 ready, 2 usage, 3 cannot install here, 4 installing failed.
set -euo pipefail
export LC_ALL=C

usage='usage: scripts/setup.sh [--mpi] [--bench] [--lint] [--system]    --mpi: Open MPI, too; --system: what tests use, such as both MPIs, Slurm and SimGrid'
say() { printf 'setup: %s\n' "$*" >&2; }
die() { local code=$1; shift; say "$@"; exit "$code"; }

# Tools count as present when they are on PATH, wherever they come from.
tools=(g++:g++ cmake:cmake ninja:ninja-build)
packages=(libgloo-dev libfmt-dev nlohmann-json3-dev libasio-dev libhwloc-dev libxxhash-dev libtomlplusplus-dev zlib1g-dev libgtest-dev libgmock-dev)
mpi=(pkg-config openmpi-bin libopenmpi-dev)
for argument in "$@"; do
  case $argument in
    --mpi) packages+=("${mpi[@]}") ;;
    --bench) packages+=(libbenchmark-dev) ;;
    --system) packages+=("${mpi[@]}" mpich libmpich-dev libsimgrid-dev libboost-dev slurmctld slurmd slurm-client munge iproute2 locales patchelf python3 python3-venv python3-matplotlib python3-scipy python3-junitparser python3-prometheus-client libbenchmark-tools bash-completion groff-base help2man mandoc zsh valgrind) ;;
    --lint) tools+=(clang-format-14:clang-format-14 clang-tidy-14:clang-tidy-14 clang++-14:clang-14) packages+=(libclang-rt-14-dev) ;;
    -h | --help) printf '%s\n' "$usage"; exit 0 ;;
    *) die 2 "unknown argument '$argument'; $usage" ;;
  esac
done

# Fills `missing` with package names; dpkg is asked once.
find_missing() {
  missing=()
  local tool package installed=' '
  for tool in "${tools[@]}"; do
    command -v "${tool%%:*}" >/dev/null || missing+=("${tool#*:}")
  done
  if command -v dpkg-query >/dev/null; then
    installed+=$(dpkg-query -W -f '${db:Status-Status}=${Package} ' "${packages[@]}" 2>/dev/null || true)
  fi
  for package in "${packages[@]}"; do
    [[ $installed == *" installed=$package "* ]] || missing+=("$package")
  done
}

check_cmake() {
  local version
  version=$(cmake --version)
  version=${version#cmake version }
  version=${version%%[!0-9.]*}
  local major=${version%%.*} minor=${version#*.}
  minor=${minor%%.*}
  ((major > 3 || (major == 3 && minor >= 25))) ||
    die 3 "cmake $version ($(command -v cmake)) is too old: 3.25 or newer is needed (Debian 12 has 3.25, Ubuntu 24.04 has 3.28)"
}

find_missing
if ((${#missing[@]} == 0)); then
  check_cmake
  exit 0
fi
if [[ ${CCL_SKIP_SETUP:-0} == 1 ]]; then
  exit 0
fi

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  die 3 "apt is not available here (made for Debian 12 and Ubuntu 24.04); install by other means" \
    "what these Debian packages hold, then set CCL_SKIP_SETUP=1: ${missing[*]}"
fi
if [[ $(id -u) == 0 ]]; then
  as_root=(env)
elif command -v sudo >/dev/null; then
  as_root=(sudo env)
else
  die 3 "neither root nor sudo; as root run: apt-get install ${missing[*]}"
fi

# Fills `unknown` with what apt could not install now. Of a name that it does not know, "g++", apt-cache makes a pattern.
find_unknown() {
  unknown=()
  local line name='' package offered=' '
  while IFS= read -r line; do
    case $line in
      [!\ ]*:) name=${line%:} ;;
      *'Candidate: (none)') ;;
      *'Candidate: '*) offered+="$name " ;;
    esac
  done < <(apt-cache policy "${missing[@]}" 2>/dev/null)
  for package in "${missing[@]}"; do
    [[ $offered == *" $package "* ]] || unknown+=("$package")
  done
}
apt() { "${as_root[@]}" DEBIAN_FRONTEND=noninteractive apt-get -q "$@" -o DPkg::Lock::Timeout=300 </dev/null >&2; }
update() { say 'updating the package lists'; apt update || die 4 'apt-get update failed'; }
install() { apt install -y --no-install-recommends "${missing[@]}"; }

say "installing with apt-get${as_root[1]:+ (sudo)}: ${missing[*]}"
if [[ ${as_root[0]} == sudo ]]; then
  sudo env true </dev/null >&2 || die 3 "sudo refused; as root run: apt-get install ${missing[*]}"
fi
updated=false
find_unknown
if ((${#unknown[@]})); then
  update
  updated=true
  find_unknown
  ((${#unknown[@]} == 0)) ||
    die 3 "this machine's package sources do not offer ${unknown[*]} (on Ubuntu they need 'universe')"
fi
if ! install; then
  $updated && die 4 "apt-get install failed: ${missing[*]}"
  update  # lists can be older than the archive
  install || die 4 "apt-get install failed: ${missing[*]}"
fi
check_cmake
