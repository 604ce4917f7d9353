#!/usr/bin/env bash
# ccl_compare: files of real runs, files that cannot be compared, and commands that it runs itself.
. "$(dirname "$0")/lib.sh"
compare=$bin/ccl_compare
one_line() { [ "$(wc -l <"$work/err")" -eq 1 ] || fail "not one line on stderr: $(cat "$work/err")"; }

# Files.
quick=(--backend loopback --sizes 8,4096 -t 2)
run 0 "base" "$bin/all_reduce_perf" "${quick[@]}" -J "$work/base.jsonl"
run 0 "head" "$bin/all_reduce_perf" "${quick[@]}" -J "$work/head.jsonl"
run 0 "two files" "$compare" "$work/base.jsonl" "$work/head.jsonl" --json "$work/c.jsonl" --markdown "$work/c.md" --junit "$work/c.xml"
[ "$(grep -cE '^ +[0-9]' "$work/out")" -eq 4 ] || fail "not four rows: $(cat "$work/out")"
expect_in "$work/out" "# Verdict : hints only, nothing is confirmed: "
[ "$(grep -c '"type":"row"' "$work/c.jsonl")" -eq 4 ] || fail "not four rows in c.jsonl"
[ "$(grep -c '^| [0-9]' "$work/c.md")" -eq 4 ] || fail "not four rows in c.md"
[ "$(grep -c '<testcase ' "$work/c.xml")" -eq 4 ] || fail "not four test cases in c.xml"
run 0 "files that exist are kept" "$compare" "$work/base.jsonl" "$work/head.jsonl" --json "$work/c.jsonl"
[ -e "$work/c.0.jsonl" ] || fail "no c.0.jsonl"
run 0 "JSON lines in a .json" "$compare" "$work/base.jsonl" "$work/head.jsonl" --json "$work/c.json"
cmp "$work/c.jsonl" "$work/c.json" && pass "a .json is as a .jsonl" || fail "a .json is not as a .jsonl"
"$compare" "$work/base.jsonl" "$work/head.jsonl" --json "$work/closed.jsonl" >&- 2>"$work/err"
code=$?
if [ "$code" -eq 4 ]; then pass "stdout closed"; else fail "stdout closed: exit $code, expected 4"; fi
cmp "$work/c.0.jsonl" "$work/closed.jsonl" || fail "the file of a run with a closed stdout is another one"

refused() { # text on stderr, arguments...
  local text=$1; shift
  run 2 "refuses ${*//"$work/"/}" "$compare" "$@"
  expect_in "$work/err" "$text"
  one_line
}
for placement in 0 1; do run 0 "-O $placement" "$bin/all_reduce_perf" "${quick[@]}" -O $placement -J "$work/o$placement.jsonl"; done
run 0 "one placement beside both" "$compare" "$work/base.jsonl" "$work/o0.jsonl"
[ "$(grep -cE '^ +[0-9]+ .* in_place ' "$work/out")" -eq 2 ] || fail "not two rows in place: $(cat "$work/out")"
refused "cannot compare: no row is in $work/o0.jsonl and in $work/o1.jsonl" "$work/o0.jsonl" "$work/o1.jsonl"
run 0 "another type" "$bin/all_reduce_perf" "${quick[@]}" -d half -J "$work/half.jsonl"
run 0 "other ranks" "$bin/all_reduce_perf" "${quick[@]}" -t 3 -J "$work/three.jsonl"
run 0 "another program" "$bin/all_reduce_perf" "${quick[@]}" -n 2 -J "$work/batch.jsonl"
refused "datatype is 'float' in $work/base.jsonl and 'half' in $work/half.jsonl" "$work/base.jsonl" "$work/half.jsonl"
# Over Gloo a user chooses whose functions add.
for reduce in "" gloo suite; do
  gloo=(--backend gloo --sizes 4096 -t 2 -n 2)
  [ -z "$reduce" ] || gloo+=(--backend-option "reduce=$reduce")
  run 0 "reduce=$reduce" "$bin/all_reduce_perf" "${gloo[@]}" -J "$work/reduce$reduce.jsonl" -J "$work/reduce$reduce.bmf.json"
  case $reduce in suite) text="the suite's" whose=suite ;; *) text="gloo's; the suite's for " whose=library ;; esac
  expect_in "$work/out" "# arithmetic: $text"
  [ "$(grep -c "\"arithmetic\":\"$whose\"" "$work/reduce$reduce.jsonl")" -eq 2 ] || fail "not two rows of the $whose's arithmetic"
