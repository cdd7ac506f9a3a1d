#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Rows by one module: python_rows.py queryd|sqlite3 DATABASE ROWS_READ ROWS_WRITTEN. For tests/bench/group-python.c.

The daemon's table is read by both; sqlite3 writes into a file of its own beside it.
"""
import os
import sqlite3
import sys
import time

BUILD = os.environ.get("QUERYD_BUILD_DIR") or os.path.join(os.environ["QUERYD_SOURCE_ROOT"], "build")
TABLE = "CREATE TABLE IF NOT EXISTS {}(a INTEGER PRIMARY KEY, b REAL, c TEXT, d INTEGER, e TEXT)"
FILL = ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) INSERT INTO python_read "
        "SELECT i, i * 1.5, 'text ' || i, i % 7, CASE WHEN i % 10 THEN 'a somewhat longer text ' || i END FROM n")


def connect():
    sys.path.insert(0, os.path.join(BUILD, "client-lib/python"))
    try:
        import queryd
    except ImportError as error:
        sys.exit(f"the package queryd was not built: {error}")
    return queryd.connect()


def fill(connection, n_rows):
    connection.execute(TABLE.format("python_read"))
    if connection.execute("SELECT count(*) FROM python_read").fetchone()[0] == 0:
        connection.execute(FILL.format(n_rows))
    connection.commit()


def measure(connection, n_written):
    start = time.perf_counter()
    rows = connection.execute("SELECT * FROM python_read").fetchall()
    print(f"fetchall\tms\t{(time.perf_counter() - start) * 1e3:.3f}")
    print(f"rows\tchecksum\t{len(rows) + sum(row[0] + row[3] + len(row[2]) + len(row[4] or '') for row in rows)}")
    del rows
    connection.execute(TABLE.format("python_written"))
    connection.execute("DELETE FROM python_written")
    connection.commit()
    rows = [(i, i * 0.5, str(i), i % 3, None) for i in range(n_written)]
    start = time.perf_counter()
    connection.executemany("INSERT INTO python_written VALUES(?, ?, ?, ?, ?)", rows)
    connection.commit()
    print(f"executemany\tms\t{(time.perf_counter() - start) * 1e3:.3f}")


def main():
    module, database, n_read, n_written = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    daemon = connect()
    fill(daemon, n_read)
    if module == "queryd":
        measure(daemon, n_written)
        return
    own = sqlite3.connect(os.path.join(os.path.dirname(database), "python-sqlite3.db"))
    own.execute("PRAGMA journal_mode = WAL")
    own.execute("ATTACH ? AS store", [database])
    measure(own, n_written)


main()
