/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the tests of the writer share.
 */
#include "tests/unit/write/writer-fixture.h"

#include <string.h>

#include "daemon/base/name-set.h"
#include "daemon/notify/changes.h"
#include "daemon/read/pool.h"
#include "daemon/runtime/workers.h"

static void
on_event(void *user_data, uint64_t token, uint32_t events)
{
}

static void
on_sweep(void *user_data)
{
}

static void
on_commit(uint64_t generation, const QdChanges *changes, void *user_data)
{
    WriterFixture *self = user_data;
    g_autoptr(GPtrArray) tables = qd_name_set_list(changes->tables);
    g_autofree char *names = NULL;

    g_ptr_array_add(tables, NULL);
    names = g_strjoinv(" ", (char **) tables->pdata);

    g_ptr_array_add(self->commits, g_strdup_printf("%u: %s", (guint) (generation & 0xffffffff), names));
}

static QdWriteItem *
on_look(QdWriterLinger *linger)
{
    WriterFixture *self = (WriterFixture *) ((char *) linger - offsetof(WriterFixture, linger));
    WriterMember *member = g_ptr_array_steal_index(self->late, 0);

    linger->n--;
    member->item.next = NULL;
    return &member->item;
}

static void
on_leave(QdWriterLinger *linger)
{
    WriterFixture *self = (WriterFixture *) ((char *) linger - offsetof(WriterFixture, linger));

    self->n_left += linger->n > 0 ? 1 : 0;
}

static void
member_free(gpointer data)
{
    WriterMember *member = data;

    for (guint i = 0; i < member->item.statements->len; i++)
        g_free((char *) g_array_index(member->item.statements, QdWriteStatement, i).text);
    g_array_unref(member->item.statements);
    qd_write_item_clear(&member->item);
    g_free(member->probe);
    g_free(member);
}

void
writer_fixture_set_up(WriterFixture *self, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    QdWriterConfig config = {
        .limits = &self->store.limits,
        .commit_func = on_commit,
        .linger = &self->linger,
        .user_data = self,
        .group_usec = 60000000, /* however slowly a test runs, who waits is in the group */
        .linger_usec = 60000000,
    };
    QdConnectionInfo info;

    store_fixture_set_up(&self->store, NULL);
    store_execute(self->store.writer, "CREATE TABLE t(a UNIQUE); CREATE TABLE r(a UNIQUE ON CONFLICT ROLLBACK); CREATE TABLE l(a)");
    self->workers = qd_workers_new(&self->store.limits, on_event, on_sweep, NULL, &error);
    g_assert_no_error(error);
    config.database = self->store.database;
    config.workers = self->workers;
    info = qd_database_get_info(self->store.database);
    config.pool = self->pool = qd_pool_new(&info, &self->store.limits);
    config.registry = self->registry = qd_registry_new();
    self->linger = (QdWriterLinger){ .look = on_look, .leave = on_leave };
    self->writer = qd_writer_new(&config, self->store.writer);
    self->reader = store_fixture_open_reader(&self->store);
    self->members = g_ptr_array_new_with_free_func(member_free);
    self->late = g_ptr_array_new();
    self->commits = g_ptr_array_new_with_free_func(g_free);
    self->done = hand_over_new();
    self->started = hand_over_new();
    self->go = hand_over_new();
}

void
writer_fixture_tear_down(WriterFixture *self, gconstpointer data)
{
    qd_workers_stop(self->workers);
    qd_writer_free(self->writer);
    qd_pool_free(self->pool);
    self->store.writer = NULL;
    qd_registry_free(self->registry);
    qd_workers_free(self->workers);
    qd_connection_free(self->reader);
    g_ptr_array_unref(self->members);
    g_ptr_array_unref(self->late);
    g_ptr_array_unref(self->commits);
    hand_over_free(self->done);
    hand_over_free(self->started);
    hand_over_free(self->go);
    store_fixture_tear_down(&self->store, NULL);
}

/* Members --------------------------------------------------------------------------------------------------------------- */

