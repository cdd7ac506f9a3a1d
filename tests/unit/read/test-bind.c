/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parameters: by name and number, each exactly once, and every type to SQLite as it was.
 */
#include "daemon/read/bind.h"

#include <string.h>

#include "tests/unit/store/store-fixture.h"

typedef struct Fixture {
    sqlite3 *db;
    sqlite3_stmt *stmt;
    QdParameters *parameters;
} Fixture;

static void
set_up(Fixture *self, gconstpointer data)
{
    g_assert_cmpint(sqlite3_open(":memory:", &self->db), ==, SQLITE_OK);
    self->parameters = qd_parameters_new();
}

static void
tear_down(Fixture *self, gconstpointer data)
{
    (void) sqlite3_finalize(self->stmt);
    g_assert_cmpint(sqlite3_close(self->db), ==, SQLITE_OK);
    qd_parameters_free(self->parameters);
}

static void
prepare(Fixture *self, const char *text)
{
    (void) sqlite3_finalize(g_steal_pointer(&self->stmt));
    g_assert_cmpint(sqlite3_prepare_v2(self->db, text, -1, &self->stmt, NULL), ==, SQLITE_OK);
}

static void
add_integer(Fixture *self, const char *key, int64_t integer)
{
    const QwValue value = { .type = QW_TYPE_INTEGER, .integer = integer };

    qd_parameters_add(self->parameters, key, &value);
}

static void
add_bytes(Fixture *self, const char *key, QwType type, const char *data, uint32_t n_bytes)
{
    const QwValue value = { .type = type, .data = data, .n_bytes = n_bytes };

    qd_parameters_add(self->parameters, key, &value);
}

/* Binds what was added, and starts again. The first column of the row as text. */
static void
assert_gives(Fixture *self, const char *expected)
{
    g_autoptr(GError) error = NULL;

    g_assert_true(qd_bind_parameters(self->stmt, self->parameters, &error));
    g_assert_no_error(error);
    g_assert_cmpint(sqlite3_step(self->stmt), ==, SQLITE_ROW);
    g_assert_cmpstr((const char *) sqlite3_column_text(self->stmt, 0), ==, expected);
    (void) sqlite3_reset(self->stmt);
    qd_parameters_free(self->parameters);
    self->parameters = qd_parameters_new();
}

static void
assert_refused(Fixture *self, const char *words)
{
    g_autoptr(GError) error = NULL;

    g_assert_false(qd_bind_parameters(self->stmt, self->parameters, &error));
    store_assert_error(error, QW_ERROR_BAD_PARAMETER, words);
    g_clear_error(&error);
    qd_parameters_free(self->parameters);
    self->parameters = qd_parameters_new();
}

static void
test_keys(Fixture *self, gconstpointer data)
{
    prepare(self, "SELECT :a || '-' || @b || '-' || $c || '-' || ?4 || '-' || ?");
    add_integer(self, ":a", 1);
    add_integer(self, "@b", 2);
    add_integer(self, "$c", 3);
    add_integer(self, "?4", 4);
    add_integer(self, "5", 5);
    assert_gives(self, "1-2-3-4-5");
    add_integer(self, "5", 5);
    add_integer(self, "c", 3);
    add_integer(self, "b", 2);
    add_integer(self, "4", 4);
    add_integer(self, "1", 1);
    assert_gives(self, "1-2-3-4-5");
}

static void
test_refused(Fixture *self, gconstpointer data)
{
    prepare(self, "SELECT :a, @a, :b");
    add_integer(self, "a", 1);
    assert_refused(self, "parameter name 'a' is ambiguous: ':a' and '@a'");
    add_integer(self, ":a", 1);
    add_integer(self, "1", 1);
    assert_refused(self, "parameter 1 is given twice, the second time as '1'");
    add_integer(self, ":a", 1);
    add_integer(self, "@a", 1);
    assert_refused(self, "parameter 3 (':b') has no value");
    add_integer(self, "4", 1);
    assert_refused(self, "statement has no parameter '4', it has 3");
    add_integer(self, "0", 1);
    assert_refused(self, "statement has no parameter '0'");
    add_integer(self, "99999999999999999999", 1);
    assert_refused(self, "statement has no parameter '99999999999999999999'");
    add_integer(self, "1x", 1);
    assert_refused(self, "statement has no parameter '1x'");
    add_integer(self, ":nosuch", 1);
    assert_refused(self, "statement has no parameter ':nosuch'");
    add_integer(self, "", 1);
    assert_refused(self, "statement has no parameter ''");
    prepare(self, "SELECT ?3");
    add_integer(self, "3", 1);
    assert_refused(self, "parameter 1 has no value");
    prepare(self, "SELECT 1");
    add_integer(self, "1", 1);
    assert_refused(self, "statement has no parameter '1', it has 0");
}

