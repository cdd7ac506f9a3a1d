# SPDX-License-Identifier: LGPL-2.1-or-later
"""BEGIN … COMMIT on a channel: what it sees, what it changes, what ends it, and that it keeps nobody waiting for long."""
import socket
import threading
import time

import pytest

from harness import SLOWER, BusError, wait_until
from wire_client import RemoteError


def do(channel, kind):
    """BEGIN, COMMIT or ROLLBACK by its letter; returns END."""
    assert not list(channel.answer(channel.send(kind)))
    return channel.end


def fails(channel, kind, code):
    with pytest.raises(RemoteError) as error:
        do(channel, kind)
    assert error.value.name == code, error.value
    return str(error.value)


ENDED = ("transaction", "ended")


def ends_it(channel, kind=None):
    """The error of an update, or of the record @kind: it says that the transaction has ended. Returns what else it says."""
    with pytest.raises(RemoteError) as error:
        if kind is None:
            channel.fetch()
        else:
            do(channel, kind)
    assert "transaction was rolled back" in str(error.value) and ENDED in error.value.details, error.value.details
    return error.value


def fetch_fails(channel, code, *rows):
    with pytest.raises(RemoteError) as error:
        channel.fetch(*rows)
    assert error.value.name == code, error.value
    return str(error.value)


def write(channel, text, *rows):
    channel.prepare(text, access="write")
    return channel.fetch(*rows)


def read(channel, text, *rows):
    channel.prepare(text)
    return channel.fetch(*rows)


@pytest.fixture
def table(bus):
    bus.update("CREATE TABLE t (a UNIQUE)")
    return bus


def test_commit(table):
    with table.prepare("SELECT 1") as channel:
        before = do(channel, "B").generation
        write(channel, "INSERT INTO t VALUES (?)", (1,), (2,))
        assert channel.end.changes == 2
        assert read(channel, "SELECT a FROM t ORDER BY a") == [(1,), (2,)]
        assert table.query("SELECT count(*) FROM t") == [(0,)]
        write(channel, "UPDATE t SET a = a + 10")
        end = do(channel, "M")
        assert (end.changes, end.generation) == (4, before + 1)
        assert table.query("SELECT a FROM t ORDER BY a") == [(11,), (12,)]
        # the channel is as before
        assert read(channel, "SELECT count(*) FROM t") == [(2,)]
        write(channel, "INSERT INTO t VALUES (3)")
        assert table.query("SELECT count(*) FROM t") == [(3,)]


def test_rollback(table):
    with table.prepare("SELECT 1") as channel:
        before = do(channel, "B").generation
        write(channel, "INSERT INTO t VALUES (1)")
        write(channel, "CREATE TABLE u (b)")
        assert read(channel, "SELECT * FROM u") == []
        assert do(channel, "L").generation == before
        assert table.query("SELECT count(*) FROM t") == [(0,)]
        with pytest.raises(RemoteError):
            read(channel, "SELECT * FROM u")


def test_all_in_one_send(table):
    with table.prepare("INSERT INTO t VALUES (?)", access="write") as channel:
        serials = [channel.send("B"), *(channel.send_fetch((i,)) for i in range(10)), channel.send("M")]
        for serial in serials:
            assert not list(channel.answer(serial))
        assert channel.end.changes == 10
    assert table.query("SELECT count(*) FROM t") == [(10,)]


def test_long_result_and_sparql(table):
    with table.prepare("SELECT 1") as channel:
        do(channel, "B")
        write(channel, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100000) INSERT INTO t SELECT i FROM n")
        assert len(read(channel, "SELECT a, hex(zeroblob(20)) FROM t")) == 100000
        channel.prepare("INSERT DATA { <x:s> <x:p> 7 }", language="sparql", access="write")
        channel.fetch()
        channel.prepare("SELECT ?o { <x:s> <x:p> ?o }", language="sparql")
        assert len(channel.fetch()) == 1
        assert table.query("SELECT ?o { <x:s> <x:p> ?o }", language="sparql") == []
        do(channel, "M")
    assert len(table.query("SELECT ?o { <x:s> <x:p> ?o }", language="sparql")) == 1


