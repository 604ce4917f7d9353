#!/usr/bin/env bash
# What monitors see: exit codes of their own, a first line, a verdict file, Kubernetes' termination log, a gang of pods; and the
# examples for them, read by the tools that read them where those are installed.
. "$(dirname "$0")/lib.sh"
examples=$(cd "$(dirname "$0")/../../examples/monitoring" && pwd)
program=("$bin/all_reduce_perf" --np 2 --sizes 8,4K -n 5)
wrong=(--inject flipped-bit:rank=1 -c all)
first_line() { # text: stdout begins with it, in at most 80 bytes before performance data
  local line; line=$(head -n 1 "$work/out")
  case $line in "$1"*) ;; *) fail "the first line is '$line', expected '$1...'" ;; esac
  line=${line%% | *}
  [ "$(printf %s "$line" | wc -c)" -le 80 ] || fail "the first line has more than 80 bytes: $line"
}

run 0 "nagios, right" "${program[@]}" --exit-codes nagios
first_line "OK all_reduce_perf: 2 rows right, peak "
head -n 1 "$work/out" | grep -qE ' \| average_busbw_gb_per_s=[0-9.e-]+ peak_busbw_gb_per_s=[0-9.e-]+$' || fail "no performance data: $(head -n 1 "$work/out")"
expect_in "$work/out" "# Out of bounds values : 0 OK"
run 2 "nagios, wrong data" "${program[@]}" "${wrong[@]}" --exit-codes nagios
first_line "CRITICAL all_reduce_perf: wrong data: rank "
run 1 "nagios, too slow" "${program[@]}" --max-time 8:0.000001 --exit-codes=nagios
first_line "WARNING all_reduce_perf: too slow: 8 B float sum"
"${program[@]}" --exit-codes nagios >/dev/full 2>"$work/err"
code=$?
[ "$code" -eq 3 ] && pass "nagios, a full standard output" || fail "nagios, a full standard output: exit $code, expected 3"
expect_in "$work/err" "cannot write to standard output"
run 3 "nagios, a flag that is not known" "${program[@]}" --exit-codes nagios --nope
first_line "UNKNOWN all_reduce_perf: unknown option '--nope'"
expect_in "$work/err" "unknown option '--nope'"
run 3 "nagios, a flag that is not known, shortened" "${program[@]}" --exit=nagios --nope
run 3 "nagios, no folder for temporary files" env TMPDIR="$work/none" "${program[@]}" --exit-codes nagios
first_line "UNKNOWN all_reduce_perf: "
run 3 "ccl_acceptance, a plan that is not there" "$bin/ccl_acceptance" "$work/none.toml" --exit-codes nagios
first_line "UNKNOWN ccl_acceptance: "
run 1 "npd, wrong data" "${program[@]}" "${wrong[@]}" --exit-codes npd
first_line "NonOK all_reduce_perf: wrong data"
run 2 "npd, not known" "${program[@]}" --exit-codes npd --nope
run 2 "aicr, not to be had" "$bin/hypercube_perf" -t 3 --exit-codes aicr
run 2 "aicr, a type that has no such operation" "$bin/all_reduce_perf" -t 2 --backend loopback --sizes 8 -d float -o band --exit-codes aicr
expect_in "$work/out" "all_reduce_perf: "
run 2 "npd, a type that has no such operation" "$bin/all_reduce_perf" -t 2 --backend loopback --sizes 8 -d float -o band --exit-codes npd
for program_name in all_reduce_perf init_perf ccl_acceptance; do
  run 0 "$program_name --help with a monitor's codes" "$bin/$program_name" --help --exit-codes nagios
  [ "$(head -c 2 "$work/out")" != OK ] || fail "$program_name --help begins with a verdict"
done
run 1 "aicr, a flag that is not known" "${program[@]}" --exit-codes aicr --nope
first_line "failed "
run 2 "a monitor that is not known" "${program[@]}" --exit-codes icinga
run 0 "init_perf" "$bin/init_perf" --np 2 --exit-codes nagios
first_line "OK init_perf: passed"
run 0 "ccl_acceptance's help" "$bin/ccl_acceptance" --help --exit-codes npd
# A signal reaches the run below, and a run that is killed never passes.
timeout -s TERM 3 "$bin/all_reduce_perf" --np 2 --sizes 1M --duration 60 --exit-codes npd >"$work/out" 2>"$work/err"
[ "$(head -c 7 "$work/out")" = Unknown ] && pass "a signal is passed on" || fail "a signal: $(cat "$work/out" "$work/err")"
if pgrep -f "sizes 1M --duration 60 --verdict" >/dev/null; then fail "the run below goes on"; fi

run 0 "a verdict file" "${program[@]}" --verdict "$work/verdict.json"
run 7 "a verdict file, wrong data" "${program[@]}" "${wrong[@]}" --verdict "$work/wrong.json"
python3 - "$work" <<'END' && pass "verdict files" || fail "verdict files"
import json, sys
right, wrong = (json.load(open(f"{sys.argv[1]}/{name}.json")) for name in ("verdict", "wrong"))
assert right["verdict"] in ("ok", "unreliable") and right["exit_code"] == 0 and right["run"]["program"] == "all_reduce_perf", right
assert wrong["verdict"] == "wrong" and wrong["exit_code"] == 7 and wrong["line"].startswith("all_reduce_perf: wrong data: rank "), wrong
assert all(len(one["line"].encode()) <= 80 for one in (right, wrong))
END
echo '{"line":"an older one","exit_code":0}' >"$work/old.json"
run 2 "an older verdict" "${program[@]}" --verdict "$work/old.json" --interface nosuch0
if grep -q "an older one" "$work/old.json"; then fail "an older verdict outlives a start that failed"; fi
run 2 "a verdict file that cannot be written" "${program[@]}" --verdict "$work/none/verdict.json"

