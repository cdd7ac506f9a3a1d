/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Group commit, with the traps that end the whole transaction of a group.
 */
#include "client-lib/wire/wire-page-reader.h"
#include "client-lib/wire/wire-page-writer.h"
#include "daemon/notify/changes.h"
#include "daemon/recover/schema-copy.h"
#include "tests/unit/write/writer-fixture.h"

/* Groups ---------------------------------------------------------------------------------------------------------------- */

static void
test_alone(WriterFixture *self, gconstpointer data)
{
    WriterMember *member = writer_add_insert(self, "t", 1);

    qd_writer_submit(self->writer, &member->item);
    /* there was no leader: it was done on this thread */
    g_assert_true(hand_over_try_pop(self->done) == member);
    writer_assert_committed(member);
    g_assert_cmpuint(member->item.outcome.changes, ==, 1);
    g_assert_cmpint(member->item.outcome.last_insert_rowid, ==, 1);
    g_assert_cmpuint(member->item.outcome.generation, ==, (UINT64_C(1) << 40) + 1);
    g_assert_cmpuint(qd_writer_get_generation(self->writer), ==, (UINT64_C(1) << 40) + 1);
    writer_assert_commits(self, "1: t");
}

static void
test_share_a_commit(WriterFixture *self, gconstpointer data)
{
    WriterMember *a = writer_add_insert(self, "t", 1);
    WriterMember *b = writer_add_insert(self, "l", 2);
    WriterMember *c = writer_add_insert(self, "t", 3);

    writer_run_group(self);
    writer_assert_committed(a);
    writer_assert_committed(b);
    writer_assert_committed(c);
    g_assert_cmpuint(a->item.outcome.generation, ==, c->item.outcome.generation);
    g_assert_cmpuint(qd_writer_get_n_commits(self->writer), ==, 1);
    g_assert_cmpuint(qd_writer_get_n_items(self->writer), ==, 3);
    writer_assert_commits(self, "1: l t");
}

/* An ordinary failure costs the others nothing: its savepoint goes back, the group's transaction goes on. */
static void
test_failure_of_one(WriterFixture *self, gconstpointer data)
{
    WriterMember *a = writer_add_insert(self, "t", 1);
    WriterMember *twice = writer_add_insert(self, "t", 1);
    WriterMember *nonsense = writer_add_member(self, "INSERT INTO nosuch VALUES(1)");
    WriterMember *b = writer_add_insert(self, "t", 2);

    writer_run_group(self);
    writer_assert_committed(a);
    writer_assert_failed(twice, QW_ERROR_CONSTRAINT, "UNIQUE constraint failed: t.a");
    writer_assert_failed(nonsense, QW_ERROR_SYNTAX, "no such table: nosuch");
    writer_assert_committed(b);
    g_assert_cmpint(writer_count(self, "t"), ==, 2);
    writer_assert_commits(self, "1: t");
}

static void
test_all_fail(WriterFixture *self, gconstpointer data)
{
    (void) writer_add_member(self, "INSERT INTO nosuch VALUES(1)");
    (void) writer_add_member(self, "INSERT INTO nosuch VALUES(2)");
    writer_run_group(self);
    writer_assert_commits(self, "");
    g_assert_cmpuint(qd_writer_get_generation(self->writer), ==, UINT64_C(1) << 40);
}

/* The traps ------------------------------------------------------------------------------------------------------------- */

typedef struct Trap {
    const char *name;
    const char *preparation; /* (nullable) */
    const char *text;
    QwError code;
    const char *words;
    gboolean cancelled;
    uint64_t timeout_msec;
} Trap;

#define ENDLESS "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "

