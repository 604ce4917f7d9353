#!/usr/bin/env bash
# Scripts mean the same in every locale: scripts_test.sh SOURCE_TREE
# - each sets LC_ALL=C before it computes or parses, or sources tests/system/lib.sh, which does.
# - what platform.sh computes and what others say is the same where a comma separates decimals.
set -eu
export LC_ALL=C
cd -- "$1"
bad=0
fail() { echo "FAIL: $*"; bad=1; }
count=0
while IFS= read -r script; do
  head -c 2 "$script" | grep -q '#!' || continue # it is sourced
  count=$((count + 1))
  grep -qE '^export LC_ALL=C$|/lib\.sh"$' "$script" || fail "$script does not set LC_ALL=C"
done < <(find scripts examples tests .ci -name '*.sh')
[ "$count" -ge 80 ] || fail "only $count scripts were found"
grep -q '^export LC_ALL=C$' tests/system/lib.sh || fail "tests/system/lib.sh does not set LC_ALL=C"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if ! localedef -i de_DE -f UTF-8 "$work/de_DE.UTF-8" 2>/dev/null; then
  ((bad == 0)) && echo "SKIP: no locale with a comma (package locales)" && exit 77
  exit 1
fi
german() { env LOCPATH="$work" LC_ALL=de_DE.UTF-8 "$@"; }
[ "$(german bash -c 'printf %.1f 1,5')" = 1,5 ] || fail "the locale has no comma"
same() { # a script and its arguments
  "$@" >"$work/c" 2>&1 || true
  german "$@" >"$work/german" 2>&1 || true
  cmp -s "$work/c" "$work/german" || fail "in a locale with a comma '$*' says: $(diff "$work/c" "$work/german" | head -n 4)"
}
same bash scripts/platform.sh 5 --gbps 2.5 --latency 1.5 --slow-host 3:0.5 --racks 2 --oversubscription 1.5
grep -q 'bandwidth="2.5Gbps"' "$work/c" || fail "platform.sh: no cable of 2.5 Gbit/s"
for script in scripts/*.sh; do
  head -c 2 "$script" | grep -q '#!' && same bash "$script" --help
done
((bad == 0)) && echo "PASS: $count scripts"
exit "$bad"
