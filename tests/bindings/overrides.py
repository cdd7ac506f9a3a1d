#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The overrides of gi.repository.QueryClient against the real daemon. Exit status 0: all as expected."""
import datetime
import sys

import gi

gi.require_version("QueryClient", "1")
from gi.repository import GLib, QueryClient  # noqa: E402

SQL, SPARQL = QueryClient.Language.SQL, QueryClient.Language.SPARQL


def equal(found, expected):
    if found != expected:
        sys.exit(f"found {found!r}, expected {expected!r}")


def fails(kind, function, *arguments):
    try:
        function(*arguments)
    except kind:
        return
    sys.exit(f"{function} did not fail")


def check_booleans(connection):
    """In SPARQL they are xsd:boolean, each way that an a{sv} goes."""
    ask, asked = "ASK { FILTER (sameTerm($x, true)) }", {"x": True}
    insert = "INSERT {{ <x:{}> <x:p> $x }} WHERE {{ }}"
    statement = connection.prepare(SPARQL, ask)
    statement.bind(asked)
    with statement.execute() as cursor:
        equal([tuple(row) for row in cursor], [("true",)])
    equal([tuple(row) for row in connection.query(SPARQL, ask, asked)], [("true",)])
    connection.update(SPARQL, insert.format("update"), asked)
    with connection.begin() as transaction:
        equal([tuple(row) for row in transaction.query(SPARQL, ask, asked)], [("true",)])
        transaction.update(SPARQL, insert.format("transaction"), asked)
    with connection.create_batch() as batch:
        batch.add(SPARQL, insert.format("batch"), asked)
    equal([row[0] for row in connection.query(SPARQL, "SELECT (COUNT(*) AS ?n) { ?s <x:p> true }")], ["3"])


def check_rows(connection):
    connection.update(SQL, "CREATE TABLE o(id INTEGER PRIMARY KEY, name TEXT)")
    equal(connection.update(SQL, "INSERT INTO o(name) VALUES(:a), (:b)", {"a": "one", "b": None}), 2)
    rows = list(connection.query(SQL, "SELECT id, name FROM o WHERE id > ? ORDER BY id", [0]))
    equal(rows, [(1, "one"), (2, None)])
    equal((rows[0]["name"], rows[0].keys(), rows[0][-1]), ("one", ["id", "name"], "one"))
    fails(KeyError, lambda: rows[0]["Name"])
    values = (1, 1.5, "ä", b"\0", None, True, datetime.date(2026, 2, 28), GLib.Variant("q", 7))
    (row,) = connection.query(SQL, "SELECT " + ", ".join("?" * len(values)), values)
    equal(row, (1, 1.5, "ä", b"\0", None, 1, "2026-02-28", 7))
    fails(TypeError, connection.query, SQL, "SELECT ?", [object()])
    fails(GLib.Error, connection.query, SQL, "SELECT ?", [])
    (row,) = connection.query(SPARQL, "SELECT $x {}", {"x": ("chat", "", "fr")})
    equal(row, ("chat",))
    check_booleans(connection)
    statement = connection.prepare(SQL, "SELECT :a + 1")
    statement.bind({"a": 41})
    with statement.execute() as cursor:
        equal([tuple(row) for row in cursor], [(42,)])


def lose_transaction(connection):
    """The daemon has ended it, and the block goes on."""
    with connection.begin() as transaction:
        fails(GLib.Error, transaction.update, SQL, "INSERT OR ROLLBACK INTO o(id) SELECT id FROM o")
        equal(transaction.is_open(), False)


def check_transactions(connection):
    with connection.begin() as transaction:
        transaction.update(SQL, "INSERT INTO o(name) VALUES(?)", ["three"])
        equal([row[0] for row in transaction.query(SQL, "SELECT count(*) FROM o")], [3])
    try:
        with connection.begin() as transaction:
            transaction.update(SQL, "DELETE FROM o")
            raise ZeroDivisionError
    except ZeroDivisionError:
        pass
    with connection.begin() as transaction:
        transaction.update(SQL, "DELETE FROM o")
        transaction.rollback()
    fails(GLib.Error, lose_transaction, connection)
    with connection.create_batch() as batch:
        batch.add(SQL, "INSERT INTO o(name) VALUES(?)", ["four"])
        batch.add(SQL, "UPDATE o SET name = upper(name)")
        equal(len(batch), 2)
    equal([row["name"] for row in connection.query(SQL, "SELECT name FROM o ORDER BY id")], ["ONE", None, "THREE", "FOUR"])


def main():
    connection = QueryClient.Connection.new(None)
    check_rows(connection)
    check_transactions(connection)
    print("all as expected")


main()
