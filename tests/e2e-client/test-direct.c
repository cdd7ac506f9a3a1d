/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The same statements by a direct connection and by the daemon, on one database: what comes out must be the same, good or bad.
 */
#include <signal.h>
#include <string.h>

#include "client-lib/query-client.h"
#include "tests/e2e-client/client-calls.h"
#include "tests/e2e-client/private-bus.h"

#define SQL QUERY_LANGUAGE_SQL
#define COUNT_TO(n) "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " n ") "

static PrivateBus *bus;

typedef struct Fixture {
    QueryConnection *daemon;
    QueryConnection *direct;
    char *path;
} Fixture;

static void
execute(Fixture *self, const char *text)
{
    g_autoptr(GError) error = NULL;

    (void) query_connection_update(self->daemon, SQL, text, NULL, NULL, &error);
    g_assert_no_error(error);
}

static void
set_up(Fixture *self, gconstpointer data)
{
    g_autoptr(GError) error = NULL;

    self->daemon = query_connection_new(NULL, &error);
    g_assert_no_error(error);
    self->path = g_build_filename(g_get_user_data_dir(), "queryd", "queryd.db", NULL);
    execute(self, "DROP TABLE IF EXISTS t");
    execute(self, "CREATE TABLE t(id INTEGER PRIMARY KEY, v, name VARCHAR(20), made DATETIME, \"odd name\" BLOB)");
    execute(self, COUNT_TO("3000") "INSERT INTO t SELECT i, CASE i % 5 WHEN 0 THEN NULL WHEN 1 THEN i * 1e18 WHEN 2 THEN i / 7.0 "
                                   "WHEN 3 THEN 'text ' || i || char(0) || 'ä' ELSE zeroblob(i % 50) END, printf('%020d', i), "
                                   "datetime(i, 'unixepoch'), CAST(x'61ffc3' AS TEXT) FROM n");
    self->direct = query_connection_new_direct(NULL, NULL, &error); /* the default store */
    g_assert_no_error(error);
}

static void
tear_down(Fixture *self, gconstpointer data)
{
    g_clear_object(&self->direct);
    g_clear_object(&self->daemon);
    g_free(self->path);
}

static void
append_row(GString *out, QueryCursor *cursor)
{
    for (guint i = 0; i < query_cursor_get_n_columns(cursor); i++) {
        g_autoptr(GBytes) bytes = query_cursor_get_bytes(cursor, i);
        double number = query_cursor_get_double(cursor, i);
        gsize n = bytes != NULL ? g_bytes_get_size(bytes) : 0;

        g_string_append_printf(out, "%d:%" G_GINT64_FORMAT ":%a:%" G_GSIZE_FORMAT ":", (int) query_cursor_get_value_type(cursor, i),
                               query_cursor_get_int64(cursor, i), number, n);
        if (n > 0)
            g_string_append_len(out, g_bytes_get_data(bytes, NULL), (gssize) n);
    }
    g_string_append_c(out, '\n');
}

/* Everything that the library tells about a result. */
static GString *
describe(QueryConnection *connection, QueryLanguage language, const char *text, GVariant *parameters)
{
    GString *out = g_string_new(NULL);
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryCursor) cursor = query_connection_query(connection, language, text, parameters, NULL, &error);

    for (guint i = 0; cursor != NULL && i < query_cursor_get_n_columns(cursor); i++)
        g_string_append_printf(out, "%s (%s), ", query_cursor_get_column_name(cursor, i), query_cursor_get_column_type(cursor, i));
    while (cursor != NULL && query_cursor_next(cursor, NULL, &error))
        append_row(out, cursor);
    if (cursor != NULL && error == NULL)
        g_string_append_printf(out, "%" G_GUINT64_FORMAT " rows", query_cursor_get_n_rows(cursor));
    if (error != NULL) {
        guint line = 0;
        guint column = 0;

        (void) query_error_get_place(error, &line, &column);
        g_string_append_printf(out, "%s %d at %u:%u: %s", g_quark_to_string(error->domain), error->code, line, column,
                               error->message);
    }
    return out;
}

static void
compare_in(Fixture *self, QueryLanguage language, const char *text, const char *parameters)
{
    g_autoptr(GVariant) values = parameters != NULL ? g_variant_ref_sink(g_variant_new_parsed(parameters)) : NULL;
    g_autoptr(GString) by_daemon = describe(self->daemon, language, text, values);
    g_autoptr(GString) by_direct = describe(self->direct, language, text, values);

    g_test_message("%s", text);
    if (by_daemon->len < 2000 && by_direct->len < 2000)
        g_assert_cmpstr(by_direct->str, ==, by_daemon->str);
    g_assert_cmpmem(by_direct->str, by_direct->len, by_daemon->str, by_daemon->len);
}

static void
compare(Fixture *self, const char *text, const char *parameters)
{
    compare_in(self, SQL, text, parameters);
}

