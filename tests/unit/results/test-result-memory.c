/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is remembered and given in each order of events, and what is bounded. Readers beside a writer are never given what was
 * before.
 */
#include "daemon/read/client.h"
#include "daemon/results/result-memory.h"

#include <stdlib.h>

#include "tests/unit/results/results-fixture.h"

#define N_READERS 3
#define N_WRITES 2000

typedef struct Fixture {
    StoreFixture store;
    QdResultMemory *memory;
    QdClient *client;
} Fixture;

static void
set_up(Fixture *self, gconstpointer data)
{
    store_fixture_set_up(&self->store, NULL);
    store_execute(self->store.writer, "CREATE TABLE t(a); CREATE TABLE u(a); INSERT INTO t VALUES(0)");
    self->memory = qd_result_memory_new(qd_database_get_path(self->store.database), &self->store.limits);
    self->client = qd_client_new("test");
}

static void
tear_down(Fixture *self, gconstpointer data)
{
    (void) qd_result_memory_free(self->memory);
    g_assert_cmpuint(qd_client_get_n_charged(self->client, QD_CHARGE_RESULTS), ==, 0);
    g_assert_cmpuint(qd_client_get_n_charged(self->client, QD_CHARGE_SHARED_RESULTS), ==, 0);
    g_assert_false(qd_client_is_charged(self->client));
    qd_client_unref(self->client);
    store_fixture_tear_down(&self->store, NULL);
}

static void
set_limit(Fixture *self, QdLimit limit, uint64_t value)
{
    self->store.limits.values[limit] = value;
}

static GBytes *
make_key(const char *text)
{
    return g_bytes_new(text, strlen(text));
}

/* @ret_text: (nullable): of a result that is found */
static QdRecall
recall_with(Fixture *self, const char *text, guint64 signature, char **ret_text)
{
    g_autoptr(GBytes) bytes = make_key(text);
    const QdResultKey key = { bytes, signature };
    g_auto(QdRememberedResult) result = { 0 };
    QdRecall recall = qd_result_memory_recall(self->memory, &key, &result);

    g_assert_true((recall == QD_RECALL_FOUND) == (result.pages != NULL || result.file != NULL));
    if (ret_text != NULL)
        *ret_text = result.pages != NULL ? g_strndup(g_bytes_get_data(result.pages, NULL), g_bytes_get_size(result.pages)) : NULL;
    return recall;
}

static QdRecall
recall(Fixture *self, const char *text)
{
    return recall_with(self, text, 1, NULL);
}

static void
note(Fixture *self, const char *text)
{
    g_autoptr(GBytes) key = make_key(text);

    qd_result_memory_note(self->memory, key);
}

/* @tables: (nullable): NULL: it is not known */
static gboolean
watch(Fixture *self, const char *text, const char *tables)
{
    g_autoptr(GBytes) key = make_key(text);
    g_autoptr(QdReadSet) reads = tables != NULL ? make_reads(FALSE, tables) : NULL;

    return qd_result_memory_watch(self->memory, key, qd_result_memory_get_number(self->memory), reads);
}

static void
keep(Fixture *self, const char *text, guint64 number, const char *rows)
{
    g_autoptr(GBytes) key = make_key(text);
    g_auto(QdRememberedResult) result = { .pages = make_key(rows), .n_rows = 1, .signature = 1, .cost_usec = 7 };

    qd_result_memory_keep(self->memory, self->client, key, number, &result);
}

/* The three executions that it takes. */
static void
remember(Fixture *self, const char *text, const char *tables, const char *rows)
{
    note(self, text);
    g_assert_cmpint(recall(self, text), ==, QD_RECALL_NOTED);
    g_assert_true(watch(self, text, tables));
    keep(self, text, qd_result_memory_get_number(self->memory), rows);
}

static void
write_table(Fixture *self, const char *table)
{
    g_autoptr(QdChanges) changes = make_changes(table, "");
    g_autofree char *text = g_strdup_printf("INSERT INTO %s VALUES(1); COMMIT", table);

    store_execute(self->store.writer, "BEGIN IMMEDIATE");
    qd_result_memory_begin_write(self->memory);
    store_execute(self->store.writer, text);
    qd_result_memory_end_write(self->memory, changes, TRUE);
}

/* Order -------------------------------------------------------------------------------------------------------------------- */

