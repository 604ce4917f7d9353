# Sourced by the system tests: the built programs, run as a user would. Usage of a test: X_test.sh BUILD_FOLDER
set -u
export LC_ALL=C
# shellcheck source=scripts/program_flags.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/program_flags.sh"
build=$(cd "$1" && pwd)
bin=$build/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1
unset RANK WORLD_SIZE LOCAL_RANK MASTER_ADDR MASTER_PORT CUDA_VISIBLE_DEVICES
failures=0
pass() { echo "PASS $*"; }
fail() { echo "FAIL $*"; failures=$((failures + 1)); }
finish() { echo "$failures failed"; [ "$failures" -eq 0 ]; exit; }
# The names of all specs: of composite primitives, and the others. taking FLAG NAME...: those of them that take the flag.
composites=() programs=()
for file in "$(dirname "${BASH_SOURCE[0]}")"/../../collectives/*.cpp; do
  name=$(basename "$file" .cpp)
  if grep -qE '\.needs = (composite|moe_needs)\b' "$file"; then composites+=("$name"); else programs+=("$name"); fi
done

taking() {
  local flag=$1 name
  shift
  for name in "$@"; do takes "$name" "$flag" && echo "$name"; done
}

if [ ! -e "$build/lib/ccl-tests/ccl-gloo.so" ]; then
  echo "SKIP: this build has no Gloo module (package libgloo-dev)"
  exit 77
fi

# Skips a test if the build has no PROGRAM on simulated ranks.
need_simulated() { # program
  [ -e "$build/simulated/$1" ] && command -v smpirun >/dev/null && return
  echo "SKIP: this build has no simulated ranks (packages pkg-config libsimgrid-dev)"
  exit 77
}

# run EXPECTED_CODE NAME COMMAND...: stdout and stderr land in $work/out and $work/err. EXPECTED_CODE may be several, "5|9".
# The limit is far above what a run takes: other tests and other machines' users may keep the cores busy, and ranks that spin for messages then wait for each other's time slices.
run() {
  local expected=$1 name=$2 start=$SECONDS; shift 2
  timeout 240 "$@" >"$work/out" 2>"$work/err" </dev/null
  local code=$?
  if [[ "|$expected|" == *"|$code|"* ]]; then pass "$name ($((SECONDS - start)) s)"; return 0; fi
  fail "$name: exit $code, expected $expected, after $((SECONDS - start)) s"
  tail -n 15 "$work/out" "$work/err"
  return 1
}
wait_for_row() { # file: until it holds a header and two rows, at most 20 s
  for _ in $(seq 200); do
    [ -e "$1" ] && [ "$(wc -l <"$1")" -ge 3 ] && return
    sleep 0.1
  done
  fail "no row in $1"
}
wait_for_rows() { # rows, file [stdout of the run in the background]: until it holds so many rows of a table, at most 60 s
  local file=${2:-$work/out}
  for _ in $(seq 600); do [ "$(grep -cE '^ +[0-9]' "$file")" -ge "$1" ] && return; sleep 0.1; done
  fail "not $1 rows in $file after 60 s: $(tail -n 3 "$work"/err*)"
}
expect_in() { grep -qF -- "$2" "$1" || { fail "no '$2' in ${1##*/}:"; tail -n 15 "$1"; }; }
# A TCP port that nobody listens on, out of the ephemeral range.
free_port() {
  local port
  for _ in $(seq 50); do
    port=$((20000 + RANDOM % 10000))
    if ! (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then echo "$port"; return; fi
  done
}
