/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What counts as the size of the schema, and what is too much.
 */
#include "daemon/sqlite/schema-size.h"

#include "tests/unit/store/store-fixture.h"

static gboolean
try(StoreFixture *self, const char *sql, GError **error)
{
    gboolean ok;

    store_execute(self->writer, "BEGIN");
    store_execute(self->writer, sql);
    ok = qd_schema_size_check(self->writer, &self->limits, error);
    store_execute(self->writer, ok ? "COMMIT" : "ROLLBACK");
    return ok;
}

static uint64_t
measure(StoreFixture *self, const char *sql)
{
    g_assert_true(try(self, sql, NULL));
    return qd_schema_size_measure(self->writer);
}

/* Each part is there, with the size that it has at least. */
static void
test_parts(StoreFixture *self, gconstpointer data)
{
    static const struct {
        const char *sql;
        uint64_t min;
        uint64_t max;
    } rows[] = {
        { "CREATE TABLE t(a, b /* comments, too: 1234567890 1234567890 1234567890 1234567890 1234567890 1234567890 */)", 200,
          2000 },
        { "CREATE VIEW v AS SELECT 1 IN (1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)", 1500, 8000 },
        { "CREATE INDEX i ON t(a)", 50, 1000 },
        { "ANALYZE; INSERT INTO sqlite_stat1 VALUES('t', 'i', printf('%.*c', 10000, '1'))", 10000, 13000 },
        { "INSERT INTO sqlite_stat1 SELECT '', NULL, '' FROM pragma_function_list LIMIT 100", 6400, 6400 },
        { "DELETE FROM sqlite_stat1 WHERE tbl=''", (uint64_t) -6400, (uint64_t) -6400 },
        { "INSERT INTO t VALUES(zeroblob(1000000), 1)", 0, 64 },
    };
    uint64_t before = qd_schema_size_measure(self->writer);

    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        uint64_t size = measure(self, rows[i].sql);

        g_test_message("%s: %" G_GINT64_FORMAT, rows[i].sql, (gint64) (size - before));
        g_assert_cmpuint(size - before, >=, rows[i].min);
        g_assert_cmpuint(size - before, <=, rows[i].max);
        before = size;
    }
}

/* SQLite compares them with each other. */
static void
test_many_indexes(StoreFixture *self, gconstpointer data)
{
    g_autoptr(GString) text = g_string_new("CREATE TABLE t(a);");
    g_autoptr(GError) error = NULL;

    for (guint i = 0; i < 1200; i++)
        g_string_append_printf(text, "CREATE INDEX i%u ON t(a);", i);
    self->limits.values[QD_LIMIT_SCHEMA_BYTES] = 600000;
    g_assert_false(try(self, text->str, &error));
    store_assert_error(error, QW_ERROR_TOO_BIG, "the limit 'schema_bytes' is 600000 bytes");
    self->limits.values[QD_LIMIT_SCHEMA_BYTES] = 1000000;
    g_assert_true(try(self, text->str, NULL));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(path, func) \
    g_test_add("/sqlite/schema-size/" path, StoreFixture, NULL, store_fixture_set_up, func, store_fixture_tear_down)
    ADD("parts", test_parts);
    ADD("many-indexes", test_many_indexes);
    return g_test_run();
}
