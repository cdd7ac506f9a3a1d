# SPDX-License-Identifier: LGPL-2.1-or-later
"""The same for asyncio: each call that may wait is awaited, and runs in the connection's own thread meanwhile.

    async with await queryd.aio.connect() as connection:
        cursor = await connection.execute("SELECT id, text FROM note")
        async for id, text in cursor:
            print(id, text)

A task that is cancelled while it waits cancels its statement in the daemon, and ends after it.
"""
import asyncio
import concurrent.futures
import contextlib
import functools
import threading

from . import dbapi

ROWS_AT_ONCE = 256  # that an "async for" reads with one turn of the thread
INTERRUPT_INTERVAL = 0.02  # seconds


class Connection:
    """A connection whose calls are coroutines; connect() makes one. Tasks may share it: their calls run one after the other."""

    def __init__(self, connection, executor):
        self._connection = connection
        self._executor = executor
        self._lock = threading.Lock()
        self._running = None  # the call in the thread
        self._is_closed = False

    async def _run(self, function, *arguments, undo=None, **keywords):
        """@undo: for a call that was executed although its task is cancelled."""
        if self._is_closed:
            raise dbapi.ProgrammingError("the connection is closed")
        call = functools.partial(function, *arguments, **keywords)
        future = self._executor.submit(self._call, call)
        waiting = asyncio.wrap_future(future)
        try:
            return await asyncio.shield(waiting)
        except asyncio.CancelledError:
            waiting.add_done_callback(lambda done: done.cancelled() or done.exception())  # no other task asks for it
            if future.cancel():
                raise
            await self._end(call, waiting)
            if undo is not None and waiting.exception() is None:
                await self._end(undo, asyncio.wrap_future(self._executor.submit(self._call, undo)))
            raise

    def _call(self, call):
        """In the thread."""
        with self._lock:
            self._running = call
        try:
            return call()
        finally:
            with self._lock:
                self._running = None

    def _interrupt(self, call):
        """Not a later call, of another task."""
        with self._lock, contextlib.suppress(dbapi.ProgrammingError):  # the connection is closed
            if self._running is call:
                self._connection.interrupt()

    async def _end(self, call, waiting):
        """Until it is @waiting no more: an interrupt between two steps of @call has no effect. More cancels change nothing."""
        while not waiting.done():
            self._interrupt(call)
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait([waiting], timeout=INTERRUPT_INTERVAL)

    @property
    def autocommit(self):
        """Whether each statement is a transaction of its own."""
        return self._connection.autocommit

    @property
    def in_transaction(self):
        """Whether a transaction is open."""
        return self._connection.in_transaction

    async def execute(self, text, parameters=None, *, language="sql"):
        """Executes a statement with a new cursor, and returns that."""
        cursor = Cursor(self, self._connection.cursor())
        return await cursor.execute(text, parameters, language=language)

    async def executemany(self, text, rows, *, language="sql"):
        """Executes a statement that writes once for each row."""
        cursor = Cursor(self, self._connection.cursor())
        return await cursor.executemany(text, rows, language=language)

    async def sparql(self, text, parameters=None):
        """Executes a SPARQL query or update with a new cursor, and returns that."""
        return await self.execute(text, parameters, language="sparql")

    def cursor(self):
        """A new cursor."""
        return Cursor(self, self._connection.cursor())

    async def begin(self):
        """Begins a transaction; none if it is cancelled."""
        await self._run(self._connection.begin, undo=self._connection.rollback)

    async def commit(self):
        """Makes what was written durable and visible."""
        await self._run(self._connection.commit)

    async def rollback(self):
        """Undoes what was written."""
        await self._run(self._connection.rollback)

    async def close(self):
        """Closes the connection; an open transaction is rolled back. Nothing happens if it is closed."""
        if self._is_closed:
            return
        try:
            await self._run(self._connection.close)
        except asyncio.CancelledError:
            if not self._is_closed:
                self._executor.submit(self._connection.close)  # it may not have begun
            raise
        finally:
            self._is_closed = True
            self._executor.shutdown(wait=False)

    async def __aenter__(self):
        return self

    async def __aexit__(self, kind, value, traceback):
        """Commits, or rolls back if the block has failed; and closes."""
        try:
            if kind is None:
                await self.commit()
        finally:
            await self.close()


class Cursor:
    """A cursor whose calls are coroutines."""

    def __init__(self, connection, cursor):
        self.connection = connection
        self._cursor = cursor

    @property
    def description(self):
        """As of queryd.Cursor."""
        return self._cursor.description

    @property
    def rowcount(self):
        """As of queryd.Cursor."""
        return self._cursor.rowcount

    @property
    def lastrowid(self):
        """As of queryd.Cursor."""
        return self._cursor.lastrowid

    async def execute(self, text, parameters=None, *, language="sql"):
        """Executes one statement. Returns the cursor."""
        await self.connection._run(self._cursor.execute, text, parameters, language=language)
        return self

    async def executemany(self, text, rows, *, language="sql"):
        """Executes a statement that writes once for each row. Returns the cursor."""
        await self.connection._run(self._cursor.executemany, text, rows, language=language)
        return self

    async def fetchone(self):
        """The next row, None at the end."""
        return await self.connection._run(self._cursor.fetchone)

    async def fetchmany(self, size=None):
        """At most @size rows."""
        return await self.connection._run(self._cursor.fetchmany, size)

    async def fetchall(self):
        """All rows that are left."""
        return await self.connection._run(self._cursor.fetchall)

    async def close(self):
        """Ends the statement if it still runs."""
        if not self.connection._is_closed:
            await self.connection._run(self._cursor.close)

    async def __aiter__(self):
        cursor, connection = self._cursor, self.connection
        while True:
            rows = cursor._rows
            row = next(rows, None) if rows is not None and not connection._is_closed else None
            if row is not None:
                yield cursor._make(row)
            elif not await connection._run(cursor._read_ahead, ROWS_AT_ONCE):
                return

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        await self.close()


async def connect(store=None, **options):
    """As queryd.connect()."""
    executor = concurrent.futures.ThreadPoolExecutor(1, "queryd")
    call = functools.partial(dbapi.connect, store, **options)
    try:
        connection = await asyncio.get_running_loop().run_in_executor(executor, call)
    except BaseException:
        executor.shutdown(wait=False)
        raise
    return Connection(connection, executor)
