/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which process this is: a child of fork() has what its parent had opened, and must not use it.
 *
 * Place: internal to libquery-client. Bytes that both send or read on one descriptor would be mixed up. The threads of GDBus are
 * not there in a child.
 */
#pragma once

#include <glib.h>

/* Returns: how often this process and those before it were forked since one of them has called this first. Any thread. */
guint query_process_get_n_forks(void);

/**
 * query_process_check:
 * @n_forks: what query_process_get_n_forks() returned when something was opened
 *
 * Errors: CLOSED when that was in a parent of this process.
 *
 * Returns: FALSE on error
 */
gboolean query_process_check(guint n_forks, GError **error);
