#!/usr/bin/env bash
# Every program over MPI, started by mpirun, for each MPI that this build has a module for, as the system has it and as the
# Python package index has it today; Gloo under mpirun; failures. Usage: mpi_test.sh BUILD_FOLDER [FLAVOUR]; without a flavour: all.
. "$(dirname "$0")/lib.sh"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1

short=(-w 0 --row-time 0.1)

# Today's releases, in folders of their own: today_openmpi, today_mpich; today_abi is an MPICH with nothing but the standard ABI.
today=$build/mpi-today
install_today() { # module
  [ -x "$today/$1/bin/mpirun" ] && return
  python3 -m venv "$today/$1" && "$today/$1/bin/pip" install -q "${1/abi/mpich}>=5" || { rm -rf "${today:?}/$1"; return 1; }
  [ "$1" != abi ] || rm "$today/abi/lib"/libmpi.so*
}
only=${2:-}
tries() { [ -z "$only" ] || [ "$1" = "$only" ]; }
flavours=() # what is there; of today's releases, what is tried
for flavour in openmpi mpich today_openmpi today_mpich today_abi; do
  module=${flavour#today_}
  [ "$flavour" = "$module" ] || tries "$flavour" || continue
  if [ ! -e "$build/lib/ccl-tests/ccl-mpi-$module.so" ]; then
    ! tries "$flavour" || echo "SKIP $flavour: this build has no module for it"
  elif [ "$flavour" != "$module" ]; then
    if install_today "$module" >"$work/pip" 2>&1; then flavours+=("$flavour"); else echo "SKIP $flavour: $(tail -n 1 "$work/pip")"; fi
  elif ! command -v "mpirun.$flavour" >/dev/null; then
    ! tries "$flavour" || echo "SKIP $flavour: no mpirun.$flavour"
  else
    flavours+=("$flavour")
  fi
done
there() { [[ " ${flavours[*]} " == *" $1 "* ]]; }
tried=()
for flavour in "${flavours[@]}"; do ! tries "$flavour" || tried+=("$flavour"); done
[ "${#tried[@]}" -gt 0 ] || { [ -n "$only" ] || echo "SKIP: no MPI module, or no mpirun for it"; exit 77; }
# Sets module and mpirun, the words in front of the number of ranks.
choose() { # flavour
  module=${1#today_}
  case $1 in
    today_openmpi) mpirun=("$today/openmpi/bin/mpirun" --oversubscribe -n) ;;
    today_*) mpirun=("$today/$module/bin/mpirun" -n) ;;
    *) mpirun=("mpirun.$1" -n) ;;
  esac
}

# As run, for runs that fail: Hydra kills the other processes as soon as one ends with an error, and then returns their 9 too.
run_failing() {
  local before=$failures
  run "$@" >"$work/said" && { cat "$work/said"; return; }
  if [ "$module" != openmpi ] && ! grep -q 'exit 0,' "$work/said"; then
    failures=$before
    pass "$2, with Hydra's exit code"
  else
    cat "$work/said"
  fi
}
verified() { # name ranks
  expect_in "$work/out" "# Out of bounds values : 0 OK"
  [ "$(grep -c '^#  Rank' "$work/out")" -eq "$2" ] || fail "$1: not $2 rank lines"
  grep -qE '^ +[0-9]' "$work/out" || fail "$1: no rows"
}

