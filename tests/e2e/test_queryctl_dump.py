# SPDX-License-Identifier: LGPL-2.1-or-later
"""Virtual tables in a dump: queryctl reads it as SQLite does, and both find what the first store finds."""
import contextlib
import sqlite3

import pytest

SCHEMA = """
CREATE TABLE doc (id INTEGER PRIMARY KEY, title, body);
CREATE VIEW upper_doc AS SELECT id, upper(title) AS title FROM doc;
CREATE VIRTUAL TABLE f USING fts5(a, "b ""c", u UNINDEXED, prefix='2 3');
CREATE VIRTUAL TABLE plain_f USING fts5(a, detail=none, columnsize=0, tokenize='trigram');
CREATE VIRTUAL TABLE of_table USING fts5(title, body, content=doc, content_rowid='id', detail=column);
CREATE VIRTUAL TABLE of_view USING fts5(title, content='upper_doc', content_rowid=id, tokenize="porter unicode61 tokenchars '-('");
CREATE VIRTUAL TABLE none_yet USING fts5(a, content='');
CREATE VIRTUAL TABLE q3 USING fts3(a, rowid);
CREATE VIRTUAL TABLE q4 USING fts4(a, b, languageid="l", notindexed=b, tokenize=porter, order=desc, prefix="1,2");
CREATE VIRTUAL TABLE q4_of_table USING fts4(content="doc");
CREATE VIRTUAL TABLE q4_of_view USING fts4(content="upper_doc", title);
CREATE VIRTUAL TABLE box USING rtree(id, x0, x1, y0, y1, +note, +thing);
CREATE VIRTUAL TABLE span USING rtree_i32(id, x0, x1);
CREATE VIRTUAL TABLE vocabulary USING fts5vocab(f, row);
CREATE TRIGGER on_doc AFTER INSERT ON doc BEGIN INSERT INTO of_table(rowid, title, body) VALUES (new.id, new.title, new.body); END;
INSERT INTO f(f, rank) VALUES ('rank', 'bm25(0.1, 10.0)');
INSERT INTO f(f, rank) VALUES ('automerge', 3);
INSERT INTO f(rowid, a, "b ""c", u) VALUES (5, 'the quick fox', 'it''s', X'00ff'), (-3, 'fox fox fox', NULL, 2.5),
  (9223372036854775807, 7, 'a fox' || char(10) || 'ran', '');
DELETE FROM f WHERE rowid = 4;
INSERT INTO plain_f(rowid, a) VALUES (70, 'some words'), (2, 'worn');
INSERT INTO doc VALUES (3, 'a title', 'of a fox'), (8, 'running titles', 'fox and fox');
INSERT INTO of_view(of_view) VALUES ('rebuild');
INSERT INTO q4_of_table(q4_of_table) VALUES ('rebuild');
INSERT INTO q4_of_view(q4_of_view) VALUES ('rebuild');
INSERT INTO q3(docid, a, rowid) VALUES (4, 'three words', 'row'), (-1, 'a word', X'61');
INSERT INTO q4(docid, a, b, l) VALUES (4, 'running', 'x', 2), (6, 'runs', 'y', 0);
INSERT INTO box VALUES (1, 0.1, 0.7, -1e30, 3.3333333, 'n', X'01'), (-2, 0.3, 0.4, -9e999, 9e999, NULL, 2.5);
WITH n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 900)
  INSERT INTO box SELECT i, i / 7.0, i / 3.0, -i / 9.1, i, i, NULL FROM n;
INSERT INTO span VALUES (10, -2147483648, 5), (11, 6, 2147483647);
"""
QUERIES = (
    "SELECT rowid, *, round(rank, 9), typeof(a), typeof(u) FROM f WHERE f MATCH 'fox' ORDER BY rank",
    "SELECT rowid FROM f WHERE f MATCH 'qu* OR ra*' ORDER BY rowid", "SELECT rowid, * FROM f ORDER BY rowid",
    "SELECT k, v FROM f_config WHERE k <> 'version' ORDER BY k", "SELECT * FROM vocabulary ORDER BY term",
    "SELECT rowid, * FROM plain_f WHERE plain_f MATCH 'wor' ORDER BY rowid",
    "SELECT rowid, *, round(rank, 9) FROM of_table WHERE of_table MATCH 'fox' ORDER BY rank",
    "SELECT rowid FROM of_view WHERE of_view MATCH 'run'", "SELECT count(*) FROM none_yet_idx",
    "SELECT docid, * FROM q3 WHERE q3 MATCH 'word*' ORDER BY docid", "SELECT docid, *, l FROM q4 WHERE a MATCH 'run' AND l = 2",
    "SELECT docid, *, l FROM q4", "SELECT docid, title, body FROM q4_of_table WHERE body MATCH 'fox' ORDER BY docid",
    "SELECT docid, title FROM q4_of_view WHERE q4_of_view MATCH 'title*' ORDER BY docid",
    "SELECT * FROM box ORDER BY id", "SELECT id FROM box WHERE x0 < 9.5 AND y1 > 60 ORDER BY id", "SELECT * FROM span WHERE x1 > 5",
    "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name NOT GLOB 'queryd_*' AND tbl_name NOT GLOB 'queryd_*' "
    "AND name NOT GLOB 'sqlite_*' ORDER BY 1, 2")