static void
test_results(Fixture *self, gconstpointer data)
{
    static const char *const texts[] = {
        "SELECT * FROM t",
        "SELECT * FROM t ORDER BY v, id DESC LIMIT 700 OFFSET 13",
        "SELECT id AS a, id AS a, v || '' AS b, count(*) OVER (ORDER BY id) FROM t",
        "SELECT typeof(v), count(*), sum(id), avg(id), group_concat(name) FROM t GROUP BY 1 ORDER BY 1",
        "SELECT DISTINCT v FROM t WHERE v IS NOT NULL ORDER BY v",
        "SELECT a.id, b.name FROM t a JOIN t b ON b.id = a.id + 1 WHERE a.id % 100 = 0",
        "SELECT id FROM t WHERE 0",
        "SELECT 1e999, -1e999, 0.1 + 0.2, -0.0, 9223372036854775807, x'', '', NULL, 'a' || char(0)",
        "SELECT zeroblob(3000000), 1 UNION ALL SELECT 'x', 2",
        COUNT_TO("50000") "SELECT i, i * 0.5 FROM n",
        "VALUES (1, 'a'), (2, NULL)",
        "EXPLAIN QUERY PLAN SELECT * FROM t WHERE id = 3",
        "PRAGMA table_info(t)",
        "PRAGMA integrity_check",
        "SELECT name FROM sqlite_schema WHERE name = 't'",
        "SELECT instr(v, 'ä'), replace(name, '0', 'oo'), trim(name, '0') FROM t WHERE id < 40",
        "SELECT json_extract('{\"a\": [1, 2.5, \"x\"]}', '$.a[1]')",
        "SELECT v FROM t WHERE v LIKE 'TEXT 1%' -- and a comment",
        ";;SELECT 5;",
        "SELECT value FROM queryd_meta WHERE key = 'schema_version'",
    };

    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++)
        compare(self, texts[i], NULL);
}

static void
test_errors(Fixture *self, gconstpointer data)
{
    static const char *const texts[] = {
        "",
        "  -- nothing",
        "SELEC 1",
        "SELECT 'größe',\n       wrong wrong wrong\n  FROM t",
        "SELECT *\n  FROM nosuch",
        "SELECT nosuch(1)",
        "SELECT nosuch FROM t",
        "SELECT [no such column]",
        "SELECT 'open",
        "SELECT 1; SELECT 2",
        "SELECT 1 WHERE",
        "SELECT abs(-9223372036854775808)",
        "SELECT abs(CASE WHEN id < 2900 THEN id ELSE -9223372036854775808 END) FROM t ORDER BY id",
        "SELECT zeroblob(70000000)",
        "SELECT zeroblob(60000000), zeroblob(60000000)",
        "SELECT v LIKE printf('%.300c', 'x') FROM t",
        "INSERT INTO t DEFAULT VALUES",
        "UPDATE t SET v = 1 RETURNING id",
        "DELETE FROM queryd_meta",
        "CREATE TABLE u(a)",
        "CREATE TEMP TABLE u(a)",
        "DROP TABLE t",
        "ALTER TABLE t ADD COLUMN x",
        "ATTACH '/tmp/x' AS x",
        "DETACH main",
        "VACUUM",
        "VACUUM INTO '/tmp/queryd-must-not-exist'",
        "REINDEX",
        "ANALYZE",
        "BEGIN",
        "COMMIT",
        "SAVEPOINT s",
        "PRAGMA journal_mode = DELETE",
        "PRAGMA query_only = 0",
        "PRAGMA writable_schema = 1",
        "PRAGMA nosuch",
        "SELECT load_extension('x')",
        "SELECT fts3_tokenizer('simple')",
        "SELECT ?",
    };
    g_autoptr(GString) deep = g_string_new("SELECT 1");
    g_autoptr(GString) wide = g_string_new("SELECT 1");
    g_autofree char *long_text = g_strnfill(1100000, ' ');

    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++)
        compare(self, texts[i], NULL);
    for (guint i = 0; i < 300; i++)
        g_string_append(deep, " + (1");
    for (guint i = 0; i < 300; i++)
        g_string_append_c(deep, ')');
    compare(self, deep->str, NULL);
    for (guint i = 0; i < 2100; i++)
        g_string_append(wide, ", 1");
    compare(self, wide->str, NULL);
    compare(self, long_text, NULL);
}

