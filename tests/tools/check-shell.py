#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""shellcheck has nothing to say about the scripts; man has no warning about the manual pages of the build folder."""
import glob
import os
import shutil
import subprocess
import sys

from tap import ROOT, Tap, read, tracked_files


def output(*command, **environment):
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, env=dict(os.environ, **environment))
    return (done.stdout + done.stderr).splitlines()


def is_script(path):
    return path.endswith((".sh", ".bash")) or read(path)[:40].splitlines()[:1] in (["#!/bin/bash"], ["#!/bin/sh"])


def main():
    tap = Tap()
    for path in filter(is_script, tracked_files()):
        if shutil.which("shellcheck") is None:
            tap.skip(f"shell/{path}", "there is no shellcheck")
        else:
            tap.case(f"shell/{path}", output("shellcheck", "--shell=bash", "--format=gcc", path))
    for page in sorted(glob.glob(os.path.join(sys.argv[1], "docs/man/*.[1-8]"))):
        name = f"man/{os.path.basename(page)}"
        if shutil.which("man") is None:
            tap.skip(name, "there is no man")
        else:  # -Z: what groff says, without the text
            warnings = 'man --warnings -l -Tutf8 -Z "$0" 2>&1 >/dev/null'
            tap.case(name, output("sh", "-c", warnings, page, MANROFFSEQ="", LC_ALL="C.UTF-8"))
    tap.finish()


main()
