#!/usr/bin/env bash
# The programs on NCCL and CUDA as a user of GPUs runs them, over the stand-ins of tests/fake_gpu.
. "$(dirname "$0")/lib.sh"
tree=$build/tests/fake_gpu
if [ ! -e "$tree/lib/ccl-tests/ccl-nccl.so" ]; then
  echo "SKIP: this build has no stand-ins for CUDA and NCCL (the CUDA toolkit and NCCL's header)"
  exit 77
fi
export LD_LIBRARY_PATH=$tree/lib:$tree FAKE_GPUS=4 FAKE_GPU_MEMORY=$((256 << 20))
quick=(-b 8 -e 64K -f 128 -n 3 -w 1 --backend nccl)
all_reduce=("$bin/all_reduce_perf" "${quick[@]}")
right() { expect_in "$work/out" "# Out of bounds values : 0 OK"; }

# Every program, at 1, 3 and 4 ranks on threads; some as processes, whose GPUs differ and whose data travel between address spaces.
for ranks in 1 3 4; do
  tried=("${programs[@]}")
  # What composites do on other numbers of ranks is tested without GPUs, in tests/ranks.
  if [ "$ranks" = 3 ] || [ -n "${CCL_NIGHTLY:-}" ]; then tried+=("${composites[@]}"); fi
  for program in "${tried[@]}"; do
    runs_on "$program" "$ranks" || continue
    taken "$program" "${quick[@]}"
    run 0 "$program, $ranks ranks" "$bin/${program}_perf" "${words[@]}" -t "$ranks" && right
  done
done
for program in all_reduce alltoallv gatherv sendrecv sync_grad; do
  run 0 "$program, 3 processes" "$bin/${program}_perf" "${quick[@]}" --np 3 && right
done
run 0 "init" "$bin/init_perf" --backend nccl -t 3 -N 2
run 0 "every type and operation" "$bin/all_reduce_perf" --backend nccl -b 40 -e 5000 -f 125 -n 2 -w 1 -t 3 -d all -o all && right
run 0 "every type and operation, to one" "$bin/reduce_perf" --backend nccl -b 5000 -e 5000 -n 2 -w 1 -t 4 -d all -o all -r all && right
run 0 "vectors of 16 bytes, none of them aligned" "$bin/all_reduce_perf" --backend nccl --sizes 1M,3000001 -n 2 -w 1 -t 3 -d int8,half,float,double -u 3 && right
run 0 "the whole machine by default" "$bin/all_reduce_perf" "${quick[@]}" && right
expect_in "$work/out" "# Ranks: 4 processes on 1 host"
grep -Eq '^# ccl-tests version .* backend=nccl .* nccl-headers=2[0-9]{4} nccl-library=2[0-9]{4}$' "$work/out" || fail "no versions as nccl-tests prints them"
expect_in "$work/out" "device  3 [0000:0d:00] Fake GPU"

# nccl-tests' flags.
for flags in "-G 3" "-G 2 -I 1 -K 1" "-I 1 -m 3" "-R 1" "-R 2 -x 1" "-y 1 -u 3" "-m 4" "-z 1 -m 2" "-z 2" "-z 3" "-C 1" "-p 1" "-c 0" "-w 0"; do
  # $flags is a list of words
  # shellcheck disable=SC2086
  run 0 "all_reduce $flags" "${all_reduce[@]}" -t 3 $flags && right
done
run 0 "all_reduce --samples" "$bin/all_reduce_perf" -b 8 -e 64K -f 128 --backend nccl -t 3 --samples --stats --passes 2 && right
run 0 "all_reduce -w 0 -n 0" "$bin/all_reduce_perf" -b 8 -e 64K -f 128 --backend nccl -t 3 -w 0 -n 0 && right
for program in "${programs[@]}"; do
  taken "$program" "${quick[@]}"
  [ "$program" = pingpong ] || run 0 "$program as a graph" "$bin/${program}_perf" "${words[@]}" -t 4 -G 2 -m 2 && right