def test_a_failed_statement_leaves_it_usable(table):
    with table.prepare("SELECT 1") as channel:
        do(channel, "B")
        write(channel, "INSERT INTO t VALUES (1)")
        channel.prepare("INSERT INTO t VALUES (?)", access="write")
        assert "UNIQUE" in fetch_fails(channel, "Constraint", (2,), (1,))
        with pytest.raises(RemoteError):
            channel.prepare("SELEC")
        write(channel, "INSERT INTO t VALUES (3)")
        do(channel, "M")
    assert table.query("SELECT a FROM t ORDER BY a") == [(1,), (3,)]


def test_errors_say_that_it_has_ended(make_bus):
    """A detail of ERROR: of the one that has ended it, and of those until COMMIT or ROLLBACK."""
    bus = make_bus(limits={"transaction_idle_ms": 300 * SLOWER})
    bus.update("CREATE TABLE t (a UNIQUE)")
    with bus.prepare("INSERT INTO t VALUES (1)", access="write", error_details=True) as channel:
        do(channel, "B")
        channel.fetch()
        with pytest.raises(RemoteError) as error:
            channel.fetch()
        assert error.value.details == [("kind", "unique"), ("table", "t"), ("column", "a")]  # it alone is undone
        channel.prepare("INSERT OR ROLLBACK INTO t VALUES (1)", access="write")
        assert ends_it(channel).details == [("kind", "unique"), ("table", "t"), ("column", "a"), ENDED]
        ends_it(channel)
        do(channel, "L")
        channel.prepare("INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n",
                        access="write", timeout_ms=100)
        do(channel, "B")
        assert ends_it(channel).name == "Timeout"
        assert ends_it(channel, "M").name == "Timeout"
        do(channel, "B")
        bus.update("DELETE FROM t")  # the idle time is over
        ends_it(channel)
        do(channel, "L")
    assert bus.query("SELECT * FROM t") == []


def test_the_detail_is_there_among_long_ones(bus):
    bus.update(f"CREATE TABLE t ({', '.join(f'{chr(97 + i) * 300}' for i in range(9))})")
    columns = ", ".join(chr(97 + i) * 300 for i in range(9))
    bus.update(f"CREATE UNIQUE INDEX i ON t ({columns})")
    with bus.prepare(f"INSERT OR ROLLBACK INTO t SELECT {', '.join('1' * 9)}", access="write", error_details=True) as channel:
        do(channel, "B")
        channel.fetch()
        assert ENDED in ends_it(channel).details
        do(channel, "L")


def test_a_deferred_key_that_is_broken_at_commit(table):
    """COMMIT has failed, and the transaction has ended, as docs/sql.md says. An update alone has an end of its own."""
    table.update("CREATE TABLE c (b REFERENCES t(a) DEFERRABLE INITIALLY DEFERRED)")
    with table.prepare("INSERT INTO c VALUES (1)", access="write", error_details=True) as channel:
        do(channel, "B")
        channel.fetch()
        error = ends_it(channel, "M")
        assert str(error).endswith("the transaction was rolled back: FOREIGN KEY constraint failed at COMMIT"), error
        assert error.details[0] == ("kind", "foreign-key")
        assert "no transaction is open" in fails(channel, "L", "BadParameter")
    with pytest.raises(BusError, match="failed at the end of the update"):
        table.update("INSERT INTO c VALUES (1)")
    assert table.query("SELECT * FROM c") == []


def test_a_whole_rollback_ends_it(table):
    with table.prepare("SELECT 1") as channel:
        do(channel, "B")
        write(channel, "INSERT INTO t VALUES (1)")
        channel.prepare("INSERT OR ROLLBACK INTO t VALUES (?)", access="write")
        serials = [channel.send_fetch((1,)), channel.send_fetch((2,))]
        for serial in serials:  # the second one must not be executed outside
            with pytest.raises(RemoteError) as error:
                list(channel.answer(serial))
            assert "the transaction was rolled back: UNIQUE" in str(error.value)
        table.update("INSERT INTO t VALUES (100)")  # the writer is free
        with pytest.raises(RemoteError):
            channel.prepare("SELECT 1")
        assert "open already" in fails(channel, "B", "BadParameter")
        fails(channel, "M", "Constraint")
        assert read(channel, "SELECT a FROM t") == [(100,)]


def test_rollback_of_a_failed_one(table):
    with table.prepare("INSERT OR ROLLBACK INTO t VALUES (?)", access="write") as channel:
        do(channel, "B")
        channel.fetch((1,))
        fetch_fails(channel, "Constraint", (1,))
        do(channel, "L")
        do(channel, "B")
        channel.fetch((1,))
        do(channel, "M")
    assert table.query("SELECT a FROM t") == [(1,)]


