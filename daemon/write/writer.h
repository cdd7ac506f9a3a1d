/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The writer: one read-write connection, and the role of using it.
 *
 * Place: room write. The worker that finds the role free leads. It runs all updates that wait in one transaction, commits
 * durably, answers, and goes on while there are more. Jobs, and transactions of clients, take the role for themselves.
 * Invariant: an item is done exactly once, successfully only after the commit that holds it is durable.
 */
#pragma once

#include <glib.h>
#include <stdint.h>

#include "daemon/base/language.h"
#include "daemon/payload/payload-sweep.h"
#include "daemon/read/counting.h"
#include "daemon/sqlite/settings.h"

typedef struct QdChanges QdChanges;
typedef struct QdClient QdClient;
typedef struct QdDatabase QdDatabase;
typedef struct QdLimits QdLimits;
typedef struct QdParameters QdParameters;
typedef struct QdPayloads QdPayloads;
typedef struct QdPool QdPool;
typedef struct QdWorkers QdWorkers;
typedef struct QdRegistry QdRegistry;
typedef struct QdResultMemory QdResultMemory;
typedef struct QdWriter QdWriter;
typedef struct QdWriteItem QdWriteItem;
typedef struct QdWriteWatch QdWriteWatch;
typedef struct QdWriterLinger QdWriterLinger;

typedef struct QdWriteStatement {
    QdLanguage language;
    const char *base;    /* (nullable) SPARQL */
    const char *dataset; /* (nullable) SPARQL */
    const char *text;
    gsize n_text_bytes;
    const QdParameters *parameters; /* (nullable) by name; or: */
    const uint8_t *rows;            /* (nullable) body of a FETCH record */
    gsize n_row_bytes;
    uint32_t n_rows;
    uint64_t changes; /* result */
} QdWriteStatement;

/* A body of a ROWS record. */
typedef struct QdResultPage {
    uint8_t *data; /* (owned): a whole record, QW_HEADER_SIZE bytes of header first */
    GDestroyNotify free_func;
    gsize size;
    uint32_t n_rows;
    uint32_t n_columns;
} QdResultPage;

/* What an item does instead of running statements, inside its savepoint and under no client's policy. It may run again, when
 * another member of the group has ended the transaction. It leaves its results only in the database, in @item and in what it
 * sets again each time. It adds to @item->changed, and sets @item->changes. */
typedef gboolean (*QdWriterFunc)(QdConnection *connection, QdWriteItem *item, void *user_data, GError **error);

/* How long an item may wait and run, and has. */
typedef struct QdWriteTimes {
    uint64_t timeout_msec;   /* of waiting for a slot and for the writer, and of running, in all its executions; 0: none */
    uint64_t waited_usec;    /* before it was submitted: for a slot */
    uint64_t submitted_usec; /* less that; 0: it does not come from the queue */
    uint64_t begun_usec;     /* when it ran first; it may run again: write-group.c. 0: not yet */
} QdWriteTimes;

/* What came of an item: all of it from its last execution. */
typedef struct QdWriteOutcome {
    GError *error;
    uint64_t changes;
    int64_t last_insert_rowid;
    uint64_t generation;
    uint64_t n_rows;
    GArray *pages;      /* of QdResultPage, cleared with the item */
    gsize n_page_bytes; /* of rows that RETURNING gives */
    QdChanges *changed; /* what others may want to know of */
} QdWriteOutcome;

/* What changes() and its kin tell. */
typedef struct QdWriteCounts {
    QdSession *session; /* (nullable) (not owned); else it counts for itself */
    QdCounts before;    /* the session's, when the item began */
    QdCounts own;       /* from there on */
} QdWriteCounts;

