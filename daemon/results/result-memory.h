/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The result memory: pages of results that were asked for again while nothing had changed that they read.
 *
 * Place: room results, above what reads and changes name, below writer and channels. Any thread; one mutex, which statements that
 * are quickly executed never take.
 * Invariant: what it gives is what the statement would give in the newest commit that any client can have seen.
 *
 * A statement that took long is noted. Asked for again, its tables or predicates are watched, and the pages of that execution are
 * kept. From then on they are given as long as none of these has changed.
 */
#pragma once

#include "daemon/notify/read-set.h"
#include "daemon/results/sealed-pages.h"

typedef struct QdClient QdClient;
typedef struct QdResultMemory QdResultMemory;

/* What a result is found by: language, text, parameters, and options that make it another one. */
typedef struct QdResultKey {
    GBytes *bytes;     /* (owned) */
    guint64 signature; /* of the columns that the client knows */
} QdResultKey;

/* A result as it is kept. */
typedef struct QdRememberedResult {
    GBytes *pages;       /* (owned) (nullable): ROWS records, each with a header of another request; or: */
    QdSealedPages *file; /* (owned) (nullable): that holds them */
    guint64 n_rows;
    guint64 signature;
    guint64 cost_usec; /* what it took to make it */
} QdRememberedResult;

typedef enum QdRecall {
    QD_RECALL_NOTHING, /* it is not known, or has changed */
    QD_RECALL_NOTED,   /* it is asked for again: it may be watched from here on */
    QD_RECALL_WORTHY,  /* it is watched and unchanged: worth keeping */
    QD_RECALL_FOUND,
} QdRecall;

typedef struct QdResultCounters {
    guint64 n_hits;
    guint64 n_misses; /* of statements that take long */
    guint64 n_results;
    guint64 n_bytes;
    guint64 n_shared_bytes; /* of files */
    guint64 saved_usec;
} QdResultCounters;

/* @limits outlive it. (transfer full) */
QdResultMemory *qd_result_memory_new(const char *database_path, const QdLimits *limits);
QdResultMemory *qd_result_memory_free(QdResultMemory *self);

/* Whether there is something to find; also by statements of which nothing is known. Without a lock. */
gboolean qd_result_memory_may_have(QdResultMemory *self);
/* The number of changes so far: taken before a result is read, it says how new the result is at least. Without a lock. */
guint64 qd_result_memory_get_number(const QdResultMemory *self);

/* @ret_result: (out): set when it is FOUND; qd_remembered_result_clear() */
QdRecall qd_result_memory_recall(QdResultMemory *self, const QdResultKey *key, QdRememberedResult *ret_result);
/* It took long, and is not known. */
void qd_result_memory_note(QdResultMemory *self, GBytes *key);
/* @reads: (nullable): what one that is NOTED reads, by the schema after @number; NULL: it is never to be kept. Returns: whether it
 * may be kept */
gboolean qd_result_memory_watch(QdResultMemory *self, GBytes *key, guint64 number, const QdReadSet *reads);
/* @result: (transfer none): of one that is watched, read after @number. @client is charged. Of a file the memory has the shared
 * memory that was taken. */
void qd_result_memory_keep(QdResultMemory *self, QdClient *client, GBytes *key, guint64 number, const QdRememberedResult *result);

/* So large a result may be kept in pages. */
gsize qd_result_memory_get_room(const QdResultMemory *self);
/* Shared memory for a file that is being filled, in place of what was used longest ago. FALSE: there is not so much. */
gboolean qd_result_memory_take_shared(QdResultMemory *self, gsize n_bytes);
/* The file is not kept. */
void qd_result_memory_give_shared(QdResultMemory *self, gsize n_bytes);
/* Everything goes, as the memory that it took. */
void qd_result_memory_clear(QdResultMemory *self);
QdResultCounters qd_result_memory_get_counters(QdResultMemory *self);

/* The writer: its transaction has begun, or ended; as result-watch.h has it. */
void qd_result_memory_begin_write(QdResultMemory *self);
void qd_result_memory_end_write(QdResultMemory *self, const QdChanges *changes, gboolean is_logged);

void qd_remembered_result_clear(QdRememberedResult *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(QdRememberedResult, qd_remembered_result_clear)
