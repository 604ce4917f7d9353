#!/usr/bin/env bash
# ccl_acceptance on hosts that are network namespaces: a slow one is named, healthy ones are not, data that are wrong or took another wire, all
# slow alike, a host that dies; and its command line and files. tests/bench/acceptance_hosts.sh is the full form.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/cluster_lib.sh"
tool=$bin/ccl_acceptance

# Without a cluster.
run 0 "the plan in words" "$tool" --plan
expect_in "$work/out" "# plan generic"
run 2 "no such plan" "$tool" no-such-plan
expect_in "$work/err" "no such plan: cannot read 'no-such-plan': No such file or directory; accepted: a .toml file, or generic, quick, "
run 2 "a plan without an end" "$tool" /dev/zero
run 2 "resumed from a file without an end" "$tool" quick -t 2 --backend loopback --resume /dev/zero
expect_in "$work/err" "cannot read '/dev/zero': it has more than "
printf 'name = "x"\n[pairs]\nsiez = "1M"\n' >"$work/bad.toml"
run 2 "an unknown key" "$tool" "$work/bad.toml"
expect_in "$work/err" "bad.toml:3: no key pairs.siez; accepted: run, size, "
printf '[[limit]]\nprogram = "all_reduce"\nsize = "3M"\nmin_busbw = "1 GB/s"\n' >"$work/bad.toml"
run 2 "a limit of a size that the plan does not have" "$tool" "$work/bad.toml" -t 2 --backend loopback
expect_in "$work/err" "bad.toml: the limit of all_reduce 3M in full: the stage does not have the size; accepted: 8, 1M, 64M"
run 2 "two plans" "$tool" generic quick
run 2 "no such flag" "$tool" --frobnicate
for file in --report --verdict --hosts-out; do
  run 2 "$file that cannot be written" "$tool" quick -t 2 --backend loopback $file "$work/none/file"
done
run 2 "a verdict on a full disk" "$tool" quick --np 3 --backend gloo --verdict /dev/full
[ "$(grep -c 'cannot write results to ./dev/full.: No space left on device' "$work/err")" -eq 1 ] || fail "not said once: $(cat "$work/err")"
[ ! -s "$work/out" ] || fail "a verdict about nothing: $(cat "$work/out")"
run 2 "two files of one name" "$tool" quick -t 2 --backend loopback --verdict "$work/a" --report "$work/a"
expect_in "$work/err" "two files of that name"
cat >"$work/one.toml" <<'PLAN'
full = { programs = ["all_reduce"], sizes = ["64K"], seconds = "0.1" }
node = { run = false }
[[limit]]
program = "all_reduce"
min_busbw = "0.001 MB/s"
PLAN
run 0 "one host, with a limit that it reaches" "$tool" "$work/one.toml" --np 3 --backend gloo --verdict "$work/v.json" --report "$work/r.html" \
  --junit "$work/j.xml" --hosts-out "$work/hosts"
[ "$(head -c 4 "$work/out")" = PASS ] || fail "the first line is not PASS: $(head -n 1 "$work/out")"
expect_in "$work/v.json" "all_reduce of 64K on 1 host"
grep -q '"verdict": *"PASS"' "$work/v.json" || fail "no PASS in the verdict file"
expect_in "$work/r.html" "</html>"
expect_in "$work/j.xml" "<testsuites"
run 0 "the same run, resumed, in the same file" "$tool" "$work/one.toml" --np 3 --backend gloo --resume "$work/v.json" --verdict "$work/v.json"
expect_in "$work/err" "# sanity: PASS, as the run before found"
run 2 "resumed with other ranks" "$tool" "$work/one.toml" --np 2 --backend gloo --resume "$work/v.json"
[ "$(grep -c -- '--resume: the list of hosts was ' "$work/err")" -eq 1 ] || fail "not said once: $(cat "$work/err")"
grep -q '"name": *"sanity"' "$work/v.json" || fail "a refused resume has spoiled the file"
{ echo 'sanity = { run = false }'; cat "$work/one.toml"; } >"$work/brief.toml"
run 0 "beside the run before" "$tool" "$work/brief.toml" --np 3 --backend gloo --baseline "$work/v.json" --verdict "$work/later.json"
grep -q '"baseline/rows"' "$work/later.json" || fail "nothing was compared with the run before"
# What an earlier run has left is gone, also if this one is refused when its ranks have met.
for file in old.json old.html old.xml old.hosts; do echo "an earlier run's PASS" >"$work/$file"; done
run 2 "resumed with other ranks, over an earlier run's files" "$tool" "$work/one.toml" --np 2 --backend gloo --resume "$work/v.json" \
  --verdict "$work/old.json" --report "$work/old.html" --junit "$work/old.xml" --hosts-out "$work/old.hosts"
