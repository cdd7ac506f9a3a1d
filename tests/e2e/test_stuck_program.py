# SPDX-License-Identifier: LGPL-2.1-or-later
"""Statements of thousands of calculations with one large value: SQLite looks at its flag of interrupts only at jumps, and there is
none (docs/decisions/forced-return.md)."""
import time

import pytest

from harness import FORCES, SLOWER, BusError, wait_until
from wire_client import RemoteError

pytestmark = pytest.mark.skipif(not FORCES, reason="no program is ended on this processor, or under this sanitizer")
TIMEOUT_MS = int(500 * SLOWER)
VALUE = "WITH c(x) AS MATERIALIZED (SELECT CAST(printf('%020000000d', 1) AS TEXT)) "
CALCULATIONS = {"sum": "x + {}", "comparison": "x > {}", "cast": "CAST(x AS REAL) + {}", "call": "abs(x) + {}", "bits": "x & {}"}


@pytest.fixture(name="bus")
def bus_fixture(make_bus):
    return make_bus(limits={"transaction_ms": int(5000 * SLOWER), "transaction_idle_ms": int(5000 * SLOWER)})


def make_text(name):
    return VALUE + "SELECT " + ", ".join(CALCULATIONS[name].format(i) for i in range(1900)) + " FROM c"


def runs(bus, text):
    return text[:60] in [query["text"][:60] for query in bus.queries()]


@pytest.mark.parametrize("name", CALCULATIONS)
def test_the_thread_comes_back(bus, name):
    """In time, and another client's transaction goes on."""
    text = make_text(name)
    bus.update("CREATE TABLE t(a)")
    pid = bus.daemon_pid()
    with bus.caller().prepare("INSERT INTO t VALUES(1)", access="write") as other:
        list(other.answer(other.send("B")))
        other.fetch()
        start = time.monotonic()
        with pytest.raises(BusError, match="Timeout"):
            bus.query(text, timeout_ms=TIMEOUT_MS)
        assert time.monotonic() - start < 1.5 * SLOWER
        wait_until(lambda: not runs(bus, text), "the thread's return", 2 * SLOWER)
        list(other.answer(other.send("M")))
    assert bus.query("SELECT count(*) FROM t") == [(1,)]
    assert bus.daemon_pid() == pid and bus.exits() == []


def test_an_update_comes_back(bus):
    """It is undone, also what its trigger has done, and the writer goes on."""
    bus.update("CREATE TABLE t(a)")
    bus.update("CREATE TABLE v(x)")
    bus.update("CREATE TABLE log(a)")
    bus.update("INSERT INTO v VALUES(printf('%020000000d', 1))")
    bus.update("CREATE TRIGGER r AFTER INSERT ON t BEGIN INSERT INTO log SELECT "
               + "max(" + ", ".join("max(" + ", ".join(f"x + {100 * k + i}" for i in range(99)) + ")" for k in range(9))
               + ") FROM v; END")
    pid = bus.daemon_pid()
    with bus.prepare("INSERT INTO t VALUES(1)", access="write", timeout_ms=TIMEOUT_MS) as channel:
        start = time.monotonic()
        with pytest.raises(RemoteError) as error:
            channel.fetch()
        assert error.value.name == "Timeout" and time.monotonic() - start < 1.5 * SLOWER
    bus.update("DROP TRIGGER r", timeout_ms=20000)
    bus.update("INSERT INTO t VALUES(2)")
    assert bus.query("SELECT (SELECT group_concat(a) FROM t), (SELECT count(*) FROM log)") == [("2", 0)]
    assert bus.daemon_pid() == pid and bus.exits() == [] and bus.query("PRAGMA integrity_check") == [("ok",)]


def test_cancel_and_a_client_that_leaves(bus):
    text = make_text("sum")
    pid = bus.daemon_pid()
    with bus.prepare(text) as channel:
        serial = channel.send_fetch()
        wait_until(lambda: runs(bus, text), "the query to run")
        channel.cancel(serial)
        with pytest.raises(RemoteError):
            list(channel.answer(serial))
        wait_until(lambda: not runs(bus, text), "the end of the cancelled one", 2 * SLOWER)
    channel = bus.prepare(text)
    channel.send_fetch()
    wait_until(lambda: runs(bus, text), "the query to run")
    channel.close()
    wait_until(lambda: not runs(bus, text), "the end of the one that was left", 2 * SLOWER)
    assert bus.daemon_pid() == pid and bus.exits() == []