# The header of the standard ABI is the suite's own: an MPI's has the same values, and no declaration contradicts it.
if there today_abi; then
  sources=$(cd "$(dirname "$0")/../../src/backends/mpi" && pwd) theirs=$today/abi/include/mpi_abi.h
  values_of() { # header
    { printf '#include <cstdio>\n#include "%s"\nint main() {\n' "$1"
      awk '$1 == "#define" {printf "std::printf(\"%s %%ld\\n\", (long)%s);\n", $2, $2}' "$sources/abi/mpi.h"
      echo '}'; } >"$work/values.cpp"
    g++ -o "$work/values" "$work/values.cpp" && "$work/values"
  }
  values_of "$sources/abi/mpi.h" >"$work/ours"
  values_of "$theirs" | diff "$work/ours" - >"$work/out" && [ "$(wc -l <"$work/ours")" -ge 30 ] &&
    pass "the ABI's values" || fail "the ABI's values: $(cat "$work/out")"
  { printf '#include "%s"\nextern "C" {\n' "$theirs"; sed -n '/^int MPI_/,/;/p' "$sources/abi/mpi.h" "$sources/large_counts.hpp"; echo '}'; } >"$work/calls.cpp"
  [ "$(grep -c '^int MPI_' "$work/calls.cpp")" -ge 60 ] || fail "the ABI's functions: only $(grep -c '^int' "$work/calls.cpp")"
  run 0 "the ABI's functions" g++ -std=c++20 -fsyntax-only "$work/calls.cpp"
fi
! there today_openmpi || [ -e "$today/openmpi/lib/libmpi_abi.so.1" ] ||
  echo "SKIP mpi-abi over Open MPI: $("$today/openmpi/bin/ompi_info" --version | head -n 1) has no libmpi_abi.so.1"

if there today_openmpi; then  # its launcher may be a PRRTE that lies elsewhere
  run 0 "the folder that Open MPI 5 tells" env OMPI_LIBDIR_LOC="$today/openmpi/lib" "$bin/all_reduce_perf" --backend mpi-openmpi -b 8 -e 8 -n 2
  expect_in "$work/out" "file=$today/openmpi/lib/libmpi.so.40"
fi

