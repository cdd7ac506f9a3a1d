# SPDX-License-Identifier: LGPL-2.1-or-later
"""Statements inside one call of full text that asks nobody whether it shall end (docs/decisions/long-steps.md).

Such a call is made to return. Where that cannot be, the daemon ends without it: strace makes the signal fail here.
"""
import concurrent.futures
import os
import signal
import threading
import time

import pytest

from harness import FORCES, SANITIZER, SLOWER, UNFORCED, BusError, wait_until
from wire_client import RemoteError

needs_force = pytest.mark.skipif(not FORCES, reason="no call is made to return on this processor, or under this sanitizer")
WORDS = "replace(hex(zeroblob(25000)), '0', 'a ')"
TIMEOUT_MS = int(500 * SLOWER)  # that the call has begun by then, beside other load, too
MANY = " OR ".join(["a"] * 900)
SNIPPET = "length(snippet(d, '', '', '', -1, 64))"  # one takes a second, or five with a sanitizer
# each takes minutes: matches times the square of phrases
STUCK = f"SELECT length(matchinfo(d, 's')) FROM d WHERE d MATCH '{MANY}'"
FULL_TEXT = {
    "matchinfo": ("fts4", STUCK),
    "fts3": ("fts3", STUCK),
    "snippet": ("fts4", f"SELECT {' + '.join([SNIPPET] * 50)} FROM d WHERE d MATCH '{MANY}'"),
    "offsets": ("fts4", f"SELECT length(offsets(d)) FROM d WHERE d MATCH '{MANY}'"),
    "near": ("fts5", "SELECT count(*) FROM d('NEAR(" + " ".join(["a"] * 300) + ")')"),
    "several": ("fts5", "SELECT count(*) FROM d('" + " AND ".join(["NEAR(" + " ".join(["a"] * 150) + ")"] * 3) + "')"),
}


@pytest.fixture(autouse=True)
def without_leaks(monkeypatch):
    """What a call has lost would be reported; and LeakSanitizer does not run under strace."""
    if SANITIZER == "asan":
        monkeypatch.setenv("ASAN_OPTIONS", os.environ["ASAN_OPTIONS"] + ":detect_leaks=0")


@pytest.fixture(name="bus")
def bus_fixture(make_bus):
    return make_bus(limits={"transaction_ms": int(5000 * SLOWER)})


@pytest.fixture(name="unforced")
def unforced_fixture(make_bus):
    bus = make_bus(prefix=UNFORCED)
    fill(bus)
    bus.expected_exits.add(1)
    return bus


def fill(bus, module="fts4"):
    bus.update(f"CREATE VIRTUAL TABLE d USING {module}(t)")
    bus.update(f"INSERT INTO d VALUES({WORDS})")
    bus.update("CREATE TABLE kept(x)")


def ask_in_vain(bus, way, text=STUCK):
    """Its caller hears of the deadline, also while the statement still runs."""
    start = time.monotonic()
    if way == "bus":
        with pytest.raises(BusError, match=f"Timeout: query took longer than its {TIMEOUT_MS} ms"):
            bus.query(text, timeout_ms=TIMEOUT_MS)
    else:
        channel = bus.prepare(text, timeout_ms=TIMEOUT_MS)
        with pytest.raises(RemoteError) as error:
            channel.fetch()
        assert error.value.name == "Timeout"
    assert time.monotonic() - start < 1.5 * SLOWER


def runs(bus, text=STUCK):
    return text in [query["text"] for query in bus.queries()]


def get_stuck(bus, way):
    """Beside other load a deadline may come before the call has begun: then the statement ends, and is tried again."""
    wait_until(lambda: (ask_in_vain(bus, way), runs(bus))[1], "a statement that stays")


@needs_force
@pytest.mark.parametrize("name", FULL_TEXT)
def test_the_thread_comes_back(bus, name):
    """Within a moment, and the daemon goes on."""
    module, text = FULL_TEXT[name]
    fill(bus, module)
    pid = bus.daemon_pid()
    for way in ("channel", "bus"):
        ask_in_vain(bus, way, text)
        wait_until(lambda: not runs(bus, text), "the thread's return", 2)
        assert bus.query("SELECT count(*) FROM d WHERE d MATCH 'a'") == [(1,)]
    bus.update("INSERT INTO d VALUES('b')")
    assert bus.query("SELECT t FROM d WHERE d MATCH 'b'") == [("b",)]
    assert bus.daemon_pid() == pid and bus.exits() == []


@needs_force
def test_an_update_comes_back(bus):
    """It is undone, and others that wait behind it are executed."""
    fill(bus)
    pid = bus.daemon_pid()
    stuck = bus.prepare("INSERT INTO kept " + STUCK, access="write", timeout_ms=TIMEOUT_MS)
    serial = stuck.send_fetch()
    wait_until(lambda: runs(bus, "INSERT INTO kept " + STUCK), "the update to run")
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        others = [pool.submit(bus.caller().update, "INSERT INTO kept VALUES(?1)", (i,)) for i in range(4)]
        with pytest.raises(RemoteError) as error:
            list(stuck.answer(serial))
        assert error.value.name == "Timeout"
        assert [other.result(20 * SLOWER)[0] for other in others] == [1] * 4
    assert sorted(bus.query("SELECT x FROM kept")) == [(0,), (1,), (2,), (3,)]
    assert bus.query("SELECT count(*) FROM d WHERE d MATCH 'a'") == [(1,)]
    assert bus.daemon_pid() == pid and bus.exits() == []