done
run 0 "--interface" "${all_reduce[@]}" -t 3 --interface 127.0.0.1 -J "$work/interface.jsonl" && right
expect_in "$work/interface.jsonl" '"NCCL_SOCKET_IFNAME==lo"'
run 2 "an interface that is not there" "${all_reduce[@]}" -t 3 --interface eth99
expect_in "$work/err" "--interface: there is no interface 'eth99'"
run 0 "-M" "${all_reduce[@]}" -t 3 -M 1
expect_in "$work/out" "# GPU memory usage     : Initialization "
run 0 "a stream with events" "$bin/all_reduce_perf" -b 8 -e 64K -f 128 --backend nccl -t 3 --stats -J "$work/stream.jsonl" && right
grep '"type":"row"' "$work/stream.jsonl" | grep -v '"time_low_s":[0-9]' && fail "a row of the stream has no interval"
run 0 "-I into a file" "${all_reduce[@]}" -t 3 -G 2 -I 1 -K 1 -J "$work/i.json"
expect_in "$work/i.json" '"out_of_place_per_iter":{"skipped_iterations":1,'
for rule in 'mod 2' 'ranks 0,3;2,1'; do
  run 0 "groups by $rule" "${all_reduce[@]}" -t 4 --group "$rule" --group-rows 1 && right
done

# Ranks as threads, whose GPUs wait for each other where memory is taken between operations.
run 0 "NCCL on host memory, many sizes" "$bin/all_reduce_perf" --backend nccl --memory host -b 8 -e 4M -f 2 -n 2 -w 0 -t 4 -T 20 && right
run 0 "rounds of pairs" "$bin/pingpong_perf" --backend nccl -b 8 -e 64K -f 8 -n 2 -w 0 -t 4 -T 20 && right
run 0 "kinds of rows" "$bin/all_reduce_perf" --backend nccl --sizes 4K -d all -o all -n 1 -w 0 -N 3 -t 4 -T 20 && right
run 0 "graphs" "$bin/all_reduce_perf" --backend nccl -b 8 -e 64K -f 2 -n 2 -G 1 -t 4 -T 20 && right

# Memory of the other side.
run 0 "NCCL on host memory" "${all_reduce[@]}" -t 3 --memory host && right
expect_in "$work/out" "buffers in host memory, staged"
for program in "${programs[@]}"; do
  taken "$program" -b 8 -e 64K -f 128 -n 2 -w 1
  runs_on "$program" 4 && run 0 "$program, Gloo on CUDA memory" "$bin/${program}_perf" "${words[@]}" --backend gloo --memory cuda -t 4 && right
done
run 0 "sizes end with the memory" env FAKE_GPU_MEMORY=10000000 "$bin/all_reduce_perf" --backend nccl -b 1M -e 16M -n 1 -t 2 && right
expect_in "$work/out" "Reducing maxBytes to"
run 0 "memory that NCCL takes at its first operation" env FAKE_GPU_MEMORY=$((512 << 20)) FAKE_NCCL_MEMORY=$((150 << 20)) "$bin/all_reduce_perf" --backend nccl -b 32M -e 1G -i 64M -n 1 -w 0 -t 2 && right
# The main thread, which has no device of its own, gives everything back.
run 0 "a context for each rank, no more" env FAKE_GPU_CONTEXTS=2 "${all_reduce[@]}" --np 2 -t 2 && right
grep "fake GPU: context" "$work/err" && fail "a process made a context on another's device"

# Primitives and training code.
export MASTER_ADDR=127.0.0.1
MASTER_PORT=$(free_port); export MASTER_PORT
for rank in 1 2; do
  RANK=$rank WORLD_SIZE=3 timeout 240 "$build/tests/primitives_program" nccl >"$work/out.$rank" 2>&1 </dev/null &
done
RANK=0 WORLD_SIZE=3 run 0 "the primitives, 3 processes" "$build/tests/primitives_program" nccl
expect_in "$work/out" "subjects passed on 3 ranks of nccl"
unset MASTER_ADDR MASTER_PORT
wait

