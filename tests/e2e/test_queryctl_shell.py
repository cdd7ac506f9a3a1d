# SPDX-License-Identifier: LGPL-2.1-or-later
"""The shell of queryctl: its commands in scripts and on a terminal, its history, completion, editor and start file."""
import json
import os
import sqlite3

import pytest

from terminal import Terminal

DATA = """PREFIX ex: <http://example.org/>
INSERT DATA { ex:a ex:name "Ada" ; ex:born 1815 . ex:b ex:name "Bob" }"""


@pytest.fixture
def shell(bus):
    """Runs a script; returns its standard output, or with @code what it says on standard error."""
    def run(script, *arguments, code=0, cwd=None):
        done = bus.run(bus.queryctl, "shell", *arguments, input=script, cwd=cwd)
        assert done.returncode == code, done.stderr
        return done.stderr if code else done.stdout

    return run


@pytest.fixture
def terminal(bus):
    opened = []

    def open_terminal(*arguments, env=None, prompt="sql> "):
        opened.append(Terminal([bus.queryctl, "shell", *arguments], {**bus.env, "PAGER": "cat", "NO_COLOR": "1", **(env or {})}))
        opened[-1].expect("Ctrl-D leaves.")
        opened[-1].expect_prompt(prompt)
        return opened[-1]

    yield open_terminal
    for one in opened:
        one.close()


# --- languages -----------------------------------------------------------------------------------------------------------

def test_sparql_and_back(shell):
    assert shell(f""".sparql
{DATA};
PREFIX ex: <http://example.org/>
SELECT ?n {{ ?s ex:name ?n ;
  ex:born ?year }}; # one of them
.sql
SELECT count(*) AS n FROM rdf_quad;
""") == "n\nAda\nn\n3\n"


def test_sparql_request_of_several_operations(shell):
    assert shell("INSERT DATA { <x:a> <x:p> ';' }; INSERT DATA { <x:b> <x:p> 2 };\nSELECT ?s { ?s ?p ?o } ORDER BY ?s;\n",
                 "--sparql") == "s\nx:a\nx:b\n"


def test_triples_are_turtle_until_a_format_is_chosen(shell):
    script = f"{DATA};\nCONSTRUCT {{ ?s <x:p> ?o }} {{ ?s <http://example.org/born> ?o }};\n"
    assert shell(script, "--sparql").endswith("<http://example.org/a> <x:p> 1815 .\n")
    rows = shell(".mode jsonl\n" + script, "--sparql")
    assert json.loads(rows)["predicate"] == "x:p"


def test_sparql_in_a_transaction(shell):
    assert shell(f"BEGIN;\n.sparql\n{DATA};\nSELECT (count(*) AS ?n) {{ ?s ?p ?o }};\n.sql\nROLLBACK;\n"
                 "SELECT count(*) AS n FROM rdf_quad;\n") == "n\n3\nn\n0\n"


def test_the_prompt_follows_a_transaction_that_the_daemon_ends(bus, terminal):
    bus.update("CREATE TABLE t (a UNIQUE)")
    one = terminal()
    one.type("BEGIN;\n")
    one.expect_prompt("sql*> ")
    one.type("INSERT INTO t VALUES (1), (1);\n")
    one.expect_prompt("sql*> ")
    one.type("INSERT OR ROLLBACK INTO t VALUES (1), (1);\n")
    one.expect("queryctl: the transaction was rolled back")
    one.expect_prompt("sql> ")
    one.type("INSERT INTO t VALUES (2);\n")
    one.expect_prompt("sql> ")
    assert bus.query("SELECT a FROM t") == [(2,)]


def test_commands_are_sql_in_either_language(shell):
    assert shell("CREATE TABLE t (a);\n.sparql\n.tables\n.schema t\n") == "name\ttype\nt\ttable\nsql\nCREATE TABLE t (a);\n"


# --- parameters ----------------------------------------------------------------------------------------------------------

def test_parameters(shell):
    assert shell(""".parameter set :min 2
.parameter set name 'it''s 7'
.parameter set ?1 NULL
SELECT :min + 1 AS a, typeof($name) AS b, $name AS c;
SELECT ? IS NULL AS d;
SELECT ':min' AS e;
.parameter unset min
SELECT $name AS f;
""") == "a\tb\tc\n3\ttext\tit's 7\nd\n1\ne\n:min\nf\nit's 7\n"
    assert shell(".parameter set a 1\n.parameter unset a\nSELECT :a;\n", code=1) == "queryctl: parameter 1 (':a') has no value\n"


