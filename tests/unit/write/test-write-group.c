/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A write group: the order of its members, how often each of them runs, and what one of them costs the others.
 *
 * The traps of SQL are in test-writer.c. Here members write their letters down as they run, so that a test sees each run.
 */
#include <string.h>

#include "daemon/notify/changes.h"
#include "daemon/read/session-counts.h"
#include "daemon/write/writer-private.h"
#include "tests/unit/write/writer-fixture.h"

#define SLOW "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 3000000) INSERT INTO l SELECT max(x) FROM c"

typedef enum Fate {
    GOES_WELL,
    FAILS,
    ENDS_TRANSACTION,
    ENDS_TRANSACTION_ONCE, /* alone it goes well */
    IS_TOLD,               /* its client has heard of its end; it goes well later */
} Fate;

typedef struct Letter {
    char letter;
    Fate fate;
    GString *log;
    gint *cancels; /* (nullable): set when it runs: its own */
} Letter;

typedef struct Fixture {
    WriterFixture base; /* first */
    GString *log;       /* the letters of all runs */
    GPtrArray *letters; /* of Letter, in the order of the members */
} Fixture;

static void
set_up(Fixture *self, gconstpointer data)
{
    writer_fixture_set_up(&self->base, data);
    self->log = g_string_new(NULL);
    self->letters = g_ptr_array_new_with_free_func(g_free);
}

static void
tear_down(Fixture *self, gconstpointer data)
{
    g_string_free(self->log, TRUE);
    g_ptr_array_unref(self->letters);
    writer_fixture_tear_down(&self->base, data);
}

static gboolean
hear(const QdWriteItem *item, const GError *error)
{
    return TRUE;
}

/* As the interrupter does it, while the item is in a call that takes long. */
static void
tell_end(QdWriteItem *item)
{
    item->tell = hear;
    g_atomic_int_set(&item->is_cancelled, TRUE);
    item->watch->watch.tell(item->watch, (uint64_t) g_get_monotonic_time());
}

static gboolean
write_letter(QdConnection *connection, QdWriteItem *item, void *data, GError **error)
{
    Letter *self = data;

    g_string_append_c(self->log, self->letter);
    store_execute(connection, "INSERT INTO l VALUES(1)");
    qd_changes_add_table(item->outcome.changed, "l");
    if (self->cancels != NULL)
        g_atomic_int_set(self->cancels, TRUE);
    switch (self->fate) {
    case IS_TOLD:
        tell_end(item);
        return TRUE;
    case GOES_WELL:
        return TRUE;
    case FAILS:
        qd_error_set(error, QW_ERROR_TOO_BIG, "letter %c failed", self->letter);
        return FALSE;
    case ENDS_TRANSACTION_ONCE:
        self->fate = GOES_WELL;
        break;
    case ENDS_TRANSACTION:
        break;
    }
    store_execute(connection, "ROLLBACK");
    qd_error_set(error, self->cancels != NULL ? QW_ERROR_CANCELLED : QW_ERROR_CONSTRAINT, "letter %c ended it", self->letter);
    return FALSE;
}

static WriterMember *
add_letter(Fixture *self, char letter, Fate fate)
{
    WriterMember *member = writer_add_member(&self->base, "SELECT 1");
    Letter *each = g_new0(Letter, 1);

    *each = (Letter){ .letter = letter, .fate = fate, .log = self->log };
    g_ptr_array_add(self->letters, each);
    member->item.func = write_letter;
    member->item.func_data = each;
    member->item.rows_begin = NULL;
    return member;
}

/* Members by their letters: they go well, but those before '!' fail, before '*' end the transaction, before '+' do so once. The
 * client of one before '?' hears of its end. */