done
expect_in "$work/reducesuite.bmf.json" "/backend_options:reduce=suite/"
refused "the arithmetic of 4096 B float sum is the library's in $work/reduce.jsonl and the suite's in $work/reducesuite.jsonl; measure both with the same --backend-option reduce, or add --any-arithmetic" "$work/reduce.jsonl" "$work/reducesuite.jsonl"
run 0 "the same arithmetic by another choice" "$compare" "$work/reduce.jsonl" "$work/reducegloo.jsonl"
run 0 "--any-arithmetic" "$compare" --any-arithmetic "$work/reduce.jsonl" "$work/reducesuite.jsonl"
expect_in "$work/out" "# Note: arithmetic differs: 'library' in $work/reduce.jsonl, 'suite' in $work/reducesuite.jsonl"
run 2 "reduce=torch" "$bin/all_reduce_perf" "${gloo[@]}" --backend-option reduce=torch
expect_in "$work/err" "--backend-option reduce: 'torch' is not accepted; accepted: gloo, suite"
run 8 "--baseline of another arithmetic" "$bin/all_reduce_perf" "${gloo[@]}" --baseline "$work/reduce.jsonl"
expect_in "$work/out" "its arithmetic is the suite's, and was the library's in "
run 2 "commands of another arithmetic" "$compare" --base "$bin/all_reduce_perf ${gloo[*]}" --head "$bin/all_reduce_perf ${gloo[*]} --backend-option reduce=gloo"
expect_in "$work/err" "is the suite's in base and the library's in head"
refused "ranks is '2' in $work/base.jsonl and '3' in $work/three.jsonl" "$work/base.jsonl" "$work/three.jsonl"
refused "time is 'median of a stream'" "$work/base.jsonl" "$work/batch.jsonl"
refused "cannot read" "$work/base.jsonl" "$work/none.jsonl"
echo "hello" >"$work/text"
refused "text:1: no JSON object on this line (byte 1); accepted: a file that a program wrote with -J NAME.jsonl" "$work/text" "$work/base.jsonl"
run 0 "nccl-tests' document" "$bin/all_reduce_perf" "${quick[@]}" -J "$work/document.json"
refused "document.json has nccl-tests' format, one JSON document without intervals; accepted: a file that a program wrote with -J NAME.jsonl" "$work/document.json" "$work/base.jsonl"
refused "1 file given" "$work/base.jsonl"
refused "use two files, or --base CMD"
refused "--base needs --head or --aa" --base true
refused "exclude each other" --base true --head true --aa
refused "exclude each other" "$work/base.jsonl" "$work/head.jsonl" --aa
for flag in --pairs=3 --max-pairs=20 --time-budget=90s --probe-limit=2; do
  refused "${flag%=*}: two files are compared as they are, and nothing is run; accepted: with --base CMD" "$work/base.jsonl" "$work/head.jsonl" "$flag"
done
refused "--threshold: '0'" "$work/base.jsonl" "$work/head.jsonl" --threshold 0
refused "--json: 'x.txt'" "$work/base.jsonl" "$work/head.jsonl" --json x.txt
refused "--foo" --foo
run 0 "--help" "$compare" --help

# Commands. fake FACTOR ... -J FILE: the base file, its times multiplied by FACTOR and by up to 1 %, which each run changes.
cat >"$work/fake" <<'SH'
#!/usr/bin/env bash
folder=$(dirname "$0") factor=$1
while [ $# -gt 1 ]; do case $1 in -J) file=$2 ;; esac; shift; done
echo run >>"$folder/calls"
awk -v factor="$factor" -v run="$(wc -l <"$folder/calls")" '{
  if (match($0, /"size_bytes":4096,/)) scale = factor; else scale = 1
  scale *= 1 + (run * 7 % 10) / 1000
  if (match($0, /"time_s":[0-9.e+-]*/))
    $0 = substr($0, 1, RSTART - 1) sprintf("\"time_s\":%.9g", 1e-5 * scale) substr($0, RSTART + RLENGTH)
  print }' "$folder/base.jsonl" >"$file"
