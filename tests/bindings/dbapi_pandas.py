#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""pandas reads from and writes to a store by the package queryd. Exit status 0: all as expected."""
import warnings

import pandas

import queryd

warnings.filterwarnings("ignore", message="pandas only supports")  # it says so of all but sqlite3
with queryd.connect() as connection:
    connection.execute("CREATE TABLE city(name TEXT, people INTEGER)")
    frame = pandas.DataFrame({"name": ["Oslo", "Rome"], "people": [717710, 2746984]})
    insert = "INSERT INTO city VALUES(?, ?)"
    connection.executemany(insert, frame.itertuples(index=False, name=None))
read = pandas.read_sql("SELECT name, people FROM city ORDER BY people", connection)
assert read.equals(frame), read
pieces = list(pandas.read_sql("SELECT people FROM city WHERE people > ?", connection, params=[1], chunksize=1))
assert [int(piece["people"].iloc[0]) for piece in pieces] == [717710, 2746984], pieces
print("all as expected")
