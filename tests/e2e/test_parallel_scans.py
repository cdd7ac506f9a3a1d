# SPDX-License-Identifier: LGPL-2.1-or-later
"""Long scans that a second thread of the daemon helps with: the same rows, beside commits, other clients, errors and early ends."""
import threading
import time

import pytest

from harness import SANITIZER, World, wait_until
from wire_client import RemoteError

N_ROWS = 120000
NUMBERS = f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT {N_ROWS}) "
FEW = "SELECT i, text FROM t WHERE upper(text) LIKE '%X77%' AND i % 3 = 1"
BOUND = "SELECT i, ?3, text || ?1, k + ?6 FROM t WHERE upper(text) LIKE ?2 AND i % ?5 = 1 AND json_extract(j, '$.x') IS NOT ?4"
VALUES = (["-é", "%X7%", b"\0blob", None, 3, 0.5], ["", "%X77%", 2**53 + 1, 5, 2, None], [1.25, "%", None, "5", 997, -1])
ALL = "SELECT json_extract(j, '$.x'), upper(text) || substr(text, 3), i + 0 FROM t"


@pytest.fixture(name="world")
def fixture_world():
    world = World()
    world.update("CREATE TABLE t(i INTEGER PRIMARY KEY, k, text, j)")
    world.update(f"INSERT INTO t {NUMBERS} SELECT i, 0, printf('%d x%02d ', i, i % 100) || hex(zeroblob(40)), "
                 "json_object('x', i % 7) FROM n")
    yield world
    world.finish()


def n_helped(world):
    return world.stats()["scan_ranges_helped_total"]


def fetch_helped(world, channel, what, *rows):
    """Rows of a run with help. Where the processors are busy with other things there may be none for a while."""
    found = []

    def runs():
        before = n_helped(world)
        found[:] = channel.fetch(*rows)
        return n_helped(world) > before
    wait_until(runs, f"a helper takes part in {what}")
    return list(found)


@pytest.mark.parametrize("sql", [FEW, ALL])
def test_same_rows(world, sql):
    with world.prepare(sql, results="fresh", max_rows=10 * N_ROWS) as channel:  # with this limit one thread does it
        before = n_helped(world)
        expected = [channel.fetch() for _ in range(3)][-1]
        assert n_helped(world) == before and len(expected) > 100
    with world.prepare(sql, results="fresh") as channel:
        assert fetch_helped(world, channel, sql) == expected


def test_same_rows_of_parameters(world):
    """Each run has its own, of all types: also for the helper, whose statement is another connection's."""
    with world.prepare(BOUND, results="fresh", max_rows=10 * N_ROWS) as channel:
        expected = [channel.fetch(values) for values in VALUES]
        assert all(len(rows) > 50 for rows in expected)
    with world.prepare(BOUND, results="fresh") as channel:
        for _ in range(2):
            for values, rows in zip(VALUES, expected):
                assert fetch_helped(world, channel, BOUND, values) == rows


def test_an_index_that_a_value_decides_on(world):
    """SQLite compiles LIKE of a parameter again for each value: to a search for a prefix, else to a scan."""
    world.update("CREATE INDEX t_text ON t(text COLLATE NOCASE)")
    patterns = ["%X77%", "77%", "%4%", "1234 %", "%", None]
    with world.prepare("SELECT i, text FROM t WHERE text LIKE ?", results="fresh") as channel:
        for pattern in patterns + patterns[::-1] + patterns:
            literal = "NULL" if pattern is None else f"'{pattern}'"
            with world.prepare(f"SELECT i, text FROM t WHERE text LIKE {literal}", results="fresh", max_rows=10 * N_ROWS) as plain:
                assert channel.fetch([pattern]) == plain.fetch()


