/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Leases of read connections: limits, who is charged, snapshots, what is kept open.
 */
#include "daemon/read/pool.h"

#include "tests/unit/store/store-fixture.h"

typedef struct Fixture {
    StoreFixture store;
    QdPool *pool;
    QdClient *client;
    QdClient *other;
} Fixture;

static void
set_up(Fixture *self, gconstpointer data)
{
    QdConnectionInfo info;

    store_fixture_set_up(&self->store, NULL);
    store_execute(self->store.writer, "CREATE TABLE t(a); INSERT INTO t VALUES(1)");
    info = qd_database_get_info(self->store.database);
    self->pool = qd_pool_new(&info, &self->store.limits);
    self->client = qd_client_new("one");
    self->other = qd_client_new("two");
}

static void
tear_down(Fixture *self, gconstpointer data)
{
    g_assert_cmpuint(qd_pool_get_n_leased(self->pool), ==, 0);
    g_assert_false(qd_client_is_charged(self->client));
    qd_pool_free(self->pool);
    qd_client_unref(self->client);
    qd_client_unref(self->other);
    store_fixture_tear_down(&self->store, NULL);
}

static QdReader *
lease(Fixture *self, QdClient *client)
{
    g_autoptr(GError) error = NULL;
    QdReader *reader = qd_pool_lease(self->pool, client, NULL, &error);

    g_assert_no_error(error);
    return reader;
}

static void
test_reuse(Fixture *self, gconstpointer data)
{
    QdReader *first = lease(self, self->client);
    QdReader *second = lease(self, self->other);
    QdReader *again;

    g_assert_true(first != second);
    g_assert_true(first->connection != second->connection);
    g_assert_cmpuint(qd_pool_get_n_leased(self->pool), ==, 2);
    qd_pool_release(self->pool, first);
    qd_pool_release(self->pool, second);
    g_assert_cmpuint(qd_pool_get_n_leased(self->pool), ==, 0);
    g_assert_cmpuint(qd_pool_get_n_open(self->pool), ==, 2);

    /* the warmest, or the one that is asked for */
    again = lease(self, self->client);
    g_assert_true(again == second);
    qd_pool_release(self->pool, again);
    again = qd_pool_lease(self->pool, self->client, first, NULL);
    g_assert_true(again == first);
    qd_pool_release(self->pool, again);
    g_assert_cmpuint(qd_pool_get_n_open(self->pool), ==, 2);
}

/* A hint that is leased elsewhere, or gone, is only a hint. */
static void
test_preferred_is_a_hint(Fixture *self, gconstpointer data)
{
    QdReader *first = lease(self, self->client);
    QdReader *second = qd_pool_lease(self->pool, self->other, first, NULL);

    g_assert_nonnull(second);
    g_assert_true(second != first);
    qd_pool_release(self->pool, first);
    qd_pool_release(self->pool, second);
}

static void
test_limits(Fixture *self, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    QdReader *readers[3];

    self->store.limits.values[QD_LIMIT_SNAPSHOTS_PER_CLIENT] = 2;
    self->store.limits.values[QD_LIMIT_SNAPSHOTS] = 3;
    readers[0] = lease(self, self->client);
    readers[1] = lease(self, self->client);
    g_assert_null(qd_pool_lease(self->pool, self->client, NULL, &error));
    store_assert_error(error, QW_ERROR_BUSY, "'one': the limit 'snapshots_per_client' is 2");
    g_clear_error(&error);
    readers[2] = lease(self, self->other);
    g_assert_null(qd_pool_lease(self->pool, self->other, NULL, &error));
    store_assert_error(error, QW_ERROR_BUSY, "the limit 'snapshots' is 3");
    g_clear_error(&error);

    /* a refusal costs nothing: what is given back can be had again */
    qd_pool_release(self->pool, readers[0]);
    readers[0] = lease(self, self->other);
    for (guint i = 0; i < G_N_ELEMENTS(readers); i++)
        qd_pool_release(self->pool, readers[i]);
}

/* A leased connection whose statement is on a row sees the database as it was. */
static void
test_snapshot(Fixture *self, gconstpointer data)
{
    QdReader *reader = lease(self, self->client);
    QdReader *later;
    QdCompiled *compiled = store_compile(&self->store, reader->connection, "SELECT a FROM t", QD_POLICY_READ, NULL);

    g_assert_cmpint(sqlite3_step(compiled->stmt), ==, SQLITE_ROW);
    store_execute(self->store.writer, "INSERT INTO t VALUES(2)");
    later = lease(self, self->client);
    g_assert_cmpint(store_get_int64(reader->connection, "SELECT count(*) FROM t"), ==, 1);
    g_assert_cmpint(store_get_int64(later->connection, "SELECT count(*) FROM t"), ==, 2);
    (void) sqlite3_reset(compiled->stmt);
    g_assert_cmpint(store_get_int64(reader->connection, "SELECT count(*) FROM t"), ==, 2);
    qd_pool_release(self->pool, reader);
    qd_pool_release(self->pool, later);
}

static void
test_few_are_kept(Fixture *self, gconstpointer data)
{
    QdReader *readers[20];

    for (guint i = 0; i < G_N_ELEMENTS(readers); i++)
        readers[i] = lease(self, self->client);
    g_assert_cmpuint(qd_pool_get_n_open(self->pool), ==, 20);
    for (guint i = 0; i < G_N_ELEMENTS(readers); i++)
        qd_pool_release(self->pool, readers[i]);
    g_assert_cmpuint(qd_pool_get_n_open(self->pool), <=, 8);
    /* they have only just come back */
    g_assert_true(qd_pool_trim(self->pool, FALSE));
    g_assert_cmpuint(qd_pool_get_n_open(self->pool), >, 1);
}

static void
test_readers_have_our_functions(Fixture *self, gconstpointer data)
{
    QdReader *reader = lease(self, self->client);
    gint64 start_usec = g_get_monotonic_time();

    /* SQLite's own instr() compares at each of a million places a million bytes: half a minute */
    g_assert_cmpint(store_get_int64(reader->connection, "SELECT instr(zeroblob(2000000), zeroblob(1000000) || x'01')"), ==, 0);
    g_assert_cmpint(g_get_monotonic_time() - start_usec, <, 5 * G_USEC_PER_SEC);
    qd_pool_release(self->pool, reader);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(path, func) g_test_add("/read/pool/" path, Fixture, NULL, set_up, func, tear_down)
    ADD("reuse", test_reuse);
    ADD("preferred-is-a-hint", test_preferred_is_a_hint);
    ADD("limits", test_limits);
    ADD("snapshot", test_snapshot);
    ADD("few-are-kept", test_few_are_kept);
    ADD("readers-have-our-functions", test_readers_have_our_functions);
    return g_test_run();
}