# Which GPU.
run 0 "a launcher shows every process one" env CUDA_VISIBLE_DEVICES=2 "${all_reduce[@]}" -t 1 && expect_in "$work/out" "[0000:0c:00]"
run 0 "NCCL_TESTS_DEVICE" env NCCL_TESTS_DEVICE=2 "${all_reduce[@]}" -t 2 && expect_in "$work/out" "device  3 [0000:0d:00]"
run 4 "NCCL_TESTS_DEVICE beyond" env NCCL_TESTS_DEVICE=3 "${all_reduce[@]}" -t 2 && expect_in "$work/err" "puts a rank on device 4, but this process sees 4 (0 to 3)"
run 4 "more ranks than GPUs" "${all_reduce[@]}" -t 5 && expect_in "$work/err" "5 ranks in this process, but it sees 4 GPUs"
run 4 "processes on one GPU" env FAKE_GPUS=1 "${all_reduce[@]}" --np 3 && expect_in "$work/err" "ranks 0, 1, 2 are on one GPU, Fake GPU [0000:0a:00]"

# Ranks that share a GPU: processes with any NCCL, threads from 2.30 on.
shared=(env FAKE_GPUS=1 FAKE_NCCL_VERSION=23007)
older=(env FAKE_GPUS=1 FAKE_NCCL_VERSION=22809)
for how in "${shared[*]}" "${older[*]}"; do
  # shellcheck disable=SC2086 # a list of words
  run 0 "processes on one GPU, $how" $how "${all_reduce[@]}" --np 3 --share-gpus && right
  expect_in "$work/out" "# --share-gpus: ranks share a GPU, over sockets on loopback: times mean nothing"
done
run 3 "threads on one GPU, NCCL 2.28" "${older[@]}" "${all_reduce[@]}" -t 2 --share-gpus
[ "$(cat "$work/err")" = "all_reduce_perf: [$(hostname)] --share-gpus with -t or -g: needs NCCL 2.30, here is 2.28.9; use --np N, or a newer --library FILE" ] ||
  fail "another line: $(cat "$work/err")"
run 3 "threads on one GPU by -g, NCCL 2.28" "${older[@]}" "${all_reduce[@]}" -g 2 --share-gpus
run 0 "threads on one GPU" "${shared[@]}" FAKE_GPU_QUEUES=1 "${all_reduce[@]}" -t 2 --share-gpus -J "$work/shared.jsonl" && right
expect_in "$work/out" "# --share-gpus: 2 ranks on a GPU at the same time: times are of a shared GPU"
grep -q "NCCL documents" "$work/out" && fail "two ranks on a GPU are said to be more than documented"
[ "$(grep -c 'fake GPU: 32 hardware queues' "$work/err")" -eq 1 ] || fail "the variable is set behind the driver's first call: $(cat "$work/err")"
for setting in NCCL_MULTI_RANK_GPU_ENABLE=1 NCCL_NVLS_ENABLE=0 NCCL_MAX_CTAS=8 CUDA_DEVICE_MAX_CONNECTIONS=32; do
  expect_in "$work/shared.jsonl" "\"$setting\""
done
run 0 "variables that the user has set" "${shared[@]}" NCCL_NVLS_ENABLE=2 NCCL_MAX_CTAS=4 CUDA_DEVICE_MAX_CONNECTIONS=16 FAKE_GPU_QUEUES=1 \
  "${all_reduce[@]}" -t 2 --share-gpus -J "$work/set.jsonl" && right
expect_in "$work/err" "fake GPU: 16 hardware queues"
for setting in NCCL_MULTI_RANK_GPU_ENABLE=1 NCCL_NVLS_ENABLE=2 NCCL_MAX_CTAS=4 CUDA_DEVICE_MAX_CONNECTIONS=16; do
  expect_in "$work/set.jsonl" "\"$setting\""
