# SPDX-License-Identifier: LGPL-2.1-or-later
"""SERVICE against queryd-http of another store, and against endpoints that misbehave."""
import signal
import time

import pytest

import harness
import http_world
import sandboxes as sandbox
import service_world
from service_world import Endpoint, Helper
from test_queryctl import Ctl

pytestmark = [pytest.mark.skipif(not service_world.IS_BUILT, reason=service_world.NOT_BUILT),
              pytest.mark.skipif(not http_world.IS_BUILT, reason=http_world.NOT_BUILT)]
LOCAL = """INSERT DATA {
  <http://e/a> <http://e/name> "a" ; <http://e/at> <ENDPOINT> .
  <http://e/b> <http://e/name> "b" . <http://e/c> <http://e/name> "c" .
  _:x <http://e/name> "blank" . GRAPH <http://e/g> { <http://e/a> <http://e/in> 1 . <http://e/c> <http://e/in> 2 } }"""
REMOTE = """INSERT DATA {
  <http://e/a> <http://e/age> 1 , 10 ; <http://e/quote> "it's \\"so\\"\\n\\\\" . <http://e/b> <http://e/age> 2 .
  <http://e/d> <http://e/age> 4 . _:y <http://e/age> 9 ; <http://e/name> "blank" . <http://e/a> <http://e/knows> _:y }"""


class Federation:
    """Two worlds, the second as an endpoint for the first."""

    def __init__(self, make_bus, limits=None):
        self.local, self.remote = make_bus(limits=limits), make_bus()
        self.ctl, self.far = Ctl(self.local), Ctl(self.remote)
        self.server = http_world.HttpServer(self.remote)
        self.url = self.server.url + "sparql"
        self.helper = Helper(self.local, self.url)
        self.endpoints = []
        self.ctl.ok("update", "--sparql", LOCAL.replace("ENDPOINT", self.url))
        self.far.ok("update", "--sparql", REMOTE)

    def rows(self, text, *arguments):
        """Sorted lines of the result, without the names."""
        text = text.replace("FAR", f"<{self.url}>").replace(" :", " e:")
        return sorted(self.ctl.ok("sparql", *arguments, "PREFIX e: <http://e/> " + text).decode().splitlines()[1:])

    def error(self, text, *arguments):
        text = text.replace("FAR", f"<{self.url}>").replace(" :", " e:")
        run = self.ctl("sparql", *arguments, "PREFIX e: <http://e/> " + text)
        assert run.returncode != 0, run.stdout
        return run.stderr.decode()

    def endpoint(self, answer, allowed=True):
        self.endpoints.append(Endpoint(answer))
        if allowed:
            self.helper.allow(" ".join([self.url] + [endpoint.url for endpoint in self.endpoints]))
        return self.endpoints[-1]

    def finish(self):
        for endpoint in self.endpoints:
            endpoint.finish()
        self.helper.finish()
        self.server.finish()


@pytest.fixture(name="both")
def start(make_bus):
    federation = Federation(make_bus)
    yield federation
    federation.finish()


def e(*rows):
    return sorted("\t".join(f"http://e/{cell}" if len(cell) == 1 and cell.isalpha() else cell for cell in row) for row in rows)


