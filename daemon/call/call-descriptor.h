/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The descriptor that a caller passed with a call: what may be one, reading, writing.
 *
 * Place: for the threads of jobs and payloads. Files cannot be polled, and O_NONBLOCK would change the caller's own descriptor.
 * Invariant: a foreign descriptor is never mapped, and only these threads touch it.
 */
#pragma once

#include <glib.h>

typedef struct QdCall QdCall;

/* false with BAD_PARAMETER when the caller's descriptor is of no kind that one can stream to or from, or of our own files. */
gboolean qd_call_check_descriptor(QdCall *call, GError **error);
/* Blocking I/O on a foreign descriptor that ends when the job is cancelled. */
gboolean qd_call_write_descriptor(QdCall *call, const void *data, gsize n_bytes, GError **error);
/* Returns: bytes read, 0 at the end, -1 with @error set */
gssize qd_call_read_descriptor(QdCall *call, void *data, gsize n_bytes, GError **error);
gboolean qd_call_is_cancelled(QdCall *call, GError **error);
