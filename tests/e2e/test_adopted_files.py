# SPDX-License-Identifier: LGPL-2.1-or-later
"""Databases that another program has made: their definitions work, or nothing is lost but what calls that program."""
import contextlib
import glob
import os
import sqlite3

import pytest

from harness import BUILD, MANAGER, BusError, options


def open_with_calls(path):
    """A function of its own, and a collation, by which 'b' is less than 'a'."""
    database = sqlite3.connect(path)
    database.create_function("myf", 1, lambda value: value, deterministic=True)
    for name in ("mine", 'my "own" order'):
        database.create_collation(name, lambda a, b: (a < b) - (a > b))
    return database


def make_file(path, script, page_size=4096):
    """By SQLite itself."""
    with contextlib.closing(open_with_calls(path)) as database:
        database.executescript(f"PRAGMA page_size={page_size};" + script)


def load(text):
    database = open_with_calls(":memory:")
    database.executescript(text)
    return contextlib.closing(database)


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
    with load(run.stdout) as copy:
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
    assert bus.query("PRAGMA integrity_check(t)") == [("NULL value in t.b",)]
    run = bus.run(bus.queryctl, "shell", input="BEGIN; PRAGMA quick_check(t); ROLLBACK;\n")
    assert "NULL value in t.b\nCHECK constraint failed in t\n" in run.stdout


def test_damage_beside_rows_that_break_a_constraint(bus, tmp_path):
    """It is found, though SQLite's check ends after 100 messages."""
    adopt(bus, tmp_path, KEY_IS_SECOND + "CREATE TABLE z(a, b); CREATE INDEX i ON z(a); INSERT INTO z VALUES(1, 2);"
          "PRAGMA writable_schema = 1; UPDATE sqlite_schema SET sql = 'CREATE INDEX i ON z(b)' WHERE name = 'i'")
    ok, messages = bus.check(quick=False)
    assert not ok and messages[0] == "row 1 missing from index i"


# --- functions and collations of another program ----------------------------------------------------------------------------

CALLS = """
CREATE TABLE t(a CHECK(myf(a)), b AS (myf(a)) STORED, c AS (myf(a) + 1), d TEXT DEFAULT (upper('x')), UNIQUE(a));
CREATE INDEX i ON t(myf(a));
CREATE INDEX part ON t(d) WHERE myf(a) > 1;
INSERT INTO t(a) VALUES(1), (2), (3);
"""
COLLATED = """
CREATE TABLE k(a TEXT COLLATE mine PRIMARY KEY, b) WITHOUT ROWID;
CREATE TABLE l(a TEXT COLLATE "mine", b, UNIQUE(a DESC), UNIQUE(b, a));
CREATE INDEX by_mine ON l(b COLLATE /* COLLATE x */ [mine] DESC, a COLLATE NOCASE);
CREATE TABLE m(a DEFAULT 'it''s COLLATE mine' CHECK(a <> "COLLATE" -- COLLATE mine
    ), b COLLATE "my ""own"" order" UNIQUE);
INSERT INTO m(b) VALUES('b'), ('a'), ('c');
WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
INSERT INTO k SELECT printf('%x', i * 7919 % 10007 + 100), i FROM n;
INSERT INTO l SELECT a, iif(b % 3, b, 'text ' || a) FROM k WHERE length(a) > 1;
INSERT INTO k VALUES('b', 1), ('a', 2), ('c', 3);
INSERT INTO l VALUES('b', 'COLLATE mine'), ('a', 2), ('c', 3);
"""


def check_with_their_calls(bus, tmp_path, script):
    """That program finds its file whole, in its own order."""
    backup = tmp_path / "backup"
    with open(backup, "w+b") as file:
        assert bus.backup(file.fileno())["State"] == "finished"
    with contextlib.closing(open_with_calls(backup)) as database, contextlib.closing(open_with_calls(":memory:")) as expected:
        expected.executescript(script)
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        names = "SELECT name, sql FROM sqlite_schema WHERE name NOT GLOB 'queryd_*' ORDER BY name"
        tables = [name for name, sql in expected.execute(names) if sql and sql.startswith("CREATE TABLE")]
        for query in [names.replace("WHERE", "WHERE name NOT GLOB 'sqlite_s*' AND")] + [f"SELECT * FROM {name}" for name in tables]:
            assert database.execute(query).fetchall() == expected.execute(query).fetchall()


