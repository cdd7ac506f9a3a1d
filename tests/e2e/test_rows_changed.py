# SPDX-License-Identifier: LGPL-2.1-or-later
"""RowsChanged: the keys of the rows that commits have changed, for subscriptions that ask for them. Never too few."""
import random

import pytest
from gi.repository import Gio

from harness import NAME, PATH, BusError, memory_file, options
from test_subscribe import spin

SEED = 20261123


@pytest.fixture(autouse=True)
def quiet(bus):
    bus.update("CREATE TABLE quiet (a)")


class Rows:
    """What the subscription of @text hears."""

    def __init__(self, bus, text, **opts):
        self.bus, self.signals, self.generation, self.told, self.path = bus, [], 0, 0, ""
        for signal in ("RowsChanged", "Stale", "Changed"):
            bus.connection.signal_subscribe(NAME, NAME, signal, PATH, None, Gio.DBusSignalFlags.NONE, self.on_signal)
        self.path = bus.call("Subscribe", "(ssa{sv})", "sql", text, options({"keys": True, **opts}))[0].unpack()[0]
        quiet = bus.update("UPDATE quiet SET a = 1")[2]  # signals of what was before are merged with the next one
        spin(lambda: self.told >= quiet, "the Changed")

    def on_signal(self, _connection, _sender, _path, _interface, signal, arguments):
        generation, what, *_ = arguments.unpack()
        if signal == "Changed":
            self.told = generation
            return
        if signal == "Stale":
            self.generation = max(self.generation, generation if self.path in what else 0)
            return
        assert self.generation < generation, "RowsChanged comes before its Stale"
        self.signals += [(generation, tables) for path, tables in what if path == self.path]

    def after(self, *statements):
        """{table: {key: word}, or None for all} of what these statements report, and the columns."""
        del self.signals[:]
        for text in statements:
            generation = self.bus.update(text)[2]
        spin(lambda: self.generation >= generation, "the Stale")
        found = {}
        for _, tables in self.signals:
            for name, is_all, columns, in_result, rows in tables:
                self.columns, self.in_result = columns, in_result
                before = found.get(name, {})
                words = {tuple(key): word for word, key in rows}
                for key, word in words.items():  # two signals, where the daemon would have made one of both changes
                    words[key] = "insert" if word == "update" and (before or {}).get(key) == "insert" else word
                found[name] = None if is_all or before is None else {**before, **words}
        return found


def test_words_and_keys(bus):
    bus.update("CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT UNIQUE)")
    rows = Rows(bus, "SELECT id, a FROM t WHERE a > ?")
    assert rows.after("INSERT INTO t VALUES (7, 'x'), (8, 'y')") == {"t": {(7,): "insert", (8,): "insert"}}
    assert (rows.columns, rows.in_result) == (["id"], ["id"])
    assert rows.after("UPDATE t SET a = 'z' WHERE id = 7") == {"t": {(7,): "update"}}
    assert rows.after("UPDATE t SET id = 9 WHERE id = 7") == {"t": {(7,): "delete", (9,): "insert"}}
    assert rows.after("UPDATE t SET a = 'q' WHERE id = 1000") == {"t": {}}
    # REPLACE removes a row of another key, unheard by the update hook; so does DELETE without WHERE
    assert rows.after("INSERT OR REPLACE INTO t VALUES (10, 'y')") == {"t": {(8,): "delete", (10,): "insert"}}
    assert rows.after("INSERT OR REPLACE INTO t VALUES (10, 'k')") == {"t": {(10,): "update"}}
    assert rows.after("DELETE FROM t") == {"t": {(9,): "delete", (10,): "delete"}}


