# SPDX-License-Identifier: LGPL-2.1-or-later
"""The result memory: what it gives is what the statement gives, whatever has changed between, and by whomsoever.

QUERYD_INTERLEAVINGS: so many updates and remembered queries in all (4,000); QUERYD_INTERLEAVINGS_SEED.
"""
import os
import random
import socket
import sqlite3
import subprocess
import threading
import time

import pytest

from harness import BUILD, BusError, wait_until
from test_stale_random import QUERIES, SCHEMA, Updates
from wire_client import RemoteError

N_INTERLEAVINGS = int(os.environ.get("QUERYD_INTERLEAVINGS", "4000"))
SEED = os.environ.get("QUERYD_INTERLEAVINGS_SEED", "1")
EVERYTHING = {"result_memory_cost_us": 0}
N_ASKED = 4  # the first is noted, the second is kept, the third is given


def stat(bus, name):
    return bus.stats()[name]


class Asked:
    """A statement that may be given from memory, and the same that never is."""

    def __init__(self, bus, text, language="sql"):
        self.text = text
        self.remembered = bus.prepare("SELECT 1", schema_details=True)
        self.fresh = bus.prepare("SELECT 1", schema_details=True)
        self.arguments = (text, language)
        self.seen = None, None
        self.prepare()

    def prepare(self):
        """A text that does not compile now may compile later."""
        self.is_prepared = False
        try:
            self.remembered.prepare(*self.arguments)
            self.fresh.prepare(*self.arguments, results="fresh")
            self.is_prepared = True
        except RemoteError:
            pass

    @staticmethod
    def fetch(channel, row=()):
        try:
            rows = channel.fetch(*([row] if row else []))
            return channel.n_columns, sorted(map(repr, rows)), channel.end.n_rows  # their order is what the plan makes it
        except RemoteError as error:
            return str(error)

    def check(self, state, row=()):
        """@state: has another value when anything may have changed."""
        if not self.is_prepared:
            self.prepare()
        if not self.is_prepared:
            return
        remembered = self.fetch(self.remembered, row)
        if self.seen[0] != (state, row):
            self.seen = (state, row), self.fetch(self.fresh, row)
        assert remembered == self.seen[1], f"stale: {self.text}\nremembered {remembered}\nit is {self.seen[1]}"[:4000]


def fill(store):
    store.update("CREATE TABLE t (id INTEGER PRIMARY KEY, x)")
    store.update("CREATE TABLE other (id INTEGER PRIMARY KEY, x)")
    store.update("WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 100) INSERT INTO t SELECT i, i FROM n")


@pytest.fixture(name="store")
def make_store(make_bus):
    store = make_bus(limits=EVERYTHING)
    fill(store)
    return store


def is_recalled(store, channel, *row):
    """Whether an execution of what is prepared is answered from memory, after it had every chance to be."""
    for _ in range(N_ASKED - 1):
        channel.fetch(*row)
    before = stat(store, "results_recalled_total")
    channel.fetch(*row)
    return stat(store, "results_recalled_total") > before


def test_what_is_remembered(store):
    with store.prepare("SELECT sum(x) FROM t") as channel:
        assert is_recalled(store, channel) and channel.fetch() == [(5050,)]
        stats = store.stats()
        assert stats["results_remembered"] == 1 and stats["result_memory_bytes"] > 0
    with store.prepare("SELECT sum(x) FROM t") as another, store.caller().prepare("SELECT sum(x) FROM t") as of_another:
        before = stat(store, "results_recalled_total")
        assert another.fetch() == of_another.fetch() == [(5050,)]
        assert stat(store, "results_recalled_total") == before + 2, "one copy for all clients"


