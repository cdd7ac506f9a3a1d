#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""How soon a query ends while its SERVICE waits for an endpoint that never answers: after its deadline, CancelQuery and hang-up.

    python3 tests/bench/service_ends.py [--rounds N]

A line for each way and place: the first request, the second of a batch, amid rows, amid a head. Milliseconds beyond the deadline or
the call of CancelQuery, until the client has its error; after a hang-up until the endpoint has lost its connection. The bar is 250.
"""
import argparse
import os
import statistics
import sys
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests/e2e"))
import harness  # noqa: E402
import hostile_endpoint as hostile  # noqa: E402
from service_world import Endpoint, Helper  # noqa: E402

DEADLINE_MSEC = 300


class Place:
    """An endpoint, and after how many requests the query waits for ever."""

    def __init__(self, answer, n_requests=1):
        self.n_requests = n_requests
        self.last = answer
        self.hung = threading.Event()  # it waits
        self.lost = threading.Event()  # its connection has ended
        self.lost_at = 0.0
        self.n = 0
        self.endpoint = Endpoint(self.answer)

    def answer(self, client):
        self.n += 1
        if self.n < self.n_requests:
            hostile.answer(hostile.TSV, "?x\t?a\n<http://e/n0>\t1\n")(client)
            return
        self.hung.set()
        try:
            self.last(client)
        except OSError:
            pass
        self.lost_at = time.monotonic()
        self.lost.set()

    def begin(self):
        self.n = 0
        self.hung.clear()
        self.lost.clear()


def ask(caller, url, **opts):
    text = f"SELECT ?a {{ ?x <http://e/name> ?n SERVICE <{url}> {{ ?x <http://e/age> ?a }} }}"
    try:
        caller.query_text(text, "sparql-tsv", language="sparql", **opts)
    except Exception as error:  # pylint: disable=broad-except
        return time.monotonic(), error
    raise AssertionError("it has ended well")


def by_deadline(world, place):
    start = time.monotonic()
    end, error = ask(world, place.endpoint.url, timeout_ms=DEADLINE_MSEC)
    assert error.name == "Timeout", error
    return end - start - DEADLINE_MSEC / 1000


def beside(caller, place, act):
    """Runs @act while the query waits. Returns when it began, and the outcome."""
    outcome = []
    thread = threading.Thread(target=lambda: outcome.append(ask(caller, place.endpoint.url)))
    thread.start()
    assert place.hung.wait(30)
    start = time.monotonic()
    act()
    thread.join()
    return start, outcome[0]


def by_cancel(world, place):
    def cancel():
        for each in world.queries():
            if "SERVICE" in each["text"]:
                world.call("CancelQuery", "(t)", each["id"], interface=harness.MANAGER)

    start, (end, error) = beside(world.caller(), place, cancel)
    assert error.name == "Cancelled", error
    return end - start


def by_hang_up(world, place):
    caller = world.caller()
    start, _ = beside(caller, place, caller.close)
    assert place.lost.wait(30)
    return place.lost_at - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    world = harness.World(limits={"service_bindings": 2})
    world.update("INSERT DATA {" + " ".join(f"<http://e/n{i}> <http://e/name> {i} ." for i in range(8)) + "}", language="sparql")
    places = {"first request": Place(hostile.wait), "third of a batch": Place(hostile.wait, 3),
              "amid rows": Place(hostile.SLOW["stops amid its rows"]),
              "amid its head": Place(hostile.SLOW["sends its head byte by byte"])}
    helper = Helper(world, " ".join(place.endpoint.url for place in places.values()))
    for name, place in places.items():
        for way in (by_deadline, by_cancel, by_hang_up):
            found = []
            for _ in range(rounds):
                place.begin()
                found.append(1000 * way(world, place))
                assert place.lost.wait(30)
            print(f"{name}\t{way.__name__.replace('_', ' ')}\tmedian {statistics.median(found):.0f} ms\tworst {max(found):.0f} ms")
    helper.finish()
    for place in places.values():
        place.endpoint.finish()
    world.finish()


if __name__ == "__main__":
    main()
