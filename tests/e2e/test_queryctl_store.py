# SPDX-License-Identifier: LGPL-2.1-or-later
"""queryctl store: named stores that the bus starts, and what is left of them when they are removed."""
import fcntl
import os
import sqlite3
import subprocess

import pytest

from harness import SLOWER
from test_queryctl import NO_DAEMON, QUERY, USAGE, Ctl


@pytest.fixture
def ctl(bus):
    return Ctl(bus)


def make_startable(world, name):
    """The file names the installed daemon: here it is the one under test, in the folder that this bus reads."""
    path = os.path.join(world.data_home, "dbus-1/services", f"org.queryd.Query1.{name}.service")
    with open(path, encoding="utf-8") as stream:
        lines = stream.read().splitlines()
    assert lines[0] == "[D-BUS Service]" and lines[1] == f"Name=org.queryd.Query1.{name}"
    assert lines[2].startswith("Exec=/") and lines[2].endswith(f"/queryd --store {name}")
    assert lines[3] == f"SystemdService=queryd@{name}.service"
    with open(os.path.join(world.folder, "services", os.path.basename(path)), "w", encoding="utf-8") as stream:
        stream.write(f"{lines[0]}\n{lines[1]}\nExec={world.folder}/launch --store {name}\n")
    world.bus_call("ReloadConfig")


def test_store_create_use_and_list(ctl):
    assert ctl.ok("store", "list", "--no-header") == b""
    done = ctl("store", "create", "music")
    # this bus looks into another folder
    assert done.returncode == 0 and b"will not find the store" in done.stderr
    directory = os.path.join(ctl.world.data_home, "queryd/stores/music")
    assert ctl.ok("store", "list", "--no-header").decode() == f"music\t{directory}\n"
    make_startable(ctl.world, "music")
    ctl.ok("update", "-s", "music", "CREATE TABLE song (a); INSERT INTO song VALUES (1)")
    assert ctl.ok("sql", "SELECT a FROM song", "--store=music") == b"a\n1\n"
    assert ctl.ok("ls", "--store", "music", "--no-header") == b"song\ttable\n"
    ctl.fails(QUERY, "sql", "SELECT a FROM song")
    assert ctl.ok("sql", "--store", "default", "SELECT 1 AS a") == b"a\n1\n"
    assert os.path.exists(os.path.join(directory, "queryd.db"))
    assert "exists" in ctl.fails(QUERY, "store", "create", "music")
    ctl.fails(NO_DAEMON, "sql", "-s", "nosuch", "SELECT 1")


def test_store_remove(ctl):
    ctl("store", "create", "short")
    make_startable(ctl.world, "short")
    directory = os.path.join(ctl.world.data_home, "queryd/stores/short")
    ctl.ok("update", "-s", "short", "CREATE TABLE t (a); INSERT INTO t VALUES (1)")
    done = ctl("store", "remove", "short")
    assert (done.returncode, directory in done.stderr.decode()) == (0, True)
    assert ctl.ok("store", "list", "--no-header") == b""
    assert os.path.exists(os.path.join(directory, "queryd.db"))
    ctl.ok("store", "remove", "short", "--delete")  # what is left of it
    assert not os.path.exists(directory)
    assert "No such file" in ctl.fails(QUERY, "store", "remove", "short")
    ctl.fails(USAGE, "store", "remove", "default")


def test_store_remove_waits_for_the_lock(ctl):
    """A daemon gives up its name before it has copied its log: files came and went while they were deleted."""
    ctl("store", "create", "held")
    directory = os.path.join(ctl.world.data_home, "queryd/stores/held")
    os.makedirs(directory, exist_ok=True)
    with open(os.path.join(directory, "lock"), "w", encoding="ascii") as lock:
        fcntl.lockf(lock, fcntl.LOCK_EX)
        remover = ctl.start("store", "remove", "held", "--delete")
        with pytest.raises(subprocess.TimeoutExpired):
            remover.wait(timeout=1)
        assert os.path.exists(lock.name)
    assert remover.wait(timeout=30 * SLOWER) == 0
    assert not os.path.exists(directory)


def test_store_import(ctl, tmp_path):
    path = tmp_path / "old.db"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE t (a)")
        database.execute("INSERT INTO t VALUES ('from before')")
    database.close()
    ctl.ok("store", "import", str(path), "old")
    make_startable(ctl.world, "old")
    assert ctl.ok("sql", "-s", "old", "SELECT a FROM t") == b"a\nfrom before\n"
    ctl.ok("update", "-s", "old", "INSERT INTO t VALUES (2)")
    with sqlite3.connect(path) as database:
        assert database.execute("SELECT count(*) FROM t").fetchone() == (1,)
    database.close()


def test_store_import_refuses_what_is_in_use(ctl, tmp_path):
    path = tmp_path / "busy.db"
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("CREATE TABLE t (a)")
    assert "in use" in ctl.fails(QUERY, "store", "import", str(path), "busy")
    database.close()
    (tmp_path / "text").write_text("no database", encoding="utf-8")
    assert "not an SQLite database" in ctl.fails(QUERY, "store", "import", str(tmp_path / "text"), "busy")
    assert ctl.ok("store", "list", "--no-header") == b""
    for name in ("default", "1st", "a-b", "../x", ""):
        ctl.fails(USAGE, "store", "create", name)
