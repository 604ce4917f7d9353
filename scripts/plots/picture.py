"""Draws PNG and SVG pictures with matplotlib."""

import itertools
import logging
import math

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot as plt  # noqa: E402
from matplotlib.lines import Line2D  # noqa: E402
from matplotlib.ticker import FixedFormatter, FixedLocator, MaxNLocator, NullLocator  # noqa: E402

from plots.results import BadInput, by_load, joined, no_fit, number, size_text, title  # noqa: E402
from plots.terminal import cut, decades  # noqa: E402

# Okabe and Ito's colours, which colour-blind people can tell apart, without the yellow that a white
# ground swallows; each with a marker of its own.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
INK, PALE, GRID = "#1a1a1a", "#5f6368", "#e4e6e8"
DPI = 96  # one pixel of a browser

# The names are in the order of preference; SVG leaves the choice to the reader's machine.
logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
plt.rcParams.update({
    "font.family": ["DejaVu Sans", "Verdana", "sans-serif"],
    "font.size": 8,
    "text.color": INK,
    "axes.edgecolor": "#9aa0a6",
    "axes.labelcolor": PALE,
    "axes.titlesize": 8.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "xtick.color": "#9aa0a6",
    "ytick.color": "#9aa0a6",
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "svg.fonttype": "none",
    "svg.hashsalt": "plot.py",
})


class Style:
    """How each line looks. In place, a line has the colour that it has out of place, and dashes."""

    def __init__(self, lines):
        self.both = {line.in_place for line in lines} == {True, False}
        self.number = {}
        for line in lines:
            self.number.setdefault(line.name, len(self.number))

    def __call__(self, line):
        number = self.number[line.name]
        turn = number // len(COLOURS)
        dashes = "--" if self.both and line.in_place else ("-", ":", "-.")[turn % 3]
        return {
            "color": COLOURS[number % len(COLOURS)],
            "marker": MARKERS[(number + turn) % len(MARKERS)],
            "linestyle": dashes,
        }


numbers = itertools.count(1)  # of groups of hollow points: names in an SVG are unique


def dots(axes, style, points, size=4.2):
    """Draws points (x, y, precise): full if precise, hollow if not."""
    for precise in (True, False):
        chosen = [(x, y) for x, y, p in points if p is precise]
        if chosen:
            axes.plot(
                *zip(*chosen), linestyle="", marker=style["marker"], markersize=size, zorder=3,
                color=style["color"], markerfacecolor=style["color"] if precise else "white",
                markeredgewidth=1, gid=None if precise else f"not-precise-{next(numbers)}",
            )


def against_size(axes, lines, style, value, bounds):
    """Draws value(cell) of all lines, and the intervals bounds(cell) as bands."""
    for line in lines:
        points = [c for c in line.points() if value(c)]
        if not points:
            continue
        look, sizes = style(line), [c.size for c in points]
        known = [c for c in points if c.low and c.high]
        if known:
            ends = [bounds(c) if c in known else (math.nan, math.nan) for c in points]
            axes.fill_between(sizes, *zip(*ends), color=look["color"], alpha=0.22, linewidth=0,
                              zorder=1.5)
            axes.vlines([c.size for c in known], *zip(*map(bounds, known)), color=look["color"],
                        alpha=0.45, linewidth=1, zorder=1.6)
        axes.plot(sizes, [value(c) for c in points], color=look["color"],
                  linestyle=look["linestyle"], linewidth=1.4, zorder=2)
        dots(axes, look, [(c.size, value(c), c.precise) for c in points])


def model(axes, lines, style):
    """Draws the times of all lines, and their fits as lines that end with their segments."""
    for line in lines:
        look = style(line)
        points = [(c.size, c.time * 1e6, c.precise) for c in line.points() if c.time]
        dots(axes, look, points)
        for segment in line.fit["segments"] if line.fit else ():
            first, last = segment["first_bytes"], segment["last_bytes"]
            sizes = [first * (last / first) ** (k / 60) for k in range(61)]
            times = [segment["alpha_s"] + segment["beta_s_per_byte"] * s for s in sizes]
            axes.plot(sizes, [t * 1e6 for t in times], color=look["color"], linewidth=1.4, zorder=2)
        above = {time["bytes"] for time in line.fit["above"]} if line.fit else set()
        for size, time, _ in points:
            if size in above:
                axes.annotate("stands out", (size, time), xytext=(0, 7), fontsize=7, color=PALE,
                              textcoords="offset points", ha="center")


