# SPDX-License-Identifier: LGPL-2.1-or-later
"""Applications in sandboxes: each has a store of its own, and elsewhere what [Access] grants.

Each door has a case that tries to go through without a grant. What happens when a grant is taken back, and what an application
hears of changes, is in test_access_changes.py.
"""
import contextlib
import os

import pytest

from harness import MANAGER, NAME, BusError, memory_file, options, wait_until
from sandboxes import (APPLICATION, GRAPHS, INFO, OTHER, OWN, add_quads, grants, make_world, needs_sandbox, refused,  # noqa: F401
                       sparql)

pytestmark = needs_sandbox


# --- who it is ---------------------------------------------------------------------------------------------------------------

def test_nothing_is_granted_by_default(make_world):
    world, sandboxes = make_world()
    world.update("CREATE TABLE t(a)")
    caller = sandboxes.caller()
    message = refused(caller, "query", "SELECT 1")
    assert f"application '{APPLICATION}'" in message and f"'app.{APPLICATION}'" in message and "'default'" in message
    refused(caller, "update", "INSERT INTO t VALUES(1)")
    refused(caller, "prepare", "SELECT 1")
    refused(caller, "query", "SELECT * { ?s ?p ?o }", language="sparql")
    assert world.query("SELECT count(*) FROM t") == [(0,)]


def test_everything_in_the_own_store(make_world):
    world, sandboxes = make_world()
    caller = sandboxes.caller()
    own = lambda *a, **k: caller.call(*a, destination=OWN, **k)  # noqa: E731
    own("Update", "(ssa{sv}a{sv})", "sql", "CREATE TABLE t(a)", {}, {})
    own("Update", "(ssa{sv}a{sv})", "sql", "INSERT INTO t VALUES(7)", {}, {})
    rows = own("Query", "(ssa{sv}a{sv})", "sql", "SELECT a FROM t", {}, {})[0].unpack()[1]
    assert rows == [[7]]
    assert own("GetStats", interface=MANAGER)[0].unpack()[0]["version"]
    assert os.path.exists(os.path.join(world.store, "stores", f"app.{APPLICATION}", "queryd.db"))
    # a file that was made by hand is not for the SQLite outside
    with memory_file() as fd, pytest.raises(BusError) as failure:
        own("Restore", "(ha{sv})", 0, {}, interface=MANAGER, fds=[fd])
    assert failure.value.name == "AccessDenied"
    # another application has nothing to do there, and the user everything
    other = sandboxes.caller(OTHER)
    with pytest.raises(BusError) as failure:
        other.call("Query", "(ssa{sv}a{sv})", "sql", "SELECT a FROM t", {}, {}, destination=OWN)
    assert failure.value.name == "AccessDenied"
    assert world.call("Query", "(ssa{sv}a{sv})", "sql", "SELECT a FROM t", {}, {}, destination=OWN)[0].unpack()[1] == [[7]]


@pytest.mark.parametrize("info", [
    "", "[Application]\n", "[Application]\nname=\n", "[Application]\nname=music\n", "[Application]\nname=org.example.Music/../x\n",
    "[Runtime]\nname=org.freedesktop.Platform\n", "no key file", "[Application]\nname=org.example.Music\n" + "# x\n" * 20000,
    "[Application]\nname=org.example.M\xfcsic\n",
])
def test_a_sandbox_that_names_no_application_may_do_nothing(make_world, info):
    _, sandboxes = make_world(grants("read=*\nwrite=*"))
    message = refused(sandboxes.caller(info=info), "query", "SELECT 1")
    assert "cannot be found out" in message and "/.flatpak-info" in message


def test_a_sandbox_without_the_file_is_a_program_of_the_user(make_world):
    world, sandboxes = make_world()
    process = sandboxes.world.run(*sandboxes.command(None, "queryctl", "sql", "SELECT 1"))
    assert process.returncode == 0, process.stderr


def test_an_application_has_its_grants_and_no_other_has_them(make_world):
    world, sandboxes = make_world(grants("read=table:albums"))
    world.update("CREATE TABLE albums(a)")
    assert sandboxes.caller().query("SELECT count(*) FROM albums") == [(0,)]
    refused(sandboxes.caller(OTHER), "query", "SELECT count(*) FROM albums")
    assert world.query("SELECT count(*) FROM albums") == [(0,)]


def test_grants_of_another_store_count_for_nothing_here(make_world):
    _, sandboxes = make_world(f"\n[Access {APPLICATION} music]\nread=*\nwrite=*\n")
    refused(sandboxes.caller(), "query", "SELECT 1")