def test_each_parameter_has_its_own(store):
    with store.prepare("SELECT sum(x) FROM t WHERE id > ?", schema_details=True) as channel:
        channel.prepare("SELECT sum(x) FROM t WHERE id > ?")
        assert is_recalled(store, channel, [50]) and is_recalled(store, channel, ["50"])
        assert [channel.fetch([n]) for n in (50, 60, 50, "x", None)] == [[(3775,)], [(3220,)], [(3775,)], [(None,)], [(None,)]]


@pytest.mark.parametrize("text, options", [
    ("SELECT random()", {}), ("SELECT count(*) FROM t WHERE id < random()", {}), ("SELECT datetime('now')", {}),
    ("SELECT changes()", {}), ("SELECT count(*) FROM sqlite_schema", {}), ("PRAGMA table_info(t)", {}),
    ("SELECT sum(x) FROM t", {"results": "fresh"}), ("SELECT sum(x) FROM t", {"access": "write"})])
def test_what_is_not_remembered(store, text, options):
    with store.prepare("SELECT 1") as channel:
        channel.prepare(text, **options)
        assert not is_recalled(store, channel)


@pytest.mark.parametrize("limits", [{"result_memory_bytes": 0}, {"result_memory_per_client_bytes": 0},
                                    {"result_memory_cost_us": 1000000000}])
def test_limits(make_bus, limits):
    store = make_bus(limits=EVERYTHING | limits)
    with store.prepare("SELECT 1") as channel:
        assert not is_recalled(store, channel)


def test_memory_is_bounded(make_bus):
    """Many results of 4 KiB: the ones used longest ago make room."""
    store = make_bus(limits=EVERYTHING | {"result_memory_bytes": 100000})
    with store.prepare("SELECT ?, hex(zeroblob(2000))") as channel:
        for n in range(40):
            assert is_recalled(store, channel, [n])
            assert stat(store, "result_memory_bytes") <= 100000
        assert 10 < stat(store, "results_remembered") < 25


@pytest.mark.parametrize("text", ["SELECT x FROM t WHERE id = 'none'", "SELECT t.id, hex(zeroblob(300)) FROM t", "SELECT 1"])
def test_pages_of_each_size(store, text):
    """An empty result, one of several pages, and one of one row; on small pages too."""
    for page_size in (4096, 65536, 131072):
        with store.prepare(text, page_size=page_size) as channel:
            first = channel.fetch()
            assert is_recalled(store, channel) and channel.fetch() == first


def test_a_result_that_is_too_large(store):
    with store.prepare("SELECT t.id, hex(zeroblob(1000)) FROM t, other") as channel:
        store.update("INSERT INTO other VALUES (1, 1), (2, 2), (3, 3)")
        assert len(channel.fetch()) == 300 and not is_recalled(store, channel) and len(channel.fetch()) == 300


LARGE = "SELECT a.id, b.id, hex(zeroblob(200)) FROM t a, t b"


def test_a_whole_result_in_shared_memory(store):
    """One file for all who map it; who does not gets rows by the socket."""
    with store.prepare(LARGE, whole_results=True) as channel, store.prepare(LARGE) as plain, \
            store.caller().prepare(LARGE, whole_results=True) as another:
        rows = plain.fetch()
        assert is_recalled(store, channel) and channel.reader.n_wholes > 0 and stat(store, "result_shared_bytes") > 4000000
        assert channel.fetch() == rows == another.fetch() and another.reader.n_wholes == 1
        assert plain.fetch() == rows and plain.reader.n_wholes == 0
        another.close()
        n_wholes = channel.reader.n_wholes
        store.update("UPDATE t SET id = 101 WHERE id = 100")
        changed = channel.fetch()
        assert changed != rows and changed == plain.fetch() and channel.reader.n_wholes == n_wholes
        assert is_recalled(store, channel) and channel.fetch() == changed
        wait_until(lambda: stat(store, "result_shared_bytes") == 0, "the rest")


