/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Results as Arrow's C stream, read as any consumer would: by the structs alone.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "tests/e2e-client/client-calls.h"
#include "tests/e2e-client/private-bus.h"

#define SQL QUERY_LANGUAGE_SQL
#define XSD "http://www.w3.org/2001/XMLSchema#"
#define COUNT(n) "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " #n ") "

static PrivateBus *bus;

typedef struct Stream {
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    struct ArrowArray batch; /* the last one */
    gint64 n_rows;
} Stream;

static void
open_form(Stream *self, QueryConnection *connection, QueryLanguage language, const char *text, QueryArrowForm form)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryCursor) cursor = query_connection_query(connection, language, text, NULL, NULL, &error);

    g_assert_no_error(error);
    memset(self, 0, sizeof *self);
    query_cursor_export_arrow_stream(cursor, form, NULL, &self->stream);
}

static void
close_all(Stream *self)
{
    if (self->schema.release != NULL)
        self->schema.release(&self->schema);
    if (self->batch.release != NULL)
        self->batch.release(&self->batch);
    if (self->stream.release != NULL)
        self->stream.release(&self->stream);
}

static void
read_schema(Stream *self)
{
    g_assert_cmpint(self->stream.get_schema(&self->stream, &self->schema), ==, 0);
    g_assert_null(self->stream.get_last_error(&self->stream));
    g_assert_cmpstr(self->schema.format, ==, "+s");
}

/* FALSE at the end. */
static gboolean
read_batch(Stream *self)
{
    if (self->batch.release != NULL)
        self->batch.release(&self->batch);
    g_assert_cmpint(self->stream.get_next(&self->stream, &self->batch), ==, 0);
    if (self->batch.release == NULL)
        return FALSE;
    g_assert_cmpint(self->batch.n_children, ==, self->schema.n_children);
    for (gint64 i = 0; i < self->batch.n_children; i++)
        g_assert_cmpint(self->batch.children[i]->length, ==, self->batch.length);
    self->n_rows += self->batch.length;
    return TRUE;
}

static void
open_sql(Stream *self, QueryConnection *connection, const char *text)
{
    open_form(self, connection, SQL, text, QUERY_ARROW_TEXT);
    read_schema(self);
}

static gboolean
is_null(const struct ArrowArray *column, gsize row)
{
    const guint8 *bits = column->buffers[0];

    return bits != NULL && (bits[row / 8] >> (row % 8) & 1) == 0;
}

static char *
get_text(const struct ArrowArray *column, gsize row)
{
    const gint32 *offsets = column->buffers[1];

    if (is_null(column, row))
        return g_strdup("NULL");
    return g_strndup((const char *) column->buffers[2] + offsets[row], (gsize) (offsets[row + 1] - offsets[row]));
}

static char *
get_value(const struct ArrowSchema *schema, const struct ArrowArray *column, gsize row)
{
    if (is_null(column, row))
        return g_strdup("NULL");
    switch (schema->format[0]) {
    case 'l':
        return g_strdup_printf("%" G_GINT64_FORMAT, ((const gint64 *) column->buffers[1])[row]);
    case 'g':
        return g_strdup_printf("%.17g", ((const double *) column->buffers[1])[row]);
    case '+': {
        g_autofree char *value = get_text(column->children[0], row);
        g_autofree char *datatype = get_text(column->children[1], row);
        g_autofree char *language = get_text(column->children[2], row);

        return g_strdup_printf("(%s %s %s)", value, datatype, language);
    }
    default:
        return get_text(column, row);
    }
}

/* "format: value value …" of the first column */
static char *
read_all(Stream *self)
{
    g_autoptr(GString) out = g_string_new(self->schema.children[0]->format);

    g_string_append_c(out, ':');
    while (read_batch(self)) {
        for (gint64 i = 0; i < self->batch.length; i++) {
            g_autofree char *value = get_value(self->schema.children[0], self->batch.children[0], (gsize) i);

            g_string_append_printf(out, " %s", value);
        }
    }
    return g_string_free(g_steal_pointer(&out), FALSE);
}