def test_the_whole_store(make_world):
    world, sandboxes = make_world(grants("read=*"))
    world.update("CREATE TABLE t(a)")
    add_quads(world)
    caller = sandboxes.caller()
    assert caller.query("SELECT count(*) FROM sqlite_schema WHERE name='t'") == [(1,)]
    assert len(sparql(caller, "SELECT ?g { GRAPH ?g { ?s ?p ?o } }")) == 2
    assert caller.explain("SELECT * FROM t")[0]
    refused(caller, "update", "INSERT INTO t VALUES(1)", words="may not write")
    refused(caller, "stats")
    refused(caller, "update", "DELETE WHERE { ?s ?p ?o }", language="sparql")


def test_a_store_that_may_be_written(make_world):
    world, sandboxes = make_world(grants("write=*"))
    caller = sandboxes.caller()
    caller.update("CREATE TABLE t(a)")
    caller.update("INSERT INTO t VALUES(1)")
    caller.update("INSERT DATA { <urn:a> <urn:b> 1 }", language="sparql")
    assert world.query("SELECT * FROM t") == [(1,)]
    for method in ("stats", "queries"):
        refused(caller, method)
    refused(caller, "check")


def test_what_is_read_again_holds_for_those_that_are_there(make_world):
    world, sandboxes = make_world(grants("read=table:t"))
    world.update("CREATE TABLE t(a)")
    caller = sandboxes.caller()
    with caller.prepare("SELECT count(*) FROM t") as channel:
        assert channel.fetch() == [(0,)]
        world.write_config({}, grants("read=table:other"))
        world.call("Reload", interface=MANAGER)
        with pytest.raises(Exception, match="AccessDenied|may not read"):
            channel.fetch()
    refused(caller, "query", "SELECT count(*) FROM t", words="table 't'")
    world.write_config({}, grants("read=table:t"))
    world.call("Reload", interface=MANAGER)
    assert caller.query("SELECT count(*) FROM t") == [(0,)]


@pytest.mark.parametrize("mistake", ["read=albums", "read=table:albums;graph:no iri", "raed=table:albums", "read=table:queryd_quad",
                                     "write=table:sqlite_schema", "read=", "read=*;table:albums"])
def test_a_mistake_grants_nothing(make_world, mistake):
    world, sandboxes = make_world(grants(f"write=table:plays\n{mistake}"))
    world.update("CREATE TABLE plays(a)")
    caller = sandboxes.caller()
    refused(caller, "query", "SELECT count(*) FROM plays")
    with open(os.path.join(world.folder, "log"), encoding="utf-8", errors="replace") as stream:
        log = stream.read()
    with open(os.path.join(world.folder, "home/.config/queryd/queryd.conf"), encoding="utf-8") as stream:
        line = stream.read().splitlines().index(mistake) + 1
    assert f"queryd.conf:{line}: [Access {APPLICATION}] {mistake.split('=', maxsplit=1)[0]}: " in log
    assert "the group grants nothing" in log


# --- SQL ---------------------------------------------------------------------------------------------------------------------

SCHEMA = """
CREATE TABLE albums(id INTEGER PRIMARY KEY, title TEXT, x INT); CREATE TABLE plays(id INTEGER PRIMARY KEY AUTOINCREMENT, title);
CREATE TABLE secret(id INTEGER PRIMARY KEY, title TEXT, x INT); CREATE INDEX secret_x ON secret(x);
CREATE TABLE copied(id INTEGER PRIMARY KEY, title TEXT, x INT); CREATE TABLE twin(id INTEGER PRIMARY KEY, title TEXT, x INT);
CREATE VIEW all_titles AS SELECT title FROM albums UNION ALL SELECT title FROM secret;
CREATE VIEW album_titles AS SELECT title FROM albums;
CREATE TABLE triggered(a);
CREATE TRIGGER copy AFTER INSERT ON triggered BEGIN INSERT INTO albums(title) SELECT title FROM secret; END;
CREATE TABLE quiet(a); CREATE TRIGGER note AFTER INSERT ON quiet BEGIN INSERT INTO secret(title) VALUES('by a trigger'); END;
CREATE TABLE parent(id INTEGER PRIMARY KEY); CREATE TABLE child(id REFERENCES parent);
CREATE TABLE owner(id INTEGER PRIMARY KEY); CREATE TABLE owned(id REFERENCES owner ON DELETE CASCADE);
CREATE VIRTUAL TABLE notes USING fts5(body); CREATE VIRTUAL TABLE hidden USING fts5(title);
"""
SQL_GRANTS = grants("read=table:ALBUMS;table:all_titles;table:album_titles;table:notes;table:notes_data;table:notes_idx;"
                    "table:notes_content;table:notes_docsize;table:notes_config\n"
                    "write=table:plays;table:copied;table:triggered;table:quiet;table:child;table:owner")


