#!/usr/bin/env bash
# examples/backend, built outside the tree against an installed and moved ccl-tests, and files that are no modules.
. "$(dirname "$0")/lib.sh"
source=$(cd "$(dirname "$0")/../.." && pwd)
run 0 "cmake --install" cmake --install "$build" --prefix "$work/first" || finish
mv "$work/first" "$work/moved"
moved=$work/moved
cp -r "$source/examples/backend" "$work/mine"
run 0 "configuring the example" cmake -S "$work/mine" -B "$work/mine/build" -DCMAKE_PREFIX_PATH="$moved" -DCMAKE_CXX_FLAGS="-Wall -Wextra -Werror" || finish
run 0 "building the example" cmake --build "$work/mine/build" || finish
module=$work/mine/build/ccl-shm.so

for program in all_reduce all_gather broadcast barrier sendrecv; do
  for ranks in 1 3 4; do
    for start in -t --np; do
      run 0 "$program $start $ranks" "$moved/bin/${program}_perf" --backend "$module" $start $ranks --sizes 8,1000,300K -d all -o sum,prod,min,max -n 2
      expect_in "$work/out" "# Out of bounds values : 0 OK"
      expect_in "$work/out" "backend=shm"
    done
  done
done
run 3 "an operation that it leaves alone" "$moved/bin/alltoall_perf" --backend "$module" -t 3 -b 8 -e 8
expect_in "$work/err" "this backend has no alltoall"
run 3 "avg" "$moved/bin/all_reduce_perf" --backend "$module" -t 3 -b 8 -e 8 -o avg

# A rank that dies does not leave the others waiting.
timeout 60 "$moved/bin/all_reduce_perf" --backend "$module" --np 3 -b 1M -e 1M -n 5 -N 0 >"$work/out" 2>"$work/err" </dev/null &
guard=$!
for _ in $(seq 200); do [ "$(grep -cE '^ +[0-9]' "$work/out")" -ge 1 ] && break; sleep 0.1; done
for pid in $(pgrep -P "$(pgrep -P $guard)"); do grep -qz '^RANK=1$' "/proc/$pid/environ" && kill -KILL "$pid"; done
SECONDS=0
wait $guard
code=$?
[ "$code" -eq 4 ] && pass "a dead rank" || fail "a dead rank: exit $code, expected 4"
[ "$SECONDS" -le 8 ] || fail "a dead rank: $SECONDS s"

# No modules.
cat >"$work/old.cpp" <<'CPP'
extern "C" int ccl_module_abi() { return 0; }
extern "C" const void* ccl_module_backend() { return nullptr; }
CPP
c++ -shared -fPIC "$work/old.cpp" -o "$work/old.so"
run 4 "a module of another version" "$moved/bin/all_reduce_perf" --backend "$work/old.so" -b 8 -e 8
expect_in "$work/err" "was built for module ABI 0"
run 4 "a library that is no module" "$moved/bin/all_reduce_perf" --backend "$moved"/lib*/libccl-tests.so -b 8 -e 8
expect_in "$work/err" "is no ccl-tests module"
run 4 "a file that is no library" "$moved/bin/all_reduce_perf" --backend "$work/mine/CMakeLists.txt" -b 8 -e 8
finish