def test_a_file_lives_as_long_as_its_readers(store):
    with store.prepare(LARGE, whole_results=True) as channel, store.prepare("SELECT 1", results="fresh") as fresh:
        assert is_recalled(store, channel)
        rows = channel.answer(channel.send_fetch())
        first = next(rows)
        store.update("DELETE FROM t")
        fresh.prepare(LARGE, results="fresh")
        assert fresh.fetch() == [] and len([first, *rows]) == 10000


@pytest.mark.parametrize("limits", [{"result_shared_bytes": 0}, {"result_shared_bytes": 3000000}])
def test_shared_memory_is_bounded(make_bus, limits):
    store = make_bus(limits=EVERYTHING | limits)
    text = "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT i, hex(zeroblob(200)) FROM n"
    with store.prepare(text, whole_results=True) as channel:
        for n in (2001, 2002, 2003, 20000):
            assert is_recalled(store, channel, [n]) == (limits["result_shared_bytes"] > 0 and n < 20000)
            assert stat(store, "result_shared_bytes") <= limits["result_shared_bytes"]


def test_a_change_of_another_table_does_no_harm(store):
    with store.prepare("SELECT sum(x) FROM t") as channel:
        assert is_recalled(store, channel)
        store.update("INSERT INTO other VALUES (7, 7)")
        before = stat(store, "results_recalled_total")
        channel.fetch()
        assert stat(store, "results_recalled_total") == before + 1
        store.update("UPDATE t SET x = 0 WHERE id = 1")
        assert channel.fetch() == [(5049,)]
        assert is_recalled(store, channel)


def test_a_predicate_has_its_own(store):
    store.update("INSERT DATA { <x:a> <x:p> 1 ; <x:q> 1 }", language="sparql")
    with store.prepare("SELECT (SUM(?o) AS ?n) { ?s <x:p> ?o }", language="sparql") as channel:
        first = channel.fetch()
        assert is_recalled(store, channel)
        store.update("INSERT DATA { <x:b> <x:q> 2 }", language="sparql")
        before = stat(store, "results_recalled_total")
        assert channel.fetch() == first and stat(store, "results_recalled_total") == before + 1
        store.update("INSERT DATA { <x:b> <x:p> 2 }", language="sparql")
        assert channel.fetch() != first


def test_another_program_writes(store):
    with store.prepare("SELECT sum(x) FROM t") as channel:
        assert is_recalled(store, channel)
        with sqlite3.connect(os.path.join(store.store, "queryd.db")) as database:
            database.execute("UPDATE t SET x = 0")
        assert channel.fetch() == [(0,)], "at once"
        assert is_recalled(store, channel)
        with sqlite3.connect(os.path.join(store.store, "queryd.db")) as database:
            database.execute("UPDATE t SET x = 1")
            database.commit()
            store.update("INSERT INTO other VALUES (9, 9)")
        assert channel.fetch() == [(100,)], "and where the next commit is our own"


def test_a_transaction_sees_its_own(store):
    with store.prepare("SELECT sum(x) FROM t", access="write") as writer, store.prepare("SELECT sum(x) FROM t") as reader:
        assert is_recalled(store, reader)
        list(writer.answer(writer.send("B")))
        writer.prepare("UPDATE t SET x = 0", access="write")
        writer.fetch()
        writer.prepare("SELECT sum(x) FROM t")
        assert [writer.fetch() for _ in range(4)] == [[(0,)]] * 4 and reader.fetch() == [(5050,)]
        list(writer.answer(writer.send("M")))
        assert reader.fetch() == [(0,)]


def test_a_view_that_reads_another_table(store):
    """What the text has read under the old schema is not what it reads now."""
    store.update("CREATE VIEW v AS SELECT sum(x) AS n FROM t")
    with store.prepare("SELECT n FROM v") as channel:
        assert is_recalled(store, channel)
        store.batch([("DROP VIEW v", []), ("CREATE VIEW v AS SELECT count(*) AS n FROM other", [])])
        assert is_recalled(store, channel) and channel.fetch() == [(0,)]
        store.update("INSERT INTO other VALUES (1, 1)")
        assert channel.fetch() == [(1,)]