# What of ours does not depend on the MPI: of the first one here, and nightly of all.
thorough() { [ -n "${CCL_NIGHTLY:-}" ] || [ "$flavour" = "${flavours[0]}" ]; }
# A module meets a second release of its MPI, or the same source is compiled with the standard ABI's header: a program for each kind of
# call, and nightly all.
again() { [ -z "${CCL_NIGHTLY:-}" ] && [ "$flavour" != "$module" ] && { there "$module" || { [ "$module" = abi ] && there mpich; }; }; }
for flavour in "${tried[@]}"; do
  choose "$flavour"
  called=("${programs[@]}")
  if again; then called=(all_reduce reduce_scatter broadcast scatterv alltoallv sendrecv pingpong barrier); fi
  run_failing 3 "$flavour: --interface" "${mpirun[@]}" 1 "$bin/all_reduce_perf" --backend "mpi-$module" --sizes 8 -t 1 --interface lo
  expect_in "$work/err" "--interface is for NCCL and Gloo; MPI takes its own"
  # MPICH 4.0 compares unsigned integers as signed ones (https://github.com/pmodels/mpich/issues/6083): to be found.
  right_types=all
  if "${mpirun[@]}" 1 "$bin/all_reduce_perf" --backend "mpi-$module" -b 8 -e 8 -n 1 2>/dev/null | grep -qE 'MPICH Version: *4\.0(\.[012])?"'; then
    right_types=int8,int32,int64,half,float,double,bfloat16,f8e4m3,f8e5m2
    run_failing 7 "the known defect of this MPICH" "${mpirun[@]}" 3 "$bin/all_reduce_perf" --backend mpi --sizes 4K -n 1 -d uint32 -o max
    expect_in "$work/err" "uint32 max"
  fi
  for ranks in 3 1 4; do
    [ "$ranks" = 3 ] || thorough || continue
    type=float
    [ "$ranks" = 4 ] && type=int8
    for program in "${called[@]}"; do
      runs_on "$program" "$ranks" || continue
      taken "$program" --sizes 8,4000,100K "${short[@]}" -n 2 -d $type
      run 0 "$program, $ranks ranks of $flavour" "${mpirun[@]}" "$ranks" "$bin/${program}_perf" --backend mpi "${words[@]}"
      verified "$program" "$ranks"
    done
  done
  run 0 "hypercube, 8 ranks of $flavour" "${mpirun[@]}" 8 "$bin/hypercube_perf" --backend mpi --sizes 4000 "${short[@]}" -n 1
  verified hypercube 8
  for mode in exchange async; do
    for ranks in 1 3 4; do
      [ "$mode" = exchange ] && [ "$ranks" != 4 ] && continue
      run 0 "sendrecv --mode $mode, $ranks ranks of $flavour" "${mpirun[@]}" "$ranks" "$bin/sendrecv_perf" \
        --backend mpi --mode $mode --sizes 8,4000,100K "${short[@]}" -n 2 -d float
      verified "sendrecv --mode $mode" "$ranks"
    done
  done
  for program in $(taking --skew "${called[@]}"); do
    for skew in linear one-large; do
      [ $skew = linear ] || thorough || continue
      taken "$program" --sizes 8,5000,1M "${short[@]}" -n 1 -d "$([ $skew = linear ] && echo float || echo int8)" -o sum,mulsum -r all
      run 0 "$program --skew $skew, 3 ranks of $flavour" "${mpirun[@]}" 3 "$bin/${program}_perf" --backend mpi "${words[@]}" --skew $skew
      verified "$program --skew $skew" 3
    done
  done
  for ranks in 1 3; do
    ! again || [ "$ranks" = 3 ] || continue
    for program in all_reduce reduce_scatter reduce; do
      types=$right_types
      [ "$program" = all_reduce ] || types=int64,half,double # what MPI is given for a type and an operation is the same
      run 0 "$program, types and operations, $ranks ranks of $flavour" "${mpirun[@]}" "$ranks" \
        "$bin/${program}_perf" --backend "mpi-$module" --sizes 5000 "${short[@]}" -n 1 -d "$types" -o all
      verified "$program" "$ranks"
    done
    run 0 "all_reduce, sums of the other types, $ranks ranks of $flavour" "${mpirun[@]}" "$ranks" \
      "$bin/all_reduce_perf" --backend "mpi-$module" --sizes 5000 "${short[@]}" -n 1 -d uint8,uint32,uint64 -o sum,prod,avg,mulsum
    verified all_reduce "$ranks"
  done
  # What MPI's int counts cannot say, here from 1000 elements on: functions for large counts of MPI 4 (Debian's MPICH, the ABI). With
  # Open MPI it goes in pieces, but for MPI_Alltoallv, which cannot be divided: below.
  large=true how="MPI's functions for large counts"
  [ "$module" != openmpi ] || { large=false; how="reductions in pieces"; }
  for program in "${called[@]}"; do
    thorough || [ "$flavour" = mpich ] || [ "$flavour" = today_abi ] || break
    { { $large || [ "$program" != alltoallv ]; } && runs_on "$program" 3; } || continue
    taken "$program" --sizes 10001 "${short[@]}" -n 1 -d int8,half -o sum,mulsum --verbose
    run 0 "$program in pieces, 3 ranks of $flavour" "${mpirun[@]}" 3 "$bin/${program}_perf" \
      --backend "$build/tests/ccl-mpi-$module-pieces.so" "${words[@]}"
    verified "$program in pieces" 3
    expect_in "$work/out" "more than 1000 elements: $how"
  done
  run 0 "Gloo under mpirun of $flavour" "${mpirun[@]}" 3 "$bin/all_reduce_perf" --backend gloo --sizes 8,100K -n 2
  verified "Gloo under mpirun" 3
  expect_in "$work/out" "mpirun"
  # Without a flag the cheapest level that is enough: one host, and only the main thread calls MPI.
  run 0 "the thread level of $flavour" "${mpirun[@]}" 3 "$bin/all_reduce_perf" --backend mpi --sizes 8 -n 2
  expect_in "$work/out" "# threads: MPI_THREAD_SINGLE (--mpi-thread)"
  # The library beside mpirun is measured, whatever else is installed.
  [ "$flavour" = "$module" ] || expect_in "$work/out" "file=$today/$module/lib/libmpi"
  ! grep -q '# WARNING: MPI' "$work/out" || fail "the library of $flavour is not its mpirun's: $(grep WARNING "$work/out")"
  for level in funneled serialized multiple; do
    run 0 "--mpi-thread $level" "${mpirun[@]}" 3 "$bin/all_reduce_perf" --backend mpi --sizes 8 -n 2 --mpi-thread $level
    expect_in "$work/out" "# threads: MPI_THREAD_${level^^} (--mpi-thread)"
  done
  if ! $large; then
    run_failing 3 "a vector too long for $flavour" "${mpirun[@]}" 3 "$bin/alltoallv_perf" \
      --backend "$build/tests/ccl-mpi-$module-pieces.so" --sizes 100K -d int8
    expect_in "$work/err" "MPI_Alltoallv takes counts and offsets of int"
  fi
  run_failing 6 "too slow under $flavour" "${mpirun[@]}" 3 "$bin/all_reduce_perf" --backend mpi --sizes 8 -n 2 --max-time 8:0
  run_failing 2 "bad flag under $flavour" "${mpirun[@]}" 3 "$bin/all_reduce_perf" --backend mpi --sizes 8 -n -2

  # MPI waits for a process that never says so: its limit ends the start, and the file and stdout tell.
  run_failing 5 "a start that never ends under $flavour" "${mpirun[@]}" 1 "$bin/all_reduce_perf" --backend mpi --sizes 8 --init-timeout 3 \
    -J "$work/start.$flavour.jsonl" : -n 1 sleep 60
  expect_in "$work/out" "# Test failure: mpi-$module has not started within 3 s"
  expect_in "$work/start.$flavour.jsonl" '"exit_code":5,"failure":"mpi-'

  # A rank that dies: everybody ends, and every row that was on screen is in the file.
  : >"$work/out"
  timeout 240 "${mpirun[@]}" 3 "$bin/all_reduce_perf" --backend mpi -b 8 -e 8 -n 5 -N 0 -J "$work/killed.$flavour.jsonl" \
    >"$work/out" 2>"$work/err" </dev/null &
  guard=$!
  wait_for_rows 2
  victim=
  for pid in $(pgrep -f "$work/killed.$flavour.jsonl"); do
    tr '\0' '\n' <"/proc/$pid/environ" 2>/dev/null | grep -qE '^(OMPI_COMM_WORLD_RANK|PMI_RANK)=1$' && victim=$pid
  done
  if [ -z "$victim" ]; then
    fail "no rank 1 to kill under $flavour: $(tail -n 5 "$work/err")"
  else
    kill -KILL "$victim"
    SECONDS=0
  fi
  wait "$guard" && fail "a killed rank under $flavour: exit 0"
  [ "$SECONDS" -le 10 ] || fail "a killed rank under $flavour: ended after $SECONDS s"
  [ "$(grep -c '"type":"row"' "$work/killed.$flavour.jsonl")" -ge "$(grep -cE '^ +[0-9]' "$work/out")" ] ||
    fail "rows are missing in the file of a killed run"
  # MPICH's mpirun kills rank 0 too: another process writes the end then.
  for _ in $(seq 50); do tail -n 1 "$work/killed.$flavour.jsonl" | grep -q '"type":"footer"' && break; sleep 0.1; done
  tail -n 1 "$work/killed.$flavour.jsonl" | grep -q '"complete":false' || fail "no end in the file of a killed run under $flavour"
  pass "a killed rank under $flavour"

  # A rank that is stopped: MPI has no time limit, so the watchdog ends the run and says where it stood. Of its time nearly all
  # is warm-up calls; between rows the others wait in an exchange.
  stopped="rank [02]/3 .*: inside the library for [0-9]+ s without an end|d(id|oes) not come to [^:]*: rank 1 on |no sign of life from rank 1 on "
  : >"$work/out"
  timeout 240 "${mpirun[@]}" 3 "$bin/all_reduce_perf" --backend mpi -b 8 -e 8 -n 5 -w 100 -N 0 -T 1 -J "$work/stopped.$flavour.jsonl" \
    >"$work/out" 2>"$work/err" </dev/null &
  guard=$!
  wait_for_rows 1
  for pid in $(pgrep -f "$work/stopped.$flavour.jsonl"); do
    tr '\0' '\n' <"/proc/$pid/environ" 2>/dev/null | grep -qE '^(OMPI_COMM_WORLD_RANK|PMI_RANK)=1$' && { kill -STOP "$pid"; victim=$pid; }
  done
  for _ in $(seq 300); do grep -qE "$stopped" "$work/err" && break; sleep 0.1; done
  kill -KILL "$victim" 2>/dev/null
  wait "$guard" && fail "a stopped rank under $flavour: exit 0"
  grep -qE "$stopped" "$work/err" &&
    pass "a stopped rank under $flavour" || fail "a stopped rank under $flavour: $(head -n 5 "$work/err")"

  # Ctrl-C of mpirun: process 0 writes the footer before the launcher ends it. Open MPI's mpirun does not read stdout any more while it
  # ends a job, which takes 1 to 2 s: with thousands of rows in that time (5 calls a row) only the file has the footer. Open MPI 5's
  # never reads it then.
  many=20000
  [ "$module" = openmpi ] || many=200 # MPICH's ranks do not give way: 10 ms for a call where CPUs are short
  for calls in $many 5; do
    : >"$work/out"
    timeout 240 "${mpirun[@]}" 3 "$bin/all_reduce_perf" --backend mpi -b 8 -e 64K -n $calls -N 0 -J "$work/interrupted.$flavour.$calls.jsonl" \
      >"$work/out" 2>"$work/err" </dev/null &
    guard=$!
    wait_for_rows 1
    kill -INT "$(pgrep -P "$guard" | head -n 1)"
    wait "$guard"
    what="Ctrl-C of mpirun of $flavour, $calls calls a row"
    if ! grep -q '"type":"footer"' "$work/interrupted.$flavour.$calls.jsonl"; then
      fail "$what: no footer in the file: $(tail -n 1 "$work/interrupted.$flavour.$calls.jsonl" | cut -c 1-200)"
    elif [ $calls -gt 5 ] && [ "$flavour" != today_openmpi ] && ! grep -q '^# Test failure: .*interrupted by signal' "$work/out"; then
      fail "$what: no footer on stdout: $(tail -n 3 "$work/out")"
    else
      pass "$what"
    fi
  done

  # Limits are judged on rank 0 alone; every rank ends with its verdict.
  "${mpirun[@]}" 3 bash -c "'$bin/all_reduce_perf' --backend mpi -b 8 -e 8 -n 5 --max-time 8:0.001 >/dev/null 2>&1; echo exit \$?" >"$work/out" 2>"$work/err" </dev/null
  [ "$(grep -c '^exit 6$' "$work/out")" -eq 3 ] && pass "one exit code under $flavour" || fail "one exit code under $flavour: $(cat "$work/out")"

  # All ranks are done, and MPI_Finalize never returns: nobody stays, and the numbers are there. What mpirun makes of it is its own.
  run "0|1|9" "an MPI_Finalize of $flavour that does not end" "${mpirun[@]}" 3 env LD_PRELOAD="$build/tests/libpreloaded-finalize.so" "$bin/all_reduce_perf" --backend mpi -b 8 -e 8 -n 3 -T 3
  expect_in "$work/out" "# Out of bounds values : 0 OK"
  # Of whichever ends first: then mpirun kills the others.
  grep -qE "rank [0-2] on $(hostname): mpi-$module has not ended within 3 s, though all ranks are done" "$work/err" ||
    fail "no line says that MPI_Finalize of $flavour does not end: $(tail -n 5 "$work/err")"

  # One MPI's processes with the other's module: each MPI would think that it runs alone.
  for other in "${flavours[@]}"; do
    [ "${other#today_}" = "$module" ] || [ "$other" != "${other#today_}" ] && continue
    run_failing 3 "$other's module under mpirun of $flavour" "${mpirun[@]}" 3 "$bin/all_reduce_perf" --backend "mpi-$other" -b 8 -e 8
    grep -qE "a process has one MPI|the MPI of $today/.* is needed" "$work/err" || fail "no line tells of two MPIs: $(tail -n 5 "$work/err")"
  done