def test_parameters_list_and_clear(shell):
    assert shell(".parameter set a 1\n.parameter set b x y\n.parameter list\n.parameter clear\n.parameter\n") == (
        'name\tvalue\na\t"1"\nb\tx y\nname\tvalue\n')


def test_parameters_of_sparql(shell):
    assert shell(f"{DATA};\n.parameter set who \"Ada\"\nSELECT ?s {{ ?s ?p $who }};\nASK {{ ?s ?p ?who }};\n", "--sparql") == (
        "s\nhttp://example.org/a\nresult\ntrue\n")


# --- output --------------------------------------------------------------------------------------------------------------

def test_mode_line(shell):
    assert shell(".mode line\nSELECT 1 AS a, 'x y' AS long, NULL AS n UNION ALL SELECT 2, 'a\nb', X'00ff';\n") == (
        "   a = 1\nlong = x y\n   n = NULL\n\n   a = 2\nlong = a↵b\n   n = X'00ff'\n")


def test_output_and_once(shell, tmp_path):
    assert shell(""".mode jsonl
.once one.csv
SELECT 1 AS a, 'x' AS b;
SELECT 2 AS a;
.output all.txt
SELECT 3 AS a;
SELECT 4 AS a;
.output
SELECT 5 AS a;
.once tables.json
.tables
.tables
""", cwd=tmp_path) == '{"a":2}\n{"a":5}\n'
    assert (tmp_path / "one.csv").read_text() == "a,b\n1,x\n"
    assert (tmp_path / "all.txt").read_text() == '{"a":3}\n{"a":4}\n'
    assert (tmp_path / "tables.json").read_text() == "[]\n"


def test_output_into_a_folder_that_is_not_there(shell):
    assert "cannot open '/nonexistent/x': No such file" in shell(".output /nonexistent/x\n", code=2)


def test_indexes(shell):
    assert shell("CREATE TABLE t (a UNIQUE, b, c);\nCREATE INDEX i ON t(c, b + 1);\nCREATE TABLE u (a PRIMARY KEY);\n"
                 ".indexes t\n") == "name\ttable\tcolumns\ni\tt\tc, (expression)\nsqlite_autoindex_t_1\tt\ta\n"


# --- help and errors -----------------------------------------------------------------------------------------------------

def test_help_of_a_command(bus):
    done = bus.run(bus.queryctl, "shell", input=".help .once\n.help import\n")
    assert done.stderr == (".once FILE: write the next result to FILE\nAs .output, for one statement or command.\n"
                           ".import FILE [TABLE] [OPTION…]: read a file into a table, or RDF into a graph\n"
                           "As 'queryctl import', with its options: .import songs.csv song --create\n")


WRONG = (
    (".tabels", "unknown command '.tabels'; did you mean '.tables'?"),
    (".help .nosuch", "unknown command '.nosuch'; .help lists them"),
    (".mode xml", "'xml' is not table, tsv, csv, json, jsonl, markdown or line"),
    (".sparql SELECT", ".sparql takes nothing: the statements after it are in this language"),
    (".parameter set x", "usage: .parameter set NAME VALUE, unset NAME, list or clear"),
    (".once", ".once needs a file"),
    (".edit", ".edit needs a terminal"),
    (".import x.csv t --store other", "the shell has one store: leave it, and give it --store other"),
    (".import", "usage: queryctl import FILE|- [TABLE]"),
    (".import 'x", "Text ended before matching quote was found for '. (The text was “queryctl import 'x”)"),
    ("BEGIN;\n.import x.csv t", "an import is a transaction of its own: COMMIT or ROLLBACK first"))

def test_wrong_commands(shell):
    for line, message in WRONG:
        assert f"queryctl: {message}\n" in shell(line + "\nSELECT 1;\n", code=2)


def test_the_place_of_an_error(shell):
    assert shell("SELECT 1\n  + nosuch;\n", code=1) == "queryctl: 2:5: no such column: nosuch\n    + nosuch\n      ^\n"
    assert shell("SELECT * {\n  ?s ?p };\n", "--sparql", code=1).endswith("    ?s ?p }\n          ^\n")


