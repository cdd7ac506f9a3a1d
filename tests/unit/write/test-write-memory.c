/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Each allocation of SQLite in an update fails once: the update is there whole or not at all, as its answer says.
 *
 * For want of memory SQLite may end a transaction in a statement of ours that the client does not know. The look at the schema
 * is one. What runs after it would be outside of the transaction.
 */
#include <stdatomic.h>

#include "daemon/sqlite/schema-watch.h"
#include "tests/unit/write/writer-fixture.h"

static sqlite3_mem_methods real_methods;
static atomic_uint n_allocations;
static atomic_uint fault_nth; /* 0: none */

static gboolean
allocation_fails(void)
{
    guint nth = atomic_load(&fault_nth);

    return nth > 0 && atomic_fetch_add(&n_allocations, 1) + 1 == nth;
}

static void *
faulty_malloc(int n_bytes)
{
    return allocation_fails() ? NULL : real_methods.xMalloc(n_bytes);
}

static void *
faulty_realloc(void *p, int n_bytes)
{
    return allocation_fails() ? NULL : real_methods.xRealloc(p, n_bytes);
}

static void
insert_allocator(void)
{
    sqlite3_mem_methods methods;

    g_assert_cmpint(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real_methods), ==, SQLITE_OK);
    methods = real_methods;
    methods.xMalloc = faulty_malloc;
    methods.xRealloc = faulty_realloc;
    g_assert_cmpint(sqlite3_config(SQLITE_CONFIG_MALLOC, &methods), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0), ==, SQLITE_OK);
}

static void (*fixture_done)(QdWriteItem *item, QdWriterLinger *linger);

static void
end_fault(QdWriteItem *item, QdWriterLinger *linger)
{
    atomic_store(&fault_nth, 0);
    fixture_done(item, linger);
}

/* The @nth allocation of the update fails. Returns: whether there are so many */
static gboolean
run_with_fault(WriterFixture *self, WriterMember *member, guint nth)
{
    fixture_done = member->item.done;
    member->item.done = end_fault;
    atomic_store(&n_allocations, 0);
    atomic_store(&fault_nth, nth);
    qd_writer_submit(self->writer, &member->item);
    g_assert_true(hand_over_pop(self->done) == member);
    return atomic_load(&n_allocations) >= nth;
}

static void
test_batch_that_defines(WriterFixture *self, gconstpointer data)
{
    gboolean hit = TRUE;
    guint n_failed = 0;

    for (guint nth = 1; hit; nth++) {
        WriterMember *member = writer_add_member(self, "CREATE TABLE p(x)");

        writer_add_statement(member, "CREATE TABLE q(x)");
        writer_add_statement(member, "INSERT INTO q VALUES(1)");
        writer_add_statement(member, "CREATE TABLE s(x)");
        /* as after a change of the schema by another connection */
        qd_schema_watch_forget(qd_connection_get_schema(self->store.writer));
        hit = run_with_fault(self, member, nth);
        n_failed += member->item.outcome.error != NULL ? 1 : 0;
        g_assert_cmpint(store_get_int64(self->reader, "SELECT count(*) FROM sqlite_schema WHERE name IN ('p', 'q', 's')"), ==,
                        member->item.outcome.error == NULL ? 3 : 0);
        store_execute(self->store.writer, "DROP TABLE IF EXISTS p; DROP TABLE IF EXISTS q; DROP TABLE IF EXISTS s");
    }
    g_assert_cmpuint(n_failed, >, 20);
}

/* What a SPARQL update does in SQL has statements of its own; their failures are the update's. */
static void
test_batch_of_sparql(WriterFixture *self, gconstpointer data)
{
    gboolean hit = TRUE;
    guint n_failed = 0;
    gint64 n_rows = 0;

    for (guint nth = 1; hit; nth++) {
        g_autofree char *insert = g_strdup_printf("INSERT DATA { <urn:s> <urn:p> \"%u\" }", nth);
        g_autofree char *modify = g_strdup_printf("INSERT { ?s <urn:q> ?o } WHERE { ?s <urn:p> ?o FILTER(?o = \"%u\") }", nth);
        WriterMember *member = writer_add_insert(self, "l", (int) nth);

        writer_add_statement(member, insert);
        writer_add_statement(member, modify);
        for (guint i = 1; i <= 2; i++)
            g_array_index(member->item.statements, QdWriteStatement, i).language = QD_LANGUAGE_SPARQL;
        qd_schema_watch_forget(qd_connection_get_schema(self->store.writer));
        hit = run_with_fault(self, member, nth);
        n_failed += member->item.outcome.error != NULL ? 1 : 0;
        n_rows += member->item.outcome.error == NULL ? 1 : 0;
        g_assert_cmpint(writer_count(self, "l"), ==, n_rows);
        g_assert_cmpint(writer_count(self, "queryd_quad"), ==, 2 * n_rows);
    }
    g_assert_cmpuint(n_failed, >, 20);
}

static void
test_single_insert(WriterFixture *self, gconstpointer data)
{
    gboolean hit = TRUE;
    guint n_failed = 0;
    gint64 n_rows = 0;

    for (guint nth = 1; hit; nth++) {
        g_autofree char *text = g_strdup_printf("INSERT INTO l VALUES(%u)", nth);
        WriterMember *member = writer_add_member(self, text);

        qd_schema_watch_forget(qd_connection_get_schema(self->store.writer));
        hit = run_with_fault(self, member, nth);
        n_failed += member->item.outcome.error != NULL ? 1 : 0;
        n_rows += member->item.outcome.error == NULL ? 1 : 0;
        g_assert_cmpint(writer_count(self, "l"), ==, n_rows);
    }
    g_assert_cmpuint(n_failed, >, 0);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    insert_allocator();
#define ADD(path, func) \
    g_test_add("/write/write-memory/" path, WriterFixture, NULL, writer_fixture_set_up, func, writer_fixture_tear_down)
    ADD("batch-that-defines", test_batch_that_defines);
    ADD("batch-of-sparql", test_batch_of_sparql);
    ADD("single-insert", test_single_insert);
    return g_test_run();
}
