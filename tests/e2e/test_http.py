# SPDX-License-Identifier: LGPL-2.1-or-later
"""queryd-http: the SPARQL 1.1 Protocol in all forms, content negotiation, errors, unchanged results, SQL, Explain."""
import csv
import http.client as http_client
import io
import os
import shutil
import socket
import subprocess
import urllib.parse
import xml.etree.ElementTree

import pytest

import harness
from http_world import ALL, FORM, IS_BUILT, NOT_BUILT, QUERY_TYPE, PROGRAM, UPDATE_TYPE, HttpServer, UnixConnection, sparql

pytestmark = pytest.mark.skipif(not IS_BUILT, reason=NOT_BUILT)
DATA = """INSERT DATA {
  <http://e/a> <http://e/p> "text", 5, "mot"@fr ; <http://e/q> <http://e/b>, _:b .
  GRAPH <http://e/g1> { <http://e/in1> <http://e/p> 1 }
  GRAPH <http://e/g2> { <http://e/in2> <http://e/p> 2 }
}"""
JSON, XML = "application/sparql-results+json", "application/sparql-results+xml"


@pytest.fixture(name="http")
def start(bus):
    bus.update(DATA, language="sparql")
    server = HttpServer(bus, "--read-write")
    yield server
    server.finish()


# --- queries ---------------------------------------------------------------------------------------------------------------

def test_query_by_get_form_and_body(http):
    expected = http.query(ALL).rows
    assert len(expected) == 5
    assert http.post(urllib.parse.urlencode({"query": ALL}), FORM).rows == expected
    assert http.post(ALL, QUERY_TYPE).rows == expected
    assert http.post(ALL, QUERY_TYPE + "; charset=UTF-8").rows == expected
    assert http.get(sparql(ALL, "/sparql/")).rows == expected


@pytest.mark.parametrize("accept, expected", [
    (None, JSON), ("*/*", JSON), (JSON, JSON), (XML, XML), ("text/csv", "text/csv"), ("application/json", "application/json"),
    ("application/*", JSON), ("text/*", "text/csv"), ("text/tab-separated-values", "text/tab-separated-values"),
    (f"{JSON};q=0.5, {XML};q=0.8", XML), (f"{JSON};q=0.5, text/csv;q=0.50, {XML};q=0.499", JSON), (f"{XML};q=0, */*", JSON),
    ("*/*;q=0.1, text/csv", "text/csv"), (f"{JSON};q=0, {XML};q=0.001, */*;q=0", XML), ("text/html, application/xml;q=0.9",
                                                                                        "application/xml"),
    ("TEXT/CSV", "text/csv"),
])
def test_negotiation_of_solutions(http, accept, expected):
    response = http.query(ALL, accept)
    assert (response.status, response.type) == (200, expected)


@pytest.mark.parametrize("accept, expected", [
    (None, "text/turtle"), ("application/n-triples", "application/n-triples"), ("application/rdf+xml", "application/rdf+xml"),
    ("application/rdf+xml, text/turtle", "text/turtle"), ("application/trig", "application/trig"),
    ("application/ld+json", "application/ld+json"), ("application/n-quads", "application/n-quads"),
])
def test_negotiation_of_graphs(http, accept, expected):
    for query in "CONSTRUCT WHERE { ?s ?p ?o }", "DESCRIBE <http://e/a>":
        response = http.query(query, accept)
        assert (response.status, response.type) == (200, expected)
        assert b"http://e/a" in response.body