# --- import and dump -----------------------------------------------------------------------------------------------------

def test_import(shell, tmp_path):
    (tmp_path / "a b.csv").write_text("id;name\n1;x\n2;y\n")
    (tmp_path / "d.ttl").write_text("<x:s> <x:p> 1 .")
    assert shell(".import 'a b.csv' t --create --delimiter ';'\n.import d.ttl\nSELECT name FROM t;\n"
                 "SELECT object FROM rdf_quad;\n", cwd=tmp_path) == "name\nx\ny\nobject\n\"1\"\n"


SCHEMA = """CREATE TABLE song (id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL, x, twice AS (x * 2), "odd ""name" BLOB);
CREATE TABLE "select" (a, b, PRIMARY KEY (b, a)) WITHOUT ROWID;
CREATE TABLE empty (a REFERENCES song);
CREATE VIRTUAL TABLE words USING fts5(text);
CREATE INDEX by_title ON song (title);
CREATE VIEW titles AS SELECT title FROM song;
CREATE TRIGGER no_empty BEFORE INSERT ON empty BEGIN SELECT RAISE(ABORT, 'no; never') WHERE NEW.a IS NULL; END;
CREATE TRIGGER on_view INSTEAD OF DELETE ON titles BEGIN SELECT 1; END;
INSERT INTO song (title, x, "odd ""name") VALUES ('it''s', 0.1, X'00ff'), ('a' || char(10) || 'b', 9e999, NULL),
  (CAST(X'610062' AS TEXT), -9223372036854775808, X''), (CAST(X'61ff' AS TEXT), 1.0, ''), ('', 1e300, '7');
DELETE FROM song WHERE title = '';
INSERT INTO "select" VALUES (1, 'x'), (NULL, 2.5) ON CONFLICT DO NOTHING;
INSERT INTO words VALUES ('the quick fox'), ('a slow snail');
PRAGMA user_version = 7;
"""
QUERIES = ("SELECT id, typeof(title), hex(title), typeof(x), x, twice, typeof(\"odd \"\"name\"), \"odd \"\"name\" FROM song",
           'SELECT a, b FROM "select"', "SELECT * FROM empty", "SELECT rowid, text FROM words WHERE words MATCH 'fox'",
           "SELECT name, seq FROM sqlite_sequence WHERE name = 'song'",
           "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name NOT GLOB 'queryd_*' AND tbl_name NOT GLOB 'queryd_*' "
           "AND name NOT GLOB 'sqlite_*' ORDER BY 1, 2")


def load(text):
    """What SQLite makes of a dump."""
    database = sqlite3.connect(":memory:")
    database.text_factory = bytes
    database.executescript(text)
    return database


def test_dump_is_read_back_by_sqlite(bus, shell, tmp_path):
    shell(SCHEMA.replace("INSERT INTO \"select\" VALUES (1, 'x'), (NULL, 2.5) ON CONFLICT DO NOTHING",
                         "INSERT INTO \"select\" VALUES (1, 'x'), (3, 2.5)"))
    text = shell(".dump\n")
    (tmp_path / "dump.sql").write_text(text)
    again = sqlite3.connect(tmp_path / "new.db")
    again.executescript(text)
    again.close()
    again = sqlite3.connect(tmp_path / "new.db")  # virtual tables are known from the next opening on
    for query in QUERIES:
        rows = [tuple(row) for row in again.execute(query)]
        assert rows == bus.query(query), query
        assert rows or "empty" in query
    assert again.execute("PRAGMA user_version").fetchone() == (7,)
    assert again.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert again.execute("SELECT count(*) FROM sqlite_master WHERE name GLOB 'queryd_*'").fetchone() == (0,)


def test_dump_of_some_tables(bus, shell):
    bus.update("CREATE TABLE a1 (x)")
    bus.update("CREATE TABLE a2 (x)")
    bus.update("CREATE TABLE b (x)")
    bus.update("CREATE VIEW v AS SELECT 1")
    bus.update("INSERT INTO a2 VALUES ('it''s')")
    text = shell(".dump a*\n")
    assert text == ("PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\nCREATE TABLE a1 (x);\nCREATE TABLE a2 (x);\n"
                    "INSERT INTO \"a2\" VALUES('it''s');\nCOMMIT;\n")
    assert load(text).execute("SELECT x FROM a2").fetchall() == [(b"it's",)]
    assert shell(".dump nosuch\n", code=1) == "queryctl: no table has a name like 'nosuch'\n"


