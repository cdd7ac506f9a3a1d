# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every kind of value, exactly, through every transport and format."""
import base64
import csv
import io
import json
import math
import os
import struct
import subprocess
import tempfile

import pytest

from harness import parameters
from wire_reader import RawText, WireReader

TEN_MIB = 10 * 1024 * 1024
INTEGERS = [0, 1, -1, 2**31, 2**53 + 1, 2**63 - 1, -2**63]
DOUBLES = [0.5, 1.0, -1.5, 0.1, math.pi, 1e300, 5e-324, 1.7976931348623157e308, math.inf, -math.inf]
TEXTS = ["", "x", "Grüße, 世界 🌍", "line\nline\r\n\ttab", "a,b;\"c\" 'd' \\ \\N", "42", "1.5", " x ", "X'00'", "NULL",
         "\ufeffbom", "\x01\x7f"]
BLOBS = [b"", b"\0", bytes(range(256)), b"text"]
VALUES = [None] + INTEGERS + DOUBLES + TEXTS + BLOBS
TRICKY_SQL = {"a\0b": "CAST(x'610062' AS TEXT)", RawText(b"a\xff\xc3"): "CAST(x'61ffc3' AS TEXT)"}
FORMATS = ["csv", "tsv", "json", "jsonl"]


def same(a, b):
    if isinstance(a, float) and isinstance(b, float):
        return struct.pack("<d", a) == struct.pack("<d", b)
    return type(a) is type(b) and a == b


def assert_same(got, want):
    assert len(got) == len(want)
    for g, w in zip(got, want):
        assert same(g, w), f"{g!r:.80} is not {w!r:.80}"


def fill(bus):
    """Table t(id, v) with all values; returns the list by id. Written through a channel: exact for every value."""
    bus.update("CREATE TABLE t (id INTEGER PRIMARY KEY, v)")
    with bus.prepare("INSERT INTO t VALUES (?, ?)", access="write") as channel:
        channel.fetch(*enumerate(VALUES))
        assert channel.end.changes == len(VALUES)
    values = list(VALUES)
    for value, sql in TRICKY_SQL.items():
        bus.update(f"INSERT INTO t VALUES ({len(values)}, {sql})")
        values.append(value)
    return values


def test_parameters_and_socketpair(bus):
    with bus.prepare("SELECT ?1, typeof(?1)") as channel:
        for value in VALUES:
            (row,) = channel.fetch((value,))
            assert same(row[0], value), (row[0], value)
        assert channel.fetch((math.nan,)) == [(None, "null")], "NaN reads as NULL, as SQLite has it"
        (row,) = channel.fetch(("a\0b",))
        assert row[0] == "a\0b"
        (row,) = channel.fetch((-0.0,))
        assert row[0] == 0.0


def test_stored_values_socketpair_and_pipe(bus):
    values = fill(bus)
    with bus.prepare("SELECT v FROM t ORDER BY id") as channel:
        assert_same([v for (v,) in channel.fetch()], values)
        assert channel.end.n_rows == len(values)
    with bus.prepare("SELECT v FROM t ORDER BY id", transport="pipe") as pipe:
        assert_same([v for (v,) in WireReader(pipe.read).rows()], values)


@pytest.mark.parametrize("page_size", [4096, 65536, 1048576])
def test_page_sizes(bus, page_size):
    values = fill(bus)
    for transport in "socketpair", "ring", "pipe", "vmsplice":
        with bus.prepare("SELECT v, zeroblob(3000) FROM t ORDER BY id", transport=transport, page_size=page_size) as result:
            assert result.info["page_size"] == page_size
            rows = result.fetch() if transport in ("socketpair", "ring") else list(WireReader(result.read, page_size).rows())
        assert_same([v for v, _ in rows], values)


def test_query_by_value(bus):
    values = fill(bus)
    columns, rows, truncated = bus.query_full("SELECT v FROM t ORDER BY id")
    assert columns == ["v"] and not truncated
    # text that D-Bus cannot carry as s comes as ay
    want = [v.encode() if isinstance(v, str) and "\0" in v else bytes(v) if isinstance(v, RawText) else v for v in values]
    assert_same([v for (v,) in rows], want)