static const Trap traps[] = {
    { "or-rollback", NULL, "INSERT OR ROLLBACK INTO t VALUES(99)", QW_ERROR_CONSTRAINT, "UNIQUE constraint failed: t.a", FALSE, 0 },
    { "on-conflict-rollback", NULL, "INSERT INTO r VALUES(99)", QW_ERROR_CONSTRAINT, "UNIQUE constraint failed: r.a", FALSE, 0 },
    { "raise-rollback", "CREATE TRIGGER g BEFORE DELETE ON l BEGIN SELECT RAISE(ROLLBACK, 'not so'); END", "DELETE FROM l",
      QW_ERROR_CONSTRAINT, "not so", FALSE, 0 },
    { "cancelled-insert", NULL, ENDLESS "INSERT INTO l SELECT x FROM c", QW_ERROR_CANCELLED, "update was cancelled", TRUE, 0 },
    { "late-insert", NULL, ENDLESS "INSERT INTO l SELECT x FROM c", QW_ERROR_TIMEOUT, "took longer than its 50 ms", FALSE, 50 },
    { "full", "PRAGMA max_page_count = 50", "INSERT INTO l VALUES(zeroblob(1000000))", QW_ERROR_DISK_FULL, "full", FALSE, 0 },
    { "commit", NULL, "COMMIT", QW_ERROR_ACCESS_DENIED, "BEGIN, COMMIT and ROLLBACK are not allowed here", FALSE, 0 },
    { "rollback", NULL, "ROLLBACK", QW_ERROR_ACCESS_DENIED, "BEGIN, COMMIT and ROLLBACK are not allowed here", FALSE, 0 },
    { "release", NULL, "RELEASE member", QW_ERROR_ACCESS_DENIED, "SAVEPOINT is allowed in a transaction only", FALSE, 0 },
};

static WriterMember *
add_trap(WriterFixture *self, const Trap *trap)
{
    WriterMember *member = writer_add_member(self, trap->text);

    member->cancelled = trap->cancelled;
    member->item.cancelled = &member->cancelled;
    member->item.times.timeout_msec = trap->timeout_msec;
    return member;
}

/* The offender alone gets its error; before and after it everything is committed, each once. */
static void
test_trap(WriterFixture *self, gconstpointer data)
{
    const Trap *trap = data;
    WriterMember *offenders[2];

    store_execute(self->store.writer, "INSERT INTO t VALUES(99); INSERT INTO r VALUES(99); INSERT INTO l VALUES(99)");
    if (trap->preparation != NULL)
        store_execute(self->store.writer, trap->preparation);
    (void) writer_add_insert(self, "t", 1);
    (void) writer_add_insert(self, "t", 2);
    offenders[0] = add_trap(self, trap);
    (void) writer_add_insert(self, "t", 3);
    offenders[1] = add_trap(self, trap);
    (void) writer_add_insert(self, "t", 4);
    writer_run_group(self);

    for (guint i = 0; i < self->members->len; i++) {
        WriterMember *member = self->members->pdata[i];

        if (member == offenders[0] || member == offenders[1])
            writer_assert_failed(member, trap->code, trap->words);
        else
            writer_assert_committed(member);
    }
    g_assert_cmpint(writer_count(self, "t"), ==, 5);
    g_assert_cmpint(writer_count(self, "r"), ==, 1);
    g_assert_cmpint(writer_count(self, "l"), ==, 1);
    g_assert_cmpint(store_get_int64(self->reader, "SELECT count(*) FROM pragma_quick_check WHERE quick_check <> 'ok'"), ==, 0);
}

/* What runs alone after an offender may do so with success: an ON CONFLICT ROLLBACK met nothing the second time. */
static void
test_offender_succeeds_alone(WriterFixture *self, gconstpointer data)
{
    WriterMember *a = writer_add_insert(self, "r", 1);
    WriterMember *undo = writer_add_member(self, "DELETE FROM r WHERE a = 1");
    WriterMember *twice = writer_add_insert(self, "r", 2);
    WriterMember *offender = writer_add_insert(self, "r", 2);

    writer_run_group(self);
    g_assert_no_error(a->item.outcome.error);
    g_assert_no_error(undo->item.outcome.error);
    writer_assert_committed(twice);
    writer_assert_failed(offender, QW_ERROR_CONSTRAINT, "UNIQUE constraint failed: r.a");
    g_assert_cmpint(writer_count(self, "r"), ==, 1);
}

