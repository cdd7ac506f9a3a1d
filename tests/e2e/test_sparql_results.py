# SPDX-License-Identifier: LGPL-2.1-or-later
"""Results of SPARQL as text: the W3C's formats and those of RDF, over D-Bus and through queryctl; functions that could run long."""
import csv
import io
import json
import os
import time
import xml.etree.ElementTree as ElementTree

import pytest

from harness import BusError, memory_file

XSD = "http://www.w3.org/2001/XMLSchema#"
DATA = """INSERT DATA {
    <http://e/a> <http://e/p> 1, 02.50, "x"@en-GB, "tab\\t\\"quote\\", line\\n" ; <http://e/q> <http://e/b> .
    <http://e/b> <http://e/p> "1999-12-31T23:59:59Z"^^<http://www.w3.org/2001/XMLSchema#dateTime> }"""
SELECT = "SELECT ?s ?o ?none WHERE { ?s <http://e/p> ?o } ORDER BY ?o"
CONSTRUCT = "CONSTRUCT { ?o <http://e/of> ?s } WHERE { ?s <http://e/q> ?o }"
NS = "{http://www.w3.org/2005/sparql-results#}"


@pytest.fixture
def data(bus):
    bus.update(DATA, language="sparql")
    return bus


def export(bus, text, fmt, **opts):
    with memory_file() as fd:
        bus.export(text, fmt, fd, language="sparql", **opts)
        return os.pread(fd, 1 << 20, 0).decode()


def test_json(data):
    result = json.loads(export(data, SELECT, "json"))
    assert result["head"]["vars"] == ["s", "o", "none"]
    cells = [row["o"] for row in result["results"]["bindings"]]
    assert cells == [
        {"type": "literal", "value": "1", "datatype": XSD + "integer"},
        {"type": "literal", "value": "02.50", "datatype": XSD + "decimal"},
        {"type": "literal", "value": "1999-12-31T23:59:59Z", "datatype": XSD + "dateTime"},
        {"type": "literal", "value": 'tab\t"quote", line\n'},
        {"type": "literal", "value": "x", "xml:lang": "en-GB"},
    ]
    assert all("none" not in row for row in result["results"]["bindings"])
    assert json.loads(export(data, "ASK { ?s ?p 1 }", "sparql-json")) == {"head": {}, "boolean": True}
    content_type, text, truncated = data.query_text(SELECT, "application/sparql-results+json", language="sparql")
    assert (content_type, truncated) == ("application/sparql-results+json", False)
    assert json.loads(text) == result


def test_xml(data):
    root = ElementTree.fromstring(export(data, SELECT, "xml"))
    assert [v.get("name") for v in root.iter(NS + "variable")] == ["s", "o", "none"]
    literals = list(root.iter(NS + "literal"))
    assert [e.text for e in literals] == ["1", "02.50", "1999-12-31T23:59:59Z", 'tab\t"quote", line\n', "x"]
    assert literals[4].get("{http://www.w3.org/XML/1998/namespace}lang") == "en-GB"
    assert literals[0].get("datatype") == XSD + "integer"
    assert ElementTree.fromstring(export(data, "ASK { ?s ?p 7 }", "xml")).findtext(NS + "boolean") == "false"


def test_csv_and_tsv(data):
    rows = list(csv.reader(io.StringIO(export(data, SELECT, "csv"), newline="")))
    assert rows[0] == ["s", "o", "none"] and rows[4] == ["http://e/a", 'tab\t"quote", line\n', ""]
    lines = export(data, SELECT, "tsv").split("\n")
    assert lines[0] == "?s\t?o\t?none" and lines[1] == "<http://e/a>\t1\t"
    assert lines[4] == '<http://e/a>\t"tab\\t\\"quote\\", line\\n"\t' and lines[5] == '<http://e/a>\t"x"@en-GB\t'


