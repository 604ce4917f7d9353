#!/usr/bin/env bash
# cmake --install into an empty prefix gives a tree that runs after being moved.
. "$(dirname "$0")/lib.sh"
run 0 "cmake --install" cmake --install "$build" --prefix "$work/first" || finish
mv "$work/first" "$work/moved to here"
moved=$work/moved\ to\ here
for program in "${programs[@]}"; do
  [ -x "$moved/bin/${program}_perf" ] || fail "${program}_perf is not installed"
done
# Without the module beside it, the moved tree must not find the build tree's.
run 0 "a moved program runs on Gloo" "$moved/bin/all_reduce_perf" --backend gloo -b 8 -e 64 -t 3
expect_in "$work/out" "Out of bounds values : 0 OK"
library=$(find "$moved" -name 'ccl-gloo.so')
mv "$library" "$library.away"
run 3 "a moved program without its module" "$moved/bin/all_reduce_perf" --backend gloo -b 8 -e 64
expect_in "$work/err" "libgloo-dev"
expect_in "$work/err" "moved to here"
# Under mpirun without the module of its MPI, each process would run alone.
mv "$library.away" "$library"
rm -f "$moved"/lib*/ccl-tests/ccl-mpi-*.so
OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=1 run 3 "mpirun without its module" "$moved/bin/all_reduce_perf" --backend gloo -b 8 -e 64
expect_in "$work/err" "mpirun (Open MPI) started 4 processes, which would meet through MPI"
expect_in "$work/err" "install the package libopenmpi-dev"
readelf -d "$moved"/bin/all_reduce_perf 2>/dev/null | grep -E 'RUNPATH|RPATH' | grep -qF "$build" && fail "the build folder is in the run path"
finish
