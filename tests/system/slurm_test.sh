#!/usr/bin/env bash
# srun, salloc and sbatch on a Slurm that this test brings up: of one node, then of three.
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
slurm=$work/slurm
"$here/slurm_cluster.sh" up "$slurm" 2>"$work/err"
code=$?
if [ "$code" -eq 3 ]; then
  echo "SKIP: $(cat "$work/err")"
  exit 77
fi
trap '"$here/slurm_cluster.sh" down "$slurm"; rm -rf "$work"' EXIT
[ "$code" -eq 0 ] || { cat "$work/err"; fail "Slurm did not come up"; finish; }
export SLURM_CONF=$slurm/slurm.conf
module() { [ -e "$build/lib/ccl-tests/ccl-mpi-$1.so" ]; }
steps() { srun --mpi=list 2>&1 | grep -q "$1"; }

launched() { # launcher ranks
  expect_in "$work/out" "# Ranks: $2 process"
  expect_in "$work/out" "(launcher: $1)"
  expect_in "$work/out" "# Out of bounds values : 0 OK"
}
arguments=(--sizes 8,100K -n 2 -w 1)
for ranks in 1 3 4; do
  run 0 "srun -n $ranks, Gloo" srun -n $ranks --overcommit "$bin/all_reduce_perf" --backend gloo "${arguments[@]}"
  launched srun $ranks
  if module openmpi && steps pmix; then
    run 0 "srun -n $ranks --mpi=pmix, Open MPI" srun -n $ranks --overcommit --mpi=pmix "$bin/all_reduce_perf" --backend mpi "${arguments[@]}"
    launched srun $ranks
  else
    echo "SKIP --mpi=pmix: no module for Open MPI, or this Slurm has no PMIx"
  fi
  if module mpich && steps pmi2; then
    run 0 "srun -n $ranks --mpi=pmi2, MPICH" srun -n $ranks --overcommit --mpi=pmi2 "$bin/all_reduce_perf" --backend mpi-mpich "${arguments[@]}"
    launched srun $ranks
  else
    echo "SKIP --mpi=pmi2: no module for MPICH, or this Slurm has no PMI-2"
  fi
done
if module openmpi; then
  run 0 "Gloo under --mpi=pmix" srun -n 3 --overcommit --mpi=pmix "$bin/all_reduce_perf" --backend gloo "${arguments[@]}"
  launched srun 3
  # MPI_Init would end the whole step.
  run 3 "--mpi=none, Open MPI" srun -n 3 --overcommit --mpi=none "$bin/all_reduce_perf" --backend mpi-openmpi "${arguments[@]}"
  expect_in "$work/err" "use srun --mpi=pmix"
  run 0 "mpirun within salloc" salloc -n 3 --overcommit mpirun.openmpi -n 3 "$bin/all_reduce_perf" --backend mpi "${arguments[@]}"
  launched "mpirun (Open MPI)" 3
fi
if module mpich; then
  run 0 "MPICH's mpirun within salloc" salloc -n 3 --overcommit mpirun.mpich -n 3 "$bin/all_reduce_perf" --backend mpi "${arguments[@]}"
  launched "mpirun (MPICH)" 3
fi
run 0 "threads in an allocation" salloc -n 3 --overcommit "$bin/all_reduce_perf" --backend gloo -t 3 "${arguments[@]}"
expect_in "$work/out" "# Ranks: 3 threads of 1 process on 1 host, CPUs"
expect_in "$work/out" "(no launcher; "

cat >"$work/job.sh" <<JOB
#!/bin/bash
'$bin/all_reduce_perf' --backend gloo -t 3 ${arguments[*]}   # outside srun: this process alone
srun --overcommit '$bin/all_gather_perf' --backend gloo ${arguments[*]}
JOB
run 0 "sbatch" sbatch -W -n 3 --overcommit -o "$work/job.out" "$work/job.sh"
cp "$work/job.out" "$work/out"
expect_in "$work/out" "# Ranks: 3 threads of 1 process on 1 host, CPUs"
expect_in "$work/out" "(no launcher; "
launched srun 3
# As with task/affinity, which gives each task the CPUs of -c alone.
if [ "$(nproc)" -ge 2 ]; then
  run 0 "a step with fewer CPUs than its job" salloc -n 1 -c 2 srun -n 1 -c 1 taskset -c 0 "$bin/all_reduce_perf" --backend gloo -t 2 "${arguments[@]}"
  expect_in "$work/out" "# WARNING: 1 CPUs for 4 busy threads"
  expect_in "$work/out" "allow more CPUs (srun -c 2, or SRUN_CPUS_PER_TASK=2 in front of srun: the job has 2 CPUs"
