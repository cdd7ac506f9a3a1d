# SPDX-License-Identifier: LGPL-2.1-or-later
"""Large results of queryd-http: bounded memory, clients that do not read, cancelling when the client goes, breaking what is cut."""
import http.client as http_client
import socket
import threading

import pytest

import harness
from http_world import ALL, IS_BUILT, NOT_BUILT, QUERY_TYPE, UPDATE_TYPE, HttpServer, sparql

pytestmark = pytest.mark.skipif(not IS_BUILT, reason=NOT_BUILT)
N_ROWS = 200_000
TSV = "text/tab-separated-values"


@pytest.fixture(name="http")
def start(bus):
    with harness.memory_file("".join(f"<http://e/s{i}> <http://e/p> \"value {i}\" .\n" for i in range(N_ROWS)).encode()) as fd:
        assert bus.import_fd(fd, "ntriples")["State"] == "finished"
    server = HttpServer(bus)
    yield server
    server.finish()


def n_running(bus):
    return sum(query["state"] != "idle" for query in bus.queries() if "?s ?p ?o" in query["text"])


def ask_raw(http, text=ALL, accept=TSV):
    raw = http.socket()
    raw.settimeout(60 * harness.SLOWER)
    raw.sendall(f"GET {sparql(text)} HTTP/1.1\r\nHost: localhost\r\nAccept: {accept}\r\n\r\n".encode())
    return raw


def http_response(raw):
    answer = http_client.HTTPResponse(raw, method="GET")
    answer.begin()
    return answer


@pytest.mark.parametrize("accept, ends", [
    (TSV, b"\n"), ("text/csv", b"\r\n"), ("application/sparql-results+json", b"]}}\n"), ("application/sparql-results+xml",
    b"</sparql>\n"),
])
def test_whole_results(http, accept, ends):
    response = http.query("SELECT * { ?s ?p ?o }", accept)
    assert response.headers["Transfer-Encoding"] == "chunked"
    assert response.body.count(b"http://e/p") == N_ROWS and response.body.endswith(ends)


def test_whole_graphs(http):
    response = http.query("CONSTRUCT WHERE { ?s ?p ?o }", "application/n-triples")
    assert response.body.count(b"\n") == N_ROWS
    response = http.get("/graphs?default", Accept="text/turtle")
    assert response.body.count(b"value ") == N_ROWS and "ETag" in response.headers
    head = http.request("HEAD", "/graphs?default", Accept="text/turtle")
    assert head.status == 200 and head.type == "text/turtle"


def test_memory_does_not_grow_with_the_result(http):
    http.query("SELECT * { ?s ?p ?o }", TSV)
    before = harness.status_kib(http.process.pid, "RssAnon")
    for _ in range(3):
        assert http.query("SELECT * { ?s ?p ?o }", TSV).body.count(b"\n") == N_ROWS + 1
    assert harness.status_kib(http.process.pid, "RssAnon") < before + 4096 * harness.SLOWER


def test_clients_that_do_not_read(http):
    http.query("SELECT * { ?s ?p ?o }", TSV)
    before = harness.status_kib(http.process.pid, "RssAnon")
    stopped = [ask_raw(http, "SELECT * { ?s ?p ?o }") for _ in range(16)]
    for raw in stopped:
        assert raw.recv(1000).startswith(b"HTTP/1.1 200 ")
    for _ in range(20):
        assert http.query("SELECT * { <http://e/s7> ?p ?o }").rows == [{"p": "http://e/p", "o": "value 7"}]
    assert http.query("SELECT * { ?s ?p ?o }", TSV).body.count(b"\n") == N_ROWS + 1
    assert harness.status_kib(http.process.pid, "RssAnon") < before + 32768 * harness.SLOWER
    body = b""
    while b"\r\n0\r\n\r\n" not in body[-16:]:
        piece = stopped[0].recv(1 << 20)
        assert piece, "a result that was read late is whole"
        body += piece
    for raw in stopped:
        raw.close()
    harness.wait_until(lambda: http.n_fds() < 40, "the descriptors of the stopped clients")


