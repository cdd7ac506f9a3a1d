# SPDX-License-Identifier: LGPL-2.1-or-later
"""serd as oracle of our readers: the same quads of random valid documents and of our own corpus.

Where the two differ, JUDGED and CORPUS_JUDGED say who is right by the specification. Skipped aloud without serdi.
"""
import collections
import os
import re
import shutil
import subprocess
import sys

import pytest

from harness import BUILD, ROOT

sys.path.insert(0, os.path.join(ROOT, "tests", "serd"))
from documents import Writer, break_document  # noqa: E402

BASE = "http://example.org/dir/doc"
READ_RDF = os.path.join(BUILD, "tests", "serd", "read-rdf")
FORMATS = {"turtle": "ttl", "trig": "trig", "ntriples": "nt", "nquads": "nq"}
N_DOCUMENTS = 150
TERM = re.compile(r'<[^>]*>|_:[^\s<>"]+|"(?:[^"\\]|\\.)*"(?:@[\w-]+|\^\^<[^>]*>)?')
# What serd takes and we refuse, or the other way round: format, document, whether we take it, why that is right.
JUDGED = [
    ("turtle", "<a> <b> [ <c> 1 ; f ] .", False, "Turtle [7]: a predicate without an object, and 'f' is no IRI"),
    ("turtle", "<a> <b> 'x'^<t> .", False, "Turtle [128s]: '^^' is one token"),
    ("turtle", "<a> <b> _x .", False, "Turtle [141s]: a blank node's label begins with '_:'"),
    ("turtle", "<a> <b> 1 , , 2 .", False, "Turtle [8]: an object stands behind each ','"),
    ("turtle", "@prefixp: <http://p/> .", False, "Turtle [4], [144s]: the longest token is '@prefixp', a language tag"),
    ("turtle", "<a> <b> '\\ud800' .", False, "Turtle §6.4: a surrogate is no character"),
    ("trig", "_:g { [ <a> _: ] }", False, "TriG [141s]: a label has at least one character"),
    ("ntriples", "_0 <a:b> <c:d> .\n", False, "N-Triples [141s]: a label begins with '_:'"),
    ("ntriples", "<a:b> <c:d> <e:f> . <g:h> <i:j> <k:l> .\n", False, "N-Triples [1]: an end of line stands between triples"),
    ("ntriples", "<a:b> <c:d>\n<e:f> .\n", False, "N-Triples [2]: a triple stands on one line"),
    ("nquads", "<a:b> <c:d> 'x'^<e:f> .\n".replace("'", '"'), False, "N-Quads [6]: '^^' is one token"),
    ("nquads", "<a:b> <c:d> <e:f> <g:h> .x\n", False, "N-Quads [1]: an end of line stands between quads"),
]
# Documents of tests/data/rdf on which serd errs.
CORPUS_JUDGED = {
    "bad/brackets.ttl": "Turtle [6]: brackets alone need properties inside",
    "bad/graph.ttl": "Turtle has no graphs; serd's reader of Turtle takes TriG",
    "bad/literal-subject.nq": "N-Quads [3]: a subject is no literal",
    "bad/rdf12-direction.nt": "N-Triples [144s]: letters or digits stand behind a '-'",
    "bad/rdf12-direction.ttl": "Turtle [144s]: letters or digits stand behind a '-'",
    "bad/surrogate.nt": "N-Triples §6.4: a surrogate is no character",
    "good/blanks.nq": "N-Quads §4: blanks between any terminals, a string and its datatype or language too",
    "good/blanks.nt": "N-Triples §7: blanks between any terminals, a string and its datatype or language too",
}

pytestmark = pytest.mark.skipif(shutil.which("serdi") is None, reason="serdi is not installed (package serdi)")


def unescape(term):
    """One spelling of a term: no escapes, tags in lower case."""
    def character(match):
        text = match.group(1)
        if text[0] in "uU":
            return chr(int(text[1:], 16))
        return {"t": "\t", "n": "\n", "r": "\r", "b": "\b", "f": "\f"}.get(text, text)
    text = re.sub(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)", character, term)
    tag = re.search(r'"@([\w-]+)$', text)
    return text[:tag.start(1)] + tag.group(1).lower() if tag else text.removesuffix("^^<http://www.w3.org/2001/XMLSchema#string>")


def parse(nquads):
    return {tuple(unescape(term) for term in TERM.findall(line)) for line in nquads.split("\n") if line and line[0] != "#"}


