#!/usr/bin/env bash
# -J: three formats that say the same, valid however a run ends; files that exist are kept.
. "$(dirname "$0")/lib.sh"
python=$(command -v python3) || echo "SKIP: no python3, so JSON and CSV files are not parsed"

parses() { # file, rows that are expected (- : at least one), exit code of the run [0]
  [ -n "$python" ] || return
  "$python" - "$1" "$2" "${3:-0}" <<'PY' && pass "${1##*/} is valid" || fail "${1##*/} is not valid"
import csv, json, sys
path, expected, end = sys.argv[1:]
with open(path, newline="") as f:
    if path.endswith(".csv"):
        table = list(csv.DictReader(f))
        assert all(None not in row and None not in row.values() for row in table), "rows of different lengths"
        halves = [row for row in table if row["placement"]]
        assert all(row["program"] == "all_reduce_perf" and not row["error"] for row in halves)
        assert (len(table) > len(halves)) == (end != "0"), "the end of the run"
        assert end == "0" or (table[-1]["exit_code"] == end and table[-1]["error"]), "the last line"
        rows = len(halves) / 2
    elif path.endswith(".jsonl"):
        lines = [json.loads(line) for line in f]
        footer = lines[-1]["footer"]
        assert footer["exit_code"] == int(end), "the exit code"
        assert footer["complete"] == (int(end) in (0, 6, 7)) and (footer["failure"] is None) == footer["complete"]
        halves = [line for line in lines if line["type"] == "row"]
        assert all(not isinstance(value, dict) for line in halves for value in line.values()), "rows are not flat"
        assert all(line["run_id"] == lines[-1]["run_id"] for line in lines)
        rows = len(halves) / 2
    else:
        document = json.load(f)
        assert document["version"] == 3 and document["args"][0] in ("all_reduce_perf", "")
        assert document["out_of_bounds"]["okay"] == ("true" if end in ("0", "6") else "false")
        assert bool(document["errors"]) == (end not in ("0", "6")), "errors"
        rows = len(document["results"])
assert rows >= 1 if expected == "-" else rows == int(expected), f"{rows} rows"
PY
}

quick=(--backend gloo --sizes 8,4000 -o sum,avg -n 2 -t 3)
for suffix in jsonl json csv; do
  file=$work/passed.$suffix
  run 0 "-J .$suffix" "$bin/all_reduce_perf" "${quick[@]}" -J "$file"
  parses "$file" 4
  cp "$file" "$work/before"
  run 0 "-J .$suffix that exists" "$bin/all_reduce_perf" "${quick[@]}" -J "$file"
  cmp -s "$file" "$work/before" || fail "$file was changed"
  second=$work/passed.0.$suffix
  [ "$suffix" = json ] && second=$file.0 # as nccl-tests
  expect_in "$work/err" "$file exists; writing $second"
  grep -qE "^# Writing (JSON|JSON Lines|CSV) output to $second$" "$work/out" || fail "the file's name is not on stdout"
  parses "$second" 4
  run 6 "-J .$suffix, too slow" "$bin/all_reduce_perf" "${quick[@]}" -J "$work/slow.$suffix" --max-time 8:0
  parses "$work/slow.$suffix" 4 6
  # Every pass, and the rows that stand for them; nccl-tests' format has these alone.
  run 0 "-J .$suffix, passes" "$bin/all_reduce_perf" "${quick[@]}" --passes 2 -J "$work/passes.$suffix"
  parses "$work/passes.$suffix" "$([ "$suffix" = json ] && echo 4 || echo 12)"
  # A run that ends before its first row leaves a file that can be read, or none.
  run 5 "-J .$suffix, ranks missing" env RANK=0 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT="$(free_port)" \
    "$bin/all_reduce_perf" --backend gloo -b 8 -e 8 --init-timeout 1 -J "$work/missing.$suffix"
  [ "$(cat "$work/out")" = "$(grep '^# Test failure: ' "$work/out")" ] || fail "a table without all ranks"
  [ "$suffix" = csv ] || parses "$work/missing.$suffix" 0 5
  RANK=0 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$(free_port) timeout 240 "$bin/all_reduce_perf" --backend gloo -b 8 -e 8 \
    -J "$work/early.$suffix" >"$work/out" 2>"$work/err" &
  guard=$!
  for _ in $(seq 100); do [ -e "$work/early.$suffix" ] && break; sleep 0.1; done
  sleep 0.5
  kill -TERM "$(pgrep -P "$guard")"
  wait "$guard"
  code=$?
  if [ "$code" -eq 143 ]; then pass "-J .$suffix, SIGTERM before all have met"; else fail "-J .$suffix, SIGTERM before all have met: exit $code"; fi
  [ "$suffix" = csv ] || parses "$work/early.$suffix" 0 143
