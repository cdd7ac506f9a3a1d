# SPDX-License-Identifier: LGPL-2.1-or-later
"""The reader written from docs/wire-format.md: golden files, streams that lie, and a pipe of the real daemon."""
import glob
import io
import math
import os
import struct

import pytest

from harness import ROOT
from wire_client import encode_record, encode_row
from wire_reader import (BNODE, IRI, LITERAL_LANG, LITERAL_TYPED, TO_CLIENT, TO_DAEMON, BadMessage, Body, CutOff, RemoteError,
                         Schema, Term, WireReader, decode_rows)

GOLDEN = os.path.join(ROOT, "tests/data/wire")


def golden(name):
    out = bytearray()
    with open(os.path.join(GOLDEN, name + ".hex"), encoding="utf-8") as stream:
        for line in stream:
            for token in line.split("#")[0].split():
                byte, _, times = token.partition("*")
                out += bytes([int(byte, 16)]) * int(times or 1)
    return bytes(out)


def reader(data, page_size=65536, kinds=TO_CLIENT):
    return WireReader(io.BytesIO(data).read, page_size, kinds)


def rows_of(name, n_columns):
    record = reader(golden(name), kinds=TO_CLIENT | TO_DAEMON).record()
    return decode_rows(record.body, record.count, n_columns)


def test_all_types():
    first, second = rows_of("rows-all-types", 9)
    assert first == (None, 42, 1.5, "Grüße", b"\x00\xff\x10", Term(IRI, "http://example.org/a"), Term(BNODE, "b0"),
                     Term(LITERAL_LANG, "chat", "fr"),
                     Term(LITERAL_TYPED, "2026-01-31", "http://www.w3.org/2001/XMLSchema#date"))
    assert second == (None, -2**63, 0.0, "", b"", Term(IRI, ""), Term(BNODE, ""), Term(LITERAL_LANG, "", "en"),
                      Term(LITERAL_TYPED, "a\0b", "urn:t"))
    assert math.copysign(1, second[2]) == -1


@pytest.mark.parametrize("name,n_columns,expected", [
    ("rows-integers", 2, [(2**63 - 1, 1.7976931348623157e308), (-1, 5e-324), (0, math.inf), (2**53 + 1, -math.inf)]),
    ("rows-text", 1, [("a\0b",), (None,), ("",)]),
    ("rows-alignment", 6, [("x", 1, b"yyy", None, 2.0, "zz")]),
    ("rows-zero-columns", 0, [(), (), ()]),
    ("fetch-none", 0, []),
    ("fetch-parameters", 2, [(1, "one"), (2, None)]),
])
def test_rows(name, n_columns, expected):
    assert rows_of(name, n_columns) == expected


def test_schema():
    record = reader(golden("schema")).record()
    schema = Schema(record.count, record.body)
    assert schema.columns == [("id", "INTEGER"), ("größe", "")]
    assert schema.parameters == [(1, ":id"), (2, "")]
    assert (schema.page_size, schema.writes, schema.rdf) == (65536, False, False)
    assert Schema(0, reader(golden("schema-writes")).record().body).writes
    assert Schema(2, reader(golden("schema-rdf")).record().body).rdf


def test_end_and_error():
    stream = reader(golden("end-write"))
    assert not list(stream.rows(0))
    assert (stream.end.changes, stream.end.last_insert_rowid, stream.end.generation) == (5, -2, (3 << 40) + 18)
    with pytest.raises(RemoteError) as error:
        list(reader(golden("error")).rows(1))
    assert (error.value.name, error.value.line, error.value.column) == ("Syntax", 1, 8)
    assert error.value.message == "1:8: unexpected FORM, expected FROM"


def test_chunks():
    record = reader(golden("chunks-rows"), 4096).record()
    assert (record.kind, record.count, record.serial) == (ord("R"), 1, 6)
    assert decode_rows(record.body, 1, 3) == [(7, "a" * 5000, b"\xbb" * 4000)]
    record = reader(golden("chunks-prepare"), 4096, TO_DAEMON).record()
    body = Body(record.body)
    assert (body.string(), body.string()) == (b"sql", b"SELECT " + b"1" * 5000)
    body.finish()


