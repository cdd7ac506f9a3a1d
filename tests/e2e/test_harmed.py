# SPDX-License-Identifier: LGPL-2.1-or-later
"""The guard against statements that look like others, and stores whose internal tables another program has changed."""
import os
import sqlite3

import pytest
from gi.repository import GLib

from harness import BUILD, BusError, wait_until
from test_full_text import set_full_text
from test_interface import call_for_error
from wire_client import RemoteError

TURTLE = b"<http://e/s> <http://e/p> 'a text' , <http://e/o> , 7 . <http://e/o> <http://e/q> _:b ."
ALL = "SELECT * { ?s ?p ?o }"

OBJECTS = {"table": ["queryd_meta", "queryd_term", "queryd_term_hash", "queryd_quad", "queryd_graph", "queryd_predicate",
                     "queryd_prefix", "queryd_payload", "queryd_fulltext", "queryd_term_key", "queryd_column"],
           "index": ["queryd_quad_posg", "queryd_quad_ospg", "queryd_quad_gspo", "queryd_payload_file", "queryd_term_key_tag"],
           "view": ["queryd_fts_content"]}
DROPS = [f"DROP {kind} {name}" for kind, names in OBJECTS.items() for name in names]
RENAMES = [f"ALTER TABLE {name} RENAME TO other" for name in OBJECTS["table"]] + [
    "ALTER TABLE queryd_term RENAME COLUMN lexical TO words", "ALTER TABLE queryd_term DROP COLUMN num",
    "ALTER TABLE queryd_prefix ADD COLUMN more"]
LOSSES = ["DELETE FROM queryd_meta", "DELETE FROM queryd_term_key", "UPDATE queryd_term_key SET rowid=rowid/2",
          "UPDATE queryd_meta SET value='x'",
          "UPDATE queryd_meta SET value=NULL WHERE key='bnode_serial'", "DELETE FROM queryd_term", "DELETE FROM queryd_term_hash",
          "DELETE FROM queryd_predicate", "UPDATE queryd_meta SET value=0 WHERE key='term_sequence'"]
# what a look at a few rows does not find: nothing may crash, and no answer may be wrong without an error
RUBBISH = ["DELETE FROM queryd_quad", "DELETE FROM queryd_graph", "DELETE FROM queryd_prefix", "DELETE FROM queryd_payload",
           "DELETE FROM queryd_fulltext", "DELETE FROM queryd_term WHERE id=(SELECT max(id) FROM queryd_term)",
           "UPDATE queryd_term SET lexical=x'ff00fe'", "UPDATE queryd_term SET datatype='x'",
           "UPDATE queryd_predicate SET n_quads=-1, tags=-1", "UPDATE queryd_graph SET n_quads='x'",
           "UPDATE queryd_term_hash SET h=0", "UPDATE OR REPLACE queryd_prefix SET iri=x'00'",
           "INSERT INTO queryd_quad VALUES(9223372036854775807, -9223372036854775808, 3, 5)",
           "INSERT INTO queryd_quad VALUES('x', 'y', 'z', 'g')", "INSERT INTO queryd_fulltext VALUES(0)",
           "INSERT INTO queryd_payload VALUES(1, -5, x'00', 7, 'x', 3)"]


@pytest.fixture(name="store")
def make_store(bus):
    bus.update("CREATE TABLE t (a INTEGER PRIMARY KEY, b)")
    bus.update("INSERT INTO t VALUES (1, 'one'), (2, 'two')")
    path = os.path.join(bus.folder, "data.ttl")
    with open(path, "wb") as stream:
        stream.write(TURTLE)
    with open(path, "rb") as stream:
        assert bus.import_fd(stream.fileno(), "turtle")["State"] == "finished"
    return bus


def harm(bus, sql):
    bus.stop_daemon()
    connection = sqlite3.connect(os.path.join(bus.store, "queryd.db"))
    connection.executescript(sql)
    connection.close()


def salvage(bus):
    return bus.run(os.path.join(BUILD, "daemon/queryd"), "--salvage", "--directory", bus.store)


def try_query(bus, text):
    try:
        return bus.query(text)
    except BusError as error:
        assert error.name in ("Corrupt", "Recovering")
        return None


