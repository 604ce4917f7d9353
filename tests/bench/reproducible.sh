#!/usr/bin/env bash
# Which algorithms give the same bits: tests/bench/reproducible.sh [--ranks N] [--sizes LIST] [BUILD]
# all_reduce of floats by each algorithm of Gloo and of Open MPI, and MPICH as it is: a row's verdict and its digest, which is the same for
# algorithms that add in the same order.
set -euo pipefail
export LC_ALL=C
ranks=4 sizes=8,64K,1M
while (($#)); do
  case $1 in
    --ranks) ranks=$2; shift 2 ;;
    --sizes) sizes=$2; shift 2 ;;
    -h | --help) sed -n '2,4s/^# //p' "$0"; exit 0 ;;
    *) break ;;
  esac
done
program=$(cd "${1:-build}" && pwd)/bin/all_reduce_perf
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
show() { # NAME COMMAND...
  local name=$1; shift
  rm -f "$work/run.csv"
  "$@" -n 1 --sizes "$sizes" --reproducible -J "$work/run.csv" >"$work/out" 2>&1 || true
  python3 - "$name" "$work/run.csv" <<'EOF' || tail -n 3 "$work/out"
import csv, sys
name, path = sys.argv[1:]
for row in csv.DictReader(open(path)):
    if row["placement"] == "out_of_place":
        print(f"{name:26} {int(row['size_bytes']):>9} B  {row['reproducibility']:18} {row['digest']} {row['varies_between']}")
EOF
}
echo "# all_reduce, float, sum, $ranks ranks"
for algorithm in ring bcube; do
  show "Gloo $algorithm" "$program" --np "$ranks" --backend gloo --gloo-algorithm "$algorithm"
done
names=("" linear nonoverlapping recursive_doubling ring segmented_ring rabenseifner)
for k in 1 2 3 4 5 6; do
  show "Open MPI ${names[k]}" mpirun.openmpi -n "$ranks" --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_allreduce_algorithm "$k" \
    "$program" --backend mpi
done
show "Open MPI's choice" mpirun.openmpi -n "$ranks" "$program" --backend mpi
show "MPICH's choice" mpirun.mpich -n "$ranks" "$program" --backend mpi
