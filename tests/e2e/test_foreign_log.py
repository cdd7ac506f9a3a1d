# SPDX-License-Identifier: LGPL-2.1-or-later
"""A log or rollback journal of another database beside a closed store. SQLite would put its pages in the place of the store's."""
import contextlib
import glob
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys

import pytest

from harness import BUILD, BusError
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


def asides(bus, suffix="-wal"):
    return sorted(glob.glob(glob.escape(file_of(bus, "queryd.db.foreign-")) + "*" + suffix))


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


# --- rollback journals ------------------------------------------------------------------------------------------------------

FILL = "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) INSERT INTO z SELECT randomblob(200) FROM n;"


def die_within(path, script):
    """Within a transaction whose pages are in the file already."""
    code = ("import os, signal, sqlite3, sys; database = sqlite3.connect(sys.argv[1], isolation_level=None); "
            "database.executescript(sys.argv[2]); os.kill(os.getpid(), signal.SIGKILL)")
    subprocess.run([sys.executable, "-c", code, path, "PRAGMA cache_size=1; " + script], check=False)
    assert os.path.getsize(str(path) + "-journal") > 0
    return str(path) + "-journal"


def keep_journal(path, script):
    """As a kill before its deletion leaves it: SQLite takes the file that is there, and deletes one of its names."""
    with open(str(path) + "-journal", "wb"):
        os.link(str(path) + "-journal", str(path) + ".kept")
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute(script).fetchall()
    assert not os.path.exists(str(path) + "-journal")
    return str(path) + ".kept"


def make_journal(kind, make_bus, tmp_path):
    path = tmp_path / "y"
    if kind == "store":
        other = make_bus()
        fill(other, "z", "theirs")
        other.stop_daemon()
        path = file_of(other)
        with contextlib.closing(sqlite3.connect(path)) as database:
            assert database.execute("PRAGMA journal_mode=delete").fetchall() == [("delete",)]
        return die_within(path, "BEGIN; " + FILL + "UPDATE z SET a = 1")
    if kind == "new":  # its journal has no record, and says that there was no page
        return die_within(path, "BEGIN; CREATE TABLE z(a); " + FILL)
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.executescript("CREATE TABLE z(a); " + FILL)
    if kind == "page":
        return keep_journal(path, "PRAGMA user_version=7")
    return die_within(path, "BEGIN; UPDATE z SET a = zeroblob(200)")


def close_filled(bus):
    fill(bus, "mine", "ours", n_changes=2)
    bus.update("WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50) "
               "INSERT INTO mine SELECT hex(randomblob(500)) FROM n")
    bus.stop_daemon()


def is_whole(bus):
    assert bus.query("SELECT name FROM sqlite_schema WHERE name IN ('mine', 'other', 'z')") == [("mine",)]
    assert bus.query("SELECT count(*), sum(length(a)) FROM mine") == [(51, 50004)]
    assert bus.query("SELECT ?o { ?s ?p ?o }", language="sparql") == [("ours",)]


@pytest.mark.parametrize("kind", ["plain", "new", "page", "store"])
def test_a_rollback_journal_of_another_database_is_set_aside(make_bus, tmp_path, kind):
    journal = make_journal(kind, make_bus, tmp_path)
    bus = make_bus()
    close_filled(bus)
    shutil.copy(journal, file_of(bus, "queryd.db-journal"))
    for _ in range(2):
        is_whole(bus)
        bus.stop_daemon()
    (kept,) = asides(bus, "-journal")
    assert read(kept) == read(journal)
    assert f"a file beside the database was of another one, and is kept as '{kept}'" in log_of(bus)


def test_both_at_once(make_bus, tmp_path):
    bus = make_bus()
    close_filled(bus)
    shutil.copy(make_journal("plain", make_bus, tmp_path), file_of(bus, "queryd.db-journal"))
    shutil.copy(make_log("plain", make_bus, tmp_path), file_of(bus, "queryd.db-wal"))
    is_whole(bus)
    assert len(asides(bus, "-journal")) == len(asides(bus)) == 1
    assert asides(bus, "-journal")[0] in log_of(bus) and asides(bus)[0] in log_of(bus)


def test_the_own_rollback_journal_is_used(bus):
    """The program that made it has put the file into another mode."""
    close_filled(bus)
    with contextlib.closing(sqlite3.connect(file_of(bus))) as database:
        database.execute("PRAGMA journal_mode=delete")
    die_within(file_of(bus), "BEGIN; UPDATE mine SET a = 'half'")
    is_whole(bus)
    assert asides(bus, "-journal") == []


