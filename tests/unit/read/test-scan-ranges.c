/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Scans in ranges with helpers on threads, against the same statement by SQLite alone at the same generation. There are shapes that
 * are proven and others, and commits, deletions and checkpoints between. Errors and early ends, too.
 */
#include "daemon/read/run.h"

#include <string.h>

#include "daemon/base/error.h"
#include "daemon/read/client.h"
#include "daemon/read/pool.h"
#include "daemon/read/ranges/scan-ranges.h"
#include "daemon/sqlite/connection.h"
#include "tests/unit/store/store-fixture.h"

#define TABLE                                                                                                       \
    "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b TEXT, j TEXT, r REAL, \"odd \"\"name\" TEXT);"                     \
    "WITH RECURSIVE k(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < 60000) "                              \
    "INSERT INTO t SELECT i * 3 - 70000, i % 1000, 'text ' || i, json_object('x', i % 7, 'y', 'v' || i), i / 8.0, " \
    "substr('abcdefghijklmnopqrstuvwxyz', 1, i % 27) || hex(zeroblob(i % 50)) FROM k;"                              \
    "INSERT INTO t VALUES(9223372036854775807, 77, 'the last', '{}', 1, ''),"                                       \
    "(-9223372036854775807 - 1, 77, 'the first', '{}', 1, '')"
#define LONG_USEC (10 * G_USEC_PER_SEC)
#define PAGE_BYTES 65536
#define N_ROUNDS 25

typedef struct Fixture {
    StoreFixture store;
    QdPool *pool;
    QdClient *client;
    QdRunOptions options;
    guint n_helpers;
    GPtrArray *threads;
    gint n_helped;  /* atomic: ranges */
    gint leaves;    /* atomic */
    gboolean waits; /* for each helper's end, so that it surely takes part */
    GError *error;
} Fixture;

typedef struct Help {
    Fixture *fixture;
    QdScanShare *share;
} Help;

static gboolean
is_to_leave(void *data)
{
    return g_atomic_int_get(&((Fixture *) data)->leaves) != 0;
}

static gpointer
help(gpointer data)
{
    g_autofree Help *self = data;

    (void) g_atomic_int_add(&self->fixture->n_helped, (gint) qd_scan_share_help(self->share, is_to_leave, self->fixture));
    return NULL;
}

/* With waits the helper executes what there is before the run goes on. */
static gboolean
start_help(void *data, QdScanShare *share)
{
    Fixture *self = data;
    Help *task;
    GThread *thread;

    if (share == NULL || self->n_helpers == 0)
        return share == NULL;
    task = g_new(Help, 1);
    *task = (Help){ self, share };
    thread = g_thread_new("help", help, task);
    if (self->waits)
        (void) g_thread_join(thread);
    else
        g_ptr_array_add(self->threads, thread);
    return TRUE;
}

static void
set_up(Fixture *self, gconstpointer data)
{
    QdConnectionInfo info;

    store_fixture_set_up(&self->store, NULL);
    store_execute(self->store.writer, TABLE);
    info = qd_database_get_info(self->store.database);
    self->pool = qd_pool_new(&info, &self->store.limits);
    self->client = qd_client_new("one");
    self->threads = g_ptr_array_new();
    self->options = (QdRunOptions){ .may_pack = TRUE, .help_func = start_help, .func_data = self };
}

static void
join_helpers(Fixture *self)
{
    for (guint i = 0; i < self->threads->len; i++)
        (void) g_thread_join(self->threads->pdata[i]);
    g_ptr_array_set_size(self->threads, 0);
}

static void
tear_down(Fixture *self, gconstpointer data)
{
    join_helpers(self);
    g_ptr_array_unref(self->threads);
    g_clear_error(&self->error);
    g_assert_cmpuint(qd_pool_get_n_leased(self->pool), ==, 0);
    qd_pool_free(self->pool);
    qd_client_unref(self->client);
    store_fixture_tear_down(&self->store, NULL);
}