@pytest.fixture
def sql(make_world):
    world, sandboxes = make_world(SQL_GRANTS)
    for statement in [s for s in SCHEMA.replace("; END", "\x00 END").split(";") if s.strip()]:
        world.update(statement.replace("\x00", ";"))
    world.update("INSERT INTO albums VALUES(1, 'public', 5), (2, 'open', 6)")
    world.update("INSERT INTO secret VALUES(1, 'hidden title', 5)")
    world.update("INSERT INTO parent VALUES(1)")
    world.update("INSERT INTO notes VALUES('a note')")
    world.update("INSERT INTO hidden VALUES('hidden title')")
    world.update("INSERT INTO owner VALUES(1)")
    world.update("INSERT INTO owned VALUES(1)")
    world.update("INSERT INTO quiet SELECT 1 WHERE 0")
    return world, sandboxes.caller()


@pytest.mark.parametrize("text,rows", [
    ("SELECT title FROM albums ORDER BY id", [("public",), ("open",)]),
    ("SELECT count(*) FROM Albums", [(2,)]),
    ("SELECT title FROM album_titles ORDER BY title", [("open",), ("public",)]),
    ("WITH a AS (SELECT 1) SELECT count(*) FROM a", [(1,)]),
    ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<5) SELECT count(*) FROM n", [(5,)]),
    ("SELECT count(*) FROM albums, json_each('[1,2]')", [(4,)]),
    ("SELECT value FROM json_each('[3]')", [(3,)]),
    ("SELECT 1 AS full", [(1,)]),
    ("SELECT count(*) FROM albums AS a FULL JOIN albums AS b USING(id)", [(2,)]),
    ("SELECT body FROM notes WHERE notes MATCH 'note'", [("a note",)]),
    ("PRAGMA table_info(albums)", None),
    ("SELECT upper(title) FROM albums WHERE title LIKE 'p%'", [("PUBLIC",)]),
])
def test_sql_that_is_granted(sql, text, rows):
    result = sql[1].query(text)
    assert rows is None and result or result == rows


@pytest.mark.parametrize("text", [
    "SELECT title FROM secret",
    "SELECT count(*) FROM secret",
    "SELECT count(*) FROM secret WHERE x=5",
    "SELECT EXISTS(SELECT 1 FROM main.secret)",
    "SELECT title FROM \"SECRET\"",
    "SELECT (SELECT title FROM secret LIMIT 1) FROM albums",
    "SELECT id FROM albums FULL JOIN secret USING(id)",
    "SELECT x FROM albums NATURAL FULL JOIN secret",
    "SELECT x FROM albums LEFT JOIN secret USING(x)",
    "WITH s AS (SELECT title FROM secret) SELECT count(*) FROM s",
    "WITH albums AS (SELECT * FROM secret) SELECT * FROM albums",
    "SELECT title FROM all_titles",
    "SELECT count(*) FROM all_titles",
    "SELECT * FROM albums WHERE id IN secret",
    "SELECT * FROM albums WHERE id IN (SELECT id FROM secret)",
    "SELECT * FROM secret INDEXED BY secret_x WHERE x=5",
    "SELECT title FROM hidden",
    "SELECT count(*) FROM hidden",
    "SELECT rowid FROM hidden WHERE hidden MATCH 'hidden'",
    "SELECT title FROM albums FULL JOIN hidden USING(title)",
    "SELECT albums.id FROM albums JOIN hidden USING(title)",
    "SELECT albums.id FROM albums NATURAL JOIN hidden",
    "SELECT id FROM albums WHERE title IN hidden",
    "SELECT albums.id FROM albums JOIN secret USING(id)",
    "SELECT count(*) FROM albums FULL JOIN secret USING(id), pragma_data_version",
    "SELECT * FROM hidden_content",
    "SELECT sql FROM sqlite_schema",
    "SELECT count(*) FROM sqlite_master",
    "SELECT rootpage FROM sqlite_schema WHERE name='secret'",
    "SELECT * FROM sqlite_sequence",
    "SELECT * FROM pragma_table_info('secret')",
    "SELECT count(*) FROM pragma_table_list",
    "SELECT * FROM dbstat",
    "PRAGMA table_info(secret)",
    "PRAGMA table_list",
    "PRAGMA index_list(secret)",
    "PRAGMA index_info(secret_x)",
    "PRAGMA integrity_check",
    "PRAGMA page_count",
    "PRAGMA foreign_key_check",
    "EXPLAIN SELECT * FROM albums",
    "EXPLAIN QUERY PLAN SELECT * FROM albums",
    "SELECT * FROM queryd_quad",
    "SELECT count(*) FROM queryd_quad",
    "SELECT count(*) FROM queryd_graph",
    "SELECT count(*) FROM queryd_term",
    "SELECT * FROM rdf_quad",
    "SELECT count(*) FROM rdf_quad",
    "SELECT count(*) FROM queryd_payload",
    "SELECT queryd_payload(1)",
    "SELECT queryd_to_term(1)",
    "SELECT length(queryd_to_term(id)) FROM albums",
])
def test_sql_that_is_not(sql, text):
    world, caller = sql
    message = refused(caller, "query", text)
    assert f"'{APPLICATION}'" in message and "hidden title" not in message
    # neither is there another way to the same statement
    refused(caller, "prepare", text)
    refused(caller, "query_text", text, "json")
    refused(caller, "call", "Subscribe", "(ssa{sv})", "sql", text, {})
    with memory_file() as fd:
        refused(caller, "export", text, "csv", fd)
        assert os.fstat(fd).st_size == 0
    # nor in what another client has had compiled
    with contextlib.suppress(BusError):
        world.query_full(text)
    refused(caller, "query", text)


