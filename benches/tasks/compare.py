#!/usr/bin/env python3
"""Ways to bound a search of asynchronous programs, compared: executions and states for each bound, and what a bound on delays costs.

With --search, the sequential program for K delays is verified beside the direct search with the scheduler dfs and at most K delays: whole
commands.

Needs target/release/tepui. Programs of others come from the directory that TEPUI_CORPUS names (by default ../shared/corpus), if
it is there.

usage: benches/tasks/compare.py [--svg FOLDER] [--search] [--limit SECONDS] [PROGRAM ...]
"""

import argparse
import glob
import json
import math
import os
import re
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
TEPUI = os.environ.get("TEPUI", os.path.join(ROOT, "target", "release", "tepui"))
COLOURS = ["#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b"]
BOUND = 6


def segments(tasks, each):
    """So many tasks, each of which yields one time less than it has segments."""
    body = "skip; " + "yield; skip; " * (each - 1)
    return f"void t() {{ {body}}}\nvoid main() {{ {'post t(); ' * tasks}}}\n"


def counted(path, what, bound, scheduler="rr"):
    command = [TEPUI, "explore", path, "--bounding", what, "--bound", str(bound), "--scheduler", scheduler]
    command += ["--format", "json", "--timeout", "10s"]
    text = subprocess.run(command, capture_output=True, text=True).stdout
    return json.loads(text)[0]


