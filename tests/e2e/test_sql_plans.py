# SPDX-License-Identifier: LGPL-2.1-or-later
"""A client's SQL is compiled as SQLite compiles it: its programs are the same, Bloom filters of star joins among them."""
import glob
import os
import sqlite3
import sys

from harness import ROOT

BENCH = os.path.join(ROOT, "tests/bench")
sys.path.insert(0, BENCH)
from tpch_data import SCHEMA  # noqa: E402

# rows and statistics as they would be at a larger scale: a planner sees no more
STATISTICS = [("lineitem", "lineitem_part", "600000 30 8"), ("lineitem", "sqlite_autoindex_lineitem_1", "600000 4 1"),
              ("orders", "orders_customer", "150000 15"), ("customer", "customer_nation", "15000 600"),
              ("supplier", "supplier_nation", "1000 40"), ("partsupp", "sqlite_autoindex_partsupp_1", "80000 4 1"),
              ("partsupp", "partsupp_supplier", "80000 80"), ("part", None, "20000"), ("nation", None, "25"), ("region", None, "5")]


def explain(execute, text):
    """Opcodes with what they work on, without pages of the file."""
    return [(row[1], row[2], None if row[1] in ("OpenRead", "ReopenIdx") else row[3]) for row in execute("EXPLAIN " + text)]


def test_programs_are_those_of_sqlite(bus):
    own = sqlite3.connect(":memory:")
    statements = SCHEMA.split(";") + ["ANALYZE"]
    for statement in statements:
        own.execute(statement)
        bus.update(statement)
    for row in STATISTICS:
        own.execute("INSERT INTO sqlite_stat1 VALUES(?, ?, ?)", row)
        bus.update("INSERT INTO sqlite_stat1 VALUES(?, ?, ?)", row)
    own.execute("ANALYZE sqlite_schema")
    bus.update("ANALYZE sqlite_schema")
    n_filters = 0
    paths = sorted(glob.glob(os.path.join(BENCH, "tpch", "*.sql")))
    assert len(paths) == 26
    for path in paths:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        expected = explain(lambda sql: own.execute(sql).fetchall(), text)
        assert explain(lambda sql: bus.query(sql), text) == expected, path
        n_filters += sum(opcode == "FilterAdd" for opcode, *_ in expected)
    assert n_filters > 5
