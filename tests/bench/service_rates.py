#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A join of N solutions of the store with SERVICE, and the endpoint's own time for the same requests, in turns.

    python3 tests/bench/service_rates.py [--bindings N] [--batch N] [--rounds N]

The endpoint is queryd-http on a store of its own. Its own time is that of the same requests, one after the other, over a kept
connection; each answer is read whole. Medians, as a client of the bus sees the join. The bar is 2.
"""
import argparse
import os
import statistics
import sys
import time
import urllib.parse

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests/e2e"))
import harness  # noqa: E402
from http_world import HttpServer  # noqa: E402
from service_world import Helper  # noqa: E402

FORM = "application/x-www-form-urlencoded"
FAR = "PREFIX e: <http://example.org/>\nSELECT ?s ?a WHERE { ?s e:age ?a }"


def load(world, n, name):
    text = "".join(f"<http://example.org/n{i}> <http://example.org/{name}> {i % 97} .\n" for i in range(n))
    with harness.memory_file(text.encode()) as fd:
        assert world.import_fd(fd, "turtle")["State"] == "finished"


def ask_endpoint(server, n, batch):
    """The requests that the join makes."""
    n_rows = 0
    for first in range(0, n, batch):
        rows = "".join(f"(<http://example.org/n{i}> )\n" for i in range(first, min(first + batch, n)))
        body = urllib.parse.urlencode({"query": f"{FAR}\nVALUES (?s ) {{\n{rows}}}"})
        answer = server.post(body, FORM, Accept="text/tab-separated-values")
        n_rows += answer.body.count(b"\n") - 1
    assert n_rows == n


def join(near, url, n):
    text = f"PREFIX e: <http://example.org/> SELECT (COUNT(?a) AS ?n) {{ ?s e:name ?x SERVICE <{url}> {{ ?s e:age ?a }} }}"
    _, answer, _ = near.query_text(text, "sparql-csv", language="sparql")
    assert answer.split() == ["n", str(n)], answer


def timed(function, *arguments):
    start = time.perf_counter()
    function(*arguments)
    return 1000 * (time.perf_counter() - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bindings", type=int, default=10_000)
    parser.add_argument("--batch", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=15)
    arguments = parser.parse_args()
    n = arguments.bindings
    far, near = harness.World(), harness.World(limits={"service_bindings": arguments.batch})
    load(far, n, "age")
    load(near, n, "name")
    server = HttpServer(far)
    helper = Helper(near, server.url + "sparql")
    times = {"join": [], "endpoint": []}
    for number in range(arguments.rounds + 1):
        pair = {"join": timed(join, near, server.url + "sparql", n), "endpoint": timed(ask_endpoint, server, n, arguments.batch)}
        for which in pair if number > 0 else ():  # the first one warms
            times[which].append(pair[which])
    ours, own = (statistics.median(times[which]) for which in ("join", "endpoint"))
    ratio = statistics.median(a / b for a, b in zip(times["join"], times["endpoint"]))
    print(f"{n} bindings in {-(-n // arguments.batch)} requests\tjoin {ours:.1f} ms\tthe endpoint's own {own:.1f} ms\t"
          f"ratio of pairs {ratio:.2f}")
    helper.finish()
    server.finish()
    for world in (near, far):
        world.finish()


if __name__ == "__main__":
    main()
