#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The package queryd for programs that were written for sqlite3: large rows, odd sequences, statements that need no transaction or
must not be in one. Exit status 0: all as expected."""
import queryd
from dbapi_case import Case, main

MIB = 1 << 20
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


if __name__ == "__main__":
    main()
