# SPDX-License-Identifier: LGPL-2.1-or-later
"""Random tables, views, triggers, virtual tables and graphs; random updates: when a query's result differs, its subscriber is told.

More rounds and other seeds: QUERYD_STALE_ROUNDS and QUERYD_STALE_SEED. What is told without a difference is printed, and bounded.
"""
import os
import random
import sys

import pytest
from gi.repository import GLib

from harness import MANAGER, ROOT, BusError, memory_file
from test_subscribe import Ear, spin, subscribe

sys.path.insert(0, os.path.join(ROOT, "tests/differential"))
from generator import Generator  # noqa: E402
from syntax import to_text  # noqa: E402

N_ROUNDS = int(os.environ.get("QUERYD_STALE_ROUNDS", "60"))
SEED = os.environ.get("QUERYD_STALE_SEED", "1")

SCHEMA = [
    "CREATE TABLE marker(id INTEGER PRIMARY KEY)",
    "CREATE TABLE a(id INTEGER PRIMARY KEY, x, y)",
    "CREATE TABLE B(k PRIMARY KEY, x) WITHOUT ROWID",
    "CREATE TABLE c(id INTEGER PRIMARY KEY, a REFERENCES a(id) ON DELETE CASCADE ON UPDATE CASCADE, n DEFAULT 0)",
    "CREATE TABLE d(id INTEGER PRIMARY KEY, c REFERENCES c(id) ON DELETE SET NULL, x GENERATED ALWAYS AS (c * 2))",
    "CREATE TABLE log(what, n)",
    "CREATE TABLE \"odd one\"(\"the x\", p REFERENCES queryd_payload(id) ON DELETE CASCADE)",
    "CREATE VIEW va AS SELECT id, x FROM a WHERE x > 2",
    "CREATE VIEW vv AS SELECT va.id, count(c.id) AS n FROM va LEFT JOIN c ON c.a=va.id GROUP BY 1",
    "CREATE VIEW vu AS SELECT k, x FROM B UNION ALL SELECT id, y FROM a",
    "CREATE VIEW vr AS WITH RECURSIVE r(n) AS (SELECT min(id) FROM a UNION SELECT r.n + 1 FROM r, log WHERE r.n < 5) "
    "SELECT n FROM r",
    "CREATE VIEW vq AS SELECT subject, object FROM rdf_quad WHERE graph IS NULL",
    "CREATE TRIGGER a_log AFTER UPDATE ON a BEGIN INSERT INTO log VALUES('a', new.id); END",
    "CREATE TRIGGER b_log AFTER DELETE ON B BEGIN UPDATE log SET n = n + 1; END",
    "CREATE TRIGGER c_gone AFTER DELETE ON c BEGIN INSERT INTO log VALUES('c', old.id); END",
    "CREATE TRIGGER v_in INSTEAD OF INSERT ON va BEGIN INSERT OR REPLACE INTO B VALUES(new.id, new.x); END",
    "CREATE VIRTUAL TABLE ft USING fts5(body)",
    "CREATE VIRTUAL TABLE voc USING fts5vocab(ft, 'row')",
    "CREATE VIRTUAL TABLE ext USING fts5(x, content='a', content_rowid='id')",
    "CREATE VIRTUAL TABLE f4 USING fts4(body, content=\"vu\")",
    "CREATE VIRTUAL TABLE rt USING rtree(id, low, high)",
    "CREATE TRIGGER ft_in AFTER INSERT ON log BEGIN INSERT INTO ft VALUES(new.what || ' ' || new.n); END",
]
QUERIES = [
    "SELECT * FROM a", "SELECT count(*) FROM A", "SELECT * FROM b", "SELECT * FROM c", "SELECT * FROM d", "SELECT * FROM log",
    "SELECT * FROM va", "SELECT * FROM vv", "SELECT * FROM vu", "SELECT * FROM vr", "SELECT * FROM vq",
    "SELECT * FROM \"odd one\"", "SELECT id, size FROM queryd_payload", "SELECT queryd_payload(max(id)) FROM queryd_payload",
    "SELECT ft.rowid, log.rowid FROM ft, log WHERE ft.body=log.what || ' ' || log.n", "SELECT * FROM voc", "SELECT * FROM ext",
    "SELECT * FROM f4", "SELECT * FROM rt", "SELECT count(*) FROM ft_content", "SELECT count(*) FROM rt_rowid",
    "SELECT a.id, EXISTS (SELECT 1 FROM d WHERE d.c=a.id) FROM a", "WITH q AS (SELECT x FROM B) SELECT * FROM q, va",
    "SELECT x FROM a WHERE x IN (SELECT n FROM log) ORDER BY x LIMIT 3", "SELECT sum(id) OVER (ORDER BY id) FROM c",
    "SELECT type, name FROM sqlite_schema", "SELECT name FROM pragma_table_info('a')", "PRAGMA table_xinfo(d)",
    "SELECT predicate, count(*) FROM rdf_quad GROUP BY 1", "SELECT count(*) FROM queryd_quad", "SELECT * FROM queryd_prefix",
    "SELECT * FROM extra", "SELECT * FROM extra_v", "SELECT * FROM sqlite_sequence",
    "SELECT count(*) FROM a NATURAL JOIN c", "SELECT a.x FROM a JOIN d USING (id)", "SELECT count(*) FROM c FULL JOIN d USING (id)",
    "SELECT count(*) FROM log NATURAL JOIN extra", "WITH a AS (SELECT x FROM B) SELECT count(*) FROM a",
    "SELECT count(*) FROM va LEFT JOIN B USING (x)", "SELECT count(*) FROM rt JOIN c USING (id)",
    "SELECT typeof(queryd_to_term('http://example.org/p4/s of no number')), sum(x) FROM a",
]


