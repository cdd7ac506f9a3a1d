/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is looked at before a file is used, and what each refusal says.
 */
#include "daemon/sqlite/file-check.h"

#include "daemon/sqlite/schema.h"
#include "tests/unit/store/store-fixture.h"

static void
test_system(StoreFixture *fixture, gconstpointer data)
{
    g_autofree char *missing = g_build_filename(fixture->dir, "missing", NULL);
    g_autoptr(GError) error = NULL;

    g_assert_true(qd_file_check_system(fixture->dir, &error));
    g_assert_no_error(error);
    g_assert_false(qd_file_check_system(missing, &error));
    g_assert_nonnull(strstr(error->message, missing));
    g_assert_nonnull(strstr(error->message, "No such file or directory"));
}

static gboolean
check(StoreFixture *fixture, const char *sql, GError **error)
{
    store_execute(fixture->writer, sql);
    return qd_file_check_version(fixture->writer, "/the/path", error);
}

static void
test_version(StoreFixture *fixture, gconstpointer data)
{
    g_autofree char *newer = g_strdup_printf("UPDATE queryd_meta SET value=%d WHERE key='schema_version'", QD_SCHEMA_VERSION + 1);
    g_autofree char *words = g_strdup_printf("database '/the/path' has schema version %d, this queryd knows %d: a newer queryd",
                                             QD_SCHEMA_VERSION + 1, QD_SCHEMA_VERSION);
    g_autoptr(GError) error = NULL;

    (void) qd_connection_set_policy(fixture->writer, QD_POLICY_INTERNAL);
    g_assert_true(check(fixture, "SELECT 1", &error));
    g_assert_true(check(fixture, "UPDATE queryd_meta SET value=1 WHERE key='schema_version'", &error));
    g_assert_false(check(fixture, newer, &error));
    store_assert_error(error, QW_ERROR_UNSUPPORTED, words);
    g_clear_error(&error);
    g_assert_false(check(fixture, "UPDATE queryd_meta SET value=9223372036854775807 WHERE key='schema_version'", &error));
    store_assert_error(error, QW_ERROR_UNSUPPORTED, "9223372036854775807");
    g_clear_error(&error);
    /* a store that has lost its number, and a database that never had one, are brought up */
    g_assert_true(check(fixture, "DELETE FROM queryd_meta WHERE key='schema_version'", &error));
    g_assert_true(check(fixture, "DROP TABLE queryd_meta", &error));
    /* what has the name but is not it */
    g_assert_false(check(fixture, "CREATE TABLE queryd_meta(other)", &error));
    g_assert_nonnull(error);
}

/* The version is the first thing that is read. */
static void
test_junk(StoreFixture *fixture, gconstpointer data)
{
    g_autofree char *path = g_build_filename(fixture->dir, "junk", NULL);
    g_autofree char *junk = g_strnfill(8192, 'x');
    const QdConnectionInfo info = { .path = path };
    g_autoptr(QdConnection) connection = NULL;
    g_autoptr(GError) error = NULL;

    g_assert_true(g_file_set_contents(path, junk, 8192, NULL));
    connection = qd_connection_open(&info, QD_CONNECTION_READER, &fixture->limits, &error);
    g_assert_true(connection == NULL || !qd_file_check_version(connection, path, &error));
    g_assert_error(error, QD_ERROR, (gint) QW_ERROR_CORRUPT);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(path, func) \
    g_test_add("/sqlite/file-check/" path, StoreFixture, NULL, store_fixture_set_up, func, store_fixture_tear_down)
    ADD("system", test_system);
    ADD("version", test_version);
    ADD("junk", test_junk);
    return g_test_run();
}
