# SPDX-License-Identifier: LGPL-2.1-or-later
"""queryd: SQL and SPARQL against the queryd of this session, after PEP 249.

    import queryd

    with queryd.connect() as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS note(id INTEGER PRIMARY KEY, text TEXT)")
        connection.execute("INSERT INTO note(text) VALUES(?)", ["first"])
    for id, text in connection.execute("SELECT id, text FROM note"):
        print(id, text)

queryd.aio is the same for asyncio.
"""
from .dbapi import Connection, Cursor, Row, apilevel, connect, paramstyle, threadsafety
from .errors import (Constraint, ConstraintKind, DatabaseError, DataError, Error, ErrorCode, IntegrityError, InterfaceError,
                     InternalError, NotSupportedError, OperationalError, ProgrammingError, Warning)
from .values import (BINARY, DATETIME, NUMBER, ROWID, STRING, Binary, BlankNode, Date, DateFromTicks, Iri, Literal, Time,
                     TimeFromTicks, Timestamp, TimestampFromTicks)

__all__ = [
    "BINARY", "DATETIME", "NUMBER", "ROWID", "STRING", "Binary", "BlankNode", "Connection", "Constraint", "ConstraintKind",
    "Cursor", "DataError", "DatabaseError", "Date", "DateFromTicks", "Error", "ErrorCode", "IntegrityError", "InterfaceError",
    "InternalError", "Iri", "Literal", "NotSupportedError", "OperationalError", "ProgrammingError", "Row", "Time",
    "TimeFromTicks", "Timestamp", "TimestampFromTicks", "Warning", "apilevel", "connect", "paramstyle", "threadsafety",
]
