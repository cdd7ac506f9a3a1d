/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs of statements whose condition is evaluated on pages, against the same runs by SQLite alone. They are begun so, begun again
 * after their first page, and left to SQLite amid the table. Also beside commits.
 */
#include "daemon/read/run.h"

#include <string.h>

#include "daemon/base/error.h"
#include "daemon/read/client.h"
#include "daemon/read/pool.h"
#include "daemon/read/table-scan.h"
#include "daemon/sqlite/connection.h"
#include "tests/unit/store/store-fixture.h"

#define COUNT(n) "WITH RECURSIVE k(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < " #n ") "
#define TABLE \
    "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b TEXT);" COUNT(100000) "INSERT INTO t SELECT i, i % 1000, 'text ' || i FROM k"
/* After so many it is looked whether another form pays. */
#define FIRST_BYTES 2048
#define N_TRIES 30
#define LONG_USEC (10 * G_USEC_PER_SEC)
#define LONG_LOOK_USEC 10000

typedef struct Fixture {
    StoreFixture store;
    QdPool *pool;
    QdClient *client;
    QdRun *run;
    QdRunOptions options;
    uint8_t *page;
    QwPageWriter writer;
    GByteArray *rows;
    guint n_early_rows;
    guint n_denied;
    GError *error;
} Fixture;

static void
set_up(Fixture *self, gconstpointer data)
{
    QdConnectionInfo info;

    store_fixture_set_up(&self->store, NULL);
    store_execute(self->store.writer, TABLE);
    info = qd_database_get_info(self->store.database);
    self->pool = qd_pool_new(&info, &self->store.limits);
    self->client = qd_client_new("one");
    self->page = g_malloc(QW_PAGE_SIZE_MAX);
    self->rows = g_byte_array_new();
    self->options.may_pack = TRUE;
}

static void
tear_down(Fixture *self, gconstpointer data)
{
    g_clear_pointer(&self->run, qd_run_free);
    g_clear_error(&self->error);
    g_free(self->page);
    g_byte_array_unref(self->rows);
    g_assert_cmpuint(qd_pool_get_n_leased(self->pool), ==, 0);
    qd_pool_free(self->pool);
    qd_client_unref(self->client);
    store_fixture_tear_down(&self->store, NULL);
}

static void
start(Fixture *self, const char *sql)
{
    const QdRunText what = { .text = sql, .n_bytes = strlen(sql) };
    QdCompiled *compiled;

    g_byte_array_set_size(self->rows, 0);
    g_clear_pointer(&self->run, qd_run_free);
    self->run = qd_run_new(self->pool, self->client, NULL, &what, QD_POLICY_READ, &self->store.limits, &self->error);
    g_assert_no_error(self->error);
    g_assert_true(qd_run_bind_row(self->run, NULL, &self->error));
    qd_run_set_options(self->run, &self->options);
    compiled = qd_run_get_compiled(self->run);
    if (compiled->wrapped.stmt != NULL)
        (void) sqlite3_stmt_status(compiled->wrapped.stmt, SQLITE_STMTSTATUS_VM_STEP, 1);
}

static QdRunStatus
fill(Fixture *self)
{
    gsize target = qd_run_get_n_rows(self->run) == 0 ? FIRST_BYTES : SIZE_MAX;
    QdRunStatus status;

    qw_page_writer_init(&self->writer, self->page, QW_PAGE_SIZE_MIN, 0);
    status = qd_run_fill(self->run, &self->writer, target, LONG_USEC, &self->error);
    if (status != QD_RUN_FAILED)
        g_byte_array_append(self->rows, self->page + QW_HEADER_SIZE, (guint) (self->writer.used - QW_HEADER_SIZE));
    return status;
}

static void
finish(Fixture *self)
{
    QdRunStatus status;

    do
        status = fill(self);
    while (status == QD_RUN_PAGE);
    g_assert_no_error(self->error);
    g_assert_cmpint(status, ==, QD_RUN_DONE);
}

