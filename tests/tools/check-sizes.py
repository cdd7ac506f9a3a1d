#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Functions of at most 80 lines, files of at most 800, lines of at most 132 characters.

Relies on the formatter: a function's braces, and nothing else's, stand alone in the first column.
"""
from tap import Tap, c_files, read, tracked_files

MAX_FUNCTION, MAX_FILE, MAX_LINE = 80, 800, 132


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
    problems = [f"{len(lines)} lines, at most {MAX_FILE}"] if len(lines) > MAX_FILE else []
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
