#!/usr/bin/env bash
# docs/OUTPUT.md explains each field of results files, and none that there is not: output_test.sh SOURCE_TREE
set -eu
export LC_ALL=C
cd -- "$1"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
{
  grep -oE 'visit(\.list|\.derived)?\("[a-z0-9_]+"' src/record/fields.hpp | sed -E 's/.*"(.*)"/\1/'
  # The frame: what the writers add.
  grep -hoE '"[a-z_]+":' tests/golden/*.jsonl | tr -d '":' | grep -E '^(type|schema_version|header|footer|row)$'
  printf '%s\n' placement exit_code error
} | sort -u >"$work/written"
# First columns of tables; words within are names only if in backticks.
sed -nE 's/^\| (`[^|]*) \|.*/\1/p' docs/OUTPUT.md | grep -oE '`[a-z][a-z0-9_]*`' | tr -d '`' | sort -u >"$work/explained"
missing=$(comm -23 "$work/written" "$work/explained") unknown=$(comm -13 "$work/written" "$work/explained")
[ -s "$work/written" ] || { echo "FAIL: no fields in src/record/fields.hpp"; exit 1; }
[ -z "$missing" ] || { echo "FAIL: docs/OUTPUT.md does not explain:" $missing; exit 1; }
[ -z "$unknown" ] || { echo "FAIL: docs/OUTPUT.md explains what no file has:" $unknown; exit 1; }
# And the two formats' own keys are those: the committed files have no other.
grep -hoE '"[a-z0-9_]+":' tests/golden/*.jsonl | tr -d '":' | sort -u >"$work/golden"
other=$(comm -23 "$work/golden" "$work/explained" | grep -vE '^(label|timeout_s|placements)$' || true)  # of the samples' settings
[ -z "$other" ] || { echo "FAIL: files have fields that are not in src/record/fields.hpp:" $other; exit 1; }
# The words of flags that make a time doubtful are those of the table's letters.
{
  echo imprecise
  tr '\n' ' ' <src/report/explanations.cpp | grep -oE '\{Kind::flag, [^}]*\}' | sed -nE 's/.*", +"([a-z ]+)"\}/\1/p'
} | sort >"$work/words"
sed -nE 's/^\| `flags` \|(.*)\(\[Method.*/\1/p' docs/OUTPUT.md | grep -oE '`[a-z ]+`' | tr -d '`' | sort >"$work/page"
[ "$(wc -l <"$work/words")" -gt 8 ] || { echo "FAIL: no flags in src/report/explanations.cpp"; exit 1; }
diff "$work/words" "$work/page" || { echo "FAIL: docs/OUTPUT.md has other flags than src/report/explanations.cpp"; exit 1; }
echo "PASS: $(wc -l <"$work/written") fields"
