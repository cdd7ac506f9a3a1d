# SPDX-License-Identifier: LGPL-2.1-or-later
"""Import and Dump of RDF: formats, graphs, errors, and that a failed import changes nothing."""
import json
import os
import re
import threading

import pytest

from harness import SANITIZER, BusError, memory_file, options, wait_until
from wire_client import RemoteError

EX = "http://example.org/"
TURTLE = f"""@prefix ex: <{EX}> .
ex:s a ex:T ; ex:p "x"@en-GB , "X"@EN-gb , 1 , 01 , 1.50 , <rel> .
_:b ex:p [ ex:q (1 2) ] .
"""


def load(bus, text, fmt, **opts):
    with memory_file(text if isinstance(text, bytes) else text.encode()) as fd:
        return bus.import_fd(fd, fmt, **opts)


def load_well(bus, text, fmt, **opts):
    job = load(bus, text, fmt, **opts)
    assert (job["State"], job["ErrorMessage"]) == ("finished", "")
    return job


def quads(bus, **opts):
    job, text = bus.dump("nquads", **opts)
    assert (job["State"], job["ErrorMessage"]) == ("finished", "")
    assert job["RowsDone"] == len(text.splitlines())
    return sorted(re.sub(r"_:b\d+", "_:b", line) for line in text.splitlines())


def test_turtle(bus):
    job = load_well(bus, TURTLE, "turtle", base=EX + "dir/doc")
    assert job["RowsDone"] == 13 and job["BytesDone"] == len(TURTLE)
    assert f"<{EX}s> <{EX}p> <{EX}dir/rel> ." in quads(bus)
    assert f'<{EX}s> <{EX}p> "01"^^<http://www.w3.org/2001/XMLSchema#integer> .' in quads(bus)
    assert len(quads(bus)) == 13
    assert ("ex", EX) in bus.query("SELECT prefix, iri FROM queryd_prefix")


@pytest.mark.parametrize("fmt", ["turtle", "trig", "ntriples", "nquads", "rdfxml", "jsonld"])
def test_formats_come_back(bus, fmt):
    load_well(bus, TURTLE, "turtle", base=EX)
    before = quads(bus)
    job, text = bus.dump(fmt)
    assert job["State"] == "finished" and job["RowsDone"] == 13
    load_well(bus, text, fmt, replace=True, graph=EX + "other") if fmt in ("trig", "nquads", "jsonld") else \
        load_well(bus, text, fmt, replace=True)
    if fmt in ("trig", "nquads", "jsonld"):
        before = sorted(line[:-1] + f"<{EX}other> ." for line in before)
    assert quads(bus) == before


def test_graphs(bus):
    load_well(bus, f"<{EX}g> {{ <{EX}s> <{EX}p> 1 }} <{EX}s> <{EX}p> 2 .", "trig", graph=EX + "default")
    number = "^^<http://www.w3.org/2001/XMLSchema#integer>"
    assert quads(bus) == [f'<{EX}s> <{EX}p> "1"{number} <{EX}g> .', f'<{EX}s> <{EX}p> "2"{number} <{EX}default> .']
    assert quads(bus, graph=EX + "g") == [f'<{EX}s> <{EX}p> "1"{number} <{EX}g> .']
    assert bus.dump("ntriples", graph=EX + "default")[1] == f'<{EX}s> <{EX}p> "2"{number} .\n'
    assert quads(bus, graph=EX + "unknown") == []
    assert bus.dump("ntriples")[1] == ""
    assert bus.query("SELECT lexical, n_quads FROM queryd_graph JOIN queryd_term USING (id) ORDER BY 1") == [
        (EX + "default", 1), (EX + "g", 1)]


def test_replace_one_graph(bus):
    load_well(bus, "<a:s> <a:p> <a:o> .\n<a:s> <a:p> <a:o> <a:g> .\n", "nquads")
    load_well(bus, "<a:s> <a:p> <a:new> .", "turtle", graph="a:g", replace=True)
    assert quads(bus) == ["<a:s> <a:p> <a:new> <a:g> .", "<a:s> <a:p> <a:o> ."]
    load_well(bus, "", "nquads", replace=True)
    assert quads(bus) == []


