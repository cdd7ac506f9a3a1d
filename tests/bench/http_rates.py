#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""By HTTP: http_rates.py queryd-http|Oxigraph|Virtuoso DATABASE RESOURCES LOOK-UPS. For tests/bench/group-http.c.

The servers have the same triples, three for each resource. A look-up is one GET on a kept connection, for JSON. The large
result is all triples as tab-separated values, read by curl.
"""
import contextlib
import io
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse

from sparql_http import Virtuoso

BUILD = os.environ.get("QUERYD_BUILD_DIR") or os.path.join(os.environ["QUERYD_SOURCE_ROOT"], "build")
ALL = "SELECT ?s ?p ?o { ?s ?p ?o }"
PREFIX = "http://example.org/bench/"
N_TRIPLES_OF_EACH = 3
JSON = "application/sparql-results+json"
STREAMS = 3


def write_triples(path, n):
    with open(path, "w", encoding="utf-8") as out:
        for i in range(n):
            out.write(f'<{PREFIX}{i}> <{PREFIX}name> "name number {i}" .\n'
                      f"<{PREFIX}{i}> <{PREFIX}knows> <{PREFIX}{i * 7919 % n}> .\n"
                      f'<{PREFIX}{i}> <{PREFIX}age> "{i % 90}"^^<http://www.w3.org/2001/XMLSchema#integer> .\n')


def start_queryd(_folder, triples):
    program = os.path.join(BUILD, "client-lib/http/queryd-http")
    if not os.access(program, os.X_OK):
        sys.exit("queryd-http was not built: libsoup-3.0 is not there")
    subprocess.run([os.path.join(BUILD, "client-lib/queryctl/queryctl"), "import", triples], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    process = subprocess.Popen([program, "--port", "0", "--no-token"], stdout=subprocess.PIPE, text=True)
    return process, int(re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\n", process.stdout.readline())[1]), "/sparql"


def start_oxigraph(folder, triples):
    program = os.environ.get("QUERYD_OXIGRAPH", "")
    if not shutil.which(program):
        sys.exit("QUERYD_OXIGRAPH names no program 'oxigraph'")
    store = os.path.join(folder, "oxigraph")
    subprocess.run([program, "load", "--location", store, "--file", triples], check=True, stderr=subprocess.DEVNULL)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen([program, "serve-read-only", "--location", store, "--bind", f"127.0.0.1:{port}"],
                               stderr=subprocess.DEVNULL)
    while process.poll() is None:  # it says nowhere that it listens
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return process, port, "/query"
        except ConnectionRefusedError:
            time.sleep(0.01)
    sys.exit(f"oxigraph ended with status {process.returncode}")


def start_virtuoso(folder, triples):
    if not shutil.which(Virtuoso.program):
        sys.exit("there is no program 'virtuoso-t' (Debian: virtuoso-opensource-7)")
    store = os.path.join(folder, "virtuoso")
    with contextlib.redirect_stdout(io.StringIO()):  # its figures of the load
        Virtuoso.load(store, triples)
    server = Virtuoso(store, triples)
    server.connection.close()
    return server.process, server.port, "/sparql"


STARTS = {"queryd-http": start_queryd, "Oxigraph": start_oxigraph, "Virtuoso": start_virtuoso}


def receive(connection):
    """The body of an answer, with its length or in chunks."""
    data = b""
    while True:
        data += connection.recv(65536)
        end = data.find(b"\r\n\r\n")
        if end < 0:
            continue
        length = re.search(rb"(?i)content-length: (\d+)", data[:end])
        if length is not None and len(data) >= end + 4 + int(length[1]) or length is None and data.endswith(b"0\r\n\r\n"):
            return data[end + 4:]


def measure_look_ups(port, path, n_resources, n):
    times = []
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for i in range(n):
            which = i * 104729 % n_resources
            text = urllib.parse.quote(f"SELECT ?p ?o {{ <{PREFIX}{which}> ?p ?o }}")
            request = (f"GET {path}?query={text} HTTP/1.1\r\n"
                       f"Host: localhost\r\nConnection: keep-alive\r\nAccept: {JSON}\r\n\r\n").encode()
            start = time.perf_counter()
            connection.sendall(request)
            body = receive(connection)
            times.append(time.perf_counter() - start)
            if f"name number {which}".encode() not in body:
                sys.exit(f"the look-up of {which} has found another one")
    times.sort()
    for name, k in ("p10", n // 10), ("p50", n // 2), ("p90", n * 9 // 10), ("p99", n * 99 // 100), ("max", n - 1):
        print(f"look-up.{name}\tus\t{times[k] * 1e6:.1f}")


def measure_stream(port, path, n_rows):
    url = f"http://127.0.0.1:{port}{path}?query={urllib.parse.quote(ALL)}"
    rates = []
    for _ in range(STREAMS):
        run = subprocess.run(["curl", "-sS", "-o", "/dev/null", "-H", "Accept: text/tab-separated-values", "-w",
                              "%{http_code} %{time_total}", url], capture_output=True, text=True, check=True)
        status, seconds = run.stdout.split()
        if status != "200":
            sys.exit(f"all triples were answered by {status}")
        rates.append(n_rows / float(seconds))
    print(f"stream\trows/s\t{sorted(rates)[STREAMS // 2]:.0f}")


def main():
    case, database, n_resources, n = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    with tempfile.TemporaryDirectory(dir=os.path.dirname(database)) as folder:
        triples = os.path.join(folder, "triples.nt")
        write_triples(triples, n_resources)
        process, port, path = STARTS[case](folder, triples)
        try:
            measure_look_ups(port, path, n_resources, n)
            if shutil.which("curl"):
                measure_stream(port, path, N_TRIPLES_OF_EACH * n_resources)
        finally:
            process.terminate()
            process.wait()


if __name__ == "__main__":
    main()
