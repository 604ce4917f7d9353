"""Draws the stamps of one size (--raw): in their order, as a distribution, or of each rank."""

import statistics

from plots.picture import PALE, Canvas, mark, plain
from plots.results import BadInput, joined, number, size_text

KINDS = ("series", "distribution", "ranks")


def chosen_cells(lines, kind):
    """Returns [(line, its cells with stamps)] of the one size that the lines have."""
    have = "rank_stamps" if kind == "ranks" else "stamps"
    found = []
    for line in lines:
        for size, cells in sorted(line.cells.items()):
            cells = [cell for cell in cells if getattr(cell, have)]
            if cells:
                found.append((line, size, cells))
    if not found:
        raise BadInput(f"--kind {kind}: no stamps in the files; give a run with --raw")
    sizes = sorted({size for _, size, _ in found})
    if len(sizes) > 1:
        some = ", ".join(map(str, sizes[:4])) + (", ..." if len(sizes) > 4 else "")
        raise BadInput(f"--kind {kind}: stamps of {len(sizes)} sizes ({some});"
                       f" choose one with --where size_bytes={sizes[0]}")
    if kind == "ranks" and (len(found) > 1 or len(found[0][2]) > 1):
        raise BadInput("--kind ranks: more than one row; choose with --where, such as pass=1")
    return [(line, cells) for line, _, cells in found]


def times_on(axis, scale, limits, rows):
    """Makes an axis of times logarithmic if single stamps take many times what most do."""
    times = [stamp * 1e6 for _, cells in rows for cell in cells for stamp in cell.stamps]
    low, high = min(times) * 0.95, max(times) * 1.05
    if low > 0 and high > 5 * low:
        scale("log")
        limits(low, high)
        mark(axis, low, high)


def series(axes, rows, style):
    """Draws every stamp at the time it was taken, as far as calls were timed; passes follow each other."""
    for line, cells in rows:
        look, start = style(line), 0.0
        for cell in cells:
            moments, times = [], []
            for stamp in cell.stamps:
                start += stamp * cell.calls_per_stamp
                moments.append(start * 1e3)
                times.append(stamp * 1e6)
            axes.plot(moments, times, linestyle="", marker=".", markersize=2.5, alpha=0.6,
                      color=look["color"], zorder=2)
            if cell.low and cell.high:
                axes.fill_between([moments[0], moments[-1]], cell.low * 1e6, cell.high * 1e6,
                                  color=look["color"], alpha=0.3, linewidth=0, zorder=2.5)
            axes.plot([moments[0], moments[-1]], [cell.time * 1e6] * 2, color=look["color"],
                      linestyle=look["linestyle"], linewidth=1.4, zorder=3)
    times_on(axes.yaxis, axes.set_yscale, axes.set_ylim, rows)
    axes.set_xlabel("timed so far (ms)", labelpad=2)
    axes.set_title("time of a call (us)", loc="left", pad=7)


def distribution(axes, rows, style):
    """Draws the share of stamps that are no longer than a time, and marks the time of the row."""
    for line, cells in rows:
        look = style(line)
        times = sorted(stamp * 1e6 for cell in cells for stamp in cell.stamps)
        shares = [100 * (i + 1) / len(times) for i in range(len(times))]
        axes.plot(times, shares, drawstyle="steps-post", color=look["color"],
                  linestyle=look["linestyle"], linewidth=1.4, zorder=2)
        for share in (10, 50):
            axes.plot(times[(len(times) - 1) * share // 100], share, marker=look["marker"],
                      markersize=4.2, color=look["color"], zorder=3)
    axes.set_ylim(0, 100)
    times_on(axes.xaxis, axes.set_xscale, axes.set_xlim, rows)
    axes.set_xlabel("time of a call (us)", labelpad=2)
    axes.set_title("stamps that are no longer (%)", loc="left", pad=7)


def ranks(axes, rows, _style):
    """Draws what each rank took for each stamp, over the median of all, as colours."""
    cell = rows[0][1][0]
    middle = statistics.median(value for rank in cell.rank_stamps for value in rank)
    image = axes.imshow([[value / middle for value in rank] for rank in cell.rank_stamps],
                        aspect="auto", interpolation="nearest", cmap="cividis", vmin=0.5, vmax=2)
    axes.grid(False)
    for axis in (axes.xaxis, axes.yaxis):
        axis.get_major_locator().set_params(integer=True)
    axes.set_xlabel("readings of the clock, in their order", labelpad=2)
    axes.set_title("rank", loc="left", pad=7)
    bar = axes.figure.colorbar(image, ax=axes, pad=0.02, extend="both")
    bar.outline.set_visible(False)
    bar.set_label("time / median", color=PALE)


def caption(rows, kind):
    if kind == "ranks":
        return ""
    dashes = "dashes: in place; " if {line.in_place for line, _ in rows} == {True, False} else ""
    if kind == "distribution":
        return f"{dashes}marked: the 10th percentile and the median"
    share = next((number(c.confidence) for _, cells in rows for c in cells if c.low and c.high), None)
    band = f"; bands: {share * 100:g} % intervals" if share else ""
    return f"{dashes}lines: the time of the row{band}"


def draw(lines, kind, path, size):
    """Writes the picture. size: pixels of a browser."""
    rows = chosen_cells(lines, kind)
    of_size = size_text(next(iter(rows[0][1])).size)
    named = kind != "ranks"  # lines that a legend names; colours of one row have none
    note = of_size if named else joined((plain(rows[0][0].name), of_size))
    canvas = Canvas([line for line, _ in rows], size, 1, caption(rows, kind), note, named)
    {"series": series, "distribution": distribution, "ranks": ranks}[kind](
        canvas.axes[0], rows, canvas.style)
    canvas.axes[0].tick_params(which="both", length=3)
    canvas.save(path)