done
expect_in "$work/passed.jsonl" '"emulated":true'

# -I over processes: nccl-tests' .json has a list for each process, and times_us is their maximum.
run 0 "-I of two processes" "$bin/all_reduce_perf" --backend gloo --sizes 8,4000 -n 5 --np 2 -t 2 -I 1 -K 1 -J "$work/i.json"
[ -z "$python" ] || "$python" - "$work/i.json" <<'PY' && pass "lists of processes" || fail "lists of processes"
import json, sys
document = json.load(open(sys.argv[1]))
assert [d["rank"] for d in document["config"]["devices"]] == [0, 2, 1, 3], "devices"
for row in document["results"]:
    for placement in ("out_of_place_per_iter", "in_place_per_iter"):
        lists = row[placement]["per_process_max_times_us"]
        assert [len(times) for times in lists] == [5, 5], "lengths"
        assert [max(times) for times in zip(*lists)] == row[placement]["times_us"], "maxima"
PY

# Interrupted and killed runs: every row that was on screen is in the file.
for suffix in json csv; do
  for end in INT:130 TERM:143 KILL:4; do
    signal=${end%:*}
    file=$work/$signal.$suffix
    : >"$work/out"
    env --default-signal=INT timeout 240 "$bin/all_reduce_perf" --backend gloo -b 1M -e 1M -n 5 -N 0 --np 3 -J "$file" \
      >"$work/out" 2>"$work/err" &
    guard=$!
    for _ in $(seq 200); do
      [ "$(grep -cE '^ +[0-9]' "$work/out")" -ge 2 ] && break
      sleep 0.1
    done
    program=$(pgrep -P "$guard")
    victim=$program
    if [ "$signal" = KILL ]; then
      for pid in $(pgrep -P "$program"); do grep -qz '^RANK=1$' "/proc/$pid/environ" && victim=$pid; done
    fi
    kill -"$signal" "$victim"
    wait "$guard"
    code=$?
    if [ "$code" -eq "${end#*:}" ]; then pass "SIG$signal, .$suffix"; else fail "SIG$signal, .$suffix: exit $code"; fi
    parses "$file" "$(grep -cE '^ +[0-9]' "$work/out")" "$code"
    expect_in "$work/out" "# Test failure: "
    grep -qE 'Out of bounds values|Avg bus bandwidth' "$work/out" && fail "SIG$signal: standard output reads as a success"
  done
done

