# SPDX-License-Identifier: LGPL-2.1-or-later
"""Malformed records on a channel: an answer that says what is wrong, the end of that channel, and a daemon that goes on."""
import struct

import pytest

from wire_client import CutOff, RemoteError, encode_record, encode_string, header


@pytest.fixture
def healthy(bus):
    """After the test the same daemon must still answer."""
    pid = bus.daemon_pid()
    yield bus
    assert bus.query("SELECT 42") == [(42,)]
    assert bus.daemon_pid() == pid


def raw(size, kind, flags=0, count=0, serial=1, body=b""):
    return header(size, kind, flags, count, serial) + body


BAD_RECORDS = {
    "size-zero": raw(0, "F"),
    "size-lies-small": raw(8, "F"),
    "size-odd": raw(20, "F", body=b"\0" * 4),
    "size-above-page": raw(65544, "P"),
    "size-huge": raw(0xfffffff8, "P"),
    "kind-unknown": raw(16, "Z"),
    "kind-of-daemon": raw(16, "R"),
    "flag": raw(16, "F", flags=1),
    "reserved": struct.pack("<IBBHII", 16, ord("F"), 0, 7, 0, 1),
    "chunk-without-first": raw(24, "K", flags=1, count=8, body=b"x" * 8),
    "chunk-too-long": raw(40, "K", flags=2, count=8, body=struct.pack("<BBHIQ", ord("P"), 0, 0, 0, 2**40) + b"x" * 8),
    "chunk-in-chunk": raw(40, "K", flags=2, count=8, body=struct.pack("<BBHIQ", ord("K"), 0, 0, 0, 100) + b"x" * 8),
    "chunk-broken-off": (raw(40, "K", flags=2, count=8, body=struct.pack("<BBHIQ", ord("P"), 0, 0, 0, 100) + b"x" * 8) +
                         raw(16, "F")),
    "prepare-string-lies": raw(24, "P", body=struct.pack("<I", 1000) + b"sql\0"),
    "prepare-empty": raw(16, "P"),
    "prepare-rest": raw(64, "P", body=encode_string("sql") + encode_string("SELECT 1") + b"\0" * 28),
    "fetch-rows-lie": raw(24, "F", count=5, body=b"\x08\0\0\0\0\0\0\0"),
    "fetch-row-size": raw(24, "F", count=1, body=b"\xff\xff\0\0\0\0\0\0"),
    "batch-empty-body": raw(16, "T", count=1),
    "batch-too-many": raw(24, "T", count=0xffffffff, body=b"\0" * 8),
    "batch-options-lie": raw(24, "T", count=1, body=struct.pack("<II", 0xffffffff, 0)),
    "batch-parameters-lie": raw(56, "T", count=1, body=struct.pack("<I", 0) + encode_string("sql") + encode_string("SELECT 1") +
                                struct.pack("<II", 0xffffffff, 0) + b"\0" * 4),
    "batch-row-lies": raw(72, "T", count=1, body=struct.pack("<I", 0) + encode_string("sql") + encode_string("SELECT ?") +
                          struct.pack("<I", 1) + encode_string("1") + encode_string("x" * 4) + b"\0" * 4),
    "garbage": bytes(range(1, 65)),
}


FAULTS = {
    "size-zero": "kind 0x46 and 0 bytes is malformed: its size is smaller than its header",
    "size-lies-small": "kind 0x46 and 8 bytes is malformed: its size is smaller than its header of 16 bytes",
    "size-odd": "20 bytes is malformed: its size is no multiple of 8 bytes",
    "size-above-page": "65544 bytes is malformed: its size is larger than a page, send it in pieces",
    "size-huge": "its size is larger than a page",
    "kind-unknown": "kind 0x5a and 16 bytes is malformed: its kind is not known in this direction",
    "kind-of-daemon": "kind 0x52 and 16 bytes is malformed: its kind is not known in this direction",
    "flag": "flags that its kind does not have, or reserved bytes",
    "reserved": "flags that its kind does not have, or reserved bytes",
    "chunk-without-first": "pieces begin with FIRST",
    "chunk-too-long": "a request of 1099511627776 bytes is larger than .* 'statement_text_bytes'",
    "chunk-in-chunk": r"the piece of a request \(CHUNK\) does not fit",
    "chunk-broken-off": r"a record of kind 'F' stands between the pieces \(CHUNK\) of request 1",
    "garbage": "67305985 bytes is malformed: its size is larger than a page",
}


@pytest.mark.parametrize("name", FAULTS)
def test_bad_record_is_answered_last(healthy, name):
    """What was sent before it is answered, then comes an error that says what is wrong with it, then the end."""
    with healthy.prepare("SELECT ?") as channel:
        channel.set_timeout(30)
        serial = channel.send_fetch((7,))
        channel.send_raw(BAD_RECORDS[name])
        assert list(channel.answer(serial)) == [(7,)]
        with pytest.raises(RemoteError, match=FAULTS[name]) as error:
            list(channel.answer())
        assert error.value.name == ("TooBig" if name == "chunk-too-long" else "BadParameter")
        with pytest.raises((CutOff, ConnectionError)):
            list(channel.answer())


@pytest.mark.parametrize("name", BAD_RECORDS)
def test_bad_record_ends_the_channel(healthy, name):
    """A record that lies ends this channel, a body that lies the request at least; nobody else notices."""
    with healthy.prepare("SELECT ?") as other, healthy.prepare("SELECT ?") as channel:
        channel.set_timeout(30)
        channel.send_raw(BAD_RECORDS[name])
        channel.socket.shutdown(1) if name == "chunk-broken-off" else None
        with pytest.raises((RemoteError, CutOff, ConnectionError)):
            while True:
                list(channel.answer())
        if not name.startswith(("fetch-", "prepare-", "batch-")):  # with whole records the channel may live on
            with pytest.raises((CutOff, ConnectionError)):
                while True:
                    try:
                        list(channel.answer())
                    except RemoteError:
                        pass
        assert other.fetch((5,)) == [(5,)]


def test_half_a_record_then_nothing(healthy):
    with healthy.prepare("SELECT 1") as channel:
        channel.send_raw(encode_record("F", 0, 1)[:9])
    with healthy.prepare("SELECT 1") as channel:
        data = encode_record("F", 0, 1)
        for byte in data:
            channel.send_raw(bytes([byte]))
        assert list(channel.answer(1)) == [(1,)]
