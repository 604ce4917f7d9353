#!/usr/bin/env bash
# clang-tidy over the harness: scripts/tidy.sh BUILD_TREE
# Every .cpp of collectives, src, verify and tools that the tree's compilation database has, once, even if several targets compile it.
# A file that passed is not read again while its preprocessed text, .clang-tidy and clang-tidy stay as they are; what passed is noted in
# $CCL_TIDY_CACHE [~/.cache/ccl-tests/tidy].
# Exit codes: 0 clean, 2 usage, 4 findings.
set -euo pipefail
export LC_ALL=C

if [[ ${1:-} == --one ]]; then # FILE, COMMAND, DATABASE, RULES: called below
  file=$2 database=$4 rules=$5
  # The command's macros and folders for a preprocessor alone: without line numbers, with comments (NOLINT).
  options=$(sed -E 's/^[^ ]+ //; s/ -o [^ ]+ -c [^ ]+$//; s/ -W[^ ]+//g' <<<"$3")
  eval "text=(clang++-14 -E -P -CC -w $options $file)"
  key=
  if sum=$("${text[@]}" 2>/dev/null | cat - <(printf '%s' "$rules") | sha256sum); then key=$CCL_TIDY_CACHE/${sum%% *}; fi
  if [[ -n $key && -e $key ]]; then touch "$key"; exit 0; fi
  clang-tidy-14 --quiet --extra-arg=-Wno-unknown-warning-option -p "$database" "$file" 2>&1 | { grep -v ' warnings\? generated\.$' || true; }
  if [[ -n $key ]]; then : >"$key"; fi
  exit 0
fi

[[ $# == 1 && -e $1/compile_commands.json ]] || { sed -n '2,6s/^# //p' "$0" >&2; exit 2; }
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
export CCL_TIDY_CACHE=${CCL_TIDY_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ccl-tests/tidy}
mkdir -p "$CCL_TIDY_CACHE"
find "$CCL_TIDY_CACHE" -type f -mtime +30 -delete
database=$1/tidy
mkdir -p "$database"

# CMake writes one key a line. The first command of each file stays, without g++'s precompiled header, which clang cannot read.
awk -v root="$PWD/" '
  /^\{/ { entry = ""; next }
  /^\}/ {
    if (index(path, root) == 1 && substr(path, length(root) + 1) ~ /^(collectives|src|verify|tools)\/.*\.cpp$/ && !seen[path]++) {
      printf "%s\n{\n%s}", separator, entry
      separator = ","
    }
    next
  }
  /"command":/ { gsub(/ -Winvalid-pch -include [^ ]*cmake_pch\.hxx/, "") }
  /"file":/ { path = $2; gsub(/[",]/, "", path) }
  { entry = entry $0 "\n" }
  BEGIN { printf "[" } END { print "\n]" }' "$1/compile_commands.json" >"$database/compile_commands.json"

rules=$(clang-tidy-14 --version; cat .clang-tidy)
sed -nE 's/^ *"command": "(.*)",$/\1/p; s/^ *"file": "(.*)",?$/\1/p' "$database/compile_commands.json" |
  sed -E 's/\\(.)/\1/g' | tr '\n' '\0' |
  xargs -0 -n 2 -P "$(nproc)" bash -c 'bash "$0" --one "$4" "$3" "$1" "$2"' "$0" "$database" "$rules" || exit 4
