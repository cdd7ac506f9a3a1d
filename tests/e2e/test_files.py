# SPDX-License-Identifier: LGPL-2.1-or-later
"""The store's files under a running daemon: deleted, replaced, written by another program; and the size of the log."""
import contextlib
import os
import shutil
import signal
import sqlite3
import subprocess
import time

import pytest

from harness import MANAGER, BusError, options, wait_until
from test_subscribe import Ear, spin, subscribe


def file_of(bus, name="queryd.db"):
    return os.path.join(bus.store, name)


def log_of(bus):
    with open(os.path.join(bus.folder, "log"), encoding="utf-8", errors="replace") as stream:
        return stream.read()


def replace(path):
    shutil.copy(path, path + ".copy")
    os.rename(path + ".copy", path)


def replace_by_link(path):
    os.rename(path, path + ".elsewhere")
    os.symlink(path + ".elsewhere", path)


HARMS = {"delete": os.unlink, "replace": replace, "link": replace_by_link}


@pytest.mark.parametrize("name", ["queryd.db", "queryd.db-wal", "queryd.db-shm", "lock"])
@pytest.mark.parametrize("harm", HARMS)
def test_nothing_is_acknowledged_into_a_file_without_a_name(bus, name, harm):
    bus.update("CREATE TABLE t(a)")
    bus.update("INSERT INTO t VALUES(1)")
    HARMS[harm](file_of(bus, name))
    for _ in range(2):
        with pytest.raises(BusError) as error:
            bus.update("INSERT INTO t VALUES(2)")
        assert error.value.name == "ReadOnly" and name in error.value.message and "nothing is written" in error.value.message
    if name == "lock":
        assert bus.query("SELECT count(*) FROM t") == [(1,)]
    assert log_of(bus).count("nothing is written") == 1


def test_at_rest_it_is_said(bus):
    bus.update("CREATE TABLE t(a)")
    os.unlink(file_of(bus, "lock"))
    wait_until(lambda: "nothing is written" in log_of(bus), "a line in the log")


def test_a_database_that_is_moved_back(bus):
    bus.update("CREATE TABLE t(a)")
    os.rename(file_of(bus), file_of(bus, "elsewhere"))
    with pytest.raises(BusError, match="moved"):
        bus.update("INSERT INTO t VALUES(1)")
    os.rename(file_of(bus, "elsewhere"), file_of(bus))
    bus.update("INSERT INTO t VALUES(2)")
    assert bus.query("SELECT a FROM t") == [(2,)]


def test_a_log_that_is_deleted_is_saved_by_a_restart(bus):
    bus.update("CREATE TABLE t(a)")
    bus.update("INSERT INTO t VALUES(1)")
    os.unlink(file_of(bus, "queryd.db-wal"))
    with pytest.raises(BusError, match="restart the daemon"):
        bus.update("INSERT INTO t VALUES(2)")
    bus.stop_daemon()
    assert bus.query("SELECT a FROM t") == [(1,)]
    bus.update("INSERT INTO t VALUES(3)")


def fill(bus, n=50):
    """Rows in a log that nothing has been copied of yet."""
    bus.update("CREATE TABLE t(a)")
    for _ in range(n):
        bus.update("INSERT INTO t VALUES(zeroblob(20000))")
    assert os.path.getsize(file_of(bus, "queryd.db-wal")) > n * 20000


def assert_whole(bus, n):
    with contextlib.closing(sqlite3.connect(f"file:{file_of(bus)}?immutable=1", uri=True)) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert database.execute("SELECT count(*) FROM t").fetchone() == (n,)


@pytest.mark.parametrize("n_bytes", [0, 100, 5000, 500000])
def test_a_log_that_is_shortened(bus, n_bytes):
    """Nothing is acknowledged, and no checkpoint copies holes, or half of a transaction, into the database."""
    fill(bus)
    bus.stop_daemon()
    bus.update("UPDATE t SET a=zeroblob(20001)")
    os.truncate(file_of(bus, "queryd.db-wal"), n_bytes)
    for call in (lambda: bus.update("INSERT INTO t VALUES(2)"), lambda: bus.query("SELECT sum(length(a)) FROM t"),
                 lambda: bus.update("INSERT INTO t VALUES(2)"), lambda: bus.update("VACUUM")):
        with pytest.raises(BusError) as error:
            call()
        assert error.value.name == "ReadOnly" and "shortened" in error.value.message and "queryd.db-wal" in error.value.message
    with contextlib.suppress(BusError):
        bus.call("Optimize", "(a{sv})", options({}), interface=MANAGER)
    assert bus.stop_daemon() == 0
    assert_whole(bus, 50)
    assert bus.query("SELECT count(*), sum(length(a)) FROM t") == [(50, 1000000)]
    bus.update("INSERT INTO t VALUES(3)")