struct QdWriteItem {
    QdWriteItem *next;
    QdClient *client;   /* (nullable) (not owned): whose turn it is, while it waits */
    GArray *statements; /* (not owned) (nullable) of QdWriteStatement; or: */
    QdWriterFunc func;  /* (nullable), with func_data */
    void *func_data;
    gboolean is_bare;    /* a part that is run in no savepoint of its own: it is one */
    gboolean is_part;    /* of a client's transaction, to which its settings and deferred keys belong */
    gboolean relaxed;    /* durable with a later commit only */
    gboolean is_upkeep;  /* of a job of our own: what clients read stays the same, and so does the generation */
    gboolean takes_role; /* instead of running anything: qd_writer_end_transaction() gives it back */
    QdWriteTimes times;
    QdSessionSettings *settings; /* (nullable) (not owned): of the channel that it is of */
    QdWriteCounts counts;
    const gint *cancelled;                /* (nullable) atomic */
    gint is_cancelled;                    /* atomic: this one alone */
    const uint64_t *transaction_end_usec; /* (nullable): atomic: when the transaction that it is in has to be over */
    /* (nullable): while it runs, on the leader's thread and every 10 ms: reads what the client has sent meanwhile, as a CANCEL */
    void (*peer_func)(const QdWriteItem *item);
    /* (nullable), both on the thread that ticks, while it runs. Every 10 ms: whether its client has sent a CANCEL that nothing
     * has read. And at each tick from 50 ms after its end: its client hears @error. TRUE: it has heard, and the item has failed. */
    gboolean (*finds_cancel)(const QdWriteItem *item);
    gboolean (*tell)(const QdWriteItem *item, const GError *error);
    QdWriteWatch *watch; /* (nullable) (not owned): while it runs: what may end it */
    gsize page_size;     /* of the pages of RETURNING rows */

    GError *told;        /* (owned) (nullable): by tell(): nothing of the item is committed, also where it goes well */
    gboolean has_begun;  /* a statement was stepped */
    gboolean runs_alone; /* it has failed since its only statement cannot be in a transaction (VACUUM) or savepoint (SAVEPOINT) */
    gboolean keeps;      /* it has failed by OR FAIL: the rows before the one that failed stay */
    QdWriteOutcome outcome;
    /* On the leader's thread, before the first row that the item returns; again when the item is run again. (nullable): without
     * it no rows are wanted, and none are kept. */
    void (*rows_begin)(QdWriteItem *item, const QdCompiled *compiled);
    /* On the leader's thread (or that of qd_writer_sweep()), once. The commit is durable, or the outcome has an error and nothing
     * of the item is in the database (but see `keeps`).
     * @linger: (nullable): of the leader, who goes on after this. An owner that is likely to write more at once may enter
     * it. */
    void (*done)(QdWriteItem *item, QdWriterLinger *linger);
    void *data;
};

/* After a commit: @changes (transfer none) is what it changed. Any thread. */
typedef void (*QdWriterCommitFunc)(uint64_t generation, const QdChanges *changes, void *user_data);
/* After a commit that gave payload files up. Any thread. */
typedef void (*QdWriterSweepFunc)(QdPayloadSweep what, void *user_data);

/* Owners that were answered by the leader and are likely to write more at once. For them the next group is held open for a
 * moment. Embedded in what knows them; all of it on the leader's thread. */
struct QdWriterLinger {
    guint n; /* of them */
    /* Looks once at each. Returns: (nullable): what they write, linked by `next`; they have left */
    QdWriteItem *(*look)(QdWriterLinger *self);
    void (*leave)(QdWriterLinger *self); /* something that may take long comes: they are left to others, none stays */
};

typedef struct QdWriterConfig {
    QdDatabase *database;
    const QdLimits *limits;
    QdPool *pool; /* opens the connection again after a rest */
    QdWorkers *workers;
    QdWriterCommitFunc commit_func;
    QdRegistry *registry;    /* its oldest reader makes way when the write-ahead log cannot shrink for it */
    QdWriterLinger *linger;  /* (nullable) (not owned) */
    const gint *wants_keys;  /* (nullable) (not owned) atomic: a subscription asks for keys of rows */
    QdPayloads *payloads;    /* (nullable) (not owned), with sweep_func */
    QdResultMemory *results; /* (nullable) (not owned): is given what each commit changes, before its answers are */
    QdWriterSweepFunc sweep_func;
    uint64_t group_usec;  /* for so long a group takes members in; 0: the default of 5 ms */
    uint64_t linger_usec; /* for so long it waits for those of the last one; 0: as long as that one's commit took */
    void *user_data;
} QdWriterConfig;