if grep -l "an earlier run's" "$work"/old.*; then fail "an earlier run's files are left"; fi
grep -q '"INCONCLUSIVE"' "$work/old.json" && pass "the verdict is that of a run without an end" || fail "the verdict: $(cat "$work/old.json")"
port=$(free_port)
rank() { RANK=$1 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port timeout 240 "$tool" "$work/one.toml" --backend gloo "${@:2}" >/dev/null 2>"$work/err$1" </dev/null; }
rank 1 --junit "$work/alone.xml" &
rank 0
code=$?
wait $! || code+=,$?
[ "$code" = 2,2 ] && grep -q -- "--junit: rank 1 was given '$work/alone.xml' and rank 0 was not" "$work/err0" && pass "a file of rank 1 alone" ||
  fail "a file of rank 1 alone: $code, $(cat "$work/err0" "$work/err1")"
run 2 "resumed, with a verdict on a full disk" "$tool" "$work/one.toml" --np 3 --backend gloo --resume "$work/v.json" --verdict /dev/full
[ ! -s "$work/out" ] || fail "a verdict about nothing: $(cat "$work/out")"
run 2 "beside a run of other ranks" "$tool" "$work/one.toml" --np 2 --backend gloo --baseline "$work/v.json"
expect_in "$work/err" "--baseline: the number of ranks was '3' and is '2'"
run 2 "resumed from what is no verdict" "$tool" "$work/one.toml" --np 2 --backend gloo --resume "$work/j.xml"
[ -s "$work/hosts" ] && fail "hosts are excluded: $(cat "$work/hosts")"
# What does not fit into the memory is not measured, and all else is.
sed -e 's/\["64K"\]/["64K", "64T"]/' -e '1i soak = { run = true, seconds = "1" }' "$work/brief.toml" >"$work/large.toml"
run 8 "a size that does not fit" "$tool" "$work/large.toml" --np 3 --backend gloo --verdict "$work/large.json"
for check in '"id": *"full/run/all_reduce/70368744177664".*NOT_MEASURED' '"id": *"soak".*NOT_MEASURED' '"id": *"full/run/all_reduce/65536".*"OK"'; do
  grep -q "$check" "$work/large.json" || fail "no $check"
done
sed -i 's/0.001 MB/900000 GB/' "$work/one.toml" "$work/brief.toml"
run 6 "a limit that it does not reach" "$tool" "$work/brief.toml" --np 3 --backend gloo
[ "$(head -n 1 "$work/out" | wc -c)" -le 81 ] || fail "the first line is longer than 80 bytes"
expect_in "$work/out" "FAIL run: all_reduce 64K "
"$tool" "$work/one.toml" -t 2 --backend loopback >/dev/full 2>"$work/err" </dev/null
expect_in "$work/err" "cannot write the verdict to stdout: No space left on device"
{ printf 'same = ["kernel", "kernal"]\n'; cat "$work/one.toml"; } >"$work/same.toml"
"$tool" "$work/same.toml" -t 2 --backend loopback --verdict "$work/v.json" >"$work/out" 2>"$work/err" </dev/null
expect_in "$work/v.json" "no host tells the plan's 'kernal'"
run 0 "nothing says how fast it should be" "$tool" quick -t 3 --backend loopback --verdict "$work/v.json"
[ "$(head -n 1 "$work/out")" = "PASS (relative): 1 host, results right; its speed was compared with nothing" ] || fail "the first line: $(head -n 1 "$work/out")"
expect_in "$work/v.json" '"relative": true'
printf 'sanity = { run = false }\nnode = { run = false }\nfull = { programs = ["all_reduce"], sizes = ["64K"], seconds = "0.1" }\n' >"$work/brief.toml"
run 8 "the same, and that is not enough" "$tool" "$work/brief.toml" --strict -t 2 --backend loopback
run 8 "a rate of pairs that are not there" "$tool" "$work/brief.toml" --min-bandwidth 10Gbit/s -t 2 --backend loopback
expect_in "$work/out" "INCONCLUSIVE run: the limit of pairs of hosts met no pair: there is one host"
run 2 "a rate without a unit" "$tool" quick --min-bandwidth 10 -t 2 --backend loopback
expect_in "$work/err" "--min-bandwidth: '10'; accepted: as 360 GB/s or 10 Gbit/s"
run 7 "wrong data" "$tool" "$work/one.toml" -t 3 --backend loopback --inject flipped-bit:rank=1:every=3
expect_in "$work/out" ": rank 1 on $(hostname): 1 wrong"
run 8 "a fault that nobody sees" "$tool" "$work/brief.toml" -t 3 --backend loopback --inject flipped-bit:call=1000000000
expect_in "$work/err" "NOTHING_SPOILED"
run 2 "a fault on a rank that is not there" "$tool" "$work/one.toml" -t 3 --backend loopback --inject flipped-bit:rank=3

