#!/usr/bin/env bash
# The commands of the README run as they stand there; only the largest size and the hosts' names are replaced. Those that a page shows with their
# output, "$ build/bin/...", run unchanged, and end with the exit code that stands behind them, "# exit code 7".
. "$(dirname "$0")/lib.sh"
source=$(cd "$(dirname "$0")/../.." && pwd)

# Program lines of its code blocks, without comments, on this build and on small messages.
commands() {
  awk '/^```/ {inside = !inside; next} inside && !/^[$] /' "$source/README.md" | sed 's/ *#.*//' | grep -E '(^| )(build/bin/|scripts/run.sh )[a-z_]*_perf ' |
    sed -E -e "s|build/bin/\|scripts/run.sh |$bin/|" -e 's/-e (1G|64M|1M)\b/-e 64K/; s/-b 1M\b/-b 64K/' \
      -e 's/MASTER_ADDR=node1/MASTER_ADDR=127.0.0.1/; s/--interface eth0/--interface lo/'
}
mapfile -t lines < <(commands)
[ "${#lines[@]}" -ge 7 ] || fail "only ${#lines[@]} commands in the README"
port=$(free_port)
pids=()
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
mpi=true
{ command -v mpirun && ls "$build"/lib/ccl-tests/ccl-mpi-*.so; } >/dev/null 2>&1 || mpi=false
for line in "${lines[@]}"; do
  if [[ $line == mpirun* ]] && ! $mpi; then
    echo "SKIP ${line/"$bin/"/}: no mpirun, or no module for it"
    continue
  fi
  line=${line/MASTER_PORT=29500/MASTER_PORT=$port}
  if [[ $line == RANK=* ]]; then
    timeout 240 bash -c "$line -n 2" >"$work/host.${#pids[@]}" 2>&1 &
    pids+=($!)
    continue
  fi
  run 0 "${line/"$bin/"/}" bash -c "$line -n 2"
  expect_in "$work/out" "# Out of bounds values : 0 OK"
done
[ "${#pids[@]}" -eq 2 ] || fail "not two hosts in the README"
for pid in "${pids[@]}"; do
  if wait "$pid"; then pass "host of the README"; else fail "host of the README"; fi
done
[ "${#pids[@]}" -lt 2 ] || expect_in "$work/host.0" "# Out of bounds values : 0 OK"

# Flags and programs that its text names exist.
for flag in $(grep -oE -- '`--?[a-z-]+' "$source/README.md" | tr -d '`' | sort -u); do
  "$bin/all_reduce_perf" --help | grep -qE -- "(^|[ ,])$flag\b" && pass "$flag is in --help" || fail "$flag is not in --help"
done
for program in $(grep -oE '\b[a-z_]+_perf\b' "$source/README.md" | sort -u); do
  [ -x "$bin/$program" ] || fail "$program does not exist"
done
# The spec that CONTRIBUTING shows is the one that is built.
if sed -n '/^\/\/ all_gather_perf/,/^```/p' "$source/CONTRIBUTING.md" | sed '$d' | diff - "$source/collectives/all_gather.cpp"; then
  pass "the spec of CONTRIBUTING is collectives/all_gather.cpp"
else
  fail "the spec of CONTRIBUTING is not collectives/all_gather.cpp"
fi
run 6 "--min-busbw and --max-time, as docs/CI.md has them" "$bin/all_reduce_perf" --backend loopback --sizes 8,1M -n 2 -t 2 --min-busbw 1M:500000 --max-time 8:200

# What pages show with its output.
cd "$work" || exit 1  # files that they write
for page in README.md docs/TUTORIAL.md docs/TROUBLESHOOTING.md; do
  mapfile -t lines < <(awk '/^```/ {inside = !inside; next} inside && sub(/^[$] /, "")' "$source/$page")
  [ "${#lines[@]}" -ge 1 ] || fail "no command with its output in $page"
  for line in "${lines[@]}"; do
    if [[ $line == *mpirun* ]] && ! $mpi; then
      echo "SKIP $page: $line: no mpirun, or no module for it"
      continue
    fi
    expected=0
    [[ $line =~ '# exit code '([0-9]+) ]] && expected=${BASH_REMATCH[1]}
    run "$expected" "$page: $line" bash -c "${line//build\/bin\//$bin/}"
  done
done
finish