@pytest.mark.parametrize("text", [
    "INSERT INTO plays(title) SELECT title FROM albums",
    "INSERT INTO copied SELECT * FROM albums",
    "UPDATE copied SET title='new' WHERE id=1",
    "DELETE FROM copied",
    "INSERT INTO plays(title) VALUES('x') RETURNING id",
])
def test_sql_that_writes_where_it_may(sql, text):
    sql[1].update(text)


@pytest.mark.parametrize("text", [
    "INSERT INTO copied SELECT * FROM secret",
    "INSERT INTO copied(title) SELECT title FROM secret",
    "INSERT INTO copied SELECT * FROM twin",
    "INSERT INTO secret VALUES(9, 'x', 1)",
    "INSERT INTO albums VALUES(9, 'x', 1)",
    "UPDATE secret SET title='x'",
    "UPDATE copied SET title=(SELECT title FROM secret)",
    "UPDATE copied SET title=secret.title FROM secret",
    "DELETE FROM secret",
    "DELETE FROM albums",
    "DELETE FROM copied WHERE id IN (SELECT id FROM secret)",
    "INSERT INTO plays(title) VALUES('x') RETURNING (SELECT title FROM secret)",
    "INSERT INTO copied(id) VALUES(1) ON CONFLICT(id) DO UPDATE SET title=(SELECT title FROM secret)",
    "INSERT INTO triggered VALUES(1)",
    "INSERT INTO quiet VALUES(1)",
    "INSERT INTO child VALUES(1)",
    "DELETE FROM owner",
    "CREATE TABLE mine(a)",
    "CREATE VIEW mine AS SELECT * FROM secret",
    "CREATE TRIGGER mine AFTER INSERT ON copied BEGIN SELECT 1; END",
    "CREATE INDEX mine ON copied(title)",
    "CREATE VIRTUAL TABLE mine USING fts5(a, content='secret')",
    "CREATE TEMP TABLE mine(a)",
    "ALTER TABLE copied RENAME TO other",
    "ALTER TABLE copied ADD COLUMN more",
    "DROP TABLE copied",
    "DROP TABLE secret",
    "ANALYZE",
    "ANALYZE copied",
    "REINDEX",
    "VACUUM",
    "VACUUM INTO 'x'",
    "ATTACH 'x' AS y",
    "PRAGMA user_version=1",
    "PRAGMA writable_schema=ON",
    "DELETE FROM sqlite_sequence",
    "UPDATE sqlite_sequence SET seq=9",
    "INSERT INTO queryd_meta VALUES('a', 'b')",
    "DELETE FROM queryd_payload",
    "INSERT INTO plays(title) VALUES(queryd_store_payload('x'))",
    "INSERT INTO hidden VALUES('x')",
    "INSERT INTO notes VALUES('x')",
])
def test_sql_that_writes_where_it_may_not(sql, text):
    world, caller = sql
    before = world.query_text("SELECT (SELECT group_concat(title) FROM secret), (SELECT count(*) FROM albums), "
                              "(SELECT count(*) FROM sqlite_schema), (SELECT count(*) FROM copied)", "csv")
    message = refused(caller, "update", text)
    assert "hidden title" not in message
    refused(caller, "batch", [("INSERT INTO plays(title) VALUES('before')", ()), (text, ())])
    with pytest.raises(Exception, match="AccessDenied|may not|not allowed"):
        caller.prepare(text, access="write").close()
    with caller.prepare("INSERT INTO plays(title) VALUES('by the channel')", access="write") as channel:
        channel.fetch()
    assert before == world.query_text("SELECT (SELECT group_concat(title) FROM secret), (SELECT count(*) FROM albums), "
                                      "(SELECT count(*) FROM sqlite_schema), (SELECT count(*) FROM copied)", "csv")
    assert world.query("SELECT count(*) FROM plays WHERE title='before'") == [(0,)]


