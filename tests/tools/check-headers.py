#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Each header compiles alone: it includes what it needs and has #pragma once."""
import concurrent.futures
import os
import shlex
import subprocess

from tap import ROOT, Tap, c_files, read

PACKAGES = ["gio-unix-2.0", "sqlite3", "libsystemd", "libedit", "libsoup-3.0", "python3", "gtk4"]
# (folder, package): headers that are of what is built only where the package is
OPTIONAL = [("client-lib/http/", "libsoup-3.0"), ("client-lib/python/", "python3"), ("docs/examples/music-library/", "gtk4")]


def flags():
    result = []
    for package in PACKAGES:
        found = subprocess.run(["pkg-config", "--cflags", package], capture_output=True, text=True, check=False)
        result += shlex.split(found.stdout) if found.returncode == 0 else []
    return result


def check(path, cflags):
    problems = [] if "#pragma once" in read(path) else ["no #pragma once"]
    compiler = shlex.split(os.environ.get("CC", "cc"))
    command = compiler + ["-std=gnu11", "-D_GNU_SOURCE", "-fsyntax-only", "-Wall", "-Wextra", "-Wno-unused-parameter",
                          "-Wno-unused-function", "-Werror", "-I", ROOT, "-I", "client-lib", *cflags, "-x", "c", "-"]
    run = subprocess.run(command, input=f'#include "{path}"\n', capture_output=True, text=True, cwd=ROOT, check=False)
    return problems + run.stderr.splitlines()[:10] * (run.returncode != 0)


def main():
    tap, cflags = Tap(), flags()
    absent = [folder for folder, package in OPTIONAL if subprocess.run(["pkg-config", "--exists", package], check=False).returncode]
    headers = [p for p in c_files() if p.endswith(".h") and not p.startswith(tuple(absent))]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, problems in zip(headers, pool.map(lambda p: check(p, cflags), headers)):
            tap.case(f"headers/{path}", problems)
    tap.finish()


main()
