#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""queryd.aio against the real daemon. Exit status 0: all as expected."""
import asyncio

import queryd
import queryd.aio

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


async def side_by_side():
    """The loop goes on while statements run; tasks share a connection."""
    connections = [await queryd.aio.connect() for _ in range(4)]
    texts = [f"SELECT {i}" for i in range(40)]
    found = await asyncio.gather(*(connections[i % 4].execute(text) for i, text in enumerate(texts)))
    assert [(await cursor.fetchone())[0] for cursor in found] == list(range(40))
    for connection in connections:
        await connection.close()


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
        await asyncio.sleep(0.05)
        assert (await (await connection.execute("SELECT count(*) FROM many")).fetchone())[0] == found
        n_undone += found == 0
        await connection.execute("DELETE FROM many")
    assert n_undone > 0
    await connection.execute("DROP TABLE many")
    await connection.close()


asyncio.run(rows())
asyncio.run(side_by_side())
asyncio.run(cancelled())
asyncio.run(cancelled_update())
print("all as expected")
