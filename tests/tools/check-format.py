#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Each C file is as clang-format 14 and the project's .clang-format have it; skipped aloud where that is not installed."""
import concurrent.futures
import os
import shutil
import subprocess

from tap import ROOT, Tap, c_files

TOOL = "clang-format-14"


def check(path):
    run = subprocess.run([TOOL, "-n", "-Werror", path], capture_output=True, text=True, cwd=ROOT, check=False)
    return [line for line in run.stderr.splitlines() if "error:" in line][:5]


def main():
    tap = Tap()
    if not shutil.which(TOOL):
        tap.skip("format", f"{TOOL} is not installed")
        tap.finish()
    files = c_files()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, problems in zip(files, pool.map(check, files)):
            tap.case(f"format/{path}", problems)
    tap.finish()


main()