def test_results_have_every_term(http):
    kinds = {(term["type"], term["value"], term.get("xml:lang"), term.get("datatype", "").rpartition("#")[2])
             for row in http.query(ALL, JSON).json["results"]["bindings"] for term in [row["o"]] if term["type"] != "bnode"}
    assert kinds == {("literal", "text", None, ""), ("literal", "mot", "fr", ""), ("literal", "5", None, "integer"),
                     ("uri", "http://e/b", None, "")}
    names = "{http://www.w3.org/2005/sparql-results#}"
    tree = xml.etree.ElementTree.fromstring(http.query(ALL, XML).body)
    assert len(tree.findall(f"{names}results/{names}result")) == 5
    table = list(csv.reader(io.StringIO(http.query(ALL, "text/csv").text)))
    assert table[0] == ["s", "p", "o"] and ["http://e/a", "http://e/p", "mot"] in table
    assert '<http://e/a>\t<http://e/p>\t"mot"@fr\n' in http.query(ALL, "text/tab-separated-values").text


def test_boolean(http):
    assert http.ask("ASK { <http://e/a> ?p ?o }") is True
    assert http.ask("ASK { <http://e/none> ?p ?o }") is False
    assert "<boolean>true</boolean>" in http.query("ASK {}", XML).text


def test_dataset_of_the_request(http):
    g1, g2 = "http://e/g1", "http://e/g2"
    count = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"
    named = "SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } }"

    def number(text, **parameters):
        return int(http.query(text, **parameters).rows[0]["n"])

    assert number(count) == 5 and number(named) == 2
    assert number(count, **{"default-graph-uri": g1}) == 1
    assert number(count, **{"default-graph-uri": [g1, g2]}) == 2
    assert number(named, **{"default-graph-uri": g1}) == 0
    assert number(named, **{"named-graph-uri": g1}) == 1
    assert number(count, **{"named-graph-uri": g1}) == 0
    # the request's dataset, not the text's
    assert number("SELECT (COUNT(*) AS ?n) FROM <http://e/g1> FROM <http://e/g2> { ?s ?p ?o }", **{"default-graph-uri": g1}) == 1
    form = urllib.parse.urlencode({"query": count, "default-graph-uri": g2})
    assert http.post(form, FORM).rows == [{"n": "1"}]
    assert http.post(count, QUERY_TYPE, path="/sparql?default-graph-uri=" + urllib.parse.quote(g1)).rows == [{"n": "1"}]
    assert number(count) == 5  # that was of its request only


@pytest.mark.parametrize("graph", ["a b", "http://e/> FROM <http://e/g2", "http://e/{x}", "\n"])
def test_graph_that_is_no_iri(http, graph):
    response = http.query(ALL, **{"default-graph-uri": graph})
    assert response.status == 400 and "no IRI" in response.json["detail"]


def test_relative_iris_are_below_the_endpoint(http):
    http.update("INSERT DATA { <thing> <http://e/p> 1 }")
    assert http.ask(f"ASK {{ <http://127.0.0.1:{http.port}/thing> ?p ?o }}")
    assert http.ask("ASK { <thing> ?p ?o }")


# --- updates ---------------------------------------------------------------------------------------------------------------

def test_update_by_form_and_body(http):
    assert http.post(urllib.parse.urlencode({"update": "INSERT DATA { <x:1> <x:p> 1 }"}), FORM).status == 204
    http.update("INSERT DATA { <x:2> <x:p> 1 }")
    assert http.ask("ASK { <x:1> ?p ?o . <x:2> ?p ?o }")


def test_update_with_dataset(http):
    path = "/sparql?using-graph-uri=" + urllib.parse.quote("http://e/g1")
    assert http.post("INSERT { ?s <x:seen> true } WHERE { ?s <http://e/p> ?o }", UPDATE_TYPE, path=path).status == 204
    assert [row["s"] for row in http.query("SELECT ?s { ?s <x:seen> true }").rows] == ["http://e/in1"]
    path = "/sparql?using-named-graph-uri=" + urllib.parse.quote("http://e/g2")
    assert http.post("INSERT { ?s <x:named> true } WHERE { GRAPH ?g { ?s ?p ?o } }", UPDATE_TYPE, path=path).status == 204
    assert [row["s"] for row in http.query("SELECT ?s { ?s <x:named> true }").rows] == ["http://e/in2"]
    for text in ("WITH <http://e/g1> DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }",
                 "DELETE { ?s ?p ?o } USING <http://e/g1> WHERE { ?s ?p ?o }"):
        response = http.post(text, UPDATE_TYPE, path=path)
        assert response.status == 400 and "USING or WITH" in response.json["detail"]


