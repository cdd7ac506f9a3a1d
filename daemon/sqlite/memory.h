/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SQLite's memory: a counting allocator below all of it.
 *
 * Place: room sqlite. SQLite's own statistics take one mutex for each allocation. This counts per thread, and in one atomic from
 * time to time.
 * Invariant: what is allocated through SQLite never exceeds the hard limit by more than two pages for each thread; then SQLite sees
 * NOMEM. A client's statement sees it sooner the more the client holds.
 */
#pragma once

#include <glib.h>
#include <stdint.h>

/* Process-wide, once, before any other use of SQLite. Returns: false when SQLite refuses. */
gboolean qd_memory_init(GError **error);

/* Bytes that SQLite may hold in all; 0: no limit. Above the soft limit connections give their caches back. */
void qd_memory_set_limits(uint64_t soft_bytes, uint64_t hard_bytes);

/* The hard limit in force, 0: none. */
uint64_t qd_memory_get_hard_limit(void);

/* Whether it was the system, and no limit of ours, that had no memory for this thread's last allocation that failed; asked once. */
gboolean qd_memory_take_system_failure(void);

/* Bytes that SQLite holds now, in all threads. What each other thread holds may be 4 KiB more or less. */
uint64_t qd_memory_get_used(void);

gboolean qd_memory_is_above_soft_limit(void);

/* Bytes that the calling thread has allocated less those it has freed: differences of it charge a query. May be negative. */
int64_t qd_memory_get_thread_balance(void);

/* What the statements of one client hold together. Zeroed at first. */
typedef struct QdMemoryAccount {
    int64_t n_bytes;      /* atomic */
    int64_t n_file_bytes; /* atomic: in temporary files */
} QdMemoryAccount;

/* What one statement holds, which runs in parts, on one thread after another. Zeroed at first, but for the account. */
typedef struct QdMemoryUse {
    QdMemoryAccount *account; /* (nullable): no client's */
    int64_t n_bytes;          /* in @account, too */
    int64_t balance;          /* of the thread, when it was counted in @n_bytes last */
    int64_t n_file_bytes;     /* in temporary files; in @account, too */
    struct QdMemoryUse *outer;
} QdMemoryUse;

/*
 * A part of the statement begins on the calling thread. Meanwhile its client gets QD_LIMIT_SHARE times what stays free below the
 * hard limit. Parts may be nested, and each counts what is not in an inner one.
 */
void qd_memory_begin_use(QdMemoryUse *self);
void qd_memory_end_use(QdMemoryUse *self);
/* Between the parts: it holds nothing any more. */
void qd_memory_release_use(QdMemoryUse *self);
/* Bytes; within a part on its thread. */
int64_t qd_memory_get_use(const QdMemoryUse *self);

/* The temporary files of the statement that runs on the calling thread have grown by so many bytes, or less than 0. */
void qd_memory_count_file(int64_t n_bytes);
/* Bytes in temporary files of all statements of its client; 0 where this one has none. */
int64_t qd_memory_get_file_bytes(const QdMemoryUse *self);

/*
 * qd_memory_hold: memory that is charged to a client as long as it is there, as a row that the client has not read
 * @account: (nullable): stays until then
 * @data: (nullable) (transfer full): what this function has returned, which is resized; it stays as it is where NULL is returned
 *
 * Returns: (nullable) (transfer full): for qd_memory_drop(). NULL: none is free, or the client has its share.
 */
void *qd_memory_hold(QdMemoryAccount *account, void *data, uint64_t n_bytes);
/* qd_memory_drop: @data: (nullable) */
void qd_memory_drop(void *data);

/* What is not SQLite's, and counts with it: plans. FALSE: none is free, or the client has its share; nothing is counted then. */
gboolean qd_memory_take_other(int64_t n_bytes);
void qd_memory_give_other(int64_t n_bytes);

/* What SQLite holds and nothing frees any more: calls were made to return (builtin/forced-return.h). */
void qd_memory_note_lost(uint64_t n_bytes);
uint64_t qd_memory_get_lost(void);

/* How often what the calling thread holds has changed. Async-signal-safe. */
uint64_t qd_memory_count_thread_changes(void);

typedef enum QdBudgetVerdict {
    QD_BUDGET_KEPT,
    QD_BUDGET_MEMORY_EXCEEDED,
    QD_BUDGET_TIME_EXCEEDED,
    QD_BUDGET_HEAP_EXCEEDED, /* there was no memory, or that of all statements has its limit */
} QdBudgetVerdict;

/*
 * From here to qd_memory_end_budget() the calling thread's allocations fail beyond @n_bytes more than it holds now, and after
 * @deadline_usec (monotonic). For compiling: no progress handler runs there, but what grows allocates.
 */
void qd_memory_begin_budget(uint64_t n_bytes, uint64_t deadline_usec);
/* Why an allocation has failed first, if one has. */
QdBudgetVerdict qd_memory_end_budget(void);

/* @witness: (nullable): called within each allocation of the calling thread while it has a budget, until the budget ends. */
void qd_memory_set_witness(void (*witness)(void));
