#!/bin/sh
# Checks the direction of includes (docs/ARCHITECTURE.md, "Folders") of the tree at $1.
# Prints one line a violation and exits 4 when there is any, 2 when there is nothing to check.
set -eu
export LC_ALL=C
cd "$1"

folders=
for folder in collectives src verify tools tests; do
  [ ! -d "$folder" ] || folders="$folders $folder"
done
# $folders is a list of words
# shellcheck disable=SC2086
files=$(find ${folders:-/dev/null} -type f \( -name '*.hpp' -o -name '*.h' -o -name '*.cpp' -o -name '*.cu' \) | sort)
if [ -z "$files" ]; then
  echo "layers_test: no source files under $1" >&2
  exit 2
fi

# shellcheck disable=SC2086
awk '
# The layer that a root-relative path belongs to; "" when it is not ours.
function layer_of(path) {
  if (path ~ /^src\/[^\/]+\//) return substr(path, 1, index(substr(path, 5), "/") + 3)
  if (path ~ /^(collectives|src|verify|tools|tests)\//) return substr(path, 1, index(path, "/") - 1)
  return ""
}
# Upper layers include lower ones. A folder of src/ that is not listed here shares the middle; src/primitives, src/model and src/inject lie below it.
function height(layer) {
  if (layer == "tests") return 6
  if (layer == "tools") return 5
  if (layer == "collectives") return 4
  if (layer == "src") return 3
  if (layer == "src/primitives" || layer == "src/model" || layer == "src/inject") return 1.5
  if (layer == "verify") return 1
  if (layer == "src/core") return 0
  return 2
}
# Where headers of the library under test may stand; "" when `path` is no such header.
function home_of(path) {
  if (path ~ /^gloo\//) return "^(src/backends/gloo[/._]|tests/(bench|modules)/)"
  if (path ~ /^mpi(-ext)?\.h$/) return "^(src/(backends|bootstrap)/mpi[/._]|tests/(bench|modules)/)"
  if (path ~ /^hwloc/) return "^src/devices/hwloc[/._]"
  if (path ~ /^nccl.*\.h$/) return "^(src/backends/nccl[/._]|tests/(bench|modules|fake_gpu)/)"
  if (path ~ /^(cuda|cub\/|thrust\/|nvtx3\/|cooperative_groups)/)
    return "^(src/backends/nccl[/._]|src/devices/cuda[/._]|verify/cuda[/._]|tests/(bench|modules|fake_gpu)/)"
  return ""
}
function bad(why) { print FILENAME ":" FNR ": " why; ++violations }

/^[ \t]*#[ \t]*include[ \t]*["<]/ {
  quoted = $0 ~ /include[ \t]*"/
  path = $0
  sub(/^[^"<]*["<]/, "", path)
  sub(/[">].*$/, "", path)
  home = home_of(path)
  if (home != "") {
    if (FILENAME !~ home) bad("<" path "> belongs to the files of its own module")
    next
  }
  to = layer_of(path)
  if (to == "") {
    if (quoted) bad("\"" path "\" is not relative to the root")
    next
  }
  from = layer_of(FILENAME)
  if (from == to) next
  if (height(to) > height(from) || (height(to) == height(from) && height(from) != 2))
    bad(from " must not include " path)
  else if (height(to) == height(from) && !((from, to) in edge)) {
    edge[from, to] = FILENAME ":" FNR
    middle[from] = middle[to] = 1
  }
}
END {
  for (via in middle)
    for (a in middle)
      for (b in middle)
        if (((a, via) in edge) && ((via, b) in edge) && !((a, b) in edge)) edge[a, b] = edge[a, via]
  for (a in middle)
    if ((a, a) in edge) { print edge[a, a] ": " a " includes, by way of others, itself"; ++violations }
  exit violations ? 4 : 0
}' $files
