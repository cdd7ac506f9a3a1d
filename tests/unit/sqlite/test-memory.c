/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The counting allocator: by thread, in all, and the hard limit as SQLite meets it.
 */
#include "daemon/sqlite/memory.h"

#include <sqlite3.h>
#include <string.h>

#include "daemon/base/interrupt.h"

#define MIB (1024 * 1024)

static void
test_counts(void)
{
    uint64_t used = qd_memory_get_used();
    int64_t balance = qd_memory_get_thread_balance();
    void *p = sqlite3_malloc(MIB);

    g_assert_nonnull(p);
    g_assert_cmpint(qd_memory_get_thread_balance() - balance, >=, MIB);
    g_assert_cmpint(qd_memory_get_thread_balance() - balance, <, MIB + 65536);
    g_assert_cmpuint(qd_memory_get_used() - used, >=, MIB);
    p = sqlite3_realloc(p, 3 * MIB);
    g_assert_nonnull(p);
    g_assert_cmpint(qd_memory_get_thread_balance() - balance, >=, 3 * MIB);
    sqlite3_free(p);
    g_assert_cmpint(qd_memory_get_thread_balance(), ==, balance);
    g_assert_cmpuint(qd_memory_get_used(), ==, used);
}

static gpointer
free_elsewhere(gpointer p)
{
    sqlite3_free(p);
    return GINT_TO_POINTER(qd_memory_get_thread_balance() < 0);
}

/* Memory may be allocated by one thread and freed by another: the sum is right, the balances tell which thread did what. */
static void
test_threads(void)
{
    uint64_t used = qd_memory_get_used();
    int64_t balance = qd_memory_get_thread_balance();
    void *p = sqlite3_malloc(MIB);

    g_assert_true(GPOINTER_TO_INT(g_thread_join(g_thread_new("free", free_elsewhere, p))));
    g_assert_cmpint(qd_memory_get_thread_balance() - balance, >=, MIB);
    g_assert_cmpuint(qd_memory_get_used(), ==, used);
}

static gpointer
allocate_little(gpointer unused)
{
    return sqlite3_malloc(100);
}

/* Little is reported from time to time, and when a thread ends. */
static void
test_little(void)
{
    uint64_t used = qd_memory_get_used();
    void *blocks[100];

    for (guint i = 0; i < G_N_ELEMENTS(blocks); i++)
        blocks[i] = g_thread_join(g_thread_new("little", allocate_little, NULL));
    g_assert_cmpuint(qd_memory_get_used() - used, >=, 100 * G_N_ELEMENTS(blocks));
    for (guint i = 0; i < G_N_ELEMENTS(blocks); i++)
        sqlite3_free(blocks[i]);
    g_assert_cmpuint(qd_memory_get_used(), ==, used);
}

#define N_RACERS 4
#define N_RACES 2000

static int n_holders;

static gpointer
race(gpointer unused)
{
    int most = 0;

    for (int i = 0; i < N_RACES; i++) {
        void *p = sqlite3_malloc(30 * MIB);
        int n_before;

        if (p == NULL)
            continue;
        n_before = g_atomic_int_add(&n_holders, 1);
        most = MAX(most, n_before + 1);
        (void) g_atomic_int_add(&n_holders, -1);
        sqlite3_free(p);
    }
    return GINT_TO_POINTER(most);
}

/* Two threads that ask at once do not both get the room that is there for one. */
static void
test_races(void)
{
    GThread *threads[N_RACERS];

    qd_memory_set_limits(0, qd_memory_get_used() + (uint64_t) 50 * MIB);
    for (guint i = 0; i < N_RACERS; i++)
        threads[i] = g_thread_new("race", race, NULL);
    for (guint i = 0; i < N_RACERS; i++)
        g_assert_cmpint(GPOINTER_TO_INT(g_thread_join(threads[i])), <=, 1);
    qd_memory_set_limits(0, 0);
}

static gboolean
end_it(void *data)
{
    return TRUE;
}

/* A statement that shall end gets no large piece of memory, so that no operation of SQLite's on large values begins. */
static void
test_interrupted(void)
{
    QdInterrupt interrupt = { .look = end_it, .is_always_due = TRUE };
    void *p = sqlite3_malloc(MIB / 2);

    qd_interrupt_begin(&interrupt);
    g_assert_null(sqlite3_malloc(2 * MIB));
    g_assert_null(sqlite3_realloc(p, 2 * MIB));
    p = sqlite3_realloc(p, MIB);
    g_assert_nonnull(p);
    sqlite3_free(p);
    qd_interrupt_end(&interrupt);
    p = sqlite3_malloc(2 * MIB);
    g_assert_nonnull(p);
    sqlite3_free(p);
}

static void
test_hard_limit(void)
{
    sqlite3 *db = NULL;
    void *p;

    qd_memory_set_limits(0, qd_memory_get_used() + 8 * MIB);
    g_assert_null(sqlite3_malloc(9 * MIB));
    p = sqlite3_malloc(MIB);
    g_assert_nonnull(p);
    g_assert_null(sqlite3_realloc(p, 9 * MIB));
    sqlite3_free(p);

    /* SQLite lives on after it */
    g_assert_cmpint(sqlite3_open(":memory:", &db), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_exec(db,
                                 "SELECT length(group_concat(hex(zeroblob(1000000)))) FROM (SELECT 1 UNION ALL SELECT 2 UNION "
                                 "ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5)",
                                 NULL, NULL, NULL),
                    ==, SQLITE_NOMEM);
    g_assert_cmpint(sqlite3_exec(db, "SELECT hex(zeroblob(1000))", NULL, NULL, NULL), ==, SQLITE_OK);
    qd_memory_set_limits(0, 0);
    g_assert_cmpint(sqlite3_exec(db, "SELECT hex(zeroblob(9000000))", NULL, NULL, NULL), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_close(db), ==, SQLITE_OK);
}

