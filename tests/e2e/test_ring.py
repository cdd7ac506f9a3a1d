# SPDX-License-Identifier: LGPL-2.1-or-later
"""Large results through shared memory: the same rows, every end, readers that are slow, and clients that lie about the index."""
import io
import os
import random
import struct
import threading
import time

import pytest

from harness import SLOWER, n_fds, status_kib, wait_until
from wire_client import CutOff, RemoteError
from wire_reader import WireReader

NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT {}) "
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, hex(zeroblob(100)) FROM n"
BIG = NUMBERS.format(30000) + "SELECT i, hex(zeroblob(50 + i % 100)), i * 1.5, NULL FROM n"


def nothing_runs(bus):
    wait_until(lambda: not bus.queries(), "all queries to be over")


def start(bus, sql=ENDLESS, n_rows=20000, **options):
    """A stream that has its ring."""
    channel = bus.prepare(sql, transport="ring", timeout_ms=0, **options)
    rows = channel.answer(channel.send_fetch())
    for _ in range(n_rows):
        next(rows)
    assert channel.reader.ring is not None
    return channel, rows


@pytest.mark.parametrize("transport", ["ring", "auto"])
@pytest.mark.parametrize("page_size", [4096, 65536, 1048576])
def test_the_same_rows(bus, transport, page_size):
    with bus.prepare(BIG, transport="socketpair") as plain, \
            bus.prepare(BIG, transport=transport, page_size=page_size) as channel:
        assert channel.info["transport"] == "ring"
        assert channel.fetch() == plain.fetch()
        assert plain.reader.n_ring_pages == 0 < channel.reader.n_ring_pages
        assert channel.reader.ring is None, "it goes with the result"


def test_small_results_need_none(bus):
    with bus.prepare("SELECT ?", transport="ring") as channel:
        for i in range(100):
            assert channel.fetch((i,)) == [(i,)]
        assert channel.reader.n_ring_pages == 0 and not channel.receiver.fds


def test_each_large_result_has_its_own(bus):
    with bus.prepare("SELECT 1", transport="ring") as channel:
        for sql in (BIG, "SELECT 7", BIG, "SELECT abs(-9223372036854775808)", BIG):
            before = channel.reader.n_ring_pages
            channel.prepare(sql)
            if "abs" in sql:
                with pytest.raises(RemoteError, match="overflow"):
                    channel.fetch()
            else:
                assert len(channel.fetch()) == (30000 if sql == BIG else 1)
            assert (channel.reader.n_ring_pages > before) == (sql == BIG)


def test_large_rows_between_pages(bus):
    """CHUNKs go by the socket, in their place."""
    sql = NUMBERS.format(3000) + "SELECT i, zeroblob(CASE WHEN i % 500 = 0 THEN 300000 ELSE 1000 END) FROM n"
    with bus.prepare(sql, transport="ring") as channel:
        rows = channel.fetch()
        assert [row[0] for row in rows] == list(range(1, 3001))
        assert all(len(row[1]) == (300000 if row[0] % 500 == 0 else 1000) for row in rows)
        assert channel.reader.n_ring_pages > 0


def test_error_in_mid_result(bus):
    sql = NUMBERS.format(30000) + "SELECT i, hex(zeroblob(100)), abs(CASE i WHEN 29000 THEN -9223372036854775808 END) FROM n"
    channel, rows = start(bus, sql)
    with pytest.raises(RemoteError, match="overflow"):
        list(rows)
    assert channel.reader.n_ring_pages > 0
    channel.close()


def test_cancel(bus):
    channel, rows = start(bus)
    channel.cancel(1)
    with pytest.raises(RemoteError) as caught:
        for _ in rows:
            pass
    assert caught.value.name == "Cancelled"
    channel.prepare("SELECT 5")
    assert channel.fetch() == [(5,)]
    channel.close()


def test_close_while_running(bus):
    """Hang-ups leave no descriptor and no memory behind."""
    pid = bus.daemon_pid()
    for round_ in range(30):
        channel, _ = start(bus)
        channel.close()
        if round_ == 9:
            nothing_runs(bus)
            before = n_fds(pid)
    nothing_runs(bus)
    wait_until(lambda: n_fds(pid) <= before, "the descriptors to be closed")
    wait_until(lambda: maps_of_rings(pid) == 0, "the rings to be unmapped")


