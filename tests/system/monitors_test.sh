#!/usr/bin/env bash
# What monitors see: exit codes of their own, a first line, a verdict file, Kubernetes' termination log, a gang of pods by a script; and the
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
if pgrep -f "sizes 1M --duration 60" >/dev/null; then fail "the run below goes on"; fi

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

# A run of its own within another launcher's job prints its line, whatever rank that launcher gave the process.
for flag in --launcher --bootstrap; do
  run 0 "a run of its own in another's job, $flag" env RANK=1 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 "${program[@]}" $flag local --exit-codes nagios
  first_line "OK all_reduce_perf: 2 rows right"
done

# Two pods of a gang, of which the second one comes later.
mkdir "$work/gang"
echo 2 >"$work/gang/expected_count"; echo 127.0.0.1 >"$work/gang/master_addr"; free_port >"$work/gang/master_port"; echo test >"$work/gang/gang_id"
echo "pod-0;127.0.0.1;0" >"$work/gang/peers"
gang=("$examples/preflight_gang.sh" "$work/gang" 60 "$bin/all_reduce_perf" --sizes 8,4K -n 5 --init-timeout 60)
POD_NAME=pod-0 "${gang[@]}" >"$work/gang.out" 2>"$work/gang.err" &
sleep 1
printf 'pod-0;127.0.0.1;0\npod-1;127.0.0.1;1\n' >"$work/gang/peers"
run 0 "a gang: the second pod" env POD_NAME=pod-1 "${gang[@]}"
wait $! && pass "a gang: the first pod" || fail "a gang: the first pod: $(cat "$work/gang.err")"
expect_in "$work/gang.out" "# Out of bounds values : 0 OK"
run 2 "a gang that does not have this pod" env POD_NAME=pod-9 "${gang[@]}"
refuses() { # CODE TEXT [POD [FOLDER]]: within one second
  run "$1" "a gang: $2" env POD_NAME="${3-pod-0}" "$examples/preflight_gang.sh" "${4:-$work/gang}" 1 echo started
  expect_in "$work/err" "$2"
  [ ! -s "$work/out" ] || fail "a gang: started though $2"
}
refuses 2 "POD_NAME is not set" ""
refuses 5 "expected_count is missing" pod-0 "$work"
echo 3 >"$work/gang/expected_count"
refuses 5 "after 1 s: 2 of 3 pods are there"
echo "pod-2;127.0.0.1;3" >>"$work/gang/peers"
refuses 2 "/peers: '3' is not accepted; accepted: a whole number from 0 to 2"
echo "pod-2" >"$work/gang/peers"
refuses 2 "'pod-2' is not accepted; accepted: pod;ip;rank"
echo many >"$work/gang/expected_count"
refuses 2 "/expected_count: 'many' is not accepted"

# The examples. Node Problem Detector's plugin as it would be run: its path and arguments, the first 80 bytes, codes 0 and 1.
mapfile -t plugin < <(python3 -c 'import json,sys; rule=json.load(open(sys.argv[1]))["rules"][0]; print("\n".join([rule["path"], *rule["args"]]))' "$examples/npd.json")
plugin[0]=$bin/$(basename "${plugin[0]}")
run 0 "Node Problem Detector's plugin" "${plugin[@]}"
first_line "OK all_reduce_perf: "
run 1 "Node Problem Detector's plugin, wrong data" "${plugin[@]}" --inject flipped-bit:rank=1
# Slurm's program with a scontrol and a logger that note what they were told. check CODE NAME PROGRAM EXPECTED [ARGUMENTS]: runs it with a folder
# whose all_reduce_perf is the script PROGRAM; EXPECTED stands in what was told, empty: nothing was.
mkdir "$work/path" "$work/node"
for tool in scontrol logger; do printf '#!/bin/sh\necho "%s $*" >>"%s/told"\n' "$tool" "$work" >"$work/path/$tool"; done
chmod +x "$work/path"/*
check() {
  local code=$1 name=$2 script=$3 expected=$4; shift 4
  rm -f "$work/told"
  printf '#!/bin/sh\n%s\n' "$script" >"$work/node/all_reduce_perf"
  chmod "${MODE:-755}" "$work/node/all_reduce_perf"
  run "$code" "a health check, $name" env PATH="$work/path:$PATH" SLURMD_NODENAME=node7 LIMIT="${LIMIT:-4}" CCL_TESTS="$work/node" "$examples/slurm_health_check.sh" "$@"
  if [ -z "$expected" ]; then
    [ ! -e "$work/told" ] || fail "a health check, $name: $(cat "$work/told")"
  else
    grep -qE "$expected" "$work/told" || fail "a health check, $name: no '$expected' in: $(cat "$work/told" 2>&1)"
  fi
}
real="exec '$bin/all_reduce_perf' \"\$@\""
only='case $1 in --version) exit 0; esac'
LIMIT=60 check 0 "healthy" "$real" ""
drained='^scontrol update nodename=node7 state=drain reason=ccl-tests: '
logged='^logger -t ccl-tests -- node7 stays in service: '
LIMIT=60 check 0 "wrong data" "$real --inject flipped-bit:rank=1" "${drained}CRITICAL all_reduce_perf: wrong data"
check 0 "a hang" "$only; sleep 60" "${drained}no answer within [4-7] s"
check 0 "a run killed for want of memory" "$only; echo 'UNKNOWN all_reduce_perf: ended by signal 9'; exit 3" "${drained}UNKNOWN .*signal 9"
check 0 "a run killed without a word" "$only; kill -KILL \$\$" "${drained}killed after [0-3] s, ended with exit code 137"
check 0 "a library that is missing" 'echo "error while loading shared libraries: libccl-tests.so" >&2; exit 127' "${logged}.* cannot start, exit code 127: error while loading shared libraries: libccl-tests.so"
MODE=644 check 0 "no program" "" "${logged}.* cannot start, exit code 126"
check 0 "an install that does not answer" "sleep 60" "${logged}.* cannot start, exit code 124"
check 0 "a crash without a word" "$only; kill -SEGV \$\$" "${logged}.*exit code 139 and without a verdict"
check 0 "what is not to be had" "$only; echo 'UNKNOWN all_reduce_perf: no Gloo'; exit 3" "${logged}UNKNOWN all_reduce_perf: no Gloo"
if grep -q '^scontrol' "$work/told"; then fail "a node is drained for what it does not have"; fi
# LBNL NHC runs what stands behind check_cmd_status: the same script.
read -ra nhc < <(sed -n 's/^\* || check_cmd_status -t 120 -r 0 //p' "$examples/nhc.conf")
[ "${nhc[0]##*/}" = slurm_health_check.sh ] || fail "nhc.conf does not call slurm_health_check.sh: ${nhc[*]}"
LIMIT=60 check 1 "for NHC, wrong data" "$real --inject flipped-bit:rank=1" "" "${nhc[@]:1}"
expect_in "$work/out" "CRITICAL all_reduce_perf: wrong data"
check 0 "for NHC, a library that is missing" 'exit 127' "$logged" "${nhc[@]:1}"
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
