# SPDX-License-Identifier: LGPL-2.1-or-later
"""A reader of queryd's wire format in plain Python, written from docs/wire-format.md and nothing else.

It proves that the document is enough. Standard library only; no part of it looks at queryd's C code.
Use: rows = list(WireReader(fd.read).rows()), or `wire_reader.py FILE` to print a stream.
"""
import mmap
import os
import struct
import sys

NULL, INTEGER, FLOAT, TEXT, BLOB, IRI, BNODE, LITERAL_LANG, LITERAL_TYPED = range(9)
HAS_NUL = {TEXT, IRI, BNODE, LITERAL_LANG, LITERAL_TYPED}
TO_CLIENT = frozenset(b"SREXKGAW")
TO_DAEMON = frozenset(b"PFTCBMLK")
ERROR_NAMES = (
    "", "Syntax", "Unsupported", "BadParameter", "Constraint", "ReadOnly", "Busy", "TooBig", "TooComplex", "Timeout",
    "Cancelled", "DiskFull", "NoMemory", "Corrupt", "Recovering", "AccessDenied", "LimitExceeded", "Closed", "Internal")
ROW_LIMIT = 256 * 1024 * 1024 - 1024


class BadMessage(Exception):
    """The peer sent something that is not the wire format."""


class CutOff(Exception):
    """The stream ended before END or ERROR: what came so far is not a result."""


class RemoteError(Exception):
    """The daemon's ERROR record."""

    def __init__(self, code, line, column, message, details=()):
        super().__init__(message)
        self.details = list(details)
        self.code, self.line, self.column, self.message = code, line, column, message
        self.name = ERROR_NAMES[code] if 0 < code < len(ERROR_NAMES) else "Internal"


class Term:
    """An RDF term: kind is IRI, BNODE, LITERAL_LANG or LITERAL_TYPED."""

    def __init__(self, kind, text, tag=None):
        self.kind, self.text, self.tag = kind, text, tag

    def __eq__(self, other):
        return isinstance(other, Term) and (self.kind, self.text, self.tag) == (other.kind, other.text, other.tag)

    def __repr__(self):
        return f"Term({self.kind}, {self.text!r}, {self.tag!r})"


class RawText(bytes):
    """TEXT of the database that is not UTF-8."""


def check(condition, what):
    if not condition:
        raise BadMessage(what)


def align8(n):
    return (n + 7) & ~7


class Record:
    def __init__(self, kind, flags, count, serial, body):
        self.kind, self.flags, self.count, self.serial, self.body = kind, flags, count, serial, body


class Body:
    """Reads the u32 and strings of section 3."""

    def __init__(self, data):
        self.data, self.offset = data, 0

    def u32(self):
        check(len(self.data) - self.offset >= 4, "body too short")
        (value,) = struct.unpack_from("<I", self.data, self.offset)
        self.offset += 4
        return value

    def string(self):
        n = self.u32()
        start = self.offset
        padded = n + 4 - n % 4
        check(padded <= len(self.data) - start, "string leaves the body")
        check(self.data[start + n] == 0, "string without NUL")
        self.offset += padded
        return bytes(self.data[start:start + n])

    def n_left(self):
        return len(self.data) - self.offset

    def finish(self):
        rest = self.data[self.offset:]
        check(len(rest) < 8 and not any(rest), "bytes left over")


class Schema:
    def __init__(self, count, data):
        body = Body(data)
        self.version, self.page_size, flags, n_parameters = body.u32(), body.u32(), body.u32(), body.u32()
        check(self.version == 1, "unknown version")
        check(flags & ~7 == 0, "unknown flag")
        check(4096 <= self.page_size <= 1048576 and self.page_size & (self.page_size - 1) == 0, "page size")
        self.writes, self.rdf, self.stable = bool(flags & 1), bool(flags & 2), bool(flags & 4)
        self.columns = [(body.string().decode(), body.string().decode()) for _ in range(count)]
        self.parameters = [(body.u32(), body.string().decode()) for _ in range(n_parameters)]
        body.finish()


class End:
    def __init__(self, data):
        check(len(data) == 40, "END has 40 bytes")
        self.n_rows, self.changes, self.last_insert_rowid, self.generation, self.elapsed_usec = struct.unpack("<QqqQQ", data)


def decode_error(data):
    body = Body(data)
    code, line, column = body.u32(), body.u32(), body.u32()
    message = body.string().decode("utf-8", "replace")
    details = []
    if body.n_left() >= 8:
        details = [(body.string().decode(), body.string().decode()) for _ in range(body.u32())]
    body.finish()
    return RemoteError(code, line, column, message, details)


