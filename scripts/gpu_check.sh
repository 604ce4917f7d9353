#!/usr/bin/env bash
# Tries everything on a machine with GPUs and NCCL, in steps, and writes down what happened.
# gpu_check.sh [--list] [--out FOLDER] [--prefix TREE] [--gpus N] [--quick] [--only GROUP,...] [--time SECONDS] [--limit SECONDS] [--resume]
#   [--beside FILE] [--figures FILE]
# gpu_check.sh --pack FOLDER [--prefix TREE]
#   --list     print the steps, run nothing; --only: of these groups (their names are the first column)
#   --out      README.md, logs/, *.jsonl, *.tsv, and all of it as results.tgz [results/DATE-GPU]; --resume: go on with what is there
#   --prefix   a build tree, or an installed or packed one [where this script lies]
#   --gpus     use so many [all]; --quick: fewer sizes; --time: begin no step later than that, and end with 8
#   --limit    no step may take longer; --figures: expected figures in place of those in gpu_check_figures.sh, same lines
#   --beside   run FILE, nccl-tests' own all_reduce_perf, and ours in turns, and print the ratios
#   --pack     instead: the tree of scripts/package.sh in a folder, for a machine that has only a driver and NCCL
# Exit codes: 0 every step went as expected, 2 usage, 3 no GPU here; else the most telling step's: 4 failed, 5 timed out, 7 wrong data, 8 not all done.
# shellcheck disable=SC2016  # Markdown's backticks
set -uo pipefail
export LC_ALL=C

say() { printf 'gpu_check: %s\n' "$*" >&2; }
usage() { say "$1"; exit 2; }
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
self=$here/$(basename -- "${BASH_SOURCE[0]}")
prefix='' out='' pack='' only='' case_name='' beside='' figures=''
gpus=0 time_limit=0 step_limit=0
list=false quick=false resume=false
while (($#)); do
  case $1 in
    --list | --quick | --resume) declare "${1#--}=true"; shift ;;
    --out | --prefix | --gpus | --only | --time | --limit | --pack | --case | --beside | --figures)
      (($# > 1)) || usage "$1: no value; accepted: one value after the flag"
      case $1 in
        --time) time_limit=$2 ;;
        --limit) step_limit=$2 ;;
        --case) case_name=$2 ;;
        *) declare "${1#--}=$2" ;;
      esac
      shift 2
      ;;
    -h | --help) mapfile -t -s 1 -n 12 text <"$self"; printf '%s\n' "${text[@]#\# }"; exit 0 ;;
    *) usage "$1: not known; accepted: the flags that --help lists" ;;
  esac
