# SPDX-License-Identifier: LGPL-2.1-or-later
"""A channel in each of its states: requests one by one and pipelined, cancelled, closed, abandoned, cut off."""
import os
import select
import signal
import socket
import threading
import time

import pytest

from harness import SLOWER, BusError, cpu_seconds, n_fds, wait_until
from wire_client import Channel, CutOff, RemoteError, encode_record, encode_row
from wire_reader import WireReader

NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT {}) "
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, hex(zeroblob(100)) FROM n"
LONG_STEP = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


def running(bus, state=None):
    return [q for q in bus.queries() if state is None or q["state"] == state]


def nothing_runs(bus):
    wait_until(lambda: not running(bus), "all queries to be over")


def test_statement_is_reused(bus):
    with bus.prepare("SELECT ? * 2") as channel:
        for i in range(1000):
            assert channel.fetch((i,)) == [(2 * i,)]
        assert channel.prepare("SELECT ? || 'x' AS y").columns == [("y", "")]
        assert channel.fetch(("a",)) == [("ax",)]


@pytest.mark.parametrize("text, values, language, rows", [
    ("SELECT ?1 * 2, :name", {"1": 21, "name": "x"}, "sql", [(42, "x")]),
    ("SELECT 1 WHERE 0", (), "sql", []),
    (NUMBERS.format(30000) + "SELECT i, hex(zeroblob(50)) FROM n", (), "sql", [(i, "0" * 100) for i in range(1, 30001)]),
    ("SELECT (?x + 1 AS ?y) { VALUES ?x { 1 2 } }", (), "sparql", None),
])
def test_prepare_with_fetch_runs_at_once(bus, text, values, language, rows):
    """As if a FETCH had come with the serial that the answer tells; then the channel is like any other."""
    with bus.prepare(text, values, language, fetch=True) as channel:
        assert channel.info["fetch_serial"] == 1
        first = list(channel.answer(1))
        assert (len(first) == 2) if rows is None else (first == rows)
        if not values:
            assert channel.fetch() == first
        channel.prepare("SELECT ?1")
        assert channel.fetch((5,)) == [(5,)]


def test_prepare_with_fetch_is_first(bus):
    """A request that is sent at once waits for it, and a failure of it does no harm."""
    with bus.prepare("SELECT abs(?1)", (-2**63,), fetch=True) as channel:
        serials = [channel.send_fetch((-i,)) for i in range(3)]
        assert serials == [2, 3, 4]
        with pytest.raises(RemoteError) as error:
            list(channel.answer(1))
        assert "overflow" in error.value.message
        assert [list(channel.answer(s)) for s in serials] == [[(i,)] for i in range(3)]


def test_prepare_with_fetch_is_cancelled_and_left(bus):
    with bus.prepare(LONG_STEP, fetch=True) as channel:
        wait_until(lambda: running(bus, "running"), "the query to run")
        channel.cancel(1)
        with pytest.raises(RemoteError) as error:
            list(channel.answer(1))
        assert error.value.name == "Cancelled"
    bus.prepare(LONG_STEP, fetch=True).close()
    nothing_runs(bus)
    wait_until(lambda: bus.stats()["channels"] == 0, "the end of the channels", 5)


@pytest.mark.parametrize("text, values, options, message", [
    ("SELECT ?o { VALUES ?o { 1 2 } }", {"o": 2}, {"fetch": True, "language": "sparql"}, "are written with '$', as '$o'"),
    ("SELECT ?1", (), {"fetch": True}, "has no value"),
    ("SELECT ?1", (1, 2), {"fetch": True}, "parameter"),
    ("CREATE TABLE t(x)", (), {"fetch": True, "access": "write"}, "'fetch' is for queries"),
    ("SELECT ?1", (1,), {}, "option 'fetch'"),
])
def test_prepare_with_fetch_is_refused(bus, text, values, options, message):
    with pytest.raises(BusError) as error:
        bus.prepare(text, values, **options)
    assert error.value.name == "BadParameter" and message in error.value.message
    assert bus.stats()["channels"] == 0


def test_prepare_on_the_channel_says_what_it_is(bus):
    bus.update("CREATE TABLE t (a INTEGER, b TEXT)")
    with bus.prepare("SELECT 1") as channel:
        schema = channel.prepare("SELECT b, a FROM t WHERE a = :a AND b = ?")
        assert schema.columns == [("b", "TEXT"), ("a", "INTEGER")]
        assert schema.parameters == [(1, ":a"), (2, "")]
        assert (schema.version, schema.page_size, schema.writes, schema.rdf) == (1, 65536, False, False)