/* Whether the last run has made no step of the statement's packed form, which there is. */
static gboolean
is_scanned(Fixture *self)
{
    const QdCompiled *compiled = qd_run_get_compiled(self->run);
    const QdScanProgram *program = compiled->wrapped.scan;

    return program != NULL && program->n_steps > 0 && compiled->wrapped.stmt != NULL &&
           sqlite3_stmt_status(compiled->wrapped.stmt, SQLITE_STMTSTATUS_VM_STEP, 0) == 0;
}

/* The first run begins as the statement is, the others by what the one before has given. */
static void
assert_same(Fixture *self, const char *sql, GByteArray *plain)
{
    g_autoptr(GByteArray) first = g_byte_array_new();

    start(self, sql);
    finish(self);
    g_byte_array_append(first, self->rows->data, self->rows->len);
    self->options.may_pack = FALSE;
    start(self, sql);
    finish(self);
    g_byte_array_set_size(plain, 0);
    g_byte_array_append(plain, self->rows->data, self->rows->len);
    g_assert_cmpmem(plain->data, plain->len, first->data, first->len);
    self->options.may_pack = TRUE;
    for (guint i = 0; i < 2; i++) {
        start(self, sql);
        finish(self);
        g_assert_cmpmem(plain->data, plain->len, self->rows->data, self->rows->len);
    }
}

static void
test_same_rows(Fixture *self, gconstpointer data)
{
    static const char *const texts[] = {
        "SELECT * FROM t WHERE a < 500",
        "SELECT b, id FROM t WHERE b LIKE 'TEXT%' AND a >= 200",
        "SELECT id FROM t WHERE b NOT LIKE '%99%' OR a = 7",
        "SELECT a FROM t WHERE length(b) > 8",
    };
    g_autoptr(GByteArray) plain = g_byte_array_new();

    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
        assert_same(self, texts[i], plain);
        if (!is_scanned(self))
            g_error("'%s' is not scanned", texts[i]);
    }
}

/* Few rows pass, or the condition is for SQLite. */
static void
test_no_scan(Fixture *self, gconstpointer data)
{
    static const char *const texts[] = {
        "SELECT * FROM t WHERE a < 100",
        "SELECT * FROM t WHERE b LIKE '%77%'",
        "SELECT * FROM t WHERE upper(b) <> 'NONE'",
        "SELECT * FROM t WHERE a + 1 <> 7",
    };
    g_autoptr(GByteArray) plain = g_byte_array_new();

    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
        assert_same(self, texts[i], plain);
        g_assert_false(is_scanned(self));
    }
}

/* The next run goes by what this one has given. */
static void
test_share_changes(Fixture *self, gconstpointer data)
{
    const char *sql = "SELECT * FROM t WHERE a < 500";
    g_autoptr(GByteArray) plain = g_byte_array_new();

    assert_same(self, sql, plain);
    g_assert_true(is_scanned(self));
    store_execute(self->store.writer, "UPDATE t SET a = 999 WHERE id > 30000");
    start(self, sql);
    finish(self);
    g_assert_true(is_scanned(self));
    start(self, sql);
    finish(self);
    g_assert_false(is_scanned(self));
    assert_same(self, sql, plain);
}

/* An odd value amid the table: SQLite passes over the rows that were given, and goes on. */
static void
test_left_to_sqlite(Fixture *self, gconstpointer data)
{
    g_autoptr(GByteArray) plain = g_byte_array_new();

    store_execute(self->store.writer, "UPDATE t SET b = 7 WHERE id = 50000; UPDATE t SET a = 'odd' WHERE id = 60000");
    assert_same(self, "SELECT * FROM t WHERE b IS NOT NULL AND a <> 7", plain); /* no affinity: it is left to SQLite, too */
    store_execute(self->store.writer, "CREATE TABLE i(a INTEGER, b); INSERT INTO i SELECT a, b FROM t");
    assert_same(self, "SELECT * FROM i WHERE a < 700", plain);
    g_assert_false(is_scanned(self));
    g_assert_cmpuint(plain->len, >, 0);
}

