# SPDX-License-Identifier: LGPL-2.1-or-later
"""One call of SQLite that nothing ends: clients hear of deadline and CANCEL meanwhile, and what has failed is never committed.

The call takes some two seconds and comes to a good end. matchinfo() of FTS4 goes through all matches for each pair of phrases. It
is not made to return here, as on other processors (test_stuck_full_text.py).
"""
import time

import pytest

from harness import SANITIZER, SLOWER, UNFORCED, BusError, wait_until
from wire_client import CutOff, RemoteError

MATCH = "MATCH '" + " OR ".join(["a"] * 900) + "'"
LONG = f"SELECT length(matchinfo(d, 's')) FROM d WHERE d {MATCH}"
INSERT = f"INSERT INTO v SELECT iif(?1, length(matchinfo(d, 's')), 'quick') FROM d WHERE d {MATCH}"
LONG_INSERT = INSERT.replace("?1", "1")
TIMEOUT_MS = 300
LATE_SECONDS = 0.25 + 0.25  # a quarter is promised; as much again for other load

pytestmark = pytest.mark.skipif(bool(SANITIZER), reason="the call is SQLite's own and as quick as ever, the daemon is not")


@pytest.fixture
def store(make_bus):
    bus = make_bus(prefix=UNFORCED)
    bus.update("CREATE TABLE v(x)")
    bus.update("CREATE VIRTUAL TABLE d USING fts4(t)")
    bus.update("INSERT INTO d VALUES(replace(hex(zeroblob(500)), '0', 'a '))")
    return bus


def await_the_thread(store):
    """It has come back; the daemon is the same."""
    pid = store.daemon_pid()
    wait_until(lambda: not store.queries(), "the end of the call")
    store.update("INSERT INTO v VALUES('after')")
    assert store.daemon_pid() == pid and store.exits() == []


def texts(store):
    return [x for (x,) in store.query("SELECT x FROM v ORDER BY rowid")]


def update_by(store, way):
    if way == "bus":
        store.update(LONG_INSERT, timeout_ms=TIMEOUT_MS)
    elif way == "bus batch":
        store.batch([("INSERT INTO v VALUES('before')", []), (LONG_INSERT, [])], timeout_ms=TIMEOUT_MS)
    elif way == "channel":
        store.prepare(LONG_INSERT, access="write", timeout_ms=TIMEOUT_MS).fetch()
    else:
        channel = store.prepare("SELECT 1")
        list(channel.answer(channel.send_batch(("INSERT INTO v VALUES('before')", {}), (LONG_INSERT, {}), timeout_ms=TIMEOUT_MS)))


@pytest.mark.parametrize("way", ["bus", "bus batch", "channel", "channel batch"])
def test_an_update_is_answered_and_undone(store, way):
    start = time.monotonic()
    with pytest.raises((BusError, RemoteError)) as error:
        update_by(store, way)
    assert time.monotonic() - start < TIMEOUT_MS / 1000 + LATE_SECONDS
    assert error.value.name == "Timeout"
    await_the_thread(store)
    assert texts(store) == ["after"]


def test_within_a_transaction(store):
    """The statement has failed, and the channel ends, since its thread does not come back: so does the transaction."""
    channel = store.prepare(INSERT, access="write", timeout_ms=TIMEOUT_MS)
    assert not list(channel.answer(channel.send("B")))
    channel.fetch((0,))
    start = time.monotonic()
    with pytest.raises(RemoteError) as error:
        channel.fetch((1,))
    assert error.value.name == "Timeout" and time.monotonic() - start < TIMEOUT_MS / 1000 + LATE_SECONDS
    with pytest.raises((CutOff, ConnectionError)):
        list(channel.answer(channel.send("M")))
        list(channel.answer(channel.send("M")))
    await_the_thread(store)
    assert texts(store) == ["after"]


def test_others_keep_what_is_theirs(store):
    """An update that waits for the writer hears of its own deadline; another one is committed after the call."""
    stuck = store.prepare(INSERT, access="write", timeout_ms=TIMEOUT_MS)
    late = store.prepare("INSERT INTO v VALUES('late')", access="write", timeout_ms=TIMEOUT_MS)
    patient = store.prepare("INSERT INTO v VALUES('patient')", access="write")
    serial = stuck.send_fetch((1,))
    wait_until(lambda: store.queries(), "the call")
    start = time.monotonic()
    serials = late.send_fetch(), patient.send_fetch()
    for channel, number in ((stuck, serial), (late, serials[0])):
        with pytest.raises(RemoteError) as error:
            list(channel.answer(number))
        assert error.value.name == "Timeout"
    assert time.monotonic() - start < TIMEOUT_MS / 1000 + 2 * LATE_SECONDS  # a sweep comes each quarter of a second
    assert not list(patient.answer(serials[1])) and patient.end.changes == 1
    await_the_thread(store)
    assert texts(store) == ["patient", "after"]


def test_answers_stay_in_order(store):
    """While an update before it has no answer, the one in the call gets none either."""
    channel = store.prepare(INSERT, access="write", timeout_ms=TIMEOUT_MS)
    serials = [channel.send_fetch((is_long,)) for is_long in (0, 1)]
    assert not list(channel.answer(serials[0])) and channel.end.changes == 1
    with pytest.raises(RemoteError) as error:
        list(channel.answer(serials[1]))
    assert error.value.name == "Timeout"
    await_the_thread(store)
    assert texts(store) == ["quick", "after"]


@pytest.mark.parametrize("access", ["read", "write"])
def test_cancel_is_heard(store, access):
    channel = store.prepare(LONG if access == "read" else LONG_INSERT, access=access)
    serial = channel.send_fetch()
    wait_until(lambda: [query for query in store.queries() if query["elapsed_usec"] > 200000], "the call")
    start = time.monotonic()
    channel.cancel(serial)
    with pytest.raises(RemoteError) as error:
        list(channel.answer(serial))
    assert error.value.name == "Cancelled" and time.monotonic() - start < LATE_SECONDS
    await_the_thread(store)
    assert texts(store) == ["after"]
