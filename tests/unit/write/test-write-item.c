/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Members of a group that are functions of ours: atomic, repeatable, reported only when they are durable.
 */
#include "daemon/notify/changes.h"
#include "tests/unit/write/writer-fixture.h"

typedef struct Call {
    guint n_runs;
    int value;
    const char *then; /* (nullable): what fails it afterwards */
} Call;

static gboolean
insert_value(QdConnection *connection, QdWriteItem *item, void *user_data, GError **error)
{
    Call *call = user_data;
    g_autofree char *sql = g_strdup_printf("INSERT INTO t VALUES(%d); INSERT INTO l VALUES(%d)", call->value, call->value);

    call->n_runs++;
    if (!qd_connection_execute(connection, sql, error) ||
        (call->then != NULL && !qd_connection_execute(connection, call->then, error)))
        return FALSE;

    item->outcome.changes = 2;
    qd_changes_add_table(item->outcome.changed, "t");
    return TRUE;
}

static WriterMember *
add_call(WriterFixture *self, Call *call)
{
    WriterMember *member = writer_add_member(self, "SELECT 1");

    member->item.func = insert_value;
    member->item.func_data = call;
    member->probe = g_strdup_printf("SELECT count(*) FROM t JOIN l USING (a) WHERE a = %d", call->value);
    return member;
}

static void
test_function(WriterFixture *self, gconstpointer data)
{
    Call call = { .value = 1 };
    WriterMember *insert = writer_add_insert(self, "t", 2);
    WriterMember *member = add_call(self, &call);

    writer_run_group(self);
    writer_assert_committed(insert);
    writer_assert_committed(member);
    g_assert_cmpuint(member->item.outcome.generation, ==, insert->item.outcome.generation);
    g_assert_cmpuint(member->item.outcome.changes, ==, 2);
    g_assert_cmpuint(call.n_runs, ==, 1);
    writer_assert_commits(self, "1: t");
}

/* What it has done before it fails is undone; the others do not notice. */
static void
test_function_fails(WriterFixture *self, gconstpointer data)
{
    Call call = { .value = 1, .then = "INSERT INTO nosuch VALUES(1)" };
    WriterMember *before = writer_add_insert(self, "t", 2);
    WriterMember *member = add_call(self, &call);
    WriterMember *after = writer_add_insert(self, "t", 3);

    writer_run_group(self);
    writer_assert_committed(before);
    writer_assert_failed(member, QW_ERROR_SYNTAX, "no such table: nosuch");
    writer_assert_committed(after);
    g_assert_cmpuint(call.n_runs, ==, 1);
    g_assert_cmpint(writer_count(self, "t"), ==, 2);
    g_assert_cmpint(writer_count(self, "l"), ==, 0);
}

/* The transaction is gone with its work: it runs again, and is in the database once. */
static void
test_function_runs_again(WriterFixture *self, gconstpointer data)
{
    Call call = { .value = 1 };
    WriterMember *member = add_call(self, &call);
    WriterMember *offender = writer_add_member(self, "INSERT OR ROLLBACK INTO t VALUES(1)");
    WriterMember *after = writer_add_insert(self, "t", 2);

    writer_run_group(self);
    writer_assert_committed(member);
    writer_assert_failed(offender, QW_ERROR_CONSTRAINT, "UNIQUE constraint failed: t.a");
    writer_assert_committed(after);
    g_assert_cmpuint(call.n_runs, ==, 2);
    g_assert_cmpint(writer_count(self, "l"), ==, 1);
    writer_assert_commits(self, "1: t; 2: t");
}

/* A function that ends the transaction itself costs the others nothing either. */
static void
test_function_offends(WriterFixture *self, gconstpointer data)
{
    Call call = { .value = 1, .then = "INSERT OR ROLLBACK INTO t VALUES(1)" };
    WriterMember *before = writer_add_insert(self, "t", 2);
    WriterMember *member = add_call(self, &call);
    WriterMember *after = writer_add_insert(self, "t", 3);

    writer_run_group(self);
    writer_assert_committed(before);
    writer_assert_failed(member, QW_ERROR_CONSTRAINT, "UNIQUE constraint failed: t.a");
    writer_assert_committed(after);
    g_assert_cmpuint(call.n_runs, ==, 2);
    g_assert_cmpint(writer_count(self, "t"), ==, 2);
    g_assert_cmpint(writer_count(self, "l"), ==, 0);
}

