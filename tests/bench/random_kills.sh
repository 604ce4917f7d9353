#!/usr/bin/env bash
# Signals at random moments of a job of 3 ranks: tests/bench/random_kills.sh [--runs N] [--seed S] [--libraries LIST] [BUILD]
# LIST: of gloo, openmpi, mpich. SIGKILL, SIGSTOP, SIGTERM and SIGINT in turn, to a rank or to the launcher, up to 3 s after the start. Of each run: does it end, within
# 60 s, is nothing left of it, is each row that was printed in the file, is there a footer, is the exit code
# the right one, is the culprit named. A line for each run that is not as it should be, then the sums. Exit code 4 if there was one.
set -euo pipefail
export LC_ALL=C
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
runs=300 seed=1 libraries=gloo,openmpi,mpich
while (($#)); do
  case $1 in
    --runs) runs=$2; shift 2 ;;
    --seed) seed=$2; shift 2 ;;
    --libraries) libraries=$2; shift 2 ;;
    -h | --help) sed -n '2,5s/^# //p' "$0"; exit 0 ;;
    *) break ;;
  esac
done
program=$(cd "${1:-build}" && pwd)/bin/all_reduce_perf
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
RANDOM=$seed
IFS=, read -ra some <<<"$libraries"
signals=(KILL STOP TERM INT)
declare -A number=([KILL]=9 [STOP]=19 [TERM]=15 [INT]=2)

# The processes of this run that are no zombies; rank_process N: that of rank N.
processes() {
  local p
  for p in /proc/[0-9]*; do
    if grep -qsz "^CCL_KILL_MARK=$mark\$" "$p/environ" && ! grep -qs '^State:.*Z' "$p/status"; then echo "${p#/proc/}"; fi
  done
}
rank_process() {
  local p
  for p in $(processes); do
    [[ $(cat "/proc/$p/comm" 2>/dev/null) == all_reduce_perf ]] || continue
    if grep -qsz -E "^(RANK|OMPI_COMM_WORLD_RANK|PMI_RANK)=$1\$" "/proc/$p/environ"; then echo "$p"; return; fi
  done
}
alive() { kill -0 "$1" 2>/dev/null && ! grep -qs '^State:.*Z' "/proc/$1/status"; }

