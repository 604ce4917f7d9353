#!/usr/bin/env python3
"""Ends cells on recorded stamps by several rules: tests/bench/stopping_replay.py RUN.jsonl...

Record with: all_reduce_perf -b 1M -e 64M --precision 0.02 --time-budget 10 --raw -J RUN.jsonl
A cell begins every 0.1 s of a recording of at least 0.32 s. For each rule and size: mean ms of timed calls
in a cell, how many cells ended within 2 %, and the 90th percentile of |time / the recording's median - 1|.
"""
import json
import math
import sys

PRECISION, SPAN_S, SLOW_CALL_S = 0.02, 0.02, 0.015
# Name: (give up if the width at the budget's end is over this many times the goal, from this share of the
# budget on, budget in seconds).
RULES = {
    "never": (math.inf, 0, 0.3), "never, 0.2 s": (math.inf, 0, 0.2), "never, 0.15 s": (math.inf, 0, 0.15),
    "2": (2, 0, 0.3), "1.5": (1.5, 0, 0.3), "1.25": (1.25, 0, 0.3),
    "2 from 1/6": (2, 1 / 6, 0.3), "1.5 from 1/6": (1.5, 1 / 6, 0.3), "1.25 from 1/6": (1.25, 1 / 6, 0.3),
    "1.5 from 1/4": (1.5, 1 / 4, 0.3),
}


def median(values):
    values = sorted(values)
    n = len(values)
    return (values[(n - 1) // 2] + values[n // 2]) / 2


def effective_size(values):
    """As src/measure/estimate.cpp, ties apart."""
    n = len(values)
    if n < 12:
        return n
    ranks = [0] * n
    for rank, i in enumerate(sorted(range(n), key=values.__getitem__)):
        ranks[i] = rank - (n - 1) / 2
    squares = sum(r * r for r in ranks)
    r = min(0.95, sum(a * b for a, b in zip(ranks, ranks[1:])) / squares + 1 / n)
    return max(1.0, n * (1 - r) / (1 + r)) if r > 0.05 else n


def half_width(values):
    """Half of the interval's width over the median; infinite without an interval."""
    n = len(values)
    share = 0.98 / math.sqrt(effective_size(values))
    low, high = math.floor(n * (0.5 - share)), math.ceil(n * (0.5 + share)) + 1
    if low < 0 or high > n + 1 or n < 6:
        return math.inf
    ordered = sorted(values)
    return (ordered[min(high, n) - 1] - ordered[max(low, 1) - 1]) / 2 / median(values)


def end_of_cell(stamps, rule):
    """Returns how many stamps a cell takes, or None if the recording is too short."""
    too_wide, from_share, budget = rule
    call = median(stamps[:5])
    least = 6 if call > SLOW_CALL_S else 20
    n = min(max(int(2e-3 / call), least), max(least, 64))
    while n <= len(stamps):
        spent = sum(stamps[:n])
        more = max(0, least - n, math.ceil((SPAN_S - spent) / call))
        if more == 0:
            width = half_width(stamps[:n])
            room = math.ceil(max(0.0, budget - spent) / call)
            expected = width * math.sqrt(spent / budget)
            hopeless = math.isfinite(width) and spent >= from_share * budget and expected > too_wide * PRECISION
            if width <= PRECISION or room == 0 or hopeless:
                return n
            ratio = width / PRECISION
            total = min(max(1.1 * n * ratio * ratio, 1.25 * n), 3 * n) if math.isfinite(ratio) else 1.5 * n
            more = min(math.ceil(total - n), room, 512)
        n += more
    return None


def recordings(paths):
    for path in paths:
        with open(path, encoding="utf-8") as lines:
            for row in map(json.loads, lines):
                if row.get("stamps_s"):
                    yield row["size_bytes"], row["stamps_s"]


def starts(stamps):
    result, at, next_s, total = [], 0.0, 0.0, sum(stamps)
    for i, stamp in enumerate(stamps):
        if at >= next_s and total - at > 0.32:
            result.append(i)
            next_s = at + 0.1
        at += stamp
    return result or [0]


def main(paths):
    recorded = list(recordings(paths))
    for name, rule in RULES.items():
        columns, total_ms = [], 0.0
        for size in sorted({size for size, _ in recorded}):
            cells = []
            for stamps in (s for of, s in recorded if of == size):
                whole = median(stamps)
                for first in starts(stamps):
                    n = end_of_cell(stamps[first:], rule)
                    if n:
                        taken = stamps[first:first + n]
                        cells.append((sum(taken), half_width(taken) <= PRECISION, abs(median(taken) / whole - 1)))
            if not cells:
                continue
            ms = 1e3 * sum(c[0] for c in cells) / len(cells)
            precise = 100 * sum(c[1] for c in cells) / len(cells)
            error = 100 * sorted(c[2] for c in cells)[int(0.9 * len(cells))]
            total_ms += 2 * ms
            columns.append(f"{size >> 20:3} MiB {ms:4.0f} ms {precise:3.0f} % {error:4.1f} %")
        print(f"{name:14} {total_ms:5.0f} ms a sweep |", " | ".join(columns))


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    main(sys.argv[1:])
