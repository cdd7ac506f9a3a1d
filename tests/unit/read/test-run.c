/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A run: its pages, and each thing that may end it, before the first row, amid a step and between two pages.
 *
 * The pool has no interrupter, so that a run looks after so many operations of SQLite. What these tests wait for is work.
 */
#include "daemon/read/run.h"

#include <string.h>

#include "client-lib/wire/wire-page-writer.h"
#include "daemon/base/error.h"
#include "daemon/read/client.h"
#include "daemon/read/pool.h"
#include "daemon/sqlite/interrupter.h"
#include "daemon/sqlite/memory.h"
#include "tests/unit/store/store-fixture.h"

#define ENDLESS "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "
#define NUMBERS "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 1000) SELECT x FROM c"
/* A row at once, and then none for ever. */
#define ROW_AND_ENDLESS "SELECT 1 UNION ALL SELECT * FROM (" ENDLESS "SELECT count(*) FROM c)"
#define LONG_USEC (10 * G_USEC_PER_SEC)
#define PAGE_BYTES 65536
/* Of one INTEGER. */
#define ROW_BYTES 16

typedef struct Fixture {
    StoreFixture store;
    QdPool *pool;
    QdClient *client;
    QdRun *run;
    QdRunOptions options;
    uint8_t *page;
    QwPageWriter writer;
    GError *error;
    gint cancelled;
    uint64_t transaction_end_usec;
    QdLongVerdict verdict;
    gint8 could_defer; /* -1: it was not asked */
    guint n_looks;
    guint n_early_rows;
} Fixture;

static void
set_up(Fixture *self, gconstpointer data)
{
    QdConnectionInfo info;

    store_fixture_set_up(&self->store, NULL);
    store_execute(self->store.writer, "CREATE TABLE t(a); INSERT INTO t VALUES (1), (2), (3)");
    info = qd_database_get_info(self->store.database);
    self->pool = qd_pool_new(&info, &self->store.limits);
    self->client = qd_client_new("one");
    self->page = g_malloc(QW_PAGE_SIZE_MAX);
    self->could_defer = -1;
}

static void
tear_down(Fixture *self, gconstpointer data)
{
    g_clear_pointer(&self->run, qd_run_free);
    g_clear_error(&self->error);
    g_free(self->page);
    g_assert_cmpuint(qd_pool_get_n_leased(self->pool), ==, 0);
    qd_pool_free(self->pool);
    g_assert_cmpint(qd_client_get_memory(self->client)->n_bytes, ==, 0);
    qd_client_unref(self->client);
    store_fixture_tear_down(&self->store, NULL);
}

static void
start(Fixture *self, const char *sql)
{
    const QdRunText what = { .text = sql, .n_bytes = strlen(sql) };

    g_clear_pointer(&self->run, qd_run_free);
    self->run = qd_run_new(self->pool, self->client, NULL, &what, QD_POLICY_READ, &self->store.limits, &self->error);
    g_assert_no_error(self->error);
    g_assert_true(qd_run_bind_row(self->run, NULL, &self->error));
    qd_run_set_options(self->run, &self->options);
}

static QdRunStatus
fill(Fixture *self, gsize target_bytes)
{
    qw_page_writer_init(&self->writer, self->page, QW_PAGE_SIZE_MIN, 0);
    return qd_run_fill(self->run, &self->writer, target_bytes, LONG_USEC, &self->error);
}

static void
assert_fails(Fixture *self, QwError code, const char *words)
{
    g_assert_cmpint(fill(self, SIZE_MAX), ==, QD_RUN_FAILED);
    store_assert_error(self->error, code, words);
    g_clear_error(&self->error);
}

/* Rows ------------------------------------------------------------------------------------------------------------------ */

static void
test_pages(Fixture *self, gconstpointer data)
{
    guint n_rows = 0;
    guint n_pages = 0;
    QdRunStatus status;

    start(self, NUMBERS);
    do {
        status = fill(self, SIZE_MAX);
        g_assert_no_error(self->error);
        n_rows += self->writer.n_rows;
        n_pages++;
        g_assert_cmpuint(qd_run_get_n_rows(self->run), ==, n_rows);
    } while (status == QD_RUN_PAGE);
    g_assert_cmpint(status, ==, QD_RUN_DONE);
    g_assert_cmpuint(n_rows, ==, 1000);
    g_assert_cmpuint(n_pages, >, 3);
    g_assert_false(qd_run_is_truncated(self->run));
}

