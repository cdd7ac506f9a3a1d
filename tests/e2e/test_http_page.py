# SPDX-License-Identifier: LGPL-2.1-or-later
"""What queryd-http has for the workbench and for others like it: files, SQL by GET, formats of tables, events of changes."""
import json
import socket

import pytest

import harness
from http_world import ALL, IS_BUILT, NOT_BUILT, HttpServer, sparql

pytestmark = pytest.mark.skipif(not IS_BUILT, reason=NOT_BUILT)

ROWS = "/sql?sql=SELECT+id,+name+FROM+person+ORDER+BY+id"


@pytest.fixture(name="start")
def starter(bus):
    bus.update("CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT)")
    bus.update("INSERT INTO person VALUES(1, 'Ada'), (2, NULL)")
    servers = []

    def start(*arguments):
        servers.append(HttpServer(bus, *arguments))
        return servers[-1]

    yield start
    for server in servers:
        server.finish()


@pytest.fixture(name="http")
def server(start):
    return start()


# --- files ---------------------------------------------------------------------------------------------------------------

def test_page_is_for_browsers(http):
    page = http.get("/", Accept="text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8")
    assert page.type == "text/html" and "<!DOCTYPE html>" in page.text
    for accept in (None, "*/*", "text/plain"):
        assert http.get("/", Accept=accept).type == "text/plain"
    assert http.request("HEAD", "/", Accept="text/html").headers["Content-Length"] == str(len(page.body))


def test_files(http):
    for name, kind in (("main.js", "text/javascript"), ("style.css", "text/css"), ("icon.svg", "image/svg+xml"),
                       ("index.html", "text/html")):
        answer = http.get(f"/workbench/{name}")
        assert (answer.status, answer.type) == (200, kind) and answer.body
        assert "unsafe" not in answer.headers["Content-Security-Policy"]
        again = http.get(f"/workbench/{name}", If_None_Match=answer.headers["ETag"])
        assert (again.status, again.body) == (304, b"")
    for path in ("/workbench", "/workbench/", "/workbench/no.js", "/workbench/../http-main.c", "/workbench/%2e%2e/main.js",
                 "/workbenchmain.js", "/workbench/main.js/", "/workbench//main.js"):
        assert http.get(path).status == 404, path
    assert http.post("x", "text/plain", "/workbench/main.js").status == 405


def test_nothing_inline(http):
    """The policy would stop it; no script, style or handler stands in the page's markup."""
    page = http.get("/workbench/index.html").text
    assert page.count("<script") == 1 and '<script type="module" src="/workbench/main.js"></script>' in page
    for text in "<style", " style=", " onclick", " onload", "http:", "https:", "javascript:":
        assert text not in page


def test_status(start):
    assert start().get("/status").json == {"version": harness_version(), "store": "default", "may_write": False}
    assert start("--read-write").get("/status").json["may_write"] is True


def harness_version():
    with open(harness.ROOT + "/meson.build", encoding="utf-8") as stream:
        return stream.read().split("version: '")[1].split("'")[0]


# --- tables --------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("accept, text", [
    (None, '{"columns":["id","name"],"types":["INTEGER","TEXT"],"rows":[\n[1,"Ada"],\n[2,null]\n],"n_rows":2,'),
    ("text/csv", "id,name\n1,Ada\n2,\n"), ("text/tab-separated-values", "id\tname\n1\tAda\n2\t\\N\n"),
    ("application/x-ndjson", '{"id":1,"name":"Ada"}\n{"id":2,"name":null}\n'), ("text/*", "id,name\n1,Ada\n2,\n"),
])
def test_formats_of_sql(http, accept, text):
    assert http.get(ROWS, Accept=accept).text.startswith(text)
    if accept is None:
        return
    posted = http.post('{"sql": "SELECT id, name FROM person ORDER BY id"}', "application/json", "/sql", Accept=accept)
    assert posted.text == text == http.get(f"{ROWS}&accept={accept}", Accept="application/json").text


def test_sql_by_get(http, bus):
    assert http.get(ROWS, Accept="text/turtle").status == 406
    assert http.get("/sql").status == 400
    assert http.get("/sql?sql=SELECT+%3F+AS+n&parameters=[41]").json["rows"] == [[41]]
    assert http.get("/sql?sql=SELECT+:a&parameters=%7B%22:a%22:%22x%22%7D").json["rows"] == [["x"]]
    assert http.get("/sql?sql=SELECT+1&parameters=41").status == 400
    assert http.get("/sql?sql=DELETE+FROM+person").status == 403
    assert bus.query("SELECT count(*) FROM person") == [(2,)]
    first = http.get(ROWS)
    assert http.get(ROWS, If_None_Match=first.headers["ETag"]).status == 304
    paths = "/sql?sql=SELECT+%3F&parameters=[1]", "/sql?sql=SELECT+%3F&parameters=[2]", ROWS + "&accept=text/csv"
    others = {http.get(path).headers["ETag"] for path in paths}
    assert len(others | {first.headers["ETag"]}) == 4
    bus.update("INSERT INTO person VALUES(3, 'Mary')")
    again = http.get(ROWS, If_None_Match=first.headers["ETag"])
    assert again.status == 200 and again.json["n_rows"] == 3
    assert "ETag" not in http.get("/sql?sql=SELECT+random()").headers
    head = http.request("HEAD", ROWS)
    assert head.body == b"" and head.headers["Content-Length"] == str(len(again.body))


