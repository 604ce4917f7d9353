#!/usr/bin/env bash
# --reproducible and --digests: the same bits in every call, and in every run of the same algorithm alone.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1

sums=(--sizes 0,24,64K,3M -d float,int32 -n 1 --reproducible)
for ranks in 1 3 4; do
  run 0 "Gloo's ring, $ranks ranks" "$bin/all_reduce_perf" --np $ranks --backend gloo --gloo-algorithm ring "${sums[@]}" --digests "$work/$ranks.sums" -J "$work/$ranks.jsonl"
  expect_in "$work/out" "# Bits     : the same again - 6 rows: "
  [ "$(wc -l <"$work/$ranks.sums")" -eq 6 ] || fail "not 6 digests: $(cat "$work/$ranks.sums")"
  expect_in "$work/$ranks.jsonl" '"reproducibility":"order-independent"'
done
expect_in "$work/4.jsonl" '"reproducibility":"stable"'
expect_in "$work/out" "the bits depend on which rank has which data"
expect_in "$work/4.sums" "  all_reduce_perf float sum, 16384 elements, 4 ranks, seed 1"
cp "$work/4.sums" "$work/before"
run 0 "the same again" "$bin/all_reduce_perf" --np 4 --backend gloo --gloo-algorithm ring "${sums[@]}" --digests "$work/4.sums"
run 7 "another algorithm" "$bin/all_reduce_perf" --np 4 --backend gloo --gloo-algorithm bcube "${sums[@]}" --digests "$work/4.sums" -J "$work/other.csv"
expect_in "$work/out" "VARIES between runs; digest "
expect_in "$work/out" "; 6 compared"
expect_in "$work/out" "# Verdict  : VARIES - 3 of 8 rows"
expect_in "$work/other.csv" "bits vary: 24 B float sum between runs"
cmp -s "$work/before" "$work/4.sums" || fail "a file of digests was changed by runs that had no new row"
run 0 "another seed is another row" "$bin/all_reduce_perf" --np 4 --backend gloo "${sums[@]}" --seed 2 --digests "$work/4.sums"
[ "$(wc -l <"$work/4.sums")" -eq 12 ] || fail "not 12 digests"

# Floats are stable, and maxima of integers are the same whoever computes them.
for mpi in openmpi mpich; do
  if [ ! -e "$build/lib/ccl-tests/ccl-mpi-$mpi.so" ] || ! command -v "mpirun.$mpi" >/dev/null; then continue; fi
  run 0 "$mpi" "mpirun.$mpi" -n 3 "$bin/reduce_scatter_perf" --backend "mpi-$mpi" "${sums[@]}" -o sum,max
  expect_in "$work/out" "# Bits     : the same again - 8 rows: "
  run 0 "$mpi, integers as Gloo's" "mpirun.$mpi" -n 4 "$bin/all_reduce_perf" --backend "mpi-$mpi" --sizes 64K -d int32 -o max -n 1 --reproducible --digests "$work/$mpi.sums"
done
if [ -e "$work/openmpi.sums" ] && [ -e "$work/mpich.sums" ]; then
  cmp -s "$work/openmpi.sums" "$work/mpich.sums" || fail "two MPIs have other maxima of integers"
fi

run 7 "a call that differs" "$bin/all_reduce_perf" --np 3 --backend gloo --sizes 64K -n 1 -w 0 -c 1 --reproducible --inject flipped-bit:rank=1:call=9
expect_in "$work/out" "VARIES between calls: element 5461 of rank 1"
expect_in "$work/out" "1 ulp apart"
run 0 "beside the pingpong of --ceiling auto, which reduces nothing" "$bin/all_reduce_perf" --np 3 --backend gloo --sizes 64K -n 1 --ceiling auto --reproducible
expect_in "$work/out" "# Bits     : the same again - 1 row"
run 2 "--digests alone" "$bin/all_reduce_perf" --np 3 --digests "$work/x"
run 2 "a program that reduces nothing" "$bin/all_gather_perf" --np 3 --reproducible
expect_in "$work/err" "reduces nothing"
head -c 100000000 /dev/zero >"$work/hello"
run 2 "a file of something else" "$bin/all_reduce_perf" --np 3 --sizes 8 --reproducible --digests "$work/hello"
expect_in "$work/err" "is not a digest and a row"
run 2 "a folder that is not there" "$bin/all_reduce_perf" --np 3 --sizes 8 --reproducible --digests "$work/no/such"
mkfifo "$work/fifo"
run 2 "a FIFO" "$bin/all_reduce_perf" --np 3 --sizes 8 --reproducible --digests "$work/fifo"
expect_in "$work/err" "is no file"
run 2 "-J's file" "$bin/all_reduce_perf" --np 3 --sizes 8 --reproducible --digests "$work/r.csv" -J "$work/r.csv"
run 2 "with --inject" "$bin/all_reduce_perf" --np 3 --sizes 8 --reproducible --digests "$work/i.sums" --inject flipped-bit
run 0 "groups" "$bin/all_reduce_perf" --np 4 --sizes 600 -n 1 --reproducible --digests "$work/groups" --group "mod 2"
run 0 "other groups are other rows" "$bin/all_reduce_perf" --np 4 --sizes 600 -n 1 --reproducible --digests "$work/groups"
expect_in "$work/out" "; 0 compared"
finish
