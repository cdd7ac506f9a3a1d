/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Small files beside a database that are written as a whole, often, and whose loss does little harm.
 *
 * Place: room base.
 */
#pragma once

#include <glib.h>

/*
 * qd_small_file_replace: by a new file ("PATH.tmp"). So a reader of @path, or the next start after a kill, finds one content or
 * the other. Not synced: after a power cut it may be empty. Returns: whether it was written; if not, the old one is there
 * still.
 */
gboolean qd_small_file_replace(const char *path, const void *data, gsize n_bytes);
