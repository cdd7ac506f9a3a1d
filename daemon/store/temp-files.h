/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SQLite's temporary files: what sorting and hashing put on disk when it exceeds the cache.
 *
 * Place: layer 2. SQLite deletes them as soon as they are open, so that only this process can see how large they are.
 */
#pragma once

#include <stdint.h>

/* How often it is worth asking. */
#define QD_TEMP_FILES_CHECK_USEC 100000

/* Bytes on disk in all temporary files of this process. Any thread; a look at each open descriptor. */
uint64_t qd_temp_files_get_bytes(void);
