# SPDX-License-Identifier: LGPL-2.1-or-later
"""The interface of TinySPARQL: Debian's own programs and library against queryd, truncated results, hostile callers.

Tests with libtracker-sparql are skipped, aloud, where its packages are missing; the bytes on the pipes are tested without it."""
import json
import os
import shutil
import signal
import struct
import subprocess
import xml.etree.ElementTree as ElementTree

import pytest
from gi.repository import GLib

from harness import NAME, ROOT, SANITIZER, BusError, memory_file, n_fds, wait_until

PATH = "/org/freedesktop/Tracker3/Endpoint"
INTERFACE = "org.freedesktop.Tracker3.Endpoint"
ERROR = "org.freedesktop.Tracker.Error."
BINDINGS = os.path.join(ROOT, "tests/bindings")
HUGE = "SELECT ?a ?b ?c { ?a <urn:k> ?b . ?x <urn:k> ?c . ?y <urn:k> ?d }"  # 125 million rows
ONE_COLUMN = HUGE.replace("?a ?b ?c {", "?a {")
CORRUPT = "Corrupted cursor data"
TRACKER3 = pytest.mark.skipif(shutil.which("tracker3") is None, reason="tracker3 is not installed (package tracker)")


@pytest.fixture
def endpoint(make_bus):
    def make(mode="on", **limits):
        return make_bus(config=f"[Daemon]\ntinysparql={mode}\n", limits=limits)
    return make


def call(bus, method, signature, *arguments, fds=()):
    return bus.call(method, signature, *arguments, fds=fds, interface=INTERFACE, path=PATH)[0].unpack()


class Result:
    """The reading end of the pipe of a query."""

    def __init__(self, bus, text, arguments=None):
        self.fd, writer = os.pipe2(os.O_CLOEXEC)
        try:
            (self.columns,) = call(bus, "Query", "(sha{sv})", text, 0, arguments or {}, fds=[writer])
        except BusError:
            os.close(self.fd)
            raise
        finally:
            os.close(writer)

    def rest(self):
        data = b""
        while piece := os.read(self.fd, 1 << 20):
            data += piece
        os.close(self.fd)
        return data


def parse(data):
    """What a cursor of libtracker-sparql makes of the bytes: rows, and whether it ends with an error."""
    rows, at = [], 0

    def take(n):
        nonlocal at
        at += n
        return data[at - n:at].ljust(n, b"\0")  # the client does not look at how much it has read

    while at < len(data):
        n = struct.unpack("=i", take(4))[0] if len(data) - at >= 4 else 0
        if n == 0:
            break
        types = struct.unpack(f"={n}i", take(4 * n))
        offsets = struct.unpack(f"={n}i", take(4 * n))
        if any(a < 0 or a >= b for a, b in zip(offsets, offsets[1:])):
            return rows, True
        values = take(offsets[-1] + 1)
        starts = [0] + [offset + 1 for offset in offsets[:-1]]
        rows.append([(t, values[s:e].decode()) for t, s, e in zip(types, starts, offsets)])
    return rows, False


def frame(*updates, is_array=False, is_tagged=False):
    """Updates as a client writes them: of 3.4, or of 3.6 and later."""
    def one(update):
        text = update.encode()
        return struct.pack("=Ii", 0, len(text)) + text + struct.pack("=i", 0) if is_tagged else struct.pack("=i", len(text)) + text
    return (struct.pack("=i", len(updates)) if is_array else b"") + b"".join(map(one, updates))


def send(bus, method, data):
    """The data goes into the pipe first; its end is closed after the call."""
    reader, writer = os.pipe2(os.O_CLOEXEC)
    try:
        os.write(writer, data)
        return call(bus, method, "(h)", 0, fds=[reader])
    finally:
        os.close(reader)
        os.close(writer)


def fill(bus, n=500):
    bus.update("INSERT DATA { " + " ".join(f"<urn:s{i}> <urn:k> {i} ." for i in range(n)) + " }", language="sparql")


def n_quads(bus):
    return int(bus.query("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }", language="sparql")[0][0][0])


# --- the interface ---------------------------------------------------------------------------------------------------------