# SQLite's authorizer hears nothing of the second table: only its columns' names are compared, and none is read.
HIDING_JOINS = ["SELECT count(*) FROM t NATURAL JOIN hidden", "SELECT sum(t.x) FROM t JOIN hidden USING (id)",
                "SELECT count(*) FROM t LEFT JOIN hidden USING (id)", "SELECT count(*) FROM t FULL JOIN hidden USING (id)",
                "SELECT n FROM through", "SELECT count(*) FROM other, (SELECT t.id FROM t NATURAL JOIN hidden)"]


@pytest.mark.parametrize("text", HIDING_JOINS)
def test_a_join_by_names_of_columns(store, text):
    store.batch([("CREATE TABLE hidden (id INTEGER)", []),
                 ("CREATE VIEW through AS SELECT count(*) AS n FROM t NATURAL JOIN hidden", []),
                 ("INSERT INTO other VALUES (1, 1)", [])])
    with store.prepare(text) as channel:
        assert is_recalled(store, channel)
        before = channel.fetch()
        store.update("INSERT INTO hidden VALUES (1), (1), (2)")
        assert channel.fetch() != before


def test_a_function_that_looks_terms_up(store):
    """The authorizer hears of the function, and not of the tables of terms."""
    text = "a text that is too long for the number of its term"
    with store.prepare(f"SELECT typeof(queryd_to_term('{text}'))") as channel, store.prepare("SELECT sum(x) FROM t") as beside:
        assert is_recalled(store, beside), "else nothing is watched"
        assert is_recalled(store, channel) and channel.fetch() == [("blob",)]
        store.update(f"INSERT DATA {{ <x:s> <x:p> '{text}' }}", language="sparql")
        assert channel.fetch() == [("integer",)]


def test_vacuum_numbers_rows_anew(store):
    store.update("CREATE TABLE loose (x)")
    store.update("INSERT INTO loose VALUES (1), (2), (3)")
    store.update("DELETE FROM loose WHERE x = 1")
    with store.prepare("SELECT min(rowid) FROM loose") as channel, store.prepare("SELECT 1") as fresh:
        assert is_recalled(store, channel)
        store.update("VACUUM")
        fresh.prepare("SELECT min(rowid) FROM loose", results="fresh")
        assert channel.fetch() == fresh.fetch()


def test_nothing_is_left_at_rest(store):
    with store.prepare("SELECT sum(x) FROM t") as channel:
        assert is_recalled(store, channel)
        wait_until(lambda: stat(store, "result_memory_bytes") == 0, "the rest")
        assert stat(store, "results_remembered") == 0
        store.update("UPDATE t SET x = 2")
        assert channel.fetch() == [(200,)] and is_recalled(store, channel)


@pytest.mark.deadline(120 + N_INTERLEAVINGS // 20)
def test_random_scripts():
    """The short form of tests/run interleave."""
    env = {**os.environ, "QUERYD": os.path.join(BUILD, "daemon/queryd")}
    command = [os.path.join(BUILD, "tests/sql/queryd-interleave"), str(4 * N_INTERLEAVINGS), SEED]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env, stdin=subprocess.DEVNULL)
    assert done.returncode == 0 and " 0 stale" in done.stdout, done.stdout[-8000:] + done.stderr[-2000:]


def recall_both(store, channel, plain):
    """A large and a small result are remembered."""
    return is_recalled(store, channel) and is_recalled(store, plain) and stat(store, "result_shared_bytes") > 4000000


