"""Reads .jsonl results files and arranges their rows as lines of a plot."""

import json
import math
import os
import re
from dataclasses import dataclass, field, replace

SCHEMA = 2
LIBRARIES = {"gloo": "Gloo", "nccl": "NCCL", "mpi-openmpi": "Open MPI", "mpi-mpich": "MPICH", "mpi-abi": "MPI"}
ROW_FIELDS = ("datatype", "op", "root", "group", "pair", "placement")


class BadInput(Exception):
    """What the user gave cannot be plotted. The text is one line."""


@dataclass
class Run:
    """One run of a program: its header and its rows, one row for each size and placement."""

    header: dict
    source: str  # the file's name without folder and suffix
    rows: list = field(default_factory=list)
    fits: list = field(default_factory=list)  # of the footer
    label: str = ""
    named: bool = False  # the user chose the label


@dataclass
class Cell:
    """One measured time. Seconds and 1e9 bytes per second; None if the file holds no value."""

    size: int
    time: float
    low: float | None
    high: float | None
    busbw: float | None
    precise: bool
    confidence: float | None
    efficiency: float | None = None
    rank_load: float | None = None  # of the busiest rank over the mean, of routed tokens
    stamps: list = field(default_factory=list)  # seconds of a call, in order (--raw)
    rank_stamps: list = field(default_factory=list)  # a list of each rank
    calls_per_stamp: int = 1

    def busbw_at(self, seconds):
        """Returns the bandwidth that this cell would have if it took `seconds`."""
        return self.busbw * self.time / seconds


@dataclass
class Line:
    """One line of a plot. cells[size] has one cell for each pass (cycle, or run) over that size."""

    run: Run
    details: dict
    name: str = ""  # the same for both placements
    cells: dict = field(default_factory=dict)
    passes_of: dict = field(default_factory=dict)  # the same, of the rows of single passes
    fit: dict | None = None  # of the footer, with segments or a refusal; None: the footer has none
    label: str = ""  # the name, and the placement if the plot has both

    @property
    def in_place(self):
        return self.details["placement"] == "in place"

    def passes(self):
        return max(len(cells) for cells in self.cells.values())

    def points(self):
        """Returns the cell of the median time for each size, in the order of sizes."""
        middle = lambda cells: sorted(cells, key=lambda c: c.time)[(len(cells) - 1) // 2]
        return [middle(self.cells[size]) for size in sorted(self.cells)]


def read(path):
    """Returns the runs of a file. Skips the last line if its end is missing."""
    try:
        with open(path, "rb") as file:
            lines = file.read().split(b"\n")
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}") from None
    ours = lines[0].startswith(b'{"type"')
    if not ours and b'"nccl_version"' in b"".join(lines[:1000])[:65536]:
        raise BadInput(
            f"{path}: nccl-tests' format, one JSON document without intervals; expected a file of -J FILE.jsonl"
        )
    runs = []
    for number, text in enumerate(lines, start=1):
        if not text.strip():
            continue
        try:
            line = json.loads(text)
        except ValueError:
            if number == len(lines) and runs:
                break  # the run ended while it wrote this line
            raise BadInput(f"{path}:{number}: not JSON lines; expected a file of -J FILE.jsonl") from None
        kind = line.get("type") if isinstance(line, dict) else None
        if kind == "header":
            if line.get("schema_version") != SCHEMA:
                raise BadInput(
                    f"{path}:{number}: schema version {line.get('schema_version')};"
                    f" this script reads {SCHEMA}"
                )
            if not isinstance(line.get("header"), dict):
                raise BadInput(f"{path}:{number}: a header without the fields of a run")
            runs.append(Run(line["header"], os.path.basename(path).removesuffix(".jsonl")))
        elif not runs or kind is None:
            raise BadInput(f"{path}:{number}: no header of a run; expected a file of -J FILE.jsonl")
        elif kind == "row":
            runs[-1].rows.append(line)
        elif kind == "footer":
            runs[-1].fits = (line.get("footer") or {}).get("fits") or []
    if not runs:
        raise BadInput(f"{path}: holds no run")
    return runs