/* What a client holds is at most QD_LIMIT_SHARE times what stays free, however many statements it has. */
static void
test_share(void)
{
    QdMemoryAccount account = { 0 };
    QdMemoryAccount other_account = { 0 };
    QdMemoryUse first = { .account = &account };
    QdMemoryUse second = { .account = &account };
    QdMemoryUse other = { .account = &other_account };
    QdMemoryUse internal = { .account = NULL };
    void *p, *q;

    qd_memory_set_limits(0, qd_memory_get_used() + 9 * MIB);
    qd_memory_begin_use(&first);
    p = sqlite3_malloc(6 * MIB);
    g_assert_nonnull(p);
    g_assert_null(sqlite3_malloc(MIB));
    qd_memory_end_use(&first);
    g_assert_cmpint(account.n_bytes, >=, 6 * MIB);
    g_assert_cmpint(qd_memory_get_use(&first), ==, account.n_bytes);

    qd_memory_begin_use(&second);
    g_assert_null(sqlite3_malloc(MIB));
    qd_memory_begin_use(&other); /* within it */
    q = sqlite3_malloc(2 * MIB);
    g_assert_nonnull(q);
    qd_memory_end_use(&other);
    g_assert_cmpint(qd_memory_get_use(&second), ==, 0);
    qd_memory_end_use(&second);
    g_assert_cmpint(other_account.n_bytes, >=, 2 * MIB);
    sqlite3_free(q);
    qd_memory_release_use(&other);
    g_assert_cmpint(other_account.n_bytes, ==, 0);

    qd_memory_begin_use(&internal);
    q = sqlite3_malloc(2 * MIB + MIB / 2);
    g_assert_nonnull(q);
    sqlite3_free(q);
    qd_memory_end_use(&internal);

    sqlite3_free(p);
    g_assert_cmpint(account.n_bytes, >=, 6 * MIB);
    qd_memory_release_use(&first);
    qd_memory_release_use(&second);
    g_assert_cmpint(account.n_bytes, ==, 0);
    qd_memory_set_limits(0, 0);
}

/* It is the account's until it is dropped, and no statement's. */
static void
test_held(void)
{
    QdMemoryAccount account = { 0 };
    QdMemoryUse use = { .account = &account };
    void *p, *q;

    qd_memory_set_limits(0, qd_memory_get_used() + 9 * MIB);
    qd_memory_begin_use(&use);
    p = qd_memory_hold(&account, NULL, 3 * MIB);
    g_assert_nonnull(p);
    memset(p, 7, 3 * MIB);
    qd_memory_end_use(&use);
    g_assert_cmpint(use.n_bytes, ==, 0);
    g_assert_cmpint(account.n_bytes, >=, 3 * MIB);
    g_assert_null(qd_memory_hold(&account, p, 8 * MIB));
    g_assert_cmpint(account.n_bytes, <, 3 * MIB + 65536);
    q = qd_memory_hold(&account, p, 4 * MIB);
    g_assert_nonnull(q);
    g_assert_cmpmem(q, 1, "\007", 1);
    g_assert_cmpint(account.n_bytes, >=, 4 * MIB);
    g_assert_cmpint(account.n_bytes, <, 4 * MIB + 65536);
    qd_memory_begin_use(&use);
    qd_memory_drop(q);
    qd_memory_end_use(&use);
    g_assert_cmpint(use.n_bytes, ==, 0);
    g_assert_cmpint(account.n_bytes, ==, 0);
    qd_memory_drop(NULL);
    qd_memory_set_limits(0, 0);
}

static void
test_soft_limit(void)
{
    void *p;

    qd_memory_set_limits(qd_memory_get_used() + MIB, 0);
    g_assert_false(qd_memory_is_above_soft_limit());
    p = sqlite3_malloc(2 * MIB);
    g_assert_nonnull(p);
    g_assert_true(qd_memory_is_above_soft_limit());
    sqlite3_free(p);
    g_assert_false(qd_memory_is_above_soft_limit());
    qd_memory_set_limits(0, 0);
    g_assert_false(qd_memory_is_above_soft_limit());
}

int
main(int argc, char **argv)
{
    g_autoptr(GError) error = NULL;

    g_test_init(&argc, &argv, NULL);
    g_assert_true(qd_memory_init(&error));
    g_assert_true(qd_memory_init(&error));
    g_assert_no_error(error);
    g_test_add_func("/sqlite/memory/counts", test_counts);
    g_test_add_func("/sqlite/memory/threads", test_threads);
    g_test_add_func("/sqlite/memory/little", test_little);
    g_test_add_func("/sqlite/memory/races", test_races);
    g_test_add_func("/sqlite/memory/interrupted", test_interrupted);
    g_test_add_func("/sqlite/memory/hard-limit", test_hard_limit);
    g_test_add_func("/sqlite/memory/share", test_share);
    g_test_add_func("/sqlite/memory/held", test_held);
    g_test_add_func("/sqlite/memory/soft-limit", test_soft_limit);
    return g_test_run();
}
