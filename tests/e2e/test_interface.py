# SPDX-License-Identifier: LGPL-2.1-or-later
"""The interface: its XML against the daemon's introspection, its properties and signals, the shell tools, Manager and jobs."""
import os
import re
import shutil
import subprocess
import tempfile
import time
import xml.etree.ElementTree as ElementTree

import pytest
from gi.repository import Gio, GLib

from harness import JOB, MANAGER, NAME, PATH, ROOT, BusError, wait_until


def members(node, interface):
    """{(kind, name): [(direction, name, type)…]} of one interface."""
    found = {}
    for iface in node.iter("interface"):
        if iface.get("name") != interface:
            continue
        for member in iface:
            if member.tag == "property":
                found["property", member.get("name")] = (member.get("type"), member.get("access"))
            elif member.tag in ("method", "signal"):
                default = "in" if member.tag == "method" else "out"
                args = [(a.get("direction", default), a.get("name"), a.get("type")) for a in member.findall("arg")]
                found[member.tag, member.get("name")] = args
    return found


def introspect(bus, path):
    reply, _ = bus.call("Introspect", interface="org.freedesktop.DBus.Introspectable", path=path)
    return ElementTree.fromstring(reply.unpack()[0])


@pytest.mark.parametrize("interface", [NAME, MANAGER])
def test_introspection_is_the_xml(bus, interface):
    source = members(ElementTree.parse(os.path.join(ROOT, "data/org.queryd.Query1.xml")).getroot(), interface)
    assert len(source) >= 8
    assert members(introspect(bus, PATH), interface) == source


