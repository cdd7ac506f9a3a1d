/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The write-ahead log as the writer writes it: frames that follow each other go to the file together.
 *
 * Place: layer 2. A VFS of SQLite above the default one, for the writer's connection; all its files but the log are the other's.
 * Invariant: when SQLite has been told that the last frame of a commit is written, all of them are in the file.
 */
#pragma once

/* qd_log_file_get_vfs: (nullable): the name of the VFS; NULL, which means the default one, without memory. Thread: any. */
const char *qd_log_file_get_vfs(void);
