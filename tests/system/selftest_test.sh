#!/usr/bin/env bash
# ccl_selftest and --inject: what is spoiled on purpose is found, on every library, and the reports say so.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

few=(-d float,int8,bfloat16,f8e5m2 -b 8K --sizes 0,1,8,4104)
for ranks in 1 2 3 4; do
  run 0 "loopback, $ranks ranks" "$bin/ccl_selftest" -t $ranks --backend loopback "${few[@]}"
  expect_in "$work/out" "# OK: "
  expect_in "$work/out" "0 cells wrong without a fault"
  expect_in "$work/out" "# implements: all_reduce, reduce, broadcast"
done
run 7 "--inject of a wrong operation in an average of 8 bits" "$bin/all_reduce_perf" --np 2 --backend gloo --sizes 64K -d f8e4m3,f8e5m2 -o avg -n 2 -w 1 -c all --inject wrong-op
expect_in "$work/out" "# Verdict  : WRONG - 2 of 2 rows"
kinds=(-d float --sizes 4104)  # what faults do to other types and sizes loopback shows above
[ -z "${CCL_NIGHTLY:-}" ] || kinds=(-d float,int32 --sizes 1,4104)
run 0 "Gloo, 3 processes" "$bin/ccl_selftest" --np 3 --backend gloo -b 8K "${kinds[@]}"
expect_in "$work/out" "# composed by the backend: avg of every type: sum, then divide"
expect_in "$work/out" "# OK: "
for mpi in openmpi mpich; do
  # MPICH's ranks spin, and three on two cores take minutes: what the library itself does, and every program nightly.
  some=()
  [ "$mpi" = mpich ] && [ -z "${CCL_NIGHTLY:-}" ] && some=(--programs all_reduce,reduce_scatter,sendrecv)
  if [ ! -e "$build/lib/ccl-tests/ccl-mpi-$mpi.so" ] || ! command -v "mpirun.$mpi" >/dev/null; then continue; fi
  run 0 "$mpi, 3 processes" env OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 "mpirun.$mpi" -n 3 \
    "$bin/ccl_selftest" --backend "mpi-$mpi" -d float -b 8K --sizes 1,4104 "${some[@]}"
  expect_in "$work/out" "# OK: "
done
arithmetic=rounded-toward-zero,one-ulp,flushed-subnormals,saturated,double-rounded,integer-order,skipped-assignment
asked=(-d half -b 4K --sizes 8 --programs all_reduce,reduce_scatterv)
run 0 "faults of arithmetic, wide data" "$bin/ccl_selftest" -t 3 --backend loopback --data wide "${asked[@]}" --faults "$arithmetic"
expect_in "$work/out" "# OK: "
expect_in "$work/out" "  integer-order                  4         4       4/4 "
run 0 "faults of arithmetic, special data" "$bin/ccl_selftest" -t 3 --backend loopback --data special "${asked[@]:0:6}" --programs all_reduce --faults ignored-nan
expect_in "$work/out" "  ignored-nan                    6         6       6/6 "
run 0 "what a bound cannot see" "$bin/ccl_selftest" -t 5 --backend loopback --data wide "${asked[@]}" --faults one-ulp
expect_in "$work/out" "within the bound of the rounding errors of so many ranks"
run 0 "exact data do not ask" "$bin/ccl_selftest" -t 2 --backend loopback "${asked[@]}" --faults one-ulp
expect_in "$work/out" "x exact data do not ask for arithmetic"
run 7 "--inject of arithmetic" "$bin/all_reduce_perf" --np 3 --backend gloo --sizes 64K -d float -n 2 -c all --data wide --inject one-ulp:rank=1:call=3
expect_in "$work/out" "# Verdict  : WRONG"
run 0 "the kinds of faults" "$bin/ccl_selftest" --list
expect_in "$work/out" "stale-result"
run 2 "an unknown kind" "$bin/ccl_selftest" --faults bits
expect_in "$work/err" "accepted: flipped-bit"
run 2 "an unknown program" "$bin/ccl_selftest" --programs all_reduce_perf
run 3 "nothing to try" "$bin/ccl_selftest" -t 3 --backend loopback --programs hypercube
run 2 "an unknown flag" "$bin/ccl_selftest" --kinds all

# One program with one fault.
run 7 "--inject" "$bin/all_reduce_perf" --np 3 --backend gloo --sizes 64K -n 10 -c all --inject flipped-bit:rank=2:call=9 -J "$work/i.jsonl"
expect_in "$work/out" "inject: flipped-bit:rank=2:call=9"
expect_in "$work/out" "inject: 1 operation spoiled: 1 on rank 2"
expect_in "$work/out" "rank 2 on "
expect_in "$work/i.jsonl" '"inject":"flipped-bit:rank=2:call=9"'
run 2 "--inject of a size that no row has" "$bin/all_reduce_perf" --np 3 --backend gloo --sizes 64K -n 2 --inject flipped-bit:at=1K
expect_in "$work/err" "--inject: no row has 1024 B; accepted: 64K"
run 8 "--inject of a call that no row has" "$bin/all_reduce_perf" --np 3 --backend gloo --sizes 64K -n 2 --inject flipped-bit:call=100000 -J "$work/none.xml" -J "$work/none.md"
expect_in "$work/out" "inject: 0 operations spoiled: the run makes no call that the fault names"
expect_in "$work/out" "# Verdict  : UNRELIABLE - results correct, but --inject spoiled nothing that shows (exit 8)"
expect_in "$work/err" "--inject spoiled nothing that shows: "
expect_in "$work/none.xml" '<error type="not decided" message="--inject spoiled nothing'
expect_in "$work/none.md" "--inject spoiled nothing"
run 8 "--inject of what changes no byte" "$bin/all_reduce_perf" --np 3 --backend gloo --sizes 64K -n 2 -o max --inject doubled-contribution
run 8 "--inject of a call that is not verified" "$bin/all_reduce_perf" --np 3 --backend gloo --sizes 64K -n 10 --inject flipped-bit:call=5
expect_in "$work/out" "inject: 1 operation spoiled: 1 on rank 0"
run 8 "--inject of what a sum hides" "$bin/moe_combine_perf" --np 2 --backend gloo -e 64K -b 64K -n 2 -c all --inject swapped-blocks
expect_in "$work/out" "but --inject spoiled nothing that shows (exit 8)"
run 2 "--inject without a kind" "$bin/all_reduce_perf" -t 2 --inject wrong
expect_in "$work/err" "unknown kind 'wrong'"
run 2 "--inject on a rank that is not there" "$bin/all_reduce_perf" -t 2 --inject flipped-bit:rank=2
expect_in "$work/err" "there is no rank 2"
run 7 "--inject, ranks as threads" "$bin/all_reduce_perf" -t 4 --backend loopback --sizes 64K,4M -n 3 -c all --inject stale-result:rank=all
[ "$(grep -cE "operations? spoiled" "$work/out")" -eq 1 ] || fail "not one line of what was spoiled"
run 2 "--inject with -c 0" "$bin/all_reduce_perf" -t 2 --inject zeroed-result -c 0
run 2 "-c all with -m" "$bin/all_reduce_perf" -t 2 -c all -m 4
run 2 "-c with a word" "$bin/all_reduce_perf" -t 2 -c each
expect_in "$work/err" "all"

# More ranks than Gloo finds ports for: at once, not after a hundred seconds. Hosts may limit open files, too.
run 3 "180 ranks of Gloo on one host" "$bin/all_reduce_perf" --backend gloo --np 4 -t 45 --sizes 8
grep -qE "TCP ports|open files" "$work/err" || fail "no reason: $(cat "$work/err")"
finish
