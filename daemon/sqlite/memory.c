/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * malloc with malloc_usable_size as the measure: no header of our own, no lock.
 */
#include "daemon/sqlite/memory.h"

#include <malloc.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

#include "client-lib/wire/wire-record.h"
#include "daemon/base/error.h"
#include "daemon/base/hot.h"
#include "daemon/base/interrupt.h"
#include "daemon/base/limits.h"

static _Atomic int64_t used_bytes; /* but for what threads have not reported */
static _Atomic uint64_t soft_limit_bytes;
static _Atomic uint64_t hard_limit_bytes;
static _Atomic uint64_t lost_bytes;
static _Thread_local int64_t thread_balance;
static pthread_key_t unreported_key; /* its destructor reports the rest */
static _Thread_local int64_t unreported_bytes;
static _Thread_local int64_t unreported_max; /* 0: the thread has no value for the key yet */
static _Thread_local uint64_t n_changes;     /* of what the thread holds */
static _Thread_local gboolean is_system_out; /* malloc() itself had nothing, last */
static _Thread_local QdMemoryUse *use;       /* (nullable): of the statement that runs */

/*
 * SQLite works long on such a size, between two calls of the progress handler: each allocation asks first whether the statement
 * shall end. A row that is being put into a page allocates less.
 */
#define LARGE_BYTES (QW_PAGE_SIZE_MAX + 1)
/* A sort keeps so much of its rows in memory before it writes them out: as much as with SQLite's own cache_size. */
#define SORT_PAGES 512u
/* A row takes two atomic operations for each text otherwise. */
#define UNREPORTED_BYTES 4096
/* A look at the clock for so many allocations. */
#define CLOCK_TURN 256

typedef struct Budget {
    gboolean active;
    int64_t max_balance;
    uint64_t deadline_usec;
    guint n_calls;
    QdBudgetVerdict verdict;
    void (*witness)(void); /* (nullable) */
} Budget;

static _Thread_local Budget budget;

static void
report(void *data)
{
    int64_t *unreported = data;

    atomic_fetch_add_explicit(&used_bytes, *unreported, memory_order_relaxed);
    *unreported = 0;
}

/* What @use has taken and freed meanwhile. */
static int64_t
get_uncounted(void)
{
    return thread_balance - use->balance;
}

static void
count_use(void)
{
    int64_t n_bytes = use != NULL ? get_uncounted() : 0;

    if (n_bytes == 0)
        return;
    use->n_bytes += n_bytes;
    use->balance = thread_balance;
    if (use->account != NULL)
        __atomic_add_fetch(&use->account->n_bytes, n_bytes, __ATOMIC_RELAXED);
}

static G_GNUC_NO_INLINE void
account_much(void)
{
    if (unreported_max == 0 && pthread_setspecific(unreported_key, &unreported_bytes) == 0)
        unreported_max = UNREPORTED_BYTES;
    if (unreported_bytes < unreported_max && unreported_bytes > -unreported_max)
        return;
    report(&unreported_bytes);
    count_use();
}

static QD_HOT void
account(int64_t n_bytes)
{
    thread_balance += n_bytes;
    unreported_bytes += n_bytes;
    n_changes++;
    if (G_UNLIKELY(unreported_bytes >= unreported_max || unreported_bytes <= -unreported_max))
        account_much();
}

static gboolean
exceeds_budget(int64_t n_bytes)
{
    if (!budget.active || budget.verdict != QD_BUDGET_KEPT)
        return budget.active;

    if (budget.witness != NULL)
        budget.witness();
    if (thread_balance + n_bytes > budget.max_balance)
        budget.verdict = QD_BUDGET_MEMORY_EXCEEDED;
    else if (++budget.n_calls % CLOCK_TURN == 0 && (uint64_t) g_get_monotonic_time() > budget.deadline_usec)
        budget.verdict = QD_BUDGET_TIME_EXCEEDED;
    return budget.verdict != QD_BUDGET_KEPT;
}

static gboolean
exceeds_share(int64_t n_bytes, int64_t n_free)
{
    return use != NULL && use->account != NULL &&
           __atomic_load_n(&use->account->n_bytes, __ATOMIC_RELAXED) + get_uncounted() + n_bytes > QD_LIMIT_SHARE * n_free;
}

/* @used: by all, with the @n_bytes that are asked for */
static gboolean
exceeds_limit(int64_t used, int64_t n_bytes)
{
    uint64_t limit = atomic_load_explicit(&hard_limit_bytes, memory_order_relaxed);
    int64_t n_free = (int64_t) limit - used;

    return limit > 0 && (n_free < 0 || exceeds_share(n_bytes, n_free));
}

/*
 * A large size counts from here on: else two threads find room for it at once, and both take it. Small ones count when they are
 * there, or are reported later, which saves atomic operations. Together they pass the limit by two pages for each thread at most.
 * What is @size bytes long afterwards may have grown by a few each time, as the result of FTS4's offsets().
 */
