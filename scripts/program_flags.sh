# Sourced by what runs all programs: gpu_check.sh and the system tests. bin: the programs' folder. The programs say themselves which flags
# they take, so that no list of programs is kept here.
# shellcheck shell=bash disable=SC2154  # bin is set there
declare -A program_flags=()
# takes PROGRAM FLAG: does --help-all list the flag, by its first name? Programs of nccl-tests take all of its flags, and ignore some.
takes() {
  local program=${1%_perf}
  if [[ -z ${program_flags[$program]:-} ]]; then
    program_flags[$program]=$("$bin/${program}_perf" --help-all | sed -nE 's/^  (-[a-zA-Z]).*/\1/p; s/^      (--[^ ]+).*/\1/p' | tr '\n' ' ')
    [[ ${program_flags[$program]} == *'--help-all '* ]] || { echo "program_flags.sh: ${program}_perf does not list its flags" >&2; exit 4; }
  fi
  [[ " ${program_flags[$program]}" == *" $2 "* ]]
}
# taken PROGRAM ARGUMENT...: sets `words` to those ARGUMENTs that the program takes. A flag of sizes, types, operations and roots that it
# does not take goes with its value.
taken() {
  local program=$1
  words=()
  shift
  while [ $# -gt 0 ]; do
    case $1 in
      -b | -e | -f | -i | --sizes | -u | -d | -o | -r) takes "$program" "$1" || { shift 2; continue; } ;;
    esac
    words+=("$1")
    shift
  done
}
# composite PROGRAM: does it run what training code makes of several operations? Its rows have steps then.
composite() { [[ $("$bin/${1%_perf}_perf" --explain) == *$'\n  steps '* ]]; }
# runs_on PROGRAM RANKS: false if the program refuses (exit 3) so many. A program that is missing here fails what runs it.
runs_on() {
  case ${1%_perf} in
    pingpong) [ "$2" -gt 1 ] ;;
    hypercube) [ $(($2 & ($2 - 1))) -eq 0 ] ;;
    *) true ;;
  esac
}