def test_many_parameters(world):
    """From the 32nd on SQLite takes the bounds of a range for values that it compiles the statement for."""
    sql = "SELECT i FROM t WHERE text LIKE ?34 AND i NOT IN (" + ",".join(f"?{n}" for n in range(1, 34)) + ")"
    values = [*range(1, 34), "%7"]
    with world.prepare(sql, results="fresh", max_rows=10 * N_ROWS) as channel:
        expected = channel.fetch(values)
    with world.prepare(sql, results="fresh") as channel:
        for _ in range(5):
            assert channel.fetch(values) == expected


@pytest.mark.skipif(SANITIZER == "tsan", reason="an update lasts as long as the scan: no core is idle, none helps in 200 rounds")
def test_each_scan_is_one_state(world):
    ends = threading.Event()
    may_update = threading.Semaphore(0)
    n_allowed = 0
    n_updates = []

    def update():
        caller = world.caller()
        while may_update.acquire() and not ends.is_set():
            caller.update(f"UPDATE t SET k = {len(n_updates) + 1} WHERE i % 100 = 7")
            n_updates.append(len(n_updates) + 1)
    writer = threading.Thread(target=update)
    with world.prepare("SELECT k + 0, i FROM t WHERE upper(text) LIKE '%X07 %'", results="fresh") as channel:
        channel.fetch()
        before = n_helped(world)
        writer.start()
        try:
            for number in range(2000):
                n_before = len(n_updates)
                # no more at once: the log may grow too large while a slow scan reads. Nor all the time: a thread helps only when no
                # other has served a request for 50 ms
                for _ in range(n_allowed, n_before + 3 if number % 10 == 0 else 0):
                    may_update.release()
                    n_allowed += 1
                rows = channel.fetch()
                assert len({k for k, _ in rows}) == 1 and n_before <= rows[0][0] <= len(n_updates) + 1
                assert [i for _, i in rows] == list(range(7, N_ROWS, 100))
                if len(n_updates) > 5 and n_helped(world) > before:
                    break
        finally:
            ends.set()
            may_update.release()
            writer.join()
        assert len(n_updates) > 1 and n_helped(world) > before


def test_error_amid(world):
    world.update(f"UPDATE t SET j = '{{' WHERE i = {N_ROWS // 2}")
    with world.prepare(ALL, results="fresh") as channel:
        for _ in range(5):
            with pytest.raises(RemoteError, match="malformed JSON"):
                channel.fetch()
    assert world.query("SELECT 1") == [(1,)]


def test_early_ends(world):
    """Cancelling, a deadline, a hang-up: no lease is left, and the next scan is as before."""
    with world.prepare(ALL, results="fresh") as channel:
        expected = fetch_helped(world, channel, ALL)
        for _ in range(5):
            serial = channel.send_fetch()
            channel.cancel(serial)
            try:
                assert list(channel.answer(serial)) == expected
            except RemoteError as error:
                assert "cancelled" in str(error)
        assert channel.fetch() == expected
    with world.prepare(ALL, results="fresh", timeout_ms=20) as channel:
        for _ in range(5):
            try:
                assert channel.fetch() == expected
            except RemoteError as error:
                assert "took longer" in str(error)
    for _ in range(5):
        with world.prepare(ALL, results="fresh") as channel:
            channel.send_fetch()
            channel.recv(16)
    wait_until(lambda: world.stats()["snapshots"] == 0, "all leases are given back")


def test_others_go_first(world):
    """Look-ups of another client beside scans that are helped."""
    with world.prepare(ALL, results="fresh") as channel:
        fetch_helped(world, channel, ALL)
    ends = threading.Event()

    def scan():
        with world.caller().prepare(ALL, results="fresh") as other:
            while not ends.is_set():
                other.fetch()
    thread = threading.Thread(target=scan)
    thread.start()
    try:
        with world.prepare("SELECT k FROM t WHERE i = ?", results="fresh") as channel:
            for i in range(300):
                start = time.monotonic()
                assert channel.fetch((i + 1,)) == [(0,)]
                assert time.monotonic() - start < 10
    finally:
        ends.set()
        thread.join()
