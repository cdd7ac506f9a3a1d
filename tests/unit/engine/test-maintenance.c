/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checks of a real store by a real engine: when they are due, what they find, and what follows from it.
 */
#include "daemon/engine/maintenance.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/mailbox.h"
#include "daemon/engine/engine-private.h"
#include "daemon/engine/engine.h"
#include "daemon/recover/health.h"
#include "daemon/sqlite/memory.h"
#include "tests/unit/store/store-fixture.h"

#define DEADLINE_USEC (60 * G_USEC_PER_SEC)

typedef struct Fixture {
    StoreFixture store; /* closed */
    QdMailbox *mailbox;
    QdEngine *engine;
    guint n_damaged; /* so often the hook was called */
    guint n_active;
} Fixture;

static void
on_activity(void *user_data)
{
    ((Fixture *) user_data)->n_active++;
}

static void
on_damaged(void *user_data)
{
    ((Fixture *) user_data)->n_damaged++;
}

static void
set_up(Fixture *self, gconstpointer data)
{
    store_fixture_set_up(&self->store, NULL);
    store_execute(self->store.writer,
                  "CREATE TABLE t(x); INSERT INTO t VALUES(zeroblob(3000)), (zeroblob(3000)), (zeroblob(3000))");
    store_execute(self->store.writer, "PRAGMA wal_checkpoint(TRUNCATE)");
    store_fixture_close(&self->store);
}

/* One round of the main loop. */
static void
iterate(Fixture *self)
{
    struct pollfd pfd = { .fd = qd_mailbox_get_fd(self->mailbox), .events = POLLIN };

    (void) poll(&pfd, 1, 100);
    qd_mailbox_dispatch(self->mailbox);
}

static void
start(Fixture *self)
{
    g_autoptr(GError) error = NULL;
    gint64 deadline = g_get_monotonic_time() + DEADLINE_USEC;
    const QdEngineConfig config = { .directory = self->store.dir,
                                    .limits = self->store.limits,
                                    .activity = on_activity,
                                    .damaged = on_damaged,
                                    .user_data = self };

    self->mailbox = qd_mailbox_new(&error);
    g_assert_no_error(error);
    self->engine = qd_engine_new(&config, self->mailbox, &error);
    g_assert_no_error(error);
    while (self->engine->state != QD_ENGINE_OPEN && g_get_monotonic_time() < deadline)
        iterate(self);
    g_assert_cmpint(self->engine->state, ==, QD_ENGINE_OPEN);
}

/* As a daemon that ends in order, or as one that is killed. */
static void
stop(Fixture *self, gboolean in_order)
{
    QdHealth health;

    self->engine = qd_engine_free(self->engine);
    g_clear_pointer(&self->mailbox, qd_mailbox_free);
    if (in_order)
        return;
    qd_health_init(&health, self->store.dir);
    health.unclean = TRUE;
    qd_health_save(&health);
    qd_health_clear(&health);
}

static void
tear_down(Fixture *self, gconstpointer data)
{
    stop(self, TRUE);
    store_fixture_tear_down(&self->store, NULL);
}

static const QdHealth *
get_health(const Fixture *self)
{
    return qd_maintenance_get_health(self->engine->maintenance);
}

/* Until the check that runs has ended. */
static void
await_end(Fixture *self)
{
    gint64 deadline = g_get_monotonic_time() + DEADLINE_USEC;

    while (self->engine->context.n_calls > 0 && g_get_monotonic_time() < deadline)
        iterate(self);
    g_assert_cmpuint(self->engine->context.n_calls, ==, 0);
}

static void
damage_table(const Fixture *self)
{
    g_autofree char *path = g_build_filename(self->store.dir, "queryd.db", NULL);
    const guint8 noise[4096] = { 0xff, 0x55 };
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;
    off_t offset;
    int fd;

    g_assert_cmpint(sqlite3_open(path, &db), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_prepare_v2(db, "SELECT pageno FROM dbstat WHERE name='t' AND pagetype='leaf' LIMIT 1", -1, &stmt, NULL),
                    ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_step(stmt), ==, SQLITE_ROW);
    offset = (off_t) (sqlite3_column_int64(stmt, 0) - 1) * 4096;
    (void) sqlite3_finalize(stmt);
    (void) sqlite3_close(db);
    fd = open(path, O_WRONLY | O_CLOEXEC);
    g_assert_cmpint(pwrite(fd, noise, sizeof noise, offset), ==, sizeof noise);
    (void) close(fd);
}