def test_out_of_turn(table):
    with table.prepare("SELECT 1") as channel:
        assert "no transaction is open" in fails(channel, "M", "BadParameter")
        assert "no transaction is open" in fails(channel, "L", "BadParameter")
        do(channel, "B")
        assert "open already" in fails(channel, "B", "BadParameter")
        channel.prepare("VACUUM", access="write")
        fetch_fails(channel, "Unsupported")
        for text in ("COMMIT", "ROLLBACK", "SAVEPOINT x"):
            with pytest.raises(RemoteError):
                channel.prepare(text)
        write(channel, "INSERT INTO t VALUES (1)")
        do(channel, "M")
    assert table.query("SELECT a FROM t") == [(1,)]


def test_others_wait_and_read(table):
    done = []
    with table.prepare("SELECT 1") as channel:
        do(channel, "B")
        write(channel, "INSERT INTO t VALUES (1)")
        caller = table.caller()
        thread = threading.Thread(target=lambda: done.append(caller.update("INSERT INTO t VALUES (2)")))
        thread.start()
        wait_until(lambda: table.stats()["updates_queued"] == 1, "the other update to wait")
        assert table.query("SELECT count(*) FROM t") == [(0,)]
        assert not done
        do(channel, "M")
        thread.join()
    assert table.query("SELECT a FROM t ORDER BY rowid") == [(1,), (2,)]


def test_who_waits_has_a_deadline(table):
    with table.prepare("SELECT 1") as channel, table.prepare("INSERT INTO t VALUES (9)", access="write", timeout_ms=100) as other:
        do(channel, "B")
        with pytest.raises(BusError) as error:
            table.update("INSERT INTO t VALUES (2)", timeout_ms=100)
        assert error.value.name.endswith("Timeout") and "waited for the writer for longer than its 100 ms" in error.value.message
        fetch_fails(other, "Timeout")
        assert "waited for the writer" in fails(other, "B", "Timeout")
        write(channel, "INSERT INTO t VALUES (1)")
        do(channel, "M")
        assert other.fetch() == []
    assert table.query("SELECT a FROM t ORDER BY a") == [(1,), (9,)]


@pytest.mark.parametrize("limit", ["transaction_idle_ms", "transaction_ms"])
def test_time_limits(make_bus, limit):
    """A client that sleeps, or that goes on for too long, loses its transaction; whoever waits goes on."""
    bus = make_bus(limits={limit: 300 * SLOWER})
    bus.update("CREATE TABLE t (a)")
    with bus.prepare("INSERT INTO t VALUES (?)", access="write") as channel:
        do(channel, "B")
        channel.fetch((1,))
        bus.update("INSERT INTO t VALUES (2)")
        message = fetch_fails(channel, "Timeout", (3,))
        assert "transaction was rolled back" in message and f"'{limit}' is {300 * SLOWER} ms" in message
        fails(channel, "M", "Timeout")
        channel.fetch((4,))
    assert bus.query("SELECT a FROM t ORDER BY a") == [(2,), (4,)]


def test_a_reader_that_stops(make_bus):
    """With a result half read the time goes on."""
    bus = make_bus(limits={"transaction_idle_ms": 300 * SLOWER})
    bus.update("CREATE TABLE t (a)")
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, hex(zeroblob(100)) FROM n"
    with bus.prepare(endless) as channel:
        do(channel, "B")
        serial = channel.send_fetch()
        bus.update("INSERT INTO t VALUES (1)")
        with pytest.raises(RemoteError) as error:
            list(channel.answer(serial))
        assert error.value.name == "Timeout"
        do(channel, "L")
    assert bus.query("SELECT a FROM t") == [(1,)]


def test_a_client_that_dies(table):
    for unread in (False, True):
        with table.prepare("INSERT INTO t VALUES (1)", access="write") as channel:
            do(channel, "B")
            if unread:
                channel.send_fetch()
            else:
                channel.fetch()
        table.update("INSERT INTO t VALUES (2)")
        assert table.query("SELECT a FROM t") == [(2,)]
        table.update("DELETE FROM t")


