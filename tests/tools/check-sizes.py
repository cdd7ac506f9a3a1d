#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Functions of at most 60 lines, files of at most 600, lines of at most 132 characters.

Relies on the formatter: a function's braces, and nothing else's, stand alone in the first column.
"""
from tap import Tap, c_files, read, tracked_files

MAX_FUNCTION, MAX_FILE, MAX_LINE = 60, 600, 132
# Longer ones, each of one subject: a change lowers a number, never raises it.
MAY_BE_LONGER = {
    "tests/e2e/test_queryctl.py": 714,
}


def long_functions(lines):
    start = 0
    for number, line in enumerate(lines, 1):
        if line == "{":
            start = number
        elif line.startswith("}") and start:
            if number - start + 1 > MAX_FUNCTION:
                yield f"line {start}: a function of {number - start + 1} lines, at most {MAX_FUNCTION}"
            start = 0


def check(path):
    lines = read(path).splitlines()
    most = MAY_BE_LONGER.get(path, MAX_FILE)
    problems = [f"{len(lines)} lines, at most {most}"] if len(lines) > most else []
    if path in MAY_BE_LONGER and len(lines) <= MAX_FILE:
        problems.append(f"{len(lines)} lines: take it out of MAY_BE_LONGER")
    problems += [f"line {i}: {len(line)} characters, at most {MAX_LINE}" for i, line in enumerate(lines, 1) if len(line) > MAX_LINE]
    if path.endswith((".c", ".h")):
        problems += long_functions(lines)
    return problems


def main():
    tap = Tap()
    for path in c_files() + [p for p in tracked_files() if p.endswith((".py", ".sh", ".vala", ".js"))]:
        tap.case(f"sizes/{path}", check(path))
    tap.finish()


main()