static void
test_target(Fixture *self, gconstpointer data)
{
    start(self, NUMBERS);
    g_assert_cmpint(fill(self, 1), ==, QD_RUN_PAGE);
    g_assert_cmpuint(self->writer.n_rows, ==, 1);
    g_assert_cmpint(fill(self, 1), ==, QD_RUN_PAGE);
    g_assert_cmpuint(qd_run_get_n_rows(self->run), ==, 2);
}

static void
test_max_rows(Fixture *self, gconstpointer data)
{
    self->options.max_rows = 3;
    start(self, "SELECT a FROM t");
    g_assert_cmpint(fill(self, SIZE_MAX), ==, QD_RUN_DONE);
    g_assert_cmpuint(self->writer.n_rows, ==, 3);
    g_assert_false(qd_run_is_truncated(self->run)); /* there are no more */

    self->options.max_rows = 2;
    start(self, "SELECT a FROM t");
    g_assert_cmpint(fill(self, SIZE_MAX), ==, QD_RUN_DONE);
    g_assert_cmpuint(self->writer.n_rows, ==, 2);
    g_assert_true(qd_run_is_truncated(self->run));
}

/* The first row goes out, however large it is. */
static void
test_max_bytes(Fixture *self, gconstpointer data)
{
    self->options.max_bytes = 1;
    start(self, "SELECT a FROM t");
    g_assert_cmpint(fill(self, SIZE_MAX), ==, QD_RUN_DONE);
    g_assert_cmpuint(self->writer.n_rows, ==, 1);
    g_assert_true(qd_run_is_truncated(self->run));
}

/* Rows before the one that fails are in the page; the failure is reported. */
static void
test_failure_in_the_middle(Fixture *self, gconstpointer data)
{
    start(self, "SELECT CASE WHEN a < 3 THEN a ELSE abs(-9223372036854775807 - 1) END FROM t");
    assert_fails(self, QW_ERROR_SYNTAX, "integer overflow");
    g_assert_cmpuint(self->writer.n_rows, ==, 2);
}

/* All pages are of one moment. */
static void
test_snapshot(Fixture *self, gconstpointer data)
{
    start(self, "SELECT a FROM t");
    g_assert_cmpint(fill(self, 1), ==, QD_RUN_PAGE);
    store_execute(self->store.writer, "DELETE FROM t");
    g_assert_cmpint(fill(self, SIZE_MAX), ==, QD_RUN_DONE);
    g_assert_cmpuint(qd_run_get_n_rows(self->run), ==, 3);
    start(self, "SELECT a FROM t");
    g_assert_cmpint(fill(self, SIZE_MAX), ==, QD_RUN_DONE);
    g_assert_cmpuint(qd_run_get_n_rows(self->run), ==, 0);
}

/* Freed amid its rows it gives everything back. */
static void
test_freed_early(Fixture *self, gconstpointer data)
{
    start(self, NUMBERS);
    g_assert_cmpint(fill(self, 1), ==, QD_RUN_PAGE);
    g_assert_cmpuint(qd_pool_get_n_leased(self->pool), ==, 1);
    g_clear_pointer(&self->run, qd_run_free);
    g_assert_cmpuint(qd_pool_get_n_leased(self->pool), ==, 0);
    test_pages(self, NULL);
}

/* Time ------------------------------------------------------------------------------------------------------------------ */

static void
test_slice(Fixture *self, gconstpointer data)
{
    guint n_slices = 0;
    QdRunStatus status;

    start(self, "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 100000) SELECT x FROM c WHERE x % 100 = 0");
    do {
        qw_page_writer_init(&self->writer, self->page, QW_PAGE_SIZE_MAX, 0);
        status = qd_run_fill(self->run, &self->writer, SIZE_MAX, 0, &self->error);
        n_slices += status == QD_RUN_SLICE ? 1 : 0;
    } while (status == QD_RUN_SLICE);
    g_assert_cmpint(status, ==, QD_RUN_DONE);
    g_assert_cmpuint(n_slices, >, 10);
    g_assert_cmpuint(qd_run_get_n_rows(self->run), ==, 1000);
}

