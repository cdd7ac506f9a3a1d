#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The package queryd while it calls the program: adapters, mappings, generators, row factories. Exit status 0: all as expected."""
import datetime

import queryd
from dbapi_case import Case, main


class TestValues(Case):
    """What gives values, and what makes rows."""

    def test_changing_values(self):
        """What a value's own method does to the list changes nothing of the call."""
        class Clearing(datetime.date):
            """It clears the list that it is in."""
            def isoformat(self):
                values.clear()
                return super().isoformat()

        values = [Clearing(2026, 2, 28), "a" * 3, "b" * 3]
        self.assertEqual(self.connection.execute("SELECT ?, ?, ?", values).fetchone(), ("2026-02-28", "aaa", "bbb"))
        self.assertEqual(values, [])

    def test_mappings(self):
        """What their methods raise is what the call raises; they need no length."""
        class Mapping:
            """The least that is one."""
            def __init__(self, names, fails=()):
                self.names, self.fails = names, fails

            def keys(self):
                return self.names if "keys" not in self.fails else 1 / 0

            def __getitem__(self, key):
                return ord(key) if "value" not in self.fails else 1 / 0

        class Endless(dict):
            """Its length cannot be had."""
            def __len__(self):
                raise KeyError("length")

        query = "SELECT :a, :b"
        for values in (Mapping("ab"), Endless(a=97, b=98)):
            self.assertEqual(self.cursor.execute(query, values).fetchone(), (97, 98))
        self.assertEqual(self.connection.executemany("INSERT INTO booze(id) VALUES(:a)", [Mapping("a"), {"a": 2}]).rowcount, 2)
        for fails in ("keys", "value"):
            with self.assertRaises(ZeroDivisionError):
                self.cursor.execute(query, Mapping("ab", [fails]))
        with self.assertRaises(queryd.ProgrammingError):
            self.cursor.execute(query, Mapping("abc"))
        with self.assertRaises(TypeError):
            self.cursor.execute(query, Mapping(7))

    def test_rows_that_are_none(self):
        """A row that row_factory makes None of ends no loop."""
        self.connection.row_factory = lambda cursor, row: row[0]
        query = "SELECT NULL UNION ALL SELECT 2 UNION ALL SELECT NULL"
        expected = [None, 2, None]
        self.assertEqual(list(self.cursor.execute(query)), [(None,), (2,), (None,)])
        self.assertEqual(list(self.connection.execute(query)), expected)
        self.assertEqual(self.connection.execute(query).fetchall(), expected)
        self.assertEqual(self.connection.execute(query).fetchmany(5), expected)
        cursor = self.connection.execute(query)
        self.assertEqual(([cursor.fetchone() for _ in range(3)], next(cursor, "end")), (expected, "end"))
        cursor.execute("INSERT INTO booze(name) VALUES(NULL), ('b'), (NULL) RETURNING name")
        self.assertEqual(list(cursor), [None, "b", None])


class TestTransaction(Case):
    """What gives values cannot end the transaction that they are for."""

    def test_value_that_ends_it(self):
        """It ends neither the process nor does the statement write."""
        class Ending:
            """It rolls back when it is bound."""
            def __index__(self):
                connection.rollback()
                return 3

        connection = queryd.connect()
        for _ in range(20):
            with self.assertRaises(queryd.Error):
                connection.execute("INSERT INTO booze(id) VALUES(?)", [Ending()])
        connection.close()
        self.assertEqual(self.count(), 0)

    def test_rows_that_use_the_cursor(self):
        insert = "INSERT INTO booze(name) VALUES(?)"

        def rows():
            for i in range(3):
                self.cursor.execute(insert, [f"within {i}"])
                yield [f"given {i}"]

        self.assertEqual(self.cursor.executemany(insert, rows()).rowcount, 3)
        self.connection.commit()
        self.assertEqual(self.count(), 6)


main()
