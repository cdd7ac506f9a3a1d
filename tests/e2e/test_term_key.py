# SPDX-License-Identifier: LGPL-2.1-or-later
"""The key of the hash of terms: no statement of a client shows it, and nothing loses it."""
import os
import sqlite3
import struct

import pytest

from harness import BUILD, MANAGER, ROOT, BusError, memory_file, options

TURTLE = b"<http://e/s> <http://e/p> 'a text' , <http://e/o> , 7 . <http://e/o> <http://e/q> _:b ."
KEY = "queryd_term_key"
NAMES = ("rowid", "oid", "_rowid_", "tag", "*", f"{KEY}.rowid", f"{KEY}.*", "max(rowid)", "count(*)", "count(rowid)",
         "total(oid)",
         "group_concat(rowid)", "json_group_array(rowid)", "row_number() OVER (ORDER BY rowid)", "typeof(rowid)", "1", "NULL")
SOURCES = (f"{KEY}", f"main.{KEY}", f'"{KEY.upper()}"', f"{KEY} INDEXED BY {KEY}_tag", f"{KEY} NOT INDEXED",
           f"u FULL JOIN {KEY} USING (tag)", f"{KEY} FULL JOIN u USING (tag)", f"u RIGHT JOIN {KEY} USING (tag)",
           f"u NATURAL FULL JOIN {KEY}", f"{KEY} NATURAL FULL JOIN {KEY} b", f"u JOIN {KEY} USING (tag)", f"{KEY}, u",
           f"u LEFT JOIN {KEY}",
           f"(SELECT * FROM {KEY}) AS {KEY}", f"(SELECT rowid, * FROM u NATURAL FULL JOIN {KEY}) AS {KEY}",
           f"(SELECT 1 AS rowid) FULL JOIN {KEY} USING (rowid)", f"(SELECT 1 AS oid) NATURAL FULL JOIN {KEY}",
           f"(SELECT tag FROM u FULL JOIN {KEY} USING (tag)) AS {KEY}")
READS = [f"SELECT {name} FROM {source}" for name in NAMES for source in SOURCES] + [
    f"WITH c AS (SELECT rowid AS r FROM {KEY}) SELECT r FROM c", f"SELECT (SELECT rowid FROM {KEY})", f"SELECT 1 IN {KEY}",
    f"SELECT 1 WHERE EXISTS (SELECT 1 FROM {KEY} WHERE rowid > 0)", f"SELECT 1 FROM u WHERE (SELECT rowid FROM {KEY}) > u.tag",
    f"WITH RECURSIVE c(r) AS (SELECT 0 UNION ALL SELECT rowid FROM {KEY}, c LIMIT 9) SELECT * FROM c",
    f"SELECT tag FROM u UNION SELECT rowid FROM {KEY}", f"VALUES ((SELECT max(rowid) FROM {KEY}))",
    "SELECT * FROM sqlite_schema", f"SELECT * FROM pragma_table_xinfo('{KEY}')", "SELECT * FROM sqlite_stat1",
    f"SELECT * FROM dbstat WHERE name LIKE '{KEY}%'", f"SELECT * FROM pragma_integrity_check('{KEY}')",
    f"SELECT * FROM {KEY}('x')",
    "PRAGMA foreign_key_check", "SELECT * FROM v1", "SELECT * FROM v2", "SELECT * FROM v3", "SELECT rowid, * FROM f5",
    "SELECT * FROM f5 WHERE f5 MATCH '0 OR 1'", "SELECT docid, * FROM f4", "SELECT * FROM f5_data", "SELECT * FROM f4_content",
    "SELECT rowid, * FROM c1", "SELECT rowid, * FROM c2", "SELECT rowid, * FROM c3", "SELECT rowid, * FROM c4",
    "SELECT rowid, * FROM seen",
    f"EXPLAIN SELECT rowid FROM {KEY}", f"EXPLAIN QUERY PLAN SELECT rowid FROM {KEY}", "SELECT * FROM queryd_meta",
    "SELECT value FROM u FULL JOIN queryd_meta USING (value)"]
