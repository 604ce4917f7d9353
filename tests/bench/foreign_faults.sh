#!/usr/bin/env bash
# Are faults of strangers found: one result of MPI_Allreduce, or one piece that a TCP socket receives, is spoiled by a library that knows nothing
# of the suite, in a random call of each run. tests/bench/foreign_faults.sh [--runs N] [--flags "-c all"] [--libraries LIST] [BUILD]
# LIST: of gloo, openmpi, mpich. Prints for each how many runs were spoiled, and how many of these ended with 7.
set -euo pipefail
export LC_ALL=C
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
runs=100 flags="-c all" libraries=gloo,openmpi,mpich
while (($#)); do
  case $1 in
    --runs) runs=$2; shift 2 ;;
    --flags) flags=$2; shift 2 ;;
    --libraries) libraries=$2; shift 2 ;;
    -h | --help) sed -n '2,4s/^# //p' "$0"; exit 0 ;;
    *) break ;;
  esac
done
build=${1:-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
RANDOM=${SEED:-1}
read -ra given <<<"$flags"
measure=("$build/bin/all_reduce_perf" --sizes 64K -n 10 -w 1 "${given[@]}")

for library in ${libraries//,/ }; do
  source=tests/bench/foreign_faults/spoil_mpi.c compiler=mpicc.$library
  [[ $library != gloo ]] || source=tests/bench/foreign_faults/spoil_sockets.c compiler=cc
  "$compiler" -shared -fPIC -O1 "$source" -o "$work/spoil-$library.so" -ldl
  spoiled=0 found=0
  for ((k = 0; k < runs; ++k)); do
    rm -f "$work/said"
    variables=(LD_PRELOAD="$work/spoil-$library.so" SPOIL_SAY="$work/said")
    code=0
    if [[ $library == gloo ]]; then
      env "${variables[@]}" SPOIL_BYTES=4096 SPOIL_PROCESS=$((RANDOM % 3)) SPOIL_CALL=$((RANDOM % 40)) "${measure[@]}" --backend gloo --np 3 >"$work/out" 2>&1 || code=$?
    else
      "mpirun.$library" -n 3 env "${variables[@]}" SPOIL_RANK=$((RANDOM % 3)) SPOIL_CALL=$((RANDOM % 24)) "${measure[@]}" --backend "mpi-$library" >"$work/out" 2>&1 || code=$?
    fi
    [[ -s $work/said ]] || continue
    spoiled=$((spoiled + 1))
    if ((code == 7)); then
      found=$((found + 1))
    else
      echo "# missed, exit $code: $(cat "$work/said")"
    fi
  done
  echo "$library: $found of $spoiled spoiled runs found (${runs} runs, ${measure[*]:1})"
done
