"""Draws the matrix of slowdowns of a file of mesh_perf: victims as rows, what runs beside them as columns."""

import json
import math

from plots.results import BadInput, LIBRARIES


def read(path):
    """Returns the header, the times alone and the slowdowns of the last run of a file."""
    try:
        with open(path, encoding="utf-8") as file:
            lines = [json.loads(text) for text in file if text.strip()]
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}") from None
    except ValueError:
        raise BadInput(f"{path}: not JSON lines; expected a file of mesh_perf -J") from None
    lines = [line for line in lines if isinstance(line, dict)]
    starts = [k for k, line in enumerate(lines) if line.get("type") == "mesh_header"]
    if not starts:
        raise BadInput(f"{path}: holds no run of mesh_perf")
    run = lines[starts[-1]:]
    kind = lambda name: [line for line in run if line.get("type") == name]
    if not kind("mesh_slowdown") and not kind("mesh_alone"):
        raise BadInput(f"{path}: the run was ended before its matrix was written")
    return run[0], kind("mesh_alone"), kind("mesh_slowdown")


def time_text(alone):
    """Returns the time alone with half the width of its interval."""
    time = alone["time_s"]
    if time is None:
        return "N/A alone"
    microseconds = time["value"] * 1e6
    text = f"{microseconds / 1e3:.3g} ms" if microseconds >= 1e3 else f"{microseconds:.3g} us"
    return f"{text} ±{100 * (time['high'] - time['low']) / 2 / time['value']:.1f} %"


def cells_of(patterns, slowdowns):
    """Returns {(row, column): slowdown}; the last column is beside all others, if they are several."""
    cells = {}
    for line in slowdowns:
        beside, row = line["beside"], patterns.index(line["victim"])
        column = patterns.index(beside[0]) if len(beside) == 1 else len(patterns)
        cells[row, column] = line["ratio"]
    return cells


def draw(path, output, size):
    """Writes the picture of a file's last run."""
    from plots import picture

    header, alone, slowdowns = read(path)
    patterns = [pattern["name"] for pattern in header["patterns"]]
    times = {line["victim"]: time_text(line) for line in alone}
    cells = cells_of(patterns, slowdowns)
    columns = len(patterns) + (1 if len(patterns) > 2 else 0)
    most = max([4.0] + [ratio["value"] for ratio in cells.values() if ratio])
    grid = [[math.nan] * columns for _ in patterns]
    for (row, column), ratio in cells.items():
        if ratio:
            grid[row][column] = math.log2(max(ratio["value"], 2 ** -0.2))
    width, height = size
    figure, axes = picture.plt.subplots(figsize=(width / picture.DPI, height / picture.DPI), facecolor="white")
    longest = max(map(len, patterns + list(times.values())))
    figure.subplots_adjust(left=(20 + 5.4 * longest) / width, right=0.985, top=1 - 78 / height, bottom=0.03)
    colours = picture.plt.get_cmap("YlOrRd").copy()
    colours.set_bad("#f1f3f4")
    axes.imshow(grid, cmap=colours, vmin=0, vmax=math.log2(most) * 1.15, aspect="auto")
    for row in range(len(patterns)):
        for column in range(columns):
            ratio = cells.get((row, column))
            if row == column:
                continue
            if not ratio:
                axes.text(column, row, "N/A", ha="center", va="center", color=picture.PALE)
                continue
            ink = "white" if math.log2(ratio["value"]) > 0.72 * math.log2(most) * 1.15 else picture.INK
            axes.text(column, row - 0.09, f"{ratio['value']:.2f}", ha="center", va="center", color=ink,
                      fontsize=11)
            axes.text(column, row + 0.2, f"{ratio['low']:.2f} to {ratio['high']:.2f}", ha="center",
                      va="center", color=ink, fontsize=7)
    axes.set_xticks(range(columns), (patterns + ["all others"])[:columns])
    axes.set_yticks(range(len(patterns)), [f"{name}\n{times.get(name, '')}" for name in patterns])
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.grid(False)
    for k in range(1, max(columns, len(patterns))):
        if k < columns:
            axes.axvline(k - 0.5, color="white", linewidth=2)
        if k < len(patterns):
            axes.axhline(k - 0.5, color="white", linewidth=2)
    for spine in axes.spines.values():
        spine.set_visible(False)
    library = LIBRARIES.get(header["backend"], header["backend"])
    figure.text(14 / width, 1 - 16 / height, "how many times as long a pattern takes beside another (95 % interval)",
                fontsize=9.5, va="center")
    figure.text(14 / width, 1 - 34 / height, f"{library}, mesh {header['mesh']} ({header['order']}), {header['ranks']} ranks on "
                f"{header['hosts']} host{'' if header['hosts'] == 1 else 's'}; rows: victims; columns: what runs beside them",
                color=picture.PALE, va="center")
    metadata = {"Date": None, "Creator": None} if output.endswith(".svg") else {}
    figure.savefig(output, dpi=72 if output.endswith(".svg") else 2 * picture.DPI, metadata=metadata)