static const struct {
    const char *text, *expected;
} types[] = {
    { "SELECT 1 WHERE 0", "u:" },
    { "SELECT NULL", "u: NULL" },
    { "VALUES (1), (NULL), (-9223372036854775808)", "l: 1 NULL -9223372036854775808" },
    { "VALUES (1.5), (NULL)", "g: 1.5 NULL" },
    { "VALUES (NULL), (1), (2.5)", "g: NULL 1 2.5" },
    { "VALUES (9007199254740993), (2.5)", "u: 9007199254740993 2.5" }, /* what a double cannot hold */
    { "VALUES (2.5), (9007199254740993)", "u: 2.5 9007199254740993" },
    { "VALUES (1), (2.5), (NULL), (3), ('x')", "u: 1 2.5 NULL 3 x" },
    { "VALUES ('a'), (NULL), (''), (7), (0.5)", "u: a NULL  7 0.5" },
    { "VALUES ('a'), (1), (x'6263')", "z: a 1 bc" },
    { "VALUES (x''), (NULL)", "z:  NULL" },
    { "VALUES ('\xc3\xa9'), ('e')", "u: \xc3\xa9 e" },
    { "SELECT a FROM typed", "l: 1 NULL" },
    { "SELECT b FROM typed", "g: 2 NULL" },
    { "SELECT c FROM typed", "u: 3 NULL" },
    { "SELECT d FROM typed", "z: 4 NULL" },
    { "SELECT e FROM typed", "l: 5 NULL" },
    { "SELECT a FROM typed WHERE a IS NULL", "l: NULL" },
    { "SELECT b FROM typed WHERE a IS NULL", "g: NULL" },
    { "SELECT e FROM typed WHERE a IS NULL", "u: NULL" },
};

static void
check_types(QueryConnection *connection)
{
    for (guint i = 0; i < G_N_ELEMENTS(types); i++) {
        g_autofree char *found = NULL;
        Stream stream;

        open_sql(&stream, connection, types[i].text);
        found = read_all(&stream);
        g_assert_cmpstr(found, ==, types[i].expected);
        g_assert_false(read_batch(&stream)); /* the end is the end */
        close_all(&stream);
    }
}

static void
test_types(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    g_autoptr(QueryConnection) direct = NULL;
    g_autoptr(GError) error = NULL;

    client_execute(connection, "CREATE TABLE typed(a INTEGER, b REAL, c TEXT, d BLOB, e NUMERIC)");
    client_execute(connection, "INSERT INTO typed VALUES(1, 2, 3, x'34', 5), (NULL, NULL, NULL, NULL, NULL)");
    check_types(connection);
    direct = query_connection_new_direct(NULL, NULL, &error);
    g_assert_no_error(error);
    check_types(direct);
}

static void
test_no_columns_lost(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    gint64 sum = 0;
    Stream stream;

    open_sql(&stream, connection, COUNT(1000000) "SELECT i, i * 0.5 AS half, nullif(i % 3, 0) AS third, 'text ' || i FROM n");
    g_assert_cmpstr(stream.schema.children[1]->name, ==, "half");
    while (read_batch(&stream)) {
        const gint64 *integers = stream.batch.children[0]->buffers[1];
        const double *halves = stream.batch.children[1]->buffers[1];
        gint64 n_nulls = 0;

        g_assert_cmpint(stream.batch.length, <=, 1024 * 1024 + 65536);
        for (gint64 i = 0; i < stream.batch.length; i++) {
            sum += integers[i];
            n_nulls += is_null(stream.batch.children[2], (gsize) i);
            g_assert_true(halves[i] == (double) integers[i] / 2);
            g_assert_true(is_null(stream.batch.children[2], (gsize) i) == (integers[i] % 3 == 0));
        }
        g_assert_cmpint(stream.batch.children[2]->null_count, ==, n_nulls);
    }
    g_assert_cmpint(stream.n_rows, ==, 1000000);
    g_assert_cmpint(sum, ==, 1000000LL * 1000001 / 2);
    close_all(&stream);
}