wrong=0
declare -A made=()
for ((k = 0; k < runs; ++k)); do
  library=${some[k % ${#some[@]}]} signal=${signals[RANDOM % 4]} target=$((RANDOM % 4)) delay=$((RANDOM % 3000))
  mark=$$-$k
  rm -f "$work"/*
  measure=("$program" --sizes 8,64K,1M -n 5 -N 0 -T 5 --init-timeout 20 -J "$work/run.jsonl")
  if [[ $library == gloo ]]; then
    command=("${measure[@]}" --np 3 --backend gloo)
  else
    command=("mpirun.$library" -n 3 "${measure[@]}" --backend "mpi-$library")
  fi
  # A session of its own: signals reach whom they are sent to alone. SIGINT is not ignored there, as it is in the background.
  CCL_KILL_MARK=$mark setsid --wait env --default-signal=INT,QUIT "${command[@]}" >"$work/out" 2>"$work/err" </dev/null &
  launcher=$!
  sleep "$(printf '%d.%03d' $((delay / 1000)) $((delay % 1000)))"
  who=launcher victim=
  for ((tries = 0; tries < 400; ++tries)); do
    if ((target == 3)); then
      victim=$launcher
    else
      who="rank $target" victim=$(rank_process "$target")
    fi
    if [[ -n $victim ]]; then break; fi
    sleep 0.02
  done
  what="$library, SIG$signal to $who after $delay ms"
  complain() { echo "run $k: $what: $*"; bad=1; }
  bad=0
  if [[ -z $victim ]] || ! kill -"$signal" "$victim"; then complain "no process to signal: $(tail -n 1 "$work/err")"; fi
  begin=$SECONDS
  if [[ $who == launcher && $signal == STOP ]]; then # a stopped terminal job: it goes on
    sleep 2
    kill -CONT "$victim"
    sleep 1
    signal=TERM
    kill -TERM "$victim"
  fi
  while alive "$launcher" && ((SECONDS - begin < 60)); do sleep 0.05; done
  took=$((SECONDS - begin))
  if alive "$launcher"; then
    complain "does not end"
    processes | xargs -r kill -9 2>/dev/null || true
  fi
  code=0
  wait "$launcher" 2>/dev/null || code=$?
  for ((tries = 0; tries < 100; ++tries)); do [[ -n $(processes) ]] || break; sleep 0.1; done
  left=$(processes)
  if [[ -n $left ]]; then
    complain "left running: $(tr '\n' ' ' <<<"$left")"
    xargs -r kill -9 <<<"$left" 2>/dev/null || true
  fi

  # What processes print goes through mpirun: without it nobody reads their last lines.
  reads=1
  if [[ $signal-$who == KILL-launcher && $library != gloo ]]; then reads=0; fi
  python3 - "$work" "$library" "$code" "$reads" <<'EOF' >"$work/found" || complain "$(tail -n 1 "$work/found")"
import json, os, re, sys
work, library, code, reads = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4] == "1"
printed = [l for l in open(work + "/out", errors="replace") if re.match(r" +\d+ +\d+ +float .*\n$", l)]
path = work + "/run.jsonl"
text = open(path).read() if os.path.exists(path) else ""
lines = text.split("\n")
records = []
for i, line in enumerate(lines[:-1]):
    try:
        records.append(json.loads(line))
    except ValueError:
        sys.exit(print(f"line {i + 1} of the file is not whole") or 1)
rows = sum(r["type"] == "row" and r.get("placement") == "out_of_place" for r in records)
if lines[-1]:
    sys.exit(print("the file's last line is not whole") or 1)
if rows < len(printed):
    sys.exit(print(f"{len(printed)} rows were printed, {rows} are in the file") or 1)
footer = records and records[-1]["type"] == "footer"
if records and not footer:
    sys.exit(print("the file has no footer") or 1)
by_another = footer and records[-1]["footer"]["failure"].startswith("process 0 was killed")  # which knows no code
if printed and reads and not re.search("^# Test failure: ", open(work + "/out", errors="replace").read(), re.M):
    sys.exit(print("stdout does not say that the run failed") or 1)
if footer and records[-1]["footer"]["complete"]:
    sys.exit(print("the footer says that the run is complete") or 1)
if footer and library == "gloo" and not by_another and records[-1]["footer"]["exit_code"] != code:
    sys.exit(print(f"the footer says {records[-1]['footer']['exit_code']}, the exit code is {code}") or 1)
EOF
  # The launcher of local processes is ours; mpirun has codes of its own.
  if [[ $library == gloo ]]; then
    case $signal-$who in
      KILL-launcher) expected=137 ;;
      KILL-*) expected=4 ;;
      STOP-*) expected=5 ;;
      *) expected=$((128 + ${number[$signal]})) ;;
    esac
    if ((code != expected)); then complain "exit code $code, not $expected"; fi
  elif ((code == 0)) && [[ $who != launcher ]]; then # MPICH's ends with 0 after Ctrl-C
    complain "exit code 0"
  fi
  if [[ $who != launcher && $library == gloo ]] && ! grep -qE "$who\b.*(gone|stopped|silent|no sign of life|interrupted|ended by|SIG|did not come)" "$work/err" "$work/out"; then
    complain "$who is not named"
  fi
  made["$library $signal"]=$((${made["$library $signal"]:-0} + 1))
  if ((bad)); then
    wrong=$((wrong + 1))
    sed 's/^/  | /' "$work/err" | tail -n 4
  fi
  if ((took > 30)); then echo "# run $k: $what: ended after $took s"; fi
  longest=$((took > ${longest:-0} ? took : ${longest:-0}))
done
for one in "${!made[@]}"; do echo "# $one: ${made[$one]}"; done | sort
echo "# $runs runs, seed $seed: $wrong not as they should be; the longest ended ${longest:-0} s after the signal"
((wrong == 0)) || exit 4