static QdRun *
start(Fixture *self, const char *sql, gboolean in_ranges)
{
    const QdRunText what = { .text = sql, .n_bytes = strlen(sql) };
    QdRun *run = qd_run_new(self->pool, self->client, NULL, &what, QD_POLICY_READ, &self->store.limits, &self->error);
    QdRunOptions options = self->options;

    g_assert_no_error(self->error);
    g_assert_true(qd_run_bind_row(run, NULL, &self->error));
    if (!in_ranges)
        options.help_func = NULL;
    qd_run_set_options(run, &options);
    qd_run_get_compiled(run)->wrapped.ranged.pays = TRUE;
    qd_run_get_compiled(run)->wrapped.ranged.n_pauses = 0;
    return run;
}

/* One page. */
static QdRunStatus
fill(Fixture *self, QdRun *run, GByteArray *rows)
{
    g_autofree uint8_t *page = g_malloc(PAGE_BYTES);
    QwPageWriter writer;
    QdRunStatus status;
    size_t size;

    qw_page_writer_init(&writer, page, PAGE_BYTES, 0);
    status = qd_run_fill(run, &writer, SIZE_MAX, LONG_USEC, &self->error);
    if (status == QD_RUN_LARGE && qd_run_get_row_size(run, PAGE_BYTES, &size, &self->error)) {
        g_free(page);
        page = g_malloc(size);
        qw_page_writer_init(&writer, page, size, 0);
        status = qd_run_fill(run, &writer, 0, LONG_USEC, &self->error);
    }
    g_byte_array_append(rows, page + QW_HEADER_SIZE, (guint) (writer.used - QW_HEADER_SIZE));
    return status;
}

static GByteArray *
finish(Fixture *self, QdRun *run)
{
    GByteArray *rows = g_byte_array_new();
    QdRunStatus status;

    do
        status = fill(self, run, rows);
    while (status == QD_RUN_PAGE || status == QD_RUN_SLICE);
    g_assert_true((status == QD_RUN_FAILED) == (self->error != NULL));
    return rows;
}

/* Returns: how many ranges helpers have done */
static guint
assert_same(Fixture *self, const char *sql)
{
    QdRun *serial = start(self, sql, FALSE);
    g_autoptr(GByteArray) expected = finish(self, serial);
    g_autofree char *message = g_strdup(self->error != NULL ? self->error->message : "");
    g_autoptr(GByteArray) rows = NULL;
    QdRun *run;

    qd_run_free(serial);
    g_clear_error(&self->error);
    g_atomic_int_set(&self->n_helped, 0);
    run = start(self, sql, TRUE);
    rows = finish(self, run);
    qd_run_free(run);
    join_helpers(self);
    g_assert_cmpstr(message, ==, self->error != NULL ? self->error->message : "");
    if (self->error == NULL)
        g_assert_cmpmem(expected->data, expected->len, rows->data, rows->len);
    g_clear_error(&self->error);
    return (guint) g_atomic_int_get(&self->n_helped);
}

static const char *const proven[] = {
    "SELECT * FROM t WHERE b LIKE '%77%'",
    "SELECT id, b FROM t WHERE b LIKE '%77%' AND a > 100",
    "SELECT json_extract(j, '$.y'), upper(b) || substr(b, 3), a + 1.5, r FROM t WHERE a * 2 > 5",
    "SELECT x.b FROM t AS x WHERE x.a * 3 % 7 = 2 OR x.id IN (3, 4)",
    "SELECT CASE WHEN a > 3 THEN b ELSE upper(j) END, coalesce(a, b), max(a, id), CAST(a AS TEXT), -a, NOT a, a IS TRUE, "
    "printf('%d-%s', a, b) FROM t WHERE a BETWEEN 3 AND 700 AND length(b) + a * 3 > 5 OR b GLOB 'x*'",
    "SELECT \"odd \"\"name\" || 'x' FROM t WHERE r / 3 > 1",
    "SELECT b || \"text\" FROM t WHERE a * 2 > 5",
    "SELECT count FROM (SELECT a + 1 AS count FROM t WHERE a % 10 = 1)",
    "SELECT hex(zeroblob(a * 30)) FROM t WHERE a % 50 = 1",
};