@pytest.mark.parametrize("kind", ["fifo", "socket"])
def test_little_memory(make_bus, tmp_path, kind):
    """As systemd says it: what is remembered goes at once, and is remembered again afterwards."""
    path = str(tmp_path / "pressure")
    first_words = "MEMORY_PRESSURE_WRITE=aGVsbG8=" if kind == "socket" else ""  # it would read its own from a FIFO
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    if kind == "fifo":
        os.mkfifo(path)
    else:
        listener.bind(path)
        listener.listen()
    store = make_bus(limits=EVERYTHING, prefix=f"MEMORY_PRESSURE_WATCH={path} {first_words}")
    fill(store)
    if kind == "fifo":
        end = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    else:
        connection, _ = listener.accept()
        assert connection.recv(16) == b"hello"
        end = connection.detach()
    with store.prepare(LARGE, whole_results=True) as channel, store.prepare("SELECT sum(x) FROM t") as plain:
        assert recall_both(store, channel, plain)
        n_before, rows = stat(store, "memory_pressures_total"), channel.answer(channel.send_fetch())
        first = next(rows)
        os.write(end, b"!")
        wait_until(lambda: stat(store, "memory_pressures_total") > n_before, "the daemon to hear of it")
        wait_until(lambda: stat(store, "result_memory_bytes") == stat(store, "result_shared_bytes") == 0, "its memory")
        assert len([first, *rows]) == 10000, "who reads goes on"
        assert recall_both(store, channel, plain)
    os.close(end)
    listener.close()
    assert store.query("SELECT 1") == [(1,)]


@pytest.mark.parametrize("path", ["/dev/null", "relative", "/nonexistent", "/etc/passwd"])
def test_no_pressure_to_watch(make_bus, path):
    store = make_bus(prefix=f"MEMORY_PRESSURE_WATCH={path} MEMORY_PRESSURE_WRITE=")
    assert store.query("SELECT 1") == [(1,)] and stat(store, "memory_pressures_total") == 0


# Interleavings ----------------------------------------------------------------------------------------------------------------

def write_from_elsewhere(store, text):
    database = sqlite3.connect(os.path.join(store.store, "queryd.db"), timeout=10)
    try:
        database.execute(text)
        database.commit()
    except sqlite3.Error:
        pass
    finally:
        database.close()


SPARQL = ["SELECT * { ?s <x:p1> ?o } ORDER BY ?s ?o", "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }",
          "SELECT ?g { GRAPH ?g {} } ORDER BY ?g",
          "ASK { ?a <x:p2>/<x:p3> ?b }", "SELECT ?b { <x:s1> <x:p1>+ ?b } ORDER BY ?b",
          "SELECT ?b { <x:s1> <x:p1>* ?b } ORDER BY ?b",
          "SELECT ?s { ?s <x:p1> ?o MINUS { ?s <x:p2> ?o } } ORDER BY ?s", "DESCRIBE <x:s2>",
          "SELECT ?s { GRAPH <x:g> { ?s <x:p1> [] } } ORDER BY ?s",
          "SELECT * { ?s <http://queryd.org/fts#match> \"word\" } ORDER BY ?s",
          "SELECT * FROM <x:g> { ?s <x:p2> ?o } ORDER BY ?s ?o", "SELECT (MAX(STR(?o)) AS ?m) { ?s <x:p3> ?o }"]


def sparql_update(chance):
    s, p, o = (chance.randint(1, 4) for _ in range(3))
    triple = f"<x:s{s}> <x:p{p}> {chance.choice([f'<x:s{o}>', str(o), chr(34) + 'a word' + chr(34)])}"
    return chance.choice([
        f"INSERT DATA {{ {triple} }}", f"DELETE DATA {{ {triple} }}", f"INSERT DATA {{ GRAPH <x:g> {{ {triple} }} }}",
        f"DELETE WHERE {{ <x:s{s}> <x:p{p}> ?o }}", "CLEAR GRAPH <x:g>", f"CREATE SILENT GRAPH <x:g{o}>",
        f"DROP SILENT GRAPH <x:g{o}>",
        f"DELETE {{ ?a <x:p{p}> ?b }} INSERT {{ ?b <x:p{o}> ?a }} WHERE {{ ?a <x:p{p}> ?b FILTER(isIRI(?b)) }}",
        "COPY SILENT <x:g> TO DEFAULT", f"INSERT {{ GRAPH <x:g> {{ ?a ?b ?c }} }} WHERE {{ ?a ?b ?c FILTER(?a = <x:s{s}>) }}"])