@pytest.mark.parametrize("text", ["/*/ VACUUM */ INSERT INTO t VALUES (3, 'x')", "-- VACUUM\nINSERT INTO t VALUES (3, 'x')"])
def test_a_text_like_vacuum_switches_nothing_off(store, text):
    harm(store, "CREATE TRIGGER g AFTER INSERT ON t BEGIN DELETE FROM queryd_meta; END")
    with pytest.raises(BusError, match="reserved") as error:
        store.update(text)
    assert error.value.name == "AccessDenied"
    assert store.query("SELECT count(*) FROM t") == [(2,)]
    store.update("DROP TRIGGER g")
    store.update(text)
    store.stop_daemon()
    assert store.query("SELECT count(*) FROM t") == [(3,)]


@pytest.mark.parametrize("text", ["VACUUM", "/**/ vacuum", ";; VACUUM main;", "-- INSERT\nVACUUM"])
def test_vacuum(store, text):
    store.update("CREATE VIEW v AS SELECT * FROM t")
    store.update("CREATE TABLE n (a PRIMARY KEY, b AS (upper(a)) STORED, CHECK (queryd_payload(a) IS NULL)) WITHOUT ROWID")
    store.update("CREATE INDEX ni ON n (lower(a)) WHERE b > ''")
    store.update("CREATE VIRTUAL TABLE f USING fts5(x)")
    store.update("INSERT INTO f VALUES ('some words')")
    store.update("INSERT INTO n VALUES ('x')")
    store.update("DELETE FROM t WHERE a = 1")
    store.update(text)
    assert store.query("SELECT * FROM t, n, f, v") == [(2, "two", "x", "X", "some words", 2, "two")]
    assert store.check() == (True, [])


def test_vacuum_into_and_among_others(store):
    with pytest.raises(BusError, match="VACUUM INTO is not allowed"):
        store.update(f"VACUUM INTO '{store.folder}/copy'")
    with pytest.raises(BusError, match="statement 2 of the batch: VACUUM has to be the only statement"):
        store.batch([("INSERT INTO t VALUES (3, 'x')", ()), ("VACUUM", ())])
    assert store.query("SELECT count(*) FROM t") == [(2,)]
    with store.prepare("INSERT INTO t VALUES (?, 'x')", access="write") as channel:
        serials = [channel.send_fetch((i,)) for i in range(10, 14)]
        for serial in serials:
            list(channel.answer(serial))
        channel.prepare("VACUUM", access="write")
        channel.fetch()
    assert store.query("SELECT count(*) FROM t") == [(6,)]


@pytest.mark.parametrize("text", [
    "ALTER TABLE t RENAME TO queryd_t", "ALTER TABLE t RENAME TO \"QueryD_Meta2\"", "ALTER TABLE f RENAME TO queryd",
    "ALTER TABLE f RENAME TO queryd_f", "ALTER TABLE queryd_meta RENAME TO m", "ALTER TABLE queryd_meta RENAME COLUMN value TO v",
    "CREATE VIRTUAL TABLE queryd USING fts5(x)", "CREATE VIRTUAL TABLE queryd USING rtree(a, b, c)",
    "CREATE VIEW queryd_v AS SELECT 1",
    "CREATE INDEX queryd_i ON t (b)", "CREATE TRIGGER queryd_g AFTER INSERT ON t BEGIN SELECT 1; END", "CREATE TABLE queryd_t (a)"])
def test_reserved_names(store, text):
    store.update("CREATE VIRTUAL TABLE f USING fts5(x)")
    before = store.query("SELECT type, name, sql FROM sqlite_schema ORDER BY 1, 2")
    for call in (lambda: store.update(text), lambda: store.batch([("INSERT INTO t VALUES (9, 9)", ()), (text, ())])):
        with pytest.raises(BusError, match="reserved") as error:
            call()
        assert error.value.name == "AccessDenied"
    with store.prepare("SELECT 1") as channel:
        list(channel.answer(channel.send("B")))
        with pytest.raises(RemoteError, match="reserved"):
            channel.prepare(text, access="write")
            channel.fetch()
        list(channel.answer(channel.send("M")))
    assert store.query("SELECT type, name, sql FROM sqlite_schema ORDER BY 1, 2") == before
    assert store.query("SELECT count(*) FROM t") == [(2,)]
    store.update("ALTER TABLE t RENAME TO u")
    store.update("ALTER TABLE u RENAME COLUMN b TO queryd_b")
    assert store.query("SELECT queryd_b FROM u WHERE a = 1") == [("one",)]