# --- SPARQL ------------------------------------------------------------------------------------------------------------------

SPARQL_GRANTS = grants(f"read=graph:{GRAPHS}music;graph:{GRAPHS}none\nwrite=graph:{GRAPHS}plays")


@pytest.fixture
def rdf(make_world):
    world, sandboxes = make_world(SPARQL_GRANTS)
    add_quads(world)
    return world, sandboxes.caller()


@pytest.mark.parametrize("text,rows", [
    ("SELECT ?o { ?s ?p ?o }", []),
    ("SELECT (count(*) AS ?n) { ?s ?p ?o }", [("0",)]),
    ("SELECT ?o { GRAPH ?g { ?s ?p ?o } }", [("music",)]),
    ("SELECT (count(*) AS ?n) { GRAPH ?g { ?s ?p ?o } }", [("1",)]),
    ("SELECT (count(DISTINCT ?s) AS ?n) { GRAPH ?g { ?s <urn:p> ?o } }", [("1",)]),
    ("SELECT ?p (count(*) AS ?n) { GRAPH ?g { ?s ?p ?o } } GROUP BY ?p", [("urn:p", "1")]),
    ("SELECT (min(?o) AS ?n) { GRAPH ?g { ?s <urn:p> ?o } }", [("music",)]),
    (f"SELECT ?g {{ GRAPH ?g {{}} FILTER(?g != <{GRAPHS}none> && ?g != <{GRAPHS}plays>) }}", [(f"{GRAPHS}music",)]),
    (f"SELECT ?o {{ GRAPH <{GRAPHS}mail> {{ ?s ?p ?o }} }}", []),
    (f"SELECT ?o {{ GRAPH <{GRAPHS}music> {{ ?s ?p ?o }} }}", [("music",)]),
    (f"SELECT ?o FROM <{GRAPHS}music> {{ ?s ?p ?o }}", [("music",)]),
    (f"SELECT ?o FROM NAMED <{GRAPHS}music> {{ GRAPH ?g {{ ?s ?p ?o }} }}", [("music",)]),
    ("SELECT ?s { GRAPH ?g { ?s <urn:p>+ ?o } }", [("urn:m",)]),
    ("SELECT ?o { GRAPH ?g { <urn:s> <urn:p>* ?o } }", None),
    ("SELECT ?o { GRAPH ?g { ?s !<urn:x> ?o } }", [("music",)]),
    ("SELECT ?x { BIND(1 AS ?x) FILTER EXISTS { GRAPH ?g { <urn:s> ?p ?o } } }", []),
    ("SELECT ?o { GRAPH ?g { ?s ?p ?o MINUS { <urn:s> ?p ?o } } }", [("music",)]),
    ("SELECT ?o { { SELECT ?o { GRAPH ?g { ?s ?p ?o } } } }", [("music",)]),
    (f"SELECT ?o {{ VALUES ?g {{ <{GRAPHS}mail> <{GRAPHS}music> }} GRAPH ?g {{ ?s ?p ?o }} }}", [("music",)]),
])
def test_sparql_reads_its_graphs(rdf, text, rows):
    _, caller = rdf
    result = sparql(caller, text)
    assert "secret" not in str(result) and "default" not in str(result)
    assert rows is None or [tuple(v.split("'")[1] if v.startswith("(") else v for v in row) for row in result] == rows


def test_sparql_plans_are_not_shared(rdf):
    world, caller = rdf
    for _ in range(3):
        for text in (f"SELECT ?o {{ GRAPH <{GRAPHS}mail> {{ ?s ?p ?o }} }}",
                     f"SELECT ?o {{ GRAPH <{GRAPHS}music> {{ ?s ?p ?o }} }}",
                     "SELECT ?o { ?s ?p ?o }", "SELECT (count(*) AS ?n) { GRAPH ?g { ?s <urn:p> ?o } }"):
            assert "default" in str(sparql(world, text)) + "default"
            assert "secret" not in str(sparql(caller, text)) and "default" not in str(sparql(caller, text))
    assert "secret" in str(sparql(world, f"SELECT ?o {{ GRAPH <{GRAPHS}mail> {{ ?s ?p ?o }} }}"))


def test_describe_and_construct(rdf):
    _, caller = rdf
    assert "secret" not in caller.query_text("DESCRIBE <urn:s>", "ntriples", language="sparql")[1]
    assert "default" not in caller.query_text("DESCRIBE <urn:d>", "ntriples", language="sparql")[1]
    query = "CONSTRUCT { ?s ?p ?o } { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }"
    text = caller.query_text(query, "ntriples", language="sparql")[1]
    assert "music" in text and "secret" not in text and "default" not in text


