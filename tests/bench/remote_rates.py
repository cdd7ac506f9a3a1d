#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A SELECT of 1,000,000 rows by a remote connection, and curl's time for the same answer, in turns: queryd-http and Oxigraph.

    python3 tests/bench/remote_rates.py [--rows N] [--rounds N]

QUERYD_OXIGRAPH names Oxigraph's program; without it that part is left out, aloud. Medians of the whole processes. Ours reads each
value as text, curl writes to /dev/null. The bar is 1.15.
"""
import argparse
import os
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests/e2e"))
import harness  # noqa: E402
from http_world import HttpServer  # noqa: E402

QUERY = "SELECT ?s ?p ?o { ?s ?p ?o }"
TYPES = {"tsv": "text/tab-separated-values", "json": "application/sparql-results+json"}
XSD = "http://www.w3.org/2001/XMLSchema#"


def write_data(stream, n_rows):
    for i in range(n_rows):
        value = [f'"value number {i}"', f'"{i}"^^<{XSD}integer>', f"<http://example.org/thing/{i}>", f'"Wert {i}"@de',
                 f'"{i}.5"^^<{XSD}decimal>'][i % 5]
        stream.write(f"<http://example.org/resource/s{i // 4}> <http://example.org/property/p{i % 10}> {value} .\n")
    stream.flush()


def timed(command):
    """Seconds of the process, and of its CPU; its output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    seconds = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, output


def compare(name, url, rounds, n_rows):
    rows = os.path.join(harness.BUILD, "tests/bench/endpoint-reader")
    for form, media_type in TYPES.items():
        times = {"curl": [], "ours": []}
        for number in range(rounds + 1):
            pair = {"curl": ["curl", "-sS", "--fail", "-o", "/dev/null", "-H", "Accept: " + media_type, "--data-urlencode",
                             "query=" + QUERY, url],
                    "ours": [rows, url, form, QUERY]}
            for who in sorted(pair, reverse=number % 2 == 1):
                seconds, cpu, output = timed(pair[who])
                assert who == "curl" or int(output.split()[1]) == n_rows, output
                if number > 0:  # the first one warms
                    times[who].append((seconds, cpu))
        curl, ours = (statistics.median(s for s, _ in times[who]) for who in ("curl", "ours"))
        cpu = {who: statistics.median(c for _, c in times[who]) for who in times}
        ratio = statistics.median(a[0] / b[0] for a, b in zip(times["ours"], times["curl"]))
        print(f"{name}\t{form}\tours {ours:.2f} s\tcurl {curl:.2f} s\tratio of pairs {ratio:.3f}\t"
              f"CPU ours {cpu['ours']:.2f} s, curl {cpu['curl']:.2f} s", flush=True)


def with_queryd(document, arguments):
    world = harness.World()
    server = None
    try:
        with open(document, "rb") as stream:
            assert world.import_fd(stream.fileno(), "ntriples")["State"] == "finished"
        server = HttpServer(world)
        compare("queryd-http", server.url + "sparql", arguments.rounds, arguments.rows)
    finally:
        if server is not None:
            server.finish()
        world.finish()


def with_oxigraph(document, arguments, folder):
    program = os.environ.get("QUERYD_OXIGRAPH", os.path.join(harness.BUILD, "oxigraph-venv/bin/oxigraph"))
    if not os.access(program, os.X_OK):
        print("skipped: Oxigraph is not there; QUERYD_OXIGRAPH names its program")
        return
    store = os.path.join(folder, "oxigraph")
    subprocess.run([program, "load", "--location", store, "--file", document], check=True, stderr=subprocess.DEVNULL)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = subprocess.Popen([program, "serve-read-only", "--location", store, "--bind", f"127.0.0.1:{port}"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        harness.wait_until(lambda: socket.socket().connect_ex(("127.0.0.1", port)) == 0, "Oxigraph listens")
        compare("Oxigraph", f"http://127.0.0.1:{port}/query", arguments.rounds, arguments.rows)
    finally:
        server.kill()
        server.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        document = os.path.join(folder, "data.nt")
        with open(document, "w", encoding="utf-8") as stream:
            write_data(stream, arguments.rows)
        with_queryd(document, arguments)
        with_oxigraph(document, arguments, folder)


main()