@pytest.mark.parametrize("text", [
    "CREATE TABLE k (a, b, c, d, FOREIGN KEY (a, b, c, d) REFERENCES queryd_quad (s, p, o, g) ON DELETE CASCADE)",
    "CREATE TABLE k (a REFERENCES \"QueryD_Quad\" (x))", "CREATE TABLE k (a REFERENCES queryd_of_no_one)",
    "CREATE TABLE k (a REFERENCES queryd_payload (hash))", "CREATE TABLE k (a, b, FOREIGN KEY (a, b) REFERENCES queryd_payload)",
    "ALTER TABLE t ADD COLUMN k REFERENCES [queryd_meta] (key)"])
def test_foreign_keys_to_reserved_names(store, text):
    with pytest.raises(BusError, match="foreign key.*reserved") as error:
        store.update(text)
    assert error.value.name == "AccessDenied"
    store.update("CREATE TABLE p (a REFERENCES queryd_payload, b REFERENCES \"Queryd_Payload\" (ID))")
    store.update("CREATE TABLE k (a INTEGER REFERENCES t, b DEFAULT 'REFERENCES queryd_quad')")
    store.update("INSERT INTO k VALUES (1, 2)")
    store.update("DELETE DATA { <urn:x> <urn:y> <urn:z> }", language="sparql")
    assert store.query("SELECT name FROM pragma_table_info('t')") == [("a",), ("b",)]


def test_a_trigger_that_a_file_brings_along_has_no_rights(store):
    """A foreign key of another program's: our own statement sets its trigger off, by which queryd_meta was emptied."""
    store.update("INSERT DATA { <urn:x> <urn:y> <urn:z> }", language="sparql")
    harm(store, "CREATE TABLE k (s, p, o, g, FOREIGN KEY (s, p, o, g) REFERENCES queryd_quad ON DELETE CASCADE);"
                "INSERT INTO k SELECT * FROM queryd_quad;"
                "CREATE TRIGGER tr AFTER DELETE ON k BEGIN DELETE FROM queryd_meta; END")
    with pytest.raises(BusError):
        store.update("DELETE DATA { <urn:x> <urn:y> <urn:z> }", language="sparql")
    assert store.query("ASK { <urn:x> <urn:y> <urn:z> }", language="sparql")
    store.update("DROP TABLE k")
    store.update("DELETE DATA { <urn:x> <urn:y> <urn:z> }", language="sparql")
    store.stop_daemon()
    assert store.query("SELECT count(*) FROM t") == [(2,)]


@pytest.mark.parametrize("sql", DROPS + RENAMES + LOSSES)
def test_harmed_internal_table(store, sql):
    before = sorted(store.query(ALL, language="sparql"), key=str)
    harm(store, sql)
    for _ in range(2):
        with pytest.raises(BusError) as error:
            store.query("SELECT 1")
        assert error.value.name == "Corrupt"
        assert "another program has changed internal tables of queryd: " in error.value.message
        assert "queryctl restore FILE" in error.value.message
        assert f"queryd --salvage --directory '{store.store}'" in error.value.message
    assert not [name for name in os.listdir(store.store) if "corrupt-" in name]
    done = salvage(store)
    assert done.returncode == 0, done.stderr
    assert "The old file: " in done.stdout and "The report: " in done.stdout
    # the daemon that has refused it opens it again when it is asked, a second later
    assert wait_until(lambda: try_query(store, "SELECT a, b FROM t ORDER BY a"), "the store") == [(1, "one"), (2, "two")]
    after = sorted(store.query(ALL, language="sparql"), key=str)
    print(sql, len(before), len(after))
    assert set(map(str, after)) <= set(map(str, before))
    store.update("INSERT DATA { <http://e/new> <http://e/p> 'new' }", language="sparql")
    assert len(store.query(ALL, language="sparql")) == len(after) + 1
    assert store.check() == (True, [])


@pytest.mark.parametrize("table", ["queryd_term_key", "queryd_meta"])
def test_a_damaged_page_is_no_other_program(store, table):
    """Nothing was salvaged, and the daemon said that another program had changed internal tables."""
    before = sorted(store.query(ALL, language="sparql"), key=str)
    size = store.query("PRAGMA page_size")[0][0]
    root = store.query("SELECT rootpage FROM sqlite_schema WHERE name=?", [table])[0][0]
    store.stop_daemon()
    with open(os.path.join(store.store, "queryd.db"), "r+b") as file:
        file.seek(root * size - 20)
        file.write(bytes(20))
    assert wait_until(lambda: try_query(store, "SELECT a, b FROM t ORDER BY a"), "the store") == [(1, "one"), (2, "two")]
    assert sorted(store.query(ALL, language="sparql"), key=str) == before
    assert [name for name in os.listdir(store.store) if "corrupt-" in name]
    assert store.check() == (True, [])