def maps_of_rings(pid):
    with open(f"/proc/{pid}/maps", encoding="utf-8") as stream:
        return sum("memfd:queryd-" in line for line in stream)


def test_slow_reader(bus):
    """A full ring, then a full socket, then nothing until somebody reads; then everything, in order."""
    sql = NUMBERS.format(40000) + "SELECT i, hex(zeroblob(100)) FROM n"
    channel, rows = start(bus, sql, 10000)
    wait_until(lambda: [q for q in bus.queries() if q["state"] == "blocked"], "the query to be blocked")
    assert [row[0] for row in rows] == list(range(10001, 40001))
    channel.close()


def test_reader_that_takes_nothing_is_ended(make_bus):
    bus = make_bus(limits={"reader_idle_ms": 300})
    channel, rows = start(bus)
    wait_until(lambda: not bus.queries(), "the result to be ended")
    with pytest.raises(RemoteError) as caught:
        for _ in rows:
            pass
    assert caught.value.name == "Timeout" and "reader_idle_ms" in caught.value.message
    channel.close()


@pytest.mark.parametrize("limits", [{"ring_bytes": 0}, {"ring_per_client_bytes": 0}, {"ring_bytes": 200000}])
def test_without_memory_for_it(make_bus, limits):
    bus = make_bus(limits=limits)
    with bus.prepare(BIG, transport="ring") as channel:
        assert len(channel.fetch()) == 30000
        assert channel.reader.n_ring_pages == 0


def test_memory_is_bounded(make_bus):
    """Two rings may be; the third result goes by its socket until one of them is over."""
    bus = make_bus(limits={"ring_per_client_bytes": 2 * 256 * 1024})
    held = [start(bus) for _ in range(2)]
    third = bus.prepare(BIG, transport="ring")
    assert len(third.fetch()) == 30000
    assert third.reader.n_ring_pages == 0
    assert status_kib(bus.daemon_pid(), "RssShmem") <= 1024
    held[0][0].close()
    wait_until(lambda: len(bus.queries()) == 1, "the first to be over")
    assert len(third.fetch()) == 30000
    assert third.reader.n_ring_pages > 0
    third.close()
    held[1][0].close()


def test_killed_daemon_is_an_error(bus):
    channel, rows = start(bus)
    bus.kill_daemon()
    with pytest.raises((CutOff, ConnectionResetError)):
        for _ in rows:
            pass
    channel.close()


def flip(index, stop, seed, counts):
    """Writes nonsense into the index for as long as the stream lives, near misses among it."""
    rand = random.Random(seed)
    while not stop.is_set():
        for _ in range(100):
            at = rand.randrange(8)
            index[at] ^= 1 << rand.randrange(8)
        if rand.random() < 0.5:
            index[:8] = struct.pack("=Q", rand.randrange(200))
        counts[seed] = counts.get(seed, 0) + 100
        time.sleep(0)


def test_index_flipped_while_streaming(bus):
    """At worst the liar loses its own channel. Everybody else is served."""
    healthy, counts, n_lost = bus.caller(), {}, 0
    deadline = time.monotonic() + 60 * SLOWER
    seed = 0
    while (sum(counts.values()) < 10000 or n_lost == 0 or seed < 20) and time.monotonic() < deadline:
        seed += 1
        channel, rows = start(bus)
        stop = threading.Event()
        thread = threading.Thread(target=flip, args=(channel.reader.ring.index, stop, seed, counts))
        thread.start()
        try:
            channel.reader.ring.take = lambda size, ring=channel.reader.ring: take_blindly(ring, size)
            for _ in range(20000):
                next(rows)
        except Exception:  # pylint: disable=broad-except
            n_lost += 1  # hung up, or rows that make no sense: its own doing
        stop.set()
        thread.join()
        channel.close()
        assert healthy.query("SELECT 42") == [(42,)]
    assert sum(counts.values()) >= 10000 and n_lost > 0
    nothing_runs(bus)
    assert maps_of_rings(bus.daemon_pid()) == 0