def test_off_unless_configured(bus):
    with pytest.raises(BusError) as caught:
        Result(bus, "ASK {}")
    assert caught.value.name == "org.freedesktop.DBus.Error.UnknownObject"


def test_reload_puts_it_on_the_bus(bus):
    bus.property("Version")
    bus.write_config({}, "[Daemon]\ntinysparql=on\n")
    bus.call("Reload", interface=NAME + ".Manager")
    assert parse(Result(bus, "ASK {}").rest()) == ([[(7, "true"), (0, "")]], False)
    bus.write_config({})
    bus.call("Reload", interface=NAME + ".Manager")
    with pytest.raises(BusError):
        Result(bus, "ASK {}")


def describe(text):
    """Of an interface: members with their arguments, as a set of texts."""
    interface = next(e for e in ElementTree.fromstring(text).iter("interface") if e.get("name") == INTERFACE)
    def argument(element):
        return f"{element.get('direction', 'out')} {element.get('type')} {element.get('name')}"

    return {" ".join([m.tag, m.get("name")] + [argument(a) for a in m.iter("arg")]) for m in interface}


def test_description(endpoint):
    bus = endpoint()
    (text,) = bus.call("Introspect", interface="org.freedesktop.DBus.Introspectable", path=PATH)[0].unpack()
    with open(os.path.join(ROOT, "data/org.freedesktop.Tracker3.Endpoint.xml"), encoding="utf-8") as stream:
        assert describe(text) == describe(stream.read())


def test_bytes_of_a_result(endpoint):
    bus = endpoint()
    bus.update('INSERT DATA { <urn:a> <urn:p> <urn:b>, "text", 7, 2.5, true, "1"^^<http://www.w3.org/2001/XMLSchema#boolean>, '
               '"2020-01-01"^^<http://www.w3.org/2001/XMLSchema#date>, "chat"@fr }', language="sparql")
    result = Result(bus, "SELECT ?o { <urn:a> <urn:p> ?o }")
    assert result.columns == ["o"]
    rows, failed = parse(result.rest())
    assert not failed
    assert sorted(row[0] for row in rows) == sorted([(1, "urn:b"), (2, "text"), (3, "7"), (4, "2.5"), (7, "true"), (7, "true"),
                                                     (5, "2020-01-01"), (2, "chat\0fr")])
    assert parse(Result(bus, "SELECT ?x ?y { ?x <urn:no> ?y }").rest()) == ([], False)
    assert parse(Result(bus, "SELECT * {}").rest())[1] is False
    large = "x" * 300000  # more than a page, and than the pipe
    rows, failed = parse(Result(bus, "SELECT (~a AS ?x) ?y { VALUES ?y { 1 2 3 } }", {"a": GLib.Variant("s", large)}).rest())
    assert not failed and [row[0][1] == large for row in rows] == [True] * 3


def test_errors_have_their_names(endpoint):
    bus = endpoint()
    for text, name in (("SELECT", "Parse"), ("SELECT ?a { SERVICE <x:y> { ?a ?b ?c } }", "Unsupported"),
                       ("SELECT foaf:name(?a) { ?a ?b ?c }", "Unsupported"), ("SELECT ?a { ?a ?b ~no }", "Type"),
                       ("INSERT DATA { <urn:a> <urn:b> 1 }", "QueryFailed"),
                       ("SELECT ?a { ?a ?b ?c } LIMIT 1 CONSTRAINT", "Parse")):
        with pytest.raises(BusError) as caught:
            Result(bus, text)
        assert caught.value.name == ERROR + name, (text, caught.value)
    with pytest.raises(BusError) as caught:
        send(bus, "Update", frame("INSERT DATA { 1 }"))
    assert caught.value.name == ERROR + "Parse"


