#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The W3C's tests of the SPARQL Protocol, the Graph Store Protocol and the Service Description against queryd-http.

http_protocol.py FOLDER: the folder has protocol/, graph-store-protocol/ and service-description/ of the W3C's tests, which are not
part of this project. Each test's requests are sent as its manifest describes them. Prints a line for each test.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "e2e"))
import harness  # noqa: E402
from http_world import IS_BUILT, NOT_BUILT, HttpServer  # noqa: E402

HT, CNT = "http://www.w3.org/2011/http#", "http://www.w3.org/2011/content#"
MF = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
UT = "http://www.w3.org/2009/sparql/tests/test-update#"
SD = "http://www.w3.org/ns/sparql-service-description#"
STATUSES = {"OK": {200}, "Created": {201}, "NoContent": {204}, "NotFound": {404}, "BadRequest": {400}} | {
    f"StatusCode{n}xx": set(range(100 * n, 100 * n + 100)) for n in range(2, 6)}
FORMATS = {
    "boolean": {"application/sparql-results+json", "application/sparql-results+xml", "application/json", "text/csv"},
    "tabular": {"application/sparql-results+json", "application/sparql-results+xml", "text/csv", "text/tab-separated-values"},
    "RDF": {"text/turtle", "application/n-triples", "application/rdf+xml"},
}
HOST = "www.example"


class Failure(Exception):
    pass


class Manifest:
    def __init__(self, rdflib, path):
        self.rdflib, self.folder = rdflib, os.path.dirname(path)
        self.graph = rdflib.Graph().parse(path, format="turtle")

    def uri(self, name):
        return self.rdflib.URIRef(name)

    def value(self, node, name):
        found = self.graph.value(node, self.uri(name))
        return None if found is None else str(found)

    def tests(self):
        (entries,) = self.graph.objects(None, self.uri(MF + "entries"))
        return list(self.rdflib.collection.Collection(self.graph, entries))

    def requests(self, test):
        action = self.graph.value(test, self.uri(MF + "action"))
        head = self.graph.value(action, self.uri(HT + "requests"))
        return list(self.rdflib.collection.Collection(self.graph, head)) if head is not None else []

    def headers(self, node):
        head = self.graph.value(node, self.uri(HT + "headers"))
        nodes = list(self.rdflib.collection.Collection(self.graph, head)) if head is not None else []
        return {self.value(n, HT + "fieldName").lower(): self.value(n, HT + "fieldValue") for n in nodes}

    def body(self, node):
        body = self.graph.value(node, self.uri(HT + "body"))
        if body is None:
            return None
        return self.value(body, CNT + "chars"), self.value(body, CNT + "characterEncoding") or "UTF-8"


def fill(manifest, test, bus):
    bus.update("DROP ALL", language="sparql")
    for node in manifest.graph.objects(test, manifest.uri(UT + "graphData")):
        name = manifest.value(node, "http://www.w3.org/2000/01/rdf-schema#label")
        path = manifest.value(node, UT + "graph").removeprefix("file://")
        with open(path, encoding="utf-8") as stream:
            bus.update(f"INSERT DATA {{ GRAPH <{name}> {{ {stream.read()} }} }}", language="sparql")


def expect(manifest, request, answer, location):
    response = manifest.graph.value(request, manifest.uri(HT + "resp"))
    statuses = set().union(*(STATUSES[str(o).rpartition("#")[2]]
                             for o in manifest.graph.objects(response, manifest.uri(MF + "expectedStatus"))))
    if answer.status not in statuses:
        raise Failure(f"status {answer.status}: {answer.body[:200]}")
    kind = manifest.value(response, MF + "expectedFormat")
    if kind is not None and answer.type not in FORMATS[kind]:
        raise Failure(f"type {answer.type} for {kind}")
    boolean = manifest.value(response, MF + "expectedBoolean")
    if boolean is not None and str(answer.json["boolean"]).lower() != boolean:
        raise Failure(f"is {answer.json['boolean']}")
    if manifest.value(response, MF + "expectedLocation") is not None:
        location = answer.headers.get("Location")
        if location is None:
            raise Failure("no Location")
    body = manifest.body(response)
    if body is not None:
        if answer.headers["Content-Type"] != manifest.headers(response)["content-type"]:
            raise Failure(f"type {answer.headers['Content-Type']}")
        graphs = [manifest.rdflib.Graph().parse(data=text, format="turtle", publicID=f"http://{HOST}/")
                  for text in (answer.text, body[0].replace("$LOCATION$", location or ""))]
        if not manifest.rdflib.compare.isomorphic(*graphs):
            raise Failure(f"another graph: {answer.text}")
    return location


def run_requests(manifest, test, bus, server):
    location = None
    fill(manifest, test, bus)
    for request in manifest.requests(test):
        path = manifest.value(request, HT + "absolutePath").replace("/gsp", "/graphs", 1).replace("$LOCATION$", location or "")
        headers = {name.replace("-", "_"): text for name, text in manifest.headers(request).items()} | {"Host": HOST}
        body = manifest.body(request)
        data = body[0].replace("$LOCATION$", location or "").encode(body[1]) if body is not None else None
        answer = server.request(manifest.value(request, HT + "methodName"), path, data, **headers)
        location = expect(manifest, request, answer, location)


def describe(rdflib, server, name):
    """The three tests of the description have no requests in their manifest, only their names."""
    answer = server.get("/sparql", Host=HOST)
    graph = rdflib.Graph().parse(data=answer.text, format="turtle")
    services = set(graph.subjects(rdflib.RDF.type, rdflib.URIRef(SD + "Service")))
    good = {
        "returns-rdf": answer.status == 200 and answer.type in FORMATS["RDF"] and len(graph) > 0,
        "has-endpoint-triple": (None, rdflib.URIRef(SD + "endpoint"), rdflib.URIRef(f"http://{HOST}/sparql")) in graph,
        "conforms-to-schema": len(services) == 1 and all(
            (o, rdflib.RDF.type, rdflib.URIRef(SD + kind)) in graph
            for predicate, kind in (("defaultDataset", "Dataset"), ("defaultGraph", "Graph"), ("namedGraph", "NamedGraph"))
            for o in graph.objects(None, rdflib.URIRef(SD + predicate))),
    }[name]
    if not good:
        raise Failure(answer.text)


def main():
    try:
        import rdflib
        import rdflib.collection
        import rdflib.compare
    except ImportError:
        print("w3c protocol: skipped: python3-rdflib is not installed")
        return 0
    if not IS_BUILT:
        print("w3c protocol: skipped: " + NOT_BUILT)
        return 0
    n_tests = n_failed = 0
    bus = harness.World()
    server = HttpServer(bus, "--read-write", "--host", HOST)
    try:
        for path in ("protocol/manifest.ttl", "graph-store-protocol/manifest-direct.ttl",
                     "graph-store-protocol/manifest-indirect.ttl", "service-description/manifest.ttl"):
            manifest = Manifest(rdflib, os.path.join(sys.argv[1], path))
            for test in manifest.tests():
                name = str(test).rpartition("#")[2]
                n_tests += 1
                try:
                    if path.startswith("service"):
                        describe(rdflib, server, name)
                    else:
                        run_requests(manifest, test, bus, server)
                    print("ok", path.partition("/")[0], name)
                except Failure as failure:
                    n_failed += 1
                    print("not ok", path.partition("/")[0], name, failure)
    finally:
        server.finish()
        bus.finish()
    print(f"w3c protocol: {n_tests - n_failed} of {n_tests}")
    return 1 if n_failed else 0


if __name__ == "__main__":
    sys.exit(main())
