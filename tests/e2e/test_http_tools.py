# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tools of others with queryd-http, unchanged: curl, rdflib's SPARQLStore and SPARQLUpdateStore, SPARQLWrapper."""
import json
import os
import shutil

import pytest

from http_world import ALL, IS_BUILT, NOT_BUILT, HttpServer

pytestmark = pytest.mark.skipif(not IS_BUILT, reason=NOT_BUILT)


@pytest.fixture(name="http")
def start(bus):
    bus.update('INSERT DATA { <http://e/s> <http://e/p> "o", 5 }', language="sparql")
    server = HttpServer(bus, "--read-write", token=True)
    yield server
    server.finish()


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_curl(http, bus):
    def curl(*arguments):
        result = bus.run("curl", "-sS", "--fail-with-body", *arguments)
        return result.returncode, result.stdout

    url, user = http.url, "any:" + http.token
    assert curl(url + "sparql")[0] == 22  # no token
    status, text = curl("-u", user, url + "sparql", "--data-urlencode", "query=" + ALL, "-H", "Accept: text/csv")
    assert status == 0 and len(text.splitlines()) == 3
    status, text = curl("-u", user, "-G", url + "sparql", "--data-urlencode", "query=" + ALL)
    assert status == 0 and len(json.loads(text)["results"]["bindings"]) == 2
    assert curl("-u", user, url + "sparql", "--data-urlencode", "update=INSERT DATA { <x:s> <x:p> 1 }") == (0, "")
    document = os.path.join(bus.folder, "document.ttl")
    with open(document, "w", encoding="utf-8") as stream:
        stream.write("<x:s> <x:p> 1 .\n" * 200_000)  # with Expect: 100-continue
    assert curl("-u", user, "-T", document, "-H", "Content-Type: text/turtle", url + "graphs?graph=x:g") == (0, "")
    status, text = curl("-H", "Authorization: Bearer " + http.token, url + "graphs?graph=x:g")
    assert status == 0 and text.split() == ["<x:s>", "<x:p>", "1", "."]
    assert curl("-u", user, "-X", "DELETE", url + "graphs?graph=x:g") == (0, "")
    assert curl("-u", user, "-I", url + "graphs?graph=x:g")[0] == 22


def test_rdflib_reads(http):
    sparqlstore = pytest.importorskip("rdflib.plugins.stores.sparqlstore", reason="python3-rdflib is not installed")
    rdflib = pytest.importorskip("rdflib")
    store = sparqlstore.SPARQLStore(http.url + "sparql", auth=("any", http.token))
    graph = rdflib.Graph(store)
    subject, predicate = rdflib.URIRef("http://e/s"), rdflib.URIRef("http://e/p")
    assert set(graph.objects(subject, predicate)) == {rdflib.Literal("o"), rdflib.Literal(5)}
    assert (subject, predicate, rdflib.Literal(5)) in graph and len(graph) == 2
    assert [int(row.n) for row in graph.query("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }")] == [2]
    assert bool(graph.query("ASK { ?s ?p 5 }"))
    assert len(graph.query("CONSTRUCT { ?o <x:of> ?s } WHERE { ?s ?p ?o . FILTER(isIRI(?o)) }").graph) == 0
    assert len(graph.query("CONSTRUCT WHERE { ?s ?p ?o }").graph) == 2


def test_rdflib_writes(http):
    sparqlstore = pytest.importorskip("rdflib.plugins.stores.sparqlstore", reason="python3-rdflib is not installed")
    rdflib = pytest.importorskip("rdflib")
    endpoint = http.url + "sparql"
    store = sparqlstore.SPARQLUpdateStore(endpoint, endpoint, auth=("any", http.token))
    dataset = rdflib.ConjunctiveGraph(store)
    name, predicate = rdflib.URIRef("http://e/g"), rdflib.URIRef("http://e/p")
    graph = dataset.get_context(name)
    for i in range(10):
        graph.add((rdflib.URIRef(f"http://e/{i}"), predicate, rdflib.Literal(i)))
    graph.remove((rdflib.URIRef("http://e/3"), None, None))
    assert len(graph) == 9 and {context.identifier for context in dataset.contexts()} >= {name}
    graph.update("DELETE { ?s ?p ?o } WHERE { ?s ?p ?o FILTER(?o > 4) }")
    assert sorted(int(o) for o in graph.objects()) == [0, 1, 2, 4]


def test_sparqlwrapper(http):
    wrapper = pytest.importorskip("SPARQLWrapper", reason="python3-sparqlwrapper is not installed")
    client = wrapper.SPARQLWrapper(http.url + "sparql")
    client.setCredentials("any", http.token)

    def ask(text, form, method=wrapper.GET):
        client.setQuery(text)
        client.setReturnFormat(form)
        client.setMethod(method)
        return client.query().convert()

    assert len(ask(ALL, wrapper.JSON)["results"]["bindings"]) == 2
    assert len(ask(ALL, wrapper.JSON, wrapper.POST)["results"]["bindings"]) == 2
    assert len(ask(ALL, wrapper.XML).getElementsByTagName("result")) == 2
    assert len(ask(ALL, wrapper.CSV).splitlines()) == 3 and len(ask(ALL, wrapper.TSV).splitlines()) == 3
    assert ask("ASK {}", wrapper.JSON)["boolean"] is True
    assert len(ask("CONSTRUCT WHERE { ?s ?p ?o }", wrapper.RDFXML)) == 2
    assert b"http://e/s" in ask("DESCRIBE <http://e/s>", wrapper.TURTLE)
    ask("INSERT DATA { <x:s> <x:p> 1 }", wrapper.JSON, wrapper.POST)
    assert len(ask(ALL, wrapper.JSON)["results"]["bindings"]) == 3
    with pytest.raises(wrapper.SPARQLExceptions.QueryBadFormed, match="1:11"):
        ask("SELECT * {", wrapper.JSON)
    client.setCredentials("any", "wrong")
    with pytest.raises(wrapper.SPARQLExceptions.Unauthorized):
        ask(ALL, wrapper.JSON)
