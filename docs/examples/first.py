#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
import queryd

albums = [("Kind of Blue", 1959), ("Revolver", 1966), ("Dummy", 1994)]

with queryd.connect() as connection:
    connection.execute("CREATE TABLE IF NOT EXISTS album(title TEXT PRIMARY KEY, year INTEGER)")
    connection.executemany("INSERT OR REPLACE INTO album VALUES (?, ?)", albums)

older = "SELECT title, year FROM album WHERE year < :before ORDER BY year"
for title, year in connection.execute(older, {"before": 1990}):
    print(f"{title} ({year})")
