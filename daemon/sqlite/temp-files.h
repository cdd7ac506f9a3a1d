/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SQLite's temporary files: what sorting and hashing put on disk when it exceeds the cache.
 *
 * Place: room sqlite. SQLite deletes them as soon as they are open, so that only this process can see how large they are.
 */
#pragma once

#include "daemon/base/limits.h"

/*
 * For a progress handler: false when all temporary files of this process hold more than the limit temp_file_bytes. It looks, at
 * each open descriptor, only when @now_usec (monotonic) has come to *@next_usec, which it then puts off; 0: not at the first call.
 */
gboolean qd_temp_files_check(const QdLimits *limits, uint64_t now_usec, uint64_t *next_usec, GError **error);
