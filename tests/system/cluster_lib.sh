# Sourced after lib.sh: a cluster of network namespaces for one test.
cluster=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../scripts" && pwd)/netns_cluster.sh
CCL_CLUSTER=t$(tr 0-9 a-j <<<"$$") # this process's number, in letters
export CCL_CLUSTER
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
trap '"$cluster" down; rm -rf "$work"' EXIT

cluster_up() { # hosts rate
  "$cluster" up "$@" 2>"$work/err" && return
  [ "$?" -eq 3 ] && [ "$failures" -eq 0 ] || { fail "the cluster did not come up: $(cat "$work/err")"; finish; }
  trap 'rm -rf "$work"' EXIT
  echo "SKIP: $(cat "$work/err")"
  exit 77
}

# One process on every host, rank 0 on the first (found at $master, otherwise by its name), started in the background from the last to the first; ids in pids[rank].
# Outputs: $work/out.RANK, $work/err.RANK
start_on_hosts() { # program arguments...
  local names rank
  mapfile -t names < <("$cluster" hosts)
  pids=()
  for ((rank = ${#names[@]} - 1; rank >= 0; rank--)); do
    RANK=$rank WORLD_SIZE=${#names[@]} MASTER_ADDR=${master:-${names[0]}} MASTER_PORT=29500 timeout 100 \
      "$cluster" exec "${names[rank]}" "$@" >"$work/out.$rank" 2>"$work/err.$rank" </dev/null &
    pids[rank]=$!
  done
}
# run_on_hosts EXPECTED_CODE NAME program arguments...: waits for all; rank 0's output is $work/out.
run_on_hosts() {
  local expected=$1 name=$2 rank code bad=0; shift 2
  start_on_hosts "$@"
  for rank in "${!pids[@]}"; do
    wait "${pids[rank]}"
    code=$?
    [ "$code" -eq "$expected" ] || { fail "$name: rank $rank: exit $code, expected $expected: $(tail -n 3 "$work/err.$rank")"; bad=1; }
  done
  cp "$work/out.0" "$work/out"
  [ "$bad" -eq 0 ] && pass "$name"
}
