#!/bin/sh
# HealthCheckProgram or Epilog of Slurm: drains this node if collectives on it are wrong, fail or hang. Slurm ends a
# HealthCheckProgram after 60 s, so the run has 45. What the machine does not decide (8), or does not have (3), drains nothing.
# CCL_TESTS: the folder of the programs, /opt/ccl-tests/bin.
: "${CCL_TESTS:=/opt/ccl-tests/bin}"
[ -x "$CCL_TESTS/all_reduce_perf" ] || { logger -t ccl-tests "no $CCL_TESTS/all_reduce_perf"; exit 0; }
line=$(timeout 45 "$CCL_TESTS/all_reduce_perf" --exit-codes nagios --np 2 -b 8 -e 1M -f 32 -c all -n 5 2>/dev/null | head -n 1)
case $line in
  OK* | UNKNOWN*) ;;
  *) scontrol update nodename="$(hostname -s)" state=drain reason="ccl-tests: ${line:-no answer within 45 s}" ;;
esac
exit 0