static G_GNUC_NO_INLINE gboolean
reserve(int64_t n_bytes, int64_t size)
{
    if (exceeds_budget(n_bytes))
        return FALSE;
    if (size >= (int64_t) LARGE_BYTES && qd_interrupt_poll())
        return FALSE;
    if (n_bytes < (int64_t) LARGE_BYTES)
        return !exceeds_limit(atomic_load_explicit(&used_bytes, memory_order_relaxed) + n_bytes, n_bytes);

    if (!exceeds_limit(atomic_fetch_add_explicit(&used_bytes, n_bytes, memory_order_relaxed) + n_bytes, n_bytes))
        return TRUE;
    atomic_fetch_sub_explicit(&used_bytes, n_bytes, memory_order_relaxed);
    return FALSE;
}

/* Takes back the reservation: the bytes are counted by account() now, or there are none. */
static void
settle(int64_t n_bytes)
{
    if (n_bytes >= (int64_t) LARGE_BYTES)
        atomic_fetch_sub_explicit(&used_bytes, n_bytes, memory_order_relaxed);
}

/* @was_reserved: no limit of ours forbade it */
static void
note_failure(gboolean was_reserved)
{
    is_system_out = was_reserved;
    if (budget.active && budget.verdict == QD_BUDGET_KEPT)
        budget.verdict = QD_BUDGET_HEAP_EXCEEDED;
}

static G_GNUC_NO_INLINE void *
malloc_much(int n_bytes)
{
    gboolean is_reserved = reserve(n_bytes, n_bytes);
    void *p = NULL;

    if (is_reserved) {
        p = malloc((size_t) n_bytes);
        if (p != NULL)
            account((int64_t) malloc_usable_size(p));
        settle(n_bytes);
    }
    if (p == NULL)
        note_failure(is_reserved);
    return p;
}

/* Each row takes some: no limit is asked before there is something to report. */
static QD_HOT void *
memory_malloc(int n_bytes)
{
    void *p;

    if (G_UNLIKELY(budget.active || unreported_bytes + n_bytes >= unreported_max))
        return malloc_much(n_bytes);

    p = malloc((size_t) n_bytes);
    if (p != NULL)
        account((int64_t) malloc_usable_size(p));
    else
        is_system_out = TRUE;
    return p;
}

static QD_HOT void
memory_free(void *p)
{
    int64_t n_bytes;

    if (p == NULL)
        return;

    n_bytes = (int64_t) malloc_usable_size(p);
    free(p); /* before its bytes are given to others */
    account(-n_bytes);
}

static void *
memory_realloc(void *p, int n_bytes)
{
    int64_t before = (int64_t) malloc_usable_size(p);
    int64_t more = MAX(n_bytes - before, 0);
    gboolean is_reserved = more == 0 || reserve(more, n_bytes);
    void *q = NULL;

    if (is_reserved) {
        q = realloc(p, (size_t) n_bytes);
        if (q != NULL)
            account((int64_t) malloc_usable_size(q) - before);
        settle(more);
    }
    if (q == NULL)
        note_failure(is_reserved);
    return q;
}

static QD_HOT int
memory_size(void *p)
{
    return p != NULL ? (int) malloc_usable_size(p) : 0;
}

static int
memory_roundup(int n_bytes)
{
    return (n_bytes + 7) & ~7;
}

static int
memory_init_hook(void *data)
{
    return SQLITE_OK;
}

static void
memory_shutdown_hook(void *data)
{
}

gboolean
qd_memory_init(GError **error)
{
    static gsize once;
    static int r;
    static const sqlite3_mem_methods methods = {
        memory_malloc, memory_free, memory_realloc, memory_size, memory_roundup, memory_init_hook, memory_shutdown_hook, NULL,
    };

    if (g_once_init_enter(&once)) {
        r = pthread_key_create(&unreported_key, report) == 0 ? sqlite3_config(SQLITE_CONFIG_MALLOC, &methods) : SQLITE_NOMEM;
        if (r == SQLITE_OK)
            r = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
        if (r == SQLITE_OK)
            r = sqlite3_config(SQLITE_CONFIG_MULTITHREAD);
        if (r == SQLITE_OK)
            r = sqlite3_config(SQLITE_CONFIG_PMASZ, SORT_PAGES);
        if (r == SQLITE_OK)
            r = sqlite3_initialize();
        g_once_init_leave(&once, 1);
    }
    if (r != SQLITE_OK) {
        qd_error_set(error, QW_ERROR_INTERNAL, "cannot configure SQLite: %s", sqlite3_errstr(r));
        return FALSE;
    }
    return TRUE;
}

void
qd_memory_set_limits(uint64_t soft_bytes, uint64_t hard_bytes)
{
    atomic_store_explicit(&soft_limit_bytes, soft_bytes, memory_order_relaxed);
    atomic_store_explicit(&hard_limit_bytes, hard_bytes, memory_order_relaxed);
}

gboolean
qd_memory_take_system_failure(void)
{
    gboolean was_out = is_system_out;

    is_system_out = FALSE;
    return was_out;
}

