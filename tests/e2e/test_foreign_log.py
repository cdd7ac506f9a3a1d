# SPDX-License-Identifier: LGPL-2.1-or-later
"""A log of another database beside a store that is closed. SQLite would put its pages in the place of the store's."""
import contextlib
import glob
import os
import shutil
import sqlite3
import subprocess

import pytest

from harness import BusError
from test_adopted_files import restore
from test_files import file_of, log_of
from test_lifecycle import in_namespace, main, make_ext4


def fill(bus, table, value, n_changes=1):
    """A log of another store is known by fewer changes of the schema than the file has. With more it is not (docs/recovery.md)."""
    for i in range(n_changes):
        bus.update(f"CREATE TABLE {table if i == 0 else f'more{i}'}(a)")
    bus.update(f"INSERT INTO {table} VALUES(?)", [value])
    bus.update("INSERT DATA { <http://e/s> <http://e/p> ? }".replace("?", f"'{value}'"), language="sparql")


def log_of_plain(path, script):
    """Of a database that SQLite made. It is copied before the connection closes."""
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.executescript("PRAGMA journal_mode=wal;" + script)
        shutil.copy(str(path) + "-wal", str(path) + ".log")
    return str(path) + ".log"


def asides(bus):
    return sorted(glob.glob(glob.escape(file_of(bus, "queryd.db.foreign-")) + "*-wal"))


def read(path):
    with open(path, "rb") as file:
        return file.read()


def make_log(kind, make_bus, tmp_path):
    if kind == "store":
        other = make_bus()
        fill(other, "other", "theirs")
        other.kill_daemon()
        return file_of(other, "queryd.db-wal")
    page_size = 512 if kind == "small" else 4096
    return log_of_plain(tmp_path / "x", f"PRAGMA page_size={page_size}; CREATE TABLE z(a); INSERT INTO z VALUES(1);")


@pytest.mark.parametrize("kind", ["plain", "small", "store"])
def test_a_log_of_another_database_is_set_aside(make_bus, tmp_path, kind):
    log = make_log(kind, make_bus, tmp_path)
    bus = make_bus()
    fill(bus, "mine", "ours", n_changes=2)
    bus.stop_daemon()
    shutil.copy(log, file_of(bus, "queryd.db-wal"))
    for _ in range(2):
        assert bus.query("SELECT name FROM sqlite_schema WHERE name IN ('mine', 'other', 'z')") == [("mine",)]
        assert bus.query("SELECT a FROM mine") == [("ours",)]
        assert bus.query("SELECT ?o { ?s ?p ?o }", language="sparql") == [("ours",)]
        bus.stop_daemon()
    assert [read(path) for path in asides(bus)] == [read(log)]
    assert asides(bus)[0] in log_of(bus)


def test_a_second_one_is_kept_too(make_bus, tmp_path):
    bus = make_bus()
    fill(bus, "mine", "ours")
    for i in range(3):
        bus.stop_daemon()
        shutil.copy(log_of_plain(tmp_path / str(i), f"CREATE TABLE z{i}(a);"), file_of(bus, "queryd.db-wal"))
        assert bus.query("SELECT a FROM mine") == [("ours",)]
    assert len(asides(bus)) == 3


def test_the_own_log_is_used(make_bus):
    """After a kill, in a new store and in an old one, and where another program has changed the schema."""
    bus = make_bus()
    fill(bus, "mine", "ours")
    bus.kill_daemon()
    assert bus.query("SELECT a FROM mine") == [("ours",)]
    bus.update("DROP TABLE mine")
    bus.update("CREATE TABLE next(b)")
    bus.update("INSERT INTO next VALUES(7)")
    bus.kill_daemon()
    assert bus.query("SELECT b FROM next") == [(7,)] and asides(bus) == []


def test_the_own_log_of_an_adopted_file(make_bus):
    """All tables that the file had before its first start are dropped in the log."""
    bus = make_bus()
    os.makedirs(bus.store)
    with contextlib.closing(sqlite3.connect(file_of(bus))) as database:
        database.executescript("CREATE TABLE plain(a); INSERT INTO plain VALUES(1);")
    assert bus.query("SELECT a FROM plain") == [(1,)]
    bus.update("DROP TABLE plain")
    bus.update("CREATE TABLE next(b)")
    bus.kill_daemon()
    assert bus.query("SELECT count(*) FROM next") == [(0,)] and asides(bus) == []


def test_a_database_that_was_put_over_its_log(make_bus):
    """The user copies a store into the place of one whose daemon was killed. The log is the old one's."""
    bus = make_bus()
    fill(bus, "mine", "ours")
    bus.kill_daemon()
    other = make_bus()
    fill(other, "other", "theirs", n_changes=2)
    other.stop_daemon()
    shutil.copy(file_of(other), file_of(bus))
    assert bus.query("SELECT a FROM other") == [("theirs",)]
    assert len(asides(bus)) == 1
    bus.update("INSERT INTO other VALUES('more')")
    bus.stop_daemon()
    assert bus.query("SELECT count(*) FROM other") == [(2,)]


@pytest.mark.parametrize("kind", ["store", "plain"])
def test_a_restore_is_of_the_own_log(make_bus, tmp_path, kind):
    """It puts another database into the log, with commits before and after it. The daemon is killed then."""
    bus = make_bus()
    fill(bus, "mine", "ours", n_changes=3)
    source = tmp_path / "source"
    if kind == "store":
        other = make_bus()
        fill(other, "other", "theirs")
        other.stop_daemon()
        source = file_of(other)
    else:
        with contextlib.closing(sqlite3.connect(source)) as database:
            database.executescript("CREATE TABLE other(a); INSERT INTO other VALUES('theirs');")
    bus.stop_daemon()
    bus.update("INSERT INTO mine VALUES('more')")
    restore(bus, source)
    bus.update("INSERT INTO other VALUES('later')")
    bus.kill_daemon()
    assert bus.query("SELECT a FROM other") == [("theirs",), ("later",)] and asides(bus) == []


def test_a_disk_that_cannot_be_written():
    in_namespace("read_only", file=__file__)


def case_read_only(bus):
    make_ext4(bus, 4096)
    fill(bus, "mine", "ours")
    bus.stop_daemon()
    assert bus.query("SELECT a FROM mine") == [("ours",)]
    bus.kill_daemon()
    log = log_of_plain(os.path.join(bus.folder, "x"), "CREATE TABLE z(a);")
    shutil.copy(log, file_of(bus, "queryd.db-wal"))
    subprocess.run(["mount", "-o", "remount,ro", bus.store], check=True)
    with pytest.raises(BusError) as error:
        bus.query("SELECT name FROM sqlite_schema")
    assert error.value.name == "Corrupt" and "is of another database" in error.value.message, error.value


if __name__ == "__main__":
    main(globals())
