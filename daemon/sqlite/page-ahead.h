/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A scan of a mapped database has its next page in the processor's cache, a search the page that it searches. A read after the end
 * of the file is a short one, also where the mapping is longer.
 *
 * Place: room sqlite; the VFS of log-file.h opens database files with it.
 */
#pragma once

#include <sqlite3.h>

#define QD_PAGE_AHEAD_BYTES 1040

/*
 * @file: a database's, which its VFS has opened
 * @n_bytes: the same for all files: those of the VFS take so many. QD_PAGE_AHEAD_BYTES more are there
 *
 * Files of another class of calls than the first one's are left alone. Thread: any.
 */
void qd_page_ahead_watch(sqlite3_file *file, int n_bytes);