@pytest.mark.parametrize("page_size", [512, 1024, 4096, 65536])
@pytest.mark.parametrize("script", [CALLS, COLLATED], ids=["functions", "collation"])
def test_calls_of_another_program(bus, tmp_path, script, page_size):
    adopt(bus, tmp_path, script, page_size)
    for quick in (True, False):
        assert bus.check(quick) == (True, [])
    check_with_their_calls(bus, tmp_path, script)


# --- a dump of what does not work -------------------------------------------------------------------------------------------

UNUSABLE = """
CREATE TABLE t(a, b AS (myf(a)), CHECK(myf(a)));
INSERT INTO t VALUES(1);
CREATE TABLE gone(a);
CREATE VIEW of_gone AS SELECT a FROM gone;
CREATE VIEW calls AS SELECT theirs(a) FROM t;
DROP TABLE gone;
CREATE VIRTUAL TABLE words USING fts5(text);
INSERT INTO words VALUES('some words');
CREATE VIRTUAL TABLE others USING fts5(text, -- with a line
  tokenize=ascii);
INSERT INTO others VALUES('other words');
PRAGMA writable_schema = 1;
UPDATE sqlite_schema SET sql = replace(sql, 'fts5', 'theirs') WHERE name = 'words';
UPDATE sqlite_schema SET sql = replace(sql, 'ascii', 'their_own') WHERE name = 'others';
"""


def test_dump_of_definitions_that_do_not_work(bus, make_bus, tmp_path):
    """Without its module a virtual table is left out. What its shadow tables keep is in ordinary ones."""
    adopt(bus, tmp_path, UNUSABLE)
    run = bus.run(bus.queryctl, "dump")
    assert (run.returncode, run.stderr) == (1, "queryctl: table 'words' is left out: no such module: theirs\n"
                                               "queryctl: table 'others' is left out: no such tokenizer: their_own\n")
    assert "-- left out, since it cannot be read: CREATE VIRTUAL TABLE words USING theirs(text);\n" in run.stdout
    with load(run.stdout) as copy:
        assert copy.execute("SELECT a, b FROM t").fetchall() == [(1, 1)]
        assert copy.execute("SELECT name FROM sqlite_schema WHERE name IN ('of_gone', 'calls', 'words')").fetchall() == [
            ("of_gone",), ("calls",)]
        assert copy.execute("SELECT c0 FROM words_content UNION ALL SELECT c0 FROM others_content").fetchall() == [
            ("some words",), ("other words",)]
    other = make_bus()
    run = other.run(other.queryctl, "update", "-", input=run.stdout.replace("myf", "abs"))
    assert run.returncode == 0, run.stderr
    assert other.query("SELECT c0 FROM words_content") == [("some words",)]


def test_dump_of_a_table_that_cannot_be_read(bus, tmp_path):
    adopt(bus, tmp_path, "CREATE TABLE k(a COLLATE mine PRIMARY KEY, b) WITHOUT ROWID; INSERT INTO k VALUES('x', 'y');"
          "CREATE TABLE t(a); INSERT INTO t VALUES(7)")
    message = "queryctl: the rows of table 'k' are left out: no query solution\n"
    run = bus.run(bus.queryctl, "dump", "-o", str(tmp_path / "dump"))
    assert (run.returncode, run.stderr) == (1, message)
    with load((tmp_path / "dump").read_text(encoding="utf-8")) as copy:
        assert copy.execute("SELECT a FROM t").fetchall() == [(7,)]
        assert copy.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'k'").fetchall() == [(1,)]
    run = bus.run(bus.queryctl, "shell", input=".dump\n")
    assert run.returncode == 1 and message in run.stderr and "COMMIT" in run.stdout
