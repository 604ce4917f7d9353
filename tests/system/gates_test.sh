#!/usr/bin/env bash
# Limits of times: by placement, against an earlier run, and where it is said that one was missed.
. "$(dirname "$0")/lib.sh"
program=("$bin/all_reduce_perf" --backend loopback -t 3 --sizes 8,4K)
verdict_of() { # file size placement: the row's own verdict
  python3 - "$@" <<'END'
import json, sys
for row in map(json.loads, open(sys.argv[1])):
    if row["type"] == "row" and row["size_bytes"] == int(sys.argv[2]) and row["placement"] == sys.argv[3]:
        print(row["limit"])
END
}
expect_verdict() { [ "$(verdict_of "$work/$1" "$2" "$3")" = "$4" ] || fail "$1: $2 B $3 is $(verdict_of "$work/$1" "$2" "$3"), expected $4"; }

run 6 "a time in place" "${program[@]}" --max-time 8:0.000001:in_place -J "$work/in_place.jsonl" -J "$work/in_place.xml"
expect_in "$work/err" "too slow: 8 B float sum in place: "
expect_in "$work/out" "# too slow: 8 B float sum in place: "
if grep -q "out of place: .* is above" "$work/out"; then fail "the other placement is judged"; fi
expect_verdict in_place.jsonl 8 in_place missed
expect_verdict in_place.jsonl 8 out_of_place None
expect_in "$work/in_place.xml" 'name="limit --max-time 8 B float sum in place"'
run 0 "a bandwidth out of place" "${program[@]}" --min-busbw 4K:0.0000001:out_of_place -J "$work/kept.jsonl" -J "$work/kept.xml"
expect_verdict kept.jsonl 4096 out_of_place kept
expect_in "$work/kept.xml" 'name="limit --min-busbw 4096 B float sum out of place"'

run 0 "a baseline" "${program[@]}" -J "$work/base.jsonl"
run 0 "the same again, with a tolerance that noise does not reach" "${program[@]}" --baseline "$work/base.jsonl" --tolerance 1000% -J "$work/same.jsonl"
expect_verdict same.jsonl 8 out_of_place kept
sed -E 's/"(time|time_low|time_high|mean|fast|slow)_s":[0-9.e+-]+/"\1_s":1e-12/g' "$work/base.jsonl" >"$work/fast.jsonl"
cat "$work/fast.jsonl" "$work/fast.jsonl" "$work/fast.jsonl" >"$work/three.jsonl"
sed 's/"oversubscribed":false/"oversubscribed":true/' "$work/fast.jsonl" >"$work/waited.jsonl"
run 8 "one earlier run, whose ranks waited for CPUs" "${program[@]}" --baseline "$work/waited.jsonl"
expect_in "$work/err" "above 1 + --tolerance 20%; too few earlier runs to tell how far runs differ; keep three or more, or use ccl_compare"
run 6 "three earlier runs that were faster" "${program[@]}" --baseline "$work/three.jsonl" -J "$work/slower.jsonl"
expect_in "$work/err" "above 1 + --tolerance 20%"
expect_in "$work/out" "# Verdict  : SLOW - 4 limits missed (exit 6)"
expect_verdict slower.jsonl 4096 in_place missed
run 2 "an earlier run of other ranks" "$bin/all_reduce_perf" --backend loopback -t 2 --sizes 8 --baseline "$work/base.jsonl"
expect_in "$work/err" "--baseline: cannot compare: ranks is '3' in $work/base.jsonl and '2' in this run"
run 8 "an earlier run of other sizes" "$bin/all_reduce_perf" --backend loopback -t 3 --sizes 16 --baseline "$work/base.jsonl"
expect_in "$work/err" "not decided: 2 of 2 times are not in $work/base.jsonl"
run 8 "an earlier run of some of the sizes" "$bin/all_reduce_perf" --backend loopback -t 3 --sizes 8,16 --baseline "$work/base.jsonl" --tolerance 1000%
expect_in "$work/err" "not decided: 2 of 4 times are not in $work/base.jsonl"
# -O: one placement alone.
run 0 "in place alone" "${program[@]}" -O 0 --max-time 8:1000000:in_place --min-busbw 4K:0.0000001 -J "$work/o0.jsonl" -J "$work/o0.csv"
[ "$(grep -cE '^ +[0-9]+ .* -1( +N/A){4} +[0-9.]+ +[0-9.]+ +[0-9.]+ +0$' "$work/out")" -eq 2 ] || fail "not two rows with N/A out of place: $(cat "$work/out")"
[ "$(grep -c '"type":"row".*"placement":"in_place"' "$work/o0.jsonl")" -eq 2 ] || fail "not two lines in place"
[ "$(grep -c '"type":"row"' "$work/o0.jsonl")" -eq 2 ] || fail "lines of the placement that was left out"
[ "$(grep -c , "$work/o0.csv")" -eq 3 ] || fail "not three lines in o0.csv"
run 0 "out of place alone" "${program[@]}" --out_of_place 1 -n 5 -J "$work/o1.json"
[ "$(grep -cE '^ +[0-9]+ .* 0( +N/A){4}$' "$work/out")" -eq 2 ] || fail "not two rows with N/A in place: $(cat "$work/out")"
[ "$(grep -c '"in_place":null' "$work/o1.json")" -eq 2 ] || fail "no null in o1.json"
if grep -q "ran fewer than" "$work/out"; then fail "what was left out counts as capped"; fi
run 0 "a baseline of the same placement" "${program[@]}" -O 0 --baseline "$work/o0.jsonl" --tolerance 1000%
run 0 "a baseline of both placements" "${program[@]}" -O 0 --baseline "$work/base.jsonl" --tolerance 1000%
run 8 "a baseline of the other placement" "${program[@]}" -O 1 --baseline "$work/o0.jsonl" --tolerance 1000%
expect_in "$work/err" "not decided: 2 of 2 times are not in $work/o0.jsonl"
run 2 "a limit of the placement that is left out" "${program[@]}" -O 1 --max-time 8:1:in_place
expect_in "$work/err" "--max-time: -O 1 leaves in_place out; accepted: out_of_place"
run 0 "passes of one placement" "${program[@]}" -O 0 --passes 3 --time-budget 1

run 2 "a limit of what nobody times" "${program[@]}" -n 0 --max-time 8:1
echo "{" >"$work/broken.jsonl"
run 2 "a file that is none" "${program[@]}" --baseline "$work/broken.jsonl"
finish
