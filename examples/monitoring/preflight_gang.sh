#!/usr/bin/env bash
# Starts a program as one process of a gang of Kubernetes pods. NVSentinel's preflight checks mount
# a folder that says who belongs to the gang, and that fills as pods register: the files
# expected_count, peers (lines of "pod;ip;rank"), master_addr, and master_port [29500].
#   POD_NAME=THIS_POD preflight_gang.sh FOLDER SECONDS PROGRAM [ARGUMENT...]
# Waits until all pods are there, at most SECONDS, then runs PROGRAM with RANK, WORLD_SIZE,
# MASTER_ADDR and MASTER_PORT.
# Exit codes: PROGRAM's; 2 usage, or a file that cannot be understood; 5 a pod or a file is missing.
set -euo pipefail
export LC_ALL=C

end() { printf 'preflight_gang: %s\n' "$2" >&2; exit "$1"; }
is_whole() { [[ $1 =~ ^[0-9]{1,9}$ ]] && ((10#$1 >= $2 && 10#$1 <= $3)); } # TEXT LEAST MOST
number_of() { # FILE TEXT LEAST MOST
  is_whole "${@:2}" ||
    end 2 "$folder/$1: '$2' is not accepted; accepted: a whole number from $3 to $4"
}
text_of() { tr -d ' \t\r\n' 2>/dev/null <"$folder/$1" || true; } # FILE
(($# >= 3)) || end 2 "usage: preflight_gang.sh FOLDER SECONDS PROGRAM [ARGUMENT...]"
folder=$1 limit=$2
shift 2
is_whole "$limit" 0 999999999 || end 2 "'$limit' is not accepted; accepted: whole seconds"
[[ ${POD_NAME:-} ]] || end 2 'POD_NAME is not set; accepted: the name of this pod'

# Reads the folder, and sets `missing` to what it does not say yet.
read_folder() {
  local line ranks=' '
  missing='' rank=''
  count=$(text_of expected_count 2>/dev/null) master=$(text_of master_addr 2>/dev/null)
  [[ $count ]] || { missing='expected_count is missing'; return; }
  number_of expected_count "$count" 1 1048576
  count=$((10#$count))
  [[ $master ]] || { missing='master_addr is missing'; return; }
  while IFS= read -r line || [[ $line ]]; do
    line=${line//[[:space:]]/}
    [[ $line ]] || continue
    [[ $line == *\;*\;* ]] || end 2 "$folder/peers: '$line' is not accepted; accepted: pod;ip;rank"
    number_of peers "${line##*;}" 0 $((count - 1))
    [[ ${line%%;*} != "$POD_NAME" ]] || rank=${line##*;}
    [[ $ranks == *" ${line##*;} "* ]] || ranks+="${line##*;} "
  done < <(cat "$folder/peers" 2>/dev/null)
  line=$(wc -w <<<"$ranks")
  ((line >= count)) || missing="$line of $count pods are there"
}

said=''
read_folder
while [[ $missing ]]; do
  ((SECONDS < limit)) || end 5 "$folder after $limit s: $missing"
  [[ $missing == "$said" ]] || printf 'preflight_gang: %s: %s\n' "$folder" "$missing" >&2
  said=$missing
  sleep 1
  read_folder
done
[[ $rank ]] || end 2 "$folder/peers does not name this pod, '$POD_NAME' (POD_NAME)"
port=$(text_of master_port 2>/dev/null)
number_of master_port "${port:=29500}" 1 65535
export RANK=$rank WORLD_SIZE=$count MASTER_ADDR=$master MASTER_PORT=$port
exec "$@"