def test_it_waits_for_its_turn(table):
    """Two transactions at once are one after the other."""
    with table.prepare("SELECT 1") as one, table.prepare("SELECT 1") as two:
        do(one, "B")
        serial = two.send("B")
        write(one, "INSERT INTO t VALUES (1)")
        do(one, "M")
        assert not list(two.answer(serial))
        assert read(two, "SELECT a FROM t") == [(1,)]
        do(two, "L")


def test_the_daemon_ends(table):
    with table.prepare("INSERT INTO t VALUES (1)", access="write") as channel:
        do(channel, "B")
        channel.fetch()
        table.stop_daemon()
    assert table.query("SELECT count(*) FROM t") == [(0,)]


# --- batches -------------------------------------------------------------------------------------------------------------

def test_batch_is_one(bus):
    """One record, a count for each statement; the channel's own statement stays what it was."""
    bus.update("CREATE TABLE b (a UNIQUE)")
    with bus.prepare("SELECT a FROM b ORDER BY a") as channel:
        serial = channel.send_batch(("INSERT INTO b VALUES (?1), (:two)", {"1": 1, ":two": 2}), ("UPDATE b SET a = a + 10", {}),
                                    ("INSERT DATA { <urn:s> <urn:p> 1, 2, 3 }", {}, "sparql"), timeout_ms=5000)
        assert list(channel.answer(serial)) == [(2,), (2,), (3,)]
        assert channel.fetch() == [(11,), (12,)]
        channel.send_batch(("DELETE FROM b", {}), ("INSERT INTO b VALUES (1), (1)", {}))
        with pytest.raises(RemoteError, match="statement 2 of the batch: UNIQUE") as error:
            list(channel.answer())
        assert error.value.name == "Constraint"
        assert channel.fetch() == [(11,), (12,)]
        many = [("INSERT INTO b VALUES (?) RETURNING a", {"1": number}) for number in range(1000, 4000)]
        assert list(channel.answer(channel.send_batch(*many))) == [(1,)] * 3000, "rows are of no interest, and take no pages"


def test_batch_in_a_transaction(bus):
    bus.update("CREATE TABLE b (a UNIQUE)")
    with bus.prepare("SELECT count(*) FROM b") as channel:
        channel.send("B")
        list(channel.answer())
        channel.send_batch(("INSERT INTO b VALUES (1)", {}), ("INSERT INTO b VALUES (2)", {}))
        assert list(channel.answer()) == [(1,), (1,)]
        channel.send_batch(("INSERT INTO b VALUES (3)", {}), ("INSERT INTO b VALUES (2)", {}))
        with pytest.raises(RemoteError, match="statement 2"):
            list(channel.answer())
        assert channel.fetch() == [(2,)]
        channel.send("L")
        list(channel.answer())
        assert channel.fetch() == [(0,)]


def test_commit_has_a_deadline_of_its_own(table):
    """Not that of BEGIN. It takes tens of milliseconds, as a page is in the log twice (docs/decisions/one-operation.md)."""
    rows = "INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 2500) SELECT randomblob(3500) FROM n"
    table.update("CREATE TABLE u (a)")
    table.update("INSERT INTO u VALUES (1)")
    with table.prepare("UPDATE u SET a = a + 1", access="write", timeout_ms=1000) as channel:
        do(channel, "B")
        begun = time.monotonic()
        channel.fetch()
        channel.prepare(rows, access="write", timeout_ms=20000 * SLOWER)
        for _ in range(12):
            channel.fetch()
        wait_until(lambda: time.monotonic() > begun + 1.1, "the deadline of BEGIN")
        channel.prepare("UPDATE u SET a = a + 1", access="write", timeout_ms=20000 * SLOWER)
        channel.fetch()
        do(channel, "M")
    assert table.query("SELECT (SELECT count(*) FROM t), a FROM u") == [(12 * 2500, 3)]


# --- a client that goes away --------------------------------------------------------------------------------------------

COUNTING = "INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT {}) SELECT count(*) FROM n"


def cpu_ticks(world):
    with open(f"/proc/{world.daemon_pid()}/stat", encoding="ascii") as stream:
        return int(stream.read().rsplit(")")[1].split()[11])


