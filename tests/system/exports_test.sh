#!/usr/bin/env bash
# Files for other tools, read by those tools: junitparser, Google Benchmark's compare.py, Prometheus' client, promtool, node_exporter.
. "$(dirname "$0")/lib.sh"
# The first that has what the consumers need; without them the rest is tested.
for python in python3 /usr/bin/python3; do
  "$python" -c 'import junitparser, prometheus_client, scipy' 2>/dev/null && break
done
command -v "$python" >/dev/null || { echo "SKIP: no python3"; exit 77; }
program=("$bin/all_reduce_perf" --backend loopback -t 3 --sizes 8,4K -n 5)

run 0 "all suffixes" "${program[@]}" -J "$work/a.xml" -J "$work/a.gbench.json" -J "$work/a.bmf.json" -J "$work/a.md"
run 7 "wrong data" "${program[@]}" --inject flipped-bit:rank=1:at=4K -c all -J "$work/wrong.xml" -J "$work/wrong.gbench.json"
run 6 "a limit" "${program[@]}" --max-time 8:0.000001 -J "$work/limit.xml"
run 2 "a suffix that is not known" "${program[@]}" -J "$work/a.html"
expect_in "$work/err" ".prom, .gbench.json or .bmf.json"

if "$python" -c 'import junitparser' 2>/dev/null; then
  "$python" - "$work" <<'PY' && pass "junitparser" || fail "junitparser"
import sys
from junitparser import Error, Failure, JUnitXml
def cases(name):
    return [(case, [type(one) for one in case.result]) for suite in JUnitXml.fromfile(f"{sys.argv[1]}/{name}") for case in suite]
assert [outcome for _, outcome in cases("a.xml")] == [[]] * 5, cases("a.xml")
for name, counts in {"a.xml": (5, 0, 0), "wrong.xml": (5, 2, 0), "limit.xml": (7, 2, 0)}.items():
    document = JUnitXml.fromfile(f"{sys.argv[1]}/{name}")
    for one in [document, *document]:
        assert (one.tests, one.failures, one.errors) == counts, (name, one.tests, one.failures, one.errors)
assert all(case.classname == "all_reduce_perf.loopback" for case, _ in cases("a.xml"))
wrong = {case.name: case.result[0].message for case, outcome in cases("wrong.xml") if Failure in outcome}
assert {"4096 B float sum out of place", "4096 B float sum in place"} == set(wrong), wrong
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
# What a collector of metrics sees, of a run that passed and of one that failed.
for code in 0 7; do
  spoil=()
  if [ $code = 7 ]; then spoil=(--inject flipped-bit:rank=1:at=4K); fi
  run $code "metrics of a run that ends with $code" "${program[@]}" "${spoil[@]}" -J "$work/metrics.prom"
  if "$python" -c 'import prometheus_client' 2>/dev/null; then
    "$python" - "$work/metrics.prom" $code <<'PY' && pass "prometheus_client" || fail "prometheus_client"
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from prometheus_client.parser import text_string_to_metric_families as prometheus
text, code = open(sys.argv[1]).read(), int(sys.argv[2])
assert len(list(openmetrics(text))) == len(list(prometheus(text)))
samples = {}
for family in prometheus(text):
    for sample in family.samples:
        samples.setdefault(sample.name, []).append(sample)
assert samples["ccl_tests_exit_code"][0].value == code
assert len(samples["ccl_tests_last_success_timestamp_seconds"]) == 1
sizes = {(one.labels["size_bytes"], one.labels["placement"]) for one in samples["ccl_tests_time_seconds"]}
assert (("4096", "in_place") in sizes) == (code == 0), sizes
assert [one.labels["state"] for one in samples["ccl_tests_verdict"] if one.value][0] in (["wrong"] if code else ["ok", "unreliable"])
PY
  else
    echo "SKIP prometheus_client: no package python3-prometheus-client"
  fi
  if command -v promtool >/dev/null; then
    run 0 "promtool" sh -c "promtool check metrics <'$work/metrics.prom'"
  else
    echo "SKIP promtool: no package prometheus"
  fi
done
if command -v prometheus-node-exporter >/dev/null; then
  port=$(free_port)
  prometheus-node-exporter --collector.disable-defaults --collector.textfile --collector.textfile.directory "$work" \
    --web.listen-address "127.0.0.1:$port" >"$work/exporter" 2>&1 &
  exporter=$!
  for _ in $(seq 50); do
    "$python" -c 'import sys, urllib.request as u; sys.stdout.buffer.write(u.urlopen(sys.argv[1]).read())' "http://127.0.0.1:$port/metrics" >"$work/scraped" 2>/dev/null && break
    sleep 0.2
  done
  kill $exporter
  wait $exporter 2>/dev/null
  expect_in "$work/scraped" 'node_textfile_scrape_error 0'
  expect_in "$work/scraped" 'ccl_tests_exit_code{backend="loopback",program="all_reduce_perf",ranks="3"} 7'
  pass "node_exporter's textfile collector"
else
  echo "SKIP node_exporter: no package prometheus-node-exporter"
fi

"$python" -c 'import json, sys
for name, measures in json.load(open(sys.argv[1])).items():
    assert set(measures) <= {"latency", "bus-bandwidth"} and measures["latency"]["value"] > 0, (name, measures)' "$work/a.bmf.json" &&
  pass "Bencher Metric Format" || fail "Bencher Metric Format"
[ "$(grep -c '^| [0-9].* place |' "$work/a.md")" -eq 4 ] || fail "not four rows: $(cat "$work/a.md")"
finish