def test_one_graph(bus):
    load_well(bus, "<a:s> <a:p> <a:o> .\n<a:s> <a:p> <a:o> <a:g> .\n", "nquads")
    load_well(bus, '{"@id": "a:s", "a:p": {"@id": "a:new"}}', "jsonld", graph="a:g", replace=True, one_graph=True)
    assert quads(bus) == ["<a:s> <a:p> <a:new> <a:g> .", "<a:s> <a:p> <a:o> ."]
    job = load(bus, '{"@id": "a:h", "@graph": {"@id": "a:s", "a:p": 1}}', "jsonld", graph="a:g", replace=True, one_graph=True)
    assert "named graph 'a:h'" in job["ErrorMessage"] and len(quads(bus)) == 2


def test_jsonld_through_queryctl(bus, tmp_path):
    """Prefixes of the document are stored, and are the context of what is written."""
    document = tmp_path / "people.jsonld"
    document.write_text('{"@context": {"ex": "http://e/", "knows": {"@id": "ex:knows", "@type": "@id"}}, "@id": "ex:ann", '
                        '"knows": ["ex:bob"], "ex:list": {"@list": [1, "two"]}}')
    assert bus.run(bus.queryctl, "import", str(document)).returncode == 0
    result = bus.run(bus.queryctl, "export", "--format", "jsonld")
    written = json.loads(result.stdout)
    assert written["@context"]["ex"] == "http://e/"
    assert written["@graph"] == [{"@id": "ex:ann", "ex:knows": {"@id": "ex:bob"}, "ex:list": {"@list": [1, "two"]}}]
    result = bus.run(bus.queryctl, "sparql", "--format", "jsonld", "CONSTRUCT WHERE { ?s <http://e/knows> ?o }")
    assert json.loads(result.stdout) == [{"@id": "http://e/ann", "http://e/knows": {"@id": "http://e/bob"}}]


def test_blank_nodes_are_fresh(bus):
    for _ in range(2):
        load_well(bus, "_:x <a:p> _:y .\n_:x <a:p> _:y .\n", "ntriples")
    assert len(set(bus.dump("nquads")[1].splitlines())) == 2


@pytest.mark.parametrize("fmt, text, message", [
    ("turtle", "<a:s> <a:p> <a:o> .\n<a:s> <a:p> zzz .\n", "2:13: unexpected 'zzz', expected an object"),
    ("ntriples", "<a:s> <a:p> <a:o> .\n<a:s> <a:p> <o> .\n", "2:13: IRI 'o' is not absolute"),
    ("nquads", "<a:s> <a:p> <a:o> <a:g> .\n\xff".encode("latin-1"), "2:1: bytes that are not UTF-8"),
    ("rdfxml", "<!DOCTYPE x SYSTEM 'y'><x/>", "1:13: an external DTD is not allowed: nothing outside of the document is read"),
    ("jsonld", '{"@context": "https://schema.org/",\n "name": "x"}', "1:14: loading remote context failed: 'https://schema.org/' "
     "is not part of the document, and nothing is fetched; write the context into the document"),
    ("jsonld", '[{"a:p": 1},\n {"@id": 5}]', "2:10: invalid @id value: it is no string"),
    ("trig", "<a:g> { <a:s> <a:p> <a:o> ", "1:27: unexpected end of the text, expected ';', ',', '.' or '}'"),
])
def test_failed_import_changes_nothing(bus, fmt, text, message):
    load_well(bus, "<a:before> <a:p> <a:o> .", "turtle")
    generation = bus.property("Generation")
    job = load(bus, text, fmt, replace=True)
    assert (job["State"], job["ErrorName"]) == ("failed", "org.queryd.Query1.Error.Syntax")
    assert job["ErrorMessage"] == message
    assert quads(bus) == ["<a:before> <a:p> <a:o> ."] and bus.property("Generation") == generation
    assert bus.query("SELECT count(*) FROM queryd_term") == [(3,)]


def test_check_only(bus):
    job = load_well(bus, TURTLE, "turtle", base=EX, check_only=True)
    assert job["RowsDone"] == 13 and quads(bus) == []
    assert load(bus, "x", "turtle", check_only=True)["ErrorMessage"].startswith("1:1: unexpected 'x'")


