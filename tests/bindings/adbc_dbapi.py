#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The driver for ADBC by adbc_driver_manager.dbapi, against the real daemon. Argument: the driver. Exit 0: all as expected."""
import datetime
import decimal
import sys
import threading
import unittest

import adbc_driver_manager
import pyarrow
from adbc_driver_manager import dbapi

DRIVER = sys.argv.pop(1)
COUNT = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) "


def connect(uri="queryd:///", autocommit=True, **options):
    return dbapi.connect(driver=DRIVER, db_kwargs=dict({"uri": uri}, **options), autocommit=autocommit)


class Case(unittest.TestCase):
    """A connection, and a cursor on it."""

    def setUp(self):
        self.connection = connect()
        self.cursor = self.connection.cursor()

    def tearDown(self):
        self.cursor.close()
        self.connection.close()

    def fetch(self, text, parameters=None):
        self.cursor.execute(text, parameters)
        return self.cursor.fetchall()

    def ingest(self, table, data, **options):
        self.cursor.execute(f"DROP TABLE IF EXISTS {table}")
        return self.cursor.adbc_ingest(table, data, **options)


class TestQueries(Case):
    """Values out, and parameters in."""

    def test_values(self):
        self.assertEqual(self.fetch("SELECT 1, 2.5, 'text', x'00ff', NULL"), [(1, 2.5, "text", b"\x00\xff", None)])
        self.assertEqual([column[0] for column in self.cursor.description], ["1", "2.5", "'text'", "x'00ff'", "NULL"])

    def test_table(self):
        self.cursor.execute(COUNT.format(100000) + "SELECT i, i * 0.5 AS half FROM n")
        table = self.cursor.fetch_arrow_table()
        self.assertEqual((table.num_rows, table.schema.types), (100000, [pyarrow.int64(), pyarrow.float64()]))
        table.validate(full=True)
        self.assertEqual(table["i"].to_pylist(), list(range(1, 100001)))

    def test_parameters(self):
        self.assertEqual(self.fetch("SELECT ?, ?, ?, ?, ?", (1, 2.5, "text", b"\x00", None)), [(1, 2.5, "text", b"\x00", None)])
        self.assertEqual(self.fetch("SELECT ? + 1", (41,)), [(42,)])
        with self.assertRaisesRegex(dbapi.ProgrammingError, "2 parameters, but 1 columns"):
            self.cursor.execute("SELECT ?, ?", (1,))

    def test_parameter_schema(self):
        with adbc_driver_manager.AdbcStatement(self.connection.adbc_connection) as statement:
            statement.set_sql_query("SELECT :a, ?2")
            statement.prepare()
            schema = pyarrow.schema(statement.get_parameter_schema())
        self.assertEqual((schema.names, schema.types), ([":a", "?2"], [pyarrow.null(), pyarrow.null()]))

    def test_schema_before_rows(self):
        schema = self.cursor.adbc_execute_schema("SELECT 1 AS a, 'x' AS b")
        self.assertEqual((schema.names, schema.types), (["a", "b"], [pyarrow.int64(), pyarrow.string()]))

    def test_update(self):
        self.cursor.execute("DROP TABLE IF EXISTS booze")
        self.cursor.execute("CREATE TABLE booze(id INTEGER PRIMARY KEY, name TEXT UNIQUE)")
        self.cursor.executemany("INSERT INTO booze(name) VALUES(?)", [("a",), ("b",), ("c",)])
        self.assertEqual(self.cursor.rowcount, 3)
        self.cursor.execute("DELETE FROM booze WHERE name = ?", ("b",))
        self.assertEqual(self.cursor.rowcount, 1)
        self.assertEqual(self.fetch("INSERT INTO booze(name) VALUES('d') RETURNING id, name"), [(4, "d")])
        self.assertEqual(self.fetch("SELECT name FROM booze ORDER BY id"), [("a",), ("c",), ("d",)])
        rows = pyarrow.table({"name": [f"row {i}" for i in range(10000)]})
        self.cursor.executemany("INSERT INTO booze(name) VALUES(?)", rows)
        self.assertEqual(self.cursor.rowcount, 10000)
        with self.assertRaises(dbapi.IntegrityError):  # all or none
            self.cursor.executemany("INSERT INTO booze(name) VALUES(?)", [(str(i % 9000),) for i in range(10000)])
        self.assertEqual(self.fetch("SELECT count(*) FROM booze"), [(10003,)])

    def test_sparql(self):
        with connect(**{"queryd.language": "sparql"}) as connection, connection.cursor() as cursor:
            cursor.execute("INSERT DATA { <http://example.org/a> <http://example.org/p> 'chat'@fr, 5 }")
            cursor.execute("SELECT ?o WHERE { <http://example.org/a> <http://example.org/p> ?o } ORDER BY ?o")
            self.assertEqual(cursor.fetch_arrow_table()["o"].to_pylist(), ["5", "chat"])
            cursor.adbc_statement.set_options(**{"queryd.rdf_terms": "struct"})
            cursor.execute("SELECT ?o WHERE { <http://example.org/a> <http://example.org/p> ?o FILTER (lang(?o) = 'fr') }")
            column = cursor.fetch_arrow_table()
            self.assertEqual(column.schema.field(0).metadata[b"ARROW:extension:name"], b"queryd.rdf_term")
            self.assertEqual(column["o"].to_pylist(), [{"value": "chat", "datatype": None, "language": "fr"}])
            cursor.execute("SELECT (COUNT(*) AS ?n) WHERE { ?s <http://example.org/p> ?o }")
            self.assertEqual(cursor.fetchall(), [(2,)])


    def test_terms_as_parameters(self):
        """What a result gives as terms may be bound again."""
        with connect(**{"queryd.language": "sparql", "queryd.rdf_terms": "struct"}) as connection, connection.cursor() as cursor:
            cursor.execute("INSERT DATA { <http://example.org/b> <http://example.org/q> "
                           "'chat'@fr, 'plain', 1.50, <http://example.org/c> }")
            cursor.execute("SELECT ?o WHERE { <http://example.org/b> <http://example.org/q> ?o }")
            terms = cursor.fetch_arrow_table()
            self.assertEqual(terms.num_rows, 4)
            for i in range(4):
                cursor.execute("SELECT ?p WHERE { <http://example.org/b> ?p $o }", terms.slice(i, 1).combine_chunks())
                self.assertEqual(cursor.fetch_arrow_table()["p"].to_pylist(),
                                 [{"value": "http://example.org/q", "datatype": "@id", "language": None}])
            blank = [{"value": "b0", "datatype": "@bnode", "language": None}]
            blank = pyarrow.table({"o": pyarrow.array(blank, terms.schema.field(0).type)})
            with self.assertRaisesRegex(dbapi.ProgrammingError, "blank node 'b0' in column 'o'"):
                cursor.execute("SELECT ?p WHERE { <http://example.org/b> ?p $o }", blank)


