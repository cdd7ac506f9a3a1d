#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""libquery-client from Python by its GIR: sync, async, getters of each type, JSON, errors. Exit status 0: all as expected."""
import json
import sys
import tempfile

import gi

gi.require_version("QueryClient", "1")
from gi.repository import Gio, GLib, GObject, QueryClient  # noqa: E402

SQL = QueryClient.Language.SQL
ONE_OF_EACH = "SELECT 42 AS i, 1.5 AS f, 'ä' AS t, x'00ff' AS b, NULL AS n, '2024-02-29T12:30:00Z' AS d"


def equal(found, expected):
    if found != expected:
        sys.exit(f"found {found!r}, expected {expected!r}")


def fails(domain_quark, code, function, *arguments):
    try:
        function(*arguments)
    except GLib.Error as error:
        if not error.matches(domain_quark, code):
            sys.exit(f"another error: {error}")
        return error
    sys.exit(f"{function} did not fail")


def parameters(**values):
    return GLib.Variant("a{sv}", values)


def check_values(connection):
    cursor = connection.query(SQL, ONE_OF_EACH, None, None)
    equal([cursor.get_column_name(i) for i in range(cursor.get_n_columns())], ["i", "f", "t", "b", "n", "d"])
    equal(cursor.next(None), True)
    kinds = QueryClient.ValueType
    equal([cursor.get_value_type(i) for i in range(5)], [kinds.INTEGER, kinds.FLOAT, kinds.TEXT, kinds.BLOB, kinds.NULL])
    equal(cursor.get_int64(0), 42)
    equal(cursor.get_double(1), 1.5)
    equal(tuple(cursor.get_string(2)), ("ä", 2))
    equal(cursor.get_bytes(3).get_data(), b"\x00\xff")
    equal((cursor.is_null(4), cursor.get_string(4)[0], cursor.get_bytes(4)), (True, None, None))
    equal(cursor.get_boolean(0), True)
    equal(cursor.get_date_time(5).to_unix(), 1709209800)
    equal(cursor.next(None), False)
    equal(cursor.get_n_rows(), 1)


def check_boxed(connection):
    """Values whose type is not known before, both ways."""
    statement = connection.prepare(SQL, "SELECT ?, ?, ?, ?, ?, ?, ?", None)
    values = [7, 1.5, "ä", GLib.Bytes.new(b"\0"), True, GLib.DateTime.new_utc(2024, 2, 29, 12, 30, 0), None]
    for i, value in enumerate(values, 1):
        equal(statement.bind_value(str(i), value), True)
    cursor = statement.execute(None)
    equal(cursor.next(None), True)
    found = [cursor.get_value(i) for i in range(7)]
    equal(found[:3] + found[4:], [7, 1.5, "ä", 1, "2024-02-29T12:30:00Z", None])
    equal(found[3].unpack(), [0])
    equal(statement.bind_value("1", found[3]), True)
    equal([cursor.get_variant(i).get_type_string() for i in range(7)], ["x", "d", "s", "ay", "x", "s", "g"])
    too_large = GObject.Value(GObject.TYPE_UINT64, 2**64 - 1)
    fails(QueryClient.error_quark(), QueryClient.Error.TOO_BIG, statement.bind_value, "1", too_large)
    fails(QueryClient.error_quark(), QueryClient.Error.BAD_PARAMETER, statement.bind_value, "1", connection)
    fails(QueryClient.error_quark(), QueryClient.Error.BAD_PARAMETER, statement.bind_value, "8", 1)
    equal(statement.bind_parameters(parameters(**{"1": GLib.Variant("s", "one"), "2": GLib.Variant("g", "")})), True)
    unknown = parameters(x=GLib.Variant("s", ""))
    fails(QueryClient.error_quark(), QueryClient.Error.BAD_PARAMETER, statement.bind_parameters, unknown)
    cursor = statement.execute(None)
    equal((cursor.next(None), cursor.get_value(0), cursor.get_value(1), cursor.get_value(2)), (True, "one", None, "ä"))
    statement = connection.prepare(QueryClient.Language.SPARQL, "SELECT $a $b {}", None)
    statement.bind_boolean("a", True)
    statement.bind_date_time("b", values[5])
    cursor = statement.execute(None)
    equal(cursor.next(None), True)
    equal([cursor.get_variant(i).unpack() for i in range(2)],
          [("true", "http://www.w3.org/2001/XMLSchema#boolean", ""),
           ("2024-02-29T12:30:00Z", "http://www.w3.org/2001/XMLSchema#dateTime", "")])
    equal(connection.query(SQL, "SELECT 1 WHERE 0", None, None).read_json(0, None).get_data(), b"[]\n")


