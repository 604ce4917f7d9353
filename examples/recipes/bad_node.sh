#!/bin/sh
# Which node is bad? Sends messages between all hosts of a job in rounds, measures the suspects
# again, and names the host that is slow, in the first line. Names need at least 4 hosts.
#
#   LAUNCH="mpirun --map-by ppr:1:node" examples/recipes/bad_node.sh --backend mpi
#   LAUNCH="srun -N 16 --ntasks-per-node=1" examples/recipes/bad_node.sh --backend gloo
#
# Arguments are flags for ccl_acceptance. LAUNCH: the launcher and its flags. PLAN: a plan that
# every host can read [bad_node.toml beside this script]. OUT: the file for the names of the hosts
# to leave out [bad_hosts.txt]. BIN: the folder of the programs [build/bin]. LIMIT: after which
# the launch is ended, as timeout(1) takes it [1h]: a launcher may stay though its ranks are done.
# Exit code: ccl_acceptance's. 0 no host is bad (or the job has only one), 6 a host
# is slow, 7 wrong data, 4 a host was lost, 5 timed out, 8 nothing can be said
# (docs/ACCEPTANCE.md), 3 unsupported here, 2 usage, 124 LIMIT is over. mpirun may make another
# of it (137 for 4): then --verdict FILE says which it was. Open MPI's own words after a FAIL are
# on stderr: mpirun -q leaves them out.
set -u
export LC_ALL=C
case ${1-} in -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit 0 ;; esac
tool=${BIN:-build/bin}/ccl_acceptance
if [ ! -x "$tool" ]; then
  echo "bad_node.sh: no program $tool: build it, or set BIN to the folder of the programs" >&2
  exit 2
fi
# shellcheck disable=SC2086 # LAUNCH is several words
exec timeout -k 60 "${LIMIT:-1h}" ${LAUNCH:-} "$tool" \
  "${PLAN:-$(dirname -- "$0")/bad_node.toml}" --hosts-out "${OUT:-bad_hosts.txt}" "$@"
