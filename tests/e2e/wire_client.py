# SPDX-License-Identifier: LGPL-2.1-or-later
"""The client's side of a two-way channel: requests, and answers through wire_reader. Standard library only.

Written from docs/wire-format.md. Deliberately able to send nonsense: tests use send_raw().
"""
import os
import socket
import struct

from wire_reader import (BLOB, FLOAT, INTEGER, NULL, TEXT, CutOff, RemoteError, Schema, Term, WireReader, align8)


def encode_value(value, offset):
    """(type, bytes with padding and NUL in front and behind, bytes behind the end)"""
    if value is None:
        return NULL, b"", 0
    if isinstance(value, (int, float)):
        padding = b"\0" * (-offset % 8)
        return ((INTEGER, padding + struct.pack("<q", value), 0) if isinstance(value, int)
                else (FLOAT, padding + struct.pack("<d", value), 0))
    if isinstance(value, bytes):
        return BLOB, value, 0
    if isinstance(value, str):
        return TEXT, value.encode() + b"\0", 1
    if isinstance(value, Term) and value.tag is None:
        return value.kind, value.text.encode() + b"\0", 1
    lexical = value.text.encode()
    return value.kind, struct.pack("<I", len(lexical)) + lexical + b"\0" + value.tag.encode() + b"\0", 1


def encode_row(values):
    data, slots = b"", []
    for value in values:
        kind, piece, behind = encode_value(value, len(data))
        data += piece
        slots.append(kind << 28 | len(data) - behind)
    head = struct.pack(f"<{len(slots)}I", *slots)
    head = b"\0\0\0\0" + head + b"\0" * (-(4 + len(head)) % 8)
    size = len(head) + len(data)
    return struct.pack("<I", size) + head[4:] + data + b"\0" * (-size % 8)


def encode_string(text):
    data = text if isinstance(text, bytes) else text.encode()
    return struct.pack("<I", len(data)) + data + b"\0" * (4 - len(data) % 4)


def header(size, kind, flags, count, serial):
    return struct.pack("<IBBHII", size, ord(kind), flags, 0, count, serial)


def encode_record(kind, count, serial, body=b"", page_size=65536):
    """A record, cut into CHUNKs when it is larger than a page."""
    size = align8(16 + len(body))
    if size <= page_size:
        return header(size, kind, 0, count, serial) + body + b"\0" * (size - 16 - len(body))
    out, offset = [], 0
    while offset < len(body):
        prefix = struct.pack("<BBHIQ", ord(kind), 0, 0, count, len(body)) if offset == 0 else b""
        piece = body[offset:offset + page_size - 16 - len(prefix)]
        size = align8(16 + len(prefix) + len(piece))
        flags = (2 if offset == 0 else 0) | (1 if offset + len(piece) == len(body) else 0)
        out.append(header(size, "K", flags, len(piece), serial) + prefix + piece)
        out.append(b"\0" * (size - 16 - len(prefix) - len(piece)))
        offset += len(piece)
    return b"".join(out)


class Receiver:
    """The bytes and the descriptors that come over a socket."""

    def __init__(self, stream):
        self.socket, self.fds = stream, []

    def recv(self, n):
        data, fds, _, _ = socket.recv_fds(self.socket, n, 2)
        self.fds += fds
        return data

    def take_fds(self):
        fds, self.fds = self.fds, []
        return fds


class SerialReader(WireReader):
    """Remembers the serials of the records it has read."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.serials = set()

    def plain_record(self):
        record = super().plain_record()
        self.serials.add(record.serial)
        return record


class Channel:
    """One descriptor of Prepare. Owns it: who drops the channel hangs up at once, since nothing in it refers to it."""

    def __init__(self, fd, columns=(), info=None):
        self.columns, self.info = list(columns), dict(info or {})
        self.page_size = self.info.get("page_size", 65536)
        self.socket = socket.socket(fileno=fd)
        self.receiver = Receiver(self.socket)
        self.reader = SerialReader(self.receiver.recv, self.page_size, take_fds=self.receiver.take_fds)
        self.serial = self.info.get("fetch_serial", 0)
        self.n_columns = len(self.columns)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()
        for fd in self.receiver.take_fds():
            os.close(fd)

    def recv(self, n):
        return self.receiver.recv(n)

    def set_timeout(self, seconds):
        self.socket.settimeout(seconds)

    def send_raw(self, data):
        self.socket.sendall(data)

    def send(self, kind, count=0, body=b"", serial=None):
        if serial is None:
            self.serial += 1
            serial = self.serial
        self.send_raw(encode_record(kind, count, serial, body, self.page_size))
        return serial

    def send_fetch(self, *rows):
        """One row of parameters each; none: a statement without parameters."""
        return self.send("F", len(rows), b"".join(encode_row(row) for row in rows))

    def send_prepare(self, text, language="sql", **options):
        body = encode_string(language) + encode_string(text)
        body += b"".join(encode_string(k) + encode_string(str(v)) for k, v in options.items())
        return self.send("P", len(options), body)

    def send_batch(self, *statements, **options):
        """Each is (text, values by key) or (text, values by key, language)."""
        body = struct.pack("<I", len(options))
        body += b"".join(encode_string(k) + encode_string(str(v)) for k, v in options.items())
        for text, values, *language in statements:
            body += encode_string(*language or ["sql"]) + encode_string(text) + struct.pack("<I", len(values))
            body += b"".join(encode_string(key) for key in values)
            body += encode_string(encode_row(values.values()) if values else b"")
        return self.send("T", len(statements), body)

    def cancel(self, serial):
        self.send("C", serial)

    def answer(self, serial=None):
        """Yields the rows of the next answer; checks that each of its records carries the serial."""
        reader = self.reader
        reader.serials.clear()
        try:
            reader.schema = None
            yield from reader.rows(self.n_columns)
        finally:
            if reader.schema is not None:
                self.n_columns = len(reader.schema.columns)
            if serial is not None and reader.serials - {serial}:
                raise AssertionError(f"records of requests {reader.serials} in the answer to {serial}")

    def fetch(self, *rows):
        """Runs the statement and returns all rows; self.end is set."""
        return list(self.answer(self.send_fetch(*rows)))

    def prepare(self, text, language="sql", **options):
        """Another statement on this channel; returns its Schema."""
        self.send_prepare(text, language, **options)
        record = self.reader.record()
        if record.kind == ord("X"):
            from wire_reader import decode_error
            raise decode_error(record.body)
        assert record.kind == ord("S"), f"PREPARE answered by {chr(record.kind)}"
        schema = Schema(record.count, record.body)
        self.n_columns = len(schema.columns)
        return schema

    @property
    def end(self):
        return self.reader.end


__all__ = ["Channel", "CutOff", "RemoteError", "encode_record", "encode_row", "encode_string", "header"]
