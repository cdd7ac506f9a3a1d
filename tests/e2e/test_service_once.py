# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a query does with SERVICE beside it: an endpoint is asked once, its answer is never remembered, and the solutions are those
of the same data in a graph of the store.

QUERYD_SERVICE_QUERIES: so many random ones (60); QUERYD_SERVICE_SEED.
"""
import os
import random
import threading
import time
import urllib.parse

import pytest

import harness
import http_world
import service_world
from service_world import Endpoint, Helper

pytestmark = [pytest.mark.skipif(not service_world.IS_BUILT, reason=service_world.NOT_BUILT),
              pytest.mark.skipif(not http_world.IS_BUILT, reason=http_world.NOT_BUILT)]
N_RANDOM = int(os.environ.get("QUERYD_SERVICE_QUERIES", "60"))
SEED = os.environ.get("QUERYD_SERVICE_SEED", "1")
PREFIX = "PREFIX : <http://e/> "
FAR_DATA = " ".join(f":n{i} :age {i % 7} ; :knows :n{(i * 5 + 1) % 20} ." for i in range(0, 20, 2))
NEAR_DATA = " ".join(f":n{i} :name 'n{i % 4}' ; :p :n{(i + 3) % 12} ." for i in range(12)) + ":n0 :in 0 . :n3 :in 3 . :n4 :in 6 . "


class Counted:
    """A store, and an endpoint for it that counts its requests. The endpoint's data are in the store as well, in <http://e/far>."""

    def __init__(self, make_bus, limits=None):
        self.near = make_bus(limits=limits)
        self.far = make_bus()
        self.server = http_world.HttpServer(self.far)
        self.lock = threading.Lock()
        self.endpoint = Endpoint(None)
        self.endpoint.answer = self.relay
        self.helper = Helper(self.near, self.endpoint.url)
        self.load(FAR_DATA)
        self.near.update(PREFIX + f"INSERT DATA {{ {NEAR_DATA} }}", language="sparql")

    def load(self, data):
        self.far.update(PREFIX + f"INSERT DATA {{ {data} }}", language="sparql")
        self.near.update(PREFIX + f"INSERT DATA {{ GRAPH :far {{ {data} }} }}", language="sparql")

    def relay(self, client):
        """As queryd-http answers."""
        body = self.endpoint.requests[-1].decode()
        query = urllib.parse.parse_qs(body)["query"][0] if body.startswith("query=") else body
        with self.lock:
            answer = self.server.query(query, "text/tab-separated-values")
        head = f"HTTP/1.1 {answer.status} x\r\nContent-Type: {answer.type}\r\nContent-Length: {len(answer.body)}\r\n"
        client.sendall(head.encode() + b"Connection: close\r\n\r\n" + answer.body)

    def rows(self, text, where):
        """Sorted lines of the result; @where takes the place of FAR."""
        _, body, _ = self.near.query_text(PREFIX + text.replace("FAR", where), "sparql-tsv", language="sparql")
        return sorted(body.splitlines()[1:])

    def check(self, text, n_requests=1):
        """Asks once, or as often as there are solutions to send; the solutions are those of the graph."""
        before = len(self.endpoint.requests)
        found = self.rows(text, f"SERVICE <{self.endpoint.url}>")
        assert found == self.rows(text, "GRAPH :far"), text
        assert len(self.endpoint.requests) - before <= n_requests, text

    def finish(self):
        self.endpoint.finish()
        self.helper.finish()
        self.server.finish()


@pytest.fixture(name="counted")
def start(make_bus):
    counted = Counted(make_bus)
    yield counted
    counted.finish()


FAILING = ["SELECT * { FAR { ?s :age ?a } }", "ASK { FAR { ?s :age ?a } }", "SELECT (COUNT(*) AS ?n) { FAR { ?s :age ?a } }"]