fi
run 2 "a wrong flag of 3 tasks" srun -n 3 --overcommit "$bin/all_reduce_perf" --no-such-flag
[ "$(grep -c 'unknown option' "$work/err")" -eq 1 ] || fail "a wrong flag is not said once: $(cat "$work/err")"
run 0 "a page of 3 tasks" srun -n 3 --overcommit "$bin/all_reduce_perf" --help
[ "$(grep -c '^Usage' "$work/out")" -eq 1 ] || fail "--help is not printed once"
run 4 "a step's number alone" env SLURM_PROCID=1 "$bin/all_reduce_perf" --backend gloo "${arguments[@]}"
expect_in "$work/err" "SLURM_PROCID=1, without SLURM_STEP_NUM_TASKS (set by srun)"
run 2 "--bootstrap slurm outside srun" salloc -n 3 --overcommit "$bin/all_reduce_perf" --bootstrap slurm
expect_in "$work/err" "not set: SLURM_PROCID, SLURM_STEP_NUM_TASKS;"
run 0 "variables by hand within srun" srun -n 3 --overcommit bash -c 'RANK=$((2 - SLURM_PROCID)) WORLD_SIZE=3 MASTER_ADDR=127.0.0.1 MASTER_PORT='"$(free_port)"' exec "$@"' _ \
  "$bin/all_reduce_perf" --backend gloo "${arguments[@]}"
launched environment 3

# The shell that salloc opens where Slurm is set up so is a step of one task, with an id above 2^31.
printf '#!/bin/bash\necho "step $SLURM_STEP_ID of $SLURM_STEP_NUM_TASKS"\nexec %s --backend gloo -t 3 %s\n' "$bin/all_reduce_perf" "${arguments[*]}" >"$work/shell"
chmod 755 "$work/shell"
cp "$slurm/slurm.conf" "$work/plain.conf"
printf 'LaunchParameters=use_interactive_step\nInteractiveStepOptions="--interactive --preserve-env %s"\n' "$work/shell" >>"$slurm/slurm.conf"
run 0 "salloc's interactive step" salloc -n 3 --overcommit
expect_in "$work/out" "step 4294967290 of 1"
expect_in "$work/out" "# Ranks: 3 threads of 1 process on 1 host, CPUs"
expect_in "$work/out" "(launcher: srun)"
cp "$work/plain.conf" "$slurm/slurm.conf"

# A task that is killed: srun ends with the others, which name it.
: >"$work/out"
timeout 240 srun -n 3 --overcommit "$bin/all_reduce_perf" --backend gloo -b 1M -e 1M -n 5 -N 0 -J "$work/x.jsonl" >"$work/out" 2>"$work/err" </dev/null &
guard=$!
for _ in $(seq 200); do
  [ "$(grep -cE '^ +[0-9]' "$work/out")" -ge 2 ] && break
  sleep 0.1
done
for pid in $(pgrep -f "all_reduce_perf.*$work/x.jsonl"); do
  tr '\0' '\n' <"/proc/$pid/environ" 2>/dev/null | grep -q '^SLURM_PROCID=1$' && kill -KILL "$pid"
done
if wait "$guard"; then fail "a killed task: exit 0"; else pass "a killed task"; fi
expect_in "$work/err" "rank 1"
"$here/slurm_cluster.sh" down "$slurm"

# Three nodes: where the tasks meet comes from the node list, and the port is one that Slurm reserved, or the made one.
slurm=$work/slurm3
export SLURM_CONF=$slurm/slurm.conf
"$here/slurm_cluster.sh" up "$slurm" 3 || { fail "Slurm of three nodes did not come up"; finish; }
shows='[ "$SLURM_PROCID" = 0 ] && echo "list $SLURM_STEP_NODELIST ports $SLURM_STEP_RESV_PORTS"; exec "$@"'
for ranks in 3 4; do
  run 0 "srun -N 3 -n $ranks" srun -N 3 -n $ranks --overcommit bash -c "$shows" _ "$bin/all_reduce_perf" --backend gloo "${arguments[@]}"
  launched srun $ranks
  expect_in "$work/out" "list 127.0.0.[1-3] ports 3"
done
run 0 "the second and third node" srun -N 2 -n 3 -w "127.0.0.[2-3]" --overcommit bash -c "$shows" _ "$bin/all_gather_perf" --backend gloo "${arguments[@]}"
launched srun 3
expect_in "$work/out" "list 127.0.0.[2-3] "
run 0 "MASTER_ADDR and MASTER_PORT within srun" env MASTER_ADDR=127.0.0.1 MASTER_PORT="$(free_port)" srun -N 3 -n 3 --overcommit "$bin/all_reduce_perf" --backend gloo "${arguments[@]}"
launched srun 3
run 2 "node names that do not resolve" srun -N 3 -n 3 --overcommit env SLURM_STEP_NODELIST='no-such-host[1-3].invalid' "$bin/all_reduce_perf" --backend gloo --init-timeout 3 "${arguments[@]}"
expect_in "$work/err" "no-such-host1.invalid"
run 0 "no ports reserved" srun -N 3 -n 3 --overcommit env -u SLURM_STEP_RESV_PORTS "$bin/all_reduce_perf" --backend gloo "${arguments[@]}"
launched srun 3
finish
