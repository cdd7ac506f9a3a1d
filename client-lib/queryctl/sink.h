/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where rows go: standard output, gathered and written in whole rows, or a pager.
 *
 * Place: layer B. Invariant: what has been written ends with a whole row.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef struct QctlSink QctlSink;

/**
 * qctl_sink_new:
 * @fd: where to write; borrowed; -1: all stays in the buffer
 * @use_pager: start a pager with the first bytes, if one is installed
 *
 * Returns: (transfer full): an empty sink
 */
QctlSink *qctl_sink_new(int fd, bool use_pager);

/* Waits for the pager. What has not been flushed is dropped. */
QctlSink *qctl_sink_free(QctlSink *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QctlSink, qctl_sink_free)

/* (transfer none): append whole rows here, then call qctl_sink_end_row(). */
GString *qctl_sink_get_buffer(QctlSink *self);

/**
 * qctl_sink_end_row:
 *
 * Writes when enough has been gathered.
 *
 * Errors: those of G_FILE_ERROR; PIPE when the reader is gone
 *
 * Returns: false after an error
 */
bool qctl_sink_end_row(QctlSink *self, GError **error);

/* qctl_sink_flush: writes all. */
bool qctl_sink_flush(QctlSink *self, GError **error);

/* qctl_error_is_broken_pipe: the reader went away, which is no reason for a message. */
bool qctl_error_is_broken_pipe(const GError *error);