def test_pipelined_requests_are_answered_in_order(bus):
    with bus.prepare("SELECT ?") as channel:
        serials = [channel.send_fetch((i,)) for i in range(16)]
        assert [list(channel.answer(s)) for s in serials] == [[(i,)] for i in range(16)]


def test_pipelined_prepare_and_fetch(bus):
    with bus.prepare("SELECT 0") as channel:
        for i in range(5):
            channel.send_prepare(f"SELECT {i}, ?")
            channel.send_fetch(("x",))
        for i in range(5):
            assert channel.reader.record().kind == ord("S")
            channel.n_columns = 2
            assert list(channel.answer()) == [(i, "x")]


def send_together(channel, text, language="sql"):
    """PREPARE and FETCH by one send(): the daemon has both when it looks at the first."""
    pieces = []
    channel.send_raw = pieces.append
    try:
        channel.send_prepare(text, language)
        serial = channel.send_fetch()
    finally:
        del channel.send_raw
    channel.send_raw(b"".join(pieces))
    return serial


def get_n_plans(bus):
    stats = bus.stats()
    return stats["sparql_plans_found_total"] + stats["sparql_plans_made_total"]


def test_prepare_and_fetch_that_come_together_look_for_one_plan(bus):
    bus.update("INSERT DATA { <urn:together> <urn:p> 1, 2, 3 }", language="sparql")
    with bus.prepare("SELECT 0") as channel:
        before = get_n_plans(bus)
        for i in range(20):
            serial = send_together(channel, f"SELECT ?o {{ <urn:together> <urn:p> ?o FILTER(?o != {i}) }}", "sparql")
            assert channel.reader.record().kind == ord("S")
            assert len(list(channel.answer(serial))) == (2 if i in (1, 2, 3) else 3)
        assert get_n_plans(bus) - before == 20


@pytest.mark.parametrize("text, language, code", [
    ("SELECT", "sql", "Syntax"), ("SELECT ?x {", "sparql", "Syntax"), ("INSERT DATA { <urn:a> <urn:b> 1 }", "sparql", "ReadOnly"),
    ("DELETE FROM nothing", "sql", "Syntax")])
def test_prepare_that_fails_together_with_its_fetch(bus, text, language, code):
    with bus.prepare("SELECT 0") as channel:
        serial = send_together(channel, text, language)
        with pytest.raises(RemoteError) as failure:
            list(channel.answer(serial - 1))
        assert failure.value.name.endswith(code), failure.value.name
        with pytest.raises(RemoteError) as failure:
            list(channel.answer(serial))
        assert failure.value.name.endswith("Closed")
        serial = send_together(channel, "SELECT 7")
        assert channel.reader.record().kind == ord("S")
        assert list(channel.answer(serial)) == [(7,)]


def test_first_row_of_both_does_not_wait_for_a_long_step(bus):
    with bus.prepare("SELECT 0") as channel:
        serial = send_together(channel, f"SELECT 1 UNION ALL SELECT * FROM ({LONG_STEP})")
        records = [channel.reader.record() for _ in range(2)]
        assert [record.kind for record in records] == [ord("S"), ord("R")]
        channel.cancel(serial)
        expect_cancelled(channel, serial)


def test_client_that_pipelines_and_does_not_read(bus):
    """It is held back by its own socket; nobody else notices, and all is there when it reads."""
    with bus.prepare("SELECT ?, hex(zeroblob(2000))") as channel, bus.prepare("SELECT 1") as other:
        channel.socket.setblocking(False)
        data = encode_record("F", 1, 7, encode_row((1,)))
        sent, full_since = 0, None
        deadline = time.monotonic() + 20 * SLOWER
        while time.monotonic() < deadline:
            try:
                sent += channel.socket.send(data * 100)
                full_since = None
            except BlockingIOError:
                full_since = full_since or time.monotonic()
                if time.monotonic() - full_since > 0.3:
                    break
                select.select([], [channel.socket], [], 0.1)
            assert sent < 64 * 1024 * 1024, "the daemon takes requests without end"
        assert full_since, "the socket never filled"
        before = cpu_seconds(bus.daemon_pid())
        assert other.fetch() == [(1,)]
        start = time.monotonic()
        assert not select.select([], [channel.socket], [], 1.0)[1], "still no room"
        used = cpu_seconds(bus.daemon_pid()) - before
        assert used < 0.5 * (time.monotonic() - start), f"the daemon spins: {used} s of processor"
        channel.socket.setblocking(True)
        channel.socket.shutdown(socket.SHUT_WR)
        n_whole = sent // len(data)
        for _ in range(n_whole):
            assert len(list(channel.answer(7))) == 1


