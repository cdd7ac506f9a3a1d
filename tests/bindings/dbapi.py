#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The package queryd by the points of PEP 249, against the real daemon. Exit status 0: all as expected."""
import copy
import datetime
import decimal
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import threading
import time
import unittest
import uuid

import queryd
from dbapi_case import COUNT, Case, main


class TestModule(unittest.TestCase):
    """Globals, exceptions and constructors."""

    def test_globals(self):
        self.assertEqual((queryd.apilevel, queryd.threadsafety, queryd.paramstyle), ("2.0", 1, "qmark"))

    def test_exceptions(self):
        self.assertTrue(issubclass(queryd.Warning, Exception) and issubclass(queryd.Error, Exception))
        self.assertTrue(issubclass(queryd.InterfaceError, queryd.Error) and issubclass(queryd.DatabaseError, queryd.Error))
        for name in ("DataError", "OperationalError", "IntegrityError", "InternalError", "ProgrammingError", "NotSupportedError"):
            self.assertTrue(issubclass(getattr(queryd, name), queryd.DatabaseError), name)
            self.assertIs(getattr(queryd.Connection, name), getattr(queryd, name))

    def test_constructors(self):
        self.assertEqual(queryd.Date(2026, 2, 28), datetime.date(2026, 2, 28))
        self.assertEqual(queryd.Time(1, 2, 3), datetime.time(1, 2, 3))
        self.assertEqual(queryd.Timestamp(2026, 2, 28, 1, 2, 3), datetime.datetime(2026, 2, 28, 1, 2, 3))
        now = 1700000000
        self.assertEqual(queryd.TimestampFromTicks(now), datetime.datetime.fromtimestamp(now))
        self.assertEqual(queryd.DateFromTicks(now), datetime.datetime.fromtimestamp(now).date())
        self.assertEqual(queryd.TimeFromTicks(now), datetime.datetime.fromtimestamp(now).time())
        self.assertEqual(bytes(queryd.Binary(b"ab")), b"ab")

    def test_connect(self):
        with self.assertRaises(queryd.ProgrammingError):
            queryd.connect("not/a name")
        with self.assertRaises(queryd.OperationalError) as caught:
            queryd.connect(path="/nonexistent")
        self.assertEqual(caught.exception.code, queryd.ErrorCode.UNAVAILABLE)
        with self.assertRaises(queryd.InterfaceError):
            queryd.connect("store", path="/file")

    def test_timeouts(self):
        """What is refused is not taken for none."""
        for timeout in (-1, -1e-9, float("nan"), float("inf"), 2**32, 4294967.2949, 10**400):
            with self.assertRaisesRegex(queryd.InterfaceError, "the timeout is from 0 to 4294967 seconds", msg=timeout):
                queryd.connect(timeout=timeout)
        for timeout in (None, 0, 0.0, 1e-9, 4294967, decimal.Decimal("0.5")):
            queryd.connect(timeout=timeout).close()

    def test_no_objects_by_hand(self):
        client = sys.modules["queryd._client"]
        for kind in (client.Result, client.Statement, client.Transaction):
            with self.assertRaises(TypeError):
                kind()
        with self.assertRaises(TypeError):
            client.Connection()


