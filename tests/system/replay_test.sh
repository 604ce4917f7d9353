#!/usr/bin/env bash
# ccl_replay: traces of every format on one, three and four ranks over Gloo and both MPIs; traces that disagree, are cut off or
# huge.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$work" || exit 1
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1

# make KIND RANKS: KIND.RANKS.RANK.json, of a job in which all ranks and two halves have groups.
make() {
  python3 - "$@" <<'PYTHON'
import json
import sys

kind, n = sys.argv[1], int(sys.argv[2])
half = max(1, n // 2)
groups = {"0": list(range(n)), "1": list(range(half)), "2": list(range(half, n))}


def flight(rank):
    entries, count = [], {}
    def add(group, name, inp, out, dtype="Float", ms=0.25):
        members = groups[group]
        if rank not in members:
            return
        count[group] = count.get(group, 0) + 1
        entries.append({"profiling_name": "nccl:" + name, "process_group": [group, "g" + group], "pg_id": int(group),
                        "collective_seq_id": count[group], "input_sizes": [[inp]], "output_sizes": [[out]],
                        "input_dtypes": [dtype], "output_dtypes": [dtype], "duration_ms": ms,
                        "time_created_ns": 10**18 + len(entries) * 3_000_000})
    for step in range(3):
        add("0", "broadcast", 7, 7, "Long")
        for g in groups:
            size = len(groups[g])
            add(g, "_all_gather_base", 1001, 1001 * size)
            add(g, "_reduce_scatter_base", 33 * size, 33, "BFloat16")
        add("0", "all_reduce", 4999, 4999, "Double")
        add("0", "all_to_all", 5 * n, 5 * n, "Short")
    config = {g: {"name": g, "desc": "g" + g, "ranks": json.dumps(groups[g])} for g in groups}
    return {"version": "2.10", "entries": entries, "pg_config": config}


def execution(rank):
    nodes = [{"id": 1, "name": "## process_group:init ##", "inputs": {"values": [json.dumps(
        [{"pg_name": g, "pg_desc": "g", "ranks": m if len(m) < n else [], "group_size": len(m)} for g, m in groups.items() if m])]}}]
    def add(name, inp, out, dtype="Float", where=0, splits=("[]", "[]")):
        attrs = {"collective_name": name, "dtype": dtype, "in_msg_nelems": inp, "out_msg_nelems": out, "pg_name": "0",
                 "in_split_size": splits[0], "out_split_size": splits[1]}
        nodes.append({"id": len(nodes) + 1, "name": "record_param_comms",
                      "inputs": {"values": [[], len(nodes), ["0", ""], where, name, [], [], 0, 1, n]},
                      "attrs": [{"name": k, "type": "x", "value": v} for k, v in attrs.items()]})
    for step in range(2):
        nodes.append({"id": 99, "name": "aten::mm", "inputs": {"values": [[1, 2, 0, 3, 4, "cpu"]]}})
        add("allreduce", 999, 999)
        add("gather", 11, 11 * n if rank == n - 1 else 0, "Byte", n - 1)
        add("scatter", 13 * n if rank == 0 else 0, 13, "Half", 0)
        sent = [(rank + r) % 3 for r in range(n)]
        add("all_to_allv", 2 * sum(sent), 2 * sum(sent), "Int", rank, (str(sent), str(sent)))
        add("send", 2003, 0, "Float", (rank + 1) % n)
        add("recv", 0, 2003, "Float", (rank + n - 1) % n)
        add("barrier", 0, 0)
        add("wait", 0, 0)
    return {"schema": "1.1.1-chakra.0.0.4", "pid": 1, "nodes": nodes}


for rank in range(n):
    with open(f"{kind}.{n}.{rank}.json", "w") as file:
        json.dump({"fr": flight, "et": execution}[kind](rank), file)
PYTHON
}

for ranks in 1 3 4; do
  make fr $ranks
  make et $ranks
  run 0 "$ranks ranks, what is in a flight recorder" "$bin/ccl_replay" --list --trace "fr.$ranks.{rank}.json"
  expect_in out "# OK: the ranks' traces agree"
  grep -qE "^  all_reduce +$ranks +3 +39992 +double +sum +250.00$" out || fail "no line of all_reduce: $(cat out)"
  run 0 "$ranks ranks, flight recorder, Gloo" "$bin/ccl_replay" --np $ranks --backend gloo --trace "fr.$ranks.{rank}.json"
  expect_in out "# OK: "
  grep -qE "^  alltoall +$ranks +3 +$((10 * ranks)) +uint8 +- +250.00 +[0-9.]+ +[0-9.e+-]+$" out || fail "no line of alltoall: $(cat out)"
  run 0 "$ranks ranks, execution trace, Gloo" "$bin/ccl_replay" --np $ranks --backend gloo --trace "et.$ranks.{rank}.json"
  expect_in out "# no call: $((2 * ranks)) x wait"
  grep -qE "^  message +2 +$((2 * ranks)) +8012 +float" out || fail "no line of messages: $(cat out)"
  expect_in out "# OK: "
  tar czf "et.$ranks.tar.gz" et.$ranks.*.json
  run 0 "$ranks ranks, an archive of all traces" "$bin/ccl_replay" --np $ranks --backend gloo --trace "et.$ranks.tar.gz"
  expect_in out "# no call: $((2 * ranks)) x wait"
done
run 0 "ranks as threads" "$bin/ccl_replay" -t 3 --backend loopback --trace "et.3.{rank}.json" -n 3
run 0 "with gaps" "$bin/ccl_replay" --np 3 --backend gloo --timing original --trace "fr.3.{rank}.json"
expect_in out "between the first and the last in the trace"
run 0 "files in the order of their names" "$bin/ccl_replay" --np 3 --backend gloo --sorted --trace "fr.3.*.json"
for mpi in openmpi mpich; do
  if [ ! -e "$build/lib/ccl-tests/ccl-mpi-$mpi.so" ] || ! command -v "mpirun.$mpi" >/dev/null; then
    echo "SKIP $mpi: no module, or no mpirun.$mpi"
    continue
  fi
  for ranks in 1 3 4; do
    for kind in fr et; do
      run 0 "$ranks ranks, $kind, $mpi" "mpirun.$mpi" -n $ranks "$bin/ccl_replay" --backend "mpi-$mpi" --trace "$kind.$ranks.{rank}.json"
      expect_in out "# OK: "
    done
  done
done

# On fewer ranks: what changes is said, and messages to ranks that are not there are dropped.
run 0 "three of four ranks" "$bin/ccl_replay" --np 3 --backend gloo --ranks 3 --trace "fr.4.{rank}.json"
expect_in out "# 3 of 4 ranks: groups keep the members below 3"
run 8 "messages with ranks that are not there" "$bin/ccl_replay" --np 3 --backend gloo --ranks 3 --trace "et.4.{rank}.json"
expect_in out "# dropped: 4 x messages with ranks that are not here (--ranks)"
run 2 "fewer ranks that nobody asked for" "$bin/ccl_replay" --np 3 --backend gloo --trace "fr.4.{rank}.json"
expect_in err "the traces are of 4 ranks, the job has 3; accepted: as many (--np 4), or --ranks 3"
run 2 "no traces, with ranks" "$bin/ccl_replay" --np 2 --backend gloo --trace "none.{rank}"
expect_in err "reading the traces: --trace: rank 0 has no file: there is no 'none.0'"
run 2 "more ranks than traces" "$bin/ccl_replay" --np 4 --backend gloo --trace "fr.3.{rank}.json"
expect_in err "rank 3 has no file: there is no 'fr.3.3.json'"

# Wrong data, and ranks whose traces disagree: found before anything runs.
run 7 "a spoiled result" "$bin/ccl_replay" --np 3 --backend gloo --trace "fr.3.{rank}.json" --inject flipped-bit:rank=2:call=4
expect_in out "# WRONG: 1 of "
expect_in out "# rank 2: "
replay=("$bin/ccl_replay" --np 3 --backend gloo --trace "fr.3.{rank}.json")
for fault in flipped-bit:call=100000 doubled-contribution:at=12012 flipped-bit:phase=timed; do
  run 8 "$fault" "${replay[@]}" --inject $fault
  expect_in out "# INCONCLUSIVE: --inject spoiled nothing that shows: "
  expect_in out " operations spoiled: "
done
run 2 "a fault on a rank that is not there" "${replay[@]}" --inject flipped-bit:rank=3
expect_in err "--inject: there is no rank 3; accepted: up to 2"
run 2 "a fault at a size that is not there" "${replay[@]}" --inject flipped-bit:at=8
expect_in err "--inject: no call has 8 B; accepted: bytes that --list shows"
run 2 "a fault, and nothing is replayed" "${replay[@]:0:1}" --list --trace "fr.3.{rank}.json" --inject flipped-bit
for rank in 0 1 2; do cp fr.3.$rank.json bad.$rank.json; done
python3 - <<'PYTHON'
import json
trace = json.load(open("bad.1.json"))
del trace["entries"][-1]
json.dump(trace, open("bad.1.json", "w"))
PYTHON
for how in "--list" "--np 3 --backend gloo"; do
  # shellcheck disable=SC2086
  run 8 "a call that a rank does not have, $how" "$bin/ccl_replay" $how --trace "bad.{rank}.json"
  expect_in err "the traces disagree: group '0' g0 (ranks 0-2), sequence 15: rank 1 has no such call, rank 0 has alltoall of 10 uint8"
done

# Orders that cannot be replayed one call after the other are found before.
python3 - <<'PYTHON'
import json
def flight(name, groups, ranks):
    for rank, calls in enumerate(ranks):
        entries = [{"profiling_name": "nccl:all_reduce", "process_group": [g, g], "collective_seq_id": 1, "input_sizes": [[7]],
                    "output_sizes": [[7]], "input_dtypes": ["Float"], "output_dtypes": ["Float"]} for g in calls]
        config = {g: {"name": g, "desc": "", "ranks": json.dumps(m)} for g, m in groups.items()}
        json.dump({"version": "2.10", "entries": entries, "pg_config": config}, open(f"{name}.{rank}.json", "w"))
flight("crossed", {"A": [0, 1], "B": [0, 1]}, ["AB", "BA"])
flight("cycle", {"A": [0, 1], "B": [1, 2], "C": [2, 0]}, ["AC", "BA", "CB"])
PYTHON
for ranks in 2 3; do
  trace=crossed last="in its call 1, all_reduce of 7 float, group 'B' (ranks 0-1)"
  [ $ranks = 3 ] && trace=cycle last="rank 2 waits for rank 0 in its call 1, all_reduce of 7 float, group 'C'"
  for how in "--list" "--np $ranks --backend gloo"; do
    # shellcheck disable=SC2086
    run 8 "calls that wait for each other, $how" "$bin/ccl_replay" $how --trace "$trace.{rank}.json"
    expect_in err "the traces agree, but their calls made one after the other wait for each other for ever, nothing was replayed: rank 0 waits for rank 1 "
    expect_in err "$last"
  done
done

# If process 0 is killed, another process has the last word.
"$bin/ccl_replay" --np 3 --backend gloo --trace "fr.3.{rank}.json" -n 1000000 >out 2>err </dev/null &
job=$!
for _ in $(seq 600); do # until that process is there
  first=$(for pid in $(pgrep -P $job); do pgrep -P "$pid" -x ccl-last-words >/dev/null && echo "$pid"; done)
  [ -n "$first" ] && break
  sleep 0.1
done
sleep 1
kill -9 "$first"
wait $job
code=$?
if [ $code -eq 4 ]; then pass "process 0 is killed"; else fail "process 0 is killed: exit $code: $(cat err)"; fi
expect_in out "# INCOMPLETE: process 0 was killed by signal 9 (SIGKILL)"

# What is no trace.
head -c 1000 fr.3.0.json >cut.0.json
run 4 "a trace that is cut off" "$bin/ccl_replay" --list --ranks 1 --trace cut.0.json
expect_in err "it ends at byte 1000 in the middle of a record"
run 4 "a trace that is cut off, with ranks" "$bin/ccl_replay" --np 1 --backend gloo --trace "cut.{rank}.json"
run 2 "no trace" "$bin/ccl_replay" --list
expect_in err "--trace is not given"
run 2 "one file for all ranks" "$bin/ccl_replay" --list --trace fr.3.0.json
expect_in err "rank 1 has no trace: 'fr.3.0.json' has those of 1 rank; accepted: {rank} in the name"
for rank in 0 1 3; do cp "fr.4.$rank.json" "gap.$rank.json"; done
run 2 "a gap in the numbers of files" "$bin/ccl_replay" --list --trace "gap.{rank}.json"
expect_in err "rank 2 has no file: there is no 'gap.2.json', and there is one of rank 3"
run 0 "a gap behind the ranks" "$bin/ccl_replay" --list --ranks 2 --trace "gap.{rank}.json"
run 2 "no such file" "$bin/ccl_replay" --list --trace "none.{rank}.json"
run 2 "no times" "$bin/ccl_replay" --np 3 --backend gloo --timing original --trace "et.3.{rank}.json"
expect_in err "--timing original: the traces have no times of calls"
run 2 "a timing that there is not" "$bin/ccl_replay" --list --trace "et.3.{rank}.json" --timing fast
echo '{"nodes": [{"name": "aten::mm"}]}' >empty.0.json
run 2 "a trace without calls" "$bin/ccl_replay" --list --trace "empty.{rank}.json"

# Logs of NCCL, and NCCL Inspector's lines.
for rank in 0 1 2; do
  {
    echo "a:1$rank:1 [$rank] NCCL INFO ncclCommInitRank comm 0x5$rank rank $rank nranks 3 cudaDev 0 nvmlDev 0 busId 1000 commId 0x77 - Init COMPLETE"
    echo "a:1$rank:1 [$rank] NCCL INFO AllReduce: opCount 0 sendbuff 0x7f recvbuff 0x7f count 1003 datatype 7 op 2 root 0 comm 0x5$rank [nranks=3] stream 0x9"
    echo "a:1$rank:1 [$rank] NCCL INFO Broadcast: opCount 1 sendbuff 0x7f recvbuff 0x7f count 17 datatype 4 op 0 root 2 comm 0x5$rank [nranks=3] stream 0x9"
  } >"log.$rank"
  for number in 1 2; do
    echo "{\"header\":{\"id\":\"0x9e\",\"rank\":$rank,\"n_ranks\":3},\"metadata\":{\"inspector_output_format_version\":\"v4.0\"},\"coll_perf\":{\"coll\":\"ReduceScatter\",\"coll_sn\":$number,\"coll_msg_size_bytes\":4012,\"coll_exec_time_us\":110}}"
  done >"inspector.$rank"
done
run 0 "a log of NCCL" "$bin/ccl_replay" --np 3 --backend gloo --sorted --trace 'log.*'
grep -qE "^  all_reduce +3 +1 +4012 +float +max" out || fail "no line of all_reduce: $(cat out)"
# A job's log of all ranks, and one of each node, with what launchers and libraries put in front of lines.
sed 's/^/[1,0]<stdout>:/' log.2 log.0 log.1 >job.log
sed 's/^/[2026-11-28 12:00:01] /' log.2 log.0 >node.0
sed 's/^/0: /' log.1 | gzip >node.1
for trace in job.log 'node.{rank}'; do
  run 0 "all ranks' lines in $trace" "$bin/ccl_replay" --np 3 --backend gloo --trace "$trace"
  grep -qE "^  all_reduce +3 +1 +4012 +float +max" out || fail "no line of all_reduce: $(cat out)"
  expect_in out "# 2 calls"
done
mv node.1 node.2
run 2 "a gap in the numbers of nodes" "$bin/ccl_replay" --list --trace 'node.{rank}'
expect_in err "rank 1 has no file: there is no 'node.1'"
run 0 "one rank of a log of all" "$bin/ccl_replay" --list --ranks 1 --trace job.log
expect_in out "# 2 calls"
cp log.0 two.0; cat log.1 log.2 >two.1
run 4 "two ranks in the second file" "$bin/ccl_replay" --list --trace 'two.{rank}'
expect_in err "cannot read 'two.1': line 4: it has lines of 2 processes, 'a:11 [1]' and 'a:12 [2]'; accepted: one file each"
for rank in 0 1 2 3 4 5 6 7 8 9 10; do cp fr.1.0.json "many.$rank.json"; done
sed -i 's/"nccl:broadcast"/"nccl:unknown"/' many.10.json
mkfifo pipe
run 4 "a pipe" "$bin/ccl_replay" --list --trace pipe
expect_in err "cannot read 'pipe': it is no regular file, which can be read twice; accepted: a file"
run 8 "files in the order of their numbers" "$bin/ccl_replay" --list --sorted --ranks 3 --trace 'many.*.json'
grep -q unknown out err && fail "many.10.json is taken for rank 2"
run 0 "NCCL Inspector" "$bin/ccl_replay" --np 3 --backend gloo --trace 'inspector.{rank}'
grep -qE "^  reduce_scatter +3 +2 +12036 +float +sum +110.00" out || fail "no line of reduce_scatter: $(cat out)"

# inspected RANK NUMBER TIME [BYTES]: a line of the Inspector.
inspected() {
  echo "{\"header\":{\"id\":\"0x9e\",\"rank\":$1,\"n_ranks\":2},\"metadata\":{\"inspector_output_format_version\":\"v4.0\"},\"coll_perf\":{\"coll\":\"Broadcast\",\"coll_sn\":$2,\"coll_msg_size_bytes\":${4:-8},\"coll_exec_time_us\":1,\"event_trace_ts\":{\"coll_start_ts\":$3}}}"
}
for rank in 0 1; do
  { inspected $rank $((1 + rank)) 0; inspected $rank $((2 - rank)) 1; } >"swap.$rank"
  { inspected $rank 1 0; inspected $rank 2 1e15; } >"jump.$rank"
  inspected $rank 1 0 $((-rank)) >"negative.$rank"
done
"$bin/ccl_replay" -t 2 --backend loopback --timing original --trace "jump.{rank}" >jump.out 2>jump.err &
jump=$!
for how in "--list" "-t 2 --backend loopback"; do
  # shellcheck disable=SC2086
  run 8 "calls in another order, $how" "$bin/ccl_replay" $how --trace "swap.{rank}"
  expect_in err "the traces disagree, nothing was replayed: group '0x9e' (ranks 0-1): rank 1 has sequence 1 after 2"
  # shellcheck disable=SC2086
  run 4 "a size below 0, $how" "$bin/ccl_replay" $how --trace "negative.{rank}"
  expect_in err "cannot read 'negative.1': line 1: -1 is no number from 0"
done

# A trace of 200 MB takes no more memory than a small one: at most 64 MB beside the program and its libraries.
python3 - <<'PYTHON'
import json
node = json.dumps({"id": 7, "name": "aten::mm", "inputs": {"values": [[k, 2, 0, 3, 4, "cpu"] for k in range(60)]}})
call = json.loads(open("et.1.0.json").read())["nodes"]
with open("big.0.json", "w") as file:
    file.write('{"schema": "1.1.1-chakra.0.0.4", "nodes": [' + json.dumps(call[0]))
    written = 0
    while written < 200 << 20:
        file.write("," + ",".join([node] * 500) + "," + json.dumps(call[2]))
        written += 500 * len(node)
    file.write("]}")
PYTHON
run 0 "a trace of 200 MB" "$bin/ccl_replay" --list --ranks 1 --trace big.0.json
if command -v /usr/bin/time >/dev/null; then
  peak() { /usr/bin/time -f %M "$bin/ccl_replay" --list --ranks 1 --trace "$1" 2>&1 >/dev/null | tail -n 1; }
  small=$(peak et.1.0.json) big=$(peak big.0.json)
  [ $((big - small)) -lt 65536 ] || fail "200 MB took $((big - small)) KiB more than a small trace"
  echo "a small trace: $small KiB, 200 MB: $big KiB"
else
  echo "SKIP memory: no /usr/bin/time"
fi

if wait "$jump"; then pass "a clock that jumps"; else fail "a clock that jumps: $(cat jump.err)"; fi
expect_in jump.out "# assumed: gaps of more than 30 s between calls are of 30 s (--timing original)"
expect_in jump.err "waiting for the time of its next call"
finish