def test_shut_wr_means_no_more_requests(bus):
    with bus.prepare(NUMBERS.format(10000) + "SELECT i FROM n") as channel:
        channel.send_fetch()
        channel.socket.shutdown(socket.SHUT_WR)
        assert len(list(channel.answer(1))) == 10000
        with pytest.raises(CutOff):
            channel.reader.record()


def test_many_result_pages(bus):
    with bus.prepare(NUMBERS.format(200000) + "SELECT i, 'row number ' || i FROM n") as channel:
        total = 0
        channel.send_fetch()
        for i, text in channel.answer(1):
            total += i
            assert text == f"row number {i}"
        assert total == 200000 * 200001 // 2


def test_max_rows_and_bytes(bus):
    with bus.prepare(NUMBERS.format(5000) + "SELECT i FROM n", max_rows=10) as channel:
        assert len(channel.fetch()) == 10
    columns, rows, truncated = bus.query_full(NUMBERS.format(5000) + "SELECT i FROM n")
    assert (columns, len(rows), truncated) == (["i"], 1000, True)
    assert bus.query_full(NUMBERS.format(5000) + "SELECT i FROM n", max_rows=5)[1:] == ([(i,) for i in range(1, 6)], True)
    assert bus.query_full("SELECT zeroblob(600000) UNION ALL SELECT zeroblob(600000)")[2]


# --- cancel --------------------------------------------------------------------------------------------------------------

def expect_cancelled(channel, serial):
    with pytest.raises(RemoteError) as error:
        for _ in channel.answer(serial):
            pass
    assert error.value.name == "Cancelled"


# each row fills a page, and takes less than the interrupter's tick: a reader that takes them at once never lets the channel rest
PAGES = ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
         "SELECT substr(hex(randomblob(300000)), 1, 60000) FROM n")


@pytest.mark.parametrize("sql", [ENDLESS, LONG_STEP, PAGES], ids=["rows", "one-step", "pages"])
def test_cancel_while_running(bus, sql):
    with bus.prepare(sql, timeout_ms=0) as channel:
        serial = channel.send_fetch()
        wait_until(lambda: running(bus), "the query to run")
        start = time.monotonic()
        channel.cancel(serial)
        expect_cancelled(channel, serial)
        assert time.monotonic() - start < 1 * SLOWER
        channel.prepare("SELECT 1")
        assert channel.fetch() == [(1,)]
    nothing_runs(bus)


def test_cancel_while_blocked(bus):
    """The reader stands still, its socket is full: the ERROR comes behind what was on its way."""
    with bus.prepare(ENDLESS, timeout_ms=0) as channel:
        serial = channel.send_fetch()
        wait_until(lambda: running(bus, "blocked"), "the query to be blocked")
        channel.cancel(serial)
        expect_cancelled(channel, serial)
        channel.prepare("SELECT 1")
        assert channel.fetch() == [(1,)]


def test_cancel_one_of_several(bus):
    with bus.prepare(LONG_STEP, timeout_ms=0) as channel:
        first = channel.send_fetch()
        channel.send_prepare("SELECT 7")
        third = channel.send_fetch()
        channel.cancel(third)
        channel.cancel(first)
        expect_cancelled(channel, first)
        assert channel.reader.record().kind == ord("S")
        expect_cancelled(channel, third)
        assert channel.fetch() == [(7,)]


def test_cancel_of_what_is_finished_or_unknown(bus):
    with bus.prepare("SELECT 1") as channel:
        serial = channel.send_fetch()
        assert list(channel.answer(serial)) == [(1,)]
        channel.cancel(serial)
        channel.cancel(4711)
        assert channel.fetch() == [(1,)]


def test_cancel_query_by_id(bus):
    with bus.prepare(LONG_STEP, timeout_ms=0) as channel:
        serial = channel.send_fetch()
        (query,) = wait_until(lambda: running(bus), "the query to run")
        assert query["text"] == LONG_STEP and query["language"] == "sql"
        bus.call("CancelQuery", "(t)", query["id"], interface="org.queryd.Query1.Manager")
        expect_cancelled(channel, serial)


# --- close in each state -------------------------------------------------------------------------------------------------

def test_close_idle(bus):
    channel = bus.prepare("SELECT 1")
    before = n_fds(bus.daemon_pid())
    channel.close()
    wait_until(lambda: n_fds(bus.daemon_pid()) < before, "the channel to be freed")


