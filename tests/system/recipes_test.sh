#!/usr/bin/env bash
# The scripts of examples/recipes, each on something that is right and on a planted fault: exit codes, and the line that tells.
. "$(dirname "$0")/lib.sh"
source=$(cd "$(dirname "$0")/../.." && pwd)
recipes=$source/examples/recipes
export BIN=$bin OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
unset LAUNCH PLAN OUT PROGRAM
cd "$work" || exit 1  # recipes leave files where they are started

if command -v shellcheck >/dev/null; then
  run 0 "shellcheck" shellcheck "$recipes"/*.sh
else
  echo "SKIP shellcheck: not installed"
fi
for recipe in "$recipes"/*.sh; do
  name=$(basename "$recipe" .sh)
  [ -x "$recipe" ] || fail "$name.sh is not executable"
  run 0 "$name: --help" "$recipe" --help
  expect_in "$work/out" "Exit code: "
  grep -q "examples/recipes/$name.sh" "$source/README.md" || fail "the README does not have $name.sh"
done

# Is this machine right?
quick=(--backend loopback -t 3 --sizes 4,1000 -d float,int8)
run 0 "right: every type and operation" "$recipes/right.sh" --backend loopback -t 3 --sizes 4,1000
right=': Correct  : yes - 0 wrong elements; \([0-9]*\) of \1 calls verified$'
[ "$(grep -c "^[a-z_]*, exact data$right" "$work/out")" -eq 9 ] ||
  fail "not nine programs are right: $(cat "$work/out")"
for data in wide special; do
  [ "$(grep -c "^[a-z_]*, $data data$right" "$work/out")" -eq 3 ] ||
    fail "not three programs are right on $data data: $(cat "$work/out")"
done
expect_in "$work/out" "observed: a NaN wins"
run 7 "right: a flipped bit" "$recipes/right.sh" "${quick[@]}" --inject flipped-bit:rank=2:every=5
expect_in "$work/out" "all_reduce, exact data: Correct  : no - first: rank 2 on $(hostname)"
expect_in "$work/err" "right: exact data, all_reduce_perf"
run 2 "right: a flag that there is not" "$recipes/right.sh" "${quick[@]}" --frobnicate
mpi=true
{ command -v mpirun && ls "$build"/lib/ccl-tests/ccl-mpi-*.so; } >/dev/null 2>&1 || mpi=false
if $mpi; then
  run 0 "right: under mpirun" env LAUNCH="mpirun -n 2" "$recipes/right.sh" --backend mpi --sizes 1000 -d float,int8
else
  echo "SKIP recipes under mpirun: no mpirun, or no module for it"
fi

# Is NCCL right on a runner with one GPU?
fake=$build/tests/fake_gpu
if [ -e "$fake/lib/ccl-tests/ccl-nccl.so" ]; then
  one_gpu=(env LD_LIBRARY_PATH="$fake/lib:$fake" FAKE_GPUS=1 FAKE_NCCL_VERSION=23007)
  run 0 "one_gpu: two threads" "${one_gpu[@]}" "$recipes/one_gpu.sh" --sizes 4,1000 -d float,int8
  [ "$(grep -c '^[a-z_]*, exact data: Correct  : yes' "$work/out")" -eq 9 ] || fail "not nine programs are right: $(cat "$work/out")"
  run 7 "one_gpu: a flipped bit" "${one_gpu[@]}" "$recipes/one_gpu.sh" --sizes 1000 -d float --inject flipped-bit:rank=1
  run 3 "one_gpu: an older NCCL" "${one_gpu[@]}" FAKE_NCCL_VERSION=22809 "$recipes/one_gpu.sh"
  expect_in "$work/err" "needs NCCL 2.30, here is 2.28.9; use --np N"
  run 0 "one_gpu: two processes" "${one_gpu[@]}" FAKE_NCCL_VERSION=22809 RANKS="--np 2" "$recipes/one_gpu.sh" --sizes 1000 -d float
  run 3 "one_gpu: no GPU" "${one_gpu[@]}" FAKE_GPU_ERROR=100 "$recipes/one_gpu.sh"
  expect_in "$work/out" "SKIP one_gpu.sh: device_check: ["
  expect_in "$work/out" "] no GPU can be used"
else
  echo "SKIP one_gpu on fake GPUs: the stand-ins for CUDA and NCCL are not built"
fi

# Is it fast?
run 0 "fast: all_reduce" "$recipes/fast.sh" --backend gloo --np 2 -e 4K -J fast.jsonl
expect_in "$work/out" "# Reliable : "
expect_in "$work/out" "eff%"
run 0 "fast: another program" env PROGRAM=all_gather_perf "$recipes/fast.sh" --backend loopback -t 2 -e 4K
expect_in "$work/out" "# Collective test concluded: all_gather_perf"
run 6 "fast: a limit that is not reached" "$recipes/fast.sh" --backend loopback -t 2 -e 4K --min-busbw 4K:900000
expect_in "$work/out" "# too slow: 4096 B "

# Did my change slow it down? Planted: a program whose times are ten times what they were.
run 2 "slower: one command" "$recipes/slower.sh" "$bin/all_reduce_perf"
expect_in "$work/err" "usage: slower.sh "
cat >ten_times <<SH
#!/usr/bin/env bash
"$bin/all_reduce_perf" "\$@" || exit
awk '{
  if (match(\$0, /"time_s":[0-9.e+-]*/))
    \$0 = substr(\$0, 1, RSTART - 1) sprintf("\"time_s\":%.9g", 10 * substr(\$0, RSTART + 9, RLENGTH - 9)) substr(\$0, RSTART + RLENGTH)
  print }' "\${!#}" >"\${!#}.new" && mv "\${!#}.new" "\${!#}"