class Updates:
    """Random writes; each is a callable that may fail with an error of the bus."""

    def __init__(self, bus, chance):
        self.bus, self.random = bus, chance
        self.channel = bus.prepare("INSERT INTO log VALUES (?, ?)", access="write")

    def n(self, most=6):
        return self.random.randint(1, most)

    def rows(self):
        n, m = self.n(), self.n()
        return self.random.choice([
            f"INSERT OR IGNORE INTO a VALUES({n}, {m}, {self.n()})", f"UPDATE a SET x = {m} WHERE id = {n}",
            f"DELETE FROM a WHERE id = {n}", f"UPDATE OR IGNORE a SET id = {m} WHERE id = {n}", "DELETE FROM a",
            f"REPLACE INTO a VALUES({n}, {m}, {m})", f"INSERT OR REPLACE INTO B VALUES({n}, {m})", f"DELETE FROM B WHERE k >= {n}",
            f"UPDATE B SET x = x + 1 WHERE k = {n}", f"INSERT INTO va VALUES({n}, {m})",
            f"INSERT INTO c(a) SELECT id FROM a WHERE id <= {n}", f"DELETE FROM c WHERE a = {n}",
            f"INSERT INTO d(c) SELECT id FROM c LIMIT {n}", "DELETE FROM log", f"INSERT INTO ft VALUES('word{n} and')",
            "DELETE FROM ft WHERE rowid = (SELECT min(rowid) FROM ft)", f"INSERT INTO ext(rowid, x) VALUES({n}, 'b')",
            f"INSERT OR REPLACE INTO rt VALUES({n}, {m}, {m + 1})", f"DELETE FROM rt WHERE id = {n}",
            f"INSERT INTO \"odd one\" SELECT {n}, queryd_store_payload(randomblob({n}))",
            "DELETE FROM queryd_payload WHERE id = (SELECT max(id) FROM queryd_payload)",
            "SELECT queryd_delete_payload(min(id)) FROM queryd_payload", "INSERT INTO extra VALUES(1, 2)",
            f"SELECT queryd_replace_payload(max(id), randomblob({n})) FROM queryd_payload",
            f"WITH s(v) AS (VALUES({n}), ({m})) INSERT INTO log SELECT 'w', v FROM s WHERE v NOT IN (SELECT x FROM B)",
            f"INSERT INTO a(id, x) VALUES({n}, {m}) ON CONFLICT(id) DO UPDATE SET y = coalesce(y, 0) + 1 RETURNING id",
        ])

    def schema(self):
        n = self.n()
        return self.random.choice([
            "CREATE TABLE extra(x, y)", "DROP TABLE extra", "CREATE VIEW extra_v AS SELECT * FROM extra, B",
            "DROP VIEW extra_v", "CREATE VIEW extra_v AS SELECT n FROM log", "ALTER TABLE extra RENAME TO extra_b",
            "ALTER TABLE extra_b RENAME TO extra",
            f"ALTER TABLE extra ADD COLUMN z{n} DEFAULT {n}", "ALTER TABLE extra RENAME COLUMN x TO x2",
            "CREATE TABLE extra(x INTEGER PRIMARY KEY AUTOINCREMENT, y)",
            "CREATE VIRTUAL TABLE extra USING fts5(x, y, content='log')",
            "CREATE TRIGGER more AFTER INSERT ON log BEGIN INSERT OR IGNORE INTO a VALUES(new.n, 1, 1); END", "DROP TRIGGER more",
            "CREATE INDEX extra_i ON a(x)", "DROP INDEX extra_i", "ANALYZE", "CREATE TABLE extra AS SELECT 1 AS x, 2 AS y",
            "VACUUM",
        ])

    def prepared(self):
        for _ in range(self.random.randint(1, 3)):
            self.channel.fetch(["p", self.n()])

    def batch(self):
        self.bus.batch([(self.rows(), []) for _ in range(self.random.randint(1, 4))])

    def import_rows(self):
        text = "".join(f"i,{self.n()}\n" for _ in range(self.n()))
        with memory_file(text.encode()) as fd:
            self.bus.import_fd(fd, "csv", table="log", header=False)

    def import_rdf(self):
        n = self.n()
        text = f"@prefix p{n}: <http://example.org/p{n}/> . p{n}:s p{n}:p p{n}:o .\n" if n > 3 else f"@prefix q{n}: <urn:{n}> .\n"
        with memory_file(text.encode()) as fd:
            self.bus.import_fd(fd, "turtle", **({"graph": f"urn:g{n}"} if n == 5 else {"replace": True} if n == 6 else {}))

    def payload(self):
        last = self.bus.query("SELECT max(id) FROM queryd_payload")[0][0] or 0
        if self.random.random() < 0.5:
            self.bus.call("DeletePayload", "(xa{sv})", last, {})
        else:
            with memory_file(bytes(self.n())) as fd:
                self.bus.call("ReplacePayload", "(xha{sv})", last, 0, {}, fds=[fd])

    def sql(self):
        """One random write, and what it was."""
        kind = self.random.choices(["rows", "schema", "batch", "prepared", "import_rows", "import_rdf", "payload"],
                                   [12, 5, 2, 1, 1, 1, 1])[0]
        if kind not in ("rows", "schema"):
            return kind, getattr(self, kind)
        text = getattr(self, kind)()
        return text, lambda: self.bus.update(text)