done
[[ $gpus,$time_limit,$step_limit =~ ^[0-9]+,[0-9]+,[0-9]+$ ]] || usage "--gpus, --time, --limit: '$gpus', '$time_limit', '$step_limit'; accepted: numbers"
groups=(machine first beside speed check programs types share flags sanitizer failures overhead)
for name in ${only//,/ }; do
  [[ " ${groups[*]} " == *" $name "* ]] || usage "--only: '$name'; accepted: ${groups[*]}"
done
chosen() { [[ -z $only || ,$only, == *,$1,* ]]; }
if [[ -n $beside ]]; then
  [[ -f $beside && -x $beside ]] || usage "--beside: '$beside' is no program; accepted: nccl-tests' all_reduce_perf, or one with its flags and table"
  beside=$(cd -- "$(dirname -- "$beside")" && pwd)/$(basename -- "$beside")
  [[ $beside != *[\'=[:cntrl:]]* ]] || usage "--beside: '$beside'; accepted: a path without quotes, = and control characters"
elif [[ ,$only, == *,beside,* ]]; then
  usage "--only: beside without a program; accepted: with --beside FILE"
fi
[[ -z $figures || -r $figures ]] || usage "--figures: cannot read '$figures'; accepted: a file with lines as in gpu_check_figures.sh"
[[ -z $figures ]] || figures=$(cd -- "$(dirname -- "$figures")" && pwd)/$(basename -- "$figures")
if [[ -z $prefix ]]; then
  for prefix in "$here" "$here/.." "$here/../build" ''; do [[ -x $prefix/bin/all_reduce_perf ]] && break; done
  [[ -n $prefix ]] || usage "no bin/all_reduce_perf beside this script; accepted: --prefix TREE"
fi
[[ -x $prefix/bin/all_reduce_perf ]] || usage "--prefix: '$prefix' has no bin/all_reduce_perf; accepted: a build tree or an installed one"
prefix=$(cd -- "$prefix" && pwd)
bin=$prefix/bin
export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$prefix/lib
[[ -d /usr/local/cuda/bin ]] && PATH=$PATH:/usr/local/cuda/bin  # compute-sanitizer
unset RANK WORLD_SIZE LOCAL_RANK MASTER_ADDR MASTER_PORT
work=$(mktemp -d)

# Processes that steps started, of this mark, that are still there.
mark=gpu_check-$$-$RANDOM
remaining() {
  local folder
  local -a variables
  for folder in /proc/[0-9]*; do
    variables=()
    mapfile -d '' -t variables <"$folder/environ"
    [[ " ${variables[*]} " == *" GPU_CHECK_MARK=$1 "* ]] && echo "${folder#/proc/}"
  done 2>/dev/null
}
end_remaining() {
  local pid
  for pid in $(remaining "$1"); do kill -KILL "$pid" 2>/dev/null; done
}

# One case of the failures: a job over --np processes, of which the last is sent a signal in mid-run; ends with the job's exit code.
children() {
  local folder key value
  for folder in /proc/[0-9]*; do
    while read -r key value; do
      [[ $key == PPid: ]] || continue
      [[ $value == "$1" ]] && echo "${folder#/proc/}"
      break
    done <"$folder/status"
  done 2>/dev/null
}
signal_a_rank() { # signal, arguments of all_reduce_perf
  local signal=$1 job victim i
  shift
  "$bin/all_reduce_perf" "$@" -N 0 -J "$work/rows.jsonl" >"$work/out" 2>"$work/err" &
  job=$!
  for ((i = 0; i < 600; ++i)); do
    [[ -e $work/rows.jsonl ]] && (($(wc -l <"$work/rows.jsonl") >= 3)) && break
    kill -0 "$job" 2>/dev/null || break
    sleep 0.1
  done
  victim=$(children "$job" | sort -n | tail -n 1)
  [[ -n $victim ]] && kill "-$signal" "$victim"
  wait "$job"
  local code=$?
  head -n 40 "$work/out"
  cat "$work/err"
  return "$code"
}
if [[ -n $case_name ]]; then
  trap 'rm -rf "$work"' EXIT
  read -ra words <<<"$case_name"
  signal_a_rank "${words[@]}"
  exit
fi
trap 'end_remaining "$mark"; rm -rf "$work"' EXIT
if [[ -n $pack ]]; then
  [[ -e $here/package.sh ]] || usage '--pack: only a clone can pack, and this is a packed tree; accepted: copy it'
  bash "$here/package.sh" --prefix "$prefix" --folder "$pack" || exit
  mib=$(du -sm "$pack" | cut -f 1)
  if ((mib > 32)); then say "--pack: $mib MiB, more than 32; fewer CMAKE_CUDA_ARCHITECTURES make it smaller"; exit 4; fi
  printf 'there: bash scripts/gpu_check.sh --out FOLDER\n'
  exit
fi

# The GPUs, or why there are none.
count=$gpus
gpu='unknown GPU'
if found=$(timeout -k 5 60 "$bin/device_check" --list 2>&1); then
  visible=$(wc -l <<<"$found")
  gpu=$(head -n 1 <<<"$found" | cut -d ' ' -f 3-)
  ((count > 0)) || count=$visible
  ((count <= visible)) || usage "--gpus: $count; accepted: up to the $visible that are here"
elif ! $list; then
  say "no GPU: $(tail -n 1 <<<"$found")"
  exit 3
fi
((count > 0)) || count=1
: "${visible:=$count}"

# shellcheck source=scripts/program_flags.sh
. "$here/program_flags.sh"
# shellcheck source=scripts/gpu_check_beside.sh
. "$here/gpu_check_beside.sh"
# shellcheck source=scripts/gpu_check_figures.sh
. "$here/gpu_check_figures.sh"
# shellcheck source=scripts/gpu_check_steps.sh
. "$here/gpu_check_steps.sh"

if $list; then
  for line in "${lines[@]}"; do
    IFS=$'\t' read -r group name codes limit text command <<<"$line"
    if chosen "$group"; then printf '%-9s %-26s exit %-4s within %3s s  %s\n' "$group" "$name" "$codes" "$limit" "$command"; fi
  done
  exit 0
fi

# Where results go.
gpu_words=$(tr '[:upper:]' '[:lower:]' <<<"$gpu" | tr -cs 'a-z0-9\n' '-')
if [[ -z $out ]]; then
  base=.
  [[ -d $here/../results ]] && base=$here/..
  out=$base/results/$(date +%F)-$( ((count > 1)) && echo "${count}x-")${gpu_words%-}
fi
mkdir -p "$out/logs" || { say "--out: cannot write to $out"; exit 4; }
out=$(cd -- "$out" && pwd)
record=$out/steps.tsv
if [[ -s $record ]] && ! $resume; then usage "--out: $out has results; accepted: another folder, or --resume to go on"; fi
touch "$record"
other=$(other_rounds)
[[ -z $other ]] || usage "--beside: $out has rounds of '$other'; accepted: the same program and sizes, or another folder"

# Processes of this PID namespace: on a shared host nvidia-smi lists those of other containers, too.
on_gpu() {
  local pid
  nvidia-smi --query-compute-apps=pid --format=csv,noheader 2>/dev/null | sort | while read -r pid; do
    if [[ $pid =~ ^[0-9]+$ && -d /proc/$pid ]]; then echo "$pid"; fi
  done
}
# Waits until nothing of this run is left; says what is.
left_behind() { # what was on the GPU before
  local i left=''
  for ((i = 0; i < 20; ++i)); do
    left=$(remaining "$mark" | tr '\n' ' ')$(comm -13 <(printf '%s\n' "$1") <(on_gpu) | tr '\n' ' ')
    [[ -z ${left// /} ]] && return 0
    sleep 0.5
  done
  printf 'left running: %s\n' "$left"
  end_remaining "$mark"
  return 1
}
# The first and last 100 lines.
cut_log() { # from, to
  local all
  all=$(wc -l <"$1")
  if ((all <= 200)); then cp "$1" "$2"; return; fi
  { head -n 100 "$1"; printf '... %s lines left out ...\n' $((all - 200)); tail -n 100 "$1"; } >"$2"
}
verdict_of() { # codes, code, text, log
  if [[ /$1/ != */$2/* ]]; then
    case $2 in 124 | 137) echo 'timed out' ;; *) echo FAILED ;; esac
  elif [[ $3 != - ]] && [[ $(tr -d '\0' <"$4") != *"$3"* ]]; then
    echo "FAILED: no '$3'"
  elif [[ $2 == 3 && $1 != 3 ]]; then
    echo 'not here'
  else
    echo passed
  fi
}
# Prints why a step is not run, and nothing for one that is. The log of the group machine has NCCL's version.
why_left_out() { # group, name, command's program
  local library
  library=$(sed -n 's/.* nccl-library=\([0-9]*\).*/\1/p' "$out/logs/machine-versions.txt" 2>/dev/null | head -n 1)
  if [[ $1 == beside ]] && beside_failed; then echo 'an earlier round failed'; fi
  if ! command -v "$3" >/dev/null; then
    case $3 in bin/*) echo "no $3: a benchmark, built with -DCCL_BENCHMARKS=ON" ;; *) echo "no $3" ;; esac
  fi
  if [[ "$1 $2" == *share*-threads ]] && ((${library:-23000} < 23000)); then echo "threads share a GPU from NCCL 2.30 on, here is $library"; fi
}
mkdir "$work/run" && cd "$work/run" && ln -s "$bin" bin && ln -s "$self" gpu_check.sh || exit 4
run_step() { # line
  local group name codes limit text command code verdict before start log=$work/log
  local -a words
  IFS=$'\t' read -r group name codes limit text command <<<"$1"
  eval "words=($command)"  # of this script, quoted above
  local program why
  for program in "${words[@]}"; do [[ $program == *=* ]] || break; done
  why=$(why_left_out "$group" "$name" "$program" | head -n 1)
  if [[ -n $why ]]; then
    printf '%s\t%s\t%s\t-\t0\tleft out: %s\t%s\n' "$group" "$name" "$codes" "$why" "$command" >>"$record"
    return
  fi
  before=$(on_gpu)
  start=$(date +%s%N)
  timeout -k 10 "$limit" env GPU_CHECK_MARK="$mark" TMPDIR="$work" "${words[@]}" >"$log" 2>&1 </dev/null &
  running=$!
  wait "$running"  # unlike a command in the foreground, a signal ends this at once
  code=$?
  running=''
  local ms=$((($(date +%s%N) - start) / 1000000))
  verdict=$(verdict_of "$codes" "$code" "$text" "$log")
  if [[ $group == beside && $verdict == passed ]]; then
    keep_table "$name" "$log" || verdict="FAILED: no table of nccl-tests'"
  fi
  if [[ $group == failures || $command == *--case* || $verdict != passed ]]; then
    left_behind "$before" >>"$log" || verdict='FAILED: left processes behind'
  fi
  cut_log "$log" "$out/logs/$group-$name.txt"
  local file
  for file in *.jsonl; do [[ -e $file ]] && mv "$file" "$out/$group-$file"; done
  printf '%s\t%s\t%s\t%s\t%d.%01d\t%s\t%s\n' "$group" "$name" "$codes" "$code" $((ms / 1000)) $((ms % 1000 / 100)) "$verdict" "$command" >>"$record"
  [[ $verdict == passed ]] || say "$group $name: $verdict (exit $code; $out/logs/$group-$name.txt)"
}

failed_steps() {
  local group name codes code seconds verdict command failed=0
  while IFS=$'\t' read -r group name codes code seconds verdict command; do
    case $verdict in FAILED* | 'timed out') failed=$((failed + 1)) ;; esac
  done <"$record"
  echo "$failed"
}
write_readme() {
  compare_figures
  compare_beside
  local log=$out/logs/machine-versions.txt line
  {
    printf '# %s x %s\n\n' "$count" "$gpu"
    printf 'Made by `scripts/gpu_check.sh%s`, %s: %s of %s steps done, %s not as expected.\n\n' "$($quick && echo ' --quick')" "$(date +%F)" "$(wc -l <"$record")" "${#lines[@]}" "$(failed_steps)"
    printf '## Machine\n\n```\n'
    timeout 30 nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>/dev/null
    printf '%s, %s CPUs\n' "$(uname -sr)" "$(nproc)"
    [[ -e $log ]] || log=/dev/null
    while read -r line; do
      case $line in '# ccl-tests version'* | '# CUDA '* | '# operations on'* | '#  Rank'*) printf '%s\n' "$line" ;; esac
    done <"$log"
    printf '```\n\n## Steps\n\nTo repeat one, run its command where `bin` is that of the build or installed tree; all: `bash gpu_check.sh`.\n\n'
    printf '| step | command | expected | exit code | seconds | verdict |\n| --- | --- | --- | --- | --- | --- |\n'
    local group name codes code seconds verdict command
    while IFS=$'\t' read -r group name codes code seconds verdict command; do
      printf '| %s %s | `%s` | %s | %s | %s | %s |\n' "$group" "$name" "$command" "${codes/\// or }" "$code" "$seconds" "$verdict"
    done <"$record"
    figures_section
    beside_section
    printf '\n`logs/` has the first and last 100 lines of each step, `*.jsonl` the measured rows.\n'
  } >"$out/README.md.new" && mv "$out/README.md.new" "$out/README.md"
}
running=''
# shellcheck disable=SC2317  # called by traps
ended() { # exit code
  say 'ended by a signal; --resume goes on'
  [[ -z $running ]] || kill "$running" 2>/dev/null
  write_readme
  exit "$1"
}
trap 'ended 130' INT
trap 'ended 143' TERM HUP

declare -A finished=()
while IFS=$'\t' read -r group name codes; do finished[$group $name]=yes; done <"$record"
unfinished=0
for line in "${lines[@]}"; do
  IFS=$'\t' read -r group name codes limit text command <<<"$line"
  chosen "$group" || [[ $group == machine ]] || continue  # the README names the machine
  [[ -n ${finished[$group $name]:-} ]] && continue
  if ((time_limit > 0 && SECONDS >= time_limit)); then
    unfinished=$((unfinished + 1))
    continue
  fi
  [[ $group == "${last:=$group}" ]] || write_readme
  last=$group
  run_step "$line"
done
write_readme

# The most telling of the steps' codes.
worst=0
place() { local order=' 0 2 3 8 6 4 5 7' before; before=${order%% "$1"*}; echo "${#before}"; }
worse() { if (($(place "$1") > $(place "$worst"))); then worst=$1; fi; }
while IFS=$'\t' read -r group name codes code seconds verdict command; do
  case $verdict in
    passed | 'not here' | 'left out'*) continue ;;
    'timed out') worse 5 ;;
    *) if [[ $group-$name == beside-theirs-* ]]; then code=4; fi  # its codes are its own
      case $code in 2 | 3 | 5 | 6 | 7 | 8) worse "$code" ;; *) worse 4 ;; esac ;;
  esac
done <"$record"
if ((unfinished > 0)); then
  say "$unfinished steps are left for --resume"
  worse 8
fi
print_figures
if [[ -s $out/beside.tsv ]]; then beside_summary; fi
if tar -C "$out" --exclude=./results.tgz -czf "$work/results.tgz" . 2>/dev/null; then mv "$work/results.tgz" "$out/"; fi
printf '%s steps, %s not as expected: %s\n' "$(wc -l <"$record")" "$(failed_steps)" "$out/README.md"
exit "$worst"