static void
test_third_time(Fixture *self, gconstpointer data)
{
    g_autofree char *rows = NULL;
    QdResultCounters counters;

    g_assert_false(qd_result_memory_may_have(self->memory));
    g_assert_cmpint(recall(self, "q"), ==, QD_RECALL_NOTHING);
    note(self, "q");
    note(self, "q");
    g_assert_true(qd_result_memory_may_have(self->memory));
    g_assert_cmpint(recall(self, "q"), ==, QD_RECALL_NOTED);
    g_assert_true(watch(self, "q", "t"));
    g_assert_cmpint(recall(self, "q"), ==, QD_RECALL_WORTHY);
    keep(self, "q", qd_result_memory_get_number(self->memory), "rows");
    g_assert_cmpint(recall_with(self, "q", 1, &rows), ==, QD_RECALL_FOUND);
    g_assert_cmpstr(rows, ==, "rows");
    g_assert_cmpint(recall(self, "r"), ==, QD_RECALL_NOTHING);
    counters = qd_result_memory_get_counters(self->memory);
    g_assert_cmpuint(counters.n_hits, ==, 1);
    g_assert_cmpuint(counters.n_misses, ==, 2);
    g_assert_cmpuint(counters.n_results, ==, 1);
    g_assert_cmpuint(counters.saved_usec, ==, 7);
    g_assert_cmpuint(qd_client_get_n_charged(self->client, QD_CHARGE_RESULTS), ==, strlen("rows"));
}

static void
test_changes(Fixture *self, gconstpointer data)
{
    remember(self, "q", "t", "old");
    write_table(self, "u");
    g_assert_cmpint(recall(self, "q"), ==, QD_RECALL_FOUND);
    write_table(self, "t");
    g_assert_cmpint(recall(self, "q"), ==, QD_RECALL_NOTHING);
    g_assert_cmpuint(qd_result_memory_get_counters(self->memory).n_results, ==, 0);
    write_table(self, "t");
    g_assert_cmpint(recall(self, "q"), ==, QD_RECALL_NOTHING); /* it changes too often */
    g_assert_cmpint(recall(self, "q"), ==, QD_RECALL_WORTHY);
    keep(self, "q", qd_result_memory_get_number(self->memory), "new");
    g_assert_cmpint(recall(self, "q"), ==, QD_RECALL_FOUND);
}

/* The rows were read before a change that was said before they are kept. */
static void
test_kept_too_late(Fixture *self, gconstpointer data)
{
    guint64 number;

    note(self, "q");
    g_assert_cmpint(recall(self, "q"), ==, QD_RECALL_NOTED);
    g_assert_true(watch(self, "q", "t"));
    number = qd_result_memory_get_number(self->memory);
    write_table(self, "t");
    keep(self, "q", number, "old");
    g_assert_cmpint(recall(self, "q"), ==, QD_RECALL_NOTHING);
}

/* What it reads was found out by a schema that is an old one by now. */
static void
test_watched_too_late(Fixture *self, gconstpointer data)
{
    g_autoptr(GBytes) key = make_key("q");
    g_autoptr(QdReadSet) reads = make_reads(FALSE, "t");
    g_autoptr(QdChanges) changes = make_changes("", "");
    guint64 number;

    remember(self, "other", "u", "rows"); /* so that there are cells */
    note(self, "q");
    g_assert_cmpint(recall(self, "q"), ==, QD_RECALL_NOTED);
    number = qd_result_memory_get_number(self->memory);
    changes->schema = TRUE;
    store_execute(self->store.writer, "BEGIN IMMEDIATE");
    qd_result_memory_begin_write(self->memory);
    store_execute(self->store.writer, "CREATE TABLE v(a); COMMIT");
    qd_result_memory_end_write(self->memory, changes, TRUE);
    g_assert_true(qd_result_memory_watch(self->memory, key, number, reads));
    keep(self, "q", qd_result_memory_get_number(self->memory), "rows");
    g_assert_cmpint(recall(self, "q"), ==, QD_RECALL_NOTED);
}

