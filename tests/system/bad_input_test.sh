#!/usr/bin/env bash
# Every bad flag or value: one line that names it, says what was given and what would be accepted; exit 2; nothing started.
. "$(dirname "$0")/lib.sh"

refused() { # expected code, text in the line, arguments...
  local code=$1 text=$2; shift 2
  run "$code" "refuses $*" "$bin/reduce_perf" "$@" || return
  [ -s "$work/out" ] && fail "$*: something on stdout"
  [ "$(wc -l <"$work/err")" -eq 1 ] || fail "$*: not one line: $(cat "$work/err")"
  expect_in "$work/err" "$text"
  [ "$code" -ne 2 ] || grep -qE 'accepted|see --help' "$work/err" || fail "$*: does not say what is accepted: $(cat "$work/err")"
}
refused 2 "-b: '12Q'" -b 12Q
refused 2 "-b: '1e'" -b 1e
refused 2 "-b: '1.5' is 1.5 B; accepted: whole bytes" -b 1.5
refused 2 "-b: '0.5' is 0.5 B; accepted: whole bytes" -b 0.5
refused 2 "-o: unknown operation 'SUM', did you mean 'sum'?" -o SUM
refused 2 "(257 characters) is too long; accepted: up to 256 B" --label "$(printf '%257s' x)"
refused 2 "-b: 8 is more than -e 4" -b 8 -e 4
refused 2 "-b: 0 " -b 0
refused 2 "-i: 0 would never end" -i 0
refused 2 "-f: '0'" -f 0
refused 2 "-n: '-1'" -n -1
refused 2 "-n: 'ten'" -n ten
refused 2 "-m: '0'" -m 0
refused 2 "-w: '0x1'" -w 0x1
refused 2 "-N: '1.5'" -N 1.5
refused 2 "-c: ''" -c ""
refused 2 "-a: '4'" -a 4
refused 2 "-z: '4'" -z 4
refused 2 "-p: '2'" -p 2
refused 2 "-S: 'yes'" -S yes
refused 2 "-C: '2'" -C 2
refused 2 "-u: '-1'" -u -1
refused 2 "-t: '0'" -t 0
refused 2 "-g: 'all'" -g all
refused 2 "--np: '0'" --np 0
refused 2 "-T: '-1'" -T -1
refused 2 "-d: unknown type 'floot', did you mean 'float'?" -d floot
refused 2 "-d: 'float,' has an empty item" -d float,
refused 2 "-o: unknown operation 'summ', did you mean 'sum'?" -o summ
refused 2 "-r: there is no rank 9" -r 9 -t 3
refused 2 "-r: there is no rank 3" -r 0,3 -t 3
refused 2 "-r: 'first'" -r first
refused 2 "--sizes: '8,,9'" --sizes 8,,9
refused 2 "--sizes: stands instead" --sizes 8 -b 8
refused 2 "--sizes: stands instead" --sizes odd -f 2
refused 2 "--sizes: 'even'" --sizes even
refused 2 "--max-time: '8' has no colon" --max-time 8
refused 2 "--min-busbw: 'x'" --min-busbw x:1
refused 2 "--max-time: unknown placement 'inplace', did you mean 'in_place'? accepted: out_of_place, in_place" --max-time 8:1:inplace
refused 2 "-c: 'All' is not accepted; accepted: a whole number from 0 to 1000000000, or all" -c All
refused 2 "-r: 'ALL' is not accepted; accepted: a whole number from 0 to 2147483647, or all" -r ALL
refused 2 "--inject: unknown kind 'flipped_bit', did you mean 'flipped-bit'?" --inject flipped_bit
refused 2 "--inject: unknown setting 'rnk', did you mean 'rank'? accepted: rank, at, call, every, phase" --inject flipped-bit:rnk=1
refused 2 "--inject: unknown phase 'timd', did you mean 'timed'? accepted: untimed, timed" --inject flipped-bit:phase=timd
refused 2 "--exit-codes: unknown name 'Nagios', did you mean 'nagios'? accepted: native, nagios, npd, aicr" --exit-codes Nagios
refused 2 "--tolerance: nothing is compared; accepted: with --baseline" --tolerance 5%
refused 2 "--baseline: " --baseline "$work/none.jsonl"
refused 2 "--row-time: 'inf'" --row-time inf
refused 2 "--init-timeout: 'soon'" --init-timeout soon
refused 2 "--gloo-algorithm: unknown name 'rings', did you mean 'ring'?" --gloo-algorithm rings
refused 2 "--transport: unknown name 'udp'" --transport udp
refused 2 "--interface: there is no interface 'eth99'" --backend gloo --interface eth99 -t 1
refused 2 "--interface: '' names no interface" --interface ""
refused 2 "--interface: 'eth0,,ib0' names no interface" --interface eth0,,ib0
refused 2 "xxx...' (5000 characters) that is up" --backend gloo --interface "$(printf 'x%.0s' {1..5000})" -t 1
refused 2 "unknown option '--nope'; see --help" --nope
refused 2 "unknown option '--itres', did you mean '--iters'? see --help" --itres 5
refused 2 "-d: unknown type 'float16', did you mean 'half'?" -d float16
refused 2 "--np: '\n' is not accepted" --np $'\n'
refused 2 "--backend: unknown backend '\x1b[31m" --backend $'\e[31m'
refused 2 "xxx...' (5000 characters)" -n "$(printf 'x%.0s' {1..5000})"
refused 2 "-w: '2147483647' is not accepted" -w 2147483647
refused 2 "-c: '2147483647' is not accepted" -c 2147483647 -w 5
refused 2 "--max-time: no row has 3145728 B; accepted: 1M, 2M, 4M" -b 1M -e 4M --max-time 3M:1
refused 2 "--group-rows: there are no groups" --group-rows 1
refused 2 "--pairs: reduce_perf runs on all ranks" --pairs 0:1
refused 2 "extra" extra
refused 2 "-b: no value; accepted: -b SIZE" -b
refused 2 "--backend: unknown backend 'Gloo', did you mean 'gloo'? accepted: auto, gloo" --backend Gloo
refused 2 "--backend: there is no file" --backend ./no-such-module.so
refused 2 "-J: cannot write results to '$work/no/x.json'" -J "$work/no/x.json"
refused 2 "-J: cannot write results to '$work/x.txt'" -J "$work/x.txt"
refused 2 "--heartbeat: cannot write" --heartbeat "$work/no/beat" -t 1 --backend loopback
# Rank 0 alone opens files: the others are not waited for, and say nothing.
refused 2 "-J: cannot write results to '$work/no/x.json'" -J "$work/no/x.json" --np 3 --backend gloo
refused 2 "--heartbeat: cannot write" --heartbeat "$work/no/beat" --np 3 --backend gloo
# Without a GPU, or without the module: each has its code and its line.
if [ ! -e "$build/lib/ccl-tests/ccl-nccl.so" ]; then
  refused 3 "--backend nccl: no module" --backend nccl