/* Results --------------------------------------------------------------------------------------------------------------- */

static guint
count_page_rows(const WriterMember *member)
{
    guint n = 0;

    for (guint i = 0; i < member->item.outcome.pages->len; i++)
        n += g_array_index(member->item.outcome.pages, QdResultPage, i).n_rows;
    return n;
}

/* Rows of RETURNING come with the acknowledgement, and once, however often the member had to be run. */
static void
test_returning(WriterFixture *self, gconstpointer data)
{
    WriterMember *member = writer_add_member(self, "INSERT INTO t VALUES(1), (2), (3) RETURNING a * 10, 'x'");
    QdResultPage *page;
    QwPageReader reader;
    QwValue value;

    (void) writer_add_member(self, "INSERT OR ROLLBACK INTO t VALUES(1)");
    member->probe = g_strdup("SELECT count(*) = 3 FROM t");
    writer_run_group(self);
    writer_assert_committed(member);
    g_assert_cmpuint(member->item.outcome.n_rows, ==, 3);
    g_assert_cmpuint(member->item.outcome.changes, ==, 3);
    g_assert_cmpuint(count_page_rows(member), ==, 3);
    page = &g_array_index(member->item.outcome.pages, QdResultPage, 0);
    g_assert_cmpuint(page->n_columns, ==, 2);
    g_assert_cmpint(qw_page_reader_init(&reader, page->data + QW_HEADER_SIZE, page->size - QW_HEADER_SIZE, page->n_rows, 2), ==, 0);
    for (int i = 1; i <= 3; i++) {
        g_assert_true(qw_page_reader_next(&reader));
        qw_page_reader_get(&reader, 0, &value);
        g_assert_cmpint(value.integer, ==, 10 * i);
    }
}

static void
test_returning_of_many_pages(WriterFixture *self, gconstpointer data)
{
    WriterMember *member = writer_add_member(self, "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 20000) "
                                                   "INSERT INTO l SELECT x FROM c RETURNING a, hex(zeroblob(10))");
    WriterMember *large = writer_add_member(self, "INSERT INTO l VALUES(zeroblob(300000)) RETURNING a");
    WriterMember *too_much = writer_add_member(self, "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 100) "
                                                     "INSERT INTO l SELECT x FROM c RETURNING zeroblob(100000)");

    WriterMember *unwanted = writer_add_member(self, "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 100) "
                                                     "INSERT INTO l SELECT x FROM c RETURNING zeroblob(100000)");

    unwanted->item.rows_begin = NULL;
    self->store.limits.values[QD_LIMIT_BATCH_BYTES] = 4 * 1024 * 1024;
    writer_run_group(self);
    g_assert_no_error(unwanted->item.outcome.error);
    g_assert_cmpuint(unwanted->item.outcome.changes, ==, 100);
    g_assert_cmpuint(unwanted->item.outcome.pages->len, ==, 0);
    g_assert_no_error(member->item.outcome.error);
    g_assert_cmpuint(member->item.outcome.pages->len, >, 5);
    g_assert_cmpuint(count_page_rows(member), ==, 20000);
    g_assert_no_error(large->item.outcome.error);
    g_assert_cmpuint(count_page_rows(large), ==, 1);
    writer_assert_failed(too_much, QW_ERROR_TOO_BIG, "the limit 'batch_bytes' is 4194304 bytes");
    g_assert_cmpint(writer_count(self, "l"), ==, 20101);
}