done
run 4 "NCCL told not to let them" "${shared[@]}" NCCL_MULTI_RANK_GPU_ENABLE=0 "${all_reduce[@]}" -t 2 --share-gpus
expect_in "$work/err" "Set NCCL_MULTI_RANK_GPU_ENABLE=1"
run 0 "three threads on one GPU" "${shared[@]}" "${all_reduce[@]}" -t 3 --share-gpus && right
expect_in "$work/out" "# --share-gpus: 3 ranks on a GPU at the same time: times are of a shared GPU; NCCL documents 2 ranks on a GPU, more may hang"
run 0 "four threads on two GPUs" "${shared[@]}" FAKE_GPUS=2 "${all_reduce[@]}" -g 4 --share-gpus && right
expect_in "$work/out" "# --share-gpus: 2 ranks on a GPU at the same time"
run 0 "threads with a GPU each" "${shared[@]}" FAKE_GPUS=2 "${all_reduce[@]}" -t 2 --share-gpus && right
grep -q "^# --share-gpus" "$work/out" && fail "ranks with a GPU each are said to share one"
run 3 "threads of several processes" "${shared[@]}" "${all_reduce[@]}" --np 2 -t 2 --share-gpus
expect_in "$work/err" "--share-gpus: the ranks are threads of several processes; use -t N in one process, or --np N without -t and -g"
for program in alltoallv sendrecv sync_grad; do
  taken "$program" "${quick[@]}"
  run 0 "$program, threads on one GPU" "${shared[@]}" "$bin/${program}_perf" "${words[@]}" -t 2 --share-gpus && right
done
for flags in "-G 2" "-R 2" "--memory host" "-d all -o all"; do
  # $flags is a list of words
  # shellcheck disable=SC2086
  run 0 "threads on one GPU, $flags" "${shared[@]}" "${all_reduce[@]}" -t 2 --share-gpus $flags && right
done
run 0 "groups on a GPU each" "${shared[@]}" FAKE_GPUS=2 "${all_reduce[@]}" -t 4 --share-gpus --group 'mod 2' --group-rows 1 && right
# Tools take what the programs take.
cat >"$work/plan.toml" <<'PLAN'
node = { run = false }
sanity = { run = false }
full = { programs = ["all_reduce"], sizes = ["64K"], seconds = "0.1" }
[[limit]]
program = "all_reduce"
min_busbw = "0.001 MB/s"
PLAN
for ranks in "-t 2" "--np 2"; do
  # shellcheck disable=SC2086
  run 0 "init_perf, $ranks on one GPU" "${shared[@]}" "$bin/init_perf" --backend nccl $ranks --share-gpus
  # shellcheck disable=SC2086
  run 0 "ccl_selftest, $ranks on one GPU" "${shared[@]}" "$bin/ccl_selftest" --backend nccl $ranks --share-gpus -d float -b 8K --sizes 1000 --programs all_reduce
  expect_in "$work/out" "# OK: "
  # shellcheck disable=SC2086
  run 0 "ccl_acceptance, $ranks on one GPU" "${shared[@]}" "$bin/ccl_acceptance" "$work/plan.toml" --backend nccl $ranks --share-gpus
done
sed -i '/^sanity/d; s/^full.*/full = { run = false }/; /limit/,$d' "$work/plan.toml"
run "0|8" "ccl_acceptance, every program" "$bin/ccl_acceptance" "$work/plan.toml" --backend nccl -t 2 --verdict "$work/cuda.json"
expect_in "$work/cuda.json" "all_gather_object: needs buffers in host memory; use --memory host"
run "0|8" "ccl_acceptance, every program on host memory" "$bin/ccl_acceptance" "$work/plan.toml" --backend nccl -t 2 --memory host --verdict "$work/host.json"
grep -q "needs buffers in host memory" "$work/host.json" && fail "host memory is not host memory"
run 0 "ccl_selftest, NCCL_TESTS_DEVICE" env NCCL_TESTS_DEVICE=3 "$bin/ccl_selftest" --backend nccl -t 1 -d float -b 8K --sizes 1000 --programs all_reduce
run 4 "ccl_selftest, NCCL_TESTS_DEVICE beyond" env NCCL_TESTS_DEVICE=4 "$bin/ccl_selftest" --backend nccl -t 1
run 2 "ccl_selftest, NCCL_TESTS_DEVICE without a number" env NCCL_TESTS_DEVICE=x "$bin/ccl_selftest" --backend nccl -t 1
expect_in "$work/err" "ccl_selftest: NCCL_TESTS_DEVICE: "
for flags in --share-gpus "--np 2" "-t 2" "-g 2"; do
  # shellcheck disable=SC2086
  run 2 "device_check $flags" "$bin/device_check" $flags
  expect_in "$work/err" "device_check: ${flags% *}: device_check has no ranks and checks one GPU (--device N); see --help"