# --- updates ---------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("is_tagged", [False, True])
def test_both_formats_of_updates(endpoint, is_tagged):
    bus = endpoint()
    send(bus, "Update", frame("INSERT DATA { <urn:a> <urn:n> 1 }", is_tagged=is_tagged))
    send(bus, "UpdateArray", frame("INSERT DATA { <urn:a> <urn:n> 2 }", "INSERT { <urn:a> <urn:n> 3 }", is_array=True,
                                   is_tagged=is_tagged))
    (names,) = send(bus, "UpdateBlank", frame("INSERT DATA { _:x <urn:n> 4 . [] <urn:n> _:x }", is_tagged=is_tagged))
    assert n_quads(bus) == 5 and list(names[0][0]) == ["x"] and names[0][0]["x"].startswith("urn:uuid:")
    with pytest.raises(BusError):
        send(bus, "UpdateArray", frame("INSERT DATA { <urn:a> <urn:n> 9 }", "no", is_array=True, is_tagged=is_tagged))
    assert n_quads(bus) == 5
    send(bus, "UpdateArray", struct.pack("=i", 0))


@pytest.mark.parametrize("is_tagged", [False, True])
def test_updates_with_parameters(endpoint, is_tagged):
    bus = endpoint()
    text, parameters = b"INSERT DATA { ~s <urn:n> ~v }", b"{'s': <'urn:s'>, 'v': <int64 5>}"
    if is_tagged:
        data = struct.pack("=iIi", 1, 0, len(text)) + text + struct.pack("=i", len(parameters)) + parameters
    else:
        data = struct.pack("=ii", 1, len(text) + 1 + len(parameters)) + text + b"\0" + parameters
    send(bus, "UpdateArray", data)
    assert parse(Result(bus, "SELECT ?v { <urn:s> <urn:n> ?v }").rest())[0] == [[(3, "5"), (0, "")]]


# --- truncated results -----------------------------------------------------------------------------------------------------

def cancel_one(bus):
    (query,) = wait_until(lambda: [q for q in bus.queries() if q["text"] == HUGE and q["rows"] > 0], "rows of the query")
    bus.call("CancelQuery", "(t)", query["id"], interface=NAME + ".Manager")


@pytest.mark.parametrize("end", ["cancel", "timeout", "stop", "kill"])
def test_a_truncated_result_is_an_error(endpoint, end):
    """By the bytes, as a cursor takes them: with one column, and with several."""
    bus = endpoint(**({"query_timeout_ms": 50} if end == "timeout" else {}))
    fill(bus)
    results = [Result(bus, text) for text in (HUGE, ONE_COLUMN)]
    if end == "kill":
        bus.kill_daemon()
    elif end == "stop":
        bus.stop_daemon()
    elif end == "cancel":
        for query in bus.queries():
            if query["text"] in (HUGE, ONE_COLUMN):
                bus.call("CancelQuery", "(t)", query["id"], interface=NAME + ".Manager")
    for result in results:
        rows, failed = parse(result.rest())
        assert failed and len(rows) > 0


def test_an_error_before_the_first_row_is_one_of_the_call(endpoint):
    bus = endpoint(query_timeout_ms=300)
    fill(bus)
    with pytest.raises(BusError) as caught:
        Result(bus, "SELECT (COUNT(*) AS ?n) { ?a <urn:k> ?b . ?x <urn:k> ?c . ?y <urn:k> ?d FILTER (?b + ?c < ?d) }")
    assert caught.value.name == ERROR + "QueryFailed" and "query_timeout_ms" in caught.value.message


def test_truncated_triples_are_no_document(endpoint):
    bus = endpoint(query_timeout_ms=500)
    fill(bus)
    reader, writer = os.pipe2(os.O_CLOEXEC)
    text = "CONSTRUCT { ?a ?b ?c } { ?a <urn:k> ?x . ?b <urn:k> ?y . ?c <urn:k> ?z }"
    call(bus, "Serialize", "(shiia{sv})", text, 0, 0, 0, {}, fds=[writer])
    os.close(writer)
    data = b""
    while piece := os.read(reader, 1 << 20):
        data = (data + piece)[-1000:]
    os.close(reader)
    assert b'\n"the triples are not complete: ' in data and not data.endswith(b'"')


