# SPDX-License-Identifier: LGPL-2.1-or-later
"""Grants that are taken back end what runs by them; and what an application hears of commits."""
import contextlib
import os
import signal

import pytest
from gi.repository import Gio, GLib

from harness import MANAGER, NAME, PATH, BusError, Caller, memory_file, options, wait_until
from sandboxes import GRAPHS, OTHER, grants, make_world, needs_sandbox, refused  # noqa: F401
from test_subscribe import SUBSCRIPTION, Ear, spin, subscribe
from test_transactions import do
from wire_client import RemoteError

pytestmark = needs_sandbox
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "


def reload(world, config):
    world.write_config({}, config)
    world.call("Reload", interface=MANAGER)


def ends_denied(rows):
    """The rest of a result ends with AccessDenied; returns how many rows came before."""
    n = 0
    with pytest.raises(RemoteError) as failure:
        for _ in rows:
            n += 1
    assert failure.value.name == "AccessDenied" and "taken back" in failure.value.message, failure.value
    return n


def test_a_result_that_is_half_read(make_world):
    world, sandboxes = make_world(grants("read=table:t;table:other"))
    world.update("CREATE TABLE t AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100000) "
                 "SELECT i, hex(randomblob(50)) AS x FROM n")
    caller = sandboxes.caller()
    with caller.prepare("SELECT * FROM t") as channel, world.prepare("SELECT * FROM t") as others:
        serials = [c.send_fetch() for c in (channel, others)]
        rows = channel.answer(serials[0])
        assert next(rows)[0] == 1
        reload(world, grants("read=table:other"))
        assert ends_denied(rows) < 99999
        assert len(list(others.answer(serials[1]))) == 100000


def test_a_grant_that_is_added_ends_nothing(make_world):
    world, sandboxes = make_world(grants("read=table:t"))
    world.update("CREATE TABLE t AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100000) "
                 "SELECT i, hex(randomblob(50)) AS x FROM n")
    caller = sandboxes.caller()
    with caller.prepare("SELECT * FROM t") as channel:
        rows = channel.answer(channel.send_fetch())
        next(rows)
        reload(world, grants("read=table:t;table:other"))
        assert len(list(rows)) == 99999


@pytest.mark.parametrize("language,granted,text", [
    ("sql", "table:t", ENDLESS + "SELECT count(*) FROM n, t"),
    ("sparql", f"graph:{GRAPHS}music", "SELECT (count(*) AS ?n) { GRAPH ?g { " +
     " ".join(f"?s{i} ?p{i} ?o{i} ." for i in range(8)) + " } }"),
])
def test_a_query_that_gives_no_row_yet(make_world, language, granted, text):
    world, sandboxes = make_world(grants("read=" + granted))
    world.update("CREATE TABLE t AS SELECT 1 AS i")
    world.update(f"INSERT DATA {{ GRAPH <{GRAPHS}music> {{ " +
                 " ".join(f"<urn:a{i}> <urn:p> {i} ." for i in range(40)) + " } }", language="sparql")
    caller = sandboxes.caller()
    with caller.prepare(text, language=language, timeout_ms=0) as channel:
        serial = channel.send_fetch()
        wait_until(lambda: any(q["state"] == "running" for q in world.queries()), "the query to run")
        reload(world, "")
        assert ends_denied(channel.answer(serial)) == 0


def test_an_open_transaction(make_world):
    world, sandboxes = make_world(grants("write=table:t"))
    world.update("CREATE TABLE t(a)")
    caller = sandboxes.caller()
    with caller.prepare("INSERT INTO t VALUES(1)", access="write") as channel:
        do(channel, "B")
        channel.fetch()
        reload(world, grants("read=table:t"))
        with pytest.raises(RemoteError) as failure:
            do(channel, "M")
        assert failure.value.name == "AccessDenied" and "taken back" in failure.value.message
    assert world.query("SELECT count(*) FROM t") == [(0,)]


