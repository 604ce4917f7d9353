"""A plot of busbw against size as text. Needs nothing but Python."""

import math
import shutil

from plots.results import BadInput, joined, size_text, title

WIDTH = 100  # columns at most
HEIGHT = 18  # lines of the area inside of the axes
MARKS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def cut(text, width):
    return text if len(text) <= width else text[: width - 3] + "..."


def decades(low, high):
    """Returns round values between low and high for the marks of an axis."""
    for factors in ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 5, 7)):
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        ticks = [f * 10.0**p for p in powers for f in factors if low <= f * 10.0**p <= high]
        if len(ticks) >= 3:
            break
    return ticks or [low]


def plot(lines):
    """Returns the plot: a letter for each line of the plot, small if a time is not precise."""
    drawn = []
    for mark, line in zip(MARKS, lines):
        cells = [c for c in line.points() if c.busbw]
        drawn.append((mark, line, [(math.log2(c.size), math.log10(c.busbw), c) for c in cells]))
    points = [p for _, _, of_line in drawn for p in of_line]
    if not points:
        raise BadInput("the files hold no bus bandwidth (one rank has none)")
    width = min(WIDTH, max(40, shutil.get_terminal_size((WIDTH, 24)).columns))
    margin = 10
    columns = width - margin - 3
    left, right = min(p[0] for p in points), max(p[0] for p in points)
    low, high = min(p[1] for p in points), max(p[1] for p in points)
    if right - left < 1:
        left, right = left - 0.5, right + 0.5
    if high - low < 0.1:
        low, high = low - 0.05, high + 0.05
    column = lambda x: round((x - left) / (right - left) * (columns - 1))
    line_of = lambda y: round((high - y) / (high - low) * (HEIGHT - 1))

    area = [[" "] * columns for _ in range(HEIGHT)]
    for mark, _, of_line in drawn:  # the way between two points
        for (x1, y1, _), (x2, y2, _) in zip(of_line, of_line[1:]):
            steps = max(1, column(x2) - column(x1))
            for i in range(steps):
                area[line_of(y1 + (y2 - y1) * i / steps)][column(x1 + (x2 - x1) * i / steps)] = "."
    shared = False
    for mark, _, of_line in drawn:
        for x, y, cell in of_line:
            place = area[line_of(y)]
            taken = place[column(x)] not in " ."
            shared |= taken
            place[column(x)] = "*" if taken else mark if cell.precise else mark.lower()

    ticks = {}
    for value in decades(10**low, 10**high):
        ticks[line_of(math.log10(value))] = f"{value:.3g}"
    text = [cut(joined(title(lines)), width), ""]
    text.append(f"{'GB/s':>{margin}}")
    for index, place in enumerate(area):
        tick = ticks.get(index, "")
        text.append(f"{tick:>{margin}} {'+' if tick else '|'}{''.join(place)}".rstrip())

    axis, names = ["-"] * columns, [" "] * (columns + 10)
    exponents = range(math.ceil(left), math.floor(right) + 1)
    step = max(1, math.ceil(len(exponents) / (columns // 9)))
    for exponent in exponents[::step]:
        name = size_text(2**exponent)
        at = column(exponent)
        start = min(max(0, at - len(name) // 2), columns - len(name))
        axis[at] = "+"
        names[start : start + len(name)] = name
    text.append(" " * (margin + 1) + "+" + "".join(axis))
    text.append((" " * (margin + 2) + "".join(names)).rstrip())
    text.append("")
    for mark, line, _ in drawn:
        text.append(cut(f"{mark}  {line.label}", width))
    if any(not p[2].precise for p in points):
        text.append("small letter: the time is not precise")
    if shared:
        text.append("*  several lines")
    return "\n".join(text)