static void
test_batch_is_one(WriterFixture *self, gconstpointer data)
{
    WriterMember *good = writer_add_member(self, "INSERT INTO t VALUES(1), (2)");
    WriterMember *bad = writer_add_member(self, "INSERT INTO t VALUES(3)");

    writer_add_statement(good, "DELETE FROM t WHERE a = 1");
    writer_add_statement(good, "UPDATE t SET a = 7 WHERE a = 12345");
    writer_add_statement(bad, "INSERT INTO t VALUES(2)");
    writer_run_group(self);
    g_assert_no_error(good->item.outcome.error);
    g_assert_cmpuint(good->item.outcome.changes, ==, 3);
    g_assert_cmpuint(g_array_index(good->item.statements, QdWriteStatement, 0).changes, ==, 2);
    g_assert_cmpuint(g_array_index(good->item.statements, QdWriteStatement, 1).changes, ==, 1);
    g_assert_cmpuint(g_array_index(good->item.statements, QdWriteStatement, 2).changes, ==, 0);
    writer_assert_failed(bad, QW_ERROR_CONSTRAINT, "statement 2 of the batch: ");
    g_assert_cmpint(writer_count(self, "t"), ==, 1);
}

static void
test_rows_of_parameters(WriterFixture *self, gconstpointer data)
{
    WriterMember *member = writer_add_member(self, "INSERT INTO t VALUES(?)");
    WriterMember *wrong = writer_add_member(self, "INSERT INTO t VALUES(10 + ?, ?)");
    uint64_t buffer[64];
    QwPageWriter page;

    qw_page_writer_init(&page, (uint8_t *) buffer, sizeof buffer, 1);
    for (int i = 1; i <= 3; i++) {
        g_assert_cmpint(qw_row_begin(&page), ==, 0);
        g_assert_cmpint(qw_row_put_int64(&page, i), ==, 0);
        g_assert_cmpint(qw_row_end(&page), ==, 0);
    }
    for (guint i = 0; i < 2; i++) {
        WriterMember *each = i == 0 ? member : wrong;
        QdWriteStatement *statement = &g_array_index(each->item.statements, QdWriteStatement, 0);

        statement->rows = (uint8_t *) buffer + QW_HEADER_SIZE;
        statement->n_row_bytes = page.used - QW_HEADER_SIZE;
        statement->n_rows = 3;
    }
    writer_run_group(self);
    g_assert_no_error(member->item.outcome.error);
    g_assert_cmpuint(member->item.outcome.changes, ==, 3);
    g_assert_nonnull(wrong->item.outcome.error);
    g_assert_cmpint(store_get_int64(self->reader, "SELECT sum(a) FROM t"), ==, 6);
}

static void
test_deferred_keys(WriterFixture *self, gconstpointer data)
{
    WriterMember *bad;
    WriterMember *good;

    store_execute(self->store.writer, "CREATE TABLE p(a PRIMARY KEY); "
                                      "CREATE TABLE c(a REFERENCES p DEFERRABLE INITIALLY DEFERRED)");
    bad = writer_add_member(self, "INSERT INTO c VALUES(1)");
    good = writer_add_member(self, "INSERT INTO c VALUES(2)");
    writer_add_statement(good, "INSERT INTO p VALUES(2)");
    writer_run_group(self);
    writer_assert_failed(bad, QW_ERROR_CONSTRAINT, "FOREIGN KEY constraint failed");
    g_assert_no_error(good->item.outcome.error);
    g_assert_cmpint(writer_count(self, "c"), ==, 1);
}

static void
test_not_an_update(WriterFixture *self, gconstpointer data)
{
    WriterMember *query = writer_add_member(self, "SELECT 1");
    WriterMember *reindex = writer_add_member(self, "REINDEX t");
    WriterMember *a = writer_add_insert(self, "t", 1);

    writer_run_group(self);
    writer_assert_failed(query, QW_ERROR_BAD_PARAMETER, "changes nothing");
    g_assert_no_error(reindex->item.outcome.error); /* there is no index, so it is read-only, but no query */
    writer_assert_committed(a);
}

/* Modes ----------------------------------------------------------------------------------------------------------------- */

static void
test_vacuum(WriterFixture *self, gconstpointer data)
{
    WriterMember *a = writer_add_insert(self, "t", 1);
    WriterMember *vacuum = writer_add_member(self, "VACUUM");
    WriterMember *b = writer_add_insert(self, "t", 2);
    WriterMember *mixed = writer_add_member(self, "INSERT INTO t VALUES(3)");

    writer_add_statement(mixed, "VACUUM");
    writer_run_group(self);
    writer_assert_committed(a);
    g_assert_no_error(vacuum->item.outcome.error);
    writer_assert_committed(b);
    writer_assert_failed(mixed, QW_ERROR_UNSUPPORTED, "VACUUM has to be the only statement");
    g_assert_cmpint(writer_count(self, "t"), ==, 2);
    g_assert_cmpuint(qd_writer_get_n_commits(self->writer), ==, 3);
}

