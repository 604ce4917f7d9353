#!/bin/sh
# Which of my groups disturb each other? Times three patterns of training on a mesh of ranks: each
# alone, beside each other one, and beside all.
#
#   MESH=dp=2,tp=2,pp=2 examples/recipes/mesh.sh --np 8 --backend gloo
#   MESH=tp=2,dp=2 DO=tp:all_reduce:1M,dp:reduce_scatter:64M LAUNCH="mpirun -n 4" examples/recipes/mesh.sh --backend mpi --order megatron
#
# Arguments are flags for mesh_perf. MESH: the mesh [dp=2,tp=2,pp=2]. DO: patterns
# [tp:all_reduce:1M,dp:reduce_scatter:16M,pp:sendrecv:4M]. LAUNCH: the launcher and its flags. BIN: the
# folder of the programs [build/bin].
# Exit code: 0 measured, 8 a pattern could not be measured alone, 7 wrong data, 4 a library or a rank
# failed, 5 timed out, 3 unsupported here (NCCL), 2 usage.
set -u
export LC_ALL=C
case ${1-} in -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit 0 ;; esac
# shellcheck disable=SC2086 # LAUNCH is several words
exec ${LAUNCH:-} "${BIN:-build/bin}/mesh_perf" --mesh "${MESH:-dp=2,tp=2,pp=2}" \
  --do "${DO:-tp:all_reduce:1M,dp:reduce_scatter:16M,pp:sendrecv:4M}" "$@"