SH
chmod +x ten_times
flags="--backend loopback -t 2 --sizes 4096 -n 20"
run 6 "slower: ten times" "$recipes/slower.sh" "$bin/all_reduce_perf $flags" "$work/ten_times $flags" --pairs 8 --probe-limit 0
grep -qE "^# Verdict : slower: [12] slower, " "$work/out" || fail "not slower: $(grep Verdict "$work/out")"  # a busy machine hides one of two rows
run "0|8" "slower: the same twice" "$recipes/slower.sh" "$bin/all_reduce_perf $flags" "$bin/all_reduce_perf $flags" --pairs 8 --probe-limit 0 --threshold 90
expect_in "$work/out" ": 0 slower, "
run 6 "slower: with a launcher" env LAUNCH="env -u HOME" "$recipes/slower.sh" "$bin/all_reduce_perf $flags" "$work/ten_times $flags" --pairs 6 --probe-limit 0
expect_in "$work/out" "env -u HOME $work/ten_times"

# Which of my groups disturb each other? On a busy machine a time may be too uncertain: 8.
run "0|8" "mesh: four ranks" env MESH=dp=2,tp=2 DO=tp:all_reduce:4K,dp:all_gather:64K "$recipes/mesh.sh" -t 4 --backend gloo --rounds 3 --turn-time 0.01
expect_in "$work/out" "times as long beside:"
run 2 "mesh: too few ranks" "$recipes/mesh.sh" -t 3 --backend gloo

# Is my MoE exchange right and fast? Another routing than the balanced one may take as long.
run "0|6|8" "moe: three ranks" env TOKENS=5 ROUTING=maxvio:3 "$recipes/moe.sh" -t 3 --backend loopback --hidden 60
for program in moe_dispatch moe_combine; do expect_in "$work/out" "$program: Correct  : yes"; done
[ "$(grep -c "^# Note: routing differs: 'balanced' in base, 'maxvio:3' in head" "$work/out")" -eq 2 ] || fail "not two comparisons: $(cat "$work/out")"
run 7 "moe: a flipped bit" env TOKENS=5 "$recipes/moe.sh" -t 3 --backend loopback --hidden 60 --inject flipped-bit:rank=1:every=3

# Does my cluster pass? Here on one host.
cat >plan.toml <<'PLAN'
sanity = { run = false }
node = { run = false }
full = { programs = ["all_reduce"], sizes = ["64K"], seconds = "0.1" }
[[limit]]
program = "all_reduce"
min_busbw = "0.001 MB/s"
PLAN
run 0 "cluster: passes" env PLAN=plan.toml "$recipes/cluster.sh" --np 3 --backend gloo
[ "$(head -c 5 "$work/out")" = "PASS " ] || fail "the first line is not PASS: $(head -n 1 "$work/out")"
for suffix in html json xml hosts; do [ -e "cluster.$suffix" ] || fail "no cluster.$suffix"; done
run 7 "cluster: wrong data" env PLAN=plan.toml OUT=bad "$recipes/cluster.sh" -t 3 --backend loopback --inject flipped-bit:rank=1:every=3
expect_in "$work/out" "FAIL run: all_reduce 64K: wrong: rank 1 on $(hostname)"
[ -s bad.json ] || fail "no bad.json"
sed -i 's/0.001 MB/900000 GB/' plan.toml
run 6 "cluster: a limit that is not reached" env PLAN=plan.toml "$recipes/cluster.sh" -t 3 --backend loopback
sed -i '/limit/,$d' plan.toml
run 0 "cluster: nothing knows how fast it should be" env PLAN=plan.toml "$recipes/cluster.sh" -t 3 --backend loopback
expect_in "$work/out" "PASS (relative)"
run 8 "cluster: nothing knows, and it has to" env PLAN=plan.toml "$recipes/cluster.sh" -t 3 --backend loopback --strict
expect_in "$work/out" "INCONCLUSIVE"

# Which node is bad? One host has no other to be compared with; of six, of which one has a slow cable, that one is named.
run 2 "bad_node: no programs there" env BIN=nowhere "$recipes/bad_node.sh" -t 3 --backend loopback
expect_in "$work/err" "no program nowhere/ccl_acceptance"
run 0 "bad_node: one host" "$recipes/bad_node.sh" -t 3 --backend loopback
[ -e bad_hosts.txt ] && [ ! -s bad_hosts.txt ] || fail "bad_hosts.txt is not there, or not empty"
. "$source/tests/system/cluster_lib.sh"
"$cluster" up 6 200mbit 2>"$work/err"
code=$?
if [ "$code" -ne 0 ]; then
  trap 'rm -rf "$work"' EXIT
  [ "$code" -eq 3 ] && echo "SKIP bad_node on six hosts: $(cat "$work/err")" || fail "the cluster did not come up: $(cat "$work/err")"
  finish
fi
slow=${CCL_CLUSTER}3
"$cluster" rate "$slow" 80mbit
sed 's/^sizes = .*/sizes = ["8", "64K"]/' "$recipes/bad_node.toml" >six.toml
printf '[pairs]\nseconds = "0.1"\nslowdown = "20 %%"\nmin_bandwidth = "50 Mbit/s"\n' >>six.toml
run_on_hosts 6 "bad_node: a slow cable" env PLAN="$work/six.toml" OUT="$work/out.hosts" "$recipes/bad_node.sh" --backend gloo --interface eth0
head -n 1 "$work/out" | grep -qE "^FAIL $slow: [0-9]+ % slower" || fail "the first line is '$(head -n 1 "$work/out")', not FAIL $slow"
[ "$(cat "$work/out.hosts")" = "$slow" ] || fail "to leave out: '$(cat "$work/out.hosts")', not $slow"
finish
