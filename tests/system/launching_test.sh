#!/usr/bin/env bash
# The lines of docs/LAUNCHING.md that are marked as tested, as they stand there; only sizes and the hosts' names are replaced.
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 BUILD=$build
slurm=$work/slurm
have_slurm=false
"$here/slurm_cluster.sh" up "$slurm" 2>"$work/err" && have_slurm=true || echo "SKIP srun and sbatch: $(cat "$work/err")"
trap '"$here/slurm_cluster.sh" down "$slurm"; rm -rf "$work"' EXIT
export SLURM_CONF=$slurm/slurm.conf
has() { compgen -G "$build/lib/ccl-tests/ccl-mpi-$1.so" >/dev/null; }

here_instead() { sed -E -e "s|build/bin/|$bin/|g; s|scripts/simulate.sh|$source/scripts/simulate.sh|" -e 's/-e (1G|64M)/-e 64K/g; s/MASTER_ADDR=node1/MASTER_ADDR=127.0.0.1/' -e "s/MASTER_PORT=29500/MASTER_PORT=$port/"; }
port=$(free_port)
mapfile -t lines < <(grep -E '# tested' "$source/docs/LAUNCHING.md" | sed 's/ *# tested.*//' | here_instead)
[ "${#lines[@]}" -ge 10 ] || fail "only ${#lines[@]} tested lines"
pids=()
for line in "${lines[@]}"; do
  case $line in
    RANK=*) timeout 240 bash -c "$line -n 2" >"$work/hand.${#pids[@]}" 2>&1 & pids+=($!); continue ;;
    mpirun*) { command -v mpirun && has '*'; } >/dev/null || { echo "SKIP $line: no mpirun or no module"; continue; } ;;
    srun*pmix*) $have_slurm && has openmpi || { echo "SKIP $line"; continue; } ;;
    srun*pmi2*) $have_slurm && has mpich || { echo "SKIP $line"; continue; } ;;
    srun*) $have_slurm || { echo "SKIP $line"; continue; } ;;
    *simulate*) [ -e "$build/simulated/all_reduce_perf" ] || { echo "SKIP $line: no simulated ranks"; continue; } ;;
  esac
  run 0 "${line/"$bin/"/}" bash -c "$line -n 2"
  expect_in "$work/out" "# Out of bounds values : 0 OK"
done
for pid in "${pids[@]}"; do wait "$pid" && pass "by hand" || fail "by hand"; done

# The job script.
if $have_slurm; then
  awk '/^```sbatch/ {inside = 1; next} /^```/ {inside = 0} inside' "$source/docs/LAUNCHING.md" | here_instead |
    sed -e "s|-J accept.jsonl|-J $work/accept.jsonl|" -e 's/_perf /_perf -n 2 /' >"$work/job.sh"
  run 0 "the job script" sbatch -W -o "$work/job.out" "$work/job.sh"
  [ "$(grep -c '# Out of bounds values : 0 OK' "$work/job.out")" -eq 2 ] || fail "not two tables: $(tail -n 5 "$work/job.out")"
  expect_in "$work/accept.jsonl" '"launcher":"srun"'
fi

# The manifest is YAML with what its kind needs.
if python3 -c 'import yaml' 2>/dev/null; then
  awk '/^```yaml/ {inside = 1; next} /^```/ {inside = 0} inside' "$source/docs/LAUNCHING.md" >"$work/job.yaml"
  python3 -c "import sys, yaml; job = yaml.safe_load(open('$work/job.yaml')); assert job['kind'] == 'MPIJob' and set(job['spec']['mpiReplicaSpecs']) == {'Launcher', 'Worker'}" &&
    pass "the manifest" || fail "the manifest"
else
  echo "SKIP the manifest: no PyYAML to read it"
fi
finish