class Watched:
    """Queries with their subscriptions and last results; an error is a result too."""

    def __init__(self, bus, language):
        self.bus, self.language, self.ear = bus, language, Ear(bus)
        self.texts, self.results = {}, {}
        self.n_told, self.n_true = 0, 0

    def result(self, text):
        try:
            if self.language == "sql":
                columns, rows, _ = self.bus.query_full(text, max_rows=100000)
                return columns, sorted(map(repr, rows))
            _, result, truncated = self.bus.query_text(text, "jsonl", self.language)
            return "too large" if truncated else sorted(result.split("\n"))
        except BusError as error:
            return str(error)

    def add(self, text):
        path = subscribe(self.bus, text, self.language)
        self.texts[path], self.results[path] = text, self.result(text)

    def check(self, what, act):
        del self.ear.heard[:]
        try:
            act()
        except BusError:
            pass
        self.ear.wait(self.bus.update("INSERT INTO marker DEFAULT VALUES")[2])
        self.bus.property("Version")
        spin(lambda: True, "a turn")
        told = {path for _, paths in self.ear.stale() for path in paths}
        for path, text in self.texts.items():
            before, self.results[path] = self.results[path], self.result(text)
            differs = before != self.results[path]
            assert path in told or not differs, f"{what}\nhas changed\n{text}\nfrom\n{before}\nto\n{self.results[path]}"[:4000]
            self.n_true += differs
        self.n_told += len(told)

    def judge(self):
        print(f"{self.n_true} results of {N_ROUNDS * len(self.texts)} were different, {self.n_told} told")
        assert self.n_true > 0 and self.n_told < N_ROUNDS * len(self.texts) / 2


@pytest.mark.deadline(120 + 2 * N_ROUNDS)
def test_sql(bus):
    for text in SCHEMA:
        bus.update(text)
    updates = Updates(bus, random.Random(f"{SEED}/sql"))
    bus.update("CREATE TABLE extra(x, y)")
    bus.update("CREATE VIEW extra_v AS SELECT * FROM extra")
    bus.update("CREATE TABLE counted(id INTEGER PRIMARY KEY AUTOINCREMENT)")
    watched = Watched(bus, "sql")
    for text in QUERIES:
        watched.add(text)
    for _ in range(N_ROUNDS):
        watched.check(*updates.sql())
    updates.channel.close()
    watched.judge()


@pytest.mark.deadline(120 + 2 * N_ROUNDS)
def test_sparql(bus):
    """Requests of the differential tests' generator: paths, negation, GRAPH, FROM, management of graphs."""
    generator = Generator(random.Random(f"{SEED}/sparql"))
    bus.update("CREATE TABLE marker(id INTEGER PRIMARY KEY)")
    bus.call("SetFullText", "(a{sv})", {"all": GLib.Variant("b", True)}, interface=MANAGER)
    watched = Watched(bus, "sparql")
    generator.data()
    while len(watched.texts) < 40:
        text = to_text(generator.query())
        if not any(name in text for name in ("RAND", "NOW", "UUID", "BNODE", "SAMPLE", "LIMIT", "GROUP_CONCAT")):
            watched.add(text)
    for text in ("DESCRIBE ?s { ?s ?p 1 }", "SELECT ?g { GRAPH ?g {} }", "ASK { GRAPH ?g { FILTER NOT EXISTS { ?s ?p ?o } } }",
                 "SELECT * { ?s <http://queryd.org/fts#match> \"a\" }"):
        watched.add(text)
    for _ in range(N_ROUNDS):
        text = to_text(generator.update())
        watched.check(text, lambda text=text: bus.update(text, language="sparql"))
    watched.judge()
