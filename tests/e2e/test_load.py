# SPDX-License-Identifier: LGPL-2.1-or-later
"""Many clients at once, readers that stand still, long queries beside short ones, and what is left when all are gone.

Memory is checked against the bars of the project but under a sanitizer, where only correctness counts. Bars on time are in
"tests/run bench concurrency".
"""
import os
import subprocess
import sys

import pytest

from harness import SANITIZER, n_fds, status_kib, wait_until

HERE = os.path.dirname(os.path.abspath(__file__))
N_ROWS = 200000
TABLE = ("CREATE TABLE t AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT {}) "
         "SELECT i AS id, hex(zeroblob(50)) AS x, i % 1000 AS y FROM n")
LOOKUP = "SELECT id, x, y FROM t WHERE id = ?"


class Client:
    """A load_client.py process."""

    def __init__(self, bus):
        self.process = subprocess.Popen([sys.executable, os.path.join(HERE, "load_client.py"), bus.address], env=bus.env,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def send(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()

    def answer(self):
        line = self.process.stdout.readline().strip()
        assert line, "a client process died"
        return line

    def ask(self, command):
        self.send(command)
        return self.answer()

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


@pytest.fixture
def clients(bus):
    """start(n): n client processes, all ready; of another world than bus if one is given."""
    started = []

    def start(n, world=bus):
        new = [Client(world) for _ in range(n)]
        started.extend(new)
        for client in new:
            assert client.answer() == "ready"
        return new

    yield start
    for client in started:
        client.close()


def fill(bus, n=N_ROWS):
    bus.update(TABLE.format(n), timeout_ms=0)
    bus.update("CREATE UNIQUE INDEX t_id ON t (id)", timeout_ms=0)


def ask_all(clients, command):
    for client in clients:
        client.send(command)
    return [client.answer() for client in clients]


def look_up(client, n=500):
    assert len(client.ask(f"lookups {n} {N_ROWS} 0.0005").split()) == n + 1


@pytest.mark.deadline(300)
def test_64_clients_and_32_stopped_readers(make_bus, clients):
    """Each of 64 processes runs a scan; half never read. The others finish correctly, and nothing leaks."""
    bus = make_bus(limits={"reader_idle_ms": 280000})  # on a busy machine the others read for longer than 30 s
    fill(bus)
    pid = bus.daemon_pid()
    everybody = clients(64, bus)
    base_fds, base_kib = n_fds(pid), status_kib(pid, "RssAnon")
    assert set(ask_all(everybody, "open SELECT id, x, y FROM t")) == {"opened"}
    assert set(ask_all(everybody, "start")) == {"started"}
    stopped, fast = everybody[:32], everybody[32:]
    want = f"rows {N_ROWS} {N_ROWS * (N_ROWS + 1) // 2}"
    assert set(ask_all(fast, "read")) == {want}
    assert bus.query("SELECT count(*) FROM t") == [(N_ROWS,)]
    wait_until(lambda: sum(q["state"] == "blocked" for q in bus.queries()) == 32, "32 parked readers")
    grown = status_kib(pid, "RssAnon") - base_kib
    print(f"memory with 32 parked readers: +{grown} KiB")
    if not SANITIZER:
        assert grown <= 64 * 1024
    # a parked one wakes up and gets all of it, or the error that says why not; never a short result
    assert stopped[0].ask("read") in (want, "error Timeout")
    for client in everybody:
        client.close()
    wait_until(lambda: n_fds(pid) <= base_fds, f"descriptors back to {base_fds}")
    wait_until(lambda: not bus.queries(), "no query left")
    grown = status_kib(pid, "RssAnon") - base_kib
    print(f"memory afterwards: +{grown} KiB")
    if not SANITIZER:
        assert grown <= 16 * 1024, f"{grown} KiB above the base"


@pytest.mark.deadline(300)
def test_short_ones_beside_long_queries(bus, clients):
    """A scan, two aggregates that give no row for long, a sort: one-row queries are answered while they go on."""
    fill(bus)
    probe, *others = clients(5)
    probe.ask("open " + LOOKUP)
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
    sqls = ["SELECT a.id, a.x, b.y FROM t a, t b", endless + " SELECT count(*) FROM n",
            "SELECT count(*) FROM t a, t b WHERE a.y < b.y", "SELECT a.id, b.x FROM t a, t b WHERE a.id < 40 ORDER BY b.y, b.id"]
    for client, sql in zip(others, sqls):
        client.ask("open " + sql)
    ask_all(others, "start")
    others[0].send("read")
    wait_until(lambda: len(bus.queries()) == 4, "the long queries to run")
    look_up(probe)
    assert len([q for q in bus.queries() if q["state"] != "blocked"]) >= 3, "they have not made way by ending"
    for client in others:
        client.process.kill()


@pytest.mark.deadline(300)
def test_short_ones_of_the_same_client(make_bus):
    """Long queries of a client's own, more than may run at once, do not keep its short ones waiting."""
    bus = make_bus(limits={"query_timeout_ms": 0})  # beside other load it takes longer than the usual 30 s
    fill(bus, 1000)
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    long_ones = [bus.prepare(endless, timeout_ms=0) for _ in range(12)]
    with bus.prepare(LOOKUP) as channel:
        for long_one in long_ones:
            long_one.send_fetch()
        wait_until(lambda: len(bus.queries()) == 12, "the long queries to be there")
        for i in range(200):
            assert channel.fetch((i + 1,))[0][0] == i + 1
            assert bus.query("SELECT ?", [i]) == [(i,)]
    assert len(bus.queries()) == 12
    for long_one in long_ones:
        long_one.close()
    wait_until(lambda: not bus.queries(), "hang-up ends them, also those that wait")


@pytest.mark.deadline(300)
def test_thousands_of_channels_leave_nothing(bus):
    """Descriptors and memory back to base after many open/close cycles, with and without a result."""
    fill(bus, 1000)
    pid = bus.daemon_pid()
    n = 300 if SANITIZER else 2000

    def cycle(count):
        for i in range(count):
            with bus.prepare("SELECT id, x FROM t") as channel:
                if i % 2:
                    channel.fetch()
                elif i % 3:
                    channel.send_fetch()
            if i % 10 == 0:
                bus.query("SELECT ?", [i])

    cycle(n // 4)
    wait_until(lambda: not bus.queries(), "rest")
    base_fds, base_kib = n_fds(pid), status_kib(pid, "RssAnon")
    cycle(n)
    wait_until(lambda: n_fds(pid) <= base_fds, f"descriptors back to {base_fds}")
    grown = status_kib(pid, "RssAnon") - base_kib
    print(f"after {n} channels: {grown} KiB")
    if not SANITIZER:
        assert grown < 2048


@pytest.mark.skipif(bool(SANITIZER), reason="memory bars are for plain builds")
def test_memory_of_each_further_stream(bus, clients):
    """A plain scan with pages of 64 KiB: below 16 MiB while streaming, at most 320 KiB for each further open stream."""
    fill(bus)
    pid = bus.daemon_pid()
    readers = clients(25)
    ask_all(readers, "open SELECT id, x, y FROM t")
    readers[0].ask("start")
    readers[0].ask("read")
    one = status_kib(pid, "RssAnon")
    print(f"after one stream: {one} KiB")
    assert one < 16 * 1024
    ask_all(readers[:1], "start")
    wait_until(lambda: sum(q["state"] == "blocked" for q in bus.queries()) == 1, "one parked stream")
    first = status_kib(pid, "RssAnon")
    ask_all(readers[1:], "start")
    wait_until(lambda: sum(q["state"] == "blocked" for q in bus.queries()) == 25, "25 parked streams")
    each = (status_kib(pid, "RssAnon") - first) / 24
    print(f"each further stream: {each:.0f} KiB")
    assert each <= 320


@pytest.mark.deadline(300)
def test_writers_and_readers(bus, clients):
    """Concurrent updates from several connections: each is there once, and readers see whole transactions only."""
    bus.update("CREATE TABLE account (id INTEGER PRIMARY KEY, value)")
    bus.batch([("INSERT INTO account VALUES (?, 100)", [i]) for i in range(10)])
    writers = [bus.caller() for _ in range(8)]
    channels = [w.prepare("UPDATE account SET value = value + CASE id WHEN ?1 THEN 1 ELSE -1 END WHERE id IN (?1, ?2)",
                          access="write") for w in writers]
    n = 20 if SANITIZER else 100
    with bus.prepare("SELECT sum(value) FROM account") as reader:
        for i in range(n):
            serials = [c.send_fetch((k, (k + 1 + i % 9) % 10)) for k, c in enumerate(channels)]
            assert reader.fetch() == [(1000,)]
            for channel, serial in zip(channels, serials):
                list(channel.answer(serial))
                assert channel.end.changes == 2
    for channel in channels:
        channel.close()