def test_dump_in_a_transaction_shows_what_it_has_written(shell):
    text = shell("BEGIN;\nCREATE TABLE t (a);\nINSERT INTO t VALUES (5);\n.dump\nROLLBACK;\n")
    assert load(text).execute("SELECT a FROM t").fetchall() == [(5,)]


def test_dump_as_a_verb(bus, tmp_path):
    bus.update("CREATE TABLE t (a)")
    bus.update("INSERT INTO t VALUES (1)")
    path = tmp_path / "t.sql"
    assert bus.run(bus.queryctl, "dump", "-o", str(path)).returncode == 0
    assert bus.run(bus.queryctl, "dump", "t").stdout == path.read_text()
    direct = bus.run(bus.queryctl, "dump", "--direct", os.path.join(bus.env["XDG_DATA_HOME"], "queryd/queryd.db"))
    assert direct.stdout == path.read_text()
    failed = bus.run(bus.queryctl, "dump", "x*", "-o", str(tmp_path / "x.sql"))
    assert failed.returncode == 1 and os.listdir(tmp_path) == ["t.sql"]


def test_dump_is_of_one_moment(bus):
    """Two tables that always change together."""
    bus.update("CREATE TABLE a (n)")
    bus.update("CREATE TABLE b (n)")
    bus.batch([("INSERT INTO a VALUES (0)", []), ("INSERT INTO b VALUES (0)", [])])
    writer = bus.caller()
    for i in range(1, 40):
        writer.batch([(f"UPDATE a SET n = {i}", []), (f"UPDATE b SET n = {i}", [])])
        if i % 10 == 0:
            database = load(bus.run(bus.queryctl, "dump").stdout)
            assert database.execute("SELECT a.n = b.n FROM a, b").fetchall() == [(1,)]


# --- on a terminal -------------------------------------------------------------------------------------------------------

def test_history_keeps_statements_whole(terminal):
    one = terminal()
    one.type("SELECT 'first'\n")
    one.expect_prompt("...> ")
    one.type("|| 'line' AS a;\n")
    one.expect("firstline\n")
    one.expect_prompt()
    one.type(".quit\n")
    assert one.finish() == 0
    again = terminal()
    again.type("\x10\x10\n")  # .quit, then all of the statement
    again.expect("firstline\n")
    again.expect_prompt()
    again.type("\x04")
    assert again.finish() == 0


def test_completion_of_columns(bus, terminal):
    bus.update("CREATE TABLE song (title, duration)")
    bus.update("CREATE TABLE other (durable)")
    bus.update("INSERT INTO song VALUES ('x', 'found')")
    one = terminal()
    one.type("SELECT dur FROM song;" + "\x02" * 11 + "\t\n")  # the table is after the cursor
    one.expect("found\n")
    one.expect_prompt()
    one.type("SELECT s.dura FROM song s;" + "\x02" * 13 + "\t\n")
    one.expect("found\n")
    one.expect_prompt()
    one.type("sel\t'low' || 'er';\n")
    one.expect("lower\n")
    one.expect_prompt()
    one.type("\x04")
    assert one.finish() == 0


def test_completion_of_sparql(bus, terminal):
    bus.update(DATA, language="sparql")
    one = terminal("--sparql", prompt="sparql> ")
    one.type("PREFIX ex: <http://example.org/> SEL\t?somebody { ?some\tex:bo\t1815 };\n")
    one.expect("http://example.org/a\n")
    one.expect_prompt("sparql> ")
    one.type("SELECT ?x { ?x <http://example.org/na\t\"Bob\" };\n")
    one.expect("http://example.org/b\n")
    one.expect_prompt("sparql> ")
    one.type("SELECT ?x { ?x rd\t\t")
    one.expect("rdf:  rdfs:")
    one.type("\x03")
    one.expect_prompt("sparql> ")
    one.type(".sq\t\n")
    one.expect_prompt()
    one.type("\x04")
    assert one.finish() == 0


