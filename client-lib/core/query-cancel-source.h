/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A source of a main loop that is ready when a cancellable is cancelled.
 *
 * Place: internal to libquery-client.
 */
#pragma once

#include <gio/gio.h>

/**
 * query_cancel_source_new:
 * @cancellable: (nullable): NULL: the source is never ready
 *
 * In place of g_cancellable_source_new(), which is not safe. With that one the thread that cancels wakes the main context of the
 * source. The source's own thread may destroy both at that time. This source looks at the descriptor of @cancellable.
 *
 * Returns: (transfer full): a source that is ready when @cancellable is cancelled; it calls nothing
 */
GSource *query_cancel_source_new(GCancellable *cancellable);
