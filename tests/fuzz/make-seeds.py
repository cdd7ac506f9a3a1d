#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes the seeds of fuzz-wire-reader and fuzz-requests, the golden files of the wire format and conversations made of them, and
of fuzz-pages: small databases.

Run it from anywhere after a change of the wire format; what it writes is committed.
"""
import os
import re
import sqlite3
import sys
import tempfile

FOLDER = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(FOLDER, "../data/wire")
sys.path.insert(0, os.path.join(FOLDER, "../e2e"))
from wire_client import encode_record, encode_row, encode_string  # noqa: E402

TO_CLIENT, TO_DAEMON, PAGE_64K = 0, 1, 4 << 1


def golden(name):
    with open(os.path.join(GOLDEN, name), encoding="utf-8") as stream:
        tokens = re.sub(r"#.*", "", stream.read()).split()
    return b"".join(bytes.fromhex(t[:2]) * (int(t[3:]) if "*" in t else 1) for t in tokens)


def write(target, name, data):
    folder = os.path.join(FOLDER, "corpus", target)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "wb") as stream:
        stream.write(data)


def prepare(text, serial=1, **options):
    body = encode_string("sql") + encode_string(text)
    for key, value in options.items():
        body += encode_string(key) + encode_string(value)
    return encode_record("P", len(options), serial, body)


def fetch(serial, *rows):
    return encode_record("F", len(rows), serial, b"".join(encode_row(row) for row in rows))


def cancel(serial):
    return encode_record("C", serial, 0)


def wire_seeds():
    columns = {"rows-all-types": 9, "rows-alignment": 6, "rows-integers": 2, "rows-text": 1, "rows-zero-columns": 0,
               "chunks-rows": 3, "fetch-parameters": 2}
    for name in sorted(os.listdir(GOLDEN)):
        base, data = name.removesuffix(".hex"), golden(name)
        kind = data[16:17] if data[4:5] == b"K" else data[4:5]
        page = 0 if data[4:5] == b"K" else PAGE_64K
        direction = TO_DAEMON if kind in b"PFCBML" else TO_CLIENT
        write("fuzz-wire-reader", base, bytes([page | direction, columns.get(base, 1)]) + data)
    write("fuzz-wire-reader", "whole-result",
          bytes([PAGE_64K | TO_CLIENT, 0]) + golden("schema.hex") + golden("rows-integers.hex") + golden("end.hex"))


def request_seeds():
    """The first byte: 1 the channel writes, 2 small pages, 4 the statement it begins with has parameters."""
    query = prepare("SELECT ?1 AS a, :b AS b", 1) + fetch(2, [7, "text"]) + fetch(3, [None, b"\0\xff"])
    write("fuzz-requests", "query", b"\0" + query)
    write("fuzz-requests", "first-statement", b"\4" + fetch(1, [1, 2.5]) + fetch(2, ["a", None]))
    write("fuzz-requests", "rows-of-an-update", b"\1" + prepare("INSERT INTO t VALUES (?, ?)", 1, access="write")
          + fetch(2, [1, "a"], [2, "b"], [3, None]) + prepare("SELECT count(*) FROM t", 3) + fetch(4))
    write("fuzz-requests", "returning", b"\1" + prepare("INSERT INTO t VALUES (1, 'x') RETURNING *", 1, access="write") + fetch(2))
    write("fuzz-requests", "cancelled", b"\0" + prepare("SELECT 1", 1) + fetch(2) + cancel(2) + fetch(3) + cancel(9))
    write("fuzz-requests", "pipelined", b"\0" + prepare("SELECT ?", 1) + b"".join(fetch(i, [i]) for i in range(2, 24)))
    write("fuzz-requests", "errors", b"\0" + prepare("SELECT 1 FORM t", 1) + fetch(2) + prepare("DROP TABLE t", 3)
          + prepare("SELECT 1", 4, nosuch="1") + prepare("SELECT 1", 5, timeout_ms="x") + fetch(6, [1]))
    write("fuzz-requests", "options", b"\2" + prepare("SELECT x FROM t", 1, max_rows="2", max_bytes="100", timeout_ms="50")
          + fetch(2))
    write("fuzz-requests", "many-rows", b"\2" + prepare(
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 3000) SELECT x, hex(x) FROM c", 1) + fetch(2))
    write("fuzz-requests", "chunks", b"\2" + encode_record(
        "P", 0, 1, encode_string("sql") + encode_string("SELECT '" + "x" * 5000 + "'"), page_size=4096) + fetch(2))
    write("fuzz-requests", "reserved", b"\0" + encode_record("B", 0, 1) + encode_record("M", 0, 2) + encode_record("L", 0, 3))
    write("fuzz-requests", "half", b"\0" + query[:-5])


def page_seed(name, page_bytes, logged, *statements):
    """A database of @statements, of which the last @logged are in its log only."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "db")
        connection = sqlite3.connect(path, isolation_level=None)
        connection.execute(f"PRAGMA page_size={page_bytes}")
        connection.execute("PRAGMA journal_mode=WAL")
        for number, statement in enumerate(statements):
            if number == len(statements) - logged:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            connection.execute(statement)
        if not logged:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        with open(path, "rb") as stream:
            database = stream.read()
        with open(path + "-wal", "rb") as stream:
            log = stream.read() if logged else b""
        connection.close()
    write("fuzz-pages", name, (len(database) // 512).to_bytes(2, "little") + database + log)


def page_seeds():
    numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n LIMIT {}) "
    page_seed("rows", 512, 0, "CREATE TABLE t(k INTEGER PRIMARY KEY, x, y)",
              "INSERT INTO t " + numbers.format(60) + "SELECT i, 'text ' || i, i/2.0 FROM n")
    page_seed("overflow-and-free-pages", 512, 0, "CREATE TABLE a(x)", "CREATE TABLE t(x)", "INSERT INTO t VALUES(zeroblob(3000))",
              "INSERT INTO a VALUES(zeroblob(4000))", "DROP TABLE a")
    page_seed("index", 512, 0, "CREATE TABLE t(a, b, PRIMARY KEY(a, b)) WITHOUT ROWID", "CREATE INDEX i ON t(b)",
              "INSERT INTO t " + numbers.format(60) + "SELECT hex(i), i*1000000 FROM n")
    page_seed("log", 1024, 2, "CREATE TABLE t(x)", "INSERT INTO t VALUES(1)", "INSERT INTO t VALUES(zeroblob(1500))",
              "UPDATE t SET x=2")


wire_seeds()
request_seeds()
page_seeds()