def check_properties(connection):
    told = []
    connection.connect("notify", lambda _, spec: told.append(spec.name))
    connection.props.timeout_msec = 5000
    connection.set_max_rows(2)
    connection.set_max_rows(2)
    connection.props.durability = QueryClient.Durability.RELAXED
    connection.props.transport = QueryClient.Transport.SOCKETPAIR
    equal(told, ["timeout-msec", "max-rows", "durability", "transport"])
    equal((connection.get_timeout_msec(), connection.props.max_rows, connection.props.store), (5000, 2, None))
    cursor = connection.query(SQL, "SELECT 1 UNION SELECT 2 UNION SELECT 3", None, None)
    equal(len(json.loads(cursor.read_json(0, None).get_data())), 2)
    equal((cursor.props.n_columns, cursor.props.n_rows, cursor.props.connection), (1, 2, connection))
    statement = connection.prepare(SQL, "SELECT :a", None)
    equal((statement.props.text, statement.props.language, statement.props.n_parameters), ("SELECT :a", SQL, 1))
    batch = connection.create_batch()
    batch.connect("notify::n-statements", lambda object, _: told.append(object.props.n_statements))
    batch.add(SQL, "SELECT 1", None)
    equal(told[-1], 1)
    transaction = connection.begin(None)
    transaction.connect("notify::is-open", lambda object, _: told.append(object.props.is_open))
    equal(transaction.props.is_open, True)
    transaction.rollback(None)
    equal(told[-1], False)


def check_initable():
    connection = QueryClient.Connection(store=None)
    equal(connection.init(None), True)
    fails(QueryClient.error_quark(), QueryClient.Error.BAD_PARAMETER, QueryClient.Connection(store="no name").init, None)
    unopened = QueryClient.Connection(is_direct=True)
    fails(QueryClient.error_quark(), QueryClient.Error.CLOSED, unopened.query, SQL, "SELECT 1", None, None)
    waiter = Waiter()
    connection.init_async(GLib.PRIORITY_DEFAULT, None, waiter.done)
    equal(connection.init_finish(waiter.wait()), True)


def check_updates(connection):
    connection.update(SQL, "CREATE TABLE p(id INTEGER PRIMARY KEY, t TEXT UNIQUE)", None, None)
    equal(connection.update(SQL, "INSERT INTO p(t) VALUES(:t)", parameters(t=GLib.Variant("s", "one")), None), 1)
    statement = connection.prepare_update(SQL, "INSERT INTO p(t) VALUES(:t)", None)
    equal(statement.get_n_parameters(), 1)
    equal(statement.get_parameter_name(0), ":t")
    for text in ("two", "three"):
        statement.bind_string("t", text, -1)
        equal(statement.update(None), 1)
    equal(statement.get_last_insert_rowid(), 3)
    batch = connection.create_batch()
    batch.add(SQL, "DELETE FROM p WHERE id > 1", None)
    batch.add(SQL, "INSERT INTO p(t) VALUES('two')", None)
    equal(batch.execute(None), True)
    equal([batch.get_changes(i) for i in range(2)], [2, 1])
    rows = connection.query(SQL, "SELECT t FROM p ORDER BY id", None, None).read_json(0, None)
    equal(json.loads(rows.get_data()), [{"t": "one"}, {"t": "two"}])


def check_transaction(connection):
    transaction = connection.begin(None)
    equal(transaction.savepoint('a "b"', None), True)
    cursor = transaction.update_returning(SQL, "INSERT INTO p(t) VALUES('three') RETURNING upper(t)", None, None)
    equal((cursor.next(None), cursor.get_string(0)[0], cursor.next(None), cursor.get_changes()), (True, "THREE", False, 1))
    equal(transaction.rollback_to('a "b"', None), True)
    equal(transaction.release('a "b"', None), True)
    equal(transaction.update(SQL, "INSERT INTO p(t) VALUES('four')", None, None), 1)
    equal(transaction.commit(None), True)
    rows = connection.query(SQL, "SELECT t FROM p ORDER BY id", None, None).read_json(0, None)
    equal([row["t"] for row in json.loads(rows.get_data())], ["one", "two", "four"])


