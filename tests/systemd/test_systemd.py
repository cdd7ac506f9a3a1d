# SPDX-License-Identifier: LGPL-2.1-or-later
"""The service as systemd runs it: activation, READY, watchdog, restart, stop, idle exit. Sandbox: test_sandbox.py."""
import itertools
import os
import random
import re
import signal
import sqlite3
import subprocess
import threading
import time

import pytest

from session import (ACTIVATION, CONFIG, NAME, PATH, STORE, UNIT, UNITS, Caller, Session, drop_in, program, ptrace_reap,
                     ptrace_stop, run, show, systemctl, thread_state, unit_log, wait_until, write)
from harness import BusError
from wire_client import CutOff, RemoteError
from wire_reader import WireReader

NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT {}) "
DATABASE = os.path.join(STORE, "queryd.db")
UNIT_NAMES = ["queryd.service", "queryd@.service", "queryd-setup.service", "queryd-http.service", "queryd-http.socket",
              "queryd-service.service", "queryd-service.socket"]


# --- units ------------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("unit", UNIT_NAMES)
def test_verify(session, unit):
    path = show("FragmentPath", unit.replace("@", "@some"))
    done = run("systemd-analyze", "--user", "--man=no", "verify", path)  # a bare machine has no man
    ours = [line for line in (done.stdout + done.stderr).splitlines() if "queryd" in line]
    assert ours == [] and done.returncode == 0, done.stderr


@pytest.mark.parametrize("unit", ["queryd.service", "queryd@some.service"])
def test_exposure(session, unit):
    systemctl("start", unit)
    text = run("systemd-analyze", "--user", "--no-pager", "security", unit, check=True).stdout
    value = float(re.search(r"Overall exposure level for \S+: ([\d.]+)", text).group(1))
    assert value <= 5.5, text


def test_interfaces_are_installed():
    """Tools read the interface without a daemon."""
    prefix = os.path.dirname(os.path.dirname(run("sh", "-c", "command -v queryctl", check=True).stdout.strip()))
    for name in (NAME, NAME + ".Job"):
        assert os.path.getsize(os.path.join(prefix, "share/dbus-1/interfaces", name + ".xml")) > 0


# --- activation -------------------------------------------------------------------------------------------------------------

ACTIVATORS = {
    "gdbus": ("gdbus", "call", "--session", "-d", NAME, "-o", PATH, "-m", NAME + ".QueryText", "sql", "SELECT 6 * 7", "json", "{}"),
    "busctl": ("busctl", "--user", "call", NAME, PATH, NAME, "QueryText", "sssa{sv}", "sql", "SELECT 6 * 7", "json", "0"),
    "queryctl": ("queryctl", "sql", "SELECT 6 * 7"),
}


@pytest.mark.parametrize("tool", ACTIVATORS)
def test_activation(session, tool):
    """The first call of anybody starts the unit, which answers it."""
    assert show("ActiveState") == "inactive" and not session.has_owner(NAME) and not os.path.exists(STORE)
    done = run(*ACTIVATORS[tool], check=True)
    assert "42" in done.stdout
    assert session.is_active() and show("NRestarts") == "0"
    assert session.owner_pid(NAME) == session.main_pid(), "systemd started it, not the bus itself"
    assert os.stat(STORE).st_mode & 0o777 == 0o700 and os.stat(DATABASE).st_mode & 0o777 == 0o600


def test_config_is_read_again(session):
    """systemctl reload comes back when it is done."""
    pid = session.start()
    write(CONFIG, "[Limits]\nvalue_rows=2\n")
    assert session.limits()["value_rows"][2] != 2
    systemctl("reload", UNIT)
    assert session.query_full(NUMBERS.format(5) + "SELECT i FROM n")[1:] == ([(1,), (2,)], True)
    assert session.main_pid() == pid and session.is_active()


# --- READY comes before the database -----------------------------------------------------------------------------------------

def test_corrupt_database(session):
    """Told over the bus by a service that is up; repaired, it works without a restart."""
    write(DATABASE, "this is no database " * 500)
    pid = session.start()
    with pytest.raises(BusError) as error:
        session.query("SELECT 1")
    assert error.value.name == "Corrupt", error.value
    assert session.is_active() and session.main_pid() == pid and show("NRestarts") == "0"
    os.unlink(DATABASE)

    def works():
        try:
            return session.query("SELECT 1") == [(1,)]
        except BusError:
            return False
    wait_until(works, "the store without the broken file")
    assert session.main_pid() == pid


