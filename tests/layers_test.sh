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
# Layers include lower ones only, never one of their own height. -1: no layer has this name.
function height(layer) {
  return layer in heights ? heights[layer] : -1
}
BEGIN {
  count = split("src/core;verify;src/measure src/model src/primitives src/inject src/bootstrap;src/devices;src/backends;" \
                "src/job;src/options;src/record;src/judge;src/report;src/run;src/programs;collectives;tools;tests", floors, ";")
  for (floor = 1; floor <= count; ++floor) {
    rooms = split(floors[floor], names, " ")
    for (room = 1; room <= rooms; ++room) heights[names[room]] = floor
  }
}
# Only these start ranks and know how they find each other.
function may_include_bootstrap(layer) {
  return layer ~ /^(src\/(bootstrap|job|programs)|tools|tests)$/
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
  if (height(from) < 0) bad(from " has no height: name it in tests/layers_test.sh")
  else if (from == to) next
  else if (height(to) >= height(from) || height(to) < 0) bad(from " must not include " path)
  else if (to == "src/bootstrap" && !may_include_bootstrap(from)) bad(from " must not include " path)
}
END {
  exit violations ? 4 : 0
}' $files