def test_jsonld_both_ways(endpoint):
    bus = endpoint()
    with memory_file(b'{"@id": "urn:s", "urn:p": {"@list": [1, "two"]}}') as fd:
        call(bus, "Deserialize", "(hiisa{sv})", 0, 0, 2, "urn:g", {}, fds=[fd])
    reader, writer = os.pipe2(os.O_CLOEXEC)
    call(bus, "Serialize", "(shiia{sv})", "CONSTRUCT { ?s ?p ?o } { GRAPH <urn:g> { ?s ?p ?o } }", 0, 0, 2, {}, fds=[writer])
    os.close(writer)
    with open(reader, encoding="utf-8") as stream:
        assert json.load(stream) == [{"@id": "urn:s", "urn:p": {"@list": [1, "two"]}}]


# --- hostile callers -------------------------------------------------------------------------------------------------------

def test_a_reader_that_stops_holds_nothing_for_long(endpoint):
    bus = endpoint(reader_idle_ms=300)
    fill(bus)
    bus.daemon_pid()
    before = n_fds(bus.daemon_pid())
    results = [Result(bus, HUGE) for _ in range(20)]
    assert n_quads(bus) == 500  # others are served
    wait_until(lambda: not bus.queries(), "the end of the results, which leaves only what was written")
    assert all(parse(result.rest())[1] for result in results[:3])
    for result in results[3:]:
        os.close(result.fd)
    wait_until(lambda: n_fds(bus.daemon_pid()) <= before, "the end of the channels")


def test_open_results_are_limited(endpoint):
    bus = endpoint(channels_per_client=4)
    fill(bus)
    results = [Result(bus, HUGE) for _ in range(4)]
    with pytest.raises(BusError) as caught:
        Result(bus, HUGE)
    assert "channels_per_client" in caught.value.message
    for result in results:
        os.close(result.fd)


def test_a_reader_that_leaves_ends_the_query(endpoint):
    bus = endpoint()
    fill(bus)
    os.close(Result(bus, HUGE).fd)
    wait_until(lambda: not bus.queries(), "the end of the query")
    reader, writer = os.pipe2(os.O_CLOEXEC)
    os.close(reader)
    with pytest.raises(BusError):
        call(bus, "Query", "(sha{sv})", HUGE, 0, {}, fds=[writer])
    os.close(writer)


def test_only_pipes_are_taken(endpoint, tmp_path):
    bus = endpoint()
    with open(tmp_path / "file", "w+b") as file, open("/dev/null", "r+b") as null:
        reader, writer = os.pipe2(os.O_CLOEXEC)
        for fd in (file.fileno(), null.fileno(), reader):
            with pytest.raises(BusError) as caught:
                call(bus, "Query", "(sha{sv})", "ASK {}", 0, {}, fds=[fd])
            assert caught.value.name == ERROR + "Type"
        for fd in (file.fileno(), writer):
            with pytest.raises(BusError):
                call(bus, "Update", "(h)", 0, fds=[fd])
        os.close(reader)
        os.close(writer)


@pytest.mark.parametrize("data", [
    struct.pack("=i", -1), struct.pack("=i", 0x7fffffff), struct.pack("=i", 100) + b"short", b"", b"\1", struct.pack("=Ii", 0, -5),
    struct.pack("=I", 1) + b"\xff" * 40, struct.pack("=i", 4) + b"\xff\xfe\0\0"])
def test_nonsense_as_an_update(endpoint, data):
    bus = endpoint()
    for method in ("Update", "UpdateArray", "UpdateBlank"):
        if method == "UpdateArray" and data.startswith(bytes(4)):
            continue  # an array of none
        reader, writer = os.pipe2(os.O_CLOEXEC)
        os.write(writer, data)
        os.close(writer)
        with pytest.raises(BusError) as caught:
            call(bus, method, "(h)", 0, fds=[reader])
        os.close(reader)
        assert caught.value.name.startswith(ERROR), (method, data)
    assert n_quads(bus) == 0


def test_an_update_that_does_not_come(endpoint):
    bus = endpoint(request_idle_ms=300)
    with pytest.raises(BusError) as caught:
        send(bus, "Update", frame("INSERT DATA { <urn:a> <urn:b> 1 }")[:-1])
    assert "request_idle_ms" in caught.value.message