done

# Another MPI's library under an mpirun that can start it is measured on request alone, and the header says so.
if there mpich && there today_mpich; then
  choose today_mpich
  mkdir "$work/other"
  ln -s "$(ldconfig -p | awk '$1 == "libmpich.so.12" {print $NF; exit}')" "$work/other/libmpich.so.12"
  run 0 "Debian's MPICH under today's mpirun" env LD_LIBRARY_PATH="$work/other" "${mpirun[@]}" 3 "$bin/all_reduce_perf" --backend mpi -b 8 -e 8 -n 2
  expect_in "$work/out" "# WARNING: MPI: $work/other/libmpich.so.12 is measured; the MPI of this mpirun is $today/mpich/lib/libmpi"
fi

# What another launcher of one process left: its variables would make each process run alone.
if tries mpich && there openmpi && there mpich; then
  left_of_openmpi=(env OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=1) left_of_mpich=(env PMI_RANK=0 PMI_SIZE=1 MPI_LOCALRANKID=0)
  run 0 "MPICH's own names" mpirun.mpich -n 3 "${left_of_openmpi[@]}" "$bin/all_reduce_perf" --backend mpi-mpich -b 8 -e 8 -n 2
  expect_in "$work/out" "# Ranks: 3 processes"
  run 0 "Open MPI's own names" mpirun.openmpi --oversubscribe -n 3 "${left_of_mpich[@]}" "$bin/all_reduce_perf" --backend mpi-openmpi -b 8 -e 8 -n 2
  expect_in "$work/out" "# Ranks: 3 processes"
  for backend in auto gloo mpi mpi-openmpi; do
    "${left_of_openmpi[@]}" mpirun.mpich -n 3 bash -c "'$bin/all_reduce_perf' --backend $backend -b 8 -e 8 -n 2; echo exit \$?" >"$work/out" 2>"$work/err" </dev/null
    grep -q '^exit 4$' "$work/out" && ! grep -q '^exit 0$' "$work/out" && pass "--backend $backend beside Open MPI's names" || fail "--backend $backend beside Open MPI's names: $(cat "$work/out")"
    expect_in "$work/err" "OMPI_COMM_WORLD_SIZE=1, but PMI_SIZE=3"
  done
  run 0 "--launcher local beside them" "${left_of_openmpi[@]}" PMI_RANK=0 PMI_SIZE=3 "$bin/all_reduce_perf" --launcher local --backend gloo -t 3 -b 8 -e 8 -n 2
