/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which constraint an update has broken, as the library tells it: every kind, by each way that an update can take.
 *
 * The names have dots, commas and quotes in them, and some tables have names that begin like others.
 */
#include "tests/e2e-client/client-calls.h"
#include "tests/e2e-client/private-bus.h"

#define SQL QUERY_LANGUAGE_SQL

typedef struct Case {
    const char *update;
    QueryConstraintKind kind;
    const char *table;
    const char *columns; /* with '|' between them */
    const char *name;
} Case;

static const char *const schema[] = {
    "CREATE TABLE t(id INTEGER PRIMARY KEY, a UNIQUE, b NOT NULL DEFAULT 0, c, d, CONSTRAINT small CHECK(c < 10), UNIQUE(c, d))",
    "CREATE TABLE \"t.a\"(\"b, t.a.c\" UNIQUE, \"x'y\" NOT NULL DEFAULT 1)",
    "CREATE TABLE \"o'n, t.a\"(\"p\"\"q\" TEXT PRIMARY KEY, r) WITHOUT ROWID",
    "CREATE TABLE plain(v, w)",
    "CREATE UNIQUE INDEX v_index ON plain(v)",
    "CREATE TABLE twins(a UNIQUE, b)",
    "CREATE UNIQUE INDEX twin ON twins(a)",
    "CREATE TABLE strict_one(i INTEGER, \"a.b column t.c\" TEXT) STRICT",
    "CREATE TABLE unnamed(a CHECK(a > 0))",
    "CREATE TABLE parent(id INTEGER PRIMARY KEY, k, l, UNIQUE(k, l))",
    "CREATE TABLE child(n, k, l, FOREIGN KEY(k, l) REFERENCES parent(k, l))",
    "CREATE TABLE lazy(p REFERENCES other(id) DEFERRABLE INITIALLY DEFERRED)",
    "CREATE TABLE other(id INTEGER PRIMARY KEY)",
    "CREATE TABLE two(p REFERENCES other(id), q REFERENCES other(id))",
    "CREATE TABLE guarded(a)",
    "CREATE TRIGGER guard BEFORE INSERT ON guarded BEGIN SELECT RAISE(ABORT, 'UNIQUE constraint failed: t.a'); END",
    "CREATE TABLE seen(a)",
    "CREATE TRIGGER through AFTER INSERT ON seen BEGIN INSERT INTO unnamed VALUES(new.a); END",
    "INSERT INTO t VALUES(1, 1, 1, 1, 1)",
    "INSERT INTO \"t.a\" VALUES(1, 1)",
    "INSERT INTO \"o'n, t.a\" VALUES('x', 1)",
    "INSERT INTO plain VALUES(1, 'W'), (2, 'W')",
    "INSERT INTO twins VALUES(1, 1)",
    "INSERT INTO parent VALUES(1, 1, 1)",
    "INSERT INTO child VALUES(1, 1, 1)",
};

