# SPDX-License-Identifier: LGPL-2.1-or-later
"""Connections and cursors after PEP 249, "Python Database API Specification v2.0".

Transactions: the first statement that writes begins one, and commit() or rollback() ends it, unless the connection is in
autocommit mode: then each statement is a transaction of its own. A query outside of a transaction reads the newest commit.
While a transaction is open no other client can write, so that the daemon ends one that waits for longer than its limits
transaction_idle_ms and transaction_ms.
"""
import collections
import functools
import itertools
import sys
import weakref

from . import _client
from .errors import Error, ErrorCode, InterfaceError, OperationalError, ProgrammingError
from .texts import SETTINGS, get_control, get_setting, get_settings_read, is_savepoint, needs_no_transaction
from .values import to_terms, type_code

apilevel = "2.0"
threadsafety = 1  # threads may share the module, not connections
paramstyle = "qmark"  # "?"; ":name" with a mapping works as well

LANGUAGES = {"sql": _client.SQL, "sparql": _client.SPARQL}
STATEMENTS_KEPT = 128  # prepared ones of a connection; each costs some hundred bytes, and the daemon nothing
ROWS_PER_MESSAGE = 4096  # of executemany(), at most: fewer if they take 64 MiB
TIMEOUT_NONE = 4294967295

_WRITES = (ErrorCode.READ_ONLY, ErrorCode.ACCESS_DENIED)
_ROLLED_BACK = (ErrorCode.CLOSED, ErrorCode.DISCONNECTED)  # the daemon has done it already, or does so


@functools.lru_cache(maxsize=STATEMENTS_KEPT)
def _row_type(kind, names):
    return type("Row", (kind,), {"__slots__": (), "_names": names, "_kind": kind})


def _restore_row(kind, names, values):
    """For pickle, which finds no class of _row_type()."""
    return _row_type(kind, names)(values)


class Row(tuple):
    """A row whose values have names: row["name"], row.keys(). Use it as row_factory."""

    __slots__ = ()
    _names = ()
    _kind = None

    @classmethod
    def of(cls, cursor):
        """A subclass for the columns of @cursor."""
        return _row_type(cls, tuple(column[0] for column in cursor.description))

    def __reduce__(self):
        return _restore_row, (self._kind or type(self), self._names, tuple(self))

    def keys(self):
        """The names of the columns."""
        return list(self._names)

    def __getitem__(self, key):
        if not isinstance(key, str):
            return super().__getitem__(key)
        for index, name in enumerate(self._names):
            if name.lower() == key.lower():
                return super().__getitem__(index)
        raise KeyError(f"there is no column {key!r}, only {', '.join(map(repr, self._names))}")


class _Statement:
    """A prepared statement, and the cursor that has run it last."""

    def __init__(self, prepared, writes):
        self.prepared, self.writes = prepared, writes
        self._cursor = None

    def is_busy(self):
        cursor = self._cursor() if self._cursor is not None else None
        return cursor is not None and cursor._statement is self

    def take(self, cursor):
        self._cursor = weakref.ref(cursor)