def test_a_prepared_statement(make_world):
    world, sandboxes = make_world(grants("write=table:t"))
    world.update("CREATE TABLE t(a)")
    caller = sandboxes.caller()
    with caller.prepare("INSERT INTO t VALUES(1)", access="write") as writing, caller.prepare("SELECT a FROM t") as reading:
        writing.fetch()
        assert reading.fetch() == [(1,)]
        reload(world, "")
        for channel in (writing, reading):
            with pytest.raises(RemoteError) as failure:
                channel.fetch()
            assert failure.value.name == "AccessDenied"
    assert world.query("SELECT count(*) FROM t") == [(1,)]


def test_a_subscription(make_world):
    world, sandboxes = make_world(grants("read=table:t;table:u"))
    world.update("CREATE TABLE t(a)")
    world.update("CREATE TABLE u(a)")
    caller = sandboxes.caller()
    ear = Ear(caller)
    lost, kept = subscribe(caller, "SELECT * FROM t"), subscribe(caller, "SELECT * FROM u")
    reload(world, grants("read=table:u"))
    # one last Stale, and who asks again learns why
    spin(lambda: {path for _, paths in ear.stale() for path in paths} == {lost, kept}, "the last Stale")
    refused(caller, "query", "SELECT * FROM t", words="table 't'")
    with pytest.raises(BusError):
        caller.call("Close", interface=SUBSCRIPTION, path=lost)
    assert world.stats()["subscriptions"] == 1
    ear.heard.clear()
    world.update("INSERT INTO t VALUES(1)")
    generation = world.update("INSERT INTO u VALUES(1)")[2]
    spin(lambda: (generation, [kept]) in ear.stale(), "the Stale of the other")
    assert not any(lost in paths for _, paths in ear.stale())


def test_a_view_that_reads_more(make_world):
    """While it is not known what the query reads, nothing is said of what it may not read."""
    world, sandboxes = make_world(grants("read=table:t;table:v"))
    world.update("CREATE TABLE t(a)")
    world.update("CREATE TABLE secret(a)")
    world.update("CREATE VIEW v AS SELECT * FROM t")
    caller = sandboxes.caller()
    ear = Ear(caller)
    path = subscribe(caller, "SELECT * FROM v")
    world.batch([("DROP VIEW v", ()), ("CREATE VIEW v AS SELECT * FROM secret", ())])
    spin(lambda: any(path in paths for _, paths in ear.stale()), "the last Stale")
    wait_until(lambda: world.stats()["subscriptions"] == 0, "the end of the subscription")


def test_a_job(make_world):
    world, sandboxes = make_world(grants("read=*"))
    world.update(f"INSERT DATA {{ GRAPH <{GRAPHS}music> {{ " +
                 " ".join(f"<urn:a{i}> <urn:p> {i} ." for i in range(20000)) + " } }", language="sparql")
    caller = sandboxes.caller()
    reading, writing = os.pipe()
    try:
        job = caller.call("Dump", "(hsa{sv})", 0, "nquads", options({}), fds=[writing])[0].unpack()[0]
        os.close(writing)
        assert os.read(reading, 100)
        reload(world, "")

        def state():
            return caller.call("Get", "(ss)", NAME + ".Job", "State", interface="org.freedesktop.DBus.Properties",
                               path=job)[0].unpack()[0]

        wait_until(lambda: state() != "running", "the job's end")
        assert state() == "failed"
        error = caller.call("Get", "(ss)", NAME + ".Job", "ErrorName", interface="org.freedesktop.DBus.Properties", path=job)
        assert error[0].unpack()[0].endswith("AccessDenied")
    finally:
        os.close(reading)


# --- what is heard ------------------------------------------------------------------------------------------------------------

PROPERTIES = "org.freedesktop.DBus.Properties"
TRACKER, TRACKER_PATH = "org.freedesktop.Tracker3.Endpoint", "/org/freedesktop/Tracker3/Endpoint"
TINYSPARQL = "\n[Daemon]\ntinysparql=on\n"


