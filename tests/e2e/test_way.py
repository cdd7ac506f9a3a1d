# SPDX-License-Identifier: LGPL-2.1-or-later
"""The deadline of a caller that tells when it was asked: the way to the daemon counts, and what Prepare itself takes."""
import os
import signal
import subprocess
import sys
import time

import pytest

from harness import BUILD, SANITIZER, BusError, GLib, wait_until
from python_package import python_environment
from wire_client import RemoteError

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
QUERY = ENDLESS + "SELECT max(i) FROM n"
UPDATE = "UPDATE u SET x = (" + ENDLESS + "SELECT max(i) FROM n)"
MINUTE_USEC = 60 * 10**6


@pytest.fixture
def store(make_bus):
    bus = make_bus()
    bus.update("CREATE TABLE u(x)")
    bus.update("INSERT INTO u VALUES(1)")
    return bus


def now_usec():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000


def usec(value):
    return GLib.Variant("t", value)


def end(channel):
    """Seconds until its deadline has ended the request."""
    start = time.monotonic()
    with pytest.raises(RemoteError) as error:
        list(channel.answer())
    assert error.value.name == "Timeout", error.value
    return time.monotonic() - start


@pytest.mark.parametrize("options", [{"fetch": True}, {}, {"access": "write"}, {"transport": "ring", "fetch": True}])
def test_the_way_counts_once(store, options):
    """20 s of 21 are over when Prepare comes. What is asked for later on the channel has all its time."""
    text = UPDATE if "access" in options else QUERY
    with store.prepare(text, timeout_ms=21000, requested_usec=usec(now_usec() - 20 * 10**6), **options) as channel:
        if "fetch" not in options:
            channel.send_fetch()
        assert end(channel) < 18
        channel.prepare(text, timeout_ms=1000, **({"access": "write"} if "access" in options else {}))
        channel.send_fetch()
        assert end(channel) > 0.5
    assert store.query("SELECT x FROM u") == [(1,)]


def test_a_deadline_that_is_over_when_it_comes(store):
    for options in {"fetch": True}, {"access": "write"}:
        text = "SELECT 1" if "fetch" in options else "UPDATE u SET x = 2"
        with pytest.raises((BusError, RemoteError)) as error:
            with store.prepare(text, timeout_ms=1000, requested_usec=usec(now_usec() - 2 * 10**6), **options) as channel:
                if "fetch" not in options:
                    channel.send_fetch()
                list(channel.answer())
        assert error.value.name == "Timeout", options
    assert store.query("SELECT x FROM u") == [(1,)]


@pytest.mark.parametrize("difference", [MINUTE_USEC, -2 * MINUTE_USEC, 2**63])
def test_another_clock_counts_for_nothing(store, difference):
    if now_usec() + difference < 1:
        pytest.skip("the machine has started less than two minutes ago")
    other = usec(now_usec() + difference)
    with store.prepare(QUERY, timeout_ms=1000, requested_usec=other) as channel:
        channel.send_fetch()
        assert end(channel) > 0.5


def test_what_the_client_waits_is_its_own(store):
    """A statement that is prepared for later has all its time then."""
    with store.prepare(QUERY, timeout_ms=1000, requested_usec=usec(now_usec())) as channel:
        start = time.monotonic()
        wait_until(lambda: time.monotonic() > start + 1.5, "more than the deadline")
        channel.send_fetch()
        assert end(channel) > 0.7


def test_what_prepare_takes_counts(make_bus):
    """20,000 constants, each compared with the others: a second of compiling. The deadline began anew after it."""
    store = make_bus(limits={"compile_ms": 60000})
    text = "SELECT CASE i" + "".join(f" WHEN {i} THEN 'x{i}'" for i in range(20000)) + " END, max(i) FROM n"
    start = time.monotonic()
    store.explain("SELECT CASE 1" + text[len("SELECT CASE i"):text.index(", max(i)")])
    compile_ms = 1000 * (time.monotonic() - start)
    assert compile_ms > 100
    timeout_ms = int(2 * compile_ms + 1000)
    start = time.monotonic()
    with store.prepare(ENDLESS + text, timeout_ms=timeout_ms, fetch=True) as channel:
        prepared_ms = 1000 * (time.monotonic() - start)
        rest_ms = 1000 * end(channel)
    assert rest_ms < timeout_ms - prepared_ms / 2, (compile_ms, prepared_ms, rest_ms)


PROGRAM = """
import sys, time, gi
gi.require_version("QueryClient", "1")
from gi.repository import GLib, QueryClient as Query

connection = Query.Connection.new(None)
connection.set_timeout_msec(int(sys.argv[1]))
print("open", flush=True)
sys.stdin.readline()
start = time.monotonic()
try:
    connection.query(Query.Language.SQL, sys.argv[2], None, None).next(None)
except GLib.Error as error:
    assert error.matches(Query.error_quark(), Query.Error.TIMEOUT), error
    print(time.monotonic() - start)
"""


@pytest.mark.skipif(SANITIZER in ("asan", "tsan"), reason="a plain program cannot load the library built with a sanitizer")
@pytest.mark.skipif(not os.path.exists(os.path.join(BUILD, "client-lib/QueryClient-1.typelib")),
                    reason="the library was built without introspection")
def test_the_library_tells(store):
    """The daemon gets no processor for 6 s of the 8 that a query has."""
    pid = store.daemon_pid()
    with subprocess.Popen([sys.executable, "-c", PROGRAM, "8000", QUERY], env=python_environment(store.env), text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == "open\n"
        os.kill(pid, signal.SIGSTOP)
        try:
            start = time.monotonic()
            process.stdin.write("go\n")
            process.stdin.flush()
            wait_until(lambda: time.monotonic() > start + 6, "the time that the call is under way")
        finally:
            os.kill(pid, signal.SIGCONT)
        assert 8 <= float(process.stdout.readline()) < 13