fi
# Names that tell of several processes, but of no way to them; PMI of another launcher than Hydra.
if tries mpich && there mpich; then
  run 0 "PMI without Hydra's own name" mpirun.mpich -n 3 env -u MPI_LOCALRANKID "$bin/all_reduce_perf" --backend mpi -b 8 -e 8 -n 2
  expect_in "$work/out" "# Ranks: 3 processes on 1 host"
  expect_in "$work/out" "(launcher: PMI)"
  run 0 "PMI of Flux, Gloo" mpirun.mpich -n 3 env -u MPI_LOCALRANKID FLUX_TASK_RANK=0 FLUX_TASK_LOCAL_ID=0 "$bin/all_reduce_perf" --backend gloo -b 8 -e 8 -n 2
  expect_in "$work/out" "(launcher: Flux)"
  if unshare -m true 2>/dev/null; then # what MPICH says of it is UCX's
    for options in ro,size=64m size=64k; do
      unshare -m bash -c "mount -t tmpfs -o $options none /dev/shm; exec mpirun.mpich -n 2 '$bin/all_reduce_perf' --backend mpi -b 8 -e 8 -n 2" >"$work/out" 2>"$work/err" </dev/null
      expect_in "$work/err" "mpi-mpich: if MPI_Init fails: /dev/shm $([ $options = size=64k ] && echo "has 65536 B free of 65536 B" || echo "is mounted read-only")"
    done
    mpirun.mpich -n 2 unshare -U -r "$bin/all_reduce_perf" --backend mpi -b 8 -e 8 -n 2 >"$work/out" 2>"$work/err" </dev/null
    expect_in "$work/err" "this rank has a user namespace of its own"
  else
    echo "SKIP /dev/shm that MPICH cannot use: no namespaces here"
  fi