@pytest.mark.parametrize("text", FAILING)
def test_a_failing_endpoint_is_asked_once(counted, text):
    """The first step of a query that fails may be repeated, but not what was asked outside."""
    counted.endpoint.answer = lambda client: client.sendall(b"HTTP/1.1 500 x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    with pytest.raises(harness.BusError):
        counted.rows(text, f"SERVICE <{counted.endpoint.url}>")
    assert len(counted.endpoint.requests) == 1


# (text, most requests)
SHAPES = [
    ("SELECT DISTINCT ?s { ?s :name ?n FAR { ?s :age ?a } }", 1),
    ("SELECT DISTINCT ?n { ?s :name ?n FAR { ?s :age ?a } }", 1),
    ("SELECT DISTINCT ?s { ?s :p* ?t . FAR { ?t :age ?a } }", 1),
    ("SELECT DISTINCT ?s { ?s :p+ ?t . ?t :p* ?u FAR { ?s :knows ?k } }", 1),
    ("SELECT DISTINCT ?t { FAR { ?s :age ?a } ?s :p+ ?t . ?t :p+ ?u }", 1),
    ("SELECT * { ?s :name ?n OPTIONAL { FAR { ?s :age ?a } } }", 1),
    ("SELECT * { ?s :name ?n OPTIONAL { FAR { ?x :age 3 } } }", 1),
    ("SELECT * { FAR { ?s :age ?a } OPTIONAL { ?q :in ?z } }", 1),
    ("SELECT * { FAR { ?s :age ?a } OPTIONAL { ?q :none ?z } ?s :name ?n }", 1),
    ("SELECT * { { SELECT ?s { FAR { ?s :age ?a } } } OPTIONAL { ?q :none ?z } ?s :name ?n }", 1),
    ("SELECT * { { SELECT ?s { FAR { ?s :age ?a } } } OPTIONAL { ?q :in ?z } ?s :name ?n }", 1),
    ("SELECT * { ?s :name ?n OPTIONAL { ?s :in ?i } FAR { ?s :age ?i } }", 1),
    ("SELECT * { ?s :name ?n OPTIONAL { ?s :in ?i } OPTIONAL { ?s :p ?j } FAR { ?i :age ?j } }", 1),
    ("SELECT * { OPTIONAL { ?s :in ?i } OPTIONAL { FAR { ?s :age ?i } } ?s :name ?n }", 1),
    ("SELECT * { ?s :name ?n FILTER EXISTS { FAR { ?s :age ?a } } }", 1),
    ("SELECT * { ?s :name ?n FILTER NOT EXISTS { FAR { ?s :age ?a } } }", 1),
    ("SELECT * { ?s :name ?n FILTER EXISTS { ?s :p ?t FAR { ?t :age ?a } } }", 1),
    ("SELECT * { ?s :name ?n FILTER(EXISTS { FAR { ?s :age ?a } } || ?n = 'n1') }", 1),
    ("SELECT * { ?s :name ?n BIND(EXISTS { FAR { ?s :age ?a } } AS ?e) }", 1),
    ("SELECT * { ?s :name ?n MINUS { FAR { ?s :age ?a } } }", 1),
    ("SELECT * { FAR { ?s :age ?a } MINUS { ?s :name 'n0' } }", 1),
    ("SELECT * { FAR { ?s :age ?a } FILTER NOT EXISTS { ?s :p+ :n7 } }", 1),
    ("SELECT * { ?s :name ?n { FAR { ?s :age ?a } } UNION { ?s :in ?a } }", 1),
    ("SELECT * { { FAR { ?s :age ?a } } UNION { FAR { ?s :knows ?a } } ?s :name ?n }", 2),
    ("SELECT * { { ?s :in ?i } UNION { ?s :p ?t } FAR { ?s :age ?a } }", 1),
    ("SELECT * { ?s :name ?n FAR { ?s :age ?a } FAR { ?s :knows ?k } }", 2),
    ("SELECT ?a (COUNT(*) AS ?c) { ?s :name ?n FAR { ?s :age ?a } } GROUP BY ?a", 1),
    ("SELECT ?n (COUNT(DISTINCT ?a) AS ?c) { ?s :name ?n FAR { ?s :age ?a } } GROUP BY ?n", 1),
    ("SELECT (COUNT(DISTINCT ?s) AS ?c) { ?s :p ?t FAR { ?t :age ?a } }", 1),
    ("SELECT (COUNT(*) AS ?c) { ?s :p+ ?t FAR { ?t :age ?a } }", 1),
    ("SELECT ?s ?a { ?s :name ?n FAR { ?s :age ?a } } ORDER BY ?a ?s LIMIT 3", 1),
    ("SELECT * { ?s :p ?t { SELECT ?t ?a { FAR { ?t :age ?a } } } }", 1),
    ("SELECT * { ?s :p ?t { SELECT ?t (MAX(?a) AS ?m) { FAR { ?t :age ?a } } GROUP BY ?t } }", 1),
    ("SELECT * { ?s :p ?t { SELECT DISTINCT ?t { ?t :name ?n FAR { ?t :knows ?k } } } }", 1),
    ("SELECT * { ?s :p ?t { SELECT ?t ?a { FAR { ?t :age ?a } } ORDER BY ?t LIMIT 2 } }", 1),
    ("SELECT * { GRAPH ?g { ?s :age ?x } ?s :name ?n FAR { ?s :age ?a } }", 1),
    ("SELECT * { BIND(:n2 AS ?s) FAR { ?s :age ?a } }", 1),
    ("SELECT * { FAR { ?s :age ?a } } VALUES ?s { :n2 :n4 }", 1),
    ("SELECT * { VALUES (?s ?a) { (:n2 UNDEF) (UNDEF 4) } FAR { ?s :age ?a } }", 1),
    ("SELECT * { FAR { ?s :age ?a } FILTER(?a > 2) BIND(?a + 1 AS ?b) }", 1),
    ("SELECT * { FAR { ?s :age ?a FILTER(?a > 2) OPTIONAL { ?s :knows ?k } } ?s :name ?n }", 1),
    ("SELECT * { FAR { VALUES ?s { :n2 :n4 } ?s :age ?a } ?s :name ?n }", 1),
    ("SELECT * { FAR { SELECT ?a (COUNT(*) AS ?c) { ?s :age ?a } GROUP BY ?a } }", 1),
    ("ASK { ?s :name ?n FAR { ?s :age ?a } }", 1),
    ("ASK { ?s :in ?n FAR { ?s :age 77 } }", 1),
]


def test_shapes(counted):
    for text, n_requests in SHAPES:
        if not text.startswith("ASK"):
            counted.check(text, n_requests)
            continue
        answers = []
        for where in (f"SERVICE <{counted.endpoint.url}>", "GRAPH :far"):
            answers.append(counted.near.query_text(PREFIX + text.replace("FAR", where), "sparql-json", language="sparql")[1])
        assert answers[0] == answers[1], text


def test_silent_is_asked_once(counted):
    """What SILENT binds is not certain: the join looks at each side, and asks once all the same."""
    before = len(counted.endpoint.requests)
    rows = counted.rows("SELECT * { ?s :name ?n FAR { ?s :age ?a } }", f"SERVICE SILENT <{counted.endpoint.url}>")
    assert rows == counted.rows("SELECT * { ?s :name ?n FAR { ?s :age ?a } }", "GRAPH :far")
    assert len(counted.endpoint.requests) == before + 1
    counted.server.process.terminate()
    counted.server.process.wait()
    assert len(counted.rows("SELECT * { ?s :name ?n FAR { ?s :age ?a } }", f"SERVICE SILENT <{counted.endpoint.url}>")) == 12


class Queries:
    """Random groups of patterns with SERVICE in them."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.n_far = 0

    def variable(self):
        return self.random.choice(("?x", "?y", "?z"))

    def triple(self):
        return f"{self.variable()} {self.random.choice((':name', ':p', ':in', ':p+', ':p'))} {self.variable()} . "

    def far(self):
        self.n_far += 1
        triples = [f"{self.variable()} {self.random.choice((':age', ':knows'))} {self.variable()} . " for _ in range(2)]
        return f"FAR {{ {''.join(triples[:self.random.randint(1, 2)])}}} "

    def group(self, depth):
        parts = [self.triple() if self.random.random() < 0.7 else self.far() for _ in range(self.random.randint(1, 2))]
        for _ in range(self.random.randint(0, 2) if depth > 0 else 0):
            parts.append(self.part(depth - 1))
        return "".join(parts)

    def part(self, depth):
        inner = self.group(depth)
        kind = self.random.randrange(7)
        if kind == 0:
            return f"OPTIONAL {{ {inner}}} "
        if kind == 1:
            return f"{{ {inner}}} UNION {{ {self.group(depth)}}} "
        if kind == 2:
            return f"MINUS {{ {inner}}} "
        if kind == 3:
            return f"FILTER {self.random.choice(('', 'NOT '))}EXISTS {{ {inner}}} "
        if kind == 4:
            return f"{{ SELECT {self.random.choice(('', 'DISTINCT '))}{self.variable()} {{ {inner}}} }} "
        if kind == 5:
            return f"{{ {inner}}} "
        return self.far()

    def query(self):
        self.n_far = 0
        text = f"SELECT {self.random.choice(('*', 'DISTINCT ?x', '(COUNT(*) AS ?n)'))} {{ {self.group(2)}}}"
        return text if 0 < self.n_far <= 4 else self.query()


def test_random_queries(counted):
    queries = Queries(SEED)
    for _ in range(N_RANDOM):
        text = queries.query()
        counted.check(text, text.count("FAR"))


# --- memory -----------------------------------------------------------------------------------------------------------------


def test_is_never_remembered(make_bus):
    """The endpoint's data change, the store's do not: each execution has the new ones."""
    counted = Counted(make_bus, {"result_memory_cost_us": 0})
    text = PREFIX + f"SELECT ?a {{ ?s :name 'n2' SERVICE <{counted.endpoint.url}> {{ ?s :age ?a }} }}"
    with counted.near.prepare("SELECT 1", schema_details=True) as channel:
        channel.prepare(text, "sparql")
        for i in range(6):
            before = len(counted.endpoint.requests)
            assert len(channel.fetch()) == 3 + i
            assert len(counted.endpoint.requests) == before + 1
            counted.far.update(PREFIX + f"INSERT DATA {{ :n2 :age {100 + i} }}", language="sparql")
        assert counted.near.stats()["results_recalled_total"] == 0
        channel.prepare(PREFIX + "SELECT ?n { ?s :name ?n }", "sparql")
        for _ in range(4):
            channel.fetch()
    assert counted.near.stats()["results_recalled_total"] > 0  # of the query without SERVICE: the memory works
    counted.finish()


def hold_long_place(caller):
    with pytest.raises(harness.BusError):
        caller.query("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n")


def test_is_not_put_off(make_bus):
    """A query that runs long while others hold all places for such starts again later: not after it has asked."""
    counted = Counted(make_bus, {"running": 1, "running_per_client": 1})
    text = f"SELECT ?a {{ ?s :name 'n2' SERVICE <{counted.endpoint.url}> {{ ?s :age ?a }} }}"
    relay = counted.relay

    def be_slow(client):
        time.sleep(0.1)  # much longer than a short query may take
        relay(client)

    counted.endpoint.answer = be_slow
    busy = counted.near.caller()
    thread = threading.Thread(target=hold_long_place, args=(busy,))
    thread.start()
    (long,) = harness.wait_until(lambda: [query["id"] for query in counted.near.queries() if "RECURSIVE" in query["text"]],
                                 "the long query")
    for _ in range(5):
        before = len(counted.endpoint.requests)
        assert len(counted.rows(text, "")) == 3
        assert len(counted.endpoint.requests) == before + 1
    assert thread.is_alive()
    counted.near.call("CancelQuery", "(t)", long, interface=harness.MANAGER)
    thread.join()
    counted.finish()