@pytest.mark.parametrize("text", [
    "SELECT * { ?s ?p ?o }",
    "SELECT (COUNT(*) AS ?n) { ?s ?p ?o . ?t ?p ?v . ?x ?p ?y FILTER(?o < ?v && ?y < ?o) }",
])
def test_client_that_goes_away_cancels(http, bus, text):
    raw = ask_raw(http, text)
    if "COUNT" in text:
        harness.wait_until(lambda: n_running(bus) == 1, "the query")
    else:
        assert raw.recv(100)
    raw.close()
    harness.wait_until(lambda: n_running(bus) == 0, "the end of the query")


@pytest.mark.parametrize("waits", [False, True])
def test_client_that_goes_away_cancels_its_update(http, bus, waits):
    """Also one that waits for the writer, which a transaction has."""
    def is_there():
        return any(query["client"].startswith("queryd-http") and query["state"] == "writing" for query in bus.queries())

    text = "INSERT { ?s <urn:met> ?t } WHERE { ?s ?p ?o . ?t ?p ?v . ?x ?p ?y FILTER(?o < ?v && ?y < ?o) }"
    head = f"POST /sparql HTTP/1.1\r\nHost: localhost\r\nContent-Type: {UPDATE_TYPE}\r\nContent-Length: {len(text)}\r\n\r\n"
    bus.update("CREATE TABLE held(a)")
    server = HttpServer(bus, "--read-write")
    with bus.prepare("INSERT INTO held VALUES(1)", access="write") as channel, server.socket() as raw:
        if waits:
            channel.send("B")
            list(channel.answer())
        raw.sendall((head + text).encode())
        harness.wait_until(lambda: is_there() and bus.stats()["updates_queued"] == int(waits), "the update")
        raw.close()
        harness.wait_until(lambda: not is_there(), "the end of the update", 5)
    server.update("INSERT DATA { <urn:a> <urn:after> <urn:b> }")
    assert not http.ask("ASK { ?s <urn:met> ?t }")
    server.finish()


def test_updates_at_the_end_of_the_server(bus):
    """They wait for the writer, which a transaction has: each hears that it was not executed, and it was not."""
    def post(number):
        answers[number] = server.request("POST", "/sparql", f"INSERT DATA {{ <urn:{number}> <urn:p> 1 }}", kept=False,
                                         Content_Type=UPDATE_TYPE)

    bus.update("CREATE TABLE held(a)")
    server, answers = HttpServer(bus, "--read-write"), {}
    with bus.prepare("INSERT INTO held VALUES(1)", access="write") as channel:
        channel.send("B")
        list(channel.answer())
        clients = [threading.Thread(target=post, args=(number,)) for number in range(5)]
        for client in clients:
            client.start()
        harness.wait_until(lambda: bus.stats()["updates_queued"] == len(clients), "the updates")
        server.finish()
        for client in clients:
            client.join()
        channel.send("M")
        list(channel.answer())
    assert [(answer.status, answer.json["error"]) for answer in answers.values()] == [(503, "cancelled")] * len(clients)
    assert bus.query("SELECT ?s { ?s <urn:p> 1 }", language="sparql") == []


@pytest.mark.parametrize("path, content_type, body", [
    ("/sparql", UPDATE_TYPE, "INSERT { [] <urn:p> 1 } WHERE {}"),
    ("/sql", "application/json", '{"sql": "DELETE FROM held", "update": true}'),
    ("/graphs?default", "text/turtle", "[] <urn:p> 1 ."),
])
def test_daemon_that_dies_amid_an_update(bus, path, content_type, body):
    """It may have been executed, so it is not said to be worth a second try. The writer is with a transaction."""
    def kill():
        harness.wait_until(lambda: bus.stats()["updates_queued"] + bus.stats()["jobs"] > 0, "the update")
        bus.kill_daemon()

    bus.update("CREATE TABLE held(a)")
    server = HttpServer(bus, "--read-write")
    with bus.prepare("INSERT INTO held VALUES(1)", access="write") as channel:
        channel.send("B")
        list(channel.answer())
        killer = threading.Thread(target=kill)
        killer.start()
        answer = server.post(body, content_type, path=path)
        killer.join()
    assert (answer.status, answer.headers["Retry-After"], answer.json["error"]) == (502, None, "disconnected")
    assert "it is not known whether the update was executed" in answer.json["detail"]
    server.finish()