class TestCursor(Case):
    """Statements and rows."""

    def insert(self, names):
        self.cursor.executemany("INSERT INTO booze(name) VALUES(?)", [[name] for name in names])

    def test_description(self):
        self.assertIsNone(self.cursor.description)
        self.cursor.execute("SELECT id, name, price, since, label, 1 + 1 AS two FROM booze")
        self.assertEqual([column[0] for column in self.cursor.description], ["id", "name", "price", "since", "label", "two"])
        self.assertTrue(all(len(column) == 7 for column in self.cursor.description))
        codes = [column[1] for column in self.cursor.description]
        kinds = [queryd.NUMBER, queryd.STRING, queryd.NUMBER, queryd.DATETIME, queryd.BINARY]
        self.assertEqual([kind == code for kind, code in zip(kinds, codes)], [True] * 5)
        self.assertFalse(queryd.STRING == codes[0] or queryd.NUMBER == codes[1])
        self.assertIsNone(codes[5])
        self.cursor.execute("INSERT INTO booze(name) VALUES('x')")
        self.assertIsNone(self.cursor.description)

    def test_rowcount(self):
        self.assertEqual(self.cursor.rowcount, -1)
        self.cursor.execute("INSERT INTO booze(name) VALUES('a'), ('b')")
        self.assertEqual((self.cursor.rowcount, self.cursor.lastrowid), (2, 2))
        self.assertEqual(self.cursor.execute("SELECT 1").rowcount, -1)
        self.assertEqual(self.cursor.executemany("DELETE FROM booze WHERE name = ?", [("a",), ("none",), ("b",)]).rowcount, 2)
        self.assertEqual(self.cursor.executemany("DELETE FROM booze WHERE name = ?", []).rowcount, 0)
        self.assertEqual(self.cursor.executemany("INSERT INTO booze(name) VALUES(NULL)", [(), ()]).rowcount, 2)

    def test_fetch(self):
        with self.assertRaises(queryd.Error):
            self.cursor.fetchone()
        self.cursor.execute("CREATE TABLE IF NOT EXISTS other(a)")
        for fetch in (self.cursor.fetchone, self.cursor.fetchmany, self.cursor.fetchall):
            with self.assertRaises(queryd.Error):
                fetch()
        self.cursor.execute(COUNT, [10])
        self.assertEqual(self.cursor.fetchone(), (1,))
        self.assertEqual(self.cursor.fetchmany(3), [(2,), (3,), (4,)])
        self.cursor.arraysize = 2
        self.assertEqual(self.cursor.fetchmany(), [(5,), (6,)])
        self.assertEqual(self.cursor.fetchmany(0), [])
        self.assertEqual(next(self.cursor), (7,))
        self.assertEqual(self.cursor.fetchmany(10**30), [(8,), (9,), (10,)])
        self.assertEqual((self.cursor.fetchone(), self.cursor.fetchmany(), self.cursor.fetchall()), (None, [], []))
        with self.assertRaises(queryd.ProgrammingError):
            self.cursor.fetchmany(-1)
        self.assertEqual(sum(row[0] for row in self.cursor.execute(COUNT, [100000])), 5000050000)
        self.assertEqual(self.cursor.execute("SELECT 1 WHERE 0").fetchall(), [])

    def test_parameters(self):
        self.assertEqual(self.cursor.execute("SELECT ?, ?2, ?1", (1, "b")).fetchone(), (1, "b", 1))
        self.assertEqual(self.cursor.execute("SELECT :a, @b, $c", {"a": 1, "@b": 2, "c": 3}).fetchone(), (1, 2, 3))
        for text, values in (("SELECT ?", []), ("SELECT ?", [1, 2]), ("SELECT ?", None), ("SELECT :a", {"b": 1}), ("SELECT ?", "a"),
                             ("SELECT :a", {"a": 1, "b": 2}), ("SELECT ?", {"a": 1}), ("SELECT ?", [object()]),
                             ("SELECT ?", [[1]])):
            with self.assertRaises(queryd.ProgrammingError, msg=(text, values)):
                self.cursor.execute(text, values)
        with self.assertRaises(queryd.ProgrammingError):
            self.cursor.executemany("SELECT ?", [(1,)])

    def test_values(self):
        values = [None, 0, -2**63, 2**63 - 1, 1.5, float("inf"), "", "ä\0\U0001f600", b"", b"\0\xff"]
        row = self.cursor.execute(f"SELECT {', '.join('?' * len(values))}", values).fetchone()
        self.assertEqual(row, tuple(values))
        self.assertEqual([type(value) for value in row], [type(value) for value in values])
        when = datetime.datetime(2026, 2, 28, 1, 2, 3, 4)
        adapted = [(True, 1), (bytearray(b"a"), b"a"), (memoryview(b"ab"), b"ab"), (when, "2026-02-28 01:02:03.000004"),
                   (when.date(), "2026-02-28"), (when.time(), "01:02:03.000004"), (decimal.Decimal("1.10"), "1.10"),
                   (uuid.UUID(int=1), str(uuid.UUID(int=1))), (queryd.ErrorCode.BUSY, 6), (type("S", (str,), {})("s"), "s")]
        for value, expected in adapted:
            self.assertEqual(self.cursor.execute("SELECT ?", [value]).fetchone(), (expected,))
        for value in (2**63, -2**63 - 1, "\ud800"):
            with self.assertRaises(queryd.DataError):
                self.cursor.execute("SELECT ?", [value])
        with self.assertRaises(queryd.DataError):
            self.cursor.execute("SELECT CAST(x'ff' AS TEXT)").fetchall()

    def test_texts_that_cannot_be(self):
        """None is cut at a NUL; the exception is one of the package's."""
        fine = queryd.Literal("a\0b")
        self.assertEqual(self.connection.sparql("SELECT ($v AS ?x) {}", {"v": fine}).fetchall(), [("a\0b",)])
        terms = [queryd.Iri("urn:a\0b"), queryd.Iri("urn:\ud800"), queryd.Literal("a\ud800")]
        for text in ("a\0b", "\ud800"):
            terms += [queryd.Literal(text, "urn:d"), queryd.Literal("a", datatype=text), queryd.Literal("a", language=text)]
            for call in (lambda: self.cursor.execute(f"SELECT '{text}'"), lambda: self.connection.sparql(f"ASK {{}} # {text}"),
                         lambda: queryd.connect(text), lambda: queryd.connect(path=f"/{text}\ud801")):
                with self.assertRaises(queryd.DataError, msg=text):
                    call()
            with self.assertRaises(queryd.ProgrammingError):
                self.cursor.execute("SELECT :a", {text: 1})
        for term in terms:
            with self.assertRaises(queryd.DataError, msg=term):
                self.connection.sparql("SELECT ($v AS ?x) {}", {"v": term})
        with self.assertRaises(queryd.DataError):
            self.cursor.execute("SELECT '\0'")
        for term in (queryd.Literal(5), queryd.Literal("a", 5), queryd.Literal("a", None, 5)):
            with self.assertRaises(TypeError):
                self.connection.sparql("SELECT ($v AS ?x) {}", {"v": term})

    def test_returning(self):
        self.cursor.execute("INSERT INTO booze(name) VALUES('a'), ('b') RETURNING id, upper(name)")
        self.assertEqual((self.cursor.rowcount, self.cursor.fetchone(), self.cursor.fetchmany(5)), (2, (1, "A"), [(2, "B")]))
        self.assertEqual(self.cursor.fetchall(), [])

    def test_closed(self):
        self.cursor.execute(COUNT, [1000000])
        self.cursor.close()
        self.cursor.close()
        for call in (self.cursor.fetchone, lambda: self.cursor.execute("SELECT 1")):
            with self.assertRaises(queryd.Error):
                call()
        self.cursor.setinputsizes([1])
        self.cursor.setoutputsize(1)

    def test_many_open(self):
        """More than the daemon allows channels, read in turn."""
        cursors = [self.connection.execute(COUNT, [20000]) for _ in range(80)]
        for row in range(1, 4):
            self.assertEqual([cursor.fetchone() for cursor in cursors], [(row,)] * 80)

    def test_rows_by_name(self):
        self.connection.row_factory = queryd.Row
        row = self.connection.execute("SELECT 1 AS one, 'b' AS Two").fetchone()
        self.assertEqual((row["one"], row["two"], row[1], row[-2]), (1, "b", "b", 1))
        self.assertEqual((row.keys(), tuple(row)), (["one", "Two"], (1, "b")))
        with self.assertRaises(KeyError):
            row["three"]
        for copied in (pickle.loads(pickle.dumps(row)), copy.copy(row), copy.deepcopy(row)):
            self.assertEqual((copied, copied.keys(), copied["TWO"], type(copied)), (row, ["one", "Two"], "b", type(row)))
        self.assertEqual(pickle.loads(pickle.dumps(queryd.Row((1, 2)))), (1, 2))
        self.connection.row_factory = lambda cursor, row: {c[0]: v for c, v in zip(cursor.description, row)}
        self.assertEqual(self.connection.execute(COUNT, [2]).fetchall(), [{"i": 1}, {"i": 2}])