WRITES = [f"CREATE VIEW v1 AS SELECT rowid, tag FROM {KEY}", f"CREATE VIEW v2 AS SELECT tag FROM u FULL JOIN {KEY} USING (tag)",
          f"CREATE VIEW v3(a) AS SELECT max(oid) FROM {KEY}", f"CREATE VIRTUAL TABLE f5 USING fts5(tag, content='{KEY}')",
          f"CREATE VIRTUAL TABLE f4 USING fts4(tag, content='{KEY}')", "INSERT INTO f5(f5) VALUES ('rebuild')",
          "INSERT INTO f4(f4) VALUES ('rebuild')", "INSERT INTO f5(f5) VALUES ('integrity-check')",
          "CREATE TABLE c1 (tag INTEGER NOT NULL)", f"INSERT INTO c1 SELECT * FROM {KEY}",
          "CREATE TABLE c2 (tag INTEGER NOT NULL)", "CREATE INDEX c2i ON c2 (tag)", f"INSERT INTO c2 SELECT * FROM {KEY}",
          f"INSERT OR IGNORE INTO c2 SELECT * FROM {KEY}", "CREATE TABLE c3 (tag INTEGER PRIMARY KEY)",
          f"INSERT INTO c3 SELECT * FROM {KEY}", f"INSERT INTO c3 SELECT rowid FROM {KEY}",
          f"CREATE TABLE c4 AS SELECT oid FROM {KEY}",
          f"INSERT INTO u VALUES (3) RETURNING (SELECT rowid FROM {KEY})", f"UPDATE u SET tag = k.rowid FROM {KEY} k",
          f"DELETE FROM u WHERE tag IN (SELECT rowid FROM {KEY})", f"UPDATE {KEY} SET tag = 1 RETURNING rowid",
          f"DELETE FROM {KEY} RETURNING rowid", f"INSERT INTO {KEY}(rowid) VALUES (1)",
          f"REPLACE INTO {KEY}(rowid, tag) SELECT rowid, 1 FROM u",
          "CREATE TABLE seen (a, b)",
          f"CREATE TRIGGER g AFTER UPDATE ON {KEY} BEGIN INSERT INTO seen VALUES (old.rowid, new.rowid); END",
          f"CREATE TRIGGER h AFTER INSERT ON u BEGIN INSERT INTO seen SELECT rowid, 1 FROM {KEY}; END",
          "INSERT INTO u VALUES (4)",
          f"CREATE TABLE d (x REFERENCES {KEY}(rowid))", f"CREATE TABLE e (x REFERENCES {KEY})", "INSERT INTO e VALUES (1)",
          f"CREATE INDEX ki ON {KEY}(tag)", f"ALTER TABLE {KEY} ADD COLUMN a GENERATED ALWAYS AS (rowid)", f"DROP TABLE {KEY}",
          f"ALTER TABLE {KEY} RENAME TO k", f"ANALYZE {KEY}", "ANALYZE", f"REINDEX {KEY}", "ATTACH 'queryd.db' AS again",
          "ATTACH 'file:queryd.db?mode=ro' AS again", "VACUUM INTO 'copy.db'", "DROP TRIGGER h"]


@pytest.fixture(name="store")
def make_store(bus):
    bus.update("CREATE TABLE u (tag)")
    bus.update("INSERT INTO u VALUES (1), (2)")
    with memory_file(TURTLE) as fd:
        assert bus.import_fd(fd, "turtle")["State"] == "finished"
    return bus


def read_key(path):
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    rows = connection.execute(f"SELECT rowid FROM {KEY} ORDER BY tag & 1").fetchall()
    connection.close()
    return [row[0] for row in rows]


def assert_found_again(store):
    """The same terms are found by their keys, and not stored again."""
    (before,) = store.query("SELECT count(*), max(id) FROM queryd_term")
    with memory_file(TURTLE.replace(b"_:b", b"'a text'")) as fd:
        assert store.import_fd(fd, "turtle")["State"] == "finished"
    assert store.query("SELECT count(*), max(id) FROM queryd_term") == [before]


def forms_of(halves):
    """All that would show it: numbers, and bytes and digits in either order."""
    for half in halves:
        data = struct.pack(">q", half)
        yield from (str(half).encode(), repr(float(half)).encode(), data, data[::-1], data.hex().encode())
        yield data.hex().upper().encode()


