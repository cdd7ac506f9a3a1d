# SPDX-License-Identifier: LGPL-2.1-or-later
"""BEGIN, COMMIT, ROLLBACK and savepoints by their texts on a channel, and what OR FAIL keeps."""
import pytest

from harness import BusError
from wire_client import RemoteError


@pytest.fixture(name="table")
def make_table(bus):
    bus.update("CREATE TABLE t (a UNIQUE)")
    return bus


def write(channel, text, *rows):
    channel.prepare(text, access="write")
    return channel.fetch(*rows)


def rows(bus):
    return [a for (a,) in bus.query("SELECT a FROM t ORDER BY a")]


@pytest.mark.parametrize("begin, commit", [("BEGIN", "COMMIT"), ("/* COMMIT */ begin immediate transaction;", "END"),
                                           ("BEGIN EXCLUSIVE", "-- ROLLBACK\ncommit transaction")])
def test_texts(table, begin, commit):
    with table.prepare("SELECT 1") as channel:
        write(channel, begin)
        write(channel, "INSERT INTO t VALUES (1)")
        assert rows(table) == []
        channel.prepare("SELECT a FROM t")
        assert channel.fetch() == [(1,)]
        write(channel, commit)
        assert channel.end.changes == 1
        assert rows(table) == [1]
        write(channel, "BEGIN")
        write(channel, "DELETE FROM t")
        write(channel, "ROLLBACK")
        assert rows(table) == [1]
        with pytest.raises(RemoteError, match="no transaction is open"):
            write(channel, "COMMIT")
        write(channel, "BEGIN")
        with pytest.raises(RemoteError, match="open already"):
            write(channel, "BEGIN")
        channel.close()
    table.update("INSERT INTO t VALUES (7)")
    assert rows(table) == [1, 7]


def test_a_failed_transaction_is_ended_by_text(table):
    table.update("INSERT INTO t VALUES (1)")
    for end, words in (("ROLLBACK", None), ("COMMIT", "UNIQUE")):
        with table.prepare("SELECT 1") as channel:
            write(channel, "BEGIN")
            with pytest.raises(RemoteError, match="the transaction was rolled back"):
                write(channel, "INSERT OR ROLLBACK INTO t VALUES (1)")
            with pytest.raises(RemoteError, match="the transaction was rolled back"):
                write(channel, "INSERT INTO t VALUES (2)")
            if words is None:
                write(channel, end)
            else:
                with pytest.raises(RemoteError, match=words):
                    write(channel, end)
            write(channel, "DELETE FROM t WHERE a = 9")
    assert rows(table) == [1]


def test_savepoints(table):
    with table.prepare("SELECT 1") as channel:
        write(channel, "BEGIN")
        write(channel, "INSERT INTO t VALUES (1)")
        write(channel, "SAVEPOINT member")
        write(channel, "INSERT INTO t VALUES (2)")
        write(channel, 'SAVEPOINT "a b"')
        write(channel, "INSERT INTO t VALUES (3)")
        with pytest.raises(RemoteError, match="UNIQUE"):
            write(channel, "INSERT INTO t VALUES (3)")
        write(channel, 'ROLLBACK TO "a b"')
        write(channel, "INSERT INTO t VALUES (4)")
        write(channel, 'RELEASE "a b"')
        with pytest.raises(RemoteError, match="no such savepoint: a b"):
            write(channel, 'RELEASE "a b"')
        write(channel, "ROLLBACK TRANSACTION TO SAVEPOINT member")
        write(channel, "INSERT INTO t VALUES (5)")
        write(channel, "RELEASE member")
        write(channel, "COMMIT")
    assert rows(table) == [1, 5]


@pytest.mark.parametrize("text", ["BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT s", "RELEASE s", "ROLLBACK TO s"])
def test_refused_over_the_bus(table, text):
    for call in (lambda: table.update(text), lambda: table.batch([(text, ())]), lambda: table.query(text),
                 lambda: table.batch([("INSERT INTO t VALUES (1)", ()), (text, ())])):
        with pytest.raises(BusError, match="not allowed|allowed in a transaction only") as error:
            call()
        assert error.value.name == "AccessDenied"
    assert rows(table) == []
    with table.prepare("SELECT 1") as channel:
        with pytest.raises(RemoteError):
            channel.prepare(text)
        if " " in text:
            with pytest.raises(RemoteError, match="in a transaction only"):
                write(channel, text)


def test_or_fail_keeps_what_came_before(table):
    text = "INSERT OR FAIL INTO t SELECT value FROM json_each('[1, 2, 1, 3]')"
    before = table.property("Generation")
    with pytest.raises(BusError, match="UNIQUE") as error:
        table.update(text)
    assert error.value.name == "Constraint"
    assert rows(table) == [1, 2] and table.property("Generation") > before
    with pytest.raises(BusError, match="UNIQUE"):
        table.batch([("INSERT INTO t VALUES (10)", ()), (text, ())])
    assert rows(table) == [1, 2]
    with table.prepare("SELECT 1") as channel:
        write(channel, "BEGIN")
        write(channel, "DELETE FROM t")
        with pytest.raises(RemoteError, match="UNIQUE"):
            write(channel, text)
        with pytest.raises(RemoteError, match="UNIQUE"):
            write(channel, "INSERT INTO t SELECT value FROM json_each('[5, 6, 5]')")
        write(channel, "INSERT INTO t VALUES (20)")
        write(channel, "COMMIT")
    assert rows(table) == [1, 2, 20]


def test_returning_in_a_transaction(table):
    with table.prepare("SELECT 1") as channel:
        write(channel, "BEGIN")
        assert write(channel, "INSERT INTO t VALUES (?) RETURNING a, a + 1", (1,), (5,)) == [(1, 2), (5, 6)]
        assert write(channel, "DELETE FROM t WHERE a = 1 RETURNING a") == [(1,)]
        write(channel, "COMMIT")
    assert rows(table) == [5]
