# SPDX-License-Identifier: LGPL-2.1-or-later
"""Exceptions, as PEP 249 orders them.

Each exception of the library has `code` (an ErrorCode), `line` and `column` of the place in the statement's text (None if it
is not known), and `constraint` (a Constraint, None if no constraint was broken).
"""
import enum
from typing import NamedTuple, Optional, Tuple


class ErrorCode(enum.IntEnum):
    """The codes of docs/errors, as in QueryError of libquery-client."""

    SYNTAX = 1
    UNSUPPORTED = 2
    BAD_PARAMETER = 3
    CONSTRAINT = 4
    READ_ONLY = 5
    BUSY = 6
    TOO_BIG = 7
    TOO_COMPLEX = 8
    TIMEOUT = 9
    CANCELLED = 10
    DISK_FULL = 11
    NO_MEMORY = 12
    CORRUPT = 13
    RECOVERING = 14
    ACCESS_DENIED = 15
    LIMIT_EXCEEDED = 16
    CLOSED = 17
    INTERNAL = 18
    DISCONNECTED = 64
    PROTOCOL = 65
    UNAVAILABLE = 66


class ConstraintKind(enum.IntEnum):
    """Kinds of constraints, as in QueryConstraintKind of libquery-client."""

    OTHER = 0
    UNIQUE = 1
    PRIMARY_KEY = 2
    ROWID = 3
    NOT_NULL = 4
    CHECK = 5
    FOREIGN_KEY = 6
    DATATYPE = 7
    TRIGGER = 8
    VIRTUAL_TABLE = 9
    GRAPH = 10


class Constraint(NamedTuple):
    """The constraint that an update has broken."""

    kind: ConstraintKind
    table: Optional[str]
    columns: Tuple[str, ...]
    name: Optional[str]


class Warning(Exception):  # noqa: A001 (PEP 249 names it)
    """PEP 249 asks for it; the library gives none."""


class Error(Exception):
    """Base of all errors."""

    code: Optional[ErrorCode] = None
    line: Optional[int] = None
    column: Optional[int] = None
    constraint: Optional[Constraint] = None


class InterfaceError(Error):
    """The module was used in a wrong way: a closed cursor, no result to fetch from."""


class DatabaseError(Error):
    """Base of the errors of the store; itself: the store is damaged."""


class DataError(DatabaseError):
    """A value or a text is too large, or cannot be expressed."""


class OperationalError(DatabaseError):
    """The daemon could not do it now, or does not allow it."""


class IntegrityError(DatabaseError):
    """A constraint was broken."""


class InternalError(DatabaseError):
    """The daemon or the protocol has an error of its own."""


class ProgrammingError(DatabaseError):
    """The statement or its parameters are wrong."""


class NotSupportedError(DatabaseError):
    """The statement is correct and not supported."""


_CLASSES = {
    ErrorCode.SYNTAX: ProgrammingError,
    ErrorCode.UNSUPPORTED: NotSupportedError,
    ErrorCode.BAD_PARAMETER: ProgrammingError,
    ErrorCode.CONSTRAINT: IntegrityError,
    ErrorCode.TOO_BIG: DataError,
    ErrorCode.CORRUPT: DatabaseError,
    ErrorCode.INTERNAL: InternalError,
    ErrorCode.PROTOCOL: InternalError,
}


def _enum(kind, number, otherwise):
    try:
        return kind(number)
    except ValueError:
        return otherwise


def create_error(code, message, line, column, constraint):
    """Called by the extension module; numbers that a later library adds become INTERNAL and OTHER."""
    code = _enum(ErrorCode, code, ErrorCode.INTERNAL)
    error = _CLASSES.get(code, OperationalError)(message)
    error.code = code
    error.line, error.column = line or None, column or None
    if constraint is not None:
        error.constraint = Constraint(_enum(ConstraintKind, constraint[0], ConstraintKind.OTHER), *constraint[1:])
    return error
