#!/usr/bin/env python3
"""How much later moments and other runs differ: moments.py RUN.jsonl...

RUN.jsonl: results of several runs of one sweep with --passes N (N > 1). For each size: the standard
deviation, in percent, that a time's own stamps give it, and that of times in place and out of place
in the same pass, in the next one, in the last one, and in other runs (medians of absolute values,
scaled as for a normal distribution; what the two placements differ by is taken away)."""

import itertools
import json
import math
import statistics
import sys


def read(path):
    """{(bytes, placement): {pass: row}} of one run."""
    times = {}
    with open(path) as file:
        for line in file:
            row = json.loads(line)
            if row.get("pass"):
                times.setdefault((row["size_bytes"], row["placement"]), {})[row["pass"]] = row
    return times


def deviation(ratios):
    """Of one time, in percent, from logarithms of ratios of two."""
    middle = statistics.median(ratios)
    return 100 * 1.4826 * statistics.median(abs(r - middle) for r in ratios) / math.sqrt(2)


def ratio(run, other, size, first, later):
    return math.log(other[size, "in_place"][later]["time_s"] / run[size, "out_of_place"][first]["time_s"])


def main(paths):
    runs = [read(path) for path in paths]
    sizes = sorted({size for run in runs for size, _ in run})
    passes = min(len(times) for run in runs for times in run.values())
    if len(runs) < 2 or passes < 2:
        sys.exit("moments.py: needs at least 2 runs of at least 2 passes")
    print(f"{len(runs)} runs of {passes} passes; standard deviation of one time in %")
    print(f"{'bytes':>10} {'stamps':>8} {'pass':>8} {'next':>8} {'last':>8} {'other runs':>11}")
    for size in sizes:
        own = [
            100 * (row["time_high_s"] - row["time_low_s"]) / 2 / 1.96 / row["time_s"]
            for run in runs
            for row in run[size, "in_place"].values()
        ]
        numbers = range(1, passes + 1)
        print(
            f"{size:>10} {statistics.median(own):>8.2f} "
            f"{deviation([ratio(r, r, size, p, p) for r in runs for p in numbers]):>8.2f} "
            f"{deviation([ratio(r, r, size, p, p + 1) for r in runs for p in numbers[:-1]]):>8.2f} "
            f"{deviation([ratio(r, r, size, 1, passes) for r in runs]):>8.2f} "
            f"{deviation([ratio(a, b, size, 1, 1) for a, b in itertools.permutations(runs, 2)]):>11.2f}"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