def check_many(connection):
    """More statements and open cursors than the daemon allows channels, read in turn, with updates between them."""
    sizes = [10, 1000, 20000]
    statements = [connection.prepare(SQL, f"SELECT {i} + :a", None) for i in range(100)]
    cursors = []
    connection.update(SQL, "CREATE TABLE many(a)", None, None)
    for i in range(90):
        text = f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {sizes[i % 3]}) SELECT i FROM n"
        cursors.append((connection.query(SQL, text, None, None), sizes[i % 3]))
        equal(connection.update(SQL, "INSERT INTO many VALUES(1)", None, None), 1)
    for row in range(1, 6):
        for cursor, _ in cursors:
            equal(cursor.next(None), True)
            equal(cursor.get_int64(0), row)
    for i, statement in enumerate(statements):
        statement.bind_int64("a", 1)
        result = statement.execute(None)
        equal(result.next(None), True)
        equal(result.get_int64(0), i + 1)
    for cursor, size in cursors:
        equal(len(json.loads(cursor.read_json(0, None).get_data())), size - 5)


def check_errors(connection):
    quark = QueryClient.error_quark()
    error = fails(quark, QueryClient.Error.SYNTAX, connection.query, SQL, "SELECT *\nFORM p", None, None)
    equal(tuple(QueryClient.error_get_place(error)), (True, 2, 1))
    equal(QueryClient.error_get_constraint(error), None)
    error = fails(quark, QueryClient.Error.CONSTRAINT, connection.update, SQL, "INSERT INTO p(t) VALUES('one')", None, None)
    constraint = QueryClient.error_get_constraint(error)
    equal((constraint.get_kind(), constraint.get_table(), constraint.get_columns(), constraint.get_name()),
          (QueryClient.ConstraintKind.UNIQUE, "p", ["t"], None))
    fails(quark, QueryClient.Error.READ_ONLY, connection.query, SQL, "DELETE FROM p", None, None)
    fails(quark, QueryClient.Error.BAD_PARAMETER, connection.query, SQL, "SELECT :a", None, None)
    cancelled = Gio.Cancellable()
    cancelled.cancel()
    fails(Gio.io_error_quark(), Gio.IOErrorEnum.CANCELLED, connection.query, SQL, "SELECT 1", None, cancelled)


class Waiter:
    """Runs the main loop until an async call is done; its result is the finish function's argument."""

    def __init__(self):
        self.loop, self.result = GLib.MainLoop(), None

    def done(self, _source, result, *_):
        self.result = result
        self.loop.quit()

    def wait(self):
        self.loop.run()
        return self.result


def wait_for(function, *arguments):
    waiter = Waiter()
    function(*arguments, waiter.done)
    return waiter.wait()


def check_changes(connection):
    loop = GLib.MainLoop()
    seen = []

    def on_changed(_, generation, tables, graphs):
        seen.append((generation, list(tables), list(graphs)))
        loop.quit()

    notifier = connection.create_notifier(["P"], None, None)
    notifier.connect("changed", on_changed)
    connection.update(SQL, "CREATE TABLE IF NOT EXISTS other(a)", None, None)
    connection.update(SQL, "INSERT INTO p(t) VALUES('watched')", None, None)
    loop.run()
    equal(seen[0][1] in (["p"], ["other", "p"]), True)
    equal(seen[0][2], [])
    equal(seen[0][0] > 0, True)


def check_subscription(connection):
    """A result is read again when it is stale; a change that it holds already is not told."""
    loop = GLib.MainLoop()
    told = []

    def on_stale(subscription, generation):
        told.append(generation)
        cursor = connection.query(SQL, "SELECT count(*) FROM p", None, None)
        cursor.next(None)
        equal(cursor.next(None), False)
        subscription.set_generation(cursor.get_generation())
        equal(cursor.get_generation() >= generation, True)
        loop.quit()

    made = wait_for(connection.subscribe_async, SQL, "SELECT count(*) FROM p", None)
    subscription = connection.subscribe_finish(made)
    subscription.connect("stale", on_stale)
    equal(subscription.props.statement, "SELECT count(*) FROM p")
    equal(subscription.is_stale(), False)
    connection.update(SQL, "INSERT INTO p(t) VALUES('stale')", None, None)
    loop.run()
    equal(len(told), 1)
    equal(subscription.props.generation >= told[0], True)
    fails(QueryClient.error_quark(), QueryClient.Error.SYNTAX, connection.subscribe, SQL, "SELECT", None)