class TestTransaction(Case):
    """commit(), rollback() and autocommit."""

    def test_commit(self):
        self.cursor.execute("INSERT INTO booze(name) VALUES('a')")
        self.assertTrue(self.connection.in_transaction)
        self.assertEqual((self.count(), self.cursor.execute("SELECT count(*) FROM booze").fetchone()), (0, (1,)))
        self.connection.commit()
        self.assertEqual((self.count(), self.connection.in_transaction), (1, False))
        self.connection.commit()
        self.connection.rollback()

    def test_rollback(self):
        self.cursor.execute("CREATE TABLE made(a)")
        self.cursor.executemany("INSERT INTO made VALUES(?)", [[i] for i in range(10000)])
        self.assertEqual(self.cursor.execute("SELECT count(*) FROM made").fetchone(), (10000,))
        self.connection.rollback()
        with self.assertRaises(queryd.ProgrammingError):
            self.cursor.execute("SELECT * FROM made")
        with self.assertRaises(queryd.ProgrammingError):
            self.cursor.execute("INSERT INTO made VALUES(?)", [1])

    def test_close_rolls_back(self):
        self.cursor.execute("INSERT INTO booze(name) VALUES('a')")
        self.connection.close()
        self.connection.close()
        self.assertEqual(self.count(), 0)
        for call in (self.connection.cursor, self.connection.commit, lambda: self.cursor.execute("SELECT 1")):
            with self.assertRaises(queryd.Error):
                call()

    def test_failed_statement(self):
        """It is undone alone; the transaction goes on."""
        self.cursor.execute("INSERT INTO booze(name) VALUES('a')")
        with self.assertRaises(queryd.IntegrityError) as caught:
            self.cursor.execute("INSERT INTO booze(name) VALUES('b'), ('a')")
        constraint = caught.exception.constraint
        self.assertEqual(constraint, (queryd.ConstraintKind.UNIQUE, "booze", ("name",), None))
        self.connection.commit()
        self.assertEqual(self.count(), 1)

    def test_with(self):
        with self.assertRaises(ZeroDivisionError), self.connection:
            self.cursor.execute("INSERT INTO booze(name) VALUES('a')")
            1 / 0
        self.assertEqual(self.count(), 0)
        with self.connection:
            self.cursor.execute("INSERT INTO booze(name) VALUES('a')")
        self.assertEqual(self.count(), 1)

    def test_autocommit(self):
        self.connection.autocommit = True
        self.cursor.execute("INSERT INTO booze(name) VALUES('a')")
        self.assertEqual((self.count(), self.connection.in_transaction), (1, False))
        rows = [[str(i)] for i in range(10000)]
        self.assertEqual(self.cursor.executemany("INSERT INTO booze(name) VALUES(?)", rows).rowcount, 10000)
        self.assertEqual(self.count(), 10001)
        many = [[f"x{i}"] for i in range(9999)]
        for broken in ([["x"], ["a"]], many + [["a"]], [["y"], [2**63]], many + [[]]):
            with self.assertRaises(queryd.DatabaseError):
                self.cursor.executemany("INSERT INTO booze(name) VALUES(?)", broken)
            self.assertEqual(self.count(), 10001)
        self.cursor.execute("BEGIN")
        self.cursor.execute("DELETE FROM booze")
        self.cursor.execute(" rollback ;")
        self.cursor.execute("begin immediate")
        self.cursor.execute("SAVEPOINT s")
        self.cursor.execute("DELETE FROM booze")
        self.cursor.execute("ROLLBACK TO s")
        self.cursor.execute("COMMIT")
        self.assertEqual(self.count(), 10001)

    def check_no_rows(self, connection, insert):
        """Of calls that have failed."""
        n = self.count()
        self.assertEqual(connection.execute(insert, ["one"]).rowcount, 1)
        self.assertEqual(connection.executemany(insert, [["two"], ["three"]]).rowcount, 2)
        self.assertEqual(self.count(), n + 3)
        connection.execute("DELETE FROM booze")

    def test_failed_rows(self):
        """No later call executes what a call that has failed was given."""
        def end_after(n):
            yield from ([f"generated {i}"] for i in range(n))
            raise ZeroDivisionError

        insert = "INSERT INTO booze(name) VALUES(?)"
        connection = queryd.connect(autocommit=True, timeout=0.1)
        for n in (0, 3, 4096, 5000):
            for rows in (end_after(n), [[str(i)] for i in range(n)] + [[object()]], [[str(i)] for i in range(n)] + [7]):
                with self.assertRaises((ZeroDivisionError, TypeError, queryd.ProgrammingError)):
                    connection.executemany(insert, rows)
                self.assertEqual(self.count(), 0)
                self.check_no_rows(connection, insert)
        connection.close()
        for n in (1, 9000):
            connection = queryd.connect(autocommit=True, timeout=0.1)
            self.cursor.execute("INSERT INTO booze(name) VALUES('other')")
            for _ in range(3):
                with self.assertRaises(queryd.OperationalError) as caught:
                    connection.executemany(insert, [[f"late {i}"] for i in range(n)])
                self.assertEqual(caught.exception.code, queryd.ErrorCode.TIMEOUT)
            self.connection.rollback()
            self.check_no_rows(connection, insert)
            connection.close()

    def test_failed_values(self):
        insert = "INSERT INTO booze(name, price) VALUES(?, ?)"
        self.connection.autocommit = True
        for values in (["a", object()], ["a"], ["a", 1, 2], 7):
            with self.assertRaises((TypeError, queryd.ProgrammingError)):
                self.cursor.execute(insert, values)
            with self.assertRaises(queryd.ProgrammingError):
                self.cursor.execute(insert)
        self.assertEqual(self.count(), 0)

    def test_rows_without_values(self):
        """All or none, too."""
        self.connection.autocommit = True
        for rows in ([(), (), (1,)], [(), None, "x"]):
            with self.assertRaises(queryd.ProgrammingError):
                self.cursor.executemany("INSERT INTO booze DEFAULT VALUES", rows)
            self.assertEqual((self.count(), self.connection.in_transaction), (0, False))
        self.assertEqual(self.cursor.executemany("INSERT INTO booze DEFAULT VALUES", [(), None]).rowcount, 2)
        self.assertEqual(self.count(), 2)

    def test_no_rows_at_all(self):
        """A call that is wrong begins no transaction."""
        with self.assertRaises(TypeError):
            self.cursor.executemany("INSERT INTO booze(name) VALUES(?)", None)
        self.assertFalse(self.connection.in_transaction)

    def test_control(self):
        """Comments, white space and semicolons are no part of it."""
        self.connection.autocommit = True
        for text in ("-- x\nBEGIN", "/* y */ begin", ";; BEGIN", "BEGIN -- z", "BEGIN/**/IMMEDIATE /***/ TRANSACTION ;; -- z\n",
                     "/* a * / ** */--\n\tBEGIN\r\nEXCLUSIVE"):
            self.cursor.execute(text)
            self.assertTrue(self.connection.in_transaction, text)
            self.cursor.execute("INSERT INTO booze(name) VALUES('a')")
            self.cursor.execute("/* y */ ROLLBACK /* z */" if "y" in text else "-- y\n-- z\nROLLBACK TRANSACTION;")
            self.assertEqual((self.connection.in_transaction, self.count()), (False, 0))
        for text in ("/* y */ COMMIT", "-- x\nEND;"):
            self.connection.begin()
            self.cursor.execute(text)
            self.assertFalse(self.connection.in_transaction)
        for text in ("BEGIN; COMMIT", "/* BEGIN", "-- BEGIN", "BEGIN '--'", "END/*/", "BEGINNING", "/* x */ SELECTED"):
            with self.assertRaises(queryd.Error, msg=text):
                self.cursor.execute(text)
            self.assertFalse(self.connection.in_transaction)
        self.assertEqual(self.cursor.execute("/* BEGIN */ SELECT '-- COMMIT' -- END").fetchall(), [("-- COMMIT",)])

    def test_begin(self):
        self.connection.begin()
        with self.assertRaises(queryd.ProgrammingError):
            self.connection.begin()
        self.connection.autocommit = True
        self.assertFalse(self.connection.in_transaction)