def test_client_writes_the_golden_bytes():
    rows = [(1, "one"), (2, None)]
    assert encode_record("F", 2, 9, b"".join(map(encode_row, rows))) == golden("fetch-parameters")
    big = encode_row((7, "a" * 5000, b"\xbb" * 4000))
    assert encode_record("R", 1, 6, big, 4096) == golden("chunks-rows")
    all_types = [(None, 42, 1.5, "Grüße", b"\x00\xff\x10", Term(IRI, "http://example.org/a"), Term(BNODE, "b0"),
                  Term(LITERAL_LANG, "chat", "fr"), Term(LITERAL_TYPED, "2026-01-31", "http://www.w3.org/2001/XMLSchema#date")),
                 (None, -2**63, -0.0, "", b"", Term(IRI, ""), Term(BNODE, ""), Term(LITERAL_LANG, "", "en"),
                  Term(LITERAL_TYPED, "a\0b", "urn:t"))]
    assert encode_record("R", 2, 1, b"".join(map(encode_row, all_types))) == golden("rows-all-types")


def test_every_golden_file_is_a_record():
    names = [os.path.basename(p)[:-4] for p in glob.glob(GOLDEN + "/*.hex")]
    assert len(names) >= 20
    for name in names:
        page_size = 4096 if name.startswith("chunks") else 65536
        stream = reader(golden(name), page_size, TO_CLIENT | TO_DAEMON)
        if name in ("ring", "page", "whole"):  # what they stand for is not in the stream: test_ring.py, test_remembered.py
            stream.socket_record()
        else:
            stream.record()
        assert stream.read(1) == b"", name


@pytest.mark.parametrize("n", [0, 1, 15, 16, 17, 263])
def test_cut_off_is_never_a_result(n):
    with pytest.raises(CutOff):
        list(reader(golden("rows-all-types")[:n]).rows(9))


def test_rows_without_end_is_never_a_result():
    with pytest.raises(CutOff):
        list(reader(golden("rows-text")).rows(1))


@pytest.mark.parametrize("offset,value", [(0, 17), (4, ord("Z")), (4, ord("F")), (5, 1), (6, 1), (16, 0), (56, 9)])
def test_lies_are_refused(offset, value):
    data = bytearray(golden("rows-all-types"))
    data[offset] = value
    with pytest.raises((BadMessage, CutOff, struct.error)):
        list(reader(bytes(data) + golden("end")).rows(9))


def test_end_that_counts_other_rows():
    with pytest.raises(BadMessage):
        list(reader(golden("rows-text") + golden("end")).rows(1))


def test_pipe_of_the_daemon(bus):
    """The proof: a result of the real daemon, by a reader that knows only the document."""
    bus.update("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, weight REAL, data BLOB)")
    bus.update("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO t "
               "SELECT i, 'row ' || i, i / 8.0, CASE i % 3 WHEN 0 THEN NULL ELSE CAST(i AS BLOB) END FROM n")
    with bus.prepare("SELECT * FROM t ORDER BY id", transport="pipe") as pipe:
        stream = WireReader(pipe.read)
        rows = list(stream.rows())
    assert stream.schema.columns == [("id", "INTEGER"), ("name", "TEXT"), ("weight", "REAL"), ("data", "BLOB")]
    assert pipe.columns == stream.schema.columns
    assert rows == [(i, f"row {i}", i / 8, None if i % 3 == 0 else str(i).encode()) for i in range(1, 5001)]
    assert stream.end.n_rows == 5000 and stream.end.changes == 0


def test_pipe_error_is_a_record(bus):
    """An error behind the first rows comes as ERROR, not as an early end."""
    bus.update("CREATE TABLE t (a)")
    bus.batch([("INSERT INTO t VALUES (?)", [i]) for i in range(3000)])
    sql = "SELECT a, abs(CASE WHEN a = 2900 THEN -9223372036854775808 ELSE a END), hex(zeroblob(200)) FROM t"
    with bus.prepare(sql, transport="pipe") as pipe:
        rows = []
        with pytest.raises(RemoteError) as error:
            for row in WireReader(pipe.read).rows():
                rows.append(row)
    assert "overflow" in error.value.message
    assert 0 < len(rows) <= 2900
