#!/usr/bin/env bash
# Workers of torchrun: they join the store of its agent and never bind its port. A stand-in agent always, the real torchrun where
# PyTorch is installed.
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
command -v python3 >/dev/null || { echo "SKIP: no python3 for the stand-in agent"; exit 77; }

for ranks in 1 3 4; do
  run 0 "agent's store, $ranks ranks" python3 "$here/agent_store.py" $ranks 0 "$bin/all_reduce_perf" --backend gloo --sizes 8,100K -n 2
  expect_in "$work/out" "# Ranks: $ranks process"
  expect_in "$work/out" "(launcher: torchrun)"
  expect_in "$work/out" "# Out of bounds values : 0 OK"
done
# A restart uses the same store, in which the attempt that failed has left an address.
for ranks in 3 4; do
  run 0 "restarted twice, $ranks ranks" python3 "$here/agent_store.py" $ranks 2 "$bin/all_reduce_perf" --backend gloo --sizes 8 -n 2
  expect_in "$work/out" "# Ranks: $ranks process"
  expect_in "$work/out" "(launcher: torchrun)"
  expect_in "$work/out" "# Out of bounds values : 0 OK"
done
run 6 "exit codes reach the agent" python3 "$here/agent_store.py" 3 0 "$bin/all_reduce_perf" --backend gloo --sizes 8 -n 2 --max-time 8:0

# The real one; its store has spoken the protocol that we speak since 2.2.
version=$(python3 -c 'import torch; print(torch.__version__)' 2>/dev/null)
if [ -z "$version" ] || ! command -v torchrun >/dev/null; then
  echo "SKIP the real torchrun: PyTorch is not installed"
  finish
elif [ "$(printf '%s\n' 2.2 "$version" | sort -V | head -n 1)" != 2.2 ]; then
  echo "SKIP the real torchrun: PyTorch $version is older than 2.2"
  finish
fi

# agents NODES NAME ARGUMENT...: one torchrun per node, all here; the argument NODE is the node's number.
agents() {
  local nodes=$1 name=$2 node; shift 2
  for ((node = nodes - 1; node >= 0; node--)); do
    timeout 100 torchrun --nnodes $nodes --nproc-per-node 3 "${@/#NODE/$node}" >"$work/out.$node" 2>"$work/err.$node" </dev/null &
    pids[node]=$!
  done
  for ((node = 0; node < nodes; node++)); do
    wait "${pids[node]}" && pass "torchrun $version, $name, agent $node of $nodes" || fail "$name: agent $node: $(tail -n 5 "$work/err.$node")"
  done
  cat "$work"/out.[0-9] >"$work/out"
  rm "$work"/out.[0-9]
  expect_in "$work/out" "# Ranks: $((3 * nodes)) processes on "
  expect_in "$work/out" "(launcher: torchrun)"
  expect_in "$work/out" "# Out of bounds values : 0 OK"
}
program=(--no-python "$bin/all_reduce_perf" --backend gloo --sizes 8,100K -n 2)
for nodes in 1 2; do
  agents $nodes "static" --node-rank NODE --master-addr 127.0.0.1 --master-port "$(free_port)" "${program[@]}"
  agents $nodes "c10d" --rdzv-backend c10d --rdzv-endpoint "127.0.0.1:$(free_port)" --rdzv-id 7 "${program[@]}"
done
# Rank 0 opens the port that the agent has only chosen.
export TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1
agents 1 "no store of the agent's" --rdzv-backend c10d --rdzv-endpoint "127.0.0.1:$(free_port)" --rdzv-id 8 "${program[@]}"
unset TORCH_DISABLE_SHARE_RDZV_TCP_STORE

cat >"$work/fails_once" <<'PROGRAM'
#!/bin/bash
[ "$TORCHELASTIC_RESTART_COUNT" = 0 ] && [ "$RANK" = 2 ] && { sleep 1; echo >"${0%/*}/failed"; exit 9; }
exec "$@"
PROGRAM
chmod +x "$work/fails_once"
agents 1 "restarted" --max-restarts 1 --master-addr 127.0.0.1 --master-port "$(free_port)" --no-python "$work/fails_once" "${program[@]:1}"
[ -e "$work/failed" ] || fail "the first attempt did not fail"
finish
