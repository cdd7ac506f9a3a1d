#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""docs/limits.md ends with the table that the daemon prints. check-limits.py BUILD_FOLDER [--fix]"""
import os
import subprocess
import sys

from tap import ROOT, Tap, read

PATH = "docs/limits.md"


def main():
    daemon = os.path.join(sys.argv[1], "daemon/queryd")
    table = subprocess.run([daemon, "--print-limits=markdown"], capture_output=True, text=True, check=True).stdout
    text = read(PATH)
    head = text[:text.index("\n| ") + 1]
    if "--fix" in sys.argv[2:]:
        with open(os.path.join(ROOT, PATH), "w", encoding="utf-8") as stream:
            stream.write(head + table)
        return
    tap = Tap()
    tap.case("limits", [] if text == head + table else [f"{PATH} is out of date: tests/tools/check-limits.py BUILD_FOLDER --fix"])
    tap.finish()


main()