def library(header):
    """Returns the name and version of the library under test: 'Open MPI 4.1.4'."""
    backend = header.get("backend") or "?"
    version = header.get("library_version") or ""
    number = re.search(r"\d+\.\d[\w.~+-]*", version)
    name = LIBRARIES.get(backend, backend)
    for known in ("Open MPI", "MPICH"):
        if version.startswith(known):
            name = known
    return f"{name} {number.group() if number else version[:20]}".strip()


def name_runs(runs, labels):
    """Gives each run its label: of `labels`, of --label of the run, or its library's name."""
    if labels is not None and len(labels) != len(runs):
        count = "1 run" if len(runs) == 1 else f"{len(runs)} runs"
        raise BadInput(f"--labels: {len(labels)} given for {count}; give as many")
    for index, run in enumerate(runs):
        notes = [n.get("text") or "" for n in run.header.get("notes") or [] if isinstance(n, dict)]
        kept = next((n for n in notes if n.startswith("label: ")), "")
        kept = kept.removeprefix("label: ").strip("'\"")
        run.label = labels[index] if labels else kept or library(run.header)
        run.named = bool(labels)


def words(name, value):
    """Returns how a plot says that field `name` is `value`."""
    if name == "placement":
        return str(value).replace("_", " ")
    if value is None or value == "none":
        return ""
    if name == "ranks":
        return f"{value} rank{'' if value == 1 else 's'}"
    return f"{name} {value}" if name in ("root", "group", "pair") else str(value)


def number(value):
    """Returns a finite positive number, or None."""
    good = isinstance(value, (int, float)) and not isinstance(value, bool)
    return value if good and 0 < value < math.inf else None


def is_wrong(row):
    """Returns whether the row's results were wrong: its time is of something else."""
    return bool(row.get("wrong") or row.get("failed_ranks"))


def first_placement(runs):
    """Returns out_of_place, or in_place if no run has another (-O 0)."""
    found = {row.get("placement") for run in runs for row in run.rows}
    return "in_place" if found == {"in_place"} else "out_of_place"


def lines_of(runs, placement, wanted, merge):
    """Returns the lines of a plot.

    placement: out_of_place, in_place or both. wanted: pairs of a field of rows and its value.
    merge: lines of the same label become one line with several passes, and rows of single passes
    (--passes of the run) stand instead of the row that stands for them.
    """
    lines = {}
    for index, run in enumerate(runs):
        for row in run.rows:
            if is_wrong(row) or placement not in ("both", row.get("placement")):
                continue
            if any(str(row.get(name)) != value for name, value in wanted):
                continue
            size, time = number(row.get("size_bytes")), number(row.get("time_s"))
            if size is None or time is None:
                continue
            values = {name: row.get(name) for name in ("program", "ranks") + ROW_FIELDS}
            details = {name: words(name, value) for name, value in values.items()}
            key = (index, *details.values())
            if key not in lines:
                lines[key] = Line(run, details)
                lines[key].fit = fit_of(run, row)
            cell = Cell(
                size,
                time,
                number(row.get("time_low_s")),
                number(row.get("time_high_s")),
                number(row.get("busbw_gb_per_s")),
                row.get("precision_reached") is not False,
                number(row.get("confidence")),
                number(row.get("efficiency")),
                number(row.get("rank_load")),
                *raw(row),
            )
            single = row.get("pass") is not None
            cells = lines[key].passes_of if single else lines[key].cells
            cells.setdefault(size, []).append(cell)
    if not lines:
        raise BadInput("the files hold no row with a size and a time that was asked for")
    for line in lines.values():
        for size, cells in line.passes_of.items():
            if merge or size not in line.cells:
                line.cells[size] = cells
    return tell_apart(list(lines.values()), merge)


