# SPDX-License-Identifier: LGPL-2.1-or-later
"""Another program holds the lock of the database: what waits for it ends at its deadline, and when it is cancelled."""
import contextlib
import os
import sqlite3
import time

import pytest

from harness import BusError, wait_until
from wire_client import RemoteError

TIMEOUT_MS = 200
# SQLite's own wait of five seconds would be over
LATE_SECONDS = 4


@pytest.fixture
def locked(bus):
    bus.update("CREATE TABLE t(x)")
    with contextlib.closing(sqlite3.connect(os.path.join(bus.store, "queryd.db"), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield bus
        if other.in_transaction:
            other.execute("ROLLBACK")
    bus.update("INSERT INTO t VALUES('later')")
    assert bus.query("SELECT * FROM t") == [("later",)], "what has failed was executed"


def expect_timeout(call):
    start = time.monotonic()
    with pytest.raises((BusError, RemoteError)) as error:
        call()
    assert error.value.name == "Timeout" and f"{TIMEOUT_MS} ms" in error.value.message
    assert TIMEOUT_MS / 1000 <= time.monotonic() - start < LATE_SECONDS


def test_a_deadline_of_an_update(locked):
    expect_timeout(lambda: locked.update("INSERT INTO t VALUES(1)", timeout_ms=TIMEOUT_MS))
    expect_timeout(lambda: locked.update("INSERT DATA { <a:a> <a:b> 1 }", language="sparql", timeout_ms=TIMEOUT_MS))
    with locked.prepare("INSERT INTO t VALUES(2)", access="write", timeout_ms=TIMEOUT_MS) as channel:
        expect_timeout(channel.fetch)


def test_a_deadline_of_begin(locked):
    with locked.prepare("INSERT INTO t VALUES(3)", access="write", timeout_ms=TIMEOUT_MS) as channel:
        expect_timeout(lambda: list(channel.answer(channel.send("B"))))


def test_a_deadline_of_one_that_waits_for_the_first(locked):
    """The first one waits for the lock, the second for the writer."""
    with locked.prepare("INSERT INTO t VALUES(4)", access="write", timeout_ms=60000) as first:
        serial = first.send_fetch()
        wait_until(lambda: any(query["state"] == "writing" for query in locked.queries()), "the first one to wait")
        expect_timeout(lambda: locked.update("INSERT INTO t VALUES(5)", timeout_ms=TIMEOUT_MS))
        first.cancel(serial)
        with pytest.raises(RemoteError, match="cancelled"):
            list(first.answer(serial))


def test_a_cancel(locked):
    start = time.monotonic()
    with locked.prepare("INSERT INTO t VALUES(6)", access="write", timeout_ms=60000) as channel:
        serial = channel.send_fetch()
        wait_until(lambda: any(query["state"] == "writing" for query in locked.queries()), "it to wait")
        channel.cancel(serial)
        with pytest.raises(RemoteError, match="cancelled"):
            list(channel.answer(serial))
    assert time.monotonic() - start < LATE_SECONDS