@pytest.mark.parametrize("name, expected", [("all.csv", "all.csv"), ("a%22%0d%0aX: y", "a___X__y"), ("../../x", ".._.._x"),
                                            ("%C3%A9", "__"), ("x" * 300, "x" * 100)])
def test_download_name(http, name, expected):
    for path in (ROWS, sparql(ALL)):
        answer = http.get(f"{path}&download={name.replace(' ', '%20')}")
        assert answer.headers["Content-Disposition"] == f'attachment; filename="{expected}"' and "X" not in answer.headers


def test_accept_of_the_url(http):
    answer = http.get(sparql(ALL, accept="text/csv"), Accept="application/sparql-results+json")
    assert answer.type == "text/csv" and answer.text == "s,p,o\r\n"


def test_explain_with_times(http):
    plain = http.get("/explain?sql=SELECT+*+FROM+person").json["plan"]
    timed = http.get("/explain?sql=SELECT+*+FROM+person&analyze=true").json["plan"]
    assert "SCAN person" in plain and "time" not in plain
    assert "SCAN person" in timed and "prepare: " in timed and "rows: 2, time: " in timed
    assert "parse and plan: " in http.get("/explain?query=ASK%7B%7D&analyze=true").json["plan"]


# --- events --------------------------------------------------------------------------------------------------------------

class Watch:
    """Reads events from a socket."""

    def __init__(self, http, path):
        self.socket = http.socket()
        self.socket.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        self.data = b""
        self.head = self.until(b"\r\n\r\n").decode()

    def until(self, mark):
        while mark not in self.data:
            received = self.socket.recv(65536)
            assert received, f"it ended after {self.data}"
            self.data += received
        found, _, self.data = self.data.partition(mark)
        return found

    def event(self):
        lines = self.until(b"\n\n").decode().split("\n")
        name = next(line for line in lines if line.startswith("event: "))
        return name.removeprefix("event: "), json.loads(next(line for line in lines if line.startswith("data: "))[6:])["generation"]

    def close(self):
        self.socket.close()


def test_watch(http, bus):
    bus.update("CREATE TABLE other(a)")  # a change of the schema would concern all
    watch = Watch(http, "/watch?sql=SELECT+*+FROM+person")
    assert watch.head.startswith("HTTP/1.1 200 ") and "text/event-stream" in watch.head
    name, before = watch.event()
    assert name == "ready"
    *_, generation = bus.update("INSERT INTO person VALUES(9, 'Zoe')")
    assert watch.event() == ("stale", generation) and generation > before
    bus.update("INSERT INTO other VALUES(1)")
    *_, generation = bus.update("DELETE FROM person WHERE id=9")
    assert watch.event() == ("stale", generation)  # and not that of the other table
    watch.close()
    watch = Watch(http, "/watch?query=SELECT+*+%7B+?s+%3Curn:p%3E+?o+%7D")
    assert watch.event()[0] == "ready"
    *_, generation = bus.update("INSERT DATA { <urn:s> <urn:p> 1 }", language="sparql")
    assert watch.event() == ("stale", generation)
    watch.close()


def test_watch_of_a_client_that_does_not_read(http, bus):
    """Changes that it has not taken become one event; the others go on."""
    sleepy, awake = Watch(http, "/watch?sql=SELECT+*+FROM+person"), Watch(http, "/watch?sql=SELECT+*+FROM+person")
    assert awake.event()[0] == "ready"
    generation = 0
    for i in range(30):
        *_, generation = bus.update(f"INSERT INTO person(name) VALUES('{i}')")
    while awake.event()[1] < generation:
        continue
    assert http.query(ALL).status == 200
    for watch in sleepy, awake:
        watch.close()


def test_watches_are_bounded(start, bus):
    http = start("--limit", "watches=2")
    watches = [Watch(http, "/watch?sql=SELECT+*+FROM+person") for _ in range(2)]
    refused = http.get("/watch?sql=SELECT+1")
    assert refused.status == 503 and "limit 'watches' of 2" in refused.json["detail"]
    watches.pop().close()
    harness.wait_until(lambda: Watch(http, "/watch?sql=SELECT+1").head.startswith("HTTP/1.1 200"), "room for a watch")
    for path, status in (("/watch", 400), ("/watch?sql=SELECT+1&query=ASK%7B%7D", 400)):
        assert http.request("GET", path, kept=False).status == status
    watches.pop().close()
    n_before = bus.stats().get("subscriptions", 0)
    assert n_before <= 2


def test_bad_watches(http):
    for _ in range(40):  # more than the limit: each gives its place back
        answer = http.get("/watch?sql=SELEKT")
        assert answer.status == 400 and answer.json["error"] == "syntax"
    assert http.post("", "text/plain", "/watch?sql=SELECT+1").status == 405
    raw = http.socket()
    raw.sendall(b"GET /watch?sql=SELECT+1 HTTP/1.0\r\nHost: localhost\r\n\r\n")
    assert b" 505 " in b"".join(iter(lambda: raw.recv(65536), b"")).partition(b"\r\n")[0]
    raw.close()


def test_end_beside_a_watch(start):
    """The server leaves well while results are watched: finish() asks for its status."""
    http = start()
    watch = Watch(http, "/watch?sql=SELECT+*+FROM+person")
    assert watch.event()[0] == "ready"
    http.process.terminate()
    assert http.process.wait(20 * harness.SLOWER) == 0
    watch.close()