def canonical(quads):
    """The quads with each blank node named by what is around it, refined until nothing changes: equal for equal graphs."""
    colours = {term: "" for quad in quads for term in quad if term.startswith("_:")}
    for _ in range(len(colours) + 1):
        around = collections.defaultdict(list)
        for quad in quads:
            for place, term in enumerate(quad):
                if term in colours:
                    around[term].append((place, tuple("*" if t == term else colours.get(t, t) for t in quad)))
        colours = {term: str(hash(tuple(sorted(around[term])))) for term in colours}
    return collections.Counter(tuple(colours.get(term, term) for term in quad) for quad in quads)


def read_ours(fmt, paths):
    """For each file the quads, or the error as text."""
    output = subprocess.run([READ_RDF, fmt, BASE, *paths], capture_output=True, check=True).stdout.decode()
    results, start = [], 0
    for match in re.finditer(r"^# (.*)$", output, re.M):
        results.append(parse(output[start:match.start()]) if match.group(1) == "ok" else match.group(1))
        start = match.end()
    assert len(results) == len(paths)
    return results


def read_serd(fmt, path):
    run = subprocess.run(["serdi", "-q", "-i", fmt, "-o", "nquads", path, BASE], capture_output=True, check=False)
    if run.returncode != 0:
        return run.stderr.decode(errors="replace") or f"status {run.returncode}"
    return parse(run.stdout.decode(errors="replace"))


@pytest.mark.parametrize("fmt", FORMATS)
def test_random_documents(tmp_path, fmt):
    paths = []
    for seed in range(N_DOCUMENTS):
        paths.append(str(tmp_path / f"{seed}.{FORMATS[fmt]}"))
        with open(paths[-1], "w", encoding="utf-8", newline="") as stream:
            stream.write(Writer(seed, fmt).document())
    different = []
    for path, ours in zip(paths, read_ours(fmt, paths)):
        serd = read_serd(fmt, path)
        if isinstance(ours, str) or isinstance(serd, str) or canonical(ours) != canonical(serd):
            different.append((path, ours, serd))
    assert not different, f"{len(different)} differ, such as {different[0]}"


@pytest.mark.parametrize("fmt", FORMATS)
def test_broken_documents(tmp_path, fmt):
    """serd is the more lenient: we take nothing that it refuses."""
    paths = []
    for seed in range(N_DOCUMENTS):
        paths.append(str(tmp_path / f"{seed}.{FORMATS[fmt]}"))
        with open(paths[-1], "w", encoding="utf-8", newline="") as stream:
            stream.write(break_document(seed, Writer(seed, fmt).document()))
    results = read_ours(fmt, paths)
    taken = [path for path, ours in zip(paths, results) if not isinstance(ours, str)]
    assert 10 < len(taken) < N_DOCUMENTS - 10, "both kinds are tried"
    for path in taken:
        serd = read_serd(fmt, path)
        assert not isinstance(serd, str), (path, serd)


@pytest.mark.parametrize("number", range(len(JUDGED)))
def test_judged(tmp_path, number):
    fmt, text, takes, why = JUDGED[number]
    path = str(tmp_path / ("document." + FORMATS[fmt]))
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(text)
    assert isinstance(read_ours(fmt, [path])[0], str) is not takes, why
    assert isinstance(read_serd(fmt, path), str) is takes, "serd has come round: a case for the random documents"


def test_dot_segments(tmp_path):
    """RFC 3986 §5.2.4: serd leaves dots that are not in front."""
    path = str(tmp_path / "dots.ttl")
    with open(path, "w", encoding="utf-8") as stream:
        stream.write("<a> <b> <./x/../y> .")
    assert read_ours("turtle", [path])[0] == {tuple(f"<http://example.org/dir/{name}>" for name in "aby")}
    assert read_serd("turtle", path) != read_ours("turtle", [path])[0]


def test_corpus():
    """tests/data/rdf: serd says the same of each document, but for those that are judged."""
    different = set()
    for folder in ("good", "bad"):
        for name in sorted(os.listdir(os.path.join(ROOT, "tests", "data", "rdf", folder))):
            fmt = next((fmt for fmt, ending in FORMATS.items() if re.fullmatch(rf"[^.]+\.{ending}", name)), None)
            path = os.path.join(ROOT, "tests", "data", "rdf", folder, name)
            if fmt is None:
                continue
            ours, serd = read_ours(fmt, [path])[0], read_serd(fmt, path)
            same = type(ours) is type(serd) and (isinstance(ours, str) or canonical(ours) == canonical(serd))
            if not same:
                different.add(f"{folder}/{name}")
    assert different == set(CORPUS_JUDGED)