/* A group is as durable as its most careful member asks for. */
static void
test_relaxed(WriterFixture *self, gconstpointer data)
{
    WriterMember *relaxed = writer_add_insert(self, "t", 1);
    WriterMember *full;

    relaxed->item.relaxed = TRUE;
    writer_run_group(self);
    writer_assert_committed(relaxed);
    g_assert_cmpint(relaxed->synchronous, ==, 1);

    g_ptr_array_set_size(self->members, 0);
    relaxed = writer_add_insert(self, "t", 2);
    relaxed->item.relaxed = TRUE;
    full = writer_add_insert(self, "t", 3);
    writer_run_group(self);
    writer_assert_committed(full);
    g_assert_cmpint(relaxed->synchronous, ==, 2);
    g_assert_cmpint(full->synchronous, ==, 2);
}

static void
test_queue_is_bounded(WriterFixture *self, gconstpointer data)
{
    pthread_t job = start_thread(writer_hold_role, self);
    WriterMember *a = writer_add_insert(self, "t", 1);
    WriterMember *b = writer_add_insert(self, "t", 2);
    WriterMember *surplus = writer_add_insert(self, "t", 3);

    self->store.limits.values[QD_LIMIT_WRITE_QUEUE] = 2;
    (void) hand_over_pop(self->started);
    qd_writer_submit(self->writer, &a->item);
    qd_writer_submit(self->writer, &b->item);
    qd_writer_submit(self->writer, &surplus->item);
    g_assert_true(hand_over_try_pop(self->done) == surplus);
    writer_assert_failed(surplus, QW_ERROR_BUSY, "the limit 'write_queue' is 2");
    hand_over_push(self->go, self);
    (void) pthread_join(job, NULL);
    (void) hand_over_pop(self->done);
    (void) hand_over_pop(self->done);
    writer_assert_committed(a);
    writer_assert_committed(b);
}

static gboolean
insert_and_fail(QdConnection *connection, QdWriteItem *item, void *user_data, GError **error)
{
    store_execute(connection, "INSERT INTO t VALUES(1)");
    if (user_data == NULL)
        return TRUE;
    qd_error_set(error, QW_ERROR_TOO_BIG, "enough");
    return FALSE;
}

static void
test_job(WriterFixture *self, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    QdWriteItem item;

    qd_write_item_init(&item);
    g_assert_false(qd_writer_run_exclusive(self->writer, &item, TRUE, insert_and_fail, self, &error));
    store_assert_error(error, QW_ERROR_TOO_BIG, "enough");
    g_clear_error(&error);
    g_assert_cmpint(writer_count(self, "t"), ==, 0);
    writer_assert_commits(self, "");

    qd_changes_add_table(item.outcome.changed, "t");
    g_assert_true(qd_writer_run_exclusive(self->writer, &item, TRUE, insert_and_fail, NULL, &error));
    g_assert_no_error(error);
    g_assert_cmpint(writer_count(self, "t"), ==, 1);
    g_assert_cmpuint(item.outcome.generation, ==, (UINT64_C(1) << 40) + 1);
    writer_assert_commits(self, "1: t");
    qd_write_item_clear(&item);
}

/* A job that comes while another has the role gives up at its time-out, and the writer goes on. */
static void
test_job_waits_in_vain(WriterFixture *self, gconstpointer data)
{
    pthread_t job = start_thread(writer_hold_role, self);
    WriterMember *member = writer_add_insert(self, "t", 2);
    g_autoptr(GError) error = NULL;
    QdWriteItem item;

    qd_write_item_init(&item);
    item.times.timeout_msec = 1;
    (void) hand_over_pop(self->started);
    g_assert_false(qd_writer_run_exclusive(self->writer, &item, TRUE, insert_and_fail, NULL, &error));
    store_assert_error(error, QW_ERROR_TIMEOUT, "the writer was busy for 1 ms");
    hand_over_push(self->go, self);
    (void) pthread_join(job, NULL);
    qd_writer_submit(self->writer, &member->item);
    (void) hand_over_pop(self->done);
    writer_assert_committed(member);
    qd_write_item_clear(&item);
}