static void
test_types(Fixture *self, gconstpointer data)
{
    const QwValue null = { .type = QW_TYPE_NULL };
    const QwValue real = { .type = QW_TYPE_FLOAT, .real = -0.5 };

    prepare(self, "SELECT typeof(?1) || ' ' || quote(?1)");
    add_integer(self, "1", INT64_MIN);
    assert_gives(self, "integer -9223372036854775808");
    qd_parameters_add(self->parameters, "1", &null);
    assert_gives(self, "null NULL");
    qd_parameters_add(self->parameters, "1", &real);
    assert_gives(self, "real -0.5");
    add_bytes(self, "1", QW_TYPE_TEXT, "", 0);
    assert_gives(self, "text ''");
    add_bytes(self, "1", QW_TYPE_BLOB, NULL, 0);
    assert_gives(self, "blob X''");
    add_bytes(self, "1", QW_TYPE_BLOB, "\0\xff", 2);
    assert_gives(self, "blob X'00FF'");
    prepare(self, "SELECT typeof(?1) || ' ' || hex(?1)");
    add_bytes(self, "1", QW_TYPE_TEXT, "a\0b", 3);
    assert_gives(self, "text 610062");
    add_bytes(self, "1", QW_TYPE_IRI, "x:y", 3);
    assert_refused(self, "parameter 1 is an RDF term");
}

/* The set has its own copies: what was given may be gone when it is bound. */
static void
test_copies(Fixture *self, gconstpointer data)
{
    char key[] = ":a";
    char text[] = "before";

    add_bytes(self, key, QW_TYPE_TEXT, text, 6);
    memset(key, 'x', sizeof key - 1);
    memset(text, 'x', sizeof text - 1);
    g_assert_cmpuint(qd_parameters_get_n(self->parameters), ==, 1);
    g_assert_cmpstr(qd_parameters_get_key(self->parameters, 0), ==, ":a");
    prepare(self, "SELECT :a");
    assert_gives(self, "before");
}

static void
test_too_big(Fixture *self, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *text = g_strnfill(2000, 'x');

    (void) sqlite3_limit(self->db, SQLITE_LIMIT_LENGTH, 1000);
    prepare(self, "SELECT ?");
    add_bytes(self, "1", QW_TYPE_TEXT, text, 2000);
    g_assert_false(qd_bind_parameters(self->stmt, self->parameters, &error));
    store_assert_error(error, QW_ERROR_TOO_BIG, "parameter 1 has 2000 bytes");
}

/* The row of the wire format binds to the same. */
static void
test_encoded_row(Fixture *self, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) row = NULL;
    QwPageReader reader;
    gsize n_bytes = 0;
    const uint8_t *bytes;
    QdShape shape;

    prepare(self, "SELECT :a || '-' || hex(:b) || '-' || typeof(:c) || '-' || :d");
    add_bytes(self, ":d", QW_TYPE_TEXT, "text", 4);
    add_bytes(self, ":b", QW_TYPE_BLOB, "\0\xff\1", 3);
    add_integer(self, ":a", 7);
    shape = qd_shape_from_stmt(self->stmt);
    g_assert_null(qd_bind_encode_row(&shape, self->parameters, &error));
    store_assert_error(error, QW_ERROR_BAD_PARAMETER, "parameter 3 (':c') has no value");
    g_clear_error(&error);
    qd_parameters_add(self->parameters, ":c", &(QwValue){ .type = QW_TYPE_NULL });

    row = qd_bind_encode_row(&shape, self->parameters, &error);
    g_assert_no_error(error);
    bytes = g_bytes_get_data(row, &n_bytes);
    g_assert_cmpint(qw_page_reader_init(&reader, bytes, n_bytes, 1, 4), ==, 0);
    g_assert_true(qw_page_reader_next(&reader));
    g_assert_true(qd_bind_row(self->stmt, &reader, &error));
    g_assert_no_error(error);
    g_assert_cmpint(sqlite3_step(self->stmt), ==, SQLITE_ROW);
    g_assert_cmpstr((const char *) sqlite3_column_text(self->stmt, 0), ==, "7-00FF01-null-text");
    (void) sqlite3_reset(self->stmt);

    prepare(self, "SELECT ?, ?");
    g_assert_false(qd_bind_row(self->stmt, &reader, &error));
    store_assert_error(error, QW_ERROR_BAD_PARAMETER, "statement has 2 parameters, 4 given");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(path, func) g_test_add("/read/bind/" path, Fixture, NULL, set_up, func, tear_down)
    ADD("keys", test_keys);
    ADD("refused", test_refused);
    ADD("types", test_types);
    ADD("copies", test_copies);
    ADD("too-big", test_too_big);
    ADD("encoded-row", test_encoded_row);
    return g_test_run();
}
