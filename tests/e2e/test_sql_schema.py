# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is compiled on a connection of the pool is compiled by the schema of now, whoever has changed it and by which way."""
import contextlib
import sqlite3

import pytest

from harness import BusError
from wire_client import RemoteError

SCHEMA = ["CREATE TABLE t (a, b)", "CREATE TABLE p (a)", "CREATE TABLE pn (a, b)", "CREATE INDEX i ON t (a)",
          "CREATE VIEW v AS SELECT a FROM t", "CREATE TRIGGER r AFTER INSERT ON t BEGIN DELETE FROM t WHERE 0; END",
          "INSERT INTO t VALUES (1, 2)"]


@pytest.fixture
def channel(bus):
    for text in SCHEMA:
        bus.update(text)
    with bus.prepare("SELECT a, b FROM t") as channel:
        assert channel.fetch() == [(1, 2)]  # the pool's connection has read the schema
        yield channel


def write(channel, text):
    channel.prepare(text, access="write")
    channel.fetch()


# the change, and what is compiled after it
CASES = [
    ("DROP INDEX i", "CREATE INDEX i ON t (b)"),
    ("DROP TABLE p", "ALTER TABLE pn RENAME TO p"),
    ("DROP TRIGGER r", "CREATE TRIGGER r AFTER DELETE ON t BEGIN DELETE FROM p; END"),
    ("DROP VIEW v", "CREATE VIEW v AS SELECT b FROM t"),
    ("CREATE TRIGGER o INSTEAD OF INSERT ON v BEGIN INSERT INTO p VALUES (new.a); END", "INSERT INTO v VALUES (1)"),
    ("ALTER TABLE p ADD COLUMN c", "DELETE FROM t WHERE (1, 2) IN (SELECT * FROM p)"),
    ("ALTER TABLE t RENAME COLUMN b TO x", "ALTER TABLE t ADD COLUMN b"),
    ("DROP TABLE pn", "CREATE TABLE pn (z)"),
]


@pytest.mark.parametrize("change, then", CASES)
def test_a_change_is_seen(bus, channel, change, then):
    bus.update(change)
    write(channel, then)


@pytest.mark.parametrize("change, then", CASES)
def test_on_one_channel(channel, change, then):
    write(channel, change)
    write(channel, then)


@pytest.mark.parametrize("change, then", CASES)
def test_in_a_transaction(channel, change, then):
    list(channel.answer(channel.send("B")))
    write(channel, change)
    write(channel, then)
    list(channel.answer(channel.send("M")))


@pytest.mark.parametrize("change, then", CASES)
def test_another_program_changes(bus, channel, change, then):
    with contextlib.closing(sqlite3.connect(bus.stats()["database_path"], isolation_level=None)) as database:
        database.execute(change)
    write(channel, then)


# changes the first of which makes the query wrong, and the second right again
REPAIRED = [
    ("SELECT * FROM w", "ALTER TABLE p ADD COLUMN b", "ALTER TABLE q ADD COLUMN b", [(1, None), (2, None)]),
    ("SELECT (1, 2) IN (SELECT * FROM pn)", "ALTER TABLE pn ADD COLUMN c", "ALTER TABLE pn DROP COLUMN c", [(0,)]),
]


@pytest.mark.parametrize("query, wrong, right, rows", REPAIRED)
@pytest.mark.parametrize("is_kept", [True, False])
def test_a_query_that_has_failed_sees_the_next_change(bus, channel, query, wrong, right, rows, is_kept):
    """SQLite compiles the statement that it has again, and does not look whether the schema is the file's."""
    for text in "CREATE TABLE q (a)", "INSERT INTO p VALUES (1)", "INSERT INTO q VALUES (2)":
        bus.update(text)
    bus.update("CREATE VIEW w AS SELECT * FROM p UNION ALL SELECT * FROM q")
    with contextlib.closing(sqlite3.connect(bus.stats()["database_path"], isolation_level=None)) as database:
        channel.prepare(query)
        ask = channel.fetch if is_kept else lambda: bus.query(query)
        ask()
        database.execute(wrong)
        with pytest.raises((BusError, RemoteError), match="do not have the same number|sub-select returns 3 columns"):
            ask()
        database.execute(right)
        assert ask() == rows


def test_prepare_tells_columns_of_now(bus, channel):
    for query in "SELECT * FROM t", "SELECT *, 1 AS one FROM t":
        with bus.prepare(query):
            pass
    bus.update("ALTER TABLE t ADD COLUMN c INTEGER")
    with bus.prepare("SELECT * FROM t") as pipe:
        assert [tuple(column) for column in pipe.columns] == [("a", ""), ("b", ""), ("c", "INTEGER")]
    with contextlib.closing(sqlite3.connect(bus.stats()["database_path"], isolation_level=None)) as database:
        database.execute("ALTER TABLE t RENAME COLUMN c TO d")
    with bus.prepare("SELECT *, 1 AS one FROM t") as pipe:
        assert [name for name, _ in pipe.columns] == ["a", "b", "d", "one"]


def test_in_a_transaction_columns_are_of_now(channel):
    list(channel.answer(channel.send("B")))
    channel.prepare("SELECT * FROM t")
    assert channel.fetch() == [(1, 2)]
    write(channel, "ALTER TABLE t ADD COLUMN c DEFAULT 3")
    assert [column[0] for column in channel.prepare("SELECT * FROM t").columns] == ["a", "b", "c"]
    assert channel.fetch() == [(1, 2, 3)]
    list(channel.answer(channel.send("L")))
    assert [column[0] for column in channel.prepare("SELECT * FROM t").columns] == ["a", "b"]
