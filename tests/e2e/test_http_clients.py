# SPDX-License-Identifier: LGPL-2.1-or-later
"""Clients of SPARQL endpoints that are not in Debian, unchanged: Apache Jena's command line, and YASGUI in Chromium.

`tests/run clients` fetches them into build/clients; without them the tests are skipped.
"""
import functools
import http.server
import os
import shutil
import threading

import pytest

from browser_world import MISSING, Browser, make_folder
from harness import BUILD, SLOWER
from http_world import IS_BUILT, NOT_BUILT, HttpServer

pytestmark = pytest.mark.skipif(not IS_BUILT, reason=NOT_BUILT)
CLIENTS = os.path.join(BUILD, "clients")
JENA = os.path.join(CLIENTS, "jena")
YASGUI = os.path.join(CLIENTS, "package/build")
PAGE = """<!DOCTYPE html><html><head><meta charset="utf-8"><link rel="stylesheet" href="yasgui.min.css">
<script src="yasgui.min.js"></script></head><body><div id="yasgui"></div><script>
window.yasgui = new Yasgui(document.getElementById("yasgui"),
  { requestConfig: { endpoint: ENDPOINT }, copyEndpointOnNewTab: false, persistenceId: null });
</script></body></html>"""


@pytest.mark.skipif(not os.path.isdir(JENA) or shutil.which("java") is None, reason="Jena or Java is not there: tests/run clients")
@pytest.mark.deadline(240)
def test_jena(bus):
    http = HttpServer(bus, "--read-write")

    def jena(command, *arguments):
        result = bus.run("java", "-cp", JENA + "/*", "arq." + command, "--service", http.url + "sparql", *arguments)
        return result.returncode, result.stdout

    update, query, describe = (os.path.join(bus.folder, name) for name in ("update.ru", "query.rq", "construct.rq"))
    with open(update, "w", encoding="utf-8") as out:
        out.write('INSERT DATA { <urn:a> <urn:p> "Zoë", 5 . GRAPH <urn:g> { <urn:b> <urn:p> true } }')
    with open(query, "w", encoding="utf-8") as out:
        out.write("SELECT ?o { { <urn:a> ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } } ORDER BY str(?o)")
    with open(describe, "w", encoding="utf-8") as out:
        out.write("CONSTRUCT { ?o <urn:of> ?s } { ?s <urn:p> ?x . BIND(iri(concat('urn:', str(?x))) AS ?o) FILTER(isNumeric(?x)) }")
    try:
        assert jena("rupdate", "--update", update)[0] == 0
        assert jena("rsparql", "--query", query, "--results", "csv") == (0, "o\n5\nZoë\ntrue\n")
        assert jena("rsparql", "--query", describe, "--results", "nt") == (0, "<urn:5> <urn:of> <urn:a> .\n")
    finally:
        http.finish()


class Files(http.server.SimpleHTTPRequestHandler):
    endpoint = ""

    def do_GET(self):
        if self.path != "/":
            super().do_GET()
            return
        page = PAGE.replace("ENDPOINT", f'"{self.endpoint}"').encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, *_arguments):
        pass


@pytest.mark.skipif(bool(MISSING) or not os.path.isdir(YASGUI), reason=MISSING or "YASGUI is not there: tests/run clients")
@pytest.mark.deadline(120)
def test_yasgui(bus):
    """Its page comes from another origin, as with every endpoint of a user: one that the server lets in by name."""
    bus.update('INSERT DATA { <urn:a> <urn:p> "from queryd" }', language="sparql")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Files, directory=YASGUI)) as pages:
        origin = f"http://127.0.0.1:{pages.server_port}"
        threading.Thread(target=pages.serve_forever, daemon=True).start()
        server = HttpServer(bus, "--allow-origin", origin)
        Files.endpoint = server.url + "sparql"
        browser = Browser(make_folder(bus))
        try:
            browser.driver.get(origin)
            browser.wait(lambda: browser.run("return window.yasgui?.getTab()?.getYasqe() != null"), "YASGUI's start")
            browser.run("const tab = yasgui.getTab(); tab.getYasqe().setValue(arguments[0]); tab.getYasqe().query();",
                        "SELECT ?o { <urn:a> ?p ?o }")
            browser.wait(lambda: "from queryd" in browser.text(".yasr table"), "the rows in YASGUI's table", seconds=30 * SLOWER)
            browser.run("const tab = yasgui.getTab(); tab.getYasqe().setValue('SELECT * { ?s'); tab.getYasqe().query();")
            browser.wait(lambda: "line" in browser.text(".yasr .errorResult"), "the error in YASGUI", seconds=30 * SLOWER)
        finally:
            browser.close()
            server.finish()
            pages.shutdown()
