# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the programs that test the package queryd share."""
import io
import sys
import unittest

import queryd

COUNT = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT i FROM n"


class Case(unittest.TestCase):
    """A connection to an empty table."""

    def setUp(self):
        self.connection = queryd.connect()
        with self.connection:
            self.connection.execute("DROP TABLE IF EXISTS booze")
            self.connection.execute("CREATE TABLE booze("
                                    "id INTEGER PRIMARY KEY, name TEXT UNIQUE, price REAL, since DATE, label BLOB)")
        self.cursor = self.connection.cursor()

    def tearDown(self):
        self.connection.close()

    def count(self):
        """As another client sees it."""
        with queryd.connect() as other:
            return other.execute("SELECT count(*) FROM booze").fetchone()[0]


def main():
    report = io.StringIO()
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])
    result = unittest.TextTestRunner(report).run(suite)
    if not result.wasSuccessful() or result.testsRun == 0:
        sys.exit(report.getvalue())
    print("all as expected")