def test_error_in_mid_stream_breaks_the_body(http, bus):
    for accept in TSV, "application/sparql-results+json":
        raw = ask_raw(http, "SELECT * { ?s ?p ?o . ?t ?p ?v }", accept)
        answer = http_response(raw)
        answer.read(100_000)
        (query,) = [query for query in bus.queries() if "?s ?p ?o" in query["text"]]
        bus.call("CancelQuery", "(t)", query["id"], interface=harness.MANAGER)
        with pytest.raises((http_client.IncompleteRead, ConnectionResetError)):
            while answer.read(1 << 20):
                pass
        raw.close()
    assert http.query("ASK {}").status == 200


def test_daemon_that_dies_breaks_the_body(http, bus):
    raw = ask_raw(http, "SELECT * { ?s ?p ?o . ?t ?p ?v }")
    answer = http_response(raw)
    answer.read(100_000)
    bus.kill_daemon()
    with pytest.raises((http_client.IncompleteRead, ConnectionResetError)):
        while answer.read(1 << 20):
            pass
    raw.close()
    assert http.query("ASK { ?s ?p ?o }").json["boolean"] is True  # the bus starts another one


@pytest.mark.parametrize("request_text, is_answered", [
    ("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", True), ("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", True),
    (f"GET {sparql('SELECT * { ?s ?p ?o . ?t ?p ?v }')} HTTP/1.1\r\nHost: localhost\r\n\r\n", True),
    ("POST /sparql HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nab", False),
    ("POST /sparql HTTP/1.1\r\nHos", False), ("", False),
])
def test_connections_end_with_their_clients(bus, request_text, is_answered):
    """They are many times more than may be at once."""
    bus.update("INSERT DATA { " + " ".join(f"<x:{i}> <x:p> {i} ." for i in range(2000)) + " }", language="sparql")
    server = HttpServer(bus, "--limit", "connections=8")
    try:
        before = None
        for i in range(100):
            with server.socket() as raw:
                raw.settimeout(20 * harness.SLOWER)
                raw.sendall(request_text.encode())
                if is_answered:
                    assert raw.recv(4096).startswith(b"HTTP/1.1 200 "), i
            harness.wait_until(lambda: server.request("GET", "/", kept=False).status == 200, "room for a connection")
            before = before or server.n_fds()
        harness.wait_until(lambda: server.n_fds() <= before + 4, "the end of the connections")
    finally:
        server.finish()


def test_clients_that_stop_reading_are_ended(bus):
    with harness.memory_file("".join(f"<http://e/s{i}> <http://e/p> {i} .\n" for i in range(2000)).encode()) as fd:
        assert bus.import_fd(fd, "turtle")["State"] == "finished"
    server = HttpServer(bus, "--limit", "idle_seconds=1")
    try:
        raw = ask_raw(server, "SELECT * { ?s ?p ?o . ?t ?p ?v }")
        answer = http_response(raw)
        harness.wait_until(lambda: n_running(bus) == 0, "the end of the query", seconds=30)
        with pytest.raises((http_client.IncompleteRead, ConnectionResetError)):
            while answer.read(1 << 20):
                pass
        raw.close()
        assert server.query("ASK {}", kept=False).status == 200
    finally:
        server.finish()


