#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""queryd.aio against the real daemon. Exit status 0: all as expected."""
import asyncio
import logging

import queryd
import queryd.aio

logging.getLogger("asyncio").setLevel(logging.ERROR)  # its warning is of slow callbacks, which other load makes

LONG = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"


async def rows():
    async with await queryd.aio.connect() as connection:
        await connection.execute("CREATE TABLE t(a)")
        await connection.executemany("INSERT INTO t VALUES(?)", [[i] for i in range(1000)])
        cursor = await connection.execute("SELECT a FROM t ORDER BY a")
        assert cursor.description[0][0] == "a"
        assert [row async for row in cursor] == [(i,) for i in range(1000)]
        assert (await (await connection.execute("SELECT 1")).fetchall()) == [(1,)]
        assert connection.in_transaction
        await connection.rollback()
        assert (await (await connection.sparql("ASK {}")).fetchone())[0]
        try:
            await connection.execute("SELECT a FROM t")
        except queryd.ProgrammingError:
            pass
        else:
            raise AssertionError("the table is there after the rollback")


async def raises(kind, call):
    try:
        await call
    except kind:
        return
    raise AssertionError(f"no {kind.__name__}")


async def rows_ahead():
    """Rows that a loop has read ahead are the cursor's: the calls that fetch give them first, a new statement drops them."""
    async with await queryd.aio.connect() as connection:
        query = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 600) SELECT i FROM n"
        cursor = await connection.execute(query)
        async for row in cursor:
            if row == (3,):
                break
        assert await cursor.fetchone() == (4,)
        assert await cursor.fetchmany(0) == []
        assert await cursor.fetchmany(3) == [(5,), (6,), (7,)]
        assert await anext(aiter(cursor)) == (8,)
        assert await cursor.fetchmany(300) == [(i,) for i in range(9, 309)]
        assert [row async for row in cursor][:2] == [(309,), (310,)]
        assert (await cursor.fetchone(), await cursor.fetchall(), [row async for row in cursor]) == (None, [], [])
        await cursor.execute(query)
        assert [(row[0], (await cursor.fetchone())[0]) async for row in cursor] == [(i, i + 1) for i in range(1, 600, 2)]
        await cursor.execute(query)
        async for row in cursor:
            break
        assert await cursor.fetchall() == [(i,) for i in range(2, 601)]
        await cursor.execute(query)
        found = []
        async for row in cursor:
            found.append(row[0])
            if row == (2,):
                await cursor.execute("SELECT 'new'")
        assert found == [1, 2, "new"]
        await cursor.execute("CREATE TABLE r(a)")
        await cursor.execute("INSERT INTO r VALUES(1), (2), (3) RETURNING a")
        async for row in cursor:
            break
        assert await cursor.fetchall() == [(2,), (3,)]
        await cursor.execute(query)
        async for row in cursor:
            await cursor.close()
            break
        await raises(queryd.ProgrammingError, cursor.fetchone())
        await connection.rollback()
        cursor = await connection.execute(query)
        rows = aiter(cursor)
        await anext(rows)
    await raises(queryd.ProgrammingError, anext(rows))


async def rows_that_are_none():
    """They end no loop; one that cannot be made is the only one lost."""
    def make(cursor, row):
        if row == (2,):
            raise ZeroDivisionError
        return row[0]

    async with await queryd.aio.connect(row_factory=make) as connection:
        cursor = await connection.execute("SELECT value FROM json_each('[null, 1, 2, null, 3]')")
        found = []
        try:
            async for row in cursor:
                found.append(row)
        except ZeroDivisionError:
            pass
        assert (found, [row async for row in cursor]) == ([None, 1], [None, 3])


async def side_by_side():
    """The loop goes on while statements run; tasks share a connection."""
    connections = [await queryd.aio.connect() for _ in range(4)]
    texts = [f"SELECT {i}" for i in range(40)]
    found = await asyncio.gather(*(connections[i % 4].execute(text) for i, text in enumerate(texts)))
    assert [(await cursor.fetchone())[0] for cursor in found] == list(range(40))
    for connection in connections:
        await connection.close()


async def in_turn():
    """What one task executes does not keep another from ending the transaction after it."""
    async with await queryd.aio.connect() as connection:
        await connection.execute("CREATE TABLE turns(a)")
        insert = "INSERT INTO turns VALUES(?)"
        rows = [[i] for i in range(9000)]
        await asyncio.gather(connection.executemany(insert, rows), connection.commit(), connection.execute(insert, [1]),
                             connection.commit(), connection.executemany(insert, rows), connection.rollback())
        assert (await (await connection.execute("SELECT count(*) FROM turns")).fetchone()) == (9001,)
        await connection.execute("DROP TABLE turns")


async def cancelled():
    """A task that is cancelled cancels its statement; the connection goes on."""
    connection = await queryd.aio.connect(timeout=0)
    task = asyncio.create_task(connection.execute(LONG))
    try:
        await asyncio.wait_for(task, 0.3)
    except asyncio.TimeoutError:
        pass
    else:
        raise AssertionError("a statement without an end has ended")
    assert (await (await connection.execute("SELECT 7")).fetchone()) == (7,)
    await connection.close()


