#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""House rules on text: SPDX lines, only /* */ comments, no place of one machine, no TODO without an issue, clean white space."""
import re

from tap import Tap, read, tracked_files

SOURCE = (".c", ".h", ".py", ".sh", ".xml", ".in", ".service", ".map", ".vala", ".fish", ".bash", ".zsh", ".scd", ".hex", ".build",
          ".conf", ".supp", ".txt", ".js", ".css")
BINARY = ("/corpus/", "tests/data/rdf/", "tests/data/old-stores/version-", ".png")
SPDX = "SPDX-License-Identifier: LGPL-2.1-or-later"
SPDX_OF_METAINFO = "SPDX-License-Identifier: FSFAP"  # a catalogue copies it
MACHINE_PATH = re.compile(r"(?<![\w.$}@%*~-])/(home|root|work|workspace|builds|Users)/[\w.]")
TODO = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b(?!.*#\d)")
# a C string or character, a block comment, or the thing that is looked for
C_TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|(//)', re.S)


# what makes SQL knows what it made (daemon/plan/sql.h), and searches no text for it
MAKES_SQL = re.compile(r"daemon/plan/(relation|sqlgen)[\w-]*\.c")
SEARCHES = re.compile(r"\b(str(str|chr|rchr|chrnul|pbrk|spn|cspn|ncmp|casestr|sep|tok)|mem(mem|chr|rchr)|"
                      r"g_str(_has_prefix|_has_suffix|str|str_len|rstr|split)|g_regex_\w+|g_string_replace)\(")


def line_comments(text):
    for match in C_TOKEN.finditer(text):
        if match.group(1):
            yield f"line {text.count(chr(10), 0, match.start()) + 1}: a // comment"


def check(path):
    text = read(path)
    source = path.endswith(SOURCE) or text.startswith("#!")
    problems = []
    spdx = SPDX_OF_METAINFO if path.endswith(".metainfo.xml") else SPDX
    if source and spdx not in text[:400]:
        problems.append(f"no line '{spdx}' at its beginning")
    if text and not text.endswith("\n") and "/data/rdf/" not in path:  # the end of a file is one of the cases
        problems.append("no newline at its end")
    for number, line in enumerate(text.splitlines(), 1):
        if line != line.rstrip() and not path.endswith(".md"):
            problems.append(f"line {number}: white space at its end")
        if MACHINE_PATH.search(line):
            problems.append(f"line {number}: a path of one machine")
        if source and path != "tests/tools/check-text.py" and TODO.search(line):
            problems.append(f"line {number}: a TODO without an issue's number")
        if MAKES_SQL.fullmatch(path) and SEARCHES.search(line):
            problems.append(f"line {number}: a search of a text, where a field of QdSql should know")
    if path.endswith((".c", ".h", ".vala")):
        problems += line_comments(text)
    return problems


def main():
    tap = Tap()
    for path in tracked_files():
        if path.startswith("LICENSE") or any(part in path for part in BINARY):
            continue
        tap.case(f"text/{path}", check(path))
    tap.finish()


main()