def test_read_only_is_the_default(bus):
    bus.update(DATA, language="sparql")
    server = HttpServer(bus)
    try:
        response = server.post("CLEAR ALL", UPDATE_TYPE)
        assert response.status == 403 and "--read-write" in response.json["detail"]
        assert server.post(urllib.parse.urlencode({"update": "CLEAR ALL"}), FORM).status == 403
        assert server.post('{"sql": "CREATE TABLE t(a)", "update": true}', "application/json", path="/sql").status == 403
        assert server.post('{"sql": "CREATE TABLE t(a)"}', "application/json", path="/sql").status == 403
        assert server.request("DELETE", "/graphs?default").status == 403
        assert server.request("PUT", "/graphs?default", "", Content_Type="text/turtle").status == 403
        assert len(server.query(ALL).rows) == 5
    finally:
        server.finish()


# --- what is wrong ----------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("method, path, body, content_type, status", [
    ("GET", "/sparql?query=ASK%20%7B%7D&query=ASK%20%7B%7D", None, None, 400),
    ("GET", "/sparql?update=CLEAR%20ALL", None, None, 400),
    ("GET", "/sparql?query=ASK%20%7B%7D&a=%ff", None, None, 400),
    ("GET", "/sparql?query=%ff", None, None, 400),
    ("GET", "/sparql?query=%00", None, None, 400),
    ("GET", "/nothing", None, None, 404),
    ("GET", "/sparql/below", None, None, 404),
    ("PUT", "/sparql", "query=ASK%20%7B%7D", FORM, 405),
    ("PATCH", "/graphs?default", "", "application/sparql-update", 405),
    ("DELETE", "/", None, None, 405),
    ("GET", "/sql", None, None, 400), ("PUT", "/sql", None, None, 405),
    ("POST", "/sparql", "ASK {}", "text/plain", 415),
    ("POST", "/sparql", "query=ASK%20%7B%7D", None, 415),
    ("POST", "/sparql", "ASK {}".encode("utf-16"), QUERY_TYPE + "; charset=UTF-16", 415),
    ("POST", "/sparql", b"ASK { <x:\xff> ?p ?o }", QUERY_TYPE, 400),
    ("POST", "/sparql", b"ASK {}\0", QUERY_TYPE, 400),
    ("POST", "/sparql", "update=CLEAR%20NAMED&update=CLEAR%20DEFAULT", FORM, 400),
    ("POST", "/sparql", "update=CLEAR%20NAMED&query=ASK%20%7B%7D", FORM, 400),
    ("POST", "/sparql", "update=CLEAR%20XYZ", FORM, 400),
    ("POST", "/sparql", "nothing=1", FORM, 400),
    ("POST", "/sparql?query=ASK%20%7B%7D", "ASK {}", QUERY_TYPE, 400),
    ("POST", "/sparql", "CLEAR ALL", QUERY_TYPE, 403),
    ("POST", "/sparql", "ASK {}", UPDATE_TYPE, 400),
])
def test_wrong_requests(http, method, path, body, content_type, status):
    response = http.request(method, path, body, Content_Type=content_type)
    assert (response.status, response.type) == (status, "application/problem+json")
    problem = response.json
    assert problem["status"] == status and problem["title"] and problem["detail"]
    assert ("Allow" in response.headers) == (status == 405)
    assert len(http.query(ALL).rows) == 5


def test_problem_says_the_place(http):
    response = http.query("SELECT *\nWHERE { ?s ?p }")
    assert response.status == 400
    assert (response.json["line"], response.json["column"], response.json["error"]) == (2, 15, "syntax")
    response = http.query("SELECT *\nWHERE { ?s ?p }", "text/plain")
    assert response.type == "text/plain" and response.text.startswith("2:15: ")
    response = http.query(ALL, "text/html")
    assert response.status == 406 and JSON in response.json["detail"]