static const Case cases[] = {
    { "INSERT INTO t(id) VALUES(1)", QUERY_CONSTRAINT_PRIMARY_KEY, "t", "id", NULL },
    { "INSERT INTO t(a) VALUES(1)", QUERY_CONSTRAINT_UNIQUE, "t", "a", NULL },
    { "INSERT INTO t(c, d) VALUES(1, 1)", QUERY_CONSTRAINT_UNIQUE, "t", "c|d", NULL },
    { "UPDATE t SET b = NULL", QUERY_CONSTRAINT_NOT_NULL, "t", "b", NULL },
    { "UPDATE t SET c = 10", QUERY_CONSTRAINT_CHECK, "t", "", "small" },
    { "INSERT INTO unnamed VALUES(0)", QUERY_CONSTRAINT_CHECK, "unnamed", "", "a > 0" },
    { "INSERT INTO seen VALUES(0)", QUERY_CONSTRAINT_CHECK, NULL, "", "a > 0" },
    { "INSERT INTO \"t.a\" VALUES(1, 1)", QUERY_CONSTRAINT_UNIQUE, "t.a", "b, t.a.c", NULL },
    { "INSERT INTO \"t.a\" VALUES(2, NULL)", QUERY_CONSTRAINT_NOT_NULL, "t.a", "x'y", NULL },
    { "INSERT INTO \"o'n, t.a\" VALUES('x', 1)", QUERY_CONSTRAINT_PRIMARY_KEY, "o'n, t.a", "p\"q", NULL },
    { "INSERT INTO plain VALUES(1, 2)", QUERY_CONSTRAINT_UNIQUE, "plain", "v", "v_index" },
    { "INSERT INTO plain(rowid) VALUES(1)", QUERY_CONSTRAINT_ROWID, "plain", "rowid", NULL },
    { "INSERT INTO twins VALUES(1, 1)", QUERY_CONSTRAINT_UNIQUE, "twins", "a", NULL },
    { "INSERT INTO strict_one VALUES('x', 'x')", QUERY_CONSTRAINT_DATATYPE, "strict_one", "i", NULL },
    { "INSERT INTO strict_one VALUES(1, x'00')", QUERY_CONSTRAINT_DATATYPE, "strict_one", "a.b column t.c", NULL },
    { "INSERT INTO other VALUES('x')", QUERY_CONSTRAINT_DATATYPE, "other", "", NULL },
    { "INSERT INTO child VALUES(2, 2, 2)", QUERY_CONSTRAINT_FOREIGN_KEY, "child", "k|l", NULL },
    { "DELETE FROM parent", QUERY_CONSTRAINT_FOREIGN_KEY, "child", "k|l", NULL },
    { "INSERT INTO two VALUES(5, 6)", QUERY_CONSTRAINT_FOREIGN_KEY, "two", "", NULL },
    { "INSERT INTO lazy VALUES(5)", QUERY_CONSTRAINT_FOREIGN_KEY, "lazy", "p", NULL },
    { "INSERT INTO guarded VALUES(1)", QUERY_CONSTRAINT_TRIGGER, NULL, "", NULL },
    { "INSERT OR ROLLBACK INTO t(a) VALUES(1)", QUERY_CONSTRAINT_UNIQUE, "t", "a", NULL },
};

static void
check(const GError *error, const Case *expected)
{
    g_autoptr(QueryConstraint) constraint = NULL;
    g_autoptr(GError) again = NULL;
    g_autoptr(QueryConstraint) remembered = NULL;
    g_autofree char *columns = NULL;

    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_CONSTRAINT);
    constraint = query_error_get_constraint(error);
    g_assert_nonnull(constraint);
    columns = g_strjoinv("|", (char **) query_constraint_get_columns(constraint));
    g_test_message("%s: %s", expected->update, error->message);
    g_assert_cmpint(query_constraint_get_kind(constraint), ==, expected->kind);
    g_assert_cmpstr(query_constraint_get_table(constraint), ==, expected->table);
    g_assert_cmpstr(columns, ==, expected->columns);
    g_assert_cmpstr(query_constraint_get_name(constraint), ==, expected->name);

    again = g_error_new_literal(error->domain, error->code, error->message); /* as a binding makes it */
    remembered = query_error_get_constraint(again);
    g_assert_true(remembered == constraint);
}

static QueryConnection *
open_with_schema(void)
{
    static gboolean is_made;
    QueryConnection *connection = client_open();

    for (gsize i = 0; i < G_N_ELEMENTS(schema) && !is_made; i++)
        client_execute(connection, schema[i]);
    is_made = TRUE;
    return connection;
}

static void
test_update(void)
{
    g_autoptr(QueryConnection) connection = open_with_schema();

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;

        g_assert_cmpint(query_connection_update(connection, SQL, cases[i].update, NULL, NULL, &error), ==, -1);
        check(error, &cases[i]);
    }
}

static void
test_statement(void)
{
    g_autoptr(QueryConnection) connection = open_with_schema();

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(QueryStatement) statement = query_connection_prepare_update(connection, SQL, cases[i].update, NULL, &error);

        g_assert_no_error(error);
        g_assert_cmpint(query_statement_update(statement, NULL, &error), ==, -1);
        check(error, &cases[i]);
    }
}

