#!/usr/bin/env python3
"""Draws two programs' times side by side, and their ratio, from tables that both printed in turns.

Usage: beside.py --theirs FILE... --ours FILE... -o PICTURE. The files of a side are its rounds, in
order. Rows are nccl-tests' rows; their out-of-place time is drawn.
Exit codes: 0 done, 2 a file or an option is not accepted, 3 matplotlib is missing.
"""

import argparse
import os
import statistics
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from plots import results  # noqa: E402


def table(path):
    """Returns the out-of-place times of a printed table in microseconds, by size."""
    try:
        with open(path, encoding="utf-8") as file:
            rows = [line.split() for line in file if not line.startswith("#")]
        times = {int(row[0]): float(row[5]) for row in rows
                 if len(row) == 13 and row[0].isdigit()}
    except (OSError, ValueError) as error:
        raise results.BadInput(f"{path}: {error}") from None
    if not times:
        raise results.BadInput(f"{path}: holds no row of a table")
    return times


def draw(theirs, ours, path):
    """Writes the picture. theirs, ours: the times of each round, by size."""
    from plots import picture
    sizes = sorted(set.intersection(*map(set, theirs + ours)))
    if not sizes:
        raise results.BadInput("no size is in all tables")
    width, height = 720, 360
    figure, (times, ratios) = picture.plt.subplots(
        1, 2, figsize=(width / picture.DPI, height / picture.DPI), facecolor="white")
    figure.subplots_adjust(left=0.07, right=0.975, top=0.83, bottom=0.14, wspace=0.2)
    for side, name, look in ((theirs, "nccl-tests", 0), (ours, "ccl-tests", 1)):
        style = {"color": picture.COLOURS[look], "marker": picture.MARKERS[look]}
        median = [statistics.median(rounds[size] for rounds in side) for size in sizes]
        times.plot(sizes, median, label=name, linewidth=1.4, markersize=4.2, **style)
    each = [[o[size] / t[size] for t, o in zip(theirs, ours)] for size in sizes]
    for size, found in zip(sizes, each):
        ratios.plot([size] * len(found), found, "o", color=picture.COLOURS[2], alpha=0.5,
                    markersize=3.4)
    ratios.plot(sizes, [statistics.median(found) for found in each], color=picture.COLOURS[2],
                linewidth=1.4)
    ratios.axhline(1, color="#9aa0a6", linewidth=0.8, zorder=1)
    times.set_title("time (us)", loc="left", pad=7)
    ratios.set_title("ccl-tests / nccl-tests: each round, and the median", loc="left", pad=7)
    for axes in (times, ratios):
        picture.scale(axes, 290)
        axes.set_xlabel("size", labelpad=2)
    figure.legend(ncols=2, loc="upper left", bbox_to_anchor=(8 / width, 0.98), frameon=False)
    metadata = {"Date": None, "Creator": None} if path.endswith(".svg") else {}
    try:
        figure.savefig(path, dpi=72 if path.endswith(".svg") else 2 * picture.DPI, metadata=metadata)
    except (OSError, ValueError) as error:
        raise results.BadInput(f"{path}: {error}") from None


def main():
    parser = argparse.ArgumentParser(description="Draws two programs' times, and their ratio.",
                                     epilog="exit codes: 0 done, 2 a file or an option is not accepted,"
                                            " 3 matplotlib is missing")
    parser.add_argument("--theirs", nargs="+", metavar="FILE", required=True, help="nccl-tests' tables")
    parser.add_argument("--ours", nargs="+", metavar="FILE", required=True, help="as many of ours")
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="a picture: .svg or .png")
    o = parser.parse_args()
    if len(o.theirs) != len(o.ours):
        raise results.BadInput(f"{len(o.theirs)} tables of theirs and {len(o.ours)} of ours; give as many")
    draw([table(path) for path in o.theirs], [table(path) for path in o.ours], o.output)


if __name__ == "__main__":
    try:
        main()
    except results.BadInput as error:
        print(f"beside.py: {error}", file=sys.stderr)
        sys.exit(2)
    except ImportError as error:
        print(f"beside.py: {error}: install matplotlib (docs/OUTPUT.md)", file=sys.stderr)
        sys.exit(3)