def test_hang_up_ends_the_statement_of_a_transaction(table):
    """It will be rolled back, so others need not wait for it: they did for 30 s."""
    channel, before = table.prepare(COUNTING.format(10**12), access="write", timeout_ms=60000), cpu_ticks(table)
    do(channel, "B")
    channel.send_fetch()
    wait_until(lambda: cpu_ticks(table) > before + 20, "the update to run")
    channel.close()
    start = time.monotonic()
    assert table.caller().update("INSERT INTO t VALUES (-1)")[0] == 1
    assert time.monotonic() - start < 5 * SLOWER
    assert table.query("SELECT a FROM t") == [(-1,)]


def test_no_more_requests_is_no_hang_up(table):
    channel = table.prepare(COUNTING.format(1000000), access="write")
    do(channel, "B")
    serial = channel.send_fetch()
    channel.socket.shutdown(socket.SHUT_WR)
    assert list(channel.answer(serial)) == [] and channel.end.changes == 1
    channel.close()
    assert table.update("INSERT INTO t VALUES (-1)")[0] == 1 and table.query("SELECT a FROM t") == [(-1,)]


def test_updates_that_wait_are_executed_after_a_hang_up(table):
    """As docs/wire-format.md, 12, says; of those that run test-channel-write.c knows."""
    with table.prepare("SELECT 1") as holder:
        do(holder, "B")
        channels = [table.prepare("INSERT INTO t VALUES (?)", access="write") for _ in range(2)]
        for i, channel in enumerate(channels):
            channel.send_fetch((i,))
        wait_until(lambda: len(table.queries()) == 2, "both to wait")
        for channel in channels:
            channel.close()
        do(holder, "M")
        wait_until(lambda: table.query("SELECT a FROM t ORDER BY a") == [(0,), (1,)], "both")


MANY = "INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 500000) SELECT i FROM n"


def test_a_group_before_leaves_no_haste(table):
    """An update of a group makes way for the others after 20 ms. One of a later transaction has all the transaction's time."""
    holder, owner = table.prepare("SELECT 1"), table.prepare("SELECT 1")
    do(holder, "B")
    channels = [table.prepare("INSERT INTO t VALUES(?1)", access="write") for _ in range(4)]
    serials = [channel.send_fetch((-1 - i,)) for i, channel in enumerate(channels)]
    wait_until(lambda: len([q for q in table.queries() if "VALUES(?1)" in q["text"]]) == 4, "four updates that wait")
    do(holder, "M")
    for channel, serial in zip(channels, serials):
        list(channel.answer(serial))
    do(owner, "B")
    write(owner, MANY)
    assert owner.end.changes == 500000
    do(owner, "M")
    assert table.query("SELECT count(*) FROM t") == [(500004,)]


def test_what_is_shown_of_a_batch(table):
    """Its first statement, and not the one that was prepared on its channel; that again afterwards."""
    def shown():
        (query,) = wait_until(lambda: [query for query in table.queries() if query["state"] == "writing"], "the update")
        return query["language"], query["text"]

    with table.prepare("SELECT 1") as holder, table.prepare("SELECT 2") as channel:
        do(holder, "B")
        serial = channel.send_batch(("INSERT DATA { <urn:a> <urn:p> 1 }", {}, "sparql"), ("DELETE FROM t", {}))
        assert shown() == ("sparql", "INSERT DATA { <urn:a> <urn:p> 1 }")
        do(holder, "M")
        assert list(channel.answer(serial)) == [(1,), (0,)]
        channel.prepare("INSERT INTO t VALUES(7)", access="write")
        do(holder, "B")
        serial = channel.send_fetch()
        assert shown() == ("sql", "INSERT INTO t VALUES(7)")
        do(holder, "M")
        assert list(channel.answer(serial)) == []


def test_cancel_while_it_waits_for_the_writer(table):
    """It is answered at once, although another holds the writer, and never executed."""
    holder, waiting = table.prepare("SELECT 1"), table.prepare("INSERT INTO t VALUES(1)", access="write")
    do(holder, "B")
    serial = waiting.send_fetch()
    wait_until(lambda: [q for q in table.queries() if "VALUES(1)" in q["text"]], "the update")
    waiting.cancel(serial)
    with pytest.raises(RemoteError) as error:
        list(waiting.answer(serial))
    assert error.value.name == "Cancelled"
    write(holder, "INSERT INTO t VALUES(2)")
    do(holder, "M")
    table.update("INSERT INTO t VALUES(3)")
    assert table.query("SELECT a FROM t ORDER BY a") == [(2,), (3,)]
