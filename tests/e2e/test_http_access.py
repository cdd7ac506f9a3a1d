# SPDX-License-Identifier: LGPL-2.1-or-later
"""Who may use queryd-http: names of the server, origins of pages, token, cookies, permissions of the UNIX socket, limits."""
import base64
import errno
import os
import socket
import stat

import pytest

import harness
from http_world import ALL, FORM, IS_BUILT, NOT_BUILT, UPDATE_TYPE, HttpServer, sparql

pytestmark = pytest.mark.skipif(not IS_BUILT, reason=NOT_BUILT)


@pytest.fixture(name="start")
def starter(bus):
    bus.update("INSERT DATA { <http://e/secret> <http://e/p> 1 }", language="sparql")
    servers = []
    if "ASAN_OPTIONS" in bus.env:  # what libsoup leaks can only be told by whole stacks
        bus.env["ASAN_OPTIONS"] += ":fast_unwind_on_malloc=0"

    def start(*arguments, **kwargs):
        servers.append(HttpServer(bus, *arguments, **kwargs))
        return servers[-1]

    yield start
    for server in servers:
        server.finish()


def basic(name, password):
    return "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()


def test_token(start):
    http = start(token=True)
    mode = os.stat(http.token_file)
    assert stat.S_IMODE(mode.st_mode) == 0o600 and len(http.token) == 32
    assert stat.S_IMODE(os.stat(os.path.dirname(http.token_file)).st_mode) == 0o700
    token = http.token
    for good in f"Bearer {token}", f"bearer {token}", basic("", token), basic("any", token):
        assert len(http.get(sparql(ALL), Authorization=good).rows) == 1, good
    wrong = token[:-1] + ("a" if token[-1] != "a" else "b")
    for bad in (None, "", "Bearer", "Bearer ", f"Bearer {wrong}", f"Bearer {token}x", f"Bearer {token[:-1]}",
                token, basic(token, ""),
                basic("any", wrong), "Basic ====", "Basic " + base64.b64encode(b"no colon").decode(), f"Digest {token}"):
        for path in "/", "/sparql", sparql(ALL), "/graphs?default", "/ticket":
            response = http.get(path, Authorization=bad)
            assert response.status == 401 and b"secret" not in response.body, (bad, path)
            assert "Bearer" in response.headers["WWW-Authenticate"] and "Basic" in response.headers["WWW-Authenticate"]
    response = http.post("CLEAR ALL", UPDATE_TYPE)
    assert response.status == 401
    assert "Basic" in http.get("/", Sec_Fetch_Mode="navigate").headers["WWW-Authenticate"]
    assert "Basic" not in http.get("/", Sec_Fetch_Mode="cors").headers["WWW-Authenticate"]  # no page makes a browser ask


def test_token_stays(start, bus):
    first = start(token=True).token
    assert start(token=True).token == first
    path = os.path.join(bus.folder, "mine")
    assert start("--token-file", path, token=True).get("/", Authorization="Bearer " + first).status == 401
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600


@pytest.mark.parametrize("spoil, said", [
    (lambda path: os.chmod(path, 0o640), "mode 0600"), (lambda path: open(path, "w", encoding="utf-8").close(), "fewer than 16"),
    (lambda path: (os.unlink(path), os.mkdir(path)), "token file"),
    (lambda path: (os.rename(path, path + "2"), os.symlink(path + "2", path)), "token file"),
])
def test_token_file_that_others_read(bus, spoil, said):
    path = os.path.join(bus.folder, "token")
    with open(path, "w", encoding="utf-8") as stream:
        stream.write("0123456789abcdef0123456789abcdef\n")
    os.chmod(path, 0o600)
    spoil(path)
    program = os.path.join(harness.BUILD, "client-lib/http/queryd-http")
    result = bus.run(program, "--port", "0", "--token-file", path, timeout=20)
    assert result.returncode == 1 and said in result.stderr


def test_unix_socket_needs_no_token(start, bus):
    path = os.path.join(bus.folder, "http.socket")
    http = start("--unix", path, token=True)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert len(http.query(ALL).rows) == 1
    assert len(http.get(sparql(ALL), Host="store.example").rows) == 1  # a name is no matter there
    assert http.get(sparql(ALL), Host="store.example", Origin="http://evil.example").status == 403


HOSTS = [("localhost", True), ("127.0.0.1", True), ("[::1]", True), ("LOCALHOST", True), ("localhost:80", True),
         ("evil.example", False),
         ("localhost.evil.example", False), ("127.0.0.1.evil.example", False), ("evil.example:80", False), ("127.0.0.2", False),
         ("0.0.0.0", False), ("[::2]", False), ("localhost@evil.example", False), ("localhost:80@evil.example", False),
         ("", False), ("a b", False)]