def by_load(lines):
    """Returns a line for each size, whose cells stand at the load of the busiest rank, not at sizes."""
    found = {}
    for line in lines:
        for cell in line.points():
            if cell.rank_load and not line.in_place:
                of_size = found.setdefault(cell.size, Line(line.run, line.details))
                of_size.cells.setdefault(cell.rank_load, []).append(replace(cell, size=cell.rank_load))
    for size, line in found.items():
        line.name = line.label = size_text(size)
    return [found[size] for size in sorted(found)]


def raw(row):
    """Returns every stamp, the stamps of each rank, and the calls of a stamp."""
    stamps = row.get("stamps_s") or []
    ranks = row.get("rank_stamps_s") or []
    each = [ranks[i:i + len(stamps)] for i in range(0, len(ranks), len(stamps) or 1)]
    return stamps, each, row.get("calls_per_stamp") or 1


def fit_of(run, row):
    """Returns what the footer says of the row's sweep: a fit with segments or why there is none, or None."""
    same = ("datatype", "op", "root", "placement")
    return next((f for f in run.fits if all(f.get(name) == row.get(name) for name in same)), None)


def no_fit(lines):
    """Returns why no line has a fit: of the first line of which the file says it."""
    said = next((line for line in lines if line.fit and line.fit.get("refusal")), None)
    if said is None:
        return "no fit in the files; a run of four sizes or more, up to its end, has one"
    reason = f"no fit: {said.fit['refusal']}"
    left_out, sizes = said.fit.get("left_out") or 0, len(said.cells)
    if left_out:
        reason += f"; {left_out} of {sizes} times are not precise enough for one"
    return reason


def joined(parts):
    """Returns the parts that are not empty, with commas between them."""
    return ", ".join(part for part in parts if part)


def common(lines, name):
    """Returns the text of a detail that all lines share, or None if lines differ."""
    found = {line.details[name] for line in lines}
    return found.pop() if len(found) == 1 else None


def tell_apart(lines, merge):
    """Names the lines by what differs between them.

    merge: True makes one line of those with equal labels; False adds the file or a number.
    """
    differ = [name for name in lines[0].details if common(lines, name) is None]
    for line in lines:
        shown = [n for n in differ if n in ROW_FIELDS or not line.run.named]
        line.name = joined(line.details[n] for n in shown if n != "placement")
    owners = {}  # of a name: the runs that have it
    short = len({line.run.label for line in lines}) == 1 and all(line.name for line in lines)
    for line in lines:
        if not short:
            line.name = joined((line.run.label, line.name))
        owners.setdefault(line.name, []).append(line.run)
    for line in lines:
        same = list({id(run): run for run in owners[line.name]}.values())
        if len(same) > 1 and not merge:
            sources = {run.source for run in same}
            turn = next(i for i, run in enumerate(same, start=1) if run is line.run)
            line.name += f" ({line.run.source if len(sources) == len(same) else turn})"
        line.label = line.name
        if "placement" in differ:
            line.label += ", " + line.details["placement"]
    if not merge:
        return lines
    merged = {}
    for line in lines:
        first = merged.setdefault(line.label, line)
        if first is not line:
            for size, cells in line.cells.items():
                first.cells.setdefault(size, []).extend(cells)
    return list(merged.values())


def title(lines):
    """Returns the title of a plot and what all its lines have in common."""
    programs = sorted({line.details["program"] for line in lines})
    first = [", ".join(programs[:3]) + (", ..." if len(programs) > 3 else "")]
    labels = {line.run.label for line in lines}
    named = all(line.name.startswith(line.run.label) for line in lines)
    second = [labels.pop() if len(labels) == 1 and not named else None]
    second += [common(lines, name) for name in ROW_FIELDS]
    return joined(first + [common(lines, "ranks")]), joined(second)


def size_text(size):
    """Returns '8 B', '4 KiB'."""
    for unit in ("B", "KiB", "MiB", "GiB", "TiB", "PiB"):
        if size < 1024 or unit == "PiB":
            return f"{size:g} {unit}"
        size /= 1024