/* Sends what it may, as a channel does amid a step. */
static QdLongVerdict
send_early(void *data, gboolean can_defer)
{
    Fixture *self = data;

    if (qd_run_can_send_early(self->run, &self->writer)) {
        self->n_early_rows += self->writer.n_rows;
        g_byte_array_append(self->rows, self->page + QW_HEADER_SIZE, (guint) (self->writer.used - QW_HEADER_SIZE));
        qw_page_writer_init(&self->writer, self->page, QW_PAGE_SIZE_MIN, self->writer.n_columns);
        qd_run_note_emptied(self->run, &self->writer);
    }
    return QD_LONG_GRANTED;
}

/* Returns: whether rows were sent while SQLite passed over those that were given: a moment before, and they have left */
static gboolean
run_early(Fixture *self, const char *sql)
{
    gboolean was_scanned = TRUE;
    gboolean found = FALSE;
    QdRunStatus status;

    start(self, sql);
    qd_run_get_compiled(self->run)->wrapped.gives_most = TRUE;
    do {
        gboolean is_scanned_now;

        self->n_early_rows = 0;
        status = fill(self);
        is_scanned_now = qd_run_get_compiled(self->run)->wrapped.scan != NULL || qd_run_get_n_rows(self->run) == 0;
        found = found || (was_scanned && !is_scanned_now && self->n_early_rows > 0);
        was_scanned = is_scanned_now;
    } while (status == QD_RUN_PAGE);
    g_assert_no_error(self->error);
    g_assert_cmpint(status, ==, QD_RUN_DONE);
    return found;
}

static void
test_early(Fixture *self, gconstpointer data)
{
    g_autoptr(GByteArray) plain = g_byte_array_new();
    gboolean found = FALSE;

    store_execute(self->store.writer, "CREATE TABLE i(a INTEGER, b); INSERT INTO i SELECT a, b FROM t;"
                                      "INSERT INTO i SELECT a, b FROM i; UPDATE i SET a = 'odd' WHERE rowid = 190000");
    self->options.may_pack = FALSE;
    start(self, "SELECT * FROM i WHERE a < 700");
    finish(self);
    g_byte_array_append(plain, self->rows->data, self->rows->len);
    self->options.may_pack = TRUE;
    self->options.long_func = send_early;
    self->options.func_data = self;
    for (guint i = 0; i < N_TRIES && !found; i++) { /* it is asked once for a page, which may be empty then */
        g_autofree char *sql = g_strdup_printf("SELECT * FROM i WHERE a < 700 /* %u */", i);

        found = run_early(self, sql);
        g_assert_cmpmem(plain->data, plain->len, self->rows->data, self->rows->len);
    }
    g_assert_true(found);
}

static void
test_limits(Fixture *self, gconstpointer data)
{
    start(self, "SELECT id FROM t WHERE a < 500");
    finish(self);
    self->options.max_rows = 50;
    start(self, "SELECT id FROM t WHERE a < 500");
    finish(self);
    g_assert_true(is_scanned(self));
    g_assert_true(qd_run_is_truncated(self->run));
    g_assert_cmpuint(qd_run_get_n_rows(self->run), ==, 50);
    self->options.max_rows = 50000;
    start(self, "SELECT id FROM t WHERE a < 500");
    finish(self);
    g_assert_false(qd_run_is_truncated(self->run));
    g_assert_cmpuint(qd_run_get_n_rows(self->run), ==, 50000);
}