def test_timeout_of_the_daemon(make_bus):
    bus = make_bus(limits={"query_timeout_ms": 300})
    server = HttpServer(bus)
    try:
        endless = '{"sql": "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"}'
        response = server.post(endless, "application/json", path="/sql")
        assert response.status == 504 and response.json["error"] == "timeout"
    finally:
        server.finish()


def test_options_and_head(http):
    response = http.request("OPTIONS", "/sparql")
    assert response.status == 204 and response.headers["Allow"] == "GET, HEAD, POST, OPTIONS"
    whole, head = http.query(ALL), http.request("HEAD", sparql(ALL))
    assert (head.status, head.type, head.body) == (200, JSON, b"")
    assert head.headers["Content-Length"] == str(len(whole.body)) and head.headers["ETag"] == whole.headers["ETag"]
    assert http.request("HEAD", sparql("SELECT * {")).status == 400
    assert http.request("HEAD", "/sparql").status == 200


# --- unchanged results ----------------------------------------------------------------------------------------------------

def test_etag(http, bus):
    first = http.query(ALL)
    tag = first.headers["ETag"]
    unchanged = http.get(sparql(ALL), If_None_Match=tag)
    assert (unchanged.status, unchanged.body, unchanged.headers["ETag"]) == (304, b"", tag)
    assert http.get(sparql(ALL), If_None_Match=f'"other", {tag}').status == 304
    assert http.get(sparql(ALL), If_None_Match='"other"').status == 200
    assert http.get(sparql(ALL), Accept=XML, If_None_Match=tag).status == 200
    assert http.query("ASK {}").headers["ETag"] != tag
    bus.update("INSERT DATA { <x:new> <x:p> 1 }", language="sparql")  # by another client
    changed = http.get(sparql(ALL), If_None_Match=tag)
    assert changed.status == 200 and changed.headers["ETag"] != tag and len(changed.rows) == 6
    assert "query;dur=" in changed.headers["Server-Timing"]
    assert changed.headers["Cache-Control"] == "private, no-cache"


@pytest.mark.parametrize("call", ["NOW()", "RAND()", "UUID()", "STRUUID()", "BNODE()"])
def test_a_volatile_query_has_no_etag(http, call):
    tag = http.query(ALL).headers["ETag"]
    path = sparql(f"SELECT ({call} AS ?v) {{}}")
    first = http.get(path, If_None_Match=tag)
    second = http.get(path, If_None_Match="*")
    assert (first.status, second.status) == (200, 200) and "ETag" not in {**first.headers, **second.headers}
    assert (first.body != second.body) == (call != "BNODE()")  # whose label is one within a result


def test_etag_does_not_outlive_the_daemon(http, bus):
    tag = http.query(ALL).headers["ETag"]
    bus.stop_daemon()
    assert http.get(sparql(ALL), If_None_Match=tag).status == 200


# --- SQL, Explain -----------------------------------------------------------------------------------------------------------

def sql(http, body):
    return http.post(body, "application/json", path="/sql")


def test_sql(http):
    assert sql(http, '{"sql": "CREATE TABLE t(a INTEGER, b)", "update": true}').json == {"changes": 0}
    response = sql(http, '{"sql": "INSERT INTO t VALUES(?, ?), (2, :b)", "update": true, '
                         '"parameters": {"1": 1, "2": null, ":b": "zwei"}}')
    assert response.json == {"changes": 2}
    response = sql(http, '{"sql": "SELECT a, b, 1.5 AS c, x\'00ff\' AS d FROM t WHERE a > ? ORDER BY a", "parameters": [0]}')
    assert response.type == "application/json"
    result = response.json
    assert result["columns"] == ["a", "b", "c", "d"] and result["types"] == ["INTEGER", "", "", ""]
    assert result["rows"] == [[1, None, 1.5, {"base64": "AP8="}], [2, "zwei", 1.5, {"base64": "AP8="}]]
    assert result["n_rows"] == 2 and result["generation"] > 0
    assert sql(http, '{"sql": "SELECT * FROM t WHERE a = 7"}').json["rows"] == []


