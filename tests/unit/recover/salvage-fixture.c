/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Plain SQLite on both sides, salvage between them.
 */
#include "tests/unit/recover/salvage-fixture.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/store/store-fixture.h"

void
salvage_fixture_set_up(SalvageFixture *self, gconstpointer data)
{
    self->dir = g_dir_make_tmp("queryd-test-XXXXXX", NULL);
    self->source = g_build_filename(self->dir, "source", NULL);
    self->target = g_build_filename(self->dir, "target", NULL);
    qd_limits_init(&self->limits);
}

void
salvage_fixture_tear_down(SalvageFixture *self, gconstpointer data)
{
    (void) sqlite3_close(self->after);
    qd_salvage_report_free(self->report);
    store_remove_folder(self->dir);
    g_free(self->dir);
    g_free(self->source);
    g_free(self->target);
}

static sqlite3 *
open_plain(const char *path)
{
    sqlite3 *db = NULL;

    g_assert_cmpint(sqlite3_open(path, &db), ==, SQLITE_OK);
    (void) sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
    return db;
}

static gint64
ask(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *stmt = NULL;
    gint64 value;

    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK || sqlite3_step(stmt) != SQLITE_ROW)
        g_error("%s: %s", sql, sqlite3_errmsg(db));
    value = sqlite3_column_int64(stmt, 0);
    (void) sqlite3_finalize(stmt);
    return value;
}

void
salvage_fixture_execute(SalvageFixture *self, const char *sql)
{
    sqlite3 *db = open_plain(self->source);

    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        g_error("%s: %s", sql, sqlite3_errmsg(db));
    (void) sqlite3_close(db);
}

/* @from: (nullable): zeros */
static void
replace_page(SalvageFixture *self, const char *from, const char *to)
{
    sqlite3 *db = open_plain(self->source);
    gint64 page = ask(db, to);
    gint64 other = from != NULL ? ask(db, from) : 0;
    gint64 page_size = ask(db, "PRAGMA page_size");
    g_autofree guint8 *bytes = g_malloc0((gsize) page_size);
    int fd;

    (void) sqlite3_close(db);
    g_assert_cmpint(page, >, 1);
    fd = open(self->source, O_RDWR | O_CLOEXEC);
    g_assert_true(from == NULL || pread(fd, bytes, (gsize) page_size, (other - 1) * page_size) == page_size);
    g_assert_cmpint(pwrite(fd, bytes, (gsize) page_size, (page - 1) * page_size), ==, page_size);
    (void) close(fd);
}

void
salvage_fixture_lose_page(SalvageFixture *self, const char *query)
{
    replace_page(self, NULL, query);
}

void
salvage_fixture_misplace_page(SalvageFixture *self, const char *from, const char *to)
{
    replace_page(self, from, to);
}

void
salvage_fixture_run(SalvageFixture *self)
{
    const QdSalvageOptions options = { .source = self->source, .target = self->target, .limits = &self->limits };
    g_autoptr(GError) error = NULL;
    g_autofree char *text = NULL;

    (void) sqlite3_close(self->after);
    self->after = NULL;
    qd_salvage_report_free(self->report);
    self->report = qd_salvage_report_new();
    (void) qd_salvage_run(&options, self->report, &error);
    g_assert_no_error(error);
    text = qd_salvage_report_format(self->report, self->source);
    g_test_message("%s", text);
    self->after = open_plain(self->target);
    g_assert_cmpint(ask(self->after, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check='ok'"), ==, 1);
}

gint64
salvage_fixture_ask(SalvageFixture *self, const char *sql)
{
    return ask(self->after, sql);
}

gboolean
salvage_fixture_is_reported(const SalvageFixture *self, const char *words)
{
    g_autofree char *text = qd_salvage_report_format(self->report, self->source);

    return strstr(text, words) != NULL;
}