def check_async():
    connection = QueryClient.Connection.new_finish(wait_for(QueryClient.Connection.new_async, None))
    cursor = connection.query_finish(wait_for(connection.query_async, SQL, "SELECT 1 UNION SELECT 2", None, None))
    found = []
    while cursor.next_finish(wait_for(cursor.next_async, None)):
        found.append(cursor.get_int64(0))
    equal(found, [1, 2])
    cursor = connection.query_finish(wait_for(connection.query_async, SQL, "SELECT 7 AS seven", None, None))
    text = cursor.read_json_finish(wait_for(cursor.read_json_async, 0, None))
    equal(json.loads(text.get_data()), [{"seven": 7}])
    result = wait_for(connection.query_async, SQL, "SELECT", None, None)
    fails(QueryClient.error_quark(), QueryClient.Error.SYNTAX, connection.query_finish, result)


def check_async_calls(connection):
    """Each call of the daemon without waiting."""
    def done(name, *arguments):
        return getattr(connection, name + "_finish")(wait_for(getattr(connection, name + "_async"), *arguments, None))

    statement = done("prepare", SQL, "SELECT 1")
    equal(statement.execute(None).next(None), True)
    equal(done("prepare_update", SQL, "CREATE TABLE imported(a, b)").update(None), 0)
    equal([part != "" for part in done("explain", QueryClient.Language.SPARQL, "ASK {}")], [True, True, True])
    with tempfile.TemporaryFile() as file:
        file.write(b"a,b\n1,2\n3,4\n")
        file.seek(0)
        told, waiter = [], Waiter()
        options = parameters(table=GLib.Variant("s", "imported"), header=GLib.Variant("b", True))
        connection.import_async(file.fileno(), "csv", options, lambda *figures: told.append(figures[0]), (), None,
                                waiter.done)
        equal(connection.import_finish(waiter.wait()), (True, 2))
        equal(told[-1], 2)
    with tempfile.TemporaryFile() as file:
        equal(done("export", SQL, "SELECT * FROM imported", "csv", file.fileno(), None)[:2], (True, 2))
        file.seek(0)
        equal(file.read(), b"a,b\n1,2\n3,4\n")
    with tempfile.TemporaryFile() as file:
        waiter = Waiter()
        connection.backup_async(file.fileno(), None, None, None, waiter.done)
        equal(connection.backup_finish(waiter.wait()), True)
        file.seek(0)
        waiter = Waiter()
        connection.restore_async(file.fileno(), True, None, None, None, waiter.done)
        equal(connection.restore_finish(waiter.wait()), (True, []))
    equal(done("check", True), (True, []))
    equal(done("optimize", False), True)
    equal(done("reload"), True)
    equal(done("get_stats").get_type_string(), "a{sv}")
    equal(done("get_limits").n_children() > 10, True)
    equal(done("list_queries").get_type_string(), "aa{sv}")
    equal(done("get_daemon_property", "ProtocolVersion").unpack(), 1)
    quark = QueryClient.error_quark()
    fails(quark, QueryClient.Error.SYNTAX, done, "prepare", SQL, "SELEC 1")
    fails(quark, QueryClient.Error.BAD_PARAMETER, done, "export", SQL, "SELECT 1", "csv", 12345, None)
    cancelled = Gio.Cancellable()
    cancelled.cancel()
    waiter = Waiter()
    connection.check_async(False, cancelled, waiter.done)
    fails(Gio.io_error_quark(), Gio.IOErrorEnum.CANCELLED, connection.check_finish, waiter.wait())


def check_direct():
    """The file itself; its name is the default store's."""
    connection = QueryClient.Connection.new_direct(None, None)
    statement = connection.prepare(SQL, "SELECT t FROM p WHERE id = :id", None)
    statement.bind_int64("id", 1)
    cursor = statement.execute(None)
    equal(cursor.next(None), True)
    equal(cursor.get_string(0)[0], "one")
    equal(cursor.next(None), False)
    fails(QueryClient.error_quark(), QueryClient.Error.READ_ONLY, connection.update, SQL, "DELETE FROM p", None, None)
    fails(QueryClient.error_quark(), QueryClient.Error.UNAVAILABLE, QueryClient.Connection.new_direct, "/nonexistent", None)


def main():
    connection = QueryClient.Connection.new(None)
    check_values(connection)
    check_boxed(connection)
    check_properties(QueryClient.Connection.new(None))
    check_initable()
    check_updates(connection)
    check_transaction(connection)
    check_changes(connection)
    check_subscription(connection)
    check_many(connection)
    check_errors(connection)
    check_async()
    check_async_calls(connection)
    check_direct()
    print("all as expected")


main()
