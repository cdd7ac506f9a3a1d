# SPDX-License-Identifier: LGPL-2.1-or-later
"""Databases that another program has made: their definitions work, or nothing is lost but what calls that program."""
import contextlib
import glob
import os
import sqlite3

import pytest

from harness import BUILD, MANAGER, BusError, options


def make_file(path, script, page_size=4096):
    """By SQLite itself, with a function and a collation of its own."""
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.create_function("myf", 1, lambda value: value, deterministic=True)
        database.create_collation("mine", lambda a, b: (a > b) - (a < b))
        database.executescript(f"PRAGMA page_size={page_size};" + script)


def restore(bus, path):
    with open(path, "rb") as file:
        job = bus.finish_job(bus.start_job("Restore", "(ha{sv})", 0, options({}), fds=[file.fileno()], interface=MANAGER))
    assert job["State"] == "finished", job


def adopt(bus, tmp_path, script, page_size=4096):
    make_file(tmp_path / "theirs", script, page_size)
    restore(bus, tmp_path / "theirs")


# --- strings in double quotes, which SQLite takes where no column has such a name ------------------------------------------

STRINGS = """
CREATE TABLE t(a DEFAULT "dd" CHECK(a IN ("x", "dd")), b AS (a || "gen"));
CREATE TABLE log(what);
CREATE INDEX part ON t(a) WHERE a <> "none";
CREATE TRIGGER g AFTER INSERT ON t BEGIN INSERT INTO log VALUES("ins " || new.a); END;
CREATE VIEW v AS SELECT a, "lit" AS l FROM t;
INSERT INTO t DEFAULT VALUES;
"""


@pytest.mark.parametrize("page_size", [1024, 4096])
def test_strings_in_double_quotes(bus, tmp_path, page_size):
    adopt(bus, tmp_path, STRINGS, page_size)
    assert bus.query('SELECT "abc", \'a\' = "a"') == [("abc", 1)]
    bus.update("INSERT INTO t VALUES('x')")
    bus.update('INSERT INTO t VALUES("dd")')
    assert bus.query("SELECT a, l FROM v") == [("dd", "lit"), ("x", "lit"), ("dd", "lit")]
    assert bus.query("SELECT what FROM log") == [("ins dd",), ("ins x",), ("ins dd",)]
    assert bus.query("SELECT b FROM t WHERE a = 'x'") == [("xgen",)]
    with pytest.raises(BusError, match="CHECK"):
        bus.update("INSERT INTO t VALUES('y')")
    bus.update("ALTER TABLE log RENAME TO journal")
    bus.update("VACUUM")
    run = bus.run(bus.queryctl, "dump")
    assert run.returncode == 0
    with contextlib.closing(sqlite3.connect(":memory:")) as copy:
        copy.executescript(run.stdout)
        assert copy.execute("SELECT count(*) FROM v").fetchall() == [(3,)]
    assert bus.check() == (True, [])


def test_strings_in_double_quotes_survive_a_salvage(bus, tmp_path):
    adopt(bus, tmp_path, STRINGS + "CREATE TABLE u(b DEFAULT bare, c CHECK(myf(c) > 0)); INSERT INTO u(c) VALUES(1), (2)")
    bus.stop_daemon()
    run = bus.run(os.path.join(BUILD, "daemon/queryd"), "--salvage", "--directory", bus.store)
    assert run.returncode == 0, run
    (report,) = glob.glob(os.path.join(bus.store, "queryd.db.corrupt-*.report.txt"))
    with open(report, encoding="utf-8") as stream:
        text = stream.read()
    assert "table 'u' is made without its CHECK constraints" in text and "1 definitions could not be made" in text
    assert bus.query("SELECT a, b, l FROM t JOIN v USING(a)") == [("dd", "ddgen", "lit")]
    assert bus.query("SELECT b, c FROM u") == [("bare", 1), ("bare", 2)]
    bus.update("INSERT INTO t VALUES('x')")
    assert bus.query("SELECT what FROM log") == [("ins dd",), ("ins x",)]


def test_full_text_is_named_where_it_is_asked(bus):
    bus.update("CREATE VIRTUAL TABLE words USING fts5(text)")
    bus.update("CREATE TABLE t(a)")
    bus.update("CREATE VIEW broken AS SELECT nosuch FROM t")
    with pytest.raises(BusError, match="full-text query: no such column: dc .*put it in double quotes"):
        bus.query("SELECT * FROM words WHERE words MATCH 'dc:title'")
    for text in ("ALTER TABLE t RENAME TO u", "ALTER TABLE t RENAME a TO b"):
        with pytest.raises(BusError, match="no such column: nosuch") as error:
            bus.update(text)
        assert "full-text" not in error.value.message


# --- constraints that rows break --------------------------------------------------------------------------------------------

KEY_IS_SECOND = """
CREATE TABLE m(v TEXT NOT NULL, k TEXT PRIMARY KEY) WITHOUT ROWID;
WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) INSERT INTO m SELECT 'v' || i, 'k' || i FROM n;
"""

BROKEN = """
CREATE TABLE t(a CHECK(a > 0), b);
PRAGMA ignore_check_constraints = 1;
INSERT INTO t VALUES(-1, NULL);
PRAGMA writable_schema = 1;
UPDATE sqlite_schema SET sql = 'CREATE TABLE t(a CHECK(a > 0), b TEXT NOT NULL)' WHERE name = 't';
"""


def test_rows_that_break_a_constraint_are_no_damage(bus, tmp_path):
    """SQLite 3.40 says so of each row of a WITHOUT ROWID table whose key is not its first column."""
    adopt(bus, tmp_path, KEY_IS_SECOND + BROKEN)
    for quick in (True, False):
        assert bus.check(quick) == (True, [])
    assert bus.run(bus.queryctl, "check").returncode == 0


def test_damage_beside_rows_that_break_a_constraint(bus, tmp_path):
    """It is found, though SQLite's check ends after 100 messages."""
    adopt(bus, tmp_path, KEY_IS_SECOND + "CREATE TABLE z(a, b); CREATE INDEX i ON z(a); INSERT INTO z VALUES(1, 2);"
          "PRAGMA writable_schema = 1; UPDATE sqlite_schema SET sql = 'CREATE INDEX i ON z(b)' WHERE name = 'i'")
    ok, messages = bus.check(quick=False)
    assert not ok and messages[0] == "row 1 missing from index i"
