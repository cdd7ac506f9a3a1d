#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Cursors of the package queryd that are freed in another thread than their connection's. Exit status 0: all as expected."""
import asyncio
import gc
import threading
import time

import queryd
import queryd.aio
from dbapi_case import COUNT, Case, main

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
IDLE_LIMIT = 5  # seconds: transaction_idle_ms
SECONDS = 2  # before the mend each of these ended the process in three of five runs of that length
EXPECTED = [(i,) for i in range(1, 501)]


class TestFreed(Case):
    """By Python's garbage collector, which runs in any thread, and by the loop of asyncio."""

    def use(self, stop):
        """Makes cursors in cycles, which only the collector frees, and reads whole results between."""
        while time.monotonic() < stop:
            for _ in range(3):
                cursor = self.connection.execute(COUNT, [300000])
                self.assertEqual(cursor.fetchmany(10), EXPECTED[:10])
                cursor.itself = cursor
                del cursor
                self.assertEqual(self.connection.execute(COUNT, [500]).fetchall(), EXPECTED)
            self.connection.rollback()
            yield

    def run_with_collector(self, begin):
        stop = time.monotonic() + SECONDS

        def collect():
            while time.monotonic() < stop:
                gc.collect()
                time.sleep(0.0005)

        thread = threading.Thread(target=collect)
        thread.start()
        begin()
        for _ in self.use(stop):
            begin()
        thread.join()

    def test_collected_in_a_transaction(self):
        self.run_with_collector(self.connection.begin)

    def test_collected_outside_of_one(self):
        self.run_with_collector(lambda: None)

    def test_dropped_in_a_call(self):
        """While the call reads the rest of that very cursor, which it then frees."""
        for _ in range(20):
            self.connection.begin()
            kept = [self.connection.execute(COUNT, [300000])]
            kept[0].fetchmany(10)
            found = []
            thread = threading.Thread(target=lambda: found.extend(self.connection.execute(COUNT, [5])))
            thread.start()
            time.sleep(0.002)
            kept.clear()
            thread.join()
            self.assertEqual(found, EXPECTED[:5])
            self.connection.execute("INSERT INTO booze(name) VALUES('kept')")
            self.connection.rollback()

    def test_asyncio(self):
        """Tasks that share a transaction go on, although one of them drops its cursors."""
        asyncio.run(asyncio.wait_for(self.share(), 60))

    async def share(self):
        stop = time.monotonic() + SECONDS
        counts = [0, 0]

        async def drop(connection):
            while time.monotonic() < stop:
                cursor = await connection.execute(COUNT, [300000])
                del cursor
                counts[0] += 1

        async def read(connection):
            while time.monotonic() < stop:
                cursor = await connection.execute(COUNT, [500])
                self.assertEqual(await cursor.fetchall(), EXPECTED)
                counts[1] += 1

        async with await queryd.aio.connect() as connection:
            await connection.begin()
            await asyncio.gather(drop(connection), read(connection), read(connection))
            await connection.rollback()
        self.assertGreater(min(counts), 0)

    def test_endless_in_a_transaction(self):
        """The next call keeps what it can of the rest, and the transaction goes on."""
        self.connection.begin()
        cursor = self.connection.execute(ENDLESS)
        self.assertEqual(cursor.fetchmany(10), EXPECTED[:10])
        start = time.monotonic()
        self.connection.execute("INSERT INTO booze(name) VALUES('kept')")
        self.assertLess(time.monotonic() - start, IDLE_LIMIT)
        self.connection.commit()
        self.assertEqual(self.count(), 1)
        self.assertEqual(cursor.fetchmany(490), EXPECTED[10:])
        with self.assertRaises(queryd.OperationalError) as caught:
            while cursor.fetchmany(100000):
                pass
        self.assertEqual(caught.exception.code, queryd.ErrorCode.LIMIT_EXCEEDED)


if __name__ == "__main__":
    main()
