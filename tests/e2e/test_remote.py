# SPDX-License-Identifier: LGPL-2.1-or-later
"""queryctl --remote: queryd-http beside the daemon itself, Oxigraph and Virtuoso where they are installed, and TLS."""
import os
import shutil
import socket
import ssl
import subprocess
import threading

import pytest

from harness import BUILD, SLOWER, wait_until
from http_world import HttpServer
from test_queryctl import DENIED, NO_DAEMON, OK, QUERY, TIMEOUT, USAGE, Ctl

pytestmark = pytest.mark.skipif(not os.path.exists(os.path.join(BUILD, "client-lib/libquery-client-remote.so")),
                                reason="remote connections were not built: libsoup-3.0 is not there")
OXIGRAPH = os.environ.get("QUERYD_OXIGRAPH", os.path.join(BUILD, "oxigraph-venv/bin/oxigraph"))
DATA = """INSERT DATA {
  <http://e/s> <http://e/p> "plain", "tab\\there \\"quoted\\" \\\\ back\\r\\nline", "ä日本😀"@de, "1"^^<http://e/own>, 5, 1.50, 1e3,
    true, <http://e/o>, "2020-01-01"^^<http://www.w3.org/2001/XMLSchema#date>, "" }"""
BLANK = 'INSERT DATA { <http://e/t> <http://e/p> _:b . _:b <http://e/q> "of the blank node" }'
SAME = [
    "SELECT ?o { <http://e/s> ?p ?o } ORDER BY str(?o) datatype(?o)",
    "SELECT * { ?s ?p ?o OPTIONAL { ?o <http://e/none> ?n } FILTER(isIRI(?s) && !isBlank(?o)) } ORDER BY str(?o)",
    "ASK { ?s ?p 5 }", "ASK { ?s ?p 6 }", "SELECT ?a { FILTER(false) }", "SELECT (1 AS ?x) (\"a\" AS ?y) {}",
    "SELECT ?o { <http://e/t> ?p ?b . ?b ?q ?o }",
    "PREFIX e: <http://e/> SELECT (COUNT(*) AS ?n) (MIN(?o) AS ?m) { e:s e:p ?o FILTER isNumeric(?o) }",
]


@pytest.fixture(name="ctl")
def start(bus):
    ctl = Ctl(bus)
    ctl.ok("update", "--sparql", DATA + ";" + BLANK)
    return ctl


def check_endpoint(ctl, *place):
    """What every server can do, with the data above in it."""
    assert ctl.ok("sparql", *place, "ASK { <http://e/s> <http://e/p> 5 }") == b"result\ntrue\n"
    assert ctl.ok("sparql", *place, "ASK { <http://e/none> ?p ?o }") == b"result\nfalse\n"
    values = ctl.ok("sparql", *place, "SELECT ?o { <http://e/s> <http://e/p> ?o FILTER(!isNumeric(?o)) }").decode().splitlines()
    assert {"plain", 'tab\\there "quoted" \\\\ back\\r\\nline', "ä日本😀", "http://e/o"} <= set(values)
    assert b"http://e/s\thttp://e/p\tplain\n" in ctl.ok("sparql", *place,
                                                           "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o . FILTER(str(?o) = 'plain') }")
    assert ctl.ok("sparql", *place, "-p", "o=5", "SELECT ?s { ?s <http://e/p> $o }") == b"s\nhttp://e/s\n"
    assert ctl.ok("sparql", *place, "-P", 'o=x" } ; DROP ALL #', "SELECT ?s { ?s <http://e/p> $o }") == b"s\n"
    assert ctl.ok("sparql", *place, "-n", "2", "SELECT ?o { <http://e/s> ?p ?o }").count(b"\n") == 3
    assert "the endpoint says (400)" in ctl.fails(QUERY, "sparql", *place, "SELECT * {")


def test_same_as_the_daemon(ctl, bus):
    server = HttpServer(bus, "--read-write")
    url = server.url + "sparql"
    try:
        for query in SAME:
            assert ctl.ok("sparql", "--remote", url, query) == ctl.ok("sparql", "-F", "tsv", query), query
        check_endpoint(ctl, "--remote", url)
        run = ctl("update", "--remote", url, "-p", "v=77", "INSERT { <http://e/new> <http://e/p> $v } WHERE {}")
        assert (run.returncode, run.stdout, run.stderr) == (OK, b"", b"")
        assert ctl.ok("sparql", "-F", "tsv", "SELECT ?o { <http://e/new> ?p ?o }") == b"o\n77\n"
        error = ctl.fails(QUERY, "sparql", "--remote", url, "SELECT *\n{ ?s ?p }")
        assert error.startswith("queryctl: 2:9: the endpoint says (400): unexpected '}'") and error.endswith("^\n")
        product = "SELECT (COUNT(*) AS ?n) { " + " ".join(f"?a{i} ?b{i} ?c{i} ." for i in range(9)) + "}"
        assert "deadline of 50 ms" in ctl.fails(TIMEOUT, "sparql", "--remote", url, "--timeout", "0.05", product)
        wait_until(lambda: not any("?a8" in query["text"] for query in bus.queries()), "the daemon hears of the deadline")
        for option in "--store=x", "--watch":
            assert "without the daemon" in ctl.fails(USAGE, "sparql", "--remote", url, option, "ASK {}")
        assert "are for '--remote'" in ctl.fails(USAGE, "sparql", "--netrc", "x", "ASK {}")
        assert "has no option" in ctl.fails(USAGE, "sql", "--remote", url, "SELECT 1")
    finally:
        server.finish()