@pytest.mark.parametrize("text,opts", [
    (f"SELECT ?o FROM <{GRAPHS}mail> {{ ?s ?p ?o }}", {}),
    (f"SELECT ?o FROM NAMED <{GRAPHS}mail> {{ GRAPH ?g {{ ?s ?p ?o }} }}", {}),
    ("SELECT ?o { ?s ?p ?o }", {"dataset": f"FROM <{GRAPHS}mail>"}),
    ("SELECT ?o { ?s ?p ?o }", {"dataset": f"FROM NAMED <{GRAPHS}mail>"}),
    ("SELECT ?o { ?s ?p ?o }", {"dataset": "FROM DEFAULT"}),
    ("PREFIX fts: <http://queryd.org/fts#> SELECT ?s { ?s fts:match 'secret' }", {}),
    ("PREFIX fts: <http://queryd.org/fts#> SELECT ?s { GRAPH ?g { ?s fts:match 'music' } }", {}),
])
def test_sparql_that_is_refused(rdf, text, opts):
    refused(rdf[1], "query", text, language="sparql", **opts)
    with pytest.raises(BusError) as failure:
        rdf[1].prepare(text, language="sparql", **opts)
    assert failure.value.name == "AccessDenied"


@pytest.mark.parametrize("dataset", ["FROM ALL", "FROM ALL FROM NAMED ALL", "FROM NAMED ALL"])
def test_all_graphs_are_those_that_are_granted(rdf, dataset):
    text = "SELECT ?o { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }"
    assert set(sparql(rdf[1], text, dataset=dataset)) == set(sparql(rdf[1], f"SELECT ?o FROM <{GRAPHS}music> {{ ?s ?p ?o }}"))


@pytest.mark.parametrize("text", [
    f"INSERT DATA {{ GRAPH <{GRAPHS}plays> {{ <urn:x> <urn:p> 1 }} }}",
    f"INSERT {{ GRAPH <{GRAPHS}plays> {{ ?s <urn:q> ?o }} }} WHERE {{ GRAPH ?g {{ ?s ?p ?o }} }}",
    f"WITH <{GRAPHS}plays> DELETE {{ ?s ?p ?o }} INSERT {{ ?s ?p 2 }} WHERE {{ ?s ?p ?o }}",
    f"WITH <{GRAPHS}plays> INSERT {{ ?s ?p ?o }} USING <{GRAPHS}music> WHERE {{ ?s ?p ?o }}",
    f"DELETE WHERE {{ GRAPH <{GRAPHS}plays> {{ ?s ?p ?o }} }}",
    f"CLEAR SILENT GRAPH <{GRAPHS}plays>",
    f"COPY <{GRAPHS}music> TO <{GRAPHS}plays>",
    f"ADD <{GRAPHS}music> TO <{GRAPHS}plays>",
])
def test_sparql_writes_its_graphs(rdf, text):
    world, caller = rdf
    caller.update(text, language="sparql")
    quads = sparql(world, "SELECT ?g ?o { GRAPH ?g { ?s ?p ?o } }")
    assert all("secret" in str(row) for row in quads if f"{GRAPHS}mail" in str(row))
    assert not any("secret" in str(row) for row in quads if f"{GRAPHS}plays" in str(row))
    assert len(sparql(world, "SELECT ?o { ?s ?p ?o }")) == 1