hosts=6 slow=${CCL_CLUSTER}3
cluster_up $hosts 200mbit
plan() { # further lines of the plan
  cat >"$work/plan.toml" <<PLAN
name = "six hosts"
sanity = { run = false }
full = { programs = ["all_reduce"], sizes = ["8", "64K"], seconds = "0.2" }
scaling = { run = false }
$1
[pairs]
seconds = "0.1"
slowdown = "20 %"
min_bandwidth = "${2:-100 Mbit/s}"
PLAN
}
accept() { # expected code, name, arguments
  local expected=$1 name=$2; shift 2
  run_on_hosts "$expected" "$name" "$tool" "$work/plan.toml" --backend gloo --interface eth0 "$@"
}
first_line() { head -n 1 "$work/out" | grep -qE -- "$1" || fail "the first line is '$(head -n 1 "$work/out")', not '$1'"; }

plan ""
"$cluster" rate "$slow" 80mbit
sed -i 's/\[pairs\]/[[limit]]\nprogram = "all_reduce"\nsize = "64K"\nmin_busbw = "900 GB\/s"\n[pairs]/' "$work/plan.toml"
accept 6 "a slow host, and a limit that all miss" --verdict "$work/v.json" --hosts-out "$work/hosts"
first_line "^FAIL $slow: [0-9]+ % slower"
[ "$(cat "$work/hosts")" = "$slow" ] || fail "excluded: '$(cat "$work/hosts")', not $slow"
grep -q '"name": *"rest"' "$work/v.json" || fail "the others were not run without $slow"
grep '"verdict": "FAIL"' "$work/v.json" | grep '"subject": "host ' | grep -v "$slow" && fail "another host is blamed"
"$cluster" rate "$slow" 200mbit

plan ""
# Of a healthy cluster nobody is blamed; where the machine is too busy to judge that is said.
start_on_hosts "$tool" "$work/plan.toml" --backend gloo --interface eth0
for rank in "${!pids[@]}"; do
  wait "${pids[rank]}"
  code=$?
  case $code in 0 | 8) ;; *) fail "healthy hosts: rank $rank: exit $code: $(head -n 1 "$work/out.0")" ;; esac
done
pass "healthy hosts: $(head -n 1 "$work/out.0")"

# Who finds wrong data may have been sent them: the rank is said, no host is blamed.
accept 7 "wrong data on a host" --inject flipped-bit:rank=4:every=7 --hosts-out "$work/hosts"
first_line "^FAIL run: all_reduce 8: wrong: rank 4 on ${CCL_CLUSTER}4"
[ -s "$work/hosts" ] && fail "a host is excluded: $(cat "$work/hosts")"

plan 'limit = { stage = "node", program = "all_reduce", min_busbw = "1 GB/s" }'  # hosts have one rank each
accept 8 "a limit that no row was held to" --verdict "$work/limit.json"
first_line '^INCONCLUSIVE run: '  # a busy machine is another reason
expect_in "$work/limit.json" "the limit of all_reduce in node met no row"