def take_blindly(ring, size):
    start_ = ring.n_taken % ring.n_slots * ring.slot_size
    ring.n_taken += 1
    return ring.slots[start_:start_ + size]


def test_index_that_never_moves(bus):
    """As if the client never took a page: the rest of the result goes by the socket."""
    sql = NUMBERS.format(60000) + "SELECT i, hex(zeroblob(100)) FROM n"
    channel, rows = start(bus, sql, 10000)
    ring = channel.reader.ring
    before = channel.reader.n_ring_pages
    ring.take = lambda size: take_blindly(ring, size)
    assert [row[0] for row in rows] == list(range(10001, 60001))
    assert channel.reader.n_ring_pages - before <= ring.n_slots
    channel.close()


def test_descriptors_are_sealed(bus):
    """What a client gets cannot be written, shrunk or grown, also not when it is opened anew."""
    channel = bus.prepare(ENDLESS, transport="ring", timeout_ms=0)
    channel.reader.take_fds = lambda: []
    rows = channel.answer(channel.send_fetch())
    with pytest.raises(Exception, match="RING without its descriptors"):
        for _ in rows:
            pass
    slots, index = channel.receiver.take_fds()
    for fd in (slots, index, os.open(f"/proc/self/fd/{slots}", os.O_RDWR | os.O_CLOEXEC)):
        for size in (0, 1 << 30):
            with pytest.raises(PermissionError):
                os.ftruncate(fd, size)
        if fd != index:
            with pytest.raises(PermissionError):
                os.pwrite(fd, b"x", 0)
        os.close(fd)
    channel.close()
    nothing_runs(bus)


# --- vmsplice: a pipe that refers to the daemon's memory --------------------------------------------------------------------

def read_rows(pipe, pauses=(), page_size=65536):
    """Takes all bytes first, with pauses in which the daemon comes round to its buffers again; then looks at them."""
    data = []
    for pause in pauses:
        time.sleep(pause)  # correctness does not depend on it
        data.append(pipe.read(1 << 20))
    while not data or data[-1]:
        data.append(pipe.read(1 << 16))
    return list(WireReader(io.BytesIO(b"".join(data)).read, page_size).rows())


@pytest.mark.parametrize("page_size", [4096, 65536, 1048576])
def test_vmsplice_gives_the_same_rows(bus, page_size):
    sql = NUMBERS.format(60000) + "SELECT i, hex(i) || hex(zeroblob(20 + i % 70)) FROM n"
    with bus.prepare(sql, transport="pipe", page_size=page_size) as plain:
        expected = read_rows(plain, page_size=page_size)
    assert len(expected) == 60000
    with bus.prepare(sql, transport="vmsplice", page_size=page_size) as pipe:
        assert pipe.info["transport"] == "vmsplice"
        assert read_rows(pipe, [0.01] * 30, page_size) == expected


def test_vmsplice_of_rows_in_pieces(bus):
    """CHUNKs, and pages that end anywhere."""
    sql = NUMBERS.format(400) + "SELECT i, hex(i) || hex(zeroblob(CASE WHEN i % 2 THEN 5000 ELSE 1 END)) FROM n"
    with bus.prepare(sql, transport="pipe", page_size=4096) as plain, \
            bus.prepare(sql, transport="vmsplice", page_size=4096) as pipe:
        rows = read_rows(pipe, [0.05], 4096)
        assert len(rows) == 400 and rows == read_rows(plain, page_size=4096)


def test_vmspliced_pages_outlive_the_result(bus):
    """END is in the pipe, the daemon has moved on to others, and what it gave is still as it was."""
    sql = NUMBERS.format(500) + "SELECT i, 'row ' || i FROM n"
    pipes = [bus.prepare(sql, transport="vmsplice") for _ in range(20)]
    nothing_runs(bus)
    for _ in range(20):
        assert len(bus.query(sql)) == 500
    for pipe in pipes:
        assert read_rows(pipe) == [(i, f"row {i}") for i in range(1, 501)]
        pipe.close()
