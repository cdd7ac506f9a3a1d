#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The package queryd for programs that were written for sqlite3: large rows, odd sequences, statements that need no transaction or
must not be in one. Exit status 0: all as expected."""
import sqlite3

import queryd
from dbapi_case import Case, main

MIB = 1 << 20
COUNTS = "SELECT last_insert_rowid(), changes(), total_changes()"
INSERT = "INSERT INTO booze(label) VALUES(?)"


class TestRows(Case):
    """executemany() with rows that take more than one message can."""

    def test_large_rows(self):
        """More than 64 MiB in less than 4,096 rows: no row is lost, none is there twice, and all have their values."""
        for autocommit in (False, True):
            self.connection.autocommit = autocommit
            rows = ([bytes([i]) * (5 * MIB)] for i in range(30))
            self.assertEqual(self.cursor.executemany(INSERT, rows).rowcount, 30)
            self.assertEqual(self.connection.in_transaction, not autocommit)
            self.cursor.execute("SELECT hex(substr(label, 1, 1)), length(label) FROM booze ORDER BY id")
            self.assertEqual(self.cursor.fetchall(), [(f"{i:02X}", 5 * MIB) for i in range(30)])
            self.cursor.execute("DELETE FROM booze")
            self.connection.commit()

    def test_row_that_is_too_large(self):
        self.connection.autocommit = True
        for n_before in (0, 3):
            rows = [[b"a"]] * n_before + [[bytes(65 * MIB)], [b"b"]]
            with self.assertRaisesRegex(queryd.DataError, "the limit of 67108864 bytes"):
                self.cursor.executemany(INSERT, rows)
            self.assertEqual((self.count(), self.connection.in_transaction), (0, False))
            self.assertEqual(self.cursor.executemany(INSERT, [[b"c"]]).rowcount, 1)
            self.cursor.execute("DELETE FROM booze")


class TestStatements(Case):
    """What begins a transaction, and what does not."""

    def test_without_a_transaction(self):
        """As with sqlite3, outside of one these begin none."""
        for text in ("VACUUM", "EXPLAIN DELETE FROM booze", "/* x */ explain query plan UPDATE booze SET price = 1"):
            self.cursor.execute(text)
            self.assertFalse(self.connection.in_transaction, text)
        self.cursor.execute("INSERT INTO booze(name) VALUES('a')")
        with self.assertRaisesRegex(queryd.NotSupportedError, "outside of a transaction"):
            self.cursor.execute("VACUUM")
        self.connection.commit()
        self.assertEqual(self.count(), 1)

    def test_keys_off(self):
        """SQLite's documented order, in both modes: OFF holds for what comes, and is the connection's alone."""
        self.connection.execute("CREATE TABLE IF NOT EXISTS glass(booze INTEGER REFERENCES booze(id))")
        self.connection.commit()
        insert = "INSERT INTO glass VALUES(7)"
        for autocommit in (False, True):
            self.connection.autocommit = autocommit
            for text in ("PRAGMA foreign_keys=OFF", "pragma main.legacy_alter_table ( 1 );"):
                self.cursor.execute(text)
                self.assertEqual((self.connection.in_transaction, self.cursor.description), (False, None))
            self.assertEqual(self.cursor.execute("PRAGMA foreign_keys").fetchall(), [(0,)])
            self.assertEqual(self.cursor.description[0][0], "foreign_keys")
            self.cursor.execute("BEGIN")
            self.assertEqual(self.cursor.execute("PRAGMA foreign_keys").fetchall(), [(0,)])
            self.assertEqual(self.cursor.execute(insert).rowcount, 1)
            self.cursor.execute("COMMIT")
            self.assertEqual(self.cursor.execute(insert).rowcount, 1)
            self.assertEqual(self.cursor.executemany("INSERT INTO glass VALUES(?)", [[8], [9]]).rowcount, 2)
            self.assertEqual(self.connection.in_transaction, not autocommit)
            self.connection.commit()
            self.cursor.execute("VACUUM")
            with queryd.connect() as other, self.assertRaises(queryd.IntegrityError):
                other.execute(insert)
                other.commit()
            self.cursor.execute("PRAGMA foreign_keys=ON")
            self.assertEqual(self.cursor.execute("PRAGMA foreign_keys").fetchall(), [(1,)])
            with self.assertRaises(queryd.IntegrityError):
                self.cursor.execute(insert)
            self.connection.rollback()
            self.cursor.execute("PRAGMA legacy_alter_table=OFF")
            self.assertEqual(self.cursor.execute("SELECT count(*) FROM glass").fetchone()[0], 4)
            self.cursor.execute("DELETE FROM glass")
            self.connection.commit()
        self.cursor.execute("DROP TABLE glass")

    def test_savepoint_in_autocommit_mode(self):
        """The message names nothing that Python does not have."""
        self.connection.autocommit = True
        for text in ("SAVEPOINT s", "RELEASE s", "ROLLBACK TO s"):
            with self.assertRaisesRegex(queryd.OperationalError, "in a transaction only: begin one before it$"):
                self.cursor.execute(text)

    def test_length_that_is_wrong(self):
        """No memory is taken for it."""
        class Long:
            """A sequence of two values."""
            def __len__(self):
                return 10 ** 12

            def __getitem__(self, index):
                return (1, 2)[index]

        with self.assertRaisesRegex(queryd.ProgrammingError, "2 parameters, 1000000000000 values"):
            self.cursor.execute("SELECT ?, ?", Long())
        self.assertEqual(self.cursor.execute("SELECT ?, ?", iter((1, 2))).fetchall(), [(1, 2)])


class TestCounts(Case):
    """last_insert_rowid(), changes() and total_changes() in SQL, whichever channels the statements have had."""

    TABLE = "CREATE TABLE counted(id INTEGER PRIMARY KEY, t UNIQUE)"
    TEXTS = ("DELETE FROM counted", "INSERT INTO counted VALUES(1, 'x')", "INSERT INTO counted VALUES(2, 'x')",
             "INSERT INTO counted VALUES(5, 'a'), (6, 'b')", "INSERT INTO counted VALUES(7, 'c'), (8, 'x')",
             "INSERT INTO counted(t) VALUES('x') ON CONFLICT DO NOTHING", "INSERT INTO counted(t) VALUES('d'), ('e') RETURNING id",
             "INSERT INTO counted VALUES(changes() + 50, last_insert_rowid())", "UPDATE counted SET t = 'x'", "SELECT 1",
             "DELETE FROM counted WHERE id > 5")

    def tell(self, connection, commits):
        connection.execute(self.TABLE)
        for text in self.TEXTS:
            try:
                cursor = connection.execute(text)
                if cursor.description is not None:
                    cursor.fetchall()
            except (sqlite3.IntegrityError, queryd.IntegrityError):
                pass
            yield text, connection.execute(COUNTS).fetchone()
            if commits:
                connection.commit()
                yield "COMMIT", connection.execute(COUNTS).fetchone()

    def test_as_sqlite3(self):
        for autocommit in (True, False):
            oracle = sqlite3.connect(":memory:", isolation_level=None if autocommit else "")
            with queryd.connect(autocommit=autocommit) as connection, queryd.connect(autocommit=True) as other:
                for expected, found in zip(self.tell(oracle, not autocommit), self.tell(connection, not autocommit), strict=True):
                    self.assertEqual(found, expected, autocommit)
                self.assertEqual(other.execute(COUNTS).fetchone(), (0, 0, 0))
                other.execute("DROP TABLE counted")
            oracle.close()


if __name__ == "__main__":
    main()