@pytest.mark.parametrize("text", [
    "INSERT DATA { <urn:x> <urn:p> 1 }",
    f"INSERT DATA {{ GRAPH <{GRAPHS}music> {{ <urn:x> <urn:p> 1 }} }}",
    f"INSERT DATA {{ GRAPH <{GRAPHS}plays> {{ <urn:x> <urn:p> 1 }} GRAPH <{GRAPHS}mail> {{ <urn:x> <urn:p> 1 }} }}",
    "DELETE DATA { <urn:d> <urn:p> \"default\" }",
    f"DELETE DATA {{ GRAPH <{GRAPHS}mail> {{ <urn:s> <urn:p> \"secret\" }} }}",
    "DELETE WHERE { ?s ?p ?o }",
    "DELETE WHERE { GRAPH ?g { ?s ?p ?o } }",
    "DELETE { GRAPH ?g { ?s ?p ?o } } WHERE { GRAPH ?g { ?s ?p ?o } }",
    f"INSERT {{ GRAPH <{GRAPHS}mail> {{ ?s ?p ?o }} }} WHERE {{ GRAPH ?g {{ ?s ?p ?o }} }}",
    f"INSERT {{ GRAPH <{GRAPHS}plays> {{ ?s ?p ?o }} }} USING <{GRAPHS}mail> WHERE {{ ?s ?p ?o }}",
    f"INSERT {{ GRAPH <{GRAPHS}plays> {{ ?s ?p ?o }} }} USING NAMED <{GRAPHS}mail> WHERE {{ GRAPH ?g {{ ?s ?p ?o }} }}",
    f"WITH <{GRAPHS}mail> DELETE {{ ?s ?p ?o }} WHERE {{ ?s ?p ?o }}",
    f"WITH <{GRAPHS}mail> INSERT {{ GRAPH <{GRAPHS}plays> {{ ?s ?p ?o }} }} WHERE {{ ?s ?p ?o }}",
    "CLEAR ALL", "CLEAR NAMED", "CLEAR DEFAULT", "DROP ALL", "DROP NAMED", "DROP DEFAULT",
    f"CLEAR GRAPH <{GRAPHS}mail>", f"DROP GRAPH <{GRAPHS}mail>", f"DROP SILENT GRAPH <{GRAPHS}mail>", f"CREATE GRAPH <{GRAPHS}new>",
    f"COPY <{GRAPHS}mail> TO <{GRAPHS}plays>", f"MOVE <{GRAPHS}mail> TO <{GRAPHS}plays>", f"ADD <{GRAPHS}mail> TO <{GRAPHS}plays>",
    f"MOVE <{GRAPHS}music> TO <{GRAPHS}plays>", f"COPY DEFAULT TO <{GRAPHS}plays>", f"COPY <{GRAPHS}plays> TO <{GRAPHS}mail>",
    f"ADD <{GRAPHS}plays> TO DEFAULT",
    "LOAD <file:///etc/passwd>",
    f"LOAD SILENT <file:///etc/passwd> INTO GRAPH <{GRAPHS}plays>",
])
def test_sparql_writes_no_other(rdf, text):
    world, caller = rdf
    before = sparql(world, "SELECT ?g ?o { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }")
    refused(caller, "update", text, language="sparql")
    # a text of the same kind that was allowed, or of another client, opens no door
    with contextlib.suppress(BusError):
        caller.update(text.replace(f"{GRAPHS}mail", f"{GRAPHS}plays").replace("INSERT DATA", "DELETE DATA"), language="sparql")
    refused(caller, "update", text, language="sparql")
    assert before == sparql(world, f"SELECT ?g ?o {{ {{ ?s ?p ?o }} UNION {{ GRAPH ?g {{ ?s ?p ?o }} "
                                   f"FILTER(?g != <{GRAPHS}plays>) }} }}")


def test_an_update_of_the_same_words_with_another_graph(rdf):
    world, caller = rdf
    for _ in range(3):
        caller.update(f"INSERT DATA {{ GRAPH <{GRAPHS}plays> {{ <urn:x> <urn:p> 1 }} }}", language="sparql")
        refused(caller, "update", f"INSERT DATA {{ GRAPH <{GRAPHS}mails> {{ <urn:x> <urn:p> 1 }} }}", language="sparql",
                words=f"<{GRAPHS}mails>")
    with pytest.raises(BusError) as failure:
        caller.update("INSERT { GRAPH $g { <urn:x> <urn:p> 1 } } WHERE {}", {"g": (f"{GRAPHS}mail", "@id", "")}, language="sparql")
    assert failure.value.name == "AccessDenied"


def test_a_parameter_names_no_other_graph(rdf):
    _, caller = rdf
    for graph, n in (("mail", 0), ("music", 1)):
        rows = caller.query("SELECT ?o { GRAPH $g { ?s ?p ?o } }", {"$g": (GRAPHS + graph, "@id", "")}, language="sparql")
        assert len(rows) == n


def test_sql_is_no_way_to_graphs_nor_sparql_to_tables(rdf):
    world, caller = rdf
    world.update("CREATE TABLE t(a)")
    refused(caller, "query", "SELECT count(*) FROM t")
    refused(caller, "query", "SELECT count(*) FROM queryd_quad")
    assert caller.query("SELECT 1") == [(1,)]


# --- the other doors ---------------------------------------------------------------------------------------------------------