/* @connection: (transfer full) (nullable): the one that opened the database. In a read-only store every item fails with
 * READ_ONLY; else the first one opens a connection, if there is none. */
QdWriter *qd_writer_new(const QdWriterConfig *config, QdConnection *connection);
/* Now and then, from any thread: looks whether the store's files are as they should be and whether another program has written.
 * It gives the space of a long log back. Nothing, when the role is taken. */
void qd_writer_look(QdWriter *self);
/* Closes the connection until the next update, if the role is free. Returns: true when it is closed. */
gboolean qd_writer_rest(QdWriter *self);
/* The role must be free. */
QdWriter *qd_writer_free(QdWriter *self);

void qd_write_item_init(QdWriteItem *item);
void qd_write_item_clear(QdWriteItem *item);
/* As after qd_write_item_init(), without giving memory back. */
void qd_write_item_reset(QdWriteItem *item);

/* Any worker. @item stays the caller's; `done` may be called before this returns. */
void qd_writer_submit(QdWriter *self, QdWriteItem *item);
/**
 * qd_writer_enqueue:
 * @items: linked by `next`; those after a refused one of the same client are refused as well
 * @ret_leads: (inout): set when the caller has got the role, and has to call qd_writer_lead() soon
 *
 * The same in two steps, for several. What is refused has its error, and `done` is not called.
 *
 * Returns: how many were taken, the first of them
 */
guint qd_writer_enqueue(QdWriter *self, QdWriteItem *items, gboolean *ret_leads);
void qd_writer_lead(QdWriter *self);

/* Workers, by timer: what waits for longer than it may ends with an error. TRUE: call it again soon, the role is held for
 * long. */
gboolean qd_writer_sweep(QdWriter *self);

/*
 * Of an item with `takes_role` that was done without an error. A transaction is open, and its owner has the connection for
 * itself, from one thread at a time. Each of these ends with the transaction open, unless qd_writer_in_transaction() says no.
 */
/* Whether updates of another client than the one that writes have waited for so long that this one shall make way: transaction_ms.
 * Thread: any. */
gboolean qd_writer_is_awaited(QdWriter *self);
QdConnection *qd_writer_get_connection(QdWriter *self);
gboolean qd_writer_in_transaction(QdWriter *self);
/* Runs @item's statements in a savepoint; its error is set when they failed. */
void qd_writer_execute_part(QdWriter *self, QdWriteItem *item);
/*
 * Commits durably, or rolls back, and gives the role back. @item: the one that took it; its owner has added what all parts
 * changed, and its generation here. FALSE with @error when nothing was committed though it should have been.
 */
gboolean qd_writer_end_transaction(QdWriter *self, QdWriteItem *item, gboolean keep, GError **error);

/* A job: runs @func in a transaction of its own, as soon as the role is free. FALSE when that takes longer than the item's
 * timeout, or when @func or the commit fails. Blocks: job threads only. */
gboolean qd_writer_run_exclusive(QdWriter *self, QdWriteItem *item, gboolean in_transaction, QdWriterFunc func, void *user_data,
                                 GError **error);

/* A job: @func puts another database in the place of this one, by a transaction of its own. Then everything has changed, and the
 * connection is closed, since nothing that it has cached is true any more. Blocks, and fails, as the above. */
gboolean qd_writer_replace(QdWriter *self, QdWriteItem *item, QdWriterFunc func, void *user_data, GError **error);

uint64_t qd_writer_get_generation(QdWriter *self);
uint64_t qd_writer_get_n_commits(QdWriter *self);
uint64_t qd_writer_get_n_items(QdWriter *self);
/* Checkpoints that were made beside commits. */
uint64_t qd_writer_get_n_passes(QdWriter *self);
guint qd_writer_get_n_queued(QdWriter *self);
