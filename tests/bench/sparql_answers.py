# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whether two servers' tab-separated values are the same answer.

Servers differ in how they quote and in digits: what counts is a term's text, of a number ten digits.
"""
import os
import re

LITERAL = re.compile(r'"(.*)"(?:\^\^.*|@[-\w]+)?', re.S)


def canonical(cell):
    """A term's text; of a number its value."""
    match = LITERAL.fullmatch(cell)
    text = match.group(1) if match else cell.removeprefix("<").removesuffix(">")
    try:
        return f"{float(text):.10g}"
    except ValueError:
        return text.replace('\\"', '"')


def read_rows(body):
    """Sorted tuples of terms."""
    lines = body.decode("utf-8", "replace").rstrip("\n").split("\n")[1:]
    return sorted(tuple(canonical(cell) for cell in line.rstrip("\r").split("\t")) for line in lines)


def same_rows(one, other):
    return read_rows(one) == read_rows(other)


def has_expected(body, n_rows, value):
    rows = read_rows(body)
    return len(rows) == n_rows and (value is None or n_rows != 1 or rows[0][0] == canonical(value))


def read_expected(path):
    """{name: (number of rows, value of the only row or None)}"""
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        fields = [line.rstrip("\n").split("\t") for line in file]
    return {line[0]: (int(line[1]), line[2] if len(line) > 2 and line[2] else None) for line in fields if len(line) > 1}
