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

[ "$(wc -l <"$source/examples/backend/shm_backend.cpp")" -le 80 ] || fail "the example has more than 80 lines"

# Every program. What the example has itself, all_reduce and messages, is not marked; what is made of its messages is.
for program in "${programs[@]}" "${composites[@]}"; do
  emulated=true
  case $program in all_reduce | sendrecv | pingpong | hypercube) emulated=false ;; esac
  for ranks in 1 3 4; do
    runs_on "$program" "$ranks" || continue
    start=-t
    [ "$ranks" -eq 3 ] && start=--np
    taken "$program" --sizes 8,1000,300K
    run 0 "$program $start $ranks" "$moved/bin/${program}_perf" --backend "$module" $start "$ranks" "${words[@]}" -n 2 -w 1 -J "$work/$program$ranks.jsonl" || continue
    expect_in "$work/out" "# Out of bounds values : 0 OK"
    expect_in "$work/out" "backend=shm"
    grep -E '^ +[0-9]' "$work/out" | awk 'NF != 13 {exit 1}' || fail "$program: a row has not 13 tokens"
    expect_in "$work/$program$ranks.jsonl" "\"emulated\":$emulated"
  done
done
for program in all_reduce reduce reduce_scatterv; do
  run 0 "$program of every type and operation" "$moved/bin/${program}_perf" --backend "$module" -t 3 --sizes 1000 -d all -o all -n 2
  expect_in "$work/out" "# Out of bounds values : 0 OK"
done
run 0 "avg, which the suite composes" "$moved/bin/all_reduce_perf" --backend "$module" -t 3 -b 8 -e 8 -o avg -J "$work/avg.jsonl"
expect_in "$work/avg.jsonl" '"emulated":true'
run 0 "init" "$moved/bin/init_perf" --backend "$module" -t 3
run 2 "an option that the backend does not know" "$moved/bin/all_reduce_perf" --backend "$module" -t 3 --backend-option boxes=2
expect_in "$work/err" "--backend-option boxes=2: shm has no such option; accepted: none"
run 2 "an option without a value" "$moved/bin/all_reduce_perf" --backend "$module" -t 3 --backend-option boxes
expect_in "$work/err" "'boxes' is not KEY=VALUE"

# A rank that dies does not leave the others waiting.
timeout 240 "$moved/bin/all_reduce_perf" --backend "$module" --np 3 -b 1M -e 1M -n 5 -N 0 >"$work/out" 2>"$work/err" </dev/null &
guard=$!
wait_for_rows 1
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