static void
test_refused(Fixture *self, gconstpointer data)
{
    note(self, "q");
    g_assert_cmpint(recall(self, "q"), ==, QD_RECALL_NOTED);
    g_assert_false(watch(self, "q", NULL));
    g_assert_cmpint(recall(self, "q"), ==, QD_RECALL_NOTHING);
    keep(self, "q", qd_result_memory_get_number(self->memory), "rows");
    g_assert_cmpint(recall(self, "q"), ==, QD_RECALL_NOTHING);
    g_assert_false(watch(self, "unknown", "t"));
    keep(self, "unknown", 0, "rows");
    g_assert_cmpuint(qd_result_memory_get_counters(self->memory).n_results, ==, 0);
}

/* The client knows other columns: it is executed. */
static void
test_other_columns(Fixture *self, gconstpointer data)
{
    remember(self, "q", "t", "rows");
    g_assert_cmpint(recall_with(self, "q", 2, NULL), ==, QD_RECALL_WORTHY);
    keep(self, "q", qd_result_memory_get_number(self->memory), "others");
    g_assert_cmpint(recall(self, "q"), ==, QD_RECALL_FOUND);
    g_assert_cmpuint(qd_client_get_n_charged(self->client, QD_CHARGE_RESULTS), ==, strlen("rows"));
}

static void
test_cleared(Fixture *self, gconstpointer data)
{
    QdResultCounters counters;

    remember(self, "q", "t", "rows");
    qd_result_memory_clear(self->memory);
    counters = qd_result_memory_get_counters(self->memory);
    g_assert_cmpuint(counters.n_results + counters.n_bytes + counters.n_shared_bytes, ==, 0);
    g_assert_cmpuint(qd_client_get_n_charged(self->client, QD_CHARGE_RESULTS), ==, 0);
    g_assert_cmpint(recall(self, "q"), ==, QD_RECALL_NOTHING);
    remember(self, "q", "t", "rows");
    g_assert_cmpint(recall(self, "q"), ==, QD_RECALL_FOUND);
}

/* Limits ------------------------------------------------------------------------------------------------------------------- */

static void
test_no_memory(Fixture *self, gconstpointer data)
{
    remember(self, "q", "t", "rows");
    set_limit(self, QD_LIMIT_RESULT_MEMORY_BYTES, 0);
    note(self, "r");
    g_assert_false(qd_result_memory_may_have(self->memory));
    g_assert_cmpuint(qd_result_memory_get_room(self->memory), ==, 0);
}

static void
test_longest_unused_goes(Fixture *self, gconstpointer data)
{
    g_autofree char *rows = g_strnfill(1000, 'x');

    set_limit(self, QD_LIMIT_RESULT_MEMORY_BYTES, 4000);
    remember(self, "a", "t", rows);
    remember(self, "b", "t", rows);
    remember(self, "c", "t", rows);
    g_assert_cmpint(recall(self, "a"), ==, QD_RECALL_FOUND);
    remember(self, "d", "t", rows);
    g_assert_cmpuint(qd_result_memory_get_counters(self->memory).n_bytes, <=, 4000);
    g_assert_cmpint(recall(self, "a"), ==, QD_RECALL_FOUND);
    g_assert_cmpint(recall(self, "b"), ==, QD_RECALL_NOTHING);
    g_assert_cmpint(recall(self, "d"), ==, QD_RECALL_FOUND);
    g_assert_cmpuint(qd_client_get_n_charged(self->client, QD_CHARGE_RESULTS), ==,
                     1000 * qd_result_memory_get_counters(self->memory).n_results);
}

/* However small they are. */
static void
test_number_of_results(Fixture *self, gconstpointer data)
{
    for (guint i = 0; i < 5000; i++) {
        g_autofree char *text = g_strdup_printf("q%u", i);

        note(self, text);
    }
    g_assert_cmpint(recall(self, "q0"), ==, QD_RECALL_NOTHING);
    g_assert_cmpint(recall(self, "q4999"), ==, QD_RECALL_NOTED);
    g_assert_cmpuint(qd_result_memory_get_counters(self->memory).n_bytes, <, 5000 * 256);
}

static void
test_share_of_a_client(Fixture *self, gconstpointer data)
{
    set_limit(self, QD_LIMIT_RESULT_MEMORY_PER_CLIENT_BYTES, 6);
    remember(self, "a", "t", "rows");
    remember(self, "b", "t", "rows");
    g_assert_cmpint(recall(self, "a"), ==, QD_RECALL_FOUND);
    g_assert_cmpint(recall(self, "b"), ==, QD_RECALL_WORTHY);
    write_table(self, "t");
    g_assert_cmpint(recall(self, "a"), ==, QD_RECALL_NOTHING);
    g_assert_cmpuint(qd_client_get_n_charged(self->client, QD_CHARGE_RESULTS), ==, 0);
}

