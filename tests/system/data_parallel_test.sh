#!/usr/bin/env bash
# examples/data_parallel, built outside the tree against an installed ccl-tests: any number of ranks gives the answer of one.
. "$(dirname "$0")/lib.sh"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
source=$(cd "$(dirname "$0")/../.." && pwd)
run 0 "cmake --install" cmake --install "$build" --prefix "$work/installed" || finish
cp -r "$source/examples/data_parallel" "$work/mine"
# The loop in the page, with something for what it leaves to the reader.
{
  echo '#include <cstdio>'
  sed -n '/^## A data-parallel loop/,/^## /{/^```cpp/,/^```/{/^```/!p}}' "$source/docs/PRIMITIVES.md" |
    sed -e 's/= \.\.\.;/= 1;/' -e '/^ *\.\.\. /d' -e 's/^int main/const double samples_of_this_rank = 2;\nconst std::vector<Bytes> this_ranks_items{bytes_of("item")};\nconst std::size_t data_set_size = 1;\n&/'
} >"$work/mine/page.cpp"
printf 'add_executable(page page.cpp)\ntarget_link_libraries(page PRIVATE ccl-tests::ccl-tests)\n' >>"$work/mine/CMakeLists.txt"
run 0 "configuring the example" cmake -S "$work/mine" -B "$work/mine/build" -DCMAKE_PREFIX_PATH="$work/installed" -DCMAKE_CXX_FLAGS="-Wall -Wextra -Werror" || finish
run 0 "building the example" cmake --build "$work/mine/build" || finish
run 0 "the page's loop" env -u RANK -u WORLD_SIZE "$work/mine/build/page"
expect_in "$work/out" "99 1.000000"
program=$work/mine/build/data_parallel

# The same words, and numbers that differ in their last place at most: sums over ranks round.
as_alone() {
  paste -d'\n' "$work/alone" "$work/out" | awk '
    NR % 2 { n = split($0, expected, " "); next }
    { if (NF != n || n == 0) exit 4
      for (i = 1; i <= n; ++i) { d = $i - expected[i]; if ($i != expected[i] && ($i + 0 == 0 || d * d > 4e-10)) exit 4 } }' &&
    [ "$(wc -l <"$work/alone")" -eq "$(wc -l <"$work/out")" ] || { fail "$1: another answer than alone:"; cat "$work/out"; }
}
run 0 "alone" "$program" --backend loopback
cp "$work/out" "$work/alone"
expect_in "$work/out" "seed 2024 bias 0.5"
expect_in "$work/out" "predictions 1000 mean squared error 0.0"
for backend in loopback gloo; do
  for ranks in 1 3 4; do
    run 0 "$ranks ranks on $backend" "$program" --backend "$backend" --np "$ranks"
    as_alone "$ranks ranks on $backend"
  done
done
for flavour in openmpi mpich; do
  [ -e "$build/lib/ccl-tests/ccl-mpi-$flavour.so" ] && command -v "mpirun.$flavour" >/dev/null || { echo "SKIP $flavour: no module or no mpirun"; continue; }
  for ranks in 1 3 4; do
    run 0 "$ranks ranks on $flavour" "mpirun.$flavour" -n "$ranks" "$program" --backend mpi
    as_alone "$ranks ranks on $flavour"
  done
  run 0 "Gloo under mpirun of $flavour" "mpirun.$flavour" -n 3 "$program" --backend gloo
  as_alone "Gloo under mpirun of $flavour"
done
run 2 "a flag that is not there" "$program" --ranks 3
run 2 "a backend that is not there" "$program" --backend smoke --np 3
finish