def attempt(store, function, text):
    try:
        return function(text)
    except BusError as error:
        return f"{error.name} {error}"


def show(value):
    if isinstance(value, (list, tuple)):
        return b" ".join(show(item) for item in value)
    return bytes(value) if isinstance(value, (bytes, bytearray)) else str(value).encode()


def test_no_statement_shows_it(store):
    halves = read_key(os.path.join(store.store, "queryd.db"))
    assert len(halves) == 2
    secret = list(forms_of(halves))
    refused = 0
    for text in WRITES:
        answer = show(attempt(store, store.update, text))
        assert not [form for form in secret if form in answer], text
    assert store.check()[0]
    for text in READS:
        for function in (store.query, store.explain, lambda t: store.query_text(t, "json")):
            answer = show(attempt(store, function, text))
            refused += b"AccessDenied reading 'queryd_term_key'" in answer or b"reading 'queryd_term_key' is not allowed" in answer
            assert not [form for form in secret if form in answer], text
    assert refused > len(READS)
    for table in ("v1", "v2", "f5", "f4", KEY):
        with memory_file() as fd:
            attempt(store, lambda name, fd=fd: store.export(f"SELECT * FROM {name}", "csv", fd), table)
            assert not [form for form in secret if form in os.pread(fd, 1 << 20, 0)], table
    assert read_key(os.path.join(store.store, "queryd.db")) == halves
    assert_found_again(store)


def test_vacuum_keeps_it(store):
    halves = read_key(os.path.join(store.store, "queryd.db"))
    store.update("VACUUM")
    assert_found_again(store)
    store.stop_daemon()
    connection = sqlite3.connect(os.path.join(store.store, "queryd.db"))
    connection.execute("VACUUM")
    connection.execute(f"VACUUM INTO '{store.folder}/copy.db'")
    connection.close()
    assert read_key(os.path.join(store.store, "queryd.db")) == read_key(f"{store.folder}/copy.db") == halves
    assert_found_again(store)


def test_backup_restore_and_salvage_keep_it(store):
    halves = read_key(os.path.join(store.store, "queryd.db"))
    with memory_file() as fd:
        assert store.backup(fd)["State"] == "finished"
        os.lseek(fd, 0, os.SEEK_SET)
        path = store.start_job("Restore", "(ha{sv})", 0, options({}), fds=[fd], interface=MANAGER)
        assert store.finish_job(path)["State"] == "finished"
    assert_found_again(store)
    store.stop_daemon()
    assert store.run(os.path.join(BUILD, "daemon/queryd"), "--salvage", "--directory", store.store).returncode == 0
    assert read_key(os.path.join(store.store, "queryd.db")) == halves
    assert_found_again(store)


@pytest.mark.parametrize("version", [2, 4, 5, 6, 7])
@pytest.mark.parametrize("way", ["restore", "salvage"])
def test_older_stores(bus, version, way):
    """Its row of queryd_meta goes, and its terms are found."""
    with open(os.path.join(ROOT, f"tests/data/old-stores/version-{version}.db"), "rb") as stream:
        data = stream.read()
    if way == "restore":
        with memory_file(data) as fd:
            path = bus.start_job("Restore", "(ha{sv})", 0, options({}), fds=[fd], interface=MANAGER)
            assert bus.finish_job(path)["State"] == "finished"
    else:
        bus.stop_daemon()
        os.makedirs(bus.store, exist_ok=True)
        with open(os.path.join(bus.store, "queryd.db"), "wb") as stream:
            stream.write(data)
        assert bus.run(os.path.join(BUILD, "daemon/queryd"), "--salvage", "--directory", bus.store).returncode == 0
    assert bus.query("SELECT count(*) FROM queryd_quad") == [(8,)]
    assert bus.query("SELECT key FROM queryd_meta WHERE key = 'term_secret'") == []
    assert len(bus.query("SELECT * { GRAPH ?g { ?s ?p 'in a graph' } }", language="sparql")) == 1
    assert len(read_key(os.path.join(bus.store, "queryd.db"))) == 2
