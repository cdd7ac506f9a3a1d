# SPDX-License-Identifier: LGPL-2.1-or-later
"""Golden cases: data and a query or an update in a text file, and what becomes of them. One file is one case.

To add one, write a file of two sections, "data" and "query" or "update", into tests/data/sparql; `tests/run goldens` writes the
others, and `git diff` shows what is to be judged: algebra, SQL and rows of a query, changes (or the error, whose first line is the
prefix) and quads of an update. The rows of a query without ORDER BY stand sorted.
"""
import glob
import itertools
import os
import re

import pytest

from harness import ROOT, BusError

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


def quads(bus):
    """Of all graphs, sorted, with the prefix; blank nodes have the labels that come first in the order."""
    job, text = bus.dump("nquads")
    assert job["State"] == "finished"
    text = re.sub(r"<http://example.org/(\w*)>", r":\1", text)
    labels = sorted(set(re.findall(r"_:\w+", text)))
    assert len(labels) <= 6, "too many to try all orders"

    def rename(order):
        names = {label: f"_:b{i}" for i, label in enumerate(order)}
        return sorted(re.sub(r"_:\w+", lambda match: names[match.group()], text).splitlines())

    return "\n".join(min(rename(order) for order in itertools.permutations(labels)))


def run_query(bus, query):
    sql, plan = bus.explain(PREFIX + query, language="sparql")
    return {"query": query, "algebra": ALGEBRA.match(plan).group().strip("\n"), "sql": sql.strip("\n"), "rows": answer(bus, query)}


def run_update(bus, update):
    before = quads(bus)
    try:
        outcome = {"changes": str(bus.update(PREFIX + update, language="sparql")[0])}
    except BusError as error:
        outcome = {"error": f"{error.name}: {error.message}"}
        assert quads(bus) == before
    return {"update": update, **outcome, "quads": quads(bus)}


@pytest.mark.parametrize("name", CASES)
def test_golden(bus, name):
    head, sections = read_case(name)
    if sections["data"]:
        bus.update(PREFIX + "INSERT DATA {\n" + sections["data"] + "\n}", language="sparql")
    outcome = run_query(bus, sections["query"]) if "query" in sections else run_update(bus, sections["update"])
    now = {"data": sections["data"], **outcome}
    if os.environ.get("QUERYD_WRITE_GOLDENS"):
        write_case(name, head, now)
    else:
        assert now == sections


def test_there_are_cases():
    assert len(CASES) >= 90
