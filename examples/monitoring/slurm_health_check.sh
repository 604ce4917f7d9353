#!/bin/sh
# HealthCheckProgram or Epilog of Slurm: drains this node if collectives on it are wrong, fail or hang. Slurm ends a
# HealthCheckProgram after 60 s, so the run has 45 (LIMIT), and each wait within it 15. Always ends with 0.
# --check-only: drains nothing, but ends with 1 and prints why (for NHC and others that drain nodes themselves).
# What says nothing about the node leaves it in service, and is logged with its code and message: a program that cannot start (no
# file, a library that is missing, an install on a file system that does not answer), and a run that decided nothing (8), was refused (2), or
# asked for what is not to be had (3). A run that was ended by a signal (out of memory) drains the node.
# CCL_TESTS: the folder of the programs, /opt/ccl-tests/bin.
: "${CCL_TESTS:=/opt/ccl-tests/bin}" "${LIMIT:=45}"
export LC_ALL=C
program=$CCL_TESTS/all_reduce_perf
node=${SLURMD_NODENAME:-$(hostname -s)}

in_service() { # text: why nothing is said about the node
  logger -t ccl-tests -- "$node stays in service: $1"
  exit 0
}
bad() { # text: what is wrong with the node
  if [ "${1-}" = --check-only ]; then
    echo "$2"
    exit 1
  fi
  scontrol update nodename="$node" state=drain reason="ccl-tests: $2"
  exit 0
}

said=$(timeout -k 2 10 "$program" --version 2>&1)
code=$?
[ $code -eq 0 ] || in_service "$program cannot start, exit code $code: $(printf '%s\n' "$said" | tail -n 1)"
start=$(date +%s)
said=$(timeout -k 2 "$LIMIT" "$program" --exit-codes nagios --np 2 -b 8 -e 1M -f 32 -c all -n 5 -T 15 --init-timeout 15 2>/dev/null)
code=$?
line=$(printf '%s\n' "$said" | head -n 1)
took=$(($(date +%s) - start))
case $code,$line in
  0,OK*) exit 0 ;;
  1,WARNING* | 2,CRITICAL* | 3,UNKNOWN*signal*) bad "${1-}" "$line" ;;
  124,*) bad "${1-}" "no answer within $took s" ;;
  137,*) # by timeout after LIMIT, or by another (out of memory)
    [ "$took" -lt "$LIMIT" ] || bad "${1-}" "no answer within $took s"
    bad "${1-}" "killed after $took s, ended with exit code 137" ;;
  3,UNKNOWN*) in_service "$line" ;;
  *) in_service "$program ended with exit code $code and without a verdict: $line" ;;
esac