/* Fails with @r and a message with @part, again and again. */
static void
check_failure(Stream *stream, int r, const char *part)
{
    for (guint i = 0; i < 2; i++) {
        g_assert_cmpint(stream->stream.get_next(&stream->stream, &stream->batch), ==, r);
        g_assert_nonnull(strstr(stream->stream.get_last_error(&stream->stream), part));
    }
    close_all(stream);
}

/* Later values than those that gave the type. */
static void
test_late(void)
{
    static const struct {
        const char *text, *part;
    } cases[] = {
        { COUNT(700000) "SELECT CASE i WHEN 699999 THEN 'late' ELSE i END AS c, 'some text' FROM n",
          "TEXT in column 'c' of row 699999 does not fit the type int64" },
        { COUNT(700000) "SELECT CASE i WHEN 699999 THEN x'00' ELSE 'a' END AS c, 'some text' FROM n", "CAST(… AS BLOB)" },
        { COUNT(700000) "SELECT CASE i WHEN 699999 THEN 0.5 ELSE i END AS c, 'some text' FROM n", "the FLOAT in column 'c'" },
    };
    g_autoptr(QueryConnection) connection = client_open();
    Stream stream;

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        open_sql(&stream, connection, cases[i].text);
        while (stream.stream.get_next(&stream.stream, &stream.batch) == 0) {
            g_assert_nonnull(stream.batch.release);
            stream.batch.release(&stream.batch);
        }
        check_failure(&stream, EINVAL, cases[i].part);
    }
    /* what is lost by nothing */
    open_sql(&stream, connection, COUNT(700000) "SELECT CASE i WHEN 699999 THEN 7 ELSE 'a' END AS c, 'some text' FROM n");
    while (read_batch(&stream))
        ;
    g_assert_cmpint(stream.n_rows, ==, 700000);
    close_all(&stream);
}

static void
test_not_utf8(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    Stream stream;

    open_form(&stream, connection, SQL, "VALUES ('a'), (CAST(x'ff' AS TEXT))", QUERY_ARROW_TEXT);
    g_assert_cmpint(stream.stream.get_schema(&stream.stream, &stream.schema), ==, EINVAL);
    check_failure(&stream, EINVAL, "of row 2 is not UTF-8");
    /* two halves of a character are none */
    open_form(&stream, connection, SQL, "VALUES (CAST(x'c3' AS TEXT)), (CAST(x'a9' AS TEXT))", QUERY_ARROW_TEXT);
    check_failure(&stream, EINVAL, "of row 1 is not UTF-8");
}

static void
test_cursor_fails(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    g_autoptr(GCancellable) cancellable = g_cancellable_new();
    g_autoptr(QueryCursor) cursor = NULL;
    g_autoptr(GError) error = NULL;
    Stream stream;

    open_sql(&stream, connection, COUNT(100000000) "SELECT i, 'some text' FROM n");
    g_assert_true(read_batch(&stream));
    stream.batch.release(&stream.batch);
    private_bus_kill_daemon(bus, SIGKILL);
    while (stream.stream.get_next(&stream.stream, &stream.batch) == 0)
        stream.batch.release(&stream.batch);
    check_failure(&stream, ECONNRESET, "");

    memset(&stream, 0, sizeof stream);
    cursor = query_connection_query(connection, SQL, COUNT(100000000) "SELECT i FROM n", NULL, NULL, &error);
    g_assert_no_error(error);
    query_cursor_export_arrow_stream(cursor, QUERY_ARROW_TEXT, cancellable, &stream.stream);
    read_schema(&stream);
    g_assert_true(read_batch(&stream));
    stream.batch.release(&stream.batch);
    g_cancellable_cancel(cancellable);
    check_failure(&stream, ECANCELED, "");

    query_connection_set_timeout_msec(connection, 200);
    open_form(&stream, connection, SQL, COUNT(1000000000) "SELECT i FROM n", QUERY_ARROW_TEXT);
    while (stream.stream.get_next(&stream.stream, &stream.batch) == 0)
        stream.batch.release(&stream.batch);
    check_failure(&stream, ETIMEDOUT, "");
}

