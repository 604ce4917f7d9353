#!/usr/bin/env bash
# srun, salloc and sbatch on a Slurm of one node that this test brings up.
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
  expect_in "$work/out" "# Launcher: $1 processes: $2 ranks: $2"
  expect_in "$work/out" "# Out of bounds values : 0 OK"
}
arguments=(--sizes 8,100K -n 2)
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
run 0 "threads in an allocation" salloc -n 3 --overcommit "$bin/all_reduce_perf" --backend gloo -t 3 "${arguments[@]}"
expect_in "$work/out" "# Launcher: none processes: 1 ranks: 3"

cat >"$work/job.sh" <<JOB
#!/bin/bash
'$bin/all_reduce_perf' --backend gloo -t 3 ${arguments[*]}   # outside srun: this process alone
srun --overcommit '$bin/all_gather_perf' --backend gloo ${arguments[*]}
JOB
run 0 "sbatch" sbatch -W -n 3 --overcommit -o "$work/job.out" "$work/job.sh"
cp "$work/job.out" "$work/out"
expect_in "$work/out" "# Launcher: none processes: 1 ranks: 3"
launched srun 3

# A task that is killed: srun ends with the others, which name it.
: >"$work/out"
timeout 60 srun -n 3 --overcommit "$bin/all_reduce_perf" --backend gloo -b 1M -e 1M -n 5 -N 0 -J "$work/x.jsonl" >"$work/out" 2>"$work/err" </dev/null &
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
finish
