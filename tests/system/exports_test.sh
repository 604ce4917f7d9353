#!/usr/bin/env bash
# Files for other tools, read by those tools: junitparser, Google Benchmark's compare.py.
. "$(dirname "$0")/lib.sh"
# The first that has what the consumers need; without them the rest is tested.
for python in python3 /usr/bin/python3; do
  "$python" -c 'import junitparser, scipy' 2>/dev/null && break
done
command -v "$python" >/dev/null || { echo "SKIP: no python3"; exit 77; }
program=("$bin/all_reduce_perf" --backend loopback -t 3 --sizes 8,4K -n 5)

run 0 "all suffixes" "${program[@]}" -J "$work/a.xml" -J "$work/a.gbench.json" -J "$work/a.bmf.json" -J "$work/a.md"
run 7 "wrong data" "${program[@]}" --inject flipped-bit:rank=1:at=4K -c all -J "$work/wrong.xml" -J "$work/wrong.gbench.json"
run 6 "a limit" "${program[@]}" --max-time 8:0.000001 -J "$work/limit.xml"
run 2 "a suffix that is not known" "${program[@]}" -J "$work/a.html"
expect_in "$work/err" ".gbench.json or .bmf.json"

if "$python" -c 'import junitparser' 2>/dev/null; then
  "$python" - "$work" <<'PY' && pass "junitparser" || fail "junitparser"
import sys
from junitparser import Error, Failure, JUnitXml
def cases(name):
    return [(case, [type(one) for one in case.result]) for suite in JUnitXml.fromfile(f"{sys.argv[1]}/{name}") for case in suite]
assert [outcome for _, outcome in cases("a.xml")] == [[]] * 5, cases("a.xml")
assert all(case.classname == "all_reduce_perf.loopback" for case, _ in cases("a.xml"))
wrong = {case.name: case.result[0].message for case, outcome in cases("wrong.xml") if Failure in outcome}
assert {"4096 B float sum out of place", "4096 B float sum in place"} <= set(wrong) and "8 B float sum in place" not in wrong, wrong
assert all("rank 1 on" in message for message in wrong.values()), wrong
assert [case.name for case, outcome in cases("limit.xml") if Failure in outcome], cases("limit.xml")
PY
else
  echo "SKIP junitparser: no package python3-junitparser"
fi

compare=$(find /usr/share/benchmark /usr/lib -name compare.py -path '*benchmark*' 2>/dev/null | head -n 1)
if [ -n "$compare" ] && "$python" -c 'import scipy' 2>/dev/null; then
  run 0 "Google Benchmark's compare.py" "$python" "$compare" benchmarks "$work/a.gbench.json" "$work/a.gbench.json"
  expect_in "$work/out" "all_reduce_perf/loopback/ranks:3/float/sum/bytes:4096/in_place"
  run 0 "compare.py, with wrong data" "$python" "$compare" benchmarks "$work/a.gbench.json" "$work/wrong.gbench.json"
  expect_in "$work/out" "bytes:8/in_place"
  if grep -q "bytes:4096" "$work/out"; then fail "times of wrong data are compared"; fi
else
  echo "SKIP compare.py: no packages libbenchmark-tools and python3-scipy"
fi
"$python" -c 'import json, sys
for name, measures in json.load(open(sys.argv[1])).items():
    assert set(measures) <= {"latency", "bus-bandwidth"} and measures["latency"]["value"] > 0, (name, measures)' "$work/a.bmf.json" &&
  pass "Bencher Metric Format" || fail "Bencher Metric Format"
[ "$(grep -c '^| [0-9].* place |' "$work/a.md")" -eq 4 ] || fail "not four rows: $(cat "$work/a.md")"
finish