def test_graphs(data):
    triple = "<http://e/b> <http://e/of> <http://e/a> .\n"
    assert export(data, CONSTRUCT, "ntriples") == triple
    assert "rdf:about" in export(data, CONSTRUCT, "rdfxml")
    assert '<http://e/b> <http://e/p> "1999' in export(data, "DESCRIBE ?o WHERE { ?s <http://e/q> ?o }", "turtle")
    with pytest.raises(BusError) as refused:
        export(data, SELECT, "turtle")
    assert refused.value.name == "BadParameter" and "triples" in refused.value.message
    with pytest.raises(BusError) as refused:
        export(data, SELECT, "excel")
    assert refused.value.name == "BadParameter" and "sparql-json" in refused.value.message


def test_sql_in_the_formats_of_sparql(data):
    _, text, _ = data.query_text("SELECT 1 AS a, 0.5 AS b, 'x' AS c, NULL AS d", "sparql-json")
    (row,) = json.loads(text)["results"]["bindings"]
    assert row == {"a": {"type": "literal", "value": "1", "datatype": XSD + "integer"},
                   "b": {"type": "literal", "value": "5.0E-1", "datatype": XSD + "double"},
                   "c": {"type": "literal", "value": "x"}}


def queryctl(bus, *arguments, code=0):
    run = bus.run(bus.queryctl, *arguments)
    assert run.returncode == code, run.stderr
    return run.stdout if code == 0 else run.stderr


def test_queryctl(data):
    assert json.loads(queryctl(data, "sparql", "-F", "sparql-json", SELECT)) == json.loads(export(data, SELECT, "json"))
    assert queryctl(data, "sparql", "-F", "ntriples", CONSTRUCT) == "<http://e/b> <http://e/of> <http://e/a> .\n"
    assert queryctl(data, "export", "--sparql", "-F", "sparql-csv", "SELECT ?s WHERE { ?s ?p 1 }") == "s\nhttp://e/a\n"
    assert queryctl(data, "sparql", "-F", "csv", "-p", '$o="x"@en-gb', "SELECT ?s WHERE { ?s ?p $o }") == "s\nhttp://e/a\n"
    assert queryctl(data, "sparql", "-F", "csv", "-p", "$o=<http://e/b>", "SELECT ?s WHERE { ?s ?p $o }") == "s\nhttp://e/a\n"
    queryctl(data, "update", "--sparql", "DELETE WHERE { ?s <http://e/q> ?o } ; DELETE WHERE { ?s ?p 1 }")
    assert queryctl(data, "sparql", "-F", "tsv", "SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o }") == "n\n4\n"
    assert "triples" in queryctl(data, "sparql", "-F", "turtle", SELECT, code=1)
    assert "1:8" in queryctl(data, "sparql", "SELECT WHERE", code=1)


def test_regular_expressions_end(bus):
    """A text that would take minutes ends at the deadline, one that would take for ever at its limit."""
    bus.update('INSERT DATA { <http://e/a> <http://e/p> "' + "a" * 400000 + '" }', language="sparql")
    start = time.monotonic()
    with pytest.raises(BusError) as ended:
        bus.query('SELECT ?s WHERE { ?s ?p ?o FILTER REGEX(?o, "a*[bc]") }', language="sparql", timeout_ms=500)
    assert ended.value.name == "Timeout" and time.monotonic() - start < 3
    with pytest.raises(BusError) as ended:
        bus.query('SELECT ?s WHERE { ?s ?p ?o FILTER REGEX(?o, "^(a|aa)+$$b") }', language="sparql")
    assert ended.value.name == "TooComplex" and "regex_steps" in ended.value.message
    with pytest.raises(BusError) as ended:
        bus.query('SELECT ?s WHERE { ?s ?p ?o FILTER REGEX(?o, "' + "a" * 1025 + '") }', language="sparql")
    assert ended.value.name == "TooComplex" and "regex_pattern_bytes" in ended.value.message