# Standard output that cannot be written: said once, exit 4, and the file is complete.
timeout 240 "$bin/all_reduce_perf" --backend gloo -b 8 -e 64 -n 2 -t 3 -J "$work/full.jsonl" >/dev/full 2>"$work/err" </dev/null
code=$?
[ "$code" -eq 4 ] && pass "a full standard output" || fail "a full standard output: exit $code, expected 4"
[ "$(wc -l <"$work/err")" -eq 1 ] || fail "not one line: $(cat "$work/err")"
expect_in "$work/err" "cannot write the table"
parses "$work/full.jsonl" "$(grep -c '"placement":"in_place"' "$work/full.jsonl")" 4
# Closed standard files: the numbers are not given to the results' file.
for closed in 1 2; do
  for suffix in jsonl json csv; do
    file=$work/closed$closed.$suffix
    eval "timeout 240 '$bin/all_reduce_perf' --backend gloo -b 8 -e 64 -n 2 -t 3 -J '$file' >'$work/out' 2>'$work/err' </dev/null $closed>&-"
    code=$?
    if [ "$code" -eq $((closed == 1 ? 4 : 0)) ]; then pass "file $closed closed, .$suffix"; else fail "file $closed closed, .$suffix: exit $code"; fi
    parses "$file" $((closed == 1 ? 0 : 4)) $((closed == 1 ? 4 : 0))
  done
done
for text in --help --version; do
  timeout 240 "$bin/all_reduce_perf" "$text" >/dev/full 2>"$work/err"
  code=$?
  if [ "$code" -eq 4 ]; then pass "$text to a full standard output"; else fail "$text to a full standard output: exit $code, expected 4"; fi
done

timeout 240 "$bin/all_reduce_perf" --backend gloo -b 8 -e 64K -n 20 -t 3 2>"$work/err" </dev/null | head -n 1 >"$work/out"
code=${PIPESTATUS[0]}
[ "$code" -eq 4 ] && pass "a reader that leaves" || fail "a reader that leaves: exit $code, expected 4: $(cat "$work/err")"
expect_in "$work/err" "Broken pipe"

# A file that cannot be found under its name ends the run, and standard output says so.
loses() { # name, words, command that is given the file...
  local name=$1 words=$2 file
  shift 2
  mkdir -p "$work/lost"
  file=$work/lost/x.jsonl
  rm -f "$file"
  timeout 240 "$bin/all_reduce_perf" --backend gloo -b 8 -e 8 -n 3 -t 3 --duration 120 -J "$file" >"$work/out" 2>"$work/err" </dev/null &
  local guard=$!
  for _ in $(seq 200); do [ "$(cat "$file" 2>/dev/null | grep -c '"type":"row"')" -ge 2 ] && break; sleep 0.1; done
  "$@" "$file"
  wait "$guard"
  local code=$?
  if [ "$code" -eq 4 ]; then pass "$name"; else fail "$name: exit $code, expected 4"; fi
  grep -q "^# Test failure: .*cannot write results to '$file': $words" "$work/out" || fail "$name: not on standard output: $(cat "$work/out")"
  [ "$(grep -c "cannot write results to" "$work/err")" -eq 1 ] || fail "$name: not said once: $(cat "$work/err")"
}
remove_folder() { rm -r "${1%/*}"; }
rotate() { mv "$1" "$1.1"; }
replace() { echo other >"$1.new" && mv "$1.new" "$1"; }
loses "a file that is removed" "the file was removed" rm
loses "a folder that is removed" "the file was removed" remove_folder
loses "a file that is renamed" "the file was renamed to '$work/lost/x.jsonl.1'" rotate
loses "a file that is replaced" "another file has taken its name" replace
loses "a file that is cut" "another program has changed its length" truncate -s 0

