#!/usr/bin/env python3
"""Prints recorded and replayed calls side by side: side_by_side.py TRACES OUTPUTS NAME et|fr RANKS

TRACES has NAME.et|fr.RANK.json, OUTPUTS what ccl_replay printed: NAME.et|fr.LIBRARY.txt. The traces are counted
here, by another reader than ccl_replay's.
"""
import collections
import json
import math
import re
import sys

WIDTH = {"Float": 4, "Long": 8, "Int": 4, "Byte": 1}
TYPE = {"Float": "float", "Long": "int64", "Int": "int32", "Byte": "uint8"}
LIBRARIES = ["gloo", "openmpi", "mpich"]


def recorded_by_recorder(trace):
    for entry in trace["entries"]:
        sizes = [sum(math.prod(s) for s in entry[side]) for side in ("input_sizes", "output_sizes")]
        yield entry["profiling_name"].split(":")[1], entry["process_group"][0], max(sizes), entry["output_dtypes"][0]


def recorded_by_observer(trace):
    for node in trace["nodes"]:
        if not node["name"].startswith("c10d::"):
            continue
        shapes = json.dumps(node["inputs"]["shapes"][:2])
        tensors = [math.prod(map(int, s.split(","))) for s in re.findall(r"\[([\d, ]+)\]", shapes)]
        two = "gather" in node["name"] or "scatter" in node["name"]
        size = sum(tensors) - min(tensors) if two else tensors[0]
        dtype = re.search(r"Tensor\((\w+)", node["inputs"]["types"][0]).group(1)
        yield node["name"][6:], "0", size, {"float": "Float", "long": "Long", "int": "Int"}[dtype]


def recorded(folder, name, form, ranks):
    """Calls of all groups: {(call, bytes, type): number}, and the members of each group."""
    calls, members = collections.Counter(), collections.defaultdict(list)
    for rank in range(ranks):
        with open(f"{folder}/{name}.{form}.{rank}.json", encoding="utf-8") as file:
            trace = json.load(file)
        mine = list((recorded_by_recorder if form == "fr" else recorded_by_observer)(trace))
        for group in {one[1] for one in mine}:
            members[group].append(rank)
        for call, group, size, dtype in mine:
            if members[group][0] == rank:
                calls[call, group, size * WIDTH[dtype], TYPE[dtype]] += 1
    total = collections.Counter()
    for (call, group, size, dtype), number in calls.items():
        plain = call.replace("_", "").replace("base", "")
        known = {"allreduce": "all_reduce", "allgather": "all_gather", "reducescatter": "reduce_scatter"}
        total[known.get(plain, plain), len(members[group]), size, dtype] += number
    return total


def replayed(path):
    rows = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if line.startswith("  ") and len(words) == 9:
                rows[words[0], int(words[1]), int(words[3]), words[4]] = int(words[2])
    return rows


def main():
    folder, outputs, name, form, ranks = sys.argv[1:]
    told = recorded(folder, name, form, int(ranks))
    here = {library: replayed(f"{outputs}/{name}.{form}.{library}.txt") for library in LIBRARIES}
    print("| call | ranks | bytes | type | recorded |" + "".join(f" {x} |" for x in LIBRARIES))
    print("| --- | ---: | ---: | --- | ---: |" + " ---: |" * len(LIBRARIES))
    same = True
    for key in sorted(set(told).union(*here.values())):
        cells = [here[library].get(key, 0) for library in LIBRARIES]
        same = same and all(number == told[key] for number in cells)
        call, group, size, dtype = key
        print(f"| {call} | {group} | {size} | {dtype} | {told[key]} |" + "".join(f" {n} |" for n in cells))
    print(f"\n{'The same calls' if same else 'NOT the same calls'} are recorded and replayed.")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