def test_keys_of_tables(bus):
    bus.update("CREATE TABLE pair (a TEXT, b INTEGER, c, PRIMARY KEY (b, a)) WITHOUT ROWID")
    bus.update("CREATE TABLE text_key (c, name TEXT PRIMARY KEY)")
    bus.update("CREATE TABLE no_key (c)")
    bus.update("CREATE TABLE generated (id INTEGER PRIMARY KEY, c, d AS (c + 1))")
    bus.update("CREATE VIRTUAL TABLE words USING fts5(c)")
    pair, text, none = (Rows(bus, f"SELECT * FROM {table}") for table in ("pair", "text_key", "no_key"))
    assert pair.after("INSERT INTO pair VALUES ('x', 1, 0)") == {"pair": {(1, "x"): "insert"}}
    assert (pair.columns, pair.in_result) == (["b", "a"], ["b", "a"])
    assert pair.after("UPDATE pair SET c = 5") == {"pair": {(1, "x"): "update"}}
    assert pair.after("UPDATE pair SET a = 'y'") == {"pair": {(1, "x"): "delete", (1, "y"): "insert"}}
    assert pair.after("INSERT INTO pair SELECT 'z' || b, 2, c FROM pair") == {"pair": {(2, "z1"): "insert"}}
    assert pair.after("DELETE FROM pair") == {"pair": {(1, "y"): "delete", (2, "z1"): "delete"}}
    assert text.after("INSERT INTO text_key VALUES (1, 'é')", "UPDATE text_key SET c = 2") == {"text_key": {("é",): "insert"}}
    assert none.after("INSERT INTO no_key VALUES (1)") == {"no_key": {(1,): "insert"}}
    assert (none.columns, none.in_result) == (["rowid"], [])
    assert Rows(bus, "SELECT * FROM generated").after("INSERT INTO generated (c) VALUES (1)") == {"generated": None}
    assert Rows(bus, "SELECT * FROM words").after("INSERT INTO words VALUES ('one')")["words"] is None


def test_whose_rows_a_result_has(bus):
    bus.update("CREATE TABLE t (id INTEGER PRIMARY KEY, a, b)")
    bus.update("CREATE INDEX t_a ON t (a)")
    bus.update("CREATE TABLE u (id INTEGER PRIMARY KEY)")
    bus.update("CREATE VIEW v AS SELECT id AS number, a FROM t WHERE b IS NULL")
    one = {"SELECT id, a FROM t": ["id"], "SELECT a, id AS k FROM t WHERE a = 5 AND b LIKE ?": ["k"],
           "SELECT * FROM v": ["number"], "SELECT id FROM t ORDER BY a": ["id"], "SELECT rowid, a + 1 FROM t": ["id"],
           "SELECT upper(b), id FROM t WHERE a BETWEEN 1 AND ?": ["id"]}
    many = ["SELECT a FROM t", "SELECT count(*), id FROM t", "SELECT t.id FROM t, t AS o", "SELECT t.id FROM t JOIN u USING (id)",
            "SELECT DISTINCT t.id, a FROM t, u", "SELECT id, a FROM t LIMIT 5", "SELECT id, row_number() OVER () FROM t",
            "SELECT id, (SELECT max(a) FROM t) FROM t", "SELECT id FROM t UNION ALL SELECT id FROM t",
            "SELECT max(id), a FROM t", "SELECT id FROM t WHERE a IN (SELECT a FROM t WHERE b = 1)", "SELECT id FROM t GROUP BY a",
            "SELECT a.id FROM t AS a, t AS b WHERE b.a = a.id",
            "SELECT id FROM t WHERE EXISTS (SELECT 1 FROM t AS x WHERE x.a > t.a)"]
    subscribed = [(text, Rows(bus, text), columns) for text, columns in [*one.items(), *((text, []) for text in many)]]
    generation = bus.update("INSERT INTO t VALUES (1, 5, NULL)")[2]
    for text, rows, columns in subscribed:
        spin(lambda: rows.generation >= generation, "the Stale")
        assert {t[0]: t[3] for t in rows.signals[-1][1]} == {"t": columns}, text


def test_as_a_whole(bus):
    """More keys than a signal names, keys that are too long, other ways to write, another schema."""
    bus.update("CREATE TABLE t (id TEXT PRIMARY KEY, a)")
    bus.update("CREATE TABLE o (a)")
    rows = Rows(bus, "SELECT * FROM t")
    series = "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) INSERT INTO t SELECT 'r' || i, i FROM n"
    assert len(rows.after(series.format(900))["t"]) == 900
    assert rows.after("DELETE FROM t", series.format(1001)) == {"t": None}
    assert rows.after("INSERT INTO t VALUES (printf('%2000s', 'x'), 1)") == {"t": None}
    with memory_file(b"id,a\nimported,1\n") as fd:
        assert bus.import_fd(fd, "csv", table="t")["State"] == "finished"
    assert rows.after("UPDATE t SET a = 1 WHERE id = 'imported'")["t"] in (None, {("imported",): "update"})
    assert rows.after("ALTER TABLE o ADD COLUMN b", "ALTER TABLE t ADD COLUMN b") == {"*": None}
    assert rows.after("INSERT INTO t VALUES ('again', 1, 2)") == {"t": {("again",): "insert"}}
    assert rows.in_result == ["id"]
    rows = Rows(bus, "SELECT name FROM sqlite_schema")
    assert rows.after("INSERT INTO o VALUES (1, 2)") == {"*": None}