fi
if tries openmpi && there openmpi; then
  for backend in gloo mpi; do
    mpirun.openmpi -n 3 env -u OMPI_COMM_WORLD_RANK -u OMPI_COMM_WORLD_SIZE -u OMPI_COMM_WORLD_LOCAL_RANK \
      bash -c "'$bin/all_reduce_perf' --backend $backend -b 8 -e 8 -n 2; echo exit \$?" >"$work/out" 2>"$work/err" </dev/null
    [ "$(grep -c '^exit 4$' "$work/out")" -eq 3 ] && pass "PMIx's names alone, $backend" || fail "PMIx's names alone, $backend: $(cat "$work/out")"
    expect_in "$work/err" "PMIX_RANK=2 (set by PMIx: prun, srun --mpi=pmix): this is one of several processes"
  done
fi
# MPI may know of processes of which no variable has told.
printf 'extern "C" int MPI_Comm_size(void*, int* size) { *size = 2; return 0; }\n' >"$work/two.cpp"
if tries openmpi && there openmpi && g++ -shared -fPIC -o "$work/two.so" "$work/two.cpp"; then
  run 4 "a world larger than the job" env LD_PRELOAD="$work/two.so" "$bin/all_reduce_perf" --backend mpi-openmpi -b 8 -e 8 -n 2
  expect_in "$work/err" "say 1 process, but MPI says that its world has 2; give every process RANK (here 0), WORLD_SIZE=2"
  run 0 "a part of a larger world" env LD_PRELOAD="$work/two.so" "$bin/all_reduce_perf" --backend mpi-openmpi -b 8 -e 8 -n 2 --launcher local
