#!/usr/bin/env bash
# Short runs under Valgrind: no leaks, no reads or writes outside of memory, no decisions on what nobody has set.
. "$(dirname "$0")/lib.sh"
command -v valgrind >/dev/null || { echo "SKIP: no valgrind (package valgrind)"; exit 77; }
memcheck=(valgrind --quiet --leak-check=full --errors-for-leak-kinds=definite,indirect --error-exitcode=99 --suppressions="$(dirname "$0")/../valgrind.supp")
files=()
for suffix in jsonl json csv xml md prom; do files+=(-J "$work/run.$suffix"); done
run 0 "all_reduce on loopback" "${memcheck[@]}" "$bin/all_reduce_perf" --backend loopback -t 3 -b 8 -e 4K -n 3 -w 1 --verdict "$work/verdict" "${files[@]}"
run 7 "wrong data" "${memcheck[@]}" "$bin/all_reduce_perf" --backend loopback -t 3 --sizes 8,1K -n 3 -c all --inject flipped-bit
run 2 "a flag that is not known" "${memcheck[@]}" "$bin/all_reduce_perf" --nope
for program in sync_grad alltoallv; do
  run 0 "$program on loopback" "${memcheck[@]}" "$bin/${program}_perf" --backend loopback -t 3 --sizes 1K -n 2 -w 1
done
# Gloo's descriptions of its addresses have bytes that it does not set, and travel over our connections.
run 0 "Gloo, local processes" "${memcheck[@]}" --trace-children=yes --undef-value-errors=no "$bin/all_reduce_perf" --backend gloo --np 3 -b 8 -e 4K -n 3 -w 1
finish
