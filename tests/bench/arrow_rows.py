#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whole tables as data frames: arrow_rows.py CASE DATABASE ROWS. For tests/bench/group-arrow.c.

Each case is a process of its own; what it imports and opens does not count. ROWS is how many an ingest writes.
"""
import os
import sqlite3
import subprocess
import sys
import time

import duckdb
import pandas
import polars
import pyarrow
import pyarrow.csv
from adbc_driver_manager import dbapi

BUILD = os.environ.get("QUERYD_BUILD_DIR") or os.path.join(os.environ["QUERYD_SOURCE_ROOT"], "build")
DRIVER = os.path.join(BUILD, "client-lib/adbc/libadbc_driver_queryd.so")
QUERY = "SELECT * FROM founding"


def connect():
    return dbapi.connect(driver=DRIVER, db_kwargs={"uri": "queryd:///"}, autocommit=True)


def report(metric, start, n_rows):
    print(f"{metric}\tms\t{(time.perf_counter() - start) * 1e3:.3f}")
    print(f"{metric}.rows\tchecksum\t{n_rows}")


def read_by_adbc():
    with connect() as connection:
        start = time.perf_counter()
        frame = pandas.read_sql(QUERY, connection)
        report("pandas", start, len(frame))
        del frame
        start = time.perf_counter()
        frame = polars.read_database(QUERY, connection)
        report("polars", start, len(frame))
        del frame
        with connection.cursor() as cursor:
            start = time.perf_counter()
            table = cursor.execute(QUERY).fetch_arrow_table()
            report("arrow", start, table.num_rows)


def read_by_sqlite3(database):
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    start = time.perf_counter()
    cursor = connection.execute(QUERY)
    frame = pandas.DataFrame(cursor.fetchall(), columns=[column[0] for column in cursor.description])
    report("pandas", start, len(frame))
    del frame
    start = time.perf_counter()
    cursor = connection.execute(QUERY)
    frame = polars.DataFrame(cursor.fetchall(), schema=[column[0] for column in cursor.description], orient="row")
    report("polars", start, len(frame))


def open_duckdb(database):
    """A file of its own with the same table."""
    path = os.path.join(os.path.dirname(database), "arrow-duckdb.db")
    if not os.path.exists(path):
        with connect() as queryd, queryd.cursor() as cursor, duckdb.connect(path) as made:
            rows = cursor.execute(QUERY).fetch_arrow_table()
            made.execute("CREATE TABLE founding AS SELECT * FROM rows")
            assert rows.num_rows > 0
    return duckdb.connect(path, read_only=True)


def read_by_duckdb(database):
    with open_duckdb(database) as connection:
        start = time.perf_counter()
        table = connection.execute(QUERY).to_arrow_table()
        report("arrow", start, table.num_rows)


def ingested(n_rows):
    return pyarrow.table({
        "a": pyarrow.array(range(n_rows), pyarrow.int64()),
        "b": pyarrow.array([i * 1.5 for i in range(n_rows)], pyarrow.float64()),
        "c": [f"text {i}" for i in range(n_rows)],
        "d": pyarrow.array([i % 7 for i in range(n_rows)], pyarrow.int32()),
        "e": [f"a somewhat longer text {i}" if i % 10 else None for i in range(n_rows)],
    })


def ingest(n_rows):
    data = ingested(n_rows)
    with connect() as connection, connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS ingested")
        start = time.perf_counter()
        cursor.adbc_ingest("ingested", data)
        report("ingest", start, n_rows)


def import_csv(database, n_rows):
    path = os.path.join(os.path.dirname(database), "arrow-import.csv")
    with connect() as connection, connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS imported")
        cursor.execute("CREATE TABLE imported(a INTEGER, b REAL, c TEXT, d INTEGER, e TEXT)")
    if not os.path.exists(path):
        pyarrow.csv.write_csv(ingested(n_rows), path)
    start = time.perf_counter()
    subprocess.run([os.path.join(BUILD, "client-lib/queryctl/queryctl"), "import", "--table", "imported", path], check=True,
                   stdout=subprocess.DEVNULL)
    report("ingest", start, n_rows)


def main():
    case, database, n_rows = sys.argv[1], sys.argv[2], int(sys.argv[3])
    if case == "ADBC":
        read_by_adbc()
        ingest(n_rows)
    elif case == "sqlite3":
        read_by_sqlite3(database)
    elif case == "DuckDB":
        read_by_duckdb(database)
    else:
        import_csv(database, n_rows)


main()
