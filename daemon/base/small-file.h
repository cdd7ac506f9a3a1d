/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Small files that are read or written as a whole: those beside a database, whose loss does little harm, /proc and settings.
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

/**
 * qd_small_file_read:
 * @path: a file
 * @max_bytes: more than this is EFBIG
 * @ret_n_bytes: (out) (optional): its size, without the NUL
 *
 * Reads a whole file by a descriptor that is CLOEXEC from birth. A FIFO without a writer is empty and not waited for.
 *
 * Thread: any.
 *
 * Returns: (transfer full) (nullable): the content and a NUL; NULL with errno
 */
char *qd_small_file_read(const char *path, gsize max_bytes, gsize *ret_n_bytes);
