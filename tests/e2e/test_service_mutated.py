# SPDX-License-Identifier: LGPL-2.1-or-later
"""The daemon believes queryd-service nothing: another process takes its place, and changes bytes of its answers. Each query has
rows or an error, and the daemon lives.

QUERYD_SERVICE_MUTATIONS: so many (400); QUERYD_SERVICE_SEED.
"""
import os
import random
import socket
import struct
import threading

import pytest

import hostile_endpoint
import service_world
from harness import BusError
from service_world import Endpoint, Helper
from wire_client import encode_record, encode_string

pytestmark = pytest.mark.skipif(not service_world.IS_BUILT, reason=service_world.NOT_BUILT)
N = int(os.environ.get("QUERYD_SERVICE_MUTATIONS", "400"))
SEED = os.environ.get("QUERYD_SERVICE_SEED", "1")
ROWS = ('?x\t?o\n<http://e/a>\t"text"\n<http://e/b>\t"chat"@fr\n<http://e/c>\t1.50\n<http://e/d>\t_:b\n<http://e/a>\t\n'
        '<http://e/b>\t"é\\u0001"^^<http://e/type>\n')


def receive(client, n):
    data = b""
    while len(data) < n:
        more = client.recv(n - len(data))
        if not more:
            raise EOFError
        data += more
    return data


def read_record(client):
    head = receive(client, 16)
    return head + receive(client, struct.unpack_from("<I", head)[0] - 16)


class Impostor:
    """Takes the place of the helper's socket. Its answers are what @make makes of a good one, which the helper has given once."""

    def __init__(self, helper):
        self.path, self.real = helper.path, helper.path + ".real"
        self.good = None
        self.make = lambda good: good
        os.rename(self.path, self.real)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen()
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            with client:
                try:
                    while True:
                        client.sendall(self.answer(read_record(client)))
                except (OSError, EOFError):
                    pass

    def answer(self, request):
        if self.good is None:
            with socket.socket(socket.AF_UNIX) as helper:
                helper.connect(self.real)
                helper.sendall(request)
                records = [read_record(helper)]
                while records[-1][4:5] not in (b"E", b"X"):
                    records.append(read_record(helper))
                self.good = b"".join(records)
        return self.make(self.good)

    def finish(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        os.rename(self.real, self.path)


class Play:
    """A store, the helper, its impostor, and an endpoint."""

    def __init__(self, world):
        self.world = world
        self.endpoint = Endpoint(hostile_endpoint.answer(hostile_endpoint.TSV, ROWS))
        self.helper = Helper(world, self.endpoint.url)
        world.update("INSERT DATA {" + " ".join(f"<http://e/{x}> <http://e/p> '{x}' ." for x in "abcd") + "}", language="sparql")
        self.impostor = Impostor(self.helper)
        assert len(self.ask()) == 6

    def ask(self, silent="", fmt="sparql-json"):
        """The lines of its result, or the error."""
        text = f"SELECT ?p ?o {{ ?x <http://e/p> ?p SERVICE {silent} <{self.endpoint.url}> {{ ?x <http://e/q> ?o }} }}"
        try:
            body = self.world.query_text(text, fmt, language="sparql", timeout_ms=2000)[1]
        except BusError as error:
            return error
        return body.split('{"p":')[1:] if fmt == "sparql-json" else body.splitlines()[1:]

    def finish(self):
        self.impostor.finish()
        self.helper.finish()
        self.endpoint.finish()


@pytest.fixture(name="play")
def start(bus):
    play = Play(bus)
    yield play
    play.finish()


def test_mutations(play):
    source = random.Random(SEED)
    pid = play.world.daemon_pid()

    def mutate(good):
        data = bytearray(good)
        for _ in range(source.choice((1, 1, 2, 5))):
            kind = source.randrange(4)
            at = source.randrange(len(data) + 1)
            if kind == 0 and at < len(data):
                data[at] = source.choice((0, 1, 0x7f, 0x80, 0xff, source.randrange(256)))
            elif kind == 1:
                del data[at:at + source.choice((1, 4, 8))]
            elif kind == 2:
                data[at:at] = bytes(source.randrange(256) for _ in range(source.choice((1, 4, 8))))
            elif at + 4 <= len(data):
                struct.pack_into("<I", data, at & ~3, source.choice((0, 1, 0x10000000, 0x7fffffff, 0xffffffff)))
        return bytes(data)

    n_errors = 0
    play.impostor.make = lambda good: mutate(good) + encode_record("E", 0, 0, b"\0" * 40)
    for i in range(N):
        outcome = play.ask(source.choice(("", "SILENT")), source.choice(("sparql-json", "sparql-tsv", "sparql-xml")))
        n_errors += isinstance(outcome, BusError)
        assert not isinstance(outcome, BusError) or outcome.name not in ("Corrupt", "Internal"), (i, outcome)
    assert n_errors > N / 10
    assert play.world.daemon_pid() == pid
    play.impostor.make = lambda good: good
    assert len(play.ask()) == 6


def error_record(code, message):
    return encode_record("X", 0, 0, struct.pack("<III", code, 0, 0) + encode_string(message), page_size=1 << 24)


RECORDS = [  # the error, and a part of its text
    (error_record(13, "the store is damaged"), "Unsupported", "the store is damaged"),
    (error_record(12, "no memory"), "Unsupported", "no memory"),
    (error_record(10, "cancelled"), "Unsupported", "cancelled"),
    (error_record(99, "of another time"), "Unsupported", "of another time"),
    (error_record(0, "none"), "Unsupported", "none"),
    (error_record(7, b"\xff\xfe\n\x1b["), "TooBig", "SERVICE <"),
    (error_record(9, "x" * 900_000), "Timeout", "xxx"),
    (encode_record("R", 1, 0, b"\0" * 8), "Unsupported", "no answer"),
    (encode_record("E", 0, 0, b""), "Unsupported", "no answer"),
    (encode_record("S", 0, 0, b""), "Unsupported", "no answer"),
    (struct.pack("<IBBHII", 0xfffffff0, ord("R"), 0, 0, 1, 0), "Unsupported", "no answer"),
    (struct.pack("<IBBHII", 200 << 20, ord("S"), 0, 0, 1, 0), "TooBig", "value_bytes"),
]


def test_records(play):
    for record, name, words in RECORDS:
        play.impostor.make = lambda good, record=record: record
        outcome = play.ask()
        assert outcome.name == name and words in outcome.message, outcome
        assert len(play.ask("SILENT")) == 4, record[:40]
    play.impostor.make = lambda good: b""  # it says nothing
    for silent in ("", "SILENT"):
        outcome = play.ask(silent)
        assert outcome.name == "Timeout" and "2000 ms" in outcome.message