def test_memory_of_updates_is_charged(endpoint):
    bus = endpoint(request_bytes_per_client="1M", batch_bytes="64M")
    reader, writer = os.pipe2(os.O_CLOEXEC)
    writes = subprocess.Popen(["sh", "-c", "printf '\\000\\000\\000\\002'; exec head -c 33554432 /dev/zero"], stdout=writer,
                              stderr=subprocess.DEVNULL)
    os.close(writer)
    with pytest.raises(BusError) as caught:
        call(bus, "Update", "(h)", 0, fds=[reader])
    os.close(reader)
    writes.kill()
    writes.wait()
    assert "request_bytes_per_client" in caught.value.message
    send(bus, "Update", frame("INSERT DATA { <urn:a> <urn:b> 1 }"))


# --- Debian's programs and library -----------------------------------------------------------------------------------------

def tracker3(bus, verb, *arguments):
    result = bus.run("tracker3", verb, "--dbus-service", NAME, *arguments)
    assert result.returncode == 0, result
    return result.stdout


@TRACKER3
def test_tracker3(endpoint, tmp_path):
    bus = endpoint("union")
    document = tmp_path / "document.ttl"
    document.write_text("@prefix n: <http://n/> . n:a n:b 'c', 'd'@en .\n", encoding="utf-8")
    assert "Successfully imported" in tracker3(bus, "import", str(document))
    assert tracker3(bus, "sparql", "--update", "-q", "INSERT DATA { GRAPH <urn:g> { <urn:a> <urn:b> 7 } }").strip() == "Done"
    lines = tracker3(bus, "sparql", "-q", "SELECT ?s ?o { ?s ?p ?o } ORDER BY ?s ?o").split("\n")
    assert [line.strip() for line in lines if "," in line] == ["http://n/a, c", "http://n/a, d", "urn:a, 7"]
    assert "urn:g" in tracker3(bus, "sparql", "--list-graphs")
    text = tracker3(bus, "export")
    assert '<http://n/b> "c" , "d"@en .' in text and "<urn:a> <urn:b> 7 ." in text
    other = tmp_path / "export.ttl"
    other.write_text(text, encoding="utf-8")
    tracker3(bus, "import", str(other))


@pytest.mark.parametrize("mode", ["on", "union"])
def test_program_in_python(endpoint, mode):
    import gi
    try:
        gi.require_version("Tracker", "3.0")
    except ValueError:
        pytest.skip("libtracker-sparql is not installed for Python (package gir1.2-tracker-3.0)")
    result = endpoint(mode).run("/usr/bin/python3", os.path.join(BINDINGS, "tracker_client.py"), mode)
    assert (result.returncode, result.stdout, result.stderr) == (0, "all as expected\n", "")


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "tracker-sparql-3.0"], capture_output=True, text=True, check=False)
    if flags.returncode != 0:
        pytest.skip("libtracker-sparql is not installed for C (package libtracker-sparql-3.0-dev)")
    path = str(tmp_path_factory.mktemp("tinysparql") / "client")
    subprocess.run(["cc", "-Wall", "-o", path, os.path.join(BINDINGS, "tracker_client.c")] + flags.stdout.split(), check=True)
    return path


def test_program_in_c(endpoint, program):
    result = endpoint().run(program, "check")
    assert (result.returncode, result.stdout, result.stderr) == (0, "all as expected\n", "")


@pytest.mark.parametrize("end", ["cancel", "timeout", "stop", "kill"])
def test_the_library_sees_that_a_result_is_truncated(endpoint, program, end):
    bus = endpoint(**({"query_timeout_ms": 300} if end == "timeout" else {}))
    fill(bus)
    with subprocess.Popen([program, "count", HUGE], env=bus.env, stdout=subprocess.PIPE, text=True) as client:
        if end != "timeout":
            wait_until(lambda: [q for q in bus.queries() if q["text"] == HUGE and q["rows"] > 0], "rows of the query")
        if end == "cancel":
            cancel_one(bus)
        elif end == "stop":
            bus.stop_daemon()
        elif end == "kill":
            bus.kill_daemon()
        output = client.communicate(timeout=60)[0]
    assert output.strip().endswith(CORRUPT), output
    assert int(output.split()[0]) > 0
