# SPDX-License-Identifier: LGPL-2.1-or-later
"""Columns of predicates in the file: stored at rest, after a load and by Optimize; never used where they are not the quads'."""
import collections
import os
import random
import re
import sqlite3

import pytest

from harness import MANAGER, BusError, wait_until
from sandboxes import GRAPHS, add_quads, grants, make_world, needs_sandbox, refused, sparql  # noqa: F401

ROUNDS = int(os.environ.get("QUERYD_ROUNDS", "40"))
SEED = int(os.environ.get("QUERYD_SEED", "14"))
N = 5000
LOAD = 30000
COUNT = "PREFIX : <http://e/> SELECT (COUNT(*) AS ?n) { ?s :p ?o . ?o :q ?v }"
GROUPS = "PREFIX : <http://e/> SELECT ?v (COUNT(?s) AS ?n) { ?s :p ?o . ?o :q ?v } GROUP BY ?v ORDER BY ?v"


def triples(n):
    for i in range(n):
        yield f"<http://e/s{i}> <http://e/p> <http://e/o{i % 1500}> .\n"
        if i < 1500:
            yield f"<http://e/o{i}> <http://e/q> {i % 7} .\n"


def load(bus, n):
    path = os.path.join(bus.folder, "data.ttl")
    with open(path, "w", encoding="utf-8") as stream:
        stream.writelines(triples(n))
    with open(path, "rb") as stream:
        state = bus.import_fd(stream.fileno(), "turtle")
    assert state["State"] == "finished", state


def ask(bus, text):
    return [tuple(int(cell[0]) for cell in row) for row in bus.query(text, language="sparql")]


def stored(bus):
    """The columns of the file: predicate, order, parts."""
    connection = sqlite3.connect(os.path.join(bus.store, "queryd.db"))
    rows = connection.execute("SELECT p, ord, count(*) FROM queryd_column GROUP BY 1, 2").fetchall()
    connection.close()
    return rows


def harm(bus, sql):
    bus.stop_daemon()
    connection = sqlite3.connect(os.path.join(bus.store, "queryd.db"))
    connection.executescript(sql)
    connection.close()


def optimize(bus):
    bus.call("Optimize", "(a{sv})", {}, interface=MANAGER)


def read(bus):
    stats = bus.stats()
    return stats["columns_indexed_total"], stats["columns_stored_total"]


@pytest.fixture(name="store")
def make_store(make_bus):
    return make_bus(limits={"idle_exit_ms": 0, "tally_rows": 0})


def test_a_missed_column_is_stored_at_rest(store):
    load(store, N)
    assert stored(store) == []
    expected = ask(store, GROUPS), ask(store, COUNT)
    wait_until(lambda: len(stored(store)) == 4, "columns of both predicates in the file")
    assert read(store)[0] > 0
    store.stop_daemon()
    assert (ask(store, GROUPS), ask(store, COUNT)) == expected
    indexed, from_file = read(store)
    assert indexed == 0 and from_file > 0
    assert store.check(quick=False) == (True, [])


def test_a_load_stores_its_columns(store):
    load(store, LOAD)
    generation = store.property("Generation")
    wait_until(lambda: len(stored(store)) == 4, "columns of both predicates in the file")
    assert store.property("Generation") == generation, "nothing that a client reads has changed"
    assert ask(store, COUNT) == [(LOAD,)]
    assert read(store)[0] == 0


def test_a_change_ends_them_and_optimize_stores_them_again(store):
    load(store, N)
    optimize(store)
    assert len(stored(store)) == 4
    store.stop_daemon()
    store.update("PREFIX : <http://e/> INSERT DATA { :s0 :p :o1 }", language="sparql")
    assert ask(store, COUNT) == [(N + 1,)]
    assert read(store)[0] > 0
    optimize(store)
    store.stop_daemon()
    assert ask(store, COUNT) == [(N + 1,)]
    assert read(store)[0] == 0


