# SPDX-License-Identifier: LGPL-2.1-or-later
"""queryd-http: Graph Store HTTP Protocol, direct and indirect, and the description of the service."""
import concurrent.futures
import urllib.parse

import pytest

from http_world import FORM, IS_BUILT, NOT_BUILT, HttpServer

pytestmark = pytest.mark.skipif(not IS_BUILT, reason=NOT_BUILT)
G = "/graphs?graph=" + urllib.parse.quote("http://e/g", safe="")
NT, TTL = "application/n-triples", "text/turtle"
SD, VOID = "http://www.w3.org/ns/sparql-service-description#", "http://rdfs.org/ns/void#"


@pytest.fixture(name="http")
def start(bus):
    server = HttpServer(bus, "--read-write")
    yield server
    server.finish()


def put(http, path, body, content_type=TTL, method="PUT"):
    return http.request(method, path, body, Content_Type=content_type)


def lines(http, path):
    response = http.get(path, Accept=NT)
    assert (response.status, response.type) == (200, NT), response.text
    return set(response.text.splitlines())


def test_put_get_post_delete(http):
    assert put(http, G, "<x:s> <x:p> 1 .").status == 201
    assert put(http, G, "<x:s> <x:p> 2 .").status == 204
    assert http.get(G).text.split() == ["<x:s>", "<x:p>", "2", "."]
    assert http.get(G).headers["Content-Type"] == "text/turtle; charset=utf-8"
    assert put(http, G, "<x:s> <x:p> 3 .", TTL + "; charset=utf-8", "POST").status == 204
    assert len(lines(http, G)) == 2
    head = http.request("HEAD", G)
    assert head.status == 200 and int(head.headers["Content-Length"]) > 0 and head.body == b""
    assert http.request("DELETE", G).status == 204
    assert http.get(G).status == 404 and http.request("HEAD", G).status == 404
    assert http.request("DELETE", G).status == 404
    assert put(http, G, "<x:s> <x:p> 4 .", method="POST").status == 201


@pytest.mark.parametrize("content_type, body", [
    (TTL, "@prefix x: <x:> . x:s x:p 'ä' ."), (NT, '<x:s> <x:p> "ä" .\n'),
    ("application/rdf+xml", '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:x="x:"><rdf:Description '
                            'rdf:about="x:s"><x:p>ä</x:p></rdf:Description></rdf:RDF>'),
])
def test_formats_in_and_out(http, content_type, body):
    assert put(http, G, body.encode(), content_type).status == 201
    assert lines(http, G) == {'<x:s> <x:p> "ä" .'}
    out = http.get(G, Accept=content_type)
    assert out.type == content_type
    assert put(http, G + "2", out.body, content_type).status == 201
    assert lines(http, G + "2") == {'<x:s> <x:p> "ä" .'}
    assert http.get(G, Accept="text/html").status == 406


def test_default_graph(http):
    assert put(http, "/graphs?default", "<x:s> <x:p> 1 .").status == 204
    assert put(http, G, "<x:s> <x:p> 2 .").status == 201
    assert len(lines(http, "/graphs?default")) == 1
    assert put(http, "/graphs?default", "<x:s> <x:p> 5, 6 .").status == 204
    assert len(lines(http, "/graphs?default")) == 2 and len(lines(http, G)) == 1
    assert http.request("DELETE", "/graphs?default").status == 204
    assert lines(http, "/graphs?default") == set() and len(lines(http, G)) == 1


def test_direct_names(http):
    path = "/graphs/person/1.ttl"
    assert put(http, path, "<> <x:p> 1 .").status == 201
    name = f"http://127.0.0.1:{http.port}{path}"
    assert name in http.get(path).text
    assert lines(http, "/graphs?graph=" + urllib.parse.quote(name, safe="")) == lines(http, path)
    assert http.ask(f"ASK {{ GRAPH <{name}> {{ <{name}> <x:p> 1 }} }}")
    assert http.get("/graphs/person/2.ttl").status == 404
    assert http.request("DELETE", path).status == 204


def test_new_graph(http):
    response = put(http, "/graphs", "[] <x:p> 1 .", method="POST")
    assert response.status == 201
    other = put(http, "/graphs/", "[] <x:p> 1 .", method="POST")
    assert other.headers["Location"] != response.headers["Location"]
    path = urllib.parse.urlsplit(response.headers["Location"]).path
    assert len(lines(http, path)) == 1


def test_names_are_taken_as_they_are(http):
    for name, number in ("http://e/%31", 1), ("http://e/1", 2), ("HTTP://e/1", 3), ("urn:x", 4), ("http://e/ü", 5):
        path = "/graphs?graph=" + urllib.parse.quote(name, safe="")
        assert put(http, path, f"<x:s> <x:p> {number} .").status == 201
        assert http.ask(f"ASK {{ GRAPH <{name}> {{ ?s ?p {number} }} }}")
    for name in "http://e/> } ; DROP ALL #", "a b", "\n", "http://e/{":
        path = "/graphs?graph=" + urllib.parse.quote(name, safe="")
        for method in "GET", "PUT", "POST", "DELETE":
            assert put(http, path, "<x:s> <x:p> 1 .", method=method).status == 400, (method, name)
    assert http.query("SELECT * { GRAPH ?g { ?s ?p ?o } }").json["results"]["bindings"].__len__() == 5


