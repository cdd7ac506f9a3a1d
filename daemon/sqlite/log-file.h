/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The write-ahead log: frames that follow each other go to the file together, and are read through a mapping of it.
 *
 * Place: room sqlite. A VFS of SQLite above the default one, for connections of the daemon; all their files but the log are the
 * other's. Invariant: when SQLite learns that the last frame of a commit is written, all of them are in the file.
 */
#pragma once

/* Parameter of a database's URI: so much of the log is mapped at most, 0 by default. A file cut short by a stranger is then a
 * SIGBUS. */
#define QD_LOG_FILE_MAP_BYTES "log_map_bytes"

/* qd_log_file_get_vfs: (nullable): the name of the VFS; NULL, which means the default one, without memory. Thread: any. */
const char *qd_log_file_get_vfs(void);
