/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The writer's state, which its files share.
 *
 * Place: room write, private to its files. What is not under the mutex belongs to the
 * holder of the role.
 */
#pragma once

#include <pthread.h>

#include "daemon/runtime/workers.h"
#include "daemon/sqlite/interrupter.h"
#include "daemon/sqlite/memory.h"
#include "daemon/store/log-mark.h"
#include "daemon/write/write-queue.h"
#include "daemon/write/writer.h"

typedef struct QdCheckpointer QdCheckpointer;

/* What another program has committed shows by these. */
typedef struct QdForeign {
    gboolean is_known; /* the next: on this connection */
    guint data_version;
    QdLogMark mark; /* while there is no connection */
} QdForeign;

/* What the writer has seen of the store's files, and of the room that they have; monotonic times. */
typedef struct QdWriterFiles {
    gint64 look_usec;    /* of the last look at all of them */
    gboolean are_harmed; /* and the log says so */
    gint64 roomy_usec;   /* when there was plenty of room; 0: there is not */
} QdWriterFiles;

/* What ends the item that runs: write-watch.c. */
struct QdWriteWatch {
    QdWatch watch;
    QdMemoryUse memory;
    QdWriter *writer;
    QdWriteItem *item;
    gboolean is_job;
    uint64_t deadline_usec; /* 0: none */
    uint64_t peer_check_usec;
    uint64_t cancel_check_usec; /* the interrupter's */
    guint n_asked;
    GError *stop; /* why it was interrupted */
};

/* The group that runs, and the last one. */
typedef struct QdWriterGroup {
    uint64_t commit_usec;       /* how long the commit of the last one took */
    uint64_t linger_end_usec;   /* 0: no member is waited for */
    guint n_ahead;              /* of one that grows: members that wait to be committed */
    const QdWriteItem *put_off; /* (nullable): it was slow, and they shall not wait for it */
} QdWriterGroup;

struct QdWriter {
    QdWriterConfig config;
    QdConnection *connection;
    uint64_t generation; /* atomic */
    uint64_t n_commits;  /* atomic */
    uint64_t n_items;    /* atomic */
    QdTask lead_task;
    gboolean synchronous_normal;
    gboolean is_spoilt;         /* the connection: the next update opens another one */
    gint64 copied_schema;       /* version: of the copy beside the file; -1: not known */
    gboolean has_copied_schema; /* in the transaction that has ended just now */
    QdCheckpointer *checkpointer;
    QdForeign foreign;
    guint log_pages;         /* so long the log was at most, since it was cut; its file is not shorter */
    gboolean log_is_full;    /* perhaps: a write to it has failed, by a limit on the size of files, say */
    gint64 commit_time_usec; /* monotonic: of the last one */
    QdWriterFiles files;
    gboolean has_told_size; /* of a schema above its limit, in the log */
    gboolean has_logged;    /* the transaction has been committed, and there was something to commit */
    int wal_pages;          /* in the log, by a commit since the last checkpoint; 0: there was none */
    QdWriterGroup group;
    QdWriteWatch watch;
    QdWriteItem *begins; /* (nullable): whose transaction begins, and may wait for the lock of another program */
    gboolean (*begin_ends)(QdWriter *self, GError **error); /* whether its time is over */

    pthread_mutex_t mutex;
    pthread_cond_t cond;
    QdWriteQueue queue;
    gboolean taken;
    gboolean is_held; /* taken by a client's transaction or a job, and by that perhaps for long */
    guint n_exclusive_waiting;
};

/* writer.c: under no lock, the items of the chain go into the queue; those that are refused are done. */
void qd_write_take_items(QdWriter *self, QdWriteItem *items);