def test_several_documents_in_one_request(http):
    parts = [("a.ttl", TTL + "; charset=utf-8", "@prefix x: <x:> . _:b x:p 1 ."), ("b.nt", NT, "_:b <x:p> <x:o> ."), ("c.ttl",
             TTL, "<x:s> <x:p> 2 .")]
    head = "--B\r\nContent-Disposition: form-data"
    body = "".join(f'{head}; name="{name}"; filename="{name}"\r\nContent-Type: {kind}\r\n\r\n{text}\n\r\n'
                   for name, kind, text in parts) + "--B--\r\n"
    kind = "multipart/form-data; boundary=B"
    assert put(http, G, body, kind, "POST").status == 201
    assert len({line.split()[0] for line in lines(http, G)}) == 3  # blank nodes of two documents are two
    wrong = put(http, G, body.replace("<x:s> <x:p> 2 .", "<x:s> <x:p> ."), kind, "POST")
    assert wrong.status == 400 and "part 3: 1:" in wrong.json["detail"]
    assert put(http, G, body.replace(NT, "text/html"), kind, "POST").status == 415
    assert put(http, G, "no form", kind, "POST").status == 400
    assert len(lines(http, G)) == 3


def test_jsonld(http):
    """A document with a named graph would write into other graphs than the request names."""
    kind = "application/ld+json"
    put(http, "/graphs?default", "<x:s> <x:p> 1 .")
    assert put(http, G, '{"@id": "x:s", "x:p": {"@id": "x:o"}}', kind).status in (200, 201, 204)
    assert lines(http, G) == {"<x:s> <x:p> <x:o> ."}
    assert len(lines(http, "/graphs?default")) == 1
    assert http.get(G, Accept=kind).json == [{"@id": "x:s", "x:p": {"@id": "x:o"}}]
    for path in G, "/graphs?default":
        assert put(http, path, '{"@id": "x:g", "@graph": {"@id": "x:s", "x:p": 1}}', kind).status == 400
    wrong = put(http, G, '{"@id": "x:s",\n "x:p": }', kind)
    assert wrong.status == 400 and (wrong.json["line"], wrong.json["column"]) == (2, 9)
    assert lines(http, G) == {"<x:s> <x:p> <x:o> ."}


def test_what_is_wrong_changes_nothing(http):
    put(http, G, "<x:s> <x:p> 1 .")
    broken = put(http, G, "<x:s> <x:p> 2 .\n<x:s> <x:p> .")
    assert broken.status == 400 and (broken.json["line"], broken.json["column"]) == (2, 13)
    assert put(http, G, "<x:s> <x:p> 2 .", "text/html").status == 415
    assert put(http, G, "<x:s> <x:p> 2 .", None).status == 415
    assert put(http, G, "query=ASK%7B%7D", FORM).status == 415
    assert put(http, G, "<x:s> <x:p> 2 <x:g> .", "application/n-quads").status == 415  # would replace all graphs
    assert put(http, G, "<x:s> <x:p> 2 .", TTL + "; charset=latin1").status == 415
    for path in "/graphs", "/graphs?default&graph=x:y", "/graphs?graph=x:y&graph=x:z":
        for method in "GET", "PUT", "DELETE":
            assert put(http, path, "", method=method).status == 400, (method, path)
    patch = http.request("PATCH", G, "INSERT DATA { <x:s> <x:p> 1 }", Content_Type="application/sparql-update")
    assert patch.status == 405 and "PATCH" not in patch.headers["Allow"]
    assert lines(http, G) == {'<x:s> <x:p> "1"^^<http://www.w3.org/2001/XMLSchema#integer> .'}


def test_many_at_once(bus):
    """The daemon takes one import of a client; the others wait their turn."""
    server = HttpServer(bus, "--read-write", "--limit", "imports=64")
    try:
        def work(i):
            return server.request("PUT", f"/graphs?graph=x:g{i}", f"<x:s> <x:p> {i} .", kept=False, Content_Type=TTL).status
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            assert set(pool.map(work, range(32))) == {201}
        assert server.query("SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } }").rows == [{"n": "32"}]
    finally:
        server.finish()


# --- the description -----------------------------------------------------------------------------------------------------

def test_description(http):
    put(http, G, "<x:s> <x:p> 1, 2 .")
    put(http, "/graphs?default", "<x:s> <x:p> 1, 2, 3 .")
    for path in "/sparql", "/sparql/":
        response = http.get(path, Accept=NT)
        triples = [line.rstrip(" .").split(" ", 2) for line in response.text.splitlines()]
        values = {}
        for s, p, o in triples:
            values.setdefault((s, p.strip("<>")), set()).add(o)
        (service,) = [s for s, p, o in triples if o == f"<{SD}Service>"]
        assert values[service, SD + "endpoint"] == {f"<http://127.0.0.1:{http.port}{path}>"}
        assert values[service, SD + "supportedLanguage"] == {f"<{SD}SPARQL11Query>", f"<{SD}SPARQL11Update>"}
        (dataset,) = values[service, SD + "defaultDataset"]
        assert values[dataset, VOID + "triples"] == {'"5"^^<http://www.w3.org/2001/XMLSchema#integer>'}
        (named,) = values[dataset, SD + "namedGraph"]
        assert values[named, SD + "name"] == {"<http://e/g>"}
        (graph,) = values[named, SD + "graph"]
        assert values[graph, VOID + "triples"] == {'"2"^^<http://www.w3.org/2001/XMLSchema#integer>'}
    assert http.get("/sparql").type == TTL
    assert http.get("/sparql", Accept="application/rdf+xml").body.startswith(b"<?xml")
    assert http.get("/sparql", Accept="text/html").status == 406
