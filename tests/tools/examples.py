#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The examples of a document, which are tests.

"console" blocks: each line with "$ " is a command, the lines after it are its whole output. "c" and "python" blocks are programs;
a sentence that begins with "It prints" has the output in code spans. A "sh" block with $(pkg-config …) builds the C program.

examples.py DOCUMENT... runs them where queryd is installed, in the order of the text, and prints TAP. Tests of the tree import it.
"""
import os
import re
import subprocess
import sys
import tempfile


def blocks(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.S | re.M)


def promised_output(text, language):
    """The code spans of the sentence "It prints …" after the language's first block."""
    rest = text.split(f"```{language}\n", 1)[1].split("It prints ", 1)[1]
    sentence = re.split(r"(?<=`)\. ", rest, maxsplit=1)[0]
    return "".join(span + "\n" for span in re.findall(r"`([^`]+)`", sentence))


def commands(block):
    """Pairs of command and expected output."""
    pairs = []
    for line in block.splitlines(keepends=True):
        if line.startswith("$ "):
            pairs.append([line[2:].rstrip("\n"), ""])
        else:
            pairs[-1][1] += line
    return pairs


def steps(text):
    """The examples of a page of the guide in their order: (language, code, output). A "text" block is the output of what is before
    it; a "console" block has commands with their outputs, each a step."""
    found = []
    for language, code in re.findall(r"^```(\w+)\n(.*?)^```$", text, re.S | re.M):
        if language == "console":
            found += [("sh", command, expected) for command, expected in commands(code)]
        elif language == "text" and found:
            found[-1] = (*found[-1][:2], code)
        elif language not in ("text", "ini"):
            found.append((language, code, ""))
    return found


def run(*command, folder=None):
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, timeout=60)
    return done.returncode, done.stdout, done.stderr


def installed_examples(text):
    """Pairs of name and (what came, what was expected)."""
    for block in blocks(text, "console"):
        for command, expected in commands(block):
            yield command, run("bash", "-c", command)[:2], (0, expected)
    for source in blocks(text, "c"):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "notes.c"), "w", encoding="utf-8") as stream:
                stream.write(source)
            (build,) = [block for block in blocks(text, "sh") if "pkg-config" in block]
            yield "the C program is built", run("bash", "-c", build, folder=folder), (0, "", "")
            yield "the C program", run("./notes", folder=folder), (0, promised_output(text, "c"), "")
    for source in blocks(text, "python"):
        yield "the Python program", run("/usr/bin/python3", "-c", source), (0, promised_output(text, "python"), "")


def main():
    number, failed = 0, 0
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as stream:
            text = stream.read()
        for name, found, expected in installed_examples(text):
            number, failed = number + 1, failed + (found != expected)
            print(f"{'ok' if found == expected else 'not ok'} {number} {os.path.basename(path)}: {name}")
            if found != expected:
                print(f"# {found!r}\n# expected {expected!r}")
    print(f"1..{number}")
    sys.exit(1 if failed or not number else 0)


if __name__ == "__main__":
    main()