static void
test_deadline_in_step(Fixture *self, gconstpointer data)
{
    self->options.timeout_msec = 1;
    start(self, ENDLESS "SELECT count(*) FROM c");
    assert_fails(self, QW_ERROR_TIMEOUT, "query took longer than its 1 ms");
}

/* What was spent before the run, and waiting for a slot between its pages, counts; what the reader takes does not. */
static void
test_deadline_counts_waiting(Fixture *self, gconstpointer data)
{
    self->options.timeout_msec = 600000;
    self->options.begun_usec = (uint64_t) g_get_monotonic_time() - 590000000;
    start(self, NUMBERS);
    g_assert_cmpint(fill(self, 1), ==, QD_RUN_PAGE);
    qd_run_add_wait(self->run, 10000001);
    assert_fails(self, QW_ERROR_TIMEOUT, "query took longer than its 600000 ms");

    self->options.begun_usec = (uint64_t) g_get_monotonic_time() - 600000001;
    start(self, NUMBERS);
    assert_fails(self, QW_ERROR_TIMEOUT, "query took longer than its 600000 ms");
}

/* The statement that is compiled has waited for longer than its deadline. */
static void
test_deadline_of_compiling(Fixture *self, gconstpointer data)
{
    g_autoptr(GString) text = g_string_new("SELECT 1 IN (1");
    QdRunText what = { .timeout_msec = 600000, .begun_usec = (uint64_t) g_get_monotonic_time() - 600000001 };

    for (guint i = 0; i < 100; i++)
        g_string_append(text, ", (SELECT a FROM t)");
    g_string_append_c(text, ')');
    what.text = text->str;
    what.n_bytes = text->len;
    g_assert_null(qd_run_new(self->pool, self->client, NULL, &what, QD_POLICY_READ, &self->store.limits, &self->error));
    store_assert_error(self->error, QW_ERROR_TIMEOUT, "longer to compile than its 600000 ms");
    g_clear_error(&self->error);

    what.begun_usec = 0; /* now */
    self->run = qd_run_new(self->pool, self->client, NULL, &what, QD_POLICY_READ, &self->store.limits, &self->error);
    g_assert_no_error(self->error);
}

static void
test_end_of_transaction(Fixture *self, gconstpointer data)
{
    self->transaction_end_usec = (uint64_t) g_get_monotonic_time() + 600 * G_USEC_PER_SEC;
    self->options.transaction_end_usec = &self->transaction_end_usec;
    start(self, NUMBERS);
    g_assert_cmpint(fill(self, 1), ==, QD_RUN_PAGE);
    __atomic_store_n(&self->transaction_end_usec, 1, __ATOMIC_RELAXED); /* others have waited for long */
    assert_fails(self, QW_ERROR_TIMEOUT, "query took longer than its transaction may");
}

static void
test_age(Fixture *self, gconstpointer data)
{
    start(self, NUMBERS);
    g_assert_cmpint(fill(self, 1), ==, QD_RUN_PAGE);
    self->store.limits.values[QD_LIMIT_SNAPSHOT_AGE_MSEC] = 0;
    while ((uint64_t) g_get_monotonic_time() <= qd_run_get_start_usec(self->run))
        ;
    assert_fails(self, QW_ERROR_TIMEOUT, "result is too old");
}

static void
test_memory(Fixture *self, gconstpointer data)
{
    self->store.limits.values[QD_LIMIT_QUERY_MEMORY_BYTES] = 1024 * 1024;
    start(self, "WITH RECURSIVE c(x) AS (SELECT 1 UNION SELECT x + 1 FROM c) SELECT count(*) FROM c");
    assert_fails(self, QW_ERROR_NO_MEMORY, "query needs");
}

/* What the statement and its connection hold is its client's, until the run is freed. */
static void
test_memory_of_client(Fixture *self, gconstpointer data)
{
    start(self, "SELECT x FROM (SELECT max(hex(zeroblob(300000))) AS x, 7) UNION ALL SELECT 1");
    g_assert_cmpint(qd_client_get_memory(self->client)->n_bytes, >, 10000);
    g_assert_cmpint(qd_client_get_memory(self->client)->n_bytes, <, 400000);
    g_assert_cmpint(fill(self, 1), ==, QD_RUN_LARGE);
    g_assert_cmpint(qd_client_get_memory(self->client)->n_bytes, >, 600000);
    g_clear_pointer(&self->run, qd_run_free);
    g_assert_cmpint(qd_client_get_memory(self->client)->n_bytes, ==, 0);
}