fi
tries "${flavours[0]}" || finish  # they end before any MPI starts: once
choose "${flavours[0]}"
for tool in all_reduce_perf init_perf mesh_perf ccl_replay ccl_selftest ccl_acceptance; do
  for flag in --help --no-such-flag; do # on one page, in one line
    code=$([ $flag = --help ] && echo 0 || echo 2)
    rm -f "$work/codes" # a file: mpirun may mix the lines of ranks
    "${mpirun[@]}" 3 bash -c "'$bin/$tool' $flag; echo exit \$? >>'$work/codes'" >"$work/out" 2>"$work/err" </dev/null
    [ "$(grep -c "^exit $code\$" "$work/codes")" -eq 3 ] && [ "$(cat "$work/out" "$work/err" | grep -cE '^Usage|no-such-flag')" -eq 1 ] &&
      pass "$tool $flag of 3 ranks" || fail "$tool $flag of 3 ranks: $(grep -h -E '^exit|^Usage|no-such-flag' "$work/codes" "$work/out" "$work/err")"
  done
done
run 3 "--np with MPI" "$bin/all_reduce_perf" --backend mpi --np 3 -b 8 -e 8
expect_in "$work/err" "--np: with mpi-"
run 3 "-t with MPI" "$bin/all_reduce_perf" --backend mpi -t 3 -b 8 -e 8
expect_in "$work/err" "mpirun -n 3"
finish