class TestFailures(Case):
    """Errors, with what they tell."""

    def test_syntax(self):
        with self.assertRaises(dbapi.ProgrammingError) as caught:
            self.cursor.execute("SELECT 1 FROM")
        self.assertEqual(caught.exception.sqlstate, "42601")
        details = dict(caught.exception.details)
        self.assertEqual(details[b"queryd.code"], b"SYNTAX")

    def test_constraint(self):
        self.cursor.execute("DROP TABLE IF EXISTS only_one")
        self.cursor.execute("CREATE TABLE only_one(a UNIQUE)")
        self.cursor.execute("INSERT INTO only_one VALUES(1)")
        with self.assertRaises(dbapi.IntegrityError) as caught:
            self.cursor.execute("INSERT INTO only_one VALUES(1)")
        self.assertEqual(caught.exception.sqlstate, "23505")
        details = dict(caught.exception.details)
        found = [details[b"queryd.constraint" + part] for part in (b"", b".table", b".column")]
        self.assertEqual(found, [b"UNIQUE", b"only_one", b"a"])

    def test_late_value(self):
        self.cursor.execute(COUNT.format(2000000) + "SELECT CASE i WHEN 1999999 THEN 'x' ELSE i END AS c, 'text' FROM n")
        with self.assertRaisesRegex(dbapi.DataError, "row 1999999 does not fit"):
            self.cursor.fetch_arrow_table()

    def test_options(self):
        with self.assertRaises(dbapi.ProgrammingError):
            connect("http://example.org")
        with self.assertRaises(dbapi.ProgrammingError):
            connect("queryd:///not/a/name")
        with self.assertRaises(dbapi.NotSupportedError):
            connect(nonsense="1")
        with self.assertRaises(dbapi.ProgrammingError):
            connect(**{"queryd.language": "prolog"})

    def test_cancel(self):
        timer = threading.Timer(0.3, self.cursor.adbc_cancel)
        timer.start()
        with self.assertRaises(dbapi.OperationalError) as caught:
            self.cursor.execute(COUNT.format(10 ** 12) + "SELECT i FROM n")
            while self.cursor.fetchone():
                pass
        timer.join()
        self.assertEqual(caught.exception.status_code, adbc_driver_manager.AdbcStatusCode.CANCELLED)
        timer = threading.Timer(0.3, self.connection.adbc_cancel)
        timer.start()
        with self.assertRaises(dbapi.OperationalError):
            self.cursor.execute(COUNT.format(10 ** 12) + "SELECT sum(i) FROM n")
        timer.join()
        self.assertEqual(self.fetch("SELECT 1"), [(1,)])

    def test_timeout(self):
        with connect(**{"queryd.timeout_ms": "200"}) as connection, connection.cursor() as cursor:
            with self.assertRaises(dbapi.OperationalError) as caught:
                cursor.execute(COUNT.format(10 ** 12) + "SELECT sum(i) FROM n")
            self.assertEqual(caught.exception.status_code, adbc_driver_manager.AdbcStatusCode.TIMEOUT)


