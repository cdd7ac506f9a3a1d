# SPDX-License-Identifier: LGPL-2.1-or-later
"""SERVICE and endpoints that mean harm: each gives an error that names it, or with SILENT one empty solution; memory stays bounded,
others are served meanwhile, and nothing is left in the processes. What they do is in hostile_endpoint.py.
"""
import json
import os
import re
import signal
import socket
import threading
import time

import pytest

import harness
import hostile_endpoint
import service_world
from harness import BusError
from service_world import Endpoint, Helper
from test_subscribe import subscribe
from test_transactions import do
from wire_client import RemoteError

pytestmark = pytest.mark.skipif(not service_world.IS_BUILT, reason=service_world.NOT_BUILT)
PREFIX = "PREFIX : <http://e/> "
IRI = r'<(?:[^<>"{}|^`\\\s]|\\u[0-9A-F]{4})*>'
TRIPLE = re.compile(rf'<http://e/x> <http://e/y> (?:{IRI}|_:\w+|"(?:[^"\\\n]|\\.)*"(?:@[\w-]+|\^\^{IRI})?) \.')
LONG_MSEC = 60000  # longer than any of these tests waits
HELPER_KIB = 192 * 1024
DAEMON_KIB = 192 * 1024


class Siege:
    """A store, its helper, and endpoints that the helper may ask."""

    def __init__(self, make_bus, **limits):
        self.world = make_bus(limits={"service_ms": LONG_MSEC} | limits)
        self.endpoints = []
        self.helper = Helper(self.world)
        self.world.update(PREFIX + "INSERT DATA { :a :name 'a' . :b :name 'b' . :c :name 'c' . :d :name 'd' }", language="sparql")

    def endpoint(self, answer):
        self.endpoints.append(Endpoint(answer))
        self.helper.allow(" ".join(endpoint.url for endpoint in self.endpoints))
        return self.endpoints[-1]

    def rows(self, text, caller=None):
        _, body, _ = (caller or self.world).query_text(PREFIX + text, "sparql-tsv", language="sparql")
        return body.splitlines()[1:]

    def error(self, text, caller=None):
        with pytest.raises(BusError) as caught:
            self.rows(text, caller)
        return caught.value

    def check_fails(self, name, answer, words):
        """With and without SILENT; others get their answer in between."""
        url = self.endpoint(answer).url
        error = self.error(f"SELECT (COUNT(*) AS ?n) {{ SERVICE <{url}> {{ ?s ?p ?o }} }}")
        assert words in error.message, (name, error)
        assert error.message.startswith(f"SERVICE <{url}>: "), (name, error)
        assert error.name not in ("Corrupt", "Internal", "NoMemory", "Cancelled", "DiskFull", "Recovering"), (name, error)
        assert error.message.isprintable() and len(error.message) < 5000, (name, error.message)
        assert self.rows("SELECT ?n { :a :name ?n }") == ['"a"'], name
        assert self.rows(f"SELECT ?s {{ SERVICE SILENT <{url}> {{ ?s ?p ?o }} }}") == [""], name
        assert sorted(self.rows(f"SELECT ?n ?s {{ ?x :name ?n SERVICE SILENT <{url}> {{ ?s :p ?o }} }}")) == \
            ['"a"\t', '"b"\t', '"c"\t', '"d"\t'], name

    def n_threads(self):
        return len(os.listdir(f"/proc/{self.helper.process.pid}/task"))

    def check_nothing_is_left(self, n_fds):
        """Of requests, in both processes."""
        harness.wait_until(lambda: self.helper.n_sockets() <= n_fds[0] and self.n_threads() <= 8, "the end of all requests")
        harness.wait_until(lambda: harness.n_fds(self.world.daemon_pid()) <= n_fds[1], "the end of the daemon's connections")
        if harness.SANITIZER:
            return
        assert harness.status_kib(self.helper.process.pid, "VmHWM") < HELPER_KIB
        assert harness.status_kib(self.world.daemon_pid(), "VmHWM") < DAEMON_KIB

    def n_fds(self):
        """When a request has been made, and all that stays is there."""
        url = self.endpoint(hostile_endpoint.answer(hostile_endpoint.TSV, "?s\n")).url
        assert self.rows(f"SELECT ?s {{ SERVICE <{url}> {{ ?s ?p ?o }} }}") == []
        harness.wait_until(lambda: self.n_threads() <= 8, "the end of the first request")
        return self.helper.n_sockets() + 1, harness.n_fds(self.world.daemon_pid()) + 1

    def finish(self):
        for endpoint in self.endpoints:
            endpoint.finish()
        self.helper.finish()


