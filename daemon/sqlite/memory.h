/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SQLite's memory: a counting allocator below all of it.
 *
 * Place: room sqlite. SQLite's own statistics take one mutex for each allocation. This counts per thread, and in one atomic from
 * time to time.
 * Invariant: what is allocated through SQLite never exceeds the hard limit by more than two pages for each thread; then SQLite sees
 * NOMEM.
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

/* Bytes that SQLite holds now, in all threads. What each other thread holds may be 4 KiB more or less. */
uint64_t qd_memory_get_used(void);

gboolean qd_memory_is_above_soft_limit(void);

/* Bytes that the calling thread has allocated less those it has freed: differences of it charge a query. May be negative. */
int64_t qd_memory_get_thread_balance(void);

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