static void
test_batch(void)
{
    g_autoptr(QueryConnection) connection = open_with_schema();

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(QueryBatch) batch = query_connection_create_batch(connection);

        query_batch_add(batch, SQL, cases[i].update, NULL);
        g_assert_false(query_batch_execute(batch, NULL, &error));
        check(error, &cases[i]);
    }
}

static void
test_transaction(void)
{
    g_autoptr(QueryConnection) connection = open_with_schema();

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(QueryTransaction) transaction = query_connection_begin(connection, NULL, &error);

        g_assert_no_error(error);
        if (query_transaction_update(transaction, SQL, cases[i].update, NULL, NULL, &error) >= 0)
            g_assert_false(query_transaction_commit(transaction, NULL, &error)); /* a deferred key */
        check(error, &cases[i]);
    }
}

/* An index of expressions has the columns that are some; the table may be known by its name alone. */
static void
test_expressions(void)
{
    g_autoptr(QueryConnection) connection = open_with_schema();
    g_autoptr(GError) error = NULL;

    client_execute(connection, "CREATE TABLE folded(v, w)");
    client_execute(connection, "CREATE UNIQUE INDEX \"lower 'w'\" ON folded(lower(w), v)");
    client_execute(connection, "INSERT INTO folded VALUES(1, 'A')");
    g_assert_cmpint(query_connection_update(connection, SQL, "INSERT INTO folded VALUES(1, 'a')", NULL, NULL, &error), ==, -1);
    check(error, &(Case){ "expressions", QUERY_CONSTRAINT_UNIQUE, "folded", "v", "lower 'w'" });
}

static void
test_graphs(void)
{
    g_autoptr(QueryConnection) connection = open_with_schema();
    g_autoptr(GError) error = NULL;

    g_assert_cmpint(query_connection_update(connection, QUERY_LANGUAGE_SPARQL, "DROP GRAPH <urn:none>", NULL, NULL, &error), ==,
                    -1);
    check(error, &(Case){ "graph", QUERY_CONSTRAINT_GRAPH, NULL, "", "urn:none" });
}

/* Details that do not fit are left out, all but the kind. */
static void
test_large(void)
{
    g_autoptr(QueryConnection) connection = open_with_schema();
    g_autoptr(GError) error = NULL;
    g_autofree char *name = g_strnfill(3000, 'n');
    g_autofree char *create = g_strdup_printf("CREATE TABLE %s(a UNIQUE)", name);
    g_autofree char *insert = g_strdup_printf("INSERT INTO %s VALUES(1), (1)", name);

    client_execute(connection, create);
    g_assert_cmpint(query_connection_update(connection, SQL, insert, NULL, NULL, &error), ==, -1);
    check(error, &(Case){ "large", QUERY_CONSTRAINT_UNIQUE, NULL, "", NULL });
}

static void
test_none(void)
{
    g_autoptr(QueryConnection) connection = open_with_schema();
    g_autoptr(GError) error = NULL;
    g_autoptr(GError) own = g_error_new(QUERY_ERROR, QUERY_ERROR_CONSTRAINT, "of the application");

    g_assert_cmpint(query_connection_update(connection, SQL, "INSERT INTO none VALUES(1)", NULL, NULL, &error), ==, -1);
    g_assert_null(query_error_get_constraint(error));
    g_assert_null(query_error_get_constraint(own));
}

int
main(int argc, char **argv)
{
    PrivateBus *bus;
    int r;

    g_test_init(&argc, &argv, NULL);
    bus = private_bus_new();
    g_test_add_func("/constraint/update", test_update);
    g_test_add_func("/constraint/statement", test_statement);
    g_test_add_func("/constraint/batch", test_batch);
    g_test_add_func("/constraint/transaction", test_transaction);
    g_test_add_func("/constraint/expressions", test_expressions);
    g_test_add_func("/constraint/graphs", test_graphs);
    g_test_add_func("/constraint/large", test_large);
    g_test_add_func("/constraint/none", test_none);
    r = g_test_run();
    private_bus_free(bus);
    return r;
}