def test_completion_of_arguments(bus, terminal, tmp_path):
    bus.update("CREATE TABLE longname (a)")
    (tmp_path / "script.sql").write_text("SELECT 'from' || 'file';")
    one = terminal()
    one.type(f".read {tmp_path}/scr\t\n")
    one.expect("fromfile\n")
    one.expect_prompt()
    one.type(".schema lon\t\n")
    one.expect("CREATE TABLE longname (a);\n")
    one.expect_prompt()
    one.type(".mode li\t\n.mode\n")
    one.expect("line\n")
    one.expect_prompt()
    one.type("\x04")
    assert one.finish() == 0


def make_editor(bus, command):
    path = os.path.join(bus.folder, "editor")
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(f"#!/bin/sh\n{command}\n")
    os.chmod(path, 0o755)
    return {"VISUAL": path, "EDITOR": "false"}


def test_edit_a_statement(bus, terminal):
    one = terminal(env=make_editor(bus, 'case "$1" in *.sql) sed -i "s/before/after/" "$1";; esac'))
    one.type("SELECT 'before' || '!' AS a;\n")
    one.expect("before!\n")
    one.expect_prompt()
    one.type("\\e\n")
    one.expect("after!\n")
    one.expect_prompt()
    one.type("SELECT 'before'\n")
    one.expect_prompt("...> ")
    one.type(".edit\n")
    one.expect("SELECT 'after'\n")
    one.expect_prompt("...> ")
    one.type("|| '?' AS b;\n")
    one.expect("after?\n")
    one.expect_prompt()
    one.type("\x04")
    assert one.finish() == 0


def test_an_editor_that_fails(bus, terminal):
    one = terminal(env=make_editor(bus, "exit 3"))
    one.type("\\e\n")
    one.expect("queryctl: the editor: Child process exited with code 3\n")
    one.expect_prompt()
    one.type("\x04")
    assert one.finish() == 0


def test_start_file(bus, terminal):
    folder = os.path.join(bus.env["XDG_CONFIG_HOME"], "queryd")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "queryctlrc")
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(".mode jsonl\n.nosuch\nSELECT 'st' || 'art' AS a;\n")
    one = terminal()
    assert b'{"a":"start"}' in one.seen and b"queryctlrc' has a line that fails" in one.seen
    one.type("SELECT 1 AS b;\n")
    one.expect('{"b":1}\n')
    one.expect_prompt()
    one.type("\x04")
    assert one.finish() == 0
    without = terminal("--no-rc")
    assert b"start" not in without.seen
    without.type("\x04")
    assert without.finish() == 0
    assert bus.run(bus.queryctl, "shell", input="SELECT 2 AS c;\n").stdout == "c\n2\n"


# --- input that is no text -----------------------------------------------------------------------------------------------

@pytest.mark.parametrize("script", ["INSERT INTO t VALUES (1);\n{}INSERT INTO t VALUES (3);\n",
                                    "INSERT INTO t VALUES (1);\n.ls{}\n"])
def test_a_line_with_a_nul_ends_the_script(bus, shell, script):
    """What followed the NUL was dropped without a word, with 0."""
    bus.update("CREATE TABLE t (a)")
    said = shell(script.format("INSERT INTO t VALUES (2);\0INSERT INTO t VALUES (4);\n"), code=1)
    assert said.endswith("queryctl: standard input is not a text: it has a NUL\n")
    assert bus.query("SELECT a FROM t") == [(1,)]


@pytest.mark.parametrize("flags, said", [(os.O_RDONLY | os.O_DIRECTORY, "Is a directory"), (os.O_WRONLY, "Bad file descriptor")])
def test_input_that_cannot_be_read(bus, flags, said):
    fd = os.open("/" if flags & os.O_DIRECTORY else "/dev/null", flags)
    done = bus.run(bus.queryctl, "shell", stdin=fd, input=None)
    os.close(fd)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"queryctl: cannot read standard input: {said}\n")


def test_a_start_file_with_a_nul_is_not_run(bus, terminal):
    folder = os.path.join(bus.folder, "home/.config/queryd")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "queryctlrc"), "wb") as stream:
        stream.write(b"CREATE TABLE t (a);\n\0CREATE TABLE u (a);\n")
    assert b"queryctlrc' is not a text: it has a NUL" in terminal().seen
    assert bus.query("SELECT name FROM sqlite_schema WHERE name IN ('t', 'u')") == []