/* Shared memory ------------------------------------------------------------------------------------------------------------ */

static void
remember_file(Fixture *self, const char *text, gsize n_bytes)
{
    g_autoptr(GBytes) key = make_key(text);
    g_autofree guint8 *data = g_malloc0(n_bytes);
    g_auto(QdRememberedResult) result = { .file = qd_sealed_pages_new(), .n_rows = 1, .signature = 1, .cost_usec = 7 };

    note(self, text);
    g_assert_cmpint(recall(self, text), ==, QD_RECALL_NOTED);
    g_assert_true(watch(self, text, "t"));
    g_assert_true(qd_result_memory_take_shared(self->memory, n_bytes));
    g_assert_true(qd_sealed_pages_append(result.file, data, n_bytes));
    g_assert_true(qd_sealed_pages_seal(result.file));
    qd_result_memory_keep(self->memory, self->client, key, qd_result_memory_get_number(self->memory), &result);
}

static void
assert_shared(Fixture *self, guint64 n_bytes, guint n_charged)
{
    g_assert_cmpuint(qd_result_memory_get_counters(self->memory).n_shared_bytes, ==, n_bytes);
    g_assert_cmpuint(qd_client_get_n_charged(self->client, QD_CHARGE_SHARED_RESULTS), ==, n_charged);
}

static void
test_shared(Fixture *self, gconstpointer data)
{
    set_limit(self, QD_LIMIT_RESULT_SHARED_BYTES, 3000);
    remember_file(self, "a", 1000);
    remember_file(self, "b", 1000);
    remember(self, "small", "t", "rows");
    g_assert_cmpint(recall(self, "a"), ==, QD_RECALL_FOUND);
    g_assert_false(qd_result_memory_take_shared(self->memory, 3001)); /* the others went for it, in vain */
    assert_shared(self, 0, 0);
    g_assert_cmpint(recall(self, "small"), ==, QD_RECALL_FOUND);

    remember_file(self, "c", 1000);
    remember_file(self, "d", 1000);
    g_assert_cmpint(recall(self, "c"), ==, QD_RECALL_FOUND);
    g_assert_true(qd_result_memory_take_shared(self->memory, 2000)); /* d, which was used before c */
    g_assert_cmpint(recall(self, "d"), ==, QD_RECALL_WORTHY);
    g_assert_cmpint(recall(self, "c"), ==, QD_RECALL_FOUND);
    qd_result_memory_give_shared(self->memory, 2000);
    assert_shared(self, 1000, 1000);
    write_table(self, "t");
    g_assert_cmpint(recall(self, "c"), ==, QD_RECALL_NOTHING);
    assert_shared(self, 0, 0);
}

/* It was filled, and has no place by then. */
static void
test_shared_in_vain(Fixture *self, gconstpointer data)
{
    g_autoptr(GBytes) key = make_key("q");
    g_auto(QdRememberedResult) result = { .file = qd_sealed_pages_new(), .signature = 1 };

    g_assert_true(qd_result_memory_take_shared(self->memory, 3));
    g_assert_true(qd_sealed_pages_append(result.file, (const guint8 *) "abc", 3));
    qd_result_memory_keep(self->memory, self->client, key, 0, &result);
    assert_shared(self, 0, 0);
}

/* Threads ------------------------------------------------------------------------------------------------------------------ */

typedef struct Race {
    Fixture *fixture;
    gint n_acknowledged; /* atomic: a is this, or more */
    gint is_over;        /* atomic */
    gint n_recalled;     /* atomic */
    gint n_stale;        /* atomic */
} Race;

static gint
read_value(sqlite3_stmt *stmt)
{
    gint value;

    g_assert_cmpint(sqlite3_step(stmt), ==, SQLITE_ROW);
    value = sqlite3_column_int(stmt, 0);
    (void) sqlite3_reset(stmt);
    return value;
}