class TestErrors(Case):
    """Where the text is wrong; time limits; interrupts."""

    def test_place(self):
        with self.assertRaises(queryd.ProgrammingError) as caught:
            self.cursor.execute("SELECT *\nFORM booze")
        error = caught.exception
        self.assertEqual((error.code, error.line, error.column, error.constraint), (queryd.ErrorCode.SYNTAX, 2, 1, None))
        with self.assertRaises(queryd.ProgrammingError) as caught:
            self.connection.sparql("SELECT * { ?s ?p }")
        self.assertEqual(caught.exception.line, 1)
        with self.assertRaises(queryd.InterfaceError):
            self.cursor.execute("SELECT 1", language="cypher")

    def test_timeout(self):
        connection = queryd.connect(timeout=0.1)
        with self.assertRaises(queryd.OperationalError) as caught:
            connection.execute(COUNT.replace("SELECT i FROM", "SELECT max(i) FROM"), [10**12]).fetchall()
        self.assertEqual(caught.exception.code, queryd.ErrorCode.TIMEOUT)

    def test_interrupt(self):
        done = threading.Event()

        def interrupt():
            while not done.wait(0.01):
                self.connection.interrupt()

        thread = threading.Thread(target=interrupt)
        thread.start()
        with self.assertRaises(queryd.OperationalError) as caught:
            self.connection.execute(COUNT.replace("SELECT i FROM", "SELECT max(i) FROM"), [10**12]).fetchall()
        done.set()
        thread.join()
        self.assertEqual(caught.exception.code, queryd.ErrorCode.CANCELLED)
        self.assertEqual(self.connection.execute("SELECT 1").fetchone(), (1,))

    def test_interrupted_updates(self):
        """The result of the call says whether the update was executed."""
        insert = "INSERT INTO many WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 200000) SELECT i FROM n"
        interrupted = 0
        connection = queryd.connect(autocommit=True)
        connection.execute("CREATE TABLE many(i)")
        for msec in range(0, 40, 4):
            timer = threading.Timer(msec / 1000, connection.interrupt)
            timer.start()
            expected = 200000
            try:
                self.assertEqual(connection.execute(insert).rowcount, expected)
            except queryd.OperationalError as error:
                self.assertEqual(error.code, queryd.ErrorCode.CANCELLED)
                expected = 0
                interrupted += 1
            timer.join()
            self.assertEqual(connection.execute("SELECT count(*) FROM many").fetchone()[0], expected)
            connection.execute("DELETE FROM many")
        self.assertGreater(interrupted, 0)
        connection.execute("DROP TABLE many")
        connection.close()

    def test_interrupted_transaction(self):
        """It has ended: rollback() and close() have nothing to do, and say nothing."""
        for end in (queryd.Connection.rollback, queryd.Connection.close):
            connection = queryd.connect()
            connection.execute("INSERT INTO booze(name) VALUES('interrupted')")
            timer = threading.Timer(0.1, connection.interrupt)
            timer.start()
            with self.assertRaises(queryd.OperationalError):
                connection.execute(COUNT.replace("SELECT i FROM", "SELECT max(i) FROM"), [10**12]).fetchall()
            timer.join()
            end(connection)
            self.assertEqual(self.count(), 0)

    def test_cursors_in_a_transaction(self):
        """One stays open while others run, to its end and after the commit, as with sqlite3."""
        self.connection.executemany("INSERT INTO booze(id, price) VALUES(?, 0)", [[i] for i in range(3)])
        for id_, in self.connection.execute("SELECT id FROM booze"):
            self.assertEqual(self.connection.execute("UPDATE booze SET price = price + 1 WHERE id = ?", [id_]).rowcount, 1)
        pairs = zip(self.connection.execute("SELECT id FROM booze"), self.connection.execute("SELECT price FROM booze"))
        self.assertEqual(list(pairs), [((i,), (1.0,)) for i in range(3)])
        many = self.connection.execute(COUNT, [100000])
        self.assertEqual(many.fetchone(), (1,))
        self.connection.commit()
        self.assertEqual(sum(row[0] for row in many), 5000050000 - 1)
        self.assertEqual(self.count(), 3)

    def test_interrupted_commit(self):
        """The daemon does not answer: commit() ends all the same, and what the daemon does later is all or nothing."""
        call = ["gdbus", "call", "--session", "--dest", "org.freedesktop.DBus", "--object-path", "/org/freedesktop/DBus",
                "--method", "org.freedesktop.DBus.GetConnectionUnixProcessID", "org.queryd.Query1"]
        pid = int(subprocess.check_output(call, text=True).split()[1].rstrip(",)"))
        self.connection.executemany("INSERT INTO booze(name) VALUES(?)", [["one"], ["two"]])
        timer = threading.Timer(0.1, self.connection.interrupt)
        os.kill(pid, signal.SIGSTOP)
        try:
            while ") T" not in pathlib.Path(f"/proc/{pid}/stat").read_text():  # each of its threads stops by itself
                time.sleep(0.001)
            timer.start()
            with self.assertRaisesRegex(queryd.OperationalError, "it is not known whether the update was executed"):
                self.connection.commit()
        finally:
            os.kill(pid, signal.SIGCONT)
            timer.join()
        self.assertIn(self.count(), (0, 2))