async def cancelled_update():
    """Nothing of a task that was cancelled happens after its end."""
    connection = await queryd.aio.connect(timeout=0, autocommit=True)
    await connection.execute("CREATE TABLE many(i)")
    insert = "INSERT INTO many WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 200000) SELECT i FROM n"
    n_undone = 0
    for msec in range(0, 40, 4):
        task = asyncio.create_task(connection.execute(insert))
        try:
            await asyncio.wait_for(task, msec / 1000)
        except asyncio.TimeoutError:
            pass
        found = (await (await connection.execute("SELECT count(*) FROM many")).fetchone())[0]
        assert found in (0, 200000), found
        await connection.execute("DELETE FROM many WHERE 0")  # after all that the client's lane has
        assert (await (await connection.execute("SELECT count(*) FROM many")).fetchone())[0] == found
        n_undone += found == 0
        await connection.execute("DELETE FROM many")
    assert n_undone > 0
    await connection.execute("DROP TABLE many")
    await connection.close()


async def cancel_often(task, pauses):
    """Returns whether it was cancelled, when it has ended."""
    for pause in pauses:
        await asyncio.sleep(pause)
        task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        return True
    return False


async def cancelled_again():
    """As often as one likes: the task ends after its call, and what it was given is not executed later."""
    connection = await queryd.aio.connect(timeout=0, autocommit=True)
    other = await queryd.aio.connect(autocommit=True)
    await connection.execute("CREATE TABLE many(i)")
    insert = "INSERT INTO many WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 200000) SELECT i FROM n"
    n_cancelled = 0
    for round_ in range(20):
        pauses = [round_ / 500] + [0, 0.001, 0, 0][:1 + round_ % 4]
        n_cancelled += await cancel_often(asyncio.create_task(connection.execute(insert)), pauses)
        found = (await (await other.execute("SELECT count(*) FROM many")).fetchone())[0]
        await connection.execute("DELETE FROM many WHERE 0")  # after all that the client's lane has
        assert (await (await other.execute("SELECT count(*) FROM many")).fetchone())[0] == found
        await connection.execute("DELETE FROM many")
    assert n_cancelled > 0
    await connection.execute("DROP TABLE many")
    await connection.close()
    await other.close()


async def cancelled_beside_others():
    """Tasks that share the connection go on."""
    connection = await queryd.aio.connect(timeout=0)
    for round_ in range(40):
        task = asyncio.create_task(connection.execute(LONG))
        others = [asyncio.create_task(connection.execute(f"SELECT {i}")) for i in range(5)]
        assert await cancel_often(task, [round_ % 5 / 1000, 0, 0])
        found = await asyncio.gather(*others)
        assert [(await cursor.fetchone())[0] for cursor in found] == list(range(5))
    await connection.close()


async def cancelled_in_transaction():
    """Also a close() that is cancelled ends the transaction."""
    other = await queryd.aio.connect(autocommit=True, timeout=10)
    await other.execute("CREATE TABLE kept(i)")

    async def use(connection):
        async with connection:
            await connection.execute("INSERT INTO kept VALUES(1)")
            await connection.execute(LONG)

    for msec in range(0, 20, 2):
        connection = await queryd.aio.connect(timeout=0)
        await cancel_often(asyncio.create_task(use(connection)), [0.1, 0, msec / 10000, 0, 0, msec / 10000, 0])
        await other.execute("INSERT INTO kept VALUES(2)")
        assert (await (await other.execute("SELECT count(*) FROM kept WHERE i = 1")).fetchone()) == (0,)
    await other.execute("DROP TABLE kept")
    await other.close()


async def closed_twice():
    """The second close() does nothing, and other calls say that the connection is closed."""
    connection = await queryd.aio.connect()
    async with await connection.execute("SELECT 1") as cursor:
        await asyncio.gather(connection.close(), connection.close())
    await connection.close()
    for call in (cursor.fetchone, connection.commit, connection.begin):
        try:
            await call()
            raise AssertionError("a closed connection has done something")
        except queryd.ProgrammingError as error:
            assert "closed" in str(error), error


async def cancelled_begin():
    """It has begun no transaction, however late it was cancelled."""
    connection = await queryd.aio.connect(timeout=0)
    await connection.execute("CREATE TABLE IF NOT EXISTS begun(i)")
    await connection.commit()
    for round_ in range(60):
        task = asyncio.create_task(connection.begin())
        is_cancelled = await cancel_often(task, [round_ / 50000, 0][:1 + round_ % 2])
        assert connection.in_transaction == (not is_cancelled)
        await connection.rollback()
        await connection.execute("INSERT INTO begun VALUES(1)")
        await connection.commit()
    await connection.close()


async def left_behind():
    """Tasks that the end of the loop cancels, twice."""
    connection = await queryd.aio.connect(timeout=0)
    task = asyncio.create_task(connection.execute(LONG))
    await asyncio.sleep(0.1)
    task.cancel()


asyncio.run(rows())
asyncio.run(rows_ahead())
asyncio.run(rows_that_are_none())
asyncio.run(side_by_side())
asyncio.run(in_turn())
asyncio.run(cancelled())
asyncio.run(cancelled_update())
asyncio.run(cancelled_again())
asyncio.run(cancelled_beside_others())
asyncio.run(cancelled_in_transaction())
asyncio.run(closed_twice())
asyncio.run(cancelled_begin())
asyncio.run(left_behind())
print("all as expected")