def test_joins(both):
    assert both.rows("SELECT ?s ?a { ?s :name ?n SERVICE FAR { ?s :age ?a } }") == e(("a", "1"), ("a", "10"), ("b", "2"))
    assert both.rows("SELECT ?s ?a { SERVICE FAR { ?s :age ?a } FILTER(?a < 5) }") == e(("a", "1"), ("b", "2"), ("d", "4"))
    ages = "OPTIONAL { SERVICE FAR { ?s :age ?a FILTER(?a < 5) } }"
    assert both.rows("SELECT ?s ?a { ?s :name ?n " + ages + " FILTER(!isBlank(?s)) }") == \
        e(("a", "1"), ("b", "2"), ("c", "\\N"))
    assert both.rows("SELECT ?s ?a { ?s :name ?n { SERVICE FAR { ?s :age ?a } } UNION { ?s :at ?a } FILTER(!isIRI(?a)) }") == \
        e(("a", "1"), ("a", "10"), ("b", "2"))
    assert both.rows("SELECT ?s { ?s :name ?n FILTER EXISTS { SERVICE FAR { ?s :age ?a } } }") == e(("a",), ("b",))
    assert both.rows("SELECT ?s { ?s :name ?n FILTER NOT EXISTS { SERVICE FAR { ?s :age ?a } } FILTER(!isBlank(?s)) }") == e(("c",))
    assert both.rows("SELECT ?s { ?s :name ?n MINUS { SERVICE FAR { ?s :age ?a } } FILTER(!isBlank(?s)) }") == e(("c",))
    assert both.rows("SELECT ?s ?g { GRAPH ?g { ?s :in ?i SERVICE FAR { ?s :age ?a } } }") == ["http://e/a\thttp://e/g"] * 2
    assert both.rows("SELECT ?s ?m { ?s :name ?n { SELECT ?s (MAX(?a) AS ?m) { SERVICE FAR { ?s :age ?a } } GROUP BY ?s } }") == \
        e(("a", "10"), ("b", "2"))
    assert both.rows("SELECT ?s ?m { ?s :name ?n SERVICE FAR { SELECT ?s (MAX(?a) AS ?m) { ?s :age ?a } GROUP BY ?s } }") == \
        e(("a", "10"), ("b", "2"))
    assert both.rows("SELECT ?s ?a { ?x :at ?where . ?s :name ?n SERVICE ?where { ?s :age ?a } }") == \
        e(("a", "1"), ("a", "10"), ("b", "2"))
    assert both.rows("SELECT ?s ?a { ?s :name ?n SERVICE FAR { ?s :age ?x } SERVICE FAR { ?s :quote ?a } }") == \
        both.rows("SELECT ?s ?a { SERVICE FAR { ?s :age ?x } SERVICE FAR { ?s :quote ?a } }")
    assert both.rows("SELECT (COUNT(*) AS ?n) { SERVICE FAR { ?s ?p ?o } }") == ["8"]
    assert both.rows("SELECT ?s { ?s :name ?n SERVICE FAR { :a :age 1 } FILTER(!isBlank(?s)) }") == e(("a",), ("b",), ("c",))
    assert both.rows("SELECT ?s { ?s :name ?n SERVICE FAR { :a :age 7 } }") == []
    assert both.rows("ASK { SERVICE FAR { :d :age 4 } }") == ["true"]
    assert sum(row.endswith(".") for row in both.rows("CONSTRUCT { ?s :old ?a } WHERE { SERVICE FAR { ?s :age ?a } }")) == 5


def test_values_come_and_go_whole(both):
    """Quotes and line ends survive; blank nodes are the answer's own; the pattern goes as it is written."""
    text = 'SELECT ?s { BIND("it\'s \\"so\\"\\n\\\\" AS ?q) SERVICE FAR { ?s :quote ?q } }'
    assert both.rows(text) == e(("a",))
    assert both.rows("SELECT ?a { ?s :name ?n FILTER(isBlank(?s)) SERVICE FAR { ?s :age ?a } }") == []
    assert both.rows("SELECT ?a { SERVICE FAR { :a :knows ?k . ?k :age ?a FILTER isBlank(?k) } }") == ["9"]
    labels = both.rows("SELECT ?k { SERVICE FAR { :a :knows ?k } FILTER isBlank(?k) }", "-F", "tsv")
    assert len(labels) == 1 and labels[0].startswith("_:")
    assert both.rows("SELECT ?k { SERVICE FAR { :a :knows ?k } SERVICE FAR { ?k :age ?a } }") == []
    assert both.rows("SELECT ?a { SERVICE FAR { ?s :age ?a FILTER(?s = :b) # a comment }\n } }") == ["2"]
    for name in ("a", "b", "c"):  # one plan, another constant
        assert len(both.rows(f"SELECT ?a {{ SERVICE FAR {{ :{name} :age ?a }} }}")) == {"a": 2, "b": 1, "c": 0}[name]
        assert len(both.rows(f"SELECT ?a {{ :{name} :name ?n . SERVICE FAR {{ ?s :age ?a . ?s :age 1 }} }}")) == 2
    assert both.rows("SELECT ?s { SERVICE FAR { ?s :age $old } }", "-p", "old=2") == e(("b",))
    assert "$old" in both.error("SELECT ?s { SERVICE FAR { ?s :age ?a FILTER(?a > $old) } }", "-p", "old=2")


def test_batches_and_bag(make_bus):
    """As many solutions as without batches; a row of the left that comes twice stays twice."""
    both = Federation(make_bus, {"service_bindings": 3})
    for ctl, name, n in ((both.far, "k", 5), (both.ctl, "l", 2)):
        triples = " ".join(f"<http://e/n{i}> <http://e/{name}> {i % n} ." for i in range(20))
        ctl.ok("update", "--sparql", "INSERT DATA { " + triples + "}")
    assert len(both.rows("SELECT ?s ?k { ?s :l ?l SERVICE FAR { ?s :k ?k } }")) == 20
    assert len(both.rows("SELECT ?l ?k { { ?s :l ?l } UNION { ?s :l ?l } SERVICE FAR { ?s :k ?k } }")) == 40
    assert both.rows("SELECT (COUNT(*) AS ?n) { ?s :l ?l SERVICE SILENT FAR { ?s :k ?k } }") == ["20"]
    both.finish()