def test_a_log_that_is_shortened_at_rest(bus):
    fill(bus)
    os.truncate(file_of(bus, "queryd.db-wal"), 100)
    wait_until(lambda: "shortened" in log_of(bus), "a line in the log")


def test_a_log_that_is_copied_may_be_shortened(bus):
    """All of it is in the database already: the next commit begins it again."""
    fill(bus, 10)
    bus.call("Optimize", "(a{sv})", options({}), interface=MANAGER)
    bus.update("INSERT INTO t VALUES(1)")
    wait_until(lambda: len(set(write_elsewhere(bus, "PRAGMA wal_checkpoint(PASSIVE)").split("|")[1:])) == 1, "all to be copied")
    os.truncate(file_of(bus, "queryd.db-wal"), 10)
    bus.update("INSERT INTO t VALUES(2)")
    assert bus.query("SELECT count(*) FROM t") == [(12,)]


def test_queries_say_that_the_log_was_deleted(bus):
    fill(bus)
    os.unlink(file_of(bus, "queryd.db-wal"))
    with pytest.raises(BusError) as error:
        bus.query("SELECT count(*) FROM t")
    assert error.value.name == "ReadOnly" and "deleted or replaced by another program" in error.value.message


@pytest.mark.parametrize("name", ["queryd.db", "queryd.db-wal", "queryd.db-shm", "queryd.db-schema", "lock", "health", "ballast"])
@pytest.mark.parametrize("restarts", [False, True])
def test_a_fifo_keeps_no_call_waiting(bus, name, restarts):
    """Nothing opens it for longer than a moment, and the daemon ends when it is asked to."""
    bus.update("CREATE TABLE t(a)")
    bus.expected_exits |= {1}
    if restarts:
        bus.stop_daemon()
    if os.path.exists(file_of(bus, name)):
        os.unlink(file_of(bus, name))
    os.mkfifo(file_of(bus, name))
    for call in (lambda: bus.query("SELECT count(*) FROM t"), lambda: bus.update("INSERT INTO t VALUES(1)"), bus.check,
                 lambda: bus.update("CREATE TABLE u(a)")):
        begun = time.monotonic()
        try:
            call()
        except BusError as error:
            assert name in error.message or "ReadOnly" in error.name or "Recovering" in error.name, error
        assert time.monotonic() - begun < 8, "the call had to wait"
    begun = time.monotonic()
    os.kill(bus.daemon_pid(), signal.SIGTERM)
    wait_until(lambda: len(bus.exits()) > restarts, "the daemon's end")
    assert bus.exits()[-1] == 0 and time.monotonic() - begun < 8


@pytest.mark.parametrize("has_log", [False, True])
def test_a_database_that_is_emptied(make_bus, has_log):
    """It is no new store, neither at once nor after a restart. What the log has is salvaged."""
    bus = make_bus(limits={"map_bytes": 0})  # a page that is mapped is a SIGBUS (docs/reliability.md)
    fill(bus)
    if not has_log:
        bus.stop_daemon()
        assert bus.query("SELECT count(*) FROM t") == [(50,)]
    os.truncate(file_of(bus), 0)
    names = ("Corrupt", "Recovering", "org.freedesktop.DBus.Error.NoReply")  # the look at rest may come first
    with pytest.raises(BusError) as error:
        bus.update("INSERT INTO t VALUES(2)")
    assert error.value.name in names
    try:  # the daemon ends, and may still know the answer
        assert bus.query("SELECT count(*) FROM t") == [(50,)]
    except BusError as failure:
        assert failure.name in names, failure
    wait_until(lambda: len(bus.exits()) > 1 - has_log, "the daemon's end")
    wait_until(lambda: not recovers(bus), "the salvage")
    if has_log:
        assert bus.query("SELECT count(*) FROM t") == [(50,)]
        return
    for call in (lambda: bus.query("SELECT 1"), lambda: bus.update("CREATE TABLE u(a)")):
        with pytest.raises(BusError) as error:
            call()
        assert error.value.name == "Corrupt" and "has emptied it" in error.value.message
        assert "queryctl restore" in error.value.message
    assert os.path.getsize(file_of(bus)) == 0
    bus.stop_daemon()
    for name in ("queryd.db", "queryd.db-wal", "queryd.db-schema"):
        os.unlink(file_of(bus, name))
    assert bus.query("SELECT count(*) FROM sqlite_schema WHERE name='t'") == [(0,)]


def recovers(bus):
    try:
        bus.query("SELECT 1")
    except BusError as error:
        return error.name == "Recovering"
    return False


def has_open(bus, name):
    """Whether some connection of the daemon is open. It may close files while they are listed."""
    folder = f"/proc/{bus.daemon_pid()}/fd"
    links = set()
    for fd in os.listdir(folder):
        with contextlib.suppress(FileNotFoundError):
            links.add(os.readlink(os.path.join(folder, fd)))
    return os.path.realpath(file_of(bus, name)) in links


