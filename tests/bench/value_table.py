#!/usr/bin/env python3
"""What each library makes of every value: all_reduce, reduce and reduce_scatter of wide and special
data (--data), as a table of libraries, types and operations, and as rows in values.jsonl.

A library is a command, in which P stands for the program and N for the number of ranks. Without
--launch: Gloo with each arithmetic, the MPIs that are installed, and NCCL on a machine with a GPU.

Exit codes: 0 all right, 7 wrong results, 4 a run failed, 2 usage.
"""

import argparse
import collections
import itertools
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

TYPES = ["half", "bfloat16", "float", "double", "f8e4m3", "f8e5m2"]
PROGRAMS = ["all_reduce", "reduce", "reduce_scatter"]
KINDS = ["wide", "special"]


def installed(build):
    modules = sorted(path.stem[4:] for path in (build / "lib/ccl-tests").glob("ccl-*.so"))
    for module in modules:
        if module.split("-")[0] == "gloo":
            yield f"P --np N --backend {module}"
            for arithmetic in ("gloo", "suite"):
                yield f"P --np N --backend {module} --backend-option reduce={arithmetic}"
    if "mpi-openmpi" in modules and shutil.which("mpirun.openmpi"):
        yield "mpirun.openmpi -n N P --backend mpi"
    if "mpi-mpich" in modules and shutil.which("mpirun.mpich"):
        yield "mpirun.mpich -n N P --backend mpi"
    if "nccl" in modules and shutil.which("nvidia-smi"):
        gpus = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True).stdout
        if gpus.startswith("GPU"):
            yield "P --np N --share-gpus --backend nccl"


def library_name(header):
    noise = r"\(R\)| Library| Version:| for Linux\* OS|\bv(?=\d)"
    name = re.sub(noise, "", header["library_version"])
    family = header["backend"].split("-")[0]
    if family != "mpi":
        name = f"{ {'gloo': 'Gloo', 'nccl': 'NCCL'}.get(family, family)} {name}"
    chosen = [word for word in header["arguments"] if word.startswith("reduce=")]
    return ", ".join([" ".join(name.split()), *chosen])


def measure(launch, program, ranks, kind, options):
    """Returns a record of each type and operation, the exit code, and the last line of errors."""
    words = shlex.split(launch)
    tool = str(options.build / "bin" / f"{program}_perf")
    command = [{"P": tool, "N": str(ranks)}.get(word, word) for word in words]
    with tempfile.TemporaryDirectory() as folder:
        rows = pathlib.Path(folder) / "rows.jsonl"
        command += ["--data", kind, "-d", options.types, "-o", options.ops, "--sizes", options.size]
        command += ["-n", "1", "-c", "all", "-J", str(rows)]
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        lines = [json.loads(line) for line in rows.open()] if rows.exists() else []
    headers = [line["header"] for line in lines if line["type"] == "header"]
    records = {}
    for row in (line for line in lines if line["type"] == "row"):
        record = records.setdefault((row["datatype"], row["op"]), {
            "library": library_name(headers[0]), "program": program, "ranks": ranks,
            "data_kind": row["data_kind"], "datatype": row["datatype"], "op": row["op"],
            "arithmetic": row.get("arithmetic"), "size_bytes": row["size_bytes"],
            "verified_calls": 0, "wrong": 0, "explanations": [], "observed": []})
        record["verified_calls"] += row["verified_calls"]
        record["wrong"] += row["wrong"] or 0
        record["explanations"] += [m["explanation"] for m in row["mismatches"] or []]
        if row.get("observed") and row["observed"] not in record["observed"]:
            record["observed"].append(row["observed"])
    return list(records.values()), done.returncode, (done.stderr.strip().splitlines() or [""])[-1]


def finding(record):
    """Words, and whether they say that something is wrong."""
    if record["wrong"]:
        kinds = [re.sub(r"^expected \S+, found [^:;]+[:;]? ?|;? ?confirmed on the host", "", text)
                 for text in record["explanations"]]
        return "WRONG: " + ("; ".join(sorted({k for k in kinds if k})) or "other elements")
    if not record["verified_calls"]:
        return "not verified"
    return "; ".join(record["observed"]) or "right"