/* Who writes again at once -------------------------------------------------------------------------------------------------- */

/* Submits the first; the others come while they are waited for. */
static void
run_with_late(WriterFixture *self)
{
    for (guint i = 1; i < self->members->len; i++)
        g_ptr_array_add(self->late, self->members->pdata[i]);
    self->linger.n = self->late->len;
    qd_writer_submit(self->writer, &((WriterMember *) self->members->pdata[0])->item);
    for (guint i = 0; i < self->members->len; i++) {
        g_assert_true(hand_over_pop(self->done) == self->members->pdata[i]);
        g_assert_no_error(((WriterMember *) self->members->pdata[i])->item.outcome.error);
    }
}

static void
test_late_join(WriterFixture *self, gconstpointer data)
{
    for (int i = 1; i <= 4; i++)
        (void) writer_add_insert(self, "t", i);
    run_with_late(self);
    writer_assert_commits(self, "1: t; 2: t");
    g_assert_cmpuint(self->n_left, ==, 0);
    g_assert_cmpint(writer_count(self, "t"), ==, 4);
}

/* No client is kept waiting by a member that may take long, and none who is there is forgotten. */
static void
test_late_are_left(WriterFixture *self, gconstpointer data)
{
    (void) writer_add_insert(self, "t", 1);
    (void) writer_add_member(self, data);
    if (g_str_has_prefix(data, "DELETE"))
        writer_add_statement(self->members->pdata[1], "DELETE FROM r");
    (void) writer_add_insert(self, "t", 2);
    run_with_late(self);
    g_assert_cmpuint(self->commits->len, ==, 3);
    g_assert_cmpuint(self->n_left, ==, 1);
    g_assert_cmpint(writer_count(self, "t"), ==, 2);
}

/* At rest the connection is closed; the next update, or job, opens another one. */
static void
test_rest(WriterFixture *self, gconstpointer data)
{
    WriterMember *member = writer_add_insert(self, "t", 1);

    self->store.writer = NULL; /* it is not asked for its settings: it will be gone */
    g_assert_true(qd_writer_rest(self->writer));
    self->store.writer = NULL;
    g_assert_true(qd_writer_rest(self->writer));
    qd_writer_submit(self->writer, &member->item);
    g_assert_true(hand_over_pop(self->done) == member);
    writer_assert_committed(member);
}

static gpointer
submit_many(gpointer data)
{
    WriterFixture *self = data;

    for (guint i = 0; i < self->members->len; i++) {
        WriterMember *member = self->members->pdata[i];

        if (!g_atomic_int_exchange(&member->cancelled, 1))
            qd_writer_submit(self->writer, &member->item);
    }
    return NULL;
}

/* Four threads lead and follow as it comes; each update is there exactly once. */
static void
test_many_threads(WriterFixture *self, gconstpointer data)
{
    pthread_t threads[4];

    for (int i = 0; i < 400; i++)
        (void) writer_add_insert(self, i % 7 == 0 ? "r" : "t", i % 50 == 49 ? 0 : i + 1);
    for (guint i = 0; i < G_N_ELEMENTS(threads); i++)
        threads[i] = start_thread(submit_many, self);
    for (guint i = 0; i < G_N_ELEMENTS(threads); i++)
        (void) pthread_join(threads[i], NULL);
    for (guint i = 0; i < self->members->len; i++)
        (void) hand_over_pop(self->done);
    for (guint i = 0; i < self->members->len; i++) {
        WriterMember *member = self->members->pdata[i];

        if (member->item.outcome.error == NULL)
            writer_assert_committed(member);
        else
            g_assert_error(member->item.outcome.error, QD_ERROR, (gint) QW_ERROR_CONSTRAINT);
    }
    /* eight of the 400 have the value 0: of six into t and of two into r one each */
    g_assert_cmpint(writer_count(self, "t") + writer_count(self, "r"), ==, 394);
}

