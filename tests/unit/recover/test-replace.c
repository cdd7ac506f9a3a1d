/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Replacing the file of a store: the machine may stop at any moment. The next start finishes it, and nothing is lost.
 */
#include "daemon/recover/replace.h"

#include <glib/gstdio.h>
#include <unistd.h>

#include "tests/unit/store/store-fixture.h"

static void
put(const StoreFixture *self, const char *name, const char *text)
{
    g_autofree char *path = g_build_filename(self->dir, name, NULL);

    g_assert_true(g_file_set_contents(path, text, -1, NULL));
}

static void
assert_content(const char *path, const char *text)
{
    g_autofree char *content = NULL;

    g_assert_true(g_file_get_contents(path, &content, NULL, NULL));
    g_assert_cmpstr(content, ==, text);
}

static char *
begin(StoreFixture *self)
{
    g_autoptr(GError) error = NULL;
    char *aside = NULL;

    store_fixture_close(self);
    put(self, "queryd.db", "old");
    put(self, "queryd.db-wal", "old log");
    put(self, "queryd.db-shm", "old index");
    put(self, "queryd.db.new", "new");
    (void) qd_replace_begin(self->dir, "corrupt", &aside, &error);
    g_assert_no_error(error);
    return aside;
}

static void
finish_and_check(StoreFixture *self, const char *aside)
{
    g_autofree char *database = g_build_filename(self->dir, "queryd.db", NULL);
    g_autofree char *log = g_build_filename(self->dir, "queryd.db-wal", NULL);
    g_autofree char *index = g_build_filename(self->dir, "queryd.db-shm", NULL);
    g_autofree char *aside_log = g_strconcat(aside, "-wal", NULL);
    g_autoptr(GError) error = NULL;

    for (guint i = 0; i < 2; i++) { /* the second time there is nothing to do */
        (void) qd_replace_finish(self->dir, &error);
        g_assert_no_error(error);
        assert_content(database, "new");
        assert_content(aside, "old");
        assert_content(aside_log, "old log");
        g_assert_cmpint(g_access(log, F_OK), ==, -1);
        g_assert_cmpint(g_access(index, F_OK), ==, -1);
    }
}

static void
test_at_once(StoreFixture *self, gconstpointer data)
{
    g_autofree char *aside = begin(self);

    finish_and_check(self, aside);
}

/* Stopped after the first and after the second name has changed. */
static void
test_interrupted(StoreFixture *self, gconstpointer data)
{
    g_autofree char *database = g_build_filename(self->dir, "queryd.db", NULL);
    g_autofree char *log = g_build_filename(self->dir, "queryd.db-wal", NULL);
    g_autofree char *aside = begin(self);
    g_autofree char *aside_log = g_strconcat(aside, "-wal", NULL);

    g_assert_cmpint(g_rename(database, aside), ==, 0);
    if (GPOINTER_TO_UINT(data) > 1)
        g_assert_cmpint(g_rename(log, aside_log), ==, 0);
    finish_and_check(self, aside);
}

/* What a crash left before the new file was whole goes. */
static void
test_unfinished(StoreFixture *self, gconstpointer data)
{
    g_autofree char *database = g_build_filename(self->dir, "queryd.db", NULL);
    g_autofree char *unfinished = qd_replace_get_path(self->dir);
    g_autofree char *left_over = g_build_filename(self->dir, "backup-7.tmp", NULL);
    g_autoptr(GError) error = NULL;

    store_fixture_close(self);
    put(self, "queryd.db", "old");
    put(self, "queryd.db.new", "half of");
    put(self, "backup-7.tmp", "half of");
    g_assert_true(qd_replace_finish(self->dir, &error));
    assert_content(database, "old");
    g_assert_cmpint(g_access(unfinished, F_OK), ==, -1);
    g_assert_cmpint(g_access(left_over, F_OK), ==, -1);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(path, data, func) \
    g_test_add("/recover/replace/" path, StoreFixture, data, store_fixture_set_up, func, store_fixture_tear_down)
    ADD("at-once", NULL, test_at_once);
    ADD("interrupted/1", GUINT_TO_POINTER(1), test_interrupted);
    ADD("interrupted/2", GUINT_TO_POINTER(2), test_interrupted);
    ADD("unfinished", NULL, test_unfinished);
    return g_test_run();
}
