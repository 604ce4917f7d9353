# Sourced by what runs all programs with the same flags: gpu_check.sh and the system tests.
# shellcheck shell=bash
# taken PROGRAM ARGUMENT...: sets `words` to those ARGUMENTs that the program takes. Programs of nccl-tests take all of its flags; others
# refuse sizes, types, operations and roots that they do not have.
taken() {
  local drop=
  case ${1%_perf} in
    barrier) drop='-b -e -f -i --sizes -u -d -o -r' ;;
    sync_seed | check_tensors) drop='-b -e -f -i --sizes -o -r' ;;
    all_gatherv | all_gather_object | collect_results | pingpong) drop='-o -r' ;;
    gatherv | scatterv | gather_object | broadcast_object | broadcast_tensors) drop='-o' ;;
    reduce_scatterv | all_reduce_dict | all_reduce_params | average_metrics | reduce_dict | sync_buffer | sync_grad) drop='-r' ;;
  esac
  words=()
  shift
  while [ $# -gt 0 ]; do
    if [[ " $drop " == *" $1 "* ]]; then shift 2; else words+=("$1"); shift; fi
  done
}