static void
test_parameters(Fixture *self, gconstpointer data)
{
    static const struct {
        const char *text;
        const char *parameters;
    } cases[] = {
        { "SELECT ?1, typeof(?1), $b", "{'1': <int64 -5>, 'b': <'x'>}" },
        { "SELECT :a, :b, :c, :d", "{'a': <1.5>, ':b': <''>, 'c': <b'blob'>, 'd': <signature ''>}" },
        { "SELECT id FROM t WHERE id BETWEEN :low AND :high", "{'low': <int64 10>, 'high': <int64 2500>}" },
        { "SELECT :a", "{'b': <1>}" },
        { "SELECT :a, $a", "{'a': <1>}" },
        { "SELECT ?, ?", "{'1': <1>}" },
        { "SELECT 1", "{'1': <1>}" },
        { "SELECT ?", "{'1': <[1, 2]>}" },
        { "SELECT ?", "{'1': <('urn:x', '@id', '')>}" },
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
        compare(self, cases[i].text, cases[i].parameters);
}

/* RDF lies in the same file, and the same reader answers for it. */
static void
test_sparql(Fixture *self, gconstpointer data)
{
    static const struct {
        const char *text;
        const char *parameters;
    } cases[] = {
        { "SELECT * { ?s ?p ?o }", NULL },
        { "SELECT ?s ?n { ?s <urn:n> ?n FILTER(?n > 3 && ?n < 400) } ORDER BY DESC(?n)", NULL },
        { "SELECT (COUNT(*) AS ?n) (SUM(?v) AS ?sum) (GROUP_CONCAT(STR(?v)) AS ?all) { ?s <urn:n> ?v }", NULL },
        { "SELECT ?end { <urn:a> <urn:next>+ ?end }", NULL },
        { "SELECT ?t { <urn:a> <urn:name> ?t FILTER REGEX(?t, '^n', 'i') }", NULL },
        { "SELECT ?s { ?s <urn:n> $value }", "{'value': <int64 7>}" },
        { "ASK { <urn:a> <urn:next> <urn:b> }", NULL },
        { "SELECT * { ?s ?p ", NULL },
        { "INSERT DATA { <urn:a> <urn:b> 1 }", NULL },
    };
    g_autoptr(GError) error = NULL;

    (void) query_connection_update(self->daemon, QUERY_LANGUAGE_SPARQL,
                                   "INSERT DATA { <urn:a> <urn:n> 7, 07, 7.5, 1e2 ; <urn:name> 'name'@en, 'Name', 'x'^^<urn:t> ;"
                                   " <urn:next> <urn:b> . <urn:b> <urn:next> <urn:c> . <urn:c> <urn:next> [] }",
                                   NULL, NULL, &error);
    g_assert_no_error(error);
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
        compare_in(self, QUERY_LANGUAGE_SPARQL, cases[i].text, cases[i].parameters);
}

/* What the daemon has acknowledged is there for the next execution, tables that changed too. */
static void
test_sees_the_daemons_updates(Fixture *self, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryStatement) statement = query_connection_prepare(self->direct, SQL, "SELECT * FROM t WHERE id = 1", NULL, &error);

    for (guint i = 0; i < 20; i++) {
        g_autofree char *add = g_strdup_printf("ALTER TABLE t ADD COLUMN c%u DEFAULT %u", i, i);
        g_autofree char *set = g_strdup_printf("UPDATE t SET v = %u WHERE id = 1", i);
        g_autoptr(QueryCursor) cursor = NULL;

        execute(self, add);
        execute(self, set);
        cursor = query_statement_execute(statement, NULL, &error);
        g_assert_no_error(error);
        g_assert_cmpuint(query_cursor_get_n_columns(cursor), ==, 6 + i);
        g_assert_true(query_cursor_next(cursor, NULL, &error));
        g_assert_cmpint(query_cursor_get_int64(cursor, 1), ==, i);
        g_assert_cmpint(query_cursor_get_int64(cursor, 5 + i), ==, i);
    }
    compare(self, "SELECT * FROM t", NULL);
}

/* A direct connection needs no daemon, and does not mind one that dies and comes back. */
static void
test_without_a_daemon(Fixture *self, gconstpointer data)
{
    g_autoptr(QueryConnection) late = NULL;
    g_autoptr(GError) error = NULL;

    execute(self, "UPDATE t SET v = 'last' WHERE id = 3000");
    private_bus_kill_daemon(bus, SIGKILL);
    g_assert_cmpint(client_query_number(self->direct, "SELECT count(*) FROM t WHERE v = 'last'"), ==, 1);
    late = query_connection_new_direct(self->path, NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpint(client_query_number(late, "SELECT count(*) FROM t WHERE v = 'last'"), ==, 1);
    g_assert_cmpint((int) private_bus_get_owner_pid(bus, "org.queryd.Query1"), ==, 0);

    execute(self, "UPDATE t SET v = 'again' WHERE id = 3000");
    g_assert_cmpint(client_query_number(self->direct, "SELECT count(*) FROM t WHERE v = 'again'"), ==, 1);
    g_assert_cmpint(client_query_number(late, "SELECT count(*) FROM t WHERE v = 'again'"), ==, 1);
}

#define ADD(path, func) g_test_add("/direct/" path, Fixture, NULL, set_up, func, tear_down)

int
main(int argc, char **argv)
{
    int code;

    bus = private_bus_new();
    g_test_init(&argc, &argv, NULL);
    ADD("results", test_results);
    ADD("errors", test_errors);
    ADD("parameters", test_parameters);
    ADD("sparql", test_sparql);
    ADD("sees-the-daemons-updates", test_sees_the_daemons_updates);
    ADD("without-a-daemon", test_without_a_daemon);
    code = g_test_run();
    private_bus_free(bus);
    return code;
}
