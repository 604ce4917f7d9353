#!/usr/bin/env bash
# scripts/plot.py: pictures and text plots of results files, and what it says of files that it cannot read.
. "$(dirname "$0")/lib.sh"
source=$(cd "$(dirname "$0")/../.." && pwd)
golden=$source/tests/golden
python=
for candidate in python3 /usr/bin/python3; do
  if "$candidate" -c 'import matplotlib' 2>/dev/null; then python=$candidate; break; fi
done
if [ -z "$python" ]; then
  echo "SKIP: python3 has no matplotlib (package python3-matplotlib)"
  exit 77
fi
export PYTHONDONTWRITEBYTECODE=1 MPLCONFIGDIR=$work/matplotlib
unset PYTHONPATH

# plots EXPECTED_CODE NAME ARGUMENT...: as run, of plot.py.
plots() {
  local expected=$1 name=$2; shift 2
  run "$expected" "$name" "$python" "$source/scripts/plot.py" "$@"
}
# svg FILE TEXT...: well-formed, and every TEXT is a text of the picture.
svg() {
  "$python" - "$@" <<'PY' && pass "${1##*/} has its texts" || fail "${1##*/} is not as expected"
import sys
from xml.dom import minidom
path, *expected = sys.argv[1:]
picture = minidom.parse(path)
texts = ["".join(node.data for node in text.childNodes if node.nodeType == node.TEXT_NODE).strip()
         for text in picture.getElementsByTagName("text")]
missing = [text for text in expected if text not in texts]
assert not missing, f"no text {missing} in {texts}"
names = [node.getAttribute("id") for node in picture.getElementsByTagName("*") if node.hasAttribute("id")]
assert len(names) == len(set(names)), "an id is there twice"
PY
}
# hollow FILE COUNT: so many points of an SVG are drawn as not precise.
hollow() {
  local found
  found=$("$python" - "$1" <<'PY'
import sys
from xml.dom import minidom
groups = minidom.parse(sys.argv[1]).getElementsByTagName("g")
print(sum(len(group.getElementsByTagName("use")) for group in groups
          if group.getAttribute("id").startswith("not-precise")))
PY
)
  if [ "$found" = "$2" ]; then pass "$2 hollow points in ${1##*/}"; else fail "$found hollow points in ${1##*/}, expected $2"; fi
}
# refused NAME TEXT ARGUMENT...: exit code 2 and one line with TEXT.
refused() {
  local name=$1 text=$2; shift 2
  plots 2 "$name" "$@"
  [ "$(wc -l <"$work/err")" -eq 1 ] || fail "$name: not one line: $(cat "$work/err")"
  [ -s "$work/out" ] && fail "$name: something on standard output"
  expect_in "$work/err" "$text"
}
narrow() { # the text on standard output is at most 100 columns wide
  if awk 'length > 100 { exit 1 }' "$work/out"; then pass "100 columns"; else fail "lines of more than 100 columns"; cat "$work/out"; fi
}