static void
run_letters(Fixture *self, const char *letters)
{
    static const char signs[] = "!*+?";
    static const Fate fates[] = { FAILS, ENDS_TRANSACTION, ENDS_TRANSACTION_ONCE, IS_TOLD };

    for (const char *p = letters; *p != '\0'; p++) {
        const char *sign = p[1] != '\0' ? strchr(signs, p[1]) : NULL;

        (void) add_letter(self, *p, sign != NULL ? fates[sign - signs] : GOES_WELL);
        p += sign != NULL ? 1 : 0;
    }
    writer_run_group(&self->base);
}

static void
assert_runs(Fixture *self, const char *runs, guint n_commits, gint64 n_rows)
{
    g_assert_cmpstr(self->log->str, ==, runs);
    g_assert_cmpuint(qd_writer_get_n_commits(self->base.writer), ==, n_commits);
    g_assert_cmpint(writer_count(&self->base, "l"), ==, n_rows);
}

/* Orders ---------------------------------------------------------------------------------------------------------------- */

typedef struct Case {
    const char *name;
    const char *letters;
    const char *runs;
    guint n_commits;
    gint64 n_rows;
} Case;

static const Case cases[] = {
    { "as-they-came", "abcd", "abcd", 1, 4 },
    { "failure-in-the-middle", "ab!c", "abc", 1, 2 },
    { "all-fail", "a!b!", "ab", 0, 0 },
    /* the ones before it run again without it, it runs alone, and what came later is another group */
    { "offender-first", "a*bc", "aabc", 1, 2 },
    { "offender-in-the-middle", "abc*de", "abcabcde", 2, 4 },
    { "offender-last", "abc*", "abcabc", 1, 2 },
    { "offender-that-can-alone", "abc+d", "abcabcd", 3, 4 },
    { "two-offenders", "ab*cd*e", "ababcdcde", 3, 3 },
    { "failure-before-an-offender", "ab!c*d", "abcabcd", 2, 2 },
    { "told-in-the-middle", "ab?c", "abc", 1, 2 },
    { "told-before-an-offender", "ab?c*d", "abcacd", 2, 2 },
    { "all-told", "a?b?", "ab", 0, 0 },
};

static void
test_case(Fixture *self, gconstpointer data)
{
    const Case *each = data;

    run_letters(self, each->letters);
    assert_runs(self, each->runs, each->n_commits, each->n_rows);
    for (guint i = 0; i < self->letters->len; i++) {
        const Letter *letter = self->letters->pdata[i];
        const QdWriteItem *item = &((WriterMember *) self->base.members->pdata[i])->item;

        g_assert_true((item->outcome.error != NULL) == (letter->fate != GOES_WELL));
    }
}

/* A member that was stopped by its caller would be stopped again: it is not tried alone. */
static void
test_stopped_is_not_repeated(Fixture *self, gconstpointer data)
{
    WriterMember *member;

    (void) add_letter(self, 'a', GOES_WELL);
    member = add_letter(self, 's', ENDS_TRANSACTION);
    ((Letter *) self->letters->pdata[1])->cancels = &member->cancelled;
    (void) add_letter(self, 'b', GOES_WELL);
    writer_run_group(&self->base);
    writer_assert_failed(member, QW_ERROR_CANCELLED, "letter s ended it");
    assert_runs(self, "asab", 2, 2);
}

/* A member that was cancelled before its turn costs nothing. */
static void
test_cancelled_before(Fixture *self, gconstpointer data)
{
    WriterMember *member;
    gint cancelled = TRUE;

    (void) add_letter(self, 'a', GOES_WELL);
    member = add_letter(self, 'b', GOES_WELL);
    member->item.cancelled = &cancelled;
    (void) add_letter(self, 'c', GOES_WELL);
    writer_run_group_after(&self->base, qd_writer_sweep);
    writer_assert_failed(member, QW_ERROR_CANCELLED, "update was cancelled");
    assert_runs(self, "ac", 1, 2);
}

