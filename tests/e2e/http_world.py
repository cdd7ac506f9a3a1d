# SPDX-License-Identifier: LGPL-2.1-or-later
"""queryd-http beside a private daemon, and requests to it: each answer is checked for the headers that all have."""
import http.client
import json
import os
import re
import socket
import subprocess
import urllib.parse

import harness

PROGRAM = os.path.join(harness.BUILD, "client-lib/http/queryd-http")
IS_BUILT = os.access(PROGRAM, os.X_OK)
NOT_BUILT = "queryd-http was not built: libsoup-3.0 is not there"
FORM = "application/x-www-form-urlencoded"
QUERY_TYPE, UPDATE_TYPE = "application/sparql-query", "application/sparql-update"
ALL = "SELECT * { ?s ?p ?o } ORDER BY ?s ?p ?o"


def sparql(text, path="/sparql", **parameters):
    """The path of a query by GET; a list gives a parameter more than once."""
    return path + "?" + urllib.parse.urlencode({"query": text} | parameters, doseq=True)


class Response:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def text(self):
        return self.body.decode()

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def type(self):
        return (self.headers.get("Content-Type") or "").split(";")[0]

    @property
    def rows(self):
        """The solutions as sets of names and values."""
        return [{name: term["value"] for name, term in row.items()} for row in self.json["results"]["bindings"]]


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=60 * harness.SLOWER)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class HttpServer:
    """The program with arguments; without --unix it listens on a port, without a token unless @token."""

    def __init__(self, world, *arguments, token=False):
        self.world = world
        self.arguments = list(arguments)
        self.token_file = os.path.join(world.folder, "run/queryd-http/token")
        if "--unix" not in arguments:
            self.arguments += ["--port", "0"]
        if not token:
            self.arguments.append("--no-token")
        self.errors = open(os.path.join(world.folder, "http.log"), "w+", encoding="utf-8")
        self.process = subprocess.Popen([PROGRAM, *self.arguments], env=world.env, stdout=subprocess.PIPE, stderr=self.errors,
                                        text=True)
        line = self.process.stdout.readline()
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\n", line)
        self.port = int(found[1]) if found else None
        self.url = line.strip()
        self.kept = None

    @property
    def token(self):
        with open(self.token_file, encoding="utf-8") as stream:
            return stream.read().strip()

    def connect(self):
        if self.port is None:
            return UnixConnection(self.url.removeprefix("unix:"))
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=60 * harness.SLOWER)

    def socket(self):
        connection = self.connect()
        connection.connect()
        return connection.sock

    def request(self, method, path, body=None, kept=True, **headers):
        """Over the kept connection, which must stay open; names of headers have '_' for '-'."""
        connection = self.kept if kept else None
        if connection is None:
            connection = self.connect()
        headers = {name.replace("_", "-"): value for name, value in headers.items() if value is not None}
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        response = Response(answer.status, answer.headers, answer.read())
        assert answer.headers["X-Content-Type-Options"] == "nosniff", (method, path, answer.status)
        assert "default-src 'self'" in answer.headers["Content-Security-Policy"]
        if answer.headers["Connection"] == "close" or not kept:
            connection.close()
            connection = None if kept else self.kept
        self.kept = connection
        return response

    def get(self, path, **headers):
        return self.request("GET", path, **headers)

    def query(self, text, accept=None, kept=True, **parameters):
        return self.get(sparql(text, **parameters), Accept=accept, kept=kept)

    def ask(self, text, **parameters):
        response = self.query(text, "application/sparql-results+json", **parameters)
        assert response.status == 200, response.text
        return response.json["boolean"]

    def post(self, body, content_type, path="/sparql", **headers):
        return self.request("POST", path, body, Content_Type=content_type, **headers)

    def update(self, text):
        response = self.post(text, UPDATE_TYPE)
        assert response.status == 204, response.text
        return response

    def n_fds(self):
        return harness.n_fds(self.process.pid)

    def finish(self):
        """Ends it; it must leave well, and must not have complained."""
        if self.kept:
            self.kept.close()
        self.process.terminate()
        status = self.process.wait(20 * harness.SLOWER)
        self.process.stdout.close()
        self.errors.seek(0)
        complaints = self.errors.read()
        self.errors.close()
        assert status == 0, f"queryd-http left with status {status}: {complaints}"
        assert complaints == "", complaints