def test_locked_database(session):
    """Somebody holds SQLite's lock: the unit is active all the same, callers are told or wait, then it works."""
    os.makedirs(STORE, mode=0o700)
    holder = sqlite3.connect(DATABASE, isolation_level=None)
    holder.execute("CREATE TABLE t AS SELECT 5 AS a")
    holder.execute("BEGIN EXCLUSIVE")
    pid = session.start()
    assert session.is_active() and holder.in_transaction, "READY while the database cannot have been opened"
    outcome = []

    def ask():
        other = Caller(os.environ["DBUS_SESSION_BUS_ADDRESS"])
        try:
            outcome.append(other.query("SELECT a FROM t"))
        except BusError as error:
            outcome.append(error.name)
        other.close()
    thread = threading.Thread(target=ask)
    thread.start()
    assert session.property("Version"), "what needs no database is answered meanwhile"
    thread.join()
    assert outcome == ["Busy"], "an error over the bus"
    assert session.is_active() and session.main_pid() == pid
    holder.execute("ROLLBACK")
    holder.close()

    def works():
        try:
            return session.query("SELECT a FROM t") == [(5,)]
        except BusError as error:
            assert error.name == "Busy", error
            return False
    wait_until(works, "the store after the lock")
    assert session.main_pid() == pid and show("NRestarts") == "0"


def test_other_data_home(session):
    """XDG_DATA_HOME outside ReadWritePaths: the error says what to do, and what it says helps."""
    elsewhere = os.path.join(os.environ["HOME"], "elsewhere")
    drop_in(f"[Service]\nEnvironment=XDG_DATA_HOME={elsewhere}\n", name="environment")
    with pytest.raises(BusError) as error:
        session.query("SELECT 1")
    assert error.value.name == "ReadOnly" and session.is_active()
    wanted = re.search(r"'(ReadWritePaths=[^']+)'", error.value.message).group(1)
    assert wanted == f"ReadWritePaths={elsewhere}/queryd" and "systemctl --user edit" in error.value.message
    os.makedirs(os.path.join(elsewhere, "queryd"), mode=0o700)
    with pytest.raises(BusError) as error:
        systemctl("restart", UNIT)
        session.update("CREATE TABLE t (a)")
    assert wanted in error.value.message, "also where there is a directory"
    drop_in(f"[Service]\n{wanted}\n")
    systemctl("restart", UNIT)
    session.update("CREATE TABLE t (a)")
    assert os.path.exists(os.path.join(elsewhere, "queryd/queryd.db"))


# --- watchdog ----------------------------------------------------------------------------------------------------------------

def wait_for_watchdog(session, pid):
    new = session.wait_for_new_pid(pid)
    assert show("NRestarts") == "1"
    assert session.query("SELECT 1") == [(1,)] and session.main_pid() == new
    assert "Watchdog timeout" in unit_log(), "the watchdog ended it, nothing else"


def test_watchdog_stopped_process(session):
    drop_in("[Service]\nWatchdogSec=1\n")
    pid = session.start()
    os.kill(pid, signal.SIGSTOP)
    wait_until(lambda: thread_state(pid, pid) == "T", "the fault to be hit")
    wait_for_watchdog(session, pid)


def test_watchdog_stuck_workers(session):
    """The main thread is well and answers, but no worker takes a request: the watchdog is not told that all is well."""
    drop_in("[Service]\nWatchdogSec=1\n")
    pid = session.start()
    session.query("SELECT 1")
    threads = [int(tid) for tid in os.listdir(f"/proc/{pid}/task") if int(tid) != pid]
    assert threads
    try:
        for tid in threads:
            ptrace_stop(pid, tid)
    except OSError as error:
        pytest.skip(f"threads cannot be stopped one by one here: {error}")
    assert session.property("Version"), "the main thread goes on"
    with pytest.raises(BusError) as error:
        session.query("SELECT 2")
    assert "NoReply" in error.value.name or "Disconnected" in error.value.name, error.value
    for tid in threads:
        ptrace_reap(tid)
    wait_for_watchdog(session, pid)
    assert "a worker hangs" in unit_log()


# --- restart -----------------------------------------------------------------------------------------------------------------

def test_kills(session):
    """More kills than systemd's default patience has: each time restarted, the acknowledged is there, the generation rises."""
    session.update("CREATE TABLE t (a)")
    generation, pid = 0, session.main_pid()
    for i in range(9):
        assert session.update("INSERT INTO t VALUES (?)", [i])[2] > generation
        generation = session.property("Generation")
        os.kill(pid, signal.SIGKILL)
        pid = session.wait_for_new_pid(pid)
        assert session.query("SELECT count(*), max(a) FROM t") == [(i + 1, i)]
        assert session.property("Generation") > generation
    assert show("NRestarts") == "9"