class Everything:
    """All signals of the daemon that reach one caller, in order; it has made itself heard wherever it can."""

    def __init__(self, caller):
        self.caller, self.heard = caller, []
        for interface, path in ((None, PATH), (None, TRACKER_PATH)):
            caller.connection.signal_subscribe(NAME, interface, None, path, None, Gio.DBusSignalFlags.NONE, self.on_signal)
        for arguments in ((PROPERTIES, "Get", "(ss)", (NAME, "Generation"), PATH), (PROPERTIES, "GetAll", "(s)", (NAME,), PATH),
                          (PROPERTIES, "GetAll", "(s)", (TRACKER,), TRACKER_PATH),
                          ("org.freedesktop.DBus.Peer", "Ping", None, (), TRACKER_PATH)):
            with contextlib.suppress(BusError):
                caller.call(arguments[1], arguments[2], *arguments[3], interface=arguments[0], path=arguments[4])

    def on_signal(self, _connection, _sender, _path, _interface, signal, arguments):
        self.heard.append((signal, arguments.unpack()))

    def wait(self, condition):
        spin(lambda: any(condition(*one) for one in self.heard), "a signal")

    def names(self):
        """What is in all that was heard but generations and paths."""
        return " ".join(str(arguments[1:]) if signal == "Changed" else str(arguments) for signal, arguments in self.heard)


@pytest.fixture
def heard(make_world):
    """Everything that is heard by (the user, an application that may see one table and one graph, one that may see nothing)."""
    world, sandboxes = make_world(grants(f"read=table:t;graph:{GRAPHS}music") + TINYSPARQL)
    world.update("CREATE TABLE t(a)")
    world.update("CREATE TABLE secret(a)")
    callers = (world.caller(), sandboxes.caller(), sandboxes.caller(OTHER))
    return (world, *(Everything(caller) for caller in callers))


def commit(world):
    """Some commits, the last of them to the table that may be seen."""
    world.update("INSERT INTO secret VALUES(1)")
    world.update("CREATE TABLE hidden(a)")
    world.update(f"INSERT DATA {{ GRAPH <{GRAPHS}mail> {{ <urn:s> <urn:p> 1 }} }}", language="sparql")
    world.update(f"INSERT DATA {{ GRAPH <{GRAPHS}music> {{ <urn:m> <urn:p> 1 }} }}", language="sparql")
    return world.update("INSERT INTO t VALUES(1)")[2]


def test_who_hears_of_commits(heard):
    world, user, some, none = heard
    for ear in (user, some, none):
        ear.heard.clear()
    generation = commit(world)
    for ear in (user, some):
        ear.wait(lambda signal, arguments: signal == "Changed" and arguments[0] == generation)
    for ear in (some, none):  # what was sent before has come with the answer
        with contextlib.suppress(BusError):
            ear.caller.call("Ping", interface="org.freedesktop.DBus.Peer")
        spin(lambda: True, "a turn")
    for name in ("secret", "hidden", f"{GRAPHS}mail"):
        assert name in user.names() and name not in some.names(), name
    assert f"{GRAPHS}music" in some.names() and "'t'" in some.names()
    assert {signal for signal, _ in some.heard} == {signal for signal, _ in user.heard} == {"Changed", "GraphUpdated"}
    assert none.heard == []


def test_a_commit_of_others_only_is_not_heard(heard):
    """Not even that there was one."""
    world, user, some, none = heard
    for ear in (user, some, none):
        ear.heard.clear()
    generation = world.update("INSERT INTO secret VALUES(1)")[2]
    user.wait(lambda signal, arguments: signal == "Changed" and arguments[0] == generation)
    for ear in (some, none):
        ear.caller.call("Ping", interface="org.freedesktop.DBus.Peer")
        spin(lambda: True, "a turn")
        assert ear.heard == []


def test_stored_prefixes(heard):
    world, user, some, none = heard
    with memory_file(b"@prefix hidden: <http://example.org/hidden#> . hidden:a hidden:b hidden:c .") as fd:
        world.call("Import", "(hsa{sv})", 0, "turtle", options({}), fds=[fd])
    for ear in (user, some):
        ear.wait(lambda signal, arguments: signal == "PropertiesChanged" and "hidden" in arguments[1]["Prefixes"])
    none.caller.call("Ping", interface="org.freedesktop.DBus.Peer")
    spin(lambda: True, "a turn")
    assert none.heard == []