@pytest.mark.parametrize("is_written", [False, True])
@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_a_switch_of_the_mode_that_was_interrupted(bus, mode, is_written):
    close_filled(bus)
    if mode == "wal":
        with contextlib.closing(sqlite3.connect(file_of(bus))) as database:
            database.execute("PRAGMA journal_mode=delete")
    before = read(file_of(bus))
    os.rename(keep_journal(file_of(bus), f"PRAGMA journal_mode={mode}"), file_of(bus, "queryd.db-journal"))
    assert read(file_of(bus))[18:20] != before[18:20]
    if not is_written:
        with open(file_of(bus), "wb") as file:
            file.write(before)
    is_whole(bus)
    assert asides(bus, "-journal") == [] and not os.path.exists(file_of(bus, "queryd.db-journal"))


def test_what_sqlite_takes_for_no_journal_stays(make_bus, tmp_path):
    journal = read(make_journal("plain", make_bus, tmp_path))
    bus = make_bus()
    close_filled(bus)
    for content in (b"", bytes(28) + journal[28:], b"x" * 5000, journal[:20] + bytes(8) + journal[28:]):
        with open(file_of(bus, "queryd.db-journal"), "wb") as file:
            file.write(content)
        is_whole(bus)
        bus.stop_daemon()
    assert asides(bus, "-journal") == []


def test_a_salvage_leaves_the_journal_with_the_old_file(bus):
    """It was played back into the new one."""
    close_filled(bus)
    with contextlib.closing(sqlite3.connect(file_of(bus))) as database:
        database.execute("PRAGMA journal_mode=delete")
    journal = read(die_within(file_of(bus), "BEGIN; CREATE TABLE z(a); " + FILL + "UPDATE mine SET a = 'half'"))
    run = bus.run(os.path.join(BUILD, "daemon/queryd"), "--salvage", "--directory", bus.store)
    assert run.returncode == 0, run
    (kept,) = glob.glob(glob.escape(file_of(bus, "queryd.db.corrupt-")) + "*-journal")
    assert read(kept) == journal
    with contextlib.closing(sqlite3.connect(kept[:-len("-journal")])) as database:
        assert database.execute("SELECT count(*), sum(length(a)) FROM mine").fetchall() == [(51, 50004)]
    assert bus.check() == (True, [])


# --- both -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", ["log", "journal"])
def test_a_disk_that_cannot_be_written(case):
    in_namespace("read_only_" + case, file=__file__)


def remount(bus, how):
    subprocess.run(["mount", "-o", "remount," + how, bus.store], check=True)


def case_read_only_journal(bus):
    """Without a log the file is read as one that does not change. Then SQLite plays no journal back."""
    make_ext4(bus, 4096)
    close_filled(bus)
    folder = pathlib.Path(bus.folder)
    shutil.copy(make_journal("plain", None, folder), file_of(bus, "queryd.db-journal"))
    remount(bus, "ro")
    is_whole(bus)
    bus.stop_daemon()
    remount(bus, "rw")
    os.remove(file_of(bus, "queryd.db-journal"))
    is_whole(bus)
    bus.kill_daemon()
    shutil.copy(folder / "y-journal", file_of(bus, "queryd.db-journal"))
    remount(bus, "ro")
    with pytest.raises(BusError, match="the file beside it, .*-journal', is of another database") as error:
        bus.query("SELECT 1")
    assert error.value.name == "Corrupt"
    bus.stop_daemon()
    remount(bus, "rw")
    is_whole(bus)
    bus.stop_daemon()
    assert len(asides(bus, "-journal")) == 1
    with contextlib.closing(sqlite3.connect(file_of(bus))) as database:
        database.execute("PRAGMA journal_mode=delete")
    die_within(file_of(bus), "BEGIN; UPDATE mine SET a = 'half'")
    remount(bus, "ro")
    with pytest.raises(BusError, match="its rollback journal has to be recovered first") as error:
        bus.query("SELECT 1")
    assert error.value.name == "ReadOnly"


def case_read_only_log(bus):
    make_ext4(bus, 4096)
    fill(bus, "mine", "ours")
    bus.stop_daemon()
    assert bus.query("SELECT a FROM mine") == [("ours",)]
    bus.kill_daemon()
    log = log_of_plain(os.path.join(bus.folder, "x"), "CREATE TABLE z(a);")
    shutil.copy(log, file_of(bus, "queryd.db-wal"))
    remount(bus, "ro")
    with pytest.raises(BusError) as error:
        bus.query("SELECT name FROM sqlite_schema")
    assert error.value.name == "Corrupt" and "is of another database" in error.value.message, error.value


if __name__ == "__main__":
    main(globals())