def test_who_may_be_asked(both):
    query = "SELECT ?s { SERVICE FAR { ?s :age ?a } }"
    other = both.endpoint(lambda client: client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), allowed=False)
    both.helper.allow("")
    assert "key 'allow'" in both.error(query)
    assert both.rows("SELECT ?s { ?s :in ?x } ") == []
    assert both.rows("SELECT ?n { ?s :name ?n SERVICE SILENT FAR { ?s :age ?a } FILTER(?n = 'c') }") == ["c"]
    both.helper.allow("*")
    assert "key 'private'" in both.error(query)
    both.helper.allow("*", "127.0.0.1")
    assert len(both.rows(query)) == 5
    both.helper.allow(both.url + "/below")
    assert "key 'allow'" in both.error(query)
    both.helper.allow(both.url.replace("127.0.0.1", "localhost"))
    assert "key 'allow'" in both.error(query)
    redirect = both.endpoint(lambda client: client.sendall(
        f"HTTP/1.1 307 Go\r\nLocation: {other.url}\r\nContent-Length: 0\r\n\r\n".encode()), allowed=False)
    both.helper.allow(redirect.url)
    assert "key 'allow'" in both.error(f"SELECT ?s {{ SERVICE <{redirect.url}> {{ ?s ?p ?o }} }}")
    assert other.requests == []
    assert "user and password" in both.error("SELECT ?s { SERVICE <http://me:secret@127.0.0.1/> { ?s ?p ?o } }")


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/tab-separated-values\r\nTransfer-Encoding: chunked\r\n\r\n"


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


def send_endless(client):
    client.sendall(HEAD + chunk(b"?s\n"))
    while True:
        client.sendall(chunk(b"<http://e/a>\n" * 1000))


def hang(client):
    client.recv(1)


def send(media_type, body, status="200 OK", headers=""):
    head = f"HTTP/1.1 {status}\r\nContent-Type: {media_type}\r\nContent-Length: {len(body)}\r\n{headers}"
    return lambda client: client.sendall((head + "Connection: close\r\n\r\n" + body).encode())


XML_HEAD = "<sparql xmlns='http://www.w3.org/2005/sparql-results#'><head><variable name='s'/></head><results>"
ENTITIES = "<!DOCTYPE x [<!ENTITY a 'aaaaaaaaaa'>" + "".join(
    f"<!ENTITY {b} '{f'&{a};' * 10}'>" for a, b in zip("abcdefgh", "bcdefghi")) + "]>"
BAD = {
    "endless": (send_endless, "'service_bytes'"),
    "cut": (lambda client: client.sendall(HEAD + chunk(b"?s\n<http://e/a>\n")), "lost"),
    "type": (lambda client: client.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nhi"),
             "text/html"),
    "status": (lambda client: client.sendall(b"HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n"), "500"),
    "malformed": (lambda client: client.sendall(HEAD + chunk(b"?s\n<http://e/a\n") + chunk(b"")), "no term of TSV"),
    "json": (send("application/sparql-results+json", '{"head":{"vars":["s"]},"results":{"bindings":[{"s":'), "malformed"),
    "json of another kind": (send("application/sparql-results+json", '[1, 2]'), "malformed"),
    "xml": (send("application/sparql-results+xml", XML_HEAD + "<result><binding name='s'><uri>x</result>"), "malformed"),
    "entities": (send("application/sparql-results+xml",
                      ENTITIES + XML_HEAD + "<result><binding name='s'><literal>&i;</literal></binding></result>"),
                 "malformed"),
    "rdf": (send("text/turtle", "<http://e/a> <http://e/b> 1 ."), "gives no solutions"),
    "packed": (send("text/tab-separated-values", "\x1f\x8b", headers="Content-Encoding: gzip\r\n"), "compressed"),
    "forbidden": (send("text/plain", "no token", "401 Unauthorized"), "401"),
    "to itself": (send("text/plain", "", "307 Again", "Location: /sparql\r\n"), "redirect"),
    "nothing": (lambda client: None, "lost"),
    "no http": (lambda client: client.sendall(b"SSH-2.0-OpenSSH_9\r\n"), "lost"),
    "hangs": (hang, "deadline of 1500 ms"),
}