@pytest.mark.parametrize("is_known", [False, True])
def test_properties(make_world, is_known):
    """Also those of a connection whose first call this is."""
    world, sandboxes = make_world(grants("read=table:t"))
    world.update("CREATE TABLE t(a)")

    def ask(caller, method, signature, *arguments):
        if is_known:
            with contextlib.suppress(BusError):
                caller.query("SELECT 1")
        return caller.call(method, signature, *arguments, interface=PROPERTIES)[0].unpack()[0]

    def callers():
        return world.caller(), sandboxes.caller(), sandboxes.caller(OTHER)

    user, some, none = (ask(caller, "GetAll", "(s)", NAME) for caller in callers())
    assert user == some and set(user) - set(none) == {"Generation", "Prefixes"}
    assert user["Generation"] > 0 and none["Version"] == user["Version"]
    for name in ("Generation", "Prefixes"):
        user, some = (ask(caller, "Get", "(ss)", NAME, name) for caller in callers()[:2])
        assert user == some
        refused(sandboxes.caller(OTHER), "call", "Get", "(ss)", NAME, name, interface=PROPERTIES)
    assert ask(sandboxes.caller(OTHER), "Get", "(ss)", NAME, "Version") == none["Version"]
    assert "Health" in ask(world.caller(), "GetAll", "(s)", "")
    with pytest.raises(BusError):
        ask(sandboxes.caller(), "Get", "(ss)", NAME, "Nothing")


def test_a_caller_that_does_not_wait(bus):
    """Which process it was cannot be known any more: nothing is done, and the journal says so."""
    bus.update("CREATE TABLE t(a)")
    pid, caller = bus.daemon_pid(), Caller(bus.address)
    name = caller.connection.get_unique_name()
    os.kill(pid, signal.SIGSTOP)
    try:
        body = GLib.Variant("(ssa{sv}a{sv})", ("sql", "INSERT INTO t VALUES(1)", {}, {}))
        caller.connection.call(NAME, PATH, NAME, "Update", body, None, Gio.DBusCallFlags.NONE, -1, None, None)
        caller.connection.flush_sync(None)
        caller.close()
        wait_until(lambda: not bus.bus_call("NameHasOwner", "(s)", name)[0], "the caller's end")
    finally:
        os.kill(pid, signal.SIGCONT)

    def log():
        with open(os.path.join(bus.folder, "log"), encoding="utf-8", errors="replace") as stream:
            return stream.read()

    wait_until(lambda: "Update was refused: the caller has left the bus" in log(), "the line in the journal")
    assert bus.query("SELECT count(*) FROM t") == [(0,)]


def test_a_proxy_object_hears(bus):
    """GLib's asks for the properties by itself, also when the daemon has a new owner: it hears all commits, with their names."""
    bus.update("CREATE TABLE t(a)")
    with contextlib.closing(Caller(bus.address)) as caller:
        proxy = Gio.DBusProxy.new_sync(caller.connection, Gio.DBusProxyFlags.NONE, None, NAME, PATH, NAME, None)
        heard = []
        proxy.connect("g-signal", lambda _proxy, _sender, name, arguments: heard.append((name, arguments.unpack())))
        for table in ("t", "u"):
            generation = bus.update(f"CREATE TABLE IF NOT EXISTS {table}(a)")[2]
            generation = bus.update(f"INSERT INTO {table} VALUES(1)")[2]
            spin(lambda g=generation, t=table: any(n == "Changed" and a[0] == g and t in a[1] for n, a in heard), "the commit")
            assert not any("*" in a[1] + a[2] for n, a in heard if n == "Changed")
            owner = proxy.get_name_owner()
            bus.stop_daemon()
            bus.query("SELECT 1")
            spin(lambda o=owner: proxy.get_name_owner() not in (None, o) and proxy.get_cached_property("Generation"), "its owner")
            heard.clear()
