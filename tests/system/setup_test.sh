#!/usr/bin/env bash
# scripts/setup.sh and scripts/run.sh on machines made of stub commands: PATH holds nothing else.
set -euo pipefail
export LC_ALL=C
scripts=$1
bash=$(command -v bash)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
grep=$(command -v grep)
libraries='libgloo-dev libfmt-dev nlohmann-json3-dev libasio-dev libhwloc-dev libxxhash-dev libtomlplusplus-dev zlib1g-dev libgtest-dev libgmock-dev'

# stub NAME SCRIPT: a command on the fake PATH.
stub() {
  printf '#!%s\n%s\n' "$bash" "$2" >"$work/bin/$1"
  chmod +x "$work/bin/$1"
}
# A machine with the tools, where dpkg knows the packages listed in $work/installed.
machine() {
  rm -rf "${work:?}/bin" "$work/calls" "$work/lists"
  mkdir "$work/bin"
  : >"$work/calls"
  echo "$libraries" >"$work/installed"
  ln -s "$grep" "$work/bin/grep"
  stub env "exec $(command -v env) \"\$@\""
  stub g++ ''
  stub ninja ''
  stub true ''
  stub cmake 'echo "cmake version 3.25.1"'
  stub dpkg-query "read -r -a known <$work/installed; for p in \"\${known[@]}\"; do printf 'installed=%s ' \"\$p\"; done"
}
add_apt() {
  # Offers what $work/offered lists, once the lists are there; names that it does not know are patterns, as with apt.
  echo "$libraries" >"$work/offered"
  stub apt-cache "shift
[[ -e $work/lists ]] && read -r offered <$work/offered
for p in \"\$@\"; do
  case \" \$offered \" in
    *\" \$p \"*) printf '%s:\n  Installed: (none)\n  Candidate: 1.0\n' \"\$p\" ;;
    *) printf '%s:\n  Candidate: 1.0\n' gpgv libgcc-s1 logsave; printf '%s:\n  Candidate: (none)\n' \"\$p\" ;;
  esac
done"
  stub apt-get "echo \"apt-get \$*\" >>$work/calls; [[ \$2 != update ]] || : >$work/lists"
}
user() { stub id "echo $1"; }

# expect CODE PATTERN ARGS...: runs setup.sh; its output must match PATTERN.
expect() {
  local code=$1 pattern=$2 status=0 output
  shift 2
  output=$(PATH=$work/bin "$bash" "$scripts/setup.sh" "$@" 2>&1 </dev/null) || status=$?
  # shellcheck disable=SC2053
  if [[ $status != "$code" || $output != $pattern ]]; then
    printf '%s: exit %s (not %s), output: %s\n' "${BASH_LINENO[0]}" "$status" "$code" "$output"
    failures=$((failures + 1))
  fi
}
expect_calls() {
  local calls
  calls=$(<"$work/calls")
  # shellcheck disable=SC2053
  if [[ $calls != $1 ]]; then
    printf '%s: calls were: %s\n' "${BASH_LINENO[0]}" "$calls"
    failures=$((failures + 1))
  fi
}

# Nothing missing: silent, and neither id, sudo nor apt is there to be asked.
machine
expect 0 ''
expect 2 "*unknown argument '--frob'*--bench*--lint*" --frob

# apt is missing: says what is needed.
machine
echo 'libfmt-dev' >"$work/installed"
rm "$work/bin/ninja" "$work/bin/dpkg-query"
expect 3 '*apt is not available*CCL_SKIP_SETUP*: ninja-build libgloo-dev*libgmock-dev'
CCL_SKIP_SETUP=1 expect 0 ''

# Neither root nor sudo: says what to install, and installs nothing.
machine
add_apt
user 1000
echo "${libraries/libgloo-dev/}" >"$work/installed"
expect 3 '*neither root nor sudo*apt-get install libgloo-dev'
expect_calls ''

# Root, fresh package lists: no update, no sudo, exactly what is missing.
machine
add_apt
user 0
: >"$work/lists"
echo "${libraries/libgloo-dev/}" >"$work/installed"
expect 0 '*installing with apt-get: libgloo-dev'
expect_calls '*install*libgloo-dev *'
[[ $(<"$work/calls") != *update* ]] || { echo 'an update that was not needed'; failures=$((failures + 1)); }