uint64_t
qd_memory_get_hard_limit(void)
{
    return atomic_load_explicit(&hard_limit_bytes, memory_order_relaxed);
}

uint64_t
qd_memory_get_used(void)
{
    int64_t used = atomic_load_explicit(&used_bytes, memory_order_relaxed) + unreported_bytes;

    return used > 0 ? (uint64_t) used : 0;
}

gboolean
qd_memory_is_above_soft_limit(void)
{
    uint64_t limit = atomic_load_explicit(&soft_limit_bytes, memory_order_relaxed);

    return limit > 0 && qd_memory_get_used() > limit;
}

int64_t
qd_memory_get_thread_balance(void)
{
    return thread_balance;
}

void
qd_memory_begin_use(QdMemoryUse *self)
{
    count_use();
    self->outer = use;
    self->balance = thread_balance;
    use = self;
}

void
qd_memory_end_use(QdMemoryUse *self)
{
    g_assert(use == self);
    count_use();
    use = g_steal_pointer(&self->outer);
    if (use != NULL)
        use->balance = thread_balance;
}

static void
count_file(QdMemoryUse *self, int64_t n_bytes)
{
    self->n_file_bytes += n_bytes;
    if (self->account != NULL && n_bytes != 0)
        __atomic_add_fetch(&self->account->n_file_bytes, n_bytes, __ATOMIC_RELAXED);
}

void
qd_memory_release_use(QdMemoryUse *self)
{
    if (self->account != NULL && self->n_bytes != 0)
        __atomic_sub_fetch(&self->account->n_bytes, self->n_bytes, __ATOMIC_RELAXED);
    self->n_bytes = 0;
    count_file(self, -self->n_file_bytes);
}

void
qd_memory_count_file(int64_t n_bytes)
{
    if (use != NULL)
        count_file(use, MAX(n_bytes, -use->n_file_bytes)); /* another statement may have made the file */
}

int64_t
qd_memory_get_file_bytes(const QdMemoryUse *self)
{
    if (self->account == NULL || self->n_file_bytes == 0)
        return self->n_file_bytes;
    return __atomic_load_n(&self->account->n_file_bytes, __ATOMIC_RELAXED);
}

int64_t
qd_memory_get_use(const QdMemoryUse *self)
{
    return self->n_bytes + (self == use ? get_uncounted() : 0);
}

/* Before the data, which begin where malloc()'s would. */
typedef struct Held {
    QdMemoryAccount *account; /* (nullable) */
    int64_t n_bytes;          /* of it */
} Held;

_Static_assert(sizeof(Held) % _Alignof(max_align_t) == 0, "data of any type follow");

void *
qd_memory_hold(QdMemoryAccount *account, void *data, uint64_t n_bytes)
{
    Held *self = data != NULL ? (Held *) data - 1 : NULL;
    QdMemoryUse part = { .account = account, .n_bytes = self != NULL ? self->n_bytes : 0 };

    qd_memory_begin_use(&part);
    self = sqlite3_realloc64(self, sizeof *self + n_bytes);
    qd_memory_end_use(&part);
    if (self == NULL)
        return NULL;
    *self = (Held){ account, part.n_bytes };
    return self + 1;
}

void
qd_memory_drop(void *data)
{
    Held *self = data != NULL ? (Held *) data - 1 : NULL;
    QdMemoryUse part;

    if (self == NULL)
        return;
    part = (QdMemoryUse){ .account = self->account, .n_bytes = self->n_bytes };
    qd_memory_begin_use(&part);
    sqlite3_free(self);
    qd_memory_end_use(&part);
    qd_memory_release_use(&part);
}

gboolean
qd_memory_take_other(int64_t n_bytes)
{
    if (!exceeds_limit(atomic_fetch_add_explicit(&used_bytes, n_bytes, memory_order_relaxed) + n_bytes, n_bytes))
        return TRUE;
    qd_memory_give_other(n_bytes);
    return FALSE;
}

void
qd_memory_give_other(int64_t n_bytes)
{
    atomic_fetch_sub_explicit(&used_bytes, n_bytes, memory_order_relaxed);
}

void
qd_memory_note_lost(uint64_t n_bytes)
{
    atomic_fetch_add_explicit(&lost_bytes, n_bytes, memory_order_relaxed);
}

uint64_t
qd_memory_get_lost(void)
{
    return atomic_load_explicit(&lost_bytes, memory_order_relaxed);
}

uint64_t
qd_memory_count_thread_changes(void)
{
    return n_changes;
}

void
qd_memory_set_witness(void (*witness)(void))
{
    budget.witness = witness;
}

void
qd_memory_begin_budget(uint64_t n_bytes, uint64_t deadline_usec)
{
    budget = (Budget){ .active = TRUE, .max_balance = thread_balance + (int64_t) n_bytes, .deadline_usec = deadline_usec };
}

QdBudgetVerdict
qd_memory_end_budget(void)
{
    budget.active = FALSE;
    return budget.verdict;
}
