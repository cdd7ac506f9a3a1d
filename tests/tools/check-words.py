#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Plain words in documents, manual pages, the D-Bus interface, comments of all C files and texts of the programs.

check-words.py [BUILD_FOLDER] checks the tree; check-words.py --self-test checks this lint. Prose has sentences of at most 25
words; notebooks and texts in C are checked for words only. "behind" is for places, and each place stands in PLACES.
"""
import re
import sys

from tap import Tap, read, tracked_files

MAX_WORDS = 25
NOTES = "docs/benchmarks/notes/"  # notebooks: measurements as they were written down
REFUSED = (
    (r"nobody|no one|somebody|anybody|everybody", "name the subject: no client, another process, every thread"),
    (r"he|him|his|himself", "a thread or a program is it"),
    (r"whoever|whomever", "name the subject: any client, the caller"),
    (r"whatever", "name it: any, regardless of"),
    (r"anew", "again, from the start"),
    (r"told|tells? of", "name what is sent or shown: is reported, hears of"),
    (r"behind", "after; a place is listed in PLACES"),
    (r"dear", "expensive"),
    (r"(?:as|so) far as (?:that|it|this) is to be had", "where available"),
)
# (file, text of one sentence): "behind" as a place, "nobody" as the name of a user
PLACES = (
    ("docs/systemd.md", 'other users exist only as "nobody"'),
)
# a C string or character, or a block comment
C_TOKEN = re.compile(r'"((?:\\.|[^"\\\n])*)"|\'(?:\\.|[^\'\\\n])*\'|/\*(.*?)\*/', re.S)
SENTENCE_END = re.compile(r"(?<=[.?!])[\"')*_]*\s+")
WORD = re.compile(r"\w[\w'’.,/-]*")


def sentences(paragraph):
    """@paragraph in sentences; code counts as one word, a link as its text."""
    paragraph = re.sub(r"\]\([^)]*\)", "]", paragraph)
    paragraph = re.sub(r"``.*?``|`[^`]*`|\[\[.*?\]\]", "CODE", paragraph)
    return SENTENCE_END.split(" ".join(paragraph.split()))


def paragraphs(numbered_lines, starts):
    """Joins lines to (number of the first line, text); a line that @starts matches begins a paragraph, an empty one ends it."""
    number, text = 0, []
    for i, line in numbered_lines:
        if text and (not line.strip() or re.match(starts, line)):
            yield number, " ".join(text)
            text = []
        if line.strip():
            number = number if text else i
            text.append(line.strip())
    if text:
        yield number, " ".join(text)


def markdown(text):
    """Paragraphs, list items and cells of tables; neither code nor HTML comments."""
    lines, fenced, listed, blank = [], False, False, True
    for i, line in enumerate(re.sub(r"<!--.*?-->", lambda m: "\n" * m.group().count("\n"), text, flags=re.S).splitlines(), 1):
        fence = line.lstrip().startswith("```")
        fenced = fenced != fence
        listed = bool(re.match(r"\s*([-*]|\d+\.) ", line)) or (listed and (not line or line.startswith(" ")))
        code = fenced or fence or (line.startswith("    ") and not listed and (blank or not lines[-1][1]))
        blank = not line.strip()
        if line.startswith("|"):
            for cell in re.split(r"(?<!\\)\|", line):
                lines += [(i, cell), (i, "")]
        else:
            lines += [(i, "" if code else line)] + ([(i, "")] if line.startswith("#") else [])
    return paragraphs(lines, r"\s*([-*+]|\d+\.) ")


def manual(text):
    """scdoc: as Markdown, but texts of options are indented by tabs; each is an item of its own, apart from the option."""
    return markdown(re.sub(r"(?m)^\t+", "", re.sub(r"(?m)^([^\t\n].*\n)\t", r"\1- ", text)))


def prose_of(comment, number):
    """Paragraphs of one comment; @parameters, lines of tables and enum values stand alone, indented code is left out."""
    body, code, blank = [], False, False
    for i, line in enumerate(comment.splitlines()):
        line = re.sub(r"^\s*\* ?", "", line) if i else line
        code = line.startswith("    ") and (code or blank)
        blank = not line.strip()
        body.append((number + i, "" if code else line))
    return paragraphs(body, r"\s*(@|[-*] |Errors:|Returns:|Thread:|Place:|Invariants?:|\|)|\S+:$|.*\S {3,}\S")


def xml_comments(text):
    for match in re.finditer(r"<!--(.*?)-->", text, re.S):
        yield from prose_of(match.group(1), text.count("\n", 0, match.start()) + 1)


def c_comments(text):
    for match in C_TOKEN.finditer(text):
        if match.group(2):
            yield from prose_of(match.group(2), text.count("\n", 0, match.start()) + 1)


def strings(text):
    """Literals of C, for words only."""
    for match in C_TOKEN.finditer(text):
        if match.group(1):
            yield text.count("\n", 0, match.start()) + 1, match.group(1)


def problems_of(path, found, with_length=True):
    """Problems of the paragraphs @found of @path."""
    for number, paragraph in found:
        for sentence in sentences(paragraph):
            allowed = any(place == path and part in sentence for place, part in PLACES)
            for pattern, instead in REFUSED:
                match = re.search(rf"\b(?:{pattern})\b", sentence, re.I)
                if match and not allowed:
                    yield f"line {number}: '{match.group()}' ({instead}): {sentence[:100]}"
            n_words = len(WORD.findall(sentence))
            if with_length and n_words > MAX_WORDS:
                yield f"line {number}: a sentence of {n_words} words, at most {MAX_WORDS}: {sentence[:100]}"


def check(path):
    text = read(path)
    if path.endswith(".md"):
        return problems_of(path, markdown(text), with_length=not path.startswith(NOTES))
    if path.endswith(".scd"):
        return problems_of(path, manual(text))
    if path.endswith(".xml"):
        return problems_of(path, xml_comments(text))
    found = list(problems_of(path, c_comments(text)))
    if path.endswith(".c") and path.startswith(("daemon/", "client-lib/")):
        found += problems_of(path, strings(text), with_length=False)
    return found


def is_checked(path):
    if path.endswith(".md"):
        return path.startswith("docs/") or path in ("README.md", "NEWS.md", "CONTRIBUTING.md")
    if path.endswith(".scd"):
        return path.startswith("docs/man/")
    if path.endswith(".xml"):
        return path.startswith("data/")
    return path.endswith((".c", ".h"))


def self_test(tap):
    long_text = " ".join(["word"] * (MAX_WORDS + 1)) + "."
    for name, found, n_expected in (
            ("a refused word", markdown("Nobody reads it.\n"), 1),
            ("across two lines", markdown("The rest is\ntold.\n"), 1),
            ("a word within another", markdown("An endearing newness.\n"), 0),
            ("inline code", markdown("Call `nobody()` now.\n"), 0),
            ("fenced code", markdown("Run:\n\n```sh\nsu nobody\n```\n"), 0),
            ("indented code", markdown("Run:\n\n    su nobody\n"), 0),
            ("an indented list item", markdown("- one\n    nobody\n"), 1),
            ("a cell of a table", markdown("| a | behind b |\n"), 1),
            ("a long sentence", markdown(long_text), 1),
            ("two sentences", markdown("One. " + long_text[:60] + ".\n"), 0),
            ("list items are apart", markdown("- " + long_text[:120] + "\n- " + long_text[:120] + "\n"), 0),
            ("a manual page", manual("*--x*\n\tWhatever it is.\n"), 1),
            ("a comment", c_comments("/**\n * f:\n * @a: dear\n *\n * Anew.\n */\n"), 2),
            ("a comment after code", c_comments("int n; /* behind it */\n"), 1),
            ("a long sentence of a comment", c_comments("/*\n * " + long_text.replace(" ", "\n * ", 3) + "\n */\n"), 1),
            ("paragraphs of a comment", c_comments("/* " + long_text[:80] + "\n * Place: " + long_text[:80] + " */"), 0),
            ("code in a comment", c_comments("/*\n * As:\n *\n *     su nobody\n */"), 0),
            ("marks of a comment in a string", c_comments('f("/* nobody */", 1);'), 0),
            ("XML", xml_comments("<a><!-- nobody --></a>"), 1),
            ("a string in C", strings('f("behind %s", \'"\'); /* "anew" */'), 1)):
        n_found = len(list(problems_of("x", found)))
        tap.case(f"words/self-test/{name}", [] if n_found == n_expected else [f"{n_found} problems instead of {n_expected}"])


def main():
    tap = Tap()
    self_test(tap)
    if "--self-test" not in sys.argv[1:]:
        for path in filter(is_checked, tracked_files()):
            tap.case(f"words/{path}", list(check(path)))
    tap.finish()


main()