def test_pipelined_requests(http):
    raw = http.socket()
    one = f"GET {sparql('ASK {}')} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    raw.sendall(one * 40)
    raw.settimeout(20 * harness.SLOWER)
    got = b""
    while got.count(b'"boolean":true') < 40:
        piece = raw.recv(65536)
        assert piece
        got += piece
    raw.close()


def test_old_clients(http):
    """Without chunks a cut result would look whole: only what has a length is answered."""
    raw = http.socket()
    raw.sendall(f"GET {sparql('ASK {}')} HTTP/1.0\r\nHost: localhost\r\n\r\n".encode())
    answer = b"".join(iter(lambda: raw.recv(65536), b""))
    assert b" 200 " in answer.partition(b"\r\n")[0] and b"Content-Length" in answer
    raw.close()
    raw = http.socket()
    raw.sendall(f"GET {sparql('SELECT * { ?s ?p ?o }')} HTTP/1.0\r\nHost: localhost\r\n\r\n".encode())
    answer = b"".join(iter(lambda: raw.recv(65536), b""))
    assert b" 505 " in answer.partition(b"\r\n")[0]
    raw.close()


def test_many_connections(http):
    raws = [ask_raw(http, "SELECT * { <http://e/s5> ?p ?o }") for _ in range(48)]
    for raw in raws:
        answer = b""
        while b"value 5" not in answer:
            piece = raw.recv(65536)
            assert piece
            answer += piece
        raw.close()


def test_request_by_post_that_goes_on(http):
    connection = http.connect()
    for _ in range(3):
        connection.request("POST", "/sparql", "SELECT * { ?s ?p ?o } LIMIT 2000", {"Content-Type": QUERY_TYPE, "Accept": TSV})
        assert connection.getresponse().read().count(b"\n") == 2001
    connection.sock.shutdown(socket.SHUT_RDWR)
    connection.close()


def receive_answer(raw, end):
    got = b""
    while not got.endswith(end):
        piece = raw.recv(65536)
        assert piece, got[-200:]
        got += piece
    return got


def test_requests_of_all_kinds_on_one_connection(http):
    """Whole in one segment, or not; the connection goes on with each."""
    ask, rows = sparql("ASK {}"), sparql("SELECT * { ?s ?p ?o }", accept=TSV)
    head = "Host: localhost\r\n"
    whole = f"GET {ask} HTTP/1.1\r\n{head}\r\n"
    form = "query=ASK+%7B%7D"
    posted = (f"POST /sparql HTTP/1.1\r\n{head}Content-Type: application/x-www-form-urlencoded\r\n"
              f"Content-Length: {len(form)}\r\n\r\n{form}")
    chunked = (f"POST /sparql HTTP/1.1\r\n{head}Content-Type: {QUERY_TYPE}\r\nTransfer-Encoding: chunked\r\n\r\n"
               "4\r\nASK \r\n2\r\n{}\r\n0\r\n\r\n")
    for pieces in ([whole], [posted], [whole, posted], [whole[:30], whole[30:]], [posted[:-3], posted[-3:]], [chunked]):
        raw = http.socket()
        raw.settimeout(20 * harness.SLOWER)
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for text in [whole], pieces, [whole], pieces:
            for piece in text:
                raw.sendall(piece.encode())
                if piece in (whole, posted, chunked) or piece == text[-1]:
                    answer = receive_answer(raw, b"true}\n")
                    assert answer.startswith(b"HTTP/1.1 200 OK\r\n") and answer.count(b"\r\nContent-Length: ") == 1
                    assert b"\r\nVary: Accept, " in answer and (b"\r\nETag: " in answer) == (piece in (whole, whole[30:]))
        raw.sendall(f"GET {rows} HTTP/1.1\r\n{head}\r\n".encode())
        answer = receive_answer(raw, b"\r\n0\r\n\r\n")
        assert b"\r\nTransfer-Encoding: chunked\r\n" in answer and answer.count(b"<http://e/p>") == N_ROWS
        raw.close()
