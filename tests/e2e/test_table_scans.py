# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tables that are read from their pages, whole or by a condition that many rows pass: each result is one state of the table, while
commits and checkpoints go on."""
import threading

import pytest

from harness import World

N_ROWS = 4000
N_SCANS = 40
ROW = "printf('%d of %d %s', i, {0}, substr(hex(zeroblob(200)), 1, (i * {0}) % 300))"
NUMBERS = f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT {N_ROWS}) "


@pytest.fixture(name="world")
def fixture_world():
    """The log is written back all the time."""
    world = World({"checkpoint_bytes": 65536})
    yield world
    world.finish()


def get_state(k):
    """All rows after the update number k: they differ in length from one to the next."""
    return [(i, k, f"{i} of {k} " + "0" * ((i * k) % 300)) for i in range(1, N_ROWS + 1)]


@pytest.mark.parametrize("where", ["", " WHERE text LIKE '%OF%' AND i <> 7 AND k >= 0"])
def test_each_scan_is_one_state(world, where):
    world.update("CREATE TABLE t(i INTEGER PRIMARY KEY, k, text)")
    world.update(f"INSERT INTO t {NUMBERS} SELECT i, 0, {ROW.format(0)} FROM n")
    ends = threading.Event()
    n_updates = []

    def update():
        caller = world.caller()
        while not ends.is_set():
            k = len(n_updates) + 1
            caller.update(f"UPDATE t SET k = {k}, text = {ROW.format(k)}")
            n_updates.append(k)

    writer = threading.Thread(target=update)
    writer.start()
    seen = set()
    try:
        with world.prepare("SELECT * FROM t" + where, results="fresh") as channel:
            for _ in range(N_SCANS):
                before = len(n_updates)
                rows = channel.fetch()
                k = rows[0][1]
                assert before <= k <= len(n_updates) + 1
                assert rows == [row for row in get_state(k) if not where or row[0] != 7]
                seen.add(k)
    finally:
        ends.set()
        writer.join()
    assert len(seen) > 1 and len(n_updates) > 1


@pytest.mark.parametrize("where", ["", " WHERE text LIKE '%OF%'"])
def test_limits_of_a_scan(world, where):
    world.update("CREATE TABLE t(i INTEGER PRIMARY KEY, k, text)")
    world.update(f"INSERT INTO t {NUMBERS} SELECT i, 1, {ROW.format(1)} FROM n")
    for n in (1, 500, N_ROWS - 1, N_ROWS, N_ROWS + 1):
        with world.prepare("SELECT * FROM t" + where, max_rows=n) as channel:
            for _ in range(2):  # the second one is packed from its beginning
                assert channel.fetch() == get_state(1)[:n]
                assert channel.end.n_rows == min(n, N_ROWS)