/* Callers --------------------------------------------------------------------------------------------------------------- */

static void
test_cancel(Fixture *self, gconstpointer data)
{
    self->options.cancelled = &self->cancelled;
    self->cancelled = QD_CANCEL_BY_CLIENT;
    start(self, ENDLESS "SELECT count(*) FROM c");
    assert_fails(self, QW_ERROR_CANCELLED, "query was cancelled");

    self->cancelled = QD_CANCEL_NONE;
    start(self, NUMBERS);
    g_assert_cmpint(fill(self, 1), ==, QD_RUN_PAGE);
    g_atomic_int_set(&self->cancelled, QD_CANCEL_EVICT);
    assert_fails(self, QW_ERROR_TIMEOUT, "it was the oldest and the write-ahead log is too big");
}

static gboolean
count_looks(void *data)
{
    Fixture *self = data;

    return ++self->n_looks < 3;
}

/* The peer is asked amid a step, not more often than every 10 ms, until it says that it has gone. */
static void
test_peer_goes(Fixture *self, gconstpointer data)
{
    gint64 begin;

    self->options.peer_func = count_looks;
    self->options.func_data = self;
    start(self, ENDLESS "SELECT count(*) FROM c");
    begin = g_get_monotonic_time();
    assert_fails(self, QW_ERROR_CANCELLED, "query was cancelled");
    g_assert_cmpuint(self->n_looks, >=, 3);
    g_assert_cmpint(g_get_monotonic_time() - begin, >=, 20000);
}

/* Long ones ------------------------------------------------------------------------------------------------------------- */

static QdLongVerdict
decide(void *data, gboolean can_defer)
{
    Fixture *self = data;

    g_assert_cmpint(self->could_defer, ==, -1); /* once for each fill */
    self->could_defer = can_defer ? 1 : 0;
    if (self->verdict == QD_LONG_GRANTED || !can_defer)
        g_atomic_int_set(&self->cancelled, QD_CANCEL_BY_CLIENT); /* it goes on: enough */
    return self->verdict;
}

typedef struct LongCase {
    const char *name;
    QdLongVerdict verdict;
    gboolean has_row; /* one has gone out before */
    QdRunStatus status;
    QwError code;
} LongCase;

static const LongCase long_cases[] = {
    { "granted", QD_LONG_GRANTED, FALSE, QD_RUN_FAILED, QW_ERROR_CANCELLED },
    { "denied", QD_LONG_DENIED, FALSE, QD_RUN_DEFERRED, 0 },
    { "refused", QD_LONG_REFUSED, FALSE, QD_RUN_DEFERRED, 0 },
    { "granted-with-rows", QD_LONG_GRANTED, TRUE, QD_RUN_FAILED, QW_ERROR_CANCELLED },
    { "denied-with-rows", QD_LONG_DENIED, TRUE, QD_RUN_FAILED, QW_ERROR_CANCELLED }, /* it went on */
    { "refused-with-rows", QD_LONG_REFUSED, TRUE, QD_RUN_FAILED, QW_ERROR_BUSY },
};

/* A run without rows can come again; one that has given some goes on or ends. */
static void
test_long(Fixture *self, gconstpointer data)
{
    const LongCase *each = data;

    self->verdict = each->verdict;
    self->options.long_func = decide;
    self->options.func_data = self;
    self->options.cancelled = &self->cancelled;
    start(self, ROW_AND_ENDLESS);
    if (each->has_row)
        g_assert_cmpint(fill(self, 1), ==, QD_RUN_PAGE);
    g_assert_cmpint(fill(self, SIZE_MAX), ==, each->status);
    g_assert_cmpint(self->could_defer, ==, each->has_row ? 0 : 1);
    if (each->code != 0)
        g_assert_error(self->error, QD_ERROR, (gint) each->code);
    else
        g_assert_no_error(self->error);
}

