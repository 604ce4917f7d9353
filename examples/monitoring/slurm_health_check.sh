#!/bin/sh
# HealthCheckProgram or Epilog of Slurm: drains this node if collectives on it are wrong, fail or hang. Slurm ends a
# HealthCheckProgram after 60 s, so the run has 45, and each wait within it 15. What the machine does not decide (8), or does not have (3),
# drains nothing; a run that was ended by a signal (out of memory) does.
# CCL_TESTS: the folder of the programs, /opt/ccl-tests/bin.
: "${CCL_TESTS:=/opt/ccl-tests/bin}"
[ -x "$CCL_TESTS/all_reduce_perf" ] || { logger -t ccl-tests "no $CCL_TESTS/all_reduce_perf"; exit 0; }
line=$(timeout 45 "$CCL_TESTS/all_reduce_perf" --exit-codes nagios --np 2 -b 8 -e 1M -f 32 -c all -n 5 -T 15 --init-timeout 15 2>/dev/null | head -n 1)
case $line in
  UNKNOWN*signal*) drain=true ;;
  OK* | UNKNOWN*) drain=false ;;
  *) drain=true ;;
esac
if $drain; then scontrol update nodename="$(hostname -s)" state=drain reason="ccl-tests: ${line:-no answer within 45 s}"; fi
exit 0