# Two ranks, each with files of its own: what rank 0 does not write, nobody writes.
two_ranks() { # name, exit code, words on stderr, arguments of rank 0, arguments of rank 1
  local name=$1 expected=$2 words=$3 port
  port=$(free_port)
  # shellcheck disable=SC2086
  RANK=1 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port timeout 240 "$bin/all_reduce_perf" --backend gloo -b 8 -e 8 -n 2 $5 >/dev/null 2>"$work/err1" </dev/null &
  local other=$!
  # shellcheck disable=SC2086
  RANK=0 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port timeout 240 "$bin/all_reduce_perf" --backend gloo -b 8 -e 8 -n 2 $4 >"$work/out" 2>"$work/err" </dev/null
  local code=$?
  wait "$other"
  [ "$code,$?" = "$expected,$expected" ] && pass "$name" || fail "$name: exit $code, expected $expected"
  [ -z "$words" ] || grep -qhF -- "$words" "$work/err" "$work/err1" || fail "$name: $(cat "$work/err" "$work/err1")"
}
echo '{"verdict":"ok","complete":true}' >"$work/old.v"
for flag in --verdict --heartbeat "--reproducible --digests" -J; do
  name=${flag##* }
  file=$work/only1
  [ "$name" = -J ] && file+=.prom
  rank_0=${flag%"$name"} # --reproducible, which all ranks must have
  two_ranks "$name of rank 1 alone" 2 "$name: rank 1 was given '$file' and rank 0 was not, so that nobody would write the file" "$rank_0" "$flag $file"
  [ -e "$file" ] && fail "$name: rank 1 has written"
done
two_ranks "an old verdict on rank 1" 2 "--verdict: rank 1 was given '$work/old.v', which is of an earlier run and which rank 0, who writes, was not given" \
  "--verdict $work/new.v" "--verdict $work/old.v"
two_ranks "one verdict on both ranks" 0 "" "--verdict $work/old.v" "--verdict $work/old.v"
grep -q '"complete":true,"exit_code":0' "$work/old.v" && pass "rank 0's verdict" || fail "rank 0's verdict: $(cat "$work/old.v")"

# A run that is killed leaves no earlier one's end under a name that is written over.
run 0 "an earlier run" "$bin/all_reduce_perf" "${quick[@]}" -J "$work/last.prom" --verdict "$work/last.v"
grep -q 'state="ok"} 1\|state="unreliable"} 1' "$work/last.prom" || fail "the earlier run's .prom"
timeout 240 "$bin/all_reduce_perf" --backend gloo -b 8 -e 8 -n 2 -t 2 --duration 60 -J "$work/last.prom" --verdict "$work/last.v" >"$work/out" 2>"$work/err" &
guard=$!
wait_for_rows 1
kill -KILL "$(pgrep -P "$guard")"
wait "$guard"
# Another process writes the cause over it.
for _ in $(seq 50); do grep -q '"verdict"' "$work/last.v" && break; sleep 0.1; done
if grep -q 'state="incomplete"} 1' "$work/last.prom" && grep -q '"verdict":"incomplete","complete":false' "$work/last.v"; then
  pass "killed: the earlier end is gone"
else
  fail "killed: $(cat "$work/last.prom" "$work/last.v")"
fi

# A line every 10 s, which the file has no room for.
timeout 240 "$bin/all_reduce_perf" --backend loopback -b 8 -e 8 -n 2 -t 2 --duration 12 --heartbeat /dev/full --verdict "$work/full.v" >"$work/full.out" 2>"$work/full.err" &
full=$!

# Files that a container mounts, and files in a folder that takes no new one, are written in place.
cat >"$work/in_place" <<'SH'
all_reduce_perf=$1 compare=$2 quick="--backend loopback -b 8 -e 8 -n 2 -t 2"
for suffix in jsonl csv json xml md prom gbench.json bmf.json; do files="$files -J x.$suffix"; done
$all_reduce_perf $quick $files --verdict v &&
  if [ -n "$3" ]; then $all_reduce_perf $quick -J x.prom --verdict v; else $all_reduce_perf $quick $files --verdict v; fi &&
  $compare x.jsonl x.jsonl --json c.jsonl --markdown c.md --junit c.xml
SH
all="x.jsonl x.csv x.json x.xml x.md x.prom x.gbench.json x.bmf.json v c.jsonl c.md c.xml"
in_place() { # name, folder
  for file in $all; do
    [ -s "$2/$file" ] || fail "$1: $file is empty"
  done
  [ "$(grep -c '"type":"footer"' "$2/x.jsonl")" -eq 1 ] || fail "$1: not one run in x.jsonl"
  grep -q 'state="ok"} 1\|state="unreliable"} 1' "$2/x.prom" || fail "$1: $(cat "$2/x.prom")"
}
if unshare --mount true 2>/dev/null; then
  mkdir "$work/outside" "$work/inside"
  for file in $all; do touch "$work/outside/$file" "$work/inside/$file"; done
  run 0 "files that are mounts" unshare --mount sh -c 'cd "$1" && mount --bind . . && cd "$1" && for file in $2; do mount --bind "../outside/$file" "$file" || exit; done
    mount -o remount,bind,ro . && shift 2 && exec sh "$@"' sh "$work/inside" "$all" "$work/in_place" "$bin/all_reduce_perf" "$bin/ccl_compare" ""
  in_place "files that are mounts" "$work/outside"
  [ "$(cd "$work/inside" && echo *)" = "$(cd "$work/outside" && echo *)" ] || fail "other files: $(ls "$work/inside")"
else
  echo "SKIP: mounts cannot be made here"
fi
other_user=(setpriv --reuid 65534 --clear-groups)
if "${other_user[@]}" test -x "$bin/all_reduce_perf" 2>/dev/null; then
  mkdir "$work/closed"
  for file in $all; do touch "$work/closed/$file"; chmod 666 "$work/closed/$file"; done
  chmod 755 "$work"
  run 0 "files in a folder that takes no new one" "${other_user[@]}" sh -c 'cd "$1" && shift && exec sh "$@"' sh "$work/closed" "$work/in_place" "$bin/all_reduce_perf" "$bin/ccl_compare" once
  in_place "files in a folder that takes no new one" "$work/closed"
  run 2 "results there are kept" "${other_user[@]}" "$bin/all_reduce_perf" "${quick[@]}" -J "$work/closed/x.jsonl"
  expect_in "$work/err" "x.0.jsonl': Permission denied; '$work/closed/x.jsonl' holds results: empty it, or name another file"
else
  echo "SKIP: programs cannot be run as another user here"
fi

wait "$full"
if [ $? -eq 4 ]; then pass "--heartbeat on a full disk"; else fail "--heartbeat on a full disk: $(cat "$work/full.out")"; fi
expect_in "$work/full.err" "--heartbeat: a line cannot be written: No space left on device"
expect_in "$work/full.v" '"complete":false,"exit_code":4'

# Found before anything is measured.
mkdir "$work/folder.json"
for path in "$work/no/folder/x.jsonl" "$work/x.yaml" "$work/x" /proc/x.csv; do
  run 2 "-J $path" "$bin/all_reduce_perf" "${quick[@]}" -J "$path"
  [ -s "$work/out" ] && fail "-J $path: something was measured"
  [ "$(wc -l <"$work/err")" -eq 1 ] || fail "-J $path: not one line"
  expect_in "$work/err" "-J: cannot write results to '$path'"
done
mkfifo "$work/pipe.jsonl"
for path in - /dev/stdout /dev/fd/1 "$work/pipe.jsonl"; do
  run 2 "-J $path" "$bin/all_reduce_perf" "${quick[@]}" -J "$path"
  expect_in "$work/err" "-J: cannot write results to '$path': results go to regular files alone; to pipe them, write FILE.jsonl and run 'tail -F FILE.jsonl | jq .' beside"
done
for program in "init_perf -t 2 -J" "ccl_compare a.jsonl b.jsonl --json" "device_check --memory host --quick -J"; do
  # shellcheck disable=SC2086
  run 2 "$program -" "$bin"/$program -
  expect_in "$work/err" "'tail -F FILE.jsonl | jq .' beside"
done
run 2 "-J, a folder" "$bin/all_reduce_perf" "${quick[@]}" -J "$work/folder.json"
expect_in "$work/err" "$work/folder.json"
run 2 "-J as a process of --np" "$bin/all_reduce_perf" --backend gloo -b 8 -e 8 --np 3 -J "$work/no/x.json"
[ -s "$work/out" ] && fail "-J of --np: something was measured"
finish