/* Its time has gone while it waited for the writer, or for a slot before that. */
static void
test_late_before(Fixture *self, gconstpointer data)
{
    WriterMember *member;

    (void) add_letter(self, 'a', GOES_WELL);
    member = add_letter(self, 'b', GOES_WELL);
    member->item.times.timeout_msec = 10;
    member->item.times.waited_usec = 10001;
    writer_run_group_after(&self->base, qd_writer_sweep);
    writer_assert_failed(member, QW_ERROR_TIMEOUT, "update waited for the writer for longer than its 10 ms");
    assert_runs(self, "a", 1, 1);
}

/* Counts ---------------------------------------------------------------------------------------------------------------- */

/* A session counts a member once, however often it ran. */
static void
test_counts(Fixture *self, gconstpointer data)
{
    WriterMember *insert = writer_add_insert(&self->base, "t", 1);
    QdSession *session = qd_session_new();
    QdCounts counts;

    insert->item.counts.session = session;
    (void) writer_add_member(&self->base, "INSERT OR ROLLBACK INTO t VALUES(1)");
    writer_run_group(&self->base);
    writer_assert_committed(insert);
    counts = qd_session_get_counts(session);
    g_assert_cmpint(counts.changes, ==, 1);
    g_assert_cmpint(counts.total_changes, ==, 1);
    g_assert_cmpint(counts.last_insert_rowid, ==, 1);
    qd_session_free(session);
}

/* OR FAIL keeps the rows before the one that failed, in a group as alone, and nothing of the others. */
static void
test_keeps(Fixture *self, gconstpointer data)
{
    WriterMember *before = writer_add_insert(&self->base, "t", 1);
    WriterMember *member = writer_add_member(&self->base, "INSERT OR FAIL INTO t VALUES (7), (8), (1), (9)");
    WriterMember *after = writer_add_insert(&self->base, "t", 2);

    writer_run_group(&self->base);
    writer_assert_committed(before);
    writer_assert_failed(member, QW_ERROR_CONSTRAINT, "UNIQUE constraint failed: t.a");
    writer_assert_committed(after);
    g_assert_cmpint(writer_count(&self->base, "t"), ==, 4);
    g_assert_cmpint(store_get_int64(self->base.reader, "SELECT count(*) FROM t WHERE a IN (7, 8)"), ==, 2);
}

static void
sql_tell_end(sqlite3_context *context, int n_args, sqlite3_value **args)
{
    tell_end(sqlite3_user_data(context));
    sqlite3_result_int(context, 5);
}

/* Nothing of a statement is left either, whether it would come to a good end or keep rows; the session has not counted it. */
static void
test_told_statements(Fixture *self, gconstpointer data)
{
    static const char *const texts[] = { "INSERT INTO t VALUES(tell_end())", "INSERT OR FAIL INTO t VALUES (7), (tell_end()), (1)",
                                         "INSERT INTO t VALUES(tell_end()); INSERT INTO t VALUES(8)" };
    sqlite3 *db = qd_connection_get_db(self->base.store.writer);

    for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_auto(GStrv) parts = g_strsplit(texts[i], "; ", 2);
        WriterMember *before = writer_add_insert(&self->base, "t", (int) i * 10 + 1);
        WriterMember *member = writer_add_member(&self->base, parts[0]);
        WriterMember *after = writer_add_insert(&self->base, "t", (int) i * 10 + 2);
        QdCounts counts = { .last_insert_rowid = 77 };
        QdSession *session = qd_session_new();

        if (parts[1] != NULL)
            writer_add_statement(member, parts[1]);
        qd_session_set_counts(session, &counts);
        member->item.counts.session = session;
        g_assert_cmpint(sqlite3_create_function(db, "tell_end", 0, SQLITE_UTF8, &member->item, sql_tell_end, NULL, NULL), ==,
                        SQLITE_OK);
        writer_run_group(&self->base);
        writer_assert_committed(before);
        writer_assert_failed(member, QW_ERROR_CANCELLED, "update was cancelled");
        writer_assert_committed(after);
        g_assert_cmpint(writer_count(&self->base, "t"), ==, 2 * (i + 1));
        g_assert_cmpint(qd_session_get_counts(session).last_insert_rowid, ==, 77);
        qd_session_free(session);
        g_ptr_array_set_size(self->base.members, 0);
    }
}

