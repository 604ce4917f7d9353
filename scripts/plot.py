#!/usr/bin/env python3
"""Plots results files of the programs (-J FILE.jsonl). docs/OUTPUT.md has examples.

Exit codes: 0 done, 2 a file or an option is not accepted, 3 matplotlib is missing.
"""

import argparse
import sys

from plots import results, terminal


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise results.BadInput(f"{message}; see --help")


def pixels(text):
    width, _, height = text.partition("x")
    if not (width.isdigit() and height.isdigit() and int(width) >= 360 and int(height) >= 240):
        raise argparse.ArgumentTypeError(f"'{text}' is not WIDTHxHEIGHT of at least 360x240 pixels")
    return int(width), int(height)


def condition(text):
    name, separator, value = text.partition("=")
    if not separator or not name:
        raise argparse.ArgumentTypeError(f"'{text}' is not FIELD=VALUE")
    return name, value


def options(arguments):
    parser = Parser(
        prog="plot.py",
        description="Plots time and bus bandwidth against size, one line for each run.",
        epilog="exit codes: 0 done, 2 a file or an option is not accepted, 3 matplotlib is missing",
    )
    add = parser.add_argument
    add("files", nargs="+", metavar="FILE", help="results of -J FILE.jsonl; may hold several runs")
    add("-o", "--output", metavar="FILE", help="write a picture: .svg or .png")
    add("--terminal", action="store_true", help="print a plot of busbw as text")
    add("--kind", default="both", choices=("both", "time", "busbw", "passes", "model", "efficiency",
                                           "load", "series", "distribution", "ranks",
                                           "slowdown"),
        help="what to plot; passes: the spread of each row over cycles and runs; model: times and"
             " their fit; efficiency: of runs with --ceiling; load: of moe programs, against the"
             " busiest rank's load; of runs with --raw, for one size:"
             " series: every stamp in its order; distribution: of stamps; ranks: every rank's"
             " stamps as colours; slowdown: the matrix of a file of mesh_perf [both]")
    add("--placement", choices=("out_of_place", "in_place", "both"),
        help="which columns to plot [out_of_place; of runs with -O 0 in_place]")
    add("--labels", metavar="A,B", help="names of the runs, in the order of the files")
    add("--where", metavar="FIELD=VALUE", type=condition, action="append", default=[],
        help="plot only rows with this value, such as datatype=float; repeatable")
    add("--size", metavar="WxH", type=pixels, default=(720, 360),
        help="size of the picture in pixels; PNG has twice as many [720x360]")
    o = parser.parse_args(arguments)
    if not o.output and not o.terminal:
        parser.error("nothing to do: give -o FILE or --terminal")
    if o.output and not o.output.endswith((".svg", ".png")):
        parser.error(f"-o {o.output}: the suffix is neither .svg nor .png")
    if o.terminal and o.kind not in ("both", "busbw"):
        parser.error(f"--terminal plots busbw, not --kind {o.kind}")
    return o


def draw_with(output, draw):
    """Calls draw(), which needs matplotlib and writes `output`. Returns the exit code."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        print(
            f"plot.py: {sys.executable} has no matplotlib: install it with 'apt-get install"
            " python3-matplotlib' (for /usr/bin/python3) or 'pip install matplotlib'",
            file=sys.stderr,
        )
        return 3
    try:
        draw()
    except OSError as error:
        raise results.BadInput(f"{output}: {error.strerror}") from None
    return 0


def draw_slowdowns(o):
    if len(o.files) != 1:
        raise results.BadInput(f"--kind slowdown: {len(o.files)} files; give one, of mesh_perf -J")
    from plots import mesh

    return draw_with(o.output, lambda: mesh.draw(o.files[0], o.output, o.size))


def main(arguments):
    o = options(arguments)
    if o.kind == "slowdown":
        return draw_slowdowns(o)
    runs = [run for path in o.files for run in results.read(path)]
    results.name_runs(runs, o.labels.split(",") if o.labels else None)
    for run in runs:
        wrong = sum(map(results.is_wrong, run.rows))
        if wrong:
            print(f"plot.py: {run.source}: times with wrong data are not drawn: {wrong}", file=sys.stderr)
    of_stamps = o.kind in ("series", "distribution", "ranks")
    lines = results.lines_of(
        runs, o.placement or results.first_placement(runs), o.where,
        merge=o.kind == "passes" or of_stamps)
    if len(lines) > 24:
        raise results.BadInput(f"{len(lines)} lines are too many for one plot; choose with --where")
    if o.terminal:
        print(terminal.plot(lines))
    if not o.output:
        return 0

    def draw():
        from plots import picture, stamps

        (stamps if of_stamps else picture).draw(lines, o.kind, o.output, o.size)

    return draw_with(o.output, draw)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except results.BadInput as error:
        print(f"plot.py: {error}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(4)
