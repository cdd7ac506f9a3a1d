# SPDX-License-Identifier: LGPL-2.1-or-later
"""Subscribe and Stale over a real bus: to the owner only, in order, freed when it leaves; and what the library makes of it."""
import pytest
from gi.repository import Gio, GLib

from harness import NAME, PATH, BusError, memory_file, options, wait_until

SUBSCRIPTION = NAME + ".Subscription"


def spin(condition, what, seconds=20):
    context = GLib.MainContext.default()

    def step():
        while context.iteration(False):
            pass
        return condition()

    return wait_until(step, what, seconds)


class Ear:
    """What one caller hears: (signal, generation, names or paths) in the order of arrival."""

    def __init__(self, caller):
        self.heard = []
        for signal in ("Changed", "Stale"):
            caller.connection.signal_subscribe(NAME, NAME, signal, PATH, None, Gio.DBusSignalFlags.NONE, self.on_signal)
        caller.property("Version")  # behind the matches

    def on_signal(self, _connection, _sender, _path, _interface, signal, arguments):
        self.heard.append((signal, *arguments.unpack()[:2]))

    def wait(self, generation):
        """Everything up to the Changed of @generation; Stale comes right behind its Changed, so one more turn of the bus."""
        spin(lambda: any(s == "Changed" and g >= generation for s, g, _ in self.heard), "the signal of the commit")
        return self.heard

    def stale(self):
        return [(g, sorted(paths)) for s, g, paths in self.heard if s == "Stale"]


def subscribe(caller, text, language="sql", **opts):
    return caller.call("Subscribe", "(ssa{sv})", language, text, options(opts))[0].unpack()[0]


def test_only_the_owner_is_told(bus):
    other = bus.caller()
    mine, theirs = Ear(bus), Ear(other)
    bus.update("CREATE TABLE t (a)")
    path = subscribe(bus, "SELECT * FROM t")
    generation = bus.update("INSERT INTO t VALUES (1)")[2]
    spin(lambda: any(g >= generation for g, _ in mine.stale()), "the Stale")
    theirs.wait(generation)
    other.property("Version")
    spin(lambda: True, "a turn")
    assert mine.stale()[-1] == (generation, [path]) and theirs.stale() == []
    # nobody else sees it, or closes it
    with pytest.raises((BusError, GLib.Error)):
        other.call("Close", interface=SUBSCRIPTION, path=path)
    bus.call("Close", interface=SUBSCRIPTION, path=path)


@pytest.mark.parametrize("text", ["SELECT count(*) FROM t NATURAL JOIN hidden", "SELECT t.a FROM t JOIN hidden USING (a)",
                                  "SELECT count(*) FROM through", "SELECT t.a FROM t JOIN words USING (a)"])
def test_a_join_by_names_of_columns(bus, text):
    """SQLite's authorizer hears nothing of the second table."""
    ear = Ear(bus)
    bus.batch([("CREATE TABLE t (a)", []), ("CREATE TABLE hidden (a)", []), ("CREATE VIRTUAL TABLE words USING fts5(a)", []),
               ("CREATE VIEW through AS SELECT t.a FROM t NATURAL JOIN hidden", []), ("CREATE TABLE apart (a)", [])])
    path = subscribe(bus, text)
    generation = bus.update("INSERT INTO hidden VALUES (1)" if "words" not in text else "INSERT INTO words VALUES (1)")[2]
    ear.wait(generation)
    spin(lambda: (generation, [path]) in ear.stale(), "the Stale")


def test_never_before_the_commit(bus):
    """Whoever hears of a generation reads a database of that generation or a later one."""
    bus.update("CREATE TABLE t (a)")
    subscribe(bus, "SELECT max(a) FROM t")
    writer, seen = bus.caller(), []

    def on_stale(_connection, _sender, _path, _interface, _signal, arguments):
        generation = arguments.unpack()[0]
        with bus.prepare("SELECT max(a) FROM t") as channel:
            rows = channel.fetch()
            seen.append((generation, channel.end.generation, rows[0][0]))

    bus.connection.signal_subscribe(NAME, NAME, "Stale", PATH, None, Gio.DBusSignalFlags.NONE, on_stale)
    first = None
    for i in range(100):
        generation = writer.update("INSERT INTO t VALUES (?)", [i])[2]
        first = first if first is not None else generation
        spin(lambda: True, "a turn")
    spin(lambda: seen and seen[-1][0] >= generation, "the last Stale")
    assert all(end >= told for told, end, _ in seen)
    assert all(value >= told - first for told, _, value in seen if value is not None), seen


