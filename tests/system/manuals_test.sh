#!/usr/bin/env bash
# Manual pages and completion of an installed tree: every program has them, man and linters accept the pages, and bash and zsh complete.
. "$(dirname "$0")/lib.sh"
keys=$(cd "$(dirname "$0")" && pwd)/type_keys.py
run 0 "cmake --install" cmake --install "$build" --prefix "$work/tree" || finish
share=$work/tree/share
skipped=()
pages=("$share"/man/man1/*.1)
[ -e "${pages[0]}" ] || { pages=() && skipped+=("manual pages: the build found no help2man (package help2man)"); }
for program in "$work"/tree/bin/*; do
  name=${program##*/}
  case $name in nccl_overhead | verifier_speed) continue ;; esac # benchmarks, which scripts/gpu_check.sh packs
  [ -s "$share/bash-completion/completions/$name" ] || fail "completion of $name is not installed"
  grep -q "^#compdef .*\b$name\b" "$share/zsh/site-functions/_ccl_tests" || fail "zsh does not complete $name"
  [ ${#pages[@]} -eq 0 ] || [ -s "$share/man/man1/$name.1" ] || fail "$name.1 is not installed"
done
pass "every program has completion and, with help2man, a manual page"
for file in "${pages[@]}" "$share"/bash-completion/completions/*; do
  name=${file##*/}
  [ "$name" = ccl_tests ] || [ -x "$work/tree/bin/${name%.1}" ] || fail "${file#"$share/"} is of no program"
done

# Pages.
if [ ${#pages[@]} -gt 0 ]; then
  SOURCE_DATE_EPOCH=86400 "$(dirname "$0")/../../cmake/man_page.sh" "$bin/ccl_compare" 1.2 "$work/ccl_compare.1"
  expect_in "$work/ccl_compare.1" '.TH CCL_COMPARE "1" "1970-01-02" "ccl-tests 1.2"'
fi
if [ ${#pages[@]} -eq 0 ]; then
  :
elif command -v groff >/dev/null && groff -man -Tutf8 "${pages[0]}" >/dev/null 2>&1; then
  for page in "${pages[@]}"; do
    groff -ww -man -Tutf8 "$page" >"$work/out" 2>"$work/err"
    [ ! -s "$work/err" ] || fail "groff on ${page##*/}: $(head -3 "$work/err")"
  done
  pass "groff has no warnings"
else
  skipped+=("groff's warnings: no groff with the man macros (package groff-base)")
fi
if [ ${#pages[@]} -eq 0 ]; then
  :
elif command -v mandoc >/dev/null; then
  if mandoc -T lint -W warning "${pages[@]}" >"$work/out" 2>&1; then pass "mandoc has no warnings"; else fail "mandoc: $(head -5 "$work/out")"; fi
  mandoc -T ascii "$share/man/man1/all_reduce_perf.1" | sed 's/.\x08//g' >"$work/out"
  expect_in "$work/out" "-b, --minbytes SIZE"
  expect_in "$work/out" "'mod 2',"
  expect_in "$work/out" "mpirun -n 4 all_reduce_perf -b 8 -e 64M --backend mpi"
  for section in NAME SYNOPSIS DESCRIPTION "EXIT STATUS" OUTPUT EXAMPLES; do
    grep -qx "$section" "$work/out" || fail "all_reduce_perf.1 has no section $section"
  done
else
  skipped+=("mandoc's warnings: no mandoc (package mandoc)")
fi

# Completion: what is typed before a tab, and what stands there after it. -: the same.
touch "$work/run.jsonl" "$work/module.so" "$work/gloss.so"
common='all_reduce_perf --cache w|all_reduce_perf --cache warm 
all_reduce_perf --cache=r|all_reduce_perf --cache=rotate 
all_reduce_perf -d bf|all_reduce_perf -d bfloat16
all_reduce_perf --datatype float,ha|all_reduce_perf --datatype float,half
all_reduce_perf --backend loo|all_reduce_perf --backend loopback 
all_reduce_perf --backend glo|all_reduce_perf --backend gloo 
all_reduce_perf --backend ./mod|all_reduce_perf --backend ./module.so 
all_reduce_perf -J ru|all_reduce_perf -J run.jsonl 
all_reduce_perf -t 2 --launcher tor|all_reduce_perf -t 2 --launcher torchrun 
all_reduce_perf --group-r|all_reduce_perf --group-rows 
average_metrics_perf -o av|average_metrics_perf -o avg
sendrecv_perf --mode ex|sendrecv_perf --mode exchange 
gatherv_perf --skew one|gatherv_perf --skew one-large 
sync_grad_perf --tensors uni|sync_grad_perf --tensors uniform:
init_perf --verb|-
barrier_perf --siz|-
gather_perf --ske|-
all_reduce_perf -b 8|-
ccl_compare --json ru|ccl_compare --json run.jsonl 
ccl_compare ru|ccl_compare run.jsonl 
device_check --memory ho|device_check --memory host '
completes() { # SHELL: the lines as it completes them. Spaces at the end, and a comma or an equals sign, are its own affair.
  cut -d'|' -f1 <<<"$common" >"$work/typed"
  (cd "$work" && HOME=$work timeout 240 python3 "$keys" "$1" "$work/tree" <"$work/typed" >"$work/out" 2>"$work/err") || { fail "$1: $(cat "$work/err")"; return; }
  local typed expected found before=$failures
  while IFS='|' read -r typed expected && IFS= read -r found <&3; do
    [ "$expected" != - ] || expected=$typed
    [ "$(trimmed "$found")" = "$(trimmed "$expected")" ] || fail "$1: '$typed' became '$found', expected '$expected'"
  done <<<"$common" 3<"$work/out"
  [ "$(wc -l <"$work/out")" -eq "$(wc -l <<<"$common")" ] || fail "$1: not all lines came back"
  [ "$failures" -gt "$before" ] || pass "$1 completes"
}
trimmed() { sed -E 's/[ ,=]+$//' <<<"$1"; }
for shell in bash zsh; do
  if ! command -v "$shell" >/dev/null; then
    skipped+=("completion in $shell: no $shell (package $shell)")
  elif ! command -v python3 >/dev/null; then
    skipped+=("completion in $shell: no python3, which types (package python3)")
  elif [ "$shell" = bash ] && [ ! -e /usr/share/bash-completion/bash_completion ]; then
    skipped+=("completion in bash: no bash-completion (package bash-completion)")
  else
    completes "$shell"
  fi
done
# Without bash-completion the file works, too.
completed() { # words: what bash would offer for the last one
  PATH=$work/tree/bin:$PATH bash --norc -c '. "$1"; shift; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _ccl_tests; echo "${COMPREPLY[*]}"' - "$share/bash-completion/completions/ccl_tests" "$@"
}
[ "$(completed all_reduce_perf --cache '')" = "warm rotate cold" ] || fail "bash: --cache: $(completed all_reduce_perf --cache '')"
[ "$(completed all_reduce_perf --cache = c)" = cold ] || fail "bash: --cache=c: $(completed all_reduce_perf --cache = c)"
[ "$(completed all_reduce_perf -I '')" = "0 1" ] || fail "bash: -I: $(completed all_reduce_perf -I '')"
[ -z "$(completed ./no_program --x)" ] || fail "bash: a program that is not there"
[[ " $(completed barrier_perf '') " == *' --iters '* ]] || fail "bash: no --iters of barrier_perf"
[[ " $(completed barrier_perf '') " != *' --sizes '* ]] || fail "bash: --sizes of barrier_perf"
if [ ${#skipped[@]} -gt 0 ]; then
  printf 'SKIP %s\n' "${skipped[@]}"
  [ "$failures" -eq 0 ] && exit 77
fi
finish
