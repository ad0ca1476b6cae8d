#!/usr/bin/env python3
"""Tepui's closure engine with one thread beside SPIN, on the same finite models.

Needs spin and gcc (Debian packages of these names) and target/release/tepui. Every command is timed as a whole, from
its start to its end; of several runs the fastest counts. Both explore without partial-order reduction, and closure without
symmetry. Tepui's command also checks the proof; the time until the search is over, which its report tells, stands beside.

usage: benches/spin/compare.py [RUNS]
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TEPUI = os.path.join(HERE, "..", "..", "target", "release", "tepui")
# The last one needs a deeper search stack than the default.
MODELS = {"dekker": [], "peterson3": [], "driver4": [], "readers": ["-m1000000"]}


def run(command, directory):
    start = time.perf_counter()
    result = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    return time.perf_counter() - start, result.stdout


def fastest(command, directory, runs):
    times = [run(command, directory) for _ in range(runs)]
    return min(seconds for seconds, _ in times), times[0][1]


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    print("| model | pan: states | seconds | states/s | closure: states | search | states/s | with the check | making pan |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for model, options in MODELS.items():
        with tempfile.TemporaryDirectory() as directory:
            source = os.path.join(HERE, model + ".pml")
            generate = run(["spin", "-a", source], directory)[0]
            compile_ = run(["gcc", "-O2", "-w", "-DSAFETY", "-DNOREDUCE", "-o", "pan", "pan.c"], directory)[0]
            pan, output = fastest(["./pan"] + options, directory, runs)
        states = int(re.search(r"(\d+) states, stored", output).group(1))
        assert "errors: 0" in output, output
        command = [TEPUI, "verify", os.path.join(HERE, model + ".bp"), "--engine", "closure", "--threads", "1"]
        command += ["--no-symmetry", "--no-partial-order", "--format", "json"]
        times = [run(command, HERE) for _ in range(runs)]
        closure = min(seconds for seconds, _ in times)
        reports = [json.loads(output) for _, output in times]
        assert all(report["verdict"] == "safe" for report in reports), reports
        ours = reports[0]["states"]
        search = min(report["iterations"][-1]["seconds"] for report in reports)
        print(f"| {model} | {states:,} | {pan:.3f} | {states / pan:,.0f} "
              f"| {ours:,} | {search:.3f} | {ours / search:,.0f} | {closure:.3f} | {generate + compile_:.1f} s |", flush=True)


if __name__ == "__main__":
    main()