static gboolean
do_nothing(QdConnection *connection, QdWriteItem *item, void *user_data, GError **error)
{
    return TRUE;
}

/* A log is long at once: the same, beside passes. A job waits for these. */
static void
test_many_threads_and_checkpoints(WriterFixture *self, gconstpointer data)
{
    WriterMember *job = writer_add_member(self, "");

    (void) g_ptr_array_steal_index(self->members, 0);
    self->store.limits.values[QD_LIMIT_CHECKPOINT_BYTES] = 4096;
    self->store.limits.values[QD_LIMIT_CHECKPOINT_HOLD_MSEC] = 0;
    test_many_threads(self, NULL);
    g_assert_true(qd_writer_run_exclusive(self->writer, &job->item, FALSE, do_nothing, NULL, NULL));
    g_ptr_array_add(self->members, job);
    g_assert_cmpuint(qd_writer_get_n_passes(self->writer), >, 0);
    g_assert_cmpint(store_get_int64(self->reader, "SELECT count(*) FROM pragma_quick_check WHERE quick_check <> 'ok'"), ==, 0);
}

/* The copy of the schema has what changes no schema, too. */
static void
test_numbers(WriterFixture *self, gconstpointer data)
{
    WriterMember *member = writer_add_member(self, "PRAGMA user_version = 7");
    g_autoptr(QdSchemaCopy) copy = NULL;

    writer_run_group(self);
    g_assert_no_error(member->item.outcome.error);
    copy = qd_schema_copy_read(qd_database_get_path(self->store.database));
    g_assert_nonnull(copy);
    g_assert_cmpint(copy->user_version, ==, 7);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(path, func) \
    g_test_add("/write/writer/" path, WriterFixture, NULL, writer_fixture_set_up, func, writer_fixture_tear_down)
    ADD("alone", test_alone);
    ADD("group/share-a-commit", test_share_a_commit);
    ADD("group/failure-of-one", test_failure_of_one);
    ADD("group/all-fail", test_all_fail);
    ADD("group/offender-succeeds-alone", test_offender_succeeds_alone);
    for (guint i = 0; i < G_N_ELEMENTS(traps); i++) {
        g_autofree char *path = g_strconcat("/write/writer/trap/", traps[i].name, NULL);

        g_test_add(path, WriterFixture, &traps[i], writer_fixture_set_up, test_trap, writer_fixture_tear_down);
    }
    ADD("returning/once", test_returning);
    ADD("returning/many-pages", test_returning_of_many_pages);
    ADD("batch-is-one", test_batch_is_one);
    ADD("rows-of-parameters", test_rows_of_parameters);
    ADD("deferred-keys", test_deferred_keys);
    ADD("not-an-update", test_not_an_update);
    ADD("numbers", test_numbers);
    ADD("vacuum", test_vacuum);
    ADD("relaxed", test_relaxed);
    ADD("queue-is-bounded", test_queue_is_bounded);
    ADD("job/runs", test_job);
    ADD("job/waits-in-vain", test_job_waits_in_vain);
    ADD("late/join", test_late_join);
    g_test_add("/write/writer/late/left-by-a-batch", WriterFixture, "DELETE FROM l", writer_fixture_set_up, test_late_are_left,
               writer_fixture_tear_down);
    g_test_add("/write/writer/late/left-by-a-long-statement", WriterFixture,
               "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 20000) INSERT INTO l SELECT max(x) FROM c",
               writer_fixture_set_up, test_late_are_left, writer_fixture_tear_down);
    ADD("rest", test_rest);
    ADD("many-threads/alone", test_many_threads);
    ADD("many-threads/beside-checkpoints", test_many_threads_and_checkpoints);
    return g_test_run();
}