/* Ends ------------------------------------------------------------------------------------------------------------------ */

static int
refuse_commit(void *data)
{
    return 1;
}

/* The commit itself fails: none has succeeded, and nothing of them is there; the next group does. */
static void
test_commit_fails(Fixture *self, gconstpointer data)
{
    sqlite3 *db = qd_connection_get_db(self->base.store.writer);

    (void) sqlite3_commit_hook(db, refuse_commit, NULL);
    run_letters(self, "abc");
    (void) sqlite3_commit_hook(db, NULL, NULL);
    for (guint i = 0; i < 3; i++)
        g_assert_nonnull(((WriterMember *) self->base.members->pdata[i])->item.outcome.error);
    writer_assert_commits(&self->base, "");
    g_assert_cmpint(writer_count(&self->base, "l"), ==, 0);

    g_ptr_array_set_size(self->base.members, 0);
    run_letters(self, "d");
    g_assert_cmpint(writer_count(&self->base, "l"), ==, 1);
}

/* More than a group takes: there are two. */
static void
test_most(Fixture *self, gconstpointer data)
{
    self->base.store.limits.values[QD_LIMIT_WRITE_QUEUE] = 1000;
    self->base.store.limits.values[QD_LIMIT_WRITE_QUEUE_PER_CLIENT] = 1000;
    for (guint i = 0; i < 600; i++)
        (void) add_letter(self, 'x', GOES_WELL);
    writer_run_group(&self->base);
    g_assert_cmpuint(self->log->len, ==, 600);
    g_assert_cmpuint(qd_writer_get_n_commits(self->base.writer), ==, 2);
    g_assert_cmpuint(((WriterMember *) self->base.members->pdata[511])->item.outcome.generation & 0xffffffff, ==, 1);
    g_assert_cmpuint(((WriterMember *) self->base.members->pdata[512])->item.outcome.generation & 0xffffffff, ==, 2);
}

/*
 * A member that takes its time does not keep those before it from their commit. It is put off and comes again as the first of
 * the next group; its result is as if nothing had been.
 */
static void
test_put_off(Fixture *self, gconstpointer data)
{
    WriterMember *before = writer_add_insert(&self->base, "t", 1);
    WriterMember *slow = writer_add_member(&self->base, SLOW);
    WriterMember *after = writer_add_insert(&self->base, "t", 2);
    QdSession *session = qd_session_new();

    slow->item.counts.session = session;
    slow->probe = g_strdup("SELECT count(*) FROM l");
    writer_run_group(&self->base);
    writer_assert_committed(before);
    writer_assert_committed(slow);
    writer_assert_committed(after);
    g_assert_cmpuint(before->item.outcome.generation & 0xffffffff, ==, 1);
    g_assert_cmpuint(slow->item.outcome.generation & 0xffffffff, ==, 2);
    g_assert_cmpint(qd_session_get_counts(session).total_changes, ==, 1);
    qd_session_free(session);
    g_assert_cmpint(writer_count(&self->base, "l"), ==, 1);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(path, func) g_test_add("/write/write-group/" path, Fixture, NULL, set_up, func, tear_down)
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *path = g_strconcat("/write/write-group/runs/", cases[i].name, NULL);

        g_test_add(path, Fixture, &cases[i], set_up, test_case, tear_down);
    }
    ADD("stopped-is-not-repeated", test_stopped_is_not_repeated);
    ADD("cancelled-before", test_cancelled_before);
    ADD("late-before", test_late_before);
    ADD("counts", test_counts);
    ADD("keeps", test_keeps);
    ADD("told-statements", test_told_statements);
    ADD("commit-fails", test_commit_fails);
    ADD("most", test_most);
    ADD("put-off", test_put_off);
    return g_test_run();
}