class Connection:
    """A connection to one store; connect() makes one."""

    from .errors import (DatabaseError, DataError, Error, IntegrityError, InterfaceError, InternalError, NotSupportedError,
                         OperationalError, ProgrammingError, Warning)  # PEP 249's optional extension

    def __init__(self, client, autocommit, row_factory):
        self._client = client
        self._transaction = None
        self._statements = collections.OrderedDict()
        self._executing = set()  # cursors
        self._settings = {}  # pragmas that hold for each transaction, if they are not as the daemon has them
        self._autocommit = autocommit
        self.row_factory = row_factory

    @property
    def autocommit(self):
        """Whether each statement is a transaction of its own. To set it to True commits an open transaction."""
        return self._autocommit

    @autocommit.setter
    def autocommit(self, value):
        self._check_idle()
        if value:
            self.commit()
        self._autocommit = bool(value)

    @property
    def in_transaction(self):
        """Whether a transaction is open."""
        return self._transaction is not None

    def _check_open(self):
        if self._client is None:
            raise ProgrammingError("the connection is closed")

    def _check_idle(self):
        """All or none of a statement's rows: what gives its values, and a signal's handler meanwhile, ends no transaction."""
        if self._executing:
            raise ProgrammingError("a statement is being executed: until its end no transaction begins or ends, "
                                   "and the connection stays open")

    def _prepare(self, language, text):
        """A statement of no other open cursor, since it has one result at a time. One that writes has its transaction then."""
        key = (language, text)
        found = self._statements.get(key)
        if found is None or found.is_busy():
            found = self._prepare_new(language, text)
        elif found.writes:
            self._begin_for(text)
        self._keep(key, found)
        return found

    def _keep(self, key, statement):
        """For the next time, as the newest."""
        self._statements[key] = statement
        self._statements.move_to_end(key)
        if len(self._statements) > STATEMENTS_KEPT:
            self._statements.popitem(last=False)

    def _prepare_new(self, language, text):
        """Whether it writes the daemon decides."""
        source = self._transaction or self._client
        try:
            return _Statement(source.prepare(language, text, False), False)
        except (OperationalError, ProgrammingError) as error:
            needs_settings = error.code == ErrorCode.SYNTAX and self._transaction is None and self._settings
            if error.code not in _WRITES and not needs_settings:
                raise
        has_begun = self._begin_for(text)
        try:
            return _Statement((self._transaction or self._client).prepare(language, text, True), True)
        except BaseException:
            if has_begun:
                self._rollback()
            raise

    def _begin_for(self, text):
        """Begins the transaction of a statement that writes, if it needs one: settings hold when it is compiled, too."""
        if self._transaction is not None or needs_no_transaction(text):
            return False
        if self._autocommit and (not self._settings or is_savepoint(text)):
            return False
        self._begin()
        return True

    def begin(self):
        """Begins a transaction, also in autocommit mode, which it then suspends."""
        self._check_open()
        self._check_idle()
        self._begin()

    def _begin(self):
        if self._transaction is not None:
            raise ProgrammingError("a transaction is open already")
        self._transaction = self._client.begin()
        try:
            for name, value in self._settings.items():
                text = f"PRAGMA {name}={'ON' if value else 'OFF'}"
                self._transaction.prepare(_client.SQL, text, True).execute(None, self._transaction).fetch(-1)
        except BaseException:
            self._rollback()
            raise

    def _set(self, name, value):
        """Outside of a transaction."""
        if value == SETTINGS[name]:
            self._settings.pop(name, None)
        else:
            self._settings[name] = value

    def commit(self):
        """Makes what was written durable and visible. Nothing happens without an open transaction."""
        self._check_open()
        self._check_idle()
        self._commit()

    def _commit(self):
        transaction, self._transaction = self._transaction, None
        if transaction is not None:
            self._settings.pop("defer_foreign_keys", None)  # as in SQLite
            transaction.commit()

    def rollback(self):
        """Undoes what was written. Nothing happens without an open transaction."""
        self._check_open()
        self._check_idle()
        self._rollback()

    def _rollback(self):
        transaction, self._transaction = self._transaction, None
        self._statements.clear()  # they may have been prepared for tables that are no more
        if transaction is None:
            return
        self._settings.pop("defer_foreign_keys", None)
        try:
            transaction.rollback()
        except OperationalError as error:
            if error.code not in _ROLLED_BACK:
                raise

    def close(self):
        """Closes the connection; an open transaction is rolled back. Later calls fail."""
        if self._client is None:
            return
        self._check_idle()
        try:
            if self._transaction is not None:
                self._rollback()
        finally:
            self._statements.clear()
            self._client.close()
            self._client = None

    def interrupt(self):
        """Cancels the call that runs now in another thread, if it has not ended: OperationalError, code CANCELLED."""
        self._check_open()
        self._client.interrupt()

    def cursor(self):
        """A new cursor."""
        self._check_open()
        return Cursor(self)

    def execute(self, text, parameters=None, *, language="sql"):
        """Executes a statement with a new cursor, and returns that."""
        return self.cursor().execute(text, parameters, language=language)

    def executemany(self, text, rows, *, language="sql"):
        """As Cursor.executemany(), with a new cursor."""
        return self.cursor().executemany(text, rows, language=language)

    def sparql(self, text, parameters=None):
        """Executes a SPARQL query or update with a new cursor, and returns that."""
        return self.execute(text, parameters, language="sparql")

    def __enter__(self):
        self._check_open()
        return self

    def __exit__(self, kind, value, traceback):
        """Commits, or rolls back if the block has failed. The connection stays open, as with sqlite3."""
        if self._client is None:
            return
        if kind is None:
            self.commit()
        else:
            self.rollback()


