/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libquery-client from Vala by its vapi: sync, async, getters of each type, JSON, errors. Exit status 0: all as expected.
 */
const Query.Language SQL = Query.Language.SQL;

void
expect(bool condition, string what)
{
    if (!condition) {
        stderr.printf("not as expected: %s\n", what);
        Process.exit(1);
    }
}

void
check_values(Query.Connection connection) throws Error
{
    var cursor = connection.query(SQL, "SELECT 42 AS i, 1.5, 'ä', x'00ff', NULL, '2024-02-29T12:30:00Z'", null);
    size_t n_bytes;

    expect(cursor.get_n_columns() == 6 && cursor.get_column_name(0) == "i", "columns");
    expect(cursor.next(), "a row");
    expect(cursor.get_value_type(0) == Query.ValueType.INTEGER, "type");
    expect(cursor.get_int64(0) == 42, "integer");
    expect(cursor.get_double(1) == 1.5, "float");
    expect(cursor.get_string(2, out n_bytes) == "ä" && n_bytes == 2, "text");
    expect(cursor.get_bytes(3).get_size() == 2, "blob");
    expect(cursor.is_null(4), "null");
    expect(cursor.get_date_time(5).to_unix() == 1709209800, "time");
    expect(!cursor.next(), "the end");
    expect(cursor.get_n_rows() == 1, "number of rows");
}

void
check_updates(Query.Connection connection) throws Error
{
    connection.update(SQL, "CREATE TABLE v(id INTEGER PRIMARY KEY, t TEXT UNIQUE)", null);

    var parameters = new VariantDict();
    parameters.insert("t", "s", "one");
    expect(connection.update(SQL, "INSERT INTO v(t) VALUES(:t)", parameters.end()) == 1, "one row inserted");

    var statement = connection.prepare_update(SQL, "INSERT INTO v(t) VALUES(?)");
    statement.bind_string("1", "two", -1);
    expect(statement.update() == 1 && statement.get_last_insert_rowid() == 2, "the second row");

    var batch = connection.create_batch();
    batch.add(SQL, "DELETE FROM v WHERE id = 1", null);
    expect(batch.execute() && batch.get_changes(0) == 1, "batch");

    var json = connection.query(SQL, "SELECT t FROM v", null).read_json(0);
    expect((string) Bytes.unref_to_data((owned) json) == "[{\"t\":\"two\"}]\n", "JSON");
}

void
check_errors(Query.Connection connection) throws Error
{
    try {
        connection.query(SQL, "SELECT *\nFORM v", null);
        expect(false, "a syntax error");
    } catch (Query.Error.SYNTAX error) {
        uint line;
        uint column;

        expect(Query.Error.get_place(error, out line, out column) && line == 2 && column == 1, "its place");
    }
    try {
        connection.update(SQL, "INSERT INTO v(t) VALUES('two')", null);
        expect(false, "a broken constraint");
    } catch (Query.Error.CONSTRAINT error) {
        expect(error.message.contains("v.t"), "its message");
    }
}

async void
check_async(Query.Connection connection) throws Error
{
    var cursor = yield connection.query_async(SQL, "SELECT 1 UNION SELECT 2", null, null);
    int64 sum = 0;

    while (yield cursor.next_async(null))
        sum += cursor.get_int64(0);
    expect(sum == 3, "async rows");
    try {
        yield connection.query_async(SQL, "SELECT", null, null);
        expect(false, "an async error");
    } catch (Query.Error.SYNTAX error) {
    }
}

int
main()
{
    try {
        var connection = new Query.Connection();
        var loop = new MainLoop();
        Error? failure = null;

        check_values(connection);
        check_updates(connection);
        check_errors(connection);
        check_async.begin(connection, (source, result) => {
            try {
                check_async.end(result);
            } catch (Error error) {
                failure = error;
            }
            loop.quit();
        });
        loop.run();
        if (failure != null)
            throw failure;
    } catch (Error error) {
        stderr.printf("%s\n", error.message);
        return 1;
    }
    stdout.printf("all as expected\n");
    return 0;
}