@pytest.mark.parametrize("opts, message", [
    ({"graph": "relative"}, "option 'graph' is no absolute IRI: 'relative'"),
    ({"base": "http://a b/"}, "option 'base' is no absolute IRI: 'http://a b/'"),
    ({"table": "t"}, "option 'table' is not for the format 'turtle'"),
])
def test_bad_options(bus, opts, message):
    job = load(bus, "", "turtle", **opts)
    assert (job["ErrorName"], job["ErrorMessage"]) == ("org.queryd.Query1.Error.BadParameter", message)


def test_dump_refuses(bus):
    job, _ = bus.dump("pdf")
    assert job["ErrorMessage"] == "unknown format 'pdf': turtle, trig, ntriples, nquads, rdfxml and jsonld are known"
    load_well(bus, "<a:s> <a:p/> <a:o> .", "turtle")
    job, _ = bus.dump("rdfxml")
    assert (job["ErrorName"], job["ErrorMessage"]) == ("org.queryd.Query1.Error.Unsupported",
                                                      "RDF/XML cannot name the predicate 'a:p/'")


def test_nesting_is_bounded(bus):
    job = load(bus, "<a:s> <a:p> " + "[ <a:p> " * 30000, "turtle")
    assert job["ErrorMessage"].endswith("nested too deep: the limit 'rdf_depth' is 128")
    assert job["ErrorName"] == "org.queryd.Query1.Error.TooComplex"


def test_pipe_is_read_while_it_is_written(bus):
    """Pass 1 holds no lock: an update comes through while the document is not yet there."""
    reader, writer = os.pipe2(os.O_CLOEXEC)
    path = bus.start_job("Import", "(hsa{sv})", 0, "ntriples", options({}), fds=[reader])
    os.close(reader)
    os.write(writer, b"<a:s> <a:p> <a:o> .\n")
    bus.update("CREATE TABLE t(x)")
    os.write(writer, b"<a:s> <a:p> <a:o2> .\n")
    os.close(writer)
    assert bus.finish_job(path)["State"] == "finished"
    assert len(quads(bus)) == 2


def test_cancel(bus):
    reader, writer = os.pipe2(os.O_CLOEXEC)
    path = bus.start_job("Import", "(hsa{sv})", 0, "turtle", options({}), fds=[reader])
    os.close(reader)
    os.write(writer, b"<a:s> <a:p> <a:o> .\n")
    bus.call("Cancel", interface="org.queryd.Query1.Job", path=path)
    assert bus.finish_job(path)["State"] == "cancelled"
    os.close(writer)
    assert quads(bus) == []