# A pod's /dev has a termination log; ours is a small one in a namespace.
pod='mount -t tmpfs pod /dev && mknod -m 666 /dev/null c 1 3 && mknod -m 666 /dev/zero c 1 5 && mknod -m 666 /dev/urandom c 1 9 && mkdir -m 1777 /dev/shm &&
  : >/dev/termination-log && { "$@"; code=$?; cat /dev/termination-log >&2; exit $code; }'
if unshare --mount sh -c 'mount -t tmpfs pod /dev && mknod /dev/null c 1 3' 2>/dev/null; then
  timeout 100 unshare --mount sh -c "$pod" sh "$bin/all_reduce_perf" -t 2 --backend loopback --sizes 8 -n 5 "${wrong[@]}" >"$work/out" 2>"$work/err"
  [ $? -eq 7 ] && pass "a termination log" || fail "a termination log: $(cat "$work/err")"
  tail -n 3 "$work/err" | grep -q '^all_reduce_perf: wrong data: rank 1 on ' || fail "the termination log says nothing: $(cat "$work/err")"
else
  echo "SKIP the termination log: no mount namespaces here"
fi

# Two pods of a gang, of which the second one comes later.
mkdir "$work/gang"
echo 2 >"$work/gang/expected_count"; echo 127.0.0.1 >"$work/gang/master_addr"; free_port >"$work/gang/master_port"; echo test >"$work/gang/gang_id"
echo "pod-0;127.0.0.1;0" >"$work/gang/peers"
gang=("$bin/all_reduce_perf" --launcher "gang:$work/gang" --sizes 8,4K -n 5 --init-timeout 60)
POD_NAME=pod-0 "${gang[@]}" >"$work/gang.out" 2>"$work/gang.err" &
sleep 1
printf 'pod-0;127.0.0.1;0\npod-1;127.0.0.1;1\n' >"$work/gang/peers"
run 0 "a gang: the second pod" env POD_NAME=pod-1 "${gang[@]}"
wait $! && pass "a gang: the first pod" || fail "a gang: the first pod: $(cat "$work/gang.err")"
expect_in "$work/gang.out" "# Out of bounds values : 0 OK"
run 2 "a gang that does not have this pod" env POD_NAME=pod-9 "${gang[@]}"
run 5 "a gang that does not fill" env POD_NAME=pod-0 "$bin/all_reduce_perf" --launcher "gang:$work" --init-timeout 1
expect_in "$work/err" "expected_count is missing"

# The examples. Node Problem Detector's plugin as it would be run: its path and arguments, the first 80 bytes, codes 0 and 1.
mapfile -t plugin < <(python3 -c 'import json,sys; rule=json.load(open(sys.argv[1]))["rules"][0]; print("\n".join([rule["path"], *rule["args"]]))' "$examples/npd.json")
plugin[0]=$bin/$(basename "${plugin[0]}")
run 0 "Node Problem Detector's plugin" "${plugin[@]}"
first_line "OK all_reduce_perf: "
run 1 "Node Problem Detector's plugin, wrong data" "${plugin[@]}" --inject flipped-bit:rank=1
# LBNL NHC runs what stands behind check_cmd_status.
read -ra check < <(sed -n 's/^\* || check_cmd_status -t 120 -r 0 //p' "$examples/nhc.conf")
check[0]=$bin/$(basename "${check[0]}")
run 0 "NHC's command" "${check[@]}"
# Slurm's program with a scontrol that says what it was told.
mkdir "$work/path"
printf '#!/bin/sh\necho "$@" >>"%s/told"\n' "$work" >"$work/path/scontrol"
chmod +x "$work/path/scontrol"
run 0 "Slurm's health check" env PATH="$work/path:$PATH" CCL_TESTS="$bin" "$examples/slurm_health_check.sh"
[ ! -e "$work/told" ] || fail "a healthy node is drained: $(cat "$work/told")"
mkdir "$work/bad"
printf '#!/bin/sh\nexec "%s/all_reduce_perf" "$@" --inject flipped-bit:rank=1\n' "$bin" >"$work/bad/all_reduce_perf"
chmod +x "$work/bad/all_reduce_perf"
run 0 "Slurm's health check, wrong data" env PATH="$work/path:$PATH" CCL_TESTS="$work/bad" "$examples/slurm_health_check.sh"
grep -q 'state=drain reason=ccl-tests: CRITICAL all_reduce_perf: wrong data' "$work/told" || fail "a bad node is not drained: $(cat "$work/told" 2>&1)"
python3 -c 'import json,sys; [json.load(open(f)) for f in sys.argv[1:]]' "$examples"/*.json && pass "JSON" || fail "JSON"
for python in python3 /usr/bin/python3; do "$python" -c 'import yaml' 2>/dev/null && break; done
if "$python" -c 'import yaml' 2>/dev/null; then
  "$python" -c 'import yaml,sys; [list(yaml.safe_load_all(open(f))) for f in sys.argv[1:]]' "$examples"/*.yaml && pass "YAML" || fail "YAML"
else
  echo "SKIP YAML: no package python3-yaml"
fi
if command -v promtool >/dev/null; then
  run 0 "promtool reads the rules" promtool check rules "$examples/prometheus_rules.yaml"
else
  echo "SKIP promtool: not installed"
fi
finish