plan 'racks = [["a", "b"]]'
accept 2 "racks of other hosts"
expect_in "$work/err.0" "is in none, or in two"

plan 'interface = "ib0"'
accept 4 "the wrong wire"
first_line '^FAIL run: [0-9]+ % of .* GB over eth0, not ib0'

plan "" "1 Gbit/s"
accept 6 "all slow alike"
first_line '^FAIL run: half of the pairs reach .* MB/s, the limit is 125 MB/s'

# A second network card on each of four hosts, for their second ranks; that of one host is slow.
for host in 0 1 2 3; do
  ip link add eth1 netns "$CCL_CLUSTER$host" type veth peer name "second$host" netns "$CCL_CLUSTER-switch"
  [ $host -gt 0 ] || { ip -n "$CCL_CLUSTER-switch" link add br1 type bridge; ip -n "$CCL_CLUSTER-switch" link set br1 up; }
  ip -n "$CCL_CLUSTER-switch" link set "second$host" master br1 up
  ip -n "$CCL_CLUSTER$host" addr add "10.78.0.$((host + 1))/24" dev eth1
  ip -n "$CCL_CLUSTER$host" link set eth1 up
  for end in "$CCL_CLUSTER$host eth1" "$CCL_CLUSTER-switch second$host"; do
    rate=200mbit
    [ $host -ne 2 ] || rate=80mbit
    # shellcheck disable=SC2086
    set -- $end
    tc -n "$1" qdisc replace dev "$2" root tbf rate $rate burst 256kb latency 50ms
  done
done
plan 'node = { run = false }'
echo 'rails = true' >>"$work/plan.toml"
for rank in 7 6 5 4 3 2 1 0; do
  RANK=$rank WORLD_SIZE=8 MASTER_ADDR=${CCL_CLUSTER}0 MASTER_PORT=29500 timeout 200 "$cluster" exec "$CCL_CLUSTER$((rank / 2))" \
    "$tool" "$work/plan.toml" --backend gloo --interface "eth$((rank % 2))" --verdict "$work/v.json" >"$work/out.$rank" 2>"$work/err.$rank" </dev/null &
  pids[rank]=$!
done
wait "${pids[0]}"
code=$?
[ "$code" -eq 6 ] && pass "a slow network card of a second rank" || fail "a slow network card: exit $code, expected 6: $(tail -n 3 "$work/err.0")"
wait
cp "$work/out.0" "$work/out"
first_line "^FAIL ${CCL_CLUSTER}2: rail 1: [0-9]+ % slower"
grep '"verdict": "FAIL"' "$work/v.json" | grep '"subject": "host ' | grep -v "${CCL_CLUSTER}2" && fail "another host is blamed"
grep -q '"RAIL_SLOWER"' "$work/v.json" && fail "the whole rail is called slow"

# Everything on a host dies in the middle of the pairs; rank SPEAKER says so.
dies() { # HOST SPEAKER
  plan ""
  sed -i 's/seconds = "0.1"/seconds = "5"/' "$work/plan.toml"
  : >"$work/err.0"
  start_on_hosts "$tool" "$work/plan.toml" --backend gloo --interface eth0 --verdict "$work/v.json"
  for _ in $(seq 200); do grep -q '^# pairs: ' "$work/err.0" && break; sleep 0.1; done
  sleep 1
  for pid in $(ip netns pids "$CCL_CLUSTER$1"); do kill -KILL "$pid"; done
  wait "${pids[$2]}"
  code=$?
  [ "$code" -eq 4 ] && pass "host $1 dies" || fail "host $1 dies: rank $2: exit $code, expected 4"
  cp "$work/out.$2" "$work/out"
  first_line "^FAIL $CCL_CLUSTER$1: "
  wait
}
dies 2 0
cat "$work"/out.[1-9] | grep . && fail "not rank 0 alone says how the run ended"
expect_in "$work/v.json" 'HOST_LOST'
dies 0 1  # the file is as rank 0 has left it
expect_in "$work/v.json" '"headline": "INCONCLUSIVE run: ended early, '
cat "$work"/out.[2-9] | grep FAIL && fail "more than one rank speaks for rank 0"
finish