@pytest.mark.parametrize("body, status", [
    ("", 400), ("[]", 400), ("{}", 400), ('{"sql": 1}', 400), ('{"sql": "SELECT 1"', 400), ('{"sql": "SELECT 1"} x', 400),
    ('"sql"', 400),
    ('{"sql": "SELEC 1"}', 400), ('{"sql": "SELECT ?", "parameters": 5}', 400), ('{"sql": "SELECT ?", "parameters": []}', 400),
    ('{"sql": "SELECT ?", "parameters": {"no": 1}}', 400), ('{"sql": "DROP TABLE rdf_quad", "update": true}', 403),
])
def test_wrong_sql(http, body, status):
    response = sql(http, body)
    assert (response.status, response.type) == (status, "application/problem+json"), response.text


def test_sql_takes_only_json(http):
    assert http.post('{"sql": "SELECT 1"}', "text/plain", path="/sql").status == 415  # what a foreign page could send unasked


def test_explain(http):
    result = http.get(sparql(ALL, "/explain")).json
    assert "SELECT" in result["sql"] and result["plan"]
    assert http.get("/explain?" + urllib.parse.urlencode({"sql": "SELECT 1"})).json["sql"] == "SELECT 1"
    assert http.post(urllib.parse.urlencode({"query": "SELECT * {"}), FORM, path="/explain").json["line"] == 1
    assert http.get("/explain").status == 400


def test_full_text(bus, http):
    assert bus.run(bus.queryctl, "fulltext", "add", "http://e/p").returncode == 0
    response = http.query('PREFIX fts: <http://queryd.org/fts#> SELECT ?s { ?s fts:match "mot" }')
    assert response.rows == [{"s": "http://e/a"}]


# --- the program ---------------------------------------------------------------------------------------------------------------

def test_arguments(bus):
    run = bus.run
    assert run(PROGRAM, "--version").stdout.startswith("queryd-http ")
    for arguments in (["--nonsense"], ["--port", "65536"], ["extra"], ["--port", "0", "--limit", "nothing=1"],
                      ["--port", "0", "--limit", "connections=0"]):
        assert run(PROGRAM, *arguments).returncode == 2, arguments
    result = run(PROGRAM)
    assert result.returncode == 1 and "no socket" in result.stderr


@pytest.mark.skipif(shutil.which("systemd-socket-activate") is None, reason="systemd-socket-activate is not installed")
def test_socket_activation(bus):
    """As systemd starts it: by the first connection, with both sockets, until it was idle for a while."""
    path = os.path.join(bus.folder, "run/queryd-http.socket")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    variables = [f"--setenv={name}={value}" for name, value in bus.env.items()]
    arguments = ["-l", f"127.0.0.1:{port}", "-l", path, *variables, PROGRAM, "--no-token", "--limit", "exit_seconds=1"]
    process = subprocess.Popen(["systemd-socket-activate", *arguments], stderr=subprocess.PIPE, text=True, env=bus.env)
    try:
        for line in process.stderr:
            if "unix" in line.lower() or path in line:
                break
        connection = http_client.HTTPConnection("127.0.0.1", port, timeout=30 * harness.SLOWER)
        connection.request("GET", sparql("ASK {}"))
        assert connection.getresponse().read() == b'{"head":{},"boolean":true}\n'
        connection.close()
        other = UnixConnection(path)
        other.request("GET", sparql("ASK {}"))
        assert other.getresponse().status == 200
        other.close()
        assert process.wait(30 * harness.SLOWER) == 0  # it has left by itself
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def test_limits_are_documented(bus):
    with open(os.path.join(harness.ROOT, "docs/http.md"), encoding="utf-8") as stream:
        assert bus.run(PROGRAM, "--print-limits").stdout in stream.read()
