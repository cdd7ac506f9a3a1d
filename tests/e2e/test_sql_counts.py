# SPDX-License-Identifier: LGPL-2.1-or-later
"""changes(), total_changes() and last_insert_rowid(): those of the channel's own updates, wherever SQLite would tell them."""
import os
import sys

import pytest

from harness import wait_until
from wire_client import RemoteError

COUNTS = "SELECT changes(), total_changes(), last_insert_rowid()"


def write(channel, text, *rows):
    channel.prepare(text, access="write")
    return channel.fetch(*rows)


def counts(channel):
    channel.prepare(COUNTS)
    return channel.fetch()[0]


@pytest.fixture
def table(bus):
    bus.update("CREATE TABLE t (a INTEGER PRIMARY KEY, b)")
    bus.update("CREATE TABLE log (c, d, e)")
    return bus


def test_of_the_channel_and_no_other(table):
    with table.prepare("SELECT 1") as one, table.prepare("SELECT 1") as other:
        write(one, "INSERT INTO t VALUES (7, 1), (8, 1), (9, 1)")
        table.update("INSERT INTO t VALUES (100, 2)")
        assert counts(one) == (3, 3, 9)
        assert counts(other) == (0, 0, 0)
        write(other, "UPDATE t SET b = 3 WHERE a > 8")
        assert counts(other) == (2, 2, 0)
        assert other.end.last_insert_rowid == 0
        assert counts(one) == (3, 3, 9)
    with table.prepare("SELECT 1") as third:  # in the place of one that was closed
        assert counts(third) == (0, 0, 0)
    assert table.query(COUNTS) == [(0, 0, 0)]


def test_within_an_update(table):
    with table.prepare("SELECT 1") as channel:
        write(channel, "INSERT INTO t VALUES (7, 1), (8, 1), (9, 1)")
        table.update("INSERT INTO t VALUES (100, 2), (101, 2)")
        write(channel, "INSERT INTO log VALUES (changes(), total_changes(), last_insert_rowid())")
        assert table.query("SELECT * FROM log") == [(3, 3, 9)]
        assert counts(channel) == (1, 4, 1)


def test_within_a_trigger(table):
    table.update("CREATE TRIGGER r AFTER UPDATE ON t BEGIN "
                 "INSERT INTO log VALUES (changes(), total_changes(), last_insert_rowid()); "
                 "INSERT INTO log SELECT changes(), total_changes(), last_insert_rowid(); END")
    with table.prepare("SELECT 1") as channel:
        write(channel, "INSERT INTO t VALUES (7, 1), (8, 1), (9, 1)")
        table.update("INSERT INTO t VALUES (100, 2)")
        write(channel, "UPDATE t SET b = 5 WHERE a = 7")
        # before the first statement of the trigger: as before it; the rowid afterwards is that of before, too
        assert table.query("SELECT c, e FROM log") == [(3, 9), (1, 1)]
        assert counts(channel) == (1, 6, 9)


def test_in_a_batch_and_in_a_transaction(table):
    with table.prepare("SELECT 1") as channel:
        list(channel.answer(channel.send_batch(
            ("INSERT INTO t VALUES (5, 1), (6, 1)", {}),
            ("INSERT INTO log VALUES (changes(), total_changes(), last_insert_rowid())", {}))))
        assert table.query("SELECT * FROM log") == [(2, 2, 6)]
        write(channel, "INSERT INTO t VALUES (50, 1)")
        list(channel.answer(channel.send("B")))
        write(channel, "INSERT INTO t VALUES (60, 1), (61, 1)")
        assert counts(channel)[0::2] == (2, 61)
        write(channel, "INSERT INTO log VALUES (changes(), 0, last_insert_rowid())")
        list(channel.answer(channel.send("L")))
        assert counts(channel)[0] == 1  # as SQLite: a ROLLBACK takes nothing of this back
    assert table.update("INSERT INTO t VALUES (99, changes() + last_insert_rowid())") is not None
    assert table.query("SELECT b FROM t WHERE a = 99") == [(0,)]


def test_what_fails(table):
    with table.prepare("SELECT 1") as channel:
        write(channel, "INSERT INTO t VALUES (7, 1), (8, 1)")
        with pytest.raises(RemoteError):
            write(channel, "INSERT INTO t VALUES (20, 1), (7, 1)")
        assert counts(channel) == (0, 2, 20)  # as SQLite


def test_of_a_session(table):
    """Its channels count together, also in transactions, and not with those of another number."""
    with table.prepare("SELECT 1", session=5) as one, table.prepare("SELECT 1", session=5) as two, \
            table.prepare("SELECT 1", session=6) as other, table.prepare("SELECT 1", session=0) as alone:
        write(one, "INSERT INTO t VALUES (7, 1), (8, 1)")
        assert [counts(channel) for channel in (one, two, other, alone)] == [(2, 2, 8)] * 2 + [(0, 0, 0)] * 2
        list(two.answer(two.send("B")))
        write(two, "INSERT INTO log VALUES (changes(), total_changes(), last_insert_rowid())")
        list(two.answer(two.send("M")))
        assert table.query("SELECT * FROM log") == [(2, 2, 8)]
        assert counts(one) == counts(two) == (1, 3, 1)
        one.close()
        assert counts(two) == (1, 3, 1)
    wait_until(lambda: table.stats()["channels"] == 0, "the end of the channels")
    with table.prepare("SELECT 1", session=5) as later:
        assert counts(later) == (0, 0, 0)


def test_sessions_of_two_processes(table):
    """A number says nothing to another client."""
    code = ("import sys; sys.path.insert(0, sys.argv[1])\nfrom harness import Caller\n"
            "with Caller(sys.argv[2]).prepare(sys.argv[3], session=5) as channel: print(channel.fetch())")
    with table.prepare("SELECT 1", session=5) as channel:
        write(channel, "INSERT INTO t VALUES (7, 1)")
        run = table.run(sys.executable, "-c", code, os.path.dirname(__file__), table.address, COUNTS)
        assert (run.returncode, run.stdout) == (0, "[(0, 0, 0)]\n"), run.stderr
        assert counts(channel) == (1, 1, 7)
