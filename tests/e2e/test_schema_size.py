# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every connection reads the whole schema after a change: how large it may become, and how long others wait for that."""
import contextlib
import os
import signal
import subprocess
import sys
import time

import pytest

from harness import SLOWER, BusError, Caller
from wire_client import RemoteError

LIMIT = 256 * 1024
MANY = ",".join(["1"] * 20000)
SETUP = ["CREATE TABLE t(id INTEGER PRIMARY KEY, x)", "INSERT INTO t VALUES(1, 2)", "ANALYZE", "CREATE TABLE s(x)",
         "CREATE TRIGGER tells AFTER INSERT ON s BEGIN INSERT INTO sqlite_stat1 VALUES('t', NULL, new.x); END"]
# each makes the schema larger than LIMIT by itself
GROWS = [
    f"CREATE VIEW v AS SELECT 1 WHERE 1 IN ({MANY})",
    f"CREATE TRIGGER r AFTER DELETE ON t BEGIN {'SELECT 1;' * 5000} END",
    f"CREATE TABLE u(a DEFAULT '{'x' * 300000}')",
    f"CREATE TABLE u(a /* {'x' * 300000} */)",
    f"CREATE INDEX i ON t(x) WHERE x IN ({MANY})",
    f"ALTER TABLE t ADD COLUMN b CHECK(b IN ({MANY}))",
    "INSERT INTO sqlite_stat1 VALUES('t', NULL, printf('%.*c', 300000, '1'))",
    "UPDATE sqlite_stat1 SET stat = printf('%.*c', 300000, '1')",
    "INSERT INTO sqlite_stat1 SELECT 't', NULL, '1' FROM pragma_function_list, pragma_function_list LIMIT 5000",
    "INSERT INTO s VALUES(printf('%.*c', 300000, '1'))",
]


@pytest.fixture(name="small")
def fixture_small(make_bus):
    bus = make_bus(limits={"schema_bytes": LIMIT})
    for text in SETUP:
        bus.update(text)
    return bus


def sizes(bus):
    return bus.query("SELECT count(*), sum(length(sql)), (SELECT total(length(stat)) FROM sqlite_stat1) FROM sqlite_schema")


@pytest.mark.parametrize("text", GROWS)
def test_it_does_not_grow_beyond_the_limit(small, text):
    before = sizes(small)
    with pytest.raises(BusError, match=f"TooBig: the schema would have .* the limit 'schema_bytes' is {LIMIT} bytes"):
        small.update(text)
    with pytest.raises(BusError, match="TooBig: statement 2 of the batch: the schema"):
        small.batch([("CREATE TABLE z(a)", []), (text, [])])
    assert sizes(small) == before
    small.update("CREATE TABLE z(a)")
    assert small.query("SELECT x FROM t") == [(2,)]


def test_within_a_transaction(small):
    with small.prepare("SELECT 1") as channel:
        list(channel.answer(channel.send("B")))
        channel.prepare("CREATE TABLE z(a)", access="write")
        channel.fetch()
        channel.prepare(GROWS[6], access="write")
        with pytest.raises(RemoteError, match="the schema would have"):
            channel.fetch()
        list(channel.answer(channel.send("M")))
    assert small.query("SELECT count(*) FROM z") == [(0,)]


def test_a_larger_one_is_served(make_bus):
    """As after a restore, or with a lower limit: it stays as it is, and may become smaller."""
    bus = make_bus()
    for text in SETUP + [f"CREATE VIEW v{i} AS SELECT 1 WHERE 1 IN ({MANY})" for i in range(2)]:
        bus.update(text)
    bus.stop_daemon()
    bus.write_config({"schema_bytes": LIMIT})
    bus.update("INSERT INTO t VALUES(2, 3)")
    assert bus.query("SELECT x FROM t") == [(2,), (3,)]
    bus.update("CREATE TABLE IF NOT EXISTS t(id)")
    with open(os.path.join(bus.folder, "log"), encoding="utf-8") as log:
        assert f"and the limit 'schema_bytes' is {LIMIT}: going on, without CREATE, ALTER and ANALYZE" in log.read()
    for text in "CREATE TABLE u(a)", "ALTER TABLE t RENAME TO u", "ANALYZE":
        with pytest.raises(BusError, match="TooBig: the schema would have"):
            bus.update(text)
    bus.update("DROP VIEW v0")
    bus.update("DROP VIEW v1")
    bus.update("CREATE TABLE u(a)")


def test_thousands_of_tables(bus):
    """As many as no application has. Before, SQLite read the schema again and again while another client changed it."""
    bus.update("CREATE TABLE t(id INTEGER PRIMARY KEY, x)")
    bus.update("INSERT INTO t VALUES(1, 2)")
    for part in range(5):
        bus.batch([(f"CREATE TABLE app{part}_{i}(id INTEGER PRIMARY KEY, a TEXT NOT NULL, b INTEGER, c REAL DEFAULT 1.5, "
                    "d TEXT COLLATE NOCASE, e BLOB)", []) for i in range(1000)])
    other = bus.caller()
    took = []
    with run_client(bus, "change") as changes:
        try:
            time.sleep(1)
            end = time.monotonic() + 5
            while time.monotonic() < end:
                start = time.monotonic()
                try:
                    assert other.query("SELECT x FROM t WHERE id = 1", timeout_ms=100 * SLOWER) == [(2,)]
                    took.append(time.monotonic() - start)
                except BusError as error:
                    assert error.name == "Timeout"
                    took.append(float("inf"))
                    assert time.monotonic() - start < (0.1 + 0.25) * SLOWER
            assert changes.poll() is None
        finally:
            changes.kill()
    took.sort()
    assert len(took) > 50 / SLOWER
    assert took[len(took) * 9 // 10] < 0.1 * SLOWER


def test_results_of_others_leave_memory(make_bus):
    """Each unfinished result has a connection, and that the schema: 64 of two clients took all memory."""
    bus = make_bus(limits={"heap_hard_bytes": 64 << 20, "heap_soft_bytes": 32 << 20, "schema_bytes": 1 << 20})
    bus.update("CREATE TABLE t(id INTEGER PRIMARY KEY, x)")
    bus.update("INSERT INTO t VALUES(1, 2)")
    bus.update(f"CREATE VIEW v AS VALUES{','.join(['(1)'] * 2200)}")
    holders = [run_client(bus, "hold", stdout=subprocess.PIPE) for _ in range(2)]
    try:
        assert all(int(holder.stdout.readline()) >= 16 for holder in holders)
        other = bus.caller()
        for i in range(20):
            bus.update(f"CREATE TABLE z{i}(a)")
            assert other.query("SELECT x FROM t WHERE id = 1") == [(2,)]
    finally:
        for holder in holders:
            holder.kill()
            holder.wait()
            holder.stdout.close()


def run_client(bus, what, **kwargs):
    environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")
    return subprocess.Popen([sys.executable, __file__, bus.address, what], env=environment, **kwargs)


def change(caller):
    while True:
        caller.update("CREATE TABLE z(a)")
        caller.update("DROP TABLE z")


def hold(caller):
    channels = []
    for i in range(32):
        with contextlib.suppress(BusError):
            channels.append(caller.prepare(f"WITH RECURSIVE n(i) AS (SELECT {i} UNION ALL SELECT i + 1 FROM n LIMIT 1000000) "
                                           "SELECT i, printf('%0500d', i) FROM n"))
            channels[-1].send_fetch()
    print(len(channels), flush=True)
    signal.pause()


if __name__ == "__main__":
    {"change": change, "hold": hold}[sys.argv[2]](Caller(sys.argv[1]))