/* Sleeps for so many milliseconds, as what waits for a core or a disk does, and gives that number. */
static void
doze(sqlite3_context *context, int n_args, sqlite3_value **args)
{
    g_usleep(1000 * (gulong) sqlite3_value_int(args[0]));
    sqlite3_result_value(context, args[0]);
}

/* It is long by the processor time that it uses. One that was put off would wait for the end of those that are long. */
static void
test_waiting_is_not_long(Fixture *self, gconstpointer data)
{
    QdInterrupter *interrupter = qd_interrupter_new(NULL, NULL, NULL);
    sqlite3 *db;

    qd_pool_set_interrupter(self->pool, interrupter);
    start(self, "SELECT 1");
    db = qd_connection_get_db(qd_run_get_reader(self->run)->connection);
    sqlite3_create_function(db, "doze", 1, SQLITE_UTF8, NULL, doze, NULL, NULL);
    self->verdict = QD_LONG_DENIED;
    self->options.long_func = decide;
    self->options.func_data = self;
    start(self, "SELECT sum(CASE WHEN x % 500 = 1 THEN doze(30) END) FROM (" NUMBERS ")");
    g_assert_cmpint(fill(self, SIZE_MAX), ==, QD_RUN_DONE);
    g_assert_cmpint(self->could_defer, ==, -1);
    start(self, "SELECT sum(doze(1)) FROM (" NUMBERS ")");
    g_assert_cmpint(fill(self, SIZE_MAX), ==, QD_RUN_DEFERRED);
    g_assert_cmpint(self->could_defer, ==, 1);
    self->could_defer = -1;
    start(self, ROW_AND_ENDLESS);
    g_assert_cmpint(fill(self, SIZE_MAX), ==, QD_RUN_DEFERRED);
    g_clear_pointer(&self->run, qd_run_free);
    qd_interrupter_free(interrupter);
}

static QdLongVerdict
grant(void *data, gboolean can_defer)
{
    return QD_LONG_GRANTED;
}

static uint64_t
rest_for_long(void *data)
{
    ((Fixture *) data)->n_looks++;
    return 3600 * (uint64_t) G_USEC_PER_SEC;
}

/* A rest is over with the time of the run. */
static void
test_rest(Fixture *self, gconstpointer data)
{
    self->options.long_func = grant;
    self->options.rest_func = rest_for_long;
    self->options.func_data = self;
    self->options.timeout_msec = 400; /* time enough to be a long one, also beside other load */
    start(self, ROW_AND_ENDLESS);
    g_assert_cmpint(fill(self, SIZE_MAX), ==, QD_RUN_FAILED);
    g_assert_error(self->error, QD_ERROR, (gint) QW_ERROR_TIMEOUT);
    g_assert_cmpuint(self->n_looks, >=, 1);
}

/* A deferred one says what it has spent, and begins again with the same rows. */
static void
test_deferred_begins_again(Fixture *self, gconstpointer data)
{
    self->verdict = QD_LONG_DENIED;
    self->options.long_func = decide;
    self->options.func_data = self;
    start(self, ROW_AND_ENDLESS);
    g_assert_cmpint(fill(self, SIZE_MAX), ==, QD_RUN_DEFERRED);
    g_assert_cmpuint(qd_run_get_own_usec(self->run), >=, 3000);
    self->options.begun_usec = qd_run_get_start_usec(self->run);
    start(self, ROW_AND_ENDLESS);
    g_assert_cmpuint(qd_run_get_produced_usec(self->run), >=, 3000);
    g_assert_cmpuint(qd_run_get_own_usec(self->run), ==, 0);
    g_assert_cmpint(fill(self, 1), ==, QD_RUN_PAGE);
    g_assert_cmpuint(self->writer.n_rows, ==, 1);
}

/* Sends what it may, as a channel does amid a step. */
static QdLongVerdict
send_early(void *data, gboolean can_defer)
{
    Fixture *self = data;

    if (qd_run_can_send_early(self->run, &self->writer)) {
        self->n_early_rows += self->writer.n_rows;
        qw_page_writer_init(&self->writer, self->page, PAGE_BYTES, self->writer.n_columns);
        qd_run_note_emptied(self->run, &self->writer);
    }
    return QD_LONG_GRANTED;
}

