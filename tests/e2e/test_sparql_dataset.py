# SPDX-License-Identifier: LGPL-2.1-or-later
"""The option "dataset": the graphs of a statement, given beside its text; and the declared types that say what a query gives."""
import pytest

import harness
from harness import BusError

TEXT = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"
NAMED = "SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } }"


@pytest.fixture(name="store")
def fill(bus):
    bus.update("INSERT DATA { <x:s> <x:p> 1, 2, 3 . GRAPH <x:g1> { <x:s> <x:p> 1 } GRAPH <x:g2> { <x:s> <x:p> 1, 2 } }",
               language="sparql")
    return bus


def count(bus, text, dataset=None):
    options = {} if dataset is None else {"dataset": dataset}
    value = bus.query(text, language="sparql", **options)[0][0]
    return int(value[0] if isinstance(value, tuple) else value)


def test_instead_of_the_text(store):
    for _ in range(2):  # each has a plan of its own, found again
        assert count(store, TEXT) == 3 and count(store, NAMED) == 3
        assert count(store, TEXT, "FROM <x:g1>") == 1
        assert count(store, TEXT, "FROM <x:g1> FROM <x:g2>") == 2  # of two graphs merged
        assert count(store, NAMED, "FROM NAMED <x:g2>") == 2
        assert count(store, TEXT, "FROM NAMED <x:g2>") == 0
        assert count(store, "SELECT (COUNT(*) AS ?n) FROM <x:g2> { ?s ?p ?o }", "FROM <x:g1>") == 1
        assert count(store, "SELECT (COUNT(*) AS ?n) FROM <x:g2> { ?s ?p ?o }") == 2


def test_default_and_all(store):
    """Words of the option only: the store's own default graph, and all graphs."""
    for _ in range(2):
        assert count(store, TEXT, "FROM DEFAULT") == 3 and count(store, NAMED, "FROM DEFAULT") == 0
        store.update("INSERT DATA { GRAPH <x:g2> { <x:s> <x:p> 4 } }", language="sparql")
        assert count(store, TEXT, "FROM ALL") == 4 and count(store, NAMED, "FROM ALL") == 0
        assert count(store, NAMED, "FROM NAMED ALL") == 4 and count(store, TEXT, "FROM NAMED ALL") == 0
        assert count(store, TEXT, "FROM <x:g2> FROM DEFAULT") == 4 and count(store, TEXT, "FROM <x:g1> FROM ALL FROM <x:g2>") == 4
        assert count(store, "SELECT (COUNT(*) AS ?n) { <x:s> <x:p>+ ?o }", "FROM ALL") == 4
        assert count(store, "SELECT (COUNT(*) AS ?n) { GRAPH <x:g2> {} }", "FROM NAMED ALL") == 1
    for text in TEXT.replace("{", "FROM ALL {"), TEXT.replace("{", "FROM DEFAULT {", 1), TEXT.replace("{", "FROM NAMED ALL {", 1):
        with pytest.raises(BusError) as error:
            count(store, text)
        assert error.value.name == "Syntax"


def test_updates(store):
    store.update("INSERT { ?s <x:seen> ?o } WHERE { ?s ?p ?o }", language="sparql", dataset="FROM <x:g1>")
    assert count(store, "SELECT (COUNT(*) AS ?n) { ?s <x:seen> ?o }") == 1
    store.update("DELETE WHERE { ?s <x:seen> ?o } ; INSERT DATA { <x:s> <x:q> 1 }", language="sparql", dataset="FROM <x:g1>")
    assert count(store, "SELECT (COUNT(*) AS ?n) { ?s <x:seen> ?o }") == 1  # nothing of it is in <x:g1>
    for text in "WITH <x:g1> DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }", "DELETE { ?s ?p ?o } USING <x:g1> WHERE { ?s ?p ?o }":
        with pytest.raises(BusError, match="USING or WITH") as error:
            store.update(text, language="sparql", dataset="FROM <x:g1>")
        assert error.value.name == "BadParameter"


@pytest.mark.parametrize("dataset", ["", "<x:g1>", "FROM", "FROM <x:g1> {", "FROM <x:g1> WHERE", "FROM <a b>", "USING <x:g1>",
                         "FROM <relative>", "FROM ?g", "FROM NAMED DEFAULT",
                                     "FROM <x:g1> } ; DROP ALL #", "SELECT"])
def test_what_is_no_dataset(store, dataset):
    for call in (lambda: store.query(TEXT, language="sparql", dataset=dataset),
                 lambda: store.update("INSERT { ?s <x:r> ?o } WHERE { ?s ?p ?o }", language="sparql", dataset=dataset)):
        with pytest.raises(BusError, match="option 'dataset'") as error:
            call()
        assert error.value.name == "BadParameter"


def test_text_and_export(store):
    assert store.query_text(TEXT, "csv", language="sparql", dataset="FROM <x:g2>")[1] == "n\r\n2\r\n"
    with harness.memory_file() as fd:
        store.export(TEXT, "csv", fd, language="sparql", dataset="FROM <x:g1>")
        assert harness.os.pread(fd, 100, 0) == b"n\r\n1\r\n"


@pytest.mark.parametrize("text, types", [
    ("SELECT * { ?s ?p ?o }", ["", "", ""]), ("ASK {}", ["xsd:boolean"]), ("CONSTRUCT WHERE { ?s ?p ?o }", ["rdf:subject",
    "rdf:predicate", "rdf:object"]),
    ("DESCRIBE <x:s>", ["rdf:subject", "rdf:predicate", "rdf:object"]),
])
def test_declared_types(store, text, types):
    reply, _ = store.call("Prepare", "(ssa{sv}a{sv})", "sparql", text, {}, {})
    assert [kind for _, kind in reply.unpack()[1]] == types