def test_subscriptions_go_with_their_owner(bus):
    """One limit for the process, whatever its names: what a name that has left held is free again."""
    bus.update("CREATE TABLE t (a)")
    for _ in range(2):
        other = bus.caller()
        for i in range(600):
            subscribe(other, f"SELECT {i} FROM t")
        assert bus.stats()["subscriptions"] == 600
        other.close()
        wait_until(lambda: bus.stats()["subscriptions"] == 0, "the subscriptions to be gone")


def test_limit(bus):
    for i in range(1000):
        subscribe(bus, f"SELECT {i}")
    with pytest.raises(BusError) as caught:
        subscribe(bus, "SELECT 0")
    assert caught.value.name == "LimitExceeded" and "'subscriptions_per_client' is 1000" in str(caught.value)


def test_sparql(bus):
    ear = Ear(bus)
    by_predicate = subscribe(bus, "SELECT * { ?s <p> ?o }", "sparql", base="http://x/")
    by_graph = subscribe(bus, "SELECT * { GRAPH <http://x/g> { ?s ?p ?o } }", "sparql")

    def told(text):
        generation = bus.update(text, language="sparql")[2]
        ear.wait(generation)
        bus.property("Version")
        spin(lambda: True, "a turn")
        paths = sorted({path for g, paths in ear.stale() if g >= generation for path in paths})
        del ear.heard[:]
        return paths

    assert told("INSERT DATA { <http://x/a> <http://x/p> 1 }") == [by_predicate]
    assert told("INSERT DATA { <http://x/a> <http://x/q> 1 }") == []
    assert told("INSERT DATA { GRAPH <http://x/g> { <http://x/a> <http://x/p> 1 } }") == [by_graph]
    assert told("CLEAR GRAPH <http://x/g>") == [by_graph]
    assert told("CLEAR ALL") == [by_predicate]


def test_told_before_the_name_goes(bus):
    """A daemon that is asked to stop has told of each commit that it has acknowledged, though less than 40 ms have passed."""
    bus.update("CREATE TABLE t (a)")
    ear = Ear(bus)
    for _ in range(5):
        path = subscribe(bus, "SELECT * FROM t")
        generation = [bus.update("INSERT INTO t VALUES (1)")[2] for _ in range(3)][-1]
        bus.stop_daemon()
        spin(lambda: any(g >= generation for s, g, _ in ear.heard if s == "Changed"), "Changed")
        assert (generation, [path]) in ear.stale()


def test_import_tells_of_triggers(bus):
    """Also of one that came after the import's INSERT was compiled."""
    ear = Ear(bus)
    bus.update("CREATE TABLE t (a)")
    bus.update("CREATE TABLE log (a)")
    with memory_file(b"a\n1\n") as fd:
        assert bus.import_fd(fd, "csv", table="t")["State"] == "finished"
        bus.update("CREATE TRIGGER g AFTER INSERT ON t BEGIN INSERT INTO log VALUES (new.a); END")
        path = subscribe(bus, "SELECT * FROM log")
        assert bus.import_fd(fd, "csv", table="t")["State"] == "finished"
    spin(lambda: any(path in paths for _, paths in ear.stale()), "the Stale")
    assert bus.query("SELECT a FROM log") == [(1,)]


def test_prefixes_tell(bus, tmp_path):
    seen = []
    bus.connection.signal_subscribe(NAME, "org.freedesktop.DBus.Properties", "PropertiesChanged", PATH, NAME,
                                    Gio.DBusSignalFlags.NONE, lambda *a: seen.append(a[5].unpack()[1]))
    wait_until(lambda: "rdf" in bus.property("Prefixes"), "the prefixes")
    path = tmp_path / "data.ttl"
    path.write_text("@prefix zoo: <http://zoo/> . zoo:a zoo:b zoo:c .\n")
    with open(path, "rb") as stream:
        assert bus.import_fd(stream.fileno(), "turtle")["State"] == "finished"
    spin(lambda: any("zoo" in changed.get("Prefixes", {}) for changed in seen), "PropertiesChanged")
    assert bus.property("Prefixes")["zoo"] == "http://zoo/"


def test_a_refusal_is_cheap(bus):
    """Beyond the limit a query is not compiled: what fails to compile gets the limit's error, too."""
    for i in range(1000):
        subscribe(bus, f"SELECT {i}")
    with pytest.raises(BusError) as caught:
        subscribe(bus, "SELECT 0 FROM missing")
    assert caught.value.name == "LimitExceeded"


def test_what_fails_is_given_back(bus):
    for _ in range(1100):
        with pytest.raises(BusError, match="no such table"):
            subscribe(bus, "SELECT 0 FROM missing")
    subscribe(bus, "SELECT 0")