@pytest.mark.parametrize("name", ["Query1", "Query1.Job", "Query1.Subscription"])
def test_qt_reads_the_xml(name, tmp_path):
    """Each type that QtDBus does not know by itself has an annotation."""
    if shutil.which("qdbusxml2cpp") is None:
        pytest.skip("there is no qdbusxml2cpp (qtbase5-dev-tools)")
    xml = os.path.join(ROOT, f"data/org.queryd.{name}.xml")
    result = subprocess.run(["qdbusxml2cpp", "-p", str(tmp_path / "proxy"), xml], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")
    assert "class OrgQuerydQuery1" in (tmp_path / "proxy.h").read_text()


def test_introspection_of_a_job(bus):
    source = members(ElementTree.parse(os.path.join(ROOT, "data/org.queryd.Query1.Job.xml")).getroot(), JOB)
    with tempfile.TemporaryFile() as file:
        path = bus.start_job("Backup", "(ha{sv})", 0, {}, fds=[file.fileno()], interface=MANAGER)
        bus.finish_job(path)
    assert members(introspect(bus, path), JOB) == source


def test_properties(bus):
    assert bus.property("Version")
    assert bus.property("ProtocolVersion") == 1
    assert "sql" in bus.property("Languages")
    assert {"csv", "tsv", "json", "jsonl"} <= set(bus.property("Formats"))
    assert bus.property("ReadOnly") is False
    bus.query("SELECT 1")
    assert bus.property("Generation") > 0
    assert bus.property("Prefixes") == {} or isinstance(bus.property("Prefixes"), dict)
    with pytest.raises((BusError, GLib.Error)):
        bus.property("Nosuch")


def test_gdbus(bus):
    bus.update("CREATE TABLE t (a, b)")
    bus.update("INSERT INTO t VALUES (1, 'one'), (2, NULL)")
    run = bus.gdbus("Query", "sql", "SELECT a, b FROM t ORDER BY a", "{}", "{}")
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == "(['a', 'b'], [[<int64 1>, <'one'>], [<int64 2>, <signature ''>]], false)"
    run = bus.gdbus("QueryText", "sql", "SELECT a, b FROM t ORDER BY a", "csv", "{}")
    assert "text/csv" in run.stdout and "one" in run.stdout
    run = bus.gdbus("Query", "sql", "SELECT 1 FORM t", "{}", "{}")
    assert run.returncode != 0 and "Error.Syntax" in run.stderr and "1:" in run.stderr
    run = bus.gdbus("Update", "sql", "INSERT INTO t VALUES (:a, :b)", "{':a': <3>, ':b': <'three'>}", "{}")
    assert run.returncode == 0 and run.stdout.startswith("(uint64 1, int64 3, uint64 "), run.stdout


def call_for_error(bus, method, *arguments):
    """The body of the error that answers a call, all of its arguments."""
    message = Gio.DBusMessage.new_method_call(NAME, PATH, NAME, method)
    message.set_body(GLib.Variant(*arguments))
    reply, _ = bus.connection.send_message_with_reply_sync(message, Gio.DBusSendMessageFlags.NONE, 10000, None)
    assert reply.get_message_type() == Gio.DBusMessageType.ERROR
    return reply.get_error_name(), reply.get_body().unpack()


def test_error_details(bus):
    """An error has details when they were asked for, and one argument, which GDBus insists on, when not."""
    bus.update("CREATE TABLE \"t.x\" (a, b, UNIQUE (a, b))")
    bus.update("INSERT INTO \"t.x\" VALUES (1, 2)")
    insert = "INSERT INTO \"t.x\" VALUES (1, 2)"
    message = "UNIQUE constraint failed: t.x.a, t.x.b"
    details = [("kind", "unique"), ("table", "t.x"), ("column", "a"), ("column", "b")]
    asked = {"error_details": GLib.Variant("b", True)}
    name = f"{NAME}.Error.Constraint"
    assert call_for_error(bus, "Update", "(ssa{sv}a{sv})", ("sql", insert, {}, {})) == (name, (message,))
    assert call_for_error(bus, "Update", "(ssa{sv}a{sv})", ("sql", insert, {}, asked)) == (name, (message, details))
    batch = [("sql", insert, {})]
    assert call_for_error(bus, "Batch", "(a(ssa{sv})a{sv})", (batch, asked)) == (name, (message, details))
    assert call_for_error(bus, "Update", "(ssa{sv}a{sv})", ("sql", "x", {}, asked))[1][1] == []
    assert len(call_for_error(bus, "Prepare", "(ssa{sv}a{sv})", ("sql", "x", {}, asked))[1]) == 1


def test_busctl(bus):
    run = bus.busctl("Query", "ssa{sv}a{sv}", "sql", "SELECT 1 AS x, 'two' AS y", "0", "0")
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == "asaavb 2 \"x\" \"y\" 1 2 x 1 s \"two\" false"
    run = bus.busctl("Query", "ssa{sv}a{sv}", "sql", "SELECT 1 FORM t", "0", "0")
    assert run.returncode != 0 and "1:" in run.stderr, "busctl drops the name: the message stands alone"
    run = bus.run("busctl", "--user", "get-property", NAME, PATH, NAME, "ProtocolVersion")
    assert run.stdout.strip() == "u 1"
    assert NAME in bus.run("busctl", "--user", "introspect", NAME, PATH).stdout


def test_gdbus_passes_a_descriptor(bus):
    """gdbus cannot take a descriptor but can give one: Export."""
    path = os.path.join(bus.folder, "out.csv")
    command = f"gdbus call --session -d {NAME} -o {PATH} -m {NAME}.Export sql 'SELECT 1 AS a' csv 3 '{{}}' 3<>{path}"
    run = bus.run("bash", "-c", command)
    if run.returncode != 0:
        pytest.skip(f"this gdbus cannot pass a descriptor: {run.stderr.strip()}")
    with open(path, encoding="utf-8") as stream:
        assert stream.read().split() == ["a", "1"]


def listen(connection):
    """Changed signals as they come: list of (generation, tables, graphs)."""
    seen = []
    connection.signal_subscribe(NAME, NAME, "Changed", PATH, None, Gio.DBusSignalFlags.NONE,
                                lambda *a: seen.append(a[5].unpack()))
    return seen


def spin(condition, what):
    context = GLib.MainContext.default()

    def step():
        while context.iteration(False):
            pass
        return condition()

    return wait_until(step, what)


def test_changed_signal(bus):
    bus.update("CREATE TABLE t (a)")
    seen = listen(bus.connection)
    generation = bus.update("INSERT INTO t VALUES (1)")[2]
    spin(lambda: seen and seen[-1][0] >= generation, "a signal")
    assert "t" in seen[-1][1] and seen[-1][2] == []
    del seen[:]
    generation = bus.update("DELETE FROM t")[2]
    spin(lambda: seen and seen[-1][0] >= generation, "a signal of a DELETE without WHERE")
    assert "t" in seen[-1][1]


def test_changed_signal_wakes_those_who_listen(bus):
    """Each connection of the library asks for the protocol and calls Prepare. It hears of commits from another call on."""
    bus.update("CREATE TABLE t (a)")
    client = bus.caller()
    seen, known = listen(client.connection), listen(bus.connection)
    assert client.property("ProtocolVersion") == 1
    client.prepare("SELECT * FROM t").close()
    generation = bus.update("INSERT INTO t VALUES (1)")[2]
    spin(lambda: known and known[-1][0] >= generation, "a signal")
    client.call("Ping", interface="org.freedesktop.DBus.Peer", path="/")
    spin(lambda: True, "a turn")
    assert seen == []
    client.property("Version")
    generation = bus.update("INSERT INTO t VALUES (1)")[2]
    spin(lambda: seen and seen[-1][0] >= generation, "a signal")


def test_changed_signal_names_graphs(bus, tmp_path):
    """"" is the default graph; above 64 graphs the list is "*". RDF is told by graphs, not by tables of ours."""
    seen = listen(bus.connection)

    def told(generation):
        spin(lambda: seen and seen[-1][0] >= generation, "a signal")
        tables, graphs = seen[-1][1:]
        del seen[:]
        assert tables == []
        return graphs

    assert told(bus.update("INSERT DATA { <x:a> <x:p> 1 . GRAPH <x:g> { <x:a> <x:p> 1 } }", language="sparql")[2]) == ["", "x:g"]
    many = " ".join(f"GRAPH <x:g{i}> {{ <x:a> <x:p> 1 }}" for i in range(65))
    assert told(bus.update(f"INSERT DATA {{ {many} }}", language="sparql")[2]) == ["*"]
    path = tmp_path / "data.nq"
    path.write_text("<x:a> <x:p> <x:b> <x:h> .\n<x:a> <x:q> <x:b> .\n")
    with open(path, "rb") as stream:
        bus.import_fd(stream.fileno(), "nquads")
    spin(lambda: seen, "a signal of the import")
    assert seen[-1][1:] == ([], ["", "x:h"])


def test_changed_signals_are_apart(bus):
    """Many writes, few signals: at once after a quiet time, then at least 40 ms apart, however late they come."""
    bus.update("CREATE TABLE t (a)")
    seen = listen(bus.connection)

    def write(n):
        for i in range(n):
            generation = bus.update("INSERT INTO t VALUES (?)", [i])[2]
        spin(lambda: seen and seen[-1][0] >= generation, "the last signal")
        return len(seen)

    before = write(1)
    begin = time.monotonic()
    n_signals = write(200) - before
    assert 0 < n_signals - 1 < min(150, (time.monotonic() - begin) / 0.04)


def test_failed_writes_make_no_signal(bus):
    bus.update("CREATE TABLE t (a PRIMARY KEY)")
    first = listen(bus.connection)
    generation = bus.update("INSERT INTO t VALUES (1)")[2]
    spin(lambda: first and first[-1][0] >= generation, "the first signal")
    seen = listen(bus.connection)
    with pytest.raises(BusError):
        bus.update("INSERT INTO t VALUES (1)")
    generation = bus.update("CREATE TABLE marker (a)")[2]
    spin(lambda: seen and seen[-1][0] >= generation, "the marker's signal")
    assert all("t" not in tables for _, tables, _ in seen)


def test_stats_and_limits(bus):
    stats = bus.stats()
    assert any("sqlite_version" in k for k in stats) and len(stats) > 8
    limits = bus.limits()
    assert limits["channels_per_client"][1:5] == (64, 64, "", "LimitExceeded")
    assert limits["statement_text_bytes"][3] == "bytes"


def test_reload(bus):
    assert bus.limits()["value_rows"][1] == 1000
    bus.write_config({"value_rows": 7, "nosuch_limit": 1, "sql_depth": 1})
    bus.call("Reload", interface=MANAGER)
    limits = bus.limits()
    assert limits["value_rows"][1:3] == (7, 1000)
    assert limits["sql_depth"][1] == limits["sql_depth"][2], "a value out of bounds is ignored"
    assert len(bus.query_full("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 50) SELECT i FROM n")[1]) == 7


def test_explain(bus):
    bus.update("CREATE TABLE t (id INTEGER PRIMARY KEY, b)")
    bus.update("CREATE INDEX t_b ON t (b)")
    sql, plan = bus.explain("SELECT id FROM t WHERE b = 5")
    assert "SELECT id FROM t" in sql and "t_b" in plan
    plan = bus.explain("SELECT id FROM t", analyze=True)[1]
    assert re.search(r"^prepare: [0-9.]+ ms\n(.*\n)*rows: 0, time: [0-9.]+ ms$", plan, re.MULTILINE), plan
    plan = bus.explain("SELECT ?s { ?s <p:p> ?o FILTER(?o > 1) }", language="sparql", analyze=True)[1]
    assert re.search(r"^parse and plan: [0-9.]+ ms, prepare: [0-9.]+ ms\n(.*\n)*rows: 0, time: [0-9.]+ ms$", plan,
                     re.MULTILINE), plan


@pytest.mark.parametrize("text", ["", " \n", ";", "-- x", "/* x */;", "\ufeff"])
def test_a_text_without_a_statement(bus, text):
    for call in (bus.query, bus.update, bus.prepare, bus.explain, lambda it: bus.batch([(it, [])])):
        with pytest.raises(BusError, match="1:1: the text has no statement: it is empty, or has only comments$") as error:
            call(text)
        assert error.value.name == "Syntax"
    text += "\n; SELECT 1 AS a -- x" if text != "\ufeff" else "SELECT 1 AS a"
    assert bus.query(text) == [(1,)]
    assert bus.explain(text) == (text, "SCAN CONSTANT ROW\n")


def test_explain_goes_as_deep_as_a_query(bus):
    """SQL that SPARQL was translated to may be deeper than what a client may write."""
    text = "SELECT * { ?a0 <p:p> ?b0 " + "".join(f"FILTER NOT EXISTS {{ ?a{i} <p:p> ?a{i + 1} " for i in range(85)) + "}" * 86
    assert bus.query(text, language="sparql") == []
    assert "queryd_quad" in bus.explain(text, language="sparql")[0]


def test_check_and_optimize(bus):
    bus.update("CREATE TABLE t (a)")
    assert bus.check() == (True, [])
    assert bus.check(quick=False) == (True, [])
    bus.call("Optimize", "(a{sv})", {}, interface=MANAGER)


def test_import_creates_a_table(bus):
    with tempfile.TemporaryFile() as file:
        file.write(b"id,name\n" + b"".join(b"%d,name %d\n" % (i, i) for i in range(20000)))
        file.seek(0)
        job = bus.import_fd(file.fileno(), "csv", table="people", create=True)
    assert (job["State"], job["RowsDone"], job["Kind"].lower()) == ("finished", 20000, "import")
    assert job["BytesDone"] == job["BytesTotal"] > 0
    assert bus.query("SELECT count(*), min(id), max(name) FROM people") == [(20000, 0, "name 9999")]


def test_import_is_one_transaction(bus):
    bus.update("CREATE TABLE t (a INTEGER PRIMARY KEY)")
    with tempfile.TemporaryFile() as file:
        file.write(b"a\n1\n2\n3\n2\n")
        file.seek(0)
        job = bus.import_fd(file.fileno(), "csv", table="t")
    assert job["State"] == "failed" and job["ErrorName"].endswith("Constraint") and job["ErrorMessage"]
    assert bus.query("SELECT count(*) FROM t") == [(0,)]


def test_import_from_a_pipe_and_cancel(bus):
    bus.update("CREATE TABLE t (a)")
    read_end, write_end = os.pipe()
    path = bus.start_job("Import", "(hsa{sv})", 0, "csv", {"table": GLib.Variant("s", "t")}, fds=[read_end])
    os.close(read_end)
    os.write(write_end, b"a\n1\n2\n")
    bus.call("Cancel", interface=JOB, path=path)
    job = bus.finish_job(path)
    assert job["State"] == "cancelled", job
    os.close(write_end)
    assert bus.query("SELECT count(*) FROM t") == [(0,)]


def test_job_ends_with_its_caller(bus):
    bus.update("CREATE TABLE t (a)")
    caller = bus.caller()
    read_end, write_end = os.pipe()
    caller.start_job("Import", "(hsa{sv})", 0, "csv", {"table": GLib.Variant("s", "t")}, fds=[read_end])
    os.close(read_end)
    os.write(write_end, b"a\n1\n")
    wait_until(lambda: any(q["state"] == "job" for q in bus.queries()), "the job")
    caller.close()
    wait_until(lambda: not bus.queries(), "the job's end")
    os.close(write_end)
    assert bus.query("SELECT count(*) FROM t") == [(0,)]


def test_job_of_another_is_not_yours(bus):
    other = bus.caller()
    read_end, write_end = os.pipe()
    bus.update("CREATE TABLE t (a)")
    path = bus.start_job("Import", "(hsa{sv})", 0, "csv", {"table": GLib.Variant("s", "t")}, fds=[read_end])
    os.close(read_end)
    with pytest.raises(BusError) as error:
        other.call("Cancel", interface=JOB, path=path)
    assert error.value.name in ("AccessDenied", "org.freedesktop.DBus.Error.UnknownObject")
    os.write(write_end, b"a\n1\n")
    os.close(write_end)
    assert bus.finish_job(path)["State"] == "finished"


def test_backup_is_a_database(bus):
    bus.update("CREATE TABLE t AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 50000) SELECT i FROM n")
    target = os.path.join(bus.folder, "backup.db")
    with open(target, "w+b") as file:
        job = bus.backup(file.fileno())
    assert job["State"] == "finished", job
    run = bus.run("sqlite3", target, "PRAGMA integrity_check; SELECT count(*) FROM t")
    assert run.stdout.split() == ["ok", "50000"]


def test_unknown_method_and_path(bus):
    with pytest.raises(BusError):
        bus.call("Nosuch")
    with pytest.raises(BusError):
        bus.call("Cancel", interface=JOB, path=PATH + "/job/12345")


def test_the_manual_names_everything():
    """Methods, signals, properties and options of the XML stand in org.queryd.Query1(5)."""
    with open(os.path.join(ROOT, "docs/man/org.queryd.Query1.5.scd"), encoding="utf-8") as stream:
        manual = stream.read()
    for file in ("org.queryd.Query1.xml", "org.queryd.Query1.Job.xml", "org.queryd.Query1.Subscription.xml"):
        with open(os.path.join(ROOT, "data", file), encoding="utf-8") as stream:
            text = stream.read()
        names = re.findall(r"<(?:method|signal|property) name=\"(\w+)\"", text)
        names += re.findall(r"^ {17}(\w+) [a-z]  ", text, re.MULTILINE)
        assert names and [name for name in names if f"*{name}*" not in manual] == []