# A user with sudo and empty lists: an update, then the installation, both through sudo.
machine
add_apt
user 1000
stub sudo "echo sudo >>$work/calls; exec \"\$@\""
echo "${libraries/libgloo-dev/}" >"$work/installed"
expect 0 '*[(]sudo): libgloo-dev*updating*'
expect_calls $'sudo\nsudo\napt-get -q update *\nsudo\napt-get -q install*libgloo-dev *'

# A user whom sudo refuses: nothing else is tried.
machine
add_apt
user 1000
stub sudo 'exit 1'
echo "${libraries/libgloo-dev/}" >"$work/installed"
expect 3 '*sudo refused*apt-get install libgloo-dev'
expect_calls ''

# Optional packages are asked for only when wanted.
machine
expect 3 '*libbenchmark-dev*' --bench
expect 3 '*pkg-config openmpi-bin libopenmpi-dev*' --mpi
expect 3 '*clang-format-14*clang-tidy-14*' --lint

# The sources do not have a package, and apt-get fails.
machine
add_apt
user 0
echo "${libraries/libgloo-dev/}" >"$work/installed"
echo "${libraries/libgloo-dev/}" >"$work/offered"
expect 3 "*do not offer libgloo-dev (*universe*"
machine
add_apt
user 0
echo "${libraries/libgloo-dev/}" >"$work/installed"
stub apt-get 'exit 100'
expect 4 '*apt-get update failed*'

# An old CMake.
machine
stub cmake 'echo "cmake version 3.22.1"'
expect 3 '*cmake 3.22.1*3.25*'
stub cmake 'echo "cmake version 4.0.3-rc1"'
expect 0 ''

# run.sh without a program, and with an unknown one: exit 2, stdout empty, programs listed.
for arguments in '' 'no_such_perf -b 8'; do
  status=0
  # shellcheck disable=SC2086
  output=$("$bash" "$scripts/run.sh" $arguments 2>"$work/stderr") || status=$?
  if [[ $status != 2 || -n $output || $(<"$work/stderr") != *all_reduce_perf* || $(wc -l <"$work/stderr") != 1 ]]; then
    printf "run.sh '%s': exit %s, stdout '%s'\n" "$arguments" "$status" "$output"
    failures=$((failures + 1))
  fi
done

# run.sh --help: the same list on stdout.
if ! "$bash" "$scripts/run.sh" --help | grep -qx '  all_reduce_perf'; then
  echo 'run.sh --help does not list the programs'
  failures=$((failures + 1))
fi

# run.sh that builds: how long it takes, where the log is, and the program's stdout alone. No tool finds a GPU.
machine
for tool in dirname mkdir flock cat; do ln -s "$(command -v "$tool")" "$work/bin/$tool"; done
ln -s "$bash" "$work/bin/bash"
rm "$work/bin/grep"
stub grep "[[ \$* != *0x10de* ]] && exec $grep \"\$@\""
stub nproc 'echo 2'
# shellcheck disable=SC2016
stub cmake 'case $* in
  *--build*) echo "[0/2] Re-checking globbed directories..."; for command in {1..312}; do echo "[$command/312] Building it"; done ;;
  *) echo "cmake version 4.0.3-rc1" ;;
esac'
mkdir -p "$work/tree/scripts" "$work/tree/collectives" "$work/tree/build/bin"
cp "$scripts/run.sh" "$scripts/setup.sh" "$work/tree/scripts"
touch "$work/tree/collectives/all_reduce.cpp" "$work/tree/CMakePresets.json"
stub all_reduce_perf 'echo "the table of $*"'
mv "$work/bin/all_reduce_perf" "$work/tree/build/bin"
status=0
output=$(cd "$work/tree" && PATH=$work/bin CUDA_VISIBLE_DEVICES='' "$bash" scripts/run.sh all_reduce_perf -b 8 2>"$work/stderr") || status=$?
# shellcheck disable=SC2053
if [[ $status != 0 || $output != 'the table of -b 8' || $(<"$work/stderr") != 'run: configuring
run: building all_reduce_perf (about 3 minutes; log: build/run.log)
run: built all_reduce_perf in 0 min '[0-9]*' s' ]]; then
  printf 'run.sh: exit %s, stdout %s, stderr %s\n' "$status" "$output" "$(<"$work/stderr")"
  failures=$((failures + 1))
fi

((failures == 0)) || exit 4
