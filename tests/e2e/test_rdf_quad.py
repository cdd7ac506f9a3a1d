# SPDX-License-Identifier: LGPL-2.1-or-later
"""SQL and RDF in one statement: rdf_quad. The examples of docs/rdf-store.md run here."""
import os
import re

import pytest

from harness import BusError

DATA = """
PREFIX : <http://example.org/>
INSERT DATA {
  :anna :name "Anna" ; :likes :tea . :ben :name "Ben" ; :likes :tea, :milk .
  :tea :name "tea"@en, "Tee"@de ; :price 2.50 .
  GRAPH :old { :anna :name "Ann" }
}
"""


@pytest.fixture
def store(bus):
    bus.update(DATA, language="sparql")
    return bus


def test_rows(store):
    name = "http://example.org/name"
    assert sorted(store.query("SELECT graph, subject, object, datatype, language FROM rdf_quad WHERE predicate=? AND "
                              "subject LIKE '%anna'", [name]), key=repr) == [
        ("http://example.org/old", "http://example.org/anna", "Ann", "http://www.w3.org/2001/XMLSchema#string", None),
        (None, "http://example.org/anna", "Anna", "http://www.w3.org/2001/XMLSchema#string", None)]
    assert store.query("SELECT object FROM rdf_quad WHERE language='de'") == [("Tee",)]
    assert store.query("SELECT object FROM rdf_quad WHERE predicate='http://example.org/price'") == [("2.50",)]


def test_uses_indexes(store):
    """The plan is given what the text says: bit 1 is the subject, bit 2 the predicate (rdf-quad.c)."""
    for where, given in (("subject='http://e/a'", 2), ("subject='http://e/a' AND predicate='http://e/p'", 6), ("object='5'", 8)):
        assert f"VIRTUAL TABLE INDEX {given}:" in store.explain("SELECT object FROM rdf_quad WHERE " + where)[1]


def test_is_not_written(store):
    for text in ("DELETE FROM rdf_quad", "UPDATE rdf_quad SET object='x'", "INSERT INTO rdf_quad(subject) VALUES('x')"):
        with pytest.raises(BusError, match="may not be modified"):
            store.update(text)


def test_documented_example(store):
    path = os.path.join(os.environ.get("QUERYD_SOURCE_ROOT", os.getcwd()), "docs/rdf-store.md")
    with open(path, encoding="utf-8") as stream:
        section = stream.read().split("## For SQL", 1)[1].split("\n## ", 1)[0]
    statements = [re.sub(r"^    ", "", block, flags=re.M) for block in re.findall(r"(?:^    .*\n)+", section, flags=re.M)]
    statements = [text for block in statements for text in re.split(r";\n", block) if re.match(r"\s*(CREATE|INSERT|SELECT)", text)]
    assert len(statements) >= 4
    results = []
    for text in statements:
        if text.lstrip().startswith("SELECT"):
            results.append(store.query(text))
        else:
            store.update(text)
    assert ("Ben", 3) in results[0]
    assert all(results)