static void
test_proven(Fixture *self, gconstpointer data)
{
    for (self->waits = 0; self->waits <= 1; self->waits++)
        for (self->n_helpers = 0; self->n_helpers <= 1; self->n_helpers++)
            for (gsize i = 0; i < G_N_ELEMENTS(proven); i++) {
                guint n_helped = assert_same(self, proven[i]);

                if (self->waits && self->n_helpers > 0 && n_helped == 0)
                    g_error("no helper took part in '%s'", proven[i]);
            }
}

/* Each is for one thread: it would give something else in parts, or is none of one table. */
static void
test_not_proven(Fixture *self, gconstpointer data)
{
    static const char *const texts[] = {
        "SELECT * FROM t WHERE a * 2 > 5 LIMIT 3000",
        "SELECT * FROM t WHERE a * 2 > 5 ORDER BY b",
        "SELECT count(*), sum(a) FROM t WHERE a * 2 > 5",
        "SELECT DISTINCT a FROM t WHERE a * 2 > 5",
        "SELECT a, row_number() OVER () FROM t",
        "SELECT b FROM t WHERE a * 2 > (SELECT min(a) FROM t)",
        "SELECT b FROM t WHERE a + 0 IN (SELECT a FROM t WHERE id < 5)",
        "SELECT x.b FROM t AS x, t AS y WHERE y.id = x.id + 3 AND x.a * 2 > 5",
        "SELECT a * 2 FROM t WHERE a > 1 UNION ALL SELECT a * 3 FROM t WHERE a > 1",
        "SELECT b || changes() FROM t WHERE a * 2 > 5",
        "SELECT b || queryd_integer(1) FROM t WHERE a * 2 > 5",
        "SELECT main.t.a * 2 FROM main.t",
        "SELECT \"rowid\", b FROM t WHERE a * 2 > 5",
        "SELECT b FROM t WHERE \"oid\" * 2 > 5",
        "SELECT name || 'x' FROM sqlite_schema WHERE name LIKE 't%'",
    };

    self->n_helpers = 1;
    self->waits = TRUE;
    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++)
        if (assert_same(self, texts[i]) > 0)
            g_error("helpers took part in '%s'", texts[i]);
}

/* Malformed amid the table: the error, and after the same rows. */
static void
test_error(Fixture *self, gconstpointer data)
{
    self->n_helpers = 1;
    store_execute(self->store.writer, "UPDATE t SET j = '{' WHERE id = 80000");
    for (self->waits = 0; self->waits <= 1; self->waits++) {
        QdRun *run = start(self, "SELECT json_extract(j, '$.y'), id + 0 FROM t", TRUE);
        g_autoptr(GByteArray) rows = finish(self, run);

        store_assert_error(self->error, QW_ERROR_SYNTAX, "malformed JSON");
        g_clear_error(&self->error);
        qd_run_free(run);
        join_helpers(self);
    }
}

static gpointer
write_on(gpointer data)
{
    Fixture *self = data;

    for (guint i = 0; !g_atomic_int_get(&self->leaves); i++) {
        g_autofree char *sql = g_strdup_printf("BEGIN; UPDATE t SET a = %u; DELETE FROM t WHERE id %% 97 = %u;"
                                               "INSERT OR REPLACE INTO t SELECT id + 1, %u, b, j, r, b FROM t WHERE id %% 89 = %u;"
                                               "COMMIT; PRAGMA wal_checkpoint",
                                               i, i % 97, i, i % 89);

        store_execute(self->store.writer, sql);
    }
    return NULL;
}