def test_bad_endpoints(make_bus):
    both = Federation(make_bus, {"service_bytes": 1 << 20, "service_ms": 1500})
    for name, (answer, message) in BAD.items():
        url = both.endpoint(answer).url
        found = both.error(f"SELECT ?s {{ SERVICE <{url}> {{ ?s ?p ?o }} }}")
        assert message in found, (name, found)
        assert both.rows(f"SELECT ?s {{ SERVICE SILENT <{url}> {{ ?s ?p ?o }} }}") == ["\\N"], name
        assert both.rows(f"SELECT ?n ?o {{ ?s :name ?n SERVICE SILENT <{url}> {{ ?s ?p ?o }} }}") == \
            ["a\t\\N", "b\t\\N", "blank\t\\N", "c\t\\N"], name
    both.helper.allow("http://127.0.0.1:1/")
    assert "cannot reach" in both.error("SELECT ?s { SERVICE <http://127.0.0.1:1/> { ?s ?p ?o } }")
    assert both.rows("SELECT ?s { SERVICE SILENT <http://127.0.0.1:1/> { ?s ?p ?o } }") == ["\\N"]
    both.finish()


def test_waiting_ends_with_the_query(both):
    """Deadline, interrupt and end of a client end the request; nobody else waits for it."""
    endpoint = both.endpoint(hang)
    query = f"SELECT ?s {{ SERVICE <{endpoint.url}> {{ ?s ?p ?o }} }}"
    begin = time.monotonic()
    assert "query took longer than its 300 ms" in both.error(query, "--timeout", "0.3")
    assert time.monotonic() - begin < 10 * harness.SLOWER
    harness.wait_until(endpoint.gone.is_set, "the end of the request after the deadline")
    endpoint.gone.clear()
    waiting = both.ctl.start("sparql", query)
    harness.wait_until(lambda: len(endpoint.requests) == 2, "the second request")
    waiting.send_signal(signal.SIGKILL)
    waiting.communicate()
    harness.wait_until(endpoint.gone.is_set, "the end of the request after the client's")
    endpoint.gone.clear()
    waiting = both.ctl.start("sparql", query)
    harness.wait_until(lambda: len(endpoint.requests) == 3, "the third request")
    (number,) = [each["id"] for each in both.local.queries() if "SERVICE" in each["text"]]
    both.local.call("CancelQuery", "(t)", number, interface=harness.MANAGER)
    assert b"cancelled" in waiting.communicate()[1]
    harness.wait_until(endpoint.gone.is_set, "the end of the request after it was cancelled")


def test_others_do_not_wait(both):
    endpoint = both.endpoint(hang)
    query = f"SELECT ?s {{ SERVICE <{endpoint.url}> {{ ?s ?p ?o }} }}"
    waiting = [both.ctl.start("sparql", query) for _ in range(12)]
    harness.wait_until(lambda: len(endpoint.requests) >= 4, "requests that wait")
    begin = time.monotonic()
    for _ in range(20):
        assert both.ctl.ok("sparql", "ASK { <http://e/a> ?p ?o }") == b"result\ntrue\n"
    assert time.monotonic() - begin < 10 * harness.SLOWER
    for process in waiting:
        process.kill()
        process.communicate()


def test_where_it_is_refused(both):
    text = f"INSERT {{ ?s ?p ?o }} WHERE {{ SERVICE <{both.url}> {{ ?s ?p ?o }} }}"
    run = both.ctl("update", "--sparql", text)
    assert run.returncode != 0 and b"SERVICE in an update" in run.stderr
    assert "nothing beside it" in both.error("SELECT * { SERVICE ?where { ?s ?p ?o } }")
    run = both.ctl("sql", "SELECT * FROM queryd_service(1, 'x', 'y', 0, 0, NULL)")
    assert run.returncode != 0
    both.helper.process.kill()
    both.helper.process.wait()
    assert "queryd-service.socket" in both.error("SELECT ?s { SERVICE FAR { ?s ?p ?o } }")
    both.helper = Helper(both.local, both.url)
    assert len(both.rows("SELECT ?s { SERVICE FAR { ?s :age ?a } }")) == 5


@sandbox.needs_sandbox
@pytest.mark.parametrize("silent", ["", "SILENT"])
def test_no_sandbox_has_it(make_bus, silent):
    """Not even in its own store: the network is the user's."""
    world = make_bus(config=sandbox.grants("write=*"))
    sandboxes = sandbox.Sandboxes(world)
    try:
        query = f"SELECT * {{ SERVICE {silent} <http://a.example/> {{ ?s ?p ?o }} }}"
        message = sandbox.refused(sandboxes.caller(), "query", query, language="sparql", words="in a sandbox")
        assert "SERVICE" in message
    finally:
        sandboxes.finish()
