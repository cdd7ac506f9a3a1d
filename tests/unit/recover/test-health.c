/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The file "health": what was saved comes back; any other content is a store that was not closed.
 */
#include "daemon/recover/health.h"

#include <unistd.h>

#include "tests/unit/store/store-fixture.h"

typedef struct Fixture {
    char *dir;
    char *path;
    QdHealth health;
} Fixture;

static void
set_up(Fixture *self, gconstpointer data)
{
    self->dir = g_dir_make_tmp("queryd-test-XXXXXX", NULL);
    self->path = g_build_filename(self->dir, "health", NULL);
    qd_health_init(&self->health, self->dir);
}

static void
tear_down(Fixture *self, gconstpointer data)
{
    qd_health_clear(&self->health);
    store_remove_folder(self->dir);
    g_free(self->path);
    g_free(self->dir);
}

static void
read_again(Fixture *self)
{
    qd_health_clear(&self->health);
    qd_health_init(&self->health, self->dir);
}

static void
test_new(Fixture *self, gconstpointer data)
{
    g_assert_false(self->health.unclean);
    g_assert_cmpint(self->health.checked_sec, ==, 0);
    g_assert_null(self->health.damage);
    g_assert_cmpstr(qd_health_get_word(&self->health), ==, "unchecked");
    g_assert_cmpint(access(self->path, F_OK), ==, -1);
}

static void
test_saved(Fixture *self, gconstpointer data)
{
    self->health.checked_sec = 1234567890123;
    self->health.salvaged_sec = 7;
    self->health.unclean = TRUE;
    qd_health_set_text(&self->health.report, "/a/path with; \\ and = and\nlines");
    qd_health_save(&self->health);
    read_again(self);
    g_assert_cmpint(self->health.checked_sec, ==, 1234567890123);
    g_assert_cmpint(self->health.salvaged_sec, ==, 7);
    g_assert_true(self->health.unclean);
    g_assert_cmpstr(self->health.report, ==, "/a/path with; \\ and = and\nlines");
    g_assert_cmpstr(qd_health_get_word(&self->health), ==, "ok");

    qd_health_set_text(&self->health.damage, "page 7");
    self->health.unclean = FALSE;
    qd_health_save(&self->health);
    read_again(self);
    g_assert_false(self->health.unclean);
    g_assert_cmpstr(self->health.damage, ==, "page 7");
    g_assert_cmpstr(qd_health_get_word(&self->health), ==, "damaged");
    qd_health_set_text(&self->health.damage, NULL);
    qd_health_save(&self->health);
    read_again(self);
    g_assert_null(self->health.damage);
}

/* The rest of a longer one would be read with it, or make it unreadable. */
static void
test_shorter(Fixture *self, gconstpointer data)
{
    qd_health_set_text(&self->health.damage, "a long text\nof many lines, as of a check that has found much");
    qd_health_save(&self->health);
    qd_health_set_text(&self->health.damage, NULL);
    self->health.checked_sec = 5;
    qd_health_save(&self->health);
    read_again(self);
    g_assert_cmpint(self->health.checked_sec, ==, 5);
    g_assert_null(self->health.damage);

    /* and over what another program has put there */
    g_assert_true(g_file_set_contents(self->path,
                                      "\xff\xfe no key file at all, and longer than what comes, by far:"
                                      " ................................................................",
                                      -1, NULL));
    read_again(self);
    g_assert_true(self->health.unclean);
    qd_health_set_text(&self->health.damage, "page 7");
    qd_health_save(&self->health);
    read_again(self);
    g_assert_cmpstr(self->health.damage, ==, "page 7");
}

/* Torn, emptied, or foreign: the database is looked at soon, and nothing is believed. */
static void
test_torn(Fixture *self, gconstpointer data)
{
    static const char *const texts[] = { "", "[Heal", "no group\n", "[Other]\nopen=false\n", "\xff\xfe" };

    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_assert_true(g_file_set_contents(self->path, texts[i], -1, NULL));
        read_again(self);
        g_assert_true(self->health.unclean);
        g_assert_cmpint(self->health.checked_sec, ==, 0);
        g_assert_null(self->health.damage);
    }
    g_assert_true(g_file_set_contents(self->path, "[Health]\nchecked=many\nopen=maybe\n", -1, NULL));
    read_again(self);
    g_assert_cmpint(self->health.checked_sec, ==, 0);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(path, func) g_test_add("/recover/health/" path, Fixture, NULL, set_up, func, tear_down)
    ADD("new", test_new);
    ADD("saved", test_saved);
    ADD("shorter", test_shorter);
    ADD("torn", test_torn);
    return g_test_run();
}