static void
fill_to_end(Fixture *self, QdRun *run, GByteArray *rows)
{
    QdRunStatus status;

    do
        status = fill(self, run, rows);
    while (status == QD_RUN_PAGE || status == QD_RUN_SLICE);
    g_assert_no_error(self->error);
    g_assert_cmpint(status, ==, QD_RUN_DONE);
}

/*
 * A serial read within the transaction of the run, which has begun before the helpers do: at its generation. FALSE: there was no
 * such transaction, since a commit came while the run looked for its snapshot. It reads as any other then.
 */
static gboolean
compare_at_generation(Fixture *self, const char *sql)
{
    QdRun *run = start(self, sql, TRUE);
    g_autoptr(GByteArray) rows = g_byte_array_new();
    g_autoptr(GByteArray) expected = g_byte_array_new();
    gboolean is_in_ranges;

    fill_to_end(self, run, rows);
    is_in_ranges = !sqlite3_get_autocommit(qd_connection_get_db(qd_run_get_reader(run)->connection));
    if (is_in_ranges) {
        QdRun *serial = qd_run_new_on((QdReader *) qd_run_get_reader(run), &(QdRunText){ .text = sql, .n_bytes = strlen(sql) },
                                      QD_POLICY_READ, &self->store.limits, &self->error);

        g_assert_no_error(self->error);
        qd_run_set_options(serial, &(QdRunOptions){ 0 });
        fill_to_end(self, serial, expected);
        g_assert_cmpmem(expected->data, expected->len, rows->data, rows->len);
        qd_run_free(serial);
    }
    qd_run_free(run);
    join_helpers(self);
    return is_in_ranges;
}

static void
test_commits(Fixture *self, gconstpointer data)
{
    GThread *writer = g_thread_new("writer", write_on, self);
    guint n_compared = 0;
    gint n_helped = 0;

    self->n_helpers = 1;
    for (guint i = 0; i < 2 * N_ROUNDS && n_compared < N_ROUNDS; i++)
        n_compared += compare_at_generation(self, "SELECT a + 0, b || j FROM t") ? 1 : 0;
    g_assert_cmpuint(n_compared, ==, N_ROUNDS);
    n_helped = g_atomic_int_get(&self->n_helped);
    g_atomic_int_set(&self->leaves, TRUE);
    (void) g_thread_join(writer);
    g_assert_cmpint(n_helped, >, 0);
}

/* The run ends while helpers work, or they leave. */
static void
test_ends(Fixture *self, gconstpointer data)
{
    gint cancelled = 0;
    g_autoptr(GByteArray) rows = g_byte_array_new();
    QdRun *run;

    self->n_helpers = 1;
    self->options.cancelled = &cancelled;
    run = start(self, proven[2], TRUE);
    g_assert_cmpint(fill(self, run, rows), ==, QD_RUN_PAGE);
    qd_run_free(run);
    run = start(self, proven[2], TRUE);
    g_assert_cmpint(fill(self, run, rows), ==, QD_RUN_PAGE);
    g_atomic_int_set(&cancelled, QD_CANCEL_BY_CLIENT);
    g_assert_cmpint(fill(self, run, rows), ==, QD_RUN_FAILED);
    store_assert_error(self->error, QW_ERROR_CANCELLED, "cancelled");
    g_clear_error(&self->error);
    qd_run_free(run);
    g_atomic_int_set(&cancelled, 0);
    join_helpers(self);
    g_atomic_int_set(&self->leaves, TRUE);
    (void) assert_same(self, proven[2]);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/read/scan-ranges/proven", Fixture, NULL, set_up, test_proven, tear_down);
    g_test_add("/read/scan-ranges/not-proven", Fixture, NULL, set_up, test_not_proven, tear_down);
    g_test_add("/read/scan-ranges/error", Fixture, NULL, set_up, test_error, tear_down);
    g_test_add("/read/scan-ranges/commits", Fixture, NULL, set_up, test_commits, tear_down);
    g_test_add("/read/scan-ranges/ends", Fixture, NULL, set_up, test_ends, tear_down);
    return g_test_run();
}