@pytest.mark.parametrize("sql", [ENDLESS, LONG_STEP], ids=["rows", "one-step"])
@pytest.mark.parametrize("transport", ["socketpair", "ring", "pipe", "vmsplice"])
def test_close_while_running(bus, sql, transport):
    """Hang-up cancels, also within a step that gives no row."""
    result = bus.prepare(sql, transport=transport, timeout_ms=0)
    if isinstance(result, Channel):
        result.send_fetch()
    wait_until(lambda: running(bus), "the query to run")
    result.close()
    nothing_runs(bus)
    before = cpu_seconds(bus.daemon_pid())
    time.sleep(0.3)  # measures: an idle daemon uses no processor
    assert cpu_seconds(bus.daemon_pid()) - before < 0.1


def test_close_while_blocked(bus):
    channel = bus.prepare(ENDLESS, timeout_ms=0)
    channel.send_fetch()
    wait_until(lambda: running(bus, "blocked"), "the query to be blocked")
    channel.close()
    nothing_runs(bus)


def test_close_while_queued(make_bus):
    bus = make_bus(limits={"running_per_client": 1, "running": 1})
    first = bus.prepare(LONG_STEP, timeout_ms=0)
    first.send_fetch()
    wait_until(lambda: running(bus), "the first to run")
    others = [bus.prepare("SELECT 1") for _ in range(5)]
    for channel in others:
        channel.send_fetch()
    for channel in others[:3]:
        channel.close()
    first.close()
    for channel in others[3:]:
        assert list(channel.answer(1)) == [(1,)]
        channel.close()
    nothing_runs(bus)


def test_close_while_writing(bus):
    """An update that was handed to the writer is executed, whether somebody waits for its answer or not."""
    bus.update("CREATE TABLE t (a)")
    channel = bus.prepare(NUMBERS.format(100000) + "INSERT INTO t SELECT i FROM n", access="write")
    channel.send_fetch()
    channel.close()
    nothing_runs(bus)
    count = bus.query("SELECT count(*) FROM t")[0][0]
    assert count in (0, 100000), "all or nothing"


def test_close_in_random_moments(bus):
    """Requests and hang-ups in quick succession: nothing leaks, nothing runs on."""
    pid = bus.daemon_pid()
    sqls = [ENDLESS, LONG_STEP, "SELECT 1", NUMBERS.format(3000) + "SELECT i FROM n"]

    def storm():
        for i in range(300):
            channel = bus.prepare(sqls[i % 4], timeout_ms=0)
            for _ in range(i % 3):
                channel.send_fetch()
            if i % 5 == 0:
                channel.cancel(1)
            if i % 7 == 0:
                channel.socket.shutdown(socket.SHUT_RDWR)
            channel.close()
        nothing_runs(bus)

    storm()  # the pool of connections has its size now
    before = n_fds(pid)
    storm()
    wait_until(lambda: n_fds(pid) <= before, f"descriptors back to {before}, are {n_fds(pid)}")
    assert bus.daemon_pid() == pid


def test_channel_outlives_its_maker(bus):
    """A channel lives by its descriptor alone."""
    caller = bus.caller()
    channel = caller.prepare(NUMBERS.format(50000) + "SELECT i FROM n")
    caller.close()
    assert len(channel.fetch()) == 50000
    channel.close()


# --- the daemon dies -----------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("transport", ["socketpair", "ring", "pipe", "vmsplice"])
def test_killed_daemon_is_an_error_never_a_short_result(bus, transport):
    bus.update("CREATE TABLE t AS " + NUMBERS.format(300000) + "SELECT i, hex(zeroblob(40)) AS x FROM n")
    results = [bus.prepare("SELECT * FROM t", transport=transport) for _ in range(8)]
    readers = []
    for result in results:
        if isinstance(result, Channel):
            result.send_fetch()
            result.reader.n_columns = 2
            readers.append(result.reader)
        else:
            readers.append(WireReader(result.read))
    streams = [r.rows() for r in readers]
    got = [[next(s)] for s in streams]
    bus.kill_daemon()
    for stream, rows in zip(streams, got):
        with pytest.raises((CutOff, ConnectionResetError)):
            for row in stream:
                rows.append(row)
        assert 0 < len(rows) < 300000, "the kill came in the middle"
    for result in results:
        result.close()
    assert bus.query("SELECT count(*) FROM t") == [(300000,)]


