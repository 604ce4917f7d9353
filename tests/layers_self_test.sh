#!/bin/sh
# The checker of include layers must pass a good tree and fail on every kind of violation.
set -eu
export LC_ALL=C
checker=$1
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failures=0

# put FILE INCLUDE...: writes FILE with these includes.
put() {
  file=$tree/$1
  shift
  mkdir -p "${file%/*}"
  : >"$file"
  for include in "$@"; do echo "#include $include" >>"$file"; done
}

good_tree() {
  rm -rf "$tree/src" "$tree/verify" "$tree/collectives" "$tree/tests" "$tree/tools"
  put src/core/types.hpp '<cstdint>'
  put src/core/types.cpp '"src/core/types.hpp"'
  put verify/table.cpp '"src/core/types.hpp"' '"verify/table.hpp"'
  put verify/cuda.cu '<cuda_runtime.h>'
  put src/report/table.cpp '"src/core/types.hpp"'
  put src/measure/batch.cpp '"src/core/types.hpp"' '"verify/table.hpp"'
  put src/record/record.hpp '"src/measure/batch.hpp"'
  put src/job/job.cpp '"src/bootstrap/launch.hpp"'
  put src/backends/gloo/gloo.cpp '<gloo/allreduce.h>' '"src/core/types.hpp"'
  put src/primitives/objects.cpp '"src/core/types.hpp"' '"verify/table.hpp"'
  put src/run/composite.cpp '"src/primitives/objects.hpp"' '"src/job/job.hpp"'
  put src/devices/cuda.cpp '<cuda_runtime.h>'
  put src/programs/program.cpp '"src/measure/batch.hpp"' '"verify/table.hpp"' '<fmt/format.h>'
  put collectives/all_reduce.cpp '"src/core/types.hpp"' '"src/programs/program.hpp"'
  put tools/compare.cpp '"src/record/record.hpp"'
  put tests/unit/types_test.cpp '"src/core/types.hpp"' '"tests/unit/ranks.hpp"' '<gtest/gtest.h>'
}

# expect_violation FILE INCLUDE...: the good tree with FILE added fails and FILE is named.
expect_violation() {
  good_tree
  put "$@"
  status=0
  output=$(sh "$checker" "$tree" 2>&1) || status=$?
  case $status:$output in
    4:*"$1"*) ;;
    *) echo "not caught: $* (exit $status) $output"; failures=$((failures + 1)) ;;
  esac
}

good_tree
if ! output=$(sh "$checker" "$tree" 2>&1); then
  echo "false alarm: $output"
  failures=$((failures + 1))
fi

expect_violation src/core/bad.hpp '"src/record/record.hpp"'
expect_violation src/core/bad.hpp '"verify/table.hpp"'
expect_violation src/core/bad.cpp '"src/programs/program.hpp"'
expect_violation verify/bad.cpp '"src/record/record.hpp"'
expect_violation verify/bad.cpp '"src/programs/program.hpp"'
expect_violation src/report/bad.cpp '"src/programs/program.hpp"'
expect_violation src/report/bad.cpp '"src/run/sweep.hpp"'
expect_violation src/measure/bad.cpp '"src/record/record.hpp"'
expect_violation src/measure/bad.cpp '"src/bootstrap/launch.hpp"'
expect_violation src/run/bad.cpp '"src/bootstrap/launch.hpp"'
expect_violation src/job/bad.cpp '"src/options/options.hpp"'
expect_violation src/bad.cpp '"src/core/types.hpp"'
expect_violation src/unknown/bad.cpp '"src/core/types.hpp"'
expect_violation src/run/bad.cpp '"src/unknown/good.hpp"'
expect_violation src/primitives/bad.cpp '"src/backends/registry.hpp"'
expect_violation src/primitives/bad.cpp '"src/programs/program.hpp"'
expect_violation verify/bad.cpp '"src/primitives/objects.hpp"'
expect_violation src/model/bad.cpp '"src/measure/estimate.hpp"'
expect_violation src/programs/program.cpp '"collectives/all_reduce.hpp"'
expect_violation src/programs/program.cpp '"tests/unit/ranks.hpp"'
expect_violation collectives/bad.cpp '"tools/compare.hpp"'
expect_violation src/core/bad.cpp '"types.hpp"'
expect_violation src/core/bad.cpp '"../report/record.hpp"'
expect_violation src/core/bad.cpp '<src/record/record.hpp>'
expect_violation src/programs/program.cpp '<gloo/allreduce.h>'
expect_violation src/backends/loopback.cpp '<gloo/allreduce.h>'
expect_violation src/backends/gloo/bad.cpp '<mpi.h>'
expect_violation src/devices/bad.cpp '<cuda_runtime.h>'
expect_violation src/devices/cuda.cpp '<nccl.h>'
expect_violation src/programs/program.cpp '  "src/measure/batch.hpp"' '	<cub/cub.cuh>'

# A tree without sources is a mistake in the call, not a pass.
rm -rf "$tree/src" "$tree/verify" "$tree/collectives" "$tree/tests" "$tree/tools"
status=0
sh "$checker" "$tree" >/dev/null 2>&1 || status=$?
[ "$status" = 2 ] || { echo "an empty tree gives exit $status"; failures=$((failures + 1)); }

[ "$failures" = 0 ]
