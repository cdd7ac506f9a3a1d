# SPDX-License-Identifier: LGPL-2.1-or-later
"""Mutated HTTP requests: queryd-http answers each of them or ends its connection, and goes on.

QUERYD_HTTP_MUTATIONS=N[,SEED] takes N requests instead of 400.
"""
import os
import random
import urllib.parse
from concurrent.futures import ThreadPoolExecutor

import pytest

from harness import SLOWER, wait_until
from http_world import ALL, IS_BUILT, NOT_BUILT, HttpServer

pytestmark = pytest.mark.skipif(not IS_BUILT, reason=NOT_BUILT)
N, SEED = (int(n) for n in (os.environ.get("QUERYD_HTTP_MUTATIONS", "400") + ",1").split(",")[:2])
N_OF_CONNECTION = 8
N_AT_ONCE = 8
PATIENCE_S = 0.05 * SLOWER  # a request whose body is said to be longer has no answer
LAST = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
BYTES = b"\0\1\r\n\t :;,=&%+/?#\"'\\<>()[]{}*-0159azAZ\x7f\x80\xc3\xa9\xff"
TOKENS = [b"\r\n", b"\r\n\r\n", b"%00", b"%", b"%ff", b"0", b"-1", b"99999999999999999999", b"chunked",
          b"Transfer-Encoding: chunked\r\n",
          b"Content-Length: 5\r\n", b"Expect: 100-continue\r\n", b"Connection: close\r\n", b"Range: bytes=0-1\r\n", b"HTTP/1.0",
          b"HTTP/9.9", b"If-None-Match: *\r\n", b"Upgrade: websocket\r\n", b"--b", b"\xef\xbb\xbf",
          b"A" * 300, b"/../", b"*", b"q=0.5"]


def build(method, path, body=b"", **headers):
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    if body:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def seeds():
    quoted = urllib.parse.quote(ALL)
    multipart = (b'--b\r\nContent-Disposition: form-data; name="f"; filename="x.ttl"\r\nContent-Type: text/turtle\r\n\r\n'
                 b'<x:a> <x:b> 1 .\r\n--b--\r\n')
    return [
        build("GET", "/"),
        build("HEAD", f"/sparql?query={quoted}", Accept="text/csv;q=0.5, application/sparql-results+xml"),
        build("GET", f"/sparql?query={quoted}&default-graph-uri=http://e/g", Accept="application/sparql-results+json",
              If_None_Match='"1-a", W/"b"'),
        build("OPTIONS", "/sparql", Origin="http://127.0.0.1", Access_Control_Request_Method="POST"),
        build("POST", "/sparql", b"query=" + quoted.encode(), Content_Type="application/x-www-form-urlencoded"),
        build("POST", "/sparql", ALL.encode(), Content_Type="application/sparql-query; charset=utf-8"),
        build("POST", "/sparql", b"INSERT DATA { <x:a> <x:b> 'c' }", Content_Type="application/sparql-update"),
        build("POST", "/sql", b'{"sql": "SELECT ?, :b", "parameters": {"1": [1, null], ":b": 1e9}, "update": false}',
              Content_Type="application/json"),
        build("POST", "/explain", b"sql=SELECT+1", Content_Type="application/x-www-form-urlencoded"),
        build("PUT", "/graphs?graph=http://e/g", b"<x:a> <x:b> <x:c> .\n", Content_Type="text/turtle"),
        build("POST", "/graphs?default", multipart, Content_Type="multipart/form-data; boundary=b"),
        build("GET", "/graphs?default", Accept="text/turtle", Authorization="Bearer x", Cookie="a=b; queryd-http=c"),
        build("DELETE", "/graphs?graph=http://e/none"),
        b"POST /sparql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/sparql-query\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"5\r\nASK {\r\n2;x=y\r\n }\r\n0\r\n\r\n",
    ]


def mutate(rng, corpus):
    data = bytearray(rng.choice(corpus))
    for _ in range(rng.choice((1, 1, 2, 3, 8))):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(7)
        if kind == 0:
            data[at:at + 1] = bytes([rng.choice(BYTES)])
        elif kind == 1:
            data[at:at] = bytes([rng.choice(BYTES)])
        elif kind == 2:
            del data[at:at + rng.choice((1, 2, 5, 40))]
        elif kind == 3:
            data[at:at] = rng.choice(TOKENS)
        elif kind == 4:
            end = min(len(data), at + rng.randrange(60))
            data[at:at] = data[at:end] * rng.choice((1, 2, 20))
        elif kind == 5:
            other = rng.choice(corpus)
            data[at:] = other[rng.randrange(len(other)):]
        elif at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        if not data:
            data[:] = b"G"
    return bytes(data)


def send_some(http, requests):
    """On one connection, without waiting for answers. Reads until the server ends it, which the last request asks for, or waits."""
    with http.socket() as connection:
        connection.settimeout(PATIENCE_S)
        try:
            connection.sendall(b"".join(requests) + LAST)
            while connection.recv(1 << 16):
                pass
        except (BrokenPipeError, ConnectionResetError, TimeoutError):
            pass


def send_all(http, seed, n_requests):
    rng = random.Random(seed)
    corpus = seeds()
    while n_requests > 0:
        n = min(rng.choice((1, 1, 1, N_OF_CONNECTION)), n_requests)
        send_some(http, [mutate(rng, corpus) for _ in range(n)])
        n_requests -= n


@pytest.mark.deadline(120 + N // 10)
def test_mutated_requests(bus):
    # libsoup 3.2 leaks the path of a request that it refuses (soup_headers_parse_request)
    if "ASAN_OPTIONS" in bus.env:
        bus.env["ASAN_OPTIONS"] += ":detect_leaks=0"
    http = HttpServer(bus, "--read-write")
    bus.update("INSERT DATA { <x:a> <x:b> 1, 2, 'three' }", language="sparql")
    assert http.query("ASK {}", kept=False).status == 200
    n_fds = http.n_fds()
    with ThreadPoolExecutor(N_AT_ONCE) as pool:
        for done in [pool.submit(send_all, http, SEED * N_AT_ONCE + i, N // N_AT_ONCE) for i in range(N_AT_ONCE)]:
            done.result()
    assert http.process.poll() is None
    assert http.query("ASK {}", kept=False).status == 200
    wait_until(lambda: http.n_fds() <= n_fds + N_AT_ONCE * 2, "no descriptor of a connection that is over")
    http.process.terminate()
    assert http.process.wait(20 * SLOWER) == 0
    http.process.stdout.close()
    http.errors.seek(0)
    complaints = http.errors.read()
    http.errors.close()
    # libsoup 3.2 warns of a negative Content-Length after it was refused
    complaints = "\n".join(line for line in complaints.splitlines() if "property 'content-length'" not in line)
    assert "Sanitizer" not in complaints and "CRITICAL" not in complaints and "WARNING" not in complaints, complaints