# The runs of one recorded file, each as a file of its own.
awk -v folder="$work" -v names="extremes fits group_rows in_place interrupted no_rows pair_rows undecided" '
  BEGIN { split(names, name, " ") }
  /^{"type":"header"/ { ++run }
  { print >(folder "/" name[run] ".jsonl") }' "$golden/plotted.jsonl"

# Recorded files. stream: in place neither size is precise, out of place both are.
plots 0 "stream.svg" "$golden/stream.jsonl" -o "$work/stream.svg" --placement both
svg "$work/stream.svg" "all_reduce_perf, 3 ranks" "float, sum" "Gloo 0.0~git20220518" "time (us)" "bus bandwidth (GB/s)" \
  "dashes: in place; bands: 95 % intervals; hollow points: interval wider than ±2 %"
hollow "$work/stream.svg" 4
plots 0 "out of place" "$golden/stream.jsonl" -o "$work/precise.svg"
svg "$work/precise.svg" "float, sum, out of place" "bands: 95 % intervals"
hollow "$work/precise.svg" 0
plots 0 "no intervals" "$golden/plain.jsonl" -o "$work/plain.png" --kind time --size 480x300
"$python" - "$work/plain.png" <<'PY' && pass "plain.png" || fail "plain.png is not a PNG of twice 480x300"
import struct, sys
data = open(sys.argv[1], "rb").read(24)
assert data[:8] == b"\x89PNG\r\n\x1a\n" and struct.unpack(">II", data[16:]) == (960, 600)
PY
plots 0 "two files" "$golden/stream.jsonl" "$golden/plain.jsonl" -o "$work/two.svg" --kind busbw
svg "$work/two.svg" "Gloo 0.0~git20220518 (stream)" "Gloo 0.0~git20220518 (plain)"
plots 0 "--labels" "$golden/stream.jsonl" "$golden/plain.jsonl" -o "$work/labels.svg" --labels '_one & two,<three> $5^6$'
svg "$work/labels.svg" "_one & two" '<three> $5^6$'
plots 0 "-O 0" "$work/in_place.jsonl" -o "$work/in_place.svg"
svg "$work/in_place.svg" "float, sum, in place"
plots 0 "-O 0 beside both" "$work/in_place.jsonl" "$golden/stream.jsonl" -o "$work/beside.svg" --placement both
cat "$golden/stream.jsonl" "$golden/plain.jsonl" >"$work/runs.jsonl"
plots 0 "two runs of a file" "$work/runs.jsonl" -o "$work/runs.svg"
svg "$work/runs.svg" "Gloo 0.0~git20220518 (1)" "Gloo 0.0~git20220518 (2)"
plots 0 "--kind passes" "$work/runs.jsonl" -o "$work/passes.svg" --kind passes
svg "$work/passes.svg" "time of each pass / median of the passes" "each point: one of 2 passes"
plots 0 "--kind model" "$work/fits.jsonl" -o "$work/model.svg" --kind model
svg "$work/model.svg" "time (us), and its fit" "lines: alpha + size / bandwidth, in segments"
plots 0 "--kind efficiency" "$work/fits.jsonl" -o "$work/efficiency.svg" --kind efficiency
svg "$work/efficiency.svg" "lower bound of the time / time (%)"
plots 0 "wrong data" "$golden/stream.jsonl" "$golden/wrong_data.jsonl" -o "$work/wrong.svg"
expect_in "$work/err" "plot.py: wrong_data: times with wrong data are not drawn: "
for file in extremes group_rows interrupted pair_rows undecided; do
  plots 0 "$file" "$work/$file.jsonl" -o "$work/$file.svg" --placement both
  svg "$work/$file.svg"
  grep -v "^plot.py: extremes: times with wrong data are not drawn: 1$" "$work/err" && fail "$file: $(cat "$work/err")"
  plots 0 "$file, --terminal" "$work/$file.jsonl" --terminal --placement both
  narrow
done

# A run of this build, whole and cut off within its last row.
run 0 "results" "$bin/all_reduce_perf" --backend gloo -b 8 -e 64K -f 8 -t 2 -N 2 --time-budget 1 --label 'this machine' -J "$work/run.jsonl"
plots 0 "a run" "$work/run.jsonl" -o "$work/run.svg"
svg "$work/run.svg" "all_reduce_perf, 2 ranks" "this machine"
plots 0 "a run's cycles" "$work/run.jsonl" -o "$work/cycles.svg" --kind passes
svg "$work/cycles.svg" "this machine"
sed '$d' "$work/run.jsonl" | head -c -100 >"$work/cut.jsonl"
plots 0 "an unfinished line" "$work/cut.jsonl" -o "$work/cut.svg"
svg "$work/cut.svg" "this machine"
plots 0 "--terminal" "$work/run.jsonl" "$golden/stream.jsonl" --terminal --placement both \
  --labels "$(printf 'long%.0s' $(seq 40)),short"
narrow
expect_in "$work/out" "  short, in place"
plots 0 "--terminal, not precise" "$golden/stream.jsonl" --terminal --placement in_place
expect_in "$work/out" "small letter: the time is not precise"
# Without site-packages there is no matplotlib.
run 0 "--terminal without matplotlib" "$python" -S "$source/scripts/plot.py" "$golden/stream.jsonl" --terminal
run 3 "no matplotlib" "$python" -S "$source/scripts/plot.py" "$golden/stream.jsonl" -o "$work/none.svg"
[ "$(wc -l <"$work/err")" -eq 1 ] || fail "no matplotlib: not one line"
expect_in "$work/err" "apt-get install python3-matplotlib"
expect_in "$work/err" "pip install matplotlib"

# What cannot be plotted.
printf '{"type":"header"\nnot JSON\n' >"$work/text.jsonl"
printf '[1]\n' >"$work/list.jsonl"
printf '\xff\xfe\n' >"$work/bytes.jsonl"
: >"$work/empty.jsonl"
sed 1d "$golden/stream.jsonl" >"$work/headless.jsonl"
out=(-o "$work/refused.svg")
sed 's/"schema_version":2/"schema_version":1/' "$golden/stream.jsonl" >"$work/schema1.jsonl"
refused "schema 1" "schema1.jsonl:1: schema version 1; this script reads 2" "$work/schema1.jsonl" "${out[@]}"
refused "not JSON" "text.jsonl:1: not JSON" "$work/text.jsonl" "${out[@]}"
refused "bytes" "bytes.jsonl:1: not JSON" "$work/bytes.jsonl" "${out[@]}"
refused "nccl-tests' file" "plain.json: nccl-tests' format, one JSON document without intervals; expected a file of -J FILE.jsonl" "$golden/plain.json" "${out[@]}"
refused "a list" "list.jsonl:1: no header" "$work/list.jsonl" "${out[@]}"
refused "no header" "headless.jsonl:1: no header" "$work/headless.jsonl" "${out[@]}"
refused "an empty file" "empty.jsonl: holds no run" "$work/empty.jsonl" "${out[@]}"
refused "no file" "none.jsonl: No such file" "$work/none.jsonl" "${out[@]}"
refused "no rows" "no row with a size and a time" "$work/no_rows.jsonl" "${out[@]}"
refused "--where nothing" "no row with a size and a time" "$golden/stream.jsonl" "${out[@]}" --where datatype=half
refused "a suffix" "neither .svg nor .png" "$golden/stream.jsonl" -o "$work/refused.pdf"
refused "a folder that is not there" "No such file" "$golden/stream.jsonl" -o "$work/no/folder.svg"
refused "--labels" "2 given for 1 run;" "$golden/stream.jsonl" "${out[@]}" --labels a,b
run 0 "passes" "$bin/all_reduce_perf" --backend gloo -b 8 -e 64K -f 8 -t 2 --passes 3 --time-budget 1 -J "$work/three.jsonl"
plots 0 "the row of all passes" "$work/three.jsonl" -o "$work/three.svg"
svg "$work/three.svg" "all_reduce_perf, 2 ranks"
grep -q "several passes" "$work/three.svg" && fail "passes were drawn beside the row that stands for them"
plots 0 "the passes of a run" "$work/three.jsonl" -o "$work/spread.svg" --kind passes
svg "$work/spread.svg" "time of each pass / median of the passes"
grep -q "each point: one of 3 passes" "$work/spread.svg" || fail "--kind passes does not show 3 passes"
# Every stamp of a run on 3 ranks, some of which wait for a CPU now and then.
run 0 "raw" "$bin/all_reduce_perf" --backend gloo -b 8 -e 1K -f 128 -t 3 --passes 2 --raw --time-budget 1 -J "$work/raw.jsonl"
one=(--where size_bytes=1024)
plots 0 "--kind series" "$work/raw.jsonl" -o "$work/series.svg" --kind series "${one[@]}"
svg "$work/series.svg" "float, sum, out of place, 1 KiB" "time of a call (us)" "timed so far (ms)"
plots 0 "--kind distribution" "$work/raw.jsonl" -o "$work/shares.svg" --kind distribution --placement both "${one[@]}"
svg "$work/shares.svg" "stamps that are no longer (%)" "dashes: in place; marked: the 10th percentile and the median"
plots 0 "--kind ranks" "$work/raw.jsonl" -o "$work/ranks.svg" --kind ranks "${one[@]}" --where pass=1
svg "$work/ranks.svg" "rank" "readings of the clock, in their order" "0" "1" "2" "time / median"
refused "stamps of two sizes" "stamps of 2 sizes (8, 1024); choose one with --where size_bytes=8" "$work/raw.jsonl" "${out[@]}" --kind series
refused "ranks of two passes" "more than one row" "$work/raw.jsonl" "${out[@]}" --kind ranks "${one[@]}"
refused "no stamps" "no stamps in the files; give a run with --raw" "$golden/plain.jsonl" "${out[@]}" --kind distribution
for routing in balanced zipf:2; do
  run 0 "dispatch, $routing" "$bin/moe_dispatch_perf" --backend gloo -t 3 --sizes 64K,200K -n 3 --routing "$routing" -J "$work/${routing%:*}.jsonl"
done
plots 0 "--kind load" "$work/balanced.jsonl" "$work/zipf.jsonl" -o "$work/load.svg" --kind load
svg "$work/load.svg" "moe_dispatch_perf, 3 ranks" "64 KiB" "(token, expert) pairs of the busiest rank / mean"
refused "one load" "one load only" "$work/balanced.jsonl" "${out[@]}" --kind load
refused "one pass" "one pass only" "$golden/stream.jsonl" "${out[@]}" --kind passes
refused "no fit" "no fit in the files" "$golden/stream.jsonl" "${out[@]}" --kind model
refused "no fit of these times" "no fit: no line describes them within 15 %; 1 of " "$work/fits.jsonl" "${out[@]}" --kind model --placement in_place
refused "no ceiling" "no efficiency in the files" "$golden/stream.jsonl" "${out[@]}" --kind efficiency
refused "nothing to do" "give -o FILE or --terminal" "$golden/stream.jsonl"
[ -e "$work/refused.svg" ] && fail "a refused plot was written"

# Two programs' tables beside each other, as the README has them.
tables=$source/results/2026-11-27-h200
beside() { # code, name, arguments
  run "$1" "$2" "$python" "$source/scripts/plots/beside.py" "${@:3}"
}
beside 0 "two programs' tables" --theirs "$tables"/theirs[123].txt --ours "$tables"/ours[123].txt -o "$work/beside.svg"
svg "$work/beside.svg" "nccl-tests" "ccl-tests" "time (us)" "ccl-tests / nccl-tests: each round, and the median" "8 MiB"
beside 2 "a side with fewer tables" --theirs "$tables"/theirs[12].txt --ours "$tables/ours1.txt" -o "$work/none.svg"
expect_in "$work/err" '2 tables of theirs and 1 of ours; give as many'
beside 2 "a file without a table" --theirs "$tables/steps.tsv" --ours "$tables/ours1.txt" -o "$work/none.svg"
expect_in "$work/err" 'holds no row of a table'
beside 2 "a picture in no folder" --theirs "$tables/theirs1.txt" --ours "$tables/ours1.txt" -o "$work/none/none.svg"
[ "$(wc -l <"$work/err")" -eq 1 ] || fail "not one line: $(cat "$work/err")"
# The matrix of mesh_perf.
cat >"$work/mesh.jsonl" <<'LINES'
{"type":"mesh_header","backend":"gloo","mesh":"dp=2,tp=2","order":"megatron","ranks":4,"hosts":2,"patterns":[{"name":"tp:all_reduce:1M"},{"name":"dp:all_gather:64M"}]}
{"type":"mesh_turn","round":0,"victim":"tp:all_reduce:1M","beside":[],"time_s":0.001}
{"type":"mesh_alone","victim":"tp:all_reduce:1M","time_s":{"value":0.001,"low":0.00095,"high":0.00105}}
{"type":"mesh_slowdown","victim":"tp:all_reduce:1M","beside":["dp:all_gather:64M"],"ratio":{"value":2.93,"low":2.8,"high":3.05}}
{"type":"mesh_alone","victim":"dp:all_gather:64M","time_s":null,"why_not":"few"}
{"type":"mesh_slowdown","victim":"dp:all_gather:64M","beside":["tp:all_reduce:1M"],"ratio":null}
LINES
plots 0 "slowdowns" --kind slowdown "$work/mesh.jsonl" -o "$work/mesh.svg"
svg "$work/mesh.svg" 2.93 "2.80 to 3.05" N/A tp:all_reduce:1M dp:all_gather:64M
refused "slowdowns of another program" "holds no run of mesh_perf" --kind slowdown "$golden/plain.jsonl" -o "$work/x.svg"
refused "slowdowns of two files" "2 files; give one" --kind slowdown "$work/mesh.jsonl" "$work/mesh.jsonl" -o "$work/x.svg"
head -n 2 "$work/mesh.jsonl" >"$work/short.jsonl"
refused "slowdowns of a run without an end" "was ended before its matrix was written" --kind slowdown "$work/short.jsonl" -o "$work/x.svg"
refused "slowdowns as text" "--terminal plots busbw, not --kind slowdown" --kind slowdown "$work/mesh.jsonl" --terminal
finish
