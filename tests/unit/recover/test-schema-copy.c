/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The copy of the schema: what it holds and when it is rewritten. One that was altered, cut or grown too large is none.
 */
#include "daemon/recover/schema-copy.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/store/store-fixture.h"

static char *
get_path(const StoreFixture *self)
{
    return g_strconcat(qd_database_get_path(self->database), QD_SCHEMA_COPY_SUFFIX, NULL);
}

static const QdSchemaCopyRow *
find(const QdSchemaCopy *copy, const char *name)
{
    for (guint i = 0; i < copy->rows->len; i++) {
        const QdSchemaCopyRow *row = copy->rows->pdata[i];

        if (g_str_equal(row->name, name))
            return row;
    }
    return NULL;
}

/* An opened store has one already. */
static void
test_content(StoreFixture *self, gconstpointer data)
{
    g_autoptr(QdSchemaCopy) copy = qd_schema_copy_read(qd_database_get_path(self->database));
    const QdSchemaCopyRow *row;

    g_assert_nonnull(copy);
    g_assert_nonnull(find(copy, "queryd_meta"));
    (void) qd_schema_copy_free(copy);

    store_execute(self->writer, "CREATE TABLE \"a\xc3\xa4 'b\"(x UNIQUE); CREATE VIEW v AS SELECT 1 AS one; PRAGMA user_version=-7;"
                                "PRAGMA application_id=99");
    qd_schema_copy_refresh(self->writer, QD_SCHEMA_COPY_QUICK_BYTES);
    copy = qd_schema_copy_read(qd_database_get_path(self->database));
    g_assert_nonnull(copy);
    g_assert_cmpint(copy->cookie, ==, store_get_int64(self->writer, "PRAGMA schema_version"));
    g_assert_cmpint(copy->cookie, ==, qd_connection_get_schema_version(self->writer));
    g_assert_cmpuint(copy->encoding, ==, 1);
    g_assert_cmpint(copy->user_version, ==, -7);
    g_assert_cmpint(copy->application_id, ==, 99);
    g_assert_cmpuint(copy->rows->len, ==, store_get_int64(self->writer, "SELECT count(*) FROM sqlite_schema"));
    row = find(copy, "a\xc3\xa4 'b");
    g_assert_cmpstr(row->type, ==, "table");
    g_assert_cmpstr(row->sql, ==, "CREATE TABLE \"a\xc3\xa4 'b\"(x UNIQUE)");
    g_assert_cmpint(row->root, ==,
                    store_get_int64(self->writer, "SELECT rootpage FROM sqlite_schema WHERE type='table' AND sql LIKE '%UNIQUE)'"));
    g_assert_null(find(copy, "sqlite_autoindex_a\xc3\xa4 'b_1")->sql);
    g_assert_cmpuint(find(copy, "v")->root, ==, 0);
}

/* By its inode: a new file takes the name. */
static void
test_refresh(StoreFixture *self, gconstpointer data)
{
    g_autofree char *path = get_path(self);
    struct stat before;
    struct stat after;

    g_assert_cmpint(stat(path, &before), ==, 0);
    g_assert_cmpuint(before.st_mode & 0777, ==, 0600);
    store_execute(self->writer, "UPDATE queryd_meta SET value=value WHERE key='start_counter'");
    qd_schema_copy_refresh(self->writer, QD_SCHEMA_COPY_QUICK_BYTES);
    g_assert_cmpint(stat(path, &after), ==, 0);
    g_assert_cmpuint(before.st_ino, ==, after.st_ino);
    store_execute(self->writer, "CREATE TABLE t(x)");
    qd_schema_copy_refresh(self->writer, QD_SCHEMA_COPY_QUICK_BYTES);
    g_assert_cmpint(stat(path, &after), ==, 0);
    g_assert_cmpuint(before.st_ino, !=, after.st_ino);
    g_assert_cmpuint(store_count_files(self->dir, "."), <, 10); /* nothing is left over */
}

static void
test_too_large(StoreFixture *self, gconstpointer data)
{
    g_autofree char *path = get_path(self);
    g_autofree char *name = g_strnfill(70000, 'n');

    for (guint i = 0; i < 5; i++) {
        g_autofree char *sql = g_strdup_printf("CREATE TABLE t%u(%s)", i, name);

        store_execute(self->writer, sql);
        qd_schema_copy_refresh(self->writer, QD_SCHEMA_COPY_QUICK_BYTES);
        g_assert_cmpint(g_file_test(path, G_FILE_TEST_EXISTS), ==, i < 3);
    }
    store_fixture_close(self);
    store_fixture_open(self); /* there is time for it */
    g_assert_true(g_file_test(path, G_FILE_TEST_EXISTS));
}

static void
test_damaged(StoreFixture *self, gconstpointer data)
{
    g_autofree char *path = get_path(self);
    g_autofree char *content = NULL;
    g_autoptr(QdSchemaCopy) copy = NULL;
    gsize n_bytes = 0;

    g_assert_true(g_file_get_contents(path, &content, &n_bytes, NULL));
    for (gsize i = 0; i < n_bytes; i += 7) {
        content[i] ^= 0x20;
        g_assert_true(g_file_set_contents(path, content, (gssize) n_bytes, NULL));
        g_assert_null(qd_schema_copy_read(qd_database_get_path(self->database)));
        g_assert_true(g_file_set_contents(path, content, (gssize) i, NULL));
        g_assert_null(qd_schema_copy_read(qd_database_get_path(self->database)));
        content[i] ^= 0x20;
    }
    g_assert_cmpint(g_unlink(path), ==, 0);
    g_assert_null(qd_schema_copy_read(qd_database_get_path(self->database)));
    qd_schema_copy_refresh(self->writer, QD_SCHEMA_COPY_QUICK_BYTES);
    g_assert_true(g_file_set_contents(path, content, (gssize) n_bytes, NULL));
    copy = qd_schema_copy_read(qd_database_get_path(self->database));
    g_assert_nonnull(copy);
}

/* What cannot be written is not left as it was. */
static void
test_refused(StoreFixture *self, gconstpointer data)
{
    g_autofree char *path = get_path(self);
    g_autofree char *in_the_way = g_strconcat(path, ".tmp", NULL);

    g_assert_cmpint(g_mkdir(in_the_way, 0700), ==, 0);
    store_execute(self->writer, "CREATE TABLE t(x)");
    qd_schema_copy_refresh(self->writer, QD_SCHEMA_COPY_QUICK_BYTES);
    g_assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
    g_assert_cmpint(g_rmdir(in_the_way), ==, 0);
    qd_schema_copy_refresh(self->writer, QD_SCHEMA_COPY_QUICK_BYTES);
    g_assert_true(g_file_test(path, G_FILE_TEST_EXISTS));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(path, func) \
    g_test_add("/recover/schema-copy/" path, StoreFixture, NULL, store_fixture_set_up, func, store_fixture_tear_down)
    ADD("content", test_content);
    ADD("refresh", test_refresh);
    ADD("too-large", test_too_large);
    ADD("damaged", test_damaged);
    ADD("refused", test_refused);
    return g_test_run();
}