@pytest.mark.parametrize("sql", RUBBISH)
def test_rubbish_in_internal_tables(store, sql):
    harm(store, sql)
    for text in (ALL, "SELECT * { <http://e/s> <http://e/p> ?o }", "SELECT (count(*) AS ?n) { ?s ?p ?o } GROUP BY ?g",
                 "ASK { GRAPH ?g { ?s ?p ?o } }", "CONSTRUCT { ?s ?p ?o } { ?s <http://e/p>/<http://e/q>* ?o }",
                 "SELECT * { ?s ?p ?o FILTER(?o = 'a text' || ?o > 3) } ORDER BY ?o"):
        try:
            store.query(text, language="sparql")
        except BusError as error:
            assert error.name != "NoReply"
    for text in ("INSERT DATA { <http://e/n> <http://e/p> 'n', 5, _:x }", "DELETE WHERE { ?s <http://e/p> ?o }", "CLEAR ALL"):
        try:
            store.update(text, language="sparql")
        except BusError as error:
            assert error.name != "NoReply"
    try:
        store.query("SELECT queryd_payload(1)")
    except BusError as error:
        assert error.name in ("Corrupt", "Recovering")
    assert store.exits() in ([0], [0, 0]), "the daemon has crashed"
    assert wait_until(lambda: try_query(store, "SELECT count(*) FROM t"), "the store") == [(2,)]


def test_tables_that_are_named_as_sqlites(store):
    """What the daemon asks SQLite by table functions, it does not ask a client's tables of the same names."""
    for name in ("json_each", "pragma_table_list", "pragma_table_info", "pragma_table_xinfo", "pragma_index_list",
                 "pragma_index_info", "pragma_index_xinfo", "pragma_foreign_key_list", "pragma_function_list"):
        store.update(f"CREATE TABLE {name} (name, value, type, flags)")
    store.update("CREATE TABLE keyed (k PRIMARY KEY, v INT UNIQUE) WITHOUT ROWID")
    store.update("INSERT INTO keyed VALUES ('one', 1)")
    store.update("CREATE TABLE child (p REFERENCES keyed)")
    store.stop_daemon()  # a new process asks again which functions are volatile
    with store.prepare("SELECT random()") as channel:
        assert not channel.info["stable"]
    _, (_, details) = call_for_error(store, "Update", "(ssa{sv}a{sv})", (
        "sql", "INSERT INTO child VALUES ('two')", {}, {"error_details": GLib.Variant("b", True)}))
    assert ("table", "child") in details and ("column", "p") in details
    with pytest.raises(BusError, match="reserved"):
        store.update("CREATE TABLE k (a REFERENCES queryd_quad (x))")
    set_full_text(store, all=True)
    store.update("INSERT DATA { <http://e/new> <http://e/p> 'found words' }", language="sparql")
    set_full_text(store, check=True)
    store.stop_daemon()
    assert salvage(store).returncode == 0
    assert store.query("SELECT * FROM keyed") == [("one", 1)]
    with pytest.raises(BusError, match="FOREIGN KEY"):
        store.update("INSERT INTO child VALUES ('two')")
    assert store.query("SELECT name FROM pragma_table_list") == []


def test_salvage_command(store):
    done = salvage(store)
    assert done.returncode == 1 and "is in use by another queryd, process" in done.stderr
    store.stop_daemon()
    empty = os.path.join(store.folder, "empty")
    done = store.run(os.path.join(BUILD, "daemon/queryd"), "--salvage", "--directory", empty)
    assert done.returncode == 1 and "there is no database" in done.stderr and not os.path.exists(empty)
    assert salvage(store).returncode == 0
    assert len(store.query(ALL, language="sparql")) == 4


def test_restore_refuses_a_harmed_source(store):
    path = os.path.join(store.folder, "copy.db")
    with open(path, "w+b") as stream:
        assert store.backup(stream.fileno())["State"] == "finished"
    connection = sqlite3.connect(path)
    connection.executescript("PRAGMA journal_mode=DELETE; DROP INDEX queryd_quad_ospg")
    connection.close()
    done = store.run(store.queryctl, "restore", path)
    assert done.returncode != 0 and "queryd_quad_ospg is missing" in done.stderr
    assert len(store.query(ALL, language="sparql")) == 4