def write_elsewhere(bus, sql):
    return subprocess.run(["sqlite3", file_of(bus), sql], check=True, capture_output=True, text=True).stdout.strip()


def let_rest(bus):
    """With more than one reader used, the daemon closes all connections then."""
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT zeroblob(60000), a FROM n, t"
    channels = [bus.prepare(endless) for _ in range(3)]
    for channel in channels:
        channel.send_fetch()
    wait_until(lambda: len(bus.queries()) == 3, "three results under way")
    for channel in channels:
        channel.close()
    wait_until(lambda: not has_open(bus, "queryd.db-wal"), "the daemon's rest")


@pytest.mark.parametrize("rests", [False, True])
def test_another_program_writes(bus, rests):
    """Changed("*") and Stale follow by themselves."""
    bus.update("CREATE TABLE t(a)")
    path = subscribe(bus, "SELECT count(*) FROM t")
    ear = Ear(bus)
    before = bus.update("INSERT INTO t VALUES(1)")[2]
    ear.wait(before)
    if rests:
        let_rest(bus)
    write_elsewhere(bus, "INSERT INTO t VALUES(2)")
    heard = spin(lambda: [(g, names) for s, g, names in ear.heard if s == "Changed" and g > before], "Changed")
    assert heard == [(before + 1, ["*"])]
    spin(lambda: (before + 1, [path]) in ear.stale(), "Stale")
    assert bus.query("SELECT count(*) FROM t") == [(2,)]


def test_another_program_writes_before_a_commit_of_ours(bus):
    bus.update("CREATE TABLE t(a)")
    ear = Ear(bus)
    before = bus.update("INSERT INTO t VALUES(1)")[2]
    write_elsewhere(bus, "INSERT INTO t VALUES(2)")
    assert bus.update("INSERT INTO t VALUES(3)")[2] > before + 1
    ear.wait(before + 2)
    assert any("*" in names for s, _, names in ear.heard if s == "Changed")


def test_another_program_writes_before_the_end(bus):
    """The daemon's last look finds it, when most of the daemon has ended already."""
    bus.update("CREATE TABLE t(a)")
    bus.update("INSERT INTO t VALUES(1)")
    let_rest(bus)
    pid = bus.daemon_pid()
    os.kill(pid, signal.SIGSTOP)
    write_elsewhere(bus, "INSERT INTO t VALUES(2)")
    os.kill(pid, signal.SIGTERM)
    os.kill(pid, signal.SIGCONT)
    wait_until(bus.exits, "the daemon's end")
    assert bus.exits() == [0]
    assert bus.query("SELECT count(*) FROM t") == [(2,)]


def test_own_commits_are_nobody_elses(make_bus):
    """Checkpoints, VACUUM, a rest: what the daemon does itself is not taken for another program's."""
    bus = make_bus(limits={"checkpoint_bytes": 65536, "checkpoint_hold_ms": 0})
    bus.update("CREATE TABLE t(a)")
    ear = Ear(bus)
    for i in range(200):
        generation = bus.update("INSERT INTO t VALUES(randomblob(5000))")[2]
    bus.update("VACUUM")
    bus.call("Optimize", "(a{sv})", options({}), interface=MANAGER)
    bus.update("UPDATE t SET a=1")
    wait_until(lambda: os.path.getsize(file_of(bus, "queryd.db-wal")) == 0, "an empty log")
    ear.wait(bus.update("INSERT INTO t VALUES(1)")[2])
    assert generation and not any("*" in names for s, _, names in ear.heard if s == "Changed")


def test_the_log_shrinks(bus):
    bus.update("CREATE TABLE t(a)")
    for _ in range(3):
        bus.update("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<40)"
                   " INSERT INTO t SELECT randomblob(500000) FROM n")
    assert os.path.getsize(file_of(bus, "queryd.db-wal")) > 16 << 20
    wait_until(lambda: os.path.getsize(file_of(bus, "queryd.db-wal")) == 0, "an empty log")
    bus.update("INSERT INTO t VALUES(1)")
    assert bus.query("SELECT count(*) FROM t") == [(121,)]


def test_the_database_is_whole_when_the_daemon_has_ended(bus):
    """A copy of the file alone has all commits, whichever connections were open."""
    bus.update("CREATE TABLE t(a)")
    bus.update("INSERT INTO t VALUES(1)")
    assert bus.query("SELECT a FROM t") == [(1,)]
    bus.stop_daemon()
    copy = os.path.join(bus.folder, "copy.db")
    shutil.copy(file_of(bus, "queryd.db"), copy)
    with contextlib.closing(sqlite3.connect(copy)) as database:
        assert database.execute("SELECT a FROM t").fetchall() == [(1,)]
