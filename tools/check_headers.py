#!/usr/bin/env python3
"""Compiles every header of src alone: a header includes what it needs. Left out: *.inl.h (fragments) and *.cuh (device code).

Usage: check_headers.py [HEADER ...]. Without arguments all headers; CXX chooses the compiler, CHECK_JOBS the number of processes.
Exit code 0 clean, 1 some header does not compile, 2 no compiler.
"""
import concurrent.futures
import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def all_headers():
    for folder, _, names in sorted(os.walk(os.path.join(ROOT, "src"))):
        for name in sorted(names):
            if name.endswith(".h") and not name.endswith(".inl.h"):
                yield os.path.join(folder, name)


def errors_of(compiler, header):
    """Compiler output where the header fails, else nothing. Included by name, so that `#pragma once` does not warn."""
    command = [compiler, "-std=c++20", "-Wall", "-Wextra", "-Wno-missing-field-initializers", "-Werror", "-fsyntax-only",
               '-DCAMSHAFT_SOURCE_DIR=""', "-I", os.path.join(ROOT, "src"), "-x", "c++", "-"]
    result = subprocess.run(command, input=f'#include "{os.path.abspath(header)}"\n', capture_output=True, text=True, check=False)
    return result.stderr if result.returncode != 0 else ""


def main(arguments):
    compiler = os.environ.get("CXX", "g++")
    if shutil.which(compiler) is None:
        print(f"check_headers: no compiler '{compiler}'; set CXX", file=sys.stderr)
        return 2
    headers = arguments or list(all_headers())
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("CHECK_JOBS", "2"))) as pool:
        for header, output in zip(headers, pool.map(lambda header: errors_of(compiler, header), headers)):
            if output:
                failed += 1
                print(f"{os.path.relpath(header, ROOT)} does not compile alone:\n{output}")
    print(f"check_headers: {len(headers)} headers, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
