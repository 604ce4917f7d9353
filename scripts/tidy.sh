#!/usr/bin/env bash
# clang-tidy over the harness: scripts/tidy.sh BUILD_TREE [COMMIT]
# Every .cpp of collectives, src, verify and tools that the tree's compilation database has, once, even if several targets compile it.
# With COMMIT: what differs from it, a header through one file that includes it, which a built tree knows. All if the rules differ.
# Ten files of a folder are read as one, since most of the time goes into the headers that they share; where that finds anything, or does
# not compile (two files with a local name in common), each is read alone, and only what is found then counts. $CCL_TIDY_ALONE=1 reads
# each alone at once: a using-declaration that only a neighbour needs is found so.
# What passed is not read again while its preprocessed text, .clang-tidy and clang-tidy stay as they are; it is noted in
# $CCL_TIDY_CACHE [~/.cache/ccl-tests/tidy].
# Exit codes: 0 clean, 2 usage, 4 findings.
set -euo pipefail
export LC_ALL=C

# The code behind FILE, options and all: without line numbers, with comments (NOLINT).
text_of() { eval "clang++-14 -E -P -CC -w -x c++ $options -- '$1'"; }
read_one() { # FILE, more arguments for clang-tidy; 0 or findings on stdout
  eval "clang-tidy-14 --quiet --config-file=.clang-tidy --extra-arg=-Wno-everything ${*:2} '$1' -- -x c++ $options" 2>&1 |
    { grep -v ' warnings\? generated\.$' || true; }
}
if [[ ${1:-} == --group ]]; then # LIST OF FILES, RULES: called below
  options=$(<"${2%.cpp}.options")
  key=
  if sum=$(text_of "$2" 2>/dev/null | cat - <(printf '%s' "$3${CCL_TIDY_ALONE:-}") | sha256sum); then key=$CCL_TIDY_CACHE/${sum%% *}; fi
  if [[ -n $key && -e $key ]]; then touch "$key"; exit 0; fi
  if [[ ${CCL_TIDY_ALONE:-} == 1 ]] ||
    ! read_one "$2" --checks=-bugprone-suspicious-include "--header-filter='/(collectives|src|verify|tools)/.*'" >/dev/null; then
    clean=true
    while IFS= read -r file; do read_one "$file" || clean=false; done < <(sed -E 's/^#include "(.*)"$/\1/' "$2")
    $clean || exit 4
  fi
  if [[ -n $key ]]; then : >"$key"; fi
  exit 0
fi

[[ $# -ge 1 && $# -le 2 && -e $1/compile_commands.json ]] || { sed -n '2,10s/^# //p' "$0" >&2; exit 2; }
tree=$(cd -- "$1" && pwd)
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

# The .cpp files to read, one a line, for what differs from COMMIT $1; `all` for every file.
wanted() {
  local changed
  changed=$(bash scripts/changed.sh files "$1") || exit 2
  if grep -qx '\.clang-tidy' <<<"$changed"; then echo all; return; fi
  grep -E '^(collectives|src|verify|tools)/.*\.cpp$' <<<"$changed" || true
  # An object's lines: its name, then what it was made of, each source before its headers.
  ninja -C "$tree" -t deps | awk -v root="$PWD/" -v tree="$tree/" -v changed="$changed" '
    BEGIN { count = split(changed, files, "\n"); for (k = 1; k <= count; ++k) if (files[k] ~ /\.hpp$/) open[files[k]] }
    /^[^ ]/ { source = ""; next }
    NF == 1 {
      path = $1
      if (path !~ /^\//) path = tree path
      while (sub(/[^\/]+\/\.\.\//, "", path)) {}
      if (index(path, root) != 1) next
      path = substr(path, length(root) + 1)
      if (path ~ /\.cpp$/) { source = path; next }
      if (path in open && source ~ /^(collectives|src|verify|tools)\/.*\.cpp$/) { delete open[path]; print source }
    }'
}
export CCL_TIDY_CACHE=${CCL_TIDY_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ccl-tests/tidy}
mkdir -p "$CCL_TIDY_CACHE"
find "$CCL_TIDY_CACHE" -type f -mtime +30 -delete
groups=$tree/tidy
only=all
if (($# > 1)); then only=$(wanted "$2"); fi
rm -rf "$groups"
mkdir -p "$groups"

# Writes FOLDER.N.cpp, which includes the files of a group, and FOLDER.N.options. CMake writes one key a line; a file that it combined
# itself (unity build) stands for those that it includes. Of a command only what the
# preprocessor needs stays: no launcher, warnings, output, nor g++'s precompiled header, which clang cannot read.
sed -E 's/\\(.)/\1/g' "$tree/compile_commands.json" | awk -v root="$PWD/" -v into="$groups/" -v only="$only" '
  BEGIN { count = split(only, names, "\n"); for (k = 1; k <= count; ++k) wanted[names[k]] }
  /^ *"command":/ {
    sub(/^ *"command": "/, ""); sub(/",$/, ""); gsub(/ -Winvalid-pch -include [^ ]*cmake_pch\.hxx/, "")
    count = split($0, word, " ")
    for (first = 1; word[first] !~ /(^|\/)(c|g|clang)\+\+(-[0-9]+)?$/ && first < count; ++first) {}
    options = ""
    for (k = first + 1; k <= count; ++k) {
      if (word[k] == "-o" || word[k] == "-c") { ++k; continue }
      if (word[k] !~ /^-W/) options = options " " word[k]
    }
  }
  /^ *"file":/ {
    path = $2; gsub(/[",]/, "", path)
    if (path !~ /\/Unity\/unity_[0-9]+_cxx\.cxx$/) { add(path); next }
    while ((getline line <path) > 0) if (sub(/^#include "/, "", line) && sub(/".*/, "", line)) add(line)
    close(path)
  }
  function add(path,    folder, key) {
    if (index(path, root) != 1 || seen[path]++) return
    folder = substr(path, length(root) + 1)
    if (folder !~ /^(collectives|src|verify|tools)\/.*\.cpp$/ || !("all" in wanted || folder in wanted)) return
    sub(/\/[^\/]*$/, "", folder); gsub(/\//, ".", folder)
    key = folder " " options
    if (files[key]++ % 10 == 0) {
      group[key] = into folder "." ++groups_of[folder]
      print options >(group[key] ".options")
      close(group[key] ".options")
    }
    print "#include \"" path "\"" >>(group[key] ".cpp")
    close(group[key] ".cpp")
  }'

rules=$(clang-tidy-14 --version; cat .clang-tidy)
find "$groups" -name '*.cpp' -print0 | sort -z | xargs -0 -n 1 -P "$(nproc)" bash -c 'bash "$0" --group "$2" "$1"' "$0" "$rules" || exit 4