INDEXES = ("f", "plain_f", "of_table", "of_view", "q3", "q4", "q4_of_table", "q4_of_view")
LOST = "queryctl: the index of table '{}' is left out: {}\n"
NOT_KEPT = "the texts that it was made from are not kept; a backup has it"


def load(text):
    database = sqlite3.connect(":memory:")
    database.executescript(text)
    return contextlib.closing(database)


def dump(bus, *arguments, code=0, said=""):
    run = bus.run(bus.queryctl, "dump", *arguments)
    assert (run.returncode, run.stderr) == (code, said)
    return run.stdout


def run_script(bus, text, *command):
    run = bus.run(bus.queryctl, *command, input=text)
    assert run.returncode == 0, run.stderr


def fill(bus):
    """SQLite 3.40: the first MATCH of a connection that had opened the table before still has the rank of then."""
    run_script(bus, SCHEMA, "update", "-")
    bus.query(QUERIES[0])


@pytest.mark.parametrize("command", [("update", "-"), ("shell",)])
def test_queryctl_reads_virtual_tables(bus, make_bus, command):
    fill(bus)
    text = dump(bus)
    other = make_bus()
    run_script(other, text, *command)
    other.query(QUERIES[0])
    for query in QUERIES:
        rows = bus.query(query)
        assert rows and other.query(query) == rows, query
    for name in INDEXES:
        other.update(f"INSERT INTO {name}({name}) VALUES ('integrity-check')")
    assert other.check(False) == (True, [])
    assert sorted(dump(other).splitlines()) == sorted(text.splitlines())  # an R-tree has no order of its rows
    other.update("INSERT INTO doc VALUES (20, 'new', 'fox')")
    assert other.query("SELECT count(*) FROM of_table WHERE of_table MATCH 'fox'") == [(3,)]


def test_sqlite_reads_virtual_tables(bus):
    fill(bus)
    with load(dump(bus)) as copy:
        for query in QUERIES:
            assert [tuple(row) for row in copy.execute(query)] == bus.query(query), query
        for name in INDEXES:
            copy.execute(f"INSERT INTO {name}({name}) VALUES ('integrity-check')")
        assert copy.execute("SELECT rtreecheck('box'), rtreecheck('span')").fetchall() == [("ok", "ok")]
        assert copy.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_the_index_of_texts_that_are_not_kept(bus, make_bus):
    """No rows make it again, and DEFENSIVE lets no client write its shadow tables."""
    bus.update("CREATE TABLE t (a)")
    bus.update("INSERT INTO t VALUES (1)")
    for name, module in (("n", "fts5"), ("m", "fts4")):
        bus.update(f"CREATE VIRTUAL TABLE {name} USING {module}(a, content='')")
        dump(bus, name)
        bus.update(f"INSERT INTO {name}(rowid, a) VALUES (1, 'some words')")
    text = dump(bus, code=1, said=LOST.format("n", NOT_KEPT) + LOST.format("m", NOT_KEPT))
    assert f"-- the index of table 'n' is left out: {NOT_KEPT}\n" in text
    other = make_bus()
    run_script(other, text, "update", "-")
    assert other.query("SELECT a FROM t") == [(1,)]
    assert other.query("SELECT rowid FROM n WHERE n MATCH 'words'") == []
    other.update("INSERT INTO n(rowid, a) VALUES (2, 'words')")
    assert other.query("SELECT rowid FROM n WHERE n MATCH 'words'") == [(2,)]


