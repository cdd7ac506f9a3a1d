/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checks: what they find, that they can be interrupted and taken up again, and which messages are of damage; and what the health
 * file remembers.
 */
#include "daemon/recover/integrity.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "daemon/recover/health.h"
#include "tests/unit/store/store-fixture.h"

static void
fill(StoreFixture *self)
{
    store_execute(self->writer,
                  "CREATE TABLE a(x); CREATE TABLE b(x CHECK(x<>13)); CREATE INDEX bi ON b(x);"
                  "WITH RECURSIVE n(i) AS (SELECT 20 UNION ALL SELECT i+1 FROM n WHERE i<3000) INSERT INTO b SELECT i FROM n;"
                  "INSERT INTO a SELECT x FROM b");
}

static gboolean
count_down(gpointer data)
{
    gint *n = data;

    return --*n < 0;
}

static gboolean
run(StoreFixture *self, QdIntegrity *integrity, gboolean quick, gint n_steps)
{
    g_autoptr(QdConnection) reader = store_fixture_open_reader(self);
    g_autoptr(GError) error = NULL;

    (void) qd_integrity_run(integrity, reader, quick, count_down, &n_steps, &error);
    g_assert_no_error(error);
    return integrity->finished;
}

static void
test_whole(StoreFixture *self, gconstpointer data)
{
    QdIntegrity integrity;
    guint n_runs = 0;

    fill(self);
    qd_integrity_init(&integrity);
    while (!run(self, &integrity, FALSE, 3))
        g_assert_cmpuint(++n_runs, <, 1000);
    g_assert_cmpuint(n_runs, >, 3);
    g_assert_cmpuint(integrity.messages->len, ==, 0);
    qd_integrity_clear(&integrity);
}

/* A row that breaks a constraint is not damage, or a salvage would delete it. */
static void
test_constraint(StoreFixture *self, gconstpointer data)
{
    QdIntegrity integrity;

    fill(self);
    store_execute(self->writer, "PRAGMA ignore_check_constraints=ON; INSERT INTO b VALUES(13)");
    qd_integrity_init(&integrity);
    g_assert_true(run(self, &integrity, FALSE, G_MAXINT));
    g_assert_cmpuint(integrity.messages->len, ==, 0);
    qd_integrity_clear(&integrity);
    g_assert_false(qd_integrity_is_damage("CHECK constraint failed in b"));
    g_assert_true(qd_integrity_is_damage("row 7 missing from index bi"));
    g_assert_true(qd_integrity_is_damage("non-unique entry in index bi"));
    g_assert_true(qd_integrity_is_damage("*** in database main ***"));
}

static void
test_damage(StoreFixture *self, gconstpointer data)
{
    gint64 page;
    g_autofree char *path = g_strdup(qd_database_get_path(self->database));
    char zeros[4096] = { 0 };
    QdIntegrity integrity;
    int fd;

    fill(self);
    page = store_get_int64(self->writer, "SELECT rootpage FROM sqlite_schema WHERE name='bi'");
    store_fixture_close(self);
    fd = open(path, O_WRONLY | O_CLOEXEC);
    g_assert_cmpint(pwrite(fd, zeros, sizeof zeros, (off_t) (page - 1) * 4096), ==, sizeof zeros);
    (void) close(fd);
    store_fixture_open(self);
    qd_integrity_init(&integrity);
    g_assert_true(run(self, &integrity, TRUE, G_MAXINT));
    g_assert_cmpuint(integrity.messages->len, >, 0);
    g_assert_true(g_str_has_prefix(integrity.messages->pdata[0], "b: "));
    qd_integrity_clear(&integrity);
}

/* The system call under SQLite's reads, which fails once: the @n_calls_left-th from now. */
static gint n_calls_left;
static gboolean was_hit;
static ssize_t (*true_pread)(int fd, void *buffer, size_t n_bytes, off_t offset);

static ssize_t
pread_or_fail(int fd, void *buffer, size_t n_bytes, off_t offset)
{
    if (--n_calls_left != 0)
        return true_pread(fd, buffer, n_bytes, offset);
    was_hit = TRUE;
    errno = EIO;
    return -1;
}

/* What SQLite calls damage when the disk refuses a page: the check has failed, and found nothing. */
static void
test_disk_error(StoreFixture *self, gconstpointer data)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    guint n_failures = 0;
    gint64 n_damaged = 0;

    fill(self);
    g_assert_true(qd_limits_set(&self->limits, "map_bytes", 0, NULL));
    true_pread = (void *) vfs->xGetSystemCall(vfs, "pread64");
    g_assert_cmpint(vfs->xSetSystemCall(vfs, "pread64", (sqlite3_syscall_ptr) pread_or_fail), ==, SQLITE_OK);
    for (gint k = 1; k == 1 || was_hit; k += 13) {
        g_autoptr(QdConnection) reader = store_fixture_open_reader(self);
        g_autoptr(GError) error = NULL;
        gint n_steps = G_MAXINT;
        QdIntegrity integrity;

        store_execute(reader, "PRAGMA cache_size=1"); /* pages are read again and again */
        qd_integrity_init(&integrity);
        n_calls_left = k;
        was_hit = FALSE;
        if (!qd_integrity_run(&integrity, reader, FALSE, count_down, &n_steps, &error)) {
            store_assert_error(error, QW_ERROR_INTERNAL, "Input/output error; the disk reports an error");
            g_assert_false(integrity.finished);
            n_failures++;
        }
        n_damaged += integrity.messages->len;
        n_calls_left = 0;
        g_clear_error(&error);
        g_assert_true(qd_integrity_run(&integrity, reader, FALSE, count_down, &n_steps, &error));
        g_assert_true(integrity.finished);
        n_damaged += integrity.messages->len;
        qd_integrity_clear(&integrity);
    }
    g_assert_cmpint(vfs->xSetSystemCall(vfs, "pread64", NULL), ==, SQLITE_OK);
    g_assert_cmpint(n_damaged, ==, 0);
    g_assert_cmpuint(n_failures, >, 10);
}

static void
test_health(StoreFixture *self, gconstpointer data)
{
    QdHealth health;

    qd_health_init(&health, self->dir);
    g_assert_cmpstr(qd_health_get_word(&health), ==, "unchecked");
    health.checked_sec = 1700000000;
    health.unclean = TRUE;
    qd_health_set_text(&health.damage, "row 7 is missing = \"so\"\nand more");
    qd_health_set_text(&health.report, "/a b/report.txt");
    qd_health_save(&health);
    qd_health_clear(&health);

    qd_health_init(&health, self->dir);
    g_assert_cmpstr(qd_health_get_word(&health), ==, "damaged");
    g_assert_cmpint(health.checked_sec, ==, 1700000000);
    g_assert_true(health.unclean);
    g_assert_cmpstr(health.damage, ==, "row 7 is missing = \"so\"\nand more");
    g_assert_cmpstr(health.report, ==, "/a b/report.txt");
    qd_health_set_text(&health.damage, NULL);
    g_assert_cmpstr(qd_health_get_word(&health), ==, "ok");
    qd_health_clear(&health);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(path, func) \
    g_test_add("/recover/integrity/" path, StoreFixture, NULL, store_fixture_set_up, func, store_fixture_tear_down)
    ADD("whole", test_whole);
    ADD("constraint", test_constraint);
    ADD("damage", test_damage);
    ADD("disk-error", test_disk_error);
    ADD("health", test_health);
    return g_test_run();
}