def decode_literal(kind, data):
    check(len(data) >= 5, "literal too short")
    (n,) = struct.unpack_from("<I", data)
    check(n <= len(data) - 5 and data[4 + n] == 0, "lexical form leaves the literal")
    tag = bytes(data[5 + n:])
    check(0 not in tag, "NUL in tag")
    return Term(kind, bytes(data[4:4 + n]).decode(), tag.decode())


def decode_text(data):
    data = bytes(data)
    try:
        return data.decode()
    except UnicodeDecodeError:
        return RawText(data)


def decode_row(row, n_columns):
    """One row, without the padding behind it, as a tuple."""
    head = align8(4 + 4 * n_columns)
    slots = struct.unpack_from(f"<{n_columns}I", row, 4)
    data = row[head:]
    values, start = [], 0
    for slot in slots:
        kind, end = slot >> 28, slot & 0x0fffffff
        check(start <= end <= len(data), "value leaves the row")
        if kind == NULL:
            check(end == start, "NULL with bytes")
            values.append(None)
        elif kind in (INTEGER, FLOAT):
            check(end == align8(start) + 8, "misplaced word")
            values.append(struct.unpack_from("<q" if kind == INTEGER else "<d", data, end - 8)[0])
        elif kind == TEXT:
            values.append(decode_text(data[start:end]))
        elif kind == BLOB:
            values.append(bytes(data[start:end]))
        elif kind in (IRI, BNODE):
            values.append(Term(kind, bytes(data[start:end]).decode()))
        elif kind in (LITERAL_LANG, LITERAL_TYPED):
            values.append(decode_literal(kind, data[start:end]))
        else:
            raise BadMessage("unknown type")
        start = end
        if kind in HAS_NUL:
            check(end < len(data) and data[end] == 0, "no NUL behind the value")
            start += 1
    check(start == len(data), "bytes left over in a row")
    return tuple(values)


def decode_rows(body, count, n_columns):
    """All rows of a ROWS or FETCH body as a list of tuples."""
    body = memoryview(body)
    head, offset, rows = align8(4 + 4 * n_columns), 0, []
    for _ in range(count):
        check(len(body) - offset >= head, "row leaves the page")
        (size,) = struct.unpack_from("<I", body, offset)
        check(head <= size and align8(size) <= len(body) - offset, "row leaves the page")
        rows.append(decode_row(body[offset:offset + size], n_columns))
        offset += align8(size)
    check(offset == len(body), "bytes left over in a page")
    return rows


def decode_header(header, page_size, kinds):
    size, kind, flags, zero, count, serial = struct.unpack("<IBBHII", header)
    check(16 <= size <= page_size and size % 8 == 0, "bad size")
    check(kind in kinds, "unknown kind")
    check(flags & ~(3 if kind == ord("K") else 0) == 0, "unknown flag")
    check(zero == 0, "reserved field")
    return size, kind, flags, count, serial


class Ring:
    """Shared memory of a large result: section 9."""

    def __init__(self, record, fds, page_size):
        check(len(fds) == 2 and len(record.body) == 8, "RING without its descriptors")
        (self.slot_size, zero), self.n_slots, self.n_taken = struct.unpack("<II", record.body), record.count, 0
        check(zero == 0 and 1 <= self.n_slots <= 16 and 4096 <= self.slot_size <= page_size, "bad ring")
        for fd, size in zip(fds, (self.n_slots * self.slot_size, 4096)):
            check(os.fstat(fd).st_size == size, "shared memory of another size")
        self.slots = mmap.mmap(fds[0], self.n_slots * self.slot_size, prot=mmap.PROT_READ)
        self.index = mmap.mmap(fds[1], 4096)
        for fd in fds:
            os.close(fd)

    def take(self, size):
        check(16 <= size <= self.slot_size and size % 8 == 0, "page leaves its slot")
        start = self.n_taken % self.n_slots * self.slot_size
        page = self.slots[start:start + size]
        self.n_taken += 1
        self.index[:8] = struct.pack("=Q", self.n_taken)
        return page


class Whole:
    """A whole result in shared memory: section 15."""

    def __init__(self, record, fds):
        check(len(fds) == 1 and len(record.body) == 16 and record.count == 0, "WHOLE without its descriptor")
        self.n_bytes, self.n_rows = struct.unpack("<QQ", record.body)
        self.serial, self.offset = record.serial, 0
        check(os.fstat(fds[0]).st_size == self.n_bytes, "shared memory of another size")
        self.file = mmap.mmap(fds[0], self.n_bytes, prot=mmap.PROT_READ)
        os.close(fds[0])

    def take(self, page_size, kinds):
        size, kind, flags, count, _ = decode_header(self.file[self.offset:self.offset + 16], page_size, kinds)
        check(kind == ord("R") and size <= self.n_bytes - self.offset, "no page in the result")
        start, self.offset = self.offset + 16, self.offset + size
        return Record(kind, flags, count, self.serial, self.file[start:self.offset])


