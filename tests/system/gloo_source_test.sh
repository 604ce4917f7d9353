#!/usr/bin/env bash
# The Gloo of a checkout (-DCCL_GLOO_SOURCE=DIR) beside the installed one: its names, what refuses it, and a comparison of both.
. "$(dirname "$0")/lib.sh"
module=$(find "$build/lib/ccl-tests" -name 'ccl-gloo-*.so' | sort | tail -n 1)
if [[ -z $module ]]; then
  echo "SKIP: this build has no Gloo of a checkout (configure with -DCCL_GLOO_SOURCE=DIR)"
  exit 77
fi
gloo=$(basename "$module" .so)
gloo=${gloo#ccl-}
date=${gloo#gloo-}
small=(--sizes 8,64K -n 2)

if nm -D "$module" | c++filt | grep -q '[^_]gloo::'; then fail "$gloo: it shares names with other Gloos"; else pass "$gloo: hidden"; fi

run 0 "$gloo, 3 ranks" "$bin/all_reduce_perf" --backend "$gloo" --np 3 "${small[@]}" -d int8,float -o sum,avg
expect_in "$work/out" "backend=$gloo library=0.5.0+$date."
expect_in "$work/out" "file=$module"

run 2 "an unknown backend" "$bin/all_reduce_perf" --backend list
expect_in "$work/err" "$gloo, "
run 3 "a Gloo that was not built" "$bin/all_reduce_perf" --backend gloo-19990101
expect_in "$work/err" "ccl-gloo-19990101.so: configure with -DCCL_GLOO_SOURCE="

# Two Gloos do not understand each other.
port=$(free_port)
RANK=0 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port timeout 240 "$bin/all_reduce_perf" --backend gloo "${small[@]}" >"$work/rank0" 2>&1 &
run 2 "ranks with two Gloos" env RANK=1 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT="$port" "$bin/all_reduce_perf" --backend "$gloo" "${small[@]}"
wait $! && fail "ranks with two Gloos: rank 0 does not refuse"
grep -qF "$gloo" "$work/rank0" "$work/err" || { fail "ranks with two Gloos: nobody says so"; cat "$work/rank0" "$work/err"; }

command=("$bin/all_reduce_perf" -t 2 --sizes 8,64K -n 20 --backend)
run '0|6|8' "installed against checkout" "$bin/ccl_compare" --base "${command[*]} gloo" --head "${command[*]} $gloo" --pairs 4
expect_in "$work/out" "library_version differs: '0.5.0' in base, '0.5.0+$date."
run 2 "another library" "$bin/ccl_compare" --base "${command[*]} $gloo" --head "${command[*]} loopback" --pairs 4

run 1 "a folder that is no checkout" cmake -S "$(dirname "$0")/../.." -B "$work/build" -DCCL_TESTS=OFF -DCCL_GLOO_SOURCE="$work"
tr -s '\n ' ' ' <"$work/err" >"$work/line"
expect_in "$work/line" "is no checkout of Gloo: it lacks .git; give the folder of a git clone of Gloo"
finish
