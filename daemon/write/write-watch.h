/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The watch over the item that runs on the writer's connection: what ends it, and what follows when it takes its time.
 *
 * Place: room write, private to the writer; for the holder of its role.
 */
#pragma once

#include <glib.h>

typedef struct QdWriteItem QdWriteItem;
typedef struct QdWriteWatch QdWriteWatch;
typedef struct QdWriter QdWriter;

/* The item of writer->begins waits for the lock of another program, and others' updates for it: they hear of their deadlines.
 * Errors: TIMEOUT, CANCELLED, LIMIT_EXCEEDED. Returns: whether its time is over */
gboolean qd_write_watch_begin_ends(QdWriter *self, GError **error);

/* Until qd_write_watch_end() @item ends at its deadline and when it is cancelled. In a job it also ends for want of room, and
 * when others have waited for too long. */
void qd_write_watch_begin(QdWriter *self, QdWriteItem *item, gboolean is_job);
/* The same for the commit of what @item alone has written: it goes well, or is rolled back. It is not answered meanwhile. */
void qd_write_watch_begin_commit(QdWriter *self, QdWriteItem *item);
void qd_write_watch_end(QdWriter *self);
/* Before that: FALSE: a call of the item was made to return. Errors: as qd_write_watch_get_stop() */
gboolean qd_write_watch_check(QdWriter *self, GError **error);

/**
 * qd_write_watch_get_stop:
 * @self: (nullable): the watch of an item that has failed; NULL: nothing watched it
 * @interrupted: SQLite, or a function of ours, says that it was interrupted
 *
 * Errors: TIMEOUT, CANCELLED, LIMIT_EXCEEDED: why the watch has ended the item
 *
 * Returns: whether it has; else *error stays as it is
 */
gboolean qd_write_watch_get_stop(QdWriteWatch *self, gboolean interrupted, GError **error);
