#!/usr/bin/env python3
"""Tepui beside SPIN on programs of growing size: whole commands, states, and peak memory.

Tepui runs closure on one core, with and without partial-order reduction, and ends with a certificate that its checker
has accepted. SPIN's verifier runs with its default reduction, and with a search stack that is large enough; generating and
compiling it is not counted. A run that is not finished after the limit says so.

Needs spin and gcc (Debian packages of these names) and target/release/tepui. Four families come from the directory that
TEPUI_CORPUS names (by default ../shared/corpus), if it is there.

usage: benches/spin/table.py [--limit SECONDS] [--runs N] [--json FILE] [NAME ...]
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time

from families import OWN

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
TEPUI = os.environ.get("TEPUI", os.path.join(ROOT, "target", "release", "tepui"))
WRITTEN = ["dekker", "peterson3", "driver4", "readers"]


def measured(command, directory, limit, runs):
    """The fastest of some runs: seconds, peak memory in bytes, seconds of the processor, and what was printed; nothing, if the
    limit was reached."""
    best = None
    for _ in range(runs):
        start = time.perf_counter()
        with tempfile.TemporaryFile("w+") as out:
            process = subprocess.Popen(command, cwd=directory, stdout=out, stderr=subprocess.DEVNULL)
            status = None
            while status is None:
                pid, code, usage = os.wait4(process.pid, os.WNOHANG)
                if pid:
                    status = code
                elif time.perf_counter() - start > limit:
                    process.kill()
                    os.wait4(process.pid, 0)
                    return None
                else:
                    time.sleep(0.0005)
            seconds = time.perf_counter() - start
            out.seek(0)
            if best is None or seconds < best[0]:
                best = (seconds, usage.ru_maxrss * 1024, usage.ru_utime + usage.ru_stime, out.read())
        if seconds > 5:
            break
    return best


def pan(source, directory, limit, runs):
    subprocess.run(["spin", "-a", source], cwd=directory, check=True, stdout=subprocess.DEVNULL)
    flags = ["-O2", "-w", "-DSAFETY", "-DVECTORSZ=4096", "-o", "pan", "pan.c"]
    subprocess.run(["gcc"] + flags, cwd=directory, check=True)
    depth = 1_000_000
    while True:
        # pan looks for deadlocks unless it is told not to; some of the programs end, or wait for ever.
        found = measured(["./pan", "-E", f"-m{depth}"], directory, limit, runs)
        if found is None:
            return None
        seconds, memory, _, text = found
        if "max search depth too small" not in text:
            break
        depth *= 4
    if "errors: 0" not in text:
        sys.exit(f"pan on {source}:\n{text}")
    return {"states": int(re.search(r"(\d+) states, stored", text).group(1)), "seconds": seconds, "bytes": memory}


def tepui(source, options, limit, runs):
    command = [TEPUI, "verify", source, "--engine", "closure", "--threads", "1", "--format", "json"] + options
    found = measured(command, ROOT, limit, runs)
    if found is None:
        return None
    seconds, memory, processor, text = found
    report = json.loads(text)
    if report["verdict"] != "safe":
        sys.exit(f"tepui on {source}:\n{text}")
    times = {"seconds": seconds, "processor": processor}
    return {"states": report["states"], "steps": report["steps"], "bytes": memory} | times


def programs(directory):
    """Names, programs for Tepui and programs for SPIN."""
    for name in WRITTEN:
        yield name, os.path.join(HERE, name + ".bp"), os.path.join(HERE, name + ".pml")
    for family, (write, sizes) in OWN.items():
        for size in sizes:
            paths = [os.path.join(directory, f"{family}-{size}.{ending}") for ending in ("bp", "pml")]
            for path, text in zip(paths, write(size)):
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
            yield f"{family}-{size}", *paths
    corpus = os.environ.get("TEPUI_CORPUS", os.path.join(ROOT, "..", "shared", "corpus"))
    make = os.path.join(corpus, "families", "make.py")
    if os.path.exists(make):
        folder = os.path.join(directory, "families")
        os.makedirs(folder)
        subprocess.run([sys.executable, make, folder], check=True, stdout=subprocess.DEVNULL)
        names = {file.rsplit(".", 1)[0] for file in os.listdir(folder) if file.endswith(".bp")}
        for name in sorted(names, key=lambda name: (name.split("-")[0], int(name.split("-")[1]))):
            yield name, os.path.join(folder, name + ".bp"), os.path.join(folder, name + ".pml")


def cells(run):
    if run is None:
        return "not finished | | "
    return f"{run['states']:,} | {run['seconds']:.2f} | {run['bytes'] / 2**20:,.0f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--limit", type=float, default=60, help="seconds that a run may take")
    parser.add_argument("--runs", type=int, default=3, help="of which the fastest counts; one over 5 s is not repeated")
    parser.add_argument("--json", help="write what was measured to this file")
    parser.add_argument("names", nargs="*", help="programs or families, by default all")
    args = parser.parse_args()
    rows = []
    print("| program | pan: states | s | MiB | Tepui: states | s | MiB | without reduction: states | s | MiB |")
    print("| --- |" + " ---: |" * 9)
    with tempfile.TemporaryDirectory() as directory:
        for name, ours, theirs in programs(directory):
            if args.names and not {name, name.split("-")[0]} & set(args.names):
                continue
            with tempfile.TemporaryDirectory() as scratch:
                spin = pan(theirs, scratch, args.limit, args.runs)
            reduced = tepui(ours, [], args.limit, args.runs)
            full = tepui(ours, ["--no-partial-order"], args.limit, args.runs)
            rows.append({"program": name, "pan": spin, "tepui": reduced, "without_reduction": full})
            print(f"| {name} | {cells(spin)} | {cells(reduced)} | {cells(full)} |", flush=True)
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