def test_what_others_cause(bus):
    """Triggers, cascades, and what an update took back."""
    bus.update("CREATE TABLE album (id INTEGER PRIMARY KEY, n DEFAULT 0)")
    bus.update("CREATE TABLE song (id INTEGER PRIMARY KEY, album REFERENCES album ON DELETE CASCADE)")
    bus.update("CREATE TRIGGER g AFTER INSERT ON song BEGIN UPDATE album SET n = n + 1 WHERE id = new.album; END")
    bus.update("INSERT INTO album (id) VALUES (1), (2)")
    rows = Rows(bus, "SELECT * FROM album LEFT JOIN song ON song.album = album.id")
    assert rows.after("INSERT INTO song VALUES (5, 1), (6, 1)") == {"song": {(5,): "insert", (6,): "insert"},
                                                                    "album": {(1,): "update"}}
    assert rows.after("DELETE FROM album WHERE id = 1") == {"song": {(5,): "delete", (6,): "delete"}, "album": {(1,): "delete"}}
    with pytest.raises(BusError):
        bus.update("INSERT INTO album (id) VALUES (3), (2)")
    assert rows.after("UPDATE album SET n = 9 WHERE id = 2") == {"album": {(2,): "update"}}


def test_who_hears(bus):
    bus.update("CREATE TABLE t (id INTEGER PRIMARY KEY)")
    with pytest.raises(BusError) as caught:
        bus.call("Subscribe", "(ssa{sv})", "sparql", "SELECT * { ?s ?p ?o }", options({"keys": True}))
    assert caught.value.name == "Unsupported"
    plain = Rows(bus, "SELECT * FROM t", keys=False)
    assert plain.after("INSERT INTO t VALUES (1)") == {}
    other = Rows(bus.caller(), "SELECT * FROM t")
    assert other.after("INSERT INTO t VALUES (2)") == {"t": {(2,): "insert"}}
    assert plain.signals == []
    other.bus.call("Close", interface=NAME + ".Subscription", path=other.path)
    assert Rows(bus, "SELECT * FROM t").after("INSERT INTO t VALUES (3)") == {"t": {(3,): "insert"}}


def changes(before, after):
    return {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}


@pytest.mark.parametrize("key", ["id INTEGER PRIMARY KEY, a, b UNIQUE", "a, id TEXT PRIMARY KEY, b UNIQUE",
                                 "b UNIQUE, id PRIMARY KEY, a", "id PRIMARY KEY, a, b UNIQUE"])
@pytest.mark.parametrize("rowid", ["", " WITHOUT ROWID"])
def test_random(bus, key, rowid):
    """Each row that differs is named, by an update of any kind."""
    chance = random.Random(SEED + len(key) + len(rowid))
    bus.update(f"CREATE TABLE t ({key}){rowid}")
    rows, before = Rows(bus, "SELECT id, a, b FROM t"), {}
    for _ in range(40):
        n = [chance.randint(1, 12) for _ in range(4)]
        text = chance.choice([
            f"INSERT OR REPLACE INTO t (id, a, b) VALUES ({n[0]}, {n[1]}, {n[2]})",
            f"INSERT OR IGNORE INTO t (id, a, b) VALUES ({n[0]}, 0, {n[2]}), ({n[1]}, 1, {n[3]})",
            f"UPDATE OR REPLACE t SET id = id + {n[0]}, a = a + 1 WHERE id > {n[1]}",
            f"UPDATE OR REPLACE t SET b = {n[0]} WHERE id >= {n[1]}",
            f"UPDATE t SET a = {n[0]} WHERE b < {n[1]}",
            f"DELETE FROM t WHERE a < {n[0]}",
            f"INSERT INTO t (id, a, b) VALUES ({n[0]}, 1, {n[1]}) ON CONFLICT (id) DO UPDATE SET a = a + 1",
            "DELETE FROM t",
            "INSERT OR REPLACE INTO t (id, a, b) SELECT id + 1, a, b + 20 FROM t",
        ])
        try:
            found = rows.after(text)["t"]
        except BusError:
            continue
        after = {(row[0],): row[1:] for row in bus.query("SELECT id, a, b FROM t")}
        assert changes(before, after) <= set(found), text
        gone = {key for key, word in found.items() if word == "delete"}
        assert not gone & after.keys() and {key for key, word in found.items() if word != "delete"} <= after.keys(), text
        before = after