def test_an_index_without_its_table(bus):
    """The pattern has left the table out."""
    run_script(bus, SCHEMA, "update", "-")
    text = dump(bus, "of_table", code=1, said=LOST.format("of_table", "it is of 'doc', which the dump has not"))
    with load(text) as copy:
        assert copy.execute("SELECT count(*) FROM of_table_idx").fetchall() == [(0,)]
    with load(dump(bus, "q3")) as copy:
        assert copy.execute("SELECT docid FROM q3 WHERE q3 MATCH 'three'").fetchall() == [(4,)]
    with load(dump(bus, "f_con*")) as copy:
        assert copy.execute("SELECT count(*) FROM f_content").fetchall() == [(3,)]


def test_a_dump_in_a_transaction_has_its_rows(bus):
    bus.update("CREATE VIRTUAL TABLE f USING fts5(a)")
    run = bus.run(bus.queryctl, "shell", input="BEGIN;\nINSERT INTO f VALUES ('new words');\n.dump\nROLLBACK;\n")
    with load(run.stdout) as copy:
        assert copy.execute("SELECT rowid FROM f WHERE f MATCH 'words'").fetchall() == [(1,)]


def test_a_statement_has_many_rows(bus, make_bus):
    """100,000 rows took more than the 30 s of a transaction. A long row is alone, since a statement has a limit, too."""
    run_script(bus, "CREATE TABLE a (n); CREATE TABLE b (n, text); CREATE VIRTUAL TABLE c USING rtree(id, x, y);"
               "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600) INSERT INTO a SELECT i FROM n;"
               "INSERT INTO b VALUES (1, 'x'), (2, hex(zeroblob(500000))), (3, 'y'), (4, NULL);"
               "INSERT INTO c SELECT n, n, n + 1 FROM a", "update", "-")
    text = dump(bus)
    assert [line.split("VALUES")[0] for line in text.splitlines() if line.startswith("INSERT")] == [
        'INSERT INTO "a" '] * 3 + ['INSERT INTO "b" '] * 3 + ['INSERT INTO "c"("id","x","y") '] * 3
    other = make_bus()
    run_script(other, text, "update", "-")
    for query in ("SELECT n FROM a", "SELECT n, length(text) FROM b", "SELECT * FROM c ORDER BY id"):
        assert other.query(query) == bus.query(query)
    with load(text) as copy:
        assert copy.execute("SELECT count(*), sum(n) FROM a").fetchall() == [(600, 180300)]


def test_tables_with_settings_are_counted(bus):
    """Each FTS5 table is two parts of a statement that has at most 500."""
    bus.batch([(f"CREATE VIRTUAL TABLE f{i} USING fts5(a)", []) for i in range(190)])
    assert dump(bus).count("CREATE VIRTUAL TABLE") == 190
    bus.batch([(f"CREATE VIRTUAL TABLE g{i} USING fts5(a)", []) for i in range(20)])
    run = bus.run(bus.queryctl, "dump")
    assert run.returncode == 1 and "a dump has at most 400: give a pattern" in run.stderr


def test_a_dump_of_sqlite_with_virtual_tables(bus):
    """It writes to sqlite_schema."""
    run = bus.run(bus.queryctl, "update", "-", input="BEGIN;\nPRAGMA writable_schema=ON;\nCOMMIT;\n")
    assert run.returncode == 5 and "'queryctl store import'" in run.stderr
