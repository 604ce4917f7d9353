#!/usr/bin/env bash
# busbw of every program on 3 and 4 hosts with links of 1 Gbit/s, 16 MiB, over Gloo and Open MPI: RUNS runs, one Markdown row a
# program, medians over runs of the out-of-place and the in-place cell; every cell goes to stderr. Needs root and nothing else running.
# Usage: wire_table.sh BUILD_FOLDER [RUNS]
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../system/lib.sh"
. "$here/../system/cluster_lib.sh"
runs=${2:-3}
common=(-b 16M -e 16M -n 3 -w 1 -a 3 -J "$work/row.jsonl")
first=()
chrt --rr 1 true 2>/dev/null && first=(chrt --rr 1)

for hosts in 3 4; do
  cluster_up $hosts 1gbit
  for program in "${programs[@]}"; do
    [ "$program" = barrier ] && continue
    runs_on "$program" "$hosts" || continue
    for ((k = 0; k < runs; k++)); do
      rm -f "$work/row.jsonl"
      run_on_hosts 0 "$program" "${first[@]}" "$bin/${program}_perf" --backend gloo --interface eth0 "${common[@]}" >>"$work/log"
      sed "s/^/$hosts gloo $program /" "$work/row.jsonl" >>"$work/rows"
      rm -f "$work/row.jsonl"
      run 0 "$program" "$cluster" mpirun -n $hosts "$bin/${program}_perf" --backend mpi "${common[@]}" >>"$work/log"
      sed "s/^/$hosts mpi $program /" "$work/row.jsonl" >>"$work/rows"
    done
  done
  "$cluster" down
done
python3 - "$work/rows" <<'PY'
import collections, json, statistics, sys
cells = collections.defaultdict(list)
for line in open(sys.argv[1]):
    hosts, backend, program, text = line.split(" ", 3)
    row = json.loads(text)
    if row["type"] == "row":
        for half in ("out_of_place", "in_place"):
            cells[program, backend, hosts, half].append(row[half]["busbw_gb_per_s"])
columns = [(backend, hosts) for backend in ("gloo", "mpi") for hosts in ("3", "4")]
print("| program | " + " | ".join(f"{backend}, {hosts} hosts" for backend, hosts in columns) + " |")
print("| --- " * 5 + "|")
for program in dict.fromkeys(key[0] for key in cells):
    texts = []
    for column in columns:
        halves = [cells[(program, *column, half)] for half in ("out_of_place", "in_place")]
        for values in halves:
            print(program, *column, *(f"{v:.4f}" for v in values), file=sys.stderr)
        texts.append(" / ".join(f"{statistics.median(v):.4f}" for v in halves if v) or "-")
    print(f"| {program} | " + " | ".join(texts) + " |")
PY
[ "$failures" -eq 0 ] || { grep -A15 FAIL "$work/log" >&2; exit 1; }
