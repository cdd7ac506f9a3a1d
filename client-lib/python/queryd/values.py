# SPDX-License-Identifier: LGPL-2.1-or-later
"""Values: RDF terms, PEP 249's constructors and type objects, and what other types of Python become as parameters."""
import datetime
import decimal
import operator
import time
import uuid
from typing import NamedTuple, Optional


class Iri(str):
    """An IRI: a value of a SPARQL result, or of a parameter."""

    __slots__ = ()

    def __repr__(self):
        return f"Iri({super().__repr__()})"


class BlankNode(str):
    """The label of a blank node in a SPARQL result. It names the node in this result only, so that it cannot be bound."""

    __slots__ = ()

    def __repr__(self):
        return f"BlankNode({super().__repr__()})"


class Literal(NamedTuple):
    """An RDF literal with a datatype or a language.

    Plain strings are str; booleans and numbers of XML Schema are bool, int, decimal.Decimal and float.
    """

    lexical: str
    datatype: Optional[str] = None
    language: Optional[str] = None

    def __str__(self):
        return self.lexical


XSD = "http://www.w3.org/2001/XMLSchema#"
_INTEGERS = ("integer", "int", "long", "short", "byte", "nonNegativeInteger", "positiveInteger", "nonPositiveInteger",
             "negativeInteger", "unsignedInt", "unsignedLong", "unsignedShort", "unsignedByte")
_FROM_LEXICAL = {XSD + name: int for name in _INTEGERS}
_FROM_LEXICAL.update({XSD + "double": float, XSD + "float": float, XSD + "decimal": decimal.Decimal,
                      XSD + "boolean": {"true": True, "1": True, "false": False, "0": False}.__getitem__})


def from_literal(lexical, datatype, language):
    """Called by the extension module for a literal of a result. One whose lexical form is not of its type stays a Literal."""
    convert = _FROM_LEXICAL.get(datatype)
    if convert is not None:
        try:
            return convert(lexical)
        except (ValueError, KeyError, decimal.InvalidOperation):
            pass
    return Literal(lexical, datatype, language)


def to_term(value):
    """@value as a parameter of SPARQL, where SQL has no type of its own for it."""
    if isinstance(value, bool):
        return Literal("true" if value else "false", XSD + "boolean")
    if isinstance(value, int) and not -2**63 <= value < 2**63:
        return Literal(str(value), XSD + "integer")
    if isinstance(value, decimal.Decimal):
        return Literal(format(value, "f"), XSD + "decimal")
    for kind, name in ((datetime.datetime, "dateTime"), (datetime.date, "date"), (datetime.time, "time")):
        if isinstance(value, kind):
            return Literal(value.isoformat(), XSD + name)
    return value


def to_terms(values):
    """The same for all values of a statement."""
    if values is None:
        return None
    if hasattr(values, "keys"):
        return {key: to_term(values[key]) for key in values.keys()}
    return [to_term(value) for value in values]


def adapt(value):
    """@value as a type that can be bound; itself if there is none. Times are ISO 8601, so that they sort and SQLite reads them."""
    if isinstance(value, BlankNode):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, datetime.datetime):
        return value.isoformat(" ")
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, (decimal.Decimal, uuid.UUID)):
        return str(value)
    if isinstance(value, float):
        return float(value)
    try:
        return operator.index(value)  # int's subclasses, integers of NumPy
    except TypeError:
        pass
    try:
        return float(value) if hasattr(value, "__float__") else bytes(memoryview(value))
    except (TypeError, ValueError):
        return value


class DBAPIType(frozenset):
    """A type object of PEP 249: it equals each declared type that means the same."""

    def __eq__(self, other):
        return other in self if isinstance(other, str) else super().__eq__(other)

    def __ne__(self, other):
        return not self == other

    __hash__ = frozenset.__hash__


STRING = DBAPIType(["STRING"])
BINARY = DBAPIType(["BINARY"])
NUMBER = DBAPIType(["NUMBER"])
DATETIME = DBAPIType(["DATETIME"])
ROWID = DBAPIType(["ROWID"])

# In the order of SQLite's rules for affinity (Datatypes In SQLite, 3.1), dates before them.
_MEANINGS = (("DATE", "DATETIME"), ("TIME", "DATETIME"), ("INT", "NUMBER"), ("CHAR", "STRING"), ("CLOB", "STRING"),
             ("TEXT", "STRING"), ("BLOB", "BINARY"), ("REAL", "NUMBER"), ("FLOA", "NUMBER"), ("DOUB", "NUMBER"),
             ("NUM", "NUMBER"), ("DEC", "NUMBER"), ("BOOL", "NUMBER"))


def type_code(declared):
    """PEP 249's type code of a column with that declared type; None for one without."""
    declared = declared.upper()
    for part, meaning in _MEANINGS:
        if part in declared:
            return meaning
    return None


Date = datetime.date
Time = datetime.time
Timestamp = datetime.datetime
Binary = memoryview


def DateFromTicks(ticks):  # noqa: N802 (PEP 249 names it)
    """The local date at @ticks seconds since 1970."""
    return Date(*time.localtime(ticks)[:3])


def TimeFromTicks(ticks):  # noqa: N802
    """The local time of day at @ticks seconds since 1970."""
    return Time(*time.localtime(ticks)[3:6])


def TimestampFromTicks(ticks):  # noqa: N802
    """The local time at @ticks seconds since 1970."""
    return Timestamp(*time.localtime(ticks)[:6])
