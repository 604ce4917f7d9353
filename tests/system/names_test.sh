#!/usr/bin/env bash
# MASTER_ADDR is a name that resolves late, or whose look-up hangs, or a host that never answers: in namespaces of this test's own.
. "$(dirname "$0")/lib.sh"
if [ -z "${CCL_IN_NAMESPACE:-}" ]; then
  command -v ip >/dev/null || { echo "SKIP: no ip command (package iproute2)"; exit 77; }
  if ! unshare --mount --net true 2>/dev/null; then
    echo "SKIP: namespaces cannot be made here (unshare --mount --net)"
    exit 77
  fi
  CCL_IN_NAMESPACE=1 unshare --mount --net bash "$0" "$@"
  exit
fi

# A name server behind a cable that swallows everything.
grep -E 'localhost' /etc/hosts >"$work/hosts"
echo "127.0.0.1 $(hostname)" >>"$work/hosts"
printf 'nameserver 10.9.9.53\noptions timeout:30 attempts:3\n' >"$work/resolv.conf"
{ ip link set lo up && ip link add v0 type veth peer name v1 && ip addr add 10.9.9.1/24 dev v0 && ip link set v0 up &&
  ip link set v1 up && ip neigh add 10.9.9.53 lladdr 02:00:00:00:00:53 dev v0 &&
  mount --bind "$work/hosts" /etc/hosts && mount --bind "$work/resolv.conf" /etc/resolv.conf; } 2>"$work/why" ||
  { echo "SKIP: no network or mounts of our own: $(cat "$work/why")"; exit 77; }

job() { # expected code, name, flags...
  local expected=$1 name=$2 pids=() rank; shift 2
  for rank in 0 1 2; do
    RANK=$rank WORLD_SIZE=3 timeout 240 "$bin/all_reduce_perf" --backend gloo --sizes 8 -n 2 "$@" >"$work/out.$rank" 2>"$work/err.$rank" </dev/null &
    pids+=($!)
  done
  [ -z "${meanwhile:-}" ] || $meanwhile
  for rank in 0 1 2; do
    wait "${pids[$rank]}"
    local code=$?
    if [ "$code" -eq "$expected" ]; then pass "$name, rank $rank"; else
      fail "$name, rank $rank: exit $code, expected $expected"
      tail -n 5 "$work/err.$rank"
    fi
  done
}

# The look-up takes 90 s at least; nobody waits for it longer than --init-timeout.
export MASTER_ADDR=hangs.example MASTER_PORT=29511
job 5 "a look-up that hangs" --init-timeout 2
for rank in 0 1 2; do
  expect_in "$work/err.$rank" "the name hangs.example cannot be resolved: Connection timed out"
done

# A host that is not there: nothing answers, nothing is refused.
ip neigh add 10.9.9.77 lladdr 02:00:00:00:00:77 dev v0
MASTER_ADDR=10.9.9.77
job 5 "a host that never answers" --init-timeout 2
expect_in "$work/err.0" "rank 0 cannot reach 10.9.9.77:29511"
for rank in 1 2; do expect_in "$work/err.$rank" "rank 0 did not appear at 10.9.9.77:29511"; done

# A name that is not known at first. (No name server at all: each look-up fails at once.)
: >"$work/resolv.conf"
ip link del v0
appears() { sleep 2; echo "127.0.0.1 late.example" >>"$work/hosts"; }
MASTER_ADDR=late.example meanwhile=appears
job 0 "a name that resolves late" --init-timeout 40
expect_in "$work/out.0" "# Out of bounds values : 0 OK"
finish
