/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where the log of the database stands, as its index (-shm) says it: each commit of any program moves it.
 *
 * Place: room results. Not for several threads at once. The index is mapped for reading beside SQLite's own mapping of it.
 * Invariant: two equal positions of one view have no commit between them. A position that was read is one that the log had while
 * it was read, or later than that.
 */
#pragma once

#include <glib.h>

typedef struct QdLogView QdLogView;

/* Of the header of the index. */
typedef struct QdLogPosition {
    guint32 n_commits; /* since the index was made */
    guint32 n_frames;  /* of the log */
    guint32 salt[2];   /* others each time that the log begins again */
} QdLogPosition;

/* @database_path: is copied. (transfer full) */
QdLogView *qd_log_view_new(const char *database_path);
QdLogView *qd_log_view_free(QdLogView *self);

/* FALSE: it is not known: there is no index, or it is not the one that was opened before. Then the next call opens it again. */
gboolean qd_log_view_read(QdLogView *self, QdLogPosition *ret_position);
/* Gives descriptor and mapping back; the next call opens them again. */
void qd_log_view_close(QdLogView *self);

static inline gboolean
qd_log_position_equals(const QdLogPosition *a, const QdLogPosition *b)
{
    return a->n_commits == b->n_commits && a->n_frames == b->n_frames && a->salt[0] == b->salt[0] && a->salt[1] == b->salt[1];
}
