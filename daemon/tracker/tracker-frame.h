/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Updates as clients of TinySPARQL write them into a pipe: docs/tinysparql.md describes the bytes, of two generations.
 *
 * Place: room tracker, pure. Invariant: a length is checked before it is believed; nothing is read beyond what is there.
 */
#pragma once

#include <glib.h>

typedef struct QdTrackerFrame {
    gboolean is_array; /* UpdateArray: a count comes first */
    gsize n_max;       /* bytes that all of it may have */
    gsize at;          /* what was taken so far */
    gboolean has_count;
    gboolean is_tagged; /* of 3.6 and later: each operation begins with its kind */
    gboolean has_kind;  /* is_tagged is known */
    guint32 n_left;
} QdTrackerFrame;

/* Views of the bytes. */
typedef struct QdTrackerOperation {
    gboolean is_rdf; /* else SPARQL */
    const char *text;
    gsize n_text;
    const char *parameters; /* (nullable): a GVariant a{sv} as text */
    gsize n_parameters;
    guint32 format;    /* of RDF: 0 Turtle, 1 TriG, 2 JSON-LD */
    const char *graph; /* of RDF */
    gsize n_graph;
} QdTrackerOperation;

typedef enum QdTrackerFrameStatus {
    QD_TRACKER_FRAME_OPERATION,
    QD_TRACKER_FRAME_MORE, /* bytes are missing */
    QD_TRACKER_FRAME_END,
    QD_TRACKER_FRAME_FAILED,
} QdTrackerFrameStatus;

/* qd_tracker_frame_init: before the first byte. */
void qd_tracker_frame_init(QdTrackerFrame *self, gboolean is_array, gsize n_max);

/**
 * qd_tracker_frame_next:
 * @data: all bytes so far, from the first one on
 * @ret: (out): set with OPERATION
 * @error: (nullable): location for an error
 *
 * Thread: any. Errors: BAD_PARAMETER: a length or a kind that cannot be; TOO_BIG: more than n_max.
 *
 * Returns: what there is next
 */
QdTrackerFrameStatus qd_tracker_frame_next(QdTrackerFrame *self, const guint8 *data, gsize n_bytes, QdTrackerOperation *ret,
                                           GError **error);