static void
on_done(QdWriteItem *item, QdWriterLinger *linger)
{
    WriterMember *member = item->data;

    if (member->probe != NULL)
        member->probe_value = store_get_int64(member->fixture->reader, member->probe);
    if (member->fixture->store.writer != NULL)
        member->synchronous = store_get_int64(member->fixture->store.writer, "PRAGMA synchronous");
    hand_over_push(member->fixture->done, member);
}

static void
on_rows_begin(QdWriteItem *item, const QdCompiled *compiled)
{
    /* they are to be kept */
}

WriterMember *
writer_add_member(WriterFixture *self, const char *text)
{
    WriterMember *member = g_new0(WriterMember, 1);
    QdWriteStatement statement = { .text = g_strdup(text), .n_text_bytes = strlen(text) };

    member->fixture = self;
    qd_write_item_init(&member->item);
    member->item.statements = g_array_new(FALSE, TRUE, sizeof(QdWriteStatement));
    g_array_append_val(member->item.statements, statement);
    member->item.done = on_done;
    member->item.rows_begin = on_rows_begin;
    member->item.data = member;
    g_ptr_array_add(self->members, member);
    return member;
}

WriterMember *
writer_add_insert(WriterFixture *self, const char *table, int a)
{
    g_autofree char *text = g_strdup_printf("INSERT INTO %s VALUES(%d)", table, a);
    WriterMember *member = writer_add_member(self, text);

    member->probe = g_strdup_printf("SELECT count(*) FROM %s WHERE a = %d", table, a);
    return member;
}

void
writer_add_statement(WriterMember *member, const char *text)
{
    QdWriteStatement statement = { .text = g_strdup(text), .n_text_bytes = strlen(text) };

    g_array_append_val(member->item.statements, statement);
}

static gboolean
hold_role(QdConnection *connection, QdWriteItem *item, void *user_data, GError **error)
{
    WriterFixture *self = user_data;

    hand_over_push(self->started, self);
    (void) hand_over_pop(self->go);
    return TRUE;
}

gpointer
writer_hold_role(gpointer data)
{
    WriterFixture *self = data;
    QdWriteItem item;

    qd_write_item_init(&item);
    (void) qd_writer_run_exclusive(self->writer, &item, FALSE, hold_role, self, NULL);
    qd_write_item_clear(&item);
    return NULL;
}

void
writer_run_group(WriterFixture *self)
{
    writer_run_group_after(self, NULL);
}

void
writer_run_group_after(WriterFixture *self, gboolean (*sweep)(QdWriter *writer))
{
    pthread_t job = start_thread(writer_hold_role, self);

    (void) hand_over_pop(self->started);
    for (guint i = 0; i < self->members->len; i++)
        qd_writer_submit(self->writer, &((WriterMember *) self->members->pdata[i])->item);
    g_assert_cmpuint(qd_writer_get_n_queued(self->writer), ==, self->members->len);
    if (sweep != NULL)
        (void) sweep(self->writer);
    hand_over_push(self->go, self);
    (void) pthread_join(job, NULL);
    for (guint i = 0; i < self->members->len; i++)
        (void) hand_over_pop(self->done);
    g_assert_null(hand_over_try_pop(self->done));
}

void
writer_assert_committed(const WriterMember *member)
{
    g_assert_no_error(member->item.outcome.error);
    g_assert_cmpint(member->probe_value, ==, 1);
}

void
writer_assert_failed(const WriterMember *member, QwError code, const char *words)
{
    store_assert_error(member->item.outcome.error, code, words);
}

void
writer_assert_commits(const WriterFixture *self, const char *expected)
{
    g_autoptr(GPtrArray) copy = g_ptr_array_new();
    g_autofree char *text = NULL;

    for (guint i = 0; i < self->commits->len; i++)
        g_ptr_array_add(copy, self->commits->pdata[i]);
    g_ptr_array_add(copy, NULL);
    text = g_strjoinv("; ", (char **) copy->pdata);
    g_assert_cmpstr(text, ==, expected);
}

gint64
writer_count(WriterFixture *self, const char *table)
{
    g_autofree char *sql = g_strdup_printf("SELECT count(*) FROM %s", table);

    return store_get_int64(self->reader, sql);
}