def passes(axes, lines, style):
    """Draws every pass over each size as its time divided by the median of the passes."""
    sizes = sorted({size for line in lines for size in line.cells})
    gaps = [math.log2(right / left) for left, right in zip(sizes, sizes[1:])]
    step = min([0.16] + [0.7 * gap / len(lines) for gap in gaps])
    for index, line in enumerate(lines):
        look = style(line)
        shift = 2 ** (step * (index - (len(lines) - 1) / 2))  # side by side
        points = []
        for cell in line.points():
            of_size = line.cells[cell.size]
            if len(of_size) == 1:
                continue
            ratios = [c.time / cell.time for c in of_size]
            axes.plot([cell.size * shift] * 2, [min(ratios), max(ratios)], color=look["color"],
                      linestyle=look["linestyle"], linewidth=1.2, alpha=0.5, zorder=2)
            points += [(cell.size * shift, r, c.precise) for r, c in zip(ratios, of_size)]
        dots(axes, look, points, size=3.4)
    axes.axhline(1, color="#9aa0a6", linewidth=0.8, zorder=1)


def scale(axes, width):
    """Makes both axes logarithmic, with marks that can be read at this width in pixels."""
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.tick_params(which="both", length=3)
    left, right = axes.dataLim.intervalx
    low, high = axes.dataLim.intervaly
    if not (left > 0 and low > 0 and math.isfinite(left + right + low + high)):
        axes.text(0.5, 0.5, "no values", transform=axes.transAxes, ha="center", color=PALE)
        axes.set(xticks=[], yticks=[])
        return
    pad = max((right / left) ** 0.03, 2**0.25)
    axes.set_xlim(left / pad, right * pad)
    exponents = range(math.ceil(math.log2(left / pad)), math.floor(math.log2(right * pad)) + 1)
    step = max(1, math.ceil(len(exponents) / max(2, width // 48)))
    axes.xaxis.set_major_locator(FixedLocator([2.0**e for e in exponents[::step]]))
    axes.xaxis.set_major_formatter(FixedFormatter([size_text(2**e) for e in exponents[::step]]))
    axes.xaxis.set_minor_locator(NullLocator())

    pad = max((high / low) ** 0.05, 1.02)
    axes.set_ylim(low / pad, high * pad)
    mark(axes.yaxis, low / pad, high * pad)


def mark(axis, low, high):
    """Gives a logarithmic axis from low to high marks that can be read."""
    ticks = decades(low, high)
    if len(ticks) < 3:
        ticks = MaxNLocator(5, steps=[1, 2, 5, 10]).tick_values(low, high)
        ticks = [t for t in ticks if low <= t <= high]
    ticks = ticks[:: math.ceil(len(ticks) / 8)]
    axis.set_major_locator(FixedLocator(ticks))
    axis.set_major_formatter(FixedFormatter([tick_text(t) for t in ticks]))
    axis.set_minor_locator(NullLocator())


def tick_text(value):
    if 1e-4 <= value < 1e6:
        return f"{value:.4f}".rstrip("0").rstrip(".") if value < 1 else f"{value:.6g}"
    return f"$10^{{{round(math.log10(value))}}}$"


def plain(text):
    """Returns text that matplotlib draws as it stands, without formulas and hidden names."""
    return (" " if text.startswith("_") else "") + text.replace("$", r"\$")


def legend(figure, lines, style, top, width):
    """Draws the legend in as few rows as fit, and returns its height in pixels."""
    renderer = figure.canvas.get_renderer()
    first = {line.name: line for line in reversed(lines)}  # of both placements, out of place
    entries = [line for line in lines if first[line.name] is line]
    handles = [Line2D([], [], linewidth=1.4, markersize=4.2, **style(line)) for line in entries]
    names = [plain(cut(line.name, width // 8)) for line in entries]
    for columns in range(min(len(names), 6), 0, -1):
        box = figure.legend(
            handles, names, ncols=columns, loc="upper left", bbox_to_anchor=(8 / width, top),
            frameon=False, borderpad=0, borderaxespad=0, handlelength=2.4, columnspacing=1.6,
            labelspacing=0.35, fontsize=8,
        )
        extent = box.get_window_extent(renderer)
        if extent.width <= width - 16 or columns == 1:
            return extent.height
        box.remove()


def caption(lines, kind):
    """Says what bands and hollow points mean, if there are any."""
    cells = [c for line in lines for of_size in line.cells.values() for c in of_size]
    parts = ["dashes: in place"] if {line.in_place for line in lines} == {True, False} else []
    if kind == "passes":
        counts = {len(c) for line in lines for c in line.cells.values()}
        most = max(counts)
        parts.append(f"each point: one of {'' if counts == {most} else 'up to '}{most} passes")
    else:
        share = next((c.confidence for c in cells if c.confidence and c.low and c.high), None)
        if share:
            parts.append(f"bands: {share * 100:g} % intervals")
        if any(line.passes() > 1 for line in lines):
            parts.append("several passes: the one of the median time")
    if kind == "model":
        parts = [part for part in parts if not part.startswith("bands")]
        parts.insert(0, "lines: alpha + size / bandwidth, in segments")
    if not all(c.precise for c in cells):
        goals = {line.run.header.get("precision") for line in lines}
        goal = number(goals.pop()) if len(goals) == 1 else None
        wider = f"interval wider than \u00b1{goal * 100:g} %" if goal else "not precise"
        parts.append(f"hollow points: {wider}")
    return "; ".join(parts)


class Canvas:
    """A picture with a title, a legend if named, and panels side by side; a long legend adds height."""

    def __init__(self, lines, size, panels, below, note="", named=True):
        width, height = size
        self.figure = plt.figure(figsize=(width / DPI, height / DPI), dpi=DPI, facecolor="white")
        self.style = Style(lines)
        self.title, second = map(plain, title(lines))
        second = joined((second, note))
        self.figure.text(8 / width, 1 - 8 / height, self.title, va="top", fontsize=11,
                         fontweight="bold")
        self.figure.text(8 / width, 1 - 28 / height, second, va="top", color=PALE)
        top = 47 if second else 32
        top += (legend(self.figure, lines, self.style, 1 - top / height, width) if named else 0) + 27
        if height < top + 200:  # the legend has taken the panels' place
            plt.close(self.figure)
            self.__init__(lines, (width, math.ceil(top + 200)), panels, below, note, named)
            return
        self.figure.text(1 - 8 / width, 8 / height, below, ha="right", va="bottom", color=PALE,
                         fontsize=7)
        self.axes = self.figure.subplots(1, panels, squeeze=False)[0]
        self.panel_width = (width - 90) / panels
        self.figure.subplots_adjust(left=52 / width, right=1 - 18 / width, top=1 - top / height,
                                    bottom=52 / height, wspace=0.2)

    def save(self, path):
        metadata = {"Title": self.title}
        if path.endswith(".svg"):  # the same data give the same file
            metadata |= {"Date": None, "Creator": None}
        self.figure.savefig(path, dpi=2 * DPI if path.endswith(".png") else 72, metadata=metadata)
        plt.close(self.figure)


def draw(lines, kind, path, size):
    """Writes the picture of times or bandwidths against size. size: pixels of a browser."""
    if kind == "passes":
        lines = [line for line in lines if line.passes() > 1]
        if not lines:
            raise BadInput("--kind passes: one pass only; give a run with --passes or -N, or several runs")
    if kind == "model" and not any(line.fit and line.fit["segments"] for line in lines):
        raise BadInput(f"--kind model: {no_fit(lines)}")
    if kind == "efficiency" and not any(c.efficiency for line in lines for c in line.points()):
        raise BadInput("--kind efficiency: no efficiency in the files; give a run with --ceiling")
    if kind == "load":
        lines = by_load(lines)
        if not any(len(line.cells) > 1 for line in lines):
            raise BadInput("--kind load: one load only; give runs of moe_dispatch_perf or"
                           " moe_combine_perf with several --routing")
    panels = {
        "time": ("time (us)", lambda c: c.time * 1e6, lambda c: (c.low * 1e6, c.high * 1e6)),
        "busbw": ("bus bandwidth (GB/s)", lambda c: c.busbw,
                  lambda c: (c.busbw_at(c.high), c.busbw_at(c.low))),
    }
    panels["efficiency"] = (
        "lower bound of the time / time (%)", lambda c: c.efficiency and c.efficiency * 100,
        lambda c: (c.efficiency * 100 * c.time / c.high, c.efficiency * 100 * c.time / c.low))
    wanted = ("time", "busbw") if kind == "both" else (kind,)
    canvas = Canvas(lines, size, len(wanted), caption(lines, kind))
    for axis, name in zip(canvas.axes, wanted):
        if name == "passes":
            passes(axis, lines, canvas.style)
            axis.set_title("time of each pass / median of the passes", loc="left", pad=7)
        elif name == "model":
            model(axis, lines, canvas.style)
            axis.set_title("time (us), and its fit", loc="left", pad=7)
        elif name == "load":
            against_size(axis, lines, canvas.style, *panels["time"][1:])
            axis.set_title("time (us), by size", loc="left", pad=7)
            axis.set_yscale("log")
            low, high = axis.get_ylim()
            mark(axis.yaxis, low, high)
            axis.set_xlabel("(token, expert) pairs of the busiest rank / mean", labelpad=2)
            continue
        else:
            heading, value, bounds = panels[name]
            against_size(axis, lines, canvas.style, value, bounds)
            axis.set_title(heading, loc="left", pad=7)
        scale(axis, canvas.panel_width)
        axis.set_xlabel("size", labelpad=2)
    canvas.save(path)