def test_kill_and_call(session):
    """A call that comes while systemd holds the restart back is answered by the next daemon."""
    session.update("CREATE TABLE t AS SELECT 1 AS a")
    pid = session.main_pid()
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not session.has_owner(NAME), "the name to be free")
    assert run("queryctl", "sql", "SELECT a + 6 FROM t", check=True).stdout.split()[-1] == "7"
    assert session.main_pid() not in (0, pid)


def test_wrong_usage_is_not_tried_again(session):
    drop_in(f"[Service]\nExecStart=\nExecStart={program()} --no-such-option\n")
    systemctl("start", UNIT, check=False)
    assert (show("ActiveState"), show("ExecMainStatus"), show("NRestarts")) == ("failed", "2", "0")


def test_taken_name(session):
    """A queryd that somebody started by hand serves the name; the unit does not fight for it, and takes over when it has left."""
    with subprocess.Popen([program()]) as other:
        wait_until(session.has_owner, "the other queryd")
        systemctl("start", UNIT, check=False)
        assert (show("ActiveState"), show("ExecMainStatus"), show("NRestarts")) == ("failed", "3", "0")
        session.update("CREATE TABLE t AS SELECT 8 AS a")
        assert session.owner_pid() == other.pid
        other.terminate()
        assert other.wait() == 0
    assert session.query("SELECT a FROM t") == [(8,)]
    assert session.owner_pid() == session.main_pid()


@pytest.mark.parametrize("transport", ["ring", "vmsplice"])
def test_transports_in_the_sandbox(session, transport):
    """Memory files and vmsplice() are among the calls that the unit's filter allows."""
    result = session.prepare(NUMBERS.format(100000) + "SELECT i, hex(zeroblob(30)) FROM n", transport=transport)
    if transport == "ring":
        assert len(result.fetch()) == 100000 and result.reader.n_ring_pages > 0
    else:
        assert len(list(WireReader(result.read).rows())) == 100000
    result.close()


# --- stop --------------------------------------------------------------------------------------------------------------------

def count_rows(stream):
    """Rows of an answer, or None when it ends with an error."""
    try:
        return sum(1 for _ in stream)
    except (RemoteError, CutOff, ConnectionError):
        return None


@pytest.mark.parametrize("reader", ["reads", "waits"])
def test_stop_during_streams(session, reader):
    """A result is whole or ends with an error, never short; the daemon leaves with 0 in either case."""
    n = 100000
    session.update("CREATE TABLE t AS " + NUMBERS.format(n) + "SELECT i, hex(zeroblob(30)) AS x FROM n")
    channels = [session.prepare("SELECT i, x FROM t") for _ in range(4)]
    streams = []
    for channel in channels:
        channel.send_fetch()
        streams.append(channel.answer(1))
    assert [next(s)[0] for s in streams] == [1] * 4, "the streams are under way"
    systemctl("stop", "--no-block", UNIT)
    wait_until(lambda: show("ActiveState") == "deactivating", "the stop to begin")
    if reader == "waits":
        wait_until(lambda: show("ActiveState") == "inactive", "the end in spite of readers that take nothing")
    counts = [count_rows(s) for s in streams]
    for channel in channels:
        channel.close()
    assert set(counts) <= {n - 1, None}, "never short"
    assert (counts[0] is None) == (reader == "waits"), "who reads gets all of it"
    wait_until(lambda: show("ActiveState") == "inactive", "the end")
    assert (show("Result"), show("ExecMainStatus")) == ("success", "0")