static void
test_deadline(Fixture *self, gconstpointer data)
{
    start(self, "SELECT id FROM t WHERE a <> -1");
    finish(self);
    self->options.timeout_msec = 1;
    self->options.begun_usec = (uint64_t) g_get_monotonic_time() - 2000;
    start(self, "SELECT id FROM t WHERE a <> -1");
    g_assert_cmpint(fill(self), ==, QD_RUN_FAILED);
    store_assert_error(self->error, QW_ERROR_TIMEOUT, "longer than");
    g_clear_error(&self->error);
}

/* So long that the next look finds that the run is long. */
static gboolean
take_long(void *data)
{
    g_usleep(LONG_LOOK_USEC);
    return TRUE;
}

static QdLongVerdict
deny(void *data, gboolean can_defer)
{
    ((Fixture *) data)->n_denied++;
    return QD_LONG_DENIED;
}

/* The look that puts the run off is one of the scan's, when it begins. SQLite would go on with the rows of the first page. */
static void
test_deferred(Fixture *self, gconstpointer data)
{
    g_autoptr(GByteArray) plain = g_byte_array_new();

    assert_same(self, "SELECT id, a, b FROM t", plain);
    self->options.peer_func = take_long;
    self->options.long_func = deny;
    self->options.func_data = self;
    start(self, "SELECT id, a, b FROM t");
    g_assert_cmpint(fill(self), ==, QD_RUN_DEFERRED);
    g_assert_cmpuint(self->n_denied, ==, 1);
    g_assert_no_error(self->error);

    self->options.peer_func = NULL;
    self->options.long_func = NULL;
    start(self, "SELECT id, a, b FROM t");
    finish(self);
    g_assert_cmpmem(plain->data, plain->len, self->rows->data, self->rows->len);
    g_assert_nonnull(qd_run_get_compiled(self->run)->wrapped.scan);
}

/* Between two pages others commit, and the log is written back. */
static void
test_commits(Fixture *self, gconstpointer data)
{
    const char *sql = "SELECT * FROM t WHERE a < 500 AND b LIKE 'text%'";
    g_autoptr(GByteArray) plain = g_byte_array_new();

    assert_same(self, sql, plain);
    for (guint i = 0; i < 5; i++) {
        g_autofree char *update = g_strdup_printf("UPDATE t SET b = 'text %u of ' || id WHERE id %% 7 = %u", i, i);

        start(self, sql);
        g_assert_cmpint(fill(self), ==, QD_RUN_PAGE);
        store_execute(self->store.writer, update);
        store_execute(self->store.writer, i % 2 == 0 ? "PRAGMA wal_checkpoint(PASSIVE)" : "DELETE FROM t WHERE id % 11 = 3");
        finish(self);
        g_assert_true(is_scanned(self));
        g_assert_cmpmem(plain->data, plain->len, self->rows->data, self->rows->len);
        assert_same(self, sql, plain);
    }
}

/* Another schema: the program is not that of this table any more. */
static void
test_schema_changes(Fixture *self, gconstpointer data)
{
    g_autoptr(GByteArray) plain = g_byte_array_new();
    const char *sql = "SELECT b FROM t WHERE a < 700";

    assert_same(self, sql, plain);
    g_assert_true(is_scanned(self));
    store_execute(self->store.writer, "ALTER TABLE t RENAME TO old; CREATE TABLE t(b, a);"
                                      "INSERT INTO t SELECT 'new ' || b, a FROM old WHERE id < 30000");
    assert_same(self, sql, plain);
    g_assert_nonnull(memmem(plain->data, plain->len, "new text", 8));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(path, func) g_test_add("/read/run-scan/" path, Fixture, NULL, set_up, func, tear_down)
    ADD("same-rows", test_same_rows);
    ADD("no-scan", test_no_scan);
    ADD("share-changes", test_share_changes);
    ADD("left-to-sqlite", test_left_to_sqlite);
    ADD("early", test_early);
    ADD("deferred", test_deferred);
    ADD("limits", test_limits);
    ADD("deadline", test_deadline);
    ADD("commits", test_commits);
    ADD("schema-changes", test_schema_changes);
    return g_test_run();
}