def test_query_parameters_by_name_and_type(bus):
    for value in VALUES:
        (row,) = bus.query("SELECT :v, @w", {":v": value, "w": 1})
        assert same(row[0], value)
    assert bus.query("SELECT ?2, ?1", ["a", "b"]) == [("b", "a")]
    assert bus.query("SELECT $x", {"$x": 7}) == [(7,)]


def from_json(value):
    if isinstance(value, dict):
        (kind, text), = value.items()
        data = base64.b64decode(text, validate=True)
        return RawText(data) if kind == "text_base64" else data
    return value


def test_query_text_json(bus):
    values = fill(bus)
    for fmt in "json", "jsonl":
        content_type, text, truncated = bus.query_text("SELECT id, v FROM t ORDER BY id", fmt)
        assert content_type.startswith("application/json") and not truncated
        rows = json.loads(text) if fmt == "json" else [json.loads(line) for line in text.splitlines()]
        assert_same([from_json(r["v"] if isinstance(r, dict) else r[1]) for r in rows], values)


def test_query_text_csv(bus):
    """A reader that knows only RFC 4180 sees every plain text as it is."""
    bus.update("CREATE TABLE t (id INTEGER PRIMARY KEY, v)")
    bus.batch([("INSERT INTO t VALUES (?, ?)", [i, text]) for i, text in enumerate(TEXTS)])
    content_type, text, _ = bus.query_text("SELECT id, v FROM t ORDER BY id", "csv")
    assert content_type.startswith("text/csv")
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert rows[0] == ["id", "v"]
    assert [v for _, v in rows[1:]] == TEXTS
    assert len(bus.query_text("SELECT id FROM t", "csv", header=False)[1].splitlines()) == len(TEXTS)


@pytest.mark.parametrize("fmt", ["csv", "tsv", "jsonl"])
def test_export_and_import_are_inverse(bus, fmt):
    """What Export writes Import reads back, value for value and type for type."""
    values = fill(bus)
    with tempfile.TemporaryFile() as file:
        n_rows, n_bytes = bus.export("SELECT id, v FROM t ORDER BY id", fmt, file.fileno())
        assert n_rows == len(values) and n_bytes == os.fstat(file.fileno()).st_size > 0
        file.seek(0)
        bus.update("CREATE TABLE copy (id INTEGER PRIMARY KEY, v)")
        job = bus.import_fd(file.fileno(), fmt, table="copy")
    assert job["State"] == "finished", job
    assert job["RowsDone"] == len(values)
    with bus.prepare("SELECT v FROM copy ORDER BY id") as channel:
        assert_same([v for (v,) in channel.fetch()], values)


@pytest.mark.parametrize("fmt", FORMATS)
def test_export_to_pipe_and_socket_is_query_text(bus, fmt):
    fill(bus)
    sql = "SELECT id, v FROM t WHERE typeof(v) <> 'text' OR instr(CAST(v AS BLOB), x'00') = 0 AND id < 30 ORDER BY id"
    want = bus.query_text(sql, fmt)[1].encode()
    read_end, write_end = os.pipe()
    bus.export(sql, fmt, write_end)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as stream:
        assert stream.read() == want