def test_stop_under_calls(session):
    """Each call of many callers is answered while the unit is stopped again and again: the next daemon takes over."""
    session.update("CREATE TABLE t (a)")
    done, problems, end = [], [], threading.Event()

    def insert(k):
        caller = Caller(os.environ["DBUS_SESSION_BUS_ADDRESS"])
        for i in range(10 ** 6):
            if end.is_set():
                break
            try:
                caller.update("INSERT INTO t VALUES (?)", [k * 10 ** 6 + i])
                done.append(k * 10 ** 6 + i)
            except BusError as error:
                problems.append(str(error))
        caller.close()
    threads = [threading.Thread(target=insert, args=(k,)) for k in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(8):
            before, pid = len(done), session.main_pid()
            wait_until(lambda: len(done) > before + 20, "calls under way")
            systemctl("stop", UNIT, check=False)  # "canceled" when a call has already asked for the next start
            wait_until(lambda: session.main_pid() not in (0, pid), "the next queryd")
    finally:
        end.set()
        for thread in threads:
            thread.join()
    assert problems == []
    assert "Failed with result" not in unit_log()
    assert sorted(a for (a,) in session.query("SELECT a FROM t", max_rows=100000, max_bytes=10 ** 7)) == sorted(done)


# --- idle exit ---------------------------------------------------------------------------------------------------------------

def test_idle_exit_meets_calls(session):
    """Calls at every moment around the exit: none is lost, and many of them met one."""
    write(CONFIG, "[Limits]\nidle_exit_ms=20\n")
    session.update("CREATE TABLE t (a)")
    pids, rng, i = set(), random.Random(7), -1
    while len(pids) < 15:  # exits that were met; the deadline of a test is the limit
        i += 1
        assert session.update("INSERT INTO t VALUES (?)", [i])[0] == 1
        assert session.query("SELECT count(*) FROM t") == [(i + 1,)]
        pids.add(show("ExecMainPID"))
        time.sleep(rng.uniform(0.0, 0.1))  # the stimulus: where the next call falls before, in or after an exit
    print(f"{len(pids)} daemons in {i + 1} rounds")
    assert show("NRestarts") == "0" and show("Result") == "success"


# --- named stores ------------------------------------------------------------------------------------------------------------

def test_named_store(session):
    """A store of its own: its bus name, unit, directory and data; the bus knows it at once."""
    run("queryctl", "store", "create", "music", check=True)
    run("queryctl", "--store", "music", "update", "CREATE TABLE t AS SELECT 'music' AS a", check=True)
    run("queryctl", "update", "CREATE TABLE t AS SELECT 'default' AS a", check=True)
    assert "music" in run("queryctl", "--store", "music", "sql", "SELECT a FROM t", check=True).stdout
    assert "default" in run("queryctl", "sql", "SELECT a FROM t", check=True).stdout
    assert session.owner_pid(NAME + ".music") == session.main_pid("queryd@music.service") > 0
    assert session.main_pid("queryd@music.service") != session.main_pid()
    assert os.path.exists(os.path.join(STORE, "stores/music/queryd.db"))
    again = run("queryctl", "store", "create", "music")
    assert again.returncode != 0 and "music" in again.stderr
    assert "music" in run("queryctl", "store", "list", check=True).stdout


APPLICATION = "org.example.Music"
OWN_UNIT = f"queryd@app.{APPLICATION}.service"
INSTANCES = itertools.count(1)


def in_scope(*command):
    """As a program of a Flatpak application: in the scope that Flatpak asks systemd for, with an instance's own number."""
    unit = f"app-flatpak-{APPLICATION}-{next(INSTANCES)}.scope"  # systemd may still know the scope before: it refuses that name
    scope = ("systemd-run", "--user", "--scope", "--quiet", "--collect", f"--unit={unit}", *command)
    path = [f"--setenv={name}={os.environ[name]}" for name in ("PATH", "LD_LIBRARY_PATH")]
    # only a process of the session's manager can be moved into a scope of it
    return run("systemd-run", "--user", "--quiet", "--wait", "--pipe", "--collect", *path, *scope)


def test_store_of_an_application(session):
    """OpenStore has systemd start the unit of the application's own store, where it may do everything."""
    opened = in_scope("busctl", "--user", "call", NAME, PATH, NAME, "OpenStore")
    assert opened.returncode == 0 and opened.stdout == f's "{NAME}.app.{APPLICATION}"\n', opened.stderr
    wait_until(lambda: session.has_owner(f"{NAME}.app.{APPLICATION}"), "the store's daemon")
    assert session.owner_pid(f"{NAME}.app.{APPLICATION}") == session.main_pid(OWN_UNIT), "systemd started it, not queryd"
    pid = session.main_pid(OWN_UNIT)
    again = in_scope("busctl", "--user", "call", NAME, PATH, NAME, "OpenStore")
    assert again.stdout == opened.stdout and session.main_pid(OWN_UNIT) == pid
    for text in ("CREATE TABLE t(a)", "INSERT INTO t VALUES(42)"):
        done = in_scope("queryctl", "--store", f"app.{APPLICATION}", "update", text)
        assert done.returncode == 0, done.stderr
    assert "42" in run("queryctl", "--store", f"app.{APPLICATION}", "sql", "SELECT a FROM t", check=True).stdout
    # in the other store it is the same application, by its scope alone: under PrivateUsers= no root can be looked at
    refused = in_scope("queryctl", "sql", "SELECT 1")
    assert refused.returncode != 0 and f"application '{APPLICATION}'" in refused.stderr, refused.stderr
    systemctl("stop", OWN_UNIT)


def test_store_of_an_application_that_cannot_start(session):
    """The answer is systemd's reason, and no daemon is started outside of its unit."""
    write(os.path.join(UNITS, OWN_UNIT), "[Service]\n")
    systemctl("daemon-reload")
    done = in_scope("gdbus", "call", "--session", "-d", NAME, "-o", PATH, "-m", NAME + ".OpenStore")
    assert done.returncode != 0 and f"store 'app.{APPLICATION}'" in done.stderr, done.stderr
    assert not session.has_owner(f"{NAME}.app.{APPLICATION}")


def test_unknown_store(session):
    """An error at once, which names the store."""
    done = run("queryctl", "--store", "nowhere", "sql", "SELECT 1", timeout=10)
    assert done.returncode != 0 and "org.queryd.Query1.nowhere" in done.stderr


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_import_of_a_file(session, mode, tmp_path):
    """An SQLite file becomes a store; the file stays as it is."""
    path = tmp_path / "old.sqlite"
    file = sqlite3.connect(path)
    file.execute("PRAGMA journal_mode=" + mode)
    file.executescript("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2), (3); PRAGMA user_version=77")
    file.commit()
    file.close()
    before = path.read_bytes()
    run("queryctl", "store", "import", str(path), "old", check=True)
    run("queryctl", "--store", "old", "update", "INSERT INTO t VALUES (4)", check=True)
    assert "10" in run("queryctl", "--store", "old", "sql", "SELECT sum(a) FROM t", check=True).stdout
    assert path.read_bytes() == before
    assert Session.is_active("queryd@old.service")
    systemctl("stop", "queryd@old.service")
    os.unlink(os.path.join(ACTIVATION, NAME + ".old.service"))
    done = run("queryctl", "store", "import", str(path), "old")
    assert done.returncode != 0 and "queryd.db': File exists" in done.stderr, "data is never written over"


def test_import_after_a_crash(session, tmp_path):
    """What an import that was cut off has left is in nobody's way."""
    file = sqlite3.connect(tmp_path / "file")
    file.execute("CREATE TABLE t AS SELECT 11 AS a")
    file.close()
    write(os.path.join(STORE, "stores/again/queryd.db.part"), "the beginning")
    run("queryctl", "store", "import", str(tmp_path / "file"), "again", check=True)
    assert "11" in run("queryctl", "--store", "again", "sql", "SELECT a FROM t", check=True).stdout
    assert sorted(os.listdir(os.path.join(STORE, "stores/again")))[-1] != "queryd.db.part"


def test_store_on_a_bus_without_systemd(session):
    """The activation file names the program too, for buses that start their services themselves."""
    run("queryctl", "store", "create", "plain", check=True)
    with open(os.path.join(ACTIVATION, NAME + ".plain.service"), encoding="utf-8") as stream:
        command = stream.read().split("Exec=")[1].splitlines()[0].split()
    done = run("dbus-run-session", "--", "sh", "-c", "queryctl --store plain sql 'SELECT 6 * 7' && busctl --user status "
               f"{NAME}.plain | grep -a ^CommandLine; kill $(busctl --user status {NAME}.plain | sed -n s/^PID=//p)")
    assert "42" in done.stdout and " ".join(command) in done.stdout, done.stdout + done.stderr
    assert show("ActiveState", "queryd@plain.service") == "inactive"


def test_import_refuses(session, tmp_path):
    """No database, a database in use, a taken name: refused, and nothing is left behind."""
    text = tmp_path / "text"
    text.write_text("no database\n" * 100)
    done = run("queryctl", "store", "import", str(text), "bad")
    assert done.returncode != 0 and "not an SQLite database" in done.stderr
    used = sqlite3.connect(tmp_path / "used", isolation_level=None)
    used.execute("PRAGMA journal_mode=WAL")
    used.execute("CREATE TABLE t (a)")
    done = run("queryctl", "store", "import", str(tmp_path / "used"), "bad")
    assert done.returncode != 0 and "in use" in done.stderr
    used.close()
    assert not os.path.exists(os.path.join(STORE, "stores/bad"))
    assert "bad" not in run("queryctl", "store", "list", check=True).stdout