typedef struct EarlyCase {
    const char *name;
    gboolean may_pack;
    uint64_t max_rows;
    uint64_t max_bytes;
} EarlyCase;

static const EarlyCase early_cases[] = {
    { "rows", FALSE, 950, 0 },
    { "bytes", FALSE, 0, 950 * ROW_BYTES },
    { "packed-rows", TRUE, 950, 0 },
    { "packed-bytes", TRUE, 0, 950 * ROW_BYTES },
};

/* Each limit counts the rows that were sent amid a step, and no row of them comes twice. Each 100th row takes long. */
static void
test_early(Fixture *self, gconstpointer data)
{
    const EarlyCase *each = data;
    QdRunStatus status;
    guint n_rows = 0;

    store_execute(self->store.writer, "CREATE TABLE many(i INTEGER PRIMARY KEY); INSERT INTO many " NUMBERS);
    self->options.may_pack = each->may_pack;
    self->options.max_rows = each->max_rows;
    self->options.max_bytes = each->max_bytes;
    self->options.long_func = send_early;
    self->options.func_data = self;
    start(self, "SELECT i FROM many AS m WHERE i % 100 <> 99 OR (SELECT count(*) FROM many AS a, many AS b WHERE b.i < 300 AND a.i "
                "+ b.i <> m.i) > 0");
    do {
        qw_page_writer_init(&self->writer, self->page, PAGE_BYTES, 0);
        status = qd_run_fill(self->run, &self->writer, self->n_early_rows + n_rows == 0 ? 4096 : SIZE_MAX, LONG_USEC, &self->error);
        g_assert_no_error(self->error);
        n_rows += self->writer.n_rows;
    } while (status == QD_RUN_PAGE);
    g_assert_cmpint(status, ==, QD_RUN_DONE);
    g_assert_true(qd_run_is_truncated(self->run));
    g_assert_cmpuint(self->n_early_rows, >, 0);
    g_assert_cmpuint(self->n_early_rows + n_rows, ==, 950);
    g_assert_cmpuint(qd_run_get_n_rows(self->run), ==, 950);
    g_assert_cmpuint(qd_run_get_n_bytes(self->run), ==, 950 * ROW_BYTES);
}

int
main(int argc, char **argv)
{
    g_autoptr(GError) error = NULL;

    g_test_init(&argc, &argv, NULL);
    g_assert_true(qd_memory_init(&error));
#define ADD(path, func) g_test_add("/read/run/" path, Fixture, NULL, set_up, func, tear_down)
    ADD("rows/pages", test_pages);
    ADD("rows/target", test_target);
    ADD("rows/max-rows", test_max_rows);
    ADD("rows/max-bytes", test_max_bytes);
    ADD("rows/failure-in-the-middle", test_failure_in_the_middle);
    ADD("rows/snapshot", test_snapshot);
    ADD("rows/freed-early", test_freed_early);
    ADD("time/slice", test_slice);
    ADD("time/deadline-in-step", test_deadline_in_step);
    ADD("time/deadline-counts-waiting", test_deadline_counts_waiting);
    ADD("time/deadline-of-compiling", test_deadline_of_compiling);
    ADD("time/end-of-transaction", test_end_of_transaction);
    ADD("time/age", test_age);
    ADD("memory", test_memory);
    ADD("memory-of-client", test_memory_of_client);
    ADD("cancel", test_cancel);
    ADD("peer-goes", test_peer_goes);
    for (guint i = 0; i < G_N_ELEMENTS(long_cases); i++) {
        g_autofree char *path = g_strconcat("/read/run/long/", long_cases[i].name, NULL);

        g_test_add(path, Fixture, &long_cases[i], set_up, test_long, tear_down);
    }
    ADD("long/deferred-begins-again", test_deferred_begins_again);
    ADD("long/waiting-is-not", test_waiting_is_not_long);
    ADD("rest", test_rest);
    for (guint i = 0; i < G_N_ELEMENTS(early_cases); i++) {
        g_autofree char *path = g_strconcat("/read/run/early/", early_cases[i].name, NULL);

        g_test_add(path, Fixture, &early_cases[i], set_up, test_early, tear_down);
    }
    return g_test_run();
}