def test_most_parts_stay_when_one_pair_comes(store):
    load(store, LOAD)
    optimize(store)

    def parts():
        connection = sqlite3.connect(os.path.join(store.store, "queryd.db"))
        rows = connection.execute("SELECT p, ord, mark FROM queryd_column WHERE part>0").fetchall()
        connection.close()
        return rows

    before = parts()
    store.update("PREFIX : <http://e/> INSERT DATA { :s7 :p :o1 }", language="sparql")
    optimize(store)
    assert len(set(parts()) - set(before)) == 2 < len(before)


@pytest.mark.parametrize("sql", [
    "UPDATE queryd_column SET body=x'00'", "UPDATE queryd_column SET body=zeroblob(length(body))",
    "UPDATE queryd_column SET body=substr(body, 1, length(body) - 1) WHERE part=1", "DELETE FROM queryd_column WHERE part=1",
    "UPDATE queryd_column SET body='x' WHERE part=0", "UPDATE queryd_column SET p=p+1 WHERE part=1",
    "UPDATE queryd_column SET body=(SELECT body FROM queryd_column WHERE part=1 AND ord=0 LIMIT 1) WHERE part=1"])
def test_damage_is_not_believed(store, sql):
    load(store, N)
    expected = ask(store, GROUPS)
    optimize(store)
    harm(store, sql)
    assert ask(store, GROUPS) == expected
    assert read(store)[0] > 0
    ok, messages = store.check(quick=False)
    assert not ok and any(re.match("queryd_column: the column of <http://e/[pq]> by (subject|object) is damaged", message)
                          for message in messages)
    assert store.check(quick=False) == (True, [])
    optimize(store)
    assert len(stored(store)) == 4
    store.stop_daemon()
    assert ask(store, GROUPS) == expected
    assert read(store)[0] == 0


@pytest.mark.parametrize("mend", ["check", "optimize"])
def test_what_differs_from_the_quads_is_found_and_dropped(make_bus, mend):
    """Another program has changed quads and no stamp: the column is believed, in memory and in results that are remembered."""
    bus = make_bus(limits={"idle_exit_ms": 0, "tally_rows": 0, "result_memory_cost_us": 0})
    load(bus, N)
    optimize(bus)
    harm(bus, "DELETE FROM queryd_quad WHERE (s, p, o, g) IN (SELECT s, p, o, g FROM queryd_quad"
              " WHERE p=(SELECT id FROM queryd_term WHERE lexical='http://e/p') LIMIT 1)")
    assert ask(bus, COUNT) == ask(bus, COUNT) == [(N,)]
    if mend == "check":
        ok, messages = bus.check(quick=False)
        assert not ok and {message.split(": ")[1] for message in messages[:2]} == {
            "the column of <http://e/p> by object differs from its quads",
            "the column of <http://e/p> by subject differs from its quads"}
        assert "dropped" in messages[2]
    else:
        optimize(bus)
    assert ask(bus, COUNT) == [(N - 1,)]
    assert bus.check(quick=False) == (True, [])


