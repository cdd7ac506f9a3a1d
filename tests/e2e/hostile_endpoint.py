# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a hostile SPARQL endpoint does with the socket of a request: functions that service_world.Endpoint calls with it.

ANSWERS: name to (what it does, a part of the error). With None the answer is a result, and `RESULTS` has its rows.
"""
import gzip
import json
import socket
import struct
import time

TSV, JSON, XML = "text/tab-separated-values", "application/sparql-results+json", "application/sparql-results+xml"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: " + TSV.encode() + b"\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
TICK = 0.01


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


def raw(data):
    return lambda client: client.sendall(data)


def answer(media_type, body, status="200 OK", headers=""):
    """An answer that is HTTP as it should be."""
    body = body if isinstance(body, bytes) else body.encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: {media_type}\r\nContent-Length: {len(body)}\r\n{headers}Connection: close\r\n\r\n"
    return raw(head.encode() + body)


def endless(head, piece):
    def send(client):
        client.sendall(head)
        while True:
            client.sendall(piece)
    return send


def slowly(head, piece):
    """A piece now and then, without end."""
    def send(client):
        client.sendall(head)
        while True:
            client.sendall(piece)
            time.sleep(TICK)
    return send


def redirect(location, status="307 Go"):
    location = location if isinstance(location, bytes) else location.encode()
    return raw(f"HTTP/1.1 {status}\r\nContent-Length: 0\r\nLocation: ".encode() + location + b"\r\nConnection: close\r\n\r\n")


def wait(client):
    client.recv(1)


def reset(client):
    client.sendall(CHUNKED + chunk(b"?s\n<http://e/a>\n"))
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def results(*bindings, names=("s",)):
    return json.dumps({"head": {"vars": list(names)}, "results": {"bindings": list(bindings)}})


def literal(value, **members):
    return {"s": {"type": "literal", "value": value} | members}


def problem(**members):
    return answer("application/problem+json", json.dumps(members), "500 Oh")


def xml(inner, names="<variable name='s'/>"):
    return f"<sparql xmlns='http://www.w3.org/2005/sparql-results#'><head>{names}</head><results>{inner}</results></sparql>"


JSON_HEAD = '{"head":{"vars":["s"]},"results":{"bindings":['
DEEP = 1_000_000
ATTRIBUTES = " ".join(f"a{i}='x'" for i in range(100_000))
BOMB = gzip.compress(b"?s\n" + b"<http://e/a>\n" * 5_000_000, 1)  # 65 MB in some hundred KB
ROW_TOO_LONG = b'?s\n"' + b"x" * (17 << 20) + b'"\n'

SLOW = {  # they end by service_ms
    "never answers": wait,
    "sends its head byte by byte": slowly(b"HTTP/1.1 200 OK\r\nX: ", b"x"),
    "sends a chunk byte by byte": slowly(CHUNKED + b"ffff\r\n?s\n<", b"x"),
    "sends a name of JSON byte by byte": slowly(b"HTTP/1.1 200 OK\r\nContent-Type: " + JSON.encode() + b'\r\n\r\n{"', b"x"),
    "sends rows without end, slowly": slowly(CHUNKED + chunk(b"?s\n"), chunk(b"<http://e/a>\n")),
    "stops amid its rows": lambda client: (client.sendall(CHUNKED + chunk(b"?s\n<http://e/a>\n")), client.recv(1)),
    "sends only what is for information": slowly(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "sends a text of an error slowly": slowly(b"HTTP/1.1 500 Oh\r\n\r\n", b"x"),
}

ANSWERS = {
    # ends
    "closes at once": (lambda client: None, "lost"),
    "closes in its head": (raw(b"HTTP/1.1 200 OK\r\nContent-Ty"), "lost"),
    "closes in its body": (raw(HEAD + b"Content-Length: 1000\r\n\r\n?s\n<http://e/a>\n"), "lost"),
    "closes between chunks": (raw(CHUNKED + chunk(b"?s\n<http://e/a>\n")), "lost"),
    "closes in a chunk": (raw(CHUNKED + b"ff\r\n?s\n<http://e/a>\n"), "lost"),
    "resets": (reset, "lost"),
    "has no end mark": (raw(HEAD + b"\r\n?s\n<http://e/a>\n"), "neither length nor chunks"),
    # sizes
    "sends rows without end": (endless(CHUNKED + chunk(b"?s\n"), chunk(b"<http://e/a>\n" * 1000)), "'service_bytes'"),
    "sends a value without end": (endless(CHUNKED + chunk(b'?s\n"'), chunk(b"x" * 65536)), "more than row_bytes, which is"),
    "sends a line of names without end": (endless(CHUNKED, chunk(b"?s\t" * 20000)), "more than row_bytes, which is"),
    "is longer than its length": (raw(HEAD + b"Content-Length: 10\r\n\r\n?s\n<http://e/a>\n"), "malformed"),
    "has a length of none": (raw(HEAD + b"Content-Length: 0\r\n\r\n?s\n<http://e/a>\n"), "malformed"),
    "has a chunk of no size": (raw(CHUNKED + b"zz\r\n?s\n\r\n0\r\n\r\n"), ""),
    "has a chunk of too great a size": (raw(CHUNKED + b"f" * 40 + b"\r\n?s\n<http://e/a>\n"), ""),
    "has a size of a chunk without end": (endless(CHUNKED, b"0" * 1000), "lost"),
    # heads
    "sends headers without end": (endless(b"HTTP/1.1 200 OK\r\n", b"X-Name: value\r\n" * 1000), "lost"),
    "sends a header without end": (endless(b"HTTP/1.1 200 OK\r\nX-Name: ", b"x" * 65536), "lost"),
    "sends a reason without end": (endless(b"HTTP/1.1 200 ", b"x" * 65536), "lost"),
    "is no HTTP": (raw(b"SSH-2.0-OpenSSH_9\r\n"), "lost"),
    "is noise": (endless(b"", bytes(range(256)) * 100), "lost"),
    "has no type": (raw(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n?s\n"), "is it a SPARQL endpoint?"),
    "has another type": (answer("text/html", "<html>"), "'text/html'"),
    "has a type of bytes": (raw(b"HTTP/1.1 200 OK\r\nContent-Type: \xff\xfe/\xc3\r\nContent-Length: 0\r\n\r\n"), "is it a SPARQL"),
    "has the type of another format": (answer(JSON, "?s\n<http://e/a>\n"), "malformed"),
    "has RDF": (answer("text/turtle", "<http://e/a> <http://e/b> 1 ."), "gives no solutions"),
    # statuses
    "is busy": (answer("text/plain", "later", "503 No"), "says (503): later"),
    "has an error without end": (endless(b"HTTP/1.1 500 Oh\r\nContent-Type: text/plain\r\n\r\n", b"E" * 65536), "says (500): EEE"),
    "has an error of bytes": (raw(b"HTTP/1.1 500 \xff\xfe\r\nContent-Length: 4\r\n\r\n\x1b[2J"), "says (500)"),
    "has no content": (raw(b"HTTP/1.1 204 No\r\n\r\n"), "is it a SPARQL endpoint?"),
    "has not changed": (raw(b"HTTP/1.1 304 No\r\n\r\n"), "says (304)"),
    "has a status beyond all": (answer(TSV, "?s\n", "799 Oh"), "says (799)"),
    "says it is damaged": (problem(error="corrupt", detail="the store is damaged"), "says (500): the store is damaged"),
    "says it has no memory": (problem(error="no-memory", detail="no more"), "says (500): no more"),
    "says it was cancelled": (problem(error="cancelled", detail="by whom"), "says (500): by whom"),
    "says its disk is full": (problem(error="disk-full", detail="so full"), "says (500): so full"),
    # packing
    "packs a bomb": (answer(TSV, BOMB, headers="Content-Encoding: gzip\r\n"), "compressed its answer ('gzip')"),
    "packs with brotli": (answer(TSV, b"\x0b\x02\x80", headers="Content-Encoding: br\r\n"), "compressed its answer ('br')"),
    "packs what it transfers": (raw(HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n" + chunk(BOMB) + chunk(b"")), ""),
    # TSV
    "has a column that was not asked": (answer(TSV, "?s\t?secret\n<http://e/a>\t1\n"), "column 'secret', which was not asked for"),
    "has bytes": (answer(TSV, b'?s\n"\xff\xfe"\n'), "it is not UTF-8"),
    "has a NUL": (answer(TSV, b'?s\n"\0"\n'), "it has a NUL"),
    "has a row beyond all": (answer(TSV, ROW_TOO_LONG), "more than row_bytes, which is"),
    "has no term": (answer(TSV, "?s\n<http://e/a\x1b[2J\n"), "is no term of TSV"),
    # JSON
    "nests JSON in its head": (answer(JSON, '{"head":' + "[" * DEEP), "malformed"),
    "nests JSON in a row": (answer(JSON, JSON_HEAD + '{"s":{"type":"uri","value":"x","x":' + "[" * DEEP), "malformed"),
    "nests and ends": (answer(JSON, '{"head":{"vars":["s"]},"x":' + "[" * DEEP + "]" * DEEP + "}"), "malformed"),
    "binds what was not asked": (answer(JSON, results({"secret": {"type": "uri", "value": "http://e/a"}})), "malformed"),
    "has names that were not asked": (answer(JSON, results(names=["s", "secret"])), "column 'secret', which was not asked for"),
    "has a million names": (answer(JSON, results(names=[f"v{i}" for i in range(200000)])), "more than 4096 variables"),
    "has half a pair": (answer(JSON, JSON_HEAD + r'{"s":{"type":"literal","value":"\ud800"}}]}}'), "malformed"),
    "has a language that is none": (answer(JSON, results(literal("x", **{"xml:lang": "de> <http://e/b> 1 ."}))), "malformed"),
    "has a label with a line": (answer(JSON, results({"s": {"type": "bnode", "value": "x .\n<x:y> <x:y> <x:y"}})), "malformed"),
    "has a label with a terminal's code": (answer(TSV, "?s\n_:\x1b[2J\n"), "is no term of TSV"),
    "has JSON of another kind": (answer(JSON, "[1, 2]"), "malformed"),
    "ends amid JSON": (answer(JSON, JSON_HEAD + '{"s":'), "malformed"),
    # XML
    "nests XML": (answer(XML, "<sparql>" + "<a>" * DEEP), "nested too deeply"),
    "expands XML": (answer(XML, "<!DOCTYPE x [<!ENTITY a 'aaaaaaaaaa'>" + "".join(
        f"<!ENTITY {b} '{f'&{a};' * 10}'>" for a, b in zip("abcdefgh", "bcdefghi")) + "]>" +
        xml("<result><binding name='s'><literal>&i;</literal></binding></result>")), "malformed"),
    "includes a file": (answer(XML, "<!DOCTYPE x [<!ENTITY f SYSTEM 'file:///etc/passwd'>]>" +
                               xml("<result><binding name='s'><literal>&f;</literal></binding></result>")), "malformed"),
    "has a great element": (answer(XML, f"<sparql><head {ATTRIBUTES}>"), "malformed"),
    "has a long name of XML": (answer(XML, f"<{'a' * 900000}></b>"), "malformed"),
    "ends amid XML": (answer(XML, xml("<result>")[:-20]), "malformed"),
    # redirects
    "leads to itself": (redirect("/sparql"), "redirects more than"),
    "leads to a file": (redirect("file:///etc/passwd"), "no URL of http"),
    "leads to gopher": (redirect("gopher://127.0.0.1/"), "no URL of http"),
    "leads to nowhere": (redirect("http://"), "no URL of http"),
    "leads to a path of none": (redirect("http:///sparql"), "no URL of http"),
    "leads to a port of none": (redirect("http://:80/"), "no URL of http"),
    "leads to bytes": (redirect(b"http://\xff\xfe/", "302 Go"), "redirect"),
    "leads far": (redirect("http://127.0.0.1/" + "x" * 60000), "may not be asked"),
    "leads by GET": (redirect("/sparql", "302 Found"), "which a POST does not survive"),
    "does not say where it leads": (raw(b"HTTP/1.1 307 Go\r\nContent-Length: 0\r\n\r\n"), "no URL of http"),
    "leads with a password": (redirect("http://me:secret@127.0.0.1/sparql"), "user and password"),
}

# bad terms that are harmless where they are written escaped; the rows of SELECT ?s as TSV
RESULTS = {
    "an IRI with spaces": (answer(JSON, results({"s": {"type": "uri", "value": "http://e/a> <http://e/b> \"c\" .\n<x:y"}})), 1),
    "an IRI that is none": (answer(JSON, results({"s": {"type": "uri", "value": ""}}, {"s": {"type": "uri", "value": "../x"}})), 2),
    "a label that is none": (answer(JSON, results({"s": {"type": "bnode", "value": "nodeID://b1<>\""}})), 1),
    "a datatype that is none": (answer(JSON, results(literal("1", datatype="x> .\n<x:y> <x:y> <x:y"))), 1),
    "an integer that is none": (answer(JSON, results(literal("1e400\n", datatype="http://www.w3.org/2001/XMLSchema#integer"))), 1),
    "a NUL in a literal": (answer(JSON, results(literal("a\0b"))), 1),
    "a long literal": (answer(JSON, results(literal("x" * 500000))), 1),
    "no binding": (answer(JSON, results({}, {}, {})), 3),
}