elif ! grep -qs '^0x10de$' /sys/bus/pci/devices/*/vendor; then
  refused 4 "no GPU can be used: " --backend nccl
  refused 4 "no GPU can be used: " --backend gloo --memory cuda
  refused 4 "no GPU can be used: " --backend gloo --expect-gpus 1
fi
[ -n "$(find "$build/lib/ccl-tests" -name "ccl-mpi-*.so")" ] || refused 3 "--backend mpi" --backend mpi
for flag in -G -y -R -M; do refused 3 "$flag: needs a library that works on GPUs" --backend gloo "$flag" 1; done
refused 3 "-x: needs a library that works on GPUs" --backend gloo -x 0
refused 3 "--show-algorithm: needs a library that works on GPUs" --backend gloo --show-algorithm
refused 3 "-D: collectives that kernels call themselves" -D 1
refused 2 "-K: 20 of 20 iterations" -I 1 -K 20
refused 2 "--library: there is no file /nowhere" --backend gloo --library /nowhere
refused 4 "--library: cannot load" --backend gloo --library /etc/hostname
run 0 "GPU flags switched off" "$bin/reduce_perf" --backend loopback --sizes 8 -G 0 -R 0 -x -1 -D 0 -V 16 -M 0 -t 1
run 2 "barrier_perf has no sizes" "$bin/barrier_perf" -b 8 -t 2
expect_in "$work/err" "-b: barrier_perf moves no data and has one row; see --help"
run 2 "pingpong_perf has no operations" "$bin/pingpong_perf" -o sum -t 2
run 2 "init_perf has no iterations" "$bin/init_perf" -n 3
run 2 "init_perf has no rows whose memory to report" "$bin/init_perf" -M 1
expect_in "$work/err" "-M: unknown name '1'; accepted: auto, host, cuda"
run 0 "a long flag may be shortened" "$bin/reduce_perf" --backend loopback --minbyte 8 --maxb 8 -t 1
run 0 "types by their short names" "$bin/reduce_perf" --backend loopback --sizes 8 -t 1 -d fp16,bf16,fp32,fp64 -J "$work/types.jsonl"
[ "$(awk '/^ +[0-9]/ {print $3}' "$work/out" | tr '\n' ' ')" = "half bfloat16 float double " ] || fail "types by their short names"
expect_in "$work/types.jsonl" '"types":"half,bfloat16,float,double"'
run 0 "several files" "$bin/reduce_perf" --backend loopback -b 8 -e 8 -t 1 -J "$work/a.csv" -J "$work/a.jsonl" -J "$work/a.json"
for file in a.csv a.jsonl a.json; do [ -s "$work/$file" ] || fail "several files: no $file"; done
run 0 "a label" "$bin/reduce_perf" --backend loopback -b 8 -e 8 -t 1 --label "new switch" -J "$work/label.jsonl"
expect_in "$work/out" "# label: 'new switch'"
expect_in "$work/label.jsonl" "label: 'new switch'"
run 2 "a shared folder that is not there" "$bin/collect_results_perf" --via cpu --shared-dir "$work/none" -t 3
expect_in "$work/err" "--shared-dir: '$work/none' is not a folder"
port=$(free_port)
for rank in 0 1 2; do # a file that nobody would write
  files=()
  [ $rank = 2 ] && files=(-J "$work/lost.csv")
  RANK=$rank WORLD_SIZE=3 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port timeout 240 "$bin/reduce_perf" --backend gloo -b 8 -e 8 "${files[@]}" \
    >"$work/out.$rank" 2>"$work/err.$rank" &
  ranks[rank]=$!
done
for rank in 0 1 2; do
  wait "${ranks[rank]}"
  [ $? -eq 2 ] || fail "-J on rank 2 alone: rank $rank did not end with 2"
  expect_in "$work/err.$rank" "-J: rank 2 was given '$work/lost.csv' and rank 0 was not"
done
run 0 "-r -1 means all" "$bin/reduce_perf" --backend loopback --sizes 8 -r -1 -t 3
[ "$(grep -cE '^ +[0-9]' "$work/out")" -eq 3 ] || fail "-r -1: not three rows"

NCCL_TESTS_MIN_BW=much refused 2 "NCCL_TESTS_MIN_BW: 'much'" --backend loopback
NCCL_TESTS_ALLTOALLV_SPREAD=2 refused 2 "NCCL_TESTS_ALLTOALLV_SPREAD: '2'" --backend loopback
RANK=x WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 refused 2 "RANK" --backend loopback
CUDA_VISIBLE_DEVICES=0 refused 4 "CUDA_VISIBLE_DEVICES is set" -b 8 -e 8
if [ -e "$build/lib/ccl-tests/ccl-mpi-openmpi.so" ]; then
  OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=1 refused 4 "4 processes, but MPI says that its world has 1" -b 8 -e 8
else
  OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=1 refused 3 "would meet through MPI" -b 8 -e 8
fi
OMPI_COMM_WORLD_SIZE=4 refused 4 "OMPI_COMM_WORLD_RANK" -b 8 -e 8
RANK=1 WORLD_SIZE=4 PET_NNODES=2 PET_NPROC_PER_NODE=2 MASTER_ADDR=127.0.0.1 refused 4 "RANK=1 counts pods" --backend loopback
MV2_COMM_WORLD_RANK=0 MV2_COMM_WORLD_SIZE=2 refused 4 "MV2_COMM_WORLD_RANK=0, MV2_COMM_WORLD_SIZE=2 (set by MVAPICH2)" --backend loopback
OMPI_COMM_WORLD_RANK=1 refused 4 "OMPI_COMM_WORLD_RANK=1, without OMPI_COMM_WORLD_SIZE" --launcher mpi
refused 2 "--launcher slurm: not set: SLURM_PROCID, SLURM_STEP_NUM_TASKS" --bootstrap slurm
refused 2 "--launcher: unknown name 'ssh'" --bootstrap ssh
refused 2 "--launcher: unknown name 'ssh'" --bootstrap ssh --np 2
RANK=0 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 refused 2 "--np: this is one of 2 processes" --np 3
OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 refused 2 "--np: this is one of 2 processes" --np 3
(
  ulimit -n 60
  timeout 240 "$bin/all_reduce_perf" --backend gloo -b 8 -e 8 -t 16 >"$work/out" 2>"$work/err"
  [ $? -eq 3 ] && grep -q "needs [0-9]* open files" "$work/err"
) && pass "too few file descriptors" || fail "too few file descriptors: $(cat "$work/err")"

(
  ulimit -v 3000000
  timeout 240 "$bin/all_reduce_perf" --backend loopback -b 8 -e 8 -t 600 >"$work/out" 2>"$work/err"
  [ $? -eq 3 ] && grep -q "a thread cannot be started" "$work/err"
) && pass "too few threads" || fail "too few threads: $(cat "$work/err")"

# What ranks find alike is said once, whoever is the first.
for words in "--sizes 100T" "-b 8 -e 8 --beside copy"; do
  run 3 "$words, found by 3 ranks" "$bin/all_reduce_perf" --np 3 --backend gloo $words
  [ "$(wc -l <"$work/err")" -eq 1 ] || fail "$words: not one line: $(cat "$work/err")"
done
run 2 "-O 0 without an in-place form" "$bin/sendrecv_perf" --backend loopback -t 3 -O 0
expect_in "$work/err" "sendrecv_perf: -O: 0 measures in place alone, and sendrecv_perf has no in-place form; accepted: 1"
run 0 "-O 1 without an in-place form" "$bin/sendrecv_perf" --backend loopback -t 3 -O 1 -n 2 --sizes 8
refused 2 "-O: '2' is not accepted" -O 2
run 0 "--help" "$bin/reduce_perf" --help
expect_in "$work/out" "Exit codes"
run 0 "--help-all" "$bin/reduce_perf" --help-all
expect_in "$work/out" "Measuring"
for tool in mesh_perf ccl_replay ccl_compare ccl_acceptance ccl_selftest device_check; do
  run 0 "$tool --help-all" "$bin/$tool" --help-all
  "$bin/$tool" --help | cmp -s - "$work/out" || fail "$tool: --help-all is not --help"
  awk 'length > 100 { print; bad = 1 } END { exit bad }' "$work/out" || fail "$tool --help: lines of more than 100 columns"
done
run 0 "--version" "$bin/reduce_perf" --version
finish
