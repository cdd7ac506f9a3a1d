# SPDX-License-Identifier: LGPL-2.1-or-later
"""The side under test: a real queryd that a private bus activates, given data, queries and updates; its answers as terms."""
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "e2e"))

from harness import MANAGER, BusError, World, memory_file  # noqa: E402
from evaluator import TooLarge  # noqa: E402
from syntax import to_ntriples  # noqa: E402
from wire_client import RemoteError  # noqa: E402
from wire_reader import BNODE, IRI, LITERAL_LANG  # noqa: E402
from terms import STRING, bnode, iri, literal  # noqa: E402

# patterns are counted wherever possible, and columns of any size are stored
LIMITS = {"idle_exit_ms": 0, "tally_rows": int(os.environ.get("QUERYD_TALLY_ROWS", "0")), "tally_file_rows": 0,
          "tally_file_percent": 1000}
RESTARTS = bool(os.environ.get("QUERYD_RESTARTS"))  # after each load: then columns are read from the file
STATEMENT = re.compile(r'(?:<([^>]*)>|_:(\S+)|"((?:[^"\\]|\\.)*)"(?:\^\^<([^>]*)>|@([A-Za-z0-9-]+))?) *')
ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}


class DaemonError(Exception):
    """An error reply; kind: the message without what is particular to the case."""

    def __init__(self, name, message):
        super().__init__(f"{name}: {message}")
        self.kind = name + ": " + re.sub(r"'[^']*'|\"[^\"]*\"|\?\w+|[0-9]+", "…", message)[:60]


def unescape(text):
    def char(match):
        code = match.group(1)
        return chr(int(code[1:], 16)) if code[0] in "uU" else ESCAPES.get(code, code)
    return re.sub(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)", char, text)


def make_literal(text, datatype, lang):
    return literal(text, lang=lang) if lang else literal(text, datatype or STRING)


def parse_line(line):
    """The terms of a line of N-Triples or N-Quads."""
    terms = []
    for name, label, text, datatype, lang in (match.groups() for match in STATEMENT.finditer(line)):
        if name is not None:
            terms.append(iri(unescape(name)))
        elif label is not None:
            terms.append(bnode(label))
        else:
            terms.append(make_literal(unescape(text), datatype, lang))
    return terms


def parse_lines(text):
    return [tuple(parse_line(line)) for line in text.split("\n") if line.strip()]


def to_nquads(quads):
    return "".join(" ".join(to_ntriples(term) for term in quad if term is not None) + " .\n" for quad in quads)


def from_json(cell):
    if cell["type"] == "uri":
        return iri(cell["value"])
    if cell["type"] == "bnode":
        return bnode(cell["value"])
    return make_literal(cell["value"], cell.get("datatype"), cell.get("xml:lang"))


def to_triple(term):
    """A term as a value on the bus: lexical form, datatype, language."""
    return (term.lexical, "@id" if term.kind == "iri" else term.datatype, term.lang or "")


def from_triple(cell):
    if isinstance(cell, str):
        return literal(cell)
    lexical, datatype, lang = cell
    if datatype == "@id":
        return iri(lexical)
    return bnode(lexical) if datatype == "@bnode" else make_literal(lexical, datatype, lang)


def from_wire(value):
    """A value of a page. Only plain strings come as texts."""
    if isinstance(value, str):
        return literal(value)
    if value.kind == IRI:
        return iri(value.text)
    if value.kind == BNODE:
        return bnode(value.text)
    return literal(value.text, lang=value.tag) if value.kind == LITERAL_LANG else literal(value.text, value.tag)


class Daemon:
    """One store; load() replaces what is in it."""

    def __init__(self):
        self.world = World(limits=LIMITS)
        self.channel = None

    def finish(self):
        if self.channel is not None:
            self.channel.close()
        self.world.finish()

    def load(self, quads):
        with memory_file(to_nquads(quads).encode()) as fd:
            job = self.world.import_fd(fd, "nquads", replace=True)
        if job["State"] != "finished":
            raise DaemonError(job["ErrorName"], job["ErrorMessage"])
        if RESTARTS:
            self.world.call("Optimize", "(a{sv})", {}, interface=MANAGER)
            self.restart()

    def restart(self):
        if self.channel is not None:
            self.channel.close()
            self.channel = None
        self.world.stop_daemon()

    def query(self, text, form, **options):
        """SELECT: (variables, rows); ASK: a bool; CONSTRUCT: a list of triples."""
        result = self.call(self.world.query_text, text, "ntriples" if form == "CONSTRUCT" else "sparql-json", language="sparql",
                           **options)
        if result[2]:
            raise TooLarge()  # QueryText is capped
        if form == "CONSTRUCT":
            return parse_lines(result[1])
        body = json.loads(result[1])
        if form == "ASK":
            return body["boolean"]
        variables = body["head"]["vars"]
        return variables, [{name: from_json(cell) for name, cell in row.items()} for row in body["results"]["bindings"]]

    def query_channel(self, text):
        """A SELECT as query(), prepared on a kept channel and run twice."""
        if self.channel is None:
            self.channel = self.world.prepare("SELECT 1")
        try:
            schema = self.channel.prepare(text, language="sparql")
            rows = self.channel.fetch()
            again = self.channel.fetch()
        except RemoteError as error:
            raise DaemonError(error.name, error.message) from None
        if len(rows) != len(again):
            raise DaemonError("Again", "the second run of the statement has another number of rows")
        names = [name for name, _ in schema.columns]
        return names, [{name: from_wire(value) for name, value in zip(names, row) if value is not None} for row in again]

    def query_bound(self, text, var, term):
        """A SELECT with a parameter: as query(), through values on the bus."""
        value = to_triple(term)
        variables, rows, truncated = self.call(self.world.query_full, text, {str(var): value}, language="sparql")
        if truncated:
            raise TooLarge()
        return variables, [{name: from_triple(cell) for name, cell in zip(variables, row) if cell is not None} for row in rows]

    def count_plans(self):
        """How many plans of SPARQL were there already, and how many were made."""
        stats = self.world.stats()
        return stats["sparql_plans_found_total"], stats["sparql_plans_made_total"]

    def update(self, text):
        self.call(self.world.update, text, language="sparql")

    def dump(self):
        job, text = self.world.dump("nquads")
        if job["State"] != "finished":
            raise DaemonError(job["ErrorName"], job["ErrorMessage"])
        return parse_lines(text)

    @staticmethod
    def call(method, *arguments, **options):
        try:
            return method(*arguments, **options)
        except BusError as error:
            raise DaemonError(error.name, error.message) from None
