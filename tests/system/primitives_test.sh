#!/usr/bin/env bash
# Every primitive with a process for each rank: over each MPI under its mpirun, over Gloo with and without a launcher.
. "$(dirname "$0")/lib.sh"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
program=$build/tests/primitives_program
passed_on() { expect_in "$work/out" "subjects passed on $1 ranks of $2"; }

for flavour in openmpi mpich; do
  [ -e "$build/lib/ccl-tests/ccl-mpi-$flavour.so" ] && command -v "mpirun.$flavour" >/dev/null || { echo "SKIP $flavour: no module or no mpirun"; continue; }
  for ranks in 1 3 4; do
    run 0 "$ranks ranks on $flavour" "mpirun.$flavour" -n "$ranks" "$program" mpi
    passed_on "$ranks" "mpi-$flavour"
  done
  run 0 "Gloo under mpirun of $flavour" "mpirun.$flavour" -n 3 "$program" gloo
  passed_on 3 gloo
  # MPI has no limits of its own: a call that never ends is ended, and the error says who did not come. MPICH's mpirun kills the other ranks
  # when one has ended, and may return that instead.
  ended=5
  [ "$flavour" = mpich ] && ended='5|9'
  run "$ended" "a rank that sleeps, $flavour" "mpirun.$flavour" -n 3 "$program" mpi sleep
  expect_in "$work/err" "ranks 0 and 2 inside call 2, barrier; rank 1 in the function that was given, after call 1"
  expect_in "$work/err" "rank 1/3 on $(hostname): stack: clock_nanosleep <- nanosleep <- "
  expect_in "$work/err" "MPI_Barrier <- "
  # Who stands where does not depend on the MPI, and ranks spin meanwhile: under the first one here, nightly under all.
  first=${first:-$flavour}
  [ "$flavour" = "$first" ] || [ -n "${CCL_NIGHTLY:-}" ] || continue
  run "$ended" "a rank in another call, $flavour" "mpirun.$flavour" -n 3 "$program" mpi other-call
  expect_in "$work/err" "ranks 0 and 2 inside call 2, barrier; rank 1 in another call, inside call 2, messages"
done

# Without mpirun: the variables that any launcher sets. on_processes EXPECTED_CODE NAME RANKS ARGUMENTS...: rank 0 is looked at.
on_processes() {
  local expected=$1 name=$2 ranks=$3 port others=() pid; shift 3
  port=$(free_port)
  for rank in $(seq $((ranks - 1))); do
    RANK=$rank WORLD_SIZE=$ranks MASTER_ADDR=127.0.0.1 MASTER_PORT=$port timeout 240 "$program" "$@" >"$work/out.$rank" 2>&1 </dev/null &
    others+=($!)
  done
  RANK=0 WORLD_SIZE=$ranks MASTER_ADDR=127.0.0.1 MASTER_PORT=$port run "$expected" "$name" "$program" "$@"
  for pid in "${others[@]}"; do
    wait "$pid"
    [ $? -eq "$expected" ] || fail "$name: another rank ended otherwise: $(cat "$work"/out.?)"
  done
}
on_processes 0 "3 ranks on Gloo" 3 gloo
passed_on 3 gloo
run 0 "alone" "$program" loopback
passed_on 1 loopback

# A rank that cannot go on ends all of them, which say why.
for backend in loopback gloo; do
  on_processes 7 "a rank that fails on $backend" 3 "$backend" fail
  for rank in 0 2; do
    [ "$rank" = 0 ] || cp "$work/out.$rank" "$work/err"
    expect_in "$work/err" "rank 1/3 on $(hostname): the function that was given: it was to fail"
  done
done
# Nobody takes the connections that rank 1 closes for the cause.
for _ in 1 2 3; do
  on_processes 4 "a rank that ends with an error" 3 gloo error
  for rank in 0 2; do
    [ "$rank" = 0 ] || cp "$work/out.$rank" "$work/err"
    expect_in "$work/err" "rank 1/3 on $(hostname): the function that was given: it was to fail"
  done
done
on_processes 5 "a rank that sleeps, Gloo" 3 gloo sleep
for rank in 0 2; do
  [ "$rank" = 0 ] || cp "$work/out.$rank" "$work/err"
  expect_in "$work/err" "rank 1 in the function that was given, after call 1"
done
expect_in "$work/out.1" "rank 1/3 on $(hostname): stack: clock_nanosleep <- nanosleep <- "
on_processes 4 "a library's thread that throws" 3 gloo throw
expect_in "$work/err" "rank 1 on $(hostname): a thread of the library ended by an exception: nobody catches this"
on_processes 2 "ranks with different backends" 3 loopback mixed
expect_in "$work/err" "rank 1: --backend is gloo, on rank 0 it is loopback"
on_processes 2 "a backend that is not there" 2 smoke
expect_in "$work/err" "run_distributed: "
finish