def cell(records):
    """One text for all programs and numbers of ranks. What only some found names them."""
    found = collections.defaultdict(list)
    for record in records:
        found[finding(record)].append((record["program"], record["ranks"]))
    texts = []
    for text, runs in sorted(found.items(), key=lambda item: -len(item[1])):
        programs = [p for p in PROGRAMS if p in {run[0] for run in runs}]
        where = [", ".join(f"{n}" for q, n in runs if q == p) for p in programs]
        if len(found) == 1:
            texts.append(text)
        elif len(set(where)) == 1:
            texts.append(f"{text} ({', '.join(programs)}: {where[0]} ranks)")
        else:
            of_each = "; ".join(f"{p}: {w} ranks" for p, w in zip(programs, where))
            texts.append(f"{text} ({of_each})")
    return "<br>".join(texts)


def table(records, kind):
    cells = collections.defaultdict(list)
    for record in records:
        if record["data_kind"] == kind:
            cells[record["library"], record["op"], record["datatype"]].append(record)
    types = list(dict.fromkeys(key[2] for key in cells))
    lines = [f"| library | operation | {' | '.join(types)} |", "|" + " --- |" * (len(types) + 2)]
    for library in dict.fromkeys(key[0] for key in cells):
        ops = dict.fromkeys(key[1] for key in cells if key[0] == library)
        alike = collections.defaultdict(list)  # operations with the same cells share a line
        for op in ops:
            alike[" | ".join(cell(cells[library, op, t]) or "-" for t in types)].append(op)
        lines += [f"| {library} | {', '.join(group)} | {text} |" for text, group in alike.items()]
    return "\n".join(lines)


def write(folder, records, failed):
    with open(folder / "values.jsonl", "w") as file:
        file.writelines(json.dumps(record) + "\n" for record in records)
    sections = [f"## {kind}\n\n{table(records, kind)}\n" for kind in KINDS]
    if failed:
        sections.append("## Runs that failed\n\n" + "".join(f"- {line}\n" for line in failed))
    (folder / "table.md").write_text("\n".join(sections))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="where table.md and values.jsonl go")
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--launch", action="append", metavar="COMMAND",
                        help='a library, for example "mpirun -n N P --backend mpi"; several times')
    parser.add_argument("--programs", default=",".join(PROGRAMS), help="[all three]")
    parser.add_argument("--ranks", default="2,3,4", help="[2,3,4]")
    parser.add_argument("--size", default="64K", help="bytes of a row [64K]")
    parser.add_argument("--types", default=",".join(TYPES), help="[all floating-point types]")
    parser.add_argument("--ops", default="all", help="[all]")
    options = parser.parse_args()
    options.build = options.build.resolve()
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                      OMPI_MCA_rmaps_base_oversubscribe="1",
                      PRTE_MCA_rmaps_default_mapping_policy=":oversubscribe")
    options.folder.mkdir(parents=True, exist_ok=True)
    records, failed = [], []
    for launch in options.launch or installed(options.build):
        for program, ranks, kind in itertools.product(
            options.programs.split(","), options.ranks.split(","), KINDS
        ):
            run = re.sub(r"\bPATH=(\S*?/bin)\S*", r"PATH=\1", launch)
            run += f": {program}, {ranks} ranks, {kind}"
            print(f"value_table: {run}", file=sys.stderr)
            rows, code, error = measure(launch, program, int(ranks), kind, options)
            records += rows
            if code not in (0, 7) or not rows:
                failed.append(f"{run}: exit {code}: {error}")
            write(options.folder, records, failed)
    sys.stderr.writelines(f"value_table: {line}\n" for line in failed)
    return 4 if failed else 7 if any(record["wrong"] for record in records) else 0


if __name__ == "__main__":
    sys.exit(main())
