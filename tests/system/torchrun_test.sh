#!/usr/bin/env bash
# Workers of torchrun: they join the store of its agent and never bind its port. A stand-in agent always, the real torchrun where
# PyTorch is installed.
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
command -v python3 >/dev/null || { echo "SKIP: no python3 for the stand-in agent"; exit 77; }

for ranks in 1 3 4; do
  run 0 "agent's store, $ranks ranks" python3 "$here/agent_store.py" $ranks 0 "$bin/all_reduce_perf" --backend gloo --sizes 8,100K -n 2
  expect_in "$work/out" "# Launcher: torchrun processes: $ranks ranks: $ranks"
  expect_in "$work/out" "# Out of bounds values : 0 OK"
done
# A restart uses the same store: the first attempt's address must not be found by the second.
run 0 "restarted twice" python3 "$here/agent_store.py" 3 2 "$bin/all_reduce_perf" --backend gloo --sizes 8 -n 2
[ "$(grep -c 'Out of bounds values : 0 OK' "$work/out")" -eq 3 ] || fail "not three tables"
run 6 "exit codes reach the agent" python3 "$here/agent_store.py" 3 0 "$bin/all_reduce_perf" --backend gloo --sizes 8 -n 2 --max-time 8:0

if python3 -c 'import torch' 2>/dev/null && command -v torchrun >/dev/null; then
  for nodes in 1 2; do
    port=$(free_port)
    for ((node = nodes - 1; node >= 0; node--)); do
      timeout 100 torchrun --nnodes $nodes --node-rank $node --nproc-per-node 3 --master-addr 127.0.0.1 --master-port "$port" --no-python \
        "$bin/all_reduce_perf" --backend gloo --sizes 8,100K -n 2 >"$work/out.$node" 2>"$work/err.$node" </dev/null &
      pids[node]=$!
    done
    for ((node = 0; node < nodes; node++)); do
      wait "${pids[node]}" && pass "torchrun, agent $node of $nodes" || fail "torchrun, agent $node of $nodes: $(tail -n 3 "$work/err.$node")"
    done
    expect_in "$work/out.0" "# Launcher: torchrun processes: $((3 * nodes)) ranks: $((3 * nodes))"
  done
else
  echo "SKIP the real torchrun: PyTorch is not installed"
fi
finish
