#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Queries of TPC-H and star joins: tpch.py both DATABASE SCALE. For tests/bench/group-tpch.c.

The daemon's tables are read by both: by the package queryd, and by the module sqlite3 with the defaults of SQLite. Each query runs
in turns. A machine's speed can change by half within seconds: times of different seconds say little about the two.
"""
import glob
import math
import os
import sqlite3
import statistics
import sys
import time

from tpch_data import SCHEMA, Tables

BUILD = os.environ.get("QUERYD_BUILD_DIR") or os.path.join(os.environ["QUERYD_SOURCE_ROOT"], "build")
HERE = os.path.dirname(os.path.abspath(__file__))
ORDERS_AT_ONCE = 20_000
N_PAIRS = 5


def connect():
    sys.path.insert(0, os.path.join(BUILD, "client-lib/python"))
    try:
        import queryd
    except ImportError as error:
        sys.exit(f"the package queryd was not built: {error}")
    return queryd.connect()


def insert(connection, table, rows):
    rows = list(rows)
    connection.executemany(f"INSERT INTO {table} VALUES({', '.join('?' * len(rows[0]))})", rows)
    connection.commit()


def fill(connection, scale):
    """Fills the tables once, and gathers the statistics that a planner wants."""
    tables = Tables(scale)
    if connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'tpch_is_complete'").fetchone()[0] != 0:
        return
    for statement in SCHEMA.split(";"):
        connection.execute(statement)
    connection.commit()
    for table in ("region", "nation", "supplier", "customer", "part", "partsupp"):
        insert(connection, table, getattr(tables, table)())
    orders, lines = [], []
    for order, of_order in tables.orders_and_lines():
        orders.append(order)
        lines.extend(of_order)
        if len(orders) == ORDERS_AT_ONCE:
            insert(connection, "orders", orders)
            insert(connection, "lineitem", lines)
            orders, lines = [], []
    if orders:
        insert(connection, "orders", orders)
        insert(connection, "lineitem", lines)
    connection.execute("ANALYZE")
    connection.execute("CREATE TABLE tpch_is_complete(scale REAL)")
    connection.commit()


def normalise(value):
    """Sums of floating-point numbers depend on the order of rows."""
    return f"{value:.6g}" if isinstance(value, float) else value


def run(connection, text):
    start = time.perf_counter()
    rows = connection.execute(text).fetchall()
    msec = (time.perf_counter() - start) * 1e3
    return msec, [tuple(map(normalise, row)) for row in rows]


def measure_pairs(daemon, sqlite, name, text):
    """Pairs of times; who is first changes from pair to pair."""
    for i in range(N_PAIRS):
        if i % 2 == 0:
            (own, rows), (other, expected) = run(daemon, text), run(sqlite, text)
        else:
            (other, expected), (own, rows) = run(sqlite, text), run(daemon, text)
        if rows != expected:
            print(f"{name}: their rows differ")  # no metric: the laboratory fails
            sys.exit()
        yield own, other


def say_mean(name, ratios):
    print(f"{name}.ratio\tx\t{math.exp(sum(map(math.log, ratios)) / len(ratios)):.4f}")


def measure(daemon, sqlite):
    tpch, star = [], []
    for path in sorted(glob.glob(os.path.join(HERE, "tpch", "*.sql"))):
        name = os.path.basename(path)[:-len(".sql")]
        with open(path, encoding="utf-8") as file:
            pairs = list(measure_pairs(daemon, sqlite, name, file.read()))
        for reader, times in zip(("queryd", "sqlite3"), zip(*pairs)):
            print(f"{name}.{reader}\tms\t{statistics.median(times):.3f}")
        ratio = statistics.median(own / other for own, other in pairs)
        print(f"{name}.ratio\tx\t{ratio:.4f}")
        (star if name.startswith("star") else tpch).append(ratio)
    say_mean("mean", tpch)
    say_mean("star-mean", star)


def main():
    database, scale = sys.argv[2], float(sys.argv[3])
    daemon = connect()
    fill(daemon, scale)
    measure(daemon, sqlite3.connect(f"file:{database}?mode=ro", uri=True))


main()
