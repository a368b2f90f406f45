#!/usr/bin/env python3
"""Build time, time from process start to the first token on stdout, and peak memory of `run`. Standard library only.

  startup.py CAMSHAFT MODEL [--runs N]

Medians [least-most] of N runs after one that warms the page cache. The bars: build 3 s; first token 0.3 s; memory engine file + 64 MiB
beside the cache (counted in full although a short run touches little of it).
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import tempfile
import time


def show(name, values, unit):
    print(f"{name:36s} {statistics.median(values):.3f} [{min(values):.3f}-{max(values):.3f}] {unit}")


def timed(command):
    """Seconds to the first byte of stdout and to the end, and peak resident MiB."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    process.stdout.read(1)
    first = time.perf_counter() - start
    process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return first, time.perf_counter() - start, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("camshaft")
    parser.add_argument("model")
    parser.add_argument("--runs", type=int, default=9)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="camshaft_bench_") as folder:
        engine = str(pathlib.Path(folder) / "model.engine")
        build = [options.camshaft, "build", options.model, "-o", engine]
        run = [options.camshaft, "run", engine, "-p", "Why is the sky blue?", "--max-tokens", "16", "--temperature", "0"]
        timed(build), timed(run)
        builds = [timed(build) for _ in range(options.runs)]
        runs = [timed(run) for _ in range(options.runs)]
        show("build", [b[1] for b in builds], "s")
        show("build, peak memory", [b[2] for b in builds], "MiB")
        show("run, start to first token", [r[0] for r in runs], "s")
        show("run, peak memory", [r[2] for r in runs], f"MiB (engine file {os.path.getsize(engine) / 2**20:.1f} MiB)")


main()