/* It may take as long as an update may. */
static void
test_function_takes_too_long(WriterFixture *self, gconstpointer data)
{
    Call call = { .value = 1,
                  .then = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) INSERT INTO l SELECT x FROM c" };
    WriterMember *member = add_call(self, &call);
    WriterMember *after = writer_add_insert(self, "t", 2);

    member->item.times.timeout_msec = 50;
    writer_run_group(self);
    writer_assert_failed(member, QW_ERROR_TIMEOUT, "took longer than its 50 ms");
    writer_assert_committed(after);
    g_assert_cmpint(writer_count(self, "l"), ==, 0);
}

/* Without a savepoint --------------------------------------------------------------------------------------------------- */

/* Each fails after it has changed something. The first two keep that, as in SQLite; queryd undoes the others. */
static const char *const partial[] = {
    "INSERT OR FAIL INTO t VALUES(50), (99), (51)",
    "INSERT INTO l VALUES('fail')", /* a trigger that RAISEs FAIL after an insert of its own */
    "INSERT INTO child VALUES(1)",  /* a deferred key */
    "INSERT INTO l SELECT abs(x) FROM (SELECT 60 AS x UNION ALL SELECT 61 UNION ALL SELECT -9223372036854775808)",
    "INSERT INTO t VALUES(70), (99)",
    "INSERT INTO f VALUES('a'), ('b'), (1 / 0), (abs(-9223372036854775808))",
};

static void
test_partial(WriterFixture *self, gconstpointer data)
{
    store_execute(self->store.writer,
                  "INSERT INTO t VALUES(99); CREATE TABLE parent(a PRIMARY KEY); CREATE VIRTUAL TABLE f USING fts5(a);"
                  "CREATE TABLE child(a REFERENCES parent DEFERRABLE INITIALLY DEFERRED);"
                  "CREATE TRIGGER g AFTER INSERT ON l WHEN new.a = 'fail' BEGIN INSERT INTO t VALUES(40); "
                  "SELECT RAISE(FAIL, 'not so'); END");
    for (guint i = 0; i < G_N_ELEMENTS(partial); i++) {
        (void) writer_add_insert(self, "t", (int) i + 1);
        (void) writer_add_member(self, partial[i]);
    }
    writer_run_group(self);
    for (guint i = 0; i < self->members->len; i++) {
        WriterMember *member = self->members->pdata[i];

        if (i % 2 == 0)
            writer_assert_committed(member);
        else
            g_assert_nonnull(member->item.outcome.error);
    }
    g_assert_cmpint(writer_count(self, "t"), ==, 1 + G_N_ELEMENTS(partial) + 2);
    g_assert_cmpint(writer_count(self, "l"), ==, 1);
    g_assert_cmpint(writer_count(self, "child"), ==, 0);
    g_assert_cmpint(writer_count(self, "f"), ==, 0);
}

/* An ordinary failure ends nothing: the group is committed at once. */
static void
test_clean_failure(WriterFixture *self, gconstpointer data)
{
    (void) writer_add_insert(self, "t", 1);
    (void) writer_add_member(self, "INSERT INTO t VALUES(5), (1)");
    (void) writer_add_member(self, "INSERT INTO t VALUES(:missing)");
    (void) writer_add_insert(self, "t", 2);
    writer_run_group(self);
    g_assert_cmpint(writer_count(self, "t"), ==, 2);
    writer_assert_commits(self, "1: t");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(path, func) \
    g_test_add("/write/write-item/" path, WriterFixture, NULL, writer_fixture_set_up, func, writer_fixture_tear_down)
    ADD("function/runs", test_function);
    ADD("function/fails", test_function_fails);
    ADD("function/runs-again", test_function_runs_again);
    ADD("function/offends", test_function_offends);
    ADD("function/takes-too-long", test_function_takes_too_long);
    ADD("no-savepoint/partial", test_partial);
    ADD("no-savepoint/clean-failure", test_clean_failure);
    return g_test_run();
}