@needs_force
@pytest.mark.parametrize("begin", ["", "INSERT INTO kept "])
def test_a_transaction_ends_with_it(bus, begin):
    """Nothing of it is kept, COMMIT says so, and the next one has the writer."""
    text = begin + STUCK
    fill(bus)
    pid = bus.daemon_pid()
    writes = {"access": "write"} if begin else {}
    with bus.prepare(text, timeout_ms=TIMEOUT_MS, **writes) as channel:
        list(channel.answer(channel.send("B")))
        channel.prepare("INSERT INTO kept VALUES(1)", access="write")
        channel.fetch()
        channel.prepare(text, timeout_ms=TIMEOUT_MS, **writes)
        with pytest.raises(RemoteError) as error:
            channel.fetch()
        assert error.value.name == "Timeout"
        with pytest.raises(RemoteError, match="rolled back"):
            list(channel.answer(channel.send("M")))
    assert bus.query("SELECT x FROM kept") == []
    assert bus.update("INSERT INTO kept VALUES(2)")[0] == 1
    assert bus.daemon_pid() == pid and bus.exits() == []


@needs_force
def test_memory_that_is_lost_has_a_limit(make_bus):
    """Another daemon follows, and what was acknowledged is there."""
    bus = make_bus(limits={"heap_hard_bytes": "16M", "heap_soft_bytes": "12M"})
    bus.update("CREATE VIRTUAL TABLE d USING fts4(t)")
    bus.update("INSERT INTO d VALUES(replace(hex(zeroblob(10000)), '0', 'a '))")
    bus.update("CREATE TABLE kept(x)")
    text = "SELECT length(matchinfo(d, 's')) FROM d WHERE d MATCH '" + " OR ".join(["a"] * 250) + "'"
    pid, n = bus.daemon_pid(), 0
    while bus.daemon_pid() == pid:
        bus.update("INSERT INTO kept VALUES(?1)", (n,))
        n += 1
        assert n < 100
        with pytest.raises(BusError, match="Timeout|Closed|Cancelled"):
            bus.query(text, timeout_ms=int(100 * SLOWER))
        wait_until(lambda: not runs(bus, text), "the end of the one that was answered, which holds memory")
    assert n > 16 and bus.query("SELECT count(*) FROM kept") == [(n,)]
    assert bus.exits() in ([], [0])


@needs_force
def test_the_end_of_the_daemon_waits_for_no_such_call(bus):
    fill(bus)
    stuck = bus.prepare(STUCK, timeout_ms=0)
    stuck.send_fetch()
    wait_until(lambda: [q for q in bus.queries() if q["elapsed_usec"] > 200000], "the query to run")
    start = time.monotonic()
    os.kill(bus.daemon_pid(), signal.SIGTERM)
    wait_until(bus.exits, "the daemon's end")
    assert bus.exits() == [0] and time.monotonic() - start < 8 * SLOWER


@pytest.mark.parametrize("way", ["channel", "bus", "signal"])
def test_where_nothing_ends_it_the_daemon_ends(unforced, way):
    """The next call starts another, and nothing that was acknowledged is lost."""
    unforced.update("INSERT INTO kept VALUES('acknowledged')")
    pid = unforced.daemon_pid()
    if way == "signal":
        stuck = unforced.prepare(STUCK, timeout_ms=0)
        stuck.send_fetch()
        wait_until(lambda: [q for q in unforced.queries() if q["elapsed_usec"] > 200000], "the query to run")
        os.kill(pid, signal.SIGTERM)
    else:
        get_stuck(unforced, way)
    wait_until(lambda: unforced.exits() == [1], "the daemon's end", 100)
    assert unforced.query("SELECT x FROM kept") == [("acknowledged",)]
    assert unforced.daemon_pid() != pid


def test_others_lose_nothing_where_nothing_ends_it(unforced):
    """Their updates under way are answered before the daemon ends without it, and later ones meet the next daemon."""
    pid = unforced.daemon_pid()
    is_over = threading.Event()

    def insert(caller):
        n = 0
        while not is_over.is_set():
            assert caller.update("INSERT INTO kept VALUES(?1)", (n,))[0] == 1
            n += 1
        return n

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        results = [pool.submit(insert, unforced.caller()) for _ in range(4)]
        try:
            get_stuck(unforced, "bus")
            wait_until(lambda: unforced.exits() == [1], "the daemon's end", 100)
            assert unforced.daemon_pid() != pid
        finally:
            is_over.set()
        n_answered = sum(result.result() for result in results)
    assert unforced.query("SELECT count(*) FROM kept") == [(n_answered,)]
