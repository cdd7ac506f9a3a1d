# SPDX-License-Identifier: LGPL-2.1-or-later
"""Export as Arrow's IPC stream and file, read by arrow_reader.py. tests/run adbc reads them with pyarrow as well."""
import os
import struct

import pytest

from arrow_reader import BINARY, FLOAT, INT, STRUCT, UTF8, read_file, read_stream
from harness import BusError, memory_file

NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) SELECT {} FROM n"
READERS = {"arrow": read_stream, "arrow-file": read_file}


def export(bus, text, fmt="arrow", **opts):
    with memory_file() as fd:
        n_rows, n_bytes = bus.export(text, fmt, fd, **opts)
        data = memoryview(os.pread(fd, os.fstat(fd).st_size, 0))
        columns, rows, n_batches, n_read = READERS[fmt](data)
        assert (len(rows), len(data), n_read) == (n_rows, n_bytes, n_bytes)
        return columns, rows, n_batches


@pytest.mark.parametrize("fmt", READERS)
def test_values(bus, fmt):
    bus.update("CREATE TABLE t (a INTEGER, b REAL, c TEXT, d BLOB, e)")
    bus.update("INSERT INTO t VALUES (9223372036854775807, 0.1, 'é', X'00ff', NULL), (NULL, NULL, NULL, NULL, NULL), "
               "(-1, -1e308, '', X'', NULL)")
    columns, rows, n_batches = export(bus, "SELECT * FROM t", fmt)
    assert columns == [("a", INT, {}), ("b", FLOAT, {}), ("c", UTF8, {}), ("d", BINARY, {}), ("e", UTF8, {})]
    assert rows == [(2**63 - 1, 0.1, "é", b"\0\xff", None), (None,) * 5, (-1, -1e308, "", b"", None)]
    assert n_batches == 1


@pytest.mark.parametrize("fmt", READERS)
def test_no_rows(bus, fmt):
    bus.update("CREATE TABLE t (a INTEGER, b)")
    assert export(bus, "SELECT a, b AS \"ü\" FROM t", fmt) == ([("a", INT, {}), ("ü", UTF8, {})], [], 0)


@pytest.mark.parametrize("fmt", READERS)
def test_batches(bus, fmt):
    text = NUMBERS.format(300000, "i, iif(i % 3 = 0, NULL, 'row ' || i) AS t")
    columns, rows, n_batches = export(bus, text, fmt)
    assert columns == [("i", INT, {}), ("t", UTF8, {})] and n_batches > 1
    assert rows == [(i, None if i % 3 == 0 else f"row {i}") for i in range(1, 300001)]


def test_terms(bus):
    bus.update("INSERT DATA { <http://a/s> <http://a/p> <http://a/o> , 'chat'@fr , 1.5 }", language="sparql")
    text = "SELECT ?o ?unbound { ?s ?p ?o } ORDER BY STR(?o)"
    columns, rows, _ = export(bus, text, language="sparql")
    assert [kind for _, kind, _ in columns] == [UTF8, UTF8]
    assert rows == [("1.5", None), ("chat", None), ("http://a/o", None)]
    columns, rows, _ = export(bus, text, language="sparql", rdf_terms="struct")
    assert columns[0] == ("o", STRUCT, {"ARROW:extension:name": "queryd.rdf_term", "ARROW:extension:metadata": ""})
    decimal = "http://www.w3.org/2001/XMLSchema#decimal"
    assert [row[0] for row in rows] == [("1.5", decimal, None), ("chat", None, "fr"), ("http://a/o", "@id", None)]


@pytest.mark.parametrize("expression,message", [
    ("iif(i < 500000, i, 'late')", "the TEXT in column 'x' of row 500000 does not fit the type int64"),
    ("iif(i < 500000, 'a', CAST(X'61ff' AS TEXT))", "the TEXT in column 'x' of row 500000 is not UTF-8"),
])
def test_late_value_that_does_not_fit(bus, expression, message):
    """The export fails, and what was written has no end mark: no reader takes it for whole."""
    with memory_file() as fd:
        with pytest.raises(BusError, match=message):
            bus.export(NUMBERS.format(600000, expression + " AS x"), "arrow", fd)
        data = memoryview(os.pread(fd, os.fstat(fd).st_size, 0))
        assert len(data) > 100000
        with pytest.raises((struct.error, AssertionError)):
            read_stream(data)


def test_refusals(bus):
    with pytest.raises(BusError, match="format 'arrow' is no text: take it by Export"):
        bus.query_text("SELECT 1", "arrow")
    with memory_file() as fd:
        with pytest.raises(BusError, match="rdf_terms.*'text' or 'struct'"):
            bus.export("SELECT 1", "arrow", fd, rdf_terms="json")
        with pytest.raises(BusError, match="arrow and arrow-file are known"):
            bus.export("SELECT 1", "parquet", fd)
    assert {"arrow", "arrow-file"} <= set(bus.property("Formats"))


def test_queryctl(bus, tmp_path):
    for name, read in (("x.arrow", read_stream), ("x.arrows", read_stream), ("x.feather", read_file)):
        run = bus.run(bus.queryctl, "export", "-o", str(tmp_path / name), "SELECT 1 AS a, 'b' AS b")
        assert (run.returncode, run.stderr) == (0, "")
        assert read(memoryview((tmp_path / name).read_bytes()))[1] == [(1, "b")]
    late = NUMBERS.format(600000, "iif(i < 500000, i, 'late') AS x")
    run = bus.run(bus.queryctl, "export", "-o", str(tmp_path / "late.arrow"), late)
    assert run.returncode == 1 and "does not fit the type int64" in run.stderr
    assert not (tmp_path / "late.arrow").exists()