class WireReader:
    """Reads records from read(n) -> bytes (fewer only at the end of the stream); take_fds() -> those that came with them."""

    def __init__(self, read, page_size=65536, kinds=TO_CLIENT, take_fds=lambda: []):
        self.read, self.page_size, self.kinds, self.take_fds = read, page_size, kinds, take_fds
        self.ring, self.n_ring_pages = None, 0
        self.whole, self.n_wholes = None, 0
        self.schema, self.end, self.n_columns = None, None, 0

    def read_exactly(self, n):
        parts, left = [], n
        while left > 0:
            part = self.read(left)
            if not part:
                raise CutOff(f"the stream ended {left} bytes before the end of a record" if left < n or n != 16
                             else "the stream ended before END or ERROR")
            parts.append(part)
            left -= len(part)
        return b"".join(parts)

    def socket_record(self):
        size, kind, flags, count, serial = decode_header(self.read_exactly(16), self.page_size, self.kinds)
        return Record(kind, flags, count, serial, self.read_exactly(size - 16) if size > 16 else b"")

    def plain_record(self):
        if self.whole is not None and self.whole.offset < self.whole.n_bytes:
            return self.whole.take(self.page_size, self.kinds)
        record = self.socket_record()
        if record.kind == ord("W"):
            self.whole = Whole(record, self.take_fds())
            self.n_wholes += 1
            return self.plain_record()
        if record.kind == ord("G"):
            self.ring = Ring(record, self.take_fds(), self.page_size)
            return self.plain_record()
        if record.kind == ord("A"):
            check(self.ring is not None and not record.body, "PAGE without a ring")
            page = self.ring.take(record.count)
            self.n_ring_pages += 1
            size, kind, flags, count, serial = decode_header(page[:16], self.page_size, self.kinds)
            check(size == record.count and kind == ord("R") and serial == record.serial, "no page in the ring")
            return Record(kind, flags, count, serial, page[16:])
        if record.kind in b"EX":
            self.ring = self.whole = None
        return record

    def record(self):
        """The next record, put together if it came in pieces."""
        record = self.plain_record()
        if record.kind != ord("K"):
            return record
        check(record.flags & 2 and len(record.body) >= 16, "a chain without its first piece")
        inner_kind, z0, z1, inner_count, total = struct.unpack_from("<BBHIQ", record.body)
        check(inner_kind in self.kinds and inner_kind != ord("K") and z0 == 0 and z1 == 0, "bad inner record")
        check(total <= ROW_LIMIT, "chain too long")
        serial, pieces, got, body = record.serial, [], 0, record.body[16:]
        while True:
            n = record.count
            check(0 < n <= len(body) and len(body) - n < 8 and got + n <= total, "bad piece")
            pieces.append(body[:n])
            got += n
            check(bool(record.flags & 1) == (got == total), "LAST at the wrong place")
            if got == total:
                return Record(inner_kind, 0, inner_count, serial, b"".join(pieces))
            record = self.plain_record()
            check(record.kind == ord("K") and not record.flags & 2 and record.serial == serial, "broken chain")
            body = record.body

    def rows(self, n_columns=None):
        """Yields the rows of one answer; self.schema and self.end are set on the way. Raises RemoteError, CutOff."""
        if n_columns is not None:
            self.n_columns = n_columns
        n_rows = 0
        while True:
            record = self.record()
            if record.kind == ord("S"):
                check(n_rows == 0, "SCHEMA behind ROWS")
                self.schema = Schema(record.count, record.body)
                self.n_columns = len(self.schema.columns)
                self.page_size = self.schema.page_size
            elif record.kind == ord("R"):
                for row in decode_rows(record.body, record.count, self.n_columns):
                    n_rows += 1
                    yield row
            elif record.kind == ord("E"):
                self.end = End(record.body)
                check(self.end.n_rows == n_rows, f"END counts {self.end.n_rows} rows, {n_rows} came")
                return
            elif record.kind == ord("X"):
                raise decode_error(record.body)


def main():
    with open(sys.argv[1], "rb", buffering=0) as stream:
        reader = WireReader(stream.read, page_size=1048576)
        for row in reader.rows():
            print(row)
        print(f"{reader.end.n_rows} rows: {[name for name, _ in reader.schema.columns]}")


if __name__ == "__main__":
    main()