@pytest.mark.parametrize("host, good", HOSTS)
def test_name_of_the_server(start, host, good):
    """A page whose own name was made to mean 127.0.0.1 sends that name."""
    http = start()
    raw = http.socket()
    raw.sendall(f"GET {sparql(ALL)} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
    answer = b"".join(iter(lambda: raw.recv(65536), b""))
    raw.close()
    assert (b"secret" in answer) == good, answer
    assert answer.startswith(b"HTTP/1.1 200 " if good else (b"HTTP/1.1 403 ", b"HTTP/1.1 400 ")), answer


def test_names_twice(start):
    http = start()
    for request in (f"GET {sparql(ALL)} HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n",
                    f"GET {sparql(ALL)} HTTP/1.1\r\nHost: evil.example\r\nHost: localhost\r\n",
                    f"GET http://evil.example{sparql(ALL)} HTTP/1.1\r\nHost: localhost\r\n"):
        raw = http.socket()
        raw.sendall((request + "Connection: close\r\n\r\n").encode())
        answer = b"".join(iter(lambda raw=raw: raw.recv(65536), b""))
        raw.close()
        assert b"secret" not in answer and b" 40" in answer.partition(b"\r\n")[0], answer


def test_further_name(start):
    http = start("--host", "store.example")
    assert http.get(sparql(ALL), Host="store.example:8080").status == 200
    assert http.get(sparql(ALL), Host="other.example").status == 403


@pytest.mark.parametrize("headers, good", [
    ({"Origin": "http://evil.example"}, False), ({"Origin": "null"}, False), ({"Origin": "https://localhost"}, False),
    ({"Origin": ""}, False),
    ({"Sec_Fetch_Site": "cross-site"}, False), ({"Sec_Fetch_Site": "same-site"}, False), ({"Sec_Fetch_Site": "none"}, True),
    ({"Sec_Fetch_Site": "same-origin"}, True), ({}, True),
])
def test_pages_of_other_origins(start, headers, good):
    http = start("--read-write")
    for method, path, body in (("GET", sparql(ALL), None), ("POST", "/sparql", "query=ASK%20%7B%7D"), ("OPTIONS", "/sparql", None),
                               ("GET", "/nothing", None), ("GET", "/login?ticket=x", None)):
        response = http.request(method, path, body, Content_Type=FORM if body else None, **headers)
        assert (response.status == 403) != good or path.startswith("/login"), (path, response.status)
        assert "Access-Control-Allow-Origin" not in response.headers
        assert good or b"secret" not in response.body
    if not good:
        assert http.post("CLEAR ALL", UPDATE_TYPE, **headers).status == 403
    assert len(http.query(ALL).rows) == 1


def test_own_origin(start):
    http = start()
    own = f"127.0.0.1:{http.port}"
    assert http.get(sparql(ALL), Host=own, Origin="http://" + own).status == 200
    assert http.get(sparql(ALL), Host=own, Origin="http://127.0.0.1:1").status == 403
    assert http.get(sparql(ALL), Host=own, Origin="http://localhost").status == 403


def test_allowed_origin(start):
    http = start("--allow-origin", "https://tool.example", token=True)
    response = http.request("OPTIONS", "/sparql", Origin="https://tool.example", Access_Control_Request_Method="POST",
                            Sec_Fetch_Site="cross-site")
    assert response.status == 204 and response.headers["Access-Control-Allow-Origin"] == "https://tool.example"
    assert "Authorization" in response.headers["Access-Control-Allow-Headers"] and "Origin" in response.headers["Vary"]
    assert "Access-Control-Allow-Credentials" not in response.headers
    assert http.get(sparql(ALL), Origin="https://tool.example").status == 401
    response = http.get(sparql(ALL), Origin="https://tool.example", Authorization="Bearer " + http.token)
    assert response.status == 200 and response.headers["Access-Control-Allow-Origin"] == "https://tool.example"
    assert http.request("OPTIONS", "/sparql", Origin="https://other.example").status == 403


def test_cookie_by_a_ticket(start):
    http = start("--limit", "sessions=1", token=True)
    bearer = "Bearer " + http.token

    def log_in():
        path = http.request("POST", "/ticket", Authorization=bearer).json["path"]
        response = http.get(path)
        assert (response.status, response.headers["Location"]) == (303, "/")
        assert http.get(path).status == 403  # it worked once
        value, *attributes = response.headers["Set-Cookie"].split("; ")
        assert set(attributes) == {"Path=/", "HttpOnly", "SameSite=Strict"}
        return value

    first = log_in()
    assert http.get(sparql(ALL), Cookie=first).status == 200
    assert http.get(sparql(ALL), Cookie="other=1; " + first).status == 200
    assert http.get(sparql(ALL), Cookie=first, Origin="http://evil.example").status == 403
    assert http.get(sparql(ALL), Cookie=first + "x").status == 401
    assert http.token not in first
    log_in()
    assert http.get(sparql(ALL), Cookie=first).status == 401  # one session at a time
    assert http.get("/login").status == 403 and http.get("/login?ticket=").status == 403
    assert http.request("POST", "/ticket").status == 401


def test_session_outlives_the_process(start, bus):
    """systemd ends an idle process and starts another one: the page in the browser goes on."""
    def log_in(server):
        path = server.request("POST", "/ticket", Authorization="Bearer " + server.token).json["path"]
        return server.get(path).headers["Set-Cookie"].split(";")[0]

    first = start("--limit", "sessions=2", token=True)
    cookies = [log_in(first) for _ in range(3)]
    path = first.token_file + "-sessions"
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    second = start("--limit", "sessions=2", token=True)
    assert [second.get("/", Cookie=cookie).status for cookie in cookies] == [401, 200, 200]
    assert second.get("/", Cookie="queryd-session=").status == 401
    assert [start("--limit", "sessions=1", token=True).get("/", Cookie=cookie).status for cookie in cookies] == [401, 401, 200]
    os.chmod(path, 0o640)
    assert start(token=True).get("/", Cookie=cookies[2]).status == 401
    os.chmod(path, 0o600)
    with open(path, "w", encoding="utf-8") as stream:
        stream.write("short\n\n" + "x" * 100000)
    broken = start(token=True)
    assert broken.get("/", Cookie="queryd-session=short").status == 401
    assert broken.get("/", Cookie=log_in(broken)).status == 200
    assert start("--token-file", os.path.join(bus.folder, "other"), token=True).get("/", Cookie=log_in(broken)).status == 401


# --- limits --------------------------------------------------------------------------------------------------------------

def test_limits_of_a_request(start):
    http = start("--limit", "body_bytes=1024", "--limit", "header_bytes=2048", "--limit", "graph_bytes=2048", "--read-write")
    response = http.post("ASK {}" + " " * 1100, "application/sparql-query")
    assert response.status == 413 and "'body_bytes' of 1024" in response.json["detail"]
    chunks = iter([b"ASK {}"] + [b" " * 100] * 20)
    connection = http.connect()
    connection.request("POST", "/sparql", chunks, {"Content-Type": "application/sparql-query"}, encode_chunked=True)
    assert connection.getresponse().status == 413
    connection.close()
    response = http.request("PUT", "/graphs?default", "#" * 3000, Content_Type="text/turtle")
    assert response.status == 413 and "'graph_bytes'" in response.json["detail"]
    assert http.request("PUT", "/graphs?default", "#" * 2000, Content_Type="text/turtle").status == 204
    response = http.get("/sparql?query=ASK%7B%7D" + "%20" * 700)
    assert response.status == 431 and "'header_bytes' of 2048" in response.json["detail"]
    assert http.query("ASK {}").status == 200


def test_too_many_connections(start):
    http = start("--limit", "connections=2")
    assert http.query(ALL).status == 200
    idle = http.socket()
    refused = http.request("GET", "/", kept=False)
    assert refused.status == 503 and "'connections' of 2" in refused.json["detail"] and refused.headers["Retry-After"] == "1"
    idle.close()
    harness.wait_until(lambda: http.request("GET", "/", kept=False).status == 200, "room for a connection")


@pytest.mark.deadline(60)
def test_slow_requests_are_ended(start):
    http = start("--limit", "request_seconds=1", "--limit", "idle_seconds=1")
    silent, slow = http.socket(), http.socket()
    slow.sendall(b"POST /sparql HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n")
    for end in silent, slow:
        end.settimeout(30 * harness.SLOWER)
        while True:
            try:
                if not end.recv(65536):
                    break
            except ConnectionResetError:
                break
        end.close()


@pytest.mark.parametrize("request_bytes", [
    b"\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x00\x01\x02\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\nHost:\r\n\r\n",
    b"GET " + b"/" * 200000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"POST /sparql HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
    b"POST /sparql HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"CONNECT localhost:1 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"POST /sparql HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n",
    b"GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n", b"GET http:/// HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
])
def test_malformed_requests(start, request_bytes):
    http = start()
    raw = http.socket()
    raw.settimeout(20 * harness.SLOWER)
    try:
        raw.sendall(request_bytes)
        raw.shutdown(socket.SHUT_WR)
        answer = b"".join(iter(lambda: raw.recv(65536), b""))
    except OSError as error:  # it closes what is too large before all has come
        assert error.errno in (errno.ECONNRESET, errno.EPIPE, errno.ENOTCONN), error
        answer = b""
    raw.close()
    assert b"secret" not in answer
    assert len(http.query(ALL).rows) == 1
