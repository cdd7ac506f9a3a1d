#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The W3C's tests of SERVICE against real endpoints: each is a queryd of its own with queryd-http.

service.py FOLDER: the folder has the W3C's manifest.ttl and its files, which are not part of this project. Addresses of the
endpoints take the places of those in queries, data and results. An endpoint may ask the others, as nested SERVICEs need.
Prints a line for each test.
"""
import io
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "e2e"))
import harness  # noqa: E402
import http_world  # noqa: E402
import service_world  # noqa: E402

MF = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
QT = "http://www.w3.org/2001/sw/DataAccess/tests/test-query#"
INVALID = "http://invalid.endpoint.org/sparql"  # of the tests: no such host


class Failure(Exception):
    pass


class Federation:
    """A store for the query, and one for each endpoint; each with a helper that may ask all endpoints."""

    def __init__(self, endpoints):
        self.servers, self.helpers, self.worlds = [], [], []
        self.local = self.add_world()
        self.addresses = {}
        for iri in endpoints:
            self.servers.append(http_world.HttpServer(self.add_world()))
            self.addresses[iri] = self.servers[-1].url + "sparql"
        allowed = " ".join([INVALID, *self.addresses.values()])
        self.helpers = [service_world.Helper(world, allowed) for world in self.worlds]

    def add_world(self):
        self.worlds.append(harness.World())
        return self.worlds[-1]

    def read(self, path):
        """The file's text, with the addresses of this run."""
        with open(path, encoding="utf-8") as stream:
            text = stream.read()
        for iri, address in self.addresses.items():
            text = text.replace(iri, address)
        return text

    def load(self, world, path):
        with harness.memory_file(self.read(path).encode()) as fd:
            job = world.import_fd(fd, "turtle")
        if job["State"] != "finished":
            raise Failure(f"{path}: {job['ErrorMessage']}")

    def finish(self):
        for server in self.servers:
            server.finish()
        for helper in self.helpers:
            helper.finish()
        for world in self.worlds:
            world.finish()


def solutions(rdflib, text):
    """The rows, in any order."""
    result = rdflib.query.Result.parse(source=io.BytesIO(text), format="xml")
    return sorted(sorted((str(name), term.n3()) for name, term in row.items()) for row in result.bindings)


def run_test(rdflib, graph, test):
    def path(node):
        return str(node).removeprefix("file://")

    action = graph.value(test, rdflib.URIRef(MF + "action"))
    services = {str(graph.value(node, rdflib.URIRef(QT + "endpoint"))): path(graph.value(node, rdflib.URIRef(QT + "data")))
                for node in graph.objects(action, rdflib.URIRef(QT + "serviceData"))}
    data = graph.value(action, rdflib.URIRef(QT + "data"))
    both = Federation(services)
    try:
        if data is not None:
            both.load(both.local, path(data))
        for world, file in zip(both.worlds[1:], services.values()):
            both.load(world, file)
        query = both.read(path(graph.value(action, rdflib.URIRef(QT + "query"))))
        _, text, _ = both.local.query_text(query, "sparql-xml", language="sparql")
        found = solutions(rdflib, text.encode())
        expected = solutions(rdflib, both.read(path(graph.value(test, rdflib.URIRef(MF + "result")))).encode())
        if found != expected:
            raise Failure(f"{found}\ninstead of {expected}")
    except harness.BusError as error:
        raise Failure(str(error)) from error
    finally:
        both.finish()


def main():
    try:
        import rdflib
        import rdflib.collection
        import rdflib.query
    except ImportError:
        print("w3c service: skipped: python3-rdflib is not installed")
        return 0
    for is_built, reason in ((service_world.IS_BUILT, service_world.NOT_BUILT), (http_world.IS_BUILT, http_world.NOT_BUILT)):
        if not is_built:
            print("w3c service: skipped: " + reason)
            return 0
    graph = rdflib.Graph().parse(os.path.join(os.path.abspath(sys.argv[1]), "manifest.ttl"), format="turtle")
    (entries,) = graph.objects(None, rdflib.URIRef(MF + "entries"))
    tests = list(rdflib.collection.Collection(graph, entries))
    n_failed = 0
    for test in tests:
        name = str(test).rpartition("#")[2]
        try:
            run_test(rdflib, graph, test)
            print("ok service", name)
        except Failure as failure:
            n_failed += 1
            print("not ok service", name, failure)
    print(f"w3c service: {len(tests) - n_failed} of {len(tests)}")
    return 1 if n_failed else 0


if __name__ == "__main__":
    sys.exit(main())