class TestSparql(Case):
    """RDF terms both ways."""

    def test_terms(self):
        terms = [queryd.Iri("urn:o"), "text", queryd.Literal("chat", language="fr"), 4, decimal.Decimal("4.5"), 1e30, True,
                 queryd.Literal("2026-02-28", "http://www.w3.org/2001/XMLSchema#date"), 2**70]
        with self.connection:
            self.connection.sparql("DELETE WHERE { <urn:s> ?p ?o }")
            insert = "INSERT { <urn:s> <urn:p> $o } WHERE {}"
            self.cursor.executemany(insert, [[term] for term in terms], language="sparql")
        found = {row[0] for row in self.connection.sparql("SELECT ?o { <urn:s> ?p ?o }")}
        self.assertEqual(found, set(terms))
        self.assertTrue(any(value is True for value in found) and any(isinstance(value, queryd.Iri) for value in found))
        self.assertEqual(self.connection.sparql("SELECT ?p { <urn:s> ?p $o }", {"o": terms[2]}).fetchall()[0][0], "urn:p")
        asked = self.connection.sparql("ASK { <urn:s> <urn:p> $o }", [datetime.date(2026, 2, 28)]).fetchone()
        self.assertEqual(asked[0] in (1, True), True)
        node = self.connection.sparql("SELECT ?b { BIND(BNODE() AS ?b) }").fetchone()[0]
        self.assertIsInstance(node, queryd.BlankNode)
        with self.assertRaises(queryd.ProgrammingError):
            self.connection.sparql("SELECT * { $s ?p ?o }", [node])
        ill = '"x"^^<http://www.w3.org/2001/XMLSchema#integer>'
        self.assertEqual(self.connection.sparql(f"SELECT ?v {{ VALUES ?v {{ {ill} }} }}").fetchone()[0].lexical, "x")


class TestDirect(Case):
    """The file itself, without the daemon."""

    def test_direct(self):
        self.cursor.execute("INSERT INTO booze(name) VALUES('a')")
        self.connection.commit()
        direct = queryd.connect(path=True)
        self.assertEqual(direct.execute("SELECT name FROM booze").fetchall(), [("a",)])
        with self.assertRaises(queryd.OperationalError) as caught:
            direct.execute("DELETE FROM booze")
        self.assertEqual(caught.exception.code, queryd.ErrorCode.READ_ONLY)


main()
