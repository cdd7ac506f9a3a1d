/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files of an open store that are deleted, replaced, moved away and back; what else happens in the folder does not matter.
 */
#include "daemon/sqlite/file-watch.h"

#include <glib/gstdio.h>

#include "daemon/base/error.h"
#include "tests/unit/store/store-fixture.h"

typedef struct Fixture {
    char *dir;
    QdFileWatch *watch;
} Fixture;

static void
put(const Fixture *self, const char *name)
{
    g_autofree char *path = g_build_filename(self->dir, name, NULL);

    g_assert_true(g_file_set_contents_full(path, name, -1, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
}

static void
move(const Fixture *self, const char *from, const char *to)
{
    g_autofree char *old_path = g_build_filename(self->dir, from, NULL);
    g_autofree char *new_path = g_build_filename(self->dir, to, NULL);

    g_assert_cmpint(g_rename(old_path, new_path), ==, 0);
}

static void
set_up(Fixture *self, gconstpointer data)
{
    self->dir = g_dir_make_tmp("queryd-test-XXXXXX", NULL);
    put(self, "queryd.db");
    put(self, "lock");
    self->watch = qd_file_watch_new(self->dir);
    put(self, "queryd.db-wal");
    put(self, "queryd.db-shm");
    qd_file_watch_note_log(self->watch);
}

static void
tear_down(Fixture *self, gconstpointer data)
{
    qd_file_watch_free(self->watch);
    store_remove_folder(self->dir);
    g_free(self->dir);
}

static void
assert_whole(const Fixture *self)
{
    g_autoptr(GError) error = NULL;

    (void) qd_file_watch_check(self->watch, FALSE, &error);
    g_assert_no_error(error);
}

static void
assert_harmed(const Fixture *self, const char *name, const char *word)
{
    g_autofree char *words = g_strdup_printf("*%s*%s*nothing is written*", name, word);

    for (guint i = 0; i < 2; i++) {
        g_autoptr(GError) error = NULL;

        g_assert_false(qd_file_watch_check(self->watch, FALSE, &error));
        g_assert_error(error, QD_ERROR, (gint) QW_ERROR_READ_ONLY);
        if (!g_pattern_match_simple(words, error->message))
            g_error("'%s' does not say '%s'", error->message, words);
    }
}

static void
test_names(Fixture *self, gconstpointer data)
{
    static const char *const names[] = { "queryd.db", "lock", "queryd.db-wal", "queryd.db-shm" };

    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
        assert_whole(self);
        move(self, names[i], "aside");
        assert_harmed(self, names[i], "deleted");
        put(self, names[i]);
        assert_harmed(self, names[i], "replaced");
        move(self, "aside", names[i]);
        assert_whole(self);
    }
}

static void
test_others(Fixture *self, gconstpointer data)
{
    assert_whole(self);
    for (guint i = 0; i < 1000; i++) {
        put(self, "backup-1.tmp");
        move(self, "backup-1.tmp", "other");
    }
    assert_whole(self);
}

/* Closed in order, the log may go. */
static void
test_closed_log(Fixture *self, gconstpointer data)
{
    qd_file_watch_forget_log(self->watch);
    move(self, "queryd.db-wal", "aside");
    assert_whole(self);
    put(self, "queryd.db-wal");
    qd_file_watch_note_log(self->watch);
    assert_whole(self);
    move(self, "aside", "queryd.db-wal");
    assert_harmed(self, "queryd.db-wal", "replaced");
}

static void
test_folder(Fixture *self, gconstpointer data)
{
    g_autofree char *aside = g_strconcat(self->dir, "-aside", NULL);

    g_assert_cmpint(g_rename(self->dir, aside), ==, 0);
    assert_harmed(self, self->dir, "deleted");
    g_assert_cmpint(g_rename(aside, self->dir), ==, 0);
    assert_whole(self);
}

/* A database that is not on a file system. */
static void
test_nothing(Fixture *self, gconstpointer data)
{
    g_autoptr(QdFileWatch) watch = qd_file_watch_new("/nonexistent");
    g_autoptr(GError) error = NULL;

    qd_file_watch_note_log(watch);
    g_assert_true(qd_file_watch_check(watch, TRUE, &error));
}

int
main(int argc, char *argv[])
{
    static const struct {
        const char *path;
        void (*test)(Fixture *, gconstpointer);
    } tests[] = {
        { "/sqlite/file-watch/names", test_names },           { "/sqlite/file-watch/others", test_others },
        { "/sqlite/file-watch/closed-log", test_closed_log }, { "/sqlite/file-watch/folder", test_folder },
        { "/sqlite/file-watch/nothing", test_nothing },
    };

    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(tests); i++)
        g_test_add(tests[i].path, Fixture, NULL, set_up, tests[i].test, tear_down);
    return g_test_run();
}