def test_other_doors(sql):
    world, caller = sql
    with memory_file(b"a,b\n1,2\n") as fd:
        for method, signature, arguments, interface in (
                ("Import", "(hsa{sv})", (0, "csv", options({"table": "copied"})), NAME),
                ("Dump", "(hsa{sv})", (0, "nquads", {}), NAME),
                ("Backup", "(ha{sv})", (0, {}), MANAGER), ("Restore", "(ha{sv})", (0, {}), MANAGER),
                ("StorePayload", "(ha{sv})", (0, {}), NAME)):
            with pytest.raises(BusError) as failure:
                caller.call(method, signature, *arguments, fds=[fd], interface=interface)
            assert failure.value.name == "AccessDenied", method
        with pytest.raises(BusError) as failure:
            caller.call("ReplacePayload", "(xha{sv})", 1, 0, {}, fds=[fd])
        assert failure.value.name == "AccessDenied"
    for method, signature, arguments, interface in (
            ("DeletePayload", "(xa{sv})", (1, {}), NAME), ("OpenPayload", "(x)", (1,), NAME),
            ("OpenPayloads", "(ax)", ([1],), NAME),
            ("Explain", "(ssa{sv})", ("sql", "SELECT 1", {}), NAME), ("Explain", "(ssa{sv})", ("sparql", "ASK {}", {}), NAME),
            ("GetStats", None, (), MANAGER), ("ListQueries", None, (), MANAGER), ("CancelQuery", "(t)", (1,), MANAGER),
            ("Check", "(a{sv})", ({},), MANAGER), ("Optimize", "(a{sv})", ({},), MANAGER),
            ("SetFullText", "(a{sv})", ({},), MANAGER), ("Reload", None, (), MANAGER)):
        with pytest.raises(BusError) as failure:
            caller.call(method, signature, *arguments, interface=interface)
        assert failure.value.name == "AccessDenied", method
    assert caller.limits()["channels"]  # they are of the configuration
    assert world.stats()["version"]


def test_a_pragma_changes_nothing_for_others(sql):
    world, caller = sql
    for text in ("PRAGMA foreign_keys=OFF", "PRAGMA/**/foreign_keys(0)", "-- a comment\nPRAGMA foreign_keys=0"):
        with contextlib.suppress(BusError):
            caller.update(text)
        with contextlib.suppress(BusError):
            caller.query(text)
        with contextlib.suppress(BusError):
            caller.batch([(text, ()), ("INSERT INTO plays(title) VALUES('x')", ())])
        with pytest.raises(BusError) as failure:
            world.update("INSERT INTO child VALUES(99)")
        assert failure.value.name == "Constraint"
        assert world.query("PRAGMA foreign_keys") == [(1,)]


def test_a_channel_has_the_same_bounds(sql):
    _, caller = sql
    with caller.prepare("SELECT count(*) FROM albums") as channel:
        assert channel.fetch() == [(2,)]
        with pytest.raises(Exception, match="may not read the table 'secret'"):
            channel.prepare("SELECT count(*) FROM secret")
            channel.fetch()


@pytest.mark.parametrize("has_file", [True, False], ids=["activated", "opened"])
def test_the_library_in_a_sandbox_has_the_own_store(make_world, has_file):
    world, sandboxes = make_world(has_file=has_file)
    proxy = sandboxes.proxy(INFO.format(APPLICATION, 5))

    def run(*words):
        environment = dict(world.env, DBUS_SESSION_BUS_ADDRESS=proxy)
        process = world.run(*sandboxes.command(INFO.format(APPLICATION, 5), "queryctl", *words), env=environment)
        return process.returncode, process.stdout, process.stderr

    assert run("update", "CREATE TABLE t(a)")[0] == 0
    assert run("update", "INSERT INTO t VALUES(42)")[0] == 0
    status, output, _ = run("sql", "--format", "csv", "SELECT a FROM t")
    assert status == 0 and "42" in output
    status, _, errors = run("--store", "default", "sql", "SELECT 1")
    assert status != 0 and f"application '{APPLICATION}'" in errors
    process = world.run(world.queryctl, "--store", f"app.{APPLICATION}", "sql", "--format", "csv", "SELECT a FROM t")
    assert "42" in process.stdout, process.stderr


def test_opening_the_own_store(make_world):
    """Without systemd the daemon starts the other one by itself. Two at once do no harm."""
    world, sandboxes = make_world(has_file=False)
    caller, twin = sandboxes.caller(), sandboxes.caller(instance=2)
    assert caller.call("OpenStore")[0].unpack() == (OWN,)
    assert twin.call("OpenStore")[0].unpack() == (OWN,)
    wait_until(lambda: caller.bus_call("NameHasOwner", "(s)", OWN)[0], "the daemon of the own store")
    assert caller.call("OpenStore")[0].unpack() == (OWN,)
    caller.call("Update", "(ssa{sv}a{sv})", "sql", "CREATE TABLE t(a)", {}, {}, destination=OWN)
    with pytest.raises(BusError) as failure:
        world.call("OpenStore")
    assert failure.value.name == "BadParameter"
    refused(sandboxes.caller(info="[Application]\nname=music\n"), "call", "OpenStore", words="cannot be found out")
    assert not os.path.exists(os.path.join(world.store, "stores", f"app.{OTHER}"))