class Cursor:
    """Executes statements and gives their rows, one statement after the other."""

    def __init__(self, connection):
        self.connection = connection
        self.row_factory = connection.row_factory
        self.arraysize = 100
        self.description = None
        self.rowcount = -1
        self.lastrowid = None
        self._statement = None  # while its result is open
        self._result = None
        self._rows = None  # read already: of RETURNING, or ahead
        self._make_row = None
        self._closed = False

    def _check_open(self):
        if self._closed:
            raise ProgrammingError("the cursor is closed")
        self.connection._check_open()

    def _check_idle(self):
        if self in self.connection._executing:
            raise ProgrammingError("recursive use of a cursor: it is executing a statement")

    def _run_alone(self, call, *arguments):
        """What @call asks for values can use other cursors, but neither this one nor the transaction."""
        self._check_open()
        self._check_idle()
        try:
            self.connection._executing.add(self)
            return self._end_begun(call, *arguments)
        finally:
            self.connection._executing.discard(self)

    def _end_begun(self, call, *arguments):
        """In autocommit mode a transaction that @call begins ends with it."""
        connection = self.connection
        ends = connection._autocommit and connection._transaction is None
        try:
            result = call(*arguments)
        except BaseException:
            if ends and connection._transaction is not None:
                connection._rollback()
            raise
        if ends and connection._transaction is not None:
            connection._commit()
        return result

    def _reset(self):
        if self._result is not None:
            self._result.close()
        self._statement = self._result = self._rows = self._make_row = None
        self.description, self.rowcount = None, -1

    def _describe(self):
        columns = self._result.columns
        if columns:
            self.description = tuple((name, type_code(declared), None, None, None, None, None) for name, declared in columns)
        if self.row_factory is Row:
            self._make_row = Row.of(self) if columns else None
        elif self.row_factory is not None:
            self._make_row = lambda row: self.row_factory(self, row)

    def _take(self, result):
        """Of an update all rows are read at once: it is done only then."""
        self._result = result
        self._describe()
        if self._statement.writes:
            self._take_all()
            self.rowcount = result.n_changes
            self.lastrowid = result.last_insert_rowid

    def _take_all(self):
        rows = self._result.fetch(-1)
        self._rows = iter(rows) if self.description is not None else None
        self._statement = self._result = None

    def _start(self, text, language):
        """Ends the last statement. Returns the new one, in a transaction if there has to be one."""
        self._reset()
        if language not in LANGUAGES:
            raise InterfaceError(f"the language is 'sql' or 'sparql', not {language!r}")
        statement = self.connection._prepare(LANGUAGES[language], text)
        statement.take(self)
        self._statement = statement
        return statement

    def execute(self, text, parameters=None, *, language="sql"):
        """Executes one statement. @parameters: a sequence for "?", a mapping for ":name". Returns the cursor."""
        control = get_control(text) if language == "sql" else None
        if control is None:
            self._run_alone(self._execute, text, parameters, language)
        else:
            self._check_open()
            self._check_idle()
            self._reset()
            getattr(self.connection, control)()
        return self

    def _execute(self, text, parameters, language):
        connection = self.connection
        setting = get_setting(text) if language == "sql" and connection._transaction is None else None
        if setting is not None and setting[1] is not None:
            self._reset()
            connection._set(*setting)
            return
        if setting is not None:
            name = setting[0]
            text = f"SELECT {int(connection._settings.get(name, SETTINGS[name]))} AS {name}"
        statement = self._start(text, language)
        values = to_terms(parameters) if language == "sparql" else parameters
        if connection._settings and not statement.writes and connection._transaction is None and \
                connection._settings.keys() & get_settings_read(text):
            self._ask(statement, values)
        else:
            self._take(statement.prepared.execute(values, connection._transaction))

    def _ask(self, statement, values):
        """A query that reads settings of the connection has a transaction with them."""
        connection = self.connection
        settings = dict(connection._settings)
        connection._begin()
        try:
            self._take(statement.prepared.execute(values, connection._transaction))
            self._take_all()
        finally:
            connection._rollback()
            connection._settings = settings

    def executemany(self, text, rows, *, language="sql"):
        """Executes a statement that writes once for each row of values, all or none in autocommit mode. Returns the cursor."""
        iterator = iter(rows) if language == "sql" else map(to_terms, rows)
        self._run_alone(self._execute_rows, text, iterator, language)
        return self

    def _execute_rows(self, text, iterator, language):
        statement = self._start(text, language)
        if not statement.writes:
            raise ProgrammingError("executemany() takes a statement that writes")
        key = (LANGUAGES[language], text)
        self.connection._statements.pop(key, None)  # a failure leaves rows in it, which no other call may execute
        changed = self._send_rows(statement, iterator)
        self.connection._keep(key, statement)
        self._reset()
        self.rowcount = changed

    def _send_rows(self, statement, iterator):
        if statement.prepared.n_parameters == 0:
            return self._send_all(lambda: sum(self._run(statement, statement.prepared.execute, row) for row in iterator))
        n, has_more = statement.prepared.add_rows(iterator, ROWS_PER_MESSAGE)
        if not has_more:
            return self._run_added(statement, iterator, n, False)
        return self._send_all(lambda: self._run_added(statement, iterator, n, has_more))

    def _send_all(self, send):
        """More than one message: in autocommit mode they need a transaction."""
        if self.connection._transaction is None:
            self.connection._begin()
        return send()

    def _run(self, statement, how, *values):
        self._statement = statement
        self._take(how(*values, self.connection._transaction))
        return self.rowcount

    def _run_added(self, statement, iterator, n, has_more):
        changed = 0
        while n > 0:
            changed += self._run(statement, statement.prepared.execute_rows)
            n, has_more = statement.prepared.add_rows(iterator, ROWS_PER_MESSAGE) if has_more else (0, False)
        return changed

    def _rows_left(self):
        self._check_open()
        if self._result is None and self._rows is None:
            raise InterfaceError("there is no result: the last statement has given none, or none was executed")

    def _next_row(self):
        """A tuple, None at the end."""
        self._rows_left()
        row = next(self._rows, None) if self._rows is not None else None
        if row is None and self._result is not None:
            row = self._result.fetch_one()
        if row is None:
            self._statement = None
        return row

    def _read_ahead(self, size):
        """For the next calls that fetch, when no row is ahead. Returns whether there is one then."""
        self._rows_left()
        if self._result is None:
            return False
        rows = self._fetch_result(size)
        self._rows = iter(rows)
        return bool(rows)

    def _make(self, row):
        """What row_factory makes of a tuple, None included."""
        return row if self._make_row is None else self._make_row(row)

    def fetchone(self):
        """The next row, None at the end."""
        row = self._next_row()
        return row if row is None else self._make(row)

    def fetchmany(self, size=None):
        """At most @size rows, arraysize if it is None; none at the end."""
        self._rows_left()
        size = self.arraysize if size is None else size
        if size < 0:
            raise ProgrammingError("fetchmany() takes no negative number of rows")
        return self._fetch(min(size, sys.maxsize))

    def fetchall(self):
        """All rows that are left."""
        self._rows_left()
        return self._fetch(-1)

    def _fetch(self, size):
        ahead = list(itertools.islice(self._rows, None if size < 0 else size)) if self._rows is not None else []
        if self._result is None or len(ahead) == size:
            rows = ahead
        else:
            rows = ahead + self._fetch_result(size if size < 0 else size - len(ahead))
        return rows if self._make_row is None else [self._make_row(row) for row in rows]

    def _fetch_result(self, size):
        rows = self._result.fetch(size)
        if size < 0 or len(rows) < size:
            self._statement = None
        return rows

    def __iter__(self):
        return self

    def __next__(self):
        row = self._next_row()
        if row is None:
            raise StopIteration
        return self._make(row)

    def setinputsizes(self, sizes):
        """Does nothing: values have no declared sizes."""

    def setoutputsize(self, size, column=None):
        """Does nothing: values are read whole."""

    def close(self):
        """Ends the statement if it still runs. Later calls fail."""
        self._check_idle()
        if not self._closed and self._result is not None:
            self._result.close()
        self._statement = self._result = self._rows = None
        self._closed = True

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def connect(store=None, *, path=None, autocommit=False, timeout=None, relaxed=False, row_factory=None):
    """Connects to the queryd of this session, and starts it if it does not run.

    @store: name of a store, None for the default one. @path: a database file that is read without the daemon; True for that of
    the default store. @autocommit: each statement is a transaction of its own. @timeout: seconds after which a statement fails,
    None for the daemon's default, 0 for none. @relaxed: an update outside of a transaction is answered before it is durable.
    @row_factory: Row, or a function of a cursor and a tuple.
    """
    milliseconds = _milliseconds(timeout)
    if path is None:
        client = _client.Connection(store)
    elif store is not None:
        raise InterfaceError("a connection has a store or a path, not both")
    elif path is True:
        client = _client.Connection(None, direct=True)
    else:
        client = _client.Connection(None, path, True)
    client.set_options(milliseconds, relaxed)
    return Connection(client, autocommit, row_factory)


def _milliseconds(timeout):
    if timeout is None:
        return 0
    if not 0 <= timeout * 1000 <= TIMEOUT_NONE - 1:  # nor NaN
        raise InterfaceError(f"the timeout is from 0 to {TIMEOUT_NONE // 1000} seconds, not {timeout}")
    return max(1, round(timeout * 1000)) if timeout > 0 else TIMEOUT_NONE


__all__ = ["Connection", "Cursor", "Error", "Row", "apilevel", "connect", "paramstyle", "threadsafety"]
