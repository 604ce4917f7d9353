#!/bin/sh
# What documents promise, without a build: documents_test.sh SOURCE_TREE
# - docs/TROUBLESHOOTING.md quotes the remedy of every warning of a run's header.
# - links between documents lead to files and headings that are there.
# - the README has the test command, which is what CI runs.
# - no line of a page is longer than 100 characters, but rows of tables, code, and lines that cannot be wrapped.
set -eu
export LC_ALL=C
cd -- "$1"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

# A warning is {NoteKind::warning, text, remedy}: its statement's last text, of which parts on several lines are one.
grep -rl 'NoteKind::warning,' src tools --include=*.cpp | xargs awk '
  /NoteKind::warning,/ { inside = 1; text = "" }
  inside { line = $0; sub(/^[ \t]+/, " ", line); text = text line }
  inside && /;$/ {
    inside = 0
    gsub(/" +"/, "", text)
    if (match(text, /"[^"]*"[})]*;$/)) { sub(/^"/, "", text); remedy = substr(text, RSTART); gsub(/^"|"[})]*;$/, "", remedy); print remedy }
    else print "a warning without a remedy: " text
  }' | sort -u >"$work/remedies"
[ "$(wc -l <"$work/remedies")" -ge 6 ] || { echo "FAIL: only these remedies in src: $(cat "$work/remedies")"; bad=1; }
tr '\n' ' ' <docs/TROUBLESHOOTING.md | tr -s ' ' >"$work/page"
while IFS= read -r remedy; do
  grep -qF -- "$remedy" "$work/page" || { echo "FAIL: docs/TROUBLESHOOTING.md does not quote: $remedy"; bad=1; }
done <"$work/remedies"

grep -qx 'scripts/test\.sh *\(#.*\)\?' README.md || { echo "FAIL: README.md lacks the test command, scripts/test.sh"; bad=1; }
grep -q 'scripts/test\.sh$' .ci/run || { echo "FAIL: .ci/run does not run the README's test command"; bad=1; }

# GitHub's anchor of a heading: lower case, spaces become hyphens, other characters but letters, digits, _ and - go.
anchors() { awk '/^```/ {code = !code} !code && /^#+ / {sub(/^#+ /, ""); print}' "$1" | tr '[:upper:] ' '[:lower:]-' | sed 's/[^a-z0-9_-]//g'; }
links=0
for page in README.md CONTRIBUTING.md docs/*.md examples/*/README.md results/README.md; do
  awk '/^```/ {code = !code} !code' "$page" | grep -oE '\]\([^) ]+\)' | sed 's/^](//; s/)$//' | grep -vE '^(https?:|mailto:)' >"$work/links" || true
  while IFS= read -r link; do
    links=$((links + 1))
    file=${link%%#*}
    target=$page
    [ -z "$file" ] || target=$(dirname "$page")/$file
    if [ ! -e "$target" ]; then
      echo "FAIL: $page links to $link: no such file"
      bad=1
    elif [ "$link" != "$file" ] && ! anchors "$target" | grep -qx -- "${link#*#}"; then
      echo "FAIL: $page links to $link: no such heading"
      bad=1
    fi
  done <"$work/links"
done

# Lines are counted in characters: bytes but those that continue one in UTF-8. What has no space after its first 60 characters
# (an address, an image) cannot be wrapped.
for page in README.md CONTRIBUTING.md docs/*.md; do
  awk -v page="$page" '
    /^ *```/ {code = !code; next}
    code || /^\|/ || /^!\[/ {next}
    {line = $0; gsub(/[\200-\277]/, "", line)}
    length(line) > 100 && substr(line, 61) ~ / / {print "FAIL: " page ":" NR ": longer than 100 characters"}' "$page"
done >"$work/long"
cat "$work/long"
[ ! -s "$work/long" ] || bad=1
[ "$bad" -eq 0 ] || exit 1
echo "PASS: $(wc -l <"$work/remedies") remedies, $links links"