class TestTransactions(Case):
    """With a second connection, which sees what was committed."""

    def setUp(self):
        super().setUp()
        self.cursor.execute("DROP TABLE IF EXISTS account")
        self.cursor.execute("CREATE TABLE account(a)")
        self.writer = connect(autocommit=False)

    def tearDown(self):
        self.writer.close()
        super().tearDown()

    def count(self):
        return self.fetch("SELECT count(*) FROM account")[0][0]

    def test_commit_and_rollback(self):
        with self.writer.cursor() as cursor:
            cursor.execute("INSERT INTO account VALUES(1)")
            cursor.execute("SELECT count(*) FROM account")
            self.assertEqual((cursor.fetchall(), self.count()), ([(1,)], 0))
            self.writer.rollback()
            self.assertEqual(self.count(), 0)
            cursor.execute("INSERT INTO account VALUES(1)")
            cursor.executemany("INSERT INTO account VALUES(?)", [(i,) for i in range(5000)])
            self.assertEqual(cursor.rowcount, 5000)
            self.writer.commit()
        self.assertEqual(self.count(), 5001)

    def test_query_begins_none(self):
        with self.writer.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM account")
            cursor.fetchall()
            self.cursor.execute("INSERT INTO account VALUES(1)")  # nothing holds it up
            self.assertEqual(self.count(), 1)

    def test_close_rolls_back(self):
        writer = connect(autocommit=False)
        cursor = writer.cursor()
        cursor.execute("INSERT INTO account VALUES(1)")
        cursor.close()
        writer.close()
        self.assertEqual(self.count(), 0)

    def test_ingest_within(self):
        with self.writer.cursor() as cursor:
            cursor.adbc_ingest("account", pyarrow.table({"a": [1, 2, 3]}), mode="append")
            self.assertEqual(self.count(), 0)
            self.writer.commit()
        self.assertEqual(self.count(), 3)


