#!/bin/sh
# Does my cluster pass? Looks at hosts, programs, pairs of hosts and all hosts in one launch. The
# first line is the verdict: PASS, WARN, FAIL or INCONCLUSIVE.
#
#   LAUNCH="mpirun -n 64 --map-by ppr:8:node" examples/recipes/cluster.sh --backend mpi
#   LAUNCH="srun -N 8 --ntasks-per-node=8" PLAN=rack7.toml examples/recipes/cluster.sh
#
# Arguments are flags for ccl_acceptance. LAUNCH: the launcher and its flags. PLAN: generic, quick,
# or a plan of your own that every host can read [generic]. OUT: what the names of the files begin
# with [cluster]: .html to send on, .json, .xml (JUnit), .hosts (hosts to leave out).
# LIMIT: after which the launch is ended, as timeout(1) takes it [4h]: a launcher may stay though
# its ranks are done. BIN: the folder of the programs [build/bin].
# Exit code: ccl_acceptance's. 0 PASS, PASS (relative) or WARN, 6 too slow, 7 wrong data, 4 a host was lost, 5 timed
# out, 8 INCONCLUSIVE (docs/ACCEPTANCE.md says why), 3 unsupported here, 2 usage, 124 LIMIT is over.
# mpirun may make another of it (137 for 4): then --verdict FILE says which it was.
# Open MPI's own words after a FAIL are on stderr: mpirun -q leaves them out.
set -u
export LC_ALL=C
case ${1-} in -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit 0 ;; esac
out=${OUT:-cluster}
# shellcheck disable=SC2086 # LAUNCH is several words
exec timeout -k 60 "${LIMIT:-4h}" ${LAUNCH:-} "${BIN:-build/bin}/ccl_acceptance" \
  "${PLAN:-generic}" --report "$out.html" --verdict "$out.json" --junit "$out.xml" \
  --hosts-out "$out.hosts" "$@"