/* As a channel does: asks, or executes and has it kept. */
static gint
ask(Race *self, sqlite3_stmt *stmt)
{
    g_autofree char *found = NULL;
    g_autofree char *rows = NULL;
    QdRecall answer = recall_with(self->fixture, "q", 1, &found);
    guint64 number;
    gint value;

    if (answer == QD_RECALL_FOUND) {
        g_atomic_int_inc(&self->n_recalled);
        return atoi(found);
    }
    if (answer == QD_RECALL_NOTED)
        (void) watch(self->fixture, "q", "t");
    number = qd_result_memory_get_number(self->fixture->memory);
    value = read_value(stmt);
    rows = g_strdup_printf("%d", value);
    note(self->fixture, "q");
    if (answer == QD_RECALL_NOTED || answer == QD_RECALL_WORTHY)
        keep(self->fixture, "q", number, rows);
    return value;
}

static gpointer
reader_main(gpointer data)
{
    Race *self = data;
    sqlite3 *db = open_elsewhere(&self->fixture->store);
    sqlite3_stmt *stmt = NULL;
    gint seen = 0;

    g_assert_cmpint(sqlite3_prepare_v2(db, "SELECT a FROM t", -1, &stmt, NULL), ==, SQLITE_OK);
    while (!g_atomic_int_get(&self->is_over)) {
        gint least = MAX(seen, g_atomic_int_get(&self->n_acknowledged));

        seen = ask(self, stmt);
        if (seen < least)
            g_atomic_int_inc(&self->n_stale);
    }
    (void) sqlite3_finalize(stmt);
    (void) sqlite3_close(db);
    return NULL;
}

/* Another program writes now and then; the memory is given back, and its limits change. */
static void
disturb(Race *self, sqlite3 *other, gint n)
{
    if (n % 97 == 0)
        execute_elsewhere(other, "INSERT INTO u VALUES(1)");
    if (n % 61 == 0)
        qd_result_memory_clear(self->fixture->memory);
    (void) qd_result_memory_get_counters(self->fixture->memory);
}

static void
test_race(Fixture *fixture, gconstpointer data)
{
    Race self = { .fixture = fixture };
    sqlite3 *other = open_elsewhere(&fixture->store);
    GThread *threads[N_READERS];

    store_execute(fixture->store.writer, "PRAGMA synchronous=OFF");
    for (guint i = 0; i < N_READERS; i++)
        threads[i] = g_thread_new("reader", reader_main, &self);
    for (gint n = 1; n <= N_WRITES; n++) {
        g_autoptr(QdChanges) changes = make_changes("t", "");

        store_execute(fixture->store.writer, "BEGIN IMMEDIATE");
        qd_result_memory_begin_write(fixture->memory);
        store_execute(fixture->store.writer, "UPDATE t SET a = a + 1");
        store_execute(fixture->store.writer, "COMMIT");
        qd_result_memory_end_write(fixture->memory, changes, TRUE);
        g_atomic_int_set(&self.n_acknowledged, n);
        disturb(&self, other, n);
        for (gint before = g_atomic_int_get(&self.n_recalled); n % 8 == 0 && g_atomic_int_get(&self.n_recalled) == before;)
            g_thread_yield(); /* until something was remembered */
    }
    g_atomic_int_set(&self.is_over, 1);
    for (guint i = 0; i < N_READERS; i++)
        (void) g_thread_join(threads[i]);
    (void) sqlite3_close(other);
    g_assert_cmpint(self.n_stale, ==, 0);
    g_assert_cmpint(self.n_recalled, >=, N_WRITES / 8);
}

#define ADD(path, func) g_test_add("/results/result-memory/" path, Fixture, NULL, set_up, func, tear_down)

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ADD("third-time", test_third_time);
    ADD("changes", test_changes);
    ADD("kept-too-late", test_kept_too_late);
    ADD("watched-too-late", test_watched_too_late);
    ADD("refused", test_refused);
    ADD("other-columns", test_other_columns);
    ADD("cleared", test_cleared);
    ADD("no-memory", test_no_memory);
    ADD("longest-unused-goes", test_longest_unused_goes);
    ADD("number-of-results", test_number_of_results);
    ADD("share-of-a-client", test_share_of_a_client);
    ADD("shared", test_shared);
    ADD("shared-in-vain", test_shared_in_vain);
    ADD("race", test_race);
    return g_test_run();
}
