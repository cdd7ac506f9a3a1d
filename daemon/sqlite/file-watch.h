/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether the files of a store that is open still have their names. What is written to a deleted one is lost with the last
 * descriptor. A program that replaces one has another database than the daemon.
 *
 * Place: room sqlite. The kernel reports changes in the folder (inotify), so that a look costs one system call. Where it does
 * not, each look compares the files. Thread: one at a time, that of the holder of the writer's role.
 */
#pragma once

#include <glib.h>

typedef struct QdFileWatch QdFileWatch;

/**
 * qd_file_watch_new:
 * @directory: the store's; its database and its lock are there, and are what they should be
 *
 * What is not on a file system, as the database of a test, is not looked at.
 *
 * Returns: (transfer full)
 */
QdFileWatch *qd_file_watch_new(const char *directory);
QdFileWatch *qd_file_watch_free(QdFileWatch *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdFileWatch, qd_file_watch_free)

/* An open connection has read: its log and the log's index are the right ones as long as it is open. */
void qd_file_watch_note_log(QdFileWatch *self);
void qd_file_watch_forget_log(QdFileWatch *self);

/**
 * qd_file_watch_check:
 * @thoroughly: compares the files even without a report
 *
 * Returns: FALSE with READ_ONLY: a file is gone, or another one has its name; the message says which, and what to do. TRUE again
 * when it is back
 */
gboolean qd_file_watch_check(QdFileWatch *self, gboolean thoroughly, GError **error);