@pytest.mark.parametrize("kind", ["text", "blob"])
@pytest.mark.parametrize("transport", ["socketpair", "ring", "pipe", "vmsplice"])
def test_row_of_ten_mib(bus, kind, transport):
    data = os.urandom(TEN_MIB // 2).hex() if kind == "text" else os.urandom(TEN_MIB)
    bus.update("CREATE TABLE big (id INTEGER PRIMARY KEY, v)")
    with bus.prepare("INSERT INTO big VALUES (1, ?)", access="write") as channel:
        channel.fetch((data,))
    with bus.prepare("SELECT id, v, id + 1 FROM big UNION ALL SELECT 9, NULL, 9", transport=transport) as result:
        rows = result.fetch() if transport in ("socketpair", "ring") else list(WireReader(result.read).rows())
    assert rows[0][0] == 1 and rows[0][2] == 2 and rows[1] == (9, None, 9)
    assert same(rows[0][1], data)


@pytest.mark.parametrize("fmt", FORMATS)
def test_ten_mib_export(bus, fmt):
    bus.update("CREATE TABLE big (v)")
    data = os.urandom(TEN_MIB // 2).hex()
    with bus.prepare("INSERT INTO big VALUES (?)", access="write") as channel:
        channel.fetch((data,))
    with tempfile.TemporaryFile() as file:
        assert bus.export("SELECT v FROM big", fmt, file.fileno())[0] == 1
        file.seek(0)
        text = file.read().decode()
    assert data in text and len(text) < TEN_MIB + 100


def test_two_thousand_columns(bus):
    names = ", ".join(f"c{i}" for i in range(2000))
    bus.update(f"CREATE TABLE wide ({names})")
    with bus.prepare(f"INSERT INTO wide VALUES ({', '.join('?' * 2000)})", access="write") as channel:
        channel.fetch(tuple(range(2000)))
    want = [tuple(range(2000))]
    with bus.prepare("SELECT * FROM wide") as channel:
        assert [c for c, _ in channel.columns] == [f"c{i}" for i in range(2000)]
        assert channel.fetch() == want
    with bus.prepare("SELECT * FROM wide", transport="pipe", page_size=4096) as pipe:
        stream = WireReader(pipe.read, 4096)
        assert list(stream.rows()) == want
        assert len(stream.schema.columns) == 2000
    assert bus.query("SELECT * FROM wide") == want
    assert json.loads(bus.query_text("SELECT * FROM wide", "jsonl")[1]) is not None
    assert len(next(csv.reader(io.StringIO(bus.query_text("SELECT * FROM wide", "csv")[1])))) == 2000


def test_zero_columns(bus):
    """A statement that writes has no columns and no rows; END tells what it did."""
    bus.update("CREATE TABLE t (a)")
    with bus.prepare("INSERT INTO t VALUES (1), (2)", access="write") as channel:
        assert channel.columns == [] and channel.info["writes"]
        assert channel.fetch() == []
        assert channel.end.changes == 2 and channel.end.last_insert_rowid == 2


def test_zero_rows(bus):
    sql = "SELECT 1 AS a, 'x' AS b WHERE 0"
    with bus.prepare(sql) as channel:
        assert channel.fetch() == [] and channel.end.n_rows == 0
        assert [c for c, _ in channel.columns] == ["a", "b"]
    with bus.prepare(sql, transport="pipe") as pipe:
        stream = WireReader(pipe.read)
        assert list(stream.rows()) == [] and [c for c, _ in stream.schema.columns] == ["a", "b"]
    assert bus.query_full(sql) == (["a", "b"], [], False)
    assert bus.query_text(sql, "csv")[1].strip() == "a,b"
    assert json.loads(bus.query_text(sql, "json")[1]) == []
    assert bus.query_text(sql, "jsonl")[1] == ""


def test_same_column_names(bus):
    with bus.prepare("SELECT 1 AS a, 2 AS a, 3") as channel:
        assert [c for c, _ in channel.columns] == ["a", "a", "3"] and channel.fetch() == [(1, 2, 3)]
    assert list(json.loads(bus.query_text("SELECT 1 AS a, 2 AS a", "jsonl")[1]).values()) == [1, 2]


def test_update_returning(bus):
    bus.update("CREATE TABLE t (id INTEGER PRIMARY KEY, v)")
    with bus.prepare("INSERT INTO t (v) VALUES (?) RETURNING id, v", access="write") as channel:
        assert channel.fetch(("a",), ("b",)) == [(1, "a"), (2, "b")]
        assert channel.end.changes == 2 and channel.end.last_insert_rowid == 2
        texts = [(f"text {i}",) for i in range(9000)]  # of one request: they share pages
        assert channel.fetch(*texts) == [(i + 3, text) for i, (text,) in enumerate(texts)]
        assert channel.end.n_rows == 9000


def test_fts5(bus):
    bus.update("CREATE VIRTUAL TABLE docs USING fts5(title, body)")
    bus.batch([("INSERT INTO docs VALUES (?, ?)", [f"title {i}", f"the quick brown fox number {i}"]) for i in range(50)])
    sql = ("SELECT rowid, snippet(docs, 1, '[', ']', '…', 3), highlight(docs, 1, '<', '>'), bm25(docs) FROM docs "
           "WHERE docs MATCH ? ORDER BY rank")
    rows = bus.query(sql, ["number 7"])
    assert len(rows) == 1 and rows[0][0] == 8
    assert "[number]" in rows[0][1] and "<number> <7>" in rows[0][2] and rows[0][3] < 0


def test_against_the_sqlite3_shell(bus):
    """The same file read by the sqlite3 program: what we store is plain SQLite."""
    fill(bus)
    bus.stop_daemon()
    (path,) = [os.path.join(bus.store, n) for n in os.listdir(bus.store) if n.endswith((".db", ".sqlite"))]
    out = subprocess.run(["sqlite3", "-readonly", path, "SELECT count(*), sum(typeof(v) = 'text') FROM t"], capture_output=True,
                         text=True, check=True).stdout.strip()
    assert out == f"{len(VALUES) + 2}|{len(TEXTS) + 2}"


# --- booleans of D-Bus ---------------------------------------------------------------------------------------------------

KIND = "SELECT (STR(DATATYPE($x)) AS ?type) (STR($x) AS ?text) { }"
BOOLEAN = "http://www.w3.org/2001/XMLSchema#boolean"


def test_boolean_parameters_of_sparql(bus):
    """xsd:boolean, as TinySPARQL's interface and query_statement_bind_boolean() have them. They were 1 and 0."""
    asked = {"x": True}
    assert bus.query(KIND, asked, language="sparql") == [(BOOLEAN, "true")]
    assert bus.query(KIND, {"x": False}, language="sparql") == [(BOOLEAN, "false")]
    with bus.prepare(KIND, asked, language="sparql", transport="pipe") as pipe:
        assert list(WireReader(pipe.read).rows()) == [(BOOLEAN, "true")]
    with bus.prepare(KIND, asked, language="sparql", fetch=True) as channel:
        assert list(channel.answer(1)) == [(BOOLEAN, "true")]
    insert = "INSERT {{ <x:{}> <x:p> $x }} WHERE {{ }}"
    bus.update(insert.format("update"), asked, language="sparql")
    body = [("sparql", insert.format("batch"), parameters(asked))]
    bus.call("Batch", "(a(ssa{sv})a{sv})", body, {})
    assert len(bus.query("SELECT ?s { ?s <x:p> true }", language="sparql")) == 2


def test_boolean_parameters_of_sql(bus):
    assert bus.query("SELECT ?1, typeof(?1), ?2", [True, False]) == [(1, "integer", 0)]
    bus.update("CREATE TABLE t (a, b)")
    bus.update("INSERT INTO t VALUES (?1, ?2)", [True, False])
    bus.batch([("INSERT INTO t VALUES (?1, ?2)", [True, False])])
    assert bus.query("SELECT * FROM t") == [(1, 0)] * 2


def test_rows_that_need_the_memory_one_by_one(make_bus):
    """The statement that has run before reads the pages itself, beside SQLite, which keeps the first row."""
    bus = make_bus(limits={"query_memory_bytes": 8 << 20})
    bus.update("CREATE TABLE large (id INTEGER PRIMARY KEY, x)")
    for n_mib in 5, 4, 6:
        bus.update(f"INSERT INTO large (x) VALUES (zeroblob({n_mib << 20}))")
    for _ in range(3):
        run = bus.run(bus.queryctl, "sql", "SELECT x FROM large")
        assert (run.returncode, len(run.stdout.splitlines())) == (0, 1 + 3), run.stderr