SH
chmod +x "$work/fake"
calls() { # expected number
  [ "$(wc -l <"$work/calls")" -eq "$1" ] || fail "$(wc -l <"$work/calls") runs, expected $1"
  rm -f "$work/calls"
}
live=("$compare" --probe-limit 0)
run 0 "commands that are the same" "${live[@]}" --base "$work/fake 1" --head "$work/fake 1"
expect_in "$work/out" "# Verdict : not slower: 0 slower, 0 faster, 0 same, 0 not slower, 0 inconclusive, 4 unflagged"
calls 4
run 6 "a command that is 30 % slower" "${live[@]}" --base "$work/fake 1" --head "$work/fake 1.3" --json "$work/s.jsonl" --junit "$work/s.xml"
expect_in "$work/out" "# Verdict : slower: 2 slower, 0 faster, 0 same, 0 not slower, 0 inconclusive, 2 unflagged"
[ "$(grep -cE '^ +4096 .* 12  slower$' "$work/out")" -eq 2 ] || fail "not both rows of 4096 B: $(cat "$work/out")"
expect_in "$work/s.jsonl" '"exit_code":6'
expect_in "$work/s.xml" 'failures="2"'
calls 28
run 0 "a command that is faster" "${live[@]}" --base "$work/fake 1.3" --head "$work/fake 1" --pairs 8
expect_in "$work/out" "# Verdict : not slower: 0 slower, 2 faster"
calls 20
run 0 "--threshold" "${live[@]}" --base "$work/fake 1" --head "$work/fake 1.3" --threshold 50
run 0 "--aa" "${live[@]}" --base "$work/fake 1" --aa
expect_in "$work/out" "# Verdict : 0 false alarms in 4 rows"
run 0 "with the probe of the cores" "$compare" --base "$work/fake 1" --head "$work/fake 1" --probe-limit 1000
run 8 "a test without time" "${live[@]}" --base "$work/fake 1" --head "$work/fake 1.3" --time-budget 0.001s
expect_in "$work/out" "the time budget ended the test after 0 of 12 pairs"
# Of two rows that are slower in the screen only, nothing is confirmed.
cat >"$work/calm" <<SH
#!/usr/bin/env bash
if [ "\$(wc -l <"$work/calls" 2>/dev/null || echo 0)" -lt 4 ]; then factor=1.3; else factor=\$((1 + \$(wc -l <"$work/calls") / 2 % 2)); fi
exec "$work/fake" \$factor "\$@"
SH
chmod +x "$work/calm"
rm -f "$work/calls"
run 8 "a command that changes all the time" "${live[@]}" --base "$work/fake 1" --head "$work/calm"
expect_in "$work/out" "# Verdict : inconclusive: 0 slower, 0 faster, 0 same, 0 not slower, 2 inconclusive, 2 unflagged"

run 4 "a command that fails" "${live[@]}" --json "$work/f.jsonl" --base "$work/fake 1" --head "echo first >&2; echo 'no such GPU' >&2; exit 3; :"
expect_in "$work/err" "ended with exit code 3: no such GPU"
! grep -qF .jsonl "$work/err" || fail "the error shows a flag that the user did not give"
one_line
[ ! -e "$work/f.jsonl" ] || fail "an empty f.jsonl is left"
run 4 "a file that is removed while the commands run" "${live[@]}" --base "rm -f $work/gone.jsonl; $work/fake 1" --aa --json "$work/gone.jsonl"
expect_in "$work/err" "cannot write results to '$work/gone.jsonl': the file was removed"
expect_in "$work/out" "# Verdict : 0 false alarms in 4 rows"
run 4 "a file that is replaced, and a command that fails" "${live[@]}" --base "echo other >$work/new && mv $work/new $work/taken.jsonl; false" --aa --json "$work/taken.jsonl"
[ "$(cat "$work/taken.jsonl")" = other ] && pass "another program's file stays" || fail "another program's file is gone"
run 2 "a file that cannot be written" "${live[@]}" --base "$work/fake 1" --aa --json "$work/no/x.jsonl"
one_line
run 4 "a program that refuses a flag" "${live[@]}" --base "$work/fake 1" --head "$bin/all_reduce_perf --foo"
expect_in "$work/err" "--foo"
one_line
run 4 "a command that does not exist" "${live[@]}" --base "$work/nothing" --aa
run 4 "a command that writes no file" "${live[@]}" --base "true" --aa
expect_in "$work/err" "wrote no results"
wrong="$bin/all_reduce_perf ${quick[*]} -n 2 --inject flipped-bit:rank=1"
run 7 "a command that finds wrong data" "${live[@]}" --base "$bin/all_reduce_perf ${quick[*]} -n 2" --head "$wrong"
expect_in "$work/err" "ccl_compare: cannot compare: head: all_reduce_perf: wrong data: "
one_line
run 7 "a launcher that hides the code" "${live[@]}" --head "true; $bin/all_reduce_perf ${quick[*]} -n 2" --base "sh -c '\$0 \"\$@\" || exit 1' $wrong"
expect_in "$work/err" "cannot compare: base: all_reduce_perf: wrong data: "
# shellcheck disable=SC2086
run 7 "a run that finds wrong data" $wrong -J "$work/wrong.jsonl"
run 7 "its file" "$compare" "$work/batch.jsonl" "$work/wrong.jsonl"
expect_in "$work/err" "cannot compare: $work/wrong.jsonl: all_reduce_perf: wrong data: "
# Runs that found wrong data and were killed then: with a footer, without one, and within a row.
grep -v '"type":"footer"' "$work/wrong.jsonl" >"$work/cut.jsonl"
sed -n '1,/"type":"row"/p' "$work/wrong.jsonl" >"$work/half.jsonl"
sed 's/"verdict":"wrong","complete":true/"verdict":"incomplete","complete":false/' "$work/wrong.jsonl" >"$work/killed.jsonl"
for file in cut half killed; do
  run 7 "wrong data in $file.jsonl" "$compare" "$work/batch.jsonl" "$work/$file.jsonl"
  run 2 "--baseline $file.jsonl" "$bin/all_reduce_perf" "${quick[@]}" -n 2 --baseline "$work/$file.jsonl"
  expect_in "$work/err" "found wrong"
  run 7 "a command that leaves $file.jsonl" "${live[@]}" --base "sh -c 'cp $work/$file.jsonl \$1; kill -9 \$\$'" --aa