def test_large_load_keeps_readers(bus):
    """Indexes are made anew; who reads meanwhile is not disturbed; statistics are those of the data."""
    n = 20000 if SANITIZER else 60000
    text = "".join(f"<{EX}s{i // 4}> <{EX}p{i % 4}> \"{i}\" .\n" for i in range(n))
    load_well(bus, "<a:s> <a:p> <a:o> .", "turtle")
    other, stop, counts = bus.caller(), threading.Event(), set()

    def read():
        while not stop.is_set():
            counts.add(other.query("SELECT count(*) FROM queryd_quad")[0][0])

    thread = threading.Thread(target=read)
    thread.start()
    try:
        assert load_well(bus, text, "ntriples")["RowsDone"] == n
    finally:
        stop.set()
        thread.join()
    assert counts <= {1, n + 1}
    rows = bus.query("SELECT n_quads, n_subjects, n_objects, tags FROM queryd_predicate ORDER BY id")
    assert rows == [(1, 1, 1, 1 << 32)] + [(n // 4, n // 4, n // 4, 1 << 33)] * 4
    assert bus.check()[0]


def test_killed_while_loading(bus):
    """The store is as it was, and takes the load the next time."""
    text = "".join(f"<{EX}s{i}> <{EX}p> \"{i}\" .\n" for i in range(60000))
    load_well(bus, "<a:s> <a:p> <a:o> .", "turtle")
    with memory_file(text.encode()) as fd:
        path = bus.start_job("Import", "(hsa{sv})", 0, "ntriples", options({}), fds=[fd])

    def is_writing():
        reply, _ = bus.call("Get", "(ss)", "org.queryd.Query1.Job", "RowsDone", interface="org.freedesktop.DBus.Properties",
                              path=path)
        return reply.unpack()[0] == 60000

    wait_until(is_writing, "the end of pass 1")
    bus.kill_daemon()
    n = len(quads(bus))
    assert n in (1, 60001)
    load_well(bus, text, "ntriples")
    assert len(quads(bus)) == 60001
    known = {"queryd.db", "queryd.db-wal", "queryd.db-shm", "queryd.db-schema", "lock", "ballast", "health"}
    assert set(os.listdir(bus.store)) <= known


def test_queryctl(bus, tmp_path):
    source, target = tmp_path / "data.ttl", tmp_path / "out.nt"
    source.write_text(f"@prefix ex: <{EX}> . ex:s ex:p <#here> .")
    result = bus.run(bus.queryctl, "import", str(source), "--graph", "a:g")
    assert (result.returncode, result.stderr) == (0, "1 statement imported\n")
    result = bus.run(bus.queryctl, "export", "--graph", "a:g", "-o", str(target))
    assert result.returncode == 0, result.stderr
    assert target.read_text() == f"<{EX}s> <{EX}p> <file://{source}#here> .\n"
    result = bus.run(bus.queryctl, "export")
    assert "@prefix ex: <http://example.org/> ." in result.stdout and "ex:s ex:p <file://" in result.stdout
    result = bus.run(bus.queryctl, "prefixes", "--format", "tsv", "--no-header")
    assert f"ex\t{EX}" in result.stdout.splitlines()
    result = bus.run(bus.queryctl, "import", "--check-only", "-", "-F", "turtle", input="<a:s> <a:p> .")
    assert result.returncode == 1 and "1:13: unexpected '.', expected an object" in result.stderr
    result = bus.run(bus.queryctl, "import", "-", "-F", "nquads", "--replace", input="")
    assert (result.returncode, result.stderr) == (0, "0 statements imported\n")
    for arguments in (["import", str(source), "--table", "t"], ["import", "x.csv"], ["export", "-F", "csv"]):
        assert bus.run(bus.queryctl, *arguments).returncode == 2


@pytest.mark.parametrize("transport", ["socketpair", "ring"])
def test_terms_looked_up_in_slow_rows(bus, transport):
    """Looking terms up runs SQLite amid a row. What is due then, as a page that goes out early, waits for the row's end."""
    n = 20000
    load_well(bus, "".join(f'<{EX}subject/{i}> <{EX}p> "object number {i}" .\n' for i in range(n)), "ntriples")
    slow = f'SELECT ?s ?o {{ ?s <{EX}p> ?o FILTER(SHA512(CONCAT(?o, "{"x" * 5000}")) != "") }}'
    with bus.prepare(slow, language="sparql", transport=transport) as channel:
        rows = channel.fetch()
    assert len(rows) == n == channel.end.n_rows
    assert len({tuple(map(str, row)) for row in rows}) == n


def test_deadline_while_terms_are_looked_up(bus):
    """The reason is told, wherever it is noticed: most of the work is the look-ups of terms that nobody has asked for yet."""
    n_parts, n = 8, 10000
    load_well(bus, "".join(f'<{EX}{part}/{i}> <{EX}p{part}> "object {part} {i}" .\n' for part in range(n_parts) for i in range(n)),
              "ntriples")
    for part in range(n_parts):
        with bus.prepare(f"SELECT ?s ?o {{ ?s <{EX}p{part}> ?o }}", language="sparql", timeout_ms=2) as channel:
            with pytest.raises(RemoteError) as caught:
                channel.fetch()
        assert caught.value.name == "Timeout", caught.value.message


@pytest.mark.parametrize("language, text", [
    ("sparql", f"INSERT {{ ?a <{EX}q> ?d }} WHERE {{ ?a <{EX}p> ?b . ?c <{EX}p> ?d }}"),
    ("sql", "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) INSERT INTO t SELECT i FROM n"),
])
def test_deadline_of_an_update(bus, language, text):
    bus.update("CREATE TABLE t(a)")
    load_well(bus, "".join(f'<{EX}{i}> <{EX}p> "object {i}" .\n' for i in range(3000)), "ntriples")
    with pytest.raises(BusError) as caught:
        bus.update(text, language=language, timeout_ms=50)
    assert caught.value.name == "Timeout" and "50 ms" in str(caught.value)
    assert bus.query("SELECT count(*) FROM t") == [(0,)] and len(quads(bus)) == 3000
