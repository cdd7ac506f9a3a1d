# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pragmas that hold for a connection, in all the ways that SQLite lets them be written: what sqlite3 says of each is so here."""
import sqlite3

import queryd
from dbapi_case import Case, main

NAMES = ("foreign_keys", "legacy_alter_table", "recursive_triggers", "defer_foreign_keys")
# {0}: the name, {1}: the value
WAYS = ("PRAGMA {0}={1}; -- again", "-- c\nPRAGMA {0} = {1}", "/* ; */ PRAGMA {0}={1} ;", "PRAGMA {0} /* = */ = {1}",
        "pragma\"{0}\"={1}", "PRAGMA [{0}] = {1}", "PRAGMA `{0}`({1})", "PRAGMA '{0}'={1}", "PRAGMA main.{0}={1}",
        "PRAGMA temp.{0}={1}", "PRAGMA \"main\" . \"{0}\" ( {1} );", "PRAGMA {0} = '{1}'", "PRAGMA {0}(\"{1}\")",
        "PRAGMA {0}=[{1}]")
VALUES = ("ON", "off", "Yes", "no", "true", "FALSE", "1", "0", "2")
OTHER_VALUES = ("0x1", "'0X100'", "256", "257", "4294967297", "+1", "-1", "+ 0", "1.5", "0.5", "maybe")
IS_SET = "SELECT {0} FROM pragma_{0}"


class SettingsTest(Case):
    """One that is not taken for a setting would be a query of the daemon, which changes nothing."""

    def setUp(self):
        super().setUp()
        self.connection.execute("CREATE TABLE IF NOT EXISTS glass(booze INTEGER REFERENCES booze)")
        self.connection.execute("CREATE TABLE IF NOT EXISTS lost(booze INTEGER REFERENCES gone)")
        self.connection.execute("DELETE FROM glass")
        self.connection.commit()

    def check_way(self, oracle, name, text):
        asking = f"PRAGMA \"{name}\" -- now"
        for start in (0, 1):
            for each in (oracle, self.connection):
                each.execute(f"PRAGMA {name}={start}")
            oracle.execute(text)
            self.cursor.execute(text)
            self.assertEqual(self.cursor.execute(asking).fetchall(), oracle.execute(asking).fetchall(), (start, text))
            self.assertFalse(self.connection.in_transaction)

    def test_ways(self):
        """From either value, as SQLite has it."""
        oracle = sqlite3.connect(":memory:", isolation_level=None)
        for autocommit in (False, True):
            self.connection.autocommit = autocommit
            for way in WAYS:
                for value in VALUES:
                    self.check_way(oracle, "foreign_keys", way.format("foreign_keys", value))
            for name in NAMES:
                for text in [f"PRAGMA {name}={value}" for value in OTHER_VALUES] + [way.format(name, "ON") for way in WAYS]:
                    self.check_way(oracle, name, text)
        oracle.close()

    def test_other_texts(self):
        """They are for the daemon."""
        self.connection.execute("PRAGMA foreign_keys=OFF")
        for text in ("PRAGMA foreign_keys ON", "PRAGMA foreign_keys=ON OFF", "PRAGMA foreign_keys=", "PRAGMA other.foreign_keys=ON",
                     "\"PRAGMA\" foreign_keys=ON", "PRAGMA foreign_keys=(ON)", "PRAGMA foreign_keys=;ON"):
            with self.assertRaises(queryd.Error, msg=text):
                self.connection.execute(text)
        self.assertEqual(self.connection.execute("SELECT 'PRAGMA foreign_keys=ON'").fetchone(), ("PRAGMA foreign_keys=ON",))
        self.assertEqual(self.connection.execute("PRAGMA foreign_keys").fetchone(), (0,))

    def test_checks_again(self):
        """No row without its parent is committed."""
        for way in WAYS + (";; PRAGMA {0}={1} ;;",):
            self.connection.execute("PRAGMA foreign_keys=OFF")
            self.connection.execute(way.format("foreign_keys", "ON"))
            with self.assertRaises(queryd.IntegrityError, msg=way):
                self.connection.execute("INSERT INTO glass VALUES(7)")
            self.connection.rollback()

    def test_tables_of_pragmas(self):
        """They tell what holds, and end neither a transaction nor the deferring of keys."""
        for autocommit in (False, True):
            self.connection.autocommit = autocommit
            for name in NAMES:
                before = self.connection.execute(IS_SET.format(name)).fetchone()[0]
                self.connection.execute(f"PRAGMA {name}={1 - before}")
                for _ in range(2):
                    self.assertEqual(self.connection.execute(IS_SET.format(name)).fetchall(), [(1 - before,)])
                    self.assertFalse(self.connection.in_transaction)
                self.connection.execute(f"PRAGMA {name}={before}")
                self.assertEqual(self.connection.execute(IS_SET.format(name)).fetchall(), [(before,)])

    def test_deferring(self):
        """It holds until the next transaction has ended, whatever is asked before."""
        for text in ("SELECT 1", "PRAGMA defer_foreign_keys", "PRAGMA user_version", IS_SET.format("defer_foreign_keys")):
            self.connection.execute("PRAGMA defer_foreign_keys=ON")
            self.connection.execute(text).fetchall()
            self.connection.execute("INSERT INTO glass VALUES(8)")
            self.connection.execute("INSERT INTO booze(id) VALUES(8)")
            self.connection.commit()
            with self.assertRaises(queryd.IntegrityError):
                self.connection.execute("INSERT INTO glass VALUES(9)")
            self.connection.rollback()
            self.connection.execute("DELETE FROM glass")
            self.connection.execute("DELETE FROM booze")
            self.connection.commit()

    def test_compiling(self):
        """Without keys no table that they name is needed. Nothing stays open of a statement that does not compile."""
        for autocommit in (False, True):
            self.connection.autocommit = autocommit
            self.connection.execute("PRAGMA foreign_keys=OFF")
            self.assertEqual(self.connection.execute("INSERT INTO lost VALUES(1)").rowcount, 1)
            self.assertEqual(self.connection.executemany("INSERT INTO lost VALUES(?)", [[2], [3]]).rowcount, 2)
            self.connection.commit()
            self.connection.execute("PRAGMA foreign_keys=ON")
            with self.assertRaisesRegex(queryd.Error, "no such table: main.gone"):
                self.connection.execute("INSERT INTO lost VALUES(4)")
            self.assertFalse(self.connection.in_transaction)
        self.connection.execute("PRAGMA foreign_keys=OFF")
        with self.assertRaisesRegex(queryd.OperationalError, "in a transaction only"):
            self.connection.execute("SAVEPOINT s")


if __name__ == "__main__":
    main()
