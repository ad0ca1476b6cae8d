#!/usr/bin/env python3
"""How the cost of a step grows with the number of states: the programs of table.py, without partial-order reduction.

Prints, for each program with at least 10,000 states, the time for each step and the memory for each state at the peak of
the whole command, its certificate and the check of that included. Time is that of the processor, on one core.

usage: benches/spin/growth.py [--limit SECONDS] [--runs N] [--svg FILE] [NAME ...]
"""

import argparse
import math
import tempfile

from table import programs, tepui

FEWEST = 10_000
COLOURS = ["#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2"]


def draw(families, path):
    """Lines over states and microseconds for each step, both axes logarithmic."""
    width, height, left, bottom = 640, 360, 60, 50
    states = [point[0] for points in families.values() for point in points]
    x_low, x_high = math.floor(math.log10(min(states))), math.ceil(math.log10(max(states)))
    y_low, y_high = -1, 1

    def x(value):
        return left + (math.log10(value) - x_low) / (x_high - x_low) * (width - left - 130)

    def y(value):
        return height - bottom - (math.log10(value) - y_low) / (y_high - y_low) * (height - bottom - 20)

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">']
    for power in range(x_low, x_high + 1):
        at = x(10**power)
        parts.append(f'<line x1="{at:.1f}" y1="20" x2="{at:.1f}" y2="{height - bottom}" stroke="#ddd"/>')
        parts.append(f'<text x="{at:.1f}" y="{height - bottom + 18}" text-anchor="middle">{10**power:,}</text>')
    for value in (0.1, 0.3, 1, 3, 10):
        at = y(value)
        parts.append(f'<line x1="{left}" y1="{at:.1f}" x2="{width - 130}" y2="{at:.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="{left - 8}" y="{at + 4:.1f}" text-anchor="end">{value}</text>')
    parts.append(f'<text x="{(left + width - 130) / 2}" y="{height - 10}" text-anchor="middle">states</text>')
    parts.append(f'<text x="14" y="{height / 2}" transform="rotate(-90 14 {height / 2})" text-anchor="middle">microseconds for each step</text>')
    for colour, (family, points) in zip(COLOURS, families.items()):
        line = " ".join(f"{x(states):.1f},{y(time):.1f}" for states, time in points)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for states, time in points:
            parts.append(f'<circle cx="{x(states):.1f}" cy="{y(time):.1f}" r="3" fill="{colour}"/>')
    for number, (colour, family) in enumerate(zip(COLOURS, families)):
        at = 40 + 20 * number
        parts.append(f'<circle cx="{width - 110}" cy="{at - 4}" r="4" fill="{colour}"/>')
        parts.append(f'<text x="{width - 100}" y="{at}">{family}</text>')
    parts.append("</svg>")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(parts) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--limit", type=float, default=60, help="seconds that a run may take")
    parser.add_argument("--runs", type=int, default=2, help="of which the fastest counts; one over 5 s is not repeated")
    parser.add_argument("--svg", help="draw the time for each step to this file")
    parser.add_argument("names", nargs="*", help="programs or families, by default all")
    args = parser.parse_args()
    families = {}
    print("| program | states | steps | seconds | microseconds for each step | bytes for each state |")
    print("| --- |" + " ---: |" * 5)
    with tempfile.TemporaryDirectory() as directory:
        stopped = set()
        for name, ours, _ in programs(directory):
            family = name.split("-")[0]
            if "-" not in name or family in stopped or (args.names and not {name, family} & set(args.names)):
                continue
            run = tepui(ours, ["--no-partial-order"], args.limit, args.runs)
            if run is None:
                # Larger ones would not be finished either.
                stopped.add(family)
            elif run["states"] >= FEWEST:
                step = run["processor"] / run["steps"] * 1e6
                families.setdefault(family, []).append((run["states"], step))
                share = run["bytes"] / run["states"]
                seconds = run["processor"]
                print(f"| {name} | {run['states']:,} | {run['steps']:,} | {seconds:.2f} | {step:.2f} | {share:.0f} |", flush=True)
    for family, points in families.items():
        times = [time for _, time in points]
        print(f"{family}: {max(times) / min(times):.1f} times from the cheapest to the dearest step")
    if args.svg:
        draw(families, args.svg)


if __name__ == "__main__":
    main()
