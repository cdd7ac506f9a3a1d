/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The body of an answer, into the reader of its format.
 *
 * Place: internal to the module; it waits for bytes in the calling thread.
 */
#pragma once

#include "client-lib/remote-module/remote-http.h"
#include "client-lib/remote-module/remote-rows.h"

/**
 * remote_input_read:
 * @answer: with a body
 * @is_wanted: (nullable): atomic; while it is not 0, rows do not wait for a page to become full
 * @error: (nullable): location for an error
 *
 * Reads the whole body. Errors: PROTOCOL, DISCONNECTED, TOO_BIG, UNSUPPORTED (its media type), G_IO_ERROR_CANCELLED.
 *
 * Returns: FALSE on error, or without one when no more rows are wanted
 */
gboolean remote_input_read(RemoteRows *rows, RemoteAnswer *answer, const gint *is_wanted, GCancellable *cancellable,
                           GError **error);

/* Whether it is TSV. */
gboolean remote_input_is_tsv(const RemoteAnswer *answer);