static gpointer
release_in_thread(gpointer data)
{
    Stream *stream = data;

    stream->stream.release(&stream->stream);
    return NULL;
}

/* What was given lives without the stream, and its columns without their batch. */
static void
test_release(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    struct ArrowArray column;
    struct ArrowSchema field;
    Stream stream;

    open_sql(&stream, connection, COUNT(1000000) "SELECT i, 'text ' || i AS t FROM n");
    g_assert_true(read_batch(&stream));
    g_thread_join(g_thread_new("release", release_in_thread, &stream));
    g_assert_null(stream.stream.release);
    column = *stream.batch.children[1]; /* moved, as the specification says */
    stream.batch.children[1]->release = NULL;
    stream.batch.release(&stream.batch);
    g_assert_null(stream.batch.release);
    field = *stream.schema.children[1];
    stream.schema.children[1]->release = NULL;
    stream.schema.release(&stream.schema);
    g_assert_cmpstr(field.name, ==, "t");
    g_assert_cmpmem((const char *) column.buffers[2], 12, "text 1text 2", 12);
    column.release(&column);
    field.release(&field);
}

static void
test_terms(void)
{
    static const char *const texts[] = {
        "SELECT (<http://example.org/a> AS ?t) WHERE {}",
        "SELECT ('chat'@fr AS ?t) WHERE {}",
        "SELECT ?t WHERE { VALUES ?t { 'plain' 5 'x'^^<http://example.org/d> } }",
        "SELECT ?t WHERE { VALUES ?t { 1 2 } }",
        "SELECT ?t WHERE { VALUES ?t { 9.90 2 } }",
        "SELECT ?t WHERE { VALUES ?t { 9.9012345678901234567 2 } }",
    };
    static const char *const as_text[] = {
        "u: http://example.org/a", "u: chat", "u: plain 5 x", "l: 1 2", "g: 9.9000000000000004 2", "u: 9.9012345678901234567 2"
    };
    static const char *const as_terms[] = {
        "+s: (http://example.org/a @id NULL)",
        "+s: (chat NULL fr)",
        "+s: (plain NULL NULL) (5 " XSD "integer NULL) (x http://example.org/d NULL)",
        "l: 1 2",
        "+s: (9.90 " XSD "decimal NULL) (2 " XSD "integer NULL)",
        "+s: (9.9012345678901234567 " XSD "decimal NULL) (2 " XSD "integer NULL)",
    };
    g_autoptr(QueryConnection) connection = client_open();

    for (guint i = 0; i < 2 * G_N_ELEMENTS(texts); i++) {
        g_autofree char *found = NULL;
        Stream stream;

        open_form(&stream, connection, QUERY_LANGUAGE_SPARQL, texts[i / 2], i % 2 ? QUERY_ARROW_TERMS : QUERY_ARROW_TEXT);
        read_schema(&stream);
        found = read_all(&stream);
        g_assert_cmpstr(found, ==, i % 2 ? as_terms[i / 2] : as_text[i / 2]);
        if (g_str_has_prefix(found, "+s"))
            g_assert_cmpmem(stream.schema.children[0]->metadata + 28, 18, "\x0f\0\0\0queryd.rdf_term", 18);
        close_all(&stream);
    }
}

int
main(int argc, char **argv)
{
    int r;

    g_test_init(&argc, &argv, NULL);
    bus = private_bus_new();
    g_test_add_func("/arrow/types", test_types);
    g_test_add_func("/arrow/many-rows", test_no_columns_lost);
    g_test_add_func("/arrow/late", test_late);
    g_test_add_func("/arrow/not-utf-8", test_not_utf8);
    g_test_add_func("/arrow/cursor-fails", test_cursor_fails);
    g_test_add_func("/arrow/release", test_release);
    g_test_add_func("/arrow/terms", test_terms);
    r = g_test_run();
    private_bus_free(bus);
    return r;
}