def test_answers_stay_right_between_changes_and_restarts(make_bus):
    """Random changes, columns stored or stale, a daemon that has just started or has columns in memory: the quads decide."""
    bus = make_bus(limits={"idle_exit_ms": 0, "tally_rows": 0, "tally_file_rows": 0, "tally_file_percent": 1000,
                           "result_memory_cost_us": 0})
    chance = random.Random(SEED)
    pairs = set()
    for turn in range(ROUNDS):
        come = {(chance.randrange(60), chance.randrange(20)) for _ in range(chance.choice([1, 5, 60]))}
        go = set(chance.sample(sorted(pairs), min(len(pairs), chance.choice([0, 1, 30]))))
        pairs = (pairs - go) | come
        bus.update("PREFIX : <http://e/> DELETE DATA {" + " ".join(f":s{s} :p {o} ." for s, o in sorted(go)) + "};"
                   "INSERT DATA {" + " ".join(f":s{s} :p {o} ." for s, o in sorted(come)) + "}", language="sparql")
        if chance.random() < 0.4:
            optimize(bus)
        if chance.random() < 0.4:
            chance.choice([bus.stop_daemon, bus.kill_daemon])()
        for _ in range(chance.choice([1, 2])):  # the second one is remembered
            rows = ask(bus, "SELECT ?o (COUNT(?s) AS ?n) { ?s <http://e/p> ?o } GROUP BY ?o ORDER BY ?o")
            assert rows == sorted(collections.Counter(o for _, o in pairs).items()), turn
        rows = ask(bus, "SELECT (COUNT(*) AS ?n) { ?s <http://e/p> ?o . ?s <http://e/p> ?v }")
        assert rows == [(sum(n * n for n in collections.Counter(s for s, _ in pairs).values()),)], turn
    assert bus.check(quick=False) == (True, [])


def test_their_share_of_the_file_is_limited(make_bus):
    bus = make_bus(limits={"idle_exit_ms": 0, "tally_rows": 0, "tally_file_percent": 0})
    load(bus, N)
    optimize(bus)
    assert stored(bus) == []
    assert ask(bus, COUNT) == [(N,)]


def test_clients_neither_read_nor_write_them(store):
    load(store, 10)
    for text in ("SELECT * FROM queryd_column", "SELECT count(*) FROM Queryd_Column"):
        with pytest.raises(BusError, match="not allowed") as error:
            store.query(text)
        assert error.value.name == "AccessDenied"
    for text in ("DELETE FROM queryd_column", "INSERT INTO queryd_column VALUES (1, 1, 1, 1, x'')", "DROP TABLE queryd_column"):
        with pytest.raises(BusError, match="reserved") as error:
            store.update(text)
        assert error.value.name == "AccessDenied"


def test_a_restore_brings_none(store):
    load(store, N)
    optimize(store)
    path = os.path.join(store.folder, "backup.db")
    with open(path, "wb+") as stream:
        store.backup(stream.fileno())
        store.update("PREFIX : <http://e/> DELETE WHERE { :s0 :p ?o }", language="sparql")
        stream.seek(0)
        job = store.start_job("Restore", "(ha{sv})", 0, {}, fds=[stream.fileno()], interface=MANAGER)
        assert store.finish_job(job)["State"] == "finished"
    assert stored(store) == []
    assert ask(store, COUNT) == [(N,)]


@needs_sandbox
@pytest.mark.parametrize("graph,count", [("default", "2"), (f"{GRAPHS}music", "0")])
def test_stored_columns_are_of_the_default_graph_only(make_world, graph, count):
    """Counts that are made of them (docs/decisions/runs.md) show what the grant has, and SQL does not show them."""
    world, sandboxes = make_world("tally_rows=0\ntally_file_rows=0\ntally_file_percent=1000\n" +
                                  grants(f"read=graph:{graph}"))
    add_quads(world)
    world.update("INSERT DATA { <urn:d> <urn:p> 1 }", language="sparql")
    world.call("Optimize", "(a{sv})", {}, interface=MANAGER)
    world.stop_daemon()
    text = "SELECT (count(*) AS ?n) { ?s <urn:p> ?o . ?s <urn:p> ?x }"
    caller = sandboxes.caller()
    for _ in range(2):
        assert [row[0].split("'")[1] for row in sparql(caller, text)] == [str(int(count) ** 2)]
        assert [row[0].split("'")[1] for row in sparql(world, text)] == ["4"]
    assert world.stats()["columns_stored_total"] > 0
    for column in ("p", "body", "*"):
        refused(caller, "query", f"SELECT {column} FROM queryd_column")
    refused(caller, "query", "SELECT count(*) FROM queryd_column a JOIN queryd_column b USING (p)")