class TestIngest(Case):
    """Arrow's types, and the modes."""

    def test_types(self):
        day, moment = datetime.date(2026, 2, 28), datetime.datetime(2026, 2, 28, 1, 2, 3, 456000)
        columns = {
            "i8": pyarrow.array([-1, None], pyarrow.int8()), "u8": pyarrow.array([255, None], pyarrow.uint8()),
            "i16": pyarrow.array([-300, None], pyarrow.int16()), "u16": pyarrow.array([65535, None], pyarrow.uint16()),
            "i32": pyarrow.array([-70000, None], pyarrow.int32()), "u32": pyarrow.array([4294967295, None], pyarrow.uint32()),
            "i64": pyarrow.array([-2 ** 63, None], pyarrow.int64()), "u64": pyarrow.array([2 ** 63 - 1, None], pyarrow.uint64()),
            "f16": pyarrow.array([-1.5, None], pyarrow.float16()),
            "f32": pyarrow.array([0.5, None], pyarrow.float32()), "f64": pyarrow.array([0.1, None], pyarrow.float64()),
            "b": pyarrow.array([True, None]), "u": pyarrow.array(["é", None]),
            "lu": pyarrow.array(["a", None], pyarrow.large_string()),
            "vu": pyarrow.array(["a text of more than twelve bytes", None], pyarrow.string_view()),
            "z": pyarrow.array([b"\x00", None]), "lz": pyarrow.array([b"ab", None], pyarrow.large_binary()),
            "vz": pyarrow.array([b"short", None], pyarrow.binary_view()), "w": pyarrow.array([b"abc", None], pyarrow.binary(3)),
            "d32": pyarrow.array([day, None], pyarrow.date32()), "d64": pyarrow.array([day, None], pyarrow.date64()),
            "t32": pyarrow.array([moment.time().replace(microsecond=0), None], pyarrow.time32("s")),
            "t64": pyarrow.array([moment.time(), None], pyarrow.time64("us")),
            "ts": pyarrow.array([moment, None], pyarrow.timestamp("ms")),
            "tz": pyarrow.array([moment, None], pyarrow.timestamp("us", "Europe/Berlin")),
            "old": pyarrow.array([datetime.datetime(1583, 1, 1), None], pyarrow.timestamp("s")),
            "dec": pyarrow.array([decimal.Decimal("-12.30"), None], pyarrow.decimal128(10, 2)),
            "dict": pyarrow.array(["x", None]).dictionary_encode(), "n": pyarrow.array([None, None], pyarrow.null()),
        }
        expected = (-1, 255, -300, 65535, -70000, 4294967295, -2 ** 63, 2 ** 63 - 1, -1.5, 0.5, 0.1, 1, "é", "a",
                    "a text of more than twelve bytes", b"\x00", b"ab", b"short", b"abc", "2026-02-28", "2026-02-28", "01:02:03",
                    "01:02:03.456000", "2026-02-28T01:02:03.456", "2026-02-28T01:02:03.456000Z", "1583-01-01T00:00:00",
                    "-12.30", "x", None)
        self.assertEqual(self.ingest("typed", pyarrow.table(columns)), 2)
        self.assertEqual(self.fetch("SELECT * FROM typed"), [expected, (None,) * len(expected)])
        self.ingest("typed", pyarrow.table(columns).slice(1))  # offsets
        self.assertEqual(self.fetch("SELECT * FROM typed"), [(None,) * len(expected)])

    def test_refused(self):
        with self.assertRaisesRegex(dbapi.NotSupportedError, "column 'a' has Arrow's type '\\+l'"):
            self.ingest("refused", pyarrow.table({"a": [[1]]}))
        with self.assertRaisesRegex(dbapi.DataError, "above the largest INTEGER"):
            self.ingest("refused", pyarrow.table({"a": pyarrow.array([2 ** 64 - 1], pyarrow.uint64())}))
        self.assertEqual(self.fetch("SELECT count(*) FROM sqlite_master WHERE name = 'refused'"), [(0,)])

    def test_modes(self):
        data = pyarrow.table({"a": [1, 2], "b c\"d": ["x", "y"]})
        self.assertEqual(self.ingest("moded", data), 2)
        with self.assertRaises(dbapi.ProgrammingError) as caught:
            self.cursor.adbc_ingest("moded", data, mode="create")
        self.assertEqual(caught.exception.status_code, adbc_driver_manager.AdbcStatusCode.ALREADY_EXISTS)
        for mode, count in (("append", 4), ("create_append", 6), ("replace", 2)):
            self.cursor.adbc_ingest("moded", data, mode=mode)
            self.assertEqual(self.fetch("SELECT count(*) FROM moded"), [(count,)])
        with self.assertRaises(dbapi.ProgrammingError) as caught:
            self.cursor.adbc_ingest("absent", data, mode="append")
        self.assertEqual(caught.exception.status_code, adbc_driver_manager.AdbcStatusCode.NOT_FOUND)

    def test_many(self):
        data = pyarrow.table({"i": range(200000), "t": [f"row {i}" for i in range(200000)]})
        self.assertEqual(self.ingest("many", data.to_reader(max_chunksize=7777)), 200000)
        self.cursor.execute("SELECT * FROM many ORDER BY i")
        self.assertTrue(self.cursor.fetch_arrow_table().equals(data))

    def test_many_fail(self):
        """A row that is refused while later ones are bound, and in the last message: nothing of the ingest is left."""
        for bad in (0, 5000, 19999):
            self.cursor.execute("DROP TABLE IF EXISTS checked")
            self.cursor.execute(f"CREATE TABLE checked(i INTEGER CHECK (i <> {bad}))")
            with self.assertRaises(dbapi.IntegrityError):
                self.cursor.adbc_ingest("checked", pyarrow.table({"i": range(20000)}), mode="append")
            self.assertEqual(self.fetch("SELECT count(*) FROM checked"), [(0,)])

    def test_from_itself(self):
        """The rows of one query into a table, by one connection."""
        with self.connection.cursor() as reader:
            reader.execute(COUNT.format(50000) + "SELECT i FROM n")
            self.assertEqual(self.ingest("copied", reader.fetch_record_batch()), 50000)