def test_token(ctl, bus, tmp_path):
    server = HttpServer(bus, token=True)
    url = server.url + "sparql"
    netrc = tmp_path / "netrc"
    netrc.write_text(f"machine 127.0.0.1 login any password {server.token}\n")
    try:
        assert "(401)" in ctl.fails(DENIED, "sparql", "--remote", url, "ASK {}")
        assert ctl.ok("sparql", "--remote", url, "--token-file", server.token_file, "ASK {}") == b"result\ntrue\n"
        netrc.chmod(0o644)
        assert "0600" in ctl.fails(DENIED, "sparql", "--remote", url, "--netrc", netrc, "ASK {}")
        netrc.chmod(0o600)
        assert ctl.ok("sparql", "--remote", url, "--netrc", netrc, "ASK {}") == b"result\ntrue\n"
        assert "read-only" in ctl.fails(DENIED, "update", "--remote", url, "--netrc", netrc, "CLEAR ALL")
    finally:
        server.finish()


def test_no_daemon_is_needed(ctl, bus):
    bus.stop_daemon()
    env = {"DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent"}
    assert "cannot reach the endpoint" in ctl.fails(NO_DAEMON, "sparql", "--remote", "http://127.0.0.1:1/", "ASK {}", env=env)
    assert not bus.has_owner()


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.skipif(not os.access(OXIGRAPH, os.X_OK), reason="Oxigraph is not there: QUERYD_OXIGRAPH names its program")
def test_oxigraph(ctl):
    port = free_port()
    server = subprocess.Popen([OXIGRAPH, "serve", "--bind", f"127.0.0.1:{port}"], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    place = ["--remote", f"http://127.0.0.1:{port}/query", "--update-url", f"http://127.0.0.1:{port}/update"]
    try:
        wait_until(lambda: listens(port), "Oxigraph listens")
        ctl.ok("update", *place, DATA)
        check_endpoint(ctl, *place)
        assert ctl.fails(QUERY, "sparql", *place, "SELECT *\n{ ?s ?p }").startswith("queryctl: 2:")
    finally:
        server.kill()
        server.wait()


VIRTUOSO = """[Database]
DatabaseFile = {0}/v.db
ErrorLogFile = {0}/v.log
LockFile = {0}/v.lck
TransactionFile = {0}/v.trx
xa_persistent_file = {0}/v.pxa
[TempDatabase]
DatabaseFile = {0}/t.db
TransactionFile = {0}/t.trx
[Parameters]
ServerPort = 127.0.0.1:{1}
NumberOfBuffers = 2000
DirsAllowed = {0}
[HTTPServer]
ServerPort = 127.0.0.1:{2}
ServerThreads = 4
"""


@pytest.mark.skipif(shutil.which("virtuoso-t") is None or shutil.which("isql-vt") is None, reason="Virtuoso is not installed")
def test_virtuoso(ctl, tmp_path):
    sql_port, port = free_port(), free_port()
    (tmp_path / "virtuoso.ini").write_text(VIRTUOSO.format(tmp_path, sql_port, port))
    server = subprocess.Popen(["virtuoso-t", "+foreground", "+configfile", tmp_path / "virtuoso.ini"], cwd=tmp_path,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}/sparql"
    try:
        wait_until(lambda: listens(port), "Virtuoso listens", 60 * SLOWER)
        subprocess.run(["isql-vt", f"127.0.0.1:{sql_port}", "dba", "dba", 'exec=GRANT SPARQL_UPDATE TO "SPARQL";'], check=True,
                       stdout=subprocess.DEVNULL)
        ctl.ok("update", "--remote", url, DATA.replace("INSERT DATA {", "INSERT DATA { GRAPH <http://e/g> {") + "}")
        check_endpoint(ctl, "--remote", url)
    finally:
        server.kill()
        server.wait()


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_tls(ctl, tmp_path):
    """A certificate that no authority has signed is refused, before a request is sent."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-keyout", "key.pem", "-out", "cert.pem", "-days", "2", "-subj", "/CN=localhost"],
                   cwd=tmp_path, check=True, stderr=subprocess.DEVNULL)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    received = []

    def serve(listener):
        connection, _ = listener.accept()
        try:
            with context.wrap_socket(connection, server_side=True) as secure:
                received.append(secure.recv(4096))
        except OSError:
            pass  # the client has refused

    # LeakSanitizer itself crashes at the end of a process with threads of libsoup (in its tracer, reading their stacks)
    env = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, args=(listener,))
        thread.start()
        error = ctl.fails(NO_DAEMON, "sparql", "--remote", f"https://127.0.0.1:{listener.getsockname()[1]}/", "ASK {}", env=env)
        thread.join()
    if "TLS support is not available" in error:
        pytest.skip("GIO has no TLS here: glib-networking is not installed")
    assert "its issuer is not known" in error
    assert b"".join(received) == b""