static void
test_due(Fixture *self, gconstpointer data)
{
    start(self);
    g_assert_true(get_health(self)->unclean); /* as long as it is open */
    g_assert_true(qd_maintenance_start_if_due(self->engine->maintenance));
    g_assert_true(qd_maintenance_start_if_due(self->engine->maintenance)); /* that one */
    await_end(self);
    g_assert_cmpint(get_health(self)->checked_sec, >, 0);
    g_assert_cmpstr(qd_health_get_word(get_health(self)), ==, "ok");
    g_assert_cmpuint(self->n_active, >, 0); /* the daemon may leave now */
    g_assert_false(qd_maintenance_start_if_due(self->engine->maintenance));
    stop(self, TRUE);

    start(self); /* closed in order, and checked lately */
    g_assert_false(qd_maintenance_start_if_due(self->engine->maintenance));
    stop(self, FALSE);

    start(self); /* not closed */
    g_assert_true(qd_maintenance_start_if_due(self->engine->maintenance));
    await_end(self);
    g_assert_false(qd_maintenance_start_if_due(self->engine->maintenance));
    g_assert_cmpuint(self->n_damaged, ==, 0);
}

static void
test_never(Fixture *self, gconstpointer data)
{
    self->store.limits.values[QD_LIMIT_CHECK_INTERVAL_HOURS] = 0;
    start(self);
    g_assert_false(qd_maintenance_start_if_due(self->engine->maintenance));
}

/* It is reported once, remembered, and salvaged at the next start. */
static void
assert_damage_is_salvaged(Fixture *self)
{
    g_assert_cmpuint(self->n_damaged, ==, 1);
    g_assert_cmpstr(qd_health_get_word(get_health(self)), ==, "damaged");
    g_assert_false(qd_maintenance_start_if_due(self->engine->maintenance));
    stop(self, TRUE);
    start(self);
    g_assert_cmpstr(qd_health_get_word(get_health(self)), ==, "ok");
    g_assert_true(g_file_test(get_health(self)->report, G_FILE_TEST_EXISTS));
    g_assert_cmpint(get_health(self)->salvaged_sec, >, 0);
    g_assert_false(qd_maintenance_start_if_due(self->engine->maintenance));
}

static void
test_damage(Fixture *self, gconstpointer data)
{
    damage_table(self);
    start(self);
    g_assert_true(qd_maintenance_start_if_due(self->engine->maintenance));
    await_end(self);
    g_assert_true(g_str_has_prefix(get_health(self)->damage, "t: "));
    assert_damage_is_salvaged(self);
}

static void
test_suspicion(Fixture *self, gconstpointer data)
{
    gint64 deadline = g_get_monotonic_time() + DEADLINE_USEC;

    damage_table(self);
    start(self);
    qd_maintenance_suspect(self->engine->maintenance);
    qd_maintenance_suspect(self->engine->maintenance);
    while (self->n_damaged == 0 && g_get_monotonic_time() < deadline)
        iterate(self);
    await_end(self);
    assert_damage_is_salvaged(self);
}

/* One that comes soon after a check that has found nothing is not followed. */
static void
test_wrong_suspicion(Fixture *self, gconstpointer data)
{
    gint64 deadline = g_get_monotonic_time() + DEADLINE_USEC;

    start(self);
    qd_maintenance_suspect(self->engine->maintenance);
    while (get_health(self)->checked_sec == 0 && g_get_monotonic_time() < deadline)
        iterate(self);
    g_assert_cmpstr(qd_health_get_word(get_health(self)), ==, "ok");
    qd_maintenance_suspect(self->engine->maintenance);
    qd_mailbox_dispatch(self->mailbox);
    g_assert_cmpuint(self->engine->context.n_calls, ==, 0);
    g_assert_cmpuint(self->n_damaged, ==, 0);
}

static void
test_report(Fixture *self, gconstpointer data)
{
    start(self);
    qd_maintenance_report(self->engine->maintenance, "page 7 is wrong");
    qd_maintenance_report(self->engine->maintenance, "page 8, too");
    qd_mailbox_dispatch(self->mailbox);
    g_assert_cmpstr(get_health(self)->damage, ==, "page 7 is wrong");
    assert_damage_is_salvaged(self);
}

/* A check that is asked to stop leaves the store as one that still has to be checked. */
static void
test_stopped(Fixture *self, gconstpointer data)
{
    start(self);
    qd_maintenance_stop(self->engine->maintenance);
    g_assert_false(qd_maintenance_start_if_due(self->engine->maintenance));
    stop(self, FALSE);
    start(self);
    g_assert_true(qd_maintenance_start_if_due(self->engine->maintenance));
    await_end(self);
}

int
main(int argc, char **argv)
{
    g_autoptr(GError) error = NULL;

    g_test_init(&argc, &argv, NULL);
    g_assert_true(qd_memory_init(&error)); /* before SQLite is used */
#define ADD(path, func) g_test_add("/engine/maintenance/" path, Fixture, NULL, set_up, func, tear_down)
    ADD("due", test_due);
    ADD("never", test_never);
    ADD("damage", test_damage);
    ADD("suspicion", test_suspicion);
    ADD("suspicion/wrong", test_wrong_suspicion);
    ADD("report", test_report);
    ADD("stopped", test_stopped);
    return g_test_run();
}