done
run 0 "--expect-gpus" "${all_reduce[@]}" -t 2 --expect-gpus 4
run 4 "--expect-gpus, one too many" "${all_reduce[@]}" -t 2 --expect-gpus 5 && expect_in "$work/err" "shows 4"
run 4 "what Slurm promised" env SLURM_GPUS_ON_NODE=8 "${all_reduce[@]}" -t 2 && expect_in "$work/err" "SLURM_GPUS_ON_NODE=8"
run 4 "--expect-gpus of a run that uses none" env FAKE_GPU_ERROR=100 "$bin/all_reduce_perf" --backend gloo -b 8 -e 8 --expect-gpus 1

# GPUs in evidence that cannot be used are no reason for Gloo.
run 0 "auto is NCCL" env CUDA_VISIBLE_DEVICES=0,1 "$bin/all_reduce_perf" -b 8 -e 8 && expect_in "$work/out" "backend=nccl"
run 4 "an old driver" env CUDA_VISIBLE_DEVICES=0 FAKE_GPU_ERROR=35 "$bin/all_reduce_perf" -b 8 -e 8 && expect_in "$work/err" "CUDA_VISIBLE_DEVICES is set to '0', but no GPU can be used: the driver is missing or too old"
run 4 "no device" env FAKE_GPU_ERROR=100 "${all_reduce[@]}" && expect_in "$work/err" "CUDA sees no device"
run 4 "no NCCL" env LD_LIBRARY_PATH="$tree/lib" "${all_reduce[@]}" --library "$tree/lib/libccl-tests.so" && expect_in "$work/err" "has no ncclGetVersion"

# What this NCCL or GPU has not.
run 0 "every type and operation of one rank" "$bin/all_reduce_perf" --backend nccl --sizes 64,4K -n 2 -t 1 -d all -o all && right
expect_in "$work/out" "NCCL's path for one rank has no avg of f8e4m3"
# One rank of NCCL up to 2.28 leaves a tail unwritten, at sizes that are no power of two.
tail_of=(-t 1 -d float -o avg,mulsum -n 1 -w 0)
for program in all_reduce reduce_scatter; do
  run 7 "an unwritten tail of $program" "$bin/${program}_perf" --backend nccl "${tail_of[@]}" --sizes odd
  expect_in "$work/err" "never written; confirmed on the host"
done
run 0 "powers of two do not see it" "$bin/all_reduce_perf" --backend nccl "${tail_of[@]}" -b 8 -e 16M -f 2 && right
run 0 "NCCL 2.29.7 does not have it" env FAKE_NCCL_VERSION=22907 "$bin/all_reduce_perf" --backend nccl "${tail_of[@]}" --sizes odd && right
run 7 "ccl_selftest sees it" "$bin/ccl_selftest" --backend nccl -t 1 --programs all_reduce -d float --faults zeroed-result -b 4K
expect_in "$work/out" "# WRONG DATA without a fault, the library's or the verifier's: all_reduce_perf, 524312 B float avg: rank 0 on"
expect_in "$work/out" "never written; confirmed on the host"
expect_in "$work/out" "2 cells wrong without a fault in"
run 0 "ccl_selftest on NCCL 2.29.7" env FAKE_NCCL_VERSION=22907 "$bin/ccl_selftest" --backend nccl -t 1 --programs all_reduce -d float --faults zeroed-result -b 4K
run 3 "no bitwise operations" "${all_reduce[@]}" -t 2 -o band -d int32 && expect_in "$work/err" "NCCL has no band"
run 0 "the others all the same" "${all_reduce[@]}" -t 2 -o sum,band -d int32 && expect_in "$work/out" "# left out: NCCL has no band"
run 3 "fp8 below 9.0" env FAKE_GPU_CAPABILITY=8.0 "${all_reduce[@]}" -t 2 -d f8e4m3 && expect_in "$work/err" "needs compute capability 9.0"
run 0 "all types below 9.0" env FAKE_GPU_CAPABILITY=8.0 "${all_reduce[@]}" -t 2 -d all && right
run 3 "windows of an older NCCL" env FAKE_NCCL_VERSION=21805 "${all_reduce[@]}" -t 2 -R 2 && expect_in "$work/err" "-R 2: needs NCCL 2.27, here is 2.18.5"
run 2 "a graph of the NULL stream" "${all_reduce[@]}" -t 2 -G 1 -y 1 && expect_in "$work/err" "-y: the NULL stream"
run 3 "graphs of Gloo" "$bin/all_reduce_perf" --backend gloo -b 8 -e 8 -G 1 && expect_in "$work/err" "-G: needs a library that works on GPUs"
run 3 "a composite on CUDA memory" "$bin/sync_grad_perf" "${quick[@]}" --memory cuda