done
run 7 "a command that ends with 7 without a file" "${live[@]}" --base "sh -c 'exit 7'" --aa
run 2 "commands that cannot be compared" "${live[@]}" --base "$bin/all_reduce_perf ${quick[*]}" --head "$bin/all_reduce_perf ${quick[*]} -d half"
expect_in "$work/err" "datatype is 'float' in base and 'half' in head"
# 8: a loaded machine may leave rows inconclusive.
run "0|8" "real programs" "${live[@]}" --base "$bin/all_reduce_perf --backend loopback --sizes 4096 -t 2" --aa --pairs 5 --threshold 90
expect_in "$work/out" "0 false alarms in 2 rows"

# A signal ends the command's processes too, and the temporary folder goes.
mkdir "$work/tmp"
echo "sleep 987 & echo \$! >$work/pid; wait" >"$work/slow"
TMPDIR=$work/tmp "${live[@]}" --base "sh $work/slow" --aa >"$work/out" 2>"$work/err" &
tool=$!
for _ in $(seq 200); do [ -s "$work/pid" ] && break; sleep 0.1; done
kill -TERM "$tool"
wait "$tool"
code=$?
if [ "$code" -eq 143 ]; then pass "SIGTERM"; else fail "SIGTERM: exit $code: $(cat "$work/err")"; fi
expect_in "$work/err" "interrupted by signal 15"
left=$(cat "$work/pid")
for _ in $(seq 50); do kill -0 "$left" 2>/dev/null || break; sleep 0.1; done  # whoever inherits it must notice its end
if kill -0 "$left" 2>/dev/null; then fail "process $left is left"; else pass "no process is left"; fi
[ -z "$(ls "$work/tmp")" ] || fail "the temporary folder is left: $(ls "$work/tmp")"
rm "$work/pid"
TMPDIR=$work/tmp "${live[@]}" --base "sh $work/slow" --aa >"$work/out" 2>"$work/err" &
tool=$!
for _ in $(seq 200); do [ -s "$work/pid" ] && break; sleep 0.1; done
kill -KILL "$tool"
wait "$tool" 2>/dev/null
left=$(cat "$work/pid")
for _ in $(seq 100); do [ -d "/proc/$left" ] || [ -n "$(ls "$work/tmp")" ] || break; sleep 0.1; done
if [ -d "/proc/$left" ] || [ -n "$(ls "$work/tmp")" ]; then fail "SIGKILL: process $left or $(ls "$work/tmp") is left"; else pass "SIGKILL"; fi
TMPDIR=$work/none run 4 "TMPDIR that does not exist" "${live[@]}" --base "$work/fake 1" --aa
expect_in "$work/err" "cannot make a folder in $work/none (TMPDIR): No such file or directory; set TMPDIR to a folder that takes new files"
finish
