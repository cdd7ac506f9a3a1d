#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""pandas, polars and DuckDB use the driver for ADBC. Argument: the driver. Exit 0: all as expected."""
import sys

import duckdb
import pandas
import polars
import pyarrow
from adbc_driver_manager import dbapi

DRIVER = sys.argv[1]
QUERY = "SELECT name, people, area FROM city ORDER BY people"
COUNT = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000000) SELECT i FROM n"


def use_pandas(connection):
    frame = pandas.DataFrame({"name": ["Oslo", None, "Rome"], "people": [717710, 1000000, 2746984], "area": [480.75, None, 1285.0]})
    assert frame.to_sql("city", connection, index=False, if_exists="replace") in (3, None)
    read = pandas.read_sql(QUERY, connection)
    assert read["people"].tolist() == [717710, 1000000, 2746984] and read["area"].isna().tolist() == [False, True, False], read
    assert read["name"].isna().tolist() == [False, True, False], read
    frame.to_sql("city", connection, index=False, if_exists="append")
    assert pandas.read_sql("SELECT count(*) AS n FROM city", connection)["n"].tolist() == [6]
    frame.to_sql("city", connection, index=False, if_exists="replace")
    assert pandas.read_sql("SELECT count(*) AS n FROM city", connection)["n"].tolist() == [3]


def use_polars(connection):
    read = polars.read_database(QUERY, connection)
    assert read.schema == {"name": polars.String, "people": polars.Int64, "area": polars.Float64}, read.schema
    assert read["name"].to_list() == ["Oslo", None, "Rome"], read
    pieces = list(polars.read_database(COUNT, connection, iter_batches=True, batch_size=100000))
    assert sum(len(piece) for piece in pieces) == 3000000 and len(pieces) > 1
    assert read.write_database("town", connection, if_table_exists="replace", engine="adbc") == 3
    assert polars.read_database("SELECT * FROM town ORDER BY people", connection).equals(read)


def use_duckdb(connection):
    with connection.cursor() as cursor:
        cursor.execute(QUERY)
        rows = cursor.fetch_record_batch()
        found = duckdb.sql("SELECT sum(people), count(name) FROM rows").fetchall()
    assert found == [(4464694, 2)], found


def use_manifest():
    with dbapi.connect(driver="queryd", autocommit=True) as connection, connection.cursor() as cursor:
        assert cursor.execute("SELECT 1").fetchall() == [(1,)]
    with dbapi.connect("queryd:///", autocommit=True) as connection, connection.cursor() as cursor:
        assert cursor.execute("SELECT 1").fetchall() == [(1,)]


for is_autocommit in (True, False):
    with dbapi.connect(driver=DRIVER, db_kwargs={"uri": "queryd:///"}, autocommit=is_autocommit) as opened:
        use_pandas(opened)
        use_polars(opened)
        use_duckdb(opened)
        if not is_autocommit:
            opened.commit()
use_manifest()
print(f"pandas {pandas.__version__}, polars {polars.__version__}, duckdb {duckdb.__version__}, pyarrow {pyarrow.__version__}")
print("all as expected")