# Wrong data, failures, hangs.
one=("$bin/all_reduce_perf" --backend nccl -b 1K -e 1K)
for call in 2 20; do # 1 warms the row up, 2 is checked, 20 is the last of a slot
  run 7 "a flipped bit in operation $call" env FAKE_NCCL_CORRUPT=1:$call "${one[@]}" -t 3 -n 20 -w 1
  expect_in "$work/err" "rank 1 on"
  expect_in "$work/err" "1 wrong, elements 128 to 128: expected 0x"
done
run 7 "a flipped bit in a graph" env FAKE_NCCL_CORRUPT=1:20 "${one[@]}" -t 3 -G 3
for how in "-t 3" "--np 3"; do
  # shellcheck disable=SC2086
  run 4 "NCCL's asynchronous error, $how" env FAKE_NCCL_FAIL=1:9 "${one[@]}" $how
  expect_in "$work/err" "remote process exited or there was a network error"
  # shellcheck disable=SC2086
  run 5 "an operation that never ends, $how" env FAKE_NCCL_HANG=1:9 "${one[@]}" $how -T 3
  expect_in "$work/err" "are not complete after 3 s (-T)"
done

# What NCCL's RAS service knows of a hang is in the error. RAS: a text protocol over TCP.
port=$(free_port)
python3 - "$port" <<'PYTHON' &
import socket, sys, threading, time
def answer(client):
    with client, client.makefile("rw") as talk:
        def say(text):
            talk.write(text)
            talk.flush()
        if talk.readline() != "CLIENT PROTOCOL 2\n":
            return
        say("SERVER PROTOCOL 2\n")
        if talk.readline() != "TIMEOUT 2\n":
            return
        say("OK\n")
        if talk.readline() != "VERBOSE STATUS\n":
            return
        say("Job summary\n===========\n")
        time.sleep(2)  # NCCL's service asks the ranks, and one does not answer
        say("  1 rank missing:\trank 1\n")
server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    threading.Thread(target=answer, args=server.accept()[:1], daemon=True).start()
PYTHON
ras=$!
run 5 "a hang that RAS knows of" env FAKE_NCCL_HANG=1:9 NCCL_RAS_ADDR=127.0.0.1:"$port" "${one[@]}" -t 3 -T 3
expect_in "$work/err" "NCCL's RAS says: Job summary =========== 1 rank missing: rank 1"
kill "$ras"

# A rank that is killed, and one that is stopped.
"${one[@]}" -n 5 -N 0 --np 3 -J "$work/kill.jsonl" >"$work/out" 2>"$work/err" &
supervisor=$!
for _ in $(seq 200); do [ -e "$work/kill.jsonl" ] && [ "$(wc -l <"$work/kill.jsonl")" -ge 3 ] && break; sleep 0.1; done
victim=$(pgrep -P "$supervisor" | tail -n 1)
kill -9 "$victim"
wait "$supervisor"
[ $? -eq 4 ] && pass "a killed rank" || fail "a killed rank: another exit code"
expect_in "$work/err" "(pid $victim) is gone"
"${one[@]}" -n 5 -N 0 --np 3 -T 3 -J "$work/stop.jsonl" >"$work/out" 2>"$work/err" &
supervisor=$!
for _ in $(seq 200); do [ -e "$work/stop.jsonl" ] && [ "$(wc -l <"$work/stop.jsonl")" -ge 3 ] && break; sleep 0.1; done
victim=$(pgrep -P "$supervisor" | tail -n 1)
kill -STOP "$victim"
wait "$supervisor"
[ $? -eq 5 ] && pass "a stopped rank" || fail "a stopped rank: another exit code"
expect_in "$work/err" "(pid $victim) is stopped: the others waited for it"
finish