class TestMetadata(Case):
    """What a connection says of itself and of tables."""

    def setUp(self):
        super().setUp()
        for name in ("child", "parent"):
            self.cursor.execute(f"DROP TABLE IF EXISTS {name}")
        self.cursor.execute("CREATE TABLE parent(a INTEGER, b TEXT NOT NULL DEFAULT 'x', c DECIMAL(4, 2), PRIMARY KEY(b, a))")
        self.cursor.execute("CREATE TABLE child(x TEXT UNIQUE, y TEXT, z INTEGER, FOREIGN KEY(y, z) REFERENCES parent(b, a))")

    def test_info(self):
        info = self.connection.adbc_get_info()
        self.assertEqual((info["vendor_name"], info["driver_name"], info["driver_adbc_version"]),
                         ("queryd", "queryd ADBC driver", 1001000))

    def test_table_types(self):
        self.assertEqual(self.connection.adbc_get_table_types(), ["table", "view"])

    def test_table_schema(self):
        schema = self.connection.adbc_get_table_schema("parent")
        self.assertEqual((schema.names, schema.types), (["a", "b", "c"], [pyarrow.int64(), pyarrow.string(), pyarrow.string()]))
        with self.assertRaises(dbapi.ProgrammingError):
            self.connection.adbc_get_table_schema("absent")

    def objects(self, **options):
        reader = self.connection.adbc_get_objects(**options)
        table = reader.read_all()
        table.validate(full=True)
        return table.to_pylist()

    def test_depths(self):
        self.assertEqual(self.objects(depth="catalogs"), [{"catalog_name": "main", "catalog_db_schemas": None}])
        self.assertEqual(self.objects(depth="db_schemas")[0]["catalog_db_schemas"],
                         [{"db_schema_name": "", "db_schema_tables": None}])
        self.assertEqual(self.objects(catalog_filter="other"), [])
        tables = self.objects(depth="tables", table_name_filter="par%")[0]["catalog_db_schemas"][0]["db_schema_tables"]
        self.assertEqual(tables, [
            {"table_name": "parent", "table_type": "table", "table_columns": None, "table_constraints": None}])
        views = self.objects(depth="tables", table_types_filter=["view"])
        self.assertEqual(views[0]["catalog_db_schemas"][0]["db_schema_tables"], [])

    def test_columns(self):
        tables = self.objects(table_name_filter="%r_n%")[0]["catalog_db_schemas"][0]["db_schema_tables"]
        self.assertEqual([table["table_name"] for table in tables], ["parent"])
        columns = tables[0]["table_columns"]
        self.assertEqual([(column["column_name"], column["ordinal_position"], column["xdbc_type_name"], column["xdbc_is_nullable"],
                           column["xdbc_column_def"]) for column in columns],
                         [("a", 1, "INTEGER", "YES", None), ("b", 2, "TEXT", "NO", "'x'"), ("c", 3, "DECIMAL(4, 2)", "YES", None)])
        self.assertEqual(tables[0]["table_constraints"], [
            {"constraint_name": None, "constraint_type": "PRIMARY KEY", "constraint_column_names": ["b", "a"],
             "constraint_column_usage": []}])
        tables = self.objects(table_name_filter="child", column_name_filter="_")[0]["catalog_db_schemas"][0]["db_schema_tables"]
        unique, foreign = tables[0]["table_constraints"]
        self.assertEqual((unique["constraint_type"], unique["constraint_column_names"]), ("UNIQUE", ["x"]))
        self.assertEqual((foreign["constraint_type"], foreign["constraint_column_names"]), ("FOREIGN KEY", ["y", "z"]))
        self.assertEqual([(usage["fk_table"], usage["fk_column_name"]) for usage in foreign["constraint_column_usage"]],
                         [("parent", "b"), ("parent", "a")])


class TestThreads(Case):
    """A result outlives its connection, and may be released by another thread."""

    def test_release(self):
        self.cursor.execute(COUNT.format(2000000) + "SELECT i FROM n")
        reader = self.cursor.fetch_record_batch()
        reader.read_next_batch()
        holder = [reader]
        del reader
        thread = threading.Thread(target=holder.clear)
        thread.start()
        self.assertEqual(self.connection.cursor().execute("SELECT 1").fetchall(), [(1,)])
        thread.join()

    def test_direct(self):
        self.ingest("read_directly", pyarrow.table({"a": [1, 2, 3]}))
        with connect("queryd:///?path=") as connection, connection.cursor() as cursor:
            cursor.execute("SELECT sum(a) FROM read_directly")
            self.assertEqual(cursor.fetchall(), [(6,)])
            with self.assertRaises(dbapi.ProgrammingError):
                cursor.execute("DELETE FROM read_directly")


if __name__ == "__main__":
    if unittest.main(exit=False, verbosity=0).result.wasSuccessful():
        print("all as expected")
    else:
        sys.exit(1)