class Interleaving:
    """Updates of every kind, by the bus, by a channel, by a transaction, by another program; and queries between them."""

    def __init__(self, store):
        self.store, self.random = store, random.Random(SEED)
        for text in SCHEMA + ["CREATE TABLE extra(x, y)", "CREATE VIEW extra_v AS SELECT * FROM extra"]:
            store.update(text)
        self.updates = Updates(store, self.random)
        self.writer = store.prepare("SELECT 1", access="write")
        self.asked = [Asked(store, text) for text in self.random.sample(QUERIES, 16)]
        self.asked += [Asked(store, text, "sparql") for text in self.random.sample(SPARQL, 8)]
        self.one = Asked(store, "SELECT count(*), sum(x) FROM a WHERE id >= ?")
        self.n_updates = self.n_queries = 0

    def write(self, text, language="sql"):
        self.writer.prepare(text, language, access="write")
        self.writer.fetch()

    def transaction(self):
        list(self.writer.answer(self.writer.send("B")))
        for _ in range(self.random.randint(1, 3)):
            try:
                self.write(self.updates.rows())
            except RemoteError:
                pass
        list(self.writer.answer(self.writer.send(self.random.choice("MML"))))

    def update(self):
        self.n_updates += 1
        kind = self.random.random()
        if kind < 0.02:
            self.updates.sql()[1]()
        elif kind < 0.07:
            write_from_elsewhere(self.store, self.updates.rows())
        elif kind < 0.2:
            self.transaction()
        elif kind < 0.5:
            self.write(sparql_update(self.random), "sparql")
        else:
            self.write(self.updates.rows())

    def step(self):
        if self.random.random() < 0.1:
            try:
                self.update()
            except (RemoteError, BusError):
                pass
            return
        self.n_queries += 1
        if self.random.random() < 0.1:
            self.one.check(self.n_updates, [self.random.randint(1, 3)])
        else:
            self.random.choice(self.asked).check(self.n_updates)


@pytest.mark.deadline(120 + N_INTERLEAVINGS // 20)
def test_interleavings(make_bus):
    store = make_bus(limits=EVERYTHING | {"channels_per_client": 128})
    course = Interleaving(store)
    for _ in range(N_INTERLEAVINGS):
        course.step()
    stats = store.stats()
    print(f"{course.n_updates} updates, {course.n_queries} queries, {stats['results_recalled_total']} recalled, "
          f"{stats['results_missed_total']} missed")
    assert stats["results_recalled_total"] > course.n_queries / 20


@pytest.mark.deadline(120 + N_INTERLEAVINGS // 20)
def test_readers_beside_a_writer(store):
    """What was acknowledged before a query was asked is in its result; and no reader sees time go back."""
    acknowledged, over, wrong = [0], threading.Event(), []
    store.update("INSERT INTO other VALUES (1, 0)")

    def write():
        with store.caller().prepare("UPDATE other SET x = ? WHERE id = 1", access="write") as channel:
            for n in range(1, N_INTERLEAVINGS // 4):
                channel.fetch([n])
                acknowledged[0] = n
                if n % 8 == 0:
                    time.sleep(0.002)  # for results to be kept: no synchronisation
        over.set()

    def read():
        seen = 0
        with store.caller().prepare("SELECT max(x) FROM other") as channel:
            while not over.is_set():
                least = acknowledged[0]
                ((n,),) = channel.fetch()
                if n < max(least, seen):
                    wrong.append((least, seen, n))
                seen = n

    threads = [threading.Thread(target=read) for _ in range(3)] + [threading.Thread(target=write)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and stat(store, "results_recalled_total") > 0
