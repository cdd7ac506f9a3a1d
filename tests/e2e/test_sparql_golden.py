# SPDX-License-Identifier: LGPL-2.1-or-later
"""Golden cases: data and a query in a text file, and what becomes of them: algebra, SQL, rows. One file is one case.

To add one, write a file of two sections, "data" and "query", into tests/data/sparql; `tests/run goldens` writes the others, and
`git diff` shows what is to be judged. The rows of a query without ORDER BY stand sorted.
"""
import glob
import os
import re

import pytest

from harness import ROOT

FOLDER = os.path.join(ROOT, "tests", "data", "sparql")
CASES = sorted(os.path.basename(path)[:-len(".case")] for path in glob.glob(os.path.join(FOLDER, "*.case")))
PREFIX = "PREFIX : <http://example.org/>\n"
SECTION = re.compile(r"^--- (\w+)\n", re.M)
ALGEBRA = re.compile(r"(?:(?!join: ) *[a-z].*\n)*")


def read_case(name):
    """The text before the first section, and the sections by name."""
    with open(os.path.join(FOLDER, name + ".case"), encoding="utf-8") as stream:
        parts = SECTION.split(stream.read())
    return parts[0], dict(zip(parts[1::2], (text.strip("\n") for text in parts[2::2])))


def write_case(name, head, sections):
    with open(os.path.join(FOLDER, name + ".case"), "w", encoding="utf-8") as stream:
        stream.write(head + "\n".join(f"--- {section}\n{text}\n" for section, text in sections.items()))


def answer(bus, query):
    """Rows as TSV, triples as N-Triples; blank nodes have labels of their own at each run."""
    graph = re.match(r"\s*(CONSTRUCT|DESCRIBE)", query)
    _, text, truncated = bus.query_text(PREFIX + query, "ntriples" if graph else "sparql-tsv", language="sparql")
    assert not truncated
    lines = re.sub(r"_:\w+", "_:b", text).splitlines()
    first = 0 if graph else 1
    lines = ["\t".join(cell or "UNDEF" for cell in line.split("\t")) for line in lines]
    if "ORDER BY" not in query:
        lines[first:] = sorted(lines[first:])
    return "\n".join(lines)


@pytest.mark.parametrize("name", CASES)
def test_golden(bus, name):
    head, sections = read_case(name)
    if sections["data"]:
        bus.update(PREFIX + "INSERT DATA {\n" + sections["data"] + "\n}", language="sparql")
    sql, plan = bus.explain(PREFIX + sections["query"], language="sparql")
    now = {"data": sections["data"], "query": sections["query"], "algebra": ALGEBRA.match(plan).group().strip("\n"),
           "sql": sql.strip("\n"), "rows": answer(bus, sections["query"])}
    if os.environ.get("QUERYD_WRITE_GOLDENS"):
        write_case(name, head, now)
    else:
        assert now == sections


def test_there_are_cases():
    assert len(CASES) >= 30
