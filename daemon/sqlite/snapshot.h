/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pages of the database as the transaction that a connection has begun sees them, without SQLite's cache and cursors.
 *
 * Place: room sqlite, for scans of whole tables (read/table-scan.h). All is read by the methods of the files that SQLite has open:
 * no descriptor, no lock, and no mapping of our own. The index of the log is documented:
 * https://www.sqlite.org/walformat.html#the_wal_index_file_format
 * Invariant: the header of the index was the same before and after the transaction began. So it is the one that the transaction
 * has, and SQLite's lock keeps what it refers to until the transaction ends.
 */
#pragma once

#include <glib.h>
#include <sqlite3.h>

#define QD_SNAPSHOT_HEADER_WORDS 12
/* Blocks of the index, each of 4,096 frames: a longer log is left to SQLite. */
#define QD_SNAPSHOT_MAX_BLOCKS 32

typedef struct QdSnapshot {
    sqlite3_file *file;  /* (not owned) */
    sqlite3_file *log;   /* (not owned) */
    gconstpointer index; /* mapped, SQLite's: connections of this process to one file have one */
    guint32 header[QD_SNAPSHOT_HEADER_WORDS];
    guint32 page_size;
    guint32 usable_size; /* of a page: without the bytes that are reserved for extensions */
    guint32 n_pages;
    guint32 n_filled;                              /* frames that are in the file already */
    guint32 n_frames;                              /* of the log, that it sees; 0: everything it sees is in the file */
    const guint32 *blocks[QD_SNAPSHOT_MAX_BLOCKS]; /* mapped, SQLite's */
} QdSnapshot;

/* @db is about to begin a transaction that reads, and has none. FALSE: it cannot be known what it will see. */
gboolean qd_snapshot_prepare(QdSnapshot *self, sqlite3 *db);
/* Whether two that have begun are of one state of one file. Each has its own transaction. */
gboolean qd_snapshot_is_same(const QdSnapshot *self, const QdSnapshot *other);
/* It has begun it just now. FALSE: there may have been a commit in between, or the pages are not as we read them. */
gboolean qd_snapshot_begin(QdSnapshot *self);

/**
 * qd_snapshot_get_page:
 * @number: from 1
 * @buffer: of page_size bytes, for a page that is not mapped
 * @ret_page: (out): usable_size bytes, to be released; @buffer, or mapped memory
 *
 * Returns: SQLITE_OK; SQLITE_CORRUPT when there is no such page; what the file gives
 */
int qd_snapshot_get_page(const QdSnapshot *self, guint32 number, guint8 *buffer, const guint8 **ret_page);
void qd_snapshot_release_page(const QdSnapshot *self, guint32 number, const guint8 *buffer, const guint8 *page);
