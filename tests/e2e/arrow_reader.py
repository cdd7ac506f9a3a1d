# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads Arrow's IPC stream and file with nothing but struct, for the tests of Export: types and values of each column.

It knows the tables of FlatBuffers and the types that queryd writes. A stream without its end mark is an error.
"""
import struct

INT, FLOAT, BINARY, UTF8, STRUCT = 2, 3, 4, 5, 13


class Table:
    """A table of FlatBuffers at @place of @data."""

    def __init__(self, data, place):
        self.data, self.place = data, place
        self.fields = place - struct.unpack_from("<i", data, place)[0]

    def _find(self, index):
        n_bytes = struct.unpack_from("<H", self.data, self.fields)[0]
        offset = struct.unpack_from("<H", self.data, self.fields + 4 + 2 * index)[0] if 4 + 2 * index < n_bytes else 0
        return self.place + offset if offset else None

    def number(self, index, form):
        place = self._find(index)
        if place is None:
            return 0
        assert place % struct.calcsize(form) == 0, "a number does not lie at a multiple of its size"
        return struct.unpack_from("<" + form, self.data, place)[0]

    def _target(self, index):
        place = self._find(index)
        return place + struct.unpack_from("<I", self.data, place)[0]

    def table(self, index):
        return Table(self.data, self._target(index))

    def text(self, index):
        place = self._target(index)
        n_bytes = struct.unpack_from("<I", self.data, place)[0]
        return bytes(self.data[place + 4:place + 4 + n_bytes]).decode()

    def tables(self, index):
        if self._find(index) is None:
            return []
        place = self._target(index)
        places = [place + 4 + 4 * i for i in range(struct.unpack_from("<I", self.data, place)[0])]
        return [Table(self.data, at + struct.unpack_from("<I", self.data, at)[0]) for at in places]

    def structs(self, index, form):
        place = self._target(index)
        n = struct.unpack_from("<I", self.data, place)[0]
        assert (place + 4) % 8 == 0, "structs do not lie at a multiple of 8"
        return [struct.unpack_from("<" + form, self.data, place + 4 + i * struct.calcsize(form)) for i in range(n)]


class Batch:
    def __init__(self, table, body):
        self.n_rows = table.number(0, "q")
        self.nodes, self.buffers, self.body = iter(table.structs(1, "qq")), iter(table.structs(2, "qq")), body

    def _buffer(self):
        offset, n_bytes = next(self.buffers)
        assert offset % 8 == 0 and offset + n_bytes <= len(self.body)
        return self.body[offset:offset + n_bytes]

    def column(self, kind, children):
        n_rows, n_nulls = next(self.nodes)
        bits = self._buffer()
        is_set = [not len(bits) or bits[i // 8] >> i % 8 & 1 for i in range(n_rows)]
        assert is_set.count(0) == n_nulls
        if kind in (INT, FLOAT):
            values = struct.unpack(f"<{n_rows}{'q' if kind == INT else 'd'}", self._buffer())
        elif kind in (UTF8, BINARY):
            offsets, data = struct.unpack(f"<{n_rows + 1}i", self._buffer()), bytes(self._buffer())
            values = [data[a:b].decode() if kind == UTF8 else data[a:b] for a, b in zip(offsets, offsets[1:])]
        else:
            values = list(zip(*(self.column(*child) for child in children)))
        return [value if here else None for value, here in zip(values, is_set)]


def field_of(table):
    return table.number(2, "B"), [field_of(child) for child in table.tables(5)]


def read_stream(data):
    """Returns ([(name, kind, extension)], rows, number of batches, bytes read)."""
    place, columns, fields, rows, n_batches = 0, None, None, [], 0
    while True:
        continues, n_bytes = struct.unpack_from("<Ii", data, place)
        assert continues == 0xFFFFFFFF and n_bytes % 8 == 0
        place += 8
        if n_bytes == 0:
            return columns, rows, n_batches, place
        metadata = data[place:place + n_bytes]
        message = Table(metadata, struct.unpack_from("<I", metadata)[0])
        assert message.number(0, "h") == 4
        place += n_bytes
        n_body = message.number(3, "q")
        if message.number(1, "B") == 1:
            found = message.table(2).tables(1)
            columns = [(f.text(0), f.number(2, "B"), {pair.text(0): pair.text(1) for pair in f.tables(6)}) for f in found]
            fields = [field_of(f) for f in found]
        else:
            batch = Batch(message.table(2), data[place:place + n_body])
            rows += zip(*(batch.column(*field) for field in fields))
            n_batches += 1
        place += n_body


def read_file(data):
    """The same; checks that the footer finds each batch."""
    assert data[:8] == b"ARROW1\0\0" and data[-6:] == b"ARROW1"
    n_footer = struct.unpack_from("<i", data, len(data) - 10)[0]
    begin = len(data) - 10 - n_footer
    columns, rows, n_batches, n_read = read_stream(data[8:])
    assert begin == 8 + n_read
    footer = data[begin:begin + n_footer]
    table = Table(footer, struct.unpack_from("<I", footer)[0])
    assert [f.text(0) for f in table.table(1).tables(1)] == [name for name, *_ in columns]
    blocks = table.structs(3, "qi4xq")
    assert len(blocks) == n_batches
    for offset, n_metadata, n_body in blocks:
        assert struct.unpack_from("<Ii", data, offset) == (0xFFFFFFFF, n_metadata - 8)
        message = Table(data[offset + 8:], struct.unpack_from("<I", data, offset + 8)[0])
        assert (message.number(1, "B"), message.number(3, "q")) == (3, n_body)
    return columns, rows, n_batches, len(data)