def test_killed_daemon_keeps_what_it_acknowledged(bus):
    bus.update("CREATE TABLE t (a INTEGER PRIMARY KEY)")
    acknowledged = []
    stop = threading.Event()

    def write():
        caller = bus.caller()
        i = 0
        while not stop.is_set():
            i += 1
            try:
                caller.update("INSERT INTO t VALUES (?)", [i])
                acknowledged.append(i)
            except Exception:
                return

    thread = threading.Thread(target=write)
    thread.start()
    wait_until(lambda: len(acknowledged) > 50, "some writes")
    bus.expected_exits.add(137)
    os.kill(bus.daemon_pid(), signal.SIGKILL)
    stop.set()
    thread.join()
    wait_until(lambda: bus.exits(), "the end")
    there = {a for (a,) in bus.prepare("SELECT a FROM t").fetch()}
    assert set(acknowledged) <= there
    assert bus.check(quick=False)[0]


def test_request_on_a_dead_channel(bus):
    channel = bus.prepare("SELECT 1")
    assert channel.fetch() == [(1,)]
    bus.kill_daemon()
    with pytest.raises((CutOff, ConnectionError)):
        channel.fetch()
    channel.close()
    with bus.prepare("SELECT 2") as again:
        assert again.fetch() == [(2,)]


def test_limit_of_channels(make_bus):
    bus = make_bus(limits={"channels_per_client": 5})
    channels = [bus.prepare("SELECT 1") for _ in range(5)]
    with pytest.raises(BusError) as error:
        bus.prepare("SELECT 1")
    assert error.value.name == "LimitExceeded" and "'channels_per_client' is 5" in error.value.message
    channels.pop().close()

    def again():
        try:
            return bus.prepare("SELECT 1")
        except BusError:
            return None

    channels.append(wait_until(again, "a channel to be free"))
    for channel in channels:
        assert channel.fetch() == [(1,)]
        channel.close()


def test_reader_that_never_reads(make_bus):
    """It gets its error behind what was on its way, and holds no snapshot any more."""
    bus = make_bus(limits={"reader_idle_ms": 300})
    with bus.prepare(ENDLESS, timeout_ms=0) as channel:
        serial = channel.send_fetch()
        wait_until(lambda: running(bus, "blocked"), "the query to be blocked")
        nothing_runs(bus)
        with pytest.raises(RemoteError) as error:
            for _ in channel.answer(serial):
                pass
        assert error.value.name == "Timeout" and "reader_idle_ms" in error.value.message
        channel.prepare("SELECT 1")
        assert channel.fetch() == [(1,)]
    with bus.prepare(ENDLESS, transport="pipe", timeout_ms=0) as pipe:
        wait_until(lambda: running(bus, "blocked"), "the query to be blocked")
        nothing_runs(bus)
        with pytest.raises((RemoteError, CutOff)):
            for _ in WireReader(pipe.read).rows():
                pass


def test_old_snapshot_ends(make_bus):
    bus = make_bus(limits={"snapshot_age_ms": 500})
    with bus.prepare(ENDLESS, timeout_ms=0) as channel:
        serial = channel.send_fetch()
        with pytest.raises(RemoteError) as error:
            for _ in channel.answer(serial):
                time.sleep(0.0005)  # a slow reader, never a stopped one
        assert error.value.name == "Timeout" and "snapshot_age_ms" in error.value.message


def test_client_that_has_seen_the_end_may_have_another_snapshot(make_bus):
    """END came before the snapshot was given back: one of some hundred requests of another channel was refused as Busy."""
    bus = make_bus(limits={"snapshots_per_client": 1})
    with bus.prepare("SELECT 1") as first, bus.prepare("SELECT 2") as second:
        for _ in range(3000):
            assert first.fetch() == [(1,)]
            assert second.fetch() == [(2,)]


def test_snapshot_is_consistent(bus):
    """What is written while a result streams is not in it."""
    bus.update("CREATE TABLE t AS " + NUMBERS.format(100000) + "SELECT i, hex(zeroblob(50)) AS x FROM n")
    with bus.prepare("SELECT i FROM t ORDER BY rowid") as channel:
        channel.send_fetch()
        stream = channel.answer(1)
        next(stream)
        bus.update("UPDATE t SET i = -1")
        assert min(i for (i,) in stream) == 2
        assert channel.fetch()[0] == (-1,)


def test_generation_grows(bus):
    with bus.prepare("SELECT 1") as channel:
        channel.fetch()
        before = channel.end.generation
        generation = bus.update("CREATE TABLE t (a)")[2]
        channel.fetch()
        assert channel.end.generation >= generation > before
    assert bus.property("Generation") == generation
    bus.stop_daemon()
    assert bus.update("INSERT INTO t VALUES (1)")[2] > generation, "also after a restart"


def test_channel_class_is_closed_by_garbage():
    """The test client itself leaks nothing."""
    left, right = socket.socketpair()
    with Channel(left.detach()):
        pass
    assert right.recv(1) == b""
    right.close()
