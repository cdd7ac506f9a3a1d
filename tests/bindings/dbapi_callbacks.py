#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The package queryd while it calls the program: adapters, mappings, generators, row factories. Exit status 0: all as expected."""
import datetime

import queryd
from dbapi_case import COUNT, Case, main


def use_at(n, at, use, what):
    """Rows of numbers; before number @at it calls @use."""
    for i in range(n):
        if i == at:
            use(what)
        yield [i]


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

    def test_recursive_use(self):
        """Of a cursor by what gives its values: refused, as by sqlite3, and nothing is written."""
        insert = "INSERT INTO booze(id) VALUES(?)"

        class Value:
            """It uses the cursor when it is bound."""
            def __index__(self):
                use(cursor)
                return 3

        cursor = self.connection.cursor()
        self.connection.autocommit = True
        for use in (lambda cursor: cursor.execute("SELECT 1"), lambda cursor: cursor.executemany(insert, [[2]]),
                    lambda cursor: cursor.execute("COMMIT"), queryd.Cursor.close):
            for n, at in ((10, 5), (9000, 5), (9000, 6000)):
                with self.assertRaisesRegex(queryd.ProgrammingError, "recursive use of a cursor"):
                    cursor.executemany(insert, use_at(n, at, use, cursor))
            with self.assertRaisesRegex(queryd.ProgrammingError, "recursive use of a cursor"):
                cursor.execute(insert, [Value()])
            with self.assertRaisesRegex(queryd.ProgrammingError, "recursive use of a cursor"):
                cursor.executemany(insert, [[1], [Value()]])
            self.assertEqual((self.count(), self.connection.in_transaction), (0, False))
        self.assertEqual(cursor.executemany(insert, [[1], [2]]).rowcount, 2)

    def test_use_of_other_cursors(self):
        """By what gives the values: they work."""
        uses = [lambda connection: connection.execute(COUNT, [9]).fetchall(), lambda connection: self.count(),
                lambda connection: next(open_cursor), lambda connection: connection.execute("UPDATE booze SET name = NULL"),
                lambda connection: connection.executemany("DELETE FROM booze WHERE id = ?", [[-1]] * 5000)]
        for autocommit in (True, False):
            connection = queryd.connect(autocommit=autocommit)
            open_cursor = connection.execute(COUNT, [10000])
            for use in uses:
                for n, at in ((10, 5), (9000, 5), (9000, 6000)):
                    rows = use_at(n, at, use, connection)
                    self.assertEqual(connection.executemany("INSERT INTO booze(id) VALUES(?)", rows).rowcount, n)
                    self.assertEqual((connection.in_transaction, self.count()), (not autocommit, n if autocommit else 0))
                    connection.commit()
                    connection.execute("DELETE FROM booze")
                    connection.commit()
            connection.close()

    def test_rows_that_end_the_transaction(self):
        """They cannot, nor begin one or close the connection: all or none of them are written."""
        def use_with(connection):
            with connection:
                pass

        ends = [queryd.Connection.commit, queryd.Connection.rollback, queryd.Connection.close, queryd.Connection.begin, use_with,
                lambda connection: setattr(connection, "autocommit", True), lambda connection: connection.execute("COMMIT"),
                lambda connection: setattr(connection, "autocommit", False), lambda connection: connection.execute("BEGIN")]
        for autocommit in (True, False):
            connection = queryd.connect(autocommit=autocommit)
            for end in ends:
                for n, at in ((10, 5), (9000, 6000)):
                    with self.assertRaisesRegex(queryd.ProgrammingError, "a statement is being executed"):
                        connection.executemany("INSERT INTO booze(id) VALUES(?)", use_at(n, at, end, connection))
                    self.assertEqual((connection.in_transaction, self.count()), (not autocommit, 0))
                    connection.rollback()
            rows = [[i] for i in range(9000)]
            self.assertEqual(connection.executemany("INSERT INTO booze(id) VALUES(?)", rows).rowcount, 9000)
            connection.rollback()
            connection.close()
            self.assertEqual(self.count(), 9000 if autocommit else 0)
            self.cursor.execute("DELETE FROM booze")
            self.connection.commit()


main()