@pytest.fixture(name="siege")
def start(make_bus):
    siege = Siege(make_bus)
    yield siege
    siege.finish()


@pytest.mark.deadline(300)
def test_all_answers(make_bus):
    siege = Siege(make_bus, service_bytes=32 << 20)
    before = siege.n_fds()
    for name, (answer, words) in hostile_endpoint.ANSWERS.items():
        siege.check_fails(name, answer, words)
    siege.check_nothing_is_left(before)
    siege.finish()


def test_slow_answers(make_bus):
    """However little at a time: the answer has its time, and no more."""
    siege = Siege(make_bus, service_ms=400)
    before = siege.n_fds()
    for name, answer in hostile_endpoint.SLOW.items():
        siege.check_fails(name, answer, "400 ms ('service_ms') expired")
    siege.check_nothing_is_left(before)
    siege.finish()


def test_many_at_a_time(make_bus):
    """Of some clients, all at once."""
    siege = Siege(make_bus, service_bytes=16 << 20, service_ms=1000, service_requests=4)
    before = siege.n_fds()
    names = ["sends a value without end", "nests XML", "has a row beyond all", "sends headers without end", "is noise"]
    urls = [siege.endpoint(hostile_endpoint.ANSWERS[name][0]).url for name in names] + \
           [siege.endpoint(answer).url for answer in hostile_endpoint.SLOW.values()]
    failures = []

    def ask(caller, first):
        for i in range(len(urls)):
            url = urls[(first + i) % len(urls)]
            failures.append(siege.error(f"SELECT (COUNT(*) AS ?n) {{ SERVICE <{url}> {{ ?s ?p ?o }} }}", caller))

    threads = [threading.Thread(target=ask, args=(siege.world.caller(), i)) for i in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        assert siege.rows("SELECT ?n { :a :name ?n }") == ['"a"']
        time.sleep(0.05)
    assert len(failures) == 4 * len(urls)
    siege.check_nothing_is_left(before)
    siege.finish()


def test_terms_that_are_none(siege):
    """They reach no other line, term or solution, in any format."""
    for name, (answer, n_rows) in hostile_endpoint.RESULTS.items():
        pattern = f"SERVICE <{siege.endpoint(answer).url}> {{ ?s ?p ?o }}"
        assert len(siege.rows(f"SELECT ?s {{ {pattern} }}")) == n_rows, name
        (bare,) = json.loads(siege.world.query_text(f"SELECT (COUNT(*) AS ?n) {{ {pattern} }}", "sparql-json",
                                                    language="sparql")[1])["results"]["bindings"]
        assert bare["n"]["value"] == str(n_rows), name
        text = PREFIX + f"CONSTRUCT {{ :x :y ?s }} WHERE {{ {pattern} }}"
        with harness.memory_file() as fd:
            siege.world.export(text, "ntriples", fd, language="sparql")
            os.lseek(fd, 0, os.SEEK_SET)
            triples = os.read(fd, 1 << 20).decode().splitlines()
        assert len(triples) <= n_rows, (name, triples)
        for triple in triples:
            assert TRIPLE.fullmatch(triple), (name, triple[:200])


def test_a_million_bindings(siege):
    """They come one after the other; SILENT keeps them, and the query's memory bounds it."""
    n = 1_000_000 if not harness.SANITIZER else 100_000
    tail = b"/x" * 50

    def send(client):
        client.sendall(hostile_endpoint.CHUNKED + hostile_endpoint.chunk(b"?s\n"))
        for first in range(0, n, 10000):
            client.sendall(hostile_endpoint.chunk(b"".join(b"<http://e/n%d%s>\n" % (i, tail) for i in range(first, first + 10000))))
        client.sendall(hostile_endpoint.chunk(b""))
        hostile_endpoint.wait(client)  # to close it would say that the answer is cut

    url = siege.endpoint(send).url
    assert siege.rows(f"SELECT (COUNT(*) AS ?n) {{ SERVICE <{url}> {{ ?s ?p ?o }} }}") == [str(n)]
    assert siege.rows(f"SELECT ?s {{ SERVICE <{url}> {{ ?s ?p ?o }} }} LIMIT 1") == [f"<http://e/n0{tail.decode()}>"]
    if not harness.SANITIZER:
        error = siege.error(f"SELECT (COUNT(*) AS ?n) {{ SERVICE SILENT <{url}> {{ ?s ?p ?o }} }}")
        assert error.name == "NoMemory" and "query_memory_bytes" in error.message
        assert harness.status_kib(siege.world.daemon_pid(), "VmHWM") < DAEMON_KIB
        assert harness.status_kib(siege.helper.process.pid, "VmHWM") < HELPER_KIB


def test_a_damaged_endpoint_is_not_this_store(siege):
    """The error Corrupt begins a check of the store; no word of an endpoint becomes one."""
    answer, words = hostile_endpoint.ANSWERS["says it is damaged"]
    url = siege.endpoint(answer).url
    with siege.world.prepare("SELECT 1", schema_details=True) as channel:
        channel.prepare(f"SELECT ?s {{ SERVICE <{url}> {{ ?s ?p ?o }} }}", "sparql")
        with pytest.raises(RemoteError) as caught:
            channel.fetch()
        assert caught.value.name == "Unsupported" and words in str(caught.value)


# --- the list of what may be asked ------------------------------------------------------------------------------------------


def test_the_list_holds(siege):
    """Whichever way a URL is written, by the text or by data: what the list does not name gets no request."""
    answer = hostile_endpoint.answer(hostile_endpoint.TSV, "?s\n<http://e/a>\n")
    other = Endpoint(answer)
    siege.endpoints.append(other)
    endpoint = siege.endpoint(answer)
    siege.helper.allow(endpoint.url)
    here, there = (each.url.removesuffix("/sparql") for each in (endpoint, other))
    port, far = here.rsplit(":", 1)[1], there.rsplit(":", 1)[1]
    refused = [
        f"{here}/", here, f"{here}/other", f"{here}/sparqlx", f"{here}/SPARQL", f"{here}//sparql",
        f"{here}/sparql/../other", f"{here}/sparql/..", f"{here}/sparql/%2e%2e/other", f"{here}/sparql/.%2E/other",
        f"{here}/sparql/x%2f..%2f..%2fother", f"{here}/sparql%2f..%2fother", f"{here}/sparql/%5c..%5cother",
        f"{here}/sparql/%252e%252e/other", f"{here}/sparql/..;/other", f"{here}/other?/sparql", f"{here}?/sparql",
        f"{there}/sparql", f"http://127.0.0.1:{port}@127.0.0.1:{far}/sparql",
        f"http://127.0.0.1:{far}/sparql?{here}/sparql", f"http://me@127.0.0.1:{port}/sparql",
        f"http://:@127.0.0.1:{port}/sparql", f"https://127.0.0.1:{port}/sparql", f"http://localhost:{port}/sparql",
        f"http://127.0.0.1.:{port}/sparql", f"http://127.1:{port}/sparql", f"http://2130706433:{port}/sparql",
        f"http://0x7f000001:{port}/sparql", f"http://0177.0.0.1:{port}/sparql", f"http://[::ffff:127.0.0.1]:{port}/sparql",
        f"http://[::1]:{port}/sparql", f"http://0:{port}/sparql", f"http://0.0.0.0:{port}/sparql",
        f"http://127.0.0.2:{port}/sparql", f"http://127.0.0.1:{far}:{port}/sparql", "http:///sparql",
        f"http:127.0.0.1:{port}/sparql", "file:///etc/passwd", "ftp://127.0.0.1/", "unix:/run/x", "data:text/plain,x",
        "http://", f"http://127.0.0.1:{port}x/sparql", "http://127.0.0.1:99999/sparql", "http://127.0.0.1:-1/sparql",
        f"{endpoint.url}#part",
    ]
    for url in refused:
        for query in (f"SELECT ?s {{ SERVICE <{url}> {{ ?s ?p ?o }} }}",
                      f"SELECT ?s {{ VALUES ?where {{ <{url}> }} SERVICE ?where {{ ?s ?p ?o }} }}"):
            assert siege.error(query).name in ("AccessDenied", "BadParameter"), url
    siege.world.update(PREFIX + f"INSERT DATA {{ :a :at <{there}/sparql> , 'text' , <{here}/sparql/../x> }}", language="sparql")
    assert siege.error("SELECT ?s { :a :at ?where SERVICE ?where { ?s ?p ?o } }").name in ("AccessDenied", "BadParameter")
    assert siege.rows("SELECT ?s { :a :at ?where SERVICE SILENT ?where { ?s ?p ?o } }") == [""] * 3
    assert other.n_connections == 0 and endpoint.n_connections == 0
    # a form of the URL that means the same is sent as the list has it
    same = (endpoint.url, f"{here}/./sparql", f"{here}/%73parql", endpoint.url.replace("http:", "HTTP:"))
    for url in same + (endpoint.url + "/below", endpoint.url + "?a=b/../c"):
        assert siege.rows(f"SELECT ?s {{ SERVICE <{url}> {{ ?s ?p ?o }} }}") == ["<http://e/a>"], url
    assert all(path.startswith("/sparql") and ".." not in path.split("?")[0] for path in endpoint.paths), endpoint.paths


def test_no_name_leads_here(siege):
    """"*" allows public addresses alone."""
    endpoint = Endpoint(hostile_endpoint.answer(hostile_endpoint.TSV, "?s\n"))
    siege.endpoints.append(endpoint)
    siege.helper.allow("*")
    port = endpoint.url.rsplit(":", 1)[1]
    hosts = [
        "127.0.0.1", "localhost", "localhost.", "LocalHost", "127.1", "2130706433", "0x7f.1", "0177.1", "0", "0.0.0.0",
        "127.0.0.2", "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[0:0:0:0:0:0:0:1]",
        "%6cocalhost", "%31%32%37.0.0.1",
    ]
    for host in hosts:
        error = siege.error(f"SELECT ?s {{ SERVICE <http://{host}:{port}> {{ ?s ?p ?o }} }}")
        assert any(words in error.message for words in ("key 'private'", "cannot reach", "URL of the endpoint cannot")), error
    assert endpoint.n_connections == 0


def test_redirects_do_not_get_round_it(siege):
    answer = hostile_endpoint.answer(hostile_endpoint.TSV, "?s\n<http://e/a>\n")
    other, target = Endpoint(answer), Endpoint(answer)
    siege.endpoints.append(other)
    goals = []
    endpoint = siege.endpoint(lambda client: hostile_endpoint.redirect(goals[-1])(client))
    siege.endpoints.append(target)
    siege.helper.allow(f"{endpoint.url} {target.url}")
    query = f"SELECT ?s {{ SERVICE <{endpoint.url}> {{ ?s ?p ?o }} }}"
    there = other.url.removeprefix("http://")
    here = target.url.removeprefix("http://")
    for goal in (other.url, "//" + there, "HTTP://" + there, f"http://{here.split('/')[0]}@{there}", f"http://me:x@{here}",
                 target.url.replace("/sparql", "/"), target.url + "/../other", target.url + "/%2e%2e/other", "/../../other",
                 target.url.replace("http:", "https:"), f"http://127.0.0.1.:{there.split(':')[1]}", "file:///etc/passwd", "/other"):
        goals.append(goal)
        assert siege.error(query).name in ("AccessDenied", "Unsupported"), goal
    assert other.n_connections == 0 and target.n_connections == 0
    goals.append(target.url)
    assert siege.rows(query) == ["<http://e/a>"]


# --- its end ----------------------------------------------------------------------------------------------------------------


def test_ends_amid_a_batch(make_bus):
    """Deadline, cancelling and hang-up, when a request has been answered and another has not."""
    siege = Siege(make_bus, service_bindings=2)
    turns = []

    def answer_each_second(client):
        turns.append(1)
        if len(turns) % 2 == 0:
            hostile_endpoint.wait(client)
        else:
            hostile_endpoint.answer(hostile_endpoint.TSV, "?x\t?p\t?o\n<http://e/a>\t1\t1\n")(client)

    endpoint = siege.endpoint(answer_each_second)
    query = PREFIX + f"SELECT ?n ?o {{ ?x :name ?n SERVICE <{endpoint.url}> {{ ?x ?p ?o }} }}"

    def wait_and(end, caller, **opts):
        before = len(endpoint.requests)
        caught = []

        def ask():
            try:
                caller.query_text(query, "sparql-tsv", language="sparql", **opts)
            except Exception as error:  # pylint: disable=broad-except
                caught.append(error)

        thread = threading.Thread(target=ask)
        thread.start()
        harness.wait_until(lambda: len(endpoint.requests) == before + 2, "the second request")
        end()
        harness.wait_until(lambda: endpoint.n_ended == before + 2, "the end of both requests")
        thread.join()
        return caught

    deadline_msec = 1500 * harness.SLOWER
    (error,) = wait_and(lambda: None, siege.world, timeout_ms=deadline_msec)
    assert error.name == "Timeout" and f"{deadline_msec} ms" in error.message
    (error,) = wait_and(lambda: [siege.world.call("CancelQuery", "(t)", each["id"], interface=harness.MANAGER)
                                 for each in siege.world.queries() if "SERVICE" in each["text"]], siege.world.caller())
    assert error.name == "Cancelled"
    hanging_up = siege.world.caller()
    wait_and(hanging_up.close, hanging_up)
    assert siege.rows("SELECT ?n { :a :name ?n }") == ['"a"']
    siege.finish()


def test_the_helper_is_killed(siege):
    """Amid a request: a clear error, and the next query has its answer from the next process."""
    endpoint = siege.endpoint(hostile_endpoint.wait)
    for word, n_requests in (("", 1), ("SILENT", 2)):
        outcome = []

        def ask(word=word, outcome=outcome):
            try:
                outcome.append(siege.rows(f"SELECT ?s {{ SERVICE {word} <{endpoint.url}> {{ ?s ?p ?o }} }}"))
            except BusError as error:
                outcome.append(error)

        thread = threading.Thread(target=ask)
        thread.start()
        harness.wait_until(lambda n=n_requests: len(endpoint.requests) == n, "the request")
        siege.helper.process.kill()
        siege.helper.process.wait()
        thread.join()
        if word:
            assert outcome == [[""]]
        else:
            assert outcome[0].name == "Busy" and "queryd-service has ended amid the request" in outcome[0].message
            assert endpoint.url in outcome[0].message
        siege.helper = Helper(siege.world, endpoint.url)
    endpoint.answer = hostile_endpoint.answer(hostile_endpoint.TSV, "?s\n<http://e/a>\n")
    assert siege.rows(f"SELECT ?s {{ SERVICE <{endpoint.url}> {{ ?s ?p ?o }} }}") == ["<http://e/a>"]


def test_the_helper_has_too_many(siege):
    """Who comes then gets an error, and is served when others have left."""
    url = siege.endpoint(hostile_endpoint.answer(hostile_endpoint.TSV, "?s\n<http://e/a>\n")).url
    idle = []
    for _ in range(64):
        idle.append(socket.socket(socket.AF_UNIX))
        idle[-1].connect(siege.helper.path)
    harness.wait_until(lambda: siege.n_threads() >= 65, "a thread for each")
    error = siege.error(f"SELECT ?s {{ SERVICE <{url}> {{ ?s ?p ?o }} }}")
    assert error.name == "Busy" and "too many" in error.message
    assert siege.rows(f"SELECT ?s {{ SERVICE SILENT <{url}> {{ ?s ?p ?o }} }}") == [""]
    for each in idle:
        each.close()
    harness.wait_until(lambda: siege.n_threads() < 64, "an end of some")
    assert siege.rows(f"SELECT ?s {{ SERVICE <{url}> {{ ?s ?p ?o }} }}") == ["<http://e/a>"]


def test_the_helper_is_stopped(siege):
    """It takes no request, and says nothing: the query ends in time all the same."""
    endpoint = siege.endpoint(hostile_endpoint.answer(hostile_endpoint.TSV, "?s\n<http://e/a>\n"))
    siege.helper.process.send_signal(signal.SIGSTOP)
    try:
        for pattern in ("?s ?p ?o", "?s ?p '" + "x" * 2_000_000 + "'"):
            with pytest.raises(BusError) as caught:
                siege.world.query_text(f"SELECT ?s {{ SERVICE <{endpoint.url}> {{ {pattern} }} }}", "sparql-tsv", language="sparql",
                                       timeout_ms=300)
            assert caught.value.name in ("Timeout", "TooBig"), caught.value
        assert siege.rows("SELECT ?n { :a :name ?n }") == ['"a"']
    finally:
        siege.helper.process.send_signal(signal.SIGCONT)

    def answers():
        try:
            return siege.rows(f"SELECT ?s {{ SERVICE <{endpoint.url}> {{ ?s ?p ?o }} }}") == ["<http://e/a>"]
        except BusError as error:  # it says to try again; seen once, on a busy machine
            assert error.name == "Busy", error
            return False

    harness.wait_until(answers, "an answer of the helper")


# --- where nothing is asked -------------------------------------------------------------------------------------------------


def test_what_asks_nothing(siege):
    """Updates and transactions are refused; plans and subscriptions do without."""
    endpoint = siege.endpoint(hostile_endpoint.answer(hostile_endpoint.TSV, "?s\n<http://e/a>\n"))
    pattern = f"SERVICE <{endpoint.url}> {{ ?s ?p ?o }}"
    for text in (f"INSERT {{ ?s :is :new }} WHERE {{ {pattern} }}", f"DELETE {{ ?s :name ?n }} WHERE {{ ?s :name ?n {pattern} }}",
                 f"DELETE {{ ?s :name ?n }} INSERT {{ ?s :is ?n }} WHERE {{ ?s :name ?n OPTIONAL {{ {pattern} }} }}",
                 f"INSERT DATA {{ :x :y 1 }} ; INSERT {{ :x :y 2 }} WHERE {{ FILTER NOT EXISTS {{ {pattern} }} }}"):
        with pytest.raises(BusError) as caught:
            siege.world.update(PREFIX + text, language="sparql")
        assert caught.value.name == "Unsupported" and "SERVICE in an update" in caught.value.message, text
    with siege.world.prepare("SELECT 1", schema_details=True) as channel:
        do(channel, "B")
        for word in ("", "SILENT"):
            channel.prepare(f"SELECT ?s {{ {pattern.replace('SERVICE', 'SERVICE ' + word)} }}", "sparql")
            with pytest.raises(RemoteError) as caught:
                channel.fetch()
            assert caught.value.name == "Unsupported" and "SERVICE in a transaction" in str(caught.value)
        do(channel, "L")
    siege.world.explain(f"SELECT ?s {{ {pattern} }}", language="sparql")
    path = subscribe(siege.world, f"SELECT ?s {{ ?s <http://e/name> ?n {pattern} }}", "sparql")
    siege.world.update(PREFIX + "INSERT DATA { :e :name 'e' }", language="sparql")
    siege.world.call("Close", interface=harness.NAME + ".Subscription", path=path)
    assert siege.rows("SELECT ?n { :x :y ?n }") == []
    assert endpoint.n_connections == 0