def draw(lines, path, horizontal, vertical):
    """Lines over a bound, on a logarithmic scale: names, points, whether they are dashed."""
    width, height, left, bottom, right = 660, 360, 70, 50, 190
    xs = [point[0] for _, points, _ in lines for point in points]
    ys = [point[1] for _, points, _ in lines for point in points]
    top = math.ceil(math.log10(max(ys)))

    def x(value):
        return left + (value - min(xs)) / (max(xs) - min(xs)) * (width - left - right)

    def y(value):
        return height - bottom - math.log10(value) / top * (height - bottom - 20)

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">']
    for value in range(min(xs), max(xs) + 1):
        parts.append(f'<text x="{x(value):.1f}" y="{height - bottom + 18}" text-anchor="middle">{value}</text>')
    for power in range(0, top + 1, max(1, top // 6)):
        at = y(10**power)
        parts.append(f'<line x1="{left}" y1="{at:.1f}" x2="{width - right}" y2="{at:.1f}" stroke="#ddd"/>')
        label = f"{10**power:,}" if power < 7 else f"10^{power}"
        parts.append(f'<text x="{left - 8}" y="{at + 4:.1f}" text-anchor="end">{label}</text>')
    parts.append(f'<text x="{(left + width - right) / 2}" y="{height - 10}" text-anchor="middle">{horizontal}</text>')
    parts.append(f'<text x="14" y="{height / 2}" transform="rotate(-90 14 {height / 2})" text-anchor="middle">{vertical}</text>')
    for number, (name, points, dashed) in enumerate(lines):
        colour = COLOURS[number % len(COLOURS)]
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        text = " ".join(f"{x(bound):.1f},{y(value):.1f}" for bound, value in points)
        parts.append(f'<polyline points="{text}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>')
        at = 34 + 20 * number
        parts.append(f'<line x1="{width - right + 14}" y1="{at - 4}" x2="{width - right + 38}" y2="{at - 4}" stroke="{colour}" stroke-width="2"{dash}/>')
        parts.append(f'<text x="{width - right + 44}" y="{at}">{name}</text>')
    parts.append("</svg>")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(parts) + "\n")


def points(found):
    return [(row["bound"], row["executions"]) for row in found["rows"] if row["executions"] > 0]


def plots(folder, scratch):
    """Executions of tasks of four segments: ways to bound them, and delays beside what they may cost at most."""
    path = os.path.join(scratch, "segments.bp")
    lines = []
    for tasks, dashed in [(3, True), (5, False)]:
        with open(path, "w", encoding="utf-8") as file:
            file.write(segments(tasks, 4))
        for what in ("delays", "preemptions", "contexts"):
            lines.append((f"{what}, {tasks} tasks", points(counted(path, what, BOUND)), dashed))
    draw(lines, os.path.join(folder, "tasks-bounds.svg"), "bound", "executions")
    lines = []
    for tasks, dashed in [(3, True), (6, False)]:
        with open(path, "w", encoding="utf-8") as file:
            file.write(segments(tasks, 4))
        dispatches = 4 * tasks
        lines.append((f"{tasks} tasks", points(counted(path, "delays", BOUND)), dashed))
        most = [(bound, math.comb(dispatches + bound, bound)) for bound in range(BOUND + 1)]
        lines.append((f"binom({dispatches} + K, K)", most, dashed))
    draw(lines, os.path.join(folder, "tasks-delays.svg"), "delays K", "schedules")


def of_others(names):
    """Programs of this project and of others, without those whose order is prescribed."""
    corpus = os.environ.get("TEPUI_CORPUS", os.path.join(ROOT, "..", "shared", "corpus"))
    paths = sorted(glob.glob(os.path.join(ROOT, "examples", "*.bp"))) + sorted(glob.glob(os.path.join(corpus, "async", "bp", "*.bp")))
    for path in paths:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        name = os.path.basename(path)[:-3]
        posts = re.search(r"^[^/\n]*\bpost \w+\(", text, re.MULTILINE)
        if posts and "tasks fifo" not in text and "tasks lifo" not in text and (not names or name in names):
            yield name, path


def number(executions, found):
    """So many, or at least so many, where executions were cut off, or it took too long."""
    text = f"{executions:,.0f}" if executions < 1e9 else f"{executions:.1e}"
    return text if found["finished"] and not found["cut"] else f"≥ {text}"


def least(found):
    """The smallest bound at which something is violated, and the executions within it."""
    bounds = [one["bound"] for one in found["violated"]]
    if not bounds:
        last = found["rows"][-1]
        return f"- | {number(last['executions'], found)}"
    return f"{min(bounds)} | {number(found['rows'][min(bounds)]['executions'], found)}"


def table(names):
    print("| program | delays (rr) | executions | preemptions | executions | contexts | executions |")
    print("| --- |" + " ---: |" * 6)
    for name, path in of_others(names):
        cells = " | ".join(least(counted(path, what, BOUND)) for what in ("delays", "preemptions", "contexts"))
        print(f"| {name} | {cells} |", flush=True)


def timed(command, limit):
    start = time.perf_counter()
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return "not finished", ""
    seconds = time.perf_counter() - start
    report = json.loads(ran.stdout)
    return f"{seconds:.2f}", f"{report['states']:,}"


def searches(names, limit, scratch):
    print("| program | K | sequential: s | states | direct: s | states | any order: s |")
    print("| --- |" + " ---: |" * 6)
    for name, path in of_others(names):
        for delays in (0, 1, 2):
            made = os.path.join(scratch, "sequential.bp")
            ran = subprocess.run([TEPUI, "sequentialize", path, "--delays", str(delays), "-o", made], capture_output=True)
            if ran.returncode:
                continue
            sequential = timed([TEPUI, "verify", made, "--format", "json", "--threads", "1"], limit)
            bounds = ["--tasks", "8", "--delays", str(delays), "--engine", "dispatch", "--scheduler", "dfs"]
            direct = timed([TEPUI, "explore", path, *bounds, "--format", "json", "--threads", "1"], limit)
            every = timed([TEPUI, "verify", path, "--format", "json", "--threads", "1"], limit)
            print(f"| {name} | {delays} | {' | '.join(sequential)} | {' | '.join(direct)} | {every[0]} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--svg", metavar="FOLDER", help="draw plots into this folder")
    parser.add_argument("--search", action="store_true", help="compare sequential programs with the direct search")
    parser.add_argument("--limit", type=float, default=20, help="seconds that a search may take")
    parser.add_argument("names", nargs="*", help="programs, by default all")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        if args.svg:
            plots(args.svg, scratch)
        elif args.search:
            searches(args.names, args.limit, scratch)
        else:
            table(args.names)


if __name__ == "__main__":
    main()
