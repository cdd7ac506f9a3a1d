/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Transactions of the writer's connection: durable or relaxed, with the payload files that belong to them.
 *
 * Place: room write, private to the writer; for the holder of its role.
 */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef struct QdWriteItem QdWriteItem;
typedef struct QdChanges QdChanges;
typedef struct QdWriter QdWriter;

/* There is a connection, in no transaction. READ_ONLY, or what opening it gave. */
gboolean qd_write_ensure_connection(QdWriter *self, GError **error);
/* A connection that was just opened tells how long its write-ahead log is, and knows the payloads. */
void qd_write_watch_log(QdWriter *self);
/* Near the end of the disk the write-ahead log gives its space back first. */
gboolean qd_write_check_space(QdWriter *self, GError **error);
/* false when what has to be durable would not be. */
gboolean qd_write_set_durability(QdWriter *self, gboolean relaxed, GError **error);

/* @item: (nullable): whose end ends the wait for the lock of another program; it fails with the reason for its end. */
gboolean qd_write_begin(QdWriter *self, QdWriteItem *item, GError **error);
gboolean qd_write_in_transaction(QdWriter *self);
void qd_write_rollback(QdWriter *self);
/* Payloads that the transaction has stored get their files. */
gboolean qd_write_before_commit(QdWriter *self, GError **error);
/* FALSE: it is in no file that will be found. */
gboolean qd_write_after_commit(QdWriter *self, GError **error);

/* The connection goes; what other programs do meanwhile shows later. */
void qd_write_close_connection(QdWriter *self);
/* After a commit of the connection's that was not qd_write_commit()'s. */
void qd_write_note_own_version(QdWriter *self);
typedef enum QdWriteLook {
    QD_WRITE_LOOK_BEFORE, /* a transaction */
    QD_WRITE_LOOK_AFTER,  /* its commit */
    QD_WRITE_LOOK_QUICK,
    QD_WRITE_LOOK_THOROUGH, /* compares the files even without a report */
} QdWriteLook;
/* READ_ONLY: the files of the store are not those that it was opened with. READ_ONLY, CORRUPT: another program has shortened one.
 */
gboolean qd_write_check_files(QdWriter *self, QdWriteLook look, GError **error);
/* Whether another program has written: then all listeners hear that anything may have changed. With a connection or without. */
void qd_write_look_for_others(QdWriter *self);

/* After a commit that was not qd_write_commit()'s: a copy of the schema for a salvage, if it is of another @version. */
void qd_write_copy_schema(QdWriter *self, gint64 version);

/* The transaction has ended: the result memory learns @changes (nullable): NULL: nothing was committed. */
void qd_write_note_results(QdWriter *self, const QdChanges *changes);
/* After a commit: its generation. */
uint64_t qd_write_publish(QdWriter *self);
/* Before the answers: the result memory and listeners for changes learn what @items have changed. */
void qd_write_tell(QdWriter *self, uint64_t generation, QdWriteItem *const *items, guint n);
